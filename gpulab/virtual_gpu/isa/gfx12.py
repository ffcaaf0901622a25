"""What gfx12 (RDNA 4) has and gfx11 has not, or has with another meaning: `ROWS`.

Floats in the scalar unit; minima and maxima of IEEE 754-2019 (minimumNumber: the number wins against any NaN;
minimum: a NaN wins), 64-bit scalar arithmetic, waits by kind, barriers in two halves, permutes with lanes from a
register, FP8 in the formats of the Open Compute Project, and the matrix instructions. Source: RDNA 4 ISA manual,
chapter 16.
"""

# mypy: disable-error-code="valid-type, operator, attr-defined, arg-type, misc, no-untyped-def, index"

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gpulab.virtual_gpu.isa import functions as f
from gpulab.virtual_gpu.isa.compare import FLOAT_CONDITIONS
from gpulab.virtual_gpu.isa.control import CACHES, LINES, SLEEP
from gpulab.virtual_gpu.isa.expression import Value, ceil, f16, f32, floor, fma, i32, rint, select, sqrt, trunc, u32
from gpulab.virtual_gpu.isa.family import Family, body, definer
from gpulab.virtual_gpu.isa.fp8 import OCP, OCP_ELEMENTS, Format, conversions
from gpulab.virtual_gpu.isa.matrix import WMMA, wmma
from gpulab.virtual_gpu.isa.memory import combined, packed_add
from gpulab.virtual_gpu.isa.packed import lanewise
from gpulab.virtual_gpu.isa.row import Control, CrossLane, Memory

ROWS = Family("RDNA 4 ISA manual chapter 16")
vector = ROWS.rows("valu", float_mode=True)
packed = ROWS.rows("valu", packed="pairs", element="f16", float_mode=True)
scalar = ROWS.rows("salu", float_mode=True)
compare = ROWS.rows("salu", writes="scc", float_mode=True)
define_vector = definer(vector)
define = definer(scalar)

# --------------------------------------------------------------------------------------------- control and waits


def _control(kind: str, names: str, meaning: str, accuracy: str = "exact", order: str = "", caches: str = "") -> None:
    for name in names.split():
        ROWS.add(Control(name, kind, meaning=meaning, accuracy=accuracy, order=order, caches=caches))


for _counters in (
    "loadcnt", "storecnt", "samplecnt", "bvhcnt", "expcnt", "dscnt", "kmcnt", "loadcnt dscnt", "storecnt dscnt",
):  # fmt: skip
    _meaning = "Wait for outstanding operations of one kind."
    _name = f"s_wait_{_counters.replace(' ', '_')}"
    ROWS.add(Control(_name, "wait", meaning=_meaning, counters=tuple(_counters.split())))
_control("wait", "s_wait_alu", "Wait for the wave's own pipelines.")
_control(
    "nop", "s_barrier_signal", "Tell the others that this wave has come to the barrier; the wait is what stops it."
)
_control("barrier", "s_barrier_wait", "Wait until all waves of the workgroup are here.")
_control(
    "nop",
    "global_inv",
    LINES,
    CACHES,
    "scoped acquire",
    "drop scoped",
)
_control("nop", "global_wb", LINES, CACHES, caches="write back")
_control("nop", "global_wbinv", LINES, CACHES)
_control(
    "nop",
    "s_prefetch_inst s_prefetch_inst_pc_rel s_prefetch_data s_prefetch_data_pc_rel s_buffer_prefetch_data",
    "Fetch into a cache: no effect here.",
)
_control("sleep", "s_sleep_var", "Pause the wave.", SLEEP)

# --------------------------------------------------------------------------------------------- minima and maxima


def _median(a: Value, b: Value, c: Value) -> Value:
    unordered = f.minimum_number(f.minimum_number(a, b), c)
    return select(f.is_nan(a) | f.is_nan(b) | f.is_nan(c), unordered, f.median(a, b, c))


_MINMAX: tuple[tuple[str, Callable[..., Value], str], ...] = (
    ("min_num", f.minimum_number, "Minimum; -0 is below +0; a NaN gives the other operand."),
    ("max_num", f.maximum_number, "Maximum; +0 is above -0; a NaN gives the other operand."),
    ("minimum", f.minimum_2019, "Minimum; -0 is below +0; a NaN gives NaN."),
    ("maximum", f.maximum_2019, "Maximum; +0 is above -0; a NaN gives NaN."),
)
_OLD = {"min_num": "min", "max_num": "max"}


