"""without-blas: two products of a matrix and a vector, as cuBLAS computes them, by kernels of one's own."""

import numpy as np

from gpulab.grading.exercise import Cause
from gpulab.grading.program import ProgramCase, ProgramExercise
from gpulab.grading.requirements import source


def by_columns(memory, rows, columns, lda):
    """The matrix as cuBLAS reads it: one column after the other, lda elements apart."""
    return memory[: columns * lda].reshape(columns, lda)[:, :rows].T


def by_rows(memory, rows, columns, lda):
    return memory[: rows * columns].reshape(rows, columns)


def without_gaps(memory, rows, columns, lda):
    return memory[: rows * columns].reshape(columns, rows).T


def usual(alpha, product, beta, before):
    return alpha * product + beta * before


def products(rows, columns, read=by_columns, combine=usual):
    """y and z; `read` and `combine` are for known mistakes."""
    lda = rows + 2
    memory = np.arange(columns * lda + rows * columns) % 7.0  # longer than needed, for readings that go too far
    a = read(memory, rows, columns, lda)
    x = np.arange(columns) % 5 + 1.0
    y = combine(2, a @ x, 3, np.full(rows, 100.0))
    z = combine(1, a.T @ y, -1, np.full(columns, 1000.0))
    return y, z


def lines(rows, columns, **mistake):
    """What the program prints."""
    y, z = products(rows, columns, **mistake)
    return "".join(f"{name} {' '.join(f'{value:g}' for value in values)}\n" for name, values in (("y", y), ("z", z)))


def like(**mistake):
    """Is the output what a program with this mistake prints?"""
    return lambda o: o.stdout == lines(o.case.parameters["rows"], o.case.parameters["columns"], **mistake)


def case(rows, columns):
    return ProgramCase(
        arguments=(str(rows), str(columns)),
        expected=lines(rows, columns),
        parameters={"rows": rows, "columns": columns},
        computed=tuple(values.tolist() for values in products(rows, columns)),
    )


def drawn(random):
    """Sums stay below 2**24, so that they are exact."""
    yield case(int(random.integers(2, 9)), int(random.integers(10, 100)))
    yield case(int(random.integers(65, 300)), int(random.integers(2, 8)))


exercise = ProgramExercise(
    id="without-blas",
    title="cuBLAS's matrix times vector, as a kernel",
    lesson="12_porting",
    section="Libraries",
    minutes=25,
    cases=(case(4, 3), case(5, 70), case(300, 4)),
    drawn=drawn,
    causes=(
        Cause(
            "missing-guard",
            "threads without a row or column work, too",
            lambda o: o.fault is not None and o.fault.kind == "out of bounds",
            "The last block has more threads than there are results left.",
            "How many results does each product have? Not the same number.",
            guard=("n",),
        ),
        Cause(
            "not-begun",
            "y and z still have their values of the start",
            like(combine=lambda alpha, product, beta, before: before),
            "No kernel has changed them.",
            "Begin with y: a kernel in which each thread computes one element.",
        ),
        Cause(
            "row-by-row",
            "the matrix is read row by row",
            like(read=by_rows),
            "cuBLAS uses Fortran's order: a matrix is stored column by column.",
            "Where in memory is the element to the right of a[0]?",
        ),
        Cause(
            "lda-forgotten",
            "the columns are used as if they were next to each other",
            like(read=without_gaps),
            "lda says how far apart two columns begin; it may be more than the rows.",
            "Compute the place of the first element of column 1, for 4 rows and lda 6.",
        ),
        Cause(
            "beta-on-the-sum",
            "beta is multiplied with the product, not with the old y",
            like(combine=lambda alpha, product, beta, before: (alpha + beta) * product),
            "y = alpha A x + beta y: the last y is the old one.",
            "What has to be read before y is written?",
        ),
        Cause(
            "beta-forgotten",
            "what was in y and z before is lost",
            like(combine=lambda alpha, product, beta, before: alpha * product),
            "y = alpha A x + beta y: with beta other than 0 the old y is needed.",
            "Look at the arguments after x in the call of cuBLAS.",
        ),
        Cause(
            "alpha-forgotten",
            "the product is not multiplied with alpha",
            like(combine=lambda alpha, product, beta, before: product + beta * before),
            "y = alpha A x + beta y.",
            "Look at the argument after the sizes in the call of cuBLAS.",
        ),
    ),
    requirements=(
        source(
            "library",
            r"\b(?:cu|hip|roc)blas\w*",
            at_most=0,
            what="calls of a BLAS library",
            title="no BLAS library is called",
            next_step="The target machine has no such library: write the kernel.",
        ),
    ),
    hints=(
        "Each thread computes one element of the result: of y it has as many as the matrix has rows, of z as many "
        "as it "
        "has columns.",
        "The element in row r and column c is a[c * lda + r]. For y a thread runs over c, for z (the transposed "
        "matrix) "
        "over r.",
        "y[r] = alpha * sum + beta * y[r], in one thread, with sum over c of a[c * lda + r] * x[c]. For z: the "
        "same with r "
        "and c changed, and y in the place of x.",
    ),
)
