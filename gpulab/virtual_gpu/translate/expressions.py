"""Reads row expressions (isa/expression.py) as LLVM IR: `Reader.read` evaluates graphs for a chunk of lanes or for one.

``b1`` is i1, integers are iN, f16 f32 f64 are half float double, and bf16 travels as its
16 bits in an i16.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gpulab.errors import InternalError
from gpulab.virtual_gpu.isa import expression
from gpulab.virtual_gpu.isa.expression import Type
from gpulab.virtual_gpu.translate.emitter import (
    NOTHING,
    Constant,
    Emitter,
    Integer,
    Joined,
    Value,
    float_constant,
    signed,
    vector,
)

_FLOATS = {16: "half", 32: "float", 64: "double"}
_SIMPLE_INT = {"add": "add", "sub": "sub", "mul": "mul", "and": "and", "or": "or", "xor": "xor", "shl": "shl"}
_SIMPLE_FLOAT = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_COMPARE_FLOAT = {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}
_UNARY_FLOAT = {
    "sqrt": "llvm.sqrt",
    "floor": "llvm.floor",
    "ceil": "llvm.ceil",
    "trunc": "llvm.trunc",
    "rint": "llvm.roundeven",
}


def ir_type(type: Type) -> str:
    """The IR element type of an expression type."""
    if type.kind == "f":
        return _FLOATS[type.width]
    return f"i{type.width}"


def _suffix(element: str, width: int) -> str:
    short = {"half": "f16", "float": "f32", "double": "f64"}.get(element, element)
    return short if width == 1 else f"v{width}{short}"


class Reader:
    """Evaluates expression graphs with an `Emitter`, `width` lanes at a time (1 for scalars)."""

    def __init__(self, emitter: Emitter, width: int) -> None:
        self.emitter, self.width = emitter, width

    def type(self, type: Type) -> str:
        return vector(ir_type(type), self.width)

    def constant(self, value: int | float, type: Type) -> Value:
        """A constant of a type."""
        if type.kind == "bf":
            text = str(signed(bf16_bits(float(value)), 16))
        elif type.is_float:
            text = float_constant(float(value), type.width)
        elif type.kind == "b":
            text = "true" if value else "false"
        else:
            text = str(signed(int(value), type.width))
        return Constant(text if self.width == 1 else f"splat ({ir_type(type)} {text})")

    def read(self, values: Sequence[expression.Value], arguments: Sequence[Value]) -> list[Value]:
        """The IR values of `values`, whose arg leaves are `arguments` by index."""
        known: dict[int, Value] = {}
        for root in values:
            stack = [root]
            while stack:
                value = stack[-1]
                if id(value) in known:
                    stack.pop()
                    continue
                missing = [a for a in value.args if id(a) not in known]
                if missing:
                    stack.extend(reversed(missing))
                    continue
                stack.pop()
                if value.op == "const":
                    known[id(value)] = self.constant(value.data, value.type)
                elif value.op == "arg":
                    known[id(value)] = arguments[value.data[0]]
                else:
                    known[id(value)] = self._node(value, [known[id(a)] for a in value.args])
        return [known[id(v)] for v in values]

    def _node(self, value: expression.Value, args: list[Value]) -> Value:
        if self.width > 1 and (value.type.width == 64 or (args and value.args[0].type.width == 64)):
            by_halves = self._by_halves(value, args)
            if by_halves is not None:
                return by_halves
        handler: Callable[[expression.Value, list[Value]], Value] | None = getattr(self, f"_{value.op}", None)
        if handler is not None:
            return handler(value, args)
        if value.type.kind == "bf" or (value.args and value.args[0].type.kind == "bf" and value.op not in ("select",)):
            return self._through_f32(value, args)
        e, t = self.emitter, self.type(value.type)
        if value.op in _COMPARE_FLOAT:
            operand = value.args[0].type
            ot = self.type(operand)
            if operand.is_float:
                return e.let(f"fcmp {_COMPARE_FLOAT[value.op]} {ot} {args[0]}, {args[1]}")
            sign = "" if value.op in ("eq", "ne") else ("s" if operand.kind == "i" else "u")
            return e.let(f"icmp {sign}{value.op} {ot} {args[0]}, {args[1]}")
        if value.type.is_float and value.op in _SIMPLE_FLOAT:
            return e.let(f"{_SIMPLE_FLOAT[value.op]} {t} {args[0]}, {args[1]}")
        if value.op in _SIMPLE_INT:
            return e.let(f"{_SIMPLE_INT[value.op]} {t} {args[0]}, {args[1]}")
        if value.op in _UNARY_FLOAT:
            name = f"{_UNARY_FLOAT[value.op]}.{_suffix(ir_type(value.type), self.width)}"
            return e.call(t, name, f"{t} {args[0]}")
        raise InternalError(f"no LLVM form of the expression operation {value.op} on {value.type}")

    def _by_halves(self, value: expression.Value, args: list[Value]) -> Value | None:
        """64-bit integers of which the halves are known, or one of them alone; None where the whole is needed."""
        e, op, first = self.emitter, value.op, value.args[0] if value.args else None
        if first is None or not first.type.is_int or not value.type.is_int:
            return None
        if op == "to":
            if value.type.width == 64 and first.type == expression.u32:
                return Joined(e, args[0], NOTHING)
            if value.type.width <= 32 and isinstance(args[0], Joined):
                return self._convert(args[0].low, expression.u32, value.type)
            return None
        if value.type.width != 64:
            return None
        if op in ("shl", "shr"):
            amount = value.args[1]
            if not isinstance(args[0], Joined) or amount.op != "const" or amount.data != 32:
                return None
            if op == "shl":
                return Joined(e, NOTHING, args[0].low)
            return Joined(e, args[0].high, NOTHING) if value.type.kind == "u" else None
        if op in ("and", "or", "xor"):
            parts = [self._parts(node, argument) for node, argument in zip(value.args, args, strict=True)]
            if parts[0] is None or parts[1] is None:
                return None
            low, high = (self._bitwise(op, one, other) for one, other in zip(*parts, strict=True))
            return Joined(e, low, high)
        return None

    def _parts(self, node: expression.Value, argument: Value) -> tuple[Value, Value] | None:
        """The halves of a 64-bit integer, if they are known."""
        if node.op == "const":
            return self._int(int(node.data) & 0xFFFFFFFF, 32), self._int(int(node.data) >> 32, 32)
        return (argument.low, argument.high) if isinstance(argument, Joined) else None

    def _bitwise(self, op: str, one: Value, other: Value) -> Value:
        """An operation on halves, of which many are 0 or have all bits."""
        ones = self._int(-1, 32)
        for a, b in ((one, other), (other, one)):
            if a == NOTHING:
                return a if op == "and" else b
            if a == ones and op != "xor":
                return b if op == "and" else a
        t = self.emitter.v32
        return self.emitter.let(f"{op} {t} {one}, {other}")

    def _shr(self, value: expression.Value, args: list[Value]) -> Value:
        op = "ashr" if value.type.kind == "i" else "lshr"
        return self.emitter.let(f"{op} {self.type(value.type)} {args[0]}, {args[1]}")

    def _not(self, value: expression.Value, args: list[Value]) -> Value:
        ones = self.constant(1 if value.type.kind == "b" else -1, value.type)
        return self.emitter.let(f"xor {self.type(value.type)} {args[0]}, {ones}")

    def _neg(self, value: expression.Value, args: list[Value]) -> Value:
        t = self.type(value.type)
        if value.type.kind == "bf":
            mask = vector("i16", self.width)
            return self.emitter.let(f"xor {mask} {args[0]}, {self._int(-32768, 16)}")
        if value.type.is_float:
            return self.emitter.let(f"fneg {t} {args[0]}")
        return self.emitter.let(f"sub {t} zeroinitializer, {args[0]}" if self.width > 1 else f"sub {t} 0, {args[0]}")

    def _select(self, value: expression.Value, args: list[Value]) -> Value:
        c, t = vector("i1", self.width), self.type(value.type)
        return self.emitter.let(f"select {c} {args[0]}, {t} {args[1]}, {t} {args[2]}")

    def _fma(self, value: expression.Value, args: list[Value]) -> Value:
        if value.type.kind == "bf":
            return self._through_f32(value, args)
        t = self.type(value.type)
        if value.type.width == 16:
            # The product of two halves is exact in double, and so is nearly every sum: one rounding at the end.
            wide = vector("double", self.width)
            x, y, z = (self.emitter.let(f"fpext {t} {a} to {wide}") for a in args)
            product = self.emitter.let(f"fmul {wide} {x}, {y}")
            return self._f64_to_f16(self.emitter.let(f"fadd {wide} {product}, {z}"))
        name = f"llvm.fma.{_suffix(ir_type(value.type), self.width)}"
        return self.emitter.call(t, name, *(f"{t} {a}" for a in args))

    def _popcount(self, value: expression.Value, args: list[Value]) -> Value:
        return self._bits_intrinsic("llvm.ctpop", value, args)

    def _bitreverse(self, value: expression.Value, args: list[Value]) -> Value:
        return self._bits_intrinsic("llvm.bitreverse", value, args)

    def _clz(self, value: expression.Value, args: list[Value]) -> Value:
        return self._bits_intrinsic("llvm.ctlz", value, args, "i1 false")

    def _ctz(self, value: expression.Value, args: list[Value]) -> Value:
        return self._bits_intrinsic("llvm.cttz", value, args, "i1 false")

    def _bits_intrinsic(self, name: str, value: expression.Value, args: list[Value], *more: str) -> Value:
        t = self.type(value.type)
        return self.emitter.call(t, f"{name}.{_suffix(ir_type(value.type), self.width)}", f"{t} {args[0]}", *more)

    def _div(self, value: expression.Value, args: list[Value]) -> Value:
        if value.type.kind == "bf":
            return self._through_f32(value, args)
        if value.type.is_float:
            return self.emitter.let(f"fdiv {self.type(value.type)} {args[0]}, {args[1]}")
        return self._divide(value, args, "div")

    def _rem(self, value: expression.Value, args: list[Value]) -> Value:
        return self._divide(value, args, "rem")

    def _divide(self, value: expression.Value, args: list[Value], op: str) -> Value:
        """Integer division where x/0 and x%0 are 0 and MIN/-1 wraps; LLVM leaves both undefined."""
        e, t, c = self.emitter, self.type(value.type), vector("i1", self.width)
        zero, one, minus = (self.constant(n, value.type) for n in (0, 1, -1))
        bad = e.let(f"icmp eq {t} {args[1]}, {zero}")
        divisor = e.let(f"select {c} {bad}, {t} {one}, {t} {args[1]}")
        if value.type.kind == "u":
            result = e.let(f"u{op} {t} {args[0]}, {divisor}")
        else:
            negate = e.let(f"icmp eq {t} {args[1]}, {minus}")
            divisor = e.let(f"select {c} {negate}, {t} {one}, {t} {divisor}")
            result = e.let(f"s{op} {t} {args[0]}, {divisor}")
            special = e.let(f"sub {t} {zero}, {args[0]}") if op == "div" else zero
            result = e.let(f"select {c} {negate}, {t} {special}, {t} {result}")
        return e.let(f"select {c} {bad}, {t} {zero}, {t} {result}")

    def _bits(self, value: expression.Value, args: list[Value]) -> Value:
        a, b = self.type(value.args[0].type), self.type(value.type)
        return args[0] if a == b else self.emitter.let(f"bitcast {a} {args[0]} to {b}")

    def _to(self, value: expression.Value, args: list[Value]) -> Value:
        e, source, target = self.emitter, value.args[0].type, value.type
        s, t = self.type(source), self.type(target)
        x = args[0]
        if source.kind == "bf":
            wide = self._bf16_to_f32(x)
            return wide if target.name == "f32" else self._convert(wide, Type("f", 32), target)
        if target.kind == "bf":
            return self._f32_to_bf16(self._convert(x, source, Type("f", 32)))
        if source.kind == "b":
            return e.let(f"zext {s} {x} to {t}") if not target.is_float else e.let(f"uitofp {s} {x} to {t}")
        if target.kind == "b":
            return e.let(f"trunc {s} {x} to {t}")
        return self._convert(x, source, target)

    def _convert(self, x: Value, source: Type, target: Type) -> Value:
        e, s, t = self.emitter, self.type(source), self.type(target)
        if source.is_float and target.is_float:
            if source.width == target.width:
                return x
            if source.width == 64 and target.width == 16:
                return self._f64_to_f16(x)
            return e.let(f"{'fpext' if target.width > source.width else 'fptrunc'} {s} {x} to {t}")
        if source.is_float:
            if source.width == 16:  # exact, and spares a library call
                x, s, source = (
                    e.let(f"fpext {s} {x} to {vector('float', self.width)}"),
                    vector("float", self.width),
                    Type("f", 32),
                )
            kind = "llvm.fptosi.sat" if target.kind == "i" else "llvm.fptoui.sat"
            name = f"{kind}.{_suffix(ir_type(target), self.width)}.{_suffix(ir_type(source), self.width)}"
            return e.call(t, name, f"{s} {x}")
        if target.is_float:
            op = "sitofp" if source.kind == "i" else "uitofp"
            if target.width == 16:
                # Integers of up to 53 bits are exact in double; larger ones are far above the largest half.
                wide = e.let(f"{op} {s} {x} to {vector('double', self.width)}")
                return self._f64_to_f16(wide)
            return e.let(f"{op} {s} {x} to {t}")
        if source.width == target.width:
            return x
        if target.width < source.width:
            return e.let(f"trunc {s} {x} to {t}")
        return e.let(f"{'sext' if source.kind == 'i' else 'zext'} {s} {x} to {t}")

    def _int(self, value: int, width: int) -> Value:
        number = signed(value, width)
        return Integer(number) if self.width == 1 else Constant(f"splat (i{width} {number})")

    def _f64_to_f16(self, x: Value) -> Value:
        """double to half with one rounding: first to float rounding to odd, which keeps what decides a tie."""
        e = self.emitter
        d, f, h = (vector(n, self.width) for n in ("double", "float", "half"))
        i, c = vector("i32", self.width), vector("i1", self.width)
        near = e.let(f"fptrunc {d} {x} to {f}")
        back = e.let(f"fpext {f} {near} to {d}")
        bits = e.let(f"bitcast {f} {near} to {i}")
        exact = e.let(f"fcmp ueq {d} {back}, {x}")
        magnitude_back = e.call(d, f"llvm.fabs.{_suffix('double', self.width)}", f"{d} {back}")
        magnitude = e.call(d, f"llvm.fabs.{_suffix('double', self.width)}", f"{d} {x}")
        above = e.let(f"fcmp ogt {d} {magnitude_back}, {magnitude}")
        step = e.let(f"sext {c} {above} to {i}")
        toward_zero = e.let(f"add {i} {bits}, {step}")
        odd = e.let(f"or {i} {toward_zero}, {self._int(1, 32)}")
        chosen = e.let(f"select {c} {exact}, {i} {bits}, {i} {odd}")
        return e.let(f"fptrunc {f} {e.let(f'bitcast {i} {chosen} to {f}')} to {h}")

    def _bf16_to_f32(self, x: Value) -> Value:
        e = self.emitter
        wide = e.let(f"zext {vector('i16', self.width)} {x} to {vector('i32', self.width)}")
        high = e.let(f"shl {vector('i32', self.width)} {wide}, {self._int(16, 32)}")
        return e.let(f"bitcast {vector('i32', self.width)} {high} to {vector('float', self.width)}")

    def _f32_to_bf16(self, x: Value) -> Value:
        """float to bfloat16, round to nearest even; a NaN stays one (quiet)."""
        e = self.emitter
        i, f, c = vector("i32", self.width), vector("float", self.width), vector("i1", self.width)
        bits = e.let(f"bitcast {f} {x} to {i}")
        odd = e.let(f"and {i} {e.let(f'lshr {i} {bits}, {self._int(16, 32)}')}, {self._int(1, 32)}")
        rounded = e.let(f"add {i} {e.let(f'add {i} {bits}, {self._int(0x7FFF, 32)}')}, {odd}")
        quiet = e.let(f"or {i} {bits}, {self._int(0x400000, 32)}")
        nan = e.let(f"fcmp uno {f} {x}, {x}")
        chosen = e.let(f"select {c} {nan}, {i} {quiet}, {i} {rounded}")
        high = e.let(f"lshr {i} {chosen}, {self._int(16, 32)}")
        return e.let(f"trunc {i} {high} to {vector('i16', self.width)}")

    def _through_f32(self, value: expression.Value, args: list[Value]) -> Value:
        """bfloat16 arithmetic: computed in float and rounded once more (exact for the basic operations)."""
        f32 = Type("f", 32)
        wide = [self._bf16_to_f32(a) if v.type.kind == "bf" else a for a, v in zip(args, value.args, strict=True)]
        stand_ins = tuple(
            expression.Value("arg", f32 if v.type.kind == "bf" else v.type, (), (n, ""))
            for n, v in enumerate(value.args)
        )
        result_type = f32 if value.type.kind == "bf" else value.type
        result = self._node(expression.Value(value.op, result_type, stand_ins, value.data), wide)
        return self._f32_to_bf16(result) if value.type.kind == "bf" else result


def bf16_bits(value: float) -> int:
    """The bfloat16 nearest to a Python float, as bits."""
    import struct

    bits = int(struct.unpack("<I", struct.pack("<f", value))[0])
    if value != value:
        return (bits >> 16) | 0x40
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) & 0xFFFF
