"""One kernel as an LLVM function: `translate` finds its blocks, emits each and ties them together.

A kernel's function takes a wave's state and runs it until it ends (ENDED), waits at a barrier (BARRIER), has used its
instruction budget (YIELD) or faults (FAULT). Every block starts with all scalars in the wave's state, so a wave is
resumed by a switch on its pc: after barriers, at loop heads, at return points and at function entries.

A large kernel becomes several functions, each a `_Piece` of its blocks, as LLVM takes more than twice as long for a
function twice as large. Control goes from one to the other through the pc, too (ELSEWHERE). Blocks outside loops, which
a wave executes once, go into pieces of their own, which are compiled quickly (`Translation.quick`), until the kernel
has run for so long that it is worth it (machine/loading.py). In a huge kernel loops are optimised less until then.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from gpulab import architectures
from gpulab.virtual_gpu import isa
from gpulab.virtual_gpu.isa.control import PLACES
from gpulab.virtual_gpu.isa.expression import u32
from gpulab.virtual_gpu.isa.instruction import KernelDescriptor, Literal, Operand, Program, Register, Symbol
from gpulab.virtual_gpu.isa.row import Control, CrossLane, Matrix, Memory, Row
from gpulab.virtual_gpu.translate import jit, layout, matrix
from gpulab.virtual_gpu.translate.captured import Gathered
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
    words,
)
from gpulab.virtual_gpu.translate.emitter import ZERO, Emitter, Integer, Value, signed
from gpulab.virtual_gpu.translate.liveness import Live, analyse
from gpulab.virtual_gpu.translate.memory import Observed, Site
from gpulab.virtual_gpu.translate.modes import Mode
from gpulab.virtual_gpu.translate.runs import Run
from gpulab.virtual_gpu.translate.salu import Salu
from gpulab.virtual_gpu.translate.scalars import Scalars

PIECE = 2500  # lines of IR from which on a function ends, where no loop is cut and much is to come
LARGE = 500  # instructions from which on blocks outside loops are compiled quickly
HUGE = 3000  # instructions from which on loops over chunks are spared LLVM's strength reduction, too
# Adds the small counts of a row of lane counts (layout.py) to its sums, and sets them to zero.
_SUM_LANES = f"""\
define internal void @sum_lanes(ptr %row) nounwind noinline {{
entry:
  %small = getelementptr i8, ptr %row, i64 {layout.LANE_BYTES}
  %sums = getelementptr i8, ptr %row, i64 {layout.LANE_SUMS}
  br label %lane
lane:
  %number = phi i64 [ 0, %entry ], [ %next, %lane ]
  %from = getelementptr i8, ptr %small, i64 %number
  %to = getelementptr i64, ptr %sums, i64 %number
  %count = load i8, ptr %from
  %more = zext i8 %count to i64
  %before = load i64, ptr %to
  %after = add i64 %before, %more
  store i64 %after, ptr %to
  store i8 0, ptr %from
  %next = add i64 %number, 1
  %last = icmp eq i64 %next, 64
  br i1 %last, label %done, label %lane
done:
  ret void
}}"""
_LABEL = re.compile(r"label %b(\d+)\b")
_ENDS = ("end", "branch", "cbranch", "call", "jump", "barrier", "sleep", "trap")


@dataclass(slots=True)
class Translation:
    """LLVM IR of a kernel and what its counters mean.

    quick: IR of what is to be compiled quickly and linked with it; or "".
    blocks: the instruction indices of each counted block, in the order of the counters.
    segments: when profiling, the instructions executed under one EXEC each, in the order of the rows of lane counts.
    zeroed: VGPRs that may be read before they are written.
    slots: memory instructions, each with an entry in a thread's table of allocations.
    symbols: (symbol operand, instruction) in the order of the table that a wave's `symbols` points to.
    accesses: what an observer is told of, by the number it is given.
    widest: the most of them in one run: rows of the buffer that a wave's `addresses` points to.
    """

    ir: str
    quick: str
    name: str
    blocks: list[list[int]]
    segments: list[list[int]]
    zeroed: list[int]
    slots: int
    decoded: dict[int, Decoded]
    symbols: list[tuple[Symbol, int]]
    accesses: list[Observed]
    widest: int


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
                elif isinstance(value, Literal):  # a branch too far for s_branch goes through a distance in registers
                    landing.update(program.labels[name] for name in value.places)
                    work += [program.labels[name] for name in value.places]
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


def _fence(decoded: Decoded, arch: str, orders: frozenset[str] | None) -> str:
    """What is left here of an order for the device or more: "release", "acquire", "fence" for both, or nothing.

    An acquire always drops cached lines. A release writes them back from CDNA 3 on. Elsewhere it only waits for
    all accesses, and only if they were not waited for already; so any such wait may have been one, if the kernel has
    releases alone. A fence that is both is known by its acquire. (LLVM, "User Guide for AMDGPU Backend", memory
    models.)

    Args:
        orders: toolchain/memory_order.py, WORDS; None if it is not known.
    """
    instruction, row = decoded.instruction, decoded.row
    if not isinstance(row, Control):
        return ""
    modifiers = instruction.modifiers
    device = bool(modifiers.get("sc1")) or modifiers.get("scope") in ("SCOPE_DEV", "SCOPE_SYS")
    acquires = row.order == "acquire" or (row.order == "scoped acquire" and device)
    if architectures.get(arch).has("gfx940-insts"):
        return "release" if row.order == "release" else "acquire" if acquires else ""
    if acquires:
        return "fence" if orders is None or "fence" in orders else "acquire"
    waits = row.counters and bool(re.search(r"\b0(x0)?\b", instruction.text))
    return "release" if waits and (orders is None or "release" in orders) else ""


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
                elif mode is not None and isinstance(row, Row) and decoded.is_vector:
                    if is_dpp(decoded.instruction):
                        why = "with register indexing on, gpulab executes no DPP."
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
        """What is known of MODE at each block's start. Where paths meet, the bits in which they differ are unknown; an
        indirect jump (a call, a return) may lead to any landing place."""
        modes: dict[int, Mode] = {}
        anywhere: Mode | None = None
        work: list[tuple[int, Mode]] = [(self.kernel.entry, start)]
        while work:
            block, mode = work.pop()
            if block not in self.blocks:
                continue
            known = modes.get(block)
            joined = mode if known is None else known.joined(mode)
            if joined == known:
                continue
            modes[block] = mode = joined
            for index in self.blocks[block]:
                mode = self._mode_after(self.decoded[index], mode)
            targets = self.successors[block]
            if targets is None:
                if anywhere is not None and anywhere.joined(mode) == anywhere:
                    continue
                anywhere = mode if anywhere is None else anywhere.joined(mode)
                targets, mode = list(self.landing), anywhere
            work += [(target, mode) for target in targets]
        return modes

    def _mode_field(self, decoded: Decoded) -> tuple[int, int, Operand] | None:
        """(first bit, bits, new value) of the field of MODE that an instruction writes; None if it writes none."""
        row, operands = decoded.row, decoded.instruction.operands
        if not isinstance(row, Control) or row.kind not in ("setreg", "round_mode", "denorm_mode"):
            return None
        if row.kind != "setreg":
            return (0 if row.kind == "round_mode" else 4), 4, operands[0]
        field = hardware_field(operands[0].value)
        if field is None or field[0] != "HW_REG_MODE":
            return None
        return field[1], field[2], operands[1]

    def _mode_after(self, decoded: Decoded, mode: Mode) -> Mode:
        field = self._mode_field(decoded)
        if field is None:
            return mode
        first, width, given = field
        value = given.value
        return mode.with_field(first, width, int(value.value) if isinstance(value, Literal) else None)


@dataclass(slots=True)
class _Piece:
    """Blocks that become one function, and their lines of IR."""

    quick: bool
    blocks: set[int] = field(default_factory=set)
    lines: list[str] = field(default_factory=list)
    entry_lines: list[str] = field(default_factory=list)  # beside those that all pieces have
    back_edges: dict[tuple[int, int], str] = field(default_factory=dict)


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
        lanes: int | None,
        checked: bool,
        quick: bool,
    ) -> None:
        super().__init__(program, kernel, decoder, mode)
        self.profile, self.check_alignment, self.checked = profile, check_alignment, checked
        self.quick = quick
        self.emitter = e = Emitter(lanes or jit.host().lanes)
        self.entry_live, self.after = analyse(
            {b: [self.decoded[i] for i in body] for b, body in self.blocks.items()}, self.successors
        )
        self.slots: dict[int, int] = {}
        self.symbol_slots: dict[tuple[Symbol, int], int] = {}
        self.segments: list[list[int]] = []
        self.accesses: list[Observed] = []
        self._back_edges: dict[tuple[int, int], str] = {}
        self.resume: set[int] = {kernel.entry, *self.landing}
        self.scalars = Scalars(e, self.wave_size)
        self.site = self._entry_values()
        self.run = Run(
            e,
            self.scalars,
            self.wave_size,
            self.site,
            self.slot,
            self.symbol,
            program.arch,
            self.observe,
            isa.generation_of(program.arch).buffers,
            bool(kernel.directives.get("user_sgpr_private_segment_buffer")),
        )
        self.salu = Salu(e, self.scalars, self.site, self.symbol, self.run.capture.special, self.observe)
        registers = 256 + kernel.agprs if kernel.agprs else max(kernel.vgprs, 1)
        self.crosslane = CrossLaneEmitter(e, self.scalars, self.wave_size, self.salu, registers, checked)

    def symbol(self, symbol: Symbol, index: int) -> Value:
        """The value of a symbol operand, from the kernel's table: so code does not depend on addresses and is kept."""
        slot = self.symbol_slots.setdefault((symbol, index), len(self.symbol_slots))
        return self.emitter.let(
            f"load i32, ptr {self.emitter.let(f'getelementptr i32, ptr {self.symbols}, i64 {slot}')}"
        )

    def observe(self, access: Observed) -> int:
        """The number of a memory access for the observer."""
        self.accesses.append(access)
        return len(self.accesses) - 1

    def slot(self, index: int) -> int:
        return self.slots.setdefault(index, len(self.slots))

    def _entry_values(self) -> Site:
        e = self.emitter

        def field(name: str, type: str) -> Value:
            address = e.entry(f"getelementptr i8, ptr %wave, i64 {layout.offset(name)}")
            return e.entry(f"load {type}, ptr {address}, !invariant.load !2")

        e.entry_lines.append("  ; what never changes during the kernel")
        blend = field("blend", "ptr")
        e.entry_lines.append(f"  %blend = getelementptr i8, ptr {blend}, i64 0")
        self.counters = field("counters", "ptr")
        self.active = field("active", "ptr")
        self.symbols = field("symbols", "ptr")
        return Site(
            arena_high=field("high", "i32"),
            cache=field("cache", "ptr"),
            lds=field("lds", "ptr"),
            scratch=field("scratch", "ptr"),
            scratch_bytes=e.entry(f"zext i32 {field('scratch_bytes', 'i32')} to i64"),
            resolve=field("resolve", "ptr"),
            load=field("load", "ptr"),
            store=field("store", "ptr"),
            fault="faulted",
            observer=field("observer", "ptr"),
            addresses=field("addresses", "ptr"),
            check_alignment=self.check_alignment,
            record=self.profile or self.checked,
            checked=self.checked,
        )

    def emit(self) -> Translation:
        e = self.emitter
        numbers = {block: n for n, block in enumerate(self.blocks)}
        common, e.entry_lines = e.entry_lines, []
        pieces: dict[bool, _Piece] = {}
        self.pieces: list[_Piece] = []
        cut, inside = self._loops_around()
        begin, end = self._own_range()
        large = self.quick and len(self.order) >= LARGE
        done = 0  # instructions
        for block, body in self.blocks.items():
            quick = large and not inside[block] and begin <= block < end
            piece = pieces.get(quick)
            if piece is not None:
                size = len(piece.lines)
                if size > 8 * PIECE or (size > PIECE and not cut[block] and self._lines_left(done) > PIECE // 3):
                    piece = None
            if piece is None:
                piece = pieces[quick] = _Piece(quick)
                self.pieces.append(piece)
            self._switch(piece)
            self.run.opaque = self.quick and not quick and len(self.order) >= HUGE
            piece.blocks.add(block)
            done += len(body)
            e.label(f"b{block}")
            self.scalars.forget()
            self.run.new_block()
            self._count(self.counters, numbers[block])
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
        return self._assemble(common)

    def _lines_left(self, done: int) -> int:
        """About how many lines of IR are to come after so many instructions."""
        return (len(self.order) - done) * sum(len(piece.lines) for piece in self.pieces) // max(done, 1)

    def _own_range(self) -> tuple[int, int]:
        """The kernel's own instructions, not those of functions that it calls: from, to."""
        begin = self.kernel.entry
        others = [at for at, _ in self.program.functions.values() if at > begin]
        others += [k.entry for k in self.program.kernels.values() if k.entry > begin]
        return begin, min(others, default=self.order[-1] + 1)

    def _loops_around(self) -> tuple[dict[int, int], dict[int, bool]]:
        """For each block: how many loops would be cut in two by a border before it; whether it is in a loop."""
        starts = list(self.blocks)
        change = dict.fromkeys(starts, 0)
        for block, targets in self.successors.items():
            for target in targets or ():
                if target <= block:
                    at, after = bisect_right(starts, target), bisect_right(starts, block)
                    if at < len(starts):
                        change[starts[at]] += 1
                    if after < len(starts):
                        change[starts[after]] -= 1
        around, cut = 0, {}
        for block in starts:
            around += change[block]
            cut[block] = around
        heads = {t for block, targets in self.successors.items() for t in targets or () if t <= block}
        return cut, {block: bool(cut[block]) or block in heads for block in starts}

    def _switch(self, piece: _Piece) -> None:
        """What is emitted from here on belongs to a piece."""
        e = self.emitter
        if e.lines is not piece.lines:
            e.lines, e.entry_lines, self._back_edges = piece.lines, piece.entry_lines, piece.back_edges
            self.crosslane.new_function()

    def _open_segment(self) -> None:
        if not self.profile:
            return
        self.segments.append([])
        e, size = self.emitter, self.wave_size
        row = e.let(f"getelementptr i8, ptr {self.active}, i64 {layout.LANE_ROW * (len(self.segments) - 1)}")
        mask = self.scalars.mask(layout.EXEC)
        whole, some, full, counted = (e.name(name) for name in ("whole", "some", "full", "counted"))
        e.branch(e.let(f"icmp eq i64 {mask}, {signed((1 << size) - 1, 64)}"), whole, some)
        e.label(whole)
        self._count(row, 0)
        e.jump(counted)
        e.label(some)
        # The mask's bytes, each for eight lanes, of which each looks at its own bit.
        own_mask = e.let(f"trunc i64 {mask} to i32") if size == 32 else mask
        bits = e.let(f"bitcast i{size} {own_mask} to <{size // 8} x i8>")
        spread = ", ".join(f"i32 {lane // 8}" for lane in range(size))
        each = e.let(f"shufflevector <{size // 8} x i8> {bits}, <{size // 8} x i8> poison, <{size} x i32> <{spread}>")
        own = "<" + ", ".join(f"i8 {signed(1 << lane % 8, 8)}" for lane in range(size)) + ">"
        active = e.let(f"icmp eq <{size} x i8> {e.let(f'and <{size} x i8> {each}, {own}')}, {own}")
        place = e.let(f"getelementptr i8, ptr {row}, i64 {layout.LANE_BYTES}")
        before = e.let(f"load <{size} x i8>, ptr {place}, align 8")
        after = e.let(f"sub <{size} x i8> {before}, {e.let(f'sext <{size} x i1> {active} to <{size} x i8>')}")
        e.do(f"store <{size} x i8> {after}, ptr {place}, align 8")
        times = e.let(f"and i64 {self._count(row, 1)}, 127")
        e.branch(e.let(f"icmp ne i64 {times}, 0"), counted, full, likely=True)
        e.label(full)
        e.do(f"call void @sum_lanes(ptr {row})")
        e.jump(counted)
        e.label(counted)

    def _count(self, array: Value, number: int, amount: int = 1) -> Value:
        e = self.emitter
        address = e.let(f"getelementptr i64, ptr {array}, i64 {number}")
        total = e.let(f"add i64 {e.let(f'load i64, ptr {address}')}, {amount}")
        e.do(f"store i64 {total}, ptr {address}")
        return total

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
        if self.checked and not self.check_alignment:  # written in assembly
            self._note("step", decoded.index)
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
            self._with_indices(decoded, mode, self.indexed[decoded.index])
            return False
        if decoded.is_vector:
            if self.run.conflicts(decoded):
                self._flush()
            if is_dpp(decoded.instruction):
                self._flush()
                only, allowed, buffer = self.crosslane.dpp(decoded)
                self.run.add(decoded, mode)
                item = self.run.items[-1]
                item.only, item.allowed = only, allowed
                position = next(n for n, (p, _) in enumerate(decoded.sources) if not p.implicit)
                item.sources[position] = Gathered(buffer)
                self._flush()
                return False
            self.run.add(decoded, mode)
            if decoded.exec_effect:
                self._flush()
            return False
        if self.run.conflicts(decoded) or decoded.exec_effect or decoded.scalar_writes & bits(layout.EXEC, 2):
            self._flush()
        if isinstance(row, Memory):
            if self.run.spaces.get("global") == "store" or (row.action != "load" and self.run.spaces.get("global")):
                self._flush()
            self.salu.memory(decoded, self.slot(decoded.index))
        else:
            assert isinstance(row, Row)
            self.salu.row(decoded, mode)
        return False

    def _with_indices(self, decoded: Decoded, mode: Mode, which: int) -> None:
        """A vector instruction under gfx9's register indexing: m0[7:0] is added to the numbers of the operands in
        `which` (1, 2, 4: sources, 8: destination).

        The destination's own register stands in for the one that is meant, and gets its lanes back in the end.
        """
        self._flush()
        index = self.emitter.let(f"and i32 {self.scalars.word(layout.M0)}, 255")
        if decoded.instruction.mnemonic == "v_mov_b32" and decoded.instruction.encoding != "sdwa":
            self.crosslane.move(decoded, index if which & 1 else None, index if which & 8 else None)
            return
        cross = self.crosslane
        targets: list[
            tuple[Value, Value, Value]
        ] = []  # the named register, the meant one, room for the named one's lanes
        for result, operand in decoded.results if which & 8 else ():
            if operand is not None and isinstance(operand.value, Register) and operand.value.file == "v":
                for number in range(operand.value.index, operand.value.index + words(result.type)):
                    targets.append((cross.register(number), cross.place(number, index), cross.buffer()))
        for named, meant, room in targets:
            cross.copy(room, named)
            cross.copy(named, meant)
        self.run.add(decoded, mode)
        item = self.run.items[-1]
        position = 0
        for n, (parameter, operand) in enumerate(decoded.sources):
            if parameter.implicit:
                continue
            register = operand.value if operand is not None else None
            if which >> position & 1 and isinstance(register, Register) and register.file == "v":
                item.sources[n] = Gathered(cross.place(register.index, index))
            position += 1
        self.run.flush(lambda _: Live(ALL_SCALARS, ALL_VECTORS, ALL_VECTORS))
        results = [cross.buffer() for _ in targets]
        for (named, _, room), result_ in zip(targets, results, strict=True):
            cross.copy(result_, named)
            cross.copy(named, room)
        for (_, meant, _), result_ in zip(targets, results, strict=True):
            cross.copy(meant, result_)

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

    def _note(self, what: str, index: int) -> None:
        """Tell the checker of something that is not a memory access."""
        e = self.emitter
        address = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('note')}")
        function = e.let(f"load ptr, ptr {address}")
        mask = self.scalars.mask(layout.EXEC)
        failed = e.let(f"call i32 {function}(ptr %wave, i32 {layout.NOTES.index(what)}, i32 {index}, i64 {mask})")
        go = e.name("noted")
        e.branch(e.let(f"icmp eq i32 {failed}, 0"), go, "faulted", likely=True)
        e.label(go)

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
        if kind in ("setreg", "round_mode", "denorm_mode"):
            self._set_mode(decoded, mode)
            return False
        if kind in ("wait", "nop", "sendmsg"):
            orders = self.program.orders.get(self.kernel.name)
            fence = _fence(decoded, self.program.arch, orders) if self.checked else ""
            if fence:
                self._flush()
                self._note(fence, index)
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
            condition = self._condition(row)
            self._finish(index)
            taken = self._goto(index, _label(self.program, decoded))
            e.branch(condition, taken, f"b{index + 1}")
            return True
        if kind in ("barrier", "sleep"):
            # A sleeping wave waits for others: they run before it goes on.
            self._finish(index)
            self.resume.add(index + 1)
            self._store_field("pc", index + 1)
            if kind == "sleep":
                self._store_field("first_instruction", index)
            e.do(f"ret i32 {layout.BARRIER if kind == 'barrier' else layout.SLEEP}")
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
            target: Value = Integer(layout.CODE_BASE + layout.INSTRUCTION_BYTES * _label(self.program, decoded))
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

    def _spend(self, amount: int) -> Value:
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

    def _assemble(self, common: list[str]) -> Translation:
        e, pieces, name = self.emitter, self.pieces, "kernel"
        outside: list[set[int]] = []  # blocks of other pieces that a piece leads to
        for piece in pieces:
            self._back(piece)
            targets = {int(t) for line in piece.lines if line.startswith("  br") for t in _LABEL.findall(line)}
            outside.append(targets - piece.blocks)
            self.resume |= outside[-1]
        modules: dict[bool, list[str]] = {False: [], True: []}
        for n, (piece, elsewhere) in enumerate(zip(pieces, outside, strict=True)):
            title = name if len(pieces) == 1 else f"{name}.{n}"
            modules[piece.quick].append(self._function(piece, elsewhere, common, title))
            if piece.quick:
                modules[False].append(f"declare i32 @{title}(ptr, ptr)")
        if len(pieces) > 1:
            modules[False].append(self._leader(name))
        notes = ['!0 = !{!"branch_weights", i32 1000, i32 1}', '!1 = !{!"branch_weights", i32 1, i32 1000}', "!2 = !{}"]
        own = [_SUM_LANES] if self.profile else []
        text, quick = (
            "\n".join([*functions, *own, *e.declarations.values(), *notes, ""]) if functions else ""
            for functions in modules.values()
        )
        start = self.entry_live[self.kernel.entry]
        zeroed = [r for r in range(512) if (start.active | start.asleep) >> r & 1]
        return Translation(
            text,
            quick,
            name,
            [list(b) for b in self.blocks.values()],
            self.segments,
            zeroed,
            len(self.slots),
            self.decoded,
            list(self.symbol_slots),
            self.accesses,
            self.run.accesses.widest,
        )

    def _back(self, piece: _Piece) -> None:
        """The backward branches of a piece: each counts the budget."""
        e = self.emitter
        e.lines = piece.lines
        for (source, target), label in piece.back_edges.items():
            e.label(label)
            left = self._spend(max(1, source - target + 1))
            e.branch(e.let(f"icmp sgt i64 {left}, 0"), f"b{target}", f"{label}.yield", likely=True)
            e.label(f"{label}.yield")
            self._store_field("pc", target)
            self._store_field("first_instruction", source)
            e.do(f"ret i32 {layout.YIELD}")

    def _function(self, piece: _Piece, outside: set[int], common: list[str], name: str) -> str:
        """A piece with the way in and out."""
        e = self.emitter
        self._switch(piece)
        for target in sorted(outside):
            e.label(f"b{target}")
            self._store_field("pc", target)
            e.do(f"ret i32 {layout.ELSEWHERE}")
        e.label("dispatch")
        address = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('pc')}")
        pc = e.let(f"load i32, ptr {address}")
        left_at = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('budget')}")
        out = e.let(f"icmp sle i64 {e.let(f'load i64, ptr {left_at}')}, 0")
        e.branch(out, "yield", "select", likely=False)
        e.label("yield")
        e.do(f"ret i32 {layout.YIELD}")
        e.label("select")
        known = [t for t in sorted(self.resume) if t in self.blocks]
        cases = [f"i32 {t}, label %{f'b{t}' if t in piece.blocks else 'leave'}" for t in known]
        e.do(f"switch i32 {pc}, label %lost [ {' '.join(cases)} ]")
        e.label("leave")
        e.do(f"ret i32 {layout.ELSEWHERE}")
        e.label("lost")
        stop_at = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('stop')}")
        stop = e.let(f"load ptr, ptr {stop_at}")
        from_at = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('first_instruction')}")
        came = e.let(f"load i32, ptr {from_at}")
        e.let(f"call i32 {stop}(ptr %wave, i32 {layout.FAULTS.index('bad jump')}, i32 {came})")
        e.jump("faulted")
        e.label("faulted")
        e.do(f"ret i32 {layout.FAULT}")
        head = f"define i32 @{name}(ptr noalias %wave, ptr noalias %vgprs) nounwind noinline {{"
        return "\n".join([head, "entry:", *common, *piece.entry_lines, "  br label %dispatch", *e.lines, "}"])

    def _leader(self, name: str) -> str:
        """The function that calls pieces by the pc until one returns for another reason than a jump."""
        cases = []
        for n, piece in enumerate(self.pieces):
            cases += [f"i32 {t}, label %run{n}" for t in sorted(self.resume & piece.blocks)]
        lines = [
            f"define i32 @{name}(ptr noalias %wave, ptr noalias %vgprs) nounwind {{",
            "entry:",
            f"  %at = getelementptr i8, ptr %wave, i64 {layout.offset('pc')}",
            "  br label %next",
            "next:",
            "  %pc = load i32, ptr %at",
            f"  switch i32 %pc, label %run0 [ {' '.join(cases)} ]",
        ]
        for n in range(len(self.pieces)):
            lines += [f"run{n}:", f"  %r{n} = call i32 @{name}.{n}(ptr %wave, ptr %vgprs)", "  br label %done"]
        results = ", ".join(f"[ %r{n}, %run{n} ]" for n in range(len(self.pieces)))
        lines += ["done:", f"  %result = phi i32 {results}", f"  %again = icmp eq i32 %result, {layout.ELSEWHERE}"]
        lines += ["  br i1 %again, label %next, label %out", "out:", "  ret i32 %result", "}"]
        return "\n".join(lines)


def translate(
    program: Program,
    kernel: KernelDescriptor,
    decoder: Decoder,
    mode: int,
    profile: bool = False,
    check_alignment: bool = True,
    lanes: int | None = None,
    checked: bool = False,
    quick: bool = False,
) -> Translation:
    """LLVM IR of a kernel with all device functions it reaches.

    Args:
        mode: the MODE register at the start.
        profile: also count how often each lane was active, per segment.
        check_alignment: refuse unaligned loads and stores (see memory.py).
        lanes: of a chunk (emitter.py); None for what the support code was built with, the host's own.
        checked: tell the checker (machine/native/checked.h) all that it wants to know.
        quick: of a large kernel, put what is outside loops into `Translation.quick`.

    Raises:
        UnsupportedInstruction: an instruction without a row, or one that gpulab cannot execute.
    """
    return _Function(program, kernel, decoder, mode, profile, check_alignment, lanes, checked, quick).emit()
