"""What the headers' functions do when a kernel runs, on both architectures, against Python's own arithmetic.

The kernels run on the reference machine and through gpulab's own interface ("gfx942 device"); see `device.run`. The
wave size is 64 on gfx942, 32 on gfx1100.
"""

from __future__ import annotations

import json
import math
import random
import re
import struct
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from gpulab.toolchain.build import INCLUDE
from tests.headers.device import ARCHITECTURES, PRINTF_BYTES, run

both = pytest.mark.parametrize("arch", list(ARCHITECTURES))


def zeros(count: int, dtype: str = "int32") -> np.ndarray:
    return np.zeros(count, dtype)


# ---- indices --------------------------------------------------------------------------------------------------------


@both
def test_every_thread_knows_its_place(arch: str) -> None:
    source = """
    __global__ void place(int* out) {
        int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
        int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
        dim3 b(blockDim);
        uint3 t = threadIdx;
        dim3 g = gridDim;
        out[block * b.x * b.y * b.z + thread] =
            1000000 * blockIdx.z + 100000 * blockIdx.y + 10000 * blockIdx.x + 100 * t.z + 10 * t.y + t.x + g.z - 2;
    }"""
    (out,), _ = run(arch, source, zeros(2 * 3 * 2 * 4 * 2 * 3), grid=(2, 3, 2), block=(4, 2, 3))
    expected = [
        1000000 * bz + 100000 * by + 10000 * bx + 100 * tz + 10 * ty + tx
        for bz in range(2) for by in range(3) for bx in range(2)
        for tz in range(3) for ty in range(2) for tx in range(4)
    ]  # fmt: skip
    assert out.tolist() == expected


@both
def test_wave_size_and_lane_masks(arch: str) -> None:
    source = """
    __global__ void masks(unsigned long long* out) {
        unsigned long long* row = out + threadIdx.x * 8;
        row[0] = warpSize; row[1] = __lane_id(); row[2] = __lanemask_lt(); row[3] = __lanemask_le();
        row[4] = __lanemask_gt(); row[5] = __lanemask_ge(); row[6] = __lanemask_eq(); row[7] = __activemask();
    }"""
    size = ARCHITECTURES[arch]
    (out,), _ = run(arch, source, zeros(64 * 8, "uint64"))
    everyone = (1 << size) - 1
    for thread, row in enumerate(out.reshape(64, 8).tolist()):
        lane = thread % size
        below, self = (1 << lane) - 1, 1 << lane
        wanted = [size, lane, below, below | self, everyone & ~(below | self), everyone & ~below, self, everyone]
        assert row == wanted


# ---- lanes ----------------------------------------------------------------------------------------------------------


def shuffled(kind: str, lane: int, operand: int, width: int) -> int:
    """HIP's rule: which lane is read."""
    start = lane - lane % width
    if kind == "":
        return start + operand % width
    if kind == "_up":
        return lane - operand if lane - operand >= start else lane
    if kind == "_down":
        return lane + operand if lane % width + operand < width else lane
    return lane ^ operand if (lane ^ operand) < start + width else lane


@both
@pytest.mark.parametrize("kind", ["", "_up", "_down", "_xor"])
@pytest.mark.parametrize("width", [64, 32, 8, 1])
def test_shuffles(arch: str, kind: str, width: int) -> None:
    size = ARCHITECTURES[arch]
    if width > size:
        width = size
    source = f"""
    __global__ void shuffle(int* i, double* d, unsigned long long* u, float* f, int n) {{
        int t = threadIdx.x;
        for (int k = 0; k < n; ++k) {{
            i[k * 64 + t] = __shfl{kind}(t * 3, k * 5, {width});
            d[k * 64 + t] = __shfl{kind}_sync(0xffffffffffffffffull, t * 1.5 + 0.001, k * 5, {width});
            u[k * 64 + t] = __shfl{kind}((unsigned long long)t << 40 | t, k * 5, {width});
            f[k * 64 + t] = __shfl{kind}_sync(__activemask(), t * 0.25f, k * 5, {width});
        }}
    }}"""
    (i, d, u, f), _ = run(
        arch, source, zeros(256), zeros(256, "float64"), zeros(256, "uint64"), zeros(256, "float32"), np.int32(4)
    )
    for k in range(4):
        for t in range(64):
            lane = t % size
            from_thread = t - lane + shuffled(kind, lane, k * 5, width)
            at = k * 64 + t
            assert i[at] == from_thread * 3
            assert d[at] == from_thread * 1.5 + 0.001
            assert u[at] == from_thread << 40 | from_thread
            assert f[at] == from_thread * 0.25


@both
def test_votes_count_active_lanes_only(arch: str) -> None:
    source = """
    __global__ void votes(unsigned long long* out) {
        int t = threadIdx.x;
        unsigned long long* row = out + t * 6;
        if (t % 3 != 0) {
            row[0] = __ballot(t % 2);
            row[1] = __any(t == 4);
            row[2] = __all(t % 3);
            row[3] = __all(t > 4);
            row[4] = __activemask();
            row[5] = __ballot_sync(0x00000000000000f0ull, 1);
        }
    }"""
    size = ARCHITECTURES[arch]
    (out,), _ = run(arch, source, zeros(64 * 6, "uint64"))
    for t, row in enumerate(out.reshape(64, 6).tolist()):
        wave = [u for u in range(t - t % size, t - t % size + size) if u % 3]
        mask = sum(1 << (u % size) for u in wave)
        odd = sum(1 << (u % size) for u in wave if u % 2)
        first = int(4 in wave)
        wanted = [odd, first, 1, int(all(u > 4 for u in wave)), mask, mask & 0xF0] if t % 3 else [0] * 6
        assert row == wanted


