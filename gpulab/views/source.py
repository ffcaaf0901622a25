"""Profile by line: the source with the cost of each line in the margin, and the difference of two runs.

`source` makes the instrument of a profiled launch, or of two whose lines are matched by their text. What can be chosen
are the amounts of `records.LineCost` (`MEASURES`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from gpulab.records import Launch
from gpulab.views import palette, profiles
from gpulab.views.instrument import Instrument
from gpulab.views.listing import (
    Pair,
    Place,
    accesses_by_instruction,
    aligned,
    cut,
    label,
    place,
    same_source,
    source_lines,
)
from gpulab.views.table import Cell, Table, number, short

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_INSTRUCTIONS = 1000
"""Instructions of a side that the browser gets; of more the most executed ones."""
_STATIC_ROWS = 40


class Measure(NamedTuple):
    """An amount that lines have: its title, the field of `LineCost`, and what it says."""

    title: str
    field: str
    meaning: str


MEASURES = (
    Measure("wave instructions", "instructions", "Instructions that waves executed: one counts for all its lanes."),
    Measure("stall clocks", "stall_clocks", "Clocks for which waves stood still here until memory had answered, added "
            "up over all waves; at the closing brace, for the last stores. Modelled. Other waves can work meanwhile."),
    Measure("bytes", "requested_bytes", "Bytes that active lanes asked for."),
    Measure("cache lines", "cache_lines", "Cache lines that had to be looked up: few for the bytes asked for is good."),
    Measure("LDS clocks", "lds_cycles", "Clocks for which LDS was busy with this line's accesses."),
    Measure("conflicts", "conflict_cycles", "Those of the LDS clocks that bank conflicts cost."),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Side:
    """One launch: the amounts of its lines by measure title, and its instructions by line."""

    launch: Launch
    name: str
    lines: Mapping[Place, Mapping[str, float]]
    parts: Mapping[Place, list[tuple[str, dict[str, float]]]]
    left_out: int

    def total(self, title: str) -> float:
        return sum(amounts[title] for amounts in self.lines.values())


def _side(launch: Launch, name: str) -> _Side:
    lines = {
        place(cost.where): {measure.title: _whole(getattr(cost, measure.field)) for measure in MEASURES}
        for cost in launch.lines
    }
    accesses = accesses_by_instruction(launch)
    order = sorted(range(len(launch.instructions)), key=lambda at: -launch.instructions[at].executed)
    kept = sorted(order[:MOST_INSTRUCTIONS])
    parts: dict[Place, list[tuple[str, dict[str, float]]]] = {}
    for at in kept:
        cost = launch.instructions[at]
        if cost.where is None:
            continue
        access = accesses.get(at)
        amounts: dict[str, float] = {"wave instructions": cost.executed, "stall clocks": _whole(cost.stall_clocks)}
        if access is not None:
            amounts |= {"bytes": access.requested_bytes, "cache lines": access.lines}
            amounts |= {"LDS clocks": access.bank_cycles, "conflicts": access.conflict_cycles}
        parts.setdefault(place(cost.where), []).append((cost.text, {k: v for k, v in amounts.items() if v}))
    return _Side(launch, name, lines, parts, len(order) - len(kept))


def _whole(value: float) -> float:
    return value if isinstance(value, int) else round(value)


def source(launch: Launch, by: str | None = None, beside: Launch | None = None) -> Instrument:
    """The source of a launch with heat in the margin.

    Args:
        launch: a profiled one; with `beside` it is "before".
        by: what the heat shows at first, one of the titles of `MEASURES`; wave instructions if None.
        beside: a launch to compare with, "after": of the same kernel or a changed one. Lines are matched by their text.

    Raises:
        ValueError: there is no such measure.
    """
    titles = [measure.title for measure in MEASURES]
    by = by or titles[0]
    if by not in titles:
        raise ValueError(f"there is no column {by!r}; the columns are {', '.join(titles)}")
    launches = [launch] if beside is None else [launch, beside]
    names = [f"{each.kernel} on {each.arch}" for each in launches]
    if beside is not None:
        names = ["before", "after"] if launch.arch == beside.arch else [launch.arch, beside.arch]
    sides = [_side(each, name) for each, name in zip(launches, names, strict=True)]
    used = [m for m in MEASURES if m.title == by or any(side.total(m.title) for side in sides)]
    listed = [source_lines(each.sources, (cost.where for cost in each.lines)) for each in launches]
    if beside is None:
        pairs: list[Pair] = [(where, None) for where in listed[0][0]]
    elif dict(launch.sources) == dict(beside.sources) and launch.sources:
        pairs = same_source(listed[0][0], listed[1][0])
    else:
        pairs = aligned(listed[0][0], listed[1][0])
    several = len({where.file for pair in pairs for where in pair if where is not None}) > 1
    heading = f"{launch.kernel}: cost by source line"
    if beside is not None and launch.arch == beside.arch:
        title = f"{heading}, before and after ({launch.arch})"
    else:
        title = f"{heading} ({' and '.join(dict.fromkeys(each.arch for each in launches))})"
    words = _words(sides, pairs, by, several)
    missing = listed[0][1] + (listed[1][1] if beside is not None else 0)
    table = _table(sides, pairs, used, by, several, missing)
    return Instrument(
        name="source",
        title=title,
        sentence=words,
        table=table,
        data=_data(sides, pairs, used, by, several, missing),
        figure=lambda: _figure(sides, pairs, by, title, several),
    )


def _amount(sides: Sequence[_Side], pair: Pair, at: int, title: str) -> float | None:
    """The amount of one side's line; None if the side has no such line or it costs nothing."""
    where = pair[at]
    amounts = None if where is None else sides[at].lines.get(place(where))
    return None if amounts is None else amounts[title]


