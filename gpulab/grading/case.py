"""The prepared cases of an exercise: plain data, without a function in it, that can be sent to another process.

`Case` is one launch, or several (`Step`), with its arguments (`Array`, `Value`) and the values that are expected after
it; `Asked` says which kernels a source must have (`Prototype`). A bench puts each array into memory as a `Buffer`, and
gives back a `Run`: what memory holds afterwards, the fault if there was one, and the records of the launches. Below
stand the functions that make data for cases and compare what was found with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gpulab.errors import CheckError
from gpulab.records import Access, Fault, LastWriters, Launch, SourceLine

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
        secret: what is expected are the answers to questions: neither a picture nor a report tells them.
    """

    name: str
    data: np.ndarray
    expected: np.ndarray | None = None
    relative: float = 0.0
    absolute: float = 0.0
    scratch: bool = False
    secret: bool = False

    @property
    def is_output(self) -> bool:
        return self.expected is not None

    @property
    def wanted(self) -> np.ndarray:
        """What must be there after the launch."""
        return self.data if self.expected is None else self.expected

    @property
    def is_given(self) -> bool:
        """Does a launch find something in it that it needs: not only what marks elements that were never written?"""
        marks = sentinel(str(self.data.dtype), self.data.size)
        return not self.scratch and not same_bits(self.data.reshape(-1), marks).all()

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
        weak: under so many seeds the launches are run on weak memory, too (`gpulab.weak`).
    """

    parameters: Parameters
    grid: Shape3 = (0, 0, 0)
    block: Shape3 = (0, 0, 0)
    arguments: tuple[Value | Array, ...] = ()
    lds: int = 0
    cooperative: bool = False
    steps: tuple[Step, ...] = ()
    weak: int = 0

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

    def argument(self, name: str) -> Array | Value:
        """The argument with this name. Raises CheckError if there is none, or more than one."""
        found = [argument for argument in self.arguments if argument.name == name]
        if len(found) != 1:
            raise CheckError(f"A step of {self.text()} passes {name!r}, which is no argument of its case.")
        return found[0]

    def array(self, name: str) -> Array:
        return next(array for array in self.arrays if array.name == name)

    def value(self, name: str) -> Any:
        return next(
            argument.value for argument in self.arguments if argument.name == name and isinstance(argument, Value)
        )

    def text(self) -> str:
        """For example ``n = 5, grid (2, 1, 1), block (4, 1, 1)``, without what is 1."""
        named = ", ".join(f"{name} = {value}" for name, value in self.parameters.items() if name not in UNSAID)
        named += "; " if named else ""
        if self.steps:
            return named + ", then ".join(f"{step.kernel}: {_extents(step)}" for step in self.steps)
        return f"{named}grid of {_extents(self.launches('')[0])}"


@dataclass(frozen=True)
class Prototype:
    """A kernel that a source must have.

    Args:
        kernel: its name.
        parameters: its parameters as text, for messages.
        passed: what launches pass to it, each as (is it an array?, numpy's name of the type), in the kernel's order;
            one tuple for each way in which the cases launch it.
        heading: how a kernel begins in the language, with {kernel} and {parameters} in it.
    """

    kernel: str
    parameters: str
    passed: tuple[tuple[tuple[bool, str], ...], ...]
    heading: str = "__global__ void {kernel}({parameters})"

    @property
    def start(self) -> str:
        """How it should start."""
        return self.heading.format(kernel=self.kernel, parameters=self.parameters)


@dataclass(frozen=True)
class Asked:
    """What a bench must know of an exercise to prepare a source: its id, its kernel, all kernels by name, the language,
    and the instances of kernels that are to be compiled (`gpulab.compile`'s name_expressions)."""

    exercise: str
    kernel: str
    kernels: Mapping[str, Prototype]
    language: str = "hip"
    expressions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Buffer:
    """An array as it is put into device memory: `guard` guard elements on either side of `array.data`.

    The guards of each array of a case differ (`number` counts them), so that a copy from guard to guard is seen.
    """

    array: Array
    guard: int
    number: int = 0

    @cached_property
    def contents(self) -> np.ndarray:
        import numpy as np

        edge = guard_values(str(self.array.data.dtype), self.guard, self.number)
        return np.concatenate([edge, self.array.data.reshape(-1), edge])


@dataclass(frozen=True)
class Run:
    """One run of a case: every buffer's contents afterwards (guards included), the fault if any, the launches' records.

    `writers` is there if it was asked for: by array and flat index who was the last to change that element.
    """

    after: Mapping[str, np.ndarray]
    fault: Fault | None = None
    launches: tuple[Launch, ...] = ()
    addresses: Mapping[str, int] | None = None
    writers: Writers = field(default_factory=lambda: Writers.of(()))


class Writers(Mapping[tuple[str, int], Access]):
    """By array and flat index who was the last to change that element: a table, of which a dictionary is made when it
    is read as one.

    Args:
        places: array, source line, instruction and kind of access, each combination once.
        rows: int64, (elements, 10): number of the place, flat index, then as `LastWriters` has them.
    """

    COLUMNS = LastWriters.COLUMNS + 1

    def __init__(self, places: Sequence[tuple[str, SourceLine | None, str, str]], rows: np.ndarray) -> None:
        self.places, self.rows = tuple(places), rows

    @classmethod
    def of(cls, found: Iterable[tuple[str, range, LastWriters]]) -> Writers:
        """Of the last writers of ranges of arrays, elements that nobody changed left out."""
        import numpy as np

        places: list[tuple[str, SourceLine | None, str, str]] = []
        tables = [np.empty((0, cls.COLUMNS), np.int64)]
        for name, run, writers in found:
            table = np.insert(writers.rows, 1, np.arange(run.start, run.stop), axis=1)[writers.rows[:, 0] >= 0]
            table[:, 0] += len(places)
            places += [(name, *place) for place in writers.places]
            tables.append(table)
        return cls(places, np.concatenate(tables))

    def busiest(self) -> tuple[Shape3, Shape3, int] | None:
        """Block and thread of who was the last to change the most elements, the one met first of several, and how many
        they are. None: no thread has changed any."""
        import numpy as np

        threads = np.ascontiguousarray(self.rows[self.rows[:, 6] >= 0][:, [2, 3, 4, 7, 8, 9]])
        if not threads.size:
            return None
        _, first, counts = np.unique(threads, axis=0, return_index=True, return_counts=True)
        most = counts.max()
        a, b, c, x, y, z = threads[first[counts == most].min()].tolist()
        return (a, b, c), (x, y, z), int(most)

    @cached_property
    def _all(self) -> dict[tuple[str, int], Access]:
        names = [place[0] for place in self.places]
        writers = LastWriters([place[1:] for place in self.places], self.rows[:, [0, *range(2, self.COLUMNS)]])
        keys = zip(self.rows[:, 0].tolist(), self.rows[:, 1].tolist(), strict=True)
        return {(names[place], index): one for (place, index), one in zip(keys, writers, strict=True) if one}

    def __getitem__(self, key: tuple[str, int]) -> Access:
        return self._all[key]

    def __iter__(self) -> Iterator[tuple[str, int]]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def __bool__(self) -> bool:
        return len(self.rows) > 0


# ----------------------------------------------------------------------------------------------------- making data


def sentinel(dtype: str, count: int | Sequence[int]) -> np.ndarray:
    """What an output holds before the launch: a value that no kernel of the course computes."""
    import numpy as np

    pattern = {1: 0xA5, 2: 0xDEAD, 4: 0xDEADBEEF, 8: 0xDEADBEEFDEADBEEF}
    size = np.dtype(dtype).itemsize
    return np.full(count, pattern[size], dtype=f"uint{8 * size}").view(dtype)


MANY = 100
"""Elements from which on inputs need not be easy to read in a picture."""


def distinct(
    random: np.random.Generator, shape: int | Sequence[int], dtype: str = "float32", whole: bool = False
) -> np.ndarray:
    """Shuffled numbers, no two alike, none zero: 1 ... count. Of many floats, unless `whole`, the eighths from 512 1/8
    on, which neither an int nor a half can hold. Sums are exact in float32 up to 2**24, or 2**21 with eighths."""
    import numpy as np

    count = int(np.prod(shape))
    numbers = random.permutation(np.arange(1, count + 1)).astype(dtype).reshape(shape)
    return numbers if whole or count < MANY or numbers.dtype.kind != "f" else (numbers + 4096) / numbers.dtype.type(8)


def blocks_for(count: int, block: int) -> int:
    """How many blocks of `block` threads cover `count` elements; at least 1, as a launch needs one."""
    return max(1, -(-count // block))


def combinations(**choices: Iterable[int]) -> tuple[dict[str, int], ...]:
    """All combinations of the choices, in the order given; the last choice changes fastest."""
    from itertools import product

    values = product(*(tuple(values) for values in choices.values()))
    return tuple(dict(zip(choices, row, strict=True)) for row in values)


def guard_values(dtype: str, count: int, number: int) -> np.ndarray:
    """What the guard elements of a case's array `number` hold: no output's sentinel, no other array's guard."""
    edge = sentinel(dtype, count)
    bits = edge.view(f"uint{8 * edge.dtype.itemsize}")
    bits ^= bits.dtype.type(number + 1)
    return edge


Elements = Sequence[tuple[str, int]]
"""Elements of arrays: name and flat index of each."""


def same_place(case: Case, name: str, index: int) -> Elements:
    """The input elements with the index of an element of array `name`, of arrays that have its shape."""
    shape = case.array(name).data.shape
    return [(array.name, index) for array in case.arrays if array.is_given and array.data.shape == shape]


def no_inputs(case: Case, name: str, index: int) -> Elements:
    """For exercises where a value comes from very many inputs, or from some that depend on other values."""
    return ()


def thread_of(case: Case, index: int) -> tuple[Shape3, Shape3] | None:
    """Block and thread with global index `index` in a one-dimensional grid; None if there is none."""
    if case.grid[1:] != (1, 1) or case.block[1:] != (1, 1) or not 0 <= index < case.threads:
        return None
    return (index // case.block[0], 0, 0), (index % case.block[0], 0, 0)


# -------------------------------------------------------------------------------------------------- comparing data


def same_bits(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Elementwise equality of the bit patterns (so that NaN equals the same NaN)."""
    import numpy as np

    kind = f"uint{8 * first.dtype.itemsize}"
    return np.ascontiguousarray(first).view(kind) == np.ascontiguousarray(second).view(kind)


def differs(found: np.ndarray, array: Array) -> np.ndarray:
    """True where `found` is not `array.wanted` within `array.relative` or `array.absolute`; nowhere in a workspace."""
    import numpy as np

    if array.scratch:
        return np.zeros(found.shape, bool)
    wanted = array.wanted
    if (array.relative == 0.0 and array.absolute == 0.0) or found.dtype.kind not in "fc":
        return ~same_bits(found, np.asarray(wanted, dtype=found.dtype)) & ~(found == wanted)
    with np.errstate(invalid="ignore", over="ignore"):
        kind = "complex128" if found.dtype.kind == "c" else "float64"
        exact = wanted.astype(kind)
        close = np.abs(found.astype(kind) - exact) <= np.maximum(array.relative * np.abs(exact), array.absolute)
    close = np.where(np.isfinite(exact), close, found == wanted)  # nothing is near to infinity
    return ~(close | (np.isnan(found) & np.isnan(wanted)))


def _extents(step: Step) -> str:
    blocks, threads = (f"{_shape(shape)} {noun}{'' if shape == (1, 1, 1) else 's'}" for shape, noun in
                       ((step.grid, "block"), (step.block, "thread")))  # fmt: skip
    return f"{blocks}, {threads} each"


def _shape(shape: Shape3) -> str:
    used = [str(extent) for extent in shape]
    while len(used) > 1 and used[-1] == "1":
        used.pop()
    return " x ".join(used)
