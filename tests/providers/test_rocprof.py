"""Counters through rocprofv3: its files, its command line, saved launches, and the whole way with a stand-in for it.

The stand-in (fake_rocprofv3.py) repeats the launches on the virtual library, so that the counters that come back are
those of the same launches profiled directly.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpulab
from gpulab import errors, providers
from gpulab.providers.hip import library
from gpulab.providers.rocm import replay, rocprof, snapshot
from gpulab.providers.rocm.provider import RocmProvider
from gpulab.providers.virtual.provider import VirtualProvider
from gpulab.virtual_gpu import libraries
from tests.hip.conftest import ok
from tests.providers.given import given
from tests.providers.test_hip_calls import Table

RECORDED = Path(__file__).parent / "recorded"
ROOT = Path(__file__).resolve().parents[2]
LIBRARY = str(libraries.path("hip"))

SOURCE = """
struct Node { float value; Node* next; };
__device__ float factor = 1.0f;
__device__ Node* first;
__global__ void walk(const Node* node, float* out, int n) {
    float sum = 0;
    for (int i = 0; i < n; i++, node = node->next) sum += node->value;
    out[threadIdx.x] = factor * sum + first->value;
}
__global__ void add(float* y, const float* x, const float* end) {
    for (x += threadIdx.x; x < end; x += blockDim.x) y[threadIdx.x] += *x;
}
"""


# ---- rocprofv3's files


def test_a_recorded_file_of_an_mi300a() -> None:
    dispatches = rocprof.read((RECORDED / "mi300a_occupancy_counter_collection.csv").read_text())
    assert [d.number for d in dispatches] == list(range(1, 9))
    assert dispatches[0].kernel == "init_gaussian"
    assert (dispatches[0].threads, dispatches[0].workgroup) == (262_144, 256)
    assert dispatches[0].values == {"OccupancyPercent": 13.271172}
    assert dispatches[1].values["OccupancyPercent"] == pytest.approx(0.043425904)
    assert dispatches[3].end_ns - dispatches[3].start_ns == 9495


@pytest.mark.parametrize(("name", "count"), [("addition", 4), ("filtered", 2)])
def test_files_of_other_versions(name: str, count: int) -> None:
    dispatches = rocprof.read((RECORDED / f"{name}_counter_collection.csv").read_text())
    assert len(dispatches) == count
    assert all(d.values == {"SQ_WAVES": 16_384} for d in dispatches)
    assert dispatches[0].threads // 64 == 16_384


def test_several_counters_of_a_launch_and_rows_by_instance() -> None:
    text = (
        '"Dispatch_Id","Kernel_Name","Counter_Name","Counter_Value"\n'
        '2,"b","TCC_HIT",1\n1,"a","TCC_HIT",3.000000\n1,"a","TCC_HIT",4\n1,"a","VALUBusy",12.5\n'
    )
    first, second = rocprof.read(text)
    assert (first.kernel, first.values) == ("a", {"TCC_HIT": 7, "VALUBusy": 12.5})
    assert (second.kernel, second.values) == ("b", {"TCC_HIT": 1})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no column Dispatch_Id"),
        ("Dispatch_Id,Kernel_Name,Counter_Name\n1,a,b\n", "no column Counter_Value"),
        ('"Dispatch_Id","Kernel_Name","Counter_Name","Counter_Value"\n1,a,SQ_WAVES,many\n', "line 2"),
    ],
)
def test_files_that_cannot_be_read(text: str, says: str) -> None:
    with pytest.raises(errors.ProfilerError, match=says):
        rocprof.read(text)


def test_measured_values_by_kind() -> None:
    counters, computed = rocprof.split({"SQ_WAVES": 4.0, "TCC_HIT_sum": 7.0, "VALUBusy": 12.5}, "gfx942")
    assert counters == {"SQ_WAVES": 4, "TCC_HIT": 7}
    assert computed == {"TCC_HIT_sum": 7.0, "VALUBusy": 12.5}


# ---- finding rocprofv3


def test_the_profiler_is_looked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("GPULAB_ROCPROFV3", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("ROCM_PATH", str(tmp_path / "rocm"))
    monkeypatch.delenv("ROCM_HOME", raising=False)
    monkeypatch.setattr(rocprof.glob, "glob", lambda pattern: [])
    assert rocprof.executable() is None or rocprof.executable() == "/opt/rocm/bin/rocprofv3"
    program = tmp_path / "rocm" / "bin" / "rocprofv3"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert rocprof.executable() == str(program)
    monkeypatch.setenv("GPULAB_ROCPROFV3", "/somewhere/rocprofv3")
    assert rocprof.executable() == "/somewhere/rocprofv3"


def test_without_a_profiler_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(rocprof, "executable", lambda: None)
    with pytest.raises(errors.ProfilerError, match="rocprofiler-sdk") as caught:
        rocprof.collect(["SQ_WAVES"], "gfx942", LIBRARY, [], tmp_path)
    assert "GPULAB_ROCPROFV3" in str(caught.value)
    assert "virtual:gfx942" in str(caught.value)


@pytest.mark.skipif(os.name != "posix", reason="the stand-in is a shell script")
def test_a_message_has_the_end_of_what_a_profiler_said(tmp_path: Path) -> None:
    """Eight lines: six, an empty one between its two outputs, and one."""
    program = tmp_path / "rocprofv3"
    program.write_text(
        "#!/bin/sh\nfor n in 1 2 3 4 5 6 7 8 9 10; do echo said $n; done\necho no such device >&2\nexit 3\n"
    )
    program.chmod(0o755)
    saved = snapshot.save(
        tmp_path / "launch", b"", "k", 0, (1, 1, 1), (64, 1, 1), 0, b"", (), {}, lambda address, size: bytes(size), {}
    )
    with pytest.raises(errors.ProfilerError) as caught:
        rocprof.collect(["SQ_WAVES"], "gfx942", LIBRARY, [saved], tmp_path, str(program))
    text = str(caught.value)
    assert [n for n in range(1, 11) if f"said {n}\n" in text] == list(range(5, 11))
    assert "no such device" in text


HEADER = "Dispatch_Id,Kernel_Name,Grid_Size,Workgroup_Size,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp\n"


def test_all_that_is_read_of_a_launch() -> None:
    """What is missing or empty is 0: only four columns are needed. What comes again is added."""
    text = HEADER + "7,k.kd,512,64,A,1.5,10,30\n7,k.kd,512,64,A,2,10,30\n7,k.kd,512,64,B,4,10,30\n3,m,,,A,1,,\n"
    assert rocprof.read(text) == [
        rocprof.Dispatch(3, "m", 0, 0, {"A": 1.0}, 0, 0),
        rocprof.Dispatch(7, "k.kd", 512, 64, {"A": 3.5, "B": 4.0}, 10, 30),
    ]
    few = "Dispatch_Id,Kernel_Name,Counter_Name,Counter_Value\n"
    assert rocprof.read(few + "1,k,A,1\n") == [rocprof.Dispatch(1, "k", 0, 0, {"A": 1.0})]
    assert rocprof.read(few) == []
    with pytest.raises(errors.ProfilerError, match=r"cannot be read in line 3: "):
        rocprof.read(few + "1,k,A,1\n1,k,A\n")
    with pytest.raises(errors.ProfilerError) as caught:
        rocprof.read("Kernel_Name,Other\n")
    assert str(caught.value).startswith(
        "rocprofv3's output has no column Dispatch_Id and no column Counter_Name and no column Counter_Value.\n"
        "Why: its columns are Kernel_Name, Other.\n"
    )
    with pytest.raises(errors.ProfilerError, match=r"its columns are missing\."):
        rocprof.read("")


def named(folder: Path, *symbols: str) -> list[snapshot.Snapshot]:
    return [
        snapshot.save(
            folder / f"{place}", b"", symbol, 0, (1, 1, 1), (64, 1, 1), 0, b"", (), {}, lambda _, size: bytes(size), {}
        )
        for place, symbol in enumerate(symbols)
    ]


def test_dispatches_are_those_of_the_launches(tmp_path: Path) -> None:
    launches = named(tmp_path, "k", "m")
    seen = [rocprof.Dispatch(number, name, 0, 0) for number, name in enumerate(("copy.kd", "k.kd", "fill", "m"))]
    assert rocprof._of_launches(seen, launches) == [seen[1], seen[3]]
    assert rocprof._of_launches([], launches) == []
    for wrong, said in (([3, 1], "m, k.kd"), ([1], "k.kd"), ([1, 3, 3], "k.kd, m, m"), ([0], "copy.kd"), ([1, 1], "k")):
        with pytest.raises(errors.ProfilerError) as caught:
            rocprof._of_launches([seen[place] for place in wrong], launches)
        assert str(caught.value).startswith(f"rocprofv3 saw {said}")
        assert "but k, m ran." in str(caught.value)


class Ran:
    """What `subprocess.run` was given, and what it gives: a counter file, if there is a text for one."""

    def __init__(self, code: int = 0, out: str = "", text: str | None = None, error: Exception | None = None) -> None:
        self.code, self.out, self.text, self.error = code, out, text, error
        self.commands: list[list[str]] = []
        self.given: dict[str, object] = {}

    def __call__(self, command: list[str], **given: object) -> subprocess.CompletedProcess[str]:
        self.commands.append(command)
        self.given = given
        if self.error is not None:
            raise self.error
        if self.text is not None:
            at = Path(command[command.index("-d") + 1], "host", "1")
            at.mkdir(parents=True, exist_ok=True)
            stem = command[command.index("-o") + 1]
            (at / f"{stem}_counter_collection.csv").write_text(self.text)
        return subprocess.CompletedProcess(command, self.code, self.out, "")


def test_one_run_of_the_profiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    launches = named(tmp_path / "saved", "k")
    row = "Dispatch_Id,Kernel_Name,Counter_Name,Counter_Value\n1,k,A,5\n"

    def run(ran: Ran) -> tuple[list[rocprof.Dispatch], str]:
        monkeypatch.setattr(rocprof.subprocess, "run", ran)
        output = tmp_path / f"out{len(list(tmp_path.iterdir()))}"
        output.mkdir()
        return rocprof._run("/bin/rocprofv3", ("A", "B"), "lib.so", launches, output, "pass1")

    monkeypatch.setenv("PYTHONPATH", "/own")
    ran = Ran(text=row, out="a\nb\n")
    assert run(ran) == ([rocprof.Dispatch(1, "k", 0, 0, {"A": 5.0})], "a\nb")
    (command,) = ran.commands
    place = command.index("-d")
    assert command[:place] == ["/bin/rocprofv3", "--pmc", "A", "B", "--mangled-kernels", "--output-format", "csv"]
    assert command[place + 2 :] == [
        "-o", "pass1", "--", sys.executable, "-m", "gpulab.providers.rocm.replay", "lib.so", str(launches[0].folder),
    ]  # fmt: skip
    environment = ran.given.pop("env")
    assert isinstance(environment, dict)
    assert environment["PYTHONPATH"] == f"{ROOT}{os.pathsep}/own"
    assert environment["PATH"] == os.environ["PATH"]
    assert ran.given == {
        "stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "errors": "replace", "timeout": 900.0,
        "check": False,
    }  # fmt: skip
    monkeypatch.delenv("PYTHONPATH")
    ran = Ran(3, "it failed\n", row)
    assert run(ran) == ([], "it failed"), "what it wrote is not asked where it failed"
    assert ran.given["env"]["PYTHONPATH"] == str(ROOT)  # type: ignore[index]
    assert run(Ran(0, "")) == ([], "exit code 0")
    assert run(Ran(4, " \n")) == ([], "exit code 4")
    with pytest.raises(errors.ProfilerError) as caught:
        run(Ran(error=FileNotFoundError("no such file")))
    assert str(caught.value).startswith("/bin/rocprofv3 cannot be run: no such file.")
    assert caught.value.hint == rocprof.missing().hint
    with pytest.raises(errors.ProfilerError) as caught:
        run(Ran(error=subprocess.TimeoutExpired("rocprofv3", 900)))
    assert str(caught.value) == "rocprofv3 took longer than 900 s.\nTry: profile a smaller launch."


def test_names_without_a_value_are_asked_for_alone_then_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In the order of the names; each run has files of its own name."""
    launches = named(tmp_path, "k", "m")
    runs: list[tuple[tuple[str, ...], str]] = []
    known = {"SQ_WAVES": 3.0, "SQ_INSTS_VALU": 4.0}

    def run(
        program: str, group: tuple[str, ...], library: str, given: object, output: Path, stem: str
    ) -> tuple[list[rocprof.Dispatch], str]:
        runs.append((tuple(group), stem))
        found = {name: known[name] for name in group if name in known} if len(group) < 3 else {}
        return [rocprof.Dispatch(1, "k", 0, 0, dict(found)), rocprof.Dispatch(2, "m", 0, 0, dict(found))], told[-1]

    monkeypatch.setattr(rocprof, "_run", run)
    told = ["well done"]
    names = ("SQ_WAVES", "SQ_INSTS_VALU")
    assert rocprof.collect(names, "gfx942", LIBRARY, launches, tmp_path, "program") == [known, known]
    assert runs == [(names, "pass1")]
    for answer, why in (("why not", "it said: why not"), ("", "it wrote no file and no reason.")):
        told.append(answer)
        runs.clear()
        with pytest.raises(errors.ProfilerError) as caught:
            rocprof.collect((*names, "SQ_INSTS_SMEM"), "gfx942", LIBRARY, launches, tmp_path, "program")
        assert runs == [
            ((*names, "SQ_INSTS_SMEM"), "pass1"), (("SQ_WAVES",), "pass2"), (("SQ_INSTS_VALU",), "pass3"),
            (("SQ_INSTS_SMEM",), "pass4"),
        ]  # fmt: skip
        assert str(caught.value).startswith(
            f"rocprofv3 gave no value for SQ_INSTS_SMEM on gfx942.\nWhy: {why}\nTry: rocprofv3 --list-avail"
        )


