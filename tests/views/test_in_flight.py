"""What is in flight: flights and waits of traces made by hand, against what the manuals' rules give on paper."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpulab.records import TraceInstruction, TraceStep
from gpulab.trace import WaveTrace
from gpulab.views.in_flight import MOST_BARS, MOST_STEPS, Flight, Wait, follow, waits
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


def test_a_trace_shows_its_waits() -> None:
    trace = WaveTrace.of(waiting())
    shown = trace.waits()
    assert (shown.title, shown.sentence) == (waits(waiting()).title, waits(waiting()).sentence)
    assert trace.waits(5, 9).table.rows == waits(waiting(), 5, 9).table.rows
    for asked in (trace.waits, lambda **steps: waits(waiting(), **steps)):
        for steps, said in (({"last": 0}, "1 to 0"), ({"first": 24}, "24 to 23"), ({"first": 4, "last": 3}, "4 to 3")):
            with pytest.raises(ValueError, match=f"^steps {said} are asked for, and the trace has steps 1 to 23$"):
                asked(**steps)


def test_many_waits_are_counted() -> None:
    wait = TraceInstruction("s_waitcnt vmcnt(0)", None, kind="wait", allows=(("vmcnt", 0),))
    assert waits(made(*[wait] * 50)).table.note == "10 more waits are left out."


def test_texts_are_shown_as_they_are() -> None:
    trace = waiting(name=HOSTILE)
    first = replace(trace.instructions[0], text=HOSTILE)
    assert waits(replace(trace, instructions=(first, *trace.instructions[1:]))).png()


@pytest.mark.parametrize(
    ("first", "last", "limits"),
    [(1, None, (0.5, 121)), (1, 170, (0.5, 121)), (5, None, (4.5, 125)), (300, None, (299.5, 366)), (5, 9, (4.5, 10)),
     (364, 364, (363.5, 366)), (1, 120, (0.5, 121)), (1, 119, (0.5, 120))],
)  # fmt: skip
def test_the_steps_that_are_drawn(first: int, last: int | None, limits: tuple[float, float]) -> None:
    """At most 120 of 365."""
    made = waits(waiting(turns=40), first, last)
    assert made.figure is not None
    (axes,) = made.figure().axes
    assert axes.get_xlim() == limits


def test_bars_of_the_picture_by_hand() -> None:
    """The two scalar loads of a line share a bar until their wait, and the wait is drawn; steps count from 1."""
    made = waits(waiting(turns=1))
    assert made.figure is not None
    (axes,) = made.figure().axes
    bars = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in axes.patches]
    assert bars == [(1, 4), (5, 7), (6, 9), (10, 11), (12, 15)]
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "2 of line 1: s_load_dwordx2", "line 3: global_load_dword", "line 4: global_load_dword", "line 6: ds_write_b32",
        "line 7: global_store_dword",
    ]  # fmt: skip
    lines = [(list(line.get_xdata()), line.get_marker()) for line in axes.lines]
    assert lines == [
        ([1, 2], "o"), ([4], "|"), ([5], "o"), ([7], "|"), ([6], "o"), ([9], "|"), ([10], "o"), ([11], "|"),
        ([12], "o"), ([3, 3], "None"), ([4, 4], "None"), ([7, 7], "None"), ([9, 9], "None"), ([11, 11], "None"),
    ]  # fmt: skip
    part = waits(waiting(turns=1), 6, 8)
    assert part.figure is not None
    (axes,) = part.figure().axes
    assert [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in axes.patches] == [(6, 7), (6, 9)]
    assert [list(line.get_xdata()) for line in axes.lines] == [[], [7], [6], [7, 7]]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["vmcnt"]


def test_waits_in_words() -> None:
    load = TraceInstruction("ds_read_b32 v1, v0", None, kind="memory", raises=("lgkmcnt",))
    wait = TraceInstruction("s_waitcnt lgkmcnt(0)", None, kind="wait", allows=(("lgkmcnt", 0),))
    assert waits(made(load, wait)).sentence == (
        "This wave executed 2 instructions, with 1 access in lgkmcnt. 1 wait had something to wait for, 0 instructions "
        "after the newest access of it."
    )
    assert waits(made(load)).sentence == (
        "This wave executed 1 instruction, with 1 access in lgkmcnt. 0 waits had something to wait for. 1 access had "
        "no wait at all."
    )
    assert waits(made(load, load)).sentence.endswith("2 accesses had no wait at all.")
    rows = waits(made(*[wait] * 40)).table
    assert (len(rows.rows), rows.note) == (40, "")


@pytest.mark.parametrize(("loads", "height"), [(1, 2.1), (3, 2.1), (5, 2.5), (60, 13.5), (61, 13.5)])
def test_the_picture_is_as_high_as_it_has_bars(loads: int, height: float) -> None:
    """A fifth of an inch for each bar, room for three at least; of more than 60 accesses the first are drawn."""
    load = TraceInstruction("ds_read_b32 v1, v0", None, kind="memory", raises=("lgkmcnt",))
    made_of = waits(made(*[load] * loads))
    assert made_of.figure is not None
    drawn = made_of.figure()
    assert tuple(drawn.get_size_inches()) == pytest.approx((8.6, height))
    assert len(drawn.axes[0].patches) == min(loads, MOST_BARS)
