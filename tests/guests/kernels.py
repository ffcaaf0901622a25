"""Kernels in Triton for the tests: each is launched, and what it leaves is compared with numpy. `CASES` lists them.

A case is a function of the test: it makes arrays, launches, and returns pairs of what came and what should have, with
the largest difference that is allowed.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import triton
import triton.language as tl

import gpulab
from gpulab.toolchain import cache

Pairs = list[tuple[np.ndarray, np.ndarray, float]]
CASES: dict[str, Callable[[], Pairs]] = {}


def folder() -> str:
    """Where Triton keeps what it compiles. That names the file of its source, which Triton's keys do not: so each
    clone has a folder of its own."""
    return str(cache.folder() / "triton" / f"{zlib.crc32(__file__.encode()):08x}")


def case(function: Callable[[], Pairs]) -> Callable[[], Pairs]:
    CASES[function.__name__] = function
    return function


def uniform(*shape: int, seed: int = 1, dtype: str = "float32") -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(dtype)


def device(array: np.ndarray) -> Any:
    return gpulab.to_device(array)


def empty(*shape: int, dtype: str = "float32") -> Any:
    return gpulab.zeros(shape, dtype)


# --------------------------------------------------------------------- the tutorials of Triton's documentation


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


@case
def vector_addition() -> Pairs:
    n = 98432
    a, b = uniform(n), uniform(n, seed=2)
    out = empty(n)
    add_kernel[(triton.cdiv(n, 1024),)](device(a), device(b), out, n, BLOCK=1024)
    return [(out.to_host(), a + b, 0)]


@triton.jit
def softmax_kernel(out, x, stride, rows, columns, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        at = tl.arange(0, BLOCK)
        mask = at < columns
        values = tl.load(x + row * stride + at, mask=mask, other=-float("inf"))
        powers = tl.exp(values - tl.max(values, axis=0))
        tl.store(out + row * stride + at, powers / tl.sum(powers, axis=0), mask=mask)


@case
def fused_softmax() -> Pairs:
    a = uniform(37, 781) * 10
    out = empty(37, 781)
    softmax_kernel[(8,)](out, device(a), 781, 37, 781, BLOCK=1024, STAGES=2, num_warps=8)
    powers = np.exp(a.astype("f8") - a.max(axis=1, keepdims=True))
    return [(out.to_host(), powers / powers.sum(axis=1, keepdims=True), 1e-6)]


@triton.jit
def leaky(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.autotune(
    configs=[
        triton.Config({"BM": 64, "BN": 64, "BK": 32, "GROUP": 4}, num_warps=4, num_stages=2),
        triton.Config({"BM": 32, "BN": 64, "BK": 32, "GROUP": 4}, num_warps=4, num_stages=2),
    ],
    key=["M", "N", "K"],
)
@triton.jit
def matmul_kernel(
    a, b, c, M, N, K, sam, sak, sbk, sbn, scm, scn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, ACTIVATION: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0)
    across, down = tl.cdiv(N, BN), tl.cdiv(M, BM)
    group = pid // (GROUP * across)
    first = group * GROUP
    size = min(down - first, GROUP)
    m = first + (pid % (GROUP * across)) % size
    n = (pid % (GROUP * across)) // size
    am = (m * BM + tl.arange(0, BM)) % M
    bn = (n * BN + tl.arange(0, BN)) % N
    k = tl.arange(0, BK)
    a_at = a + am[:, None] * sam + k[None, :] * sak
    b_at = b + k[:, None] * sbk + bn[None, :] * sbn
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(tl.cdiv(K, BK)):
        left = tl.load(a_at, mask=k[None, :] < K - step * BK, other=0.0)
        right = tl.load(b_at, mask=k[:, None] < K - step * BK, other=0.0)
        sums = tl.dot(left, right, sums)
        a_at += BK * sak
        b_at += BK * sbk
    if ACTIVATION == "leaky":
        sums = leaky(sums)
    result = sums.to(tl.float16)
    cm, cn = m * BM + tl.arange(0, BM), n * BN + tl.arange(0, BN)
    tl.store(c + scm * cm[:, None] + scn * cn[None, :], result, mask=(cm[:, None] < M) & (cn[None, :] < N))


def product(activation: str) -> Pairs:
    M, N, K = 130, 96, 80
    a, b = uniform(M, K, dtype="float16"), uniform(K, N, seed=2, dtype="float16")
    c = empty(M, N, dtype="float16")
    matmul_kernel[lambda meta: (triton.cdiv(M, meta["BM"]) * triton.cdiv(N, meta["BN"]),)](
        device(a), device(b), c, M, N, K, K, 1, N, 1, N, 1, ACTIVATION=activation
    )
    exact = a.astype("f8") @ b.astype("f8")
    return [(c.to_host(), np.where(exact >= 0, exact, 0.01 * exact) if activation else exact, 0.01)]


@case
def matrix_product_with_autotune() -> Pairs:
    return product("leaky") + product("")


@triton.jit
def dropout_kernel(x, out, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    keep = tl.rand(seed, at) > p
    tl.store(out + at, tl.where(keep, tl.load(x + at, mask=mask) / (1 - p), 0.0), mask=mask)


@case
def seeded_dropout() -> Pairs:
    n = 10_000
    a, outs = np.ones(n, "f4"), [empty(n) for _ in range(3)]
    for out, seed in zip(outs, (123, 123, 512), strict=True):
        dropout_kernel[(triton.cdiv(n, 1024),)](device(a), out, n, 0.25, seed, BLOCK=1024)
    one, again, other = (out.to_host() for out in outs)
    assert (one != other).mean() > 0.2
    assert set(np.unique(one)) == {0.0, np.float32(1 / 0.75)}
    return [(one, again, 0), (np.array([one.mean()]), np.array([1.0]), 0.02)]


@triton.jit
def layer_norm_kernel(x, y, w, b, mean, rstd, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    y += row * stride
    x += row * stride
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x + at, mask=at < n, other=0.0).to(tl.float32)
    average = tl.sum(total, axis=0) / n
    square = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        values = tl.load(x + at, mask=at < n, other=0.0).to(tl.float32)
        values = tl.where(at < n, values - average, 0.0)
        square += values * values
    inverse = 1 / tl.sqrt(tl.sum(square, axis=0) / n + eps)
    tl.store(mean + row, average)
    tl.store(rstd + row, inverse)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        mask = at < n
        scale, shift = tl.load(w + at, mask=mask), tl.load(b + at, mask=mask)
        values = tl.load(x + at, mask=mask, other=0.0).to(tl.float32)
        tl.store(y + at, (values - average) * inverse * scale + shift, mask=mask)


@case
def layer_norm() -> Pairs:
    a, w, b = uniform(23, 1151), uniform(1151, seed=2), uniform(1151, seed=3)
    y, mean, rstd = empty(23, 1151), empty(23), empty(23)
    layer_norm_kernel[(23,)](device(a), y, device(w), device(b), mean, rstd, 1151, 1151, 1e-5, BLOCK=512, num_warps=4)
    exact = a.astype("f8")
    spread = 1 / np.sqrt(exact.var(axis=1) + 1e-5)
    normal = (exact - exact.mean(axis=1, keepdims=True)) * spread[:, None]
    return [
        (y.to_host(), normal * w + b, 1e-5),
        (mean.to_host(), exact.mean(axis=1), 1e-6),
        (rstd.to_host(), spread, 1e-5),
    ]


@triton.jit
def attention_kernel(q, k, v, out, scale, N, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr):
    start, head = tl.program_id(0), tl.program_id(1)
    rows, wide = start * BM + tl.arange(0, BM), tl.arange(0, D)
    base = head * N * D
    left = tl.load(q + base + rows[:, None] * D + wide[None, :])
    most = tl.zeros([BM], dtype=tl.float32) - float("inf")
    total = tl.zeros([BM], dtype=tl.float32)
    sums = tl.zeros([BM, D], dtype=tl.float32)
    end = (start + 1) * BM if CAUSAL else N
    for first in range(0, end, BN):
        columns = first + tl.arange(0, BN)
        keys = tl.load(k + base + columns[None, :] * D + wide[:, None])
        scores = tl.dot(left, keys) * scale
        if CAUSAL:
            scores = tl.where(rows[:, None] >= columns[None, :], scores, -float("inf"))
        new = tl.maximum(most, tl.max(scores, 1))
        powers = tl.exp2(scores - new[:, None])
        old = tl.exp2(most - new)
        total = total * old + tl.sum(powers, 1)
        values = tl.load(v + base + columns[:, None] * D + wide[None, :])
        sums = tl.dot(powers.to(tl.float16), values, sums * old[:, None])
        most = new
    tl.store(out + base + rows[:, None] * D + wide[None, :], (sums / total[:, None]).to(tl.float16))


def attention(causal: bool) -> Pairs:
    heads, n, d = 2, 128, 64
    q, k, v = (uniform(heads, n, d, seed=s, dtype="float16") for s in (1, 2, 3))
    out = empty(heads, n, d, dtype="float16")
    attention_kernel[(n // 32, heads)](
        device(q), device(k), device(v), out, 1.4426950408889634 / 8, n, D=d, BM=32, BN=32, CAUSAL=causal
    )
    scores = np.einsum("hnd,hmd->hnm", q.astype("f8"), k.astype("f8")) / 8
    if causal:
        scores = np.where(np.tril(np.ones((n, n), bool)), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=2, keepdims=True))
    weights = powers / powers.sum(axis=2, keepdims=True)
    return [(out.to_host(), weights @ v.astype("f8"), 0.005)]


@case
def fused_attention() -> Pairs:
    return attention(False)


@case
def fused_attention_causal() -> Pairs:
    return attention(True)


@triton.jit
def grouped_kernel(pointers, sizes, count, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tile = tl.program_id(0)
    last = 0
    for problem in range(count):
        m, n, k = tl.load(sizes + 3 * problem), tl.load(sizes + 3 * problem + 1), tl.load(sizes + 3 * problem + 2)
        tiles = tl.cdiv(m, BM) * tl.cdiv(n, BN)
        while tile >= last and tile < last + tiles:
            a = tl.load(pointers + 3 * problem).to(tl.pointer_type(tl.float16))
            b = tl.load(pointers + 3 * problem + 1).to(tl.pointer_type(tl.float16))
            c = tl.load(pointers + 3 * problem + 2).to(tl.pointer_type(tl.float16))
            row = (tile - last) // tl.cdiv(n, BN) * BM + tl.arange(0, BM)
            column = (tile - last) % tl.cdiv(n, BN) * BN + tl.arange(0, BN)
            inner = tl.arange(0, BK)
            sums = tl.zeros((BM, BN), dtype=tl.float32)
            for start in range(0, k, BK):
                left = tl.load(a + row[:, None] * k + start + inner[None, :])
                right = tl.load(b + (start + inner[:, None]) * n + column[None, :])
                sums += tl.dot(left, right)
            tl.store(c + row[:, None] * n + column[None, :], sums.to(tl.float16))
            tile += tl.num_programs(0)
        last += tiles


@case
def grouped_products() -> Pairs:
    shapes = [(64, 64, 32), (32, 96, 64), (96, 32, 32)]
    pairs, arrays, pointers = [], [], []
    for number, (m, n, k) in enumerate(shapes):
        a, b = uniform(m, k, seed=number, dtype="float16"), uniform(k, n, seed=9 + number, dtype="float16")
        three = device(a), device(b), empty(m, n, dtype="float16")
        arrays.append(three)
        pointers += [each.data_ptr() for each in three]
        pairs.append((three[2], a.astype("f8") @ b.astype("f8"), 0.01))
    sizes = device(np.array(shapes, "int32"))
    grouped_kernel[(4,)](device(np.array(pointers, "int64")), sizes, 3, BM=32, BN=32, BK=32)
    return [(c.to_host(), exact, most) for c, exact, most in pairs]


# ------------------------------------------------------------------------------------------ more kernels


@triton.jit
def reduce_kernel(x, total, most, least, place, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < n, other=0.0)
    tl.store(total, tl.sum(values))
    tl.store(most, tl.max(tl.where(at < n, values, -float("inf"))))
    tl.store(least, tl.min(tl.where(at < n, values, float("inf"))))
    tl.store(place, tl.argmax(tl.where(at < n, values, -float("inf")), axis=0))


@case
def reductions() -> Pairs:
    a = uniform(1000)
    total, most, least, place = empty(1), empty(1), empty(1), empty(1, dtype="int32")
    reduce_kernel[(1,)](device(a), total, most, least, place, 1000, BLOCK=1024)
    return [
        (total.to_host(), np.array([a.astype("f8").sum()]), 1e-3), (most.to_host(), a.max(keepdims=True), 0),
        (least.to_host(), a.min(keepdims=True), 0), (place.to_host(), np.array([a.argmax()]), 0),
    ]  # fmt: skip


@triton.jit
def rows_kernel(x, out, R: tl.constexpr, C: tl.constexpr, AXIS: tl.constexpr):
    values = tl.load(x + tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :])
    found = tl.sum(values, axis=AXIS)
    tl.store(out + tl.arange(0, C if AXIS == 0 else R), found)


@case
def sums_of_rows_and_columns() -> Pairs:
    a = uniform(64, 128)
    rows, columns = empty(64), empty(128)
    rows_kernel[(1,)](device(a), rows, R=64, C=128, AXIS=1)
    rows_kernel[(1,)](device(a), columns, R=64, C=128, AXIS=0)
    return [(rows.to_host(), a.sum(axis=1), 1e-4), (columns.to_host(), a.sum(axis=0), 1e-4)]


@triton.jit
def scan_kernel(x, sums, products, N: tl.constexpr, REVERSE: tl.constexpr):
    at = tl.arange(0, N)
    values = tl.load(x + at)
    tl.store(sums + at, tl.cumsum(values, axis=0, reverse=REVERSE))
    tl.store(products + at, tl.cumprod(values, axis=0, reverse=REVERSE))


@case
def scans() -> Pairs:
    a = np.random.default_rng(1).uniform(0.9, 1.1, 256).astype("f4")
    found = []
    for reverse in (False, True):
        sums, products = empty(256), empty(256)
        scan_kernel[(1,)](device(a), sums, products, N=256, REVERSE=reverse)
        b = a[::-1].astype("f8") if reverse else a.astype("f8")
        for out, exact in ((sums, np.cumsum(b)), (products, np.cumprod(b))):
            found.append((out.to_host(), exact[::-1] if reverse else exact, 1e-3))
    return found


@triton.jit
def combine(a_value, a_flag, b_value, b_flag):
    return tl.where(b_flag > 0, b_value, a_value + b_value), a_flag | b_flag


@triton.jit
def segmented_kernel(x, flags, out, N: tl.constexpr):
    at = tl.arange(0, N)
    sums, _ = tl.associative_scan((tl.load(x + at), tl.load(flags + at)), 0, combine)
    tl.store(out + at, sums)


@case
def segmented_scan() -> Pairs:
    a, flags = np.arange(128, dtype="int32"), (np.arange(128) % 11 == 0).astype("int32")
    out = empty(128, dtype="int32")
    segmented_kernel[(1,)](device(a), device(flags), out, N=128)
    exact, total = [], 0
    for value, flag in zip(a, flags, strict=True):
        total = value if flag else total + value
        exact.append(total)
    return [(out.to_host(), np.array(exact), 0)]


@triton.jit
def sort_kernel(x, out, R: tl.constexpr, C: tl.constexpr, DOWN: tl.constexpr):
    at = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    tl.store(out + at, tl.sort(tl.load(x + at), descending=DOWN))


@case
def sorts() -> Pairs:
    a = np.random.default_rng(3).integers(-1000, 1000, (4, 128)).astype("int32")
    up, down = empty(4, 128, dtype="int32"), empty(4, 128, dtype="int32")
    sort_kernel[(1,)](device(a), up, R=4, C=128, DOWN=False)
    sort_kernel[(1,)](device(a), down, R=4, C=128, DOWN=True)
    return [(up.to_host(), np.sort(a), 0), (down.to_host(), np.sort(a)[:, ::-1], 0)]


@triton.jit
def histogram_kernel(x, bins, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    counts = tl.histogram(tl.load(x + at, mask=at < n, other=BINS - 1), BINS)
    counts -= tl.where(tl.arange(0, BINS) == BINS - 1, tl.sum((at >= n).to(tl.int32)), 0)
    tl.atomic_add(bins + tl.arange(0, BINS), counts)


@case
def histogram_by_atomics() -> Pairs:
    a = np.random.default_rng(4).integers(0, 64, 5000).astype("int32")
    bins = empty(64, dtype="int32")
    histogram_kernel[(5,)](device(a), bins, 5000, BLOCK=1024, BINS=64)
    return [(bins.to_host(), np.bincount(a, minlength=64), 0)]


@triton.jit
def atomics_kernel(x, out, floats, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < n, other=0)
    tl.atomic_max(out + at * 0, values, mask=at < n)
    tl.atomic_min(out + 1 + at * 0, values, mask=at < n)
    tl.atomic_xor(out + 2 + at * 0, values, mask=at < n)
    tl.atomic_or(out + 3 + at * 0, values, mask=at < n)
    tl.atomic_add(floats + at % 4, values.to(tl.float32), mask=at < n)


@case
def atomics_of_each_kind() -> Pairs:
    a = np.random.default_rng(5).integers(0, 1 << 20, 777).astype("int32")
    out, floats = device(np.array([0, 1 << 30, 0, 0], "int32")), empty(4)
    atomics_kernel[(4,)](device(a), out, floats, 777, BLOCK=256)
    exact = [a.max(), a.min(), np.bitwise_xor.reduce(a), np.bitwise_or.reduce(a)]
    sums = np.array([a[k::4].astype("f8").sum() for k in range(4)])
    return [(out.to_host(), np.array(exact), 0), (floats.to_host() / sums, np.ones(4), 1e-5)]


@triton.jit
def lock_kernel(lock, count, total):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(total, tl.load(total) + tl.program_id(0) + 1)
    tl.store(count, tl.load(count) + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@case
def a_lock_by_compare_and_swap() -> Pairs:
    lock, count, total = (empty(1, dtype="int32") for _ in range(3))
    lock_kernel[(20,)](lock, count, total)
    return [(count.to_host(), np.array([20]), 0), (total.to_host(), np.array([210]), 0)]


@triton.jit
def transpose_kernel(x, out, M, N, B: tl.constexpr):
    i, j = tl.program_id(0) * B + tl.arange(0, B), tl.program_id(1) * B + tl.arange(0, B)
    tile = tl.load(x + i[:, None] * N + j[None, :], mask=(i[:, None] < M) & (j[None, :] < N))
    tl.store(out + j[:, None] * M + i[None, :], tl.trans(tile), mask=(j[:, None] < N) & (i[None, :] < M))


@case
def transposition() -> Pairs:
    a = uniform(70, 100)
    out = empty(100, 70)
    transpose_kernel[(3, 4)](device(a), out, 70, 100, B=32)
    return [(out.to_host(), a.T, 0)]


@triton.jit
def product_kernel(
    a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, KIND: tl.constexpr, PRECISION: tl.constexpr
):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    left = tl.load(a + m[:, None] * K + k[None, :])
    right = tl.load(b + k[:, None] * N + n[None, :])
    if KIND == "fp8":
        left, right = left.to(tl.float8e5, bitcast=True), right.to(tl.float8e5, bitcast=True)
    elif KIND == "bf16":
        left, right = left.to(tl.bfloat16), right.to(tl.bfloat16)
    tl.store(c + m[:, None] * N + n[None, :], tl.dot(left, right, input_precision=PRECISION))


@case
def product_of_floats() -> Pairs:
    a, b, c = uniform(32, 64), uniform(64, 32, seed=2), empty(32, 32)
    product_kernel[(1,)](device(a), device(b), c, M=32, N=32, K=64, KIND="", PRECISION="ieee")
    return [(c.to_host(), a.astype("f8") @ b.astype("f8"), 1e-5)]


@case
def product_of_bfloat16() -> Pairs:
    a, b, c = uniform(32, 64), uniform(64, 32, seed=2), empty(32, 32)
    product_kernel[(1,)](device(a), device(b), c, M=32, N=32, K=64, KIND="bf16", PRECISION="ieee")
    return [(c.to_host(), a.astype("f8") @ b.astype("f8"), 0.06)]


@case
def product_of_bytes() -> Pairs:
    rng = np.random.default_rng(6)
    a, b = rng.integers(-128, 128, (32, 64)).astype("int8"), rng.integers(-128, 128, (64, 32)).astype("int8")
    c = empty(32, 32, dtype="int32")
    product_kernel[(1,)](device(a), device(b), c, M=32, N=32, K=64, KIND="", PRECISION="ieee")
    return [(c.to_host(), a.astype("i4") @ b.astype("i4"), 0)]


@triton.jit
def quantised_kernel(x, w, scales, out, N: tl.constexpr, K: tl.constexpr):
    n, k = tl.arange(0, N), tl.arange(0, K)
    packed = tl.load(w + n[:, None] * (K // 2) + (k[None, :] // 2))
    nibbles = ((packed >> ((k[None, :] % 2) * 4)) & 15).to(tl.int32) - 8
    values = nibbles.to(tl.float32) * tl.load(scales + n)[:, None]
    tl.store(out + n, tl.sum(values * tl.load(x + k)[None, :], axis=1))


@case
def product_with_weights_of_four_bits() -> Pairs:
    rng = np.random.default_rng(7)
    nibbles = rng.integers(0, 16, (64, 128))
    packed = (nibbles[:, ::2] | nibbles[:, 1::2] << 4).astype("uint8")
    x, scales, out = uniform(128), uniform(64, seed=2), empty(64)
    quantised_kernel[(1,)](device(x), device(packed), device(scales), out, N=64, K=128)
    return [(out.to_host(), ((nibbles - 8) * scales[:, None].astype("f8")) @ x, 1e-4)]


@triton.jit
def split_k_kernel(a, b, c, M: tl.constexpr, N: tl.constexpr, K, BK: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    k = tl.program_id(0) * BK + tl.arange(0, BK)
    left = tl.load(a + m[:, None] * K + k[None, :])
    right = tl.load(b + k[:, None] * N + n[None, :])
    tl.atomic_add(c + m[:, None] * N + n[None, :], tl.dot(left, right))


@case
def product_split_along_k() -> Pairs:
    a, b, c = uniform(32, 256, dtype="float16"), uniform(256, 32, seed=2, dtype="float16"), empty(32, 32)
    split_k_kernel[(4,)](device(a), device(b), c, M=32, N=32, K=256, BK=64)
    return [(c.to_host(), a.astype("f8") @ b.astype("f8"), 1e-3)]


@triton.jit
def functions_kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, other=1.0)
    tl.store(out + at, tl.exp(v), mask=at < n)
    tl.store(out + n + at, tl.log(tl.abs(v) + 1), mask=at < n)
    tl.store(out + 2 * n + at, tl.sin(v) + tl.cos(v), mask=at < n)
    tl.store(out + 3 * n + at, tl.sqrt(tl.abs(v)) + tl.rsqrt(tl.abs(v) + 1), mask=at < n)
    tl.store(out + 4 * n + at, tl.erf(v), mask=at < n)
    tl.store(out + 5 * n + at, tl.sigmoid(v), mask=at < n)
    tl.store(out + 6 * n + at, tl.floor(v * 10) + tl.ceil(v * 10), mask=at < n)
    tl.store(out + 7 * n + at, tl.fma(v, v, v), mask=at < n)


@case
def mathematical_functions() -> Pairs:
    from math import erf

    a, out = uniform(500) * 3, empty(8, 500)
    functions_kernel[(1,)](device(a), out, 500, BLOCK=512)
    v = a.astype("f8")
    exact = [
        np.exp(v), np.log(abs(v) + 1), np.sin(v) + np.cos(v), np.sqrt(abs(v)) + 1 / np.sqrt(abs(v) + 1),
        np.array([erf(each) for each in v]), 1 / (1 + np.exp(-v)), np.floor(a * 10) + np.ceil(a * 10), v * v + v,
    ]  # fmt: skip
    return [(row, each, 2e-5) for row, each in zip(out.to_host(), exact, strict=True)]


@triton.jit
def integers_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    mask = at < n
    a, b = tl.load(x + at, mask=mask, other=1), tl.load(y + at, mask=mask, other=1)
    tl.store(out + at, a // b, mask=mask)
    tl.store(out + n + at, a % b, mask=mask)
    tl.store(out + 2 * n + at, tl.umulhi(a.to(tl.uint32), b.to(tl.uint32)).to(tl.int64), mask=mask)
    tl.store(out + 3 * n + at, a * b * 1000003, mask=mask)
    tl.store(out + 4 * n + at, (a << 7) ^ (b >> 3), mask=mask)
    tl.store(out + 5 * n + at, tl.where(a > b, a, b), mask=mask)


@case
def integers_of_64_bits() -> Pairs:
    rng = np.random.default_rng(8)
    a, b = rng.integers(1, 1 << 31, 200), rng.integers(1, 1 << 16, 200)
    out = empty(6, 200, dtype="int64")
    integers_kernel[(1,)](device(a), device(b), out, 200, BLOCK=256)
    exact = [a // b, a % b, (a * b) >> 32, a * b * 1000003, (a << 7) ^ (b >> 3), np.maximum(a, b)]
    return [(row, each, 0) for row, each in zip(out.to_host(), exact, strict=True)]


@triton.jit
def gather_kernel(x, places, out, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out + at, tl.gather(tl.load(x + at), tl.load(places + at), axis=0))


@case
def gathers() -> Pairs:
    a, places = uniform(128), np.random.default_rng(9).permutation(128).astype("int32")
    out = empty(128)
    gather_kernel[(1,)](device(a), device(places), out, N=128)
    return [(out.to_host(), a[places], 0)]


@triton.jit
def shapes_kernel(x, y, out, N: tl.constexpr):
    at = tl.arange(0, N)
    a, b = tl.load(x + at), tl.load(y + at)
    tl.store(out + tl.arange(0, 2 * N), tl.interleave(a, b))
    pairs = tl.join(a, b)
    left, right = tl.split(pairs)
    tl.store(out + 2 * N + at, left - right)
    tl.store(out + 3 * N + at, tl.flip(a))
    tl.store(out + 4 * N + at, tl.reshape(tl.trans(tl.reshape(a, (8, N // 8))), (N,)))


@case
def joins_splits_and_shapes() -> Pairs:
    a, b, out = uniform(64), uniform(64, seed=2), empty(5 * 64)
    shapes_kernel[(1,)](device(a), device(b), out, N=64)
    exact = np.concatenate([np.stack([a, b], axis=1).ravel(), a - b, a[::-1], a.reshape(8, 8).T.ravel()])
    return [(out.to_host(), exact, 0)]


@triton.jit
def descriptor_kernel(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    source = tl.make_tensor_descriptor(x, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    target = tl.make_tensor_descriptor(out, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    i, j = tl.program_id(0) * BM, tl.program_id(1) * BN
    target.store([i, j], source.load([i, j]) * 2 + 1)


@case
def tensor_descriptors() -> Pairs:
    a, out = uniform(50, 100), empty(50, 100)
    descriptor_kernel[(2, 4)](device(a), out, 50, 100, BM=32, BN=32)
    return [(out.to_host(), a * 2 + 1, 1e-6)]


@triton.jit
def cross_entropy_kernel(scores, targets, losses, classes, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    values = tl.load(scores + row * classes + at, mask=at < classes, other=-float("inf"))
    most = tl.max(values, axis=0)
    total = tl.log(tl.sum(tl.exp(values - most), axis=0)) + most
    tl.store(losses + row, total - tl.load(scores + row * classes + tl.load(targets + row)))


@case
def cross_entropy() -> Pairs:
    a, targets = uniform(40, 300) * 5, np.random.default_rng(2).integers(0, 300, 40).astype("int64")
    losses = empty(40)
    cross_entropy_kernel[(40,)](device(a), device(targets), losses, 300, BLOCK=512)
    v = a.astype("f8")
    return [(losses.to_host(), np.log(np.exp(v).sum(axis=1)) - v[np.arange(40), targets], 1e-5)]


@triton.jit
def rms_norm_kernel(x, w, out, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * n + at, mask=at < n, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(values * values, axis=0) / n + eps)
    tl.store(out + row * n + at, (values * scale * tl.load(w + at, mask=at < n)).to(tl.float16), mask=at < n)


@case
def rms_norm_in_half_precision() -> Pairs:
    a, w, out = uniform(16, 320, dtype="float16"), uniform(320, seed=2), empty(16, 320, dtype="float16")
    rms_norm_kernel[(16,)](device(a), device(w), out, 320, 1e-6, BLOCK=512)
    v = a.astype("f8")
    return [(out.to_host(), v / np.sqrt((v * v).mean(axis=1, keepdims=True) + 1e-6) * w, 0.003)]


@triton.jit
def rotary_kernel(x, cosines, sines, out, HALF: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, HALF)
    low, high = tl.load(x + row * 2 * HALF + at), tl.load(x + row * 2 * HALF + HALF + at)
    c, s = tl.load(cosines + row * HALF + at), tl.load(sines + row * HALF + at)
    tl.store(out + row * 2 * HALF + at, low * c - high * s)
    tl.store(out + row * 2 * HALF + HALF + at, high * c + low * s)


@case
def rotary_embedding() -> Pairs:
    a, angles = uniform(30, 64), uniform(30, 32, seed=2)
    out = empty(30, 64)
    rotary_kernel[(30,)](device(a), device(np.cos(angles)), device(np.sin(angles)), out, HALF=32)
    low, high = a[:, :32], a[:, 32:]
    exact = np.concatenate(
        [low * np.cos(angles) - high * np.sin(angles), high * np.cos(angles) + low * np.sin(angles)], 1
    )
    return [(out.to_host(), exact, 1e-6)]


@triton.jit
def stencil_kernel(x, out, H, W, B: tl.constexpr):
    i, j = tl.program_id(0) * B + tl.arange(0, B)[:, None], tl.program_id(1) * B + tl.arange(0, B)[None, :]
    inside = (i > 0) & (i < H - 1) & (j > 0) & (j < W - 1)
    at = x + i * W + j
    around = tl.load(at - W, mask=inside) + tl.load(at + W, mask=inside)
    around += tl.load(at - 1, mask=inside) + tl.load(at + 1, mask=inside)
    tl.store(out + i * W + j, around * 0.25, mask=inside)


@case
def stencil_of_five_points() -> Pairs:
    a, out = uniform(45, 61), empty(45, 61)
    stencil_kernel[(3, 4)](device(a), out, 45, 61, B=16)
    exact = np.zeros_like(a)
    exact[1:-1, 1:-1] = (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]) * 0.25
    return [(out.to_host(), exact, 1e-6)]


@triton.jit
def collatz_kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n, other=1)
    steps = tl.zeros([BLOCK], tl.int32)
    while tl.max(value) > 1:
        active = value > 1
        value = tl.where(active, tl.where(value % 2 == 0, value // 2, 3 * value + 1), value)
        steps += active.to(tl.int32)
    tl.store(out + at, steps, mask=at < n)


@case
def a_loop_until_all_have_ended() -> Pairs:
    a, out = np.arange(1, 101, dtype="int32"), empty(100, dtype="int32")
    collatz_kernel[(2,)](device(a), out, 100, BLOCK=64)

    def steps(value: int) -> int:
        count = 0
        while value > 1:
            value, count = (value // 2 if value % 2 == 0 else 3 * value + 1), count + 1
        return count

    return [(out.to_host(), np.array([steps(int(each)) for each in a]), 0)]


@triton.jit
def welford(mean_a, m2_a, count_a, mean_b, m2_b, count_b):
    delta, count = mean_b - mean_a, count_a + count_b
    share = tl.where(count == 0, 0.0, count_b / count)
    return mean_a + delta * share, m2_a + m2_b + delta * delta * count_a * share, count


@triton.jit
def variance_kernel(x, out, N: tl.constexpr):
    values = tl.load(x + tl.arange(0, N))
    mean, m2, count = tl.reduce((values, tl.zeros([N], tl.float32), tl.zeros([N], tl.float32) + 1), 0, welford)
    tl.store(out, mean)
    tl.store(out + 1, m2 / count)


@case
def variance_by_an_own_reduction() -> Pairs:
    a, out = uniform(512) + 100, empty(2)
    variance_kernel[(1,)](device(a), out, N=512)
    return [(out.to_host(), np.array([a.astype("f8").mean(), a.astype("f8").var()]), 1e-3)]


@triton.jit
def topk_kernel(x, out, C: tl.constexpr, K: tl.constexpr):
    row = tl.program_id(0)
    tl.store(out + row * K + tl.arange(0, K), tl.topk(tl.load(x + row * C + tl.arange(0, C)), K))


@case
def the_largest_of_each_row() -> Pairs:
    a, out = uniform(6, 256), empty(6, 8)
    topk_kernel[(6,)](device(a), out, C=256, K=8)
    return [(out.to_host(), np.sort(a)[:, ::-1][:, :8], 0)]


@triton.jit
def float8_kernel(x, out, N: tl.constexpr):
    at = tl.arange(0, N)
    small = tl.load(x + at).to(tl.float8e5)
    tl.store(out + at, small.to(tl.float32))


@case
def numbers_of_eight_bits() -> Pairs:
    """E5M2: two bits of mantissa, so that rounding changes a number by an eighth at most."""
    a, out = uniform(256) * 4, empty(256)
    float8_kernel[(1,)](device(a), out, N=256)
    found = out.to_host()
    assert len(np.unique(found)) < 160
    return [(found / a, np.ones(256), 0.1251)]


@triton.jit
def scaled_kernel(a, a_scales, b, b_scales, out, N: tl.constexpr, K: tl.constexpr):
    n, k, s = tl.arange(0, N), tl.arange(0, K // 2), tl.arange(0, K // 32)
    left, right = tl.load(a + n[:, None] * (K // 2) + k[None, :]), tl.load(b + k[:, None] * N + n[None, :])
    up, down = tl.load(a_scales + n[:, None] * (K // 32) + s[None, :]), tl.load(b_scales + n[:, None] * (K // 32) + s)
    tl.store(out + n[:, None] * N + n[None, :], tl.dot_scaled(left, up, "e2m1", right, down, "e2m1"))


@case
def product_of_four_bit_numbers_with_scales() -> Pairs:
    """OCP's microscaling formats: E2M1 has 0, 0.5, 1, 1.5, 2, 3, 4, 6, two in a byte; 32 share a power of two."""
    random, n, k = np.random.default_rng(3), 32, 64
    a, b = (random.integers(0, 256, shape, dtype=np.uint8) for shape in ((n, k // 2), (k // 2, n)))
    up, down = (random.integers(126, 129, (n, k // 32), dtype=np.uint8) for _ in range(2))
    values = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    values = np.concatenate([values, -values])
    left = np.stack([values[a & 15], values[a >> 4]], -1).reshape(n, k) * 2.0 ** (np.repeat(up, 32, 1) - 127.0)
    right = np.stack([values[b & 15], values[b >> 4]], 1).reshape(k, n) * 2.0 ** (np.repeat(down, 32, 1).T - 127.0)
    out = empty(n, n)
    scaled_kernel[(1,)](device(a), device(up), device(b), device(down), out, N=n, K=k)
    return [(out.to_host(), left @ right, 1e-3)]


@triton.jit
def fold(v):
    if v > 0:  # for each element by itself
        return v * 2
    else:
        return -v


@triton.jit
def mapped_kernel(x, out, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out + at, tl.map_elementwise(fold, tl.load(x + at)))


@case
def a_function_with_branches_for_each_element() -> Pairs:
    a, out = uniform(256), empty(256)
    mapped_kernel[(1,)](device(a), out, N=256)
    return [(out.to_host(), np.where(a > 0, 2 * a, -a), 0)]


@triton.jit
def meeting_kernel(x, arrived, n):
    me = tl.program_id(0)
    tl.store(x + me, me * me)
    tl.atomic_add(arrived, 1, sem="acq_rel")
    while tl.atomic_add(arrived, 0, sem="acquire") < n:
        pass
    tl.store(x + n + me, tl.load(x + (me + 1) % n))


@case
def programs_that_wait_for_each_other() -> Pairs:
    """All programs of a cooperative launch run at the same time."""
    x, arrived, squares = empty(16, dtype="int32"), empty(1, dtype="int32"), np.arange(8) ** 2
    meeting_kernel[(8,)](x, arrived, 8, launch_cooperative_grid=True)
    return [(x.to_host(), np.concatenate([squares, np.roll(squares, -1)]), 0)]


@triton.jit
def convolution_kernel(x, w, out, n, K: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for tap in tl.static_range(K):
        total += tl.load(w + tap) * tl.load(x + at + tap, mask=at + tap < n + K - 1, other=0.0)
    tl.store(out + at, total, mask=at < n)


@case
def convolution_with_an_unrolled_loop() -> Pairs:
    a, w, out = uniform(1000 + 6), uniform(7, seed=2), empty(1000)
    convolution_kernel[(4,)](device(a), device(w), out, 1000, K=7, BLOCK=256)
    return [(out.to_host(), np.correlate(a.astype("f8"), w.astype("f8"), "valid"), 1e-5)]


@triton.jit
def spmv_kernel(rows, columns, values, x, out, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    first, end = tl.load(rows + row), tl.load(rows + row + 1)
    total = 0.0
    for start in range(first, end, BLOCK):
        at = start + tl.arange(0, BLOCK)
        mask = at < end
        total += tl.sum(
            tl.load(values + at, mask=mask, other=0.0) * tl.load(x + tl.load(columns + at, mask=mask, other=0))
        )
    tl.store(out + row, total)


@case
def sparse_matrix_times_vector() -> Pairs:
    rng = np.random.default_rng(11)
    dense = np.where(rng.random((50, 80)) < 0.3, rng.uniform(-1, 1, (50, 80)), 0).astype("f4")
    dense[7] = 0
    rows = np.concatenate([[0], np.cumsum((dense != 0).sum(axis=1))]).astype("int32")
    columns, values = np.nonzero(dense)[1].astype("int32"), dense[dense != 0]
    x, out = uniform(80, seed=3), empty(50)
    spmv_kernel[(50,)](device(rows), device(columns), device(values), device(x), out, BLOCK=16)
    return [(out.to_host(), dense.astype("f8") @ x, 1e-5)]


@triton.jit
def batched_kernel(a, b, c, N: tl.constexpr):
    batch, i, j = tl.program_id(2), tl.program_id(0) * N + tl.arange(0, N), tl.program_id(1) * N + tl.arange(0, N)
    size = tl.num_programs(0) * N
    base = batch * size * size
    sums = tl.zeros((N, N), tl.float32)
    for start in range(0, size, N):
        k = start + tl.arange(0, N)
        left = tl.load(a + base + i[:, None] * size + k[None, :])
        sums = tl.dot(left, tl.load(b + base + k[:, None] * size + j[None, :]), sums)
    tl.store(c + base + i[:, None] * size + j[None, :], sums)


@case
def products_of_a_batch_in_a_grid_of_three_dimensions() -> Pairs:
    a, b, c = uniform(3, 64, 64, dtype="float16"), uniform(3, 64, 64, seed=2, dtype="float16"), empty(3, 64, 64)
    batched_kernel[(2, 2, 3)](device(a), device(b), c, N=32)
    return [(c.to_host(), a.astype("f8") @ b.astype("f8"), 1e-3)]


@triton.heuristics({"EVEN": lambda given: given["n"] % given["BLOCK"] == 0})
@triton.jit
def scale_kernel(x, n, factor, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(x + at, tl.load(x + at) * factor)
    else:
        tl.store(x + at, tl.load(x + at, mask=at < n) * factor, mask=at < n)


@case
def heuristics_choose_a_constant() -> Pairs:
    found = []
    for n in (512, 500):
        a = uniform(n)
        x = device(a)
        scale_kernel[(2,)](x, n, 3.0, BLOCK=256)
        found.append((x.to_host(), a * 3, 1e-6))
    return found


@triton.jit
def racing_kernel(x, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(x + at, tl.load(x + at) + 1)


@triton.jit
def printing_kernel(x, N: tl.constexpr):
    tl.device_print("value", tl.load(x + tl.arange(0, N)))


@triton.jit
def asserting_kernel(x, N: tl.constexpr):
    values = tl.load(x + tl.arange(0, N))
    tl.device_assert(values < 3, "too large")
    tl.store(x + tl.arange(0, N), values)
