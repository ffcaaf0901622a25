"""Attempts, causes and hints of a class: files that learners exported, as files of strangers; tables by hand."""

from __future__ import annotations

import argparse
import csv
import json
import re
import zipfile
from pathlib import Path

import pytest

from gpulab import cli
from gpulab.classroom import command
from gpulab.classroom.learning import (
    EXPORTED,
    HANDED_IN,
    Learning,
    exported,
    learning,
    learning_csv,
    learning_json,
    read_learning,
)
from gpulab.classroom.overview import overview
from gpulab.classroom.run import Attempt
from gpulab.errors import CheckError
from gpulab.grading import learned
from gpulab.grading.learned import Done

IDS = ("first-fill", "saxpy-guard")
DAYS = ("2026-10-05", "2026-10-07")
ANN = {
    "first-fill": Done(True, 2, 0, 2, {}, {"starts-at-one": 1}, *DAYS),
    "saxpy-guard": Done(True, 7, 2, 5, {1: 2, 2: 1}, {"missing-guard": 3, "does-not-compile": 1}, *DAYS),
}
BOB = {"saxpy-guard": Done(False, 3, 1, 0, {1: 1}, {"missing-guard": 3}, *DAYS)}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """What learners sent: a folder and a file of two of them, and what is no progress at all."""
    top = tmp_path / "progress"
    (top / "ann").mkdir(parents=True)
    (top / "ann" / "mine.csv").write_text(learned.export({**ANN, "gone": Done(False, 1)}, ".csv"), newline="")
    (top / "bob.json").write_text(learned.export(BOB, ".json"))
    return top


def test_files_of_learners(files: Path, tmp_path: Path) -> None:
    found, said = exported(files, IDS)
    assert found == {"ann": ANN, "bob": BOB}
    assert said == ["1 record of exercises that are not graded here: left out."]
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as whole:
        for path in files.rglob("*.*"):
            whole.write(path, path.relative_to(files).as_posix())
    assert exported(tmp_path / "all.zip", IDS)[0] == found
    with pytest.raises(CheckError, match="cannot be read"):
        exported(tmp_path / "absent", IDS)


def test_files_that_say_nothing(files: Path) -> None:
    (files / "bob.csv").write_text(learned.export(ANN, ".csv"))
    (files / "cy.csv").symlink_to("/etc/passwd")
    (files / "dee.txt").write_text("2 attempts")
    (files / "eve.json").write_text("[" * 50_000)
    (files / "flo\x1b[31m.csv").write_text("<script>alert(1)</script>")
    (files / "gus.json").write_bytes(b" " * (learned.BYTES + 1))
    (files / "hal.json").write_bytes(b"\0\xff\xfe")
    found, said = exported(files, IDS)
    assert found == {"ann": ANN, "bob": ANN}
    assert said[:8] == [
        "bob.json: left out: bob has another file before it.",
        "cy.csv: not read: it is a symbolic link, which is not followed.",
        "dee.txt: not read: its name ends in neither .csv nor .json.",
        "eve.json: not read: it is nested too deeply.",
        "flo␛[31m.csv: not read: its first line is not that of gpulab progress --export.",
        "gus.json: not read: it is larger than 4 MB.",
        "hal.json: not read: it is not text.",
        "1 record of exercises that are not graded here: left out.",
    ]


def test_the_largest_file_that_is_read(tmp_path: Path) -> None:
    text = learned.export(ANN, ".json").encode()
    for more in (0, 1):
        (tmp_path / "ann.json").write_bytes(text + b" " * (learned.BYTES - len(text) + more))
        problem = "ann.json: not read: it is larger than 4 MB."
        assert exported(tmp_path, IDS) == (({}, [problem]) if more else ({"ann": ANN}, []))


@pytest.mark.parametrize(("separator", "encoding"), [(";", "utf-8-sig"), ("\t", "utf-16"), (",", "utf-8")])
def test_a_file_that_a_spreadsheet_saved_again(tmp_path: Path, separator: str, encoding: str) -> None:
    """With the separator, the mark and the days that its country has."""
    lines = list(csv.reader(learned.export(ANN, ".csv").splitlines()))
    with (tmp_path / "ann.csv").open("w", encoding=encoding, newline="") as file:
        csv.writer(file, delimiter=separator).writerows(
            [re.sub(r"^(\d{4})-(\d\d)-(\d\d)$", r"\3.\2.\1", cell) for cell in line] for line in lines
        )
    assert exported(tmp_path, IDS) == ({"ann": ANN}, [])


TRIED = [
    Attempt("ann", "saxpy-guard", "a", "wrong", "missing-guard", 5),
    Attempt("cy", "saxpy-guard", "b", "does not compile", "does-not-compile", 5),
    Attempt("cy", "saxpy-guard", "c", "wrong", "", 6),
    Attempt("cy", "saxpy-guard", "d", "passed", "", 7),
    Attempt("=dee", "first-fill", "e", "passed", "", 7),
]
CY = Learning("cy", "saxpy-guard", HANDED_IN, Done(True, 3, 0, 3, {}, {"does-not-compile": 1, "wrong": 1}))


