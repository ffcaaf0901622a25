"""Functions over expressions: what several rows need and the primitives do not have.

Bit fields and halves; saturation; AMD's rules for NaN in min, max and med3; the parts of a float (frexp, ldexp,
classes); conversions that round toward zero; transcendental functions (short polynomials, no tables). All of it is
made of the primitives of `expression.py`, so every reader computes the same bits.

Formulas: "AMD Instinct MI300 (CDNA3) ISA" and "RDNA3 ISA" manuals, chapter Instructions, unless said otherwise.
Polynomial coefficients are minimax fits made for this file; errors are stated at each function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpulab.virtual_gpu.isa.expression import (
    TYPES,
    Type,
    Value,
    b1,
    bf16,
    clz,
    const,
    f16,
    f32,
    f64,
    floor,
    fma,
    i32,
    i64,
    rint,
    select,
    sqrt,
    u16,
    u32,
    u64,
)


@dataclass(frozen=True, slots=True)
class Format:
    """A binary floating point format: bits of the fraction, exponent bias, and integers of its width."""

    fraction: int
    bias: int
    unsigned: Type
    signed: Type

    @property
    def sign(self) -> int:
        return 1 << (self.unsigned.width - 1)

    @property
    def infinity(self) -> int:
        return (2 * self.bias + 1) << self.fraction

    @property
    def quiet(self) -> int:
        return 1 << (self.fraction - 1)

    @property
    def default_nan(self) -> int:
        return self.infinity | self.quiet


FORMATS = {
    f16: Format(10, 15, u16, TYPES["i16"]),
    bf16: Format(7, 127, u16, TYPES["i16"]),
    f32: Format(23, 127, u32, i32),
    f64: Format(52, 1023, u64, i64),
}

# ------------------------------------------------------------------------------------------------ bits


def unsigned(x: Value) -> Value:
    """The bits of x as an unsigned integer."""
    return x.bits(TYPES[f"u{x.type.width}"])


def signed(x: Value) -> Value:
    """The bits of x as a signed integer."""
    return x.bits(TYPES[f"i{x.type.width}"])


def flag(x: Value) -> Value:
    """x != 0, what the scalar unit puts into SCC."""
    return x != 0


def low(x: Value) -> Value:
    """The low half as an unsigned integer of half the width."""
    return unsigned(x).to(TYPES[f"u{x.type.width // 2}"])


def high(x: Value) -> Value:
    """The high half as an unsigned integer of half the width."""
    half = x.type.width // 2
    return (unsigned(x) >> half).to(TYPES[f"u{half}"])


def join(lo: Value, hi: Value) -> Value:
    """hi:lo, an unsigned integer of twice the width."""
    lo, hi = unsigned(lo), unsigned(hi)
    wide = TYPES[f"u{2 * lo.type.width}"]
    return lo.to(wide) | (hi.to(wide) << lo.type.width)


def byte(x: Value, index: int) -> Value:
    """Byte `index` of a u32, as u32."""
    return (x >> (8 * index)) & 0xFF


def amount(x: Value, type: Type) -> Value:
    """A shift amount for `type`: the low 4, 5 or 6 bits of x, in that type."""
    return unsigned(x).to(TYPES[f"u{type.width}"]).bits(type) & (type.width - 1)


def shift_left(x: Value, by: Value) -> Value:
    return x << amount(by, x.type)


def shift_right(x: Value, by: Value) -> Value:
    """Arithmetic for signed, logical for unsigned x."""
    return x >> amount(by, x.type)


def sign_extend(x: Value, width: Value, type: Type) -> Value:
    """The low `width` bits of x as a signed number; 0 for width 0; x itself from the full width on."""
    full = type.width
    unused = select(width >= full, const(0, width.type), full - width) & (full - 1)
    unused = unused.to(type)
    extended = (x.bits(type) << unused) >> unused
    return select(width == 0, const(0, type), extended)


def ones(width: Value, type: Type) -> Value:
    """`width` one bits from bit 0 up; all of them from the full width on."""
    inside = width & (type.width - 1)
    return select(width >= type.width, const(-1, type), (const(1, type) << inside.to(type)) - 1)


def clamped(x: Value, lowest: int, highest: int) -> Value:
    """x limited to [lowest, highest], integers."""
    x = select(x < lowest, lowest, x)
    return select(x > highest, highest, x)


def limits(type: Type) -> tuple[int, int]:
    """Smallest and largest number of an integer type."""
    if type.kind == "u":
        return 0, (1 << type.width) - 1
    return -(1 << (type.width - 1)), (1 << (type.width - 1)) - 1


def narrow(x: Value, type: Type) -> Value:
    """Integer x converted with saturation; x's type must hold the limits of `type`."""
    lowest, highest = limits(type)
    if x.type.kind == "u":
        return select(x > highest, highest, x).to(type)
    return clamped(x, lowest, highest).to(type)


