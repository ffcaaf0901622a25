"""hip/hip_fp4.h and hip/hip_fp6.h: every code, and rounding to the nearest one, against the formats' definitions.

The values are written from the OCP Microscaling Formats specification 1.0, section 5.3 (E3M2, E2M3, E2M1).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import pytest

from tests.headers.device import run

both = pytest.mark.parametrize("arch", ["gfx942 device", "gfx1100 device"])


@dataclass(frozen=True)
class Format:
    """Name of the width and of the format, bits of exponent and fraction, the exponent's bias."""

    width: str
    name: str
    exponent: int
    fraction: int
    bias: int

    @functools.cached_property
    def sizes(self) -> list[float]:
        """The values of the codes without a sign."""
        found = []
        for code in range(1 << self.exponent + self.fraction):
            e, f = code >> self.fraction, code & (1 << self.fraction) - 1
            found.append((f + (e > 0) * (1 << self.fraction)) * 2.0 ** (max(e, 1) - self.bias - self.fraction))
        return found

    def nearest(self, x: float) -> int:
        """The code of the nearest value, the even one of two equally near; the largest for what is too large."""
        sign = np.signbit(x) << self.exponent + self.fraction
        if x != x:
            return len(self.sizes) - 1
        size = min(abs(x), self.sizes[-1])
        distance = [abs(value - size) for value in self.sizes]
        best = min(distance)
        codes = [code for code, d in enumerate(distance) if d == best]
        return int(sign) | next((code for code in codes if code % 2 == 0), codes[0])


FORMATS = [Format("fp4", "e2m1", 2, 1, 1), Format("fp6", "e3m2", 3, 2, 3), Format("fp6", "e2m3", 2, 3, 1)]


def test_largest_and_smallest_numbers() -> None:
    assert [(f.sizes[1], f.sizes[-1]) for f in FORMATS] == [(0.5, 6.0), (0.0625, 28.0), (0.125, 7.5)]
    assert FORMATS[0].sizes == [0, 0.5, 1, 1.5, 2, 3, 4, 6]


def arguments(f: Format) -> np.ndarray:
    values = np.array(f.sizes)
    between = (values[:-1] + values[1:]) / 2
    exact = np.concatenate([values, between, between * (1 + 2**-20), between * (1 - 2**-20), [1e-30, 1e30, np.inf]])
    random = np.random.default_rng(7).uniform(0, f.sizes[-1] * 1.2, 200)
    found = np.concatenate([exact, random]).astype("float32")
    return np.concatenate([found, -found, np.array([np.nan], "float32")])


@both
@pytest.mark.parametrize("f", FORMATS, ids=lambda f: f.name)
def test_numbers_become_the_nearest_code_and_codes_their_number(arch: str, f: Format) -> None:
    w, suffix, kind = f.width, f.name, f"__HIP_{f.name.upper()}"
    codes = 2 * len(f.sizes)
    source = f"""
    #include <hip/hip_{w}.h>
    __global__ void k(const float* x, int n, int* out, float* back) {{
        int i = blockIdx.x * 64 + threadIdx.x;
        if (i < {codes}) {{
            __hip_{w}_{suffix} number;
            number.__x = i;
            __half half = __hip_cvt_{w}_to_halfraw(i, {kind});
            __hip_{w}x2_{suffix} pair(float2((float)number, 1.0f));
            float2 two = pair;
            back[3 * i] = number; back[3 * i + 1] = half; back[3 * i + 2] = two.x + two.y;
        }}
        if (i >= n) return;
        out[5 * i] = __hip_cvt_float_to_{w}(x[i], {kind}, hipRoundNearest);
        out[5 * i + 1] = __hip_cvt_double_to_{w}((double)x[i], {kind}, hipRoundZero);
        out[5 * i + 2] = __hip_{w}_{suffix}(x[i]).__x;
        out[5 * i + 3] = __hip_cvt_float2_to_{w}x2(float2(x[i], 1.0f), {kind}, hipRoundNearest);
        __hip_{w}x4_{suffix} four(float4(1.0f, x[i], 2.0f, 4.0f));
        float4 values = four;
        double4 wide = four;
        double2 two = __hip_{w}x2_{suffix}(float2(x[i], 4.0f));
        bool exact = wide.x == 1 && wide.y == values.y && wide.z == 2 && wide.w == 4 && two.x == values.y && two.y == 4;
        __hip_{w}_{suffix} same(values.y);
        out[5 * i + 4] = exact && values.x == 1 && values.z == 2 && values.w == 4 ? same.__x : -1;
    }}"""
    x = arguments(f)
    n = len(x)
    grid = (-(-max(n, codes) // 64),)
    (_, out, back), _ = run(arch, source, x, n, np.zeros(5 * n, "int32"), np.zeros(3 * codes, "float32"), grid=grid)
    one = f.nearest(1.0)
    bits = {"fp4": 4, "fp6": 8}[w]
    for value, row in zip(x.tolist(), out.reshape(n, 5).tolist(), strict=True):
        code = f.nearest(value)
        assert row == [code, code, code, code | one << bits, code], value
    for code, row in enumerate(back.reshape(codes, 3).tolist()):
        expected = f.sizes[code % len(f.sizes)] * (1 if code < len(f.sizes) else -1)
        assert row == [expected, expected, expected + 1]
