"""The timing model: `model(architecture, work)` says how long a launch takes on the device, as a `ModelledTime`.

`Work` is what a launch did in all: wave instructions by unit (`BlockCosts` counts them per block, before anything
runs), and its `Traffic`: what the caches and memories had to move, observed or estimated. docs/timing.md explains the
model, names the source of each constant, compares with public measurements and says what the model does not know.

    time = launch overhead + the longest of all units' clocks (units overlap, imperfectly) / clock rate

Latency is one of these "units": how long the rounds of workgroups on a compute unit take if nothing is ever busy.
"""

from __future__ import annotations

import bisect
import functools
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import NamedTuple

from gpulab.architectures.architecture import Architecture
from gpulab.architectures.residency import Occupancy, occupancy
from gpulab.records import ModelledTime, Placement
from gpulab.virtual_gpu.isa.instruction import Instruction, KernelDescriptor, Keyword, Literal, Symbol
from gpulab.virtual_gpu.isa.row import Control, CrossLane, Image, Matrix, Memory, Row
from gpulab.virtual_gpu.machine.arena import RANGE_WORDS
from gpulab.virtual_gpu.translate.decode import Decoded, data_words, returns_value
from gpulab.virtual_gpu.translate.memory import Observed

CLASSES = (
    "valu", "dual", "wide", "multiply", "double", "trans", "trans64", "matrix", "salu", "smem", "lds", "vmem read",
    "vmem write", "vmem atomic", "branch", "barrier", "export", "other",
)  # fmt: skip
"""The kinds of wave instruction that the model tells apart. "dual" is a VOPD pair; "wide" works on 64-bit operands
that are not f64; "multiply" is the 32-bit integer multiply and what runs at its rate; "other" are waits and hints."""

OVERLAP = 4.0
"""How imperfectly units overlap: their clocks t are added as (sum of t**OVERLAP) ** (1 / OVERLAP), which is the
longest alone if one stands out, and 1.19 times as long for two equal ones. An assumption."""


class Wait(NamedTuple):
    """A place where waves wait for memory: each of so many `times` for the last of `requests` accesses, of which the
    newest was made `slack` clocks of the wave's own work before. kind: "vmem", "store", "atomic", "lds", "smem"."""

    kind: str
    slack: float
    requests: int
    times: float


@dataclass(frozen=True, slots=True)
class Traffic:
    """What all memory accesses of a launch made LDS, caches and memory do.

    Attributes:
        lds_clocks: bank cycles of all LDS accesses, conflicts included.
        lds_bytes: bytes that lanes moved from and to LDS.
        l1_clocks: clocks of the vector L1s' pipelines: one for each line of each instruction, and its share of data.
        l1_lookups: lines that loads looked up in the vector L1s; l1_hits: those found there.
        array_hits: of the others, those found in the cache of a shader array (GL1 of RDNA).
        l2_reads: lines asked of L2; l2_hits: those found there.
        l2_writes: 64-byte writes to L2; l2_atomics: 64-byte atomic requests to it.
        fabric_reads: requests of L2 to the memory side; llc_hits: those found in the last-level (Infinity) cache.
        fabric_read_bytes, fabric_write_bytes: bytes between L2 and the memory side.
        dram_read_bytes, dram_write_bytes: bytes from and to device memory.
        atomic_lines: 64-byte blocks that atomics went to, as far as seen; few of them have to take turns.
        scalar_lookups, scalar_hits: the same of the scalar cache; without lookups all scalar loads hit.
        sampled: not 0 if only some accesses were observed. estimated: not 0 if none were, and this is a guess.
    """

    lds_clocks: float = 0.0
    lds_bytes: float = 0.0
    l1_clocks: float = 0.0
    l1_lookups: float = 0.0
    l1_hits: float = 0.0
    array_hits: float = 0.0
    l2_reads: float = 0.0
    l2_hits: float = 0.0
    l2_writes: float = 0.0
    l2_atomics: float = 0.0
    fabric_reads: float = 0.0
    llc_hits: float = 0.0
    fabric_read_bytes: float = 0.0
    fabric_write_bytes: float = 0.0
    dram_read_bytes: float = 0.0
    dram_write_bytes: float = 0.0
    atomic_lines: float = 0.0
    scalar_lookups: float = 0.0
    scalar_hits: float = 0.0
    sampled: float = 0.0
    estimated: float = 0.0

    def scaled(self, factor: float) -> Traffic:
        """The traffic of a whole launch from that of a sample of its workgroups."""
        return Traffic(*(getattr(self, f.name) * factor for f in fields(self)))


