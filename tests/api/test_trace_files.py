"""Traces as files: what is saved is loaded, and what is no trace is refused in words. Traces of faults."""

from __future__ import annotations

import io
import json
import random
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import gpulab
from gpulab.errors import KernelFault, MemoryFault, TraceError
from gpulab.records import (
    AllocationNote,
    Fault,
    MemoryRange,
    SourceLine,
    Trace,
    TraceAccess,
    TraceInstruction,
    TraceOperand,
    TraceStep,
)
from gpulab.trace import WaveTrace

LINE = SourceLine("cell.hip", 3, 5, "x[i] = <b>1</b>;")
FULL = Trace(
    kernel="k<script>",
    arch="gfx942",
    wave_size=64,
    workgroup=(1, 2, 3),
    wave=4,
    instructions=(
        TraceInstruction("v_mov_b32 v1, 1", LINE, "M.", "vector", (TraceOperand("v1", ("v1",), "f32", True, "dst"),)),
        TraceInstruction("s_branch .L", None, "Jump.", "branch", (), ".L .M", 0),
    ),
    steps=(
        TraceStep(0, (1 << 64) - 1, {"v1": tuple(range(64)), "s3": 0xFFFFFFFF, "vcc": 1 << 63, "scc": 1}),
        TraceStep(
            1,
            5,
            {},
            (
                TraceAccess("lds", "write", 4, (0, 2), (0, 8), (1, 0xFFFFFFFF)),
                TraceAccess("global", "read", 16, (), ((1 << 47) + 4,), ((1 << 127) + 5,)),
            ),
            ((0, b"\1\2\3\4"), (8, b"12345")),
        ),
    ),
    source="a\nb",
    truncated=True,
    files={"cell.hip": "a\nb"},
    start={"v0": tuple(range(64)), "exec": (1 << 64) - 1},
    lds_bytes=64,
    fault=Fault("out of bounds", "k", LINE, "text", (1, 2, 3), 4, 5, (6, 7, 8), 0x1234, 4, "read",
                AllocationNote(0x1000, 64, "after", 4, "x"), "why"),
    memory=(MemoryRange("x", 0x1000, 64),),
)  # fmt: skip


def saved(trace: Trace, path: Path) -> Path:
    WaveTrace.of(trace).save(path)
    return path


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    path = saved(FULL, tmp_path / "wave.gputrace")
    loaded = gpulab.load_trace(path)
    assert {name: getattr(loaded, name) for name in Trace.__slots__} == {
        name: getattr(FULL, name) for name in Trace.__slots__
    }
    said = "workgroup (1, 2, 3), wave 4, 2 steps, truncated, stopped: out of bounds"
    assert repr(loaded) == f"<trace of k<script> (gfx942): {said}>"
    again = saved(loaded, tmp_path / "again")
    assert again.read_bytes() == path.read_bytes()


def test_a_trace_of_a_launch_is_small_and_the_same_again(tmp_path: Path) -> None:
    module = gpulab.compile("__global__ void twice(float* x) { x[threadIdx.x] *= 2; }")
    trace = gpulab.trace(module.twice, 1, 64, gpulab.to_device(np.arange(64, dtype="float32")))
    trace.save(tmp_path / "t")
    assert gpulab.load_trace(tmp_path / "t") == trace
    assert (tmp_path / "t").stat().st_size < 10_000
    assert [one.name for one in trace.memory] == ["x", "kernel arguments"]


def test_kernel_arguments_are_the_last_memory_wherever_they_lie() -> None:
    module = gpulab.compile("__global__ void twice(float* x) { x[threadIdx.x] *= 2; }")
    low = gpulab.to_device(np.arange(64, dtype="float32"))
    gpulab.trace(module.twice, 1, 64, low)  # the kernel's arguments lie above x
    high = gpulab.to_device(np.arange(1 << 20, dtype="float32"))  # and below this one
    for x in (low, high):
        trace = gpulab.trace(module.twice, 1, 64, x)
        assert [one.name for one in trace.memory] == ["x", "kernel arguments"]
        assert trace.memory[0].address == x.address


def changed(path: Path, edit=None, **members: bytes) -> Path:
    """The file with another JSON (`edit` changes it) or other members."""
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    if edit is not None:
        header = json.loads(contents["trace.json"])
        edit(header)
        contents["trace.json"] = json.dumps(header).encode()
    contents.update({name.replace("_", "."): content for name, content in members.items()})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (lambda h: h.update(wave_size=63), "32 or 64 lanes"),
        (lambda h: h.update(steps=3), "end too early"),
        (lambda h: h.update(steps=1), "more behind the last step"),
        (lambda h: h.update(steps=10**9), "between 0 and 200000"),
        (lambda h: h.update(kernel=5), "a text is something else"),
        (lambda h: h.update(registers=["__class__"] * 9), "unknown name"),
        (lambda h: h.update(registers=[]), "range"),
        (lambda h: h.update(instructions=[]), "no instruction"),
        (lambda h: h.update(lds_bytes=4), "beyond its end"),
        (lambda h: h.update(start={"v0": [1]}), "another length"),
        (lambda h: h.update(format="other"), "another format"),
        (lambda h: h.pop("meanings"), "meanings"),
        (lambda h: h["fault"].update(lane=64), "between 0 and 63"),
    ],
)
def test_damaged_headers_are_refused(tmp_path: Path, edit, why: str) -> None:
    path = changed(saved(FULL, tmp_path / "t"), edit)
    with pytest.raises(TraceError, match=why) as caught:
        gpulab.load_trace(path)
    assert "'t' cannot be loaded as a trace" in str(caught.value)
    assert "Try: ask for the file again" in str(caught.value)


