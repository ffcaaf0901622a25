"""Kernels whose workgroups go from barrier to barrier: `Phases` emits one function for all waves of a workgroup.

What lies between two barriers is a phase. Each phase is a loop over waves, and each wave has all its lanes in the
host's registers. Between phases a wave keeps what is needed later; of a register that goes up evenly from lane to lane
(linear.py) only the first lane. What scalar instructions do is the same for all waves, and is done once, ahead of all.
Lanes may leave and come back: EXEC is followed as a number, what it leaves out keeps its values, and a wave without
active lanes jumps where the kernel does.

Nothing is stored to global memory before all waves are through. LDS belongs to the workgroup, and starts anew with it.
So a workgroup that cannot go on (an access that is not quick, a loop, lanes that all leave past a barrier) has done
nothing yet: the function returns 0, and it takes the ordinary way from the beginning (native/workgroups.c). No
instruction here looks at other lanes. Of a profile, the observer is told of all accesses when all waves are through.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from gpulab.virtual_gpu import dispatch
from gpulab.virtual_gpu.isa.instruction import Literal, Operand, Register
from gpulab.virtual_gpu.isa.row import Control, Memory, Row
from gpulab.virtual_gpu.translate import layout
from gpulab.virtual_gpu.translate.chunk import Chunk, Unfit
from gpulab.virtual_gpu.translate.decode import Decoded, bits, is_dpp, scalar_number
from gpulab.virtual_gpu.translate.emitter import NOTHING, TRUE, ZERO, Constant, Integer, Local, Value, splat
from gpulab.virtual_gpu.translate.frame import SMALL, Piece
from gpulab.virtual_gpu.translate.lane_access import LaneAccess
from gpulab.virtual_gpu.translate.lanesets import ALL, LaneSets
from gpulab.virtual_gpu.translate.linear import Fact, Line
from gpulab.virtual_gpu.translate.masked import Wave, is_even, store_lanes
from gpulab.virtual_gpu.translate.modes import Mode
from gpulab.virtual_gpu.translate.runs import WHOLE_ITEMS
from gpulab.virtual_gpu.translate.straight import MOVED, THREADS, Straight
from gpulab.virtual_gpu.translate.structure import label_of
from gpulab.virtual_gpu.translate.sweeps import BITWISE
from gpulab.virtual_gpu.translate.telling import Telling

KEPT = 12  # registers that a wave keeps between two phases, at most
STORES = 8  # to global memory, at most
ROOMS = 100  # for what waves keep, of 4 KiB at most

Way = list[tuple[int, Decoded]]
"""Instructions, each with its block."""


@dataclass(slots=True)
class _Stored:
    """A store to global memory that is done in the end: where each wave's value, place and lanes are kept."""

    values: Value
    places: Value
    lanes: Value
    align: int


@dataclass(slots=True)
class _Scope:
    """What was known where a wave without active lanes jumps ahead, to the instruction `target`."""

    target: int
    label: str
    came: str
    values: dict[int, Value]
    masks: dict[int, Value]
    lanes: Value  # active ones: none, if it jumps
    facts: dict[Value, Fact]
    sets: LaneSets
    entered: Value  # where it is counted how many waves do not jump
    writes: int = 0  # scalar registers that are written on the way there


@dataclass(slots=True)
class _Kept:
    """What a wave keeps from one phase to the next, each where all waves' values stand.

    lines: of registers that go up evenly, with the bits and the step.
    """

    constants: dict[int, Value]
    lines: list[tuple[int, int, Value, Value]]
    vectors: list[tuple[int, Value]]
    masks: list[tuple[int, Value]]
    whole: list[int]
    exec: Value | None  # None: all lanes


