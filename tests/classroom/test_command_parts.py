"""What the commands for a class say and return, with a grader and a run that are written here."""

from __future__ import annotations

import argparse
import csv
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import gpulab.classroom.pool
import gpulab.classroom.run
import gpulab.classroom.submissions
import gpulab.grading
import gpulab.grading.isolated
from gpulab.classroom import command, dashboard, feedback, gradebook, similar
from gpulab.classroom.results import NOT_JUDGED, GradedExercise
from gpulab.classroom.run import RunSummary, duration
from gpulab.errors import CheckError
from gpulab.grading.verdict import Verdict, VerdictRow


def asked(*words: str, what: str = "folder") -> argparse.Namespace:
    ask = argparse.ArgumentParser()
    command.grade_options(ask)
    found = ask.parse_args(words)
    found.what, found.seconds, found.trust_programs = what, 60.0, False
    return found


def test_options_and_what_they_are_without_being_named() -> None:
    assert vars(asked()) == {
        "out": None, "exercises": None, "seed": None, "points": None, "cluster": "", "workers": 0, "gradebook": None,
        "require_jail": "none", "progress": None, "no_resume": False, "what": "folder", "seconds": 60.0,
        "trust_programs": False,
    }  # fmt: skip
    words = "--out o --exercises a,b --seed 7 --points p --cluster c --workers 3 --gradebook g --require-jail limits"
    found = asked(*words.split(), "--no-resume")
    assert (found.out, found.exercises, found.seed, found.points, found.cluster, found.workers, found.gradebook,
            found.require_jail, found.no_resume) == ("o", "a,b", 7, "p", "c", 3, "g", "limits", True)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "wanted"),
    [(None, None), ("saxpy-guard", ["saxpy-guard"]), (" saxpy-guard , first-fill,,saxpy-guard", ["first-fill",
                                                                                               "saxpy-guard"])],
)  # fmt: skip
def test_exercises_by_name(text: str | None, wanted: list[str] | None) -> None:
    assert command.exercises_wanted(text) == wanted


def test_names_of_no_exercise() -> None:
    with pytest.raises(CheckError, match="There is no exercise 'saxpy-gard'"):
        command.exercises_wanted("first-fill,saxpy-gard")
    for text in ("", " , "):
        with pytest.raises(CheckError, match="--exercises names none"):
            command.exercises_wanted(text)


def test_a_report_cannot_go_into_a_file(tmp_path: Path) -> None:
    (tmp_path / "graded").write_text("")
    with pytest.raises(CheckError, match=r"--out .* is a file"):
        command.grade_folder(asked("--out", str(tmp_path / "graded")))


@pytest.mark.parametrize("words", ["--out graded --exercises saxpy-guard", "--out graded", "--exercises saxpy-guard"])
def test_exercises_without_commas_are_not_taken_for_files(tmp_path: Path, words: str) -> None:
    """gpulab grade submitted --out graded --exercises saxpy-guard first-fill"""
    wrong = asked(*words.split(), what=str(tmp_path))
    wrong.files = ["first-fill"]
    with pytest.raises(CheckError, match=r"first-fill: names behind .* and a class has none"):
        command.grade_files(wrong)


def row(student: str, status: str, points: int | None, exercise: str = "first-fill") -> GradedExercise:
    worth = None if points is None else Fraction(points)
    return GradedExercise(student, exercise, status, "Headline.", "", "", worth, Fraction(1))


ROWS = [row("ann", "passed", 1), row("bob", "wrong", 0), row("cy", "wrong", 0), row("dee", "fault", 0)]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """A class that "was graded": what was asked, and the result, which a test may change."""
    found: dict[str, Any] = {"rows": ROWS, "pairs": [], "required": [], "graded": 3, "said": []}

    def grade_class(given: Any, out: Path, pool: Any, scheme: Any, seed: int, **more: Any) -> RunSummary:
        found["asked"] = (given, out, scheme.as_dict()["partial"], seed, more)
        pool()
        return RunSummary(found["rows"], found["graded"], 1, 65.0)

    monkeypatch.setattr(gpulab.classroom.run, "grade_class", grade_class)
    monkeypatch.setattr(gpulab.classroom.pool, "pool", lambda *all: found.update(pool=all))
    monkeypatch.setattr(gpulab.classroom.submissions, "submissions", lambda *words: ("submissions", *words))
    monkeypatch.setattr(gpulab.grading.isolated, "require", found["required"].append)
    monkeypatch.setattr(similar, "pairs", lambda rows: found["pairs"])
    monkeypatch.setattr(gradebook, "write", lambda place, rows: [f"into {place}", "\x1b[31m"])
    return found


TABLES = ("report.csv", "report.json", "grades.csv", "moodle.csv", "canvas.csv", "similar.csv", "learning.csv",
          "learning.json")  # fmt: skip


