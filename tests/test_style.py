"""The tree keeps to its own style and types: tools/check.py's commands that only read, the same as in `make check`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
COMMANDS = {
    "style": ["ruff", "check", "--no-cache", "."],
    "layout": ["ruff", "format", "--check", "--no-cache", "."],
    "types": ["mypy", "gpulab"],
    "scripts": ["deno", "lint", "--quiet"],
    "types of scripts": ["deno", "check", "--quiet", "--no-remote", "gpulab/views/static"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_complaints(name: str) -> None:
    tool, *arguments = COMMANDS[name]
    command = [sys.executable, "-m", tool, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
