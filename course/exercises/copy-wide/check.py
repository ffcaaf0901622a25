"""copy-wide: a copy with 16 bytes a lane, and the elements that are left over."""

import numpy as np

from gpulab import architectures
from gpulab.grading.case import Array, Case, Value, blocks_for, combinations, distinct, sentinel
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.requirements import executed, work_shared


def make(parameters, random):
    n, block = parameters["n"], parameters["block"]
    data = distinct(random, n)
    return Case(
        parameters,
        grid=(blocks_for(-(-n // 4), block), 1, 1),
        block=(block, 1, 1),
        arguments=(Value("n", np.int32(n)), Array("in", data), Array("out", sentinel("float32", n), data)),
    )


def most_loads(case, arch):
    """One for each wave of the grid, and a few of one wave for what is left over."""
    wave = architectures.get(arch).wave_size
    return case.grid[0] * -(-case.block[0] // wave) + 4


def tail(case):
    """Indices of the elements after the last whole group of four."""
    n = case.parameters["n"]
    return tuple(range(n // 4 * 4, n))


def last_group_reaches_beyond(o):
    """Did a thread use the group of four that is its own, all at once, where the array ends within it or before?"""
    fault, place, number = o.tight.fault, o.faulting_index(), o.faulting_number()
    wide = fault is not None and fault.bytes == 16
    return wide and place is not None and number is not None and place[1] == 4 * number[0]


exercise = Exercise(
    id="copy-wide",
    title="a copy with four floats a lane",
    lesson="05_global_memory",
    section="Wide loads",
    kernel="copy_wide",
    signature="int n, const float* in, float* out",
    minutes=20,
    make=make,
    cases=(*combinations(n=(1027, 4096, 65, 7, 3, 1), block=(64, 256)), {"n": 0, "block": 64}),
    smallest={"n": 1, "block": 4},
    shown={"n": 11, "block": 4},
    owner=lambda case, index: ((index // 4 // case.block[0], 0, 0), (index // 4 % case.block[0], 0, 0)),
    requirements=(
        executed(
            "not-wide",
            "global loads",
            at_most=most_loads,
            title="one wide load for each wave, and at most four for the tail",
            when=lambda case: case.parameters["n"] >= 1024 and case.parameters["block"] >= 64,
            next_step="Look at copy_wide.isa: is there a load of 16 bytes (dwordx4 or b128), and how often is "
            "each load "
            "executed (run.instructions())?",
        ),
        executed(
            "stores-not-wide",
            "global stores",
            at_most=most_loads,
            title="one wide store for each wave, and at most four for the tail",
            when=lambda case: case.parameters["n"] >= 1024 and case.parameters["block"] >= 64,
            next_step="Look at copy_wide.isa: is there a store of 16 bytes (dwordx4 or b128)?",
        ),
        work_shared(rounds=lambda case: 4),
    ),
    causes=(
        Cause(
            "past-the-end",
            "the last float4 reaches beyond the end of the array",
            last_group_reaches_beyond,
            "If n is no multiple of 4, the last group of four is not whole: it must not be read or written as "
            "a float4.",
            "How many whole groups of four does an array of 7 elements have?",
        ),
        Cause(
            "tail-missing",
            "the elements after the last whole group of four are not copied",
            lambda o: o.fault is None and o.unwritten_indices("out") == o.wrong_indices("out") == tail(o.case) != (),
            "n / 4 is rounded down: up to three elements are left over.",
            "Which indices are they, for n = 7? Some thread has to copy them one by one.",
        ),
        Cause(
            "every-fourth-group",
            "the index counts floats, where it should count groups of four",
            lambda o: (
                o.fault is None
                and bool(o.unwritten_indices("out"))
                and all(index // 4 % 4 or index in tail(o.case) for index in o.unwritten_indices("out"))
                and len(o.unwritten_indices("out")) >= o.case.parameters["n"] // 2
            ),
            "An index into an array of float4 goes on by 16 bytes for each 1.",
            "What is the type of the pointer that you index? Compare with the number of the thread.",
        ),
    ),
    hints=(
        "Use the array as an array of float4: `reinterpret_cast<const float4*>(in)`. It has `n / 4` whole elements,"
        " rounded down. Thread i copies its element i, if there is one.",
        "The elements that are left over begin at n / 4 * 4. There are at most three; one thread can copy them "
        "in a loop, "
        "or three threads one each.",
        "`if (i < n / 4) { out4[i] = in4[i]; }` and for the rest, with plain floats: `else if (i == n / 4) { for "
        "(int j = 4 * i; j < n; j++) out[j] = in[j]; }`",
    ),
)
