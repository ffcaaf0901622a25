"""fuse-passes: three passes over an image become one, judged by the cache lines that are moved."""

import numpy as np

from gpulab.grading import patterns, requirements
from gpulab.grading.case import Array, Case, Value, blocks_for, distinct, sentinel
from gpulab.grading.exercise import Cause, Exercise


def blend(case, stretch=True, square=True, swapped=False, other=False, whole=False, half=False, chosen=False, twice=False):
    data = case.array("in").data.astype("float64")
    mask = case.array("mask").data.astype("float64")
    mask = np.trunc(mask) if whole else mask.astype("float16").astype("float64") if half else mask
    mask = (mask != 0).astype("float64") if chosen else mask
    stretched = case.value("a") * data + case.value("b") if stretch else data
    squared = stretched * stretched if square else stretched
    rest = stretched if other else data
    squared = mask * squared if twice else squared
    return mask * rest + (1 - mask) * squared if swapped else mask * squared + (1 - mask) * rest


def make(parameters, random):
    n, block = parameters["n"], parameters["block"]
    scale = np.float32(1 if n < 100 else 0.25)  # fractions, which an int would lose
    mask = random.integers(0, 9, n) / 8
    if n >= 100:  # most of them need all bits of a float; 0 and 1 stay
        mask = np.where(mask % 1 == 0, mask, random.uniform(0.01, 0.99, n))
    case = Case(
        parameters,
        grid=(blocks_for(n, block), 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Value("a", np.float32(0.75 if n > 0 and n % 13 == 0 else 0.5)),  # 65 is a multiple of 13
            Value("b", -scale * np.float32(1 + n // 4)),  # half of the stretched values are below zero
            Array("in", distinct(random, n, whole=True) * scale),
            Array("mask", mask.astype("float32")),
            Array("out", sentinel("float32", n)),
        ),
    )
    expected = blend(case).astype("float32")
    out = Array("out", sentinel("float32", n), expected, relative=1e-5)
    return Case(parameters, case.grid, case.block, (*case.arguments[:-1], out))


def other_formula(o):
    """Is every result made of its own pixel and mask in the same way, though not in the right one?"""
    out, pixel, mask = (o.case.array(name) for name in ("out", "in", "mask"))
    if o.fault is not None or o.unwritten_indices("out") or not o.wrong_indices("out"):
        return False
    if (o.found("out") == pixel.data).all() or o.wrong("out").sum() < out.data.size // 2:
        return False
    some = o.found("out") != 0  # where terms cancel, rounding errors are all there is to compare with
    p, m = (array.data.astype("float64")[some] for array in (pixel, mask))
    return patterns.combination(o.found("out")[some], (m * p * p, m * p, m, p * p, p, np.ones(p.size))) is not None


def wrong_only(o, where):
    """Are all wrong pixels, two at least, among those of which `where(pixel, mask, stretched)` holds?"""
    wrong = o.wrong("out")
    pixel, mask = (o.case.array(name).data for name in ("in", "mask"))
    some = where(pixel, mask, o.case.value("a") * pixel + o.case.value("b"))
    if o.fault is not None or o.outside("out") or o.unwritten_indices("out") or wrong.sum() < 2:
        return False
    return bool(some[wrong].all()) and not some.all()


exercise = Exercise(
    id="fuse-passes",
    title="one pass instead of three",
    lesson="07_hierarchy",
    section="Operations for each byte",
    kernel="fused",
    signature="int n, float a, float b, const float* in, const float* mask, float* out",
    minutes=15,
    make=make,
    cases=(
        {"n": 1000, "block": 64},
        {"n": 65, "block": 64},
        {"n": 64, "block": 64},
        {"n": 63, "block": 64},
        {"n": 2, "block": 64},
        {"n": 1, "block": 256},
        {"n": 0, "block": 64},
        {"n": 20_000, "block": 256},
    ),
    smallest={"n": 1, "block": 64},
    shown={"n": 12, "block": 64},
    causes=(
        Cause(
            "mask-in-half",
            "the mask is rounded, as halves are",
            lambda o: o.looks_like("out", lambda case: blend(case, half=True)),
            "A half has 11 bits, a float has 24: three digits are right, and seven could be.",
            "Of which type is the variable that holds the mask?",
        ),
        Cause(
            "missing-guard",
            "threads past the end of the arrays work too",
            lambda o: bool(o.written_past("out")) or o.fault is not None,
            "The last block has more threads than pixels are left.",
            "What should a thread do whose number is n or more?",
            guard=("n",),
        ),
        Cause(
            "mask-swapped",
            "the mask weighs the original instead of the new image",
            lambda o: o.looks_like("out", lambda case: blend(case, swapped=True)),
            "Where the mask is 1 the result is the new pixel, and where it is 0 the old one.",
            "Which of the two is multiplied by mask[i] in the text?",
        ),
        Cause(
            "blends-stretched",
            "the result is blended with the stretched image, not with the original",
            lambda o: o.looks_like("out", lambda case: blend(case, other=True)),
            "The third pass reads `in` again: the original is still needed when the first two steps are done.",
            "Keep the original pixel in a variable of its own.",
        ),
        Cause(
            "not-squared",
            "the second step is missing",
            lambda o: o.looks_like("out", lambda case: blend(case, square=False)),
            "Between stretching and blending the value is squared.",
            "Go through the three lines of the text one by one.",
        ),
        Cause(
            "mask-without-fraction",
            "masks between 0 and 1 count as 0",
            lambda o: o.looks_like("out", lambda case: blend(case, whole=True)),
            "A mask of 0.5 becomes 0 if it is stored in an integer.",
            "Which type has the variable that holds mask[i]?",
        ),
        Cause(
            "mask-as-condition",
            "every mask but 0 counts as 1",
            lambda o: o.looks_like("out", lambda case: blend(case, chosen=True)),
            "As a condition a number is true if it is not 0. But a mask of 0.5 takes a half of each pixel.",
            "What does the third line of the text give for mask = 0.5?",
        ),
        Cause(
            "mask-squared",
            "the mask is squared together with the stretched image",
            lambda o: o.looks_like("out", lambda case: blend(case, twice=True)),
            "The square is made first, and weighed by the mask then.",
            "Which product does your kernel multiply with itself?",
        ),
        Cause(
            "at-mask-0-or-1",
            "only pixels with a mask of 0 or of 1 are wrong",
            lambda o: wrong_only(o, lambda pixel, mask, stretched: (mask == 0) | (mask == 1)),
            "With a mask of 0 the result is the pixel as it was, and with a mask of 1 the new value alone.",
            "Put mask = 0 and mask = 1 into the third line of the text. What is left of it?",
        ),
        Cause(
            "negative-values",
            "only pixels whose stretched value is negative are wrong",
            lambda o: wrong_only(o, lambda pixel, mask, stretched: stretched < 0),
            "a * in[i] + b can be below zero. Its square is not.",
            "What does your kernel make of a stretched value of -2?",
        ),
        Cause(
            "other-formula",
            "each result is made of its own pixel and mask, but by another formula",
            other_formula,
            "Indices and guard are right. In the arithmetic an operator or a number is another one than in the text.",
            "Go through the three lines of the text one by one, for a pixel of 1 and a mask of 0.5.",
        ),
    ),
    requirements=(
        requirements.memory_lines(
            minimum=lambda case: 3 * -(-case.parameters["n"] // 32),
            when=lambda case: case.parameters["n"] >= 1000,
            title="each input is read once and out is written once: at most 1.05 times the fewest cache lines",
            next_step="run.accesses() lists every load and store of your kernel. Which of them moves something that "
            "was in a register already?",
        ),
    ),
    hints=(
        "A variable of the kernel is a register: it costs no memory traffic. A result between two passes can be one.",
        "Read `in[i]` and `mask[i]` into variables at the beginning, and store to `out[i]` once, at the end.",
        "`float pixel = in[i]; float stretched = a * pixel + b; float weight = mask[i];` and then one assignment to"
        " `out[i]` with weight, `stretched * stretched` and pixel.",
    ),
)
