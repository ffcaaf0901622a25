"""What is in flight: the memory accesses of a traced wave from their issue to the wait that waits for them.

`follow` keeps the wait counters as the manuals describe them: an instruction raises a counter, and a wait for at most n
leaves the newest n of it, where they arrive in order. Whether an access has arrived earlier is nothing that a program
can know, so nothing is said of it. The wave stepper draws `Flight`s around its step; `waits` makes a table, and a
picture of some steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpulab.records import Trace, TraceInstruction
from gpulab.views import palette
from gpulab.views.instrument import Instrument
from gpulab.views.table import Cell, Table, number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_STEPS = 120
"""Steps that the picture shows, at most."""
MOST_ROWS = 40
"""Rows of the table."""
MOST_BARS = 60
"""Accesses that the picture shows: more bars than that are too low to be told apart."""


@dataclass(frozen=True, slots=True)
class Flight:
    """A memory access that a wait counter counts: from the step that issued it to the step of the wait that made sure
    that it had arrived; `until` is None if none did."""

    counter: str
    issued: int
    until: int | None


@dataclass(frozen=True, slots=True)
class Wait:
    """One counter of a wait that a step executed.

    Attributes:
        left: how many it allows to stay in flight.
        arrived: the steps that issued what it waited for, in their order; empty if it had nothing to wait for.
        staying: how many of this counter are still in flight after it.
    """

    step: int
    counter: str
    left: int
    arrived: tuple[int, ...]
    staying: int

    @property
    def between(self) -> int | None:
        """Instructions executed between the newest access that it waited for and the wait; None if there was none."""
        return self.step - self.arrived[-1] - 1 if self.arrived else None


@dataclass(frozen=True, slots=True)
class Followed:
    """What `follow` finds: accesses in the order of their steps, and waits."""

    flights: tuple[Flight, ...]
    waits: tuple[Wait, ...]


def follow(trace: Trace) -> Followed:
    """The flights and waits of a trace."""
    issued: list[tuple[str, int]] = []
    until: list[int | None] = []
    under: dict[str, list[int]] = {}  # numbers of flights, the oldest first
    loose: dict[str, int] = {}  # how many of them arrive in any order
    waits = []
    anyhow: list[bool] = []
    for k, step in enumerate(trace.steps):
        item = trace.instructions[step.instruction]
        for counter, left in item.allows:
            queue = under.setdefault(counter, [])
            done = max(len(queue) - left, 0)
            if left and loose.get(counter):  # any of them may be those that are left
                done = 0
            arrived = queue[:done]
            del queue[:done]
            loose[counter] = loose.get(counter, 0) - sum(anyhow[n] for n in arrived)
            for n in arrived:
                until[n] = k
            waits.append(Wait(k, counter, left, tuple(issued[n][1] for n in arrived), len(queue)))
        for counter in item.raises:
            under.setdefault(counter, []).append(len(issued))
            loose[counter] = loose.get(counter, 0) + item.any_order
            issued.append((counter, k))
            until.append(None)
            anyhow.append(item.any_order)
    flights = tuple(Flight(counter, k, end) for (counter, k), end in zip(issued, until, strict=True))
    return Followed(flights, tuple(waits))


# ---------------------------------------------------------------------------------------------- words and numbers


def waits(trace: Trace, first: int = 1, last: int | None = None) -> Instrument:
    """What each wait of a wave waited for: a table by waits, and a picture of the accesses in flight from step `first`
    to step `last` (counted from 1, as in the stepper; at most 120 steps).

    Raises:
        ValueError: there are no such steps.
    """
    count = len(trace.steps)
    end = count if last is None else last
    if count and not 1 <= first <= end <= count:
        raise ValueError(f"steps {first} to {end} are asked for, and the trace has steps 1 to {count:,}")
    end = min(end, first + MOST_STEPS - 1)
    found = follow(trace)
    return Instrument(
        "",
        f"In flight: {trace.kernel} ({trace.arch}), workgroup {trace.workgroup}, wave {trace.wave}",
        _sentence(trace, found),
        _table(trace, found),
        figure=lambda: _figure(trace, found, first - 1, end),
    )


def _things(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 'es' if what.endswith('s') else 's'}"


def _listed(parts: Sequence[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def _sentence(trace: Trace, found: Followed) -> str:
    counters = list(dict.fromkeys(flight.counter for flight in found.flights))
    if not counters:
        return "This wave accessed no memory that it had to wait for."
    each = [f"{_things(sum(f.counter == c for f in found.flights), 'access')} in {c}" for c in counters]
    said = f"This wave executed {_things(len(trace.steps), 'instruction')}, with {_listed(each)}."
    waited = [wait for wait in found.waits if wait.arrived]
    steps = len({wait.step for wait in waited})
    said += f" {_things(steps, 'wait')} had something to wait for"
    slack = [wait.between for wait in waited if wait.between is not None]
    if slack:
        least, most = min(slack), max(slack)
        said += f", {least if least == most else f'{least} to {most}'} instructions after the newest access of it"
    never = sum(flight.until is None for flight in found.flights)
    return f"{said}. {_things(never, 'access')} had no wait at all." if never else f"{said}."


def _lines(trace: Trace, steps: Sequence[int]) -> str:
    places = {w.line for k in steps if (w := trace.instructions[trace.steps[k].instruction].where) is not None}
    return ", ".join(map(str, sorted(places))) or "–"


def _span(values: Sequence[int]) -> Cell:
    least, most = min(values), max(values)
    return least if least == most else f"{number(least)}–{number(most)}"


def _table(trace: Trace, found: Followed) -> Table:
    """One row for each counter of each wait instruction, in the order of the program."""
    groups: dict[tuple[int, str], list[Wait]] = {}
    for wait in found.waits:
        groups.setdefault((trace.steps[wait.step].instruction, wait.counter), []).append(wait)
    rows: list[tuple[Cell, ...]] = []
    for (index, counter), made in sorted(groups.items()):
        item = trace.instructions[index]
        busy = [wait for wait in made if wait.arrived]
        rows.append(
            (
                item.where.line if item.where else "–",
                f"{counter}({made[0].left})",
                len(made),
                _span([len(wait.arrived) for wait in made]),
                _lines(trace, [k for wait in busy for k in wait.arrived]),
                _span([wait.between for wait in busy if wait.between is not None]) if busy else "–",
                _span([wait.staying for wait in made]),
            )
        )
    left_out = len(rows) - MOST_ROWS
    note = f"{left_out} more waits are left out." if left_out > 0 else ""
    return Table(
        (
            "line", "wait", "times", "accesses waited for", "of lines", "instructions since the newest of them",
            "still in flight",
        ),
        tuple(rows[:MOST_ROWS]),
        note,
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------ static picture


def _name(item: TraceInstruction) -> str:
    """A short name of an access: its line, and what it is."""
    place = f"line {item.where.line}: " if item.where else ""
    return palette.plain(f"{place}{item.text.split()[0][:24]}" if item.text else place)


def _bars(trace: Trace, flights: Sequence[Flight]) -> list[tuple[str, list[Flight]]]:
    """Names and flights of the bars: those of a name that are waited for at the same step share one."""
    bars: list[tuple[str, list[Flight]]] = []
    for flight in flights:
        name = _name(trace.instructions[trace.steps[flight.issued].instruction])
        if bars and bars[-1][0] == name and flight.until is not None and bars[-1][1][0].until == flight.until:
            bars[-1][1].append(flight)
        else:
            bars.append((name, [flight]))
    return bars


def _figure(trace: Trace, found: Followed, first: int, last: int) -> Figure:
    """A bar for each access that is in flight between these steps, from its issue to its wait."""
    near = [f for f in found.flights if f.issued < last and (f.until is None or f.until >= first)]
    shown = _bars(trace, near)[:MOST_BARS]
    counters = list(dict.fromkeys(flight.counter for flight in found.flights))
    drawn = palette.figure(8.6, 1.5 + 0.2 * max(len(shown), 3))
    axes = drawn.subplots()
    for row, (_, flights) in enumerate(shown):
        flight = flights[0]
        k = counters.index(flight.counter)
        begin = max(flight.issued, first) + 1
        end = last + 1 if flight.until is None else min(flight.until, last) + 1
        axes.barh(
            row, end - begin, left=begin, height=0.72, color=palette.CATEGORIES[k % 7],
            hatch=palette.HATCHES[k % 7], edgecolor="black", linewidth=0.5,
        )  # fmt: skip
        dots = [each.issued + 1 for each in flights if each.issued >= first]
        axes.plot(dots, [row] * len(dots), "o", color="black", markersize=3.5)
        if flight.until is not None and flight.until < last:
            axes.plot([end], [row], "|", color="black", markersize=9, markeredgewidth=2)
    marks = sorted({wait.step for wait in found.waits if first <= wait.step < last})
    for step in marks:
        axes.axvline(step + 1, color=palette.VERMILLION, linestyle="--", linewidth=0.9, zorder=0)
    names = [f"{len(flights)} of {name}" if len(flights) > 1 else name for name, flights in shown]
    axes.set_yticks(range(len(shown)), names, fontsize=8)
    axes.set_ylim(max(len(shown), 1) - 0.4, -0.6)
    axes.set_xlim(first + 0.5, max(last, first + 2) + 1)
    axes.set_xlabel("step (instruction executed)")
    axes.locator_params(axis="x", integer=True)
    drawn_too = {flights[0].counter for _, flights in shown}
    if drawn_too:
        from matplotlib.patches import Patch

        axes.legend(
            handles=[
                Patch(facecolor=colour, hatch=hatch, edgecolor="black", label=counter)
                for counter, colour, hatch in zip(counters, palette.CATEGORIES, palette.HATCHES, strict=False)
                if counter in drawn_too
            ],
            fontsize=8, loc="upper right", ncols=len(drawn_too),
        )  # fmt: skip
    axes.set_title("a bar: from the issue (dot) to the wait for it; dashed: a wait", fontsize=9, loc="left")
    return drawn
