"""What a launch left behind: `Finished` computes record, counters, modelled time and profile when somebody asks."""

from __future__ import annotations

import bisect
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from gpulab.records import (
    AccessCost,
    Counters,
    Fault,
    InstructionCost,
    Later,
    Launch,
    LineCost,
    MemoryRange,
    ModelledTime,
    Placement,
)
from gpulab.virtual_gpu.machine import counters, timing
from gpulab.virtual_gpu.machine.arena import RANGE_WORDS
from gpulab.virtual_gpu.machine.branches import governing
from gpulab.virtual_gpu.machine.costs import access_costs, instruction_costs, lane_counts, line_costs, scaled, warmed
from gpulab.virtual_gpu.machine.launching import Plan
from gpulab.virtual_gpu.machine.loading import LoadedKernel
from gpulab.virtual_gpu.machine.observation import Kept, Recorded
from gpulab.virtual_gpu.machine.sample import Seen

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


class Finished:
    """A launch that has run, with what it left behind: most of what can be said of it is computed when somebody asks.

    Attributes:
        kernarg: the explicit arguments. live: the allocations at the launch (Arena.table).
        counts, sample: what was counted, and what was recorded of the sample, as `Plan.seen` says.
        amounts: what each workgroup did (balance.py), if they differ.
        kept, active: of a profile, what its observer saw, and the rows of lane counts.
        printed: set by who knows. saving: microseconds that the launch costs less, as one in a graph does.
    """

    __slots__ = (
        "_executed", "_record", "_time", "active", "amounts", "counts", "fault", "host_us", "kept", "kernarg", "live",
        "plan", "printed", "sample", "saving",
    )  # fmt: skip

    def __init__(self, plan: Plan, kernarg: bytes, counts: bytes, sample: bytes, fault: Fault | None) -> None:
        self.plan, self.kernarg, self.live, self.counts, self.sample = plan, kernarg, plan.live, counts, sample
        self.fault, self.printed, self.host_us, self.saving = fault, "", 0.0, 0.0
        self.kept: Kept | None = None
        self.active = self.amounts = b""
        self._executed: tuple[int, ...] | None = None
        self._time: ModelledTime | None = None
        self._record: Launch | None = None

    @property
    def title(self) -> str:
        return self.plan.kernel.title

    @property
    def waves(self) -> int:
        """How many ran."""
        return self._counted()[0]

    @property
    def executed(self) -> Sequence[int]:
        """How often each block ran, summed over waves."""
        return self._counted()[1:]

    def _counted(self) -> tuple[int, ...]:
        if self._executed is None:
            self._executed = self.plan.seen.counted.unpack(self.counts)
        return self._executed

    def _recorded(self) -> Recorded:
        size, _, used, log = self.plan.seen
        sample = self.sample
        return Recorded(size, sample[log:], sample[used:log], sample[:used])

    @property
    def _counts(self) -> Sequence[int]:
        """How often each block was executed; where the sample alone was run, by all workgroups like it."""
        if not self.plan.request.only:
            return self.executed
        x, y, z = self.plan.seen.size
        return [count * self.plan.total // (x * y * z) for count in self.executed]

    def counters(self) -> Mapping[str, int]:
        """Raw counters of the instructions that were executed."""
        return self.plan.code.costs.counters(self.executed, self.waves)

    def _full_time(self) -> ModelledTime:
        """The modelled time outside of a graph; equal launches have it from the first of them."""
        if self._time is None:
            plan = self.plan
            request, times, used = plan.request, plan.code.times, plan.footprint(self.live, self.kernarg)
            key = request.grid, request.block, plan.lds, request.only, self.counts, self.sample, used, self.amounts
            known = times.get(key)
            if known is None:
                if len(times) >= MOST_TIMES:
                    times.clear()
                known = times[key] = self._pending(self._counts, used).time()
            self._time = known
        return self._time

    def time(self) -> ModelledTime:
        """The modelled time."""
        time = self._full_time()
        if not self.saving:
            return time
        less = min(self.saving, time.overhead_us)
        return replace(time, us=time.us - less, overhead_us=time.overhead_us - less)

    @property
    def time_us(self) -> float:
        return self.time().us

    def placement(self) -> Placement:
        """Where and when the workgroups run."""
        used = self.plan.footprint(self.live, self.kernarg) if self.amounts else 0
        found = self._pending(self._counts if self.amounts else (), used).placement(self._full_time())
        less = min(self.saving, found.begin_us)
        return found.earlier(less) if less else found

    def _pending(self, executed: Sequence[int], used: int) -> timing.Pending:
        plan, block = self.plan, self.plan.request.block
        accesses = plan.code.observer.accesses
        return timing.Pending(
            plan.device.architecture, plan.code.block_costs.get, executed, plan.total, block[0] * block[1] * block[2],
            plan.kernel.descriptor, plan.lds,
            lambda: Seen(accesses, self._recorded(), plan.request.grid, self.live, plan.device.arena.base),
            used or None, self.amounts,
        )  # fmt: skip

    def record(self) -> Launch:
        """The record of the launch."""
        if self._record is None:
            self._record = self._made()
        return self._record

    def _made(self) -> Launch:
        plan, device, kept = self.plan, self.plan.device, self.kept
        request = plan.request
        counted, seen = Later(self.counters), dict[str, Any]()
        if kept is not None:
            found = Later(lambda: self.profile(kept))
            counted = Later(lambda: {**found.get().counters, **self.counters()})
            seen = {
                "lines": Later(lambda: found.get().lines),
                "instructions": Later(lambda: found.get().instructions),
                "accesses": Later(lambda: found.get().accesses),
                "sampled": kept.sampled(plan.total),
                "placed": Later(self.placement),
            }
        return Launch(
            kernel=self.title,
            arch=device.architecture.name,
            device=device.index,
            grid=request.grid,
            block=request.block,
            lds_bytes=plan.lds,
            waves=plan.waves,
            counters=Counters(counted),
            timing=Later(self.time),
            host_us=self.host_us,
            printed=self.printed,
            fault=self.fault,
            constants=device.constants,
            sources=plan.kernel.module.program.sources,
            **seen,
        )

    def profile(self, kept: Kept) -> Profile:
        """The costs and raw counters of a profiled launch."""
        plan, executed, contributions = self.plan, self.executed, self.plan.code.contributions
        tr, a, kernel = plan.code.translation, plan.device.architecture, plan.kernel
        assert contributions is not None
        used = plan.footprint(self.live, self.kernarg)
        work = self._pending(executed, used).work()
        costs = instruction_costs(
            tr.segments, tr.blocks, tr.decoded, executed, lane_counts(self.active, a.wave_size), contributions,
            governing(tr.blocks, tr.decoded, kernel.module.program.labels),
            plan.code.block_costs.get().stalls(work),
        )  # fmt: skip
        seen = kept.totals()
        totals: list[dict[str, int]] = scaled(kept.accesses, seen, costs)
        if kept.cut and work.program is not None:
            totals = warmed(kept.accesses, totals, costs, work.program.rates, a.vector_cache.line_bytes)
        samples = kept.samples(a.wave_size, memory_ranges(kernel, self.live, self.kernarg))
        last = a.last_level_cache.bytes if a.last_level_cache is not None else 0
        accesses = access_costs(
            kept.accesses, totals, costs, a.vector_cache.line_bytes, tr.decoded, samples, (last, used), bool(kept.cut)
        )
        quantities = counters.Quantities()
        contributions.add(quantities, costs)
        counters.add_memory(quantities, kept.accesses, totals, seen, kept.flows(), tr.decoded)
        counters.add_launch(quantities, a, plan.total, plan.request.block)
        counters.add_time(quantities, a, work, self._full_time())
        return Profile(
            line_costs(costs, accesses),
            tuple(costs.values()),
            tuple(accesses.values()),
            counters.raw(a.name, quantities, timed=True),
        )


class Complete:
    """A launch that has run and whose record is there, as of one on weak memory: what `Finished` is to a stream."""

    __slots__ = ("fault", "launch", "printed", "saving", "time_us", "title")

    def __init__(self, launch: Launch) -> None:
        self.launch, self.title, self.fault, self.printed = launch, launch.kernel, launch.fault, launch.printed
        self.time_us, self.saving = launch.time_us, 0.0

    def record(self) -> Launch:
        return replace(self.launch, printed=self.printed)
