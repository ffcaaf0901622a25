"""scan-many-blocks: an inclusive scan over many blocks in one cooperative launch: the capstone of synchronisation."""

import re

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, sentinel
from gpulab.grading.exercise import Cause, Exercise, Requirement, power_of_two
from gpulab.grading.requirements import in_order, memory_lines, writers
from gpulab.grading.sources import code_only

LARGE = 5000
WAITS = ("deadlock", "timeout")


def make(parameters, random):
    n, block, blocks = parameters["n"], parameters["block"], parameters["blocks"]
    data = (random.integers(-50, 100, n) * (1 if n <= 100 else 501)).astype("int32")  # sums of more than 24 bits
    data[: parameters["zeros"]] = 0
    words = 4 * (blocks_for(n, block) + blocks) + 16
    return Case(
        parameters,
        grid=(blocks, 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Array("in", data),
            Array("out", sentinel("int32", n), data.cumsum(dtype="int32")),
            Array("work", np.zeros(words, "uint32"), scratch=True),
        ),
        cooperative=True,
    )


def race(o, memory):
    return (
        o.fault is not None and o.fault.kind in ("race", "lane conflict", "never written") and o.fault.memory == memory
    )


def race_for_sums(o):
    """Is one word of `work` written by one thread and read by another?"""
    place = o.faulting_index()
    if not race(o, "global") or place is None or place[0] != "work":
        return False
    return o.fault.other is None or {o.fault.access, o.fault.other.access} != {"write"}


def code(o):
    return code_only(o.source)


def exclusive(case):
    data = case.array("in").data
    return data.cumsum(dtype="int32") - data


def steps_are_right(o):
    """Nearly everywhere `out` grows by the element: within a tile the sums are right, and some offset is wrong."""
    data, found = o.case.array("in").data, o.found("out")
    if o.fault is not None or data.size < 2 * o.case.block[0]:
        return False
    right = np.diff(found) == data[1:]
    return right.mean() > 0.95 and not right.all() or bool(right.all())


def written_wave_sizes(o):
    """Wave sizes that are written as numbers where a lane or a wave is computed."""
    found = set()
    for operator, number in re.findall(r"threadIdx\.x\s*(%|/|&|>>)\s*(\d+)", code(o)):
        size = {"%": int(number), "/": int(number), "&": int(number) + 1, ">>": 1 << min(int(number), 10)}[operator]
        if size in (32, 64):
            found.add(size)
    return found


def one_block_alone(o):
    """A complaint if one block wrote all of `out`, and not because it happened to draw all tickets."""
    blocks = {writer.workgroup for writer in writers(o, "out").values()}
    if len(blocks) > 1 or "atomic" in code(o):
        return ""
    return f"all of out is written by one block of {o.case.grid[0]}"


