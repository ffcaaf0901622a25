"""What a learner has done: a small JSON file that outlives upgrades, bad edits and full disks.

`progress()` reads it; `record_attempt` and `record_hint` write it, each by replacing the whole file at once.
A file that cannot be read is kept aside under another name and a new one is begun. The file is
``progress.json`` in the user's data folder, or what the environment variable GPULAB_PROGRESS names.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpulab.errors import CheckError
from gpulab.grading.library import exercise_ids, from_here, load
from gpulab.grading.wording import counted

if TYPE_CHECKING:
    from gpulab.views.instrument import Instrument
    from gpulab.views.progress import Entry

FORMAT = 1


def file() -> Path:
    """Where progress is kept."""
    chosen = os.environ.get("GPULAB_PROGRESS")
    if chosen:
        return Path(chosen).expanduser()
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    return base / "gpulab" / "progress.json"


@dataclass(frozen=True)
class Done:
    """One exercise's history."""

    solved: bool = False
    attempts: int = 0
    hints: int = 0


@dataclass(frozen=True)
class Progress:
    """All exercises with their history. `message` says what happened to the file, if anything did."""

    exercises: Mapping[str, Done]
    titles: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # id -> (lesson, title)
    message: str = ""
    minutes: Mapping[str, int] = field(default_factory=dict)

    @property
    def solved(self) -> int:
        return sum(self.exercises[id].solved for id in self.titles if id in self.exercises)

    def entries(self) -> list[Entry]:
        """All exercises in the order of the course, with links from the working directory."""
        from gpulab.views.progress import Entry

        found = []
        for id, (lesson, title) in self.titles.items():
            done = self.exercises.get(id, Done())
            state = "solved" if done.solved else ("begun" if done.attempts or done.hints else "open")
            counts = [
                counted(number, noun) for number, noun in ((done.attempts, "check"), (done.hints, "hint")) if number
            ]
            found.append(
                Entry(
                    id, title, lesson, self.minutes.get(id, 0), state, ", ".join(counts),
                    from_here(f"exercises/{id}/{id}.ipynb"), from_here(f"notebooks/{lesson}.ipynb"),
                )
            )  # fmt: skip
        return found

    def instrument(self) -> Instrument:
        """The same as a widget, which can read the file again."""
        from gpulab.views.progress import progress as draw

        first: list[Progress] = [self]

        def read() -> tuple[list[Entry], str]:
            now = first.pop() if first else progress()
            return now.entries(), now.message

        return draw(read)

    def show(self) -> None:
        """Display the widget; outside of Jupyter, print the text."""
        self.instrument().show()

    _ipython_display_ = show

    def _table(self) -> list[tuple[str, str, str, str]]:
        return [(each.lesson, f"{each.id}: {each.title}", each.state, each.note) for each in self.entries()]

    @property
    def text(self) -> str:
        rows = self._table()
        width = max((len(row[1]) for row in rows), default=0)
        lines = [f"{self.solved} of {len(rows)} exercises solved"]
        if self.message:
            lines.insert(0, self.message)
        lesson = ""
        for row in rows:
            if row[0] != lesson:
                lesson = row[0]
                lines.append(lesson)
            mark = {"solved": "[x]", "begun": "[-]", "open": "[ ]"}[row[2]]
            lines.append(f"  {mark} {row[1]:<{width}}  {row[2]}{' (' + row[3] + ')' if row[3] else ''}".rstrip())
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text


def progress() -> Progress:
    """What has been done so far, over all exercises of the course."""
    data, message = _read()
    titles: dict[str, tuple[str, str]] = {}
    minutes: dict[str, int] = {}
    try:
        minutes = {id: load(id).minutes for id in exercise_ids()}
        titles = {id: (load(id).lesson, load(id).title) for id in exercise_ids()}
    except CheckError as error:
        message = f"{message}\n{error}".strip()
    entries = data["exercises"]
    return Progress(
        {id: _done(entry) for id, entry in entries.items() if isinstance(entry, dict)}, titles, message, minutes
    )


def record_attempt(id: str, solved: bool) -> str:
    """Notes one check of exercise `id`. Returns "" or a message for the learner; never raises for a bad file."""
    data, message = _read()
    entry = _entry(data, id)
    entry["attempts"] = _number(entry.get("attempts")) + 1
    entry["solved"] = bool(entry.get("solved")) or solved
    return _join(message, _write(data))


def record_hint(id: str, step: int) -> str:
    """Notes that hint `step` of exercise `id` was shown. Returns "" or a message for the learner."""
    data, message = _read()
    entry = _entry(data, id)
    entry["hints"] = max(_number(entry.get("hints")), step)
    return _join(message, _write(data))


def hints_shown(id: str) -> int:
    """How many hints of exercise `id` were shown before."""
    data, _ = _read()
    return _done(_entry(data, id)).hints


def _read() -> tuple[dict[str, Any], str]:
    """The file's contents and a message. Unknown parts are kept, so that an older gpulab loses nothing."""
    path = file()
    fresh: dict[str, Any] = {"format": FORMAT, "exercises": {}}
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return fresh, ""
    except (OSError, UnicodeDecodeError) as error:
        return fresh, _keep_aside(path, str(error))
    try:
        data = json.loads(text)
        if not isinstance(data, dict) or not isinstance(data.get("exercises"), dict):
            raise ValueError('it is not an object with a member "exercises"')
    except (ValueError, RecursionError) as error:
        return fresh, _keep_aside(path, str(error))
    return data, ""


def _keep_aside(path: Path, reason: str) -> str:
    number = 1
    while (kept := path.with_name(f"{path.name}.unreadable-{number}")).exists():
        number += 1
    try:
        os.replace(path, kept)
    except OSError as error:
        return f"Your progress file {path} can be neither read ({reason}) nor moved aside ({error.strerror})."
    return f"Your progress file could not be read ({reason}). It was kept as {kept.name}, and a new one was begun."


def _write(data: dict[str, Any]) -> str:
    """Replaces the file in one step, so that a crash leaves the old or the new one. Returns "" or a message."""
    path = file()
    temporary = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".new")
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(data, stream, indent=1, sort_keys=True)
            stream.write("\n")
        os.replace(temporary, path)
    except OSError as error:
        if temporary:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        return (
            f"Progress could not be saved to {path} ({error.strerror or error}); set GPULAB_PROGRESS to another file."
        )
    return ""


def _entry(data: dict[str, Any], id: str) -> dict[str, Any]:
    entry = data["exercises"].get(id)
    if not isinstance(entry, dict):
        entry = data["exercises"][id] = {}
    return entry


def _done(entry: Mapping[str, Any]) -> Done:
    return Done(entry.get("solved") is True, _number(entry.get("attempts")), _number(entry.get("hints")))


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def _join(*messages: str) -> str:
    return "\n".join(message for message in messages if message)
