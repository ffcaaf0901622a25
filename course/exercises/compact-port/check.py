"""compact-port: the positive numbers of each block, packed in order, by ballots; from a CUDA kernel with 32-bit masks."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, no_inputs, sentinel
from gpulab.grading.exercise import Cause, Exercise, multiple_of
from gpulab.grading.requirements import in_order, own_loads

UNUSED = -1


def blocks_of(case):
    """The elements of each block, and whether they are kept."""
    n, block = case.parameters["n"], case.parameters["block"]
    data = case.array("in").data
    return [data[start : start + block] for start in range(0, blocks_for(n, block) * block, block)]


def make(parameters, random):
    n, block = parameters["n"], parameters["block"]
    blocks = blocks_for(n, block)
    data = random.permutation(np.arange(1, n + 1)).astype("int32") * random.choice([1, 1, -1], n).astype("int32")
    if n >= 100:
        data[data > n // 2] *= 100_003  # more bits than a float has
    data[random.random(n) < 0.1] = 0
    packed, counts = np.full(n, UNUSED, dtype="int32"), np.zeros(blocks, dtype="int32")
    for b in range(blocks):
        kept = [value for value in data[b * block : (b + 1) * block] if value > 0]
        packed[b * block : b * block + len(kept)] = kept
        counts[b] = len(kept)
    return Case(
        parameters,
        grid=(blocks, 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Array("in", data),
            Array("out", np.full(n, UNUSED, dtype="int32"), packed),
            Array("count", sentinel("int32", blocks), counts),
        ),
    )


def zeros_kept(o):
    """Is it what is right for the elements that are not negative?"""
    out, count, block = o.case.array("out").data.copy(), [], o.case.parameters["block"]
    for b, values in enumerate(blocks_of(o.case)):
        kept = values[values >= 0]
        out[b * block : b * block + kept.size] = kept
        count.append(kept.size)
    wrong = o.wrong("out").any() or o.wrong("count").any()
    return bool(wrong and (o.found("count") == count).all() and (o.found("out") == out).all())


def predicted(case, wave, group, mask, below, counted):
    """`out` and `count` of a kernel that numbers lanes in groups of `group`, keeps `mask(ballot, lane of the wave)`,
    takes `below(mask, lane)` for the place in the group and `counted(mask)` for the group's count."""
    block = case.parameters["block"]
    out, count = case.array("out").data.copy(), []
    for b, values in enumerate(blocks_of(case)):
        keep = np.zeros(block, dtype=bool)
        keep[: len(values)] = values > 0
        ballots = [sum(1 << int(lane) for lane in np.flatnonzero(keep[w : w + wave])) for w in range(0, block, wave)]
        masks = [mask(ballots[t // wave], t % wave) for t in range(block)]
        counts = [counted(masks[t]) for t in range(0, block, group)]
        for t in np.flatnonzero(keep):
            place = sum(counts[: t // group]) + below(masks[t], int(t) % group)
            if b * block + place < out.size:
                out[b * block + place] = values[t]
        count.append(sum(counts))
    return out, np.array(count, dtype="int32")


def ones(value):
    return bin(value).count("1")


LOW = 0xFFFFFFFF


def like(group, mask, below, counted):
    """Is it what a kernel of this kind leaves? `group` 0 stands for the wave."""

    def test(o):
        out, count = predicted(o.case, o.wave_size, group or o.wave_size, mask, below, counted)
        wrong = o.wrong("out").any() or o.wrong("count").any()
        return bool(wrong) and bool((o.found("count") == count).all() and (o.found("out") == out).all())

    return test


def like_inclusive(o):
    """Does every place count the element itself, too? (The last one of a full block is then out of place.)"""
    out, _ = predicted(
        o.case, o.wave_size, o.wave_size, lambda b, lane: b, lambda m, lane: ones(m & ((2 << lane) - 1)), ones
    )
    return bool((o.found("out") == out).all())


def kind(name):
    return lambda o: o.fault is not None and o.fault.kind == name


exercise = Exercise(
    id="compact-port",
    title="keep the positive numbers, ported from 32-bit masks",
    lesson="13_porting_traps",
    section="Masks of lanes",
    kernel="keep_positive",
    signature="int n, const int* in, int* out, int* count",
    minutes=25,
    make=make,
    cases=(
        {"n": 64, "block": 64},
        {"n": 256, "block": 128},
        {"n": 1000, "block": 256},
        {"n": 100, "block": 64},
        {"n": 33, "block": 64},
        {"n": 1, "block": 64},
        {"n": 0, "block": 64},
    ),
    promises=(multiple_of(64, "block"),),
    smallest={"n": 0, "block": 64},
    reads=no_inputs,
    shown={"n": 64, "block": 64},
    causes=(
        Cause(
            "no-barrier",
            "the counts of the other waves are read before these have written them",
            lambda o: kind("race")(o) and o.fault.memory != "global",
            "The waves of a block do not run in lockstep with each other.",
            "What must be between the line that writes counts and the loop that reads it?",
        ),
        Cause(
            "lower-half",
            "the upper 32 lanes of a wave use the mask of the lower 32",
            like(32, lambda b, lane: b & LOW, lambda m, lane: ones(m & ((1 << lane) - 1)), ones),
            "A ballot has a bit for each lane of the wave. An unsigned keeps the lower 32 of 64.",
            "Which half of the ballot belongs to thread 40?",
            explains=("race", "lane conflict"),
        ),
        Cause(
            "mask-32-bits",
            "the mask is kept in 32 bits, and the wave has more lanes",
            like(0, lambda b, lane: b & LOW, lambda m, lane: ones(m & ((1 << lane % 32) - 1)), ones),
            "Putting a 64-bit ballot into an unsigned drops the upper lanes without a warning.",
            "Check three things: the type of the mask, the 1 that is shifted, and the function that counts.",
            explains=("race", "lane conflict"),
        ),
        Cause(
            "popc-32",
            "the mask has 64 bits, but only the lower 32 are counted",
            like(0, lambda b, lane: b, lambda m, lane: ones(m & ((1 << lane) - 1) & LOW), lambda m: ones(m & LOW)),
            "__popc takes an unsigned: the upper half is cut off.",
            "There is a function that counts 64 bits.",
            explains=("race", "lane conflict"),
        ),
        Cause(
            "shift-32",
            "the 1 that is shifted has only 32 bits",
            like(0, lambda b, lane: b, lambda m, lane: ones(m & ((1 << lane % 32) - 1)), ones),
            "1u << 40 is not 2 to the power of 40: the hardware computes 1u << 8.",
            "Write a 64-bit one.",
            explains=("race", "lane conflict"),
        ),
        Cause(
            "mixed-groups",
            "lanes and counts go by 32 threads, the mask by the wave",
            like(32, lambda b, lane: b, lambda m, lane: ones(m & ((1 << lane) - 1)), ones),
            "Each group of 32 counts the whole wave: the counts are too large.",
            "Decide: waves in all lines, or groups of 32 in all lines (then take their half of the mask).",
            explains=("race", "lane conflict"),
        ),
        Cause(
            "only-64",
            "the kernel is written for waves of 64 lanes alone",
            lambda o: (
                o.wave_size == 32 and like(64, lambda b, lane: b, lambda m, lane: ones(m & ((1 << lane) - 1)), ones)(o)
            ),
            "With waves of 32 lanes a block has twice as many waves, and a ballot has 32 bits that count.",
            "Use warpSize.",
            explains=("race", "lane conflict"),
        ),
        Cause(
            "counts-itself",
            "each element is one place too far: it counts itself",
            lambda o: o.case.parameters["n"] > 0 and not o.wrong("count").any() and like_inclusive(o),
            "The place of an element is the number of kept ones before it.",
            "For lane 0 the mask of the lanes below has no bit set.",
            explains=("race", "lane conflict"),
        ),
        Cause(
            "zeros-kept",
            "zeros are kept, too",
            zeros_kept,
            "0 is not positive.",
            "Which condition says that an element is kept, and is it true for 0?",
        ),
        Cause(
            "wrong-count",
            "out is right, count is not",
            lambda o: (
                o.fault is None
                and not o.wrong("out").any()
                and bool(o.wrong("count").any())
                and not o.unwritten_indices("count")
            ),
            "count is the sum of what the waves of the block keep, of all of them and of no others. An element of a "
            "shared array that no wave has written holds any number.",
            "How many waves has a block of this case, and how many counts does your loop add up?",
        ),
    ),
    requirements=(
        own_loads(
            "in",
            at_most=4,
            title="a wave loads its own elements, with at most four loads",
            next_step="A lane need not read the elements of other lanes: the mask of a ballot has all that it needs.",
            when=lambda case: case.parameters["n"] >= 128,
        ),
        in_order("position", "The mask of a ballot tells each lane how many lower lanes keep their elements."),
    ),
    hints=(
        "As in the kernel before, decide first: are your groups waves, or 32 threads each? In the second case a "
        "group's "
        "mask is one half of the ballot.",
        "Go through it: the type of mask, what is shifted, how the bits are counted, lane, warp, the size of counts.",
        "With waves: `unsigned long long mask = __ballot(keep); int before = __popcll(mask & ((1ull << lane) - "
        "1));` with lane and warp by `warpSize`. With groups of 32: `unsigned mask = (unsigned)(__ballot(keep) >> "
        "(__lane_id() & 32));`",
    ),
)
