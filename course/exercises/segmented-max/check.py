"""segmented-max: the largest number since the last head, for each element of a block: a segmented scan."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, sentinel
from gpulab.grading.exercise import Cause, Exercise, multiple_of
from gpulab.grading.requirements import lds_bytes, own_loads, per_wave


def running(data, begins):
    """The largest number since the last place where `begins` is true, for each place."""
    out = np.empty_like(data)
    top = 0
    for i, value in enumerate(data):
        top = value if begins[i] else max(top, value)
        out[i] = top
    return out


def begins(case, *, block=0, heads=lambda head: head != 0):
    """Where segments begin: at heads, and at each multiple of `block` (of the block's size)."""
    data, head = case.array("in").data, case.array("head").data
    places = np.arange(data.size) % (block or case.parameters["block"]) == 0
    return places | heads(head)


def no_heads(head):
    return np.zeros(head.size, bool)


HEADS = np.array([1, 1, 2, 128, 255], "uint8")
"""What stands at an element that begins a segment."""


def make(parameters, random):
    n, block, length = parameters["n"], parameters["block"], parameters["length"]
    # Segments of many lengths, longer than a wave, too. Those that have no number above zero are many, so that 0 is no
    # neutral element; in a third of them there may be some.
    data = random.permutation(np.arange(-9 * n, -8 * n)).astype("int32") if n else np.zeros(0, "int32")
    if n >= 100:
        data *= 90_001  # more bits than a float has
    head = (random.random(n) < 1 / length).astype("uint8")
    places = (np.arange(n) % block == 0) | (head != 0)
    above = random.permutation(np.arange(places.sum()) % 3 == 1)[np.cumsum(places) - 1] & (random.random(n) < 0.2)
    data[above] *= -1
    head *= random.choice(HEADS, n)
    return Case(
        parameters,
        grid=(blocks_for(n, block), 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Array("in", data),
            Array("head", head),
            Array("out", sentinel("int32", n), running(data, places)),
        ),
    )


def one_behind(case):
    """Segments begin one element behind their heads."""
    places, head = begins(case, heads=no_heads), case.array("head").data
    places[1:] |= head[:-1] != 0
    return running(case.array("in").data, places)


def with_heads(heads):
    return lambda case: running(case.array("in").data, begins(case, heads=heads))


SEEN = (
    lambda head: head == 1,
    lambda head: head % 2 == 1,
    lambda head: head.astype("int8") > 0,
    lambda head: (head > 0) & (head < 255),
)
"""Conditions that are false for some heads."""


def written(o):
    """Elements of out, as found and as wanted, where all of it was written and nothing stopped the kernel."""
    array = o.case.array("out")
    if o.fault is not None or not array.data.size or o.unwritten_indices("out"):
        return None
    return o.found("out"), array.wanted


def too_large(o):
    """Is every wrong element too large, and a number that stands before it in its block?"""
    pair = written(o)
    if pair is None:
        return False
    found, wanted = pair
    data, block = o.case.array("in").data, o.case.parameters["block"]
    wrong = np.flatnonzero(found != wanted)
    return wrong.size > 0 and all(found[i] > wanted[i] and found[i] in data[i - i % block : i + 1] for i in wrong[:50])


def too_small(o):
    """Is every wrong element too small, and a number of its own segment?"""
    pair = written(o)
    if pair is None:
        return False
    found, wanted = pair
    data = o.case.array("in").data
    wrong = np.flatnonzero(found != wanted)
    return wrong.size > 0 and all(found[i] < wanted[i] and found[i] in data[: i + 1] for i in wrong[:50])


exercise = Exercise(
    id="segmented-max",
    title="the largest since the last head",
    lesson="22_reduce_and_scan",
    section="Other operators",
    kernel="running_max",
    signature="int n, const int* in, const unsigned char* head, int* out",
    minutes=30,
    make=make,
    cases=(
        {"n": 2000, "block": 1024, "length": 100},
        {"n": 1000, "block": 256, "length": 7},
        {"n": 600, "block": 192, "length": 70},
        {"n": 256, "block": 128, "length": 1000},
        {"n": 200, "block": 64, "length": 2},
        {"n": 33, "block": 64, "length": 5},
        {"n": 1, "block": 64, "length": 3},
        {"n": 0, "block": 64, "length": 3},
    ),
    promises=(multiple_of(64, "block"),),
    kept=("block", "length"),
    smallest={"n": 1, "block": 64, "length": 2},
    owner=lambda case, index: None,  # and no reads: the report of a case with three waves would be large
    shown={"n": 12, "block": 64, "length": 3},
    requirements=(
        own_loads(
            "in",
            at_most=3,
            title="a wave loads its own numbers and heads, with at most three loads",
            when=lambda case: case.parameters["n"] >= 600,
        ),
        lds_bytes(
            at_most=512,
            title="at most 512 bytes of LDS: about two numbers for each wave",
            next_step="The lanes of a wave read each other's registers. Which two numbers of a wave do other waves "
            "need?",
        ),
        per_wave(
            "barriers",
            "barriers",
            at_most=2,
            title="at most two barriers",
            next_step="No barrier is needed within a wave. Between which two accesses to LDS must other waves have "
            "come?",
        ),
    ),
    causes=(
        Cause(
            "missing-barrier",
            "what other waves write is used before it is there",
            lambda o: o.fault is not None and o.fault.kind in ("race", "never written") and o.fault.memory == "lds",
            "Waves of a block run in any order. LDS orders nothing by itself.",
            "Which wave writes the element that this one reads? What makes it come first?",
        ),
        Cause(
            "missing-guard",
            "threads without an element use memory beyond the arrays",
            lambda o: bool(o.outside("out")) or (o.fault is not None and o.fault.kind in ("out of bounds", "null")),
            "The last block has more threads than elements are left.",
            "A thread without an element takes part, but reads nothing. Which number is never the largest, and where "
            "does no segment begin?",
            guard=("n",),
        ),
        Cause(
            "zero-is-large",
            "0 stands in for numbers that are not there",
            lambda o: (pair := written(o)) is not None and bool(((pair[0] == 0) & (pair[1] < 0)).any()),
            "All numbers of this input are below zero, so 0 is larger than all of them.",
            "Which int is never larger than another one?",
        ),
        Cause(
            "no-segments",
            "heads within a block change nothing",
            lambda o: o.looks_like("out", lambda case: running(case.array("in").data, begins(case, heads=no_heads))),
            "The result is the running maximum of each block.",
            "What must happen to the maximum at an element whose head is not 0?",
        ),
        Cause(
            "heads-not-seen",
            "some heads are taken for 0",
            lambda o: any(o.looks_like("out", with_heads(heads)) for heads in SEEN),
            "A segment begins where head is not 0: 2, 128 and 255 are heads as well as 1.",
            "Which condition on head do you test, and for which numbers from 1 to 255 is it false?",
        ),
        Cause(
            "waves-apart",
            "each wave begins a new segment",
            lambda o: o.looks_like("out", lambda case: running(case.array("in").data, begins(case, block=o.wave_size))),
            "A segment may go on from one wave to the next.",
            "Which numbers of the waves before does a wave need, and which of its lanes use them?",
        ),
        Cause(
            "head-ends",
            "a head ends its segment, and does not begin one",
            lambda o: o.looks_like("out", one_behind),
            "The element with the head belongs to the segment that it begins.",
            "Which threads look at head[i], and which at head[i - 1]?",
        ),
        Cause(
            "for-32-lanes",
            "32 stands where the wave size belongs",
            lambda o: (
                o.wave_size == 64
                and o.fault is None
                and o.uses(r"[%/<]\s*32\b|>>\s*5\b|&\s*31\b|\bunsigned (int )?\w+ = __ballot")
            ),
            "This wave has 64 lanes.",
            "Let steps, lanes and waves follow from warpSize; masks have 64 bits.",
        ),
        Cause(
            "past-a-head",
            "elements from before the segment's head are counted",
            too_large,
            "Each wrong element is too large, and the number stands before it in its block, in another segment.",
            "When two parts are joined, and a segment begins in the upper one: what of the lower one counts? And has "
            "the joined part a head?",
        ),
        Cause(
            "smallest",
            "the smallest element of the segment so far is stored, not the largest",
            lambda o: o.looks_like("out", lambda case: -running(-case.array("in").data, begins(case))),
            "Two numbers of a segment are joined to the larger one.",
            "What comes out for two elements, 1 and 2, in a segment?",
        ),
        Cause(
            "elements-left-out",
            "elements of the segment are left out",
            too_small,
            "Each wrong element is too small.",
            "Take one segment that covers the whole block, with the largest number first. Which threads do not learn "
            "of it?",
        ),
    ),
    hints=(
        "A part is a run of neighbouring elements. Of each part two things are known: the largest number since its "
        "last head (or since its beginning), and whether it has a head. How do you join two neighbouring parts?",
        "Joined: if the upper part has a head, its maximum stays as it is; else it is the larger of both. The joined "
        "part has a head if one of the two has. In a step of the wave's scan both values are shuffled: "
        "`__shfl_up(top, step)` and `__shfl_up(begun, step)`.",
        "In the wave: `if (lane >= step && !begun) { top = max(top, lower_top); begun = lower_begun; }`. The last "
        "lane writes both to LDS; barrier. Over the waves before: `carry = begun_in[w] ? of_wave[w] : max(carry, "
        "of_wave[w]);` and only a lane with `!begun` takes the larger of top and carry.",
    ),
)
