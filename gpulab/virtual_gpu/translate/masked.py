"""Memory accesses of a whole wave that goes on quickly or not at all (phases.py). Some of its lanes may be inactive.

Where it is known how addresses go up from lane to lane (linear.py), the first and the last active lane are checked,
and the access is one of vectors under EXEC, of one element for all lanes, or a gather. Else the lanes are checked one
beside the other, and it is a gather or a scatter. What is not inside the allocation that the instruction used last
(places.py) leads to the wave's label `missed`.

There are no masked loads: of a `select` between one and another value LLVM 22 makes one where the `select` is
(InstCombine), which may be behind a store to the same place.
"""

from __future__ import annotations

from collections.abc import Callable

from gpulab.virtual_gpu.translate.chunk import Chunk, Unfit
from gpulab.virtual_gpu.translate.emitter import FALSE, NOTHING, TRUE, ZERO, Emitter, Integer, Value, splat
from gpulab.virtual_gpu.translate.lane_access import LaneAccess, Site, alignment
from gpulab.virtual_gpu.translate.lanesets import ALL
from gpulab.virtual_gpu.translate.places import (
    FARTHEST,
    Start,
    each_lane,
    gather,
    gathered,
    is_apart,
    known_field,
    only_slow,
    pointers,
    scatter_to,
    start_of,
    steps,
    turned,
)

Keep = Callable[[Value, Value, Value, int], None]
"""Takes a store: a dword of each lane, where the first lane's goes, the lanes (of type emitter.byte), the alignment."""


class Wave(Chunk):
    """A whole wave. Registers that were never written are 0.

    keep: takes stores to global memory, which are done in the end.
    numbers: lane masks as they are known as numbers, by scalar register (of type emitter.byte).
    aside: of registers that were written since EXEC changed, what the lanes hold that are not active, if it matters.
    """

    gathers = True

    def __init__(self, emitter: Emitter, wave_size: int, missed: str, keep: Keep) -> None:
        super().__init__(emitter, wave_size, ZERO, ALL, missed)
        self.keep = keep
        self.numbers: dict[int, Value] = {}
        self.aside: dict[int, Value] = {}

    def load(self, register: int) -> Value:
        return NOTHING

    @property
    def full(self) -> bool:
        """Whether all lanes are active for certain."""
        return self.bits == ALL

    def settle(self, needed: int) -> None:
        """EXEC is to change: of the registers in this set each lane has its own value from here on."""
        e = self.emitter
        for register, old in self.aside.items():
            if needed >> register & 1:
                new = self.get(register)
                self.set(register, e.let(f"select {e.v1} {self.active}, {e.v32} {new}, {e.v32} {old}"))
        self.aside.clear()

    def ends(self) -> tuple[Value, Value]:
        """The numbers of the first and the last active lane (i64); above and below all others if there is none."""
        e = self.emitter
        if self.full:
            return ZERO, Integer(e.lanes - 1)
        wide = self.bits if e.lanes == 64 else e.let(f"zext {e.byte} {self.bits} to i64")
        first = e.call("i64", "llvm.cttz.i64", f"i64 {wide}", "i1 false")
        above = e.call("i64", "llvm.ctlz.i64", f"i64 {wide}", "i1 false")
        return first, e.let(f"sub i64 63, {above}")

    def on(self, good: Value, or_none: bool) -> None:
        """Goes on if this holds, or if no lane is active."""
        e = self.emitter
        if or_none and not self.full:
            good = e.let(f"or i1 {good}, {e.let(f'icmp eq {e.byte} {self.bits}, 0')}")
        on = e.name("on")
        e.branch(good, on, self.missed, likely=True)
        e.label(on)


def _step(access: LaneAccess) -> Value | None:
    """Bytes from lane to lane, if that is known."""
    line = access.line
    if access.uniform:
        return ZERO
    if line is None or line.holds == FALSE:
        return None
    if line.step in (ZERO, Integer(access.bytes)):
        return line.step
    if isinstance(line.step, Integer) and (line.step.number % 4 or abs(line.step.number) >= FARTHEST):
        return None
    return line.step if access.bytes >= 4 and (line.width == 64 or access.space == "lds") else None


