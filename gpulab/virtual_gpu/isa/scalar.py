"""Scalar ALU rows: SOP1, SOP2, SOPC, SOPK.

`sop("name")` rows return the destination; those with SCC return (destination, scc). SCC is the signed overflow
for s_add_i32 and s_sub_i32, the carry or borrow for the u32 forms, and "the result is not zero" for bit operations.
Sources: CDNA3 ISA manual 12.1-12.4, RDNA3 ISA manual 16.1-16.4.
"""

# mypy: disable-error-code="valid-type, operator, attr-defined, arg-type, misc, no-untyped-def, index"

from __future__ import annotations

from typing import Any

from gpulab.virtual_gpu.isa import functions as f
from gpulab.virtual_gpu.isa.expression import (
    TYPES,
    Value,
    b1,
    bitreverse,
    clz,
    const,
    ctz,
    i8,
    i16,
    i32,
    popcount,
    select,
    u32,
    u64,
)
from gpulab.virtual_gpu.isa.family import Family, body, definer

SCALAR = Family("CDNA3 ISA manual 12.1-12.4 (SOP2, SOPK, SOP1, SOPC); RDNA3 ISA manual 16.1-16.4")
sop = SCALAR.rows("salu", float_mode=False)
sop_scc = SCALAR.rows("salu", writes="dst scc", float_mode=False)
compare = SCALAR.rows("salu", writes="scc", float_mode=False)
define = definer(sop)
define_scc = definer(sop_scc)

WIDTHS = (("b32", "u32"), ("b64", "u64"))


def _with_flag(result: Value) -> tuple[Value, Value]:
    return result, f.flag(result)


# ------------------------------------------------------------------------------------ moves and selection

for suffix, type in WIDTHS:
    define(f"s_mov_{suffix}", f"a:{type}", lambda a: a, "Move.", logic="mov")
    define(f"s_cmov_{suffix}", f"a:{type} dst:{type} scc:b1", lambda a, dst, scc: select(scc, a, dst), "Move if SCC.")
    define(
        f"s_cselect_{suffix}",
        f"a:{type} b:{type} scc:b1",
        lambda a, b, scc: select(scc, a, b),
        "First if SCC, else second.",
    )
define("s_movk_i32", "k:i16", lambda k: k.to(i32), "Move a sign-extended 16-bit constant.")
define("s_cmovk_i32", "k:i16 dst:i32 scc:b1", lambda k, dst, scc: select(scc, k.to(i32), dst), "s_movk_i32 if SCC.")

# ------------------------------------------------------------------------------------------------ integers


@sop_scc("s_add_u32")
def _(a: u32, b: u32) -> Any:
    """Sum; SCC is the carry."""
    return f.add_overflow(a, b)


@sop_scc("s_addc_u32")
def _(a: u32, b: u32, scc: b1) -> Any:
    """Sum with SCC as carry in; SCC is the carry out."""
    return f.add_overflow(a, b, scc)


@sop_scc("s_sub_u32")
def _(a: u32, b: u32) -> Any:
    """Difference; SCC is the borrow."""
    return f.sub_borrow(a, b)


@sop_scc("s_subb_u32")
def _(a: u32, b: u32, scc: b1) -> Any:
    """Difference with SCC as borrow in; SCC is the borrow out."""
    return f.sub_borrow(a, b, scc)


def _add_signed(a: Value, b: Value) -> tuple[Value, Value]:
    total = a + b
    return total, ((a ^ total) & (b ^ total)) < 0


@sop_scc("s_add_i32")
def _(a: i32, b: i32) -> Any:
    """Sum; SCC is the signed overflow."""
    return _add_signed(a, b)


@sop_scc("s_sub_i32")
def _(a: i32, b: i32) -> Any:
    """Difference; SCC is the signed overflow."""
    difference = a - b
    return difference, ((a ^ b) & (a ^ difference)) < 0


@sop_scc("s_addk_i32")
def _(k: i16, dst: i32) -> Any:
    """Add a sign-extended 16-bit constant; SCC is the signed overflow."""
    return _add_signed(dst, k.to(i32))


