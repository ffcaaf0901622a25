"""The process of a program on the virtual GPU: what it says of faults and when, its output, its name, its end."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gpulab import programs, providers
from gpulab.programs import bundles, jail, start, touches
from gpulab.programs import report as reports
from gpulab.providers.virtual import hosting
from gpulab.records import Fault, SourceLine

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="programs are built on Linux")

FAULT = Fault("trap", "k", SourceLine("a.hip", 7, 1), "s_trap 2", (0, 0, 0), 0, None, None)


class Writer:
    """A report that keeps what it is given."""

    def __init__(self) -> None:
        self.faults: list[tuple[Fault, bool]] = []
        self.ends: list[tuple[Any, ...]] = []

    def fault(self, fault: Fault, returned: bool) -> None:
        self.faults.append((fault, returned))

    def end(self, *given: Any) -> None:
        self.ends.append(given)


class Records(list):  # type: ignore[type-arg]
    def activities(self) -> tuple[str, ...]:
        return ("activity",)


def process(*late: Fault, writer: Writer | None = None, tells: bool = False, launches: Any = ()) -> Any:
    """A process as `_Process` makes it; `late`: faults that are found only when it ends."""
    made: Any = object.__new__(start._Process)
    made._hosting = SimpleNamespace(finish=lambda: list(late), transfers=lambda: ("transfer",))
    made._writer, made._ended, made._records, made._tells = writer, False, Records(launches), tells
    made._callbacks, made._repeated, made._reasons = [], {}, set()
    return made


def test_a_fault_is_explained_once(capfd: pytest.CaptureFixture[str]) -> None:
    running = process()
    running.fault(FAULT)
    said = capfd.readouterr().err
    assert said.startswith("gpulab: Kernel k stopped itself (trap).\n  a.hip, line 7:")
    assert said.endswith("\n")
    assert "No HIP call" not in said
    running.fault(FAULT)
    assert capfd.readouterr().err == ""
    running.end()
    assert capfd.readouterr().err == "gpulab: the same fault 1 more time in kernel k, line 7: trap.\n"
    running.end()  # once
    assert capfd.readouterr().err == ""


def test_how_often_a_fault_came_again(capfd: pytest.CaptureFixture[str]) -> None:
    running = process()
    for _ in range(3):
        running.fault(Fault("trap", "k", None, "", (0, 0, 0), 0, None, None))
    running.fault(FAULT)
    capfd.readouterr()
    running.end()
    assert capfd.readouterr().err == "gpulab: the same fault 2 more times in kernel k: trap.\n"


def test_a_fault_that_no_call_returned(capfd: pytest.CaptureFixture[str]) -> None:
    writer = Writer()
    running = process(FAULT, writer=writer)
    running.fault(FAULT, returned=True)
    assert "No HIP call" not in capfd.readouterr().err
    running.end()
    assert "check hipGetLastError()" in capfd.readouterr().err  # another matter than the same fault returned
    assert writer.faults == [(FAULT, True), (FAULT, False)]
    assert writer.ends == [([], ("activity",), ("transfer",))]


def test_reasons_of_failed_calls(capfd: pytest.CaptureFixture[str]) -> None:
    running = process()
    for reason in ("no room.", "no room.", "a bad address"):
        running.failure("hipMalloc", "hipErrorOutOfMemory", reason)
    assert capfd.readouterr().err == (
        "gpulab: hipMalloc returned hipErrorOutOfMemory: no room.\n"
        "gpulab: hipMalloc returned hipErrorOutOfMemory: a bad address.\n"
    )
    running.end()
    assert capfd.readouterr().err == ""  # a reason is no fault


def test_no_more_than_twenty_reasons_of_failed_calls(capfd: pytest.CaptureFixture[str]) -> None:
    running = process()
    for number in range(30):
        running.failure("hipFree", "hipErrorInvalidValue", f"nothing is allocated at {number}")
    *lines, last = capfd.readouterr().err.splitlines()
    assert [line.rsplit(" ", 1)[1] for line in lines] == [f"{number}." for number in range(20)]
    assert last == "gpulab: why further calls failed is not said."


def test_a_profile_on_standard_error(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from gpulab.views import launches

    shown: list[tuple[int, str]] = []

    def table(given: list[int], said: str) -> str:
        shown.append((len(given), said))
        return "the table\n\n"

    monkeypatch.setattr(launches, "launch_table", table)
    process(tells=True).end()
    assert capfd.readouterr().err == "gpulab: no kernel was launched.\n"
    for count in (1, 40, 41, 5040):
        process(tells=True, launches=range(count)).end()
    assert capfd.readouterr().err == "the table\n" * 4
    assert shown == [
        (1, ""),
        (40, ""),
        (40, "1 more launches are left out."),
        (40, "5,000 more launches are left out."),
    ]
    process(launches=[1]).end()
    assert capfd.readouterr().err == ""


def test_output_goes_by_way_of_the_c_library(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    library = ctypes.CDLL(None)
    output = start._Output(library)
    assert output.write("é\udcff\n") == 3
    library.printf(b"printed ")
    assert output.write("written\n") == 8
    output.flush()
    assert capfdbinary.readouterr().out == b"\xc3\xa9\xff\nprinted written\n"
    assert (output.fileno(), output.isatty()) == (1, os.isatty(1))


@pytest.mark.parametrize("name", [b"/a/b/prog", b"prog"])
def test_messages_of_the_c_library_name_the_program(name: bytes) -> None:
    library = ctypes.CDLL(None)
    variables = ("program_invocation_name", "program_invocation_short_name")
    cells = [ctypes.c_void_p.in_dll(library, each) for each in variables]
    before = [cell.value for cell in cells]
    try:
        kept = start._name_process(library, name)
        assert [ctypes.c_char_p.in_dll(library, each).value for each in variables] == [name, b"prog"]
        assert [each.value for each in kept] == [name, b"prog"]
    finally:
        for cell, old in zip(cells, before, strict=True):
            cell.value = old


@pytest.mark.parametrize(("value", "found"), [(None, False), ("", False), ("0", False), ("1", True), ("yes", True)])
def test_switches_of_the_environment(value: str | None, found: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GPULAB_X", raising=False)
    if value is not None:
        monkeypatch.setenv("GPULAB_X", value)
    assert start._flag("GPULAB_X") == found
    assert "GPULAB_X" not in os.environ  # the program does not see it


def test_what_cannot_be_said_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(descriptor: int, text: bytes) -> int:
        raise OSError(9, "Bad file descriptor")

    monkeypatch.setattr(os, "write", refused)
    start._say("x")
    process().fault(FAULT)


def test_the_end_is_called_by_exit_and_by_signals() -> None:
    """SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV (signal(7)): a report is written, then the signal has its effect."""
    done: list[Any] = []

    class Function:
        def __init__(self, name: str) -> None:
            self.name = name

        def __call__(self, *given: Any) -> int:
            done.append((self.name, *given))
            return 0

    class Library:
        def __init__(self) -> None:
            self.functions = {name: Function(name) for name in ("__cxa_atexit", "signal", "raise")}

        def __getattr__(self, name: str) -> Function:
            return self.functions[name]

        def __getitem__(self, name: str) -> Function:
            return self.functions[name]

    writer = Writer()
    running = process(writer=writer)
    running.watch(Library())
    ((_, ending, *rest),) = [each for each in done if each[0] == "__cxa_atexit"]
    assert rest == [None, None]
    assert sorted(each[1] for each in done if each[0] == "signal") == [4, 6, 7, 8, 11]
    handler = running._callbacks[1]
    done.clear()
    handler(11)
    assert len(writer.ends) == 1
    assert done == [("signal", 11, None), ("raise", 11)]  # the default is back, then the signal
    ending(None)
    assert len(writer.ends) == 1


@pytest.mark.parametrize(
    ("archs", "devices"),
    [
        ((), ""), (("gfx942", "gfx1100"), ""), (("gfx90a", "gfx1100", "gfx942"), ""), (("gfx1100",), "gfx1100"),
        (("gfx1100", "gfx90a"), "gfx1100"), (("gfx803", "gfx90a", "gfx906"), "gfx90a"), (("gfx803",), ""),
    ],
)  # fmt: skip
def test_devices_for_what_a_program_has_code_for(tmp_path: Path, archs: tuple[str, ...], devices: str) -> None:
    program = tmp_path / "program"
    program.write_bytes(b"\x7fELF" + bundles.bundle((arch, b"code") for arch in archs))
    assert start._devices(str(program)) == devices


def test_code_that_is_refused_is_explained_though_the_program_asks_for_no_error() -> None:
    """Waves of 64 lanes on RDNA: HIP has waves of 32 there. Without a word a program would go on."""
    source = """#include <hip/hip_runtime.h>
