"""Writes points into nbgrader's gradebook, through nbgrader's own interface.

A row goes to the notebook that has the exercise's name, in whatever assignment; where there is none, an assignment of
that name is made. The points become the automatic score of the notebook's check cells: what an instructor gave by hand
in the formgrader stays, and counts. Differences to what nbgrader's autograder had found are returned as sentences.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

from gpulab.classroom.points import number
from gpulab.classroom.results import MISSING, UNREAD, GradedExercise
from gpulab.errors import CheckError

CHECK_CELL = "{exercise}-check-2"
"""What course/build.py calls the check cell of an exercise."""


def address(place: str) -> str:
    """SQLAlchemy's address of a gradebook: the place itself if it is one, else that of a file of SQLite."""
    return place if "://" in place else f"sqlite:///{Path(place).absolute()}"


def write(place: str, rows: Iterable[GradedExercise]) -> list[str]:
    """Write the points of all rows that were judged; what is missing or was not judged stays as it is.

    Args:
        place: a file ("gradebook.db"), or an address of SQLAlchemy ("sqlite:///gradebook.db").

    Returns one sentence for each score that nbgrader had otherwise. Raises CheckError if the gradebook cannot be
    opened or written.
    """
    import warnings

    from nbgrader.api import Gradebook
    from sqlalchemy.exc import SAWarning, SQLAlchemyError

    said = []
    try:
        with warnings.catch_warnings(), Gradebook(address(place), course_id="") as book:
            warnings.simplefilter("ignore", SAWarning)  # of nbgrader's own way to make submissions
            homes: dict[str, tuple[str, str]] = {}
            for row in rows:
                if row.exercise and row.points is not None and row.status != MISSING:
                    if row.exercise not in homes:
                        homes[row.exercise] = _home(book, row.exercise, row.full)
                    said += _write(book, row, row.points, *homes[row.exercise])
            book.db.commit()
    except SQLAlchemyError as error:
        raise CheckError(
            f"The gradebook {place} cannot be written: {str(error).splitlines()[0]}.",
            hint="its folder must be there, and no other program may write it now; the same command tries again.",
        ) from None
    return said


def _home(book: Any, exercise: str, full: Fraction) -> tuple[str, str]:
    """(assignment, notebook) of an exercise; made if there is none. Raises CheckError if it is not clear which."""
    found = [
        (assignment.name, notebook.name)
        for assignment in book.assignments
        for notebook in assignment.notebooks
        if notebook.name == exercise and notebook.grade_cells
    ]
    own = [each for each in found if each[0] == exercise]
    if len(own or found) > 1:
        names = ", ".join(name for name, _ in found)
        raise CheckError(
            f"The gradebook has the notebook {exercise} in several assignments: {names}.",
            hint="keep one of them: nbgrader db assignment remove NAME.",
        )
    if found:
        return (own or found)[0]
    book.update_or_create_assignment(exercise)
    book.update_or_create_notebook(exercise, exercise, kernelspec="{}")
    book.update_or_create_grade_cell(
        CHECK_CELL.format(exercise=exercise), exercise, exercise, max_score=float(full), cell_type="code"
    )
    return exercise, exercise


def _write(book: Any, row: GradedExercise, points: Fraction, assignment: str, notebook: str) -> list[str]:
    book.update_or_create_student(row.student)
    submission = book.update_or_create_submission(assignment, row.student)
    one = next(each for each in submission.notebooks if each.name == notebook)
    most = sum(grade.cell.max_score for grade in one.grades)
    said = []
    before = [grade.auto_score for grade in one.grades]
    share = float(points / row.full) if row.full else 0.0
    worth = [round(grade.cell.max_score * share, 4) for grade in one.grades]
    if None not in before and abs(sum(before) - sum(worth)) > 1e-6:
        said.append(
            f"{row.student}, {row.exercise}: nbgrader gave {sum(before):g} of {most:g}, gpulab gives {sum(worth):g}"
            + (f" ({row.reason})" if row.status == UNREAD else "")
        )
    for grade, score in zip(one.grades, worth, strict=True):
        grade.auto_score = score
        grade.needs_manual_grade = False
        if grade.manual_score is not None and grade.manual_score != score:
            said.append(
                f"{row.student}, {row.exercise}: {grade.manual_score:g} were given by hand, which counts; "
                f"gpulab gives {number(points)}"
            )
    return said
