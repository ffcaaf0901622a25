"""warp-sum-port: the sum of each block, by shuffles, from a CUDA kernel for warps of 32."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, sentinel
from gpulab.grading.exercise import Cause, Exercise, multiple_of
from gpulab.grading.requirements import active_lanes, loaded_by_lanes, source


def padded(case):
    """The numbers of each block as rows, 0 where there is none."""
    n, block = case.parameters["n"], case.parameters["block"]
    rows = np.zeros(blocks_for(n, block) * block, dtype="int64")
    rows[:n] = case.array("in").data
    return rows.reshape(-1, block)


def make(parameters, random):
    n, block = parameters["n"], parameters["block"]
    blocks = blocks_for(n, block)
    data = random.permutation(np.arange(1, n + 1)).astype("int32")
    if parameters["signs"] == 2:  # numbers below zero, too, and large ones
        data[random.random(n) < 0.25] *= -1
        large = random.random(n) < 0.25
        data[large] = random.integers(-1_000_000, 1_000_001, large.sum())
        data[:150] = random.integers(900_000, 1_000_001, data[:150].size)  # sums of more bits than a float has
    rows = np.zeros(blocks * block, dtype="int64")
    rows[:n] = data
    return Case(
        parameters,
        grid=(blocks, 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Array("in", data),
            Array("sums", sentinel("int32", blocks), rows.reshape(blocks, block).sum(axis=1).astype("int32")),
        ),
    )


def reduced(values, wave, start, width):
    """What shuffles down by start, start / 2, ... 1 leave in each lane; rows of `values` are waves."""
    lanes = np.arange(wave)
    step = start
    while step:
        source = np.where(lanes % width + step >= width, lanes, np.minimum(lanes + step, wave - 1))
        values = values + values[:, source]
        step //= 2
    return values


def simulated(case, wave, first, group, partials):
    """The sums of a kernel whose shuffles start at `first`, in which lane 0 of each `group` threads keeps a partial
    sum, and which adds up `partials` (a count) of them with the same shuffles."""
    sums = []
    for row in padded(case):
        lanes = reduced(row.reshape(-1, wave), wave, first, wave).reshape(-1)
        kept = lanes[::group][:partials]
        last = np.zeros((1, wave), dtype="int64")
        last[0, : len(kept)] = kept[:wave]
        sums.append(reduced(last, wave, first, wave)[0, 0])
    return np.array(sums).astype("int32")


def like(first, group):
    """Is it what such a kernel leaves? Both are functions of the wave size."""

    def test(o):
        wave, block = o.wave_size, o.case.parameters["block"]
        return block % wave == 0 and o.looks_like(
            "sums", lambda case: simulated(case, wave, first(wave), group(wave), block // group(wave))
        )

    return test


def kind(name):
    return lambda o: o.fault is not None and o.fault.kind == name


def own_sum_missing(o):
    """Was a partial sum never written though its wave exists? (The partial sums are the first that is in LDS.)"""
    fault = o.fault
    return (
        kind("never written")(o)
        and fault.memory == "lds"
        and fault.address is not None
        and fault.address // 4 < o.case.parameters["block"] // o.wave_size
    )


def read_and_written(o):
    """Is there a race of one thread that reads and one that writes?"""
    return kind("race")(o) and o.fault.other is not None and {o.fault.access, o.fault.other.access} == {"read", "write"}


def differs_by(sign):
    """Is each wrong sum larger (1), or smaller (-1), than it should be, where all numbers are positive?"""

    def test(o):
        wrong = o.wrong("sums")
        difference = o.found("sums")[wrong].astype("int64") - expected_sums(o.case)[wrong]
        ended = o.fault is None and not o.left_out() and not o.outside("sums") and o.case.parameters["signs"] == 1
        return ended and bool(wrong.any() and (np.sign(difference) == sign).all())

    return test


def expected_sums(case):
    return case.array("sums").wanted


def full(case):
    """Has every thread an element?"""
    return case.parameters["n"] == case.threads


def many(case):
    """Is it the case by which the sharing of the work is judged?"""
    return case.parameters["n"] == 4096


exercise = Exercise(
    id="warp-sum-port",
    title="a block's sum, ported from warps of 32",
    lesson="13_porting_traps",
    section="Code that assumes warps of 32",
    kernel="block_sums",
    signature="int n, const int* in, int* sums",
    minutes=20,
    make=make,
    cases=(
        {"n": 256, "block": 64, "signs": 1},
        {"n": 256, "block": 256, "signs": 1},
        {"n": 1000, "block": 128, "signs": 1},
        {"n": 4096, "block": 1024, "signs": 1},
        {"n": 300, "block": 256, "signs": 2},
        {"n": 1, "block": 64, "signs": 1},
        {"n": 0, "block": 64, "signs": 1},
        {"n": 1000, "block": 256, "signs": 2},
    ),
    kept=("block", "signs"),
    promises=(multiple_of(64, "block"),),
    smallest={"n": 0},
    shown={"n": 128, "block": 64, "signs": 1},
    causes=(
        Cause(
            "partial-too-small",
            "there are more waves than places for their sums",
            lambda o: kind("lds out of bounds")(o) and o.fault.access == "write" and o.fault.wave > 0,
            "A block of 1024 threads has 16 waves of 64 lanes, or 32 waves of 32 lanes. The array must be large "
            "enough for the larger number.",
            "Size the array for the smallest wave.",
        ),
        Cause(
            "partial-not-written",
            "a partial sum is read that its wave has not written",
            own_sum_missing,
            "Every wave of the block writes its sum before the barrier, a wave without elements as well: its sum is 0.",
            "Under which condition is a partial sum stored? For which waves is it false?",
        ),
        Cause(
            "too-many-partials",
            "partial sums are read that no wave has written",
            kind("never written"),
            "With waves of 64 lanes a block has half as many waves as with 32, and so half as many partial sums.",
            "Find the line that says how many partial sums there are, and compute it from the same wave size as "
            "the rest.",
        ),
        Cause(
            "leaves-early",
            "threads without an element return before the shuffles",
            lambda o: (kind("shuffle")(o) or kind("barrier")(o)) and not full(o.case),
            "A lane that has returned gives no value to a shuffle, and does not reach the barrier.",
            "Give these threads a 0 and let them take part.",
        ),
        Cause(
            "no-width",
            "the sums are right, but in the last loop lanes read from inactive lanes",
            lambda o: kind("shuffle")(o) and full(o.case) and bool((o.found("sums") == expected_sums(o.case)).all()),
            "The last loop is run by 32 threads. On a wave of 64 lanes a shuffle without a width reads from the "
            "other half, which is inactive. The value is not defined; here it is not used, by chance.",
            "Give the shuffles a width of 32, or let the whole wave run the last loop.",
        ),
        Cause(
            "no-barrier",
            "the partial sums are read before all waves have written theirs",
            read_and_written,
            "The waves of a block do not run in lockstep with each other.",
            "What must be between the line that writes partial and the one that reads it?",
        ),
        Cause(
            "starts-at-16",
            "the upper half of each wave is not in the sum",
            like(lambda wave: 16, lambda wave: wave),
            "Shuffles by 16, 8, 4, 2, 1 add up 32 lanes. Here one sum is kept for each wave, and a wave may have 64.",
            "What should the first step be, if lane and wave are counted with warpSize?",
        ),
        Cause(
            "mixed-groups",
            "shuffles over the whole wave, but a partial sum for each 32 threads: lanes are counted twice",
            lambda o: (kind("shuffle")(o) and full(o.case)) or like(lambda wave: wave // 2, lambda wave: 32)(o),
            "Thread 32 keeps a sum, too, but its lanes are already in the sum of thread 0. And when only 32 "
            "threads add "
            "up the partial sums, a shuffle by 32 reads from inactive lanes.",
            "Decide: groups of 32 in all lines, or waves in all lines.",
            explains=("shuffle",),
        ),
        Cause(
            "only-64",
            "the kernel is written for waves of 64 lanes alone",
            lambda o: o.wave_size == 32 and like(lambda wave: 32, lambda wave: 64)(o),
            "In a wave of 32, a shuffle by 32 has no lane to read from and returns the lane's own value.",
            "Use warpSize, or groups of 32 with a width.",
        ),
        Cause(
            "sums-too-small",
            "all wrong sums are too small",
            differs_by(-1),
            "All numbers are positive. So some of them are not in the sum, or what is added is something else.",
            "Give each thread the number 1. Which sum should a wave have, and which one does it have after each step?",
        ),
        Cause(
            "sums-too-large",
            "all wrong sums are too large",
            differs_by(1),
            "All numbers are positive. So some of them are in the sum more than once, or what is added is something else.",
            "Give each thread the number 1. Which sum should a wave have, and which one does it have after each step?",
        ),
    ),
    requirements=(
        source(
            "half-a-mask",
            r"\b0x[fF]{8}[uUlL]*\b",
            at_most=0,
            what="masks of 32 lanes",
            title="masks name all lanes that take part",
            next_step="On waves of 64 this mask names the lower half only, and lanes in the upper half call a function in "
            "which they do not take part. That the sum is right here is luck. All lanes are ~0ull.",
        ),
        loaded_by_lanes("loaded-by-the-wave", "in", when=many),
        active_lanes(
            "few-lanes",
            at_least=0.5,
            title="at least half of the lanes are active, on average",
            when=many,
            shrinks=False,
            next_step="In the CUDA kernel all threads of a block add. In yours few lanes do the work of all: "
            "run.divergence() shows in which lines.",
        ),
    ),
    hints=(
        "There are two ways that work: the group is the wave (warpSize in every line), or the group has 32 threads "
        "(and the shuffles have the width 32). Choose one before you write.",
        "Count the lines that contain a 32, a 16 or a mask: lane, warp, two loops, the size of partial, the number of "
        "partial sums, two masks. Each belongs to your decision.",
        "With waves: `lane = threadIdx.x % warpSize`, `warp = threadIdx.x / warpSize`, loops from `warpSize / 2`, "
        "`blockDim.x / warpSize` partial sums, and room for `1024 / 32` of them.",
    ),
)
