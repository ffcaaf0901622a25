"""The versions in pyproject.toml, environment.yml and constraints.txt agree, and packages carry what they need."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PINNED = re.compile(r"^([A-Za-z0-9][\w.-]*)==([\w.]+)(?: ; .*)?$")
EXTRAS = PROJECT["optional-dependencies"]
ALL = PROJECT["dependencies"] + [line for extra in EXTRAS.values() for line in extra]


def constraints() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return dict(line.lower().split("==") for line in lines if line and not line.startswith("#"))


def test_every_package_is_pinned_exactly() -> None:
    assert [line for line in ALL if not PINNED.match(line)] == []


def test_environment_has_the_same_packages() -> None:
    """environment.yml lists exactly the packages that lessons need, then gpulab itself."""
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    parts = environment["dependencies"]
    (pip,) = [part["pip"] for part in parts if isinstance(part, dict)]
    assert [line for line in pip if not line.startswith("--")] == PROJECT["dependencies"]
    assert [line for line in pip if line.startswith("--")] == ["--constraint constraints.txt", "--editable ."]
    (python,) = [part for part in parts if isinstance(part, str) and part.startswith("python=")]
    assert python.removeprefix("python=") in ("3.11", "3.12", "3.13")
    assert PROJECT["requires-python"] == ">=3.11,<3.14"


def test_constraints_agree_with_the_pins() -> None:
    pinned = {m[1].lower(): m[2] for line in ALL if (m := PINNED.match(line))}
    known = constraints()
    assert {name: known.get(name) for name in pinned} == pinned


def test_what_grading_a_class_needs_is_tested_and_not_needed_by_learners() -> None:
    assert set(EXTRAS["class"]) <= set(EXTRAS["test"])
    assert not set(EXTRAS["class"]) & set(PROJECT["dependencies"])


def test_constraints_cover_what_is_installed() -> None:
    """Each package that a pinned one brings along on this machine is in constraints.txt, at the installed version."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    known = {canonicalize_name(name): version for name, version in constraints().items()}
    wanted = PROJECT["dependencies"] + EXTRAS["class"]
    todo = [canonicalize_name(Requirement(line).name) for line in wanted]
    seen: set[str] = set()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        if name not in {"pip", "setuptools"}:
            assert known.get(name) == importlib.metadata.version(name).lower(), name
        for line in importlib.metadata.requires(name) or []:
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                todo.append(canonicalize_name(requirement.name))


def test_hip_python_only_where_it_has_wheels() -> None:
    from packaging.requirements import Requirement

    (line,) = [line for line in PROJECT["dependencies"] if line.startswith("hip-python")]
    marker = Requirement(line).marker
    assert marker is not None
    assert marker.evaluate({"sys_platform": "linux", "platform_machine": "x86_64"})
    for system, machine in (("linux", "aarch64"), ("darwin", "arm64"), ("win32", "AMD64")):
        assert not marker.evaluate({"sys_platform": system, "platform_machine": machine})


def test_the_wheel_carries_headers_and_exercises(tmp_path: Path) -> None:
    """A wheel has every file that gpulab reads while it runs: device headers, C sources, the course's exercises."""
    for name in ("gpulab", "course"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "LICENSE-course"):
        shutil.copy(ROOT / name, tmp_path)
    code = "from setuptools import build_meta; print(build_meta.build_wheel('out'))"
    found = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert found.returncode == 0, found.stdout + found.stderr
    (wheel,) = (tmp_path / "out").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
        entry = archive.read(next(name for name in packed if name.endswith("entry_points.txt"))).decode()
    assert "gpulab = gpulab.cli:main" in entry
    wanted = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "gpulab").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert wanted - packed == set()
    extension = ROOT / "gpulab" / "editor" / "labextension"
    wanted = {path.relative_to(extension).as_posix() for path in extension.rglob("*") if path.is_file()}
    shared = {name.partition(".data/data/share/jupyter/labextensions/")[2] for name in packed}
    assert len(wanted) >= 6
    assert wanted - shared == set(), "where JupyterLab finds the extension"
    exercises = {path.relative_to(ROOT / "course") for path in (ROOT / "course" / "exercises").rglob("*.*")}
    wanted = {f"gpulab/_course/{path.as_posix()}" for path in exercises if "__pycache__" not in path.parts}
    assert wanted - packed == set()


