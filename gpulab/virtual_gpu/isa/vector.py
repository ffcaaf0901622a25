"""Vector ALU rows: VOP1, VOP2, VOP3 (arithmetic, bits, division steps, transcendental functions).

Generations differ in names (gfx9's v_add_u32 is gfx11's v_add_nc_u32) more than in meanings; each row lists both.
Conversions stand in `convert.py`, comparisons in `compare.py`, packed and dot products in `packed.py`.
Sources: CDNA3 ISA manual 12.7-12.11, RDNA3 ISA manual 16.7-16.11.
"""

# mypy: disable-error-code="valid-type, operator, attr-defined, arg-type, misc, no-untyped-def, index"

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

from gpulab.virtual_gpu.isa import functions as f
from gpulab.virtual_gpu.isa.expression import (
    Value,
    b1,
    bitreverse,
    ceil,
    clz,
    const,
    ctz,
    f32,
    f64,
    floor,
    fma,
    i16,
    i32,
    i64,
    popcount,
    rint,
    select,
    sqrt,
    trunc,
    u16,
    u32,
    u64,
)
from gpulab.virtual_gpu.isa.family import Family, body, definer
from gpulab.virtual_gpu.isa.row import Beyond, Options

VECTOR = Family("CDNA3 ISA manual 12.7-12.11 (VOP2, VOP1, VOP3); RDNA3 ISA manual 16.7-16.11")
vector = VECTOR.rows("valu")
int32 = VECTOR.rows("valu", counted="int32")
int64 = VECTOR.rows("valu", counted="int64")
with_mask = VECTOR.rows("valu", writes="dst sdst", counted="int32")
division = VECTOR.rows("valu", rate="division")
transcendental = VECTOR.rows("valu", rate="trans", float_mode=True)
define = definer(vector)
define_int32 = definer(int32)

FLOATS = ("f16", "f32", "f64")

# ---------------------------------------------------------------------------------------- moves and selection

define("v_mov_b32", "a:u32", lambda a: a, "Move.")
vector(gfx9="v_mov_b64")(body(lambda a: a, "a:u64", "Move 64 bits."))
vector(gfx9="v_accvgpr_read_b32 v_accvgpr_write_b32 v_accvgpr_mov_b32")(
    body(lambda a: a, "a:u32", "Move to or from an accumulation register.")
)
vector(gfx11="v_mov_b16")(body(lambda a: a, "a:u16", "Move 16 bits."))
define(
    "v_cndmask_b32", "a:u32 b:u32 mask:b1", lambda a, b, mask: select(mask, b, a), "Second where the mask has a one."
)
vector(gfx11="v_cndmask_b16")(
    body(lambda a, b, mask: select(mask, b, a), "a:u16 b:u16 mask:b1", "Second where the mask has a one.")
)
vector("v_swap_b32", writes="dst sdst")(
    body(lambda dst, sdst: (sdst, dst), "dst:u32 sdst:u32", "Exchange two registers.")
)
vector(gfx11="v_swap_b16", writes="dst sdst")(body(lambda dst, sdst: (sdst, dst), "dst:u16 sdst:u16", "Exchange."))

# ------------------------------------------------------------------------------------- float: add, multiply, fma

for type in FLOATS:
    two = f"a:{type} b:{type}"
    rate = "wide" if type == "f64" else "full"
    keeps = "half" if type == "f16" else ""
    fused: Beyond = {"rounds": True, "counted": f"fma_{type}"}
    define(f"v_add_{type}", two, lambda a, b: a + b, "Sum.", rate=rate, rounds=True, counted=f"add_{type}")
    define(f"v_mul_{type}", two, lambda a, b: a * b, "Product.", rate=rate, rounds=True, counted=f"mul_{type}")
    define(
        f"v_min_{type}",
        f"{two} mode:u32",
        f.minimum,
        "Minimum; -0 is below +0; a quiet NaN gives the other operand.",
        rate=rate,
    )
    define(
        f"v_max_{type}",
        f"{two} mode:u32",
        f.maximum,
        "Maximum; +0 is above -0; a quiet NaN gives the other operand.",
        rate=rate,
    )
    define(f"v_fma_{type}", f"{two} c:{type}", fma, "a*b+c with one rounding.", rate=rate, keeps=keeps, **fused)
    if type != "f64":
        sums: Beyond = {"rounds": True, "counted": f"add_{type}"}
        define(f"v_sub_{type}", two, lambda a, b: a - b, "Difference.", **sums)
        define(f"v_subrev_{type}", two, lambda a, b: b - a, "Difference, operands exchanged.", **sums)
        vector(gfx9="" if type == "f16" else f"v_fmac_{type}", gfx11=f"v_fmac_{type}", **fused)(
            body(lambda a, b, dst: fma(a, b, dst), f"{two} dst:{type}", "dst += a*b with one rounding.")
        )
        names = {"gfx11": f"v_fmaak_{type}"} | ({"gfx9": f"v_fmaak_{type}"} if type == "f32" else {})
        vector(**names, **fused)(body(lambda a, b, k: fma(a, b, k), f"{two} k:{type}", "a*b+K with one rounding."))
        names = {g: n.replace("fmaak", "fmamk") for g, n in names.items()}
        vector(**names, **fused)(
            body(lambda a, k, b: fma(a, k, b), f"a:{type} k:{type} b:{type}", "a*K+b with one rounding.")
        )
        three = f"{two} c:{type} mode:u32"
        define(
            f"v_min3_{type}",
            three,
            lambda a, b, c, mode: f.minimum(f.minimum(a, b, mode), c, mode),
            "Minimum of three.",
            keeps=keeps,
        )
        define(
            f"v_max3_{type}",
            three,
            lambda a, b, c, mode: f.maximum(f.maximum(a, b, mode), c, mode),
            "Maximum of three.",
            keeps=keeps,
        )
        define(f"v_med3_{type}", three, f.median, "Median of three; with a NaN, the minimum.", keeps=keeps)
        vector(gfx11=f"v_maxmin_{type}")(
            body(lambda a, b, c, mode: f.minimum(f.maximum(a, b, mode), c, mode), three, "min(max(a, b), c).")
        )
        vector(gfx11=f"v_minmax_{type}")(
            body(lambda a, b, c, mode: f.maximum(f.minimum(a, b, mode), c, mode), three, "max(min(a, b), c).")
        )
    define(f"v_floor_{type}", f"a:{type}", floor, "Largest integer not above a.", rate=rate)
    define(f"v_ceil_{type}", f"a:{type}", ceil, "Smallest integer not below a.", rate=rate)
    define(f"v_trunc_{type}", f"a:{type}", trunc, "Integer part.", rate=rate)
    define(f"v_rndne_{type}", f"a:{type}", rint, "Nearest integer, halves to even.", rate=rate)
    define(f"v_fract_{type}", f"a:{type}", f.fraction_of, "a - floor(a), always below 1.", rate=rate)
    define(f"v_frexp_mant_{type}", f"a:{type}", f.frexp_mantissa, "m of a = m * 2**e, 0.5 <= |m| < 1.", rate=rate)
