"""my-exercise: «what is asked for, in one sentence»."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, combinations, distinct, sentinel
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.requirements import work_shared


def make(parameters, random):
    n, block = parameters["n"], parameters["block"]
    factor = np.float32(random.integers(2, 9))
    numbers = distinct(random, n)
    return Case(
        parameters,
        grid=(blocks_for(n, block), 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Value("factor", factor),
            Array("in", numbers),
            Array("out", sentinel("float32", n), factor * numbers),
        ),
    )


exercise = Exercise(
    id="my-exercise",
    title="«what it is, in a few words»",
    lesson="00_lesson",
    section="«a heading of the lesson»",
    kernel="scale",
    signature="int n, float factor, const float* in, float* out",
    minutes=10,
    make=make,
    cases=(
        *combinations(n=(20, 31, 64, 257, 1), block=(64, 32, 256)),
        {"n": 10_000, "block": 256},
        {"n": 0, "block": 64},
    ),
    smallest={"n": 1, "block": 4},
    shown={"n": 7, "block": 4},
    requirements=(work_shared(),),
    causes=(
        Cause(
            "missing-guard",
            "threads past the end of the arrays work too",
            lambda o: bool(o.written_past("out")) or o.read_outside() is not None,
            "«one or two sentences that explain the mistake»",
            "«what to look at, without giving the answer away»",
        ),
        Cause(
            "thread-index-only",
            "every block writes the same elements: the index leaves out the block",
            lambda o: o.case.grid[0] > 1 and min(o.unwritten_indices("out"), default=-1) == o.case.block[0],
            "«one or two sentences that explain the mistake»",
            "«what to look at, without giving the answer away»",
        ),
        Cause(
            "forgets-factor",
            "the factor is missing",
            lambda o: o.looks_like("out", lambda case: case.array("in").data),
            "«one or two sentences that explain the mistake»",
            "«what to look at, without giving the answer away»",
        ),
    ),
    hints=(
        "«the first hint: where to begin»",
        "«the second hint: the idea»",
        "«the third hint: nearly the line to write»",
    ),
)