define("s_mulk_i32", "k:i16 dst:i32", lambda k, dst: dst * k.to(i32), "Multiply by a sign-extended constant.")
define("s_mul_i32", "a:u32 b:u32", lambda a, b: a * b, "Low 32 bits of the product.", rate="quarter")
define("s_mul_hi_u32", "a:u32 b:u32", f.multiply_high, "High 32 bits of the unsigned product.")
define("s_mul_hi_i32", "a:i32 b:i32", f.multiply_high, "High 32 bits of the signed product.")
for shift in (1, 2, 3, 4):

    @sop_scc(f"s_lshl{shift}_add_u32")
    def _(a: u32, b: u32, shift=shift) -> Any:
        """(a << 1..4) + b; SCC if the exact sum does not fit 32 bits."""
        exact = (a.to(u64) << shift) + b.to(u64)
        return exact.to(u32), exact > 0xFFFFFFFF


for type, less, more in (("i32", "s_min_i32", "s_max_i32"), ("u32", "s_min_u32", "s_max_u32")):
    define_scc(less, f"a:{type} b:{type}", lambda a, b: (f.minimum_int(a, b), a < b), "Minimum; SCC if the first.")
    define_scc(
        more,
        f"a:{type} b:{type}",
        lambda a, b: (f.maximum_int(a, b), a >= b),
        "Maximum; SCC if the first is not below.",
    )


@sop_scc("s_abs_i32")
def _(a: i32) -> Any:
    """Absolute value; -2**31 stays."""
    return _with_flag(select(a < 0, -a, a))


@sop_scc("s_absdiff_i32")
def _(a: i32, b: i32) -> Any:
    """|a - b|, wrapping."""
    difference = a - b
    return _with_flag(select(difference < 0, -difference, difference))


define("s_sext_i32_i8", "a:u32", lambda a: a.to(i8).to(i32), "Sign-extend 8 bits.")
define("s_sext_i32_i16", "a:u32", lambda a: a.to(i16).to(i32), "Sign-extend 16 bits.")

# ---------------------------------------------------------------------------------------- bit operations

for suffix, type in WIDTHS:
    two = f"a:{type} b:{type}"
    define_scc(f"s_and_{suffix}", two, lambda a, b: _with_flag(a & b), "And; SCC if not zero.", logic="and")
    define_scc(f"s_or_{suffix}", two, lambda a, b: _with_flag(a | b), "Or; SCC if not zero.", logic="or")
    define_scc(f"s_xor_{suffix}", two, lambda a, b: _with_flag(a ^ b), "Exclusive or; SCC if not zero.", logic="xor")
    define_scc(f"s_nand_{suffix}", two, lambda a, b: _with_flag(~(a & b)), "Not and; SCC if not zero.", logic="nand")
    define_scc(f"s_nor_{suffix}", two, lambda a, b: _with_flag(~(a | b)), "Not or; SCC if not zero.", logic="nor")
    define_scc(
        f"s_xnor_{suffix}", two, lambda a, b: _with_flag(~(a ^ b)), "Not exclusive or; SCC if not zero.", logic="xnor"
    )
    define_scc(f"s_not_{suffix}", f"a:{type}", lambda a: _with_flag(~a), "Not; SCC if not zero.")
    for gfx9, gfx11, operation in (
        ("andn2", "and_not1", lambda a, b: a & ~b),
        ("orn2", "or_not1", lambda a, b: a | ~b),
    ):
        sop_scc(gfx9=f"s_{gfx9}_{suffix}", gfx11=f"s_{gfx11}_{suffix}", logic=gfx11)(
            body(lambda a, b, operation=operation: _with_flag(operation(a, b)), two, "With the second inverted.")
        )
    wide = TYPES[type]
    define_scc(
        f"s_lshl_{suffix}",
        f"a:{type} b:u32",
        lambda a, b: _with_flag(f.shift_left(a, b)),
        "Shift left; SCC if not zero.",
    )
    define_scc(
        f"s_lshr_{suffix}", f"a:{type} b:u32", lambda a, b: _with_flag(f.shift_right(a, b)), "Logical shift right."
    )
    define_scc(
        f"s_ashr_i{wide.width}",
        f"a:i{wide.width} b:u32",
        lambda a, b: _with_flag(f.shift_right(a, b)),
        "Arithmetic shift right.",
    )
    define(
        f"s_bfm_{suffix}",
        "a:u32 b:u32",
        lambda a, b, wide=wide: f.ones(a & (wide.width - 1), wide) << f.amount(b, wide),
        "A mask of a bits from bit b up.",
    )
    define(f"s_brev_{suffix}", f"a:{type}", bitreverse, "Bits in reverse order.")
    define_scc(
        f"s_bcnt1_i32_{suffix}", f"a:{type}", lambda a: _with_flag(popcount(a).to(u32)), "Number of ones; SCC if any."
    )
    define_scc(
        f"s_bcnt0_i32_{suffix}", f"a:{type}", lambda a: _with_flag(popcount(~a).to(u32)), "Number of zeros; SCC if any."
    )
    for value, name in ((0, "bitset0"), (1, "bitset1")):

        def _set(a: Value, dst: Value, value: int = value) -> Value:
            bit = const(1, dst.type) << f.amount(a, dst.type)
            return dst | bit if value else dst & ~bit

        define(f"s_{name}_{suffix}", f"a:u32 dst:{type}", _set, "Set or clear the bit that the source numbers.")
        define(
            f"s_bitcmp{value}_{suffix}",
            f"a:{type} b:u32",
            lambda a, b, value=value: (f.shift_right(a, b) & 1) == value,
            "SCC tells whether bit b has this value.",
            writes="scc",
        )


