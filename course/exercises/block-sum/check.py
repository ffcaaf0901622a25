"""block-sum: one sum for each block, in a tree."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, combinations, distinct, sentinel
from gpulab.grading.exercise import Cause, Exercise, power_of_two
from gpulab.grading.requirements import limited


def sums_of(data, block):
    padded = np.zeros(blocks_for(data.size, block) * block)
    padded[: data.size] = data
    return padded.reshape(-1, block).sum(axis=1)


def make(parameters, random):
    n, block = parameters["n"], parameters["block"]
    data = distinct(random, n)
    wanted = sums_of(data, block).astype("float32")
    return Case(
        parameters,
        grid=(len(wanted), 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Array("in", data),
            Array("sums", sentinel("float32", len(wanted)), wanted, relative=1e-5),
        ),
    )


def without_last_step(case):
    """What a tree gives that stops before two numbers become one."""
    block = case.parameters["block"]
    padded = np.zeros(len(case.array("sums").data) * block)
    padded[: case.parameters["n"]] = case.array("in").data
    return padded.reshape(-1, block)[:, ::2].sum(axis=1)


def loaded_alone(o):
    """Numbers (dwords) per block that loads with four active lanes or fewer bring, scalar loads in loops, and all
    that atomic operations add."""
    launch = o.measured[-1]
    return sum(
        cost.lanes * cost.bytes / 4
        for cost in launch.accesses
        if cost.action == "atomic" or (cost.action == "load" and cost.lanes <= 4 * cost.executed)
        if cost.space != "scalar" or cost.executed > 2 * launch.waves
    ) / len(o.case.array("sums").data)


exercise = Exercise(
    id="block-sum",
    title="a sum for each block, in a tree",
    lesson="06_lds",
    section="Barriers and races",
    kernel="block_sums",
    signature="int n, const float* in, float* sums",
    minutes=20,
    make=make,
    cases=(
        *combinations(n=(1000, 256, 65, 1), block=(64, 256)),
        {"n": 0, "block": 64},
        {"n": 4096, "block": 1024},
    ),
    promises=(power_of_two("block"),),
    smallest={"n": 1, "block": 64},
    shown={"n": 11, "block": 4},
    owner=lambda case, index: ((index, 0, 0), (0, 0, 0)),
    requirements=(
        limited(
            "one-after-the-other",
            "numbers in each block that atomic operations add, or up to four lanes load while all others of their wave wait",
            loaded_alone,
            at_most=64,
            when=lambda case: case.parameters["block"] >= 256,
            title="a tree: of a block's numbers at most 64 are loaded by instructions with four active lanes or fewer, or added "
            "by atomic operations",
            next_step="How many additions does one thread of your kernel do at most, one after the other? In a "
            "tree it is one "
            "for each halving, and most lanes have something to do.",
        ),
    ),
    causes=(
        Cause(
            "past-the-end",
            "threads beyond the end of the input read as well",
            lambda o: o.read_past("in"),
            "The last block has more threads than elements are left.",
            "What should a thread without an element store in the tile, so that the sum does not change?",
        ),
        Cause(
            "last-step-missing",
            "the tree stops too early: the last two numbers of each block are not added",
            lambda o: o.looks_like("sums", without_last_step),
            "The last step adds the element at distance 1.",
            "Which distances does your loop go through, for blocks of 8 threads?",
        ),
    ),
    hints=(
        "Each thread stores its element in a tile, or 0 if it has none. In each step the first half of the threads "
        "that are left adds the second half's numbers to its own. After the last step `tile[0]` has the sum.",
        "There is a barrier between two steps, and one before the first step. All threads of the block "
        "must reach it: "
        "put it in the loop, but not inside the if.",
        "`for (int half = blockDim.x / 2; half > 0; half /= 2) { __syncthreads(); if (t < half) tile[t] += tile[t +"
        " half]; }` and thread 0 writes `tile[0]`, which it has written itself.",
    ),
)
