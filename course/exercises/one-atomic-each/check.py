"""one-atomic-each: lanes with the same key elect a leader, which adds for all of them."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, combinations
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.requirements import lds_bytes, limited, own_loads


def make(parameters, random):
    n, keys, block = parameters["n"], parameters["keys"], parameters["block"]
    key = random.integers(0, keys, n).astype("int32")
    return Case(
        parameters,
        grid=(blocks_for(n, block), 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Value("keys", np.int32(keys)),
            Array("key", key),
            Array("bins", np.zeros(keys, "int32"), np.bincount(key, minlength=keys).astype("int32")),
        ),
    )


def waves_of(case):
    """The keys of each wave."""
    key, block, wave = case.array("key").data, case.parameters["block"], case.parameters["wave"]
    starts = [s for first in range(0, key.size, block) for s in range(first, min(first + block, key.size), wave)]
    return [part for part in np.split(key, starts[1:]) if part.size]


def different(case, arch):
    """Different keys of each wave, added up."""
    return sum(np.unique(part).size for part in waves_of(case))


def atomic_lanes(o):
    return sum(
        cost.lanes
        for launch in o.measured
        for cost in launch.accesses
        if cost.action == "atomic" and cost.space in ("global", "flat")
    )


def leaders_only(case):
    """What is counted if each leader adds 1."""
    found = np.zeros(case.parameters["keys"], "int32")
    for part in waves_of(case):
        found[np.unique(part)] += 1
    return found


def lowest_half(case):
    """What is counted if the size of a group is taken from 32 bits of its mask."""
    found = np.zeros(case.parameters["keys"], "int32")
    for part in waves_of(case):
        found += np.bincount(part[:32], minlength=found.size).astype("int32")
    return found


def first_key_only(case):
    """What is counted if only lane 0 of each wave adds, for its own key."""
    found = np.zeros(case.parameters["keys"], "int32")
    for part in waves_of(case):
        found[part[0]] += (part == part[0]).sum()
    return found


def too_few_or_many(o):
    """Are bins too small and none too large ("few"), or too large and none too small ("many")? "" for neither."""
    found, wanted = o.found("bins"), o.case.array("bins").wanted
    if o.fault is not None or o.outside("bins") or (found == wanted).all():
        return ""
    return "few" if (found <= wanted).all() else "many" if (found >= wanted).all() else ""


def past_the_end(o):
    """Are there as many too many as the grid has threads without a key?"""
    more = o.found("bins").sum() - o.case.array("bins").wanted.sum()
    return too_few_or_many(o) == "many" and more == o.case.threads - o.case.parameters["n"]


exercise = Exercise(
    id="one-atomic-each",
    title="one atomic addition for each key of a wave",
    lesson="04_lanes_together",
    section="One atomic for a whole wave",
    kernel="count_keys",
    signature="int n, int keys, const int* key, int* bins",
    minutes=25,
    make=make,
    owner=lambda case, index: None,
    by_wave=True,
    cases=(
        *combinations(n=(1000, 65, 64), keys=(5, 40), block=(64, 256)),
        {"n": 300, "keys": 1, "block": 256},
        {"n": 1, "keys": 3, "block": 64},
        {"n": 0, "keys": 3, "block": 64},
    ),
    smallest={"n": 1, "keys": 1, "block": 4},
    shown={"n": 16, "keys": 3, "block": 16},
    requirements=(
        limited(
            "too-many-atomics",
            "lanes in atomic additions",
            atomic_lanes,
            at_most=different,
            title="as many lanes in atomic additions as each wave has different keys",
            next_step="run.accesses() shows how many lanes took part in the atomic instruction. For each key of a wave "
            "one is enough, if "
            "it adds the right number.",
        ),
        limited(
            "no-atomics",
            "lanes in atomic additions",
            atomic_lanes,
            at_least=lambda case, arch: np.unique(case.array("key").data).size,
            title="each key that occurs is added by an atomic addition at least once",
            next_step="A thread that looks at all keys does alone what the grid can do together. Let each wave look at "
            "its own keys.",
            when=lambda case: case.parameters["n"] >= 300,
            shrinks=False,
        ),
        own_loads(
            "key",
            at_most=4,
            title="a wave loads its own keys, each lane one",
            when=lambda case: case.parameters["n"] >= 300,
            next_step="A lane that reads the keys of the others from memory does their work. Which functions of the lesson "
            "tell a lane about the others?",
        ),
        lds_bytes(
            "shared-memory",
            at_most=0,
            title="no shared memory",
            next_step="Additions in shared memory to one address conflict there, too. The lanes can find out by themselves which "
            "has which key.",
        ),
    ),
    causes=(
        Cause(
            "not-atomic",
            "several waves change a bin at the same time, without atomic operations",
            lambda o: o.fault is not None and o.fault.kind in ("race", "lane conflict"),
            "bins[k] += c reads, adds and writes. What another wave wrote in between is lost.",
            "One lane of a wave may add for all, but it must add by atomicAdd: there are other waves.",
        ),
        Cause(
            "missing-guard",
            "threads past the end of the arrays work too",
            lambda o: bool(o.outside("bins")) or o.fault is not None,
            "The last block has more threads than elements are left.",
            "A thread without an element has no key.",
            guard=("n",),
        ),
        Cause(
            "adds-one",
            "each leader adds 1, not the number of its lanes",
            lambda o: o.looks_like("bins", leaders_only),
            "The leader adds for all lanes with its key.",
            "Which function counts the bits of a mask of 64 lanes?",
        ),
        Cause(
            "half-a-mask",
            "only 32 lanes of a wave are counted",
            lambda o: o.wave_size == 64 and o.looks_like("bins", lowest_half),
            "On this device a mask of lanes has 64 bits. An unsigned, __popc and __ffs use 32 of them.",
            "Check each step for its width: the variable, and the functions.",
        ),
        Cause(
            "one-leader-for-all",
            "only the key of the first lane is counted in each wave",
            lambda o: o.looks_like("bins", first_key_only),
            "Each key of the wave needs a leader of its own.",
            "Which lane leads the lanes that have *my* key?",
        ),
        Cause(
            "mask-of-all-lanes",
            "all keys are counted, but some of them for another key",
            lambda o: (
                o.uses(r"\b__ballot\s*\(\s*(1|true)\s*\)|\b__activemask\b")
                and o.found("bins").sum() == o.case.array("bins").wanted.sum()
            ),
            "Which lanes are active within an `if` is the compiler's choice: it may move the code behind a loop, where all "
            "lanes are together again. So __ballot(1) and __activemask() can have lanes with other keys.",
            "Ask for what you mean, before the `if`: which condition says that a lane has this key?",
        ),
        Cause(
            "counts-past-end",
            "lanes without a key are counted, too",
            past_the_end,
            "The last block can have more threads than keys are left.",
            "What does a thread whose number is n or more have as its key? No key that can occur should be it.",
        ),
        Cause(
            "nobody-leads",
            "some lanes are not counted",
            lambda o: too_few_or_many(o) == "few",
            "Their key has no leader, or they do not take part.",
            "For each key exactly one lane must be the leader. (__ffs and __ffsll count from 1: the lowest bit of a mask "
            "gives 1, and belongs to lane 0.)",
        ),
        Cause(
            "counted-twice",
            "some lanes are counted more than once",
            lambda o: too_few_or_many(o) == "many",
            "If every lane adds the size of its group, the group is counted as often as it has lanes.",
            "Which lanes may add?",
        ),
    ),
    hints=(
        "`__match_any(key[i])` gives each lane the mask of all lanes with the same key. From that mask alone each "
        "lane can tell whether it leads, and for how many.",
        "The leader is the lane at the lowest set bit: `__ffsll(same) - 1`. The number of lanes is "
        "`__popcll(same)`.",
        "`if (lane == __ffsll(same) - 1) atomicAdd(&bins[key[i]], __popcll(same));` with `lane = threadIdx.x % "
        "warpSize`.",
    ),
)
