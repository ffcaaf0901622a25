"""Exercises whose answer is a whole HIP program: what they are, and how the program is judged.

`ProgramExercise` is the counterpart of `exercise.Exercise`. A program is compiled once and runs once for each case on
each architecture, checked for races and the like; what it writes and its exit code decide. Its host code is a
stranger's native code when a class is graded: it runs in a jail (`gpulab.programs.jail`) wherever there is one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gpulab.errors import CheckError, CompileError, GpulabError
from gpulab.grading.exercise import Cause, Parameters, Requirement
from gpulab.grading.requirements import code_only
from gpulab.grading.verdict import Row, Verdict

if TYPE_CHECKING:
    from gpulab.programs import Program, ProgramRun
    from gpulab.records import Activity, Fault, Launch

SHOWN_LINES = 6
"""Lines of output that a report shows."""
WIDEST = 120
"""Characters of a line of output that a report shows."""


@dataclass(frozen=True)
class ProgramCase:
    """One run of the program.

    Args:
        arguments: of its command line.
        expected: what it must write to standard output, line by line (spaces at the end of lines and of the output do
            not count), or a function of that text that returns "" or what is wrong with it.
        exit_code: with which it must end.
        stdin: what it can read.
        parameters: for requirements and causes that depend on the case.
    """

    arguments: tuple[str, ...] = ()
    expected: str | Callable[[str], str] = ""
    exit_code: int = 0
    stdin: str = ""
    parameters: Parameters = field(default_factory=dict)

    def text(self) -> str:
        """The command line, as a person writes it."""
        import shlex

        shown = shlex.join(("./program", *self.arguments))
        return shown + (f" with {len(self.stdin.splitlines())} lines of input" if self.stdin else "")

    def complaint(self, stdout: str) -> str:
        """What is wrong with this output; "" if nothing is."""
        if callable(self.expected):
            return self.expected(stdout)
        wanted, found = (text.rstrip().split("\n") for text in (self.expected, stdout))
        wanted, found = ([line.rstrip() for line in lines] for lines in (wanted, found))
        if wanted == found:
            return ""
        for number, (one, other) in enumerate(zip(wanted, found, strict=False), 1):
            if one != other:
                return f"line {number} should be\n  {_cut(one)}\nbut is\n  {_cut(other)}"
        if len(found) > len(wanted):
            return f"there is more than {_lines(len(wanted))}: line {len(wanted) + 1} is\n  {_cut(found[len(wanted)])}"
        return f"there are {_lines(len(found))} instead of {len(wanted)}: missing is\n  {_cut(wanted[len(found)])}"


@dataclass(frozen=True)
class ProgramOutcome:
    """What one run of the program left on one architecture."""

    case: ProgramCase
    arch: str
    wave_size: int
    run: ProgramRun
    source: str = ""
    profile: Callable[[], ProgramRun] | None = field(default=None, compare=False, repr=False)
    elsewhere: tuple[ProgramOutcome, ...] = field(default=(), compare=False, repr=False)
    """The same case on the other architectures."""

    @property
    def stdout(self) -> str:
        return self.run.stdout

    @property
    def stderr(self) -> str:
        return self.run.stderr

    @property
    def exit_code(self) -> int:
        """Of the process; negative for a signal."""
        return self.run.exit_code

    @property
    def fault(self) -> Fault | None:
        """The first fault of a kernel."""
        return self.run.faults[0] if self.run.faults else None

    @property
    def launches(self) -> tuple[Launch, ...]:
        """The launches, without counters; `measured` has them."""
        return tuple(self.run.launches)

    @property
    def activities(self) -> tuple[Activity, ...]:
        """What the streams did, with modelled times."""
        return tuple(self.run.activities)

    @cached_property
    def measured(self) -> tuple[Launch, ...]:
        """The launches of a second, profiled run, which happens when this is first asked for."""
        if self.profile is None:
            raise CheckError(f"There is no profile of {self.case.text()} on {self.arch}.")
        return tuple(self.profile().launches)

    @property
    def code(self) -> str:
        """The source without comments and texts."""
        return code_only(self.source)

    def uses(self, pattern: str) -> bool:
        """Is the regular expression found in the source without comments and texts?"""
        return re.search(pattern, self.code) is not None

    def timed_out(self) -> bool:
        return bool(self.run.seconds_limit_hit) or (self.fault is not None and self.fault.kind == "timeout")

    @property
    def complaint(self) -> str:
        """What is wrong with the output; "" if nothing is."""
        return self.case.complaint(self.stdout)

    @property
    def passed(self) -> bool:
        return (
            self.fault is None and not self.timed_out() and self.exit_code == self.case.exit_code and not self.complaint
        )


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
    """

    id: str
    title: str
    lesson: str
    section: str
    cases: tuple[ProgramCase, ...]
    causes: tuple[Cause, ...]
    hints: tuple[str, str, str]
    minutes: int = 20
    requirements: tuple[Requirement, ...] = ()
    archs: tuple[str, ...] = ("gfx942", "gfx1100")
    seconds: float = 30.0
    instruction_limit: int = 2_000_000
    options: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        from gpulab.grading.exercise import complaints_of

        complaints = complaints_of(self)
        if complaints:
            raise CheckError(f"Exercise {self.id!r} is not well formed: {'; '.join(complaints)}.")

    @property
    def kernel(self) -> str:
        """A program has no kernel that the check would launch."""
        return "main"


