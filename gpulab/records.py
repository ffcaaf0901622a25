"""What a compile or a launch leaves behind: frozen records that pictures, grades and hints read.

A record knows nothing of devices or libraries. `Diagnostic` and `Guarantees` belong to a compile; `Launch` to
a launch, and holds `Counters`, printed text and, if the kernel was stopped, a `Fault`; `Placement` says where its
workgroups were; `Activity` is one thing in a stream; `Trace` is one wave's life step by step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

if TYPE_CHECKING:
    import numpy as np

T = TypeVar("T")


class Later(Generic[T]):
    """A value that is computed when it is first asked for, with `get`, and then kept."""

    __slots__ = ("_compute", "_value")

    def __init__(self, compute: Callable[[], T]) -> None:
        self._compute: Callable[[], T] | None = compute
        self._value: T | None = None

    def get(self) -> T:
        compute = self._compute
        if compute is not None:
            self._value = compute()
            self._compute = None
        return self._value  # type: ignore[return-value]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Later) and bool(self.get() == other.get())

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self.get())

    def __reduce__(self) -> tuple[Any, ...]:
        return _known, (self.get(),)


def _known(value: Any) -> Later[Any]:
    return Later(lambda: value)


class _Rows(Generic[T]):
    """A field of a record that is a tuple to all who read it, and may be given as one that is computed later."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = "_" + name

    @overload
    def __get__(self, record: None, owner: type) -> tuple[T, ...]: ...

    @overload
    def __get__(self, record: object, owner: type) -> tuple[T, ...]: ...

    def __get__(self, record: object | None, owner: type) -> tuple[T, ...]:
        if record is None:
            return ()  # the field's default
        found: tuple[T, ...] | Later[tuple[T, ...]] = vars(record)[self._name]
        return found.get() if isinstance(found, Later) else found

    def __set__(self, record: object, rows: tuple[T, ...] | Later[tuple[T, ...]]) -> None:
        vars(record)[self._name] = rows


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A place in the learner's source. `line` and `column` count from 1; column 0 is unknown."""

    file: str
    line: int
    column: int = 0
    text: str = ""


@dataclass(frozen=True, slots=True)
class Guarantees:
    """What a code object's maker promises of it. Memory rules and pictures depend on these, not on a language.

    `exact_bounds`: a correct kernel accesses no byte outside an allocation, so that any such access is a mistake;
    without it only whole pages of 4 KiB are protected, as on hardware. `alignment`: a correct kernel's addresses are
    multiples of the access's size (of 4, where that is larger). `source_lines`: instructions name the lines of the
    source that they come from. `signatures`: names and types of kernels' parameters are those of the source; without
    it only their sizes are known. `compiled`: a compiler chose the instructions, so that each register and each wait
    is as it must be: no checked launch asks about them.
    """

    exact_bounds: bool = False
    alignment: bool = False
    source_lines: bool = False
    signatures: bool = False
    compiled: bool = False


NO_GUARANTEES = Guarantees()
ALL_GUARANTEES = Guarantees(exact_bounds=True, alignment=True, source_lines=True, signatures=True, compiled=True)
FOREIGN = Guarantees(compiled=True)
"""Of machine code that others made: what people write by hand comes as a text."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message of the compiler, on the learner's own lines."""

    severity: str  # "error", "warning", "note"
    message: str
    where: SourceLine | None = None
    advice: str = ""
    rendered: str = ""  # source line and caret, as shown


@dataclass(frozen=True, slots=True)
class AllocationNote:
    """The allocation nearest to a bad address."""

    address: int
    size: int
    relation: str  # "inside", "after", "before", "freed"
    distance: int  # bytes from its nearest edge; 0 when inside
    name: str = ""  # "global variable table", "device memory", "kernel arguments", ...


@dataclass(frozen=True, slots=True)
class Access:
    """The other access or place of a finding that needs two: whose, where and what."""

    where: SourceLine | None
    instruction: str
    workgroup: tuple[int, int, int]
    wave: int
    lane: int | None
    thread: tuple[int, int, int] | None
    access: str = ""  # "read", "write", "atomic", ""