def add_overflow(a: Value, b: Value, carry: Value | None = None) -> tuple[Value, Value]:
    """Sum and unsigned carry out; `carry` is a b1 to add."""
    total = a + b
    out = total < a
    if carry is not None:
        with_carry = total + carry.to(a.type)
        out = out | (with_carry < total)
        total = with_carry
    return total, out


def sub_borrow(a: Value, b: Value, borrow: Value | None = None) -> tuple[Value, Value]:
    """Difference and unsigned borrow out; `borrow` is a b1 to take off."""
    difference, out = a - b, a < b
    if borrow is not None:
        with_borrow = difference - borrow.to(a.type)
        out = out | ((difference == 0) & borrow)
        difference = with_borrow
    return difference, out


def saturating_add(a: Value, b: Value, clamp: Value) -> Value:
    """a + b, wrapping, or limited to the type's range where `clamp`."""
    wide = TYPES[f"i{2 * a.type.width}"]
    if a.type.width == 64:
        total, out = add_overflow(a, b)
        return select(clamp & out, -1, total)
    return select(clamp, narrow(a.to(wide) + b.to(wide), a.type), a + b)


def saturating_sub(a: Value, b: Value, clamp: Value) -> Value:
    """a - b, wrapping, or limited to the type's range where `clamp`."""
    wide = TYPES[f"i{2 * a.type.width}"]
    return select(clamp, narrow(a.to(wide) - b.to(wide), a.type), a - b)


def multiply_high(a: Value, b: Value) -> Value:
    """The high 32 bits of a 32 x 32 product, signed or unsigned by a's type."""
    wide = u64 if a.type.kind == "u" else i64
    return ((a.to(wide) * b.to(wide)) >> 32).to(a.type)


def low24(x: Value) -> Value:
    """The low 24 bits of a 32-bit integer: sign-extended for i32, zero-extended for u32."""
    return (x << 8) >> 8


def minimum_int(a: Value, b: Value) -> Value:
    return select(a < b, a, b)


def maximum_int(a: Value, b: Value) -> Value:
    return select(a > b, a, b)


def median_int(a: Value, b: Value, c: Value) -> Value:
    return maximum_int(minimum_int(a, b), minimum_int(maximum_int(a, b), c))


def difference(a: Value, b: Value) -> Value:
    """|a - b| of unsigned numbers."""
    return select(a > b, a - b, b - a)


# ----------------------------------------------------------------------------------------------- floats


def is_nan(x: Value) -> Value:
    return x != x


def magnitude(x: Value) -> Value:
    """The bits of |x|, as an unsigned integer."""
    return unsigned(x) & (FORMATS[x.type].sign - 1)


def fabs(x: Value) -> Value:
    return magnitude(x).bits(x.type)


def copysign(x: Value, sign: Value) -> Value:
    """|x| with the sign of `sign`."""
    return (magnitude(x) | (unsigned(sign) & FORMATS[x.type].sign)).bits(x.type)


def is_signaling(x: Value) -> Value:
    """x is a signaling NaN."""
    form, bits = FORMATS[x.type], magnitude(x)
    return (bits > form.infinity) & (bits < form.default_nan)


def quiet(x: Value) -> Value:
    """x with the quiet bit set: for NaN operands only."""
    return (unsigned(x) | FORMATS[x.type].quiet).bits(x.type)


def nan(type: Type) -> Value:
    """The quiet NaN that AMD's manuals write as NAN: positive, empty payload."""
    return const(FORMATS[type].default_nan, FORMATS[type].unsigned).bits(type)


def infinity(type: Type) -> Value:
    return const(float("inf"), type)


IEEE = 1 << 9
"""The bit of MODE."""


