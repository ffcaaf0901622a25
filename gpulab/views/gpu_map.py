"""GPU map: the device with all its compute units, filling as a launch proceeds; on request the waves of one unit.

`gpu_map(launch)` is an `Instrument` of the launch's `Placement`: which workgroup is where and when, by the model.
The browser gets how many workgroups each unit holds at each of some points in time; what one unit holds it asks for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gpulab import architectures
from gpulab.errors import GpulabError
from gpulab.records import Launch, Placement
from gpulab.views import palette
from gpulab.views.instrument import Instrument
from gpulab.views.placed import Differing, placed
from gpulab.views.table import Cell, Table

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

STEPS = 96  # points in time while workgroups run


def known(placement: Placement) -> str:
    """What of the map is known of hardware, and what the model assumes."""
    what = f"how many {placement.unit}s there are and what one can hold"
    if placement.dies > 1:
        what += ", and that workgroups go round the XCDs by number"
    die = "die" if placement.dies > 1 else "device"
    order = "one after the other"
    if parts(placement)[0][0].startswith("shader"):
        order += " and round the shader engines"
    assumed = f"the {placement.unit}s of a {die} take workgroups {order}, and that all workgroups take equally long"
    if placement.stays:
        assumed = (
            f"the next workgroup goes to the {placement.unit} of its {die} that holds the fewest, and that each takes "
            "as long as the instructions that it executed say"
        )
    return f"Known of hardware: {what}. Assumed: that {assumed}."


def gpu_map(launch: Launch) -> Instrument:
    """Where the workgroups of a launch run, over its modelled time.

    Raises:
        GpulabError: the launch has no placement: it ran on a real GPU.
    """
    placement = launch.placement
    if placement is None:
        raise GpulabError(
            f"nobody knows which compute units ran {launch.kernel}.",
            why="a real GPU does not say where it puts workgroups; the map comes from the model of a virtual one.",
            hint='profile the kernel on a virtual device: gpulab.use("virtual:gfx942").',
        )
    times = points(placement)
    held, waiting, running, done = occupancy(placement, times)
    product = architectures.get(placement.arch).product
    groups = parts(placement)
    fullest = int(running.argmax())

    def answer(question: Mapping[str, Any]) -> dict[str, Any]:
        return detail(placement, int(question["die"]), int(question["unit"]), float(times[int(question["step"])]))

    return Instrument(
        name="gpu_map",
        title=f"Workgroups of {launch.kernel} on the {product} ({placement.arch})",
        sentence=sentence(launch, placement, int(running[fullest])),
        table=table(placement, held, groups),
        data={
            "unit": placement.unit,
            "dies": placement.dies,
            "units": placement.units,
            "places": placement.places,
            "waves": placement.waves,
            "simds": placement.simds,
            "slots": placement.wave_slots,
            "workgroups": placement.workgroups,
            "limit": placement.limit,
            "across": across(len(groups)),
            "columns": shape(len(groups[0][1]), len(groups)),
            "parts": [{"name": name, "units": units} for name, units in groups],
            "times": [round(float(time), 6) for time in times],
            "held": held.reshape(len(times), -1).tolist(),
            "waiting": waiting.tolist(),
            "running": running.tolist(),
            "done": done.tolist(),
            "fullest": fullest,
            "begin": placement.begin_us,
            "note": known(placement),
        },
        figure=lambda: figure(launch, placement, times, held, running),
        answer=answer,
    )


def points(placement: Placement) -> NDArray[np.float64]:
    """The points in time that the map shows, in microseconds: the launch, its first workgroup and from then on equal
    steps, with the moment among them at which the most workgroups run (where all take equally long, the one at which
    the first round has started), and what else `Placed.moments` gives."""
    import numpy as np

    moments = [min(moment, placement.total_us) for moment in placed(placement).moments]
    steps = np.linspace(placement.begin_us, placement.total_us, STEPS)
    return np.unique(np.concatenate(([0.0], steps, moments)))


def occupancy(
    placement: Placement, times: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Workgroups held by each unit, and all that wait, run and are done, at some times.

    Returns:
        Integers of the shapes (times, dies, units), (times,), (times,), (times,).
    """
    held, ended = placed(placement).occupancy(times)
    running = held.sum(axis=(1, 2))
    return held, placement.workgroups - running - ended, running, ended


