"""What is kept of a learner's work on one exercise: `Done`, as a part of a file and as one that others read.

`done_of` reads an entry of any file, whoever wrote it: what is not a number, a name or a day counts as absent.
`noted` and `opened` change an entry; it stays small whatever happens. `export` makes a file of all entries, `imported`
reads such a file.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

MOST = 999_999
"""A count that is larger stays at this."""

KINDS = 96
"""Different causes that are kept of one exercise; more are counted as `OTHER`. The course has up to 54."""

OTHER = "other"

EXERCISES = 1_000
"""Exercises of one file that are read."""

BYTES = 4 << 20
"""The largest file that is read: `EXERCISES` with all that is kept of each have less."""

STEPS = (1, 2, 3)

_NAME = re.compile(r"[a-z0-9][a-z0-9 -]{0,59}")
"""What ids and names of causes are made of: nothing that acts on a terminal, a page or a spreadsheet."""


@dataclass(frozen=True)
class Done:
    """One exercise's history.

    Args:
        attempts: checks in all; `tries` of them up to the first right answer, 0 if there is none or it is not known.
        hints: the highest step that was opened; `steps` says how often each was.
        causes: how often a check named each.
        first, last: the days of the first and of the last check, as 2026-10-31; "" if not known.
    """

    solved: bool = False
    attempts: int = 0
    hints: int = 0
    tries: int = 0
    steps: Mapping[int, int] = field(default_factory=dict)
    causes: Mapping[str, int] = field(default_factory=dict)
    first: str = ""
    last: str = ""

    @property
    def state(self) -> str:
        return "solved" if self.solved else ("begun" if self.attempts or self.hints else "open")

    @property
    def found(self) -> list[tuple[str, int]]:
        """The causes, the most frequent first."""
        return sorted(self.causes.items(), key=lambda each: (-each[1], each[0]))

    def opened(self, step: int) -> bool:
        return step == self.hints or self.steps.get(step, 0) > 0

    def as_entry(self) -> dict[str, Any]:
        """Plain data, without what is absent; `done_of` reads it."""
        entry: dict[str, Any] = {"solved": self.solved, "attempts": self.attempts, "hints": self.hints}
        entry |= {
            "tries": self.tries,
            "first": self.first,
            "last": self.last,
            "causes": dict(sorted(self.causes.items())),
        }
        entry["steps"] = {str(step): times for step, times in sorted(self.steps.items())}
        return {name: value for name, value in entry.items() if value}


def is_name(value: object) -> bool:
    """Could this be an exercise's id, or a cause's name?"""
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def number(value: Any) -> int:
    """A count in a file; 0 for what is none."""
    return min(value, MOST) if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def _day(value: Any) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
        return ""
    try:
        return date.fromisoformat(value).isoformat()
    except ValueError:
        return ""


def _counts(value: Any) -> dict[str, int]:
    """Names with their counts, `KINDS` of them at most: the most frequent ones, and the rest as `OTHER`."""
    if not isinstance(value, Mapping):
        return {}
    found = {name: times for name, each in value.items() if is_name(name) and (times := number(each))}
    if len(found) <= KINDS:
        return found
    ordered = sorted((name for name in found if name != OTHER), key=lambda name: (-found[name], name))
    kept, rest = ordered[: KINDS - 1], ordered[KINDS - 1 :]
    return {name: found[name] for name in kept} | {
        OTHER: number(found.get(OTHER, 0) + sum(found[name] for name in rest))
    }


def done_of(entry: Any) -> Done:
    """What an entry says."""
    if not isinstance(entry, Mapping):
        return Done()
    steps = entry.get("steps")
    if not isinstance(steps, Mapping):
        steps = {}
    return Done(
        entry.get("solved") is True,
        number(entry.get("attempts")),
        number(entry.get("hints")),
        number(entry.get("tries")),
        {step: times for step in STEPS if (times := number(steps.get(str(step))))},
        _counts(entry.get("causes")),
        _day(entry.get("first")),
        _day(entry.get("last")),
    )


def noted(entry: dict[str, Any], solved: bool, cause: str, day: str) -> None:
    """Note one check in `entry`: its result, the cause that was named or "", and the day. Other members stay."""
    before = done_of(entry)
    entry["attempts"] = number(before.attempts + 1)
    entry["solved"] = before.solved or solved
    if solved and not before.solved:
        entry["tries"] = entry["attempts"]
    if is_name(cause):
        entry["causes"] = _counts({**before.causes, cause: before.causes.get(cause, 0) + 1})
    if not before.attempts:
        entry["first"] = day
    entry["last"] = day


def opened(entry: dict[str, Any], step: int) -> None:
    """Note in `entry` that this step of the hints was shown."""
    before = done_of(entry)
    entry["hints"] = max(before.hints, step)
    entry["steps"] = {str(each): number(before.steps.get(each, 0) + (each == step)) for each in STEPS
                      if each == step or each in before.steps}  # fmt: skip


# ------------------------------------------------------------------------------------------------ files for others

COLUMNS = (
    "exercise", "state", "attempts", "tries", "hints", "hint 1", "hint 2", "hint 3", "causes", "first", "last",
)  # fmt: skip
"""Of a file of comma-separated values. `causes`: "missing-guard 2; does-not-compile 1"."""


def causes_text(done: Done) -> str:
    """ "missing-guard 2; does-not-compile 1", the most frequent first."""
    return "; ".join(f"{name} {times}" for name, times in done.found)


def export(found: Mapping[str, Done], suffix: str) -> str:
    """The text of a file of this suffix, ".csv" or ".json", in the order of `found`; ids that are none are left out."""
    named = {id: done for id, done in found.items() if is_name(id)}
    if suffix == ".json":
        whole = {"format": 1, "exercises": {id: done.as_entry() for id, done in named.items()}}
        return json.dumps(whole, indent=1) + "\n"
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for id, done in named.items():
        steps = [done.steps.get(step, 0) for step in STEPS]
        writer.writerow(
            (id, done.state, done.attempts, done.tries, done.hints, *steps, causes_text(done), done.first, done.last)
        )
    return out.getvalue()


def entries_of(text: str) -> dict[str, Any]:
    """The whole of a progress file: an object whose "exercises" are entries. Raises ValueError with a clause."""
    try:
        data = json.loads(text)
        json.dumps(data, indent=1)  # what can be read and not written again is of no use
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(data, dict) or not isinstance(data.get("exercises"), dict):
        raise ValueError('it is not an object with a member "exercises"')
    if len(data["exercises"]) > EXERCISES:
        raise ValueError(f"it has more than {EXERCISES:,} exercises")
    return data


def imported(text: str, suffix: str) -> dict[str, Done]:
    """What a file says that `export` made, or a stranger: by exercise. Raises ValueError with a clause."""
    if suffix == ".json":
        entries = entries_of(text)["exercises"]
    else:
        entries = _entries_of_csv(text)
    return {id: done_of(entry) for id, entry in entries.items() if is_name(id)}


def _entries_of_csv(text: str) -> dict[str, Any]:
    # A spreadsheet writes the separator of its country.
    separator = next((mark for mark in ";\t" if text.startswith(COLUMNS[0] + mark)), ",")
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        head = next(lines, [])
        if tuple(head) != COLUMNS:
            raise ValueError("its first line is not that of gpulab progress --export")
        found: dict[str, Any] = {}
        for cells in lines:
            if len(cells) != len(COLUMNS):
                raise ValueError(f"line {lines.line_num} has {len(cells)} cells in place of {len(COLUMNS)}")
            if len(found) >= EXERCISES:
                raise ValueError(f"it has more than {EXERCISES:,} exercises")
            row = dict(zip(COLUMNS, cells, strict=True))
            found[row["exercise"]] = {
                "solved": row["state"] == "solved",
                **{name: _whole(row[name]) for name in ("attempts", "tries", "hints")},
                "steps": {str(step): _whole(row[f"hint {step}"]) for step in STEPS},
                "causes": dict(map(_named, row["causes"].split("; "))),
                **{name: _plain_day(row[name]) for name in ("first", "last")},
            }
    except csv.Error as error:
        raise ValueError(f"it is no file of comma-separated values: {error}") from None
    return found


def _named(text: str) -> tuple[str, int]:
    name, _, times = text.rpartition(" ")
    return name, _whole(times)


def _plain_day(text: str) -> str:
    """A day as a spreadsheet may have written it: 27.11.2026. With slashes nobody knows which number is the month."""
    return re.sub(r"^([0-9]{2})\.([0-9]{2})\.([0-9]{4})$", r"\3-\2-\1", text)


def _whole(text: str) -> int:
    return int(text) if re.fullmatch(r"[0-9]{1,6}", text) else 0
