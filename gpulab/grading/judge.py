"""`check`: runs a kernel on every case of an exercise and says what is wrong as a tutor would.

The order: find the source (`source_of`), compile for each architecture, run the cases from small to large until
one fails, look for the smallest input that fails in the same way (`shrink`), recognise the mistake (`diagnose`),
and write the report (`report_*`). Only kernel text is judged; nothing of the learner's Python runs here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gpulab.errors import AssemblyError, CheckError, CompileError, DeviceMemoryError, UnsupportedInstruction
from gpulab.grading.bench import Bench, GpuBench, Prepared, WrongSignature
from gpulab.grading.exercise import Array, Case, Cause, Exercise, Parameters, Requirement
from gpulab.grading.failed import failed_case, number_text
from gpulab.grading.outcome import Buffer, Outcome
from gpulab.grading.verdict import Row, Verdict

if TYPE_CHECKING:
    import numpy as np

    from gpulab.grading.program import ProgramExercise

SHRINK_LAUNCHES = 60
"""How many further inputs may be tried to find a smaller failing one."""

VISIBLE = 10
"""Output elements that a failing case has at least, if it is to be drawn."""

SHOWN = 4
"""How many elements a report lists."""


def check(id: str, answer: Any = None, *, bench: Bench | None = None, record: bool = True) -> Verdict:
    """Checks an answer to exercise `id` and returns a `Verdict`.

    Args:
        id: the exercise, for example "saxpy-guard".
        answer: a kernel, a module, or kernel source as text.
        bench: what compiles and runs it; by default the virtual devices.
        record: whether to note the attempt in the learner's progress.

    Raises CheckError if there is no such exercise, or if `answer` holds no kernel source.
    """
    from gpulab.grading.library import load

    exercise = load(id)
    source = source_of(id, answer)
    if source.strip() == exercise.kernel:
        raise CheckError(
            f"gpulab.check({id!r}, {source!r}): this is the kernel's name as a text, not the kernel.",
            hint=f"write it without quotation marks: gpulab.check({id!r}, {exercise.kernel}).",
        )
    verdict = judged(exercise, source, first_line_of(answer), bench)
    if not isinstance(answer, str) and is_outdated(source, exercise.kernel, cells_run()):
        verdict = replace(verdict, rows=(Row("mind", OUTDATED.format(exercise.kernel)), *verdict.rows))
    if record:
        from gpulab.grading.history import record_attempt

        message = record_attempt(id, verdict.passed)
        if message:
            verdict = replace(verdict, rows=(*verdict.rows, Row("progress", message)))
    return verdict


def judged(
    exercise: Exercise | ProgramExercise, source: str, first_line: int = 1, bench: Bench | None = None
) -> Verdict:
    """The verdict on this source, of a kernel or of a whole program, without touching anyone's progress."""
    if isinstance(exercise, Exercise):
        return judge(exercise, source, bench or GpuBench(), first_line)
    from gpulab.grading.program import judge_program

    return judge_program(exercise, source, first_line)


OUTDATED = (
    "the last cell that you ran with {} in it was not compiled; this report is about the version before. "
    "Mend that cell, run it, and check again."
)


def cells_run() -> list[str]:
    """The text of the cells that were run in this notebook, oldest first; none outside of IPython."""
    import sys

    if "IPython" not in sys.modules:
        return []
    from IPython import get_ipython

    shell = get_ipython()
    history = getattr(shell, "history_manager", None)
    return [str(text) for text in getattr(history, "input_hist_raw", ())]


def is_outdated(source: str, kernel: str, cells: list[str]) -> bool:
    """Did a later %%hip or %%hipcc cell define this kernel with another text (which then did not compile)?"""
    for cell in reversed(cells):
        if cell.lstrip().startswith(("%%hip", "%%cuda")) and re.search(rf"\b{re.escape(kernel)}\s*\(", cell):
            return source.strip() not in cell
    return False


def source_of(id: str, answer: Any) -> str:
    """The kernel text of a source, a kernel, a module or a code object. Raises CheckError if there is none."""
    if isinstance(answer, str):
        return answer
    for path in (("source",), ("code", "source"), ("module", "source"), ("module", "code", "source")):
        found = answer
        for name in path:
            found = getattr(found, name, None)
        if isinstance(found, str) and found.strip():
            return found
    raise CheckError(
        f"There is no kernel source in what was given to gpulab.check({id!r}, ...): {type(answer).__name__}.",
        why="a check compiles the kernel's text again, for each architecture.",
        hint=f"run the %%hip cell with your kernel first, then gpulab.check({id!r}, name_of_your_kernel); a program "
        "gets its name by %%hipcc --name my_program.",
    )


