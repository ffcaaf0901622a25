"""`make exercise`: what it begins is, with its marks filled in, a whole exercise that is built, checked and judged."""

import itertools
import re
from pathlib import Path

import build
import check as course
import new
import pytest

from gpulab.grading import load
from tests.course.small import small_course

ROOT = Path(__file__).resolve().parents[2]


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


@pytest.mark.parametrize("words", ["2", "02", "02_simt"])
def test_what_a_new_exercise_has_and_what_is_said(mine, capsys, words):
    """All files of the template, with its own name and lesson in each text; then the steps to go on with."""
    (mine / "lessons" / "01_first.md").write_text("# 01 · First\n")
    assert new.main(["twice-as-much", words]) == 0
    template = ROOT / "course" / "template"
    folder = mine / "exercises" / "twice-as-much"
    wanted = {
        path.relative_to(template): path.read_text(encoding="utf-8").replace("my-exercise", "twice-as-much")
        .replace("00_lesson", "02_simt").replace("lesson 00", "lesson 02")
        for path in texts(template)
    }  # fmt: skip
    assert {path.relative_to(folder): path.read_text(encoding="utf-8") for path in texts(folder)} == wanted
    assert not list(folder.rglob("__pycache__"))
    assert any("02_simt" in text and "twice-as-much" in text for text in wanted.values())
    lesson = {"lesson": "course/lessons/02_simt.md", "stem": "02_simt"}
    said = new.NEXT.format(folder="course/exercises/twice-as-much", name="twice-as-much", **lesson)
    assert capsys.readouterr().out == f"{said}\n"


def test_the_first_of_two_lessons_with_a_number_is_meant(mine):
    (mine / "lessons" / "02_more.md").write_text("# 02 · More\n")
    assert new.lesson_named("2").stem == "02_more"
    assert new.lesson_named("02_simt").stem == "02_simt"
