"""Timeline: what the streams of a run did over time, and the same as a file for Perfetto.

`timeline(activities, launches)` is an `Instrument` of the run's `Activity` records. Of very many it sends groups of
neighbours at first, and the single ones of a part of the time when somebody looks closer. `trace_events` writes the
Trace Event Format ("Trace Event Format", Google, and perfetto.dev, "Visualizing external trace formats with Perfetto").
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpulab import architectures
from gpulab.records import Activity, Launch
from gpulab.views import palette
from gpulab.views.instrument import Instrument
from gpulab.views.launches import size
from gpulab.views.placed import placed
from gpulab.views.table import Cell, Table, number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_ITEMS = 1000  # that the browser gets at a time
MOST_GROUPS = 300  # that are drawn instead of more items
MOST_ROWS = 40  # of the table
MOST_BARS = 800  # workgroups of one kernel that are drawn
UNITS_SHOWN = 8
NAME_LENGTH = 120  # characters of a name that the browser gets
COLOURS = {"kernel": 0, "host to device": 1, "device to host": 2, "fill": 3, "copy": 4, "group": 5}
"""Which colour and hatch of the palette something has."""

Row = tuple[int, int]  # device, stream


@dataclass(frozen=True, repr=False, eq=False)
class Timeline(Instrument):
    """The instrument, with its file for Perfetto: `save`."""

    activities: tuple[Activity, ...] = ()
    launches: tuple[Launch, ...] = ()

    def save(self, path: str | Path) -> Path:
        """Write the timeline as a Chrome trace (JSON), which ui.perfetto.dev and chrome://tracing open; the path."""
        target = Path(path)
        target.write_text(json.dumps(trace_events(self.activities, self.launches), indent=0), encoding="utf-8")
        return target


def timeline(activities: Sequence[Activity], launches: Sequence[Launch]) -> Timeline:
    """What the streams of a run did.

    Args:
        activities: as `Run.activities` has them. launches: of the same run.
    """
    found, kernels = tuple(activities), tuple(launches)
    rows = rows_of(found)
    names = row_names(rows)
    last = max((a.end_us for a in found), default=0.0)

    def answer(question: Mapping[str, Any]) -> dict[str, Any]:
        if "launch" in question:
            return workgroups(kernels[int(question["launch"])], int(question.get("die", 0)))
        return visible(found, rows, float(question["from"]), float(question["to"]))

    modelled = all(a.is_modelled for a in found)
    return Timeline(
        name="timeline",
        title=f"Timeline of {'one stream' if len(rows) == 1 else f'{len(rows)} streams'}"
        + ("" if modelled else " (measured)" if not any(a.is_modelled for a in found) else ""),
        sentence=sentence(found, rows),
        table=table(found, names),
        data={
            "rows": [names[row] for row in rows],
            "end": last,
            "modelled": modelled,
            "events": _events(found, rows),
            **visible(found, rows, 0.0, last),
        },
        figure=(lambda: figure(found, rows, names)) if found else None,
        answer=answer,
        activities=found,
        launches=kernels,
    )


def rows_of(activities: Sequence[Activity]) -> list[Row]:
    """The streams that did something, in the order of devices and numbers."""
    return sorted({(a.device, a.stream) for a in activities})


def row_names(rows: Sequence[Row], with_device: bool = True) -> dict[Row, str]:
    """Streams by name: "default stream", "stream 1" and so on, on each device in the order in which they were made.

    Args:
        with_device: name the device, too, if there are several.
    """
    several = with_device and len({device for device, _ in rows}) > 1
    names: dict[Row, str] = {}
    made: dict[int, int] = {}
    for device, stream in rows:
        if stream > 2:
            made[device] = made.get(device, 0) + 1
        name = {0: "default stream", 2: "per-thread stream"}.get(stream, f"stream {made.get(device, 0)}")
        names[device, stream] = f"device {device}, {name}" if several else name
    return names


def colour(activity: Activity) -> int:
    """Number of the palette."""
    return COLOURS.get(activity.name if activity.kind == "copy" else activity.kind, COLOURS["copy"])


