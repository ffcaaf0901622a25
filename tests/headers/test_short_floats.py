"""hip/hip_fp16.h, hip/hip_bf16.h and hip/hip_bfloat16.h: results compared with exact arithmetic, on both architectures.

A `Format` rounds exact fractions to half or bfloat16, written from the definition of IEEE 754 formats; it is itself
checked against numpy's float16. Numbers travel as their bits.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

import gpulab
from gpulab import toolchain
from tests.headers.device import run

TARGETS = ["gfx942", "gfx1100", "gfx90a", "gfx950", "gfx1030", "gfx1201"]
BOTH = ["gfx942 device", "gfx1100 device"]


@dataclass(frozen=True)
class Format:
    """A binary format of 16 bits: names in C++, fraction bits, exponent bias."""

    name: str
    pair: str
    word: str
    header: str
    fraction: int
    bias: int

    @property
    def infinity(self) -> int:
        return 0x7FFF >> self.fraction << self.fraction

    def value(self, bits: int) -> float:
        """The number of 16 bits."""
        sign = -1.0 if bits & 0x8000 else 1.0
        exponent, rest = (bits & 0x7FFF) >> self.fraction, bits & ((1 << self.fraction) - 1)
        if (bits & 0x7FFF) >= self.infinity:
            return sign * math.inf if rest == 0 else math.nan
        if exponent == 0:
            return sign * math.ldexp(rest, 1 - self.bias - self.fraction)
        return sign * math.ldexp(rest + (1 << self.fraction), exponent - self.bias - self.fraction)

    def bits(self, exact: Fraction | float, mode: str = "rn", negative_zero: bool = False) -> int:
        """Rounds an exact number: rn nearest even, rd down, ru up, rz toward zero."""
        if isinstance(exact, float):
            if math.isnan(exact):
                return 0x7FFF
            if math.isinf(exact):
                return self.infinity | (0x8000 if exact < 0 else 0)
            negative_zero = negative_zero or math.copysign(1, exact) < 0
            exact = Fraction(exact)
        if exact == 0:
            return 0x8000 if negative_zero else 0
        sign, size = (0x8000 if exact < 0 else 0), abs(exact)
        exponent = size.numerator.bit_length() - size.denominator.bit_length()
        if Fraction(2) ** exponent > size:
            exponent -= 1
        exponent = max(exponent, 1 - self.bias)
        scaled = size / Fraction(2) ** (exponent - self.fraction)
        whole = scaled.numerator // scaled.denominator
        rest = scaled - whole
        up = {"rn": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole & 1), "rz": False,
              "ru": rest > 0 and not sign, "rd": rest > 0 and bool(sign)}[mode]  # fmt: skip
        number = whole + up + ((exponent + self.bias - 1) << self.fraction)
        if number >= self.infinity:
            to_infinity = {"rn": True, "rz": False, "ru": not sign, "rd": bool(sign)}[mode]
            number = self.infinity if to_infinity else self.infinity - 1
        return sign | number


HALF = Format("__half", "__half2", "half", "hip/hip_fp16.h", 10, 15)
BF16 = Format("__hip_bfloat16", "__hip_bfloat162", "bfloat16", "hip/hip_bf16.h", 7, 127)
FORMATS = pytest.mark.parametrize("form", [HALF, BF16], ids=["half", "bfloat16"])
both = pytest.mark.parametrize("arch", BOTH)
MODES = ["rn", "rz", "rd", "ru"]


@functools.cache
def all_values(form: Format) -> list[float]:
    return [form.value(bits) for bits in range(65536)]


def test_the_reference_agrees_with_numpy() -> None:
    ours = np.array(all_values(HALF))
    with np.errstate(invalid="ignore"):
        numpy = np.arange(65536, dtype="uint16").view("float16").astype("float64")
    assert np.array_equal(ours, numpy, equal_nan=True)
    r = np.random.default_rng(1)
    numbers = (r.standard_normal(3000) * 2.0 ** r.integers(-30, 18, 3000)).tolist()
    with np.errstate(over="ignore"):
        assert [HALF.bits(x) for x in numbers] == np.array(numbers).astype("float16").view("uint16").tolist()


def same(form: Format, found: np.ndarray, wanted: list[int], what: str) -> None:
    """Equal bits; one NaN is as good as another."""
    wants = np.array(wanted, "uint16")
    is_nan = (found & 0x7FFF) > form.infinity
    wants_nan = (wants & 0x7FFF) > form.infinity
    wrong = np.flatnonzero(np.where(wants_nan, ~is_nan, found != wants))
    shown = [(int(i), hex(int(found[i])), hex(int(wants[i]))) for i in wrong[:5]]
    assert not wrong.size, f"{what}: {wrong.size} differ: {shown}"


def near(form: Format, found: np.ndarray, wanted: list[int], share: float, what: str) -> None:
    """Neighbours at most, and no more than `share` of them not equal."""

    def place(bits: np.ndarray) -> np.ndarray:
        size = (bits & 0x7FFF).astype("int64")
        return np.where(bits & 0x8000, -size, size)

    wants = np.array(wanted, "uint16")
    nan = (wants & 0x7FFF) > form.infinity
    assert np.array_equal((found & 0x7FFF) > form.infinity, nan), what
    off = np.abs(place(found) - place(wants))[~nan]
    assert off.max() <= 1, f"{what}: off by {off.max()} at {np.flatnonzero(off == off.max())[:4]}"
    assert np.count_nonzero(off) <= share * off.size, f"{what}: {np.count_nonzero(off)} of {off.size}"


def applied(f: Callable[[float], float], x: float) -> float:
    """f of a float64, with C's results where Python raises."""
    if math.isnan(x):
        return x
    try:
        return f(x)
    except OverflowError:
        return math.inf
    except (ValueError, ZeroDivisionError):
        return math.nan


