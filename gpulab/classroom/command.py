"""``gpulab grade FOLDER`` and ``gpulab report OUT``: options, and what they print."""

from __future__ import annotations

import argparse
import errno
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gpulab.errors import CheckError

if TYPE_CHECKING:
    from gpulab.classroom.results import GradedExercise
    from gpulab.grading.verdict import Verdict


def grade_options(ask: argparse.ArgumentParser) -> None:
    """Declare the options of ``gpulab grade`` for a whole class."""
    one = ask.add_argument_group("a whole class", "gpulab grade FOLDER --out FOLDER")
    one.add_argument("--out", metavar="FOLDER", help="write report, tables and feedback there; results are kept there")
    one.add_argument("--exercises", metavar="ID,ID", help="only these; else all that were handed in")
    one.add_argument("--seed", type=int, metavar="N", help="of drawn inputs, your secret; else that of the last run")
    one.add_argument("--points", metavar="FILE", help="TOML: points of exercises, shares of criteria")
    one.add_argument("--cluster", default="", metavar="ADDRESS", help="a scheduler of Dask, e.g. tcp://host:8786")
    one.add_argument("--workers", type=int, default=0, metavar="N", help="processes on this machine (one a core)")
    one.add_argument("--gradebook", metavar="FILE", help="also write the points into nbgrader's gradebook")
    one.add_argument(
        "--require-jail",
        default="none",
        metavar="LEVEL",
        help="refuse to grade with weaker walls: limits, landlock, bubblewrap",
    )
    one.add_argument(
        "--progress", metavar="FOLDER", help="files of learners from gpulab progress --export: NAME.csv, NAME/any.json"
    )
    one.add_argument("--no-resume", action="store_true", help="grade all anew; results of before are put aside")


def exercises_wanted(text: str | None) -> list[str] | None:
    """The ids of --exercises. Raises CheckError for one that there is not."""
    if text is None:
        return None
    from gpulab.grading import load

    found = [name.strip() for name in text.split(",") if name.strip()]
    for id in found:
        load(id)
    if not found:
        raise CheckError("--exercises names none.", hint="--exercises saxpy-guard,first-fill, for example.")
    return sorted(set(found))


def grade_folder(asked: argparse.Namespace) -> int:
    """Grade a class; 0 if everything was judged, 3 if some answers were not (grading itself failed for them)."""
    from gpulab.classroom import dashboard, feedback, gradebook, tables
    from gpulab.classroom.learning import exported, learning, learning_csv, learning_json
    from gpulab.classroom.overview import LEARNING
    from gpulab.classroom.points import scheme_of
    from gpulab.classroom.pool import pool
    from gpulab.classroom.reading import shown
    from gpulab.classroom.results import NOT_JUDGED
    from gpulab.classroom.run import RESULTS, Progress, attempts, duration, grade_class, note_attempts, seed_of
    from gpulab.classroom.similar import pairs, pairs_csv
    from gpulab.classroom.store import replace_file
    from gpulab.classroom.submissions import submissions
    from gpulab.grading import exercise_ids
    from gpulab.grading.isolated import require

    top = Path(asked.what)
    if not asked.out:
        raise CheckError(
            "A class needs --out FOLDER for its report.",
            hint="gpulab grade FOLDER --out graded; for answers to one exercise gpulab grade EXERCISE FILE.",
        )
    out = Path(asked.out)
    if out.exists() and not out.is_dir():
        raise CheckError(f"--out {shown(asked.out)} is a file.", hint="name a folder: it is made if it is not there.")
    if not asked.cluster:
        require(asked.require_jail)
    scheme = scheme_of(Path(asked.points) if asked.points else None)
    wanted = exercises_wanted(asked.exercises)
    found = submissions(top, wanted, out)
    files, lines = exported(Path(asked.progress), wanted or exercise_ids()) if asked.progress else ({}, [])
    for line in lines:
        _say(line)
    try:
        seed = seed_of(out, asked.seed)
        if asked.no_resume and (out / RESULTS).exists():
            (out / RESULTS).replace(out / f"{RESULTS}.before")
        run = grade_class(
            found, out, lambda: pool(asked.cluster, asked.workers), scheme, seed,
            seconds=asked.seconds, trusted=asked.trust_programs,
            jail=asked.require_jail, say=_say, progress=Progress(),
        )  # fmt: skip
        rows = run.rows
        alike = pairs(rows)
        for name, text in (
            ("report.csv", tables.report_csv(rows)),
            ("report.json", tables.report_json(rows)),
            ("grades.csv", tables.grades_csv(rows)),
            ("moodle.csv", tables.moodle_csv(rows)),
            ("canvas.csv", tables.canvas_csv(rows)),
            ("similar.csv", pairs_csv(alike)),
        ):
            replace_file(out / name, text.encode("utf-8", "replace"))
        feedback.write(out / "feedback", rows)
        dashboard.write(out)
        note_attempts(out, rows, time.time())
        ids = {row.exercise for row in rows}
        records = learning((each for each in attempts(out) if each.exercise in ids), files)
        replace_file(out / "learning.csv", learning_csv(records).encode("utf-8", "replace"))
        replace_file(out / LEARNING, learning_json(records).encode("utf-8", "replace"))
    except OSError as error:
        raise CheckError(
            f"{error.filename or out} cannot be written: {(error.strerror or str(error)).lower()}.",
            hint="make room; the same command then goes on from there."
            if error.errno in (errno.ENOSPC, errno.EDQUOT)
            else "let --out name a folder that you can write; what is in this one is kept.",
        ) from None
    except KeyboardInterrupt:
        _say("\nStopped. What was graded by now is kept; the same command goes on from there.")
        raise
    _summary(rows)
    if run.graded:
        _say(f"{run.graded} graded in {duration(run.seconds)}.")
    if alike:
        _say(f"{len(alike)} pairs of similar answers: {out / 'similar.csv'}")
    _say(f"The report: {out / 'report.csv'}; pages for students: {out / 'feedback'}")
    if asked.gradebook:
        new = "://" not in asked.gradebook and not Path(asked.gradebook).exists()
        for line in gradebook.write(asked.gradebook, rows):
            _say(line)
        if new:
            _say(f"{asked.gradebook} is a new gradebook: there was none. nbgrader's is gradebook.db in its folder.")
    left = sum(row.status == NOT_JUDGED for row in rows)
    if left:
        _say(f"{left} answers were not judged, which is not the students' fault: the same command tries them again.")
    return 3 if left else 0


