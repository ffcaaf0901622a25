"""histogram-private: how often each byte occurs, with at most one addition to global memory per block and counter."""

import numpy as np

from gpulab.grading.case import Array, Case, Value
from gpulab.grading.exercise import Cause, Exercise, Requirement
from gpulab.grading.requirements import limited, loaded_by_lanes


ENOUGH = 15000
"""Elements from which on each block's part has each value, unless the parts differ very much."""


def make(parameters, random):
    n, block = parameters["n"], parameters["block"]
    data = np.where(random.random(n) < 0.5, 65, random.integers(0, 256, n)).astype("uint8")  # half are alike
    return Case(
        parameters,
        grid=(parameters["blocks"], 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Array("data", data),
            Array("bins", np.zeros(256, "uint32"), np.bincount(data, minlength=256).astype("uint32")),
        ),
    )


def race(o, memory, *kinds):
    """A race in LDS or in global memory between accesses of these two kinds ("read", "write", "atomic")."""
    fault = o.fault
    return (
        fault is not None
        and fault.kind in ("race", "lane conflict")
        and fault.memory == memory
        and (fault.other is None or {fault.access, fault.other.access} == set(kinds))
    )


def first_round(case):
    """The counts of the elements that a grid without a loop reaches."""
    reached = case.array("data").data[: case.threads]
    return np.bincount(reached, minlength=256).astype("uint32")


def counted_in_lds(o):
    """Lanes that took part in atomic operations on LDS."""
    accesses = [access for launch in o.measured for access in launch.accesses]
    return sum(each.lanes for each in accesses if each.action == "atomic" and each.space == "lds")


def in_global_memory(o):
    """Atomic operations on global memory."""
    return [
        access
        for launch in o.measured
        for access in launch.accesses
        if access.action == "atomic" and access.space in ("global", "flat")
    ]


def lanes_on_one_counter(o):
    """What is wrong where two lanes of a wave, so of one block, add to the same counter at once."""
    for access in in_global_memory(o):
        for sample in access.samples:
            addresses = [address for address in sample.addresses if address is not None]
            if len(set(addresses)) < len(addresses):
                return "lanes of one wave add to the same counter in global memory: its block adds to it more than once"
    return ""


def added_again(o):
    """Was each element counted once in LDS, and are there more counts, too many for some values more than for others?"""
    more = o.found("bins").astype("int64") - o.case.array("bins").wanted
    again = o.fault is None and more.sum() > 0 and len(set(more.tolist())) > 1
    return again and counted_in_lds(o) == o.case.parameters["n"]


def counted_by_several(o):
    """Are there as many counts more than elements as were counted in LDS more than once?"""
    more = o.found("bins").astype("int64") - o.case.array("bins").wanted
    return o.fault is None and bool((more >= 0).all()) and 0 < more.sum() == counted_in_lds(o) - o.case.parameters["n"]


def counts_lost(o):
    """Are some counters too small and none too large, though no atomic operation was done in LDS?"""
    found, wanted = o.found("bins"), o.case.array("bins").wanted
    lost = bool((found <= wanted).all() and (found < wanted).any())
    return o.fault is None and found.sum() > 0 and lost and counted_in_lds(o) == 0


