"""halo-mean: the mean over a window, with a tile and its halo in dynamic LDS."""

import numpy as np

from gpulab import architectures
from gpulab.grading.case import Array, Case, Value, blocks_for, distinct, sentinel
from gpulab.grading.exercise import Cause, Exercise, Promise
from gpulab.grading.requirements import executed, loaded_by_lanes


def windows(data, r):
    """(sum, count) of the elements within r places of each element."""
    total = np.concatenate([[0.0], np.cumsum(data, dtype="float64")])
    index = np.arange(data.size)
    begin, end = np.maximum(index - r, 0), np.minimum(index + r + 1, data.size)
    return total[end] - total[begin], end - begin


def make(parameters, random):
    n, r, block = parameters["n"], parameters["r"], parameters["block"]
    data = distinct(random, n)
    data[random.random(n) < 0.15] = 0  # zeros count as well; not the same number of them in each window
    if r % 8 == 0:  # elsewhere every mean is large, so that one that is nearly right can be told
        data[random.random(n) < 0.1] *= -1
    total, count = windows(data, r)
    return Case(
        parameters,
        grid=(blocks_for(n, block), 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Value("r", np.int32(r)),
            Array("in", data),
            Array(
                "out",
                sentinel("float32", n),
                (total / np.maximum(count, 1)).astype("float32"),
                relative=1e-5,
                absolute=1e-3,
            ),
        ),
        lds=4 * (block + 2 * r),
    )


