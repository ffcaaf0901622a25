"""`gpulab doctor` on machines that lack something: each finding, and what it says to type."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import itertools
import os
import platform
import sys
import types
from pathlib import Path
from typing import Any

import pytest

import gpulab
from gpulab import architectures, cli, doctor, providers, walls
from gpulab.doctor import Finding
from gpulab.errors import GpulabError
from gpulab.programs import jail
from gpulab.providers.virtual import hosting
from gpulab.toolchain import build, cache, hosted


@pytest.mark.parametrize(
    ("finding", "text"),
    [
        (Finding("a", True, "works"), "ok      a: works"),
        (Finding("a", True, "works", "b\nc"), "ok      a: works\n        note: b\n        note: c"),
        (Finding("a", False, "lacks", "b"), "not ok  a: lacks\n        type: b"),
        (Finding("a", False, "lacks", "b", needed=False), "-       a: lacks\n        type: b"),
    ],
)
def test_lines_of_a_finding(finding: Finding, text: str) -> None:
    assert str(finding) == text


@pytest.mark.parametrize(
    ("version", "works"), [((3, 10), False), ((3, 11), True), ((3, 13), True), ((3, 14), False), ((2, 12), False)]
)
def test_versions_of_python(version: tuple[int, int], works: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (*version, 0, "final", 0))
    (found,) = doctor._python()
    assert found.works == works
    assert found.advice == ("" if works else "make lab PYTHON=/path/to/python3.12   (gpulab needs 3.11, 3.12 or 3.13)")


def test_a_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "folder", lambda: tmp_path / "cache")
    (tmp_path / "cache" / "a").mkdir(parents=True)
    for name in ("a/one", "two"):
        (tmp_path / "cache" / name).write_bytes(bytes(3 << 19))
    assert list(doctor._cache()) == [
        Finding("cache folder", True, f"{tmp_path / 'cache'}, 3 MB in use (may be deleted at any time)")
    ]
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(cache, "folder", lambda: tmp_path / "file" / "cache")
    (found,) = doctor._cache()
    assert not found.works
    assert "cannot be written (Not a directory)" in found.said
    assert found.advice == "export GPULAB_CACHE=/a/folder/that/can/be/written"


@pytest.mark.parametrize(
    ("why", "ready", "jailed", "expected"),
    [
        ("no linker here", True, "",
         Finding("whole programs", False, "no linker here", "nothing: %%hip cells work here", needed=False)),
        ("", True, "", Finding("whole programs", True, "the C++ library is built; with a jail", needed=False)),
        ("", True, "it takes Linux",
         Finding("whole programs", True, "the C++ library is built; no jail: it takes Linux", needed=False)),
    ],
)  # fmt: skip
def test_whole_programs(why: str, ready: bool, jailed: str, expected: Finding, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosted, "unavailable", lambda: why)
    monkeypatch.setattr(hosted, "is_ready", lambda: ready)
    monkeypatch.setattr(jail, "available", lambda: jailed)
    assert list(doctor._programs()) == [expected]
    monkeypatch.setattr(hosted, "is_ready", lambda: False)
    (found,) = doctor._programs()
    assert ("the first one builds the C++ library (10 to 60 s;" in found.said) == (not why)


def test_walls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walls, "available", lambda: "")
    monkeypatch.setattr(walls, "level", lambda: ("bubblewrap", ""))
    own = "compilers reach their own files alone"
    assert list(doctor._walls()) == [Finding("walls", True, f"bubblewrap; {own}", needed=False)]
    monkeypatch.setattr(walls, "level", lambda: ("landlock", "no bwrap"))
    assert list(doctor._walls()) == [Finding("walls", True, f"landlock (no bwrap); {own}", needed=False)]
    monkeypatch.setattr(walls, "available", lambda: "it takes Linux")
    monkeypatch.setattr(walls, "level", lambda: ("limits", "it takes Linux"))
    said = "limits (it takes Linux); compilers have limits alone"
    assert list(doctor._walls()) == [Finding("walls", False, said, needed=False)]


@pytest.mark.parametrize(
    ("system", "machine", "wheels"),
    [("linux", "x86_64", True), ("linux", "aarch64", False), ("darwin", "x86_64", False), ("darwin", "arm64", False)],
)
def test_without_hip_python(system: str, machine: str, wheels: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(platform, "system", lambda: "S")
    (found,) = doctor._hip_python()
    assert (found.works, found.needed) == (False, wheels)
    assert found.said == ("is not installed" if wheels else f"is not installed; it has no wheel for S {machine}")
    assert found.advice == ("make lab" if wheels else "nothing: gpulab reaches the same calls by ctypes")


@pytest.mark.parametrize("code", [0, 100])
def test_hip_python_answers(code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("hip")
    module.hip = types.SimpleNamespace(hipGetDeviceCount=lambda: (code, 2))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "hip", module)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: module)
    monkeypatch.setattr(importlib.metadata, "version", lambda name: f"7 of {name}")
    expected = Finding("hip-python", True, "7 of hip-python, hipGetDeviceCount says 2")
    if code:
        expected = Finding(
            "hip-python", False, "7 of hip-python: hipGetDeviceCount failed with 100", "gpulab setup"
        )  # fmt: skip
    assert list(doctor._hip_python()) == [expected]


def test_what_jupyterlab_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        if name == "papermill":
            raise importlib.metadata.PackageNotFoundError(name)
        return "1.2"

    monkeypatch.setattr(importlib.metadata, "version", version)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    place = tmp_path / "share" / "jupyter" / "labextensions" / "anywidget"
    place.mkdir(parents=True)
    (place / "package.json").write_text("{}")
    found = {finding.part: finding for finding in doctor._jupyter()}
    assert found["papermill"] == Finding("papermill", False, "is not installed", "make lab")
    assert found["jupyterlab"] == Finding("jupyterlab", True, "1.2")
    label = "JupyterLab extension "
    assert found[label + "anywidget"] == Finding(label + "anywidget", True, "runs the instruments' scripts")
    manager, grader = label + "@jupyter-widgets/jupyterlab-manager", label + "@jupyter/nbgrader"
    assert found[manager] == Finding(manager, False, "is missing (shows instruments and progress)", "make lab")
    assert found[grader] == Finding(grader, False, "is missing (marks graded cells)", "make lab", needed=False)
    assert len(found) == 9


def test_a_part_that_cannot_be_tried(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(error: Exception) -> None:
        def part() -> list[Finding]:
            raise error

        monkeypatch.setattr(doctor, "_python", part)

    for name in ("_cache", "_compiler", "_library", "_devices", "_hip_python", "_programs", "_walls", "_jupyter"):
        monkeypatch.setattr(doctor, name, list)
    broken(GpulabError("it broke.", why="so.", hint="mend it."))
    assert list(doctor.examine()) == [Finding("Python", False, "it broke. so. Mend it.", "")]
    broken(GpulabError("it broke."))
    assert list(doctor.examine()) == [Finding("Python", False, "it broke.", "make lab")]
    broken(OSError(" "))
    assert list(doctor.examine()) == [Finding("Python", False, "OSError: no message", "make lab")]
    assert cli.main(["doctor"]) == 1
    assert capsys.readouterr().out.endswith("\n\n1 part does not work. What to type stands below each.\n")
    monkeypatch.setattr(doctor, "_walls", lambda: [Finding("w", False, "", needed=False), Finding("x", False, "")])
    assert cli.main(["doctor"]) == 1
    assert capsys.readouterr().out.endswith("\n\n2 parts do not work. What to type stands below each.\n")
    monkeypatch.setattr(doctor, "_walls", lambda: [Finding("w", False, "", needed=False)])
    monkeypatch.setattr(doctor, "_python", lambda: [Finding("p", True, os.name)])
    assert cli.main(["doctor"]) == 0
    assert capsys.readouterr().out.endswith("\n\nEverything that is needed works.\n")


def clock(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Each look at the clock is so many seconds after the one before."""
    looks = itertools.count(100.0, seconds)
    monkeypatch.setattr(doctor, "time", types.SimpleNamespace(perf_counter=looks.__next__))


