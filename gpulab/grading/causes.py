"""Mistakes that any exercise may see, beside those that it names itself: `causes_of` has all, in their order."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import overload

from gpulab.grading import from_kernels, patterns
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.outcome import Outcome, ProgramOutcome
from gpulab.grading.program import ProgramExercise


@overload
def causes_of(exercise: Exercise) -> tuple[Cause[Outcome], ...]: ...
@overload
def causes_of(exercise: ProgramExercise) -> tuple[Cause[ProgramOutcome], ...]: ...
def causes_of(exercise: Exercise | ProgramExercise) -> tuple[Cause[Outcome], ...] | tuple[Cause[ProgramOutcome], ...]:
    """All mistakes that a check of this exercise can name; the first that fits is named."""
    if isinstance(exercise, Exercise):
        first = tuple(cause for cause in exercise.causes if "timeout" in cause.explains)
        of_kernels: tuple[Cause[Outcome], ...] = (
            *first, *KERNEL_CAUSES, *exercise.causes, *WEAK_CAUSES, *SHARED_ELEMENT, *CHECKED_CAUSES, *WAVE_CAUSES,
            *VALUE_CAUSES, *LAST_KERNEL_CAUSES,
        )  # fmt: skip
        return of_kernels
    found: tuple[Cause[ProgramOutcome], ...]
    found = (*PROGRAM_CAUSES, *exercise.causes, *LAUNCH_CAUSES, *CHECKED_CAUSES, *LAST_PROGRAM_CAUSES)
    return found


def _no_dynamic_lds(outcome: Outcome) -> bool:
    """Does a kernel without shared memory of its own use that of the launch, which passes none?"""
    fault = outcome.fault
    if fault is None or fault.kind != "lds out of bounds" or not re.search(EXTERN_LDS, outcome.code):
        return False
    declared = outcome.resources.get(fault.kernel)
    passed = [step.lds for step in outcome.case.launches(fault.kernel) if step.kernel == fault.kernel]
    return declared is not None and not declared.lds_bytes and not any(passed)


EXTERN_LDS = r"\bextern\s+(?:__shared__|__attribute__\s*\(\(\s*shared\s*\)\))|\bHIP_DYNAMIC_SHARED\b"
"""Shared memory whose size is an argument of the launch."""


KERNEL_CAUSES: tuple[Cause[Outcome], ...] = (
    Cause(
        "no-dynamic-lds",
        "the kernel uses shared memory that the launch is to pass, and this launch passes 0 bytes",
        _no_dynamic_lds,
        "An array that is declared by extern __shared__ has as many bytes as the launch says. Here the launch is "
        "given, and says none.",
        "Give the array a size that is known when the kernel is compiled: __shared__ float tile[256], for example.",
    ),
    Cause(
        "never-ends",
        "a loop does not end, or goes on for far too long",
        lambda outcome: outcome.timed_out() and not (outcome.fault is not None and outcome.fault.kind == "deadlock"),
        "The kernel was stopped after a limit of instructions that a right answer stays far below.",
        "For each loop, find the variable that its condition tests, and the line that changes it. How often does a "
        "thread go through the loop, all in all?",
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
        "adds-to-what-was-there",
        "the kernel stores to its outputs, and nothing changes: what was there before goes into the results",
        lambda outcome: outcome.fault is None and outcome.rewritten(),
        "An output is not 0 before the launch. It may hold any number: here one so large that nothing shows which is "
        "added to it.",
        "Does the kernel read an output, as += does? Which value does each sum have at the beginning?",
    ),
    Cause(
        "changed-input",
        "an input was overwritten",
        lambda outcome: any(outcome.wrong(array.name).any() for array in outcome.case.arrays if not array.is_output),
        "This array is only to be read.",
        "Look at the left side of each assignment.",
    ),
    Cause(
        "nothing-written",
        "the kernel wrote nothing",
        lambda outcome: outcome.fault is None and outcome.nothing_written(),
        "All outputs still hold what they held before the launch: either the body is empty, or its condition is "
        "false for every thread. Or what would be stored is not defined, as a number of 32 bits that is shifted by 32 "
        "is not: then the compiler may leave out the store.",
        "Write the result of one element first, for example that of thread 0.",
    ),
)
"""Mistakes of kernels, before the exercise's own."""


def _found(*kinds: str) -> Callable[[Outcome | ProgramOutcome], bool]:
    return lambda outcome: outcome.fault is not None and outcome.fault.kind in kinds


def _two_writers(outcome: Outcome) -> bool:
    """Do two threads store to the same element of an output, without an atomic operation?"""
    fault = outcome.fault
    if fault is None or fault.kind not in ("race", "lane conflict") or fault.memory != "global":
        return False
    place = outcome.faulting_index()
    stores = fault.access == "write" and fault.other is not None and fault.other.access == "write"
    return stores and place is not None and place[0] in [array.name for array in outcome.case.outputs]