def first_line_of(answer: Any) -> int:
    """The number that the source's first line has for the learner: 2 in a cell that begins with %%hip."""
    for path in (("_code", "first_line"), ("module", "_code", "first_line")):
        found = answer
        for name in path:
            found = getattr(found, name, None)
        if isinstance(found, int):
            return found
    return 1


def judge(exercise: Exercise, source: str, bench: Bench, first_line: int = 1) -> Verdict:
    """The verdict on this source, without touching anyone's progress."""
    prepared: list[Prepared] = []
    try:
        try:
            for arch in exercise.archs:
                prepared.append(bench.prepare(source, exercise, arch, first_line))
        except CompileError as error:
            return report_compile_error(exercise, str(error))
        except WrongSignature as error:
            return _verdict(exercise, "wrong signature", (Row("what", str(error)),), cause="wrong-signature")
        except (UnsupportedInstruction, AssemblyError, DeviceMemoryError) as error:
            return _verdict(exercise, "does not compile", (Row("what", str(error), block=True),), cause="unsupported")
        return _judge(exercise, source, prepared)
    finally:
        for kernel in prepared:
            kernel.close()


@dataclass(frozen=True)
class _Failure:
    """A failing case: its outcome, the recognised cause, or the requirement that is not met."""

    outcome: Outcome
    cause: Cause | None
    requirement: Requirement | None = None
    complaint: str = ""

    @property
    def key(self) -> str:
        """What must stay the same while the input is made smaller."""
        if self.requirement is not None:
            return f"requirement {self.requirement.name}"
        return f"cause {self.cause.name}" if self.cause else "unrecognised"


def _judge(exercise: Exercise, source: str, kernels: list[Prepared]) -> Verdict:
    tried: list[Outcome] = []
    for parameters in exercise.cases:
        for kernel in kernels:
            outcome = run_case(exercise, kernel, source, exercise.case(parameters, kernel.wave_size))
            failure = examine(exercise, outcome)
            if failure is not None:
                smallest = shrink(exercise, kernel, source, failure)
                same = smallest.outcome.case.parameters
                elsewhere = [
                    run_case(exercise, other, source, exercise.case(same, other.wave_size))
                    for other in kernels
                    if other is not kernel
                ]
                verdict = report_failure(exercise, smallest, tried, elsewhere, first=failure)
                if smallest.requirement is not None:
                    return verdict
                drawn = visible(exercise, kernel, source, failure, smallest)
                return replace(verdict, case=failed_case(exercise, kernel, drawn.outcome, drawn is not smallest))
            tried.append(outcome)
    return report_success(exercise, tried)


def run_case(exercise: Exercise, kernel: Prepared, source: str, case: Case) -> Outcome:
    """Runs the case tightly, and checked for races and the like, and guarded (see `gpulab.grading.outcome`)."""
    guard = min(max(case.threads, 64), 1 << 16)
    limit = exercise.limit(case)
    buffers = [Buffer(array, 0, number) for number, array in enumerate(case.arrays)]
    tight = kernel.run(case, buffers, limit, True)
    if tight.fault is not None and tight.fault.kind == "timeout":  # as long again would say nothing new
        return Outcome(case, kernel.arch, kernel.wave_size, tight, tight, 0, source, None, kernel)
    guarded = kernel.run(case, [Buffer(each.array, guard, each.number) for each in buffers], limit)
    return Outcome(
        case, kernel.arch, kernel.wave_size, tight, guarded, guard, source,
        lambda: kernel.run(case, buffers, limit, profiled=True), kernel,
    )  # fmt: skip


def examine(exercise: Exercise, outcome: Outcome) -> _Failure | None:
    """None for a right outcome, else what is wrong with it."""
    if outcome.timed_out():
        asked = [each for each in exercise.requirements if each.of_speed and each.applies(outcome)]
        if asked:
            return _Failure(outcome, None, asked[0], TOO_SLOW.format(exercise.limit(outcome.case)))
    if not outcome.passed:
        return _Failure(outcome, diagnose(exercise, outcome))
    for requirement in exercise.requirements:
        if not requirement.applies(outcome):
            continue
        try:
            complaint = requirement.complaint(outcome)
        except Exception as error:
            raise CheckError(
                f"The requirement {requirement.name!r} of exercise {exercise.id!r} failed on {outcome.case.text()}: "
                f"{type(error).__name__}: {error}"
            ) from error
        if complaint:
            return _Failure(outcome, None, requirement, complaint)
    return None


