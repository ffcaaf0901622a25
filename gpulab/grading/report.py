"""What a learner reads after a check: all of a verdict's wording, for kernels and for programs.

`accepted` and `rejected` are the two ends of a judgement; before it come sources that cannot be run
(`does_not_compile`, `wrong_signature`, `cannot_be_run`), beside it what a class run says of a submission (`stopped`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from gpulab.grading.case import Array, Parameters
from gpulab.grading.causes import CHECKED_CAUSES
from gpulab.grading.criteria import refused
from gpulab.grading.exercise import Exercise
from gpulab.grading.failed import inputs_of, values_found
from gpulab.grading.judgement import Failure, asked
from gpulab.grading.outcome import Outcome, ProgramOutcome, Weak
from gpulab.grading.program import ProgramExercise
from gpulab.grading.program_case import cut
from gpulab.grading.verdict import Verdict, VerdictRow
from gpulab.grading.wording import coordinates, counted, number_text
from gpulab.views.exercise import inputs_words

if TYPE_CHECKING:
    import numpy as np

SHOWN = 4
"""How many elements a report lists."""

SHOWN_LINES = 6
"""Lines of output that a report shows."""

AnyExercise = Exercise | ProgramExercise


def accepted(exercise: AnyExercise, tried: Sequence[Outcome] | Sequence[ProgramOutcome]) -> Verdict:
    """All cases are right, and all requirements are met."""
    rows = [
        VerdictRow("tried", _tried(tried)),
        *(VerdictRow("met", title) for title in asked(exercise).values()),
    ]
    return _verdict(exercise, "passed", rows, headline=f"Passed: {exercise.id} ({exercise.title})")


def does_not_compile(exercise: AnyExercise, message: str) -> Verdict:
    """The compiler's message."""
    rows = [
        VerdictRow("compiler", message, block=True),
        VerdictRow("next", "Mend the first error first; later ones often follow from it."),
    ]
    headline = f"Not yet: {exercise.id} does not compile"
    return _verdict(exercise, "does not compile", rows, cause="does-not-compile", headline=headline)


def wrong_signature(exercise: AnyExercise, message: str) -> Verdict:
    """The kernel asked for is not there, or takes other parameters."""
    return _verdict(exercise, "wrong signature", [VerdictRow("what", message)], cause="wrong-signature")


def cannot_be_run(exercise: AnyExercise, message: str) -> Verdict:
    """It compiles, but cannot be loaded or translated."""
    return _verdict(exercise, "does not compile", [VerdictRow("what", message, block=True)], cause="unsupported")


def rejected(
    exercise: AnyExercise,
    failure: Failure[Outcome] | Failure[ProgramOutcome],
    tried: Sequence[Outcome] | Sequence[ProgramOutcome],
    elsewhere: Mapping[tuple[str, int], bool],
    *,
    smaller: bool = False,
) -> Verdict:
    """A case failed.

    Args:
        tried: what was right before it.
        elsewhere: does the same case pass on the other architectures? By name and wave size.
        smaller: this is the smallest input found, not the one that failed first.
    """
    outcome = failure.outcome
    rows = [VerdictRow("tried", _tried(tried) + ": right so far")] if tried else []
    inputs = "inputs that were drawn for this grading" if outcome.hidden else outcome.case.text()
    case = f"{inputs}, on {outcome.arch} (wave{outcome.wave_size})"
    rows.append(VerdictRow("fails with", case + (" (the smallest input found)" if smaller else "")))
    for (arch, wave_size), passes in elsewhere.items():
        same = "passes" if passes else "fails as well"
        rows.append(VerdictRow("and on", f"{arch} (wave{wave_size}) the same input {same}"))
    smallest = outcome.case.parameters if isinstance(outcome, Outcome) and not outcome.hidden else {}
    if failure.requirement is not None:
        rows.append(VerdictRow("required", failure.requirement.title))
        if not outcome.hidden:
            rows.append(VerdictRow("measured", failure.complaint))
        if failure.requirement.next_step:
            rows.append(VerdictRow("next", failure.requirement.next_step))
        return _verdict(exercise, "requirement", rows, cause=failure.requirement.name, smallest=smallest)
    if outcome.hidden:
        evidence = "The inputs are not shown."
        advice = "Which sizes and numbers did you not try? Nothing in the exercise promises the ones that you know."
    elif isinstance(outcome, Outcome):
        assert isinstance(exercise, Exercise)
        rows += _seen_of_kernel(exercise, outcome)
        if failure.cause is None:
            rows += _indices_of_threads(outcome)
        evidence = "The values above are all the evidence there is."
        advice = "Work out on paper what the first thread with a wrong element computes, line by line."
    else:
        rows += _seen_of_program(outcome)
        evidence = "The output above is all the evidence."
        advice = "Print what the program computes on its way to the first wrong line."
    cause = failure.cause
    if cause is not None:
        rows.append(VerdictRow("likely cause", f"{cause.title}. {cause.why}"))
        rows.append(VerdictRow("next", cause.next_step))
    else:
        rows.append(
            VerdictRow("likely cause", f"not known: it is none of the mistakes that this check tells apart. {evidence}")
        )
        rows.append(VerdictRow("next", advice))
    status = "fault" if outcome.fault is not None else "wrong"
    return _verdict(exercise, status, rows, cause=cause.name if cause else "", smallest=smallest)


