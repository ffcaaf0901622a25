"""Loops done by one chunk of lanes after the other: `Sweeps` interchanges a kernel's loop and the loop over chunks.

A kernel's loop of one block which only loads is the same to each lane whether the others have come as far or not. So
each chunk goes through all of its iterations by itself, its registers in the host's, and the scalars are computed for
each chunk again. Of what goes up evenly from lane to lane (linear.py) the first lane and the step go round the loop; of
addresses that come to be known that way the lanes are never made. Of lane masks, also where scalar instructions combine
them, each chunk computes its own bits.

Nothing is written before all chunks are through. A chunk that comes to an access which is not quick (memory.py), to
the end of the wave's budget, out of step with the chunk before it, or whose lanes do not leave the loop together, gives
all up: the loop is done as if this were not here. How often that was is noted, so that it is not tried all the time
(`LONGEST`). In a profile the observer is told of all rounds when all chunks are through (telling.py), if lanes go up
evenly, and in a checked launch the checker is asked (native/straight.c); elsewhere an observed wave has an empty table
of allocations, so it gives up at its first access.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from gpulab.virtual_gpu.isa.instruction import Literal, Operand, Register
from gpulab.virtual_gpu.isa.row import Control, Memory, Row
from gpulab.virtual_gpu.translate import layout
from gpulab.virtual_gpu.translate.branching import Branching
from gpulab.virtual_gpu.translate.captured import literal_mask, mask_number
from gpulab.virtual_gpu.translate.chunk import Chunk, Unfit
from gpulab.virtual_gpu.translate.decode import Decoded, bits, is_dpp, memory_operands, scalar_number
from gpulab.virtual_gpu.translate.emitter import ZERO, Emitter, Local, Value, signed
from gpulab.virtual_gpu.translate.lane_access import LaneAccess, row_bytes
from gpulab.virtual_gpu.translate.linear import Line
from gpulab.virtual_gpu.translate.liveness import before
from gpulab.virtual_gpu.translate.modes import Mode
from gpulab.virtual_gpu.translate.places import can_gather
from gpulab.virtual_gpu.translate.runs import WHOLE_ITEMS
from gpulab.virtual_gpu.translate.structure import label_of
from gpulab.virtual_gpu.translate.telling import COLUMNS, LOOP_BYTES, Rounds

LONGEST = 63  # times that a loop's block is executed at once after it was given up again and again
MOST = 160  # instructions of a kernel's loops that are emitted this way, too: they stand there twice
PASSES = 4  # until it is known what goes up evenly all the way round

BITWISE = {
    "mov": "{0}", "and": "and {0}, {1}", "or": "or {0}, {1}", "xor": "xor {0}, {1}",
    "and_not0": "and {1}, ~{0}", "and_not1": "and {0}, ~{1}", "or_not0": "or {1}, ~{0}", "or_not1": "or {0}, ~{1}",
}  # fmt: skip
"""Operations of LOGIC on lane masks, of the sources {0} and {1}; with ~ inverted."""


def is_bitwise(decoded: Decoded, wave_size: int) -> bool:
    """Whether it is one of these operations of the scalar unit, on whole lane masks."""
    row = decoded.row
    if not isinstance(row, Row) or decoded.is_vector or row.logic not in BITWISE:
        return False
    operands = decoded.instruction.operands
    return all(not isinstance(o.value, Register) or o.value.count == wave_size // 32 for o in operands)


def bitwise(e: Emitter, kind: str, ones: str, logic: str, values: Sequence[Value]) -> Value:
    """Such an operation on (parts of) lane masks of an LLVM type, whose value with all bits set is `ones`."""
    text = BITWISE[logic]
    each = [e.let(f"xor {kind} {value}, {ones}") if f"~{{{at}}}" in text else value for at, value in enumerate(values)]
    op, _, operands = text.replace("~", "").partition(" ")
    return e.let(f"{op} {kind} {operands.format(*each)}") if operands else each[0]


_Even = dict[int, int]
"""Carried registers that go up evenly from lane to lane, as far as is known, with their bits: 64 of two registers."""


@dataclass(slots=True)
class _Loop:
    """What is known of a loop: its instructions without the branch, the branch, and registers by number.

    inputs: read before they are written; carried: of these, those that it writes; kept: written and needed after it;
    addresses: where those of 64 bits begin that are carried.
    scalars: the same of scalar registers, without EXEC, SCC, and lane masks that the loop makes.
    masks_carried, masks_kept: where such masks begin.
    may_differ: whether chunks could go round a different number of times. leaves: by EXEC, which is 0 then.
    """

    block: int
    body: list[Decoded]
    branch: Decoded
    inputs: list[int]
    carried: list[int]
    kept: list[int]
    addresses: list[int]
    scalar_inputs: list[int]
    scalar_carried: list[int]
    scalar_kept: list[int]
    masks_carried: list[int]
    masks_kept: list[int]
    reads_scc: bool
    keeps_scc: bool
    may_differ: bool
    leaves: bool


def _cost(loop: _Loop) -> int:
    """What going back costs of the budget."""
    return max(1, loop.branch.index - loop.block + 1)


def _address(decoded: Decoded) -> int | None:
    """The first of the two vector registers that hold the address of an access, if there are two."""
    if not isinstance(decoded.row, Memory) or not decoded.is_vector:
        return None
    operand = memory_operands(decoded.instruction, decoded.row).address
    value = operand.value if operand is not None else None
    return value.index if isinstance(value, Register) and value.file == "v" and value.count == 2 else None


def _loads(loop: _Loop) -> list[tuple[int, int]]:
    """Each of its accesses: the instruction, and which of its addresses."""
    memory = [(d.index, d.row) for d in loop.body if isinstance(d.row, Memory)]
    return [(index, part) for index, row in memory for part in range(1 + row.two_address)]


def _is_scalar_load(decoded: Decoded) -> bool:
    return isinstance(decoded.row, Memory) and not decoded.is_vector


def _numbers(set_: int) -> list[int]:
    return [n for n in range(set_.bit_length()) if set_ >> n & 1]


class _Phis:
    """Values that go round a loop; their text is written when the loop's end is known."""

    def __init__(self, emitter: Emitter, before: str) -> None:
        self.emitter, self.before = emitter, before
        self.values: list[tuple[Local, str, Value, list[tuple[Value, str]]]] = []

    def new(self, type: str, first: Value) -> Local:
        name = self.emitter.ahead("round")
        self.values.append((name, type, first, []))
        return name

    def again(self, name: Local, value: Value, block: str) -> None:
        next(each[3] for each in self.values if each[0] == name).append((value, block))

    def lines(self) -> list[str]:
        return [
            f"  {name} = phi {type} [ {first}, %{self.before} ]" + "".join(f", [ {v}, %{block} ]" for v, block in rest)
            for name, type, first, rest in self.values
        ]