WEAK_CAUSES: tuple[Cause[Outcome], ...] = (
    Cause(
        "weak-memory",
        "the result depends on when stores become visible, and in which order",
        lambda outcome: outcome.weak is not None and not _two_writers(outcome),
        "An ordinary launch on a virtual device does one thing after the other, and there the result is right. On a "
        "GPU a store becomes visible to other waves late, and two stores may become visible in the other order, unless "
        "a release and an acquire order them.",
        "Find the flag or counter by which threads meet. Which memory order and which scope has each of its accesses, "
        "and what must be done before the one and after the other?",
    ),
)
"""Mistakes that show on weak memory (`Case.weak`)."""


SHARED_ELEMENT: tuple[Cause[Outcome], ...] = (
    Cause(
        "same-element",
        "two threads store to the same element of an output",
        _two_writers,
        "Either of the two values may stay. A barrier does not help: each element must be stored by one thread.",
        "Both threads are named above. Put their numbers into your index: why is the result the same?",
    ),
    Cause(
        "used-by-two-blocks",
        "threads of two blocks use the same element",
        lambda outcome: (
            _found("race")(outcome)
            and outcome.fault is not None
            and outcome.fault.memory == "global"
            and outcome.fault.other is not None
            and outcome.fault.other.workgroup != outcome.fault.workgroup
            and "atomic" not in (outcome.fault.access, outcome.fault.other.access)
        ),
        "Blocks run in any order, and __syncthreads() orders the threads of one block alone.",
        "Both threads are named above. Put their numbers into your index: should both of them use this element?",
    ),
)
"""Mistakes of two threads in global memory."""


VALUE_CAUSES: tuple[Cause[Outcome], ...] = (
    Cause(
        "no-numbers",
        "results are infinite, or not a number",
        patterns.holds(patterns.no_numbers, 1),
        "That comes of a division by 0, of a sum that grows beyond what the type can hold, or of a value that never "
        "was a number.",
        "Find the first step of your computation after which a value is infinite or not a number.",
    ),
    Cause(
        "all-zero",
        "where the results are wrong, they are 0",
        patterns.holds(patterns.zeros),
        "Nothing was added up there, what was computed became 0, or the 0 with which it began stayed: a loop without a "
        "turn, a condition that is never true, a type that cannot hold the value, a maximum of numbers below 0.",
        "Take the first of these elements. Which line should have given it its value, and is that line reached?",
    ),
    Cause(
        "copied-input",
        "the output is an input as it was",
        patterns.holds(patterns.copied),
        "What was read is written again, and what was to be done with it in between has no effect.",
        "Which line changes the value, and is what it computes the value that is written?",
    ),
    Cause(
        "other-sign",
        "every wrong result has the other sign",
        patterns.holds(patterns.negated),
        "Apart from the sign the values are right.",
        "Look for a difference whose two sides are exchanged, and for a minus in place of a plus.",
    ),
    Cause(
        "same-difference",
        "every wrong result is off by the same number",
        patterns.holds(patterns.same_difference),
        "So what depends on the element is right, and a number that is the same for all of them is not: a constant, or "
        "the value with which a sum begins.",
        "How large is the difference, and where does such a number stand in your formula?",
    ),
    Cause(
        "without-fraction",
        "the results are right but for their fractions, which are lost",
        patterns.holds(patterns.whole_part),
        "A number was rounded to an integer: by the type of a variable, or by a division of two integers.",
        "Of which type is each variable and each number that the result is made from?",
    ),
    Cause(
        "as-float",
        "every wrong result is the right one, rounded as a float is",
        patterns.holds(patterns.as_float, 1),
        "A float has 24 bits. An integer above 16,777,216 that goes through one loses its last bits.",
        "Of which type is each variable on the way from the input to the result?",
    ),
    Cause(
        "same-factor",
        "every wrong result is the right one times the same number",
        patterns.holds(patterns.same_factor),
        "So all that was to be added is there, in the right proportion. A factor or a divisor is not the right one, "
        "or everything was added more than once.",
        "Divide what was found by what was expected: where could this number come from?",
    ),
    Cause(
        "nearly-right",
        "every wrong result is nearly right",
        patterns.holds(patterns.nearly_right),
        "So the formula is the right one, and a small part of the result is missing: an int has no fraction, a half "
        "has 11 bits, a sum of floats is rounded in each step, or a small term is left out or added.",
        "Of which type is each variable on the way from the input to the result? Then look at the smallest terms.",
    ),
    Cause(
        "same-value",
        "all wrong results are the same number",
        patterns.holds(patterns.same_value),
        "So they do not depend on the element: either all of them come from the same place, or the value is replaced "
        "by another on the way.",
        "Which number is it, and where does it stand in your kernel or in the input?",
    ),
    Cause(
        "moved",
        "the values are right, but they stand at other places, all of them as far from their own",
        patterns.holds(patterns.moved),
        "An index, or the limit of a loop, is off by the same number for all.",
        "Where does the value stand that was expected first? Put the numbers of its thread into your indices and "
        "limits.",
    ),
    Cause(
        "reordered",
        "all values are there, but not in their places",
        patterns.holds(patterns.reordered),
        "What is computed is right. Which thread writes it where, or which one computes it, is not.",
        "Take one value, and find out where it should stand and where it does.",
    ),
    Cause(
        "one-element",
        "all elements are right but one",
        patterns.holds(patterns.one_element, 1),
        "The formula is right for all others: only this one is treated in another way.",
        "What is special about it: its place, or its value? Which of your conditions is true for it alone?",
    ),
    Cause(
        "at-one-end",
        "a few elements at one end are wrong, all others are right",
        patterns.holds(patterns.at_one_end, 2),
        "The formula is right. What is different at this end is the limit of an array, or of a loop.",
        "Compare each limit in your conditions with the first of these elements.",
    ),
    Cause(
        "first-block-alone",
        "the elements of block 0 are right, those of the other blocks are not",
        patterns.holds(patterns.first_block_right),
        "So all is right where blockIdx.x is 0.",
        "Find each index that should depend on the block, and put in 1 for blockIdx.x.",
    ),
    Cause(
        "first-row-alone",
        "row 0 is right, the other rows are not",
        patterns.holds(patterns.first_row_right),
        "So all is right where the number of the row is 0.",
        "Find each index that should depend on the row: how far is it from one row to the next?",
    ),
)
"""What the values themselves tell, where no exercise has a better name for it: each title is what was seen."""


