"""Kernels whose waves mostly go straight through: `Straight` emits one function for all waves of a workgroup.

A kernel without loops and barriers needs no wave's state in memory where all lanes stay active from the first
instruction to the last. What its scalar instructions do is the same for all waves, and is done once. Then comes a loop
over waves, and over units of lanes: a whole wave, or chunks where threads have several coordinates. threadIdx.x goes up
by one from lane to lane in a unit, so that of most addresses the first lane and the step are known without a look
(linear.py).

A wave does nothing before all is checked: its stores come last, each for all lanes, and nothing is loaded after one.
Where it cannot go on (a lane that a condition leaves out, an access that is not quick) it has done nothing yet: the
function returns how many waves are through, and the others take the ordinary way (native/workgroups.c). No instruction
here looks at other lanes. Of a profile, the observer is told of a wave's accesses when it is through (telling.py). Of a
checked launch, the checker is asked before a wave stores (native/straight.c).
"""

from __future__ import annotations

from functools import partial

from gpulab.virtual_gpu import dispatch
from gpulab.virtual_gpu.isa.instruction import Register
from gpulab.virtual_gpu.isa.row import Control, Memory, Row
from gpulab.virtual_gpu.translate import layout
from gpulab.virtual_gpu.translate.chunk import Chunk, Unfit
from gpulab.virtual_gpu.translate.decode import Decoded, bits, is_dpp, scalar_number
from gpulab.virtual_gpu.translate.emitter import NOTHING, TRUE, ZERO, Constant, Emitter, Integer, Local, Value, splat
from gpulab.virtual_gpu.translate.frame import SMALL, Piece
from gpulab.virtual_gpu.translate.lane_access import LaneAccess
from gpulab.virtual_gpu.translate.linear import Line
from gpulab.virtual_gpu.translate.modes import Mode
from gpulab.virtual_gpu.translate.places import can_gather
from gpulab.virtual_gpu.translate.runs import WHOLE_ITEMS
from gpulab.virtual_gpu.translate.structure import label_of
from gpulab.virtual_gpu.translate.sweeps import Sweeps
from gpulab.virtual_gpu.translate.telling import Telling

MOST = 160  # instructions
THREADS = 1024  # of a workgroup, at most
MOVED = 10  # dwords that each lane loads and stores, up to which a unit may be a whole wave


class _Unit(Chunk):
    """Lanes that have not begun. VGPRs are 0, but for the first ones: coordinates, by the first lane's.

    VGPR 0 is x (or begins with it) and goes up by one; the others are the same in all lanes.
    """

    def __init__(self, emitter: Emitter, wave_size: int, number: Value, coordinates: list[Value]) -> None:
        super().__init__(emitter, wave_size, number, Integer(-1), "missed")
        lanes = Constant("<" + ", ".join(f"i32 {n}" for n in range(emitter.lanes)) + ">")
        assert self.lines is not None
        for register, first in enumerate(coordinates):
            vector = splat(emitter, "i32", first)
            if register == 0:
                vector = emitter.let(f"add {emitter.v32} {vector}, {lanes}")
            self.values[register] = vector
            self.lines.carried(vector, None, Line(first, ZERO if register else Integer(1), TRUE, 32))
        self.gathers = True

    def load(self, register: int) -> Value:
        return NOTHING


