"""mfma-sgemm: a product by matrix instructions for any m and n, a wave for each 32 x 32, each operand loaded once."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, no_inputs, sentinel
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.requirements import executed, instructions

SIDE = 32


def make(parameters, random):
    m, n, k = parameters["m"], parameters["n"], 16 * parameters["steps"]
    a, bt = (random.integers(-8, 9, shape).astype("float32") for shape in ((m, k), (n, k)))
    return Case(
        parameters,
        grid=(blocks_for(n, SIDE), blocks_for(m, SIDE), 1),
        block=(parameters["wave"], 1, 1),
        arguments=(
            *(Value(name, np.int32(size)) for name, size in (("m", m), ("n", n), ("k", k))),
            Array("a", a),
            Array("bt", bt),
            # Whole numbers below 2**24: exact in any order.
            Array("c", sentinel("float32", (m, n)), a @ bt.T),
        ),
    )


def matrices(case):
    return case.array("a").data, case.array("bt").data


def some_steps(which):
    """The products of the steps that `which`, a slice of steps, names."""

    def predicted(case):
        a, bt = matrices(case)
        chosen = np.arange(a.shape[1]).reshape(-1, 16)[which].ravel()
        return a[:, chosen] @ bt[:, chosen].T

    return predicted


STEPS = (slice(-1, None), slice(1), slice(1, None), slice(None, -1))
"""The last step alone, the first, all but the first, all but the last."""


def not_transposed(case):
    """What comes out if bt is read as b, row by row."""
    a, bt = matrices(case)
    return a @ bt.reshape(bt.shape[::-1])


def places():
    """For an element of the tile, row by row, its place if the parts' rows and columns are exchanged."""
    r, c = np.divmod(np.arange(SIDE * SIDE), SIDE)
    return r, c, r % 16 + c // 16 * 16, c % 16 + r // 16 * 16


def same_k(of_a, of_b):
    """The product on waves of 64 if all groups of 16 lanes have the first four k, of a, of bt or of both."""

    def predicted(case):
        a, bt = matrices(case)
        inside = np.arange(a.shape[1])
        again = inside // 16 * 16 + inside % 4
        return a[:, again if of_a else inside] @ bt[:, again if of_b else inside].T

    return predicted


SAME_K = (same_k(True, True), same_k(True, False), same_k(False, True))


def parts_exchanged(o):
    """Are upper right and lower left of whole tiles exchanged?"""
    p, wanted, found = o.case.parameters, o.case.array("c").wanted, o.found("c")
    if min(p["m"], p["n"]) < SIDE or not o.wrong("c").any():
        return False
    r, c, to_r, to_c = places()
    return bool((found[:SIDE, :SIDE][to_r, to_c] == wanted[:SIDE, :SIDE][r, c]).all())


def parts_missing(o):
    """Are the elements that nobody stored all those of some parts of the tiles, but not of the first?"""
    rows, columns = np.indices((o.case.parameters["m"], o.case.parameters["n"])) % SIDE // 16
    part = (2 * rows + columns).ravel()
    left = np.zeros(part.size, bool)
    left[list(o.unwritten_indices("c"))] = True
    missing = np.unique(part[left])
    return missing.size > 0 and missing[0] > 0 and bool((left == np.isin(part, missing)).all())


def rows_of_m(o):
    """Were elements stored, but none whose index is not row * m + column?"""
    m, n = o.case.parameters["m"], o.case.parameters["n"]
    places = {row * m + column for row in range(m) for column in range(n)}
    stored = {*np.flatnonzero(~o.untouched("c")).tolist(), *o.outside("c")}
    return m > n and 1 < len(stored) and stored <= places


def tiles(case):
    return blocks_for(case.parameters["m"], SIDE) * blocks_for(case.parameters["n"], SIDE)


def products(case, arch, parts):
    """Matrix instructions for so many parts."""
    return parts * case.parameters["steps"] * (4 if arch == "gfx942" else 1)


