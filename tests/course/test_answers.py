"""Every wrong answer of the course is rejected with its cause, every right one passes, and what learners get fails.

The rules are course/check.py's; two processes judge while the tests wait, each for its exercise.
"""

from pathlib import Path

import check as course
import pytest

import gpulab
from gpulab.grading import exercise_ids, load
from gpulab.grading.exercise import Exercise
from tests.course.ahead import ahead

ROOT = Path(__file__).resolve().parents[2]
EXERCISES = ROOT / "course" / "exercises"


@pytest.fixture(scope="module")
def judged(request):
    with ahead(request, "test_all_answers", "id", course.of_answers) as results:
        yield results


def test_there_are_answers():
    assert len(list(EXERCISES.glob("*/wrong/*.hip"))) >= 40 * 3
    assert len(list(EXERCISES.glob("*/right/*.hip"))) >= 40 * 2


@pytest.mark.parametrize("id", exercise_ids())
def test_all_answers(id, judged):
    found = judged[id].result()
    assert not found, "\n".join(map(str, found))


@pytest.mark.parametrize(
    "path",
    [sorted(EXERCISES.glob(f"{id}/wrong/*.hip"))[0] for id in exercise_ids()],
    ids=lambda path: path.parents[1].name,
)
def test_a_report_says_what_failed_why_and_where_to_read_on(path):
    id, source = path.parents[1].name, path.read_text()
    verdict, exercise = gpulab.check(id, source), load(id)
    text = " ".join(verdict.text.split())
    known = (*exercise.causes, *exercise.requirements, *course.general_causes(exercise))
    assert next(each.title for each in known if each.name == verdict.cause) in text
    assert "fails with" in text
    assert f'gpulab.hint("{id}")' in text
    assert exercise.section in text
    assert isinstance(exercise, Exercise) != (not verdict.smallest)


def test_reports_are_the_same_every_time():
    path = EXERCISES / "saxpy-guard" / "wrong" / "missing-guard.hip"
    assert gpulab.check("saxpy-guard", path.read_text()).text == gpulab.check("saxpy-guard", path.read_text()).text
