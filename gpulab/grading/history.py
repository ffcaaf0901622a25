"""What a learner has done: a small JSON file that outlives upgrades, bad edits and full disks.

`progress()` reads it; `record_attempt` and `record_hint` write it, each by replacing the whole file at once;
`Progress.export` writes one for others. `learned` has what is kept of an exercise, and how much at most. A file that
cannot be read is kept aside under another name and a new one is begun. The file is ``progress.json`` in the user's
data folder, or what the environment variable GPULAB_PROGRESS names.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpulab.errors import CheckError
from gpulab.grading import learned
from gpulab.grading.causes import causes_of
from gpulab.grading.learned import Done, done_of
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


def today() -> str:
    """The day that is noted with a check."""
    return date.today().isoformat()


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
            counts = [
                counted(number, noun) for number, noun in ((done.attempts, "check"), (done.hints, "hint")) if number
            ]
            found.append(
                Entry(
                    id, title, lesson, self.minutes.get(id, 0), done.state, ", ".join(counts),
                    from_here(f"exercises/{id}/{id}.ipynb"), from_here(f"notebooks/{lesson}.ipynb"),
                    tuple(_told(id, done)),
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

    def export(self, path: str | os.PathLike[str]) -> str:
        """Write attempts, causes and hints of all exercises that were begun to a file; return what was done.

        Args:
            path: ends in .csv for a spreadsheet, in .json for programs. A file that is there is replaced.

        Raises CheckError for another ending, and if the file cannot be written.
        """
        place = Path(path).expanduser()
        suffix = place.suffix.lower()
        if suffix not in (".csv", ".json"):
            raise CheckError(
                f"{str(path)!r} ends in neither .csv nor .json.",
                hint="progress.csv opens in a spreadsheet, for example.",
            )
        begun = {id: self.exercises[id] for id in [*self.titles, *sorted(set(self.exercises) - set(self.titles))]
                 if self.exercises.get(id, Done()).state != "open"}  # fmt: skip
        problem = _replace(place, learned.export(begun, suffix))
        if problem:
            raise CheckError(f"{place} cannot be written: {problem}.", hint="choose another file.")
        return (
            f"{place} has {counted(len(begun), 'exercise')}: for each the state, the number of checks, the causes that "
            "they named, the hints that were opened, and the days of the first and the last check. It has no name, no "
            "answer and nothing else of yours. It was written here, and nothing was sent anywhere."
        )

    @property
    def text(self) -> str:
        rows = [(each.lesson, f"{each.id}: {each.title}", each.state, each.note, each.found) for each in self.entries()]
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
            lines += [f"        {each}" for each in row[4]]
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
        {id: done_of(entry) for id, entry in entries.items() if isinstance(entry, dict)}, titles, message, minutes
    )


def _told(id: str, done: Done) -> Iterator[str]:
    """What checks found, which hints were opened and when: "2 times: the guard is missing (missing-guard)"."""
    if done.found:
        exercise = load(id)
        titles = {each.name: each.title for each in (*causes_of(exercise), *exercise.requirements)}
        for name, times in done.found:
            yield f"{_often(times)}: {titles[name]} ({name})" if name in titles else f"{_often(times)}: {name}"
    for step, times in sorted(done.steps.items()):
        yield f"hint {step} opened {_often(times)}"
    if done.first and done.last:
        yield f"first check {done.first}, last {done.last}"


def _often(times: int) -> str:
    return "once" if times == 1 else f"{times} times"


def record_attempt(id: str, solved: bool, cause: str = "") -> str:
    """Notes one check of exercise `id`. Returns "" or a message for the learner; never raises for a bad file.

    Args:
        cause: what the check named: a mistake, a requirement, or the status of an answer for which it has no name.
    """
    data, message = _read()
    learned.noted(_entry(data, id), solved, cause, today())
    return _join(message, _write(data))


def record_hint(id: str, step: int) -> str:
    """Notes that hint `step` of exercise `id` was shown. Returns "" or a message for the learner."""
    data, message = _read()
    learned.opened(_entry(data, id), step)
    return _join(message, _write(data))


def hints_shown(id: str) -> int:
    """How many hints of exercise `id` were shown before."""
    data, _ = _read()
    return done_of(_entry(data, id)).hints


def _read() -> tuple[dict[str, Any], str]:
    """The file's contents and a message. Unknown parts are kept, so that an older gpulab loses nothing."""
    path = file()
    fresh: dict[str, Any] = {"format": FORMAT, "exercises": {}}
    try:
        with open(path, "rb") as stream:
            content = stream.read(learned.BYTES + 1)
        if len(content) > learned.BYTES:
            raise ValueError(f"it has more than {learned.BYTES >> 20} MB")
        return learned.entries_of(content.decode("utf-8")), ""
    except FileNotFoundError:
        return fresh, ""
    except (OSError, ValueError) as error:
        return fresh, _keep_aside(path, str(error))


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
    """Returns "" or a message."""
    path = file()
    problem = _replace(path, json.dumps(data, indent=1, sort_keys=True) + "\n")
    return problem and f"Progress could not be saved to {path} ({problem}); set GPULAB_PROGRESS to another file."


def _replace(path: Path, text: str) -> str:
    """Replaces the file in one step, so that a crash leaves the old or the new one. Returns "" or what went wrong."""
    temporary = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".new")
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
        os.replace(temporary, path)
    except OSError as error:
        if temporary:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        return error.strerror or str(error)
    return ""


def _entry(data: dict[str, Any], id: str) -> dict[str, Any]:
    entry = data["exercises"].get(id)
    if not isinstance(entry, dict):
        entry = data["exercises"][id] = {}
    return entry


def _join(*messages: str) -> str:
    return "\n".join(message for message in messages if message)