class Straight(Sweeps):
    """Emits it."""

    _ahead: str  # the block that is being emitted ahead of the loop
    _lost: int  # scalar registers whose values are not known any more, a bit each
    unit = 0  # lanes of a unit; 0: there is no such function
    _telling: Telling | None = None  # of the waves that are being emitted, if this is for an observer
    _number: Value = ZERO  # of the wave among those
    _rooms_for_lanes = False  # whether there are places for the addresses of one wave's lanes

    def _straight(self, common: list[str], name: str) -> str:
        """The text of the function `name`, or nothing where the kernel is not one of these.

        Args:
            common: lines that each function of the kernel begins with.
        """
        told = not self.checked or self.program.guarantees.compiled  # else the checker is told of each instruction
        way = self._way() if told and len(self.order) < SMALL else None
        if way is None:
            return ""
        e, piece, start = self.emitter, Piece(False), dispatch.initial_registers(self.kernel, self.program.arch)
        self._switch(piece)
        # Of several dimensions x is seldom as wide as a wave. Of a whole wave few values fit into the host's registers.
        vectors = [decoded.row for _, decoded in way if decoded.is_vector]
        moved = sum(max(1, row.element * row.count // 32) for row in vectors if isinstance(row, Memory))
        whole = start.work_item_dimensions == 1 and e.own_lanes == 16
        unit = self.wave_size if whole and len(vectors) <= WHOLE_ITEMS and moved <= MOVED else e.own_lanes
        self._telling = self._told_of({decoded.index for _, decoded in way})
        self._number, self._rooms_for_lanes = ZERO if self.checked else Local("%number"), False
        e.label("next")
        e.begin_loop()
        self.scalars.ahead = True
        try:
            with e.of_lanes(unit):
                self._wave(way, start.work_item_dimensions if start.unpacked_ids else 1)
        except Unfit:
            return ""
        finally:
            ahead, came = e.end_loop(), self._ahead
            self.salu.missed, self.scalars.ahead = "", False
            self.scalars.forget()
            self.run.new_block()
        if self._telling is not None:
            self._telling.declare(self._numbers())
            if self._rooms_for_lanes and not self.checked:  # which the next wave needs
                self._telling.tell(Local("%tell"), Local("%number"), Integer(1), Local("%number"))
        e.jump("done")
        e.label("done")
        e.do("%after = add i64 %number, 1")
        e.branch(e.let("icmp ult i64 %after, %waves"), "next", "out")
        e.label("missed")
        e.jump("out")
        e.label("out")
        e.do("%through = phi i64 [ %after, %done ], [ %number, %missed ]")
        numbers = {block: n for n, block in enumerate(self.blocks)}
        through = Local("%through")
        if self._telling is not None and not self._rooms_for_lanes and not self.checked:
            self._telling.tell(Local("%tell"), ZERO, through)
        for block in {block for block, _ in way}:
            self._count(numbers[block], through)
        instructions = {decoded.index for _, decoded in way}
        for number, segment in enumerate(self.segments):  # of a profile: all lanes are active
            if segment[0] in instructions:
                self._add(self._row(number), through)
        e.do("ret i64 %through")
        e.label("none")
        e.do("ret i64 0")
        self.unit = unit
        head = self._head(name)
        own = ["  %vgprs = getelementptr i8, ptr %wave, i64 0", *piece.entry_lines]  # no register is there
        loop = e.lines[1:]
        round_ = f"  %number = phi i64 [ 0, %{came} ], [ %after, %done ]"
        return "\n".join([head, "entry:", *common, *own, *ahead, "  br label %next", "next:", round_, *loop, "}"])

    def _head(self, name: str) -> str:
        tell = ", ptr %tell" if self.site.record else ""
        return f"define i64 @{name}(ptr noalias %wave, ptr noalias %ids, i64 %waves{tell}) nounwind noinline {{"

    def _told_of(self, instructions: set[int]) -> Telling | None:
        """What tells of the accesses of these instructions, with room for all waves of a workgroup, or for one of
        which a checker is asked."""
        if not self.site.record:
            return None
        keys = [(access.instruction, access.part) for access in self.accesses if access.instruction in instructions]
        telling = Telling(self.emitter, self.wave_size, keys)
        telling.begin(1 if self.checked else THREADS // self.wave_size)
        return telling

    def _numbers(self) -> dict[tuple[int, int], int]:
        """The number of each access, by its instruction and which of its addresses it is."""
        return {(access.instruction, access.part): number for number, access in enumerate(self.accesses)}

    def _tell_vector(self, chunk: Chunk, telling: Telling, access: LaneAccess, part: int) -> None:
        """A unit's access."""

        def room() -> Value:
            self._rooms_for_lanes = True
            return self.emitter.entry(f"alloca [{2 * self.wave_size} x i32], align 64")

        if self.emitter.lanes == self.wave_size:
            telling.vector(access, part, chunk, self._number, not can_gather(chunk, access), room)
        else:
            telling.unit(access, part, chunk, self._number, room())

    def _wave(self, way: list[tuple[int, Decoded]], coordinates: int) -> None:
        """A wave: unit by unit, whose stores are put aside if there are several.

        Args:
            coordinates: VGPRs that hold some at the start.
        """
        e = self.emitter
        units = self.wave_size // e.lanes
        unit: Value = ZERO if units == 1 else e.ahead("unit")
        head, after = e.name("unit"), e.ahead("after_unit")
        if units > 1:
            e.jump(head)
            e.label(head)
            e.do(f"{unit} = phi i64 [ 0, %next ], [ {after}, %units_next ]")
        lane = e.let(f"add i64 {e.let(f'mul i64 %number, {self.wave_size}')}, {e.let(f'mul i64 {unit}, {e.lanes}')}")
        given: list[Value] = []
        for register in range(coordinates):
            row = e.let(f"mul i64 %waves, {register * self.wave_size}")
            at = e.let(f"getelementptr i32, ptr %ids, i64 {e.let(f'add i64 {row}, {lane}')}")
            given.append(e.let(f"load i32, ptr {at}"))
        stores = sum(isinstance(d.row, Memory) and d.row.action == "store" for _, d in way)
        chunk = _Unit(e, self.wave_size, unit, given)
        chunk.last = [] if units > 1 or stores > 1 or self.checked else None
        if self._telling is not None:
            chunk.told = partial(self._tell_vector, chunk, self._telling)
            if self.checked:
                chunk.changes = partial(self._telling.changed, wave=self._number, unit=unit)
        self._go(way, chunk)
        last = chunk.last or []
        if units == 1:
            self._ask()
            for kind, value, place, align in last:
                e.do(f"store {kind} {value}, ptr {place}, align {align}")
            return
        rooms: list[tuple[Value, Value]] = []
        for kind, value, place, _ in last:
            values = e.entry(f"alloca [{units} x {kind}], align 64")
            places = e.entry(f"alloca [{units} x ptr], align 64")
            e.do(f"store {kind} {value}, ptr {e.let(f'getelementptr {kind}, ptr {values}, i64 {unit}')}, align 4")
            e.do(f"store ptr {place}, ptr {e.let(f'getelementptr ptr, ptr {places}, i64 {unit}')}")
            rooms.append((values, places))
        e.jump("units_next")
        e.label("units_next")
        e.do(f"{after} = add i64 {unit}, 1")
        e.branch(e.let(f"icmp eq i64 {after}, {units}"), "all_units", head)
        e.label("all_units")
        self._ask()
        for (kind, _, _, align), (kept, to) in zip(last, rooms, strict=True):
            for n in range(units):
                value = e.let(f"load {kind}, ptr {e.let(f'getelementptr {kind}, ptr {kept}, i64 {n}')}, align 4")
                place = e.let(f"load ptr, ptr {e.let(f'getelementptr ptr, ptr {to}, i64 {n}')}")
                e.do(f"store {kind} {value}, ptr {place}, align {align}")

    def _ask(self) -> None:
        """A wave of a checked launch goes on, if the checker has nothing to say."""
        if self.checked and self._telling is not None:
            self._telling.ask(Local("%tell"), Local("%number"), "missed")

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
                        return found if stored and len(found) <= MOST else None
                    if row.kind == "branch" or (row.kind == "cbranch" and row.register == "exec" and row.nonzero):
                        following = label_of(self.program, decoded)
                    elif row.kind == "cbranch":
                        if row.register == "vcc" or label_of(self.program, decoded) <= decoded.index:
                            return None
                    elif row.kind not in ("wait", "nop", "sendmsg") or row.order or row.caches or self._fence(decoded):
                        return None
                elif isinstance(row, Memory):
                    load = row.action == "load"
                    plain = row.space == "global" and row.action != "atomic" if decoded.is_vector else load
                    if not plain or (stored and load):
                        return None
                    stored = not load
                elif not isinstance(row, Row) or decoded.index in self.indexed or is_dpp(decoded.instruction):
                    return None
                found.append((block, decoded))
            block = following
        return None

    def _go(self, way: list[tuple[int, Decoded]], chunk: Chunk) -> None:
        """One unit, from its first instruction to its last, and ahead of the loop the scalar instructions.

        Raises:
            Unfit: an instruction that cannot be emitted so.
        """
        scalars = self.scalars
        scalars.forget()
        self.run.new_block()
        scalars.set_mask(layout.EXEC, Integer(-1 if self.wave_size == 64 else (1 << 32) - 1))
        self._exec_bits, self._scc_unknown = chunk.bits, False
        self._ahead, self._lost = "entry", 0
        self.salu.missed = "none"
        for block, decoded in way:
            mode = self.modes.get(block)
            mode = next(iter(self.modes.values())) if mode is None else mode
            unknown = self._lost | (bits(layout.SCC, 1) if self._scc_unknown else 0)
            if decoded.scalar_reads & unknown:
                raise Unfit
            if isinstance(decoded.row, Control):
                if decoded.row.kind == "cbranch" and decoded.row.register == "scc":
                    self._scalar(decoded, mode)
            elif decoded.is_vector:
                if not self.run.at_once(chunk, decoded, mode):
                    raise Unfit
                if decoded.exec_effect:  # a comparison that sets EXEC (RDNA)
                    self._stay(self._bits(chunk, layout.EXEC))
                    self._drop(bits(layout.EXEC, 2), chunk)
            elif decoded.exec_effect or decoded.scalar_writes & bits(layout.EXEC, 2):
                self._all_stay(decoded, chunk)
            else:
                self._numbers_or_masks(decoded, mode, chunk)
            self._lost &= ~decoded.scalar_writes

    def _numbers_or_masks(self, decoded: Decoded, mode: Mode, chunk: Chunk) -> None:
        """A scalar instruction that leaves EXEC: on lane masks, of which the unit has its bits, or on numbers.

        Raises:
            Unfit: on a lane mask as a number.
        """
        if self._combines(decoded, self.run.masks):
            self._whole_masks(decoded, chunk)
            self._combine(decoded, chunk)
        elif decoded.scalar_reads & self.run.masks:
            raise Unfit
        else:
            self._drop(decoded.scalar_writes, chunk)
            self._scalar(decoded, mode)

    def _whole_masks(self, decoded: Decoded, chunk: Chunk) -> None:
        """A scalar instruction writes a lane mask.

        Raises:
            Unfit: it is a half of another one.
        """
        size, writes = self.wave_size // 32, decoded.scalar_writes & ~bits(layout.SCC, 1)
        if any(bits(start, size) & writes not in (0, bits(start, size)) for start in chunk.masks):
            raise Unfit

    def _scalar(self, decoded: Decoded, mode: Mode) -> None:
        """A scalar instruction, or a branch on SCC that is not to be taken: ahead of the loop."""
        e, row, inside = self.emitter, decoded.row, self.emitter.block
        with e.ahead_of_loop():
            e.block = self._ahead
            if isinstance(row, Control):
                on = e.name("on")
                e.branch(self._condition(row), "none", on, likely=False)
                e.label(on)
            elif isinstance(row, Memory):
                self.salu.memory(decoded, self.slot(decoded.index))
            else:
                self.salu.row(decoded, mode)
            self._ahead = e.block
        e.block = inside
        if self._telling is not None and isinstance(row, Memory) and self.salu.loaded is not None:
            self._telling.scalar(decoded.index, self._number, self.salu.loaded)
        if decoded.scalar_writes >> layout.SCC & 1:
            self._scc_unknown = False

    def _stay(self, lanes: Value) -> None:
        """Goes on if all bits of a unit's lane mask are set."""
        e = self.emitter
        on = e.name("stay")
        e.branch(e.let(f"icmp eq {e.byte} {lanes}, -1"), on, "missed", likely=True)
        e.label(on)

    def _drop(self, registers: int, chunk: Chunk) -> None:
        """These scalar registers hold no lane masks any more. What is left of one is nowhere."""
        size = self.wave_size // 32
        for start in [start for start in chunk.masks if bits(start, size) & registers]:
            self._lost |= bits(start, size)
            del chunk.masks[start]
            self.run.masks &= ~bits(start, size)
            self.run.starts.discard(start)

    def _all_stay(self, decoded: Decoded, chunk: Chunk) -> None:
        """A scalar instruction that sets EXEC, of which all bits are to stay.

        Raises:
            Unfit: another one than and, which takes lanes away, and or, which gives some back.
        """
        row = decoded.row
        target, *sources = decoded.instruction.operands
        number = scalar_number(target.value) if isinstance(target.value, Register) else None
        if number is None or not isinstance(row, Row):
            raise Unfit
        if decoded.exec_effect == "narrow" and row.logic == "and":
            for source in sources:
                self._stay(self._source_bits(source, chunk))
        elif decoded.exec_effect != "wide" or row.logic != "or" or number != layout.EXEC:
            raise Unfit
        if number != layout.EXEC:
            self._drop(bits(number, self.wave_size // 32), chunk)
            self._set_bits(chunk, number, Integer(-1))
        self._scc_unknown = True
