"""ptx-words: a word of bits for each 32 elements, from a CUDA kernel with inline PTX."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, no_inputs, sentinel
from gpulab.grading.exercise import Cause, Exercise, multiple_of
from gpulab.grading.requirements import in_order, own_loads

LOW = 0xFFFFFFFF


def words_of(data, least=1):
    """One whole number for each 32 elements: bit k is set if element k of the 32 is positive, or at least `least`."""
    return [
        sum(1 << k for k, value in enumerate(data[start : start + 32]) if value >= least)
        for start in range(0, data.size, 32)
    ]


def highest(word):
    """What bfind gives: the number of the highest bit that is set; -1 for 0."""
    return word.bit_length() - 1


def make(parameters, random):
    n, block = parameters["n"], parameters["block"]
    data = random.permutation(np.arange(1, n + 1)).astype("int32") * random.choice([1, -1, -1], n).astype("int32")
    data[32:64] = -np.abs(data[32:64])  # a word without a bit
    data[random.random(n) < 0.15] = 0  # not positive
    words = words_of(data)
    ranks = [bin(words[i // 32] & ((1 << i % 32) - 1)).count("1") for i in range(n)]
    return Case(
        parameters,
        grid=(blocks_for(n, block), 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Array("in", data),
            Array("words", sentinel("uint32", len(words)), np.array(words, dtype="uint32")),
            Array("rank", sentinel("int32", n), np.array(ranks, dtype="int32")),
            Array("top", sentinel("int32", len(words)), np.array([highest(w) for w in words], dtype="int32")),
        ),
    )


def only(o, *names):
    """Are these outputs wrong, and all others right?"""
    return all(bool(o.wrong(array.name).any()) == (array.name in names) for array in o.case.outputs)


def top_is(function):
    return lambda o: (
        only(o, "top")
        and o.looks_like(
            "top", lambda case: np.array([function(w) for w in words_of(case.array("in").data)]).astype("int32")
        )
    )


def of_wave(o):
    """What the ballot of the whole wave is, for each element."""
    data, wave = o.case.array("in").data, o.wave_size
    return [
        sum(1 << k for k, value in enumerate(data[i // wave * wave : i // wave * wave + wave]) if value > 0)
        for i in range(data.size)
    ]


def truncated(o):
    """Has each word the lower half of its wave's ballot?"""
    words = np.array([ballot & LOW for ballot in of_wave(o)[::32]], dtype="uint32")
    return bool(o.wrong("words").any()) and bool((o.found("words") == words).all())


