"""Device memory that several processes of a machine use: `Between`.

The owner's allocation moves into memory that has a file (Linux: memfd_create), which its handle names by process and
descriptor; another process maps that file, and its own allocation has its home there. Work is done when it is
submitted, so what one process has stored is there as soon as its call returns. An event of another process is over.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
from dataclasses import dataclass

from gpulab.virtual_gpu.runtime import codes
from gpulab.virtual_gpu.runtime.codes import Failure
from gpulab.virtual_gpu.runtime.context import Context
from gpulab.virtual_gpu.runtime.memory import Block, Memory

HANDLE_BYTES = 64
_HANDLE = struct.Struct("<4sIIIQ")  # kind, process, descriptor, device, bytes
_MEMORY, _EVENT = b"gpm1", b"gpe1"


@dataclass(slots=True)
class _Opened:
    """Another process's memory in this one; `times`: how often it was opened, less how often closed."""

    key: tuple[int, int]
    file: mmap.mmap
    times: int = 1


class Between:
    """What this process has shared, and what it has opened."""

    def __init__(self, context: Context, memory: Memory) -> None:
        self._context, self._memory = context, memory
        self._opened: dict[int, _Opened] = {}

    def export(self, address: int) -> bytes:
        """The handle of an allocation of device memory.

        Raises:
            Failure: hipErrorInvalidValue: no allocation begins there; hipErrorNotSupported: without such files.
        """
        block = self._memory.blocks.get(address)
        if block is None or block.kind != "device" or block.pool:
            raise Failure(codes.INVALID_VALUE, f"0x{address:x} is not the start of what hipMalloc has allocated")
        if not hasattr(os, "memfd_create"):
            raise Failure(codes.NOT_SUPPORTED, "memory that processes share needs Linux")
        shared = self._memory.shared.get(address)
        if shared is None:
            descriptor = os.memfd_create("gpulab", getattr(os, "MFD_CLOEXEC", 0))
            os.ftruncate(descriptor, block.size)
            file = mmap.mmap(descriptor, block.size)
            home = ctypes.addressof(ctypes.c_char.from_buffer(file))
            ctypes.memmove(home, self._memory.home(address), block.size)
            self._context.arena.move(address, home)
            shared = self._memory.shared[address] = descriptor, file
        handle = _HANDLE.pack(_MEMORY, os.getpid(), shared[0], block.device.index, block.size)
        return handle.ljust(HANDLE_BYTES, b"\0")

    def open(self, handle: bytes) -> int:
        """The address of another process's memory in this one; opened again, the same.

        Raises:
            Failure: hipErrorInvalidHandle, hipErrorInvalidContext (this process's own), hipErrorMapFailed.
        """
        kind, process, number, device, size = _HANDLE.unpack(handle[: _HANDLE.size])
        if kind != _MEMORY or not size:
            raise Failure(codes.INVALID_HANDLE, "this is no handle of device memory")
        if process == os.getpid():
            raise Failure(codes.INVALID_CONTEXT, "a process cannot open its own handle: it has the pointer")
        for address, opened in self._opened.items():
            if opened.key == (process, number):
                opened.times += 1
                return address
        try:
            descriptor = os.open(f"/proc/{process}/fd/{number}", os.O_RDWR)
            try:
                file = mmap.mmap(descriptor, size)
            finally:
                os.close(descriptor)
        except (OSError, ValueError) as error:
            raise Failure(
                codes.MAP_FAILED, f"the memory of process {process} cannot be had: {error} (has it ended, or freed it?)"
            ) from error
        on = self._context.device(min(device, len(self._context.devices) - 1))
        try:
            address = self._context.arena.allocate(size, "device", on.index, f"of process {process}")
        except MemoryError as error:
            raise Failure(codes.OUT_OF_MEMORY, str(error)) from error
        self._context.arena.move(address, ctypes.addressof(ctypes.c_char.from_buffer(file)))
        self._context.arena.written(address, size)
        self._memory.blocks[address] = Block(address, size, "opened", on)
        self._opened[address] = _Opened((process, number), file)
        return address

    def close(self, address: int) -> None:
        """Close what `open` gave.

        Raises:
            Failure: hipErrorInvalidValue.
        """
        opened = self._opened.get(address)
        if opened is None:
            raise Failure(codes.INVALID_VALUE, "no other process's memory was opened there")
        opened.times -= 1
        if not opened.times:
            del self._opened[address]
            self._memory.free(address, ("opened",))

    # Events

    @staticmethod
    def export_event(handle: int) -> bytes:
        return _HANDLE.pack(_EVENT, os.getpid(), 0, 0, handle).ljust(HANDLE_BYTES, b"\0")

    @staticmethod
    def check_event(handle: bytes) -> None:
        """Raises Failure (hipErrorInvalidHandle, hipErrorInvalidContext) unless it is another process's event."""
        kind, process, *_ = _HANDLE.unpack(handle[: _HANDLE.size])
        if kind != _EVENT:
            raise Failure(codes.INVALID_HANDLE, "this is no handle of an event")
        if process == os.getpid():
            raise Failure(codes.INVALID_CONTEXT, "a process cannot open its own handle: it has the event")