@dataclass(frozen=True, slots=True)
class Work:
    """What one launch did, in all.

    Attributes:
        workgroups: workgroups of the grid.
        waves: waves of one workgroup.
        threads: threads of one workgroup.
        vgprs, agprs, sgprs, lds_bytes: what one wave (one workgroup) occupies; residency comes from them.
        issued: wave instructions by class (`CLASSES`).
        matrix_clocks: clocks of a matrix core over all matrix instructions.
        path_clocks: sum over all waves of the clocks that a wave needs for its own instructions, one after another.
        waits: where waves wait for memory.
        traffic: what memory had to move.
        cu_mode: RDNA: workgroups stay in one compute unit.
    """

    workgroups: int
    waves: int
    threads: int
    vgprs: int = 0
    agprs: int = 0
    sgprs: int = 0
    lds_bytes: int = 0
    issued: Mapping[str, float] = field(default_factory=dict)
    matrix_clocks: float = 0.0
    path_clocks: float = 0.0
    waits: tuple[Wait, ...] = ()
    traffic: Traffic = Traffic()
    cu_mode: bool = False

    def of_grid(self, workgroups: int) -> Work:
        """The work of a grid of `workgroups`, of which this work is a fair sample."""
        factor = workgroups / self.workgroups
        return replace(
            self,
            workgroups=workgroups,
            issued={name: amount * factor for name, amount in self.issued.items()},
            matrix_clocks=self.matrix_clocks * factor,
            path_clocks=self.path_clocks * factor,
            waits=tuple(wait._replace(times=wait.times * factor) for wait in self.waits),
            traffic=self.traffic.scaled(factor),
        )


@functools.lru_cache(maxsize=1024)
def _occupancy(
    architecture_name: str, vgprs: int, agprs: int, sgprs: int, lds_bytes: int, threads: int, cu_mode: bool
) -> Occupancy:
    from gpulab.architectures import get

    return occupancy(get(architecture_name), vgprs, agprs, sgprs, lds_bytes, threads, cu_mode=cu_mode)


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


