"""What gfx950 (CDNA 4) adds to gfx942: `ROWS`.

FP8 in the formats of the Open Compute Project and conversions with a scale, bf16 conversions, any function of three
bits, minima and maxima of three where a NaN wins, exchanges between rows of lanes, loads of three and four dwords into
LDS, and matrix instructions with twice the depth. Source: AMD Instinct CDNA4 ISA manual, 7.3 and chapter 12.

Without rows: 6-bit floats (their operands are six or more registers), matrices of 8-, 6- and 4-bit floats with scales
(v_mfma_*_f8f6f4) and the LDS reads that transpose: where their elements lie is not published without contradictions.
"""

# mypy: disable-error-code="valid-type, operator, attr-defined, arg-type, misc, no-untyped-def, index"

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gpulab.virtual_gpu.isa import functions as f
from gpulab.virtual_gpu.isa.expression import TYPES, Value, bf16, const, f16, f32, i8, rint, select, trunc, u8, u16, u32
from gpulab.virtual_gpu.isa.family import Family, body, definer
from gpulab.virtual_gpu.isa.fp8 import OCP, OCP_ELEMENTS, Format, conversions
from gpulab.virtual_gpu.isa.matrix import mfma, smfmac
from gpulab.virtual_gpu.isa.packed import as_body, float_dot, lanewise
from gpulab.virtual_gpu.isa.row import CrossLane, Memory

ROWS = Family("CDNA4 ISA manual 7.3 and chapter 12")
vector = ROWS.rows("valu")
define = definer(vector)
packed = ROWS.rows("valu", packed="pairs", float_mode=True)

# ------------------------------------------------------------------------------------------------- bits and integers


def _any_function(a: Value, b: Value, c: Value, bitop3: Value) -> Value:
    """Each bit is the table's bit number 4a + 2b + c."""
    table, result = bitop3.to(a.type), const(0, a.type)
    for i in range(8):
        chosen = (a if i & 4 else ~a) & (b if i & 2 else ~b) & (c if i & 1 else ~c)
        result = result | (chosen & -((table >> i) & 1))
    return result


for _type, _suffix in (("u32", "b32"), ("u16", "b16")):
    define(
        f"v_bitop3_{_suffix}",
        f"a:{_type} b:{_type} c:{_type} bitop3:u32",
        lambda a, b, c, bitop3: _any_function(a, b, c, bitop3),
        "Any function of three bits, by a table of eight.",
        keeps="half" if _type == "u16" else "",
    )
define(
    "v_prng_b32",
    "a:u32",
    lambda a: (a << 1) ^ select((a >> 31) != 0, const(197, u32), const(0, u32)),
    "The next number of a 32-bit shift register with feedback.",
)
for _name, _byte in (("i8", i8), ("u8", u8)):
    define(
        f"v_ashr_pk_{_name}_i32",
        "a:i32 b:i32 c:u32",
        lambda a, b, c, byte=_byte: (
            (f.unsigned(f.narrow(f.shift_right(a, c), byte)).to(u16))
            | (f.unsigned(f.narrow(f.shift_right(b, c), byte)).to(u16) << 8)
        ),
        "Two arithmetic shifts right, limited to bytes.",
        keeps="half",
        counted="int32",
    )
_meaning = "Odd rows of 16 lanes and even rows change places."
ROWS.add(CrossLane("v_permlane16_swap_b32", "permlane_swap", _meaning, distance=16))
_meaning = "Upper and lower half of the wave change places."
ROWS.add(CrossLane("v_permlane32_swap_b32", "permlane_swap", _meaning, distance=32))
for _count in (3, 4):
    _meaning = f"Load {_count} dwords from global memory into LDS at m0 + offset + {4 * _count} * lane."
    ROWS.add(Memory(f"global_load_lds_dwordx{_count}", "global", "load", 32, _count, meaning=_meaning, to_lds=True))

# -------------------------------------------------------------------------------------------------- floating point