def _first_one(a: Value) -> Value:
    return select(a == 0, -1, ctz(a).to(i32))


def _leading(a: Value) -> Value:
    return select(a == 0, -1, clz(a).to(i32))


def _sign_run(a: Value) -> Value:
    flipped = f.unsigned(a ^ (a >> (a.type.width - 1)))
    return select(flipped == 0, -1, clz(flipped).to(i32))


for suffix, type, signed_type in (("b32", "u32", "i32"), ("b64", "u64", "i64")):
    digits = suffix.replace("b", "")
    sop(gfx9=f"s_ff1_i32_{suffix}", gfx11=f"s_ctz_i32_{suffix}")(
        body(_first_one, f"a:{type}", "Lowest one bit; -1 for 0.")
    )
    sop(gfx9=f"s_flbit_i32_{suffix}", gfx11=f"s_clz_i32_u{digits}")(
        body(_leading, f"a:{type}", "Zeros before the highest one bit; -1 for 0.")
    )
    sop(
        gfx9="s_flbit_i32" + ("_i64" if digits == "64" else ""), gfx11="s_cls_i32" + ("_i64" if digits == "64" else "")
    )(body(_sign_run, f"a:{signed_type}", "Number of leading bits equal to the sign bit; -1 if all are."))
    sop(gfx9=f"s_ff0_i32_{suffix}")(body(lambda a: _first_one(~a), f"a:{type}", "Lowest zero bit; -1 if none."))


def _field(a: Value, control: Value) -> tuple[Value, Value]:
    """The value shifted down, and the width of the field: bits 5:0 (4:0) and 22:16 of the control word."""
    return f.shift_right(a, control), (control >> 16) & 0x7F


for type in ("u32", "u64"):
    signed_type = type.replace("u", "i")

    def _extract(a: Value, b: Value) -> tuple[Value, Value]:
        shifted, width = _field(a, b)
        return _with_flag(shifted & f.ones(width, a.type))

    def _extract_signed(a: Value, b: Value) -> tuple[Value, Value]:
        shifted, width = _field(a, b)
        return _with_flag(f.sign_extend(shifted, width, a.type))

    define_scc(f"s_bfe_{type}", f"a:{type} b:u32", _extract, "Bit field; offset in bits 5:0, width in bits 22:16.")
    define_scc(f"s_bfe_{signed_type}", f"a:{signed_type} b:u32", _extract_signed, "Signed bit field.")

for name, operation in (
    ("ll", lambda a, b: f.join(f.low(a), f.low(b))),
    ("lh", lambda a, b: f.join(f.low(a), f.high(b))),
    ("hl", lambda a, b: f.join(f.high(a), f.low(b))),
    ("hh", lambda a, b: f.join(f.high(a), f.high(b))),
):
    names = {"gfx11" if name == "hl" else "common": f"s_pack_{name}_b32_b16"}
    sop(**names)(body(operation, "a:u32 b:u32", "Pack two halves; the first becomes the low half."))


def _quads(a: Value) -> Value:
    """Bit 4i is set if any of the four bits from 4i up is."""
    pairs = a | (a >> 1)
    spread = pairs | (pairs >> 2)
    return spread & const(0x1111111111111111, a.type)


def _quadmask(a: Value) -> tuple[Value, Value]:
    quads = _quads(a)
    quads = (quads | (quads >> 3)) & const(0x0303030303030303, a.type)
    quads = (quads | (quads >> 6)) & const(0x000F000F000F000F, a.type)
    quads = (quads | (quads >> 12)) & const(0x000000FF000000FF, a.type)
    if a.type.width == 64:
        quads = (quads | (quads >> 24)) & 0xFFFF
    return _with_flag(quads)


