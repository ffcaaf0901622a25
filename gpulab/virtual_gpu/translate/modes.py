"""The MODE register's effect on float arithmetic: `Mode` (what is known of it), and what it does, as IR.

Where a bit of MODE depends on the path or comes from a register it is `unknown`; then both results are computed and the
wave's own MODE chooses (`Mode.clear`). Other roundings than to nearest even, and FP16_OVFL, are calls of the support
code (machine/native/rounding.c), which `Directed`, a reader of expressions, makes for each operation that they concern.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpulab.virtual_gpu import schema
from gpulab.virtual_gpu.isa import expression
from gpulab.virtual_gpu.isa.expression import Type
from gpulab.virtual_gpu.isa.instruction import Instruction
from gpulab.virtual_gpu.translate import layout
from gpulab.virtual_gpu.translate.emitter import Emitter, Integer, Value, vector
from gpulab.virtual_gpu.translate.expressions import Reader

DX10_CLAMP, IEEE, FP16_OVERFLOW = 8, 9, 23
_ARITHMETIC = 15 | 1 << FP16_OVERFLOW  # the bits that make a difference to `Directed`


def _field(e: Emitter, name: str) -> Value:
    """Where a field of the wave's state is."""
    return e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset(name)}")


@dataclass(frozen=True, slots=True)
class Mode:
    """MODE as far as translation knows it: rounding 3:0 (f32 1:0, f16 and f64 3:2), denormals 7:4 (the same),
    DX10_CLAMP 8, IEEE 9, FP16_OVFL 23. Bits in `unknown` depend on the path; they are 0 in `bits`."""

    bits: int
    unknown: int = 0

    def joined(self, other: Mode) -> Mode:
        """What is known where two paths meet."""
        unknown = self.unknown | other.unknown | (self.bits ^ other.bits)
        return Mode(self.bits & ~unknown, unknown)

    def with_field(self, first: int, width: int, value: int | None) -> Mode:
        """MODE after a field was written; None is an unknown value."""
        mask = ((1 << width) - 1) << first
        if value is None:
            return Mode(self.bits & ~mask, self.unknown | mask)
        return Mode(self.bits & ~mask | (value << first & mask), self.unknown & ~mask)

    @property
    def plain(self) -> bool:
        """Whether all arithmetic rounds to nearest even, without FP16_OVFL."""
        return not (self.bits | self.unknown) & _ARITHMETIC

    def word(self, e: Emitter) -> Value:
        """MODE as an i32."""
        if not self.unknown:
            return Integer(self.bits)
        return e.let(f"load i32, ptr {_field(e, 'mode')}")

    def clear(self, e: Emitter, bit: int) -> bool | Value:
        """Whether a bit is 0: known, or as an i1."""
        if not self.unknown >> bit & 1:
            return not self.bits >> bit & 1
        return e.let(f"icmp eq i32 {e.let(f'and i32 {self.word(e)}, {1 << bit}')}, 0")


def _either(reader: Reader, condition: bool | Value, yes: Value, no: Value, type: Type) -> Value:
    if isinstance(condition, bool):
        return yes if condition else no
    t = reader.type(type)
    return reader.emitter.let(f"select i1 {condition}, {t} {yes}, {t} {no}")


def flushed_input(reader: Reader, mode: Mode, value: Value, type: Type) -> Value:
    """A source of a float instruction: its denormals become zero if MODE says so."""
    return _flushed(reader, mode, 4 if type.width == 32 else 6, value, type)


def flushed_output(reader: Reader, mode: Mode, value: Value, type: Type) -> Value:
    """The same for a result."""
    return _flushed(reader, mode, 5 if type.width == 32 else 7, value, type)


def _flushed(reader: Reader, mode: Mode, bit: int, value: Value, type: Type) -> Value:
    condition = mode.clear(reader.emitter, bit)
    return value if condition is False else _either(reader, condition, flushed(reader, value, type), value, type)


def flushed(reader: Reader, value: Value, type: Type) -> Value:
    """Denormals become zero of the same sign."""
    e, t = reader.emitter, reader.type(type)
    integer = vector(f"i{type.width}", reader.width)
    condition = vector("i1", reader.width)
    fraction = {16: 10, 32: 23, 64: 52}[type.width]
    unsigned = Type("u", type.width)
    exponent = reader.constant(((1 << (type.width - 1)) - 1) ^ ((1 << fraction) - 1), unsigned)
    sign = reader.constant(1 << (type.width - 1), unsigned)
    zero_bits = reader.constant(0, unsigned)
    bits = e.let(f"bitcast {t} {value} to {integer}")
    small = e.let(f"icmp eq {integer} {e.let(f'and {integer} {bits}, {exponent}')}, {zero_bits}")
    zero = e.let(f"and {integer} {bits}, {sign}")
    chosen = e.let(f"select {condition} {small}, {integer} {zero}, {integer} {bits}")
    return e.let(f"bitcast {integer} {chosen} to {t}")


