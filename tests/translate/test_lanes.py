"""Chunks are 16 lanes wide on hosts with vectors of 512 bits, else 8: kernels give the same with the other width."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gpulab.virtual_gpu.translate import jit

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("part", ["not full", pytest.param("full", marks=pytest.mark.seldom)])
def test_the_width_that_this_host_would_not_take(part: str) -> None:
    other = 24 - jit.host().lanes
    assert other in (8, 16)
    files = (
        "translate/test_kernels.py",
        "translate/test_scratch.py",
        "translate/test_sweeps.py",
        "translate/test_held.py",
        "translate/test_gathers.py",
        "translate/test_straight.py",
        "translate/test_counting.py",
        "machine/test_observation.py",
        "checked/test_checked.py",
    )
    chosen = ("-q", "-p", "no:cacheprovider", "-m", part, *(f"tests/{name}" for name in files))
    command = [sys.executable, "-m", "pytest", *chosen]
    environment = {**os.environ, "GPULAB_LANES": str(other)}
    outcome = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=3600, check=False
    )
    assert outcome.returncode == 0, outcome.stdout[-4000:] + outcome.stderr[-2000:]
    assert re.search(r"\d+ passed", outcome.stdout)
