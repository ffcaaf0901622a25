"""Traces: the chosen workgroup runs on the reference machine, on a copy (`Overlay`) of what it writes (`ArenaMemory`).

The launch itself runs whole on translated code, so its results, counters and faults are those of any launch; the trace
sees memory as it was before the launch.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import replace

from gpulab.records import MemoryRange, Trace
from gpulab.virtual_gpu import dispatch
from gpulab.virtual_gpu.machine.arena import Arena
from gpulab.virtual_gpu.machine.loading import LoadedKernel
from gpulab.virtual_gpu.reference.memory import BadAccess

PAGE = 256


class ArenaMemory:
    """The memory of the virtual devices, with the checks that every kernel gets."""

    def __init__(self, arena: Arena) -> None:
        self.arena = arena

    def read(self, address: int, size: int) -> bytes:
        self.check(address, size, False)
        return bytes(self.arena.view(address, size))

    def write(self, address: int, data: bytes) -> None:
        self.check(address, len(data), True)
        self.arena.view(address, len(data))[:] = data

    def check(self, address: int, size: int, write: bool) -> None:
        """Raise BadAccess if these bytes must not be read, or written."""
        allocation = self.arena.find(address)
        if allocation is None or address + size > allocation.address + allocation.size:
            nearest = self.arena.nearest(address)
            freed = allocation is None and nearest is not None and nearest.relation == "freed"
            kind = "null" if address < 4096 else "freed" if freed else "out of bounds"
            raise BadAccess(kind, address, size, nearest=nearest)
        if write and not allocation.writable:
            raise BadAccess("read-only", address, size, nearest=self.arena.nearest(address))


class Overlay:
    """Device memory whose writes go to copies of its pages."""

    def __init__(self, arena: Arena) -> None:
        self._below = ArenaMemory(arena)
        self._arena = arena
        self._pages: dict[int, bytearray] = {}

    def read(self, address: int, size: int) -> bytes:
        contents = self._below.read(address, size)
        if not self._pages:
            return contents
        result = bytearray(contents)
        for page in range(address // PAGE, (address + size - 1) // PAGE + 1):
            copy = self._pages.get(page)
            if copy is not None:
                first, last = max(address, page * PAGE), min(address + size, (page + 1) * PAGE)
                result[first - address : last - address] = copy[first - page * PAGE : last - page * PAGE]
        return bytes(result)

    def write(self, address: int, data: bytes) -> None:
        self._below.check(address, len(data), True)
        for page in range(address // PAGE, (address + len(data) - 1) // PAGE + 1):
            copy = self._pages.get(page)
            first, last = max(address, page * PAGE), min(address + len(data), (page + 1) * PAGE)
            if copy is None:
                home = self._arena.home(first) - (first - page * PAGE)
                copy = self._pages[page] = bytearray(ctypes.string_at(home, PAGE))
            copy[first - page * PAGE : last - page * PAGE] = data[first - address : last - address]


def trace_workgroup(
    kernel: LoadedKernel,
    arena: Arena,
    grid: dispatch.Dim3,
    block: dispatch.Dim3,
    dynamic_lds: int,
    filled: bytes,
    which: tuple[int, int],
    ranges: Sequence[MemoryRange] = (),
) -> Trace:
    """The life of one wave. `which` is (workgroup's number, wave in it); `filled` the whole kernel argument segment;
    `ranges` the allocations that the kernel can reach.

    Raises:
        ValueError: there is no such workgroup or wave.
    """
    from gpulab.virtual_gpu.reference.trace import trace

    number, wave = which
    if not 0 <= number < grid[0] * grid[1] * grid[2]:
        raise ValueError(f"workgroup {number} of a grid of {grid[0] * grid[1] * grid[2]} workgroups")
    workgroup = number % grid[0], number // grid[0] % grid[1], number // grid[0] // grid[1]
    return trace(
        kernel.module.program,
        kernel.name,
        memory=Overlay(arena),
        grid=grid,
        block=block,
        kernarg=filled,
        kernarg_address=kernel.kernarg,
        workgroup=workgroup,
        wave=wave,
        lds=dynamic_lds,
        addresses=kernel.addresses(),
        dispatch_ptr=kernel.packet,
        queue_ptr=kernel.packet,
        ranges=[
            replace(r, name="kernel arguments") if r.address <= kernel.kernarg < r.address + r.size else r
            for r in ranges
        ],
    )
