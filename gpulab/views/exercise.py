"""Exercise view: the failing case of a check drawn: which elements are wrong, what stands there, and who wrote it.

`failing` makes the instrument from a `records.FailedCase`, which a verdict carries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpulab.views import palette
from gpulab.views.instrument import Instrument
from gpulab.views.table import Cell, Table, short

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gpulab.records import Access, ArrayElement, FailedArray, FailedCase, Writer

SIGNS = {"right": "✓", "wrong": "✗", "never written": "–", "written outside": "!", "read outside": "?", "given": ""}
"""One for each state of an element; colour and hatch stand beside it."""

MOST_ROWS = 64
"""Rows of the table."""

UNFOLDED = 8
"""Rows of a table that is not folded, at most."""


def coordinates(place: tuple[int, int, int] | None) -> str:
    """5 for (5, 0, 0), (5, 2) for (5, 2, 0)."""
    if place is None:
        return "?"
    if place[1:] == (0, 0):
        return str(place[0])
    return "(" + ", ".join(map(str, place if place[2] else place[:2])) + ")"


def name_of(array: FailedArray, index: int) -> str:
    """How a person names an element: "y[5]", of an image "out[7] (row 1, column 2)"."""
    if len(array.shape) == 2 and 0 <= index < array.shape[0] * array.shape[1]:
        return f"{array.name}[{index}] (row {index // array.shape[1]}, column {index % array.shape[1]})"
    return f"{array.name}[{index}]"


def inputs_words(inputs: tuple[tuple[str, str], ...]) -> str:
    """ "x[5] = 3, y[5] before = 7" for names and values; "" for none."""
    return ", ".join(f"{name} = {value}" if value else name for name, value in inputs)


def who(writer: Writer) -> str:
    """ "thread 3 of block 1 (wave 0, lane 3)"."""
    text = f"thread {coordinates(writer.thread)} of block {coordinates(writer.workgroup)}"
    if writer.wave is None:
        return text
    lane = "" if writer.lane is None else f", lane {writer.lane}"
    return f"{text} (wave {writer.wave}{lane})"


def _at(one: Writer | Access) -> str:
    if one.where is None:
        return f"{one.instruction} (of no single source line)"
    text = one.where.text.strip()
    return f"line {one.where.line}" + (f", “{text}”" if text else "")


def _same_thread(one: Writer, other: Writer) -> bool:
    return (one.workgroup, one.thread) == (other.workgroup, other.thread)


def story(array: FailedArray, element: ArrayElement, stopped: bool = False) -> list[str]:
    """An element in sentences: what should be there, what is, who wrote it, and whose it is.

    Args:
        stopped: the checked launch, which saw the writers, did not run to its end.
    """
    name = name_of(array, element.index)
    writer, owner = element.writer, element.owner
    size = 1
    for extent in array.shape:
        size *= extent
    if element.state == "given":
        return [f"{name} is {element.found}: an input."]
    if element.state in ("written outside", "read outside"):
        end = f"{array.name} ends at {array.name}[{size - 1}]" if size else f"{array.name} has no elements"
        end = f"{array.name} begins at {array.name}[0]" if element.index < 0 else end
        lines = [f"{name} does not exist: {end}."]
        done = "read" if element.state == "read outside" else "wrote"
        if writer is not None:
            lines.append(f"{who(writer).capitalize()} {done} there, in {_at(writer)}.")
        if element.found:
            lines.append(f"It left {element.found} there, in memory that belongs to something else.")
        return lines
    if element.state == "right":
        lines = [f"{name} is {element.found}, as it should be."]
    elif element.state == "never written":
        lines = [f"{name} should be {element.expected}, but it was not changed: it is as it was before the launch."]
    else:
        lines = [f"{name} should be {element.expected}, but is {element.found}."]
    if element.inputs:
        lines.append(f"Its inputs: {inputs_words(element.inputs)}.")
    if writer is not None:
        lines.append(f"{who(writer).capitalize()} wrote it last, in {_at(writer)}.")
        if stopped and element.state != "right":
            lines.append("The checked launch was stopped: others may write there after that.")
        if owner is not None and not _same_thread(writer, owner):
            lines.append(f"By the exercise it belongs to {who(owner)}.")
        elif owner is not None and element.state == "wrong" and not stopped:
            lines.append("That is the right thread for it, so look at the value that it computes.")
    elif owner is not None and element.state != "right":
        lines.append(f"By the exercise it belongs to {who(owner)}.")
        if element.state == "wrong":
            lines.append("Who wrote it was not seen: the checked launch was stopped before, or the value was there.")
    elif owner is not None:
        lines.append(f"By the exercise it belongs to {who(owner)}.")
    return lines


def _first(array: FailedArray) -> ArrayElement | None:
    """The element to look at first: one that a thread wrote that it does not belong to, a wrong one, one outside."""
    wrong = [element for element in array.elements if element.state != "right"]
    return next(iter(_strangers(array) or wrong or array.beside or array.elements), None)


def _strangers(array: FailedArray) -> list[ArrayElement]:
    """The wrong elements of those drawn that were seen to be written by a thread that they do not belong to."""
    return [
        element
        for element in array.elements
        if element.state == "wrong"
        and element.writer is not None
        and element.owner is not None
        and not _same_thread(element.writer, element.owner)
    ]


def _shift(case: FailedCase, array: FailedArray) -> str:
    """How many elements have a wrong writer, and whether that is always the same number of threads off; "" if none."""
    found = _strangers(array)
    if not found:
        return ""
    count = "One of the wrong elements was" if len(found) == 1 else f"{len(found)} of the wrong elements were"
    said = f"{count} written by another thread than the exercise has in mind"
    steps = set()
    for element in found:
        numbers = [
            one.workgroup[0] * case.block[0] + one.thread[0]
            for one in (element.writer, element.owner)
            if one is not None and one.thread is not None and one.workgroup[1:] == one.thread[1:] == (0, 0)
        ]
        steps.add(numbers[0] - numbers[1] if len(numbers) == 2 else 0)
    if len(found) > 1 and len(steps) == 1 and 0 not in steps:
        (step,) = steps
        threads = "the thread" if abs(step) == 1 else f"the one {abs(step)} threads"
        said += f", each by {threads} {'before' if step < 0 else 'after'} its own"
    return said + "."


def _counts(array: FailedArray) -> str:
    total = array.right + array.wrong + array.never
    if array.given:
        return f"{array.name} ({total:,} element{'' if total == 1 else 's'}): an input"
    parts = []
    if array.wrong:
        parts.append(f"{array.wrong:,} wrong")
    if array.never:
        parts.append(f"{array.never:,} never written")
    if array.outside:
        parts.append(f"{array.outside:,} written outside of it")
    read = sum(element.state == "read outside" for element in array.beside)
    if read:
        parts.append("a read outside of it")
    said = ", ".join(parts) or "all right"
    return f"{array.name} ({total:,} element{'' if total == 1 else 's'}): {said}"


STOPPED = {
    "race": "a data race: nothing decides which of these comes first",
    "lane conflict": "lanes of one wave store different values to the same place at once",
    "never written": "memory is read that was never written",
    "barrier": "a barrier is not reached by all threads of the block",
    "deadlock": "threads wait for something that never comes",
    "timeout": "the kernel did not end",
    "out of bounds": "an address outside of the array",
    "null": "an address in no array at all",
}


def _stopped(case: FailedCase) -> str:
    if not case.stopped:
        return ""
    what = STOPPED.get(case.stopped, case.stopped)
    return f"A checked launch was stopped: {what}{f' ({case.place})' if case.place else ''}."


def _sides(case: FailedCase) -> list[dict[str, str]]:
    verbs = {"read": "reads", "write": "writes", "atomic": "changes (atomic)"}
    found = []
    for number, side in enumerate(case.sides):
        block = coordinates(side.workgroup)
        thread = "" if side.thread is None else f"thread {coordinates(side.thread)} of "
        found.append({
            "when": "" if len(case.sides) == 1 else ("first", "then")[min(number, 1)],
            "who": f"{thread}block {block}, wave {side.wave}",
            "does": verbs.get(side.access, "is here"), "where": _at(side),
        })  # fmt: skip
    return found


def _sentence(case: FailedCase) -> str:
    parts = ["Drawn for " + case.inputs + f", on {case.arch} (wave{case.wave_size})."]
    if case.larger:
        parts.append("It is a larger input than the report's, as more of the mistake can be seen in it.")
    judged = [array for array in case.arrays if not array.given]
    parts += [_counts(array) + "." for array in judged]
    parts.append(_stopped(case))
    parts += [_shift(case, array) for array in judged]
    for array in judged:
        first = _first(array)
        if first is not None and first.state != "right":
            parts += story(array, first, bool(case.stopped))
            break
    return " ".join(filter(None, parts))


def _table(case: FailedCase) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for array in case.arrays:
        for element in (*array.elements, *array.beside):
            if element.state in ("right", "given"):
                continue
            writer, owner = element.writer, element.owner
            rows.append((
                name_of(array, element.index), element.state, inputs_words(element.inputs) or "–",
                element.expected or "–", element.found or "–",
                who(writer) if writer else "–", _at(writer) if writer else "–", who(owner) if owner else "–",
            ))  # fmt: skip
    wrong = sum(array.wrong + array.never + max(array.outside, len(array.beside)) for array in case.arrays)
    note = ""
    if len(rows) > MOST_ROWS or wrong > len(rows):
        note = f"{wrong - min(len(rows), MOST_ROWS):,} more are not listed."
    if not rows:
        note = f"No element is wrong{': the launch was stopped for another reason' if case.stopped else ''}."
    if any(row[5] != "–" for row in rows):
        note = f"{note} By: seen in a checked launch. Belongs to: by the exercise's own mapping.".strip()
    columns: tuple[str, ...] = ("element", "state", "inputs", "expected", "found", "by", "at", "belongs to")
    if all(row[2] == "–" for row in rows):
        columns, rows = (*columns[:2], *columns[3:]), [(*row[:2], *row[3:]) for row in rows]
    summary = f"All {len(rows[:MOST_ROWS])} elements as a table" if len(rows) > UNFOLDED else ""
    return Table(columns, tuple(rows[:MOST_ROWS]), note, summary)


def _key(writer: Writer | None) -> str:
    return "" if writer is None else f"{writer.workgroup}{writer.thread}"


def _thread(writer: Writer | None) -> str:
    """A thread as it fits into a cell: "b0 t3"."""
    if writer is None:
        return ""
    return f"b{coordinates(writer.workgroup)} t{coordinates(writer.thread)}".replace(" ", "").replace("t", " t", 1)


def _cells(array: FailedArray, elements: tuple[ArrayElement, ...], stopped: bool) -> list[dict[str, Any]]:
    if array.given:
        return [
            {"index": each.index, "state": each.state, "found": each.found, "words": story(array, each)}
            for each in elements
        ]
    return [
        {
            "index": element.index, "state": element.state, "sign": SIGNS[element.state], "found": element.found,
            "expected": element.expected, "words": story(array, element, stopped), "by": _key(element.writer),
            "writer": _thread(element.writer), "owner": _thread(element.owner),
            "inputs": [name.split(" ")[0] for name, value in element.inputs if value],
        }
        for element in elements
    ]  # fmt: skip


def _part_words(array: FailedArray, number: int, counts: tuple[int, int, int]) -> str:
    first, last = number * array.part, number * array.part + sum(counts) - 1
    right, wrong, never = counts
    return f"{array.name}[{first:,}] to [{last:,}]: {right:,} right, {wrong:,} wrong, {never:,} never written"


def _drawn(array: FailedArray, stopped: bool) -> dict[str, Any]:
    two = len(array.shape) == 2
    total = array.right + array.wrong + array.never
    width = array.shape[1] if two else array.columns
    heads = [str(array.column + n) for n in range(array.columns)] if two else [f"+{n}" for n in range(array.columns)]
    rows = [str(array.row + n if two else (array.row + n) * width) for n in range(array.rows)]
    first = _first(array)
    shown = len(array.elements)
    return {
        "name": array.name, "type": f"{array.dtype}, {' × '.join(f'{extent:,}' for extent in array.shape)}",
        "counts": _counts(array), "given": array.given, "two": two, "columns": array.columns, "heads": heads,
        "rows": rows,
        "cells": _cells(array, array.elements, stopped), "beside": _cells(array, array.beside, stopped),
        "moreBeside": max(0, array.outside - len(array.beside)),
        "first": first.index if first is not None else 0,
        "overview": [
            {
                "counts": list(counts), "words": _part_words(array, number, counts),
                "drawn": any(element.index // array.part == number for element in array.elements),
            }
            for number, counts in enumerate(array.overview)
        ] if shown < total else [],
        "part": f"{array.part:,} element{'' if array.part == 1 else 's'}",
        "window": f"{shown:,} of {total:,} elements are drawn, around the first wrong one" if shown < total else "",
    }  # fmt: skip


def failing(case: FailedCase) -> Instrument:
    """The failing case of a check, drawn."""
    title = f"{case.exercise}: what {case.kernel} left in memory ({case.arch})"
    data = {
        "arrays": [{**_drawn(array, bool(case.stopped)), "shift": _shift(case, array)} for array in case.arrays],
        "stopped": _stopped(case), "sides": _sides(case),
    }  # fmt: skip
    return Instrument("exercise", title, _sentence(case), _table(case), data, lambda: _figure(case, title))


# ------------------------------------------------------------------------------------------------------- as a picture


_PAINT = {
    "right": (palette.BLUE, "", "white"), "wrong": ("#FFFFFF", "", "black"),
    "never written": ("#E4E4E4", "///", "black"),
    "written outside": ("#FFFFFF", "", "black"), "read outside": ("#FFFFFF", "", "black"),
    "given": ("#F2F2F2", "", "black"),
}  # fmt: skip


def _figure(case: FailedCase, title: str) -> Figure:
    """Each array as a grid of cells, those outside of it after a gap."""
    lines = [*(len(_layout(array)) + 1.2 for array in case.arrays), 0.7]
    figure = palette.figure(9, 0.5 + 0.36 * sum(lines) + (0.2 if case.stopped else 0))
    grid = figure.add_gridspec(len(lines), 1, height_ratios=lines)
    stopped = f"\n{short(_stopped(case), 110)}" if case.stopped else ""
    figure.suptitle(palette.plain(short(title, 110) + stopped), fontsize=10)
    for number, array in enumerate(case.arrays):
        axes = figure.add_subplot(grid[number, 0])
        layout = _layout(array)
        axes.set_xlim(-1.6, 16.2)
        axes.set_ylim(len(layout) + 0.05, -1.15)
        axes.axis("off")
        axes.text(-1.5, -0.75, palette.plain(short(_counts(array), 90)), fontsize=9, weight="bold", va="center")
        for column, head in enumerate(_drawn(array, False)["heads"] if array.elements else ()):
            axes.text(column + 0.5, -0.2, head, ha="center", va="center", fontsize=6.5)
        for row, (label, elements) in enumerate(layout):
            axes.text(-0.15, row + 0.5, label, ha="right", va="center", fontsize=7)
            for column, element in enumerate(elements):
                _draw_cell(axes, column, row, element)
    legend = figure.add_subplot(grid[len(lines) - 1, 0])
    legend.axis("off")
    given = "grey: input    " if any(array.given for array in case.arrays) else ""
    legend.text(
        0.0, 0.5, f"{given}blue: right    ✗ framed: found ≠ what it should be    hatched: never written    "
        "dashed: outside of the array, ! written, ? read", fontsize=7.5, va="center", transform=legend.transAxes,
    )  # fmt: skip
    return figure


def _layout(array: FailedArray) -> list[tuple[str, list[ArrayElement]]]:
    """Rows of the static picture: label and elements."""
    drawn = _drawn(array, False)
    rows = []
    for number in range(array.rows):
        elements = list(array.elements[number * array.columns : (number + 1) * array.columns])
        if elements:
            word = "row " if len(array.shape) == 2 else ""
            label = f"{word}{drawn['rows'][number]}" if word else f"{array.name}[{drawn['rows'][number]}]"
            rows.append((palette.plain(short(label, 14)), elements))
    for first in range(0, min(len(array.beside), 16), 8):
        rows.append(("outside" if not first else "", list(array.beside[first : first + 8])))
    return rows


def _draw_cell(axes: Any, column: int, row: int, element: ArrayElement) -> None:
    from matplotlib.patches import Rectangle

    paint, hatch, ink = _PAINT[element.state]
    edge = "#666666" if element.state in ("right", "never written", "given") else palette.VERMILLION
    outside = element.state.endswith("outside")
    axes.add_patch(
        Rectangle(
            (column + 0.04, row + 0.06), 0.92, 0.88, facecolor=paint, edgecolor=edge, hatch=hatch,
            linewidth=0.7 if edge == "#666666" else 1.8, linestyle="--" if outside else "-",
        )
    )  # fmt: skip
    sign = "" if element.state == "right" else SIGNS[element.state]
    text = f"{sign}{short(element.found, 6)}"
    if element.state in ("wrong", "never written"):
        text += f"\n≠ {short(element.expected, 6)}"
    elif outside:
        text = f"{sign}[{element.index}]"
    back = {"facecolor": paint, "edgecolor": "none", "pad": 0.8} if hatch else None  # or lines go through the text
    axes.text(
        column + 0.5, row + 0.5, palette.plain(text), ha="center", va="center", fontsize=6.2, color=ink, bbox=back
    )  # fmt: skip
