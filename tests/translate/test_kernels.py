"""Whole kernels on translated code: what they compute, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.translate.kernels import ARCHITECTURES, Buffer, good

pytestmark = pytest.mark.parametrize("arch", ARCHITECTURES)
RANDOM = np.random.default_rng(7)


def zeros(n, dtype):
    return Buffer(np.zeros(n, dtype))


@pytest.mark.parametrize("workers", [1, 2])
def test_saxpy_with_a_tail(arch, workers):
    n = 100_003
    x, y = RANDOM.random(n, np.float32), RANDOM.random(n, np.float32)
    out = Buffer(y)
    good(arch, "saxpy", (n + 255) // 256, 256, n, 2.5, Buffer(x), out, workers=workers)
    fused = (np.float64(2.5) * x + y).astype(np.float32)  # exact in double, rounded once
    assert (out.array() == fused).mean() > 0.9999
    assert np.abs(out.array() - fused).max() <= 2.0**-22


@pytest.mark.parametrize("name", ["sgemm", "tiled"])
def test_matrix_product(arch, name):
    n = 64
    a, b = (RANDOM.integers(-4, 5, (n, n)).astype(np.float32) for _ in range(2))
    out = zeros((n, n), np.float32)
    good(arch, name, (n // 16, n // 16), (16, 16), n, Buffer(a), Buffer(b), out)
    assert np.array_equal(out.array(), a @ b)


def test_block_reduction(arch):
    n = 256 * 33 - 100
    x = RANDOM.integers(0, 10, n).astype(np.float32)
    out = zeros(33, np.float32)
    good(arch, "reduce", 33, 256, n, Buffer(x), out)
    assert np.array_equal(out.array(), np.pad(x, (0, 100)).reshape(33, 256).sum(1))


def test_collatz(arch):
    x = np.arange(1, 3001, dtype=np.uint32)
    out = zeros(3000, np.int32)
    good(arch, "collatz", 12, 256, 3000, Buffer(x), out)

    def steps(v):
        count = 0
        while v != 1:
            v, count = (3 * v + 1 if v & 1 else v // 2), count + 1
        return count

    assert out.array().tolist() == [steps(v) for v in range(1, 3001)]


def test_mandelbrot(arch):
    w, f = 64, np.float32
    x, y = np.meshgrid(np.arange(w, dtype=f), np.arange(w, dtype=f))
    cr, ci = f(-2) + f(3) * x / f(w), f(-1.5) + f(3) * y / f(w)
    zr, zi, k, alive = np.zeros_like(cr), np.zeros_like(cr), np.zeros((w, w), np.int32), np.ones((w, w), bool)
    for _ in range(100):
        alive &= zr * zr + zi * zi < 4
        zr, zi = np.where(alive, zr * zr - zi * zi + cr, zr), np.where(alive, f(2) * zr * zi + ci, zi)
        k += alive
    out = zeros((w, w), np.int32)
    good(arch, "mandelbrot", (4, 4), (16, 16), w, w, 100, out)
    assert np.array_equal(out.array(), k)


def _polynomial(x, n):
    s = np.float32(0)
    for i in range(n):
        s = np.float32(np.float64(s) * np.float64(x) + (i & 3) + 1)
    return s


def test_calls_of_device_functions(arch):
    n = 500
    x = RANDOM.integers(0, 9, n).astype(np.float32)
    y, z, r = zeros(n, np.float32), zeros(n, np.float32), zeros(n, np.int32)
    good(arch, "calls", 2, 256, n, Buffer(x), y)
    polynomials = [_polynomial(x[i], i % 5) for i in range(n)]
    assert y.array().tolist() == polynomials
    good(arch, "pointers", 2, 256, n, Buffer(x), z)
    assert z.array().tolist() == [polynomials[i] if i & 1 else x[i] - i % 5 for i in range(n)]
    good(arch, "recursion", 2, 256, n, r)
    assert r.array().tolist() == [(0, 1, 1, 2, 3, 5, 8, 13, 21, 34)[i % 10] for i in range(n)]


@pytest.mark.parametrize("name", ["histogram", "local_histogram"])
def test_atomics_lose_nothing(arch, name):
    x = RANDOM.integers(0, 64, 20_000).astype(np.int32)
    h = zeros(64, np.int32)
    good(arch, name, 79, 256, 20_000, Buffer(x), h, workers=2)
    assert np.array_equal(h.array(), np.bincount(x, minlength=64))


def test_atomics_of_all_widths(arch):
    n = 2000
    x = RANDOM.integers(0, 16, n).astype(np.float32)
    f, d, u = zeros(1, np.float32), zeros(1, np.float64), zeros(1, np.uint64)
    good(arch, "sums", 8, 256, n, Buffer(x), f, d, u, workers=2)
    assert f.array()[0] == d.array()[0] == x.sum()
    assert u.array()[0] == (n * (n - 1) // 2) << 32


def test_lanes_exchange_values(arch):
    wave = 64 if arch == "gfx942" else 32
    x = RANDOM.integers(0, 100, 512).astype(np.int32)
    y, b = zeros(512, np.int32), zeros(512, np.uint64)
    good(arch, "shuffles", 2, 256, Buffer(x), y)
    expected = np.repeat(x.reshape(-1, wave).sum(1), wave) + 1_000_000 * x.reshape(-1, 2)[:, ::-1].ravel()
    assert np.array_equal(y.array(), expected)
    good(arch, "ballots", 2, 256, Buffer(x), b)
    odd = [sum(1 << i for i in range(wave) if row[i] & 1) for row in x.reshape(-1, wave)]
    assert b.array().tolist() == [m for m in odd for _ in range(wave)]


def test_memory_of_every_kind(arch):
    n = 500
    x = RANDOM.integers(0, 1000, n).astype(np.int32)
    y = zeros(512, np.int32)
    given = np.arange(512, dtype=np.int32)
    good(arch, "reversed", 2, 256, Buffer(given), y, lds=1024)
    assert np.array_equal(y.array(), given.reshape(2, 256)[:, ::-1].ravel())
    s = zeros(n, np.int32)
    good(arch, "scratch", 2, 256, n, Buffer(x), s)
    lanes = np.arange(n)
    window = np.stack([x[(lanes + k) % n] for k in range(32)])
    total = np.zeros(n, np.int32)
    for k in range(32):
        total = total * 3 + window[(k * x) & 31, lanes]
    assert np.array_equal(s.array(), total)
    four = RANDOM.random((n, 4), np.float32)
    out = zeros((n, 4), np.float32)
    good(arch, "vectors", 2, 256, n, Buffer(four), out)
    assert np.array_equal(out.array(), four[:, ::-1])
    bytes_, shorts = RANDOM.integers(0, 256, n).astype(np.uint8), RANDOM.integers(-9999, 9999, n).astype(np.int16)
    b, c = zeros(n, np.uint8), zeros(n, np.int16)
    good(arch, "narrow", 2, 256, n, Buffer(bytes_), b, Buffer(shorts), c)
    assert np.array_equal(b.array(), bytes_[::-1] + np.uint8(1))
    assert np.array_equal(c.array(), shorts * np.int16(3))


@pytest.mark.parametrize("which", [0, 1, 2])
def test_generic_pointers(arch, which):
    x = Buffer(np.arange(128, dtype=np.int32) + 7)
    good(arch, "generic", 1, 64, x, which)
    i = np.arange(64)
    expected = (i + 7, i, np.where(i % 4 == 3, i, i % 4 + 1))[which]
    assert np.array_equal(x.array()[64:], expected)


def test_global_variables(arch):
    y = zeros(64, np.int32)
    good(arch, "globals", 1, 64, y)
    assert y.array().tolist() == [(63 - i) * 3 for i in range(64)]


def test_lanes_put_to_sleep_keep_their_values(arch):
    """sinf's special cases end in v_cmpx on gfx11: what the sleeping lanes hold is needed when they wake."""
    x = np.concatenate([RANDOM.normal(0, 3, 500), RANDOM.normal(0, 1e6, 12)]).astype(np.float32)
    y = zeros(512, np.float32)
    good(arch, "sine", 2, 256, 512, Buffer(x), y)
    assert np.abs(y.array() - np.sin(x.astype(np.float64))).max() < 2e-7


