"""matrix-tile: a product of f16 matrices by matrix instructions, a wave for each tile of 16 x 16."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, sentinel
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.requirements import executed, instructions


def make(parameters, random):
    m, n, k = (16 * parameters[name] for name in ("down", "across", "steps"))
    most = 8 if m == n == k == 16 else 64  # a small case has small numbers, which can be read
    a, b = (random.integers(-most, most + 1, shape).astype("float16") for shape in ((m, k), (k, n)))
    return Case(
        parameters,
        grid=(parameters["across"], parameters["down"], 1),
        block=(parameters["wave"], 1, 1),
        arguments=(
            *(Value(name, np.int32(size)) for name, size in (("m", m), ("n", n), ("k", k))),
            Array("a", a),
            Array("b", b),
            # Integers below 2**24: exact in any order. Many are above 2**11, so that a half cannot hold them.
            Array("d", sentinel("float32", (m, n)), a.astype("float32") @ b.astype("float32")),
        ),
    )


def matrices(case):
    return case.array("a").data.astype("float32"), case.array("b").data.astype("float32")


def last_step(case):
    """Only the last 16 products of each sum."""
    a, b = matrices(case)
    return a[:, -16:] @ b[-16:]


def first_step(case):
    a, b = matrices(case)
    return a[:, :16] @ b[:16]


def b_transposed(case):
    """What comes out if the tiles of b are read row by row, as those of a."""
    a, b = matrices(case)
    k, n = b.shape
    return a @ np.block([[b[i : i + 16, j : j + 16].T for j in range(0, n, 16)] for i in range(0, k, 16)])


def other_rows(wave):
    """The rows of a tile as they land if D is stored by the formula of the other architecture."""
    if wave == 64:
        return {4 * group + e: 2 * e + group for group in range(4) for e in range(4)}
    return {2 * e + group: 4 * group + e for group in range(2) for e in range(8)}


def rows_of_other_gpu(o):
    """Did the rows of some tile land where the other architecture's formula puts them?"""
    found, wanted = o.found("d"), o.case.array("d").wanted
    if not o.wrong("d").any():
        return False
    moved = {down: at for down, at in other_rows(o.wave_size).items() if at < 16 and down != at}
    last = {at: down for down, at in moved.items()}
    kept = [at for at in last if (found[at] == wanted[last[at]]).all()]
    return len(kept) >= max(1, len(last) // 2)


def disagree(case, wave):
    """A with the k of the lesson's table, B with k = group + 4 e (MFMA alone has groups)."""
    a, b = matrices(case)
    order = np.array([16 * step + group + 4 * e for step in range(a.shape[1] // 16) for group in range(4)
                      for e in range(4)])  # fmt: skip
    return a @ b[order]


def pairs(o):
    """How often column i of A was multiplied by row j of B, for one tile with one step: 16 x 16 whole numbers.

    Of D = A W B, W is what is asked for. None where a number of W is none that a matrix instruction could leave: then
    rows or columns are wrong, not their pairs.
    """
    if o.fault is not None or o.left_out() or o.case.array("d").data.shape != (16, 16):
        return None
    a, b = (matrix.astype("float64") for matrix in matrices(o.case))
    if a.shape != (16, 16) or max(np.linalg.cond(a), np.linalg.cond(b)) > 1e4:
        return None
    times = np.linalg.solve(a, o.found("d").astype("float64")) @ np.linalg.inv(b)
    whole = np.rint(times)
    fits = np.abs(times - whole).max() < 1e-3 and whole.min() >= 0 and whole.sum() <= 16
    return whole if fits else None


def other_pairs(o):
    """Were elements of A multiplied by elements of B with another k?"""
    found = pairs(o)
    return found is not None and bool(found.sum(axis=0).max() <= 1) and bool((found - np.diag(found.diagonal())).any())


def some_k_again(o):
    """Did some of the 16 products enter the sums several times, and others not at all?"""
    found = pairs(o)
    return found is not None and bool((found == np.diag(found.diagonal())).all() and found.max() > 1)


def half_sums(case):
    """What comes out if the sums are rounded to half after each step, and what if that is done once, at the end."""
    a, b = matrices(case)
    d = np.zeros((a.shape[0], b.shape[1]), "float32")
    with np.errstate(over="ignore"):
        for step in range(0, a.shape[1], 16):
            d = (d + a[:, step : step + 16] @ b[step : step + 16]).astype("float16").astype("float32")
        return d, (a @ b).astype("float16").astype("float32")


def products(case, arch):
    p = case.parameters
    return p["down"] * p["across"] * p["steps"]


exercise = Exercise(
    id="matrix-tile",
    title="a product with matrix cores",
    lesson="15_matrix_cores",
    section="A small GEMM",
    kernel="product",
    signature="int m, int n, int k, const _Float16* a, const _Float16* b, float* d",
    minutes=30,
    make=make,
    owner=lambda case, index: None,  # whose an element is, the answer decides
    by_wave=True,
    fixed_sizes="m, n and k are multiples of 16",
    cases=(
        {"down": 1, "across": 1, "steps": 1},
        {"down": 1, "across": 1, "steps": 3},
        {"down": 2, "across": 1, "steps": 1},
        {"down": 1, "across": 2, "steps": 1},
        {"down": 3, "across": 5, "steps": 4},
    ),
    smallest={"down": 1, "across": 1, "steps": 1},
    shown={"down": 1, "across": 1, "steps": 1},
    causes=(
        Cause(
            "rounded-to-half",
            "the sums are rounded to half",
            lambda o: any(o.looks_like("d", lambda case, k=k: half_sums(case)[k]) for k in (0, 1)),
            "a and b are of _Float16, but their products and sums have more digits: a half holds integers up to 2048.",
            "Which type does a sum have on its way from the matrix instruction to d?",
        ),
        Cause(
            "last-step-only",
            "only the last 16 products of each sum are there",
            lambda o: o.looks_like("d", last_step) or o.looks_like("d", first_step),
            "Each matrix instruction adds to its third operand. Without the sums so far as C, each step begins at "
            "0 again.",
            "What should be C of the second step?",
        ),
        Cause(
            "b-transposed",
            "this is a times b with every tile of b transposed",
            lambda o: o.looks_like("d", b_transposed),
            "A lane holds a row of A, but a column of B. Its elements of b are n apart.",
            "Of B[k][j], which of k and j is fixed by the lane's number modulo 16?",
        ),
        Cause(
            "k-disagrees",
            "A and B have different orders of k",
            lambda o: o.wave_size == 64 and o.looks_like("d", lambda case: disagree(case, 64)) or other_pairs(o),
            "Element e of a lane of A is multiplied by element e of the lanes of the same group of B. Any order of k "
            "will do, but it must be the same for both.",
            "Write down which k element 1 of lane 16 has in your x, and in your y.",
        ),
        Cause(
            "k-not-dealt-out",
            "some k are multiplied several times, and others never",
            some_k_again,
            "Where several groups of 16 lanes hold a row of A between them, each group has a k of its own.",
            "Write down which k element 0 has in lanes 0, 16, 32 and 48.",
        ),
        Cause(
            "rows-of-the-other-gpu",
            "the rows of d are in the order of the other architecture",
            rows_of_other_gpu,
            "MFMA keeps four neighbouring rows in one lane; WMMA has even rows in lanes 0 to 15 and odd ones above.",
            "Compare the last column of the lesson's table with your store, for each of the two.",
        ),
    ),
    requirements=(
        instructions(
            "no-matrix-instructions",
            "matrix instructions",
            at_least=1,
            title="the products are made by matrix instructions",
            next_step="MULTIPLY_ADD becomes one instruction; a loop over products does not.",
        ),
        executed(
            "too-many",
            "matrix instructions",
            at_most=products,
            title="one matrix instruction for each 16 x 16 x 16 products",
            next_step="How many steps of 16 are in k? Each of them needs one instruction in each wave.",
        ),
        executed(
            "too-few",
            "matrix instructions",
            at_least=products,
            title="all products are made by them",
            next_step="The kernel has a matrix instruction, but d does not come from it.",
        ),
    ),
    hints=(
        "Write the kernel for k = 16 first: fill x from a and y from b by the lesson's table, one MULTIPLY_ADD, store "
        "c by the table. Then put a loop over steps of 16 around it, with c as its own C.",
        "`threadIdx.x % 16` is the row of A that the lane holds and the column of B and D. `threadIdx.x / 16` is "
        "the group: on gfx942 it says which k (`4 * group + e`), on gfx1100 it says which rows of D (`2 * e + "
        "group`).",
        "With `first = elements == 4 ? 4 * group : 0` (4 elements: gfx942): `x[e] = a[row * k + step + first + e];`"
        " and `y[e] = b[(step + first + e) * n + column];` and `c[e]` belongs to the tile's row `registers == 4 ? 4"
        " * group + e : 2 * e + group`.",
    ),
)