def parts(placement: Placement) -> list[tuple[str, list[int]]]:
    """(name, units) of what the map draws as one block: an XCD, a shader engine or the device; units are counted over
    all dies. Shader engines are drawn where the units are shared out evenly (which units of a die are switched off is
    not public), and units one after the other are then of different engines."""
    p = placement
    if p.dies > 1:
        return [(f"XCD {die}", list(range(die * p.units, (die + 1) * p.units))) for die in range(p.dies)]
    engines = architectures.get(p.arch).shader_engines
    if p.units % engines == 0:
        return [(f"shader engine {engine}", list(range(engine, p.units, engines))) for engine in range(engines)]
    return [(f"all {p.unit}s", list(range(p.units)))]


def detail(placement: Placement, die: int, unit: int, time: float) -> dict[str, Any]:
    """What one unit holds at a time: for each workgroup its number, start, end and the (SIMD, slot) of its waves.

    Raises:
        IndexError: there is no such unit.
    """
    p = placement
    if not (0 <= die < p.dies and 0 <= unit < p.units):
        raise IndexError(f"there is no unit {unit} on die {die}")
    asked = placed(p)
    found = [
        {"workgroup": each.workgroup, "start": each.start, "end": each.end, "slots": p.slots(each.place)}
        for each in asked.held(die, unit, time)
    ]
    return {"workgroups": found, "total": asked.total(die, unit)}


def sentence(launch: Launch, placement: Placement, most: int) -> str:
    """What the map shows, in words."""
    p = placement
    units, asked = p.dies * p.units, placed(p)
    used = sum(asked.total(die, unit) > 0 for die in range(p.dies) for unit in range(p.units))
    name = p.unit + "s"
    slots = units * p.simds * p.wave_slots
    groups = "1 workgroup" if p.workgroups == 1 else f"{p.workgroups:,} workgroups"
    had = f"{used} of {units} {name} had work"
    if used < units:
        had += f"; the other {units - used} idled all the time, because there were no more workgroups"
    waves = "1 wave" if p.waves == 1 else f"{p.waves} waves"
    text = f"{launch.kernel} was launched with {groups} of {waves} each: {had}. "
    ran = "1 of them runs" if most == 1 else f"{most:,} of them run"
    share = round(100 * most * p.waves / slots, 1)
    text += f"At the fullest moment {ran}, which takes {share:g} % of the device's {slots:,} wave slots. "
    if p.workgroups > units * p.places:
        text += (
            f"One {p.unit} holds {p.places} of them at a time ({p.limit} allow no more), so that the others waited for "
            "their turn. "
        )
    if isinstance(asked, Differing):
        lasts = [stay.end_us - stay.start_us for stay in p.stays]
        longest = lasts.index(max(lasts))
        die, unit, _ = p.where(longest)
        where = f"{p.unit} {unit}" + (f" of XCD {die}" if p.dies > 1 else "")
        text += (
            f"Workgroups differ: number {longest} runs the longest, for {lasts[longest]:.3g} µs on {where}; an average "
            f"one takes {p.group_us:.3g} µs. "
        )
        if asked.half is not None and asked.half < p.total_us:
            text += f"From {asked.half:.3g} µs on, fewer than half of the {name} have work. "
    if launch.fault is not None:
        text += f"The kernel was stopped ({launch.fault.kind}); the map shows the launch as if all had gone on. "
    before = f"of which {p.begin_us:.3g} µs pass before the first one runs"
    return f"{text}Times are modelled: {p.total_us:.3g} µs, {before}."


