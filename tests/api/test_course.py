"""Where the course is looked for: in a clone, an installed package, the instructor's, or where a variable says."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import gpulab
from gpulab import course, dropped, providers
from gpulab.device import memory_info
from gpulab.errors import CheckError, GpulabError


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an installed gpulab without any course."""
    monkeypatch.setattr(course, "PACKAGE", tmp_path / "gpulab")
    monkeypatch.delenv("GPULAB_COURSE", raising=False)
    return tmp_path / "gpulab"


def clone_beside(package: Path) -> Path:
    (package.parent / "course").mkdir(parents=True)
    (package.parent / "notebooks").mkdir()
    (package.parent / "course" / "build.py").write_text("")
    return package.parent


def test_a_clone_has_its_builder_and_notebooks(package: Path) -> None:
    assert course.clone() is None
    (package.parent / "notebooks").mkdir(parents=True)
    assert course.clone() is None
    (package.parent / "notebooks").rmdir()
    assert course.clone() is None
    (package.parent / "course").mkdir()
    (package.parent / "course" / "build.py").write_text("")
    assert course.clone() is None
    (package.parent / "notebooks").mkdir()
    assert course.clone() == package.parent


def test_where_exercises_are_looked_for(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = [package.parent / "gpulab_instructor", package / "_course", package.parent / "course"]
    with pytest.raises(CheckError) as error:
        course.definitions()
    assert error.value.what == "The course's exercises were not found."
    assert error.value.why == f"looked in {', '.join(str(place / 'exercises') for place in places)}."
    for place in reversed(places):
        (place / "exercises").mkdir(parents=True)
        assert course.definitions() == place / "exercises"
    monkeypatch.setenv("GPULAB_COURSE", str(tmp_path / "own"))
    with pytest.raises(CheckError) as error:
        course.definitions()
    assert error.value.why == f"looked in {tmp_path / 'own' / 'exercises'}."
    (tmp_path / "own" / "exercises").mkdir(parents=True)
    assert course.definitions() == tmp_path / "own" / "exercises"


def test_where_lessons_projects_and_solutions_are(package: Path) -> None:
    for function in (course.learners, course.projects):
        with pytest.raises(GpulabError) as error:
            function()
        assert error.value.what == f"This gpulab has no lessons: there is no {package / '_course' / 'learners'}."
    assert course.solutions() is None
    (package.parent / "gpulab_instructor" / "solutions").mkdir(parents=True)
    assert course.solutions() == package.parent / "gpulab_instructor" / "solutions"
    top = clone_beside(package)
    assert course.solutions() is None
    (top / "solutions").mkdir()
    assert (course.learners(), course.projects(), course.solutions()) == (
        top, top / "course" / "projects", top / "solutions",
    )  # fmt: skip
    installed = package / "_course" / "learners"
    installed.mkdir(parents=True)
    assert (course.learners(), course.projects()) == (installed, installed / "projects")


def test_memory_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was dropped is given back before it is looked at."""
    steps: list[str] = []
    monkeypatch.setattr(dropped, "release", lambda: steps.append("release"))
    chosen = SimpleNamespace(memory_info=lambda: steps.append("look") or (1000, 5096))
    monkeypatch.setattr(providers, "selected", lambda: chosen)
    found = memory_info()
    assert (found.free, found.total, found.used, str(found)) == (1000, 5096, 4096, "1,000 of 5,096 bytes are free")
    assert steps == ["release", "look"]


@pytest.mark.parametrize(
    ("module", "registered"),
    [
        (None, 0), (SimpleNamespace(), 0), (SimpleNamespace(get_ipython=lambda: None), 0),
        (SimpleNamespace(get_ipython=lambda: "shell"), 1),
    ],
)  # fmt: skip
def test_the_magic_is_there_inside_ipython(module: Any, registered: int, monkeypatch: pytest.MonkeyPatch) -> None:
    shells: list[Any] = []
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setattr(gpulab, "load_ipython_extension", shells.append)
    gpulab._register_in_notebook()
    assert shells == ["shell"] * registered
