"""Source text as the rows of a picture: `source_lines` puts a kernel's sources and the places of its costs together,
`aligned` lays two texts beside each other, and `accesses_by_instruction` finds what each instruction did in memory.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence

from gpulab.records import AccessCost, Launch, SourceLine
from gpulab.views.table import short

MOST_LINES = 1000
"""Rows of source that are shown; of longer ones the neighbourhood of lines that cost something."""
_AROUND = 20
_LONGEST = 160

Pair = tuple[SourceLine | None, SourceLine | None]
Place = tuple[str, int]


def place(where: SourceLine) -> Place:
    """What tells one source line from another: its file and number."""
    return where.file, where.line


def source_lines(sources: Mapping[str, str], costly: Iterable[SourceLine]) -> tuple[list[SourceLine], int]:
    """(all lines of the sources in their order, then costly lines of other files; how many were left out).

    Args:
        sources: text by file name. Empty lines before its first are there only so that numbers are right.
        costly: lines that cost something.
    """
    wanted = {place(where): where for where in costly}
    found: list[SourceLine] = []
    for file, text in sources.items():
        rows = text.rstrip().split("\n")
        start = next((number for number, row in enumerate(rows) if row.strip()), 0)
        found += [SourceLine(file, number + 1, 0, rows[number].rstrip()) for number in range(start, len(rows))]
    known = {place(where) for where in found}
    found += [SourceLine(file, line, 0, wanted[file, line].text) for file, line in sorted(set(wanted) - known)]
    if len(found) <= MOST_LINES:
        return found, 0
    near: set[int] = set()
    for at, where in enumerate(found):
        if place(where) in wanted:
            near.update(range(max(at - _AROUND, 0), min(at + _AROUND, len(found))))
    kept = sorted(near)[:MOST_LINES]
    return [found[at] for at in kept], len(found) - len(kept)


def aligned(before: Sequence[SourceLine], after: Sequence[SourceLine]) -> list[Pair]:
    """Two sources line by line: lines of equal text beside each other, in the order of both (difflib)."""
    one, other = ([where.text.strip() for where in side] for side in (before, after))
    pairs: list[Pair] = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if kind == "equal":
            pairs += zip(before[a:b], after[c:d], strict=True)
        else:
            pairs += [(where, None) for where in before[a:b]]
            pairs += [(None, where) for where in after[c:d]]
    return pairs


def same_source(before: Sequence[SourceLine], after: Sequence[SourceLine]) -> list[Pair]:
    """Pairs of lines of one and the same source, of which different parts may be shown."""
    other = {place(where): where for where in after}
    found: list[Pair] = [(where, other.pop(place(where), where)) for where in before]
    return found + [(where, where) for where in other.values()]


def cut(text: str) -> str:
    """Text of a line without what is too long to be shown."""
    return short(text, _LONGEST)


def label(where: SourceLine, several: bool) -> str:
    """A line's number, with its file if there are several or the number is not known."""
    if not where.line:
        return where.file
    return f"{where.file}:{where.line}" if several else str(where.line)


def accesses_by_instruction(launch: Launch) -> dict[int, AccessCost]:
    """The memory accesses of a launch by the place of their instruction in `Launch.instructions`."""
    found: dict[int, AccessCost] = {}
    pending = list(launch.accesses)  # in the same order, of some of the instructions
    for at, cost in enumerate(launch.instructions):
        if pending and (pending[0].where, pending[0].instruction) == (cost.where, cost.text):
            found[at] = pending.pop(0)
    return found
