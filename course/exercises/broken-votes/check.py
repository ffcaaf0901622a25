"""broken-votes: how many numbers of each block are above a limit; the given kernel keeps 32 bits of a wave's votes."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, sentinel
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.requirements import loaded_by_lanes, per_wave, source


def above(case):
    """1 for each number above the limit."""
    limit = next(argument.value for argument in case.arguments if argument.name == "limit")
    return (case.array("in").data > limit).astype("int32")


def of_blocks(marks, case):
    """The sum of the marks of each block."""
    size = case.block[0]
    whole = np.zeros(size * case.grid[0], "int32")
    whole[: marks.size] = marks
    return whole.reshape(-1, size).sum(1).astype("int32")


def low_halves(case, times=1):
    """Only the first 32 lanes of each 64 count, so many times."""
    marks = above(case)
    marks[np.arange(marks.size) % 64 >= 32] = 0
    return of_blocks(marks, case) * times


def with_a_sign(case):
    """Votes in an int: of each 64 lanes the first 32 count, and 32 more if lane 31 is one of them."""
    marks = above(case)
    lane = np.arange(marks.size) % 64
    return of_blocks(np.where(lane < 31, marks, np.where(lane == 31, 33 * marks, 0)), case)


def first_wave(case, size):
    """Only the first wave of each block counts."""
    marks = above(case)
    marks[np.arange(marks.size) % case.block[0] >= size] = 0
    return of_blocks(marks, case)


def at_the_limit(case):
    """Numbers that are as large as the limit count as well."""
    limit = next(argument.value for argument in case.arguments if argument.name == "limit")
    return of_blocks((case.array("in").data >= limit).astype("int32"), case)


def last_block_too_large(o):
    """Is the count of the last block alone wrong and too large, where this block has more threads than numbers?"""
    last = o.case.grid[0] - 1
    return (
        o.fault is None
        and o.case.parameters["n"] % o.case.block[0] != 0
        and list(o.wrong_indices("counts")) == [last]
        and bool(o.found("counts")[last] > o.case.array("counts").wanted[last])
    )


def make(parameters, random):
    n, block = parameters["n"], parameters["block"]
    data = random.integers(-5, 5, n).astype("int32")  # some are as large as the limit
    limit = (2, -4, -1)[n % 3]  # -1 and 0 are above one of them, and not above another
    marks = (data > limit).astype("int32")
    grid = blocks_for(n, block)
    whole = np.zeros(block * grid, "int32")
    whole[:n] = marks
    return Case(
        parameters,
        grid=(grid, 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Value("limit", np.int32(limit)),
            Array("in", data),
            Array("counts", sentinel("int32", grid), whole.reshape(-1, block).sum(1).astype("int32")),
        ),
    )


exercise = Exercise(
    id="broken-votes",
    title="wrong on one of two devices",
    lesson="20_debugging",
    section="Wrong on waves of 64 only",
    kernel="count_above",
    signature="int n, int limit, const int* in, int* counts",
    minutes=15,
    make=make,
    owner=lambda case, index: ((index, 0, 0), (0, 0, 0)),
    cases=tuple(
        {"n": n, "block": block}
        for n, block in ((1000, 256), (64, 64), (256, 256), (500, 128), (1, 64), (0, 64), (20_000, 256))
    ),
    smallest={"n": 1, "block": 64},
    shown={"n": 100, "block": 64},
    requirements=(
        source(
            "named-line",
            r"\bbroken_line\s*(?:=\s*\{?|\{)\s*(?:0[xX])?7\s*\}?\s*;",
            at_least=1,
            what="lines `const int broken_line = N;` with the right number",
            title="the line that was wrong is named: `const int broken_line = N;`",
            next_step="Give the kernel one number above the limit, in each of 64 places. Which places are "
            "lost, and which type has room for them?",
        ),
        per_wave(
            "one-atomic-a-wave",
            r"ds_(add|inc)",
            at_most=1,
            title="at most one addition to LDS for each wave",
            when=lambda case: case.parameters["n"] >= 256,
            next_step="The votes of a wave are one number. How many of its bits are set?",
        ),
        source(
            "uses-the-votes",
            r"__ballot|__syncthreads_count",
            at_least=1,
            what="votes of a wave or a block (`__ballot`)",
            title="the threads vote (`__ballot`)",
            next_step="The kernel that was given counts the bits of a wave's votes. Keep that, and mend it.",
        ),
        loaded_by_lanes(
            "loaded-by-lanes",
            "in",
            title="each thread votes about its own number: lanes load the numbers together",
            when=lambda case: case.parameters["n"] >= 256,
        ),
    ),
    causes=(
        Cause(
            "reads-past-end",
            "elements behind the end of in are read",
            lambda o: o.read_past("in"),
            "The last block may have more threads than numbers are left.",
            "Which threads must not read in[i], and must vote all the same?",
        ),
        Cause(
            "limit-counted",
            "numbers that are as large as the limit are counted, too",
            lambda o: o.looks_like("counts", at_the_limit),
            "Only numbers that are larger than the limit count.",
            "Which comparison does your kernel use?",
        ),
        Cause(
            "idle-threads-vote",
            "threads without a number are counted",
            last_block_too_large,
            "The count of the last block alone is too large, and it has more threads than numbers.",
            "What does a thread with i >= n vote, for every limit?",
        ),
        Cause(
            "every-64th-thread",
            "of each 64 threads only the first 32 are counted, on a device whose waves have 32",
            lambda o: o.wave_size == 32 and o.looks_like("counts", low_halves),
            "64 threads are two waves here, and each wave has votes of its own. A 64 in the source takes them for one.",
            "Which built-in variable holds the number of lanes of a wave?",
        ),
        Cause(
            "votes-with-a-sign",
            "of the lanes from 32 on all are counted where lane 31 votes, and none where it does not",
            lambda o: o.wave_size == 64 and bool(above(o.case)[31::64].any()) and o.looks_like("counts", with_a_sign),
            "An int of which the highest bit is set is below 0. As a number of 64 bits it has ones in all upper bits.",
            "Of which type are the votes, and how many bits does __popcll count?",
        ),
        Cause(
            "half-a-wave",
            "only the first 32 lanes of each wave of 64 are counted",
            lambda o: o.wave_size == 64 and o.looks_like("counts", low_halves),
            "__ballot gives a bit for each lane: 64 of them on this device. A variable of 32 bits keeps "
            "the lower half.",
            "Which type do the votes have in your kernel, and which type does the function take that "
            "counts their bits?",
        ),
        Cause(
            "counted-twice",
            "the first 32 lanes of each wave of 64 are counted twice",
            lambda o: o.wave_size == 64 and o.looks_like("counts", lambda case: low_halves(case, 2)),
            "Lanes 0 and 32 of a wave of 64 both add the votes of the same wave, and each adds its lower half.",
            "Which threads are the first of their wave on this device?",
        ),
        Cause(
            "first-wave-only",
            "only the first wave of each block is counted",
            lambda o: o.looks_like("counts", lambda case: first_wave(case, o.wave_size)),
            "Each wave has votes of its own, and a block has several waves.",
            "Which thread adds the votes of the second wave?",
        ),
    ),
    hints=(
        "Run it on both devices with the same numbers, and then with one single number above the limit, "
        "in a place that you choose. Where is it lost?",
        "Lanes 32 to 63 are lost, on waves of 64 only. Which variable has 32 bits?",
        "`unsigned long long votes = __ballot(i < n && in[i] > limit);` and `__popcll(votes)`",
    ),
)
