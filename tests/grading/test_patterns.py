"""What values alone tell: each pattern on arrays written by hand, and arrays that only look like it."""

import dataclasses

import numpy as np
import pytest

from gpulab.grading import patterns
from gpulab.grading.case import Array, Case, Run, sentinel
from gpulab.grading.causes import LAST_KERNEL_CAUSES, VALUE_CAUSES
from gpulab.grading.outcome import Outcome
from gpulab.grading.patterns import combination
from gpulab.grading.sources import in_loop
from gpulab.records import Fault

RANDOM = np.random.default_rng(1)
WANTED = (RANDOM.permutation(np.arange(1, 101)) + RANDOM.choice([0.25, 0.5, 0.75], 100)).astype("float32")


def outcome(found, wanted=WANTED, fault=None, block=100):
    """Of a kernel with one input, 1000 ... 1099, and one output."""
    wanted = np.asarray(wanted, "float32")
    given = np.arange(1000, 1000 + wanted.size, dtype="float32").reshape(wanted.shape)
    case = Case(
        {"n": wanted.size},
        grid=(-(-wanted.size // block), 1, 1),
        block=(block, 1, 1),
        arguments=(Array("in", given), Array("out", sentinel("float32", wanted.shape), wanted, relative=1e-6)),
    )
    run = Run({"in": given.reshape(-1), "out": np.asarray(found, "float32").reshape(-1)}, fault)
    return Outcome(case, "gfx942", 64, run, run, 0)


def named(seen):
    """The first cause of values that fits; "" for none."""
    return next((cause.name for cause in (*VALUE_CAUSES, *LAST_KERNEL_CAUSES) if cause.when(seen)), "")


def changed(indices, values):
    found = WANTED.copy()
    found[indices] = values
    return found


NOISE = RANDOM.uniform(-50, 50, 100).astype("float32")

PATTERNS = {
    "no-numbers": changed([3], np.inf),
    "all-zero": changed(slice(10, 60, 5), 0),
    "copied-input": np.arange(1000, 1100),
    "other-sign": -WANTED,
    "same-difference": WANTED - 64,
    "without-fraction": np.trunc(WANTED),
    "same-factor": WANTED * np.float32(1 / 3),
    "nearly-right": WANTED + np.float32(0.004) * NOISE / 50 * np.abs(WANTED),
    "same-value": changed(slice(20, 70, 5), 7),
    "moved": np.roll(WANTED, 1),
    "reordered": np.sort(WANTED),
    "one-element": changed([41], -3),
    "at-one-end": changed([97, 98, 99], [1.25, 90.25, 33.25]),
    "": WANTED + NOISE,
}


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_of_values_is_named(name):
    assert named(outcome(PATTERNS[name])) == name


def test_blocks_and_rows_after_the_first_are_told_apart():
    found = np.concatenate([WANTED[:25], (WANTED + NOISE)[25:]])
    assert named(outcome(found, block=25)) == "first-block-alone"
    assert named(outcome(found)) == ""
    rows = WANTED.reshape(10, 10)
    assert named(outcome(np.concatenate([rows[:1], rows[1:] + NOISE[10:].reshape(9, 10)]), rows)) == "first-row-alone"


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (np.full(20, 255), np.where(np.arange(20) % 2, 254, 255)),  # one value alone: is it a difference, or a factor?
        (np.full(20, -1 / 3), np.full(20, -1.0)),  # neither is it a rounding
        (np.arange(1, 4), np.arange(1, 4) + 5),  # three elements are no pattern
        (np.tile([1, 2], 20), np.tile([2, 1], 20)),  # alike everywhere: nothing has moved for certain
    ],
)
def test_too_little_is_no_pattern(wanted, found):
    assert named(outcome(found, wanted)) == ""


def test_a_fault_or_an_element_left_out_comes_before_what_values_tell():
    fault = Fault("timeout", "k", None, "s_branch", (0, 0, 0), 0, None, None)
    assert named(outcome(WANTED - 64, fault=fault)) == ""
    found = (WANTED - 64).copy()
    found[5] = sentinel("float32", 1)[0]
    assert named(outcome(found)) == ""


