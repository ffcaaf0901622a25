"""Loops whose registers are held: `Held` keeps what an innermost loop writes in the host's registers.

Between blocks all registers are in the wave's state. A short loop waits there for its own stores: waves of 32 lanes
most, which have half of the work in between. So a loop without memory accesses, and without instructions that look at
other lanes, copies what it writes into rooms of its own (allocas) when it is entered. LLVM makes host registers of
them. Of each chunk of lanes a vector register has one, so the loops over chunks are unrolled there (runs.py). What is
live is copied back where the loop is left. Lane masks are held by chunk, too, beside their numbers: where only scalar
instructions combine them, and vector instructions and branches use them, they never leave the host's mask registers.

Such a loop is entered at one block, its head, and goes on there after the wave's budget was used up: what a backward
branch inside the loop costs is taken at once, but only on the way to the head it is asked whether something is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gpulab.virtual_gpu.isa.instruction import Literal, Register
from gpulab.virtual_gpu.isa.row import Control, Row
from gpulab.virtual_gpu.translate import layout
from gpulab.virtual_gpu.translate.branching import Branching
from gpulab.virtual_gpu.translate.captured import mask_number
from gpulab.virtual_gpu.translate.decode import ALL_SCALARS, ALL_VECTORS, Decoded, bits, is_dpp, scalar_number
from gpulab.virtual_gpu.translate.emitter import NULL, ZEROS, Constant, Local, Value
from gpulab.virtual_gpu.translate.liveness import Live
from gpulab.virtual_gpu.translate.scalars import chunks_of, joined
from gpulab.virtual_gpu.translate.sweeps import bitwise, is_bitwise

MOST = 320  # vector instructions of all loops that are held, times chunks: LLVM has so much more to do
WAYS = 8  # the way into a loop and out of it, in instructions
ROOMS = {8: 32, 16: 64}  # vector registers that a loop writes, times chunks, by the lanes of a chunk
MASKS = 8  # lane masks that go round a loop, times chunks: the host has seven registers for them
_EVERYTHING = Live(ALL_SCALARS, ALL_VECTORS, ALL_VECTORS)


@dataclass(slots=True)
class HeldLoop:
    """One loop, and its rooms once it was entered.

    scalars, vectors: registers that it writes. masks: where lane masks begin that are held by chunk.
    counts: of its blocks, by the number of the counter. words: the room of all scalar registers.
    masks_at, lanes: rooms of lane masks and of vector registers, one for each chunk.
    """

    head: int
    blocks: frozenset[int]
    scalars: list[int]
    vectors: list[int]
    masks: list[int]
    counts: dict[int, Local] = field(default_factory=dict)
    budget: Value = NULL
    words: Value = NULL
    masks_at: dict[int, list[Local]] = field(default_factory=dict)
    lanes: dict[int, list[Local]] = field(default_factory=dict)


def _circles(blocks: Sequence[int], successors: Mapping[int, Sequence[int] | None]) -> Iterator[list[int]]:
    """Sets of blocks that lead to one another: the strongly connected components (Tarjan) that are loops."""
    among = set(blocks)
    order: dict[int, int] = {}
    lowest: dict[int, int] = {}
    path: list[int] = []
    open_: set[int] = set()
    for start in blocks:
        if start in order:
            continue
        work: list[tuple[int, Iterator[int]]] = []

        def begin(block: int, work: list[tuple[int, Iterator[int]]] = work) -> None:
            order[block] = lowest[block] = len(order)
            path.append(block)
            open_.add(block)
            work.append((block, iter([t for t in successors[block] or () if t in among])))

        begin(start)
        while work:
            block, targets = work[-1]
            for target in targets:
                if target not in order:
                    begin(target)
                    break
                if target in open_:
                    lowest[block] = min(lowest[block], order[target])
            else:
                work.pop()
                if work:
                    lowest[work[-1][0]] = min(lowest[work[-1][0]], lowest[block])
                if lowest[block] == order[block]:
                    found = [path.pop()]
                    while found[-1] != block:
                        found.append(path.pop())
                    open_.difference_update(found)
                    if len(found) > 1 or block in (successors[block] or ()):
                        yield found


class Held(Branching):
    """Emits them: `_find_held` says which there are, by block."""

    _loop_held: HeldLoop | None = None  # that of the block which is being emitted
    _edges: dict[tuple[int, int], str]
    _amount = 0  # of what is held so far

    def _find_held(self) -> dict[int, HeldLoop]:
        into: dict[int, list[int]] = {block: [] for block in self.blocks}
        for block, targets in self.successors.items():
            for target in targets or ():
                into[target].append(block)
        found: dict[int, HeldLoop] = {}
        work = list(_circles(list(self.blocks), self.successors))
        while work:
            circle = work.pop()
            blocks = frozenset(circle)
            heads = {block for block in circle if any(source not in blocks for source in into[block])}
            heads |= blocks & (self.landing | {self.kernel.entry})
            if len(heads) != 1:
                continue
            (head,) = heads
            inner = list(_circles([block for block in circle if block != head], self.successors))
            if inner:
                work += inner
                continue
            loop = self._held_loop(head, blocks)
            if loop is not None:
                found.update(dict.fromkeys(circle, loop))
        return found

    def _held_loop(self, head: int, blocks: frozenset[int]) -> HeldLoop | None:
        """A loop, if it can be emitted so."""
        if self.checked and not self.program.guarantees.compiled:  # the checker is told of each instruction
            return None
        chunks = self.wave_size // self.emitter.lanes
        scalars, vectors, amount = 0, 0, 0
        for block in blocks:
            mode = self.modes.get(block)
            if mode is None or not mode.plain or mode.unknown:
                return None
            for index in self.blocks[block]:
                decoded = self.decoded[index]
                if not self._can_hold(decoded):
                    return None
                scalars |= decoded.scalar_writes
                vectors |= decoded.vector_writes
                amount += decoded.is_vector
        amount = (amount + WAYS) * chunks
        if self._amount + amount > MOST or vectors.bit_count() * chunks > ROOMS[self.emitter.lanes]:
            return None
        self._amount += amount
        pairs = (scalars | scalars >> 1) & int("01" * (layout.SCALARS // 2 + 1), 2)
        scalars |= pairs | pairs << 1  # of a pair that is read at once both
        body = [self.decoded[index] for block in blocks for index in self.blocks[block]]
        return HeldLoop(head, blocks, _numbers(scalars), _numbers(vectors), self._masks_of(head, body))

    def _masks_of(self, head: int, body: list[Decoded]) -> list[int]:
        """Where lane masks begin that are held by chunk, in the host's mask registers if it has such.

        EXEC, those that comparisons make, and what scalar instructions make of these; EXEC alone, if those that go
        round the loop would not fit.
        """
        size, chunks = self.wave_size // 32, self.wave_size // self.emitter.lanes
        if self.emitter.lanes == 8:
            return []
        found = {layout.EXEC}
        while True:
            before = len(found)
            for decoded in body:
                if decoded.is_vector:
                    parts = [part for part in (decoded, decoded.pair) if part is not None]
                    results = [(result, operand) for part in parts for result, operand in part.results]
                    made = (mask_number(result.name, result.type, operand) for result, operand in results)
                    found.update(number for number in made if number is not None)
                elif is_bitwise(decoded, self.wave_size) and decoded.scalar_reads & sum(bits(n, size) for n in found):
                    value = decoded.instruction.operands[0].value
                    number = scalar_number(value) if isinstance(value, Register) else None
                    if number not in (None, layout.NULL):
                        found.add(number)
            if len(found) == before:
                break
        masks = sum(bits(start, size) for start in found)
        carried = [start for start in found if self.entry_live[head].scalars >> start & 1]
        fits = masks.bit_count() == size * len(found) and len(carried) * chunks <= MASKS
        return sorted(found) if fits else [layout.EXEC]

    def _by_chunk(self, decoded: Decoded) -> dict[int, list[Value]]:
        """By chunk what a scalar instruction makes of lane masks that are held so; nothing where that is not known."""
        loop = self._loop_held
        if loop is None or not loop.masks or not is_bitwise(decoded, self.wave_size):
            return {}
        row, e, scalars = decoded.row, self.emitter, self.scalars
        assert isinstance(row, Row)
        target, *given = decoded.instruction.operands
        saves = any(result.name == "exec" for result, _ in decoded.results)
        sources: list[list[Value]] = []
        chunks = len(loop.masks_at[layout.EXEC])
        for operand in given:
            value = operand.value
            if isinstance(value, Literal) and value.value in (0, -1):
                sources.append([Constant("splat (i1 true)") if value.value else ZEROS] * chunks)
                continue
            number = scalar_number(value) if isinstance(value, Register) else None
            if number not in loop.masks_at or operand.neg or operand.abs:
                return {}
            sources.append(scalars.by_chunk(number))
        if saves:
            sources.append(scalars.by_chunk(layout.EXEC))
        new = [bitwise(e, e.v1, "splat (i1 true)", row.logic, values) for values in zip(*sources, strict=True)]
        value = target.value
        number = scalar_number(value) if isinstance(value, Register) else None
        found = {layout.EXEC: new} if saves else {}
        if number in loop.masks_at:
            found[number] = sources[-1] if saves and row.graph()[1][0].op == "arg" else new
        return found

    def _condition(self, row: Control) -> Value:
        loop, number = self._loop_held, layout.VCC if row.register == "vcc" else layout.EXEC
        if loop is None or row.register == "scc" or number not in loop.masks_at:
            return super()._condition(row)
        e = self.emitter
        first, *others = self.scalars.by_chunk(number)
        for other in others:
            first = e.let(f"or {e.v1} {first}, {other}")
        any_ = e.let(f"bitcast {e.v1} {first} to {e.byte}")
        return e.let(f"icmp {'ne' if row.nonzero else 'eq'} {e.byte} {any_}, 0")

    def _can_hold(self, decoded: Decoded) -> bool:
        row = decoded.row
        if decoded.index in self.indexed:
            return False
        if isinstance(row, Control):
            if row.kind == "wait":
                return not (row.caches or self._fence(decoded))
            return row.kind in ("branch", "cbranch", "nop")
        return isinstance(row, Row) and not (decoded.is_vector and is_dpp(decoded.instruction))

    def _begin_held(self, loop: HeldLoop, block: int, numbers: Mapping[int, int]) -> None:
        """What is emitted from here on belongs to a block of the loop. numbers: of the blocks' counters."""
        e = self.emitter
        if not loop.counts:
            self._make_rooms(loop, numbers)
        if block == loop.head:
            self._enter(loop)
        self._edges = {}
        self._loop_held = loop
        self.scalars.forget()
        self.scalars.held, self.scalars.room = frozenset(loop.scalars), loop.words
        self.scalars.masks, self.run.held = loop.masks_at, loop.lanes
        if block == loop.head:
            e.jump(f"in.b{block}")
            e.label(f"in.b{block}")

    def _make_rooms(self, loop: HeldLoop, numbers: Mapping[int, int]) -> None:
        e = self.emitter
        loop.words = e.entry(f"alloca [{layout.SCALARS} x i32], align 8")
        loop.budget = e.entry("alloca i64")
        loop.counts = {numbers[block]: e.entry("alloca i64") for block in sorted(loop.blocks)}
        chunks = self.wave_size // e.lanes
        for start in loop.masks:
            loop.masks_at[start] = [e.entry(f"alloca {e.v1}, align 8") for _ in range(chunks)]
        for register in loop.vectors:
            loop.lanes[register] = [e.entry(f"alloca {e.v32}, align {e.align}") for _ in range(chunks)]

    def _enter(self, loop: HeldLoop) -> None:
        """Copy what is live into the loop's rooms."""
        e, live = self.emitter, self.entry_live[loop.head]
        budget = self._field_at("budget")
        e.do(f"store i64 {e.let(f'load i64, ptr {budget}')}, ptr {loop.budget}")
        for count in loop.counts.values():
            e.do(f"store i64 0, ptr {count}")
        for n in loop.scalars:
            if live.scalars >> n & 1:
                value = e.let(f"load i32, ptr {self._scalar_at(n)}")
                e.do(f"store i32 {value}, ptr {self._word_at(loop, n)}")
        self.scalars.forget()
        for start, rooms in loop.masks_at.items():
            if live.scalars & bits(start, self.wave_size // 32):
                parts = chunks_of(e, self.scalars.mask(start), len(rooms))
                for room, part in zip(rooms, parts, strict=True):
                    e.do(f"store {e.v1} {part}, ptr {room}")
        for register, places in loop.lanes.items():
            if (live.active | live.asleep) >> register & 1:
                for chunk, place in enumerate(places):
                    value = e.let(f"load {e.v32}, ptr {self._lanes_at(register, chunk)}, align {e.align}")
                    e.do(f"store {e.v32} {value}, ptr {place}, align {e.align}")

    def _put_back(self, loop: HeldLoop, live: Live) -> None:
        """Copy what is live from the loop's rooms."""
        e = self.emitter
        left = e.let(f"load i64, ptr {loop.budget}")
        e.do(f"store i64 {left}, ptr {self._field_at('budget')}")
        for number, count in loop.counts.items():
            super()._count(number, e.let(f"load i64, ptr {count}"))
        for start, rooms in loop.masks_at.items():
            if live.scalars & bits(start, self.wave_size // 32):
                whole = joined(e, [e.let(f"load {e.v1}, ptr {room}") for room in rooms])
                word = whole if self.wave_size == 64 else e.let(f"trunc i64 {whole} to i32")
                e.do(f"store i{self.wave_size} {word}, ptr {self._scalar_at(start)}, align 4")
        parted = {n for start in loop.masks for n in range(start, start + self.wave_size // 32)}
        for n in loop.scalars:
            if n not in parted and live.scalars >> n & 1:
                value = e.let(f"load i32, ptr {self._word_at(loop, n)}")
                e.do(f"store i32 {value}, ptr {self._scalar_at(n)}")
        for register, places in loop.lanes.items():
            if (live.active | live.asleep) >> register & 1:
                for chunk, place in enumerate(places):
                    value = e.let(f"load {e.v32}, ptr {place}, align {e.align}")
                    e.do(f"store {e.v32} {value}, ptr {self._lanes_at(register, chunk)}, align {e.align}")

    def _field_at(self, name: str) -> Value:
        return self.emitter.let(f"getelementptr i8, ptr %wave, i64 {layout.offset(name)}")

    def _scalar_at(self, n: int) -> Value:
        return self.emitter.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('scalars') + 4 * n}")

    def _word_at(self, loop: HeldLoop, n: int) -> Value:
        return self.emitter.let(f"getelementptr i8, ptr {loop.words}, i64 {4 * n}")

    def _lanes_at(self, register: int, chunk: int) -> Value:
        e = self.emitter
        return e.let(f"getelementptr i8, ptr %vgprs, i64 {4 * (register * self.wave_size + chunk * e.lanes)}")

    def _goto(self, source: int, target: int) -> str:
        loop = self._loop_held
        if loop is None:
            return super()._goto(source, target)
        if source < target != loop.head and target in loop.blocks:
            return f"in.b{target}"
        return self._edges.setdefault((source, target), f"edge.{source}.{target}")

    def _count(self, number: int, times: Value) -> None:
        loop = self._loop_held
        if loop is None:
            super()._count(number, times)
        else:
            self._add(loop.counts[number], times)

    def _end_held(self, loop: HeldLoop) -> None:
        """The end of a block of the loop: emit its ways out, and those that cost something."""
        e = self.emitter
        self._loop_held = self.run.held = None
        self.scalars.forget()
        self.scalars.held, self.scalars.masks = frozenset(), {}
        for (source, target), label in self._edges.items():
            e.label(label)
            if target not in loop.blocks:
                self._put_back(loop, self.entry_live.get(target, _EVERYTHING))
                e.jump(self._goto(source, target))
                continue
            left = e.let(f"load i64, ptr {loop.budget}")
            if target <= source:
                left = e.let(f"sub i64 {left}, {max(1, source - target + 1)}")
                e.do(f"store i64 {left}, ptr {loop.budget}")
            if target != loop.head:
                e.jump(f"in.b{target}")
                continue
            self.resume.add(target)
            e.branch(e.let(f"icmp sgt i64 {left}, 0"), f"in.b{target}", f"{label}.yield", likely=True)
            e.label(f"{label}.yield")
            self._put_back(loop, self.entry_live[target])
            self._store_field("pc", target)
            self._store_field("first_instruction", source)
            e.do(f"ret i32 {layout.YIELD}")


def _numbers(set_: int) -> list[int]:
    return [n for n in range(set_.bit_length()) if set_ >> n & 1]
