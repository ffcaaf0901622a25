"""What an exercise asks for, drawn: the arrays of one small case before the launch, and what is wanted after it.

`task` makes an instrument without a widget from `TaskArray`s: a picture, a sentence and a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpulab.views import palette
from gpulab.views.instrument import Instrument
from gpulab.views.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS, ROWS = 16, 8
"""Elements of a row and rows of an array that are drawn, at most; of an array of one dimension two rows, of three or
more dimensions half of them."""
SAID = 8
"""Elements of a row that the table has."""


@dataclass(frozen=True, slots=True)
class TaskArray:
    """One array of the case.

    Attributes:
        name: as in the kernel's signature.
        role: "before" (what a launch finds) or "after" (what is wanted).
        shape: its extents.
        values: elements that are drawn, as text, row by row: at most `COLUMNS` of each of at most `ROWS` rows.
        owners: the thread that an element belongs to ("block 0, thread 3"), one for each value, or nothing.
    """

    name: str
    role: str
    shape: tuple[int, ...]
    values: tuple[tuple[str, ...], ...]
    owners: tuple[tuple[str, ...], ...] = ()


def task(title: str, inputs: str, scalars: Sequence[tuple[str, str]], arrays: Sequence[TaskArray]) -> Instrument:
    """The instrument.

    Args:
        title: of the exercise.
        inputs: the case in words ("n = 7; grid of 2 blocks, 4 threads each").
        scalars: name and value of each argument that is no array.
        arrays: inputs first.
    """
    return Instrument(
        "", title, _sentence(inputs, scalars, arrays), _table(arrays), figure=lambda: _figure(inputs, scalars, arrays)
    )


def _role(array: TaskArray) -> str:
    return {"before": "before the launch", "after": "wanted after it"}[array.role]


def _flat(array: TaskArray) -> str:
    """The first elements; of a matrix the first two rows."""
    count = 1
    for extent in array.shape:
        count *= extent
    rows = [row[:SAID] for row in array.values[: 2 if len(array.shape) > 1 else 1]]
    more = count - sum(map(len, rows))
    return ("; ".join(", ".join(row) for row in rows) or "no elements") + (f" and {more:,} more" if more else "")


def _sentence(inputs: str, scalars: Sequence[tuple[str, str]], arrays: Sequence[TaskArray]) -> str:
    given = "".join(f" {name} is {value}." for name, value in scalars if f"{name} = {value}" not in inputs)
    names = {
        role: ", ".join(array.name for array in arrays if array.role == role) or "nothing"
        for role in ("before", "after")
    }
    return f"{inputs}.{given} Before the launch: {names['before']}; wanted after it: {names['after']}."


def _table(arrays: Sequence[TaskArray]) -> Table:
    rows = [(array.name, _role(array), " x ".join(map(str, array.shape)), _flat(array)) for array in arrays]
    return Table(("array", "when", "extent", "elements"), tuple(rows))


def _figure(inputs: str, scalars: Sequence[tuple[str, str]], arrays: Sequence[TaskArray]) -> Figure:
    heights = [0.75 * max(len(array.values), 1) + 0.7 for array in arrays]
    columns = max([8, *(len(row) for array in arrays for row in array.values)])
    figure = palette.figure(1.3 + 0.46 * columns, 0.42 * sum(heights) + 0.55)
    given = ", ".join(f"{name} = {value}" for name, value in scalars if f"{name} = {value}" not in inputs)
    figure.suptitle(palette.plain(f"{inputs}    {given}" if given else inputs), fontsize=9, x=0.01, ha="left")
    plots = figure.subplots(len(arrays), 1, squeeze=False, height_ratios=heights)[:, 0]
    for array, axes in zip(arrays, plots, strict=True):
        _draw(axes, array, columns)
    return figure


def _draw(axes: Any, array: TaskArray, columns: int) -> None:
    from matplotlib.patches import Rectangle

    axes.set_xlim(-2.2, columns + 0.2)
    axes.set_ylim(max(len(array.values), 1) + 0.1, -0.55)
    axes.axis("off")
    heading = palette.plain(f"{array.name}, {_role(array)}")
    axes.text(-2.15, -0.3, heading, fontsize=8, weight="bold", va="center")
    if array.owners:
        axes.text(columns + 0.1, -0.3, "b: its block, t: its thread", fontsize=6.5, ha="right", va="center")
    wanted = array.role == "after"
    for row, values in enumerate(array.values):
        if len(array.values) > 1:
            width = array.shape[-1] if len(array.shape) > 1 else COLUMNS
            label = f"row {row}" if len(array.shape) == 2 else f"[{row * width}]"
            axes.text(-0.15, row + 0.5, label, ha="right", va="center", fontsize=7)
        for column, value in enumerate(values):
            axes.add_patch(
                Rectangle(
                    (column + 0.04, row + 0.08), 0.92, 0.84, facecolor="#DCEBF5" if wanted else "white",
                    edgecolor=palette.BLUE if wanted else "#666666", linewidth=1.4 if wanted else 0.7,
                )
            )  # fmt: skip
            owner = array.owners[row][column] if array.owners else ""
            text = palette.plain(value if len(value) < 8 else value[:6] + "…")
            axes.text(column + 0.5, row + (0.36 if owner else 0.5), text, ha="center", va="center", fontsize=7)
            if owner:
                axes.text(column + 0.5, row + 0.72, owner, ha="center", va="center", fontsize=5.5, color="#333333")
    count = 1
    for extent in array.shape:
        count *= extent
    left_out = count - sum(map(len, array.values))
    if left_out:
        axes.text(-2.15, max(len(array.values), 1) - 0.2, f"{left_out:,} more", fontsize=7, va="center")
    if not array.values:
        axes.text(0, 0.5, "no elements", va="center", fontsize=7)