TOO_SLOW = (
    "nothing: the launch reached the limit of {:,} instructions before it was done. It needs far too many for this "
    "size; or a loop of it does not end here, though on the smaller sizes it did"
)
"""What is said in place of a time."""


def diagnose(exercise: Exercise, outcome: Outcome) -> Cause | None:
    """The first cause that recognises this outcome: of `GENERAL_CAUSES`, of the exercise, of `CHECKED_CAUSES`."""
    for cause in (*GENERAL_CAUSES, *exercise.causes, *CHECKED_CAUSES):
        try:
            if cause.when(outcome):
                return cause
        except Exception as error:
            raise CheckError(
                f"The diagnosis {cause.name!r} of exercise {exercise.id!r} failed on {outcome.case.text()}: "
                f"{type(error).__name__}: {error}"
            ) from error
    return None


GENERAL_CAUSES = (
    Cause(
        "never-ends",
        "a loop does not end",
        lambda outcome: outcome.timed_out() and not (outcome.fault is not None and outcome.fault.kind == "deadlock"),
        "The kernel was stopped after a limit of instructions that a right answer stays far below.",
        "For each loop, find the variable that its condition tests, and the line that changes it.",
    ),
    Cause(
        "private-memory",
        "a thread's own memory was overrun: an array inside the kernel, or calls without an end",
        lambda outcome: outcome.fault is not None and outcome.fault.kind in ("scratch out of bounds", "stack overflow"),
        "Arrays declared inside a kernel, and what functions keep while they call each other, lie in a small memory "
        "that each thread has for itself.",
        "Compare the indices with the array's size; a function that calls itself needs a condition that ends it.",
    ),
    Cause(
        "nothing-written",
        "the kernel wrote nothing",
        lambda outcome: outcome.fault is None and outcome.nothing_written(),
        "All outputs still hold what they held before the launch: either the body is empty, or its condition is "
        "false for every thread.",
        "Write the result of one element first, for example that of thread 0.",
    ),
    Cause(
        "changed-input",
        "an input was overwritten",
        lambda outcome: any(outcome.wrong(array.name).any() for array in outcome.case.arrays if not array.is_output),
        "This array is only to be read.",
        "Look at the left side of each assignment.",
    ),
)
"""Mistakes that any exercise may see."""


def _found(*kinds: str) -> Callable[[Outcome], bool]:
    return lambda outcome: outcome.fault is not None and outcome.fault.kind in kinds


CHECKED_CAUSES = (
    Cause(
        "data-race",
        "threads use the same memory and nothing decides who comes first",
        _found("race", "lane conflict"),
        "On a GPU such a kernel may give the right numbers for a long time, and then wrong ones.",
        "Look at both places: let one thread alone write there, or order them by __syncthreads() or atomic operations.",
    ),
    Cause(
        "never-written",
        "memory is read that nobody has written",
        _found("never written"),
        "What such memory holds is left to chance.",
        "Find the line that should have written this element first, and for which threads it does so.",
    ),
    Cause(
        "barrier",
        "a barrier is not reached by all threads of the block",
        _found("barrier"),
        "__syncthreads() lets no thread go on until all threads of the block have come.",
        "Move it out of the condition or the loop that only some threads run.",
    ),
    Cause(
        "deadlock",
        "threads wait for something that never comes",
        _found("deadlock"),
        "All that is left of the kernel repeats itself without changing anything.",
        "Find out who is to change what the loop waits for, and what that thread waits for.",
    ),
    Cause(
        "inactive-lane",
        "a shuffle reads a lane that does not take part in it",
        _found("shuffle"),
        "Inside a branch or a loop only the lanes that came there can be read, and lanes that have returned, or that "
        "the block never had, cannot be read at all.",
        "Let all lanes of the wave shuffle, and decide afterwards who uses the result.",
    ),
)
"""Mistakes that checked launches find and no exercise has a better name for."""


