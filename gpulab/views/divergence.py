"""Divergence: which lanes were active at each source line and instruction, and what each branch cost.

`divergence` makes the instrument of a profiled launch (all waves) or of a trace (one wave, step by step), or of two of
them beside each other, such as a kernel on wave64 and wave32.

A wave executes a vector instruction for all its lanes at once; lanes that a branch sent another way sit it out. So

    lane-slots        = executions of vector instructions × lanes of a wave
    wasted lane-slots = lane-slots of idle lanes

Vector instructions are those that work once for each active lane. Scalar ones work once for the wave, and v_readlane,
v_writelane and matrix instructions do not ask which lanes are active: none of them waste lanes. A wasted slot is put
down to the innermost branch around the instruction: the if or loop whose lanes decided differently. What is in no
branch is lanes without a thread: of a block whose size is no multiple of the wave's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from gpulab.records import Launch, SourceLine, Trace
from gpulab.views import palette, profiles
from gpulab.views.instrument import Instrument
from gpulab.views.listing import Pair, Place, aligned, cut, label, place, same_source, source_lines
from gpulab.views.table import Cell, Table, number, short

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_INSTRUCTIONS = 1000
"""Instructions of a side that the browser gets; of more the most executed ones."""
MOST_COLUMNS = 400
"""Columns of the picture of a wave's life; of a longer one each stands for several steps."""
_STATIC_ROWS = 24


@dataclass(slots=True)
class Activity:
    """What lanes did at one instruction, or at all vector instructions of a line.

    executed: by waves. whole: with all lanes active. counts: how often each lane was active.
    """

    counts: list[int]
    executed: int = 0
    whole: int = 0

    def add(self, executed: int, whole: int, counts: Sequence[int]) -> None:
        self.executed += executed
        self.whole += whole
        self.counts = [a + b for a, b in zip(self.counts, counts, strict=True)]

    @property
    def active(self) -> int:
        """Lane-slots of active lanes."""
        return sum(self.counts)

    @property
    def slots(self) -> int:
        """Lane-slots."""
        return self.executed * len(self.counts)

    @property
    def wasted(self) -> int:
        """Lane-slots of idle lanes."""
        return self.slots - self.active


class Part(NamedTuple):
    """One instruction, and whether it works by lane."""

    where: SourceLine
    text: str
    by_lane: bool
    activity: Activity


@dataclass(slots=True)
class Branch:
    """What a branch cost: `partial` vector instructions executed in it with idle lanes, `wasted` lane-slots.

    `inside` are the lines of these instructions. The code of an `if` with an `else` can stand in any order: what begins
    at the line of the `else` may well be the other half.
    """

    where: SourceLine
    partial: int = 0
    wasted: int = 0
    inside: set[Place] = field(default_factory=set)

    @property
    def lines(self) -> str:
        """The lines of its instructions as "15" or "15, 17"; the branch's own file is not named."""
        here = place(self.where)[0]
        return ", ".join(str(line) if file == here else f"{file} {line}" for file, line in sorted(self.inside))


@dataclass(slots=True)
class Side:
    """One launch or one wave: what lanes did at each line and instruction, and what branches cost.

    Attributes:
        scalar: executions of other instructions by line.
        outside: wasted lane-slots that stand in no branch.
        time: of a trace, (first step, steps, lanes' shares of activity, line) of each column.
    """

    name: str
    kernel: str
    arch: str
    wave_size: int
    steps: int = 0
    lines: dict[Place, Activity] = field(default_factory=dict)
    scalar: dict[Place, int] = field(default_factory=dict)
    parts: list[Part] = field(default_factory=list)
    branches: dict[Place, Branch] = field(default_factory=dict)
    outside: int = 0
    time: list[tuple[int, int, list[float], SourceLine | None]] = field(default_factory=list)
    note: str = ""

    @property
    def total(self) -> Activity:
        """All vector instructions together."""
        found = Activity([0] * self.wave_size)
        for each in self.lines.values():
            found.add(each.executed, each.whole, each.counts)
        return found

    def put(
        self, where: SourceLine, by_lane: bool, executed: int, whole: int, counts: Sequence[int],
        branch: SourceLine | None,
    ) -> None:  # fmt: skip
        """Add executions of an instruction that stand in one branch."""
        at = place(where)
        if not by_lane:
            self.scalar[at] = self.scalar.get(at, 0) + executed
            return
        self.lines.setdefault(at, Activity([0] * self.wave_size)).add(executed, whole, counts)
        wasted = executed * self.wave_size - sum(counts)
        if branch is None:
            self.outside += wasted
        elif executed > whole:
            found = self.branches.setdefault(place(branch), Branch(branch))
            found.partial += executed - whole
            found.wasted += wasted
            found.inside.add(at)


