"""A kernel's first code is compiled quickly, and optimised while or after it runs: nothing else changes by that."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import gpulab
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
