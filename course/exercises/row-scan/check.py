"""row-scan: running sums along rows of 32 floats; a tile in LDS without bank conflicts, global memory by lines."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, distinct, sentinel
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.requirements import bank_conflicts, loaded_by_lanes, memory_lines

WIDTH = 32
BLOCK = 64


def make(parameters, random):
    n = parameters["n"]
    rows = distinct(random, (n, WIDTH))
    wanted = np.cumsum(rows, axis=1, dtype="float64").astype("float32")
    return Case(
        parameters,
        grid=(blocks_for(n, BLOCK), 1, 1),
        block=(BLOCK, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Array("in", rows),
            Array("out", sentinel("float32", (n, WIDTH)), wanted, relative=1e-6),
        ),
    )


def without_itself(case):
    """Sums of the elements before, without the element itself."""
    return case.array("out").wanted - case.array("in").data


def reads(case, name, index):
    """The element and those of its row before it."""
    return [("in", i) for i in range(index, index // WIDTH * WIDTH - 1, -1)]


exercise = Exercise(
    id="row-scan",
    title="running sums along short rows",
    lesson="06_lds",
    section="Padding and swizzling",
    kernel="row_scan",
    signature="int n, const float* in, float* out",
    minutes=30,
    make=make,
    cases=({"n": 100}, {"n": 256}, {"n": 64}, {"n": 3}, {"n": 1}, {"n": 0}, {"n": 300}),
    smallest={"n": 1},
    reads=reads,
    fixed_sizes="blocks always have 64 threads",
    shown={"n": 3},
    owner=lambda case, index: ((index // WIDTH // BLOCK, 0, 0), (index // WIDTH % BLOCK, 0, 0)),
    requirements=(
        memory_lines(
            minimum=lambda case: 2 * case.parameters["n"],
            when=lambda case: case.parameters["n"] % BLOCK == 0 and case.parameters["n"] > 0,
            next_step="A row is one line of 128 bytes. In run.accesses(), how many lines does each load and "
            "store request? "
            "Let a wave load whole rows into a tile first.",
        ),
        bank_conflicts(
            when=lambda case: case.parameters["n"] % BLOCK == 0,
            next_step="run.lds_banks() shows it: when every lane reads along a row of its own, the lanes are "
            "in one column. "
            "How far apart are neighbouring lanes, in dwords?",
        ),
        loaded_by_lanes("loaded-by-the-wave", "in", when=lambda case: case.parameters["n"] % BLOCK == 0),
    ),
    causes=(
        Cause(
            "row-not-there",
            "a thread adds up a row of LDS that was never written",
            lambda o: (
                o.fault is not None
                and o.fault.kind == "never written"
                and o.fault.thread is not None
                and o.fault.workgroup[0] * BLOCK + o.fault.thread[0] >= o.case.parameters["n"]
            ),
            "The last block may have fewer rows than threads. If their elements are not loaded, those elements of "
            "LDS have old values.",
            "Guard the sum as well as the loads: which rows exist? Or put 0 where no element is.",
        ),
        Cause(
            "missing-guard",
            "rows beyond the last one are read or written",
            lambda o: o.fault is not None and o.faulting_index() is not None and o.faulting_index()[1] >= 0,
            "The last block may have fewer rows than threads.",
            "Each access to in and out needs a condition. And a barrier must be outside of it.",
            guard=("n",),
        ),
        Cause(
            "without-itself",
            "each sum lacks the element itself",
            lambda o: o.looks_like("out", without_itself),
            "out of column c is the sum of columns 0 to c, with c.",
            "Which comes first in your loop: the addition, or the result?",
        ),
        Cause(
            "last-column-left-out",
            "the last column is the input as it was",
            lambda o: (
                o.fault is None
                and not o.wrong("out")[:, :-1].any()
                and bool((o.found("out")[:, -1] == o.case.array("in").data[:, -1]).all())
            ),
            "A row has 32 elements, and the last sum is that of all of them.",
            "From where to where does your loop over the columns go?",
        ),
    ),
    hints=(
        "Three steps with barriers between them. First the block loads its 64 rows into a tile, so that a wave "
        "loads whole "
        "rows. Then each thread adds along one row of the tile. Then the block stores the tile in the same way as "
        "it was loaded.",
        "In the first and the last step thread t has the elements t, t + 64, t + 128, ... of the block's 64 rows of"
        " 32 floats: row `k / 32` and column `k % 32` of element k. All threads reach all barriers; only accesses "
        "have conditions.",
        "In the second step lanes are a row apart. With `float tile[64][33]` that is 33 dwords, and all 32 lanes of"
        " a phase have different banks. Or keep 32 and put an element at place `row * 32 + (column ^ (row % 32))`.",
    ),
)