class LastWriters(Sequence[Access | None]):
    """Who was the last to change each element of a row of them (None: nobody): a table, of which an `Access` is made
    when it is asked for.

    Args:
        places: source line, instruction and kind of access, each combination once.
        rows: int64, (elements, 9): number of the place (-1: nobody), workgroup x y z, wave, lane, thread x y z. A lane
            of -1 stands for the whole wave, which is no thread.
    """

    COLUMNS = 9

    def __init__(self, places: Sequence[tuple[SourceLine | None, str, str]], rows: np.ndarray) -> None:
        self.places, self.rows = tuple(places), rows

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> Access | None: ...

    @overload
    def __getitem__(self, index: slice) -> LastWriters: ...

    def __getitem__(self, index: int | slice) -> Access | LastWriters | None:
        if isinstance(index, slice):
            return LastWriters(self.places, self.rows[index])
        place, x, y, z, wave, lane, *thread = self.rows[index].tolist()
        if place < 0:
            return None
        where, instruction, access = self.places[place]
        at = (thread[0], thread[1], thread[2]) if lane >= 0 else None
        return Access(where, instruction, (x, y, z), wave, lane if lane >= 0 else None, at, access)


@dataclass(frozen=True, slots=True)
class Fault:
    """Why and where a kernel was stopped.

    `kind` is one of "out of bounds", "null", "misaligned", "freed", "lds out of bounds",
    "scratch out of bounds", "stack overflow", "timeout", "trap", "grid barrier", "not cooperative", "bad jump",
    "read-only", "image descriptor";
    in checked launches also "race", "barrier", "lane conflict", "never written", "deadlock",
    "shuffle", "register", "missing wait". `other` is the earlier access of a
    race; `memory` says what an address of a checked launch's finding counts in: "global", "lds", "scratch". `lack` says
    what an atomic operation lacked to order the two sides of a race, if there was one: "acquire", "release", "block"
    (the kernel has no fence at all), "scope" (it is one among the threads of a block); `flag` is where it was read.
    `further`: what else a checked launch found in the same workgroup after it, one for each instruction and kind.
    """

    kind: str
    kernel: str
    where: SourceLine | None
    instruction: str  # text of the instruction
    workgroup: tuple[int, int, int]
    wave: int
    lane: int | None
    thread: tuple[int, int, int] | None
    address: int | None = None
    bytes: int = 0
    access: str = ""  # "read", "write", "atomic", ""
    nearest: AllocationNote | None = None
    detail: str = ""
    other: Access | None = None
    memory: str = ""
    lack: str = ""
    flag: SourceLine | None = None
    further: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True)
class Writer:
    """Who stored to an element, or should have.

    `seen`: a checked launch saw this thread change the element last, by `instruction` at `where`. Else it is the thread
    whose element it is by the exercise's own mapping; then nothing is known but block and thread.
    """

    workgroup: tuple[int, int, int]
    thread: tuple[int, int, int] | None
    seen: bool
    wave: int | None = None
    lane: int | None = None
    where: SourceLine | None = None
    instruction: str = ""