def test_the_compiler_is_tried_for_each_device(monkeypatch: pytest.MonkeyPatch) -> None:
    clock(monkeypatch, 0.25)
    asked = []
    monkeypatch.setattr(build, "compile", lambda source, **more: asked.append(more))
    monkeypatch.setattr(architectures, "defaults", lambda: ("gfx942", "gfx1100"))
    monkeypatch.setattr(importlib.metadata, "version", lambda name: f"9 of {name}")
    assert list(doctor._compiler()) == [
        Finding("compiler", True, f"Clang of ziglang 9 of ziglang compiled a kernel for {arch} in 250 ms")
        for arch in ("gfx942", "gfx1100")
    ]
    assert [more["use_cache"] for more in asked] == [False, False]


def test_devices_run_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    clock(monkeypatch, 0.5)
    assert [(found.works, found.said, found.advice) for found in doctor._devices()] == [
        (True, "ran a kernel in 500 ms, with the right result", "") for _ in gpulab.devices()
    ]
    assert [found.part for found in doctor._devices()] == [
        f"device {info.index}, {info.name} ({info.arch}, virtual)" for info in gpulab.devices()
    ]

    def broken(source: str, **more: Any) -> Any:
        raise OSError("gone")

    monkeypatch.setattr(gpulab, "compile", broken)
    assert {(found.works, found.said, found.advice) for found in doctor._devices()} == {
        (False, "OSError: gone", "gpulab setup")
    }


@pytest.mark.parametrize(("profiler", "windows"), [(None, False), ("", True), ("/opt/rocprofv3", False)])
def test_libraries_that_are_used_and_not(profiler: str | None, windows: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    info = types.SimpleNamespace(path="/lib/a.so", version="1.2", binding="ctypes", profiler=profiler)
    used = types.SimpleNamespace(name="one", library=lambda: info)
    monkeypatch.setattr(providers, "providers", lambda: (used,))
    monkeypatch.setattr(providers, "states", lambda: {"other": "it was not found", "one": "it was found"})
    monkeypatch.setattr(providers, "title", lambda name: f"the library {name}")
    monkeypatch.setattr(hosting, "rocm_path", lambda: "/cache/rocm")
    monkeypatch.setattr(doctor, "os", types.SimpleNamespace(name="nt" if windows else "posix"))
    lacking = "rocprofv3 (package rocprofiler-sdk) was not found: gpulab.profile gives times, no counters"
    expected = [
        Finding("the library other", False, "it was not found; the library one is used", needed=False),
        Finding("the library one", True, "/lib/a.so (1.2, by ctypes)"),
    ]
    if profiler is not None:
        expected.append(Finding("profiler", bool(profiler), profiler or lacking, needed=False))
    *found, last = doctor._library()
    assert found == expected
    assert last.works
    assert last.advice == ("set ROCM_PATH=/cache/rocm" if windows else "export ROCM_PATH=/cache/rocm")