for _name, _function in (("minimum3", f.minimum_2019), ("maximum3", f.maximum_2019)):
    _meaning = f"{_name[:-1].capitalize()} of three; a NaN gives NaN."
    define(f"v_{_name}_f32", "a:f32 b:f32 c:f32", lambda a, b, c, o=_function: o(o(a, b), c), _meaning)
    packed(f"v_pk_{_name}_f16", element="f16")(
        body(
            lanewise(lambda a, b, c, o=_function: o(o(a, b), c), f16, 3, False),
            "a:u32 b:u32 c:u32",
            f"Two: {_meaning}",
        )
    )
packed("v_dot2_f32_bf16", element="bf16", products=2)(
    body(as_body(float_dot(bf16), 3), "a:u32 b:u32 c:f32", "Dot product of two bf16 pairs plus an f32.")
)
packed("v_dot2c_f32_bf16", element="bf16", products=2)(
    body(as_body(float_dot(bf16), 3), "a:u32 b:u32 dst:f32", "dst += dot product of two bf16 pairs.")
)
define("v_cvt_f32_bf16", "a:bf16", lambda a: a.to(f32), "bf16 to f32.", float_mode=False, counted="cvt")
for _half in ("f16", "bf16"):
    define(
        f"v_cvt_pk_{_half}_f32",
        "a:f32 b:f32",
        lambda a, b, half=TYPES[_half]: f.join(a.to(half), b.to(half)),
        f"Two f32 to {_half}, to nearest even.",
        float_mode=True,
        rounds=_half == "f16",
        counted="cvt",
    )


def _by_chance(x: Value, seed: Value, half: Any) -> Value:
    """x as f16 or bf16: the upper bits of the seed are added to the fraction bits that are then cut off."""
    form = f.FORMATS[half]
    dropped = 23 - form.fraction
    given = x.bits(u32) & 0x7FFFFFFF
    added = given + (seed >> (32 - dropped))
    rebias = (127 - form.bias) << 23
    magnitude = (added - rebias) >> dropped
    if half == f16:
        tiny = trunc(added.bits(f32) * 2.0**24).to(u32)
        magnitude = select(added < rebias + (1 << 23), tiny, magnitude)
        magnitude = select(magnitude > form.infinity, const(form.infinity, u32), magnitude)
    magnitude = select(given == 0x7F800000, const(form.infinity, u32), magnitude)
    magnitude = select(given > 0x7F800000, const(form.default_nan, u32), magnitude)
    return (((x.bits(u32) >> 16) & 0x8000) | magnitude).to(u16).bits(half)


for _half in ("f16", "bf16"):
    define(
        f"v_cvt_sr_{_half}_f32",
        "a:f32 seed:u32",
        lambda a, seed, half=TYPES[_half]: _by_chance(a, seed, half),
        f"f32 to {_half}, rounded up or down by chance.",
        float_mode=False,
        keeps="half",
        counted="cvt",
    )
for _name, _format in OCP.items():
    conversions(ROWS, _name, _format)

# ------------------------------------------------------------------------------------------ conversions with a scale


def _scale(x: Value) -> Value:
    """2**e, from the exponent field alone of an f32; 255 is NaN."""
    field = (x.bits(u32) >> 23) & 0xFF
    power = select(field == 0, const(0x00400000, u32), field << 23).bits(f32)
    return select(field == 255, f.nan(f32), power)


def _over(x: Value, scale: Value) -> Value:
    """x, widened to f32, over the power of two; a NaN stays as it is."""
    wide = x.to(f32)
    quotient = wide / _scale(scale)
    return select(f.is_nan(wide), wide, select(f.is_nan(quotient), f.nan(f32), quotient))


def _widen4(code: Value) -> Value:
    """The f32 of a 4-bit float (E2M1): 0 0.5 1 1.5 2 3 4 6."""
    magnitude = code & 7
    normal = (magnitude << 22) + (126 << 23)
    value = select(magnitude < 2, magnitude * (126 << 23), normal)
    return (value | (code & 8) << 28).bits(f32)