def _minima() -> None:
    for name, function, meaning in _MINMAX:
        old = _OLD.get(name)
        for type in ("f16", "f32", "f64"):
            names = f"v_{name}_{type}" + (f" v_{old}_{type}" if old else "")
            rate = "wide" if type == "f64" else "full"
            define_vector(names, f"a:{type} b:{type}", lambda a, b, o=function: o(a, b), meaning, rate=rate)
            if type == "f64":
                continue
            names = f"s_{name}_{type}" + (f" s_{old}_{type}" if old else "")
            define(names, f"a:{type} b:{type}", lambda a, b, o=function: o(a, b), meaning)
            three = f"a:{type} b:{type} c:{type}"
            names = name.replace("min_num", "min3_num").replace("max_num", "max3_num")
            names = names.replace("imum", "imum3")
            names = f"v_{names}_{type}" + (f" v_{old}3_{type}" if old else "")
            define_vector(names, three, lambda a, b, c, o=function: o(o(a, b), c), meaning + " Of three.")
        names = f"v_pk_{name}_f16" + (f" v_pk_{old}_f16" if old else "")
        packed(names)(body(lanewise(function, f16, 2, False), "a:u32 b:u32", "Two: " + meaning))
    for type in ("f16", "f32"):
        three = f"a:{type} b:{type} c:{type}"
        for names, inner, outer, meaning in (
            ("v_maxmin_num v_maxmin", f.maximum_number, f.minimum_number, "min(max(a, b), c)."),
            ("v_minmax_num v_minmax", f.minimum_number, f.maximum_number, "max(min(a, b), c)."),
            ("v_maximumminimum", f.maximum_2019, f.minimum_2019, "min(max(a, b), c); a NaN gives NaN."),
            ("v_minimummaximum", f.minimum_2019, f.maximum_2019, "max(min(a, b), c); a NaN gives NaN."),
        ):
            full = " ".join(f"{name}_{type}" for name in names.split())
            define_vector(full, three, lambda a, b, c, i=inner, o=outer: o(i(a, b), c), meaning)
        define_vector(f"v_med3_num_{type} v_med3_{type}", three, _median, "Median of three; with a NaN, the minimum.")


_minima()

# ---------------------------------------------------------------------------------------------------- scalar unit


def _scalar_floats() -> None:
    for type in ("f16", "f32"):
        two = f"a:{type} b:{type}"
        define(f"s_add_{type}", two, lambda a, b: a + b, "Sum.", rounds=True)
        define(f"s_sub_{type}", two, lambda a, b: a - b, "Difference.", rounds=True)
        define(f"s_mul_{type}", two, lambda a, b: a * b, "Product.", rounds=True)
        define(
            f"s_fmac_{type}",
            f"{two} dst:{type}",
            lambda a, b, dst: fma(a, b, dst),
            "dst += a*b, rounded once.",
            rounds=True,
        )
        define(f"s_floor_{type}", f"a:{type}", floor, "Largest integer not above a.")
        define(f"s_ceil_{type}", f"a:{type}", ceil, "Smallest integer not below a.")
        define(f"s_trunc_{type}", f"a:{type}", trunc, "Integer part.")
        define(f"s_rndne_{type}", f"a:{type}", rint, "Nearest integer, halves to even.")
        for name, condition in FLOAT_CONDITIONS.items():
            if name not in ("f", "t", "tru"):
                compare(f"s_cmp_{name}_{type}")(
                    body(lambda a, b, o=condition: o(a, b), two, "SCC = comparison of floats.")
                )
    define("s_fmaak_f32", "a:f32 b:f32 k:f32", lambda a, b, k: fma(a, b, k), "a*b+K, rounded once.", rounds=True)
    define("s_fmamk_f32", "a:f32 k:f32 b:f32", lambda a, k, b: fma(a, k, b), "a*K+b, rounded once.", rounds=True)
    define("s_cvt_f32_i32", "a:i32", lambda a: a.to(f32), "i32 to f32.", rounds=True)
    define("s_cvt_f32_u32", "a:u32", lambda a: a.to(f32), "u32 to f32.", rounds=True)
    define("s_cvt_i32_f32", "a:f32", lambda a: a.to(i32), "f32 to i32: truncates, saturates, NaN gives 0.")
    define("s_cvt_u32_f32", "a:f32", lambda a: a.to(u32), "f32 to u32: truncates, saturates, NaN gives 0.")
    define("s_cvt_f16_f32", "a:f32", lambda a: a.to(f16), "f32 to f16.", rounds=True)
    define("s_cvt_f32_f16", "a:f16", lambda a: a.to(f32), "f16 to f32.")
    define("s_cvt_hi_f32_f16", "a:u32", lambda a: f.high(a).bits(f16).to(f32), "The high half, f16, to f32.")
    define(
        "s_cvt_pk_rtz_f16_f32",
        "a:f32 b:f32",
        lambda a, b: f.join(f.toward_zero(a, f16), f.toward_zero(b, f16)),
        "Two f16, rounded toward zero.",
    )
    for name in ("rcp", "rsq", "sqrt", "exp", "log"):
        single, half, accuracy = _TRANSCENDENTAL[name]
        # The vector unit computes these with a scalar source and destination.
        define(f"v_s_{name}_f32", "a:f32", single, f"v_{name}_f32 of a scalar.", rate="trans", accuracy=accuracy)
        define(
            f"v_s_{name}_f16",
            "a:f16",
            lambda a, o=half: f.through_f32(o, a),
            f"v_{name}_f16 of a scalar.",
            rate="trans",
            accuracy="0.51 ulp (hardware: 0.51 ulp)",
        )


