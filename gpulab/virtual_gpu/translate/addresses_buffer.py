"""Buffer addressing: what a resource says (`described`), each lane's address, and which lanes are inside (`place`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gpulab.virtual_gpu.isa.buffers import ADD_THREAD, INDEX_STRIDE, SELECT, Rules
from gpulab.virtual_gpu.isa.row import Memory
from gpulab.virtual_gpu.translate import layout
from gpulab.virtual_gpu.translate.chunk import Chunk
from gpulab.virtual_gpu.translate.emitter import ZEROS, Emitter, Integer, Value, splat


@dataclass(frozen=True, slots=True)
class Buffer:
    """A buffer instruction's scalar parts (ISA manuals, "Buffer Resource Descriptor").

    base, limit, stride, scalar: i64, the resource's base, size and stride, and the scalar offset.
    element, index_stride: i64, base-2 logarithms of the swizzle's sizes; swizzled, thread: i1, whether the resource is
    swizzled and whether it adds the lane's number to the index; select: i32, OOB_SELECT, or None without such a field.
    scratch: i1, whether the resource is that of scratch, where the scalar offset counts for all lanes together; None
    where the kernel has no such resource.
    """

    base: Value
    limit: Value
    stride: Value
    scalar: Value
    element: Value
    index_stride: Value
    swizzled: Value
    thread: Value
    select: Value | None
    scratch: Value | None


def described(
    e: Emitter, words: Sequence[Value], scalar: Callable[[], Value], rules: Rules, scratch_buffer: bool
) -> Buffer:
    """A buffer resource's parts; `words` are its four (i32), `scalar` gives the scalar offset (i64)."""
    low, high, size, flags = words
    wide = [e.let(f"zext i32 {word} to i64") for word in (low, e.let(f"and i32 {high}, 65535"), size)]
    stride = e.let(f"and i32 {e.let(f'lshr i32 {high}, 16')}, 16383")
    by_scalar = scalar()
    scratch = e.let(f"trunc i32 {e.let(f'lshr i32 {flags}, 23')} to i1") if scratch_buffer else None
    base = e.let(f"or i64 {wide[0]}, {e.let(f'shl i64 {wide[1]}, 32')}")
    field_ = e.let(f"lshr i32 {high}, {rules.swizzle}")
    # the element is 4 << (field - 1) bytes; without a swizzle it does not matter
    element = e.let(f"zext i32 {e.let(f'add i32 {field_}, 1')} to i64")
    swizzled = e.let(f"icmp ne i32 {field_}, 0")
    step = e.let(f"and i32 {e.let(f'lshr i32 {flags}, {INDEX_STRIDE}')}, 3")
    index_stride = e.let(f"zext i32 {e.let(f'add i32 {step}, 3')} to i64")
    thread = e.let(f"trunc i32 {e.let(f'lshr i32 {flags}, {ADD_THREAD}')} to i1")
    select = e.let(f"and i32 {e.let(f'lshr i32 {flags}, {SELECT}')}, 3") if rules.select else None
    stride = e.let(f"zext i32 {stride} to i64")
    return Buffer(base, wide[2], stride, by_scalar, element, index_stride, swizzled, thread, select, scratch)


