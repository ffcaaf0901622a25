"""Plots of numbers that a notebook has measured: `lines`, `steps` and `bars`; and `blocks`, a grid over a matrix.

Each is an `Instrument` that does not move: the picture, a sentence and a table that have the same numbers. Series
differ by colour and by marker.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gpulab.views import palette
from gpulab.views.instrument import Instrument
from gpulab.views.table import Cell, Table, number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_STROKES = ("-", "--", "-.", ":", "-", "--", "-.")

Place = int | float | str
"""A place on the axis to the right: a number, or a word for one of several cases."""


def lines(
    x: Sequence[Place], series: Mapping[str, Sequence[float]], *, title: str, across: str, up: str = "", log: str = ""
) -> Instrument:
    """Points joined by lines.

    Args:
        x: the places from left to right; words stand at equal distances.
        series: name -> one value for each place; the picture leaves out NaN and infinity.
        title: what is plotted.
        across: name of the axis to the right, with its unit.
        up: name of the axis upwards, with its unit, if all series share it; "" for a plot of its own for each series.
        log: "x" for steps of two to the right, "xy" for logarithmic axes in both directions.

    Raises:
        ValueError: a series has not one value for each place, there is none, or `log` is another word.
    """
    return _plot("lines", x, series, title, across, up, log)


def steps(
    x: Sequence[Place], series: Mapping[str, Sequence[float]], *, title: str, across: str, up: str = "", log: str = ""
) -> Instrument:
    """A staircase: each value holds up to the next place. Arguments as for `lines`; the table has where it changes."""
    return _plot("steps", x, series, title, across, up, log)


def bars(
    x: Sequence[Place], series: Mapping[str, Sequence[float]], *, title: str, across: str, up: str = "", log: str = ""
) -> Instrument:
    """A bar for each value. Arguments as for `lines`."""
    return _plot("bars", x, series, title, across, up, log)


def blocks(grid: tuple[int, int], block: tuple[int, int], width: int, height: int) -> Instrument:
    """The blocks of a grid drawn over a matrix of `width` columns and `height` rows: which threads have an element?

    `grid` and `block` are (x, y), in blocks and in threads.
    """
    across, down = grid[0] * block[0], grid[1] * block[1]
    inside = min(across, width) * min(down, height)
    rows: list[tuple[Cell, ...]] = []
    for y in range(grid[1]):
        for x in range(grid[0]):
            wide = min(max(width - x * block[0], 0), block[0])
            high = min(max(height - y * block[1], 0), block[1])
            rows.append((f"({x}, {y})", wide * high, block[0] * block[1] - wide * high))
    sentence = (
        f"{grid[0]} × {grid[1]} blocks of {block[0]} × {block[1]} threads cover {across} columns and {down} rows. "
        f"The matrix has {width} columns and {height} rows: "
        f"{inside} threads have an element, {across * down - inside} have none."
    )
    table = Table(("block (x, y)", "threads with an element", "without"), tuple(rows))
    title = f"Blocks over a matrix of {width} × {height}"
    return Instrument("", title, sentence, table, figure=lambda: _blocks(grid, block, width, height))


def _plot(
    kind: str, x: Sequence[Place], series: Mapping[str, Sequence[float]], title: str, across: str, up: str, log: str
) -> Instrument:
    if not isinstance(series, Mapping):
        raise ValueError(f'series is a dictionary, {{"name": values}}, not a {type(series).__name__}')
    x, series = list(x), {str(name): _floats(str(name), values) for name, values in series.items()}
    if log not in ("", "x", "xy"):
        raise ValueError(f'log is "", "x" or "xy", not {log!r}')
    if not x or not series:
        raise ValueError("nothing to plot")
    for name, values in series.items():
        if len(values) != len(x):
            raise ValueError(f"{name} has {len(values)} values for {len(x)} places")
    kept = [k for k in range(len(x)) if kind != "steps" or k == 0 or any(v[k] != v[k - 1] for v in series.values())]
    rows = tuple((x[k], *(_cell(values[k]) for values in series.values())) for k in kept)
    sentence = " ".join(_said(name, x, values, across) for name, values in series.items())
    return Instrument(
        "", title, sentence, Table((across, *series), rows),
        figure=lambda: _figure(kind, x, series, across, up, log),
    )  # fmt: skip


def _floats(name: str, values: Sequence[float]) -> list[float]:
    try:
        return [float(value) for value in values]
    except (TypeError, OverflowError) as error:
        raise ValueError(f"{name} has a value that is no number: {error}") from None


def _cell(value: float) -> Cell:
    return "–" if math.isnan(value) else _shown(value)


def _said(name: str, x: Sequence[Place], values: Sequence[float], across: str) -> str:
    """One series in words: its ends, and its least and largest value if these are not at an end."""
    known = [(place, value) for place, value in zip(x, values, strict=True) if not math.isnan(value)]
    if not known:
        return f"{name}: no numbers."

    def at(pair: tuple[Place, float]) -> str:
        place = pair[0] if isinstance(pair[0], str) else number(pair[0])
        return f"{number(_shown(pair[1]))} at {place}"

    text = f"{name} by {across}: {at(known[0])}"
    if len(known) > 1:
        text += f", {at(known[-1])}"
    ends = {known[0][1], known[-1][1]}
    least, most = min(known, key=lambda pair: pair[1]), max(known, key=lambda pair: pair[1])
    text += f"; least {at(least)}" if least[1] not in ends else ""
    text += f"; most {at(most)}" if most[1] not in ends else ""
    return text + "."


def _shown(value: float) -> int | float:
    return int(value) if abs(value) < 1e15 and value == int(value) else value


def _figure(
    kind: str, x: Sequence[Place], series: Mapping[str, Sequence[float]], across: str, up: str, log: str
) -> Figure:
    panels = [dict(series)] if up else [{name: values} for name, values in series.items()]
    figure = palette.figure(max(6.5, 3.6 * len(panels)), 3.0)
    words = any(isinstance(place, str) for place in x)
    places = list(range(len(x))) if words else x
    for panel, axes in zip(panels, figure.subplots(1, len(panels), squeeze=False)[0], strict=True):
        for k, (name, values) in enumerate(panel.items()):
            shown = {"color": palette.CATEGORIES[k % 7], "label": palette.plain(name)}
            if kind == "bars":
                wide = 0.8 / len(panel)
                where = [place + (k - (len(panel) - 1) / 2) * wide for place in places]  # type: ignore[operator]
                axes.bar(where, values, wide, hatch=palette.HATCHES[k % 7], edgecolor="black", linewidth=0.5, **shown)
            elif kind == "steps":
                axes.step(places, values, where="post", linestyle=_STROKES[k % 7], **shown)
            else:
                marker = _MARKERS[k % 7] if len(x) < 40 else ""
                axes.plot(places, values, marker=marker, linestyle=_STROKES[k % 7], markersize=4, **shown)
        known = [value for values in panel.values() for value in values if math.isfinite(value)]
        ends = 1.1 * min(known, default=0), 1.1 * max(known, default=1)
        _axes(axes, x, words, palette.plain(across), palette.plain(up or next(iter(panel))), log, ends)
        if len(panel) > 1:
            axes.legend(fontsize=8)
    return figure


def _axes(
    axes: Any, x: Sequence[Place], words: bool, across: str, up: str, log: str, ends: tuple[float, float]
) -> None:
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.grid(alpha=0.4)
    axes.set_axisbelow(True)
    if log == "xy":
        axes.set_xscale("log")
        axes.set_yscale("log")
        return
    lowest, highest = min(ends[0], 0), max(ends[1], 0)
    axes.set_ylim(lowest, highest or (0 if lowest else 1))
    if words:
        turned = {"rotation": 30, "ha": "right"} if sum(len(str(place)) for place in x) > 60 else {}
        axes.set_xticks(range(len(x)), [palette.plain(str(place)) for place in x], **turned)
    elif log == "x":
        axes.set_xscale("log")
        axes.set_xticks(list(x), [number(place) if not isinstance(place, str) else place for place in x])
        axes.minorticks_off()


def _blocks(grid: tuple[int, int], block: tuple[int, int], width: int, height: int) -> Figure:
    from matplotlib.patches import Rectangle

    across, down = grid[0] * block[0], grid[1] * block[1]
    figure = palette.figure(0.62 * max(across, 6) + 0.6, 0.62 * max(down, 2) + 0.9)
    axes = figure.add_subplot()
    axes.set_xlim(-0.1, across + 0.1)
    axes.set_ylim(down + 0.1, -0.1)
    axes.set_xticks(range(across + 1))
    axes.set_yticks(range(down + 1))
    axes.set_aspect("equal")
    for y in range(down):
        for x in range(across):
            inside = x < width and y < height
            colour = palette.BLUE if inside else "#FFFFFF"
            axes.add_patch(Rectangle((x, y), 1, 1, facecolor=colour, edgecolor="#949494", linewidth=0.7))
            text = f"{x % block[0]},{y % block[1]}"
            axes.text(x + 0.5, y + 0.5, text, ha="center", va="center", fontsize=8, color=palette.on(colour))
    for y in range(grid[1]):
        for x in range(grid[0]):
            corner = (block[0] * x, block[1] * y)
            axes.add_patch(Rectangle(corner, *block, fill=False, edgecolor=palette.VERMILLION, linewidth=2.5))
    axes.set_xlabel("x")
    axes.set_ylabel("y")
    axes.set_title("filled: elements of the matrix; frames: blocks; numbers: threadIdx.x, threadIdx.y", fontsize=8)
    return figure
