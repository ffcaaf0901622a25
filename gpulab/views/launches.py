"""The launches of a profile as a table, and the source lines of one launch by their cost: `launch_table`, `line_table`.

Times stand in the tables only where the device modelled them: those are the same in every run.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpulab.records import Launch
from gpulab.views.table import Table


def size(extent: tuple[int, int, int]) -> str:
    """(256, 1, 1) as "256", (16, 16, 1) as "16×16"."""
    used = list(extent)
    while len(used) > 1 and used[-1] == 1:
        used.pop()
    return "×".join(str(n) for n in used)


def launch_table(launches: Sequence[Launch]) -> Table:
    """One row per launch: kernel, sizes, waves, and the commonest counters where the device counts them."""
    counters = [
        (name, title)
        for name, title in (("SQ_INSTS_VALU", "VALU"), ("SQ_INSTS_SALU", "SALU"), ("SQ_INSTS_LDS", "LDS"))
        if any(name in launch.counters for launch in launches)
    ]
    timed = bool(launches) and all(launch.time_is_modelled and launch.time_us for launch in launches)
    columns = ["kernel", "arch", "grid", "block", "LDS bytes", "waves", *(title for _, title in counters)]
    rows = []
    for launch in launches:
        row: list[str | int | float] = [
            launch.kernel + (" (stopped)" if launch.fault else ""),
            launch.arch,
            size(launch.grid),
            size(launch.block),
            launch.lds_bytes,
            launch.waves,
            *(launch.counters.get(name, 0) for name, _ in counters),
        ]
        rows.append(tuple(row + ([launch.time_us] if timed else [])))
    if timed:
        columns.append("modelled µs")
    note = "" if rows else "No kernel was launched."
    return Table(tuple(columns), tuple(rows), note)


def line_table(launch: Launch) -> Table:
    """One row per source line of a launch: wave instructions, and how many lanes were active in them on average."""
    rows = []
    for cost in launch.lines:
        lanes = cost.active_lanes / cost.instructions if cost.instructions else 0.0
        place = str(cost.where.line) if cost.where.line else cost.where.file
        rows.append((place, cost.where.text.strip(), cost.instructions, round(lanes, 1)))
    note = "" if rows else "The device gives no cost by line."
    return Table(("line", "source", "wave instructions", "lanes active"), tuple(rows), note)
