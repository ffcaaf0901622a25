"""The walls without a kernel: what is asked of it, what its answers become, and what a filter says to each call.

Filters are run by an interpreter of classic BPF that is written here after Linux's Documentation/networking/filter.rst;
Landlock's structures are those of include/uapi/linux/landlock.h.
"""

from __future__ import annotations

import errno
import os
import platform
import struct
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gpulab import walls

EPERM, ENOSYS, ALLOWED, KILLED = 0x00050001, 0x00050026, 0x7FFF0000, 0x80000000
ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


def answer(rules: bytes, number: int, *arguments: int, arch: int) -> int:
    """What a filter says to a call."""
    data = struct.pack("<iIQ6Q", number, arch, 0, *(*arguments, *[0] * (6 - len(arguments))))
    steps = list(struct.iter_unpack("<HBBI", rules))
    value = at = 0
    while True:
        code, true, false, k = steps[at]
        at += 1
        if code == 0x20:  # BPF_LD | BPF_W | BPF_ABS
            (value,) = struct.unpack_from("<I", data, k)
        elif code == 0x06:  # BPF_RET | BPF_K
            return k
        else:
            holds = {0x15: value == k, 0x35: value >= k, 0x45: value & k != 0}[code]  # BPF_JEQ, BPF_JGE, BPF_JSET
            at += true if holds else false


@pytest.fixture(params=["x86_64", "aarch64"])
def machine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(platform, "machine", lambda: request.param)
    return str(request.param)


def tool(ties: bool = False, version: int = 6) -> bytes:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walls, "landlock_version", lambda: version)
        return walls.tool_filter.__wrapped__(ties)


def test_every_call_of_a_compiler(machine: str) -> None:
    column, arch = list(ARCH).index(machine), ARCH[machine]
    rules = tool()
    refused = {call[column] for name, call in {**walls.CALLS, **walls.REFUSED}.items()
               if name not in ("execve", "execveat", "fork", "vfork", "tkill")}  # fmt: skip
    refused.add({"x86_64": 112, "aarch64": 157}[machine])  # setsid
    clone3 = 435
    for number in range(500):
        expected = EPERM if number in refused else ENOSYS if number == clone3 else ALLOWED
        assert answer(rules, number, arch=arch) == expected, number
    assert answer(rules, 0, arch=0x40000003) == KILLED  # i386
    assert answer(rules, 0x40000000, arch=arch) == (KILLED if machine == "x86_64" else ALLOWED)  # x32
    assert answer(rules, 0x3FFFFFFF, arch=arch) == ALLOWED


def test_calls_whose_argument_decides(machine: str) -> None:
    column, arch = list(ARCH).index(machine), ARCH[machine]
    clone, setpgid, fcntl, ioctl = ((56, 220), (109, 154), (72, 25), (16, 29))
    ties = tool(ties=True)
    for call, arguments, expected in (
        (clone, (0x4111,), ALLOWED),  # CLONE_VM | CLONE_VFORK | SIGCHLD
        (clone, (0x10000011,), EPERM),  # CLONE_NEWUSER
        (clone, (0x00020011,), EPERM),  # CLONE_NEWNS
        (clone, (0x00010000,), ALLOWED),  # CLONE_THREAD
        (setpgid, (0, 0), ALLOWED),
        (setpgid, (7, 0), ALLOWED),
        (setpgid, (0, 7), EPERM),
    ):
        for rules in (tool(), ties):
            assert answer(rules, call[column], *arguments, arch=arch) == expected, (call, arguments)
    for call, value, expected in (
        (fcntl, 8, EPERM), (fcntl, 10, EPERM), (fcntl, 15, EPERM), (fcntl, 4, ALLOWED), (fcntl, 9, ALLOWED),
        (ioctl, 0x8901, EPERM), (ioctl, 0x8902, EPERM), (ioctl, 0x5412, EPERM), (ioctl, 0x541C, EPERM),
        (ioctl, 0x5401, ALLOWED),
    ):  # fmt: skip
        assert answer(tool(), call[column], 3, value, arch=arch) == expected, (call, value)
        assert answer(ties, call[column], 3, value, arch=arch) == ALLOWED


def test_signals_where_landlock_does_not_keep_them_inside(machine: str) -> None:
    column, arch = list(ARCH).index(machine), ARCH[machine]
    for call in ((62, 129), (200, 130), (234, 131)):  # kill, tkill, tgkill
        assert answer(tool(version=5), call[column], arch=arch) == EPERM
        assert answer(tool(version=6), call[column], arch=arch) == ALLOWED
        assert answer(tool(ties=True, version=5), call[column], arch=arch) == ALLOWED


