"""What a submission's process can reach, and what becomes of the grader when it misbehaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from gpulab import walls
from gpulab.grading import Grader, check, remote, wire, worker
from gpulab.grading.library import folder_of
from gpulab.toolchain import cache

RIGHT = """
__global__ void fill(int n, float value, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = value;
}
"""
walled = pytest.mark.skipif(bool(walls.available()), reason=walls.available() or "there are walls")


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    with Grader(seconds=20) as made:
        yield made


#: Kernels of first-fill, and how their grading ends.
HOSTILE = {
    "right": (RIGHT, "accepted"),
    "an endless loop": (RIGHT.replace("if (i < n)", "for (;;) if (i < n)"), "rejected"),
    "a flood of output": (  # on a busy machine its time is over before its instructions are
        RIGHT.replace("if (i < n)", 'for (;;) printf("flood %d\\n", i); if (i < n)'), "rejected or stopped"),
    "a trap": (RIGHT.replace("if (i < n)", "__builtin_trap(); if (i < n)"), "rejected"),
    "a null pointer": (RIGHT.replace("if (i < n)", "*(volatile int*)nullptr = 1; if (i < n)"), "rejected"),
    "any address": (RIGHT.replace("if (i < n)", "*(volatile int*)0x7fff12345678 = 1; if (i < n)"), "rejected"),
    "huge variables": ("__device__ char big[1ull << 40];\n" + RIGHT.replace("value;", "value + big[n];"),
                       "does not compile"),
    "endless recursion": (
        "__device__ int r(int a) { volatile int b[100]; b[a % 100] = a; return r(a + 1) + b[3]; }\n"
        + RIGHT.replace("value;", "value + r(i);"), "rejected"),
    "a bomb for the preprocessor": (
        "#define A0 x x x x x x x x x x\n" + "".join(
            f"#define A{n + 1} A{n} A{n} A{n} A{n} A{n} A{n} A{n} A{n} A{n} A{n}\n" for n in range(9)) + "A9",
        "stopped or does not compile"),
    "a bomb for the compiler": (
        "template <int N> struct S { S<N - 1> a; S<N - 2> b; int f() { return a.f() + b.f(); } };\n"
        "constexpr long spin(long n) { long s = 0; for (long i = 0; i < n; i++) s += i; return s; }\n"
        "static_assert(spin(10000000000) == 1);\n" + RIGHT, "does not compile or stopped"),
    "nothing": ("", "rejected"),
    "a null character": ("\0", "does not compile"),
    "half a character": ("\ud800" + RIGHT, "does not compile"),
    "text": ("I did not understand this exercise.", "does not compile"),
    "a very long line": ("//" + "x" * 5_000_000 + RIGHT, "accepted"),
    "too long": ("x" * (17 << 20), "does not compile"),
}  # fmt: skip


@pytest.mark.parametrize("how", HOSTILE)
def test_nothing_stops_the_grader(grader: Grader, how: str) -> None:
    source, wanted = HOSTILE[how]
    found = grader.grade("first-fill", source, "eve")
    assert found.status in wanted.split(" or "), found.verdict.text
    assert len(found.verdict.text) < 100_000


def test_the_verdict_is_that_of_this_process(grader: Grader) -> None:
    """Also the failing case that is drawn, with its writers, and a requirement that reads counters and costs."""
    wrong = RIGHT.replace("if (i < n) ", "")
    assert grader.grade("first-fill", wrong).verdict == check("first-fill", wrong, record=False)
    slow = (folder_of("one-atomic-each") / "right" / "match.hip").read_text()
    for source in (slow, slow.replace("if (lane == __ffsll(same) - 1)", "").replace("__popcll(same)", "1")):
        assert grader.grade("one-atomic-each", source).verdict == check("one-atomic-each", source, record=False)


def test_a_seed_reaches_the_judge(grader: Grader) -> None:
    fixed = RIGHT.replace("i < n", "i < n && (n < 2 || n == 63 || n == 64 || n == 65 || n == 1000)")
    assert grader.grade("first-fill", fixed).status == "accepted"
    assert grader.grade("first-fill", fixed, seed="secret").status == "rejected"


# What a confined process tries. Each line prints its name if it gets through.
TRIES = """
import ctypes, fcntl, os, pathlib, socket, subprocess, sys
from gpulab.grading import worker
folder, stage = pathlib.Path(sys.argv[1]), sys.argv[2]
from gpulab.grading import gpu_bench
import numpy
step = worker.confine(folder, 16 << 30, 60)
if stage == "kernels":
    step()
