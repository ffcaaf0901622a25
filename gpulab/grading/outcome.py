"""What a kernel left after one case, and the questions that diagnoses ask about it.

Each case runs twice: *tight*, where every array is an allocation of exactly its size, so that the virtual GPU
stops a kernel at its first bad address; and *guarded*, where each array lies between guard elements, so that
all writes beside it can be listed. `Run` is one of the two; `Outcome` is both. What requirements measure comes from
a third run, tight and profiled, which happens when the first of them asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from gpulab.errors import CheckError
from gpulab.grading.exercise import Array, Case, sentinel
from gpulab.records import Access, Fault, Launch

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from gpulab.grading.bench import Prepared
    from gpulab.module import Resources


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
    writers: Mapping[tuple[str, int], Access] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """One case on one architecture."""

    case: Case
    arch: str
    wave_size: int
    tight: Run
    guarded: Run
    guard: int
    source: str = ""
    profile: Callable[[], Run] | None = field(default=None, compare=False, repr=False)
    prepared: Prepared | None = field(default=None, compare=False, repr=False)

    @cached_property
    def measured(self) -> tuple[Launch, ...]:
        """The records of a profiled run, one for each launch of the case; found when first asked for.

        Raises CheckError where there is nothing that could be profiled.
        """
        if self.profile is None:
            raise CheckError(f"There is no profile of {self.case.text()} on {self.arch}.")
        return self.profile().launches

    @property
    def resources(self) -> Mapping[str, Resources]:
        """What each kernel takes of the device, by its name."""
        return {} if self.prepared is None else self.prepared.resources

    @property
    def isa(self) -> Mapping[str, tuple[str, ...]]:
        """The instructions of each kernel as text, by its name."""
        return {} if self.prepared is None else self.prepared.isa

    # -- was it right? -------------------------------------------------------------------------------------
    @property
    def fault(self) -> Fault | None:
        """The fault of the tight run, else of the guarded one."""
        return self.tight.fault or self.guarded.fault

    @property
    def passed(self) -> bool:
        return self.fault is None and not any(
            self.wrong(array.name).any() or self.outside(array.name) for array in self.case.arrays
        )

    # -- what is in memory? --------------------------------------------------------------------------------
    def found(self, name: str) -> np.ndarray:
        """The array after the guarded run, in its own shape."""
        array = self.case.array(name)
        whole = self.guarded.after[name]
        return whole[self.guard : self.guard + array.data.size].reshape(array.data.shape)

    def wrong(self, name: str) -> np.ndarray:
        """True where the array is not what was wanted (in the guarded or the tight run)."""
        array = self.case.array(name)
        wrong = differs(self.found(name), array)
        if self.fault is None:
            wrong = wrong | differs(self.tight.after[name].reshape(array.data.shape), array)
        return wrong

    def untouched(self, name: str) -> np.ndarray:
        """True where the array still holds, bit for bit, what it held before the launch."""
        return same_bits(self.found(name), self.case.array(name).data)

    def wrong_indices(self, name: str) -> tuple[int, ...]:
        """Flat indices of the wrong elements."""
        import numpy as np

        return tuple(int(index) for index in np.flatnonzero(self.wrong(name)))

    def unwritten_indices(self, name: str) -> tuple[int, ...]:
        """Flat indices of the elements that are wrong and were never written."""
        import numpy as np

        return tuple(int(index) for index in np.flatnonzero(self.wrong(name) & self.untouched(name)))

    def outside(self, name: str) -> tuple[int, ...]:
        """Indices of elements beside the array that were written: negative before it, >= its size after it."""
        import numpy as np

        array = self.case.array(name)
        number = [each.name for each in self.case.arrays].index(name)
        before = guard_values(str(array.data.dtype), len(self.guarded.after[name]), number)
        changed = np.flatnonzero(~same_bits(self.guarded.after[name], before)) - self.guard
        beside = changed[(changed < 0) | (changed >= array.data.size)]
        return tuple(int(index) for index in beside)

    # -- questions for diagnoses ---------------------------------------------------------------------------
    def nothing_written(self) -> bool:
        """No output element changed and nothing beside the outputs either, where three elements or more should have."""
        return any(array.data.size > 2 for array in self.case.outputs) and all(
            bool(self.untouched(array.name).all()) and not self.outside(array.name) for array in self.case.outputs
        )

    def looks_like(self, name: str, prediction: Callable[[Case], np.ndarray]) -> bool:
        """Is the whole array what the mistake `prediction` would leave there (and not the right result)?"""
        import numpy as np

        array = self.case.array(name)
        predicted = np.asarray(prediction(self.case), dtype=array.data.dtype).reshape(array.data.shape)
        if not differs(predicted, array).any():
            return False
        return not differs(self.found(name), replace(array, expected=predicted)).any()

    def written_past(self, name: str) -> tuple[int, ...]:
        """Indices at or after the end of the array that were written."""
        return tuple(index for index in self.outside(name) if index >= 0)

    def written_before(self, name: str) -> tuple[int, ...]:
        """Negative indices that were written."""
        return tuple(index for index in self.outside(name) if index < 0)

    def faulting_index(self) -> tuple[str, int] | None:
        """Array and element index of the bad address of the tight run, where it can be told."""
        fault, addresses = self.tight.fault, self.tight.addresses or {}
        address = None if fault is None else fault.address
        arrays = [array for array in self.case.arrays if addresses.get(array.name)]
        if fault is None or address is None or not arrays:
            return None

        def distance(array: Array) -> int:
            start = addresses[array.name]
            return max(start - address, address - (start + array.data.nbytes) + 1, 0)

        if fault.nearest is not None:
            nearest = fault.nearest.address
            arrays = [array for array in arrays if addresses[array.name] == nearest] or arrays
        array = min(arrays, key=distance)
        if distance(array) > max(array.data.nbytes, 1 << 20):
            return None
        return array.name, (address - addresses[array.name]) // array.data.itemsize

    def read_outside(self) -> tuple[str, int] | None:
        """Array and index of a bad *read*, else None."""
        fault = self.tight.fault
        return self.faulting_index() if fault is not None and fault.access == "read" else None

    def null_access(self) -> bool:
        """Did a lane use the null pointer (what an array of no elements is)?"""
        return self.fault is not None and self.fault.kind == "null"

    def timed_out(self) -> bool:
        return any(run.fault is not None and run.fault.kind == "timeout" for run in (self.tight, self.guarded))


def guard_values(dtype: str, count: int, number: int) -> np.ndarray:
    """What the guard elements of a case's array `number` hold: no output's sentinel, no other array's guard."""
    edge = sentinel(dtype, count)
    bits = edge.view(f"uint{8 * edge.dtype.itemsize}")
    bits ^= bits.dtype.type(number + 1)
    return edge


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
    return ~(close | (np.isnan(found) & np.isnan(wanted)))
