"""The compiler's process: how its end is worded, what its folder needs, what it may reach; no compiler runs here."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gpulab import walls
from gpulab.errors import CompileError, GpulabError, InternalError
from gpulab.toolchain import compiler


@pytest.mark.parametrize("name", ["KILL", "XCPU", "XFSZ", "ABRT", "SEGV", "BUS", "ILL", "TRAP"])
def test_signals_of_want_and_of_bugs(name: str) -> None:
    import signal

    error = compiler.explain_death(-getattr(signal, f"SIG{name}"), "the linker")
    assert isinstance(error, CompileError)
    assert f"the linker died (SIG{name})." in str(error)


@pytest.mark.parametrize("code", [0, 1, 9, -2, -250])
def test_other_ends_are_gpulabs_own(code: int) -> None:
    error = compiler.explain_death(code, "the linker")
    assert isinstance(error, InternalError)
    assert f"the linker failed with code {code} and gave no reason." in str(error)


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    for found in (
        None,
        SimpleNamespace(submodule_search_locations=None),
        SimpleNamespace(submodule_search_locations=[]),
    ):
        monkeypatch.setattr(importlib.util, "find_spec", lambda name, found=found: found)
        with pytest.raises(GpulabError, match=r"gpulab found no compiler\.") as raised:
            compiler.package_folder.__wrapped__()
        assert f"{sys.executable} -m pip install ziglang" in str(raised.value)
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: SimpleNamespace(submodule_search_locations=[f"/a/{name}", "/b"])
    )
    assert compiler.package_folder.__wrapped__() == Path("/a/ziglang")


def test_without_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "package_folder", lambda: tmp_path)
    (tmp_path / "zig").mkdir()
    with pytest.raises(GpulabError, match="holds no compiler program") as raised:
        compiler.executable.__wrapped__()
    assert str(tmp_path) in str(raised.value)
    (tmp_path / "zig.exe").write_text("")
    assert compiler.executable.__wrapped__() == tmp_path / "zig.exe"
    assert compiler.builtin_headers() == tmp_path / "lib" / "include"


def test_the_version_names_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib import metadata

    (tmp_path / "zig").write_bytes(b"12345")
    os.utime(tmp_path / "zig", (1000.75, 1000.75))
    monkeypatch.setattr(compiler, "executable", lambda: tmp_path / "zig")
    monkeypatch.setattr(metadata, "version", lambda name: f"1.2 of {name}")
    assert compiler.version.__wrapped__() == "ziglang 1.2 of ziglang 5 1000"

    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    assert compiler.version.__wrapped__() == "ziglang unknown 5 1000"


def test_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CPATH", "ROCM_PATH", "SOURCE_DATE_EPOCH", "KEPT"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("LC_ALL", "de_DE")
    found = compiler.environment({"MORE": "y"})
    assert not {"CPATH", "ROCM_PATH", "SOURCE_DATE_EPOCH"} & found.keys()
    assert (found["KEPT"], found["MORE"], found["LC_ALL"]) == ("x", "y", "C.UTF-8")
    assert "MORE" not in compiler.environment()


def test_what_a_process_may_reach(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "executable", lambda: Path("/p/zig"))
    monkeypatch.setattr(compiler, "package_folder", lambda: Path("/p"))
    own = [tmp_path / name for name in ("a.c", "b", "d", "e")]
    for path in own:
        path.write_text("")
    arguments = ["clang", str(own[0]), f"-I{own[1]}", f"-o{tmp_path}/absent", f"-D={own[2]}", f"={own[3]}", "relative",
                 f"-Wl,{own[0]}"]  # fmt: skip
    reached = compiler._allowed("/p/zig", arguments, tmp_path, ["/r"], ["/w"])
    package = str(Path(compiler.__file__).parent)
    assert reached == {
        "run": ["/p/zig"],
        "read": ["/p", package, "/dev/urandom", *map(str, own), "/r"],
        "write": [str(tmp_path), "/w", "/dev/null"],
    }
    assert compiler._allowed("/p/zig", [], None, [], [])["write"] == ["/dev/null"]
    tool = compiler._allowed("/other/tool", [], None, [], [])["run"]
    assert tool[0] == "/other/tool"
    assert all(each.startswith("/lib") for each in tool[1:]), "what loads a program that is not static"


def test_limits_of_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    given: list[tuple[Any, ...]] = []
    monkeypatch.setattr(resource, "prlimit", lambda *words: given.append(words), raising=False)
    for seconds, cpu in ((60.0, 61), (0.5, 1), (2.9, 3), (-5.0, 1)):
        given.clear()
        compiler._confine(SimpleNamespace(pid=7), compiler.Limits(seconds, 100, 200))  # type: ignore[arg-type]
        assert given == [
            (7, resource.RLIMIT_AS, (100, 100)), (7, resource.RLIMIT_FSIZE, (200, 200)),
            (7, resource.RLIMIT_CORE, (0, 0)), (7, resource.RLIMIT_CPU, (cpu, cpu)),
        ]  # fmt: skip


def test_room_is_looked_for_where_the_compiler_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Path] = []
    monkeypatch.setattr(compiler, "_expect_room", asked.append)
    assert compiler.run(["clang", "--version"], folder=tmp_path).code == 0
    assert compiler.run(["clang", "--no-such-option"]).code != 0
    assert asked == []
    assert compiler.run(["clang", "--no-such-option"], folder=tmp_path).code != 0
    assert asked == [tmp_path]


def test_a_failure_for_want_of_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler._expect_room(tmp_path)
    assert list(tmp_path.iterdir()) == []
    asked = []

    def full(descriptor: int, start: int, size: int) -> None:
        asked.append((start, size))
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(GpulabError, match="had no room for its files: No space left on device") as raised:
        compiler._expect_room(tmp_path)
    assert f"less than 8 MiB can be written in {tmp_path}" in str(raised.value)
    assert asked == [(0, 8 << 20)]
    monkeypatch.delattr(os, "posix_fallocate")
    written = []

    class Small:
        def __enter__(self) -> Small:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def write(self, data: bytes) -> None:
            written.append(len(data))

        def flush(self) -> None:
            raise OSError("full")

    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: Small())
    with pytest.raises(GpulabError, match="had no room for its files: full"):
        compiler._expect_room(tmp_path)
    assert written == [8 << 20]


class Process:
    """A process that ends when it is asked for the third time."""

    pid, args = 1 << 22, ["zig"]

    def __init__(self, ends: bool) -> None:
        self.ends, self.asked = ends, 0

    def poll(self) -> int | None:
        self.asked += 1
        return 5 if self.ends and self.asked == 3 else None


def test_waiting_for_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, pauses = [100.0], []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        clock[0] += seconds

    monkeypatch.delattr(os, "pidfd_open", raising=False)
    monkeypatch.setattr(compiler.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(compiler.time, "sleep", sleep)
    assert compiler._wait(Process(True), 1.0) == 5  # type: ignore[arg-type]
    assert pauses == [0.0005, 0.000625]
    pauses.clear()
    with pytest.raises(subprocess.TimeoutExpired) as raised:
        compiler._wait(Process(False), 1.0)  # type: ignore[arg-type]
    assert (raised.value.timeout, raised.value.cmd) == (1.0, ["zig"])
    assert max(pauses) == 0.004
    assert 1.0 <= sum(pauses) < 1.0041


def test_the_descriptor_of_a_process_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[int] = []

    def pidfd_open(process: int) -> int:
        opened.append(os.open(os.devnull, os.O_RDONLY))  # select takes it at once
        return opened[-1]

    monkeypatch.setattr(os, "pidfd_open", pidfd_open, raising=False)
    monkeypatch.setattr(compiler.time, "sleep", lambda seconds: None)
    assert compiler._wait(Process(True), 1.0) == 5  # type: ignore[arg-type]
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(opened[0])


def test_a_program_that_cannot_be_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "executable", lambda: tmp_path / "absent")
    monkeypatch.setattr(compiler, "package_folder", lambda: tmp_path)
    monkeypatch.setattr(walls, "available", lambda: "no walls")
    released = []
    monkeypatch.setattr(walls.Tie, "release", lambda tie: released.append(tie))
    with pytest.raises(GpulabError, match="the linker could not be started: ") as raised:
        compiler.run(["-v"], what="the linker")
    assert f"{tmp_path / 'absent'} is missing" in str(raised.value)
    assert len(released) == 1