def most_loads(case, arch):
    """The block's own elements, both sides of the halo, and one wave more."""
    wave, block = architectures.get(arch).wave_size, case.parameters["block"]
    return case.grid[0] * (-(-block // wave) + 2 * -(-case.parameters["r"] // wave) + 1)


def by_full_window(case):
    """Divided by 2 r + 1 everywhere."""
    r = case.parameters["r"]
    return windows(case.array("in").data, r)[0] / (2 * r + 1)


def with_ends_repeated(case):
    """The mean of a full window, where the ends' elements stand in for those that do not exist."""
    data, r = case.array("in").data, case.parameters["r"]
    return windows(np.pad(data, r, "edge"), r)[0][r : r + data.size] / (2 * r + 1)


def half_window(case, side):
    """The mean of the element and those before it (`side` 0), or those behind it."""
    data, r = case.array("in").data, case.parameters["r"]
    turned = data[::-1] if side else data
    total, index = np.concatenate([[0.0], np.cumsum(turned, dtype="float64")]), np.arange(data.size)
    begin = np.maximum(index - r, 0)
    means = (total[index + 1] - total[begin]) / (index + 1 - begin)
    return means[::-1] if side else means


def by_count(more):
    """Divided by so many more elements than there are."""

    def predicted(case):
        total, count = windows(case.array("in").data, case.parameters["r"])
        with np.errstate(divide="ignore", invalid="ignore"):
            return total / (count + more)

    return predicted


def shorter(o):
    """Does each sum lack the last element of its window, or the first one, and is the divisor right?"""
    data, r, index = o.case.array("in").data, o.case.parameters["r"], np.arange(o.case.parameters["n"])
    total, count = windows(data, r)
    ends = np.minimum(index + r, data.size - 1), np.maximum(index - r, 0)
    return any(o.looks_like("out", lambda case, end=end: (total - data[end]) / count) for end in ends)


def by_nonzeros(case):
    """Divided by the number of elements in the window that are not 0."""
    data, r = case.array("in").data, case.parameters["r"]
    with np.errstate(divide="ignore", invalid="ignore"):
        return windows(data, r)[0] / windows(data != 0, r)[0]


def negatives_apart(o):
    """Are negative elements left out, or taken for 0 or for positive ones, or is the sum made positive?"""
    data, r = o.case.array("in").data, o.case.parameters["r"]
    total, count = windows(data, r)
    positive, of_positive = windows(np.maximum(data, 0), r)[0], windows(data >= 0, r)[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        mistakes = (
            np.where(of_positive > 0, positive / of_positive, np.nan),
            positive / count,
            windows(np.abs(data), r)[0] / count,
            np.abs(total) / count,
        )
    found = o.found("out")
    return o.fault is None and any(
        o.looks_like("out", lambda case, mistake=mistake: np.where(np.isnan(mistake), found, mistake))
        for mistake in mistakes
    )


def reads(case, name, index):
    """The window around the element."""
    r = case.parameters["r"]
    return [("in", i) for i in range(max(index - r, 0), min(index + r + 1, case.parameters["n"]))]


exercise = Exercise(
    id="halo-mean",
    title="a mean over a window, loaded once",
    lesson="06_lds",
    section="Tiles with a halo",
    kernel="halo_mean",
    signature="int n, int r, const float* in, float* out",
    minutes=30,
    make=make,
    cases=(
        {"n": 1000, "r": 3, "block": 64},
        {"n": 1000, "r": 16, "block": 256},
        {"n": 512, "r": 40, "block": 64},
        {"n": 700, "r": 40, "block": 256},
        {"n": 200, "r": 1, "block": 128},
        {"n": 65, "r": 0, "block": 64},
        {"n": 5, "r": 7, "block": 64},
        {"n": 1, "r": 2, "block": 64},
        {"n": 0, "r": 1, "block": 64},
    ),
    promises=(Promise("never larger than the block", lambda given: given["r"] <= given["block"]),),
    smallest={"n": 1, "r": 0, "block": 8},
    reads=reads,
    shown={"n": 11, "r": 1, "block": 4},
    requirements=(
        executed(
            "loaded-again",
            "global loads",
            at_most=most_loads,
            when=lambda case: case.parameters["n"] >= 500 and case.parameters["block"] >= 64,
            title="each block loads its elements and its halo once",
            next_step="run.instructions() shows how often each load is executed. Is there a load of global "
            "memory in the loop "
            "over the window?",
        ),
        loaded_by_lanes("loaded-by-the-wave", "in", when=lambda case: case.parameters["n"] >= 500),
    ),
    causes=(
        Cause(
            "outside-the-array",
            "the halo of the first or of the last block reaches outside of the array",
            lambda o: (
                o.read_outside() is not None
                and o.read_outside()[0] == "in"
                and -o.case.parameters["r"] <= o.read_outside()[1] < o.case.parameters["n"] + o.case.parameters["r"]
                and not o.outside("out")
            ),
            "Element 0 has no left neighbours, and element n - 1 no right ones. Their places in the tile need "
            "a value that adds "
            "nothing.",
            "Which elements does tile[0] of block 0 stand for?",
        ),
        Cause(
            "full-window-at-ends",
            "at the ends of the array it is divided by the full window",
            lambda o: o.looks_like("out", by_full_window),
            "Near the ends fewer than 2 r + 1 elements exist.",
            "How many elements does the window of element 0 have? And that of element i, if i + r is n or more?",
        ),
        Cause(
            "ends-repeated",
            "beyond the ends of the array, the first and the last element are counted again",
            lambda o: o.case.parameters["n"] > 0 and o.looks_like("out", with_ends_repeated),
            "Near the ends the mean is that of fewer elements: those that exist.",
            "For r = 1 and the elements 2 and 4: which mean belongs to the first of them?",
        ),
        Cause(
            "half-a-window",
            "only one half of each window is in the mean",
            lambda o: any(o.looks_like("out", lambda case, side=side: half_window(case, side)) for side in (0, 1)),
            "The window goes from in[i - r] to in[i + r].",
            "Where does your loop begin, and where does it end, for r = 1?",
        ),
        Cause(
            "one-more-or-less",
            "the number of elements in the window is one too small or too large",
            lambda o: o.looks_like("out", by_count(-1)) or o.looks_like("out", by_count(1)),
            "The elements from i - r to i + r are 2 r + 1.",
            "How many numbers are there from 3 to 5, and what is 5 - 3?",
        ),
        Cause(
            "one-element-left-out",
            "each sum lacks the first or the last element of its window",
            lambda o: o.case.parameters["n"] > 0 and shorter(o),
            "The elements i - r and i + r belong to the window.",
            "For r = 1, how many elements does your loop add up?",
        ),
        Cause(
            "zeros-not-counted",
            "elements that are 0 are not counted",
            lambda o: o.looks_like("out", by_nonzeros),
            "A 0 in the tile can stand for an element that does not exist, or be an element of the array.",
            "Which numbers tell whether an element exists: the value, or its index and n?",
        ),
        Cause(
            "negatives-apart",
            "negative elements count otherwise than the others",
            negatives_apart,
            "An element may be negative, and so may a mean. A negative number in the tile is no mark of an element that "
            "does not exist.",
            "Which numbers tell whether an element exists: the value, or its index and n?",
        ),
        Cause(
            "halo-missing",
            "the tile's halo is missing, is not filled, or holds other elements than it should",
            lambda o: reads_an_empty_halo(o) or (o.fault is None and at_seams(o)),
            "The first and last threads of a block need elements that belong to the neighbouring blocks.",
            "Which elements of in does block 1 need, for blocks of 8 threads and r = 2? Which thread loads "
            "each of them?",
        ),
    ),
    hints=(
        "The tile has `blockDim.x + 2 * r` places; place k stands for element first + k, with `first = "
        "(int)(blockIdx.x * blockDim.x) - r`. Fill all of it: there are more places than threads, so each thread "
        "may have several: `for (int k = threadIdx.x; k < places; k += blockDim.x)`.",
        "Places outside of the array get 0, which adds nothing. Then a barrier, reached by all threads. Then "
        "thread t adds up "
        "the places t to t + 2 r.",
        "The number of elements in the window of i: `min(i + r, n - 1) - max(i - r, 0) + 1`. Only now comes the "
        "condition `i < n`.",
    ),
)


def at_seams(o):
    """Is every wrong element within r of the beginning or the end of a block, and one of them not at the array's ends?"""
    n, r, block = (o.case.parameters[name] for name in ("n", "r", "block"))
    wrong = o.wrong_indices("out")
    near = all(index % block < r or index % block >= block - r for index in wrong)
    return 4 * r <= block and near and any(r <= index < n - r for index in wrong)


def reads_an_empty_halo(o):
    """Was a place of the tile that belongs to the halo read, though nobody had written it?"""
    fault, r, block = o.fault, o.case.parameters["r"], o.case.parameters["block"]
    if fault is None or fault.kind != "never written" or fault.memory != "lds" or fault.address is None:
        return False
    return not r <= fault.address // 4 < r + block
