"""Tables of a class, against counts made by hand; names can be hidden; the notebook runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpulab import cli
from gpulab.classroom import dashboard
from gpulab.classroom.overview import Table, _names, overview
from gpulab.classroom.run import HISTORY
from gpulab.classroom.store import Lines

ROWS = [
    ("ann", "first-fill", "passed", 1, 1, ""),
    ("ann", "saxpy-guard", "wrong", 0, 3, "missing-guard"),
    ("bob", "first-fill", "wrong", 0.5, 1, "starts-at-one"),
    ("bob", "saxpy-guard", "wrong", 1.5, 3, "missing-guard"),
    ("cy\x1b[31m", "first-fill", "not judged", None, 1, ""),
    ("cy\x1b[31m", "saxpy-guard", "not handed in", 0, 3, ""),
    ("dee", "", "not read", None, 0, "", f"dee.zip: it is {'very ' * 20}odd"),
    ("", "", "not read", None, 0, "", "names.csv: of no student"),
]
TRIED = [("ann", "saxpy-guard", "a1"), ("ann", "saxpy-guard", "a2"), ("bob", "saxpy-guard", "b1"),
         ("ann", "first-fill", "c1"), ("ann", "first-fill", "c2")]  # fmt: skip


@pytest.fixture
def graded(tmp_path: Path) -> Path:
    names = ("student", "exercise", "status", "points", "full", "cause", "reason")
    (tmp_path / "report.json").write_text(json.dumps([dict(zip(names, row, strict=False)) for row in ROWS]))
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


def test_what_was_not_read_is_listed(graded: Path) -> None:
    odd = f"it is {'very ' * 20}odd"
    assert overview(graded).unread.lines == (
        ("dee", "–", f"dee.zip: {odd}"),
        ("–", "–", "names.csv: of no student"),
    )
    assert odd in overview(graded).text
    hidden = overview(graded, hide_names=True)
    assert {line[2] for line in hidden.unread.lines} == {odd, "of no student"}


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


A_CLASS = [
    ("ann", "a", "passed", 3, 3, ""), ("bob", "a", "wrong", 1, 3, "c1"), ("cy", "a", "not read", None, 3, ""),
    ("dee", "a", "not handed in", 0, 3, ""), ("eve", "a", "not judged", None, 3, ""),
    ("ann", "b", "fault", 0.333, 2, ""), ("bob", "b", "wrong", 0, 2, "c1"), ("dee", "b", "wrong", 0.5, 2, "c2"),
    ("eve", "b", "wrong", 1, 2, "c2"),
]  # fmt: skip
ATTEMPTS = {("ann", "a"): 2, ("bob", "a"): 3, ("cy", "a"): 2, ("dee", "a"): 2, ("eve", "a"): 2, ("ann", "b"): 1,
            ("bob", "b"): 2, ("dee", "b"): 2}  # fmt: skip


def test_counts_of_a_class(tmp_path: Path) -> None:
    """Worked out by hand: who is not judged has not failed, and what is missing is no reason."""
    names = ("student", "exercise", "status", "points", "full", "cause")
    (tmp_path / "report.json").write_text(json.dumps([dict(zip(names, row, strict=True)) for row in A_CLASS]))
    with Lines(tmp_path / HISTORY) as lines:
        for (student, exercise), times in ATTEMPTS.items():
            for number in range(times):
                lines.add([student, exercise, f"{number}", "wrong", "", number])
    found = overview(tmp_path)
    assert found.exercises == Table(
        "Exercises",
        ("exercise", "students", "handed in", "passed", "mean points", "of", "mean attempts", "most often"),
        (("a", 5, 3, 1, 1.33, 3.0, 2.33, "c1"), ("b", 4, 4, 0, 0.46, 2.0, 1.25, "c2")),
    )
    assert found.causes == Table(
        "Causes",
        ("times", "exercise", "cause"),
        ((2, "b", "c2"), (1, "a", "c1"), (1, "a", "not judged"), (1, "a", "not read"), (1, "b", "c1"),
         (1, "b", "fault")),
    )  # fmt: skip
    assert found.students == Table(
        "Students",
        ("student", "points", "passed", "failed", "missing", "attempts"),
        (("ann", 3.33, 1, 1, 0, 3), ("bob", 1.0, 0, 2, 0, 5), ("cy", 0.0, 0, 1, 0, 2), ("dee", 0.5, 0, 1, 1, 4),
         ("eve", 1.0, 0, 1, 0, 2)),
    )  # fmt: skip
    assert found.stuck == Table(
        "Stuck",
        ("student", "exercise", "attempts", "now"),
        (("bob", "a", 3, "c1"), ("bob", "b", 2, "c1"), ("cy", "a", 2, "not read"), ("dee", "b", 2, "c2")),
    )
    titles = [line for line in found.text.splitlines() if line and not line.startswith(" ")]
    assert titles == [
        "Exercises", "Causes", "Attempts and hints: none", "Causes of all attempts: none", "Students", "Stuck",
        "Not read",
    ]  # fmt: skip
    assert found.text.count("\n\n") == 6
    hidden = overview(tmp_path, hide_names=True)
    # by the digest of the name: sha256 of ann, bob, cy, dee, eve begins with 49, 81, 3d, e7, 85 (sha256sum)
    shown = {"cy": "student 1", "ann": "student 2", "bob": "student 3", "eve": "student 4", "dee": "student 5"}
    assert hidden.students.column("student") == [f"student {number}" for number in range(1, 6)]
    assert hidden.students.column("attempts") == [2, 3, 5, 2, 4]
    assert [line[:2] for line in hidden.stuck.lines] == [
        (shown["bob"], "a"), (shown["cy"], "a"), (shown["bob"], "b"), (shown["dee"], "b")
    ]  # fmt: skip


def test_a_class_of_one(tmp_path: Path) -> None:
    """Of exercises that took as many attempts the one that comes first in the alphabet is first."""
    names = ("student", "exercise", "status", "points", "full", "cause")
    rows = [("ann", exercise, "wrong", None, full, "") for exercise, full in (("b", 2), ("a", 3))]
    (tmp_path / "report.json").write_text(json.dumps([dict(zip(names, row, strict=True)) for row in rows]))
    with Lines(tmp_path / HISTORY) as lines:
        for exercise in "ab":
            for answer in "xy":
                lines.add(["ann", exercise, answer, "wrong", "", 5])
    found = overview(tmp_path)
    assert found.exercises.lines == (
        ("a", 1, 1, 0, 0.0, 3.0, 2.0, "wrong"), ("b", 1, 1, 0, 0.0, 2.0, 2.0, "wrong"),
    )  # fmt: skip
    assert found.students.lines == (("ann", 0.0, 0, 2, 0, 4),)
    assert found.stuck.lines == (("ann", "a", 2, "wrong"), ("ann", "b", 2, "wrong"))


def test_numbers_of_many_students_have_the_same_width() -> None:
    names = _names([f"{number}" for number in range(10)] * 2, True)
    assert sorted(names.values()) == [f"student {number:02}" for number in range(1, 11)]


def test_a_table_as_text() -> None:
    table = Table("Title", ("name", "n", "mixed", "mean"), (("a", 5, 1, 1.5), ("long\tname\nx", 123, "x", 2.0)))
    assert table.text == (
        "Title\n  name           n  mixed  mean\n  a              5  1       1.5\n  long name x  123  x         2\n"
    )
    assert table.column("n") == [5, 123]
    assert Table("Nothing", ("a",), ()).text == "Nothing: none\n"
    cut = Table("T", ("a",), (("x" * 60,), ("y" * 61,))).text.split()
    assert cut[2:] == ["x" * 60, "y" * 59 + "…"]


def test_the_notebook_as_it_is_written() -> None:
    text = dashboard.notebook()
    found = json.loads(text)
    assert text == json.dumps(found, indent=1) + "\n"
    assert list(found) == ["cells", "metadata", "nbformat", "nbformat_minor"]
    assert (found["nbformat"], found["nbformat_minor"]) == (4, 5)
    assert found["metadata"] == {
        "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    }
    assert [cell["id"] for cell in found["cells"]] == [f"class-0{at}" for at in range(len(dashboard.CELLS))][:10] + [
        f"class-{at}" for at in range(10, len(dashboard.CELLS))
    ]
    for cell, (kind, source) in zip(found["cells"], dashboard.CELLS, strict=True):
        assert cell["cell_type"] == kind
        assert "".join(cell["source"]) == source
        assert all(line.endswith("\n") for line in cell["source"][:-1])
        assert cell["metadata"] == ({"tags": ["parameters"]} if source == "hide_names = False" else {})
        more = {key: cell[key] for key in cell.keys() - {"cell_type", "id", "metadata", "source"}}
        assert more == ({"execution_count": None, "outputs": []} if kind == "code" else {})
    assert [len(cell["source"]) for cell in found["cells"]][:3] == [3, 1, 8]


def test_a_notebook_that_is_there_stays(tmp_path: Path) -> None:
    dashboard.write(tmp_path)
    assert (tmp_path / "dashboard.ipynb").read_text(encoding="utf-8") == dashboard.notebook()
    (tmp_path / "dashboard.ipynb").write_text("mine")
    dashboard.write(tmp_path)
    assert (tmp_path / "dashboard.ipynb").read_text() == "mine"
