"""Memory instructions inside a run: `load`, `store` and `atomic` for one chunk of lanes.

Four ways, tried in this order: consecutive addresses (one vector access), the same address in all lanes (one scalar
access), addresses anywhere in one allocation (a gather, or a scatter of dwords, with a check of all lanes at once), and
anything else, where the support code checks lane by lane, finds the lanes' memory and names a fault. The others are for
the allocation that the instruction used last, of which the thread's table has an entry (`Allocation` in schema.py):
where it begins, where that is in this process, and how many places an element, or a chunk of them, may begin at. An
address less the beginning, rotated right by the alignment, is below that number if the access is inside and aligned.
All addresses of an entry have one high half, so that 32 bits are enough; of an allocation that crosses a multiple of
4 GiB the support code makes a new entry there. While all device memory lies in the first 4 GiB there is one such half.
For a whole wave of a run (runs.py) there are the first two ways. Where it is known how addresses go up from lane to
lane (linear.py), dwords in even steps are a gather of which the first and the last lane are checked.

Scratch is laid out as on hardware, one row of lanes per dword, so that what lies at one address in all lanes is a row.
Accesses without an address register are rows for certain; runs.py checks all those of a run before its loop.

An observer is told of a run's accesses after it. Their addresses stand in a buffer, a row per access. The support
code finds them there too; where a kernel is made for observers (`Site.record`), they are always put there, else an
observed wave has an empty table of allocations, so that all of its accesses go through the support code.

Alignment: accesses of 16 bits need 2, of 32 bits and more need 4 bytes, atomics their own size. (The hardware executes
unaligned loads and stores of global memory; in a compiled program they are a mistake all the same. Programs written in
assembly get what the hardware does: there only atomics are checked.)
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from gpulab.virtual_gpu.isa.row import Memory
from gpulab.virtual_gpu.translate import layout
from gpulab.virtual_gpu.translate.chunk import Chunk
from gpulab.virtual_gpu.translate.emitter import FALSE, TRUE, ZERO, Constant, Emitter, Integer, Value, signed, splat
from gpulab.virtual_gpu.translate.expressions import Reader, ir_type
from gpulab.virtual_gpu.translate.linear import Line


@dataclass(slots=True)
class LaneAccess:
    """One access of each lane: where its address comes from and how much it moves.

    address: the lanes' i32 low half (or the whole LDS or scratch offset), `high` the other half or None; or `pair`,
    both as i64. base: an i64 that is the same for all lanes (scalar base and immediate offset together).
    place: its row in the buffer of addresses.
    """

    row: Memory
    instruction: int
    slot: int
    space: str
    address: Value
    high: Value | None
    base: Value
    bytes: int
    unsigned_index: bool = False  # the address is a 32-bit index beside a scalar base
    scattered: bool = False  # not worth looking for consecutive addresses
    pair: Value | None = None
    uniform: bool = False  # all lanes have the same address for certain
    place: int = 0
    frame: Value | None = None  # scratch at the same address in all lanes: pointer to the chunk's part of its row
    bytes_in: Value | None = None  # of such an access of less than a dword: the address, an i32
    kept: Value | None = None  # in a kernel made for observers: its row in the buffer
    line: Line | None = None  # how the addresses go up from lane to lane, if that is known
    lanes: Value | None = None  # pointer to an i64 where its active lanes are noted, if they are not those of EXEC


@dataclass(slots=True)
class Site:
    """What memory code needs from the function around it: entry-block values and buffers."""

    high: Value | None  # i32: high half of all global addresses; None: each entry has its own
    cache: Value
    lds: Value
    scratch: Value
    scratch_bytes: Value
    resolve: Value
    load: Value
    store: Value
    fault: str  # label that leaves the kernel after a fault
    observer: Value
    addresses: Value  # buffer shared with the support code (layout.BUFFER)
    check_alignment: bool = True  # of loads and stores; atomics are always checked
    record: bool = False  # the kernel is made for observers
    checked: bool = False  # the observer also wants what stores store, and which lanes change memory
    gathers: int = 0  # accesses so far that may be a gather or a scatter: each makes the code longer


def row_bytes(wave_size: int, checked: bool) -> int:
    """Bytes of one access in the observer's buffer: low and high halves of the addresses by lane.

    In a checked kernel then four words of data by lane, and a bit for each lane whose store changed memory. It is a
    multiple of the halves' size.
    """
    return 28 * wave_size if checked else 8 * wave_size


@dataclass(frozen=True, slots=True)
class Observed:
    """One memory access as an observer knows it; its number is the position in `Translation.accesses`.

    part: 0, or 1 for the second address of a DS instruction with two. bytes: of one lane. twin: an access before this
    one in the same run that was given the same addresses, but for what is the same for all lanes.
    """

    instruction: int
    part: int
    space: str  # "global", "flat", "lds", "scratch", "scalar"
    action: str  # "load", "store", "atomic"
    bytes: int
    twin: int | None = None


def row_place(e: Emitter, site: Site, place: int, wave_size: int) -> Value:
    """Where the low halves of all lanes of access `place` of a run stand; the high halves follow."""
    at = layout.BUFFER["rows"] + place * row_bytes(wave_size, site.checked)
    return e.let(f"getelementptr i8, ptr {site.addresses}, i64 {at}")


def record(chunk: Chunk, access: LaneAccess, site: Site, store: bool = True) -> None:
    """Keep the chunk's addresses for the observer, in a kernel that is made for one. (Or they are there already.)"""
    if site.record:
        access.kept = row_place(chunk.emitter, site, access.place, chunk.wave_size)
        if store:
            _keep(chunk, access, site)


