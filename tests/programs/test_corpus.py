"""Programs of the kinds that people publish, each a folder of `corpus` with its own Makefile or CMakeLists.txt.

Each is built by its own command in a copy of its folder, by way of `gpulab env`, once for both devices, and checks its
own results against the host: exit code 0 and a word of success only if they are right.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gpulab.toolchain import hosted

pytestmark = pytest.mark.skipif(bool(hosted.unavailable()), reason=hosted.unavailable() or "programs can be built")

CORPUS = Path(__file__).parent / "corpus"
NAMES = sorted(one.name for one in CORPUS.iterdir() if one.is_dir())
QUICK = ("multi_file_heat",)
"""In `make test`; the others are `full`."""

SOURCES = {".hip", ".cpp", ".cc", ".cu", ".c", ".h", ".hpp"}
SUCCESS = re.compile(r"\bpass(ed)?\b", re.IGNORECASE)
FAILURE = re.compile(r"\b(fail(ed)?|wrong: [1-9])\b", re.IGNORECASE)


def given(*command: str, folder: Path, seconds: int = 300, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, timeout=seconds
    )


def built(folder: Path) -> Path:
    """Build as the folder's own file says; the only program that comes of it."""
    gpulab = (sys.executable, "-P", "-m", "gpulab", "env")
    if (folder / "CMakeLists.txt").exists():
        commands, place = [("cmake", "-B", "build"), ("cmake", "--build", "build")], folder / "build"
    else:
        elsewhere = "/opt/rocm/bin/hipcc" in (folder / "Makefile").read_text("utf-8")  # as people name what they have
        commands, place = [("make", "HIPCC=hipcc") if elsewhere else ("make",)], folder
    for command in commands:
        run = given(*gpulab, *command, folder=folder)
        assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-4000:]
    files = [file for file in place.iterdir() if file.is_file() and file.suffix not in (".o", ".so")]
    made = [file for file in files if os.access(file, os.X_OK) and file.read_bytes()[:4] == b"\x7fELF"]
    (program,) = made
    return program


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.full) for name in NAMES]
)
def test_a_program_finds_its_results_right(name: str, tmp_path: Path) -> None:
    tool = "cmake" if (CORPUS / name / "CMakeLists.txt").exists() else "make"
    if shutil.which(tool) is None:
        pytest.skip(f"needs {tool}")
    folder = tmp_path / name
    shutil.copytree(CORPUS / name, folder)
    program = built(folder)
    for arch in ("gfx942", "gfx1100"):
        run = given(str(program), folder=folder, seconds=90, GPULAB_LIBRARY="virtual", GPULAB_DEVICES=arch)
        said = f"{arch}: exit code {run.returncode}\n{run.stdout[-2000:]}{run.stderr[-2000:]}"
        assert run.returncode == 0, said
        assert SUCCESS.search(run.stdout), said
        assert not FAILURE.search(run.stdout), said


def test_the_corpus_is_as_large_as_it_should_be() -> None:
    assert len(NAMES) >= 60
    for name in NAMES:
        files = [one for one in (CORPUS / name).rglob("*") if one.suffix in SOURCES]
        assert 100 <= sum(len(one.read_text("utf-8").splitlines()) for one in files) <= 600, name
