"""Evaluates row expressions with numpy, plainly: the second opinion against which the LLVM reader is tested.

`evaluate(values, arguments)` walks the graph once. Every operation of `isa/expression.py` is one short function here;
what numpy lacks (exact fma, bf16, saturating conversion) is built from error-free sums and, for f64, from fractions.

Arrays have the dtype of their type (`dtype`); bf16 values travel as their 16 bits in uint16.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from gpulab.virtual_gpu.isa.expression import Type, Value, b1, bf16, f16, f32, f64
from gpulab.virtual_gpu.reference.rounding import concerned, directed

Array = np.ndarray[Any, Any]


@functools.cache
def dtype(type: Type) -> np.dtype[Any]:
    """The numpy dtype that holds values of a type."""
    if type == b1:
        return np.dtype(np.bool_)
    if type == bf16:
        return np.dtype(np.uint16)
    return np.dtype({"u": "uint", "i": "int", "f": "float"}[type.kind] + str(type.width))


def evaluate(values: Iterable[Value], arguments: Sequence[Any], mode: int = 0) -> list[Array]:
    """The values of expression graphs for given arguments.

    Args:
        values: graph nodes, as `Row.graph()[1]` gives them.
        arguments: one array (or number) per row parameter, all of one shape or scalar; taken to the parameter's dtype
            without change of value (bf16: bits).
        mode: the MODE register, where its rounding and FP16_OVFL fields count; 0 rounds to nearest even.
    Returns:
        one array per value, of the arguments' common shape.
    """
    shape = np.broadcast_shapes(*(np.shape(a) for a in arguments)) if len(arguments) else ()
    known: dict[int, Array] = {}
    values = tuple(values)
    with np.errstate(all="ignore"):
        for node in _in_order(values):
            if mode and concerned(node):
                known[id(node)] = directed(node, [known[id(a)] for a in node.args], mode)
            else:
                known[id(node)] = _node(node, known, arguments, shape)
    return [known[id(value)] for value in values]


@functools.lru_cache(maxsize=1024)  # rows have the same graphs each time
def _in_order(roots: tuple[Value, ...]) -> list[Value]:
    """The nodes of graphs, operands first (no recursion: graphs can be deep)."""
    order: list[Value] = []
    seen: set[int] = set()
    stack: list[tuple[Value, bool]] = [(root, False) for root in roots]
    while stack:
        node, ready = stack.pop()
        if ready:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((operand, False) for operand in node.args)
    return order


def _node(node: Value, known: dict[int, Array], arguments: Sequence[Any], shape: tuple[int, ...]) -> Array:
    if node.op == "const":
        return np.full(shape, _constant(node.data, node.type))
    if node.op == "arg":
        given = np.asarray(arguments[node.data[0]], dtype(node.type))
        return given if given.shape == shape else np.broadcast_to(given, shape)
    operands = [known[id(a)] for a in node.args]
    if node.op == "to":
        return convert(operands[0], node.args[0].type, node.type)
    if node.op == "bits":
        return operands[0] if dtype(node.type) == operands[0].dtype else operands[0].view(dtype(node.type))
    if node.op == "select":
        return np.where(*operands)
    source = node.args[0].type
    if source == bf16:
        return _bf16(node.op, operands)
    return OPERATIONS[node.op](source, *operands)


def _constant(data: int | float, type: Type) -> Any:
    if type == bf16:
        return float_to_bf16(np.float64(data))
    if type.is_float:
        return dtype(type).type(data)
    if type == b1:
        return bool(data)
    return np.array(data, f"uint{type.width}").view(dtype(type))[()]


# ------------------------------------------------------------------------------------------------- operations


def _divide(type: Type, a: Array, b: Array) -> Array:
    if type.is_float:
        return a / b
    unsigned = f"uint{type.width}"
    zero = b == 0
    magnitude = _magnitude(a).astype(unsigned) // np.where(zero, 1, _magnitude(b)).astype(unsigned)
    quotient = np.where((a < 0) ^ (b < 0), 0 - magnitude, magnitude).astype(unsigned).view(dtype(type))
    return np.where(zero, np.zeros_like(a), quotient)


def _magnitude(a: Array) -> Array:
    unsigned = a.view(f"uint{8 * a.dtype.itemsize}")
    return np.where(a < 0, 0 - unsigned, unsigned)


def _remainder(type: Type, a: Array, b: Array) -> Array:
    return np.where(b == 0, np.zeros_like(a), a - _divide(type, a, b) * b)


def _negate(type: Type, a: Array) -> Array:
    if not type.is_float:
        return np.zeros_like(a) - a
    bits = np.ascontiguousarray(a).view(f"uint{type.width}")
    return (bits ^ bits.dtype.type(1 << (type.width - 1))).view(a.dtype)


def _count_bits(type: Type, a: Array, order: Iterable[int], stop_at_one: bool) -> Array:
    """Ones among the bits in `order`, or how many bits come before the first one."""
    unsigned = a.view(f"uint{type.width}")
    count = np.zeros(a.shape, np.int64)
    going = np.ones(a.shape, bool)
    for bit in order:
        one = ((unsigned >> unsigned.dtype.type(bit)) & unsigned.dtype.type(1)).astype(bool)
        if stop_at_one:
            going &= ~one
            count += going
        else:
            count += one
    return count.astype(a.dtype)


def _reverse(type: Type, a: Array) -> Array:
    unsigned = a.view(f"uint{type.width}")
    one = unsigned.dtype.type(1)
    result = np.zeros_like(unsigned)
    for bit in range(type.width):
        result |= ((unsigned >> unsigned.dtype.type(bit)) & one) << unsigned.dtype.type(type.width - 1 - bit)
    return result.view(a.dtype)


def _round_to_odd(total: Array, error: Array) -> Array:
    """total + error (an error-free sum in f64), rounded to odd: safe to round again to a much shorter format."""
    bits = np.ascontiguousarray(total).view(np.int64)
    even = (bits & 1) == 0
    away = (error > 0) == (total > 0)
    adjusted = bits + np.where(away, 1, -1)
    use = (error != 0) & even & np.isfinite(total)
    return np.where(use, adjusted, bits).view(np.float64)


def _short_fma(a: Array, b: Array, c: Array) -> Array:
    """a*b+c of numbers with at most 24 bits, as an f64 rounded to odd."""
    product, addend = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)
    total = product + addend
    part = total - product
    error = (product - (total - part)) + (addend - part)
    return _round_to_odd(total, np.where(np.isfinite(total), error, 0.0))


def _fma(type: Type, a: Array, b: Array, c: Array) -> Array:
    if type != f64:
        return _short_fma(a, b, c).astype(dtype(type))
    flat = [np.ravel(x) for x in np.broadcast_arrays(a, b, c)]
    return np.array([_fma64(float(x), float(y), float(z)) for x, y, z in zip(*flat, strict=True)]).reshape(a.shape)


def _fma64(a: float, b: float, c: float) -> float:
    if not (np.isfinite(a) and np.isfinite(b)):
        return float(np.float64(a) * np.float64(b) + np.float64(c))
    if not np.isfinite(c):
        return c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return float(np.float64(a) * np.float64(b) + np.float64(c)) if a == 0 or b == 0 or c == 0 else 0.0
    try:
        return float(exact)  # int / int rounds correctly, denormals too
    except OverflowError:
        return float("inf") if exact > 0 else float("-inf")


OPERATIONS: dict[str, Callable[..., Array]] = {
    "add": lambda type, a, b: a + b,
    "sub": lambda type, a, b: a - b,
    "mul": lambda type, a, b: a * b,
    "div": _divide,
    "rem": _remainder,
    "neg": _negate,
    "and": lambda type, a, b: a & b,
    "or": lambda type, a, b: a | b,
    "xor": lambda type, a, b: a ^ b,
    "not": lambda type, a: ~a,
    "shl": lambda type, a, b: a << b,
    "shr": lambda type, a, b: a >> b,
    "eq": lambda type, a, b: a == b,
    "ne": lambda type, a, b: a != b,
    "lt": lambda type, a, b: a < b,
    "le": lambda type, a, b: a <= b,
    "gt": lambda type, a, b: a > b,
    "ge": lambda type, a, b: a >= b,
    "fma": _fma,
    "sqrt": lambda type, a: np.sqrt(a),
    "floor": lambda type, a: np.floor(a),
    "ceil": lambda type, a: np.ceil(a),
    "trunc": lambda type, a: np.trunc(a),
    "rint": lambda type, a: np.rint(a),
    "popcount": lambda type, a: _count_bits(type, a, range(type.width), False),
    "clz": lambda type, a: _count_bits(type, a, range(type.width - 1, -1, -1), True),
    "ctz": lambda type, a: _count_bits(type, a, range(type.width), True),
    "bitreverse": _reverse,
}
"""Operation name -> function of the operands' type and the operands."""