def _keep(chunk: Chunk, access: LaneAccess, site: Site) -> Value:
    """Put the chunk's addresses where observer and support code look for them; gives the place."""
    e = chunk.emitter
    low, high = access.address, access.high
    if access.pair is not None:
        low, high = e.low(access.pair), e.high(access.pair)
    row = access.kept or row_place(e, site, access.place, chunk.wave_size)
    place = e.let(f"getelementptr {e.v32}, ptr {row}, i64 {chunk.number}")
    e.do(f"store {e.v32} {low}, ptr {place}, align {e.align}")
    if high is not None:
        above = e.let(f"getelementptr i8, ptr {place}, i64 {4 * chunk.wave_size}")
        e.do(f"store {e.v32} {high}, ptr {above}, align {e.align}")
    if access.lanes:
        wide = e.let(f"zext {e.byte} {chunk.bits} to i64")
        mine = e.let(f"shl i64 {wide}, {e.let(f'shl i64 {chunk.number}, {e.shift}')}")
        seen = e.let(f"load i64, ptr {access.lanes}")
        e.do(f"store i64 {e.let(f'or i64 {seen}, {mine}')}, ptr {access.lanes}")
    return place


def _keep_change(chunk: Chunk, access: LaneAccess, changed: Value) -> None:
    """For the checker: which of the chunk's lanes changed memory, a bit each."""
    e = chunk.emitter
    row = e.let(f"getelementptr i8, ptr {access.kept}, i64 {24 * chunk.wave_size}")
    e.do(f"store {e.byte} {changed}, ptr {e.let(f'getelementptr {e.byte}, ptr {row}, i64 {chunk.number}')}")


def _keep_data(chunk: Chunk, access: LaneAccess, data: list[Value]) -> None:
    """For the checker: what each lane of the chunk stores."""
    e = chunk.emitter
    for w, value in enumerate(data):
        row = e.let(f"getelementptr i8, ptr {access.kept}, i64 {(8 + 4 * w) * chunk.wave_size}")
        place = e.let(f"getelementptr {e.v32}, ptr {row}, i64 {chunk.number}")
        e.do(f"store {e.v32} {value}, ptr {place}, align {e.align}")


def alignment(row: Memory, site: Site) -> int:
    if row.action == "atomic":
        return row.element // 8
    return min(4, row.element // 8) if site.check_alignment else 1


def described(row: Memory, site: Site, bytes: int, space: str = "") -> int:
    """An access as the support code takes it."""
    action = {"load": "read", "store": "write", "atomic": "atomic"}[row.action]
    return layout.access_word(space or row.space, action, alignment(row, site), bytes, signed=row.extend == "sign")


def _call(chunk: Chunk, access: LaneAccess, site: Site, function: Value, more: int = 0) -> None:
    """Call the support code for all active lanes; leaves the kernel after a fault."""
    e = chunk.emitter
    what = described(access.row, site, access.bytes, access.space) | more
    if access.high is None and access.pair is None:
        what |= layout.NO_HIGH
    if access.kept:
        place: Value = e.let(f"getelementptr {e.v32}, ptr {access.kept}, i64 {chunk.number}")
    else:
        place = _keep(chunk, access, site)
    mask = e.let(f"zext {e.byte} {chunk.bits} to i32")
    failed = e.let(
        f"call i32 {function}(ptr %wave, i64 {access.instruction | access.slot << 32}, i32 {what}, "
        f"i64 {access.base}, i32 {mask}, ptr {place})"
    )
    good = e.name("checked")
    e.branch(e.let(f"icmp eq i32 {failed}, 0"), good, site.fault, likely=True)
    e.label(good)


def _word(chunk: Chunk, site: Site, word: int, part: str = "data") -> Value:
    e = chunk.emitter
    return e.let(f"getelementptr i8, ptr {site.addresses}, i64 {layout.BUFFER[part] + e.align * word}")


def _load_slow(chunk: Chunk, access: LaneAccess, site: Site, words: int) -> list[Value]:
    _call(chunk, access, site, site.load)
    e = chunk.emitter
    return [e.let(f"load {e.v32}, ptr {_word(chunk, site, w)}, align {e.align}") for w in range(words)]


def _put_data(chunk: Chunk, site: Site, data: list[Value]) -> None:
    e = chunk.emitter
    for w, value in enumerate(data):
        e.do(f"store {e.v32} {value}, ptr {_word(chunk, site, w)}, align {e.align}")


def _store_slow(chunk: Chunk, access: LaneAccess, site: Site, data: list[Value]) -> None:
    _put_data(chunk, site, data)
    _call(chunk, access, site, site.store)
    if site.checked:
        e = chunk.emitter
        noted = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('changed')}")
        _keep_change(chunk, access, e.let(f"trunc i64 {e.let(f'load i64, ptr {noted}')} to {e.byte}"))


