"""The worker's own steps, each alone: requests, numbers of writers, limits, what a child may read, its life and end."""

from __future__ import annotations

import errno
import json
import mmap
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpulab import course, walls
from gpulab.errors import CompileError
from gpulab.grading import worker
from gpulab.grading.case import Writers
from gpulab.records import Access, LastWriters, SourceLine

LINE = SourceLine("a.hip", 7, 2, "b[i] = 1;")


# ------------------------------------------------------------------------------------------------------- requests


def test_writers_are_places_and_rows_of_numbers() -> None:
    def table(*rows: tuple[int, ...]) -> LastWriters:
        return LastWriters([(LINE, "store", "write"), (None, "add", "atomic")], np.array(rows, "int64"))

    nobody, wave = (-1,) * 9, (1, 1, 2, 3, 4, -1, 0, 0, 0)
    one, other = (0, 1, 2, 3, 4, 6, 7, 8, 9), (0, 1, 0, 0, 0, 5, 5, 0, 0)
    found = Writers.of([("b", range(4, 7), table(one, nobody, wave)), ("a", range(-1, 0), table(other))])
    line = worker.encode(LINE)
    assert worker.encode(found.places) == [
        ["b", line, "store", "write"], ["b", None, "add", "atomic"],
        ["a", line, "store", "write"], ["a", None, "add", "atomic"],
    ]  # fmt: skip
    # place, index, workgroup, wave, lane (-1: all), thread
    assert found.rows.dtype == np.dtype("int64")
    assert found.rows.tolist() == [
        [0, 4, 1, 2, 3, 4, 6, 7, 8, 9], [1, 6, 1, 2, 3, 4, -1, 0, 0, 0], [2, -1, 1, 0, 0, 0, 5, 5, 0, 0],
    ]  # fmt: skip
    assert found["b", 4] == Access(LINE, "store", (1, 2, 3), 4, 6, (7, 8, 9), "write")
    assert found["b", 6] == Access(None, "add", (1, 2, 3), 4, None, None, "atomic")
    assert set(found) == {("b", 4), ("b", 6), ("a", -1)}
    assert Writers.of(()).rows.shape == (0, Writers.COLUMNS)


@pytest.mark.parametrize(
    ("error", "reply"),
    [
        (CompileError("what", why="why", hint="hint"), ("CompileError", ["what", "why", "hint"], False)),
        (OSError("no room"), ("OSError", ["no room", "", ""], True)),
        (PermissionError("no"), ("PermissionError", ["no", "", ""], True)),
        (MemoryError(), ("MemoryError", ["", "", ""], False)),
    ],
)
def test_an_error_becomes_its_name_and_parts(error: Exception, reply: tuple[str, list[str], bool]) -> None:
    assert worker._failure(error) == dict(zip(("error", "parts", "system"), reply, strict=True))


class Line:
    """A channel that gives these messages and keeps the answers."""

    def __init__(self, *headers: dict[str, Any]) -> None:
        self.headers, self.sent = list(headers), []

    def receive(self) -> tuple[dict[str, Any], list[Any]]:
        if not self.headers:
            raise worker.Ended
        return self.headers.pop(0), []

    def send(self, header: dict[str, Any], arrays: Any = ()) -> None:
        self.sent.append((header, list(arrays)))


def served(service: worker.Service, *headers: dict[str, Any]) -> list[dict[str, Any]]:
    line = Line(*headers)
    service.serve(line)  # type: ignore[arg-type]
    assert all(arrays == [] for _, arrays in line.sent)
    return [header for header, _ in line.sent]


