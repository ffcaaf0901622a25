"""wave-sum: a reduction by shuffles that is right for any wave size and for waves that are not full."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, combinations, distinct, sentinel
from gpulab.grading.exercise import Cause, Exercise, multiple_of
from gpulab.grading.requirements import lds_bytes, limited, own_loads


def numbers(random, n):
    """Whole numbers of both signs, small ones and, of many, such of more than 16 bits. Sums need up to 26 bits."""
    data = distinct(random, n, "int32")
    data[random.random(n) < 0.25] *= -1
    large = (random.random(n) < 0.25) & (n > 200)  # small cases are drawn as pictures
    data[large] = random.integers(-1_000_000, 1_000_001, large.sum())
    if n > 200:
        data[:150] = random.integers(900_000, 1_000_001, 150)  # sums of more bits than a float has
    return data


def make(parameters, random):
    n, block, wave = parameters["n"], parameters["block"], parameters["wave"]
    blocks, waves = blocks_for(n, block), -(-block // wave)
    data = numbers(random, n)
    return Case(
        parameters,
        grid=(blocks, 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Array("in", data),
            Array("out", sentinel("int32", (blocks, waves)), sums(data, blocks, block, wave, wave)),
        ),
    )


def sums(data, blocks, block, wave, used):
    """For each block and wave the sum of its first `used` lanes."""
    waves = -(-block // wave)
    lanes = np.zeros((blocks, waves * wave), "int32")
    whole = np.zeros(blocks * block, "int32")
    whole[: data.size] = data
    lanes[:, :block] = whole.reshape(blocks, block)
    return lanes.reshape(blocks, waves, wave)[:, :, :used].sum(axis=2).astype("int32")


def empty_waves(o):
    """Are the sums that nobody stored just those of waves whose first thread has no element?"""
    block, waves = o.case.parameters["block"], o.case.array("out").data.shape[1]
    left = o.unwritten_indices("out")
    first = [k // waves * block + k % waves * o.wave_size for k in range(o.case.array("out").data.size)]
    empty = tuple(k for k, thread in enumerate(first) if thread >= o.case.parameters["n"])
    return o.fault is None and bool(left) and left == empty == o.wrong_indices("out")


def half(case):
    parameters = case.parameters
    return sums(case.array("in").data, case.grid[0], parameters["block"], parameters["wave"], 32)


def waves_of(case, arch):
    return case.grid[0] * case.array("out").data.shape[1]


def steps(arch):
    return 6 if arch == "gfx942" else 5


def shuffles(o):
    """Shuffles and reads of single lanes that waves executed."""
    return sum(
        cost.executed
        for launch in o.measured
        for cost in launch.instructions
        if cost.text.startswith(("ds_", "v_permlane", "v_readlane"))
    )


exercise = Exercise(
    id="wave-sum",
    title="the sum of each wave",
    lesson="04_lanes_together",
    section="The sum of a wave",
    kernel="wave_sum",
    signature="int n, const int* in, int* out",
    minutes=15,
    make=make,
    owner=lambda case, index: None,
    by_wave=True,
    cases=(*combinations(n=(1000, 65, 64, 1), block=(64, 256, 96)), {"n": 300, "block": 32}, {"n": 0, "block": 64}),
    promises=(multiple_of(32, "block"),),
    smallest={"n": 1, "block": 32},
    shown={"n": 200, "block": 128},
    requirements=(
        own_loads(
            "in",
            at_most=2,
            title="a wave loads its own numbers, with at most two loads",
            next_step="A lane that reads all numbers of its wave from memory does alone what the wave can do together.",
            when=lambda case: case.parameters["n"] >= 300,
        ),
        lds_bytes(
            "shared-memory",
            at_most=0,
            title="no shared memory",
            next_step="The lanes of a wave can read each other's registers: which functions of the lesson do that?",
        ),
        limited(
            "too-many-shuffles",
            "shuffles executed by waves",
            shuffles,
            at_most=lambda case, arch: 2 * steps(arch) * waves_of(case, arch),
            title="at most two chains of shuffles in each full wave: 12 shuffles on waves of 64, 10 on waves of 32",
            when=lambda case: case.parameters["block"] % 64 == 0,
            next_step="In each step the sums can cover twice as many lanes. How many steps are needed?",
        ),
    ),
    causes=(
        Cause(
            "shuffle-from-nobody",
            "a shuffle reads from a lane that has no thread or has returned",
            lambda o: o.fault is not None and o.fault.kind == "shuffle",
            "The last wave of a block may have fewer lanes than warpSize, and a lane that has returned is "
            "inactive as well.",
            "How many lanes has this wave? Let a lane read itself, and not add, where its partner does not exist.",
        ),
        Cause(
            "for-32-lanes",
            "only the first 32 lanes of each wave are summed up",
            lambda o: o.wave_size == 64 and o.looks_like("out", half),
            "A loop that begins with a step of 16 covers 32 lanes.",
            "Let the first step follow from warpSize.",
        ),
        Cause(
            "empty-waves",
            "waves without an element write nothing",
            empty_waves,
            "The sum of no numbers is 0, and it has to be stored as well: each wave of the launch writes its sum.",
            "Which threads write in your kernel, and is one of them in each wave?",
        ),
        Cause(
            "wrong-wave",
            "the sums are in the wrong places",
            lambda o: (
                (o.fault is not None and o.fault.kind != "never written" and (o.faulting_index() or [""])[0] == "out")
                or bool(o.outside("out"))
                or (bool(o.unwritten_indices("out")) and not empty_waves(o) and o.case.parameters["block"] % o.wave_size != 0)
            ),
            "A block has ceil(blockDim.x / warpSize) waves, and its last one may not be full. The number of the thread "
            "in the grid, "
            "divided by warpSize, is something else.",
            "Compute the number of waves for blocks of 96 threads and waves of 64 lanes.",
            explains=("race",),
        ),
        Cause(
            "wrong-sum",
            "some sums are wrong",
            lambda o: o.fault is None and bool(o.wrong_indices("out")) and not o.left_out(),
            "Lanes are left out, or counted twice, or a part of their numbers is lost.",
            "Give each lane the number 1: what should each wave write, and what does it write?",
        ),
    ),
    hints=(
        "Let threads without an element use 0, and let no thread return early. Then add up with the lesson's loop: its "
        "steps are 1, 2, 4 and so on below warpSize, or the same from warpSize / 2 down.",
        "A block of 96 threads has, on waves of 64, a second wave with 32 lanes: blockDim.x minus 64. Compute that "
        "number, and before each "
        "shuffle test whether the partner's number is less than it.",
        "`int lanes = min(static_cast<int>(blockDim.x) - wave * warpSize, static_cast<int>(warpSize));` and in the "
        "loop: `int from = lane + step; int other = __shfl(v, from < lanes ? from : lane); if (from < lanes) v += "
        "other;`",
    ),
)
