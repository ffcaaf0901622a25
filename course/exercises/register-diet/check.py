"""register-diet: mean and variance of 96 numbers for each thread, judged by registers, scratch and cache lines."""

import numpy as np

from gpulab.grading import requirements
from gpulab.grading.case import Array, Case, Value, blocks_for, sentinel
from gpulab.grading.exercise import Cause, Exercise

ROWS = 96


def make(parameters, random):
    n, block = parameters["n"], parameters["block"]
    level, spread = parameters.get("level", 10000), parameters.get("spread", 8)
    data = (level + random.integers(-spread * 512, (spread + 1) * 512, (ROWS, n)) / 512).astype("float32")
    return Case(
        parameters,
        grid=(blocks_for(n, block), 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Array("in", data),
            Array("mean", sentinel("float32", n), data.mean(0, dtype="float64").astype("float32"), relative=1e-5),
            Array("variance", sentinel("float32", n), data.var(0, dtype="float64").astype("float32"), relative=1e-3),
        ),
    )


def spread(case, left_out=0):
    """The variance with the sum divided by 96 - left_out."""
    return case.array("in").data.var(0, dtype="float64", ddof=left_out)


def exchanged(o):
    """Does `mean` hold the variances?"""
    return bool(o.wrong("mean").any()) and bool(np.allclose(o.found("mean"), spread(o.case), rtol=1e-3))


def sensor_by_sensor(case):
    """The means, if the numbers are taken to lie sensor by sensor."""
    return case.array("in").data.reshape(-1, ROWS).mean(1, dtype="float64")


def variance_alone(o):
    """Is the mean right, and the variance, which was written, not?"""
    return (
        o.fault is None
        and bool(o.wrong("variance").any())
        and not o.wrong("mean").any()
        and not o.unwritten_indices("variance")
    )


def digits_lost(o):
    """Is the variance wrong by chance: often too large, often too small, and by as much as sums of squares lose?"""
    error = o.found("variance").astype("float64") - spread(o.case)
    error = error[o.wrong("variance")]
    largest = float((o.case.array("in").data.astype("float64") ** 2).max(initial=0))
    return (
        variance_alone(o)
        and error.size >= 4
        and bool((np.abs(error) <= 2**-18 * largest).all())
        and bool(np.median(np.abs(error)) >= 2**-26 * largest)
        and min((error > 0).mean(), (error < 0).mean()) > 0.1
    )


def large(case):
    return case.parameters["n"] >= 512 and case.parameters["n"] % 64 == 0


exercise = Exercise(
    id="register-diet",
    title="a diet for registers",
    lesson="08_occupancy",
    section="Registers are allocated in steps",
    kernel="moments",
    signature="int n, const float* in, float* mean, float* variance",
    minutes=25,
    make=make,
    cases=(
        {"n": 100, "block": 64},
        {"n": 65, "block": 64},
        {"n": 64, "block": 64},
        {"n": 1, "block": 256},
        {"n": 0, "block": 64},
        {"n": 1024, "block": 256},
        {"n": 1000, "block": 256, "level": 20000},
        {"n": 300, "block": 64, "level": 200, "spread": 100},
    ),
    smallest={"n": 1, "block": 64},
    kept=("block", "level", "spread"),
    shown={"n": 8, "block": 64},
    causes=(
        Cause(
            "missing-guard",
            "threads without a sensor work too",
            lambda o: bool(o.written_past("mean") or o.written_past("variance")) or o.fault is not None,
            "The last block has more threads than sensors are left.",
            "What should a thread do whose number is n or more?",
            guard=("n",),
        ),
        Cause(
            "sensor-by-sensor",
            "the numbers are read as if the 96 of a sensor lay one after the other",
            lambda o: o.looks_like("mean", sensor_by_sensor),
            "in has 96 rows of n numbers: neighbouring numbers belong to neighbouring sensors.",
            "How far apart in memory are two numbers of the same sensor?",
        ),
        Cause(
            "mean-and-variance-exchanged",
            "mean and variance have changed places",
            exchanged,
            "mean[i] is what the numbers of sensor i are on average, and variance[i] how far they lie from it.",
            "What do you store to mean?",
        ),
        Cause(
            "divided-by-95",
            "the sum of squares is divided by 95, not by 96",
            lambda o: o.looks_like("variance", lambda case: spread(case, 1)),
            "This is the estimate for a whole population from a sample. The exercise needs the mean of the squares.",
            "How many squares are there?",
        ),
        Cause(
            "deviation-not-variance",
            "this is the standard deviation, the root of the variance",
            lambda o: o.looks_like("variance", lambda case: np.sqrt(spread(case))),
            "The variance is the mean of the squared distances itself.",
            "One operation is too much.",
        ),
        Cause(
            "cancellation",
            "the mean is right, but the variance has lost its digits",
            digits_lost,
            "The mean of the squares and the square of the mean are both near a hundred million here, and a float has "
            "some seven digits: no right digit is left of their difference.",
            "Subtract something from each number before you square it. What is near the mean, and known from the "
            "start?",
        ),
        Cause(
            "variance-alone",
            "the mean is right, and the variance is not",
            variance_alone,
            "So the numbers that are read are the right ones.",
            "Take two numbers, for example 3 and 5. Which squares does your kernel add up, and what does it subtract?",
        ),
    ),
    requirements=(
        requirements.scratch_bytes(
            next_step="Spilled registers are memory traffic. Do not force the compiler: need fewer values at a time."
        ),
        requirements.vgprs(
            at_most=64,
            title="at most 64 VGPRs",
            next_step="kernel.vgprs says how many there are. Which values are alive at the same time? Must they be?",
        ),
        requirements.memory_lines(
            minimum=lambda case: (ROWS + 2) * -(-case.parameters["n"] // 32),
            when=large,
            title="each number is read once: at most 1.05 times the fewest cache lines",
            next_step="run.accesses() lists the loads: which of them loads a number for the second time?",
        ),
    ),
    hints=(
        "Find a form of the variance that needs each number only once. Then no number has to be kept.",
        "The variance does not change if the same amount is subtracted from all numbers. Subtract one that makes them "
        "small, and the sum of squares keeps its digits.",
        "`float first = in[i], sum = 0, squares = 0;` and for each later k: `float distance = in[k * n + i] - "
        "first; sum += distance; squares += distance * distance;` Then `float shift = sum / 96;` the mean is `first"
        " + shift`, and the variance `squares / 96 - shift * shift`.",
    ),
)
