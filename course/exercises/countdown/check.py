"""countdown: each thread computes one value from its own number."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, combinations, sentinel
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.patterns import combination
from gpulab.grading.requirements import work_shared


def make(parameters, random):
    n, block = parameters["n"], parameters["block"]
    return Case(
        parameters,
        grid=(blocks_for(n, block), 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Array("out", sentinel("int32", n), np.arange(n - 1, -1, -1, dtype="int32")),
        ),
    )


def numbers(case):
    return np.arange(case.parameters["n"], dtype="int32")


def other_steps(o):
    """Do the values change by the same number from element to element, and not by -1?"""
    if o.fault is not None or o.unwritten_indices("out"):
        return False
    line = combination(o.found("out"), (numbers(o.case), np.ones(o.case.parameters["n"])))
    return line is not None and round(line[0]) != -1


exercise = Exercise(
    id="countdown",
    title="a countdown",
    lesson="00_welcome",
    section="Two minutes: run a kernel",
    kernel="countdown",
    signature="int n, int* out",
    minutes=5,
    make=make,
    cases=(*combinations(n=(1000, 65, 64, 2, 1), block=(64, 256)), {"n": 0, "block": 64}),
    smallest={"n": 1, "block": 4},
    shown={"n": 10, "block": 4},
    requirements=(work_shared(),),
    causes=(
        Cause(
            "guard-one-too-far",
            "the guard lets one thread too many through",
            lambda o: o.one_too_many("out"),
            "An array of n elements ends at index n - 1, so index n is already outside.",
            "Test your condition for the thread with number n: should it write?",
        ),
        Cause(
            "missing-guard",
            "threads without an element write too: the guard is gone",
            lambda o: bool(o.outside("out")),
            "There are more threads than elements, and if (i < n) keeps the others from writing.",
            "Put the line if (i < n) back around your own.",
            guard=("n",),
        ),
        Cause(
            "counts-up",
            "this counts up",
            lambda o: o.looks_like("out", numbers),
            "Thread 0 has the smallest number, and should write the largest value.",
            "What must be subtracted from what, so that the value becomes less as i becomes more?",
        ),
        Cause(
            "ends-at-one",
            "every value is one too high: this ends at 1, not at 0",
            lambda o: o.looks_like("out", lambda case: case.parameters["n"] - numbers(case)),
            "The last thread has the number n - 1, and n - (n - 1) is 1.",
            "Work out what thread 0 should write, for n = 5.",
        ),
        Cause(
            "thread-index-only",
            "every block counts by itself",
            lambda o: o.looks_like(
                "out", lambda case: case.parameters["n"] - 1 - numbers(case) % np.int32(case.block[0])
            ),
            "threadIdx.x is the number of the thread in its block, and it starts at 0 again in each block.",
            "The thread's number in the whole grid is in i already.",
        ),
        Cause(
            "negative",
            "the values are negative",
            lambda o: o.looks_like("out", lambda case: -numbers(case)),
            "0 - i goes down as well, but it starts at 0.",
            "Where should the countdown start, for n elements?",
        ),
        Cause(
            "other-formula",
            "from element to element the values change evenly, but not by -1",
            other_steps,
            "Thread i computes a number from n and i, and this formula is not the right one yet.",
            "For n = 5: what does your line give for i = 0, and what for i = 4? They should be 4 and 0.",
        ),
    ),
    hints=(
        "Write a small table: the numbers i = 0, 1, 2, 3, 4 and below each the value that `out[i]` should have for "
        "n = 5.",
        "In your table, add i and the value below it. The sum is the same in each column. What is it, for any n?",
        "In each column i and `out[i]` add up to n - 1, so `out[i] = n - 1 - i;`",
    ),
)
