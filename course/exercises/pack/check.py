"""pack: compaction within each wave, by a ballot and by counting bits below the own lane."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, combinations, sentinel
from gpulab.grading.exercise import Cause, Exercise, multiple_of
from gpulab.grading.requirements import limited, own_loads

BEFORE = -1000
"""What out holds before the launch: nothing that is kept, and not 0."""


def make(parameters, random):
    n, block, wave = parameters["n"], parameters["block"], parameters["wave"]
    data = (random.integers(1, 1000, n) * random.choice([-1, 1], n)).astype("int32")
    if n >= 100:
        data[random.random(n) < 0.5] *= 1_000_003  # more bits than a float has
        data[3::50] = 1  # the smallest that is kept
    data[random.random(n) < 0.15] = 0  # not greater than zero
    data[:1] = 7
    before = np.full(n, BEFORE, "int32")
    out, count = packed(data, before, wave)
    return Case(
        parameters,
        grid=(blocks_for(n, block), 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Array("in", data),
            Array("out", before, out),
            Array("count", sentinel("int32", count.size), count),
        ),
    )


def packed(data, before, wave, gap=0, lanes=64, least=1):
    """Each wave's elements from `least` on side by side, from its first element + gap on; votes of the first `lanes`
    lanes."""
    out, count = before.copy(), np.zeros(-(-data.size // wave), "int32")
    for number, first in enumerate(range(0, data.size, wave)):
        part = data[first : first + wave]
        count[number] = (part[:lanes] >= least).sum()
        for lane in np.flatnonzero(part >= least):
            place = first + gap + int((part[: min(lane, lanes)] >= least).sum())
            if place < out.size:
                out[place] = part[lane]
    return out, count


def leaves(o, **other):
    """Does `out` hold what `packed` makes with these other rules?"""
    return o.looks_like(
        "out", lambda case: packed(case.array("in").data, case.array("out").data, case.parameters["wave"], **other)[0]
    )


def counts(o, **other):
    return o.looks_like(
        "count", lambda case: packed(case.array("in").data, case.array("out").data, case.parameters["wave"], **other)[1]
    )


def counted_in_block(o):
    """Have only the waves of one block a number and kept elements, though there are more blocks?"""
    size = o.case.block[0]
    waves = size // o.wave_size
    return (
        o.unwritten_indices("count") == tuple(range(waves, o.case.array("count").data.size))
        and bool(o.untouched("out")[size:].all())
        and (o.fault is not None or bool(o.wrong("out")[:size].any()))
        and o.case.grid[0] > 1
    )


def rest_changed(o):
    """Are the kept elements and their numbers right, and others of `out` changed?"""
    array = o.case.array("out")
    wrong = o.wrong("out")
    return bool(wrong.any()) and not o.wrong("count").any() and bool((array.wanted[wrong] == BEFORE).all())


def same_wave(o):
    """Do two lanes of one wave write to the same element?"""
    fault = o.fault
    if fault is None or fault.kind not in ("lane conflict", "race") or fault.access != "write":
        return False
    other = fault.other
    return fault.kind == "lane conflict" or (
        other is not None and other.access == "write" and (other.workgroup, other.wave) == (fault.workgroup, fault.wave)
    )


def others(o):
    """Shuffles, accesses to shared memory, and atomic operations that waves executed."""
    return sum(
        cost.executed
        for launch in o.measured
        for cost in launch.instructions
        if cost.text.startswith(("ds_", "v_permlane", "v_readlane", "global_atomic", "flat_atomic"))
    )


exercise = Exercise(
    id="pack",
    title="results without gaps, by ballots",
    lesson="04_lanes_together",
    section="Ballots and votes",
    kernel="pack",
    signature="int n, const int* in, int* out, int* count",
    minutes=20,
    make=make,
    owner=lambda case, index: None,
    by_wave=True,
    cases=(*combinations(n=(1000, 65, 64, 1), block=(64, 256)), {"n": 0, "block": 64}),
    promises=(multiple_of(64, "block"),),
    smallest={"n": 1, "block": 64},
    shown={"n": 12, "block": 64},
    requirements=(
        own_loads(
            "in",
            at_most=4,
            title="a wave loads its own elements, with at most four loads",
            next_step="A lane need not read the elements of other lanes: one ballot has all that it needs.",
            when=lambda case: case.parameters["n"] >= 300,
        ),
        limited(
            "more-than-votes",
            "shuffles, accesses to shared memory and atomic operations executed by waves",
            others,
            at_most=0,
            title="ballots and votes alone: no shuffles, no shared memory, no atomic operations",
            next_step="The mask of one ballot has all that each lane needs: which of its bits belong to lower lanes?",
        ),
    ),
    causes=(
        Cause(
            "wave-of-the-block",
            "waves are counted anew in each block",
            counted_in_block,
            "Waves with the same number in their blocks then write to the same places of out and count. w counts all "
            "waves of the grid.",
            "Which number has the first wave of block 1?",
            explains=("race", "lane conflict"),
        ),
        Cause(
            "begins-at-zero",
            "all waves write to the beginning of out",
            lambda o: (
                o.case.parameters["n"] > o.wave_size
                and o.untouched("out")[o.wave_size :].all()
                and o.wrong("out")[o.wave_size :].any()
                and not o.untouched("out")[: o.wave_size].all()
            ),
            "Each wave has its own part, which begins at its first element.",
            "The place among the wave's results is not yet a place in the array. What must be added?",
            explains=("race", "lane conflict"),
        ),
        Cause(
            "gap",
            "every place is one too high: the lane counts itself",
            lambda o: leaves(o, gap=1),
            "The first kept element has no kept element before it, so its place is 0.",
            "Which bits has the mask of the lanes *below* the own one? Write it down for lane 0.",
        ),
        Cause(
            "keeps-zeros",
            "elements that are 0 are kept as well",
            lambda o: leaves(o, least=0) or counts(o, least=0),
            "Kept are the elements greater than zero, and 0 is not greater than 0.",
            "What does your condition give for 0?",
        ),
        Cause(
            "half-a-mask",
            "only the first 32 lanes are counted",
            lambda o: o.wave_size == 64 and (leaves(o, lanes=32) or counts(o, lanes=32)),
            "On this device a mask of lanes has 64 bits. An int, 1u << lane, __popc and __ffs use 32 of them.",
            "Check each step for its width: the variable, the shifted 1, the function that counts.",
            explains=("race", "lane conflict"),
        ),
        Cause(
            "shift-32",
            "the 1 that is shifted has only 32 bits",
            lambda o: o.wave_size == 64 and same_wave(o) and o.uses(r"(?<![\w.])1[uU]?\s*<<"),
            "1u << 40 is not 2 to the power of 40: the hardware computes 1u << 8. So lane 40 gets the place of lane 8.",
            "Write a 64-bit one.",
        ),
        Cause(
            "same-place",
            "several lanes write to one place",
            same_wave,
            "Each kept element needs a place of its own: the number of kept elements in lower lanes.",
            "Print the places for the votes 1, 0, 1, 1, in your head. Are they 0, 1 and 2?",
        ),
        Cause(
            "not-packed",
            "the kept elements are at their old places",
            lambda o: o.looks_like(
                "out", lambda case: np.where(case.array("in").data > 0, case.array("in").data, case.array("out").data)
            ),
            "They should be neighbours, without gaps.",
            "How many kept elements are before a lane in its wave?",
        ),
        Cause(
            "rest-changed",
            "the kept elements are right, and what is behind them was changed",
            lambda o: o.fault is None and rest_changed(o),
            "The rest of a wave's part stays as it is.",
            "Which lanes store to out? Only those with a kept element should.",
        ),
        Cause(
            "missing-guard",
            "threads past the end of the arrays work too",
            lambda o: bool(o.outside("count")) or o.fault is not None,
            "The last block has more threads than elements are left.",
            "A thread without an element must not read or write, and its bit in the ballot must be 0.",
            guard=("n",),
        ),
        Cause(
            "wrong-count",
            "the elements are right, and count is not",
            lambda o: not o.wrong("out").any() and bool(o.wrong_indices("count")),
            "count has one number for each wave: how many of its elements are kept.",
            "Which lane writes it, what, and to which index?",
        ),
    ),
    hints=(
        "Let all lanes call `__ballot` with the condition that their element is kept. Each lane then has the same "
        "mask of 64 bits.",
        "The place of a kept element is the number of set bits below its own: the mask AND all bits lower than "
        "`1ull << lane`, counted by `__popcll`.",
        "`unsigned long long lower = (1ull << lane) - 1;` and `out[first + __popcll(wanted & lower)] = v;` for "
        "lanes with a kept element, where `first = i - lane`; lane 0 writes `count[first / warpSize] = "
        "__popcll(wanted);`",
    ),
)
