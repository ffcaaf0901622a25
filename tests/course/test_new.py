"""`make exercise`: what it begins is, with its marks filled in, a whole exercise that is built, checked and judged."""

import itertools
import re

import build
import check as course
import new
import pytest

from gpulab.grading import load
from tests.course.small import small_course


@pytest.fixture
def mine(tmp_path, monkeypatch):
    with small_course(tmp_path, monkeypatch) as folder:
        yield folder


def said(**more):
    """The complaints about the new exercise."""
    return "\n".join(map(str, course.complaints(["twice-as-much"], **more)))


NUMBERS = itertools.count()


def filled(mark):
    """What an author writes in place of a mark."""
    heading = {"«a heading of the lesson»": "Neighbours", "«Heading-with-a-hyphen-for-each-space»": "Neighbours"}
    return heading.get(mark, f"Some words, number {next(NUMBERS)}.")


def texts(folder):
    """The files of an exercise; what Python compiled of them is no text."""
    return [path for path in folder.rglob("*.*") if "__pycache__" not in path.parts]


def test_a_new_exercise_is_whole_once_its_marks_are_filled_in(mine, capsys):
    assert new.main(["twice-as-much", "2"]) == 0
    steps = capsys.readouterr().out
    folder = mine / "exercises" / "twice-as-much"
    assert "course/exercises/twice-as-much is begun" in steps
    assert "python course/check.py --only twice-as-much" in steps
    assert load("twice-as-much").lesson == "02_simt"
    left = said(answers=False)
    marks = [mark for path in texts(folder) for mark in re.findall("«[^»]*»", path.read_text())]
    assert len(marks) > 10
    assert left.count("is not filled in") == len(marks)
    assert "course/exercises/twice-as-much/exercise.md:1: «what it is, in a few words» is not filled in" in left
    assert "lesson 02_simt does not link to it" in left

    for path in (each for each in texts(folder) if "«" in each.read_text()):
        path.write_text(re.sub("«[^»]*»", lambda found: filled(found[0]), path.read_text()))
    (line,) = re.findall(r"^ +(- \[twice-as-much\].*)$", steps, re.M)
    lesson = mine / "lessons" / "02_simt.md"
    lesson.write_text(lesson.read_text().replace("## Exercises\n\n", f"## Exercises\n\n{line}\n"))
    assert "no released notebook" in "".join(map(str, course.of_released("twice-as-much")))
    assert not said(answers=False)

    (job,) = build.jobs(["twice-as-much"])
    for path, contents in build.build(job, run=False).items():
        build.write(path, contents, check=False)
    answers = course.judged_answers("twice-as-much")
    assert not [str(found) for each in answers for found in course.of_verdict(load("twice-as-much"), each)]
    assert not list(course.of_released("twice-as-much"))
    assert {each.name: each.verdict.cause for each in answers} == {
        "usual": "", "grid-stride": "", "forgets-factor": "forgets-factor", "guard-one-too-far": "missing-guard",
        "missing-guard": "missing-guard", "one-thread": "work-not-shared", "thread-index-only": "thread-index-only",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "lesson", "answer"),
    [
        ("three-point-mean", "02", "There is a folder .*three-point-mean already"),
        ("Twice As Much", "02", "'Twice As Much' is no name"),
        ("", "02", "'' is no name for an exercise. Say NAME="),
        ("twice-as-much", "77", "There is no lesson '77'. Say LESSON= with one of: 02_simt"),
        ("twice-as-much", "", "There is no lesson ''"),
    ],
)
def test_what_cannot_be_begun_is_refused(mine, capsys, name, lesson, answer):
    before = sorted(mine.rglob("*"))
    assert new.main([name, lesson]) == 2
    assert re.search(answer, capsys.readouterr().out)
    assert sorted(mine.rglob("*")) == before


def test_the_solution_of_the_template_is_a_right_answer():
    """What the text shows as solution is what right/usual.hip is judged by."""
    template = build.COURSE / "template"
    text = (template / "exercise.md").read_text()
    solution = text.split("%%hip\n")[1].split("```")[0]
    plain = re.sub(r" *// (BEGIN|END) SOLUTION\n", "", solution)
    assert plain == (template / "right" / "usual.hip").read_text()
