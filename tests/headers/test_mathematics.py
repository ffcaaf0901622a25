"""mathematics.h, function by function: edges, overloads of every type, what rounds once.

Numbers of the C standard (annex F), IEEE 754 and Python's math. All expressions stand in one kernel.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction

import numpy as np
import pytest

from tests.headers.device import run

inf, nan = math.inf, math.nan
MOST = 2**31 - 1


def single(x: float) -> float:
    return float(np.float32(x))


THIRD = single(1 / 3)
# {number}: from memory, as a double; what the expression gives, as a double.
EXACT: dict[str, float] = {
    "fdim({3}, {1.5})": 1.5, "fdim({1.5}, {3})": 0.0, "fdim({2}, {2})": 0.0, "fdim({nan}, {1})": nan,
    "fdim({1}, {nan})": nan, "fdimf({3}, {1.5})": 1.5, "fdimf({1.5}, {3})": 0.0, "fdimf({nan}, {1})": nan,
    "fdimf({1}, {nan})": nan, "fdim((float){3}, (float){0.1})": single(3 - single(0.1)),
    "fdim((float){3}, {0.1})": 3 - 0.1, "fdim((int){3}, {0.5})": 2.5, "sizeof(fdim((float){3}, (float){1}))": 4,
    "sizeof(fdim((float){3}, {1}))": 8, "sizeof(pow((float){3}, (float){1}))": 4, "sizeof(pow((float){3}, {1}))": 8,
    "sizeof(sin((int){3}))": 8, "sizeof(sin((float){3}))": 4, "sizeof(fma({1}, 2, 3))": 8,
    "fdividef({1}, {3})": THIRD, "__fdividef({1}, {3})": THIRD, "modf({2.75}, d)": 0.75,
    "modf({-2.75}, d) + 8 * *d": -16.75, "modf({inf}, d)": 0.0, "modf({-inf}, d)": -0.0, "modf({-0.0}, d)": -0.0,
    "modff({-2.5}, f) + 8 * *f": -16.5, "modff({-inf}, f)": -0.0, "modf((float){2.5}, f)": 0.5, "modf({-3}, d)": -0.0,
    "modf({nan}, d)": nan, "logb({0})": -inf, "logb({-inf})": inf, "logb({nan})": nan, "logb({8})": 3,
    "logb({0.75})": -1, "logbf({0})": -inf, "logbf({-inf})": inf, "logbf({10})": 3, "logb((float){0.25})": -2,
    "logb((int){9})": 3, "ilogb((int){9})": 3, "ilogb((float){9})": 3, "logb({5e-324})": -1074,
    "ilogb({5e-324})": -1074, "frexp({0.375}, n) + 8 * *n": 0.75 - 8, "frexpf({0.375}, n) + 8 * *n": 0.75 - 8,
    "frexp((float){6}, n) + 8 * *n": 24.75, "ldexp({3}, (int){-4})": 0.1875, "ldexpf({3}, (int){4})": 48,
    "ldexp((float){3}, (int){4})": 48, "scalbn({3}, (int){-4})": 0.1875, "scalbnf({3}, (int){4})": 48,
    "scalbn((float){3}, (int){4})": 48, "scalbln({3}, (long){-4})": 0.1875, "scalblnf({3}, (long){4})": 48,
    "scalbln((float){3}, (long){4})": 48, "scalbln({1}, (long){4294967297})": inf,
    "scalbln({1}, (long){-4294967297})": 0.0, "scalblnf({1}, (long){8589934592})": inf,
    "scalbln({5e-324}, (long){2097})": 2.0**1023, "scalbln((float){1}, (long){-8589934592})": 0.0, "lround({2.5})": 3,
    "lround({-2.5})": -3, "lrint({2.5})": 2, "lrint({3.5})": 4, "llround({-0.5})": -1, "llrint({0.5})": 0,
    "lroundf({2.5})": 3, "lrintf({2.5})": 2, "llroundf({0.5})": 1, "llrintf({1.5})": 2, "lround((float){4.5})": 5,
    "llround({1099511627776.5})": 2**40 + 1, "llrint({1099511627777.5})": 2**40 + 2, "lrint((float){4.5})": 4,
    "lround((int){7})": 7, "rint({2.5})": 2, "rintf({3.5})": 4, "nearbyint({-0.5})": -0.0, "nearbyintf({1.5})": 2,
    "round({-2.5})": -3, "roundf({0.5})": 1, "trunc({-2.7})": -2, "truncf({2.7})": 2, "ceil({-0.5})": -0.0,
    "ceilf({1.2})": 2, "floor({-1.2})": -2, "floorf({1.7})": 1, "fabs({-0.0})": 0.0, "fabsf({-3})": 3,
    "floor((int){5})": 5, "fmin({nan}, {1})": 1, "fmax({2}, {nan})": 2, "fminf({3}, {1})": 1, "fmaxf({3}, {1})": 3,
    "fmin((float){3}, (float){1})": 1, "fmax({3}, (int){4})": 4, "fmin((int){3}, {4.5})": 3,
    "copysign({3}, {-0.0})": -3, "copysignf({-3}, {1})": 3, "isnan({nan})": 1, "isnan((float){nan})": 1,
    "isnan({1})": 0, "isnan((int){1})": 0, "isinf({-inf})": 1, "isinf((float){inf})": 1, "isinf({nan})": 0,
    "isfinite({1e300})": 1, "isfinite({inf})": 0, "isfinite((float){nan})": 0, "isnormal({1e-310})": 0,
    "isgreater({3}, {1.5})": 1, "isgreater({nan}, {1})": 0, "isgreaterequal((int){2}, {2})": 1,
    "isless((float){1}, (float){2})": 1, "isless((int){3}, {2.5})": 0, "islessequal({2}, {2})": 1,
    "islessgreater({1}, {nan})": 0, "islessgreater({1}, {2})": 1, "isunordered({1}, {nan})": 1,
    "isunordered((float){1}, {2})": 0, "fpclassify({1e-310}) == FP_SUBNORMAL": 1,
    "fpclassify((float){1e-40}) == FP_SUBNORMAL": 1, "fpclassify({nan}) == FP_NAN": 1,
    "fpclassify((float){-inf}) == FP_INFINITE": 1, "fpclassify({-0.0}) == FP_ZERO": 1,
    "fpclassify((int){7}) == FP_NORMAL": 1,
    "ldexp((int){3}, (int){-2})": 0.75, "scalbn((int){3}, (int){2})": 12, "scalbln((int){3}, (long){2})": 12,
    "frexp((int){6}, n) + 8 * *n": 24.75, "remquo((int){8}, (int){3}, n) + 8 * *n": 23,
    "remquo((float){8}, {3}, n) + 8 * *n": 23, "modf({7} * {1.37}, d)": math.modf(7 * 1.37)[0],
    "modff((float){7} * (float){1.37}, f)": single(7 * single(1.37)) - 9,
    "isnormal({1})": 1, "isnormal((float){1e-40})": 0, "isnormal({0})": 0, "signbit({-0.0})": 1,
    "signbit((float){-1})": 1, "signbit({1})": 0, "signbit((int){-1})": 1, "__isnanf({nan})": 1, "__isnanf({inf})": 0,
    "__isinff({inf})": 1, "__isinff({nan})": 0, "__finitef({3})": 1, "__finitef({inf})": 0, "__signbitf({-0.0})": 1,
    "__signbitf({2})": 0, "__isnan({nan})": 1, "__isnan({2})": 0, "__isinf({-inf})": 1, "__isinf({2})": 0,
    "__finite({2})": 1, "__finite({nan})": 0, "__signbit({-2})": 1, "__signbit({2})": 0, "nan(\"\")": nan,
    "nanf(\"1\")": nan, "fmaf({0.1}, {10}, {-1})": float(Fraction(single(0.1)) * 10 - 1),
    "fma({0.1}, {10}, {-1})": float(Fraction(0.1) * 10 - 1),
    "fma((float){0.1}, (float){10}, (float){-1})": float(Fraction(single(0.1)) * 10 - 1),
    "fma((float){0.1}, {10}, (int){-1})": float(Fraction(single(0.1)) * 10 - 1),
    "__fmaf_rn({0.1}, {10}, {-1})": float(Fraction(single(0.1)) * 10 - 1), "__fma_rn({3}, {4}, {5})": 17,
    "__fadd_rn({16777216}, {1})": 16777216, "__fsub_rn({5}, {3})": 2, "__fmul_rn({3}, {5})": 15,
    "__fdiv_rn({1}, {3})": THIRD, "__dadd_rn({0.1}, {0.2})": 0.1 + 0.2, "__dsub_rn({0.3}, {0.1})": 0.3 - 0.1,
    "__dmul_rn({0.1}, {3})": 0.1 * 3, "__ddiv_rn({1}, {3})": 1 / 3, "__drcp_rn({3})": 1 / 3, "__frcp_rn({3})": THIRD,
    "__dsqrt_rn({2})": math.sqrt(2), "__fsqrt_rn({2})": single(math.sqrt(2)), "__frsqrt_rn({4})": 0.5,
    "rsqrt({4})": 0.5, "rsqrt((int){16})": 0.25, "rsqrt((float){4})": 0.5,
    "rsqrtf({1.40129846432481707e-45})": single(2.0**74.5), "rsqrtf({0})": inf, "rsqrtf({-1})": nan,
    "rsqrtf({7.888609052210118e-31})": 2.0**50, "rsqrtf({1.9721522630525295e-31})": 2.0**51, "rsqrtf({inf})": 0.0,
    "__saturatef({-1})": 0.0, "__saturatef({0.25})": 0.25, "__saturatef({7})": 1, "__saturatef({nan})": 0.0,
    "remquo({7}, {2}, n) + 8 * *n": 31, "remquof({-7}, {2}, n) + 8 * *n": -31,
    "remquo((float){5}, (float){2}, n) + 8 * *n": 17, "remainder({7}, {4})": -1, "remainderf({5}, {4})": 1,
    "fmod({7}, {4})": 3, "fmodf({-7}, {4})": -3, "fmod({7.5}, (int){2})": 1.5, "powi({-3}, (int){3})": -27,
    "powif({2}, (int){-2})": 0.25, "pow({3}, (int){4})": 81, "pow((float){3}, (int){-1})": THIRD,
    "nextafter({1}, {2})": math.nextafter(1, 2), "nextafterf({1}, {2})": 1 + 2.0**-23,
    "nextafter((float){1}, (float){0})": 1 - 2.0**-24, "nextafter({1}, (int){0})": math.nextafter(1, 0),
    "abs((int){-3})": 3, "abs((long){-4294967297})": 2**32 + 1, "abs((long long){4294967297})": 2**32 + 1,
    "abs((float){-1.5})": 1.5, "abs({-1.5})": 1.5, "labs((long){-5})": 5, "labs((long){5})": 5,
    "llabs((long long){-4294967297})": 2**32 + 1, "abs((int){3})": 3, "llabs((long long){5})": 5, "abs((long){5})": 5,
    "abs((long long){-5})": 5, "min((int){3}, {2.5})": 2.5, "max((int){3}, {2.5})": 3,
    "min((float){1}, (float){2})": 1, "max((float){1}, (float){2})": 2, "max((unsigned){3}, (int){2})": 3,
    "min((long long){4294967297}, (int){7})": 7, "max((long long){4294967297}, (int){7})": 2**32 + 1,
    "min({nan}, {1})": 1, "max((short){-2}, (short){-3})": -2, "min((short){-2}, (short){-3})": -3,
    "umin((unsigned){4294967295}, (unsigned){1})": 1, "umax((unsigned){4294967295}, (unsigned){1})": 2**32 - 1,
    "umin((unsigned){1}, (unsigned){4294967295})": 1, "umax((unsigned){1}, (unsigned){4294967295})": 2**32 - 1,
    "llmin((long long){-5}, (long long){3})": -5, "llmax((long long){-5}, (long long){3})": 3,
    "llmin((long long){3}, (long long){-5})": -5, "llmax((long long){3}, (long long){-5})": 3,
    "ullmin((unsigned long long){4294967296}, (unsigned long long){3})": 3,
    "ullmax((unsigned long long){4294967296}, (unsigned long long){3})": 2**32,
    "ullmin((unsigned long long){3}, (unsigned long long){4294967296})": 3,
    "ullmax((unsigned long long){3}, (unsigned long long){4294967296})": 2**32, "norm3df({2}, {3}, {6})": 7,
    "norm3d({2}, {3}, {6})": 7, "norm4df({2}, {4}, {5}, {6})": 9, "norm4d({2}, {4}, {5}, {6})": 9,
    "rnorm3df({2}, {4}, {4})": single(1 / 6), "rnorm3d({0}, {0}, {4})": 0.25, "rnorm4df({4}, {4}, {4}, {4})": 0.125,
    "rnorm4d({4}, {4}, {4}, {4})": 0.125, "norm((int){3}, w)": 7, "normf((int){3}, h)": 7,
    "norm((int){2}, w)": math.sqrt(13), "rnorm((int){1}, w)": 0.5, "rnormf((int){1}, h)": 0.5,
    "normf((int){0}, h)": 0.0, "hypot({3}, {4})": 5, "hypotf({6}, {8})": 10, "hypot({3}, (int){4})": 5,
    "HUGE_VAL": inf, "HUGE_VALF": inf, "INFINITY": inf, "NAN": nan,
    **{f"M_{name}": value for name, value in {
        "E": math.e, "LOG2E": 1 / math.log(2), "LOG10E": math.log10(math.e), "LN2": math.log(2), "LN10": math.log(10),
        "PI": math.pi, "PI_2": math.pi / 2, "PI_4": math.pi / 4, "1_PI": 1 / math.pi, "2_PI": 2 / math.pi,
        "2_SQRTPI": 2 / math.sqrt(math.pi), "SQRT2": math.sqrt(2), "SQRT1_2": math.sqrt(0.5),
    }.items()},
}  # fmt: skip
# Abramowitz and Stegun, tables 9.1, 9.2 and 9.8; Python's math.
NEAR: dict[str, float] = {
    "jn((int){0}, {1})": 0.76519768655796655, "jn((int){2}, {1})": 0.11490348493190048,
    "yn((int){1}, {2})": -0.10703243154093755, "yn((int){2}, {1})": -1.6506826068162546,
    "jn((int){3}, {5})": 0.36483123061366699, "(sincos({0.7}, d, w), *d)": math.sin(0.7),
    "(sincos({0.7}, d, w), *w)": math.cos(0.7), "(sincospi({0.2}, d, w), *d)": math.sin(math.pi / 5),
    "(sincospi({0.2}, d, w), *w)": math.cos(math.pi / 5),
}  # fmt: skip
NEAR_SINGLE: dict[str, float] = {
    "jnf((int){2}, {1})": 0.11490348493190048, "ynf((int){2}, {1})": -1.6506826068162546,
    "(sincosf({0.75}, f, h), *f)": math.sin(0.75), "(sincosf({0.75}, f, h), *h)": math.cos(0.75),
    "(sincos((float){0.75}, f, h), *f)": math.sin(0.75), "(sincos((float){0.75}, f, h), *h)": math.cos(0.75),
    "(sincospif({0.25}, f, h), *f)": math.sqrt(0.5), "(sincospi((float){0.125}, f, h), *h)": math.cos(math.pi / 8),
    "(sincospif({0.125}, f, h), *h)": math.cos(math.pi / 8),
    "(sincospi((float){0.125}, f, h), *f)": math.sin(math.pi / 8), "(__sincosf({0.75}, f, h), *f)": math.sin(0.75),
    "(__sincosf({0.75}, f, h), *h)": math.cos(0.75), "__sinf({-2.5})": math.sin(-2.5),
    "__cosf({-2.5})": math.cos(-2.5), "__tanf({1.25})": math.tan(1.25), "__expf({3})": math.e**3,
    "__exp10f({-1.5})": 10**-1.5, "__logf({10})": math.log(10), "__log2f({10})": math.log2(10),
    "__log10f({50})": math.log10(50), "__powf({3}, {2.5})": 3**2.5, "normf((int){2}, h)": math.sqrt(13),
    "rnormf((int){2}, h)": 1 / math.sqrt(13),
}  # fmt: skip


@pytest.mark.parametrize("arch", ["gfx942 device", "gfx1100 device"])
def test_values(arch: str) -> None:
    table = {**EXACT, **NEAR, **NEAR_SINGLE}
    numbers: list[float] = []

    def from_memory(found: re.Match[str]) -> str:
        numbers.append(float(found[1]))
        return f"in[{len(numbers) - 1}]"

    body = []
    for i, expression in enumerate(table):
        body.append("{ double D[] = {0}, W[] = {in[at], in[at + 1], in[at + 2]}, *d = D, *w = W; int N, *n = &N;\n"
                    "float F[] = {0}, H[] = {(float)W[0], (float)W[1], (float)W[2]}, *f = F, *h = H;\n"
                    f"out[{i}] = {re.sub(r'{([^{}]*)}', from_memory, expression)}; }}")  # fmt: skip
    source = "__global__ void values(const double* in, int at, double* out) {\n" + "\n".join(body) + "\n}"
    numbers += [2, 3, 6]
    (_, out), _ = run(arch, source, np.array(numbers), np.int32(len(numbers) - 3), np.zeros(len(table)), block=(1,))
    got = dict(zip(table, out.tolist(), strict=True))
    same = lambda a, b: (a != a and b != b) or (a == b and math.copysign(1, a) == math.copysign(1, b))  # noqa: E731
    assert {name: got[name] for name, value in EXACT.items() if not same(got[name], value)} == {}
    for near, within in ((NEAR, 1e-14), (NEAR_SINGLE, 2e-6)):
        assert {name: got[name] for name in near} == pytest.approx(near, rel=within)
