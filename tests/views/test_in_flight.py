"""What is in flight: flights and waits of traces made by hand, against what the manuals' rules give on paper."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpulab.records import TraceInstruction, TraceStep
from gpulab.views.in_flight import MOST_STEPS, Flight, Wait, follow, waits
from tests.views.traces import HOSTILE, small, waiting


def test_accesses_are_in_flight_from_their_issue_to_the_wait_for_them() -> None:
    assert follow(waiting(turns=1)).flights == (
        Flight("lgkmcnt", 0, 3), Flight("lgkmcnt", 1, 3),  # one left of two that arrive in any order: nothing certain
        Flight("vmcnt", 4, 6), Flight("vmcnt", 5, 8),  # the older of two, then the other one
        Flight("lgkmcnt", 9, 10), Flight("vmcnt", 11, None),
    )  # fmt: skip


def test_waits_by_counter() -> None:
    assert follow(waiting(turns=1)).waits == (
        Wait(2, "lgkmcnt", 1, (), 2), Wait(3, "lgkmcnt", 0, (0, 1), 0),
        Wait(6, "vmcnt", 1, (4,), 1), Wait(8, "vmcnt", 0, (5,), 0),
        Wait(10, "vmcnt", 0, (), 0), Wait(10, "lgkmcnt", 0, (9,), 0),
    )  # fmt: skip
    assert [wait.between for wait in follow(waiting(turns=1)).waits] == [None, 1, 1, 2, None, 0]


def test_a_store_of_the_turn_before_stands_before_the_loads() -> None:
    """One counter for loads and stores: vmcnt(1) with a store and two loads in flight waits for two of them."""
    second = [wait for wait in follow(waiting()).waits if wait.step == 15]
    assert second == [Wait(15, "vmcnt", 1, (11, 13), 1)]


def made(*program: TraceInstruction, order: list[int] | None = None):
    steps = tuple(TraceStep(index, 1, {}) for index in order or range(len(program)))
    return replace(small(), instructions=program, steps=steps)


def test_an_access_that_two_counters_count_is_in_flight_twice() -> None:
    load = TraceInstruction(
        "flat_load_dword v1, v[2:3]", None, kind="memory", raises=("vmcnt", "lgkmcnt"), any_order=True
    )
    wait = TraceInstruction("s_waitcnt vmcnt(0)", None, kind="wait", allows=(("vmcnt", 0),))
    assert follow(made(load, wait)).flights == (Flight("vmcnt", 0, 1), Flight("lgkmcnt", 0, None))


def test_a_wait_that_allows_as_many_as_there_are_waits_for_nothing() -> None:
    load = TraceInstruction("ds_read_b32 v1, v0", None, kind="memory", raises=("lgkmcnt",))
    wait = TraceInstruction("s_waitcnt lgkmcnt(2)", None, kind="wait", allows=(("lgkmcnt", 2),))
    found = follow(made(load, wait, order=[0, 0, 1, 0, 1]))
    assert found.waits == (Wait(2, "lgkmcnt", 2, (), 2), Wait(4, "lgkmcnt", 2, (0,), 2))


@pytest.mark.full
def test_sentence_and_table() -> None:
    shown = waits(waiting())
    assert shown.sentence == (
        "This wave executed 23 instructions, with 4 accesses in lgkmcnt and 6 accesses in vmcnt. "
        "7 waits had something to wait for, 0 to 2 instructions after the newest access of it. "
        "1 access had no wait at all."
    )
    assert shown.table.rows == (
        (2, "lgkmcnt(1)", 1, 0, "–", "–", 2),
        (2, "lgkmcnt(0)", 1, 2, "1", 1, 0),
        (5, "vmcnt(1)", 2, "1–2", "3, 7", 1, 1),
        (6, "vmcnt(0)", 2, 1, "4", 2, 0),
        (7, "lgkmcnt(0)", 2, 1, "6", 0, 0),
        (7, "vmcnt(0)", 2, 0, "–", "–", 0),
    )
    assert shown.png().startswith(b"\x89PNG")
    assert waits(small()).sentence == "This wave accessed no memory that it had to wait for."
    assert waits(small()).png()
    assert waits(replace(small(), steps=())).png()


def test_steps_of_the_picture() -> None:
    assert waits(waiting(), 5, 9).png() != waits(waiting(), 5, 13).png()
    assert waits(waiting(turns=40)).png() == waits(waiting(turns=40), 1, MOST_STEPS + 50).png()
    for first, last in ((0, 3), (4, 3), (1, 24)):
        with pytest.raises(ValueError, match="steps 1 to 23"):
            waits(waiting(), first, last)


def test_many_waits_are_counted() -> None:
    wait = TraceInstruction("s_waitcnt vmcnt(0)", None, kind="wait", allows=(("vmcnt", 0),))
    assert waits(made(*[wait] * 50)).table.note == "10 more waits are left out."


def test_texts_are_shown_as_they_are() -> None:
    trace = waiting(name=HOSTILE)
    first = replace(trace.instructions[0], text=HOSTILE)
    assert waits(replace(trace, instructions=(first, *trace.instructions[1:]))).png()