def test_a_class(run: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    words = ["--out", str(out), "--seed", "7", "--workers", "2", "--exercises", "first-fill"]
    assert command.grade_folder(asked(*words, what=str(tmp_path / "in"))) == 0
    given, where, partial, seed, more = run["asked"]
    assert (given, where, partial, seed) == (("submissions", tmp_path / "in", ["first-fill"], out), out, True, 7)
    assert (more["seconds"], more["trusted"], more["jail"]) == (60.0, False, "none")
    assert (run["pool"], run["required"]) == (("", 2), ["none"])
    assert all((out / name).is_file() for name in (*TABLES, dashboard.NAME))
    assert (out / "feedback").is_dir()
    assert capsys.readouterr().out == (
        "4 students, 1 exercise: 2 wrong, 1 fault, 1 passed; 1 point in all.\n"
        f"3 graded in {duration(65.0)}.\n"
        f"The report: {out / 'report.csv'}; pages for students: {out / 'feedback'}\n"
    )


def test_what_else_is_said(run: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    run["pairs"] = [similar.Pair("first-fill", "ann", "bob", 0.9, 50)] * 2
    run["graded"] = 0
    run["rows"] = [*ROWS, row("eve", NOT_JUDGED, None), row("flo", NOT_JUDGED, None)]
    words = ["--out", str(out), "--gradebook", "book.db", "--cluster", "tcp://x:1", "--require-jail", "landlock"]
    assert command.grade_folder(asked(*words)) == 3
    said = capsys.readouterr().out.splitlines()
    assert said == [
        "6 students, 1 exercise: 2 not judged, 2 wrong, 1 fault, 1 passed; 1 point in all.",
        f"2 pairs of similar answers: {out / 'similar.csv'}",
        f"The report: {out / 'report.csv'}; pages for students: {out / 'feedback'}",
        "into book.db", "␛[31m",
        "book.db is a new gradebook: there was none. nbgrader's is gradebook.db in its folder.",
        "2 answers were not judged, which is not the students' fault: the same command tries them again.",
    ]  # fmt: skip
    assert run["required"] == [], "the walls are those of the cluster's workers"
    assert run["asked"][4]["jail"] == "landlock"


def test_results_of_before(run: dict[str, Any], tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    results.write_text("before")
    command.grade_folder(asked("--out", str(tmp_path), "--seed", "1"))
    assert results.read_text() == "before"
    command.grade_folder(asked("--out", str(tmp_path), "--no-resume"))
    assert not results.exists()
    assert (tmp_path / "results.jsonl.before").read_text() == "before"
    command.grade_folder(asked("--out", str(tmp_path), "--no-resume"))
    assert (tmp_path / "results.jsonl.before").read_text() == "before"


def test_attempts_of_a_class_and_files_of_learners(
    run: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Attempts are noted once; of exercises that are not graded now nothing is said."""
    out, progress = tmp_path / "out", tmp_path / "progress"
    progress.mkdir()
    (progress / "eve.json").write_text(
        json.dumps(
            {"exercises": {"saxpy-guard": {"attempts": 2}, "first-fill": {"attempts": 4}, "gone": {"attempts": 1}}}
        )
    )
    (progress / "fay.txt").write_text("")
    verdict = Verdict("first-fill", "wrong", "Head", (), "", "off-by-one")

    def graded(exercise: str, *words: str) -> list[list[str]]:
        run["rows"] = [replace(row("ann", "wrong", 0, exercise), cause="off-by-one", answer="a", verdict=verdict)]
        assert command.grade_folder(asked("--out", str(out), *words)) == 0
        lines = list(csv.reader((out / "learning.csv").read_text(encoding="utf-8").splitlines()))[1:]
        assert len(json.loads((out / "learning.json").read_text(encoding="utf-8"))) == len(lines)
        return [[*line[:5], line[9]] for line in lines]

    own = ["ann", "saxpy-guard", "handed in", "begun", "1", "off-by-one 1"]
    assert graded("saxpy-guard") == graded("saxpy-guard") == [own]
    capsys.readouterr()
    both = [["eve", id, "exported", "begun", times, ""] for id, times in (("first-fill", "4"), ("saxpy-guard", "2"))]
    assert graded("first-fill", "--progress", str(progress)) == [[own[0], "first-fill", *own[2:]], *both]
    read = "fay.txt: not read: its name ends in neither .csv nor .json."
    left = "of exercises that are not graded here: left out."
    assert capsys.readouterr().out.splitlines()[:2] == [read, f"1 record {left}"]
    words = ["--progress", str(progress), "--exercises", "saxpy-guard"]
    assert graded("saxpy-guard", *words) == [own, both[1]]
    assert capsys.readouterr().out.splitlines()[:2] == [read, f"2 records {left}"]


def test_a_gradebook_is_called_new_only_if_it_is(
    run: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "old.db").write_text("")
    for place, new in ((tmp_path / "new.db", True), (tmp_path / "old.db", False), ("sqlite:///new.db", False)):
        command.grade_folder(asked("--out", str(tmp_path / "out"), "--gradebook", str(place)))
        said = capsys.readouterr().out
        assert f"into {place}\n" in said
        assert (f"{place} is a new gradebook" in said) is new


def test_ctrl_c_is_said_and_goes_on(
    run: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(gpulab.classroom.run, "grade_class", stop)
    with pytest.raises(KeyboardInterrupt):
        command.grade_folder(asked("--out", str(tmp_path)))
    assert (
        capsys.readouterr().out == "\nStopped. What was graded by now is kept; the same command goes on from there.\n"
    )


def test_what_a_class_needs(run: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CheckError, match="needs --out FOLDER"):
        command.grade_folder(asked())
    points = tmp_path / "points.toml"
    points.write_text("partial = false\n")
    command.grade_folder(asked("--out", str(tmp_path / "o"), "--points", str(points)))
    assert run["asked"][2] is False

    def full(folder: Path, rows: Any) -> None:
        raise OSError(28, "No space left on device", str(folder / "ann.html"))

    monkeypatch.setattr(feedback, "write", full)
    with pytest.raises(CheckError) as found:
        command.grade_folder(asked("--out", str(tmp_path / "o")))
    assert found.value.what == f"{tmp_path / 'o' / 'feedback' / 'ann.html'} cannot be written: no space left on device."
    assert found.value.hint == "make room; the same command then goes on from there."

    def forbidden(folder: Path, rows: Any) -> None:
        raise OSError(30, "Read-only file system", str(folder))

    monkeypatch.setattr(feedback, "write", forbidden)
    with pytest.raises(CheckError, match="let --out name a folder that you can write"):
        command.grade_folder(asked("--out", str(tmp_path / "o")))


def test_a_gradebook_that_cannot_be_written_comes_last(
    run: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The report is there by then, and the instructor reads where."""

    def refuse(*_: Any) -> list[str]:
        raise CheckError("The gradebook cannot be written.")

    monkeypatch.setattr(gradebook, "write", refuse)
    with pytest.raises(CheckError, match="gradebook"):
        command.grade_folder(asked("--out", str(tmp_path / "o"), "--gradebook", "book.db"))
    assert "The report: " in capsys.readouterr().out


class Grader:
    asked: list[Any] = []  # noqa: RUF012

    def __init__(self, **settings: Any) -> None:
        self.asked.append(settings)

    def __enter__(self) -> Grader:
        return self

    def __exit__(self, *exception: object) -> None:
        self.asked.append("closed")

    def grade(self, id: str, source: str, who: str, seed: Any) -> Any:
        self.asked.append((id, source, who, seed))
        passed = "right" in source
        rows = () if passed else (VerdictRow("what", "because " + "x " * 300),)
        return SimpleNamespace(passed=passed, verdict=Verdict(id, "passed" if passed else "wrong", "Head", rows))


def test_files_one_line_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gpulab.grading, "Grader", Grader)
    Grader.asked = []
    right, wrong = tmp_path / "ann.hip", tmp_path / "bob.hip"
    right.write_text("right")
    wrong.write_text("bad")

    def files(*names: Path, verbose: bool = False) -> tuple[int, list[str]]:
        found = argparse.Namespace(what="first-fill", files=[str(name) for name in names], seconds=3.0, seed="s",
                                   out=None, exercises=None, trust_programs=True, require_jail="limits",
                                   verbose=verbose)  # fmt: skip
        return command.grade_files(found), capsys.readouterr().out.splitlines()

    assert files(right) == (0, [f"ok      {right}: Head"])
    assert Grader.asked == [{"seconds": 3.0, "trusted": True, "jail": "limits"}, ("first-fill", "right", "ann", "s"),
                            "closed"]  # fmt: skip
    code, lines = files(wrong, right)
    assert code == 1
    assert lines[0].startswith(f"not ok  {wrong}: Head: because x x x")
    assert lines[0].endswith("x [...]")
    assert len(lines[0]) <= len(f"not ok  {wrong}: Head: ") + 200
    assert lines[1] == f"ok      {right}: Head"
    assert files(tmp_path / "absent.hip", right) == (
        1, [f"not ok  {tmp_path / 'absent.hip'}: cannot be read: no such file or directory", f"ok      {right}: Head"]
    )  # fmt: skip
    _, lines = files(wrong, verbose=True)
    assert lines[0] == f"not ok  {wrong}: Head"
    assert lines[1].split()[:3] == ["what", "because", "x"]