def test_what_is_asked_of_launches_and_kernels() -> None:
    service = worker.Service()
    counters = SimpleNamespace(counts={"SQ_WAVES": 3})
    first, second = (SimpleNamespace(counters=counters, lines=[number], printed="no") for number in (1, 2))
    service._launches = {4: (first, second), 5: (first,)}  # type: ignore[dict-item]
    service._kernels = [SimpleNamespace(resources={"k": 1}, isa={"k": ["s_endpgm"]}, unset=("s",))]  # type: ignore[list-item]
    launch = {"op": "launch", "run": 4, "launch": 1}
    assert served(
        service,
        {**launch, "field": "lines"}, {**launch, "launch": 0, "field": "lines"}, {**launch, "field": "counters"},
        {**launch, "field": "printed"},  # which was sent at once, and is nothing to ask for
        {"op": "resources", "kernel": 0}, {"op": "isa", "kernel": 0}, {"op": "unset", "kernel": 0},
    ) == [
        {"value": [2]}, {"value": [1]}, {"value": {"SQ_WAVES": 3}}, {"value": None}, {"value": {"k": 1}},
        {"value": {"k": ["s_endpgm"]}}, {"value": ["s"]},
    ]  # fmt: skip
    # runs that the grader has forgotten are forgotten before the answer; one that is not known does no harm
    answers = served(service, {**launch, "field": "lines", "forget": [4, 77]}, {**launch, "run": 5, "launch": 0,
                                                                               "field": "lines"})  # fmt: skip
    assert answers == [{"error": "KeyError", "parts": ["4", "", ""], "system": False}, {"value": [1]}]
    assert list(service._launches) == [5]


def test_after_a_run_nothing_is_prepared() -> None:
    service = worker.Service()
    service._last_step = None
    (answer,) = served(service, {"op": "prepare"})
    assert answer["error"] == "PermissionError"
    assert answer["system"]
    assert f"[Errno {errno.EPERM}]" in answer["parts"][0]


# --------------------------------------------------------------------------------------------- the walls of a child


