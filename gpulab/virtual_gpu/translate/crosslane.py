"""Instructions that move data between lanes, and DPP: one call of the support code on whole registers.

Lane reads and writes (readlane, readfirstlane, writelane) are plain loads and stores in the wave's register file.
"""

from __future__ import annotations

from gpulab.virtual_gpu import schema
from gpulab.virtual_gpu.isa.expression import u32, u64
from gpulab.virtual_gpu.isa.instruction import Instruction, Operand, Register
from gpulab.virtual_gpu.isa.row import CrossLane
from gpulab.virtual_gpu.translate import layout
from gpulab.virtual_gpu.translate.decode import ACC, ALL_SCALARS, Decoded, scalar_number
from gpulab.virtual_gpu.translate.emitter import NULL, ZERO, Emitter, Integer, Value, signed
from gpulab.virtual_gpu.translate.salu import Salu
from gpulab.virtual_gpu.translate.scalars import Scalars

PATTERNS = schema.PATTERNS.numbers


def _pattern_of(row: CrossLane) -> str:
    """The pattern of a row's kind and fields."""
    if row.kind == "permlane16":
        return ("permlanex16" if row.other_row else "permlane16") + ("_var" if row.by_lane else "")
    if row.kind == "permlane_swap":
        return f"permlane{row.distance}_swap"
    return "ds_bpermute_fi" if row.inactive else row.kind


_READERS = ("ds_bpermute", "ds_swizzle", "permlane16", "permlanex16")  # of other lanes, which have to be active


