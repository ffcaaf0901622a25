"""Which registers are still needed after each instruction: `analyse` solves the dataflow over basic blocks.

Scalars are plain liveness. A vector register's lanes fall into two sets, those active now and those that are not;
an instruction under EXEC overwrites only the first. So two sets are kept: `active` holds the registers that a lane
active now may still read, `asleep` those that a lane inactive now may read once EXEC gives it back. A store of a
register at the end of a run is dead if the register is not in `active`.
"""

from __future__ import annotations

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

    pending = sorted(blocks, reverse=True)
    queued = set(pending)
    pending.reverse()
    while pending:
        name = pending.pop()
        queued.discard(name)
        live = out(name)
        for decoded in reversed(blocks[name]):
            live = before(decoded, live)
        if live != entry[name]:
            entry[name] = live
            for predecessor in predecessors[name]:
                if predecessor not in queued:
                    queued.add(predecessor)
                    pending.append(predecessor)
    after: dict[int, Live] = {}
    for name, body in blocks.items():
        live = out(name)
        for decoded in reversed(body):
            after[decoded.index] = live
            live = before(decoded, live)
    return entry, after