def tried(what, do):
    try:
        do()
        print(what)
    except OSError:
        pass
for path in sys.argv[3:]:
    tried("read " + path, lambda: os.listdir(path) if os.path.isdir(path) else open(path).read())
    tried("write " + path, lambda: open(path, "a"))
tried("write beside", lambda: open(folder.parent / "beside", "w"))
tried("own folder", lambda: open("x", "w"))
tried("shell", lambda: os.execv("/bin/sh", ["sh", "-c", "true"])) if stage != "kernels" else None
read, write = os.pipe()
if stage == "kernels":
    tried("owner", lambda: fcntl.fcntl(read, fcntl.F_SETOWN, os.getppid()))
    tried("owner's signal", lambda: fcntl.fcntl(read, 10, 9))
    tried("extended owner", lambda: fcntl.fcntl(read, 15, bytes(8)))
    tried("ioctl", lambda: fcntl.ioctl(read, 0x8901, bytes(4)))
else:
    tried("socket", lambda: socket.socket())
    tried("signal", lambda: os.kill(os.getppid(), 0))
    tried("trace", lambda: ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0) and os.stat("/nowhere"))
print(sorted(name for name in os.environ if name not in ("HOME", "TMPDIR", "TMP", "TEMP")))
if stage == "kernels":
    sys.stdout.flush()
    subprocess.run(["/bin/true"])
    print("started a process")
"""


@walled
@pytest.mark.parametrize("stage", ["compile", "kernels"])
def test_what_a_submission_reaches(tmp_path: Path, stage: str) -> None:
    own, other = tmp_path / "own", tmp_path / "other"
    own.mkdir()
    other.mkdir()
    (other / "answer.hip").write_text("secret")
    entry = cache.folder() / "code"
    entry.mkdir(parents=True, exist_ok=True)
    paths = [
        str(folder_of("first-fill") / "check.py"), str(folder_of("first-fill") / "right"), str(Path(__file__)),
        str(other / "answer.hip"), str(other), str(entry), "/etc/passwd", os.path.expanduser("~"), "/proc/1/environ",
        f"/proc/{os.getpid()}/environ", f"/proc/{os.getpid()}/mem", "/tmp",
    ]  # fmt: skip
    found = subprocess.run(
        [sys.executable, "-P", "-c", TRIES, str(own), stage, *paths], capture_output=True, text=True, cwd=tmp_path,
        env=remote.environment(own), check=False,
    )  # fmt: skip
    *reached, variables = found.stdout.splitlines()
    assert reached == ([] if stage == "kernels" else ["own folder"]), found.stderr
    assert not {"USER", "SECRET", "SSH_AUTH_SOCK", "PWD"} & set(variables.replace("'", " ").split())
    assert found.returncode == (-signal.SIGSYS if stage == "kernels" else 0), found.stderr


def ended(process: int, seconds: float = 10) -> bool:
    """Whether a process is gone, or dead and not yet waited for."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            if Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] in "ZX":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


def descendants(process: int) -> set[int]:
    """All processes that a process has started, and those of theirs."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found = {process}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {process}


GRADES = """
import sys
from gpulab.grading import Grader
with Grader() as grader:
    grader.grade("first-fill", "")
    print("begun", flush=True)
    grader.grade("first-fill", sys.stdin.read())