def place(
    chunk: Chunk, buffer: Buffer, row: Memory, total: int, base: Value, given: Sequence[Value], structured: bool
) -> tuple[tuple[Value, Value], list[Value]]:
    """((low, high halves of each lane's address), for each word the lanes where it lies in the buffer).

    Scratch is an address in its flat aperture, checked there. The rules are those of isa/buffers.py.

    Args:
        base: the immediate offset, an i64.
        given: each lane's index and offset.
        structured: the instruction gives an index.
    """
    e = chunk.emitter
    index: Value
    index, offset = (e.let(f"zext {e.v32} {part} to {e.v64}") for part in given)

    def all_lanes(value: Value) -> Value:
        return splat(e, "i64", value)

    def binary(operation: str, a: Value, b: Value) -> Value:
        return e.let(f"{operation} {e.v64} {a}, {b}")

    if buffer.scratch is None:
        lane, mask = e.let(f"zext {e.v32} {chunk.lanes} to {e.v64}"), e.let(f"sext i1 {buffer.thread} to i64")
        index = binary("add", index, binary("and", lane, all_lanes(mask)))
    within = binary("add", offset, all_lanes(base))
    stride, scalar, limit = (all_lanes(v) for v in (buffer.stride, buffer.scalar, buffer.limit))
    linear = binary("add", within, binary("mul", index, stride))
    one, group, element = (all_lanes(v) for v in (Integer(1), buffer.index_stride, buffer.element))
    rest = binary("and", within, binary("sub", binary("shl", one, element), one))
    rows = binary("add", binary("mul", binary("lshr", index, group), stride), binary("sub", within, rest))
    own = binary("shl", binary("and", index, binary("sub", binary("shl", one, group), one)), element)
    woven = binary("add", binary("add", binary("shl", rows, group), own), rest)
    at = e.let(f"select i1 {buffer.swizzled}, {e.v64} {woven}, {e.v64} {linear}")
    count = total // 4 if row.action != "atomic" and row.element >= 32 else 1
    inside = [
        _inside(e, buffer, structured, index, within, scalar, limit, stride, at, all_lanes(Integer(end)))
        for end in ([4 * (w + 1) for w in range(count)] if count > 1 else [total])
    ]
    found = binary("add", all_lanes(e.let(f"add i64 {buffer.base}, {buffer.scalar}")), at)
    if buffer.scratch is not None:
        lanes = chunk.wave_size.bit_length() - 1
        mine = binary("add", within, all_lanes(e.let(f"lshr i64 {buffer.scalar}, {lanes}")))
        mine = binary(
            "or", binary("and", mine, all_lanes(Integer(0xFFFFFFFF))), all_lanes(Integer(layout.PRIVATE_BASE << 32))
        )
        found = e.let(f"select i1 {buffer.scratch}, {e.v64} {mine}, {e.v64} {found}")
        always = f"{e.v1} splat (i1 true)"
        inside = [e.let(f"select i1 {buffer.scratch}, {always}, {e.v1} {lanes_}") for lanes_ in inside]
    low = e.let(f"trunc {e.v64} {found} to {e.v32}")
    high = e.let(f"trunc {e.v64} {binary('lshr', found, all_lanes(Integer(32)))} to {e.v32}")
    return (low, high), inside


def _inside(
    e: Emitter, buffer: Buffer, structured: bool, index: Value, within: Value, scalar: Value, limit: Value,
    stride: Value, place: Value, end: Value,
) -> Value:  # fmt: skip
    """The lanes where what ends `end` bytes after their address is in the buffer: buffers.inside as IR."""

    def compare(condition: str, a: Value, b: Value) -> Value:
        return e.let(f"icmp {condition} {e.v64} {a}, {b}")

    below = compare("ult", index, limit)
    no_stride = compare("eq", stride, ZEROS)
    if buffer.select is None:
        last = e.let(f"add {e.v64} {e.let(f'add {e.v64} {within}, {scalar}')}, {end}")
        raw = compare("ule", last, limit)
        return e.let(f"select {e.v1} {no_stride}, {e.v1} {raw}, {e.v1} {below}") if structured else raw
    in_stride = e.let(f"or {e.v1} {no_stride}, {compare('ule', e.let(f'add {e.v64} {within}, {end}'), stride)}")
    whole = e.let(f"and {e.v1} {below}, {in_stride}")
    raw = compare("ule", e.let(f"add {e.v64} {place}, {end}"), limit)
    some_stride = e.let(f"xor {e.v1} {no_stride}, splat (i1 true)")
    woven = e.let(f"select i1 {buffer.swizzled}, {e.v1} {some_stride}, {e.v1} zeroinitializer")
    raw = e.let(f"select {e.v1} {woven}, {e.v1} {whole}, {e.v1} {raw}")
    result: Value = raw
    for number, lanes in ((2, compare("ne", limit, ZEROS)), (1, below), (0, whole)):
        chosen = e.let(f"icmp eq i32 {buffer.select}, {number}")
        result = e.let(f"select i1 {chosen}, {e.v1} {lanes}, {e.v1} {result}")
    return result
