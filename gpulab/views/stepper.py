"""The wave stepper: one wave's life, moved through step by step, with source, instructions, lanes, registers, memory.

The browser gets, packed, which instruction each step executes and EXEC at it, and all texts. Registers and memory come
in windows of some hundred steps when they are needed: the state before the first of them, and what each one changes.
"""

from __future__ import annotations

import base64
import bisect
import json
import math
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gpulab.records import Trace, TraceInstruction, TraceStep
from gpulab.views import palette
from gpulab.views.in_flight import Followed, follow
from gpulab.views.instrument import MOST_BYTES, Instrument, Reply, to_json
from gpulab.views.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WINDOW = 256
"""Steps that the browser gets at a time, at most."""
WINDOW_BYTES = 700_000
NEAR = 12
"""Lines around an executed one that are shown of long files."""
LONG_FILE = 400
LONGEST_LINE = 300
MOST_ROWS = 60
LDS_EVERY = 2048
"""Steps between two states of LDS that are kept."""
WIDE = ("vcc", "exec")
SPECIALS = ("exec", "vcc", "scc", "m0", "mode")
MASK64 = (1 << 64) - 1
NEVER = 0xFFFFFFFF
"""The step of a wait that no step is."""


def stepper(trace: Trace) -> Instrument:
    """The wave stepper of a trace."""
    life = Life(trace)
    states = _States(trace)
    return Instrument(
        "stepper",
        f"Wave stepper: {trace.kernel} ({trace.arch}), workgroup {trace.workgroup}, wave {trace.wave}",
        _sentence(trace, life),
        _table(trace, life),
        _data(trace, life, states),
        lambda: _figure(trace, life),
        states.answer,
    )


# ------------------------------------------------------------------------------------------- words and numbers


class Life:
    """A trace as arrays with one element for each step.

    Attributes:
        executed: index of its instruction. masks: EXEC. active: lanes that EXEC names.
        divergences: the steps that run for other lanes than the step before them.
        barriers: the steps at which the wave comes to a barrier.
    """

    def __init__(self, trace: Trace) -> None:
        import numpy as np

        steps = trace.steps
        self.executed = np.fromiter((step.instruction for step in steps), np.dtype("<u4"), len(steps))
        self.masks = np.fromiter((step.exec_mask & MASK64 for step in steps), np.dtype("<u8"), len(steps))
        self.active = np.bitwise_count(self.masks).astype(int)
        self.divergences: list[int] = (np.flatnonzero(self.masks[1:] != self.masks[:-1]) + 1).tolist()
        kinds = np.array([i.kind == "barrier" for i in trace.instructions], bool)
        self.barriers: list[int] = np.flatnonzero(kinds[self.executed]).tolist() if len(steps) else []


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _sentence(trace: Trace, life: Life) -> str:
    if not trace.steps:
        return f"The wave of {trace.wave_size} lanes executed nothing."
    used = {trace.instructions[index].where for index in set(life.executed.tolist())}
    visited = {(where.file, where.line) for where in used if where is not None}
    said = f"This wave of {trace.wave_size} lanes executed {_count(len(trace.steps), 'instruction')}"
    said += f" on {_count(len(visited), 'source line')}" if visited else ""
    least, most = int(life.active.min()), int(life.active.max())
    said += f", with {least}" if least == most else f", with {least} to {most}"
    said += f" lane{'' if most == 1 else 's'} active; the active lanes changed {_count(len(life.divergences), 'time')}"
    said += f", and it came to {_count(len(life.barriers), 'barrier')}."
    if trace.truncated:
        said += " The trace ends before the wave does."
    if trace.fault is not None:
        said += f" {fault_words(trace)}"
    return said


def fault_words(trace: Trace) -> str:
    """Why the wave was stopped, in a sentence; "" if it was not."""
    fault = trace.fault
    if fault is None:
        return ""
    lane = f", lane {fault.lane}" if fault.lane is not None else ""
    verb = {"read": "reads", "write": "writes", "atomic": "changes"}.get(fault.access, "")
    what = f" {verb} {_count(fault.bytes, 'byte')}" if verb and fault.bytes else ""
    what += f" at {fault.address:#x}" if fault.address is not None else ""
    near = fault.nearest
    if near is not None:
        name = near.name or "an allocation"
        far = _count(near.distance, "byte") if near.distance else "right"
        where = {"after": f"{far} behind the end of", "before": f"{far} before", "freed": "in freed memory, once"}
        what += f", {where.get(near.relation, near.relation)} {name} ({_count(near.size, 'byte')})"
    detail = f" ({fault.detail})" if fault.detail else ""
    return f"It was stopped at step {len(trace.steps)}{lane}: {fault.kind}{':' if what else ''}{what}{detail}."