def stopped(id: str, reason: str) -> Verdict:
    """A submission of a class run has no verdict, for this reason."""
    return Verdict(id, "stopped", f"No verdict on {id}: {reason}", (VerdictRow("what", reason),), "stopped")


def not_judged(id: str, reason: str) -> Verdict:
    """A part of this system failed, for this reason; it says nothing of the submission."""
    rows = (VerdictRow("what", reason), VerdictRow("next", "Mend what failed, and grade this submission again."))
    return Verdict(id, "not judged", f"Not judged: {id}, because this system failed", rows, "not-judged")


def outdated(kernel: str) -> VerdictRow:
    """What stands above a verdict on a kernel whose last cell did not compile."""
    return VerdictRow(
        "mind",
        f"the last cell that you ran with {kernel} in it was not compiled; this report is about the version before. "
        "Mend that cell, run it, and check again.",
    )


def progress(message: str) -> VerdictRow:
    """What stands below a verdict where something happened to the learner's file."""
    return VerdictRow("progress", message)


def _verdict(
    exercise: AnyExercise,
    status: str,
    rows: Sequence[VerdictRow],
    *,
    cause: str = "",
    headline: str = "",
    smallest: Parameters | None = None,
) -> Verdict:
    more: list[VerdictRow] = []
    if status != "passed":
        more = [
            VerdictRow("read", f"lesson {exercise.lesson}, section “{exercise.section}”"),
            VerdictRow("stuck?", f'gpulab.hint("{exercise.id}")'),
        ]
    return Verdict(
        exercise.id,
        status,
        headline or f"Not yet: {exercise.id} ({exercise.title})",
        (*rows, *more),
        cause,
        f"notebooks/{exercise.lesson}.ipynb#{exercise.section.replace(' ', '-')}",
        exercise.section,
        dict(smallest or {}),
        criteria=refused(asked(exercise)),
    )


def _tried(tried: Sequence[Outcome] | Sequence[ProgramOutcome]) -> str:
    where = " and ".join(dict.fromkeys(f"{outcome.arch} (wave{outcome.wave_size})" for outcome in tried))
    commands, names = [], dict[str, list[int]]()
    known = [outcome for outcome in tried if not outcome.hidden]
    for outcome in known:
        if isinstance(outcome, ProgramOutcome):
            commands.append(outcome.case.text())
            continue
        for name, value in outcome.case.parameters.items():
            if name != "wave" and value not in names.setdefault(name, []):
                names[name].append(value)
    inputs = "; ".join(f"{name} = {', '.join(str(value) for value in sorted(found))}" for name, found in names.items())
    what = f": {'; '.join(dict.fromkeys(commands))}" if commands else f" with {inputs}"
    more = f", and {counted(len(tried) - len(known), 'run')} with drawn inputs" if len(known) < len(tried) else ""
    weak = sum(outcome.case.weak for outcome in tried if isinstance(outcome, Outcome))
    late = f", and {counted(weak, 'run')} on weak memory" if weak else ""
    return f"{counted(len(known), 'run')} on {where}{what}{more}{late}"