def _narrow4(x: Value, seed: Value | None = None) -> Value:
    """An f32 as a 4-bit float, to nearest even or by chance; too large numbers become 6. NaN is not defined: 6."""
    given = x.bits(u32) & 0x7FFFFFFF
    odd = (given >> 22) & 1
    added = given + (0x1FFFFF + odd if seed is None else seed >> 10)
    tiny = given.bits(f32) * 2.0
    small = (rint(tiny) if seed is None else trunc(added.bits(f32) * 2.0)).to(u32)
    is_small = (given if seed is None else added) < (127 << 23)
    code = select(is_small, small, (added - (126 << 23)) >> 22)
    code = select(code > 7, const(7, u32), code)
    return code | (x.bits(u32) >> 28) & 8


def _next_seed(seed: Value) -> Value:
    return (seed << 1) ^ select((seed >> 31) != 0, const(197, u32), const(0, u32))


def _scaled_fp8(name: str, format: Format) -> None:
    scaled = ROWS.rows("valu", float_mode=False, counted="cvt")
    kind = f"{name} (OCP)"
    for type in ("f32", "f16", "bf16"):
        wide = TYPES[type]

        def two(a: Value, scale: Value, wide: Any = wide) -> Value:
            pair = [(format.widen(a.to(u32) >> 8 * i) * _scale(scale)).to(wide) for i in range(2)]
            return f.join(*pair)

        scaled(f"v_cvt_scalef32_pk_{type}_{name}")(
            body(lambda a, scale, o=two: o(a, scale), "a:u16 scale:f32", f"Two {kind} times a power of two, to {type}.")
        )

        def narrowed(a: Value, b: Value, scale: Value, mode: Value) -> Value:
            first, second = (format.narrow(_over(x, scale), mode) for x in (a, b))
            return (first | second << 8).to(u16)

        if type == "f32":
            scaled(f"v_cvt_scalef32_pk_{name}_f32", keeps="half")(
                body(
                    lambda a, b, scale, mode, o=narrowed: o(a, b, scale, mode),
                    "a:f32 b:f32 scale:f32 mode:u32",
                    f"Two f32 over a power of two, to {kind}.",
                )
            )
        else:
            scaled(f"v_cvt_scalef32_pk_{name}_{type}", keeps="half")(
                body(
                    lambda a, scale, mode, o=narrowed, wide=wide: o(
                        f.low(a).bits(wide), f.high(a).bits(wide), scale, mode
                    ),
                    "a:u32 scale:f32 mode:u32",
                    f"Two {type} over a power of two, to {kind}.",
                )
            )

        def by_chance(a: Value, seed: Value, scale: Value, dst: Value, op_sel: Value, mode: Value) -> Value:
            shift = (op_sel >> 2 & 3) * 8
            code = format.narrow(_over(a, scale), mode, seed)
            return (dst & ~(const(0xFF, u32) << shift)) | code << shift

        scaled(f"v_cvt_scalef32_sr_{name}_{type}", keeps="rest")(
            body(
                lambda a, seed, scale, dst, op_sel, mode, o=by_chance: o(a, seed, scale, dst, op_sel, mode),
                f"a:{type} seed:u32 scale:f32 dst:u32 op_sel:u32 mode:u32",
                f"{type} over a power of two, to {kind} by chance, into one byte.",
            )
        )
    for type in ("f32", "f16"):
        scaled(f"v_cvt_scalef32_{type}_{name}", keeps="half" if type == "f16" else "")(
            body(
                lambda a, scale, op_sel, wide=TYPES[type]: (format.widen(a >> (op_sel & 3) * 8) * _scale(scale)).to(
                    wide
                ),
                "a:u32 scale:f32 op_sel:u32",
                f"One byte, {kind}, times a power of two, to {type}.",
            )
        )


for _name, _format in OCP.items():
    _scaled_fp8(_name, _format)