vector(gfx9="v_fmac_f64", rate="wide", **fused)(
    body(lambda a, b, dst: fma(a, b, dst), "a:f64 b:f64 dst:f64", "dst += a*b with one rounding.")
)
fused_f16: Beyond = {"rounds": True, "counted": "fma_f16"}
for twice_rounded, parameters, keeps in (
    ("v_mac_f16", "a:f16 b:f16 dst:f16", ""),
    ("v_mad_f16", "a:f16 b:f16 c:f16", "half"),
    ("v_mad_legacy_f16", "a:f16 b:f16 c:f16", ""),
    ("v_madak_f16", "a:f16 b:f16 k:f16", ""),
):
    vector(gfx9=twice_rounded, keeps=keeps, **fused_f16)(
        body(lambda a, b, c: a * b + c, parameters, "a*b + c, rounded twice.")
    )
vector(gfx9="v_madmk_f16", **fused_f16)(body(lambda a, k, b: a * k + b, "a:f16 k:f16 b:f16", "a*K + b, rounded twice."))
vector(gfx9="v_fma_legacy_f16", **fused_f16)(
    body(lambda a, b, c: fma(a, b, c), "a:f16 b:f16 c:f16", "a*b+c with one rounding.")
)
define("v_frexp_exp_i32_f32", "a:f32", f.frexp_exponent, "e of a = m * 2**e; 0 for 0, infinity, NaN.")
define("v_frexp_exp_i32_f64", "a:f64", f.frexp_exponent, "e of a = m * 2**e; 0 for 0, infinity, NaN.", rate="wide")
define("v_frexp_exp_i16_f16", "a:f16", lambda a: f.frexp_exponent(a, i16), "e of a = m * 2**e; 0 for 0, infinity, NaN.")
define("v_ldexp_f32", "a:f32 b:i32", f.ldexp, "a * 2**b, one rounding.", rounds=True)
define("v_ldexp_f64", "a:f64 b:i32", f.ldexp, "a * 2**b, one rounding.", rate="wide", rounds=True)
define("v_ldexp_f16", "a:f16 b:i16", lambda a, b: f.ldexp(a, b.to(i32)), "a * 2**b, one rounding.", rounds=True)


def _zero_wins(a: Value, b: Value, product: Value) -> Value:
    return select((a == 0.0) | (b == 0.0), 0.0, product)


@vector(gfx9="v_mul_legacy_f32", gfx11="v_mul_dx9_zero_f32 v_mul_legacy_f32", rounds=True, counted="mul_f32")
def _(a: f32, b: f32) -> f32:
    """Zero times anything is zero, even infinity."""
    return _zero_wins(a, b, a * b)


@vector(gfx11="v_fma_dx9_zero_f32 v_fma_legacy_f32", rounds=True, counted="fma_f32")
def _(a: f32, b: f32, c: f32) -> f32:
    """a*b+c where zero times anything is zero."""
    return select((a == 0.0) | (b == 0.0), c, fma(a, b, c))


@vector(gfx11="v_fmac_dx9_zero_f32 v_fmac_legacy_f32", rounds=True, counted="fma_f32")
def _(a: f32, b: f32, dst: f32) -> f32:
    """dst += a*b where zero times anything is zero."""
    return select((a == 0.0) | (b == 0.0), dst, fma(a, b, dst))


@vector(gfx11="v_mullit_f32", rounds=True)
def _(a: f32, b: f32, c: f32) -> f32:
    """Product for lighting: -FLT_MAX where b is -FLT_MAX, -infinity or NaN, or c is not above zero."""
    lowest = -3.4028234663852886e38
    refuse = (b <= lowest) | f.is_nan(b) | (c <= 0.0) | f.is_nan(c)
    return select(refuse, lowest, a * b)


# --------------------------------------------------------------------------------------------- division steps


def _exponent(x: Value) -> Value:
    return f.biased_exponent(x)