def test_sums_are_the_counters_where_these_were_not_measured() -> None:
    given = {"TCC_HIT_sum": 7.6, "TCC_HIT": 3.4, "SQ_WAVES_sum": 2.5, "Other_sum": 1.25}
    counters, computed = rocprof.split(given, "gfx942")
    assert (counters["TCC_HIT"], counters["SQ_WAVES"]) == (3, 2)
    assert computed == {"TCC_HIT_sum": 7.6, "SQ_WAVES_sum": 2.5, "Other_sum": 1.25}


def test_folders_in_which_the_profiler_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """PATH, ROCM_PATH, ROCM_HOME, /opt/rocm, and the newest layout's folders, in this order."""
    there: list[str] = []
    monkeypatch.delenv("GPULAB_ROCPROFV3", raising=False)
    monkeypatch.setenv("ROCM_PATH", "/a")
    monkeypatch.setenv("ROCM_HOME", "/b")
    monkeypatch.setattr(rocprof.shutil, "which", lambda name: f"/path/{name}" if "PATH" in there else None)
    monkeypatch.setattr(rocprof.glob, "glob", lambda pattern: [f"{pattern[:-1]}-2", f"{pattern[:-1]}-1"])
    monkeypatch.setattr(rocprof.os, "access", lambda path, mode: mode == os.X_OK and str(path) in there)
    assert rocprof.executable() is None
    for root in ("/opt/rocm/core-2", "/opt/rocm/core-1", "/opt/rocm", "/b", "/a"):
        there.append(f"{root}/bin/rocprofv3")
        assert rocprof.executable() == there[-1]
    there.append("PATH")
    assert rocprof.executable() == "/path/rocprofv3"