def visible(activities: Sequence[Activity], rows: Sequence[Row], begin: float, end: float) -> dict[str, Any]:
    """What the browser draws of a part of the time: {"items": [...], "grouped": whether neighbours are one item}."""
    place = {row: k for k, row in enumerate(rows)}
    chosen = [(k, a) for k, a in enumerate(activities) if a.end_us >= begin and a.start_us <= end]
    if len(chosen) <= MOST_ITEMS:
        return {"items": [_item(k, a, place) for k, a in chosen], "grouped": False}
    by_row: dict[Row, list[Activity]] = {}
    for _, activity in chosen:
        if activity.kind not in ("event", "wait"):
            by_row.setdefault((activity.device, activity.stream), []).append(activity)
    each = -(-sum(map(len, by_row.values())) // MOST_GROUPS) or 1
    items = []
    for row, own in by_row.items():
        for first in range(0, len(own), each):
            group = own[first : first + each]
            same = len({a.name for a in group}) == 1
            name = f"{len(group)} × {group[0].name}" if same else f"{len(group)} activities"
            items.append(
                {
                    "id": -1, "row": place[row], "kind": "group", "name": name[:NAME_LENGTH],
                    "start": group[0].start_us, "end": group[-1].end_us, "bytes": sum(a.bytes for a in group),
                    "busy": sum(a.us for a in group), "count": len(group),
                    "colour": colour(group[0]) if len({colour(a) for a in group}) == 1 else COLOURS["group"],
                }
            )  # fmt: skip
    return {"items": items, "grouped": True}


def _item(number_: int, a: Activity, place: Mapping[Row, int]) -> dict[str, Any]:
    return {
        "id": number_, "row": place[a.device, a.stream], "kind": a.kind, "name": a.name[:NAME_LENGTH],
        "start": a.start_us, "end": a.end_us, "bytes": a.bytes, "launch": a.launch, "waits": a.waits_for,
        "colour": colour(a),
    }  # fmt: skip


def _events(activities: Sequence[Activity], rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Arrows: from the event in one stream to the wait in another."""
    place = {row: k for k, row in enumerate(rows)}
    arrows: list[dict[str, Any]] = []
    for a in activities:
        if a.kind == "wait" and a.waits_for is not None and len(arrows) < MOST_ITEMS:
            source = activities[a.waits_for]
            arrows.append(
                {
                    "from": source.end_us, "row": place[source.device, source.stream],
                    "to": a.end_us, "target": place[a.device, a.stream], "name": a.name,
                }
            )  # fmt: skip
    return arrows


def workgroups(launch: Launch, die: int) -> dict[str, Any]:
    """What a kernel did inside: sizes, and the workgroups on the first units of one die.

    Raises:
        IndexError: there is no such die.
    """
    p, time = launch.placement, launch.time
    found: dict[str, Any] = {"grid": size(launch.grid), "block": size(launch.block), "waves": launch.waves}
    if time is not None:
        found |= {"limiter": time.limiter, "overhead": time.overhead_us}
    if p is None:
        return found
    if not 0 <= die < p.dies:
        raise IndexError(f"there is no die {die}")
    units = min(p.units, UNITS_SHOWN)
    turns = max(MOST_BARS // (units * p.places), 1)
    asked = placed(p)
    bars = [asdict(bar) for bar in asked.bars(die, units, turns)]
    used = sum(asked.total(each, unit) > 0 for each in range(p.dies) for unit in range(p.units))
    return found | {
        "unit": p.unit, "die": die, "dies": p.dies, "units": p.units, "shown": units, "places": p.places, "bars": bars,
        "total": p.total_us, "workgroups": p.workgroups, "used": used, "of": p.dies * p.units,
        "each": p.group_us, "differ": bool(p.stays), "wavesEach": p.waves,
    }  # fmt: skip


def _plural(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def sentence(activities: Sequence[Activity], rows: Sequence[Row]) -> str:
    """What is to be seen, in words."""
    work = [a for a in activities if a.kind in ("kernel", "copy", "fill")]
    if not work:
        return "Nothing ran in the profile block: no kernel, no copy."
    if not any(a.is_modelled for a in work):
        return (
            f"{_plural(len(work), 'kernel', 'kernels')}, {number(sum(a.us for a in work))} µs in all. On a real GPU "
            "gpulab measures only this: the start and end of each kernel. While a profile is open each launch waits "
            "for the one before, and copies are not measured, so that overlap cannot be seen here."
        )
    words = (("kernel", "kernel", "kernels"), ("copy", "copy", "copies"), ("fill", "memset", "memsets"))
    kinds = [
        _plural(sum(a.kind == kind for a in work), one, many)
        for kind, one, many in words
        if any(a.kind == kind for a in work)
    ]
    total, busy = max(a.end_us for a in work) - min(a.start_us for a in work), union(work)
    text = f"{', '.join(kinds)} in {_plural(len(rows), 'stream', 'streams')} took {number(total)} µs of modelled time"
    for kind, name in (("kernel", "kernels"), ("copy", "copies")):
        own = sum(a.us for a in work if a.kind == kind)
        if own:
            text += f"; {name} {number(own)} µs"
    summed = sum(a.us for a in work)
    text += ". "
    if summed - busy > 0.005 * busy:
        text += f"Work of different streams overlapped for {number(summed - busy)} µs. "
    elif len(rows) > 1:
        text += "Nothing overlapped: at no time did two streams work at once. "
    if total - busy > 0.005 * total:
        text += f"For {number(total - busy)} µs nothing ran. "
    graphs = len({a.graph for a in activities} - {None})
    if graphs:
        text += f"{_plural(graphs, 'graph was', 'graphs were')} launched. "
    waits = sum(a.kind == "wait" and a.us > 0 for a in activities)
    if waits:
        times = "Once" if waits == 1 else f"{waits:,} times"
        text += f"{times} a stream had to wait for an event of another. "
    return text + "Time 0 is where the first of them starts."


def union(work: Sequence[Activity]) -> float:
    """Microseconds in which at least one of them ran."""
    total, until = 0.0, -math.inf
    for a in sorted(work, key=lambda a: a.start_us):
        if a.end_us > until:
            total += a.end_us - max(a.start_us, until)
            until = a.end_us
    return total


def table(activities: Sequence[Activity], names: Mapping[Row, str]) -> Table:
    """One row for each activity, in the order in which the program asked for them; the first of very many."""
    rows: list[tuple[Cell, ...]] = []
    for a in activities[:MOST_ROWS]:
        what = {"fill": "memset", "event": "event recorded", "wait": "wait"}.get(a.kind, a.kind)
        if a.graph is not None:
            what += f" (graph {a.graph})"
        name = "" if a.kind == "fill" else f"for {a.name}" if a.kind == "wait" else a.name
        rows.append((names[a.device, a.stream], what, name, a.bytes or "–", _us(a.start_us), _us(a.end_us), _us(a.us)))
    note = "Times were measured."
    if all(a.is_modelled for a in activities):
        note = "Times are modelled; in the model streams that work at once do not slow each other down."
    if len(activities) > MOST_ROWS:
        note += f" {len(activities) - MOST_ROWS:,} more activities are left out; `run.activities` has all."
    columns = ("stream", "what", "name", "bytes", "start µs", "end µs", "took µs")
    return Table(columns, tuple(rows), note if rows else "Nothing was put into a stream.")


def _us(value: float) -> float:
    """Rounded to a nanosecond."""
    return round(value, 3)


def figure(activities: Sequence[Activity], rows: Sequence[Row], names: Mapping[Row, str]) -> Figure:
    """The streams as rows, with bars, marks and arrows."""
    from matplotlib.patches import Patch

    drawn = palette.figure(8.2, 1.3 + 0.55 * len(rows))
    axes = drawn.subplots()
    place = {row: k for k, row in enumerate(rows)}
    last = max(a.end_us for a in activities) or 1.0
    titles = {0: "kernel", 1: "copy host to device", 2: "copy device to host", 3: "memset", 4: "other copy"}
    seen: dict[int, None] = {}
    for a in activities[:MOST_ITEMS]:
        y = place[a.device, a.stream]
        if a.kind == "event":
            axes.plot(a.start_us, y - 0.38, marker="v", ms=6, color="black", clip_on=False)
        elif a.kind == "wait":
            if a.us:
                axes.plot([a.start_us, a.end_us], [y, y], ls=":", lw=2, color="#545454")
            if a.waits_for is not None:
                source = activities[a.waits_for]
                axes.annotate(
                    "", (a.end_us, y - 0.3), (source.end_us, place[source.device, source.stream] + 0.3),
                    arrowprops={"arrowstyle": "->", "color": palette.VERMILLION, "lw": 1.4},
                )  # fmt: skip
        else:
            kind = colour(a)
            seen[kind] = None
            axes.barh(
                y, a.us, left=a.start_us, height=0.6, color=palette.CATEGORIES[kind], hatch=palette.HATCHES[kind],
                edgecolor="white", lw=0.5,
            )  # fmt: skip
            if a.us > 0.012 * len(a.name) * last:
                axes.text(
                    a.start_us + a.us / 2, y, palette.plain(a.name), ha="center", va="center", fontsize=7,
                    bbox={"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none"},
                )  # fmt: skip
    axes.set_yticks(range(len(rows)), [names[row] for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.7)
    axes.set_xlim(0, last)
    axes.tick_params(labelsize=8)
    said = "modelled" if all(a.is_modelled for a in activities) else "measured"
    axes.set_xlabel(f"{said} time in µs (▼ event recorded, → a stream waits for it)", fontsize=8)
    handles = [
        Patch(facecolor=palette.CATEGORIES[k], hatch=palette.HATCHES[k], edgecolor="white", label=titles[k])
        for k in sorted(seen)
    ]
    drawn.legend(handles=handles, loc="outside upper center", ncols=5, fontsize=8, frameon=False)
    return drawn


# ------------------------------------------------------------------------------------------ the file for Perfetto


def nanoseconds(us: float) -> int:
    return round(us * 1000)


def _ts(ns: int) -> float:
    """A number of microseconds that a reader multiplies by 1000 and cuts off to get exactly so many nanoseconds."""
    us = ns / 1000
    return us if int(us * 1000.0) == ns else math.nextafter(us, math.inf)


def trace_events(activities: Sequence[Activity], launches: Sequence[Launch]) -> dict[str, Any]:
    """The timeline as a JSON object in the Trace Event Format.

    A process is a device, a thread a stream; no thread number is used twice. Kernels, copies, memsets and waits are
    complete events ("X"), recorded events are instant events ("i"). From the work before a recorded event a flow
    ("s", "f") leads to the work that waited for it. Times are microseconds with whole nanoseconds, so that what follows
    each other does not overlap.
    """
    rows = rows_of(activities)
    names = row_names(rows, with_device=False)
    thread = {row: 100 + k for k, row in enumerate(rows)}
    events: list[dict[str, Any]] = []
    chips = {launch.device: launch.arch for launch in launches}
    for device in sorted({device for device, _ in rows}):
        arch = chips.get(device, "")
        name = f"device {device}" + (f" ({_product(arch)})" if arch else "")
        events.append({"ph": "M", "name": "process_name", "pid": device + 1, "tid": device + 1, "args": {"name": name}})
    for row in rows:
        named = {"args": {"name": names[row]}}
        events.append({"ph": "M", "name": "thread_name", "pid": row[0] + 1, "tid": thread[row], **named})
    for a in activities:
        where = {"pid": a.device + 1, "tid": thread[a.device, a.stream], "cat": a.kind}
        start, end = nanoseconds(a.start_us), nanoseconds(a.end_us)
        if a.kind == "event":
            events.append({"ph": "i", "name": a.name, "s": "t", "ts": _ts(start), **where})
        elif a.kind != "wait" or end > start:
            name = f"wait for {a.name}" if a.kind == "wait" else a.name
            args = _args(a, launches)
            events.append({"ph": "X", "name": name, "ts": _ts(start), "dur": _ts(end - start), **where, "args": args})
    events += _flows(activities, thread)
    modelled = "modelled" if all(a.is_modelled for a in activities) else "measured"
    return {"traceEvents": events, "displayTimeUnit": "ns", "otherData": {"times": modelled, "made by": "gpulab"}}


def _product(arch: str) -> str:
    known = arch.partition(":")[0]
    return f"{architectures.get(known).product}, {known}" if known in architectures.names() else arch


def _args(a: Activity, launches: Sequence[Launch]) -> dict[str, Any]:
    args: dict[str, Any] = {"times": "modelled" if a.is_modelled else "measured"}
    if a.bytes:
        args["bytes"] = a.bytes
    if a.graph is not None:
        args["graph"] = a.graph
    if a.launch is not None and a.launch < len(launches):
        launch = launches[a.launch]
        args |= {"launch": a.launch, "grid": size(launch.grid), "block": size(launch.block), "waves": launch.waves}
        if launch.time is not None:
            args["limited by"] = launch.time.limiter
            if launch.time.lacks:
                args["not in the time"] = "; ".join(launch.time.lacks)
    return args


def _flows(activities: Sequence[Activity], thread: Mapping[Row, int]) -> list[dict[str, Any]]:
    """For each wait a flow from inside the work before the event to the start of the work after the wait."""
    flows: list[dict[str, Any]] = []
    before: dict[int, Activity] = {}  # what a stream did last before an event was recorded in it
    latest: dict[Row, Activity] = {}
    waiting: dict[Row, list[Activity]] = {}
    number_ = 0
    for index, a in enumerate(activities):
        row = (a.device, a.stream)
        if a.kind == "event" and row in latest:
            before[index] = latest[row]
        elif a.kind == "wait":
            waiting.setdefault(row, []).append(a)
        elif a.kind != "event":
            for wait in waiting.pop(row, []):
                source = before.get(wait.waits_for) if wait.waits_for is not None else None
                if source is None or source.us < 0.002 or a.us < 0.002:
                    continue
                number_ += 1
                both = {"name": wait.name, "cat": "wait", "id": number_}
                at = nanoseconds(source.end_us) - 1
                flows.append(
                    {"ph": "s", **both, "ts": _ts(at), "pid": source.device + 1,
                     "tid": thread[source.device, source.stream]}
                )  # fmt: skip
                flows.append(
                    {"ph": "f", "bp": "e", **both, "ts": _ts(nanoseconds(a.start_us)), "pid": a.device + 1,
                     "tid": thread[row]}
                )  # fmt: skip
            latest[row] = a
    return flows
