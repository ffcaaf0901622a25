"""repeatable-sum: the sums of four rows in fixed point, the same bits for any grid and any order of the blocks."""

import numpy as np

from gpulab.grading.case import Array, Case, Value
from gpulab.grading.exercise import Cause, Exercise, multiple_of
from gpulab.grading.requirements import executed, loaded_by_lanes

UNIT = 2.0**20
"""Units in 1."""

ROWS = 4


def units(numbers):
    """Each number in units, rounded to nearest even; exact in float64."""
    return np.rint(numbers.astype("float64") * UNIT).astype("int64")


def total(parts):
    """The sum of each row, as its bits are stored."""
    return parts.sum(axis=1, dtype="int64").view("uint64")


def make(parameters, random):
    n, blocks, block = parameters["n"], parameters["blocks"], parameters["block"]
    shape = ROWS, n
    sizes = np.ldexp(random.integers(1 << 23, 1 << 24, shape), random.integers(-30, -14, shape))  # below 1000
    numbers = np.where(random.integers(0, 4, shape) == 0, -sizes, sizes).astype("float32")
    return Case(
        parameters,
        grid=(blocks, ROWS, 1),
        block=(block, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Array("in", numbers),
            Array("total", np.zeros(ROWS, "uint64"), total(units(numbers))),
        ),
    )


