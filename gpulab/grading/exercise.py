"""What an exercise is: its kernels' signatures, how inputs are made, what is expected, and known mistakes.

`Exercise` is data plus small functions. `Case` is one launch, or several (`Step`), with its arguments (`Array`,
`Value`) and the values that are expected after it. `Cause` is a known mistake with a test that recognises it in an
`outcome.Outcome`. `Requirement` is something asked beyond right output (a counter's limit, a structure);
`requirements.py` makes the usual ones. `program.py` has exercises whose answer is a whole program.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gpulab.errors import CheckError

if TYPE_CHECKING:
    import numpy as np


Shape3 = tuple[int, int, int]
Parameters = Mapping[str, int]

UNSAID = ("block", "wave")
"""Parameters that reports name in other words: the threads of a block, and the architecture."""


@dataclass(frozen=True)
class Value:
    """A scalar argument. `value` is a numpy scalar (numpy.int32(5)), so its type is known."""

    name: str
    value: Any


@dataclass(frozen=True)
class Array:
    """An array argument in device memory.

    Args:
        name: as in the kernel's signature.
        data: the contents before the launch.
        expected: the contents after it; None means that the kernel must not change it.
        relative: allowed relative error, 0 for exact equality.
        absolute: allowed absolute error, for sums that may come out near zero.
        scratch: the kernels may write it freely; what it holds in the end is not judged.
    """

    name: str
    data: np.ndarray
    expected: np.ndarray | None = None
    relative: float = 0.0
    absolute: float = 0.0
    scratch: bool = False

    @property
    def is_output(self) -> bool:
        return self.expected is not None

    @property
    def wanted(self) -> np.ndarray:
        """What must be there after the launch."""
        return self.data if self.expected is None else self.expected

    def index_text(self, flat: int) -> str:
        """How a person names the element with this flat index; also for indices outside the array."""
        if self.data.ndim == 2 and 0 <= flat < self.data.size:
            columns = self.data.shape[1]
            return f"{self.name}[{flat}] (row {flat // columns}, column {flat % columns})"
        return f"{self.name}[{flat}]"


@dataclass(frozen=True)
class Step:
    """One of several launches of a case.

    Args:
        kernel: its name.
        grid: blocks in x, y, z.
        block: threads of a block in x, y, z.
        arguments: names of the case's arguments, in the order of the kernel's parameters.
        lds: bytes of dynamic LDS.
        cooperative: launched by hipModuleLaunchCooperativeKernel, so that the whole grid may wait for itself.
    """

    kernel: str
    grid: Shape3
    block: Shape3
    arguments: tuple[str, ...]
    lds: int = 0
    cooperative: bool = False

    @property
    def threads(self) -> int:
        """Threads of the whole grid."""
        total = 1
        for blocks, threads in zip(self.grid, self.block, strict=True):
            total *= blocks * threads
        return total


@dataclass(frozen=True)
class Case:
    """What is launched under test. `grid` counts blocks, `block` counts threads, both x, y, z.

    Args:
        parameters: what the case was made from.
        grid: of the one launch; with `steps`, left out.
        block: of the one launch; with `steps`, left out.
        arguments: in the order of the kernel's parameters; with `steps`, those of all kernels together.
        lds: bytes of dynamic LDS of the one launch.
        cooperative: as in `Step`, of the one launch.
        steps: several launches one after the other, on the same arrays.
    """

    parameters: Parameters
    grid: Shape3 = (0, 0, 0)
    block: Shape3 = (0, 0, 0)
    arguments: tuple[Value | Array, ...] = ()
    lds: int = 0
    cooperative: bool = False
    steps: tuple[Step, ...] = ()

    def __post_init__(self) -> None:
        if self.steps:
            largest = max(self.steps, key=lambda step: step.threads)
            object.__setattr__(self, "grid", largest.grid)
            object.__setattr__(self, "block", largest.block)

    def launches(self, kernel: str) -> tuple[Step, ...]:
        """The launches: `steps`, or the one launch of `kernel`."""
        if self.steps:
            return self.steps
        names = tuple(argument.name for argument in self.arguments)
        return (Step(kernel, self.grid, self.block, names, self.lds, self.cooperative),)

    @property
    def arrays(self) -> tuple[Array, ...]:
        return tuple(argument for argument in self.arguments if isinstance(argument, Array))

    @property
    def outputs(self) -> tuple[Array, ...]:
        return tuple(array for array in self.arrays if array.is_output)

    @property
    def threads(self) -> int:
        """Threads in the whole grid; with `steps`, of the largest."""
        return Step("", self.grid, self.block, ()).threads

    def array(self, name: str) -> Array:
        return next(array for array in self.arrays if array.name == name)

    def value(self, name: str) -> Any:
        return next(
            argument.value for argument in self.arguments if argument.name == name and isinstance(argument, Value)
        )

    def text(self) -> str:
        """For example ``n = 5, grid (2, 1, 1), block (4, 1, 1)``, without what is 1."""
        named = ", ".join(f"{name} = {value}" for name, value in self.parameters.items() if name not in UNSAID)
        if self.steps:
            return f"{named}; " + ", then ".join(f"{step.kernel}: {_extents(step)}" for step in self.steps)
        return f"{named}; grid of {_extents(self.launches('')[0])}"


@dataclass(frozen=True)
class Cause:
    """A known mistake.

    Args:
        name: short and stable ("missing-guard"); wrong answers in the course refer to it.
        title: what went wrong, one clause, shown as "Likely cause".
        when: recognises the mistake in what a failing launch left (an `outcome.Outcome`) or a failing run of a program
            (a `program.ProgramOutcome`).
        why: one or two sentences that explain it.
        next_step: what to look at, without giving the answer away.
    """

    name: str
    title: str
    when: Callable[[Any], bool]
    why: str
    next_step: str


@dataclass(frozen=True)
class Requirement:
    """Something asked of a right answer beyond its output, for example a counter's limit.

    Args:
        name: short and stable ("bank-conflicts"); wrong answers in the course refer to it.
        title: what is asked, one clause with the limit.
        complaint: returns "" or what is wrong, with the measured value and the limit.
        next_step: what to look at, without giving the answer away.
        when: the cases that it applies to; all without it.
        archs: the architectures that it applies to; all if empty.
        shrinks: whether a smaller input that misses it as well says more (a time on a small input says nothing).
        of_speed: a launch that reaches the instruction limit, where right answers were found before, misses it.
    """

    name: str
    title: str
    complaint: Callable[[Any], str]
    next_step: str = ""
    when: Callable[[Any], bool] | None = None
    archs: tuple[str, ...] = ()
    shrinks: bool = True
    of_speed: bool = False

    def applies(self, outcome: Any) -> bool:
        """Is this outcome to be judged by it?"""
        return (not self.archs or outcome.arch in self.archs) and (self.when is None or self.when(outcome.case))


@dataclass(frozen=True)
class Exercise:
    """One exercise.

    Args:
        id: name of its folder below course/exercises, in lower case with hyphens.
        title: as shown to learners.
        lesson: stem of the lesson it belongs to ("02_simt").
        section: heading in that lesson to read when stuck.
        kernel: the kernel's name; of several, the one that the exercise is about.
        signature: its parameters as C++ text, for messages.
        signatures: where a case launches several kernels: the parameters of each by its name (then no `signature`).
        minutes: how long it takes, roughly.
        make: builds a case from parameters and a random generator that is seeded from them.
        cases: parameters to try, in this order; first those that tell mistakes apart (failing ones are shrunk anyway).
        causes: known mistakes, most specific first.
        hints: three steps, each tells more.
        smallest: the smallest sensible value of each parameter; failing cases are shrunk down to it.
        owner: (case, flat index of an output element) -> the block and thread that should write it.
        requirements: beyond output.
        archs: architectures on which every case runs.
        instruction_limit: instructions of one wave after which a launch is stopped; a function of the case where some
            cases are much larger than others.
        by_wave: `make` finds the wave size of the device as parameters["wave"], for results that depend on it.
        fixed_sizes: why the kernel need not be right for every size, 0 and 1 included ("n is a multiple of 16"); the
            text of the exercise says so too.
        shown: parameters of the case that the picture shows; by default the smallest of `cases` that has something to
            show.
    """

    id: str
    title: str
    lesson: str
    section: str
    kernel: str
    make: Callable[[Parameters, np.random.Generator], Case]
    cases: tuple[Parameters, ...]
    causes: tuple[Cause, ...]
    hints: tuple[str, str, str]
    smallest: Parameters
    minutes: int = 10
    owner: Callable[[Case, int], tuple[Shape3, Shape3] | None] = field(
        default=lambda case, index: thread_of(case, index)
    )
    requirements: tuple[Requirement, ...] = ()
    archs: tuple[str, ...] = ("gfx942", "gfx1100")
    instruction_limit: int | Callable[[Case], int] = 2_000_000
    by_wave: bool = False
    fixed_sizes: str = ""
    shown: Parameters | None = None
    signature: str = ""
    signatures: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        complaints = []
        if bool(self.signature) == bool(self.signatures):
            complaints.append("it needs either a signature or signatures")
        if self.signatures and self.kernel not in self.signatures:
            complaints.append(f"its kernel {self.kernel} is not among its signatures")
        complaints += complaints_of(self)
        if complaints:
            raise CheckError(f"Exercise {self.id!r} is not well formed: {'; '.join(complaints)}.")

    @property
    def kernels(self) -> Mapping[str, str]:
        """The parameters of each kernel that is launched, by its name, as C++ text."""
        return self.signatures or {self.kernel: self.signature}

    def limit(self, case: Case) -> int:
        """The instructions after which a launch of this case is stopped."""
        return self.instruction_limit(case) if callable(self.instruction_limit) else self.instruction_limit

    def case(self, parameters: Parameters, wave_size: int = 0) -> Case:
        """The case with these parameters: always the same data for the same parameters.

        With `by_wave` it is made for waves of `wave_size` lanes (0: as the parameters say, or 64).
        """
        import zlib

        import numpy as np

        plain = {name: value for name, value in parameters.items() if name != "wave"}
        seed = [zlib.crc32(self.id.encode()), *(int(value) for value in plain.values())]
        if self.by_wave:
            plain["wave"] = wave_size or parameters.get("wave", 64)
        return self.make(plain, np.random.default_rng(seed))


def complaints_of(exercise: Any) -> list[str]:
    """What is wrong with an exercise of either kind, as far as both have it."""
    complaints = []
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", exercise.id):
        complaints.append("its id must be lower case words joined by hyphens")
    if len(exercise.hints) != 3 or not all(hint.strip() for hint in exercise.hints):
        complaints.append("it needs three hints")
    if not exercise.cases:
        complaints.append("it has no cases")
    names = [cause.name for cause in exercise.causes] + [asked.name for asked in exercise.requirements]
    if len(set(names)) != len(names):
        complaints.append("two causes or requirements have the same name")
    return complaints


def thread_of(case: Case, index: int) -> tuple[Shape3, Shape3] | None:
    """Block and thread with global index `index` in a one-dimensional grid; None if there is none."""
    if case.grid[1:] != (1, 1) or case.block[1:] != (1, 1) or not 0 <= index < case.threads:
        return None
    return (index // case.block[0], 0, 0), (index % case.block[0], 0, 0)


def sentinel(dtype: str, count: int | Sequence[int]) -> np.ndarray:
    """What an output holds before the launch: a value that no kernel of the course computes."""
    import numpy as np

    pattern = {1: 0xA5, 2: 0xDEAD, 4: 0xDEADBEEF, 8: 0xDEADBEEFDEADBEEF}
    size = np.dtype(dtype).itemsize
    return np.full(count, pattern[size], dtype=f"uint{8 * size}").view(dtype)


def distinct(random: np.random.Generator, shape: int | Sequence[int], dtype: str = "float32") -> np.ndarray:
    """Shuffled whole numbers 1 ... count: no two alike, none zero, exact in float32 below 2**24."""
    import numpy as np

    count = int(np.prod(shape))
    return random.permutation(np.arange(1, count + 1)).astype(dtype).reshape(shape)


def blocks_for(count: int, block: int) -> int:
    """How many blocks of `block` threads cover `count` elements; at least 1, as a launch needs one."""
    return max(1, -(-count // block))


def combinations(**choices: Iterable[int]) -> tuple[dict[str, int], ...]:
    """All combinations of the choices, in the order given; the last choice changes fastest."""
    from itertools import product

    values = product(*(tuple(values) for values in choices.values()))
    return tuple(dict(zip(choices, row, strict=True)) for row in values)


def _extents(step: Step) -> str:
    return f"{_shape(step.grid)} block{_s(step.grid)}, {_shape(step.block)} thread{_s(step.block)} each"


def _shape(shape: Shape3) -> str:
    used = [str(extent) for extent in shape]
    while len(used) > 1 and used[-1] == "1":
        used.pop()
    return " x ".join(used)


def _s(shape: Shape3) -> str:
    return "" if shape == (1, 1, 1) else "s"
