"""first-fill: one thread, one element, and no write beyond the end."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, combinations, sentinel
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.requirements import work_shared


def make(parameters, random):
    n, block = parameters["n"], parameters["block"]
    value = np.float32(random.integers(2, 1000) + 0.3)
    return Case(
        parameters,
        grid=(blocks_for(n, block), 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Value("value", value),
            Array("out", sentinel("float32", n), np.full(n, value, "float32")),
        ),
    )


def another_value(o):
    """Is the same other number found in all elements?"""
    found = o.found("out")
    return (
        o.fault is None
        and not o.outside("out")
        and not o.unwritten_indices("out")
        and bool(o.wrong("out").all())
        and found.size > 1
        and len(set(found.tolist())) == 1
    )


def filled_at(index):
    """What is left if every thread writes the element `index(block number, thread number, case)`, where it exists."""

    def prediction(case):
        out = case.array("out").data.copy()
        for b in range(case.grid[0]):
            for t in range(case.block[0]):
                if 0 <= index(b, t, case) < out.size:
                    out[index(b, t, case)] = case.value("value")
        return out

    return prediction


exercise = Exercise(
    id="first-fill",
    title="fill an array with one value",
    lesson="01_first_kernel",
    section="The number of a thread",
    kernel="fill",
    signature="int n, float value, float* out",
    minutes=5,
    make=make,
    cases=(*combinations(n=(1000, 65, 64, 63, 1), block=(64, 256)), {"n": 0, "block": 64}),
    smallest={"n": 1, "block": 4},
    shown={"n": 10, "block": 4},
    requirements=(work_shared(),),
    causes=(
        Cause(
            "guard-one-too-far",
            "the guard lets one thread too many through",
            lambda o: o.one_too_many("out"),
            "An array of n elements ends at index n - 1, so index n is already outside.",
            "Test your condition for the thread with number n: should it write?",
        ),
        Cause(
            "missing-guard",
            "threads past the end of the array write too: the guard is missing or never false",
            lambda o: bool(o.written_past("out")),
            "Whole blocks are launched. If n is not a multiple of the block size, the last block has threads "
            "with no element of their own.",
            "Let a thread write only if its number is less than n.",
            guard=("n",),
        ),
        Cause(
            "thread-index-only",
            "every block writes the same elements: the index leaves out the block",
            lambda o: o.looks_like("out", filled_at(lambda b, t, case: t)) and not o.uses(r"\bblockIdx\s*\.\s*x\b"),
            "threadIdx.x starts at 0 again in every block.",
            "Add to it the number of threads in all blocks before this one.",
        ),
        Cause(
            "wrong-stride",
            "the distance between blocks is wrong: blockIdx.x is multiplied by the number of blocks",
            lambda o: o.looks_like("out", filled_at(lambda b, t, case: b * case.grid[0] + t)),
            "The distance of neighbouring blocks is the number of threads of a block, and that is blockDim.x; "
            "gridDim.x is "
            "the number of blocks.",
            "For each built-in variable: what does it count?",
        ),
        Cause(
            "another-value",
            "each element is written, but not with `value`",
            another_value,
            "The value is a float with a fraction. An integer on the way to out[i] loses it, for example.",
            "Which operations and which types are between `value` and `out[i]`?",
        ),
        Cause(
            "skips-last",
            "the last element is left out",
            lambda o: (
                o.case.parameters["n"] > 1
                and o.unwritten_indices("out") == (o.case.parameters["n"] - 1,)
                and o.wrong_indices("out") == (o.case.parameters["n"] - 1,)
            ),
            "The last element has index n - 1, and that is less than n.",
            "Try your condition with n = 1: which thread should write?",
        ),
    ),
    hints=(
        "Each thread writes one element. It needs its number in the whole grid: blockIdx.x, blockDim.x and "
        "threadIdx.x together give it.",
        "blockIdx.x blocks lie before this one, each has blockDim.x threads, and threadIdx.x threads of this "
        "block come before this thread. And what should a thread do whose number is n or more?",
        "`int i = blockIdx.x * blockDim.x + threadIdx.x;` then one assignment to `out[i]` under a condition on i "
        "and n.",
    ),
)
