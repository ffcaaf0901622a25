"""Private memory: rows of lanes, elements of all sizes, addresses that differ by lane, atomics, generic pointers."""

from __future__ import annotations

import numpy as np
import pytest

import gpulab

SOURCE = r"""
struct Mixed { char c; short s; int i; double d; long long q[2]; unsigned char bytes[5]; };

__device__ __noinline__ void change(Mixed* m, int by) {
    m->c += by; m->s -= by; m->i *= by; m->d += 0.5 * by; m->q[by & 1] += m->q[1 - (by & 1)] + by;
    m->bytes[by % 5] ^= by;
}

extern "C" __global__ void sizes(long long* out) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    Mixed m = {(char)t, (short)(3 * t), t + 1, t * 0.25, {t, -t}, {1, 2, 3, 4, 5}};
    for (int k = 0; k < 4; ++k) if (t % 3 != k) change(&m, t % 7 + k);
    out[t] = m.c + m.s * 3LL + m.i * 5LL + (long long)(m.d * 4) * 7 + m.q[0] * 11 + m.q[1] * 13 + m.bytes[t % 5] * 17;
}

// Each lane uses another place: rows are seldom whole.
extern "C" __global__ void indexed(const int* at, int* out) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int words[16]; short halves[16]; signed char bytes[16]; double doubles[8];
    for (int k = 0; k < 16; ++k) { words[k] = k * t; halves[k] = k - t; bytes[k] = k ^ t; }
    for (int k = 0; k < 8; ++k) doubles[k] = 0.5 * k + t;
    int a = at[t] & 15;
    words[a] += 1000; halves[15 - a] += 7; bytes[(a + 3) & 15] = a; doubles[a & 7] -= 3;
    int sum = 0;
    for (int k = 0; k < 16; ++k) sum = sum * 3 + words[(a + k) & 15] + halves[(a ^ k)] + bytes[k];
    out[t] = sum + (int)(2 * doubles[(a + 1) & 7]) + (int)(2 * doubles[a & 7]);
}

// Atomics on private memory through generic pointers, of 32 and 64 bits.
extern "C" __global__ void atomics(long long* out) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long wide = 0x0000'0001'ffff'fff0ull + t;
    unsigned narrow = t;
    unsigned long long before = 0;
    if (t % 5) before = atomicAdd(&wide, (unsigned long long)t * 3);
    atomicMax(&narrow, 100u);
    atomicCAS(&wide, 0x1'ffff'fff0ull, 5ull);
    out[t] = wide + before + narrow;
}

// One pointer, three kinds of memory, by lane.
extern "C" __global__ void generic(int* global, int* out) {
    __shared__ int shared[256];
    int t = threadIdx.x, mine[2] = {t, -t};
    long long pairs[2] = {t * 1000000007LL, t};
    shared[t] = 2 * t;
    int* p = t % 3 == 0 ? &shared[t] : t % 3 == 1 ? &mine[t & 1] : &global[t];
    *p += 5;
    long long* q = (long long*)(t % 2 ? (void*)pairs : (void*)(global + 256 + 2 * t));
    q[0] += 3;
    out[t] = *p + mine[0] * 3 + mine[1] + (int)(q[0] % 1000);
}

extern "C" __global__ void outside(int n, int* out) {
    int local[4];
    for (int k = 0; k < n; ++k) local[k * 4096] = k;
    out[threadIdx.x] = local[0];
}
"""

LEVELS = ("-O0", "-O1", "-O3")


def wrap(value, bits):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def expected_sizes(t):
    c, s, i, d, q, b = wrap(t, 8), wrap(3 * t, 16), t + 1, t * 0.25, [t, -t], [1, 2, 3, 4, 5]
    for k in range(4):
        if t % 3 != k:
            by = t % 7 + k
            c, s, i, d = wrap(c + by, 8), wrap(s - by, 16), wrap(i * by, 32), d + 0.5 * by
            q[by & 1] += q[1 - (by & 1)] + by
            b[by % 5] ^= by
    return c + s * 3 + i * 5 + int(d * 4) * 7 + q[0] * 11 + q[1] * 13 + b[t % 5] * 17


def expected_indexed(t, a):
    words = [k * t for k in range(16)]
    halves = [wrap(k - t, 16) for k in range(16)]
    bytes_ = [wrap(k ^ t, 8) for k in range(16)]
    doubles = [0.5 * k + t for k in range(8)]
    words[a] += 1000
    halves[15 - a] += 7
    bytes_[(a + 3) & 15] = a
    doubles[a & 7] -= 3
    total = 0
    for k in range(16):
        total = total * 3 + words[(a + k) & 15] + halves[a ^ k] + bytes_[k]
    return wrap(total + int(2 * doubles[(a + 1) & 7]) + int(2 * doubles[a & 7]), 32)