def _table(trace: Trace, life: Life) -> Table:
    """Steps and active lanes by source line."""
    import numpy as np

    size = len(trace.instructions)
    times = np.bincount(life.executed, minlength=size)
    fewest, most = np.full(size, 64), np.zeros(size, int)
    np.minimum.at(fewest, life.executed, life.active)
    np.maximum.at(most, life.executed, life.active)
    rows: dict[tuple[str, int], list[Any]] = {}
    for index in np.flatnonzero(times).tolist():
        where = trace.instructions[index].where
        key = (where.file, where.line) if where else ("", 0)
        row = rows.setdefault(key, [0, 64, 0, where.text.strip() if where else ""])
        row[0] += int(times[index])
        row[1], row[2] = min(row[1], int(fewest[index])), max(row[2], int(most[index]))
    several = len({file for file, _ in rows if file}) > 1
    shown = sorted(rows)
    note = ""
    if len(shown) > MOST_ROWS:
        shown = sorted(sorted(rows, key=lambda key: -rows[key][0])[:MOST_ROWS])
        note = f"{len(rows) - MOST_ROWS:,} more lines, with fewer steps each, are left out."
    return Table(
        ("line", "steps", "fewest lanes", "most lanes", "source"),
        tuple(
            ((f"{file}:{line}" if several else str(line)) if file or line else "–", *rows[file, line])
            for file, line in shown
        ),
        note,
    )  # fmt: skip


# ----------------------------------------------------------------------------------------------- for the browser


def _pack(content: bytes) -> str:
    return base64.b64encode(zlib.compress(content, 6)).decode("ascii")


def _data(trace: Trace, life: Life, states: _States) -> dict[str, Any]:
    """What the browser gets at first: below `MOST_BYTES`, if need be without instructions that were not executed, or
    with the first steps only."""
    count = len(trace.steps)
    everything = True
    flights = follow(trace)
    while True:
        data = _packed(trace, life, states, flights, count, everything)
        # The rest of the message, title and sentence, is small.
        size = len(json.dumps(data))
        if size < MOST_BYTES - 40_000:
            first, buffers = states.window(0, min(WINDOW, 64))
            window = {"reply": _pack(to_json(first).encode()), "buffers": [_pack(b) for b in buffers]}
            if size + len(json.dumps(window)) < MOST_BYTES - 40_000:
                data["first"] = window
            return data
        if everything:
            everything = False
        else:
            count = count * 2 // 3


def _packed(
    trace: Trace, life: Life, states: _States, followed: Followed, count: int, everything: bool
) -> dict[str, Any]:
    import numpy as np

    used = np.unique(life.executed[:count]).tolist()
    kept = list(range(len(trace.instructions))) if everything else used
    place = {index: k for k, index in enumerate(kept)}
    places = np.zeros(max(len(trace.instructions), 1), np.dtype("<u4"))
    places[kept] = np.arange(len(kept))
    instructions = [trace.instructions[index] for index in kept]
    words = 2 if trace.wave_size == 64 else 1
    masks, executed = life.masks[:count], places[life.executed[:count]]
    texts = _texts(trace, instructions, place, states)
    counters = list(dict.fromkeys(flight.counter for flight in followed.flights))
    flights = np.array(
        [
            (flight.issued, NEVER if flight.until is None else flight.until, counters.index(flight.counter))
            for flight in followed.flights
            if flight.issued < count
        ],
        np.dtype("<u4"),
    ).reshape(-1, 3)
    return {
        "kernel": trace.kernel,
        "arch": trace.arch,
        "waveSize": trace.wave_size,
        "workgroup": list(trace.workgroup),
        "wave": trace.wave,
        "count": count,
        "all": len(trace.steps),
        "truncated": trace.truncated,
        "ldsBytes": trace.lds_bytes,
        "fault": _fault(trace),
        "hidden": len(trace.instructions) - len(kept),
        "texts": _pack(to_json(texts).encode()),
        # Bytes of one place stand together: they compress better.
        "instructions": _pack(executed.view(np.uint8).reshape(-1, 4).T.tobytes()),
        "exec": _pack(masks.view(np.uint8).reshape(-1, 8)[:, : 4 * words].T.tobytes()),
        "counters": counters,
        "flights": _pack(flights.view(np.uint8).reshape(-1, 12).T.tobytes()),
    }