@dataclass(frozen=True, slots=True)
class ArrayElement:
    """One element of an array after a failed case, as text. `index` is flat: negative before the array, its size and
    more after it. `state` is "right", "wrong", "never written" (wrong, too), "written outside", "read outside", or
    "given" (of an input, as it was before the launch). `owner` is the thread whose element it is, `writer` the one that
    changed it last, as far as known. `inputs`: names and values of the input elements that belong to it.
    """

    index: int
    state: str
    expected: str
    found: str
    writer: Writer | None = None
    owner: Writer | None = None
    inputs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class FailedArray:
    """What a failed case left in one array, in a form whose size does not grow with the array.

    Attributes:
        name, dtype, shape: of the array.
        right, wrong, never: elements that are right, wrong though written, and never written. outside: how many were
            written beside it.
        elements: those of a rectangle around the first wrong element, row by row: `rows` by `columns`, the first of
            them at row `row` and column `column` of an array of two dimensions; others are cut into rows of `columns`.
        beside: elements outside the array that were used, by index, the first ones.
        overview: the whole array in equal parts of `part` elements: how many are right, wrong, never written.
        given: it is an input that the kernel left alone; its elements are those beside the wrong ones of an output.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    right: int
    wrong: int
    never: int
    outside: int
    rows: int
    columns: int
    row: int
    column: int
    elements: tuple[ArrayElement, ...]
    beside: tuple[ArrayElement, ...]
    overview: tuple[tuple[int, int, int], ...]
    part: int
    given: bool = False


@dataclass(frozen=True, slots=True)
class FailedCase:
    """A small failing input of a check, and what the kernel made of it.

    Attributes:
        inputs: the case in words. grid, block: of its launch.
        larger: it is not the smallest input that fails, but one in which more is to be seen.
        arrays: inputs, outputs, and other arrays that something is wrong with.
        stopped: why a checked launch of it was stopped (a `Fault`'s kind), or "".
        place: where that was: an element, or a place in shared memory, in words.
        sides: the access that was stopped; if it needs two, the earlier one before it.
    """

    exercise: str
    kernel: str
    arch: str
    wave_size: int
    inputs: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arrays: tuple[FailedArray, ...]
    larger: bool = False
    stopped: str = ""
    place: str = ""
    sides: tuple[Access, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Counters(Mapping[str, int]):
    """Hardware counters by the device's own names, e.g. ``counters["SQ_INSTS_VALU"]``."""

    found: Mapping[str, int] | Later[Mapping[str, int]] = field(default_factory=dict)

    @property
    def counts(self) -> Mapping[str, int]:
        """All of them."""
        return self.found.get() if isinstance(self.found, Later) else self.found

    def __getitem__(self, name: str) -> int:
        counts = self.counts
        if name not in counts:
            raise KeyError(f"no counter {name!r} here; there are {', '.join(counts) or 'none'}")
        return counts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.counts)

    def __len__(self) -> int:
        return len(self.counts)


@dataclass(frozen=True, slots=True)
class LineCost:
    """What one source line cost in a launch: wave instructions executed and the lanes active in them.

    Of the memory instructions among them: `memory_instructions` executed, `requested_bytes` that active lanes asked
    for, `cache_lines` looked up in the first cache, and `lds_cycles`, of which `conflict_cycles` by bank conflicts.
    `stall_clocks` are modelled: clocks for which waves stood still at this line until memory had answered, added up
    over all waves (docs/timing.md).
    """

    where: SourceLine
    instructions: int
    active_lanes: int
    memory_instructions: int = 0
    requested_bytes: int = 0
    cache_lines: int = 0
    lds_cycles: int = 0
    conflict_cycles: int = 0
    stall_clocks: float = 0.0


@dataclass(frozen=True, slots=True)
class InstructionCost:
    """What one instruction of the kernel cost: how often a wave executed it, and the lanes active then.

    `amounts` is what one execution adds to the quantities that counters are computed from, and `lane_clocks` the clocks
    of a vector ALU instruction, which active lanes multiply (virtual_gpu/machine/counters.py).

    Attributes:
        lane_counts: how often each lane was active, by lane: as many as a wave has. Their sum is `active_lanes`.
        whole: executions with all lanes of the wave active.
        branch: place in `Launch.instructions` of the instruction that sent lanes another way here: the innermost if,
            else or loop around this instruction, of those that lanes decide each for themselves. None if there is none.
        stall_clocks: as in `LineCost`: for an instruction that waits.
        by_lane: it works once for each active lane; else once for the wave, whichever lanes are active.
        flops: float operations of one execution for each active lane, with their kind, the key of a compute roof:
            ("fp32 plain", 2). Those of a matrix instruction stand in `amounts`.
    """

    where: SourceLine | None
    text: str
    executed: int
    active_lanes: int
    amounts: tuple[tuple[str, float], ...] = ()
    lane_clocks: float = 0.0
    lane_counts: tuple[int, ...] = ()
    whole: int = 0
    branch: int | None = None
    stall_clocks: float = 0.0
    by_lane: bool = True
    flops: tuple[str, float] = ("", 0)

    @property
    def is_vector(self) -> bool:
        """Whether it is one of the vector ALU instructions, those that SQ_INSTS_VALU counts."""
        return any(name == "valu" for name, _ in self.amounts)


