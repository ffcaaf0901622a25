"""quantised-rows: a matrix-vector product of int8 weights with a scale for each row, by dot products of four bytes."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, no_inputs, sentinel
from gpulab.grading.exercise import Cause, Exercise, Requirement, multiple_of
from gpulab.grading.requirements import executed, row_by_its_wave


def packed(numbers):
    """Four int8 in each int32, the first in the lowest byte."""
    return np.ascontiguousarray(numbers).view("int32")


def make(parameters, random):
    rows, columns, block, wave = (parameters[name] for name in ("rows", "columns", "block", "wave"))
    w = random.integers(-128, 128, (rows, columns)).astype("int8")
    x = random.integers(-128, 128, columns).astype("int8")
    if columns:  # one of the lowest numbers in each row, too, and in the vector
        w[np.arange(rows), random.integers(0, columns, rows)] = -128
        x[random.integers(columns)] = -128
    scales = (random.integers(10, 1000, rows) / 1000).astype("float32")
    x_scale = np.float32(random.integers(10, 1000) / 1000)
    sums = w.astype("int64") @ x.astype("int64")
    return Case(
        parameters,
        grid=(blocks_for(rows * wave, block), 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("rows", np.int32(rows)),
            Value("columns", np.int32(columns)),
            Array("w", packed(w)),
            Array("scales", scales),
            Array("x", packed(x)),
            Value("x_scale", x_scale),
            Array(
                "y", sentinel("float32", rows), (sums * scales.astype("float64") * float(x_scale)).astype("float32"),
                relative=1e-6, absolute=1e-6,
            ),
        ),
    )  # fmt: skip


def bytes_of(case, signed=True):
    kind = "int8" if signed else "uint8"
    return (case.array(name).data.view(kind).astype("int64") for name in ("w", "x"))


def product(case, signed=True, keep=None, scales=None, x_scale=True, lowest=-128):
    """The product with something else: bytes without a sign, only the words of a row for which `keep` is True, other
    scales (an array), without the vector's scale, or with another number instead of -128."""
    w, x = (np.where(each == -128, lowest, each) for each in bytes_of(case, signed))
    if keep is not None:
        x = x * np.repeat(keep(np.arange(x.size // 4)), 4)
    sums = (w * x).sum(axis=1) if w.size else np.zeros(case.parameters["rows"])
    scales = case.array("scales").data if scales is None else scales
    factor = next(argument.value for argument in case.arguments if argument.name == "x_scale") if x_scale else 1
    return sums * scales.astype("float64") * float(factor)


def leaves(**changed):
    return lambda o: o.looks_like("y", lambda case: product(case, **changed))


def lanes_missing(o):
    """Are only the words counted that the first lane of a wave, or its first 32, take in their loop?"""
    wave = o.wave_size
    return any(
        o.looks_like("y", lambda case, most=most: product(case, keep=lambda word: word % wave < most))
        for most in (1, wave // 2)
    )


def row_of_block(o):
    """Is the scale that of the wave's number in its block?"""
    waves = o.case.block[0] // o.wave_size

    def predicted(case):
        scales = case.array("scales").data
        return product(case, scales=scales[np.arange(len(scales)) % waves])

    return o.looks_like("y", predicted)


def nearly_right(o):
    """Are all results right to a thousandth of a per cent of the sum of the absolute values?"""
    if o.fault is not None or not o.wrong("y").any() or o.untouched("y").any():
        return False
    w, x = bytes_of(o.case)
    factor = next(argument.value for argument in o.case.arguments if argument.name == "x_scale")
    size = np.abs(w * x).sum(axis=1) * o.case.array("scales").data.astype("float64") * float(factor)
    return bool((np.abs(o.found("y") - o.case.array("y").wanted.astype("float64")) < 1e-5 * size).all())


def steps(case):
    """How many words of four bytes a lane has at most."""
    return -(-case.parameters["columns"] // 4 // case.parameters["wave"])


def owner(case, index):
    """Lane 0 of wave k of the grid stores row k."""
    thread = index * case.parameters["wave"]
    return (thread // case.block[0], 0, 0), (thread % case.block[0], 0, 0)


exercise = Exercise(
    id="quantised-rows",
    title="int8 weights with a scale for each row",
    lesson="23_numbers",
    section="A quantised matrix-vector product",
    kernel="product",
    signature="int rows, int columns, const int* w, const float* scales, const int* x, float x_scale, float* y",
    minutes=25,
    make=make,
    owner=owner,
    by_wave=True,
    cases=(
        {"rows": 10, "columns": 1000, "block": 256},
        {"rows": 5, "columns": 256, "block": 128},
        {"rows": 3, "columns": 516, "block": 64},
        {"rows": 7, "columns": 128, "block": 256},
        {"rows": 2, "columns": 4, "block": 64},
        {"rows": 1, "columns": 64, "block": 64},
        {"rows": 3, "columns": 0, "block": 64},
        {"rows": 100, "columns": 2048, "block": 256},
    ),
    promises=(multiple_of(4, "columns"), multiple_of(64, "block")),
    smallest={"rows": 1, "columns": 4, "block": 64},
    shown={"rows": 3, "columns": 16, "block": 64},
    reads=no_inputs,
    requirements=(
        executed(
            "dot-products",
            r"v_dot4",
            at_least=lambda case, arch: case.parameters["rows"] * steps(case),
            at_most=lambda case, arch: 2 * case.parameters["rows"] * steps(case),
            title="the lanes of a wave share its row and take four bytes at a time by a dot product (v_dot4)",
            when=lambda case: case.parameters["columns"] >= 256 and case.parameters["rows"] > 0,
            next_step="Too few: the bytes are multiplied one by one. Too many: lanes of a wave are idle, since one "
            "instruction does four bytes in each of its active lanes. Which words of its row does a lane take?",
        ),
        row_by_its_wave("y"),
    ),
    causes=(
        Cause(
            "too-many-rows",
            "waves without a row work too",
            lambda o: bool(o.outside("y")) or (o.fault is not None and o.fault.kind == "out of bounds"),
            "Whole blocks are launched, so there can be more waves than rows.",
            "Let a wave return whose row does not exist; and count columns in words of four.",
            guard=("rows",),
        ),
        Cause(
            "reads-past-end",
            "words behind the end of w or x are read",
            lambda o: (o.read_outside() or ("", 0))[0] in ("w", "x"),
            "Either the row or the word does not exist. Four columns are one word, so a row has columns / 4 of them.",
            "Which rows and words does the first wave without a row use? And the first and last lane with one?",
        ),
        Cause(
            "bytes-unsigned",
            "the bytes are taken as numbers from 0 to 255",
            leaves(signed=False),
            "Weights are signed: the byte 0xFF is -1.",
            "DOT4 in the cell is signed. Where else do you take a byte out of a word?",
        ),
        Cause(
            "lowest-byte",
            "the byte -128 is taken as another number",
            lambda o: any(o.looks_like("y", lambda case, n=n: product(case, lowest=n)) for n in (-127, 127, 128, 0)),
            "A signed byte goes from -128 to 127: it has a number below zero without its counterpart above.",
            "What do you do to a byte before it is multiplied? Is that right for -128?",
        ),
        Cause(
            "first-words-only",
            "only the first word of each lane is counted",
            lambda o: o.looks_like("y", lambda case: product(case, keep=lambda word: word < case.parameters["wave"])),
            "A row can have more words than the wave has lanes.",
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
            "vector-scale-missing",
            "the scale of the vector is missing",
            leaves(x_scale=False),
            "A product of two quantised numbers has both of their scales.",
            "What does the value 1 of x stand for?",
        ),
        Cause(
            "row-scale-missing",
            "the scale of the row is missing",
            lambda o: o.looks_like("y", lambda case: product(case, scales=np.ones(case.parameters["rows"], "float32"))),
            "The sum of integers is in units: a unit is the row's scale times the vector's.",
            "What does the value 1 of w stand for in this row?",
        ),
        Cause(
            "scale-of-another-row",
            "rows are multiplied by the scale of another row",
            row_of_block,
            "The scales belong to the rows of the whole matrix, not to the waves of a block.",
            "Compute the row for a few threads of the second block: does it start at 0 again?",
        ),
        Cause(
            "rounded-before-the-end",
            "results are nearly right: numbers were rounded before all products were added",
            nearly_right,
            "Sums of floats are rounded in each step. The sum of integers is exact.",
            "In which line does the sum become a float? Is there an addition after it?",
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
        "One wave for each row: row and lane from the number of the thread and warpSize. A row has columns / 4 "
        "words, and lane k takes the words k, k + warpSize, and so on.",
        "Each step is one DOT4 that adds to an int. After the loop the lanes' sums are added up by shuffles, still as "
        "integers, and lane 0 multiplies once by both scales.",
        "`sum = DOT4(w[row * words + i], x[i], sum);` in the loop, with `int words = columns / 4;`. Then `for (int "
        "step = warpSize / 2; step > 0; step /= 2) sum += __shfl_down(sum, step);` and `y[row] = sum * (scales[row] "
        "* x_scale);`",
    ),
)
