"""broken-runs: how many runs of equal numbers begin in each block; not seen are those at its first thread."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, sentinel
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.requirements import loaded_by_lanes, source


def starts(data):
    """1 where an element differs from the one before it; the first one begins a run, too."""
    return np.concatenate([[1], data[1:] != data[:-1]]).astype("int32") if data.size else np.zeros(0, "int32")


def counts(marks, case):
    """The sum of the marks of each block."""
    whole = np.zeros(256 * case.grid[0], "int32")
    whole[: marks.size] = marks
    return whole.reshape(-1, 256).sum(1).astype("int32")


def ends(case):
    """Runs by the block in which they end."""
    data = case.array("in").data
    return counts(starts(data[::-1])[::-1], case)


def of_steps(case, sign):
    """The first run, and those that begin with a step of this sign."""
    data = case.array("in").data.astype("int64")
    return counts(np.concatenate([[1], np.sign(np.diff(data)) == sign]).astype("int32")[: data.size], case)


def without_first_threads(case):
    """The first thread of each block counts nothing, but for block 0 with or without its own."""
    marks = starts(case.array("in").data)
    marks[::256] = 0
    return counts(marks, case)


def without_first_threads_but_one(case):
    marks = starts(case.array("in").data)
    marks[256::256] = 0
    return counts(marks, case)


def all_first_threads(case):
    """The first thread of each block always counts one."""
    marks = starts(case.array("in").data)
    marks[::256] = 1
    return counts(marks, case)


def without_the_first(case):
    """The array's first element begins no run."""
    marks = starts(case.array("in").data)
    marks[:1] = 0
    return counts(marks, case)


def of_low_halves(case):
    """Of each number the lower 16 bits alone are compared."""
    return counts(starts(case.array("in").data.astype("int16")), case)


def one_too_many(case):
    """What lies behind the array begins one more run, where there is room for it in the last block."""
    n = case.parameters["n"]
    found = counts(starts(case.array("in").data), case)
    if n % 256:
        found[-1] += 1
    return found


def make(parameters, random):
    n, length = parameters["n"], parameters["length"]
    # Runs of about this length. One begins where every other block begins; into the others a run goes on.
    marks = random.random(n) < 1 / length
    marks[256::512], marks[512::512] = True, length == 1
    # Some neighbours differ in one high bit alone.
    steps = random.choice(np.array([1, 1, 1, 1 << 16, 1 << 31], "int64"), n)
    data = (1 + np.cumsum(marks * steps)).astype("int32")
    case = Case(
        parameters,
        grid=(blocks_for(n, 256), 1, 1),
        block=(256, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Array("in", data),
            Array("counts", sentinel("int32", blocks_for(n, 256))),
        ),
    )
    return Case(
        parameters,
        grid=case.grid,
        block=case.block,
        arguments=(
            *case.arguments[:2],
            Array("counts", sentinel("int32", case.grid[0]), counts(starts(data), case)),
        ),
    )


exercise = Exercise(
    id="broken-runs",
    title="right for nearly all inputs",
    lesson="20_debugging",
    section="A wrong sum at one size",
    kernel="run_starts",
    signature="int n, const int* in, int* counts",
    minutes=20,
    make=make,
    owner=lambda case, index: ((index, 0, 0), (0, 0, 0)),
    cases=tuple(
        {"n": n, "length": length, "block": 256}
        for n, length in ((1000, 10), (257, 20), (512, 300), (256, 5), (300, 1), (1, 1), (0, 1), (20_000, 40))
    ),
    kept=("block", "length"),
    smallest={"n": 1, "length": 1, "block": 256},
    shown={"n": 600, "length": 50, "block": 256},
    requirements=(
        source(
            "named-line",
            r"\bbroken_line\s*(?:=\s*\{?|\{)\s*(?:0[xX])?7\s*\}?\s*;",
            at_least=1,
            what="lines `const int broken_line = N;` with the right number",
            title="the line that was wrong is named: `const int broken_line = N;`",
            next_step="Make a small input that fails: two blocks, all numbers equal but for one place. In "
            "which place does it fail?",
        ),
        loaded_by_lanes("loaded-by-the-wave", "in", when=lambda case: case.parameters["n"] >= 256),
    ),
    causes=(
        Cause(
            "first-thread",
            "a run that begins at the first thread of a block is not counted",
            lambda o: (
                o.looks_like("counts", without_first_threads) or o.looks_like("counts", without_first_threads_but_one)
            ),
            "A block is a piece of the grid. The element before its first one belongs to another block, "
            "and is in the same array.",
            "What does the thread with threadIdx.x == 0 of block 1 compare?",
        ),
        Cause(
            "always-one",
            "the first thread of each block counts a run, whether one begins there or not",
            lambda o: o.looks_like("counts", all_first_threads),
            "A run may go on from one block into the next. Then none begins at the border.",
            "Which elements does a thread have to compare, and which single thread of the grid has "
            "nothing to compare with?",
        ),
        Cause(
            "16-bits-compared",
            "of each number only the lower 16 bits are compared",
            lambda o: o.looks_like("counts", of_low_halves),
            "1 and 65537 are different numbers, and their lower 16 bits are equal.",
            "Which types do the numbers have in your comparison?",
        ),
        Cause(
            "ends-counted",
            "runs are counted in the block in which they end",
            lambda o: o.looks_like("counts", ends),
            "A run belongs to the block in which it begins.",
            "With which of its two neighbours do you compare an element?",
        ),
        Cause(
            "rises-counted",
            "a run is counted only if its number is larger than the one before it, or only if it is smaller",
            lambda o: any(o.looks_like("counts", lambda case, sign=sign: of_steps(case, sign)) for sign in (1, -1)),
            "A run begins wherever an element differs from the one before it.",
            "What does your comparison give for 5 and then 3, and what for 3 and then 5?",
        ),
        Cause(
            "first-element",
            "the run that begins with the array's first element is not counted",
            lambda o: o.looks_like("counts", without_the_first),
            "Element 0 has no element before it. A run begins there all the same.",
            "What is the result for an array of one element?",
        ),
        Cause(
            "reads-before-start",
            "the element before the first one is read",
            lambda o: o.read_outside() == ("in", -1),
            "Element 0 has no element before it, and memory before an array does not belong to it.",
            "Which condition keeps in[i - 1] from being used for i = 0?",
        ),
    ),
    hints=(
        "The tests that passed had runs at random places. Make inputs on purpose: all numbers equal, but "
        "one change at place p, for "
        "p from 1 to 511. For which p is the result wrong?",
        "It is wrong for p = 256 alone: the first element of a block is never compared with the one "
        "before it. One line decides who compares.",
        "Compare by the index in the array: `bool starts = i < n && (i == 0 || in[i] != in[i - 1]);`",
    ),
)
