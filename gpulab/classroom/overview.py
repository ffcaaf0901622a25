"""How a class is doing: tables of a finished run, from the files in its folder. `overview(folder)` reads them."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from gpulab.classroom.learning import EXPORTED, Learning, read_learning
from gpulab.classroom.results import MISSING, NOT_JUDGED, UNREAD
from gpulab.classroom.run import attempts
from gpulab.errors import CheckError
from gpulab.toolchain.diagnostics import visible

LEARNING = "learning.json"

STUCK = 2
"""Different answers without a right one, from which on a student is stuck."""


@dataclass(frozen=True)
class Table:
    """A table with a title: names of columns, and lines of texts and numbers. Longer texts than `widest` are cut."""

    title: str
    columns: tuple[str, ...]
    lines: tuple[tuple[str | int | float, ...], ...]
    widest: int = 60

    @property
    def text(self) -> str:
        """For a terminal: numbers to the right, nothing that acts on it."""
        if not self.lines:
            return f"{self.title}: none\n"
        cells = [[_shown(cell, self.widest) for cell in line] for line in (self.columns, *self.lines)]
        widths = [max(len(line[at]) for line in cells) for at in range(len(self.columns))]
        right = [
            all(not isinstance(line[at], str) or line[at] == "–" for line in self.lines)
            for at in range(len(self.columns))
        ]
        lines = [
            "  ".join(cell.rjust(w) if r else cell.ljust(w) for cell, w, r in zip(line, widths, right, strict=True))
            for line in cells
        ]
        return "\n".join([self.title, *(f"  {line}".rstrip() for line in lines)]) + "\n"

    def column(self, name: str) -> list[Any]:
        """One column's values, for a plot."""
        at = self.columns.index(name)
        return [line[at] for line in self.lines]


def _shown(cell: str | int | float, most: int) -> str:
    if isinstance(cell, str):
        plain = visible(cell).replace("\n", " ").replace("\t", " ")
        return plain if len(plain) <= most else f"{plain[: most - 1]}…"
    return f"{cell:g}" if isinstance(cell, float) else str(cell)


@dataclass(frozen=True)
class Overview:
    """The tables of a class.

    Args:
        exercises: how many handed it in, passed, and what it brought.
        causes: why answers were rejected, and how often.
        students: what each has.
        stuck: who tries one exercise again and again, and fails by what.
        attempts: how many attempts each exercise took, and which hints were opened.
        found: the causes of all attempts, also of those that were mended since.
        unread: what was handed in and could not be read, and why; files of no student, too.
    """

    exercises: Table
    causes: Table
    students: Table
    stuck: Table
    attempts: Table
    found: Table
    unread: Table

    @property
    def text(self) -> str:
        tables = (self.exercises, self.causes, self.attempts, self.found, self.students, self.stuck, self.unread)
        return "\n".join(table.text for table in tables)


def overview(folder: Path, hide_names: bool = False) -> Overview:
    """The tables of what ``gpulab grade --out folder`` wrote.

    Args:
        hide_names: numbers, in an order that says nothing, in place of names.

    Raises OSError if there is no report; CheckError if it is not one.
    """
    try:
        every = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        rows = [row for row in every if row["exercise"]]
        for row in every:
            row["student"], row["full"], row["points"], row["status"], row["cause"]
    except (ValueError, LookupError, TypeError):
        raise CheckError(f"{folder / 'report.json'} is not a report of gpulab grade.") from None
    tried: dict[tuple[str, str], list[str]] = {}
    for each in attempts(folder):
        tried.setdefault((each.student, each.exercise), []).append(each.cause or each.status)
    names = _names([row["student"] for row in every if row["student"]], hide_names)
    records = read_learning(folder / LEARNING)
    return Overview(
        _exercises(rows, tried), _causes(rows), _students(rows, tried, names), _stuck(rows, tried, names),
        _attempts(records), _found(records), _unread(every, names, hide_names),
    )  # fmt: skip


def _names(students: Sequence[str], hide: bool) -> dict[str, str]:
    if not hide:
        return {student: student for student in students}
    order = sorted(set(students), key=lambda student: hashlib.sha256(student.encode("utf-8", "replace")).digest())
    width = len(str(len(order)))
    return {student: f"student {number:0{width}}" for number, student in enumerate(order, 1)}


Rows = Sequence[Mapping[str, Any]]
Tried = Mapping[tuple[str, str], Sequence[str]]


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 2) if values else 0.0


