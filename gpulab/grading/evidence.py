"""Does the evidence allow a cause to be named? `allows` keeps those back that an outcome speaks against.

What a checked launch finds is certain: it comes before a cause that would fit as well without it; so does what goes
wrong on weak memory alone. And where a guard is
said to be missing, either all is right inside of the arrays, or a thread beyond the end was seen at the element that
is its own, or the source compares nothing with the size; else an index may be wrong, and the guard right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from gpulab import languages
from gpulab.grading.case import Run, Shape3, thread_of
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.outcome import Outcome

CERTAIN = (
    "race", "lane conflict", "never written", "barrier", "deadlock", "shuffle", "register", "missing wait",
    "lds out of bounds",
)  # fmt: skip
"""Kinds of faults that say by themselves what is wrong."""


WEAK = "weak memory"
"""What a cause `explains` that leads to wrong results on weak memory, though its `when` does not look at them."""


def allows(exercise: Exercise, cause: Cause[Outcome], outcome: Outcome) -> bool:
    """May a cause of the exercise, whose own test fits, be named?"""
    fault = outcome.fault
    if outcome.weak is not None and fault is None and WEAK not in cause.explains and cause.when(_ordinary(outcome)):
        return False
    if (
        fault is not None
        and fault.kind in CERTAIN
        and fault.kind not in cause.explains
        and cause.when(_unnamed(outcome))
    ):
        return False
    if not cause.guard:
        return True
    if outcome.left_out() or _nothing_inside(outcome):
        return False
    return (
        right_inside(outcome)
        or seen_past(exercise, outcome)
        or not compares(outcome.source, cause.guard, outcome.language)
    )


def _nothing_inside(outcome: Outcome) -> bool:
    """Of several blocks, did none write an element of an output? Then more than the threads beyond the end is wrong."""
    outputs = [array for array in outcome.case.outputs if array.data.size]
    blocks = outcome.case.grid[0] * outcome.case.grid[1] * outcome.case.grid[2]
    return blocks > 1 and bool(outputs) and all(bool(outcome.untouched(array.name).all()) for array in outputs)


def right_inside(outcome: Outcome) -> bool:
    """Is all right but what was used beside the arrays? Then the indices are, and threads beyond the end work too."""
    arrays, place = outcome.case.arrays, outcome.faulting_index()
    return (
        outcome.guarded.fault is None
        and (place is None or place[1] >= 0)
        and not any(outcome.wrong(array.name).any() or outcome.written_before(array.name) for array in arrays)
    )


def _unnamed(outcome: Outcome) -> Outcome:
    """The same outcome with a fault of no known kind: a cause that still fits does not look at the kind."""

    def without(run: Run) -> Run:
        return run if run.fault is None else replace(run, fault=replace(run.fault, kind="unnamed"))

    return replace(outcome, tight=without(outcome.tight), guarded=without(outcome.guarded))


def _ordinary(outcome: Outcome) -> Outcome:
    """The same outcome without the run on weak memory: then all is right."""
    return replace(outcome, weak=None)


def seen_past(exercise: Exercise, outcome: Outcome) -> bool:
    """Did threads use what lies past the end of an array, each the element that would be its own?

    All elements of the outputs that were seen to be written must have been written by their owners, too. Where the
    exercise names no owners, the element past the end whose index is the thread's number counts as its own.
    """
    past = False
    for index, thread, inside in _uses(outcome):
        owner = exercise.owner(outcome.case, index)
        if owner is not None and owner != thread:
            return False
        if not inside:
            past = past or thread == (owner or thread_of(outcome.case, index))
    return past


def _uses(outcome: Outcome) -> Iterator[tuple[int, tuple[Shape3, Shape3], bool]]:
    """Index, block and thread, and whether it lies inside, of each write that was seen, and of the bad access."""
    for array in outcome.case.outputs:
        for index, block, thread in outcome.writers(array.name):
            yield index, (block, thread), 0 <= index < array.data.size
    place, fault = outcome.faulting_index(), outcome.tight.fault
    if place is not None and fault is not None and fault.thread is not None:
        yield place[1], (fault.workgroup, fault.thread), 0 <= place[1] < outcome.case.array(place[0]).data.size


def compares(source: str, names: tuple[str, ...], language: str = "hip") -> bool:
    """Does the source compare something with each of these names?"""
    code = re.sub(r"<<|>>|->|_cast\s*<[^<>]*>", " ", languages.answers(language).code_only(source))
    part = r"[^;{}&|?,<>=!]*"
    return all(
        re.search(rf"[<>]=?{part}\b{re.escape(name)}\b|\b{re.escape(name)}\b{part}[<>]=?", code) for name in names
    )