def of_launch(launch: Launch) -> Side:
    """What lanes did in all waves of a profiled launch."""
    size = len(launch.instructions[0].lane_counts) if launch.instructions else 0
    size = size or launch.constants.get("MAX_WAVE_SIZE", 64)
    side = Side(launch.arch, launch.kernel, launch.arch, size, note=profiles.note(launch))
    for cost in launch.instructions:
        if cost.where is None or not cost.lane_counts:
            continue
        branch = launch.instructions[cost.branch].where if cost.branch is not None else None
        side.put(cost.where, cost.by_lane, cost.executed, cost.whole, cost.lane_counts, branch)
        activity = Activity(list(cost.lane_counts), cost.executed, cost.whole)
        side.parts.append(Part(cost.where, cost.text, cost.by_lane, activity))
    return side


def of_trace(trace: Trace) -> Side:
    """What lanes did in one wave. Branches are found from what EXEC was before and after each step."""
    size = trace.wave_size
    side = Side(trace.arch, trace.kernel, trace.arch, size, len(trace.steps))
    if trace.truncated:
        side.note = "The trace was ended before the wave was."
    whole = (1 << size) - 1
    times: dict[tuple[int, int | None], Counter[int]] = {}  # by instruction and the branch around: EXEC
    open_: list[tuple[int, int]] = []  # (EXEC before, instruction) of each branch around
    before, last = whole, 0
    for step in trace.steps:
        mask = step.exec_mask & whole
        if mask != before:
            while open_ and (mask | open_[-1][0] != open_[-1][0] or mask == open_[-1][0]):
                open_.pop()
            if mask & ~before == 0 and not (open_ and open_[-1][1] == last):
                open_.append((before, last))
        before, last = mask, step.instruction
        times.setdefault((step.instruction, open_[-1][1] if open_ else None), Counter())[mask] += 1
    found: dict[int, Activity] = {}
    for (index, branch), masks in times.items():
        instruction = trace.instructions[index]
        counts, count, full = _lanes(masks, size), masks.total(), masks[whole]
        found.setdefault(index, Activity([0] * size)).add(count, full, counts)
        if instruction.where is not None:
            at = trace.instructions[branch].where if branch is not None else None
            side.put(instruction.where, instruction.by_lane, count, full, counts, at)
    for index, activity in sorted(found.items()):
        instruction = trace.instructions[index]
        if instruction.where is not None:
            side.parts.append(Part(instruction.where, instruction.text.strip(), instruction.by_lane, activity))
    each = -(-len(trace.steps) // MOST_COLUMNS)
    for begin in range(0, len(trace.steps), max(each, 1)):
        steps = trace.steps[begin : begin + each]
        counts = _lanes(Counter(step.exec_mask & whole for step in steps), size)
        shares = [count / len(steps) for count in counts]
        places = Counter(trace.instructions[step.instruction].where for step in steps)
        del places[None]
        side.time.append((begin, len(steps), shares, places.most_common(1)[0][0] if places else None))
    return side


def _lanes(masks: Counter[int], size: int) -> list[int]:
    """How often each lane is in masks that come so often."""
    if len(masks) < 4:
        return [sum(count for mask, count in masks.items() if mask >> lane & 1) for lane in range(size)]
    import numpy as np

    bits = np.array(list(masks), np.uint64)[:, None] >> np.arange(size, dtype=np.uint64) & np.uint64(1)
    found: list[int] = (np.array(list(masks.values()), np.int64) @ bits.astype(np.int64)).tolist()
    return found


def _sources(record: Launch | Trace) -> Mapping[str, str]:
    if isinstance(record, Launch):
        return record.sources
    files = [i.where.file for i in record.instructions if i.where is not None]
    return {max(set(files), key=files.count): record.source} if files and record.source else {}


def divergence(record: Launch | Trace, beside: Launch | Trace | None = None) -> Instrument:
    """Lanes at work by source line: a strip with a bar for each lane, as high as the share of executions with it.

    Args:
        record: a profiled launch, or the trace of a wave, which is also drawn over time.
        beside: another one, drawn beside; lines are matched by their text if the source is not the same.
    """
    records = [record] if beside is None else [record, beside]
    sides = [of_launch(each) if isinstance(each, Launch) else of_trace(each) for each in records]
    if len(sides) == 2 and sides[0].name == sides[1].name:
        sides[0].name, sides[1].name = "before", "after"
    sources = [_sources(each) for each in records]
    listed = [source_lines(text, _costly(side)) for text, side in zip(sources, sides, strict=True)]
    if len(sides) == 1:
        pairs: list[Pair] = [(where, None) for where in listed[0][0]]
    elif dict(sources[0]) == dict(sources[1]) and sources[0]:
        pairs = same_source(listed[0][0], listed[1][0])
    else:
        pairs = aligned(listed[0][0], listed[1][0])
    several = len({where.file for pair in pairs for where in pair if where is not None}) > 1
    archs = " and ".join(dict.fromkeys(side.arch for side in sides))
    what = "one wave" if isinstance(record, Trace) else "all waves"
    title = f"Lanes at work in {sides[0].kernel}, {what} ({archs})"
    missing = sum(left for _, left in listed)
    return Instrument(
        name="divergence",
        title=title,
        sentence=" ".join(_words(side, len(sides) > 1, several) for side in sides),
        table=_table(sides, pairs, several, missing),
        data=_data(sides, pairs, several, missing),
        figure=lambda: _figure(sides, pairs, title, several),
    )


def _costly(side: Side) -> Iterable[SourceLine]:
    seen = {place(part.where): part.where for part in side.parts}
    return seen.values()


def _percent(part: float, whole: float) -> str:
    if not whole or not part:
        return "0 %"
    share = 100 * part / whole
    return f"{share:.0f} %" if share >= 1 else "less than 1 %"


def _words(side: Side, two: bool, several: bool) -> str:
    """What is to be seen of one side."""
    total = side.total
    waves = f"waves of {side.wave_size} lanes"
    lead = "" if not two else side.name.capitalize() if side.name in ("before", "after") else f"On {side.name}"
    lead = f"{lead}, with {waves}: " if two else ""
    total_text = f"{number(total.wasted)} of {number(total.slots)} lane-slots ({_percent(total.wasted, total.slots)})"
    if not total.executed:
        return f"{lead}{'no' if two else 'No'} costs of {side.kernel} by instruction, which only virtual devices count."
    if not total.wasted:
        agree = "" if two else f", for all lanes of a wave went the same way ({waves})"
        return f"{lead}{'no' if two else 'No'} lane was ever idle in a vector instruction of {side.kernel}{agree}."
    said = f"{lead}{total_text} were wasted on idle lanes" + ("." if two else f", in {waves}.")
    if side.branches:
        worst = max(side.branches.values(), key=lambda branch: branch.wasted)
        text = short(worst.where.text.strip(), 50)
        many = "lines" if len(worst.inside) > 1 else "line"
        where = "" if worst.inside == {place(worst.where)} else f" ({many} {worst.lines})"
        said += (
            f" The branch at line {label(worst.where, several)}, “{text}”, cost the most: {number(worst.wasted)} "
            f"lane-slots; {number(worst.partial)} vector instructions ran in it with idle lanes"
            f"{where}."
        )
    if side.outside:
        said += f" {number(side.outside)} slots belong to no branch: lanes without a thread."
    return said


def _name(pair: Pair, several: bool) -> str:
    known = [label(where, several) for where in pair if where is not None]
    return known[0] if len(set(known)) == 1 else " → ".join(known)


def _text(pair: Pair) -> str:
    return next((where.text for where in pair if where is not None), "")


def _table(sides: Sequence[Side], pairs: Sequence[Pair], several: bool, missing: int) -> Table:
    """One row per line with vector instructions (and side), one per branch's line."""
    two = len(sides) > 1
    columns = (
        "line", "source", *(["on"] if two else []), "vector instructions", "with idle lanes", "lanes active",
        "slots wasted", "wasted by its branch",
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for pair in pairs:
        for side, where in zip(sides, pair, strict=False):
            if where is None:
                continue
            activity, branch = side.lines.get(place(where)), side.branches.get(place(where))
            if activity is None and branch is None:
                continue
            found: list[Cell] = [label(where, several), where.text.strip(), *([side.name] if two else [])]
            if activity is None:
                found += ["–"] * 4
            else:
                mean = round(activity.active / activity.executed, 1) if activity.executed else 0.0
                found += [activity.executed, activity.executed - activity.whole, mean, activity.wasted]
            rows.append((*found, branch.wasted if branch is not None else "–"))
    notes = [side.note for side in sides if side.note]
    notes += [f"{missing:,} lines of source are left out."] if missing else []
    if rows:
        notes.append("Wasted: executions of vector instructions × idle lanes.")
    return Table(columns, tuple(rows), " ".join(dict.fromkeys(notes)) if rows else "No costs by instruction.")


def _shares(counts: Sequence[float], executed: float) -> str:
    """Each lane's share of executions as two hexadecimal digits: "00" never, "ff" always."""
    return "".join(f"{round(255 * count / executed) if executed else 0:02x}" for count in counts)


def _activity(activity: Activity | None, vector: bool = True) -> dict[str, Any] | None:
    if activity is None:
        return None
    return {
        "executed": activity.executed, "whole": activity.whole, "active": activity.active, "vector": vector,
        "wasted": activity.wasted if vector else 0, "lanes": _shares(activity.counts, activity.executed),
    }  # fmt: skip


def _data(sides: Sequence[Side], pairs: Sequence[Pair], several: bool, missing: int) -> dict[str, Any]:
    parts: list[dict[Place, list[dict[str, Any]]]] = []
    left_out = 0
    for at, side in enumerate(sides):
        order = sorted(range(len(side.parts)), key=lambda k: -side.parts[k].activity.executed)
        left_out += max(len(order) - MOST_INSTRUCTIONS, 0)
        own: dict[Place, list[dict[str, Any]]] = {}
        for k in sorted(order[:MOST_INSTRUCTIONS]):
            part = side.parts[k]
            found = _activity(part.activity, part.by_lane)
            own.setdefault(place(part.where), []).append({"text": cut(part.text), "side": at, "found": found})
        parts.append(own)
    rows: list[dict[str, Any]] = []
    row_of: list[dict[Place, int]] = [{} for _ in sides]
    for pair in pairs:
        lines: list[dict[str, Any] | None] = []
        inner: list[dict[str, Any]] = []
        for at, side in enumerate(sides):
            its = pair[at]
            if its is None:
                lines.append(None)
                continue
            row_of[at][place(its)] = len(rows)
            found = _activity(side.lines.get(place(its)))
            scalar = side.scalar.get(place(its), 0)
            branch = side.branches.get(place(its))
            if found is None and scalar:
                found = {"executed": 0, "whole": 0, "active": 0, "wasted": 0, "vector": False, "lanes": ""}
            if found is not None:
                found["scalar"] = scalar
                found["branch"] = (
                    None
                    if branch is None
                    else {
                        "partial": branch.partial,
                        "wasted": branch.wasted,
                        "lines": branch.lines,
                    }
                )
            lines.append(found)
            inner += parts[at].get(place(its), [])
        mark = "" if len(sides) == 1 or None not in pair else "−" if pair[1] is None else "+"
        row = {"line": _name(pair, several), "text": cut(_text(pair)), "mark": mark, "sides": lines, "parts": inner}
        rows.append(row)
    notes = [side.note for side in sides if side.note]
    notes += [f"{missing:,} lines of source are left out."] if missing else []
    notes += [f"{left_out:,} instructions, the least executed ones, are left out."] if left_out else []
    return {
        "sides": [
            {
                "name": side.name, "waveSize": side.wave_size, "steps": side.steps, "slots": side.total.slots,
                "wasted": side.total.wasted, "outside": side.outside,
                "time": [
                    [begin, count, _shares(shares, 1), -1 if where is None else row_of[at].get(place(where), -1)]
                    for begin, count, shares, where in side.time
                ],
            }
            for at, side in enumerate(sides)
        ],
        "rows": rows,
        "note": " ".join(dict.fromkeys(notes)),
    }  # fmt: skip


def _figure(sides: Sequence[Side], pairs: Sequence[Pair], title: str, several: bool) -> Figure:
    """Lanes over time for a trace; else lanes by source line."""
    over_time = [side for side in sides if side.time]
    if over_time:
        figure = palette.figure(8.6, 0.8 + 2.4 * len(over_time))
        most = max(side.steps for side in over_time)
        for at, side in enumerate(over_time):
            axes = figure.add_subplot(len(over_time), 1, at + 1)
            picture = [[shares[lane] for _, _, shares, _ in side.time] for lane in range(side.wave_size)]
            image = axes.imshow(
                picture, aspect="auto", cmap="cividis", vmin=0, vmax=1, interpolation="nearest",
                extent=(0, side.steps, side.wave_size - 0.5, -0.5),
            )  # fmt: skip
            axes.set_xlim(0, most)
            axes.set_ylabel(f"lane ({palette.plain(side.name)})")
            axes.set_xlabel("step: instructions that the wave executed")
            figure.colorbar(image, ax=axes, label="share of time active", ticks=[0, 1])
        figure.suptitle(palette.plain(title), fontsize=11)
        return figure
    wasteful = [p for p in pairs if any(_activity_of(sides, p, at) for at in range(len(sides)))]
    ranked = sorted(wasteful, key=lambda p: -max(_wasted(sides, p, at) for at in range(len(sides))))
    chosen = {id(pair) for pair in ranked[:_STATIC_ROWS]}
    dropped = len(wasteful) - len(chosen)
    wasteful = [pair for pair in wasteful if id(pair) in chosen]
    figure = palette.figure(8.6, 1.5 + 0.27 * max(len(wasteful), 1))
    if not wasteful:
        figure.text(0.5, 0.5, "No costs by instruction.", ha="center")
        return figure
    grid = figure.subplots(1, len(sides), sharey=True, squeeze=False, width_ratios=[side.wave_size for side in sides])
    for at, side in enumerate(sides):
        axes = grid[0][at]
        picture = []
        for pair in wasteful:
            activity = _activity_of(sides, pair, at)
            nothing = [float("nan")] * side.wave_size
            picture.append([n / activity.executed for n in activity.counts] if activity else nothing)
        image = axes.imshow(picture, aspect="auto", cmap="cividis", vmin=0, vmax=1, interpolation="nearest")
        axes.set_xlabel(f"lane ({palette.plain(side.name)})")
        axes.set_xticks([*range(0, side.wave_size, 16), side.wave_size - 1])
        for row in range(1, len(wasteful)):
            axes.axhline(row - 0.5, color="white", linewidth=1.5)
    names = []
    for pair in wasteful:
        names.append(palette.plain(f"{_name(pair, several)}  {short(_text(pair).strip(), 44)}"))
    grid[0][0].set_yticks(range(len(wasteful)), names, fontsize=8, family="monospace")
    figure.colorbar(image, ax=list(grid[0]), label="share of executions active", ticks=[0, 0.5, 1])
    more = f" ({dropped} lines that waste less are not shown)" if dropped else ""
    figure.suptitle(palette.plain(title + more), fontsize=11)
    return figure


def _activity_of(sides: Sequence[Side], pair: Pair, at: int) -> Activity | None:
    where = pair[at]
    found = None if where is None else sides[at].lines.get(place(where))
    return found if found is not None and found.executed else None


def _wasted(sides: Sequence[Side], pair: Pair, at: int) -> int:
    activity = _activity_of(sides, pair, at)
    return 0 if activity is None else activity.wasted