def test_other_versions_are_named(tmp_path: Path) -> None:
    path = changed(saved(FULL, tmp_path / "t"), lambda h: h.update(version=1))
    with pytest.raises(TraceError, match=r"is of version 1; this gpulab reads version 2"):
        gpulab.load_trace(path)


def test_other_files_are_refused(tmp_path: Path) -> None:
    for number, content in enumerate((b"", b"PK\3\4", b"text", random.Random(1).randbytes(5000))):
        path = tmp_path / f"t{number}"
        path.write_bytes(content)
        with pytest.raises(TraceError, match="cannot be loaded"):
            gpulab.load_trace(path)
    with pytest.raises(FileNotFoundError):
        gpulab.load_trace(tmp_path / "none")


def test_truncated_and_damaged_files_are_refused(tmp_path: Path) -> None:
    whole = saved(FULL, tmp_path / "t").read_bytes()
    chance = random.Random(2)
    refused = 0
    for _ in range(200):
        damaged = bytearray(whole[: chance.randrange(len(whole))] if chance.random() < 0.5 else whole)
        for _ in range(chance.randrange(1, 4)):
            if damaged:
                damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        (tmp_path / "t").write_bytes(damaged)
        try:
            gpulab.load_trace(tmp_path / "t")
            assert len(damaged) == len(whole)
        except TraceError:  # any other exception would fail the test
            refused += 1
    assert refused > 150  # a byte that changes nothing stands in the archive's own fields alone


def test_random_steps_are_refused_or_loaded(tmp_path: Path) -> None:
    """Words of no trace: nothing but TraceError comes of them."""
    chance = random.Random(3)
    path = saved(FULL, tmp_path / "t")
    for _ in range(100):
        changed(path, steps_bin=bytes(chance.choice((0, 0, 0, 1, 255)) for _ in range(4 * chance.randrange(400))))
        try:
            gpulab.load_trace(path)
        except TraceError:
            pass


def test_bombs_are_refused(tmp_path: Path) -> None:
    path = saved(FULL, tmp_path / "t")
    changed(path, trace_json=b" " * (17 << 20))
    with pytest.raises(TraceError, match="larger than 16 MiB"):
        gpulab.load_trace(path)
    changed(path, trace_json=b"[" * 1_000_000)
    with pytest.raises(TraceError, match="cannot be loaded"):
        gpulab.load_trace(path)


def test_pickles_are_not_read(tmp_path: Path) -> None:
    into = io.BytesIO()
    np.save(into, np.array([object()], dtype=object), allow_pickle=True)
    (tmp_path / "t").write_bytes(into.getvalue())
    with pytest.raises(TraceError):
        gpulab.load_trace(tmp_path / "t")


def test_too_long_traces_are_not_saved(tmp_path: Path) -> None:
    long = replace(FULL, steps=FULL.steps[:1] * 200_001)
    with pytest.raises(TraceError, match="200,001 steps cannot be saved"):
        saved(long, tmp_path / "t")


WILD = "__global__ void wild(float* x, int from) { int i = threadIdx.x; x[i >= from ? i + (1 << 27) : i] = 1; }"


def test_a_fault_carries_the_trace() -> None:
    module = gpulab.compile(WILD)
    x = gpulab.zeros(64)
    with pytest.raises(MemoryFault) as caught:
        gpulab.trace(module.wild, 1, 64, x, 5)
    trace = caught.value.trace
    assert trace is not None
    assert trace.fault is not None
    assert (trace.fault.kind, trace.fault.lane) == ("out of bounds", 5)
    assert trace.fault.instruction == trace.instructions[trace.steps[-1].instruction].text
    assert [a.lanes for a in trace.steps[-1].accesses] == [(0, 1, 2, 3, 4)]
    same = gpulab.trace(module.wild, 1, 64, x, 5, raises=False)
    assert same.fault == trace.fault


def test_a_fault_elsewhere_is_raised_all_the_same() -> None:
    module = gpulab.compile("__global__ void wild(float* x) { if (blockIdx.x == 1) x[1 << 22] = 1; }")
    with pytest.raises(KernelFault) as caught:
        gpulab.trace(module.wild, 2, 64, gpulab.zeros(8), workgroup=0, raises=False)
    assert caught.value.fault is not None
    assert caught.value.fault.workgroup == (1, 0, 0)
    assert caught.value.trace is not None
    assert caught.value.trace.fault is None


def test_other_errors_have_no_trace() -> None:
    assert KernelFault("x").trace is None
