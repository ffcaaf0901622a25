"""Checked launches: planted faults are found with kind, lines and text; near-misses run clean."""

from __future__ import annotations

import contextlib
import gc
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gpulab
from gpulab import providers
from gpulab.providers.rocm.provider import RocmProvider
from tests.checked.harness import Case, cases, run, table
from tests.providers.given import given


@pytest.mark.parametrize(("arch", "case"), table("planted.hip"), ids=str)
def test_a_planted_fault_is_found(arch: str, case: Case) -> None:
    error = run(case, arch)
    assert error is not None, "nothing was found"
    fault = error.fault
    assert fault is not None
    assert fault.kind == case.kind, str(error)
    lines = {fault.where.line} if fault.where else set()
    if fault.other is not None and fault.other.where is not None:
        lines.add(fault.other.where.line)
    if case.lines:
        assert lines == set(case.lines), str(error)
    for word in case.settings.get("text", "").split(","):
        assert word in str(error)


@pytest.mark.parametrize(("arch", "case"), table("clean.hip"), ids=str)
def test_a_near_miss_is_not_reported(arch: str, case: Case) -> None:
    assert run(case, arch) is None


def test_only_inside_the_block() -> None:
    with gpulab.using("virtual:gfx942"):
        kernel = gpulab.compile("__global__ void f(float* x) { x[0] = threadIdx.x; }")["f"]
        out = gpulab.zeros(1, "float32")
        kernel[1, 64](out)
        with gpulab.checked(), pytest.raises(gpulab.CheckedFault):
            kernel[1, 64](out)
        kernel[1, 64](out)
        assert out.to_host()[0] == 63


MESSAGE = """\
Kernel reversed_without_barrier has a data race in shared memory: two waves of a block use the same 4 bytes, and \
no synchronisation orders them.
  write of 4 bytes at byte 512 of the block's shared memory
    planted.hip, line 10:  tile[t] = t;  // <1>
    in block (0, 0, 0), thread (128, 0, 0), wave 2, lane 0
    at instruction ds_write_b32 v0, v1
  the other access, a read
    planted.hip, line 11:  out[t] = tile[255 - t];  // <2>
    in block (0, 0, 0), thread (127, 0, 0), wave 1, lane 63
    at instruction ds_read_b32 v1, v1 offset:1020
Why: the waves of a block run at their own speed: from line 10 to line 11 there is no __syncthreads() on the way.
Try: __syncthreads() between the two lines, reached by all threads of the block; in a loop also before the memory is \
written again."""


def _case(name: str) -> Case:
    return next(case for case in cases("planted.hip") if case.kernel == name)


TURNS = """
__global__ void turns(float* out, int n) {
  __shared__ float tile[128];
  float sum = 0;
  for (int i = 0; i < n; i++) {
    BEFORE
    tile[threadIdx.x] = i + threadIdx.x;
    BETWEEN
    sum += tile[127 - threadIdx.x];
  }
  out[threadIdx.x] = sum;
}
"""


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize(
    ("before", "between", "said"),
    [
        ("", "__syncthreads();", "from line 9 round to line 7 of the next turn"),
        ("__syncthreads();", "", "from line 7 to line 9"),
        ("", "", "between line "),
    ],
)
def test_a_race_names_the_way_that_has_no_barrier(arch: str, before: str, between: str, said: str) -> None:
    source = TURNS.replace("BEFORE", before).replace("BETWEEN", between)
    with gpulab.using(arch), gpulab.checked():
        kernel = gpulab.compile(source)["turns"]
        with pytest.raises(gpulab.CheckedFault) as found:
            kernel[1, 128](gpulab.zeros(128, "float32"), 5)
    assert f"speed: {said}" in str(found.value)


FILL = """
struct Padded { double a; char b; };
__global__ void fill(float* x, int n) { int i = threadIdx.x; if (i < n) x[i] = i; }
__global__ void pad(Padded* x) { x[threadIdx.x].a = 1; x[threadIdx.x].b = 2; }
"""


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_a_copy_of_what_nobody_wrote(arch: str) -> None:
    with gpulab.using(arch):
        module = gpulab.compile(FILL)
        with gpulab.checked():
            untouched = gpulab.empty(64, "float32")
            with pytest.raises(gpulab.CheckedFault, match=r"A copy to the host reads .* 256 bytes at byte 0"):
                untouched.to_host()
            part = gpulab.empty(64, "float32")
            module.fill[1, 64](part, 60)
            with pytest.raises(gpulab.CheckedFault, match="16 bytes at byte 240 of an allocation of 256 bytes"):
                part.to_host()
            whole = gpulab.empty(64, "float32")
            module.fill[1, 64](whole, 64)
            assert whole.to_host()[63] == 63
            padded = gpulab.empty(16 * 32, "uint8")
            module.pad[1, 32](padded)
            assert padded.to_host()[8] == 2
            assert gpulab.zeros(8).to_host().sum() == 0
        gpulab.empty(64, "float32").to_host()


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_a_kernel_that_only_loops(arch: str) -> None:
    """It accesses no memory at all."""
    with gpulab.using(arch), gpulab.checked():
        kernel = gpulab.compile("__global__ void spin(int* p) { while (true) {} }")["spin"]
        with pytest.raises(gpulab.CheckedFault, match="waits for ever"):
            kernel[2, 64](gpulab.zeros(4, "int32"))


