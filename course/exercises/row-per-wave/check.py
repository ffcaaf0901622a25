"""row-per-wave: a sparse matrix-vector product, in which the lanes of a wave share a row."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, no_inputs, sentinel
from gpulab.grading.exercise import Cause, Exercise, Requirement, multiple_of
from gpulab.grading.requirements import executed, memory_lines, row_by_its_wave

COLUMNS = 32
"""A vector of one cache line, so that the lines of the matrix alone count."""


def make(parameters, random):
    rows, longest, block, wave = (parameters[name] for name in ("rows", "longest", "block", "wave"))
    lengths = random.integers(0, longest + 1, rows)
    if rows:
        lengths[random.integers(rows)] = longest
    if rows > 4:
        lengths[random.permutation(rows)[: rows // 4]] = 0
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype("int32")
    nonzeros = int(offsets[-1])
    columns = random.integers(0, COLUMNS, nonzeros).astype("int32")
    values = random.integers(1, 20, nonzeros).astype("float32")
    x = random.permutation(np.arange(1, COLUMNS + 1)).astype("float32")
    if nonzeros >= 100:
        x += np.float32(0.25)  # a fraction, which an int would lose
    row = np.repeat(np.arange(rows), lengths)
    y = np.bincount(row, values.astype("float64") * x[columns], rows)
    return Case(
        parameters,
        grid=(blocks_for(rows * wave, block), 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("rows", np.int32(rows)),
            Array("offsets", offsets),
            Array("columns", columns),
            Array("values", values),
            Array("x", x),
            Array("y", sentinel("float32", rows), y.astype("float32"), relative=1e-6),
        ),
    )


def product(case, keep=None, through=True, last=0, factor=None):
    """The product with something else: only the non-zeros of a row for which `keep` (of their place in it) is True,
    x without a look at columns, rows that end `last` places later, or a `factor` in place of x."""
    offsets, columns, values, x = (case.array(name).data for name in ("offsets", "columns", "values", "x"))
    x = x if factor is None else factor
    out = np.zeros(offsets.size - 1)
    for row in range(out.size):
        places = np.arange(offsets[row], min(offsets[row + 1] + last, values.size))
        if keep is not None:
            places = places[keep(places - offsets[row])]
        out[row] = (values[places].astype("float64") * x[columns[places] if through else places % x.size]).sum()
    return out


def leaves(**changed):
    return lambda o: o.looks_like("y", lambda case: product(case, **changed))


def first_only(o):
    """Are only the first non-zeros of each row counted, one for each lane?"""
    return o.looks_like("y", lambda case: product(case, keep=lambda place: place < o.wave_size))


def lanes_missing(o):
    """Are only the sums of the first lanes of each wave counted: of one, or of a half?"""
    wave = o.wave_size
    return any(
        o.looks_like("y", lambda case, most=most: product(case, keep=lambda place: place % wave < most))
        for most in (1, wave // 2)
    )


def empty_rows_left(o):
    """Are the rows that were never written the empty ones?"""
    left = set(o.unwritten_indices("y"))
    empty = set(np.flatnonzero(np.diff(o.case.array("offsets").data) == 0).tolist())
    return o.fault is None and bool(left) and left <= empty


def reads_one_past(o):
    """Was the first non-zero read that does not exist, the one behind the last row?"""
    place = o.read_outside()
    return place is not None and place[0] in ("columns", "values") and place[1] == o.case.array("values").data.size


def long_enough(case):
    """A case whose rows are worth counting."""
    return case.parameters["longest"] >= 800


def steps(case):
    """How often waves go through their loops, all rows together."""
    return int(np.ceil(np.diff(case.array("offsets").data) / case.parameters["wave"]).sum())


def owner(case, index):
    """Lane 0 of wave k of the grid stores row k."""
    thread = index * case.parameters["wave"]
    return (thread // case.block[0], 0, 0), (thread % case.block[0], 0, 0)


exercise = Exercise(
    id="row-per-wave",
    title="a sparse product with a row for each wave",
    lesson="25_irregular",
    section="A row for each wave",
    kernel="spmv",
    signature="int rows, const int* offsets, const int* columns, const float* values, const float* x, float* y",
    minutes=20,
    make=make,
    owner=owner,
    reads=no_inputs,
    by_wave=True,
    cases=(
        {"rows": 30, "longest": 150, "block": 256},
        {"rows": 9, "longest": 300, "block": 64},
        {"rows": 13, "longest": 5, "block": 128},
        {"rows": 2, "longest": 1, "block": 64},
        {"rows": 1, "longest": 64, "block": 256},
        {"rows": 3, "longest": 0, "block": 64},
        {"rows": 8, "longest": 900, "block": 128},
    ),
    promises=(multiple_of(64, "block"),),
    smallest={"rows": 1, "longest": 0, "block": 64},
    shown={"rows": 4, "longest": 3, "block": 64},
    requirements=(
        executed(
            "loads",
            "global loads",
            at_most=lambda case, arch: 3 * steps(case) + 8 * case.parameters["rows"] + 20,
            title="the lanes of a wave share a row: three loads for each step of a wave along its row, and a few more",
            when=long_enough,
            shrinks=False,
            next_step="A lane that goes along a whole row needs as many steps as the row is long. Which non-zeros does "
            "lane 0 take, and which lane 1?",
        ),
        memory_lines(
            minimum=lambda case: (
                2 * case.array("values").data.size / 32 + 3 * steps(case) + 4 * case.parameters["rows"] + 4
            ),
            at_most=1.5,
            when=long_enough,
            shrinks=False,
            title="neighbouring lanes load neighbouring non-zeros: at most 1.5 times the fewest cache lines",
        ),
        row_by_its_wave("y"),
    ),
    causes=(
        Cause(
            "too-many-rows",
            "waves without a row work too",
            lambda o: bool(o.outside("y")) or (o.read_outside() or ("", 0))[0] == "offsets",
            "Whole blocks are launched, so there can be more waves than rows.",
            "Let all threads return whose row does not exist.",
            guard=("rows",),
        ),
        Cause(
            "empty-rows",
            "empty rows are never written",
            empty_rows_left,
            "The product of an empty row is 0, and it has to be stored as well.",
            "Which condition keeps the wave of an empty row from its store?",
        ),
        Cause(
            "without-columns",
            "the elements of x are taken one after the other, without a look at columns",
            leaves(through=False),
            "A non-zero is multiplied by the element of x whose number is in columns.",
            "Which two arrays does `k` index, and which one does it not?",
        ),
        Cause(
            "values-alone",
            "the values of a row are added up, without the elements of x",
            lambda o: o.looks_like("y", lambda case: product(case, factor=np.ones(COLUMNS))),
            "A non-zero is multiplied by an element of x before it is added.",
            "Which three arrays does one term of the sum come from?",
        ),
        Cause(
            "from-the-first-row",
            "each row has the non-zeros of all rows before it, too",
            lambda o: o.looks_like("y", lambda case: np.cumsum(product(case))),
            "Row r begins at offsets[r].",
            "At which non-zero does lane 0 of row 1 begin?",
        ),
        Cause(
            "one-too-many",
            "each row has the first non-zero of the next row, too",
            lambda o: o.looks_like("y", lambda case: product(case, last=1)) or reads_one_past(o),
            "Row r ends before offsets[r + 1].",
            "Is the non-zero at offsets[r + 1] one of row r?",
        ),
        Cause(
            "first-only",
            "only the first non-zero of each lane is counted",
            first_only,
            "A row can have more non-zeros than the wave has lanes.",
            "Let the lanes go on along the row, in steps of warpSize.",
        ),
        Cause(
            "lanes-missing",
            "the sums of some lanes are missing",
            lanes_missing,
            "Each lane of the wave has a sum of its own: 64 on one device, 32 on the other.",
            "From where to where do the steps of your shuffles go?",
        ),
        Cause(
            "for-64-lanes",
            "each sum is counted twice on waves of 32",
            lambda o: o.wave_size == 32 and o.looks_like("y", lambda case: 2 * product(case)),
            "A shuffle that reaches beyond the wave gives a lane its own value back. With 64 lanes the same text is "
            "right.",
            "What is the first step of the shuffles, on waves of 32?",
        ),
        Cause(
            "for-32-lanes",
            "32 stands where the wave size belongs",
            lambda o: o.wave_size == 64 and o.fault is None and o.uses(r"[%/+<]=?\s*32\b|>>\s*5\b|&\s*31\b|= 16\b"),
            "This wave has 64 lanes, and the grid has a wave for each row.",
            "Let row, lane and steps follow from warpSize.",
        ),
        Cause(
            "written-for-64",
            "64 stands where the wave size belongs",
            lambda o: o.wave_size == 32 and o.fault is None and o.uses(r"[%/+<]=?\s*64\b|>>\s*6\b|&\s*63\b|= 32\b"),
            "This wave has 32 lanes, and the grid has a wave for each row.",
            "Let row, lane and steps follow from warpSize.",
        ),
    ),
    hints=(
        "Wave number and lane follow from the number of the thread and warpSize. The wave's number is the row; it ends "
        "at once if there is no such row.",
        "Lane l starts at `offsets[row] + l` and goes on in steps of `warpSize` up to `offsets[row + 1]`. Each lane "
        "has a "
        "sum; shuffles add them up, as in the sum of a wave of lesson 04, and lane 0 stores it.",
        "`for (int k = offsets[row] + lane; k < offsets[row + 1]; k += warpSize) sum += values[k] * x[columns[k]];` "
        "then "
        "`for (int step = warpSize / 2; step > 0; step /= 2) sum += __shfl_down(sum, step);`",
    ),
)
