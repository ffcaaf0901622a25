"""Instructions that move data between lanes, and DPP: one call of the support code on whole registers.

Lane reads and writes (readlane, readfirstlane, writelane) are plain loads and stores in the wave's register file.
"""

from __future__ import annotations

from gpulab.virtual_gpu.isa.expression import u32, u64
from gpulab.virtual_gpu.isa.instruction import Instruction, Operand, Register
from gpulab.virtual_gpu.isa.row import CrossLane
from gpulab.virtual_gpu.translate import layout
from gpulab.virtual_gpu.translate.decode import ACC, ALL_SCALARS, Decoded, scalar_number
from gpulab.virtual_gpu.translate.emitter import Emitter, signed
from gpulab.virtual_gpu.translate.salu import Salu
from gpulab.virtual_gpu.translate.scalars import Scalars

# How the support code (machine/support.c) numbers the patterns.
PATTERNS = {
    name: number
    for number, name in enumerate(
        (
            "quad_perm", "row_shl", "row_shr", "row_ror", "wave_shl", "wave_rol", "wave_shr", "wave_ror",
            "row_mirror", "row_half_mirror", "row_bcast", "row_newbcast", "row_share", "row_xmask", "dpp8",
            "ds_permute", "ds_bpermute", "ds_swizzle", "permlane16", "permlanex16", "permlane64", "move",
        )
    )
}  # fmt: skip