def test_the_whole_message() -> None:
    """Thread 127 of wave 1 reads element 128, before wave 2's first thread writes it."""
    assert str(run(_case("reversed_without_barrier"), "gfx942")) == MESSAGE


def test_runs_repeat_exactly() -> None:
    case = _case("stencil_in_place")
    first, second = run(case, "gfx1100"), run(case, "gfx1100")
    assert first is not None
    assert second is not None
    assert first.fault is not None
    assert second.fault is not None
    for name in ("kind", "where", "instruction", "workgroup", "wave", "lane", "bytes", "other"):
        assert getattr(first.fault, name) == getattr(second.fault, name)


@pytest.mark.parametrize("kind", sorted({case.kind for case in cases("planted.hip")}))
def test_memory_is_given_back(kind: str) -> None:
    from gpulab.virtual_gpu import runtime

    case = next(case for case in cases("planted.hip") if case.kind == kind)
    arena = runtime.instance().arena
    error = run(case, "gfx942")
    del error
    gc.collect()
    before = arena.allocated
    error = run(case, "gfx942")
    assert error is not None
    del error
    gc.collect()
    assert arena.allocated <= before


def test_a_freed_array_and_a_constant_and_null() -> None:
    source = """__constant__ float fixed[4] = {1, 2, 3, 4};
    __global__ void use(float* x) { x[threadIdx.x] = fixed[threadIdx.x % 4]; }
    __global__ void spoil(volatile size_t* keep) { *keep = (size_t)fixed; *(volatile float*)*keep = 1; }"""
    with gpulab.using("virtual:gfx942"), gpulab.checked():
        module = gpulab.compile(source)
        x = gpulab.zeros(64, "float32")
        module.use[1, 64](x)
        address = x.address
        del x
        gc.collect()
        for given, kind in ((gpulab.Pointer(address), "freed"), (None, "null")):
            with pytest.raises(gpulab.MemoryFault) as caught:
                module.use[1, 64](given)
            assert caught.value.fault is not None
            assert caught.value.fault.kind == kind
        with pytest.raises(gpulab.MemoryFault) as caught:
            module.spoil[1, 1](gpulab.zeros(1, "uint64"))
        assert caught.value.fault is not None
        assert caught.value.fault.kind == "read-only"


def test_what_counts_as_written() -> None:
    source = "__global__ void read(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }"
    with gpulab.using("virtual:gfx942"):
        read = gpulab.compile(source)["read"]
        out = gpulab.zeros(64, "float32")

        def reads(x: gpulab.DeviceArray) -> bool:
            """Whether a checked kernel may read it."""
            with gpulab.checked(), contextlib.suppress(gpulab.CheckedFault):
                read[1, 64](x, out)
                return True
            return False

        x = gpulab.empty(64, "float32")
        assert not reads(x)
        x.copy_from(np.zeros(64, "float32"))
        assert reads(x)
        y = gpulab.empty(64, "float32")
        providers.copy_to_device(providers.selected(), y.address, np.zeros(63, "float32"))
        assert not reads(y)
        providers.selected().memset(y.address + 252, 0, 4)
        assert reads(y)
        z = gpulab.empty(64, "float32")
        providers.selected().copy_device(z.address, y.address, 256)
        assert reads(z)
        # What kernels wrote in launches that were not checked is not known.
        w = gpulab.empty(64, "float32")
        read[1, 64](x, w)
        assert reads(w)
        # In checked launches it is, from one launch to the next.
        u, v = gpulab.empty(64, "float32"), gpulab.empty(64, "float32")
        with gpulab.checked():
            read[1, 64](x, u)
        assert reads(u)
        assert not reads(v)


def test_launches_are_ordered() -> None:
    """Two buffers swap roles between launches; streams follow each other by an event."""
    source = """__global__ void step(const float* x, float* y) {
        int i = blockIdx.x * 64 + threadIdx.x; y[i] = x[255 - i] + 1; }"""
    with gpulab.using("virtual:gfx1100"), gpulab.checked():
        step = gpulab.compile(source)["step"]
        x, y = gpulab.zeros(256, "float32"), gpulab.empty(256, "float32")
        for _ in range(4):
            step[4, 64](x, y)
            x, y = y, x
        first, second, event = gpulab.Stream(), gpulab.Stream(), gpulab.Event()
        step[4, 64, 0, first](x, y)
        event.record(first)
        providers.selected().stream_wait_event(second.handle, event._handle)
        step[4, 64, 0, second](y, x)
        assert (x.to_host() == 6).all()


