"""Which evidence allows a cause to be named: of runs that are written here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpulab.grading import evidence
from gpulab.grading.case import Run, sentinel
from gpulab.grading.exercise import Cause
from gpulab.grading.outcome import Outcome, Weak
from gpulab.records import Access
from tests.grading.test_failed_parts import given, made, output
from tests.grading.test_judge import tiny
from tests.grading.test_outcome import RIGHT, WRONG, beside, fault, stopped

AT_END, BEFORE = stopped(RIGHT, address=2016), stopped(RIGHT, address=1996)
GUARDED = replace(RIGHT, guarded=replace(RIGHT.guarded, fault=fault("timeout")))


@pytest.mark.parametrize(
    ("seen", "right"),
    [
        (RIGHT, True), (WRONG, False), (AT_END, True), (BEFORE, False), (GUARDED, False), (beside(RIGHT, "a", 8), True),
        (beside(RIGHT, "a", 3), False), (beside(RIGHT, "x", -1), True), (beside(RIGHT, "x", 0), False),
        (stopped(RIGHT, address=2000), True), (stopped(WRONG, address=2016), False),
        (made(given("x"), output("a"), found={"x": [5, 6, 7, 9]}), False),
    ],
)  # fmt: skip
def test_is_all_right_inside_of_the_arrays(seen: Outcome, right: bool) -> None:
    """The outputs begin at 2000, four elements of four bytes; the input lies at 1000."""
    assert evidence.right_inside(seen) is right


def grid(seen: Outcome, *blocks: int) -> Outcome:
    return replace(seen, case=replace(seen.case, grid=blocks))  # type: ignore[arg-type]


UNWRITTEN = made(output("a"), output("b", 2), found={"a": sentinel("int32", 4), "b": sentinel("int32", 2)})
PARTLY = made(output("a"), output("b", 2), found={"a": sentinel("int32", 4), "b": [1, sentinel("int32", 1)[0]]})


@pytest.mark.parametrize(
    ("seen", "nothing"),
    [
        (UNWRITTEN, True), (PARTLY, False), (grid(UNWRITTEN, 1, 1, 1), False), (grid(UNWRITTEN, 2, 1, 1), True),
        (grid(UNWRITTEN, 1, 2, 1), True), (grid(UNWRITTEN, 1, 1, 2), True), (RIGHT, False), (made(given("x")), False),
        (made(output("a", 0)), False), (made(output("a", 0), output("b"), found={"b": sentinel("int32", 4)}), True),
    ],
)  # fmt: skip
def test_did_several_blocks_write_nothing(seen: Outcome, nothing: bool) -> None:
    assert evidence._nothing_inside(seen) is nothing


def writing(*places: tuple[int, int, int], seen: Outcome = RIGHT) -> Outcome:
    """Index, block and thread of each write that was seen."""
    writers = {("a", at): Access(None, "s", (block, 0, 0), 0, 0, (thread, 0, 0), "write")
               for at, block, thread in places}  # fmt: skip
    return replace(seen, watch=lambda changed: Run({}, writers=writers))  # type: ignore[arg-type]


def reaching(address: int, block: int, thread: int | None) -> Outcome:
    """Stopped at this address, in a thread of blocks of eight."""
    seen = stopped(RIGHT, address=address)
    assert seen.tight.fault is not None
    place = None if thread is None else (thread, 0, 0)
    return replace(
        seen, tight=replace(seen.tight, fault=replace(seen.tight.fault, workgroup=(block, 0, 0), thread=place))
    )


@pytest.mark.parametrize(
    ("seen", "past"),
    [
        (RIGHT, False), (writing((0, 0, 0), (3, 0, 3)), False), (writing((0, 0, 0), (4, 0, 4)), True),
        (writing((8, 1, 0)), True), (writing((8, 0, 0)), False), (writing((4, 0, 5)), False),
        (writing((1, 0, 2), (4, 0, 4)), False), (writing((-1, 0, 0)), False), (writing((4, 0, 5), (5, 0, 5)), True),
        (reaching(2016, 0, 4), True), (reaching(2016, 0, 5), False), (reaching(2012, 0, 3), False),
        (reaching(2032, 1, 0), True), (reaching(2016, 0, None), False),
        (writing((1, 0, 2), seen=reaching(2016, 0, 4)), False),
    ],
)  # fmt: skip
def test_were_threads_past_the_end_seen_at_their_own_elements(seen: Outcome, past: bool) -> None:
    """Those inside must be at their owners' as far as the exercise knows them; here thread i has element i below 4."""
    exercise = tiny(owner=lambda case, index: ((0, 0, 0), (index, 0, 0)) if 0 <= index < 4 else None)
    assert evidence.seen_past(exercise, seen) is past


GUARD = Cause[Any]("guard", "t", lambda seen: True, "why", "next", guard=("n",))
ALWAYS = Cause[Any]("always", "t", lambda seen: True, "why", "next")
OF_RACE = Cause[Any]("race", "t", lambda seen: seen.fault is not None and seen.fault.kind == "race", "why", "next")
OF_WEAK = Cause[Any]("weak", "t", lambda seen: seen.weak is not None, "why", "next")
LATE = replace(RIGHT, weak=Weak(1, Run({"x": RIGHT.case.array("x").data, "a": np.array([1, 7, 1, 1], "int32")})))
LEFT_OUT = made(given("x"), output("a"), found={"a": [1, 1, 1, sentinel("int32", 1)[0]]})


@pytest.mark.parametrize(
    ("cause", "seen", "allowed"),
    [
        (ALWAYS, RIGHT, True), (ALWAYS, stopped(RIGHT), True), (ALWAYS, stopped(RIGHT, kind="race"), False),
        (OF_RACE, stopped(RIGHT, kind="race"), True),
        (replace(ALWAYS, explains=("race",)), stopped(RIGHT, kind="race"), True),
        (replace(ALWAYS, explains=("race",)), stopped(RIGHT, kind="barrier"), False),
        (ALWAYS, replace(RIGHT, guarded=replace(RIGHT.guarded, fault=fault("deadlock"))), False),
        (ALWAYS, LATE, False), (OF_WEAK, LATE, True), (replace(ALWAYS, explains=("weak memory",)), LATE, True),
        (ALWAYS, stopped(LATE), True), (ALWAYS, stopped(LATE, kind="race"), False),
        (GUARD, AT_END, True), (GUARD, LEFT_OUT, False), (GUARD, replace(WRONG, source="if (i < n) x();"), False),
        (GUARD, replace(WRONG, source="if (i < m) x();"), True), (GUARD, replace(UNWRITTEN, source=""), False),
        (GUARD, replace(writing((4, 0, 4), seen=WRONG), source="if (i < n) x();"), True),
        (GUARD, replace(writing((4, 0, 5), seen=WRONG), source="if (i < n) x();"), False),
    ],
)  # fmt: skip
def test_may_a_cause_be_named(cause: Cause[Any], seen: Outcome, allowed: bool) -> None:
    assert evidence.allows(tiny(), cause, seen) is allowed


@pytest.mark.parametrize("kind", evidence.CERTAIN)
def test_kinds_that_say_by_themselves_what_is_wrong(kind: str) -> None:
    assert evidence.allows(tiny(), ALWAYS, stopped(RIGHT, kind=kind)) is False