@pytest.fixture
def own_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What `confine` changes in this process, put back."""
    here = os.getcwd()
    for name in ("HOME", "TMPDIR", "TMP", "TEMP", "GPULAB_CACHE_OWN"):
        monkeypatch.setenv(name, "/elsewhere")
    monkeypatch.setattr(tempfile, "tempdir", tempfile.tempdir)
    yield
    os.chdir(here)


@pytest.mark.parametrize("missing", ["", "no walls here"])
def test_a_child_gives_up_all_but_its_folder(
    tmp_path: Path, own_process: None, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    said: list[Any] = []
    rooms: list[mmap.mmap] = []

    def room() -> mmap.mmap:
        rooms.append(mmap.mmap(-1, 4096))
        return rooms[0]

    from gpulab.programs import jail

    monkeypatch.setattr(worker, "_limit", lambda *limits: said.append(("limit", *limits)))
    monkeypatch.setattr(worker, "_room", room)
    monkeypatch.setattr(worker, "_needed", lambda: ["/usr/lib"])
    monkeypatch.setattr(worker, "_tools", lambda: ["/clang"])
    monkeypatch.setattr(worker, "_of_languages", lambda kind: {"read": ["/python"]}[kind])
    monkeypatch.setattr(jail, "hidden", list)
    monkeypatch.setattr(walls, "available", lambda: missing)
    monkeypatch.setattr(walls, "give_up_privileges", lambda: said.append("privileges"))
    monkeypatch.setattr(walls, "restrict", lambda rules: said.append(rules))
    monkeypatch.setattr(walls, "install", lambda rules: said.append(rules))
    monkeypatch.setattr(walls, "tool_filter", lambda ties: f"tools, ties {ties}")
    monkeypatch.setattr(jail, "first_filter", lambda: "first filter")
    tempfile.tempdir = "/elsewhere"

    step = worker.confine(tmp_path, 123, 45)
    assert (tmp_path / "work").is_dir()
    assert (tmp_path / "cache").is_dir()
    assert Path.cwd() == tmp_path / "work"
    assert {os.environ[name] for name in ("HOME", "TMPDIR", "TMP", "TEMP")} == {str(tmp_path / "work")}
    assert os.environ["GPULAB_CACHE_OWN"] == str(tmp_path / "cache")
    assert Path(tempfile.gettempdir()) == tmp_path / "work"
    assert rooms[0].closed
    first = [("limit", 123, 45)]
    if not missing:
        first += ["privileges", {"run": ["/clang"], "read": ["/usr/lib", "/python"], "list": [],
                                "write": [str(tmp_path), "/dev/null"]}, "tools, ties True"]  # fmt: skip
    assert said == first
    said.clear()
    step()
    assert said == ([] if missing else [{"read": ["/usr/lib", str(tmp_path)]}, "first filter"])
    worker.confine(tmp_path, 123, 45)  # folders that are there already will do


def test_room_for_a_thread_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    with worker._room() as room:
        assert len(room) == 64 * 1024 * 1024

    def full(*_: object) -> None:
        raise OSError(errno.ENOMEM, "full")

    monkeypatch.setattr(mmap, "mmap", full)
    with pytest.raises(MemoryError):
        worker._room()


@pytest.mark.parametrize("hard", [resource.RLIM_INFINITY, 100])
def test_limits_of_a_child(monkeypatch: pytest.MonkeyPatch, hard: int) -> None:
    limits = {}

    def limit(what: int, pair: tuple[int, int]) -> None:
        limits[what] = pair
        if what == resource.RLIMIT_CORE:
            raise ValueError  # as macOS does; the others are set all the same

    monkeypatch.setattr(resource, "getrlimit", lambda what: (1, hard))
    monkeypatch.setattr(resource, "setrlimit", limit)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    worker._limit(8_000_000_000, 20)
    wanted = {
        resource.RLIMIT_AS: 8_000_000_000,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: 268_435_456,  # 256 MiB
        resource.RLIMIT_NOFILE: 256,
        resource.RLIMIT_CPU: 65,  # 20 seconds on three processors, and five to start
    }
    assert limits == {
        what: (amount, amount) if hard == resource.RLIM_INFINITY else (min(amount, 100), min(amount, 100))
        for what, amount in wanted.items()
    }
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    worker._limit(8_000_000_000, 20)
    assert limits[resource.RLIMIT_CPU] == ((25, 25))


def test_what_a_child_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gpulab.toolchain import cache, compiler

    # by the real path: of a language with a compiler of its own that, and what the system loads programs with
    assert worker._tools() == [str(compiler.executable()), sys.executable, *compiler.loaders()]
    compiler.package_folder()
    home = tmp_path / "site-packages" / "gpulab"
    for name in ("site-packages/gpulab/_course", "site-packages/gpulab/grading", "site-packages/gpulab/views",
                 "site-packages/numpy", f"site-packages/{course.INSTRUCTORS}", "site-packages/tmp",
                 "lib/json", "lib/site-packages", "lib/dist-packages", "clone/tests"):  # fmt: skip
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "file.zip").write_text("")
    path = ["site-packages", "lib", "lib", "clone", "missing", "file.zip"]
    monkeypatch.setattr(sys, "path", [str(tmp_path / name) for name in path])

    def read(file: Path) -> list[str]:
        monkeypatch.setattr(worker, "__file__", str(file / "grading" / "worker.py"))
        return sorted(str(Path(name).relative_to(tmp_path)) for name in worker._needed() if str(tmp_path) in name)

    parts = ["site-packages/gpulab/grading", "site-packages/gpulab/views", "site-packages/numpy"]
    assert read(home) == sorted(["clone/tests", "lib/json", *parts])
    # of a clone only the package is read, nothing that stands beside it
    (tmp_path / "clone" / "gpulab" / "grading").mkdir(parents=True)
    assert read(tmp_path / "clone" / "gpulab") == sorted(["clone/gpulab/grading", "lib/json", parts[2]])
    found = worker._needed()
    assert {"/usr/lib", "/lib", "/etc/ld.so.cache", "/proc/cpuinfo", "/dev/null", "/dev/urandom",
            str(compiler.package_folder())} <= set(found)  # fmt: skip
    assert {str(cache.folder() / name) for name in ("virtual-rocm", "library", "headers", "support")} <= set(found)
    assert not {"/etc", "/proc", "/dev", str(cache.folder())} & set(found)


# -------------------------------------------------------------------------------------------------- the fork server


def test_all_that_submissions_share_is_loaded_with_one_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    from gpulab import architectures
    from gpulab.grading import gpu_bench

    done: list[Any] = []

    class Launch:
        def __getattr__(self, name: str) -> list[int]:
            done.append(name)
            return []

    class Kernel:
        def run(self, case: Any, buffers: Any, limit: int, checked: bool, profiled: bool) -> Any:
            (step,) = case.launches("warm")
            ((array, contents),) = [(buffer.array, buffer.contents) for buffer in buffers]
            done.append(
                ("run", step.grid, step.block, step.arguments, array.name, contents.tolist(), checked, profiled)
            )
            assert array.data.dtype == "int32"
            assert 10 <= limit <= 1000
            return SimpleNamespace(launches=(Launch(),))

        def close(self) -> None:
            done.append("closed")

    class Bench:
        def prepare(self, source: str, asked: Any, arch: str) -> Kernel:
            assert asked.kernels["warm"].start in source
            assert asked.kernels["warm"].passed == (((True, "int32"),),)
            assert Path(os.environ["GPULAB_CACHE_OWN"]).is_dir()
            done.append(arch)
            return Kernel()

    monkeypatch.setattr(gpu_bench, "GpuBench", Bench)
    monkeypatch.setenv("GPULAB_CACHE_OWN", "/elsewhere")
    worker.warm()
    assert not Path(os.environ["GPULAB_CACHE_OWN"]).exists()
    one = ("run", (1, 1, 1), (1, 1, 1), ("x",), "x", [0])
    read = ["lines", "instructions", "accesses", "time", "placement"]
    each = [(*one, True, False), *read, (*one, False, True), *read, "closed"]
    assert done == [step for arch in architectures.defaults() for step in (arch, *each)]


def test_a_line_comes_with_its_descriptors() -> None:
    ours, theirs = socket.socketpair()
    read, write = os.pipe()
    with ours, theirs:
        socket.send_fds(ours, [b"first\n"], [write])
        message, (taken,) = worker._receive(theirs)
        assert message == b"first\n"
        os.write(taken, b"through")
        assert os.read(read, 7) == b"through"
        ours.sendall(b"second\n")
        assert worker._receive(theirs) == (b"second\n", [])
        ours.close()
        assert worker._receive(theirs) == (b"", [])
    for descriptor in (read, write, taken):
        os.close(descriptor)


def started(program: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-S", "-c", program], start_new_session=True, stdout=subprocess.PIPE)


def gone(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def test_a_child_is_ended_with_what_it_has_started() -> None:
    assert worker._end(0) == 0
    child = started(
        "import os, sys, time\nother = os.fork()\nif other: print(other, flush=True)\nwhile True: time.sleep(100)\n"
    )
    assert child.stdout is not None
    other = int(child.stdout.readline())
    status = worker._end(child.pid)
    assert os.WIFSIGNALED(status)
    assert os.WTERMSIG(status) == signal.SIGKILL
    until = time.monotonic() + 30
    while not gone(other) and time.monotonic() < until:
        time.sleep(0.01)
    assert gone(other)
    child.stdout.close()


def test_how_a_child_ended_is_told() -> None:
    child = started("raise SystemExit(7)")
    assert child.stdout is not None
    child.stdout.read()  # until it has ended
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert os.waitstatus_to_exitcode(worker._end(child.pid)) == 7
    child.stdout.close()


SERVER = """
import os, sys
from pathlib import Path
from gpulab.grading import worker
steps = []
def warm():
    if sys.argv[1] == "cold":
        raise ValueError("x" * 9000)
