"""What memory code knows of one access of a chunk's lanes (`LaneAccess`) and of the function around it (`Site`).

An observer is told of a run's accesses after it. Their addresses stand in a buffer, a row per access. The support
code finds them there too (`call_support`); where a kernel is made for observers (`Site.record`), they are always put
there, else an observed wave has an empty table of allocations, so that all of its accesses go through the support code.

Alignment: accesses of 16 bits need 2, of 32 bits and more need 4 bytes, atomics their own size. (The hardware executes
unaligned loads and stores of global memory; in a compiled program they are a mistake all the same. Programs written in
assembly get what the hardware does: there only atomics are checked.)
"""

from __future__ import annotations

from dataclasses import dataclass

from gpulab.virtual_gpu.isa.row import Memory
from gpulab.virtual_gpu.translate import layout
from gpulab.virtual_gpu.translate.chunk import Chunk
from gpulab.virtual_gpu.translate.emitter import Emitter, Value
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

    def unseen(self, e: Emitter, fits: Value) -> Value:
        """Whether this holds (i1), and nobody is to be told of the wave's accesses. (Where the kernel is not made for
        observers, the tables of allocations of observed waves are empty, so that quick forms give up.)"""
        return e.let(f"and i1 {fits}, {e.let(f'icmp eq ptr {self.observer}, null')}") if self.record else fits


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


def alignment(row: Memory, site: Site) -> int:
    if row.action == "atomic":
        return row.element // 8
    return min(4, row.element // 8) if site.check_alignment else 1


def described(row: Memory, site: Site, bytes: int, space: str = "") -> int:
    """An access as the support code takes it."""
    action = {"load": "read", "store": "write", "atomic": "atomic"}[row.action]
    return layout.access_word(space or row.space, action, alignment(row, site), bytes, signed=row.extend == "sign")


def row_place(e: Emitter, site: Site, place: int, wave_size: int) -> Value:
    """Where the low halves of all lanes of access `place` of a run stand; the high halves follow."""
    at = layout.BUFFER["rows"] + place * row_bytes(wave_size, site.checked)
    return e.let(f"getelementptr i8, ptr {site.addresses}, i64 {at}")


def record(chunk: Chunk, access: LaneAccess, site: Site, store: bool = True) -> None:
    """Keep the chunk's addresses for the observer, in a kernel that is made for one. (Or they are there already.)"""
    if site.record and not chunk.missed:
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


def keep_change(chunk: Chunk, access: LaneAccess, changed: Value) -> None:
    """For the checker: which of the chunk's lanes changed memory, a bit each."""
    e = chunk.emitter
    row = e.let(f"getelementptr i8, ptr {access.kept}, i64 {24 * chunk.wave_size}")
    e.do(f"store {e.byte} {changed}, ptr {e.let(f'getelementptr {e.byte}, ptr {row}, i64 {chunk.number}')}")


def keep_data(chunk: Chunk, access: LaneAccess, data: list[Value]) -> None:
    """For the checker: what each lane of the chunk stores."""
    e = chunk.emitter
    for w, value in enumerate(data):
        row = e.let(f"getelementptr i8, ptr {access.kept}, i64 {(8 + 4 * w) * chunk.wave_size}")
        place = e.let(f"getelementptr {e.v32}, ptr {row}, i64 {chunk.number}")
        e.do(f"store {e.v32} {value}, ptr {place}, align {e.align}")


def call_support(chunk: Chunk, access: LaneAccess, site: Site, function: Value, more: int = 0) -> None:
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


def buffered(chunk: Chunk, site: Site, word: int, part: str = "data") -> Value:
    e = chunk.emitter
    return e.let(f"getelementptr i8, ptr {site.addresses}, i64 {layout.BUFFER[part] + e.align * word}")


def put_data(chunk: Chunk, site: Site, data: list[Value]) -> None:
    e = chunk.emitter
    for w, value in enumerate(data):
        e.do(f"store {e.v32} {value}, ptr {buffered(chunk, site, w)}, align {e.align}")
