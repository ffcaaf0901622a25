"""Packed rows (VOP3P): two 16-bit or two 32-bit operations in one instruction, dot products, v_fma_mix.

The readers prepare the sources by op_sel, op_sel_hi, neg_lo and neg_hi (row.py, "Packed rows"), so bodies see plain
pairs. Sources: CDNA3 ISA manual 12.11, RDNA3 ISA manual 16.6.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

from gpulab.virtual_gpu.isa import functions as f
from gpulab.virtual_gpu.isa.expression import TYPES, Type, Value, bf16, const, f16, f32, fma, i32, i64, select, u32
from gpulab.virtual_gpu.isa.family import Family, body
from gpulab.virtual_gpu.isa.row import Beyond

PACKED = Family("CDNA3 ISA manual chapter 12 (VOP3P); RDNA3 ISA manual chapter 16")
_rows = PACKED.rows("valu", packed="pairs")


def lanewise(function: Callable[..., Value], element: Type, count: int, clamp: bool) -> Callable[..., Value]:
    """`function` on both halves of `count` sources; with `clamp` as its last argument if it wants it."""

    def both(*sources: Value) -> Value:
        extra = sources[count:] if clamp else ()
        lo = function(*(f.low(s).bits(element) for s in sources[:count]), *extra)
        hi = function(*(f.high(s).bits(element) for s in sources[:count]), *extra)
        return f.join(lo, hi)

    return both


def _pairs(
    names: str,
    halves: str,
    count: int,
    function: Callable[..., Value],
    meaning: str,
    clamp: bool = False,
    gfx9: str = "",
    **beyond: Unpack[Beyond],
) -> None:
    width = "u64" if halves == "f32" else "u32"
    parameters = " ".join(f"{name}:{width}" for name in "abc"[:count]) + (" clamp:b1" if clamp else "")
    type = TYPES[halves]
    _rows(names, element=halves, gfx9=gfx9, float_mode=type.is_float, **beyond)(
        body(lanewise(function, type, count, clamp), parameters, meaning)
    )


for _name, _count, _function, _meaning in (
    ("add", 2, lambda a, b: a + b, "Two sums."),
    ("mul", 2, lambda a, b: a * b, "Two products."),
    ("fma", 3, fma, "Two fused multiply-adds."),
):
    _pairs(
        f"v_pk_{_name}_f16", "f16", _count, _function, _meaning,
        rounds=True, counted=f"{_name}_f16",
    )  # fmt: skip
    _pairs(
        "", "f32", _count, _function, _meaning, gfx9=f"v_pk_{_name}_f32",
        rounds=True, counted=f"{_name}_f32",
    )  # fmt: skip
_pairs("v_pk_min_f16", "f16", 2, f.minimum, "Two minima.")
_pairs("v_pk_max_f16", "f16", 2, f.maximum, "Two maxima.")
_rows("v_pk_fmac_f16", element="f16", float_mode=True, rounds=True, counted="fma_f16")(
    body(
        lambda a, b, dst: lanewise(fma, f16, 3, False)(a, b, dst),
        "a:u32 b:u32 dst:u32",
        "Two fused multiply-adds into the destination.",
    )
)
_rows(gfx9="v_pk_mov_b32", float_mode=False)(
    body(lambda a, b: f.join(f.low(a), f.low(b)), "a:u64 b:u64", "A half of a and a half of b, chosen by op_sel.")
)
for _type in ("u16", "i16"):
    _pairs(f"v_pk_add_{_type}", _type, 2, f.saturating_add, "Two sums.", clamp=True)
    _pairs(f"v_pk_sub_{_type}", _type, 2, f.saturating_sub, "Two differences.", clamp=True)
    _pairs(f"v_pk_min_{_type}", _type, 2, f.minimum_int, "Two minima.")
    _pairs(f"v_pk_max_{_type}", _type, 2, f.maximum_int, "Two maxima.")

    def _mad(a: Value, b: Value, c: Value, clamp: Value) -> Value:
        exact = a.to(i64) * b.to(i64) + c.to(i64)
        return select(clamp, f.narrow(exact, a.type), a * b + c)

    _pairs(f"v_pk_mad_{_type}", _type, 3, _mad, "Two products plus c.", clamp=True)
_pairs("v_pk_mul_lo_u16", "u16", 2, lambda a, b: a * b, "Low 16 bits of two products.")
_pairs("v_pk_lshlrev_b16", "u16", 2, lambda a, b: f.shift_left(b, a), "Two shifts left.")
_pairs("v_pk_lshrrev_b16", "u16", 2, lambda a, b: f.shift_right(b, a), "Two logical shifts right.")
_pairs("v_pk_ashrrev_i16", "i16", 2, lambda a, b: f.shift_right(b, a), "Two arithmetic shifts right.")

# ------------------------------------------------------------------------------------------------ dot products


def _fields(x: Value, bits: int, signed: bool) -> list[Value]:
    """The fields of a u32 as i32, from the lowest up."""
    result = []
    for i in range(32 // bits):
        field = (x << (32 - bits * (i + 1))).bits(i32 if signed else u32) >> (32 - bits)
        result.append(field.bits(i32))
    return result


def _integer_dot(bits: int, signed: bool) -> Callable[..., Value]:
    def dot(a: Value, b: Value, c: Value, clamp: Value) -> Value:
        total = const(0, i64)
        for x, y in zip(_fields(a, bits, signed), _fields(b, bits, signed), strict=True):
            # 16-bit products reach 2**32: unsigned ones need 64 bits
            total = total + (x.to(i64) * y.to(i64) if bits == 16 else (x * y).to(i64))
        exact = total + c.to(i64)
        return select(clamp, f.narrow(exact, c.type), exact.to(c.type))

    return dot


def _mixed_dot(bits: int) -> Callable[..., Value]:
    """v_dot*_i32_iu*: neg_lo of a source says that it is signed."""

    def dot(a: Value, b: Value, c: Value, neg: Value, clamp: Value) -> Value:
        total = const(0, i64)
        first = zip(_fields(a, bits, False), _fields(a, bits, True), strict=True)
        second = zip(_fields(b, bits, False), _fields(b, bits, True), strict=True)
        for (x, sx), (y, sy) in zip(first, second, strict=True):
            total = total + (select((neg & 1) != 0, sx, x) * select((neg & 2) != 0, sy, y)).to(i64)
        exact = total + c.to(i64)
        return select(clamp, f.narrow(exact, i32), exact.to(i32))

    return dot


def as_body(function: Callable[..., Any], count: int) -> Callable[..., Any]:
    """A fresh function object per row, as `body` writes annotations onto it."""
    return lambda *arguments: function(*arguments[:count])


for _bits, _signed, _name, _both_generations in (
    (16, True, "v_dot2_i32_i16", False),
    (16, False, "v_dot2_u32_u16", False),
    (8, True, "v_dot4_i32_i8", False),
    (8, False, "v_dot4_u32_u8", True),
    (4, True, "v_dot8_i32_i4", False),
    (4, False, "v_dot8_u32_u4", True),
):
    _c = "i32" if _signed else "u32"
    _rows(_name if _both_generations else "", gfx9="" if _both_generations else _name, float_mode=False)(
        body(as_body(_integer_dot(_bits, _signed), 4), f"a:u32 b:u32 c:{_c} clamp:b1", "Dot product of fields plus c.")
    )
for _bits, _name, _accumulate in (
    (16, "v_dot2c_i32_i16", True),
    (8, "v_dot4c_i32_i8", True),
    (4, "v_dot8c_i32_i4", True),
):
    _rows(gfx9=_name, float_mode=False)(
        body(as_body(_integer_dot(_bits, True), 4), "a:u32 b:u32 dst:i32 clamp:b1", "dst += dot product of fields.")
    )
for _bits, _name in ((8, "v_dot4_i32_iu8"), (4, "v_dot8_i32_iu4")):
    _rows(gfx11=_name, float_mode=False)(
        body(as_body(_mixed_dot(_bits), 5), "a:u32 b:u32 c:i32 neg:u32 clamp:b1", "Dot product, signs by neg_lo.")
    )


def float_dot(element: Type) -> Callable[..., Value]:
    """a.lo*b.lo + (a.hi*b.hi + c), each step one f32 fma."""

    def dot(a: Value, b: Value, c: Value) -> Value:
        lo = (f.low(a).bits(element).to(f32), f.low(b).bits(element).to(f32))
        hi = (f.high(a).bits(element).to(f32), f.high(b).bits(element).to(f32))
        return fma(hi[0], hi[1], fma(lo[0], lo[1], c))

    return dot


def _narrow_dot(element: Type) -> Callable[..., Value]:
    """The same, rounded to the 16-bit type at the end."""

    def dot(a: Value, b: Value, c: Value) -> Value:
        return float_dot(element)(a, b, c.to(f32)).to(element)

    return dot


_rows("v_dot2_f32_f16", element="f16", float_mode=True, products=2)(
    body(as_body(float_dot(f16), 3), "a:u32 b:u32 c:f32", "Dot product of two f16 pairs plus an f32.")
)
_rows(gfx9="v_dot2c_f32_f16", gfx11="v_dot2acc_f32_f16 v_dot2c_f32_f16", element="f16", float_mode=True, products=2)(
    body(as_body(float_dot(f16), 3), "a:u32 b:u32 dst:f32", "dst += dot product of two f16 pairs.")
)
_rows(gfx11="v_dot2_f32_bf16", element="bf16", float_mode=True, products=2)(
    body(as_body(float_dot(bf16), 3), "a:u32 b:u32 c:f32", "Dot product of two bf16 pairs plus an f32.")
)
_rows(gfx11="v_dot2acc_f32_bf16", element="bf16", float_mode=True, products=2)(
    body(as_body(float_dot(bf16), 3), "a:u32 b:u32 dst:f32", "dst += dot product of two bf16 pairs.")
)
_rows(gfx11="v_dot2_f16_f16", element="f16", float_mode=True, products=2)(
    body(as_body(_narrow_dot(f16), 3), "a:u32 b:u32 c:f16", "Dot product of two f16 pairs plus an f16.")
)
_rows(gfx11="v_dot2_bf16_bf16", element="bf16", float_mode=True, products=2)(
    body(as_body(_narrow_dot(bf16), 3), "a:u32 b:u32 c:bf16", "Dot product of two bf16 pairs plus a bf16.")
)

# --------------------------------------------------------------------------------------------------------- mix

_mix = PACKED.rows("valu", packed="mix", float_mode=True, rounds=True)
_mix("v_fma_mix_f32")(body(lambda a, b, c: fma(a, b, c), "a:f32 b:f32 c:f32", "fma of f32 or f16 sources."))
_mix("v_fma_mixlo_f16", keeps="half")(
    body(
        lambda a, b, c: fma(a, b, c).to(f16),
        "a:f32 b:f32 c:f32",
        "The same, as f16 in the low half; the other half stays.",
    )
)
_mix("v_fma_mixhi_f16", keeps="half", into_high=True)(
    body(
        lambda a, b, c: fma(a, b, c).to(f16),
        "a:f32 b:f32 c:f32",
        "The same, as f16 in the high half; the other half stays.",
    )
)