@both
def test_match_and_reduce(arch: str) -> None:
    source = """
    __global__ void combine(unsigned long long* out, const int* in, long long* wide) {
        int t = threadIdx.x, v = in[t], equal, not_equal;
        unsigned long long* row = out + t * 12;
        row[0] = __match_any(v);
        row[1] = __match_any((double)v);
        row[2] = __match_all(5, &equal) * equal;
        row[3] = __match_all(v, &not_equal) + not_equal;
        row[4] = (unsigned)__reduce_add_sync(~0ull, v);
        row[5] = (unsigned)__reduce_min_sync(~0ull, v - 20);
        row[6] = (unsigned)__reduce_max_sync(~0ull, v);
        row[7] = __reduce_and_sync(~0ull, (unsigned)v | 0x100u);
        row[8] = __reduce_or_sync(~0ull, (unsigned)v);
        row[9] = __reduce_xor_sync(~0ull, (unsigned)v);
        row[10] = (unsigned)__reduce_add_sync(0x00000000000000f5ull, v);
        row[11] = __match_any_sync(0x0f0f0f0f0f0f0f0full, v);
        wide[t] = __reduce_add_sync(~0ull, (long long)v << 33);
    }"""
    size = ARCHITECTURES[arch]
    r = random.Random(3)
    values = [r.randint(0, 40) for _ in range(64)]
    (out, _, wide), _ = run(arch, source, zeros(64 * 12, "uint64"), np.array(values, "int32"), zeros(64, "int64"))
    for t, row in enumerate(out.reshape(64, 12).tolist()):
        wave = values[t - t % size : t - t % size + size]
        same = sum(1 << lane for lane, v in enumerate(wave) if v == values[t])
        both_or, both_and, both_xor = 0, ~0, 0
        for v in wave:
            both_or, both_and, both_xor = both_or | v, both_and & (v | 0x100), both_xor ^ v
        assert row == [
            same, same, (1 << size) - 1, 0, sum(wave), (min(wave) - 20) & 0xFFFFFFFF, max(wave), both_and, both_or,
            both_xor, sum(wave[lane] for lane in (0, 2, 4, 5, 6, 7)), same & 0x0F0F0F0F0F0F0F0F,
        ]  # fmt: skip
        assert wide[t] == sum(wave) << 33


@pytest.mark.full
@both
def test_barriers_that_combine(arch: str) -> None:
    source = """
    __global__ void combine(int* out) {
        int t = threadIdx.x, *row = out + t * 5;
        row[0] = __syncthreads_count(t % 7 == 0);
        row[1] = __syncthreads_and(t < 150);
        row[2] = __syncthreads_and(t < 149);
        row[3] = __syncthreads_or(t == 149);
        row[4] = __syncthreads_or(t == 150);
    }"""
    (out,), _ = run(arch, source, zeros(150 * 5), block=(150,))
    assert {tuple(row) for row in out.reshape(150, 5).tolist()} == {(22, 1, 0, 1, 0)}


# ---- atomics --------------------------------------------------------------------------------------------------------


@pytest.mark.full
@both
@pytest.mark.parametrize("space", ["global", "shared"])
def test_atomics(arch: str, space: str) -> None:
    cells = "cells" if space == "global" else "local"
    source = f"""
    __global__ void atomics(unsigned* cells, unsigned* old) {{
        __shared__ __align__(8) unsigned local[32];
        int t = threadIdx.x;
        if (t < 32) local[t] = cells[t];
        __syncthreads();
        unsigned* c = {cells};
        old[t] = atomicAdd(&c[0], 2u);
        atomicSub((int*)&c[1], 3);
        atomicMin((int*)&c[2], -t);
        atomicMax((int*)&c[3], t);
        atomicAnd(&c[4], ~(1u << (t % 32)));
        atomicOr(&c[5], 1u << (t % 16));
        atomicXor(&c[6], t);
        atomicInc(&c[7], 9);
        atomicDec(&c[8], 9);
        atomicExch(&c[9], 77u);
        atomicCAS(&c[10], (unsigned)t, (unsigned)t + 1);
        atomicAdd((float*)&c[11], 0.5f);
        atomicAdd((unsigned long long*)&c[12], 1ull << 33);
        atomicAdd((double*)&c[14], 0.25);
        atomicMax((unsigned long long*)&c[16], (unsigned long long)t << 34);
        atomicMin((float*)&c[18], -(float)t);
        atomicMax((double*)&c[20], t * 1.5);
        unsafeAtomicAdd((float*)&c[22], 0.25f);
        safeAtomicAdd((double*)&c[24], 0.125);
        atomicAdd_block(&c[26], 1u);
        atomicAdd_system((int*)&c[27], 1);
        atomicSub((float*)&c[28], 1.0f);
        __syncthreads();
        if (t < 32) cells[t] = c[t];
    }}"""
    start = zeros(32, "uint32")
    start[4] = 0xFFFFFFFF
    (cells_out, old), _ = run(arch, source, start, zeros(64, "uint32"), block=(64,))
    raw = cells_out.tobytes()
    assert sorted(old.tolist()) == list(range(0, 128, 2))
    words = cells_out.view("int32").tolist()
    assert words[:4] == [128, -192, -63, 63]
    assert cells_out[4:7].tolist() == [0, 0xFFFF, 0]
    assert words[7] == 64 % 10
    assert words[8] == (10 - 64 % 10) % 10
    assert words[9] == 77
    assert struct.unpack_from("<f", raw, 44) == (32.0,)
    assert struct.unpack_from("<Q", raw, 48) == (64 << 33,)
    assert struct.unpack_from("<d", raw, 56) == (16.0,)
    assert struct.unpack_from("<Q", raw, 64) == (63 << 34,)
    assert struct.unpack_from("<f", raw, 72) == (-63.0,)
    assert struct.unpack_from("<d", raw, 80) == (94.5,)
    assert struct.unpack_from("<f", raw, 88) == (16.0,)
    assert struct.unpack_from("<d", raw, 96) == (8.0,)
    assert words[26:28] == [64, 64]
    assert struct.unpack_from("<f", raw, 112) == (-64.0,)