def table(placement: Placement, held: NDArray[np.int64], groups: list[tuple[str, list[int]]]) -> Table:
    """One row for each part of the device, and one for all."""
    p = placement
    flat, asked = held.reshape(len(held), -1), placed(p)
    rows: list[tuple[Cell, ...]] = []
    for name, units in [*groups, ("all", list(range(p.dies * p.units)))]:
        own, gets = flat[:, units], sum(asked.total(*divmod(unit, p.units)) for unit in units)
        most = int(own.sum(axis=1).max())
        rows.append(
            (
                name, gets, int((own.max(axis=0) > 0).sum()), len(units), most,
                round(100 * most * p.waves / (len(units) * p.simds * p.wave_slots), 1),
            )
        )  # fmt: skip
    columns = ("part", "workgroups", f"{p.unit}s with work", f"{p.unit}s", "at a time, at most", "% of wave slots")
    return Table(columns, tuple(rows[:1] if len(rows) == 2 else rows), known(p) + " All times are modelled.")


def figure(
    launch: Launch,
    placement: Placement,
    times: NDArray[np.float64],
    held: NDArray[np.int64],
    running: NDArray[np.int64],
) -> Figure:
    """The map at its fullest moment, and how many units had work over time."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    p = placement
    moment = int(running.argmax())
    now = held[moment].reshape(-1)
    groups = parts(p)
    beside = across(len(groups))
    columns = shape(len(groups[0][1]), len(groups))
    lines = -(-len(groups[0][1]) // columns)
    down = -(-len(groups) // beside)
    high_map = 7.9 * down * (lines + 1.6) / (beside * (columns + 1)) + 0.3
    drawn = palette.figure(8.2, min(high_map, 5.0) + 1.7)
    top, below = drawn.subplots(2, 1, height_ratios=[min(high_map, 5.0), 1.4])
    squares, colours = [], []
    for index, (name, units) in enumerate(groups):
        left, high = index % beside * (columns + 1), index // beside * (lines + 1.6)
        top.text(left, high - 0.2, name, fontsize=8, va="bottom", in_layout=False)
        for k, unit in enumerate(units):
            x, y, number = left + k % columns, high + k // columns, int(now[unit])
            colour = palette.heat(number / p.places * 0.999) if number else "#FFFFFF"
            squares.append(Rectangle((x + 0.06, y + 0.06), 0.88, 0.88))
            colours.append(colour)
            if number:
                shown: dict[str, Any] = {"ha": "center", "va": "center", "color": palette.on(colour)}
                top.text(x + 0.5, y + 0.53, str(number), fontsize=7, in_layout=False, **shown)
    top.add_collection(PatchCollection(squares, facecolors=colours, edgecolors="#949494", linewidths=0.6))
    top.set_xlim(-0.2, beside * (columns + 1) - 0.8)
    top.set_ylim(down * (lines + 1.6) - 0.4, -1.2)
    top.set_aspect("equal")
    top.axis("off")
    said = f"{launch.kernel} on {p.arch} after {times[moment]:.3g} µs (modelled): workgroups on each {p.unit}"
    top.set_title(palette.plain(said), fontsize=9)
    busy = (held > 0).sum(axis=(1, 2))
    below.step(times, busy, where="post", color=palette.BLUE)
    below.fill_between(times, busy, step="post", color=palette.BLUE, alpha=0.25)
    below.axhline(p.dies * p.units, color="#545454", ls="--", lw=1)
    below.text(0, p.dies * p.units * 0.97, f" all {p.dies * p.units}", fontsize=7, va="top", color="#545454")
    below.set_xlim(0, float(times[-1]))
    below.set_ylim(0, p.dies * p.units * 1.08)
    below.set_ylabel(f"{p.unit}s at work", fontsize=8)
    below.set_xlabel("modelled time in µs; an empty square has nothing to do", fontsize=8)
    below.tick_params(labelsize=7)
    return drawn


def across(groups: int) -> int:
    """Blocks beside each other."""
    return {8: 4, 6: 3, 4: 4}.get(groups, 1)


def shape(count: int, groups: int) -> int:
    """Columns of a block of so many units."""
    if groups == 1:
        return min(count, 22)
    return 10 if count > 32 else 8 if count > 16 else 3 if count == 9 else min(count, 4)
