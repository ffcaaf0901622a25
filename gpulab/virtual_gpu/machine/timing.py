"""The timing model: `model(architecture, work)` says how long a launch takes on the device, as a `ModelledTime`.

`Work` (work.py) is what a launch did in all: wave instructions by unit (`BlockCosts` counts them per block, before
anything runs), its `Traffic`, what the caches and memories had to move, and its `UnitProgram`, what a unit executes.
traffic.py makes them of the launch's sample. The time is that of the busiest compute unit, which unit.py simulates:

    time = launch overhead + clocks of the busiest unit / clock rate

docs/timing.md explains the model, names the source of each constant, compares with public measurements and says what
the model does not know.
"""

from __future__ import annotations

import bisect
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from gpulab.architectures.architecture import Architecture
from gpulab.records import ModelledTime, Placement, Stay
from gpulab.virtual_gpu import schema
from gpulab.virtual_gpu.isa.instruction import Instruction, KernelDescriptor, Keyword, Literal
from gpulab.virtual_gpu.isa.row import Control, CrossLane, Image, Matrix, Memory, Row
from gpulab.virtual_gpu.machine import balance, unit
from gpulab.virtual_gpu.machine.arena import RANGE_WORDS
from gpulab.virtual_gpu.machine.sample import Seen
from gpulab.virtual_gpu.machine.traffic import observed
from gpulab.virtual_gpu.machine.waiting import Waits
from gpulab.virtual_gpu.machine.work import UnitProgram, Work, occupancy_of, units_of, workgroups_on_unit
from gpulab.virtual_gpu.translate.decode import Decoded, returns_value

CLASSES = (
    "valu", "dual", "wide", "multiply", "double", "trans", "trans64", "matrix", "salu", "smem", "lds", "vmem read",
    "vmem write", "vmem atomic", "branch", "barrier", "export", "other",
)  # fmt: skip
"""The kinds of wave instruction that the model tells apart. "dual" is a VOPD pair; "wide" works on 64-bit operands
that are not f64; "multiply" is the 32-bit integer multiply and what runs at its rate; "other" are waits and hints."""


def issue_clocks(architecture: Architecture) -> dict[str, float]:
    """Clocks for which one wave instruction of each class holds its SIMD's issue of that kind."""
    plain = architecture.vector_issue_clocks
    trans = plain if architecture.separate_transcendental_unit else architecture.transcendental_issue_clocks
    return {
        "valu": plain,
        "dual": plain,
        "wide": architecture.wide_issue_clocks,
        "multiply": architecture.multiply_issue_clocks,
        "double": architecture.double_issue_clocks,
        "trans": trans,
        "trans64": max(architecture.transcendental_issue_clocks, architecture.double_issue_clocks),
        "matrix": plain,
    }


def dispatch_clocks(architecture: Architecture, waves: int) -> float:
    """Clocks that the dispatcher of one die takes to start a workgroup of so many waves."""
    return 1 / architecture.workgroups_per_clock + waves * architecture.wave_dispatch_clocks


