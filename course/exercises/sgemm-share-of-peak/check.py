"""sgemm-share-of-peak: SGEMM for any size, at a stated share of the device's modelled FP32 peak on a large one."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, sentinel
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.requirements import bank_conflicts, scratch_bytes, share_of_peak

LARGE = 1024
"""Rows of a from which on the kernel has to be fast."""


def make(parameters, random):
    side = parameters["block"]  # of the part of c that a block makes
    m, n, k = (parameters[name] for name in "mnk")
    # Sums are whole numbers below 2**24, exact in any order; where k allows it, a has numbers that 16 bits cannot hold.
    most = 8191 if m > 16 and k <= 128 else 9
    a = random.integers(1, most, (m, k), endpoint=True).astype("float32")
    b = random.integers(1, 9, (k, n), endpoint=True).astype("float32")
    return Case(
        parameters,
        grid=(blocks_for(n, side), blocks_for(m, side), 1),
        block=(256, 1, 1),
        arguments=(
            *(Value(name, np.int32(parameters[name])) for name in "mnk"),
            Array("a", a),
            Array("b", b),
            Array("c", sentinel("float32", (m, n)), a @ b),
        ),
    )


def drawn(random):
    """Small ones: the share of the peak is asked for m = n = 3072, k = 128 alone."""
    for most in (40, 150, 300):
        m, n, k = (int(size) for size in random.integers(1, most, 3))
        yield {"m": m, "n": n, "k": k, "block": 128}
    yield {"m": 128 * int(random.integers(1, 4)), "n": 128, "k": 8 * int(random.integers(1, 9)), "block": 128}


def large(case):
    return case.parameters["m"] >= LARGE


def of_whole_tiles(case):
    """One whose blocks are whole for all usual sizes of tiles and steps: what is counted there is the large one's, too."""
    return tuple(case.parameters[name] for name in "mnk") == (256, 256, 64)


def operations(case):
    return 2 * case.parameters["m"] * case.parameters["n"] * case.parameters["k"]


