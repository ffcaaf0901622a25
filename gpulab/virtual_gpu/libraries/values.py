"""What the functions of all libraries share: the runtime, and reading and writing C's memory.

A function has the name of its C function and takes its arguments as integers (addresses, handles, numbers) and floats;
structures by value come as their address. It returns a code of its library, or raises `library.StatusFailure` with one;
`runtime.codes.Failure`, with a code of HIP's, becomes the library's own by `library.Status.of_hip`.
"""

from __future__ import annotations

import ctypes

from gpulab.virtual_gpu import runtime
from gpulab.virtual_gpu.runtime import codes
from gpulab.virtual_gpu.runtime.codes import Failure
from gpulab.virtual_gpu.runtime.streams import Stream

rt = runtime.instance()

_u64, _i32, _u32, _f32 = ctypes.c_uint64, ctypes.c_int32, ctypes.c_uint32, ctypes.c_float


def put64(address: int, value: int) -> None:
    """Write a pointer, handle or size_t."""
    _u64.from_address(address).value = value


def put32(address: int, value: int) -> None:
    """Write an int, unsigned or enumeration."""
    _i32.from_address(address).value = value


def put_float(address: int, value: float) -> None:
    _f32.from_address(address).value = value


def get64(address: int) -> int:
    return _u64.from_address(address).value


def get32(address: int) -> int:
    return _u32.from_address(address).value


def need(*addresses: int) -> None:
    """NULL where an address is needed is hipErrorInvalidValue."""
    for address in addresses:
        if not address:
            raise Failure(codes.INVALID_VALUE)


def text(address: int) -> str:
    """A C string."""
    need(address)
    return ctypes.string_at(address).decode(errors="replace")


def put_text(address: int, size: int, value: str) -> None:
    """Write a C string into a buffer of `size` bytes, cut to fit."""
    if not address or size <= 0:
        raise Failure(codes.INVALID_VALUE)
    raw = value.encode()[: size - 1]
    ctypes.memmove(address, raw + b"\0", len(raw) + 1)


def waited(stream: Stream | None) -> tuple[int, Stream]:
    """(code of a pending fault, stream) for a copy: synchronous ones surface faults first."""
    if stream is not None:
        return 0, stream
    return rt.surface(rt.current), rt.current.null_stream