def test_profile_and_check_together() -> None:
    source = "__global__ void twice(float* x) { x[threadIdx.x] *= 2; }"
    with gpulab.using("virtual:gfx942"):
        twice = gpulab.compile(source)["twice"]
        x = gpulab.zeros(64, "float32")
        with gpulab.profile() as plain:
            twice[1, 64](x)
        with gpulab.checked(), gpulab.profile() as run:
            twice[1, 64](x)
        assert dict(run.launches[0].counters) == dict(plain.launches[0].counters)
        assert run.launches[0].lines == plain.launches[0].lines


@pytest.mark.parametrize(
    ("grid", "block", "lds", "words"),
    [
        (0, 64, 0, ["0"]),
        (1, 0, 0, ["0"]),
        (1, 2048, 0, ["1,024", "2,048"]),
        (1, 64, 1 << 20, ["65,536", "1,048,576"]),
        (1 << 31, 64, 0, ["2,147,483,648", "2,147,483,647"]),
    ],
)
def test_bad_launches_name_limit_and_value(grid: int, block: int, lds: int, words: list[str]) -> None:
    with gpulab.using("virtual:gfx942"), gpulab.checked():
        kernel = gpulab.compile("__global__ void f(float* x) { x[0] = 1; }")["f"]
        x = gpulab.zeros(1, "float32")
        with pytest.raises(gpulab.LaunchError) as caught:
            kernel[grid, block, lds](x)
    for word in words:
        assert word in str(caught.value)


def test_a_real_gpu_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as alone:  # conftest.py's limit ends with the virtual devices
        given(alone, RocmProvider(providers.selected().binding))
        with pytest.raises(gpulab.HipError, match="cannot run checked launches"), gpulab.checked():
            pytest.fail("the block ran")


# At -O0 variables lie in memory, and Clang leaves more of its own traces.
UNOPTIMISED = [
    "reversed_without_barrier", "histogram_read_early", "lanes_write_one_element", "stencil_in_place",
    "global_never_written", "shared_never_written", "barrier_in_a_condition", "waves_at_different_barriers",
    "flag_that_nobody_sets", "shuffle_in_a_condition", "local_array_never_written", "beyond_the_end",
    "flag_read_without_acquire", "flag_set_without_release", "fences_for_the_block_only", "shared_flag_without_order",
    "spin_lock_without_acquire", "spin_lock_without_release", "block_scope_atomic_across_blocks", "lock_order",
    "lock_taken_by_a_lane_of_the_wave",
]  # fmt: skip


@pytest.mark.parametrize("name", UNOPTIMISED)
def test_a_planted_fault_is_found_without_optimisation(name: str) -> None:
    case = _case(name)
    error = run(case, "gfx942" if len(name) % 2 else "gfx1100", ("-O0",))
    assert error is not None
    assert error.fault is not None
    assert error.fault.kind == case.kind, str(error)
    assert error.fault.where is not None
    assert error.fault.where.line in case.lines


@pytest.mark.parametrize("case", cases("clean.hip"), ids=str)
def test_a_near_miss_is_not_reported_without_optimisation(case: Case) -> None:
    assert run(case, "gfx942" if len(case.kernel) % 2 else "gfx1100", ("-O0",)) is None


@pytest.mark.parametrize("case", cases("clean.hip"), ids=str)
def test_numbers_that_run_out_invent_nothing(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stretches for three switches between waves only: what came before counts as ordered, LDS stays written."""
    monkeypatch.setattr("gpulab.virtual_gpu.machine.checking.SEGMENTS", 3)
    assert run(case, "gfx1100") is None


ELSEWHERE = """
import sys
import gpulab
from tests.checked.harness import cases, run
gpulab.set_limit(30_000_000)
arch, names = sys.argv[1], sys.argv[2].split(",")
for case in (*cases("planted.hip"), *cases("clean.hip")):
    if case.kernel in names:
        error = run(case, arch)
        print(case.kernel, error.fault.kind if error is not None else "clean")
"""


@pytest.mark.parametrize("arch", ["gfx90a", "gfx1030"])
def test_fences_of_other_architectures(arch: str) -> None:
    """Each has instructions of its own for them; on gfx90a a release leaves only waits."""
    expected = {
        "flag_read_without_acquire": "race", "flag_set_without_release": "race", "fences_for_the_block_only": "race",
        "spin_lock_without_release": "race", "last_block": "clean", "rel_acq_agent": "clean", "std_fence": "clean",
        "grid_sync": "clean", "mutex_by_exchange": "clean",
    }  # fmt: skip
    environment = {**os.environ, "GPULAB_DEVICES": arch, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", ELSEWHERE, arch, ",".join(expected)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert dict(line.split(maxsplit=1) for line in done.stdout.splitlines()) == expected


def test_a_scalar_load_names_no_lane() -> None:
    """One block waits for the other without an acquire, and Clang reads the data by a scalar load."""
    error = run(_case("flag_read_without_acquire"), "gfx1100")
    assert error is not None
    assert error.fault is not None
    assert error.fault.instruction.strip().startswith("s_load")
    assert error.fault.lane is None
    assert error.fault.lack == "acquire"
    assert error.fault.flag is not None
    assert "__hip_atomic_load(flag" in error.fault.flag.text
