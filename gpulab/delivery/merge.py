"""A notebook in three versions is made one, cell by cell: what was copied last, the learner's, and the new release.

`merged(base, ours, theirs)` changes nothing that the learner wrote. A cell that the learner left as it was follows the
release; one that the learner edited stays, and if the release changed it too, the new version stands below it, in a
cell for reading. Cells of the learner's own stay where they are; cells that the learner removed stay away.

`pairs` finds the same cell in two versions: by its text, by nbgrader's mark, by its id, by a similar text. Ids alone do
not do between releases, as they are numbers of places.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import re
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

ALIKE = 0.6
"""Texts of which this share is the same are versions of one cell."""

NOTE = "gpulab-new-version"
"""The tag of a cell that shows the release's version of the learner's cell above it."""

Notebook = Any
Cell = Any


@dataclass(frozen=True)
class Merged:
    """The notebook, and how many cells were renewed, added and removed, and how many new versions stand below a
    learner's."""

    notebook: Notebook
    renewed: int
    added: int
    removed: int
    below: int


def content(cell: Cell) -> tuple[str, str, str]:
    """What a person writes into a cell: its kind, its text, its attachments."""
    text = str(cell.get("source", "")).replace("\r\n", "\n").rstrip()
    return str(cell.get("cell_type")), text, json.dumps(cell.get("attachments", {}), sort_keys=True)


def pairs(old: Sequence[Cell], new: Sequence[Cell], ids: bool) -> dict[int, int]:
    """Which cell of `new` is which of `old` (by place). `ids`: the same id is the same cell."""
    found: dict[int, int] = {}

    def left(cells: Sequence[Cell], taken: set[int]) -> list[int]:
        return [place for place in range(len(cells)) if place not in taken]

    def open_ones() -> tuple[list[int], list[int]]:
        return left(old, set(found)), left(new, set(found.values()))

    def by(name: Callable[[Cell], Any]) -> None:
        """Pair what has the same name, where each side has it once."""
        ours, theirs = open_ones()
        counts = [Counter(name(cells[place]) for place in places) for cells, places in ((old, ours), (new, theirs))]
        places = {name(new[place]): place for place in theirs}
        for place in ours:
            key = name(old[place])
            if key is not None and counts[0][key] == counts[1][key] == 1:
                found[place] = places[key]

    by(lambda cell: (cell.get("id"), content(cell)))
    ours, theirs = open_ones()
    rows = difflib.SequenceMatcher(
        None, [content(old[place]) for place in ours], [content(new[place]) for place in theirs], autojunk=False
    )
    for a, b, size in rows.get_matching_blocks():
        found.update({ours[a + step]: theirs[b + step] for step in range(size)})
    by(content)
    by(lambda cell: cell.get("metadata", {}).get("nbgrader", {}).get("grade_id"))
    if ids:
        by(lambda cell: cell.get("id"))
    ours, theirs = open_ones()
    alike = []
    for a in ours:
        for b in theirs:
            if old[a].get("cell_type") == new[b].get("cell_type"):
                match = difflib.SequenceMatcher(None, content(old[a])[1], content(new[b])[1], autojunk=False)
                if match.real_quick_ratio() >= ALIKE and match.quick_ratio() >= ALIKE and match.ratio() >= ALIKE:
                    alike.append((-match.ratio(), abs(a - b), a, b))
    for *_, a, b in sorted(alike):
        if a not in found and b not in found.values():
            found[a] = b
    return found


