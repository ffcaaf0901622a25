"""The measures run: results are compared bit by bit with the host's, and a difference is seen."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]


def measures():  # type: ignore[no-untyped-def]
    spec = importlib.util.spec_from_file_location("measures", ROOT / "bench" / "measures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["measures"] = module
    spec.loader.exec_module(module)
    return module


def test_all_kernels_agree_with_the_host() -> None:
    command = [sys.executable, "bench/measures.py", "--no-latencies", "--runs", "1"]
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


def test_translations_are_timed_both_ways(capsys) -> None:
    measures().translations(1, (("-O3", 2),))
    heads, _, *rows = capsys.readouterr().out.strip().splitlines()
    assert "quick ms" in heads
    assert "optimised ms" in heads
    assert [row.split()[1] for row in rows] == ["gfx942", "gfx1100"]
    assert all(float(row.split()[3]) > 0 and float(row.split()[4]) > 0 for row in rows)