"""
# Clang is busy with a kernel so large that it takes minutes.
BUSY = "\n".join(f"volatile double v{k} = sin(value * {k}) / cos(value + {k});" for k in range(3000))
LARGE = RIGHT.replace("if (i < n)", BUSY + "if (i < n)")


@walled
def test_kill_9_of_the_grader_leaves_nothing(tmp_path: Path) -> None:
    """Neither the worker, nor the submission's process, nor the compiler; and the next grader removes the folder."""
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    grader = subprocess.Popen(
        [sys.executable, "-c", GRADES], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
    )
    assert grader.stdin is not None
    assert grader.stdout is not None
    grader.stdin.write(LARGE)
    grader.stdin.close()
    assert grader.stdout.readline() == "begun\n"
    until = time.monotonic() + 30
    while time.monotonic() < until:
        found = descendants(grader.pid)
        if len(found) >= 3:  # the worker, the submission's process, a compiler
            break
        time.sleep(0.02)
    assert len(found) >= 3
    grader.kill()
    grader.wait()
    assert all(ended(process) for process in found)
    left = list(tmp_path.glob("gpulab-grader-*"))
    assert len(left) == 1
    program = "from gpulab.grading import remote; remote.Worker().close()"
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)
    assert not list(tmp_path.glob("gpulab-grader-*"))


COMPILES = """
import sys
from gpulab.toolchain import compile
compile("__global__ void k() {}", arch="gfx942")
print("begun", flush=True)
compile(sys.stdin.read(), arch="gfx942", use_cache=False)
"""


@walled
def test_kill_9_of_a_notebook_leaves_no_compiler() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", COMPILES], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(LARGE)
    process.stdin.close()
    assert process.stdout.readline() == "begun\n"
    until = time.monotonic() + 30
    while time.monotonic() < until and not descendants(process.pid):
        time.sleep(0.02)
    time.sleep(0.2)  # they are tied a moment after they were started
    found = descendants(process.pid)
    process.kill()
    process.wait()
    assert found
    assert all(ended(child) for child in found)


@walled
def test_folders_of_others_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of graders that run, and of those on other machines that share the folder."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    host = os.uname().nodename
    owners = {
        "running": f"{os.getpid()} {host}",
        "elsewhere": "999999999 other",
        "none": "",
        "left": f"999999999 {host}",
    }
    for name, owner in owners.items():
        (tmp_path / f"gpulab-grader-{name}").mkdir()
        (tmp_path / f"gpulab-grader-{name}" / "owner").write_text(owner)
    remote._remove_left()
    assert {path.name.rpartition("-")[2] for path in tmp_path.iterdir()} == {"running", "elsewhere", "none"}


@walled
def test_a_time_out_ends_the_compiler() -> None:
    with Grader(seconds=20) as grader:
        grader.grade("first-fill", "")
        before = descendants(os.getpid())
        grader.seconds = 1.5
        found = grader.grade("first-fill", LARGE)
        assert found.status == "stopped"
        assert "longer than 1.5 seconds" in found.verdict.text
        assert all(ended(process) for process in descendants(os.getpid()) - before)
        grader.seconds = 20
        assert grader.grade("first-fill", RIGHT).status == "accepted"


def test_a_worker_that_dies_is_started_again() -> None:
    with Grader(seconds=20) as grader:
        assert grader.grade("first-fill", RIGHT).passed
        process = grader._worker and grader._worker._process
        if not process:
            return  # without fork there is none that stays
        process.kill()
        process.wait()
        assert grader.grade("first-fill", RIGHT).passed


#: What a submission's process may answer if somebody has taken it over.
FORGED = {
    "no JSON": b"\x05" + bytes(7) + bytes(8) + b"hello",
    "no object": b"\x02" + bytes(7) + bytes(8) + b"[]",
    "a long header": b"\xff" * 16,
    "objects": b"\x18" + bytes(7) + bytes(8) + b'{"arrays": [["|O", 0]]}  ',
    "structures": b"\x1c" + bytes(7) + bytes(8) + b'{"arrays": [["i4,i4,i4", 0]]}'[:28],
    "a negative length": b"\x19" + bytes(7) + bytes(8) + b'{"arrays": [["<i4", -1]]}',
    "another length": b"\x18" + bytes(7) + b"\x09" + bytes(7) + b'{"arrays": [["<i4", 1]]}' + bytes(9),
    "deep nesting": (200_000).to_bytes(8, "little") + bytes(8) + b"[" * 200_000,
}  # fmt: skip


