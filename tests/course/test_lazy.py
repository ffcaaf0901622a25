"""Each exercise is shown, by wrong answers, to reject at least three that give right values without its technique."""

import pytest

from gpulab.grading import exercise_ids, load
from gpulab.grading.answers import wrong_answers

LEAST = 3
FEWER = {
    "scan-many-blocks": (2, "what else is lazy has a data race or waits for a block that never runs"),
    "port-checks": (1, "the output is the exercise: right values without the technique are right answers"),
    "without-blas": (1, "a program on the host is rejected by what kernels must have computed, not by a requirement"),
    "port-a-program": (2, "as without-blas"),
    "choose-device": (1, "the output is the choice: right values come from right properties alone"),
}
"""Exercises with fewer: how many, and why."""


@pytest.mark.parametrize("id", exercise_ids())
def test_lazy_answers(id: str) -> None:
    """Rejected by a requirement: values, bounds and races of these answers are right."""
    asked = {requirement.name for requirement in load(id).requirements}
    lazy = [answer.name for answer in wrong_answers(id) if answer.cause in asked]
    least, why = FEWER.get(id, (LEAST, ""))
    assert len(lazy) >= least, lazy
    assert len(lazy) < LEAST or not why, f"{id} has {lazy} now: take it out of the list"
