"""The loops of a kernel: `ways` are the blocks that can follow each block, `natural` the loops that they form.

A loop is what leads back to a block that all ways into it pass, its head: where several branches go back to one head,
they are one loop. Compilers put the blocks of a loop in any order, its head not always first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpulab.virtual_gpu.machine.branches import successors
from gpulab.virtual_gpu.translate.decode import Decoded


def ways(blocks: Sequence[Sequence[int]], decoded: Mapping[int, Decoded], labels: Mapping[str, int]) -> list[list[int]]:
    """The blocks that can follow each block of a kernel; `labels`: the first instruction behind each."""
    starts = {block[0]: number for number, block in enumerate(blocks) if block}
    return [successors(block, decoded, labels, starts) if block else [] for block in blocks]


def natural(after: Sequence[Sequence[int]]) -> dict[int, frozenset[int]]:
    """The blocks of each loop by its head. Two of them are one in the other, or have no block in common."""
    if not any(target <= number for number, targets in enumerate(after) for target in targets):
        return {}
    before: list[list[int]] = [[] for _ in after]
    for number, targets in enumerate(after):
        for target in targets:
            before[target].append(number)
    above = _dominators(after, before)

    def passes(block: int, head: int) -> bool:
        while block != head and above[block] != block:
            block = above[block]
        return block == head

    found: dict[int, set[int]] = {}
    for number, targets in enumerate(after):
        for head in targets:
            if passes(number, head):
                inside = found.setdefault(head, {head})
                work = [number]
                while work:
                    block = work.pop()
                    if block not in inside:
                        inside.add(block)
                        work += before[block]
    return {head: frozenset(inside) for head, inside in found.items()}


def _dominators(after: Sequence[Sequence[int]], before: Sequence[Sequence[int]]) -> list[int]:
    """The next block above each that all ways to it pass; itself where a way begins: at the first block, and at those
    that nothing goes to. (Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm")"""
    roots = [block for block in range(len(after)) if block == 0 or not before[block]]
    order: list[int] = []
    seen: set[int] = set()
    for root in roots:
        if root in seen:
            continue
        seen.add(root)
        work = [(root, iter(after[root]))]
        while work:
            block, rest = work[-1]
            following = next((target for target in rest if target not in seen), None)
            if following is None:
                order.append(block)
                work.pop()
            else:
                seen.add(following)
                work.append((following, iter(after[following])))
    order.reverse()
    place = {block: n for n, block in enumerate(order)}
    top = -1  # above all roots
    above: dict[int, int] = dict.fromkeys(roots, top)
    place[top] = -1
    changed = True
    while changed:
        changed = False
        for block in order:
            if above.get(block) == top and block in roots:
                continue
            best: int | None = None
            for other in before[block]:
                if other not in above:
                    continue
                if best is None:
                    best = other
                while best != other:
                    while place[other] > place[best]:
                        other = above[other]
                    while place[best] > place[other]:
                        best = above[best]
            if best is not None and above.get(block) != best:
                above[block] = best
                changed = True
    return [block if above.get(block, top) == top else above[block] for block in range(len(after))]
