"""`Branching`: instructions that are control: branches, calls, barriers, waits, the MODE register, messages, clocks."""

from __future__ import annotations

from gpulab.virtual_gpu.isa.control import PLACES
from gpulab.virtual_gpu.isa.expression import u32
from gpulab.virtual_gpu.isa.instruction import Literal, Register, Symbol
from gpulab.virtual_gpu.isa.row import Control
from gpulab.virtual_gpu.translate import layout
from gpulab.virtual_gpu.translate.counting import Counting
from gpulab.virtual_gpu.translate.decode import ALL_SCALARS, CLOCKS, Decoded, hardware_field, index_mode, scalar_number
from gpulab.virtual_gpu.translate.emitter import ZERO, Integer, Value, signed
from gpulab.virtual_gpu.translate.modes import Mode
from gpulab.virtual_gpu.translate.structure import fence_of, label_of, stops


class Branching(Counting):
    """Emits them."""

    def _fence(self, decoded: Decoded) -> str:
        """What a checker is told of a wait; "": nothing."""
        orders = self.program.orders.get(self.kernel.name)
        return fence_of(decoded, self.program.arch, orders) if self.checked else ""

    def _control(self, decoded: Decoded, row: Control, mode: Mode) -> bool:
        e, kind, index = self.emitter, row.kind, decoded.index
        if kind in ("setreg", "round_mode", "denorm_mode"):
            self._set_mode(decoded, mode)
            return False
        if kind in ("wait", "nop", "sendmsg"):
            fence = self._fence(decoded)
            if fence:
                self._flush()
                self._note(fence, index)
            return False
        if self.run.conflicts(decoded):
            self._flush()
        if kind == "end":
            self._flush()
            e.jump("ended")
            return True
        if kind == "branch":
            self._finish(index)
            e.jump(self._goto(index, label_of(self.program, decoded)))
            return True
        if kind == "cbranch":
            self._flush()
            condition = self._condition(row)
            self._finish(index)
            taken = self._goto(index, label_of(self.program, decoded))
            e.branch(condition, taken, self._goto(index, index + 1))
            return True
        if kind in ("barrier", "sleep"):
            # A sleeping wave waits for others: they run before it goes on.
            self._finish(index)
            self.resume.add(index + 1)
            self._store_field("pc", index + 1)
            if kind == "sleep":
                self._store_field("first_instruction", index)
            if kind == "barrier":
                e.jump("waits")
            else:
                e.do(f"ret i32 {layout.SLEEP}")
            return True
        if kind == "trap":
            if not stops(decoded):
                self._finish(index)
                e.jump(self._goto(index, index + 1))
                return True
            self._flush()
            self._stop("trap", index)
            return True
        if kind in ("call", "jump"):
            self._jump(decoded, kind)
            return True
        if kind == "getpc":
            number = self._scalar_target(decoded)
            self.scalars.set_pair(number, Integer(layout.CODE_BASE + layout.INSTRUCTION_BYTES * (index + 1)))
        elif kind in ("time", "realtime", "sendmsg_rtn"):
            address = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('clock')}")
            now = e.let(f"call i64 {e.let(f'load ptr, ptr {address}')}(ptr %wave)")
            register = decoded.instruction.operands[0].value
            assert isinstance(register, Register)
            if register.count == 1:
                self.scalars.set_word(self._scalar_target(decoded), e.let(f"trunc i64 {now} to i32"))
            else:
                self.scalars.set_pair(self._scalar_target(decoded), now)
        elif kind in ("gpr_index_on", "gpr_index_off", "gpr_index", "gpr_index_mode"):
            self._index_register(decoded, kind)
        elif kind == "getreg":
            self._getreg(decoded, mode)
        else:
            raise self.decoder.refuse(decoded.instruction, self.kernel.name)
        return False

    def _scalar_target(self, decoded: Decoded) -> int:
        value = decoded.instruction.operands[0].value
        assert isinstance(value, Register)
        number = scalar_number(value)
        return layout.NULL if number is None else number

    def _condition(self, row: Control) -> Value:
        e = self.emitter
        if row.register == "scc":
            scc = self.scalars.condition()
            return scc if row.nonzero else e.let(f"xor i1 {scc}, true")
        mask = self.scalars.mask(layout.VCC if row.register == "vcc" else layout.EXEC)
        return e.let(f"icmp {'ne' if row.nonzero else 'eq'} i64 {mask}, 0")

    def _jump(self, decoded: Decoded, kind: str) -> None:
        e, index = self.emitter, decoded.index
        operands = decoded.instruction.operands
        source = operands[-1]
        self._flush()
        if isinstance(source.value, Symbol):
            target: Value = Integer(layout.CODE_BASE + layout.INSTRUCTION_BYTES * label_of(self.program, decoded))
        elif isinstance(source.value, Literal):
            target = Integer(int(source.value.value))
        else:
            assert isinstance(source.value, Register)
            number = scalar_number(source.value)
            target = self.scalars.pair(layout.NULL if number is None else number)
        if kind == "call":
            self.scalars.set_pair(
                self._scalar_target(decoded), Integer(layout.CODE_BASE + layout.INSTRUCTION_BYTES * (index + 1))
            )
        self.scalars.flush(ALL_SCALARS)
        relative = e.let(f"sub i64 {target}, {layout.CODE_BASE}")
        rotated = e.call("i64", "llvm.fshr.i64", f"i64 {relative}", f"i64 {relative}", "i64 3")
        large = e.let(f"icmp ugt i64 {rotated}, 2147483647")
        number32 = e.let(f"select i1 {large}, i32 -1, i32 {e.let(f'trunc i64 {rotated} to i32')}")
        address = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('pc')}")
        e.do(f"store i32 {number32}, ptr {address}")
        self._store_field("first_instruction", index)
        # A call counts against the budget like a loop does: recursion has to end too.
        self._spend(10)
        e.jump("dispatch")

    def _index_register(self, decoded: Decoded, kind: str) -> None:
        """s_set_gpr_idx_*: index in m0[7:0], mode in m0[15:12]."""
        e = self.emitter
        if kind == "gpr_index_off":
            return
        value = self.scalars.word(layout.M0)
        if kind != "gpr_index_mode":
            index = self.salu.operand(decoded.instruction.operands[0], u32, decoded.index)
            low = e.let(f"and i32 {index}, 255")
            value = e.let(f"or i32 {e.let(f'and i32 {value}, -256')}, {low}")
        if kind != "gpr_index":
            mode = index_mode(decoded.instruction) << 12
            value = e.let(f"or i32 {e.let(f'and i32 {value}, -61441')}, {mode}")
        self.scalars.set_word(layout.M0, value)

    def _set_mode(self, decoded: Decoded, mode: Mode) -> None:
        """A field of MODE, in the wave's state; what translation knows of it is followed by `_mode_after`."""
        field = self._mode_field(decoded)
        if field is None:
            return
        e = self.emitter
        self._flush()
        after = self._mode_after(decoded, mode)
        word: Value = Integer(after.bits)
        if after.unknown:
            first, width, given = field
            mask = ((1 << width) - 1) << first
            value = e.let(f"shl i32 {self.salu.operand(given, u32, decoded.index)}, {first}")
            value = e.let(f"and i32 {value}, {signed(mask, 32)}")
            word = e.let(f"or i32 {e.let(f'and i32 {mode.word(e)}, {signed(~mask, 32)}')}, {value}")
        place = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('mode')}")
        e.do(f"store i32 {word}, ptr {place}")

    def _getreg(self, decoded: Decoded, mode: Mode) -> None:
        """Hardware registers that a kernel may ask for; the others are 0."""
        e = self.emitter
        field = hardware_field(decoded.instruction.operands[1].value)
        assert field is not None
        name, first, size = field
        if name in CLOCKS:
            address = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('clock')}")
            now = e.let(f"call i64 {e.let(f'load ptr, ptr {address}')}(ptr %wave)")
            value: Value = e.let(f"trunc i64 {now} to i32")
        elif name == "HW_REG_MODE":
            value = mode.word(e)
        elif name == "HW_REG_SH_MEM_BASES":
            value = Integer((layout.SHARED_BASE >> 16) << 16 | layout.PRIVATE_BASE >> 16)
        else:
            value = ZERO
            for shift, of, divisor, modulus in PLACES.get(name.removeprefix("HW_REG_"), ()):
                place = e.let(
                    f"getelementptr i8, ptr %wave, i64 {layout.offset('index' if of == 'wave' else 'number')}"
                )
                part = e.let(f"udiv i32 {e.let(f'load i32, ptr {place}')}, {divisor}")
                part = e.let(f"shl i32 {e.let(f'urem i32 {part}, {modulus}')}, {shift}")
                value = e.let(f"or i32 {value}, {part}")
        mask = (1 << size) - 1
        result = e.let(f"and i32 {e.let(f'lshr i32 {value}, {first}')}, {mask if size < 32 else -1}")
        self.scalars.set_word(self._scalar_target(decoded), result)