MOST_GATHERS = 100  # of a kernel: it would take half a millisecond more to optimise for each
FARTHEST = 1 << 24  # bytes from lane to lane, up to which dwords are gathered


@dataclass(slots=True)
class _Plan:
    """IR values that decide how a chunk's access is done.

    pointer: the first lane's host address; consecutive: the lanes' elements follow each other inside the bounds;
    same: all lanes have the first one's address, and an element may begin there (i1, as a thunk, as it is seldom
    wanted).
    either: where lines are known: one of the two holds (i1); then the two say nothing of bounds.
    apart: the same for lanes that are evenly apart in other steps: (whether they are, and inside; bytes from the first
    to each, a vector of i32), where that is worth it.
    """

    pointer: Value
    consecutive: Value
    same: Callable[[], Value]
    either: Value | None = None
    apart: Callable[[], tuple[Value, Value]] | None = None


def known_field(e: Emitter, access: LaneAccess, site: Site, type: str, name: str, after: int = 0) -> Value:
    """A field of the instruction's entry, or what stands so many bytes after its beginning."""
    at = layout.ALLOCATION_BYTES * access.slot + layout.ALLOCATION[name] + after
    with e.ahead_of_loop():
        return e.let(f"load {type}, ptr {e.let(f'getelementptr i8, ptr {site.cache}, i64 {at}')}")


def _narrow(e: Emitter, base: Value) -> Value:
    """The low half of an i64."""
    return Integer(signed(base.number, 32)) if isinstance(base, Integer) else e.let(f"trunc i64 {base} to i32")


def gather(e: Emitter, places: Value, align: int, lanes: Value, others: str) -> Value:
    """A dword of each of these lanes (a vector of i1), and something else of the others."""
    name, type = f"llvm.masked.gather.v{e.lanes}i32.v{e.lanes}p0", f"<{e.lanes} x ptr>"
    return e.call(e.v32, name, f"{type} {places}", f"i32 {align}", f"{e.v1} {lanes}", f"{e.v32} {others}")


@dataclass(slots=True)
class Start:
    """Where the access of a chunk's first lane begins.

    first: its address, of 64 bits if it is `wide`. relative: from the allocation's beginning on, an integer of the type
    `kind`; pointer: in this process. conditions: what else has to hold (i1) if other lanes' places are counted from it.
    """

    first: Value
    wide: bool
    relative: Value
    kind: str
    pointer: Value
    conditions: list[Value]


def start_of(chunk: Chunk, access: LaneAccess, site: Site) -> Start:
    e, line = chunk.emitter, access.line
    known = partial(known_field, e, access, site)
    wide = access.pair is not None or (line is not None and line.width == 64)
    if line is not None:
        first = line.first
    elif wide:
        first = e.let(f"extractelement {e.v64} {access.pair}, i32 0")
    else:
        first = e.let(f"extractelement {e.v32} {access.address}, i32 0")
    if access.space == "lds" or (access.high is not None and not wide):  # 32-bit arithmetic
        offset = _narrow(e, access.base)
        relative = e.let(f"add i32 {first}, {offset}") if offset != ZERO else first
        if access.space == "lds":  # wraps at 32 bits: Clang folds constants into the offset
            home, extend = site.lds, "sext"  # a lane in front of the first active one may be in front of it
        else:
            home, extend = known("ptr", "home"), "zext"
            relative = e.let(f"sub i32 {relative}, {known('i32', 'from')}")
        pointer = e.let(f"getelementptr i8, ptr {home}, i64 {e.let(f'{extend} i32 {relative} to i64')}")
        return Start(first, wide, relative, "i32", pointer, [])
    begin = first if wide else e.let(f"zext i32 {first} to i64")
    if access.base != ZERO:
        begin = e.let(f"add i64 {begin}, {access.base}")
    relative = e.let(f"sub i64 {begin}, {known('i64', 'from')}")
    pointer = e.let(f"getelementptr i8, ptr {known('ptr', 'home')}, i64 {relative}")
    conditions: list[Value] = []
    if access.unsigned_index and not access.uniform:  # the chunk's indices do not run over 2**32
        conditions.append(e.let(f"icmp ult i32 {first}, {-(e.lanes * access.bytes) & 0xFFFFFFFF}"))
    return Start(first, wide, relative, "i64", pointer, conditions)


