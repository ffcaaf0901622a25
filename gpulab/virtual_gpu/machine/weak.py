"""Launches on weak memory: `run` puts a kernel of a device on a `WeakGrid` (reference/weak.py)."""

from __future__ import annotations

import ctypes

from gpulab.errors import KernelFault
from gpulab.records import Fault
from gpulab.virtual_gpu import dispatch
from gpulab.virtual_gpu.machine.arena import Arena
from gpulab.virtual_gpu.machine.loading import LoadedKernel
from gpulab.virtual_gpu.machine.tracing import ArenaMemory
from gpulab.virtual_gpu.reference.weak import View, WeakGrid, WeakGroup

LIMIT = 1 << 17
"""Instructions of a wave if nobody says otherwise: some ten seconds of a wave that waits for what never comes."""

RESIDENT_WAVES = 512
"""Waves that live at a time, where not all have to."""


class _Memory(ArenaMemory):
    """The memory of the virtual devices, with whole lines of it."""

    def peek(self, address: int, size: int) -> bytes:
        found = self.arena.find(address) or self.arena.find(address + size - 1)
        if found is None:
            return bytes(size)
        first, last = max(address, found.address), min(address + size, found.address + found.size)
        inside = ctypes.string_at(self.arena.home(first), last - first)
        return bytes(first - address) + inside + bytes(address + size - last)


def run(
    kernel: LoadedKernel,
    arena: Arena,
    grid: dispatch.Dim3,
    block: dispatch.Dim3,
    dynamic_lds: int,
    filled: bytes,
    *,
    seed: int,
    limit: int | None,
    at_a_time: int,
    together: bool,
) -> Fault | None:
    """Run a launch to its end; the fault that it was stopped for.

    Args:
        filled: the whole kernel argument segment.
        limit: instructions that a wave may execute; None for `LIMIT`.
        at_a_time: workgroups that the device holds at a time. together: all of them have to live at the same time.
    """
    total = grid[0] * grid[1] * grid[2]
    waves = dispatch.waves(block, kernel.module.device.architecture.wave_size)
    addresses = kernel.addresses()

    def make(number: int, view: View) -> WeakGroup:
        return WeakGroup(
            kernel.module.program,
            kernel.name,
            memory=view,
            grid=grid,
            block=block,
            kernarg=filled,
            kernarg_address=kernel.kernarg,
            workgroup=(number % grid[0], number // grid[0] % grid[1], number // grid[0] // grid[1]),
            lds=dynamic_lds,
            addresses=addresses,
            dispatch_ptr=kernel.packet,
            queue_ptr=kernel.packet,
        )

    residents = total if together else max(1, min(total, at_a_time, RESIDENT_WAVES // waves))
    running = WeakGrid(kernel.module.program.arch, _Memory(arena), make, total, residents, seed)
    try:
        running.run(LIMIT if limit is None else limit)
    except KernelFault as stopped:
        return stopped.fault
    return None
