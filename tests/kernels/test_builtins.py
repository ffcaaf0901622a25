"""Compiler builtins that name instructions: buffers, loads into LDS, rounding modes, appending counters."""

from __future__ import annotations

import numpy as np
import pytest

import gpulab

ARCHES = ["gfx942", "gfx1100"]

BUFFERS = """
typedef unsigned uint4v __attribute__((ext_vector_type(4)));
#if defined(__GFX9__)
#define FLAGS 0x00027000
#else
#define FLAGS 0x31004000
#endif
extern "C" __global__ void copy(const unsigned* from, unsigned* to, int bytes) {
  __amdgpu_buffer_rsrc_t in = __builtin_amdgcn_make_buffer_rsrc((void*)from, 0, bytes, FLAGS);
  __amdgpu_buffer_rsrc_t out = __builtin_amdgcn_make_buffer_rsrc(to, 0, bytes, FLAGS);
  int at = (blockIdx.x * blockDim.x + threadIdx.x) * 16;
  uint4v four = __builtin_amdgcn_raw_buffer_load_b128(in, at, 0, 0);
  four = four + 1u;
  __builtin_amdgcn_raw_buffer_store_b128(four, out, at, 0, 0);
}
extern "C" __global__ void halves(const unsigned short* from, unsigned* to, int n) {
  __amdgpu_buffer_rsrc_t in = __builtin_amdgcn_make_buffer_rsrc((void*)from, 0, 2 * n, FLAGS);
  __amdgpu_buffer_rsrc_t out = __builtin_amdgcn_make_buffer_rsrc(to, 0, 4 * n, FLAGS);
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned short value = __builtin_amdgcn_raw_buffer_load_b16(in, 2 * i, 0, 0);
  unsigned char byte = __builtin_amdgcn_raw_buffer_load_b8(in, 2 * i, 1, 0);
  __builtin_amdgcn_raw_buffer_store_b32(value * 1000u + byte, out, 4 * i, 0, 0);
}
"""


@pytest.mark.full
@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("level", ["-O0", "-O3"])
def test_buffers_guard_the_tail(arch, level):
    """1003 dwords in blocks of 4 per thread: the last thread has three of its four in the buffer."""
    with gpulab.using(arch):
        n = 1003
        data = np.arange(n, dtype=np.uint32)
        module = gpulab.compile(BUFFERS, options=[level])
        out = gpulab.to_device(np.zeros(n, np.uint32))
        module["copy"][2, 256](gpulab.to_device(data), out, np.int32(4 * n))
        assert np.array_equal(out.to_host(), data + 1)
        short = np.arange(77, dtype=np.uint16) * 300
        found = gpulab.to_device(np.zeros(77, np.uint32))
        module["halves"][1, 128](gpulab.to_device(short), found, np.int32(77))
        expected = short.astype(np.uint32) * 1000 + (short >> 8).astype(np.uint32)
        assert np.array_equal(found.to_host(), expected)


INTO_LDS = """
extern "C" __global__ void reverse(const float* from, float* to) {
  __shared__ float tile[256];
  int wave = threadIdx.x / 64;
  __builtin_amdgcn_global_load_lds((__attribute__((address_space(1))) void*)(from + blockIdx.x * 256 + threadIdx.x),
                                   (__attribute__((address_space(3))) void*)(tile + 64 * wave), 4, 0, 0);
  __builtin_amdgcn_s_waitcnt(0);
  __syncthreads();
  to[blockIdx.x * 256 + threadIdx.x] = tile[255 - threadIdx.x];
}
"""


def test_loads_into_lds():
    with gpulab.using("gfx942"):
        data = np.arange(512, dtype=np.float32)
        out = gpulab.to_device(np.zeros(512, np.float32))
        gpulab.compile(INTO_LDS)["reverse"][2, 256](gpulab.to_device(data), out)
        assert np.array_equal(out.to_host(), data.reshape(2, 256)[:, ::-1].ravel())


