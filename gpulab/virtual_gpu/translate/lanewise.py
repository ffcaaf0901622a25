"""Vector ALU rows inside a run's loop: sources with their modifiers, the row's expression, results (`Lanewise`)."""

from __future__ import annotations

from collections.abc import Callable

from gpulab.virtual_gpu.isa import high_half
from gpulab.virtual_gpu.isa.expression import Type, b1, f16
from gpulab.virtual_gpu.isa.instruction import Instruction, Literal, Operand, Register
from gpulab.virtual_gpu.isa.row import Parameter, Row
from gpulab.virtual_gpu.translate.captured import (
    Captured,
    Condition,
    Gathered,
    Item,
    LaneNumber,
    Mask,
    Pending,
    Scalar,
    Vector,
    mask_number,
)
from gpulab.virtual_gpu.translate.chunk import Chunk
from gpulab.virtual_gpu.translate.decode import ACC, literal_bits
from gpulab.virtual_gpu.translate.emitter import Emitter, Integer, Joined, Value, signed, splat, splats
from gpulab.virtual_gpu.translate.modes import Mode, clamped, flushed_input, flushed_output, reader_of, scaled

_PACKED_FLOATS = {"f16": Type("f", 16), "f32": Type("f", 32)}


class Lanewise:
    """Emits one instruction for one chunk of lanes."""

    def __init__(self, emitter: Emitter, wave_size: int, arch: str) -> None:
        self.emitter, self.wave_size, self.arch = emitter, wave_size, arch

    def compute(self, chunk: Chunk, item: Item) -> list[Callable[[], None]]:
        decoded, row = item.decoded, item.decoded.row
        assert isinstance(row, Row)
        arguments: list[Value] = []
        position = 0
        for (parameter, operand), captured in zip(decoded.sources, item.sources, strict=True):
            arguments.append(self._source(chunk, item, row, parameter, operand, captured, position))
            position += not parameter.implicit
        _, graph = row.graph()
        values = reader_of(chunk.reader, row.rounds, item.mode).read(graph, arguments)
        if chunk.lines is not None:
            chunk.lines.computed(values, graph, arguments)
        writes = []
        for (result, operand), value in zip(decoded.results, values, strict=True):
            writes.append(self._result(chunk, item, row, result.name, result.type, operand, value))
        return writes

    def _source(
        self,
        chunk: Chunk,
        item: Item,
        row: Row,
        parameter: Parameter,
        operand: Operand | None,
        captured: Captured | None,
        position: int,
    ) -> Value:
        e, type, instruction = self.emitter, parameter.type, item.decoded.instruction
        assert captured is not None, (instruction.text, parameter)
        modifiers, wide = instruction.modifiers, type.width == 64
        match captured:
            case Condition():
                return splat(e, "i1", captured.value)
            case LaneNumber():
                return chunk.lanes
            case Pending():
                return chunk.masks[captured.number]
            case Mask():
                return self._lane_bits(chunk, captured.value)
            case Vector():
                raw = chunk.get_pair(captured.number) if wide else chunk.get(captured.number)
            case Gathered():
                raw = self._gathered(chunk, captured.pointer, wide)
            case Scalar():
                raw = chunk.spread(captured.value, captured.width)
                if parameter.implicit:
                    return splat(e, f"i{type.width}", raw) if isinstance(raw, Integer) else raw
        if instruction.encoding == "sdwa" and not parameter.implicit:
            raw = self._selected(raw, str(modifiers.get(f"src{position}_sel", "DWORD")), bool(operand and operand.sext))
        if row.packed == "pairs" and not parameter.implicit and type.kind == "u":
            raw = self._halves(raw, instruction, row, position, wide)
            element = _PACKED_FLOATS.get(row.element)
            mode = item.mode
            flushes = element is not None and mode.clear(e, 4 if element.width == 32 else 6) is not False
            if element is not None and element.width * 2 == type.width and flushes:
                raw = self._each_half(
                    chunk, raw, element, lambda value: flushed_input(chunk.reader, mode, value, element)
                )
        if row.packed == "mix" and not parameter.implicit:
            value = self._mixed(raw, instruction, operand, position)
            return flushed_input(chunk.reader, item.mode, value, type)
        if type.width in (8, 16):
            named = operand.half if operand is not None else ""
            high = named == "h" if named else not parameter.implicit and _bit(instruction, "op_sel", position)
            if parameter.implicit:
                high = self._high_result(item, parameter.name)
            if high:
                raw = e.let(f"lshr {e.v32} {raw}, splat (i32 16)")
            raw = e.let(f"trunc {e.v32} {raw} to <{e.lanes} x i{type.width}>")
        elif type.width == 32 and operand is not None and operand.half == "h":  # the shift of v_alignbit_b32 on gfx11
            raw = e.let(f"lshr {e.v32} {raw}, splat (i32 16)")
        negate = bool(operand and operand.neg)
        if row.packed == "pairs" and type.kind != "u" and _bit(instruction, "neg_lo", position):
            negate = not negate
        return self._modified(chunk, raw, type, operand, negate, row, item.mode, parameter)

    def _gathered(self, chunk: Chunk, pointer: Value, wide: bool) -> Value:
        e = self.emitter
        offset = e.let(f"shl i64 {chunk.number}, {e.shift + 2}")
        place = e.let(f"getelementptr i8, ptr {pointer}, i64 {offset}")
        low = e.let(f"load {e.v32}, ptr {place}, align {e.align}")
        if not wide:
            return low
        above = e.let(f"getelementptr i8, ptr {place}, i64 {4 * self.wave_size}")
        return Joined(e, low, e.let(f"load {e.v32}, ptr {above}, align {e.align}"))

    def _modified(
        self,
        chunk: Chunk,
        raw: Value,
        type: Type,
        operand: Operand | None,
        negate: bool,
        row: Row,
        mode: Mode,
        parameter: Parameter,
    ) -> Value:
        """Absolute value, sign and denormal flush on the bits of a source, then its own type."""
        e = self.emitter
        vector = f"<{e.lanes} x i{type.width}>"
        if operand is not None and not parameter.implicit:
            sign = 1 << (type.width - 1)
            if operand.abs:
                raw = e.let(f"and {vector} {raw}, splat (i{type.width} {signed(~sign, type.width)})")
            if negate:
                raw = e.let(f"xor {vector} {raw}, splat (i{type.width} {signed(sign, type.width)})")
        if not type.is_float or type.kind == "bf":
            return raw
        value: Value = e.let(f"bitcast {vector} {raw} to {chunk.reader.type(type)}")
        if row.float_mode:
            value = flushed_input(chunk.reader, mode, value, type)
        return value

    def _selected(self, raw: Value, which: str, sign: bool) -> Value:
        """SDWA: one byte or half of a source, extended to 32 bits."""
        e = self.emitter
        if which == "DWORD":
            return raw
        kind, _, n = which.partition("_")
        width = 8 if kind == "BYTE" else 16
        left = 32 - width - width * int(n)
        up = e.let(f"shl {e.v32} {raw}, splat (i32 {left})") if left else raw
        return e.let(f"{'ashr' if sign else 'lshr'} {e.v32} {up}, splat (i32 {32 - width})")

    def _halves(self, raw: Value, instruction: Instruction, row: Row, position: int, wide: bool) -> Value:
        """op_sel, op_sel_hi, neg_lo and neg_hi of a packed source."""
        e = self.emitter
        from_high = _bit(instruction, "op_sel", position), _bit(instruction, "op_sel_hi", position, True)
        own = any(p.name == "neg" for p in row.parameters)  # then the row itself negates
        negated = [not own and _bit(instruction, name, position) for name in ("neg_lo", "neg_hi")]
        if wide:
            low, high = (e.high(raw) if above else e.low(raw) for above in from_high)
            sign = f"splat (i32 {signed(1 << 31, 32)})"
            parts = zip((low, high), negated, strict=True)
            low, high = (e.let(f"xor {e.v32} {part}, {sign}") if negate else part for part, negate in parts)
            return Joined(e, low, high)
        if from_high != (False, True):
            if from_high[0]:
                low = e.let(f"lshr {e.v32} {raw}, splat (i32 16)")
            else:
                low = e.let(f"and {e.v32} {raw}, splat (i32 {0xFFFF})")
            if from_high[1]:
                high = e.let(f"and {e.v32} {raw}, splat (i32 {signed(0xFFFF0000, 32)})")
            else:
                high = e.let(f"shl {e.v32} {raw}, splat (i32 16)")
            raw = e.let(f"or {e.v32} {low}, {high}")
        flips = negated[0] << 15 | negated[1] << 31
        if flips:
            raw = e.let(f"xor {e.v32} {raw}, splat (i32 {signed(flips, 32)})")
        return raw

    def _each_half(self, chunk: Chunk, raw: Value, element: Type, change: Callable[[Value], Value]) -> Value:
        """Change both halves of a packed value as floats."""
        e = self.emitter
        narrow, kind = f"<{e.lanes} x i{element.width}>", chunk.reader.type(element)

        def changed(part: Value) -> Value:
            return e.let(f"bitcast {kind} {change(e.let(f'bitcast {narrow} {part} to {kind}'))} to {narrow}")

        if element.width == 32:
            return Joined(e, changed(e.low(raw)), changed(e.high(raw)))
        halves = []
        for part in (raw, e.let(f"lshr {e.v32} {raw}, splat (i32 16)")):
            half = changed(e.let(f"trunc {e.v32} {part} to {narrow}"))
            halves.append(e.let(f"zext {narrow} {half} to {e.v32}"))
        return e.let(f"or {e.v32} {e.let(f'shl {e.v32} {halves[1]}, splat (i32 16)')}, {halves[0]}")

    def _mixed(self, raw: Value, instruction: Instruction, operand: Operand | None, position: int) -> Value:
        """A source of v_fma_mix*: f32, or one half of the register as f16, widened."""
        e = self.emitter
        f32 = f"<{e.lanes} x float>"
        if _bit(instruction, "op_sel_hi", position, False):
            if operand is not None and isinstance(operand.value, Literal):  # a constant is a half here, too
                raw = splats(32, literal_bits(operand.value, f16))
            elif _bit(instruction, "op_sel", position):
                raw = e.let(f"lshr {e.v32} {raw}, splat (i32 16)")
            half = e.let(f"bitcast {e.v16} {e.let(f'trunc {e.v32} {raw} to {e.v16}')} to <{e.lanes} x half>")
            value = e.let(f"fpext <{e.lanes} x half> {half} to {f32}")
        else:
            value = e.let(f"bitcast {e.v32} {raw} to {f32}")
        if _bit(instruction, "neg_hi", position) or (operand and operand.abs):
            value = e.call(f32, f"llvm.fabs.v{e.lanes}f32", f"{f32} {value}")
        if _bit(instruction, "neg_lo", position) != bool(operand and operand.neg):
            value = e.let(f"fneg {f32} {value}")
        return value

    def _named_half(self, item: Item, name: str) -> bool:
        """Whether the text names a half of the register of the result `name`."""
        return any(r.name == name and o is not None and o.half for r, o in item.decoded.results)

    def _high_result(self, item: Item, name: str) -> bool:
        """Whether the 16-bit result `name` goes to the high half of its register."""
        operand = next((o for r, o in item.decoded.results if r.name == name), None)
        if operand is not None and operand.half:
            return operand.half == "h"
        if isinstance(item.decoded.row, Row) and item.decoded.row.into_high:
            return True
        given = item.decoded.instruction.modifiers.get("op_sel")
        count = sum(1 for p, _ in item.decoded.sources if not p.implicit)
        return isinstance(given, tuple) and len(given) > count and bool(given[count])

    def _result(
        self, chunk: Chunk, item: Item, row: Row, name: str, type: Type, operand: Operand | None, value: Value
    ) -> Callable[[], None]:
        e, instruction, mode = self.emitter, item.decoded.instruction, item.mode
        if type == b1:
            number = mask_number(name, type, operand)
            if item.only is not None and number is not None:
                # A lane without a valid source keeps its bit; one that the row or bank mask excludes gives 0.
                written, allowed = self._lane_bits(chunk, item.only), self._lane_bits(chunk, item.allowed)
                old = self._lane_bits(chunk, item.masks[number])
                value = e.let(f"select {e.v1} {written}, {e.v1} {value}, {e.v1} {old}")
                value = e.let(f"and {e.v1} {value}, {allowed}")
            whole = chunk.bits == Integer(-1)  # all lanes are active for certain
            active = value if whole else e.let(f"and {e.v1} {value}, {chunk.active}")
            if chunk.lines is not None and not whole:
                chunk.lines.masked(active, value)

            def write_mask() -> None:
                if number is not None:
                    chunk.masks[number] = active

            return write_mask
        assert operand is not None, instruction.text
        assert isinstance(operand.value, Register), instruction.text
        register = operand.value.index + (ACC if operand.value.file == "a" else 0)
        if type.is_float and row.float_mode:
            if type.kind == "f":
                value = scaled(chunk.reader, value, type, instruction, mode)
                value = flushed_output(chunk.reader, mode, value, type)
            if instruction.modifiers.get("clamp"):
                value = clamped(chunk.reader, mode, value, type)
        if type.is_float and type.kind == "f":
            value = e.let(f"bitcast {chunk.reader.type(type)} {value} to <{e.lanes} x i{type.width}>")
        element = _PACKED_FLOATS.get(row.element) if row.packed == "pairs" and not type.is_float else None
        if element is not None and element.width * 2 == type.width:
            clamps = instruction.modifiers.get("clamp") and not any(p.name == "clamp" for p in row.parameters)
            if mode.clear(e, 5 if element.width == 32 else 7) is not False:
                value = self._each_half(
                    chunk, value, element, lambda half: flushed_output(chunk.reader, mode, half, element)
                )
            if clamps:
                value = self._each_half(chunk, value, element, lambda half: clamped(chunk.reader, mode, half, element))
        if type.width < 32:
            value = self._narrow(chunk, item, row, type, value, register, name)
        if instruction.encoding == "sdwa" and type.width <= 32:
            value = self._placed(chunk, value, instruction, register)
        if item.only is not None:
            lanes = self._lane_bits(chunk, item.only)
            if type.width == 64:
                olds = chunk.get(register), chunk.get(register + 1)
                low, high = (
                    e.let(f"select {e.v1} {lanes}, {e.v32} {new}, {e.v32} {old}")
                    for new, old in zip((e.low(value), e.high(value)), olds, strict=True)
                )
                value = Joined(e, low, high)
            else:
                value = e.let(f"select {e.v1} {lanes}, {e.v32} {value}, {e.v32} {chunk.get(register)}")

        def write() -> None:
            if type.width == 64:
                chunk.set_pair(register, value)
            else:
                chunk.set(register, value)

        return write

    def _lane_bits(self, chunk: Chunk, mask: Value) -> Value:
        """The chunk's lanes of an i64 mask."""
        e = self.emitter
        return e.let(f"bitcast {e.byte} {e.part(mask, chunk.number)} to {e.v1}")

    def _narrow(self, chunk: Chunk, item: Item, row: Row, type: Type, value: Value, register: int, name: str) -> Value:
        """An 8- or 16-bit result in its register: which half, and what becomes of the other."""
        e = self.emitter
        wide = e.let(f"zext <{e.lanes} x i{type.width}> {value} to {e.v32}")
        if type.width != 16 or item.decoded.instruction.encoding == "sdwa":
            return wide
        high = self._high_result(item, name)
        keep = high or self._named_half(item, name) or high_half(self.arch, row) == "keep"
        if high:
            wide = e.let(f"shl {e.v32} {wide}, splat (i32 16)")
        if not keep:
            return wide
        rest = e.let(f"and {e.v32} {chunk.get(register)}, splat (i32 {0xFFFF if high else -65536})")
        return e.let(f"or {e.v32} {wide}, {rest}")

    def _placed(self, chunk: Chunk, value: Value, instruction: Instruction, register: int) -> Value:
        """SDWA: a result in one byte or half of its register."""
        e = self.emitter
        which = str(instruction.modifiers.get("dst_sel", "DWORD"))
        if which == "DWORD":
            return value
        kind, _, n = which.partition("_")
        width = 8 if kind == "BYTE" else 16
        shift = width * int(n)
        unused = str(instruction.modifiers.get("dst_unused", "UNUSED_PRESERVE"))  # LLVM's default
        up = e.let(f"shl {e.v32} {value}, splat (i32 {32 - width})")
        if unused == "UNUSED_SEXT":
            down = e.let(f"ashr {e.v32} {up}, splat (i32 {32 - width})")
            return e.let(f"shl {e.v32} {down}, splat (i32 {shift})") if shift else down
        down = e.let(f"lshr {e.v32} {up}, splat (i32 {32 - width - shift})") if 32 - width - shift else up
        if unused == "UNUSED_PAD":
            return down
        rest = signed(~(((1 << width) - 1) << shift), 32)
        return e.let(f"or {e.v32} {down}, {e.let(f'and {e.v32} {chunk.get(register)}, splat (i32 {rest})')}")


def _bit(instruction: Instruction, name: str, position: int, default: bool = False) -> bool:
    given = instruction.modifiers.get(name)
    if isinstance(given, tuple):
        return bool(given[position]) if position < len(given) else default
    return default