@dataclass(frozen=True, slots=True)
class MemoryRange:
    """An allocation: its name (of the kernel's argument that points into it, of a global variable, or "device
    memory"), first address and bytes."""

    name: str
    address: int
    size: int


@dataclass(frozen=True, slots=True)
class AccessSample:
    """The addresses of one execution of a memory instruction by a wave.

    Attributes:
        kind: "worst", or "first" where the first execution was another one. The worst has the most cache lines beyond
            the fewest that could hold its bytes, or the most cycles by bank conflicts.
        space: where these lanes' addresses lie: "global", "lds" or "scratch".
        part: 1 for the second address of an LDS instruction with two, else 0.
        workgroup, wave: who executed it; exec_mask: for which lanes.
        addresses: by lane, None for those that did not take part. Of LDS from the workgroup's first byte on; of scratch
            as hardware weaves the lanes' memory together.
        bytes: of one lane.
        lines: cache lines that it touched. bank_cycles, conflict_cycles: of LDS.
        memory: the allocations that the addresses lie in, in the order of addresses.
    """

    kind: str
    space: str
    part: int
    workgroup: tuple[int, int, int]
    wave: int
    exec_mask: int
    addresses: tuple[int | None, ...]
    bytes: int
    lines: int = 0
    bank_cycles: int = 0
    conflict_cycles: int = 0
    memory: tuple[MemoryRange, ...] = ()


@dataclass(frozen=True, slots=True)
class AccessCost:
    """What one memory instruction did in a launch. Numbers are sums over all its executions.

    Attributes:
        where, instruction: source line and text of the instruction.
        space: "global", "flat", "lds", "scratch" or "scalar". action: "load", "store" or "atomic".
        bytes: of one lane and execution.
        executed: wave instructions. lanes: active ones.
        quads: requests of up to four lanes each to the vector cache; 16 a wave of 64 lanes at best.
        lines: cache lines looked up in the first cache, the vector or the scalar one; `line_bytes` is their size.
        bank_cycles: LDS cycles, of which `conflict_cycles` would not be there without bank conflicts.
        cache_hits: lines found in the first cache, or in the cache between it and the L2.
        l2_requests: what went to the L2: reads of a line, writes and atomics of 64 bytes; `l2_hits` were found there.
        memory_bytes: read from memory by the L2 for this instruction.
        array_hits: of `cache_hits`, those found in the cache between the first one and the L2 (GL1 of RDNA).
        dram_bytes: of `memory_bytes`, those that the Infinity Cache did not have.
        written_bytes: what the L2 writes to memory because of this instruction, up to the end of the launch; of these
            `dram_written_bytes` do not stay in the Infinity Cache.
        lds_lanes: of `lanes`, those that went to LDS: all or none, but for flat accesses.
        quantities: what all this adds to the quantities that counters are computed from (see `InstructionCost`).
        samples: addresses of single executions, as far as they were looked at: of each address of the instruction
            the worst, and the first if that is another one.
    """

    where: SourceLine | None
    instruction: str
    space: str
    action: str
    bytes: int
    executed: int
    lanes: int
    quads: int = 0
    lines: int = 0
    line_bytes: int = 0
    bank_cycles: int = 0
    conflict_cycles: int = 0
    cache_hits: int = 0
    l2_requests: int = 0
    l2_hits: int = 0
    memory_bytes: int = 0
    quantities: Mapping[str, int] = field(default_factory=dict)
    samples: tuple[AccessSample, ...] = field(default=(), repr=False)
    array_hits: int = 0
    dram_bytes: int = 0
    written_bytes: int = 0
    dram_written_bytes: int = 0
    lds_lanes: int = 0

    @property
    def requested_bytes(self) -> int:
        """Bytes that active lanes asked for."""
        return self.lanes * self.bytes


