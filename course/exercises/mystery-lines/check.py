"""mystery-lines: a kernel whose threads take eight neighbouring samples each, judged by cache lines."""

import numpy as np

from gpulab.grading import requirements
from gpulab.grading.case import Array, Case, Value, blocks_for, sentinel
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.patterns import combination


def softened(case, absolute=True):
    v = float(case.value("gain")) * case.array("in").data.astype("float64")
    return v / (1 + (np.abs(v) if absolute else v))


def make(parameters, random):
    n, block = parameters["n"], parameters["block"]
    sound = ((2 * random.integers(0, 50, n) + 1) * random.choice([-1, 1], n) / 8).astype("float32")
    if n >= 100:
        sound += random.uniform(-0.06, 0.06, n).astype("float32")  # more bits than a half has
    gain = np.float32(-2.5 if n >= 100 and n % 3 == 0 else 4)
    case = Case(
        parameters,
        grid=(blocks_for(n, 8 * block), 1, 1),
        block=(block, 1, 1),
        arguments=(Value("n", np.int32(n)), Value("gain", gain), Array("in", sound)),
    )
    out = Array("out", sentinel("float32", n), softened(case).astype("float32"), relative=1e-5)
    return Case(parameters, case.grid, case.block, (*case.arguments, out))


def gain_of(gain):
    """What comes out with this gain."""

    def predicted(case):
        v = gain * case.array("in").data.astype("float64")
        return v / (1 + np.abs(v))

    return predicted


def other_divisor(o):
    """Is every result v / (p + q * |v|), with the same p and q for all?"""
    case, found = o.case, o.found("out").astype("float64")
    if o.fault is not None or o.unwritten_indices("out") or not o.wrong_indices("out") or not found.all():
        return False
    v = float(case.value("gain")) * case.array("in").data.astype("float64")
    return combination(v / found, (np.ones(v.size), np.abs(v))) is not None


exercise = Exercise(
    id="mystery-lines",
    title="the first mystery",
    lesson="14_profiling",
    section="The method",
    kernel="soften",
    signature="int n, float gain, const float* in, float* out",
    minutes=20,
    make=make,
    owner=lambda case, index: None,
    cases=(
        {"n": 1000, "block": 64},
        {"n": 513, "block": 64},
        {"n": 512, "block": 64},
        {"n": 7, "block": 64},
        {"n": 1, "block": 256},
        {"n": 0, "block": 64},
        {"n": 40_000, "block": 256},
    ),
    smallest={"n": 1, "block": 64},
    shown={"n": 8, "block": 64},
    causes=(
        Cause(
            "missing-guard",
            "samples past the end of the arrays are used",
            lambda o: bool(o.written_past("out")) or (o.fault is not None and o.fault.kind == "out of bounds"),
            "The threads together have places for more samples than there are.",
            "Each access needs its own guard: which index does it use?",
            guard=("n",),
        ),
        Cause(
            "samples-left-out",
            "some samples are never written",
            lambda o: o.fault is None and o.unwritten_indices("out") == o.wrong_indices("out") != (),
            "There are eight times as many samples as threads (or nearly): each thread has several.",
            "Write down for 4 threads and 30 samples which thread does samples 0, 5 and 29.",
        ),
        Cause(
            "another-gain",
            "results are as for another gain than the one that was passed",
            lambda o: o.case.value("gain") < 0 and any(o.looks_like("out", gain_of(gain)) for gain in (4, 2.5)),
            "gain is a parameter: any number, also one below zero.",
            "Where does your kernel use gain, and where a number of its own?",
        ),
        Cause(
            "sign-lost",
            "negative samples are wrong",
            lambda o: o.looks_like("out", lambda case: softened(case, absolute=False)),
            "The divisor is 1 + |v|, and v may be negative.",
            "Compare your divisor with the text.",
        ),
        Cause(
            "other-divisor",
            "each result is its own v over a sum of a number and |v|, but not over 1 + |v|",
            other_divisor,
            "Indices and guards are right. The divisor has another number, another factor or another sign.",
            "Compare your divisor with the text.",
        ),
    ),
    requirements=(
        requirements.memory_lines(
            minimum=lambda case: 2 * -(-case.parameters["n"] // 32),
            when=lambda case: case.parameters["n"] >= 1000,
            title="the lanes request at most 1.05 times the fewest cache lines possible",
        ),
    ),
    hints=(
        "`before.memory().show()`: somewhere the band becomes much wider than the bytes that lanes requested. "
        "Between which two?",
        "`before.coalescing().show()`: how far apart are neighbouring lanes of one instruction?",
        "Let a thread do samples that are gridDim.x * blockDim.x apart, instead of eight neighbours: then neighbouring "
        "lanes have neighbouring samples.",
    ),
)
