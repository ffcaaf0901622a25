"""Random numbers in kernels: hiprand/hiprand_kernel.h and rocrand/rocrand_kernel.h.

XORWOW's jumps are held against numbers that cuRAND's documentation prints (the same recursion with another treatment of
the seed), Philox against the known answers of Random123, MRG32k3a against the matrices of L'Ecuyer's RngStreams.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from tests.headers.device import run

both = pytest.mark.parametrize("arch", ["gfx942 device", "gfx1100 device"])

WORD = 0xFFFFFFFF
XORWOW = """
#include <hiprand/hiprand_kernel.h>
__global__ void k(unsigned* out, unsigned long long offset) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    hiprandState_t state;
    hiprand_init(SEED, t, offset, &state);
    for (int i = 0; i < 4; i++) out[4 * t + i] = hiprand(&state);
}"""


def start(seed: int) -> tuple[list[int], int]:
    """rocRAND's state for a seed."""
    low = 1228688033 * (seed & WORD ^ 0x2C7F967F) & WORD
    high = 2073658381 * (seed >> 32 ^ 0xA03697CB) & WORD
    x = [123456789 + low, 362436069 ^ low, 521288629 + high, 88675123 ^ high, 5783321 + low]
    return [word & WORD for word in x], 6615241 + high + low & WORD


def step(x: list[int]) -> list[int]:
    t = x[0] ^ x[0] >> 2
    return [*x[1:], (x[4] ^ x[4] << 4 ^ t ^ t << 1) & WORD]


def numbers(x: list[int], d: int, count: int) -> list[int]:
    out = []
    for _ in range(count):
        x, d = step(x), d + 362437 & WORD
        out.append(d + x[4] & WORD)
    return out


def join(x: list[int]) -> int:
    return sum(word << 32 * i for i, word in enumerate(x))


def split(x: int) -> list[int]:
    return [x >> 32 * i & WORD for i in range(5)]


def apply(matrix: list[int], x: int) -> int:
    result = 0
    for column in matrix:
        if x & 1:
            result ^= column
        x >>= 1
    return result


def power_of_two(exponent: int) -> list[int]:
    """The matrix of 2^exponent steps, as the images of the 160 bits."""
    matrix = [join(step(split(1 << bit))) for bit in range(160)]
    for _ in range(exponent):
        matrix = [apply(matrix, column) for column in matrix]
    return matrix


def test_the_recursion_and_the_length_of_a_subsequence_are_cuRANDs() -> None:
    """cuRAND's example prints the first numbers of ten subsequences for the seed 1234; only its seeding is another."""
    low, high = 1099087573 * (1234 ^ 0xAAD26B49) & WORD, 2591861531 * 0xF7DCEFDD & WORD
    x = join(
        [word & WORD for word in (123456789 + low, 362436069 ^ low, 521288629 + high, 88675123 ^ high, 5783321 + low)]
    )
    far, found = power_of_two(67), []
    for _ in range(10):
        found.append(round(numbers(split(x), 6615241 + high + low, 1)[0] / 2**32, 4))
        x = apply(far, x)
    assert found == [0.1455, 0.8202, 0.5504, 0.2948, 0.9147, 0.8690, 0.3219, 0.7829, 0.0113, 0.2855]


def test_the_table_of_jumps_is_what_the_tool_writes() -> None:
    place = Path(__file__).resolve().parents[2] / "tools" / "random_jumps.py"
    spec = importlib.util.spec_from_file_location("random_jumps", place)
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.OUTPUT.read_text(encoding="utf-8") == tool.text()


@both
def test_xorwow(arch: str) -> None:
    source = XORWOW.replace("SEED", "0x123456789abcdefull")
    (out,), _ = run(arch, source, np.zeros(4 * 320, "uint32"), np.uint64(0), grid=(5,), block=(64,))
    rows = out.reshape(-1, 4).tolist()
    x, d = start(0x123456789ABCDEF)
    far, state = power_of_two(67), join(x)
    for t in range(320):
        assert rows[t] == numbers(split(state), d, 4), t
        state = apply(far, state)
    offset = 3 * 16**7 + 16**4 + 15
    (out,), _ = run(arch, source, np.zeros(4 * 64, "uint32"), np.uint64(offset))
    state = join(x)
    for bit in range(offset.bit_length()):
        if offset >> bit & 1:
            state = apply(power_of_two(bit), state)
    assert out[:4].tolist() == numbers(split(state), d + 362437 * offset & WORD, 4)


@both
def test_philox(arch: str) -> None:
    """Random123's kat_vectors: philox4x32 of 10 rounds, for counter and key of 0, of ones, and of pi's digits."""
    source = """
    #include <hiprand/hiprand_kernel.h>
    __global__ void k(uint4* out, unsigned* one) {
        hiprandStatePhilox4_32_10_t s;
        hiprand_init(0, 0, 0, &s);
        out[0] = hiprand4(&s);
        hiprand_init(~0ull, ~0ull, ~0ull, &s);  // the counter's low half counts four numbers
        s.counter = {~0u, ~0u, ~0u, ~0u};
        s.used = 0;
        s.rounds();
        out[1] = hiprand4(&s);
        hiprand_init(0x299f31d0a4093822ull, 0x0370734413198a2eull, 0, &s);
        s.counter.x = 0x243f6a88;
        s.counter.y = 0x85a308d3;
        s.rounds();
        out[2] = s.result;
        for (int skip = 0; skip < 8; skip++) {
            hiprand_init(7, 1, skip, &s);
            one[2 * skip] = hiprand(&s);
            hiprand_init(7, 1, 0, &s);
            skipahead(3, &s);
            one[2 * skip + 1] = hiprand4(&s).x;
        }
        for (int i = 0; i < 4; i++) one[16 + i] = hiprand(&s);
        uint4 all = hiprand4(&s);
        one[20] = all.x;
    }"""
    (words, one), _ = run(arch, source, np.zeros(12, "uint32"), np.zeros(24, "uint32"), block=(1,))
    assert [f"{word:08x}" for word in words.tolist()] == [
        "6627e8d5", "e169c58d", "bc57ac4c", "9b00dbd8",
        "408f276d", "41c83b0e", "a20bc7c6", "6d5451fd",
        "d16cfe09", "94fdcceb", "5001e420", "24126ea1",
    ]  # fmt: skip
    assert set(one[1:16:2].tolist()) == {int(one[6])}
    assert one[16] == one[14]  # after a number at 3 and a vector of four, the next is the one at 7


