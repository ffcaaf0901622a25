"""LDS addressing beyond a lane's own address: by m0, by two offsets, and the side in LDS of a load that goes there."""

from __future__ import annotations

from gpulab.virtual_gpu.isa.instruction import Instruction
from gpulab.virtual_gpu.isa.row import Memory
from gpulab.virtual_gpu.translate import layout
from gpulab.virtual_gpu.translate.chunk import Chunk
from gpulab.virtual_gpu.translate.emitter import Emitter, Value, splat, splats
from gpulab.virtual_gpu.translate.scalars import Scalars


def destination(e: Emitter, scalars: Scalars, instruction: Instruction) -> Value:
    """Where a load into LDS begins (i64): m0[15:0] and the immediate offset."""
    start = e.let(f"and i32 {scalars.word(layout.M0)}, 65535")
    return e.let(f"add i64 {e.let(f'zext i32 {start} to i64')}, {instruction.modifiers.get('offset', 0)}")


def implied_base(e: Emitter, scalars: Scalars) -> Value:
    """The base of an instruction whose text names no address (i64): m0[15:0]."""
    return e.let(f"zext i32 {e.let(f'and i32 {scalars.word(layout.M0)}, 65535')} to i64")


def offsets(instruction: Instruction, row: Memory) -> list[int]:
    """The immediate offsets of an access, in bytes: two for read2, write2 and the like, whose text counts elements."""
    if not row.two_address:
        return [0]
    found = []
    for name in ("offset0", "offset1"):
        given = instruction.modifiers.get(name, 0)
        found.append((given if isinstance(given, int) else 0) * row.stride)
    return found


def own_place(chunk: Chunk, size: int) -> Value:
    """Each lane's `size` bytes behind those of the lane before it."""
    e = chunk.emitter
    return e.let(f"mul {e.v32} {chunk.lanes}, {splats(32, size)}")


def before_all(chunk: Chunk, exec_mask: Value, row: Memory, old: Value) -> Value:
    """ds_append, ds_consume: one atomic of 1 per lane, in the lanes' order, gave lane i the value after those below it;
    taking their number back gives the value before the instruction in all lanes."""
    e = chunk.emitter
    assert row.combine is not None
    lanes = e.let(f"zext {e.v32} {chunk.lanes} to {e.v64}")
    below = e.let(f"add {e.v64} {e.let(f'shl {e.v64} splat (i64 1), {lanes}')}, splat (i64 -1)")
    mine = e.let(f"and {e.v64} {splat(e, 'i64', exec_mask)}, {below}")
    count = e.call(e.v64, f"llvm.ctpop.v{e.lanes}i64", f"{e.v64} {mine}")
    rank = e.let(f"trunc {e.v64} {count} to {e.v32}")
    operation = {"add": "sub", "sub": "add"}[row.combine.graph()[1][0].op]
    return e.let(f"{operation} {e.v32} {old}, {rank}")
