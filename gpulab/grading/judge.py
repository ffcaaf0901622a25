"""The judge of kernels: runs a source on every case of an exercise until one fails, and finds the smallest that does.

The order: prepare the source for each architecture, run the cases from small to large (`run_case`) and examine what
they left until one fails (`survey`); then `explain`: look for the smallest input that fails in the same way
(`shrink`) and one that is large enough to be drawn (`visible`), and hand them to the report. With a seed more cases are
drawn beside those of the exercise (`drawing`), whose inputs no report tells, and all of them are run, for the criteria.
`judged` takes an exercise of either kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from gpulab.errors import AssemblyError, CompileError, DeviceMemoryError, UnsupportedInstruction
from gpulab.grading import report
from gpulab.grading.bench import Bench, Prepared, WrongSignature
from gpulab.grading.case import Asked, Buffer, Case, Parameters, differs
from gpulab.grading.drawing import Seed, drawn, weak_seeds
from gpulab.grading.exercise import Exercise
from gpulab.grading.failed import failed_case
from gpulab.grading.gpu_bench import GpuBench
from gpulab.grading.judge_program import judge_program
from gpulab.grading.judgement import Failure, examine, survey
from gpulab.grading.outcome import Outcome, Weak
from gpulab.grading.program import ProgramExercise
from gpulab.grading.verdict import Verdict

SHRINK_LAUNCHES = 60
"""How many further inputs may be tried to find a smaller failing one."""

WEAK_LIMIT = 1 << 14
"""Instructions of a wave after which a launch on weak memory is stopped: a second or two."""

VISIBLE = 10
"""Output elements that a failing case has at least, if it is to be drawn."""


def judged(
    exercise: Exercise | ProgramExercise,
    source: str,
    first_line: int = 1,
    bench: Bench | None = None,
    explained: bool = True,
    seed: Seed | None = None,
) -> Verdict:
    """The verdict on this source, of a kernel or of a whole program, without touching anyone's progress.

    `explained` is for kernels: see `judge`. A program's first failing case is all that its verdict is about. With a
    seed, the instructor's secret, further cases are drawn: the same ones for the same seed.
    """
    if isinstance(exercise, Exercise):
        return judge(exercise, source, bench or GpuBench(), first_line, explained, seed)
    return judge_program(exercise, source, first_line, seed)


def judge(
    exercise: Exercise,
    source: str,
    bench: Bench,
    first_line: int = 1,
    explained: bool = True,
    seed: Seed | None = None,
) -> Verdict:
    """The verdict on this source, without touching anyone's progress.

    Without `explained` it is about the first case that fails, as it is: with the cause that it has when it is
    explained, but neither made small, nor compiled for and tried on other architectures, nor drawn. With a seed further
    cases are drawn, and those after the first that fails are run, too, so that every criterion is judged.
    """
    prepared: list[Prepared] = []
    asked, archs = exercise.asked(), iter(exercise.archs)

    def kernels() -> Iterator[Prepared]:
        """The source on each architecture; one that no run comes to is not compiled for."""
        yield from prepared
        for arch in archs:
            prepared.append(_prepare(bench, exercise, source, asked, arch, first_line))
            yield prepared[-1]

    try:
        if explained or seed is not None:
            for _ in kernels():
                pass
        found = survey(exercise, all_runs(exercise, source, kernels, seed), whole=seed is not None)
        failure = found.failure
        if failure is None:
            verdict = report.accepted(exercise, found.tried)
        elif failure.outcome.hidden or not explained:
            verdict = report.rejected(exercise, failure, found.tried, {})
        else:
            verdict = explain(exercise, source, prepared, failure, found.tried)
        return replace(verdict, criteria=found.criteria)
    except _Refused as refused:
        return refused.verdict
    finally:
        for kernel in prepared:
            kernel.close()


class _Refused(Exception):
    """The source gives no kernel that can be launched."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.status)
        self.verdict = verdict


def _prepare(bench: Bench, exercise: Exercise, source: str, asked: Asked, arch: str, first_line: int) -> Prepared:
    try:
        return bench.prepare(source, asked, arch, first_line)
    except CompileError as error:
        raise _Refused(report.does_not_compile(exercise, str(error))) from error
    except WrongSignature as error:
        raise _Refused(report.wrong_signature(exercise, str(error))) from error
    except (UnsupportedInstruction, AssemblyError, DeviceMemoryError) as error:
        raise _Refused(report.cannot_be_run(exercise, str(error))) from error


def all_runs(
    exercise: Exercise, source: str, kernels: Callable[[], Iterator[Prepared]], seed: Seed | None
) -> Iterator[Outcome]:
    """Runs each case on each architecture, as it is asked for: the exercise's cases, then the drawn ones."""
    known = [(parameters, None) for parameters in exercise.cases]
    for parameters, secret in (*known, *(() if seed is None else drawn(exercise, seed))):
        for kernel in kernels():
            case = exercise.case(parameters, kernel.wave_size, secret)
            yield run_case(exercise, kernel, source, case, secret)


def explain(
    exercise: Exercise,
    source: str,
    kernels: Sequence[Prepared],
    failure: Failure[Outcome],
    tried: Sequence[Outcome],
) -> Verdict:
    """The report on a failure: with the smallest input that fails so, how that does elsewhere, and a picture."""
    kernel = next(each for each in kernels if each is failure.outcome.prepared)
    smallest = shrink(exercise, kernel, source, failure)
    same = smallest.outcome.case.parameters
    elsewhere = {}
    for other in (each for each in kernels if each is not kernel):
        there = run_case(exercise, other, source, exercise.case(same, other.wave_size))
        elsewhere[there.arch, there.wave_size] = examine(exercise, there) is None
    verdict = report.rejected(exercise, smallest, tried, elsewhere, smaller=smallest is not failure)
    if smallest.requirement is not None or any(array.secret for array in smallest.outcome.case.arrays):
        return verdict
    drawn = visible(exercise, kernel, source, failure, smallest)
    return replace(verdict, case=failed_case(exercise, kernel, drawn.outcome, drawn is not smallest))