_TRANSCENDENTAL: dict[str, tuple[Callable[..., Value], Callable[..., Value], str]] = {
    "rcp": (f.reciprocal, lambda x: 1.0 / x, "correctly rounded (hardware: 1 ulp)"),
    "rsq": (f.reciprocal_sqrt, lambda x: 1.0 / sqrt(x), "1.5 ulp (hardware: 1 ulp)"),
    "sqrt": (lambda a: sqrt(f.flushed(a)), sqrt, "correctly rounded (hardware: 1 ulp)"),
    "exp": (lambda a: f.exp2(a), lambda x: f.exp2(x), "1 ulp (hardware: 1 ulp)"),
    "log": (lambda a: f.log2(a), lambda x: f.log2(x), "2 ulp (hardware: 1 ulp)"),
}
_scalar_floats()

_integer = definer(ROWS.rows("salu", float_mode=False))
_integer("s_mul_u64", "a:u64 b:u64", lambda a, b: a * b, "Low 64 bits of the product.", rate="quarter")
_integer("s_add_nc_u64", "a:u64 b:u64", lambda a, b: a + b, "Sum, 64 bits.")
_integer("s_sub_nc_u64", "a:u64 b:u64", lambda a, b: a - b, "Difference, 64 bits.")

# --------------------------------------------------------------------------------------------------------- memory