def turned(e: Emitter, kind: str, place: Value, row: Memory, site: Site) -> Value:
    """A place in an allocation (an integer `kind`), rotated right by the alignment: aligned ones are small."""
    shift = alignment(row, site).bit_length() - 1
    return (
        e.call(kind, f"llvm.fshr.{kind}", f"{kind} {place}", f"{kind} {place}", f"{kind} {shift}") if shift else place
    )


def is_apart(e: Emitter, kind: str, step: Value) -> Value:
    """Whether lanes that go up by a step (of the type `kind`) do not wrap, and are aligned as the first one is (i1)."""
    small = e.steady(f"add {kind} {step}, {FARTHEST}", step)
    small = e.steady(f"icmp ult {kind} {small}, {2 * FARTHEST}", small)
    uneven = e.steady(f"and {kind} {step}, 3", step)
    even = e.steady(f"icmp eq {kind} {uneven}, 0", uneven)
    return e.steady(f"and i1 {even}, {small}", even, small)


def scatter_to(chunk: Chunk, places: Value, data: Value, align: int) -> None:
    """Stores a dword of each active lane. Of lanes that store to one place the last one's value stays, as lane after
    lane."""
    e = chunk.emitter
    name, type = f"llvm.masked.scatter.v{e.lanes}i32.v{e.lanes}p0", f"<{e.lanes} x ptr>"
    e.call_void(name, f"{e.v32} {data}", f"{type} {places}", f"i32 {align}", f"{e.v1} {chunk.active}")


