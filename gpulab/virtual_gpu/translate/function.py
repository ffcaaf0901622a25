"""One kernel as one LLVM function: `translate` finds its blocks, emits each and ties them together.

A kernel's function takes a wave's state and runs it until it ends (ENDED), waits at a barrier (BARRIER), has used its
instruction budget (YIELD) or faults (FAULT). Every block starts with all scalars in the wave's state, so a wave is
resumed by a switch on its pc: after barriers, at loop heads, at return points and at function entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gpulab.virtual_gpu.isa.expression import u32
from gpulab.virtual_gpu.isa.instruction import KernelDescriptor, Literal, Program, Register, Symbol
from gpulab.virtual_gpu.isa.row import Control, CrossLane, Matrix, Memory, Row
from gpulab.virtual_gpu.translate import layout, matrix
from gpulab.virtual_gpu.translate.crosslane import CrossLaneEmitter
from gpulab.virtual_gpu.translate.decode import (
    ALL_SCALARS,
    ALL_VECTORS,
    CLOCKS,
    Decoded,
    Decoder,
    bits,
    hardware_field,
    index_mode,
    is_dpp,
    scalar_number,
)
from gpulab.virtual_gpu.translate.emitter import Emitter
from gpulab.virtual_gpu.translate.liveness import Live, analyse
from gpulab.virtual_gpu.translate.memory import Site
from gpulab.virtual_gpu.translate.modes import Mode
from gpulab.virtual_gpu.translate.runs import Run
from gpulab.virtual_gpu.translate.salu import Salu
from gpulab.virtual_gpu.translate.scalars import Scalars

_ENDS = ("end", "branch", "cbranch", "call", "jump", "barrier", "trap")


@dataclass(slots=True)
class Translation:
    """LLVM IR of a kernel and what its counters mean.

    blocks: the instruction indices of each counted block, in the order of the counters.
    segments: when profiling, the instructions executed under one EXEC each, in the order of the lane counters.
    zeroed: VGPRs that may be read before they are written.
    slots: memory instructions, each with an entry in a thread's table of allocations.
    symbols: (symbol operand, instruction) in the order of the table that a wave's `symbols` points to.
    """

    ir: str
    name: str
    blocks: list[list[int]]
    segments: list[list[int]]
    zeroed: list[int]
    slots: int
    decoded: dict[int, Decoded]
    symbols: list[tuple[Symbol, int]]


def reachable(program: Program, kernel: KernelDescriptor, decoder: Decoder) -> tuple[list[int], set[int]]:
    """(instructions that the kernel can reach, in order; those where indirect jumps may land)."""
    seen: set[int] = set()
    landing: set[int] = set()
    work = [kernel.entry]
    data_functions = [
        program.functions[r.symbol][0]
        for o in program.data.values()
        for r in o.relocations
        if r.symbol in program.functions
    ]
    while work:
        index = work.pop()
        while index not in seen:
            if index >= len(program.instructions):
                break
            seen.add(index)
            decoded = decoder.decode(index, kernel.name)
            for operand in decoded.instruction.operands:
                value = operand.value
                if isinstance(value, Symbol) and value.relocation and value.name.removesuffix("@got") in program.labels:
                    target = program.labels[value.name.removesuffix("@got")]
                    landing.add(target)
                    work.append(target)
            row = decoded.row
            if isinstance(row, Control):
                if row.kind in ("branch", "cbranch"):
                    work.append(_label(program, decoded))
                    if row.kind == "branch":
                        break
                elif row.kind == "call":
                    landing.add(index + 1)
                    for target in data_functions:
                        landing.add(target)
                        work.append(target)
                    for operand in decoded.instruction.operands:
                        if isinstance(operand.value, Symbol):
                            landing.add(_label(program, decoded))
                            work.append(_label(program, decoded))
                elif row.kind in ("end", "jump") or stops(decoded):
                    break
            index += 1
    return sorted(seen), landing


def stops(decoded: Decoded) -> bool:
    """Whether an instruction is a trap that stops the kernel. (s_trap 3 does nothing without a debugger.)"""
    if not isinstance(decoded.row, Control) or decoded.row.kind != "trap":
        return False
    operands = decoded.instruction.operands
    value = operands[0].value if operands else None
    return not (isinstance(value, Literal) and int(value.value) == 3)


def _label(program: Program, decoded: Decoded) -> int:
    for operand in decoded.instruction.operands:
        if isinstance(operand.value, Symbol):
            return program.labels[operand.value.name]
    raise KeyError(decoded.instruction.text)


class Structure:
    """A kernel's reachable instructions in basic blocks, with the MODE register known at each block's start.

    Raises:
        UnsupportedInstruction: an instruction that gpulab cannot execute, or a use of MODE that it cannot follow.
    """

    def __init__(self, program: Program, kernel: KernelDescriptor, decoder: Decoder, mode: int) -> None:
        self.program, self.kernel, self.decoder = program, kernel, decoder
        self.wave_size = program.wave_size
        self.order, self.landing = reachable(program, kernel, decoder)
        self.decoded = {i: decoder.decode(i, kernel.name) for i in self.order}
        self._find_blocks()
        self.indexed = self._find_indexed()
        self.modes = self._find_modes(Mode(mode))

    def _find_blocks(self) -> None:
        leaders = {self.kernel.entry, *self.landing}
        reached = set(self.order)
        for index in self.order:
            row = self.decoded[index].row
            if isinstance(row, Control) and row.kind in _ENDS:
                leaders.add(index + 1)
                if row.kind in ("branch", "cbranch"):
                    leaders.add(_label(self.program, self.decoded[index]))
        self.blocks: dict[int, list[int]] = {}
        current: list[int] = []
        last = -2
        for index in self.order:
            if index in leaders or index != last + 1:
                current = self.blocks.setdefault(index, [])
            current.append(index)
            last = index
        self.successors: dict[int, Sequence[int] | None] = {}
        for block, body in self.blocks.items():
            end = self.decoded[body[-1]]
            row = end.row
            following = [body[-1] + 1] if body[-1] + 1 in reached else []
            if not isinstance(row, Control) or row.kind not in _ENDS:
                self.successors[block] = following
            elif row.kind == "branch":
                self.successors[block] = [_label(self.program, end)]
            elif row.kind == "cbranch":
                self.successors[block] = [_label(self.program, end), *following]
            elif row.kind in ("call", "jump"):
                self.successors[block] = None
            elif row.kind == "end" or stops(end):
                self.successors[block] = []
            else:
                self.successors[block] = following

    def _find_indexed(self) -> dict[int, int]:
        """Index modes of the vector instructions between s_set_gpr_idx_on and _off, by instruction (gfx9).

        They read any register and write none for certain. Compilers use this for moves within one block alone.
        """
        found: dict[int, int] = {}
        for body in self.blocks.values():
            mode: int | None = None
            for index in body:
                decoded = self.decoded[index]
                row = decoded.row
                if isinstance(row, Control) and row.kind in ("gpr_index_on", "gpr_index_mode"):
                    mode = index_mode(decoded.instruction) if mode is not None or row.kind == "gpr_index_on" else None
                elif isinstance(row, Control) and row.kind == "gpr_index_off":
                    mode = None
                elif mode is not None and decoded.is_vector:
                    if decoded.instruction.mnemonic != "v_mov_b32" or is_dpp(decoded.instruction):
                        why = "with register indexing on, gpulab executes only v_mov_b32."
                        raise self.decoder.refuse(decoded.instruction, self.kernel.name, why)
                    found[index] = mode
                    writes = 0 if mode & 8 else decoded.vector_writes
                    reads = decoded.scalar_reads | bits(layout.M0, 1)
                    self.decoded[index] = replace(
                        decoded, cross_reads=ALL_VECTORS, vector_writes=writes, scalar_reads=reads
                    )
            if mode is not None:
                why = "register indexing stays on at the end of a block, where gpulab does not follow it."
                raise self.decoder.refuse(self.decoded[body[-1]].instruction, self.kernel.name, why)
        return found

    def _find_modes(self, start: Mode) -> dict[int, Mode]:
        """MODE at each block's start: changes are followed along the program; where two meet they must agree."""
        if not start.rounds_to_nearest:
            raise self.decoder.refuse(
                self.decoded[self.kernel.entry].instruction,
                self.kernel.name,
                f"the kernel starts in rounding mode {start.bits & 15:#x}; only rounding to nearest even is executed.",
            )
        modes: dict[int, Mode] = {self.kernel.entry: start}
        for target in self.landing:
            modes[target] = start
        work = [self.kernel.entry, *self.landing]
        while work:
            block = work.pop()
            if block not in self.blocks:
                continue
            mode = modes[block]
            for index in self.blocks[block]:
                mode = self._mode_after(self.decoded[index], mode)
            for target in self.successors[block] or ():
                if target not in modes:
                    modes[target] = mode
                    work.append(target)
                elif modes[target] != mode:
                    raise self.decoder.refuse(
                        self.decoded[target].instruction,
                        self.kernel.name,
                        "the MODE register would differ here depending on the path taken.",
                    )
        return modes

    def _mode_after(self, decoded: Decoded, mode: Mode) -> Mode:
        row = decoded.row
        if not isinstance(row, Control) or row.kind not in ("setreg", "round_mode", "denorm_mode"):
            return mode
        operands = decoded.instruction.operands
        number = mode.bits
        if row.kind in ("round_mode", "denorm_mode"):
            value = operands[0].value
            given = int(value.value) if isinstance(value, Literal) else 0
            shift = 0 if row.kind == "round_mode" else 4
            number = (number & ~(15 << shift)) | (given & 15) << shift
        else:
            field = hardware_field(operands[0].value)
            if field is None or field[0] != "HW_REG_MODE":
                return mode
            _, first, size = field
            value = operands[1].value
            if not isinstance(value, Literal):
                raise self.decoder.refuse(
                    decoded.instruction, self.kernel.name, "MODE is set from a register, which gpulab cannot follow."
                )
            mask = ((1 << size) - 1) << first
            number = (number & ~mask) | (int(value.value) << first & mask)
        changed = Mode(number)
        if not changed.rounds_to_nearest:
            raise self.decoder.refuse(
                decoded.instruction, self.kernel.name, "only rounding to nearest even is executed."
            )
        return changed


