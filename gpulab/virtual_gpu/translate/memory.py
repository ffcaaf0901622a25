"""Memory instructions inside a run: `load`, `store` and `atomic` for one chunk of lanes.

Four ways, tried in this order: consecutive addresses (one vector access), the same address in all lanes (one scalar
access), addresses anywhere in one allocation (a gather, or a scatter of dwords, with a check of all lanes at once), and
anything else, where the support code checks lane by lane, finds the lanes' memory and names a fault. The others are for
the allocation that the instruction used last (places.py). For a whole wave of a run (runs.py) there are the first two
ways. Where it is known how addresses go up from lane to lane (linear.py), dwords in even steps are a gather of which
the first and the last lane are checked.

Scratch is laid out as on hardware, one row of lanes per dword, so that what lies at one address in all lanes is a row.
Accesses without an address register are rows for certain; runs.py checks all those of a run before its loop.
"""

from __future__ import annotations

from collections.abc import Callable

from gpulab.virtual_gpu.isa.row import Memory
from gpulab.virtual_gpu.translate import layout
from gpulab.virtual_gpu.translate.chunk import Chunk
from gpulab.virtual_gpu.translate.emitter import Constant, Emitter, Integer, Value, splat
from gpulab.virtual_gpu.translate.expressions import Reader, ir_type
from gpulab.virtual_gpu.translate.lane_access import (
    LaneAccess,
    Site,
    alignment,
    buffered,
    call_support,
    keep_change,
    keep_data,
    put_data,
)
from gpulab.virtual_gpu.translate.places import (
    each_lane,
    gather,
    gathered,
    label_of_each,
    only_slow,
    plan_of,
    pointers,
    scatter_to,
)


