"""Is an outcome right, and if not, why: `examine` finds the `Failure`, of a kernel's run or a program's.

Nothing is run here but what a requirement asks to be measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from gpulab.errors import CheckError
from gpulab.grading import from_kernels
from gpulab.grading.causes import causes_of
from gpulab.grading.criteria import Criterion, Tally
from gpulab.grading.evidence import allows
from gpulab.grading.exercise import Cause, Exercise, Requirement
from gpulab.grading.outcome import Outcome, ProgramOutcome
from gpulab.grading.program import ProgramExercise
from gpulab.grading.program_case import ProgramCase

Seen = TypeVar("Seen", Outcome, ProgramOutcome)
Said = TypeVar("Said", bool, str)


@dataclass(frozen=True)
class Failure(Generic[Seen]):
    """A failing case: its outcome, the recognised cause, or the requirement that is not met."""

    outcome: Seen
    cause: Cause[Seen] | None
    requirement: Requirement[Seen] | None = None
    complaint: str = ""
    """What the requirement says of the outcome."""

    @property
    def key(self) -> str:
        """What must stay the same while the input is made smaller."""
        if self.requirement is not None:
            return f"requirement {self.requirement.name}"
        return f"cause {self.cause.name}" if self.cause else "unrecognised"


TOO_SLOW = (
    "nothing: the launch reached the limit of {:,} instructions before it was done. It needs far too many for this "
    "size; or a loop of it does not end here, though on the smaller sizes it did"
)
"""What is said in place of a time."""


def examine(exercise: Exercise | ProgramExercise, outcome: Seen) -> Failure[Seen] | None:
    """None for a right outcome, else what is wrong with it.

    Raises CheckError if a cause's test or a requirement of the exercise fails itself.
    """
    # An exercise's requirements and causes look at the outcomes of its own kind.
    requirements = cast("Sequence[Requirement[Seen]]", exercise.requirements)
    if isinstance(exercise, Exercise) and isinstance(outcome, Outcome) and outcome.timed_out():
        speeds = [each for each in requirements if each.of_speed and each.applies(outcome)]
        if speeds:
            return Failure(outcome, None, speeds[0], TOO_SLOW.format(exercise.limit(outcome.case)))
    if not outcome.passed:
        return Failure(outcome, diagnose(exercise, outcome))
    if isinstance(outcome, Outcome) and outcome.unset:
        return Failure(outcome, None, FIRST_VALUES, outcome.unset[0])
    everything: Sequence[Requirement[Any]] = [*exercise.requirements, *_asked_of_all(exercise)]
    for requirement in everything:
        if requirement.applies(outcome):
            complaint = _measured(exercise, outcome, requirement)
            if outcome.unsteady:
                return Failure(outcome, None, STEADY, outcome.unsteady)
            if complaint:
                return Failure(outcome, None, requirement, complaint)
    return None


FIRST_VALUES: Requirement[Any] = Requirement(
    "first-values",
    "each variable has a value before it is used",
    lambda outcome: next(iter(outcome.unset), ""),
    "Registers of the virtual GPU happen to hold what makes the result right; on another GPU they hold anything. With "
    "which value must this variable begin?",
    shrinks=False,
)
"""What every kernel is asked: a result that depends on what a register held before is right by chance."""


STEADY: Requirement[Outcome | ProgramOutcome] = Requirement(
    "every-run",
    "the same right results in every run of the same input",
    lambda outcome: outcome.unsteady,
    "Look for what differs from run to run: variables that keep their value, clocks, the order of waves.",
    shrinks=False,
)
"""What every answer is asked: a requirement is measured in a run of its own, which has to be as right as the others."""


FROM_KERNELS: Requirement[ProgramOutcome] = Requirement(
    "from-kernels",
    "what is printed was computed by kernels, and copied from device memory",
    from_kernels.complaint,
    "Let kernels store the results in device memory, copy them to the host, and print what was copied.",
    when=lambda case: isinstance(case, ProgramCase) and bool(case.computed),
)
"""What every program is asked whose cases say what kernels must compute."""


def asked(exercise: Exercise | ProgramExercise) -> dict[str, str]:
    """The requirements of an exercise, title by name: its own, and what all of its kind are asked."""
    return {each.name: each.title for each in (*exercise.requirements, *_asked_of_all(exercise))}


def _asked_of_all(exercise: Exercise | ProgramExercise) -> Sequence[Requirement[Any]]:
    told = isinstance(exercise, ProgramExercise) and any(case.computed for case in exercise.cases)
    return (FROM_KERNELS,) if told else ()


def _measured(exercise: Exercise | ProgramExercise, outcome: Seen, requirement: Requirement[Seen]) -> str:
    """What a requirement says of an outcome. Of a run that went wrong it may say anything, or fail."""
    try:
        return _asked(exercise, outcome, "requirement", requirement.name, requirement.complaint)
    except CheckError:
        if outcome.unsteady:
            return outcome.unsteady
        raise


def met(exercise: Exercise | ProgramExercise, outcome: Seen) -> dict[str, bool]:
    """Of the requirements that a right outcome can be asked about: is each met? By its name.

    Raises CheckError as `examine` does.
    """
    if not outcome.passed:
        return {}
    everything: Sequence[Requirement[Any]] = [*exercise.requirements, *_asked_of_all(exercise)]
    complaints = {each.name: _measured(exercise, outcome, each) for each in everything if each.applies(outcome)}
    return {name: not (complaint or outcome.unsteady) for name, complaint in complaints.items()}


@dataclass(frozen=True)
class Survey(Generic[Seen]):
    """What the runs of one source showed: those before the first that fails, that one, and the criteria."""

    tried: Sequence[Seen]
    failure: Failure[Seen] | None
    criteria: tuple[Criterion, ...]


def survey(exercise: Exercise | ProgramExercise, runs: Iterator[Seen], whole: bool) -> Survey[Seen]:
    """Examines one run after the other until one fails; with `whole` the rest of them, too, for the criteria.

    A launch that does not come to its end is always the last. Raises CheckError as `examine` does.
    """
    tally = Tally(asked(exercise))
    requirements: Sequence[Requirement[Any]] = [*exercise.requirements, *_asked_of_all(exercise)]
    tried: list[Seen] = []
    failure: Failure[Seen] | None = None
    finished = True
    for outcome in runs:
        failure = failure or examine(exercise, outcome)
        if failure is None:
            tried.append(outcome)
            tally.add(outcome, {each.name: True for each in requirements if each.applies(outcome)})
            continue
        finished = whole and not outcome.timed_out()
        if not finished:
            tally.add(outcome, {} if failure.requirement is None else {failure.requirement.name: False})
            break
        tally.add(outcome, met(exercise, outcome))
    return Survey(tried, failure, tally.criteria(finished))


def diagnose(exercise: Exercise | ProgramExercise, outcome: Seen) -> Cause[Seen] | None:
    """The first cause that recognises this outcome, of those that `causes_of` lists, and that the evidence allows."""
    for cause in cast("Sequence[Cause[Seen]]", causes_of(exercise)):
        if _asked(exercise, outcome, "diagnosis", cause.name, cause.when) and _allowed(exercise, cause, outcome):
            return cause
    return None


def _allowed(exercise: Exercise | ProgramExercise, cause: Cause[Any], outcome: Outcome | ProgramOutcome) -> bool:
    if isinstance(exercise, Exercise) and isinstance(outcome, Outcome) and cause in exercise.causes:
        return allows(exercise, cause, outcome)
    return True


def _asked(
    exercise: Exercise | ProgramExercise, outcome: Seen, what: str, name: str, question: Callable[[Seen], Said]
) -> Said:
    """What one of the exercise's functions says of the outcome. Raises CheckError, with its name, where it fails."""
    try:
        return question(outcome)
    except Exception as error:
        raise CheckError(
            f"The {what} {name!r} of exercise {exercise.id!r} failed on {outcome.case.text()}: "
            f"{type(error).__name__}: {error}"
        ) from error
