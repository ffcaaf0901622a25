"""Where exercises are found: the folder course/exercises of the clone, or its copy inside an installed package.

An exercise is a folder ``ID/`` with ``check.py`` (defines ``exercise``, an `Exercise` or a `ProgramExercise`),
``exercise.md``, ``right/*.hip`` and ``wrong.toml`` (`gpulab.grading.answers`); a learner's package has check.py
alone. `load(id)` reads check.py once; unknown ids are answered with the nearest known ones.
"""

from __future__ import annotations

import importlib.util
import os
import re
from functools import cache
from pathlib import Path

from gpulab.course import clone, definitions
from gpulab.errors import CheckError
from gpulab.grading.exercise import Exercise
from gpulab.grading.program import ProgramExercise


def from_here(link: str) -> str:
    """The link, which starts at the top of the course, as seen from the working directory, where a notebook's start.

    The top is the nearest folder above that has what the link leads to, as a learner's copy has; else the clone. ""
    where there is neither, as for an assignment that stands alone.
    """
    path, mark, section = link.partition("#")
    try:
        here = Path.cwd()
        top = next((each for each in (here, *here.parents) if (each / path).is_file()), clone())
        there = os.path.relpath(top / path) if top is not None else ""
    except (ValueError, OSError):  # another drive, or a working directory that is gone
        return link
    if not there:
        return ""
    return Path(there).as_posix() + mark + section


def folder_of(id: str) -> Path:
    """The folder of the exercise with this id, whether or not there is one."""
    return definitions() / id


def exercise_ids() -> tuple[str, ...]:
    """Ids of all exercises, by lesson and then by time they take."""
    folder = definitions()
    found = [entry.name for entry in folder.iterdir() if (entry / "check.py").is_file()]
    return tuple(sorted(found, key=lambda id: (load(id).lesson, load(id).minutes, id)))


def load(id: str) -> Exercise | ProgramExercise:
    """The exercise with this id. Raises CheckError with near matches if there is none."""
    if not isinstance(id, str):
        raise CheckError(
            f"The exercise is named by a text, and this is a {type(id).__name__}.",
            hint='its id stands first, in quotation marks, and the kernel after it: gpulab.check("first-fill", fill).',
        )
    path = folder_of(str(id)) / "check.py"
    if not path.is_file() or path.parent.name != id:
        import difflib

        known = sorted(entry.name for entry in definitions().iterdir() if (entry / "check.py").is_file())
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
    id = path.parent.name
    spec = importlib.util.spec_from_file_location(f"gpulab_course_{id.replace('-', '_')}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        place = f"{id}/{path.name}{_line_of(error, path)}"
        fields = _FIELDS.search(str(error)) if isinstance(error, TypeError) else None
        if fields is None:
            said = str(error) if isinstance(error, CheckError) else f"{type(error).__name__}: {error}"
            raise CheckError(f"{place} cannot be loaded: {said}") from error
        what = "has no field" if fields["unknown"] else "lacks the field"
        names = re.findall(r"'(\w+)'", fields["unknown"] or fields["missing"])
        raise CheckError(
            f"{place}: {fields['kind']} {what}{'s' * (len(names) > 1)} {', '.join(names)}.",
            hint="docs/exercises.md lists the fields, and which of them may be left out.",
        ) from error
    exercise = getattr(module, "exercise", None)
    if not isinstance(exercise, (Exercise, ProgramExercise)):
        found = "nothing of that name" if exercise is None else f"a {type(exercise).__name__}"
        raise CheckError(
            f"{id}/{path.name} must define `exercise`, an Exercise or a ProgramExercise; there is {found}.",
            hint="docs/exercises.md shows one.",
        )
    if exercise.id != id:
        raise CheckError(
            f"{id}/{path.name} defines the exercise {exercise.id!r}.", hint="its id is the name of its folder."
        )
    return exercise


_FIELDS = re.compile(
    r"(?P<kind>\w+)\.__init__\(\) (missing \d+ required (?:positional|keyword-only) arguments?: (?P<missing>.*)"
    r"|got an unexpected keyword argument (?P<unknown>'\w+'))"
)
"""What Python says of a dataclass that is made with too few fields, or with one that it does not have."""


def _line_of(error: BaseException, path: Path) -> str:
    """ ", line 12" of the file in which an error arose, as far as it is known."""
    import traceback

    if isinstance(error, SyntaxError) and error.lineno is not None:
        return f", line {error.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return f", line {lines[-1]}" if lines else ""
