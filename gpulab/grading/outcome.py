"""What a kernel left after one case, and the questions that diagnoses ask about it.

Each case runs twice: *tight*, where every array is an allocation of exactly its size, so that the virtual GPU
stops a kernel at its first bad address; and *guarded*, where each array lies between guard elements, so that
all writes beside it can be listed. `Run` is one of the two; `Outcome` is both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from gpulab.grading.exercise import Array, Case, sentinel
from gpulab.records import Fault, Launch

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np


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
    """One launch: contents of every buffer afterwards (guards included), the fault if any, the record if any."""

    after: Mapping[str, np.ndarray]
    fault: Fault | None = None
    launch: Launch | None = None
    addresses: Mapping[str, int] | None = None


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
        return tuple(int(index) for index in changed if not 0 <= index < array.data.size)

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
        relative = array.relative
        if not differs(predicted, array).any():
            return False
        return not differs(self.found(name), Array(name, array.data, predicted, relative)).any()

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
    """True where `found` is not `array.wanted` within `array.relative`."""
    import numpy as np

    wanted = array.wanted
    if array.relative == 0.0 or found.dtype.kind not in "fc":
        return ~same_bits(found, np.asarray(wanted, dtype=found.dtype)) & ~(found == wanted)
    with np.errstate(invalid="ignore", over="ignore"):
        close = np.abs(found.astype("float64") - wanted.astype("float64")) <= array.relative * np.abs(
            wanted.astype("float64")
        )
    return ~(close | (np.isnan(found) & np.isnan(wanted)))