# ---- integers -------------------------------------------------------------------------------------------------------

M32, M64 = 2**32 - 1, 2**64 - 1


def s32(x: int) -> int:
    return (x & M32) - (1 << 32 if x & 0x80000000 else 0)


def s64(x: int) -> int:
    return (x & M64) - (1 << 64 if x >> 63 & 1 else 0)


def s24(x: int) -> int:
    return (x & 0xFFFFFF) - (1 << 24 if x & 0x800000 else 0)


def permuted(x: int, y: int, selector: int) -> int:
    data = (y << 32 | x).to_bytes(8, "little")
    return sum(data[selector >> 4 * i & 7] << 8 * i for i in range(4))


INTEGERS_32 = {  # expression of x, y, z: Python's answer
    "__popc(x)": lambda x, y, z: x.bit_count(),
    "__clz((int)x)": lambda x, y, z: 32 - x.bit_length(),
    "__ffs(x)": lambda x, y, z: (x & -x).bit_length(),
    "__brev(x)": lambda x, y, z: int(f"{x:032b}"[::-1], 2),
    "__byte_perm(x, y, z)": permuted,
    "__funnelshift_l(x, y, z)": lambda x, y, z: (y << 32 | x) << (z & 31) >> 32,
    "__funnelshift_r(x, y, z)": lambda x, y, z: (y << 32 | x) >> (z & 31),
    "__funnelshift_lc(x, y, z & 63)": lambda x, y, z: (y << 32 | x) << min(z & 63, 32) >> 32,
    "__funnelshift_rc(x, y, z & 63)": lambda x, y, z: (y << 32 | x) >> min(z & 63, 32),
    "__mul24((int)x, (int)y)": lambda x, y, z: s24(x) * s24(y),
    "__umul24(x, y)": lambda x, y, z: (x & 0xFFFFFF) * (y & 0xFFFFFF),
    "__mulhi((int)x, (int)y)": lambda x, y, z: s32(x) * s32(y) >> 32,
    "__umulhi(x, y)": lambda x, y, z: x * y >> 32,
    "__sad((int)x, (int)y, z)": lambda x, y, z: abs(s32(x) - s32(y)) + z,
    "__usad(x, y, z)": lambda x, y, z: abs(x - y) + z,
    "__hadd((int)x, (int)y)": lambda x, y, z: s32(x) + s32(y) >> 1,
    "__rhadd((int)x, (int)y)": lambda x, y, z: s32(x) + s32(y) + 1 >> 1,
    "__uhadd(x, y)": lambda x, y, z: x + y >> 1,
    "__urhadd(x, y)": lambda x, y, z: x + y + 1 >> 1,
    "__bitextract_u32(x, y & 31, z & 15)": lambda x, y, z: x >> (y & 31) & (1 << (z & 15)) - 1,
    "__bitinsert_u32(x, y, z & 15, 7)": lambda x, y, z: x & ~(127 << (z & 15)) | (y & 127) << (z & 15),
    "min((int)x, (int)y)": lambda x, y, z: min(s32(x), s32(y)),
    "max(x, y)": lambda x, y, z: max(x, y),
    "abs((int)(x >> 1))": lambda x, y, z: x >> 1,
    "__fns(x, y & 31, 2)": lambda x, y, z: next(
        (b for b in range(y & 31, 32) if (x >> (y & 31) & (2 << b - (y & 31)) - 1).bit_count() == 2), -1
    ),
    "__fns32(~0ull << 32 | x, y & 31, 2)": lambda x, y, z: next(
        (b for b in range(y & 31, 32) if (x >> (y & 31) & (2 << b - (y & 31)) - 1).bit_count() == 2), -1
    ),
    "__fns(x, y & 31, -1)": lambda x, y, z: next((b for b in range(y & 31, -1, -1) if x >> b & 1), -1),
    "__fns(x, y & 31, 0)": lambda x, y, z: y & 31 if x >> (y & 31) & 1 else -1,
}
INTEGERS_64 = {
    "__popcll(x)": lambda x, y, z: x.bit_count(),
    "__clzll((long long)x)": lambda x, y, z: 64 - x.bit_length(),
    "__ffsll(x)": lambda x, y, z: (x & -x).bit_length(),
    "__fns64(x, y & 63, 1)": lambda x, y, z: next((b for b in range(y & 63, 64) if x >> b & 1), -1),
    "__brevll(x)": lambda x, y, z: int(f"{x:064b}"[::-1], 2),
    "__mul64hi((long long)x, (long long)y)": lambda x, y, z: s64(x) * s64(y) >> 64,
    "__umul64hi(x, y)": lambda x, y, z: x * y >> 64,
    "__bitextract_u64(x, y & 63, z & 31)": lambda x, y, z: x >> (y & 63) & (1 << (z & 31)) - 1,
    "__bitinsert_u64(x, y, z & 31, 21)": lambda x, y, z: x & ~(0x1FFFFF << (z & 31)) | (y & 0x1FFFFF) << (z & 31),
    "__double_as_longlong(__hiloint2double((int)(x >> 32), (int)x))": lambda x, y, z: x,
    "max((long long)x, (long long)y)": lambda x, y, z: max(s64(x), s64(y)),
}


