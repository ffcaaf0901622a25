"""mystery-sums: sums of 256 elements in a block, judged by LDS bank conflicts and by the LDS reads of its waves."""

import numpy as np

from gpulab.grading import requirements
from gpulab.grading.case import Array, Case, Value, blocks_for, distinct, sentinel
from gpulab.grading.exercise import Cause, Exercise


def sums(data, used=256):
    """The sum of each 256 elements, or of the first `used` of them."""
    whole = np.zeros(256 * blocks_for(data.size, 256))
    whole[: data.size] = data
    return whole.reshape(-1, 256)[:, :used].sum(1).astype("float32")


def every_second(case):
    """What a tree gives that goes from far to near and stops before two numbers become one."""
    return sums(np.where(np.arange(case.parameters["n"]) % 2 == 0, case.array("in").data, 0))


def make(parameters, random):
    n = parameters["n"]
    data = distinct(random, n)
    expected = sums(data)
    return Case(
        parameters,
        grid=(blocks_for(n, 256), 1, 1),
        block=(256, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Array("in", data),
            Array("sums", sentinel("float32", expected.shape), expected),
        ),
    )


exercise = Exercise(
    id="mystery-sums",
    title="the second mystery",
    lesson="14_profiling",
    section="Question 3: which unit is busy",
    kernel="block_sums",
    signature="int n, const float* in, float* sums",
    minutes=30,
    make=make,
    owner=lambda case, index: ((index, 0, 0), (0, 0, 0)),
    cases=(
        {"n": 1000, "block": 256},
        {"n": 257, "block": 256},
        {"n": 256, "block": 256},
        {"n": 100, "block": 256},
        {"n": 1, "block": 256},
        {"n": 0, "block": 256},
        {"n": 20_000, "block": 256},
    ),
    smallest={"n": 1, "block": 256},
    shown={"n": 2000, "block": 256},
    causes=(
        Cause(
            "last-step-missing",
            "the last two numbers of each block are not added",
            lambda o: o.looks_like("sums", every_second),
            "The last step adds the element at distance 1.",
            "Which distances does your loop go through?",
        ),
        Cause(
            "reads-past-end",
            "elements after the end of the array are read",
            lambda o: o.read_past("in"),
            "The last block may have fewer than 256 elements.",
            "What should a thread without an element put into the sum?",
        ),
        Cause(
            "half-lost",
            "only a half of the elements is added",
            lambda o: (
                o.looks_like("sums", lambda case: sums(case.array("in").data, 128))
                or o.looks_like("sums", lambda case: sums(case.array("in").data, 64))
            ),
            "The first step of the loop makes 128 sums of 256 values.",
            "With which step must the loop begin, and which element is added last?",
        ),
    ),
    requirements=(
        requirements.bank_conflicts(),
        requirements.executed(
            "lds-reads",
            "LDS reads",
            at_most=lambda case, arch: 14 * case.grid[0],
            title="at most 14 LDS reads executed by the waves of a block",
            next_step="There are no conflicts, but every wave takes part to the end. Which threads are active in the "
            "last steps, and in how many waves are they?",
        ),
        requirements.loaded_by_lanes("loaded-by-the-wave", "in", when=lambda case: case.parameters["n"] >= 20_000),
    ),
    hints=(
        "`before.source(by=\"conflicts\").show()` names the line. `before.lds_banks().show()` shows the lanes of one "
        "of its instructions: how many banks do they use?",
        "The elements that are added in one step should lie side by side, and so should the threads that add them.",
        "Add the upper half to the lower half: `for (int half = 128; half > 0; half /= 2) { if (t < half) tile[t] "
        "+= tile[t + half]; __syncthreads(); }`",
    ),
)