def load(chunk: Chunk, access: LaneAccess, site: Site) -> list[Value]:
    """Loads; returns the 32-bit words of the result, each a vector of i32 (narrow elements are extended)."""
    words = max(1, access.bytes // 4)
    if access.frame is not None:
        return _load_row(chunk, access, words)
    if only_slow(access):
        return _load_slow(chunk, access, site, words)
    return _Load(chunk, access, site, words).emit()


class _Load:
    """A load whose way is chosen when it runs. Each way leaves its words, and goes on at the label `done`."""

    def __init__(self, chunk: Chunk, access: LaneAccess, site: Site, words: int) -> None:
        self.chunk, self.access, self.site, self.words = chunk, access, site, words
        self.emitter = e = chunk.emitter
        self.element = "i32" if access.bytes >= 4 else f"i{8 * access.bytes}"
        self.align = alignment(access.row, site)
        self.done, self.slow = e.name("loaded"), chunk.missed or e.name("scattered")
        self.each = label_of_each(chunk, access, site, self.slow)
        self.plan = plan_of(chunk, access, site)
        self.found: list[tuple[list[Value], str]] = []  # words, and the block that they come from

    def emit(self) -> list[Value]:
        e, plan = self.emitter, self.plan
        uniform = e.name("uniform")
        if plan.either is not None:
            known, apart = e.name("known"), e.name("apart") if plan.apart else self.each
            e.branch(plan.either, known, apart, likely=True)
            if plan.apart is not None:
                e.label(apart)
                self._leave(self._evenly_apart(plan.apart))
            e.label(known)
        if not self.access.uniform:
            straight, other = e.name("consecutive"), e.name("other")
            e.branch(plan.consecutive, straight, other, likely=True)
            e.label(straight)
            self._leave(self._consecutive())
            e.label(other)
        if plan.either is not None:
            e.jump(uniform)
        else:
            e.branch(plan.same(), uniform, self.each, likely=True if self.access.uniform else None)
        e.label(uniform)
        self._leave(self._same())
        if self.each != self.slow:
            e.label(self.each)
            self._leave(self._anywhere())
        if not self.chunk.missed:
            e.label(self.slow)
            self._leave(_load_slow(self.chunk, self.access, self.site, self.words))
        e.label(self.done)
        return [
            e.let(f"phi {e.v32} " + ", ".join(f"[ {parts[w]}, %{block} ]" for parts, block in self.found))
            for w in range(self.words)
        ]

    def _leave(self, words: list[Value]) -> None:
        self.found.append((words, self.emitter.block))
        self.emitter.jump(self.done)

    def _word(self, word: int) -> Value:
        """Where this word of the first lane stands."""
        pointer = self.plan.pointer
        return self.emitter.let(f"getelementptr i8, ptr {pointer}, i64 {4 * word}") if word else pointer

    def _extended(self, value: Value) -> Value:
        e = self.emitter
        if self.element == "i32":
            return value
        sign = "sext" if self.access.row.extend == "sign" else "zext"
        return e.let(f"{sign} <{e.lanes} x {self.element}> {value} to {e.v32}")

    def _evenly_apart(self, apart: Callable[[], tuple[Value, Value]]) -> list[Value]:
        """Lanes' dwords in even steps: if not all are inside, each lane is looked at."""
        e = self.emitter
        good, bytes_ = apart()
        gathers = e.name("gather")
        e.branch(good, gathers, self.each)
        e.label(gathers)
        line, found = self.access.line, list[Value]()
        for w in range(self.words):
            start = self._word(w)
            if line is not None and line.step == Integer(4):  # each lane's words are the next one's, too
                found.append(e.let(f"load {e.v32}, ptr {start}, align {self.align}"))
                continue
            places = e.let(f"getelementptr i8, ptr {start}, {e.v32} {bytes_}")
            found.append(gather(e, places, self.align, Constant("splat (i1 true)"), "poison"))
        return found

    def _consecutive(self) -> list[Value]:
        e, words = self.emitter, self.words
        kind = f"<{e.lanes * words} x {self.element}>"
        whole = e.let(f"load {kind}, ptr {self.plan.pointer}, align {self.align}")
        if words == 1:
            return [self._extended(whole)]
        found: list[Value] = []
        for w in range(words):
            picks = ", ".join(f"i32 {w + words * i}" for i in range(e.lanes))
            found.append(e.let(f"shufflevector {kind} {whole}, {kind} poison, <{e.lanes} x i32> <{picks}>"))
        return found

    def _same(self) -> list[Value]:
        """All lanes load the first one's."""
        e, element = self.emitter, self.element
        found: list[Value] = []
        for w in range(self.words):
            address = self._word(w)
            found.append(self._extended(splat(e, element, e.let(f"load {element}, ptr {address}, align {self.align}"))))
        return found

    def _anywhere(self) -> list[Value]:
        e = self.emitter
        good, home, relative = each_lane(self.chunk, self.access, self.site)
        gathers = e.name("gather")
        e.branch(good, gathers, self.slow)
        e.label(gathers)
        parts = gathered(self.chunk, self.access, self.site, home, relative, self.words)
        if self.element != "i32":
            parts = [self._extended(e.let(f"trunc {e.v32} {parts[0]} to <{e.lanes} x {self.element}>"))]
        return parts


def store(chunk: Chunk, access: LaneAccess, site: Site, data: list[Value]) -> None:
    """Stores the words of `data` (the low bits of the only one for narrow elements)."""
    e = chunk.emitter
    if access.frame is not None:
        _store_row(chunk, access, data)
        return
    if site.checked and not chunk.missed:
        keep_data(chunk, access, data)
    if only_slow(access) or access.uniform:
        _store_slow(chunk, access, site, data)
        return
    align = alignment(access.row, site)
    plan = plan_of(chunk, access, site)
    consecutive = plan.consecutive
    if plan.either is not None:
        consecutive = e.let(f"and i1 {consecutive}, {plan.either}")
    full = e.let(f"icmp eq {e.byte} {chunk.bits}, -1")
    straight, slow, done = e.name("consecutive"), chunk.missed or e.name("scattered"), e.name("stored")
    # Lanes that store several words may overlap in part: those are stored lane after lane.
    scatters = access.bytes == 4 and not site.checked and chunk.last is None
    each = label_of_each(chunk, access, site, slow) if scatters else slow
    masked = e.lanes == 16 and access.bytes == 4  # there are masked stores
    e.branch(consecutive if masked else e.let(f"and i1 {consecutive}, {full}"), straight, each, likely=True)
    e.label(straight)
    kind, whole = _side_by_side(e, data, access.bytes)
    if site.checked:
        before = e.let(f"load {kind}, ptr {plan.pointer}, align {align}")
        changed = _changed(e, kind, len(data), before, whole)
        if chunk.changes is not None:
            chunk.changes(access, changed)
        else:
            keep_change(chunk, access, changed)
    if masked:
        all_, some = e.name("whole"), e.name("part")
        e.branch(full, all_, some, likely=True)
        e.label(some)
        e.call_void(f"llvm.masked.store.v{e.lanes}i32.p0", f"{kind} {whole}", f"ptr {plan.pointer}", f"i32 {align}",
            f"{e.v1} {chunk.active}",
        )  # fmt: skip
        e.jump(done)
        e.label(all_)
    if chunk.last is None:
        e.do(f"store {kind} {whole}, ptr {plan.pointer}, align {align}")
    else:
        chunk.last.append((kind, whole, plan.pointer, align))
    e.jump(done)
    if each != slow:
        e.label(each)
        good, home, relative = each_lane(chunk, access, site)
        scatter = e.name("scatter")
        e.branch(good, scatter, slow)
        e.label(scatter)
        scatter_to(chunk, pointers(chunk, access, home, relative), data[0], align)
        e.jump(done)
    if not chunk.missed:
        e.label(slow)
        _store_slow(chunk, access, site, data)
        e.jump(done)
    e.label(done)


def _side_by_side(e: Emitter, data: list[Value], bytes: int) -> tuple[str, Value]:
    """All lanes' elements as they stand in memory, a lane's words side by side: the type of the vector, and it."""
    words = len(data)
    if bytes < 4:
        kind = f"<{e.lanes} x i{8 * bytes}>"
        return kind, e.let(f"trunc {e.v32} {data[0]} to {kind}")
    kind = f"<{e.lanes * words} x i32>"
    if words == 1:
        return kind, data[0]
    joined, width = list(data), e.lanes
    while len(joined) > 1:  # lanes of pairs side by side, padded to a power of two
        if len(joined) % 2:
            joined.append(Constant("poison"))
        picks = ", ".join(f"i32 {i}" for i in range(2 * width))
        joined = [
            e.let(
                f"shufflevector <{width} x i32> {joined[i]}, <{width} x i32> {joined[i + 1]}, "
                f"<{2 * width} x i32> <{picks}>"
            )
            for i in range(0, len(joined), 2)
        ]
        width *= 2
    picks = ", ".join(f"i32 {e.lanes * w + lane}" for lane in range(e.lanes) for w in range(words))
    return kind, e.let(
        f"shufflevector <{width} x i32> {joined[0]}, <{width} x i32> poison, <{e.lanes * words} x i32> <{picks}>"
    )


def _changed(e: Emitter, kind: str, words: int, before: Value, after: Value) -> Value:
    """Which lanes change memory, a bit each, of vectors that `_side_by_side` makes."""
    differs = e.let(f"icmp ne {kind} {before}, {after}")
    if words > 1:  # a lane changed memory if one of its words did
        parts = []
        for w in range(words):
            picks = ", ".join(f"i32 {words * lane + w}" for lane in range(e.lanes))
            flags = f"<{e.lanes * words} x i1>"
            parts.append(e.let(f"shufflevector {flags} {differs}, {flags} poison, <{e.lanes} x i32> <{picks}>"))
        differs = parts[0]
        for part in parts[1:]:
            differs = e.let(f"or {e.v1} {differs}, {part}")
    return e.let(f"bitcast {e.v1} {differs} to {e.byte}")


def atomic(chunk: Chunk, access: LaneAccess, site: Site, data: list[Value]) -> list[Value]:
    """Read-modify-write, lane after lane in the order of lanes; returns the old values as words.

    Global memory is shared by workgroups on other threads, so it is a compare-and-exchange loop there. One workgroup
    runs on one thread: in LDS it is a plain load and store. (A flat access may be either, and takes the loop.)
    """
    e, width = chunk.emitter, access.row.element
    put_data(chunk, site, data)
    call_support(chunk, access, site, site.resolve)
    pointers, olds = (buffered(chunk, site, 0, name) for name in ("pointers", "old"))
    flags: Value | None = None
    if site.checked:
        kept = e.let(f"getelementptr i8, ptr {access.kept}, i64 {24 * chunk.wave_size}")
        flags = e.let(f"getelementptr {e.byte}, ptr {kept}, i64 {chunk.number}")
        e.do(f"store {e.byte} 0, ptr {flags}")
    head, body, work, next_ = e.name("lane"), e.name("lane_body"), e.name("lane_work"), e.name("lane_next")
    done = e.name("lanes_done")
    start = e.block
    e.jump(head)
    e.label(head)
    lane, after = e.ahead("lane_number"), e.ahead("lane_after")
    e.do(f"{lane} = phi i64 [ 0, %{start} ], [ {after}, %{next_} ]")
    e.branch(e.let(f"icmp eq i64 {lane}, {e.lanes}"), done, body)
    e.label(body)
    shifted = e.let(f"lshr i64 {e.let(f'zext {e.byte} {chunk.bits} to i64')}, {lane}")
    e.branch(e.let(f"trunc i64 {shifted} to i1"), work, next_)
    e.label(work)
    pointer = e.let(f"load ptr, ptr {e.let(f'getelementptr ptr, ptr {pointers}, i64 {lane}')}")
    old, new = _exchange(chunk, access, pointer, _operands(chunk, access.row, site, lane))
    if flags is not None:
        bit = e.let(f"zext i1 {e.let(f'icmp ne i{width} {old}, {new}')} to {e.byte}")
        place = e.let(f"trunc i64 {lane} to {e.byte}")
        known = e.let(f"load {e.byte}, ptr {flags}")
        together = e.let(f"or {e.byte} {known}, {e.let(f'shl {e.byte} {bit}, {place}')}")
        e.do(f"store {e.byte} {together}, ptr {flags}")
    for w in range(width // 32):
        part = old if width == 32 else e.let(f"trunc i64 {e.let(f'lshr i64 {old}, {32 * w}')} to i32")
        place = e.let(f"getelementptr i32, ptr {olds}, i64 {e.let(f'add i64 {lane}, {e.lanes * w}')}")
        e.do(f"store i32 {part}, ptr {place}")
    e.jump(next_)
    e.label(next_)
    e.do(f"{after} = add i64 {lane}, 1")
    e.jump(head)
    e.label(done)
    if width == 64 and access.space == "flat":
        call_support(chunk, access, site, site.resolve, layout.PUT_BACK)
    return [
        e.let(f"load {e.v32}, ptr {e.let(f'getelementptr i32, ptr {olds}, i64 {e.lanes * w}')}, align {e.align}")
        for w in range(width // 32)
    ]


def _operands(chunk: Chunk, row: Memory, site: Site, lane: Value) -> list[Value]:
    """What one lane gives an atomic operation, typed as its row's expression takes it."""
    e = chunk.emitter
    assert row.combine is not None

    def word(which: int) -> Value:
        buffer = buffered(chunk, site, which)
        return e.let(f"load i32, ptr {e.let(f'getelementptr i32, ptr {buffer}, i64 {lane}')}")

    operands: list[Value] = []
    at = 0
    for parameter in row.combine.parameters[1:]:
        if parameter.type.width == 64:
            low = e.let(f"zext i32 {word(at)} to i64")
            high = e.let(f"shl i64 {e.let(f'zext i32 {word(at + 1)} to i64')}, 32")
            number: Value = e.let(f"or i64 {high}, {low}")
            at += 2
        else:
            number, at = word(at), at + 1
        type = ir_type(parameter.type)
        operands.append(
            number if type.startswith("i") else e.let(f"bitcast i{parameter.type.width} {number} to {type}")
        )
    return operands


def _exchange(chunk: Chunk, access: LaneAccess, pointer: Value, operands: list[Value]) -> tuple[Value, Value]:
    """One lane's operation: what stood in memory before, and what stands there then."""
    e, row = chunk.emitter, access.row
    assert row.combine is not None
    parameters, (_, graph) = row.combine.parameters, row.combine.graph()
    type, kind = ir_type(parameters[0].type), f"i{row.element}"
    reader = Reader(e, 1)

    def combined(old: Value) -> Value:
        typed = old if type.startswith("i") else e.let(f"bitcast {kind} {old} to {type}")
        new = reader.read(graph[:1], [typed, *operands])[0]
        return new if type.startswith("i") else e.let(f"bitcast {type} {new} to {kind}")

    before = e.let(f"load {kind}, ptr {pointer}, align {row.element // 8}")
    if access.space == "lds":
        new = combined(before)
        e.do(f"store {kind} {new}, ptr {pointer}, align {row.element // 8}")
        return before, new
    retry, settled = e.name("retry"), e.name("settled")
    came, seen = e.block, e.ahead("seen")
    e.jump(retry)
    e.label(retry)
    again = e.ahead("again")
    e.do(f"{seen} = phi {kind} [ {before}, %{came} ], [ {again}, %{retry} ]")
    new = combined(seen)
    outcome = e.let(f"cmpxchg ptr {pointer}, {kind} {seen}, {kind} {new} seq_cst seq_cst")
    e.do(f"{again} = extractvalue {{ {kind}, i1 }} {outcome}, 0")
    e.branch(e.let(f"extractvalue {{ {kind}, i1 }} {outcome}, 1"), settled, retry)
    e.label(settled)
    return seen, new


def frame_place(chunk: Chunk, site: Site, frame: Value, offset: int) -> Value:
    """The chunk's part of the row of scratch at frame + offset, known to be inside; `frame` counts by whole dwords."""
    e = chunk.emitter
    start = chunk.frames.get(frame)
    if start is None:
        aligned = e.let(f"and i32 {frame}, -4")
        bytes = e.let(f"mul i64 {e.let(f'zext i32 {aligned} to i64')}, {chunk.wave_size}")
        row = e.let(f"getelementptr i8, ptr {site.scratch}, i64 {bytes}")
        start = chunk.frames[frame] = e.let(f"getelementptr {e.v32}, ptr {row}, i64 {chunk.number}")
    return e.let(f"getelementptr i8, ptr {start}, i64 {offset // 4 * 4 * chunk.wave_size}")


def _row_word(chunk: Chunk, access: LaneAccess, word: int) -> Value:
    assert access.frame is not None
    if not word:
        return access.frame
    return chunk.emitter.let(f"getelementptr i8, ptr {access.frame}, i64 {word * 4 * chunk.wave_size}")


def _row_shift(chunk: Chunk, access: LaneAccess) -> Value:
    e = chunk.emitter
    return splat(e, "i32", e.let(f"shl i32 {e.let(f'and i32 {access.bytes_in}, 3')}, 3"))


def _load_row(chunk: Chunk, access: LaneAccess, words: int) -> list[Value]:
    e, row = chunk.emitter, access.row
    values: list[Value] = [
        e.let(f"load {e.v32}, ptr {_row_word(chunk, access, w)}, align {e.align}") for w in range(words)
    ]
    if not access.bytes_in:
        return values
    kind = f"<{e.lanes} x i{8 * access.bytes}>"
    part = e.let(f"trunc {e.v32} {e.let(f'lshr {e.v32} {values[0]}, {_row_shift(chunk, access)}')} to {kind}")
    return [e.let(f"{'sext' if row.extend == 'sign' else 'zext'} {kind} {part} to {e.v32}")]


def _store_row(chunk: Chunk, access: LaneAccess, data: list[Value]) -> None:
    e = chunk.emitter
    for w, value in enumerate(data):
        place = _row_word(chunk, access, w)
        if access.bytes_in:
            shift, ones = _row_shift(chunk, access), (1 << 8 * access.bytes) - 1
            keep = e.let(f"xor {e.v32} {e.let(f'shl {e.v32} splat (i32 {ones}), {shift}')}, splat (i32 -1)")
            old = e.let(f"load {e.v32}, ptr {place}, align {e.align}")
            put = e.let(f"shl {e.v32} {e.let(f'and {e.v32} {value}, splat (i32 {ones})')}, {shift}")
            value = e.let(f"or {e.v32} {put}, {e.let(f'and {e.v32} {old}, {keep}')}")
        chunk.blend(value, place)


def _load_slow(chunk: Chunk, access: LaneAccess, site: Site, words: int) -> list[Value]:
    call_support(chunk, access, site, site.load)
    e = chunk.emitter
    return [e.let(f"load {e.v32}, ptr {buffered(chunk, site, w)}, align {e.align}") for w in range(words)]


def _store_slow(chunk: Chunk, access: LaneAccess, site: Site, data: list[Value]) -> None:
    put_data(chunk, site, data)
    call_support(chunk, access, site, site.store)
    if site.checked:
        e = chunk.emitter
        noted = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('changed')}")
        keep_change(chunk, access, e.let(f"trunc i64 {e.let(f'load i64, ptr {noted}')} to {e.byte}"))
