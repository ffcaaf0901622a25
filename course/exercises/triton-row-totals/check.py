"""triton-row-totals: totals of rows from two-dimensional blocks, which several programs add to."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, no_inputs
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.requirements import modelled_time

SIDE, WARPS = 32, 4


def make(parameters, random):
    rows, columns = parameters["rows"], parameters["columns"]
    x = random.integers(1, 1000, (rows, columns)).astype("int32")
    if rows > 4:  # every other row has totals of more than 24 bits, which no float32 holds
        x[1::2] = random.integers(-1000, 1_900_000_000 // columns, x[1::2].shape)
    return Case(
        parameters,
        grid=(blocks_for(rows, SIDE), blocks_for(columns, SIDE), 1),
        block=(WARPS * parameters["wave"], 1, 1),
        arguments=(
            Array("x", x),
            Array("total", np.zeros(rows, "int32"), x.sum(axis=1, dtype="int32")),
            Value("rows", np.int32(rows)),
            Value("columns", np.int32(columns)),
        ),
    )


def other_axis(case):
    """Each block adds the totals of its columns to the rows with their numbers in the block."""
    x = case.array("x").data
    found = np.zeros(-(-len(x) // SIDE) * SIDE, "int32")
    for row in range(0, x.shape[0], SIDE):
        for column in range(0, x.shape[1], SIDE):
            sums = x[row : row + SIDE, column : column + SIDE].sum(axis=0)
            found[row : row + len(sums)] += sums
    return found[: len(x)]


def from_the_next_row(o):
    """Are the totals those of whole blocks, beyond the end of a row, as far as the matrix has what follows?"""
    x = o.case.array("x").data
    width = -(-x.shape[1] // SIDE) * SIDE
    if width == x.shape[1]:
        return False
    flat, starts = x.reshape(-1), np.arange(len(x)) * x.shape[1]
    known = starts + width <= flat.size
    found = o.found("total")[known]
    return bool(known.any()) and all(
        total == flat[start : start + width].sum() for total, start in zip(found, starts[known], strict=True)
    )


def rounded(o):
    """Are all totals nearly right, and the wrong ones too large for the 24 bits of a float32?"""
    wrong, wanted = o.wrong("total"), o.case.array("total").wanted.astype("int64")
    size = np.abs(o.case.array("x").data.astype("int64")).sum(axis=1)
    near = np.abs(o.found("total") - wanted) <= size * 2.0**-18
    return o.fault is None and bool(wrong.any() and near.all() and (size[wrong] >= 2**24).all())


def lost(o):
    """Do several programs use the same element, and not by atomic operations?"""
    fault = o.fault
    return fault is not None and fault.kind == "race" and fault.memory == "global" and o.case.grid[1] > 1


exercise = Exercise(
    id="triton-row-totals",
    title="totals of rows, from several programs",
    lesson="19_triton",
    section="Reductions",
    language="triton",
    kernel="row_totals",
    signature="x, total, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr",
    expressions=(f"row_totals(*i32:16, *i32:16, i32, i32, ROWS={SIDE}, COLUMNS={SIDE})",),
    minutes=20,
    make=make,
    by_wave=True,
    cases=(
        {"rows": 32, "columns": 32},
        {"rows": 40, "columns": 50},
        {"rows": 64, "columns": 64},
        {"rows": 5, "columns": 100},
        {"rows": 100, "columns": 5},
        {"rows": 1, "columns": 1},
        {"rows": 32, "columns": 6_400},
    ),
    smallest={"rows": 1, "columns": 1},
    shown={"rows": 4, "columns": 5},
    reads=no_inputs,
    instruction_limit=4_000,
    owner=lambda case, index: None,
    requirements=(
        modelled_time(
            "work-not-shared",
            at_most=lambda case, arch: 200.0,
            title="the programs of a row share its columns: none needs more than 4,000 instructions",
            next_step="The grid has a program for each block of columns. Which columns belong to this one?",
        ),
    ),
    causes=(
        Cause(
            "not-atomic",
            "programs use the same total, without an atomic operation",
            lost,
            "All programs of a row of blocks add to the same totals. Between the load and the store of one of them, "
            "another one may store.",
            "Which function of tl loads, adds and stores in one step?",
            explains=("race",),
        ),
        Cause(
            "wrong-axis",
            "the sum goes along the other axis",
            lambda o: o.looks_like("total", other_axis),
            "axis=0 adds what stands in one column, axis=1 what stands in one row.",
            "The shape that remains is that of the axis that was not summed. Which one do you want?",
        ),
        Cause(
            "columns-without-mask",
            "a block takes elements beyond the end of its rows",
            from_the_next_row,
            "Behind the last element of a row stands the first one of the next row.",
            "The mask of the load has two conditions, one for each axis.",
        ),
        Cause(
            "sums-in-float",
            "large totals are nearly right: they were rounded, as sums of floats are",
            rounded,
            "A float32 has 24 bits. A sum of integers is exact only if all of it is done in integers.",
            "Of which type are your block and its sums? Where do they become floats?",
        ),
        Cause(
            "rows-without-mask",
            "a program uses rows that the matrix does not have",
            lambda o: o.read_outside() is not None or bool(o.written_past("total")),
            "There are whole blocks alone; the last one has more rows than are left.",
            "The load and the addition take a mask. Which rows exist?",
        ),
    ),
    hints=(
        "The block of a program is a matrix. Its offsets come of row numbers and column numbers, as in NumPy: "
        "`row[:, None] * columns + column[None, :]`.",
        "`tl.sum(block, axis=1)` gives one total for each row of the block. Elements that do not exist count as 0: "
        "the load takes other=0.",
        "Several programs add to the same total, so it takes `tl.atomic_add(total + row, sums, mask=row < rows)`.",
    ),
)
