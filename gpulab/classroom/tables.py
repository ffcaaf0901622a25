"""Tables for people and other systems: CSV, JSON, and files that Moodle and Canvas import.

A text that a spreadsheet would take for a formula gets an apostrophe in front. The same rows give the same bytes.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence
from fractions import Fraction

from gpulab.classroom.points import number
from gpulab.classroom.results import GradedExercise

LONG = ("student", "exercise", "status", "points", "full", "cause", "reason", "headline", "answer")


FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
"""What begins a formula in a spreadsheet: OWASP's list on CSV injection, with the wide forms."""


def defused(text: str) -> str:
    """The text as a cell that no spreadsheet computes."""
    return f"'{text}" if text.lstrip(" ").startswith(FORMULA) else text


def csv_text(lines: Iterable[Sequence[object]]) -> str:
    """Comma-separated values by RFC 4180, with texts defused; None is an empty cell."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    for line in lines:
        writer.writerow(["" if cell is None else defused(cell) if isinstance(cell, str) else cell for cell in line])
    return out.getvalue()


def shown_points(points: Fraction | None) -> float | int | None:
    return None if points is None else number(points)


def report_csv(rows: Iterable[GradedExercise]) -> str:
    """One line for each row."""
    plain = [row.as_dict() for row in rows]
    return csv_text([LONG, *([row[name] for name in LONG] for row in plain)])


def report_json(rows: Iterable[GradedExercise]) -> str:
    """Everything but the answers' texts."""
    return json.dumps([row.as_dict() for row in rows], indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def exercises_of(rows: Iterable[GradedExercise]) -> list[str]:
    return sorted({row.exercise for row in rows if row.exercise})


def students_of(rows: Iterable[GradedExercise]) -> list[str]:
    """Students with a row for an exercise."""
    return sorted({row.student for row in rows if row.exercise})


def total(rows: Iterable[GradedExercise]) -> Fraction:
    """All points, those not judged left out."""
    return sum((row.points for row in rows if row.points is not None), Fraction(0))


def _grid(rows: Sequence[GradedExercise]) -> tuple[list[str], list[str], dict[tuple[str, str], GradedExercise]]:
    return students_of(rows), exercises_of(rows), {(row.student, row.exercise): row for row in rows if row.exercise}


def grades_csv(rows: Sequence[GradedExercise]) -> str:
    """One line for each student, one column for each exercise, and their sum. What was not judged is empty."""
    students, exercises, at = _grid(rows)
    lines: list[Sequence[object]] = [("student", *exercises, "total")]
    for student in students:
        mine = [at[student, each] for each in exercises]
        lines.append((student, *(shown_points(row.points) for row in mine), number(total(mine))))
    return csv_text(lines)


def moodle_csv(rows: Sequence[GradedExercise]) -> str:
    """For Moodle's gradebook (Grades, Import, CSV file): map "Username", and each exercise to its grade item.

    Beside each exercise stands a column that can be mapped as its feedback.
    """
    students, exercises, at = _grid(rows)
    head = [name for each in exercises for name in (each, f"{each} (feedback)")]
    lines: list[Sequence[object]] = [("Username", *head)]
    for student in students:
        mine = [at[student, each] for each in exercises]
        cells: list[object] = []
        for row in mine:
            cells += [shown_points(row.points), " ".join(filter(None, (row.headline, row.reason)))]
        lines.append((student, *cells))
    return csv_text(lines)


def canvas_csv(rows: Sequence[GradedExercise]) -> str:
    """For Canvas' gradebook (Import): students by their SIS login ID, which the folders of submissions are named by, or
    by their ID in Canvas, where the submissions are its own download."""
    students, exercises, at = _grid(rows)
    fixed = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
    full = [number(max(at[student, each].full for student in students)) for each in exercises] if students else []
    lines: list[Sequence[object]] = [(*fixed, *exercises), ("    Points Possible", "", "", "", "", *full)]
    for student in students:
        known = re.fullmatch(r"(.+) \(Canvas (\d+)\)", student)
        who = (known[1], known[2], "", "") if known else (student, "", "", student)
        lines.append((*who, "", *(shown_points(at[student, each].points) for each in exercises)))
    return csv_text(lines)
