"""triton-blend: between two arrays, element by element, for any n: blocks and masks in Triton."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, combinations, distinct, sentinel
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.patterns import combination
from gpulab.grading.requirements import limited, work_shared

BLOCK, WARPS = 128, 2


def make(parameters, random):
    n = parameters["n"]
    w = np.float32(random.integers(1, 4) / 4)
    x, y = distinct(random, n), distinct(random, n)
    return Case(
        parameters,
        grid=(blocks_for(n, BLOCK) + parameters["spare programs"], 1, 1),
        block=(WARPS * parameters["wave"], 1, 1),
        arguments=(
            Array("x", x),
            Array("y", y),
            Array("out", sentinel("float32", n), x + w * (y - x)),
            Value("w", w),
            Value("n", np.int32(n)),
        ),
    )


def bytes_stored(o):
    """Bytes that lanes store, all programs together."""
    return sum(
        cost.lanes * cost.bytes
        for launch in o.measured
        for cost in launch.accesses
        if cost.action == "store" and cost.space in ("global", "flat")
    )


def exchanged(case):
    """What comes out if x and y have changed places."""
    x, y, w = case.array("x").data, case.array("y").data, case.value("w")
    return y + w * (x - y)


def whole_blocks(o):
    """Does every program write its whole block, past the end of the array too?"""
    past = o.written_past("out")
    return bool(past) and o.right


def other_formula(o):
    """Is `out`, the same way for all elements, the sum of some number times x and some number times y?"""
    if o.fault is not None or o.outside("out") or o.unwritten_indices("out"):
        return False
    return combination(o.found("out"), [o.case.array(name).data for name in "xy"]) is not None


exercise = Exercise(
    id="triton-blend",
    title="a blend of two arrays in Triton",
    lesson="19_triton",
    section="Masks",
    language="triton",
    kernel="blend",
    signature="x, y, out, w, n, BLOCK: tl.constexpr",
    expressions=(f"blend(*fp32:16, *fp32:16, *fp32:16, fp32, i32, BLOCK={BLOCK}, num_warps={WARPS})",),
    minutes=10,
    make=make,
    by_wave=True,
    cases=(
        *combinations(**{"n": (300, 256, 100, 1000, 1), "block": (BLOCK,), "spare programs": (0, 1)}),
        {"n": 5_000, "block": BLOCK, "spare programs": 0},
        {"n": 0, "block": BLOCK, "spare programs": 0},
    ),
    smallest={"n": 1, "block": BLOCK, "spare programs": 0},
    shown={"n": 10, "block": BLOCK, "spare programs": 0},
    owner=lambda case, index: None,
    requirements=(
        work_shared(
            rounds=lambda case: BLOCK // case.block[0],
            title="the programs share the work",
            next_step="One program does the work of others. Which elements belong to the program with number p?",
        ),
        limited(
            "stored-once",
            "bytes stored",
            bytes_stored,
            at_most=lambda case, arch: case.array("out").data.nbytes,
            title="each element is stored once, by one program",
            when=lambda case: case.parameters["n"] >= 2 * BLOCK and case.parameters["n"] % BLOCK == 0,
            shrinks=False,
            next_step="Several programs store the same elements. Which elements belong to the program with number p, "
            "and to no other?",
        ),
    ),
    causes=(
        Cause(
            "mask-one-too-far",
            "the mask lets one element too many through",
            lambda o: whole_blocks(o) and o.written_past("out") == (o.case.parameters["n"],),
            "Arrays of n elements end at index n - 1.",
            "For which indices is your condition true if n is 1? Only for 0 it should be.",
        ),
        Cause(
            "missing-mask",
            "a program writes its whole block, past the end of the array too",
            whole_blocks,
            "There are whole blocks alone; the last one has more elements than are left.",
            "Give the store a mask: true where the index is less than n.",
        ),
        Cause(
            "loads-without-mask",
            "a program loads its whole block, past the end of the array too",
            lambda o: (o.read_outside() or ("", -1))[1] >= o.case.parameters["n"] and not o.written_past("out"),
            "A mask of the store keeps the load from nothing: each load has its own mask.",
            "Which elements does the last program load, and which of them exist?",
        ),
        Cause(
            "x-and-y-exchanged",
            "x and y have changed places",
            lambda o: o.looks_like("out", exchanged),
            "With w = 0 the result is x, with w = 1 it is y.",
            "What does your formula give for w = 0?",
        ),
        Cause(
            "number-of-the-program-left-out",
            "the first block is written, and no other",
            lambda o: (
                o.case.parameters["n"] > BLOCK
                and not o.wrong("out")[:BLOCK].any()
                and bool(o.untouched("out")[BLOCK:].all())
            ),
            "tl.arange(0, BLOCK) is the same in each program.",
            "Add to it what differs from program to program.",
            explains=("race",),
        ),
        Cause(
            "steps-of-one",
            "neighbouring programs work on blocks that overlap",
            lambda o: (
                o.fault is None
                and o.case.parameters["n"] >= BLOCK + o.case.grid[0]
                and o.unwritten_indices("out") == tuple(range(BLOCK + o.case.grid[0] - 1, o.case.parameters["n"]))
            ),
            "The block of a program begins BLOCK elements behind that of the one before.",
            "Work out the first index of the programs 0, 1 and 2.",
        ),
        Cause(
            "other-formula",
            "out is another sum of x and y than x + w (y - x)",
            other_formula,
            "Indices and masks are right. With w = 0 the result is x, with w = 1 it is y.",
            "What does your formula give for w = 1?",
        ),
    ),
    hints=(
        "A program computes BLOCK elements. Its number, tl.program_id in axis 0, says which.",
        "The indices of a program are `tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)`. Which of them exist?",
        "`mask = at < n` is true for the elements that exist. Both loads and the store take it: "
        "`tl.load(x + at, mask=mask)`.",
    ),
)