# ------------------------------------------------------------------------------------------------ conversion


def convert(x: Array, source: Type, target: Type) -> Array:
    """`to`: value conversion, by the rules of `isa/expression.py`."""
    if source == bf16:
        x, source = bf16_to_float(x), f32
    if target == bf16:
        return float_to_bf16(_wide_float(x, source))
    if target == f16:
        # numpy goes from integers to f16 through f32; f64 holds all that f16 can tell apart
        return _to_half(x.astype(np.float64) if source.is_int else x)
    if target.is_float:
        return x.astype(dtype(target))
    if source.is_float:
        return _float_to_int(x.astype(np.float64), target)
    return x.astype(dtype(target))


def _to_half(x: Array) -> Array:
    """f32 or f64 to f16. A NaN becomes quiet and keeps the upper bits of its fraction (numpy keeps it signaling)."""
    if x.dtype == np.float16:
        return x
    unsigned: Any
    unsigned, fraction = (np.uint32, 23) if x.dtype == np.float32 else (np.uint64, 52)
    bits: Array = np.ascontiguousarray(x).view(unsigned).reshape(x.shape)
    sign = (bits >> unsigned(8 * x.dtype.itemsize - 16)).astype(np.uint16) & np.uint16(0x8000)
    payload = (bits >> unsigned(fraction - 10)).astype(np.uint16) & np.uint16(0x1FF)
    nan = (sign | np.uint16(0x7E00) | payload).view(np.float16)
    return np.where(np.isnan(x), nan, x.astype(np.float16))


