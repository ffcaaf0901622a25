"""The MODE register's effect on float arithmetic: `Mode` (denormals, clamp), and clamp, output scale and flush as IR.

Only rounding to nearest even is executed; a kernel that asks for another rounding is refused by name.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpulab.virtual_gpu.isa.expression import Type
from gpulab.virtual_gpu.isa.instruction import Instruction
from gpulab.virtual_gpu.translate.emitter import vector
from gpulab.virtual_gpu.translate.expressions import Reader


@dataclass(frozen=True, slots=True)
class Mode:
    """MODE where it is known at translation: rounding 3:0, denormals 7:4 (f32 5:4, f16 and f64 7:6), IEEE 9."""

    bits: int

    def _denormals(self, width: int) -> int:
        return self.bits >> (4 if width == 32 else 6) & 3

    def flushes_input(self, width: int) -> bool:
        return not self._denormals(width) & 1

    def flushes_output(self, width: int) -> bool:
        return not self._denormals(width) & 2

    @property
    def rounds_to_nearest(self) -> bool:
        return not self.bits & 15


def flushed(reader: Reader, value: str, type: Type) -> str:
    """Denormals become zero of the same sign."""
    e, t = reader.emitter, reader.type(type)
    integer = vector(f"i{type.width}", reader.width)
    condition = vector("i1", reader.width)
    fraction = {16: 10, 32: 23, 64: 52}[type.width]
    unsigned = Type("u", type.width)
    exponent = reader.constant(((1 << (type.width - 1)) - 1) ^ ((1 << fraction) - 1), unsigned)
    sign = reader.constant(1 << (type.width - 1), unsigned)
    bits = e.let(f"bitcast {t} {value} to {integer}")
    small = e.let(f"icmp eq {integer} {e.let(f'and {integer} {bits}, {exponent}')}, zeroinitializer")
    zero = e.let(f"and {integer} {bits}, {sign}")
    chosen = e.let(f"select {condition} {small}, {integer} {zero}, {integer} {bits}")
    return e.let(f"bitcast {integer} {chosen} to {t}")


def clamped(reader: Reader, value: str, type: Type) -> str:
    """The clamp modifier: into [0, 1], NaN to 0 (DX10_CLAMP, which HIP always sets)."""
    e, condition = reader.emitter, vector("i1", reader.width)
    zero, one = reader.constant(0.0, type), reader.constant(1.0, type)
    t = reader.type(type)
    above_zero = e.let(f"fcmp ogt {t} {value}, {zero}")
    value = e.let(f"select {condition} {above_zero}, {t} {value}, {t} {zero}")
    above_one = e.let(f"fcmp ogt {t} {value}, {one}")
    return e.let(f"select {condition} {above_one}, {t} {one}, {t} {value}")


def scaled(reader: Reader, value: str, type: Type, instruction: Instruction, mode: Mode) -> str:
    """The output modifiers mul:2, mul:4, div:2. The hardware ignores them in IEEE mode and where it keeps denormals."""
    if mode.bits >> 9 & 1 or not mode.flushes_output(type.width):
        return value
    multiplier = instruction.modifiers.get("mul")
    divisor = instruction.modifiers.get("div")
    factor = float(multiplier) if isinstance(multiplier, int) else 1.0 / divisor if isinstance(divisor, int) else 1.0
    if factor == 1.0:
        return value
    t = reader.type(type)
    return reader.emitter.let(f"fmul {t} {value}, {reader.constant(factor, type)}")
