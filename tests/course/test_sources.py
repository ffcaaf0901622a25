"""The course is consistent: every rule of course/check.py holds for every text and exercise of it."""

import build
import check as course
import pytest

from gpulab.grading import exercise_ids

JOBS = build.jobs()
LESSONS = [job for job in JOBS if job.source.parent.name == "lessons"]


def said(found):
    return "\n".join(map(str, found))


def test_the_course_as_a_whole():
    assert not said(course.of_course())


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_a_text(job):
    assert not said(course.of_text(job))


@pytest.mark.parametrize("job", LESSONS, ids=lambda job: job.name)
def test_a_lesson_has_its_parts(job):
    assert not said(course.of_lesson(job))


@pytest.mark.parametrize("id", exercise_ids())
def test_an_exercise_is_complete(id):
    assert not said(course.of_exercise(id))
