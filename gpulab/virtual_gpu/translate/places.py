"""Where the lanes of an access find their memory, as IR values: in LDS, or in the allocation that it used last.

Of that the thread's table has an entry (`Allocation` in schema.py): where it begins, where that is in this process, and
how many places an element, or a chunk of them, may begin at. An address less the beginning, rotated right by the
alignment, is below that number if the access is inside and aligned. All addresses of an entry have one high half, so
that 32 bits are enough; of an allocation that crosses a multiple of 4 GiB the support code makes a new entry there.
While all device memory lies in the first 4 GiB there is one such half.
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
from gpulab.virtual_gpu.translate.lane_access import LaneAccess, Site, alignment
from gpulab.virtual_gpu.translate.linear import Line

MOST_GATHERS = 100  # of a kernel: it would take half a millisecond more to optimise for each
FARTHEST = 1 << 24  # bytes from lane to lane, up to which dwords are gathered


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


def known_field(e: Emitter, access: LaneAccess, site: Site, type: str, name: str, after: int = 0) -> Value:
    """A field of the instruction's entry, or what stands so many bytes after its beginning."""
    at = layout.ALLOCATION_BYTES * access.slot + layout.ALLOCATION[name] + after
    with e.ahead_of_loop():
        return e.let(f"load {type}, ptr {e.let(f'getelementptr i8, ptr {site.cache}, i64 {at}')}")


def _narrow(e: Emitter, base: Value) -> Value:
    """The low half of an i64."""
    return Integer(signed(base.number, 32)) if isinstance(base, Integer) else e.let(f"trunc i64 {base} to i32")


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


def steps(step: int, lanes: int, width: int) -> Constant:
    return Constant("<" + ", ".join(f"i{width} {step * i}" for i in range(lanes)) + ">")


@dataclass(slots=True)
class Plan:
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


def plan_of(chunk: Chunk, access: LaneAccess, site: Site) -> Plan:
    planner = _Planner(chunk, access, site)
    if access.uniform:
        return Plan(planner.start.pointer, FALSE, planner.same)
    return planner.of_addresses() if access.line is None else planner.of_line(access.line)


class _Planner:
    """Emits what decides how a chunk's access is done.

    start: of the first lane; place: where that is in the allocation, rotated by the alignment.
    """

    def __init__(self, chunk: Chunk, access: LaneAccess, site: Site) -> None:
        self.emitter, self.access, self.site = chunk.emitter, access, site
        self.shift = alignment(access.row, site).bit_length() - 1
        self.known = partial(known_field, self.emitter, access, site)
        self.start = start_of(chunk, access, site)
        self.place = turned(self.emitter, self.start.kind, self.start.relative, access.row, site)
        self.base = splat(self.emitter, "i64" if self.start.wide else "i32", self.start.first)

    def of_addresses(self) -> Plan:
        """Of lanes whose addresses are looked at when it runs."""
        e = self.emitter
        inside = self._below(self._limit("single", self._last()) if self._is_whole_wave() else self._limit("wide"))
        consecutive = e.let(f"and i1 {self._goes_up_by(self.access.bytes)}, {inside}")
        for condition in self.start.conditions:
            consecutive = e.let(f"and i1 {consecutive}, {condition}")
        return Plan(self.start.pointer, consecutive, self.same)

    def of_line(self, line: Line) -> Plan:
        """Of lanes of which it is known how addresses go up: one comparison for both ways, as mostly the step is the
        same all the time."""
        e, row, start = self.emitter, self.access.row, self.start
        straight, alike = self._step_is(line, self.access.bytes), self._step_is(line, 0)
        limit = single = self.known("i32", "single")
        if self._is_whole_wave():
            with e.ahead_of_loop():
                limit = e.call("i32", "llvm.usub.sat.i32", f"i32 {single}", f"i32 {self._last()}")
        else:
            limit = self.known("i32", "wide")
        single = e.steady(f"select i1 {alike}, i32 {single}, i32 0", alike)
        fits = self._below(e.steady(f"select i1 {straight}, i32 {limit}, i32 {single}", straight))
        for condition in (*([] if line.holds == TRUE else [line.holds]), *start.conditions):
            fits = e.let(f"and i1 {fits}, {condition}")
        dwords = row.element >= 32 and not row.two_address
        gathers = dwords and row.action == "load" and (line.width == 64 or self.access.space == "lds")
        apart = partial(self._evenly_apart, line) if gathers else None
        return Plan(start.pointer, straight, lambda: TRUE, fits, apart)

    def same(self) -> Value:
        single = self._below(self._limit("single"))
        return single if self.access.uniform else self.emitter.let(f"and i1 {self._goes_up_by(0)}, {single}")

    def _is_whole_wave(self) -> bool:
        return self.emitter.lanes != self.emitter.own_lanes

    def _last(self) -> int:
        """How many places behind the first lane's a whole wave's last one is."""
        return (self.emitter.lanes - 1) * self.access.bytes >> self.shift

    def _limit(self, name: str, less: int = 0) -> Value:
        limit = self.known("i32", name)
        return self.emitter.call("i32", "llvm.usub.sat.i32", f"i32 {limit}", f"i32 {less}") if less else limit

    def _below(self, limit: Value) -> Value:
        """Whether the first lane's place is below an i32 (i1)."""
        e, kind = self.emitter, self.start.kind
        if kind == "i64":
            limit = e.steady(f"zext i32 {limit} to i64", limit)
        return e.let(f"icmp ult {kind} {self.place}, {limit}")

    def _step_is(self, line: Line, step: int) -> Value:
        if isinstance(line.step, Integer):
            return TRUE if line.step.number == step else FALSE
        return self.emitter.steady(f"icmp eq i{line.width} {line.step}, {step}", line.step)

    def _goes_up_by(self, step: int) -> Value:
        """Whether each lane's address is so much more than that of the lane before (i1)."""
        e, access, base = self.emitter, self.access, self.base
        if access.pair is not None:
            wanted = e.let(f"add {e.v64} {base}, {steps(step, e.lanes, 64)}") if step else base
            fits = e.let(f"icmp eq {e.v64} {access.pair}, {wanted}")
        else:
            wanted = e.let(f"add {e.v32} {base}, {steps(step, e.lanes, 32)}") if step else base
            fits = e.let(f"icmp eq {e.v32} {access.address}, {wanted}")
            if access.high is not None:
                half = self.site.high or self.known("i32", "from", 4)
                high = e.let(f"icmp eq {e.v32} {access.high}, {splat(e, 'i32', half)}")
                fits = e.let(f"and {e.v1} {fits}, {high}")
        return e.let(f"icmp eq {e.byte} {e.let(f'bitcast {e.v1} {fits} to {e.byte}')}, -1")

    def _evenly_apart(self, line: Line) -> tuple[Value, Value]:
        """The first and the last lane are inside, and so is what lies between: steps are too small to wrap."""
        e, start = self.emitter, self.start
        kind, step = f"i{line.width}", line.step
        good = is_apart(e, kind, step)
        good = e.steady(f"and i1 {good}, {line.holds}", good, line.holds)
        whole = e.steady(f"mul {kind} {step}, {e.lanes - 1}", step)
        end = e.let(f"add {start.kind} {start.relative}, {whole}")
        last = turned(e, start.kind, end, self.access.row, self.site)
        single = self.known("i32", "single")
        if start.kind == "i64":
            single = e.steady(f"zext i32 {single} to i64", single)
        for place in (self.place, last):
            good = e.let(f"and i1 {good}, {e.let(f'icmp ult {start.kind} {place}, {single}')}")
        step = step if line.width == 32 else e.steady(f"trunc i64 {step} to i32", step)
        with e.ahead_of_loop() if e.is_steady(step) else contextlib.nullcontext():
            bytes_ = e.let(f"mul {e.v32} {steps(1, e.lanes, 32)}, {splat(e, 'i32', step)}")
        return good, bytes_


