"""radix-pass: one pass of a radix sort: each key goes to its digit's place, keys with equal digits stay in order."""

import re

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, no_inputs, sentinel
from gpulab.grading.exercise import Cause, Exercise, multiple_of
from gpulab.grading.requirements import lds_bytes, limited, own_loads, per_wave

DIGITS = 16
SAME_PLACE = ("race", "lane conflict")
"""What a checked launch finds where two threads store to one place; a cause may say why they do."""
ATOMIC = re.compile(r"ds_(add|r?sub|inc|dec)_|ds_\w+_rtn|(global|flat|buffer)_atomic")
"""How atomic operations begin that count, or that return what was there; a load of two addresses, `2addr`, is none."""


def places(digits, block):
    """Where each key goes, and the start of each digit's keys of each block."""
    n = digits.size
    blocks = blocks_for(n, block)
    order = np.argsort(digits, kind="stable")
    place = np.empty(n, "int64")
    place[order] = np.arange(n)
    counts = np.zeros((DIGITS, blocks), "int64")
    np.add.at(counts, (digits, np.arange(n) // block), 1)
    start = counts.reshape(-1).cumsum() - counts.reshape(-1)
    return place, start


def digits_of(case):
    return (case.array("keys").data >> np.uint32(case.parameters["shift"]) & np.uint32(DIGITS - 1)).astype("int64")


def make(parameters, random):
    n, block, shift, few = (parameters[name] for name in ("n", "block", "shift", "few"))
    keys = random.permutation(np.arange(1, n + 1)).astype("uint32") * np.uint32(2654435761)
    digits = random.integers(0, few, n).astype("uint32")
    digits[random.random(n) < 0.3] = few - 1
    keys = (keys & ~np.uint32((DIGITS - 1) << shift & 0xFFFFFFFF)) | digits << np.uint32(shift)
    place, start = places(digits.astype("int64"), block)
    out = np.zeros(n, "uint32")
    out[place] = keys
    return Case(
        parameters,
        grid=(blocks_for(n, block), 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Value("shift", np.int32(shift)),
            Array("keys", keys),
            Array("start", start.astype("int32")),
            Array("out", sentinel("uint32", n), out),
        ),
    )


def scattered(case, rank):
    """`out` if keys are put at their block's start plus a rank; `rank` is made of (digits of a block, place in it)."""
    digits, keys, block = digits_of(case), case.array("keys").data, case.parameters["block"]
    blocks, start = case.grid[0], case.array("start").data
    out = case.array("out").data.copy()
    for first in range(0, keys.size, block):
        tile = digits[first : first + block]
        for i, digit in enumerate(tile):
            place = start[digit * blocks + first // block] + rank(tile, i)
            if 0 <= place < out.size:
                out[place] = keys[first + i]
    return out


def in_wave(size):
    """The rank in the wave alone."""
    return lambda tile, i: int((tile[i - i % size : i] == tile[i]).sum())


def small(case):
    """Few enough keys for a prediction in Python."""
    return case.parameters["n"] <= 2000


def other_order(o):
    """Has each digit's part of out the right keys, in another order?"""
    found, case = o.found("out"), o.case
    wanted = case.array("out").wanted
    return (
        o.fault is None
        and bool(o.wrong("out").any())
        and (np.sort(found) == np.sort(wanted)).all()
        and (
            found >> np.uint32(case.parameters["shift"]) & 15 == wanted >> np.uint32(case.parameters["shift"]) & 15
        ).all()
    )


def another_digit(o):
    """Do keys stand among keys with another digit?"""
    if o.guarded.fault is not None or not o.wrong("out").any():
        return False
    shift = np.uint32(o.case.parameters["shift"])
    written = ~o.untouched("out")
    return bool(((o.found("out") >> shift & 15) != (o.case.array("out").wanted >> shift & 15))[written].any())


def atomics(o):
    return sum(bool(ATOMIC.match(text)) for isa in o.isa.values() for text in isa)


exercise = Exercise(
    id="radix-pass",
    title="one pass of a radix sort",
    lesson="25_irregular",
    section="Sorting by digits",
    kernel="scatter",
    signature="int n, int shift, const unsigned* keys, const int* start, unsigned* out",
    minutes=35,
    make=make,
    owner=lambda case, index: None,
    reads=no_inputs,
    cases=(
        {"n": 1000, "block": 256, "shift": 4, "few": 16},
        {"n": 700, "block": 192, "shift": 0, "few": 3},
        {"n": 300, "block": 64, "shift": 28, "few": 16},
        {"n": 256, "block": 128, "shift": 8, "few": 1},
        {"n": 150, "block": 64, "shift": 26, "few": 16},
        {"n": 100, "block": 64, "shift": 30, "few": 4},  # a digit of two bits
        {"n": 33, "block": 64, "shift": 12, "few": 5},
        {"n": 1, "block": 64, "shift": 0, "few": 16},
        {"n": 0, "block": 64, "shift": 0, "few": 16},
        {"n": 3000, "block": 1024, "shift": 16, "few": 16},
    ),
    promises=(multiple_of(64, "block"),),
    kept=("block", "shift", "few"),
    smallest={"n": 1, "block": 64, "shift": 0, "few": 2},
    shown={"n": 8, "block": 64, "shift": 4, "few": 3},
    requirements=(
        own_loads(
            "keys",
            at_most=4,
            title="a wave loads its own keys, once, with at most four loads in all",
            when=lambda case: case.parameters["n"] >= 3000,
        ),
        limited(
            "order-by-chance",
            "atomic operations in the machine code",
            atomics,
            at_most=0,
            title="no rank comes from an atomic operation",
            next_step="A counter gives ranks in the order in which waves and lanes come to it, and nothing promises "
            "that order. Ballots give each lane the number of equal digits in lower lanes.",
        ),
        lds_bytes(
            at_most=2048,
            title="at most 2,048 bytes of LDS: one count for each digit and wave",
            next_step="Keys stay in registers. What of a wave do the waves behind it need to know for each digit?",
        ),
        per_wave(
            "lds-reads",
            "LDS reads",
            at_most=lambda case, arch: 8 + case.parameters["block"] // (64 if arch == "gfx942" else 32),
            title="a wave reads from LDS once for each wave of the block at most, and eight times more",
            when=lambda case: case.parameters["n"] >= 3000,
            next_step="A lane needs the counts of its own digit alone.",
        ),
    ),
    causes=(
        Cause(
            "missing-barrier",
            "counts of waves are used before they are there, or never set to 0",
            lambda o: o.fault is not None and o.fault.kind in ("race", "never written") and o.fault.memory == "lds",
            "A wave writes only the counts of digits that it has. The others have to be 0, and all have to be there "
            "before another wave reads them.",
            "Which thread writes each count, and which barrier stands before it is read?",
        ),
        Cause(
            "missing-guard",
            "threads without a key take part",
            lambda o: (o.read_outside() or ("", 0))[0] == "keys" or bool(o.outside("out")),
            "The last block may not be full. A thread without a key counts as no digit and stores nothing.",
            "Which lanes take part in the ballots of the last wave, and which bits do they add?",
            guard=("n",),
        ),
        Cause(
            "waves-apart",
            "the waves of a block write to the same places",
            lambda o: small(o.case) and o.looks_like("out", lambda case: scattered(case, in_wave(o.wave_size))),
            "The rank of a key counts the equal digits of lower lanes of its wave, and of all waves before it.",
            "Which counts must a wave add?",
            explains=SAME_PLACE,
        ),
        Cause(
            "not-stable",
            "keys with equal digits are not in the order in which they stood",
            other_order,
            "Each digit's part of out has the right keys in another order. The next pass relies on the order.",
            "How many keys with the same digit stand before yours in the block: in lower lanes, in waves before?",
        ),
        Cause(
            "for-32-lanes",
            "32 stands where the wave size belongs, or a mask is cut to 32 bits",
            lambda o: (
                o.wave_size == 64
                and (o.fault is None or o.fault.kind in SAME_PLACE)
                and o.uses(r"[%/]\s*32\b|>>\s*5\b|&\s*31\b|\bunsigned (int )?\w+ = __ballot|__popc\(|\(1u <<")
            ),
            "This wave has 64 lanes, and its ballot 64 bits.",
            "`1ull`, `__popcll`, `warpSize`: which is missing?",
            explains=SAME_PLACE,
        ),
        Cause(
            "wrong-places",
            "keys stand among those of another digit, or two go to the same place",
            lambda o: (
                another_digit(o)
                or bool(o.unwritten_indices("out"))
                or (o.fault is not None and o.fault.kind in SAME_PLACE and o.fault.memory == "global")
            ),
            "The keys of a digit in a block have the ranks 0, 1, 2, …, each once, from their start on. start has all "
            "blocks of digit 0 first, then all blocks of digit 1.",
            "Compute digit, index into start and rank by hand, for two keys of one block with the same digit.",
            explains=SAME_PLACE,
        ),
    ),
    hints=(
        "Four steps: the digit; the mask of lanes of the wave with the same digit, by one ballot for each of its four "
        "bits; for each wave and digit the count, in LDS; then start, plus counts of the waves before, plus the "
        "rank in "
        "the wave.",
        "Begin with `same = __ballot(i < n)`, and for each bit keep the lanes that agree with yours. The lowest "
        "lane of a "
        "mask, `__ffsll(same) - 1`, writes `count[digit * 32 + wave] = __popcll(same)`. Counts are 0 before, so a "
        "barrier "
        "stands before these stores and another one behind them. Threads beyond `n` stay until then.",
        "`for (int bit = 0; bit < 4; bit++) { unsigned long long ones = __ballot(digit >> bit & 1); same &= digit "
        ">> bit "
        "& 1 ? ones : ~ones; }` then `int place = __popcll(same & ((1ull << lane) - 1));` and `for (int w = 0; w < "
        "wave; w++) place += count[digit * 32 + w];` and at last `if (i < n) "
        "out[start[digit * gridDim.x + blockIdx.x] + place] = key;`",
    ),
)