def _division_scale(a: Value, denominator: Value, numerator: Value, steps: int, tiny: int) -> tuple[Value, Value]:
    """v_div_scale: scale numerator or denominator by 2**steps where the quotient's steps would over- or underflow.

    The mask says that v_div_fmas must scale back. The manual's tests `1/S1 == DENORM` and `S2/S1 == DENORM` are made
    here on exponents; a quotient that rounds to zero is no denormal, and v_div_fixup makes it zero. For a huge
    denominator with a tiny quotient the manual's text scales the denominator up, which would overflow; it must go down
    for the quotient to come out, and does so here.
    """
    form = f.FORMATS[a.type]
    top = 2 * form.bias + 1
    exponent_n, exponent_d = _exponent(numerator), _exponent(denominator)
    zero = (numerator == 0.0) | (denominator == 0.0)
    large = exponent_n - exponent_d >= (96 if a.type == f32 else 768)
    denormal = f.is_denormal(denominator)
    tiny_reciprocal = exponent_d >= top - 2
    # the quotient rounded is a denormal: exponents and fractions of normalised numbers decide
    lift = form.fraction + 1
    normal_n = select(exponent_n == 0, numerator * 2.0**lift, numerator)
    mantissa_n = f.magnitude(normal_n) & ((1 << form.fraction) - 1)
    mantissa_d = f.magnitude(denominator) & ((1 << form.fraction) - 1)
    above = _exponent(normal_n) - select(exponent_n == 0, const(lift, i32), 0) - exponent_d
    quotient_exponent = above + form.bias - (mantissa_n < mantissa_d).to(i32)
    least = -form.fraction
    not_zero = (quotient_exponent > least) | ((quotient_exponent == least) & (mantissa_n != mantissa_d))
    tiny_quotient = (quotient_exponent < 1) & not_zero
    tiny_numerator = exponent_n <= tiny
    is_denominator = a == denominator
    is_numerator = a == numerator
    up = a * 2.0**steps
    down = a * 2.0**-steps
    result = select(tiny_numerator, up, a)
    result = select(tiny_quotient, select(is_numerator & ~is_denominator, up, a), result)
    result = select(tiny_reciprocal, down, result)
    result = select(tiny_reciprocal & tiny_quotient, select(is_denominator, down, a), result)
    result = select(denormal, up, result)
    result = select(large, select(is_denominator, up, a), result)
    finite = (exponent_n != top) & (exponent_d != top)
    scale_back = large | (~denormal & tiny_quotient)
    return select(zero, f.nan(a.type), select(finite, result, a)), zero | (scale_back & finite)


@division("v_div_scale_f32", writes="dst sdst")
def _(a: f32, denominator: f32, numerator: f32) -> Any:
    """Scale for a division; the mask tells v_div_fmas_f32 to scale back. Two cases are open: see docs/assembly.md."""
    return _division_scale(a, denominator, numerator, 64, 23)


@division("v_div_scale_f64", writes="dst sdst")
def _(a: f64, denominator: f64, numerator: f64) -> Any:
    """Scale for a division; the mask tells v_div_fmas_f64 to scale back. Two cases are open: see docs/assembly.md."""
    return _division_scale(a, denominator, numerator, 128, 53)


def _division_fmas(a: Value, b: Value, c: Value, back: Value, steps: int) -> Value:
    """fma, times 2**steps or 2**-steps where the mask asks, by the size of c: the opposite of v_div_scale.

    Scaling down can make a denormal, which would round a second time. Only a tie can go wrong then: it is decided by
    the error of the first rounding.
    """
    form = f.FORMATS[a.type]
    plain = fma(a, b, c)
    error = fma(a, b, c - plain)
    down, up = 2.0**-steps, 2.0**steps
    half = 2.0 ** (steps - form.bias + 1 - form.fraction - 1)
    lost = plain - (plain * down) * up
    tie = f.fabs(lost) == half
    nudge = select(error > 0.0, half, select(error < 0.0, const(-half, a.type), 0.0))
    scaled_down = select(tie, plain + nudge, plain) * down
    scaled = select(_exponent(c) > form.bias, plain * up, scaled_down)
    return select(back, scaled, plain)


@division("v_div_fmas_f32", rounds=True)
def _(a: f32, b: f32, c: f32, vcc: b1) -> f32:
    """Last step of a division: fma, scaled back where VCC asks."""
    return _division_fmas(a, b, c, vcc, 64)


@division("v_div_fmas_f64", rounds=True)
def _(a: f64, b: f64, c: f64, vcc: b1) -> f64:
    """Last step of a division: fma, scaled back where VCC asks."""
    return _division_fmas(a, b, c, vcc, 128)


def _division_fixup(quotient: Value, denominator: Value, numerator: Value, far: int) -> Value:
    """The special cases of numerator / denominator; else |quotient| with the right sign."""
    type = quotient.type
    form = f.FORMATS[type]
    sign = (f.unsigned(denominator) ^ f.unsigned(numerator)) & form.sign
    n, d = f.magnitude(numerator), f.magnitude(denominator)

    def signed(bits: Value | int) -> Value:
        return (sign | bits).bits(type)

    invalid = ((n == 0) & (d == 0)) | ((n == form.infinity) & (d == form.infinity))
    ordinary = signed(select(f.is_nan(quotient), form.infinity, f.magnitude(quotient)))
    result = select(_exponent(numerator) - _exponent(denominator) < -far, signed(0), ordinary)
    result = select((d == form.infinity) | (n == 0), signed(0), result)
    result = select((d == 0) | (n == form.infinity), signed(form.infinity), result)
    result = select(invalid, f.nan_negative(type), result)
    result = select(f.is_nan(denominator), f.quiet(denominator), result)
    return select(f.is_nan(numerator), f.quiet(numerator), result)


