"""Where exercises are found: the folder course/exercises of the clone, or its copy inside an installed package.

An exercise is a folder ``ID/`` with ``check.py`` (defines ``exercise``, an `Exercise` or a `ProgramExercise`),
``exercise.md``, ``wrong/*.hip`` and ``right/*.hip``. `load(id)` reads check.py once; unknown ids are answered with the
nearest known ones.
"""

from __future__ import annotations

import importlib.util
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from gpulab.errors import CheckError

if TYPE_CHECKING:
    from gpulab.grading.exercise import Exercise
    from gpulab.grading.program import ProgramExercise


def exercises_folder() -> Path:
    """The folder that holds one folder per exercise.

    Looked for in this order: the environment variable GPULAB_COURSE (the course folder), ``gpulab/_course`` in
    an installed package, ``course`` beside the package in a clone. Raises CheckError if there is none.
    """
    package = Path(__file__).resolve().parents[1]
    chosen = os.environ.get("GPULAB_COURSE")
    candidates = [Path(chosen)] if chosen else [package / "_course", package.parent / "course"]
    for candidate in candidates:
        if (candidate / "exercises").is_dir():
            return candidate / "exercises"
    raise CheckError(
        "The course's exercises were not found.",
        why="looked in " + ", ".join(str(candidate / "exercises") for candidate in candidates) + ".",
        hint="run this from a clone of the project, or set GPULAB_COURSE to its folder course.",
    )


def exercise_ids() -> tuple[str, ...]:
    """Ids of all exercises, by lesson and then by time they take."""
    folder = exercises_folder()
    found = [entry.name for entry in folder.iterdir() if (entry / "check.py").is_file()]
    return tuple(sorted(found, key=lambda id: (load(id).lesson, load(id).minutes, id)))


def load(id: str) -> Exercise | ProgramExercise:
    """The exercise with this id. Raises CheckError with near matches if there is none."""
    folder = exercises_folder()
    path = folder / str(id) / "check.py"
    known = sorted(entry.name for entry in folder.iterdir() if (entry / "check.py").is_file())
    if id not in known:
        import difflib

        near = difflib.get_close_matches(str(id).lower().replace("_", "-").replace(" ", "-"), known, n=3, cutoff=0.5)
        raise CheckError(
            f"There is no exercise {id!r}.",
            hint=("did you mean " + " or ".join(repr(name) for name in near) + "? " if near else "")
            + "The exercises are: "
            + ", ".join(known)
            + ".",
        )
    return _read(path, path.stat().st_mtime_ns)


@cache
def _read(path: Path, changed: int) -> Exercise | ProgramExercise:
    from gpulab.grading.exercise import Exercise
    from gpulab.grading.program import ProgramExercise

    id = path.parent.name
    spec = importlib.util.spec_from_file_location(f"gpulab_course_{id.replace('-', '_')}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise CheckError(f"{path.name} of exercise {id!r} cannot be loaded: {type(error).__name__}: {error}") from error
    exercise = getattr(module, "exercise", None)
    if not isinstance(exercise, (Exercise, ProgramExercise)) or exercise.id != id:
        raise CheckError(f"{path.name} of exercise {id!r} must define `exercise` with id {id!r}.")
    return exercise