def test_behind_an_argument_the_number_counts_again(machine: str) -> None:
    """What an argument holds is never taken for a call's number."""
    column, arch = list(ARCH).index(machine), ARCH[machine]
    deadly, call = 300, (90, 90)
    rules = walls.Filter()
    rules.on((deadly, deadly), walls.END)
    rules.unless(call, 1, walls.EQUAL, deadly, EPERM)
    rules.where(call, 2, walls.ANY_BITS, 1 << 20, EPERM)
    made = rules.bytes()
    assert answer(made, call[column], 0, deadly, deadly, arch=arch) == ALLOWED
    assert answer(made, call[column], 0, deadly + 1, deadly, arch=arch) == EPERM
    assert answer(made, call[column], 0, deadly, 1 << 20, arch=arch) == EPERM
    assert answer(made, deadly, 0, deadly, arch=arch) == KILLED
    assert answer(made, call[column] + 1, 0, 0, 1 << 20, arch=arch) == ALLOWED


def test_every_call_of_a_program(machine: str) -> None:
    """What starts processes or reaches others ends it; what is harmless is refused; signals go to itself alone."""
    column, arch = list(ARCH).index(machine), ARCH[machine]
    rules = walls.program_filter()
    deadly = {call[column] for call in walls.CALLS.values()}
    refused = {call[column] for call in walls.REFUSED.values()}
    clone, kill, tgkill, fcntl, ioctl, clone3 = (
        call[column] for call in ((56, 220), (62, 129), (234, 131), (72, 25), (16, 29), (435, 435))
    )
    for number in set(range(500)) - {clone, kill, tgkill}:
        expected = KILLED if number in deadly else EPERM if number in refused else ALLOWED
        assert answer(rules, number, arch=arch) == (ENOSYS if number == clone3 else expected), number
    for number, arguments, expected in (
        (clone, (0x10000,), ALLOWED), (clone, (0x3D0F00,), ALLOWED), (clone, (0x11,), KILLED),
        (clone, (0x8000,), KILLED),
        (clone, (0x11, 0x10000), KILLED),
        (kill, (os.getpid(),), ALLOWED), (kill, (os.getpid() + 1,), KILLED), (kill, (0,), KILLED),
        (kill, (0, os.getpid()), KILLED), (kill, (0xFFFFFFFF,), KILLED),
        (tgkill, (os.getpid(), 5), ALLOWED), (tgkill, (os.getpid() + 1, 5), KILLED), (tgkill, (5, os.getpid()), KILLED),
        (fcntl, (3, 8), EPERM), (fcntl, (3, 10), EPERM), (fcntl, (3, 15), EPERM), (fcntl, (3, 4), ALLOWED),
        (ioctl, (3, 0x8901), EPERM), (ioctl, (3, 0x541C), EPERM), (ioctl, (3, 0x5401), ALLOWED),
    ):  # fmt: skip
        assert answer(rules, number, *arguments, arch=arch) == expected, (number, arguments)
    assert answer(rules, 0, arch=0x40000003) == KILLED


# ------------------------------------------------------------------------------- what this system has


class Kernel:
    """A kernel that notes its calls and answers as told."""

    def __init__(self, **answers: int) -> None:
        self.answers, self.calls = answers, []
        self.descriptor = -1

    def __call__(self, number: int, *arguments: Any) -> int:
        name = {444: "create", 445: "rule", 446: "restrict", 317: "seccomp", 277: "seccomp"}[number]
        self.calls.append((name, *arguments))
        if name == "create" and "create" not in self.answers:
            self.descriptor = os.open(os.devnull, os.O_RDONLY)
            return self.descriptor
        return self.answers.get(name, 0)


def available(patch: pytest.MonkeyPatch, **answers: Any) -> str:
    patch.setattr(sys, "platform", answers.get("system", "linux"))
    patch.setattr(platform, "system", lambda: answers.get("system", "Linux"))
    patch.setattr(platform, "machine", lambda: answers.get("machine", "x86_64"))
    patch.setattr(walls, "landlock_version", lambda: answers.get("version", 6))
    controls: list[tuple[int, ...]] = []
    prctl = lambda *words: controls.append(words) or answers.get("prctl", 0)  # noqa: E731
    patch.setattr(walls, "_library", lambda: SimpleNamespace(prctl=prctl))
    patch.setattr(walls, "_system_call", kernel := Kernel(**answers.get("calls", {})))
    patch.setattr(walls, "tool_filter", walls.tool_filter.__wrapped__)  # nothing of this stays in its cache
    said = walls.available.__wrapped__()
    assert controls == [(21, 0, 0, 0, 0), (38, 1, 0, 0, 0)][: len(controls)]  # PR_GET_SECCOMP, PR_SET_NO_NEW_PRIVS
    if not said:
        assert [call[:3] for call in kernel.calls][1:] == [("restrict", kernel.descriptor, 0), ("seccomp", 1, 0)]
    return str(said)


