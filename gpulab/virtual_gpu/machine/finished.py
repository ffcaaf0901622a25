"""What a launch left behind: `Finished` computes counters, modelled time and profile when somebody asks for them."""

from __future__ import annotations

import bisect
from array import array
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gpulab.architectures.architecture import Architecture
from gpulab.records import AccessCost, InstructionCost, Later, LineCost, MemoryRange, ModelledTime, Placement
from gpulab.virtual_gpu.machine import counters, timing
from gpulab.virtual_gpu.machine.arena import RANGE_WORDS
from gpulab.virtual_gpu.machine.branches import governing
from gpulab.virtual_gpu.machine.costs import access_costs, instruction_costs, lane_counts, line_costs, scaled, warmed
from gpulab.virtual_gpu.machine.loading import Code, Dim3, LoadedKernel, TimeKey
from gpulab.virtual_gpu.machine.observation import Kept

MOST_TIMES = 64  # modelled times that a kernel keeps


class Profile(NamedTuple):
    """What is computed of a profiled launch when somebody asks for it: costs, and raw counters by name."""

    lines: tuple[LineCost, ...]
    instructions: tuple[InstructionCost, ...]
    accesses: tuple[AccessCost, ...]
    counters: Mapping[str, int]


def memory_ranges(kernel: LoadedKernel, live: array[int], kernarg: bytes) -> list[MemoryRange]:
    """The allocations that a launch could reach, named after the arguments that point into them.

    Args:
        live: (address, size, flags, home) of each, as Arena.table gives them.
    """
    names = {address: name.removesuffix(".managed") for name, address in kernel.module.addresses.items()}
    starts = range(0, len(live) - RANGE_WORDS, RANGE_WORDS)
    for argument in kernel.descriptor.arguments:
        raw = kernarg[argument.offset : argument.offset + 8]
        if argument.kind != "global_buffer" or len(raw) < 8:
            continue
        pointer = int.from_bytes(raw, "little")
        place = bisect.bisect_right(starts, pointer, key=live.__getitem__) - 1
        if place >= 0 and pointer - live[starts[place]] < live[starts[place] + 1]:
            names.setdefault(live[starts[place]], argument.name.removesuffix(".coerce"))
    return [MemoryRange(names.get(live[at]) or "device memory", live[at], live[at + 1]) for at in starts]


class Finished(NamedTuple):
    """A launch that has run: how often each block was executed, and what the observer kept.

    executed: how often each block ran, summed over waves. waves: how many ran. live: the allocations at the launch.
    kernarg: the explicit arguments. active: of a profile, the rows of lane counts.
    """

    architecture: Architecture
    kernel: LoadedKernel
    code: Code
    grid: Dim3
    block: Dim3
    lds: int
    executed: Sequence[int]
    waves: int
    kept: Kept
    live: array[int]
    kernarg: bytes
    active: bytes = b""
    only: bool = False

    @property
    def workgroups(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def _counts(self) -> list[int]:
        """How often each block was executed; where the sample alone was run, by all workgroups like it."""
        if not self.only:
            return list(self.executed)
        size = self.kept.recorded.size
        ran = size[0] * size[1] * size[2]
        return [count * self.workgroups // ran for count in self.executed]

    def counters(self) -> Mapping[str, int]:
        """Raw counters of the instructions that were executed."""
        return self.code.costs.counters(self.executed, self.waves)

    def time(self) -> ModelledTime:
        """The modelled time; equal launches have it from the first of them."""
        used = timing.footprint(self.live, self.kernarg)
        recorded, times = self.kept.recorded, self.code.times
        counts = self._counts
        key = TimeKey(tuple(counts), self.grid, self.block, self.lds, *recorded, used)
        known = times.get(key)
        if known is None:
            if len(times) >= MOST_TIMES:
                times.clear()
            known = times[key] = self._pending(counts, used).time()
        return known

    def placement(self, time: ModelledTime) -> Placement:
        """Where and when the workgroups run."""
        return self._pending((), 0).placement(time)

    def _pending(self, executed: Sequence[int], used: int) -> timing.Pending:
        kept, block = self.kept, self.block
        base = self.kernel.module.device.arena.base
        return timing.Pending(
            self.architecture, self.code.block_costs.get, executed, self.workgroups, block[0] * block[1] * block[2],
            self.kernel.descriptor, self.lds,
            lambda: timing.Seen(kept.accesses, kept.recorded, self.grid, self.live, base), used or None,
        )  # fmt: skip

    def profile(self, modelled: Later[ModelledTime]) -> Profile:
        """The costs and raw counters of a profiled launch."""
        kept, executed, contributions = self.kept, self.executed, self.code.contributions
        tr, a = self.code.translation, self.architecture
        assert contributions is not None
        used = timing.footprint(self.live, self.kernarg)
        work = self._pending(executed, used).work()
        costs = instruction_costs(
            tr.segments, tr.blocks, tr.decoded, executed, lane_counts(self.active, a.wave_size), contributions,
            governing(tr.blocks, tr.decoded, self.kernel.module.program.labels),
            self.code.block_costs.get().stalls(work),
        )  # fmt: skip
        seen = kept.totals()
        totals: list[dict[str, int]] = scaled(kept.accesses, seen, costs)
        if kept.cut and work.program is not None:
            totals = warmed(kept.accesses, totals, costs, work.program.rates, a.vector_cache.line_bytes)
        samples = kept.samples(a.wave_size, memory_ranges(self.kernel, self.live, self.kernarg))
        last = a.last_level_cache.bytes if a.last_level_cache is not None else 0
        accesses = access_costs(
            kept.accesses, totals, costs, a.vector_cache.line_bytes, tr.decoded, samples, (last, used), bool(kept.cut)
        )
        quantities = counters.Quantities()
        contributions.add(quantities, costs)
        counters.add_memory(quantities, kept.accesses, totals, seen, kept.flows(), tr.decoded)
        counters.add_launch(quantities, a, self.workgroups, self.block)
        counters.add_time(quantities, a, work, modelled.get())
        return Profile(
            line_costs(costs, accesses),
            tuple(costs.values()),
            tuple(accesses.values()),
            counters.raw(a.name, quantities, timed=True),
        )
