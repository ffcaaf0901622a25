"""Memory instructions inside a run: `load`, `store` and `atomic` for one chunk of lanes.

Three ways, tried in this order: consecutive addresses (one vector access), the same address in all lanes (one scalar
access), and anything else, where the support code checks lane by lane, gives host pointers and names a fault. The first
two check the bounds of the allocation that the instruction used last.

Alignment: accesses of 16 bits need 2, of 32 bits and more need 4 bytes, atomics their own size. (The hardware executes
unaligned loads and stores of global memory; in a compiled program they are a mistake all the same. Programs written in
assembly get what the hardware does: there only atomics are checked.)
"""

from __future__ import annotations

from dataclasses import dataclass

from gpulab.virtual_gpu.isa.row import Memory
from gpulab.virtual_gpu.translate import layout
from gpulab.virtual_gpu.translate.chunk import V1, V32, Chunk, splat
from gpulab.virtual_gpu.translate.expressions import Reader, ir_type


@dataclass(slots=True)
class Access:
    """One access of each lane: where its address comes from and how much it moves.

    address: <8 x i32> low half (or the whole LDS or scratch offset), `high` the other half or None.
    base: an i64 that is the same for all lanes (scalar base and immediate offset together), as IR text.
    """

    row: Memory
    instruction: int
    slot: int
    space: str
    address: str
    high: str | None
    base: str
    bytes: int
    unsigned_index: bool = False  # the address is a 32-bit index beside a scalar base


@dataclass(slots=True)
class Site:
    """What memory code needs from the function around it: entry-block values and buffers."""

    low: str
    high: str
    pointers: str
    old: str
    data: str
    arena: str
    arena_number: str
    cache: str
    lds: str
    lds_bytes: str
    scratch: str
    scratch_bytes: str
    resolve: str
    load: str
    store: str
    fault: str  # label that leaves the kernel after a fault
    check_alignment: bool = True  # of loads and stores; atomics are always checked


