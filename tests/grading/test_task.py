"""The picture of an exercise shows its inputs and what is wanted, in words, in numbers and drawn."""

import numpy as np
import pytest

import gpulab
from gpulab.errors import CheckError
from gpulab.grading import exercise_ids, load
from gpulab.grading.case import Array, Case, Value
from gpulab.grading.exercise import Exercise
from gpulab.grading.task import _drawn, _thread, shown


def exercise(make, **changes):
    settings = {
        "id": "twice", "title": "twice", "lesson": "02_simt", "section": "Neighbours", "kernel": "twice",
        "signature": "int n, float* x", "make": make, "cases": ({"n": 1000}, {"n": 8}, {"n": 2}), "causes": (),
        "hints": ("a", "b", "c"), "smallest": {"n": 1},
    }  # fmt: skip
    return Exercise(**{**settings, **changes})


def make(parameters, random):
    x = np.arange(parameters["n"], dtype="float32")
    return Case(parameters, (2, 1, 1), (4, 1, 1), (Value("n", np.int32(parameters["n"])), Array("x", x, 2 * x)))


def test_inputs_and_wanted_outputs_in_words_numbers_and_a_picture():
    picture = gpulab.exercise("three-point-mean")
    assert "n = 7; grid of 2 blocks, 4 threads each" in picture.sentence
    assert "Before the launch: in; wanted after it: out." in picture.sentence
    data = load("three-point-mean").case({"n": 7, "block": 4}).array("in").data
    rows = {row[0]: row for row in picture.table.rows}
    assert rows["in"][1:] == ("before the launch", "7", ", ".join(f"{value:g}" for value in data))
    assert rows["out"][3].split(", ")[1] == f"{data[:3].mean():.4g}"
    assert picture.png().startswith(b"\x89PNG")


@pytest.mark.parametrize("id", ["read-the-waits", "trust-the-times"])
def test_answers_to_questions_are_told_nowhere(id):
    """Their picture has question marks, and a report says how many are wrong, neither which nor what is right."""
    asked = load(id)
    answers = asked.case(asked.cases[0]).array("answers").expected
    picture = gpulab.exercise(id)
    assert picture.table.rows[0][3] == ", ".join("?" * len(answers))
    assert not any(char.isdigit() for char in picture.table.rows[0][3])
    stores = "".join(f"answers[{place}] = {answer + 100};" for place, answer in enumerate(answers))
    verdict = gpulab.check(id, f"__global__ void store_answers(int* answers) {{ {stores} }}")
    rows = {row.label: row.text for row in verdict.rows}
    assert rows["wrong"] == f"{len(answers)} of {len(answers)} elements of answers"
    assert "values" not in rows
    assert verdict.case is None


def test_the_smallest_case_with_something_to_see_is_shown():
    assert shown(exercise(make)).parameters == {"n": 8}
    assert shown(exercise(make, shown={"n": 2})).parameters == {"n": 2}


def test_each_exercise_has_enough_to_see():
    """Outputs of at least `ENOUGH` elements, of its own cases or the one that it names."""
    for name in exercise_ids():
        asked = load(name)
        if isinstance(asked, Exercise) and asked.shown is None:
            sizes = [[array.data.size for array in asked.case(each).outputs] for each in asked.cases]
            enough = [sum(case) for case in sizes if min(case) >= 6]
            drawn = [array.data.size for array in shown(asked).outputs]
            assert min(drawn) >= 6 or not enough, name


def test_outputs_that_are_just_large_enough_are_shown():
    assert shown(exercise(make, cases=({"n": 1000}, {"n": 6}, {"n": 5}))).parameters == {"n": 6}


def test_rows_of_three_dimensions_have_the_place_of_their_first_element():
    """Of 64 elements each; four rows, of each sixteen elements."""
    drawn = gpulab.exercise("flash-attention").figure()
    texts = [text.get_text() for text in drawn.axes[0].texts]
    assert [text for text in texts if text.startswith("[")] == ["[0]", "[64]", "[128]", "[192]"]
    assert "4,032 more" in texts


def test_what_a_launch_finds_in_an_output_is_shown_only_if_it_means_something():
    assert [row[:2] for row in gpulab.exercise("first-fill").table.rows] == [("out", "wanted after it")]
    assert [row[:2] for row in gpulab.exercise("saxpy-guard").table.rows] == [
        ("x", "before the launch"), ("y", "before the launch"), ("y", "wanted after it"),
    ]  # fmt: skip


def test_an_unknown_exercise_is_named():
    with pytest.raises(CheckError, match="no exercise 'first-fil'"):
        gpulab.exercise("first-fil")


@pytest.mark.parametrize(
    ("grid", "block", "text"),
    [
        ((2, 1, 1), (4, 1, 1), "b1 t3"), ((2, 1, 1), (4, 2, 1), "t3,1"), ((2, 2, 1), (4, 1, 1), "t3,1"),
        ((2, 1, 2), (4, 1, 1), "t3,1"), ((2, 1, 1), (4, 2, 2), "t3,1,2"), ((2, 1, 1), (4, 1, 2), "t3,1,2"),
    ],
)  # fmt: skip
def test_threads_as_they_fit_into_a_cell(grid, block, text):
    assert _thread(Case({}, grid, block), (1, 0, 0), (3, 1, 2)) == text


@pytest.mark.parametrize(
    ("shape", "rows", "columns"),
    [
        ((5,), 1, 5), ((16,), 1, 16), ((17,), 2, 1), ((40,), 2, 16), ((3, 4), 3, 4), ((8, 16), 8, 16), ((9, 17), 8, 16),
        ((2, 3, 4), 4, 4), ((0,), 0, 0), ((3, 0), 0, 0),
    ],
)  # fmt: skip
def test_so_many_rows_and_columns_are_drawn(shape, rows, columns):
    """Of one dimension two rows of sixteen, of two eight, of three four; owners stand beside what is wanted."""
    data = np.arange(np.prod(shape), dtype="int32").reshape(shape)
    array = Array("x", data, data + 1)
    asked = exercise(make, owner=lambda case, index: ((0, 0, 0), (index, 0, 0)) if index % 2 else None)
    case = Case({}, (1, 1, 1), (256, 1, 1), (array,))
    width = shape[-1] if len(shape) > 1 else 16
    for role, more in (("before", 0), ("after", 1)):
        drawn = _drawn(asked, case, array, role)
        assert (drawn.name, drawn.role, drawn.shape) == ("x", role, shape)
        assert (len(drawn.values), len(drawn.values[-1]) if rows else 0) == (rows, columns)
        firsts = [row * width for row in range(rows)]
        assert [row[0] for row in drawn.values] == [str(first + more) for first in firsts]
        owners = [[f"b0 t{first + at}" if (first + at) % 2 else "" for at in range(len(row))]
                  for first, row in zip(firsts, drawn.values, strict=True)]  # fmt: skip
        told = role == "after" and any(map(any, owners))
        assert [list(row) for row in drawn.owners] == (owners if told else [])
