"""Whole compiled kernels on the reference machine, against numpy: calls, recursion, tables, scratch, LDS, shuffles."""

from __future__ import annotations

import numpy as np
import pytest

from gpulab.toolchain import compile
from gpulab.virtual_gpu.isa.assembly import parse

from .run import launch

SOURCE = r"""
__constant__ int table[4] = {10, 20, 30, 40};
__device__ int* pointer = &table[1];

extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

__device__ __attribute__((noinline)) int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
extern "C" __global__ void recursion(int* out) { out[threadIdx.x] = fibonacci(threadIdx.x & 7) + table[threadIdx.x & 3]; }

__device__ __attribute__((noinline)) float choose(float a, int k) {
    switch (k) {
        case 0: return a * 2;
        case 1: return a - 5;
        case 2: return sqrtf(a);
        case 3: return a * a * a;
        case 4: return 1.0f / a;
    }
    return 0;
}
extern "C" __global__ void cases(float* x, int k) { x[threadIdx.x] = choose(x[threadIdx.x], (int)threadIdx.x + k); }

extern "C" __global__ void stack(const int* in, int* out, int k) {
    int a[32];
    for (int i = 0; i < 32; i++) a[i] = in[i];
    a[k & 31] = threadIdx.x;
    out[threadIdx.x] = a[in[threadIdx.x] & 31] + *pointer;
}

extern "C" __global__ void reverse(double* x) {
    extern __shared__ int more[];
    __shared__ double tile[96];
    int i = threadIdx.x;
    tile[i] = x[i];
    more[i] = i;
    __syncthreads();
    x[i] = tile[95 - i] + more[(i + 1) % 96];
}

extern "C" __global__ void histogram(const unsigned* in, unsigned* bins, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i] % 5], 1u);
}

extern "C" __global__ void volume(int* out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    int width = gridDim.x * blockDim.x, height = gridDim.y * blockDim.y;
    out[(z * height + y) * width + x] = x + 100 * y + 10000 * z;
}

extern "C" __global__ void divide(const long long* a, const long long* b, long long* out) {
    out[threadIdx.x] = a[threadIdx.x] / b[threadIdx.x] + a[threadIdx.x] % b[threadIdx.x];
}
"""  # noqa: E501


SHUFFLES = r"""
extern "C" __global__ void shuffles(int* out) {
    int v = threadIdx.x;
    for (int step = warpSize / 2; step; step /= 2) v += __shfl_xor(v, step);
    out[threadIdx.x] = v;
}
"""


@pytest.fixture(scope="module", params=["gfx942", "gfx1100", "gfx90a", "gfx950", "gfx1030", "gfx1201"])
def arch(request):
    return request.param


WAYS = [(arch, option) for arch in ("gfx942", "gfx1100") for option in ("-O3", "-O0")]
WAYS += [(arch, "-O1") for arch in ("gfx90a", "gfx950", "gfx1030", "gfx1201")]


@pytest.fixture(scope="module", params=WAYS, ids="".join)
def program(request):
    arch, option = request.param
    code = compile(SOURCE, arch=arch, options=(option,))
    return parse(code.assembly, {"cell.hip": SOURCE}, guarantees=code.guarantees)


def test_saxpy(program):
    x, y = np.linspace(0, 1, 300, dtype=np.float32), np.linspace(5, 9, 300, dtype=np.float32)
    found = launch(program, "saxpy", [np.int32(290), np.float32(2), x, y], grid=(2, 1, 1), block=(160, 1, 1))
    exact = 2.0 * x.astype(np.float64) + y
    assert np.array_equal(found[1][:290], exact.astype(np.float32)[:290])
    assert np.array_equal(found[1][290:], y[290:])


@pytest.mark.full
def test_recursion(program):
    numbers = [0, 1, 1, 2, 3, 5, 8, 13]
    found = launch(program, "recursion", [np.zeros(64, np.int32)])
    assert found[0].tolist() == [numbers[i & 7] + 10 * (1 + (i & 3)) for i in range(64)]


def test_divergent_cases(program):
    x = np.linspace(0.1, 9, 64, dtype=np.float32)
    found = launch(program, "cases", [x, np.int32(-2)])[0]
    wanted = np.zeros(64, np.float32)
    wanted[2:7] = [x[2] * 2, x[3] - np.float32(5), np.sqrt(x[4]), x[5] * x[5] * x[5], np.float32(1) / x[6]]
    assert np.array_equal(found, wanted)


@pytest.mark.full
def test_stack_and_pointers_in_data(program):
    given = (np.arange(64, dtype=np.int32) * 7) % 41
    found = launch(program, "stack", [given, np.zeros(64, np.int32), np.int32(5)])[1]
    wanted = []
    for thread in range(64):
        a = given[:32].tolist()
        a[5] = thread
        wanted.append(a[given[thread] & 31] + 20)
    assert found.tolist() == wanted


@pytest.mark.full
def test_lds_and_barriers(program):
    x = np.linspace(-1, 1, 96)
    found = launch(program, "reverse", [x], block=(96, 1, 1), lds=96 * 4)[0]
    assert np.array_equal(found, x[::-1] + (np.arange(96) + 1) % 96)


def test_shuffles(arch):
    program = parse(compile(SHUFFLES, arch=arch).assembly)
    size = program.wave_size
    found = launch(program, "shuffles", [np.zeros(size, np.int32)], block=(size, 1, 1))[0]
    assert found.tolist() == [size * (size - 1) // 2] * size


def test_atomics(program):
    values = np.random.default_rng(3).integers(0, 1000, 500).astype(np.uint32)
    found = launch(program, "histogram", [values, np.zeros(5, np.uint32), np.int32(500)], grid=(2, 1, 1))[1]
    assert found.tolist() == np.bincount(values % 5, minlength=5).tolist()


def test_three_dimensions(program):
    found = launch(program, "volume", [np.zeros(8 * 6 * 4, np.int32)], grid=(2, 3, 2), block=(4, 2, 2))[0]
    z, y, x = np.mgrid[0:4, 0:6, 0:8]
    assert found.tolist() == (x + 100 * y + 10000 * z).ravel().tolist()


def test_64_bit_division(program):
    rng = np.random.default_rng(5)
    a, b = rng.integers(-(2**62), 2**62, 64), rng.integers(1, 2**40, 64) * rng.choice([-1, 1], 64)
    found = launch(program, "divide", [a, b, np.zeros(64, np.int64)])[2]
    wanted = []
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        wanted.append(quotient + x - quotient * y)
    assert found.tolist() == wanted
