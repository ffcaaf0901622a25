"""wave-scan: an inclusive scan of each wave by shuffles from lower lanes."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, combinations, distinct, sentinel
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.requirements import lds_bytes, limited, own_loads


def numbers(random, n):
    """Whole numbers of both signs, small ones and, of many, such of more than 16 bits. Sums need up to 26 bits."""
    data = distinct(random, n, "int32")
    data[random.random(n) < 0.25] *= -1
    large = (random.random(n) < 0.25) & (n > 120)  # small cases are drawn as pictures
    data[large] = random.integers(-1_000_000, 1_000_001, large.sum())
    if n > 120:
        data[:150] = random.integers(900_000, 1_000_001, min(n, 150))  # sums of more bits than a float has
    return data


def make(parameters, random):
    n, block, wave = parameters["n"], parameters["block"], parameters["wave"]
    data = numbers(random, n)
    return Case(
        parameters,
        grid=(blocks_for(n, block), 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Array("in", data),
            Array("out", sentinel("int32", n), scanned(data, block, wave)),
        ),
    )


def scanned(data, block, size):
    """Running totals that begin anew at each multiple of `size` in each block."""
    out = data.copy()
    for first in range(0, data.size, block):
        for start in range(first, min(first + block, data.size), size):
            end = min(start + size, first + block)
            out[start:end] = np.cumsum(data[start:end])
    return out


def right(case):
    return scanned(case.array("in").data, case.parameters["block"], case.parameters["wave"])


def own_added(data, block, wave, place):
    """What is left without a test: where no lane lies so far below, a lane adds its own value."""
    v = data.copy()
    numbers = np.arange(data.size) % block
    lane = numbers % wave
    step = 1
    while step < wave:
        lower = np.where(lane >= step, np.roll(v, step), v)
        v = np.where(place(numbers) >= step, v + lower, v)
        step *= 2
    return v.astype("int32")


def without_test(place):
    def prediction(case):
        parameters = case.parameters
        with np.errstate(over="ignore"):
            return own_added(case.array("in").data, parameters["block"], parameters["wave"], place)

    return prediction


def waves_of(case, arch):
    return case.grid[0] * -(-case.block[0] // case.parameters["wave"])


def shuffles(o):
    """Shuffles and reads of single lanes that waves executed."""
    return sum(
        cost.executed
        for launch in o.measured
        for cost in launch.instructions
        if cost.text.startswith(("ds_", "v_permlane", "v_readlane"))
    )


def lanes_of_the_grid(case):
    """Totals if each thread takes its number in the grid, not in its block, for the number of its lane."""
    block, wave, data = case.parameters["block"], case.parameters["wave"], case.array("in").data
    totals = np.zeros(case.grid[0] * block, "int64")
    totals[: data.size] = data
    for first in [b * block + w for b in range(case.grid[0]) for w in range(0, block, wave)]:
        lanes = min(wave, block - (first % block))
        v, number = totals[first : first + lanes].copy(), (first + np.arange(lanes)) % wave
        for step in (2**k for k in range(wave.bit_length() - 1)):
            lower = np.concatenate([v[:step], v[:-step]])[:lanes]
            v = np.where(number >= step, v + lower, v)
        totals[first : first + lanes] = v
    return totals[: data.size].astype("int32")


def reads(case, name, index):
    """The element and those of its wave below it."""
    block, wave = case.parameters["block"], case.parameters["wave"]
    return [("in", i) for i in range(index, index - index % block % wave - 1, -1)]


exercise = Exercise(
    id="wave-scan",
    title="running totals of each wave",
    lesson="04_lanes_together",
    section="Scans",
    kernel="running_totals",
    signature="int n, const int* in, int* out",
    minutes=20,
    make=make,
    by_wave=True,
    cases=(*combinations(n=(1000, 65, 64, 1), block=(64, 256, 100)), {"n": 300, "block": 20}, {"n": 0, "block": 64}),
    smallest={"n": 1, "block": 4},
    reads=reads,
    shown={"n": 10, "block": 10},
    requirements=(
        own_loads(
            "in",
            at_most=2,
            title="a wave loads its own numbers, with at most two loads",
            next_step="A lane that reads the numbers of other lanes from memory need not do so: the numbers are in their registers.",
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
            at_most=lambda case, arch: (6 if arch == "gfx942" else 5) * waves_of(case, arch),
            title="at most one chain of shuffles in each wave: 6 shuffles on waves of 64, 5 on waves of 32",
            next_step="In each step a total can cover twice as many lanes. How many steps are needed?",
        ),
    ),
    causes=(
        Cause(
            "lane-of-the-grid",
            "the number of the lane is computed from the number of the thread in the grid",
            lambda o: (
                o.case.grid[0] > 1
                and o.case.parameters["block"] % o.wave_size != 0
                and o.looks_like("out", lanes_of_the_grid)
            ),
            "Each block begins with a wave of its own. If its size is no multiple of the wave size, the first thread "
            "of block 1 is lane 0 of its wave, but its number in the grid is no multiple of warpSize.",
            "Which built-in variable counts the threads of a block from 0?",
        ),
        Cause(
            "shuffle-from-nobody",
            "a shuffle reads from a lane that is inactive or has no thread",
            lambda o: o.fault is not None and o.fault.kind == "shuffle",
            "Inside an if, only the lanes that take it are active. And the last wave of a block may have fewer lanes "
            "than warpSize.",
            "Let all lanes shuffle, and decide afterwards which lanes add. Does each lane that is read have a thread?",
        ),
        Cause(
            "missing-guard",
            "threads past the end of the arrays work too",
            lambda o: bool(o.outside("out")) or o.fault is not None,
            "The last block has more threads than elements are left.",
            "A thread without an element may shuffle, but not read or write.",
            guard=("n",),
        ),
        Cause(
            "for-32-lanes",
            "the totals begin at 0 again at lane 32",
            lambda o: (
                o.wave_size == 64
                and o.looks_like("out", lambda case: scanned(case.array("in").data, case.parameters["block"], 32))
            ),
            "Steps up to 16, or groups of 32, cover 32 lanes. This wave has 64.",
            "Let the last step follow from warpSize.",
        ),
        Cause(
            "reaches-32-lanes",
            "the totals do not reach back further than 32 lanes",
            lambda o: o.wave_size == 64 and o.looks_like("out", windows),
            "Steps up to 16 reach 32 lanes back. This wave has 64.",
            "Let the last step follow from warpSize.",
        ),
        Cause(
            "exclusive",
            "each total leaves out the lane's own number",
            lambda o: o.looks_like("out", lambda case: right(case) - case.array("in").data),
            "This is an exclusive scan. The exercise needs the inclusive one.",
            "What should the first lane write?",
        ),
        Cause(
            "adds-own",
            "the first lanes of the wave add their own value",
            lambda o: (
                o.looks_like("out", without_test(lambda numbers: numbers + 1000))
                or o.looks_like("out", without_test(lambda numbers: numbers))
            ),
            "Where there is no lane so many places below, __shfl_up gives a lane its own value. threadIdx.x "
            "counts the threads of all waves of a block.",
            "Which lanes may add in a step? Test the number of the lane in its wave.",
        ),
        Cause(
            "wrong-totals",
            "some totals are wrong",
            lambda o: o.fault is None and bool(o.wrong_indices("out")) and not o.left_out(),
            "Lanes are left out, or counted twice, or a part of their numbers is lost.",
            "Give each lane the number 1: lane k should write k + 1.",
        ),
    ),
    hints=(
        "After the first step each lane has the sum of itself and its lower neighbour; after the second, of four "
        "lanes. What must the distance be in each step?",
        "In a step all lanes call `__shfl_up(v, step)`, and those with `lane >= step` add what they got.",
        "`for (int step = 1; step < warpSize; step *= 2) { int lower = __shfl_up(v, step); if (lane >= step) v += "
        "lower; }` with `lane = threadIdx.x % warpSize`.",
    ),
)


def windows(case):
    """Sums of the last 32 lanes of the wave, at most."""
    total = right(case).astype("int64")
    numbers = np.arange(total.size) % case.parameters["block"]
    lane = numbers % case.parameters["wave"]
    return np.where(lane >= 32, total - np.roll(total, 32), total).astype("int32")