def _fault(trace: Trace) -> dict[str, Any] | None:
    if trace.fault is None:
        return None
    return {"lane": trace.fault.lane, "kind": trace.fault.kind, "words": fault_words(trace)}


def _texts(
    trace: Trace, instructions: Sequence[TraceInstruction], place: Mapping[int, int], states: _States
) -> dict[str, Any]:
    meanings: dict[str, int] = {}
    operands: dict[Any, int] = {}
    files = _files(trace, instructions)
    numbers = {file["name"]: k for k, file in enumerate(files)}
    rows = []
    for item in instructions:
        where = item.where
        rows.append(
            [
                item.text[:LONGEST_LINE],
                numbers[where.file] if where else -1,
                where.line if where else 0,
                meanings.setdefault(item.meaning, len(meanings)),
                item.kind,
                [operands.setdefault(operand, len(operands)) for operand in item.operands],
                item.label,
                place.get(item.target, -1) if item.target is not None else -1,
                list(item.raises),
                [list(each) for each in item.allows],
            ]
        )
    return {
        "instructions": rows,
        "meanings": list(meanings),
        "operands": [
            [o.text, [states.numbers[name] for name in o.registers], o.type, int(o.written), o.name] for o in operands
        ],
        "files": files,
        "registers": states.names,
        "vectors": states.vectors,
        "memory": [[r.name, f"{r.address:x}", r.size] for r in trace.memory],
    }


def _files(trace: Trace, instructions: Iterable[TraceInstruction]) -> list[dict[str, Any]]:
    """The files with instructions, the one with most of them first: [line, text], and [0, ""] where lines are left
    out."""
    lines: dict[str, dict[int, str]] = {}
    count: dict[str, int] = {}
    for item in instructions:
        if item.where is not None:
            lines.setdefault(item.where.file, {})[item.where.line] = item.where.text
            count[item.where.file] = count.get(item.where.file, 0) + 1
    found = []
    for name in sorted(count, key=lambda name: (-count[name], name)):
        used = lines[name]
        text = trace.files.get(name, trace.source if len(count) == 1 else "").expandtabs(4).splitlines()
        if text and len(text) <= LONG_FILE:
            shown = list(range(1, len(text) + 1))
        elif text:
            near = {n for line in used for n in range(line - NEAR, line + NEAR + 1)}
            shown = sorted(n for n in near if 1 <= n <= len(text))
        else:
            shown = []
        shown = sorted({*shown, *used})
        rows: list[list[Any]] = []
        last = 0
        for line in shown:
            if line != last + 1 and (rows or text):
                rows.append([0, ""])
            rows.append([line, (text[line - 1] if line <= len(text) else used.get(line, ""))[:LONGEST_LINE]])
            last = line
        if text and last < len(text):
            rows.append([0, ""])
        found.append({"name": name, "lines": rows})
    return found


def _natural(name: str) -> tuple[str, int]:
    match = re.fullmatch(r"([a-z]+)(\d*)", name)
    return (match[1], int(match[2] or 0)) if match else (name, 0)


