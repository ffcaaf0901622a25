"""mystery-roof: arithmetic that slips into 64 bits, judged by the instructions of the compiled kernel."""

import numpy as np

from gpulab.grading import requirements
from gpulab.grading.case import Array, Case, Value, blocks_for, sentinel
from gpulab.grading.exercise import Cause, Exercise


def curve(case, steps=8, shift=0.25):
    x = case.array("in").data.astype("float64")
    y = x
    for _ in range(steps):
        y = 0.5 * y * (1.0 + x * x / (1.0 + y * y)) + shift
    return y


def make(parameters, random):
    n, block = parameters["n"], parameters["block"]
    case = Case(
        parameters,
        grid=(blocks_for(n, block), 1, 1),
        block=(block, 1, 1),
        arguments=(Value("n", np.int32(n)), Array("in", (random.integers(1, 64, n) / 64).astype("float32"))),
    )
    out = Array("out", sentinel("float32", n), curve(case).astype("float32"), relative=1e-5)
    return Case(parameters, case.grid, case.block, (*case.arguments, out))


exercise = Exercise(
    id="mystery-roof",
    title="the third mystery",
    lesson="14_profiling",
    section="Question 2: how far from a roof",
    kernel="curve",
    signature="int n, const float* in, float* out",
    minutes=15,
    make=make,
    cases=(
        {"n": 100, "block": 64},
        {"n": 65, "block": 64},
        {"n": 64, "block": 64},
        {"n": 1, "block": 256},
        {"n": 0, "block": 64},
        {"n": 4096, "block": 256},
    ),
    smallest={"n": 1, "block": 64},
    shown={"n": 8, "block": 64},
    causes=(
        Cause(
            "missing-guard",
            "threads past the end of the arrays work too",
            lambda o: bool(o.written_past("out")) or o.fault is not None,
            "The last block has more threads than elements are left.",
            "What should a thread do whose number is n or more?",
            guard=("n",),
        ),
        Cause(
            "integer-division",
            "0.25 has become 1 / 4, and in C++ that is 0",
            lambda o: o.looks_like("out", lambda case: curve(case, shift=0.0)),
            "The quotient of two integers is an integer, rounded towards zero.",
            "Write the number as before, with one letter more.",
        ),
        Cause(
            "steps-changed",
            "there are seven steps or nine, not eight",
            lambda o: any(o.looks_like("out", lambda case, steps=steps: curve(case, steps)) for steps in (7, 9)),
            "The loop goes from 0 to 7.",
            "Leave the loop as it is: the cause is not there.",
        ),
    ),
    requirements=(
        requirements.limited(
            "double-precision",
            "instructions on 64-bit floats in the machine code",
            lambda o: sum("f64" in text.split()[0] for isa in o.isa.values() for text in isa),
            at_most=0,
            title="no 64-bit floating-point instructions",
            next_step="curve.isa shows the instructions beside the source: which number in that line is 64 bits wide?",
        ),
    ),
    hints=(
        "Look at `before.roofline()`: which roof does it name as the lowest one? Does your source have such "
        "numbers?",
        "`before.instructions()` lists the most executed instructions. Their names end in the type of number that "
        "they work on.",
        "0.5, 1.0 and 0.25 are doubles in C++. Written 0.5f, 1.0f and 0.25f they are floats.",
    ),
)