def _difference(sides: Sequence[_Side], pair: Pair, title: str) -> float:
    return (_amount(sides, pair, 1, title) or 0) - (_amount(sides, pair, 0, title) or 0)


def _line(sides: Sequence[_Side], pair: Pair, several: bool) -> str:
    """A pair's line number: "7", of two sides also "7 → 9" where it moved, "7 → –" where it is gone."""
    names = [label(where, several) if where is not None else "–" for where in pair[: len(sides)]]
    return " → ".join(dict.fromkeys(names))


def _text(pair: Pair) -> str:
    where = pair[0] if pair[0] is not None else pair[1]
    return "" if where is None else where.text


def _quoted(pair: Pair) -> str:
    text = _text(pair).strip()
    return f"“{short(text, 60)}”"


def _words(sides: Sequence[_Side], pairs: Sequence[Pair], by: str, several: bool) -> str:
    if not any(side.lines for side in sides):
        return "The device gives no cost by line: only virtual devices count by instruction."
    modelled = " Stall clocks are modelled." if by == "stall clocks" else ""
    if len(sides) == 1:
        total = sides[0].total(by)
        if not total:
            return f"No line of {sides[0].launch.kernel} has any {by}."
        worst = max(pairs, key=lambda pair: _amount(sides, pair, 0, by) or 0)
        most = _amount(sides, worst, 0, by) or 0
        return (
            f"Line {_line(sides, worst, several)} has the most {by}: {number(most)} of {number(total)} "
            f"({100 * most / total:.0f} %). It reads {_quoted(worst)}.{modelled}"
        )
    before, after = sides[0].total(by), sides[1].total(by)
    said = f"{by[0].upper()}{by[1:]}: {number(before)} {_role(sides[0])}, {number(after)} {_role(sides[1])}"
    said += f" ({_signed(100 * (after - before) / before)} %)." if before else "."
    worst = max(pairs, key=lambda pair: abs(_difference(sides, pair, by)))
    change = _difference(sides, worst, by)
    if not change:
        return f"{said} No line differs.{modelled}"
    at = _line(sides, worst, several)
    for side, where, other in zip(sides, worst, worst[::-1], strict=True):
        if where is not None and other is None:
            at = f"{label(where, several)}, which is there only {_role(side)}"
    return f"{said} The largest change is at line {at}: {_signed(change)}, {_quoted(worst)}.{modelled}"


def _role(side: _Side) -> str:
    return side.name if side.name in ("before", "after") else f"on {side.name}"


def _signed(value: float) -> str:
    shown = number(abs(value) if abs(value) >= 1000 or float(value).is_integer() else round(abs(value), 1))
    return ("+" if value > 0 else "−" if value < 0 else "±") + shown


def _table(
    sides: Sequence[_Side], pairs: Sequence[Pair], used: Sequence[Measure], by: str, several: bool, missing: int
) -> Table:
    """One row per line that costs something; of two launches one per line and amount that differs or is chosen."""
    rows: list[tuple[Cell, ...]] = []
    equal = 0
    if len(sides) == 1:
        columns: tuple[str, ...] = ("line", "source", *(measure.title for measure in used))
        for pair in pairs:
            if _amount(sides, pair, 0, by) is not None:
                amounts = [_cell(_amount(sides, pair, 0, measure.title)) for measure in used]
                rows.append((_line(sides, pair, several), _text(pair).strip(), *amounts))
    else:
        columns = ("line", "source", "amount", *(_role(side) for side in sides), "difference")
        for pair in pairs:
            for measure in used:
                one, other = (_amount(sides, pair, at, measure.title) for at in (0, 1))
                if (one or 0) != (other or 0) or (measure.title == by and one is not None):
                    change = _signed(_difference(sides, pair, measure.title))
                    text = _text(pair).strip()
                    rows.append((_line(sides, pair, several), text, measure.title, _cell(one), _cell(other), change))
                elif one:
                    equal += 1
    said = dict.fromkeys(filter(None, (profiles.note(side.launch) for side in sides)))
    if any(measure.title == "stall clocks" for measure in used):
        said["Stall clocks are modelled."] = None
    if equal:
        said[f"{equal:,} amounts that are the same on both sides are left out."] = None
    if missing:
        said[f"{missing:,} lines of source are left out."] = None
    return Table(columns, tuple(rows), " ".join(said) if rows else "The device gives no cost by line.")


