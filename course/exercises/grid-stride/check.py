"""grid-stride: more elements than threads; every element is changed exactly once."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, combinations, distinct
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.requirements import work_shared

MORE = 3
"""Elements that a thread may do beyond an even share: enough for vectors of four."""


def step(x):
    return 2 * x + 1


def make(parameters, random):
    n = parameters["n"]
    x = distinct(random, n) * np.float32(0.5)
    return Case(
        parameters,
        grid=(parameters["blocks"], 1, 1),
        block=(parameters["block"], 1, 1),
        arguments=(Value("n", np.int32(n)), Array("x", x, step(x))),
    )


def owner(case, index):
    place = index % case.threads
    return (place // case.block[0], 0, 0), (place % case.block[0], 0, 0)


def changed_again(o):
    """Is every wrong element what two or more changes leave, or none, and is it two or more for some?"""
    before, found, wrong = o.case.array("x").data, o.found("x"), o.wrong("x")
    again = np.zeros(before.shape, bool)
    several = step(before)
    for _ in range(6):
        several = step(several)
        again |= wrong & (found == several)
    return bool(again.any()) and bool((again | o.untouched("x"))[wrong].all())


exercise = Exercise(
    id="grid-stride",
    title="more elements than threads",
    lesson="02_simt",
    section="More elements than threads",
    kernel="double_and_add",
    signature="int n, float* x",
    minutes=15,
    make=make,
    cases=(
        *combinations(n=(500, 65, 64, 1), blocks=(3, 1), block=(64,)),
        {"n": 5000, "blocks": 4, "block": 256},
        {"n": 0, "blocks": 2, "block": 64},
    ),
    smallest={"n": 1, "blocks": 1, "block": 4},
    shown={"n": 14, "blocks": 2, "block": 4},
    owner=owner,
    requirements=(
        work_shared(
            rounds=lambda case: -(-case.parameters["n"] // case.threads) + MORE,
            room=1,
            next_step="Some threads do the work of others. Divide the elements among all threads of the grid: how many "
            "threads does it have?",
        ),
    ),
    causes=(
        Cause(
            "never-moves",
            "the loop does not end: no thread goes to another element",
            lambda o: o.timed_out(),
            "Each iteration does the same element again, so its condition stays true.",
            "Which part of the for statement takes a thread to its next element?",
        ),
        Cause(
            "loop-one-too-far",
            "one element too far is changed: x[n]",
            lambda o: o.written_past("x") == (o.case.parameters["n"],),
            "The last element has index n - 1.",
            "Which indices does your kernel use for n = 1? Look at the condition of the loop.",
        ),
        Cause(
            "missing-guard",
            "threads past the end of the array work too",
            lambda o: bool(o.written_past("x")),
            "Even the first element of a thread may not exist: the grid can have more threads than elements.",
            "Test the index before the first access, not after it.",
            guard=("n",),
        ),
        Cause(
            "no-loop",
            "each thread does one element, and the elements beyond the grid are never touched",
            lambda o: (
                o.wrong_indices("x") == tuple(range(o.case.threads, o.case.parameters["n"])) == o.unwritten_indices("x")
            ),
            "Here the grid has fewer threads than the array has elements.",
            "After its first element a thread has to go on to another one. How far away is it?",
        ),
        Cause(
            "changed-more-than-once",
            "some elements are changed more than once",
            changed_again,
            "That happens if the step is smaller than the number of all threads, if blocks start at the same element, "
            "or if several threads execute a line beside the loop for the same element.",
            "Count the threads of the whole grid. That many elements are done in the first iteration.",
            explains=("race",),
        ),
        Cause(
            "stride-too-large",
            "some elements are left out, though the loop repeats",
            lambda o: o.fault is None and o.unwritten_indices("x") == o.wrong_indices("x") != (),
            "That happens if the step is larger than the number of all threads, or if each thread does n / threads "
            "elements and the rest of the division is left out.",
            "Which element is the first that no thread changes? A step is the number of threads in the whole grid.",
        ),
    ),
    hints=(
        "A thread starts at its number in the grid and, when it is done, goes on to an element that no other "
        "thread does.",
        "In the first iteration all threads together do one part of the array. How long is that part? Compute it from "
        "gridDim.x and blockDim.x.",
        "`for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)` with one "
        "assignment to `x[i]` in it.",
    ),
)
