"""Large kernels: in several functions, partly compiled quickly, they compute what they compute in one."""

from __future__ import annotations

import gc
import sys
import threading

import numpy as np
import pytest

import gpulab
from gpulab import cores
from gpulab.errors import InternalError
from gpulab.virtual_gpu.machine import loading
from gpulab.virtual_gpu.translate import function, jit, pieces

SOURCE = r"""
__device__ __noinline__ int depth(int n) { return n <= 1 ? 1 : n * depth(n - 2) + 1; }
typedef int (*Step)(int);
__device__ int twice(int x) { return 2 * x; }
__device__ int less(int x) { return x - 3; }

extern "C" __global__ void mixed(int n, const int* x, int* y) {
    __shared__ int part[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t, value = i < n ? x[i] : 0;
    part[t] = value;
    __syncthreads();
    for (int step = 64; step > 0; step /= 2) {
        if (t < step) part[t] += part[t + step];
        __syncthreads();
    }
    Step steps[2] = {twice, less};
    for (int k = 0; k < value % 5; ++k) {
        value = steps[(value + k) & 1](value);
        for (int j = 0; j < k; ++j) if ((j ^ t) & 1) value += j; else value ^= j;
    }
    if (value & 1) value += depth(t % 9);
    switch (t % 4) { case 0: value += 1; break; case 1: value *= 3; break; case 2: value -= 7; }
    if (i < n) y[i] = value + part[0];
}
"""


def run(arch, level):
    x = np.random.default_rng(3).integers(0, 1000, 700).astype(np.int32)
    with gpulab.using(f"virtual:{arch}"):
        kernel = gpulab.compile(SOURCE, options=[level])["mixed"]
        y = gpulab.zeros(700, "int32")
        kernel[6, 128](700, gpulab.to_device(x), y)
        first = y.to_host()
        kernel[6, 128](700, gpulab.to_device(x), y)
        assert np.array_equal(y.to_host(), first)
    return first


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_pieces_compute_what_one_function_computes(monkeypatch, arch, level):
    whole = run(arch, level)
    monkeypatch.setattr(loading, "QUICK_SECONDS", 1e6)
    assert np.array_equal(run(arch, level), whole)
    monkeypatch.setattr(function, "PIECE", 20)
    assert np.array_equal(run(arch, level), whole)
    monkeypatch.setattr(function, "LARGE", 0)
    assert np.array_equal(run(arch, level), whole)
    monkeypatch.setattr(function, "HUGE", 0)
    assert np.array_equal(run(arch, level), whole)
    monkeypatch.setattr(loading, "QUICK_SECONDS", 1e-9)  # the second launch is of optimised code
    assert np.array_equal(run(arch, level), whole)


@pytest.mark.full
@pytest.mark.parametrize("count", [1, 2])
def test_modules_of_a_large_kernel_are_compiled_beside_each_other(monkeypatch, count):
    """Meanwhile no garbage is collected: finalizers of a program could wait, in the other thread, for this one."""
    whole = run("gfx942", "-O2")
    made = []

    def noted(source, **how):
        made.append((threading.get_ident(), gc.isenabled()))
        return compiled(source, **how)

    compiled = jit.compile_object
    monkeypatch.setattr(jit, "compile_object", noted)
    monkeypatch.setattr(jit, "is_kept", lambda source: False)
    monkeypatch.setattr(cores, "usable", lambda: count)
    monkeypatch.setattr(loading, "QUICK_SECONDS", 1e6)
    monkeypatch.setattr(function, "PIECE", 20)
    monkeypatch.setattr(function, "LARGE", 0)
    monkeypatch.setattr(function, "HUGE", 0)
    monkeypatch.setattr(pieces, "PARTS", ((False, sys.maxsize), (True, 4000)))
    assert np.array_equal(run("gfx942", "-O2"), whole)
    threads = {thread for thread, _ in made}
    assert len(made) > 2
    assert (len(threads) > 1) == (count > 1)
    assert all(not collects for _, collects in made)
    assert gc.isenabled()


def test_collecting_stays_as_it_was_where_code_is_wrong():
    with pytest.raises(InternalError, match="not valid LLVM IR"):
        jit.compile_objects([("nonsense", True), ("nonsense", True)], keep=False)
    assert gc.isenabled()