def _cell(value: float | None) -> Cell:
    return "–" if value is None else int(value)


def _data(
    sides: Sequence[_Side], pairs: Sequence[Pair], used: Sequence[Measure], by: str, several: bool, missing: int
) -> dict[str, Any]:
    rows = []
    for pair in pairs:
        amounts: list[dict[str, float] | None] = []
        parts = []
        for at, side in enumerate(sides):
            where = pair[at]
            key = None if where is None else place(where)
            known = side.lines.get(key) if key is not None else None
            amounts.append(None if known is None else {m.title: known[m.title] for m in used if known[m.title]})
            own = side.parts.get(key, []) if key is not None else []
            parts += [{"text": cut(text), "side": at, "amounts": found} for text, found in own]
        mark = ""
        if len(sides) == 2:
            mark = "−" if pair[1] is None else "+" if pair[0] is None else ""
        rows.append(
            {
                "line": _line(sides, pair, several),
                "text": cut(_text(pair)), "mark": mark, "amounts": amounts, "parts": parts,
            }
        )  # fmt: skip
    notes = [f"{missing:,} lines of source are left out."] if missing else []
    left_out = sum(side.left_out for side in sides)
    if left_out:
        notes.append(f"{left_out:,} instructions, the least executed ones, are left out.")
    notes += dict.fromkeys(filter(None, (profiles.note(side.launch) for side in sides)))
    return {
        "by": by,
        "measures": [{"title": m.title, "meaning": m.meaning} for m in used],
        "sides": [side.name for side in sides],
        "totals": [{m.title: side.total(m.title) for m in used} for side in sides],
        "rows": rows,
        "note": " ".join(notes),
    }


def _figure(sides: Sequence[_Side], pairs: Sequence[Pair], by: str, title: str, several: bool) -> Figure:
    """The costly lines in the order of the source, each with a bar and its number."""
    costly = [p for p in pairs if any(_amount(sides, p, at, by) for at in range(len(sides)))]
    dropped = len(costly) - _STATIC_ROWS
    if dropped > 0:
        ranked = sorted(costly, key=lambda p: -max(_amount(sides, p, at, by) or 0 for at in range(len(sides))))
        chosen = {id(pair) for pair in ranked[:_STATIC_ROWS]}
        costly = [pair for pair in costly if id(pair) in chosen]
    figure = palette.figure(8.6, 1.2 + (0.3 if len(sides) == 1 else 0.42) * max(len(costly), 1))
    axes = figure.add_subplot()
    most = max((_amount(sides, p, at, by) or 0 for p in costly for at in range(len(sides))), default=0) or 1
    thick = 0.8 / len(sides)
    for at, side in enumerate(sides):
        lengths = [_amount(sides, pair, at, by) or 0 for pair in costly]
        places = [row + (at - (len(sides) - 1) / 2) * thick for row in range(len(costly))]
        colours = [palette.heat(length / most) for length in lengths] if len(sides) == 1 else palette.CATEGORIES[at]
        hatch = palette.HATCHES[at] if len(sides) > 1 else ""
        axes.barh(places, lengths, thick, color=colours, hatch=hatch, edgecolor="white", label=side.name)
        for where, length in zip(places, lengths, strict=True):
            axes.text(length, where, f" {number(int(length))}", va="center", fontsize=8 if len(sides) == 1 else 7)
    names = []
    for pair in costly:
        text = _text(pair).strip()
        names.append(palette.plain(f"{_line(sides, pair, several)}  {short(text, 52)}"))
    axes.set_yticks(range(len(costly)), names, fontsize=8, family="monospace")
    axes.invert_yaxis()
    axes.set_xlim(0, most * 1.18)
    axes.set_xlabel(by + (f" ({dropped} lines with less are not shown)" if dropped > 0 else ""))
    axes.spines[["top", "right"]].set_visible(False)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.locator_params(axis="x", nbins=6)
    figure.suptitle(palette.plain(title), fontsize=11)
    if len(sides) > 1:
        axes.legend(fontsize=8, loc="lower right", bbox_to_anchor=(1, 1), ncols=2, borderaxespad=0)
    return figure