@division("v_div_fixup_f32")
def _(quotient: f32, denominator: f32, numerator: f32) -> f32:
    """Special cases of a division: NaN, infinity, zero, sign."""
    return _division_fixup(quotient, denominator, numerator, 150)


@division("v_div_fixup_f64")
def _(quotient: f64, denominator: f64, numerator: f64) -> f64:
    """Special cases of a division: NaN, infinity, zero, sign."""
    return _division_fixup(quotient, denominator, numerator, 1075)


_fixup_f16 = body(
    lambda quotient, denominator, numerator: _division_fixup(quotient, denominator, numerator, 1 << 10),
    "quotient:f16 denominator:f16 numerator:f16",
    "Special cases of a division: NaN, infinity, zero, sign.",
)
vector("v_div_fixup_f16", keeps="half")(_fixup_f16)
vector(gfx9="v_div_fixup_legacy_f16")(_fixup_f16)


# ----------------------------------------------------------------------------------- transcendental functions

EXACT = "correctly rounded (hardware: 1 ulp)"
transcendental("v_rcp_f32 v_rcp_iflag_f32", counted="trans_f32", accuracy=EXACT)(
    body(f.reciprocal, "a:f32", "1/a; denormals in and out are zeros.")
)
transcendental("v_rsq_f32", counted="trans_f32", accuracy="1.5 ulp (hardware: 1 ulp)")(
    body(f.reciprocal_sqrt, "a:f32", "1/sqrt(a); denormals count as zero.")
)
transcendental("v_sqrt_f32", counted="trans_f32", accuracy=EXACT)(
    body(lambda a: sqrt(f.flushed(a)), "a:f32", "Square root; denormals count as zero.")
)
transcendental("v_exp_f32", counted="trans_f32", accuracy="1 ulp (hardware: 1 ulp)")(
    body(lambda a: f.exp2(a), "a:f32", "2**a; results below 2**-126 are 0.")
)
transcendental("v_log_f32", counted="trans_f32", accuracy="2 ulp (hardware: 1 ulp)")(
    body(lambda a: f.log2(a), "a:f32", "log2(a); denormals count as zero.")
)
transcendental("v_sin_f32", counted="trans_f32", accuracy="2**-22 absolute (hardware: 2**-20)")(
    body(f.sin_turns, "a:f32", "sin(2 pi a); 0 beyond 256 turns.")
)
transcendental("v_cos_f32", counted="trans_f32", accuracy="2**-22 absolute (hardware: 2**-20)")(
    body(f.cos_turns, "a:f32", "cos(2 pi a); 1 beyond 256 turns.")
)
vector(gfx9="v_exp_legacy_f32", rate="trans", counted="trans_f32", accuracy="1 ulp (hardware: 1 ulp)")(
    body(lambda a: f.exp2(a), "a:f32", "2**a.")
)
vector(gfx9="v_log_legacy_f32", rate="trans", counted="trans_f32", accuracy="2 ulp (hardware: 1 ulp)")(
    body(lambda a: f.log2(a), "a:f32", "log2(a).")
)
transcendental("v_rcp_f64", counted="trans_f64", accuracy="correctly rounded (hardware: 2**29 ulp)")(
    body(f.reciprocal, "a:f64", "1/a.")
)
transcendental("v_rsq_f64", counted="trans_f64", accuracy="1 ulp (hardware: 2**29 ulp)")(
    body(f.reciprocal_sqrt, "a:f64", "1/sqrt(a).")
)
transcendental("v_sqrt_f64", counted="trans_f64", accuracy="correctly rounded (hardware: 2**29 ulp)")(
    body(sqrt, "a:f64", "Square root.")
)
_HALF_FUNCTIONS: tuple[tuple[str, Callable[..., Value], str], ...] = (
    ("rcp", lambda x: 1.0 / x, "1/a."),
    ("rsq", lambda x: 1.0 / sqrt(x), "1/sqrt(a)."),
    ("sqrt", sqrt, "Square root."),
    ("exp", lambda x: f.exp2(x), "2**a."),
    ("log", lambda x: f.log2(x), "log2(a)."),
    ("sin", lambda x: f.sin_turns(x), "sin(2 pi a)."),
    ("cos", lambda x: f.cos_turns(x), "cos(2 pi a)."),
)
for name, half_function, meaning in _HALF_FUNCTIONS:
    transcendental(f"v_{name}_f16", counted="trans_f16", accuracy="0.51 ulp (hardware: 0.51 ulp)")(
        body(lambda a, function=half_function: f.through_f32(function, a), "a:f16", meaning)
    )

# The first 1201 bits of 2/pi after the binary point, for the argument reduction of sine and cosine.
_TWO_OVER_PI = (
    "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424dd2e006492eea09d1921cfe1d"
    "eb1cb129a73ee88235f52ebb4484e99c7026b45f7e413991d639835339f49c845f8bbdf9283b1ff897ffde05980fef2f118b"
    "5a0a6d1f6d367ecf27cb09b74f463f669e5fea2d7527bac7ebe5f17b3d0739f78a5292ea6bfb5fb11f8d5d0856033046fc7b"
    "0000"
)