@both
@pytest.mark.parametrize("bits", [32, 64])
def test_integer_functions(arch: str, bits: int) -> None:
    table = INTEGERS_32 if bits == 32 else INTEGERS_64
    word = "unsigned" if bits == 32 else "unsigned long long"
    body = "\n".join(f"row[{i}] = ({word})({expression});" for i, expression in enumerate(table))
    source = f"""
    __global__ void integers(const {word}* in, {word}* out) {{
        {word} x = in[threadIdx.x * 3], y = in[threadIdx.x * 3 + 1], z = in[threadIdx.x * 3 + 2];
        {word}* row = out + threadIdx.x * {len(table)};
        {body}
    }}"""
    r = random.Random(bits)
    full = (1 << bits) - 1
    edges = [0, 1, full, 1 << bits - 1, full >> 1, 0xFFFFFF, 0x800000]
    rows = [[r.choice([*edges, r.getrandbits(bits), r.getrandbits(bits)]) for _ in range(3)] for _ in range(64)]
    dtype = f"uint{bits}"
    (_, out), _ = run(arch, source, np.array(rows, dtype).ravel(), zeros(64 * len(table), dtype))
    for (x, y, z), results in zip(rows, out.reshape(64, -1).tolist(), strict=True):
        for (expression, answer), result in zip(table.items(), results, strict=True):
            assert result == answer(x, y, z) & full, f"{expression} of {x:#x}, {y:#x}, {z:#x}"


# ---- conversions ----------------------------------------------------------------------------------------------------


def to_integer(x: float, mode: str) -> int:
    exact = Fraction(x)
    return {"rn": round, "rz": math.trunc, "ru": math.ceil, "rd": math.floor}[mode](exact)


def to_floating(x: Fraction, mode: str, single: bool) -> float:
    """The float or double next to an exact value in the direction of the mode, within the normal range."""
    if x == 0:
        return 0.0
    e = math.frexp(float(x))[1] - (24 if single else 53)
    if abs(x) < Fraction(2) ** (e + (23 if single else 52)):
        e -= 1
    units = x / Fraction(2) ** e
    n = {"rn": round, "rz": math.trunc, "ru": math.ceil, "rd": math.floor}[mode](units)
    return float(n * Fraction(2) ** e)


@pytest.mark.full
@both
def test_conversions_to_integers(arch: str) -> None:
    modes = ("rn", "rz", "ru", "rd")
    names = [f"__{f}2{t}_{m}" for f in ("float", "double") for t in ("int", "uint", "ll", "ull") for m in modes]
    body = "\n".join(
        f"row[{i}] = (long long){name}({'(float)x' if 'float' in name else 'x'});" for i, name in enumerate(names)
    )
    source = f"""__global__ void convert(const double* in, long long* out) {{
        double x = in[threadIdx.x];
        long long* row = out + threadIdx.x * {len(names)};
        {body}
    }}"""
    r = random.Random(8)
    values = [0.0, 0.5, 1.5, 2.5, 0.25, 1e9, 16777215.0, 3.75, 1000000.5, *(r.uniform(0, 5000) for _ in range(55))]
    values = [struct.unpack("<f", struct.pack("<f", v))[0] for v in values]
    (_, out), _ = run(arch, source, np.array(values), zeros(64 * len(names), "int64"))
    for x, results in zip(values, out.reshape(64, -1).tolist(), strict=True):
        for name, result in zip(names, results, strict=True):
            assert result == to_integer(x, name[-2:]), f"{name}({x})"


@pytest.mark.full
@both
def test_conversions_to_floating_point(arch: str) -> None:
    sources = [("int", "int", "float"), ("uint", "unsigned", "float"), ("ll", "long long", "float"),
               ("ull", "unsigned long long", "float"), ("ll", "long long", "double"),
               ("ull", "unsigned long long", "double")]  # fmt: skip
    names = [(f, c, t, m) for f, c, t in sources for m in ("rn", "rz", "ru", "rd")]
    body = "\n".join(f"row[{i}] = __{f}2{t}_{m}(({c})x);" for i, (f, c, t, m) in enumerate(names))
    body += "\n".join(f"row[{len(names) + i}] = __double2float_{m}(d);" for i, m in enumerate(("rn", "rz", "ru", "rd")))
    count = len(names) + 4
    source = f"""__global__ void convert(const unsigned long long* in, const double* real, double* out) {{
        unsigned long long x = in[threadIdx.x];
        double d = real[threadIdx.x], *row = out + threadIdx.x * {count};
        {body}
    }}"""
    r = random.Random(9)
    edges = [0, 1, M64, 2**63, 2**63 - 1, 2**24 + 1, 2**53 + 1, M64 - 1023, 2**31 - 1, M32, 2**63 + 1, M64 << 10 & M64]
    words = edges + [r.getrandbits(r.choice((64, 63, 40, 33, 31, 26))) for _ in range(52)]
    reals = [r.uniform(-1e5, 1e5) for _ in range(64)]
    (_, _, out), _ = run(arch, source, np.array(words, "uint64"), np.array(reals), zeros(64 * count, "float64"))
    read = {"int": s32, "unsigned": lambda x: x & M32, "long long": s64, "unsigned long long": lambda x: x}
    for x, d, results in zip(words, reals, out.reshape(64, -1).tolist(), strict=True):
        for (f, c, t, m), result in zip(names, results[:-4], strict=True):
            assert result == to_floating(Fraction(read[c](x)), m, t == "float"), f"__{f}2{t}_{m}({read[c](x)})"
        for m, result in zip(("rn", "rz", "ru", "rd"), results[-4:], strict=True):
            assert result == to_floating(Fraction(d), m, True), f"__double2float_{m}({d!r})"