class _States:
    """The state of the wave at any step: the browser's questions for windows of steps are answered from here."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.history: dict[str, list[int]] = {}
        for k, step in enumerate(trace.steps):
            for name in step.changes:
                self.history.setdefault(name, []).append(k)
        known = {*self.history, *trace.start, "exec", "vcc", "scc"}
        known.update(name for item in trace.instructions for o in item.operands for name in o.registers)
        vectors = sorted((name for name in known if self._is_vector(name)), key=lambda n: (n[0] == "a", _natural(n)))
        scalars = sorted(
            (name for name in known if not self._is_vector(name)),
            key=lambda n: (SPECIALS.index(n) if n in SPECIALS else len(SPECIALS), _natural(n)),
        )
        self.vectors = len(vectors)
        self.names = vectors + scalars
        self.numbers = {name: k for k, name in enumerate(self.names)}
        self._lds = [bytes(-(-trace.lds_bytes // 4) * 4)]  # whole words

    @staticmethod
    def _is_vector(name: str) -> bool:
        return name[0] in "va" and name[1:].isdigit()

    def value(self, name: str, step: int) -> int | tuple[int, ...]:
        """A register before a step."""
        changed = self.history.get(name, [])
        at = bisect.bisect_left(changed, step) - 1
        if at >= 0:
            return self.trace.steps[changed[at]].changes[name]
        return self.trace.start.get(name, (0,) * self.trace.wave_size if self._is_vector(name) else 0)

    def _last(self, name: str, step: int) -> int:
        """The step before this one that changed a register last, or -1."""
        changed = self.history.get(name, [])
        at = bisect.bisect_left(changed, step) - 1
        return changed[at] if at >= 0 else -1

    def lds(self, step: int) -> bytes:
        """LDS before a step."""
        kept, whole = self._lds, step // LDS_EVERY
        while len(kept) <= whole:
            kept.append(self._written(kept[-1], (len(kept) - 1) * LDS_EVERY, len(kept) * LDS_EVERY))
        return self._written(kept[whole], whole * LDS_EVERY, step)

    def _written(self, before: bytes, first: int, last: int) -> bytes:
        pieces = [piece for step in self.trace.steps[first:last] for piece in step.lds]
        if not pieces:
            return before
        content = bytearray(before)
        for offset, data in pieces:
            content[offset : offset + len(data)] = data
        return bytes(content)

    def answer(self, question: Mapping[str, Any]) -> Reply:
        """{"window": first step} gives the steps from there on."""
        return self.window(int(question["window"]))

    def window(self, first: int, most: int = WINDOW) -> tuple[dict[str, Any], list[bytes]]:
        """The state before step `first`, and what it and the next ones change, as a JSON object and three buffers: all
        vector registers (words by lane), the ones that change, in order, and LDS.

        Raises:
            IndexError: there is no such step.
        """
        import numpy as np

        steps = self.trace.steps
        if not 0 <= first < max(1, len(steps)):
            raise IndexError(f"there is no step {first}")
        state = np.array([self.value(name, first) for name in self.names[: self.vectors]], np.uint32).tobytes()
        scalars = [self._scalar(name, self.value(name, first)) for name in self.names[self.vectors :]]
        lds = self.lds(first)
        changed: list[tuple[int, ...]] = []
        rows = []
        size = 0
        for step in steps[first : first + most]:
            vectors, numbers = [], []
            for name, value in step.changes.items():
                if isinstance(value, tuple):
                    vectors.append(self.numbers[name])
                    changed.append(value)
                    size += 4 * len(value)
                else:
                    numbers.append([self.numbers[name], self._scalar(name, value)])
            accesses = [self._access(step, k) for k in range(len(step.accesses))]
            pieces = [[offset, data.hex()] for offset, data in step.lds]
            rows.append([vectors, numbers, accesses, pieces])
            size += sum(30 * len(a.addresses) + 11 * len(a.values) for a in step.accesses) + 2 * sum(
                len(data) for _, data in step.lds
            )
            if size > WINDOW_BYTES:
                break
        moved = np.array(changed, np.uint32).tobytes()
        last = [self._last(name, first) for name in self.names]
        reply = {"first": first, "count": len(rows), "scalars": scalars, "steps": rows, "last": last}
        return reply, [state, moved, lds]

    @staticmethod
    def _scalar(name: str, value: Any) -> Any:
        return f"{value:x}" if name in WIDE else value

    @staticmethod
    def _access(step: TraceStep, which: int) -> list[Any]:
        """[space, action, bytes of a lane, lanes, addresses in hex, words of the values]."""
        access = step.accesses[which]
        words = [value >> 32 * k & 0xFFFFFFFF for value in access.values for k in range((access.bytes + 3) // 4)]
        addresses = [f"{address:x}" for address in access.addresses]
        return [access.space, access.action, access.bytes, list(access.lanes), addresses, words]


# ------------------------------------------------------------------------------------------------ static picture

MOST_COLUMNS = 600
FEW_BARRIERS = 40


def _figure(trace: Trace, life: Life) -> Figure:
    """EXEC over time: a column for each step (or for several), a row for each lane; below it the source line."""
    import numpy as np
    from matplotlib.colors import ListedColormap

    drawn = palette.figure(8.6, 5.4)
    upper, lower = drawn.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    count, size = len(trace.steps), trace.wave_size
    if not count:
        upper.set_title("no instruction was executed")
        return drawn
    width = math.ceil(count / MOST_COLUMNS)
    grid = np.unpackbits(life.masks.view(np.uint8).reshape(count, 8), axis=1, bitorder="little")[:, :size]
    starts = np.arange(0, count, width)
    columns = len(starts)
    sums = np.add.reduceat(grid, starts, axis=0, dtype=np.int64)
    shares = (sums / np.diff(starts, append=count)[:, None]).T
    colours = ListedColormap([_blend(k / 15) for k in range(16)])
    upper.imshow(
        shares, aspect="auto", interpolation="nearest", cmap=colours, vmin=0, vmax=1,
        extent=(0.5, columns * width + 0.5, size - 0.5, -0.5),
    )  # fmt: skip
    marks = np.unique(np.array(life.barriers, int) // width) * width + (width + 1) / 2
    many = len(marks) > FEW_BARRIERS
    if many:  # marks above the lanes; fewer of them are lines through all lanes
        upper.vlines(marks, -size / 16 - 0.5, -1, colors=palette.VERMILLION, linewidth=0.8)
        upper.set_ylim(size - 0.5, -size / 16 - 0.5)
    else:
        upper.vlines(marks, -0.5, size - 0.5, colors=palette.VERMILLION, linestyles="--", linewidth=1.2)
    if trace.fault is not None:
        upper.plot([count], [trace.fault.lane or 0], marker="X", markersize=11, color=palette.VERMILLION, clip_on=False)
    upper.set_ylabel("lane")
    upper.set_yticks(range(0, size, 8))
    legend = "blue: the lane is active (EXEC); grey: it waits"
    legend += "; paler: part of the time" if width > 1 else ""
    if life.barriers:
        legend += "; marks above: barriers" if many else "; dashed: barrier"
    legend += "; cross: the fault" if trace.fault is not None else ""
    upper.set_title(legend, fontsize=9, loc="left")
    lines: dict[tuple[str, int], str] = {}
    for index in np.unique(life.executed).tolist():
        where = trace.instructions[index].where
        if where is not None:
            lines.setdefault((where.file, where.line), where.text)
    order = sorted(lines)
    lower.set_xlabel("step (instruction executed)")
    lower.set_xlim(0.5, max(count, 2) + 0.5)
    if not order:
        lower.set_ylabel("instruction")
        lower.plot(range(1, count + 1), life.executed, ".", markersize=3, color=palette.BLUE)
        lower.invert_yaxis()
        return drawn
    row = {key: k for k, key in enumerate(order)}
    lined = [row.get((w.file, w.line), -1) if (w := item.where) else -1 for item in trace.instructions]
    found = np.array(lined)[life.executed]
    # Points of the same column and line are one.
    points = np.unique(np.stack([np.arange(count) // width, found], axis=1)[found >= 0], axis=0)
    lower.plot(points[:, 0] * width + (width + 1) / 2, points[:, 1], "s", markersize=3, color=palette.BLUE)
    several = len({file for file, _ in order}) > 1
    every = max(1, math.ceil(len(order) / 12))
    ticks = range(0, len(order), every)
    lower.set_yticks(ticks, [_label(order[k], lines[order[k]], several) for k in ticks], fontsize=8)
    lower.set_ylim(len(order) - 0.5, -0.5)
    return drawn


def _label(place: tuple[str, int], text: str, several: bool) -> str:
    file = f"{place[0].rpartition('/')[2][:14]}:" if several else ""
    clean = "".join(c if c.isprintable() else "·" for c in text.strip())
    return palette.plain(f"{file}{place[1]}  {clean[:34]}{'…' if len(clean) > 34 else ''}")


def _blend(share: float) -> tuple[float, float, float]:
    """Between a waiting lane's grey and an active one's blue."""
    grey, blue = (0.91, 0.91, 0.91), (0.0, 114 / 255, 178 / 255)
    red, green, violet = (g + (b - g) * share for g, b in zip(grey, blue, strict=True))
    return red, green, violet
