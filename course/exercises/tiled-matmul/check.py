"""tiled-matmul: c = a b for every size, through 16 x 16 tiles in LDS."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, sentinel
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.requirements import bank_conflicts, memory_lines


def make(parameters, random):
    side = parameters["block"]
    m, n, k = (parameters[name] for name in "mnk")
    a, b = (random.integers(1, 10, shape).astype("float32") for shape in ((m, k), (k, n)))
    if m > 5:  # numbers with more bits than a half has; the sums stay below 2**24
        large = b if k % 2 else a
        large[random.random(large.shape) < 0.2] += 4096
        a, b = a * np.float32(0.5), b * np.float32(0.5)  # fractions, which an int would lose
    return Case(
        parameters,
        grid=(blocks_for(n, side), blocks_for(m, side), 1),
        block=(side, side, 1),
        arguments=(
            *(Value(name, np.int32(parameters[name])) for name in "mnk"),
            Array("a", a),
            Array("b", b),
            Array("c", sentinel("float32", (m, n)), a @ b),  # whole numbers or quarters of less than 24 bits: exact
        ),
    )


def fits(case):
    return all(case.parameters[name] and case.parameters[name] % 32 == 0 for name in "mnk")


def fewest_lines(case):
    """Of each tile each row of 16 floats is half a line: 16 of a and 16 of b for each step, 16 of c for each block."""
    m, n, k = (case.parameters[name] for name in "mnk")
    return (m // 16) * (n // 16) * (32 * (k // 16) + 16)


def without_tail(case):
    """The sums without what is left of k after whole tiles."""
    a, b = (case.array(name).data for name in "ab")
    whole = case.parameters["k"] // 16 * 16
    return a[:, :whole] @ b[:whole]


def b_transposed(case):
    """What comes out if the tiles of b are used with rows and columns exchanged."""
    a, b = (case.array(name).data for name in "ab")
    k, n = b.shape
    wide = np.zeros((blocks_for(k, 16) * 16, blocks_for(n, 16) * 16), "float32")
    wide[:k, :n] = b
    tiles = wide.reshape(wide.shape[0] // 16, 16, wide.shape[1] // 16, 16).transpose(0, 3, 2, 1).reshape(wide.shape)
    return np.pad(a, ((0, 0), (0, wide.shape[0] - k))) @ tiles[:, :n]


def in_halves(o):
    """Is every wrong sum off by no more than the tiles' numbers, or their products, are rounded as halves, and are all
    numbers small that halves hold exactly?"""
    a, b = (o.case.array(name).data for name in "ab")
    difference = o.found("c") - o.case.array("c").wanted
    off = abs(difference)
    with np.errstate(invalid="ignore"):
        near = off <= np.abs(a) @ np.abs(b) / 1000
    large = (np.abs(a) > 1024).any(axis=1)[:, None] | (np.abs(b) > 1024).any(axis=0)
    some = np.unique(difference[o.wrong("c")]).size > 1  # else it is no rounding
    return o.fault is None and some and bool((near & (large | (off == 0))).all())


SIZES = (
    (32, 32, 32),
    (16, 16, 7),
    (33, 17, 40),
    (5, 20, 17),
    (1, 1, 1),
    (64, 96, 64),
    (2, 1, 0),
    (16, 16, 0),
    (0, 1, 4),
    (3, 0, 2),
)
"""m, n and k."""


def stores_beside(o):
    """Was a thread without an element of c seen to store, and each one at row * n + column?"""
    m, n = (o.case.parameters[name] for name in ("m", "n"))
    seen = o.numbers("c")
    right = all(index == row * n + column for index, (column, row, _) in seen)
    return right and any(column >= n or row >= m for _, (column, row, _) in seen)


def axes_exchanged(o):
    """Did each thread store the element of row x and column y, whose own one is in row y and column x?"""
    n, seen = o.case.parameters["n"], o.numbers("c")
    return any(x != y for _, (x, y, _) in seen) and all(index == x * n + y for index, (x, y, _) in seen)


exercise = Exercise(
    id="tiled-matmul",
    title="a product with tiles in LDS",
    lesson="16_sgemm",
    section="Step 3, a tile in LDS",
    kernel="multiply",
    signature="int m, int n, int k, const float* a, const float* b, float* c",
    minutes=30,
    make=make,
    cases=tuple({**dict(zip("mnk", sizes, strict=True)), "block": 16} for sizes in SIZES),
    smallest={"m": 1, "n": 1, "k": 1, "block": 16},
    shown={"m": 3, "n": 4, "k": 2, "block": 16},
    causes=(
        Cause(
            "tiles-in-half",
            "sums of large numbers are nearly right: numbers are rounded on the way",
            in_halves,
            "A half has 11 bits, and a float 24. A number that needs more bits than its variable has is rounded.",
            "Of which type are your tiles?",
        ),
        Cause(
            "nothing-for-k-0",
            "for k = 0 nothing is stored",
            lambda o: (
                o.fault is None and o.case.parameters["k"] == 0 and bool(o.wrong("c").all() and o.untouched("c").all())
            ),
            "A sum without products is 0, and it has to be stored: c holds other numbers before the launch.",
            "Which condition keeps a thread from its store if k is 0?",
        ),
        Cause(
            "tail-of-k",
            "what is left of k after whole tiles of 16 is not added",
            lambda o: o.case.parameters["k"] > 0 and o.looks_like("c", without_tail),
            "k need not be a multiple of 16. The last tile is not full, but what is in it counts.",
            "For k = 17: how many iterations must the loop have, and what is in the tiles in the last one?",
        ),
        Cause(
            "axes-exchanged",
            "x counts rows and y counts columns, where it is the other way round",
            axes_exchanged,
            "threadIdx.x and blockIdx.x belong to the column: neighbouring threads have neighbouring elements of a row.",
            "Which row and which column has thread (1, 0) of block 0?",
            explains=("race",),
        ),
        Cause(
            "b-transposed",
            "the tile of b is used with rows and columns exchanged",
            lambda o: o.looks_like("c", b_transposed),
            "sum += A[row][i] * B[i][column]: i is the column of A's tile and the row of B's.",
            "Which index of B did you fill with threadIdx.x, and which one do you read with i?",
        ),
        Cause(
            "reads-outside",
            "the tile is filled from outside of a matrix",
            lambda o: o.read_outside() is not None,
            "At the edges a tile is larger than what is left of the matrix.",
            "Two matrices, two indices each: which four conditions must hold before you load? What if they do not?",
        ),
        Cause(
            "missing-guard",
            "threads without an element of c write, too",
            stores_beside,
            "The blocks at the edges have more threads than elements.",
            "Where must the row be less than m and the column less than n, and where do you test it?",
            explains=("race",),
        ),
    ),
    requirements=(
        memory_lines(
            "memory-lines",
            minimum=fewest_lines,
            when=fits,
            title="each number is loaded once a block (at most 1.05 times the lines that the tiles need)",
            next_step="run.coalescing() names the loads. How often does a block load the same element of a?",
        ),
        bank_conflicts("bank-conflicts", when=fits),
    ),
    hints=(
        "Start from the lesson's kernel tiled. Nothing changes but the two loads and the store: each needs a "
        "condition. Which value should the tile have where there is no number?",
        "Zero: it adds nothing. All threads do all iterations and reach all barriers, also those without an "
        "element of c. "
        "The number of iterations depends on k alone, rounded up.",
        "`A[y][x] = row < m && step + x < k ? a[row * k + step + x] : 0;` the same for B with `step + y < k` and "
        "`column < n`; and at the end `if (row < m && column < n) c[row * n + column] = sum;`",
    ),
)