# ---- vectors --------------------------------------------------------------------------------------------------------


@both
def test_vector_arithmetic(arch: str) -> None:
    source = """
    __global__ void vectors(float* f, int* i, double* d, unsigned char* c) {
        float4 a = {1, 2, 3, 4}, b(2.0f);
        a = a * b + 1.0f;  a -= make_float4(0, 1, 0, 1);  a = 2 * a;  a /= 4.0;
        *(float4*)f = -a;
        float3 t = make_float3(1, 2, 3);  t++;  f[4] = t.x; f[5] = t.y; f[6] = t.z;  f[7] = t == make_float3(2, 3, 4);
        int2 q{7, -9};  q = q % 4;  q <<= 2;  *(int2*)i = q;
        i[2] = (make_int2(12, 10) & 6).y | (make_uint1(1u) ^ 3u).x;  i[3] = q != make_int2(12, -4);
        double2 e = make_double2(0.5, 1.5);  e += e;  *(double2*)d = e;
        uchar4 p = make_uchar4(250, 1, 2, 3);  p = p + (unsigned char)10;  *(uchar4*)c = ~p;
        longlong3 l = make_longlong3(1LL << 40, 2, 3);  d[2] = (l - make_longlong3(1, 1, 1)).x;  d[3] = l[2];
    }"""
    (f, i, d, c), _ = run(
        arch, source, zeros(8, "float32"), zeros(4), zeros(4, "float64"), zeros(4, "uint8"), block=(1,)
    )
    assert f.tolist() == [-1.5, -2.0, -3.5, -4.0, 2.0, 3.0, 4.0, 1.0]
    assert i.tolist() == [12, -4, 2, 0]
    assert d.tolist() == [1.0, 3.0, float(2**40 - 1), 3.0]
    assert c.tolist() == [255 - 4, 255 - 11, 255 - 12, 255 - 13]


@both
def test_complex_numbers(arch: str) -> None:
    source = """
    #include <hip/hip_complex.h>
    __global__ void numbers(double* d, float* f) {
        hipDoubleComplex a = make_hipDoubleComplex(3, 4), b = make_hipDoubleComplex(1, -2);
        hipDoubleComplex all[] = {hipCadd(a, b), hipCsub(a, b), hipCmul(a, b), hipCdiv(a, b), hipConj(a),
                                  hipCfma(a, b, a)};
        for (int i = 0; i < 6; ++i) { d[2 * i] = hipCreal(all[i]); d[2 * i + 1] = hipCimag(all[i]); }
        f[0] = hipCabsf(make_hipFloatComplex(3, 4)); f[1] = hipCsqabsf(make_hipComplex(3, 4));
    }"""
    (d, f), _ = run(arch, source, zeros(12, "float64"), zeros(2, "float32"), block=(1,))
    a, b = 3 + 4j, 1 - 2j
    wanted = [a + b, a - b, a * b, a / b, a.conjugate(), a * b + a]
    assert (d[::2] + 1j * d[1::2]).tolist() == wanted
    assert f.tolist() == [5, 25]


# ---- mathematics ----------------------------------------------------------------------------------------------------

REFERENCE = json.loads((Path(__file__).parent / "reference.json").read_text())
# Float forms that round the double ones, which are tested themselves.
ROUNDED = {
    "erfcx",
    "erfinv",
    "erfcinv",
    "normcdf",
    "normcdfinv",
    "tgamma",
    "lgamma",
    "j0",
    "j1",
    "y0",
    "y1",
    "cyl_bessel_i0",
    "cyl_bessel_i1",
}
COMPILED = {"exp", "exp2", "exp10", "log", "log2", "log10"}  # float forms: sequences of the compiler


@pytest.mark.parametrize("arch", ["gfx942 device", "gfx1100 device"])
@pytest.mark.parametrize("single", [True, False], ids=["float", "double"])
@pytest.mark.parametrize("count", [1, 2], ids=["one argument", "two arguments"])
def test_a_kernel_computes_the_bits_that_the_host_computes(
    arch: str, single: bool, count: int, library_function: object
) -> None:
    suffix, kind = ("f32", "float") if single else ("f64", "double")
    names = [n[:-4] for n, rows in REFERENCE.items() if n.endswith(suffix) and len(rows[0]) == count + 2]
    names = [n for n in names if not (single and n in COMPILED | ROUNDED)]
    assert len(names) >= (20 if count == 1 else 5)
    for at in range(0, len(names), 12):
        part = names[at : at + 12]
        inputs = np.array([[[float.fromhex(a) for a in REFERENCE[f"{n}_{suffix}"][k][:count]] for k in range(24)]
                           for n in part], "float32" if single else "float64")  # fmt: skip
        arguments = ", ".join(f"in[{{0}} + t * {count} + {c}]" for c in range(count))
        body = "\n".join(f"out[{i} * 24 + t] = {n}({arguments.format(i * 24 * count)});" for i, n in enumerate(part))
        source = f"__global__ void all(const {kind}* in, {kind}* out) {{ int t = threadIdx.x;\n{body}\n}}"
        (_, out), _ = run(arch, source, inputs.ravel(), zeros(24 * len(part), inputs.dtype.name), block=(24,))
        for i, name in enumerate(part):
            wanted = [library_function(f"{name}_{suffix}", count)(*row.tolist()) for row in inputs[i]]  # type: ignore[operator]
            assert out[i * 24 : i * 24 + 24].tolist() == wanted, name


