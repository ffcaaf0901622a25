"""What values alone tell: each pattern on arrays written by hand, and arrays that only look like it."""

import numpy as np
import pytest

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
    ],
)
def test_what_stands_in_a_loop_is_found(source, found):
    assert in_loop(source, r"\bcas\b") is found
