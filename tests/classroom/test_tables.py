"""Tables: the same rows give the same bytes, other systems can read them, and no cell is a formula."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from gpulab.classroom import tables
from gpulab.classroom.results import MISSING, NOT_JUDGED, UNREAD, GradedExercise

ROWS = [
    GradedExercise("ann", "first-fill", "passed", "Passed.", "", "", Fraction(1), Fraction(1), answer="x"),
    GradedExercise(
        "ann", "saxpy-guard", "wrong", "Not yet.", "past the end", "missing-guard", Fraction(3, 4), Fraction(3)
    ),
    GradedExercise("bob", "first-fill", NOT_JUDGED, "Not judged.", "the disk is full", "", None, Fraction(1)),
    GradedExercise("bob", "saxpy-guard", MISSING, "Nothing.", "", "", Fraction(0), Fraction(3)),
    GradedExercise("cy", "", UNREAD, "Unread.", "a FIFO", "", None, Fraction(0)),
]


def cells(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text), strict=True))


def test_report_has_every_row() -> None:
    found = cells(tables.report_csv(ROWS))
    assert found[0] == ["student", "exercise", "status", "points", "full", "cause", "reason", "headline", "answer"]
    assert found[2] == ["ann", "saxpy-guard", "wrong", "0.75", "3", "missing-guard", "past the end", "Not yet.", ""]
    assert [line[3] for line in found[1:]] == ["1", "0.75", "", "0", ""]
    plain = json.loads(tables.report_json(ROWS))
    assert [row["points"] for row in plain] == [1, 0.75, None, 0, None]


def test_grades_have_one_line_for_each_student() -> None:
    assert cells(tables.grades_csv(ROWS)) == [
        ["student", "first-fill", "saxpy-guard", "total"],
        ["ann", "1", "0.75", "1.75"],
        ["bob", "", "0", "0"],
    ]


def test_moodle_finds_users_and_grades_and_feedback() -> None:
    assert cells(tables.moodle_csv(ROWS)) == [
        ["Username", "first-fill", "first-fill (feedback)", "saxpy-guard", "saxpy-guard (feedback)"],
        ["ann", "1", "Passed.", "0.75", "Not yet. past the end"],
        ["bob", "", "Not judged. the disk is full", "0", "Nothing."],
    ]


def test_canvas_takes_the_header() -> None:
    """What Canvas' importer asks of the first line, and how it finds the line of possible points."""
    head, possible, *students = cells(tables.canvas_csv(ROWS))
    assert "Student" in head[0]
    assert "ID" in head[1]
    assert head[2:5] == ["SIS User ID", "SIS Login ID", "Section"]
    assert "Points Possible" in possible[0]
    assert possible[5:] == ["1", "3"]
    assert students == [["ann", "", "", "ann", "", "1", "0.75"], ["bob", "", "", "bob", "", "", "0"]]


def test_canvas_finds_students_of_its_own_download_by_their_ids() -> None:
    rows = [replace(row, student=f"{row.student} (Canvas 34{len(row.student)})") for row in ROWS]
    _, _, *students = cells(tables.canvas_csv(rows))
    assert [line[:5] for line in students] == [["ann", "343", "", "", ""], ["bob", "343", "", "", ""]]


HOSTILE = [
    '=HYPERLINK("http://x","y")', "+1+1", "-2", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "  @a", "\uff1d1", "=",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_no_cell_is_a_formula(text: str) -> None:
    row = GradedExercise(text, "first-fill", "wrong", text, text, text, Fraction(0), Fraction(1))
    for table in (tables.report_csv, tables.grades_csv, tables.moodle_csv, tables.canvas_csv):
        for line in cells(table([row])):
            for cell in line:
                assert cell.lstrip(" ")[:1] not in tuple("=+-@\t\r\n\uff1d"), (table, cell)


def test_harmless_texts_and_numbers_stay_as_they_are() -> None:
    for text in ("ann", "a=b", "", "x-1", "'quoted'", "größer", 'with "quotes", and\nlines'):
        assert cells(tables.csv_text([(text, -1.5, 3)])) == [[text, "-1.5", "3"]]


def test_an_empty_class_has_tables(tmp_path: Path) -> None:
    for table in (tables.report_csv, tables.grades_csv, tables.moodle_csv, tables.canvas_csv, tables.report_json):
        assert table([])


def test_the_report_as_it_is_written() -> None:
    """Keys in the order of the alphabet, one step of indentation, and letters as they are."""
    row = GradedExercise("ä", "first-fill", "wrong", "Not yet.", "why", "cause", Fraction(1, 2), Fraction(2))
    assert (
        tables.report_json([row])
        == """[
 {
  "answer": "",
  "cause": "cause",
  "criteria": [],
  "exercise": "first-fill",
  "full": 2,
  "headline": "Not yet.",
  "points": 0.5,
  "reason": "why",
  "rows": [],
  "status": "wrong",
  "student": "ä"
 }
]
"""
    )
    assert tables.report_csv([row]).splitlines(keepends=True)[1] == "ä,first-fill,wrong,0.5,2,cause,why,Not yet.,\r\n"
    assert tables.grades_csv([row]) == "student,first-fill,total\r\nä,0.5,0.5\r\n"