@sop("s_bitreplicate_b64_b32")
def _(a: u32) -> Any:
    """Each bit twice."""
    x = a.to(u64)
    for shift, mask in (
        (16, 0x0000FFFF0000FFFF),
        (8, 0x00FF00FF00FF00FF),
        (4, 0x0F0F0F0F0F0F0F0F),
        (2, 0x3333333333333333),
        (1, 0x5555555555555555),
    ):
        x = (x | (x << shift)) & mask
    return x | (x << 1)


for suffix, type in WIDTHS:
    define_scc(
        f"s_wqm_{suffix}",
        f"a:{type}",
        lambda a: _with_flag(_quads(a) * 15),
        "Whole quads: all bits of each quad with a one.",
    )
    define_scc(f"s_quadmask_{suffix}", f"a:{type}", _quadmask, "One bit for each quad with a one.")

# ------------------------------------------------------------------------------------- EXEC save and change

_SAVEEXEC = (
    # gfx9 name, gfx11 name, new EXEC from source a and old EXEC
    ("and", "and", lambda a, exec: a & exec),
    ("or", "or", lambda a, exec: a | exec),
    ("xor", "xor", lambda a, exec: a ^ exec),
    ("nand", "nand", lambda a, exec: ~(a & exec)),
    ("nor", "nor", lambda a, exec: ~(a | exec)),
    ("xnor", "xnor", lambda a, exec: ~(a ^ exec)),
    ("andn1", "and_not0", lambda a, exec: ~a & exec),
    ("orn1", "or_not0", lambda a, exec: ~a | exec),
    ("andn2", "and_not1", lambda a, exec: a & ~exec),
    ("orn2", "or_not1", lambda a, exec: a | ~exec),
)
for suffix, type in WIDTHS:
    for gfx9, gfx11, operation in _SAVEEXEC:

        def _save(a: Value, exec: Value, operation: Any = operation) -> tuple[Value, Value, Value]:
            new = operation(a, exec)
            return exec, new, f.flag(new)

        # wave64 code of gfx9 has no *_b32 forms
        sop(
            gfx9=f"s_{gfx9}_saveexec_{suffix}" if suffix == "b64" else "",
            gfx11=f"s_{gfx11}_saveexec_{suffix}",
            writes="dst exec scc",
            logic=gfx11,
        )(body(_save, f"a:{type} exec:{type}", "The destination gets EXEC; EXEC its combination with the source."))
        if gfx9 in ("andn1", "andn2"):

            def _write(a: Value, exec: Value, operation: Any = operation) -> tuple[Value, Value, Value]:
                new = operation(a, exec)
                return new, new, f.flag(new)

            sop(
                gfx9=f"s_{gfx9}_wrexec_{suffix}" if suffix == "b64" else "",
                gfx11=f"s_{gfx11}_wrexec_{suffix}",
                writes="dst exec scc",
                logic=gfx11,
            )(body(_write, f"a:{type} exec:{type}", "EXEC and the destination get the combination."))

# ---------------------------------------------------------------------------------------------- comparisons

_COMPARE = (
    ("eq", lambda a, b: a == b),
    ("lg", lambda a, b: a != b),
    ("gt", lambda a, b: a > b),
    ("ge", lambda a, b: a >= b),
    ("lt", lambda a, b: a < b),
    ("le", lambda a, b: a <= b),
)


def _compare_rows() -> None:
    for name, operation in _COMPARE:
        for type in ("i32", "u32"):
            compare(f"s_cmp_{name}_{type}")(
                body(lambda a, b, o=operation: o(a, b), f"a:{type} b:{type}", "SCC = comparison.")
            )
            constant, full = ("i16", i32) if type == "i32" else ("u16", u32)
            compare(f"s_cmpk_{name}_{type}")(
                body(
                    lambda a, k, o=operation, full=full: o(a, k.to(full)),
                    f"a:{type} k:{constant}",
                    "SCC = comparison with a 16-bit constant.",
                )
            )
        if name in ("eq", "lg"):
            compare(f"s_cmp_{name}_u64")(body(lambda a, b, o=operation: o(a, b), "a:u64 b:u64", "SCC = comparison."))


_compare_rows()