def model(architecture: Architecture, work: Work) -> ModelledTime:
    """The modelled time of a launch on an otherwise idle device. See docs/timing.md for each formula."""
    a, traffic, issued = architecture, work.traffic, work.issued
    total, waves = max(work.workgroups, 1), max(work.waves, 1)
    held = _occupancy(a.name, work.vgprs, work.agprs, work.sgprs, work.lds_bytes, work.threads, work.cu_mode)
    units, simds = _units(a, work)
    cus = simds // a.simds_per_cu
    # Workgroups go round the dies, and on a die to the unit with room: so many land on the busiest.
    on_die = -(-total // a.xcds)
    on_unit = -(-on_die // max(units // a.xcds, 1))
    die_share, unit_share = on_die / total, on_unit / total
    simd_share = -(-on_unit * waves // simds) / (total * waves)

    clocks = issue_clocks(a)
    line = a.l2_cache.line_bytes
    parts: dict[str, float] = {}
    parts["VALU issue"] = simd_share * sum(issued.get(name, 0) * clock for name, clock in clocks.items())
    if a.separate_transcendental_unit:
        parts["transcendental unit"] = simd_share * issued.get("trans", 0) * a.transcendental_issue_clocks
    parts["matrix cores"] = simd_share * work.matrix_clocks
    scalar = issued.get("salu", 0) + issued.get("smem", 0)
    parts["scalar issue"] = simd_share * max(scalar, issued.get("branch", 0)) * a.scalar_issue_clocks
    vmem = issued.get("vmem read", 0) + issued.get("vmem write", 0) + issued.get("vmem atomic", 0)
    lds = max(traffic.lds_clocks, traffic.lds_bytes / a.lds_bytes_per_clock)
    parts["LDS"] = max(unit_share / cus * lds, simd_share * issued.get("lds", 0) * a.vector_issue_clocks)
    missed = max(traffic.l1_lookups - traffic.l1_hits, 0.0)
    parts["L1"] = max(
        unit_share / cus * traffic.l1_clocks,
        unit_share / cus * missed * a.vector_cache.line_bytes / a.l1_fill_bytes_per_clock,
        simd_share * vmem * a.vector_issue_clocks,
    )
    l2 = a.l2_cache.bytes_per_clock * a.l2_efficiency
    parts["L2 bandwidth"] = die_share * (
        traffic.l2_reads * line / l2 + (traffic.l2_writes + traffic.l2_atomics) * 64 / (l2 / 2)
    )
    if traffic.l2_atomics:
        channels = a.l2_cache.bytes_per_clock / line * a.xcds
        parts["atomics"] = traffic.l2_atomics * a.atomic_clocks / max(min(traffic.atomic_lines, channels), 1.0)
    if a.last_level_cache is not None:
        moved = traffic.fabric_read_bytes + traffic.fabric_write_bytes
        parts["Infinity Cache bandwidth"] = moved / a.last_level_bandwidth * a.clock_mhz * 1e6
    memory = f"{a.memory_kind} bandwidth"
    parts[memory] = (
        (traffic.dram_read_bytes + traffic.dram_write_bytes)
        / (a.memory_bandwidth * a.memory_efficiency)
        * (a.clock_mhz * 1e6)
    )
    started = on_die / a.workgroups_per_clock
    parts["workgroup dispatch"] = max(started, total * waves / (a.shader_engines * a.waves_per_clock))

    slots = max(held.blocks, 1)
    rounds = -(-on_unit // slots)
    alone = a.workgroup_start_clocks + (work.path_clocks + _waiting(a, work, vmem)) / (total * waves)
    if issued.get("barrier") and waves > 1:
        # Between two barriers all waves of a workgroup use the same unit at once: the last waits for all others.
        others = (lds + traffic.l1_clocks) / (cus * total) * (1 - 1 / waves)
        on_simd = -(-waves // simds)
        others += parts["VALU issue"] / simd_share / (total * waves) * (on_simd - 1)
        alone += others
    tight = held.blocks * waves < held.max_waves and on_unit > slots
    latency = "latency (occupancy)" if tight else "latency (too few waves)" if on_unit < slots else "latency"
    parts[latency] = rounds * alone

    busy = sum(part**OVERLAP for part in parts.values()) ** (1 / OVERLAP)
    us = busy / a.clock_mhz
    limiter = max(parts, key=lambda name: parts[name]) if us > a.launch_latency_us else "launch overhead"
    return ModelledTime(
        us=a.launch_latency_us + us,
        limiter=limiter,
        parts=parts,
        overhead_us=a.launch_latency_us,
        clock_mhz=a.clock_mhz,
        resident_waves=min(slots, on_unit) * waves,
        wave_slots=held.max_waves,
        traffic="estimated" if traffic.estimated else "sampled" if traffic.sampled else "observed",
    )


def _units(a: Architecture, work: Work) -> tuple[int, int]:
    """Units that workgroups go to, and the SIMDs of one."""
    return (a.compute_units, a.simds_per_cu) if work.cu_mode else (a.multiprocessors, a.simds_per_unit)


def placement(architecture: Architecture, work: Work, time: ModelledTime) -> Placement:
    """Where and when the workgroups run, so that the last one ends when the modelled time is over.

    Of a die's workgroups the k-th starts k / workgroups_per_clock after the first, as long as there is room; what
    remains of the time is shared equally by those that follow each other in one place. The model's part "workgroup
    dispatch" never is longer than the whole, so that something remains.
    """
    a = architecture
    held = _occupancy(a.name, work.vgprs, work.agprs, work.sgprs, work.lds_bytes, work.threads, work.cu_mode)
    units, simds = _units(a, work)
    on_die = -(-work.workgroups // a.xcds)
    per_die, places = max(units // a.xcds, 1), max(held.blocks, 1)
    step = 1 / (a.workgroups_per_clock * time.clock_mhz)
    turns, last = divmod(on_die - 1, per_die * places)
    busy = time.us - time.overhead_us
    each = (busy - last * step) / (turns + 1)
    if turns:  # places after the last one have one workgroup less, and start later
        each = min(each, (busy - (per_die * places - 1) * step) / turns)
    return Placement(
        arch=a.name, unit=held.unit, workgroups=work.workgroups, waves=work.waves, dies=a.xcds, units=per_die,
        simds=simds, wave_slots=a.max_waves_per_simd, places=places, limit=held.limit, begin_us=time.overhead_us,
        step_us=step, group_us=max(each, 0.0), total_us=time.us,
    )  # fmt: skip


def _waiting(a: Architecture, work: Work, vmem: float) -> float:
    """Clocks that all waves together stand still for memory, with nobody else in their way."""
    stall = _stalling(a, work, vmem)
    return sum(stall(wait.kind, wait.slack, wait.requests) * wait.times for wait in work.waits)


def _stalling(a: Architecture, work: Work, vmem: float) -> Callable[[str, float, int], float]:
    """A function from a wait's kind, slack and requests to the clocks for which a wave stands still there."""
    traffic, issued = work.traffic, work.issued
    lookups = max(traffic.l1_lookups, 1e-9)
    lines = traffic.l1_lookups / max(issued.get("vmem read", 0), 1)
    missing = 1 - min(traffic.l1_hits / lookups, 1.0)
    reads = max(traffic.l2_reads, 1e-9)
    beyond = missing - min(traffic.array_hits / lookups, missing)
    far = beyond * (1 - min(traffic.l2_hits / reads, 1.0))
    farther = far * (1 - min(traffic.llc_hits / max(traffic.fabric_reads, 1e-9), 1.0))
    own = max(traffic.l1_clocks / vmem - a.vector_issue_clocks, 0.0) if vmem else 0.0
    l1, l2 = a.vector_cache.latency_clocks, a.l2_cache.latency_clocks
    array = a.shader_array_cache.latency_clocks if a.shader_array_cache is not None else l2
    llc = a.last_level_cache.latency_clocks if a.last_level_cache is not None else l2
    in_lds = issued.get("lds", 0)
    lds_own = max(traffic.lds_clocks / in_lds, 0.0) if in_lds else 0.0
    scalar: float = a.scalar_cache.latency_clocks
    if traffic.scalar_lookups:
        scalar += (l2 - scalar) * (1 - traffic.scalar_hits / traffic.scalar_lookups)

    def stall(kind: str, slack: float, requests: int) -> float:
        if kind == "vmem":
            k = max(lines * requests, 1.0)
            latency = l1 + (1 - (1 - missing) ** k) * (array - l1) + (1 - (1 - beyond) ** k) * (l2 - array)
            latency += (1 - (1 - far) ** k) * (llc - l2) + (1 - (1 - farther) ** k) * (a.memory_latency_clocks - llc)
            latency += own * requests
        elif kind == "lds":
            latency = a.lds_latency_clocks + lds_own * requests
        elif kind == "smem":
            latency = scalar
        else:  # stores and atomics are done when L2 has them
            latency = l2 + own * requests
        return max(latency - slack, 0.0)

    return stall


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


class _Outstanding(NamedTuple):
    kind: str
    at: float


@dataclass(slots=True)
class _Episode:
    """Waits for accesses that were all made before the first of these waits."""

    kind: str
    began: float
    slack: float
    requests: int
    instruction: int


class _State:
    """What is under way while `BlockCosts` follows the program."""

    def __init__(self) -> None:
        self.now = 0.0
        self.outstanding: dict[str, list[_Outstanding]] = {"vm": [], "vs": [], "lgkm": [], "ds": [], "sample": []}
        self.episodes: dict[str, _Episode] = {}


class BlockCosts:
    """What each block of a kernel costs, counted once from its instructions; `work` multiplies with executions.

    Waits are found by going through the program in its order, loops twice: a wait is for the newest access that it
    waits for, less the clocks of work since that access. Waits for accesses that were all made before the first of
    these waits count once, with the least slack: together they take as long as the last access does.
    """

    def __init__(
        self,
        architecture: Architecture,
        labels: Mapping[str, int],
        blocks: Sequence[Sequence[int]],
        decoded: Mapping[int, Decoded],
    ) -> None:
        self.architecture = architecture
        self.counts: list[dict[str, int]] = []
        self.matrix: list[float] = []
        self.path: list[float] = []
        self.bytes: list[dict[str, int]] = []
        self.waits: list[list[tuple[str, float, int]]] = []
        self._clocks = issue_clocks(architecture)
        self._decoded = decoded
        self._lds_counter = "ds" if architecture.separate_lds_counter else "lgkm"
        self._costs: dict[int, float] = {}
        self.block_of = {index: number for number, block in enumerate(blocks) for index in block}
        for block in blocks:
            self._count(block)
        self._follow(labels, blocks)

    def _count(self, block: Sequence[int]) -> None:
        counts: dict[str, int] = {}
        moved: dict[str, int] = {}
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
            elif isinstance(row, Image) and row.action != "size":
                moved[name] = moved.get(name, 0) + 4 * data_words(decoded)
            elif isinstance(row, Memory) and row.space != "scalar":
                moved[name] = moved.get(name, 0) + row.element * row.count // 8
            self._costs[index] = clocks = max(own, self._own_clocks(name, decoded))
            path += clocks
        self.counts.append(counts)
        self.matrix.append(matrix)
        self.path.append(path)
        self.bytes.append(moved)

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

    # waits

    def _follow(self, labels: Mapping[str, int], blocks: Sequence[Sequence[int]]) -> None:
        starts = {block[0]: number for number, block in enumerate(blocks) if block}
        loops: dict[int, int] = {}  # first block of a loop -> the last one that goes back to it
        for number, block in enumerate(blocks):
            head = self._loop_head(labels, starts, block)
            if head is not None and head <= number:
                loops[head] = number
        heads: dict[int, list[int]] = {}
        for head, last in loops.items():
            heads.setdefault(last, []).append(head)
        state = _State()
        found: list[list[_Episode]] = [[] for _ in blocks]
        for number, block in enumerate(blocks):
            found[number] = self._walk(block, state)
            for head in sorted(heads.get(number, ()), reverse=True):
                for again in range(head, number + 1):
                    found[again] = self._walk(blocks[again], state)
        self.waits = [[(e.kind, e.slack, e.requests) for e in episodes] for episodes in found]
        self.places = [[e.instruction for e in episodes] for episodes in found]

    def _loop_head(self, labels: Mapping[str, int], starts: Mapping[int, int], block: Sequence[int]) -> int | None:
        if not block:
            return None
        last = self._decoded[block[-1]]
        if not isinstance(last.row, Control) or last.row.kind not in ("branch", "cbranch"):
            return None
        for operand in last.instruction.operands:
            if isinstance(operand.value, Symbol):
                return starts.get(labels.get(operand.value.name, -1))
        return None

    def _walk(self, block: Sequence[int], state: _State) -> list[_Episode]:
        """The waits of a block, entered in a state; leaves the state at its end."""
        found: list[_Episode] = []
        for index in block:
            decoded = self._decoded[index]
            row = decoded.row
            if isinstance(row, Memory):
                self._access(decoded, row, state)
            elif isinstance(row, Image):
                self._texels(row, state)
            elif isinstance(row, CrossLane) and row.unit == "lds":
                state.outstanding[self._lds_counter].append(_Outstanding("lds", state.now))
            elif isinstance(row, Control):
                for counter, allowed in waited(decoded.instruction, row):
                    self._wait(state, counter, allowed, found, index)
                if row.kind == "end":
                    for counter in ("vm", "vs"):
                        self._wait(state, counter, 0, found, index, only="store")
                        state.outstanding[counter].clear()
            state.now += self._costs[index]
        return found

    def _access(self, decoded: Decoded, row: Memory, state: _State) -> None:
        split = self.architecture.separate_store_counter
        if row.space == "lds":
            state.outstanding[self._lds_counter].append(_Outstanding("lds", state.now))
        elif row.space == "scalar":
            state.outstanding["lgkm"].append(_Outstanding("smem", state.now))
        elif row.action == "load":
            state.outstanding["vm"].append(_Outstanding("vmem", state.now))
        elif row.action == "atomic" and returns_value(decoded.instruction, row):
            state.outstanding["vm"].append(_Outstanding("atomic", state.now))
        elif row.action in ("store", "atomic"):
            state.outstanding["vs" if split else "vm"].append(_Outstanding("store", state.now))

    def _texels(self, row: Image, state: _State) -> None:
        if row.action == "store":
            counter = "vs" if self.architecture.separate_store_counter else "vm"
            state.outstanding[counter].append(_Outstanding("store", state.now))
            return
        apart = self.architecture.separate_lds_counter and row.action in ("sample", "gather")
        state.outstanding["sample" if apart else "vm"].append(_Outstanding("vmem", state.now))

    def _wait(
        self, state: _State, counter: str, allowed: int, found: list[_Episode], index: int, only: str = ""
    ) -> None:
        queue = state.outstanding[counter]
        done = queue[: len(queue) - allowed] if allowed < len(queue) else []
        if not done:
            return
        del queue[: len(done)]
        slowest = next((k for k in ("vmem", "atomic", "store", "smem", "lds") if any(o.kind == k for o in done)), "")
        if only and slowest != only:
            return
        waited_for = [o for o in done if o.kind == slowest]
        newest = waited_for[-1].at
        slack = state.now - newest
        episode = state.episodes.get(slowest)
        if episode is not None and newest < episode.began:
            episode.slack = min(episode.slack, slack)
            episode.requests += len(waited_for)
            return
        state.episodes[slowest] = episode = _Episode(slowest, state.now, slack, len(waited_for), index)
        found.append(episode)

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
        seen: Seen | None = None,
        footprint: float | None = None,
        scale: float = 1.0,
    ) -> Work:
        """The work of a launch.

        Args:
            executed: how often each block was executed, summed over waves.
            workgroups, waves, threads, vgprs, agprs, sgprs, lds_bytes, cu_mode: as in `Work`.
            seen: what an observer saw of it; without, traffic is an estimate (see `estimate`).
            footprint: bytes of the allocations in use (see `observed`).
            scale: `executed` stands for so many times as much.
        """
        issued: dict[str, float] = {}
        moved: dict[str, float] = {}
        waits: dict[tuple[str, float, int], float] = {}
        matrix = path = 0.0
        for number, count in enumerate(executed):
            if not count:
                continue
            times = count * scale
            for name, amount in self.counts[number].items():
                issued[name] = issued.get(name, 0) + amount * times
            for name, amount in self.bytes[number].items():
                moved[name] = moved.get(name, 0) + amount * times
            for wait in self.waits[number]:
                waits[wait] = waits.get(wait, 0) + times
            matrix += self.matrix[number] * times
            path += self.path[number] * times
        if seen is None:
            traffic = estimate(self.architecture, issued, moved)
        else:
            executions = [executed[self.block_of[access.instruction]] * scale for access in seen.accesses]
            traffic = observed(self.architecture, seen, executions, footprint)
        return Work(
            workgroups, waves, threads, vgprs, agprs, sgprs, lds_bytes, issued, matrix, path,
            tuple(Wait(*wait, times) for wait, times in waits.items()), traffic, cu_mode,
        )  # fmt: skip

    def stalls(self, executed: Sequence[int], work: Work) -> dict[int, float]:
        """Clocks for which waves stand still, added up over all waves, by the instruction that waits.

        Together they are what the model's latency has of waits.

        Args:
            executed: how often each block was executed, summed over waves.
            work: of the launch, whose traffic says how long an access takes on average.
        """
        vmem = sum(work.issued.get(name, 0) for name in ("vmem read", "vmem write", "vmem atomic"))
        stall = _stalling(self.architecture, work, vmem)
        found: dict[int, float] = {}
        for times, waits, places in zip(executed, self.waits, self.places, strict=True):
            for wait, place in zip(waits, places, strict=True):
                clocks = stall(*wait) * times
                if clocks:
                    found[place] = found.get(place, 0.0) + clocks
        return found


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


def estimate(architecture: Architecture, issued: Mapping[str, float], moved: Mapping[str, float]) -> Traffic:
    """Traffic without observation: every access contiguous, every lane active, every byte from and to memory.

    Args:
        issued: wave instructions by class.
        moved: bytes of one lane, summed over wave instructions, by class.
    """
    a = architecture
    read, write, atomic, in_lds = (
        moved.get(name, 0) * a.wave_size for name in ("vmem read", "vmem write", "vmem atomic", "lds")
    )
    vmem = sum(issued.get(name, 0) for name in ("vmem read", "vmem write", "vmem atomic"))
    line = a.l2_cache.line_bytes
    return Traffic(
        lds_clocks=in_lds / a.lds_bytes_per_clock,
        lds_bytes=in_lds,
        l1_clocks=max((read + write + atomic) / a.l1_bytes_per_clock, vmem * a.vector_issue_clocks),
        l1_lookups=read / a.vector_cache.line_bytes,
        l2_reads=read / line,
        l2_writes=write / 64,
        l2_atomics=atomic / 64,
        atomic_lines=atomic / 64,
        fabric_reads=read / line,
        fabric_read_bytes=read,
        fabric_write_bytes=write,
        dram_read_bytes=read,
        dram_write_bytes=write,
        estimated=1.0,
    )


class Seen(NamedTuple):
    """What the observer of a launch saw (observation.py): its accesses, `Observer.read()` and `Observer.flows()`."""

    accesses: Sequence[Observed]
    totals: Sequence[Mapping[str, int]]
    flows: Mapping[str, int]


def observed(
    architecture: Architecture, seen: Seen, executions: Sequence[float], footprint: float | None = None
) -> Traffic:
    """The traffic of a launch of which an observer saw all or some.

    Args:
        executions: how often the instruction of each access was executed in the whole launch; what was seen of it is
            scaled up to that.
        footprint: bytes of all allocations that the launch used, if known: where they fit into a cache, no more than
            that is read through it, though a sample of workgroups, each with data that all share, suggests more.
    """
    a = architecture
    t = dict.fromkeys((f.name for f in fields(Traffic)), 0.0)
    missed = expected = 0.0  # bytes that L2 asked for: seen, and scaled up
    wrote = writes = 0.0  # requests of stores and atomics
    for access, total, times in zip(seen.accesses, seen.totals, executions, strict=True):
        if not total["executed"]:
            continue
        factor = times / total["executed"]
        t["sampled"] = max(t["sampled"], float(factor > 1.0))
        lines = total["lines"] * factor
        t["lds_clocks"] += total["bank_cycles"] * factor
        if access.space == "lds":
            t["lds_bytes"] += total["lanes"] * access.bytes * factor
            continue
        read_bytes = 64 * total["reads_64"] + 128 * total["reads_128"]
        missed += read_bytes
        expected += read_bytes * factor
        t["fabric_reads"] += (total["reads_64"] + total["reads_128"]) * factor
        t["llc_hits"] += total["memory_hits"] * factor
        t["fabric_read_bytes"] += read_bytes * factor
        requests, hits = total["requests"] * factor, total["l2_hits"] * factor
        if access.space == "scalar":
            t["scalar_lookups"] += lines
            t["scalar_hits"] += total["first_hits"] * factor
            t["l2_reads"] += requests
            t["l2_hits"] += hits
            continue
        t["l1_clocks"] += _l1_clocks(a, times, total["lanes"] * factor, access.bytes, lines)
        if access.action == "load":
            t["l1_lookups"] += lines
            t["l1_hits"] += total["first_hits"] * factor
            t["array_hits"] += total["array_hits"] * factor
            t["l2_reads"] += requests
            t["l2_hits"] += hits
        else:
            t["l2_writes" if access.action == "store" else "l2_atomics"] += requests
            if access.action == "atomic":
                t["atomic_lines"] += total["requests"] - total["l2_hits"]
            wrote += total["requests"]
            writes += requests
    flows = seen.flows
    up = writes / wrote if wrote else 1.0
    t["fabric_write_bytes"] = (32 * flows["writebacks_32"] + 64 * flows["writebacks_64"]) * up
    t["dram_read_bytes"] = flows["dram_reads"] * (expected / missed if missed else 1.0)
    last = a.last_level_cache
    if footprint is not None:
        _bound(a, t, footprint)
    # What is written stays in a last-level cache if all fits; else, launch after launch, all of it has to go out.
    fits = last is not None and (t["fabric_write_bytes"] if footprint is None else footprint) <= last.bytes
    t["dram_write_bytes"] = flows["dram_writes"] * up if fits else t["fabric_write_bytes"]
    return Traffic(**t)


def _l1_clocks(a: Architecture, executed: float, lanes: float, size: int, lines: float) -> float:
    """Clocks of a vector L1 for accesses of `size` bytes by so many lanes in all, to so many lines: the data of
    contiguous ones (which may cross into one more line), else each block of 64 bytes or each lane; at least one line a
    clock, and the lanes' addresses."""
    line = a.vector_cache.line_bytes
    clocks = max(lines, lanes * size / a.l1_bytes_per_clock, executed * a.vector_issue_clocks)
    if lines > lanes * size / line + executed:
        clocks = max(clocks, min(lanes * a.l1_lane_clocks, lines * line / 64 * a.l1_scattered_clocks))
    return clocks


def _bound(a: Architecture, t: dict[str, float], footprint: float) -> None:
    """Let no cache that holds the whole footprint read more than it from the next level."""
    if footprint <= a.l2_cache.bytes:
        most = footprint * a.xcds
        if t["fabric_read_bytes"] > most:
            share = most / t["fabric_read_bytes"]
            t["l2_hits"] += t["fabric_reads"] * (1 - share)
            for name in ("fabric_reads", "fabric_read_bytes", "llc_hits"):
                t[name] *= share
    last = a.last_level_cache
    room = last.bytes if last is not None else a.l2_cache.bytes
    if footprint <= room and t["dram_read_bytes"] > footprint:
        if last is not None:
            t["llc_hits"] += (t["dram_read_bytes"] - footprint) / max(t["fabric_read_bytes"], 1.0) * t["fabric_reads"]
        t["dram_read_bytes"] = footprint


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
        seen: gives what the observer saw; it must hold a copy, as the observer is used again by the next launch.
        footprint: bytes of the allocations in use, see `footprint`; None if they are not known.
    """

    architecture: Architecture
    block_costs: Callable[[], BlockCosts]
    executed: Sequence[int]
    workgroups: int
    threads: int
    kernel: KernelDescriptor
    lds_bytes: int
    seen: Callable[[], Seen] | None = None
    footprint: float | None = None
    _time: ModelledTime | None = None

    def work(self) -> Work:
        # The metadata's count of VGPRs has the AccVGPRs in it, where both are one file (LLVM, AMDGPUUsage).
        kernel = self.kernel
        return self.block_costs().work(
            self.executed, self.workgroups, self.architecture.waves(self.threads), self.threads,
            vgprs=kernel.vgprs, sgprs=kernel.sgprs, lds_bytes=self.lds_bytes, cu_mode=self._cu_mode,
            seen=self.seen() if self.seen is not None else None, footprint=self.footprint,
        )  # fmt: skip

    @property
    def _cu_mode(self) -> bool:
        return self.architecture.cus_per_unit > 1 and not self.kernel.directives.get("workgroup_processor_mode", 1)

    def placement(self, time: ModelledTime) -> Placement:
        """Where and when the workgroups run, given the modelled time of the launch."""
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
