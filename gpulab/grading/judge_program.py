"""The judge of whole programs: each is built once, and runs once for each case on each architecture, checked.

What a program writes and its exit code decide. Its host code is a stranger's native code when a class is graded: it
runs in a jail (`gpulab.programs.jail`) wherever there is one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gpulab.errors import CompileError
from gpulab.grading import report
from gpulab.grading.judgement import examine
from gpulab.grading.outcome import ProgramOutcome
from gpulab.grading.program import ProgramCase, ProgramExercise
from gpulab.grading.verdict import Verdict

if TYPE_CHECKING:
    from gpulab.programs import HostProgram


def judge_program(exercise: ProgramExercise, source: str, first_line: int = 1) -> Verdict:
    """The verdict on a program's source. Nothing of anyone's progress is touched."""
    from gpulab import programs

    try:
        program = programs.build(
            source, name=exercise.id, archs=exercise.archs, options=exercise.options, first_line=first_line
        )
    except CompileError as error:
        return report.does_not_compile(exercise, str(error))
    tried: list[ProgramOutcome] = []
    for case in exercise.cases:
        for outcome in run_everywhere(exercise, program, source, case):
            failure = examine(exercise, outcome)
            if failure is not None:
                elsewhere = {
                    (other.arch, other.wave_size): examine(exercise, other) is None for other in outcome.elsewhere
                }
                return report.rejected(exercise, failure, tried, elsewhere)
            tried.append(outcome)
    return report.accepted(exercise, tried)


def run_everywhere(
    exercise: ProgramExercise, program: HostProgram, source: str, case: ProgramCase
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
    }
    run = program.run(*case.arguments, checked=True, **settings)
    wave_size = architectures.get(arch).wave_size
    return ProgramOutcome(
        case, arch, wave_size, run, source, lambda: program.run(*case.arguments, profiled=True, **settings)
    )