exercise = Exercise(
    id="histogram-private",
    title="a histogram with few global atomics",
    lesson="10_atomics",
    section="A histogram in LDS",
    kernel="histogram",
    signature="int n, const unsigned char* data, unsigned* bins",
    minutes=20,
    make=make,
    cases=(
        {"n": 5000, "block": 64, "blocks": 3},
        {"n": 5000, "block": 256, "blocks": 3},
        {"n": 700, "block": 256, "blocks": 3},
        {"n": 100, "block": 64, "blocks": 3},
        {"n": 1, "block": 64, "blocks": 3},
        {"n": 0, "block": 256, "blocks": 3},
        {"n": 20000, "block": 256, "blocks": 5},
    ),
    smallest={"n": 1, "block": 64},
    kept=("block", "blocks"),
    owner=lambda case, index: None,
    shown={"n": 100, "block": 64, "blocks": 3},
    causes=(
        Cause(
            "lds-not-zeroed",
            "counters in LDS are used before they are set to zero",
            lambda o: o.fault is not None and o.fault.kind == "never written" and o.fault.memory == "lds",
            "LDS has at first what an earlier block has written; and a block may have fewer threads than there "
            "are counters.",
            "Which thread sets own[200] to zero, if the block has 64 threads?",
        ),
        Cause(
            "barrier-before-counting",
            "a thread counts into a counter that another one may still set to zero",
            lambda o: race(o, "lds", "write", "atomic"),
            "The waves of a block do not run in lockstep with each other: one may count while another has not yet "
            "cleared its counters.",
            "What must be between clearing and counting?",
        ),
        Cause(
            "barrier-after-counting",
            "counters are read while other threads still count",
            lambda o: race(o, "lds", "read", "atomic"),
            "A wave that finishes its elements early reads counters that are not complete.",
            "What must be between counting and adding up?",
        ),
        Cause(
            "merge-not-atomic",
            "blocks add to the same counter in global memory without an atomic operation",
            lambda o: race(o, "global", "read", "write") or race(o, "global", "write"),
            "All blocks add up at the end, at the same time.",
            "Only one line writes to bins. What if two blocks execute it at the same time?",
        ),
        Cause(
            "bins-not-merged",
            "counters from the number of threads of a block on are never added up",
            lambda o: (
                o.fault is None
                and o.case.block[0] < 256
                and bool(o.wrong_indices("bins"))
                and o.unwritten_indices("bins") == o.wrong_indices("bins")
                and min(o.wrong_indices("bins")) >= o.case.block[0]
            ),
            "There are 256 counters, and a block may have fewer threads.",
            "Let each thread add up several counters, in a loop.",
        ),
        Cause(
            "no-loop",
            "only as many elements are counted as the grid has threads",
            lambda o: o.case.parameters["n"] > o.case.threads and o.looks_like("bins", first_round),
            "The grid is small on purpose: each thread has several elements.",
            "Remember the grid-stride loop of lesson 02.",
        ),
        Cause(
            "not-atomic",
            "counting in LDS reads, adds and writes in three steps",
            lambda o: race(o, "lds", "read", "write") or race(o, "lds", "write") or counts_lost(o),
            "Two threads with the same value both read the old count, and one of them is lost. LDS is shared as well.",
            "Which function makes one step of the three? It works on LDS, too.",
        ),
        Cause(
            "counted-by-several",
            "several threads count the same elements",
            counted_by_several,
            "The grid may have any number of blocks, and each element is counted by one thread of the grid.",
            "By how many elements does a thread go on? How many threads has the grid?",
        ),
        Cause(
            "counted-again",
            "what one block counted is added more than once",
            added_again,
            "The counts add up to more than there are elements.",
            "How many threads of a block execute the line that adds own[b] to bins[b], for one b?",
        ),
    ),
    requirements=(
        limited(
            "global-atomics",
            "lanes that added to global memory",
            lambda o: sum(access.lanes for access in in_global_memory(o)),
            at_most=lambda case, arch: 256 * case.grid[0],
            at_least=lambda case, arch: 256 * (case.grid[0] - 1) + 1 if case.parameters["n"] >= ENOUGH else 300,
            title="every block adds its counters to global memory, each at most once",
            when=lambda case: case.parameters["n"] > 256 * case.grid[0],
            next_step="Count in __shared__ memory, and add each block's counters to bins once, at the end.",
        ),
        Requirement(
            "adds-to-one-counter-again",
            "a block adds to a counter in global memory at most once",
            lanes_on_one_counter,
            "Count in __shared__ memory for small n as well, and add each block's counters to bins once, at the end.",
            when=lambda case: case.parameters["n"] >= 100,
            shrinks=False,
        ),
        loaded_by_lanes(
            "loaded-by-lanes",
            "data",
            title="each thread has several elements: lanes load them together",
            when=lambda case: case.parameters["n"] >= 5000,
        ),
    ),
    hints=(
        "A kernel in three parts with a barrier between each: clear a histogram in `__shared__` memory, count into "
        "it, add it to bins.",
        "Clearing and adding go over 256 counters with the threads of a block: `for (int b = threadIdx.x; b < 256; "
        "b += blockDim.x)`. Counting is a grid-stride loop with `atomicAdd(&own[data[i]], 1)`.",
        "`__shared__ unsigned own[256];` clear it; `__syncthreads();` count; `__syncthreads();` then, for each b of"
        " mine, `if (own[b] > 0) atomicAdd(&bins[b], own[b]);`",
    ),
)
