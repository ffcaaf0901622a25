"""How learners got where they are: attempts, causes and hints of each, for each exercise (`Learning`).

`learning` puts together what runs into a folder met (`run.attempts`) and files that learners exported with
``gpulab progress --export``, which `exported` reads as files of strangers. `learning_csv` and `learning_json` are what
is written, `read_learning` takes it up again.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpulab.classroom.reading import Entry, Unreadable, entries, shown, student_name, text_of
from gpulab.classroom.run import Attempt
from gpulab.classroom.tables import csv_text
from gpulab.errors import CheckError
from gpulab.grading.learned import BYTES, STEPS, Done, causes_text, done_of, imported, noted
from gpulab.grading.wording import counted

HANDED_IN, EXPORTED = "handed in", "exported"
"""Where a record comes from: hints, and checks that a learner made alone, are known from exported files only."""

SUFFIXES = (".csv", ".json")


@dataclass(frozen=True)
class Learning:
    """One learner and one exercise. `source`: HANDED_IN or EXPORTED."""

    student: str
    exercise: str
    source: str
    done: Done


def exported(top: Path, exercises: Collection[str]) -> tuple[dict[str, dict[str, Done]], list[str]]:
    """What the files in a folder or a zip say, by learner and exercise, and a line for each that says nothing.

    A learner is named by the folder at the top, or by the file if there is no folder: ``ada/any.csv``, ``ada.csv``.

    Args:
        exercises: the ids that count; others are left out, and a line says how many.

    Raises CheckError if `top` cannot be read.
    """
    found: dict[str, dict[str, Done]] = {}
    said: list[str] = []
    others = 0
    try:
        for entry in entries(top):
            student, suffix = student_name(entry.parts[0]), Path(entry.parts[-1]).suffix.lower()
            if len(entry.parts) == 1:
                student = student_name(Path(entry.parts[0]).stem)
            try:
                read = _read(entry, suffix)
            except (Unreadable, ValueError) as problem:
                said.append(f"{entry.where}: not read: {problem}.")
                continue
            if student in found:
                said.append(f"{entry.where}: left out: {student} has another file before it.")
                continue
            found[student] = {id: done for id, done in read.items() if id in exercises}
            others += len(read) - len(found[student])
    except Unreadable as problem:
        raise CheckError(f"{shown(str(top))} cannot be read: {problem}.") from None
    if others:
        said.append(f"{counted(others, 'record')} of exercises that are not graded here: left out.")
    return found, said


def _read(entry: Entry, suffix: str) -> dict[str, Done]:
    if entry.problem:
        raise Unreadable(entry.problem)
    if suffix not in SUFFIXES:
        raise Unreadable("its name ends in neither .csv nor .json")
    data = entry.read()
    if len(data) > BYTES:
        raise Unreadable(f"it is larger than {BYTES >> 20} MB")
    return imported(text_of(data), suffix)


def learning(tried: Iterable[Attempt], files: Mapping[str, Mapping[str, Done]]) -> list[Learning]:
    """A record for each learner and exercise, sorted. An exported one says more than answers that were handed in, and
    has these in it as checks: it takes their place."""
    handed: dict[tuple[str, str], dict[str, Any]] = {}
    for each in tried:
        passed = each.status == "passed"
        entry = handed.setdefault((each.student, each.exercise), {})
        noted(entry, passed, "" if passed else each.cause or each.status, "")
    found = {key: Learning(*key, HANDED_IN, done_of(entry)) for key, entry in handed.items()}
    for student, exercises in files.items():
        for id, done in exercises.items():
            if done.state != "open":
                found[student, id] = Learning(student, id, EXPORTED, done)
    return [found[key] for key in sorted(found)]


COLUMNS = (
    "student", "exercise", "from", "state", "attempts", "attempts until solved", "hint 1", "hint 2", "hint 3", "causes",
    "first", "last",
)  # fmt: skip


def learning_csv(records: Sequence[Learning]) -> str:
    """One line for each learner and exercise. What is not known is empty."""
    lines: list[Sequence[object]] = [COLUMNS]
    for each in records:
        done = each.done
        hints = [_opened(each, step) for step in STEPS]
        lines.append(
            (each.student, each.exercise, each.source, done.state, done.attempts, done.tries or None, *hints,
             causes_text(done), done.first, done.last)
        )  # fmt: skip
    return csv_text(lines)


def _opened(each: Learning, step: int) -> int | None:
    """How often this step was opened; None where that is not known."""
    if each.source == HANDED_IN or (each.done.opened(step) and not each.done.steps.get(step)):
        return None
    return each.done.steps.get(step, 0)


def learning_json(records: Sequence[Learning]) -> str:
    """The same for `read_learning`."""
    plain = [[each.student, each.exercise, each.source, each.done.as_entry()] for each in records]
    return json.dumps(plain, indent=1, ensure_ascii=False) + "\n"


def read_learning(path: Path) -> list[Learning]:
    """What `learning_json` wrote; nothing where there is no file. Raises OSError; CheckError for another file."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return [Learning(str(student), str(exercise), str(source), done_of(entry))
                for student, exercise, source, entry in found]  # fmt: skip
    except FileNotFoundError:
        return []
    except (ValueError, TypeError, RecursionError):
        raise CheckError(f"{path} is not a file of gpulab grade.") from None