def _choose(a: Value, b: Value, ordered: Value, mode: Value | None) -> Value:
    """The NaN rules of min and max: with MODE.IEEE set (as in every HIP kernel) a signaling NaN is quieted and
    returned; else a NaN gives the other operand, two of them the first. Without `mode`, as with MODE.IEEE set."""
    one_nan = select(is_nan(b), a, b)
    unordered = select(is_signaling(a), quiet(a), select(is_signaling(b), quiet(b), one_nan))
    if mode is not None:
        unordered = select((mode & IEEE) != 0, unordered, one_nan)
    return select(is_nan(a) | is_nan(b), unordered, ordered)


def lower(a: Value, b: Value) -> Value:
    """The lower of two numbers; -0 is below +0. Equal numbers have equal bits or are both zero: the or is -0."""
    return select(a < b, a, select(b < a, b, (unsigned(a) | unsigned(b)).bits(a.type)))


def higher(a: Value, b: Value) -> Value:
    """The higher of two numbers; +0 is above -0."""
    return select(a > b, a, select(b > a, b, (unsigned(a) & unsigned(b)).bits(a.type)))


def minimum(a: Value, b: Value, mode: Value | None = None) -> Value:
    """v_min_f*: -0 is below +0; see `_choose` for NaN."""
    return _choose(a, b, lower(a, b), mode)


def maximum(a: Value, b: Value, mode: Value | None = None) -> Value:
    """v_max_f*: +0 is above -0; see `_choose` for NaN."""
    return _choose(a, b, higher(a, b), mode)


def _number(a: Value, b: Value, ordered: Value) -> Value:
    """One NaN: the other operand. Two: the first one, quiet."""
    return select(is_nan(a), select(is_nan(b), quiet(a), b), select(is_nan(b), a, ordered))


def _either(a: Value, b: Value, ordered: Value) -> Value:
    """A NaN wins, quiet; a signaling one first."""
    first = is_signaling(a) | (is_nan(a) & ~is_signaling(b))
    unordered = quiet(select(first, a, b))
    return select(is_nan(a) | is_nan(b), unordered, ordered)


def minimum_number(a: Value, b: Value) -> Value:
    """minimumNumber of IEEE 754-2019: the number wins against any NaN."""
    return _number(a, b, lower(a, b))


def maximum_number(a: Value, b: Value) -> Value:
    """maximumNumber of IEEE 754-2019."""
    return _number(a, b, higher(a, b))


def minimum_2019(a: Value, b: Value) -> Value:
    """minimum of IEEE 754-2019: a NaN wins."""
    return _either(a, b, lower(a, b))


def maximum_2019(a: Value, b: Value) -> Value:
    """maximum of IEEE 754-2019."""
    return _either(a, b, higher(a, b))


def median(a: Value, b: Value, c: Value, mode: Value | None = None) -> Value:
    """v_med3_f*: with a NaN among them, the minimum of the three; else the one that is neither."""
    top = higher(higher(a, b), c)
    middle = select(top == a, higher(b, c), select(top == b, higher(a, c), higher(a, b)))
    return select(is_nan(a) | is_nan(b) | is_nan(c), minimum(minimum(a, b, mode), c, mode), middle)


def biased_exponent(x: Value) -> Value:
    """The exponent field, as an i32."""
    return (magnitude(x) >> FORMATS[x.type].fraction).to(i32)


def is_denormal(x: Value) -> Value:
    bits = magnitude(x)
    return (bits != 0) & (bits < (1 << FORMATS[x.type].fraction))


def is_finite(x: Value) -> Value:
    return magnitude(x) < FORMATS[x.type].infinity


def flushed(x: Value) -> Value:
    """x with denormals replaced by a zero of the same sign."""
    form = FORMATS[x.type]
    zero = (unsigned(x) & form.sign).bits(x.type)
    return select(magnitude(x) < (1 << form.fraction), zero, x)


def fraction_of(x: Value) -> Value:
    """x - floor(x), kept below 1 (the subtraction of a tiny negative number would round up to 1)."""
    below_one = (unsigned(const(1.0, x.type)) - 1).bits(x.type)
    part = x - floor(x)
    return select(part >= 1.0, below_one, part)


def _shift_up(x: Value) -> Value:
    """By how many places a denormal's first fraction bit is below the implicit bit (0 for normals); i32."""
    form = FORMATS[x.type]
    leading = clz(magnitude(x)).to(i32)
    return select(biased_exponent(x) == 0, leading - (x.type.width - 1 - form.fraction), 0)