class CrossLaneEmitter:
    """Emits cross-lane instructions; the run before them has been emitted where it matters."""

    def __init__(self, emitter: Emitter, scalars: Scalars, wave_size: int, salu: Salu, registers: int) -> None:
        self.emitter, self.scalars, self.wave_size, self.salu = emitter, scalars, wave_size, salu
        self.registers = registers  # VGPRs of the kernel
        self._buffer: str | None = None

    def _row(self, register: int) -> str:
        return self.emitter.let(f"getelementptr i8, ptr %vgprs, i64 {register * self.wave_size * 4}")

    def _place(self, register: int, lane: str) -> str:
        return self.emitter.let(f"getelementptr i32, ptr {self._row(register)}, i64 {lane}")

    def _vector(self, operand: Operand) -> int | None:
        value = operand.value
        if isinstance(value, Register) and value.file in ("v", "a"):
            return value.index + (ACC if value.file == "a" else 0)
        return None

    def _lane(self, operand: Operand, index: int) -> str:
        e = self.emitter
        word = self.salu.operand(operand, u32, index)
        if not word.startswith("%"):
            return str(int(word) & (self.wave_size - 1))
        return e.let(f"zext i32 {e.let(f'and i32 {word}, {self.wave_size - 1}')} to i64")

    def _scratch(self) -> str:
        if self._buffer is None:
            self._buffer = self.emitter.entry(f"alloca [{self.wave_size} x i32], align 64")
        return self._buffer

    def emit(self, decoded: Decoded, row: CrossLane) -> None:
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
                    first = e.call("i64", "llvm.cttz.i64", f"i64 {mask}", "i1 false")
                    lane = e.let(f"and i64 {first}, 63")  # 0 for an empty mask
                value = e.let(f"load i32, ptr {self._place(source, lane)}")
            if number is not None:
                self.scalars.set_word(number, value)
            return
        if kind in ("s_movrels", "s_movreld"):
            self._move_scalar(decoded, kind)
            return
        if kind in ("movrels", "movreld", "movrelsd"):
            self.move(decoded, kind != "movreld", kind != "movrels", self.scalars.word(layout.M0))
            return
        destination = self._vector(operands[0])
        assert destination is not None
        if kind == "writelane":
            value = self.salu.operand(operands[1], u32, decoded.index)
            e.do(f"store i32 {value}, ptr {self._place(destination, self._lane(operands[2], decoded.index))}")
            return
        first, second = "null", "null"
        arguments = ["0", "0"]
        if kind in ("ds_permute", "ds_bpermute"):
            first, second = (self._source(o, decoded.index) for o in operands[1:3])
            arguments[0] = str(decoded.instruction.modifiers.get("offset", 0))
        elif kind == "ds_swizzle":
            first = self._source(operands[1], decoded.index)
            arguments[0] = str(decoded.instruction.modifiers.get("offset", 0))
        else:
            first = self._source(operands[1], decoded.index)
            if len(operands) > 3:
                arguments = [self.salu.operand(o, u32, decoded.index) for o in operands[2:4]]
        given = decoded.instruction.modifiers.get("op_sel")
        flags = sum(bool(b) << n for n, b in enumerate(given)) if isinstance(given, tuple) else 0
        self._call(kind, self._row(destination), first, second, arguments, flags)

    def move(self, decoded: Decoded, from_index: bool, to_index: bool, index: str) -> None:
        """v_mov_b32 whose source or destination register number has `index` (an i32) added to it.

        A number beyond the kernel's registers means its last one: on hardware it is undefined.
        """
        e, operands = self.emitter, decoded.instruction.operands

        def row(operand: Operand, indexed: bool) -> str:
            register = self._vector(operand)
            if register is None or not indexed:
                return self._source(operand, decoded.index)
            e_number = e.let(f"add i32 {index}, {register}")
            inside = e.let(f"icmp ult i32 {e_number}, {self.registers}")
            number = e.let(f"select i1 {inside}, i32 {e_number}, i32 {self.registers - 1}")
            place = e.let(f"mul i64 {e.let(f'zext i32 {number} to i64')}, {self.wave_size * 4}")
            return e.let(f"getelementptr i8, ptr %vgprs, i64 {place}")

        to = row(operands[0], to_index)
        self._call("move", to, row(operands[1], from_index), "null", ["0", "0"], 0)

    def _move_scalar(self, decoded: Decoded, kind: str) -> None:
        """s_movrels, s_movreld: scalar registers as memory, with m0 added to the number."""
        e, scalars = self.emitter, self.scalars
        target, source = (o.value for o in decoded.instruction.operands[:2])
        assert isinstance(target, Register)
        width = 64 if decoded.instruction.mnemonic.endswith("b64") else 32

        def place(register: Register) -> str:
            first = scalar_number(register)
            number = e.let(f"add i32 {scalars.word(layout.M0)}, {first}")
            inside = e.let(f"icmp ult i32 {number}, {layout.VCC - 1}")
            index = e.let(f"zext i32 {e.let(f'select i1 {inside}, i32 {number}, i32 {layout.VCC - 2}')} to i64")
            base = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('scalars')}")
            return e.let(f"getelementptr i32, ptr {base}, i64 {index}")

        scalars.flush(ALL_SCALARS)
        if kind == "s_movrels":
            assert isinstance(source, Register)
            value = e.let(f"load i{width}, ptr {place(source)}, align 4")
            number = scalar_number(target)
            assert number is not None
            if width == 64:
                scalars.set_pair(number, value)
            else:
                scalars.set_word(number, value)
            return
        value = self.salu.operand(decoded.instruction.operands[1], u64 if width == 64 else u32, decoded.index)
        e.do(f"store i{width} {value}, ptr {place(target)}, align 4")
        scalars.forget()

    def _source(self, operand: Operand, index: int) -> str:
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

    def _call(self, kind: str, to: str, first: str, second: str, arguments: list[str], flags: int) -> str:
        """gpulab_cross(wave, pattern, destination, source, other, exec, two arguments, flags) -> valid lanes."""
        e = self.emitter
        address = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('cross')}")
        function = e.let(f"load ptr, ptr {address}")
        mask = self.scalars.mask(layout.EXEC)
        return e.let(
            f"call i64 {function}(i32 {self.wave_size}, i32 {PATTERNS[kind]}, ptr {to}, ptr {first}, ptr {second}, "
            f"i64 {mask}, i32 {arguments[0]}, i32 {arguments[1]}, i32 {flags})"
        )

    def dpp(self, decoded: Decoded) -> tuple[str, str]:
        """The first source as DPP gives it, in a buffer: (lanes that are written as an i64 mask, pointer)."""
        e, modifiers = self.emitter, decoded.instruction.modifiers
        operand = next(o for p, o in decoded.sources if not p.implicit)
        assert operand is not None
        source = self._source(operand, decoded.index)
        kind, argument = _pattern(decoded.instruction)
        buffer = self._scratch()
        valid = self._call(
            kind, buffer, source, "null", [str(signed(argument, 32)), "0"], 1 if modifiers.get("fi") else 0
        )
        rows, banks = modifiers.get("row_mask", 15), modifiers.get("bank_mask", 15)
        assert isinstance(rows, int)
        assert isinstance(banks, int)
        allowed = 0
        for lane in range(self.wave_size):
            if rows >> (lane // 16) & 1 and banks >> (lane // 4 % 4) & 1:
                allowed |= 1 << lane
        if modifiers.get("bound_ctrl") or kind == "dpp8":
            return str(signed(allowed, 64)), buffer
        return e.let(f"and i64 {valid}, {signed(allowed, 64)}"), buffer


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