class CrossLaneEmitter:
    """Emits cross-lane instructions; the run before them has been emitted where it matters."""

    def __init__(
        self, emitter: Emitter, scalars: Scalars, wave_size: int, salu: Salu, registers: int, checked: bool = False
    ) -> None:
        self.checked = checked
        self.emitter, self.scalars, self.wave_size, self.salu = emitter, scalars, wave_size, salu
        self.registers = registers  # VGPRs of the kernel
        self._buffer: Value | None = None

    def _row(self, register: int) -> Value:
        return self.emitter.let(f"getelementptr i8, ptr %vgprs, i64 {register * self.wave_size * 4}")

    def _place(self, register: int, lane: Value) -> Value:
        return self.emitter.let(f"getelementptr i32, ptr {self._row(register)}, i64 {lane}")

    def _vector(self, operand: Operand) -> int | None:
        value = operand.value
        if isinstance(value, Register) and value.file in ("v", "a"):
            return value.index + (ACC if value.file == "a" else 0)
        return None

    def _lane(self, operand: Operand, index: int) -> Value:
        e = self.emitter
        word = self.salu.operand(operand, u32, index)
        if isinstance(word, Integer):
            return Integer(word.number & (self.wave_size - 1))
        return e.let(f"zext i32 {e.let(f'and i32 {word}, {self.wave_size - 1}')} to i64")

    def new_function(self) -> None:
        """Another LLVM function begins, with buffers of its own."""
        self._buffer = None

    def _scratch(self) -> Value:
        if self._buffer is None:
            self._buffer = self.emitter.entry(f"alloca [{2 * self.wave_size} x i32], align 64")
        return self._buffer

    def _lane_of(self, register: int, lane: Value, indexed: bool) -> Value:
        """Where a register's lane is; under gfx9's register indexing m0[7:0] is added to the register's number."""
        if not indexed:
            return self._place(register, lane)
        index = self.emitter.let(f"and i32 {self.scalars.word(layout.M0)}, 255")
        return self.emitter.let(f"getelementptr i32, ptr {self.place(register, index)}, i64 {lane}")

    def emit(self, decoded: Decoded, row: CrossLane, which: int = 0) -> None:
        """`which`: the operands of readlane, readfirstlane and writelane that register indexing moves (1: the first
        source, 8: the destination)."""
        e, operands, kind = self.emitter, decoded.instruction.operands, row.kind
        if kind in ("readlane", "readfirstlane"):
            target = operands[0].value
            assert isinstance(target, Register)
            number = scalar_number(target)
            source = self._vector(operands[1])
            if source is None:
                value = self.salu.operand(operands[1], u32, decoded.index)
            else:
                if kind == "readlane":
                    lane = self._lane(operands[2], decoded.index)
                else:
                    mask = self.scalars.mask(layout.EXEC)
                    lowest = e.call("i64", "llvm.cttz.i64", f"i64 {mask}", "i1 false")
                    lane = e.let(f"and i64 {lowest}, 63")  # 0 for an empty mask
                value = e.let(f"load i32, ptr {self._lane_of(source, lane, bool(which & 1))}")
            if number is not None:
                self.scalars.set_word(number, value)
            return
        if row.indexed and row.unit == "salu":
            self._move_scalar(decoded, row)
            return
        if kind in ("movrels", "movreld", "movrelsd"):
            m0 = self.scalars.word(layout.M0)
            self.move(decoded, m0 if kind != "movreld" else None, m0 if kind != "movrels" else None)
            return
        if kind in ("movrelsd_2", "swaprel"):
            self.move(decoded, *self._two_indices(), swap=kind == "swaprel")
            return
        destination = self._vector(operands[0])
        assert destination is not None
        if kind == "writelane":
            value = self.salu.operand(operands[1], u32, decoded.index)
            place = self._lane_of(destination, self._lane(operands[2], decoded.index), bool(which & 8))
            e.do(f"store i32 {value}, ptr {place}")
            return
        first: Value = NULL
        second: Value = NULL
        arguments: list[Value] = [ZERO, ZERO]
        if kind in ("ds_permute", "ds_bpermute") or row.by_lane:
            first, second = (self._source(o, decoded.index) for o in operands[1:3])
            arguments[0] = _offset(decoded.instruction)
        elif kind == "ds_swizzle":
            first = self._source(operands[1], decoded.index)
            arguments[0] = _offset(decoded.instruction)
        else:
            first = self._source(operands[1], decoded.index)
            if len(operands) > 3:
                arguments = [self.salu.operand(o, u32, decoded.index) for o in operands[2:4]]
        given = decoded.instruction.modifiers.get("op_sel")
        flags = sum(bool(b) << n for n, b in enumerate(given)) if isinstance(given, tuple) else 0
        if kind == "permlane_swap":
            flags = sum(
                bool(decoded.instruction.modifiers.get(name)) << n for n, name in enumerate(("fi", "bound_ctrl"))
            )
        pattern = _pattern_of(row)
        if self.checked and pattern in _READERS:
            self._check(decoded.index, pattern, first, arguments, flags)
        self._call(pattern, self._row(destination), first, second, arguments, flags)

    def _check(self, index: int, kind: str, source: Value, arguments: list[Value], flags: int, lanes: int = -1) -> None:
        """Ask the checker whether an active lane (of those in the mask `lanes`) reads one that is not."""
        e = self.emitter
        place = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('shuffle')}")
        function = e.let(f"load ptr, ptr {place}")
        mask = self.scalars.mask(layout.EXEC)
        failed = e.let(
            f"call i32 {function}(ptr %wave, i32 {index}, i32 {PATTERNS[kind]}, ptr {source}, i64 {mask}, i64 {lanes}, "
            f"i32 {arguments[0]}, i32 {arguments[1]}, i32 {flags})"
        )
        go = e.name("shuffled")
        e.branch(e.let(f"icmp eq i32 {failed}, 0"), go, "faulted", likely=True)
        e.label(go)

    def _two_indices(self) -> tuple[Value, Value]:
        """(m0[9:0], m0[25:16]): what is added to the number of the source's register and of the destination's."""
        e, m0 = self.emitter, self.scalars.word(layout.M0)
        return e.let(f"and i32 {m0}, 1023"), e.let(f"and i32 {e.let(f'lshr i32 {m0}, 16')}, 1023")

    def move(self, decoded: Decoded, from_index: Value | None, to_index: Value | None, swap: bool = False) -> None:
        """v_mov_b32 whose source or destination register number has an index (an i32) added to it; or an exchange."""
        operands = decoded.instruction.operands

        def row(operand: Operand, index: Value | None) -> Value:
            register = self._vector(operand)
            if register is None or index is None:
                return self._source(operand, decoded.index)
            return self.place(register, index)

        to, source = row(operands[0], to_index), row(operands[1], from_index)
        if swap:
            self._call("move", self._scratch(), to, NULL, [ZERO, ZERO], 0)
        self._call("move", to, source, NULL, [ZERO, ZERO], 0)
        if swap:
            self._call("move", source, self._scratch(), NULL, [ZERO, ZERO], 0)

    def place(self, register: int, index: Value) -> Value:
        """Where the register is whose number is `register` plus an i32.

        A number beyond the kernel's registers means its last one: on hardware it is undefined.
        """
        e = self.emitter
        wanted = e.let(f"add i32 {index}, {register}")
        inside = e.let(f"icmp ult i32 {wanted}, {self.registers}")
        number = e.let(f"select i1 {inside}, i32 {wanted}, i32 {self.registers - 1}")
        place = e.let(f"mul i64 {e.let(f'zext i32 {number} to i64')}, {self.wave_size * 4}")
        return e.let(f"getelementptr i8, ptr %vgprs, i64 {place}")

    def buffer(self) -> Value:
        """Room for a register's lanes."""
        return self.emitter.entry(f"alloca [{self.wave_size} x i32], align 64")

    def copy(self, to: Value, source: Value) -> None:
        """The active lanes of one register (or buffer) into another."""
        self._call("move", to, source, NULL, [ZERO, ZERO], 0)

    def register(self, number: int) -> Value:
        """Where a register is."""
        return self._row(number)

    def _move_scalar(self, decoded: Decoded, row: CrossLane) -> None:
        """s_movrels, s_movreld, s_movrelsd_2: scalar registers as memory, with m0 added to the number."""
        e, scalars = self.emitter, self.scalars
        target, source = (o.value for o in decoded.instruction.operands[:2])
        assert isinstance(target, Register)
        width = row.width

        def place(register: Register, index: Value) -> Value:
            first = scalar_number(register)
            number = e.let(f"add i32 {index}, {first}")
            inside = e.let(f"icmp ult i32 {number}, {layout.VCC - 1}")
            index = e.let(f"zext i32 {e.let(f'select i1 {inside}, i32 {number}, i32 {layout.VCC - 2}')} to i64")
            base = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('scalars')}")
            return e.let(f"getelementptr i32, ptr {base}, i64 {index}")

        scalars.flush(ALL_SCALARS)
        if row.kind == "movrels":
            assert isinstance(source, Register)
            loaded = e.let(f"load i{width}, ptr {place(source, scalars.word(layout.M0))}, align 4")
            number = scalar_number(target)
            assert number is not None
            if width == 64:
                scalars.set_pair(number, loaded)
            else:
                scalars.set_word(number, loaded)
            return
        if row.kind == "movrelsd_2":
            assert isinstance(source, Register)
            from_, to = self._two_indices()
            e.do(f"store i32 {e.let(f'load i32, ptr {place(source, from_)}')}, ptr {place(target, to)}")
        else:
            value = self.salu.operand(decoded.instruction.operands[1], u64 if width == 64 else u32, decoded.index)
            e.do(f"store i{width} {value}, ptr {place(target, scalars.word(layout.M0))}, align 4")
        scalars.forget()

    def _source(self, operand: Operand, index: int) -> Value:
        register = self._vector(operand)
        if register is not None:
            return self._row(register)
        # A scalar in all lanes.
        e = self.emitter
        value = self.salu.operand(operand, u32, index)
        buffer = e.entry(f"alloca [{self.wave_size} x i32], align 64")
        for lane in range(self.wave_size):
            e.do(f"store i32 {value}, ptr {e.let(f'getelementptr i32, ptr {buffer}, i64 {lane}')}")
        return buffer

    def _call(self, kind: str, to: Value, first: Value, second: Value, arguments: list[Value], flags: int) -> Value:
        """gpulab_cross(wave, pattern, destination, source, other, exec, two arguments, flags) -> valid lanes."""
        e = self.emitter
        address = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('cross')}")
        function = e.let(f"load ptr, ptr {address}")
        mask = self.scalars.mask(layout.EXEC)
        return e.let(
            f"call i64 {function}(i32 {self.wave_size}, i32 {PATTERNS[kind]}, ptr {to}, ptr {first}, ptr {second}, "
            f"i64 {mask}, i32 {arguments[0]}, i32 {arguments[1]}, i32 {flags})"
        )

    def dpp(self, decoded: Decoded) -> tuple[Value, Value, Value]:
        """The first source as DPP gives it, in a buffer: (lanes that are written, lanes that the row and bank masks
        allow, both as i64 masks; pointer). High halves of 64-bit sources follow the low ones of all lanes."""
        e, modifiers = self.emitter, decoded.instruction.modifiers
        parameter, operand = next((p, o) for p, o in decoded.sources if not p.implicit)
        assert operand is not None
        kind, argument = _pattern(decoded.instruction)
        arguments: list[Value] = [Integer(signed(argument, 32)), ZERO]
        flags = 1 if modifiers.get("fi") else 0
        buffer = self._scratch()
        valid = self._call(kind, buffer, self._source(operand, decoded.index), NULL, arguments, flags)
        register = self._vector(operand)
        if parameter.type.width == 64 and register is not None:
            above = e.let(f"getelementptr i32, ptr {buffer}, i64 {self.wave_size}")
            self._call(kind, above, self._row(register + 1), NULL, arguments, flags)
        rows, banks = modifiers.get("row_mask", 15), modifiers.get("bank_mask", 15)
        assert isinstance(rows, int)
        assert isinstance(banks, int)
        allowed = 0
        for lane in range(self.wave_size):
            if rows >> (lane // 16) & 1 and banks >> (lane // 4 % 4) & 1:
                allowed |= 1 << lane
        if self.checked and not (modifiers.get("bound_ctrl") or flags or kind == "dpp8"):
            self._check(decoded.index, kind, NULL, arguments, flags, signed(allowed, 64))
        if modifiers.get("bound_ctrl") or kind == "dpp8":
            return Integer(signed(allowed, 64)), Integer(signed(allowed, 64)), buffer
        return e.let(f"and i64 {valid}, {signed(allowed, 64)}"), Integer(signed(allowed, 64)), buffer


def _offset(instruction: Instruction) -> Integer:
    given = instruction.modifiers.get("offset", 0)
    return Integer(given if isinstance(given, int) else 0)


def _pattern(instruction: Instruction) -> tuple[str, int]:
    """A DPP instruction's pattern and its argument as one number."""
    modifiers = instruction.modifiers
    for name in PATTERNS:
        if name not in modifiers:
            continue
        value = modifiers[name]
        if isinstance(value, tuple):
            width = 2 if name == "quad_perm" else 3
            return name, sum(int(v) << (width * n) for n, v in enumerate(value))
        return name, int(value) if not isinstance(value, bool) and isinstance(value, int) else 0
    return "quad_perm", 0b11100100