UNARY: dict[str, Callable[[float], float]] = {
    "hfloor": lambda x: math.copysign(float(math.floor(x)), x) if math.isfinite(x) else x,
    "hceil": lambda x: math.copysign(float(math.ceil(x)), x) if math.isfinite(x) else x,
    "htrunc": lambda x: math.copysign(float(math.trunc(x)), x) if math.isfinite(x) else x,
    "hrint": lambda x: math.copysign(float(round(x)), x) if math.isfinite(x) else x,
    "__habs": abs,
    "__hneg": lambda x: -x,
    "hsqrt": math.sqrt,
    "hrcp": lambda x: math.copysign(math.inf, x) if x == 0 else 1 / x,
}
NEAR: dict[str, Callable[[float], float]] = {
    "hrsqrt": lambda x: math.copysign(math.inf, x) if x == 0 else 1 / math.sqrt(x),
    "hexp": math.exp,
    "hexp2": lambda x: 2.0**x,
    "hexp10": lambda x: 10.0**x,
    "hlog": lambda x: -math.inf if x == 0 else math.log(x),
    "hlog2": lambda x: -math.inf if x == 0 else math.log2(x),
    "hlog10": lambda x: -math.inf if x == 0 else math.log10(x),
    "hsin": math.sin,
    "hcos": math.cos,
}


STEP = 5  # of every number, so many have an expected value


@functools.cache
def expected(form: Format, name: str) -> list[int]:
    return [form.bits(applied((UNARY | NEAR)[name], x)) for x in all_values(form)[::STEP]]


def unary_kernel(form: Format) -> str:
    names = [*UNARY, *NEAR]
    rows = "\n".join(f"out[{k} * 65536 + i] = __{form.word}_as_ushort({n}(x));" for k, n in enumerate(names))
    return f"""
    #include <{form.header}>
    __global__ void unary(unsigned short* out, float* values, unsigned char* kinds) {{
        unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
        {form.name} x = __ushort_as_{form.word}((unsigned short)i);
        {rows}
        values[i] = __{form.word}2float(x);
        kinds[i] = __hisnan(x) + 2 * __hisinf(x);
    }}"""


