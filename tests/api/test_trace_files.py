"""Traces as files: what is saved is loaded, and what is no trace is refused in words. Traces of faults."""

from __future__ import annotations

import gc
import io
import json
import random
import shutil
import struct
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

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

module = sys.modules["gpulab.trace"]  # gpulab.trace is the function

LINE = SourceLine("cell.hip", 3, 5, "x[i] = <b>1</b>;")
FULL = Trace(
    kernel="k<script>",
    arch="gfx942",
    wave_size=64,
    workgroup=(1, 2, 3),
    wave=4,
    instructions=(
        TraceInstruction("v_mov_b32 v1, 1", LINE, "M.", "vector", (TraceOperand("v1", ("v1",), "f32", True, "dst"),)),
        TraceInstruction("s_branch .L", None, "Jump.", "branch", (), ".L .M", 0, False, ("vmcnt", "lgkmcnt"), True,
                         (("vmcnt", 3), ("lgkmcnt", 0))),
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


NUMBER = -1, 1 << 64, 0.5, "1", True, None
WORD = -1, 1 << 32, 0.5, "1", True, None
TEXT = 5, None, [], {}
LIST = 5, None, "text", {}
OBJECT = 5, "text", []
PLACE = [], ["f", 1, 1], ["f", 1, 1, "t", 0]
WRONG: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("format", ("gpulab", None)),
    ("wave_size", (31, 33, 63, 65, *NUMBER)),
    ("kernel", TEXT), ("arch", TEXT), ("source", TEXT),
    ("wave", WORD),
    ("workgroup", ([1, 2], [1, 2, 3, 4], *LIST)),
    ("workgroup/0", WORD),
    ("truncated", (0, 1, "true", None)),
    ("lds_bytes", (12, (1 << 20) + 1, -1, "64")),
    ("steps", (1, 3, 200_001, -1, "2")),
    ("files", OBJECT), ("files/cell.hip", TEXT),
    ("start", OBJECT), ("start/v0", (5, [0] * 63, [0] * 65)), ("start/v0/1", WORD), ("start/exec", NUMBER),
    ("start/v1x", ([0] * 64, 5)), ("start/v1000", ([0] * 64, 5)),
    ("registers", LIST), ("registers/0", ("", "w1", "v", "v-1", "v1x", "v1000", "V1", "vccx", "v\u0661", 5)),
    ("memory", LIST), ("memory/0", (["x", 1], ["x", 1, 2, 3])),
    ("memory/0/0", TEXT), ("memory/0/1", NUMBER), ("memory/0/2", NUMBER),
    ("places", LIST), ("places/0", PLACE),
    ("places/0/0", TEXT), ("places/0/1", WORD), ("places/0/2", WORD), ("places/0/3", TEXT),
    ("meanings", LIST), ("meanings/0", TEXT),
    ("operands", LIST), ("operands/0", (["v1", ["v1"], "f32", True],)),
    ("operands/0/0", TEXT), ("operands/0/1", LIST), ("operands/0/1/0", ("w1", 5)), ("operands/0/2", TEXT),
    ("operands/0/3", (1, None)), ("operands/0/4", TEXT),
    ("instructions", LIST), ("instructions/0", ([],)), ("instructions/0/0", TEXT),
    ("instructions/0/1", (2, -1, None)), ("instructions/0/2", (2, -1, None)), ("instructions/0/3", TEXT),
    ("instructions/0/4", LIST), ("instructions/0/4/0", (1, -1, None)), ("instructions/0/5", TEXT),
    ("instructions/0/6", (2, -1, "0")), ("instructions/0/7", (0, None)),
    ("fault", OBJECT), ("fault/kind", TEXT), ("fault/kernel", TEXT), ("fault/instruction", TEXT),
    ("fault/access", TEXT), ("fault/detail", TEXT), ("fault/memory", TEXT),
    ("fault/workgroup", ([1, 2], None)), ("fault/wave", WORD), ("fault/lane", (64, -1, "5")),
    ("fault/thread", ([1, 2], 5)), ("fault/address", (-1, 1 << 64, "5")), ("fault/bytes", WORD),
    ("fault/where", OBJECT), ("fault/where/line", WORD), ("fault/where/column", WORD), ("fault/where/file", TEXT),
    ("fault/where/text", TEXT), ("fault/nearest", OBJECT), ("fault/nearest/address", NUMBER),
    ("fault/nearest/size", NUMBER), ("fault/nearest/distance", NUMBER), ("fault/nearest/relation", TEXT),
    ("fault/nearest/name", TEXT),
)  # fmt: skip
"""Parts of the header, and what none of them may be."""
EXTREMES: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("wave", (0, 0xFFFFFFFF)), ("workgroup/2", (0, 0xFFFFFFFF)), ("lds_bytes", (13, 1 << 20)), ("truncated", (False,)),
    ("start/v0/1", (0, 0xFFFFFFFF)), ("start/exec", (0, (1 << 64) - 1)),
    ("start/vcc", (0, (1 << 64) - 1)), ("start/s102", (0, 7)), ("start/m0", (1,)), ("start/mode", (1,)),
    ("memory/0/1", (0, (1 << 64) - 1)), ("places/0/1", (0, 0xFFFFFFFF)), ("places/0/2", (0, 0xFFFFFFFF)),
    ("instructions/0/1", (1,)), ("instructions/0/2", (1,)), ("instructions/0/6", (None, 0, 1)),
    ("fault", (None,)), ("fault/lane", (None, 0, 63)), ("fault/thread", (None, [0, 0, 0])),
    ("fault/address", (None, 0, (1 << 64) - 1)), ("fault/where", (None,)), ("fault/nearest", (None,)),
    ("fault/wave", (0, 0xFFFFFFFF)), ("fault/bytes", (0, 0xFFFFFFFF)),
)  # fmt: skip
"""Parts of the header, and the least, the most and the other kinds that each may be."""


