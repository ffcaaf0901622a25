"""Device memory that several processes of a machine use: `Between`, for single allocations and for pools.

The owner's allocation moves into memory that has a file (Linux: memfd_create), which its handle names by process and
descriptor; another process maps that file, and its own allocation has its home there. What stands for a pool is a
file, too, which names process and pool; a pool that was imported from it gives out allocations by such handles alone.
Work is done when it is submitted, so what one process has stored is there as soon as its call returns. An event of
another process is over.
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
from gpulab.virtual_gpu.runtime.device import Device
from gpulab.virtual_gpu.runtime.memory import Block, Memory
from gpulab.virtual_gpu.runtime.pools import Pool, Pools

HANDLE_BYTES = 64
_HANDLE = struct.Struct("<4sIIIQ")  # kind, process, descriptor, device, bytes
_MEMORY, _EVENT, _POOL = b"gpm1", b"gpe1", b"gpp1"
_IN_POOL = struct.Struct("<Q")  # behind it: the pool's handle in its process
_FILE = "gpulab"


@dataclass(slots=True)
class _Opened:
    """Another process's memory in this one; `times`: how often it was opened, less how often closed."""

    key: tuple[int, int]
    file: mmap.mmap
    times: int = 1


class Between:
    """What this process has shared, and what it has opened."""

    def __init__(self, context: Context, memory: Memory, pools: Pools) -> None:
        self._context, self._memory, self._pools = context, memory, pools
        self._opened: dict[int, _Opened] = {}

    def export(self, address: int) -> bytes:
        """The handle of an allocation of device memory.

        Raises:
            Failure: hipErrorInvalidValue: no allocation begins there; hipErrorNotSupported: without such files.
        """
        block = self._memory.blocks.get(address)
        if block is None or block.kind != "device" or block.pool:
            raise Failure(codes.INVALID_VALUE, f"0x{address:x} is not the start of what hipMalloc has allocated")
        return self._handle(block).ljust(HANDLE_BYTES, b"\0")

    def _handle(self, block: Block) -> bytes:
        """What names an allocation, which has a file from now on."""
        address, shared = block.address, self._memory.shared.get(block.address)
        if shared is None:
            descriptor = self._file()
            os.ftruncate(descriptor, block.size)
            file = mmap.mmap(descriptor, block.size)
            home = ctypes.addressof(ctypes.c_char.from_buffer(file))
            ctypes.memmove(home, self._memory.home(address), block.size)
            self._context.arena.move(address, home)
            shared = self._memory.shared[address] = descriptor, file
        return _HANDLE.pack(_MEMORY, os.getpid(), shared[0], block.device.index, block.size)

    @staticmethod
    def _file() -> int:
        if not hasattr(os, "memfd_create"):
            raise Failure(codes.NOT_SUPPORTED, "memory that processes share needs Linux")
        return os.memfd_create(_FILE, getattr(os, "MFD_CLOEXEC", 0))

    def _mapped(self, process: int, number: int, device: int, size: int) -> tuple[int, Device, int, mmap.mmap]:
        """A process's memory in this one: its address here and device, the descriptor and file of it.

        Raises:
            Failure: hipErrorMapFailed, hipErrorOutOfMemory.
        """
        path = f"/proc/{process}/fd/{number}"
        try:
            descriptor = os.open(path, os.O_RDWR)
            try:
                if not os.readlink(path).startswith(f"/memfd:{_FILE} ") or os.fstat(descriptor).st_size != size:
                    raise ValueError("it is gone")
                file = mmap.mmap(descriptor, size)
            except (OSError, ValueError):
                os.close(descriptor)
                raise
        except (OSError, ValueError) as error:
            raise Failure(
                codes.MAP_FAILED, f"the memory of process {process} cannot be had: {error} (has it ended, or freed it?)"
            ) from error
        on = self._context.device(min(device, len(self._context.devices) - 1))
        try:
            address = self._context.arena.allocate(size, "device", on.index, f"of process {process}")
        except MemoryError as error:
            os.close(descriptor)
            raise Failure(codes.OUT_OF_MEMORY, str(error)) from error
        self._context.arena.move(address, ctypes.addressof(ctypes.c_char.from_buffer(file)))
        self._context.arena.written(address, size)
        return address, on, descriptor, file

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
        address, on, descriptor, file = self._mapped(process, number, device, size)
        os.close(descriptor)
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

    # Pools

    def export_pool(self, pool: Pool) -> int:
        """A file descriptor that stands for a pool: who has it, by inheritance or a socket, can import the pool.

        Raises:
            Failure: hipErrorInvalidValue: the pool was not made for that; hipErrorNotSupported: without such files.
        """
        if not pool.is_shared or pool.origin is not None:
            raise Failure(codes.INVALID_VALUE, "the pool was not made with hipMemHandleTypePosixFileDescriptor")
        descriptor = self._file()
        os.set_inheritable(descriptor, True)
        os.write(descriptor, _HANDLE.pack(_POOL, os.getpid(), 0, pool.device.index, pool.handle))
        return descriptor

    def import_pool(self, descriptor: int) -> Pool:
        """A pool that gives out what `import_pointer` names.

        Raises:
            Failure: hipErrorInvalidValue: the descriptor stands for no pool.
        """
        try:
            kind, process, _, device, handle = _HANDLE.unpack(os.pread(descriptor, _HANDLE.size, 0))
        except (OSError, struct.error, OverflowError):
            kind = b""
        if kind != _POOL:
            raise Failure(codes.INVALID_VALUE, f"{descriptor} is no descriptor that a pool was exported to")
        on = self._context.device(min(device, len(self._context.devices) - 1))
        return self._pools.imported(on, (process, handle))

    def export_pointer(self, address: int) -> bytes:
        """What names an allocation of a pool that can be exported.

        Raises:
            Failure: hipErrorInvalidValue.
        """
        block = self._memory.blocks.get(address)
        pool = self._pools.holder(address)
        if block is None or pool is None or not pool.is_shared or pool.origin is not None:
            raise Failure(
                codes.INVALID_VALUE, f"0x{address:x} is not the start of what comes from a pool that can be exported"
            )
        return (self._handle(block) + _IN_POOL.pack(pool.handle)).ljust(HANDLE_BYTES, b"\0")

    def import_pointer(self, pool: Pool, data: bytes) -> int:
        """The address of such an allocation in this process.

        Raises:
            Failure: hipErrorInvalidValue: the pool is not the one of the allocation; hipErrorMapFailed.
        """
        kind, process, number, device, size = _HANDLE.unpack(data[: _HANDLE.size])
        (handle,) = _IN_POOL.unpack_from(data, _HANDLE.size)
        if kind != _MEMORY or not size or pool.origin != (process, handle):
            raise Failure(codes.INVALID_VALUE, "this is no memory of the pool that was imported here")
        address, on, descriptor, file = self._mapped(process, number, device, size)
        self._memory.shared[address] = descriptor, file
        self._memory.blocks[address] = Block(address, size, "device", on)
        on.used_bytes += size
        self._pools.took(pool, address, size)
        return address

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