@division("v_trig_preop_f64")
def _(a: f64, segment: u32) -> f64:
    """53 bits of 2/pi, `segment` (0-31) times 53 bits down, further down for |a| of 2**54 and more, as a number."""
    exponent = _exponent(a)
    start = (segment & 31).to(i32) * 53 + f.maximum_int(exponent - 1077, const(0, i32))
    words = [int(_TWO_OVER_PI[16 * i : 16 * i + 16], 16) for i in range(19)]
    index, offset = start >> 6, (start & 63).to(u64)

    def word(shift: int) -> Value:
        value = const(0, u64)
        for i, bits in enumerate(words):
            value = select(index == i - shift, const(bits, u64), value)
        return value

    window = (word(0) << offset) | select(offset == 0, const(0, u64), word(1) >> ((64 - offset) & 63))
    scale = -53 - start + select(exponent >= 1968, const(128, i32), 0)
    return f.ldexp((window >> 11).to(f64), scale)


# ------------------------------------------------------------------------------------------ 32-bit integers


def _both(gfx9: str, gfx11: str, parameters: str, function: Any, meaning: str, **options: Unpack[Options]) -> None:
    vector(gfx9=gfx9, gfx11=gfx11, **options)(body(function, parameters, meaning))


_both("v_add_u32", "v_add_nc_u32", "a:u32 b:u32 clamp:b1", f.saturating_add, "Sum.", counted="int32")
_both("v_sub_u32", "v_sub_nc_u32", "a:u32 b:u32 clamp:b1", f.saturating_sub, "Difference.", counted="int32")
_both(
    "v_subrev_u32",
    "v_subrev_nc_u32",
    "a:u32 b:u32 clamp:b1",
    lambda a, b, clamp: f.saturating_sub(b, a, clamp),
    "Difference, operands exchanged.",
    counted="int32",
)
_both("v_add_i32", "v_add_nc_i32", "a:i32 b:i32 clamp:b1", f.saturating_add, "Signed sum.", counted="int32")
_both("v_sub_i32", "v_sub_nc_i32", "a:i32 b:i32 clamp:b1", f.saturating_sub, "Signed difference.", counted="int32")


def _clamped_carry(result: tuple[Value, Value], clamp: Value, limit: int) -> tuple[Value, Value]:
    value, out = result
    return select(clamp & out, const(limit, u32), value), out


@with_mask("v_add_co_u32")
def _(a: u32, b: u32, clamp: b1) -> Any:
    """Sum, and its carry as a mask."""
    return _clamped_carry(f.add_overflow(a, b), clamp, -1)


@with_mask("v_sub_co_u32")
def _(a: u32, b: u32, clamp: b1) -> Any:
    """Difference, and its borrow as a mask."""
    return _clamped_carry(f.sub_borrow(a, b), clamp, 0)


@with_mask("v_subrev_co_u32")
def _(a: u32, b: u32, clamp: b1) -> Any:
    """b - a, and its borrow as a mask."""
    return _clamped_carry(f.sub_borrow(b, a), clamp, 0)


@with_mask(gfx9="v_addc_co_u32", gfx11="v_add_co_ci_u32")
def _(a: u32, b: u32, carry: b1, clamp: b1) -> Any:
    """Sum with carry in and out as masks."""
    return _clamped_carry(f.add_overflow(a, b, carry), clamp, -1)


@with_mask(gfx9="v_subb_co_u32", gfx11="v_sub_co_ci_u32")
def _(a: u32, b: u32, borrow: b1, clamp: b1) -> Any:
    """Difference with borrow in and out as masks."""
    return _clamped_carry(f.sub_borrow(a, b, borrow), clamp, 0)


@with_mask(gfx9="v_subbrev_co_u32", gfx11="v_subrev_co_ci_u32")
def _(a: u32, b: u32, borrow: b1, clamp: b1) -> Any:
    """b - a with borrow in and out as masks."""
    return _clamped_carry(f.sub_borrow(b, a, borrow), clamp, 0)


THREE = "a:u32 b:u32 c:u32"
define_int32("v_add3_u32", THREE, lambda a, b, c: a + b + c, "Sum of three.")
define_int32("v_lshl_add_u32", THREE, lambda a, b, c: f.shift_left(a, b) + c, "(a << b) + c.")
define_int32("v_add_lshl_u32", THREE, lambda a, b, c: f.shift_left(a + b, c), "(a + b) << c.")
define_int32("v_xad_u32", THREE, lambda a, b, c: (a ^ b) + c, "(a ^ b) + c.")
int64(gfx9="v_lshl_add_u64")(
    body(lambda a, b, c: (a << (b & 7).to(u64)) + c, "a:u64 b:u32 c:u64", "(a << b) + c, 64 bits; b is 0 to 7.")
)
define_int32("v_mul_lo_u32", "a:u32 b:u32", lambda a, b: a * b, "Low 32 bits of the product.", rate="quarter")
int32(gfx9="v_mul_lo_i32", rate="quarter")(body(lambda a, b: a * b, "a:u32 b:u32", "Low 32 bits of the product."))
define_int32("v_mul_hi_u32", "a:u32 b:u32", f.multiply_high, "High 32 bits of the unsigned product.", rate="quarter")
define_int32("v_mul_hi_i32", "a:i32 b:i32", f.multiply_high, "High 32 bits of the signed product.", rate="quarter")


def _saturated_product(a: Value, b: Value, c: Value | None, clamp: Value) -> Value:
    """a * b + c in 32 bits, or limited to their range where `clamp`; a and b have at most 24 bits."""
    exact = a.to(i64) * b.to(i64)
    if c is None:
        return select(clamp, f.narrow(exact, a.type), a * b)
    return select(clamp, f.narrow(exact + c.to(i64), a.type), a * b + c)