exercise = Exercise(
    id="mfma-sgemm",
    title="a product in FP32 with matrix cores",
    lesson="28_gemm_two",
    section="FP32 on matrix cores",
    kernel="product",
    signature="int m, int n, int k, const float* a, const float* bt, float* c",
    minutes=35,
    make=make,
    owner=lambda case, index: None,  # whose an element is, the answer decides
    reads=no_inputs,
    by_wave=True,
    fixed_sizes="m and n are at least 1, k is a multiple of 16",
    cases=(
        {"m": 32, "n": 32, "steps": 1},
        {"m": 32, "n": 32, "steps": 3},
        {"m": 64, "n": 32, "steps": 2},
        {"m": 20, "n": 32, "steps": 1},
        {"m": 32, "n": 37, "steps": 2},
        {"m": 1, "n": 1, "steps": 1},
        {"m": 5, "n": 3, "steps": 0},
        {"m": 100, "n": 90, "steps": 5},
    ),
    smallest={"m": 1, "n": 1, "steps": 0},
    shown={"m": 3, "n": 3, "steps": 1},
    causes=(
        Cause(
            "past-the-end",
            "rows of a or bt are read that do not exist",
            lambda o: (o.read_outside() or ("", 0))[0] in ("a", "bt"),
            "The last tiles reach over the last row of a, or over the last row of bt.",
            "Which row of a does lane 15 load in the lower part, for m = 20?",
        ),
        Cause(
            "rows-of-m",
            "rows of c are taken to have m elements",
            rows_of_m,
            "c has m rows of n elements each, one row after the other.",
            "How far apart are an element of c and the one below it?",
            explains=("race", "lane conflict"),
        ),
        Cause(
            "missing-guard",
            "elements beside c are stored, or those of the next row",
            lambda o: bool(o.outside("c")),
            "A part at the edge has more rows or columns than c.",
            "What is row, and what is column, of an element that must not be stored?",
            explains=("race", "lane conflict"),
        ),
        Cause(
            "lanes-return",
            "lanes return on a condition, and sums of rows that exist are missing",
            lambda o: o.fault is None and bool(o.wrong("c").any()) and o.uses(r"if\s*\([^;{]*\)\s*return\s*;"),
            "A matrix instruction is one for the whole wave, and a lane has sums of rows that other lanes load.",
            "Which rows and columns of c does a lane store whose own row of a does not exist?",
        ),
        Cause(
            "sums-begin-again",
            "the sums have one step of 16 k, or all but one",
            lambda o: o.case.parameters["steps"] > 1 and any(o.looks_like("c", some_steps(which)) for which in STEPS),
            "Each matrix instruction adds to its third operand, and the loop has a step for each 16 k.",
            "What is the third operand in the second step, and where do the steps begin and end?",
        ),
        Cause(
            "b-not-transposed",
            "bt is read as if it were b",
            lambda o: o.looks_like("c", not_transposed),
            "bt has a row for each column of b: a lane's elements lie side by side.",
            "Where in bt is b[i][column]?",
        ),
        Cause(
            "same-k",
            "all groups of 16 lanes have the same k, of a, of bt or of both",
            lambda o: o.wave_size == 64 and any(o.looks_like("c", predicted) for predicted in SAME_K),
            "With MFMA the 16 k of a row are in four groups of 16 lanes, four in each.",
            "At which k do the inputs of lane 16 begin, of a and of bt?",
        ),
        Cause(
            "parts-exchanged",
            "the upper right part and the lower left one are exchanged",
            parts_exchanged,
            "The part in row r and column s of the tile comes from rows r of a and rows s of bt.",
            "Which of your two operands is that of the rows of c?",
        ),
        Cause(
            "parts-missing",
            "of each tile some parts are never stored",
            parts_missing,
            "A tile of 32 × 32 has 2 × 2 parts.",
            "Which rows and columns has the part to the lower right?",
        ),
    ),
    requirements=(
        instructions(
            "no-matrix-instructions",
            "matrix instructions",
            at_least=1,
            title="the products are made by matrix instructions",
            next_step="multiply_add becomes matrix instructions; a loop over products does not.",
        ),
        executed(
            "too-many",
            "matrix instructions",
            at_most=lambda case, arch: products(case, arch, 4 * tiles(case)),
            title="no more matrix instructions than 2 × 2 parts of each tile need",
            next_step="For each 16 k a wave calls multiply_add four times.",
        ),
        executed(
            "too-few",
            "matrix instructions",
            at_least=lambda case, arch: products(
                case, arch, blocks_for(case.parameters["m"], 16) * blocks_for(case.parameters["n"], 16)
            ),
            title="all products are made by them",
            next_step="The kernel has matrix instructions, but c does not come from them.",
        ),
        executed(
            "loads",
            "global loads",
            at_most=lambda case, arch: tiles(case) * case.parameters["steps"] * (4 if arch == "gfx942" else 16),
            title="each row is loaded once for a tile: 4 loads (16 on gfx1100) for each 16 k",
            next_step="Which of the four products of a step need the same rows of a? And are a lane's elements loaded "
            "one by one, or by load?",
        ),
    ),
    hints=(
        "Begin with m = n = 32, where no edge is. For each 16 k load two `inputs` of a and two of bt, and multiply "
        "each with each: four sums. Then think of the edges.",
        "Lane `lane` has row `top + 16 * e + lane % 16` of a, from `row * k + step` on, where step begins at "
        "`FIRST_K(lane)` and grows by 16. `load(&a[row * k + step])` gives all of its elements.",
        "No lane may leave: take `min(top + 16 * e + lane % 16, m - 1)` for the row that is loaded. Then "
        "`part[r][s] = multiply_add(x[r], y[s], part[r][s]);` and at the end `if (row < m && column < n) c[row * n + "
        "column] = part[r][s][e];` with `row = top + 16 * r + ROW(lane, e)`.",
    ),
)
