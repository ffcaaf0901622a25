"""The jail's steps one by one, in this process: what is measured, listed, limited, and what is handed on.

What the kernel then refuses is seen in test_jail.py, with programs.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gpulab import walls
from gpulab.errors import GpulabError
from gpulab.programs import jail
from gpulab.toolchain import cache

MIB = 1 << 20


def test_what_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """64 MiB on the disk, 4,096 files and folders: the limits themselves are still allowed."""
    assert jail._too_much(tmp_path) == ""
    sizes = {"a": 64 * MIB // 512 - 8, "b": 8}
    for name in sizes:
        (tmp_path / name).write_text("")
    monkeypatch.setattr(os, "lstat", lambda path: SimpleNamespace(st_blocks=sizes[os.path.basename(path)]))
    assert jail._too_much(tmp_path) == ""
    sizes["b"] = 9
    assert jail._too_much(tmp_path) == "it wrote more than 64 MiB into files"


def test_too_many_files(tmp_path: Path) -> None:
    inner = tmp_path / "folder"
    inner.mkdir()
    for number in range(4095):
        (inner / f"{number}").touch()
    assert jail._too_much(tmp_path) == ""
    (tmp_path / "one").mkdir()
    assert jail._too_much(tmp_path) == "it made more than 4,096 files"


def test_a_file_that_goes_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text("x")

    def gone(path: str) -> os.stat_result:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(os, "lstat", gone)
    assert jail._too_much(tmp_path) == ""


def test_what_lies_beside_what_is_hidden(tmp_path: Path) -> None:
    for place in ("top/open", "top/closed/inner", "top/deep/closed", "top/deep/open", "other"):
        (tmp_path / place).mkdir(parents=True)
    top, other = str(tmp_path / "top"), str(tmp_path / "other")
    secret = [tmp_path / "top" / "closed", tmp_path / "top" / "deep" / "closed"]
    found, listed = jail.without([top, other], secret)
    assert found == [other, f"{top}/open", f"{top}/deep/open"]
    assert listed == [top, f"{top}/deep"]
    assert jail.without([top, top + "/", top], secret)[1] == listed  # each once
    assert jail.without([f"{top}/closed", f"{top}/closed/inner"], secret) == ([], [])
    assert jail.without([f"{top}/closedness", other], secret) == ([f"{top}/closedness", other], [])
    assert jail.without([top], []) == ([top], [])
    assert jail.without([], secret) == ([], [])
    assert jail.without(["/"], [Path("/absent/folder")])[1] == ["/"]


def test_the_environment_without_its_temporary_files(tmp_path: Path) -> None:
    for name in ("lib", "tmp", "bin"):
        (tmp_path / name).mkdir()
    assert sorted(jail._without_tmp(str(tmp_path))) == [f"{tmp_path}/bin", f"{tmp_path}/lib"]
    assert jail._without_tmp(str(tmp_path / "absent")) == []


def test_what_is_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "gpulab"
    package.mkdir()
    monkeypatch.setattr(jail.course, "PACKAGE", package)
    assert jail.hidden() == []
    (package / "_course").mkdir()
    assert jail.hidden() == [package / "_course"]
    (tmp_path / jail.course.INSTRUCTORS).mkdir()
    assert jail.hidden() == [package / "_course", tmp_path / jail.course.INSTRUCTORS]


@pytest.mark.skipif(bool(jail.available()), reason=jail.available() or "there is a jail")
def test_a_jailed_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "run" / "folder"
    folder.mkdir(parents=True)
    given = {
        "PATH": "/bin", "LD_LIBRARY_PATH": "/l", "OMP_NUM_THREADS": "2", "PYTHONPATH": "/evil", "SECRET": "x",
        "GPULAB_DEVICES": "gfx942", "GPULAB_PYTHON": "p", "GPULAB_PROGRESS": "p", "GPULAB_COURSE": "c",
        "GPULAB_LIBRARIES": os.pathsep.join(["/more", "", "/others"]), "HOME": "/home/me",
    }  # fmt: skip
    command, kept, too_much = jail.prepare(["/built/prog", "one"], given, folder, 2.5)
    assert command == ["/built/prog", "/built/prog", "one"]
    asked = json.loads(kept.pop("GPULAB_JAIL"))
    home = Path(jail.__file__).resolve().parents[1]
    assert kept == {
        "PATH": "/bin", "LD_LIBRARY_PATH": "/l", "OMP_NUM_THREADS": "2", "GPULAB_DEVICES": "gfx942",
        "GPULAB_LIBRARIES": given["GPULAB_LIBRARIES"], "PYTHONPATH": str(home.parent), "HOME": str(folder),
        "TMPDIR": str(folder), "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "ignore",
        "GPULAB_CACHE": str(cache.folder()), "GPULAB_CACHE_OWN": str(tmp_path / "run" / "cache"),
        "GPULAB_LIBRARY": "virtual",
    }  # fmt: skip
    assert (asked["write"], asked["seconds"]) == ([str(folder), "/dev/null"], 2.5)
    for path in (
        "/usr",
        "/built",
        "/more",
        "/others",
        "/dev/urandom",
        *(str(cache.folder() / n) for n in cache.SHARED),
    ):
        assert path in asked["read"]
    for path in ("", "/", str(tmp_path), str(cache.folder()), "/home/me", "/evil", "/etc", "/tmp", "/proc"):
        assert path not in asked["read"]
    assert asked["list"][0] == str(home.parent)
    assert too_much() == ""


def test_without_a_jail_no_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jail, "available", lambda: "landlock is switched off")
    with pytest.raises(GpulabError, match="it cannot be jailed here") as raised:
        jail.prepare(["/p"], {}, tmp_path, 1)
    assert raised.value.why.endswith("may do. Landlock is switched off.")


def steps(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What is asked of the system, in order, and not done."""
    import resource

    done: list[tuple[Any, ...]] = []
    monkeypatch.setattr(resource, "setrlimit", lambda what, limits: done.append(("limit", what, limits)))
    for name in ("give_up_privileges", "restrict", "install"):
        monkeypatch.setattr(walls, name, lambda *given, name=name: done.append((name, *given)))
    return done


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="jails are Linux's")
@pytest.mark.parametrize(("cpus", "cpu_seconds"), [(4, 2 * 4 + 5), (None, 2 + 5)])
def test_what_is_given_up(monkeypatch: pytest.MonkeyPatch, cpus: int | None, cpu_seconds: int) -> None:
    import resource

    done = steps(monkeypatch)
    monkeypatch.setattr(os, "listdir", lambda path: ["1"] if path == "/proc/self/task" else [])
    monkeypatch.setattr(os, "cpu_count", lambda: cpus)
    monkeypatch.setattr(jail, "first_filter", lambda: b"filter")
    jail.enter(json.dumps({"read": ["/usr"], "list": ["/l"], "write": ["/w"], "seconds": 2.9}))
    assert done == [
        ("limit", resource.RLIMIT_CORE, (0, 0)),
        ("limit", resource.RLIMIT_FSIZE, (128 * MIB, 128 * MIB)),
        ("limit", resource.RLIMIT_NOFILE, (256, 256)),
        ("limit", resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds)),
        ("give_up_privileges",),
        ("restrict", {"read": ["/usr", f"/proc/{os.getpid()}"], "list": ["/l"], "write": ["/w"]}),
        ("install", b"filter"),
    ]


def test_another_thread_would_keep_what_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "listdir", lambda path: ["1", "2"])
    with pytest.raises(OSError, match="more than one thread"):
        jail.enter("{}")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="jails are Linux's")
def test_the_limit_on_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """2 GiB beside what is used; never more than there was."""
    import resource

    done = steps(monkeypatch)
    monkeypatch.setattr(jail, "_second_filter", lambda: b"second")
    infinite = resource.RLIM_INFINITY
    for limits, wanted in (((infinite, infinite), None), ((1000, infinite), 1000), ((infinite, 2000), 2000),
                           ((3000, 2000), 2000)):  # fmt: skip
        done.clear()
        monkeypatch.setattr(resource, "getrlimit", lambda what, limits=limits: limits)
        jail.close()
        (_, what, (soft, hard)), last = done
        assert (what, last) == (resource.RLIMIT_AS, ("install", b"second"))
        assert soft == hard
        if wanted is None:
            with open("/proc/self/statm", encoding="ascii") as file:
                used = int(file.read().split()[0]) * resource.getpagesize()
            assert abs(soft - used - (2 << 30)) < 64 * MIB
        else:
            assert soft == wanted