def test_bootstrap_runs_on_old_interpreters() -> None:
    """The script that says "gpulab needs Python 3.11" must itself be readable by a Python that is older."""
    import ast

    text = (ROOT / "tools" / "bootstrap.py").read_text()
    ast.parse(text, feature_version=(3, 6))
    assert "from __future__ import annotations" not in text  # needs 3.7


def test_bootstrap_refuses_a_python_that_is_too_old(tmp_path: Path) -> None:
    """With no suitable interpreter it fails with a sentence that names the versions and what to type."""
    code = (
        "import runpy, sys\n"
        "bootstrap = runpy.run_path('tools/bootstrap.py')\n"
        "module = bootstrap['find_python'].__globals__\n"
        "module['sys'] = type('Sys', (), {'version_info': (3, 8, 1), 'executable': sys.executable})\n"
        "module['version_of'] = lambda python: (3, 8)\n"
        "try:\n"
        "    bootstrap['find_python']()\n"
        "except bootstrap['Failed'] as failed:\n"
        "    print(failed)\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert "gpulab needs Python 3.11 to 3.13" in found.stdout
    assert "this is Python 3.8" in found.stdout
    assert "make lab PYTHON=" in found.stdout


@pytest.mark.parametrize(
    ("first", "second", "code", "last"),
    [
        ("3 passed in 1.00s", "4 passed in 2.00s", 0, "4 passed in 2.00s"),
        ("1 failed, 2 passed in 1.00s", "4 passed in 2.00s", 2, "1 failed, 2 passed in 1.00s"),
        ("3 passed in 1.00s", "1 failed in 2.00s", 2, "1 failed in 2.00s"),
    ],
)
def test_ci_runs_both_halves_and_fails_with_either(
    tmp_path: Path, first: str, second: str, code: int, last: str
) -> None:
    """With a `make` that prints what pytest would, and fails where that says so."""
    calls = tmp_path / "calls"
    make = tmp_path / "make"
    make.write_text(
        f'#!/usr/bin/env bash\necho "$1" >> {calls}\n'
        f'line="{first}"; [ "$1" = test ] || line="{second}"\necho "$line"; echo "after it"\n'
        '[[ "$line" != *failed* ]] || exit 2\n'
    )
    for name in ("make", "chromium"):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(0o755)
    done = subprocess.run(
        ["bash", str(ROOT / ".ci" / "run")], capture_output=True, text=True, check=False, timeout=60,
        env={"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert calls.read_text().split() == ["test", "test-rest"]
    assert done.stdout.splitlines()[-1] == last


def test_ci_fails_at_once_without_a_browser(tmp_path: Path) -> None:
    """With the few programs that the script itself needs, and neither Chromium nor a package manager."""
    for name in ("bash", "env", "dirname"):
        found = shutil.which(name)
        assert found is not None
        (tmp_path / name).symlink_to(found)
    done = subprocess.run(
        [str(tmp_path / "bash"), str(ROOT / ".ci" / "run")], env={"PATH": str(tmp_path)}, capture_output=True,
        text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1
    assert "the browser tests cannot run" in done.stderr.splitlines()[-1]
    assert done.stdout == ""


def test_every_verb_that_the_texts_name_is_a_target() -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert "sudo" not in makefile
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    texts = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "tests/README.md", "course/README.md")]
    named = {verb for path in texts for verb in re.findall(r"`make ([a-z-]+)", path.read_text(encoding="utf-8"))}
    assert "test" in named
    assert named - targets == set()
