"""equal-nonzeros: a sparse matrix-vector product in equal shares of non-zeros, with carries and without atomics."""

import numpy as np

from gpulab.grading.case import Array, Case, Step, Value, blocks_for, no_inputs
from gpulab.grading.exercise import Cause, Exercise, multiple_of
from gpulab.grading.requirements import instructions, per_wave

COLUMNS = 50


def make(parameters, random):
    rows, longest, share, block = (parameters[name] for name in ("rows", "longest", "share", "block"))
    lengths = random.integers(0, 6, rows)
    lengths[random.random(rows) < 0.3] = 0
    lengths[rows // 2] = longest
    if rows > 3:
        lengths[[0, -1]] = 0, 3  # an empty row at the beginning, one with non-zeros at the end
    if rows > 8:
        lengths[4:7] = 0
    lengths[-1] = max(lengths[-1], 1)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype("int32")
    nonzeros = int(offsets[-1])
    columns = random.integers(0, COLUMNS, nonzeros).astype("int32")
    values = random.integers(1, 20, nonzeros).astype("float32")
    values[random.random(nonzeros) < 0.3] *= -1  # a sum below zero is one that a row has all the same
    x = random.permutation(np.arange(1, COLUMNS + 1)).astype("float32")
    if nonzeros >= 100:
        x += np.float32(0.25)  # a fraction, which an int would lose
    y, carry = results(offsets, values.astype("float64") * x[columns], share)
    threads = carry.size
    return Case(
        parameters,
        arguments=(
            Value("rows", np.int32(rows)),
            Value("nonzeros", np.int32(nonzeros)),
            Value("share", np.int32(share)),
            Array("offsets", offsets),
            Array("columns", columns),
            Array("values", values),
            Array("x", x),
            Array("y", np.zeros(rows, "float32"), y.astype("float32"), relative=1e-6),
            Array("carry", np.zeros(threads, "float32"), carry.astype("float32"), relative=1e-6),
        ),
        steps=(
            Step(
                "shares", (blocks_for(threads, block), 1, 1), (block, 1, 1),
                ("rows", "nonzeros", "share", "offsets", "columns", "values", "x", "y", "carry"),
            ),
            Step("add_carries", (blocks_for(rows, block), 1, 1), (block, 1, 1),
                 ("rows", "share", "offsets", "carry", "y")),
        ),
    )  # fmt: skip


def results(offsets, products, share):
    """The product, and what each share has of a row that goes on."""
    sums = np.concatenate([[0], np.cumsum(products)])
    y = sums[offsets[1:]] - sums[offsets[:-1]]
    begins = np.arange(0, products.size, share)
    ends = np.minimum(begins + share, products.size)
    row_begin = offsets[
        np.searchsorted(offsets, ends, side="right") - 1
    ]  # the last row that begins at the end or before
    carry = sums[ends] - sums[np.maximum(np.minimum(row_begin, ends), begins)]
    return y, carry


def of(case):
    """Offsets, products, and the size of a share."""
    offsets, columns, values, x = (case.array(name).data for name in ("offsets", "columns", "values", "x"))
    return offsets, values.astype("float64") * x[columns], case.parameters["share"]


def carries_missing(case):
    """y without what shares before the one in which a row ends have of it."""
    offsets, products, share = of(case)
    out = np.zeros(offsets.size - 1)
    for row in range(out.size):
        begin, end = offsets[row], offsets[row + 1]
        if begin < end:
            out[row] = products[max(begin, (end - 1) // share * share) : end].sum()
    return out


def below_zero_not_stored(case):
    """y if a share stores only those of its sums that are above zero."""
    return case.array("y").wanted - np.minimum(carries_missing(case), 0)


def of_whole_shares(case):
    """carry, if the sum of a share goes on from row to row."""
    _, products, share = of(case)
    return np.add.reduceat(products, np.arange(0, products.size, share))


def ended_not_stored(o):
    """Are wrong elements of y those of rows whose last non-zero is the last one of a share, or of the matrix?"""
    offsets, products, share = of(o.case)
    wrong = set(o.wrong_indices("y"))
    last = {
        row
        for row in range(offsets.size - 1)
        if offsets[row] < offsets[row + 1] and (offsets[row + 1] % share == 0 or offsets[row + 1] == products.size)
    }
    return o.guarded.fault is None and bool(wrong) and wrong <= last


RACE = ("race", "lane conflict")
LARGE = 1000

exercise = Exercise(
    id="equal-nonzeros",
    title="equal shares of non-zeros, with carries",
    lesson="25_irregular",
    section="Equal shares of non-zeros",
    kernel="shares",
    signatures={
        "shares": "int rows, int nonzeros, int share, const int* offsets, const int* columns, const float* values, "
        "const float* x, float* y, float* carry",
        "add_carries": "int rows, int share, const int* offsets, const float* carry, float* y",
    },
    minutes=35,
    make=make,
    owner=lambda case, index: None,
    reads=no_inputs,
    fixed_sizes="a matrix has at least one non-zero",
    cases=(
        {"rows": 60, "longest": 40, "share": 8, "block": 64},
        {"rows": 30, "longest": 7, "share": 5, "block": 128},
        {"rows": 9, "longest": 0, "share": 3, "block": 64},
        {"rows": 4, "longest": 1, "share": 4, "block": 64},
        {"rows": 1, "longest": 20, "share": 6, "block": 64},
        {"rows": 1, "longest": 1, "share": 4, "block": 64},
        {"rows": 700, "longest": 1500, "share": 8, "block": 128},
    ),
    promises=(multiple_of(64, "block"),),
    kept=("block", "share"),
    smallest={"rows": 1, "longest": 0, "share": 2, "block": 64},
    shown={"rows": 5, "longest": 4, "share": 4, "block": 64},
    requirements=(
        instructions(
            "atomics",
            r"(global|flat)_atomic",
            at_most=0,
            title="no atomic operations: each element of y and carry is stored by one thread",
            next_step="In which share does a row end? That thread alone stores y[row]; all others have a carry.",
        ),
        per_wave(
            "loads",
            r"(global|flat|buffer|s)_load",
            at_most=lambda case, arch: 70 + 8 * case.parameters["share"],
            when=lambda case: case.parameters["longest"] >= LARGE,
            shrinks=False,
            title="equal shares: a wave executes at most 8 loads for each non-zero of a share, and 70 more",
            next_step="A bisection over offsets finds the first row. Then a thread has its own non-zeros alone.",
        ),
    ),
    causes=(
        Cause(
            "stored-by-two",
            "two threads store to the same element of y",
            lambda o: o.fault is not None and o.fault.kind in RACE and o.fault.memory == "global",
            "A row that goes over several shares ends in one of them.",
            "Which threads have a part of the row, and in whose share is its last non-zero?",
            explains=RACE,
        ),
        Cause(
            "past-the-end",
            "non-zeros or rows are read that do not exist",
            lambda o: (
                (o.read_outside() or ("", 0))[0] in ("values", "columns", "offsets", "x") or bool(o.outside("carry"))
            ),
            "The last share may be shorter, and behind the last row there is no other one.",
            "Where does the last share end, and what does the thread do when its last row is complete?",
        ),
        Cause(
            "carries-missing",
            "the parts of a row in shares before are missing",
            lambda o: o.looks_like("y", carries_missing),
            "What add_carries adds is what stands in carry.",
            "What does carry[t] hold, where the last row of share t goes on?",
        ),
        Cause(
            "below-zero-not-stored",
            "sums below zero are not stored",
            lambda o: o.looks_like("y", below_zero_not_stored),
            "Values may be negative, and so may the sum of a row.",
            "Which numbers tell whether a row has non-zeros: its sum, or its offsets?",
        ),
        Cause(
            "sum-goes-on",
            "carry has the sums of whole shares, with the products of rows that end in them",
            lambda o: o.looks_like("carry", of_whole_shares),
            "A share may have the ends of several rows. Each row has a sum of its own, which begins at 0.",
            "When the sum of a row has been stored: with what does the sum of the next row begin?",
        ),
        Cause(
            "row-not-stored",
            "rows that end with a share are not stored",
            ended_not_stored,
            "A row whose last non-zero is the last one of a share ends in this share, and its sum is no carry.",
            "At which non-zero do you notice that a row has ended: at its own last one, or at the one behind it?",
        ),
        Cause(
            "carry-of-ended-row",
            "carries are not 0 where the last row of a share ends with it",
            lambda o: o.guarded.fault is None and not o.wrong("y").any() and bool(o.wrong("carry").any()),
            "y is right, because add_carries does not use these carries.",
            "What is left of the sum when the row has been stored?",
        ),
        Cause(
            "wrong-rows",
            "rows do not have the sum of their own products",
            lambda o: o.guarded.fault is None and bool(o.wrong("y").any()),
            "A share begins in the middle of a row, or of several that are empty; behind a row any number of empty "
            "ones "
            "can follow.",
            "Compute the row of the first non-zero of each share by hand, for a matrix with two empty rows in a row.",
        ),
    ),
    hints=(
        "Take the lesson's kernel. The bisection stays. What it adds to y by an atomic operation at the end of a share "
        "becomes the carry. And the first row of a share needs nothing special any more.",
        "A row ends at non-zero k if `k + 1 == end`. Then `y[row] = sum;` whether the row began in this share or "
        "before, and "
        "the sum begins at 0 again. Empty rows that follow are stepped over. After the loop: `carry[t] = sum;`",
        "`while (end == k + 1 && row + 1 < rows) end = offsets[++row + 1];` goes on to the next row that is not "
        "empty. The "
        "share ends at `min(first + share, nonzeros)`, and threads with `first >= nonzeros` return.",
    ),
)