def test_records_and_tables(tmp_path: Path) -> None:
    """Ann's own file has seven checks, of which she handed in one answer: they are not added up."""
    records = learning(TRIED, {"ann": ANN, "bob": BOB, "eve": {"first-fill": Done()}})
    assert [(each.student, each.exercise, each.source) for each in records] == [
        ("=dee", "first-fill", HANDED_IN), ("ann", "first-fill", EXPORTED), ("ann", "saxpy-guard", EXPORTED),
        ("bob", "saxpy-guard", EXPORTED), ("cy", "saxpy-guard", HANDED_IN),
    ]  # fmt: skip
    assert records[2].done == ANN["saxpy-guard"]
    assert records[4] == CY
    lines = list(csv.reader(learning_csv(records).splitlines()))
    assert lines[1] == ["'=dee", "first-fill", "handed in", "solved", "1", "1", "", "", "", "", "", ""]
    assert lines[3] == ["ann", "saxpy-guard", "exported", "solved", "7", "5", "2", "1", "0",
                        "missing-guard 3; does-not-compile 1", *DAYS]  # fmt: skip
    assert lines[4][3:9] == ["begun", "3", "", "1", "0", "0"]
    (tmp_path / "learning.json").write_text(learning_json(records), encoding="utf-8")
    assert read_learning(tmp_path / "learning.json") == records
    (tmp_path / "report.json").write_text("[]")
    found = overview(tmp_path)
    assert found.attempts.lines == (
        ("first-fill", 2, 2, 3, 1.5, 2, 1, 0, 0, 0),
        ("saxpy-guard", 3, 2, 13, 4.0, 5, 2, 2, 1, 0),
    )
    assert found.found.lines == (
        (2, 6, "saxpy-guard", "missing-guard"), (2, 2, "saxpy-guard", "does-not-compile"),
        (1, 1, "first-fill", "starts-at-one"), (1, 1, "saxpy-guard", "wrong"),
    )  # fmt: skip


def test_without_exported_files_hints_are_not_known(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text("[]")
    (tmp_path / "learning.json").write_text(learning_json(learning(TRIED[:3], {})))
    assert overview(tmp_path).attempts.lines == (("saxpy-guard", 2, 0, 3, "–", "–", 0, "–", "–", "–"),)
    assert "–" in overview(tmp_path).attempts.text


def test_a_hint_of_an_old_file_was_opened_nobody_knows_how_often() -> None:
    (record,) = learning((), {"ann": {"first-fill": Done(False, 1, 2)}})
    assert list(csv.reader(learning_csv([record]).splitlines()))[1][6:9] == ["0", "", "0"]


@pytest.mark.parametrize("text", ["{", "[1]", "5", '["abc"]', "[" * 50_000])
def test_a_damaged_file_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "learning.json").write_text(text)
    with pytest.raises(CheckError, match="is not a file of gpulab grade"):
        read_learning(tmp_path / "learning.json")


def test_a_class_that_was_graded_before_there_were_such_records(tmp_path: Path) -> None:
    assert read_learning(tmp_path / "learning.json") == []


def test_a_class_with_files_of_learners(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an instructor types it: hidden names stay hidden, and what strangers wrote acts on nothing."""
    submitted = tmp_path / "submitted" / "cy"
    submitted.mkdir(parents=True)
    (submitted / "saxpy-guard.hip").write_text("__global__ void saxpy(")
    hostile = {"attempts": 3, "causes": {"\x1b[2J": 2, "<b>": 1, "=1+1": 1, "missing-guard": 1}}
    (files / "\x1b[31meve.json").write_text(json.dumps({"exercises": {"saxpy-guard": hostile}}))
    words = ["grade", str(tmp_path / "submitted"), "--out", str(tmp_path / "out"), "--seed", "1", "--workers", "1"]
    assert cli.main([*words, "--progress", str(files)]) == 0
    assert "\x1b" not in capsys.readouterr().out
    lines = list(csv.reader((tmp_path / "out" / "learning.csv").read_text(encoding="utf-8").splitlines()))
    assert [(line[0], line[1], line[4], line[9]) for line in lines[1:]] == [
        ("ann", "first-fill", "2", "starts-at-one 1"),
        ("ann", "saxpy-guard", "7", "missing-guard 3; does-not-compile 1"),
        ("bob", "saxpy-guard", "3", "missing-guard 3"),
        ("cy", "saxpy-guard", "1", "does-not-compile 1"),
        ("␛[31meve", "saxpy-guard", "3", "missing-guard 1"),
    ]
    assert cli.main(["report", str(tmp_path / "out"), "--hide-names"]) == 0
    said = capsys.readouterr().out
    assert "Causes of all attempts\n  learners  times  exercise     cause\n" in said
    assert "         3      7  saxpy-guard  missing-guard\n" in said
    assert not [name for name in ("ann", "bob", "eve", "\x1b") if name in said]
    with pytest.raises(CheckError, match="cannot be read"):
        ask = argparse.ArgumentParser()
        command.grade_options(ask)
        asked = ask.parse_args(["--out", str(tmp_path / "out"), "--progress", str(tmp_path / "absent")])
        asked.what, asked.seconds, asked.trust_programs = str(tmp_path / "submitted"), 60.0, False
        command.grade_folder(asked)


def test_records_as_they_are_written() -> None:
    text = learning_json([Learning("ä", "first-fill", HANDED_IN, Done(False, 1))])
    (row,) = json.loads(text)
    assert row == ["ä", "first-fill", "handed in", Done(False, 1).as_entry()]
    assert text == json.dumps([row], indent=1, ensure_ascii=False) + "\n"
    assert text.startswith('[\n [\n  "ä",\n')
    head = "student,exercise,from,state,attempts,attempts until solved,hint 1,hint 2,hint 3,causes,first,last\r\n"
    assert learning_csv([]) == head
