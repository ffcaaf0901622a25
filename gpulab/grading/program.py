"""Exercises whose answer is a whole HIP program: what they are.

`ProgramExercise` is the counterpart of `exercise.Exercise`; its cases are `program_case.ProgramCase`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpulab import architectures
from gpulab.errors import CheckError
from gpulab.grading.exercise import Cause, Requirement, complaints_of
from gpulab.grading.outcome import ProgramOutcome
from gpulab.grading.program_case import ProgramCase

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class ProgramExercise:
    """One exercise that is answered by a whole program.

    Args:
        id, title, lesson, section, minutes, causes, hints, requirements, archs: as of `exercise.Exercise`. Causes and
            requirements look at a `ProgramOutcome`.
        cases: in this order, small ones first; the first that fails is reported.
        seconds: for one run.
        instruction_limit: instructions of one wave after which a launch is stopped.
        options: for the compiler.
        drawn: cases that are drawn for a grading with a random generator, beside `cases`; with devices of theirs.
    """

    id: str
    title: str
    lesson: str
    section: str
    cases: tuple[ProgramCase, ...]
    causes: tuple[Cause[ProgramOutcome], ...]
    hints: tuple[str, str, str]
    minutes: int = 20
    requirements: tuple[Requirement[ProgramOutcome], ...] = ()
    archs: tuple[str, ...] = architectures.defaults()
    seconds: float = 30.0
    instruction_limit: int = 2_000_000
    options: tuple[str, ...] = ()
    drawn: Callable[[np.random.Generator], Sequence[ProgramCase]] | None = None

    def __post_init__(self) -> None:
        complaints = complaints_of(self)
        if complaints:
            raise CheckError(f"Exercise {self.id!r} is not well formed: {'; '.join(complaints)}.")

    language = "hip"

    @property
    def built_for(self) -> tuple[str, ...]:
        """The architectures that a program has code for: its own, and those of further devices of `cases`."""
        return tuple(dict.fromkeys((*self.archs, *(arch for case in self.cases for arch in case.devices))))

    @property
    def kernel(self) -> str:
        """A program has no kernel that the check would launch."""
        return "main"
