"""`gpulab grade FOLDER` as an instructor types it, and what docs/grading.md says of it."""

from __future__ import annotations

import ast
import csv
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
import yaml

from gpulab import cli
from gpulab.classroom.points import SHARES, scheme_of
from gpulab.classroom.reading import FILE_BYTES
from gpulab.grading.answers import right_answers, wrong_answer

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "grading.md"


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """Three students: a notebook with the solution, files, and an answer that nothing can be done with."""
    folder = tmp_path / "course" / "submitted"
    shutil.copytree(ROOT / "solutions" / "first-fill", folder / "ann" / "first-fill")
    (folder / "bob").mkdir(parents=True)
    (folder / "bob" / "first-fill.hip").write_text(wrong_answer("first-fill", "guard-one-too-far").source)
    (folder / "=cy").mkdir()
    (folder / "=cy" / "first-fill.hip").symlink_to("/etc/passwd")
    (folder / "dee").mkdir()
    (folder / "dee" / "first-fill.hip").write_text(right_answers("first-fill")["usual"])
    return tmp_path / "course"


def files(out: Path) -> dict[str, bytes]:
    """The reports: what two runs must have in common."""
    kept = ("results.jsonl", "run.json", "history.jsonl")
    return {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.name not in kept
    }


def test_a_class_is_graded_and_graded_again(course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On the local cluster, then from the store, then elsewhere: the same reports, byte for byte; and a gradebook."""
    one, two, book = tmp_path / "one", tmp_path / "two", tmp_path / "gradebook.db"
    words = ["grade", str(course), "--seed", "7", "--workers", "1"]
    assert cli.main([*words, "--out", str(one), "--gradebook", str(book)]) == 0
    said = capsys.readouterr().out
    assert "4 rows, 3 answers; 3 to grade." in said
    assert "Grading on this machine with 1 process." in said
    assert "4 students, 1 exercise: 2 passed, 1 fault, 1 not read; " in said
    first = files(one)
    assert {name for name in first if not name.startswith("feedback/")} == {
        "report.csv", "report.json", "grades.csv", "moodle.csv", "canvas.csv", "similar.csv", "dashboard.ipynb",
        "learning.csv", "learning.json",
    }  # fmt: skip
    assert len(first) == 9 + 4
    rows = {row["student"]: row for row in json.loads(first["report.json"])}
    assert [rows[name]["points"] for name in ("ann", "dee", "=cy")] == [1, 1, 0]
    assert rows["bob"]["points"] < 1
    assert rows["bob"]["cause"] == "guard-one-too-far"
    assert rows["=cy"]["reason"] == "first-fill.hip: it is a symbolic link, which is not followed"
    assert [row[0] for row in csv.reader(first["grades.csv"].decode().splitlines())][1] == "'=cy"
    whole = b"".join(first.values())
    assert str(tmp_path).encode() not in whole
    assert b"root:" not in whole
    assert cli.main([*words, "--out", str(one)]) == 0
    assert "3 results are there from before; nothing is left to grade." in capsys.readouterr().out
    assert files(one) == first
    assert cli.main(["grade", str(course / "submitted"), "--seed", "7", "--out", str(two)]) == 0
    assert files(two) == first
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{book}", course_id="") as found:
        scores = {each.student.id: each.score for each in found.assignment_submissions("first-fill")}
    assert scores == {name: pytest.approx(row["points"]) for name, row in rows.items()}


@pytest.mark.full
@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C reaches processes otherwise on Windows")
@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_ends_a_run_with_a_sentence(course: Path, tmp_path: Path, workers: int) -> None:
    """A terminal sends it to all processes of the command."""
    command = [sys.executable, "-m", "gpulab", "grade", str(course), "--out", str(tmp_path / "out")]
    with subprocess.Popen(
        [*command, "--workers", str(workers)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        said = ""
        while "Grading on" not in said:
            said += process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)
        said += process.stdout.read()
        assert process.wait(60) == 130
    assert said.endswith("\nStopped. What was graded by now is kept; the same command goes on from there.\n")
    assert "Traceback" not in said


def test_what_is_asked_for_wrongly_is_said(
    course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpulab.classroom.pool.PATIENCE", 0.5)
    out = ["--out", str(tmp_path / "out")]
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
    for words, sentence in (
        ([str(course)], "needs --out FOLDER"),
        ([str(tmp_path / "absent"), *out], "There is no folder"),
        ([str(course), *out, "--exercises", "no-such"], "no exercise 'no-such'"),
        ([str(course), *out, "--exercises", ","], "names none"),
        ([str(course), *out, "--points", str(tmp_path / "absent.toml")], "cannot be read"),
        ([str(course), *out, "--require-jail", "castle"], "no level 'castle'"),
        ([str(course), "--out", str(course / "submitted" / "bob" / "first-fill.hip" / "x")], "cannot be written"),
        ([str(course), *out, "--cluster", f"tcp://127.0.0.1:{port}"], "No scheduler of Dask"),
    ):
        assert cli.main(["grade", *words]) == 1
        assert sentence in capsys.readouterr().err


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)


def test_the_page_has_a_scheme_that_is_read(tmp_path: Path) -> None:
    (text,) = blocks("toml")
    (tmp_path / "points.toml").write_text(text)
    scheme = scheme_of(tmp_path / "points.toml")
    assert scheme.partial
    assert scheme.shares == {"visible": Fraction(1, 2), "hidden": Fraction(1, 2)}
    assert scheme.full("saxpy-guard") == 4


def test_the_page_has_the_numbers_of_the_code() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name, share in SHARES.items():
        assert re.search(rf"^\| `{name}`.*\| {float(share):g} \|$", text, re.M), name
    assert f"{FILE_BYTES >> 20} MB" in text
    options = set(re.findall(r"--[a-z][a-z-]+", " ".join(re.findall(r"^    gpulab grade.*$", text, re.M))))
    shown = {
        action for each in cli.parser()._subparsers._group_actions[0].choices["grade"]._actions  # type: ignore[union-attr]
        for action in each.option_strings
    }  # fmt: skip
    assert options
    assert options <= shown


def test_the_pages_manifests_fit_together() -> None:
    """Selectors find the pods, names and ports are the same, and no pod can be reached from outside."""
    (text,) = blocks("yaml")
    parts = {(each["kind"], each["metadata"]["name"]): each for each in yaml.safe_load_all(text)}
    assert len(parts) == 4
    pods = {}
    for (kind, name), each in parts.items():
        if kind == "Deployment":
            labels = each["spec"]["template"]["metadata"]["labels"]
            assert each["spec"]["selector"]["matchLabels"] == labels
            pods[name] = (labels, each["spec"]["template"]["spec"]["containers"][0])
    service = parts["Service", "gpulab-scheduler"]["spec"]
    assert service["selector"] == pods["gpulab-scheduler"][0]
    port = service["ports"][0]["port"]
    assert f"tcp://gpulab-scheduler:{port}" in pods["gpulab-worker"][1]["command"]
    assert str(port) in pods["gpulab-scheduler"][1]["command"]
    chosen = parts["NetworkPolicy", "gpulab"]["spec"]["podSelector"]["matchLabels"]
    assert all(chosen.items() <= labels.items() for labels, _ in pods.values())


def test_the_pages_python_is_python() -> None:
    (text,) = blocks("python")
    assert {node.module for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)} == {"dask_jobqueue"}
