"""Loops in which a wave waits for another one: `Waits` finds them in a kernel and says how often they are entered.

Such a loop asks for the same memory again until what it reads lets it go on, and does nothing else. How often it turns
is no property of the kernel: it depends on who runs when, here on the order in which the host executes waves. A
modelled time has one turn for each time that a wave comes to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpulab.virtual_gpu.isa.row import Control, Memory
from gpulab.virtual_gpu.translate import layout
from gpulab.virtual_gpu.translate.decode import Decoded

_EFFECTS = ("barrier", "end", "call", "jump", "sendmsg", "trap")
_EXEC = 3 << layout.EXEC


@dataclass(frozen=True, slots=True)
class Wait:
    """A loop of waiting: its blocks, its head first, and those from which it is entered."""

    blocks: tuple[int, ...]
    before: tuple[int, ...]


class Waits(tuple[Wait, ...]):
    """The waiting loops of a kernel."""

    __slots__ = ()

    @classmethod
    def of(
        cls, blocks: Sequence[Sequence[int]], decoded: Mapping[int, Decoded], after: Sequence[Sequence[int]],
        loops: Mapping[int, frozenset[int]],
    ) -> Waits:  # fmt: skip
        """Those of a kernel with these blocks (instruction indices), each with those that can come `after` it, and with
        these `loops` (loops.py)."""
        found = []
        for head, inside in loops.items():
            if any(other in inside for other in loops if other != head):
                continue
            order = sorted(inside, key=lambda number: (number < head, number))
            if _waits([decoded[index] for number in order for index in blocks[number]]):
                before = (n for n, targets in enumerate(after) if n not in inside and head in targets)
                found.append(Wait(tuple(order), tuple(before)))
        return cls(found)

    @property
    def blocks(self) -> frozenset[int]:
        """All blocks of such loops."""
        return frozenset(block for wait in self for block in wait.blocks)

    def instructions(self, blocks: Sequence[Sequence[int]]) -> frozenset[int]:
        """The indices of all their instructions."""
        return frozenset(index for number in self.blocks for index in blocks[number])

    def happened(self, executed: Sequence[int]) -> bool:
        """Whether a wave came to one of them."""
        return any(executed[wait.blocks[0]] for wait in self)

    def once(self, executed: Sequence[int]) -> list[int]:
        """How often each block was executed, had no wave turned in such a loop more than once."""
        counts = list(executed)
        for wait in self:
            entered = sum(counts[block] for block in wait.before)
            for block in wait.blocks:
                counts[block] = min(counts[block], entered)
        return counts


def _waits(body: Sequence[Decoded]) -> bool:
    """Whether a loop of these instructions, in their order, asks for the same memory until its value lets it go on."""
    asks = [each for each in body if isinstance(each.row, Memory)]
    if not asks or any(each.row.action == "store" for each in asks if isinstance(each.row, Memory)):
        return False
    if any(isinstance(each.row, Control) and each.row.kind in _EFFECTS for each in body):
        return False
    written, carried = (0, 0), (0, 0)
    for each in body:
        carried = _or(carried, _less(_reads(each), written))
        written = _or(written, _writes(each))
    changed = _and(carried, written)  # what one turn leaves to the next
    asked = (0, 0)
    for _ in range(2):
        for each in body:
            reads = _reads(each)
            if isinstance(each.row, Memory):
                if any(_and(reads, _or(changed, asked))):
                    return False
                asked = _or(asked, _writes(each))
                continue
            if any(_and(reads, asked)):
                asked = _or(asked, _writes(each))
            if any(_and(reads, changed)):
                changed = _or(changed, _writes(each))
    ends = (each for each in body if isinstance(each.row, Control) and each.row.kind == "cbranch")
    return any(any(_and((each.vector_reads, each.scalar_reads), asked)) for each in ends)


_Registers = tuple[int, int]


def _reads(decoded: Decoded) -> _Registers:
    """Vector and scalar registers that an instruction reads; EXEC apart from what works on it."""
    scalars = decoded.scalar_reads & ~_EXEC if isinstance(decoded.row, Memory) else decoded.scalar_reads
    return decoded.vector_reads | decoded.cross_reads, scalars


def _writes(decoded: Decoded) -> _Registers:
    return decoded.vector_writes, decoded.scalar_writes


def _or(one: _Registers, other: _Registers) -> _Registers:
    return one[0] | other[0], one[1] | other[1]


def _and(one: _Registers, other: _Registers) -> _Registers:
    return one[0] & other[0], one[1] & other[1]


def _less(one: _Registers, other: _Registers) -> _Registers:
    return one[0] & ~other[0], one[1] & ~other[1]