def grade_files(asked: argparse.Namespace) -> int:
    """Check files against one exercise; one line each, and 1 if one is not right."""
    from gpulab import grading
    from gpulab.classroom.reading import Unreadable, said, shown
    from gpulab.classroom.submissions import answer_of_file, asked_by

    if asked.out or asked.exercises:
        raise CheckError(
            f"{shown(' '.join(asked.files))}: names behind {shown(asked.what)} are files with answers to one exercise, "
            "and a class has none.",
            hint="join several exercises by commas: gpulab grade FOLDER --out graded --exercises ID,ID.",
        )
    wanted = asked_by(asked.what)
    good = True
    with grading.Grader(seconds=asked.seconds, trusted=asked.trust_programs, jail=asked.require_jail) as grader:
        for name in asked.files:
            path = Path(name)
            try:
                source = answer_of_file(path, wanted)
            except (OSError, Unreadable) as error:
                why = said(error) if isinstance(error, OSError) else error
                _say(f"not ok  {shown(name)}: cannot be read: {why}")
                good = False
                continue
            row = grader.grade(asked.what, source, shown(path.stem), seed=asked.seed)
            text = str(row.verdict) if asked.verbose else _one_line(row.verdict)
            _say(f"{'ok    ' if row.passed else 'not ok'}  {shown(name)}: {text}")
            good = good and row.passed
    return 0 if good else 1


def _one_line(verdict: Verdict) -> str:
    """The headline of a verdict and, of an answer that is not right, the reason."""
    why = verdict.reason
    return f"{verdict.headline}: {textwrap.shorten(why, 200)}" if why else verdict.headline


def _summary(rows: Sequence[GradedExercise]) -> None:
    from gpulab.classroom.tables import exercises_of, students_of, total
    from gpulab.grading.wording import counted

    counts, points = Counter(row.status for row in rows), float(total(rows))
    _say(
        f"{counted(len(students_of(rows)), 'student')}, {counted(len(exercises_of(rows)), 'exercise')}: "
        + ", ".join(
            f"{times} {status}" for status, times in sorted(counts.items(), key=lambda each: (-each[1], each[0]))
        )
        + f"; {points:g} point{'' if points == 1 else 's'} in all."
    )


def _say(text: str) -> None:
    from gpulab.toolchain.diagnostics import visible

    print(visible(text), flush=True)


def report_options(ask: argparse.ArgumentParser) -> None:
    """Declare the options of ``gpulab report``."""
    ask.add_argument("out", metavar="FOLDER", help="what gpulab grade wrote with --out")
    ask.add_argument("--hide-names", action="store_true", help="numbers in place of students' names")


def report(asked: argparse.Namespace) -> int:
    """Print the tables of a class."""
    from gpulab.classroom.overview import overview

    try:
        sys.stdout.write(overview(Path(asked.out), asked.hide_names).text)
    except OSError as error:
        raise CheckError(
            f"{Path(asked.out) / 'report.json'} cannot be read: {(error.strerror or str(error)).lower()}.",
            hint="name the folder that gpulab grade wrote to with --out.",
        ) from None
    return 0