__global__ void k(int* x) { *x = 1; }
int main() { int* x = nullptr; (void)hipMalloc(&x, 4); k<<<1, 1>>>(x); (void)hipDeviceSynchronize(); }
"""
    program = programs.build(source, name="waves.hip", archs=("gfx1100",), options=["-mwavefrontsize64"])
    said = program.run(arch="gfx1100").stderr
    assert "hipErrorNotSupported: this program was made for waves of 64 lanes" in said
    assert "compile without -mwavefrontsize64" in said


class Ended(BaseException):
    """In place of the end of the process."""


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What `main` does, in its order, without a device and without leaving this process."""
    done: list[Any] = []

    class Process:
        def __init__(self, *given: Any) -> None:
            done.append(("process", *given))
            if given[0] == "broken":
                raise ValueError("no devices")

        def __getattr__(self, name: str) -> Any:
            return lambda *given: done.append((name, *(each for each in given if isinstance(each, str))))

    class Program:
        def gpulab_run(self, count: int, values: Any) -> None:
            done.append(("run", count, list(values)))

    def load(path: str | None, mode: int = 0) -> Any:
        done.append(("load", path, mode))
        return Program() if path else "C"

    def end(code: int) -> None:
        done.append(("end", code))
        raise Ended

    monkeypatch.setattr(start, "_Process", Process)
    monkeypatch.setattr(start, "_Output", lambda library: sys.__stdout__)
    monkeypatch.setattr(start, "_name_process", lambda library, name: done.append(("name", library, name)))
    monkeypatch.setattr(start, "_devices", lambda path: done.append(("devices", path)) or "gfx90a")
    monkeypatch.setattr(start.signal, "signal", lambda number, what: done.append((number.name, what.name)))
    monkeypatch.setattr(start, "ctypes", SimpleNamespace(CDLL=load, RTLD_GLOBAL=256, c_char_p=ctypes.c_char_p))
    monkeypatch.setattr(os, "_exit", end)
    monkeypatch.setattr(sys, "stdout", sys.stdout)
    monkeypatch.setattr(jail, "enter", lambda text: done.append(("jail", text)))
    monkeypatch.setattr(jail, "close", lambda: done.append("close"))
    names = ("LIBRARY", "BINDING", "DEVICES", "INSTRUCTION_LIMIT", "REPORT", "PROFILE", "CHECKED", "JAIL")
    for name in names:
        monkeypatch.setenv(f"GPULAB_{name}", "")  # so that it comes back as it was
    return done


