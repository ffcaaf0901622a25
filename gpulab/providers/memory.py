"""Copies between Python's buffers and device memory; a provider itself takes addresses of host memory."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from gpulab.errors import DeviceMemoryError

if TYPE_CHECKING:
    from gpulab.providers.provider import Provider


class HostArray(Protocol):
    """A numpy array, as far as copies need it."""

    @property
    def __array_interface__(self) -> Mapping[str, object]: ...

    @property
    def nbytes(self) -> int: ...


Buffer = HostArray | bytes | bytearray | memoryview


def _host(buffer: Buffer, writable: bool) -> tuple[int, int, object]:
    """Address, bytes and keep-alive of a contiguous buffer object."""
    interface = getattr(buffer, "__array_interface__", None)
    if interface is not None and interface.get("strides") is None:
        address, read_only = interface["data"]
        if not (writable and read_only):
            return int(address), int(buffer.nbytes), buffer  # type: ignore[union-attr]  # numpy's
    view = memoryview(buffer)  # type: ignore[arg-type]  # numpy's types say so from Python 3.12 on
    if not view.c_contiguous:
        raise DeviceMemoryError(
            "The host array is not contiguous in memory.", hint="copy it first: numpy.ascontiguousarray(array)."
        )
    if writable and view.readonly:
        raise DeviceMemoryError("The host buffer is read-only, so nothing can be copied into it.")
    size = view.nbytes
    if size == 0:
        return 0, 0, buffer
    if view.readonly:
        if isinstance(buffer, bytes):
            return ctypes.cast(ctypes.c_char_p(buffer), ctypes.c_void_p).value or 0, size, buffer
        copied = ctypes.create_string_buffer(view.tobytes(), size)
        return ctypes.addressof(copied), size, copied
    cell = (ctypes.c_char * size).from_buffer(view)
    return ctypes.addressof(cell), size, cell


def copy_to_device(provider: Provider, address: int, buffer: Buffer, stream: int = 0) -> None:
    """Copy a contiguous host buffer (numpy array, bytes …) to a device address.

    Raises:
        DeviceMemoryError: the buffer is not contiguous, or the device has not so many bytes there.
    """
    source, size, keep = _host(buffer, writable=False)
    if size:
        provider.copy_to_device(address, source, size, stream)
    del keep


def copy_to_host(provider: Provider, buffer: Buffer, address: int, stream: int = 0) -> None:
    """Copy from a device address into a writable contiguous host buffer, as many bytes as it has.

    Raises:
        DeviceMemoryError: the buffer is not contiguous or cannot be written, or the device has not so many bytes there.
    """
    target, size, keep = _host(buffer, writable=True)
    if size:
        provider.copy_to_host(target, address, size, stream)
    del keep