def frexp_exponent(x: Value, result: Type = i32) -> Value:
    """e of x = m * 2**e with 0.5 <= |m| < 1; 0 for 0, infinity and NaN."""
    form = FORMATS[x.type]
    field = biased_exponent(x)
    exponent = select(field == 0, 1 - _shift_up(x), field) - (form.bias - 1)
    return select(is_finite(x) & (magnitude(x) != 0), exponent, 0).to(result)


def frexp_mantissa(x: Value) -> Value:
    """m of x = m * 2**e with 0.5 <= |m| < 1; x itself for 0, infinity; a quiet NaN for NaN."""
    form = FORMATS[x.type]
    up = _shift_up(x).to(form.unsigned) & (x.type.width - 1)
    fraction = (magnitude(x) << up) & ((1 << form.fraction) - 1)
    bits = (unsigned(x) & form.sign) | fraction | ((form.bias - 1) << form.fraction)
    result = select(is_finite(x) & (magnitude(x) != 0), bits.bits(x.type), x)
    return select(is_nan(x), quiet(x), result)


def power_of_two(exponent: Value, type: Type) -> Value:
    """2**exponent for an i32 exponent in the normal range of `type`."""
    form = FORMATS[type]
    return ((exponent + form.bias).to(form.unsigned) << form.fraction).bits(type)


def ldexp(x: Value, exponent: Value) -> Value:
    """x * 2**exponent with a single rounding (`exponent` is i32). f16 goes through f32.

    The exponent is taken in three steps; steps down leave room for the whole fraction, so that only the last
    product can round.
    """
    if x.type == f16:
        return ldexp(x.to(f32), clamped(exponent, -100, 100)).to(f16)
    form = FORMATS[x.type]
    up, down = form.bias, form.bias - 1 - (form.fraction + 1)
    n = clamped(exponent, -4 * form.bias, 4 * form.bias)
    for _ in range(2):
        above, below = n > up, n < 1 - form.bias
        step = select(above, 2.0**up, select(below, const(2.0**-down, x.type), 1.0))
        x = x * step
        n = n - select(above, up, select(below, const(-down, i32), 0))
    n = clamped(n, 1 - form.bias, up)
    return x * power_of_two(n, x.type)


CLASSES = ("sNaN", "qNaN", "-inf", "-normal", "-denormal", "-0", "+0", "+denormal", "+normal", "+inf")


def class_test(x: Value, mask: Value) -> Value:
    """v_cmp_class: bit i of `mask` asks for CLASSES[i]."""
    form = FORMATS[x.type]
    bits = magnitude(x)
    away = select(
        bits == 0,
        const(0, u32),
        select(bits < (1 << form.fraction), const(1, u32), select(bits < form.infinity, const(2, u32), const(3, u32))),
    )
    negative = (unsigned(x) & form.sign) != 0
    number = select(negative, 5 - away, 6 + away)
    index = select(bits > form.infinity, select(is_signaling(x), const(0, u32), const(1, u32)), number)
    return ((mask.to(u32) >> index) & 1) != 0


def toward_zero(x: Value, type: Type) -> Value:
    """x (f32 or f64) converted to a narrower float, rounded toward zero; too large numbers give the largest."""
    near = x.to(type)
    too_big = fabs(near).to(x.type) > fabs(x)
    return select(too_big, (unsigned(near) - 1).bits(type), near)


def normalized(x: Value, type: Type) -> Value:
    """snorm/unorm: [-1, 1] or [0, 1] scaled to the integer type's range and rounded to nearest even; NaN gives 0."""
    lowest = -1.0 if type.kind == "i" else 0.0
    wide = x.to(f32)
    limited = select(wide < lowest, lowest, select(wide > 1.0, 1.0, wide))
    return rint(limited * float(limits(type)[1])).to(type)


# ---------------------------------------------------------------------------------- transcendental functions


def polynomial(x: Value, coefficients: Sequence[float]) -> Value:
    """Horner's rule with fma; coefficients from the constant up."""
    result = const(coefficients[-1], x.type)
    for coefficient in reversed(coefficients[:-1]):
        result = fma(result, x, coefficient)
    return result


