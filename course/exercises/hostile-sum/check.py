"""hostile-sum: the sums of columns whose large numbers cancel, in float alone, by a compensated sum."""

import math

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, sentinel
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.requirements import instructions, work_shared


def hostile(rows, n, power, random):
    """Columns of small multiples of 1/1024, and pairs of large numbers that cancel, but for their last digits.

    The largest numbers are about 2**power. Up to 2**26 all that additions lose is a multiple of 1/1024 below 2**13,
    which a float holds: a compensated sum is then right to its last rounding; other pairs are up to 2**10 times as
    small, so that no limit divides small numbers from large ones. Beyond 2**26 one pair in a column does the same: it
    cancels in every other column.
    """
    numbers = (random.integers(512, 4096, (rows, n)) / 1024).astype("float32")
    pairs = min(rows // 4, 4) if power <= 26 else min(rows // 4, 1)
    for column in range(n):
        places = random.permutation(rows)[: 2 * pairs]
        whole = random.integers(1 << 22, 1 << 23, pairs)
        if power <= 26:
            scale = 2.0 ** (power - 22 - random.integers(0, 11, pairs) * (np.arange(pairs) > 0))
            rest = random.integers(0, 4, pairs)
        else:
            scale, rest = 2.0 ** (power - 22), column % 2
        numbers[places, column] = np.concatenate([whole * scale, (rest - whole) * scale]).astype("float32")
    return numbers


def plain(numbers):
    total = np.zeros(numbers.shape[1], "float32")
    for row in numbers:
        total = total + row
    return total


def kahan(numbers):
    total = lost = np.zeros(numbers.shape[1], "float32")
    for row in numbers:
        y = row - lost
        after = total + y
        lost, total = (after - total) - y, after
    return total


def neumaier(numbers, swapped=False, sign=1, each_time=False, size=np.abs):
    """Neumaier's sum; with `swapped` the smaller one is taken for the larger, with `sign` -1 the loss is subtracted,
    with `each_time` the whole loss is added to the sum in each step. `size` is what is compared."""
    total = lost = np.zeros(numbers.shape[1], "float32")
    for row in numbers:
        after = total + row
        first = (size(total) >= size(row)) != swapped
        large, little = np.where(first, total, row), np.where(first, row, total)
        lost = lost + ((large - after) + little)
        total = after + lost if each_time else after
    return total if each_time else total + np.float32(sign) * lost


def make(parameters, random):
    rows, n, block = parameters["rows"], parameters["n"], parameters["block"]
    numbers = hostile(rows, n, parameters["power"], random)
    sums = np.array([math.fsum(column) for column in numbers.T.tolist()], "float64")
    return Case(
        parameters,
        grid=(blocks_for(n, block), 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("rows", np.int32(rows)),
            Value("n", np.int32(n)),
            Array("in", numbers),
            Array("out", sentinel("float32", n), sums.astype("float32"), relative=1e-6),
        ),
    )


def leaves(way, **options):
    """A `when`: is the whole output what this way to add would leave?"""
    return lambda o: o.looks_like("out", lambda case: way(case.array("in").data, **options))


def some_losses(numbers, kept):
    """Neumaier's sum, where `kept` (of the loss so far, of this addition's, and of whether the sum is the larger one)
    is the loss from then on."""
    total = lost = np.zeros(numbers.shape[1], "float32")
    for row in numbers:
        after, larger = total + row, np.abs(total) >= np.abs(row)
        large, little = np.where(larger, total, row), np.where(larger, row, total)
        lost, total = kept(lost, (large - after) + little, larger), after
    return total + lost


KEPT = (
    lambda before, loss, larger: loss,
    lambda before, loss, larger: before + np.where(larger, loss, np.float32(0)),
    lambda before, loss, larger: before + np.where(larger, np.float32(0), loss),
    lambda before, loss, larger: np.where(larger, loss, before + loss),
    lambda before, loss, larger: np.where(larger, before + loss, loss),
)
"""The last one alone; those of one of the two cases alone; those since the last of one of the two cases."""


def apart(numbers):
    """A plain sum of the positive numbers, and one of the negative ones."""
    return plain(np.maximum(numbers, 0)) + plain(np.minimum(numbers, 0))


def any_of(*tests):
    return lambda o: any(test(o) for test in tests)


def small_alone(o):
    """Is every result the sum of the numbers below some limit, the same one for all columns?"""
    numbers = o.case.array("in").data
    return any(
        o.looks_like("out", lambda case, limit=limit: np.where(np.abs(numbers) < limit, numbers, 0).sum(0, "float64"))
        for limit in 2.0 ** np.arange(3, 100, 1.0)
    )


def along_rows(case):
    """What comes out if a thread adds neighbours in memory, as if the matrix were stored column by column."""
    numbers = case.array("in").data
    return neumaier(numbers.reshape(numbers.shape[1], numbers.shape[0]).T)


exercise = Exercise(
    id="hostile-sum",
    title="a sum whose large numbers cancel",
    lesson="23_numbers",
    section="The order of a sum",
    kernel="column_sums",
    signature="int rows, int n, const float* in, float* out",
    minutes=20,
    make=make,
    cases=(
        {"rows": 40, "n": 100, "power": 26, "block": 64},
        {"rows": 33, "n": 70, "power": 100, "block": 64},
        {"rows": 9, "n": 257, "power": 24, "block": 128},
        {"rows": 64, "n": 64, "power": 26, "block": 32},
        {"rows": 4, "n": 5, "power": 100, "block": 64},
        {"rows": 1, "n": 1, "power": 24, "block": 64},
        {"rows": 0, "n": 3, "power": 24, "block": 64},
        {"rows": 8, "n": 0, "power": 24, "block": 64},
        {"rows": 24, "n": 2000, "power": 26, "block": 256},
    ),
    smallest={"rows": 12, "n": 8, "power": 24, "block": 32},
    shown={"rows": 4, "n": 3, "power": 10, "block": 32},
    kept=("block", "power"),
    reads=lambda case, name, index: tuple(
        ("in", row * case.parameters["n"] + index) for row in range(case.parameters["rows"])
    ),
    requirements=(
        instructions(
            "float-alone",
            r"v_\w*f64",
            at_most=0,
            title="no instruction computes in double",
            next_step="Which variable, constant or function of your kernel is a double? In float, the number that an "
            "addition lost is a float as well: keep that one.",
        ),
        work_shared(),
    ),
    causes=(
        Cause(
            "plain-sum",
            "the result is that of a plain sum: what additions lost is missing",
            any_of(leaves(plain), leaves(apart)),
            "Each addition loses the digits that do not fit. Here these are most digits of the result.",
            "Is the second variable used at the end? With numpy's float32, follow the column 1, 1e30, 1, -1e30.",
        ),
        Cause(
            "larger-than-the-sum",
            "what is lost is wrong where a number is larger than the sum so far",
            leaves(kahan),
            "The result is that of Kahan's sum, which computes the loss as if the sum were always the larger one.",
            "Which digits are lost in 1 + 1e30: those of the sum or those of the new number?",
        ),
        Cause(
            "losses-forgotten",
            "only a part of what additions lost is added in the end",
            any_of(*(leaves(some_losses, kept=kept) for kept in KEPT)),
            "Each addition loses something, whether the number or the sum is the larger one, and all of it counts.",
            "Which of your lines change the loss, and do they add to what was lost before?",
        ),
        Cause(
            "wrong-sign",
            "what was lost is subtracted, and should be added",
            leaves(neumaier, sign=-1),
            "The loss is what the rounded sum lacks.",
            "Work out the sign for 2**24 + 1.5 by hand, as in the lesson.",
        ),
        Cause(
            "larger-and-smaller-swapped",
            "the larger and the smaller number have changed places in the loss",
            leaves(neumaier, swapped=True),
            "(large - after) is exact if large is the larger of the two; the other way round it is rounded.",
            "Which of the two numbers is subtracted from first?",
        ),
        Cause(
            "signs-compared",
            "the sum and the number are compared with their signs, not by their absolute values",
            leaves(neumaier, size=lambda values: values),
            "-1e30 is less than 1, and is the larger one by its absolute value.",
            "Which function gives the absolute value of a float?",
        ),
        Cause(
            "large-left-out",
            "the result is that of the small numbers: the large ones are left out",
            small_alone,
            "Large numbers cancel for the most part, but not always to the last digit. What is left of them belongs to "
            "the sum.",
            "What is the sum of 1, 1000008 and -1000000? Add up all numbers of the column.",
        ),
        Cause(
            "added-in-each-step",
            "what was lost is added again in each step",
            leaves(neumaier, each_time=True),
            "The variable for the loss grows from step to step. Added each time, its old part counts many times.",
            "When is it soon enough to add what was lost?",
        ),
        Cause(
            "other-layout",
            "the matrix is read as if it were stored column by column",
            lambda o: o.looks_like("out", along_rows),
            "The matrix is stored row by row: the element below is n elements further on.",
            "Write down the indices of the first column for rows = 4, n = 3.",
        ),
    ),
    hints=(
        "Two variables: the sum, and all that additions lost. In each step compute the rounded sum, then how much it "
        "lost. At the end the second is added to the first.",
        "After `after = sum + x` the loss is (larger - after) + smaller, where the larger one is the one with the "
        "larger absolute value: the sum or x.",
        "`if (fabsf(sum) >= fabsf(x)) lost += (sum - after) + x;` and otherwise the same with sum and x exchanged; "
        "then `sum = after;`. The result is `sum + lost`.",
    ),
)
