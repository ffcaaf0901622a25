"""Where ROCm's library is looked for, and what is said of one that does not answer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from gpulab.providers.hip import library as hip_library
from gpulab.providers.rocm import installation

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such folders")


@pytest.fixture
def nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No ROCm anywhere; the loader would find one by its name."""
    for name in ("ROCM_PATH", "ROCM_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(hip_library, "virtual_folder", lambda: tmp_path / "virtual")
    monkeypatch.setattr(installation.sys, "platform", "linux")
    monkeypatch.setattr(installation.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(installation.ctypes.util, "find_library", lambda name: f"by name {name}")
    return tmp_path


def placed(root: Path, name: str = "libamdhip64.so") -> str:
    path = root / "lib" / name
    path.parent.mkdir(parents=True)
    path.write_text("")
    return str(path)


@posix
def test_folders_in_their_order(nothing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert installation.library() == "by name amdhip64"
    home, path = placed(nothing / "home"), placed(nothing / "path")
    monkeypatch.setenv("ROCM_HOME", str(nothing / "home"))
    assert installation.library() == home
    monkeypatch.setenv("ROCM_PATH", str(nothing / "path"))
    assert installation.library() == path
    monkeypatch.setenv("ROCM_PATH", str(nothing / "empty"))
    assert installation.library() == home


@posix
def test_the_virtual_library_is_no_installation(nothing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    placed(nothing / "virtual")
    monkeypatch.setenv("ROCM_PATH", str(nothing / "virtual"))
    assert installation.library() == "by name amdhip64"


@posix
def test_the_package_rocm_sdk_comes_first(nothing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = placed(nothing / "path")
    monkeypatch.setenv("ROCM_PATH", str(nothing / "path"))
    package: Any = ModuleType("rocm_sdk")
    monkeypatch.setitem(sys.modules, "rocm_sdk", package)
    package.find_libraries = lambda name: [Path(f"/sdk/{name}"), Path("/other")]
    assert installation.library() == path  # it is not installed
    monkeypatch.setattr(installation.importlib.util, "find_spec", lambda name: name == "rocm_sdk" or None)
    assert installation.library() == "/sdk/amdhip64"
    package.find_libraries = lambda name: []
    assert installation.library() == path

    def broken(name: str) -> list[Path]:
        raise RuntimeError("damaged")

    package.find_libraries = broken
    assert installation.library() == path


def test_other_systems(nothing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"amdhip64_6": "six", "amdhip64_7": "seven"}
    monkeypatch.setattr(installation.ctypes.util, "find_library", found.get)
    monkeypatch.setattr(installation.sys, "platform", "win32")
    assert installation.library() == "seven"
    del found["amdhip64_7"]
    assert installation.library() == "six"
    monkeypatch.setattr(installation.sys, "platform", "darwin")
    monkeypatch.setenv("ROCM_HOME", str(nothing / "mac"))
    path = placed(nothing / "mac", "libamdhip64.dylib")
    assert installation.library() == path


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ((0, "gpulab 0 1", ""), (1, "/lib with 1 GPU")),
        ((0, "gpulab 0 2\n", ""), (2, "/lib with 2 GPUs")),
        ((0, "gpulab 0 0", ""), (0, "/lib found no usable GPU (HIP error 0)")),
        ((0, "gpulab 100 1", ""), (0, "/lib found no usable GPU (HIP error 100)")),
        ((1, "gpulab 0 1", ""), (0, "/lib does not work (exit code 1: no message)")),
        ((0, "other 0 1", "a\nlast\n"), (0, "/lib does not work (exit code 0: last)")),
        ((-6, "", "a\nlast\n"), (0, "/lib does not work (exit code -6: last)")),
        (FileNotFoundError("no python"), (0, "/lib did not answer (no python)")),
        (
            subprocess.TimeoutExpired("python", 3),
            (0, "/lib did not answer (Command 'python' timed out after 3 seconds)"),
        ),
    ],
)
def test_what_is_found(monkeypatch: pytest.MonkeyPatch, answer: Any, found: tuple[int, str]) -> None:
    monkeypatch.setattr(installation.os.path, "exists", lambda path: path == "/dev/kfd")
    monkeypatch.setattr(installation, "library", lambda: "/lib")

    def run(command: list[str], **_: Any) -> Any:
        assert command[:3] == [sys.executable, "-I", "-c"]
        assert command[4:] == ["/lib"]
        if isinstance(answer, Exception):
            raise answer
        return SimpleNamespace(returncode=answer[0], stdout=answer[1], stderr=answer[2])

    monkeypatch.setattr(installation.subprocess, "run", run)
    assert installation.devices() == found


def test_drivers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "library", lambda: None)
    monkeypatch.setattr(installation.sys, "platform", "linux")
    for there in ("/dev/kfd", "/dev/dxg"):
        monkeypatch.setattr(installation.os.path, "exists", lambda path, there=there: path == there)
        assert installation.devices() == (0, "no libamdhip64 found")
    monkeypatch.setattr(installation.os.path, "exists", lambda path: False)
    assert installation.devices() == (0, "no AMD GPU driver (there is no /dev/kfd)")
    monkeypatch.setattr(installation.sys, "platform", "win32")
    assert installation.devices() == (0, "no libamdhip64 found")