def test_stores_and_loads_of_a_wave_keep_their_order(arch):
    """A wave executes one instruction in all its lanes before the next, whatever the addresses."""
    wave = 64 if arch == "gfx942" else 32
    x = Buffer(np.arange(100, 164, dtype=np.int32))
    good(arch, "overtake", 1, wave, x)
    memory = list(range(100, 164))
    values = memory[:wave]
    for i in range(wave):
        memory[(i + 1) % 64] = values[i] + 1
    values = memory[:wave]
    for i in range(wave):
        memory[i] = values[i] * 2
    assert x.array().tolist() == memory


def test_the_same_launch_twice_gives_the_same_record(arch):
    x = np.arange(1, 1001, dtype=np.uint32)
    records = []
    for workers in (1, 2):
        out = zeros(1000, np.int32)
        launch = good(arch, "collatz", 16, 64, 1000, Buffer(x), out, workers=workers)
        records.append((dict(launch.counters), launch.time_us, out.array().tolist()))
    assert records[0] == records[1]


def test_registers_indexed_at_run_time(arch):
    n = 100
    x = RANDOM.integers(0, 100, (n, 16)).astype(np.int32)
    for u in (7, 14):
        y = zeros(n, np.int32)
        good(arch, "indexed", 1, 128, n, Buffer(x), y, u)
        a = x.copy()
        a[:, (u + 3) & 15] = np.arange(n) * 7
        assert np.array_equal(y.array(), x[:, u] + a @ (3 ** np.arange(15, -1, -1)).astype(np.int32))
