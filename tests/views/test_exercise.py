"""The exercise view: a failed case made by hand, in words, in a table and as data for the browser."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from gpulab.records import Access, ArrayElement, FailedArray, FailedCase, SourceLine, Writer
from gpulab.views import exercise

HOSTILE = "<img src=x onerror=alert(1)></script>${x}$y$"
LINE = SourceLine("fill.hip", 4, 9, f"    out[i + 1] = i; // {HOSTILE}")

WROTE = f"Thread 2 of block 0 (wave 0, lane 2) wrote it last, in line 4, “out[i + 1] = i; // {HOSTILE}”."
BELONGS = "By the exercise it belongs to thread 2 of block 0."
STOPPED = "The checked launch was stopped: others may write there after that."
NEVER = "out[2] should be 7, but it was not changed: it is as it was before the launch."
WRONG = "out[2] should be 7, but is 5."
MANY = "{} of the wrong elements were written by another thread than the exercise has in mind"


def thread(number: int, seen: bool = True) -> Writer:
    """Thread `number` of blocks of 4."""
    place: tuple[Any, ...] = ((number // 4, 0, 0), (number % 4, 0, 0), seen)
    return Writer(*place, 0, number % 4, LINE, "global_store_dword v[0:1], v2, off") if seen else Writer(*place)


def shifted(**changes: object) -> FailedCase:
    """out[i] should be i + 1, for 6 elements; thread i wrote out[i + 1]; out[6] lies outside."""
    elements = (
        ArrayElement(0, "never written", "1", "", None, thread(0, False)),
        *(
            ArrayElement(n, "wrong" if n != 2 else "right", str(n + 1), str(n) if n != 2 else "3", thread(n - 1),
                         thread(n, False))
            for n in range(1, 6)
        ),
    )  # fmt: skip
    array = FailedArray(
        "out", "int32", (6,), 1, 4, 1, 1, 1, 6, 0, 0, elements,
        (ArrayElement(6, "written outside", "", "6", thread(5)),), ((0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 3, 0)), 1,
    )  # fmt: skip
    case = FailedCase(
        "first-fill", "fill", "gfx942", 64, "n = 6; grid of 2 blocks, 4 threads each", (2, 1, 1), (4, 1, 1), (array,)
    )
    return dataclasses.replace(case, **changes)  # type: ignore[arg-type]


def test_the_sentence_says_how_many_are_wrong_and_tells_of_the_first() -> None:
    said = exercise.failing(shifted()).sentence
    assert said == (
        "Drawn for n = 6; grid of 2 blocks, 4 threads each, on gfx942 (wave64). out (6 elements): 4 wrong, 1 never "
        "written, 1 written outside of it. 4 of the wrong elements were written by another thread than the "
        "exercise has in mind, each by the thread before its own. out[1] should be 2, but is 1. "
        f"Thread 0 of block 0 (wave 0, lane 0) wrote it last, in line 4, “out[i + 1] = i; // {HOSTILE}”. "
        "By the exercise it belongs to thread 1 of block 0."
    )


def test_writers_that_are_not_always_as_far_off() -> None:
    (array,) = shifted().arrays
    moved = [dataclasses.replace(e, writer=thread(7)) if e.index == 3 else e for e in array.elements]
    said = exercise.failing(shifted(arrays=(dataclasses.replace(array, elements=tuple(moved)),))).sentence
    assert "4 of the wrong elements were written by another thread than the exercise has in mind. " in said


def test_a_wrong_element_has_its_writer_and_its_owner() -> None:
    (array,) = shifted().arrays
    assert exercise.story(array, array.elements[5]) == [
        "out[5] should be 6, but is 5.",
        f"Thread 0 of block 1 (wave 0, lane 0) wrote it last, in line 4, “out[i + 1] = i; // {HOSTILE}”.",
        "By the exercise it belongs to thread 1 of block 1.",
    ]


def test_the_right_thread_with_a_wrong_value_is_told_apart() -> None:
    (array,) = shifted().arrays
    one = dataclasses.replace(array.elements[1], owner=thread(0, False))
    assert exercise.story(array, one)[-1].startswith("That is the right thread for it")
    assert "others may write there" in " ".join(exercise.story(array, one, stopped=True))
    assert "right thread" not in " ".join(exercise.story(array, one, stopped=True))


def test_an_element_outside() -> None:
    (array,) = shifted().arrays
    said = exercise.story(array, array.beside[0])
    assert said[0] == "out[6] does not exist: out ends at out[5]."
    assert said[1].startswith("Thread 1 of block 1 (wave 0, lane 1) wrote there, in line 4")
    before = ArrayElement(-1, "read outside", "", "", thread(0))
    assert exercise.story(array, before)[0] == "out[-1] does not exist: out begins at out[0]."


def test_the_table_has_each_wrong_element() -> None:
    table = exercise.failing(shifted()).table
    assert table.columns == ("element", "state", "expected", "found", "by", "at", "belongs to")
    assert [row[0] for row in table.rows] == ["out[0]", "out[1]", "out[3]", "out[4]", "out[5]", "out[6]"]
    assert table.rows[0][1:5] == ("never written", "1", "–", "–")
    assert table.rows[4][4] == "thread 0 of block 1 (wave 0, lane 0)"
    assert table.rows[4][6] == "thread 1 of block 1"
    assert "not listed" not in table.note


def test_a_table_without_rows_says_why() -> None:
    (array,) = shifted().arrays
    fine = dataclasses.replace(array, wrong=0, never=0, outside=0, right=6, elements=(array.elements[2],), beside=())
    assert exercise.failing(shifted(arrays=(fine,))).table.note == "No element is wrong."
    stopped = exercise.failing(shifted(arrays=(fine,), stopped="barrier")).table
    assert stopped.rows == ()
    assert stopped.note == "No element is wrong: the launch was stopped for another reason."


def test_what_is_not_listed_is_counted() -> None:
    (array,) = shifted().arrays
    many = dataclasses.replace(array, wrong=1_000_004)
    assert exercise.failing(shifted(arrays=(many,))).table.note.startswith("1,000,000 more are not listed")


def test_images_have_rows_and_columns() -> None:
    (array,) = shifted().arrays
    image = dataclasses.replace(array, shape=(30, 40), rows=2, columns=3, row=5, column=7)
    data = exercise.failing(shifted(arrays=(image,))).data["arrays"][0]
    assert (data["rows"], data["heads"]) == (["5", "6"], ["7", "8", "9"])
    assert exercise.name_of(image, 41) == "out[41] (row 1, column 1)"
    assert exercise.name_of(image, 1200) == "out[1200]"


def test_a_stopped_launch_shows_both_sides() -> None:
    one = Access(LINE, "ds_write_b32 v0, v1", (0, 0, 0), 1, 0, (64, 0, 0), "write")
    other = dataclasses.replace(one, wave=0, lane=63, thread=(63, 0, 0), access="read", where=None)
    shown = exercise.failing(shifted(stopped="race", place="shared memory, byte 256", sides=(other, one)))
    assert shown.data["stopped"] == (
        "A checked launch was stopped: a data race: nothing decides which of these comes first (shared memory, byte "
        "256)."
    )
    assert shown.data["sides"] == [
        {"when": "first", "who": "thread 63 of block 0, wave 0", "does": "reads",
         "where": "ds_write_b32 v0, v1 (of no single source line)"},
        {"when": "then", "who": "thread 64 of block 0, wave 1", "does": "writes",
         "where": f"line 4, “out[i + 1] = i; // {HOSTILE}”"},
    ]  # fmt: skip


@pytest.mark.parametrize(("place", "text"), [((5, 0, 0), "5"), ((5, 2, 0), "(5, 2)"), ((0, 0, 3), "(0, 0, 3)")])
def test_coordinates(place: tuple[int, int, int], text: str) -> None:
    assert exercise.coordinates(place) == text


def test_cells_say_who_wrote_in_few_letters() -> None:
    cells = exercise.failing(shifted()).data["arrays"][0]["cells"]
    assert (cells[5]["writer"], cells[5]["owner"]) == ("b1 t0", "b1 t1")
    assert cells[0]["writer"] == ""
    assert cells[2]["by"] == cells[2]["by"] != cells[3]["by"]


def test_the_picture_and_the_size_of_the_largest() -> None:
    (array,) = shifted().arrays
    line = dataclasses.replace(LINE, text="x" * 160)
    writer = dataclasses.replace(thread(1), where=line, instruction="y" * 160)
    element = ArrayElement(123_456_789, "wrong", "-1.234567e+38", "-1.234567e+38", writer, thread(1, False))
    largest = dataclasses.replace(
        array, name="n" * 100, shape=(10_000_000,), wrong=10_000_000, rows=16, columns=16, elements=(element,) * 256,
        beside=(dataclasses.replace(element, state="written outside"),) * 32, overview=((1, 1, 1),) * 96,
    )  # fmt: skip
    shown = exercise.failing(shifted(arrays=(largest,) * 3))
    assert len(json.dumps(shown.message())) < 1_000_000
    assert len(shown.table.rows) == exercise.MOST_ROWS
    assert shown.png().startswith(b"\x89PNG")


def test_an_input_is_said_to_be_one() -> None:
    (array,) = shifted().arrays
    assert exercise.story(array, ArrayElement(3, "given", "", "7", None, None)) == ["out[3] is 7: an input."]


def test_the_first_to_look_at_is_the_first_that_is_not_right() -> None:
    """Where no thread wrote what belongs to another."""
    (array,) = shifted().arrays
    fine, gone = array.elements[2], dataclasses.replace(array.elements[0], index=4)
    shown = exercise.failing(shifted(arrays=(dataclasses.replace(array, elements=(fine, gone), beside=()),)))
    assert shown.data["arrays"][0]["first"] == 4


@pytest.mark.parametrize(
    ("size", "index", "said"),
    [(6, 6, "out ends at out[5]"), (6, -1, "out begins at out[0]"), (0, 0, "out has no elements"),
     (1, 1, "out ends at out[0]")],
)  # fmt: skip
def test_an_element_beyond_either_end(size: int, index: int, said: str) -> None:
    (array,) = shifted().arrays
    outside = ArrayElement(index, "written outside", "", "6", thread(5))
    lines = exercise.story(dataclasses.replace(array, shape=(size,)), outside)
    assert lines[0] == f"out[{index}] does not exist: {said}."


@pytest.mark.parametrize(
    ("state", "writer", "owner", "stopped", "said"),
    [
        ("right", None, None, False, ["out[2] is 5, as it should be."]),
        ("right", None, 2, False, ["out[2] is 5, as it should be.", BELONGS]),
        ("right", 2, 2, True, ["out[2] is 5, as it should be.", WROTE]),
        ("never written", None, None, False, [NEVER]),
        ("never written", None, 2, False, [NEVER, BELONGS]),
        ("never written", 2, 2, True, [NEVER, WROTE, STOPPED]),
        ("never written", 2, 2, False, [NEVER, WROTE]),
        ("wrong", None, None, False, [WRONG]),
        ("wrong", None, 2, False, [
            WRONG, BELONGS,
            "Who wrote it was not seen: the checked launch was stopped before, or the value was there."]),
        ("wrong", 2, None, False, [WRONG, WROTE]),
        ("wrong", 2, None, True, [WRONG, WROTE, STOPPED]),
        ("wrong", 2, 2, False, [
            WRONG, WROTE, "That is the right thread for it, so look at the value that it computes."]),
        ("wrong", 2, 2, True, [WRONG, WROTE, STOPPED]),
        ("wrong", 2, 5, True, [
            WRONG, WROTE, STOPPED, "By the exercise it belongs to thread 1 of block 1."]),
    ],
)  # fmt: skip
def test_an_element_in_sentences(
    state: str, writer: int | None, owner: int | None, stopped: bool, said: list[str]
) -> None:
    (array,) = shifted().arrays
    whose = None if owner is None else thread(owner, False)
    element = ArrayElement(2, state, "7", "5", None if writer is None else thread(writer), whose)
    assert exercise.story(array, element, stopped) == said
    with_inputs = dataclasses.replace(element, inputs=(("x[2]", "3"), ("n is odd", "")))
    assert exercise.story(array, with_inputs, stopped) == [said[0], "Its inputs: x[2] = 3, n is odd.", *said[1:]]


@pytest.mark.parametrize(
    ("state", "found", "seen", "said"),
    [
        ("written outside", "9", True, [
            "Thread 2 of block 0 (wave 0, lane 2) wrote there, in line 4, “out[i + 1] = i;”.",
            "It left 9 there, in memory that belongs to something else."]),
        ("read outside", "", True, ["Thread 2 of block 0 (wave 0, lane 2) read there, in line 4, “out[i + 1] = i;”."]),
        ("written outside", "", False, []),
    ],
)  # fmt: skip
def test_an_element_outside_in_sentences(state: str, found: str, seen: bool, said: list[str]) -> None:
    (array,) = shifted().arrays
    line = dataclasses.replace(LINE, text="  out[i + 1] = i;")
    writer = dataclasses.replace(thread(2), where=line) if seen else None
    lines = exercise.story(array, ArrayElement(6, state, "", found, writer, None))
    assert lines == ["out[6] does not exist: out ends at out[5].", *said]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "thread 1 of block (2, 3) (wave 4, lane 5)"), ({"lane": None}, "thread 1 of block (2, 3) (wave 4)"),
        ({"wave": None}, "thread 1 of block (2, 3)"), ({"thread": None}, "thread ? of block (2, 3) (wave 4, lane 5)"),
    ],
)  # fmt: skip
def test_a_thread_in_words(changes: dict[str, Any], said: str) -> None:
    writer = Writer((2, 3, 0), (1, 0, 0), True, 4, 5, None, "x")
    assert exercise.who(dataclasses.replace(writer, **changes)) == said


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        # (who wrote, whose it is)
        ([(2, 2)], ""),
        ([(1, 2)], "One of the wrong elements was written by another thread than the exercise has in mind."),
        ([(1, 2), (2, 3)], MANY.format(2) + ", each by the thread before its own."),
        ([(3, 2), (4, 3)], MANY.format(2) + ", each by the thread after its own."),
        ([(1, 4), (2, 5)], MANY.format(2) + ", each by the one 3 threads before its own."),
        ([(5, 3), (4, 2)], MANY.format(2) + ", each by the one 2 threads after its own."),
        ([(5, 3), (4, 3)], MANY.format(2) + "."),
    ],
)  # fmt: skip
def test_threads_that_are_off(pairs: list[tuple[int, int]], said: str) -> None:
    (array,) = shifted().arrays
    elements = tuple(
        ArrayElement(number, "wrong", "1", "2", thread(one), thread(other, False))
        for number, (one, other) in enumerate(pairs)
    )
    case = shifted(arrays=(dataclasses.replace(array, elements=elements),))
    assert exercise.failing(case).data["arrays"][0]["shift"] == said


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "out (6 elements): 4 wrong, 1 never written, 1 written outside of it"),
        ({"right": 1, "wrong": 0, "never": 0, "outside": 0}, "out (1 element): all right"),
        ({"right": 1, "wrong": 0, "never": 0, "outside": 0, "given": True}, "out (1 element): an input"),
        ({"right": 2000, "wrong": 1000, "never": 0, "outside": 0}, "out (3,000 elements): 1,000 wrong"),
        ({"wrong": 0, "never": 1, "outside": 0, "beside": (ArrayElement(7, "read outside", "", "", None, None),)},
         "out (2 elements): 1 never written, a read outside of it"),
    ],
)  # fmt: skip
def test_elements_are_counted(changes: dict[str, Any], said: str) -> None:
    (array,) = shifted().arrays
    changed = dataclasses.replace(array, **changes)
    assert exercise.failing(shifted(arrays=(changed,))).data["arrays"][0]["counts"] == said


@pytest.mark.parametrize(("count", "rows"), [(0, []), (8, [8]), (9, [8, 1]), (16, [8, 8]), (20, [8, 8])])
def test_elements_outside_in_rows(count: int, rows: list[int]) -> None:
    """Rows of eight, two at most, of which the first is named."""
    (array,) = shifted().arrays
    beside = tuple(ArrayElement(6 + n, "written outside", "", "6", None) for n in range(count))
    found = exercise._layout(dataclasses.replace(array, beside=beside))[1:]
    assert [len(elements) for _, elements in found] == rows
    assert [label for label, _ in found] == ["outside", ""][: len(rows)]
    assert [e.index for _, elements in found for e in elements] == list(range(6, 6 + sum(rows)))


def test_an_array_of_no_elements() -> None:
    (array,) = shifted().arrays
    none = dataclasses.replace(
        array, shape=(0,), right=0, wrong=0, never=0, outside=0, rows=0, elements=(), beside=(), overview=(), part=2000
    )
    (data,) = exercise.failing(shifted(arrays=(none,))).data["arrays"]
    assert {key: data[key] for key in ("first", "rows", "cells", "moreBeside", "overview", "window", "part")} == {
        "first": 0, "rows": [], "cells": [], "moreBeside": 0, "overview": [], "window": "", "part": "2,000 elements",
    }  # fmt: skip
