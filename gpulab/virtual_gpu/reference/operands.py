"""`Operands` turns the operands of one instruction into bits and back, on one wave.

Bits are the only currency: registers, sources and results are unsigned integers (Python integers for scalars, numpy
arrays of one element per lane for vectors); a row's own types come in only when its expression is evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gpulab.errors import InternalError, UnsupportedInstruction
from gpulab.virtual_gpu import dispatch
from gpulab.virtual_gpu.isa.expression import Type, b1
from gpulab.virtual_gpu.isa.instruction import Instruction, Literal, Operand, Register, Symbol
from gpulab.virtual_gpu.isa.row import Row
from gpulab.virtual_gpu.reference.numpy_reader import dtype, evaluate
from gpulab.virtual_gpu.reference.values import MASK32, MASK64, UNSIGNED, literal_bits

if TYPE_CHECKING:
    from gpulab.virtual_gpu.reference.values import Bits

from gpulab.virtual_gpu.reference.state import Group, Wave

Writes = list[Callable[[], None]]
"""What an instruction does at last: both halves of a dual instruction read before either writes."""


class Operands:
    """Reads and writes the operands of one instruction on one wave."""

    def indexed(self, operand: Operand, enable: int) -> Operand:
        """gfx9's register indexing: m0[7:0] is added to a VGPR number where m0[15:12] has the operand's bit."""
        register, m0 = operand.value, self.wave.m0
        if not (m0 >> 12 & enable) or not isinstance(register, Register) or register.file != "v":
            return operand
        return replace(operand, value=replace(register, index=register.index + (m0 & 255)))

    def __init__(self, machine: Group, wave: Wave, item: Instruction, index: int) -> None:
        self.machine, self.wave, self.item, self.index = machine, wave, item, index
        self.partial: dict[int, tuple[int, int]] = {}  # of a buffer access: lanes partly inside

    # -- scalars

    def scalar(self, operand: Operand, type: Type) -> int:
        """The bits of a scalar source."""
        value = operand.value
        if isinstance(value, Literal):
            bits = literal_bits(value, type)
        elif isinstance(value, Symbol):
            bits = dispatch.relocated(value, self.index, self.machine.program, self.machine.addresses)
        elif isinstance(value, Register):
            bits = self.scalar_register(value, type.width)
        else:
            raise self.unsupported(f"the operand {value.text}")
        if operand.abs:
            bits &= ~(1 << (type.width - 1))
        if operand.neg:
            bits ^= 1 << (type.width - 1)
        return bits & ((1 << type.width) - 1)

    def scalar_register(self, register: Register, width: int) -> int:
        wave = self.wave
        if register.file == "s":
            bits = sum(wave.s[register.index + i] << 32 * i for i in range(register.count))
            return bits & ((1 << max(width, 1)) - 1) if width > 1 else bits
        if register.file in ("v", "a"):
            raise self.unsupported("a vector register as a scalar source")
        name = register.name
        if name in ("vcc", "exec", "flat_scratch", "xnack_mask"):
            return getattr(wave, name) >> 32 * register.index & (MASK64 if register.count == 2 else MASK32)
        if name == "m0":
            return wave.m0
        if name == "scc":
            return wave.scc
        if name == "null":
            return 0
        if name == "vccz":
            return int(wave.vcc & wave.full == 0)
        if name == "execz":
            return int(wave.exec & wave.full == 0)
        if name == "ttmp":
            return sum(wave.ttmp[register.index + i] << 32 * i for i in range(register.count))
        aperture = {"src_shared_base": dispatch.SHARED_APERTURE, "src_private_base": dispatch.PRIVATE_APERTURE}.get(
            name
        )
        if aperture is None and name in ("src_shared_limit", "src_private_limit"):
            base = dispatch.SHARED_APERTURE if "shared" in name else dispatch.PRIVATE_APERTURE
            aperture = base | MASK32
        if aperture is not None:
            return aperture if width == 64 else aperture >> 32
        raise self.unsupported(f"the register {name}")

    def set_scalar(self, operand: Operand, bits: int, width: int) -> None:
        """Write a scalar destination of `width` bits (a multiple of 32, or a lane mask)."""
        wave, register = self.wave, operand.value
        if not isinstance(register, Register) or register.file in ("v", "a"):
            raise self.unsupported("this destination")
        words = max(1, (width + 31) // 32)
        if register.file == "s":
            for i in range(words):
                wave.s[register.index + i] = bits >> 32 * i & MASK32
        elif register.name in ("vcc", "exec", "flat_scratch", "xnack_mask"):
            shift = 32 * register.index
            mask = ((1 << 32 * words) - 1) << shift
            old = getattr(wave, register.name)
            setattr(wave, register.name, (old & ~mask | bits << shift & mask) & MASK64)
        elif register.name == "m0":
            wave.m0 = bits & MASK32
        elif register.name == "ttmp":
            for i in range(words):
                wave.ttmp[register.index + i] = bits >> 32 * i & MASK32
        elif register.name == "scc":
            wave.scc = bits & 1
        elif register.name != "null":
            raise self.unsupported(f"a write to {register.name}")

    # -- vectors

    def words(self, register: Register) -> Bits:
        """The [count, lane] array of a vector register run (a view)."""
        file = self.wave.v if register.file == "v" else self.wave.a
        return file[register.index : register.index + register.count]

    def raw(self, operand: Operand, type: Type) -> Bits:
        """One source as one unsigned integer per lane, before source modifiers; halves chosen by ``.h`` alone."""
        wave, value = self.wave, operand.value
        width = max(type.width, 8)
        if isinstance(value, Register) and value.file in ("v", "a"):
            words = self.words(value)
            if type == b1:
                raise self.unsupported("a vector register as a lane mask")
            if width == 64:
                if value.count < 2:
                    return words[0].astype(np.uint64)
                return words[0].astype(np.uint64) | words[1].astype(np.uint64) << np.uint64(32)
            result = words[0] >> np.uint32(16) if operand.half == "h" else words[0]
            return result.astype(UNSIGNED[width])
        plain = Operand(value)
        if type == b1:
            return wave.lanes(self.scalar(plain, Type("u", wave.size)))
        bits = self.scalar(plain, type)
        return np.full(wave.size, bits & ((1 << width) - 1), UNSIGNED[width])

    def set_vector(self, operand: Operand, bits: Bits, width: int, write: Bits) -> None:
        """Write whole registers (32 or 64 bits per lane) in the lanes of `write`."""
        register = operand.value
        if not isinstance(register, Register) or register.file not in ("v", "a"):
            raise self.unsupported("a scalar destination of a vector result")
        words = self.words(register)
        if width == 64:
            wide = bits.astype(np.uint64)
            words[0][write] = (wide & np.uint64(MASK32)).astype(np.uint32)[write]
            words[1][write] = (wide >> np.uint64(32)).astype(np.uint32)[write]
        else:
            words[0][write] = bits.astype(np.uint32)[write]

    def set_special(self, name: str, bits: int, width: int) -> None:
        wave = self.wave
        if name == "scc":
            wave.scc = bits & 1
        elif name in ("exec", "vcc"):
            mask = MASK64 if width == 64 else MASK32
            setattr(wave, name, getattr(wave, name) & ~mask | bits & mask)
        elif name == "m0":
            wave.m0 = bits & MASK32
        else:
            raise InternalError(f"row writes {name}")

    def vector_write(self, target: Operand, bits: Bits, write: Bits) -> Callable[[], None]:
        return lambda: self.set_vector(target, bits, 32, write)

    # -- the instruction

    def offset(self, name: str = "offset") -> int:
        value = self.item.modifiers.get(name, 0)
        if not isinstance(value, int):
            raise self.unsupported(f"{name}:{value}")
        return int(value)

    def split(self, row: Row) -> tuple[list[Operand], list[Operand]]:
        """Destination and source operands of the text."""
        results, _ = row.graph()
        count = sum(result.name in ("dst", "sdst") for result in results)
        operands: list[Operand] = []
        for operand in self.item.operands:
            register = operand.value
            if isinstance(register, Register) and register.count == 4 and register.file != "special":
                # a 128-bit operand (v_mqsad_u32_u8) is two of 64 bits
                operands += [
                    replace(operand, value=replace(register, index=register.index + i, count=2)) for i in (0, 2)
                ]
            else:
                operands.append(operand)
        explicit = sum(not p.implicit for p in row.parameters)
        if row.writes_exec and count == 0 and len(operands) == explicit + 1:
            operands = operands[1:]  # gfx10 and later write EXEC alone; e64 text may name it
        return operands[:count], operands[count:]

    def evaluate(self, row: Row, values: Sequence[Any], arguments: Sequence[Bits]) -> list[Bits]:
        """The row's expressions on bits; results as bits, b1 as booleans."""
        typed = [a if p.type == b1 else a.view(dtype(p.type)) for p, a in zip(row.parameters, arguments, strict=True)]
        found = evaluate(values, typed, self.wave.mode & (15 | 1 << 23) if row.rounds else 0)
        return [
            np.asarray(x) if v.type == b1 else np.ascontiguousarray(x).view(UNSIGNED[v.type.width])
            for v, x in zip(values, found, strict=True)
        ]

    def unsupported(self, what: str) -> UnsupportedInstruction:
        where = f" (line {self.item.where.line})" if self.item.where else ""
        return UnsupportedInstruction(f"the reference machine does not execute {self.item.text!r}{where}: {what}.")
