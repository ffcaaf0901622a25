"""What a profile found, as tables: counters and metrics with meanings, instructions, memory accesses, comparisons.

Functions of records. `counter_table` says of each number how certain it is; `totals` puts launches together.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence

from gpulab import metrics
from gpulab.counter_names import Counter
from gpulab.records import Counters, InstructionCost, Launch, LineCost, SourceLine
from gpulab.views.table import Cell, Table


def certainty(name: str, launch: Launch, kinds: Mapping[str, str]) -> str:
    """How a number came about: "measured" on a real GPU, else what `kinds` says of the counters that it needs.

    Args:
        kinds: by counter "exact", "modelled" (from caches or time) or "assumed" (what hardware counts is not public in
            this detail), as `hip.counter_kinds` has them; a counter that is not listed is taken as modelled.

    A metric is as certain as the least certain of its counters: modelled, then assumed, then exact.
    """
    if not launch.time_is_modelled:
        return "measured"
    return _least(kinds, name, launch.arch)


def _least(kinds: Mapping[str, str], name: str, arch: str) -> str:
    if name in metrics.OF_COSTS:
        return metrics.OF_COSTS[name][1]
    found = {kinds.get(part, "modelled") for part in metrics.needed(name, arch)}
    return next((word for word in ("modelled", "assumed") if word in found), "exact")


def certainties(names: Sequence[str], launch: Launch, kinds: Mapping[str, str]) -> str:
    """A sentence on the names whose numbers are not exact: "Modelled: FETCH_SIZE. Assumed: SQ_LDS_BANK_CONFLICT."; ""
    if there are none, or the launch was measured."""
    found: dict[str, list[str]] = {"modelled": [], "assumed": []}
    for name in names:
        how = certainty(name, launch, kinds)
        if how in found:
            found[how].append(name)
    return " ".join(f"{how.capitalize()}: {', '.join(those)}." for how, those in found.items() if those)


def totals(launches: Sequence[Launch]) -> Launch:
    """Several launches on one architecture as one record: counters and costs by line are added up, costs by instruction
    and by access stand one after another.

    Raises:
        ValueError: no launch, or launches on different architectures.
    """
    if not launches or len({launch.arch for launch in launches}) > 1:
        raise ValueError("launches on one architecture are needed")
    if len(launches) == 1:
        return launches[0]
    first = launches[0]
    counts: dict[str, int] = {}
    for launch in launches:
        for name, count in launch.counters.items():
            largest = name.rpartition("_")[2] in ("max", "min", "avr")
            counts[name] = max(counts.get(name, 0), count) if largest else counts.get(name, 0) + count
    kernels = {launch.kernel for launch in launches}
    return dataclasses.replace(
        first,
        kernel=first.kernel if len(kernels) == 1 else f"{len(launches)} launches",
        waves=sum(launch.waves for launch in launches),
        counters=Counters(counts),
        lines=_lines(launches),
        instructions=_instructions(launches),
        accesses=tuple(cost for launch in launches for cost in launch.accesses),
        sampled=next((launch.sampled for launch in launches if launch.sampled), None),
        timing=None,
        measured_us=sum(launch.time_us for launch in launches),
        host_us=sum(launch.host_us for launch in launches),
        metrics=_added(launches),
    )


def _added(launches: Sequence[Launch]) -> dict[str, float]:
    """What a profiler measured of each launch and can be added up: sums over instances, amounts of data and work."""
    additive = ("KiB", "bytes", "32 bytes", "operations")
    table = metrics.metrics(launches[0].arch)
    names = [name for name in launches[0].metrics if all(name in launch.metrics for launch in launches)]
    names = [name for name in names if name.endswith("_sum") or (name in table and table[name].unit in additive)]
    return {name: sum(launch.metrics[name] for launch in launches) for name in names}


def _instructions(launches: Iterable[Launch]) -> tuple[InstructionCost, ...]:
    """The costs by instruction of several launches, one after another; the places of branches are moved along."""
    found: list[InstructionCost] = []
    for launch in launches:
        before = len(found)
        for cost in launch.instructions:
            branch = None if cost.branch is None else cost.branch + before
            found.append(dataclasses.replace(cost, branch=branch) if before else cost)
    return tuple(found)


def _lines(launches: Iterable[Launch]) -> tuple[LineCost, ...]:
    """The costs by source line of several launches, added up."""
    found: dict[SourceLine, LineCost] = {}
    for launch in launches:
        for cost in launch.lines:
            before = found.get(cost.where)
            if before is None:
                found[cost.where] = cost
                continue
            sums = {
                field.name: getattr(before, field.name) + getattr(cost, field.name)
                for field in dataclasses.fields(cost)
                if field.name != "where"
            }
            found[cost.where] = LineCost(cost.where, **sums)
    return tuple(sorted(found.values(), key=lambda cost: (cost.where.file, cost.where.line)))


def note(launch: Launch) -> str:
    """What a reader of a launch's numbers has to know, or "": that they were modelled, or only sampled."""
    parts = []
    if launch.sampled:
        seen, there = launch.sampled
        parts.append(
            f"Memory accesses were looked at in {seen:,} of {there:,} workgroups; numbers about them are scaled up."
        )
    if launch.fault:
        parts.append(f"{launch.kernel} was stopped: the numbers are of what ran until then.")
    return " ".join(parts)


