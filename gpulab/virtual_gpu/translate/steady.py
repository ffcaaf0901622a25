"""Whether a kernel makes the same accesses each time that it is launched alike: `is_steady` follows what it loads.

If nothing that a kernel has from memory, from clocks or from hardware registers comes to an address, a branch or EXEC,
then two launches with the same arguments make the same accesses, whatever lies in memory. Its arguments are in memory,
too: loads of those by their pointer, as compilers emit them, do not count. What it loads is followed through registers,
block by block until nothing is added. As in liveness.py a vector register counts twice, for the lanes that are active
and for those that are not. Where it is not known what a kernel does (calls), it is not steady.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from gpulab.virtual_gpu.isa.instruction import Operand, Register
from gpulab.virtual_gpu.isa.row import Control, CrossLane, Image, Memory, Row
from gpulab.virtual_gpu.translate import layout
from gpulab.virtual_gpu.translate.decode import (
    ALL_SCALARS,
    ALL_VECTORS,
    Decoded,
    bits,
    into_lds,
    memory_operands,
    scalar_number,
    vector_bits,
)
from gpulab.virtual_gpu.translate.liveness import Live

_OUTSIDE = ("getreg", "time", "realtime", "sendmsg_rtn")  # what these give is not the kernel's


class _State(NamedTuple):
    """Registers, as bit sets: with what was loaded, of vectors in lanes that are active, and in others; and with what
    was computed from a pointer to the arguments alone."""

    scalars: int = 0
    active: int = 0
    asleep: int = 0
    pointers: int = 0

    def joined(self, other: _State) -> _State:
        return _State(
            self.scalars | other.scalars,
            self.active | other.active,
            self.asleep | other.asleep,
            self.pointers & other.pointers,
        )


class _Unsteady(Exception):
    """What was loaded decides about an access."""


def is_steady(
    entry: int,
    pointers: Iterable[int],
    blocks: Mapping[int, Sequence[int]],
    decoded: Mapping[int, Decoded],
    successors: Mapping[int, Sequence[int] | None],
    after: Mapping[int, Live],
) -> bool:
    """Whether launches with the same arguments make the same accesses.

    Args:
        entry: the kernel's first block. pointers: scalar registers where pointers to its arguments begin then.
        blocks: the numbers of their instructions. successors: of a block; None where control may go anywhere.
        after: liveness after each instruction.
    """
    if any(targets is None for targets in successors.values()):
        return False
    known = {entry: _State(pointers=sum(bits(number, 2) for number in set(pointers)))}
    work = [entry]
    try:
        while work:
            block = work.pop()
            state = known[block]
            for index in blocks[block]:
                state = _after(decoded[index], state, after[index])
            for target in successors[block] or ():
                met = known.get(target)
                joined = state if met is None else met.joined(state)
                if joined != met:
                    known[target] = joined
                    work.append(target)
    except _Unsteady:
        return False
    return True


def _after(decoded: Decoded, state: _State, live: Live) -> _State:
    """The state after an instruction."""
    row = decoded.row
    met = bool(
        decoded.scalar_reads & state.scalars
        or decoded.vector_reads & state.active
        or decoded.cross_reads & (state.active | state.asleep)
    )
    if isinstance(row, Image):
        raise _Unsteady
    if isinstance(row, Memory):
        met = _loads(decoded, row, state)
    elif isinstance(row, Control):
        if met and row.kind in ("branch", "cbranch", "call", "jump"):
            raise _Unsteady
        met = met or row.kind in _OUTSIDE
    elif isinstance(row, CrossLane) and decoded.scalar_reads & state.scalars:
        raise _Unsteady  # which lane is read
    if met and (decoded.exec_effect or decoded.scalar_writes & bits(layout.EXEC, 2)):
        raise _Unsteady
    active, asleep = state.active, state.asleep
    active = active | decoded.vector_writes if met else active & ~decoded.vector_writes
    if met and decoded.cross_reads == ALL_VECTORS:  # which registers it reads or writes is only known when it runs
        active = asleep = ALL_VECTORS
    if decoded.exec_effect in ("any", "narrow"):
        asleep |= active
    if decoded.exec_effect in ("any", "wide"):
        active |= asleep
    scalars = state.scalars | decoded.scalar_writes if met else state.scalars & ~decoded.scalar_writes
    pointers = state.pointers & ~decoded.scalar_writes
    if not decoded.is_vector and isinstance(row, Row):
        read = decoded.scalar_reads & ~bits(layout.SCC, 1)
        if read and not read & ~state.pointers:
            pointers |= decoded.scalar_writes & ~bits(layout.SCC, 1)
    return _State(scalars, active & live.active, asleep & live.asleep, pointers)


def _loads(decoded: Decoded, row: Memory, state: _State) -> bool:
    """Whether an access gives what lies in memory, other than the arguments.

    Raises:
        _Unsteady: where it goes was loaded.
    """
    instruction = decoded.instruction
    parts = memory_operands(instruction, row)
    for operand in (parts.address, parts.scalar, parts.resource):
        scalars, vectors = _registers(operand)
        if scalars & state.scalars or vectors & state.active:
            raise _Unsteady
    if (row.implied or into_lds(instruction, row)) and state.scalars >> layout.M0 & 1:
        raise _Unsteady
    if row.space != "scalar":
        return True
    if row.action not in ("load", "prefetch"):
        raise _Unsteady
    base = parts.address.value if parts.address is not None else None
    number = scalar_number(base) if isinstance(base, Register) and base.count == 2 else None
    return number is None or state.pointers >> number & 3 != 3


def _registers(operand: Operand | None) -> tuple[int, int]:
    """Scalar and vector registers of an operand."""
    value = operand.value if operand is not None else None
    if not isinstance(value, Register):
        return 0, 0
    if value.file in ("v", "a"):
        return 0, vector_bits(value, value.count)
    number = scalar_number(value)
    return (0 if number is None else bits(number, value.count) & ALL_SCALARS), 0
