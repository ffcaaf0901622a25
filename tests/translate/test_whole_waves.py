"""Runs that are emitted for a whole wave, too: results, ends of arrays, order of loads and stores, faults to the lane;
waves of a workgroup that follow each other at barriers and ends."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import gpulab
from gpulab.virtual_gpu import dispatch, isa
from gpulab.virtual_gpu.isa import assembly
from gpulab.virtual_gpu.machine import loading
from gpulab.virtual_gpu.translate.decode import Decoder
from gpulab.virtual_gpu.translate.function import translate

SOURCE = r"""
#define I int i = blockIdx.x * blockDim.x + threadIdx.x
extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) { I; if (i < n) y[i] = fmaf(a, x[i], y[i]); }
extern "C" __global__ void spread(long long step, int n, const int* x, int* y) { I; y[i] = x[i * step + n]; }
extern "C" __global__ void filled(int* y) { I; y[i] = i; }
extern "C" __global__ void unsigned_index(unsigned n, const short* x, short* y) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + x[0];
}
extern "C" __global__ void wide_index(long long start, const signed char* x, int* y) { I; y[i] = x[start + i]; }
extern "C" __global__ void wrapped(unsigned start, const int* x, int* y) { I; y[i] = x[start + i & 0xffffffffu]; }
extern "C" __global__ void backwards(int n, const int* x, int* y) { I; if (i < n) y[n - 1 - i] = x[i]; }
extern "C" __global__ void strided(int n, const int* x, int* y) { I; if (i < n) y[2 * i] = x[3 * i] - x[i / 2]; }
extern "C" __global__ void gathered(int n, const int* at, const int* x, int* y) { I; if (i < n) y[i] = x[at[i]]; }
// Each wave reads all of its lanes before it stores: an array onto itself, one further.
extern "C" __global__ void moved(int n, int* x) { int i = threadIdx.x; if (i < n) x[i + 1] = x[i]; }
extern "C" __global__ void in_lds(const int* x, int* y) {
    __shared__ int tile[257];
    I; int t = threadIdx.x;
    tile[t] = x[i];
    __syncthreads();
    int mine = tile[t] + tile[255 - t] * 3;
    __syncthreads();
    tile[t + 1] = mine;
    __syncthreads();
    y[i] = tile[t + 1] + (t ? tile[t] : 0);
}
// Waves that end early, and barriers of which some waves pass more than others have instructions between.
extern "C" __global__ void barriers(int rounds, const int* x, int* y) {
    __shared__ int tile[256];
    I; int t = threadIdx.x, sum = 0;
    if (t >= 192) { y[i] = -t; return; }
    for (int k = 0; k < rounds; ++k) {
        tile[t] = x[i] + k + sum;
        __syncthreads();
        if (t < 64) for (int j = 0; j < k; ++j) sum += tile[(t + j * 64) % 192];
        else sum ^= tile[191 - t];
        __syncthreads();
    }
    y[i] = sum;
}
"""


@pytest.fixture(scope="module", params=["gfx942", "gfx1100"])
def module(request: pytest.FixtureRequest) -> Iterator[gpulab.Module]:
    """Its kernels are optimised before they run: only then are there whole waves."""
    with pytest.MonkeyPatch.context() as patch, gpulab.using(f"virtual:{request.param}"):
        patch.setattr(loading, "QUICK_SECONDS", 0.0)
        yield gpulab.compile(SOURCE)


def ints(count: int, dtype: str = "int32") -> np.ndarray:
    return np.random.default_rng(5).integers(-100, 100, count).astype(dtype)


@pytest.mark.parametrize("n", [1, 63, 64, 1000, 1024])
def test_consecutive_elements_up_to_the_end(module: gpulab.Module, n: int) -> None:
    x, y = ints(n, "float32"), ints(n, "float32")
    out = gpulab.to_device(y)
    module.saxpy[4, 256](n, 2.0, gpulab.to_device(x), out)
    assert (out.to_host() == 2 * x + y).all()


def test_other_sizes_and_indices(module: gpulab.Module) -> None:
    x = ints(1024, "int16")
    y = gpulab.zeros(1024, "int16")
    module.unsigned_index[4, 256](1000, gpulab.to_device(x), y)
    assert (y.to_host()[:1000] == x[:1000] + x[0]).all()
    assert not y.to_host()[1000:].any()
    x, y = ints(1030, "int8"), gpulab.zeros(1024, "int32")
    module.wide_index[4, 256](5, gpulab.to_device(x), y)
    assert (y.to_host() == x[5:1029]).all()


def test_an_index_that_wraps_within_a_wave(module: gpulab.Module) -> None:
    x, y = ints(1024), gpulab.zeros(64, "int32")
    given = gpulab.to_device(x)
    module.wrapped[1, 64](0, given, y)
    assert (y.to_host() == x[:64]).all()
    with pytest.raises(gpulab.KernelFault) as caught:
        module.wrapped[1, 64](2**32 - 3, given, y)
    assert caught.value.fault.thread == (0, 0, 0)


def test_other_orders(module: gpulab.Module) -> None:
    x = ints(3072)
    given, y = gpulab.to_device(x), gpulab.zeros(2048, "int32")
    module.backwards[4, 256](1000, given, y)
    assert (y.to_host()[:1000] == x[999::-1]).all()
    module.strided[4, 256](1024, given, y)
    assert (y.to_host()[::2] == x[::3] - np.repeat(x[:512], 2)).all()
    at = np.random.default_rng(1).permutation(1024).astype(np.int32)
    module.gathered[4, 256](1024, gpulab.to_device(at), given, y)
    assert (y.to_host()[:1024] == x[at]).all()


@pytest.mark.parametrize("step", [0, 1, 2, 7, 64, -1, -5])
def test_lanes_that_are_evenly_apart(module: gpulab.Module, step: int) -> None:
    x, y = ints(65536), gpulab.zeros(1024, "int32")
    start = 65535 if step < 0 else 0
    for _ in range(2):
        module.spread[4, 256](step, start, gpulab.to_device(x), y)
        assert (y.to_host() == x[start + step * np.arange(1024)]).all()


@pytest.mark.parametrize(
    ("step", "start", "size", "lane"),
    [
        (3, 0, 2500, 834),
        (3, 0, 3069, 1023),
        (-1, 999, 4096, 1000),
        (1 << 24, 0, 4096, 1),
        (1 << 58, 0, 4096, 1),
        (-(1 << 30), 0, 4096, 1),
    ],
)
def test_the_first_lane_apart_that_is_beyond_an_array_is_named(
    module: gpulab.Module, step: int, start: int, size: int, lane: int
) -> None:
    x, y = gpulab.zeros(size, "int32"), gpulab.zeros(1024, "int32")
    for _ in range(2):
        with pytest.raises(gpulab.KernelFault) as caught:
            module.spread[4, 256](step, start, x, y)
        assert (caught.value.fault.workgroup[0], caught.value.fault.thread[0]) == divmod(lane, 256)


def test_a_wave_reads_before_it_stores(module: gpulab.Module) -> None:
    x = ints(65)
    given = gpulab.to_device(x)
    size = 64 if module.arch == "gfx942" else 32
    module.moved[1, size](64, given)
    assert (given.to_host()[1 : size + 1] == x[:size]).all()


def test_lds(module: gpulab.Module) -> None:
    x, y = ints(1024), gpulab.zeros(1024, "int32")
    module.in_lds[4, 256](gpulab.to_device(x), y)
    tiles = x.reshape(4, 256)
    mine = tiles + 3 * tiles[:, ::-1]
    before = np.concatenate([np.zeros((4, 1), np.int32), mine[:, :-1]], axis=1)
    assert (y.to_host().reshape(4, 256) == mine + before).all()


def test_waves_that_wait_and_end(module: gpulab.Module) -> None:
    x, y = ints(512), gpulab.zeros(512, "int32")
    module.barriers[2, 256](5, gpulab.to_device(x), y)
    expected = np.tile(-np.arange(256, dtype=np.int64), (2, 1))
    for block in range(2):
        own, sums = x[256 * block : 256 * block + 192].astype(np.int64), np.zeros(192, np.int64)
        for k in range(5):
            tile = own + k + sums
            low = sum((tile[(np.arange(64) + 64 * j) % 192] for j in range(k)), np.zeros(64, np.int64))
            sums = np.concatenate([sums[:64] + low, sums[64:] ^ tile[191 - np.arange(64, 192)]])
        expected[block, :192] = sums
    assert (y.to_host() == expected.reshape(-1)).all()


@pytest.mark.parametrize(("n", "thread"), [(1000, 232), (1024, 0)])
def test_the_first_lane_beyond_an_array_is_named(module: gpulab.Module, n: int, thread: int) -> None:
    x, y = gpulab.zeros(2048), gpulab.zeros(n)
    with pytest.raises(gpulab.KernelFault) as caught:
        module.saxpy[8, 256](2048, 2.0, x, y)
    fault = caught.value.fault
    assert fault.kind == "out of bounds"
    assert fault.workgroup == (n // 256, 0, 0)
    assert fault.thread == (thread, 0, 0)


def test_the_first_lane_that_stores_beyond_an_array_is_named(module: gpulab.Module) -> None:
    y = gpulab.zeros(1000, "int32")
    for _ in range(2):
        with pytest.raises(gpulab.KernelFault) as caught:
            module.filled[8, 256](y)
        assert caught.value.fault.workgroup == (3, 0, 0)
        assert caught.value.fault.thread == (232, 0, 0)
    assert (y.to_host()[:768] == np.arange(768)).all()


@pytest.mark.parametrize("name", ["saxpy", "unsigned_index", "wide_index", "wrapped", "moved"])
def test_addresses_that_go_up_evenly_are_not_compared(module: gpulab.Module, name: str) -> None:
    program = assembly.parse(module.assembly)
    kernel = program.kernels[name]
    mode = dispatch.mode_register(kernel, program.arch)
    made = translate(program, kernel, Decoder(program, isa.table(program.arch)), mode, lanes=16)
    assert "wave_done" in made.ir
    assert f"icmp eq <{program.wave_size} x " not in made.ir


def test_a_workgroup_has_a_number() -> None:
    """HW_ID: the modelled CU is that of the workgroup's number (isa/control.py)."""
    source = r"""
    extern "C" __global__ void place(unsigned* cu) {
        unsigned found;
        asm volatile("s_getreg_b32 %0, hwreg(HW_REG_HW_ID, 8, 4)" : "=s"(found));
        cu[blockIdx.x] = found;
    }
    """
    with gpulab.using("virtual:gfx942"):
        cu = gpulab.zeros(640, "uint32")
        gpulab.compile(source).place[640, 64](cu)
        assert (cu.to_host() == np.arange(640) // 32 % 10).all()