_EXP2 = (
    0.6931471824645996,
    0.24022650718688965,
    0.05550410971045494,
    0.00961803738027811,
    0.0013333430979400873,
    0.00015467092453036457,
    1.5314932170440443e-05,
)
_LOG2 = (
    1.4426950216293335,
    -0.7213473320007324,
    0.4808982312679291,
    -0.3606966435909271,
    0.2885673940181732,
    -0.23961739242076874,
    0.20460060238838196,
    -0.1910628229379654,
    0.18617507815361023,
    -0.10994952917098999,
)
_SIN = (
    6.2831854820251465,
    -41.34170150756836,
    81.605224609375,
    -76.70417022705078,
    42.00779724121094,
    -14.381390571594238,
)


def exp2(x: Value) -> Value:
    """2**x, f32, results below 2**-126 flushed to 0. 2**rint(x) * (1 + f p(f)), |f| <= 1/2; 1 ulp."""
    whole = rint(x)
    part = x - whole
    scale = polynomial(part, _EXP2)
    near_one = fma(scale, part, 1.0)
    raised = (near_one.bits(i32) + (whole.to(i32) << 23)).bits(f32)
    result = select(x < -126.0, 0.0, select(x >= 128.0, infinity(f32), raised))
    return select(is_nan(x), quiet(x), result)


def log2(x: Value) -> Value:
    """log2(x), f32, denormals taken as 0. Exponent + log2(m), sqrt(1/2) <= m < sqrt(2); 2 ulp, also near 1."""
    bits = x.bits(i32)
    offset = bits - 0x3F3504F3  # sqrt(1/2): splits the exponent so that m is around 1
    exponent = offset >> 23
    m = (bits - (exponent << 23)).bits(f32)
    part = m - 1.0
    result = fma(part, polynomial(part, _LOG2), exponent.to(f32))
    result = select(magnitude(x) < 0x00800000, const(float("-inf"), f32), result)
    result = select((x < 0.0) & (magnitude(x) >= 0x00800000), nan(f32), result)
    result = select(x == infinity(f32), x, result)
    return select(is_nan(x), quiet(x), result)


def _turns(part: Value) -> Value:
    """sin(2 pi part) for |part| <= 1/4."""
    return part * polynomial(part * part, _SIN)


def sin_turns(x: Value) -> Value:
    """sin(2 pi x), f32; 0 with x's sign outside [-256, 256]; NaN for infinity. Absolute error below 2**-22."""
    part = x - rint(x)
    folded = select(fabs(part) > 0.25, copysign(const(0.5, f32), part) - part, part)
    inside = _turns(folded)
    result = select(fabs(x) > 256.0, copysign(const(0.0, f32), x), inside)
    result = select(x == 0.0, x, result)
    return select(is_finite(x), result, select(is_nan(x), quiet(x), nan_negative(f32)))


def cos_turns(x: Value) -> Value:
    """cos(2 pi x), f32; 1 outside [-256, 256]; NaN for infinity. Absolute error below 2**-22."""
    part = fabs(x - rint(x))
    result = select(fabs(x) > 256.0, 1.0, _turns(0.25 - part))
    return select(is_finite(x), result, select(is_nan(x), quiet(x), nan_negative(f32)))


def nan_negative(type: Type) -> Value:
    """The NaN of an invalid sine or cosine (manual: 0xffc00000)."""
    form = FORMATS[type]
    return const(form.default_nan | form.sign, form.unsigned).bits(type)


def reciprocal(x: Value) -> Value:
    """1/x, correctly rounded; f32 with denormals in and out as zeros, as v_rcp_f32 has them."""
    if x.type == f32:
        return flushed(1.0 / flushed(x))
    return 1.0 / x


def reciprocal_sqrt(x: Value) -> Value:
    """1/sqrt(x) in two roundings; f32 denormals in as zeros."""
    if x.type == f32:
        return 1.0 / sqrt(flushed(x))
    return 1.0 / sqrt(x)


def through_f32(function: object, x: Value) -> Value:
    """An f16 function computed in f32."""
    return function(x.to(f32)).to(f16)  # type: ignore[operator]


def any_of(*conditions: Value) -> Value:
    """Or of b1 values."""
    result = conditions[0]
    for condition in conditions[1:]:
        result = result | condition
    return result


def false() -> Value:
    return const(0, b1)


def true() -> Value:
    return const(1, b1)
