"""What the values alone tell: how the wrong elements of the outputs differ from the right ones.

`holds(test)` makes a cause's `when` of a test of two arrays (`Values`): what was found, and what was wanted. It answers
only where the launch came to its end, wrote every wrong element, and wrote nothing beside its outputs: then a pattern
of many elements is no accident. `combination` finds the numbers with which inputs were added up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpulab.grading.case import Array
from gpulab.grading.outcome import Outcome

if TYPE_CHECKING:
    import numpy as np

ENOUGH = 4
"""Wrong elements without which nothing is called a pattern."""


DIFFERENT = 3
"""Different values that are wanted, without which a difference or a factor says nothing."""

MOST_COMPARED = 4096
"""Elements that are looked for at other places."""


@dataclass(frozen=True)
class Values:
    """One output: `found` and `wanted`, flat and of the same type, and `wrong`, which is True where they differ."""

    outcome: Outcome
    array: Array
    found: np.ndarray
    wanted: np.ndarray
    wrong: np.ndarray

    def same(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Where two arrays of numbers are equal, within the error that the exercise allows."""
        import numpy as np

        if self.found.dtype.kind != "f":
            return np.asarray(first == second)
        relative = max(self.array.relative, 1e-6)
        with np.errstate(invalid="ignore", over="ignore"):
            size = np.maximum(np.abs(first), np.abs(second))
            return np.abs(first - second) <= np.maximum(relative * size, self.array.absolute)


def holds(test: Callable[[Values], bool], at_least: int = ENOUGH) -> Callable[[Outcome], bool]:
    """Does the test hold for each output with wrong elements, and is one of them wrong in so many?"""

    def when(outcome: Outcome) -> bool:
        seen = values(outcome)
        return bool(seen) and max(int(each.wrong.sum()) for each in seen) >= at_least and all(map(test, seen))

    return when


def values(outcome: Outcome) -> list[Values]:
    """The outputs with wrong elements; none where a fault explains more, or an element left out or beside them."""
    import numpy as np

    if outcome.fault is not None or any(outcome.outside(array.name) for array in outcome.case.arrays):
        return []
    seen = []
    for array in outcome.case.arrays:
        wrong = outcome.wrong(array.name).reshape(-1)
        if not wrong.any():
            continue
        if not array.is_output or outcome.unwritten_indices(array.name) or array.data.dtype.kind not in "fiu":
            return []
        found = outcome.found(array.name).reshape(-1)
        wanted = np.asarray(array.wanted, dtype=found.dtype).reshape(-1)
        kind = "float64" if found.dtype.kind == "f" else found.dtype
        seen.append(Values(outcome, array, found.astype(kind), wanted.astype(kind), wrong))
    return seen


def no_numbers(seen: Values) -> bool:
    """Is an element infinite or not a number, where a number is wanted?"""
    import numpy as np

    return bool((seen.wrong & ~np.isfinite(seen.found) & np.isfinite(seen.wanted)).any())


def zeros(seen: Values) -> bool:
    """Are all wrong elements 0?"""
    return bool((seen.found[seen.wrong] == 0).all())


def negated(seen: Values) -> bool:
    """Has every wrong element the other sign?"""
    return bool(seen.same(seen.found, -seen.wanted)[seen.wrong].all())


NEARLY = 0.01
"""How far from the right one a float may be, as a share, to be called nearly right."""


def nearly_right(seen: Values) -> bool:
    """Is every wrong element a float near the right one, though not by one number for all?"""
    import numpy as np

    found, wanted = seen.found[seen.wrong], seen.wanted[seen.wrong]
    if found.dtype.kind != "f" or not np.isfinite(found).all() or not wanted.all():
        return False
    if len(set(wanted.tolist())) < DIFFERENT:
        return False
    return bool((np.abs(found - wanted) <= NEARLY * np.abs(wanted)).all())


def same_difference(seen: Values) -> bool:
    """Are all wrong elements too large, or too small, by the same number, though different ones are wanted?

    If others are right, it may be a lost fraction: then that is what they have in common. And if right ones stand
    between them, the number is not all that is wrong.
    """
    import numpy as np

    found, wanted, places = seen.found[seen.wrong], seen.wanted[seen.wrong], np.flatnonzero(seen.wrong)
    if len(set(wanted.tolist())) < DIFFERENT or (not seen.wrong.all() and whole_part(seen)):
        return False
    if places[-1] - places[0] >= len(places):
        return False
    if found.dtype.kind != "f":
        return len(set(found - wanted)) == 1
    return bool(np.isfinite(found).all() and seen.same(found, wanted + np.median(found - wanted)).all())


def same_factor(seen: Values) -> bool:
    """Is every wrong element the right one times the same number, though different ones are wanted?

    A number that is nearly 1 is no factor: the elements are rounded.
    """
    import numpy as np

    found, wanted = seen.found[seen.wrong].astype("float64"), seen.wanted[seen.wrong].astype("float64")
    if len(set(wanted.tolist())) < DIFFERENT or not (np.isfinite(found).all() and wanted.all() and found.any()):
        return False
    factors = found / wanted
    return bool(np.abs(factors - factors[0]).max() <= 1e-5 * abs(factors[0]) and abs(factors[0] - 1) > 1e-4)