@pytest.mark.full
@both
def test_exponentials_and_logarithms_that_the_compiler_writes(arch: str) -> None:
    for name in sorted(COMPILED):
        rows = REFERENCE[f"{name}_f32"]
        inputs = np.array([float.fromhex(row[0]) for row in rows], "float32")
        source = f"__global__ void one(const float* in, float* out) {{ out[threadIdx.x] = {name}f(in[threadIdx.x]); }}"
        (_, out), _ = run(arch, source, inputs, zeros(len(rows), "float32"), block=(len(rows),))
        exact = np.array([float.fromhex(row[1]) for row in rows])
        ulp = np.abs(out.astype("float64") - exact) / np.spacing(np.abs(exact).astype("float32"))
        assert ulp.max() <= 2, name


@pytest.mark.full
@both
def test_fast_forms_and_rounded_operations(arch: str) -> None:
    source = """
    __global__ void fast(const float* in, float* out) {
        int t = threadIdx.x;
        float x = in[t], *row = out + t * 20, s, c;
        row[0] = __sinf(x); row[1] = __cosf(x); row[2] = __expf(x); row[3] = __logf(x); row[4] = __powf(x, 1.5f);
        row[5] = __exp10f(x); row[6] = __log2f(x); row[7] = __log10f(x); row[8] = __fdividef(x, 3.0f);
        row[9] = __tanf(x); __sincosf(x, &s, &c); row[10] = s * s + c * c;
        row[11] = __saturatef(x - 1); row[12] = rsqrtf(x); row[13] = __frcp_rn(x); row[14] = __fsqrt_rn(x);
        row[15] = __fadd_rn(__fmul_rn(x, x), -x); row[16] = fmaf(x, x, -x); row[17] = fdimf(x, 1.0f);
        row[18] = (float)norm3d(x, 2.0, 3.0); row[19] = powif(x, 3);
    }"""
    x = np.linspace(0.1, 3, 64).astype("float32")
    (_, out), _ = run(arch, source, x, zeros(64 * 20, "float32"))
    f, d = out.reshape(64, 20).T, x.astype("float64")
    close = {0: np.sin(d), 1: np.cos(d), 2: np.exp(d), 4: d**1.5, 5: 10**d, 8: d / 3, 10: np.ones(64), 12: d**-0.5,
             17: np.maximum(d - 1, 0), 18: np.sqrt(d * d + 13), 19: d**3}  # fmt: skip
    for column, wanted in close.items():
        np.testing.assert_allclose(f[column], wanted, rtol=3e-6, atol=3e-7)
    for column, wanted in {3: np.log(d), 6: np.log2(d), 7: np.log10(d)}.items():
        np.testing.assert_allclose(f[column], wanted, rtol=1e-6, atol=2e-7)
    away = np.abs(np.tan(d)) < 5  # from the poles
    np.testing.assert_allclose(f[9][away], np.tan(d)[away], rtol=1e-5)
    one = np.float32(1)
    assert f[11].tolist() == np.clip(x - one, 0, 1).tolist()
    assert f[13].tolist() == (one / x).tolist()
    assert f[14].tolist() == np.sqrt(x).tolist()
    assert f[15].tolist() == (x * x - x).tolist()  # two roundings
    assert f[16].tolist() == (d * d - d).astype("float32").tolist()  # one


@pytest.mark.full
@both
def test_parts_of_numbers(arch: str) -> None:
    source = """
    __global__ void parts(const double* in, double* out) {
        int t = threadIdx.x, e, q;
        double x = in[t], whole, *row = out + t * 16;
        row[0] = frexp(x, &e); row[1] = e; row[2] = modf(x, &whole); row[3] = whole; row[4] = ldexp(x, 3);
        row[5] = ilogb(x); row[6] = logb(x); row[7] = lround(x); row[8] = llrint(x); row[9] = rint(x);
        row[10] = round(x); row[11] = remquo(x, 3.0, &q); row[12] = q;
        row[13] = copysign(2.0, x); row[14] = isnan(x) + 2 * isfinite(x);
        row[15] = signbit(x) + fmin(x, 0.0) + ilogbf((float)x) + scalbn(x, -1) + trunc(x) + ceil(x) + floor(x);
    }"""
    x = [2.5, -3.5, 0.1, -0.75, 100.25, 7.0, -8.0, 1e10]
    (_, out), _ = run(arch, source, np.array(x), zeros(8 * 16, "float64"), block=(8,))
    for v, row in zip(x, out.reshape(8, 16).tolist(), strict=True):
        m, e = math.frexp(v)
        f, w = math.modf(v)
        away = math.floor(abs(v) + 0.5) * math.copysign(1, v)
        assert row[:11] == [m, e, f, w, v * 8, e - 1, e - 1, away, round(v), round(v), away]
        assert row[11] == math.remainder(v, 3)
        quotient = round(Fraction(v) / 3)
        assert row[12] == math.copysign(abs(quotient) & 0x7FFFFFFF, quotient)  # its low bits
        assert row[13:15] == [math.copysign(2, v), 2]
        rest = (v < 0) + min(v, 0) + e - 1 + v / 2 + math.trunc(v) + math.ceil(v) + math.floor(v)
        assert row[15] == pytest.approx(rest)