GENERAL_CAUSES = (
    Cause(
        "never-ends",
        "the program does not end",
        lambda outcome: outcome.timed_out(),
        "It was stopped after a limit that a right answer stays far below.",
        "For each loop, on the host and in kernels, find what ends it; then look for a wait that nothing answers.",
    ),
    Cause(
        "crashed",
        "the host program crashed",
        lambda outcome: outcome.fault is None and outcome.exit_code < 0,
        "The operating system stopped it, mostly because host code used an address that is not its own: a device "
        "pointer is nothing that the host can read, nor is the null pointer of a search that found nothing.",
        "Look at each pointer that host code reads or writes through: where does it come from, and how large is what "
        "it points to?",
    ),
)
"""Mistakes that any program may show, before the exercise's own."""

LAST_CAUSES = (
    Cause(
        "hip-error",
        "a HIP call failed",
        lambda outcome: outcome.exit_code != outcome.case.exit_code and "hipError" in outcome.stdout + outcome.stderr,
        "The program says so itself.",
        "Read the message: which call was it, and what do its arguments have to be?",
    ),
    Cause(
        "exit-code",
        "the program ends with another exit code than it should",
        lambda outcome: outcome.exit_code != outcome.case.exit_code and not outcome.complaint,
        "A program tells whoever started it by its exit code whether it succeeded: 0 means yes.",
        "What does main return, and what do your error checks pass to exit?",
    ),
    Cause(
        "kernel-fault",
        "a kernel was stopped",
        lambda outcome: outcome.fault is not None,
        "What it did, and where, stands above.",
        "Start with the line that is named.",
    ),
    Cause(
        "nothing-printed",
        "the program prints nothing",
        lambda outcome: not outcome.stdout.strip() and bool(outcome.complaint),
        "The check reads what the program writes to standard output.",
        "Does main reach the line that prints the result?",
    ),
)
"""Mistakes that no exercise has a better name for."""


def judge_program(exercise: ProgramExercise, source: str, first_line: int = 1) -> Verdict:
    """The verdict on a program's source. Nothing of anyone's progress is touched."""
    from gpulab import programs
    from gpulab.grading.judge import report_compile_error

    try:
        program = programs.build(
            source, name=exercise.id, archs=exercise.archs, options=exercise.options, first_line=first_line
        )
    except CompileError as error:
        return report_compile_error(exercise, str(error))
    tried: list[ProgramOutcome] = []
    for case in exercise.cases:
        for outcome in run_everywhere(exercise, program, source, case):
            failure = _examine(exercise, outcome)
            if failure is not None:
                return _report(exercise, outcome, failure, tried)
            tried.append(outcome)
    rows = [Row("tried", _tried(tried)), *(Row("met", requirement.title) for requirement in exercise.requirements)]
    return Verdict(exercise.id, "passed", f"Passed: {exercise.id} ({exercise.title})", tuple(rows))


def run_everywhere(
    exercise: ProgramExercise, program: Program, source: str, case: ProgramCase
) -> tuple[ProgramOutcome, ...]:
    """Runs the case on all architectures at the same time: each run is a process of its own."""
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(len(exercise.archs))
    try:
        runs = [pool.submit(run_case, exercise, program, source, case, arch) for arch in exercise.archs]
        found = [run.result() for run in runs]
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # an interrupt need not wait for the programs' limit
    return tuple(replace(one, elsewhere=tuple(other for other in found if other is not one)) for one in found)


def run_case(exercise: ProgramExercise, program: Program, source: str, case: ProgramCase, arch: str) -> ProgramOutcome:
    """Runs the program once, checked, and in a jail where the system has one."""
    from gpulab import architectures
    from gpulab.programs import jail

    settings: dict[str, Any] = {
        "arch": arch,
        "stdin": case.stdin,
        "seconds": exercise.seconds,
        "jailed": not jail.available(),
        "instruction_limit": exercise.instruction_limit,
    }
    run = program.run(*case.arguments, checked=True, **settings)
    wave_size = architectures.get(arch).wave_size
    return ProgramOutcome(
        case, arch, wave_size, run, source, lambda: program.run(*case.arguments, profiled=True, **settings)
    )


