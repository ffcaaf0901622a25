"""The failing case of a check as a record that can be drawn: `failed_case` makes a `records.FailedCase`.

Values are those of the guarded run of an `Outcome`. Who wrote them comes from one more launch, guarded and checked,
whose shadow memory knows the last writer of each element; what that launch did not come to write has only its owner.
The size is bounded: a rectangle around the first wrong element, the first elements outside, and an overview.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gpulab.grading.bench import Prepared
from gpulab.grading.case import Array, Buffer
from gpulab.grading.exercise import Exercise
from gpulab.grading.outcome import Outcome
from gpulab.grading.wording import number_text
from gpulab.records import Access, ArrayElement, FailedArray, FailedCase, SourceLine, Writer

if TYPE_CHECKING:
    import numpy as np

MOST_ARRAYS = 3
MOST_INPUTS = 2
"""Input arrays that are drawn, at most."""
MOST_READ = 3
"""Input elements that are named beside an element, at most."""
SIDE = 16
"""Rows and columns of the rectangle that is kept, at most."""
MOST_BESIDE = 32
PARTS = 96
"""Parts of the overview, at most."""
TEXT = 160
"""Characters of a source line or an instruction that are kept."""


def failed_case(exercise: Exercise, kernel: Prepared, outcome: Outcome, larger: bool = False) -> FailedCase:
    """What there is to see of a failing case. `larger`: it is larger than the one that the report is about."""
    fault = outcome.fault
    place = outcome.faulting_index()
    used_outside: dict[tuple[str, int], str] = {}
    if place is not None and fault is not None and not 0 <= place[1] < outcome.case.array(place[0]).data.size:
        used_outside[place] = "read outside" if fault.access == "read" else "written outside"
    for array in outcome.case.arrays:
        for index in outcome.outside(array.name)[:MOST_BESIDE]:
            used_outside[array.name, index] = "written outside"
    shown = [
        array
        for array in outcome.case.arrays
        if outcome.wrong(array.name).any()
        or any(name == array.name for name, _ in used_outside)
        or (place is not None and place[0] == array.name)
    ]
    if not any(array.is_output for array in shown):
        shown += list(outcome.case.outputs[:1])
    shown = shown[:MOST_ARRAYS]
    regions = {array.name: _region(outcome, array) for array in shown}
    wanted = {
        name: [*region[2], *(index for other, index in used_outside if other == name)]
        for name, region in regions.items()
    }
    names = {array.name for array in shown}
    inputs = [array for array in outcome.case.arrays if array.is_given and array.name not in names][:MOST_INPUTS]
    writers = _writers(exercise, kernel, outcome, wanted)
    if place is not None and place in used_outside and place not in writers and fault is not None:
        writers[place] = Writer(
            fault.workgroup, fault.thread, True, fault.wave, fault.lane, _line(fault.where), fault.instruction[:TEXT]
        )
    sides: tuple[Access, ...] = ()
    if fault is not None:
        own = Access(
            fault.where, fault.instruction, fault.workgroup, fault.wave, fault.lane, fault.thread, fault.access
        )
        sides = tuple(_side(side) for side in (fault.other, own) if side is not None)
    return FailedCase(
        exercise=exercise.id,
        kernel=exercise.kernel,
        arch=outcome.arch,
        wave_size=outcome.wave_size,
        inputs=outcome.case.text(),
        larger=larger,
        grid=outcome.case.grid,
        block=outcome.case.block,
        arrays=(
            *(_given(array, _region_of_input(exercise, outcome, shown[0], array)) for array in inputs),
            *(_array(exercise, outcome, array, regions[array.name], used_outside, writers) for array in shown),
        ),
        stopped=fault.kind if fault is not None else "",
        place=_place(outcome),
        sides=sides,
    )


Region = tuple[tuple[int, int], tuple[int, int], list[int]]


def _region(outcome: Outcome, array: Array) -> Region:
    """The rectangle to draw of an output: around what is wrong first."""
    return _around(array, _first_wrong(outcome, array))


def _first_wrong(outcome: Outcome, array: Array) -> int:
    import numpy as np

    bad = np.flatnonzero(outcome.wrong(array.name))
    place = outcome.faulting_index()
    return int(bad[0]) if len(bad) else place[1] if place is not None and place[0] == array.name else 0


def _region_of_input(exercise: Exercise, outcome: Outcome, output: Array, given: Array) -> Region:
    """The rectangle to draw of an input: around what the first wrong element of an output comes from."""
    first = min(max(_first_wrong(outcome, output), 0), max(output.data.size - 1, 0))
    read = [index for name, index in exercise.inputs_of(outcome.case, output.name, first) if name == given.name]
    return _around(given, read[0] if read else 0)


def _around(array: Array, first: int) -> Region:
    """(rows, columns), (first row, first column) and the flat indices of a rectangle around an element."""
    shape = array.data.shape
    if len(shape) == 2 and array.data.size:
        height, width = shape
    else:
        width = SIDE if array.data.size > 64 else min(8, max(array.data.size, 1))
        height = -(-array.data.size // width)
    first = max(min(first, array.data.size - 1), 0)
    rows, columns = min(height, SIDE), min(width, SIDE)
    row = min(max(first // width - SIDE // 4, 0), height - rows)
    column = min(max(first % width - SIDE // 4, 0), width - columns)
    indices = [
        (row + r) * width + column + c
        for r in range(rows)
        for c in range(columns)
        if (row + r) * width + column + c < array.data.size
    ]
    return (rows, columns), (row, column), indices


def _writers(
    exercise: Exercise, kernel: Prepared, outcome: Outcome, wanted: Mapping[str, list[int]]
) -> dict[tuple[str, int], Writer]:
    """Who wrote the wanted elements, seen in one more launch."""
    buffers = [Buffer(array, outcome.guard, number) for number, array in enumerate(outcome.case.arrays)]
    run = kernel.run(outcome.case, buffers, exercise.limit(outcome.case), True, wanted)
    places: dict[tuple[Any, str], tuple[SourceLine | None, str]] = {}
    found = {}
    for key, one in run.writers.items():
        where, text = places.setdefault((one.where, one.instruction), (_own_line(one), one.instruction[:TEXT]))
        found[key] = Writer(one.workgroup, one.thread, True, one.wave, one.lane, where, text)
    return found


_STORES = re.compile(r"\[|->|^\s*\*|\b(?!if\b|for\b|while\b|switch\b|return\b)\w+\s*\(")


def _own_line(one: Access) -> SourceLine | None:
    """The line of a store. Where the compiler made one store of several lines' it has none of its own and stands with
    the line before it; such a line, with nothing in it that could store, would mislead."""
    if one.where is not None and one.where.text and not _STORES.search(one.where.text):
        return None
    return _line(one.where)


def _line(where: SourceLine | None) -> SourceLine | None:
    return None if where is None else dataclasses.replace(where, text=where.text[:TEXT])


def _side(side: Access) -> Access:
    return dataclasses.replace(side, where=_line(side.where), instruction=side.instruction[:TEXT])


def _array(
    exercise: Exercise, outcome: Outcome, array: Array, region: Region, used_outside: Mapping[tuple[str, int], str],
    writers: Mapping[tuple[str, int], Writer],
) -> FailedArray:  # fmt: skip
    import numpy as np

    (rows, columns), (row, column), indices = region
    wrong = outcome.wrong(array.name).reshape(-1)
    untouched = outcome.untouched(array.name).reshape(-1)
    never = wrong & untouched if array.is_output and not array.is_given else np.zeros_like(wrong)
    found, wanted = values_found(outcome, array), np.asarray(array.wanted).reshape(-1)
    elements = []
    for index in indices:
        state = "never written" if never[index] else "wrong" if wrong[index] else "right"
        writer = writers.get((array.name, index))
        seen = "" if state == "never written" else number_text(found[index])
        owner = _owner(exercise, outcome, array, index)
        inputs = inputs_of(exercise, outcome, array, index)
        elements.append(ArrayElement(index, state, number_text(wanted[index]), seen, writer, owner, inputs))
    beside, outside = [], outcome.outside(array.name)
    for (name, index), state in sorted(used_outside.items()):
        if name != array.name:
            continue
        place = index + outcome.guard
        whole = outcome.guarded.after[name]
        changed = index in outside
        seen = number_text(whole[place]) if changed and 0 <= place < len(whole) else ""
        beside.append(ArrayElement(index, state, "", seen, writers.get((name, index))))
    part = max(1, -(-array.data.size // PARTS))
    overview = []
    for first in range(0, array.data.size, part):
        bad, empty = int(wrong[first : first + part].sum()), int(never[first : first + part].sum())
        overview.append((len(wrong[first : first + part]) - bad, bad - empty, empty))
    bad, empty = int(wrong.sum()), int(never.sum())
    return FailedArray(
        array.name, str(array.data.dtype), tuple(int(extent) for extent in array.data.shape), int(wrong.size) - bad,
        bad - empty, empty, len(outside), rows, columns, row, column, tuple(elements),
        tuple(beside[:MOST_BESIDE]), tuple(overview), part,
    )  # fmt: skip


def _given(array: Array, region: Region) -> FailedArray:
    (rows, columns), (row, column), indices = region
    flat = array.data.reshape(-1)
    elements = tuple(ArrayElement(index, "given", "", number_text(flat[index])) for index in indices)
    return FailedArray(
        array.name, str(array.data.dtype), tuple(int(extent) for extent in array.data.shape), array.data.size, 0, 0, 0,
        rows, columns, row, column, elements, (), (), 1, True,
    )  # fmt: skip


def inputs_of(exercise: Exercise, outcome: Outcome, array: Array, index: int) -> tuple[tuple[str, str], ...]:
    """The input elements that belong to an element of an output: their names, and their values before the launch."""
    if not array.is_output:
        return ()
    found = []
    for name, at in exercise.inputs_of(outcome.case, array.name, index):
        given = outcome.case.array(name)
        if 0 <= at < given.data.size:
            before = " before" if given.is_output else ""
            found.append((f"{name}[{at}]{before}", number_text(given.data.reshape(-1)[at])))
    more = len(found) - MOST_READ
    return (*found[:MOST_READ], (f"{more} more", "")) if more > 0 else tuple(found)


def values_found(outcome: Outcome, array: Array) -> np.ndarray:
    """The array after the guarded run, flat; after the tight run if that alone went wrong."""
    import numpy as np

    found = outcome.found(array.name).reshape(-1)
    if outcome.fault is None and np.array_equal(found, np.asarray(array.wanted).reshape(-1)):
        found = outcome.tight.after[array.name].reshape(-1)
    return found


def _owner(exercise: Exercise, outcome: Outcome, array: Array, index: int) -> Writer | None:
    if not array.is_output:
        return None
    owner = exercise.owner(outcome.case, index)
    return None if owner is None else Writer(owner[0], owner[1], False)


def _place(outcome: Outcome) -> str:
    """Where the checked launch was stopped, in words; "" if it was not, or nowhere in particular."""
    fault = outcome.fault
    if fault is None:
        return ""
    if fault.memory in ("lds", "scratch"):
        kind = "shared memory" if fault.memory == "lds" else "the thread's own memory"
        return f"{kind}, byte {fault.address}" if fault.address is not None else kind
    found = outcome.faulting_index()
    return "" if found is None else outcome.case.array(found[0]).index_text(found[1])
