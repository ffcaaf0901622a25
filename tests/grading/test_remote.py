"""A grader and its worker in one process: what the worker says of a run is what the bench beside it finds.

`serving` runs worker.Service on the other end of a socket; `answering` sends made-up replies instead, as a submission
that has taken over its process could.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpulab.errors import AssemblyError, CompileError, DeviceMemoryError, UnsupportedInstruction
from gpulab.grading import remote
from gpulab.grading.bench import WrongSignature
from gpulab.grading.case import Array, Asked, Buffer, Case, Prototype, Step, Value, sentinel
from gpulab.grading.gpu_bench import GpuBench
from gpulab.grading.remote import NotJudged, RemoteBench, Session, Stopped, Worker
from gpulab.grading.wire import Channel
from gpulab.grading.worker import BASE, Service

SOURCE = """
__global__ void twice(int n, const int* a, int* b) {
    __shared__ int kept[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    kept[threadIdx.x] = i < n ? a[i] : 0;
    __syncthreads();
    if (i < n) b[i] = 2 * kept[threadIdx.x ^ 1];
    if (i == 0) printf("n = %d\\n", n);
}
__global__ void more(int n, const int* a, int* b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] += 1;
}
"""
PASSED = ((False, "int32"), (True, "int32"), (True, "int32"))
ASKED = Asked(
    "try", "twice",
    {name: Prototype(name, "int n, const int* a, int* b", (PASSED,)) for name in ("twice", "more")},
)  # fmt: skip
COUNT = 100
ARGUMENTS = (
    Value("n", np.int32(COUNT)), Array("a", np.arange(COUNT, dtype="int32")), Array("b", sentinel("int32", COUNT)),
)  # fmt: skip
CASE = Case({}, (2, 1, 1), (64, 1, 1), ARGUMENTS)
TWO = Case({}, arguments=ARGUMENTS, steps=tuple(
    Step(name, (2, 1, 1), (64, 1, 1), ("n", "a", "b")) for name in ("twice", "more")
))  # fmt: skip
BUFFERS = [Buffer(array, 8, number) for number, array in enumerate(CASE.arrays)]


@contextlib.contextmanager
def session(folder: Path, serve: Callable[[Channel], None], seconds: float = 60.0) -> Iterator[Session]:
    ours, theirs = socket.socketpair()

    def run() -> None:
        with theirs, contextlib.suppress(Exception):
            serve(Channel(theirs.fileno(), theirs.fileno()))

    def end() -> int:
        ours.close()
        other.join(10)
        return 3

    other = threading.Thread(target=run, daemon=True)
    other.start()
    made = Session(Channel(ours.fileno(), ours.fileno()), time.monotonic() + seconds, seconds, folder, end)
    try:
        yield made
    finally:
        made.close()


@contextlib.contextmanager
def serving(folder: Path, steps: list[str]) -> Iterator[Session]:
    def serve(channel: Channel) -> None:
        channel.send({})
        Service(lambda: steps.append("last")).serve(channel)

    with session(folder, serve) as made:
        yield made


@contextlib.contextmanager
def answering(folder: Path, *answers: tuple[Mapping[str, Any], list[Any]]) -> Iterator[Session]:
    def serve(channel: Channel) -> None:
        channel.send({})
        for header, arrays in answers:
            channel.receive()
            channel.send(header, arrays)
        channel.receive()

    with session(folder, serve) as made:
        yield made


@pytest.mark.parametrize("case", [CASE, TWO], ids=["one launch", "two"])
@pytest.mark.parametrize(("checked", "profiled"), [(True, False), (False, True), (False, False)])
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_a_run_elsewhere_is_the_run_here(tmp_path: Path, arch: str, checked: bool, profiled: bool, case: Case) -> None:
    wanted = {"b": range(0, COUNT, 7), "a": [3]} if checked else None
    here = GpuBench().prepare(SOURCE, ASKED, arch)
    steps: list[str] = []
    with serving(tmp_path / "folder", steps) as made:
        there = RemoteBench(made).prepare(SOURCE, ASKED, arch)
        assert steps == []
        assert (there.arch, there.wave_size) == (arch, here.wave_size)
        assert dict(there.resources) == dict(here.resources)
        assert dict(there.isa) == dict(here.isa)
        assert there.unset == here.unset == ()
        one = here.run(case, BUFFERS, 10_000, checked, wanted, profiled)
        other = there.run(case, BUFFERS, 10_000, checked, wanted, profiled)
        assert steps == ["last"]
        assert {name: data.tolist() for name, data in other.after.items()} == {
            name: data.tolist() for name, data in one.after.items()
        }
        assert other.fault is None
        assert set(other.addresses or {}) == set(one.addresses or {})
        assert dict(other.writers) == dict(one.writers)
        assert bool(one.writers) == checked
        assert len(one.launches) == len(other.launches) == (1 if case is CASE else 2)
        for mine, its in zip(one.launches, other.launches, strict=True):
            for name in set(BASE) - {"host_us", "device"}:
                assert getattr(its, name) == getattr(mine, name), name
            assert its.printed == ("n = 100\n" if its.kernel == "twice" else "")
            assert dict(its.counters.counts) == dict(mine.counters.counts)
            for name in ("lines", "instructions", "accesses", "time", "placement"):
                assert getattr(its, name) == getattr(mine, name), name
    here.close()


def test_a_fault_elsewhere_is_the_fault_here(tmp_path: Path) -> None:
    source = SOURCE.replace("if (i < n) b[i] = 2", "b[i + n] = 2")
    here = GpuBench().prepare(source, ASKED, "gfx942", 5)
    with serving(tmp_path / "folder", []) as made:
        there = RemoteBench(made).prepare(source, ASKED, "gfx942", 5)
        one, other = (kernel.run(CASE, [*BUFFERS[:1], Buffer(CASE.arrays[1], 0)], 10_000) for kernel in (here, there))
    assert one.fault is not None
    assert other.fault is not None
    assert (other.fault.kind, other.fault.where, other.fault.workgroup) == (
        one.fault.kind, one.fault.where, one.fault.workgroup
    )  # fmt: skip
    here.close()


@pytest.mark.full
def test_records_are_forgotten_with_the_run(tmp_path: Path) -> None:
    kept: list[Service] = []

    def serve(channel: Channel) -> None:
        channel.send({})
        kept.append(Service())
        kept[0].serve(channel)

    with session(tmp_path / "folder", serve) as made:
        kernel = RemoteBench(made).prepare(SOURCE, ASKED, "gfx942")
        first = kernel.run(CASE, BUFFERS, 10_000, profiled=True)
        second = kernel.run(CASE, BUFFERS, 10_000, profiled=True)
        assert sorted(kept[0]._launches) == [1, 2]
        del first
        gc.collect()
        assert dict(second.launches[0].counters.counts)
        assert sorted(kept[0]._launches) == [2]


def test_nothing_is_compiled_after_a_kernel_has_run(tmp_path: Path) -> None:
    with serving(tmp_path / "folder", []) as made:
        bench = RemoteBench(made)
        bench.prepare(SOURCE, ASKED, "gfx942").run(CASE, BUFFERS, 10_000)
        with pytest.raises(NotJudged, match="nothing is compiled after a kernel has run"):
            bench.prepare(SOURCE, ASKED, "gfx942")


@pytest.mark.parametrize(
    ("source", "error", "said"),
    [
        (SOURCE.replace("int i", "int", 1), CompileError, "expected"),
        (SOURCE.replace("twice", "thrice"), WrongSignature, "one of them named twice; the source has thrice, more"),
        (SOURCE.replace("const int* a", "const float* a"), WrongSignature, "Parameter 2 of"),
        (SOURCE.replace("int n, const int* a", "int n", 1).replace("a[i]", "b[i]", 1), WrongSignature, "takes 2 param"),
    ],
)
def test_what_is_wrong_with_a_source_is_said_as_here(tmp_path: Path, source: str, error: type, said: str) -> None:
    with pytest.raises(error) as here:
        GpuBench().prepare(source, ASKED, "gfx942")
    with serving(tmp_path / "folder", []) as made, pytest.raises(error, match=said) as there:
        RemoteBench(made).prepare(source, ASKED, "gfx942")
    assert str(there.value) == str(here.value)


def failure(name: object, *parts: object) -> dict[str, Any]:
    return {"error": name, "parts": list(parts)}


@pytest.mark.parametrize(
    ("answer", "error", "said"),
    [
        (failure("CompileError", "what", "why", "hint"), CompileError, "what"),
        (failure("AssemblyError", "what", "why", "hint"), AssemblyError, "what"),
        (failure("UnsupportedInstruction", "what", "", ""), UnsupportedInstruction, "what"),
        (failure("DeviceMemoryError", "what", "", ""), DeviceMemoryError, "what"),
        (failure("WrongSignature", "what", "", ""), WrongSignature, "^what$"),
        (failure("MemoryError", "", "", ""), Stopped, "needs more memory"),
        (failure("OSError", "no room", "", ""), NotJudged, "^OSError: no room$"),
        (failure("OSError", "", "", ""), NotJudged, "^OSError$"),
        (failure("SystemExit", "x", "", ""), NotJudged, "SystemExit"),
        (failure("OSError", "two", "parts"), Stopped, "no answer"),
        (failure("OSError", 1, 2, 3), Stopped, "no answer"),
        ({"error": "OSError"}, Stopped, "no answer"),
        ({"error": "OSError", "parts": 3}, Stopped, "no answer"),
        ({}, Stopped, "no answer"),
        ({"kernel": 0}, Stopped, "no answer"),
        ({"kernel": "0", "wave_size": 64}, Stopped, "no answer"),
        ({"kernel": 0, "wave_size": None}, Stopped, "no answer"),
    ],
)
def test_answers_of_a_process_that_may_be_anybodys(tmp_path: Path, answer: Any, error: type, said: str) -> None:
    with answering(tmp_path, (answer, [])) as made, pytest.raises(error, match=said):
        RemoteBench(made).prepare(SOURCE, ASKED, "gfx942")


def test_texts_of_a_process_cannot_steer_a_terminal(tmp_path: Path) -> None:
    said = failure("CompileError", "a\x1b[2Jb\x07c\x9bd\te\nf\u00e4", "y" * (2 << 20), "")
    with answering(tmp_path, (said, [])) as made, pytest.raises(CompileError) as found:
        RemoteBench(made).prepare(SOURCE, ASKED, "gfx942")
    assert found.value.what == "a\ufffd[2Jb\ufffdc\ufffdd\te\nf\u00e4"
    assert len(found.value.why) == 1 << 20


@pytest.mark.parametrize(
    ("code", "shown"),
    [(0, False), (8, False), (9, True), (10, True), (11, False), (13, False), (31, False), (32, True), (126, True),
     (127, False), (159, False), (160, True), (0x202E, True)],
)  # fmt: skip
def test_controls_of_a_terminal_become_a_mark(code: int, shown: bool) -> None:
    assert remote._text(f"a{chr(code)}b") == (f"a{chr(code)}b" if shown else "a\ufffdb")


def test_how_long_a_worker_may_take_to_start() -> None:
    assert remote.STARTING == 5 * 60


def reply(**changes: Any) -> dict[str, Any]:
    return {"run": 1, "after": ["a", "b"], "fault": None, "addresses": {}, "launches": [], "places": []} | changes


GOOD = [np.zeros(COUNT + 16, "int32"), np.zeros(COUNT + 16, "int32"), np.empty((0, 10), "int64")]
PLACE = ["b", None, "global_store_dword", "write"]
ROW = np.array([[0, 5, 1, 0, 0, 2, 3, 67, 0, 0]], "int64")


@pytest.mark.parametrize(
    ("header", "arrays"),
    [
        (reply(after=["a"]), GOOD), (reply(after=["a", "c"]), GOOD), (reply(after=["a", 3]), GOOD),
        (reply(), GOOD[1:]), (reply(), [*GOOD, GOOD[0]]), (reply(), []),
        (reply(), [GOOD[0][1:], *GOOD[1:]]), (reply(), [GOOD[0].astype("int64"), *GOOD[1:]]),
        (reply(), [GOOD[0].view("float32"), *GOOD[1:]]),
        (reply(run="1"), GOOD), (reply(fault={}), GOOD), (reply(fault=3), GOOD), (reply(addresses=[1]), GOOD),
        (reply(launches=[{}]), GOOD), (reply(launches=3), GOOD), (reply(places=[[1]]), GOOD),
        (reply(places=3), GOOD), (reply(), [*GOOD[:2], np.zeros(11, "int64")]),
        (reply(), [*GOOD[:2], np.zeros(10, "int32")]), (reply(), [*GOOD[:2], ROW]),
        (reply(places=[PLACE]), [*GOOD[:2], ROW + np.eye(1, 10, dtype="int64")]),
        (reply(places=[PLACE]), [*GOOD[:2], ROW - np.eye(1, 10, dtype="int64")]),
        ({"run": 1}, GOOD),
    ],
)  # fmt: skip
def test_a_run_of_another_form_stops_the_submission(tmp_path: Path, header: Any, arrays: list[Any]) -> None:
    ready = ({"kernel": 0, "wave_size": 64}, [])
    with answering(tmp_path, ready, (header, arrays)) as made:
        kernel = RemoteBench(made).prepare(SOURCE, ASKED, "gfx942")
        with pytest.raises(Stopped, match="no answer"):
            kernel.run(CASE, BUFFERS, 10_000)


def test_who_wrote_is_read_from_its_numbers(tmp_path: Path) -> None:
    unknown = np.array([[0, 6, 1, 2, 3, 4, -1, 9, 9, 9]], "int64")
    run = (reply(places=[PLACE]), [*GOOD[:2], np.concatenate([ROW, unknown])])
    with answering(tmp_path, ({"kernel": 0, "wave_size": 64}, []), run) as made:
        found = RemoteBench(made).prepare(SOURCE, ASKED, "gfx942").run(CASE, BUFFERS, 10_000).writers
    one, other = found["b", 5], found["b", 6]
    assert (one.instruction, one.access, one.where) == ("global_store_dword", "write", None)
    assert (one.workgroup, one.wave, one.lane, one.thread) == ((1, 0, 0), 2, 3, (67, 0, 0))
    assert (other.workgroup, other.wave, other.lane, other.thread) == ((1, 2, 3), 4, None, None)


def test_a_process_that_says_nothing_in_time(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()

    def serve(channel: Channel) -> None:
        channel.send({})
        channel.receive()
        channel.receive()

    with session(folder, serve, 0.3) as made:
        with pytest.raises(Stopped, match=r"longer than 0\.3 seconds"):
            RemoteBench(made).prepare(SOURCE, ASKED, "gfx942")
        assert not folder.exists(), "its folder goes with it"
        assert isinstance(made.failure, Stopped)
        assert made.close() == 0, "closed once"


@pytest.mark.parametrize(("code", "how"), [(3, "exit code 3"), (-9, "SIGKILL"), (-250, "signal 250")])
def test_a_process_that_ends_says_how(tmp_path: Path, code: int, how: str) -> None:
    ours, theirs = socket.socketpair()
    with ours:
        Channel(theirs.fileno(), theirs.fileno()).send({})
        made = Session(Channel(ours.fileno(), ours.fileno()), time.monotonic() + 60, 60.0, tmp_path, lambda: code)
        theirs.close()
        with pytest.raises(Stopped, match=f"ended without a verdict \\({how}\\)"):
            made.ask({"op": "prepare"})


@pytest.mark.parametrize(
    ("name", "error", "said"),
    [("MemoryError", Stopped, "too small to begin"), ("OSError", NotJudged, "walls .* cannot be raised: no such wall")],
)
def test_walls_that_cannot_be_raised(tmp_path: Path, name: str, error: type, said: str) -> None:
    with (
        pytest.raises(error, match=said),
        session(tmp_path, lambda channel: channel.send(failure(name, "no such wall", "", ""))),
    ):
        pass


@pytest.mark.full
@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="the system lists no descriptors")
def test_a_worker_that_is_closed_leaves_nothing_open() -> None:
    before = set(os.listdir("/proc/self/fd"))
    worker = Worker()
    assert worker.alive
    made = worker.session(60.0, 16 << 30)
    assert len(os.listdir("/proc/self/fd")) > len(before) or not remote.FORKS
    made.close()
    folder = worker.folder
    worker.close()
    assert not worker.alive or not remote.FORKS
    assert not folder.exists()
    assert len(os.listdir("/proc/self/fd")) == len(before)


# --------------------------------------------------------------------------------------------- the process that serves

SERVER = """
import json, os, socket
from pathlib import Path
from gpulab.grading.wire import Channel
control = socket.socket(fileno=0)
control.sendall(b"{}")
while True:
    message, descriptors, _, _ = socket.recv_fds(control, 1 << 16, 1)
    if not message:
        break
    asked = json.loads(message)
    reply = {"status": 3 << 8}
    if asked["op"] == "begin":
        Path(asked["folder"], "asked").write_bytes(message)
        Channel(descriptors[0], descriptors[0]).send({})
        os.close(descriptors[0])
        reply = {}
    control.sendall(json.dumps(reply).encode())
