"""Every wrong answer of the course is rejected with its cause, every right one passes, and what learners get fails.

The rules are course/check.py's, which judges each answer once; two processes judge while the tests wait, each for its
exercise.
"""

import check as course
import pytest

import gpulab
from gpulab.grading import exercise_ids
from gpulab.grading.answers import wrong_answer
from tests.course.ahead import ahead


@pytest.fixture(scope="module")
def judged(request):
    with ahead(request, "test_all_answers", "id", course.of_answers) as results:
        yield results


@pytest.mark.parametrize("id", exercise_ids())
def test_all_answers(id, judged):
    found = judged[id].result()
    assert not found, "\n".join(map(str, found))


def test_reports_are_the_same_every_time():
    source = wrong_answer("saxpy-guard", "missing-guard").source
    assert gpulab.check("saxpy-guard", source).text == gpulab.check("saxpy-guard", source).text
