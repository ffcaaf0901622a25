"""Exercises that are read: one frame for all of them, with Python functions in place of kernels."""

from __future__ import annotations

import random

import numpy as np
import pytest

from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.judge import judge
from gpulab.grading.questions import Questions
from tests.grading.fakes import PythonBench

asked = Questions([3, -1, 7], "statement")


@pytest.fixture(autouse=True)
def own_progress(tmp_path, monkeypatch):
    monkeypatch.setenv("GPULAB_PROGRESS", str(tmp_path / "progress.json"))


def exercise() -> Exercise:
    known = Cause("second-is-five", "the second is five", asked.answered(1, 4, 5), "why", "next")
    return Exercise(
        id="three", title="three statements", lesson="21_waits", section="A section", kernel="store",
        causes=(asked.missing, known), hints=("a", "b", "c"), **asked.frame,
    )  # fmt: skip


def storing(*numbers: int) -> PythonBench:
    def store(thread, answers):
        if thread.number < len(numbers):
            answers[thread.number] = numbers[thread.number]

    return PythonBench(store)


def test_the_right_numbers_pass_and_no_others() -> None:
    assert judge(exercise(), "source", storing(3, -1, 7)).passed
    for wrong in ((3, -1, 8), (4, -1, 7), (3, 1, 7)):
        verdict = judge(exercise(), "source", storing(*wrong))
        assert (verdict.passed, verdict.cause) == (False, "")


@pytest.mark.parametrize(
    ("numbers", "cause"),
    [((3, -1), "answers-missing"), ((3, 5, 7), "second-is-five"), ((3, 4, 7), "second-is-five")],
)
def test_known_mistakes(numbers: tuple[int, ...], cause: str) -> None:
    assert judge(exercise(), "source", storing(*numbers)).cause == cause


def test_words() -> None:
    cause = asked.missing
    assert cause.title == "not all three answers are stored"
    assert cause.why == "Each of the statements A to C has a place in answers."
    assert Questions([1] * 12).missing.why == "Each of the questions A to L has a place in answers."
    assert exercise().fixed_sizes == "there are always three answers, and 64 threads"


def test_one_size_is_tried_drawn_and_shown() -> None:
    made = exercise()
    sizes = [*made.cases, *made.drawn(random.Random(1)), made.smallest, made.shown]
    assert sizes == [{"block": 64}] * len(sizes)
    assert len(made.drawn(random.Random(1))) == 4
    case = made.make({"block": 64}, np.random.default_rng(1))
    assert (case.grid, case.block) == ((1, 1, 1), (64, 1, 1))


def test_answers_are_kept_from_pictures_and_belong_to_the_first_threads() -> None:
    made = exercise()
    case = made.make({"block": 64}, np.random.default_rng(1))
    answers = case.array("answers")
    assert answers.secret
    assert answers.wanted.tolist() == [3, -1, 7]
    assert len(set(answers.data.tolist()) & {3, -1, 7}) == 0
    assert [made.owner(case, index) for index in (-1, 0, 2, 3)] == [
        None, ((0, 0, 0), (0, 0, 0)), ((0, 0, 0), (2, 0, 0)), None,
    ]  # fmt: skip
