"""Allocations and copies: `Memory`, with `Block` for each allocation and `Registration` for registered host memory.

Device, host and managed memory lie in the machine's arena, at addresses of this process; so a copy is a copy
between two addresses once both have been checked. Host memory that was registered (hipHostRegister) lies outside
the arena; kernels see a copy of it there, brought up to date around every launch.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from gpulab.records import Fault
from gpulab.virtual_gpu.machine.arena import CLOSED
from gpulab.virtual_gpu.runtime import codes
from gpulab.virtual_gpu.runtime.advice import Advice
from gpulab.virtual_gpu.runtime.codes import Failure
from gpulab.virtual_gpu.runtime.context import Context
from gpulab.virtual_gpu.runtime.device import Device, Stream
from gpulab.virtual_gpu.runtime.streams import COPY_LATENCY_US, Streams

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpulab.virtual_gpu.machine.arena import Allocation

HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, DEFAULT, NO_CU = 0, 1, 2, 3, 4, 1024
KINDS = frozenset((HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, DEFAULT, NO_CU))

ON_DEVICE = ("device", "array")  # kinds of allocations that take the device's own memory
TYPE_UNREGISTERED, TYPE_HOST, TYPE_DEVICE, TYPE_MANAGED = 0, 1, 2, 3  # hipMemoryType
INVALID_DEVICE = -2  # hipInvalidDeviceId
PITCH_ALIGNMENT = 256
MAX_PITCH = 2**31 - 1  # hipDeviceProp_t's memPitch
PIECE = 1 << 20  # bytes that a pattern is repeated to before it is copied
SMALLEST_ADDRESS = 65536  # no operating system gives out memory below

_memmove, _memset = ctypes.memmove, ctypes.memset


class Holder(Protocol):
    """What holds an allocation, and takes it back when the program frees it (`graphs.GraphMemory`)."""

    def free(self) -> None: ...


@dataclass(slots=True)
class Block:
    """An allocation that a HIP call made. `kind` is "device", "array" (textures.py), "host" or "managed"; a graph's
    node is its `holder`."""

    address: int
    size: int
    kind: str
    device: Device
    flags: int = 0
    pool: int = 0
    holder: Holder | None = None


@dataclass(slots=True)
class Registration:
    """Registered host memory: `shadow` is where kernels see it."""

    address: int
    size: int
    flags: int
    shadow: int
    device: Device


def _side(allocation: Allocation | None) -> str:
    """What learners call one side of a copy: "host", "device" or "managed"; pinned memory is the host's."""
    kind = allocation.kind if allocation is not None else "host"
    return kind if kind in ("host", "managed") else "device"


def _spans(allocation: Allocation | None, address: int, size: int) -> bool:
    """Whether a range goes on behind its allocation: over several mapped ones."""
    return allocation is not None and address + size > allocation.address + allocation.size


