"""hip/hip_fp8.h: the four formats against their definitions, and which GPU has which classes.

The values of all codes are written from the OCP 8-bit Floating Point Specification (revision 1.0, table 1) and, for the
FNUZ formats, from their definition in LLVM's APFloat (Float8E4M3FNUZ, Float8E5M2FNUZ).
"""

from __future__ import annotations

import bisect
import functools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from gpulab import toolchain
from gpulab.errors import CompileError
from tests.headers.device import run

both = pytest.mark.parametrize("arch", ["gfx942 device", "gfx1100 device"])


@dataclass(frozen=True)
class Format:
    """Fraction bits, bias, largest number, its code, and the code of infinity or NaN."""

    name: str
    fraction: int
    bias: int
    largest: float
    top: int
    infinite: bool
    fnuz: bool

    def value(self, code: int) -> float:
        size = code & 0x7F
        sign = -1.0 if code & 0x80 else 1.0
        if self.fnuz and code == 0x80:
            return math.nan
        if size > self.top:
            return sign * math.inf if self.infinite and size == self.top + 1 else math.nan
        exponent, rest = size >> self.fraction, size & ((1 << self.fraction) - 1)
        if exponent == 0:
            return sign * math.ldexp(rest, 1 - self.bias - self.fraction)
        return sign * math.ldexp(rest + (1 << self.fraction), exponent - self.bias - self.fraction)

    @functools.cached_property
    def sizes(self) -> list[Fraction]:
        return [Fraction(self.value(code)) for code in range(self.top + 1)]

    def nearest(self, x: float, saturate: bool) -> int | None:
        """The code of the number nearest to x, ties to even codes; None stands for any NaN."""
        if math.isnan(x):
            return None
        sign = 0x80 if math.copysign(1, x) < 0 else 0
        if math.isfinite(x):
            size = abs(Fraction(x))
            # What lies half a step or more above the largest number is too large.
            step = self.sizes[-1] - self.sizes[-2]
            half = self.sizes[-1] + step / 2
            if size < half or (size == half and self.top % 2 == 0):
                above = bisect.bisect_left(self.sizes, size)
                if above > self.top:
                    return sign | self.top
                below = max(above - 1, 0)
                up, down = self.sizes[above] - size, size - self.sizes[below]
                code = above if up < down or (up == down and above % 2 == 0) else below
                return 0 if self.fnuz and code == 0 else sign | code
            if saturate:
                return sign | self.top
        return sign | (self.top + 1) if self.infinite else None


FORMATS = [
    Format("__HIP_E4M3", 3, 7, 448, 0x7E, False, False),
    Format("__HIP_E5M2", 2, 15, 57344, 0x7B, True, False),
    Format("__HIP_E4M3_FNUZ", 3, 8, 240, 0x7F, False, True),
    Format("__HIP_E5M2_FNUZ", 2, 16, 57344, 0x7F, False, True),
]


def test_the_formats_have_their_largest_numbers() -> None:
    for form in FORMATS:
        assert form.value(form.top) == form.largest
        assert form.sizes == sorted(form.sizes)
        assert form.value(form.bias << form.fraction) == 1


def given() -> list[float]:
    r = np.random.default_rng(8)
    numbers = (r.standard_normal(700) * 2.0 ** r.integers(-20, 18, 700)).astype("float32").tolist()
    special = [
        0.0,
        -0.0,
        math.inf,
        -math.inf,
        math.nan,
        1e-45,
        3.4e38,
        -3.4e38,
        248,
        247.9,
        464,
        464.1,
        480,
        61440,
        61439,
    ]
    between = [float((form.sizes[k] + form.sizes[k + 1]) / 2) for form in FORMATS for k in range(0, form.top, 3)]
    return [*special, *between, *numbers][:768]


@pytest.mark.full
@both
def test_conversions_of_every_format(arch: str) -> None:
    rows = "\n".join(
        f"to[{2 * k + s} * 768 + i] = __hip_cvt_float_to_fp8(x, {mode}, {form.name});\n"
        f"wide[{2 * k + s} * 768 + i] = __hip_cvt_double_to_fp8(x * (1 + 0x1p-40), {mode}, {form.name});"
        for k, form in enumerate(FORMATS) for s, mode in enumerate(["__HIP_NOSAT", "__HIP_SATFINITE"])
    )  # fmt: skip
    back = "\n".join(
        f"from[{k} * 256 + i] = __half2float(__hip_cvt_fp8_to_halfraw(i, {form.name}));"
        for k, form in enumerate(FORMATS)
    )
    source = f"""
    #include <hip/hip_fp8.h>
    using code = unsigned char;
    __global__ void convert(const float* in, code* to, code* wide, float* from, unsigned short* two) {{
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        float x = in[i];
        {rows}
        two[i] = __hip_cvt_float2_to_fp8x2(make_float2(x, -1.0f), __HIP_SATFINITE, __HIP_E5M2);
        if (i < 256) {{ {back} }}
    }}"""
    numbers = given()
    (_, to, wide, back_values, two), _ = run(
        arch, source, np.array(numbers, "float32"), np.zeros(8 * 768, "uint8"), np.zeros(8 * 768, "uint8"),
        np.zeros(4 * 256, "float32"), np.zeros(768, "uint16"), grid=(3,), block=(256,),
    )  # fmt: skip
    for k, form in enumerate(FORMATS):
        assert np.array_equal(back_values[256 * k : 256 * k + 256], [form.value(c) for c in range(256)], equal_nan=True)
        for saturate in (False, True):
            row = slice((2 * k + saturate) * 768, (2 * k + saturate + 1) * 768)
            for x, code, code_of_more in zip(numbers, to[row].tolist(), wide[row].tolist(), strict=True):
                for number, got in ((x, code), (x * (1 + 2.0**-40), code_of_more)):
                    want = form.nearest(number, saturate)
                    if want is None:
                        assert math.isnan(form.value(got)), (form.name, number)
                    else:
                        assert got == want, (form.name, number, saturate)
    one = FORMATS[1].bias << FORMATS[1].fraction
    assert (two >> 8).tolist() == [0x80 | one] * 768
    assert (two & 0xFF).tolist() == to[3 * 768 : 4 * 768].tolist()


