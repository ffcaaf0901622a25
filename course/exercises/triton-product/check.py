"""triton-product: a matrix product of halves with tl.dot, added up in float."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, no_inputs, sentinel
from gpulab.grading.exercise import Cause, Exercise, Promise
from gpulab.grading.requirements import instructions, modelled_time

SIDE, WARPS = 32, 4


def make(parameters, random):
    m, n, k = (parameters[name] for name in "mnk")
    a = random.integers(1, 8, (m, k)).astype("float16")
    b = random.integers(1, 8, (k, n)).astype("float16")
    return Case(
        parameters,
        grid=(m // SIDE, n // SIDE, 1),
        block=(WARPS * parameters["wave"], 1, 1),
        arguments=(
            Array("a", a),
            Array("b", b),
            Array("c", sentinel("float32", (m, n)), a.astype("float32") @ b.astype("float32")),
            *(Value(name, np.int32(parameters[name])) for name in "mnk"),
        ),
    )


def b_transposed(case):
    """The product with the transposed of b, where b is square."""
    a, b = (case.array(name).data.astype("float32") for name in "ab")
    return a @ b.T if b.shape[0] == b.shape[1] else np.full((len(a), b.shape[1]), np.nan)


def first_step_again(case):
    """Each step takes the first SIDE columns of a and rows of b."""
    a, b = (case.array(name).data.astype("float32") for name in "ab")
    return a[:, :SIDE] @ b[:SIDE] * (a.shape[1] // SIDE)


def last_step_alone(case):
    """The last step's product stays."""
    a, b = (case.array(name).data.astype("float32") for name in "ab")
    return a[:, -SIDE:] @ b[-SIDE:]


def in_halves(o):
    """Is each value one that half precision can hold, near the right one?"""
    found, wanted = o.found("c"), o.case.array("c").wanted
    with np.errstate(over="ignore", invalid="ignore"):
        halves = found.astype("float16").astype("float32")
    return o.fault is None and bool(np.array_equal(found, halves) and (abs(found - wanted) <= 0.02 * wanted).all())


exercise = Exercise(
    id="triton-product",
    title="a matrix product of halves in Triton",
    lesson="19_triton",
    section="Matrix products",
    language="triton",
    kernel="product",
    signature="a, b, c, m, n, k, SIDE: tl.constexpr",
    expressions=(f"product(*fp16:16, *fp16:16, *fp32:16, i32:16, i32:16, i32:16, SIDE={SIDE})",),
    minutes=25,
    make=make,
    by_wave=True,
    fixed_sizes="m, n and k are multiples of 32",
    cases=(
        {"m": 32, "n": 32, "k": 32},
        {"m": 64, "n": 96, "k": 96},
        {"m": 64, "n": 64, "k": 64},
        {"m": 32, "n": 64, "k": 512},
        {"m": 512, "n": 256, "k": 64},
    ),
    smallest={"m": 32, "n": 32, "k": 32},
    kept=(),
    promises=(Promise("multiples of 32", lambda given: all(given[name] % SIDE == 0 for name in "mnk")),),
    owner=lambda case, index: None,
    reads=no_inputs,
    instruction_limit=8_000,
    requirements=(
        instructions(
            "matrix-cores",
            "v_(mfma|wmma)",
            at_least=1,
            title="matrix instructions (MFMA, WMMA)",
            next_step="Triton uses matrix cores for tl.dot, and for no sum of products.",
        ),
        modelled_time(
            "work-not-shared",
            at_most=lambda case, arch: 200.0,
            title="the programs share the blocks of c: none needs more than 8,000 instructions",
            next_step="The grid has one program for each block of c. Which block belongs to this one?",
        ),
    ),
    causes=(
        Cause(
            "b-transposed",
            "the result is the product with the transposed of b",
            lambda o: o.looks_like("c", b_transposed),
            "The element of b in row i and column j stands at i * n + j.",
            "In the block of b, which axis counts the steps along k?",
        ),
        Cause(
            "first-step-again",
            "every step multiplies the same blocks, the first ones",
            lambda o: o.looks_like("c", first_step_again),
            "The sum has k terms; each step has other ones.",
            "What of the pointers must change from step to step?",
        ),
        Cause(
            "last-step-alone",
            "the product of the last step stays, the others are lost",
            lambda o: o.looks_like("c", last_step_alone),
            "Products of all steps belong to the sum.",
            "What does your variable hold after the second step?",
        ),
        Cause(
            "sum-in-half",
            "the sum is kept in half precision, which is too small for it",
            in_halves,
            "Half precision has 11 bits: from 2048 on it has no odd numbers.",
            "Of which type are the zeros that your sum begins with?",
        ),
    ),
    hints=(
        "One program computes one block of c, SIDE x SIDE. Along k it goes in steps of SIDE: a block of a, a block of "
        "b, their product is added to the sum.",
        "The sum begins as `tl.zeros((SIDE, SIDE), tl.float32)`. `tl.dot(left, right, total)` adds a product to it.",
        "In the step that begins at start, with at as `tl.arange(0, SIDE)`, the block of a is "
        "`tl.load(a + row[:, None] * k + start + at[None, :])`. Which row of b does it need?",
    ),
)