"""
"""Says that it is ready, keeps what it is asked in each submission's folder; each of its children ends with code 3."""

ONE = """
import sys
from pathlib import Path
from gpulab.grading.wire import Channel
assert sys.argv[1] == "--one"
Path("asked").write_text(sys.argv[2])
channel = Channel(0, 1)
channel.send({})
header, _ = channel.receive()
if header["op"] == "sleep":
    channel.receive()
sys.exit(4)
"""
"""The same for one submission, by pipes; it ends with code 4 once it is asked something, or sleeps."""


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Worker]:
    """A worker whose process runs this text; its folder is made in tmp_path."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(remote.walls, "wrapped", lambda command, write: list(command))

    def start(text: str, forks: bool = True) -> Worker:
        monkeypatch.setattr(remote, "FORKS", forks)
        monkeypatch.setattr(remote, "command", lambda: [sys.executable, "-c", text])
        return Worker()

    return start


linux = pytest.mark.skipif(not remote.FORKS, reason="the system does not fork")


@linux
def test_a_worker_is_asked_for_each_submission(started: Callable[..., Worker], tmp_path: Path) -> None:
    worker = started(SERVER)
    assert (worker.alive, worker.folder.parent, worker.folder.name[:14]) == (True, tmp_path, "gpulab-grader-")
    assert (worker.folder / "owner").read_text() == f"{os.getpid()} {socket.gethostname()}"
    for number, seconds, most in ((1, 60.0, 61), (2, 2.5, 3), (3, 0.5, 1)):
        made = worker.session(seconds, 1 << 33)
        folder = worker.folder / str(number)
        assert json.loads((folder / "asked").read_bytes()) == {
            "op": "begin", "folder": str(folder), "memory_bytes": 1 << 33, "seconds": most
        }  # fmt: skip
        assert made.close() == 3
        assert not folder.exists()
    process = worker._process
    assert process is not None
    worker.close()
    assert (process.returncode, worker.alive, worker.folder.exists()) == (0, False, False)


@linux
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import sys; sys.exit('first\\nlast')", "the worker does not start: last"),
        ("pass", "the worker does not start: it said nothing"),
        ('import os; os.write(0, b\'{"error": "no disk"}\')', "the worker does not start: no disk"),
        ("import os; os.read(0, 1)", "the worker does not answer (timed out)"),
    ],
)
def test_a_worker_that_does_not_start_says_why(
    started: Callable[..., Worker], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str
) -> None:
    monkeypatch.setattr(remote, "STARTING", 1.0 if "answer" in said else 60.0)
    with pytest.raises(NotJudged) as error:
        started(text)
    assert str(error.value) == said
    assert list(tmp_path.iterdir()) == [], "its folder goes with it"


def test_without_fork_each_submission_has_a_process_by_pipes(started: Callable[..., Worker]) -> None:
    worker = started(ONE, forks=False)
    assert worker.alive
    for number in (1, 2):
        made = worker.session(60.0, 1 << 33)
        folder = worker.folder / str(number)
        assert json.loads((folder / "asked").read_text()) == {
            "op": "begin", "folder": str(folder), "memory_bytes": 1 << 33, "seconds": 61
        }  # fmt: skip
        with pytest.raises(Stopped, match=r"ended without a verdict \(exit code 4\)"):
            made.ask({"op": "prepare"})
        assert not folder.exists()
    with pytest.raises(Stopped, match=r"longer than 1\.5 seconds"):
        worker.session(1.5, 1 << 33).ask({"op": "sleep"})
    assert not (worker.folder / "3").exists()
    assert worker.alive
    worker.close()
    assert not worker.folder.exists()


def test_the_command_and_the_environment_of_a_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the user's reaches it but gpulab's own settings."""
    for name in list(os.environ):
        if name not in ("GPULAB_CACHE", "HOME", "PATH", "SYSTEMROOT"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("GPULAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("GPULAB_LANES", "8")
    monkeypatch.setenv("SECRET", "x")
    assert remote.command() == [sys.executable, "-P", "-m", "gpulab.grading.worker"]
    found = remote.environment(tmp_path)
    if os.name == "nt":
        return
    home = str(tmp_path)
    assert {name: value for name, value in found.items() if name != "SYSTEMROOT"} == {
        "GPULAB_LANES": "8", "PATH": "/usr/bin:/bin", "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
        "PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "ignore", "PYTHONUTF8": "1", "HOME": home, "TMPDIR": home,
        "TEMP": home, "TMP": home, "LANG": "C.UTF-8", "GPULAB_CACHE": str(tmp_path / "cache"),
        "GPULAB_LIBRARY": "virtual", "GPULAB_BINDING": "ctypes", "GPULAB_CORES": "1", "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
    }  # fmt: skip


@pytest.mark.parametrize(("text", "code"), [("input()", 1), ("import time; time.sleep(60)", -9)])
def test_a_process_ends_when_its_pipes_are_closed_or_is_ended(text: str, code: int) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    if code == 1:
        assert process.stdin is not None
        process.stdin.close()  # its text ends by an error; then its pipes may be closed once more
        process.wait()
    assert remote._finish(process) == code
    assert process.stdout is not None
    assert process.stdout.closed


@pytest.mark.skipif(os.name == "nt", reason="os.kill would end the process")
def test_whether_a_process_is_running(monkeypatch: pytest.MonkeyPatch) -> None:
    assert remote._is_running(os.getpid())
    for error, found in ((ProcessLookupError, False), (PermissionError, True)):

        def kill(process: int, number: int, error: type[OSError] = error) -> None:
            assert (process, number) == (77, 0)
            raise error

        monkeypatch.setattr("os.kill", kill)
        assert remote._is_running(77) is found