def expected_atomics(t):
    wide, before = 0x1_FFFF_FFF0 + t, 0
    if t % 5:
        before, wide = wide, wide + 3 * t
    if wide == 0x1_FFFF_FFF0:
        wide = 5
    return wide + before + max(t, 100)


def expected_generic(t):
    value = (2 * t, -t if t & 1 else t, 10 * t)[t % 3] + 5
    mine = [t, -t]
    if t % 3 == 1:
        mine[t & 1] = value
    # C's remainder has the sign of the dividend; all are positive here.
    q = (t * 1000000007 if t % 2 else (10 * (256 + 2 * t) | 10 * (257 + 2 * t) << 32)) + 3
    return wrap(value + mine[0] * 3 + mine[1] + q % 1000, 32)


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("level", LEVELS)
def test_private_memory(arch, level):
    with gpulab.using(f"virtual:{arch}"):
        module = gpulab.compile(SOURCE, options=[level])
        out = gpulab.zeros(300, "int64")
        module["sizes"][3, 100](out)
        assert out.to_host().tolist() == [expected_sizes(t) for t in range(300)]
        at = np.random.default_rng(7).integers(0, 16, 200).astype(np.int32)
        sums = gpulab.zeros(200, "int32")
        module["indexed"][2, 100](gpulab.to_device(at), sums)
        assert sums.to_host().tolist() == [expected_indexed(t, int(at[t])) for t in range(200)]
        module["atomics"][3, 100](out)
        assert out.to_host().tolist() == [expected_atomics(t) for t in range(300)]
        data = gpulab.to_device(np.arange(768, dtype=np.int32) * 10)
        values = gpulab.zeros(256, "int32")
        module["generic"][1, 256](data, values)
        assert values.to_host().tolist() == [expected_generic(t) for t in range(256)]


@pytest.mark.full
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_beyond_private_memory(arch):
    with gpulab.using(f"virtual:{arch}"):
        kernel = gpulab.compile(SOURCE, options=["-O0"])["outside"]
        with pytest.raises(gpulab.MemoryFault) as caught:
            kernel[1, 64](8, gpulab.zeros(64, "int32"))
    assert caught.value.fault.kind == "scratch out of bounds"


ASSEMBLY = """
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.text
.globl odd
.p2align 8
.type odd,@function
odd:
  v_and_b32 v0, 0x3ff, v0
  s_load_dwordx2 s[2:3], s[0:1], 0x0
  v_mul_u32_u24 v2, 0x010101, v0
  v_mov_b32 v3, 0x11223344
  scratch_store_dwordx2 off, v[2:3], off
  v_mov_b32 v1, 3
  v_lshlrev_b32 v4, 5, v0
  s_waitcnt vmcnt(0) lgkmcnt(0)
  scratch_load_dword v8, off, off offset:3
  scratch_load_ushort v9, v1, off
  scratch_load_sshort v10, off, off offset:5
  scratch_load_ubyte v11, v1, off offset:2
  scratch_store_short off, v0, off offset:3
  s_waitcnt vmcnt(0)
  scratch_load_dwordx2 v[12:13], off, off
  s_waitcnt vmcnt(0)
  global_store_dwordx4 v4, v[8:11], s[2:3]
  global_store_dwordx2 v4, v[12:13], s[2:3] offset:16
  s_endpgm
.rodata
.p2align 6
.amdhsa_kernel odd
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_user_sgpr_count 2
  .amdhsa_private_segment_fixed_size 32
  .amdhsa_enable_private_segment 1
  .amdhsa_next_free_vgpr 16
  .amdhsa_next_free_sgpr 16
  .amdhsa_accum_offset 16
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: odd
    .symbol: odd.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 32
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 16
    .max_flat_workgroup_size: 64
    .args:
      - {.name: out, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}
...
.end_amdgpu_metadata
"""


def test_unaligned_scratch_in_assembly():
    with gpulab.using("virtual:gfx942"):
        kernel = gpulab.compile(ASSEMBLY, language="asm", arch="gfx942")["odd"]
        out = gpulab.zeros((64, 8), "uint32")
        kernel[1, 64](out)
        found = out.to_host()
    for lane in range(64):
        memory = bytearray((lane * 0x010101).to_bytes(4, "little") + (0x11223344).to_bytes(4, "little"))

        def at(start, size, memory=memory):
            return int.from_bytes(memory[start : start + size], "little")

        before = [at(3, 4), at(3, 2), wrap(at(5, 2), 16) & 0xFFFFFFFF, at(5, 1)]
        memory[3:5] = lane.to_bytes(2, "little")
        assert found[lane, :6].tolist() == [*before, at(0, 4), at(4, 4)], lane