def _left_out_alone(outcome: Outcome) -> bool:
    """Were some elements never written, and is all that was written right?"""
    return (
        outcome.fault is None
        and outcome.left_out()
        and not all(bool(outcome.untouched(array.name).all()) for array in outcome.case.outputs)
        and not any(outcome.outside(array.name) for array in outcome.case.arrays)
        and all(
            outcome.wrong_indices(array.name) == outcome.unwritten_indices(array.name) for array in outcome.case.outputs
        )
    )


LAST_KERNEL_CAUSES: tuple[Cause[Outcome], ...] = (
    Cause(
        "lds-out-of-bounds",
        "an index is outside of the block's shared memory",
        _found("lds out of bounds"),
        "A block has the arrays that the kernel declares, and as many bytes in addition as the launch gives.",
        "Compare the largest index that a thread computes with the size of the array.",
    ),
    Cause(
        "out-of-bounds",
        "a thread uses an element that the array does not have",
        lambda outcome: (
            _found("out of bounds", "null")(outcome)
            or any(outcome.outside(array.name) for array in outcome.case.arrays)
        ),
        "Either the index is not what it should be, or the thread should not have reached this access. The check "
        "cannot tell which of the two it is.",
        "Put the numbers of the thread into your formula, and then into your conditions.",
    ),
    Cause(
        "left-out",
        "some elements are never written; all that was written is right",
        _left_out_alone,
        "Either no thread has the index of these elements, or a condition keeps that thread from writing.",
        "Take the first element that is missing. Which thread is it of, and what does that thread compute?",
    ),
)
"""What is certain of a launch, where no cause is known."""


CHECKED_CAUSES: tuple[Cause[Outcome | ProgramOutcome], ...] = (
    Cause(
        "data-race",
        "threads access the same memory, and the order of the accesses is not defined",
        _found("race", "lane conflict"),
        "On a GPU such a kernel may give the right numbers for a long time, and then wrong ones.",
        "Look at both places: let one thread alone write there, or order them by __syncthreads() or atomic operations.",
    ),
    Cause(
        "never-written",
        "memory is read that was never written",
        _found("never written"),
        "Such memory can have any value.",
        "Find the line that should have written this element first, and for which threads it does so.",
    ),
    Cause(
        "barrier",
        "a barrier is not reached by all threads of the block",
        _found("barrier"),
        "At __syncthreads() each thread waits until all threads of the block have reached it.",
        "Move it out of the condition or the loop that only some threads run, or in front of the return by which some "
        "threads leave before it.",
    ),
    Cause(
        "deadlock",
        "a loop repeats without an end, and nothing changes any more",
        _found("deadlock"),
        "All that is left of the kernel repeats itself without changing anything.",
        "What ends the loop? If another thread has to change it, find out which thread that is, and what that thread "
        "waits for.",
    ),
    Cause(
        "inactive-lane",
        "a shuffle reads from an inactive lane",
        _found("shuffle"),
        "In a branch or a loop only the active lanes can be read. Lanes that have returned, and lanes without a "
        "thread, cannot be read at all.",
        "Let all lanes of the wave shuffle, and decide afterwards which lanes use the result.",
    ),
)
"""Mistakes that checked launches find and no exercise has a better name for."""


