"""What a compile or a launch leaves behind: frozen records that pictures, grades and hints read.

A record knows nothing of devices or libraries. `Diagnostic` belongs to a compile; `Launch` to a
launch, and holds `Counters`, printed text and, if the kernel was stopped, a `Fault`; `Trace` is one
wave's life step by step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A place in the learner's source. `line` and `column` count from 1; column 0 is unknown."""

    file: str
    line: int
    column: int = 0
    text: str = ""


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
class Fault:
    """Why and where a kernel was stopped.

    `kind` is one of "out of bounds", "null", "misaligned", "freed", "lds out of bounds",
    "scratch out of bounds", "timeout", "trap", "barrier", "bad jump", "read-only".
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


@dataclass(frozen=True, slots=True)
class Counters(Mapping[str, int]):
    """Hardware counters by the device's own names, e.g. ``counters["SQ_INSTS_VALU"]``."""

    counts: Mapping[str, int] = field(default_factory=dict)

    def __getitem__(self, name: str) -> int:
        if name not in self.counts:
            raise KeyError(f"no counter {name!r} here; there are {', '.join(self.counts) or 'none'}")
        return self.counts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.counts)

    def __len__(self) -> int:
        return len(self.counts)


@dataclass(frozen=True, slots=True)
class LineCost:
    """What one source line cost in a launch: wave instructions executed and the lanes active in them."""

    where: SourceLine
    instructions: int
    active_lanes: int


@dataclass(frozen=True, slots=True)
class Launch:
    """One kernel launch. `time_us` is the modelled device time where the device is virtual,
    else measured; `host_us` is what it took here, in microseconds."""

    kernel: str
    arch: str
    device: int
    grid: tuple[int, int, int]  # in workgroups
    block: tuple[int, int, int]  # in threads
    lds_bytes: int
    waves: int
    counters: Counters
    lines: tuple[LineCost, ...] = ()
    time_us: float = 0.0
    time_is_modelled: bool = True
    host_us: float = 0.0
    printed: str = ""
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One executed instruction of one wave: the lanes it ran for, and what it changed.

    Registers that changed are given by name ("v3", "s5", "vcc", "exec", "scc"); a VGPR's value is
    a tuple of one unsigned 32-bit integer per lane, a scalar's a single integer.
    """

    instruction: int  # index into Trace.instructions
    exec_mask: int  # EXEC while it ran; what the instruction itself makes of EXEC stands in changes
    changes: Mapping[str, int | tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class TraceInstruction:
    """One instruction of the traced kernel."""

    text: str
    where: SourceLine | None
    meaning: str = ""  # one sentence from the row that defines it


@dataclass(frozen=True, slots=True)
class Trace:
    """The life of one wave, in execution order."""

    kernel: str
    arch: str
    wave_size: int
    workgroup: tuple[int, int, int]
    wave: int
    instructions: tuple[TraceInstruction, ...]
    steps: tuple[TraceStep, ...]
    source: str = ""
    truncated: bool = False
