"""Device memory: `Arena` hands out allocations from one range of addresses that starts at a multiple of 4 GiB.

It begins with 4 GiB, whose addresses share their high half, and grows in place when something does not fit: addresses
of what fits do not depend on it. How far it may grow, the computer's memory says (`Arena.reach`). Bounds checks of
kernels are 32-bit arithmetic in any case (translate/places.py).
What lies at a device address has a home, an address of this process. The two are the same, but for the memory that a
device has for itself in a guarded arena: there host code that follows a device address meets a page that it may not
touch.
Memory is committed by the operating system when it is first touched. Between allocations lie unused gaps, so that a
kernel that runs over an end meets no neighbour. What was freed lately is remembered for error messages.
"""

from __future__ import annotations

import bisect
import contextlib
import ctypes
import mmap
import os
import sys
import threading
from array import array
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from gpulab.errors import DeviceMemoryError
from gpulab.records import AllocationNote
from gpulab.virtual_gpu.machine import computer
from gpulab.virtual_gpu.schema import constant

SIZE = 1 << 32
STEP = 1 << 30  # in which it grows
LARGEST = constant("ARENA_SEGMENTS") * SIZE
SPARE = 2 << 30  # of a process whose addresses are limited: it does not grow into these
EDGE = constant("EDGE")  # never allocated at either end, so that offsets cannot wrap into an allocation
WHOLE = 64 << 20  # bytes: what is smaller has no part within EDGE of a multiple of 4 GiB, where checks are slower
ALIGN = 256
APART = 16 << 20  # bytes: of the MI300X's Infinity Cache in each of its 16 ways, more than other caches have
GAP = 4096
PADDING = 16  # bytes: fewer that were never written may be between the members of a structure
HUGE = 2 << 20
LOOKED_AT = 1 << 24  # bytes at a time
REMEMBERED = 64
READ_ONLY = 1
RANGE_WORDS = 4  # of 64 bits: a row of `Arena.table` (schema.RANGE)
CLOSED = frozenset(("reserved", "physical", "closed"))
"""Kinds of virtual memory management that no kernel may use at their addresses: see `Arena.lay`."""
GUARDED = frozenset(("device", "array", "global")) | CLOSED
"""Kinds of memory that host code must not touch."""
OF_PROGRAMS = frozenset(("device", "host", "managed", "array", "object", "global"))
"""Kinds of memory that programs ask for, or their modules: see `Arena.apart`."""

_NAMES = {
    "device": "device memory",
    "host": "pinned host memory",
    "managed": "managed memory",
    "signal": "signal memory",
    "global": "global variable",
    "reserved": "reserved addresses without memory",
    "closed": "mapped memory without access",
    "physical": "memory that is not mapped",
    "kernarg": "kernel arguments",
    "internal": "memory of the virtual GPU",
    "array": "a HIP array (texture memory)",
    "object": "a texture or surface object",
}


@dataclass(frozen=True, slots=True)
class Allocation:
    """One allocation. `kind`: "device", "host", "managed", "signal", "global", "kernarg", "internal", "array"
    (of textures), "object" (descriptors of textures and surfaces), or one of CLOSED.

    home: where the byte at `address` is in this process. only: the devices that may use it; None: all.
    """

    address: int
    size: int
    kind: str
    device: int
    name: str = ""
    writable: bool = True
    home: int = 0
    only: frozenset[int] | None = None

    @property
    def label(self) -> str:
        """How messages call it."""
        label = _NAMES.get(self.kind, self.kind)
        return f"{label} {self.name}" if self.name else label


# Where the arena lies if the system lets us choose: far from what Linux itself hands out, so that device addresses,
# and messages with them, are the same in every run.
FIXED_BASE = 0x2000_0000_0000
FIXED_HOME = 0x2010_0000_0000  # of a guarded arena's device memory
# Flags for memory of this process alone of which only what is touched counts; 0 where a system has no such flags.
# Without MAP_NORESERVE Linux refuses a mapping larger than its memory, and to fork a process that has one. Python
# names the flag from 3.13 on.
_LAZY = getattr(mmap, "MAP_PRIVATE", 0)
if _LAZY:
    _LAZY |= mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)