for type in ("u32", "i32"):
    suffix = type[0] + "24"
    signed = type == "i32"
    define_int32(
        f"v_mul_{type}_{suffix}",
        f"a:{type} b:{type} clamp:b1",
        lambda a, b, clamp: _saturated_product(f.low24(a), f.low24(b), None, clamp),
        "24-bit product.",
    )
    define_int32(
        f"v_mul_hi_{type}_{suffix}",
        f"a:{type} b:{type}",
        lambda a, b: f.multiply_high(f.low24(a), f.low24(b)),
        "Bits 32 and up of the 24-bit product.",
    )
    define_int32(
        f"v_mad_{type}_{suffix}",
        f"a:{type} b:{type} c:{type} clamp:b1",
        lambda a, b, c, clamp: _saturated_product(f.low24(a), f.low24(b), c, clamp),
        "24-bit product plus c.",
    )
    for operation, function in (("min", f.minimum_int), ("max", f.maximum_int)):
        define_int32(f"v_{operation}_{type}", f"a:{type} b:{type}", function, "Minimum or maximum.")
        define_int32(
            f"v_{operation}3_{type}",
            f"a:{type} b:{type} c:{type}",
            lambda a, b, c, function=function: function(function(a, b), c),
            "Minimum or maximum of three.",
        )
    define_int32(f"v_med3_{type}", f"a:{type} b:{type} c:{type}", f.median_int, "Median of three.")
    int32(gfx11=f"v_maxmin_{type}")(
        body(lambda a, b, c: f.minimum_int(f.maximum_int(a, b), c), f"a:{type} b:{type} c:{type}", "min(max(a, b), c).")
    )
    int32(gfx11=f"v_minmax_{type}")(
        body(lambda a, b, c: f.maximum_int(f.minimum_int(a, b), c), f"a:{type} b:{type} c:{type}", "max(min(a, b), c).")
    )
    half = type.replace("32", "16")
    define(
        f"v_mad_{type}_{half}",
        f"a:{half} b:{half} c:{type} clamp:b1",
        lambda a, b, c, clamp: _saturated_product(a.to(c.type), b.to(c.type), c, clamp),
        "16-bit product plus a 32-bit number.",
    )


@with_mask("v_mad_u64_u32", rate="quarter", counted="int64")
def _(a: u32, b: u32, c: u64, clamp: b1) -> Any:
    """32 x 32 product plus a 64-bit number, and the carry as a mask."""
    total, carry = f.add_overflow(a.to(u64) * b.to(u64), c)
    return select(clamp & carry, const(-1, u64), total), carry


@with_mask("v_mad_i64_i32", rate="quarter", counted="int64")
def _(a: i32, b: i32, c: i64, clamp: b1) -> Any:
    """Signed 32 x 32 product plus a 64-bit number, and the overflow (bit 64 of the sum) as a mask."""
    product = a.to(i64) * b.to(i64)
    total = product + c
    carry = f.unsigned(total) < f.unsigned(c)
    over = ((product ^ total) & (c ^ total)) < 0
    limit = (c >> 63) ^ ((1 << 63) - 1)
    return select(clamp & over, limit, total), ((product < 0) ^ (c < 0)) ^ carry


# --------------------------------------------------------------------------------------------------------- bits

TWO = "a:u32 b:u32"
define("v_and_b32", TWO, lambda a, b: a & b, "And.")
define("v_or_b32", TWO, lambda a, b: a | b, "Or.")
define("v_xor_b32", TWO, lambda a, b: a ^ b, "Exclusive or.")
define("v_xnor_b32", TWO, lambda a, b: ~(a ^ b), "Not exclusive or.")
define("v_not_b32", "a:u32", lambda a: ~a, "Not.")
define("v_and_or_b32", THREE, lambda a, b, c: (a & b) | c, "(a & b) | c.")
define("v_or3_b32", THREE, lambda a, b, c: a | b | c, "Or of three.")
vector(gfx11="v_xor3_b32")(body(lambda a, b, c: a ^ b ^ c, THREE, "Exclusive or of three."))
define("v_lshl_or_b32", THREE, lambda a, b, c: f.shift_left(a, b) | c, "(a << b) | c.")
define("v_lshlrev_b32", TWO, lambda a, b: f.shift_left(b, a), "b << a.")
define("v_lshrrev_b32", TWO, lambda a, b: f.shift_right(b, a), "b >> a, logical.")
define_int32("v_ashrrev_i32", "a:u32 b:i32", lambda a, b: f.shift_right(b, a), "b >> a, arithmetic.")
define("v_lshlrev_b64", "a:u32 b:u64", lambda a, b: f.shift_left(b, a), "b << a.", rate="wide")
define("v_lshrrev_b64", "a:u32 b:u64", lambda a, b: f.shift_right(b, a), "b >> a, logical.", rate="wide")
definer(int64)("v_ashrrev_i64", "a:u32 b:i64", lambda a, b: f.shift_right(b, a), "b >> a, arithmetic.", rate="wide")
define("v_bfrev_b32", "a:u32", bitreverse, "Bits in reverse order.")
define("v_bfi_b32", THREE, lambda a, b, c: (a & b) | (~a & c), "Bits of b where a has ones, else of c.")
define("v_bfm_b32", TWO, lambda a, b: f.ones(a & 31, u32) << f.amount(b, u32), "a ones from bit b up.")


@int32("v_bfe_u32")
def _(a: u32, offset: u32, width: u32) -> u32:
    """Bit field, zero-extended; offset and width modulo 32."""
    return f.shift_right(a, offset) & f.ones(width & 31, u32)


