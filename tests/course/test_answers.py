"""Every wrong answer of the course is rejected with its cause, every right one passes, and what learners get fails.

The rules are course/check.py's. Each answer is judged once in `make test`; the solutions in the notebooks are right
answers too, which nbval runs. Reports on the other wrong answers than one of each exercise are made in `make test-all`.
"""

import dataclasses

import check as course
import numpy as np
import pytest

import gpulab
from gpulab.grading import exercise_ids, load
from gpulab.grading.answers import right_answers, wrong_answer, wrong_answers
from gpulab.grading.exercise import Exercise
from tests import complaints


def said(exercise, answers):
    """The complaints about answers that were judged."""
    return "\n".join(str(each) for answer in answers for each in course.of_verdict(exercise, answer))


@pytest.mark.parametrize("id", exercise_ids())
def test_wrong_answers_are_rejected_with_their_causes(id):
    """On the first architecture, whose waves of 64 show most; on the others where it does not tell; then on all."""
    exercise = load(id)
    left = list(wrong_answers(id))
    for archs in (exercise.archs[:1], exercise.archs[1:] or exercise.archs, exercise.archs):
        found = {each: said(exercise, [judged_on(exercise, each, archs)]) for each in left}
        left = [each for each in left if found[each]]
    complaints.none(found[each] for each in left)


def judged_on(exercise, answer, archs):
    return course.judged_wrong(dataclasses.replace(exercise, archs=archs), answer, explained=False)


@pytest.mark.parametrize("id", exercise_ids())
def test_wrong_answers_are_explained(id):
    """The smallest failing input, and its picture."""
    exercise = load(id)
    answers = wrong_answers(id) if isinstance(exercise, Exercise) else [course.example(exercise)]
    complaints.none([said(exercise, [course.judged_wrong(exercise, each) for each in answers])])


@pytest.mark.parametrize("id", exercise_ids())
def test_right_answers_pass(id):
    exercise = load(id)
    verdicts = {name: course.judged(exercise, text) for name, text in right_answers(id).items()}
    complaints.none([said(exercise, [course.Judged(name, verdict) for name, verdict in verdicts.items()])])


@pytest.mark.parametrize("id", exercise_ids())
def test_what_learners_get_fails_since_nothing_is_written(id):
    complaints.none(course.of_released(id))


def test_reports_are_the_same_every_time():
    source = wrong_answer("saxpy-guard", "missing-guard").source
    assert gpulab.check("saxpy-guard", source).text == gpulab.check("saxpy-guard", source).text


def test_row_scan_asks_for_lines_and_banks_where_all_blocks_are_full():
    """Blocks of 64 rows: with 100, 3 and 1 rows the last one loads less than whole lines for each wave."""
    exercise = load("row-scan")
    asked = {requirement.name: requirement.when for requirement in exercise.requirements}
    random = np.random.default_rng(0)
    cases = {given["n"]: exercise.make(given, random) for given in exercise.cases}
    assert list(asked) == ["memory-lines", "bank-conflicts", "loaded-by-the-wave"]
    for name, when in asked.items():
        assert {n for n, case in cases.items() if n and when(case)} == {256, 64}, name


def test_an_output_that_is_added_to_is_not_one_that_nothing_is_written_to():
    """An output holds so large a number before the launch that an addition does not show: something was stored."""
    adds = wrong_answer("row-per-wave", "adds-to-y").source
    verdict = gpulab.check("row-per-wave", adds)
    assert verdict.cause == "adds-to-what-was-there"
    assert ", as before" in verdict.text
    nothing = adds.replace("y[row] +=", "if (lane > 99) y[row] +=")
    assert gpulab.check("row-per-wave", nothing).cause == "nothing-written"