def without_tail(case):
    """The sums without what is left of k after whole steps of 8 or of 16."""
    a, b = (case.array(name).data for name in "ab")
    k = case.parameters["k"]
    return [a[:, : k // step * step] @ b[: k // step * step] for step in (4, 8, 16)]


def with_bits(case, bits):
    """The product of matrices whose numbers are rounded to so many bits of precision."""
    rounded = []
    for name in "ab":
        data = case.array(name).data
        unit = 2.0 ** (np.floor(np.log2(np.maximum(data, 1))) + 1 - bits)
        rounded.append(np.rint(data / unit) * unit)
    return rounded[0] @ rounded[1]


def misses_steps(o):
    return o.case.parameters["k"] > 0 and any(
        o.looks_like("c", lambda case, i=i: without_tail(case)[i]) for i in range(3)
    )


ROOM = 1 << 16
"""Guard elements that rows and columns of a block beyond the end of a matrix fit in, where it is small."""


def small_with_room(o):
    """The outcome with so much room that the kernel comes to its end; None for the large case, and where it does not."""
    if large(o.case) or o.guarded.fault is not None and o.guarded.fault.kind != "out of bounds":
        return None
    found = o if o.guarded.fault is None else o.with_room(ROOM, 10_000_000)
    return found if found.guarded.fault is None else None


def only_outside(o):
    """Is all inside of the matrices as it should be, and was an element behind the end of one used, or one of none?"""
    if o.null_access():
        return o.case.parameters["k"] == 0 and o.fault.access == "read"
    place = o.faulting_index()
    if place is not None and place[1] < 0 or place is None and not o.outside("c"):
        return False
    found = small_with_room(o)
    return found is not None and not any(found.wrong(name).any() or found.written_before(name) for name in "abc")


def beyond_k(o):
    """Are the sums those of whole steps, where k is no multiple of the step: with what lies behind the rows of a and b?"""
    p, o = o.case.parameters, small_with_room(o)
    if o is None or not p["m"] or not p["n"]:
        return False
    a, b = (o.guarded.after[name][o.guard :].astype("float64") for name in "ab")
    row, column = np.arange(p["m"])[:, None] * p["k"], np.arange(p["n"])
    for step in (4, 8, 16):
        depth = np.arange(-(-p["k"] // step) * step)
        if p["k"] < len(depth) and row[-1, 0] + depth[-1] < len(a) and depth[-1] * p["n"] + column[-1] < len(b):
            with np.errstate(invalid="ignore", over="ignore"):
                sums = a[row + depth] @ b[depth[:, None] * p["n"] + column]
            if np.allclose(o.found("c"), sums, rtol=1e-5, atol=0, equal_nan=True):
                return True
    return False


def only_whole_blocks(o):
    """Are the blocks that lie inside right, and the others not written at all?"""
    m, n, wrong = o.case.parameters["m"], o.case.parameters["n"], o.wrong("c")
    edge = np.ones((m, n), bool)
    edge[: m // 128 * 128, : n // 128 * 128] = False
    return bool(wrong.any()) and not (wrong & ~edge).any() and bool(o.untouched("c")[edge].all())


SIZES = (
    (128, 128, 16),
    (128, 128, 12),
    (132, 260, 24),
    (130, 131, 9),
    (64, 100, 33),
    (1, 1, 1),
    (127, 257, 20),
    (129, 130, 8),
    (0, 5, 3),
    (3, 0, 2),
    (5, 7, 0),
    (128, 128, 0),
    (256, 256, 64),
    (3072, 3072, 128),
)
"""m, n and k."""

exercise = Exercise(
    id="sgemm-share-of-peak",
    title="SGEMM at 40 % of the peak",
    lesson="16_sgemm",
    section="All steps compared",
    kernel="sgemm",
    signature="int m, int n, int k, const float* a, const float* b, float* c",
    minutes=60,
    make=make,
    owner=lambda case, index: None,  # whose an element is, the answer decides
    cases=tuple({**dict(zip("mnk", sizes, strict=True)), "block": 128} for sizes in SIZES),
    instruction_limit=lambda case: 400_000_000 if large(case) else 10_000_000,
    smallest={"m": 1, "n": 1, "k": 1, "block": 128},
    drawn=drawn,
    shown={"m": 3, "n": 4, "k": 2, "block": 128},
    causes=(
        Cause(
            "tail-of-k",
            "what is left of k after whole steps is not added",
            misses_steps,
            "k need not be a multiple of your step. The last tile is not full, but what is in it counts.",
            "For k = 9 and steps of 8: how many iterations does your loop have?",
        ),
        Cause(
            "edges-missing",
            "blocks at the edges write nothing",
            only_whole_blocks,
            "A block whose 128 x 128 elements do not all exist must still compute those that do.",
            "For m = 130: which block makes rows 128 and 129?",
        ),
        Cause(
            "fewer-bits",
            "numbers have lost their lower bits: these are products of rounded numbers",
            lambda o: any(o.looks_like("c", lambda case, bits=bits: with_bits(case, bits)) for bits in (11, 8)),
            "a and b are FP32, with 24 bits of precision. FP16 has 11 of them and BF16 has 8.",
            "Where does your kernel convert a float to another type?",
        ),
        Cause(
            "beyond-k",
            "the sums go on beyond k, with numbers that belong to other rows or to no matrix",
            beyond_k,
            "k need not be a multiple of your step. In the last step there is nothing to load for some of its places.",
            "For k = 12 and steps of 8: which elements of a row of a does the second step load?",
        ),
        Cause(
            "outside",
            "elements outside of the matrices are loaded or stored",
            only_outside,
            "At the edges a tile is larger than what is left of the matrix; and for k = 0 nothing can be loaded "
            "at all.",
            "Which conditions must hold for a row, a column, a step of k, before you use an address?",
        ),
    ),
    requirements=(
        bank_conflicts("bank-conflicts", when=of_whole_tiles, shrinks=False),
        scratch_bytes(
            "scratch",
            next_step="kernel.resources says how many registers the kernel takes. Arrays are registers only if all "
            "indices are known when it is compiled.",
        ),
        share_of_peak(
            "share-of-peak",
            flops=operations,
            at_least=0.40,
            roof="fp32 packed",
            when=large,
            title="at least 40 % of the FP32 peak for m = n = 3072, k = 128 (modelled)",
            next_step="The lesson's table has the steps: lines, LDS instructions per multiply-add, waiting. After the "
            "cell that measures, run.roofline() and run[0].time.parts say which of them is the limit.",
        ),
    ),
    hints=(
        "Start from the lesson's kernel large: 8 x 8 results a thread, A transposed in LDS, float4 reads. Make it "
        "right for every size first: where there is no number, the tile has zero. Then measure.",
        "Decide once for each block whether all its loads and stores are inside (and k and n allow 16-byte accesses). "
        "If so take float4, else one element at a time with conditions. The inner loop is the same for both.",
        "Then hide the latency: load the next tile into registers right after the barrier, before the inner loop, "
        "and store it to LDS after the next barrier (the lesson's kernel ahead). Keep p and q in plain vector types "
        "(ext_vector_type), or they end up in scratch memory.",
    ),
)
