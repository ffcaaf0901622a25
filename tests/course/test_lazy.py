"""Each exercise is shown, by wrong answers, to reject at least three that give right values without its technique."""

import pytest

from gpulab.grading import exercise_ids, load
from gpulab.grading.answers import wrong_answers
from gpulab.grading.judgement import asked

LEAST = 3


@pytest.mark.parametrize("id", exercise_ids())
def test_lazy_answers(id: str) -> None:
    """Rejected by a requirement: values, bounds and races of these answers are right."""
    lazy = [answer.name for answer in wrong_answers(id) if answer.cause in asked(load(id))]
    assert len(lazy) >= LEAST, lazy