_MAP_FIXED_NOREPLACE = 0x100000  # Linux 4.17: at this address or not at all


def lazy(size: int) -> mmap.mmap:
    """So many zero bytes, which cost nothing before they are used; a forked process gets its own."""
    return mmap.mmap(-1, size, flags=_LAZY) if _LAZY else mmap.mmap(-1, size)


class _Reservation:
    """A range of address space: `base` is aligned to 4 GiB; pages appear when touched. It has `size` bytes: where the
    system lets us choose addresses (Linux) 4 GiB, and what `grow` puts behind them; else `most`, if it can be had.

    With `guarded`, and where the system lets us choose addresses, there are two: of the first nothing may be touched
    before `open`, and `shift` bytes behind it lies one of the same size.
    """

    def __init__(self, most: int, guarded: bool = False) -> None:
        self._libc: Any = None
        self.shift = 0
        self.size = SIZE
        if os.name == "nt":
            self._reserve_windows(most)
            return
        if sys.platform == "linux":
            if guarded and self._reserve_fixed(FIXED_HOME):
                self.shift = FIXED_HOME - FIXED_BASE
                if self._reserve_fixed(FIXED_BASE, rights=0):
                    return
                self.shift = 0  # the other range stays reserved, at no cost
            if self._reserve_fixed(FIXED_BASE):
                return
            self._libc = None
        try:
            self.map = lazy(most + SIZE)
            self.size = most
        except (OSError, ValueError):
            try:
                self.map = lazy(2 * SIZE)
            except (OSError, ValueError) as error:
                raise DeviceMemoryError(
                    f"the virtual GPU could not reserve its address space of 8 GiB: {error}.",
                    why="the process has a limit on virtual memory (ulimit -v), or the system forbids overcommitment.",
                    hint="raise the limit: `ulimit -v unlimited` before starting Python.",
                ) from error
        start = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        self.base = -(-start // SIZE) * SIZE
        self._start = start
        if hasattr(self.map, "madvise") and hasattr(mmap, "MADV_DONTDUMP"):
            self.map.madvise(mmap.MADV_DONTDUMP)

    @property
    def grows(self) -> bool:
        """Whether there may be more than `size` bytes."""
        return self._libc is not None

    def grow(self, size: int) -> bool:
        """Reserve up to `size` bytes in all; False if something lies there, or addresses are limited."""
        more = size - self.size
        if more <= 0:
            return True
        if not self.grows or not self._reserve_fixed(self.base + self.shift + self.size, more, moves=False):
            return False
        if self.shift and not self._reserve_fixed(self.base + self.size, more, 0, moves=False):
            self._libc.munmap(self.base + self.shift + self.size, more)
            return False
        self.size = size
        return True

    def _reserve_fixed(
        self, wanted: int, size: int = SIZE, rights: int = mmap.PROT_READ | mmap.PROT_WRITE, moves: bool = True
    ) -> bool:
        """Reserve at an address; False if something lies there or the system is older than the flag."""
        try:
            libc = ctypes.CDLL(None, use_errno=True)
            reserve, advise, protect, give_back = libc.mmap, libc.madvise, libc.mprotect, libc.munmap
        except (OSError, AttributeError):
            return False
        reserve.restype = ctypes.c_void_p
        reserve.argtypes = [
            ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_longlong
        ]  # fmt: skip
        advise.argtypes = protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        give_back.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        start = reserve(wanted, size, rights, _LAZY | _MAP_FIXED_NOREPLACE, -1, 0)
        if start != wanted:  # refused (-1), or an older kernel that took the address for a mere hint
            if start is not None and start != ctypes.c_void_p(-1).value:
                give_back(start, size)
            return False
        if moves:
            self.base = wanted
        self._libc = libc
        if hasattr(mmap, "MADV_DONTDUMP"):
            advise(wanted, size, mmap.MADV_DONTDUMP)
        return True

    def open(self, address: int, size: int) -> None:
        """Let everybody touch whole pages of the first range.

        Raises:
            MemoryError: the system refuses.
        """
        if self._libc.mprotect(address, size, mmap.PROT_READ | mmap.PROT_WRITE):
            raise MemoryError(f"{size:,} bytes: the system does not open them ({os.strerror(ctypes.get_errno())})")

    def close(self, address: int, size: int) -> None:
        """Take that back, and the pages with it."""
        self.discard(address, size)
        self._libc.mprotect(address, size, 0)

    def _reserve_windows(self, most: int) -> None:
        kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined]
        allocate = kernel32.VirtualAlloc
        allocate.restype = ctypes.c_void_p
        allocate.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint32, ctypes.c_uint32]
        for self.size in (most, SIZE):
            start = allocate(None, self.size + SIZE, 0x2000, 0x04)  # MEM_RESERVE, PAGE_READWRITE
            if start:
                break
        else:
            raise DeviceMemoryError("the virtual GPU could not reserve its address space of 8 GiB.")
        self.base = -(-int(start) // SIZE) * SIZE
        self._commit = lambda address, size: allocate(address, size, 0x1000, 0x04)  # MEM_COMMIT
        self._commit(self.base, EDGE)

    def commit(self, address: int, size: int) -> None:
        """Make a range usable; large ones get huge pages where the system has them (scattered access is faster).

        Raises:
            MemoryError: the system has not that much memory (Windows, where it is asked here).
        """
        if os.name == "nt":
            if not self._commit(address, size):
                raise MemoryError(f"{size:,} bytes: the system has not that much memory")
        elif size >= HUGE:
            self._advise("MADV_HUGEPAGE", address, size, HUGE)

    def discard(self, address: int, size: int) -> None:
        """Give whole pages back; they read as zero afterwards (where the system can do that)."""
        self._advise("MADV_DONTNEED", address, size, mmap.PAGESIZE)

    def _advise(self, name: str, address: int, size: int, page: int) -> None:
        """madvise for the whole pages inside a range; nothing where the system lacks the call or the advice."""
        advice = getattr(mmap, name, None)
        first = -(-address // page) * page
        whole = (address + size - first) // page * page
        if os.name == "nt" or advice is None or whole <= 0:
            return
        if self._libc is not None:
            self._libc.madvise(first, whole, advice)
        elif hasattr(self.map, "madvise"):
            with contextlib.suppress(OSError):  # a kernel without huge pages
                self.map.madvise(advice, first - self._start, whole)


def _place(start: int, room: int, align: int) -> int:
    """The first address from `start` on for so many bytes."""
    address = -(-start // align) * align
    multiple = -(-(address - EDGE) // SIZE) * SIZE
    if room < WHOLE and address + room > multiple - EDGE:
        address = -(-(multiple + EDGE) // align) * align
    return address


def _usable(start: int, length: int) -> list[tuple[int, int]]:
    """The parts of a free piece that one allocation can fill."""
    first = -(-(start - EDGE) // SIZE) * SIZE - EDGE  # of the addresses that small ones keep away from
    if length >= WHOLE or start + length <= first:
        return [(start, length)]
    behind = max(start, first + 2 * EDGE)
    return [(start, max(first - start, 0)), (behind, start + length - behind)]


class _Here(threading.local):
    """What kernels that a thread launches do not see: allocations by address, and what was freed.

    apart: whether it is in such a block (Arena.apart). began: whether something was allocated in it.
    """

    apart = began = False
    live: frozenset[int] = frozenset()
    freed: Mapping[int, Allocation] = MappingProxyType(
        {}
    )  # by identity: memory that is freed twice has two equal notes


class Arena:
    """All memory of the virtual devices of a process. `generation` counts changes to the table of allocations.

    `size` is how many bytes of addresses it has now, `reach` how many it may come to have: as many as the computer's
    memory allows, at least 4 GiB. `is_wide`: an allocation lies beyond the first 4 GiB.

    Args:
        guarded: host code that touches memory of GUARDED kinds is to be stopped. `is_guarded` says whether it is.
    """

    def __init__(self, guarded: bool = False) -> None:
        self.reach = min(max(computer.memory() * 3 // 4 // STEP * STEP, SIZE), LARGEST)
        self._reservation = _Reservation(self.reach, guarded)
        self.base = self._reservation.base
        self.size = SIZE
        if not self._reservation.grows:
            self.reach = self._reservation.size
        self.is_guarded = self._reservation.shift != 0
        self.generation, self.is_wide = 0, False
        self._lock = threading.RLock()
        self._hidden = _Here()
        self._addresses: list[int] = []
        self._allocations: dict[int, Allocation] = {}
        self._free: list[tuple[int, int]] = [(self.base + EDGE, SIZE - 2 * EDGE)]  # (address, size), by address
        self._freed: deque[Allocation] = deque(maxlen=REMEMBERED)
        self._high_water = self.base + EDGE  # above it no memory was ever handed out
        self._tables: dict[tuple[int, int], tuple[int, array[int], array[int]]] = {}
        self.allocated = 0
        self._asked = False
        self._budget: int | None = None
        self.unwritten: dict[int, Any] = {}  # device memory of which a part was never written: a bit per written byte

    def allocate(
        self, size: int, kind: str, device: int, name: str = "", *, writable: bool = True, align: int = ALIGN
    ) -> int:
        """Reserve `size` bytes, all zero; the address, a multiple of `align` (at least 256).

        Raises:
            MemoryError: there is no gap of this size left, and the arena cannot grow so far.
        """
        if size < 0:
            raise ValueError("an allocation cannot have a negative size")
        open_ = self.is_guarded and kind not in GUARDED
        align = max(align, mmap.PAGESIZE if open_ else ALIGN)
        room = self._room(size, kind)
        shift = 0 if open_ else self._reservation.shift
        with self._lock:
            highest = self._hidden.apart and kind in OF_PROGRAMS
            if highest and not self._hidden.began:
                self._hidden.began, align = True, max(align, APART)
            best = self._best(room, align, highest)
            if best is None:
                self._grow(size, room, align, kind)
                best = self._best(room, align, highest)
                assert best is not None
            position, length, address = best
            home = address + shift
            if open_:
                self._reservation.open(address, room - GAP)
            if kind != "reserved":
                self._reservation.commit(home, room)
            start, _ = self._free.pop(position)
            pieces = [(start, address - start), (address + room, start + length - address - room)]
            self._free[position:position] = [piece for piece in pieces if piece[1] > 0]
            if address < self._high_water and kind != "reserved":
                used = min(size, self._high_water - address)
                if used >= 1 << 20:
                    self._reservation.discard(home, used)
                    page = mmap.PAGESIZE
                    head, tail = min(used, -home % page), min(used, (home + used) % page)
                    ctypes.memset(home, 0, head)
                    ctypes.memset(home + used - tail, 0, tail)
                    if sys.platform != "linux":  # the only system that promises pages of zeros
                        ctypes.memset(home, 0, used)
                else:
                    ctypes.memset(home, 0, used)
            self._high_water = max(self._high_water, address + room)
            self._allocations[address] = Allocation(address, size, kind, device, name, writable, home)
            if address in self._hidden.live:  # of something that was freed since
                self._hidden.live -= {address}
            if kind in ("device", "array") and size:
                self.unwritten[address] = None
            if kind not in ("kernarg", "internal"):
                # Behind a new allocation stands its end, not the array that was there before.
                end = address + room
                for old in [old for old in self._freed if old.address < end and address < old.address + old.size]:
                    self._freed.remove(old)
            bisect.insort(self._addresses, address)
            self.allocated += size
            self._changed()
            return address

    def _best(self, room: int, align: int, highest: bool = False) -> tuple[int, int, int] | None:
        """The smallest gap that has room, or the one with the highest address: which, its size, the address in it."""
        best: tuple[int, int, int] | None = None
        for position, (start, length) in enumerate(self._free):
            address = _place(start, room, align)
            if address + room <= start + length and (best is None or highest or length < best[1]):
                best = position, length, address
        return best

    def _last(self) -> tuple[int, int]:
        """What is free at the end: where it begins, and how many bytes it has."""
        end = self.base + self.size - EDGE
        start, length = self._free[-1] if self._free else (end, 0)
        return (start, length) if start + length == end else (end, 0)

    def _most(self) -> int:
        """The bytes of addresses that it may have now."""
        free = computer.addresses() if self._reservation.grows else None
        if free is None:
            return self.reach
        more = max(0, free - SPARE) // (2 if self.is_guarded else 1)
        return min(self.reach, self._reservation.size + more // STEP * STEP)

    def _mine(self) -> int:
        """Bytes of the computer's memory that allocations here may take."""
        held = (a.size for a in self._allocations.values() if a.only is None and a.kind not in ("reserved", "closed"))
        return sum(held)

    def _unused(self) -> int | None:
        """Bytes of the computer's memory that nobody uses, in whole GiB; None: not known."""
        unused = computer.unused(self._mine())
        return unused if unused is None else unused // STEP * STEP

    def _share(self) -> int | None:
        """Bytes of the computer's memory that may still be allocated here; None: not known.

        The computer is asked once. What is told to be free afterwards does not change with what other processes do.
        """
        mine = self._mine()
        if not self._asked:
            unused = self._unused()
            self._asked, self._budget = True, None if unused is None else unused + mine
        return None if self._budget is None else max(0, self._budget - mine)

    def _grow(self, size: int, room: int, align: int, kind: str) -> None:
        """Have more addresses, so that `room` bytes fit at the end.

        Raises:
            MemoryError: with the reason.
        """
        start, length = self._last()
        wanted = _place(start, room, align) + room + EDGE - self.base
        wanted = -(-wanted // STEP) * STEP
        asked = f"{size:,} bytes of device memory: {self.free_bytes():,} are free, not in one piece of this size, and "
        if wanted > self.reach:
            raise MemoryError(f"{asked}this computer has memory for {self.reach:,} in all")
        unused = self._unused()
        if unused is not None and kind != "reserved" and size > unused:
            raise MemoryError(f"{asked}of this computer's memory about {unused:,} are not in use")
        if wanted > self._most() or not self._reservation.grow(wanted):
            raise MemoryError(f"{asked}the system gives this process no more addresses (ulimit -v)")
        more, self.size = wanted - self.size, wanted
        if length:
            self._free.pop()
        self._free.append((start, length + more))

    def free(self, address: int) -> None:
        """Give an allocation back.

        Raises:
            DeviceMemoryError: nothing is allocated at this address (it was freed already, or never was).
        """
        with self._lock:
            allocation = self._allocations.pop(address, None)
            if allocation is None:
                raise DeviceMemoryError(
                    f"nothing is allocated at {address:#x}, so it cannot be freed.",
                    why="it was freed already, or the address is not the start of an allocation.",
                )
            del self._addresses[bisect.bisect_left(self._addresses, address)]
            self.unwritten.pop(address, None)
            room = self._room(allocation.size, allocation.kind)
            if self.is_guarded and allocation.kind not in GUARDED:
                self._reservation.close(address, room - GAP)
            elif allocation.size >= 1 << 20:
                self._reservation.discard(address + self._reservation.shift, allocation.size)  # it may have moved
            position = bisect.bisect_left(self._free, (address, 0))
            self._free.insert(position, (address, room))
            for index in (position, position - 1):  # join with the piece after, then with the piece before
                if index >= 0 and index + 1 < len(self._free):
                    (start, length), (next_start, next_length) = self._free[index], self._free[index + 1]
                    if start + length == next_start:
                        self._free[index : index + 2] = [(start, length + next_length)]
            start, length = self._last()
            if self.size > SIZE and start <= self.base + SIZE - EDGE:  # what it grew by is not used any more
                self.size = SIZE
                self._free[-1:] = [(start, self.base + SIZE - EDGE - start)] if start < self.base + SIZE - EDGE else []
            if allocation.kind not in ("kernarg", "internal"):
                self._freed.append(allocation)
            self.allocated -= allocation.size
            self._changed()

    def _changed(self) -> None:
        last = self._allocations[self._addresses[-1]] if self._addresses else None
        self.is_wide = last is not None and last.address + last.size > self.base + SIZE
        self.generation += 1

    def _room(self, size: int, kind: str) -> int:
        """Bytes that an allocation takes up, with its gap; in a guarded arena what the host may touch has own pages."""
        step = mmap.PAGESIZE if self.is_guarded and kind not in GUARDED else ALIGN
        return -(-max(size, 1) // step) * step + GAP

    def lay(self, address: int, size: int, pieces: list[Allocation]) -> None:
        """Have these allocations in a range of reserved addresses, from its start to its end, without gaps.

        Mapped memory has the home of the memory that is mapped. Before the range is freed, it is one piece again.
        """
        with self._lock:
            first = bisect.bisect_left(self._addresses, address)
            last = bisect.bisect_left(self._addresses, address + size)
            for old in self._addresses[first:last]:
                del self._allocations[old]
            self._addresses[first:last] = [piece.address for piece in pieces]
            self._allocations.update((piece.address, piece) for piece in pieces)
            self.generation += 1

    def move(self, address: int, home: int) -> None:
        """An allocation's bytes lie somewhere else from now on."""
        with self._lock:
            self._allocations[address] = replace(self._allocations[address], home=home)
            self.generation += 1

    def holds(self, address: int) -> bool:
        """Whether an address is one of those that are reserved for device memory."""
        return 0 <= address - self.base < self._reservation.size

    def free_bytes(self) -> int:
        """Bytes that are not allocated, gaps included."""
        return sum(length for _, length in self._free)

    def largest_bytes(self) -> int:
        """The size of the largest allocation that is possible now."""
        with self._lock:
            pieces, more = list(self._free), self._most() - self.size
            if more > 0:
                start, length = self._last()
                share = self._share()
                pieces.append((start, length + more if share is None else min(length + more, share)))
            usable = (part for piece in pieces for part in _usable(*piece))
            rooms = (start + length + start // -ALIGN * ALIGN for start, length in usable)
            return max(0, (max(rooms, default=0) - GAP) // ALIGN * ALIGN)

    def allocations(self) -> list[Allocation]:
        """All allocations by address."""
        with self._lock:
            return [self._allocations[address] for address in self._addresses]

    def written(self, address: int, size: int) -> None:
        """Note that a part of an allocation was written by other means than a checked kernel."""
        if not self.unwritten or size <= 0:
            return
        with self._lock:
            found = self.find(address)
            if found is None or found.address not in self.unwritten:
                return
            offset = address - found.address
            if not offset and size >= found.size:
                del self.unwritten[found.address]
                return
            bits = self._bits(found)
            end = min(offset + size, found.size)
            first, last = -(-offset // 8), end // 8  # whole bytes of bits between
            for at in (*range(offset, min(8 * first, end)), *range(max(8 * last, offset), end)):
                bits[at // 8] |= 1 << at % 8
            if last > first:
                ctypes.memset(ctypes.addressof(bits) + first, 0xFF, last - first)

    def _bits(self, allocation: Allocation) -> Any:
        bits = self.unwritten[allocation.address]
        if bits is None:
            count = allocation.size // 64 * 8 + 16
            new = ctypes.c_uint8 * count
            bits = new() if count < HUGE else new.from_buffer(lazy(count))
            self.unwritten[allocation.address] = bits
        return bits

    def unwritten_bits(self, address: int) -> int:
        """Where the bits are that say which bytes of an allocation were written; 0 if all were."""
        with self._lock:
            if address not in self.unwritten:
                return 0
            return ctypes.addressof(self._bits(self._allocations[address]))

    def unwritten_run(self, address: int, size: int) -> tuple[int, int] | None:
        """(address, bytes) of the first run of never written bytes in a range; shorter ones than PADDING do not count,
        unless all of the range is one."""
        with self._lock:
            found = self.find(address)
            if found is None or found.address not in self.unwritten or size <= 0:
                return None
            bits = self.unwritten[found.address]
            if bits is None:
                return address, size
            import numpy as np

            first, end = address - found.address, address - found.address + size
            run = -1  # where one begins that goes on
            for at in range(first, end, LOOKED_AT):
                stop = min(at + LOOKED_AT, end)
                raw = np.frombuffer(bits, np.uint8)[at // 8 : (stop + 7) // 8]
                missing = np.unpackbits(raw, bitorder="little")[at % 8 : at % 8 + stop - at] == 0
                edges = np.flatnonzero(np.diff(missing.astype(np.int8), prepend=int(run >= 0), append=0)) + at
                for edge in edges.tolist():
                    if run < 0:
                        run = edge
                    elif edge < stop or stop == end:
                        if edge - run >= min(PADDING, size):
                            return found.address + run, edge - run
                        run = -1
            return None

    @contextlib.contextmanager
    def apart(self, kept: Collection[int]) -> Iterator[None]:
        """For kernels that this thread launches in the block, nothing is there of what programs have asked for before,
        or have freed, but these addresses: where a wild index leads does not depend on the rest. What is asked for in
        the block stands behind all else, one after the other from a multiple of `APART` on, so that neither distances
        nor places in caches depend on gaps."""
        here = self._hidden
        before = here.live, here.freed, here.apart, here.began
        with self._lock:
            all_ = (one.address for one in self._allocations.values() if one.kind in OF_PROGRAMS)
            here.live = frozenset(all_).difference(kept)
            here.freed = {id(one): one for one in self._freed}
            here.apart, here.began = True, False
            self.generation += 1
        try:
            yield
        finally:
            with self._lock:
                here.live, here.freed, here.apart, here.began = before
                self.generation += 1

    def find(self, address: int) -> Allocation | None:
        """The allocation that holds an address."""
        with self._lock:
            position = bisect.bisect_right(self._addresses, address) - 1
            if position < 0 or self._addresses[position] in self._hidden.live:
                return None
            allocation = self._allocations[self._addresses[position]]
            return allocation if address - allocation.address < max(allocation.size, 1) else None

    def nearest(self, address: int) -> AllocationNote | None:
        """The allocation that holds an address, held it lately, or is nearest to it, for messages."""
        with self._lock:
            inside = self.find(address)
            if inside is not None:
                return AllocationNote(inside.address, inside.size, "inside", 0, inside.label)
            for freed in reversed(self._freed):
                if 0 <= address - freed.address < freed.size and id(freed) not in self._hidden.freed:
                    return AllocationNote(freed.address, freed.size, "freed", 0, freed.label)
            best: AllocationNote | None = None
            shown = [one for one in self._addresses if one not in self._hidden.live]
            position = bisect.bisect_right(shown, address)
            for index in (position - 1, position):
                if not 0 <= index < len(shown):
                    continue
                a = self._allocations[shown[index]]
                after = index < position
                distance = address - (a.address + a.size) if after else a.address - address
                note = AllocationNote(a.address, a.size, "after" if after else "before", distance, a.label)
                if best is None or note.distance < best.distance:
                    best = note
            return best

    def home(self, address: int) -> int:
        """Where what lies at a device address is in this process; an address of the host is its own."""
        found = self.find(address)
        return address if found is None else address - found.address + found.home

    def view(self, address: int, size: int) -> memoryview:
        """The bytes of a range inside an allocation as a writable memoryview."""
        return memoryview((ctypes.c_uint8 * size).from_address(self.home(address))).cast("B")

    def table(self, granule: int = 1, device: int = 0) -> tuple[array[int], array[int]]:
        """(allocations by address, lately freed ones), four words each: address, size, flags, home (schema.RANGE).

        Sizes are rounded up to `granule` bytes, at most the gap that follows an allocation. Of virtual memory
        management there is what this device may use.
        """
        if not 1 <= granule <= GAP:
            raise ValueError(f"a granule of {granule} bytes is larger than the gap between allocations")
        with self._lock:
            hidden = self._hidden
            apart = bool(hidden.live or hidden.freed)
            known = None if apart else self._tables.get((granule, device))
            if known is None or known[0] != self.generation:
                live, freed = array("Q"), array("Q")
                for address in self._addresses:
                    a = self._allocations[address]
                    if a.kind in CLOSED or (a.only is not None and device not in a.only) or address in hidden.live:
                        continue
                    live.extend((a.address, -(-a.size // granule) * granule, 0 if a.writable else READ_ONLY, a.home))
                for a in self._freed:
                    if id(a) not in hidden.freed:
                        freed.extend((a.address, a.size, 0, 0))
                live.extend((0,) * RANGE_WORDS)
                freed.extend((0,) * RANGE_WORDS)
                known = self.generation, live, freed
                if not apart:
                    self._tables[granule, device] = known
            return known[1], known[2]
