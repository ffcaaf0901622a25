"""Which registers are still needed after each instruction: `analyse` solves the dataflow over basic blocks.

Scalars are plain liveness. A vector register's lanes fall into two sets, those active now and those that are not;
an instruction under EXEC overwrites only the first. So two sets are kept: `active` holds the registers that a lane
active now may still read, `asleep` those that a lane inactive now may read once EXEC gives it back. A store of a
register at the end of a run is dead if the register is not in `active`.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpulab.virtual_gpu.translate import layout
from gpulab.virtual_gpu.translate.decode import ALL_SCALARS, ALL_VECTORS, Decoded, bits

_EXEC = bits(layout.EXEC, 2)  # every vector instruction reads it, so it counts as live everywhere


@dataclass(slots=True)
class Live:
    """What is live after an instruction (or at a block's start), as bit sets."""

    scalars: int = 0
    active: int = 0
    asleep: int = 0


def before(decoded: Decoded, after: Live) -> Live:
    """Liveness before an instruction from liveness after it."""
    scalars = (after.scalars & ~decoded.scalar_writes) | decoded.scalar_reads | _EXEC
    active, asleep = after.active, after.asleep
    if decoded.exec_effect == "any":
        active = asleep = active | asleep
    elif decoded.exec_effect == "narrow":
        active = active | asleep
    elif decoded.exec_effect == "wide":
        asleep = active | asleep
    active = (active & ~decoded.vector_writes) | decoded.vector_reads | decoded.cross_reads
    return Live(scalars, active, asleep | decoded.cross_reads)


class _Transfer:
    """What a whole block does to liveness: with liveness L after it, before it

    active = (L.active & aa) | (L.asleep & sa) | a,   asleep = (L.active & as_) | (L.asleep & ss) | s

    and scalars = (L.scalars & keep) | read. Built once per block, from its last instruction to its first.
    """

    __slots__ = ("a", "aa", "as_", "keep", "read", "s", "sa", "ss")

    def __init__(self, body: Sequence[Decoded]) -> None:
        self.aa, self.sa, self.a = ALL_VECTORS, 0, 0
        self.as_, self.ss, self.s = 0, ALL_VECTORS, 0
        self.keep, self.read = ALL_SCALARS, _EXEC
        for decoded in reversed(body):
            if decoded.scalar_writes or decoded.scalar_reads:
                self.keep &= ~decoded.scalar_writes
                self.read = (self.read & ~decoded.scalar_writes) | decoded.scalar_reads | _EXEC
            if decoded.exec_effect:
                union = self.aa | self.as_, self.sa | self.ss, self.a | self.s
                if decoded.exec_effect != "wide":
                    self.aa, self.sa, self.a = union
                if decoded.exec_effect != "narrow":
                    self.as_, self.ss, self.s = union
            if decoded.vector_writes:
                kept = ~decoded.vector_writes
                self.aa, self.sa, self.a = self.aa & kept, self.sa & kept, self.a & kept
            self.a |= decoded.vector_reads | decoded.cross_reads
            self.s |= decoded.cross_reads

    def apply(self, after: Live) -> Live:
        return Live(
            (after.scalars & self.keep) | self.read,
            (after.active & self.aa) | (after.asleep & self.sa) | self.a,
            (after.active & self.as_) | (after.asleep & self.ss) | self.s,
        )


def analyse(
    blocks: Mapping[int, Sequence[Decoded]], successors: Mapping[int, Sequence[int] | None]
) -> tuple[dict[int, Live], dict[int, Live]]:
    """Liveness at each block's start, and after each instruction, by instruction index.

    `successors` of a block is None where control may go anywhere (calls, returns): everything is live there.
    """
    everything = Live(ALL_SCALARS, ALL_VECTORS, ALL_VECTORS)
    entry = {name: Live() for name in blocks}
    predecessors: dict[int, list[int]] = {name: [] for name in blocks}
    for name, targets in successors.items():
        for target in targets or ():
            predecessors[target].append(name)

    def out(name: int) -> Live:
        targets = successors[name]
        if targets is None:
            return everything
        result = Live(_EXEC)
        for target in targets:
            live = entry[target]
            result.scalars |= live.scalars
            result.active |= live.active
            result.asleep |= live.asleep
        return result

    transfer = {name: _Transfer(body) for name, body in blocks.items()}
    pending = [-name for name in blocks]  # the last block first: liveness flows backwards
    heapq.heapify(pending)
    queued = set(blocks)
    while pending:
        name = -heapq.heappop(pending)
        queued.discard(name)
        live = transfer[name].apply(out(name))
        if live != entry[name]:
            entry[name] = live
            for predecessor in predecessors[name]:
                if predecessor not in queued:
                    queued.add(predecessor)
                    heapq.heappush(pending, -predecessor)
    after: dict[int, Live] = {}
    for name, body in blocks.items():
        live = out(name)
        for decoded in reversed(body):
            after[decoded.index] = live
            live = before(decoded, live)
    return entry, after
