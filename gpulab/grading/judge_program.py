"""The judge of whole programs: each is built once, and runs once for each case on each architecture, checked.

What a program writes and its exit code decide. Its host code is a stranger's native code when a class is graded: it
runs in a jail (`gpulab.programs.jail`) wherever there is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gpulab import cores
from gpulab.errors import CompileError
from gpulab.grading import report
from gpulab.grading.drawing import Seed, drawn_runs
from gpulab.grading.judgement import examine, survey
from gpulab.grading.outcome import ProgramOutcome
from gpulab.grading.program import ProgramCase, ProgramExercise
from gpulab.grading.verdict import Verdict

if TYPE_CHECKING:
    from gpulab.programs import HostProgram


def judge_program(exercise: ProgramExercise, source: str, first_line: int = 1, seed: Seed | None = None) -> Verdict:
    """The verdict on a program's source. Nothing of anyone's progress is touched.

    With a seed it is run with further, drawn arguments, and all cases are run, so that every criterion is judged.
    """
    from gpulab import programs
    from gpulab.programs import jail

    jail.ready()
    try:
        program = programs.build(
            source, name=exercise.id, archs=exercise.built_for, options=exercise.options, first_line=first_line
        )
    except CompileError as error:
        return report.does_not_compile(exercise, str(error))
    runs = all_runs(exercise, program, source, seed)
    found = survey(exercise, runs, whole=seed is not None)
    if found.failure is None:
        return replace(report.accepted(exercise, found.tried), criteria=found.criteria)
    outcome = found.failure.outcome
    others = () if outcome.hidden else outcome.elsewhere
    elsewhere = {(other.arch, other.wave_size): examine(exercise, other) is None for other in others}
    return replace(report.rejected(exercise, found.failure, found.tried, elsewhere), criteria=found.criteria)


def all_runs(
    exercise: ProgramExercise, program: HostProgram, source: str, seed: Seed | None
) -> Iterator[ProgramOutcome]:
    """Runs each case on all architectures, as it is asked for: the exercise's, then the drawn ones."""
    for case in exercise.cases:
        yield from run_everywhere(exercise, program, source, case)
    for case in () if seed is None else drawn_runs(exercise, seed):
        yield from (replace(one, hidden=True) for one in run_everywhere(exercise, program, source, case))


def run_everywhere(
    exercise: ProgramExercise, program: HostProgram, source: str, case: ProgramCase
) -> tuple[ProgramOutcome, ...]:
    """Runs the case on all architectures, beside each other if there are cores: each run is a process of its own."""
    pool = cores.beside(len(exercise.archs))
    try:
        runs = [pool.submit(run_case, exercise, program, source, case, arch) for arch in exercise.archs]
        found = [run.result() for run in runs]
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # an interrupt need not wait for the programs' limit
    return tuple(replace(one, elsewhere=tuple(other for other in found if other is not one)) for one in found)


def run_case(
    exercise: ProgramExercise, program: HostProgram, source: str, case: ProgramCase, arch: str
) -> ProgramOutcome:
    """Runs the program once, checked, and in a jail where the system has one."""
    from gpulab import architectures
    from gpulab.programs import jail

    settings: dict[str, Any] = {
        "arch": arch,
        "stdin": case.stdin,
        "seconds": exercise.seconds,
        "jailed": not jail.available(),
        "instruction_limit": exercise.instruction_limit,
        "further": case.devices,
    }
    run = program.run(*case.arguments, checked=True, **settings)
    wave_size = architectures.get(arch).wave_size
    return ProgramOutcome(
        case, arch, wave_size, run, source, lambda: program.run(*case.arguments, profiled=True, **settings)
    )