WAVE_CAUSES: tuple[Cause[Outcome], ...] = (
    Cause(
        "wave-of-64",
        "the kernel computes with waves of 64 lanes, and on this device a wave has 32",
        lambda outcome: outcome.wave_size == 32 and outcome.uses(r"[%/]\s*64\b|&\s*(?:63|0x3f)\b|>>\s*6\b"),
        "The numbers of lanes and waves are right on devices whose waves have 64 lanes alone.",
        "Write warpSize where the number of lanes is meant.",
    ),
)
"""Cases run on waves of 64 lanes first; what fails with 32 was right there."""


PROGRAM_CAUSES: tuple[Cause[ProgramOutcome], ...] = (
    Cause(
        "never-ends",
        "the program does not end",
        lambda outcome: outcome.timed_out(),
        "It was stopped at a limit; a right answer is far below it.",
        "For each loop, on the host and in kernels, find what ends it; then look for a wait for something that "
        "never happens.",
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
    Cause(
        "no-report",
        "the program ended, or closed files that are not its own, before gpulab could note what it launched",
        lambda outcome: outcome.fault is None and not outcome.run.complete,
        "A check needs to know what was launched. It is noted when main returns or exit() is called, not after _exit() "
        "or quick_exit(), and in a file that the program did not open.",
        "End by return or exit(), and close only what the program has opened.",
    ),
)
"""Mistakes of programs, before the exercise's own."""

LAUNCH_CAUSES: tuple[Cause[ProgramOutcome], ...] = (
    Cause(
        "nothing-launched",
        "no kernel is launched",
        lambda outcome: outcome.launched_nothing and outcome.case.exit_code == 0 and bool(outcome.case.computed),
        "What is to be printed has to be computed by kernels.",
        "Which line launches the kernel, and does main reach it?",
    ),
)
"""What is certain of a program without launches, where no exercise has a better name for it."""


CALL_FAILED = (
    r"hipError|\bhip[A-Z]\w*\b[^\n]*\bfail"
    r"|invalid (?:\w+ )*(?:argument|symbol|pointer|function|ordinal|handle|for memcpy)\b"
    r"|out of memory|no ROCm-capable device|not found|not ready|already (?:mapped|registered|enabled)|launch failure"
)
"""How programs say that a HIP call failed: by its error's name or text, or as "hip... failed"."""


def _says_that_a_call_failed(outcome: ProgramOutcome) -> bool:
    """Does the program end with another exit code than it should, and say that a HIP call failed?"""
    wrong_end = outcome.fault is None and outcome.exit_code != outcome.case.exit_code
    if outcome.case.exit_code and not outcome.complaint:  # it says what it should: the exit code alone is wrong
        return False
    return wrong_end and re.search(CALL_FAILED, outcome.stdout + outcome.stderr) is not None


LAST_PROGRAM_CAUSES: tuple[Cause[ProgramOutcome], ...] = (
    Cause(
        "hip-error",
        "the program says that a HIP call failed, and ends",
        _says_that_a_call_failed,
        "Its own test of an error code was true.",
        "Read the message: which call was it, and what do its arguments have to be? Or is the test of its error wrong?",
    ),
    Cause(
        "exit-code",
        "the program ends with another exit code than it should",
        lambda outcome: outcome.exit_code != outcome.case.exit_code and not outcome.complaint,
        "The exit code of a program tells whether it succeeded: 0 means yes.",
        "What does main return, and what do your error checks pass to exit?",
    ),
    Cause(
        "kernel-fault",
        "a kernel was stopped",
        lambda outcome: outcome.fault is not None,
        "The message above says what it did, and in which line.",
        "Start with the line that is named.",
    ),
    Cause(
        "nothing-came-back",
        "nothing that a kernel stored came to the host",
        from_kernels.nothing_came,
        "What a kernel computes is in device memory until the program copies it.",
        "Which call copies the result, from where to where, and how many bytes? Is it before the line that prints?",
    ),
    Cause(
        "other-input",
        "the host copied other numbers to the device than those that are given",
        lambda outcome: bool(outcome.complaint) and outcome.fault is None and from_kernels.other_input(outcome),
        "So kernels began with other numbers, and the result cannot be the right one.",
        "Where are the numbers made, and what happens to them until they are copied?",
    ),
    Cause(
        "right-until-printed",
        "the right results came to the host, but what is printed is something else",
        lambda outcome: bool(outcome.complaint) and from_kernels.arrived(outcome),
        "So the kernels, their arguments and the copies are right.",
        "Follow the numbers from the copy to the line that prints them: which of them does it print, and how?",
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