def started(done: list[Any], *words: str, **environment: str) -> list[Any]:
    for name, value in environment.items():
        os.environ[f"GPULAB_{name}"] = value
    with pytest.raises(Ended):
        start.main(words)
    found = list(done)
    done.clear()
    return found


SIGNALS = [("SIGINT", "SIG_DFL"), ("SIGPIPE", "SIG_DFL")]


def test_how_a_program_begins(begun: list[Any]) -> None:
    """Signals as every program has them; its devices; its own file, then its main. What is gpulab's own is no longer in
    the environment, but what the library reads."""
    assert started(begun, "/p/app", "app", "\u00e9") == [
        *SIGNALS, ("devices", "/p/app"), ("load", None, 0), ("name", "C", b"app"), ("process", "", False, False),
        ("watch", "C"), ("explain_touches", "C", "/p/app"), ("translate_ahead",), ("load", "/p/app", 256),
        ("explain_touches_before",), ("run", 2, [b"app", "\u00e9".encode(), None]), ("end", 127),
    ]  # fmt: skip
    assert (os.environ["GPULAB_LIBRARY"], os.environ["GPULAB_BINDING"]) == ("virtual", "ctypes")
    assert os.environ["GPULAB_DEVICES"] == "gfx90a"
    assert os.environ["GPULAB_INSTRUCTION_LIMIT"] == str(2**33)
    assert sys.stdout is sys.__stdout__
    for name in ("REPORT", "PROFILE", "CHECKED", "JAIL"):
        assert f"GPULAB_{name}" not in os.environ


def test_what_a_run_is_told(begun: list[Any], capfd: pytest.CaptureFixture[str]) -> None:
    given = {"DEVICES": "gfx1100", "INSTRUCTION_LIMIT": "77", "REPORT": "5,6", "PROFILE": "1", "JAIL": "walls"}
    found = started(begun, "/p/app", **given)
    assert found == [
        ("jail", "walls"), *SIGNALS, ("load", None, 0), ("name", "C", b"/p/app"), ("process", "5,6", True, False),
        ("watch", "C"), ("explain_touches", "C", "/p/app"), "close", ("load", "/p/app", 256),
        ("explain_touches_before",), ("run", 0, [None]), ("end", 127),
    ]  # fmt: skip
    assert (os.environ["GPULAB_DEVICES"], os.environ["GPULAB_INSTRUCTION_LIMIT"]) == ("gfx1100", "77")
    found = started(begun, "/p/app", CHECKED="1", INSTRUCTION_LIMIT=" ")
    assert ("process", "", False, True) in found
    assert os.environ["GPULAB_INSTRUCTION_LIMIT"] == str(2**33)
    found = started(begun, "/p/app", REPORT="broken")
    assert found[-2:] == [("process", "broken", False, False), ("end", 127)]
    assert capfd.readouterr().err == "gpulab: the virtual GPU does not start: no devices\n"


