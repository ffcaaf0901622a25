"""One grading as plain data, and what a worker does with it.

A `Job` names its exercise, and the version of the exercise and of gpulab: a worker that has others refuses it, so that
no result comes from another edition. `key` says what a result depends on; equal jobs are graded once.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from gpulab.classroom.store import plain_bytes
from gpulab.errors import CheckError

Plain = dict[str, Any]
"""What goes to a worker and comes back: what JSON knows."""


@dataclass(frozen=True)
class Job:
    """What is to be graded.

    Args:
        exercise: its id.
        answer: the text.
        seed: of the inputs that are drawn for this grading, the instructor's secret.
        version: of the exercise and of gpulab, as `version_of` says.
        seconds, trusted, jail: limits and walls, as of `gpulab.grading.Grader`.
    """

    exercise: str
    answer: str
    seed: int
    version: str
    seconds: float = 60.0
    trusted: bool = False
    jail: str = "none"

    @property
    def key(self) -> str:
        """The same for the same answer, exercise, gpulab, seed and limits; another for any other."""
        plain = asdict(self)
        del plain["jail"]  # walls do not change a verdict
        return hashlib.sha256(plain_bytes(plain)).hexdigest()


class Unfit(RuntimeError):
    """A worker that must not grade this: another edition of gpulab or of the exercise, or too weak walls."""


def version_of(exercise: str) -> str:
    """A digest of gpulab's sources, its version among them, and of what a verdict depends on in the exercise's folder.

    That is neither its text nor its answers, which a learner's package lacks.
    """
    from gpulab.grading.library import folder_of

    gpulab = _folder(str(Path(__file__).resolve().parents[1]))
    return hashlib.sha256(f"{gpulab} {_folder(str(folder_of(exercise)))}".encode()).hexdigest()[:32]


_NOT_JUDGED = ("__pycache__", "_course", "right", "wrong.toml", "exercise.md")


@cache
def _folder(path: str) -> str:
    """A digest of what a folder holds, apart from what Python and notebooks leave there.

    The course's copy inside an installed package counts with its exercises, not with the package.
    """
    digest = hashlib.sha256()
    for at, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if name not in _NOT_JUDGED and name[0] != ".")
        for name in sorted(files):
            if name not in _NOT_JUDGED and not name.endswith((".pyc", ".pyo")) and name[0] != ".":
                file = Path(at, name)
                data = file.read_bytes()
                digest.update(f"{file.relative_to(path).as_posix()}\0{len(data)}\0".encode("utf-8", "replace"))
                digest.update(data)
    return digest.hexdigest()


_here = threading.local()
"""This thread's grader. A worker of Dask has one thread for each job that it takes at a time, and keeps it."""

_open: list[Any] = []
"""The graders of all threads, for the end of the process."""


def grade(work: Mapping[str, Any]) -> Plain:
    """Grade one job (as plain data) in this process: its verdict as plain data. Raises Unfit.

    The grader stays for the next job; its own processes hold nothing of the submissions before.
    """
    from gpulab.grading import Grader

    job = Job(**work)
    if version_of(job.exercise) != job.version:
        raise Unfit(f"this worker has another edition of gpulab or of the exercise {job.exercise!r}")
    wanted = (job.seconds, job.trusted, job.jail)
    if getattr(_here, "wanted", None) != wanted:
        try:
            _here.grader = Grader(seconds=job.seconds, trusted=job.trusted, jail=job.jail).__enter__()
        except CheckError as error:
            raise Unfit(" ".join(str(error).split())) from None
        _here.wanted = wanted
        _open.append(_here.grader)
    return dict(_here.grader.grade(job.exercise, job.answer, seed=job.seed).verdict.as_dict())


@atexit.register
def close() -> None:
    """End all graders of this process."""
    global _here
    _here = threading.local()
    while _open:
        _open.pop().__exit__(None, None, None)
