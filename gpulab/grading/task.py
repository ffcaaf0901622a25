"""`exercise(id)`: the picture of an exercise: a small case, its arrays before the launch and what is wanted after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpulab.errors import CheckError
from gpulab.grading.case import Array, Case, Value
from gpulab.grading.exercise import Exercise
from gpulab.grading.library import load
from gpulab.grading.wording import number_text

if TYPE_CHECKING:
    import numpy as np

    from gpulab.views.instrument import Instrument
    from gpulab.views.task import TaskArray

ENOUGH = 6
"""Elements that an output should have, so that there is something to see."""


def exercise(id: str) -> Instrument:
    """What exercise `id` asks for, as a picture with its sentence and table: inputs and wanted outputs of a small case.

    Raises CheckError if there is no such exercise, or if it has no arrays (a program, which has a picture of its own).
    """
    from gpulab.views.task import task

    asked = load(id)
    if not isinstance(asked, Exercise):
        raise CheckError(
            f"Exercise {id!r} asks for a whole program: there are no arrays to draw.",
            hint="its text has a picture of its own.",
        )
    case = shown(asked)
    scalars = [(each.name, number_text(each.value)) for each in case.arguments if isinstance(each, Value)]
    arrays = [
        _drawn(asked, case, array, role)
        for role in ("before", "after")
        for array in case.arrays
        if not array.scratch and (array.is_output if role == "after" else not array.is_output or array.is_given)
    ]
    return task(f"{asked.id}: {asked.title}", case.text(), scalars, arrays)


def shown(asked: Exercise) -> Case:
    """The case that is drawn: the one that the exercise names, else its smallest that has something to show."""
    if asked.shown is not None:
        return asked.case(asked.shown)
    cases = [asked.case(parameters) for parameters in asked.cases]

    def size(case: Case) -> tuple[bool, int]:
        enough = all(array.data.size >= ENOUGH for array in case.outputs)
        return not enough, sum(array.data.size for array in case.arrays)

    return min(cases, key=size)


def _thread(case: Case, block: tuple[int, ...], thread: tuple[int, ...]) -> str:
    """As it fits into a cell: "b1 t3", or in a block of two dimensions "t2,1"."""
    if case.block[1:] == case.grid[1:] == (1, 1):
        return f"b{block[0]} t{thread[0]}"
    return "t" + ",".join(str(part) for part in (thread if case.block[2] > 1 else thread[:2]))


def _value(array: Array, value: Any) -> str:
    if array.secret:
        return "?"
    return f"{value:.4g}" if value.dtype.kind == "f" else number_text(value)


def _drawn(asked: Exercise, case: Case, array: Array, role: str) -> TaskArray:
    from gpulab.views.task import COLUMNS, ROWS, TaskArray

    values: np.ndarray[Any, Any] = array.wanted if role == "after" else array.data
    width = values.shape[-1] if values.ndim > 1 else COLUMNS
    rows, owners = [], []
    for first in range(0, values.size, max(width, 1))[: {1: 2, 2: ROWS}.get(values.ndim, ROWS // 2)]:
        places = range(first, min(first + min(width, COLUMNS), values.size))
        rows.append(tuple(_value(array, values.reshape(-1)[place]) for place in places))
        found = [asked.owner(case, place) for place in places] if role == "after" else []
        owners.append(tuple("" if one is None else _thread(case, *one) for one in found))
    shape = tuple(int(extent) for extent in values.shape)
    return TaskArray(array.name, role, shape, tuple(rows), tuple(owners) if any(map(any, owners)) else ())