def test_the_numbers_of_a_combination_are_found():
    left, right = RANDOM.uniform(1, 1000, (2, 50))
    assert combination(3 * left - right / 7, (left, right)) == pytest.approx([3, -1 / 7])
    assert combination(left * right, (left, right)) is None
    found = 3 * left - right / 7
    found[17] *= 1.01
    assert combination(found, (left, right)) is None
    assert combination((left + right)[:5], (left[:5], right[:5])) is None  # too few to be sure


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("while (x) { if (y) { cas(); } }", True),
        ("do { cas(); } while (x);", True),
        ("do x(); while (cas() != y);", True),
        ("for (int i = 0; i < n; i++) s = cas(i);", True),
        ("while (cas()) {}", True),
        ("for (;;) { x(); } cas();", False),
        ("for (int i = 0; i < n; i++) s += i;\ncas();", False),
        ("if (x) cas();  // while (x)", False),
        ("while (x", False),
        ("while", False),
        ("while (f(x)) cas();", True),
        ("while (f(x)) y(); cas();", False),
        ("while (((x))) {} cas();", False),
        ("do { { y(); } cas(); } while (x);", True),
        ("do { y(); } while (f(x)); cas();", False),
        ("do y(); while (x); cas();", False),
        ("for (;;) { { x(); } } cas();", False),
        ("for (;;) { { x(); } cas(); }", True),
        ("for (;;) { x();", False),
        ("for (;;) { cas();", True),
        ("while (x);\ncas();", False),
        ("for (a; b; c) if (x) { cas(); }", True),
        ("for (a; b; c) if (x) { y(); } cas();", False),
        ("x(); while (y) z(); while (y) cas();", True),
    ],
)
def test_what_stands_in_a_loop_is_found(source, found):
    assert in_loop(source, r"\bcas\b") is found