@both
def test_exponents_of_what_has_none(arch: str) -> None:
    """FP_ILOGB0 and FP_ILOGBNAN of the C library, INT_MAX for infinity (C17, 7.12.6.5)."""
    source = """
    __global__ void exponents(const double* in, int* out) {
        int t = threadIdx.x;
        out[2 * t] = ilogb(in[t]);
        out[2 * t + 1] = ilogbf((float)in[t]);
    }"""
    least, most = -(1 << 31), (1 << 31) - 1
    x = [0.0, -0.0, math.nan, math.inf, -math.inf, 1.0, 0.75, -2.0]
    (_, out), _ = run(arch, source, np.array(x), zeros(16), block=(8,))
    assert out.reshape(8, 2).tolist() == [[least] * 2] * 3 + [[most] * 2] * 2 + [[0, 0], [-1, -1], [1, 1]]


# ---- printf ---------------------------------------------------------------------------------------------------------


@both
def test_printf_from_a_kernel(arch: str) -> None:
    source = r"""
    __global__ void print(const char* text, double d) {
        int i = threadIdx.x;
        if (i == 1) {
            printf("%d|%5.2f|%s|%c|%llu|%x|%%|%-6s|\n", -i, d, "constant", 'z', 1ull << 40, 255u, text);
            printf("plain\n");
            printf(text);
            printf("tab\t\"quoted\" \\ 'single' {x}: [y] # é\n");
        }
        if (i < 3) printf("lane %d of %d\n", i, (int)blockDim.x);
    }"""
    text = np.frombuffer(b"given\0\0\0", "uint8").copy()
    _, printed = run(arch, source, text, np.float64(2.7182), block=(4,))
    assert sorted(printed[-3:]) == [f"lane {i} of 4\n" for i in range(3)]
    assert "".join(printed[:-3]) == (
        "-1| 2.72|constant|z|1099511627776|ff|%|given |\nplain\ngiventab\t\"quoted\" \\ 'single' {x}: [y] # é\n"
    )


