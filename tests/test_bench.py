"""The measures run: results are compared bit by bit with the host's, and a difference is seen."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]


def measures(name="measures"):  # type: ignore[no-untyped-def]
    spec = importlib.util.spec_from_file_location(name, ROOT / "bench" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_all_kernels_agree_with_the_host() -> None:
    command = [sys.executable, "bench/measures.py", "--no-latencies", "--runs", "1", "--small"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=3600)
    assert found.returncode == 0, found.stdout + found.stderr
    rows = [line for line in found.stdout.splitlines() if re.search(r" gfx(942|1100) ", line)]
    assert {arch for row in rows for arch in ("gfx942", "gfx1100") if f" {arch} " in row} == {"gfx942", "gfx1100"}
    assert [row for row in rows if not row.endswith("same bits")] == []


def test_a_difference_is_told() -> None:
    agreement = measures().agreement
    expected = np.array([1.0, 2.0, 3.0], np.float32)
    assert agreement(expected.copy(), expected) == "same bits"
    assert agreement(np.array([1.0, 2.5, 3.0], np.float32), expected) == "1 of 3 DIFFER, by up to 0.5"


def test_latencies_of_a_program_are_measured() -> None:
    rows = measures().in_a_program()
    assert [name.split()[1] for name, _, _ in rows] == ["launch", "same", "of", "same", "copy"]
    assert all(0 < float(found.split()[0]) < 100_000 for _, found, _ in rows)


def test_translations_are_timed_both_ways(capsys) -> None:
    measures().translations(1, (("-O3", 2),))
    heads, _, *rows = capsys.readouterr().out.strip().splitlines()
    assert "quick ms" in heads
    assert "optimised ms" in heads
    assert [row.split()[1] for row in rows] == ["gfx942", "gfx1100"]
    assert all(float(row.split()[3]) > 0 and float(row.split()[4]) > 0 for row in rows)


def test_a_class_has_answers_that_all_differ_and_are_the_same_every_time(tmp_path: Path) -> None:
    grading = measures("grading")
    assert grading.make_class(tmp_path / "one", 4) == grading.make_class(tmp_path / "two", 4) == 40
    texts = {path.relative_to(tmp_path / "one"): path.read_text() for path in (tmp_path / "one").rglob("*.hip")}
    assert len(texts) == len(set(texts.values())) == 40
    assert all((tmp_path / "two" / name).read_text() == text for name, text in texts.items())
    assert {str(path.parent) for path in texts} == {"student0000", "student0001", "student0002", "student0003"}


@pytest.mark.seldom
def test_a_class_is_graded_with_one_worker_and_two_and_killed() -> None:
    command = [sys.executable, "bench/grading.py", "--students", "1", "--kills", "1"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1200)
    assert found.returncode == 0, found.stdout + found.stderr
    assert found.stdout.count("the same reports byte for byte: True") == 2
    for part in ("Dask hands out and takes back", "a result is kept on the disk", "MB a worker"):
        assert part in found.stdout


def test_what_saturates_first_is_worked_out(capsys) -> None:  # type: ignore[no-untyped-def]
    """Half a second each on ten workers: 3,000 take 150 s. A part of 0.02 s is as long as grading with 25 workers."""
    measures("grading").table_of_scale({"reading": 0.01, "keeping": 0.02}, 2.0, {100: 1.0, 200: 4.0})
    said = capsys.readouterr().out
    numbers = {line[:35].strip(): line[35:].split() for line in said.splitlines()}
    assert numbers["grading"] == ["15", "150", "2,500"]
    assert numbers["keeping"] == ["6.0", "60.0", "1,000.0"]
    assert numbers["similar answers (power 2.0)"] == ["0.9", "90.0", "25,000.0"]
    assert "'keeping', with 25 workers" in said