def is_even(wave: Wave, access: LaneAccess) -> bool:
    """Whether the lanes go up as it is known of them for certain, if the wave goes on after the access."""
    step, lds = _step(access), access.space == "lds"
    if step is None or (access.row.action == "load" and access.bytes < 4 and not wave.full):
        return False
    if access.row.action == "load" or access.bytes > 4:
        return not _is_doubtful(wave, access)
    return step in (ZERO, Integer(4)) and not (_is_doubtful(wave, access) and lds)


def _inside(wave: Wave, access: LaneAccess, site: Site, step: Value) -> tuple[Start, Value]:
    """Where an access begins, and whether its first and last active lane are inside: what is between them is, too."""
    e, row, line, start = wave.emitter, access.row, access.line, start_of(wave, access, site)
    kind = start.kind
    limit: Value = known_field(e, access, site, "i32", "single")
    if kind == "i64":
        limit = e.steady(f"zext i32 {limit} to i64", limit)
    conditions = [*start.conditions, *([line.holds] if line is not None and line.holds != TRUE else [])]
    if not isinstance(step, Integer):
        conditions.append(is_apart(e, kind, step))
    for lane in [ZERO] if step == ZERO else wave.ends():
        place = start.relative
        if lane != ZERO:
            lane = lane if kind == "i64" or isinstance(lane, Integer) else e.let(f"trunc i64 {lane} to i32")
            place = e.let(f"add {kind} {place}, {e.let(f'mul {kind} {lane}, {step}')}")
        conditions.append(e.let(f"icmp ult {kind} {turned(e, kind, place, row, site)}, {limit}"))
    good = conditions[0]
    for condition in conditions[1:]:
        good = e.let(f"and i1 {good}, {condition}")
    return start, good


def _is_doubtful(wave: Wave, access: LaneAccess) -> bool:
    """Whether it may well be that lanes do not go up as it is known of them."""
    return access.line is not None and wave.lines is not None and wave.lines.is_doubtful(access.line)


def _places(wave: Wave, start: Start, step: Value, word: int) -> Value:
    """Where a word of each lane is."""
    e = wave.emitter
    if start.kind == "i64" and not isinstance(step, Integer):
        step = e.steady(f"trunc i64 {step} to i32", step)
    apart = e.let(f"mul {e.v32} {steps(1, e.lanes, 32)}, {splat(e, 'i32', step)}")
    return e.let(f"getelementptr i8, ptr {_word(wave, start, word)}, {e.v32} {apart}")


def _word(wave: Wave, start: Start, word: int) -> Value:
    return wave.emitter.let(f"getelementptr i8, ptr {start.pointer}, i64 {4 * word}") if word else start.pointer


def load(wave: Wave, access: LaneAccess, site: Site) -> list[Value]:
    """memory.load for such a wave."""
    if only_slow(access):
        raise Unfit
    e, step = wave.emitter, _step(access)
    if step == Integer(access.bytes) and access.bytes < 4 and not wave.full:
        step = None
    if step is None:
        return _load_each(wave, access, site)
    start, good = _inside(wave, access, site, step)
    if not _is_doubtful(wave, access):
        wave.on(good, or_none=step != ZERO and access.space != "lds")  # elsewhere inactive lanes load nothing
        return _load_even(wave, access, site, start, step)
    even, apart, done = e.name("even"), e.name("apart"), e.name("loaded")
    e.branch(good, even, apart)
    e.label(even)
    one, came = _load_even(wave, access, site, start, step), e.block
    e.jump(done)
    e.label(apart)
    other, before = _load_each(wave, access, site), e.block
    e.jump(done)
    e.label(done)
    return [e.let(f"phi {e.v32} [ {a}, %{came} ], [ {b}, %{before} ]") for a, b in zip(one, other, strict=True)]


