"""Graders for tests of machines: quick ones, and such that end their worker. Workers import them by name."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gpulab.classroom.jobs import Job, Plain, Unfit
from gpulab.classroom.results import GradedExercise
from gpulab.classroom.submissions import Submission
from gpulab.grading.verdict import Verdict, VerdictRow


def verdict(answer: str) -> Plain:
    """A verdict that the answer decides."""
    status = "passed" if "right" in answer else "wrong"
    return Verdict("first-fill", status, f"It is {status}.", (VerdictRow("what", answer),)).as_dict()


def grade(work: Mapping[str, Any]) -> Plain:
    """Do what the answer says: wait, die, die once, raise, or nothing but grade."""
    answer = work["answer"]
    words = answer.split()
    if "slow" in words:
        time.sleep(0.3)
    if "deadly" in words:
        os.kill(os.getpid(), signal.SIGKILL)
    if "once" in words:  # "once FILE": the first worker that takes it dies
        mark = Path(words[words.index("once") + 1])
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    if "note" in words:  # "note FOLDER": a file for each time that it runs
        folder = Path(words[words.index("note") + 1])
        (folder / f"{time.time_ns()}-{os.getpid()}").write_text(answer)
        time.sleep(0.02)
    if "raise" in words:
        raise RuntimeError("the tool is missing")
    if "edition" in words:
        raise Unfit("this worker has another edition")
    if "later" in words:
        return Verdict("first-fill", "not judged", "The disk is full.").as_dict()
    return verdict(answer)


def job(answer: str) -> Job:
    return Job("first-fill", answer, 1, "v")


def submission(student: str, answer: str | None, problem: str = "") -> Submission:
    return Submission(student, "first-fill", answer, problem, "")


def summary(rows: list[GradedExercise]) -> list[tuple[str, str]]:
    return [(row.student, row.status) for row in rows]
