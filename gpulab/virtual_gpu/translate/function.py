"""One kernel as an LLVM function: `translate` finds its blocks, emits each and ties them together.

A kernel's function takes a wave's state and runs it until it ends (ENDED), waits at a barrier (BARRIER), has used its
instruction budget (YIELD) or faults (FAULT). Every block starts with all scalars in the wave's state, so a wave is
resumed by a switch on its pc: after barriers, at loop heads, at return points and at function entries.

A large kernel becomes several functions, each a `Piece` of its blocks, as LLVM takes more than twice as long for a
function twice as large. Control goes from one to the other through the pc, too (ELSEWHERE). Blocks outside loops, which
a wave executes once, go into pieces of their own, which are compiled quickly (`Translation.quick`), until the kernel
has run for so long that it is worth it (machine/loading.py). In a huge kernel loops are optimised less until then.

`structure` has blocks and modes, `frame` what all parts share, `branching` control instructions, `pieces` the
functions.
"""

from __future__ import annotations

from bisect import bisect_right

from gpulab.virtual_gpu.isa.instruction import KernelDescriptor, Program, Register
from gpulab.virtual_gpu.isa.row import Control, CrossLane, Image, Matrix, Memory, Row
from gpulab.virtual_gpu.translate import images, layout, matrix
from gpulab.virtual_gpu.translate.captured import Gathered
from gpulab.virtual_gpu.translate.decode import ALL_SCALARS, ALL_VECTORS, Decoded, Decoder, bits, is_dpp, words
from gpulab.virtual_gpu.translate.emitter import Integer, Value
from gpulab.virtual_gpu.translate.frame import Piece
from gpulab.virtual_gpu.translate.held import Held
from gpulab.virtual_gpu.translate.liveness import Live
from gpulab.virtual_gpu.translate.modes import Mode
from gpulab.virtual_gpu.translate.phases import Phases
from gpulab.virtual_gpu.translate.pieces import STRAIGHT, Pieces, Translation

PIECE = 2500  # lines of IR from which on a function ends, where no loop is cut and much is to come
LARGE = 500  # instructions from which on blocks outside loops are compiled quickly
HUGE = 3000  # instructions from which on loops over chunks are spared LLVM's strength reduction, too


class _Function(Held, Phases, Pieces):
    """The translation of one kernel: `emit` goes through the blocks, `Pieces._assemble` ties them together."""

    def emit(self) -> Translation:
        e = self.emitter
        numbers = {block: n for n, block in enumerate(self.blocks)}
        common, e.entry_lines = e.entry_lines, []
        pieces: dict[bool, Piece] = {}
        self.pieces = []
        cut, inside = self._loops_around()
        begin, end = self._own_range()
        large = self.quick and len(self.order) >= LARGE
        limit = PIECE * (2 if self.run.whole else 1)  # runs stand there twice
        done = 0  # instructions
        held = self._find_held()
        for block, body in self.blocks.items():
            quick = large and not inside[block] and begin <= block < end
            piece = pieces.get(quick)
            loop = held.get(block)
            if piece is not None and not (loop and piece.blocks & loop.blocks):
                size = len(piece.lines)
                if size > 8 * limit or (size > limit and not cut[block] and self._lines_left(done) > limit // 3):
                    piece = None
            if piece is None:
                piece = pieces[quick] = Piece(quick)
                self.pieces.append(piece)
            self._switch(piece)
            self.run.opaque = self.quick and not quick and len(self.order) >= HUGE
            piece.blocks.add(block)
            done += len(body)
            e.label(f"in.b{block}" if loop and block != loop.head else f"b{block}")
            self.scalars.forget()
            self.run.new_block()
            mode = self.modes.get(block)
            if mode is None:
                mode = next(iter(self.modes.values()))
            whole = self.run.whole
            self.run.whole = not self._sweep(block, mode, numbers[block]) and whole  # what one does the other need not
            if loop:
                self._begin_held(loop, block, numbers)
                self.run.whole = False
            self._count(numbers[block], Integer(1))
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
                    e.jump(self._goto(body[-1], body[-1] + 1))
                else:
                    self._stop("bad jump", body[-1])
            self.run.whole = whole
            if loop:
                self._end_held(loop)
            self._told_loop()
        return self._assemble(common, self._straight(common, STRAIGHT), self.unit)

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

    def _instruction(self, decoded: Decoded, mode: Mode) -> bool:
        """Emit one instruction; True if it ended the block."""
        row = decoded.row
        if self.checked and not self.program.guarantees.compiled:  # written in assembly
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
            self.crosslane.emit(decoded, row, self.indexed.get(decoded.index, 0))
            return False
        if isinstance(row, Matrix):
            self._flush()
            matrix.emit(self.emitter, decoded, row, self.wave_size)
            return False
        if isinstance(row, Image):
            self._flush()
            images.emit(
                self.emitter,
                self.scalars,
                decoded,
                row,
                self.generation,
                self.site.fault,
                self.observe,
                self.salu.operand,
            )
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
            parts = self._by_chunk(decoded)
            self.salu.row(decoded, mode)
            self.scalars.parts.update(parts)
        return False

    def _with_indices(self, decoded: Decoded, mode: Mode, which: int) -> None:
        """A vector instruction under gfx9's register indexing: m0[7:0] is added to the numbers of the operands in
        `which` (1, 2, 4: sources, 8: destination).

        The destination's own register stands in for the one that is meant, and gets its lanes back in the end.
        """
        self._flush()
        index = self.emitter.let(f"and i32 {self.scalars.word(layout.M0)}, 255")
        if isinstance(decoded.row, Row) and decoded.row.is_move and decoded.instruction.encoding != "sdwa":
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
    wide: bool = False,
) -> Translation:
    """LLVM IR of a kernel with all device functions it reaches.

    Args:
        mode: the MODE register at the start.
        profile: also count how often each lane was active, per segment.
        check_alignment: refuse unaligned loads and stores (see lane_access.py).
        lanes: of a chunk (emitter.py); None for what the support code was built with, the host's own.
        checked: tell the checker (machine/native/checked.h) all that it wants to know.
        quick: of a large kernel, put what is outside loops into `Translation.quick`.
        wide: device memory may lie beyond its first 4 GiB (see places.py).

    Raises:
        UnsupportedInstruction: an instruction without a row, or one that gpulab cannot execute.
    """
    return _Function(program, kernel, decoder, mode, profile, check_alignment, lanes, checked, quick, wide).emit()
