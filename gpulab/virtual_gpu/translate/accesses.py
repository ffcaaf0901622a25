"""Memory instructions inside a run's loop: each lane's address, and what an observer is told after it (`Accesses`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from gpulab.virtual_gpu.isa.instruction import Register
from gpulab.virtual_gpu.isa.row import Memory
from gpulab.virtual_gpu.translate import addresses_buffer, addresses_lds, lane_access, layout, masked, memory
from gpulab.virtual_gpu.translate.addresses_buffer import Buffer
from gpulab.virtual_gpu.translate.captured import Captured, Item, Scalar, Vector
from gpulab.virtual_gpu.translate.chunk import Chunk
from gpulab.virtual_gpu.translate.decode import ACC, memory_operands, returns_value, words
from gpulab.virtual_gpu.translate.emitter import NULL, ZERO, ZEROS, Emitter, Joined, Value, splats
from gpulab.virtual_gpu.translate.lane_access import LaneAccess, Observed, Site
from gpulab.virtual_gpu.translate.linear import Line
from gpulab.virtual_gpu.translate.masked import Wave

_INTO_LDS = {words: Memory("", "lds", "store", 32, words) for words in (1, 2, 3, 4)}
_DWORD = {action: Memory("", "global", action, 32) for action in ("load", "store")}


class Recorded(NamedTuple):
    """An access of a run, as an observer is told of it.

    base, offset: an i64 and a number that all lanes' addresses share. has_high: high halves are kept, too.
    inside: where the mask of its lanes is, if they are not those of EXEC. place: among the run's addresses (None: all
    zero). twin: the access before it that was given the same addresses.
    """

    what: Observed
    base: Value
    offset: int
    has_high: bool
    inside: Value | None
    place: int | None
    twin: int | None


class Accesses:
    """Emits the memory instructions of a run for one chunk of lanes, and reports them after the run."""

    def __init__(
        self,
        emitter: Emitter,
        wave_size: int,
        site: Site,
        slot: Callable[[int], int],
        observe: Callable[[Observed], int],
    ) -> None:
        self.emitter, self.wave_size, self.site = emitter, wave_size, site
        self.slot, self.observe = slot, observe
        self.recorded: list[Recorded] = []
        # the first access with these: space, address, high halves, pair
        self.rows: dict[tuple[str, Value, Value | None, Value | None], int] = {}
        self.places = 0  # of addresses in this run
        self.widest = 0  # most of them in one run
        self.numbers: dict[tuple[int, int], int] = {}  # of accesses, by instruction and part, when they are known
        self._frames: dict[Value, tuple[int, int]] = {}  # what is checked of scratch in this block: first, last byte

    def new_block(self) -> None:
        self._frames.clear()

    def check_frames(self, items: list[Item], exec_mask: Value) -> None:
        """Scratch at the same address in all lanes is checked before the loop, all that has one scalar part at once."""
        wanted: dict[Value, tuple[int, int]] = {}
        for item in items:
            row = item.decoded.row
            frame = item.address.frame
            if frame is not None and isinstance(row, Memory):
                first, last = item.address.offset, item.address.offset + max(1, row.element * row.count // 8)
                have = wanted.get(frame, (first, last))
                wanted[frame] = min(first, have[0]), max(last, have[1])
        e, site = self.emitter, self.site
        for frame, (first, last) in wanted.items():
            known = self._frames.get(frame)
            if known is not None and known[0] <= first and last <= known[1]:
                continue
            if known is not None:
                first, last = min(first, known[0]), max(last, known[1])
            self._frames[frame] = first, last
            start = e.let(f"add i32 {frame}, {first}")
            end = e.let(f"add i64 {e.let(f'zext i32 {start} to i64')}, {last - first}")
            inside = e.let(f"icmp ule i64 {end}, {site.scratch_bytes}")
            aligned = e.let(f"icmp eq i32 {e.let(f'and i32 {frame}, 3')}, 0")
            precise, fine = e.name("rows"), e.name("rows_fine")
            e.branch(e.let(f"and i1 {inside}, {aligned}"), fine, precise, likely=True)
            e.label(precise)
            function_at = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('row')}")
            function = e.let(f"load ptr, ptr {function_at}")
            for item in items:
                row = item.decoded.row
                if item.address.frame != frame or not isinstance(row, Memory):
                    continue
                what = lane_access.described(row, site, max(1, row.element * row.count // 8))
                address = e.let(f"zext i32 {e.let(f'add i32 {frame}, {item.address.offset}')} to i64")
                failed = e.let(
                    f"call i32 {function}(ptr %wave, i32 {item.decoded.index}, i32 {what}, i64 {address}, "
                    f"i64 {exec_mask})"
                )
                go = e.name("row_fine")
                e.branch(e.let(f"icmp eq i32 {failed}, 0"), go, site.fault, likely=True)
                e.label(go)
            e.jump(fine)
            e.label(fine)

    def report(self, exec_mask: Value) -> None:
        """Tell the observer, if there is one, of the run's accesses in their order."""
        if not self.recorded:
            return
        e, site = self.emitter, self.site
        recorded, self.recorded = self.recorded, []
        self.rows.clear()
        numbers: list[int] = []
        self.widest, self.places = max(self.widest, self.places), 0
        tell, told = e.name("tell"), e.name("told")
        e.branch(e.let(f"icmp ne ptr {site.observer}, null"), tell, told, likely=False)
        e.label(tell)
        for n, one in enumerate(recorded):
            number = self.observe(one.what if one.twin is None else replace(one.what, twin=numbers[one.twin]))
            numbers.append(number)
            self.numbers[one.what.instruction, one.what.part] = number
            lanes = e.let(f"load i64, ptr {one.inside}") if one.inside else exec_mask
            base = e.added(one.base, one.offset) if one.offset else one.base
            if one.place is None:
                low: Value = e.let(f"getelementptr i8, ptr {site.addresses}, i64 {layout.BUFFER['zeros']}")
            else:
                low = lane_access.row_place(e, site, one.place, self.wave_size)
            high = e.let(f"getelementptr i8, ptr {low}, i64 {4 * self.wave_size}") if one.has_high else NULL
            failed = e.let(
                f"call i32 {site.observer}(ptr %wave, i32 {number}, i64 {base}, i64 {lanes}, ptr {low}, ptr {high})"
            )
            next_ = told if n == len(recorded) - 1 else e.name("tell")
            e.branch(e.let(f"icmp eq i32 {failed}, 0"), next_, site.fault, likely=True)
            e.label(next_)

    def emit(self, chunk: Chunk, item: Item) -> None:
        row = item.decoded.row
        assert isinstance(row, Memory)
        instruction = item.decoded.instruction
        parts = memory_operands(instruction, row)
        address, *data = item.sources
        offsets = addresses_lds.offsets(instruction, row)
        total = max(1, row.element * row.count // 8) // len(offsets)
        if row.action == "atomic":
            total = row.element // 8
        returned: list[Value] = []
        inside: list[Value] = []
        place: tuple[Value, Value] | None = None
        if item.address.buffer is not None:
            place, inside = self._in_buffer(chunk, item, item.address.buffer, address, row, total)
            reach = chunk.among(inside[-1])
        else:
            reach = chunk
        for which, offset in enumerate(offsets):
            access = self._access(reach, item, row, address, offset, which, total, place)
            if item.address.lds is not None:
                self._into_lds(chunk, item, item.address.lds, self._words_inside(chunk, access, inside))
            elif row.action == "load":
                assert parts.destination is not None
                assert isinstance(parts.destination.value, Register)
                register = parts.destination.value
                first = register.index + (ACC if register.file == "a" else 0)
                if row.two_address:
                    values = self._load(chunk, access)
                    second = self._load(chunk, self._access(chunk, item, row, address, offsets[1], 1, total))
                    for w, value in enumerate(values + second):
                        chunk.set(first + w, value)
                    break
                values = self._words_inside(chunk, access, inside)
                for w, value in enumerate(values):
                    chunk.set(first + w, self._half_loaded(chunk, row, first, value) if row.half else value)
            elif row.action == "store":
                source = data[which if row.two_address else 0]
                values = self._data(chunk, row, source, max(1, total // 4))
                self._store(reach, access, values)
                if len(inside) > 1:
                    self._pieces(chunk, access, inside, values)
            elif row.action == "atomic":
                assert row.combine is not None
                given: list[Value] = []
                if row.implied == "count":
                    given = [splats(32, 1)]
                elif row.two_address:
                    given = self._data(chunk, row, data[which], row.element // 32)
                elif len(data) == 1:
                    given = self._data(chunk, row, data[0], sum(words(p.type) for p in row.combine.parameters[1:]))
                else:
                    for part in data:
                        given += self._data(chunk, row, part, row.element // 32)
                old = memory.atomic(reach, access, self.site, given)
                if inside:
                    old = [self._or_zero(inside[-1], value) for value in old]
                if returns_value(instruction, row) and parts.destination is not None:
                    if row.implied == "count":
                        old = [addresses_lds.before_all(chunk, item.address.exec, row, old[0])]
                    returned += old
        if returned:
            assert parts.destination is not None
            assert isinstance(parts.destination.value, Register)
            register = parts.destination.value
            first = register.index + (ACC if register.file == "a" else 0)
            for w, value in enumerate(returned):
                chunk.set(first + w, value)

    def _in_buffer(
        self, chunk: Chunk, item: Item, buffer: Buffer, address: Captured | None, row: Memory, total: int
    ) -> tuple[tuple[Value, Value], list[Value]]:
        """addresses_buffer.place for an instruction: its address has the index, the offset, or one behind the other."""
        modifiers = item.decoded.instruction.modifiers
        given: list[Value] = [ZEROS, ZEROS]  # index, offset
        at = 0
        for n, name in enumerate(("idxen", "offen")):
            if modifiers.get(name) and address is not None:
                assert isinstance(address, Vector | Scalar)
                given[n] = chunk.get(address.number + at) if isinstance(address, Vector) else address.value
                at += 1
        return addresses_buffer.place(chunk, buffer, row, total, item.address.base, given, bool(modifiers.get("idxen")))

    def _load(self, chunk: Chunk, access: LaneAccess) -> list[Value]:
        if isinstance(chunk, Wave):
            return masked.load(chunk, access, self.site)
        return memory.load(chunk, access, self.site)

    def _store(self, chunk: Chunk, access: LaneAccess, data: list[Value]) -> None:
        if isinstance(chunk, Wave):
            masked.store(chunk, access, self.site, data)
        else:
            memory.store(chunk, access, self.site, data)

    def _half_loaded(self, chunk: Chunk, row: Memory, register: int, value: Value) -> Value:
        e = self.emitter
        old = chunk.get(register)
        if row.half == "hi":
            high = e.let(f"shl {e.v32} {value}, splat (i32 16)")
            return e.let(f"or {e.v32} {high}, {e.let(f'and {e.v32} {old}, splat (i32 65535)')}")
        low = e.let(f"and {e.v32} {value}, splat (i32 65535)")
        return e.let(f"or {e.v32} {low}, {e.let(f'and {e.v32} {old}, splat (i32 -65536)')}")

    def _data(self, chunk: Chunk, row: Memory, source: Captured | None, count: int) -> list[Value]:
        assert source is not None
        if not isinstance(source, Vector):
            assert isinstance(source, Scalar)
            return [chunk.spread(source.value, 32)] * count
        values = [chunk.get(source.number + w) for w in range(count)]
        if row.half == "hi" and row.action == "store":
            values = [self.emitter.let(f"lshr {self.emitter.v32} {values[0]}, splat (i32 16)")]
        return values

    def _words_inside(self, chunk: Chunk, access: LaneAccess, inside: list[Value]) -> list[Value]:
        """A load; of a buffer, words outside are 0."""
        if not inside:
            return self._load(chunk, access)
        found = memory.load(chunk.among(inside[-1]), access, self.site)
        values = [self._or_zero(inside[-1], value) for value in found]
        return self._pieces(chunk, access, inside, values) if len(inside) > 1 else values

    def _or_zero(self, lanes: Value, value: Value) -> Value:
        e = self.emitter
        return e.let(f"select {e.v1} {lanes}, {e.v32} {value}, {e.v32} zeroinitializer")

    def _pieces(self, chunk: Chunk, access: LaneAccess, inside: list[Value], values: list[Value]) -> list[Value]:
        """Lanes of which only the first words lie in the buffer: word by word. Gives `values` with those loaded."""
        e = self.emitter
        load = access.row.action == "load"
        some = [e.let(f"xor {e.v1} {lanes}, {inside[-1]}") for lanes in inside[:-1]]
        some = [e.let(f"and {e.v1} {lanes}, {inside[n]}") for n, lanes in enumerate(some)]
        active = [chunk.among(lanes) for lanes in some]
        words_, done = e.name("pieces"), e.name("pieces_done")
        before = e.block
        e.branch(e.let(f"icmp eq {e.byte} {active[0].bits}, 0"), done, words_, likely=True)
        e.label(words_)
        parts = list(values)
        for n, among in enumerate(active):
            four = f"splat (i32 {4 * n})"
            low = e.let(f"add {e.v32} {access.address}, {four}")
            carried = e.let(f"zext {e.v1} {e.let(f'icmp ult {e.v32} {low}, {four}')} to {e.v32}")
            high = e.let(f"add {e.v32} {access.high}, {carried}")
            # no place among the run's addresses that an observer is told of
            piece = replace(
                access, row=_DWORD[access.row.action], address=low, high=high, bytes=4, scattered=True, lanes=None,
                place=self._place(), kept=None, slot=self.slot(~access.instruction),
            )  # fmt: skip
            lane_access.record(among, piece, self.site)
            if load:
                (value,) = memory.load(among, piece, self.site)
                parts[n] = e.let(f"select {e.v1} {some[n]}, {e.v32} {value}, {e.v32} {values[n]}")
            else:
                memory.store(among, piece, self.site, [values[n]])
        end = e.block
        e.jump(done)
        e.label(done)
        if not load:
            return values
        return [
            e.let(f"phi {e.v32} [ {value}, %{before} ], [ {part}, %{end} ]")
            for value, part in zip(values, parts, strict=True)
        ]

    def _into_lds(self, chunk: Chunk, item: Item, start: Value, values: list[Value]) -> None:
        """The end of a load into LDS: each lane's dwords, in the lanes' order. (Outside a buffer they are 0.)"""
        index = item.decoded.index
        row, size = _INTO_LDS[len(values)], 4 * len(values)
        low = addresses_lds.own_place(chunk, size)
        access = LaneAccess(row, index, self.slot(~index), "lds", low, None, start, size, place=self._place())
        self.recorded.append(
            Recorded(Observed(index, 1, "lds", "store", size), start, 0, False, None, access.place, None)
        )
        lane_access.record(chunk, access, self.site)
        memory.store(chunk, access, self.site, values)

    def _access(
        self, chunk: Chunk, item: Item, row: Memory, address: Captured | None, offset: int, part: int, total: int,
        place: tuple[Value, Value] | None = None,
    ) -> LaneAccess:  # fmt: skip
        e = self.emitter
        joined: Value | None = None
        base = item.address.base
        if offset:
            base = e.added(base, offset)
        index = item.decoded.index
        access = LaneAccess(row, index, self.slot(index), row.space, ZEROS, None, base, total)
        if place is not None:
            access.address, access.high = place
            access.space = "global" if item.address.buffer and item.address.buffer.scratch is None else "flat"
            access.scattered = access.space == "flat"
            access.base = ZERO
            item_base: Value = ZERO
        else:
            item_base = item.address.base
            if row.implied == "lane":
                access.address = e.let(f"shl {e.v32} {chunk.lanes}, splat (i32 2)")
            elif address is None:
                access.unsigned_index = access.uniform = row.space == "global"
            elif not isinstance(address, Vector):
                assert isinstance(address, Scalar)
                access.address = address.value
            elif row.space in ("global", "flat") and address.width == 64:
                joined = chunk.pairs.get(address.number)
                if joined is None or isinstance(joined, Joined):
                    access.address, access.high = chunk.get(address.number), chunk.get(address.number + 1)
                else:
                    access.pair = joined
            else:
                access.address = chunk.get(address.number)
                access.unsigned_index = row.space == "global"
        if chunk.lines is not None:  # observed waves come here if they leave what is told of them in the end
            if joined is not None:
                line = chunk.lines.fact(joined)
            elif access.high is not None:
                line = chunk.lines.pair(access.address, access.high)
            else:
                line = None if access.uniform else chunk.lines.fact(access.address)
            access.line = line if isinstance(line, Line) else None
            if chunk.told is not None:
                chunk.told(access, part)
            return access
        what = Observed(index, part, access.space, row.action, total)
        wide = access.high is not None or access.pair is not None
        twin = None
        if not self.site.checked and not item.inside:
            key = (access.space, access.address, access.high, access.pair)
            first = self.rows.setdefault(key, len(self.recorded))
            twin = first if first < len(self.recorded) else None
        frame = item.address.frame
        if frame is not None:
            self.recorded.append(Recorded(what, item_base, offset, wide, None, None, twin))
            if total >= 4:
                access.frame = memory.frame_place(chunk, self.site, frame, item.address.offset)
            else:  # a byte's address is not aligned: its low bits and those of the offset may carry into the next row
                access.bytes_in = e.let(f"add i32 {frame}, {item.address.offset}")
                access.frame = memory.frame_place(chunk, self.site, access.bytes_in, 0)
            return access
        shared = None if twin is None else self.recorded[twin].place
        access.place, access.lanes = self._place() if shared is None else shared, item.inside
        self.recorded.append(Recorded(what, item_base, offset, wide, item.inside, access.place, twin))
        lane_access.record(chunk, access, self.site, store=shared is None)
        return access

    def _place(self) -> int:
        self.places += 1
        return self.places - 1
