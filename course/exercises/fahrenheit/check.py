"""fahrenheit: one array in, one out, and a formula in which whole numbers are a trap."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, combinations, sentinel
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.patterns import combination
from gpulab.grading.requirements import work_shared


def make(parameters, random):
    n, block = parameters["n"], parameters["block"]
    celsius = random.integers(-60, 60, n).astype("int32")
    celsius[:1] = 21
    return Case(
        parameters,
        grid=(blocks_for(n, block), 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Array("celsius", celsius),
            Array("fahrenheit", sentinel("float32", n), (celsius * 1.8 + 32).astype("float32"), relative=1e-4),
        ),
    )


def computed(o, formula):
    """Is every element what `formula` makes of its temperature?"""
    return o.looks_like("fahrenheit", lambda case: formula(case.array("celsius").data.astype("float64")))


def straight_line(o):
    """Is every result the same multiple of its temperature, plus the same number?"""
    if o.fault is not None or o.unwritten_indices("fahrenheit") or not o.wrong_indices("fahrenheit"):
        return False
    celsius = o.case.array("celsius").data
    return combination(o.found("fahrenheit"), (celsius, np.ones(celsius.size))) is not None


exercise = Exercise(
    id="fahrenheit",
    title="degrees Fahrenheit",
    lesson="01_first_kernel",
    section="The number of a thread",
    kernel="convert",
    signature="int n, const int* celsius, float* fahrenheit",
    minutes=10,
    make=make,
    cases=(*combinations(n=(1000, 65, 64, 63, 1), block=(64, 256)), {"n": 0, "block": 64}),
    smallest={"n": 1, "block": 4},
    shown={"n": 7, "block": 4},
    requirements=(work_shared(),),
    causes=(
        Cause(
            "guard-one-too-far",
            "the guard lets one thread too many through",
            lambda o: o.one_too_many("fahrenheit"),
            "An array of n elements ends at index n - 1, so index n is already outside.",
            "Test your condition for the thread with number n: should it write?",
        ),
        Cause(
            "missing-guard",
            "threads past the end of the arrays work too: the guard is missing or never false",
            lambda o: bool(o.outside("fahrenheit")) or o.fault is not None,
            "Whole blocks are launched, so there can be more threads than temperatures.",
            "Let a thread work only if its number is less than n.",
            guard=("n",),
        ),
        Cause(
            "integer-division",
            "9 / 5 is 1 in C++: both are integers",
            lambda o: computed(o, lambda c: c + 32),
            "The quotient of two integers is an integer, rounded towards zero.",
            "Write at least one of them as a float: 9.0f.",
        ),
        Cause(
            "rounded",
            "the results are integers: something was rounded",
            lambda o: computed(o, lambda c: np.trunc(c * 9 / 5) + 32) or computed(o, lambda c: np.trunc(c / 5) * 9 + 32),
            "9 * celsius / 5 is computed with integers, because all three numbers are integers.",
            "Which of the numbers could be a float, so that the division keeps its fraction?",
        ),
        Cause(
            "result-rounded",
            "the results are integers: each is rounded before it is stored",
            lambda o: any(
                computed(o, lambda c, rounded=rounded: rounded((9 * c + 160) / 5))
                for rounded in (np.rint, np.floor, np.ceil, np.trunc)
            ),
            "Most temperatures have a fraction in degrees Fahrenheit: 21 degrees Celsius are 69.8.",
            "Is there a function that rounds, or a variable that is an integer, between the formula and the store?",
        ),
        Cause(
            "without-sign",
            "temperatures below 0 are taken for numbers of four billion",
            lambda o: computed(o, lambda c: np.where(c < 0, c + 2**32, c) * 1.8 + 32),
            "An int below 0 that becomes an unsigned is larger than every int.",
            "Of which type is each variable that holds a temperature?",
        ),
        Cause(
            "order-of-operations",
            "32 is added before the multiplication",
            lambda o: computed(o, lambda c: (c + 32) * 1.8),
            "The formula is nine fifths of the temperature, plus 32.",
            "Which operation should the parentheses hold together, if there are any?",
        ),
        Cause(
            "other-way-round",
            "this converts Fahrenheit to Celsius",
            lambda o: computed(o, lambda c: (c - 32) / 1.8),
            "The input is in degrees Celsius already.",
            "Put in 100: water boils at 212 degrees Fahrenheit.",
        ),
        Cause(
            "thread-index-only",
            "every block writes the same elements: the index leaves out the block",
            lambda o: (
                o.fault is None
                and bool(o.wrong_indices("fahrenheit"))
                and o.wrong_indices("fahrenheit") == tuple(range(o.case.block[0], o.case.parameters["n"]))
                and not o.uses(r"\bblockIdx\s*\.\s*x\b")
            ),
            "threadIdx.x starts at 0 again in every block.",
            "Add to it the number of threads in all blocks before this one.",
        ),
        Cause(
            "other-numbers",
            "each result is a multiple of its temperature plus a number, but not 9 / 5 of it plus 32",
            straight_line,
            "Index and guard are right. The formula is not.",
            "What comes out for 0 degrees, and what for 5? Compare with the formula, operation by operation.",
        ),
    ),
    hints=(
        "Three parts: this thread's number in the grid, a guard, and one assignment. The first two are as in the "
        "lesson.",
        "The formula is fahrenheit = celsius * 9 / 5 + 32. For each operation: if both numbers are integers, so "
        "is "
        "its result.",
        "`int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) fahrenheit[i] = celsius[i] * 1.8f + 32.0f;`",
    ),
)