class Phases(Straight):
    """Emits it."""

    _scopes: list[_Scope]
    _stored: list[_Stored]  # in this phase
    _rooms: int  # for what waves keep
    _sets: LaneSets | None = None  # of a wave's phase
    _inside: dict[int, Value | None]  # of each block: where its waves are counted, if they are not all
    # of a profile: segments by their first instruction; their blocks; where lanes are counted, if they are not all
    _segment_at: dict[int, int]
    _opened: dict[int, int]
    _active: dict[int, tuple[Value, Value]]
    _counted: dict[tuple[Value, str], tuple[Value, Value]]  # the same by EXEC, and the label of the scope

    def _straight(self, common: list[str], name: str) -> str:
        return super()._straight(common, name) or self._phases(common, name)

    def _phases(self, common: list[str], name: str) -> str:
        """The text of the function `name`, or nothing where the kernel is not one of these."""
        fits = len(self.order) < SMALL and not self.checked and self.emitter.own_lanes == 16
        start = dispatch.initial_registers(self.kernel, self.program.arch)
        phases = self._split() if fits and start.work_item_dimensions == 1 else None
        if phases is None:
            return ""
        e, piece, scalars = self.emitter, Piece(False), self.scalars
        self._switch(piece)
        e.begin_loop()
        scalars.ahead = True
        scalars.forget()
        # Read as a number where all lanes are active; elsewhere it is a lane mask, of which that is refused.
        scalars.set_mask(layout.EXEC, Integer(-1 if self.wave_size == 64 else (1 << 32) - 1))
        self._ahead, self._lost = "entry", 0
        self._scopes, self._inside, self._rooms = [], {}, 0
        self._opened, self._active, self._counted = {}, {}, {}
        self._segment_at = {segment[0]: number for number, segment in enumerate(self.segments)}
        self.salu.missed = "none"
        e.label("begin")
        try:
            with e.of_lanes(self.wave_size):
                self._all(phases)
        except Unfit:
            return ""
        finally:
            self._sets = None
            ahead = e.end_loop()
            self.salu.missed, scalars.ahead = "", False
            scalars.forget()
            self.run.new_block()
        e.do("ret i64 %waves")
        for label in ("missed", "none"):
            e.label(label)
            e.do("ret i64 0")
        self.unit = self.wave_size
        head = self._head(name)
        own = ["  %vgprs = getelementptr i8, ptr %wave, i64 0", *piece.entry_lines]  # no register is there
        return "\n".join([head, "entry:", *common, *own, *ahead, "  br label %begin", *e.lines, "}"])

    def _split(self) -> list[Way] | None:
        """The instructions of each phase; None if there is something that needs the wave's state."""
        phases: list[Way] = []
        way: Way = []
        block = self.kernel.entry
        stored = lds = False
        while block in self.blocks:
            body = [self.decoded[index] for index in self.blocks[block]]
            for decoded in body:
                row = decoded.row
                way.append((block, decoded))
                if isinstance(row, Control):
                    if row.kind == "end":
                        return [*phases, way] if stored and (phases or lds) else None
                    if row.kind == "barrier":
                        phases.append(way)
                        way = []
                    elif row.kind == "cbranch":
                        ahead = label_of(self.program, decoded) > decoded.index
                        if not ahead or row.register == "vcc" or (row.register == "exec" and row.nonzero):
                            return None
                    elif row.kind not in ("wait", "nop", "sendmsg"):
                        return None
                    elif row.order or (row.caches and not all(isinstance(d.row, Control) for _, d in way)):
                        return None  # else it belongs to a barrier
                elif isinstance(row, Memory):
                    load, everywhere = row.action == "load", row.space == "global" or not decoded.is_vector
                    if (
                        row.action == "atomic"
                        or not (everywhere or row.space == "lds")
                        or not (load or decoded.is_vector)
                    ):
                        return None
                    if everywhere and load and stored:
                        return None
                    lds = lds or not everywhere
                    stored = stored or (everywhere and not load)
                elif not isinstance(row, Row) or decoded.index in self.indexed or is_dpp(decoded.instruction):
                    return None
            block = body[-1].index + 1
        return None

    def _all(self, phases: list[Way]) -> None:
        """All phases, then the stores to global memory, and what is counted."""
        e = self.emitter
        kept: _Kept | None = None
        stored: list[list[_Stored]] = []
        tellings: list[Telling] = []
        for phase in phases:
            vectors = [decoded.row for _, decoded in phase if decoded.is_vector]
            moved = sum(max(1, row.element * row.count // 32) for row in vectors if isinstance(row, Memory))
            if len(vectors) > WHOLE_ITEMS or moved > MOVED:
                raise Unfit
            self._stored = []
            self._sets = LaneSets(e)
            self._telling = self._told_of({decoded.index for _, decoded in phase})
            tellings += [self._telling] if self._telling is not None else []
            with self._each_wave():
                wave = Wave(e, self.wave_size, "missed", self._keep_store)
                if self._telling is not None:
                    wave.told = partial(self._tell_access, wave, self._telling)
                self._begin_phase(wave, kept)
                self._phase(phase, wave)
                if phase is not phases[-1]:
                    kept = self._end_phase(wave, phase[-1][1].index)
            stored.append(self._stored)
        if sum(map(len, stored)) > STORES:
            raise Unfit
        for each in stored:
            if each:
                with self._each_wave():
                    self._store_all(each)
        for telling in tellings:
            telling.tell(Local("%tell"), ZERO, Local("%waves"))
            telling.declare(self._numbers())
        numbers = {block: n for n, block in enumerate(self.blocks)}
        for block, where in self._inside.items():
            times: Value = Local("%waves") if where is None else e.let(f"load i64, ptr {where}")
            self._count(numbers[block], times)
        for number, block in self._opened.items():
            self._end_segment(number, self._inside[block])

    def _tell_access(self, chunk: Chunk, telling: Telling, access: LaneAccess, part: int) -> None:
        assert isinstance(chunk, Wave)

        def room() -> Value:
            type = f"[{2 * self.wave_size} x i32]"
            self._rooms += 1  # it is as large as two others
            return self._mine(type, self._per_wave(type))

        telling.vector(access, part, chunk, self._number, is_even(chunk, access), room)

    def _begin_segment(self, number: int, wave: Wave) -> None:
        """Of a profile: where not all lanes are active for certain, waves with all are counted in what lasts for the
        workgroup, and each lane of others."""
        if wave.full:
            return
        known = self._counted_already(wave)
        if known is not None:
            self._active[number] = known
            return
        e, bytes_ = self.emitter, f"<{self.wave_size} x i8>"
        within = self._scopes[-1].label if self._scopes else ""
        whole, room = self._active[number] = self._counted[wave.bits, within] = (
            e.entry("alloca i64"),
            e.entry(f"alloca {bytes_}, align 64"),
        )
        e.entry_lines.append(f"  store i64 0, ptr {whole}")
        e.entry_lines.append(f"  store {bytes_} zeroinitializer, ptr {room}, align 64")
        all_ = e.let(f"icmp eq {e.byte} {wave.bits}, -1")
        self._add(whole, e.let(f"zext i1 {all_} to i64"))
        lanes = e.let(f"sext {e.v1} {wave.active} to {bytes_}")
        less = e.let(f"select i1 {all_}, {bytes_} zeroinitializer, {bytes_} {lanes}")
        total = e.let(f"add {bytes_} {e.let(f'load {bytes_}, ptr {room}, align 64')}, {less}")
        e.do(f"store {bytes_} {total}, ptr {room}, align 64")

    def _counted_already(self, wave: Wave) -> tuple[Value, Value] | None:
        """Where lanes of the same EXEC are counted, if it was the same number in an earlier segment that the same waves
        came to: others jumped, since it was 0."""
        for scope in reversed(self._scopes):
            known = self._counted.get((wave.bits, scope.label))
            if known is not None or scope.lanes != wave.bits:
                return known
        return self._counted.get((wave.bits, ""))

    def _end_segment(self, number: int, where: Value | None) -> None:
        """All waves are through. `where`: how many were in the segment; None: all."""
        e, waves = self.emitter, Local("%waves")
        if number in self._active:
            where, room = self._active[number]
            self._executed_apart(number, e.let(f"load <{self.wave_size} x i8>, ptr {room}, align 64"), waves)
        self._add(self._row(number), waves if where is None else e.let(f"load i64, ptr {where}"))

    @contextlib.contextmanager
    def _each_wave(self) -> Iterator[None]:
        """What is emitted within is done for each wave."""
        e = self.emitter
        head, out, came, after = e.name("wave"), e.name("waves_done"), e.block, e.ahead("after")
        e.jump(head)
        e.label(head)
        number = self._number = e.ahead("number")
        next_ = e.name("next_wave")
        e.do(f"{number} = phi i64 [ 0, %{came} ], [ {after}, %{next_} ]")
        yield
        e.jump(next_)
        e.label(next_)
        e.do(f"{after} = add i64 {number}, 1")
        e.branch(e.let(f"icmp ult i64 {after}, %waves"), head, out)
        e.label(out)

    def _per_wave(self, type: str) -> Value:
        """Where each wave has a value of a type.

        Raises:
            Unfit: they would take too much of a thread's stack.
        """
        self._rooms += 1
        if self._rooms > ROOMS:
            raise Unfit
        return self.emitter.entry(f"alloca [{THREADS // self.wave_size} x {type}], align 64")

    def _mine(self, type: str, room: Value) -> Value:
        return self.emitter.let(f"getelementptr {type}, ptr {room}, i64 {self._number}")

    # from phase to phase

    def _begin_phase(self, wave: Wave, kept: _Kept | None) -> None:
        e, lines = self.emitter, wave.lines
        assert lines is not None
        self.run.new_block()
        lanes = wave.lanes  # known from here on
        self._set_exec(wave, ALL)
        if kept is None:
            self._scc_unknown = False
            at = e.let(f"mul i64 {self._number}, {self.wave_size}")
            first = e.let(f"load i32, ptr {e.let(f'getelementptr i32, ptr %ids, i64 {at}')}")
            x = e.let(f"add {e.v32} {lanes}, {splat(e, 'i32', first)}")
            lines.carried(x, None, Line(first, Integer(1), TRUE, 32))
            wave.values[0] = x
            return
        wave.values.update(kept.constants)
        for register, room in kept.vectors:
            wave.values[register] = e.let(f"load {e.v32}, ptr {self._mine(e.v32, room)}, align 64")
        for register, width, step, room in kept.lines:
            type, vector = f"i{width}", e.v32 if width == 32 else e.v64
            first = e.let(f"load {type}, ptr {self._mine(type, room)}")
            count = Constant("<" + ", ".join(f"{type} {n}" for n in range(e.lanes)) + ">")
            apart = e.let(f"mul {vector} {count}, {splat(e, type, step)}")
            whole = e.let(f"add {vector} {splat(e, type, first)}, {apart}")
            line = Line(first, step, TRUE, width)
            if width == 32:
                wave.values[register] = whole
                lines.carried(whole, None, line)
            else:
                low, high = e.low(whole), e.high(whole)
                wave.values[register], wave.values[register + 1] = low, high
                lines.carried(low, high, line)
        for start, room in kept.masks:
            self._set_bits(wave, start, e.let(f"load {e.byte}, ptr {self._mine(e.byte, room)}"))
        for start in kept.whole:
            self._set_bits(wave, start, ALL)
        if kept.exec is not None:
            self._set_exec(wave, e.let(f"load {e.byte}, ptr {self._mine(e.byte, kept.exec)}"))

    def _end_phase(self, wave: Wave, index: int) -> _Kept:
        """A wave comes to the barrier at this index."""
        e, live, lines, size = self.emitter, self.after[index], wave.lines, self.wave_size // 32
        assert lines is not None
        needed = live.active | live.asleep
        kept = _Kept({}, [], [], [], [], None)
        wave.settle(needed)
        values = {r: wave.get(r) for r in self._known(wave) if needed >> r & 1}
        done: set[int] = set()
        for register, value in values.items():
            if register in done:
                continue
            above = values.get(register + 1)
            whole = lines.pair(value, above) if above is not None and lines.is_upper(above) else None
            joint, fact = whole is not None, whole or lines.fact(value)
            if isinstance(value, Constant):
                kept.constants[register] = value
            elif isinstance(fact, Line) and e.is_steady(fact.step) and (joint or fact.holds == TRUE):
                if fact.holds != TRUE:
                    wave.on(fact.holds, or_none=False)
                type = f"i{fact.width}"
                room = self._per_wave(type)
                e.do(f"store {type} {fact.first}, ptr {self._mine(type, room)}")
                kept.lines.append((register, fact.width, fact.step, room))
                if joint:
                    done.add(register + 1)
            else:
                room = self._per_wave(e.v32)
                e.do(f"store {e.v32} {value}, ptr {self._mine(e.v32, room)}, align 64")
                kept.vectors.append((register, room))
        if len(kept.vectors) > KEPT:
            raise Unfit
        for start in wave.masks:
            if not bits(start, size) & live.scalars or start == layout.EXEC:
                continue
            if self._bits(wave, start) == ALL:
                kept.whole.append(start)
                continue
            room = self._per_wave(e.byte)
            e.do(f"store {e.byte} {self._bits(wave, start)}, ptr {self._mine(e.byte, room)}")
            kept.masks.append((start, room))
        if not wave.full:
            kept.exec = self._per_wave(e.byte)
            e.do(f"store {e.byte} {wave.bits}, ptr {self._mine(e.byte, kept.exec)}")
        return kept

    def _known(self, wave: Wave) -> list[int]:
        """Registers of which something is known."""
        return sorted({*wave.values, *(r + half for r in wave.pairs for half in (0, 1))})

    # stores to global memory

    def _keep_store(self, value: Value, place: Value, lanes: Value, align: int) -> None:
        e = self.emitter
        whole = lanes == ALL and not self._scopes
        kept = _Stored(self._per_wave(e.v32), self._per_wave("ptr"), ALL if whole else self._per_wave(e.byte), align)
        e.do(f"store {e.v32} {value}, ptr {self._mine(e.v32, kept.values)}, align 64")
        e.do(f"store ptr {place}, ptr {self._mine('ptr', kept.places)}")
        if not whole:
            none = f"[{THREADS // self.wave_size} x {e.byte}] zeroinitializer"
            e.entry_lines.append(f"  store {none}, ptr {kept.lanes}, align 64")
            e.do(f"store {e.byte} {lanes}, ptr {self._mine(e.byte, kept.lanes)}")
        self._stored.append(kept)

    def _store_all(self, stored: list[_Stored]) -> None:
        """A wave's stores of one phase."""
        e = self.emitter
        for kept in stored:
            lanes: Value = kept.lanes
            on = e.name("stored")
            if lanes != ALL:
                some = e.name("some")
                lanes = e.let(f"load {e.byte}, ptr {self._mine(e.byte, kept.lanes)}")
                e.branch(e.let(f"icmp eq {e.byte} {lanes}, 0"), on, some)
                e.label(some)
            value = e.let(f"load {e.v32}, ptr {self._mine(e.v32, kept.values)}, align 64")
            store_lanes(e, value, e.let(f"load ptr, ptr {self._mine('ptr', kept.places)}"), lanes, kept.align)
            e.jump(on)
            e.label(on)

    # instructions

    def _phase(self, way: Way, wave: Wave) -> None:
        """One wave's phase.

        Raises:
            Unfit: an instruction that cannot be emitted so.
        """
        for block, decoded in way:
            while self._scopes and self._scopes[-1].target == decoded.index:
                self._join(wave)
            self._inside.setdefault(block, self._scopes[-1].entered if self._scopes else None)
            segment = self._segment_at.get(decoded.index)
            if segment is not None:
                self._opened[segment] = block
                self._begin_segment(segment, wave)
            mode = self.modes.get(block)
            self._step(decoded, next(iter(self.modes.values())) if mode is None else mode, wave, way[-1][1].index)
            self._lost &= ~decoded.scalar_writes
            for scope in self._scopes:
                scope.writes |= decoded.scalar_writes

    def _step(self, decoded: Decoded, mode: Mode, wave: Wave, last: int) -> None:
        row = decoded.row
        if decoded.scalar_reads & (self._lost | (bits(layout.SCC, 1) if self._scc_unknown else 0)):
            raise Unfit
        if isinstance(row, Control):
            if row.kind == "cbranch" and row.register == "scc":
                self._scalar(decoded, mode)
            elif row.kind == "cbranch":
                self._jump_ahead(decoded, wave, last)
        elif decoded.is_vector:
            self._vector(decoded, mode, wave)
        elif decoded.exec_effect or decoded.scalar_writes & bits(layout.EXEC, 2):
            self._change_exec(decoded, wave)
        else:
            self._numbers_or_masks(decoded, mode, wave)

    def _vector(self, decoded: Decoded, mode: Mode, wave: Wave) -> None:
        """A vector instruction: registers of lanes that are not active stay as they are, if that matters."""
        live = self.after[decoded.index]
        stay = 0 if wave.full else live.asleep & decoded.vector_writes
        for register in range(stay.bit_length()):
            if stay >> register & 1 and register not in wave.aside:
                wave.aside[register] = wave.get(register)
        if not self.run.at_once(wave, decoded, mode):
            raise Unfit
        self._overwritten(wave, decoded.scalar_writes)
        if decoded.exec_effect:  # a comparison that sets EXEC (RDNA)
            wave.settle(live.active | live.asleep)
            lanes = self._bits(wave, layout.EXEC)
            del wave.masks[layout.EXEC]
            self._set_exec(wave, lanes)

    def _set_exec(self, wave: Wave, lanes: Value) -> None:
        e = self.emitter
        if wave.lines is not None:
            wave.lines.forget_masked()
        self._exec_bits = wave.bits = lanes
        if lanes == ALL:
            wave.active = Constant("splat (i1 true)")
            self.run.masks &= ~bits(layout.EXEC, 2)
            self.run.starts.discard(layout.EXEC)
        else:
            wave.active = e.let(f"bitcast {e.byte} {lanes} to {e.v1}")
            self.run.masks |= bits(layout.EXEC, 2)
            self.run.starts.add(layout.EXEC)

    def _change_exec(self, decoded: Decoded, wave: Wave) -> None:
        """A scalar instruction that sets EXEC, and may save it."""
        row, size = decoded.row, self.wave_size // 32
        target, *sources = decoded.instruction.operands
        if not isinstance(row, Row) or row.logic not in BITWISE or not isinstance(target.value, Register):
            raise Unfit
        if any(isinstance(o.value, Register) and o.value.count != size for o in decoded.instruction.operands):
            raise Unfit
        number, before = scalar_number(target.value), self._exec_bits
        saves = any(result.name == "exec" for result, _ in decoded.results)
        if number is None or saves == (number == layout.EXEC) or (saves and row.graph()[1][0].op != "arg"):
            raise Unfit  # the last: the target gets what EXEC gets
        values = [self._source_bits(source, wave) for source in sources]
        lanes = self._bitwise(row.logic, [*values, before] if saves else values)
        self._whole_masks(decoded, wave)
        live = self.after[decoded.index]
        wave.settle(live.active | live.asleep)
        if saves:
            self._set_bits(wave, number, before)
        self._set_exec(wave, lanes)
        self._scc_unknown = self._scc_unknown or bool(decoded.scalar_writes >> layout.SCC & 1)

    def _overwritten(self, wave: Wave, registers: int) -> None:
        size = self.wave_size // 32
        for start in [start for start in wave.numbers if bits(start, size) & registers]:
            del wave.numbers[start]

    def _bits(self, chunk: Chunk, start: int) -> Value:
        if not isinstance(chunk, Wave) or start not in chunk.masks:
            return super()._bits(chunk, start)
        if start not in chunk.numbers:
            chunk.numbers[start] = super()._bits(chunk, start)
        return chunk.numbers[start]

    def _set_bits(self, chunk: Chunk, start: int, value: Value) -> None:
        super()._set_bits(chunk, start, value)
        if isinstance(chunk, Wave):
            chunk.numbers[start] = value

    def _bitwise(self, logic: str, values: list[Value]) -> Value:
        known = None if self._sets is None or len(values) != 2 else self._sets.bitwise(logic, *values)
        return super()._bitwise(logic, values) if known is None else known

    def _source_bits(self, operand: Operand, chunk: Chunk) -> Value:
        every = isinstance(operand.value, Literal) and operand.value.value == -1
        return ALL if every and isinstance(chunk, Wave) else super()._source_bits(operand, chunk)

    # lanes that leave

    def _jump_ahead(self, decoded: Decoded, wave: Wave, last: int) -> None:
        """A branch that a wave without active lanes takes; past the phase's last instruction it must not."""
        e, target, lines = self.emitter, label_of(self.program, decoded), wave.lines
        assert lines is not None
        assert self._sets is not None
        if wave.full:
            return
        none, inside = e.let(f"icmp eq {e.byte} {wave.bits}, 0"), e.name("some")
        if target > last:
            e.branch(none, "missed", inside, likely=False)
            e.label(inside)
            return
        if self._scopes and target > self._scopes[-1].target:
            raise Unfit
        live = self.after[decoded.index]
        wave.settle(live.active | live.asleep)
        values = {r: wave.get(r) for r in self._known(wave)}
        masks = {start: self._bits(wave, start) for start in wave.masks}
        if self._telling is not None:
            self._telling.skipped(range(decoded.index + 1, target), self._number)
        entered = e.entry("alloca i64")
        e.entry_lines.append(f"  store i64 0, ptr {entered}")
        label = e.name("joined")
        self._scopes.append(
            _Scope(target, label, e.block, values, masks, wave.bits, lines.known(), self._sets.copy(), entered)
        )
        e.branch(none, label, inside)
        e.label(inside)
        self._add(entered, Integer(1))
        self.run.capture.new_block()

    def _join(self, wave: Wave) -> None:
        """Waves that jumped, and those that did not, come together."""
        e, scope, size, lines = self.emitter, self._scopes.pop(), self.wave_size // 32, wave.lines
        assert lines is not None
        live = self.entry_live[scope.target]
        needed = live.active | live.asleep
        wave.settle(needed)
        values = {r: wave.get(r) for r in self._known(wave) if needed >> r & 1}
        masks = {start: self._bits(wave, start) for start in wave.masks if bits(start, size) & live.scalars}
        lanes, came = wave.bits, e.block
        e.jump(scope.label)
        e.label(scope.label)

        def either(type: str, jumped: Value, other: Value) -> Value:
            if jumped == other:
                return other
            return e.let(f"phi {type} [ {jumped}, %{scope.came} ], [ {other}, %{came} ]")

        wave.values = {r: either(e.v32, scope.values.get(r, NOTHING), value) for r, value in values.items()}
        wave.pairs.clear()
        lanes = either(e.byte, scope.lanes, lanes)
        both = {
            start: either(e.byte, scope.masks[start], value) for start, value in masks.items() if start in scope.masks
        }
        lines.forget_but(scope.facts)
        self._sets = scope.sets
        self.run.capture.new_block()
        self._lost |= scope.writes & live.scalars & ~bits(layout.EXEC, 2)
        wave.masks.clear()
        wave.numbers.clear()
        self.run.masks = 0  # but for what is set now
        self.run.starts.clear()
        for start, value in both.items():
            self._set_bits(wave, start, value)
            self._lost &= ~bits(start, size)
        self._set_exec(wave, lanes)