@both
def test_mrg32k3a(arch: str) -> None:
    """RngStreams' A1p76, A2p76 and the recursion, with rocRAND's treatment of the seed."""
    first, second = 4294967087, 4294944443
    far_a, far_b = [82758667, 3672831523, 3672091415], [1511326704, 4292754251, 3859662829]  # their first columns
    source = """
    #include <rocrand/rocrand_kernel.h>
    __global__ void k(unsigned* out) {
        rocrand_state_mrg32k3a s;
        rocrand_init(99, 0, 0, &s);
        for (int i = 0; i < 50; i++) out[i] = s.next();
        rocrand_init(99, 0, 20, &s);
        out[50] = s.next();
        s.a[0] = 1, s.a[1] = s.a[2] = 0, s.b[0] = 1, s.b[1] = s.b[2] = 0;
        skipahead_subsequence(1, &s);
        for (int i = 0; i < 3; i++) { out[51 + i] = s.a[i]; out[54 + i] = s.b[i]; }
    }"""
    (out,), _ = run(arch, source, np.zeros(64, "uint32"), block=(1,))
    x, y = 99 ^ 0x55555555, 0xAAAAAAAA
    a = [x * 99 % first, y * 99 % first, x * 99 % first]
    b = [y * 99 % second, x * 99 % second, y * 99 % second]
    expected = []
    for _ in range(50):
        p, q = (1403580 * a[1] - 810728 * a[0]) % first, (527612 * b[2] - 1370589 * b[0]) % second
        a, b = [*a[1:], p], [*b[1:], q]
        expected.append(p - q if p > q else p - q + first)
    assert out[:50].tolist() == expected
    assert out[50] == expected[20]
    assert out[51:57].tolist() == far_a + far_b


@both
def test_distributions(arch: str) -> None:
    """Moments of 8,192 numbers of each kind, within five standard errors."""
    source = """
    #include <hiprand/hiprand_kernel.h>
    template <class State> __device__ void fill(State* s, double* row) {
        row[0] = hiprand_uniform(s); row[1] = hiprand_uniform_double(s);
        row[2] = hiprand_normal(s); row[3] = hiprand_normal(s);
        row[4] = hiprand_normal_double(s); row[5] = hiprand_normal_double(s);
        row[6] = hiprand_normal2(s).y; row[7] = hiprand_normal2_double(s).y;
        row[8] = hiprand_log_normal(s, 1.0f, 0.5f); row[9] = hiprand_log_normal_double(s, 1.0, 0.5);
        row[10] = hiprand_poisson(s, 3.0); row[11] = hiprand_poisson(s, 500.0); row[12] = hiprand_poisson(s, 1e5);
        row[13] = hiprand(s) / 4294967296.0;
    }
    __global__ void k(double* out) {
        int t = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
        hiprandState x; hiprand_init(5, t, 0, &x); fill(&x, out + 14 * t);
        hiprandStateMRG32k3a m; hiprand_init(5, t, 0, &m); fill(&m, out + 14 * (n + t));
        hiprandStatePhilox4_32_10 p; hiprand_init(5, t, 0, &p); fill(&p, out + 14 * (2 * n + t));
        double* row = out + 14 * (3 * n + t);
        float4 u = hiprand_uniform4(&p), v = hiprand_normal4(&p);
        double2 w = hiprand_uniform2_double(&p);
        double4 z = hiprand_normal4_double(&p);
        row[0] = u.w; row[1] = w.y; row[2] = v.x; row[3] = v.w; row[4] = z.x; row[5] = z.w; row[6] = v.y; row[7] = z.y;
        row[8] = hiprand_log_normal4(&p, 1.0f, 0.5f).z; row[9] = hiprand_log_normal4_double(&p, 1.0, 0.5).w;
        row[10] = hiprand_poisson4(&p, 3.0).y; row[11] = hiprand_poisson4(&p, 500.0).z;
        row[12] = hiprand_poisson(&p, 1e5);
        row[13] = hiprand_uniform4_double(&p).z;
    }"""
    (out,), _ = run(arch, source, np.zeros(4 * 8192 * 14), grid=(32,), block=(256,))
    log_mean, log_variance = np.exp(1.125), (np.exp(0.25) - 1) * np.exp(2.25)
    means = np.array([0.5] * 2 + [0.0] * 6 + [log_mean] * 2 + [3, 500, 1e5, 0.5])
    variances = np.array([1 / 12] * 2 + [1.0] * 6 + [log_variance] * 2 + [3, 500, 1e5, 1 / 12])
    for generator in out.reshape(4, 8192, 14):
        assert (np.abs(generator.mean(0) - means) < 5 * np.sqrt(variances / 8192)).all()
        assert (np.abs(generator.var(0) / variances - 1) < 0.15).all()
        assert (generator[:, :2] > 0).all()
        assert (generator[:, :2] <= 1).all()