# ---- saved launches


def test_addresses_are_exchanged() -> None:
    old = {0x1000: 64, 0x2000: 256}
    new = {0x1000: 0x90000, 0x2000: 0x50000}
    words = [0x1000, 0x103F, 0x1040, 0x1041, 0xFFF, 0x2000, 0x20FF, 0x2100, 0x2101, 0]
    moved = struct.unpack("<10Q", snapshot.relocated(struct.pack("<10Q", *words), old, new))
    assert moved == (0x90000, 0x9003F, 0x90040, 0x1041, 0xFFF, 0x50000, 0x500FF, 0x50100, 0x2101, 0)
    assert snapshot.relocated(b"\1\2\3", old, new) == b"\1\2\3"
    assert snapshot.relocated(struct.pack("<Q", 0x1000), {}, {}) == struct.pack("<Q", 0x1000)


def test_large_contents_are_searched_as_small_ones_are() -> None:
    words = np.arange(20_000, dtype="<u8")
    words[12_345] = 0x10_0008
    moved = np.frombuffer(snapshot.relocated(words.tobytes(), {0x10_0000: 64}, {0x10_0000: 0x77_0000}), "<u8")
    assert moved[12_345] == 0x77_0008
    assert np.count_nonzero(moved != words) == 1


def test_what_a_kernel_can_reach_is_saved(tmp_path: Path) -> None:
    """The argument points to b, b's contents to c, c's to b; nothing points to a."""
    memory = {0x1000: bytes(16), 0x2000: struct.pack("<QQ", 7, 0x3008), 0x3000: struct.pack("<QQ", 0x2000, 1)}
    kernarg = struct.pack("<iiQ", 5, 6, 0x2000)
    saved = snapshot.save(
        tmp_path / "launch", b"code", "k", 0, (2, 1, 1), (64, 1, 1), 16, kernarg, (0, 8),
        {address: len(contents) for address, contents in memory.items()},
        lambda address, size: memory[address][:size], {"v": (0x1000, 16)},
    )  # fmt: skip
    assert saved.allocations == {0x2000: 16, 0x3000: 16}
    assert saved == snapshot.load(tmp_path / "launch")
    assert (saved.grid, saved.block, saved.lds_bytes, saved.offsets) == ((2, 1, 1), (64, 1, 1), 16, (0, 8))
    assert (saved.elf, saved.kernarg, bytes(saved.contents(0x3000))) == (b"code", kernarg, memory[0x3000])
    assert bytes(saved.variable("v")) == bytes(16)
    with pytest.raises(errors.ProfilerError, match="no saved launch"):
        snapshot.load(tmp_path)


