"""Tables of a class, against counts made by hand; names can be hidden; the notebook runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpulab import cli
from gpulab.classroom import dashboard
from gpulab.classroom.overview import overview
from gpulab.classroom.run import HISTORY
from gpulab.classroom.store import Lines

ROWS = [
    ("ann", "first-fill", "passed", 1, 1, ""),
    ("ann", "saxpy-guard", "wrong", 0, 3, "missing-guard"),
    ("bob", "first-fill", "wrong", 0.5, 1, "starts-at-one"),
    ("bob", "saxpy-guard", "wrong", 1.5, 3, "missing-guard"),
    ("cy\x1b[31m", "first-fill", "not judged", None, 1, ""),
    ("cy\x1b[31m", "saxpy-guard", "not handed in", 0, 3, ""),
    ("dee", "", "not read", None, 0, ""),
]
TRIED = [("ann", "saxpy-guard", "a1"), ("ann", "saxpy-guard", "a2"), ("bob", "saxpy-guard", "b1"),
         ("ann", "first-fill", "c1"), ("ann", "first-fill", "c2")]  # fmt: skip


@pytest.fixture
def graded(tmp_path: Path) -> Path:
    names = ("student", "exercise", "status", "points", "full", "cause")
    (tmp_path / "report.json").write_text(json.dumps([dict(zip(names, row, strict=True)) for row in ROWS]))
    with Lines(tmp_path / HISTORY) as lines:
        for number, each in enumerate(TRIED):
            lines.add([*each, "wrong", "missing-guard", number])
        lines.add("no attempt")
    return tmp_path


def test_tables(graded: Path) -> None:
    found = overview(graded)
    assert found.exercises.lines == (
        ("first-fill", 3, 3, 1, 0.75, 1.0, 0.67, "starts-at-one"),
        ("saxpy-guard", 3, 2, 0, 0.5, 3.0, 1.5, "missing-guard"),
    )
    assert found.causes.lines[0] == (2, "saxpy-guard", "missing-guard")
    assert found.students.lines[:2] == (("ann", 1.0, 1, 1, 0, 4), ("bob", 2.0, 0, 2, 0, 1))
    assert found.stuck.lines == (("ann", "saxpy-guard", 2, "missing-guard"),)
    assert "\x1b" not in found.text


def test_names_can_be_hidden(graded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["report", str(graded), "--hide-names"]) == 0
    said = capsys.readouterr().out
    assert not [name for name in ("ann", "bob", "cy", "dee") if name in said.replace("cannot", "")]
    assert said.count("student 1") == 2 or said.count("student 2") == 2 or said.count("student 3") == 2
    assert cli.main(["report", str(graded)]) == 0
    assert "ann" in capsys.readouterr().out


def test_what_is_no_report_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["report", str(tmp_path)]) == 1
    assert "cannot be read" in capsys.readouterr().err
    for text in ("", "[3]", "{}x", '[{"exercise": "a"}]'):
        (tmp_path / "report.json").write_text(text)
        assert cli.main(["report", str(tmp_path)]) == 1
        assert "is not a report" in capsys.readouterr().err


def test_the_notebook_runs_and_is_not_replaced(graded: Path) -> None:
    import nbformat
    from nbclient import NotebookClient

    dashboard.write(graded)
    book = nbformat.read(graded / dashboard.NAME, as_version=4)
    nbformat.validate(book)
    NotebookClient(book, timeout=120, resources={"metadata": {"path": str(graded)}}).execute()
    outputs = [output for cell in book.cells for output in cell.get("outputs", [])]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 2
    assert any("missing-guard" in output.get("text", "") for output in outputs)
    (graded / dashboard.NAME).write_text("mine")
    dashboard.write(graded)
    assert (graded / dashboard.NAME).read_text() == "mine"