ROUNDING = """
extern "C" __global__ void sums(const float* a, const float* b, float* out, int mode) {
  int i = threadIdx.x;
  __builtin_amdgcn_s_setreg(1 | (0 << 6) | (1 << 11), mode);  // hwreg(HW_REG_MODE, 0, 2)
  float s = a[i] + b[i];
  asm volatile("" : "+v"(s));
  __builtin_amdgcn_s_setreg(1 | (0 << 6) | (1 << 11), 0);
  out[i] = s;
}
"""


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("mode", [0, 1, 2, 3])
def test_rounding_from_an_argument(arch, mode):
    random = np.random.default_rng(mode)
    a, b = (random.normal(size=64).astype(np.float32) for _ in range(2))
    exact = a.astype(np.float64) + b
    near = exact.astype(np.float32)
    up = np.where(near < exact, np.nextafter(near, np.float32(np.inf)), near)
    down = np.where(near > exact, np.nextafter(near, np.float32(-np.inf)), near)
    with gpulab.using(arch):
        out = gpulab.to_device(np.zeros(64, np.float32))
        gpulab.compile(ROUNDING)["sums"][1, 64](gpulab.to_device(a), gpulab.to_device(b), out, np.int32(mode))
        expected = [near, up, down, np.where(exact > 0, down, up)][mode]
        assert np.array_equal(out.to_host(), expected)


WAVES = """
extern "C" __global__ void counted(int* out, int* total) {
  __shared__ int counter;
  if (threadIdx.x == 0) counter = 0;
  __syncthreads();
  int before = -1;
  if (threadIdx.x % 3 == 0) before = __builtin_amdgcn_ds_append((__attribute__((address_space(3))) int*)&counter);
  out[threadIdx.x] = before;
  __syncthreads();
  if (threadIdx.x == 0) *total = counter;
}
"""


@pytest.mark.parametrize("arch", ARCHES)
def test_append_counts_for_the_wave(arch):
    with gpulab.using(arch):
        out, total = gpulab.to_device(np.zeros(128, np.int32)), gpulab.to_device(np.zeros(1, np.int32))
        gpulab.compile(WAVES)["counted"][1, 128](out, total)
        size = 64 if arch == "gfx942" else 32
        counts = [sum(i % 3 == 0 for i in range(w, w + size)) for w in range(0, 128, size)]
        starts = np.cumsum([0, *counts])
        expected = [starts[i // size] if i % 3 == 0 else -1 for i in range(128)]
        assert out.to_host().tolist() == expected
        assert total.to_host()[0] == 43


DIVISION = """
extern "C" __global__ void quotients(const float* a, const float* b, float* q, float* r, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { q[i] = a[i] / b[i]; r[i] = sqrtf(a[i]); }
}
extern "C" __global__ void doubles(const double* a, const double* b, double* q, double* r, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { q[i] = a[i] / b[i]; r[i] = sqrt(a[i]); }
}
"""


@pytest.mark.full
@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize(("name", "type"), [("quotients", np.float32), ("doubles", np.float64)])
def test_divisions_are_correctly_rounded(arch, name, type):
    """The sequences of v_div_scale, v_div_fmas and v_div_fixup: pairs of extreme numbers, and others."""
    form = np.finfo(type)
    special = [0.0, 1.0, 3.0, np.inf, np.nan, form.tiny, form.tiny / 3, form.smallest_subnormal, form.max, form.max / 3]
    special += [
        form.eps,
        1 / form.eps,
        7e-20,
        1e19,
        form.tiny * 1.5,
        2.0 ** (form.maxexp - 2),
        2.0 ** (form.minexp + 3),
    ]
    both = np.array([*special, *(-x for x in special)], type)
    a, b = (x.ravel() for x in np.meshgrid(both, both))
    random = np.random.default_rng(5)
    bits = random.integers(0, 1 << 62, (2, 2000), dtype=np.int64)
    unsigned = np.uint32 if type is np.float32 else np.int64
    more = [(bits[i] >> (0 if type is np.float64 else 20)).astype(unsigned).view(type) for i in (0, 1)]
    a, b = np.concatenate([a, more[0]]), np.concatenate([b, more[1]])
    with np.errstate(all="ignore"):
        quotients, roots = a / b, np.sqrt(a)
    with gpulab.using(arch):
        module = gpulab.compile(DIVISION)
        q, r = gpulab.to_device(np.zeros_like(a)), gpulab.to_device(np.zeros_like(a))
        module[name][(len(a) + 255) // 256, 256](gpulab.to_device(a), gpulab.to_device(b), q, r, np.int32(len(a)))
        for found, expected in ((q.to_host(), quotients), (r.to_host(), roots)):
            assert np.array_equal(np.isnan(found), np.isnan(expected))
            same = (found == expected) & (np.signbit(found) == np.signbit(expected)) | np.isnan(expected)
            assert same.all(), (a[~same][:4], b[~same][:4], found[~same][:4], expected[~same][:4])
