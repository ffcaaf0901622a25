"""register-tile: a product of 64 x 64 tiles with several results in the registers of each thread."""

import re

import numpy as np

from gpulab.grading.case import Array, Case, Value, sentinel
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.requirements import KINDS, bank_conflicts, limited, scratch_bytes

LOAD = re.compile(KINDS["global loads"])


def make(parameters, random):
    m, n, k = 64 * parameters["down"], 64 * parameters["across"], 16 * parameters["steps"]
    a, b = (random.integers(1, 10, shape).astype("float32") for shape in ((m, k), (k, n)))
    if m * n * k > 64 * 64 * 16:  # the picture has small numbers
        large = a if k % 32 else b
        large[random.random(large.shape) < 0.2] += 4096  # more bits than a half has
        a, b = a * np.float32(0.5), b * np.float32(0.5)  # fractions, which an int would lose
    return Case(
        parameters,
        grid=(n // 64, m // 64, 1),
        block=(256, 1, 1),
        arguments=(
            *(Value(name, np.int32(size)) for name, size in (("m", m), ("n", n), ("k", k))),
            Array("a", a),
            Array("b", b),
            Array("c", sentinel("float32", (m, n)), a @ b),  # quarters below 2**22: exact
        ),
    )


def lds_per_multiply_add(o):
    """LDS instructions of waves for each multiply-add that a wave must do."""
    p = o.case.parameters
    needed = 64 * p["down"] * 64 * p["across"] * 16 * p["steps"] / o.wave_size
    executed = sum(
        cost.executed for launch in o.measured for cost in launch.instructions if cost.text.startswith("ds_")
    )
    return executed / needed


def loads_per_multiply_add(o):
    """Load instructions of waves from global memory for each multiply-add that a wave must do."""
    p = o.case.parameters
    needed = 64 * p["down"] * 64 * p["across"] * 16 * p["steps"] / o.wave_size
    executed = sum(cost.executed for launch in o.measured for cost in launch.instructions if LOAD.match(cost.text))
    return executed / needed


def last_step(case):
    a, b = (case.array(name).data for name in "ab")
    return a[:, -16:] @ b[-16:]


def half(o):
    """Is every element either right or untouched, and some of each block's columns or rows missing altogether?"""
    wrong = o.wrong("c")
    return bool(wrong.any()) and not wrong.all() and bool((o.untouched("c") == wrong).all())


def columns_mixed(o):
    """Does each row hold the right numbers of its tile, but in other columns?"""
    found, wanted = o.found("c"), o.case.array("c").wanted
    tiles = [np.sort(each.reshape(each.shape[0], -1, 64), axis=2) for each in (found, wanted)]
    return bool(o.wrong("c").any()) and bool((tiles[0] == tiles[1]).all())


exercise = Exercise(
    id="register-tile",
    title="many multiply-adds for each LDS read",
    lesson="16_sgemm",
    section="Step 5, a square of results in registers",
    kernel="multiply",
    signature="int m, int n, int k, const float* a, const float* b, float* c",
    minutes=30,
    make=make,
    owner=lambda case, index: None,  # whose an element is, the answer decides
    fixed_sizes="m and n are multiples of 64, k is a multiple of 16",
    cases=(
        {"down": 1, "across": 1, "steps": 1},
        {"down": 1, "across": 1, "steps": 3},
        {"down": 2, "across": 1, "steps": 1},
        {"down": 1, "across": 3, "steps": 2},
        {"down": 1, "across": 1, "steps": 4},
    ),
    smallest={"down": 1, "across": 1, "steps": 1},
    shown={"down": 1, "across": 1, "steps": 1},
    causes=(
        Cause(
            "last-step-only",
            "the sums hold only the last 16 products",
            lambda o: o.looks_like("c", last_step),
            "The sums must be kept over all steps of k.",
            "Where are your sums set to zero?",
        ),
        Cause(
            "columns-mixed",
            "each row has the right numbers, in the wrong columns",
            columns_mixed,
            "The columns that a thread computes with and those that it stores to must be the same.",
            "Compare the index of B in the inner loop with the column in the store, for results 0 and 1 of thread 0.",
        ),
        Cause(
            "not-all-results",
            "some elements are right and the others were never written",
            half,
            "256 threads make 4,096 elements: each thread must make 16 of them.",
            "Which elements does thread 0 write, and which thread 1? Which elements does no thread write?",
        ),
    ),
    requirements=(
        limited(
            "lds-per-multiply-add",
            "LDS instructions for each multiply-add of a wave",
            lds_per_multiply_add,
            at_most=0.35,
            when=lambda case: case.parameters["steps"] >= 4,
            next_step="How many results does a thread have for how many numbers that it reads in an iteration of the inner "
            "loop? More results for the same numbers: rows times columns against rows plus columns.",
        ),
        limited(
            "loads-per-multiply-add",
            "global load instructions for each multiply-add of a wave",
            loads_per_multiply_add,
            at_most=0.1,
            when=lambda case: case.parameters["steps"] >= 4,
            next_step="Each number of a tile is needed 64 times by the block. Let the threads load a tile once, and "
            "read its numbers from LDS as often as they are needed.",
        ),
        bank_conflicts("bank-conflicts"),
        scratch_bytes(
            "scratch",
            next_step="An array is kept in registers only if all its indices are known when it is compiled: loops over "
            "it must have fixed limits, so that they are unrolled.",
        ),
    ),
    hints=(
        "Give each thread a square of 4 x 4 results in an array `float sum[4][4]`. In each iteration of the inner "
        "loop read 4 numbers of A's tile and 4 of B's into small arrays, and multiply each with each.",
        "Let the thread's rows be 16 j + threadIdx.x / 16 and its columns 16 l + threadIdx.x % 16, for j and l from 0 "
        "to 3: then neighbouring lanes read neighbouring numbers of B. If A is stored transposed, two numbers of "
        "padding keep its stores apart.",
        "`float u[4], v[4]; for (int j = 0; j < 4; j++) u[j] = A[i][16 * j + y]; for (int j = 0; j < 4; j++) v[j] ="
        " B[i][16 * j + x];` and in two loops over j and l: `sum[j][l] += u[j] * v[l];` The tile is loaded by `for "
        "(int i = t; i < 64 * 16; i += 256)`, four elements each. (This A is stored transposed.)",
    ),
)
