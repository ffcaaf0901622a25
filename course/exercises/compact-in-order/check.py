"""compact-in-order: the positive numbers of an array in their order, in one launch with look-back."""

import re

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for
from gpulab.grading.exercise import Cause, Exercise, multiple_of
from gpulab.grading.requirements import in_order, instructions, limited, memory_lines, own_loads

ALL = 2 << 32
LARGE = 3000
BEFORE = 1 << 30
"""What count holds before the launch: more than any count, so that a maximum over all tiles is no way to store one."""


def kept_in_tiles(data, block, blocks):
    padded = np.zeros(blocks * block, "int32")
    padded[: data.size] = data
    return (padded.reshape(blocks, block) > 0).sum(axis=1)


def make(parameters, random):
    n, block = parameters["n"], parameters["block"]
    blocks = blocks_for(n, block)
    data = random.permutation(np.arange(1, n + 1)).astype("int32")
    if n >= 100:
        data[data > n // 2] *= 100_003  # more bits than a float has
    data[random.random(n) < 0.4] *= -1
    data[random.random(n) < 0.05] = 0
    kept = data[data > 0]
    out = np.full(n, -7, "int32")
    wanted = out.copy()
    wanted[: kept.size] = kept
    sums = kept_in_tiles(data, block, blocks).cumsum()
    return Case(
        parameters,
        grid=(blocks, 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Array("in", data),
            Array("out", out, wanted),
            Array("count", np.full(1, BEFORE, "int32"), np.array([kept.size], "int32")),
            Array("ticket", np.zeros(1, "uint32"), np.array([blocks], "uint32")),
            Array("states", np.zeros(blocks, "uint64"), (ALL + sums).astype("uint64")),
        ),
        weak=8 if n == 150 else 0,  # there any block may be the first to draw a ticket
    )


def tiles_apart(case):
    """Every tile begins at the front of out; tiles run in order, so that a later one overwrites."""
    data, block = case.array("in").data, case.parameters["block"]
    out = case.array("out").data.copy()
    for first in range(0, data.size, block):
        part = data[first : first + block]
        part = part[part > 0]
        out[: part.size] = part
    return out


def waves_apart(size):
    """The places of a wave begin at those of its tile."""

    def prediction(case):
        data, block = case.array("in").data, case.parameters["block"]
        out, start = case.array("out").data.copy(), 0
        for first in range(0, data.size, block):
            tile = data[first : first + block]
            for wave in range(0, tile.size, size):
                part = tile[wave : wave + size]
                part = part[part > 0]
                out[start : start + part.size] = part
            start += int((tile > 0).sum())
        return out

    return prediction


def zeros_kept(case):
    """Zeros have places as well."""
    data, out = case.array("in").data, case.array("out").data.copy()
    out[: (data >= 0).sum()] = data[data >= 0]
    return out


def tickets_returned(o):
    """Atomic operations on global memory in the machine code that return what was there before."""
    returns = re.compile(r"(global|flat)_atomic_.*\b(sc0|glc|th:TH_ATOMIC_RETURN)\b")
    return sum(bool(returns.match(text)) for isa in o.isa.values() for text in isa)


def one_too_far(case):
    """Each place counts the element itself."""
    kept = case.array("in").data[case.array("in").data > 0]
    out = case.array("out").data.copy()
    out[1 : kept.size + 1] = kept[: out.size - 1]
    return out


def rejected_written(o):
    """Does out hold a number that was to be left out?"""
    data, out = o.case.array("in").data, o.found("out")
    return o.guarded.fault is None and bool((np.isin(out, data[data <= 0]) & ~o.untouched("out")).any())


def same_numbers(o):
    """Are the kept numbers all at the front, in another order?"""
    out, wanted = o.found("out"), o.case.array("out").wanted
    count = int((o.case.array("in").data > 0).sum())
    return bool(o.fault is None and (out != wanted).any() and (np.sort(out[:count]) == np.sort(wanted[:count])).all())


SAME_PLACE = ("race", "lane conflict")
"""What a checked launch finds where two threads store to one place; another cause may say why they do."""


exercise = Exercise(
    id="compact-in-order",
    title="compaction in one pass",
    lesson="22_reduce_and_scan",
    section="Stream compaction",
    kernel="compact",
    signature="int n, const int* in, int* out, int* count, unsigned* ticket, unsigned long long* states",
    minutes=35,
    make=make,
    cases=(
        {"n": 1000, "block": 64},
        {"n": 4000, "block": 256},
        {"n": 700, "block": 192},
        {"n": 128, "block": 128},
        {"n": 70, "block": 128},
        {"n": 150, "block": 64},
        {"n": 1, "block": 64},
        {"n": 0, "block": 64},
    ),
    promises=(multiple_of(64, "block"),),
    smallest={"n": 1, "block": 64},
    owner=lambda case, index: None,
    shown={"n": 14, "block": 64},
    requirements=(
        limited(
            "ticket-not-used",
            "atomic operations in the machine code whose result is used",
            tickets_returned,
            at_least=1,
            title="the ticket that a block draws is the number of its tile",
            next_step="What does the atomic operation on ticket return? A block that takes its tile by another number "
            "may wait for a tile whose block never starts.",
        ),
        own_loads(
            "in",
            at_most=3,
            title="a wave loads no numbers but its own, once or twice",
            when=lambda case: case.parameters["n"] >= LARGE,
        ),
        in_order(
            "place in the tile",
            "A ballot or a scan gives each lane the number of kept elements before it.",
            on_lds=True,
        ),
        memory_lines(
            minimum=lambda case: (case.parameters["n"] + int((case.array("in").data > 0).sum())) / 32,
            at_most=3,
            when=lambda case: case.parameters["n"] >= LARGE,
            title="at most 3 times the cache lines that reading each number and writing each kept one takes",
            next_step="run.coalescing() shows which access requests many lines. Do all threads do what one could "
            "do? Does a block count what others have counted and published?",
        ),
    ),
    causes=(
        Cause(
            "missing-barrier",
            "what one thread writes to LDS is used before it is there, or overwritten too early",
            lambda o: o.fault is not None and o.fault.kind in ("race", "never written") and o.fault.memory == "lds",
            "The number of the tile, the counts of waves, the first place: each is written by one thread and read by "
            "others.",
            "For each __shared__ variable: which thread writes it, and which barrier stands before the others read it?",
        ),
        Cause(
            "ticket-each-thread",
            "more tickets are drawn than there are tiles",
            lambda o: o.guarded.fault is None and int(o.guarded.after["ticket"][o.guard]) > o.case.grid[0],
            "A block does one tile, so it draws one ticket.",
            "Which thread draws it, and how do the others learn the number?",
        ),
        Cause(
            "no-ticket",
            "tiles are not given out by tickets",
            lambda o: o.fault is None and not o.wrong("out").any() and int(o.found("ticket")[0]) == 0,
            "The result is right here, where blocks start in the order of their numbers. Nothing promises that order: "
            "a block that waits for a tile whose block never starts waits for ever.",
            "Which counter gives a block that has started the next tile?",
        ),
        Cause(
            "one-place-off",
            "elements stand one place too far, or overwrite each other",
            lambda o: o.looks_like("out", one_too_far) and not o.written_before("out"),
            "If all elements are kept, the last one is stored beyond the end of out.",
            "The place of an element is the number of kept elements before it, without itself.",
        ),
        Cause(
            "zeros-kept",
            "zeros are kept, too",
            lambda o: o.looks_like("out", zeros_kept),
            "0 is not greater than zero.",
            "Which condition says that an element is kept, and is it true for 0?",
        ),
        Cause(
            "rejected-written",
            "elements that are not kept are stored, too",
            rejected_written,
            "Such an element has no place of its own: it overwrites a kept one, or stands before the beginning.",
            "Which condition must hold for a thread that stores?",
            explains=SAME_PLACE,
        ),
        Cause(
            "other-order",
            "all kept numbers are there, in another order",
            same_numbers,
            "A compaction in order has a place for each element that depends on all elements before it.",
            "Which tile's numbers stand first, and which tile did look_back think it was?",
        ),
        Cause(
            "wrong-sum-published",
            "what tiles publish is not the number of elements that they keep",
            lambda o: o.guarded.fault is None and bool(o.wrong("states").any()),
            "After the launch states[k] holds what tiles 0 to k keep together. Here it does not.",
            "Which elements belong to the tile, and which number did you hand to look_back: of a wave, of the tile, "
            "of all?",
            explains=SAME_PLACE,
        ),
        Cause(
            "tiles-apart",
            "each tile writes to the front of out",
            lambda o: o.looks_like("out", tiles_apart) and not o.wrong("states").any(),
            "What the tiles before keep is missing in the place.",
            "What does look_back return, and which threads need it?",
            explains=SAME_PLACE,
        ),
        Cause(
            "waves-apart",
            "waves of a tile write to the same places",
            lambda o: o.looks_like("out", waves_apart(o.wave_size)),
            "What the waves before keep is missing in the place.",
            "Which counts must a wave add?",
            explains=SAME_PLACE,
        ),
        Cause(
            "for-32-lanes",
            "32 stands where the wave size belongs, or a mask is cut to 32 bits",
            lambda o: (
                o.wave_size == 64
                and (o.fault is None or o.fault.kind in SAME_PLACE)
                and o.uses(
                    r"[%/]\s*32\b|[^<]<\s*32\b|>>\s*5\b|&\s*31\b|\bunsigned (int )?\w+ = __ballot|__popc\(|\(1u <<"
                )
            ),
            "This wave has 64 lanes, and its ballot 64 bits.",
            "`1ull`, `__popcll`, `warpSize`: which is missing?",
            explains=SAME_PLACE,
        ),
        Cause(
            "missing-guard",
            "threads without an element use memory beyond the arrays",
            lambda o: (
                o.fault is not None and o.fault.kind in ("out of bounds", "null") and o.read_outside() is not None
            ),
            "The last tile may not be full.",
            "A thread without an element keeps nothing, and reads nothing.",
            guard=("n",),
        ),
        Cause(
            "wrong-count",
            "out is right, count is not",
            lambda o: o.fault is None and not o.wrong("out").any() and bool(o.wrong("count").any()),
            "count[0] is the number of all kept elements. Only one tile knows it.",
            "Which tile has no tile behind it, and what does it know after its look-back?",
        ),
        Cause(
            "wrong-places",
            "some kept numbers stand in wrong places",
            lambda o: o.guarded.fault is None and bool(o.wrong("out").any()),
            "The place of an element is the number of kept elements before it: in lower lanes, in lower waves of the "
            "tile, in the tiles before. Other elements have none.",
            "Keep all elements of one tile: each should go to its own index. And is LDS read only after a barrier?",
            explains=SAME_PLACE,
        ),
    ),
    hints=(
        "Four parts: draw a ticket (one thread; the others read it from LDS); the place within the tile, by ballots "
        "and counts of waves; look back (one thread); write.",
        "`__shared__ int shared_tile, shared_before;` Thread 0: `shared_tile = atomicAdd(ticket, 1);` then a barrier. "
        "Place in the wave: `__popcll(mask & ((1ull << lane) - 1))`. Thread 0: `shared_before = look_back(states, "
        "tile, own);` where own is what the whole tile keeps, then a barrier.",
        "After the ticket: `int i = tile * blockDim.x + threadIdx.x;` `int value = i < n ? in[i] : 0;` `bool keep = "
        "value > 0;` `unsigned long long mask = __ballot(keep);` lane 0 writes `kept_in[wave] = __popcll(mask);` "
        "barrier; `if (w < wave) place += kept_in[w]; own += kept_in[w];` for all waves w. The last tile writes "
        "`*count = shared_before + own;` and at last `if (keep) out[shared_before + place] = value;`",
    ),
)
