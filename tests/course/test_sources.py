"""The course is consistent: every rule of course/check.py holds for every text and exercise of it."""

import re

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


@pytest.mark.parametrize("job", LESSONS, ids=lambda job: job.name)
def test_a_parameter_that_a_launch_divides_says_of_what_it_is_a_multiple(job):
    """With another number the grid would be empty, or a part would be left out."""
    text = job.source.read_text(encoding="utf-8")
    parameters = re.search(r":tags: \[parameters\]\n(.*?)```", text, re.DOTALL)
    for line in parameters[1].splitlines() if parameters else ():
        name = line.partition(" = ")[0]
        if name and re.search(rf"\[\(?{name} // |, \({name} // ", text):
            assert "multiple" in parameters[1] or "power of two" in line, line
