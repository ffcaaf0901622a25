"""row-weights: a value that is the same for a whole wave goes through a scalar register."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, distinct, no_inputs, sentinel
from gpulab.grading.exercise import Cause, Exercise, Requirement, multiple_of
from gpulab.grading.requirements import limited, row_by_its_wave, work_shared


def make(parameters, random):
    rows, columns, block, wave = (parameters[name] for name in ("rows", "columns", "block", "wave"))
    weight = (distinct(random, rows) + np.float32(1)).astype("float32")
    if rows * columns >= 100:  # weights with a fraction, and more bits than a half has
        weight += random.random(rows).astype("float32")
    matrix = distinct(random, (rows, columns))
    return Case(
        parameters,
        grid=(blocks_for(rows * wave, block), 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("rows", np.int32(rows)),
            Value("columns", np.int32(columns)),
            Array("weight", weight),
            Array("in", matrix),
            Array("out", sentinel("float32", (rows, columns)), matrix * weight[:, None], relative=1e-6),
        ),
    )


def bytes_loaded(o):
    """Bytes that lanes ask for in vector loads: each lane counts. Unrolled loops count as plain ones do."""
    return sum(
        cost.lanes * cost.bytes
        for launch in o.measured
        for cost in launch.accesses
        if cost.action == "load" and cost.space in ("global", "flat")
    )


def owner(case, index):
    """Wave k of the grid does row k; its lanes take the columns in turn."""
    row, column = divmod(index, case.parameters["columns"])
    wave = case.parameters["wave"]
    thread = row * wave + column % wave
    return (thread // case.block[0], 0, 0), (thread % case.block[0], 0, 0)


def right_but(o, missing):
    """Are the elements where `missing` is True never written, and all others right?"""
    wrong, untouched = o.wrong("out"), o.untouched("out")
    return o.fault is None and bool(missing.any() and (wrong == missing).all() and (untouched[missing]).all())


def first_columns_alone(o):
    """Is each lane's first column right, and all others not written?"""
    missing = np.zeros(o.wrong("out").shape, bool)
    missing[:, o.wave_size :] = True
    return right_but(o, missing)


def late_start(o):
    """Do the lanes of each wave begin at the number of their thread in the block?"""
    missing = np.zeros(o.wrong("out").shape, bool)
    waves = o.case.block[0] // o.wave_size
    for row in range(len(missing)):
        missing[row, : row % waves * o.wave_size] = True
    return right_but(o, missing)


def waves_of_32(o):
    """On waves of 64, is each row written by the threads that would have its number if waves had 32 lanes?

    A row's number is the same for a whole wave where it was made so: then it is that of the wave's first 32 lanes.
    """
    if o.wave_size != 64:
        return False
    columns = o.case.parameters["columns"]
    seen = [(index // columns, thread // 64 * 2, thread // 32) for index, (thread, _, _) in o.numbers("out")]
    return any(
        max((row for row, *_ in seen), default=0) > 0 and all(row == each[way] for row, *each in seen) for way in (0, 1)
    )


def weight_of_another(o):
    """Is each wrong row the input times one of the weights?"""
    matrix, weights = o.case.array("in").data.astype("float64"), o.case.array("weight").data.astype("float64")
    if o.fault is not None or o.left_out() or o.outside("out") or not o.wrong("out").any():
        return False
    rows = [row for row in range(len(matrix)) if o.wrong("out")[row].any()]
    products = matrix[rows][:, None, :] * weights[None, :, None]
    close = np.isclose(o.found("out")[rows][:, None, :], products, rtol=1e-5, atol=0)
    return bool(close.all(axis=2).any(axis=1).all())


exercise = Exercise(
    id="row-weights",
    title="what a whole wave needs, it loads once",
    lesson="03_wavefronts",
    section="Uniform branches",
    kernel="weigh",
    signature="int rows, int columns, const float* weight, const float* in, float* out",
    minutes=15,
    make=make,
    owner=owner,
    by_wave=True,
    cases=(
        {"rows": 6, "columns": 100, "block": 256},
        {"rows": 3, "columns": 65, "block": 128},
        {"rows": 1, "columns": 1, "block": 64},
        {"rows": 5, "columns": 64, "block": 64},
        {"rows": 40, "columns": 300, "block": 256},
    ),
    promises=(multiple_of(64, "block"),),
    smallest={"rows": 1, "columns": 1, "block": 64},
    reads=no_inputs,
    shown={"rows": 4, "columns": 6, "block": 256},
    requirements=(
        limited(
            "vector-load",
            "bytes loaded by the lanes, in vector loads",
            bytes_loaded,
            at_most=lambda case, arch: case.array("in").data.nbytes,
            title="vector loads load no more bytes than the matrix has: the weight is loaded by a scalar load",
            next_step="Look for the loads in weigh.isa. s_load is a scalar one, made once for the wave. Which value "
            "would have to be "
            "in a scalar register for the weight's load to be one? And if a store to out comes before the load, as in "
            "a loop over rows: how does the compiler know that it does not change weight (`__restrict__`)?",
        ),
        work_shared(
            rounds=lambda case: -(-case.parameters["columns"] // case.parameters["wave"]),
            next_step="Some threads do the work of others. Wave k of the grid does row k alone, and its lanes take the "
            "columns in turn.",
        ),
        row_by_its_wave("out"),
    ),
    causes=(
        Cause(
            "waves-of-32",
            "the code takes a wave to have 32 lanes",
            waves_of_32,
            "On this device a wave has 64 lanes. Its two halves then have different rows, or one half writes what the "
            "other should.",
            "warpSize has the number for each device.",
        ),
        Cause(
            "too-many-rows",
            "waves without a row work too",
            lambda o: bool(o.outside("out")) or (o.fault is not None and o.fault.kind == "out of bounds"),
            "Whole blocks are launched, so there can be more waves than rows.",
            "Let a wave return whose row does not exist. And each access to a column needs its own condition.",
            guard=("rows",),
        ),
        Cause(
            "one-column-each",
            "only the first columns of each row are done",
            first_columns_alone,
            "A row can have more columns than the wave has lanes.",
            "Let the lanes continue along the row, in steps of warpSize.",
        ),
        Cause(
            "columns-by-thread",
            "some columns of some rows are left out: lanes start at the wrong column",
            late_start,
            "A wave's lanes begin at its row's first column. threadIdx.x counts the threads of all waves of a block.",
            "What is the number of a lane in its wave?",
        ),
        Cause(
            "wrong-weight",
            "rows are multiplied by the weight of another row",
            weight_of_another,
            "Each wave needs the weight of its own row.",
            "Compute row for a few threads of the second block: does it start at 0 again?",
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
        "First write the simplest kernel: row from the number of the thread and warpSize, a guard for the row, a "
        "loop over the "
        "columns that begins at "
        "the lane's number.",
        "All lanes have the same row, but it was computed from threadIdx.x, so the compiler keeps it in a vector "
        "register. "
        "The lesson shows a function that takes the value of the first lane for all.",
        "`row = __builtin_amdgcn_readfirstlane(row);` before the guard; and load `weight[row]` into a variable "
        "before the loop.",
    ),
)