def _scaled_fp4() -> None:
    scaled = ROWS.rows("valu", float_mode=False, counted="cvt")

    def into_byte(dst: Value, code: Value, op_sel: Value) -> Value:
        shift = (op_sel >> 2 & 3) * 8
        return (dst & ~(const(0xFF, u32) << shift)) | code << shift

    def pair(a: Value, b: Value, scale: Value, seed: Value | None = None) -> Value:
        later = None if seed is None else _next_seed(seed)
        return _narrow4(_over(a, scale), seed) | _narrow4(_over(b, scale), later) << 4

    for type in ("f32", "f16", "bf16"):
        wide = TYPES[type]

        def widened(a: Value, scale: Value, op_sel: Value, wide: Any = wide) -> Value:
            byte = a >> (op_sel & 3) * 8
            return f.join(*((_widen4(byte >> 4 * i) * _scale(scale)).to(wide) for i in range(2)))

        scaled(f"v_cvt_scalef32_pk_{type}_fp4")(
            body(
                lambda a, scale, op_sel, o=widened: o(a, scale, op_sel),
                "a:u32 scale:f32 op_sel:u32",
                f"Two 4-bit floats of one byte times a power of two, to {type}.",
            )
        )
        whole = "u64" if type == "f32" else "u32"
        meaning = f"Two {type} over a power of two, to 4-bit floats in one byte"
        if type == "f32":
            scaled("v_cvt_scalef32_pk_fp4_f32", keeps="rest")(
                body(
                    lambda a, b, scale, dst, op_sel: into_byte(dst, pair(a, b, scale), op_sel),
                    "a:f32 b:f32 scale:f32 dst:u32 op_sel:u32",
                    meaning + ".",
                )
            )
        else:
            scaled(f"v_cvt_scalef32_pk_fp4_{type}", keeps="rest")(
                body(
                    lambda a, scale, dst, op_sel, wide=wide: into_byte(
                        dst, pair(f.low(a).bits(wide), f.high(a).bits(wide), scale), op_sel
                    ),
                    "a:u32 scale:f32 dst:u32 op_sel:u32",
                    meaning + ".",
                )
            )
        scaled(f"v_cvt_scalef32_sr_pk_fp4_{type}", keeps="rest")(
            body(
                lambda a, seed, scale, dst, op_sel, wide=wide: into_byte(
                    dst, pair(f.low(a).bits(wide), f.high(a).bits(wide), scale, seed), op_sel
                ),
                f"a:{whole} seed:u32 scale:f32 dst:u32 op_sel:u32",
                meaning + ", by chance; the second takes the next random number.",
            )
        )


_scaled_fp4()

# --------------------------------------------------------------------------------------------------------- matrices

for _type in ("f16", "bf16"):
    for _row in (
        *mfma("f32", "16x16x32", _type, old=f"16x16x32{_type}"),
        *mfma("f32", "32x32x16", _type, old=f"32x32x16{_type}"),
    ):
        ROWS.add(_row)
for _row in (
    *(smfmac("f32", shape, type) for shape in ("16x16x64", "32x32x32") for type in ("f16", "bf16")),
    *(smfmac("i32", shape, "i8") for shape in ("16x16x128", "32x32x64")),
):
    ROWS.add(_row)
for _a in OCP:
    for _b in OCP:
        for _row in (
            *mfma("f32", "16x16x32", _a, _b),
            *mfma("f32", "32x32x16", _a, _b),
            *(smfmac("f32", shape, _a, _b) for shape in ("16x16x64", "32x32x32", "16x16x128", "32x32x64")),
        ):
            ROWS.add(replace(_row, a=OCP_ELEMENTS[_a], b=OCP_ELEMENTS[_b]))
for _row in (*mfma("i32", "16x16x64", "i8", old="16x16x64i8"), *mfma("i32", "32x32x32", "i8", old="32x32x32i8")):
    ROWS.add(_row)
