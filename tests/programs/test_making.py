"""How `make` is run for a project, and what is said where it makes no program."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gpulab.errors import GpulabError
from gpulab.programs import installation, making


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What make does, which a test sets; and the order of what was done."""
    found: dict[str, Any] = {"order": [], "done": SimpleNamespace(returncode=0, stdout="", stderr="")}

    def run(command: list[str], **more: Any) -> Any:
        found["order"].append("make")
        found["asked"] = (command, more)
        if isinstance(found["done"], Exception):
            raise found["done"]
        return found["done"]

    monkeypatch.setattr(installation, "install", lambda: found["order"].append("install"))
    monkeypatch.setattr(installation, "environment", lambda: {"CXX": "/rocm/bin/hipcc"})
    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setenv("KEPT", "yes")
    return found


def test_a_program_that_make_made(ran: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path.parent)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "app").write_text("")
    made = making.make(tmp_path.name, "out/app", "gfx1100", "-B", "all")
    assert (made.path, made.source, made.name, made.archs) == (tmp_path / "out" / "app", "", "app", ("gfx1100",))
    command, more = ran["asked"]
    assert (command, ran["order"]) == (["make", "ARCH=gfx1100", "-B", "all"], ["install", "make"])
    environment = more.pop("env")
    assert (environment["CXX"], environment["KEPT"]) == ("/rocm/bin/hipcc", "yes")
    assert more == {"cwd": tmp_path.name, "stdin": subprocess.DEVNULL, "capture_output": True, "text": True,
                    "errors": "replace", "check": False}  # fmt: skip


def test_where_make_makes_nothing(ran: dict[str, Any], tmp_path: Path) -> None:
    def said() -> str:
        with pytest.raises(GpulabError) as error:
            making.make(tmp_path, "app", "gfx942")
        return error.value.what

    assert said() == f"make ARCH=gfx942 made no file app in {tmp_path}."
    ran["done"] = SimpleNamespace(returncode=2, stdout="c++ a.cpp\n", stderr="error: b\n\n")
    assert said() == f"make ARCH=gfx942 failed in {tmp_path}:\n\nc++ a.cpp\nerror: b"
    ran["done"] = FileNotFoundError(2, "No such file or directory")
    assert said() == f"make does not start in {tmp_path}: no such file or directory."
    ran["done"] = OSError("Odd")
    assert said() == f"make does not start in {tmp_path}: odd."
