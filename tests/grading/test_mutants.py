"""Reviewed mutants of right answers (tests/grading/mutants): each is judged as its list says, and no cause is wrong.

tools/answer_mutants.py makes the mutants and the lists; a person has said of each cause that it is the right one.
"""

import dataclasses
import sys
from pathlib import Path

import pytest

from gpulab.grading import exercise_ids, load
from gpulab.grading.program import ProgramExercise
from tests import complaints

sys.path.append(str(Path(__file__).parents[2] / "tools"))
import answer_mutants

ENDLESS = 6.0
"""Seconds of a run of a program that has no end, as its list says."""
LISTED = [id for id in exercise_ids() if answer_mutants.reviewed(id)]
SAMPLE = LISTED[::4]


def judged_as_listed(id, rows):
    """What differs between the list and what the check says now, and mutants that are not made any more."""
    exercise = load(id)
    mutants = {answer_mutants.key_of(mutant): mutant for mutant in answer_mutants.mutants(id)}
    differing = []
    for row in rows:
        if row.key not in mutants:
            differing.append(f"{row.key} is no mutant of {id} any more: make answer-mutants ANSWERS='--review {id}'")
            continue
        asked = exercise
        if isinstance(exercise, ProgramExercise) and row.cause == "never-ends":
            asked = dataclasses.replace(exercise, seconds=ENDLESS)
        found = answer_mutants.judge(asked, mutants[row.key])
        said = ("the same code", "-") if found is None else (found.status, found.cause or "-")
        if said != (row.status, row.cause):
            differing.append(f"{mutants[row.key]}: {said}, but the list has {(row.status, row.cause)}")
    return differing


@pytest.mark.part_of("test_all_mutants_are_judged_as_their_list_says")
@pytest.mark.parametrize("id", SAMPLE)
def test_a_mutant_is_judged_as_its_list_says(id):
    rejected = [row for row in answer_mutants.reviewed(id) if row.status == "wrong" and row.cause != "-"]
    complaints.none(judged_as_listed(id, rejected[:1]))


@pytest.mark.full
@pytest.mark.parametrize("id", LISTED)
def test_all_mutants_are_judged_as_their_list_says(id):
    complaints.none(judged_as_listed(id, answer_mutants.reviewed(id)))


@pytest.mark.parametrize("id", LISTED)
def test_lists_are_reviewed(id):
    rows = answer_mutants.reviewed(id)
    assert len({row.key for row in rows}) == len(rows)
    for row in rows:
        assert row.status in ("passed", "wrong", "fault", "requirement"), row
        expected = "equal" if row.status == "passed" else "not known" if row.cause == "-" else "right"
        assert row.review == expected, row
