"""The tree keeps to its own style and types: ruff and mypy as pyproject.toml sets them, the same as in `make check`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
COMMANDS = {"style": ["ruff", "check", "--no-cache", "."], "types": ["mypy", "gpulab"]}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_complaints(name: str) -> None:
    tool, *arguments = COMMANDS[name]
    command = [sys.executable, "-m", tool, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