def unmodelled(launch: Launch) -> list[str]:
    """What is not in a launch's modelled time and could change it by much, as sentences."""
    if launch.time is None:
        return []
    return [f"Not in the modelled time of {launch.kernel}: {lack}." for lack in launch.time.lacks]


def shown(value: float) -> Cell:
    """A value as a cell: whole numbers as integers, a dash for no number."""
    if math.isnan(value):
        return "–"
    return int(value) if float(value).is_integer() and abs(value) < 1e15 else value


_NO_KINDS: Mapping[str, str] = {}
_NO_COLUMNS: Mapping[str, Sequence[Cell]] = {}


def counter_table(launch: Launch, names: Sequence[str] = (), kinds: Mapping[str, str] = _NO_KINDS) -> Table:
    """Counters and metrics of a launch: value, unit, how certain, meaning.

    Args:
        kinds: as in `certainty`.
        names: which; if empty, everything that the launch has numbers for: counters, then metrics, by name.

    Raises:
        CounterNotFound: the launch's architecture does not define a name, or the launch has no number for it.
    """
    if names:
        values = {name: metrics.value(launch, name) for name in names}
    else:
        known = set(metrics.names(launch.arch))
        values = {name: float(launch.counters[name]) for name in sorted(launch.counters) if name in known}
        values |= {name: value for name, value in sorted(metrics.available(launch).items()) if name not in values}
    rows = []
    for name, value in values.items():
        entry = metrics.find(name, launch.arch)
        rows.append((name, shown(value), entry.unit, certainty(name, launch, kinds), _origin(entry), entry.meaning))
    return Table(("name", "value", "unit", "how", "of", "meaning"), tuple(rows), note(launch))


def _origin(entry: Counter | metrics.Metric) -> str:
    """Whose number it is: the block that counts it, or who defines the metric."""
    if isinstance(entry, Counter):
        return entry.block
    return "AMD" if entry.source == "AMD" else "gpulab"


def names_table(arch: str, pattern: str = "", formulas: bool = True, kinds: Mapping[str, str] = _NO_KINDS) -> Table:
    """Every name that an architecture defines, or those that contain a text: whose it is, unit, meaning, and how a
    virtual device gets it ("–": not at all).

    Args:
        arch: e.g. "gfx942".
        pattern: a part of name or meaning, in any case.
        formulas: add a column with the formulas of metrics, and for gpulab's own where they come from.
        kinds: as in `certainty`, of all counters that the virtual device counts; if empty that column is left out.
    """
    rows = []
    for name in metrics.names(arch):
        entry = metrics.find(name, arch)
        formula = "" if isinstance(entry, Counter) else entry.expression
        if isinstance(entry, metrics.Metric) and entry.source != "AMD":
            formula += f"  ({entry.source})"
        if pattern.lower() in f"{name} {entry.meaning}".lower():
            how = "–" if metrics.lacking(name, arch, kinds) else _least(kinds, name, arch)
            rows.append((
                name, _origin(entry), entry.unit, *([how] if kinds else []), entry.meaning,
                *([formula] if formulas else []),
            ))  # fmt: skip
    count = f"{len(rows)} name{'' if len(rows) == 1 else 's'} of {arch}."
    columns = (
        "name", "of", "unit", *(["virtual"] if kinds else []), "meaning", *(["formula"] if formulas else []),
    )  # fmt: skip
    return Table(columns, tuple(rows), count)


def sorted_rows(rows: list[tuple[Cell, ...]], columns: Sequence[str], by: str) -> tuple[tuple[Cell, ...], ...]:
    """Rows with the largest numbers (or the first words) of a column on top, those without a number at
    the end; in their own order if `by` is "".

    Raises:
        ValueError: there is no such column.
    """
    if not by:
        return tuple(rows)
    if by not in columns:
        raise ValueError(f"there is no column {by!r}; the columns are {', '.join(columns)}")
    place = columns.index(by)
    if all(isinstance(row[place], str) for row in rows):
        return tuple(sorted(rows, key=lambda row: str(row[place])))
    return tuple(sorted(rows, key=lambda row: math.inf if isinstance(row[place], str) else -float(row[place])))


