"""Conversions between number types (VOP1 and VOP3), packed ones included.

Float to integer truncates, saturates, and gives 0 for NaN; to a narrower float it rounds to nearest even.
FP8 has rows of its own in `fp8.py`.
"""

# mypy: disable-error-code="valid-type, operator, attr-defined, arg-type, misc, no-untyped-def, index"

from __future__ import annotations

from gpulab.virtual_gpu.isa import functions as f
from gpulab.virtual_gpu.isa.expression import (
    TYPES,
    const,
    f16,
    f32,
    floor,
    i16,
    i32,
    rint,
    u8,
    u16,
    u32,
)
from gpulab.virtual_gpu.isa.family import Family, body, definer

CONVERT = Family("CDNA3 ISA manual 12.7-12.11 (VOP1, VOP3); RDNA3 ISA manual 16.7-16.11")
vector = CONVERT.rows("valu", float_mode=True, counted="cvt")
define = definer(vector)


_WITHOUT_ROUNDING = ("f64 i32", "f64 u32", "f64 f32", "f32 f16")
"""Into a float that has all values of the source."""


def _plain(result: str, source: str, generations: str = "") -> None:
    """v_cvt_<result>_<source>, the primitive conversion."""
    name = f"v_cvt_{result}_{source}"
    names = {"gfx11": name} if generations == "gfx11" else {"common": name}
    rounds = TYPES[result].is_float and f"{result} {source}" not in _WITHOUT_ROUNDING
    rate = "wide" if "f64" in (result, source) else "full"
    vector(names.get("common", ""), gfx11=names.get("gfx11", ""), rounds=rounds, rate=rate)(
        body(lambda a: a.to(TYPES[result]), f"a:{source}", f"{source} to {result}.")
    )


for _pair in (
    "f32 i32",
    "f32 u32",
    "i32 f32",
    "u32 f32",
    "f64 i32",
    "f64 u32",
    "i32 f64",
    "u32 f64",
    "f64 f32",
    "f32 f64",
    "f16 f32",
    "f32 f16",
    "f16 i16",
    "f16 u16",
    "i16 f16",
    "u16 f16",
):
    _plain(*_pair.split())
_plain("i32", "i16", "gfx11")
_plain("u32", "u16", "gfx11")

for _index in range(4):
    define(
        f"v_cvt_f32_ubyte{_index}",
        "a:u32",
        lambda a, i=_index: f.byte(a, i).to(f32),
        f"Byte {_index} to f32.",
    )


vector(gfx9="v_cvt_rpi_i32_f32", gfx11="v_cvt_nearest_i32_f32")(
    body(lambda a: floor(a + 0.5).to(i32), "a:f32", "floor(a + 0.5), the sum rounded to f32: halves go up.")
)
vector(gfx9="v_cvt_flr_i32_f32", gfx11="v_cvt_floor_i32_f32")(
    body(lambda a: floor(a).to(i32), "a:f32", "Largest integer not above a.")
)
define(
    "v_cvt_off_f32_i4",
    "a:u32",
    lambda a: ((a << 28).bits(i32) >> 28).to(f32) * 0.0625,
    "A signed 4-bit number over 16.",
)
for _result, _type in (("i16", i16), ("u16", u16)):
    define(
        f"v_cvt_norm_{_result}_f16", "a:f16", lambda a, t=_type: f.normalized(a, t), "Normalized: 1.0 is the largest."
    )
    vector(gfx9=f"v_cvt_pknorm_{_result}_f32", gfx11=f"v_cvt_pk_norm_{_result}_f32")(
        body(lambda a, b, t=_type: f.join(f.normalized(a, t), f.normalized(b, t)), "a:f32 b:f32", "Two normalized.")
    )
    vector(gfx9=f"v_cvt_pknorm_{_result}_f16", gfx11=f"v_cvt_pk_norm_{_result}_f16")(
        body(lambda a, b, t=_type: f.join(f.normalized(a, t), f.normalized(b, t)), "a:f16 b:f16", "Two normalized.")
    )
    vector(gfx11=f"v_cvt_pk_{_result}_f32")(
        body(lambda a, b, t=_type: f.join(a.to(t), b.to(t)), "a:f32 b:f32", "Two integers, truncated and saturated.")
    )
define("v_cvt_pk_i16_i32", "a:i32 b:i32", lambda a, b: f.join(f.narrow(a, i16), f.narrow(b, i16)), "Two, saturated.")
define("v_cvt_pk_u16_u32", "a:u32 b:u32", lambda a, b: f.join(f.narrow(a, u16), f.narrow(b, u16)), "Two, saturated.")


@vector(gfx9="v_cvt_pkrtz_f16_f32", gfx11="v_cvt_pk_rtz_f16_f32")
def _(a: f32, b: f32) -> u32:
    """Two f16, rounded toward zero."""
    return f.join(f.toward_zero(a, f16), f.toward_zero(b, f16))


@vector("v_cvt_pk_u8_f32")
def _(a: f32, position: u32, c: u32) -> u32:
    """a as an unsigned byte (rounded to nearest even, saturated), put into byte `position` of c."""
    shift = (position & 3) * 8
    return (c & ~(const(0xFF, u32) << shift)) | (rint(a).to(u8).to(u32) << shift)


@vector(gfx9="v_cvt_pkaccum_u8_f32", keeps="rest")
def _(a: f32, position: u32, dst: u32) -> u32:
    """a as an unsigned byte (rounded to nearest even, saturated), put into byte `position` of the destination."""
    shift = (position & 3) * 8
    return (dst & ~(const(0xFF, u32) << shift)) | (rint(a).to(u8).to(u32) << shift)