class Memory:
    """All allocations by start address."""

    def __init__(self, context: Context, streams: Streams) -> None:
        self._context, self._streams = context, streams
        self._arena = context.arena
        self.blocks: dict[int, Block] = {}
        self.registrations: dict[int, Registration] = {}
        self._advice: dict[int, Advice] = {}
        self.shared: dict[int, tuple[int, mmap.mmap]] = {}  # with other processes (between.py): descriptor and file
        self.pool_freed: Callable[[int, int], None] = lambda address, size: None  # told of a pool's memory (pools.py)

    # Allocation

    def allocate(
        self, size: int, kind: str, flags: int = 0, device: Device | None = None, lies: str | None = None
    ) -> int:
        """Allocate and return the address; 0 bytes give address 0.

        Args:
            lies: the arena's kind, if it is another one.

        Raises:
            Failure: hipErrorOutOfMemory.
        """
        if not size:
            return 0
        device = device or self._context.current
        limited = kind in ON_DEVICE
        if limited and device.used_bytes + size > device.architecture.memory_bytes:
            raise self._no_room(size, device, "")
        try:
            address = self._arena.allocate(size, lies or kind, device.index)
        except MemoryError as error:
            raise self._no_room(size, device, str(error)) from error
        with self._context.lock:
            self.blocks[address] = Block(address, size, kind, device, flags)
            if limited:
                device.used_bytes += size
                device.high_bytes = max(device.high_bytes, device.used_bytes)
        return address

    def _no_room(self, size: int, device: Device, why: str) -> Failure:
        total, available = device.architecture.memory_bytes, self.available(device)
        free = total - device.used_bytes
        below = f" ({size - (1 << 64):,} as a signed number: is a size below zero?)" if size >> 63 else ""
        said = (
            f"{size:,} bytes were asked for{below}, and {available:,} can be had: of the device's {total:,} "
            f"bytes {free:,} are free"
        )
        if why or available < free:
            said += (
                ", but all virtual devices of a process share "
                f"{self._arena.reach >> 30} GiB of this computer's memory, with managed and pinned memory"
            )
        if why:
            said += f" ({why})"
        return Failure(codes.OUT_OF_MEMORY, said)

    def available(self, device: Device) -> int:
        """Bytes that an allocation on the device can have now: it needs room on the device and in the shared arena."""
        return max(0, min(device.architecture.memory_bytes - device.used_bytes, self._arena.largest_bytes()))

    def free(self, address: int, kinds: tuple[str, ...]) -> Block | None:
        """Free an allocation of one of these kinds; address 0 is fine and gives None.

        Raises:
            Failure: hipErrorInvalidValue if the address is not the start of one.
        """
        if not address:
            return None
        with self._context.lock:
            block = self.blocks.get(address)
            if block is None:
                raise Failure(
                    codes.INVALID_VALUE,
                    f"nothing is allocated at 0x{address:x} (was it freed already?)",
                )
            if block.kind not in kinds:
                raise Failure(codes.INVALID_VALUE, f"the memory at 0x{address:x} ({block.kind}) has another function")
            if block.holder is not None:  # a graph has the address, until the graph itself is gone
                block.holder.free()
                return block
            del self.blocks[address]
            if block.kind in ON_DEVICE:
                block.device.used_bytes -= block.size
            if block.pool:
                self.pool_freed(address, block.size)
        self._advice.pop(address, None)
        self._arena.free(address)
        shared = self.shared.pop(address, None)
        if shared is not None:
            os.close(shared[0])
        return block

    def advice(self, address: int) -> Advice:
        """What was said of the managed memory that begins at an address."""
        return self._advice.setdefault(address, Advice())

    def pitch(self, width: int) -> int:
        """Bytes from one row to the next of a pitched allocation."""
        return -(-width // PITCH_ALIGNMENT) * PITCH_ALIGNMENT

    def reset(self, device: Device) -> None:
        for address, block in list(self.blocks.items()):
            if block.device is device:
                block.holder = None
                self.free(address, (block.kind,))
        for address, registration in list(self.registrations.items()):
            if registration.device is device:
                self.unregister(address)

    # Addresses

    def find(self, address: int) -> Allocation | None:
        """The arena's allocation that holds an address, or None."""
        return self._arena.find(address)

    def extent(self, address: int, size: int) -> Allocation | None:
        """The allocation that holds all of [address, address + size), or None for host memory.

        Raises:
            Failure: hipErrorInvalidValue if the range leaves its allocation, or is no memory at all.
        """
        if address < SMALLEST_ADDRESS:
            raise Failure(codes.INVALID_VALUE, "a null pointer" if not address else f"0x{address:x} is no address")
        found = self._arena.find(address)
        if found is not None and found.kind in CLOSED:
            raise Failure(codes.INVALID_VALUE, f"0x{address:x} belongs to {found.label}")
        if found is None:
            if self._arena.holds(address) or self._arena.holds(address + size - 1):
                raise Failure(codes.INVALID_VALUE, f"0x{address:x} is not allocated device memory (was it freed?)")
            return None
        if address + size > found.address + found.size and not self._goes_on(found, address + size):
            raise Failure(
                codes.INVALID_VALUE,
                f"{size:,} bytes from 0x{address:x} go past the end of an allocation of {found.size:,} bytes",
            )
        return found

    def _goes_on(self, found: Allocation, end: int) -> bool:
        """Whether mapped memory follows on mapped memory, up to `end`."""
        while found.address + found.size < end:
            place = found.address + found.size
            following = self._arena.find(place) if found.only is not None else None
            if following is None or following.only is None:
                return False
            found = following
        return True

    def parts(self, address: int, size: int) -> list[tuple[int, int]]:
        """Where in this process the bytes of a range are: (home, bytes) of each part, one but for mapped memory."""
        found = self._arena.find(address)
        if found is None or address + size <= found.address + found.size:
            return [(self.home(address), size)]
        first = found.address + found.size - address
        return [(self.home(address), first), *self.parts(address + first, size - first)]

    def _put(self, target: int, data: bytes) -> None:
        """Bytes into a range that has been checked."""
        done = 0
        for home, length in self.parts(target, len(data)):
            _memmove(home, data[done : done + length], length)
            done += length

    def _move(self, target: int, source: int, size: int) -> None:
        """Copy bytes whose ranges have been checked."""
        done = 0
        for home, length in self.parts(target, size):
            while length:
                other, there = self.parts(source + done, size - done)[0]
                step = min(length, there)
                _memmove(home, other, step)
                home, length, done = home + step, length - step, done + step

    def device_range(self, address: int, size: int) -> Allocation:
        """Like `extent`, but host memory is hipErrorInvalidValue."""
        found = self.extent(address, size)
        if found is None:
            raise Failure(codes.INVALID_VALUE, f"0x{address:x} is not device memory")
        return found

    # Copies

    def check_copy(
        self, target: int, source: int, target_bytes: int, source_bytes: int, kind: int
    ) -> tuple[Allocation | None, Allocation | None]:
        """Both ranges and the direction; the allocations of target and source (None: host memory).

        Raises:
            Failure: hipErrorInvalidMemcpyDirection for an unknown kind; hipErrorInvalidValue if a side that
                must be device memory is not, or a range leaves its allocation.
        """
        if kind not in KINDS:
            raise Failure(codes.INVALID_COPY_DIRECTION)
        to, origin = self.extent(target, target_bytes), self.extent(source, source_bytes)
        if to is None and kind in (HOST_TO_DEVICE, DEVICE_TO_DEVICE, NO_CU):
            raise Failure(codes.INVALID_VALUE, f"the target 0x{target:x} is not device memory")
        if origin is None and kind in (DEVICE_TO_HOST, DEVICE_TO_DEVICE, NO_CU):
            raise Failure(codes.INVALID_VALUE, f"the source 0x{source:x} is not device memory")
        return to, origin

    def copy(self, target: int, source: int, size: int, kind: int, stream: Stream | None, waits: bool = False) -> None:
        """Copy; with a stream, the modelled time of the copy is put into it, and the host may wait for it."""
        to, origin = self.check_copy(target, source, size, size, kind)
        if stream is not None and (capture := self._streams.capture(stream)) is not None:
            return capture.copy(stream, target, size, 1, source, size, 1, (size, 1, 1), kind)
        if _spans(to, target, size) or _spans(origin, source, size):
            self._move(target, source, size)
        else:
            _memmove(self.home(target), self.home(source), size)
        if to is not None:
            self._arena.written(target, size)
        if self._context.provenance is not None:
            self._context.provenance.copied(target, to, source, origin, size)
        if self._context.checking:
            self._look_at_copy(to, origin, source, size)
        if stream is not None:
            self._submit(stream, to, origin, size, waits or self._is_pageable(target, to, source, origin))

    def _look_at_copy(self, to: Allocation | None, origin: Allocation | None, source: int, size: int) -> None:
        """In a checked block: a copy to the host of what was never written is a finding."""
        device = self._context.current
        if origin is None or (to is not None and to.kind == "device") or device.fault is not None:
            return
        found = self._arena.unwritten_run(source, size)
        if found is not None:
            place, length = found
            device.fault = Fault(
                "never written", "", None, "", (0, 0, 0), 0, None, None, place, length, "copy",
                self._arena.nearest(place), memory="global",
            )  # fmt: skip

    def copy_rows(
        self,
        target: int,
        target_pitch: int,
        target_slice: int,
        source: int,
        source_pitch: int,
        source_slice: int,
        width: int,
        height: int,
        depth: int,
        kind: int,
        stream: Stream,
        waits: bool = False,
    ) -> None:
        """Copy `depth` slices of `height` rows of `width` bytes."""
        if not width or not height or not depth:
            return
        if max(target_pitch, source_pitch) > MAX_PITCH:
            reason = f"rows lie at most {MAX_PITCH:,} bytes apart (hipDeviceAttributeMaxPitch)."
            raise Failure(codes.INVALID_VALUE, reason)
        target_bytes = (depth - 1) * target_slice + (height - 1) * target_pitch + width
        source_bytes = (depth - 1) * source_slice + (height - 1) * source_pitch + width
        to, origin = self.check_copy(target, source, target_bytes, source_bytes, kind)
        if (capture := self._streams.capture(stream)) is not None:
            rows = target_slice // (target_pitch or 1), source_slice // (source_pitch or 1)
            return capture.copy(
                stream, target, target_pitch, rows[0], source, source_pitch, rows[1], (width, height, depth), kind
            )
        move: Callable[[int, int, int], object] = _memmove
        first, other = self.home(target), self.home(source)
        if _spans(to, target, target_bytes) or _spans(origin, source, source_bytes):
            move, first, other = self._move, target, source
        if target_bytes == source_bytes == width * height * depth:
            move(first, other, target_bytes)
        else:
            for z in range(depth):
                row, column = first + z * target_slice, other + z * source_slice
                for y in range(height):
                    move(row + y * target_pitch, column + y * source_pitch, width)
        if to is not None:
            self._arena.written(target, target_bytes)
        for row in range(height * depth) if self._context.checking or self._context.provenance is not None else ():
            at = source + row // height * source_slice + row % height * source_pitch
            if self._context.provenance is not None:
                place = target + row // height * target_slice + row % height * target_pitch
                self._context.provenance.copied(place, to, at, origin, width)
            if self._context.checking:
                self._look_at_copy(to, origin, at, width)
        waits = waits or self._is_pageable(target, to, source, origin)
        self._submit(stream, to, origin, width * height * depth, waits)

    def _is_pageable(self, target: int, to: Allocation | None, source: int, origin: Allocation | None) -> bool:
        """Is a side host memory that is not pinned? Then the host waits for an asynchronous copy, too.

        HIP API reference, hipMemcpyAsync: "If host or dst are not pinned, the memory copy will be performed
        synchronously."
        """
        return (to is None and self.registration(target) is None) or (
            origin is None and self.registration(source) is None
        )

    def _submit(self, stream: Stream, to: Allocation | None, origin: Allocation | None, size: int, waits: bool) -> None:
        name = f"{_side(origin)} to {_side(to)}"
        # The host link carries one copy each way at a time, however many streams ask for one.
        engine = "" if _side(to) == _side(origin) else "in" if _side(to) == "device" else "out"
        self._streams.submit(stream, self.copy_us(stream.device, to, origin, size), "copy", name, size, engine)
        if waits:
            self._streams.wait_for(stream.last)

    def copy_us(self, device: Device, to: Allocation | None, origin: Allocation | None, size: int) -> float:
        """Modelled time of a copy: over the host link, or through the device's memory (read and written)."""
        on_device = to is not None and to.kind in ON_DEVICE and origin is not None and origin.kind in ON_DEVICE
        a = device.architecture
        seconds = 2 * size / a.memory_bandwidth if on_device else size / a.copy_bandwidth
        return COPY_LATENCY_US + seconds * 1e6

    # Filling

    def fill(self, address: int, pattern: bytes, count: int, stream: Stream) -> None:
        """`count` times `pattern` from `address` on."""
        self.fill_rows(address, 0, 0, pattern, count, 1, 1, stream)

    def fill_rows(
        self, address: int, pitch: int, slice_: int, pattern: bytes, count: int, height: int, depth: int, stream: Stream
    ) -> None:
        """`count` times `pattern` in each row."""
        width = count * len(pattern)
        if not width or not height or not depth:
            return
        size = (depth - 1) * slice_ + (height - 1) * pitch + width
        spans = _spans(self.device_range(address, size), address, size)
        if (capture := self._streams.capture(stream)) is not None:
            return capture.fill(stream, address, pattern, count, height, pitch, depth, slice_)
        self._arena.written(address, size)
        part = pattern * min(count, PIECE // len(pattern))
        plain = len(set(pattern)) == 1 and not spans
        home = self.home(address)
        for z in range(depth):
            for y in range(height):
                at = address + z * slice_ + y * pitch
                if self._context.provenance is not None:
                    self._context.provenance.overwritten(at, width)
                if plain:
                    _memset(home + at - address, pattern[0], width)
                else:
                    for done in range(0, width, len(part)):
                        self._put(at + done, part[: width - done])
        filled = width * height * depth
        seconds = filled / stream.device.architecture.memory_bandwidth
        self._streams.submit(stream, COPY_LATENCY_US + seconds * 1e6, "fill", "memset", filled)

    # Registered host memory

    def register(self, address: int, size: int, flags: int) -> None:
        """hipHostRegister."""
        if address < SMALLEST_ADDRESS or not size or self._arena.holds(address):
            raise Failure(codes.INVALID_VALUE)
        with self._context.lock:
            if any(r.address < address + size and address < r.address + r.size for r in self.registrations.values()):
                raise Failure(codes.HOST_ALREADY_REGISTERED)
            device = self._context.current
            try:
                shadow = self._arena.allocate(size, "host", device.index, "registered host memory")
            except MemoryError as error:
                raise Failure(codes.OUT_OF_MEMORY, str(error)) from error
            self.registrations[address] = Registration(address, size, flags, shadow, device)

    def unregister(self, address: int) -> None:
        """hipHostUnregister."""
        with self._context.lock:
            found = self.registrations.pop(address, None)
        if found is None:
            raise Failure(codes.HOST_NOT_REGISTERED)
        self._arena.free(found.shadow)

    def registration(self, address: int) -> Registration | None:
        """The registration that holds a host address."""
        for found in list(self.registrations.values()):  # another thread may register more
            if found.address <= address < found.address + found.size:
                return found
        return None

    def home(self, address: int) -> int:
        """Where in this process the bytes of an address are: device memory is touched there alone.

        Registered host memory is the host's, at both of its addresses.
        """
        for found in list(self.registrations.values()):
            if found.shadow <= address < found.shadow + found.size:
                return found.address + address - found.shadow
        return self._arena.home(address)

    def registered_to_device(self) -> list[bytes]:
        """Before a launch: bring the kernels' copies up to date; what they hold then, for `registered_to_host`."""
        before = []
        for found in self.registrations.values():
            _memmove(found.shadow, found.address, found.size)
            before.append((ctypes.c_char * found.size).from_address(found.shadow).raw)
        return before

    def registered_to_host(self, before: list[bytes]) -> None:
        """After a launch: bring what kernels changed back to the host's memory."""
        for found, held in zip(self.registrations.values(), before, strict=True):
            if (ctypes.c_char * found.size).from_address(found.shadow).raw != held:
                _memmove(found.address, found.shadow, found.size)