def merged(base: Notebook, ours: Notebook, theirs: Notebook, release: str) -> Merged:
    """The learner's notebook `ours` with what changed from `base` to `theirs`; `release` names it in new cells."""
    import copy

    mine: list[Cell] = [copy.deepcopy(cell) for cell in ours.cells]
    notes = {place for place, cell in enumerate(mine) if _is_note(cell)}
    places = [place for place in range(len(mine)) if place not in notes]
    kept = [mine[place] for place in places]
    to_ours = pairs(base.cells, kept, ids=True)
    to_theirs = pairs(base.cells, theirs.cells, ids=False)
    of_ours = {o: b for b, o in to_ours.items()}
    of_theirs = {t: b for b, t in to_theirs.items()}
    # A cell of the release that the learner has already, from a friend for example, is not new.
    free_ours = [o for o in range(len(kept)) if o not in of_ours]
    free_theirs = [t for t in range(len(theirs.cells)) if t not in of_theirs]
    had = {}
    for place in free_theirs:
        same = [o for o in free_ours if content(kept[o]) == content(theirs.cells[place])]
        if same:
            free_ours.remove(same[0])
            had[same[0]] = place

    renewed = removed = below = 0
    of_release: dict[int, list[Cell]] = {}  # by place in theirs
    lists: list[list[Cell]] = []  # what becomes of each of the learner's cells, the notes below it included
    anchors: list[int | None] = []
    for o, cell in enumerate(kept):
        b = of_ours.get(o)
        t: int | None = had.get(o) if b is None else to_theirs.get(b)
        new = theirs.cells[t] if t is not None else None
        after = [mine[place] for place in _run(notes, places[o])]
        if b is None and new is None:
            result = [cell, *after]
        elif new is None:
            gone = content(cell) == content(base.cells[b])
            removed += gone
            result = after if gone else [cell, *after]
        else:
            both = b is not None and content(new) not in (content(base.cells[b]), content(cell))
            if both and content(cell) == content(base.cells[b]):
                renewed += 1
                cell = _fresh(new)
            elif both:
                below += 1
                after = [_note(new, release)]
            cell.metadata = {**cell.metadata, **copy.deepcopy(new.metadata)}
            cell["id"] = new.get("id") or cell.get("id")
            result = [cell, *after]
        lists.append(result)
        anchors.append(t)
        if t is not None:
            of_release[t] = result
    first = [mine[place] for place in _run(notes, -1)]

    added = 0
    for t, cell in enumerate(theirs.cells):
        if t not in of_release and t not in of_theirs:
            added += 1
            of_release[t] = [_fresh(cell)]
    order = [b for b in (of_ours.get(o) for o in range(len(kept))) if b is not None]
    if order == sorted(order):  # the learner moved no cell: they stand as in the release
        spine = [(("t", t), of_release[t]) for t in range(len(theirs.cells)) if t in of_release]
        others = [
            (("o", o) if t is None else ("t", t), cells)
            for o, (t, cells) in enumerate(zip(anchors, lists, strict=True))
        ]
    else:
        spine = [
            (("o", o) if t is None else ("t", t), cells)
            for o, (t, cells) in enumerate(zip(anchors, lists, strict=True))
        ]
        others = [(("t", t), of_release[t]) for t in range(len(theirs.cells)) if t in of_release]
    whole = copy.deepcopy(ours)
    whole.cells = first + [cell for cells in _woven(spine, others) for cell in cells]
    _distinct(whole.cells, [cells[0] for cells in of_release.values()])
    whole.metadata = {**copy.deepcopy(theirs.metadata), **whole.metadata}
    if "gpulab" in theirs.metadata:
        whole.metadata["gpulab"] = copy.deepcopy(theirs.metadata["gpulab"])
    whole.nbformat_minor = max(whole.nbformat_minor, theirs.nbformat_minor)
    return Merged(whole, renewed, added, removed, below)


def _woven(spine: list[tuple[Any, list[Cell]]], others: list[tuple[Any, list[Cell]]]) -> list[list[Cell]]:
    """The spine, with what only `others` has after the one that it follows there."""
    names = [name for name, _ in spine]
    cells = dict(spine)
    known = set(names)
    place = 0
    for name, more in others:
        if name in known:
            place = names.index(name) + 1
        else:
            names.insert(place, name)
            cells[name] = more
            place += 1
    return [cells[name] for name in names]


def _run(places: set[int], start: int) -> list[int]:
    """The places of the set that follow a place without a gap."""
    found = []
    while start + 1 in places:
        start += 1
        found.append(start)
    return found


def _distinct(cells: Sequence[Cell], released: Sequence[Cell]) -> None:
    """Give cells that are not of the release ids that nobody else has."""
    known = {id(cell) for cell in released}
    seen = {cell.get("id") for cell in released}
    for cell in cells:
        if id(cell) not in known:
            if cell.get("id") in seen:
                cell["id"] = uuid.uuid4().hex[:8]
            seen.add(cell.get("id"))


def _fresh(cell: Cell) -> Cell:
    """A copy of a cell as it is before it is run."""
    import copy

    made = copy.deepcopy(cell)
    if made.get("cell_type") == "code":
        made["outputs"], made["execution_count"] = [], None
    return made


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _note(cell: Cell, release: str) -> Cell:
    """A cell for reading with the release's version of a cell."""
    from nbformat.v4 import new_markdown_cell

    text = str(cell.source)
    if cell.cell_type != "markdown":
        fence = "`" * max([3, *(len(run) + 1 for run in re.findall(r"`{3,}", text))])
        text = f"{fence}\n{text}\n{fence}"
    source = f"**The cell above is yours. {release} has another version of it:** (delete this cell when done)\n\n{text}"
    note = new_markdown_cell(source)
    note.metadata = {"tags": [NOTE], "gpulab": {"text": _digest(source)}}
    return note


def _is_note(cell: Cell) -> bool:
    """Is it such a cell, as it was made? One that the learner wrote in is the learner's."""
    metadata = cell.get("metadata", {})
    mark = metadata.get("gpulab")
    return (
        NOTE in metadata.get("tags", ())
        and isinstance(mark, dict)
        and mark.get("text") == _digest(cell.get("source", ""))
    )