def only_slow(access: LaneAccess) -> bool:
    # Offsets that could wrap at a multiple of 4 GiB are left to the support code.
    far = isinstance(access.base, Integer) and access.space == "global" and abs(access.base.number) >= layout.EDGE
    return access.scattered or access.space in ("scratch", "flat") or (far and access.high is not None)


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


def pointers(chunk: Chunk, access: LaneAccess, home: Value, relative: Value) -> Value:
    """Places in up to 4 GiB. Gathers take indices of 32 bits as signed: so they count from the middle on."""
    e = chunk.emitter
    if access.space != "lds":
        home = e.let(f"getelementptr i8, ptr {home}, i64 {1 << 31}")
        relative = e.let(f"xor {e.v32} {relative}, splat (i32 {signed(1 << 31, 32)})")
    return e.let(f"getelementptr i8, ptr {home}, {e.v32} {relative}")


def gather(e: Emitter, places: Value, align: int, lanes: Value, others: str) -> Value:
    """A dword of each of these lanes (a vector of i1), and something else of the others."""
    name, type = f"llvm.masked.gather.v{e.lanes}i32.v{e.lanes}p0", f"<{e.lanes} x ptr>"
    return e.call(e.v32, name, f"{type} {places}", f"i32 {align}", f"{e.v1} {lanes}", f"{e.v32} {others}")


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


def scatter_to(chunk: Chunk, places: Value, data: Value, align: int) -> None:
    """Stores a dword of each active lane. Of lanes that store to one place the last one's value stays, as lane after
    lane."""
    e = chunk.emitter
    name, type = f"llvm.masked.scatter.v{e.lanes}i32.v{e.lanes}p0", f"<{e.lanes} x ptr>"
    e.call_void(name, f"{e.v32} {data}", f"{type} {places}", f"i32 {align}", f"{e.v1} {chunk.active}")


def label_of_each(chunk: Chunk, access: LaneAccess, site: Site, slow: str) -> str:
    """The label of a gather or scatter, where there is to be one, else `slow`. jit.py knows its form."""
    if site.gathers == MOST_GATHERS or not can_gather(chunk, access):
        return slow
    site.gathers += 1
    return chunk.emitter.name(f"each.{slow}")


def can_gather(chunk: Chunk, access: LaneAccess) -> bool:
    """Whether what the lanes of a chunk load is gathered from wherever it is in one allocation. No lanes are made for
    that of addresses of 64 bits that are known to go up evenly: see `Plan.apart`. Hosts whose chunks have 8 lanes have
    no scatter, and many a slow gather or none: LLVM would make a branch of each lane."""
    e, line = chunk.emitter, access.line
    if e.own_lanes == 8 or access.uniform or not (chunk.gathers or e.lanes == e.own_lanes):
        return False
    return line is None or (access.space == "global" and line.width == 32) or access.bytes < 4
