"""Where the course's files stand: beside the package in a clone, or in an installed package (`gpulab/_course`).

An installed package has what learners get: `definitions` without answers, `learners`, the lessons and exercises, and
`projects` to begin with.
The package gpulab-instructor, beside it, has the definitions with answers, and `solutions` (docs/delivery.md).
"""

from __future__ import annotations

import os
from pathlib import Path

from gpulab.errors import CheckError, GpulabError

PACKAGE = Path(__file__).resolve().parent
INSTRUCTORS = "gpulab_instructor"
"""The folder beside an installed gpulab that has the answers; no worker that grades may see it."""


def clone() -> Path | None:
    """The clone that gpulab runs from; None for an installed package."""
    beside = PACKAGE.parent
    return beside if (beside / "course" / "build.py").is_file() and (beside / "notebooks").is_dir() else None


def definitions() -> Path:
    """The folder that holds one folder per exercise.

    Looked for in this order: the environment variable GPULAB_COURSE (the course folder), the instructor's package,
    ``gpulab/_course`` in an installed package, ``course`` beside the package in a clone. Raises CheckError if there is
    none.
    """
    chosen = os.environ.get("GPULAB_COURSE")
    candidates = (
        [Path(chosen)] if chosen else [PACKAGE.parent / INSTRUCTORS, PACKAGE / "_course", PACKAGE.parent / "course"]
    )
    for candidate in candidates:
        if (candidate / "exercises").is_dir():
            return candidate / "exercises"
    raise CheckError(
        "The course's exercises were not found.",
        why="looked in " + ", ".join(str(candidate / "exercises") for candidate in candidates) + ".",
        hint="run this from a clone of the project, or set GPULAB_COURSE to its folder course.",
    )


def learners() -> Path:
    """The folder that holds notebooks/, exercises/ and docs/. Raises GpulabError if there is none."""
    installed = PACKAGE / "_course" / "learners"
    found = installed if installed.is_dir() else clone()
    if found is None:
        raise GpulabError(
            f"This gpulab has no lessons: there is no {installed}.",
            hint="install the wheel that `make wheels` builds in a clone, or run gpulab from a clone.",
        )
    return found


def projects() -> Path:
    """The folder with one folder for each project of a term, as learners begin it. Raises GpulabError as `learners`."""
    top = learners()
    return top / "course" / "projects" if top == clone() else top / "projects"


def solutions() -> Path | None:
    """The folder with one folder of solutions per exercise; None where they are not installed."""
    top = clone() or PACKAGE.parent / INSTRUCTORS
    return top / "solutions" if (top / "solutions").is_dir() else None
