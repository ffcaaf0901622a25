"""Kernels whose waves mostly go straight through: `Straight` emits one function for all waves of a workgroup.

A kernel without loops and barriers, whose threads have one coordinate, needs no wave's state in memory where all lanes
of a wave stay active from the first instruction to the last. VGPR 0 goes up by one from lane to lane there, from a
number that is known, so that of most addresses the first lane and the step are known without a look (linear.py). A wave
does nothing before all is checked: its stores come last, and nothing is loaded after one. Where it cannot go on (a lane
that a condition leaves out, an access that is not quick) it has done nothing yet: the function returns how many waves
are through, and the others take the ordinary way (native/workgroups.c). Observed waves never come here.
"""

from __future__ import annotations

from gpulab.virtual_gpu.isa.instruction import Register
from gpulab.virtual_gpu.isa.row import Control, Memory, Row
from gpulab.virtual_gpu.translate import layout
from gpulab.virtual_gpu.translate.branching import Branching
from gpulab.virtual_gpu.translate.chunk import Chunk
from gpulab.virtual_gpu.translate.decode import Decoded, bits, scalar_number
from gpulab.virtual_gpu.translate.emitter import NOTHING, TRUE, ZERO, Constant, Emitter, Integer, Value, splat
from gpulab.virtual_gpu.translate.frame import Piece, Unfit
from gpulab.virtual_gpu.translate.linear import Line
from gpulab.virtual_gpu.translate.modes import Mode
from gpulab.virtual_gpu.translate.runs import WHOLE_ITEMS
from gpulab.virtual_gpu.translate.structure import label_of


class _Wave(Chunk):
    """All lanes of a wave that has not begun: VGPR 0 numbers the lanes of the workgroup, the others are 0."""

    def __init__(self, emitter: Emitter, wave_size: int, first: Value) -> None:
        super().__init__(emitter, wave_size, ZERO, Integer(-1), "missed")
        lanes = Constant("<" + ", ".join(f"i32 {n}" for n in range(wave_size)) + ">")
        self.values[0] = emitter.let(f"add {emitter.v32} {splat(emitter, 'i32', first)}, {lanes}")
        assert self.lines is not None
        self.lines.carried(self.values[0], None, Line(first, Integer(1), TRUE, 32))
        self.gathers, self.last = True, []

    def load(self, register: int) -> Value:
        return NOTHING