# --------------------------------------------------------------------------------------------------------- of kernels


def _seen_of_kernel(exercise: Exercise, outcome: Outcome) -> Iterator[VerdictRow]:
    """What can be seen: the fault, writes beside arrays, wrong elements, and who should have written them."""
    fault = outcome.fault
    if fault is not None and any(cause.when(outcome) for cause in CHECKED_CAUSES):
        from gpulab.providers import faults

        yield VerdictRow("found", faults.describe(fault)[0], block=True)
    elif fault is not None:
        yield VerdictRow("stopped", _fault_text(outcome))
        if fault.where is not None:
            yield VerdictRow(
                "line", f"{fault.where.line}: {fault.where.text.strip()}" if fault.where.text else str(fault.where.line)
            )
    if outcome.weak is not None:
        yield VerdictRow("weak memory", _weak_text(outcome.weak, fault is not None))
    for array in outcome.case.arrays:
        outside = outcome.outside(array.name)
        if outside:
            extent = _end(array) if outside[-1] >= 0 else _begin(array)
            yield VerdictRow("beside it", f"the kernel wrote {_indices(array, outside)}, but {extent}")
    for array in outcome.case.arrays:
        wrong = outcome.wrong(array.name).reshape(-1)
        if wrong.any():
            yield VerdictRow("wrong", f"{int(wrong.sum())} of {counted(wrong.size, 'element')} of {array.name}")
            if not array.secret:
                yield VerdictRow("values", _table(exercise, outcome, array, wrong), block=True)


def _weak_text(weak: Weak, faulty: bool) -> str:
    from gpulab.providers import faults

    stopped = weak.run.fault
    what = "the result is wrong"
    if stopped is not None and stopped.kind == "timeout":
        what = "the launch does not end"
    elif stopped is not None:
        what = f"the launch is stopped ({' '.join(faults.describe(stopped)[0].split())})"
    usual = "" if faulty else "an ordinary launch is right; "
    return (
        f"{usual}with loads and stores that are late and out of order {what}. "
        f"Put the launch into a block `with gpulab.weak({weak.seed}):` to see the same again"
    )