@pytest.mark.parametrize("how", FORGED)
def test_forged_messages_are_refused(how: str) -> None:
    read, write = os.pipe()
    if os.fork() == 0:  # a pipe holds less than the longest
        try:
            os.write(write, FORGED[how]) if len(FORGED[how]) < 60_000 else os.writev(write, [FORGED[how]])
        finally:
            os._exit(0)
    os.close(write)
    try:
        with pytest.raises(wire.BadMessage):
            wire.Channel(read, -1).receive(time.monotonic() + 5)
    finally:
        os.close(read)
        os.wait()


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"run": "1", "after": ["out"], "fault": None, "addresses": {}, "launches": [], "places": []},
        {"run": 1, "after": ["other"], "fault": None, "addresses": {}, "launches": [], "places": []},
        {"run": 1, "after": ["out"], "fault": {"kind": 1}, "addresses": {}, "launches": [], "places": []},
        {"run": 1, "after": ["out"], "fault": None, "addresses": {"out": "x"}, "launches": [], "places": []},
        {"run": 1, "after": ["out"], "fault": None, "addresses": {}, "launches": [{"kernel": 3}], "places": []},
        {"run": 1, "after": ["out"], "fault": None, "addresses": {}, "launches": [], "places": [["out", None, 1, ""]]},
        {"error": 1},
        {"error": "CompileError", "parts": ["a"]},
        {"error": "CompileError", "parts": [1, 2, 3]},
    ],
)
def test_forged_runs_stop_the_submission(answer: dict[str, object]) -> None:
    from gpulab.grading.case import Array, Buffer, Case

    class Forger:
        forgotten: list[int] = []  # noqa: RUF012

        def ask(self, header: object, arrays: object = ()) -> wire.Message:
            if "error" in answer:
                raise remote._error(answer)
            return json.loads(json.dumps(answer)), [np.zeros(1, "int32"), np.zeros((0, 11), "int64")]

    kernel = remote.RemoteKernel(Forger(), 0, "k", "gfx942", 64)  # type: ignore[arg-type]
    out = Array("out", np.zeros(1, "int32"))
    with pytest.raises(remote.Stopped):
        kernel.run(Case({}, (1, 1, 1), (1, 1, 1), (out,)), [Buffer(out, 0)], 100)


def test_texts_of_a_worker_do_not_steer_a_terminal() -> None:
    error = remote._error({"error": "CompileError", "parts": ["a\x1b[31mb\x9b", "\x07", ""]})
    assert "\x1b" not in str(error)
    assert "\x07" not in str(error)
    assert "\x9b" not in str(error)


@pytest.mark.full
def test_records_survive_the_way() -> None:
    """In a process of its own: addresses, and what caches hold, depend on arrays that are alive beside."""
    command = [sys.executable, "-c", "from tests.attacks.test_worker import compare_records; compare_records()"]
    ended = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr[-3000:]


def compare_records() -> None:
    """What a grader reads of a launch there is what a launch here has."""
    from gpulab.grading.case import Array, Asked, Buffer, Case, Prototype
    from gpulab.grading.gpu_bench import GpuBench

    source = """__global__ void k(int* out) {
        __shared__ int s[64]; s[threadIdx.x] = out[threadIdx.x * 2 % 64]; __syncthreads();
        if (threadIdx.x < 40) out[threadIdx.x] = s[63 - threadIdx.x];
    }"""
    out = Array("out", np.arange(64, dtype="int32"))
    case = Case({}, (2, 1, 1), (64, 1, 1), (out,))
    asked = Asked("way", "k", {"k": Prototype("k", "int* out", (((True, "int32"),),))})
    made = remote.Worker()
    session = made.session(60, 16 << 30)
    try:
        here = GpuBench().prepare(source, asked, "gfx942")
        there = remote.RemoteBench(session).prepare(source, asked, "gfx942")
        assert (here.resources, here.isa) == (there.resources, there.isa)
        for checked, profiled, wanted in ((True, False, {"out": range(64)}), (False, True, None)):
            buffers = [Buffer(out, 3)]
            first = here.run(case, buffers, 10_000, checked, wanted, profiled)
            second = there.run(case, buffers, 10_000, checked, wanted, profiled)
            assert (first.fault, first.writers) == (second.fault, second.writers)
            assert first.addresses == second.addresses
            for one, other in zip(first.launches, second.launches, strict=True):
                assert dict(one.counters) == dict(other.counters)
                for name in (*worker.LATER[1:], *worker.BASE):
                    if name != "host_us":
                        assert getattr(one, name) == getattr(other, name), name
    finally:
        session.close()
        made.close()
