"""two-level-scan: the exclusive scan of each block, from scans of its waves, with at most two barriers."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, sentinel
from gpulab.grading.exercise import Cause, Exercise, multiple_of
from gpulab.grading.requirements import in_order, lds_bytes, own_loads, per_wave


def tiles(case):
    """The numbers of all blocks, block by block; elements that do not exist are 0."""
    data, block = case.array("in").data, case.parameters["block"]
    padded = np.zeros(case.grid[0] * block, "int64")
    padded[: data.size] = data
    return padded.reshape(case.grid[0], block)


def flat(case, values):
    return values.reshape(-1)[: case.array("in").data.size].astype("int32")


def exclusive(values):
    return values.cumsum(axis=1) - values


def make(parameters, random):
    n, block = parameters["n"], parameters["block"]
    blocks = blocks_for(n, block)
    data = (random.integers(-50, 100, n) * (1 if n < 100 else 5001)).astype("int32")  # sums of more than 24 bits
    padded = np.zeros(blocks * block, "int64")
    padded[:n] = data
    padded = padded.reshape(blocks, block)
    return Case(
        parameters,
        grid=(blocks, 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Array("in", data),
            Array("out", sentinel("int32", n), exclusive(padded).reshape(-1)[:n].astype("int32")),
            Array("totals", sentinel("int32", blocks), padded.sum(axis=1).astype("int32")),
        ),
    )


def of_groups(size):
    """Scans that begin anew at each multiple of `size` in a block."""

    def prediction(case):
        values = tiles(case)
        return flat(case, exclusive(values.reshape(-1, size)))

    return prediction


def shifted_by_own_wave(size):
    def prediction(case):
        values = tiles(case)
        waves = values.reshape(values.shape[0], -1, size).sum(axis=2)
        return flat(case, exclusive(values) + np.repeat(waves, size, axis=1))

    return prediction


def last_wave_alone(size):
    """Each wave adds the sum of the wave before it, and not of those before that."""

    def prediction(case):
        values = tiles(case)
        waves = values.reshape(values.shape[0], -1, size).sum(axis=2)
        before = np.concatenate([np.zeros((values.shape[0], 1), "int64"), waves[:, :-1]], axis=1)
        return flat(case, exclusive(values.reshape(-1, size)).reshape(values.shape) + np.repeat(before, size, axis=1))

    return prediction


def sum_not_there(o):
    """Was the sum of a wave read that is not there? Where that read was not found, a total is no possible sum: what
    LDS held before differs from run to run, so one of the runs may be right by chance."""
    if o.fault is not None:
        return o.fault.kind == "never written" and o.fault.memory == "lds"
    wanted, possible = o.case.array("totals").wanted, np.abs(o.case.array("in").data.astype("int64")).sum()
    found = np.concatenate([each[each != wanted] for each in (o.found("totals"), o.tight.after["totals"])])
    impossible = found.size > 0 and bool((np.abs(found.astype("int64")) > possible).all())
    return impossible and not o.wrong("out").any() and not o.left_out()


exercise = Exercise(
    id="two-level-scan",
    title="a scan of a block in two levels",
    lesson="22_reduce_and_scan",
    section="A block: two levels",
    kernel="scan_blocks",
    signature="int n, const int* in, int* out, int* totals",
    minutes=25,
    make=make,
    cases=(
        {"n": 3000, "block": 1024},
        {"n": 1000, "block": 192},
        {"n": 512, "block": 128},
        {"n": 300, "block": 64},
        {"n": 65, "block": 64},
        {"n": 33, "block": 256},
        {"n": 1, "block": 64},
        {"n": 0, "block": 64},
    ),
    promises=(multiple_of(64, "block"),),
    smallest={"n": 1, "block": 64},
    owner=lambda case, index: None,  # elements of out are their threads', but totals are of blocks
    reads=lambda case, name, index: [],  # all elements of the block before: a report would be large
    shown={"n": 10, "block": 64},
    requirements=(
        own_loads(
            "in",
            at_most=2,
            title="a wave loads its own numbers, with at most two loads",
            when=lambda case: case.parameters["n"] >= 300,
        ),
        lds_bytes(
            at_most=256,
            title="at most 256 bytes of LDS: about one number for each wave",
            next_step="The lanes of a wave read each other's registers. Which number of a wave do the other waves "
            "need?",
        ),
        per_wave(
            "barriers",
            "barriers",
            at_most=2,
            title="at most two barriers",
            next_step="No barrier is needed within a wave. Between which two accesses to LDS must other waves have "
            "come?",
        ),
        in_order("sum", "Shuffles give each lane the sum of the lanes before it, in their order."),
    ),
    causes=(
        Cause(
            "sum-not-there",
            "the sum of a wave is read that this wave has not written",
            sum_not_there,
            "Every wave writes its sum to LDS before others read it, a wave without elements as well: its sum is 0.",
            "Under which condition does a wave write its sum? And what makes the write come before the read?",
        ),
        Cause(
            "missing-barrier",
            "the sums of waves are used before all waves have written theirs, or are overwritten too early",
            lambda o: o.fault is not None and o.fault.kind == "race" and o.fault.memory == "lds",
            "Waves of a block run in any order. LDS orders nothing by itself.",
            "Which wave writes the element that this one reads? What makes it come first?",
        ),
        Cause(
            "missing-guard",
            "threads without an element use memory beyond the arrays",
            lambda o: bool(o.outside("out")) or (o.fault is not None and o.fault.kind in ("out of bounds", "null")),
            "The last block has more threads than elements are left.",
            "Let a thread without an element take part with 0, and write nothing to out.",
            guard=("n",),
        ),
        Cause(
            "inclusive",
            "each sum counts the element itself",
            lambda o: o.looks_like("out", lambda case: flat(case, tiles(case).cumsum(axis=1))),
            "This is the inclusive scan. The exclusive one is the sum of the elements before.",
            "What must stand in the first element of each block?",
        ),
        Cause(
            "waves-apart",
            "each wave begins at 0 again",
            lambda o: o.looks_like("out", of_groups(o.wave_size)),
            "The sums within each wave are right. What the waves before it have is missing.",
            "Which numbers in LDS must a wave add?",
        ),
        Cause(
            "for-32-lanes",
            "sums begin at 0 again at lane 32, or 32 stands where the wave size belongs",
            lambda o: (
                o.wave_size == 64
                and o.fault is None
                and (o.looks_like("out", of_groups(32)) or o.uses(r"[%/<]\s*32\b|>>\s*5\b|&\s*31\b"))
            ),
            "This wave has 64 lanes.",
            "Let steps, lanes and waves follow from warpSize.",
        ),
        Cause(
            "for-64-lanes",
            "64 stands where the wave size belongs",
            lambda o: o.wave_size == 32 and o.fault is None and o.uses(r"[%/<]\s*64\b|>>\s*6\b|&\s*63\b"),
            "This wave has 32 lanes.",
            "Let steps, lanes and waves follow from warpSize.",
        ),
        Cause(
            "own-wave-too",
            "a wave adds its own sum as well",
            lambda o: o.looks_like("out", shifted_by_own_wave(o.wave_size)),
            "Before the elements of a wave come those of the waves with lower numbers.",
            "What does wave 0 add?",
        ),
        Cause(
            "one-wave-before",
            "a wave adds the sum of the wave before it, and no others",
            lambda o: o.looks_like("out", last_wave_alone(o.wave_size)),
            "With two waves that is enough. The third has two waves before it.",
            "The sums of waves need a scan of their own.",
        ),
        Cause(
            "wrong-totals",
            "out is right, totals is not",
            lambda o: o.fault is None and not o.wrong("out").any() and bool(o.wrong("totals").any()),
            "The total of a block is the sum of all its elements, and of no others. The exclusive scan of its last "
            "element leaves this element out.",
            "Which thread has the sum of the whole block, in which variable, and does it write it?",
        ),
        Cause(
            "wave-not-scanned",
            "sums are wrong in the first wave already",
            lambda o: (
                o.fault is None
                and not o.unwritten_indices("out")
                and 0 <= min(o.wrong_indices("out"), default=-1) < o.wave_size
            ),
            "No other wave comes before it, so the scan within a wave is not right.",
            "Take a wave of 4 lanes. Which elements are in the sum of lane 3 after each step?",
        ),
    ),
    hints=(
        "Three parts. Each wave scans its own numbers, as in lesson 04. One lane of each wave writes the wave's sum "
        "to LDS; barrier. Each wave adds the sums of the waves before it.",
        "An inclusive scan by `__shfl_up` leaves the sum of the wave in its last lane: `if (lane == warpSize - 1) "
        "of_wave[wave] = sum;`. What a thread writes at last is without its own element: `sum - own`.",
        "After `__syncthreads();` each thread goes over the waves: `for (int w = 0; w < blockDim.x / warpSize; w++) { "
        "if (w < wave) before += of_wave[w]; total += of_wave[w]; }`, then `if (i < n) out[i] = before + sum - own;` "
        "and, by one thread, `totals[blockIdx.x] = total;`",
    ),
)
