"""Coalescing: which cache lines the lanes of one memory instruction need, and how much of them they use.

`coalescing` makes the instrument of a profiled launch; `pattern` says in words how the addresses of a wave lie,
`lines_of` which lines they touch. The rule of lines is that of docs/counters.md; the addresses are the launch's samples
(`records.AccessSample`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpulab.records import AccessCost, AccessSample, Launch
from gpulab.views import palette
from gpulab.views.instrument import Instrument
from gpulab.views.table import Cell, Table, one_line

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST = 100
"""Instructions in the chooser and the table; of what is longer the best are left out."""
_ROWS = (2, 4, 8, 16, 32)
_NEIGHBOURS = "Let neighbouring lanes use neighbouring elements: then a line serves many of them."
_TOWARDS = {"load": "of", "store": "to", "atomic": "on"}


@dataclass(frozen=True, slots=True)
class Line:
    """A cache line that a wave touches: its first address, bytes asked for as [from, to) within it, and by whom."""

    address: int
    spans: tuple[tuple[int, int], ...]
    lanes: tuple[int, ...]

    @property
    def used(self) -> int:
        """Different bytes that lanes asked for."""
        return sum(to - begin for begin, to in self.spans)


def lines_of(addresses: Sequence[int | None], bytes: int, line_bytes: int) -> tuple[Line, ...]:
    """The cache lines that lanes need, by address.

    Args:
        addresses: by lane; None for lanes that are not active.
        bytes: of one lane.
    """
    spans: dict[int, list[tuple[int, int]]] = {}
    lanes: dict[int, list[int]] = {}
    for lane, address in enumerate(addresses):
        if address is None:
            continue
        for number in range(address // line_bytes, (address + bytes - 1) // line_bytes + 1):
            start = number * line_bytes
            span = max(address - start, 0), min(address + bytes - start, line_bytes)
            spans.setdefault(number, []).append(span)
            lanes.setdefault(number, []).append(lane)
    return tuple(
        Line(number * line_bytes, tuple(_merged(spans[number])), tuple(lanes[number])) for number in sorted(spans)
    )


def _merged(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for begin, to in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1] = found[-1][0], max(to, found[-1][1])
        else:
            found.append((begin, to))
    return found


def pattern(addresses: Sequence[int | None], bytes: int, line_bytes: int) -> tuple[str, str]:
    """How the addresses of a wave lie, in words, and what a learner can make of it.

    Args:
        addresses: by lane; None for lanes that are not active. bytes: of one lane.
    """
    known = [(lane, address) for lane, address in enumerate(addresses) if address is not None]
    if not known:
        return "no lane was active", ""
    if len(known) == 1:
        return "one lane alone", "A line has to come for a single lane. That is fine where it happens seldom."
    found = lines_of(addresses, bytes, line_bytes)
    lowest = min(address for _, address in known)
    fewest = -(-sum(line.used for line in found) // line_bytes)
    stretch = -(-(max(address for _, address in known) + bytes - lowest) // line_bytes)
    if len({address for _, address in known}) == 1:
        return "all lanes the same address", "One request serves all lanes. A scalar load could do it as well."
    (lane, first), (other, second) = known[:2]
    stride, rest = divmod(second - first, other - lane)
    if rest == 0 and all(address - first == stride * (at - lane) for at, address in known):
        aligned = lowest % min(line_bytes, bytes * len(known)) == 0
        return _strided(stride, lowest, bytes, line_bytes, len(found), stretch, aligned)
    rows = _rows(known)
    if rows is not None:
        return _in_rows(*rows, bytes, len(found), fewest)
    places = sorted({address for _, address in known})
    if all(b - a == bytes for a, b in itertools.pairwise(places)):
        off = _misaligned(lowest, line_bytes, len(found), fewest)
        return f"one stretch of bytes, lanes in another order{off}", "The order of lanes within a line costs nothing."
    each = "every lane needs a line of its own" if len(found) >= len(known) else f"{len(found)} lines"
    return f"scattered: {each}", "Neighbouring lanes ask for bytes far apart. Can the data or the work be reordered?"


def _misaligned(first: int, line_bytes: int, lines: int, fewest: int) -> str:
    if lines == fewest:
        return ""
    return f", misaligned by {first % line_bytes} bytes: {lines} lines instead of {fewest}"


def _strided(
    stride: int, lowest: int, bytes: int, line_bytes: int, lines: int, fewest: int, aligned: bool
) -> tuple[str, str]:
    if abs(stride) == bytes:
        back = " backwards" if stride < 0 else ""
        off = _misaligned(lowest, line_bytes, lines, fewest)
        if off:
            return (
                f"consecutive{back}{off}",
                "Start the row at a multiple of the line's size (pad its length) if you can.",
            )
        return f"consecutive{back}{', aligned' * aligned}", "As good as it gets: every byte of the lines is used."
    if abs(stride) < bytes:
        return f"stride of {stride:,} bytes: lanes overlap", "Neighbouring lanes ask for some of the same bytes."
    if abs(stride) >= line_bytes:
        return f"stride of {stride:,} bytes: every lane needs a line of its own", _NEIGHBOURS
    return f"stride of {stride:,} bytes: {bytes} of every {abs(stride)} bytes are used", _NEIGHBOURS


def _rows(known: Sequence[tuple[int, int]]) -> tuple[int, int, int] | None:
    """(lanes in a row, bytes from lane to lane, bytes from row to row) if addresses lie in equal rows of lanes."""
    at = dict(known)
    for width in _ROWS:
        step = next(((at[lane + 1] - at[lane]) for lane in at if lane % width < width - 1 and lane + 1 in at), None)
        jump = next(((at[lane + width] - at[lane]) for lane in at if lane + width in at), None)
        if step is None or jump is None:
            continue
        start = known[0][1] - known[0][0] % width * step - known[0][0] // width * jump
        if all(address == start + lane % width * step + lane // width * jump for lane, address in known):
            return width, step, jump
    return None


def _in_rows(width: int, step: int, jump: int, bytes: int, lines: int, fewest: int) -> tuple[str, str]:
    fine = "Nothing is wasted." if lines <= fewest else "Each row begins new lines: longer rows would use more of them."
    if step == 0:
        return f"groups of {width} lanes share an address, {jump:,} bytes apart", fine
    if jump == 0:
        return f"every {width} lanes ask for the same {width} places", fine
    if step == bytes:
        return f"rows of {width} consecutive lanes, {jump:,} bytes apart", fine
    return f"rows of {width} lanes with a stride of {step:,} bytes; rows are {jump:,} bytes apart", _NEIGHBOURS


def coalescing(launch: Launch) -> Instrument:
    """Lanes, cache lines and the bytes used of each vector memory instruction of a profiled launch.

    Instructions stand in the order of cache lines per byte asked for, the worst first; after them those that need no
    fewer lines whatever their addresses are, e.g. because a single lane is active.
    """
    title = f"Lanes and cache lines: {launch.kernel} ({launch.arch})"
    vector = [a for a in launch.accesses if a.space not in ("lds", "scalar") and a.executed and _samples(a)]
    costs = sorted(vector, key=lambda a: (not _avoidable(a), -a.lines / max(a.requested_bytes, 1), -a.lines))[:MOST]
    if not costs:
        said = (
            "This kernel did no vector memory access."
            if launch.accesses or launch.instructions
            else "No addresses are recorded of this launch. Virtual devices keep them inside gpulab.profile()."
        )
        return Instrument("coalescing", title, said, Table(("line", "instruction"), ()), {"instructions": []})
    table = _table(costs, len(vector) - len(costs), launch)
    return Instrument(
        "coalescing",
        title,
        _sentence(costs, len(vector)),
        table,
        {"instructions": [_summary(cost) for cost in costs], "view": _view(costs[0], 0, launch)},
        lambda: _figure(costs[0], launch),
        lambda question: _answer(costs, launch, question),
    )


def _samples(cost: AccessCost) -> tuple[AccessSample, ...]:
    """The samples that went to cache lines."""
    return tuple(s for s in cost.samples if s.space != "lds" and s.exec_mask)


def _avoidable(cost: AccessCost) -> bool:
    """Whether other addresses could do with fewer lines: there are more than one an execution, and than bytes fill."""
    return cost.lines > max(cost.executed, -(-cost.requested_bytes // cost.line_bytes))


def _percent(asked: int, moved: int) -> float:
    return min(100.0, 100.0 * asked / moved) if moved else 0.0


def _said(percent: float) -> str:
    return f"{percent:.3g} %"


def _summary(cost: AccessCost) -> dict[str, Any]:
    moved = cost.lines * cost.line_bytes
    sample = _samples(cost)[0]
    return {
        "line": cost.where.line if cost.where else 0,
        "source": one_line(cost.where.text) if cost.where else "",
        "text": one_line(cost.instruction),
        "action": _what(cost),
        "asked": cost.requested_bytes,
        "moved": moved,
        "percent": _percent(cost.requested_bytes, moved),
        "share": _said(_percent(cost.requested_bytes, moved)),
        "words": pattern(sample.addresses, sample.bytes, cost.line_bytes)[0],
    }


def _what(cost: AccessCost) -> str:
    """What an instruction does to what: "load of x"."""
    names = list(dict.fromkeys(memory.name for memory in _samples(cost)[0].memory)) or [f"{cost.space} memory"]
    quoted = [name if " " in name else f"‘{one_line(name)}’" for name in names[:2]]
    return f"{cost.action} {_TOWARDS[cost.action]} {' and '.join(quoted)}"


def _table(costs: Sequence[AccessCost], left_out: int, launch: Launch) -> Table:
    columns = (
        "line", "access", "instruction", "executed", "bytes asked for", "lines", "bytes moved", "used %",
        "addresses of the worst wave",
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for cost in costs:
        found = _summary(cost)
        rows.append((
            found["line"] or "–", found["action"], found["text"], cost.executed, found["asked"], cost.lines,
            found["moved"], float(found["percent"]), found["words"],
        ))  # fmt: skip
    note = f"Bytes moved: whole cache lines of {costs[0].line_bytes} bytes, as the first cache looks them up."
    if left_out:
        note += f" {left_out:,} instructions that use their lines better are left out."
    if launch.sampled:
        seen, there = launch.sampled
        note += f" Addresses were looked at in {seen:,} of {there:,} workgroups; sums are scaled up."
    return Table(columns, tuple(rows), note)


def _sentence(costs: Sequence[AccessCost], count: int) -> str:
    worst = _summary(costs[0])
    where = f"{worst['action']} in line {worst['line']}" if worst["line"] else f"{worst['action']} ({worst['text']})"
    only = count == 1
    asked, moved = sum(c.requested_bytes for c in costs), sum(c.lines * c.line_bytes for c in costs)
    text = (
        f"The only vector memory instruction is the {where}: "
        if only
        else f"Of {count:,} vector memory instructions, the {where} uses its cache lines worst: "
        if _avoidable(costs[0])
        else f"None of {count:,} vector memory instructions needs more cache lines than it must. The {where}: "
    )
    text += (
        f"{worst['words']}. Its lanes asked for {worst['asked']:,} bytes, and lines of {worst['moved']:,} bytes were "
        f"moved: {_said(worst['percent'])} used."
    )
    return text if only else f"{text} All instructions together: {_said(_percent(asked, moved))}."


class _Places:
    """Addresses in words: "x + 128", or a number where it is not known whose they are."""

    def __init__(self, sample: AccessSample) -> None:
        self.sample = sample

    def __call__(self, address: int) -> str:
        for memory in self.sample.memory:
            if memory.address <= address < memory.address + memory.size:
                return f"{memory.name} + {address - memory.address:,}"
            if -4096 < address - memory.address < 0:
                return f"{memory.name} − {memory.address - address:,}"
        if self.sample.space == "scratch":
            return f"scratch {address:#x}"
        return f"{address:#x}"


def _view(cost: AccessCost, which: int, launch: Launch) -> dict[str, Any]:
    """What the browser draws of one sample of an instruction."""
    samples = _samples(cost)
    sample = samples[which]
    places = _Places(sample)
    found = lines_of(sample.addresses, sample.bytes, cost.line_bytes)
    number = {line.address: n for n, line in enumerate(found)}
    words, advice = pattern(sample.addresses, sample.bytes, cost.line_bytes)
    asked = sum(a is not None for a in sample.addresses) * sample.bytes
    moved = len(found) * cost.line_bytes

    def of_lane(address: int) -> dict[str, Any]:
        first = address // cost.line_bytes * cost.line_bytes
        last = (address + sample.bytes - 1) // cost.line_bytes * cost.line_bytes
        return {
            "at": places(address),
            "lines": sorted({number[first], number[last]}),
            "from": address - first,
        }

    return {
        "sample": which,
        "samples": [_who(s, launch) for s in samples],
        "words": words,
        "advice": advice,
        "bytes": sample.bytes,
        "line_bytes": cost.line_bytes,
        "asked": asked,
        "moved": moved,
        "used": sum(line.used for line in found),
        "share": _said(_percent(asked, moved)),
        "lanes": [None if address is None else of_lane(address) for address in sample.addresses],
        "lines": [
            {"at": places(line.address), "spans": line.spans, "used": line.used, "lanes": line.lanes} for line in found
        ],
    }


def _who(sample: AccessSample, launch: Launch) -> str:
    group = ", ".join(
        str(part) for part in sample.workgroup[: 1 + max(n for n in range(3) if n == 0 or launch.grid[n] > 1)]
    )
    return f"the {sample.kind}: block ({group}), wave {sample.wave}"


def _answer(costs: Sequence[AccessCost], launch: Launch, question: Mapping[str, Any]) -> dict[str, Any]:
    """{"instruction": place in the list, "sample": place in its samples}: what `_view` gives.

    Raises:
        ValueError: there is no such instruction or sample.
    """
    which, sample = int(question["instruction"]), int(question.get("sample", 0))
    if not 0 <= which < len(costs) or not 0 <= sample < len(_samples(costs[which])):
        raise ValueError(f"there is no instruction {which} with a sample {sample}")
    return _view(costs[which], sample, launch)


def _links(view: Mapping[str, Any]) -> Iterator[tuple[int, int, float]]:
    """(lane, line, byte of the line where the lane's own begin) for each line that a lane needs."""
    for lane, one in enumerate(view["lanes"]):
        if one is not None:
            for place, line in enumerate(one["lines"]):
                yield lane, line, 0 if place else one["from"]


def _figure(cost: AccessCost, launch: Launch) -> Figure:
    view = _view(cost, 0, launch)
    lanes, lines, size = view["lanes"], view["lines"], view["line_bytes"]
    drawn = palette.figure(8.6, 3.6)
    axes = drawn.subplots()
    wide = min(100 / len(lines), 22)
    left = 50 - wide * len(lines) / 2
    cell = 100 / len(lanes)
    for lane, one in enumerate(lanes):
        axes.add_patch(_box(lane * cell, 10, cell, 1.2, palette.BLUE if one else "#ECECEC", "" if one else "xxx"))
        if lane % 8 == 0 or lane == len(lanes) - 1:
            axes.text((lane + 0.5) * cell, 11.5, str(lane), ha="center", va="bottom", fontsize=8)
    for lane, line, _ in _links(view):
        axes.plot([(lane + 0.5) * cell, left + (line + 0.5) * wide], [10, 6.2], color=palette.BLUE, lw=0.6, alpha=0.6)
    for n, line in enumerate(lines):
        axes.add_patch(_box(left + n * wide, 0, wide * 0.92, 6, "#FFFFFF", ""))
        for begin, to in line["spans"]:
            axes.add_patch(
                _box(left + n * wide, 6 - 6 * to / size, wide * 0.92, 6 * (to - begin) / size, palette.BLUE, "")
            )
        if len(lines) <= 8 or n in (0, len(lines) - 1):
            axes.text(left + (n + 0.46) * wide, -0.4, palette.plain(line["at"]), ha="center", va="top", fontsize=7.5)
    axes.text(-1, 10.6, "lanes", ha="right", va="center", fontsize=9)
    axes.text(
        -1, 3, f"{len(lines)} cache\nline{'s'[: len(lines) > 1]} of\n{size} bytes", ha="right", va="center", fontsize=9
    )
    axes.set_xlim(-13, 103)
    axes.set_ylim(-2.2, 13)
    axes.axis("off")
    where = f"line {cost.where.line}: " if cost.where else ""
    axes.set_title(
        palette.plain(f"{where}{view['words']}\n") + f"asked for {view['asked']:,} bytes, moved {view['moved']:,} "
        "(white: moved, but not asked for; hatched: lane not active)",
        fontsize=10,
    )
    return drawn


def _box(x: float, y: float, width: float, height: float, colour: str, hatch: str) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((x, y), width, height, facecolor=colour, edgecolor="#545454", linewidth=0.5, hatch=hatch)