def with_part(path: Path, where: str, value: Any) -> Path:
    """The file with another value at this place of its JSON."""

    def edit(header: Any) -> None:
        *folders, last = (int(name) if name.isdigit() else name for name in where.split("/"))
        for name in folders:
            header = header[name]
        header[last] = value

    return changed(path, edit)


@pytest.mark.parametrize(("where", "values"), WRONG, ids=[where for where, _ in WRONG])
def test_each_part_of_a_header_is_checked(tmp_path: Path, where: str, values: tuple[Any, ...]) -> None:
    saved(FULL, tmp_path / "t")
    for value in values:
        shutil.copy(tmp_path / "t", tmp_path / "other")
        with pytest.raises(TraceError, match="cannot be loaded"):
            print(value, gpulab.load_trace(with_part(tmp_path / "other", where, value)))


@pytest.mark.parametrize(("where", "values"), EXTREMES, ids=[where for where, _ in EXTREMES])
def test_each_part_of_a_header_has_its_whole_range(tmp_path: Path, where: str, values: tuple[Any, ...]) -> None:
    """What is loaded is saved with the same value."""
    for value in values:
        path = with_part(saved(FULL, tmp_path / "t"), where, value)
        gpulab.load_trace(path).save(path)
        with zipfile.ZipFile(path) as archive:
            found = json.loads(archive.read("trace.json"))
        for name in where.split("/"):
            found = found[int(name) if name.isdigit() else name]
        if where != "instructions/0/1" and where != "instructions/0/2":  # numbers given anew
            assert found == value


def one_step(tmp_path: Path, *words: int, wave_size: int = 64) -> Trace:
    """What is loaded of a trace with one step, of these words; its registers are v1, s3, vcc and scc."""
    path = saved(replace(FULL, wave_size=wave_size, start={}), tmp_path / "t")
    changed(path, lambda header: header.update(steps=1), steps_bin=struct.pack(f"<{len(words)}I", *words))
    return gpulab.load_trace(path)


