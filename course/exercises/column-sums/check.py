"""column-sums: the sums of a matrix's columns, by fewer threads than there are columns."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, distinct, sentinel, thread_of
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.requirements import memory_lines, work_shared

COLUMNS_PER_THREAD = 4


def make(parameters, random):
    rows, n, block = parameters["rows"], parameters["n"], parameters["block"]
    matrix = distinct(random, (rows, n)) * np.float32(0.25)  # fractions, which an int would lose
    return Case(
        parameters,
        grid=(blocks_for(n, COLUMNS_PER_THREAD * block), 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("rows", np.int32(rows)),
            Value("n", np.int32(n)),
            Array("m", matrix),
            Array("sums", sentinel("float32", n), matrix.sum(axis=0, dtype="float64").astype("float32"), relative=1e-5),
        ),
    )


def as_if_by_columns(case):
    """What comes out if the matrix is taken to lie column by column."""
    rows, n = case.parameters["rows"], case.parameters["n"]
    return case.array("m").data.reshape(n, rows).sum(axis=1, dtype="float64")


def running_on(case):
    """What comes out if a thread's sum goes on from one of its columns to the next."""
    sums = case.array("sums").wanted.astype("float64")
    result = sums.copy()
    for column in range(case.threads, len(sums)):
        result[column] += result[column - case.threads]
    return result


def one_row_less(o):
    """Are all sums those without the first row, or without the last one?"""
    return any(
        o.looks_like("sums", lambda case, part=part: case.array("m").data[part].sum(axis=0, dtype="float64"))
        for part in (slice(1, None), slice(None, -1))
    )


def in_integers(case):
    """What comes out if the elements are made integers before they are added up."""
    return np.trunc(case.array("m").data).sum(axis=0, dtype="float64")


def fewest_lines(case):
    """Every element is read once, every sum written once; rows begin at lines."""
    return (case.parameters["rows"] + 1) * case.parameters["n"] / 32


def rows_added(o):
    """Are the first sums those of the rows?"""
    matrix, found = o.case.array("m").data, o.found("sums")
    few = min(matrix.shape)
    return few > 1 and o.fault is None and bool(np.allclose(found[:few], matrix.sum(axis=1)[:few], rtol=1e-5))


exercise = Exercise(
    id="column-sums",
    title="sums of columns, with few threads",
    lesson="05_global_memory",
    section="Rows and columns",
    kernel="column_sums",
    signature="int rows, int n, const float* m, float* sums",
    minutes=15,
    make=make,
    cases=(
        {"rows": 3, "n": 1000, "block": 64},
        {"rows": 17, "n": 1024, "block": 64},
        {"rows": 40, "n": 2048, "block": 128},
        {"rows": 5, "n": 63, "block": 64},
        {"rows": 1, "n": 513, "block": 64},
        {"rows": 7, "n": 1, "block": 64},
        {"rows": 4, "n": 0, "block": 64},
    ),
    smallest={"rows": 1, "n": 1, "block": 4},
    shown={"rows": 3, "n": 24, "block": 4},
    owner=lambda case, index: thread_of(case, index % case.threads),
    requirements=(
        memory_lines(
            minimum=fewest_lines,
            when=lambda case: (
                case.parameters["n"] % 64 == 0 and case.parameters["n"] >= 512 and case.parameters["block"] >= 64
            ),
            next_step="run.coalescing() shows which lines a load requests. Which columns do neighbouring threads read "
            "at the same time, and where do these lie in a row?",
        ),
        work_shared(rounds=lambda case: COLUMNS_PER_THREAD),
    ),
    causes=(
        Cause(
            "columns-missing",
            "each thread does one column, and the others are never written",
            lambda o: (
                o.fault is None
                and bool(o.unwritten_indices("sums"))
                and o.unwritten_indices("sums") == tuple(range(o.case.threads, o.case.parameters["n"]))
            ),
            "There are fewer threads than columns here, so that most threads have several.",
            "Lesson 02 has the loop for more elements than threads.",
        ),
        Cause(
            "column-by-column",
            "the matrix is read as if it were stored column by column",
            lambda o: o.looks_like("sums", as_if_by_columns),
            "The matrix is stored row by row: the element below is n elements further on.",
            "Write down the indices of the first column's elements for rows = 3, n = 4.",
        ),
        Cause(
            "one-row-less",
            "the first row or the last one is left out",
            lambda o: o.case.parameters["rows"] > 1 and one_row_less(o),
            "The rows have the numbers 0 to rows - 1.",
            "Which rows does your loop go through, for rows = 3?",
        ),
        Cause(
            "fractions-lost",
            "the fractions of the elements are lost, or that of the sum",
            lambda o: (
                o.looks_like("sums", in_integers)
                or o.looks_like("sums", lambda case: np.trunc(case.array("sums").wanted))
            ),
            "An integer holds no fraction: it is lost where a float becomes an int.",
            "Which types do your variables have?",
        ),
        Cause(
            "sum-not-reset",
            "a thread's sum goes on from one column to the next",
            lambda o: o.looks_like("sums", running_on),
            "The first column of each thread is right, the later ones contain the earlier ones.",
            "Where must the sum become 0 again?",
        ),
        Cause(
            "rows-added",
            "rows are added up, not columns",
            rows_added,
            "There is a sum for each of the n columns, and it has as many terms as there are rows.",
            "For rows = 2 and n = 3: which elements belong to sums[0]?",
        ),
    ),
    hints=(
        "A thread sums one column at a time, from the first row to the last. In a step of that loop, which "
        "elements do the "
        "threads of a wave read? They should be neighbours in memory.",
        "So neighbouring threads have neighbouring columns. With T threads in the grid, thread t has the "
        "columns t, t + T, "
        "t + 2T, ...; not a run of neighbouring columns for itself.",
        "`for (int c = blockIdx.x * blockDim.x + threadIdx.x; c < n; c += gridDim.x * blockDim.x) { float sum = 0;`"
        " ... `sum += m[r * n + c];` ... `sums[c] = sum; }`",
    ),
)