def run_case(exercise: Exercise, kernel: Prepared, source: str, case: Case, secret: int | None = None) -> Outcome:
    """Runs the case tightly, and checked for races and the like, and guarded, and on weak memory where it asks for that
    (see `gpulab.grading.outcome`). `secret`: the number that the data of a drawn case were made from."""
    guard = min(max(case.threads, 64), 1 << 16)
    limit = exercise.limit(case)
    buffers = [Buffer(array, 0, number) for number, array in enumerate(case.arrays)]
    watched = any(each.watches and each.asked_of(case, kernel.arch) for each in exercise.requirements)
    wanted = {array.name: range(array.data.size) for array in case.outputs} if watched else None
    tight = kernel.run(case, buffers, limit, True, wanted)
    if tight.fault is not None and tight.fault.kind == "timeout":  # as long again would say nothing new
        return Outcome(
            case, kernel.arch, kernel.wave_size, tight, tight, 0, source, None, kernel, None, secret is not None,
            exercise.language,
        )  # fmt: skip
    apart = [Buffer(each.array, guard, each.number) for each in buffers]
    guarded = kernel.run(case, apart, limit)
    found = Outcome(
        case, kernel.arch, kernel.wave_size, tight, guarded, guard, source,
        lambda: kernel.run(case, buffers, limit, profiled=True), kernel,
        lambda wanted: kernel.run(case, apart, limit, True, wanted), secret is not None, exercise.language,
    )  # fmt: skip
    if case.weak and found.right and (found.fault is None or found.fault.kind == "race"):
        return replace(found, weak=_weak(kernel, case, buffers, min(limit, WEAK_LIMIT), secret))
    return found


def _weak(kernel: Prepared, case: Case, buffers: Sequence[Buffer], limit: int, secret: int | None) -> Weak | None:
    """The first run on weak memory that does not give what is wanted."""
    for seed in weak_seeds(case.weak, secret):
        run = kernel.run(case, buffers, limit, weak=seed)
        if run.fault is not None or any(
            differs(run.after[array.name].reshape(array.data.shape), array).any() for array in case.arrays
        ):
            return Weak(seed, run)
    return None


def visible(
    exercise: Exercise, kernel: Prepared, source: str, first: Failure[Outcome], smallest: Failure[Outcome]
) -> Failure[Outcome]:
    """The failure to draw: the smallest whose outputs are large enough to see the pattern of a mistake, if any is."""
    if _large(smallest.outcome.case):
        return smallest
    if not _large(first.outcome.case):  # then perhaps another input of the exercise, that fails in the same way
        cases = [exercise.case(parameters, kernel.wave_size) for parameters in exercise.cases]
        others = [case for case in cases if _large(case)][:3]
        found = [examine(exercise, run_case(exercise, kernel, source, case)) for case in others]
        same = [failure for failure in found if failure is not None and failure.key == smallest.key]
        if not same:
            return smallest
        first = same[0]
    return shrink(exercise, kernel, source, first, _large)


def _large(case: Case) -> bool:
    """Has an output `VISIBLE` elements, and an image several rows and columns?"""
    return any(
        array.data.size >= VISIBLE and (array.data.ndim != 2 or min(array.data.shape) > 2) for array in case.outputs
    )


def shrink(
    exercise: Exercise,
    kernel: Prepared,
    source: str,
    failure: Failure[Outcome],
    allowed: Callable[[Case], bool] = lambda case: True,
) -> Failure[Outcome]:
    """The smallest allowed input found that fails in the same way: each parameter in turn as small as it goes.

    Inputs that the exercise promises not to give are not tried.
    """
    best, launches, improved = failure, 0, failure.requirement is None or failure.requirement.shrinks
    if failure.outcome.weak is not None:  # such launches are slow, and small from the start
        return failure
    while improved and launches < SHRINK_LAUNCHES:
        improved = False
        for parameters in smaller(best.outcome.case.parameters, exercise.smallest):
            if launches >= SHRINK_LAUNCHES:
                break
            if not exercise.promised(parameters):
                continue
            case = exercise.case(parameters, kernel.wave_size)
            if not allowed(case):
                continue
            launches += 1
            found = examine(exercise, run_case(exercise, kernel, source, case))
            if found is not None and found.key == failure.key:
                best, improved = found, True
                break
    return best


def smaller(parameters: Parameters, smallest: Parameters) -> Iterator[dict[str, int]]:
    """Inputs with one parameter made smaller: the boldest steps first, and each kind of step for all parameters."""
    steps: tuple[Callable[[int, int], int], ...] = (
        lambda value, floor: floor,
        lambda value, floor: floor + 1,
        lambda value, floor: floor + 2,
        lambda value, floor: floor + 3,
        lambda value, floor: value // 8,
        lambda value, floor: value // 2,
        lambda value, floor: value - 1,
    )
    seen = set()
    for step in steps:
        for name, value in parameters.items():
            floor = smallest.get(name, value)
            new = step(value, floor)
            if floor <= new < value and (name, new) not in seen:
                seen.add((name, new))
                yield {**parameters, name: new}