def _load_even(wave: Wave, access: LaneAccess, site: Site, start: Start, step: Value) -> list[Value]:
    """Of lanes that go up by this step."""
    e, align = wave.emitter, alignment(access.row, site)
    words = max(1, access.bytes // 4)
    element = "i32" if access.bytes >= 4 else f"i{8 * access.bytes}"
    kind = f"<{e.lanes} x {element}>"
    parts: list[Value] = []
    for word in range(words):
        at = _word(wave, start, word)
        if step == ZERO:
            part = splat(e, element, e.let(f"load {element}, ptr {at}, align {align}"))
        elif words > 1 or step != Integer(access.bytes):
            part = gather(e, _places(wave, start, step, word), align, wave.active, "zeroinitializer")
        elif wave.full or access.space == "lds":
            # of LDS also what inactive lanes would load: around it there is room for that (machine/launching.py)
            part = e.let(f"load {kind}, ptr {at}, align {align}")
        else:
            part = _load_row(wave, at, align, _places(wave, start, step, word))
        parts.append(_extended(wave, access, part, kind))
    return parts


def _load_row(wave: Wave, first: Value, align: int, places: Value) -> Value:
    """Dwords that follow each other: of all lanes at once, if all are active, else of the active ones."""
    e = wave.emitter
    all_, some, done = e.name("all"), e.name("some"), e.name("row")
    e.branch(e.let(f"icmp eq {e.byte} {wave.bits}, -1"), all_, some, likely=True)
    e.label(all_)
    whole = e.let(f"load {e.v32}, ptr {first}, align {align}")
    e.jump(done)
    e.label(some)
    part = gather(e, places, align, wave.active, "zeroinitializer")
    e.jump(done)
    e.label(done)
    return e.let(f"phi {e.v32} [ {whole}, %{all_} ], [ {part}, %{some} ]")


def _load_each(wave: Wave, access: LaneAccess, site: Site) -> list[Value]:
    """Of lanes that are anywhere."""
    e, words = wave.emitter, max(1, access.bytes // 4)
    good, home, relative = each_lane(wave, access, site)
    wave.on(good, or_none=True)
    parts = gathered(wave, access, site, home, relative, words)
    if access.bytes >= 4:
        return parts
    kind = f"<{e.lanes} x i{8 * access.bytes}>"
    return [_extended(wave, access, e.let(f"trunc {e.v32} {parts[0]} to {kind}"), kind)]


def _extended(wave: Wave, access: LaneAccess, value: Value, kind: str) -> Value:
    """What was loaded, as 32 bits of each lane."""
    e = wave.emitter
    if access.bytes >= 4:
        return value
    return e.let(f"{'sext' if access.row.extend == 'sign' else 'zext'} {kind} {value} to {e.v32}")


def store(wave: Wave, access: LaneAccess, site: Site, data: list[Value]) -> None:
    """memory.store for such a wave.

    Raises:
        Unfit: parts of a dword; several dwords, unless they follow each other in LDS; a dword in global memory, if
            lanes are not known to be in a row or all in one place.
    """
    e, align, step, lds = wave.emitter, alignment(access.row, site), _step(access), access.space == "lds"
    doubtful = _is_doubtful(wave, access)
    if only_slow(access) or access.bytes < 4:
        raise Unfit
    if access.bytes > 4:  # lanes that overlap in part are stored one after the other
        if not lds or doubtful or step != Integer(access.bytes):
            raise Unfit
        start, good = _inside(wave, access, site, step)
        wave.on(good, or_none=True)
        for word, value in enumerate(data):
            scatter_to(wave, _places(wave, start, step, word), value, align)
        return
    if step not in (ZERO, Integer(4)) or (doubtful and lds):
        if not lds:
            raise Unfit
        good, home, relative = each_lane(wave, access, site)
        wave.on(good, or_none=True)
        scatter_to(wave, pointers(wave, access, home, relative), data[0], align)
        return
    start, good = _inside(wave, access, site, step)
    wave.on(good, or_none=True)
    place, lanes = start.pointer, wave.bits
    if step == ZERO:  # the last lane's value stays
        last = wave.ends()[1]
        place = e.let(f"getelementptr i32, ptr {place}, i64 {e.let(f'sub i64 0, {last}')}")
        bit = e.let(f"shl i64 1, {e.let(f'and i64 {last}, 63')}")
        bit = bit if e.lanes == 64 else e.let(f"trunc i64 {bit} to {e.byte}")
        lanes = e.let(f"and {e.byte} {bit}, {lanes}")
    if lds:
        store_lanes(e, data[0], place, lanes, align)
    else:
        wave.keep(data[0], place, lanes, align)


def store_lanes(e: Emitter, data: Value, place: Value, lanes: Value, align: int) -> None:
    """Stores a dword of these lanes (of type emitter.byte), the first lane's to this place, the others' behind it."""
    if lanes == ALL:
        e.do(f"store {e.v32} {data}, ptr {place}, align {align}")
        return
    active = e.let(f"bitcast {e.byte} {lanes} to {e.v1}")
    e.call_void(
        f"llvm.masked.store.v{e.lanes}i32.p0", f"{e.v32} {data}", f"ptr {place}", f"i32 {align}", f"{e.v1} {active}"
    )