def confine(folder, memory_bytes, seconds):
    if folder == Path("/refused"):
        raise PermissionError("no wall")
    return lambda: (folder, memory_bytes, seconds)
class Service:
    def __init__(self, step):
        self.step = step
    def serve(self, channel):
        header, _ = channel.receive()
        if header.get("op") == "fail":
            raise ValueError("of the service")
        folder, memory, seconds = self.step()
        channel.send({"asked": [str(folder), memory, seconds], "input": os.readlink("/proc/self/fd/0"),
                      "group": os.getpgid(0) == os.getpid()})
worker.warm, worker.confine, worker.Service = warm, confine, Service
worker.main()
"""


@pytest.fixture
def server() -> Iterator[Callable[[str], tuple[socket.socket, subprocess.Popen[bytes]]]]:
    made: list[tuple[socket.socket, subprocess.Popen[bytes]]] = []

    def start(how: str) -> tuple[socket.socket, subprocess.Popen[bytes]]:
        ours, theirs = socket.socketpair()
        ours.settimeout(60)
        with theirs:
            process = subprocess.Popen([sys.executable, "-c", SERVER, how], stdin=theirs)
        made.append((ours, process))
        return ours, process

    yield start
    for ours, process in made:
        ours.close()
        process.kill()
        process.wait()


def test_a_server_that_cannot_warm_up_says_why(server: Callable[..., Any]) -> None:
    control, process = server("cold")
    line = control.makefile("rb").readline()
    assert json.loads(line) == {"error": "ValueError: " + "x" * (4096 - len("ValueError: "))}
    assert process.wait(60) == 1


def test_a_child_for_each_submission(server: Callable[..., Any]) -> None:
    control, process = server("warm")
    lines = control.makefile("rb")

    def said() -> dict[str, Any]:
        found: dict[str, Any] = json.loads(lines.readline())
        return found

    def begin(folder: str) -> tuple[worker.Channel, int]:
        ours, theirs = socket.socketpair()
        asked = {"op": "begin", "folder": folder, "memory_bytes": 5, "seconds": 6}
        with theirs:
            socket.send_fds(control, [json.dumps(asked).encode() + b"\n"], [theirs.fileno()])
            child = said()["child"]
        kept.append(ours)
        return worker.Channel(ours.fileno(), ours.fileno()), child

    def end() -> int:
        control.sendall(b'{"op": "end"}\n')
        return os.waitstatus_to_exitcode(said()["status"])

    kept: list[socket.socket] = []
    until = time.monotonic() + 60
    assert said() == {}
    assert end() == 0, "there is no child yet"
    channel, _ = begin("/own")
    assert channel.receive(until) == ({}, [])
    channel.send({"op": "try"})
    assert channel.receive(until)[0] == {"asked": ["/own", 5, 6], "input": "/dev/null", "group": True}
    with pytest.raises(worker.Ended):
        channel.receive(until)  # the server has kept no end of it, nor has the child
    assert end() == 0
    channel, _ = begin("/own")
    channel.receive(until)
    channel.send({"op": "fail"})
    with pytest.raises(worker.Ended):
        channel.receive(until)
    assert end() == 70
    assert end() == 0, "a child is ended once"
    channel, _ = begin("/refused")
    assert channel.receive(until)[0] == {"error": "PermissionError", "parts": ["no wall", "", ""], "system": True}
    with pytest.raises(worker.Ended):
        channel.receive(until)
    assert end() == 1
    # the next submission's begin ends a child that is still there, and so does the grader's end of the socket
    channel, first = begin("/own")
    channel.receive(until)
    channel, second = begin("/own")
    channel.receive(until)
    assert gone(first)
    assert not gone(second)
    control.shutdown(socket.SHUT_RDWR)
    assert process.wait(60) == 0
    assert gone(second)
    for each in kept:
        each.close()


ALONE = SERVER.replace("worker.main()", "worker.serve_one()").replace(
    "def warm():", "def warm():\n    print('noise')\n    sys.stdout.flush()\n    return\ndef other():"
)


def test_without_fork_one_submission_is_served_by_pipes(tmp_path: Path) -> None:
    asked = json.dumps({"folder": "/own", "memory_bytes": 5, "seconds": 6})
    process = subprocess.Popen(
        [sys.executable, "-c", ALONE, "--one", asked], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    channel, until = worker.Channel(process.stdout.fileno(), process.stdin.fileno()), time.monotonic() + 60
    assert channel.receive(until) == ({}, [])
    channel.send({"op": "try"})
    assert channel.receive(until)[0]["asked"] == ["/own", 5, 6]
    assert process.stderr.read() == b"noise\n", "what is printed does not mix with messages"
    assert process.wait(60) == 0
    for pipe in (process.stdin, process.stdout, process.stderr):
        pipe.close()