def rank_is(function):
    """Is `rank` function(word, lane of the 32, lane of the wave) throughout, and nothing else wrong?"""

    def predicted(o):
        words = words_of(o.case.array("in").data)
        return np.array(
            [function(words[i // 32], i % 32, i % o.wave_size) for i in range(o.case.parameters["n"])], dtype="int32"
        )

    return lambda o: only(o, "rank") and bool((o.found("rank") == predicted(o)).all())


exercise = Exercise(
    id="ptx-words",
    title="bits of 32 elements, ported from PTX",
    lesson="13_porting_traps",
    section="Inline PTX",
    kernel="pack",
    signature="int n, const int* in, unsigned* words, int* rank, int* top",
    minutes=25,
    make=make,
    cases=(
        {"n": 128, "block": 64},
        {"n": 1000, "block": 256},
        {"n": 200, "block": 128},
        {"n": 33, "block": 64},
        {"n": 1, "block": 64},
        {"n": 0, "block": 64},
    ),
    promises=(multiple_of(64, "block"),),
    smallest={"n": 0, "block": 64},
    reads=no_inputs,
    shown={"n": 100, "block": 64},
    causes=(
        Cause(
            "missing-guard",
            "threads without an element write, too",
            lambda o: any(o.written_past(array.name) for array in o.case.outputs),
            "The last word may have fewer than 32 elements, and the last block fewer than its threads.",
            "Which of the writes needs i < n?",
            guard=("n",),
        ),
        Cause(
            "lane-of-wave",
            "every second word is never written",
            lambda o: (
                o.wave_size == 64
                and bool(o.wrong("words").any())
                and all(index % 2 for index in o.unwritten_indices("words"))
                and len(o.unwritten_indices("words")) == len(o.wrong_indices("words"))
                and all(thread[0] % 64 == 0 for _, _, thread in o.writers("words"))
            ),
            "__lane_id() counts from 0 to 63 in a wave of 64 lanes, so that it is 0 for every 64th thread only. "
            "A word has 32 elements on every GPU.",
            "What is the lane's number in its group of 32?",
        ),
        Cause(
            "lower-half",
            "the words of the upper 32 lanes are those of the lower ones",
            truncated,
            "The ballot of a wave of 64 lanes has 64 bits. An unsigned takes the lower half, for all lanes.",
            "Shift the upper half down for the lanes that need it.",
        ),
        Cause(
            "counts-zeros",
            "the bits of elements that are 0 are set",
            lambda o: o.looks_like(
                "words", lambda case: np.array(words_of(case.array("in").data, least=0), dtype="uint32")
            ),
            "A bit says that its element is positive, and 0 is not.",
            "What does your condition give for 0?",
        ),
        Cause(
            "counts-itself",
            "the rank counts the element itself",
            rank_is(lambda word, lane, of_wave: bin(word & ((2 << lane) - 1)).count("1")),
            "lanemask_lt has the bits of the lanes below, without the lane's own.",
            "For the first lane of a word the mask is 0.",
        ),
        Cause(
            "mask-of-wave",
            "the mask of the lanes below belongs to the wave, the word to 32 elements",
            rank_is(lambda word, lane, of_wave: bin(word & ((1 << of_wave) - 1) & LOW).count("1")),
            "For thread 40 of a wave of 64, __lanemask_lt() has all of the lower 32 bits set.",
            "Make the mask from the lane's number in its group of 32.",
        ),
        Cause(
            "leading-zeros",
            "top counts the zeros above the highest bit",
            top_is(lambda word: 32 - word.bit_length()),
            "bfind numbers the bits from below; __clz counts from above.",
            "If there are z zeros above the highest bit of 32, which number has it?",
        ),
        Cause(
            "lowest-bit",
            "top is the lowest bit",
            top_is(lambda word: (word & -word).bit_length() - 1),
            "__ffs looks for the first bit from below.",
            "bfind looks from above, as __clz does.",
        ),
        Cause(
            "empty-word",
            "top is wrong for words without a bit",
            top_is(lambda word: max(highest(word), 0)),
            "For 0, bfind gives a word with all bits set, which is -1 as an int.",
            "__clz(0) is 32. What is 31 minus that?",
        ),
        Cause(
            "bits-reversed",
            "the bits of each word stand in the opposite order",
            lambda o: o.looks_like(
                "words",
                lambda case: np.array([int(f"{w:032b}"[::-1], 2) for w in words_of(case.array("in").data)], "uint32"),
            ),
            "Element 0 of the 32 has the lowest bit.",
            "Which word do you expect if only element 0 is positive?",
        ),
        Cause(
            "rank-alone",
            "rank is wrong, and the words and top are right",
            lambda o: o.fault is None and only(o, "rank"),
            "So the word is right; the bits below the element's own are not the right ones, or are not counted right.",
            "Take the first wrong element: which bits of its word are below its own, and how many of them are set?",
        ),
        Cause(
            "top-alone",
            "top is wrong, and the words and rank are right",
            lambda o: o.fault is None and only(o, "top"),
            "So the word is right; the number of its highest bit is not.",
            "Take the first wrong word. Which number has its highest bit, and what does your formula give?",
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
        in_order("rank", "The mask of a ballot tells each lane how many bits lower lanes have set."),
    ),
    hints=(
        "Find out what each PTX line does. The lines about lanes mean: the place in the group of 32 that makes a word.",
        "The lane is `threadIdx.x % 32` on every GPU. The word is one half of the wave's ballot: the upper half for"
        " the threads whose `__lane_id()` is 32 or more.",
        "`unsigned word = (unsigned)(__ballot(bit) >> (__lane_id() & 32));` rank is `__popc(word & ((1u << lane) - "
        "1))`; top is `31 - __clz(word)`.",
    ),
)
