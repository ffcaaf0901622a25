"""A kernel's first code is compiled quickly, and optimised while or after it runs: nothing else changes by that."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace

import numpy as np
import pytest

import gpulab
from gpulab import providers
from gpulab.virtual_gpu.machine import loading
from gpulab.virtual_gpu.translate import jit

SOURCE = r"""
extern "C" __global__ void turns(int n, int* y) {
    __shared__ int part[256];
    int t = threadIdx.x, value = blockIdx.x;
    for (int k = 0; k < n; ++k) {
        part[t] = value + k;
        __syncthreads();
        value = (part[(t + k) & 255] ^ k) * 5 + (t < (k & 127) ? 1 : 0);
        __syncthreads();
    }
    y[blockIdx.x * 256 + t] = value;
}
"""


def expected(blocks, n):
    t = np.arange(256)
    value = np.repeat(np.arange(blocks), 256).reshape(blocks, 256).astype(np.uint32)
    for k in range(n):
        value = ((value + np.uint32(k))[:, (t + k) & 255] ^ np.uint32(k)) * np.uint32(5) + (t < (k & 127))
        value = value.astype(np.uint32)
    return value.view(np.int32).ravel()


@pytest.fixture
def compiled(monkeypatch):
    """How each object was compiled, in order: "quick" or "optimised". Nothing is kept on disk."""
    ways = []
    whole = jit.compile_object

    def noted(source, *, optimise=True, quick=False, keep=True):
        if optimise:  # not the machine's own code
            ways.append("quick" if quick else "optimised")
        return whole(source, optimise=optimise, quick=quick, keep=False)

    monkeypatch.setattr(jit, "compile_object", noted)
    monkeypatch.setattr(jit, "is_kept", lambda source: False)
    return ways


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("way", [contextlib.nullcontext, gpulab.profile, gpulab.checked])
def test_waves_go_on_in_optimised_code_in_the_middle_of_a_launch(arch, way, compiled, monkeypatch):
    blocks, n = (40, 4000) if way is contextlib.nullcontext else (4, 2000)
    results, counted = [], []
    for seconds in (1e6, 1e-9):
        monkeypatch.setattr(loading, "QUICK_SECONDS", seconds)
        compiled.clear()
        with gpulab.using(f"virtual:{arch}"):
            kernel = gpulab.compile(SOURCE)["turns"]
            y = gpulab.zeros(blocks * 256, "int32")
            with way() as run:
                kernel[blocks, 256](n, y)
            results.append(y.to_host())
            counted.append(run.launches[0].counters if way is gpulab.profile else None)
        assert compiled == (["quick"] if seconds > 1 else ["quick", "optimised"])
    assert np.array_equal(results[0], expected(blocks, n))
    assert np.array_equal(results[1], results[0])
    assert counted[1] == counted[0]


def test_short_launches_are_optimised_when_there_were_many(compiled, monkeypatch):
    monkeypatch.setattr(loading, "QUICK_SECONDS", 1e-5)
    kernel = gpulab.compile(SOURCE)["turns"]
    y = gpulab.zeros(256, "int32")
    kernel[1, 256](3, y)
    assert compiled == ["quick"]
    for _ in range(5000):
        kernel[1, 256](3, y)
        if len(compiled) == 2:
            break
    assert compiled == ["quick", "optimised"]
    assert np.array_equal(y.to_host(), expected(1, 3))


@pytest.mark.parametrize(("instructions", "seconds"), [(20, 0.0065), (256, 0.154), (1500, 3.09)])
def test_large_kernels_are_optimised_later(instructions, seconds):
    """A small kernel after 0.3 ms for each instruction, one of 256 after twice, one of 1,500 after seven times that."""
    kernel = loading.LoadedKernel.__new__(loading.LoadedKernel)
    code = SimpleNamespace(translation=SimpleNamespace(decoded=dict.fromkeys(range(instructions))))
    kernel.spent = 0.5 * seconds
    assert not kernel.worth(code)
    assert not kernel.worth(code, 0.49 * seconds)
    assert kernel.worth(code, 0.51 * seconds)


def test_with_no_seconds_it_is_optimised_at_once(compiled, monkeypatch):
    monkeypatch.setattr(loading, "QUICK_SECONDS", 0.0)
    y = gpulab.zeros(256, "int32")
    gpulab.compile(SOURCE)["turns"][1, 256](3, y)
    assert compiled == ["optimised"]
    assert np.array_equal(y.to_host(), expected(1, 3))


def test_optimised_code_on_disk_is_taken_at_once(monkeypatch, tmp_path):
    monkeypatch.setenv("GPULAB_CACHE", str(tmp_path))
    monkeypatch.setattr(loading, "QUICK_SECONDS", 0.0)
    gpulab.compile(SOURCE)["turns"][1, 256](3, gpulab.zeros(256, "int32"))
    ways = []
    whole = jit.compile_object
    monkeypatch.setattr(jit, "compile_object", lambda source, **how: ways.append(how) or whole(source, **how))
    monkeypatch.setattr(loading, "QUICK_SECONDS", 1e6)
    gpulab.compile(SOURCE)["turns"][1, 256](3, gpulab.zeros(256, "int32"))
    assert ways == [{"quick": False}]


ALL_KINDS = r"""
struct Pair { int a, b; };
extern "C" __global__ void all_kinds(const int* x, const Pair* pairs, int* y, int* sums, float* halves, int n) {
    __shared__ int part[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    part[t] = i < n ? x[i] * pairs[blockIdx.x].b : pairs[blockIdx.x].a;
    __syncthreads();
    int value = part[127 - t];
    for (int k = t & 7; k > 0; --k) value += x[(value & 1023) % n];
    value += __shfl_xor(value, 1) + __shfl_up(value, 2);
    __syncthreads();
    if (t % 3 == 0) atomicAdd(&sums[t & 15], value);
    if (t % 5 == 0) atomicAdd(&part[t & 3], 1);
    __syncthreads();
    if (t == 0) { __threadfence(); halves[blockIdx.x] = part[0] * 0.5f; }
    if (i < n) y[i] = value;
}
"""


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_after_a_checked_launch_others_take_its_code(arch, compiled, monkeypatch):
    """Which gives the same memory, and the same record: what is counted, and the modelled time."""
    monkeypatch.setattr(loading, "QUICK_SECONDS", 1e6)
    n, blocks = 1000, 8
    random = np.random.default_rng(3)
    x = random.integers(-1000, 1000, n, np.int32)
    pairs = random.integers(-9, 9, 2 * blocks, np.int32)
    found, more = [], []
    for checked_first in (False, True):
        with gpulab.using(f"virtual:{arch}"):
            kernel = gpulab.compile(ALL_KINDS)["all_kinds"]
            given = [gpulab.to_device(x), gpulab.to_device(pairs)]
            left = [gpulab.zeros(n, "int32"), gpulab.zeros(16, "int32"), gpulab.zeros(blocks, "float32")]
            if checked_first:
                with gpulab.checked():
                    kernel[blocks, 128](*given, *left, n)
                for array in left:
                    array.copy_from(np.zeros(array.shape, array.dtype))
            compiled.clear()
            with providers.recording(False) as launches:
                kernel[blocks, 128](*given, *left, n)
            (launch,) = launches
            found.append((launch.time_us, dict(launch.counters), [array.to_host().tolist() for array in left]))
            more.append(list(compiled))
            for array in (*given, *left):
                array.free()
    assert more == [["quick"], []]
    assert found[0] == found[1]


def test_where_launches_run_for_long_they_get_their_own_code(compiled, monkeypatch):
    monkeypatch.setattr(loading, "QUICK_SECONDS", 1e6)
    kernel = gpulab.compile(SOURCE)["turns"]
    y = gpulab.zeros(256, "int32")
    with gpulab.checked():
        kernel[1, 256](3, y)
    kernel[1, 256](3, y)
    assert compiled == ["quick"]
    monkeypatch.setattr(loading, "QUICK_SECONDS", 1e-9)
    kernel[1, 256](3, y)
    assert compiled == ["quick", "optimised"]
    assert np.array_equal(y.to_host(), expected(1, 3))