@dataclass(frozen=True)
class _Failure:
    cause: Cause | None = None
    requirement: Requirement | None = None
    complaint: str = ""


def _examine(exercise: ProgramExercise, outcome: ProgramOutcome) -> _Failure | None:
    from gpulab.grading.judge import CHECKED_CAUSES

    what = ""
    try:
        if not outcome.passed:
            for cause in (*GENERAL_CAUSES, *exercise.causes, *CHECKED_CAUSES, *LAST_CAUSES):
                what = cause.name
                if cause.when(outcome):
                    return _Failure(cause)
            return _Failure()
        for requirement in exercise.requirements:
            what = requirement.name
            if requirement.applies(outcome):
                complaint = requirement.complaint(outcome)
                if complaint:
                    return _Failure(None, requirement, complaint)
    except GpulabError:
        raise
    except Exception as error:
        raise CheckError(
            f"{what!r} of exercise {exercise.id!r} failed on {outcome.case.text()}: {type(error).__name__}: {error}"
        ) from error
    return None


def _report(
    exercise: ProgramExercise, outcome: ProgramOutcome, failure: _Failure, tried: list[ProgramOutcome]
) -> Verdict:
    from gpulab.grading.judge import _verdict
    from gpulab.providers import faults

    rows = [Row("tried", f"{_tried(tried)}: right so far")] if tried else []
    rows.append(Row("fails with", f"{outcome.case.text()}, on {outcome.arch} (wave{outcome.wave_size})"))
    for other in outcome.elsewhere:
        same = "passes" if _examine(exercise, other) is None else "fails as well"
        rows.append(Row("and on", f"{other.arch} (wave{other.wave_size}) the same input {same}"))
    if failure.requirement is not None:
        rows.append(Row("required", failure.requirement.title))
        rows.append(Row("measured", failure.complaint))
        if failure.requirement.next_step:
            rows.append(Row("next", failure.requirement.next_step))
        return _verdict(exercise, "requirement", tuple(rows), cause=failure.requirement.name)
    if outcome.fault is not None:
        rows.append(Row("stopped", "\n".join(faults.describe(outcome.fault)[:2]), block=True))
    # A kernel that was stopped explains the exit code, what is missing of the output, and the program's own messages.
    if outcome.fault is None and outcome.exit_code != outcome.case.exit_code:
        rows.append(Row("exit code", f"{exit_text(outcome.exit_code)}, expected is {outcome.case.exit_code}"))
    if outcome.complaint and (outcome.fault is None or outcome.stdout.strip()):
        rows.append(Row("output", outcome.complaint, block=True))
    if outcome.fault is None and outcome.stderr.strip():
        rows.append(Row("messages", _tail(outcome.stderr), block=True))
    cause = failure.cause
    if cause is not None:
        rows.append(Row("likely cause", f"{cause.title}. {cause.why}"))
        rows.append(Row("next", cause.next_step))
    else:
        rows.append(Row("likely cause", "not one of the mistakes known here. The output above is all the evidence."))
        rows.append(Row("next", "Print what the program computes on its way to the first wrong line."))
    status = "fault" if outcome.fault is not None else "wrong"
    return _verdict(exercise, status, tuple(rows), cause=cause.name if cause else "")


def exit_text(code: int) -> str:
    """ "3", or "SIGSEGV (the system stopped it)" for a negative one."""
    if code >= 0:
        return str(code)
    import signal

    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"{name} (the system stopped it)"


def _tried(tried: Sequence[ProgramOutcome]) -> str:
    archs = " and ".join(dict.fromkeys(f"{outcome.arch} (wave{outcome.wave_size})" for outcome in tried))
    commands = "; ".join(dict.fromkeys(outcome.case.text() for outcome in tried))
    return f"{len(tried)} run{'' if len(tried) == 1 else 's'} on {archs}: {commands}"


def _tail(text: str) -> str:
    lines = text.rstrip().split("\n")
    return "\n".join((["..."] if len(lines) > SHOWN_LINES else []) + [_cut(line) for line in lines[-SHOWN_LINES:]])


def _cut(line: str) -> str:
    return line if len(line) <= WIDEST else line[: WIDEST - 1] + "…"


def _lines(count: int) -> str:
    return f"{count} line{'' if count == 1 else 's'}"