@pytest.mark.full
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_a_full_printf_buffer_loses_the_rest(arch: str) -> None:
    source = """__global__ void print() { printf("%s\\n", "0123456789012345678901234567890123456789"); }"""
    _, printed = run(arch, source, grid=(5,), block=(64,))
    frame = 4 + 8 + 48
    assert printed == ["0123456789012345678901234567890123456789\n"] * ((PRINTF_BYTES - 8) // frame)


@both
def test_last_bits_lane_counts_and_hardware_numbers(arch: str) -> None:
    source = """
    __global__ void k(const unsigned long long* in, unsigned* out) {
        unsigned* row = out + threadIdx.x * 8;
        unsigned long long x = in[threadIdx.x];
        row[0] = __lastbit_u32_u32((unsigned)x); row[1] = __lastbit_u32_u64(x);
        row[2] = __mbcnt_lo((unsigned)x, 5); row[3] = __mbcnt_hi((unsigned)(x >> 32), 7);
        row[4] = __float_as_uint(__hip_ds_swizzlef(__uint_as_float(threadIdx.x + 0x3f800000), 0x041f)) - 0x3f800000;
        row[5] = __smid(); row[6] = __clock64() <= __clock64(); row[7] = __clock() <= clock();
        __named_sync();
    }"""
    r = np.random.default_rng(4)
    values = (r.integers(0, 2**64, 64, dtype="uint64") << r.integers(0, 63, 64).astype("uint64")) & np.uint64(2**64 - 1)
    values[:2] = 0, 1 << 40
    (_, out), _ = run(arch, source, values, np.zeros(64 * 8, "uint32"))
    size = ARCHITECTURES[arch]
    last = lambda x: (x & -x).bit_length() - 1 if x else 0xFFFFFFFF  # noqa: E731
    for t, row in enumerate(out.reshape(64, 8).tolist()):
        x, lane = int(values[t]), t % size
        low, high = x & 0xFFFFFFFF, x >> 32
        below = (1 << lane) - 1
        assert row == [
            last(low), last(x), (low & below & 0xFFFFFFFF).bit_count() + 5, (high & below >> 32).bit_count() + 7,
            t ^ 1, 0, 1, 1,
        ]  # fmt: skip


CONSTANTS = {
    "F": {
        "INF": 0x7F800000, "NAN": 0x7FFFFFFF, "MIN_DENORM": 1, "MAX_NORMAL": 0x7F7FFFFF, "NEG_ZERO": 1 << 31,
    },
    "": {"INF": 0x7FF << 52, "NAN": 0xFFF8 << 48, "MIN_DENORM": 1, "NEG_ZERO": 1 << 63},
}  # fmt: skip
"""Bits of what is no number of mathematics: IEEE 754; the NaNs are those of HIP's header."""


def numbers(suffix: str) -> dict[str, Decimal]:
    """The others, to 50 digits. _HI is one as its type has it, _LO what that lacks."""
    with localcontext(prec=50):
        half, one, two, ten = Decimal("0.5"), Decimal(1), Decimal(2), Decimal(10)
        pi = Decimal("3.14159265358979323846264338327950288419716939937510582097494")
        found = {
            "ZERO": Decimal(0), "ONE": one, "SQRT_HALF": half.sqrt(), "SQRT_TWO": two.sqrt(), "PI": pi, "PIO2": pi / 2,
            "PIO4": pi / 4, "2PI": 2 * pi, "LN2": two.ln(), "L2E": 1 / two.ln(), "THIRD": one / 3, "3PIO4": 3 * pi / 4,
            "2_OVER_PI": 2 / pi, "L2T": ten.ln() / two.ln(), "LG2": two.log10(), "LGE": one.exp().log10(),
            "LNT": ten.ln(), "LNPI": pi.ln(), "TWO_TO_23": two**23,
        }  # fmt: skip
        if suffix:
            found |= {
                "SQRT_2_OVER_PI": (2 / pi).sqrt(), "TWO_TO_M126": two**-126, "TWO_TO_126": two**126,
                "TWO_TO_24": two**24, "TWO_TO_31": two**31, "TWO_TO_32": two**32,
                "NORM_HUGE": (2 - two**-23) * two**127, "REMQUO_BITS": Decimal(3), "REMQUO_MASK": Decimal(7),
                "TRIG_PLOSS": Decimal(105615),
            }  # fmt: skip
        else:
            found |= {
                "TWOTHIRD": two / 3, "SQRT_2PI": (2 * pi).sqrt(), "SQRT_PIO2": (pi / 2).sqrt(),
                "SQRT_2OPI": (2 / pi).sqrt(), "TRIG_PLOSS": two**31, "DBL2INT_CVT": two**52 + two**51,
                "TWO_TO_M54": two**-54, "TWO_TO_M1022": two**-1022,
            }  # fmt: skip
            found |= {f"LN2_X_{times}": times * two.ln() for times in (1024, 1025, 1075)}
            found |= {f"LG2_X_{times}": times * two.log10() for times in (1024, 1075)}
            found |= {f"TWO_TO_{power}": two**power for power in (52, 53, 54)}
        names = ("SQRT_HALF",) if suffix else (
            "SQRT_HALF", "PIO4", "PIO2", "PI", "SQRT_2PI", "SQRT_PIO2", "L2E", "LG2", "LGE", "LN2", "LNT"
        )  # fmt: skip
        for name in names:
            rounded = float(np.float32(float(found[name]))) if suffix else float(found[name])
            found |= {f"{name}_HI": found[name], f"{name}_LO": found[name] - Decimal(rounded)}
        return found


@pytest.mark.full
@pytest.mark.parametrize("suffix", ["F", ""])
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100 device"])
def test_mathematical_constants(arch: str, suffix: str) -> None:
    """Every constant of hip/hip_math_constants.h is the number of its name, rounded to its type."""
    type, number, word = ("float", "float32", "uint32") if suffix else ("double", "float64", "uint64")
    bits = {name: int(np.array(float(value), number).view(word)) for name, value in numbers(suffix).items()}
    wanted = bits | CONSTANTS[suffix]
    header = (INCLUDE / "hip" / "hip_math_constants.h").read_text()
    there = re.findall(r"#define HIP_(\w+?)_F\b" if suffix else r"#define HIP_(?!\w+_F\b)(\w+)", header)
    assert sorted(there) == sorted(wanted)
    body = "\n".join(f"out[{i}] = HIP_{name}{'_F' * bool(suffix)};" for i, name in enumerate(wanted))
    source = f"#include <hip/hip_math_constants.h>\n__global__ void constants({type}* out) {{\n{body}\n}}"
    (out,), _ = run(arch, source, zeros(len(wanted), number), block=(1,))
    assert dict(zip(wanted, out.view(word).tolist(), strict=True)) == wanted


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100 device"])
def test_vectors_construct_as_in_hip(arch: str) -> None:
    """HIP's vector types: elements in order, one number for all of them, nothing for zeros; operators by element."""
    source = """
    __global__ void vectors(const int* i, const float* f, float* out) {
        float4 a = {1, i[0], 2.0, f[0]}, b(1.0f), c{}, e = make_float4(1, 2, 3, 4), g = float4(1, 2, 3, 4);
        float1 h = 3.0f;  int2 k = make_int2(1, 2), l{i[0], i[1]};  uchar4 m = make_uchar4(1, 2, 3, 4);
        a += b; a = a * 2 - e / 4.0f + g; a = 2 * a; k <<= 1; k = ~k & l; m.x = m.y + 1;
        float floats[] = {a.x, a.y, a.z, a.w, a[1], b.x, b.y, b.z, b.w, c.x, c.y, c.z, c.w, h.x};
        int others[] = {k.x, k.y, m.x, m.w, k == l, a != b};
        for (int n = 0; n < 20; n++) out[n] = n < 14 ? floats[n] : others[n - 14];
    }"""
    given = np.array([5, 6], "int32"), np.array([0.5], "float32")
    (_, _, out), _ = run(arch, source, *given, zeros(20, "float32"), block=(1,))
    sums = [2 * (2 * (x + 1) - n / 4 + n) for x, n in zip((1, 5, 2, 0.5), (1, 2, 3, 4), strict=True)]
    assert out.tolist() == [*sums, sums[1], 1, 1, 1, 1, 0, 0, 0, 0, 3, ~2 & 5, ~4 & 6, 3, 4, 0, 1]
