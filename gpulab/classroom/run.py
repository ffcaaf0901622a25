"""Grades a class: submissions become jobs, jobs results in the store, results rows.

`grade_class` goes on where an interrupted run stopped: a result that is in the store is not made again. A result is
kept as soon as it is there; if it cannot be kept (a full disk), the run ends with a sentence, and nothing is lost.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from gpulab.classroom.jobs import Job, Plain, version_of
from gpulab.classroom.points import Scheme
from gpulab.classroom.pool import Pool
from gpulab.classroom.results import NOT_JUDGED, GradedExercise, rows
from gpulab.classroom.store import Lines, Results, lines_of, replace_file
from gpulab.classroom.submissions import Submission
from gpulab.errors import CheckError
from gpulab.grading.report import stopped

RESULTS, SETTINGS, HISTORY = "results.jsonl", "run.json", "history.jsonl"


@dataclass
class RunSummary:
    """What a run did.

    Args:
        rows: of the report.
        graded, taken: jobs that were graded now, and that were in the store.
        seconds: that the grading took.
    """

    rows: list[GradedExercise]
    graded: int
    taken: int
    seconds: float


def seed_of(out: Path, wanted: int | None) -> int:
    """The seed of a run: the wanted one, or that of the last run into this folder, or a new one; kept in the folder.

    The file is for the instructor's eyes alone. Raises CheckError for a file that is not ours, OSError as the system.
    """
    path = out / SETTINGS
    seed = wanted
    if seed is None:
        try:
            found = json.loads(path.read_bytes())
            seed = found["seed"]
            if not isinstance(seed, int):
                raise ValueError
        except FileNotFoundError:
            seed = secrets.randbits(48)
        except (ValueError, LookupError, TypeError):
            raise CheckError(
                f"{path} does not say the seed.", hint="give it with --seed, or remove the file."
            ) from None
    replace_file(path, json.dumps({"seed": seed}).encode() + b"\n")
    with suppress(OSError):
        os.chmod(path, 0o600)
    return seed


def jobs_of(
    submissions: Iterable[Submission], seed: int, seconds: float = 60.0, trusted: bool = False, jail: str = "none"
) -> dict[Submission, Job]:
    """The job of each submission that has an answer."""
    versions: dict[str, str] = {}
    made = {}
    for each in submissions:
        if each.answer is not None:
            version = versions.setdefault(each.exercise, "") or version_of(each.exercise)
            versions[each.exercise] = version
            made[each] = Job(each.exercise, each.answer, seed, version, seconds, trusted, jail)
    return made


def grade_class(
    submissions: Sequence[Submission],
    out: Path,
    make_pool: Callable[[], Pool],
    scheme: Scheme,
    seed: int,
    *,
    seconds: float = 60.0,
    trusted: bool = False,
    jail: str = "none",
    say: Callable[[str], None] = lambda text: None,
    progress: Progress | None = None,
) -> RunSummary:
    """Grade what the store in `out` does not have yet, and return a row for each submission.

    Args:
        make_pool: where jobs run; asked for only if there are any.
        say: takes lines for the instructor.
        progress: shows how far it is.

    Raises PoolError, CheckError (another run writes there, or the disk is full); what is done by then is kept.
    """
    jobs = jobs_of(submissions, seed, seconds, trusted, jail)
    by_key = {job.key: job for job in jobs.values()}
    graded = 0
    problems: dict[str, str] = {}
    begun = time.monotonic()
    with Results(out / RESULTS) as store:
        left = [job for key, job in by_key.items() if key not in store.found]
        taken = len(by_key) - len(left)
        same = len(jobs) - len(by_key)
        say(
            f"{len(submissions)} rows, {len(jobs)} answers"
            + (f", {same} of them the same as another" if same else "")
            + (f"; {taken} results are there from before" if taken else "")
            + (f"; {len(left)} to grade." if left else "; nothing is left to grade.")
        )
        if left:
            with make_pool() as pool:
                say(f"Grading {pool.words}.")
                for done in pool.done(left):
                    result = done.result
                    if done.deadly:
                        result = stopped(done.job.exercise, done.problem).as_dict()
                    if result is None or result.get("status") == NOT_JUDGED:
                        problems[done.job.key] = done.problem or str(result and result.get("headline"))
                    else:
                        _keep(store, done.job.key, result)
                        graded += 1
                    if progress is not None:
                        progress.step(len(left))
        verdicts: dict[Submission, Plain] = {
            each: store.found[job.key] for each, job in jobs.items() if job.key in store.found
        }
    if progress is not None:
        progress.end()
    seconds_taken = time.monotonic() - begun
    why = {each: problems[job.key] for each, job in jobs.items() if job.key in problems}
    return RunSummary(rows(submissions, verdicts, why, scheme), graded, taken, seconds_taken)


def _keep(store: Results, key: str, result: Plain) -> None:
    try:
        store.put(key, result)
    except OSError as error:
        raise CheckError(
            f"A result cannot be written to {store.path}: {(error.strerror or str(error)).lower()}.",
            hint="make room; the same command then goes on from there. All results before it are kept.",
        ) from None


class Progress:
    """A line that tells how many are done and how long the rest takes: renewed on a terminal, else now and then."""

    def __init__(self, stream: TextIO | None = None, every: float = 30.0) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._live = self._stream.isatty()
        self._every = 0.2 if self._live else every
        self._begun = self._said = time.monotonic()
        self._done = 0

    def step(self, total: int) -> None:
        """One more of `total` is done."""
        self._done += 1
        now = time.monotonic()
        if now - self._said < self._every and self._done < total:
            return
        self._said = now
        rest = (now - self._begun) / self._done * (total - self._done)
        text = f"{self._done} of {total} graded ({100 * self._done // total} %), about {duration(rest)} left"
        self._stream.write(f"\r{text:<70}" if self._live else f"{text}\n")
        self._stream.flush()

    def end(self) -> None:
        if self._live and self._done:
            self._stream.write(f"\r{'':<70}\r")
            self._stream.flush()


def duration(seconds: float) -> str:
    """A length of time for people: "40 s", "3 min", "2 h 5 min"."""
    if seconds < 90:
        return f"{round(seconds)} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


# ----------------------------------------------------------------------------------------------------------- history


@dataclass(frozen=True)
class Attempt:
    """One answer that a student handed in, as a run found it. `when`: seconds since 1970, of that run."""

    student: str
    exercise: str
    answer: str
    status: str
    cause: str
    when: int


def note_attempts(out: Path, rows: Iterable[GradedExercise], now: float) -> None:
    """Note answers that no run into this folder has met before. Raises OSError, CheckError as the store does."""
    known = {(each.student, each.exercise, each.answer) for each in attempts(out)}
    with Lines(out / HISTORY) as lines:
        for row in rows:
            if row.verdict is not None and (row.student, row.exercise, row.digest) not in known:
                lines.add([row.student, row.exercise, row.digest, row.status, row.cause, int(now)])


def attempts(out: Path) -> list[Attempt]:
    """The answers that runs into this folder met, oldest first."""
    found = []
    for value in lines_of(out / HISTORY):
        with suppress(TypeError):
            found.append(Attempt(*value))
    return found
