"""What a program that runs in this process is given of the virtual GPUs; what is told of instructions and streams."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import gpulab
from gpulab.providers.virtual import hosting, instructions, recording
from gpulab.records import Activity
from gpulab.virtual_gpu import libraries, runtime
from gpulab.virtual_gpu.machine.native import build as support_code
from gpulab.virtual_gpu.runtime.ahead import Ahead
from gpulab.virtual_gpu.runtime.moments import Moment
from gpulab.virtual_gpu.runtime.provenance import Provenance
from gpulab.virtual_gpu.runtime.streams import Happening


def test_libraries_that_a_program_may_call() -> None:
    found = hosting.libraries()
    assert len(found) == len(tuple(libraries.found())) >= 2
    assert {type(each).__name__ for each in found} == {"LinkedLibrary"}
    assert hosting.rocm_path() == str(libraries.rocm_path())
    assert os.path.isdir(hosting.rocm_path())


def test_what_is_built_before_a_program_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setattr(libraries, "build", lambda: done.append("libraries"))
    monkeypatch.setattr(support_code, "functions", lambda: done.append("support code"))
    hosting.prepare_libraries()
    assert done == ["libraries"]
    hosting.prepare()
    assert done == ["libraries", "libraries", "support code"]


def test_modules_of_most_programs_are_loaded() -> None:
    """All of the virtual GPU's but the libraries' functions, which would make a runtime."""
    script = (
        "import sys; from gpulab.virtual_gpu.translate import jit; done = []; jit.host = lambda: done.append(1); "
        "from gpulab.providers.virtual import hosting; hosting.load(); print(len(done), *sorted(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    count, *loaded = done.stdout.split()
    assert count == "1", "LLVM's code generator"
    top = Path(libraries.__file__).parents[1]
    parts = [path for name in ("runtime", "isa", "machine", "translate") for path in (top / name).rglob("*.py")]
    names = {".".join(("gpulab.virtual_gpu", *path.relative_to(top).with_suffix("").parts)) for path in parts}
    assert {name.removesuffix(".__init__") for name in names} <= set(loaded)
    assert {"gpulab.virtual_gpu.libraries.building", "gpulab.providers.launches", "yaml"} <= set(loaded)
    assert "gpulab.virtual_gpu.libraries.hip.calls" not in loaded


def test_who_is_told_of_faults_and_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    here = SimpleNamespace(announce=None, explain=None)

    def instance(guarded: bool = False) -> SimpleNamespace:
        asked.append(guarded)
        return here

    monkeypatch.setattr(runtime, "instance", instance)
    monkeypatch.setattr(libraries, "load", lambda everywhere=False: asked.append(("load", everywhere)))
    hosting.install(asked.append, print)
    assert asked == [True, ("load", True)], "guarded, with the symbols for all"
    assert (here.announce, here.explain) == (asked.append, print)
    hosting.install(print, asked.append, False)
    assert asked[2:] == [False, ("load", True)]
    assert (here.announce, here.explain) == (print, asked.append)


def test_addresses_of_device_memory() -> None:
    with gpulab.using("virtual:gfx942"):
        x = gpulab.zeros(100, "uint8")
        base, size = hosting.device_addresses()
        assert base <= x.address < x.address + 100 <= base + size
        assert (base, size) == (runtime.instance().arena.base, runtime.instance().arena.reach)
        note = hosting.nearest(x.address + 3)
        assert note is not None
        assert (note.address, note.size, note.relation) == (x.address, 100, "inside")


def test_what_goes_between_host_and_device_is_noted_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    here = runtime.instance()
    monkeypatch.setattr(here, "provenance", None)
    assert hosting.transfers() == ()
    hosting.watch_memory()
    assert isinstance(here.provenance, Provenance)
    with gpulab.using("virtual:gfx942"):
        x = gpulab.to_device(np.arange(4, dtype="u1"))
        x.to_host()
    assert [(each.direction, each.bytes) for each in hosting.transfers()] == [
        ("host to device", 4),
        ("device to host", 4),
    ]


def test_a_second_process_translates_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    here = runtime.instance()
    monkeypatch.setattr(here.modules, "beside", None)
    hosting.translate_ahead()
    assert here.modules.beside is Ahead


def test_faults_that_no_call_has_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    devices = [SimpleNamespace(fault=fault) for fault in (None, "first", "second")]
    here = SimpleNamespace(devices=devices, flush_printed=lambda: done.append("printed"))
    monkeypatch.setattr(runtime, "instance", lambda: here)
    assert hosting.finish() == ("first", "second")
    assert done == ["printed"]


def test_words_of_instructions() -> None:
    (entry,) = instructions.entries("s_nop")
    assert entry.mnemonic == "s_nop"
    assert "s_nop" in [each.mnemonic for each in instructions.search("nop")]
    assert instructions.search("no such words anywhere") == ()
    assert instructions.meaning("gfx942", "s_nop")
    assert instructions.meaning("gfx942", "none") == ""


def happening(kind: str, start: float, end: float, **more: object) -> Happening:
    return Happening(kind, kind, 1, 2, Moment((), float(start)), Moment((), float(end)), **more)  # type: ignore[arg-type]


def test_activities_of_streams() -> None:
    """Times count from the first one's start; events and graphs are numbered as they come; a wait names what it was
    for, if that was recorded."""
    event = happening("event", 5, 5, event=70)
    before = happening("event", 1, 1, event=90)
    given = [
        (happening("copy", 4, 6, bytes=8), 0), (event, 0), (happening("kernel", 6, 9, graph=31), 0),
        (happening("wait", 7, 8, event=70, earlier=event), 1), (happening("wait", 9, 9, event=90, earlier=before), 1),
        (happening("kernel", 10, 12, graph=30), 1), (happening("kernel", 12, 13, graph=31), 2),
    ]  # fmt: skip
    assert recording._activities(given) == (
        Activity("copy", "copy", 1, 2, 0, 2, 8),
        Activity("event", "event 1", 1, 2, 1, 1),
        Activity("kernel", "kernel", 1, 2, 2, 5, launch=0, graph=1),
        Activity("wait", "event 1", 1, 2, 3, 4, waits_for=1),
        Activity("wait", "event 2", 1, 2, 5, 5),
        Activity("kernel", "kernel", 1, 2, 6, 8, launch=1, graph=2),
        Activity("kernel", "kernel", 1, 2, 8, 9, launch=2, graph=1),
    )
    assert recording._activities([]) == ()
