"""nbgrader's own gradebook gets our points, by whatever way its assignments came there."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from gpulab.classroom import gradebook
from gpulab.classroom.results import MISSING, NOT_JUDGED, UNREAD, GradedExercise
from gpulab.errors import CheckError

RIGHT = GradedExercise("ann", "first-fill", "passed", "", "", "", Fraction(2), Fraction(2))
PART = replace(RIGHT, student="bob", status="wrong", points=Fraction(3, 2))
UNREADABLE = replace(RIGHT, student="cy", status=UNREAD, points=Fraction(0))
ABSENT = replace(RIGHT, student="dee", status=MISSING, points=Fraction(0))
UNJUDGED = replace(RIGHT, student="eve", status=NOT_JUDGED, points=None)
STRAY = replace(RIGHT, student="fay", exercise="", points=None)
ROWS = [RIGHT, PART, UNREADABLE, ABSENT, UNJUDGED, STRAY]


def scores(path: Path, assignment: str = "first-fill") -> dict[str, tuple[float, float]]:
    with Gradebook(f"sqlite:///{path}", course_id="") as book:
        found = book.assignment_submissions(assignment)
        return {each.student.id: (each.score, each.max_score) for each in found}


def test_a_new_gradebook(tmp_path: Path) -> None:
    path = tmp_path / "gradebook.db"
    assert gradebook.write(str(path), ROWS) == []
    assert scores(path) == {"ann": (2, 2), "bob": (1.5, 2), "cy": (0, 2)}
    assert gradebook.write(f"sqlite:///{path}", ROWS) == []
    assert scores(path) == {"ann": (2, 2), "bob": (1.5, 2), "cy": (0, 2)}
    with Gradebook(f"sqlite:///{path}", course_id="") as book:
        assert not book.find_submission("first-fill", "bob").needs_manual_grade


def test_a_notebook_of_another_assignment_and_cells_with_other_points(tmp_path: Path) -> None:
    """week1 has the notebook, with two check cells that are worth 3 and 1."""
    path = tmp_path / "gradebook.db"
    with Gradebook(f"sqlite:///{path}", course_id="") as book:
        book.add_assignment("week1")
        book.add_notebook("first-fill", "week1", kernelspec="{}")
        for name, worth in (("a", 3), ("b", 1)):
            book.add_grade_cell(name, "first-fill", "week1", max_score=worth, cell_type="code")
    gradebook.write(str(path), ROWS)
    assert scores(path, "week1") == {"ann": (4, 4), "bob": (3, 4), "cy": (0, 4)}
    third = replace(RIGHT, student="gus", points=Fraction(1), full=Fraction(3))
    nothing = replace(RIGHT, student="hal", points=Fraction(0), full=Fraction(0))
    assert gradebook.write(str(path), [third, nothing]) == []
    found = scores(path, "week1")
    assert (found["gus"], found["hal"]) == ((1 + 0.3333, 4), (0, 4)), "each cell's score has four digits"


def test_what_nbgrader_or_the_instructor_found_otherwise_is_said(tmp_path: Path) -> None:
    path = tmp_path / "gradebook.db"
    gradebook.write(str(path), [RIGHT, PART])
    with Gradebook(f"sqlite:///{path}", course_id="") as book:
        cheated = book.find_grade("first-fill-check-2", "first-fill", "first-fill", "bob")
        cheated.auto_score = 2
        by_hand = book.find_grade("first-fill-check-2", "first-fill", "first-fill", "ann")
        by_hand.manual_score = 1
        book.db.commit()
    assert gradebook.write(str(path), [RIGHT, PART]) == [
        "ann, first-fill: 1 were given by hand, which counts; gpulab gives 2",
        "bob, first-fill: nbgrader gave 2 of 2, gpulab gives 1.5",
    ]
    assert scores(path) == {"ann": (1, 2), "bob": (1.5, 2)}


def test_why_an_answer_without_points_could_not_be_read_is_said(tmp_path: Path) -> None:
    path = tmp_path / "gradebook.db"
    gradebook.write(str(path), [replace(UNREADABLE, status="passed", points=Fraction(2))])
    assert gradebook.write(str(path), [replace(UNREADABLE, reason="first-fill.ipynb: it is larger than 16 MB")]) == [
        "cy, first-fill: nbgrader gave 2 of 2, gpulab gives 0 (first-fill.ipynb: it is larger than 16 MB)"
    ]


def test_errors_are_sentences(tmp_path: Path) -> None:
    absent = tmp_path / "absent" / "gradebook.db"
    with pytest.raises(CheckError) as error:
        gradebook.write(str(absent), [RIGHT])
    assert error.value.what == (
        f"The gradebook {absent} cannot be written: (sqlite3.OperationalError) unable to open database file."
    )
    path = tmp_path / "gradebook.db"
    with Gradebook(f"sqlite:///{path}", course_id="") as book:
        for week in ("week1", "week2"):
            book.add_assignment(week)
            book.add_notebook("first-fill", week, kernelspec="{}")
            book.add_grade_cell("a", "first-fill", week, max_score=1, cell_type="code")
    with pytest.raises(CheckError, match="several assignments: week1, week2"):
        gradebook.write(str(path), [RIGHT])


def test_the_assignment_with_the_exercises_own_name_comes_first(tmp_path: Path) -> None:
    path = tmp_path / "gradebook.db"
    with Gradebook(f"sqlite:///{path}", course_id="") as book:
        for name in ("first-fill", "week1", "week2"):
            book.add_assignment(name)
            book.add_notebook("first-fill", name, kernelspec="{}")
            book.add_grade_cell("a", "first-fill", name, max_score=4, cell_type="code")
        book.add_assignment("empty")
        book.add_notebook("saxpy-guard", "empty", kernelspec="{}")  # it has no cell for points
    saxpy = replace(RIGHT, exercise="saxpy-guard")
    nothing = replace(RIGHT, exercise="block-sum", points=Fraction(0), full=Fraction(0))
    assert gradebook.write(str(path), [PART, saxpy, nothing]) == []
    assert scores(path) == {"bob": (3, 4)}
    assert scores(path, "saxpy-guard") == {"ann": (2, 2)}
    assert scores(path, "block-sum") == {"ann": (0, 0)}
    assert scores(path, "week1") == scores(path, "week2") == scores(path, "empty") == {}


def test_addresses(tmp_path: Path) -> None:
    assert gradebook.address("postgresql://host/grades") == "postgresql://host/grades"
    assert gradebook.address("grades.db") == f"sqlite:///{Path.cwd() / 'grades.db'}"
