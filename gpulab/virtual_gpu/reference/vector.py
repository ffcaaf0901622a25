"""`VectorRows`: rows that are expressions, for each active lane.

What is around all rows is here: halves, packing, SDWA, DPP and lane masks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gpulab.errors import InternalError
from gpulab.virtual_gpu import isa
from gpulab.virtual_gpu.isa.expression import Type, b1, u16, u32, u64
from gpulab.virtual_gpu.isa.instruction import Literal, Operand, Register
from gpulab.virtual_gpu.isa.row import Parameter, Row
from gpulab.virtual_gpu.reference.values import (
    MASK32,
    UNSIGNED,
    denormals,
    dpp_source,
    flush,
    from_float64,
    literal_bits,
    mask_of,
    output_modifiers,
    sdwa_insert,
    sdwa_select,
    to_float64,
)

if TYPE_CHECKING:
    from gpulab.virtual_gpu.reference.values import Bits

from gpulab.virtual_gpu.reference.operands import Operands, Writes

_FLUSHED_PACKED = {"f16": Type("f", 16), "bf16": Type("bf", 16), "f32": Type("f", 32)}


class VectorRows(Operands):
    """Executes them on one wave."""

    def vector_row(self, row: Row) -> Writes:
        wave, item = self.wave, self.item
        results, values = row.graph()
        destinations, sources = self.split(row)
        if wave.gpr_indexing:
            destinations = [self.indexed(o, 8) for o in destinations]
            sources = [self.indexed(o, 1 << i) for i, o in enumerate(sources)]
        explicit = [p for p in row.parameters if not p.implicit]
        if len(sources) < len(explicit):
            raise self.unsupported(f"it has {len(sources)} sources, its row {len(explicit)}")
        write = allowed = wave.active()
        path = dpp_source(item.modifiers, wave.size)
        arguments: list[Bits] = []
        position = 0
        for parameter in row.parameters:
            if parameter.implicit:
                arguments.append(self.implicit_vector(parameter, row, destinations))
                continue
            move = None
            if path is not None and position == 0:
                allowed = write & self.dpp_allowed()
                write = allowed & self.dpp_enabled(path[0])
                move = path[0]
            bits = self.source(row, parameter, sources[position], position, move)
            if parameter.type.is_float and row.float_mode and not denormals(wave.mode, parameter.type) & 1:
                bits = flush(bits, parameter.type)
            arguments.append(bits)
            position += 1
        found = self.evaluate(row, values, arguments)
        writes: Writes = []
        named = iter(destinations)
        for result, bits in zip(results, found, strict=True):
            if result.type == b1:
                writes.append(self.mask_result(row, result.name, bits.astype(bool), named, write, allowed))
            else:
                writes.append(self.vector_result(row, result.name, result.type, bits, named, write))
        return writes

    def vector_result(self, row: Row, name: str, type: Type, bits: Bits, named: Any, write: Bits) -> Callable[[], None]:
        wave = self.wave
        explicit = name in ("dst", "sdst")
        if not explicit:
            scalar = int(bits[0])
            return lambda: self.set_special(name, scalar, type.width)
        target = next(named)
        item = self.item
        takes_clamp = any(p.name == "clamp" for p in row.parameters)
        if row.float_mode and type.is_float:
            modifiers = {k: v for k, v in item.modifiers.items() if k in ("mul", "div", "clamp") and not takes_clamp}
            bits = output_modifiers(bits, type, modifiers, wave.mode)
        elif row.packed == "pairs" and row.element in _FLUSHED_PACKED:
            bits = self.packed_result(bits, type, _FLUSHED_PACKED[row.element], row)
        if type.width == 64:
            return lambda: self.set_vector(target, bits, 64, write)
        register = target.value
        if not isinstance(register, Register) or register.file not in ("v", "a"):
            raise self.unsupported("a scalar destination of a vector result")
        old = self.words(register)[0].copy()
        if "dst_sel" in item.modifiers or item.encoding == "sdwa":
            words = sdwa_insert(
                old,
                bits.astype(np.uint32),
                str(item.modifiers.get("dst_sel", "DWORD")),
                str(item.modifiers.get("dst_unused", "UNUSED_PRESERVE")),
            )
        elif type.width <= 16:
            words = self.place_half(row, old, bits.astype(np.uint32), target)
        else:
            words = bits.astype(np.uint32)
        return lambda: self.set_vector(target, words, 32, write)

    def mask_result(
        self, row: Row, name: str, bits: Bits, named: Any, write: Bits, allowed: Bits
    ) -> Callable[[], None]:
        """A lane mask. Inactive lanes, and those that DPP's row and bank masks exclude, give 0; an active lane without
        a valid DPP source (it is not in `write`) keeps its bit."""
        wave = self.wave
        target = next(named) if name in ("dst", "sdst") else None
        if name == "scc":
            raise InternalError(f"{row.mnemonic} writes SCC")
        if target is not None:
            kept = write.all() or (isinstance(target.value, Register) and target.value.name == "null")
            old = 0 if kept else self.scalar(Operand(target.value), Type("u", wave.size))
        else:
            old = int(getattr(wave, name)) & wave.full
        mask = mask_of(np.where(write, bits, wave.lanes(old)) & allowed)
        if target is not None:
            return lambda: self.set_scalar(target, mask, wave.size)
        return lambda: self.set_special(name, mask, wave.size)

    def place_half(self, row: Row, old: Bits, bits: Bits, target: Operand) -> Bits:
        """A 16-bit result in its half of the register; `isa.high_half` says what becomes of the other."""
        op_sel = self.item.modifiers.get("op_sel", ())
        explicit = sum(not p.implicit for p in row.parameters)
        high = target.half == "h" or (isinstance(op_sel, tuple) and len(op_sel) > explicit and bool(op_sel[-1]))
        high = high or row.into_high
        if high:
            return old & np.uint32(0xFFFF) | bits << np.uint32(16)
        keep = target.half == "l" or isa.high_half(self.machine.program.arch, row) == "keep"
        return (old & np.uint32(0xFFFF0000) | bits) if keep else bits

    def packed_result(self, bits: Bits, type: Type, element: Type, row: Row) -> Bits:
        """Clamp and denormal flushing of each half of a packed result."""
        if type.width != 2 * element.width:
            return bits
        unsigned = UNSIGNED[element.width]
        takes_clamp = any(p.name == "clamp" for p in row.parameters)
        modifiers = {} if takes_clamp else {"clamp": self.item.modifiers.get("clamp")}
        shift = bits.dtype.type(element.width)
        low = output_modifiers(bits.astype(unsigned), element, modifiers, self.wave.mode)
        high = output_modifiers((bits >> shift).astype(unsigned), element, modifiers, self.wave.mode)
        return low.astype(bits.dtype) | high.astype(bits.dtype) << shift

    def implicit_vector(self, parameter: Parameter, row: Row, destinations: Sequence[Operand]) -> Bits:
        wave, name, type = self.wave, parameter.name, parameter.type
        if name in ("dst", "sdst"):
            operand = destinations[0 if name == "dst" else 1]
            op_sel = self.item.modifiers.get("op_sel", ())
            explicit = sum(not p.implicit for p in row.parameters)
            if type.width == 16 and isinstance(op_sel, tuple) and len(op_sel) > explicit and op_sel[-1]:
                operand = Operand(operand.value, half="h")
            bits = self.raw(operand, type)
            if type.is_float and row.float_mode and not denormals(wave.mode, type) & 1:
                bits = flush(bits, type)
            return bits
        if name == "lane":
            return np.arange(wave.size, dtype=np.uint32)
        if name == "vcc" and type == b1:
            return wave.lanes(wave.vcc)
        if name == "clamp":
            return np.full(wave.size, bool(self.item.modifiers.get("clamp")))
        if name in ("neg", "op_sel"):
            flags = self.item.modifiers.get("neg_lo" if name == "neg" else name, ())
            number = sum(1 << i for i, on in enumerate(flags if isinstance(flags, tuple) else ()) if on)
            return np.full(wave.size, number, np.uint32)
        if name in ("bitop3", "byte_sel"):
            return np.full(wave.size, self.offset(name), np.uint32)
        number = int(getattr(wave, name))
        if type == b1:
            return np.full(wave.size, bool(number))
        return np.full(wave.size, number & ((1 << type.width) - 1), UNSIGNED[type.width])

    def dpp_valid(self, source: list[int]) -> Bits:
        """The lanes whose DPP source exists and may be read: active, or any with fi."""
        active = np.full(self.wave.size, True) if self.item.modifiers.get("fi") else self.wave.active()
        return np.array([s >= 0 and bool(active[max(s, 0)]) for s in source])

    def dpp_enabled(self, source: list[int]) -> Bits:
        """The lanes that have a valid source or need none."""
        modifiers = self.item.modifiers
        zeroes = modifiers.get("bound_ctrl") or "dpp8" in modifiers
        return np.full(self.wave.size, True) if zeroes else self.dpp_valid(source)

    def dpp_allowed(self) -> Bits:
        """The lanes that DPP's row and bank masks let the instruction write."""
        modifiers = self.item.modifiers
        lane = np.arange(self.wave.size)
        rows, banks = (modifiers.get(name, 15) for name in ("row_mask", "bank_mask"))
        if not isinstance(rows, int) or not isinstance(banks, int):
            raise self.unsupported("these DPP masks")
        return ((rows >> (lane // 16)) & 1).astype(bool) & ((banks >> (lane // 4 % 4)) & 1).astype(bool)

    def through_dpp(self, bits: Bits, source: list[int]) -> Bits:
        """A register as DPP moves it; 0 where there is no source lane."""
        moved = bits[np.array([max(s, 0) for s in source])]
        return np.where(self.dpp_valid(source), moved, np.zeros_like(moved))

    def source(
        self, row: Row, parameter: Parameter, operand: Operand, position: int, move: list[int] | None = None
    ) -> Bits:
        """One explicit source: halves, packing, SDWA selection, DPP's movement, then abs and neg (or sext)."""
        modifiers, type = self.item.modifiers, parameter.type

        def flag(name: str, default: int) -> int:
            values = modifiers.get(name, ())
            return values[position] if isinstance(values, tuple) and position < len(values) else default

        if row.packed == "pairs" and type in (u32, u64):
            return self.packed_source(row, type, operand, flag)
        if row.packed == "mix" and type.width == 32:
            if flag("op_sel_hi", 0):
                half = self.sixteen(operand, flag("op_sel", 0))
                bits = from_float64(to_float64(half, Type("f", 16)), type)
            else:
                bits = self.raw(operand, type)
            if flag("neg_hi", 0) or operand.abs:
                bits = bits & np.uint32(0x7FFFFFFF)
            if flag("neg_lo", 0) ^ operand.neg:
                bits = bits ^ np.uint32(0x80000000)
            return bits
        select = modifiers.get(f"src{position}_sel")
        register = operand.value
        is_vector = isinstance(register, Register) and register.file in ("v", "a")
        if (select or self.item.encoding == "sdwa") and type.width <= 32 and type != b1:
            if is_vector:
                words = self.words(register)[0]  # type: ignore[arg-type]
            else:
                words = np.full(self.wave.size, self.scalar(Operand(register), u32), np.uint32)
            words = sdwa_select(words, str(select or "DWORD"), operand.sext)
            bits = words.astype(UNSIGNED[type.width])
        elif type.width == 16 and isinstance(register, Register) and not operand.half and flag("op_sel", 0):
            bits = (self.raw(Operand(register), u32) >> np.uint32(16)).astype(np.uint16)
        else:
            bits = self.raw(operand, type)
        if move is not None:
            bits = self.through_dpp(bits, move)
        if type != b1:
            sign = bits.dtype.type(1 << (type.width - 1))
            if operand.abs:
                bits = bits & ~sign
            if operand.neg or (row.packed == "pairs" and flag("neg_lo", 0)):
                bits = bits ^ sign
        return bits

    def sixteen(self, operand: Operand, high: int) -> Bits:
        """One 16-bit half of a source; constants have their 16-bit float form."""
        if isinstance(operand.value, Register):
            words = self.raw(Operand(operand.value), u32)
            return (words >> np.uint32(16) if high else words).astype(np.uint16)
        bits = self.scalar(Operand(operand.value), Type("f", 16) if isinstance(operand.value, Literal) else u16)
        return np.full(self.wave.size, bits, np.uint16)

    def packed_source(self, row: Row, type: Type, operand: Operand, flag: Callable[[str, int], int]) -> Bits:
        value = operand.value
        half = type.width // 2
        if isinstance(value, Register):
            bits = self.raw(Operand(value), type)
        elif isinstance(value, Literal):
            number = self.packed_constant(row, value, half)
            if half == 32:
                number |= number << 32
            bits = np.full(self.wave.size, number, UNSIGNED[type.width])
        else:
            bits = np.full(self.wave.size, self.scalar(operand, type), UNSIGNED[type.width])
        wide = bits.dtype.type
        ones = wide((1 << half) - 1)
        parts = (bits & ones, bits >> wide(half))
        low, high = parts[flag("op_sel", 0)], parts[flag("op_sel_hi", 1)]
        sign = wide(1 << (half - 1))
        if not any(p.name == "neg" for p in row.parameters):
            low = low ^ sign if flag("neg_lo", 0) else low
            high = high ^ sign if flag("neg_hi", 0) else high
        element = _FLUSHED_PACKED.get(row.element)
        if element is not None and element.width == half and not denormals(self.wave.mode, element) & 1:
            unsigned = UNSIGNED[half]
            low = flush(low.astype(unsigned), element).astype(bits.dtype)
            high = flush(high.astype(unsigned), element).astype(bits.dtype)
        return low | high << wide(half)

    def packed_constant(self, row: Row, value: Literal, half: int) -> int:
        """A constant's bits in a packed source: a 16-bit float is in the low half; for integers a float is an f32."""
        if half == 32:
            return literal_bits(value, Type("f" if row.element == "f32" else "u", 32))
        number = value.value
        if value.is_float:
            return literal_bits(value, {"f16": Type("f", 16), "bf16": Type("bf", 16)}.get(row.element, u32))
        if -16 <= int(number) <= 64:
            return int(number) & (0xFFFF if int(number) >= 0 else MASK32)
        return int(number) & MASK32