def seen(found, wanted=WANTED, dtype="float32", block=None, shape=None, steps=()):
    """One output for a pattern's own test."""
    wanted, found = np.asarray(wanted, dtype).reshape(-1), np.asarray(found, dtype).reshape(-1)
    block = block or wanted.size
    array = Array("out", sentinel(dtype, shape or wanted.shape), wanted.reshape(shape or wanted.shape), relative=1e-6)
    grid = (-(-wanted.size // block), 1, 1)
    case = Case({}, grid=grid, block=(block, 1, 1), arguments=(array,), steps=steps)
    run = Run({"out": found})
    return patterns.Values(Outcome(case, "gfx942", 64, run, run, 0), array, found, wanted, found != wanted)


def but(count, size=100, step=1, wanted=None):
    """`wanted`, of which so many elements are others."""
    data = np.arange(1.0, size + 1) if wanted is None else np.array(wanted, "float64")
    data[: count * step : step] += 1000 + np.arange(count) ** 2
    return data


COUNTED = np.arange(1.0, 101)


@pytest.mark.parametrize(
    ("pattern", "found", "wanted", "holds"),
    [
        # a single element of sixteen or more
        ("one_element", but(1, 16), COUNTED[:16], True), ("one_element", but(1, 15), COUNTED[:15], False),
        ("one_element", but(2, 16), COUNTED[:16], False), ("one_element", but(0, 16), COUNTED[:16], False),
        # at most an eighth, together, at one end
        ("at_one_end", but(2, 16), COUNTED[:16], True), ("at_one_end", but(3, 16), COUNTED[:16], False),
        ("at_one_end", but(2, 24, 2), COUNTED[:24], False), ("at_one_end", but(3, 24)[::-1], COUNTED[:24][::-1], True),
        ("at_one_end", np.roll(but(2, 24), 1), np.roll(COUNTED[:24], 1), False),
        # three different values, the same number more or times as much
        ("same_difference", [5, 6, 7, 8], [1, 2, 3, 4], True), ("same_difference", [5, 6, 7, 9], [1, 2, 3, 4], False),
        ("same_difference", [5, 6, 6], [1, 2, 2], False), ("same_difference", [5, 6, 7], [1, 2, 3], True),
        ("same_difference", [np.inf, 6, 7], [1, 2, 3], False),
        ("same_difference", [44, 25, 56, 8], [44.5, 25.5, 56.5, 8], False),
        ("same_difference", [44, 25, 56], [44.5, 25.5, 56.5], True),
        ("same_difference", [43, 24, 55, 8], [44.5, 25.5, 56.5, 8], True),
        ("same_difference", [43, 24, 8, 55], [44.5, 25.5, 8, 56.5], False),
        ("same_factor", [3, 6, 9], [1, 2, 3], True), ("same_factor", [3, 6, 9.1], [1, 2, 3], False),
        ("same_factor", [3, 6, 6], [1, 2, 2], False), ("same_factor", [3, 6, 9, 1], [1, 2, 3, 0], False),
        ("same_factor", [0, 0, 0], [1, 2, 3], False), ("same_factor", [3, np.nan, 9], [1, 2, 3], False),
        ("same_factor", [30000.2, 60000, 90000], [1, 2, 3], True),
        ("same_factor", [30000.4, 60000, 90000], [1, 2, 3], False),
        ("same_factor", [1.00009, 2.00018, 3.00027], [1, 2, 3], False),
        ("same_factor", [1.0002, 2.0004, 3.0006], [1, 2, 3], True),
        # the same value, where different ones are wanted
        ("same_value", [7, 7, 7], [1, 2, 3], True), ("same_value", [7, 7, 8], [1, 2, 3], False),
        ("same_value", [7, 7, 7], [2, 2, 2], False),
        # without their fractions
        ("whole_part", [1, 2, 3], [1.5, 2.5, 3.5], True), ("whole_part", [1, 2, 2], [1.5, 2.5, 2.75], False),
        ("whole_part", [-1, -2, -3], [-1.5, -2.5, -3.5], True), ("whole_part", [-2, -3, -4], [-1.5, -2.5, -3.5], True),
        ("whole_part", [2, 3, 4], [1.5, 2.5, 3.5], False), ("whole_part", [1, 2, 3, 5], [1.5, 2.5, 3.5, 4.5], False),
        # within a hundredth, where three different ones are wanted and none is zero
        ("nearly_right", [100.9, 201, 297.5], [100, 200, 300], True),
        ("nearly_right", [101.1, 201, 302], [100, 200, 300], False),
        ("nearly_right", [-100.9, -201, -302], [-100, -200, -300], True),
        ("nearly_right", [100.9, 201, 201.5], [100, 200, 200], False),
        ("nearly_right", [100.9, 201, 302, 1e-9], [100, 200, 300, 0], False),
        ("nearly_right", [100.9, 201, np.nan], [100, 200, 300], False),
        ("zeros", [0, 0, 3], [1, 2, 3], True), ("zeros", [0, 1, 3], [1, 2, 3], False),
        ("negated", [-1, -2, 3], [1, 2, 3], True), ("negated", [-1, 2.5, 3], [1, 2, 3], False),
        ("no_numbers", [np.nan, 2], [1, 2], True), ("no_numbers", [np.inf, 2], [1, 2], True),
        ("no_numbers", [3, 2], [1, 2], False), ("no_numbers", [np.inf, 3], [np.inf, 2], False),
        # all values there, each once, elsewhere
        ("reordered", [4, 3, 2, 1], [1, 2, 3, 4], True), ("reordered", [4, 3, 2, 2], [1, 2, 3, 4], False),
        ("reordered", [2, 1, 1, 2], [1, 2, 2, 1], False), ("reordered", [3, 1, 1, 2], [1, 2, 3, 1], True),
        # three quarters of at least eight, as far away
        ("moved", np.roll(COUNTED[:8], 1), COUNTED[:8], True), ("moved", np.roll(COUNTED[:7], 1), COUNTED[:7], False),
        ("moved", np.roll(COUNTED[:8], -2), COUNTED[:8], True), ("moved", np.roll(COUNTED[:16], 4), COUNTED[:16], True),
        ("moved", np.roll(COUNTED[:16], 5), COUNTED[:16], False), ("moved", np.roll(COUNTED, 25), COUNTED, True),
        ("moved", but(6, wanted=np.roll(COUNTED[:24], 1)), COUNTED[:24], True),
        ("moved", but(7, wanted=np.roll(COUNTED[:24], 1)), COUNTED[:24], False),
        ("moved", np.roll(np.tile([1.0, 2], 8), 1), np.tile([1.0, 2], 8), False),
        ("moved", np.roll(np.tile(COUNTED[:4], 4), 1), np.tile(COUNTED[:4], 4), True),
        ("moved", np.roll(np.tile(COUNTED[:10], 4), 1), np.tile(COUNTED[:10], 4), True),
        ("moved", np.roll(np.tile(COUNTED[:9], 5)[:40], 1), np.tile(COUNTED[:9], 5)[:40], False),
    ],
)  # fmt: skip
def test_where_a_pattern_begins(pattern, found, wanted, holds):
    assert getattr(patterns, pattern)(seen(found, wanted)) is holds


def test_an_integer_that_went_through_a_float_has_24_bits():
    """2**24 + 1 lies between two floats, and becomes the even one; 2**25 + 6 becomes 2**25 + 8."""
    wanted, rounded = [16_777_217, 33_554_438, -16_777_219], [16_777_216, 33_554_440, -16_777_220]
    assert patterns.as_float(seen(rounded, wanted, "int32"))
    assert not patterns.as_float(seen([16_777_216, 33_554_436, -16_777_220], wanted, "int32"))
    assert not patterns.as_float(seen([1, 2, 3], [2, 4, 6], "int32"))
    assert not patterns.as_float(seen([1, 2, 3], [1.5, 2.5, 3.5]))


def test_a_shift_of_more_than_a_wave_is_no_shift():
    wanted = np.arange(1.0, 1001)
    assert patterns.moved(seen(np.roll(wanted, 64), wanted))
    assert not patterns.moved(seen(np.roll(wanted, 65), wanted))


def test_of_a_large_output_the_first_elements_say_whether_it_is_shifted():
    wanted = np.arange(1.0, 8001)
    found = np.roll(wanted, 1)
    found[4096:] = 0
    assert patterns.moved(seen(found, wanted))
    found[2048:] = 0
    assert not patterns.moved(seen(found, wanted))


def test_integers_are_never_nearly_right():
    assert patterns.nearly_right(seen([1001, 2001, 3001], [1000, 2000, 3000]))
    assert not patterns.nearly_right(seen([1001, 2001, 3001], [1000, 2000, 3000], "int32"))


def test_an_input_as_it_was_is_copied():
    one = seen([5, 6, 7, 8], [1, 2, 3, 4])

    def copied(**inputs):
        arrays = tuple(Array(name, np.array(data, "float32")) for name, data in inputs.items())
        case = dataclasses.replace(one.outcome.case, arguments=(*arrays, one.array))
        return patterns.copied(dataclasses.replace(one, outcome=dataclasses.replace(one.outcome, case=case)))

    assert copied(x=[5, 6, 7, 8])
    assert copied(x=[[5, 6], [7, 8]])
    assert copied(x=[0, 0, 0, 0], y=[5, 6, 7, 8])
    assert not copied(x=[5, 6, 7, 9])
    assert not copied(x=[5, 6, 7, 8, 9])
    assert not copied(x=[5])
    own = dataclasses.replace(one.array, data=np.array([5, 6, 7, 8], "float32"))
    case = dataclasses.replace(one.outcome.case, arguments=(own,))
    outcome = dataclasses.replace(one.outcome, case=case)
    assert not patterns.copied(dataclasses.replace(one, array=own, outcome=outcome)), "what it held before is no input"


def later(count, size=100, first=25):
    """Of the elements from `first` on, the last `count` are wrong."""
    found = np.arange(1.0, size + 1)
    found[size - count :] += 1000 + np.arange(count) ** 2
    return found


@pytest.mark.parametrize(
    ("found", "block", "holds"),
    [
        (later(75), 25, True), (later(57), 25, True), (later(56), 25, False),  # three quarters of 75 are 56.25
        (later(76), 25, False),  # one of block 0
        (later(50), 50, False), (later(51), 49, True),  # two blocks alone
        (later(66), 34, True), (later(67), 34, False),
    ],
)  # fmt: skip
def test_block_0_alone_is_right(found, block, holds):
    assert patterns.first_block_right(seen(found, COUNTED, block=block)) is holds


def test_blocks_are_told_apart_where_a_thread_has_an_element():
    one = seen(later(75), COUNTED, block=25)
    for grid, block in (
        ((4, 2, 1), (25, 1, 1)),
        ((4, 1, 1), (25, 2, 1)),
        ((3, 1, 1), (25, 1, 1)),
        ((5, 1, 1), (25, 1, 1)),
    ):
        case = dataclasses.replace(one.outcome.case, grid=grid, block=block)
        other = dataclasses.replace(one, outcome=dataclasses.replace(one.outcome, case=case))
        assert not patterns.first_block_right(other)


@pytest.mark.parametrize(
    ("found", "shape", "holds"),
    [
        (later(90), (10, 10), True), (later(68), (10, 10), True), (later(67), (10, 10), False),
        (later(91), (10, 10), False), (later(50), (2, 50), False), (later(66), (3, 33), True),
        (later(75), (100,), False),
    ],
)  # fmt: skip
def test_row_0_alone_is_right(found, shape, holds):
    size = int(np.prod(shape))
    wanted = COUNTED[:size]
    assert patterns.first_row_right(seen(found[-size:] - (100 - size), wanted, shape=shape)) is holds


def test_integers_are_compared_exactly_and_floats_within_the_exercises_error():
    whole = seen([100000001, 2, 3], [100000002, 3, 4], "int32")
    assert not whole.same(whole.found, whole.wanted).any()
    near = seen([1.0, 2.0, 3.0], [1.0000005, 2.00001, 4.0])
    assert near.same(near.found, near.wanted).tolist() == [True, False, False]
    array = dataclasses.replace(near.array, relative=0.0, absolute=1.0)
    assert dataclasses.replace(near, array=array).same(near.found, near.wanted).tolist() == [True, True, True]


def test_small_elements_count_as_much_as_large_ones():
    """Single precision at 10**8 is 8 apart: only elements of the size of 1 say how often the second part is in them."""
    random = np.random.default_rng(3)
    left = (1 + random.random(16)) * np.repeat([1e8, 1], 8)
    right = 1 + random.random(16)
    found = (2 * left.astype("float32") + 5 * right.astype("float32")).astype("float32")
    assert combination(found, (left.astype("float32"), right.astype("float32"))) == pytest.approx([2, 5], rel=1e-3)


def test_a_combination_needs_four_elements_more_than_numbers():
    left, right = np.arange(1.0, 7), np.array([1.0, 4, 9, 16, 25, 37])
    assert combination(2 * left + right, (left, right)) == pytest.approx([2, 1])
    assert combination((2 * left + right)[:5], (left[:5], right[:5])) is None
    assert combination(np.where(left == 3, np.nan, left), (left,)) is None
    assert combination(left, (np.where(left == 3, np.inf, left),)) is None
    assert combination(2 * left * (1 + 5e-4), (2 * left,), relative=1e-9) == pytest.approx([1.0005])
    bent = 2 * left
    bent[5] *= 1.0003
    assert combination(bent, (left,)) is None
    assert combination(bent, (left,), relative=1e-3) is not None


def test_three_quarters_exactly_are_enough():
    wanted = np.arange(1.0, 126)
    assert patterns.first_block_right(seen(later(75, 125), wanted, block=25))
    assert not patterns.first_block_right(seen(later(74, 125), wanted, block=25))
    assert patterns.first_row_right(seen(later(60), COUNTED, shape=(5, 20)))
    assert not patterns.first_row_right(seen(later(59), COUNTED, shape=(5, 20)))
