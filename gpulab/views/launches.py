"""The launches of a profile as a table, and the source lines of one launch by their cost.

`launch_table` has a row per launch, `line_table` and `hotspot_table` rows per source line.

Times stand in the tables only where the device modelled them: those are the same in every run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpulab import metrics
from gpulab.errors import CounterNotFound
from gpulab.records import Launch, SourceLine
from gpulab.views import profiles
from gpulab.views.table import Cell, Table

_NOTHING: Mapping[str, Mapping[SourceLine, Cell]] = {}


def size(extent: tuple[int, int, int]) -> str:
    """(256, 1, 1) as "256", (16, 16, 1) as "16×16"."""
    used = list(extent)
    while len(used) > 1 and used[-1] == 1:
        used.pop()
    return "×".join(str(n) for n in used)


def number(launch: Launch, name: str) -> Cell:
    """A counter or metric as a cell; a dash where the launch has none."""
    try:
        value = metrics.value(launch, name)
    except CounterNotFound:
        return "–"
    return profiles.shown(value)


def launch_table(launches: Sequence[Launch], names: Sequence[str] = (), said: str = "") -> Table:
    """One row per launch: kernel, sizes, waves, and the counters and metrics of these names.

    Args:
        names: columns; if empty, the commonest counters where the device counts them. A dash stands where a launch
            has no number.
        said: a line about them, below the table.
    """
    counters = [(name, name) for name in names] or [
        (name, title)
        for name, title in (("SQ_INSTS_VALU", "VALU"), ("SQ_INSTS_SALU", "SALU"), ("SQ_INSTS_LDS", "LDS"))
        if any(name in launch.counters for launch in launches)
    ]
    timed = bool(launches) and all(launch.time_is_modelled and launch.time_us for launch in launches)
    limited = timed and any(launch.time for launch in launches)
    columns = ["kernel", "arch", "grid", "block", "LDS bytes", "waves", *(title for _, title in counters)]
    rows = []
    for launch in launches:
        row: list[Cell] = [
            launch.kernel + (" (stopped)" if launch.fault else ""),
            launch.arch,
            size(launch.grid),
            size(launch.block),
            launch.lds_bytes,
            launch.waves,
            *(number(launch, name) for name, _ in counters),
        ]
        row += [launch.time_us] if timed else []
        row += [launch.time.limiter if launch.time else ""] if limited else []
        rows.append(tuple(row))
    columns += ["modelled µs"] if timed else []
    columns += ["limited by"] if limited else []
    notes = dict.fromkeys(filter(None, (profiles.note(launch) for launch in launches)))
    if limited:
        notes |= dict.fromkeys(text for launch in launches for text in profiles.unmodelled(launch))
    lacking = [
        name for name in names if all(name not in launch.metrics and number(launch, name) == "–" for launch in launches)
    ]
    if launches and lacking:
        notes[f"No launch has a number for {', '.join(lacking)}."] = None
    if said:
        notes[said] = None
    return Table(tuple(columns), tuple(rows), " ".join(notes) if rows else "No kernel was launched.")


def line_table(
    launch: Launch, by: str = "", extra: Mapping[str, Mapping[SourceLine, Cell]] = _NOTHING, said: str = ""
) -> Table:
    """One row per source line of a launch: wave instructions, and how many lanes were active in them on average.

    Where the launch tells of memory accesses there are also the bytes asked for, the cache lines looked up, the clocks
    of LDS and those of them that bank conflicts cost.

    Args:
        by: the column to sort by, the largest first; "" leaves the order of the source.
        extra: further columns: title -> value by line.
        said: a line about them, below the table.

    Raises:
        ValueError: there is no such column.
    """
    more = [
        (title, name)
        for title, name in (
            ("bytes", "requested_bytes"),
            ("cache lines", "cache_lines"),
            ("LDS clocks", "lds_cycles"),
            ("conflicts", "conflict_cycles"),
        )
        if any(getattr(cost, name) for cost in launch.lines)
    ]
    columns = ("line", "source", "wave instructions", "lanes active", *(title for title, _ in more), *extra)
    rows: list[tuple[Cell, ...]] = []
    for cost in launch.lines:
        lanes = cost.active_lanes / cost.instructions if cost.instructions else 0.0
        place = str(cost.where.line) if cost.where.line else cost.where.file
        row = (place, cost.where.text.strip(), cost.instructions, round(lanes, 1))
        added = (values.get(cost.where, "–") for values in extra.values())
        rows.append((*row, *(getattr(cost, name) for _, name in more), *added))
    note = " ".join(filter(None, (profiles.note(launch), said))) if rows else "The device gives no cost by line."
    return Table(columns, profiles.sorted_rows(rows, columns, by), note)


def hotspot_table(launch: Launch, count: int) -> Table:
    """The source lines with the most wave instructions, the largest share first."""
    total = sum(cost.instructions for cost in launch.lines)
    chosen = sorted(launch.lines, key=lambda cost: -cost.instructions)[:count]
    rows = [
        (
            str(cost.where.line) if cost.where.line else cost.where.file,
            cost.where.text.strip(),
            cost.instructions,
            round(100.0 * cost.instructions / total, 1) if total else 0.0,
        )
        for cost in chosen
    ]
    note = profiles.note(launch) if rows else "The device gives no cost by line."
    return Table(("line", "source", "wave instructions", "% of all"), tuple(rows), note)
