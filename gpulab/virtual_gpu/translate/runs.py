"""Runs: straight-line vector instructions that become one loop over chunks of 8 or 16 lanes.

`Run.add` takes an instruction and captures its scalar operands as they are at that point, so that scalar
instructions between the vector ones need not wait; `Run.flush` emits the loop. What ends a run is decided by
`Run.conflicts`: a scalar reader of a lane mask made in the run, and the order of memory accesses (within one address
space nothing follows a store, and no store follows anything).

A short run is emitted a second time for a whole wave, a chunk of all its lanes (`Run._wave`): there each access is
checked once. A wave whose EXEC is full goes that way. Where its addresses are neither consecutive nor all the same it
has done nothing yet, and goes through the loop over chunks, as the next ones do at once (`PATIENCE`). In a whole wave a
store may follow loads, so a run goes on there, and has a loop for each of its two parts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from gpulab.virtual_gpu.isa.buffers import Rules
from gpulab.virtual_gpu.isa.instruction import Register, Symbol
from gpulab.virtual_gpu.isa.row import Memory
from gpulab.virtual_gpu.translate import layout
from gpulab.virtual_gpu.translate.accesses import Accesses
from gpulab.virtual_gpu.translate.captured import Capture, Gathered, Item, Vector, mask_number
from gpulab.virtual_gpu.translate.chunk import Chunk, HeldChunk
from gpulab.virtual_gpu.translate.decode import Decoded, bits, into_lds, scalar_number, words
from gpulab.virtual_gpu.translate.emitter import ZERO, Emitter, Integer, Local, Value, signed
from gpulab.virtual_gpu.translate.lane_access import Observed, Site
from gpulab.virtual_gpu.translate.lanewise import Lanewise
from gpulab.virtual_gpu.translate.liveness import Live
from gpulab.virtual_gpu.translate.modes import Mode
from gpulab.virtual_gpu.translate.scalars import Scalars, joined
from gpulab.virtual_gpu.translate.telling import Telling

WHOLE_ITEMS = 40  # instructions of a run, up to which it is worth having twice: so many values fit into host registers
SHORT = 12  # the same of one without memory accesses
SKIPPED = 8  # instructions of an unrolled run from which on a chunk without an active lane is skipped
PATIENCE = 31  # times that a run goes through its loop at once after it had not fit a whole wave

# Memory that lanes share and that an access may reach. Scratch is each lane's own: its order is that of the chunk.
_SPACES: dict[str, tuple[str, ...]] = {"flat": ("global", "lds"), "buffer": ("global",), "scratch": ()}


def _fits(item: Item, whole: bool) -> bool:
    """Whether an instruction can be emitted without the support code, whose chunks have a fixed size.

    whole: for a whole wave, else for one chunk.
    """
    row = item.decoded.row
    if isinstance(row, Memory):
        plain = row.space in ("global", "lds") and row.action != "atomic" and not row.implied
        short = max(1, row.element * row.count // 8) <= 4 and not row.two_address
        lanes_own = item.sources[0] is None or isinstance(item.sources[0], Vector)
        held = item.address.buffer is None and item.address.lds is None
        return plain and (short or not whole) and lanes_own and held
    mode, sources = item.mode, [*item.sources, *(item.second.sources if item.second else ())]
    gathers = any(isinstance(source, Gathered) for source in sources)
    return item.only is None and not gathers and mode.plain and not mode.unknown


class Run:
    """The run being collected in the current block."""

    def __init__(
        self,
        emitter: Emitter,
        scalars: Scalars,
        wave_size: int,
        site: Site,
        slot: Callable[[int], int],
        symbol: Callable[[Symbol, int], Value],
        arch: str,
        observe: Callable[[Observed], int],
        rules: Rules,
        scratch_buffer: bool = False,
        whole: bool = False,
    ) -> None:
        self.emitter, self.scalars, self.wave_size = emitter, scalars, wave_size
        self.site, self.slot = site, slot
        self.whole = whole and emitter.lanes == 16 and not site.checked
        self.capture = Capture(emitter, scalars, wave_size, site, symbol, rules, scratch_buffer)
        self.lanewise = Lanewise(emitter, wave_size, arch)
        self.accesses = Accesses(emitter, wave_size, site, slot, observe)
        self.held: dict[int, list[Local]] | None = None  # rooms of vector registers that a loop holds (held.py)
        self.opaque = False  # whether a loop's counter is hidden from LLVM
        self.items: list[Item] = []
        self.loads: list[Item] = []  # the part before a store, if this run has two
        self.masks = 0  # scalar registers that this run will write
        self.starts: set[int] = set()  # where the lane masks among them begin
        self.spaces: dict[str, str] = {}  # "load" or "store" by address space
        self.vectors = 0  # vector registers that this run has written so far

    def new_block(self) -> None:
        self.masks = 0
        self.starts.clear()
        self.capture.new_block()
        self.accesses.new_block()

    # what may follow what

    def conflicts(self, decoded: Decoded) -> bool:
        """Whether the run must be emitted before this instruction."""
        if not self.items:
            return False
        if self._needs_masks(decoded) or (self.loads and decoded.is_vector and self.masks & decoded.scalar_reads):
            return True
        row = decoded.row
        if decoded.is_vector and isinstance(row, Memory):
            return self._memory_conflict(decoded) and not self._goes_on(row)
        return False

    def _needs_masks(self, decoded: Decoded) -> bool:
        """Whether an instruction needs lane masks made in the run for all lanes, not for its own alone."""
        return bool(self.masks and self.masks & self.needs_whole(decoded))

    def needs_whole(self, decoded: Decoded) -> int:
        """Scalar registers of which an instruction needs all bits, or that it changes, if they hold lane masks."""
        if decoded.is_vector and not isinstance(decoded.row, Memory):
            return self._scalar_values(decoded) | self._misplaced_masks(decoded)
        return decoded.scalar_reads | (0 if decoded.is_vector else decoded.scalar_writes)

    def _scalar_values(self, decoded: Decoded) -> int:
        """Scalar registers that a vector instruction reads as values. (Masks made in the run it takes lane by lane.)"""
        whole = {"exec": bits(layout.EXEC, 2), "m0": bits(layout.M0, 1), "scc": bits(layout.SCC, 1)}
        found = 0
        for part in (decoded, decoded.pair):
            if part is None:
                continue
            for parameter, operand in part.sources:
                if parameter.implicit and parameter.name in whole:
                    found |= whole[parameter.name]
                    continue
                if operand is None or not isinstance(operand.value, Register):
                    continue
                number = scalar_number(operand.value)
                if parameter.type.kind == "b":
                    # A mask of which the run made only a part must be whole first.
                    if number is not None:
                        mine = bits(number, self.wave_size // 32)
                        if self.masks & mine and number not in self.starts:
                            found |= mine
                    continue
                if operand.value.name == "vccz":
                    found |= bits(layout.VCC, 2)
                elif number is not None:
                    found |= bits(number, words(parameter.type))
        return found

    def _misplaced_masks(self, decoded: Decoded) -> int:
        """Registers of masks that an instruction writes and that would cover only a part of one made in the run."""
        found = 0
        for part in (decoded, decoded.pair):
            for result, operand in part.results if part else ():
                number = mask_number(result.name, result.type, operand)
                if number is not None and number not in self.starts:
                    found |= bits(number, self.wave_size // 32)
        return found

    def _touched(self, decoded: Decoded) -> list[tuple[str, bool]]:
        """The address spaces that a memory instruction may reach, and whether it writes there."""
        row = decoded.row
        assert isinstance(row, Memory)
        found = [(space, row.action != "load") for space in _SPACES.get(row.space, (row.space,))]
        return [*found, ("lds", True)] if into_lds(decoded.instruction, row) else found

    def _memory_conflict(self, decoded: Decoded) -> bool:
        for space, writes in self._touched(decoded):
            seen = self.spaces.get(space)
            if seen is not None and (writes or seen == "store"):
                return True
        return False

    def _goes_on(self, row: Memory) -> bool:
        """Whether a store that is in conflict with what was read before may begin a second part of the run."""
        reads = all(space == "load" for space in self.spaces.values())
        return self.whole and not self.loads and row.action == "store" and reads and self._fit(self.items)

    def _fit(self, items: list[Item]) -> bool:
        """Whether these instructions can be emitted for a whole wave, which does nothing before all is checked."""
        actions = [item.decoded.row.action for item in items if isinstance(item.decoded.row, Memory)]
        return (
            len(items) <= WHOLE_ITEMS and "store" not in actions[:-1] and all(_fits(item, whole=True) for item in items)
        )

    # collecting

    def add(self, decoded: Decoded, mode: Mode) -> None:
        if isinstance(decoded.row, Memory) and self._memory_conflict(decoded):
            self.loads, self.items = self.items, []
        self.items.append(self._captured(decoded, mode))
        self.vectors |= decoded.vector_writes
        row = decoded.row
        if isinstance(row, Memory):
            for space, writes in self._touched(decoded):
                self.spaces[space] = "store" if writes or self.spaces.get(space) == "store" else "load"

    def _captured(self, decoded: Decoded, mode: Mode) -> Item:
        item = self.capture.item(decoded, mode, self.masks)
        if decoded.pair is not None:
            item.second = self.capture.item(decoded.pair, mode, self.masks)
        self.masks |= decoded.scalar_writes
        if decoded.scalar_writes:
            for part in (decoded, decoded.pair):
                for result, operand in part.results if part else ():
                    number = mask_number(result.name, result.type, operand)
                    if number is not None:
                        self.starts.add(number)
        return item

    # emitting

    def at_once(self, chunk: Chunk, decoded: Decoded, mode: Mode) -> bool:
        """Emit an instruction for one chunk alone, if it needs neither the support code nor other chunks' lanes.

        Of a scalar instruction only the latter is asked.
        """
        if self._needs_masks(decoded):
            return False
        if decoded.is_vector:
            whole = self.emitter.lanes != self.emitter.own_lanes
            with self.emitter.of_lanes(self.emitter.own_lanes):  # as `Chunk.spread` takes them
                item = self._captured(decoded, mode)
            if not _fits(item, whole and not chunk.gathers):
                return False
            self._emit(chunk, item)
        return True

    def flush(self, live: Callable[[int], Live]) -> None:
        """Emit the loop, if there is anything to run, and take over the masks it made."""
        if not self.items:
            return
        parts = [part for part in (self.loads, self.items) if part]
        every = [*self.loads, *self.items]
        self.loads, self.items = [], []
        masks, self.masks = self.masks, 0
        self.starts.clear()
        self.spaces.clear()
        self.vectors = 0
        e, exec_mask = self.emitter, self.scalars.mask(layout.EXEC)
        wanted = masks & (live(every[-1].decoded.index).scalars | bits(layout.EXEC, 2))
        totals: dict[int, Value] = {}
        moves = any(isinstance(item.decoded.row, Memory) for item in every)
        if self.held is not None:
            self._unrolled(every, live, wanted, self.held)
        elif not (self.whole and (moves or len(every) <= SHORT) and self._fit(every)):
            for part in parts:
                totals |= self._loop(part, live, wanted, exec_mask)
        else:
            narrow, done = e.name("narrow"), e.name("wave_done")
            telling = self._telling(every) if self.site.record and moves else None
            found = self._wave(every, live, wanted, exec_mask, narrow, moves, telling)
            came = e.block
            e.jump(done)
            e.label(narrow)
            for part in parts:
                totals |= self._loop(part, live, wanted, exec_mask)
            before = e.block
            e.jump(done)
            e.label(done)
            if telling is not None:
                telling.declare(self.accesses.numbers)
            for start, total in totals.items():
                totals[start] = e.let(f"phi i64 [ {found[start]}, %{came} ], [ {total}, %{before} ]")
        for start, total in totals.items():
            self.scalars.set_mask(start, total)

    def _wave(
        self, items: list[Item], live: Callable[[int], Live], wanted: int, exec_mask: Value, narrow: str, moves: bool,
        telling: Telling | None,
    ) -> dict[int, Value]:  # fmt: skip
        """The run for a whole wave with all lanes active; goes to the label `narrow` where it cannot be done so.

        moves: it has memory accesses. telling: tells of them in the end.
        """
        e, size = self.emitter, self.wave_size
        full, missed = e.name("full"), e.name("missed")
        fits = e.let(f"icmp eq i64 {exec_mask}, {signed((1 << size) - 1, 64)}")
        e.branch(fits, full, narrow)
        e.label(full)
        if moves:
            slot = self.slot(items[0].decoded.index + (1 << 32))  # the entry holds how often not to try
            place = e.let(f"getelementptr i8, ptr {self.site.cache}, i64 {layout.ALLOCATION_BYTES * slot}")
            whole, wait = e.name("whole"), e.name("wait")
            left = e.let(f"load i64, ptr {place}")
            e.branch(e.let(f"icmp eq i64 {left}, 0"), whole, wait)
            e.label(wait)
            e.do(f"store i64 {e.let(f'add i64 {left}, -1')}, ptr {place}")
            e.jump(narrow)
            e.label(missed)
            e.do(f"store i64 {PATIENCE}, ptr {place}")
            e.jump(narrow)
            e.label(whole)
        with e.of_lanes(size):
            chunk = Chunk(e, size, ZERO, Integer(-1), missed)
            if telling is not None:
                chunk.told = partial(telling.even, chunk)
            for item in items:
                self._emit(chunk, item)
            self._store(chunk, items, live)
            kept = self._kept(chunk, wanted)
        if telling is not None:
            telling.tell_now(self.site.observer)
        return kept

    def _telling(self, items: list[Item]) -> Telling:
        """What tells of the accesses of a run."""
        memory = [(item.decoded.index, item.decoded.row) for item in items if isinstance(item.decoded.row, Memory)]
        telling = Telling(self.emitter, self.wave_size, [(index, 0) for index, _ in memory])
        telling.begin(1)
        return telling

    def _loop(self, items: list[Item], live: Callable[[int], Live], wanted: int, exec_mask: Value) -> dict[int, Value]:
        """The loop over chunks; gives the `wanted` lane masks that it made, by scalar register."""
        for item in items:
            if item.address.buffer is not None:
                item.inside = self.emitter.entry("alloca i64")
                self.emitter.do(f"store i64 0, ptr {item.inside}")
        e = self.emitter
        head, body, latch, done = (e.name(n) for n in ("run", "chunk", "next", "run_done"))
        self.accesses.check_frames(items, exec_mask)
        before = e.block
        counted, step = e.ahead("c"), e.ahead("c_next")
        e.jump(head)
        lines_before = len(e.lines)
        e.label(head)
        e.do(f"{counted} = phi i64 [ 0, %{before} ], [ {step}, %{latch} ]")
        marker = len(e.lines)
        number: Value = counted
        if self.opaque:  # empty assembly code: no instruction, but LLVM's strength reduction has nothing to go by
            number = e.let(f'call i64 asm "", "=r,0"(i64 {counted}) nounwind memory(none)')
        shift = e.let(f"shl i64 {number}, {e.shift}")
        bits_ = e.let(f"trunc i64 {e.let(f'lshr i64 {exec_mask}, {shift}')} to {e.byte}")
        e.branch(e.let(f"icmp eq {e.byte} {bits_}, 0"), latch, body)
        e.label(body)
        chunk = Chunk(e, self.wave_size, number, bits_)
        for item in items:
            self._emit(chunk, item)
        self._store(chunk, items, live)
        kept = {start: e.let(f"shl i64 {byte}, {shift}") for start, byte in self._kept(chunk, wanted).items()}
        end = e.block
        e.jump(latch)
        e.label(latch)
        sums: dict[int, tuple[Value, Value]] = {}
        for start, value in kept.items():
            part = e.let(f"phi i64 [ 0, %{head} ], [ {value}, %{end} ]")
            sums[start] = (part, e.ahead("mask"))
        totals: dict[int, Value] = {}
        for start, (mine_here, total) in sums.items():
            totals[start] = e.let(f"or i64 {total}, {mine_here}")
        e.do(f"{step} = add i64 {number}, 1")
        e.branch(e.let(f"icmp eq i64 {step}, {self.wave_size // e.lanes}"), done, head)
        # The accumulators' phis belong to the head, which is emitted already.
        phis = [
            f"  {total} = phi i64 [ 0, %{before} ], [ {totals[start]}, %{latch} ]" for start, (_, total) in sums.items()
        ]
        e.lines[marker:marker] = phis
        assert lines_before <= marker
        e.label(done)
        self.accesses.report(exec_mask)
        return totals

    def _unrolled(
        self, items: list[Item], live: Callable[[int], Live], wanted: int, held: dict[int, list[Local]]
    ) -> None:
        """The run of a loop that holds its registers: one chunk after the other. Takes over the masks it made."""
        e = self.emitter
        made: dict[int, list[Value]] = {}
        for number, active in enumerate(self.scalars.by_chunk(layout.EXEC)):
            body, done = e.name("chunk"), e.name("chunk_done")
            bits_ = e.let(f"bitcast {e.v1} {active} to {e.byte}")
            skips = len(items) >= SKIPPED
            before = e.block
            if skips:
                e.branch(e.let(f"icmp eq {e.byte} {bits_}, 0"), done, body)
                e.label(body)
            rooms = {register: places[number] for register, places in held.items()}
            chunk = HeldChunk(e, self.wave_size, Integer(number), bits_, rooms, live(items[-1].decoded.index).asleep)
            for item in items:
                self._emit(chunk, item)
            self._store(chunk, items, live)
            kept = {s: v for s, v in chunk.masks.items() if wanted & bits(s, self.wave_size // 32)}
            if skips:
                end = e.block
                e.jump(done)
                e.label(done)
                none = f"[ zeroinitializer, %{before} ]"
                kept = {s: e.let(f"phi {e.v1} {none}, [ {value}, %{end} ]") for s, value in kept.items()}
            for start, value in kept.items():
                made.setdefault(start, []).append(value)
        for start, parts in made.items():
            self.scalars.set_mask(start, joined(e, parts))
            if start in self.scalars.masks:
                self.scalars.parts[start] = parts

    def _store(self, chunk: Chunk, items: list[Item], live: Callable[[int], Live]) -> None:
        """Store what is still needed. v_cmpx ends a run and puts lanes to sleep: what they hold they may need later."""
        after = live(items[-1].decoded.index)
        chunk.store(after.active | after.asleep if items[-1].decoded.exec_effect else after.active)

    def _kept(self, chunk: Chunk, wanted: int) -> dict[int, Value]:
        """The chunk's bits (i64) of the lane masks that were made and of which a register is among `wanted`."""
        e = self.emitter
        found: dict[int, Value] = {}
        for start, value in chunk.masks.items():
            if wanted & bits(start, self.wave_size // 32):
                byte = e.let(f"bitcast {e.v1} {value} to {e.byte}")
                found[start] = byte if e.lanes == 64 else e.let(f"zext {e.byte} {byte} to i64")
        return found

    def _emit(self, chunk: Chunk, item: Item) -> None:
        if isinstance(item.decoded.row, Memory):
            self.accesses.emit(chunk, item)
            return
        results = self.lanewise.compute(chunk, item)
        if item.second is not None:  # both halves of a dual instruction read before either writes
            results += self.lanewise.compute(chunk, item.second)
        for write in results:
            write()