def touched(size: int, *lanes: int, kind: int = 0) -> list[int]:
    """A step with one access of so many bytes by these lanes, to addresses and values 0."""
    entries = max(len(lanes), 1)
    return [0, 5, 0, 0, 1, 0, kind, size, len(lanes), *lanes, *[0] * (2 * entries + (size + 3) // 4 * entries)]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([2, 0, 0, 0, 0, 0], "no instruction of the kernel"),
        ([0, 0, 0, 0, 0], "end too early"),
        ([0, 0, 0, 0, 0, 0, 0], "more behind"),
        ([0, 0, 0, 1, 0, 0, 4, 0], "range"),
        ([0, 0, 0, 1, 0, 0, 0, *range(63)], "end too early"),
        (touched(0, 1), "so large"),
        (touched(65, 1), "so large"),
        (touched(4, *range(64), 0), "so large"),
        (touched(4, 64), "no lane of the wave"),
        (touched(4, 1, kind=3), "range"),
        (touched(4, 1, kind=0x300), "range"),
        ([0, 0, 0, 0, 0, 1, 61, 4, 0], "beyond its end"),
    ],
)
def test_a_step_that_cannot_be(tmp_path: Path, words: list[int], why: str) -> None:
    with pytest.raises(TraceError, match=why):
        one_step(tmp_path, *words)


def test_the_largest_steps(tmp_path: Path) -> None:
    (step,) = one_step(tmp_path, *touched(64, *range(64), kind=0x202)).steps
    assert (step.instruction, step.exec_mask) == (0, 5)
    assert step.accesses == (TraceAccess("scratch", "atomic", 64, tuple(range(64)), (0,) * 64, (0,) * 64),)
    (step,) = one_step(tmp_path, 1, 0, 1 << 31, 0, 0, 1, 60, 4, 0x04030201).steps
    assert (step.instruction, step.exec_mask, step.lds) == (1, 1 << 63, ((60, b"\1\2\3\4"),))
    (step,) = one_step(tmp_path, 1, 0, 0, 2, 0, 0, 2, 7, 9, 3, 8).steps
    assert step.changes == {"vcc": 9 << 32 | 7, "scc": 8}


def test_a_wave_of_32_lanes(tmp_path: Path) -> None:
    (step,) = one_step(tmp_path, 0, 0xFFFFFFFF, 0, 1, 0, 0, 0, *range(32), wave_size=32).steps
    assert step.changes == {"v1": tuple(range(32))}
    for words, why in (([0, 0, 1, 0, 0, 0], "more of them"), (touched(4, 32), "no lane"),
                       (touched(4, *range(32), 0), "so large")):  # fmt: skip
        with pytest.raises(TraceError, match=why):
            one_step(tmp_path, *words, wave_size=32)