def _wide_float(x: Array, source: Type) -> Array:
    """x as f64, rounded to odd where it has more than 53 bits."""
    if not source.is_int or source.width < 64:
        return x.astype(np.float64)
    top = (x >> x.dtype.type(11)).astype(np.float64) * 2048.0
    rest = (x & x.dtype.type(2047)).astype(np.float64)
    total = top + rest
    return _round_to_odd(total, rest - (total - top))


def _float_to_int(x: Array, target: Type) -> Array:
    low = 0 if target.kind == "u" else -(1 << (target.width - 1))
    high = (1 << target.width) - 1 if target.kind == "u" else (1 << (target.width - 1)) - 1
    whole = np.trunc(x)
    inside = np.where((whole >= float(low)) & (whole < float(high + 1)), whole, 0.0)
    result = inside.astype(dtype(target))
    result = np.where(whole >= float(high + 1), np.array(high, dtype(target)), result)
    return np.where(whole < float(low), np.array(low, dtype(target)), result)


def bf16_to_float(bits: Array) -> Array:
    """bf16 bits as f32."""
    return (np.asarray(bits).astype(np.uint32) << np.uint32(16)).view(np.float32)


def float_to_bf16(x: Any) -> Array:
    """f64 (or narrower) numbers to bf16 bits, round to nearest even; NaN stays a quiet NaN."""
    x = np.asarray(x, np.float64)
    near = x.astype(np.float32)
    bits = np.ascontiguousarray(near).view(np.uint32).reshape(x.shape)
    # round to odd in f32 first, so that the second rounding is right
    inexact = (near.astype(np.float64) != x) & np.isfinite(near) & ((bits & np.uint32(1)) == 0)
    down = np.abs(near.astype(np.float64)) > np.abs(x)
    bits = np.where(inexact, np.where(down, bits - np.uint32(1), bits + np.uint32(1)), bits)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    nan = (bits >> np.uint32(16)) | np.uint32(0x40)
    return np.where(np.isnan(x), nan, rounded).astype(np.uint16)


def _bf16(op: str, operands: list[Array]) -> Array:
    """An operation on bf16 numbers: computed in f32 or wider, rounded once."""
    if op == "neg":
        return operands[0] ^ np.uint16(0x8000)
    wide = [bf16_to_float(x) for x in operands]
    if op == "fma":
        return float_to_bf16(_short_fma(*wide))
    result = OPERATIONS[op](f32, *(x.astype(np.float64) for x in wide))
    return result if result.dtype == np.bool_ else float_to_bf16(result)
