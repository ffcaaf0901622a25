"""Virtual memory management: `Mappings`, with `Physical` for memory and `Range` for reserved addresses.

Addresses are reserved, memory is created, memory is mapped at addresses, and devices are given access to what is mapped
(HIP reference, "Virtual memory management"). Memory has a home in the process as any allocation has (machine/arena.py),
and what is mapped has the home of its memory; so one memory may be mapped at several addresses, and be mapped elsewhere
later with its contents. A kernel that uses reserved addresses without memory, or mapped ones without access, faults.
Memory that has a descriptor lies in the file of that descriptor (Linux: memfd_create), which other processes map.
"""

from __future__ import annotations

import ctypes
import itertools
import mmap
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from gpulab.virtual_gpu.machine.arena import Allocation
from gpulab.virtual_gpu.runtime import codes
from gpulab.virtual_gpu.runtime.codes import Failure
from gpulab.virtual_gpu.runtime.context import Context
from gpulab.virtual_gpu.runtime.device import Device
from gpulab.virtual_gpu.runtime.memory import Memory

GRANULE = 4096  # what sizes and addresses are multiples of
RECOMMENDED = 2 << 20
NONE, READ, READ_WRITE = 0, 1, 3  # hipMemAccessFlags
_FILE = "gpulab memory of device"
_LINK = re.compile(rf"/memfd:{_FILE} (\d+) ")


@dataclass(slots=True, eq=False)
class Physical:
    """Memory that can be mapped. It goes when nobody holds it and it is mapped nowhere.

    address: of the arena's allocation. holders: how often it was created, imported and retained, less the releases.
    """

    handle: int
    address: int
    home: int
    size: int
    device: Device
    sharing: int
    holders: int = 1
    mapped: int = 0


@dataclass(slots=True, eq=False)
class Mapped:
    """A part of a range where memory is mapped, from `offset` of it on; `access`: hipMemAccessFlags by device."""

    address: int
    size: int
    memory: Physical
    offset: int
    access: dict[int, int] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Range:
    """Reserved addresses; `parts` are mapped, in the order of their addresses."""

    address: int
    size: int
    parts: list[Mapped] = field(default_factory=list)


