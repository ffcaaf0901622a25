"""missing-release: two blocks work on an array in turns, and hand it over by a release and an acquire."""

import re

import numpy as np

from gpulab.grading.case import Array, Case, Value, combinations, no_inputs
from gpulab.grading.evidence import WEAK
from gpulab.grading.exercise import Cause, Exercise, Requirement
from gpulab.grading.requirements import limited, source, work_shared

SEEDS = {2: 2, 3: 6, 4: 6}
"""Under how many seeds so many rounds run on weak memory; two rounds are the first case of all answers."""


def make(parameters, random):
    rounds, block = parameters["rounds"], parameters["block"]
    box = random.permutation(np.arange(1, block + 1)).astype("int32")
    return Case(
        parameters,
        grid=(2, 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("rounds", np.int32(rounds)),
            Array("box", box, after(box, range(rounds))),
            Array("turn", np.zeros(1, "int32"), np.full(1, rounds, "int32")),
        ),
        cooperative=True,
        weak=SEEDS.get(rounds, 0) if block == 64 else 0,
    )


def after(box, rounds):
    """The box after these rounds."""
    for r in rounds:
        box = 3 * box + np.int32(r)
    return box


ORDER = r"_(RELEASE|ACQUIRE|ACQ_REL|SEQ_CST)\b|\b__threadfence(_system)?\s*\("
CALL = r"__(?:hip_)?atomic_(?:{})\w*\s*\([^;]*_(?:{}|ACQ_REL|SEQ_CST)\b|fence\s*\(\s*__ATOMIC_(?:{}|ACQ_REL|SEQ_CST)\b"
RELEASES = CALL.format("store|exchange|fetch", "RELEASE", "RELEASE")
ACQUIRES = CALL.format("load|fetch|compare", "ACQUIRE", "ACQUIRE")
FENCE = r"\b__threadfence(_system)?\s*\("


def unordered(o):
    """Did a block get another box than it should, or access it in no order with the other block's accesses?"""
    race = o.fault is not None and o.fault.kind == "race" and (o.faulting_index() or ("",))[0] == "box"
    return race or (o.fault is None and o.weak is not None)


def sides(o):
    """Does the source have a release, and an acquire? A fence may be either; of a single one the race says which."""
    fences, released, acquired = len(re.findall(FENCE, o.code)), o.uses(RELEASES), o.uses(ACQUIRES)
    if fences == 1 and not released and not acquired:
        behind = o.fault is not None and o.fault.lack == "release"
        return not behind, behind
    return released or fences > 0, acquired or fences > 0


def last_block(o):
    """Was the box last changed by the block whose turn the last round is?"""
    rounds = o.case.parameters["rounds"]
    wrong = sum(
        access.workgroup[0] != (rounds - 1) % 2 for (name, _), access in o.tight.writers.items() if name == "box"
    )
    if not rounds or not wrong:
        return ""
    return (
        f"round {rounds - 1} is not the turn of the block that was the last to change {wrong} of {o.case.block[0]} "
        "elements of box"
    )


RACE = ("race", WEAK)