class Straight(Branching):
    """Emits it."""

    def _straight(self, common: list[str], name: str) -> str:
        """The text of the function `name`, or nothing where the kernel is not one of these.

        Args:
            common: lines that each function of the kernel begins with.
        """
        way = self._way() if self.run.whole else None
        if way is None:
            return ""
        e, piece = self.emitter, Piece(False)
        self._switch(piece)
        e.label("next")
        e.do("%number = phi i64 [ 0, %entry ], [ %after, %done ]")
        first = e.let(f"trunc i64 {e.let(f'mul i64 %number, {self.wave_size}')} to i32")
        try:
            with e.of_lanes(self.wave_size):
                self._go(way, first)
        except Unfit:
            return ""
        finally:
            self.salu.missed = ""
            self.scalars.forget()
            self.run.new_block()
        e.jump("done")
        e.label("done")
        e.do("%after = add i64 %number, 1")
        e.branch(e.let("icmp ult i64 %after, %waves"), "next", "out")
        e.label("missed")
        e.jump("out")
        e.label("out")
        e.do("%through = phi i64 [ %after, %done ], [ %number, %missed ]")
        numbers = {block: n for n, block in enumerate(self.blocks)}
        for block in {block for block, _ in way}:
            at = e.let(f"getelementptr i64, ptr {self.counters}, i64 {numbers[block]}")
            count = e.let(f"load i64, ptr {at}")
            e.do(f"store i64 {e.let(f'add i64 {count}, %through')}, ptr {at}")
        e.do("ret i64 %through")
        head = f"define i64 @{name}(ptr noalias %wave, i64 %waves) nounwind noinline {{"
        own = ["  %vgprs = getelementptr i8, ptr %wave, i64 0", *piece.entry_lines]  # no register is there
        return "\n".join([head, "entry:", *common, *own, "  br label %next", *e.lines, "}"])

    def _way(self) -> list[tuple[int, Decoded]] | None:
        """The instructions from the first to the last if no lane leaves, each with its block; None if there may be a
        loop, or something that needs the wave's state."""
        found: list[tuple[int, Decoded]] = []
        block: int | None = self.kernel.entry
        seen: set[int] = set()
        stored = False
        while block is not None:
            if block in seen or block not in self.blocks:
                return None
            seen.add(block)
            body = [self.decoded[index] for index in self.blocks[block]]
            following: int | None = body[-1].index + 1
            for decoded in body:
                row = decoded.row
                if isinstance(row, Control):
                    if row.kind == "end":
                        found.append((block, decoded))
                        vectors = sum(each.is_vector for _, each in found)
                        return found if stored and vectors <= WHOLE_ITEMS else None
                    if row.kind == "branch" or (row.kind == "cbranch" and row.register == "exec" and row.nonzero):
                        following = label_of(self.program, decoded)
                    elif row.kind == "cbranch":
                        if row.register == "vcc" or label_of(self.program, decoded) <= decoded.index:
                            return None
                    elif row.kind not in ("wait", "nop", "sendmsg") or row.order or row.caches:
                        return None
                elif isinstance(row, Memory):
                    load = row.action == "load"
                    plain = row.space == "global" and row.action != "atomic" if decoded.is_vector else load
                    if not plain or (stored and load):
                        return None
                    stored = not load
                elif not isinstance(row, Row) or decoded.index in self.indexed:
                    return None
                found.append((block, decoded))
            block = following
        return None

    def _go(self, way: list[tuple[int, Decoded]], first: Value) -> None:
        """One wave, from its first instruction to its last.

        Raises:
            Unfit: an instruction that cannot be emitted so.
        """
        e, scalars = self.emitter, self.scalars
        scalars.forget()
        self.run.new_block()
        scalars.set_mask(layout.EXEC, self._full)
        chunk = _Wave(e, self.wave_size, first)
        self.salu.missed = "missed"
        for block, decoded in way:
            row, mode = decoded.row, self.modes.get(block) or next(iter(self.modes.values()))
            if isinstance(row, Control):
                if row.kind == "cbranch" and row.register == "scc":
                    self._on(self._condition(row), False)
            elif decoded.is_vector:
                self._lanes(decoded, mode, chunk)
            else:
                self._drop(decoded.scalar_writes, chunk)
                if decoded.exec_effect or decoded.scalar_writes & bits(layout.EXEC, 2):
                    self._all_stay(decoded)
                elif isinstance(row, Memory):
                    self.salu.memory(decoded, self.slot(decoded.index))
                else:
                    self.salu.row(decoded, mode)
        for store in chunk.last or ():
            e.do(store)

    @property
    def _full(self) -> Integer:
        """A lane mask with all bits."""
        return Integer(-1 if self.wave_size == 64 else (1 << 32) - 1)

    def _on(self, condition: Value, wanted: bool) -> None:
        """Goes on if a condition is as wanted."""
        e = self.emitter
        on = e.name("on")
        e.branch(condition, *((on, "missed") if wanted else ("missed", on)), likely=wanted)
        e.label(on)

    def _lanes(self, decoded: Decoded, mode: Mode, chunk: Chunk) -> None:
        """A vector instruction. Lane masks that it makes are scalars at once, as all lanes are there; what vector
        instructions take of them they take as they were made, of which more is known (linear.py)."""
        e, run = self.emitter, self.run
        self._drop(run.needs_whole(decoded), chunk)
        if not run.at_once(chunk, decoded, mode):
            raise Unfit
        for start in [start for start in chunk.masks if decoded.scalar_writes >> start & 1]:
            made = e.let(f"bitcast {e.v1} {chunk.masks[start]} to {e.byte}")
            mask = made if e.lanes == 64 else e.let(f"zext {e.byte} {made} to i64")
            if start != layout.EXEC:
                self.scalars.set_mask(start, mask)
                continue
            self._on(e.let(f"icmp eq i64 {mask}, {self._full}"), True)  # a comparison that sets EXEC (RDNA)
            self._drop(bits(layout.EXEC, 2), chunk)

    def _drop(self, registers: int, chunk: Chunk) -> None:
        """Of lane masks in these scalar registers no more is known than what they are as scalars."""
        for start in [start for start in chunk.masks if bits(start, self.wave_size // 32) & registers]:
            del chunk.masks[start]
            self.run.masks &= ~bits(start, self.wave_size // 32)
            self.run.starts.discard(start)

    def _all_stay(self, decoded: Decoded) -> None:
        """A scalar instruction that sets EXEC, of which all bits are to stay.

        Raises:
            Unfit: another one than and, which takes lanes away, and or, which gives some back.
        """
        e, row, scalars = self.emitter, decoded.row, self.scalars
        target, *sources = decoded.instruction.operands
        number = scalar_number(target.value) if isinstance(target.value, Register) else None
        if number is None or not isinstance(row, Row):
            raise Unfit
        if decoded.exec_effect == "narrow" and row.logic == "and":
            for source in sources:
                given = scalar_number(source.value) if isinstance(source.value, Register) else None
                if given is None:
                    raise Unfit
                self._on(e.let(f"icmp eq i64 {scalars.mask(given)}, {self._full}"), True)
        elif decoded.exec_effect != "wide" or row.logic != "or" or number != layout.EXEC:
            raise Unfit
        if number != layout.EXEC:
            scalars.set_mask(number, self._full)
        scalars.set_condition(TRUE)