class Mappings:
    """All of them."""

    def __init__(self, context: Context, memory: Memory) -> None:
        self._context, self._memory, self._arena = context, memory, context.arena
        self._ranges: dict[int, Range] = {}
        self._physical: dict[int, Physical] = {}
        self._handles = itertools.count(0x9_0000_0010, 16)

    # Addresses

    def reserve(self, size: int, align: int, wanted: int) -> int:
        """Reserve addresses, at the wanted ones if they are free.

        Raises:
            Failure: hipErrorInvalidValue: no multiple of the granule; hipErrorOutOfMemory.
        """
        if not size or size % GRANULE or align & (align - 1):
            raise Failure(
                codes.INVALID_VALUE, f"sizes are multiples of {GRANULE:,} bytes, alignments powers of two (or 0)"
            )
        align = max(align, GRANULE)
        try:
            address = self._arena.allocate(size, "reserved", self._context.current.index, align=align)
        except MemoryError as error:
            raise Failure(
                codes.OUT_OF_MEMORY, f"{error}; reserved addresses are part of what all virtual devices share"
            ) from error
        del wanted  # a wish: HIP may give other addresses, and these are the same in every run
        self._ranges[address] = Range(address, size)
        return address

    def free(self, address: int, size: int) -> None:
        """Give reserved addresses back; nothing may be mapped there.

        Raises:
            Failure: hipErrorInvalidValue.
        """
        found = self._ranges.get(address)
        if found is None or found.size != size:
            raise Failure(codes.INVALID_VALUE, "these addresses were not reserved with this size")
        if found.parts:
            raise Failure(codes.INVALID_VALUE, "memory is mapped there; call hipMemUnmap first")
        del self._ranges[address]
        self._arena.free(address)

    # Memory

    def create(self, size: int, device: Device, sharing: int) -> Physical:
        """New memory of a device.

        Raises:
            Failure: hipErrorInvalidValue, hipErrorOutOfMemory.
        """
        if not size or size % GRANULE:
            raise Failure(
                codes.INVALID_VALUE, f"sizes are multiples of {GRANULE:,} bytes (hipMemGetAllocationGranularity)"
            )
        address = self._memory.allocate(size, "device", device=device, lies="physical")
        made = Physical(next(self._handles), address, self._arena.home(address), size, device, sharing)
        self._physical[made.handle] = made
        return made

    def find(self, handle: int) -> Physical:
        """The memory of a handle.

        Raises:
            Failure: hipErrorInvalidValue.
        """
        found = self._physical.get(handle)
        if found is None or not found.holders:
            raise Failure(codes.INVALID_VALUE, "no memory has this handle")
        return found

    def release(self, handle: int) -> None:
        found = self.find(handle)
        found.holders -= 1
        self._let_go(found)

    def _let_go(self, memory: Physical) -> None:
        if not memory.holders and not memory.mapped:
            del self._physical[memory.handle]
            self._memory.free(memory.address, ("device",))

    def retain(self, address: int) -> int:
        """The handle of the memory that is mapped at an address; its holders are one more."""
        memory = self._part(address).memory
        memory.holders += 1
        return memory.handle

    # What is mapped

    def map(self, address: int, size: int, offset: int, handle: int) -> None:
        """Map a part of a memory at reserved addresses.

        Raises:
            Failure: hipErrorInvalidValue.
        """
        memory = self.find(handle)
        if not size or size % GRANULE or address % GRANULE or offset % GRANULE or offset + size > memory.size:
            raise Failure(
                codes.INVALID_VALUE, f"{size:,} bytes from {offset:,} are no pages of a memory of {memory.size:,} bytes"
            )
        range_ = self._range(address, size)
        if any(part.address < address + size and address < part.address + part.size for part in range_.parts):
            raise Failure(codes.INVALID_VALUE, "memory is mapped there already")
        range_.parts.append(Mapped(address, size, memory, offset))
        range_.parts.sort(key=lambda part: part.address)
        memory.mapped += 1
        self._lay(range_)

    def unmap(self, address: int, size: int) -> None:
        """Undo the mappings that lie in [address, address + size): whole ones.

        Raises:
            Failure: hipErrorInvalidValue.
        """
        range_ = self._range(address, size)
        for part in self._whole_parts(range_, address, size):
            range_.parts.remove(part)
            part.memory.mapped -= 1
            self._let_go(part.memory)
        self._lay(range_)

    def set_access(self, address: int, size: int, wanted: Sequence[tuple[int, int]]) -> None:
        """Give (device, hipMemAccessFlags) access to mapped memory.

        Raises:
            Failure: hipErrorInvalidValue, hipErrorInvalidDevice.
        """
        range_ = self._range(address, size)
        parts = self._whole_parts(range_, address, size)
        for device, flags in wanted:
            self._context.device(device)
            if flags not in (NONE, READ, READ_WRITE):
                raise Failure(codes.INVALID_VALUE, f"{flags} is no access")
            for part in parts:
                part.access[device] = flags
        self._lay(range_)

    def access(self, address: int, device: int) -> int:
        """hipMemAccessFlags of a device for what is mapped at an address."""
        self._context.device(device)
        return self._part(address).access.get(device, NONE)

    def _range(self, address: int, size: int) -> Range:
        for range_ in self._ranges.values():
            if range_.address <= address and address + size <= range_.address + range_.size:
                return range_
        raise Failure(codes.INVALID_VALUE, f"{size:,} bytes from 0x{address:x} are not reserved (hipMemAddressReserve)")

    def _part(self, address: int) -> Mapped:
        for part in self._range(address, 1).parts:
            if part.address <= address < part.address + part.size:
                return part
        raise Failure(codes.INVALID_VALUE, f"nothing is mapped at 0x{address:x}")

    @staticmethod
    def _whole_parts(range_: Range, address: int, size: int) -> list[Mapped]:
        """The mappings that make up these addresses."""
        found = [part for part in range_.parts if part.address < address + size and address < part.address + part.size]
        if not found or found[0].address != address or sum(part.size for part in found) != size:
            raise Failure(
                codes.INVALID_VALUE, f"{size:,} bytes from 0x{address:x} are not whole mappings, one behind the other"
            )
        return found

    def _lay(self, range_: Range) -> None:
        """Bring the arena's table up to date."""
        pieces, at = [], range_.address
        device = self._context.current.index
        for part in [*range_.parts, None]:
            end = range_.address + range_.size if part is None else part.address
            if end > at:
                pieces.append(Allocation(at, end - at, "reserved", device))
            if part is not None:
                pieces.append(self._piece(part))
                at = part.address + part.size
        self._arena.lay(range_.address, range_.size, pieces)

    def _piece(self, part: Mapped) -> Allocation:
        device, home = part.memory.device.index, part.memory.home + part.offset
        users = frozenset(index for index, flags in part.access.items() if flags != NONE)
        if not users:
            return Allocation(part.address, part.size, "closed", device, home=home)
        # One of several devices with more rights than the others gives them to all (docs/programs.md).
        writable = any(flags == READ_WRITE for flags in part.access.values())
        return Allocation(part.address, part.size, "device", device, writable=writable, home=home, only=users)

    # Sharing

    def export(self, handle: int) -> int:
        """A file descriptor that stands for a memory: who has it, by inheritance or a socket, can import the memory.

        Raises:
            Failure: hipErrorInvalidValue: it was not created for that; hipErrorNotSupported.
        """
        memory = self.find(handle)
        if memory.sharing != 1:
            raise Failure(codes.INVALID_VALUE, "the memory was created without hipMemHandleTypePosixFileDescriptor")
        if memory.address not in self._memory.shared:
            if not hasattr(os, "memfd_create"):
                raise Failure(codes.NOT_SUPPORTED, "file descriptors for memory need Linux")
            descriptor = os.memfd_create(f"{_FILE} {memory.device.index}")
            os.ftruncate(descriptor, memory.size)
            before = memory.home
            self._lie_in(memory, descriptor)
            ctypes.memmove(memory.home, before, memory.size)
        return os.dup(self._memory.shared[memory.address][0])

    def import_(self, descriptor: int) -> int:
        """The handle of the memory that an exported descriptor stands for; of one of this process, with a holder more.

        Raises:
            Failure: hipErrorInvalidValue, hipErrorOutOfMemory.
        """
        try:
            wanted, link = os.fstat(descriptor), os.readlink(f"/proc/self/fd/{descriptor}")
        except OSError as error:
            raise Failure(codes.INVALID_VALUE, f"{descriptor} is no file descriptor") from error
        for memory in self._physical.values():
            known = self._memory.shared.get(memory.address)
            if known is not None and os.path.samestat(os.fstat(known[0]), wanted):
                memory.holders += 1
                return memory.handle
        found = _LINK.match(link)
        if found is None or not wanted.st_size or wanted.st_size % GRANULE:
            raise Failure(codes.INVALID_VALUE, f"{descriptor} is no descriptor that memory was exported to")
        device = self._context.device(min(int(found[1]), len(self._context.devices) - 1))
        memory = self.create(wanted.st_size, device, 1)
        self._lie_in(memory, os.dup(descriptor))
        self._arena.written(memory.address, memory.size)
        return memory.handle

    def _lie_in(self, memory: Physical, descriptor: int) -> None:
        """Have a memory's bytes be those of a file, also where it is mapped."""
        file = mmap.mmap(descriptor, memory.size)
        self._memory.shared[memory.address] = descriptor, file
        memory.home = ctypes.addressof(ctypes.c_char.from_buffer(file))
        self._arena.move(memory.address, memory.home)
        for range_ in self._ranges.values():
            if any(part.memory is memory for part in range_.parts):
                self._lay(range_)

    def reset(self, device: Device) -> None:
        """hipDeviceReset: the memory of a device is mapped nowhere any more."""
        for range_ in list(self._ranges.values()):
            range_.parts = [part for part in range_.parts if part.memory.device is not device]
            self._lay(range_)
        for handle, memory in list(self._physical.items()):
            if memory.device is device:
                del self._physical[handle]