LANDLOCK = "it takes Landlock of version 3 (Linux 6.2 and later); this kernel "


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ({}, ""),
        ({"system": "Darwin"}, "it takes Linux (Landlock and seccomp); this is Darwin"),
        ({"machine": "riscv64"}, "it is made for x86-64 and arm64; this is riscv64"),
        ({"machine": "aarch64"}, ""),
        ({"version": 3}, ""),
        ({"version": 2}, LANDLOCK + "has version 2"),
        ({"version": 1}, LANDLOCK + "has version 1"),
        ({"version": 0}, LANDLOCK + "has none, or it is switched off"),
        ({"version": -38}, LANDLOCK + "has none, or it is switched off"),
        ({"prctl": -1}, "this kernel has no seccomp"),
        ({"prctl": 1}, "this system refuses it ([Errno 0] no_new_privs)"),
        ({"calls": {"create": -13}}, "this system refuses it ([Errno 13] landlock_create_ruleset)"),
        ({"calls": {"restrict": -1}}, "this system refuses it ([Errno 1] landlock_restrict_self)"),
        ({"calls": {"seccomp": -22}}, "this system refuses it ([Errno 22] seccomp)"),
        ({"calls": {"seccomp": 7}}, f"this system refuses it ([Errno {errno.ESRCH}] seccomp)"),  # a thread's number
    ],
)
def test_why_nothing_can_be_confined(answers: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert available(monkeypatch, **answers) == said


@pytest.mark.parametrize(
    ("version", "words"),
    [(3, (0x7FFF,)), (4, (0x7FFF, 3)), (5, (0xFFFF, 3)), (6, (0xFFFF, 3, 3)), (7, (0xFFFF, 3, 3))],
)
def test_what_each_version_of_landlock_is_asked(
    version: int, words: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rights on files (from 5 on with ioctl on devices), then TCP's two, then the scopes of sockets and signals."""
    kernel = Kernel()
    monkeypatch.setattr(walls, "landlock_version", lambda: version)
    monkeypatch.setattr(walls, "_system_call", kernel)
    (tmp_path / "file").write_text("")
    file, folder = str(tmp_path / "file"), str(tmp_path)
    walls.restrict({"read": [file, folder, file, str(tmp_path / "absent")], "list": [file, folder], "append": [file]})
    create, *rules, restrict = kernel.calls
    assert create == ("create", struct.pack(f"<{len(words)}Q", *words), 8 * len(words), 0)
    read_file, read_folder, write, truncate = 1 << 2, 1 << 3, 1 << 1, 1 << 14
    assert [struct.unpack("<Qi", rule[3])[0] for rule in rules] == [
        read_file, read_file | read_folder, read_folder, write | read_file | truncate,
    ]  # fmt: skip
    assert {rule[:3] + rule[4:] for rule in rules} == {("rule", kernel.descriptor, 1, 0)}
    assert restrict == ("restrict", kernel.descriptor, 0)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(kernel.descriptor)


def test_the_first_descriptor_is_one_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that has closed its standard input may be given 0."""
    closed: list[int] = []
    monkeypatch.setattr(walls, "landlock_version", lambda: 3)
    monkeypatch.setattr(walls, "_system_call", kernel := Kernel(create=0))
    monkeypatch.setattr(os, "close", closed.append)
    walls.restrict({})
    assert kernel.calls[1:] == [("restrict", 0, 0)]
    assert closed == [0]


def test_the_version_is_asked_for_without_attributes(monkeypatch: pytest.MonkeyPatch) -> None:
    """LANDLOCK_CREATE_RULESET_VERSION is 1."""
    monkeypatch.setattr(walls, "_system_call", lambda *words: words)
    assert walls.landlock_version.__wrapped__() == (444, None, 0, 1)


def test_calls_are_looked_for_among_halves() -> None:
    """Up to four one after the other; of more the middle one tells in which half: a jump counts the steps it skips."""
    end = (0x06, 0, 0, 0x7FFF0000)

    def each(*numbers: int) -> list[tuple[int, int, int, int]]:
        return [*(step for n in numbers for step in ((0x15, 0, 1, n), (0x06, 0, 0, 70 + n))), end]

    assert walls._tree([]) == [end]
    assert walls._tree([(n, 70 + n) for n in range(1, 5)]) == each(1, 2, 3, 4)
    assert walls._tree([(n, 70 + n) for n in range(1, 6)]) == [(0x35, 5, 0, 3), *each(1, 2), *each(3, 4, 5)]
    assert walls._tree([(n, 70 + n) for n in range(1, 10)]) == [
        (0x35, 9, 0, 5), *each(1, 2, 3, 4), (0x35, 5, 0, 7), *each(5, 6), *each(7, 8, 9)
    ]  # fmt: skip


def test_without_a_word_compilers_are_not_tied() -> None:
    assert (
        walls.tool_filter.__wrapped__() == walls.tool_filter.__wrapped__(False) != walls.tool_filter.__wrapped__(True)
    )
    fresh = "from gpulab import walls; print(walls._leads)"
    done = subprocess.run([sys.executable, "-c", fresh], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_rule_that_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walls, "landlock_version", lambda: 6)
    monkeypatch.setattr(walls, "_system_call", kernel := Kernel(rule=-errno.EINVAL))
    with pytest.raises(OSError, match=f"landlock_add_rule {tmp_path}") as raised:
        walls.restrict({"read": [str(tmp_path)]})
    assert raised.value.errno == errno.EINVAL
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(kernel.descriptor)


def test_a_filter_goes_to_one_thread_or_to_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(walls, "_system_call", kernel := Kernel())
    walls.install(bytes(24))
    walls.install(bytes(24), all_threads=False)
    assert [call[:3] for call in kernel.calls] == [("seccomp", 1, 1), ("seccomp", 1, 0)]  # mode filter; TSYNC
    assert kernel.calls[0][3]._obj.length == 3


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="system calls of Linux")
def test_a_system_call_gives_its_result_or_minus_the_error() -> None:
    getpid = {"x86_64": 39, "aarch64": 172}[platform.machine()]
    assert walls._system_call(getpid) == os.getpid()
    assert walls._system_call(9999) == -errno.ENOSYS
    assert walls._system_call({"x86_64": 24, "aarch64": 124}[platform.machine()]) == 0  # sched_yield


def test_a_function_runs_within_the_walls(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[Any] = []
    monkeypatch.setattr(walls, "available", lambda: "")
    monkeypatch.setattr(walls, "tool_filter", lambda: b"rules")
    monkeypatch.setattr(walls, "give_up_privileges", lambda: steps.append("privileges"))
    monkeypatch.setattr(walls, "restrict", steps.append)
    monkeypatch.setattr(walls, "install", lambda rules, all_threads: steps.append((rules, all_threads)))
    assert walls.confined(lambda: threading.current_thread().name, {"read": ["/a"]}) == "gpulab-walls"
    assert steps == ["privileges", {"read": ["/a"]}, (b"rules", False)]
    with pytest.raises(ZeroDivisionError):
        walls.confined(lambda: 1 // 0, {})
    monkeypatch.setattr(walls, "available", lambda: "it takes Linux")
    here = threading.current_thread().name
    assert walls.confined(lambda: threading.current_thread().name, {}) == here
    assert len(steps) == 6


def test_the_level_in_force(monkeypatch: pytest.MonkeyPatch) -> None:
    def level(missing: str, path: str | None, works: str) -> tuple[str, str]:
        monkeypatch.setattr(walls, "available", lambda: missing)
        monkeypatch.setattr(walls.shutil, "which", lambda _: path)
        monkeypatch.setattr(walls, "bubblewrap", lambda: works)
        return walls.level()

    assert level("it takes Linux", "/bin/bwrap", "/bin/bwrap") == ("limits", "it takes Linux")
    assert level("", None, "") == ("landlock", "bubblewrap (the program bwrap) is not installed")
    assert level("", "/bin/bwrap", "") == ("landlock", "bubblewrap is installed, but cannot make namespaces")
    assert level("", "/bin/bwrap", "/bin/bwrap") == ("bubblewrap", "")
    assert walls.wrapped(["a", "b"], ["/w"]) == [
        "/bin/bwrap", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-net", "--unshare-uts",
        "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", "/w", "/w", "--",
        "a", "b",
    ]  # fmt: skip
    level("it takes Linux", "/bin/bwrap", "/bin/bwrap")
    assert walls.wrapped(("a", "b"), ["/w"]) == ["a", "b"]
    level("", "/bin/bwrap", "")
    assert walls.wrapped(("a", "b"), ["/w"]) == ["a", "b"]


@pytest.mark.parametrize(
    ("system", "path", "outcome", "found"),
    [
        ("linux", "/bin/bwrap", 0, "/bin/bwrap"),
        ("linux", "/bin/bwrap", 1, ""),
        ("linux", "/bin/bwrap", OSError(), ""),
        ("linux", "/bin/bwrap", subprocess.TimeoutExpired("bwrap", 20), ""),
        ("linux", None, 0, ""),
        ("darwin", "/bin/bwrap", 0, ""),
    ],
)
def test_bubblewrap_is_tried(
    system: str, path: str | None, outcome: int | Exception, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(command: list[str], **named: Any) -> SimpleNamespace:
        assert command[0] == path
        assert command[-4:] == ["--", sys.executable, "-c", ""]
        assert named["capture_output"]
        if isinstance(outcome, Exception):
            raise outcome
        assert not named["check"]
        return SimpleNamespace(returncode=outcome)

    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(walls.shutil, "which", lambda _: path)
    monkeypatch.setattr(walls.subprocess, "run", run)
    assert walls.bubblewrap.__wrapped__() == found


def test_elsewhere_nothing_is_tied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    tie = walls.Tie()
    assert (tie.descriptors, tie.process_group) == ((), 0)
    tie.fasten(1)
    tie.release()
    assert tie.descriptors == ()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="signals of pipes are Linux's")
def test_a_tie_keeps_no_descriptor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walls, "_leads", False)
    armed: list[int] = []
    monkeypatch.setattr(walls.Tie, "_arm", lambda self, group: armed.append(group))
    tie = walls.Tie()
    (read,), write = tie.descriptors, tie._write
    tie.fasten(77)
    assert (armed, tie.descriptors) == ([77], ())
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(read)
    os.fstat(write)
    tie.release()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(write)
    monkeypatch.setattr(walls, "_leads", True)
    tie = walls.Tie()
    assert (armed[1:], tie.process_group) == ([os.getpgrp()], None)
    (read,) = tie.descriptors
    tie.fasten(77)
    assert (armed[2:], tie.descriptors) == ([], (read,))
    tie.release()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(read)


@pytest.mark.skipif(os.name == "nt", reason="groups of processes are POSIX's")
@pytest.mark.parametrize("gone", [False, True])
def test_a_group_is_ended_whole(gone: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[object] = []

    def killpg(group: int, number: int) -> None:
        done.append((group, number))
        if gone:
            raise ProcessLookupError

    monkeypatch.setattr(os, "killpg", killpg)
    process = SimpleNamespace(pid=77, kill=lambda: done.append("kill"), wait=lambda: done.append("wait"))
    walls.end_group(process)  # type: ignore[arg-type]
    assert done == [(77, 9), "kill", "wait"]


def test_a_leader_of_a_group(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[int, ...]] = []
    monkeypatch.setattr(walls, "_leads", False)
    monkeypatch.setattr(os, "setpgid", lambda *words: calls.append(words))
    walls.lead_group()
    assert (calls, walls._leads) == ([(0, 0)], True)


@pytest.mark.parametrize(("system", "asked"), [("linux", [(1, 9, 0, 0, 0)]), ("darwin", [])])
def test_a_process_ends_with_its_parent(
    system: str, asked: list[tuple[int, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """PR_SET_PDEATHSIG is 1, SIGKILL is 9."""
    calls: list[tuple[int, ...]] = []
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(walls, "_library", lambda: SimpleNamespace(prctl=lambda *words: calls.append(words)))
    walls.end_with_parent()
    assert calls == asked


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="signals of pipes are Linux's")
def test_how_a_tie_is_armed_and_released(monkeypatch: pytest.MonkeyPatch) -> None:
    """F_SETSIG is 10, F_SETOWN 8 and F_SETFL 4; a group is a negative number; who leads takes the signal back first."""
    import fcntl

    calls: list[tuple[int, int, int]] = []
    monkeypatch.setattr(fcntl, "fcntl", lambda *words: calls.append(words))
    monkeypatch.setattr(walls, "_leads", False)
    tie = walls.Tie()
    (read,) = tie.descriptors
    assert calls == []
    tie.fasten(77)
    assert calls == [(read, 10, 9), (read, 8, -77), (read, 4, os.O_ASYNC)]
    tie.release()
    assert len(calls) == 3
    monkeypatch.setattr(walls, "_leads", True)
    tie = walls.Tie()
    (read,) = tie.descriptors
    assert calls[3:] == [(read, 10, 9), (read, 8, -os.getpgrp()), (read, 4, os.O_ASYNC)]
    tie.release()
    tie.release()
    assert calls[6:] == [(read, 4, 0)]