exercise = Exercise(
    id="scan-many-blocks",
    title="a scan over many blocks",
    lesson="11_synchronisation",
    section="Synchronising the whole grid",
    kernel="scan",
    signature="int n, const int* in, int* out, unsigned* work",
    minutes=60,
    make=make,
    cases=(
        {"n": 6000, "block": 256, "blocks": 7, "zeros": 0},
        {"n": 1000, "block": 64, "blocks": 5, "zeros": 0},
        {"n": 22000, "block": 64, "blocks": 5, "zeros": 0},
        {"n": 512, "block": 128, "blocks": 4, "zeros": 0},
        {"n": 100, "block": 256, "blocks": 4, "zeros": 0},
        {"n": 1, "block": 64, "blocks": 2, "zeros": 0},
        {"n": 0, "block": 64, "blocks": 2, "zeros": 0},
        {"n": 500, "block": 64, "blocks": 3, "zeros": 150},
    ),
    promises=(power_of_two("block"),),
    kept=("block", "blocks", "zeros"),  # more blocks read more sums of others, which is no mistake
    smallest={"n": 1, "block": 64, "blocks": 2, "zeros": 0},
    owner=lambda case, index: None,
    shown={"n": 100, "block": 64, "blocks": 2, "zeros": 0},
    causes=(
        Cause(
            "missing-guard",
            "threads without an element use memory beyond the arrays",
            lambda o: o.fault is not None and o.fault.kind in ("out of bounds", "null"),
            "The last tile may not be full.",
            "Let a thread without an element take part in the scan with 0, and let it write nothing.",
            guard=("n",),
        ),
        Cause(
            "wave-size",
            "the code relies on a wave size that this device does not have",
            lambda o: bool(written_wave_sizes(o)) and o.wave_size not in written_wave_sizes(o),
            "A wave has 64 lanes on one of the two devices and 32 on the other.",
            "Write warpSize where you wrote the number.",
        ),
        Cause(
            "sum-as-flag",
            "where the first elements are 0, a block waits for a sum that is there already",
            lambda o: o.fault is not None and o.fault.kind in WAITS and o.case.parameters["zeros"] >= o.case.block[0],
            "A sum of 0 is a sum, and work is 0 before the launch: the value alone does not say whether it is there.",
            "Which value has the word of a tile of zeros before its sum is published, and which one afterwards?",
            explains=WAITS,
        ),
        Cause(
            "missing-barrier",
            "threads of a block use LDS before the others are done with it",
            lambda o: race(o, "lds") and o.fault.kind != "lane conflict",
            "In a scan each step reads what the step before wrote, and writes what others may still read.",
            "For each __shared__ variable: which thread writes it, which one reads it, and is there a barrier "
            "between, in both directions?",
        ),
        Cause(
            "missing-fence",
            "a flag is set, but the value that it announces may not be visible yet",
            lambda o: race_for_sums(o) and re.search(r"atomic", code(o)) is not None and "sync()" not in code(o),
            "The accesses to the flag are atomic; those to the value are not ordered.",
            "A __threadfence() or a release before the flag, an acquire after it; or put value and flag into one "
            "64-bit word.",
        ),
        Cause(
            "missing-grid-sync",
            "blocks use each other's sums without waiting for them",
            race_for_sums,
            "The blocks of a grid run in any order. Between writing the sums and reading them nothing makes them wait.",
            "The launch is cooperative: which call waits for the whole grid?",
        ),
        Cause(
            "exclusive",
            "each element is left out of its own sum",
            lambda o: o.fault is None and o.looks_like("out", exclusive),
            "This is the exclusive scan. The inclusive one counts the element itself as well.",
            "out[0] should be in[0].",
        ),
        Cause(
            "no-loop",
            "only as many elements are done as the grid has threads",
            lambda o: (
                o.fault is None
                and o.case.parameters["n"] >= o.case.threads + o.case.block[0]
                and bool(o.wrong_indices("out"))
                and o.unwritten_indices("out") == o.wrong_indices("out")
                and min(o.wrong_indices("out")) == o.case.threads
            ),
            "The grid is limited, since all its blocks must run at the same time.",
            "Let each block do several tiles.",
        ),
        Cause(
            "own-sum-too",
            "the offset of a tile contains its own sum",
            lambda o: steps_are_right(o) and o.found("out")[0] != o.case.array("in").data[0],
            "The first tile is too large by its own total: the sums of the blocks must be scanned exclusively.",
            "What comes before tile 0?",
        ),
        Cause(
            "tile-not-scanned",
            "sums are wrong in the first tile already",
            lambda o: (
                o.fault is None
                and 0 < min(o.wrong_indices("out"), default=0) < min(o.case.block[0], o.case.parameters["n"])
                and not o.unwritten_indices("out")
            ),
            "No other tile comes before it, so the sums within a tile are not right.",
            "Take a tile of 4 elements. Which of them are in the sum of thread 3 after each step?",
        ),
        Cause(
            "carry-missing",
            "each tile is right by itself, but not what comes before it",
            lambda o: (
                steps_are_right(o)
                and not o.unwritten_indices("out")
                and o.found("out")[0] == o.case.array("in").data[0]
            ),
            "Within a tile the sums grow as they should. At the beginning of a tile the sums of the tiles before "
            "it are missing.",
            "Look at the first wrong element: at which tile does it begin, and where should its offset have come from?",
        ),
    ),
    requirements=(
        Requirement(
            "one-block-alone",
            "the blocks share the work",
            one_block_alone,
            "One block on one compute unit leaves all others idle. Which part of the elements could each block sum up "
            "without knowing anything of the others?",
            when=lambda case: case.parameters["n"] >= LARGE,
            shrinks=False,
        ),
        memory_lines(
            minimum=lambda case: 2 * case.parameters["n"] / 32,
            at_most=3.5,
            when=lambda case: case.parameters["n"] >= LARGE,
            title="at most 3.5 times the cache lines that reading and writing each element once takes",
            next_step="run.coalescing() shows which access requests many lines. Does every block read what other blocks "
            "have read? Do neighbouring lanes use neighbouring elements?",
        ),
        in_order("sum", "The scan of a tile has log2(blockDim.x) steps, with a barrier after each.", on_lds=True),
    ),
    hints=(
        "Begin with a scan of one block in LDS, right for any block size. Then three phases: every block sums up "
        "its part; "
        "all wait; every block adds up the sums of the blocks before it, and scans its part.",
        "Part of block b: the tiles from `(long long)tiles * blockIdx.x / gridDim.x` up to `(long long)tiles * "
        "(blockIdx.x + 1) / gridDim.x`, with `tiles = (n + blockDim.x - 1) / blockDim.x`. After phase one "
        "`work[blockIdx.x] = total;` by one thread; then `cg::this_grid()` and its sync(). In the last phase keep a"
        " carry from tile to tile.",
        "Phase three, for each tile of the block: an inclusive scan of the tile in LDS, plus carry; write it if `i "
        "< n`; barrier; the last thread sets `carry = sum;` barrier. The scan of a tile: `for (int step = 1; step <"
        " blockDim.x; step *= 2)` read `lds[threadIdx.x - step]` if there is one; barrier; add; barrier.",
    ),
)