@both
@FORMATS
def test_functions_of_one_number_for_every_number(arch: str, form: Format) -> None:
    names = [*UNARY, *NEAR]
    (out, values, kinds), _ = run(
        arch, unary_kernel(form), np.zeros(65536 * len(names), "uint16"), np.zeros(65536, "float32"),
        np.zeros(65536, "uint8"), grid=(256,), block=(256,),
    )  # fmt: skip
    numbers = all_values(form)
    assert np.array_equal(values, np.array(numbers, "float32"), equal_nan=True)
    assert kinds.tolist() == [1 if math.isnan(x) else 2 if math.isinf(x) else 0 for x in numbers]
    for name, found in zip(names, out.reshape(len(names), 65536), strict=True):
        if name in UNARY:
            same(form, found[::STEP], expected(form, name), name)
        else:
            near(form, found[::STEP], expected(form, name), 0.0001, name)


def samples(form: Format, count: int, seed: int) -> np.ndarray:
    """Bits of numbers: the special ones, and random ones of every size or near each other."""
    r = np.random.default_rng(seed)
    special = [0, 0x8000, 1, 0x8001, form.infinity, form.infinity | 0x8000, 0x7FFF, form.infinity - 1, 0x3C00, 0xBC00,
               0x3F80, 1 << form.fraction, (1 << form.fraction) - 1]  # fmt: skip
    any_bits = r.integers(0, 65536, count // 2)
    one = form.bias << form.fraction
    like_one = (one + r.integers(-4000 >> (10 - form.fraction), 4000 >> (10 - form.fraction), count)) | (
        r.integers(0, 2, count) << 15
    )
    return np.concatenate([special, any_bits, like_one])[:count].astype("uint16")


def exact(op: str, x: float, y: float) -> float | Fraction:
    """x op y, exact; as IEEE 754 says for zeros, infinities and NaN."""
    if not (math.isfinite(x) and math.isfinite(y)) or (op == "/" and y == 0):
        with np.errstate(all="ignore"):
            a, b = np.float64(x), np.float64(y)
            return float({"+": a + b, "-": a - b, "*": a * b, "/": np.divide(a, b)}[op])
    a, b = Fraction(x), Fraction(y)
    result = {"+": a + b, "-": a - b, "*": a * b}[op] if op != "/" else a / b
    if result == 0:
        return {"+": x + y, "-": x - y, "*": math.copysign(0.0, x) * math.copysign(1.0, y)}.get(
            op, math.copysign(0.0, x) * math.copysign(1.0, y)
        )
    return result


def fused(x: float, y: float, z: float) -> float | Fraction:
    """x * y + z, exact."""
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        with np.errstate(all="ignore"):
            return float(np.float64(x) * np.float64(y) + np.float64(z))
    result = Fraction(x) * Fraction(y) + Fraction(z)
    return x * y + z if result == 0 else result


RELATIONS: dict[str, Callable[[float, float], bool]] = {
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
    "equ": lambda x, y: not (x < y or x > y),
    "neu": lambda x, y: x != y,
    "ltu": lambda x, y: not x >= y,
    "leu": lambda x, y: not x > y,
    "gtu": lambda x, y: not x <= y,
    "geu": lambda x, y: not x < y,
}
OPERATORS = ["==", "!=", "<", "<=", ">", ">="]
PAIRS = ["__hadd2(a, b)", "__hsub2(a, b)", "__hmul2(a, b)", "__h2div(a, b)", "a + b", "a - b", "a * b", "a / b",
         "__hmax2(a, b)", "__hmin2(a, b)", "__hfma2(a, b, c)"]  # fmt: skip


@both
@FORMATS
def test_functions_of_two_numbers(arch: str, form: Format) -> None:
    n = 2048
    rows = [f"out[{k} * n + i] = __{form.word}_as_ushort({e});" for k, e in enumerate(
        ["__hadd_rn(x, y)", "__hsub_rn(x, y)", "__hmul_rn(x, y)", "__hdiv(x, y)", "x + y", "x - y", "x * y", "x / y",
         "__hmax(x, y)", "__hmin(x, y)", "__hfma(x, y, z)", "__hmax_nan(x, y)", "__hadd_sat(x, y)"])]  # fmt: skip
    pairs = [f"pairs[{k} * (n / 2) + i] = {e};" for k, e in enumerate(PAIRS)]
    relations = "".join(f" | (unsigned)__h{r}(x, y) << {k}" for k, r in enumerate(RELATIONS))
    operators = "".join(f" | (unsigned)(x {op} y) << {k + 12}" for k, op in enumerate(OPERATORS))
    source = f"""
    #include <{form.header}>
    using H = {form.name};
    using H2 = {form.pair};
    __global__ void binary(const unsigned short* in, unsigned short* out, H2* pairs, unsigned* bits, unsigned* masks) {{
        const int n = {n};
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        H x = __ushort_as_{form.word}(in[i]), y = __ushort_as_{form.word}(in[n + i]);
        H z = __ushort_as_{form.word}(in[2 * n + i]);
        {" ".join(rows)}
        bits[i] = 0{relations}{operators};
        if (i < n / 2) {{
            H2 a = ((const H2*)in)[i], b = ((const H2*)(in + n))[i], c = ((const H2*)(in + 2 * n))[i];
            {" ".join(pairs)}
            masks[i] = __hlt2_mask(a, b);
            masks[n / 2 + i] = __hbgt2(a, b) + 2 * (a > b) + 4 * (a == b) + 8 * (int)__low2float(__hge2(a, b));
        }}
    }}"""
    given = np.concatenate([samples(form, n, 1), np.roll(samples(form, n, 2), 7), np.roll(samples(form, n, 3), 20)])
    given[n : n + 64] = given[:64]
    (_, out, pairs_out, bits, masks), _ = run(
        arch, source, given, np.zeros(13 * n, "uint16"), np.zeros(len(PAIRS) * n, "uint16"), np.zeros(n, "uint32"),
        np.zeros(n, "uint32"), grid=(n // 256,), block=(256,),
    )  # fmt: skip
    x, y, z = ([form.value(int(b)) for b in part] for part in given.reshape(3, n))
    found = out.reshape(13, n)
    in_pairs = pairs_out.reshape(len(PAIRS), n)
    for k, op in enumerate("+-*/"):
        wanted = [form.bits(exact(op, a, b)) for a, b in zip(x, y, strict=True)]
        for results in (found[k], found[k + 4], in_pairs[k], in_pairs[k + 4]):
            same(form, results, wanted, op)
    greater = [b if math.isnan(a) else a if math.isnan(b) or a > b else b for a, b in zip(x, y, strict=True)]
    less = [b if math.isnan(a) else a if math.isnan(b) or a <= b else b for a, b in zip(x, y, strict=True)]
    for k, numbers in ((8, greater), (9, less)):
        for results in (found[k], in_pairs[k]):
            assert np.array_equal([form.value(int(b)) for b in results], numbers, equal_nan=True)
    wanted = [form.bits(fused(a, b, c)) for a, b, c in zip(x, y, z, strict=True)]
    for results in (found[10], in_pairs[10]):
        if form is HALF:
            same(form, results, wanted, "fma")
        else:  # by way of float
            near(form, results, wanted, 0.001, "fma")
    with_nan = [math.nan if math.isnan(a + b) and (a != a or b != b) else max(a, b) for a, b in zip(x, y, strict=True)]
    assert np.array_equal([form.value(int(b)) for b in found[11]], with_nan, equal_nan=True)
    sums = [form.value(form.bits(exact("+", a, b))) for a, b in zip(x, y, strict=True)]
    clamped = [0.0 if not s > 0 else min(s, 1.0) for s in sums]
    assert [form.value(int(b)) for b in found[12]] == clamped
    for i, (a, b) in enumerate(zip(x, y, strict=True)):
        relations = [test(a, b) for test in RELATIONS.values()]
        relations += [a == b, a != b, a < b, a <= b, a > b, a >= b]
        assert int(bits[i]) == sum(bit << k for k, bit in enumerate(relations)), (a, b)
    for i in range(n // 2):
        (a, c), (b, d) = x[2 * i : 2 * i + 2], y[2 * i : 2 * i + 2]
        assert int(masks[i]) == (0xFFFF if a < b else 0) | (0xFFFF0000 if c < d else 0)
        both_greater = a > b and c > d
        assert int(masks[n // 2 + i]) == 3 * both_greater + 4 * (a == b and c == d) + 8 * (a >= b)


@both
@FORMATS
def test_conversions_to_a_short_float_round_as_their_names_say(arch: str, form: Format) -> None:
    n = 1024
    rows = [f"out[{k} * n + i] = __{form.word}_as_ushort(__{t}2{form.word}_{m}({t[0]}[i]));"
            for k, (t, m) in enumerate((t, m) for t in ("float", "int", "ull") for m in MODES)]  # fmt: skip
    source = f"""
    #include <{form.header}>
    __global__ void convert(const float* f, const double* d, const int* i_, const unsigned long long* u,
                            unsigned short* out) {{
        const int n = {n};
        int k = blockIdx.x * blockDim.x + threadIdx.x;
        {" ".join(rows).replace("i[i]", "i_[k]").replace("[i]", "[k]").replace("+ i]", "+ k]")}
        out[12 * n + k] = __{form.word}_as_ushort(__double2{form.word}(d[k]));
        out[13 * n + k] = __{form.word}_as_ushort({form.name}(f[k]));
        out[14 * n + k] = __{form.word}_as_ushort({form.name}(i_[k]));
    }}"""
    r = np.random.default_rng(4)
    f = np.ldexp(r.standard_normal(n), r.integers(-40, 20, n)).astype("float32")
    f[:12] = [0.0, -0.0, np.inf, -np.inf, np.nan, 65504, 65519.9, 65520, -65536, 2.0**-25, -(2.0**-26), 3.4e38]
    # halfway between neighbours, and beside it
    between = [form.value(b) + Fraction(form.value(b + 1) - form.value(b)) / 2 for b in range(0x3C00, 0x3C10)]
    f[12:28] = [float(x) for x in between]
    d = f.astype("float64")
    d[12:28] = [float(x) * (1 + 2.0**-40) for x in between]
    d[28:44] = [float(x) * (1 - 2.0**-40) for x in between]
    i = (r.integers(-(2**31), 2**31, n) >> r.integers(0, 31, n)).astype("int32")
    i[:6] = [0, 65504, 65519, 65520, -(2**31), 2**31 - 1]
    u = r.integers(0, 2**63, n).astype("uint64") >> r.integers(0, 63, n).astype("uint64")
    u[:4] = [2**64 - 1, 65505, 65519, 0]
    (_, _, _, _, out), _ = run(arch, source, f, d, i, u, np.zeros(15 * n, "uint16"), grid=(n // 256,), block=(256,))
    found = out.reshape(15, n)
    given = {"float": f.tolist(), "int": [Fraction(int(v)) for v in i], "ull": [Fraction(int(v)) for v in u]}
    for k, (kind, mode) in enumerate((t, m) for t in given for m in MODES):
        same(form, found[k], [form.bits(v, mode) for v in given[kind]], f"{kind} {mode}")
    same(form, found[12], [form.bits(v) for v in d.tolist()], "double")
    same(form, found[13], [form.bits(v) for v in f.tolist()], "constructor")
    same(form, found[14], [form.bits(v) for v in given["int"]], "constructor from int")


@both
@FORMATS
def test_conversions_to_integers(arch: str, form: Format) -> None:
    kinds = {"int": "int32", "ushort": "uint16", "ll": "int64", "ull": "uint64"}
    names = {"int": "int", "ushort": "unsigned short", "ll": "long long", "ull": "unsigned long long"}
    parameters = ", ".join(f"{names[t]}* {t}" for t in kinds)
    rows = [f"{t}[{k} * 2048 + i] = __{form.word}2{t}_{m}(x);" for t in kinds for k, m in enumerate(MODES)]
    source = f"""
    #include <{form.header}>
    __global__ void convert(const unsigned short* in, {parameters.replace("int* int", "int* int_")}) {{
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        {form.name} x = __ushort_as_{form.word}(in[i]);
        {" ".join(rows).replace("int[", "int_[")}
    }}"""
    given = samples(form, 2048, 9)
    results, _ = run(arch, source, given, *[np.zeros(4 * 2048, t) for t in kinds.values()], grid=(8,), block=(256,))
    whole = {"rn": round, "rz": math.trunc, "rd": math.floor, "ru": math.ceil}
    for found, dtype in zip(results[1:], kinds.values(), strict=True):
        limits = np.iinfo(dtype)
        for row, rounding in zip(found.reshape(4, 2048).tolist(), whole.values(), strict=True):
            for bits, got in zip(given.tolist(), row, strict=True):
                x = form.value(bits)
                if math.isnan(x):
                    want = 0
                elif math.isinf(x):
                    want = limits.max if x > 0 else limits.min
                else:
                    want = min(max(rounding(x), limits.min), limits.max)
                assert got == want, (dtype, rounding, x)


@both
@FORMATS
def test_pairs_shuffles_and_atomics(arch: str, form: Format) -> None:
    pair = f"__halves2{'half2' if form is HALF else 'bfloat162'}"
    low, high = (f"__{side}2{form.word}" for side in ("low", "high"))
    two = "half2" if form is HALF else "bfloat162"
    source = f"""
    #include <{form.header}>
    using H = {form.name};
    using H2 = {form.pair};
    __global__ void pairs(H2* out, unsigned short* numbers, H2* pair_sums) {{
        int t = threadIdx.x;
        H* sums = (H*)numbers;
        H2 p = {pair}(H(t), H(-2 * t)), q = {pair}(H(100), H(50));
        H2* row = out + t * 10;
        row[0] = p;
        row[1] = {pair}({high}(p), {low}(q));
        row[2] = __lowhigh2highlow(p);
        row[3] = __{"lows2" + two}(p, q);
        row[4] = __{"highs2" + two}(p, q);
        row[5] = __{"float22" + two}_rn(make_float2(t + 1.0f, 0.5f));
        row[6] = __shfl_xor(p, 3);
        row[7] = {pair}(__shfl(H(t), 5, 8), __shfl_down(H(t), 1, 4));
        row[8] = __shfl_sync(~0ull, p, 2);
        H2 c = -p; c += q; c++;
        row[9] = c;
        unsafeAtomicAdd(&sums[t % 3], H(1));
        unsafeAtomicAdd(pair_sums, q * {pair}(H(0.125f), H(0.25f)));
        __shared__ H local[2];
        if (t < 2) local[t] = H(0);
        __syncthreads();
        unsafeAtomicAdd(&local[1], H(2));
        __syncthreads();
        if (t == 0) {{ sums[3] = local[1]; sums[4] = local[0]; }}
    }}"""
    (out, sums, pair_sums), _ = run(
        arch, source, np.zeros(64 * 20, "uint16"), np.zeros(6, "uint16"), np.zeros(2, "uint16")
    )
    for t, row in enumerate(np.vectorize(form.value)(out).reshape(64, 10, 2).tolist()):
        u, v, w, s = t ^ 3, t // 8 * 8 + 5, t + 1 if t % 4 < 3 else t, t // 32 * 32
        shuffled = s if arch.startswith("gfx1100") else 0
        assert row == [
            [t, -2 * t], [-2 * t, 100], [-2 * t, t], [t, 100], [-2 * t, 50], [t + 1, 0.5], [u, -2 * u], [v, w],
            [shuffled + 2, -2 * (shuffled + 2)], [101 - t, 51 + 2 * t],
        ]  # fmt: skip
    assert [form.value(int(b)) for b in sums] == [22, 21, 21, 128, 0, 0]
    assert [form.value(int(b)) for b in pair_sums] == [800 if form is HALF else sum_of(form, 12.5), sum_of(form, 12.5)]


def sum_of(form: Format, step: float) -> float:
    """64 times step, rounded after each addition."""
    total = 0.0
    for _ in range(64):
        total = form.value(form.bits(total + step))
    return total


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_numpy_float16_is_half(arch: str) -> None:
    source = """
    #include <hip/hip_fp16.h>
    __global__ void axpy(int n, half a, const __half* x, _Float16* y) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) y[i] = __half_raw(__hfma(a, x[i], __half(y[i]))).data;
    }"""
    with gpulab.using(arch):
        kernel = gpulab.compile(source).axpy
        assert [p.dtype for p in kernel.signature.parameters] == ["int32", "float16", "float16", "float16"]
        r = np.random.default_rng(2)
        x, y = (r.standard_normal(1000).astype("float16") for _ in range(2))
        on_device = gpulab.to_device(y)
        kernel[4, 256](1000, 1.5, gpulab.to_device(x), on_device)
        wanted = (1.5 * x.astype("float64") + y.astype("float64")).astype("float16")
        assert np.array_equal(on_device.to_host(), wanted)


@both
def test_the_older_bfloat16(arch: str) -> None:
    source = """
    #include <hip/hip_bfloat16.h>
    __global__ void older(const float* in, unsigned short* out) {
        int i = threadIdx.x;
        hip_bfloat16 x(in[i]), cut(in[i], hip_bfloat16::truncate);
        hip_bfloat16 y = x * x + cut;
        out[i] = x.data; out[64 + i] = cut.data; out[128 + i] = y.data; out[192 + i] = (x > cut) + 2 * (x == x);
    }"""
    r = np.random.default_rng(6)
    given = (r.standard_normal(64) * 100).astype("float32")
    (_, out), _ = run(arch, source, given, np.zeros(256, "uint16"))
    value, bits = BF16.value, BF16.bits
    for i, number in enumerate(given.tolist()):
        rounded, cut = bits(number), bits(number, "rz")
        x, y = value(rounded), value(cut)
        total = bits(value(bits(x * x)) + y)
        assert out[i::64].tolist() == [rounded, cut, total, (x > y) + 2]


@pytest.mark.parametrize("arch", TARGETS)
def test_every_target_compiles_the_headers(arch: str) -> None:
    for form in (HALF, BF16):
        assert "s_endpgm" in toolchain.compile(unary_kernel(form), arch=arch).assembly
    source = """
    #include <hip/hip_fp16.h>
    #include <hip/hip_bf16.h>
    __global__ void add(__half2* h, __hip_bfloat162* b, __half* i, __hip_bfloat16* j) {
        unsafeAtomicAdd(h, h[1]); unsafeAtomicAdd(b, b[1]); unsafeAtomicAdd(i, i[1]); unsafeAtomicAdd(j, j[1]);
    }"""
    assert "atomic" in toolchain.compile(source, arch=arch).assembly


def test_pairs_become_packed_instructions() -> None:
    source = """
    #include <hip/hip_fp16.h>
    __global__ void packed(half2* x) { int i = threadIdx.x; x[i] = __hadd2_rn(__hmul2_rn(x[i], x[i]), x[0]); }"""
    assembly = toolchain.compile(source, arch="gfx942").assembly
    assert "v_pk_mul_f16" in assembly
    assert "v_pk_add_f16" in assembly


def test_headers_without_operators_or_conversions() -> None:
    source = """
    #include <hip/hip_fp16.h>
    #include <hip/hip_bf16.h>
    __global__ void f(__half* x) { x[0] = hexp(__hfma(x[1], x[2], __int2half_rd(__half2int_rn(x[3])))); }"""
    options = ["-D__HIP_NO_HALF_OPERATORS__", "-D__HIP_NO_HALF_CONVERSIONS__"]
    assert "v_fma_f16" in toolchain.compile(source, arch="gfx942", options=options).assembly
    with pytest.raises(gpulab.errors.CompileError):
        toolchain.compile(source.replace("hexp(", "(1.0f + "), arch="gfx942", options=options)


CONSTANTS = """
#include <hip/hip_fp16.h>
__host__ __device__ constexpr __half from_bits(unsigned short bits) { return __half{__half_raw{.x = bits}}; }
constexpr __half two = from_bits(0x4000), pi = from_bits(0x4248), back = __half(static_cast<__half_raw>(__half(3.0f)));
__global__ void k(float* out) {
    out[0] = __half2float(two);
    out[1] = __half2float(__hmul(two, pi));
    out[2] = __half2float(back);
    __half_raw raw;
    raw.x = 0x3c00;
    out[3] = __half2float(__half(raw));
}
"""


def test_constants_of_halves() -> None:
    """By its bits or by its number: a constant expression may read the one member of a union that it wrote."""
    (out,), _ = run("gfx942 device", CONSTANTS, np.zeros(4, "float32"), block=(1,))
    assert out.tolist() == [2.0, 6.28125, 3.0, 1.0]