def visible(exercise: Exercise, kernel: Prepared, source: str, first: _Failure, smallest: _Failure) -> _Failure:
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
    failure: _Failure,
    allowed: Callable[[Case], bool] = lambda case: True,
) -> _Failure:
    """The smallest allowed input found that fails in the same way: each parameter in turn as small as it goes."""
    best, launches, improved = failure, 0, failure.requirement is None or failure.requirement.shrinks
    while improved and launches < SHRINK_LAUNCHES:
        improved = False
        for parameters in smaller(best.outcome.case.parameters, exercise.smallest):
            if launches >= SHRINK_LAUNCHES:
                break
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


# -- reports -----------------------------------------------------------------------------------------------------


def report_success(exercise: Exercise, tried: list[Outcome]) -> Verdict:
    rows = [Row("tried", _tried(exercise, tried))]
    rows += [Row("met", requirement.title) for requirement in exercise.requirements]
    return _verdict(exercise, "passed", tuple(rows), headline=f"Passed: {exercise.id} ({exercise.title})")


def report_compile_error(exercise: Exercise | ProgramExercise, message: str) -> Verdict:
    return _verdict(
        exercise,
        "does not compile",
        (
            Row("compiler", message, block=True),
            Row("next", "Mend the first error first; later ones often follow from it."),
        ),
        cause="does-not-compile",
        headline=f"Not yet: {exercise.id} does not compile",
    )


def report_failure(
    exercise: Exercise, failure: _Failure, tried: list[Outcome], elsewhere: list[Outcome], *, first: _Failure
) -> Verdict:
    """The report on the smallest failing input `failure`; `first` is the input that failed first."""
    outcome = failure.outcome
    rows = [Row("tried", _tried(exercise, tried) + ": right so far")] if tried else []
    smallest = f"{outcome.case.text()}, on {outcome.arch} (wave{outcome.wave_size})"
    rows.append(Row("fails with", smallest + (" (the smallest input found)" if failure is not first else "")))
    for other in elsewhere:
        same = "passes" if examine(exercise, other) is None else "fails as well"
        rows.append(Row("and on", f"{other.arch} (wave{other.wave_size}) the same input {same}"))
    if failure.requirement is not None:
        rows.append(Row("required", failure.requirement.title))
        rows.append(Row("measured", failure.complaint))
        if failure.requirement.next_step:
            rows.append(Row("next", failure.requirement.next_step))
        return _verdict(
            exercise, "requirement", tuple(rows), cause=failure.requirement.name, smallest=outcome.case.parameters
        )
    rows += list(_what(exercise, outcome))
    cause = failure.cause
    if cause is not None:
        rows.append(Row("likely cause", f"{cause.title}. {cause.why}"))
        rows.append(Row("next", cause.next_step))
    else:
        rows.append(
            Row("likely cause", "not one of the mistakes known here. The values above are all the evidence there is.")
        )
        rows.append(Row("next", "Work out on paper what the first thread with a wrong element computes, line by line."))
    status = "fault" if outcome.fault is not None else "wrong"
    return _verdict(exercise, status, tuple(rows), cause=cause.name if cause else "", smallest=outcome.case.parameters)


def _verdict(
    exercise: Exercise | ProgramExercise,
    status: str,
    rows: tuple[Row, ...],
    *,
    cause: str = "",
    headline: str = "",
    smallest: Parameters | None = None,
) -> Verdict:
    passed = status == "passed"
    if not passed:
        rows = (
            *rows,
            Row("read", f"lesson {exercise.lesson}, section “{exercise.section}”"),
            Row("stuck?", f'gpulab.hint("{exercise.id}")'),
        )
    return Verdict(
        exercise.id,
        status,
        headline or f"Not yet: {exercise.id} ({exercise.title})",
        rows,
        cause,
        f"notebooks/{exercise.lesson}.ipynb#{exercise.section.replace(' ', '-')}",
        exercise.section,
        dict(smallest or {}),
    )


def _tried(exercise: Exercise, tried: list[Outcome]) -> str:
    archs = sorted(
        {(outcome.arch, outcome.wave_size) for outcome in tried}, key=lambda pair: exercise.archs.index(pair[0])
    )
    names: dict[str, list[int]] = {}
    for outcome in tried:
        for name, value in outcome.case.parameters.items():
            if name != "wave" and value not in names.setdefault(name, []):
                names[name].append(value)
    inputs = "; ".join(
        f"{name} = {', '.join(str(value) for value in sorted(values))}" for name, values in names.items()
    )
    where = " and ".join(f"{arch} (wave{wave})" for arch, wave in archs)
    return f"{len(tried)} run{'' if len(tried) == 1 else 's'} on {where} with {inputs}"