@both
def test_classes(arch: str) -> None:
    fnuz = arch.startswith("gfx942")
    kind = "e4m3_fnuz" if fnuz else "e4m3"
    form = FORMATS[2 if fnuz else 0]
    source = f"""
    #include <hip/hip_fp8.h>
    __global__ void classes(const float* in, unsigned char* codes, float* back, float* four) {{
        int i = threadIdx.x;
        __hip_fp8_{kind} x(in[i]), y(__float2half(in[i])), z((double)in[i]), n(3);
        codes[i] = x.__x; codes[64 + i] = y.__x; codes[128 + i] = z.__x; codes[192 + i] = n.__x;
        back[i] = float(x) + __half2float(__half(y)) + float(__hip_bfloat16(z)) + int(n);
        if (i < 16) {{
            __hip_fp8x4_{kind} q(((const float4*)in)[i]);
            float4 v = q;
            __hip_fp8x2_{kind} p(make_float2(v.x, v.y));
            float2 w = p;
            ((float4*)four)[i] = make_float4(w.x, w.y, v.z, v.w);
        }}
    }}"""
    numbers = np.float16(np.random.default_rng(3).standard_normal(64) * 20).astype("float32")
    (_, codes, back, four), _ = run(
        arch, source, numbers, np.zeros(256, "uint8"), np.zeros(64, "float32"), np.zeros(64, "float32")
    )
    wanted = [form.nearest(x, True) for x in numbers.tolist()]
    for row in codes.reshape(4, 64)[:3]:
        assert row.tolist() == wanted
    values = [form.value(code) for code in codes[:64].tolist()]
    assert back.tolist() == [3 * v + 3 for v in values]
    assert four.tolist() == values


@pytest.mark.full
@pytest.mark.parametrize("arch", ["gfx942", "gfx950", "gfx90a", "gfx1100", "gfx1030", "gfx1201"])
def test_gpus_with_the_format_have_its_classes_alone(arch: str) -> None:
    """As AMD's amd_hip_fp8.h has it: gfx942 the FNUZ formats, gfx950 and gfx12 the OCP formats, others both."""
    source = """
    #include <hip/hip_fp8.h>
    __global__ void k(float* x, __hip_fp8_KIND* y) { y[0] = __hip_fp8_KIND(x[0]); x[1] = float(y[1]); }"""
    for kind, lacks in (("e5m2", ("gfx942",)), ("e5m2_fnuz", ("gfx950", "gfx1201"))):
        if arch not in lacks:
            assert "s_endpgm" in toolchain.compile(source.replace("KIND", kind), arch=arch).assembly
            continue
        with pytest.raises(CompileError, match="other 8-bit format"):
            toolchain.compile(source.replace("KIND", kind), arch=arch)


SCALES = """
#include <hip/hip_fp8.h>
__global__ void k(const float* in, const double* wide, unsigned char* out, unsigned char* rest, float* back) {
    int i = threadIdx.x;
    out[4 * i] = __hip_cvt_float_to_e8m0(in[i], __HIP_NOSAT, hipRoundZero);
    out[4 * i + 1] = __hip_cvt_float_to_e8m0(in[i], __HIP_NOSAT, hipRoundPosInf);
    out[4 * i + 2] = __hip_cvt_float_to_e8m0(in[i], __HIP_SATFINITE, hipRoundZero);
    out[4 * i + 3] = __hip_cvt_bfloat16raw_to_e8m0(__hip_bfloat16(in[i]), __HIP_SATFINITE, hipRoundPosInf);
    if (i < 4) rest[i] = __hip_cvt_double_to_e8m0(wide[i], __HIP_NOSAT, hipRoundPosInf);
    back[i] = (float)__hip_bfloat16(__hip_cvt_e8m0_to_bf16raw(out[4 * i]));
}
"""


@both
def test_scales_of_blocks(arch: str) -> None:
    """Powers of two as exponents; the codes are those that AMD's tests of these functions expect (hip-tests, e8m0)."""
    numbers = np.array([0, 0.5, 0.625, 4, 5, 8, -0.625, -5, 1e38, np.nan, np.inf], "float32")
    wide = np.array([1e-50, 5e-324, float(np.finfo("float64").tiny), 1e50])
    (_, _, out, rest, back), _ = run(
        arch, SCALES, numbers, wide, np.zeros(44, "uint8"), np.zeros(4, "uint8"), np.zeros(11, "float32"), block=(11,)
    )
    down = [0x00, 0x7E, 0x7E, 0x81, 0x81, 0x82, 0x7E, 0x81, 0xFD, 0xFF, 0xFF]
    up = [0x00, 0x7E, 0x7F, 0x81, 0x82, 0x82, 0x7F, 0x82, 0xFE, 0xFF, 0xFF]
    table = out.reshape(11, 4).T.tolist()
    assert table == [down, up, [*down[:-1], 0xFE], [*up[:-1], 0xFE]]
    assert rest.tolist() == [0x01, 0x00, 0x00, 0xFF]
    np.testing.assert_array_equal(back, [2.0**-127, *(2.0 ** (np.array(down[1:-2]) - 127.0)), np.nan, np.nan])