exercise = Exercise(
    id="missing-release",
    title="a message that comes too late",
    lesson="26_memory_model",
    section="Happens before",
    kernel="turns",
    signature="int rounds, int* box, int* turn",
    minutes=25,
    make=make,
    owner=lambda case, index: None,
    reads=no_inputs,
    cases=(
        {"rounds": 2, "block": 64},
        {"rounds": 3, "block": 64},
        {"rounds": 4, "block": 128},
        *combinations(rounds=(5, 1), block=(128, 64)),
        {"rounds": 0, "block": 64},
        {"rounds": 6, "block": 128},
    ),
    drawn=lambda random: (
        {"rounds": int(random.integers(3, 5)), "block": 64},
        *({"rounds": int(rounds), "block": 128} for rounds in random.integers(1, 7, 3)),
    ),
    smallest={"rounds": 1, "block": 64},
    shown={"rounds": 2, "block": 64},
    fixed_sizes="a block has one thread for each element of the box",
    instruction_limit=8_000_000,
    causes=(
        Cause(
            "narrow-scope",
            "the order is said for a scope in which the other block is not",
            lambda o: (
                (o.weak is not None or (o.fault is not None and o.fault.kind == "race"))
                and o.uses(r"SCOPE_(WORKGROUP|WAVEFRONT|SINGLETHREAD)\b|\b__threadfence_block\b")
            ),
            "The two blocks are on the same GPU, and perhaps on different dies.",
            "Which is the narrowest scope that has threads of both blocks in it?",
            explains=RACE,
        ),
        Cause(
            "plain-turn",
            "turn is read or written without an atomic access",
            lambda o: o.fault is not None and o.fault.kind == "race" and (o.faulting_index() or ("",))[0] == "turn",
            "A plain or volatile access is no part of a release or an acquire.",
            "Line 5 and line 9 of the kernel have the right kind of access. Which word in them is to be changed?",
            explains=RACE,
        ),
        Cause(
            "no-release-no-acquire",
            "neither side orders the box: both accesses of turn are relaxed",
            lambda o: unordered(o) and sides(o) == (False, False),
            "A relaxed access orders nothing but itself. The number of the round may be seen before the box.",
            "Which side writes the box before it writes turn, and which one reads the box after it has read turn? What "
            "is each of the two called in the lesson?",
            explains=RACE,
        ),
        Cause(
            "no-release",
            "the block that hands over does not release the box",
            lambda o: unordered(o) and sides(o) == (False, True),
            "Its stores of the box may become visible after the number of the next round.",
            "Which access of turn comes after the box was written?",
            explains=RACE,
        ),
        Cause(
            "no-acquire",
            "the block that waits does not acquire the box",
            lambda o: unordered(o) and sides(o) == (True, False),
            "The box in memory is new, but the caches of this block may still have its lines as they were before.",
            "Which access of turn comes before the box is read?",
            explains=RACE,
        ),
        Cause(
            "order-at-another-place",
            "the order does not cover all accesses of the box",
            lambda o: unordered(o) and sides(o) == (True, True),
            "A release covers what comes before it, an acquire what comes after it. Of other threads of the block "
            "they cover "
            "what a barrier orders with them.",
            "Draw the three arrows of the lesson, for thread 0 and for the last thread of the block. What lies "
            "between each "
            "access of turn and the access of the box?",
            explains=RACE,
        ),
        Cause(
            "rounds-missing",
            "the box is right for fewer rounds than there are",
            lambda o: any(
                o.looks_like("box", lambda case, n=n: after(case.array("box").data, range(n)))
                for n in range(o.case.parameters["rounds"])
            ),
            "Blocks take turns: 0, 1, 0, 1 … up to the last round.",
            "Which rounds does block 0 do, and with which round does its loop end?",
        ),
    ),
    requirements=(
        work_shared(title="each thread has its element of the box"),
        Requirement(
            "both-blocks",
            "both blocks take their turns",
            last_block,
            "Round r belongs to block r % 2. What does each of the two blocks do in the rounds of the other?",
            watches=True,
        ),
        source(
            "order-said",
            ORDER,
            at_least=1,
            what="releases, acquires and fences",
            when=lambda case: case.parameters["rounds"] >= 4,
            title="the order is said in the source: by release and acquire, or by fences",
            next_step="A volatile access is not ordered with those of other threads by any standard. Which access of "
            "turn "
            "should release, and which acquire?",
        ),
        limited(
            "plain-box",
            "lanes that change the box by atomic operations",
            lambda o: sum(
                access.lanes
                for launch in o.measured
                for access in launch.accesses
                if access.action == "atomic"
                and access.space in ("global", "flat")
                and access.lanes >= 4 * access.executed
            ),
            at_most=0,
            title="the box is read and written by plain accesses",
            next_step="The box needs no atomic operations, if turn hands it over in the right order.",
        ),
    ),
    hints=(
        "Write down for one hand-over who writes and who reads what, in order: box, turn, turn, box. The lesson has "
        "three "
        "arrows; which of them are there already?",
        "Line 9 hands over: it has to be a *release*, so that the box is visible before it. Line 5 takes over: it "
        "has to "
        "be an *acquire*. The scope of both is right: two blocks of one GPU.",
        "`__hip_atomic_load(turn, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT)` in line 5 and "
        "`__hip_atomic_store(turn, r + 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT)` in line 9; all else stays.",
    ),
)
