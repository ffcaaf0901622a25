"""The small typed language in which instruction semantics are written.

A row's body is an ordinary Python function over `Value`s. Calling it once with symbolic arguments
gives a graph of `Value` nodes; a reader (numpy in `reference/`, LLVM IR in `translate/`) evaluates
the graph. This module knows neither reader.

Types: ``b1``; ``u8 i8 u16 i16 u32 i32 u64 i64``; ``f16 bf16 f32 f64``. Integers wrap. Signedness
matters only for division, right shift, comparison, widening and conversion. Floating point follows
IEEE 754, round to nearest even, denormals kept; flushing and clamping are applied around rows by the
reader, from the kernel's MODE.

Operations (the whole contract of a reader), all elementwise:

    const arg                      leaves
    add sub mul                    int (wrapping) or float
    div rem                        float (div only), or int; int division by zero gives 0
    neg                            int (wrapping) or float (sign flip, NaN included)
    and or xor not                 int and b1
    shl shr                        amount below the width (rows mask it); shr is arithmetic for i*, logical for u*
    eq ne lt le gt ge              b1; floats: ordered (false if either is NaN) but `ne` is unordered (true)
    select                         (b1, x, y)
    to                             value conversion: int<->int (by source signedness), float->float (RNE),
                                   int->float (RNE), float->int (truncates, saturates, NaN gives 0), b1->int 0/1
    bits                           reinterpretation, same width
    fma                            fused, one rounding
    sqrt floor ceil trunc rint     float; rint is round half to even
    popcount clz ctz bitreverse    int; clz and ctz of 0 give the width

All else (min, max, rotates, saturation, frexp, class tests, transcendentals) is built from these, in
`isa/functions.py`, so that both readers compute the very same bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Type:
    """A scalar type: `kind` is "b", "u", "i", "f" or "bf"; `width` in bits."""

    kind: str
    width: int

    @property
    def name(self) -> str:
        return f"{self.kind}{self.width}"

    @property
    def is_float(self) -> bool:
        return self.kind in ("f", "bf")

    @property
    def is_int(self) -> bool:
        return self.kind in ("u", "i")

    def __repr__(self) -> str:
        return self.name


b1 = Type("b", 1)
u8, u16, u32, u64 = (Type("u", w) for w in (8, 16, 32, 64))
i8, i16, i32, i64 = (Type("i", w) for w in (8, 16, 32, 64))
f16, f32, f64 = (Type("f", w) for w in (16, 32, 64))
bf16 = Type("bf", 16)
TYPES = {t.name: t for t in (b1, u8, u16, u32, u64, i8, i16, i32, i64, f16, bf16, f32, f64)}


class Value:
    """A node: an operation on other nodes. Compared by identity, so shared nodes are evaluated once.

    `data` is the Python int or float of a const (floats as Python floats; NaN payloads through
    ``bits``), or the (index, name) of an arg.
    """

    __slots__ = ("args", "data", "op", "type")

    def __init__(self, op: str, type: Type, args: tuple[Value, ...] = (), data: Any = None) -> None:
        self.op, self.type, self.args, self.data = op, type, args, data

    # arithmetic: a Python number on either side takes the other side's type
    def __add__(self, o: Operand) -> Value:
        return _binary("add", self, o)

    def __radd__(self, o: Operand) -> Value:
        return _binary("add", o, self)

    def __sub__(self, o: Operand) -> Value:
        return _binary("sub", self, o)

    def __rsub__(self, o: Operand) -> Value:
        return _binary("sub", o, self)

    def __mul__(self, o: Operand) -> Value:
        return _binary("mul", self, o)

    def __rmul__(self, o: Operand) -> Value:
        return _binary("mul", o, self)

    def __truediv__(self, o: Operand) -> Value:
        return _binary("div", self, o)

    def __rtruediv__(self, o: Operand) -> Value:
        return _binary("div", o, self)

    def __floordiv__(self, o: Operand) -> Value:
        return _binary("div", self, o)

    def __mod__(self, o: Operand) -> Value:
        return _binary("rem", self, o)

    def __and__(self, o: Operand) -> Value:
        return _binary("and", self, o)

    def __rand__(self, o: Operand) -> Value:
        return _binary("and", o, self)

    def __or__(self, o: Operand) -> Value:
        return _binary("or", self, o)

    def __ror__(self, o: Operand) -> Value:
        return _binary("or", o, self)

    def __xor__(self, o: Operand) -> Value:
        return _binary("xor", self, o)

    def __rxor__(self, o: Operand) -> Value:
        return _binary("xor", o, self)

    def __lshift__(self, o: Operand) -> Value:
        return _binary("shl", self, o)

    def __rlshift__(self, o: Operand) -> Value:
        return _binary("shl", o, self)

    def __rshift__(self, o: Operand) -> Value:
        return _binary("shr", self, o)

    def __rrshift__(self, o: Operand) -> Value:
        return _binary("shr", o, self)

    def __invert__(self) -> Value:
        return Value("not", self.type, (self,))

    def __neg__(self) -> Value:
        return Value("neg", self.type, (self,))

    def __eq__(self, o: object) -> Value:  # type: ignore[override]
        return _binary("eq", self, o, b1)  # type: ignore[arg-type]

    def __ne__(self, o: object) -> Value:  # type: ignore[override]
        return _binary("ne", self, o, b1)  # type: ignore[arg-type]

    def __lt__(self, o: Operand) -> Value:
        return _binary("lt", self, o, b1)

    def __le__(self, o: Operand) -> Value:
        return _binary("le", self, o, b1)

    def __gt__(self, o: Operand) -> Value:
        return _binary("gt", self, o, b1)

    def __ge__(self, o: Operand) -> Value:
        return _binary("ge", self, o, b1)

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise TypeError("a row's body has no branches: write select(condition, a, b)")

    def to(self, type: Type) -> Value:
        """Value conversion (see `to` in the module's table)."""
        return self if type == self.type else Value("to", type, (self,))

    def bits(self, type: Type) -> Value:
        """The same bits as another type of the same width."""
        if type == self.type:
            return self
        if type.width != self.type.width:
            raise TypeError(f"bits: {self.type} and {type} differ in width")
        return Value("bits", type, (self,))

    def __repr__(self) -> str:
        inside = repr(self.data) if self.data is not None else ", ".join(map(repr, self.args))
        return f"{self.op}.{self.type}({inside})"


Operand = Value | int | float | bool


def const(value: int | float | bool, type: Type) -> Value:
    """A constant. Integers are taken modulo 2**width."""
    if type.is_float:
        return Value("const", type, (), float(value))
    return Value("const", type, (), int(value) & ((1 << type.width) - 1))


def arg(index: int, name: str, type: Type) -> Value:
    """The row's parameter number `index`."""
    return Value("arg", type, (), (index, name))


def _binary(op: str, a: Operand, b: Operand, result: Type | None = None) -> Value:
    if isinstance(a, Value):
        b = b if isinstance(b, Value) else const(b, a.type)
    elif isinstance(b, Value):
        a = const(a, b.type)
    assert isinstance(a, Value)
    assert isinstance(b, Value)
    if a.type != b.type:
        raise TypeError(f"{op}: {a.type} and {b.type}; convert one with .to() or .bits()")
    return Value(op, result or a.type, (a, b))


def select(condition: Value, a: Operand, b: Operand) -> Value:
    """`a` where `condition`, else `b`."""
    if condition.type != b1:
        raise TypeError("select needs a b1 condition")
    if not isinstance(a, Value):
        assert isinstance(b, Value)
        a = const(a, b.type)
    if not isinstance(b, Value):
        b = const(b, a.type)
    if a.type != b.type:
        raise TypeError(f"select: {a.type} and {b.type}")
    return Value("select", a.type, (condition, a, b))


def fma(a: Operand, b: Operand, c: Operand) -> Value:
    """a*b+c with one rounding."""
    type = next(x.type for x in (a, b, c) if isinstance(x, Value))
    full = tuple(x if isinstance(x, Value) else const(x, type) for x in (a, b, c))
    if any(x.type != type for x in full):
        raise TypeError("fma: operands differ in type")
    return Value("fma", type, full)


def _unary(op: str, x: Value) -> Value:
    return Value(op, x.type, (x,))


def sqrt(x: Value) -> Value:
    """Correctly rounded square root."""
    return _unary("sqrt", x)


def floor(x: Value) -> Value:
    """Largest integer not above x."""
    return _unary("floor", x)


def ceil(x: Value) -> Value:
    """Smallest integer not below x."""
    return _unary("ceil", x)


def trunc(x: Value) -> Value:
    """x without its fraction."""
    return _unary("trunc", x)


def rint(x: Value) -> Value:
    """Nearest integer, halves to even."""
    return _unary("rint", x)


def popcount(x: Value) -> Value:
    """Number of one bits."""
    return _unary("popcount", x)


def clz(x: Value) -> Value:
    """Leading zeros; the width for 0."""
    return _unary("clz", x)


def ctz(x: Value) -> Value:
    """Trailing zeros; the width for 0."""
    return _unary("ctz", x)


def bitreverse(x: Value) -> Value:
    """Bits in reverse order."""
    return _unary("bitreverse", x)
