"""Every wrong answer of the course is rejected with its cause, every right one passes, and what learners get fails.

The rules are course/check.py's. Each answer is judged once, in `make test` without a report; the solutions in the
notebooks are right answers too, which nbval runs. Where reports are made, they are of the same runs.
"""

import dataclasses

import check as course
import numpy as np
import pytest

import gpulab
from gpulab.grading import exercise_ids, judge, load, report
from gpulab.grading.answers import right_answers, wrong_answer, wrong_answers
from gpulab.grading.exercise import Exercise
from tests import complaints


def said(exercise, answers):
    """The complaints about answers that were judged."""
    return "\n".join(str(each) for answer in answers for each in course.of_verdict(exercise, answer))


def part_of_the_explained(id):
    """Of kernels the test that explains wrong answers has what they are rejected for without it."""
    marks = [pytest.mark.part_of("test_wrong_answers_are_explained")] if isinstance(load(id), Exercise) else []
    return pytest.param(id, marks=marks)


@pytest.mark.parametrize("id", [part_of_the_explained(id) for id in exercise_ids()])
def test_wrong_answers_are_rejected_with_their_causes(id):
    complaints.none(of_rejections(load(id), wrong_answers(id)))


def of_rejections(exercise, answers):
    """On the first architecture, whose waves of 64 show most; on the others where it does not tell; then on all."""
    left = list(answers)
    for archs in (exercise.archs[:1], exercise.archs[1:] or exercise.archs, exercise.archs):
        found = {each: said(exercise, [judged_on(exercise, each, archs)]) for each in left}
        left = [each for each in left if found[each]]
    return [found[each] for each in left]


def judged_on(exercise, answer, archs):
    return course.judged_wrong(dataclasses.replace(exercise, archs=archs), answer, explained=False)


@pytest.mark.parametrize("id", exercise_ids())
def test_wrong_answers_are_explained(id, monkeypatch):
    """The smallest failing input, and its picture; and of kernels what the test above asks, of the same runs."""
    exercise = load(id)
    if not isinstance(exercise, Exercise):
        complaints.none([said(exercise, [course.judged_wrong(exercise, course.example(exercise))])])
        return
    plain = []  # an answer's rejection as it is without an explanation

    def explain(exercise, source, kernels, failure, tried):
        plain.append(course.Judged(answer.name, report.rejected(exercise, failure, tried, {}), answer, False))
        return usual(exercise, source, kernels, failure, tried)

    usual = judge.explain
    monkeypatch.setattr(judge, "explain", explain)
    found, others = [], []
    for answer in wrong_answers(id):
        plain.clear()
        found.append(said(exercise, [course.judged_wrong(exercise, answer)]))
        if not plain or said(exercise, plain):  # not on all architectures together: then on one
            others.append(answer)
    complaints.none([*found, *of_rejections(exercise, others)])


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