def _plan(chunk: Chunk, access: LaneAccess, site: Site) -> _Plan:
    e = chunk.emitter
    shift = alignment(access.row, site).bit_length() - 1
    known = partial(known_field, e, access, site)
    line, start = access.line, start_of(chunk, access, site)
    kind, pointer, conditions = start.kind, start.pointer, start.conditions
    relative = turned(e, kind, start.relative, access.row, site)
    base = splat(e, "i64" if start.wide else "i32", start.first)

    def below(name: str, more: int = 0) -> Value:
        limit = known("i32", name)
        if more:
            limit = e.call("i32", "llvm.usub.sat.i32", f"i32 {limit}", f"i32 {more}")
        return under(limit)

    def under(limit: Value) -> Value:
        if kind == "i64":
            limit = e.steady(f"zext i32 {limit} to i64", limit)
        return e.let(f"icmp ult {kind} {relative}, {limit}")

    def even(step: int) -> Value:
        assert line is not None
        if isinstance(line.step, Integer):
            return TRUE if line.step.number == step else FALSE
        return e.steady(f"icmp eq i{line.width} {line.step}, {step}", line.step)

    def pattern(step: int) -> Value:
        if access.pair is not None:
            wanted = e.let(f"add {e.v64} {base}, {steps(step, e.lanes, 64)}") if step else base
            fits = e.let(f"icmp eq {e.v64} {access.pair}, {wanted}")
        else:
            wanted = e.let(f"add {e.v32} {base}, {steps(step, e.lanes, 32)}") if step else base
            fits = e.let(f"icmp eq {e.v32} {access.address}, {wanted}")
            if access.high is not None:
                half = site.high or known("i32", "from", 4)
                high = e.let(f"icmp eq {e.v32} {access.high}, {splat(e, 'i32', half)}")
                fits = e.let(f"and {e.v1} {fits}, {high}")
        return e.let(f"icmp eq {e.byte} {e.let(f'bitcast {e.v1} {fits} to {e.byte}')}, -1")

    def same() -> Value:
        single = below("single")
        return single if access.uniform else e.let(f"and i1 {pattern(0)}, {single}")

    if access.uniform:
        return _Plan(pointer, FALSE, same)
    whole_wave = e.lanes != e.own_lanes
    if line is not None:  # one comparison for both, as mostly the step is the same all the time
        straight, alike = even(access.bytes), even(0)
        limit = single = known("i32", "single")
        if whole_wave:
            more = (e.lanes - 1) * access.bytes >> shift
            with e.ahead_of_loop():
                limit = e.call("i32", "llvm.usub.sat.i32", f"i32 {single}", f"i32 {more}")
        else:
            limit = known("i32", "wide")
        single = e.steady(f"select i1 {alike}, i32 {single}, i32 0", alike)
        fits = under(e.steady(f"select i1 {straight}, i32 {limit}, i32 {single}", straight))
        for condition in (*([] if line.holds == TRUE else [line.holds]), *conditions):
            fits = e.let(f"and i1 {fits}, {condition}")
        dwords = access.row.element >= 32 and not access.row.two_address
        if not dwords or access.row.action != "load" or not (line.width == 64 or access.space == "lds"):
            return _Plan(pointer, straight, lambda: TRUE, fits)

        def apart() -> tuple[Value, Value]:
            """The first and the last lane are inside, and so is what lies between: steps are too small to wrap."""
            kind_, step = f"i{line.width}", line.step
            good = is_apart(e, kind_, step)
            good = e.steady(f"and i1 {good}, {line.holds}", good, line.holds)
            whole = e.steady(f"mul {kind_} {step}, {e.lanes - 1}", step)
            last = turned(e, kind, e.let(f"add {kind} {start.relative}, {whole}"), access.row, site)
            single = known("i32", "single")
            if kind == "i64":
                single = e.steady(f"zext i32 {single} to i64", single)
            for place in (relative, last):
                good = e.let(f"and i1 {good}, {e.let(f'icmp ult {kind} {place}, {single}')}")
            step = step if line.width == 32 else e.steady(f"trunc i64 {step} to i32", step)
            with e.ahead_of_loop() if e.is_steady(step) else contextlib.nullcontext():
                bytes_ = e.let(f"mul {e.v32} {steps(1, e.lanes, 32)}, {splat(e, 'i32', step)}")
            return good, bytes_

        return _Plan(pointer, straight, lambda: TRUE, fits, apart)
    inside = below("single", (e.lanes - 1) * access.bytes >> shift) if whole_wave else below("wide")
    consecutive = e.let(f"and i1 {pattern(access.bytes)}, {inside}")
    for condition in conditions:
        consecutive = e.let(f"and i1 {consecutive}, {condition}")
    return _Plan(pointer, consecutive, same)


def each_lane(chunk: Chunk, access: LaneAccess, site: Site) -> tuple[Value, Value, Value]:
    """Whether all active lanes' addresses are inside the entry's allocation and aligned (i1).

    Then where that begins in this process, and how many bytes from there each lane's is (a vector of i32).
    """
    e = chunk.emitter
    shift = alignment(access.row, site).bit_length() - 1
    known = partial(known_field, e, access, site)
    limit: Value = known("i32", "single")
    narrow = access.pair is None and (access.space == "lds" or access.high is not None)
    home = site.lds if access.space == "lds" else known("ptr", "home")
    if narrow:
        kind, type, offset = "i32", e.v32, _narrow(e, access.base)
        if access.space != "lds":
            offset = e.let(f"sub i32 {offset}, {known('i32', 'from')}")
        relative: Value = access.address
    else:
        kind, type = "i64", e.v64
        offset = e.let(f"sub i64 {access.base}, {known('i64', 'from')}")
        limit = e.steady(f"zext i32 {limit} to i64", limit)
        relative = access.pair or e.let(f"zext {e.v32} {access.address} to {e.v64}")
    if offset != ZERO:
        relative = e.let(f"add {type} {relative}, {splat(e, kind, offset)}")
    place = relative
    if shift:
        by = f"{type} splat ({kind} {shift})"
        place = e.call(type, f"llvm.fshr.v{e.lanes}{kind}", f"{type} {relative}", f"{type} {relative}", by)
    inside = e.let(f"icmp ult {type} {place}, {splat(e, kind, limit)}")
    if narrow and access.high is not None:
        half = splat(e, "i32", site.high or known("i32", "from", 4))
        inside = e.let(f"and {e.v1} {inside}, {e.let(f'icmp eq {e.v32} {access.high}, {half}')}")
    mine = e.let(f"and {e.byte} {e.let(f'bitcast {e.v1} {inside} to {e.byte}')}, {chunk.bits}")
    good = e.let(f"icmp eq {e.byte} {mine}, {chunk.bits}")
    if not narrow:
        relative = e.let(f"trunc {e.v64} {relative} to {e.v32}")
    return good, home, relative