def of(select):
    """A `when`: are the totals those of the numbers for which `select(case, thread of the row, round of the loop)` is
    True?"""

    def predicted(case):
        index, threads = np.arange(case.parameters["n"]), case.grid[0] * case.block[0]
        return total(units(case.array("in").data)[:, select(case, index % threads, index // threads)])

    return lambda o: o.looks_like("total", predicted)


def of_lanes(o):
    """Are, of each wave, the first 32 lanes counted, or of each block the first wave, or the first thread of each?"""
    wave, size = o.wave_size, o.case.block[0]
    halves = of(lambda case, thread, step: thread % wave < 32)(o)
    firsts = of(lambda case, thread, step: thread % wave == 0)(o)
    one = of(lambda case, thread, step: thread % size == 0)(o)
    return halves or firsts or one


def cut_off(case):
    """What comes out if the fraction of a unit is cut off instead of rounded."""
    return total(np.trunc(case.array("in").data.astype("float64") * UNIT).astype("int64"))


def halves(o):
    """Are the totals those of numbers whose halves of a unit went up, or away from zero, instead of to the even one?"""

    def predicted(case, away):
        exact = case.array("in").data.astype("float64") * UNIT
        up = np.where(exact < 0, -np.floor(-exact + 0.5), np.floor(exact + 0.5)) if away else np.floor(exact + 0.5)
        return total(up.astype("int64"))

    def in_float(case, cut):
        """A half is added as a float, which rounds where numbers are large."""
        numbers = case.array("in").data * np.float32(UNIT) + np.float32(0.5)
        return total(cut(numbers).astype("int64"))

    return any(
        o.looks_like("total", guess)
        for guess in (
            lambda case: predicted(case, True),
            lambda case: predicted(case, False),
            lambda case: in_float(case, np.floor),
            lambda case: in_float(case, np.trunc),
        )
    )


def of_first_row(case):
    """What comes out if the blocks of all rows read the first one."""
    return np.repeat(total(units(case.array("in").data))[:1], ROWS)


def all_in_first(case):
    """What comes out if all blocks add to the first total."""
    sums = np.zeros(ROWS, "uint64")
    sums[0] = total(units(case.array("in").data)).sum(dtype="uint64")
    return sums


def off_by(o):
    """How much each total is off, as a signed number of units; None where all are right, or the launch had a fault."""
    if o.fault is not None or not o.wrong("total").any() or o.untouched("total").all():
        return None
    return (o.found("total") - o.case.array("total").wanted).view("int64")


def wrapped(o):
    """Are all totals off by a multiple of 2**32?"""
    difference = off_by(o)
    return difference is not None and bool((difference % 2**32 == 0).all())


def whole_numbers(o):
    """Is each total so many whole numbers, where other totals are wanted?"""
    whole = np.uint64(UNIT)
    wanted, found = o.case.array("total").wanted, o.found("total")
    return off_by(o) is not None and bool((found % whole == 0).all() and (wanted % whole != 0).all())


def rounded_later(o):
    """Are all totals nearly right: off by less than a thousandth of the sum of absolute values?"""
    difference = off_by(o)
    size = np.abs(units(o.case.array("in").data)).sum(axis=1) // 1000 + o.case.parameters["n"]
    return difference is not None and bool((np.abs(difference) < size).all())


def with_numbers(case):
    """The blocks that have a number to add."""
    return ROWS * min(case.grid[0], -(-case.parameters["n"] // case.block[0]))


exercise = Exercise(
    id="repeatable-sum",
    title="the same bits for any grid",
    lesson="23_numbers",
    section="The same bits each time",
    kernel="add_all",
    signature="int n, const float* in, unsigned long long* total",
    minutes=20,
    make=make,
    cases=(
        {"n": 5000, "blocks": 6, "block": 256},
        {"n": 5000, "blocks": 20, "block": 128},
        {"n": 64, "blocks": 1, "block": 64},
        {"n": 5000, "blocks": 1, "block": 64},
        {"n": 300, "blocks": 3, "block": 64},
        {"n": 1, "blocks": 2, "block": 64},
        {"n": 0, "blocks": 1, "block": 64},
        {"n": 30_000, "blocks": 12, "block": 256},
    ),
    smallest={"n": 1, "blocks": 1, "block": 64},
    shown={"n": 12, "blocks": 1, "block": 64},
    kept=("block", "blocks"),
    promises=(multiple_of(64, "block"),),
    owner=lambda case, index: None,
    reads=lambda case, name, index: tuple(
        ("in", index * case.parameters["n"] + i) for i in range(case.parameters["n"])
    ),
    requirements=(
        executed(
            "one-atomic-a-block",
            "global atomics",
            at_most=lambda case, arch: ROWS * case.grid[0],
            at_least=lambda case, arch: with_numbers(case),
            title="each block adds its part by one atomic operation",
            when=lambda case: case.parameters["n"] >= 1000,
            next_step="Atomic operations on one address are done one after the other. How do the threads of a block "
            "get one common sum first, and how do all blocks take part?",
        ),
        loaded_by_lanes("loaded-by-the-wave", "in", when=lambda case: case.parameters["n"] >= 1000),
    ),
    causes=(
        Cause(
            "cut-off",
            "the fraction of a unit is cut off, and should be rounded",
            lambda o: o.looks_like("total", cut_off),
            "A cast to an integer cuts off. That makes each number smaller by half a unit on average.",
            "Which function rounds a float to the nearest whole number?",
        ),
        Cause(
            "halves",
            "halves of a unit are rounded up, or away from zero, and should go to the even number",
            halves,
            "roundf rounds halves away from zero; adding a half and cutting off is wrong for negative numbers, too.",
            "Which function rounds as the hardware does by default: to nearest, halves to even?",
        ),
        Cause(
            "first-row-read",
            "each total is that of the first row",
            lambda o: o.looks_like("total", of_first_row),
            "The rows lie one after the other, and blockIdx.y says which one a block does.",
            "At which index of in does the row number blockIdx.y begin?",
        ),
        Cause(
            "one-total",
            "the sums of all rows are in the first total",
            lambda o: o.looks_like("total", all_in_first),
            "Each row has a total of its own.",
            "Which element of total belongs to a block?",
        ),
        Cause(
            "first-numbers-only",
            "of each row only as many numbers are added as the grid has threads for it",
            of(lambda case, thread, step: step == 0),
            "The grid may have fewer threads than there are numbers.",
            "Lesson 02 has the loop for more elements than threads.",
        ),
        Cause(
            "lanes-missing",
            "numbers of some lanes are missing: of each wave, only the first lane or the first 32 are counted",
            of_lanes,
            "A wave has 64 lanes on one device and 32 on the other, and each lane has a part.",
            "From where to where do the steps of your shuffles go? Who adds the sum of the lanes to the block's?",
        ),
        Cause(
            "waves-missing",
            "of each block only the first wave is counted",
            lambda o: of(lambda case, thread, step: thread % case.block[0] < o.wave_size)(o),
            "Each wave has a sum of its own, and a block has several waves.",
            "Which thread adds the sum of the second wave to the block's?",
        ),
        Cause(
            "too-narrow",
            "totals are off by a multiple of 2 to the 32nd: a sum was kept in 32 bits",
            wrapped,
            "A single number fits into 32 bits, up to 1000 x 2**20. A sum does not.",
            "Which type do your partial sums have, in registers, in LDS and in shuffles?",
        ),
        Cause(
            "whole-numbers",
            "each total is a whole number: the fractions of the numbers are lost",
            whole_numbers,
            "A unit is 2 to the power of -20. A number is multiplied by 1,048,576 first, and rounded to an integer then.",
            "Which comes first in your kernel: the multiplication, or the rounding?",
        ),
        Cause(
            "stored-not-added",
            "blocks store their sums to the same total",
            lambda o: o.fault is not None and o.fault.kind == "race" and o.fault.memory == "global",
            "Each block of a row has a part of its total. What one stores, the next one overwrites.",
            "Which operation adds to a total, whatever other blocks do at the same time?",
            explains=("race",),
        ),
        Cause(
            "rounded-later",
            "totals are nearly right: numbers were added before each was rounded to units by itself",
            rounded_later,
            "The sum of rounded numbers is not the sum of the numbers, rounded. And a sum of floats is rounded in each "
            "step, and depends on the order.",
            "At which line does a number become an integer? Is there an addition before it?",
        ),
    ),
    hints=(
        "Each number becomes an integer by itself, before anything is added: multiply by 2**20, round, and convert "
        "to long long. From there on all sums are sums of integers.",
        "Then it is a usual reduction: each thread adds its numbers in a loop with the grid's stride, the block adds "
        "the threads' sums, and one thread adds the block's sum by atomicAdd. Shuffles take long long as well.",
        "`mine += (long long)rintf(in[blockIdx.y * n + i] * 1048576.0f);` in the loop. For the block's sum: "
        "`__shared__ unsigned long long sum;`, set to 0 by one thread, a barrier, an atomicAdd of each thread or wave "
        "to it, a barrier, and one thread's `atomicAdd(&total[blockIdx.y], sum);`",
    ),
)