@int32("v_bfe_i32")
def _(a: i32, offset: u32, width: u32) -> i32:
    """Bit field, sign-extended; offset and width modulo 32."""
    return f.sign_extend(f.shift_right(a, offset), width & 31, i32)


define("v_bcnt_u32_b32", TWO, lambda a, b: popcount(a) + b, "Number of ones, plus b.")


def _below(lane: Value) -> Value:
    """A mask of the lanes below this one, u64."""
    return (const(1, u64) << lane.to(u64)) - 1


define(
    "v_mbcnt_lo_u32_b32",
    "a:u32 b:u32 lane:u32",
    lambda a, b, lane: popcount(a & f.low(_below(lane))) + b,
    "Ones of a below this lane (lanes 0-31), plus b.",
)
define(
    "v_mbcnt_hi_u32_b32",
    "a:u32 b:u32 lane:u32",
    lambda a, b, lane: popcount(a & f.high(_below(lane))) + b,
    "Ones of a below this lane (lanes 32-63), plus b.",
)
_both(
    "v_ffbh_u32",
    "v_clz_i32_u32",
    "a:u32",
    lambda a: select(a == 0, -1, clz(a).to(i32)),
    "Zeros before the highest one bit; -1 for 0.",
    counted="int32",
)
_both("v_ffbl_b32", "v_ctz_i32_b32", "a:u32", lambda a: select(a == 0, -1, ctz(a).to(i32)), "Lowest one bit; -1 for 0.")


@int32(gfx9="v_ffbh_i32", gfx11="v_cls_i32")
def _(a: i32) -> i32:
    """Number of leading bits equal to the sign bit; -1 if all are."""
    flipped = f.unsigned(a ^ (a >> 31))
    return select(flipped == 0, -1, clz(flipped).to(i32))


def _align(a: Value, b: Value, by: Value) -> Value:
    """The low 32 bits of a:b >> by."""
    return f.low(f.join(b, a) >> by.to(u64))


define("v_alignbit_b32", THREE, lambda a, b, c: _align(a, b, c & 31), "(a:b >> c), low 32 bits.")
define("v_alignbyte_b32", THREE, lambda a, b, c: _align(a, b, (c & 3) * 8), "(a:b >> 8c), low 32 bits.")


@vector("v_perm_b32")
def _(a: u32, b: u32, selector: u32) -> u32:
    """Each selector byte picks a byte: 0-3 of b, 4-7 of a, 8-11 the sign of b's or a's half, 12 zero, else 0xff."""
    pool = f.join(b, a)
    result = const(0, u32)
    for i in range(4):
        pick = f.byte(selector, i)
        plain = (pool >> ((pick & 7) * 8).to(u64)).to(u32) & 0xFF
        half = ((pick & 3) * 16 + 15).to(u64)
        sign = select(((pool >> half) & 1) != 0, const(0xFF, u32), 0)
        chosen = select(pick < 8, plain, select(pick < 12, sign, select(pick == 12, const(0, u32), const(0xFF, u32))))
        result = result | (chosen << (8 * i))
    return result


@vector("v_lerp_u8")
def _(a: u32, b: u32, c: u32) -> u32:
    """Average of the bytes of a and b, rounded up where c's byte has its lowest bit."""
    result = const(0, u32)
    for i in range(4):
        result = result | (((f.byte(a, i) + f.byte(b, i) + (f.byte(c, i) & 1)) >> 1) << (8 * i))
    return result


def _sum(values: list[Value]) -> Value:
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total


def _byte_differences(a: Value, b: Value) -> Value:
    return _sum([f.difference(f.byte(a, i), f.byte(b, i)) for i in range(4)])


def _masked_differences(a: Value, b: Value) -> Value:
    """Bytes where the reference b is zero do not count."""
    return _sum([select(f.byte(b, i) == 0, const(0, u32), f.difference(f.byte(a, i), f.byte(b, i))) for i in range(4)])


def _half_differences(a: Value, b: Value) -> Value:
    return f.difference(a & 0xFFFF, b & 0xFFFF) + f.difference(a >> 16, b >> 16)


for name, differences, meaning, counted in (
    ("v_sad_u8", _byte_differences, "Sum of byte differences, plus c.", ""),
    ("v_sad_hi_u8", lambda a, b: _byte_differences(a, b) << 16, "The same, times 65536.", ""),
    ("v_msad_u8", _masked_differences, "The same without bytes where b is 0.", ""),
    ("v_sad_u32", f.difference, "|a - b| + c.", "int32"),
    ("v_sad_u16", _half_differences, "Sum of the halves' differences, plus c.", ""),
):
    define(
        name,
        THREE + " clamp:b1",
        lambda a, b, c, clamp, sum_of=differences: f.saturating_add(sum_of(a, b), c, clamp),
        meaning,
        counted=counted,
    )


def _quad_differences(one: Any) -> Any:
    def body(a: Value, b: Value, c: Value, clamp: Value) -> Value:
        result = const(0, u64)
        for i in range(4):
            total = one((a >> (8 * i)).to(u32), b) + ((c >> (16 * i)) & 0xFFFF).to(u32)
            total = select(clamp & (total > 0xFFFF), const(0xFFFF, u32), total & 0xFFFF)
            result = result | (total.to(u64) << (16 * i))
        return result

    return body


QUAD = "a:u64 b:u32 c:u64 clamp:b1"
define("v_qsad_pk_u16_u8", QUAD, _quad_differences(_byte_differences), "Four v_sad_u8 at byte steps.")