def gathered(chunk: Chunk, access: LaneAccess, site: Site, home: Value, relative: Value, words: int) -> list[Value]:
    """The words that each active lane loads, or its byte or half not yet extended."""
    e = chunk.emitter
    shift: Value | None = None
    if access.bytes < 4:  # the dword around it, which is in memory as a whole: a page holds many
        place = e.let(f"ptrtoint ptr {home} to i64")
        home = e.call("ptr", "llvm.ptrmask.p0.i64", f"ptr {home}", "i64 -4")
        before = splat(e, "i32", e.let(f"and i32 {e.let(f'trunc i64 {place} to i32')}, 3"))
        relative = e.let(f"add {e.v32} {relative}, {before}")
        shift = e.let(f"shl {e.v32} {e.let(f'and {e.v32} {relative}, splat (i32 3)')}, splat (i32 3)")
        relative = e.let(f"and {e.v32} {relative}, splat (i32 -4)")
    places = pointers(chunk, access, home, relative)
    found: list[Value] = []
    for word in range(words):
        at = e.let(f"getelementptr i8, <{e.lanes} x ptr> {places}, i64 {4 * word}") if word else places
        found.append(
            gather(e, at, 4 if shift else min(4, alignment(access.row, site)), chunk.active, "zeroinitializer")
        )
    return found if shift is None else [e.let(f"lshr {e.v32} {found[0]}, {shift}")]


def pointers(chunk: Chunk, access: LaneAccess, home: Value, relative: Value) -> Value:
    """Places in up to 4 GiB. Gathers take indices of 32 bits as signed: so they count from the middle on."""
    e = chunk.emitter
    if access.space != "lds":
        home = e.let(f"getelementptr i8, ptr {home}, i64 {1 << 31}")
        relative = e.let(f"xor {e.v32} {relative}, splat (i32 {signed(1 << 31, 32)})")
    return e.let(f"getelementptr i8, ptr {home}, {e.v32} {relative}")


def steps(step: int, lanes: int, width: int) -> Constant:
    return Constant("<" + ", ".join(f"i{width} {step * i}" for i in range(lanes)) + ">")


def only_slow(access: LaneAccess) -> bool:
    # Offsets that could wrap at a multiple of 4 GiB are left to the support code.
    far = isinstance(access.base, Integer) and access.space == "global" and abs(access.base.number) >= layout.EDGE
    return access.scattered or access.space in ("scratch", "flat") or (far and access.high is not None)


def _other_way(chunk: Chunk, access: LaneAccess, site: Site, slow: str) -> str:
    """The label of a gather or scatter, where there is to be one, else `slow`. jit.py knows its form."""
    if site.gathers == MOST_GATHERS or not _can_gather(chunk, access):
        return slow
    site.gathers += 1
    return chunk.emitter.name(f"each.{slow}")


def _can_gather(chunk: Chunk, access: LaneAccess) -> bool:
    """Whether what the lanes of a chunk load is gathered from wherever it is in one allocation. No lanes are made for
    that of addresses of 64 bits that are known to go up evenly: see `_Plan.apart`. Hosts whose chunks have 8 lanes have
    no scatter, and many a slow gather or none: LLVM would make a branch of each lane."""
    e, line = chunk.emitter, access.line
    if e.own_lanes == 8 or access.uniform or not (chunk.gathers or e.lanes == e.own_lanes):
        return False
    return line is None or (access.space == "global" and line.width == 32) or access.bytes < 4


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