@dataclass(frozen=True, slots=True)
class ModelledTime:
    """The modelled device time of a launch on a virtual device (docs/timing.md).

    Attributes:
        us: from launch to end, in microseconds; a device that gets one launch after another needs so long for each.
        limiter: the part without which it would be shortest, in words: "LDS", "VALU issue", "HBM3 bandwidth",
            "latency (occupancy)", ...; "uneven workgroups": if all did as much.
        parts: clocks for which each unit is busy, the busiest instance of it, by the same names; "latency ..." is how
            long the waves need if no unit is ever busy.
        overhead_us: the part of `us` that any launch costs.
        clock_mhz: the clock that `parts` count.
        resident_waves: waves that the busiest compute unit (WGP) holds at a time; wave_slots: those it could hold.
        traffic: what is known of the memory accesses: "observed" (all of them), "sampled" (some, from the middle of the
            grid, scaled up).
        lacks: what is not in it and could change it by more than 20 %, a line each that begins with the word for it in
            docs/timing.md.
    """

    us: float
    limiter: str
    parts: Mapping[str, float]
    overhead_us: float
    clock_mhz: int
    resident_waves: int
    wave_slots: int
    traffic: str = "observed"
    lacks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stay:
    """Where and when one workgroup runs: a unit of its die, a place of that unit, and microseconds since the launch."""

    unit: int
    place: int
    start_us: float
    end_us: float