def _memory() -> None:
    for name, element, extend in (("u8", 8, "zero"), ("i8", 8, "sign"), ("u16", 16, "zero"), ("i16", 16, "sign")):
        for space in ("s_load", "s_buffer_load"):
            meaning = f"Load {element} bits into a scalar register, {extend}-extended."
            ROWS.add(Memory(f"{space}_{name}", "scalar", "load", element, 1, extend, meaning=meaning))
    for space in ("s_load", "s_buffer_load"):
        ROWS.add(Memory(f"{space}_b96", "scalar", "load", 32, 3, meaning="Load 3 dwords into scalar registers."))

    floats: tuple[tuple[str, Callable[..., Value], str], ...] = (
        ("min_num", f.minimum_number, "min"),
        ("max_num", f.maximum_number, "max"),
    )
    for name, function, short in floats:
        meaning = f"memory = {short}(memory, data); a NaN gives the other"
        for space in ("global", "flat", "buffer"):
            for end in (f"{name}_f32", f"{short}_f32", f"f{short}"):
                mnemonic = f"{space}_atomic_{end}"
                combine = combined(mnemonic, "f32", function)
                ROWS.add(Memory(mnemonic, space, "atomic", 32, combine=combine, meaning=meaning))
        for bits in (32, 64):
            for end in (name, short):
                combine = combined(f"ds_{end}_f{bits}", f"f{bits}", function)
                for returns in (False, True):
                    mnemonic = f"ds_{end}_{'rtn_' if returns else ''}f{bits}"
                    row = Memory(mnemonic, "lds", "atomic", bits, combine=combine, returns=returns, meaning=meaning)
                    ROWS.add(row)
    for type in ("f16", "bf16"):
        for space in ("global", "flat", "buffer"):
            mnemonic = f"{space}_atomic_pk_add_{type}"
            combine = combined(mnemonic, "u32", packed_add(type))
            ROWS.add(Memory(mnemonic, space, "atomic", 32, combine=combine, meaning=f"memory += data, two {type}"))
        for returns in (False, True):
            mnemonic = f"ds_pk_add_{'rtn_' if returns else ''}{type}"
            combine = combined(mnemonic, "u32", packed_add(type))
            meaning = f"memory += data, two {type}"
            ROWS.add(Memory(mnemonic, "lds", "atomic", 32, combine=combine, returns=returns, meaning=meaning))

    def conditional(memory: Value, data: Value) -> Value:
        return select(memory < data, memory, memory - data)

    def saturating(memory: Value, data: Value) -> Value:
        return select(memory < data, 0, memory - data)

    for name, function, meaning, commutes in (
        ("cond_sub_u32", conditional, "memory -= data where that is not below zero", False),
        ("sub_clamp_u32", saturating, "memory = memory < data ? 0 : memory - data", True),
    ):
        if name == "cond_sub_u32":
            for space in ("global", "flat", "buffer"):
                mnemonic = f"{space}_atomic_{name}"
                combine = combined(mnemonic, "u32", function)
                ROWS.add(Memory(mnemonic, space, "atomic", 32, combine=combine, meaning=meaning))
        for returns in (False, True):
            mnemonic = f"ds_{name.replace('_u32', '_rtn_u32') if returns else name}"
            combine = combined(mnemonic, "u32", function)
            row = Memory(mnemonic, "lds", "atomic", 32, combine=combine, returns=returns, meaning=meaning)
            ROWS.add(replace(row, commutes=commutes))


_memory()

# -------------------------------------------------------------------------------------------------- between lanes


_MEANING = "Each lane names the lane of its row of 16 whose value it gets."
ROWS.add(CrossLane("v_permlane16_var_b32", "permlane16", _MEANING, by_lane=True))
_MEANING = "The same from the other row of 16."
ROWS.add(CrossLane("v_permlanex16_var_b32", "permlane16", _MEANING, by_lane=True, other_row=True))
_MEANING = "Backward permute that reads inactive lanes too."
ROWS.add(CrossLane("ds_bpermute_fi_b32", "ds_bpermute", _MEANING, unit="lds", inactive=True))

# ------------------------------------------------------------------------------------------------- FP8 and matrices

for _name, _format in OCP.items():
    conversions(ROWS, _name, _format, byte_sel=True)


def _dot(first: Format, second: Format) -> Callable[..., Value]:
    """c plus four products, each step one fused multiply-add."""

    def dot(a: Value, b: Value, c: Value) -> Value:
        for i in range(4):
            c = fma(first.widen(a >> 8 * i), second.widen(b >> 8 * i), c)
        return c

    return dot


for _a, _first in OCP.items():
    for _b, _second in OCP.items():
        _product = _dot(_first, _second)
        vector(
            f"v_dot4_f32_{_a}_{_b}",
            products=4,
            accuracy="fused multiply-adds in order; the hardware's order is not published",
        )(
            body(
                lambda a, b, c, o=_product: o(a, b, c),
                "a:u32 b:u32 c:f32",
                f"Dot product of four {_a} and four {_b} plus an f32.",
            )
        )
        ROWS.add(wmma("f32", OCP_ELEMENTS[_a], "wmma12", b=OCP_ELEMENTS[_b], name=f"{_a}_{_b}"))
for _d, _a in WMMA:
    ROWS.add(wmma(_d, _a, "wmma12"))
ROWS.add(wmma("i32", "iu4", "wmma12", 32))