def load(chunk: Chunk, access: LaneAccess, site: Site) -> list[Value]:
    """Loads; returns the 32-bit words of the result, each a vector of i32 (narrow elements are extended)."""
    e, row = chunk.emitter, access.row
    words = max(1, access.bytes // 4)
    element = "i32" if access.bytes >= 4 else f"i{8 * access.bytes}"
    align = alignment(access.row, site)
    incoming: list[tuple[list[Value], str]] = []

    def extended(value: Value) -> Value:
        if element == "i32":
            return value
        return e.let(f"{'sext' if row.extend == 'sign' else 'zext'} <{e.lanes} x {element}> {value} to {e.v32}")

    if access.frame is not None:
        return _load_row(chunk, access, words)
    if only_slow(access):
        return _load_slow(chunk, access, site, words)
    done, slow = e.name("loaded"), chunk.missed or e.name("scattered")
    other_way = _other_way(chunk, access, site, slow)
    plan = _plan(chunk, access, site)
    pointer = plan.pointer
    uniform = e.name("uniform")
    if plan.either is not None:
        known, apart = e.name("known"), e.name("apart") if plan.apart else other_way
        e.branch(plan.either, known, apart, likely=True)
        if plan.apart:
            e.label(apart)
            good, bytes_ = plan.apart()
            gathers = e.name("gather")
            e.branch(good, gathers, other_way)
            e.label(gathers)
            words_: list[Value] = []
            for w in range(words):
                start = pointer if w == 0 else e.let(f"getelementptr i8, ptr {pointer}, i64 {4 * w}")
                if access.line is not None and access.line.step == Integer(
                    4
                ):  # each lane's words are the next one's, too
                    words_.append(e.let(f"load {e.v32}, ptr {start}, align {align}"))
                    continue
                places = e.let(f"getelementptr i8, ptr {start}, {e.v32} {bytes_}")
                words_.append(gather(e, places, align, Constant("splat (i1 true)"), "poison"))
            incoming.append((words_, e.block))
            e.jump(done)
        e.label(known)
    if not access.uniform:
        straight, other = e.name("consecutive"), e.name("other")
        e.branch(plan.consecutive, straight, other, likely=True)
        e.label(straight)
        whole = e.let(f"load <{e.lanes * words} x {element}>, ptr {pointer}, align {align}")
        if words == 1:
            parts = [extended(whole)]
        else:
            parts = []
            for w in range(words):
                picks = ", ".join(f"i32 {w + words * i}" for i in range(e.lanes))
                kind = f"<{e.lanes * words} x i32>"
                parts.append(e.let(f"shufflevector {kind} {whole}, {kind} poison, <{e.lanes} x i32> <{picks}>"))
        incoming.append((parts, e.block))
        e.jump(done)
        e.label(other)
    if plan.either is not None:
        e.jump(uniform)
    else:
        e.branch(plan.same(), uniform, other_way, likely=True if access.uniform else None)
    e.label(uniform)
    parts = []
    for w in range(words):
        address = pointer if w == 0 else e.let(f"getelementptr i8, ptr {pointer}, i64 {4 * w}")
        parts.append(extended(splat(e, element, e.let(f"load {element}, ptr {address}, align {align}"))))
    incoming.append((parts, e.block))
    e.jump(done)
    if other_way != slow:
        e.label(other_way)
        good, home, relative = each_lane(chunk, access, site)
        gathers = e.name("gather")
        e.branch(good, gathers, slow)
        e.label(gathers)
        parts = gathered(chunk, access, site, home, relative, words)
        if element != "i32":
            parts = [extended(e.let(f"trunc {e.v32} {parts[0]} to <{e.lanes} x {element}>"))]
        incoming.append((parts, e.block))
        e.jump(done)
    if not chunk.missed:
        e.label(slow)
        parts = _load_slow(chunk, access, site, words)
        incoming.append((parts, e.block))
        e.jump(done)
    e.label(done)
    return [
        e.let(f"phi {e.v32} " + ", ".join(f"[ {parts[w]}, %{block} ]" for parts, block in incoming))
        for w in range(words)
    ]


def store(chunk: Chunk, access: LaneAccess, site: Site, data: list[Value]) -> None:
    """Stores the words of `data` (the low bits of the only one for narrow elements)."""
    e = chunk.emitter
    words = max(1, access.bytes // 4)
    element = "i32" if access.bytes >= 4 else f"i{8 * access.bytes}"
    align = alignment(access.row, site)
    if access.frame is not None:
        _store_row(chunk, access, data)
        return
    if site.checked:
        _keep_data(chunk, access, data)
    if only_slow(access) or access.uniform:
        _store_slow(chunk, access, site, data)
        return
    plan = _plan(chunk, access, site)
    consecutive = plan.consecutive
    if plan.either is not None:
        consecutive = e.let(f"and i1 {consecutive}, {plan.either}")
    full = e.let(f"icmp eq {e.byte} {chunk.bits}, -1")
    straight, slow, done = e.name("consecutive"), chunk.missed or e.name("scattered"), e.name("stored")
    # Lanes that store several words may overlap in part: those are stored lane after lane.
    scatters = access.bytes == 4 and not site.checked and chunk.last is None
    other_way = _other_way(chunk, access, site, slow) if scatters else slow
    masked = e.lanes == 16 and words == 1 and element == "i32"  # there are masked stores
    e.branch(consecutive if masked else e.let(f"and i1 {consecutive}, {full}"), straight, other_way, likely=True)
    e.label(straight)
    whole, kind = data[0], f"<{e.lanes * words} x {element}>"
    if element != "i32":
        whole = e.let(f"trunc {e.v32} {whole} to {kind}")
    if words > 1:
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
        whole = e.let(
            f"shufflevector <{width} x i32> {joined[0]}, <{width} x i32> poison, <{e.lanes * words} x i32> <{picks}>"
        )
    if site.checked:
        before = e.let(f"load {kind}, ptr {plan.pointer}, align {align}")
        differs = e.let(f"icmp ne {kind} {before}, {whole}")
        if words > 1:  # a lane's words stand side by side: a lane changed memory if one of them did
            parts = []
            for w in range(words):
                picks = ", ".join(f"i32 {words * lane + w}" for lane in range(e.lanes))
                flags = f"<{e.lanes * words} x i1>"
                parts.append(e.let(f"shufflevector {flags} {differs}, {flags} poison, <{e.lanes} x i32> <{picks}>"))
            differs = parts[0]
            for part in parts[1:]:
                differs = e.let(f"or {e.v1} {differs}, {part}")
        _keep_change(chunk, access, e.let(f"bitcast {e.v1} {differs} to {e.byte}"))
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
    if other_way != slow:
        e.label(other_way)
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


def atomic(chunk: Chunk, access: LaneAccess, site: Site, data: list[Value]) -> list[Value]:
    """Read-modify-write, lane after lane in the order of lanes; returns the old values as words.

    Global memory is shared by workgroups on other threads, so it is a compare-and-exchange loop there. One workgroup
    runs on one thread: in LDS it is a plain load and store. (A flat access may be either, and takes the loop.)
    """
    e, row = chunk.emitter, access.row
    assert row.combine is not None
    _put_data(chunk, site, data)
    _call(chunk, access, site, site.resolve)
    width = row.element
    kind = f"i{width}"
    words = width // 32
    pointers, olds = (_word(chunk, site, 0, name) for name in ("pointers", "old"))
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

    def word(which: int) -> Value:
        buffer = _word(chunk, site, which)
        return e.let(f"load i32, ptr {e.let(f'getelementptr i32, ptr {buffer}, i64 {lane}')}")

    arguments: list[Value] = []
    at = 0
    for parameter in row.combine.parameters[1:]:
        if parameter.type.width == 64:
            low = e.let(f"zext i32 {word(at)} to i64")
            high = e.let(f"shl i64 {e.let(f'zext i32 {word(at + 1)} to i64')}, 32")
            number: Value = e.let(f"or i64 {high}, {low}")
            at += 2
        else:
            number, at = word(at), at + 1
        t = ir_type(parameter.type)
        arguments.append(number if t.startswith("i") else e.let(f"bitcast i{parameter.type.width} {number} to {t}"))
    reader = Reader(e, 1)
    t = ir_type(row.combine.parameters[0].type)

    def combined(old: Value) -> Value:
        typed = old if t.startswith("i") else e.let(f"bitcast {kind} {old} to {t}")
        _, graph = row.combine.graph()  # type: ignore[union-attr]
        new = reader.read(graph[:1], [typed, *arguments])[0]
        return new if t.startswith("i") else e.let(f"bitcast {t} {new} to {kind}")

    before = e.let(f"load {kind}, ptr {pointer}, align {width // 8}")
    if access.space == "lds":
        old, new = before, combined(before)
        e.do(f"store {kind} {new}, ptr {pointer}, align {width // 8}")
    else:
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
        old = seen
    if site.checked:
        bit = e.let(f"zext i1 {e.let(f'icmp ne {kind} {old}, {new}')} to {e.byte}")
        place = e.let(f"trunc i64 {lane} to {e.byte}")
        known = e.let(f"load {e.byte}, ptr {flags}")
        together = e.let(f"or {e.byte} {known}, {e.let(f'shl {e.byte} {bit}, {place}')}")
        e.do(f"store {e.byte} {together}, ptr {flags}")
    for w in range(words):
        part = old if width == 32 else e.let(f"trunc i64 {e.let(f'lshr i64 {old}, {32 * w}')} to i32")
        place = e.let(f"getelementptr i32, ptr {olds}, i64 {e.let(f'add i64 {lane}, {e.lanes * w}')}")
        e.do(f"store i32 {part}, ptr {place}")
    e.jump(next_)
    e.label(next_)
    e.do(f"{after} = add i64 {lane}, 1")
    e.jump(head)
    e.label(done)
    if width == 64 and access.space == "flat":
        _call(chunk, access, site, site.resolve, layout.PUT_BACK)
    return [
        e.let(f"load {e.v32}, ptr {e.let(f'getelementptr i32, ptr {olds}, i64 {e.lanes * w}')}, align {e.align}")
        for w in range(words)
    ]