@dataclass(frozen=True, slots=True)
class Placement:
    """Where and when the workgroups of a launch run on a virtual device, by the timing model (docs/timing.md).

    Workgroups go round the dies (XCDs) by their number: known of hardware. All else is assumed: on a die they go round
    the units in the order of numbers until all places are taken, one after another as fast as the dispatcher starts
    them; all take equally long, and whoever ends makes room for the next. A place is what one workgroup takes. Where
    workgroups do different amounts of work, each goes to the unit of its die that holds the fewest, and runs for as
    long as its instructions say.

    Attributes:
        arch: gfx name of the device. unit: "CU" or "WGP", where one workgroup stays.
        workgroups: of the grid. waves: of one workgroup.
        dies, units: dies of the device, and units of one die.
        simds, wave_slots: SIMDs of one unit, and wave slots of one SIMD.
        places: workgroups that one unit holds at a time; `limit` says what allows no more ("wave slots", "VGPRs", ...).
        begin_us: when the first one starts, after the launch's overhead. step_us: from one start on a die to the next.
        group_us: how long each runs, on average. total_us: when the launch is over, `ModelledTime.us`.
        stays: of each workgroup by its number, where they differ (up to 65,536); else empty.
    """

    arch: str
    unit: str
    workgroups: int
    waves: int
    dies: int
    units: int
    simds: int
    wave_slots: int
    places: int
    limit: str
    begin_us: float
    step_us: float
    group_us: float
    total_us: float
    stays: tuple[Stay, ...] = ()

    @property
    def round(self) -> int:
        """Workgroups that one die holds at a time."""
        return self.units * self.places

    def on_die(self, die: int) -> int:
        """Workgroups that run on a die, from first to last."""
        return max(-(-(self.workgroups - die) // self.dies), 0)

    def where(self, workgroup: int) -> tuple[int, int, int]:
        """(die, unit of the die, place of the unit) of a workgroup by its number.

        Raises:
            IndexError: there is no such workgroup.
        """
        if not 0 <= workgroup < self.workgroups:
            raise IndexError(f"there are workgroups 0 to {self.workgroups - 1:,}, no {workgroup:,}")
        if self.stays:
            return workgroup % self.dies, self.stays[workgroup].unit, self.stays[workgroup].place
        at = workgroup // self.dies % self.round
        return workgroup % self.dies, at % self.units, at // self.units

    def when(self, workgroup: int) -> tuple[float, float]:
        """(start, end) of a workgroup in microseconds since the launch.

        Raises:
            IndexError: as `where`.
        """
        _, unit, place = self.where(workgroup)
        if self.stays:
            return self.stays[workgroup].start_us, self.stays[workgroup].end_us
        turn = workgroup // self.dies // self.round
        start = self.begin_us + (place * self.units + unit) * self.step_us + turn * self.group_us
        return start, start + self.group_us

    def earlier(self, us: float) -> Placement:
        """The same, if the first workgroup starts so much earlier."""
        stays = tuple(replace(stay, start_us=stay.start_us - us, end_us=stay.end_us - us) for stay in self.stays)
        return replace(self, begin_us=self.begin_us - us, total_us=self.total_us - us, stays=stays)

    def slots(self, place: int) -> tuple[tuple[int, int], ...]:
        """(SIMD, wave slot) of each wave of the workgroup in a place: they go round the SIMDs."""
        first = place * self.waves
        return tuple((n % self.simds, n // self.simds) for n in range(first, first + self.waves))


@dataclass(frozen=True, slots=True)
class Activity:
    """One thing in a stream of a device, in the order in which the program asked for it.

    Attributes:
        kind: "kernel", "copy", "fill" (memset), "event" (recorded) or "wait" (of the stream for an event).
        name: of the kernel; of a copy "host to device" and the like; "memset"; "event 1" for events and waits.
        device: its number. stream: its number on the device, as hipStreamGetId gives it; 0 is the default stream.
        start_us, end_us: since the first activity of the profile started. An event has no length.
        bytes: copied or filled; else 0.
        launch: which launch of the run a kernel is; else None.
        waits_for: which activity recorded the event that a wait is for; None if that was before the profile.
        is_modelled: whether the times come from the model of a virtual device; else they were measured.
        graph: of what runs as part of a graph, which launch of one it is, counted from 1; else None. Branches of a
            graph have stream numbers of their own.
    """

    kind: str
    name: str
    device: int
    stream: int
    start_us: float
    end_us: float
    bytes: int = 0
    launch: int | None = None
    waits_for: int | None = None
    is_modelled: bool = True
    graph: int | None = None

    @property
    def us(self) -> float:
        """How long it took, in microseconds."""
        return self.end_us - self.start_us


@dataclass(frozen=True)
class Launch:
    """One kernel launch. `time_us` is its time on the device: computed by a model where the device is virtual
    (docs/timing.md), and then the same in every run; measured by events where it is real. `time_is_modelled` says
    which, and whoever shows the time has to say it too; `time` tells what a modelled one is made of. `host_us` is what
    it took here, in microseconds.

    `lines`, `instructions` and `accesses` (of memory) are there if the launch was profiled; like the counters of a
    profile, they are computed when somebody first looks at them. Of large launches only the
    memory accesses of some workgroups are looked at: `sampled` then holds how many of how many, and what depends on
    addresses was scaled up.
    """

    kernel: str
    arch: str
    device: int
    grid: tuple[int, int, int]  # in workgroups
    block: tuple[int, int, int]  # in threads
    lds_bytes: int
    waves: int
    counters: Counters
    lines: _Rows[LineCost] = _Rows()
    instructions: _Rows[InstructionCost] = _Rows()
    accesses: _Rows[AccessCost] = _Rows()
    sampled: tuple[int, int] | None = None
    timing: ModelledTime | Later[ModelledTime] | None = None  # read `time`
    measured_us: float = 0.0  # where there is no modelled time; read `time_us`
    time_is_modelled: bool = True
    host_us: float = 0.0
    printed: str = ""
    fault: Fault | None = None
    constants: Mapping[str, int] = field(default_factory=dict)  # of the device: CU_NUM, SIMD_NUM, SE_NUM, MAX_WAVE_SIZE
    metrics: Mapping[str, float] = field(default_factory=dict)  # what a real GPU's profiler computed itself
    placed: Placement | Later[Placement] | None = None  # read `placement`
    sources: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)  # text by file name

    @property
    def time(self) -> ModelledTime | None:
        """The modelled time with its parts; None where the time was measured."""
        return self.timing.get() if isinstance(self.timing, Later) else self.timing

    @property
    def placement(self) -> Placement | None:
        """Where and when its workgroups ran, by the model; None on a real device, and if it was not profiled."""
        return self.placed.get() if isinstance(self.placed, Later) else self.placed

    @property
    def time_us(self) -> float:
        """Microseconds on the device."""
        time = self.time
        return self.measured_us if time is None else time.us


@dataclass(frozen=True, slots=True)
class Transfer:
    """Bytes that went from host to device or back in a checked run, or that a kernel left in memory which both see.

    Attributes:
        direction: "host to device" or "device to host".
        bytes: how many. stored: of them, how many a kernel was the last to change.
        data: the bytes, in hexadecimal; "" where they are too many.
        kernels: a bit for each of them, whether a kernel was the last to change it, the lowest bit of a byte first; in
            hexadecimal.
    """

    direction: str
    bytes: int
    stored: int
    data: str = ""
    kernels: str = ""


@dataclass(frozen=True, slots=True)
class KernelResources:
    """What a compiled kernel takes of a compute unit: registers of a lane (VGPRs without AccVGPRs, AccVGPRs) and of a
    wave (SGPRs), static LDS of a workgroup in bytes; `cu_mode`: compiled with -mcumode (RDNA)."""

    kernel: str
    arch: str
    vgprs: int
    agprs: int
    sgprs: int
    lds_bytes: int
    cu_mode: bool = False


@dataclass(frozen=True, slots=True)
class FidelityNote:
    """How one kind of instruction of a kernel is executed on a virtual device.

    `statement` is the accuracy of an approximate one ("2 ulp (hardware: 1 ulp)"), what stands in for the hardware in a
    modelled one, and a remark or "" for an exact one. `count` is how often it stands in the code.
    """

    instruction: str  # mnemonic; of s_getreg_b32 with the register
    fidelity: str  # "exact", "approximate", "modelled"
    statement: str
    count: int
    where: tuple[SourceLine, ...] = ()  # each line once, in the order of the source


@dataclass(frozen=True, slots=True)
class Fidelity:
    """How exactly a virtual device executes a kernel: its instructions by kind."""

    kernel: str
    arch: str
    notes: tuple[FidelityNote, ...]

    def count(self, fidelity: str = "") -> int:
        """Instructions of the kernel's code: those of one fidelity, or all."""
        return sum(note.count for note in self.notes if fidelity in ("", note.fidelity))


@dataclass(frozen=True, slots=True)
class TraceAccess:
    """Memory that a step of a trace touched. `lanes`, `addresses` and `values` belong together, one entry each.

    Attributes:
        space: "global", "lds" or "scratch". action: "read", "write" or "atomic".
        bytes: of one lane.
        lanes: in the order in which they took part; empty for an access of the scalar unit, which is the whole wave's
            and has one address and value.
        addresses: of LDS from the workgroup's first byte on, of scratch from the lane's own first byte on.
        values: what was read; of a write or an atomic what is there after it. Unsigned integers of `bytes` bytes,
            little-endian.
    """

    space: str
    action: str
    bytes: int
    lanes: tuple[int, ...]
    addresses: tuple[int, ...]
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One executed instruction of one wave: the lanes it ran for, and what it changed.

    Registers that changed are given by name ("v3", "s5", "vcc", "exec", "scc"); a VGPR's value is
    a tuple of one unsigned 32-bit integer per lane, a scalar's a single integer.

    Attributes:
        instruction: index into Trace.instructions.
        exec_mask: EXEC while it ran; what the instruction itself makes of EXEC stands in `changes`.
        accesses: the memory it touched.
        lds: (offset, bytes) of each piece of LDS that was written since the wave's step before: by this step, or by
            other waves meanwhile.
    """

    instruction: int
    exec_mask: int
    changes: Mapping[str, int | tuple[int, ...]]
    accesses: tuple[TraceAccess, ...] = ()
    lds: tuple[tuple[int, bytes], ...] = ()


@dataclass(frozen=True, slots=True)
class TraceOperand:
    """An operand of a traced instruction.

    Attributes:
        text: as written: "v3", "-s[4:5]", "0x40"; "vcc" or "scc" also where the text does not name it.
        registers: its 32-bit registers by the names of TraceStep.changes, the lowest first; "vcc" and "exec" are whole.
        type: what its bits are: "f32", "i32", "u64", "f16" ...; "b1" is a mask of a bit per lane.
        written: a destination; else a source. What is read and written stands there twice.
        name: of a source in the row's formula ("a", "b"), or "".
    """

    text: str
    registers: tuple[str, ...]
    type: str = "u32"
    written: bool = False
    name: str = ""


@dataclass(frozen=True, slots=True)
class TraceInstruction:
    """One instruction of the traced kernel.

    Attributes:
        meaning: what it does, in a sentence, from the row that defines it.
        kind: "vector", "scalar", "memory", "cross-lane", "matrix", or of control "end", "branch", "cbranch", "barrier",
            "wait" ...
        label: names of the labels that stand before it.
        target: index of the instruction that it may jump to.
        by_lane: as of `InstructionCost`.
        raises: the wait counters that stay raised until its memory has answered: ("vmcnt",).
        any_order: what it requests may arrive before what the same counter was raised for earlier.
        allows: of a wait for memory, how many it lets stay in each counter that it names: (("vmcnt", 1),).
    """

    text: str
    where: SourceLine | None
    meaning: str = ""
    kind: str = ""
    operands: tuple[TraceOperand, ...] = ()
    label: str = ""
    target: int | None = None
    by_lane: bool = True
    raises: tuple[str, ...] = ()
    any_order: bool = False
    allows: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Trace:
    """The life of one wave, in execution order.

    Attributes:
        source: of the file that most instructions come from. files: all sources that there are, by file name.
        truncated: the trace ends before the wave does, for it has as many steps as a trace may have.
        start: registers before the first step that are not 0, named and valued as in TraceStep.changes.
        lds_bytes: LDS of the workgroup; it starts with zeros.
        fault: why the kernel was stopped, if this wave did it; the last step is the instruction that did.
        memory: allocations that accesses lie in.
    """

    kernel: str
    arch: str
    wave_size: int
    workgroup: tuple[int, int, int]
    wave: int
    instructions: tuple[TraceInstruction, ...]
    steps: tuple[TraceStep, ...]
    source: str = ""
    truncated: bool = False
    files: Mapping[str, str] = field(default_factory=dict)
    start: Mapping[str, int | tuple[int, ...]] = field(default_factory=dict)
    lds_bytes: int = 0
    fault: Fault | None = None
    memory: tuple[MemoryRange, ...] = ()


@dataclass(frozen=True, slots=True)
class InstructionEntry:
    """What gpulab knows of one instruction.

    Attributes:
        mnemonic: its name, without the suffix of an encoding.
        meaning: what it does, in words.
        formulas: each result by its sources; empty where there is no expression (loads, branches).
        sources, destinations: with their types; those that the text does not name are marked.
        accuracy: "exact", a bound such as "1 ulp (hardware: 1 ulp)", or "modelled: ...".
        rate: the class of its issue rate, or the unit that executes it.
        devices: the gfx names of those that have it under this name.
        aliases: other names with the same meaning, with the devices that have them.
        manual: the sections of AMD's manuals.
        file, line: where its row is defined, relative to the package.
    """

    mnemonic: str
    meaning: str
    formulas: tuple[str, ...]
    sources: tuple[str, ...]
    destinations: tuple[str, ...]
    accuracy: str
    rate: str
    devices: tuple[str, ...]
    aliases: Mapping[str, tuple[str, ...]]
    manual: str
    file: str
    line: int