def _fault_text(outcome: Outcome) -> str:
    fault = outcome.fault
    assert fault is not None
    if fault.kind == "timeout":
        return f"after the limit of instructions for one launch, in {fault.kernel}"
    verb = {"read": "read", "write": "wrote", "atomic": "changed"}.get(fault.access, "used")
    place = outcome.faulting_index()
    who = ""
    if fault.thread is not None:
        who = f"thread {coordinates(fault.thread)} of block {coordinates(fault.workgroup)} "
    if fault.kind == "lds out of bounds" and who and fault.address is not None:
        last = fault.address + max(fault.bytes, 1) - 1
        return f"{who}{verb} bytes {fault.address:,} to {last:,} of the block's shared memory, but {fault.detail}"
    if place is None:
        return f"{who}{verb} a bad address ({fault.kind})" if who else f"{fault.kind} in {fault.kernel}"
    name, index = place
    array = outcome.case.array(name)
    extent = _begin(array) if index < 0 else _end(array)
    last = index + max(1, fault.bytes // array.data.itemsize) - 1
    elements = array.index_text(index) + (f" to {array.index_text(last)} at once" if last > index else "")
    return f"{who}{verb} {elements}, but {extent}"


def _begin(array: Array) -> str:
    return f"{array.name} begins at {array.name}[0]" if array.data.size else f"{array.name} has no elements"


def _end(array: Array) -> str:
    size = array.data.size
    return f"{array.name} ends at {array.name}[{size - 1}]" if size else f"{array.name} has no elements"


def _table(exercise: Exercise, outcome: Outcome, array: Array, wrong: np.ndarray) -> str:
    """The first wrong elements: index, expected, found, and the thread that should have written each."""
    import numpy as np

    found, untouched = values_found(outcome, array), outcome.untouched(array.name).reshape(-1)
    wanted = np.asarray(array.wanted).reshape(-1)
    stored = outcome.rewritten()
    rows: list[tuple[str, ...]] = [("element", "inputs", "expected", "found", "whose it is")]
    for index in np.flatnonzero(wrong)[:SHOWN]:
        index = int(index)
        seen = number_text(found[index])
        if untouched[index] and array.is_output:  # what was given may have been stored once more
            seen = f"{seen}, as before" if array.is_given or stored else "never written"
        owner = exercise.owner(outcome.case, index) if array.is_output else None
        whose = f"thread {coordinates(owner[1])} of block {coordinates(owner[0])}" if owner else ""
        inputs = inputs_words(inputs_of(exercise, outcome, array, index))
        rows.append((array.index_text(index), inputs, number_text(wanted[index]), seen, whose))
    used = [column for column in range(len(rows[0])) if any(row[column] for row in rows[1:])]
    rows = [tuple(row[column] for column in used) for row in rows]
    widths = [max(len(part) for part in column) for column in zip(*rows, strict=True)]
    lines = ["  ".join(part.ljust(width) for part, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    if wrong.sum() > SHOWN:
        lines.append(f"... and {int(wrong.sum()) - SHOWN:,} more")
    return "\n".join(lines)


def _indices_of_threads(outcome: Outcome) -> Iterator[VerdictRow]:
    """Which elements threads came to write, of outputs with wrong elements: those that wrote wrong ones first."""
    for array in outcome.case.outputs:
        wrong = set(outcome.wrong_indices(array.name))
        seen = sorted(
            (index not in wrong, block[::-1], thread[::-1], index)
            for index, block, thread in outcome.writers(array.name)
        )
        if not wrong or not seen:
            continue
        lines = [
            f"thread {coordinates(thread[::-1])} of block {coordinates(block[::-1])}: {array.index_text(index)}"
            + ("" if fine else ", which is wrong")
            for fine, block, thread, index in seen[:SHOWN]
        ]
        more = len(seen) - SHOWN
        yield VerdictRow("who wrote", "\n".join([*lines, *([f"and {more} more"] if more > 0 else [])]), block=True)


def _indices(array: Array, indices: tuple[int, ...]) -> str:
    shown = [f"{array.name}[{index}]" for index in indices[:SHOWN]]
    more = len(indices) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


# -------------------------------------------------------------------------------------------------------- of programs


def _seen_of_program(outcome: ProgramOutcome) -> Iterator[VerdictRow]:
    """What can be seen: the fault of a kernel, the exit code, the output, the program's messages."""
    from gpulab.providers import faults

    if outcome.fault is not None:
        yield VerdictRow("stopped", "\n".join(faults.describe(outcome.fault)[:2]), block=True)
    # A kernel that was stopped explains the exit code, what is missing of the output, and the program's own messages.
    elif outcome.exit_code != outcome.case.exit_code:
        yield VerdictRow("exit code", f"{exit_text(outcome.exit_code)}, expected is {outcome.case.exit_code}")
    if outcome.complaint and (outcome.fault is None or outcome.stdout.strip()):
        yield VerdictRow("output", outcome.complaint, block=True)
    if outcome.fault is None and outcome.stderr.strip():
        yield VerdictRow("messages", _tail(outcome.stderr), block=True)


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


def _tail(text: str) -> str:
    lines = text.rstrip().split("\n")
    return "\n".join((["..."] if len(lines) > SHOWN_LINES else []) + [cut(line) for line in lines[-SHOWN_LINES:]])