def test_memory_larger_than_the_disk_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot.shutil, "disk_usage", lambda folder: type("Usage", (), {"free": 100})())
    with pytest.raises(errors.ProfilerError, match="too large to save: 64 bytes"):
        snapshot.save(
            tmp_path / "launch", b"", "k", 0, (1, 1, 1), (1, 1, 1), 0, struct.pack("<Q", 0x1000), (), {0x1000: 64},
            lambda address, size: bytes(size), {},
        )  # fmt: skip


@pytest.mark.parametrize(("free", "said"), [(240, ""), (239, "120 bytes"), (127, "64 bytes")])
def test_half_of_the_disk_may_be_used(free: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """64 bytes, and 56 more that they point to."""
    monkeypatch.setattr(snapshot.shutil, "disk_usage", lambda folder: type("Usage", (), {"free": free})())
    memory = {0x1000: struct.pack("<8Q", 0x2000, *[0] * 7), 0x2000: bytes(56)}

    def saved() -> snapshot.Snapshot:
        return snapshot.save(
            tmp_path / "launch", b"", "k", 0, (1, 1, 1), (1, 1, 1), 0, struct.pack("<Q", 0x1000), (),
            {address: len(contents) for address, contents in memory.items()},
            lambda address, size: memory[address][:size], {},
        )  # fmt: skip

    if said:
        with pytest.raises(errors.ProfilerError, match=f"^The memory that k can reach is too large to save: {said}\\."):
            saved()
    else:
        assert saved().allocations == {0x1000: 64, 0x2000: 56}


def test_variables_of_a_code_object() -> None:
    assert set(snapshot.variable_symbols(gpulab.compile(SOURCE).elf)) == {"factor", "first"}
    data = {  # binding, type, bytes, section
        "one": ("globl", "object", 4, ".data"), "two": ("weak", "object", 8, ".data"),
        "untyped": ("globl", "notype", 4, ".data"), "empty": ("globl", "object", 0, ".data"),
        "constant": ("globl", "object", 4, ".rodata"), "code": ("globl", "function", 4, ".text"),
        "own": ("local", "object", 4, ".data"),
    }  # fmt: skip
    text = '.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n' + "".join(
        f"{section}\n.{binding} {name}\n.type {name},@{kind}\n{name}:\n.zero {max(size, 4)}\n.size {name}, {size}\n"
        for name, (binding, kind, size, section) in data.items()
    )
    assert set(snapshot.variable_symbols(gpulab.compile(text, language="asm").elf)) == {"one", "two"}


# ---- the whole way


@pytest.fixture
def real(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """The provider for ROCm with the virtual library in place of ROCm's, and the stand-in for rocprofv3."""
    program = tmp_path / "rocprofv3"
    stand_in = str(ROOT / "tests" / "providers" / "fake_rocprofv3.py")
    program.write_text(f'#!{sys.executable}\nimport runpy\nrunpy.run_path({stand_in!r}, run_name="__main__")\n')
    program.chmod(0o755)
    monkeypatch.setenv("GPULAB_ROCPROFV3", str(program))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    given(monkeypatch, RocmProvider(providers.selected().binding))
    with gpulab.using(getattr(request, "param", "gfx942")):
        yield gpulab.device().arch


def linked_list(module: gpulab.Module, values: list[float]) -> list[gpulab.DeviceArray]:
    """Nodes in allocations of their own, the last one leading back to the first; module.first is the first."""
    nodes = [gpulab.zeros(2, "uint64") for _ in values]
    for i, (node, value) in enumerate(zip(nodes, values, strict=True)):
        raw = struct.pack("<fIQ", value, 0, nodes[(i + 1) % len(nodes)].address)
        providers.copy_to_device(providers.selected(), node.address, raw)
    for name, value in (("first", struct.pack("<Q", nodes[0].address)), ("factor", struct.pack("<f", 3.0))):
        providers.copy_to_device(providers.selected(), module.variable(name).address, value)
    return nodes


NAMES = ("SQ_WAVES", "SQ_INSTS_VALU", "SQ_INSTS_SMEM", "valu_per_wave")


@pytest.mark.parametrize("real", ["gfx942", "gfx1100"], indirect=True)
def test_launches_are_repeated_under_the_profiler(real: str, tmp_path: Path) -> None:
    """Two launches with pointers in memory and in variables: the counters are those of a direct profile."""
    module = gpulab.compile(SOURCE)
    nodes = linked_list(module, [1.0, 2.0, 4.0])
    out, x = gpulab.zeros(64), gpulab.to_device(np.ones(1000, "float32"))
    with gpulab.profile(*NAMES) as run:
        module.walk[1, 64](gpulab.Pointer(nodes[0].address, "uint8"), out, 6)
        module.add[1, 128](gpulab.zeros(128), x, gpulab.Pointer(x.address + 4000, "float32"))
    gpulab.synchronize()
    assert out.to_host()[5] == 3.0 * 14.0 + 1.0
    assert [launch.kernel for launch in run] == ["walk", "add"]
    assert not run[0].time_is_modelled
    assert "measured" in str(run.table(0))
    assert os.listdir(tmp_path) == ["rocprofv3"], "what was saved is removed"
    measured = [dict(launch.counters) for launch in run]
    ratio = run.metric("valu_per_wave", 0)

    with pytest.MonkeyPatch.context() as again:
        given(again, VirtualProvider(providers.selected().binding))
        with gpulab.using(real), gpulab.profile() as direct:
            module.walk[1, 64](gpulab.Pointer(nodes[0].address, "uint8"), out, 6)
            module.add[1, 128](gpulab.zeros(128), x, gpulab.Pointer(x.address + 4000, "float32"))
    for found, launch in zip(measured, direct, strict=True):
        assert set(found) >= {"SQ_WAVES", "SQ_INSTS_VALU", "SQ_INSTS_SMEM"}
        assert {name: launch.counters[name] for name in found} == found
    assert ratio == direct.metric("valu_per_wave", 0)


@pytest.mark.full
def test_memory_that_other_code_allocated_is_saved_too(real: str) -> None:
    """hip-python's own hipMalloc: gpulab asks HIP what the arguments point into."""
    from hip import hip

    address = int(ok(hip.hipMalloc(4096)))
    module = gpulab.compile(SOURCE)
    y, x = gpulab.Pointer(address, "float32"), gpulab.Pointer(address + 2048, "float32")
    with gpulab.profile("SQ_WAVES") as run:
        module.add[1, 64](y, x, gpulab.Pointer(address + 4096, "float32"))
    assert run.counters["SQ_WAVES"] == 1
    ok(hip.hipFree(address))


def test_a_group_that_is_refused_is_tried_name_by_name(real: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_LIMIT", "1")
    module = gpulab.compile(SOURCE)
    x = gpulab.zeros(64)
    with gpulab.profile("SQ_WAVES", "SQ_INSTS_VALU") as run:
        module.add[2, 64](x, x, x)
    assert run.counters["SQ_WAVES"] == 2
    assert run.counters["SQ_INSTS_VALU"] > 0


@pytest.mark.full
@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [("FAKE_EXIT", "3", "cannot open /dev/kfd"), ("FAKE_WITHOUT", "SQ_WAVES", "no value for SQ_WAVES")],
)
def test_failures_of_the_profiler(
    real: str, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, says: str
) -> None:
    monkeypatch.setenv(variable, value)
    module = gpulab.compile(SOURCE)
    x = gpulab.zeros(64)
    with pytest.raises(errors.ProfilerError, match=says) as caught:  # noqa: SIM117
        with gpulab.profile("SQ_WAVES"):
            module.add[1, 64](x, x, x)
    assert "--list-avail" in str(caught.value)


def test_a_real_gpu_without_a_profiler(real: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Named counters cannot be had: that is said before anything runs. Without names the times are still measured."""
    monkeypatch.setattr(rocprof, "executable", lambda: None)
    with pytest.raises(errors.ProfilerError, match="rocprofv3, and it was not found"):  # noqa: SIM117
        with gpulab.profile("SQ_WAVES"):
            pytest.fail("the block ran")
    with pytest.raises(errors.CounterNotFound, match="a real GPU cannot give lanes_active_percent"):  # noqa: SIM117
        with gpulab.profile("lanes_active_percent"):
            pytest.fail("the block ran")
    module = gpulab.compile(SOURCE)
    x = gpulab.zeros(64)
    with gpulab.profile() as run:
        module.add[1, 64](x, x, x)
    assert run[0].time_us > 0
    assert dict(run[0].counters) == {}
    with pytest.raises(errors.CounterNotFound, match=r'ask for it: gpulab.profile\("SQ_WAVES"\)'):
        run.metric("SQ_WAVES")


# ---- the runner by itself


def save_fill(tmp_path: Path, value: int) -> Path:
    module = gpulab.compile("__global__ void fill(int* out, int value) { out[threadIdx.x + 64] = value; }")
    snapshot.save(
        tmp_path / "launch", module.elf, module.fill.signature.symbol, providers.current(), (1, 1, 1), (64, 1, 1), 0,
        struct.pack("<Qi", 0x1000, value), (), {0x1000: 4 * value}, lambda address, size: bytes(size), {},
    )  # fmt: skip
    return tmp_path / "launch"


def run_replay(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-m", "gpulab.providers.rocm.replay", *arguments], capture_output=True, text=True, timeout=120,
        check=False, env=environment,
    )  # fmt: skip


def test_the_runner_as_a_program(tmp_path: Path) -> None:
    done = run_replay(LIBRARY, str(save_fill(tmp_path, 128)))
    assert (done.returncode, done.stderr) == (0, "")
    done = run_replay(LIBRARY)
    assert done.returncode == 2
    assert "usage" in done.stderr


def test_the_runner_says_how_it_is_called(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], [LIBRARY]):
        assert replay.main(arguments) == 2
        said = capsys.readouterr()
        assert said.err == "usage: python -m gpulab.providers.rocm.replay LIBRARY FOLDER...\n"
        assert said.out == ""


def test_the_runner_repeats_a_launch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert replay.main([LIBRARY, str(save_fill(tmp_path, 128))]) == 0
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "")


@pytest.mark.parametrize("room", [128, 100])  # of 100 integers the launch faults
def test_the_runner_gives_back_what_it_took(room: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    binding = library.through_ctypes(LIBRARY)
    given_back: list[str] = []
    usual = binding.call

    def call(name: str, *arguments: Any) -> Any:
        given_back.append(name)
        return usual(name, *arguments)

    monkeypatch.setattr(binding, "call", call)
    with contextlib.suppress(errors.GpulabError):
        replay.replay(binding, snapshot.load(save_fill(tmp_path, room)))
    assert [name for name in given_back if name in ("hipFree", "hipModuleUnload")] == ["hipFree", "hipModuleUnload"]


def test_the_runner_says_what_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """100 integers of room for indices 64 to 127: the repeated launch faults as the first one would have."""
    assert replay.main([LIBRARY, str(save_fill(tmp_path, 100))]) == 1
    said = capsys.readouterr().err
    assert "hipDeviceSynchronize failed while" in said
    assert "hipErrorIllegalAddress" in said
    assert replay.main([LIBRARY, str(tmp_path)]) == 1
    assert "no saved launch" in capsys.readouterr().err


def test_a_cooperative_launch_is_repeated_as_one(tmp_path: Path) -> None:
    module = gpulab.compile("""
#include <hip/hip_cooperative_groups.h>
__global__ void both(int* out) {
    atomicAdd(out, 1);
    cooperative_groups::this_grid().sync();
    if (*out != 256) __builtin_trap();
}
""")
    saved = snapshot.save(
        tmp_path / "launch", module.elf, module.both.signature.symbol, providers.current(), (4, 1, 1), (64, 1, 1), 0,
        struct.pack("<Q", 0x1000), (0,), {0x1000: 64}, lambda address, size: bytes(size), {},
    )  # fmt: skip
    replay.replay(library.through_ctypes(LIBRARY), saved)


@pytest.mark.parametrize("cooperative", [False, True])
def test_the_calls_of_a_repeated_launch(cooperative: bool, tmp_path: Path) -> None:
    """Memory and variables are filled, pointers turned to the copies; all is given back at the end, even after a fault.

    The library here gives the same address for each allocation.
    """
    memory = {0x1000: struct.pack("<2Q", 0x1008, 7), 0x2000: b""}
    offsets = (0,) if cooperative else ()
    saved = snapshot.save(
        tmp_path / "launch", b"elf", "k", 1, (3, 2, 1), (64, 1, 1), 32, struct.pack("<Q", 0x1008), offsets,
        {0x1000: 16, 0x2000: 0}, lambda address, size: memory.get(address, b"\7" * 8)[:size], {"v": (0x3000, 4)},
    )  # fmt: skip
    answers = {
        "hipModuleLoadData": (0, 5), "hipModuleGetFunction": (0, 9), "hipMalloc": (0, 0x7000),
        "hipModuleGetGlobal": (0, 0x8000, 4),
    }  # fmt: skip

    class Noting(Table):
        def call(self, name: str, *words: int | bytes) -> tuple[int, ...]:
            if name == "hipMemcpy":
                words = words[0], ctypes.string_at(int(words[1]), int(words[2])), *words[2:]
            return super().call(name, *words)

    start = ("launch", 9, (3, 2, 1), (64, 1, 1), 32, 0)
    for fault in (0, 700):
        binding: Any = Noting(**answers, hipDeviceSynchronize=(fault,))
        if fault:
            said = r"^hipDeviceSynchronize failed while k was repeated \(hipError700: text of 700\)\.$"
            with pytest.raises(errors.ProfilerError, match=said):
                replay.replay(binding, saved)
        else:
            replay.replay(binding, saved)
        select, load, *asked = binding.asked
        assert (select, load[0]) == (("hipSetDevice", 1), "hipModuleLoadData")
        if cooperative:
            place = next(place for place, each in enumerate(asked) if each[0] == "hipModuleLaunchCooperativeKernel")
            assert asked[place][1:-1] == (9, 3, 2, 1, 64, 1, 1, 32, 0)
            asked[place] = start
        assert [each for each in asked if each[0] != "hipGetLastError"] == [
            ("hipModuleGetFunction", 5, b"k"),
            ("hipMalloc", 16),
            ("hipMemcpy", 0x7000, struct.pack("<2Q", 0x7008, 7), 16, 1),
            ("hipModuleGetGlobal", 5, b"v"),
            ("hipMemcpy", 0x8000, b"\7" * 4, 4, 1),
            start,
            ("hipDeviceSynchronize",),
            ("hipFree", 0x7000),
            ("hipModuleUnload", 5),
        ]
        assert struct.unpack("<I", binding.argument[:4]) == (0x7008,)
