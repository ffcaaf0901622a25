"""The assembler's expressions: `evaluate` gives the value of a text such as ``max(a, b)`` or ``.Lend-.Lstart``."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from gpulab import architectures
from gpulab.virtual_gpu.isa.instruction_text import Expected, integer


@dataclass(slots=True)
class Linear:
    """An integer plus symbols, each with a factor: what an assembler can put into a relocation."""

    value: int = 0
    symbols: dict[str, int] = field(default_factory=dict)

    def plus(self, other: Linear, sign: int = 1) -> Linear:
        symbols = dict(self.symbols)
        for name, factor in other.symbols.items():
            symbols[name] = symbols.get(name, 0) + sign * factor
        return Linear(self.value + sign * other.value, {n: f for n, f in symbols.items() if f})


Lookup = Callable[[str], Linear | None]
"""A symbol's value by its name; None if it has no number."""

TOKEN = re.compile(
    r'\s*(?:(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)(?![\w.$])|("[^"]+"|[A-Za-z_.$@][\w.$@]*)|(<<|>>|&&|\|\||==|!=|<=|>=|[-+*/%&|^~!(),<>]))'
)
_PRECEDENCE = {
    "||": 1, "&&": 2, "==": 3, "!=": 3, "<": 3, ">": 3, "<=": 3, ">=": 3,
    "+": 4, "-": 4, "|": 5, "^": 5, "&": 5, "*": 6, "/": 6, "%": 6, "<<": 6, ">>": 6,
}  # fmt: skip


def evaluate(text: str, lookup: Lookup, arch: str) -> Linear:
    """The value of an expression. Raises Expected."""
    return _Expression(text, lookup, arch).evaluate()


class _Expression:
    """Evaluates one assembler expression."""

    def __init__(self, text: str, lookup: Lookup, arch: str) -> None:
        self.text, self.lookup, self.arch = text, lookup, arch
        self.tokens: list[tuple[str, str]] = []
        position = 0
        stripped = text.rstrip()
        while position < len(stripped):
            match = TOKEN.match(stripped, position)
            if match is None:
                raise Expected(f"an expression, not {text!r}")
            kind = "number" if match[1] else "name" if match[2] else "operator"
            self.tokens.append((kind, match[match.lastindex or 0]))
            position = match.end()
        self.at = 0

    def evaluate(self) -> Linear:
        result = self.binary(0)
        if self.at != len(self.tokens):
            raise Expected(f"the end of the expression {self.text!r} before {self.tokens[self.at][1]!r}")
        return result

    def peek(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def binary(self, least: int) -> Linear:
        left = self.unary()
        while _PRECEDENCE.get(self.peek(), 0) > least and self.tokens[self.at][0] == "operator":
            sign = self.peek()
            self.at += 1
            right = self.binary(_PRECEDENCE[sign])
            if sign in "+-":
                left = left.plus(right, 1 if sign == "+" else -1)
            else:
                left = Linear(_ARITHMETIC[sign](self.number(left), self.number(right)))
        return left

    def unary(self) -> Linear:
        if self.at >= len(self.tokens):
            raise Expected(f"a value at the end of {self.text!r}")
        kind, token = self.tokens[self.at]
        self.at += 1
        if kind == "number":
            return Linear(integer(token))
        if token == "-":
            return Linear().plus(self.unary(), -1)
        if token == "+":
            return self.unary()
        if token in ("~", "!"):
            value = self.number(self.unary())
            return Linear(~value if token == "~" else int(not value))
        if token == "(":
            inside = self.binary(0)
            self.expect(")")
            return inside
        if kind != "name":
            raise Expected(f"a value in {self.text!r}, not {token!r}")
        if self.peek() == "(":
            self.at += 1
            arguments = []
            while self.peek() != ")":
                arguments.append(self.number(self.binary(0)))
                if self.peek() == ",":
                    self.at += 1
            self.expect(")")
            return Linear(self.call(token, arguments))
        name = token.strip('"').partition("@")[0]
        found = self.lookup(name)
        return Linear(0, {name: 1}) if found is None else found

    def expect(self, token: str) -> None:
        if self.peek() != token:
            raise Expected(f"{token!r} in the expression {self.text!r}")
        self.at += 1

    def number(self, value: Linear) -> int:
        if value.symbols:
            raise Expected(f"numbers in {self.text!r}: {', '.join(value.symbols)} has no value known here")
        return value.value

    def call(self, name: str, a: list[int]) -> int:
        """The functions LLVM writes for resource usage (llvm/lib/Target/AMDGPU, AMDGPUMCExpr)."""
        if name == "max":
            return max(a)
        if name == "or":
            result = 0
            for x in a:
                result |= x
            return result
        if name == "alignto" and len(a) == 2:
            return (a[0] + a[1] - 1) // a[1] * a[1]
        if name == "totalnumvgprs" and len(a) == 2:
            agprs, vgprs = a
            if architectures.get(self.arch).unified_vgprs:
                return (vgprs + 3) // 4 * 4 + agprs if agprs else vgprs
            return max(vgprs, agprs)
        if name == "extrasgprs" and len(a) == 3:
            vcc, flat_scratch, xnack = a
            extra = 2 if vcc else 0
            device = architectures.get(self.arch)
            if not device.sgprs_per_simd:  # every wave has its own: beside VCC none is set apart
                return extra
            return 6 if flat_scratch or device.has("architected-flat-scratch") else 4 if xnack else extra
        if name == "instprefsize" and a:
            return min(63, (a[0] + 127) // 128)
        known = "max, or, alignto, extrasgprs, totalnumvgprs, instprefsize"
        raise Expected(f"a known function ({known}), not {name}() of {len(a)} values")


def _quotient(a: int, b: int) -> int:
    """Rounded toward zero, as C's."""
    if not b:
        return 0
    return a // b if (a < 0) == (b < 0) else -(-a // b)


_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "*": lambda a, b: a * b,
    "/": _quotient,
    "%": lambda a, b: a - _quotient(a, b) * b if b else 0,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<<": lambda a, b: a << (b & 63),
    ">>": lambda a, b: a >> (b & 63),
    "&&": lambda a, b: int(bool(a) and bool(b)),
    "||": lambda a, b: int(bool(a) or bool(b)),
    "==": lambda a, b: -int(a == b),
    "!=": lambda a, b: -int(a != b),
    "<": lambda a, b: -int(a < b),
    ">": lambda a, b: -int(a > b),
    "<=": lambda a, b: -int(a <= b),
    ">=": lambda a, b: -int(a >= b),
}