@pytest.mark.parametrize(
    ("report", "profile", "checked", "done"),
    [
        ("", False, False, []), ("5,6", False, False, ["recording False"]), ("5,6", True, False, ["recording True"]),
        ("", True, False, ["recording True", "tells"]), ("", False, True, ["checking"]),
        ("5,6", False, True, ["watch_memory", "checking", "recording False"]),
    ],
)  # fmt: skip
def test_what_is_kept_beside_a_program(
    monkeypatch: pytest.MonkeyPatch, report: str, profile: bool, checked: bool, done: list[str]
) -> None:
    found: list[str] = []

    class Opened:
        def __init__(self, name: str) -> None:
            self.name = name

        def __enter__(self) -> str:
            found.append(self.name)
            return "records"

        def __exit__(self, *given: object) -> None:
            found.append("closed")

    installed: list[Any] = []
    monkeypatch.setattr(reports, "Writer", lambda text: f"writer of {text}")
    monkeypatch.setattr(hosting, "install", lambda *given, guarded: installed.append((given, guarded)))
    monkeypatch.setattr(hosting, "watch_memory", lambda: found.append("watch_memory"))
    monkeypatch.setattr(hosting, "translate_ahead", lambda: found.append("ahead"))
    monkeypatch.setattr(providers, "recording", lambda profile: Opened(f"recording {profile}"))
    monkeypatch.setattr(
        providers,
        "instruments",
        lambda name: SimpleNamespace(checking=lambda: Opened("checking")) if name == "checked" else 0,
    )
    for bar, guarded in (("0", True), ("1", False)):
        monkeypatch.setenv("GPULAB_LARGE_BAR", bar)
        made = start._Process(report, profile, checked)
        assert found + ["tells"] * made._tells == done
        assert made._writer == (f"writer of {report}" if report else None)
        assert made._records == ("records" if "recording" in " ".join(done) else None)
        assert installed.pop() == ((made.fault, made.failure), guarded)
        found.clear()
        made.translate_ahead()
        assert found == ["ahead"]
        found.clear()


def test_touches_are_told_before_the_program_ends(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    made = process()
    made._hosting = SimpleNamespace(device_addresses=lambda: (4096, 8192), nearest="nearest")
    done: list[Any] = []
    made._callbacks = [None, lambda number: done.append(number)]

    class Watch:
        def __init__(self, *given: Any) -> None:
            done.append(given)

        def said(self, info: int, context: int) -> str:
            if info == 9:
                raise ValueError
            return f"{info} {context}" if info else ""

    handlers: list[Any] = []
    monkeypatch.setattr(touches, "Watch", Watch)
    monkeypatch.setattr(touches, "action", lambda library, number, handler: handlers.append((library, number, handler)))
    made.explain_touches("C", "/p/app")
    assert done.pop() == ("/p/app", 4096, 8192, "nearest")
    ((library, number, touched),) = handlers
    assert (library, number, len(made._callbacks)) == ("C", 11, 3)
    for info, context, said in ((5, 6, "gpulab: 5 6\n"), (7, None, "gpulab: 7 0\n"), (None, 6, ""), (9, 9, "")):
        touched(11, info, context)
        assert (done.pop(), capfd.readouterr().err) == (11, said)
    made._touched(11, 3, 4)  # for a handler that the program installs: said, and the process goes on
    assert (done, capfd.readouterr().err) == ([], "gpulab: 3 4\n")

    class Older:
        pass

    place = ctypes.c_void_p()

    class Pointer(ctypes.c_void_p):
        @classmethod
        def in_dll(cls, program: object, name: str) -> ctypes.c_void_p:
            if isinstance(program, Older):
                raise ValueError
            assert (program, name) == ("program", "gpulab_touched")
            return place

    known = SimpleNamespace(c_void_p=Pointer, cast=lambda given, kind: ctypes.cast(given, ctypes.c_void_p))
    monkeypatch.setattr(start, "ctypes", known)
    made.explain_touches_before(Older())
    assert place.value is None
    made.explain_touches_before("program")
    assert place.value == ctypes.cast(made._touched, ctypes.c_void_p).value
