"""without-blas: two products of a matrix and a vector, as cuBLAS computes them, by kernels of one's own."""

import numpy as np

from gpulab.grading.exercise import Cause
from gpulab.grading.program import ProgramCase, ProgramExercise
from gpulab.grading.requirements import kernels_in_order, source


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
        given=((np.arange(columns * (rows + 2)) % 7.0).tolist(), (np.arange(columns) % 5 + 1.0).tolist()),
    )


def drawn(random):
    """Sums stay below 2**24, so that they are exact."""
    yield case(int(random.integers(2, 9)), int(random.integers(10, 100)))
    yield case(int(random.integers(65, 300)), int(random.integers(2, 8)))


def other_sizes(o):
    """Is the output that for 4 rows, 3 columns, or both, where others were asked for?"""
    rows, columns = o.case.parameters["rows"], o.case.parameters["columns"]
    return o.stdout != o.case.expected and o.stdout in [lines(4, 3), lines(4, columns), lines(rows, 3)]


def factors(o):
    """For y and z the factors (of the product, of the old values) that they have; None if there are no such numbers.

    The product for z is that with the y that was printed.
    """
    rows, columns = o.case.parameters["rows"], o.case.parameters["columns"]
    try:
        y, z = (
            np.array(line.removeprefix(name).split(), "float64")
            for name, line in zip("yz", o.stdout.splitlines(), strict=True)
        )
    except ValueError:
        return None
    if y.shape != (rows,) or z.shape != (columns,):
        return None
    lda = rows + 2
    a = by_columns(np.arange(columns * lda) % 7.0, rows, columns, lda)
    found = []
    for result, product, before in ((y, a @ (np.arange(columns) % 5 + 1.0), 100.0), (z, a.T @ y, 1000.0)):
        parts = np.stack([product, np.full(len(product), before)], axis=1)
        if len(result) < 3 or np.linalg.matrix_rank(parts) < 2 or not np.isfinite(parts).all():
            return None
        numbers = np.rint(np.linalg.lstsq(parts, result, rcond=None)[0])
        if not np.allclose(parts @ numbers, result, rtol=1e-5, atol=0):
            return None
        found.append(tuple(int(number) for number in numbers))
    return tuple(found)


def past_the_results(o):
    """Did a thread without a result read or write the element that its number gives?"""
    fault, rows, columns = o.fault, o.case.parameters["rows"], o.case.parameters["columns"]
    if fault is None or fault.kind != "out of bounds" or fault.thread is None or fault.nearest is None:
        return False
    launches = [each for each in o.launches if each.kernel == fault.kernel]
    if not launches or launches[0].grid[1:] != (1, 1) or launches[0].block[1:] != (1, 1):
        return False
    number = number_of_thread(o)
    index, lda = (fault.address - fault.nearest.address) // 4, rows + 2
    of_first = o.launches[0].kernel == fault.kernel  # the first launch is for y
    blocks = [-(-results // launches[0].block[0]) for results in (rows, columns)]  # with a thread for each result
    of_y = number >= rows and launches[0].grid[0] == blocks[0] and (index - number) % lda == 0
    of_z = number >= columns and launches[0].grid[0] == blocks[1] and number in (index, index // lda)
    return of_y or (of_z and not (of_first and len(launches) == 1))


def number_of_thread(o):
    """The number in the grid of the thread that was stopped."""
    block = next(each for each in o.launches if each.kernel == o.fault.kernel).block[0]
    return o.fault.workgroup[0] * block + o.fault.thread[0]


def along_a_row(o):
    """Was the thread of a row of A stopped behind A, along a row that begins `lda` elements behind the one before?"""
    fault, rows, columns = o.fault, o.case.parameters["rows"], o.case.parameters["columns"]
    if fault is None or fault.kind != "out of bounds" or fault.access != "read":
        return False
    if fault.thread is None or fault.nearest is None or fault.nearest.size != 4 * columns * (rows + 2):
        return False
    if not o.launches or o.launches[0].kernel != fault.kernel:
        return False
    number, index = number_of_thread(o), (fault.address - fault.nearest.address) // 4
    return number < rows and 0 <= index - number * (rows + 2) < columns


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
            past_the_results,
            "The last block has more threads than there are results left.",
            "How many results does each product have? Not the same number.",
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
            lambda o: like(read=by_rows)(o) or along_a_row(o),
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
        Cause(
            "arguments-ignored",
            "this is the result for 4 rows or 3 columns, and not for the arguments",
            other_sizes,
            "The sizes are the program's arguments; 4 and 3 are those without arguments.",
            "Which of argv is which size, and when is it looked at?",
        ),
        Cause(
            "one-not-begun",
            "one of the two results still has its values of the start",
            lambda o: (found := factors(o)) is not None and (0, 1) in found,
            "Its kernel was not launched, or did not change it.",
            "Which of the two is it, and which launch is to compute it?",
        ),
        Cause(
            "other-factors",
            "the product or the old values have another factor than they should",
            lambda o: (found := factors(o)) is not None and found != ((2, 3), (1, -1)),
            "The product itself is right. For y alpha is 2 and beta is 3, for z they are 1 and -1.",
            "Look at each number that the host passes, and at the place of its parameter.",
        ),
    ),
    requirements=(
        kernels_in_order(
            next_step="The second product needs the result of the first. Which stream is each launch in, and what makes "
            "the second wait?",
        ),
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
        "The element in row r and column c is `a[c * lda + r]`. For y a thread runs over c, for z (the transposed "
        "matrix) over r.",
        "`y[r] = alpha * sum + beta * y[r];` in one thread, with the sum over c of `a[c * lda + r] * x[c]`. For z: "
        "the same with r and c exchanged, and y in the place of x.",
    ),
)
