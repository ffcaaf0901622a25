"""Float operations in any rounding mode, from exact fractions: `directed` is what the reference machine uses where MODE
asks for something else than rounding to nearest even."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from gpulab.virtual_gpu.isa.expression import Type, Value
from gpulab.virtual_gpu.isa.functions import FORMATS

NEAREST, UP, DOWN, ZERO = range(4)
OPERATIONS = ("add", "sub", "mul", "fma", "to")
"""What MODE rounds; rows that it concerns have no others that round (tests/isa/test_row_fields.py)."""


def field(mode: int, node: Value) -> int:
    """FP_ROUND for an operation: the f32 field for f32 results, the other for f16, f64 and what comes from f64."""
    single = node.type.width == 32 and not (node.op == "to" and node.args[0].type.name == "f64")
    return mode >> (0 if single else 2) & 3


def concerned(node: Value) -> bool:
    """Whether MODE's rounding or FP16_OVFL can change an operation's result."""
    if node.op not in OPERATIONS or node.type.kind != "f":
        return False
    source = node.args[0].type
    return node.op != "to" or source.is_int or (source.kind == "f" and source.width > node.type.width)


def directed(node: Value, operands: list[Any], mode: int) -> Any:
    """The results of a node that is `concerned`, lane by lane."""
    shape = np.shape(operands[0])
    lanes = [np.asarray(x).reshape(-1).tolist() for x in operands]
    signs = [np.signbit(np.asarray(x, np.float64)).reshape(-1).tolist() for x in operands]
    rounding, saturate = field(mode, node), bool(mode >> 23 & 1) and node.type.width == 16
    found = [
        _one(node.op, node.type, rounding, saturate, list(values), list(negative))
        for values, negative in zip(zip(*lanes, strict=True), zip(*signs, strict=True), strict=True)
    ]
    unsigned = np.dtype(f"uint{node.type.width}")
    return np.array(found, unsigned).view(f"float{node.type.width}").reshape(shape)


def _one(op: str, type: Type, rounding: int, saturate: bool, values: list[Any], negative: list[bool]) -> int:
    form = FORMATS[type]
    if any(v != v for v in values):
        return form.default_nan
    infinite = [v in (float("inf"), float("-inf")) for v in values]
    if op == "sub":
        op, values, negative = "add", [values[0], -values[1]], [negative[0], not negative[1]]
    if op in ("mul", "fma"):
        sign = negative[0] ^ negative[1]
        if infinite[0] or infinite[1]:
            if values[0] == 0 or values[1] == 0 or (op == "fma" and infinite[2] and negative[2] != sign):
                return form.default_nan
            return _signed(form.infinity, sign, form)
        if op == "fma" and infinite[2]:
            return _signed(form.infinity, negative[2], form)
        exact = product = Fraction(values[0]) * Fraction(values[1])
        if op == "fma":
            exact += Fraction(values[2])
            if exact == 0 and not (product == 0 and sign == negative[2]):
                sign = rounding == DOWN
    elif op == "add":
        if infinite[0] and infinite[1] and negative[0] != negative[1]:
            return form.default_nan
        if infinite[0] or infinite[1]:
            return _signed(form.infinity, negative[0] if infinite[0] else negative[1], form)
        exact = Fraction(values[0]) + Fraction(values[1])
        same = values[0] == 0 and values[1] == 0 and negative[0] == negative[1]
        sign = negative[0] if same else rounding == DOWN
    else:
        sign = negative[0]
        if infinite[0]:
            return _signed(form.infinity, sign, form)
        exact = Fraction(values[0])
    if exact == 0:
        return _signed(0, sign, form)
    return rounded(exact, type, rounding, saturate)


def _signed(bits: int, negative: bool, form: Any) -> int:
    return bits | (form.sign if negative else 0)


def rounded(exact: Fraction, type: Type, rounding: int, saturate: bool = False) -> int:
    """The bits of the float nearest to a number that is not zero, in a direction."""
    form = FORMATS[type]
    negative, size = exact < 0, abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    step = Fraction(2) ** (max(exponent, 1 - form.bias) - form.fraction)
    whole, rest = divmod(size / step, 1)
    up = {
        NEAREST: rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1),
        UP: rest > 0 and not negative,
        DOWN: rest > 0 and negative,
        ZERO: False,
    }[rounding]
    whole += up
    largest = (2 ** (form.fraction + 1) - 1) * Fraction(2) ** (form.bias - form.fraction)
    if whole * step > largest:
        away = rounding == NEAREST or rounding == (DOWN if negative else UP)
        return _signed(form.infinity if away and not saturate else form.infinity - 1, negative, form)
    if exponent < 1 - form.bias:
        return _signed(int(whole), negative, form)
    return _signed(int(whole) + ((exponent + form.bias - 1) << form.fraction), negative, form)