def clamped(reader: Reader, mode: Mode, value: Value, type: Type) -> Value:
    """The clamp modifier: into [0, 1]. A NaN becomes 0 if MODE has DX10_CLAMP (which HIP sets), else it stays."""
    e, condition = reader.emitter, vector("i1", reader.width)
    zero, one = reader.constant(0.0, type), reader.constant(1.0, type)
    t = reader.type(type)
    above_zero = e.let(f"fcmp ogt {t} {value}, {zero}")
    number = e.let(f"select {condition} {above_zero}, {t} {value}, {t} {zero}")
    above_one = e.let(f"fcmp ogt {t} {number}, {one}")
    number = e.let(f"select {condition} {above_one}, {t} {one}, {t} {number}")
    keeps = mode.clear(e, DX10_CLAMP)
    if keeps is False:
        return number
    nan = e.let(f"fcmp uno {t} {value}, {value}")
    kept = e.let(f"select {condition} {nan}, {t} {value}, {t} {number}")
    return _either(reader, keeps, kept, number, type)


def scaled(reader: Reader, value: Value, type: Type, instruction: Instruction, mode: Mode) -> Value:
    """The output modifiers mul:2, mul:4, div:2. The hardware ignores them in IEEE mode and where it keeps denormals.

    Where they have an effect, -0 becomes +0 (RDNA3 ISA manual 7.2.2): also from a denormal, flushed here."""
    multiplier = instruction.modifiers.get("mul")
    divisor = instruction.modifiers.get("div")
    factor = float(multiplier) if isinstance(multiplier, int) else 1.0 / divisor if isinstance(divisor, int) else 1.0
    if factor == 1.0:
        return value
    e, t = reader.emitter, reader.type(type)
    for bit in (IEEE, 5 if type.width == 32 else 7):
        if mode.clear(e, bit) is False:
            return value
    result: Value = e.let(f"fmul {t} {value}, {reader.constant(factor, type)}")
    normal = {16: 2.0**-14, 32: 2.0**-126, 64: 2.0**-1022}[type.width]
    condition, zero = vector("i1", reader.width), reader.constant(0.0, type)
    below = e.let(f"fcmp olt {t} {result}, {reader.constant(normal, type)}")
    above = e.let(f"fcmp ogt {t} {result}, {reader.constant(-normal, type)}")
    result = e.let(f"select {condition} {e.let(f'and {condition} {below}, {above}')}, {t} {zero}, {t} {result}")
    for bit in (IEEE, 5 if type.width == 32 else 7):
        result = _either(reader, mode.clear(e, bit), result, value, type)
    return result


class Directed(Reader):
    """Evaluates expressions with MODE's rounding and FP16_OVFL: slowly, an operation at a time."""

    def __init__(self, emitter: Emitter, width: int, mode: Mode) -> None:
        super().__init__(emitter, width)
        self.mode = mode

    def _node(self, value: expression.Value, args: list[Value]) -> Value:
        source = value.args[0].type
        concerned = value.op in schema.ROUNDED.names and value.type.kind == "f"
        if value.op == "to":
            concerned = concerned and (source.is_int or (source.kind == "f" and source.width > value.type.width))
        return self._called(value, args) if concerned else super()._node(value, args)

    def _called(self, value: expression.Value, args: list[Value]) -> Value:
        e, wide = self.emitter, vector("i64", self.width)
        source = value.args[0].type
        buffers = [e.entry("alloca [16 x i64], align 128") for _ in range(4)]
        for operand, arg, buffer in zip(value.args, args, buffers, strict=False):
            bits = arg
            if operand.type.is_float:
                bits = e.let(
                    f"bitcast {self.type(operand.type)} {arg} to {vector(f'i{operand.type.width}', self.width)}"
                )
            if operand.type.width < 64:
                bits = e.let(f"zext {vector(f'i{operand.type.width}', self.width)} {bits} to {wide}")
            e.do(f"store {wide} {bits}, ptr {buffer}, align 8")
        what = schema.ROUND_WORD.pack(
            operation=schema.ROUNDED[value.op],
            result=schema.FORMATS[value.type.name],
            source=schema.FORMATS[source.name],
        )
        single = value.type.width == 32 and not (value.op == "to" and source.name == "f64")
        word = self.mode.word(e)
        rounding = e.let(f"and i32 {e.let(f'lshr i32 {word}, {0 if single else 2}')}, 3")
        overflow = e.let(f"and i32 {e.let(f'lshr i32 {word}, {FP16_OVERFLOW - 2}')}, 4")
        function = e.let(f"load ptr, ptr {_field(e, 'round')}")
        a, b, c, out = buffers
        e.do(
            f"call void {function}(i32 {what}, i32 {e.let(f'or i32 {rounding}, {overflow}')}, i32 {self.width}, "
            f"ptr {a}, ptr {b}, ptr {c}, ptr {out})"
        )
        found = e.let(f"load {wide}, ptr {out}, align 8")
        narrow = vector(f"i{value.type.width}", self.width)
        if value.type.width < 64:
            found = e.let(f"trunc {wide} {found} to {narrow}")
        return e.let(f"bitcast {narrow} {found} to {self.type(value.type)}")


def reader_of(plain: Reader, rounds: bool, mode: Mode) -> Reader:
    """The reader for a row: the plain one, unless MODE changes the row's arithmetic."""
    return plain if not rounds or mode.plain else Directed(plain.emitter, plain.width, mode)
