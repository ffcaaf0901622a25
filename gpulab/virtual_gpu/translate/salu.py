"""Scalar instructions: rows of unit "salu", scalar loads, and the scalar side of cross-lane reads."""

from __future__ import annotations

from collections.abc import Callable

from gpulab.virtual_gpu.isa.expression import Type
from gpulab.virtual_gpu.isa.instruction import Literal, Operand, Register, Symbol
from gpulab.virtual_gpu.isa.row import Memory, Row
from gpulab.virtual_gpu.translate import layout
from gpulab.virtual_gpu.translate.decode import Decoded, MemoryOperands, literal_bits, memory_operands, scalar_number
from gpulab.virtual_gpu.translate.emitter import FALSE, TRUE, ZERO, Constant, Emitter, Integer, Value, signed
from gpulab.virtual_gpu.translate.expressions import Reader, ir_type
from gpulab.virtual_gpu.translate.lane_access import Observed, Site, row_place
from gpulab.virtual_gpu.translate.modes import Mode, clamped, flushed_input, flushed_output, reader_of, scaled
from gpulab.virtual_gpu.translate.scalars import Scalars


class Salu:
    """Emits scalar instructions into the current block; `special` gives registers without storage."""

    def __init__(
        self,
        emitter: Emitter,
        scalars: Scalars,
        site: Site,
        symbol: Callable[[Symbol, int], Value],
        special: Callable[[str, int], Value],
        observe: Callable[[Observed], int],
    ) -> None:
        self.emitter, self.scalars, self.site = emitter, scalars, site
        self.symbol, self.special, self.observe = symbol, special, observe
        self.loaded: Value | None = None  # the address of the last load that goes on quickly or not at all
        self.reader = Reader(emitter, 1)
        self.missed = (
            ""  # of a loop that gives up where a load is not of the allocation used last: the label (sweeps.py)
        )

    def operand(self, operand: Operand, type: Type, index: int) -> Value:
        """A scalar source as IR of the parameter's type (integers and floats; b1 for SCC as an operand)."""
        e, value = self.emitter, operand.value
        width = max(type.width, 1)
        if isinstance(value, Literal):
            raw: Value = Integer(signed(literal_bits(value, type), width))
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
        arguments: list[Value] = []
        for parameter, operand in decoded.sources:
            name, width = parameter.name, parameter.type.width
            if not parameter.implicit or name in ("dst", "sdst"):
                assert operand is not None
                value = self.operand(operand, parameter.type, decoded.index)
                if row.float_mode and parameter.type.kind == "f":
                    value = flushed_input(self.reader, mode, value, parameter.type)
                arguments.append(value)
            elif name == "scc":
                arguments.append(scalars.condition())
            elif name == "m0":
                arguments.append(scalars.word(layout.M0))
            elif name == "mode":
                arguments.append(mode.word(e))
            elif name == "clamp":
                arguments.append(TRUE if decoded.instruction.modifiers.get("clamp") else FALSE)
            elif name in ("exec", "vcc"):
                number = layout.EXEC if name == "exec" else layout.VCC
                arguments.append(scalars.pair(number) if width == 64 else scalars.word(number))
            else:
                arguments.append(ZERO)
        _, graph = row.graph()
        values = reader_of(self.reader, row.rounds, mode).read(graph, arguments)
        for (result, operand), value in zip(decoded.results, values, strict=True):
            type = result.type
            if type.kind == "f":
                if row.float_mode:
                    value = scaled(self.reader, value, type, decoded.instruction, mode)
                    value = flushed_output(self.reader, mode, value, type)
                    if decoded.instruction.modifiers.get("clamp"):
                        value = clamped(self.reader, mode, value, type)
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

    def memory(self, decoded: Decoded, slot: int) -> None:
        """s_load, s_store, s_atomic and their buffer forms. EXEC has no effect."""
        row = decoded.row
        assert isinstance(row, Memory)
        parts = memory_operands(decoded.instruction, row)
        if row.action == "prefetch" or parts.address is None:
            return
        address, room = self._address(decoded, parts)
        if row.action == "load":
            self._load(decoded, parts, slot, address, room)
        else:
            self._change(decoded, row, parts, slot, address, room)

    def _address(self, decoded: Decoded, parts: MemoryOperands) -> tuple[Value, Value | None]:
        """(address as an i64; for a buffer the bytes from there to its end, which may be negative, else "")."""
        e = self.emitter
        assert parts.address is not None
        base = parts.address.value
        assert isinstance(base, Register)
        found = scalar_number(base)
        number = layout.NULL if found is None else found  # null: the offset alone is the address
        amount: Value = ZERO
        known = 0
        if parts.scalar is not None:
            value = parts.scalar.value
            if isinstance(value, Literal):
                known += int(value.value)
            elif isinstance(value, Register) and value.name != "null":
                register = scalar_number(value)
                assert register is not None
                amount = e.let(f"zext i32 {self.scalars.word(register)} to i64")
        extra = decoded.instruction.modifiers.get("offset", 0)
        known += int(extra) if isinstance(extra, int) else 0
        if known:
            amount = e.let(f"add i64 {amount}, {known}")
        amount = e.let(f"and i64 {amount}, -4") if base.count == 4 else amount
        start, room = self.scalars.pair(number), None
        if base.count == 4:
            records, high = (e.let(f"zext i32 {self.scalars.word(number + n)} to i64") for n in (2, 1))
            stride = e.let(f"and i64 {e.let(f'lshr i64 {high}, 16')}, 16383")
            one = e.let(f"icmp eq i64 {stride}, 0")
            stride = e.let(f"select i1 {one}, i64 1, i64 {stride}")
            room = e.let(f"sub i64 {e.let(f'mul i64 {records}, {stride}')}, {amount}")
            start = e.let(f"and i64 {start}, {(1 << 48) - 1}")
        address = start if amount == ZERO else e.let(f"add i64 {start}, {amount}")
        row = decoded.row
        assert isinstance(row, Memory)
        width = min(4, row.element // 8)
        return e.let(f"and i64 {address}, {-width}"), room  # the hardware ignores the low bits

    def _tell(self, number: int, address: Value, always: bool = False) -> None:
        """Tell the observer of an access. (Where the kernel is not made for one, the support code tells of loads.)"""
        e, site = self.emitter, self.site
        if not site.record and not always:
            return
        tell, told = e.name("tell"), e.name("told")
        e.branch(e.let(f"icmp ne ptr {site.observer}, null"), tell, told, likely=site.record)
        e.label(tell)
        failed = e.let(f"call i32 {site.observer}(ptr %wave, i32 {number}, i64 {address}, i64 1, ptr null, ptr null)")
        e.branch(e.let(f"icmp eq i32 {failed}, 0"), told, site.fault, likely=True)
        e.label(told)

    def _load(self, decoded: Decoded, parts: MemoryOperands, slot: int, address: Value, room: Value | None) -> None:
        """Checked against the allocation used last, else by the support code. Words outside a buffer are 0."""
        e, row, site = self.emitter, decoded.row, self.site
        assert isinstance(row, Memory)
        assert parts.destination is not None
        assert isinstance(parts.destination.value, Register)
        count, width = max(1, row.element * row.count // 32), min(4, row.element // 8)
        size: Value = Integer(width * count)
        if room:
            positive = e.call("i64", "llvm.smax.i64", f"i64 {room}", "i64 0")
            size = e.let(f"and i64 {e.call('i64', 'llvm.smin.i64', f'i64 {positive}', f'i64 {size}')}, -4")
        place: Value = Constant("null")
        if room:
            fits = e.let(f"icmp eq i64 {size}, 0")
        else:
            entry = e.let(f"getelementptr i8, ptr {site.cache}, i64 {layout.ALLOCATION_BYTES * slot}")
            relative = e.let(f"sub i64 {address}, {e.let(f'load i64, ptr {entry}')}")
            home_at = e.let(f"getelementptr i8, ptr {entry}, i64 {layout.ALLOCATION['home']}")
            place = e.let(f"getelementptr i8, ptr {e.let(f'load ptr, ptr {home_at}')}, i64 {relative}")
            single = e.let(f"load i32, ptr {e.let(f'getelementptr i8, ptr {entry}, i64 12')}")
            fits = e.let(f"icmp ult i64 {relative}, {e.let(f'zext i32 {single} to i64')}")
        good, search, before = e.name("scalar_load"), self.missed or e.name("scalar_search"), e.block
        e.branch(fits, good, search, likely=True)
        if self.missed:
            e.label(good)
            self.loaded = None if room else address
            self._take(row, parts, place, size, room)
            return
        number = -1 if room else self.observe(Observed(decoded.index, 0, "scalar", "load", width * count))
        e.label(search)
        address_of = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('search')}")
        function = e.let(f"load ptr, ptr {address_of}")
        bytes_ = e.let(f"trunc i64 {size} to i32") if room else size
        ids = decoded.index | slot << 32
        result = e.let(f"call ptr {function}(ptr %wave, i64 {ids}, i64 {address}, i32 {bytes_}, i32 {number})")
        e.branch(e.let(f"icmp ne ptr {result}, null"), good, site.fault, likely=True)
        e.label(good)
        pointer = e.let(f"phi ptr [ {place}, %{before} ], [ {result}, %{search} ]")
        if number >= 0:
            self._tell(number, address)
        self._take(row, parts, pointer, size, room)

    def _take(self, row: Memory, parts: MemoryOperands, pointer: Value, size: Value, room: Value | None) -> None:
        """A load's words go from memory to registers."""
        e = self.emitter
        assert parts.destination is not None
        assert isinstance(parts.destination.value, Register)
        count, width = max(1, row.element * row.count // 32), min(4, row.element // 8)
        target = scalar_number(parts.destination.value)
        if target is None:
            return
        if width < 4:
            narrow = e.let(f"load i{8 * width}, ptr {pointer}, align 1")
            extend = "sext" if row.extend == "sign" else "zext"
            self.scalars.set_word(target, e.let(f"{extend} i{8 * width} {narrow} to i32"))
            return
        if room:
            nowhere = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('dummy')}")
            for at in range(count):
                inside = e.let(f"icmp ult i64 {4 * at}, {size}")
                source = e.let(f"getelementptr i8, ptr {pointer}, i64 {4 * at}")
                source = e.let(f"select i1 {inside}, ptr {source}, ptr {nowhere}")
                word = e.let(f"load i32, ptr {source}, align 4")
                self.scalars.set_word(target + at, e.let(f"select i1 {inside}, i32 {word}, i32 0"))
            return
        at = 0
        while at < count:
            part = pointer if at == 0 else e.let(f"getelementptr i8, ptr {pointer}, i64 {4 * at}")
            if at + 1 < count:
                self.scalars.set_pair(target + at, e.let(f"load i64, ptr {part}, align 4"))
                at += 2
            else:
                self.scalars.set_word(target + at, e.let(f"load i32, ptr {part}, align 4"))
                at += 1

    def _change(
        self, decoded: Decoded, row: Memory, parts: MemoryOperands, slot: int, address: Value, room: Value | None
    ) -> None:
        """A scalar store or atomic, checked by the support code; nothing happens where a part is outside a buffer."""
        e, site = self.emitter, self.site
        size = row.element * row.count // 8
        value = parts.data[0].value
        assert isinstance(value, Register)
        first = scalar_number(value)
        assert first is not None
        before, done, inside = e.block, e.name("scalar_done"), e.name("scalar_store")
        kind = f"i{row.element}"
        old: Value = ZERO
        if room:
            e.branch(e.let(f"icmp sge i64 {room}, {size}"), inside, done)
            e.label(inside)
        low_at = row_place(e, site, 0, self.scalars.wave_size)
        high_at = e.let(f"getelementptr i8, ptr {low_at}, i64 {4 * self.scalars.wave_size}")
        e.do(f"store i32 {e.let(f'trunc i64 {address} to i32')}, ptr {low_at}")
        high = e.let(f"trunc i64 {e.let(f'lshr i64 {address}, 32')} to i32")
        e.do(f"store i32 {high}, ptr {high_at}")
        atomic = row.action == "atomic"
        align = row.element // 8 if atomic else 4
        what = layout.access_word("global", "atomic" if atomic else "write", align, size)
        failed = e.let(
            f"call i32 {site.resolve}(ptr %wave, i64 {decoded.index | slot << 32}, i32 {what}, i64 0, i32 1, "
            f"ptr {low_at})"
        )
        good = e.name("scalar_checked")
        e.branch(e.let(f"icmp eq i32 {failed}, 0"), good, site.fault, likely=True)
        e.label(good)
        self._tell(self.observe(Observed(decoded.index, 0, "scalar", row.action, size)), address, always=True)
        pointers = e.let(f"getelementptr i8, ptr {site.addresses}, i64 {layout.BUFFER['pointers']}")
        pointer = e.let(f"load ptr, ptr {pointers}")
        if atomic:
            old = self._exchange(row, pointer, first, kind)
        else:
            for at in range(row.count):
                place = e.let(f"getelementptr i8, ptr {pointer}, i64 {4 * at}")
                e.do(f"store i32 {self.scalars.word(first + at)}, ptr {place}, align 4")
        end = e.block
        e.jump(done)
        e.label(done)
        if not atomic or parts.destination is None:
            return
        if room:
            old = e.let(f"phi {kind} [ 0, %{before} ], [ {old}, %{end} ]")
        if row.element == 64:
            self.scalars.set_pair(first, old)
        else:
            self.scalars.set_word(first, old)

    def _exchange(self, row: Memory, pointer: Value, first: int, kind: str) -> Value:
        """The old value of an atomic on the memory at `pointer`, with data from register `first`."""
        e = self.emitter
        assert row.combine is not None
        words = row.element // 32
        given = [
            self.scalars.pair(first + words * n) if words == 2 else self.scalars.word(first + n)
            for n in range(len(row.combine.parameters) - 1)
        ]
        start = e.let(f"load {kind}, ptr {pointer}, align {row.element // 8}")
        came, retry, settled = e.block, e.name("retry"), e.name("settled")
        seen, again = e.ahead("seen"), e.ahead("again")
        e.jump(retry)
        e.label(retry)
        e.do(f"{seen} = phi {kind} [ {start}, %{came} ], [ {again}, %{retry} ]")
        (new,) = self.reader.read(row.combine.graph()[1][:1], [seen, *given])
        outcome = e.let(f"cmpxchg ptr {pointer}, {kind} {seen}, {kind} {new} seq_cst seq_cst")
        e.do(f"{again} = extractvalue {{ {kind}, i1 }} {outcome}, 0")
        e.branch(e.let(f"extractvalue {{ {kind}, i1 }} {outcome}, 1"), settled, retry)
        e.label(settled)
        return seen