def _what(exercise: Exercise, outcome: Outcome) -> Iterator[Row]:
    """What can be seen: the fault, writes beside arrays, wrong elements, and who should have written them."""
    fault = outcome.fault
    if fault is not None and any(cause.when(outcome) for cause in CHECKED_CAUSES):
        from gpulab.providers import faults

        yield Row("found", faults.describe(fault)[0], block=True)
    elif fault is not None:
        yield Row("stopped", _fault_text(outcome))
        if fault.where is not None:
            yield Row(
                "line", f"{fault.where.line}: {fault.where.text.strip()}" if fault.where.text else str(fault.where.line)
            )
    for array in outcome.case.arrays:
        outside = outcome.outside(array.name)
        if outside:
            size = array.data.size
            extent = f"{array.name} ends at {array.name}[{size - 1}]" if size else f"{array.name} has no elements"
            yield Row("beside it", f"the kernel wrote {_indices(array, outside)}, but {extent}")
    for array in outcome.case.arrays:
        wrong = outcome.wrong(array.name).reshape(-1)
        if wrong.any():
            elements = "element" if wrong.size == 1 else "elements"
            yield Row("wrong", f"{int(wrong.sum())} of {wrong.size} {elements} of {array.name}")
            yield Row("values", _table(exercise, outcome, array, wrong), block=True)


def _fault_text(outcome: Outcome) -> str:
    fault = outcome.fault
    assert fault is not None
    if fault.kind == "timeout":
        return f"after the limit of instructions for one launch, in {fault.kernel}"
    verb = {"read": "read", "write": "wrote", "atomic": "changed"}.get(fault.access, "used")
    place = outcome.faulting_index()
    who = ""
    if fault.thread is not None:
        who = f"thread {_coordinates(fault.thread)} of block {_coordinates(fault.workgroup)} "
    if place is None:
        return f"{who}{verb} a bad address ({fault.kind})" if who else f"{fault.kind} in {fault.kernel}"
    name, index = place
    array = outcome.case.array(name)
    size = array.data.size
    extent = f"{name} ends at {name}[{size - 1}]" if size else f"{name} has no elements"
    if index < 0:
        extent = f"{name} begins at {name}[0]"
    return f"{who}{verb} {array.index_text(index)}, but {extent}"


def _table(exercise: Exercise, outcome: Outcome, array: Array, wrong: np.ndarray) -> str:
    """The first wrong elements: index, expected, found, and the thread that should have written each."""
    import numpy as np

    found, untouched = outcome.found(array.name).reshape(-1), outcome.untouched(array.name).reshape(-1)
    wanted = np.asarray(array.wanted).reshape(-1)
    if outcome.fault is None and np.array_equal(found, wanted):  # only the tight run went wrong
        found = outcome.tight.after[array.name]
    rows: list[tuple[str, ...]] = [("element", "expected", "found", "whose it is")]
    for index in np.flatnonzero(wrong)[:SHOWN]:
        index = int(index)
        seen = "never written" if untouched[index] and array.is_output else number_text(found[index])
        owner = exercise.owner(outcome.case, index) if array.is_output else None
        whose = f"thread {_coordinates(owner[1])} of block {_coordinates(owner[0])}" if owner else ""
        rows.append((array.index_text(index), number_text(wanted[index]), seen, whose))
    if not any(row[3] for row in rows[1:]):
        rows = [row[:3] for row in rows]
    widths = [max(len(part) for part in column) for column in zip(*rows, strict=True)]
    lines = ["  ".join(part.ljust(width) for part, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    if wrong.sum() > SHOWN:
        lines.append("...")
    return "\n".join(lines)


def _indices(array: Array, indices: tuple[int, ...]) -> str:
    shown = [f"{array.name}[{index}]" for index in indices[:SHOWN]]
    more = len(indices) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _coordinates(coordinates: tuple[int, int, int]) -> str:
    """5 for (5, 0, 0), (5, 2) for (5, 2, 0)."""
    if coordinates[1:] == (0, 0):
        return str(coordinates[0])
    used = coordinates if coordinates[2] else coordinates[:2]
    return "(" + ", ".join(str(part) for part in used) + ")"