class Sweeps(Branching):
    """Emits them."""

    _swept = 0  # instructions that were emitted so
    _exec_bits: Value  # of the chunk, as they stand in its iteration
    _scc_unknown: bool  # since then, in its iteration
    _rounds: Rounds | None = None  # for observers: what the loop that is being emitted tells of

    def _sweep(self, block: int, mode: Mode, number: int) -> bool:
        """Emit the loop of a block so, ahead of its ordinary form, if that can be done; whether it was.

        number: of the block's counter.
        """
        loop = self._loop(block)
        if loop is None:
            return False
        widths = [self.wave_size] if self.run.whole and len(loop.body) < WHOLE_ITEMS else []
        if any(decoded.is_vector and isinstance(decoded.row, Memory) for decoded in loop.body):
            widths.append(self.emitter.own_lanes)  # else other chunks' work fills the time until results are there
        try:
            done = False
            for tells in (True, False) if self._may_tell(loop) else (False,):
                done = done or any(self._settled(loop, mode, number, width, tells) for width in widths)
            self._swept += len(loop.body) if done else 0
            return done
        finally:
            self.scalars.forget()
            self.run.new_block()

    def _may_tell(self, loop: _Loop) -> bool:
        return self.site.record and 0 < len(_loads(loop)) <= COLUMNS

    def _told_loop(self) -> None:
        """The block of which a loop was emitted so is there in its ordinary form, too, which numbers its accesses."""
        rounds = self._rounds
        if rounds is not None:
            self.emitter.declarations[rounds.name] = rounds.table(enumerate(self.accesses))
            wave = self.run.accesses
            wave.widest = max(wave.widest, LOOP_BYTES // row_bytes(self.wave_size, self.checked) + 1)
        self._rounds = None

    def _settled(self, loop: _Loop, mode: Mode, number: int, lanes: int, tells: bool) -> bool:
        """Emit it with so many lanes at a time, once it is known what goes up evenly all the way round."""
        e = self.emitter
        start, rooms, came = len(e.lines), len(e.entry_lines), e.block
        even = dict.fromkeys(loop.carried, 32)
        for register in loop.addresses:
            even[register] = 64
            del even[register + 1]
        try:
            for attempt in range(PASSES + 1):
                if attempt == PASSES:
                    even = {}
                self._rounds = None
                if tells:
                    name = f"@told.{loop.block}"
                    self._rounds = Rounds(
                        e, self.site.addresses, name, _loads(loop), lanes, self.wave_size, self.checked
                    )
                found = self._attempt(loop, mode, number, even, lanes)
                if found == even or attempt == PASSES:
                    return True
                even = found
                del e.lines[start:], e.entry_lines[rooms:]
                e.block = came
        except Unfit:
            del e.lines[start:], e.entry_lines[rooms:]
            e.block = came
            self._rounds = None
        finally:
            e.end_loop()
            self.salu.missed = ""
        return False

    def _loop(self, block: int) -> _Loop | None:
        """A block that is a loop which only loads, with one way out; None if it is not."""
        body = [self.decoded[index] for index in self.blocks[block]]
        branch, body = body[-1], body[:-1]
        row = branch.row
        if self.checked and not self.program.guarantees.compiled:  # the checker is told of each instruction
            return None
        if not 0 < len(body) <= MOST - self._swept or branch.index + 1 not in self.blocks:
            return None
        if not isinstance(row, Control) or row.kind != "cbranch" or (row.register == "exec" and not row.nonzero):
            return None
        if label_of(self.program, branch) != block or not all(self._can_sweep(decoded) for decoded in body):
            return None
        live, after = self.entry_live[block], self.entry_live[branch.index + 1]
        writes = reads = scalar_writes = 0
        scalar_reads = branch.scalar_reads
        narrowed = False  # EXEC
        for decoded in body:
            if narrowed and (decoded.is_vector or decoded.exec_effect):
                return None
            narrowed = narrowed or bool(decoded.exec_effect)
            writes, reads = writes | decoded.vector_writes, reads | decoded.vector_reads
            scalar_writes, scalar_reads = scalar_writes | decoded.scalar_writes, scalar_reads | decoded.scalar_reads
        starts = self._masks(body)
        if starts is None or narrowed != (row.register == "exec"):
            return None
        scc, size = layout.SCC, self.wave_size // 32
        masks = sum(bits(start, size) for start in starts)
        own = ~(bits(layout.EXEC, 2) | bits(scc, 1) | masks)
        if (scalar_writes & live.scalars) >> scc & 1:
            return None
        needed = after  # before EXEC is narrowed: what its lanes hold is needed after the loop
        for decoded in (branch, *reversed(body)):
            if decoded.is_vector:
                break
            needed = before(decoded, needed)
        carried, addresses = writes & live.active, 0
        for decoded in body:
            start = _address(decoded)
            if start is not None and carried >> start & 3 == 3 and not addresses << 1 & bits(start, 3):
                addresses |= 1 << start
        return _Loop(
            block, body, branch, _numbers(reads & live.active), _numbers(carried), _numbers(writes & needed.active),
            _numbers(addresses), _numbers(scalar_reads & live.scalars & own),
            _numbers(scalar_writes & live.scalars & own), _numbers(scalar_writes & after.scalars & own),
            [start for start in starts if bits(start, size) & live.scalars],
            [start for start in starts if bits(start, size) & after.scalars],
            bool((scalar_reads & live.scalars) >> scc & 1), bool((scalar_writes & after.scalars) >> scc & 1),
            narrowed or bool(masks & branch.scalar_reads) or any(_is_scalar_load(decoded) for decoded in body),
            narrowed,
        )  # fmt: skip

    def _masks(self, body: list[Decoded]) -> list[int] | None:
        """Where lane masks begin that a loop makes: by comparisons, and what scalar instructions make of those.

        None: they cannot be told from other scalars.
        """
        found: set[int] = set()
        size = self.wave_size // 32
        for _ in range(2):  # in the second iteration, what the first has made is there from the start
            for decoded in body:
                if decoded.is_vector:
                    parts = [part for part in (decoded, decoded.pair) if part is not None]
                    results = [(result, operand) for part in parts for result, operand in part.results]
                    made = {mask_number(result.name, result.type, operand) for result, operand in results}
                    found |= {number for number in made if number is not None}
                elif self._combines(decoded, sum(bits(start, size) for start in found)):
                    value = decoded.instruction.operands[0].value
                    assert isinstance(value, Register)
                    number = scalar_number(value)
                    if number is not None and number != layout.EXEC:
                        found.add(number)
        masks = sum(bits(start, size) for start in found)  # as many bits as registers, unless two overlap
        return sorted(found) if masks.bit_count() == size * len(found) else None

    def _combines(self, decoded: Decoded, masks: int) -> bool:
        """Whether it is a bitwise operation of the scalar unit on a lane mask (of the set of registers), or on EXEC."""
        return is_bitwise(decoded, self.wave_size) and bool(decoded.scalar_reads & (masks | bits(layout.EXEC, 2)))

    def _can_sweep(self, decoded: Decoded) -> bool:
        row = decoded.row
        if decoded.index in self.indexed:
            return False
        if decoded.exec_effect or decoded.scalar_writes & bits(layout.EXEC, 2):
            return (
                decoded.exec_effect == "narrow"
                and len(decoded.instruction.operands) == 3
                and self._combines(decoded, 0)
            )
        if isinstance(row, Control):
            return row.kind in ("wait", "nop") and not row.order and not row.caches and not self._fence(decoded)
        if isinstance(row, Memory):
            return row.action == "load"
        return isinstance(row, Row) and not is_dpp(decoded.instruction)

    def _attempt(self, loop: _Loop, mode: Mode, number: int, even: _Even, lanes: int) -> _Even:
        """Emit a loop with so many lanes at a time, and with what is thought to go up evenly; gives what of it does.

        Raises:
            Unfit: an instruction that cannot be emitted so.
        """
        e, scalars = self.emitter, self.scalars
        scalars.forget()
        self.run.new_block()
        narrow, missed, wait, chunks, some, next_, done = (
            e.name(name) for name in ("narrow", "gave_up", "wait", "chunks", "chunk", "next_chunk", "through")
        )
        exec_mask = scalars.mask(layout.EXEC)
        if self._rounds is not None:
            self._rounds.observed(self.site.observer)
        self._whether(loop, exec_mask, narrow, missed, wait, full=lanes == self.wave_size)
        rooms = e.entry(f"alloca [{max(len(loop.kept), 1)} x [{self.wave_size} x i32]], align 64")
        words = e.entry(f"alloca [{len(loop.scalar_kept) + 1} x i32], align 16")
        masks = e.entry(f"alloca [{len(loop.masks_kept) + 1} x i64], align 16")
        for at in range(len(loop.masks_kept)):
            e.do(f"store i64 0, ptr {e.let(f'getelementptr i64, ptr {masks}, i64 {at}')}")
        budget_at = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('budget')}")
        budget = e.let(f"load i64, ptr {budget_at}")
        outer = _Phis(e, e.block)
        e.jump(chunks)
        e.label(chunks)
        outer_at = len(e.lines)
        place = outer.new("i64", ZERO)
        seen = outer.new("i64", ZERO)
        with e.of_lanes(lanes):
            mine = e.part(exec_mask, place)
            skipped = e.block
            # the bits of masks in lanes that are not active could change, too
            e.branch(e.let(f"icmp eq {e.byte} {mine}, 0"), missed if loop.masks_kept else next_, some)
            e.label(some)
            chunk = Chunk(e, self.wave_size, place, mine, missed)
            if self._rounds is not None:
                chunk.told = partial(self._tell_chunk, chunk, self._rounds)
            found, times = self._pass(loop, mode, chunk, exec_mask, budget, even)
            self._put_aside(loop, chunk, rooms, words, masks)
            if self._rounds is not None:
                self._rounds.end(place)
        if loop.may_differ:
            same = e.let(f"icmp eq i64 {times}, {seen}")
            same = e.let(f"or i1 {same}, {e.let(f'icmp eq i64 {seen}, 0')}")
            alike = e.name("alike")
            e.branch(same, alike, missed, likely=True)
            e.label(alike)
        last = e.block
        e.jump(next_)
        e.label(next_)
        skips = "" if loop.masks_kept else f"[ {seen}, %{skipped} ], "
        latest = e.let(f"phi i64 {skips}[ {times}, %{last} ]")
        after = e.let(f"add i64 {place}, 1")
        outer.again(place, after, next_)
        outer.again(seen, latest, next_)
        e.branch(e.let(f"icmp eq i64 {after}, {self.wave_size // lanes}"), done, chunks)
        e.lines[outer_at:outer_at] = outer.lines()
        e.label(done)
        if self._rounds is not None:
            self._rounds.tell(exec_mask, latest, missed)
        spent = e.let(f"mul i64 {e.let(f'add i64 {latest}, -1')}, {_cost(loop)}")
        left = e.let(f"sub i64 {budget}, {spent}")
        e.do(f"store i64 {left}, ptr {budget_at}")
        scalars.forget()
        for at, start in enumerate(loop.masks_kept):
            mask = e.let(f"load i64, ptr {e.let(f'getelementptr i64, ptr {masks}, i64 {at}')}")
            scalars.set_mask(start, mask)
        if loop.leaves:
            scalars.set_mask(layout.EXEC, ZERO)
        scalars.flush(-1)
        self._take_over(loop, rooms, words, exec_mask, latest, number)
        e.label(narrow)
        return found

    def _whether(self, loop: _Loop, exec_mask: Value, narrow: str, missed: str, wait: str, full: bool) -> None:
        """The loop is tried if a lane is active (full: if all are), unless it was given up a short time ago."""
        e = self.emitter
        slot = self.slot(loop.block + (2 << 32))  # the entry holds how often not to try, and how often it was last
        place = e.let(f"getelementptr i8, ptr {self.site.cache}, i64 {layout.ALLOCATION_BYTES * slot}")
        last_at = e.let(f"getelementptr i8, ptr {place}, i64 4")
        left = e.let(f"load i32, ptr {place}")
        some, go = e.name("some"), e.name("sweep")
        wanted = f"eq i64 {exec_mask}, {signed((1 << self.wave_size) - 1, 64)}" if full else f"ne i64 {exec_mask}, 0"
        fits: Value = e.let(f"icmp {wanted}")
        reads = any(isinstance(decoded.row, Memory) for decoded in loop.body)
        if self._rounds is not None:
            fits = self._rounds.may_tell(fits)
        elif reads:
            fits = self.site.unseen(e, fits)
        e.branch(fits, some, narrow, likely=True)
        e.label(some)
        e.branch(e.let(f"icmp eq i32 {left}, 0"), go, wait, likely=True)
        e.label(wait)
        e.do(f"store i32 {e.let(f'add i32 {left}, -1')}, ptr {place}")
        e.jump(narrow)
        e.label(missed)
        twice = e.let(f"shl i32 {e.let(f'load i32, ptr {last_at}')}, 1")
        longer = e.let(f"or i32 {e.let(f'and i32 {twice}, {LONGEST}')}, 1")
        e.do(f"store i32 {longer}, ptr {last_at}")
        e.do(f"store i32 {longer}, ptr {place}")
        e.jump(narrow)
        e.label(go)

    def _pass(
        self, loop: _Loop, mode: Mode, chunk: Chunk, exec_mask: Value, budget: Value, even: _Even
    ) -> tuple[_Even, Value]:
        """All iterations of one chunk; gives what went up evenly, and the number of iterations.

        The label in the end is that of the way out, where the chunk's and the scalars' values are known.
        """
        e, scalars, lines = self.emitter, self.scalars, chunk.lines
        assert lines is not None
        scalars.forget()
        self.run.new_block()
        scalars.set_mask(layout.EXEC, exec_mask)
        self._scalars_before(loop)
        for register in (*loop.inputs, *loop.carried):
            chunk.get(register)
        begins = {r: self._begin(chunk, r, width) for r, width in even.items()}
        before_masks = {start: e.part(scalars.mask(start), chunk.number) for start in loop.masks_carried}
        begin_at, head, more, out = len(e.lines), e.name("iteration"), e.name("more"), e.name("out")
        phis = _Phis(e, e.block)
        e.jump(head)
        e.label(head)
        head_at = len(e.lines)
        e.begin_loop()
        done = phis.new("i64", ZERO)
        words = {n: phis.new("i32", scalars.word(n)) for n in loop.scalar_carried}
        masks = {start: phis.new(e.byte, value) for start, value in before_masks.items()}
        lanes = {r: phis.new(e.v32, chunk.get(r)) for r in loop.carried}
        firsts: dict[int, Local] = {}
        for r, line in begins.items():
            firsts[r] = phis.new(f"i{line.width}", line.first)
            lines.carried(lanes[r], lanes[r + 1] if line.width == 64 else None, replace(line, first=firsts[r]))
        for n, word in words.items():
            scalars.words[n] = word
        scalars.written.clear()
        for start, mask in masks.items():
            self._set_bits(chunk, start, mask)
        self._exec_bits, self._scc_unknown = chunk.bits, False
        chunk.values.update(lanes)
        chunk.pairs.clear()
        self.salu.missed = chunk.missed
        if self._rounds is not None:
            self._rounds.begin_round(chunk.number, done)
        for decoded in loop.body:
            self._one(decoded, mode, chunk)
        self.salu.missed = ""
        if self._scc_unknown and (loop.keeps_scc or loop.branch.scalar_reads >> layout.SCC & 1):
            raise Unfit
        condition = self._goes_round(loop, chunk)
        ends = {r: chunk.get(r) for r in loop.carried}
        found: _Even = {}
        after: dict[int, Line] = {}
        for r, begin in begins.items():
            if r - 1 in found and found[r - 1] == 64:
                continue
            joint = r + 1 in ends and lines.follows(ends[r], ends[r + 1])
            end = lines.pair(ends[r], ends[r + 1]) if joint else lines.fact(ends[r])
            if not isinstance(end, Line):
                continue
            after[r] = end
            if end.width != begin.width:
                found[r] = end.width
            elif (end.step, end.holds) == (begin.step, begin.holds):
                found[r] = begin.width
        final = {n: scalars.word(n) for n in loop.scalar_carried}
        mask_ends = {start: self._bits(chunk, start) for start in masks}
        once = e.let(f"add i64 {done}, 1")
        most = e.steady(f"udiv i64 {budget}, {_cost(loop)}", budget)
        if self._rounds is not None:
            limit = e.steady(f"select i1 {self._rounds.tells}, i64 {self._rounds.most}, i64 {most}", most)
            less = e.steady(f"icmp ult i64 {limit}, {most}", limit, most)
            most = e.steady(f"select i1 {less}, i64 {limit}, i64 {most}", less)
        e.branch(condition, more, out)
        e.label(more)
        goes_on = e.let(f"icmp ult i64 {once}, {most}")
        if loop.leaves:
            goes_on = e.let(f"and i1 {goes_on}, {e.let(f'icmp eq {e.byte} {self._exec_bits}, {chunk.bits}')}")
        e.branch(goes_on, head, chunk.missed, likely=True)
        phis.again(done, once, more)
        for start, mask in masks.items():
            phis.again(mask, mask_ends[start], more)
        for n, word in words.items():
            phis.again(word, final[n], more)
        for r, each in lanes.items():
            phis.again(each, ends[r], more)
        for r, first in firsts.items():
            if r in after and after[r].width == begins[r].width:
                phis.again(first, after[r].first, more)
        e.lines[head_at:head_at] = phis.lines()
        e.lines[begin_at:begin_at] = e.end_loop()
        e.label(out)
        return found, once

    def _goes_round(self, loop: _Loop, chunk: Chunk) -> Value:
        """Whether the branch is taken (i1).

        Of a lane mask that the loop makes, the chunk's part decides: if all chunks do the same, the whole would, too.
        """
        e, row = self.emitter, loop.branch.row
        assert isinstance(row, Control)
        if loop.leaves:
            return e.let(f"icmp ne {e.byte} {self._exec_bits}, 0")
        if not self.run.masks & loop.branch.scalar_reads:
            return self._condition(row)
        mask = e.let(f"and {e.byte} {self._bits(chunk, layout.VCC)}, {chunk.bits}")
        return e.let(f"icmp {'ne' if row.nonzero else 'eq'} {e.byte} {mask}, 0")

    def _bits(self, chunk: Chunk, start: int) -> Value:
        """The chunk's bits of a lane mask that the loop makes."""
        if start not in chunk.masks:
            raise Unfit
        e = self.emitter
        return e.let(f"bitcast {e.v1} {chunk.masks[start]} to {e.byte}")

    def _set_bits(self, chunk: Chunk, start: int, value: Value) -> None:
        e = self.emitter
        chunk.masks[start] = e.let(f"bitcast {e.byte} {value} to {e.v1}")
        self.run.masks |= bits(start, self.wave_size // 32)
        self.run.starts.add(start)

    def _bitwise(self, logic: str, values: list[Value]) -> Value:
        """An operation of the scalar unit on bits of lane masks."""
        return bitwise(self.emitter, self.emitter.byte, "-1", logic, values)

    def _combine(self, decoded: Decoded, chunk: Chunk) -> None:
        """A bitwise operation of the scalar unit on lane masks: on the chunk's bits of them."""
        row = decoded.row
        assert isinstance(row, Row)
        target, *sources = decoded.instruction.operands
        result = self._bitwise(row.logic, [self._source_bits(operand, chunk) for operand in sources])
        assert isinstance(target.value, Register)
        number = scalar_number(target.value)
        if number == layout.EXEC:
            self._exec_bits = result
        elif number is not None:
            self._set_bits(chunk, number, result)
        if decoded.scalar_writes >> layout.SCC & 1:  # whether a bit of all lanes is set
            self._scc_unknown = True

    def _source_bits(self, operand: Operand, chunk: Chunk) -> Value:
        value = operand.value
        if isinstance(value, Literal):
            return self.emitter.part(literal_mask(value, self.wave_size), chunk.number)
        number = scalar_number(value) if isinstance(value, Register) else None
        if number is None or operand.neg or operand.abs:
            raise Unfit
        if number == layout.EXEC:
            return self._exec_bits
        if number in chunk.masks:
            return self._bits(chunk, number)
        if bits(number, self.wave_size // 32) & self.run.masks:
            raise Unfit
        return self.emitter.part(self.scalars.mask(number), chunk.number)

    def _scalars_before(self, loop: _Loop) -> None:
        """All scalars that the loop reads, ahead of it: two at a time where it does not change them."""
        fixed = set(loop.scalar_inputs) - set(loop.scalar_carried)
        for n in loop.scalar_inputs:
            if n % 2 == 0 and {n, n + 1} <= fixed:
                self.scalars.pair(n)
            elif not (n % 2 and {n - 1, n} <= fixed):
                self.scalars.word(n)
        if loop.reads_scc:
            self.scalars.condition()

    def _begin(self, chunk: Chunk, register: int, width: int) -> Line:
        """How a carried register, or two, go up from lane to lane before the loop."""
        lines = chunk.lines
        assert lines is not None
        low = chunk.get(register)
        line = lines.pair(low, chunk.get(register + 1)) if width == 64 else lines.fact(low)
        assert isinstance(line, Line)  # registers: they are looked at
        return line

    def _one(self, decoded: Decoded, mode: Mode, chunk: Chunk) -> None:
        """One instruction of the loop."""
        row = decoded.row
        if isinstance(row, Control):
            return
        if self._scc_unknown and decoded.scalar_reads >> layout.SCC & 1:
            raise Unfit
        if self._combines(decoded, self.run.masks):
            self._combine(decoded, chunk)
            return
        if decoded.scalar_writes >> layout.SCC & 1:
            self._scc_unknown = False
        if not self.run.at_once(chunk, decoded, mode):
            raise Unfit
        if decoded.is_vector:
            return
        if isinstance(row, Memory):
            self.salu.memory(decoded, self.slot(decoded.index))
            if self._rounds is not None and self.salu.loaded is not None:
                self._rounds.scalar(decoded.index, self.salu.loaded)
        else:
            self.salu.row(decoded, mode)

    def _tell_chunk(self, chunk: Chunk, rounds: Rounds, access: LaneAccess, part: int) -> None:
        rounds.vector(access, part, not can_gather(chunk, access), chunk.missed)

    def _put_aside(self, loop: _Loop, chunk: Chunk, rooms: Value, words: Value, masks: Value) -> None:
        """A chunk's registers, its bits of masks, and the scalars, until all chunks are through."""
        e, scalars = self.emitter, self.scalars
        for at, register in enumerate(loop.kept):
            e.do(f"store {e.v32} {chunk.get(register)}, ptr {self._room(rooms, at, chunk.number)}, align {e.align}")
        for at, start in enumerate(loop.masks_kept):
            own = self._bits(chunk, start)
            own = own if e.lanes == 64 else e.let(f"zext {e.byte} {own} to i64")
            own = e.let(f"shl i64 {own}, {e.let(f'shl i64 {chunk.number}, {e.shift}')}")
            to = e.let(f"getelementptr i64, ptr {masks}, i64 {at}")
            known = e.let(f"load i64, ptr {to}")
            e.do(f"store i64 {e.let(f'or i64 {own}, {known}')}, ptr {to}")
        for at, n in enumerate(loop.scalar_kept):
            e.do(f"store i32 {scalars.word(n)}, ptr {e.let(f'getelementptr i32, ptr {words}, i64 {at}')}")
        if loop.keeps_scc:
            scc = e.let(f"zext i1 {scalars.condition()} to i32")
            e.do(f"store i32 {scc}, ptr {e.let(f'getelementptr i32, ptr {words}, i64 {len(loop.scalar_kept)}')}")

    def _room(self, rooms: Value, register: int, chunk: Value) -> Value:
        e = self.emitter
        row = e.let(f"getelementptr i8, ptr {rooms}, i64 {4 * self.wave_size * register}")
        return e.let(f"getelementptr {e.v32}, ptr {row}, i64 {chunk}")

    def _take_over(self, loop: _Loop, rooms: Value, words: Value, exec_mask: Value, times: Value, number: int) -> None:
        """All chunks are through: their registers, the scalars, and the block's count; then the way out."""
        e = self.emitter
        self._count(number, times)
        if self.profile:  # the loop's first segment, and what comes after EXEC was narrowed: nobody the last time
            self._executed(len(self.segments), exec_mask, times)
            if loop.leaves:
                self._executed(len(self.segments) + 1, exec_mask, e.let(f"add i64 {times}, -1"))
        for at, n in enumerate([*loop.scalar_kept, *([layout.SCC] if loop.keeps_scc else [])]):
            word = e.let(f"load i32, ptr {e.let(f'getelementptr i32, ptr {words}, i64 {at}')}")
            to = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('scalars') + 4 * n}")
            e.do(f"store i32 {word}, ptr {to}")
        if loop.kept:
            came = e.block
            head, body, latch, stored = (e.name(n) for n in ("put", "put_chunk", "put_next", "put_done"))
            e.jump(head)
            e.label(head)
            place, step = e.ahead("place"), e.ahead("place_next")
            e.do(f"{place} = phi i64 [ 0, %{came} ], [ {step}, %{latch} ]")
            lanes = e.part(exec_mask, place)
            e.branch(e.let(f"icmp eq {e.byte} {lanes}, 0"), latch, body)
            e.label(body)
            chunk = Chunk(e, self.wave_size, place, lanes)
            for at, register in enumerate(loop.kept):
                chunk.set(register, e.let(f"load {e.v32}, ptr {self._room(rooms, at, place)}, align {e.align}"))
            chunk.store(-1)
            e.jump(latch)
            e.label(latch)
            e.do(f"{step} = add i64 {place}, 1")
            e.branch(e.let(f"icmp eq i64 {step}, {self.wave_size // e.lanes}"), stored, head)
            e.label(stored)
        e.jump(self._goto(loop.branch.index, loop.branch.index + 1))
