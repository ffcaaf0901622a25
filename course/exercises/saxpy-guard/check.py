"""saxpy-guard: y becomes a x + y, for any n."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, combinations, distinct
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.patterns import combination
from gpulab.grading.requirements import work_shared


def make(parameters, random):
    n, block = parameters["n"], parameters["block"]
    a = np.float32(random.integers(2, 9) + 0.5)  # a fraction, which an int would lose
    x, y = distinct(random, n), distinct(random, n)
    return Case(
        parameters,
        grid=(blocks_for(n, block) + parameters["spare blocks"], 1, 1),
        block=(block, 1, 1),
        arguments=(Value("n", np.int32(n)), Value("a", a), Array("x", x), Array("y", y, a * x + y)),
    )


def other_formula(o):
    """Is y, the same way for all elements, the sum of some number times x, some number times y, and some number?"""
    if o.fault is not None or o.outside("y") or o.unwritten_indices("y"):
        return False
    x, y = (o.case.array(name).data for name in "xy")
    return combination(o.found("y"), (x, y, np.ones(x.size))) is not None


exercise = Exercise(
    id="saxpy-guard",
    title="a x + y, for every n",
    lesson="02_simt",
    section="The guard",
    kernel="saxpy",
    signature="int n, float a, const float* x, float* y",
    minutes=10,
    make=make,
    cases=(
        *combinations(**{"n": (20, 31, 64, 100, 257, 1), "block": (64, 32, 256), "spare blocks": (1, 0)}),
        {"n": 10_000, "block": 256, "spare blocks": 0},
        {"n": 0, "block": 64, "spare blocks": 1},
    ),
    smallest={"n": 1, "block": 4, "spare blocks": 0},
    shown={"n": 10, "block": 4, "spare blocks": 0},
    requirements=(work_shared(room=4, title="the threads share the work: each stores at most four elements"),),
    causes=(
        Cause(
            "guard-one-too-far",
            "the guard lets one thread too many through",
            lambda o: (
                o.works_past("y")
                and o.written_past("y") == (o.case.parameters["n"],)
                and o.case.threads > o.case.parameters["n"] + 1
            ),
            "Arrays of n elements end at index n - 1.",
            "Which threads does your condition let through for n = 1? Only one should pass.",
        ),
        Cause(
            "guard-on-thread-index",
            "the guard tests the number within the block, not the number in the grid",
            lambda o: (
                bool(o.written_past("y"))
                and all(index % o.case.block[0] < o.case.parameters["n"] for index in o.written_past("y"))
                and len(o.written_past("y")) < o.case.threads - o.case.parameters["n"]
            ),
            "threadIdx.x is never larger than the block, so for a large n every thread passes.",
            "Compare the same number that you use as an index.",
            guard=("n",),
        ),
        Cause(
            "missing-guard",
            "threads past the end of the arrays work too: the guard is missing or never false",
            lambda o: bool(o.written_past("y")) or o.read_outside() is not None,
            "The grid has whole blocks; the last one has more threads than elements are left.",
            "Let a thread do its work only if its number in the grid is less than n.",
            guard=("n",),
        ),
        Cause(
            "factor-cut-off",
            "the fraction of a is lost",
            lambda o: o.looks_like("y", lambda case: np.trunc(case.value("a")) * case.array("x").data + case.array("y").data),
            "a is a float. An integer on the way loses what is behind the point.",
            "Of which type is each number that the result is made from?",
        ),
        Cause(
            "skips-last",
            "the last element is left out",
            lambda o: (
                o.case.parameters["n"] > 1
                and o.wrong_indices("y") == (o.case.parameters["n"] - 1,) == o.unwritten_indices("y")
            ),
            "The element with index n - 1 belongs to the array.",
            "Try your condition with n = 1.",
        ),
        Cause(
            "forgets-y",
            "y itself is not added: the result is a x",
            lambda o: o.looks_like("y", lambda case: case.value("a") * case.array("x").data),
            "Saxpy adds to y; it does not replace it.",
            "Read the formula once more: y becomes a x + y.",
        ),
        Cause(
            "x-and-y-exchanged",
            "a multiplies y, and x is added",
            lambda o: o.looks_like("y", lambda case: case.value("a") * case.array("y").data + case.array("x").data),
            "x and y have changed places on the right side: y becomes a x + y.",
            "Take a = 2, x = 10 and y = 1. What should y become, and what does your kernel make of it?",
        ),
        Cause(
            "thread-index-only",
            "only elements of the first block are right: the index lacks the block, or has it wrongly",
            lambda o: (
                o.case.grid[0] > 1
                and min(o.unwritten_indices("y"), default=-1) == o.case.block[0]
                and len(o.unwritten_indices("y")) == o.case.parameters["n"] - o.case.block[0]
            ),
            "threadIdx.x starts at 0 again in every block. And blocks have blockDim.x threads, which need not be 256.",
            "Compute the number of the thread in the whole grid.",
        ),
        Cause(
            "other-formula",
            "y becomes another sum of x and y than a x + y",
            other_formula,
            "Indices and guard are right. In a x + y, x counts a times and y counts once.",
            "Take a = 2, x = 10 and y = 1. What should y become, and what does your line make of it?",
        ),
    ),
    hints=(
        "Start with the number of the thread in the grid, as in first-fill. Then ask which threads have an element.",
        "Only threads with a number less than n may touch x and y: reading beyond the end is as wrong as writing.",
        "`int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n)` and in it a single line that sets `y[i]` from "
        "a, `x[i]` and `y[i]`.",
    ),
)
