"""Kernels whose accesses do not depend on what lies in memory (translate/steady.py): the sample of a launch, from which
its time is modelled, is taken from an equal one before it, and only then."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import gpulab
from gpulab.virtual_gpu import dispatch, isa
from gpulab.virtual_gpu.isa import assembly
from gpulab.virtual_gpu.machine.device import VirtualDevice
from gpulab.virtual_gpu.machine.finished import Finished
from gpulab.virtual_gpu.translate.decode import Decoder
from gpulab.virtual_gpu.translate.function import translate

SOURCE = r"""
#define I int i = blockIdx.x * blockDim.x + threadIdx.x
struct Sizes { int n; int offsets[8]; };
__constant__ int table[64];
extern "C" {
__global__ void copied(int n, const int* x, int* y) { I; if (i < n) y[i] = x[i]; }
__global__ void strides(int n, const int* x, int* y) {
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
__global__ void turned(int n, const int* x, int* y) {
    __shared__ int tile[256];
    I; tile[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    for (int step = 128; step; step /= 2) {
        if (threadIdx.x < step) tile[threadIdx.x] += tile[threadIdx.x + step];
        __syncthreads();
    }
    y[i] = tile[0];
}
__global__ void numbers(int n, const int* x, int* y) {  // a loaded value chooses between values, not between places
    I; int v = x[i]; y[i] = (v > n ? v : n) * 3;
}
__global__ void in_arguments(Sizes sizes, const int* x, int* y) { I; y[i] = x[i + sizes.offsets[blockIdx.x % 8]]; }
__global__ void added(int n, const int* x, int* y) { I; atomicAdd(&y[i % 8], x[i]); }
__global__ void again(int n, const int* x, int* y) {  // a register is taken again for what was not loaded
    I; int v = 0;
    for (int k = 0; k < n; ++k) { if (i > k) v += x[k]; y[i] = v; }
}

__global__ void gathered(int n, const int* x, int* y) { I; y[i] = x[x[i] & 255]; }
__global__ void decided(int n, const int* x, int* y) { I; if (x[i] > 0) y[i] = 1; }
__global__ void as_often(int n, const int* x, int* y) { I; int k = x[i] & 15; while (k-- > 0) y[i] += k; }
__global__ void uniform(int n, const int* x, int* y) { I; if (x[0] > 0) y[i] = x[i + 64]; }
__global__ void through_lds(int n, const int* x, int* y) {
    __shared__ int tile[256];
    tile[threadIdx.x] = x[threadIdx.x] & 255;
    __syncthreads();
    I; y[tile[255 - threadIdx.x]] = i;
}
__global__ void through_table(int n, const int* x, int* y) { I; y[i] = x[i + table[blockIdx.x]]; }
__global__ void taken(int n, const int* x, int* y) { y[atomicAdd(&y[0], 1) & 255] = 1; }
__global__ void by_clock(int n, const int* x, int* y) { I; y[clock64() & 255] = i; }
__global__ void by_others(int n, const int* x, int* y) { I; y[__shfl(x[i], 3) & 255] = i; }
__device__ __attribute__((noinline)) int called(const int* x, int i) { return x[i]; }
__global__ void calls(int n, const int* x, int* y) { I; y[i] = called(x, i); }
}
"""
STEADY = ["copied", "strides", "turned", "numbers", "in_arguments", "added", "again"]
OTHERS = [
    "gathered", "decided", "as_often", "uniform", "through_lds", "through_table", "taken", "by_clock", "by_others",
    "calls",
]  # fmt: skip


@pytest.fixture(scope="module", params=["gfx942", "gfx1100"])
def module(request: pytest.FixtureRequest) -> Iterator[gpulab.Module]:
    with gpulab.using(f"virtual:{request.param}"):
        yield gpulab.compile(SOURCE)


@pytest.mark.parametrize("name", STEADY + OTHERS)
def test_which_kernels_are_steady(module: gpulab.Module, name: str) -> None:
    program = assembly.parse(module.assembly)
    kernel = program.kernels[name]
    mode = dispatch.mode_register(kernel, program.arch)
    made = translate(program, kernel, Decoder(program, isa.table(program.arch)), mode)
    assert made.steady.get() == (name in STEADY)


@pytest.fixture
def finished(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Finished, bool]]:
    """Launches from now on, and whether each was observed."""
    found: list[tuple[Finished, bool]] = []
    run = VirtualDevice._run

    def noted(self, plan, *arguments):  # type: ignore[no-untyped-def]
        done = run(self, plan, *arguments)
        found.append((done, bool(plan.launch.observer)))
        return done

    monkeypatch.setattr(VirtualDevice, "_run", noted)
    return found


def argument(name: str, n: int = 200) -> object:
    return np.array([n, *range(8)], np.int32).tobytes() if name == "in_arguments" else n


@pytest.mark.parametrize("name", STEADY)
def test_other_contents_leave_the_same_sample(
    module: gpulab.Module, name: str, finished: list[tuple[Finished, bool]]
) -> None:
    random = np.random.default_rng(4)
    x, y = gpulab.zeros(4096, "int32"), gpulab.zeros(4096, "int32")
    for _ in range(3):
        x.copy_from(random.integers(-(2**31), 2**31, 4096).astype(np.int32))
        for done, _ in finished:
            done.plan.sampled = None  # as if none had been before
        module[name][8, 256](argument(name), x, y)
    assert len({done.sample for done, _ in finished}) == 1
    assert all(observed for _, observed in finished)
    module[name][8, 256](argument(name), x, y)
    assert not finished[-1][1]
    assert finished[-1][0].sample == finished[0][0].sample
    assert finished[-1][0].time() == finished[-2][0].time()


def test_a_sample_is_for_the_same_arguments_and_allocations(
    module: gpulab.Module, finished: list[tuple[Finished, bool]]
) -> None:
    x, y = gpulab.zeros(4096, "int32"), gpulab.zeros(4096, "int32")
    for n, observed in ((200, True), (200, False), (100, True), (200, True), (200, False)):
        module.copied[8, 256](n, x, y)
        assert finished[-1][1] is observed
    z = gpulab.zeros(4096, "int32")
    module.copied[8, 256](200, x, y)
    assert finished[-1][1]
    module.copied[8, 256](200, x, z)
    assert finished[-1][1]
    module.copied[4, 256](200, x, z)
    assert finished[-1][1]


@pytest.mark.parametrize("name", ["gathered", "decided"])
def test_what_depends_on_memory_is_observed_each_time(
    module: gpulab.Module, name: str, finished: list[tuple[Finished, bool]]
) -> None:
    x, y = gpulab.zeros(4096, "int32"), gpulab.zeros(4096, "int32")
    for contents in (np.zeros(4096), np.arange(4096)):
        x.copy_from(contents.astype(np.int32))
        module[name][8, 256](0, x, y)
    assert [observed for _, observed in finished] == [True, True]
    assert finished[0][0].sample != finished[1][0].sample


def test_after_a_fault_nothing_is_known(module: gpulab.Module, finished: list[tuple[Finished, bool]]) -> None:
    x, y = gpulab.zeros(100, "int32"), gpulab.zeros(4096, "int32")
    for _ in range(2):
        with pytest.raises(gpulab.KernelFault):
            module.copied[8, 256](200, x, y)
        assert finished[-1][1]
