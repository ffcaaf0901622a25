"""Where ROCm's library is looked for, and what is said of one that does not answer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from gpulab.providers import rocm
from gpulab.providers.hip import library as hip_library
from gpulab.providers.hip import watch
from gpulab.providers.rocm import installation
from gpulab.providers.rocm.provider import RocmProvider

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

    def run(command: list[str], **how: Any) -> Any:
        assert how == {
            "stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": 60.0, "check": False,
        }  # fmt: skip
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


@pytest.mark.parametrize(("count", "there"), [(0, False), (1, True), (2, True)])
def test_rocm_is_there_with_one_gpu_or_more(monkeypatch: pytest.MonkeyPatch, count: int, there: bool) -> None:
    monkeypatch.setattr(installation, "devices", lambda: (count, "what was found"))
    assert rocm.present() == (there, "what was found")


def test_the_way_to_rocms_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """hip-python's if what it loaded is ROCm's; else ctypes, with the file that was found or the loader's own."""
    asked: list[object] = []
    loaded = {"gpulab_missing": True}

    class Binding:
        kind = "own"

        def has(self, name: str) -> bool:
            return loaded[name]

    def through_hip_python(wanted: Any) -> Binding | None:
        return Binding() if wanted(Binding()) else None

    def through_ctypes(path: str) -> Binding:
        asked.append(path)
        return Binding()

    monkeypatch.setattr(hip_library, "through_hip_python", through_hip_python)
    monkeypatch.setattr(hip_library, "through_ctypes", through_ctypes)
    for found, path in (("/opt/rocm/lib/libamdhip64.so", "/opt/rocm/lib/libamdhip64.so"), (None, "")):
        monkeypatch.setattr(installation, "library", lambda found=found: found)
        assert isinstance(rocm.open_provider(), RocmProvider)
        assert asked.pop() == path
    loaded["gpulab_missing"] = False
    assert rocm.open_provider().name == "rocm"
    assert asked == []


@pytest.mark.parametrize(
    ("platform", "machine", "specs", "found"),
    [
        ("linux", "x86_64", {"hip", "rocm.bindings"}, True), ("linux", "AMD64", {"hip", "rocm.bindings"}, True),
        ("linux2", "x86_64", {"hip", "rocm.bindings"}, True), ("linux", "aarch64", {"hip", "rocm.bindings"}, False),
        ("win32", "AMD64", {"hip", "rocm.bindings"}, False), ("linux", "x86_64", {"hip"}, False),
        ("linux", "x86_64", {"rocm.bindings"}, False), ("linux", "x86_64", ImportError(), False),
        ("linux", "x86_64", ValueError(), False),
    ],
)  # fmt: skip
def test_where_hip_python_can_be_imported(
    monkeypatch: pytest.MonkeyPatch, platform: str, machine: str, specs: Any, found: bool
) -> None:
    def find_spec(name: str) -> object:
        if isinstance(specs, Exception):
            raise specs
        return name if name in specs else None

    monkeypatch.setattr(hip_library.sys, "platform", platform)
    monkeypatch.setattr(hip_library.platform, "machine", lambda: machine)
    monkeypatch.setattr(hip_library.importlib.util, "find_spec", find_spec)
    assert hip_library.has_hip_python() is found


def test_whether_hip_python_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not where it is forbidden, missing, loads another library, or cannot load any."""
    error: list[Exception] = []

    class Binding:
        def call(self, name: str) -> None:
            assert name == "hipGetDeviceCount"
            for each in error:
                raise each

    watched: list[int] = []
    monkeypatch.setattr(hip_library, "prepare", lambda: watched.append(1))
    monkeypatch.setattr(hip_library, "HipPythonBinding", Binding)
    monkeypatch.setattr(hip_library, "has_hip_python", lambda: True)
    monkeypatch.delenv("GPULAB_BINDING", raising=False)
    assert isinstance(hip_library.through_hip_python(lambda found: True), Binding)
    assert hip_library.through_hip_python(lambda found: False) is None
    for each in (ImportError(), RuntimeError()):
        error[:] = [each]
        assert hip_library.through_hip_python(lambda found: True) is None
    error.clear()
    monkeypatch.setenv("GPULAB_BINDING", "ctypes")
    assert hip_library.through_hip_python(lambda found: True) is None
    monkeypatch.setenv("GPULAB_BINDING", "hip-python")
    assert hip_library.through_hip_python(lambda found: True) is not None
    monkeypatch.setattr(hip_library, "has_hip_python", lambda: False)
    assert hip_library.through_hip_python(lambda found: True) is None
    assert len(watched) == 7


@pytest.mark.parametrize("after_a_call", [False, True])
@pytest.mark.parametrize("used", [("rocm", "virtual"), ("virtual",)])
def test_where_rocm_is_not_used_hip_python_is_pointed_to_the_virtual_library(
    monkeypatch: pytest.MonkeyPatch, used: tuple[str, ...], after_a_call: bool
) -> None:
    from gpulab.virtual_gpu import libraries

    done: list[str] = []
    monkeypatch.setattr(hip_library.registry, "names", lambda: used)
    monkeypatch.setattr(libraries, "build", lambda: done.append("built"))
    monkeypatch.setattr(libraries, "load", lambda: done.append("loaded"))
    monkeypatch.setenv("ROCM_PATH", "/as/it/was")
    hip_library.point_hip_python(after_a_call)
    if "rocm" in used:
        assert (done, os.environ["ROCM_PATH"]) == ([], "/as/it/was")
    else:
        assert done == (["built", "loaded"] if after_a_call else ["built"])
        assert os.environ["ROCM_PATH"] == str(libraries.rocm_path())
    done.clear()
    hip_library.point_hip_python()
    assert "loaded" not in done


def test_hip_python_is_watched_for_until_it_looks_for_its_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before all other finders, once, and in silence; where it has looked already there is nothing to watch for."""
    name = "rocm.bindings.util.paths"
    pointed: list[bool] = []
    others = [finder for finder in sys.meta_path if not isinstance(finder, watch._Watcher)]
    monkeypatch.setattr(hip_library, "point_hip_python", lambda after_a_call=False: pointed.append(after_a_call))
    monkeypatch.setattr(sys, "meta_path", list(others))
    monkeypatch.delitem(sys.modules, name, raising=False)
    watch.prepare()
    watch.prepare()
    first = sys.meta_path[0]
    assert isinstance(first, watch._Watcher)
    assert sys.meta_path == [first, *others]
    assert first.find_spec("rocm.bindings.util") is None
    assert (pointed, sys.meta_path) == ([], [first, *others])
    assert first.find_spec(name) is None
    assert (pointed, sys.meta_path) == ([False], others)
    monkeypatch.setitem(sys.modules, name, ModuleType(name))
    watch.prepare()
    assert (pointed, sys.meta_path) == ([False, True], others)
