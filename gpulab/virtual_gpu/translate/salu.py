"""Scalar instructions: rows of unit "salu", scalar loads, and the scalar side of cross-lane reads."""

from __future__ import annotations

from collections.abc import Callable

from gpulab.virtual_gpu.isa.expression import Type
from gpulab.virtual_gpu.isa.instruction import Literal, Operand, Register, Symbol
from gpulab.virtual_gpu.isa.row import Memory, Row
from gpulab.virtual_gpu.translate import layout
from gpulab.virtual_gpu.translate.decode import Decoded, literal_bits, memory_operands, scalar_number
from gpulab.virtual_gpu.translate.emitter import Emitter, signed
from gpulab.virtual_gpu.translate.expressions import Reader, ir_type
from gpulab.virtual_gpu.translate.memory import Site
from gpulab.virtual_gpu.translate.modes import Mode, clamped, flushed, scaled
from gpulab.virtual_gpu.translate.scalars import Scalars


class Salu:
    """Emits scalar instructions into the current block; `special` gives registers without storage."""

    def __init__(
        self,
        emitter: Emitter,
        scalars: Scalars,
        site: Site,
        symbol: Callable[[Symbol, int], str],
        special: Callable[[str, int], str],
    ) -> None:
        self.emitter, self.scalars, self.site = emitter, scalars, site
        self.symbol, self.special = symbol, special
        self.reader = Reader(emitter, 1)

    def operand(self, operand: Operand, type: Type, index: int) -> str:
        """A scalar source as IR of the parameter's type (integers and floats; b1 for SCC as an operand)."""
        e, value = self.emitter, operand.value
        width = max(type.width, 1)
        if isinstance(value, Literal):
            raw = str(signed(literal_bits(value, type), width))
        elif isinstance(value, Symbol):
            raw = self.symbol(value, index)
            if width == 64:
                raw = e.let(f"sext i32 {raw} to i64")
        else:
            assert isinstance(value, Register), operand
            number = scalar_number(value)
            if number is None:
                raw = self.special(value.name, 64 if width == 64 else 32)
                if width < 32:
                    raw = e.let(f"trunc i32 {raw} to i{width}")
            elif width == 64:
                raw = (
                    self.scalars.pair(number)
                    if value.count > 1 or number == layout.NULL
                    else e.let(f"zext i32 {self.scalars.word(number)} to i64")
                )
            elif width == 32:
                raw = self.scalars.word(number)
            else:
                word = self.scalars.word(number)
                if operand.half == "h":
                    word = e.let(f"lshr i32 {word}, 16")
                raw = e.let(f"trunc i32 {word} to i{width}")
        if operand.neg or operand.abs:
            sign = 1 << (width - 1)
            if operand.abs:
                raw = e.let(f"and i{width} {raw}, {signed(~sign, width)}")
            if operand.neg:
                raw = e.let(f"xor i{width} {raw}, {signed(sign, width)}")
        if type.is_float and type.kind == "f":
            return e.let(f"bitcast i{width} {raw} to {ir_type(type)}")
        return raw

    def row(self, decoded: Decoded, mode: Mode) -> None:
        """Execute a scalar row."""
        e, row, scalars = self.emitter, decoded.row, self.scalars
        assert isinstance(row, Row)
        arguments: list[str] = []
        for parameter, operand in decoded.sources:
            name, width = parameter.name, parameter.type.width
            if not parameter.implicit or name in ("dst", "sdst"):
                assert operand is not None
                value = self.operand(operand, parameter.type, decoded.index)
                if row.float_mode and parameter.type.kind == "f" and mode.flushes_input(width):
                    value = flushed(self.reader, value, parameter.type)
                arguments.append(value)
            elif name == "scc":
                arguments.append(scalars.condition())
            elif name == "m0":
                arguments.append(scalars.word(layout.M0))
            elif name == "mode":
                arguments.append(str(mode.bits))
            elif name == "clamp":
                arguments.append("true" if decoded.instruction.modifiers.get("clamp") else "false")
            elif name in ("exec", "vcc"):
                number = layout.EXEC if name == "exec" else layout.VCC
                arguments.append(scalars.pair(number) if width == 64 else scalars.word(number))
            else:
                arguments.append("0")
        _, graph = row.graph()
        values = self.reader.read(graph, arguments)
        for (result, operand), value in zip(decoded.results, values, strict=True):
            type = result.type
            if type.kind == "f":
                if row.float_mode:
                    value = scaled(self.reader, value, type, decoded.instruction, mode)
                    if mode.flushes_output(type.width):
                        value = flushed(self.reader, value, type)
                    if decoded.instruction.modifiers.get("clamp"):
                        value = clamped(self.reader, value, type)
                value = e.let(f"bitcast {ir_type(type)} {value} to i{type.width}")
            if result.name == "scc":
                scalars.set_condition(value if type.width == 1 else e.let(f"icmp ne {ir_type(type)} {value}, 0"))
                continue
            if operand is None:
                number = {"exec": layout.EXEC, "vcc": layout.VCC, "m0": layout.M0}[result.name]
            else:
                assert isinstance(operand.value, Register)
                found = scalar_number(operand.value)
                if found is None:
                    continue
                number = found
            if type.width == 64:
                scalars.set_pair(number, value)
            elif type.width == 32:
                scalars.set_word(number, value)
            else:
                scalars.set_word(number, e.let(f"zext i{type.width} {value} to i32"))

    def load(self, decoded: Decoded, slot: int) -> None:
        """s_load: checked against the allocation used last, else by the support code."""
        e, row, site = self.emitter, decoded.row, self.site
        assert isinstance(row, Memory)
        instruction = decoded.instruction
        parts = memory_operands(instruction, row)
        if row.action != "load" or parts.destination is None or parts.address is None:
            return  # a prefetch
        base = parts.address.value
        assert isinstance(base, Register)
        assert isinstance(parts.destination.value, Register)
        number = scalar_number(base)
        assert number is not None
        address = self.scalars.pair(number)
        offset = 0
        if parts.scalar is not None:
            value = parts.scalar.value
            if isinstance(value, Literal):
                offset += int(value.value)
            elif isinstance(value, Register) and value.name != "null":
                register = scalar_number(value)
                assert register is not None
                address = e.let(f"add i64 {address}, {e.let(f'zext i32 {self.scalars.word(register)} to i64')}")
        extra = instruction.modifiers.get("offset", 0)
        offset += int(extra) if isinstance(extra, int) else 0
        if offset:
            address = e.let(f"add i64 {address}, {offset}")
        address = e.let(f"and i64 {address}, -4")  # the hardware ignores the two low bits
        count = max(1, row.element * row.count // 32)
        size = 4 * count
        entry = e.let(f"getelementptr i8, ptr {site.cache}, i64 {8 * slot}")
        from_ = e.let(f"zext i32 {e.let(f'load i32, ptr {entry}')} to i64")
        place = e.let(f"getelementptr i8, ptr {entry}, i64 4")
        room = e.let(f"zext i32 {e.let(f'load i32, ptr {place}')} to i64")
        relative = e.let(f"sub i64 {e.let(f'sub i64 {address}, {site.arena_number}')}, {from_}")
        start = e.let(f"icmp ult i64 {relative}, {room}")
        end = e.let(f"icmp ule i64 {e.let(f'add i64 {relative}, {size}')}, {room}")
        good, search = e.name("scalar_load"), e.name("scalar_search")
        e.branch(e.let(f"and i1 {start}, {end}"), good, search, likely=True)
        e.label(search)
        address_of = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('search')}")
        function = e.let(f"load ptr, ptr {address_of}")
        result = e.let(f"call i64 {function}(ptr %wave, i32 {decoded.index}, i32 {slot}, i64 {address}, i32 {size})")
        e.branch(e.let(f"icmp ne i64 {result}, 0"), good, site.fault, likely=True)
        e.label(good)
        pointer = e.let(f"getelementptr i8, ptr {site.arena}, i64 {e.let(f'sub i64 {address}, {site.arena_number}')}")
        target = scalar_number(parts.destination.value)
        if target is None:
            return
        at = 0
        while at < count:
            source = pointer if at == 0 else e.let(f"getelementptr i8, ptr {pointer}, i64 {4 * at}")
            if at + 1 < count:
                self.scalars.set_pair(target + at, e.let(f"load i64, ptr {source}, align 4"))
                at += 2
            else:
                self.scalars.set_word(target + at, e.let(f"load i32, ptr {source}, align 4"))
                at += 1