def _exercises(rows: Rows, tried: Tried) -> Table:
    lines = []
    for exercise in sorted({row["exercise"] for row in rows}):
        mine = [row for row in rows if row["exercise"] == exercise]
        handed = [row for row in mine if row["status"] not in (MISSING, UNREAD)]
        points = [row["points"] for row in mine if row["points"] is not None]
        reasons = Counter(_why(row) for row in handed if row["status"] != "passed")
        lines.append(
            (
                exercise,
                len(mine),
                len(handed),
                sum(row["status"] == "passed" for row in mine),
                _mean(points),
                float(mine[0]["full"]),
                _mean([len(tried.get((row["student"], exercise), ())) for row in handed]),
                reasons.most_common()[0][0] if reasons else "",
            )
        )
    columns = ("exercise", "students", "handed in", "passed", "mean points", "of", "mean attempts", "most often")
    return Table("Exercises", columns, tuple(lines))


def _why(row: Mapping[str, Any]) -> str:
    return str(row["cause"] or row["status"])


def _causes(rows: Rows) -> Table:
    counts = Counter((row["exercise"], _why(row)) for row in rows if row["status"] not in ("passed", MISSING))
    ordered = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return Table("Causes", ("times", "exercise", "cause"), tuple((n, id, cause) for (id, cause), n in ordered))


def _students(rows: Rows, tried: Tried, names: Mapping[str, str]) -> Table:
    lines = []
    for student in sorted({row["student"] for row in rows}, key=lambda each: names[each]):
        mine = [row for row in rows if row["student"] == student]
        lines.append(
            (
                names[student],
                round(float(sum(row["points"] or 0 for row in mine)), 2),
                sum(row["status"] == "passed" for row in mine),
                sum(row["status"] not in ("passed", MISSING, NOT_JUDGED) for row in mine),
                sum(row["status"] == MISSING for row in mine),
                sum(len(tried.get((student, row["exercise"]), ())) for row in mine),
            )
        )
    return Table("Students", ("student", "points", "passed", "failed", "missing", "attempts"), tuple(lines))


def _stuck(rows: Rows, tried: Tried, names: Mapping[str, str]) -> Table:
    lines = []
    for row in rows:
        before = tried.get((row["student"], row["exercise"]), ())
        if row["status"] not in ("passed", MISSING, NOT_JUDGED) and len(before) >= STUCK:
            lines.append((names[row["student"]], row["exercise"], len(before), _why(row)))
    ordered = sorted(lines, key=lambda line: (-int(line[2]), line[0], line[1]))
    return Table("Stuck", ("student", "exercise", "attempts", "now"), tuple(ordered))


def _unread(rows: Rows, names: Mapping[str, str], hide: bool) -> Table:
    """A student's name may stand in the names of files, before the colon."""
    lines = [
        (
            names.get(row["student"], "–"),
            row["exercise"] or "–",
            str(row.get("reason", "")).partition(": ")[2] if hide else str(row.get("reason", "")),
        )
        for row in rows
        if row["status"] == UNREAD
    ]
    return Table("Not read", ("student", "exercise", "why"), tuple(sorted(lines)), 160)


def _attempts(records: Sequence[Learning]) -> Table:
    lines: list[tuple[str | int | float, ...]] = []
    for exercise in sorted({each.exercise for each in records}):
        mine = [each for each in records if each.exercise == exercise]
        tries = [each.done.tries for each in mine if each.done.tries]
        known = [each.done for each in mine if each.source == EXPORTED]
        hints = [sum(done.opened(step) for done in known) if known else "–" for step in (1, 2, 3)]
        lines.append(
            (
                exercise,
                len(mine),
                sum(each.done.solved for each in mine),
                sum(each.done.attempts for each in mine),
                float(median(tries)) if tries else "–",
                max(tries) if tries else "–",
                len(known),
                *hints,
            )
        )
    columns = ("exercise", "learners", "solved", "attempts", "median until solved", "most until solved", "exported",
               "hint 1", "hint 2", "hint 3")  # fmt: skip
    return Table("Attempts and hints", columns, tuple(lines))


def _found(records: Sequence[Learning]) -> Table:
    times: Counter[tuple[str, str]] = Counter()
    learners: Counter[tuple[str, str]] = Counter()
    for each in records:
        for cause, often in each.done.causes.items():
            times[each.exercise, cause] += often
            learners[each.exercise, cause] += 1
    ordered = sorted(times, key=lambda key: (-learners[key], -times[key], key))
    lines = tuple((learners[key], times[key], *key) for key in ordered)
    return Table("Causes of all attempts", ("learners", "times", "exercise", "cause"), lines)