def _place(where: SourceLine | None) -> str:
    return "" if where is None else str(where.line) if where.line else where.file


def _share(part: float, whole: float, digits: int = 1) -> Cell:
    return round(part / whole, digits) if whole else "–"


def instruction_table(
    launch: Launch, by: str = "executed", extra: Mapping[str, Sequence[Cell]] = _NO_COLUMNS, said: str = ""
) -> Table:
    """One row per instruction: source line, how often waves executed it, lanes active on average, its share of all.

    Args:
        by: the column to sort by; "" leaves program order.
        extra: further columns: title -> value by instruction, in the order of `launch.instructions`.
        said: a line about them, below the table.

    Raises:
        ValueError: there is no such column.
    """
    columns = ("line", "instruction", "executed", "lanes active", "% of all", *extra)
    total = sum(cost.executed for cost in launch.instructions)
    rows: list[tuple[Cell, ...]] = [
        (
            _place(cost.where),
            cost.text,
            cost.executed,
            _share(cost.active_lanes, cost.executed),
            _share(100.0 * cost.executed, total),
            *(values[place] for values in extra.values()),
        )
        for place, cost in enumerate(launch.instructions)
    ]
    missing = "" if rows else "The device gives no cost by instruction."
    return Table(columns, sorted_rows(rows, columns, by), " ".join(filter(None, (note(launch), said))) or missing)


def access_table(launch: Launch, by: str = "executed") -> Table:
    """One row per memory instruction: what its executions asked for, and what that took.

    Columns: executed (wave instructions); lanes (active on average); bytes (that the lanes asked for, in all); lines
    (cache lines looked up per execution); used % (bytes asked for of the bytes in those lines: above 100 where lanes
    share them); LDS clocks (per execution) and conflicts (those of them that bank conflicts cost); L1 hit % (of lines)
    and L2 hit % (of requests), modelled.

    Args:
        by: the column to sort by; "" leaves program order.

    Raises:
        ValueError: there is no such column.
    """
    columns = (
        "line", "instruction", "executed", "lanes", "bytes", "lines", "used %", "LDS clocks", "conflicts", "L1 hit %",
        "L2 hit %",
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for cost in launch.accesses:
        fetched = cost.lines * cost.line_bytes
        rows.append((
            _place(cost.where), cost.instruction, cost.executed, _share(cost.lanes, cost.executed),
            cost.requested_bytes, _share(cost.lines, cost.executed) if cost.lines else "–",
            _share(100.0 * cost.requested_bytes, fetched),
            _share(cost.bank_cycles, cost.executed) if cost.bank_cycles else "–",
            _share(cost.conflict_cycles, cost.executed) if cost.bank_cycles else "–",
            _share(100.0 * cost.cache_hits, cost.lines), _share(100.0 * cost.l2_hits, cost.l2_requests),
        ))  # fmt: skip
    said = note(launch)
    if not rows:
        said = said or "The kernel accesses no memory, or the device does not look at accesses."
    elif launch.time_is_modelled:
        said = f"{said} Hits are modelled.".strip()
    return Table(columns, sorted_rows(rows, columns, by), said)


def comparison_table(
    before: Launch, after: Launch, names: Sequence[str] = (), kinds: Mapping[str, str] = _NO_KINDS
) -> Table:
    """Two launches side by side: counters and metrics, their difference, and the ratio after/before.

    Args:
        names: which; if empty, all that both have a number for and that differ.
        kinds: as in `certainty`.

    Raises:
        CounterNotFound: a name is not defined or not counted on one side.
    """
    if names:
        chosen = list(names)
    else:
        both = [{**dict(launch.counters), **metrics.available(launch)} for launch in (before, after)]
        chosen = [name for name in both[0] if name in both[1] and both[0][name] != both[1][name]]
    rows: list[tuple[Cell, ...]] = []
    for name in chosen:
        old, new = metrics.value(before, name), metrics.value(after, name)
        rows.append(
            (name, shown(old), shown(new), shown(new - old), _share(new, old, 3), certainty(name, after, kinds))
        )
    old, new = before.time_us, after.time_us
    if before.time_is_modelled and after.time_is_modelled and old and new and old != new and not names:
        rows.append(("modelled µs", shown(old), shown(new), shown(new - old), _share(new, old, 3), "modelled"))
    same = "" if rows else "No number differs."
    other = "" if before.arch == after.arch else f"{before.arch} and {after.arch} count differently."
    return Table(("name", "before", "after", "difference", "ratio", "how"), tuple(rows), same or other)
