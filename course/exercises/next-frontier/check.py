"""next-frontier: one level of a breadth-first search after the other, with one addition to the queue's size by a "
"wave."""

import numpy as np

from gpulab.grading.case import Array, Case, Step, Value, blocks_for, no_inputs
from gpulab.grading.exercise import Cause, Exercise, Requirement, multiple_of
from gpulab.grading.requirements import executed, per_wave

MOST = 32
"""Neighbours of a vertex at most."""
LEVELS = 3
"""Launches of a case; the last ones may find nothing."""


def graph(n, degree, random):
    """Offsets and neighbours: some vertices without any, one with the most, a few in each list twice."""
    lengths = random.integers(0, degree + 1, n)
    lengths[0] = degree
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype("int32")
    neighbours = random.integers(0, n, offsets[-1])
    near = random.random(neighbours.size) < 0.4
    neighbours[near] = random.integers(0, max(n // 8, 1), int(near.sum()))
    return offsets, neighbours.astype("int32")


def searched(offsets, neighbours, n, levels, sources):
    """Levels of all vertices after so many steps, and the sizes of the frontiers."""
    level = np.full(n, -1, "int32")
    level[:sources] = 0
    sizes = [sources]
    frontier = np.arange(sources)
    for depth in range(levels):
        parts = [neighbours[offsets[v] : offsets[v + 1]] for v in frontier]
        reached = np.unique(np.concatenate(parts)) if parts else np.zeros(0, "int64")
        frontier = reached[level[reached] < 0]
        level[frontier] = depth + 1
        sizes.append(frontier.size)
    return level, sizes


def make(parameters, random):
    n, degree, block = (parameters[name] for name in ("n", "degree", "block"))
    sources = min(parameters["sources"], n)
    offsets, neighbours = graph(n, degree, random)
    level, sizes = searched(offsets, neighbours, n, LEVELS, sources)
    begin = np.full(n, -1, "int32")
    begin[:sources] = 0
    first = np.full(n, -1, "int32")
    first[:sources] = np.arange(sources)
    arguments = [
        Array("offsets", offsets),
        Array("neighbours", neighbours),
        Array("level", begin, level),
        Array("queue 0", first, scratch=True),
        Array("size 0", np.array([sources], "int32")),
    ]
    steps = []
    for depth in range(LEVELS):
        arguments += [
            Value(f"depth {depth}", np.int32(depth)),
            Array(f"queue {depth + 1}", np.full(n, -1, "int32"), scratch=True),
            Array(f"size {depth + 1}", np.zeros(1, "int32"), np.array([sizes[depth + 1]], "int32")),
        ]
        names = ("offsets", "neighbours", f"depth {depth}", "level")
        names += (f"queue {depth}", f"size {depth}", f"queue {depth + 1}", f"size {depth + 1}")
        grid = (max(blocks_for(sizes[depth], block), 1), 1, 1)
        steps.append(Step("next_frontier", grid, (block, 1, 1), names))
    return Case(parameters, arguments=tuple(arguments), steps=tuple(steps))


def sizes_of(o):
    """Sizes of the frontiers as found and as wanted, the given one left out."""
    names = [f"size {depth + 1}" for depth in range(LEVELS)]
    return (
        np.array([int(o.found(name)[0]) for name in names]),
        np.array([int(o.case.array(name).wanted[0]) for name in names]),
    )


def queues(o):
    """What each queue holds after the launches, with the number of vertices that should be in it."""
    for depth in range(1, LEVELS + 1):
        yield o.found(f"queue {depth}"), int(o.case.array(f"size {depth}").wanted[0]), depth


def wrong_queue(o):
    """Which queue has not each vertex of its level once?"""
    for found, size, depth in queues(o):
        wanted = np.flatnonzero(o.case.array("level").wanted == depth)
        if not np.array_equal(np.sort(found[:size]), wanted):
            return f"after the launch for depth {depth - 1}, next does not hold each new vertex once"
    return ""


def first_wrong(o):
    """Index of the first wrong size; -1 if all are right."""
    found, wanted = sizes_of(o)
    wrong = np.flatnonzero(found != wanted)
    return int(wrong[0]) if wrong.size else -1


def reads_hole(o):
    """Did a thread that has a vertex read offsets at the index of no vertex?"""
    array, number, depth = o.read_outside(), o.faulting_number(), first_wrong(o)
    if array is None or array[0] != "offsets" or number is None or depth < 0:
        return False
    return number[0] < int(o.case.array(f"size {depth}").wanted[0])


def ended(o):
    return o.guarded.fault is None


def in_order(case):
    """Levels if each launch looks at the first vertices of all, as many as its queue has."""
    offsets, neighbours, level = (case.array(name).data for name in ("offsets", "neighbours", "level"))
    level, size = level.copy(), int(case.array("size 0").data[0])
    for depth in range(LEVELS):
        reached = np.unique(neighbours[: offsets[min(size, level.size)]])
        new = reached[level[reached] < 0]
        level[new], size = depth + 1, new.size
    return level


def waves(case, arch):
    size = 64 if arch == "gfx942" else 32
    return sum(step.grid[0] * -(-step.block[0] // size) for step in case.steps)


def large(case):
    return case.parameters["n"] >= 600


PLACE = ("race", "lane conflict")

exercise = Exercise(
    id="next-frontier",
    title="a queue with one addition for each wave",
    lesson="25_irregular",
    section="A place in the queue",
    kernel="next_frontier",
    signatures={
        "next_frontier": "const int* offsets, const int* neighbours, int depth, int* level, const int* queue, "
        "const int* size, int* next, int* next_size"
    },
    minutes=30,
    make=make,
    owner=lambda case, index: None,
    reads=no_inputs,
    fixed_sizes="a graph has at least one vertex",
    cases=(
        {"n": 400, "degree": 6, "sources": 5, "block": 128},
        {"n": 300, "degree": 32, "sources": 2, "block": 256},
        {"n": 80, "degree": 3, "sources": 1, "block": 64},
        {"n": 10, "degree": 2, "sources": 3, "block": 64},
        {"n": 2, "degree": 1, "sources": 1, "block": 64},
        {"n": 1, "degree": 0, "sources": 1, "block": 64},
        {"n": 640, "degree": 12, "sources": 150, "block": 128},
    ),
    promises=(multiple_of(64, "block"),),
    kept=("block", "degree", "sources"),
    smallest={"n": 1, "degree": 0, "sources": 1, "block": 64},
    shown={"n": 6, "degree": 2, "sources": 1, "block": 64},
    requirements=(
        Requirement(
            "wrong-queue",
            "next holds each new vertex once",
            wrong_queue,
            next_step="level and the sizes are right. Where does a lane's first vertex go, and where its second one?",
        ),
        executed(
            "additions",
            r"(global|flat)_atomic_(add|inc|sub|dec)",
            at_most=lambda case, arch: waves(case, arch),
            when=large,
            title="a wave adds to next_size at most once",
            next_step="First let each lane find all that it can claim. How many they are is known then, and one "
            "addition gives places to all of them. Keep the claimed neighbours as bits: there are 32 at most.",
        ),
        per_wave(
            "loads",
            "global loads",
            at_most=lambda case, arch: 10 + 2 * case.parameters["degree"],
            when=large,
            shrinks=False,
            title="the threads share the frontier: a wave executes at most two loads for each of 12 neighbours, "
            "and ten more",
            next_step="Thread i has vertex i of the queue, and no other one.",
        ),
    ),
    causes=(
        Cause(
            "depth-not-next",
            "new vertices get the level of the frontier",
            lambda o: (
                ended(o) and first_wrong(o) <= 0 and bool((o.found("level") == 0).sum() > o.case.parameters["sources"])
            ),
            "The vertices of the frontier have the level depth, so those behind them have depth + 1.",
            "Which number does a claim store?",
        ),
        Cause(
            "level-changed",
            "a vertex that has a level already gets another one",
            lambda o: ended(o) and bool((o.found("level")[o.case.array("level").wanted == 0] > 0).any()),
            "A vertex of the first frontier has the level 0, and keeps it if another vertex has it as a neighbour. "
            "atomicExch stores in any case, and atomicMax where the new level is larger.",
            "Which atomic operation stores only where the level is -1?",
        ),
        Cause(
            "queue-not-used",
            "thread i looks at the neighbours of vertex i",
            lambda o: ended(o) and o.looks_like("level", in_order),
            "The vertices of the frontier are in the queue, in any order: thread i has the vertex queue[i].",
            "For i = 0 in the second launch: which vertex does your kernel look up in offsets?",
        ),
        Cause(
            "holes",
            "a launch finds places in its queue to which the launch before has stored nothing",
            reads_hole,
            "Places of queues hold -1 until a vertex is stored, and *size counts vertices that are not there.",
            "Take a lane that has claimed one vertex, the first of its wave: what is its place?",
        ),
        Cause(
            "too-many-threads",
            "threads beyond the frontier take part",
            lambda o: (
                (o.read_outside() or ("", 0))[0] in ("offsets", "neighbours")
                or (o.fault is not None and o.fault.kind in ("out of bounds", "null") and o.fault.access == "read")
            ),
            "Whole blocks are launched, and the queue holds *size vertices.",
            "What do threads with i >= *size do with their place in the queue?",
            guard=("size",),
        ),
        Cause(
            "size-lost",
            "fewer vertices are counted than were claimed",
            lambda o: (
                ended(o)
                and (k := first_wrong(o)) >= 0
                and sizes_of(o)[0][k] < sizes_of(o)[1][k]
                and int((o.found("level") == k + 1).sum()) == sizes_of(o)[1][k]
            ),
            "The levels of the first launch with a wrong size are right, so all vertices were claimed.",
            "Which lanes' vertices are in the number that the wave adds?",
            explains=PLACE,
        ),
        Cause(
            "size-too-large",
            "more vertices are counted than there are new ones",
            lambda o: ended(o) and (k := first_wrong(o)) >= 0 and sizes_of(o)[0][k] > sizes_of(o)[1][k],
            "A vertex that two lanes find, or that is in a list twice, is new once. To compare and to store are two "
            "steps, "
            "between which another lane may do the same.",
            "What does a claim tell the lane that comes second?",
            explains=PLACE,
        ),
        Cause(
            "places-overlap",
            "two lanes store to the same place of next, or to one that is not in it",
            lambda o: (
                o.fault is not None
                and (o.fault.kind in PLACE or o.fault.kind == "out of bounds")
                and o.fault.access == "write"
            ),
            "The vertices of a wave have places one after the other: those of lane 0, then those of lane 1, and so on.",
            "The start of a lane follows from the numbers of which other lanes?",
            explains=PLACE,
        ),
        Cause(
            "vertices-missing",
            "vertices are not reached",
            lambda o: ended(o) and bool(((o.found("level") < 0) & (o.case.array("level").wanted >= 0)).any()),
            "Either a launch does not look at all neighbours of its frontier, or its queue does not hold all new "
            "vertices.",
            "Take a frontier of one vertex: which of its neighbours are in next afterwards?",
            explains=PLACE,
        ),
    ),
    hints=(
        "Three parts: each lane claims the new neighbours of its vertex and remembers which; the wave adds their "
        "number "
        "once; each lane stores its own, from its start on.",
        "A claim: `atomicCAS(&level[neighbours[begin + k]], -1, depth + 1) == -1`. Keep claims as bits of an "
        "unsigned, `mine |= 1u << k`. "
        "A scan of `__popc(mine)` over the wave tells each lane how many stand before its own, and the last lane "
        "the sum.",
        "`if (lane == warpSize - 1 && upto > 0) start = atomicAdd(next_size, upto);` then `int place = __shfl(start, "
        "warpSize - 1) + upto - __popc(mine);` and `if (mine >> k & 1) next[place++] = neighbours[begin + k];` Threads "
        "beyond *size stay, with `degree = 0`.",
    ),
)