def busy_parts(architecture: Architecture, work: Work, heaviest: float = 0.0) -> dict[str, float]:
    """Clocks for which each part of the device is busy with a launch, the busiest instance of it: no launch takes less.
    See docs/timing.md for each formula.

    Args:
        heaviest: the part of all work that came to one unit; 0: as many workgroups as to the others.
    """
    a, traffic, issued = architecture, work.traffic, work.issued
    total, waves = max(work.workgroups, 1), max(work.waves, 1)
    _, simds = units_of(a, work)
    cus = simds // a.simds_per_cu
    # Workgroups go round the dies, and on a die to the unit with room: so many land on the busiest.
    on_die, on_unit = -(-total // a.xcds), workgroups_on_unit(a, work)
    die_share, unit_share = on_die / total, on_unit / total
    simd_share = -(-on_unit * waves // simds) / (total * waves)
    if heaviest:
        unit_share, simd_share = heaviest, max(heaviest / simds, 1 / (total * waves))

    clocks = issue_clocks(a)
    parts: dict[str, float] = {}
    parts["VALU issue"] = simd_share * sum(issued.get(name, 0) * clock for name, clock in clocks.items())
    if a.separate_transcendental_unit:
        parts["transcendental unit"] = simd_share * issued.get("trans", 0) * a.transcendental_issue_clocks
    parts["matrix cores"] = simd_share * work.matrix_clocks
    scalar = issued.get("salu", 0) + issued.get("smem", 0)
    parts["scalar issue"] = simd_share * max(scalar, issued.get("branch", 0)) * a.scalar_issue_clocks
    vmem = issued.get("vmem read", 0) + issued.get("vmem write", 0) + issued.get("vmem atomic", 0)
    lds = max(traffic.lds_clocks, traffic.lds_bytes / a.lds_bytes_per_clock)
    parts["LDS"] = max(unit_share * lds, simd_share * issued.get("lds", 0) * a.vector_issue_clocks)
    missed = max(traffic.l1_lookups - traffic.l1_hits, 0.0)
    parts["L1"] = max(
        unit_share / cus * traffic.l1_clocks,
        unit_share / cus * missed * a.vector_cache.line_bytes / a.l1_fill_bytes_per_clock,
        simd_share * vmem * a.vector_issue_clocks,
    )
    l2 = a.l2_cache.bytes_per_clock * a.l2_efficiency
    parts["L2 bandwidth"] = die_share * (
        traffic.l2_read_bytes / l2 + (traffic.l2_writes + traffic.l2_atomics) * 64 / (l2 / 2)
    )
    if traffic.l2_atomics:
        parts["atomics"] = traffic.l2_atomics * a.atomic_clocks / max(min(traffic.atomic_lines, a.l2_channels), 1.0)
    if a.last_level_cache is not None:
        moved = traffic.fabric_read_bytes + traffic.fabric_write_bytes
        parts["Infinity Cache bandwidth"] = moved / a.last_level_bandwidth * a.clock_mhz * 1e6
    parts[f"{a.memory_kind} bandwidth"] = (
        (traffic.dram_read_bytes + traffic.dram_write_bytes)
        / (a.memory_bandwidth * a.memory_efficiency)
        * (a.clock_mhz * 1e6)
    )
    started = on_die * dispatch_clocks(a, waves)
    parts["workgroup dispatch"] = max(started, total * waves / (a.shader_engines * a.waves_per_clock))
    return parts


def model(architecture: Architecture, work: Work) -> ModelledTime:
    """The modelled time of a launch on an otherwise idle device: its busiest unit is simulated. See docs/timing.md.

    Raises:
        ValueError: the work has no program to simulate.
    """
    a = architecture
    waves = max(work.waves, 1)
    held = occupancy_of(a, work)
    slots, on_unit = max(held.blocks, 1), workgroups_on_unit(a, work)
    alike = work if work.amounts is None else _alike(work, work.amounts)
    run = _simulation(a, alike, slots)
    parts, longer = busy_parts(a, work), 1.0
    equal = clocks = run.run().clocks
    if work.amounts is not None:
        heaviest, longer = _balanced(a, work, work.amounts, alike, run, slots, parts)
        parts = busy_parts(a, work, heaviest)
        clocks *= longer
    tight = held.blocks * waves < held.max_waves and on_unit > slots
    latency = "latency (occupancy)" if tight else "latency (too few waves)" if on_unit < slots else "latency"
    # What it would take without a part, of those that may matter.
    without = {
        part: longer * run.run([_FREE[part if part in _FREE else "bandwidth"]]).clocks
        for part, busy in parts.items()
        if busy > MATTERS * clocks
    }
    without[latency] = longer * run.run(["latency"]).clocks
    parts[latency] = longer * run.run([name for name in schema.FREE.names if name != "latency"]).clocks
    if work.amounts is not None:
        without[UNEVEN] = equal
    lacks = work.lacks
    at_most = work.traffic.crowded * max(
        (busy for part, busy in parts.items() if part.endswith("bandwidth")), default=0.0
    )
    if work.traffic.crowded >= CROWDED and at_most > 1.2 * clocks:
        lacks += (f"{CHANNELS}; up to {at_most / clocks:.2g} times as long if nothing spread them",)
    limiter = min(without, key=lambda part: (without[part], -parts.get(part, 0.0)))
    busiest = max(parts, key=lambda part: parts[part])
    if parts[busiest] > clocks:  # turns of loops that stand for many more are not exact
        clocks, limiter = parts[busiest], busiest
    us = clocks / a.clock_mhz
    return ModelledTime(
        us=a.launch_latency_us + us,
        limiter=limiter if us > a.launch_latency_us else "launch overhead",
        parts=parts,
        overhead_us=a.launch_latency_us,
        clock_mhz=a.clock_mhz,
        resident_waves=min(slots, on_unit) * waves,
        wave_slots=held.max_waves,
        traffic="sampled" if work.traffic.sampled else "observed",
        lacks=lacks,
    )


UNEVEN = "uneven workgroups"
"""The limiter of a launch that would be shortest if its workgroups all did as much."""
CROWDED = 2
CHANNELS = "channels: addresses that are used at the same time lie on few of the memory's channels"
WAITING = "waiting: each wait of a wave for others is one look at the memory; what it lasts longer is not in it"
BY_TURNS = (
    "uneven work: some workgroups did more than others, perhaps by the order in which they ran; "
    "here all do as much as the average"
)

BURST = 0.25
"""Of the latency of memory: how much before its turn an access may be served by what all units share, since they seldom
all want it at once. An assumption."""

MATTERS = 0.25
"""Parts that are busy for less of the time are not looked at as limiters."""

_FREE = {
    "VALU issue": "vector", "transcendental unit": "trans", "matrix cores": "matrix", "scalar issue": "scalar",
    "LDS": "lds", "L1": "l1", "L2 bandwidth": "l2", "Infinity Cache bandwidth": "last", "bandwidth": "dram",
    "atomics": "atomic", "workgroup dispatch": "dispatch",
}  # fmt: skip
"""What the simulation of a unit calls the parts (schema.FREE); all others are the memory's bandwidth."""


def _simulation(a: Architecture, work: Work, slots: int) -> unit.Simulation:
    """The launch on its busiest unit, which holds so many workgroups."""
    if work.program is None:
        raise ValueError("a modelled time takes the program that was executed; of this work only its amounts are known")
    units, simds = units_of(a, work)
    active = min(-(-work.workgroups // a.xcds), max(units // a.xcds, 1))
    interval = max(
        active * dispatch_clocks(a, work.waves), active * a.xcds * work.waves / (a.shader_engines * a.waves_per_clock)
    )
    shape = unit.Shape(
        waves=work.waves,
        slots=slots,
        groups=workgroups_on_unit(a, work),
        simds=simds,
        cus=simds // a.simds_per_cu,
        start=a.workgroup_start_clocks,
        interval=interval,
        barrier=a.barrier_clocks,
        burst=a.memory_latency_clocks * BURST,
    )
    return unit.Simulation(*work.program[:3], shape, work.program.costs)


def _alike(work: Work, amounts: balance.Amounts) -> Work:
    """As much work, done by workgroups that all do what one does to which an instruction belongs, on average. What a
    wave executes once at most is executed once at most by these."""
    assert work.program is not None
    counts = tuple(
        count * amounts.factor if count > 1 else min(count * amounts.factor, 1.0) for count in work.program.counts
    )
    return replace(work, workgroups=amounts.alike, program=work.program._replace(counts=counts))


_SHARED = ("l2", "last", "dram", "atomic", "dispatch")  # what all units use (schema.FREE)


def _balanced(
    a: Architecture, work: Work, amounts: balance.Amounts, alike: Work, run: unit.Simulation, slots: int,
    parts: Mapping[str, float],
) -> tuple[float, float]:  # fmt: skip
    """The part of all work that comes to the busiest unit, and how many times as long the launch takes as one of as
    much work whose workgroups are all `alike`, which `run` simulates."""
    device = _shared_out(a, work, amounts, alike, run, slots, parts)
    clocks, heaviest = balance.last_end(device, amounts.groups, amounts.raw)
    even, _ = balance.last_end(device, amounts.alike, amounts.heavy)
    return heaviest / amounts.total, clocks / even


def _shared_out(
    a: Architecture, work: Work, amounts: balance.Amounts, alike: Work, run: unit.Simulation, slots: int,
    parts: Mapping[str, float],
) -> balance.Device:  # fmt: skip
    """The device that such workgroups are shared out over; as `_balanced`."""
    alone, full = (
        unit.Simulation(run.ops, alike.program.parts, alike.program.counts, shape, alike.program.costs).run(_SHARED)
        for shape in (run.shape._replace(slots=n, groups=n, interval=0.0) for n in (1, slots))
        if alike.program is not None
    )
    own = max(alone.clocks - run.shape.start, 1.0)
    shared = max(busy for part, busy in parts.items() if part.endswith("bandwidth") or part == "atomics")
    return balance.Device(
        a.xcds, max(units_of(a, work)[0] // a.xcds, 1), slots, own / amounts.heavy, run.shape.start,
        dispatch_clocks(a, work.waves), max(slots * own / max(full.clocks - run.shape.start, 1.0), 1.0),
        max(amounts.alike * own / max(shared, 1.0), 1.0),
    )  # fmt: skip


def placement(architecture: Architecture, work: Work, time: ModelledTime) -> Placement:
    """Where and when the workgroups run, so that the last one ends when the modelled time is over.

    Of a die's workgroups the k-th starts k times `dispatch_clocks` after the first, as long as there is room; what
    remains of the time is shared equally by those that follow each other in one place. The model's part "workgroup
    dispatch" never is longer than the whole, so that something remains. Where workgroups differ, each has its place and
    times from how they are shared out (balance.py).
    """
    a = architecture
    held = occupancy_of(a, work)
    units, simds = units_of(a, work)
    on_die = -(-work.workgroups // a.xcds)
    per_die, places = max(units // a.xcds, 1), max(held.blocks, 1)
    step = dispatch_clocks(a, work.waves) / time.clock_mhz
    turns, last = divmod(on_die - 1, per_die * places)
    busy = time.us - time.overhead_us
    each = (busy - last * step) / (turns + 1)
    if turns:  # places after the last one have one workgroup less, and start later
        each = min(each, (busy - (per_die * places - 1) * step) / turns)
    own = _stays(a, work, work.amounts, places, time) if work.amounts is not None else ()
    if own:
        each = sum(stay.end_us - stay.start_us for stay in own) / len(own)
    return Placement(
        arch=a.name, unit=held.unit, workgroups=work.workgroups, waves=work.waves, dies=a.xcds, units=per_die,
        simds=simds, wave_slots=a.max_waves_per_simd, places=places, limit=held.limit, begin_us=time.overhead_us,
        step_us=step, group_us=max(each, 0.0), total_us=time.us, stays=own,
    )  # fmt: skip


def _stays(
    a: Architecture, work: Work, amounts: balance.Amounts, places: int, time: ModelledTime
) -> tuple[Stay, ...]:  # fmt: skip
    """Where and when each of workgroups that differ runs, so that the last one ends with the launch."""
    alike = _alike(work, amounts)
    device = _shared_out(a, work, amounts, alike, _simulation(a, alike, places), places, busy_parts(a, work))
    found = balance.stays(device, amounts.raw)
    begin = time.overhead_us
    scale = (time.us - begin) / max(end for *_, end in found)
    return tuple(Stay(on, place, begin + scale * start, begin + scale * end) for on, place, start, end in found)


# ------------------------------------------------------------------------------- weights: what instructions cost


def kind(decoded: Decoded) -> str:
    """The class of an instruction."""
    row = decoded.row
    if decoded.pair is not None:
        return "dual"
    if isinstance(row, Row):
        if row.unit != "valu":
            return "salu"
        is_double = any(p.type.kind == "f" and p.type.width == 64 for p in row.parameters) or any(
            r.type.kind == "f" and r.type.width == 64 for r in row.graph()[0]
        )
        if row.rate == "trans":
            return "trans64" if is_double else "trans"
        if is_double:
            return "double"
        return {"quarter": "multiply", "wide": "wide"}.get(row.rate, "valu")
    if isinstance(row, Matrix):
        return "matrix"
    if isinstance(row, CrossLane):
        return row.unit
    if isinstance(row, Memory):
        if row.space == "lds":
            return "lds"
        if row.space == "scalar":
            return "smem"
        if row.action == "atomic":
            return "vmem atomic"
        return "vmem write" if row.action == "store" else "vmem read"
    if isinstance(row, Image):
        return "vmem write" if row.action == "store" else "vmem read"
    if not isinstance(row, Control):
        return "other"
    if row.kind in ("branch", "cbranch", "call", "jump"):
        return "branch"
    if row.kind == "barrier":
        return "barrier"
    if row.kind in ("time", "realtime", "sendmsg_rtn"):
        return "smem"
    return "salu" if row.kind in ("getpc", "setreg", "getreg", "round_mode", "denorm_mode") else "other"


def matrix_clocks(architecture: Architecture, row: Matrix) -> float:
    """Clocks for which a matrix instruction holds its SIMD's matrix core.

    MFMA: 4 clocks a pass; passes by shape and type as in LLVM's scheduling models (SISchedule.td, for gfx90a, gfx942
    and gfx950). WMMA: by the device's peak rate.
    """
    if row.layout != "mfma":
        name = {"iu8": "int8", "iu4": "int8", "bf8": "fp8", "bf16": "fp16", "f16": "fp16"}.get(row.a, row.a)
        rates = architecture.flops_per_clock_per_cu
        rate = rates.get(f"matrix {name}", 0) or rates.get("matrix fp16", 0) or rates.get("fp16", 256)
        rate *= 2 if row.a == "iu4" else 1
        return 2 * row.m * row.n * row.k * row.blocks / (rate / architecture.simds_per_cu)
    if row.a == "f64":
        return 4.0 * (4 if row.m == 4 else architecture.mfma_f64_passes)
    if row.m == 4:
        return 4.0 * 2
    passes = 16 if row.m == 32 else 8
    if architecture.mfma_halved and row.blocks == 1 and row.a != "f32":
        passes //= 2
    if row.k >= 64 and row.m * row.k == 2048 and ("fp8" in (row.a, row.b) or "bf8" in (row.a, row.b)):
        passes *= 2  # f8f6f4 with an 8-bit operand
    return 4.0 * passes


_DELAY = re.compile(r"(VALU_DEP|TRANS32_DEP|SALU_CYCLE)_(\d)")
_COUNTER = re.compile(r"(vmcnt|lgkmcnt|expcnt|vscnt)\((\d+)\)")


class BlockCosts:
    """What each block of a kernel costs, counted once from its instructions; `work` multiplies with executions."""

    def __init__(
        self,
        architecture: Architecture,
        blocks: Sequence[Sequence[int]],
        decoded: Mapping[int, Decoded],
        loops: Mapping[int, frozenset[int]],
        waits: Waits | None = None,
    ) -> None:
        self.architecture = architecture
        self.waits = Waits() if waits is None else waits
        self.counts: list[dict[str, int]] = []
        self.matrix: list[float] = []
        self.path: list[float] = []
        self._clocks = issue_clocks(architecture)
        self._decoded = decoded
        self._lds_counter = "ds" if architecture.separate_lds_counter else "lgkm"
        self._blocks = blocks
        self._ops: unit.Ops | None = None
        self.block_of = {index: number for number, block in enumerate(blocks) for index in block}
        for block in blocks:
            self._count(block)
        self.nest = unit.nest(len(blocks), loops)
        self._behind = self._after_waits(loops)
        self._streamed = frozenset(index for index, each in decoded.items() if streams(each.instruction))

    def _after_waits(self, loops: Mapping[int, frozenset[int]]) -> frozenset[int]:
        """The instructions that access memory after a wait for loads before them, in the order of the program or in the
        next turn of a loop."""
        found: set[int] = set()

        def goes_on(blocks: Sequence[int], waits: bool) -> bool:
            for index in (index for number in blocks for index in self._blocks[number]):
                decoded = self._decoded[index]
                if isinstance(decoded.row, Control):
                    waits |= any(counter == "vm" for counter, _ in waited(decoded.instruction, decoded.row))
                elif kind(decoded).startswith("vmem"):
                    if waits:
                        found.add(index)
                    waits = False
            return waits

        goes_on(range(len(self._blocks)), False)
        for inside in loops.values():
            goes_on(sorted(inside), goes_on(sorted(inside), False))
        return frozenset(found)

    def _count(self, block: Sequence[int]) -> None:
        counts: dict[str, int] = {}
        matrix = path = 0.0
        for index in block:
            decoded = self._decoded[index]
            name = kind(decoded)
            counts[name] = counts.get(name, 0) + 1
            row = decoded.row
            own = 0.0
            if isinstance(row, Matrix):
                own = matrix_clocks(self.architecture, row)
                matrix += own
            path += max(own, self._own_clocks(name, decoded))
        self.counts.append(counts)
        self.matrix.append(matrix)
        self.path.append(path)

    def _own_clocks(self, name: str, decoded: Decoded) -> float:
        """Clocks until the same wave can issue its next instruction."""
        a = self.architecture
        if name == "branch":
            return a.branch_clocks
        if name == "barrier":
            return a.barrier_clocks
        if name != "other":
            return max(self._clocks.get(name, 0.0), a.scalar_issue_clocks)
        instruction, row = decoded.instruction, decoded.row
        delay = row.delay if isinstance(row, Control) else ""
        first = instruction.operands[0].value if instruction.operands else None
        if delay == "nop" and isinstance(first, Literal):
            return (int(first.value) + 1) * a.scalar_issue_clocks
        if delay == "sleep" and isinstance(first, Literal):
            return 64.0 * max(int(first.value), 1)
        if delay == "alu" and isinstance(first, Keyword):
            return float(sum(self._stall(name, int(n)) for name, n in _DELAY.findall(instruction.text)))
        return float(a.scalar_issue_clocks)

    def _stall(self, what: str, distance: int) -> int:
        """Clocks that s_delay_alu waits: for a VALU result so many instructions back, or of the scalar unit."""
        if what == "SALU_CYCLE":
            return distance
        latency = self.architecture.vector_latency_clocks
        if what == "TRANS32_DEP":
            latency += self.architecture.transcendental_issue_clocks
        return max(latency - distance, 0)

    # the simulation of a unit

    def ops(self) -> unit.Ops:
        """The instructions as the simulation of a unit takes them."""
        if self._ops is None:
            self._ops = unit.Ops([[self._op(self._decoded[index]) for index in block] for block in self._blocks])
            self.op_of = {
                index: number for number, index in enumerate(index for block in self._blocks for index in block)
            }
        return self._ops

    def _op(self, decoded: Decoded) -> unit.Op:
        a, row, name = self.architecture, decoded.row, kind(decoded)
        gap = float(a.scalar_issue_clocks)
        reads = unit.registers(decoded.vector_reads | decoded.cross_reads, decoded.scalar_reads)
        writes = unit.registers(decoded.vector_writes, decoded.scalar_writes)
        vector = float(a.vector_latency_clocks)
        if isinstance(row, Control):
            counters = waited(decoded.instruction, row)
            if counters:
                left = [0xFFFFFFFF] * 5
                for counter, allowed in counters:
                    left[self._queue(counter)] = allowed
                return unit.Op("wait", 0, gap, 0, left=tuple(left))
            if row.kind == "end":
                return unit.Op("end", 0, gap, 0)
        if name in ("branch", "barrier"):
            own = self._own_clocks(name, decoded) if name == "branch" else gap
            return unit.Op(name, gap, own, gap, reads=reads, writes=writes)
        if name == "salu":
            return unit.Op("scalar", gap, gap, a.scalar_latency_clocks, reads=reads, writes=writes)
        if name == "smem":
            return unit.Op("smem", gap, gap, gap, queue=self._queue("lgkm"), reads=reads)
        if name == "lds":
            return unit.Op("lds", a.vector_issue_clocks, gap, gap, queue=self._queue(self._lds_counter), reads=reads)
        if name.startswith("vmem"):
            loads = name == "vmem read" or (
                name == "vmem atomic" and isinstance(row, Memory) and returns_value(decoded.instruction, row)
            )
            counter = "vm"
            if not loads and a.separate_store_counter:
                counter = "vs"
            elif isinstance(row, Image) and a.separate_lds_counter and row.action in ("sample", "gather"):
                counter = "sample"
            return unit.Op(
                "vmem" if loads else "store", a.vector_issue_clocks, gap, gap, queue=self._queue(counter), reads=reads
            )
        if name == "other":
            if not isinstance(row, Control):
                return unit.Op("other", 0, gap, gap)
            return unit.Op("other", 0, 0.0 if row.delay == "alu" else self._own_clocks(name, decoded), gap)
        issue = self._clocks[name]
        if name == "matrix" and isinstance(row, Matrix):
            own = matrix_clocks(a, row)
            return unit.Op("matrix", issue, gap, max(own, vector), own, reads=reads, writes=writes)
        if name == "trans" and a.separate_transcendental_unit:
            own = float(a.transcendental_issue_clocks)
            return unit.Op("trans", issue, gap, vector + own, own, reads=reads, writes=writes)
        if a.vector_bank_ports:
            issue += unit.bank_conflicts(decoded, a.vector_bank_ports)
        return unit.Op("vector", issue, gap, vector + issue - a.vector_issue_clocks, reads=reads, writes=writes)

    def _queue(self, counter: str) -> int:
        return {"vm": 0, "vs": 1, "ds": 2, "lgkm": 3, "sample": 4}[counter]

    # use

    def work(
        self,
        executed: Sequence[int],
        workgroups: int,
        waves: int,
        threads: int,
        *,
        vgprs: int = 0,
        agprs: int = 0,
        sgprs: int = 0,
        lds_bytes: int = 0,
        cu_mode: bool = False,
        seen: Seen,
        footprint: float | None = None,
        amounts: bytes = b"",
    ) -> Work:
        """The work of a launch.

        Args:
            executed: how often each block was executed, summed over waves.
            workgroups, waves, threads, vgprs, agprs, sgprs, lds_bytes, cu_mode: as in `Work`.
            seen: the sample of it.
            footprint: bytes of the allocations in use (see `observed`).
            amounts: u64 of what each workgroup did, if they differ.
        """
        lacks = []
        if self.waits.happened(executed):
            executed = self.waits.once(executed)
            lacks.append(WAITING)
        if amounts and balance.taken_by_turns(self._decoded):
            amounts = b""
            lacks.append(BY_TURNS)
        issued: dict[str, float] = {}
        matrix = path = 0.0
        for number, count in enumerate(executed):
            if not count:
                continue
            for name, amount in self.counts[number].items():
                issued[name] = issued.get(name, 0) + amount * count
            matrix += self.matrix[number] * count
            path += self.path[number] * count
        done = Work(workgroups, waves, threads, vgprs, agprs, sgprs, lds_bytes, issued, matrix, path, cu_mode=cu_mode)
        executions = [float(executed[self.block_of[access.instruction]]) for access in seen.accesses]
        traffic, costs, rates = observed(
            self.architecture, done, seen, executions, footprint, self._streamed, self._behind
        )
        ops = self.ops()
        program = UnitProgram(
            ops, self.nest, tuple(count / (workgroups * waves) for count in executed),
            {self.op_of[instruction]: cost for instruction, cost in costs.items()}, rates,
        )  # fmt: skip
        return replace(done, traffic=traffic, program=program, amounts=balance.Amounts.of(amounts), lacks=tuple(lacks))

    def stalls(self, work: Work) -> dict[int, float]:
        """Clocks for which waves stand still at waits, added up over all waves, by the instruction that waits."""
        held = occupancy_of(self.architecture, work)
        result = _simulation(self.architecture, work, max(held.blocks, 1)).run()
        waves = work.workgroups * work.waves
        return {index: result.stalls[number] * waves for index, number in self.op_of.items() if result.stalls[number]}


def streams(instruction: Instruction) -> bool:
    """Whether an access asks that its data leaves L2 before others (LLVM, AMDGPUUsage: nontemporal)."""
    modifiers = instruction.modifiers
    return bool(modifiers.get("slc") or modifiers.get("nt") or "_NT" in str(modifiers.get("th", "")))


_QUEUES = {
    "vmcnt": "vm", "vscnt": "vs", "lgkmcnt": "lgkm", "loadcnt": "vm", "storecnt": "vs", "dscnt": "ds", "kmcnt": "lgkm",
    "samplecnt": "sample",
}  # fmt: skip
"""What is under way, by the counters that count it."""


def waited(instruction: Instruction, row: Control) -> list[tuple[str, int]]:
    """(counter, how many accesses may stay under way) for each counter that an instruction waits for."""
    if row.kind != "wait":
        return []
    if len(row.counters) > 2:
        named = _COUNTER.findall(instruction.text)
    else:
        value = instruction.operands[-1].value if instruction.operands else None
        allowed = int(value.value) if isinstance(value, Literal) else 0
        limits = (allowed,) if len(row.counters) == 1 else (allowed >> 8, allowed & 0xFF)
        named = list(zip(row.counters, limits, strict=False))
    return [(_QUEUES[counter], int(count)) for counter, count in named if counter in _QUEUES]


def footprint(allocations: Sequence[int], kernarg: bytes) -> int:
    """Bytes of the allocations that a kernel's arguments point into: what it may use, device variables apart.

    Args:
        allocations: address, size, flags and home of each, in the order of addresses, and an end (`Arena.table`).
        kernarg: the explicit arguments as they lie in memory.
    """
    found: dict[int, int] = {}
    starts = range(0, len(allocations) - RANGE_WORDS, RANGE_WORDS)
    for (pointer,) in struct.iter_unpack("<Q", kernarg[: len(kernarg) // 8 * 8]):
        place = bisect.bisect_right(starts, pointer, key=allocations.__getitem__) - 1
        if place >= 0 and pointer - allocations[starts[place]] < allocations[starts[place] + 1]:
            found[place] = allocations[starts[place] + 1]
    return sum(found.values())


@dataclass(slots=True)
class Pending:
    """A launch whose time nobody has asked for yet: `time()` computes it once.

    Attributes:
        block_costs: gives the kernel's `BlockCosts`.
        executed: how often each block was executed, summed over waves.
        workgroups, threads: of the grid, and of one workgroup.
        kernel: its descriptor, for what a wave occupies.
        lds_bytes: of a workgroup, static and dynamic.
        seen: gives the sample; it must hold a copy, as the observer is used again by the next launch.
        footprint: bytes of the allocations in use, see `footprint`; None if they are not known.
        amounts: what each workgroup did, if they differ; see balance.py.
    """

    architecture: Architecture
    block_costs: Callable[[], BlockCosts]
    executed: Sequence[int]
    workgroups: int
    threads: int
    kernel: KernelDescriptor
    lds_bytes: int
    seen: Callable[[], Seen]
    footprint: float | None = None
    amounts: bytes = b""
    _time: ModelledTime | None = None

    def work(self) -> Work:
        # The metadata's count of VGPRs has the AccVGPRs in it, where both are one file (LLVM, AMDGPUUsage).
        kernel = self.kernel
        return self.block_costs().work(
            self.executed, self.workgroups, self.architecture.waves(self.threads), self.threads,
            vgprs=kernel.vgprs, sgprs=kernel.sgprs, lds_bytes=self.lds_bytes, cu_mode=self._cu_mode,
            seen=self.seen(), footprint=self.footprint, amounts=self.amounts,
        )  # fmt: skip

    @property
    def _cu_mode(self) -> bool:
        return self.architecture.cus_per_unit > 1 and self.kernel.cu_mode

    def placement(self, time: ModelledTime) -> Placement:
        """Where and when the workgroups run, given the modelled time of the launch."""
        if self.amounts and self.workgroups <= balance.MOST_STAYS:
            return placement(self.architecture, self.work(), time)
        a, kernel = self.architecture, self.kernel
        shape = Work(
            self.workgroups, a.waves(self.threads), self.threads, vgprs=kernel.vgprs, sgprs=kernel.sgprs,
            lds_bytes=self.lds_bytes, cu_mode=self._cu_mode,
        )  # fmt: skip
        return placement(a, shape, time)

    def time(self) -> ModelledTime:
        if self._time is None:
            self._time = model(self.architecture, self.work())
        return self._time
