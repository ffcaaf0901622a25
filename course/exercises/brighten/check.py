"""brighten: one input, one output, and a limit that each thread keeps for itself."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, combinations, sentinel
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.requirements import work_shared


def make(parameters, random):
    n, block, amount = parameters["n"], parameters["block"], parameters["amount"]
    picture = random.integers(0, 256, n).astype("int32")
    picture[:3] = (255, max(256 - amount, 0), max(255 - amount, 0))[:n]
    return Case(
        parameters,
        grid=(blocks_for(n, block), 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Value("amount", np.int32(amount)),
            Array("in", picture),
            Array("out", sentinel("int32", n), np.minimum(picture + amount, 255).astype("int32")),
        ),
    )


def computed(o, formula):
    """Is every pixel what `formula(pixel, amount)` makes of it?"""
    return o.looks_like(
        "out", lambda case: formula(case.array("in").data.astype("int64"), case.parameters["amount"]).astype("int32")
    )


def another_limit(o):
    """Is 255 wanted wherever an element is wrong, and the same number found?"""
    wrong, found = o.wrong("out"), o.found("out")
    return (
        o.fault is None
        and not o.outside("out")
        and bool(wrong.any())
        and not o.unwritten_indices("out")
        and bool((o.case.array("out").wanted[wrong] == 255).all())
        and len(set(found[wrong].tolist())) == 1
    )


def too_bright_not_written(o):
    """Are the elements that were never written the pixels that would be larger than 255, and no others wrong?"""
    sums = o.case.array("in").data + o.case.parameters["amount"]
    missing = o.unwritten_indices("out")
    return missing == o.wrong_indices("out") == tuple(np.flatnonzero(sums > 255)) != ()


exercise = Exercise(
    id="brighten",
    title="a brighter picture",
    lesson="00_welcome",
    section="Two minutes: run a kernel",
    kernel="brighten",
    signature="int n, int amount, const int* in, int* out",
    minutes=10,
    make=make,
    cases=(
        *combinations(n=(1000, 65, 64, 2, 1), amount=(40, 200), block=(64, 256)),
        {"n": 1000, "amount": 300, "block": 64},
        {"n": 65, "amount": 300, "block": 256},
        {"n": 0, "amount": 40, "block": 64},
    ),
    smallest={"n": 1, "amount": 1, "block": 4},
    shown={"n": 8, "amount": 40, "block": 4},
    requirements=(work_shared(),),
    causes=(
        Cause(
            "guard-one-too-far",
            "the guard lets one thread too many through",
            lambda o: o.one_too_many("out"),
            "A picture of n pixels ends at index n - 1, so index n is already outside.",
            "Test your condition for the thread with number n: should it write?",
        ),
        Cause(
            "missing-guard",
            "threads without a pixel write too: the guard is gone",
            lambda o: bool(o.outside("out")) or o.fault is not None,
            "There are more threads than pixels, and if (i < n) keeps the others from writing.",
            "Put the line if (i < n) back around your own.",
            guard=("n",),
        ),
        Cause(
            "no-limit",
            "some pixels are larger than 255",
            lambda o: computed(o, lambda pixel, amount: pixel + amount),
            "A pixel of 255 is white, and no value is larger.",
            "What should happen to a sum that is larger than 255?",
        ),
        Cause(
            "wraps-around",
            "sums that are too large begin at 0 again",
            lambda o: (
                computed(o, lambda pixel, amount: (pixel + amount) % 256)
                or computed(o, lambda pixel, amount: (pixel + amount) % 255)
                or computed(
                    o, lambda pixel, amount: np.where((pixel + amount) % 256 < pixel, 255, (pixel + amount) % 256)
                )
            ),
            "A number of 8 bits (unsigned char, or % 256) goes from 255 on to 0, and one that is taken % 255 from 254.",
            "Keep the sum in an int, and compare it with 255.",
        ),
        Cause(
            "left-dark",
            "pixels that would become too bright are left as they are, or not written",
            lambda o: (
                computed(o, lambda pixel, amount: np.where(pixel + amount > 255, pixel, pixel + amount))
                or computed(o, lambda pixel, amount: np.where(pixel + amount >= 255, pixel, pixel + amount))
                or (o.fault is None and not o.outside("out") and too_bright_not_written(o))
            ),
            "Every pixel has a new value. One that would be larger than 255 becomes 255.",
            "What does your kernel write for a pixel of 250?",
        ),
        Cause(
            "other-limit",
            "pixels that should be 255 all hold the same other number",
            another_limit,
            "The limit is the largest value that a pixel can have: 255.",
            "Which number do these pixels hold, and where does it come from?",
        ),
        Cause(
            "maximum",
            "the larger of the two numbers is taken, not the smaller one",
            lambda o: computed(o, lambda pixel, amount: np.maximum(pixel + amount, 255)),
            "max(a, b) is the larger of two numbers, so that no value is below 255.",
            "Which of the sum and 255 should be written, if the sum is 100?",
        ),
    ),
    hints=(
        "Add first. Then ask whether the sum is larger than 255.",
        "Put the sum into a variable: `int pixel = in[i] + amount;` change it by an if where it is too large, and "
        "write it to `out[i]`.",
        "`int pixel = in[i] + amount; if (pixel > 255) pixel = 255; out[i] = pixel;`",
    ),
)