@vector("v_mqsad_u32_u8", writes="dst sdst")
def _(a: u64, b: u32, c: u64, d: u64, clamp: b1) -> Any:
    """Four v_msad_u8 at byte steps, 32 bits each; c and d are the halves of the third operand."""
    sums = []
    for i in range(4):
        old = f.low(c if i < 2 else d) if i % 2 == 0 else f.high(c if i < 2 else d)
        sums.append(f.saturating_add(_masked_differences((a >> (8 * i)).to(u32), b), old, clamp))
    return f.join(sums[0], sums[1]), f.join(sums[2], sums[3])


define("v_mqsad_pk_u16_u8", QUAD, _quad_differences(_masked_differences), "Four v_msad_u8 at byte steps.")

# -------------------------------------------------------------------------------------------- 16-bit integers

for type in ("u16", "i16"):
    two, three = f"a:{type} b:{type}", f"a:{type} b:{type} c:{type}"
    keeps = "half" if type == "i16" else ""
    _both(f"v_add_{type}", f"v_add_nc_{type}", two + " clamp:b1", f.saturating_add, "Sum.", keeps=keeps)
    _both(f"v_sub_{type}", f"v_sub_nc_{type}", two + " clamp:b1", f.saturating_sub, "Difference.", keeps=keeps)

    def _mad(a: Value, b: Value, c: Value, clamp: Value) -> Value:
        wide = i64
        exact = a.to(wide) * b.to(wide) + c.to(wide)
        return select(clamp, f.narrow(exact, a.type), a * b + c)

    define(f"v_mad_{type}", three + " clamp:b1", _mad, "a*b + c.", keeps="half")
    vector(gfx9=f"v_mad_legacy_{type}")(body(_mad, three + " clamp:b1", "a*b + c; the high half becomes 0."))
    for operation, function in (("min", f.minimum_int), ("max", f.maximum_int)):
        define(f"v_{operation}_{type}", two, function, "Minimum or maximum.")
        define(
            f"v_{operation}3_{type}",
            three,
            lambda a, b, c, function=function: function(function(a, b), c),
            "Minimum or maximum of three.",
            keeps="half",
        )
    define(f"v_med3_{type}", three, f.median_int, "Median of three.", keeps="half")
vector(gfx9="v_subrev_u16")(
    body(lambda a, b, clamp: f.saturating_sub(b, a, clamp), "a:u16 b:u16 clamp:b1", "Difference, operands exchanged.")
)
define("v_mul_lo_u16", "a:u16 b:u16", lambda a, b: a * b, "Low 16 bits of the product.")
define("v_lshlrev_b16", "a:u16 b:u16", lambda a, b: f.shift_left(b, a), "b << a.")
define("v_lshrrev_b16", "a:u16 b:u16", lambda a, b: f.shift_right(b, a), "b >> a, logical.")
define("v_ashrrev_i16", "a:u16 b:i16", lambda a, b: f.shift_right(b, a), "b >> a, arithmetic.")
vector(gfx11="v_and_b16")(body(lambda a, b: a & b, "a:u16 b:u16", "And."))
vector(gfx11="v_or_b16")(body(lambda a, b: a | b, "a:u16 b:u16", "Or."))
vector(gfx11="v_xor_b16")(body(lambda a, b: a ^ b, "a:u16 b:u16", "Exclusive or."))
vector(gfx11="v_not_b16")(body(lambda a: ~a, "a:u16", "Not."))
define(
    "v_pack_b32_f16",
    "a:f16 b:f16",
    f.join,
    "Two f16 in one register; the first becomes the low half.",
    float_mode=False,
)


@vector("v_sat_pk_u8_i16", float_mode=False)
def _(a: u32) -> u16:
    """Two i16 limited to 0..255, as two bytes."""
    lo, hi = (f.clamped(half.bits(i16), 0, 255).bits(u16) for half in (f.low(a), f.high(a)))
    return lo | (hi << 8)


# ------------------------------------------------------------------------------------------------- cube maps


def _cube(a: Value, b: Value, c: Value) -> tuple[Value, Value]:
    """Which axis of a direction (x, y, z) is the major one: z, else y, else x."""
    x, y, z = f.fabs(a), f.fabs(b), f.fabs(c)
    return (z >= x) & (z >= y), y >= x


@vector("v_cubeid_f32")
def _(a: f32, b: f32, c: f32) -> f32:
    """Face of a cube map, 0-5: +x -x +y -y +z -z."""
    z_major, y_major = _cube(a, b, c)
    face = [select(v < 0.0, const(2.0 * i + 1, f32), 2.0 * i) for i, v in enumerate((a, b, c))]
    return select(z_major, face[2], select(y_major, face[1], face[0]))


@vector("v_cubesc_f32")
def _(a: f32, b: f32, c: f32) -> f32:
    """S coordinate on the face."""
    z_major, y_major = _cube(a, b, c)
    return select(z_major, select(c < 0.0, -a, a), select(y_major, a, select(a < 0.0, c, -c)))


@vector("v_cubetc_f32")
def _(a: f32, b: f32, c: f32) -> f32:
    """T coordinate on the face."""
    z_major, y_major = _cube(a, b, c)
    return select(z_major, -b, select(y_major, select(b < 0.0, -c, c), -b))


@vector("v_cubema_f32")
def _(a: f32, b: f32, c: f32) -> f32:
    """Twice the major axis."""
    z_major, y_major = _cube(a, b, c)
    return select(z_major, c, select(y_major, b, a)) * 2.0
