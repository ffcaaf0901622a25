"""Projects of a term: what one begins with reaches the first milestone alone, a solution reaches all of them; wrong
programs reach none, and say so."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from gpulab import course
from gpulab.delivery import copy
from gpulab.errors import GpulabError
from gpulab.programs import make

HERE = Path(__file__).parent
PROJECTS = course.projects()
PROGRAMS = {"n-body": "nbody", "image-pipeline": "pipeline"}
NAMES = sorted(PROGRAMS)


@pytest.fixture
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A learner's folder of the project."""
    return Path(shutil.copytree(PROJECTS / request.param, tmp_path / request.param))


def measuring(folder: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"measure_{folder.name.replace('-', '_')}", folder / "measure.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def measured(folder: Path, arch: str, *words: str) -> dict[str, bool]:
    """Which milestones measure.py in this folder says are reached; README.md has the same numbers."""
    done = subprocess.run(
        [sys.executable, "measure.py", "--arch", arch, *words], cwd=folder, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    first = re.match(r".*: ([\d.]+) µs .*\(modelled\), (?:([\d.]+)% of the peak)?", done.stdout)
    assert first is not None
    time, share = first.groups()
    said = [f"{float(share):.1f} %" if float(share) > 1 else f"{share} %"] if share else [f"{time} µs"]
    page = (folder / "README.md").read_text(encoding="utf-8")
    assert not [number for number in said if number not in page], done.stdout
    lines = re.findall(r"^  (\w+) .*  (reached|not yet)$", done.stdout, re.MULTILINE)
    return {name: word == "reached" for name, word in lines}


def test_every_project_is_here_and_reaches_the_learner() -> None:
    assert sorted(path.name for path in PROJECTS.iterdir()) == NAMES
    names = copy.release(solutions=False)
    for name, program in PROGRAMS.items():
        parts = ("README.md", "Makefile", "measure.py", f"{program}.hip")
        assert {f"projects/{name}/{part}" for part in parts} <= set(names)
        assert (HERE / name / f"{program}.hip").is_file()
        assert len((PROJECTS / name / f"{program}.hip").read_text(encoding="utf-8").splitlines()) <= 200


def test_milestones_have_the_numbers_of_their_page() -> None:
    """Bodies, and shares of the peak; frames, their size, and microseconds for a frame."""
    bodies, frames = (measuring(PROJECTS / name) for name in ("n-body", "image-pipeline"))
    page = (PROJECTS / "n-body" / "README.md").read_text(encoding="utf-8")
    for row, shares in zip(("full", "fast"), zip(*bodies.SHARES.values(), strict=True), strict=True):
        first, second = (f"{100 * share:g}" for share in shares)
        assert f"| {row} | at least {first} % of the peak on gfx942 ({second} % on gfx1100) |" in page
    sizes = [n for n, _ in (*bodies.SMALL, (bodies.BODIES, 0))]
    assert f"for {', '.join(f'{n:,}' for n in sizes[:-1])} and {sizes[-1]:,} bodies" in page
    page = (PROJECTS / "image-pipeline" / "README.md").read_text(encoding="utf-8")
    short, *others = zip(*frames.LIMITS.values(), strict=True)
    assert [f"| short | all kernels take at most {most:g} µs a frame |" in page for most in short] == [True, True]
    for row, (first, second) in zip(("full", "fast"), others, strict=True):
        assert f"| {row} | at most {first:g} µs a frame on gfx942 ({second:g} on gfx1100) |" in page
    count, width, height = frames.TIMED
    assert f"Measured are {count} frames" in page
    assert f"for frames of 1 × 1 to {width} × {height} pixels" in page
    assert list(bodies.SHARES) == list(frames.LIMITS) == ["gfx942", "gfx1100"]


def test_what_frames_are_to_become() -> None:
    """Where nothing changes, colours stay. Beside an edge from 0 to 40 the slope is 40 times the blur's weights of the
    distances 0 and 1, e^0 and e^(-1/8), of all its weights, 4.9858: 15.1. Of the colour 1 - 15.1 / 32 are left."""
    drawn = measuring(PROJECTS / "image-pipeline").drawn
    even = np.full((2, 9, 8, 4), (200, 100, 50, 7), np.uint8)
    assert np.array_equal(drawn(even), even)
    edge = np.zeros((1, 20, 40, 4), np.uint8)
    edge[:, :, 20:, :3] = 40
    for frames in (edge, edge.transpose(0, 2, 1, 3)):
        found = drawn(frames)
        line = found[0, 10] if frames is edge else found[0, :, 10]
        assert line[:20].max() == 0
        assert line[20].tolist() == [21, 21, 21, 0]
        assert line[26:, :3].min() == 40


@pytest.mark.parametrize("project", NAMES, indirect=True)
def test_what_one_begins_with_is_right_and_slow(project: Path) -> None:
    found = measured(project, "gfx942")
    assert len(found) == 5
    assert [name for name, reached in found.items() if reached] == ["right"]


@pytest.mark.parametrize(
    ("project", "arch"), [("n-body", "gfx942"), ("image-pipeline", "gfx1100")], indirect=["project"]
)
def test_a_solution_reaches_all(project: Path, arch: str) -> None:
    program = PROGRAMS[project.name]
    shutil.copy(HERE / project.name / f"{program}.hip", project)
    found = measured(PROJECTS / project.name, arch, "--folder", str(project))
    assert len(found) == 5
    assert all(found.values()), found


WRONG = {
    "n-body": ("out[i] = {ax, ay, az};", "out[i] = {ax, ay, i == 70 ? 0 : az};", ("77", "3")),
    "image-pipeline": ("inside(x + 1, width)] - in", "inside(x + 1, width - 1)] - in", ("3", "61", "37")),
}


@pytest.mark.parametrize("project", NAMES, indirect=True)
def test_a_wrong_program_is_found_by_itself_and_by_measuring(project: Path) -> None:
    """One body's force lacks a part; one column of a frame looks at another pixel."""
    old, new, words = WRONG[project.name]
    program = PROGRAMS[project.name]
    text = (project / f"{program}.hip").read_text(encoding="utf-8")
    for one, other in ((old, new), ("? 0 : 1;", "? 0 : 0;")):  # the second: what it says of itself does not count
        assert text.count(one) == 1
        text = text.replace(one, other)
    (project / f"{program}.hip").write_text(text, encoding="utf-8")
    built = make(project, f"build/{program}", "gfx942")
    size = tuple(map(int, words))
    done, apart = measuring(project).run(built, "gfx942", *(size if len(size) == 2 else (size,)), project)
    assert "WRONG" in done.stdout
    assert apart > (1e-5 if project.name == "n-body" else 1)


def test_what_make_cannot_do_is_said(tmp_path: Path) -> None:
    with pytest.raises(GpulabError, match="make does not start in"):
        make(tmp_path / "absent", "program", "gfx942")
    (tmp_path / "Makefile").write_text("all:\n\t@echo no rule for $(ARCH); exit 3\n")
    with pytest.raises(GpulabError, match=r"(?s)make ARCH=gfx942 failed in .*no rule for gfx942"):
        make(tmp_path, "program", "gfx942")
    (tmp_path / "Makefile").write_text("all:\n\t@true\n")
    with pytest.raises(GpulabError, match="made no file program in"):
        make(tmp_path, "program", "gfx942")