class _Function(Structure):
    """The translation of one kernel: `emit` goes through the blocks, `_assemble` ties them together."""

    def __init__(
        self,
        program: Program,
        kernel: KernelDescriptor,
        decoder: Decoder,
        mode: int,
        profile: bool,
        check_alignment: bool,
    ) -> None:
        super().__init__(program, kernel, decoder, mode)
        self.profile, self.check_alignment = profile, check_alignment
        self.emitter = e = Emitter()
        self.entry_live, self.after = analyse(
            {b: [self.decoded[i] for i in body] for b, body in self.blocks.items()}, self.successors
        )
        self.slots: dict[int, int] = {}
        self.symbol_slots: dict[tuple[Symbol, int], int] = {}
        self.segments: list[list[int]] = []
        self._back_edges: dict[tuple[int, int], str] = {}
        self.resume: set[int] = {kernel.entry, *self.landing}
        self.scalars = Scalars(e, self.wave_size)
        self.site = self._entry_values()
        high_half = decoder.high_half
        self.run = Run(
            e,
            self.scalars,
            self.wave_size,
            self.site,
            self.slot,
            self.symbol,
            lambda name: high_half(program.arch, name),
        )
        self.salu = Salu(e, self.scalars, self.site, self.symbol, self.run.special)
        registers = 256 + kernel.agprs if kernel.agprs else max(kernel.vgprs, 1)
        self.crosslane = CrossLaneEmitter(e, self.scalars, self.wave_size, self.salu, registers)

    def symbol(self, symbol: Symbol, index: int) -> str:
        """The value of a symbol operand, from the kernel's table: so code does not depend on addresses and is kept."""
        slot = self.symbol_slots.setdefault((symbol, index), len(self.symbol_slots))
        return self.emitter.let(
            f"load i32, ptr {self.emitter.let(f'getelementptr i32, ptr {self.symbols}, i64 {slot}')}"
        )

    def slot(self, index: int) -> int:
        return self.slots.setdefault(index, len(self.slots))

    def _entry_values(self) -> Site:
        e = self.emitter

        def field(name: str, type: str) -> str:
            address = e.entry(f"getelementptr i8, ptr %wave, i64 {layout.offset(name)}")
            return e.entry(f"load {type}, ptr {address}, !invariant.load !2")

        def buffer() -> str:
            return e.entry("alloca <8 x i32>, align 32")

        e.entry_lines.append("  ; what never changes during the kernel")
        blend = field("blend", "ptr")
        e.entry_lines.append(f"  %blend = getelementptr i8, ptr {blend}, i64 0")
        arena = field("arena", "ptr")
        lds_bytes = e.entry(f"zext i32 {field('lds_bytes', 'i32')} to i64")
        scratch_bytes = e.entry(f"zext i32 {field('scratch_bytes', 'i32')} to i64")
        self.counters = field("counters", "ptr")
        self.active = field("active", "ptr")
        self.symbols = field("symbols", "ptr")
        return Site(
            low=buffer(),
            high=buffer(),
            pointers=e.entry("alloca <8 x ptr>, align 64"),
            old=e.entry("alloca <16 x i32>, align 32"),
            data=e.entry("alloca [4 x <8 x i32>], align 32"),
            arena=arena,
            arena_number=e.entry(f"ptrtoint ptr {arena} to i64"),
            cache=field("cache", "ptr"),
            lds=field("lds", "ptr"),
            lds_bytes=lds_bytes,
            scratch=field("scratch", "ptr"),
            scratch_bytes=scratch_bytes,
            resolve=field("resolve", "ptr"),
            load=field("load", "ptr"),
            store=field("store", "ptr"),
            fault="faulted",
            check_alignment=self.check_alignment,
        )

    def emit(self) -> Translation:
        e = self.emitter
        numbers = {block: n for n, block in enumerate(self.blocks)}
        for block, body in self.blocks.items():
            e.label(f"b{block}")
            self.scalars.forget()
            self.run.new_block()
            self._count(self.counters, numbers[block], "1")
            mode = self.modes.get(block)
            if mode is None:
                mode = next(iter(self.modes.values()))
            self._open_segment()
            ended = False
            for index in body:
                decoded = self.decoded[index]
                if self.profile:
                    self.segments[-1].append(index)
                ended = self._instruction(decoded, mode)
                mode = self._mode_after(decoded, mode)
                if decoded.exec_effect and not ended and index != body[-1]:
                    self._open_segment()
            if not ended:
                self._finish(body[-1])
                if body[-1] + 1 in self.blocks:
                    e.jump(f"b{body[-1] + 1}")
                else:
                    self._stop("bad jump", body[-1])
        return self._assemble()

    def _open_segment(self) -> None:
        if not self.profile:
            return
        self.segments.append([])
        mask = self.scalars.mask(layout.EXEC)
        lanes = self.emitter.call("i64", "llvm.ctpop.i64", f"i64 {mask}")
        self._count(self.active, len(self.segments) - 1, lanes)

    def _count(self, array: str, number: int, amount: str) -> None:
        e = self.emitter
        address = e.let(f"getelementptr i64, ptr {array}, i64 {number}")
        total = e.let(f"add i64 {e.let(f'load i64, ptr {address}')}, {amount}")
        e.do(f"store i64 {total}, ptr {address}")

    def _live(self, index: int) -> Live:
        return self.after[index]

    def _flush(self) -> None:
        self.run.flush(self._live)

    def _finish(self, index: int) -> None:
        """The end of a block whose last instruction is `index`: everything that is live goes to the wave's state."""
        self._flush()
        self.scalars.flush(self.after[index].scalars)

    def _instruction(self, decoded: Decoded, mode: Mode) -> bool:
        """Emit one instruction; True if it ended the block."""
        row = decoded.row
        if isinstance(row, Control):
            return self._control(decoded, row, mode)
        if isinstance(row, CrossLane):
            touched = decoded.cross_reads | decoded.vector_writes
            if (
                self.run.conflicts(decoded)
                or self.run.vectors & touched
                or row.kind not in ("readlane", "readfirstlane")
            ):
                self._flush()
            self.crosslane.emit(decoded, row)
            return False
        if isinstance(row, Matrix):
            self._flush()
            matrix.emit(self.emitter, decoded, row, self.wave_size)
            return False
        if decoded.index in self.indexed:
            self._flush()
            mode_bits = self.indexed[decoded.index]
            index = self.emitter.let(f"and i32 {self.scalars.word(layout.M0)}, 255")
            self.crosslane.move(decoded, bool(mode_bits & 1), bool(mode_bits & 8), index)
            return False
        if decoded.is_vector:
            if self.run.conflicts(decoded):
                self._flush()
            if is_dpp(decoded.instruction):
                self._flush()
                only, buffer = self.crosslane.dpp(decoded)
                self.run.add(decoded, mode)
                item = self.run.items[-1]
                item.only = only
                position = next(n for n, (p, _) in enumerate(decoded.sources) if not p.implicit)
                item.sources[position] = type(item.sources[position])("buffer", buffer)  # type: ignore[misc]
                self._flush()
                return False
            self.run.add(decoded, mode)
            if decoded.exec_effect:
                self._flush()
            return False
        if self.run.conflicts(decoded) or decoded.exec_effect or decoded.scalar_writes & bits(layout.EXEC, 2):
            self._flush()
        if isinstance(row, Memory):
            if self.run.spaces.get("global") == "store":
                self._flush()
            self.salu.load(decoded, self.slot(decoded.index))
        else:
            assert isinstance(row, Row)
            self.salu.row(decoded, mode)
        return False

    def _store_field(self, name: str, value: int) -> None:
        e = self.emitter
        address = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset(name)}")
        e.do(f"store i32 {value}, ptr {address}")

    def _stop(self, kind: str, index: int) -> None:
        e = self.emitter
        address = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('stop')}")
        function = e.let(f"load ptr, ptr {address}")
        e.let(f"call i32 {function}(ptr %wave, i32 {layout.FAULTS.index(kind)}, i32 {index})")
        e.jump("faulted")

    def _goto(self, source: int, target: int) -> str:
        """The label to branch to from `source`: for a backward branch a piece that counts the budget."""
        if target > source:
            return f"b{target}"
        self.resume.add(target)
        label = f"back.{source}.{target}"
        self._back_edges.setdefault((source, target), label)
        return label

    def _control(self, decoded: Decoded, row: Control, mode: Mode) -> bool:
        e, kind, index = self.emitter, row.kind, decoded.index
        if kind in ("wait", "nop", "sleep", "sendmsg", "setreg", "round_mode", "denorm_mode"):
            return False
        if self.run.conflicts(decoded):
            self._flush()
        if kind == "end":
            self._flush()
            e.do(f"ret i32 {layout.ENDED}")
            return True
        if kind == "branch":
            self._finish(index)
            e.jump(self._goto(index, _label(self.program, decoded)))
            return True
        if kind == "cbranch":
            self._flush()
            condition = self._condition(row.condition)
            self._finish(index)
            taken = self._goto(index, _label(self.program, decoded))
            e.branch(condition, taken, f"b{index + 1}")
            return True
        if kind == "barrier":
            self._finish(index)
            self.resume.add(index + 1)
            self._store_field("pc", index + 1)
            e.do(f"ret i32 {layout.BARRIER}")
            return True
        if kind == "trap":
            if not stops(decoded):
                self._finish(index)
                e.jump(f"b{index + 1}")
                return True
            self._flush()
            self._stop("trap", index)
            return True
        if kind in ("call", "jump"):
            self._jump(decoded, kind)
            return True
        if kind == "getpc":
            number = self._scalar_target(decoded)
            self.scalars.set_pair(number, str(layout.CODE_BASE + layout.INSTRUCTION_BYTES * (index + 1)))
        elif kind in ("time", "realtime", "sendmsg_rtn"):
            address = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('clock')}")
            now = e.let(f"call i64 {e.let(f'load ptr, ptr {address}')}(ptr %wave)")
            register = decoded.instruction.operands[0].value
            assert isinstance(register, Register)
            if register.count == 1:
                self.scalars.set_word(self._scalar_target(decoded), e.let(f"trunc i64 {now} to i32"))
            else:
                self.scalars.set_pair(self._scalar_target(decoded), now)
        elif kind.startswith("gpr_index"):
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
        assert number is not None
        return number

    def _condition(self, condition: str) -> str:
        e = self.emitter
        if condition.startswith("scc"):
            scc = self.scalars.condition()
            return scc if condition == "scc1" else e.let(f"xor i1 {scc}, true")
        mask = self.scalars.mask(layout.VCC if condition.startswith("vcc") else layout.EXEC)
        return e.let(f"icmp {'eq' if condition.endswith('z') and not condition.endswith('nz') else 'ne'} i64 {mask}, 0")

    def _jump(self, decoded: Decoded, kind: str) -> None:
        e, index = self.emitter, decoded.index
        operands = decoded.instruction.operands
        source = operands[-1]
        self._flush()
        if isinstance(source.value, Symbol):
            target = str(layout.CODE_BASE + layout.INSTRUCTION_BYTES * _label(self.program, decoded))
        else:
            assert isinstance(source.value, Register)
            number = scalar_number(source.value)
            assert number is not None
            target = self.scalars.pair(number)
        if kind == "call":
            self.scalars.set_pair(
                self._scalar_target(decoded), str(layout.CODE_BASE + layout.INSTRUCTION_BYTES * (index + 1))
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

    def _spend(self, amount: int) -> str:
        e = self.emitter
        address = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('budget')}")
        left = e.let(f"sub i64 {e.let(f'load i64, ptr {address}')}, {amount}")
        e.do(f"store i64 {left}, ptr {address}")
        return left

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

    def _getreg(self, decoded: Decoded, mode: Mode) -> None:
        """Hardware registers that a kernel may ask for; identifiers of the wave's place are those of a single CU."""
        e = self.emitter
        field = hardware_field(decoded.instruction.operands[1].value)
        assert field is not None
        name, first, size = field
        if name in CLOCKS:
            address = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('clock')}")
            now = e.let(f"call i64 {e.let(f'load ptr, ptr {address}')}(ptr %wave)")
            value = e.let(f"trunc i64 {now} to i32")
        elif name == "HW_REG_MODE":
            value = str(mode.bits)
        elif name == "HW_REG_SH_MEM_BASES":
            value = str((layout.SHARED_BASE >> 16) << 16 | layout.PRIVATE_BASE >> 16)
        else:
            value = "0"
        mask = (1 << size) - 1
        result = e.let(f"and i32 {e.let(f'lshr i32 {value}, {first}')}, {mask if size < 32 else -1}")
        self.scalars.set_word(self._scalar_target(decoded), result)

    def _assemble(self) -> Translation:
        e = self.emitter
        for (source, target), label in self._back_edges.items():
            e.label(label)
            left = self._spend(max(1, source - target + 1))
            e.branch(e.let(f"icmp sgt i64 {left}, 0"), f"b{target}", f"{label}.yield", likely=True)
            e.label(f"{label}.yield")
            self._store_field("pc", target)
            self._store_field("first_instruction", source)
            e.do(f"ret i32 {layout.YIELD}")
        e.label("dispatch")
        address = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('pc')}")
        pc = e.let(f"load i32, ptr {address}")
        left_at = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('budget')}")
        out = e.let(f"icmp sle i64 {e.let(f'load i64, ptr {left_at}')}, 0")
        e.branch(out, "yield", "select", likely=False)
        e.label("yield")
        e.do(f"ret i32 {layout.YIELD}")
        e.label("select")
        targets = " ".join(f"i32 {t}, label %b{t}" for t in sorted(self.resume) if t in self.blocks)
        e.do(f"switch i32 {pc}, label %lost [ {targets} ]")
        e.label("lost")
        stop_at = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('stop')}")
        stop = e.let(f"load ptr, ptr {stop_at}")
        from_at = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('first_instruction')}")
        came = e.let(f"load i32, ptr {from_at}")
        e.let(f"call i32 {stop}(ptr %wave, i32 {layout.FAULTS.index('bad jump')}, i32 {came})")
        e.jump("faulted")
        e.label("faulted")
        e.do(f"ret i32 {layout.FAULT}")
        name = "kernel"
        head = f"define i32 @{name}(ptr noalias %wave, ptr noalias %vgprs) nounwind {{\nentry:\n"
        body = "\n".join([*e.entry_lines, "  br label %dispatch", *e.lines])
        tail = (
            "\n}\n"
            + "\n".join(e.declarations.values())
            + '\n!0 = !{!"branch_weights", i32 1000, i32 1}\n!1 = !{!"branch_weights", i32 1, i32 1000}\n!2 = !{}\n'
        )
        start = self.entry_live[self.kernel.entry]
        zeroed = [r for r in range(512) if (start.active | start.asleep) >> r & 1]
        return Translation(
            head + body + tail,
            name,
            [list(b) for b in self.blocks.values()],
            self.segments,
            zeroed,
            len(self.slots),
            self.decoded,
            list(self.symbol_slots),
        )


def translate(
    program: Program,
    kernel: KernelDescriptor,
    decoder: Decoder,
    mode: int,
    profile: bool = False,
    check_alignment: bool = True,
) -> Translation:
    """LLVM IR of a kernel with all device functions it reaches.

    Args:
        mode: the MODE register at the start.
        profile: also count active lanes per segment.
        check_alignment: refuse unaligned loads and stores (see memory.py).

    Raises:
        UnsupportedInstruction: an instruction without a row, or one that gpulab cannot execute.
    """
    return _Function(program, kernel, decoder, mode, profile, check_alignment).emit()