def test_files_are_the_same_on_machines_of_the_other_byte_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here the other order is played: it turns each word round, and so does reading."""

    def steps() -> bytes:
        with zipfile.ZipFile(tmp_path / "t") as archive:
            return archive.read("steps.bin")

    pieces = replace(FULL, steps=(replace(FULL.steps[1], accesses=()),))
    saved(pieces, tmp_path / "t")
    here = steps()
    assert here[:4] == b"\1\0\0\0"
    assert here.endswith(b"12345\0\0\0")
    monkeypatch.setattr(sys, "byteorder", {"little": "big", "big": "little"}[sys.byteorder])
    saved(pieces, tmp_path / "t")
    # All words are turned round, but bytes of LDS, which are bytes: they are turned twice.
    turned = [here[at : at + 4][::-1] for at in range(0, len(here), 4)]
    assert steps() == b"".join(
        word[::-1] if word[::-1] in (b"\1\2\3\4", b"1234", b"5\0\0\0") else word for word in turned
    )
    assert gpulab.load_trace(tmp_path / "t").steps == pieces.steps


def test_steps_end_with_a_whole_word(tmp_path: Path) -> None:
    path = saved(FULL, tmp_path / "t")
    for more in (1, 2, 3):
        with zipfile.ZipFile(path) as archive:
            content = archive.read("steps.bin")
        with pytest.raises(TraceError, match="end within a number"):
            gpulab.load_trace(changed(path, steps_bin=content + bytes(more)))
        changed(path, steps_bin=content)


def test_sizes_that_are_not_saved_or_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(FULL, tmp_path / "t")
    with zipfile.ZipFile(path) as archive:
        header, words = (archive.getinfo(name).file_size for name in ("trace.json", "steps.bin"))
    for name, most in (("MOST_HEADER", header), ("MOST_WORDS", words // 4), ("MOST_FILE", path.stat().st_size)):
        monkeypatch.setattr(module, name, most)
        assert gpulab.load_trace(saved(FULL, path)).kernel == FULL.kernel
        monkeypatch.setattr(module, name, most - 1)
        if name != "MOST_FILE":
            with pytest.raises(TraceError, match="This trace cannot be saved: it would be 0 MiB large"):
                saved(FULL, tmp_path / "other")
        with pytest.raises(TraceError, match="is larger than 0 MiB"):
            gpulab.load_trace(path)
        monkeypatch.undo()
    assert not (tmp_path / "other").exists()
    assert (module.MOST_FILE, module.MOST_HEADER, module.MOST_WORDS) == (192 * 2**20, 16 * 2**20, 24 * 2**20)


def test_the_size_that_is_refused_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = replace(FULL, source="x" * (3 << 20), steps=FULL.steps[:1] * 20_000)
    monkeypatch.setattr(module, "MOST_HEADER", 1 << 20)
    words = 6 + 65 + 2 + 3 + 2  # of the step: v1 has 64 lanes, vcc two words
    size = (4 * words * 20_000 + (3 << 20)) >> 20
    with pytest.raises(TraceError, match=f"it would be {size} MiB large"):
        saved(long, tmp_path / "t")


def test_members_in_another_compression_are_refused(tmp_path: Path) -> None:
    path = saved(FULL, tmp_path / "t")
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    for kind, good in ((zipfile.ZIP_STORED, True), (zipfile.ZIP_BZIP2, False), (zipfile.ZIP_LZMA, False)):
        with zipfile.ZipFile(path, "w", kind) as archive:
            for name, content in contents.items():
                archive.writestr(name, content)
        if good:
            assert gpulab.load_trace(path).steps == FULL.steps
        else:
            with pytest.raises(TraceError, match="compressed in another way"):
                gpulab.load_trace(path)


@pytest.mark.parametrize("enabled", [True, False])
def test_loading_leaves_the_collection_of_garbage_as_it_was(tmp_path: Path, enabled: bool) -> None:
    path = saved(FULL, tmp_path / "t")
    was = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        gpulab.load_trace(path)
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if was else gc.disable)()


def test_other_versions_are_named(tmp_path: Path) -> None:
    path = changed(saved(FULL, tmp_path / "t"), lambda h: h.update(version=1))
    with pytest.raises(TraceError, match=r"is of version 1; this gpulab reads version 3"):
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


@pytest.mark.full
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


WHO = """
__global__ void who(int* out) { if (threadIdx.x == 70) out[blockIdx.x + 3 * (blockIdx.y + 2 * blockIdx.z)] = 1; }
__global__ void shared(int* out) { extern __shared__ int t[]; t[threadIdx.x] = 5; out[0] = t[3]; }
"""


def test_any_workgroup_and_wave_is_traced() -> None:
    """An int is blockIdx.x; coordinates that are missing are 0. 130 threads are three waves of 64."""
    with gpulab.using("gfx942"):
        kernel, out = gpulab.compile(WHO).who, gpulab.zeros(12, "int32")
        for given, chosen in ((2, (2, 0, 0)), ((1, 1), (1, 1, 0)), ((2, 1, 1), (2, 1, 1))):
            for wave, threads in ((0, 64), (2, 2)):
                trace = gpulab.trace(kernel, (3, 2, 2), (65, 2), out, workgroup=given, wave=wave)
                assert (trace.workgroup, trace.wave) == (chosen, wave)
                assert trace.steps[0].exec_mask.bit_count() == threads
        trace = gpulab.trace(kernel, 1, 64, out)
        assert (trace.workgroup, trace.wave) == ((0, 0, 0), 0)
        steps = f"{len(trace.steps)} steps"
        assert repr(trace) == f"<trace of who (gfx942): workgroup (0, 0, 0), wave 0, {steps}>"
        assert repr(WaveTrace.of(FULL)) == (
            "<trace of k<script> (gfx942): workgroup (1, 2, 3), wave 4, 2 steps, truncated, stopped: out of bounds>"
        )
        shared = gpulab.trace(gpulab.compile(WHO).shared, 1, 64, out, dynamic_lds_bytes=256)
        assert shared.lds_bytes == 256
        assert sum(len(data) for step in shared.steps for _, data in step.lds) >= 256


@pytest.mark.parametrize(
    ("threads", "chosen", "said", "hint"),
    [
        (64, {"workgroup": 3}, "there is no workgroup with blockIdx.x = 3: the grid has 3 along x.",
         "workgroup= between 0 and 2 along x."),
        (64, {"workgroup": (0, 0, 2)}, "there is no workgroup with blockIdx.z = 2: the grid has 2 along z.",
         "workgroup= between 0 and 1 along z."),
        (64, {"workgroup": (0, -1)}, "there is no workgroup with blockIdx.y = -1: the grid has 4 along y.",
         "workgroup= between 0 and 3 along y."),
        (64, {"wave": 1}, "there is no wave 1: a workgroup of 64 threads has 1 wave of 64 lanes.",
         "wave= between 0 and 0."),
        ((13, 5), {"wave": 2}, "there is no wave 2: a workgroup of 65 threads has 2 waves of 64 lanes.",
         "wave= between 0 and 1."),
        (64, {"wave": 0.5}, "there is no wave 0.5: a workgroup of 64 threads has 1 wave of 64 lanes.",
         "wave= between 0 and 0."),
        (64, {"workgroup": "a"}, "workgroup='a' is no workgroup.", "for example workgroup=0, or workgroup=(2, 1)."),
        (64, {"workgroup": (0, 0, 0, 9)}, "workgroup=(0, 0, 0, 9) is no workgroup.",
         "for example workgroup=0, or workgroup=(2, 1)."),
        (64, {"workgroup": (0, True)}, "workgroup=(0, True) is no workgroup.",
         "for example workgroup=0, or workgroup=(2, 1)."),
    ],
)  # fmt: skip
def test_a_workgroup_or_wave_that_is_not_there(threads: Any, chosen: dict[str, Any], said: str, hint: str) -> None:
    with gpulab.using("gfx942"), pytest.raises(gpulab.LaunchLimitError) as caught:
        gpulab.trace(gpulab.compile(WHO).who, (3, 4, 2), threads, gpulab.zeros(12, "int32"), **chosen)
    assert (caught.value.what, caught.value.hint) == (said, hint)


def test_numpys_numbers_choose_a_workgroup() -> None:
    with gpulab.using("gfx942"):
        kernel, who = gpulab.compile(WHO).who, gpulab.zeros(12, "int32")
        trace = gpulab.trace(kernel, (3, 4, 2), 64, who, workgroup=(np.int64(2), np.uint8(1)), wave=np.int32(0))
        assert (trace.workgroup, trace.wave) == ((2, 1, 0), 0)
        assert gpulab.trace(kernel, (3, 4, 2), 64, who, workgroup=np.int64(1)).workgroup == (1, 0, 0)