def as_float(seen: Values) -> bool:
    """Is every wrong element an integer that was rounded as a float is?"""
    if seen.found.dtype.kind == "f":
        return False
    rounded = seen.wanted[seen.wrong].astype("float32").astype("float64")
    return bool((seen.found[seen.wrong].astype("float64") == rounded).all())


def same_value(seen: Values) -> bool:
    """Do all wrong elements hold the same value, where different ones are wanted?"""
    found, wanted = seen.found[seen.wrong], seen.wanted[seen.wrong]
    return bool((found == found[0]).all() and (wanted != wanted[0]).any())


def whole_part(seen: Values) -> bool:
    """Is every wrong element the right one without its fraction, and are there different ones?"""
    import numpy as np

    found, wanted = seen.found[seen.wrong], seen.wanted[seen.wrong]
    if len(set(found.tolist())) < DIFFERENT:
        return False
    return seen.found.dtype.kind == "f" and any(
        bool((found == part(wanted)).all() and (found != wanted).all()) for part in (np.trunc, np.floor)
    )


def copied(seen: Values) -> bool:
    """Is the whole output an input as it was?"""
    return any(
        array.data.size == seen.found.size and bool((array.data.reshape(-1) == seen.found).all())
        for array in seen.outcome.case.arrays
        if array.name != seen.array.name
    )


def moved(seen: Values) -> bool:
    """Do most elements hold what is wanted at another place, all of them as far away?

    Three quarters of at least eight elements, and values of which seldom two are alike: else it may be an accident.
    """
    import numpy as np

    found, wanted = seen.found[:MOST_COMPARED], seen.wanted[:MOST_COMPARED]
    size = len(found)
    if size < 2 * ENOUGH or len(np.unique(wanted)) < size // 4:
        return False
    return any(
        seen.same(there[step:], here[:-step]).mean() >= 0.75
        for step in range(1, min(65, size // 4 + 1))
        for there, here in ((found, wanted), (wanted, found))
    )


def reordered(seen: Values) -> bool:
    """Are all values there, each once, though not where they belong?"""
    import numpy as np

    found, wanted = np.sort(seen.found), np.sort(seen.wanted)
    return len(np.unique(wanted)) > seen.wanted.size // 2 and bool((found == wanted).all())


def one_element(seen: Values) -> bool:
    """Is a single element wrong, of sixteen or more?"""
    return int(seen.wrong.sum()) == 1 and seen.wrong.size >= 16


def at_one_end(seen: Values) -> bool:
    """Are the wrong elements the first few, or the last few: at most an eighth?"""
    import numpy as np

    where = np.flatnonzero(seen.wrong)
    together = where[-1] - where[0] + 1 == len(where) <= seen.wrong.size // 8
    return bool(together and (where[0] == 0 or where[-1] == seen.wrong.size - 1))


def first_block_right(seen: Values) -> bool:
    """Is block 0 right, and most of what belongs to all others wrong? For launches of one element for each thread."""
    case = seen.outcome.case
    block = case.block[0]
    one_each = not case.steps and case.grid[1:] == (1, 1) and case.block[1:] == (1, 1)
    if not one_each or not 2 * block < seen.found.size <= case.threads or case.threads - seen.found.size >= block:
        return False
    return not seen.wrong[:block].any() and bool(seen.wrong[block:].mean() >= 0.75)


def first_row_right(seen: Values) -> bool:
    """Is row 0 of a matrix right, and most of all other rows wrong?"""
    shape = seen.array.data.shape
    if len(shape) != 2 or shape[0] < 3:
        return False
    rows = seen.wrong.reshape(shape)
    return not rows[0].any() and bool(rows[1:].mean() >= 0.75)


def combination(found: np.ndarray, parts: Sequence[np.ndarray], relative: float = 1e-4) -> np.ndarray | None:
    """The numbers c with found = c[0] * parts[0] + c[1] * parts[1] + ..., for all elements; None if there are none.

    The parts have the shape of `found`. There are no such numbers either where too few elements are given to be sure.
    `relative` is the allowed error of an element, relative to the size of what is added up for it.
    """
    import numpy as np

    sums = np.asarray(found, dtype="float64").reshape(-1)
    matrix = np.stack([np.asarray(part, dtype="float64").reshape(-1) for part in parts], axis=1)
    if len(sums) < len(parts) + ENOUGH or not (np.isfinite(sums).all() and np.isfinite(matrix).all()):
        return None
    weights = 1 / np.maximum(np.abs(sums), 1e-6 * np.abs(sums).max() + 1e-30)
    numbers = np.linalg.lstsq(matrix * weights[:, None], sums * weights, rcond=None)[0]
    allowed = relative * (np.abs(matrix) @ np.abs(numbers))
    return numbers if bool((np.abs(matrix @ numbers - sums) <= allowed).all()) else None
