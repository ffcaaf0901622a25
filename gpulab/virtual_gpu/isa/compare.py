"""Vector comparisons (VOPC): v_cmp_* and v_cmpx_*, for all types, and the class tests.

v_cmp_* writes a mask. v_cmpx_* writes EXEC with it: alone on gfx10 and later, beside the named mask on gfx9.
Float conditions: lg is "less or greater" (ordered), o and u are "ordered" and "unordered", and the n* forms are the
negations, so true for NaN: nge, nlg, ngt, nle, neq (the unordered !=), nlt. tru and f are constants.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack

from gpulab.virtual_gpu.isa import functions as f
from gpulab.virtual_gpu.isa.expression import Value
from gpulab.virtual_gpu.isa.family import Body, Family, body
from gpulab.virtual_gpu.isa.row import Options

COMPARE = Family("CDNA3 ISA manual 12.7-12.11 (VOPC, VOP3); RDNA3 ISA manual 16.7-16.11")
_mask = COMPARE.rows("valu")
_exec = COMPARE.rows("valu", writes="exec")
_both = COMPARE.rows("valu", writes="dst exec")

Condition = Callable[[Value, Value], Value]
FLOAT_CONDITIONS: dict[str, Condition] = {
    "f": lambda a, b: f.false(),
    "lt": lambda a, b: a < b,
    "eq": lambda a, b: a == b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "lg": lambda a, b: (a < b) | (a > b),
    "ge": lambda a, b: a >= b,
    "o": lambda a, b: ~(f.is_nan(a) | f.is_nan(b)),
    "u": lambda a, b: f.is_nan(a) | f.is_nan(b),
    "nge": lambda a, b: ~(a >= b),
    "nlg": lambda a, b: ~((a < b) | (a > b)),
    "ngt": lambda a, b: ~(a > b),
    "nle": lambda a, b: ~(a <= b),
    "neq": lambda a, b: a != b,
    "nlt": lambda a, b: ~(a < b),
    "tru": lambda a, b: f.true(),
    "t": lambda a, b: f.true(),
}
INTEGER_CONDITIONS: dict[str, Condition] = {
    "f": lambda a, b: f.false(),
    "lt": lambda a, b: a < b,
    "eq": lambda a, b: a == b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ne": lambda a, b: a != b,
    "ge": lambda a, b: a >= b,
    "t": lambda a, b: f.true(),
}


def _twice(function: Condition) -> Body:
    def double(a: Value, b: Value) -> tuple[Value, Value]:
        result = function(a, b)
        return result, result

    return double


def _add(name: str, parameters: str, function: Condition, meaning: str, **options: Unpack[Options]) -> None:
    _mask(f"v_cmp_{name}", **options)(body(lambda a, b: function(a, b), parameters, meaning))
    _exec(gfx11=f"v_cmpx_{name}", **options)(body(lambda a, b: function(a, b), parameters, meaning + " Into EXEC."))
    _both(gfx9=f"v_cmpx_{name}", **options)(body(_twice(function), parameters, meaning + " Into the mask and EXEC."))


def _all() -> None:
    for type in ("f16", "f32", "f64"):
        rate = "wide" if type == "f64" else "full"
        for name, function in FLOAT_CONDITIONS.items():
            _add(f"{name}_{type}", f"a:{type} b:{type}", function, f"Compare: {name}.", rate=rate)
        mask = "u32" if type != "f16" else "u16"
        meaning = "Is a in one of the classes of mask b?"
        # a class test sees denormals as they are
        _add(f"class_{type}", f"a:{type} b:{mask}", f.class_test, meaning, rate=rate, float_mode=False)
    for type in ("i16", "u16", "i32", "u32", "i64", "u64"):
        rate = "wide" if type in ("i64", "u64") else "full"
        counted = {"i32": "int32", "u32": "int32", "i64": "int64", "u64": "int64"}.get(type, "")
        for name, function in INTEGER_CONDITIONS.items():
            _add(f"{name}_{type}", f"a:{type} b:{type}", function, f"Compare: {name}.", rate=rate, counted=counted)


_all()