def _align(access: Access, site: Site) -> int:
    if access.row.action == "atomic":
        return access.row.element // 8
    return min(4, access.row.element // 8) if site.check_alignment else 1


def _first(chunk: Chunk, access: Access, site: Site) -> str:
    """The first lane's address as an i64: an LDS offset, or a global address."""
    e = chunk.emitter
    low = e.let(f"zext i32 {e.let(f'extractelement {V32} {access.address}, i32 0')} to i64")
    if access.high is not None:
        high = e.let(f"zext i32 {e.let(f'extractelement {V32} {access.high}, i32 0')} to i64")
        low = e.let(f"or i64 {e.let(f'shl i64 {high}, 32')}, {low}")
    if access.base == "0":
        return low
    total = e.let(f"add i64 {low}, {access.base}")
    if access.space == "lds":  # wraps at 32 bits: Clang folds constants into the offset, whatever the register holds
        return e.let(f"and i64 {total}, 4294967295")
    return total


def _window(chunk: Chunk, access: Access, site: Site, first: str) -> tuple[str, str, str]:
    """(offset of the first lane in what may be used, its size, host pointer of the first lane)."""
    e = chunk.emitter
    if access.space == "lds":
        return first, site.lds_bytes, e.let(f"getelementptr i8, ptr {site.lds}, i64 {first}")
    entry = e.let(f"getelementptr i8, ptr {site.cache}, i64 {8 * access.slot}")
    from_ = e.let(f"zext i32 {e.let(f'load i32, ptr {entry}')} to i64")
    sizes = e.let(f"getelementptr i8, ptr {entry}, i64 4")
    size = e.let(f"zext i32 {e.let(f'load i32, ptr {sizes}')} to i64")
    relative = e.let(f"sub i64 {e.let(f'sub i64 {first}, {site.arena_number}')}, {from_}")
    offset = e.let(f"sub i64 {first}, {site.arena_number}")
    return relative, size, e.let(f"getelementptr i8, ptr {site.arena}, i64 {offset}")


def _inside(chunk: Chunk, relative: str, size: str, bytes: int) -> str:
    """relative + bytes <= size without overflow."""
    e = chunk.emitter
    start = e.let(f"icmp ult i64 {relative}, {size}")
    end = e.let(f"icmp ule i64 {e.let(f'add i64 {relative}, {bytes}')}, {size}")
    return e.let(f"and i1 {start}, {end}")


def _aligned(chunk: Chunk, first: str, align: int) -> str:
    if align <= 1:
        return "true"
    e = chunk.emitter
    return e.let(f"icmp eq i64 {e.let(f'and i64 {first}, {align - 1}')}, 0")


def _all(chunk: Chunk, condition: str) -> str:
    e = chunk.emitter
    return e.let(f"icmp eq i8 {e.let(f'bitcast {V1} {condition} to i8')}, -1")


def _steps(step: int) -> str:
    return "<" + ", ".join(f"i32 {step * i}" for i in range(8)) + ">"


def _pattern(chunk: Chunk, access: Access) -> tuple[str, str | None]:
    """(distance of each lane's address from the first lane's, whether all high halves are equal or None)."""
    e = chunk.emitter
    first = splat(e, "i32", e.let(f"extractelement {V32} {access.address}, i32 0"))
    distance = e.let(f"sub {V32} {access.address}, {first}")
    if access.high is None:
        return distance, None
    same = splat(e, "i32", e.let(f"extractelement {V32} {access.high}, i32 0"))
    return distance, e.let(f"icmp eq {V32} {access.high}, {same}")


def _matches(chunk: Chunk, distance: str, same_high: str | None, step: int) -> str:
    e = chunk.emitter
    wanted = _steps(step) if step else "zeroinitializer"
    fits = e.let(f"icmp eq {V32} {distance}, {wanted}")
    if same_high is not None:
        fits = e.let(f"and {V1} {fits}, {same_high}")
    return _all(chunk, fits)


def _no_wrap(chunk: Chunk, access: Access) -> str:
    """For a 32-bit index beside a scalar base: the chunk's indices do not run over 2**32."""
    e = chunk.emitter
    if not access.unsigned_index:
        return "true"
    first = e.let(f"extractelement {V32} {access.address}, i32 0")
    return e.let(f"icmp ult i32 {first}, {-(8 * access.bytes) & 0xFFFFFFFF}")


def _call(chunk: Chunk, access: Access, site: Site, function: str, last: str) -> None:
    """Call the support code for all active lanes; leaves the kernel after a fault."""
    e = chunk.emitter
    action = {"load": "read", "store": "write", "atomic": "atomic"}[access.row.action]
    what = (
        layout.SPACES[access.space]
        | layout.ACCESSES[action] << 4
        | _align(access, site) << 8
        | access.bytes << 16
        | (access.row.extend == "sign") << 24
    )
    e.do(f"store {V32} {access.address}, ptr {site.low}, align 32")
    e.do(f"store {V32} {access.high or 'zeroinitializer'}, ptr {site.high}, align 32")
    lane = e.let(f"trunc i64 {e.let(f'shl i64 {chunk.number}, 3')} to i32")
    mask = e.let(f"zext i8 {chunk.bits} to i32")
    failed = e.let(
        f"call i32 {function}(ptr %wave, i32 {access.instruction}, i32 {access.slot}, i32 {what}, "
        f"i64 {access.base}, i32 {lane}, i32 {mask}, ptr {site.low}, ptr {site.high}, ptr {last})"
    )
    good = e.name("checked")
    e.branch(e.let(f"icmp eq i32 {failed}, 0"), good, site.fault, likely=True)
    e.label(good)


def _place(chunk: Chunk, buffer: str, word: int) -> str:
    return chunk.emitter.let(f"getelementptr i8, ptr {buffer}, i64 {32 * word}")


def _load_slow(chunk: Chunk, access: Access, site: Site, words: int) -> list[str]:
    _call(chunk, access, site, site.load, site.data)
    return [chunk.emitter.let(f"load {V32}, ptr {_place(chunk, site.data, w)}, align 32") for w in range(words)]


def _store_slow(chunk: Chunk, access: Access, site: Site, data: list[str]) -> None:
    for w, value in enumerate(data):
        chunk.emitter.do(f"store {V32} {value}, ptr {_place(chunk, site.data, w)}, align 32")
    _call(chunk, access, site, site.store, site.data)


@dataclass(slots=True)
class _Plan:
    """IR values that decide how a chunk's access is done.

    first: the first lane's address; relative, size: its offset in what may be used, and how large that is; pointer: its
    host address; distance: of each lane's address from the first's; same_high: whether high halves are equal, or None;
    consecutive: whether the lanes' elements follow each other inside the bounds.
    """

    first: str
    relative: str
    size: str
    pointer: str
    distance: str
    same_high: str | None
    consecutive: str


def _plan(chunk: Chunk, access: Access, site: Site) -> _Plan:
    first = _first(chunk, access, site)
    distance, same_high = _pattern(chunk, access)
    relative, size, pointer = _window(chunk, access, site, first)
    e = chunk.emitter
    consecutive = _matches(chunk, distance, same_high, access.bytes)
    for condition in (
        _inside(chunk, relative, size, 8 * access.bytes),
        _aligned(chunk, first, _align(access, site)),
        _no_wrap(chunk, access),
    ):
        if condition != "true":
            consecutive = e.let(f"and i1 {consecutive}, {condition}")
    return _Plan(first, relative, size, pointer, distance, same_high, consecutive)


def load(chunk: Chunk, access: Access, site: Site) -> list[str]:
    """Loads; returns the 32-bit words of the result, each <8 x i32> (narrow elements are extended)."""
    e, row = chunk.emitter, access.row
    words = max(1, access.bytes // 4)
    element = "i32" if access.bytes >= 4 else f"i{8 * access.bytes}"
    align = _align(access, site)
    done, slow = e.name("loaded"), e.name("scattered")
    incoming: list[tuple[list[str], str]] = []

    def extended(value: str) -> str:
        if element == "i32":
            return value
        return e.let(f"{'sext' if row.extend == 'sign' else 'zext'} <8 x {element}> {value} to {V32}")

    if access.space == "scratch":
        return _load_slow(chunk, access, site, words)
    plan = _plan(chunk, access, site)
    pointer = plan.pointer
    straight, other, uniform = e.name("consecutive"), e.name("other"), e.name("uniform")
    e.branch(plan.consecutive, straight, other, likely=True)
    e.label(straight)
    whole = e.let(f"load <{8 * words} x {element}>, ptr {pointer}, align {align}")
    if words == 1:
        parts = [extended(whole)]
    else:
        parts = []
        for w in range(words):
            picks = ", ".join(f"i32 {w + words * i}" for i in range(8))
            kind = f"<{8 * words} x i32>"
            parts.append(e.let(f"shufflevector {kind} {whole}, {kind} poison, <8 x i32> <{picks}>"))
    incoming.append((parts, e.block))
    e.jump(done)
    e.label(other)
    same = _matches(chunk, plan.distance, plan.same_high, 0)
    for condition in (_inside(chunk, plan.relative, plan.size, access.bytes), _aligned(chunk, plan.first, align)):
        if condition != "true":
            same = e.let(f"and i1 {same}, {condition}")
    e.branch(same, uniform, slow)
    e.label(uniform)
    parts = []
    for w in range(words):
        address = pointer if w == 0 else e.let(f"getelementptr i8, ptr {pointer}, i64 {4 * w}")
        parts.append(extended(splat(e, element, e.let(f"load {element}, ptr {address}, align {align}"))))
    incoming.append((parts, e.block))
    e.jump(done)
    e.label(slow)
    parts = _load_slow(chunk, access, site, words)
    incoming.append((parts, e.block))
    e.jump(done)
    e.label(done)
    return [
        e.let(f"phi {V32} " + ", ".join(f"[ {parts[w]}, %{block} ]" for parts, block in incoming)) for w in range(words)
    ]


def store(chunk: Chunk, access: Access, site: Site, data: list[str]) -> None:
    """Stores the <8 x i32> words of `data` (the low bits of the only one for narrow elements)."""
    e = chunk.emitter
    words = max(1, access.bytes // 4)
    element = "i32" if access.bytes >= 4 else f"i{8 * access.bytes}"
    align = _align(access, site)
    if access.space == "scratch":
        _store_slow(chunk, access, site, data)
        return
    plan = _plan(chunk, access, site)
    full = e.let(f"icmp eq i8 {chunk.bits}, -1")
    straight, slow, done = e.name("consecutive"), e.name("scattered"), e.name("stored")
    e.branch(e.let(f"and i1 {plan.consecutive}, {full}"), straight, slow, likely=True)
    e.label(straight)
    whole, kind = data[0], f"<{8 * words} x {element}>"
    if element != "i32":
        whole = e.let(f"trunc {V32} {whole} to {kind}")
    if words > 1:
        joined, width = list(data), 8
        while len(joined) > 1:  # lanes of pairs side by side, padded to a power of two
            if len(joined) % 2:
                joined.append("poison")
            picks = ", ".join(f"i32 {i}" for i in range(2 * width))
            joined = [
                e.let(
                    f"shufflevector <{width} x i32> {joined[i]}, <{width} x i32> {joined[i + 1]}, "
                    f"<{2 * width} x i32> <{picks}>"
                )
                for i in range(0, len(joined), 2)
            ]
            width *= 2
        picks = ", ".join(f"i32 {8 * w + lane}" for lane in range(8) for w in range(words))
        whole = e.let(
            f"shufflevector <{width} x i32> {joined[0]}, <{width} x i32> poison, <{8 * words} x i32> <{picks}>"
        )
    e.do(f"store {kind} {whole}, ptr {plan.pointer}, align {align}")
    e.jump(done)
    e.label(slow)
    _store_slow(chunk, access, site, data)
    e.jump(done)
    e.label(done)


def atomic(chunk: Chunk, access: Access, site: Site, data: list[str]) -> list[str]:
    """Read-modify-write, lane after lane in the order of lanes; returns the old values as words.

    Global memory is shared by workgroups on other threads, so it is a compare-and-exchange loop there. One workgroup
    runs on one thread: in LDS it is a plain load and store. (A flat access may be either, and takes the loop.)
    """
    e, row = chunk.emitter, access.row
    assert row.combine is not None
    _call(chunk, access, site, site.resolve, site.pointers)
    width = row.element
    kind = f"i{width}"
    words = width // 32
    for w, value in enumerate(data):
        e.do(f"store {V32} {value}, ptr {_place(chunk, site.data, w)}, align 32")
    head, body, work, next_ = e.name("lane"), e.name("lane_body"), e.name("lane_work"), e.name("lane_next")
    done = e.name("lanes_done")
    start = e.block
    e.jump(head)
    e.label(head)
    lane, after = f"%{e.name('lane_number')}", f"%{e.name('lane_after')}"
    e.do(f"{lane} = phi i64 [ 0, %{start} ], [ {after}, %{next_} ]")
    e.branch(e.let(f"icmp eq i64 {lane}, 8"), done, body)
    e.label(body)
    shifted = e.let(f"lshr i64 {e.let(f'zext i8 {chunk.bits} to i64')}, {lane}")
    e.branch(e.let(f"trunc i64 {shifted} to i1"), work, next_)
    e.label(work)
    pointer = e.let(f"load ptr, ptr {e.let(f'getelementptr ptr, ptr {site.pointers}, i64 {lane}')}")

    def word(which: int) -> str:
        buffer = _place(chunk, site.data, which)
        return e.let(f"load i32, ptr {e.let(f'getelementptr i32, ptr {buffer}, i64 {lane}')}")

    arguments: list[str] = []
    at = 0
    for parameter in row.combine.parameters[1:]:
        if parameter.type.width == 64:
            low = e.let(f"zext i32 {word(at)} to i64")
            high = e.let(f"shl i64 {e.let(f'zext i32 {word(at + 1)} to i64')}, 32")
            number, at = e.let(f"or i64 {high}, {low}"), at + 2
        else:
            number, at = word(at), at + 1
        t = ir_type(parameter.type)
        arguments.append(number if t.startswith("i") else e.let(f"bitcast i{parameter.type.width} {number} to {t}"))
    reader = Reader(e, 1)
    t = ir_type(row.combine.parameters[0].type)

    def combined(old: str) -> str:
        typed = old if t.startswith("i") else e.let(f"bitcast {kind} {old} to {t}")
        _, graph = row.combine.graph()  # type: ignore[union-attr]
        new = reader.read(graph[:1], [typed, *arguments])[0]
        return new if t.startswith("i") else e.let(f"bitcast {t} {new} to {kind}")

    before = e.let(f"load {kind}, ptr {pointer}, align {width // 8}")
    if access.space == "lds":
        old = before
        e.do(f"store {kind} {combined(old)}, ptr {pointer}, align {width // 8}")
    else:
        retry, settled = e.name("retry"), e.name("settled")
        came, seen = e.block, f"%{e.name('seen')}"
        e.jump(retry)
        e.label(retry)
        again = f"%{e.name('again')}"
        e.do(f"{seen} = phi {kind} [ {before}, %{came} ], [ {again}, %{retry} ]")
        new = combined(seen)
        outcome = e.let(f"cmpxchg ptr {pointer}, {kind} {seen}, {kind} {new} seq_cst seq_cst")
        e.do(f"{again} = extractvalue {{ {kind}, i1 }} {outcome}, 0")
        e.branch(e.let(f"extractvalue {{ {kind}, i1 }} {outcome}, 1"), settled, retry)
        e.label(settled)
        old = seen
    for w in range(words):
        part = old if width == 32 else e.let(f"trunc i64 {e.let(f'lshr i64 {old}, {32 * w}')} to i32")
        place = e.let(f"getelementptr i32, ptr {site.old}, i64 {e.let(f'add i64 {lane}, {8 * w}')}")
        e.do(f"store i32 {part}, ptr {place}")
    e.jump(next_)
    e.label(next_)
    e.do(f"{after} = add i64 {lane}, 1")
    e.jump(head)
    e.label(done)
    return [
        e.let(f"load {V32}, ptr {e.let(f'getelementptr i32, ptr {site.old}, i64 {8 * w}')}, align 32")
        for w in range(words)
    ]
