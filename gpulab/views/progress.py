"""Progress: which exercises are solved, begun or open, lesson by lesson.

`progress` makes the instrument from `Entry`s; the browser asks for them again when "Refresh" is pressed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from gpulab.views import palette
from gpulab.views.instrument import Instrument
from gpulab.views.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIGNS = {"solved": "✓", "begun": "…", "open": "○"}
"""One for each state, beside its name and its colour."""
_PAINT = {"solved": palette.BLUE, "begun": palette.SKY, "open": "#FFFFFF"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One exercise: `state` is "solved", "begun" or "open"; `note` counts checks and hints; `link` and `lesson_link`
    start where the notebook is; `found` has a line for each mistake that checks named, and for each hint."""

    id: str
    title: str
    lesson: str
    minutes: int
    state: str
    note: str = ""
    link: str = ""
    lesson_link: str = ""
    found: tuple[str, ...] = ()


def progress(read: Callable[[], tuple[Sequence[Entry], str]]) -> Instrument:
    """The instrument.

    Args:
        read: gives the entries as they are now, in the order of the course, and a message about the file, or "".
    """
    entries, message = read()

    def answer(question: Mapping[str, Any]) -> Mapping[str, Any]:
        if question.get("ask") != "refresh":
            raise ValueError(f"progress does not know {question.get('ask')!r}")
        return _data(*read())

    return Instrument(
        "progress", "Your progress", _sentence(entries, message), _table(entries), _data(entries, message),
        figure=lambda: _figure(entries), answer=answer,
    )  # fmt: skip


def _sentence(entries: Sequence[Entry], message: str) -> str:
    solved = sum(entry.state == "solved" for entry in entries)
    begun = [entry.id for entry in entries if entry.state == "begun"]
    text = f"{solved} of {len(entries)} exercises solved."
    following = next((entry.id for entry in entries if entry.state != "solved"), "")
    if begun:
        text += f" Begun: {', '.join(begun)}."
    if following:
        text += f" The next one in the course is {following}."
    return f"{message} {text}".strip()


def _data(entries: Sequence[Entry], message: str) -> dict[str, Any]:
    lessons: dict[str, dict[str, Any]] = {}
    for entry in entries:
        part = lessons.setdefault(entry.lesson, {"name": entry.lesson, "link": entry.lesson_link, "exercises": []})
        part["exercises"].append({**asdict(entry), "sign": SIGNS[entry.state]})
    return {"lessons": list(lessons.values()), "sentence": _sentence(entries, message)}


def _table(entries: Sequence[Entry]) -> Table:
    rows = tuple(
        (entry.lesson, entry.id, entry.minutes, entry.state, entry.note, "; ".join(entry.found)) for entry in entries
    )
    return Table(("lesson", "exercise", "minutes", "state", "so far", "checks and hints"), rows)


def _figure(entries: Sequence[Entry]) -> Figure:
    from matplotlib.patches import Rectangle

    lessons = list(dict.fromkeys(entry.lesson for entry in entries))
    longest = max((sum(entry.lesson == lesson for entry in entries) for lesson in lessons), default=1)
    figure = palette.figure(max(3.2 + 0.5 * longest, 4.5), 0.75 + 0.3 * max(len(lessons), 1))
    axes = figure.add_subplot()
    axes.set_xlim(-5.2, longest + 0.1)
    axes.set_ylim(len(lessons) + 1.1, -0.1)
    axes.axis("off")
    for row, lesson in enumerate(lessons):
        axes.text(-0.2, row + 0.5, palette.plain(lesson), ha="right", va="center", fontsize=8)
        for column, entry in enumerate(entry for entry in entries if entry.lesson == lesson):
            paint = _PAINT[entry.state]
            axes.add_patch(Rectangle((column + 0.05, row + 0.1), 0.9, 0.8, facecolor=paint, edgecolor="#666666"))
            sign = SIGNS[entry.state]
            axes.text(column + 0.5, row + 0.5, sign, ha="center", va="center", fontsize=8, color=palette.on(paint))
    legend = "    ".join(f"{sign} {state}" for state, sign in SIGNS.items())
    axes.text(0.05, len(lessons) + 0.6, legend, va="center", fontsize=8)
    return figure
