"""log-sum-exp: the logarithm of the sum of exponentials of each row, in one pass over the row by one wave."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, no_inputs, sentinel
from gpulab.grading.exercise import Cause, Exercise, Requirement
from gpulab.grading.requirements import ARGUMENTS, lds_bytes, limited, loaded_by_lanes, per_wave

USUAL, LARGE, MASKED, SPREAD = 0, 1, 2, 3
"""Kinds of inputs: numbers around 0; around 1000 and -1000, row by row; with many elements at minus infinity; with rows
whose numbers lie far from each other, or below -10000."""
FIRST = 64
"""So many elements of some rows, the first that lanes meet, are far below the others."""


def inputs(parameters, random):
    rows, n, kind = (parameters[name] for name in ("rows", "length", "kind"))
    numbers = random.normal(0, 3, (rows, n))
    if kind == LARGE:
        numbers += np.where(np.arange(rows) % 2, -1000, 1000)[:, None]
    if kind == MASKED:
        numbers[random.random((rows, n)) < 0.5] = -np.inf
        numbers[::3, : n // 2] = -np.inf  # what a lane meets first
        numbers[1::3] = -np.inf  # a row in which nothing is left
    if kind == SPREAD:
        numbers[::5, :FIRST] -= 200
        numbers[1::5] -= 20_000
        numbers[2::5] += np.linspace(-500, 500, n)
        numbers[3::5] += np.linspace(500, -500, n)
        numbers[4::5, :FIRST] -= 200
        numbers[4::5][random.random(numbers[4::5].shape) < 0.5] = -np.inf
    return numbers.astype("float32")


def joined(tops, sums, axis=-1):
    """The logarithm of all sums together, each of which counts from the maximum in `tops`."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        top = tops.max(axis=axis, initial=-np.inf)
        there = np.where(np.isfinite(top), top, 0)
        return there + np.log((sums * np.exp(tops - np.expand_dims(there, axis))).sum(axis=axis))


def exact(numbers):
    return joined(numbers.astype("float64"), 1.0)


def lanes(case):
    """The rows as lanes have them: (rows, steps, lanes), with minus infinity where a row has ended."""
    numbers, wave = case.array("in").data.astype("float64"), case.parameters["wave"]
    steps = -(-numbers.shape[1] // wave)
    filled = np.full((numbers.shape[0], steps * wave), -np.inf)
    filled[:, : numbers.shape[1]] = numbers
    return filled.reshape(numbers.shape[0], steps, wave)


def of_lanes(case, rescaled):
    """The maximum of each lane and its sum, which counts from the running maximum of each element unless `rescaled`."""
    parts = lanes(case)
    top = parts.max(axis=1, initial=-np.inf)
    running = np.maximum.accumulate(parts, axis=1)
    since = top[:, None, :] if rescaled else running
    with np.errstate(invalid="ignore"):
        return top, np.nan_to_num(np.exp(parts - since), nan=0.0).sum(axis=1)


def not_rescaled(case):
    return joined(*of_lanes(case, rescaled=False))


def lanes_added(case):
    """The sums of the lanes added up as they are, and the maximum of the row."""
    top, sums = of_lanes(case, rescaled=True)
    with np.errstate(divide="ignore"):
        return top.max(axis=1) + np.log(sums.sum(axis=1))


def one_lane(case):
    top, sums = of_lanes(case, rescaled=True)
    return joined(top[:, :1], sums[:, :1])


def without_maximum(case):
    numbers = case.array("in").data.astype("float64")
    top = numbers.max(axis=1, initial=-np.inf)
    return exact(numbers) - np.where(np.isfinite(top), top, 0)


def from_maximum(function):
    """The row's maximum plus a function of the logarithm of its sum, which counts from the maximum."""

    def predicted(case):
        rest = without_maximum(case)
        with np.errstate(over="ignore"):
            return exact(case.array("in").data) - rest + function(np.where(np.isfinite(rest), rest, 0))

    return predicted


OTHER_LOGARITHMS = tuple(map(from_maximum, (lambda rest: rest / np.log(2), lambda rest: rest / np.log(10), np.exp)))
"""To the base 2, to the base 10, and the sum itself."""


def halves(doubled):
    """Of every 64 elements the first 32, which have all lanes of a wave of 32; `doubled` where they are added to
    themselves, as by a shuffle with a lane that is not there."""

    def prediction(case):
        numbers = case.array("in").data
        kept = numbers[:, np.arange(numbers.shape[1]) % 64 < 32]
        return exact(kept) + (np.log(2) if doubled else 0)

    return prediction


def make(parameters, random):
    numbers = inputs(parameters, random)
    rows = parameters["rows"]
    return Case(
        parameters,
        grid=(max(rows, 1), 1, 1),
        block=(parameters["wave"], 1, 1),
        arguments=(
            Value("n", np.int32(parameters["length"])),
            Array("in", numbers),
            Array("out", sentinel("float32", rows), exact(numbers).astype("float32"), relative=2e-6, absolute=1e-5),
        ),
    )


def written(o):
    """out as found and as wanted, where all of it was written and nothing stopped the kernel."""
    array = o.case.array("out")
    if o.fault is not None or not array.data.size or o.unwritten_indices("out"):
        return None
    return o.found("out"), array.wanted


def not_a_number(o):
    pair = written(o)
    return pair is not None and bool(np.isnan(pair[0]).any())


def out_of_range(o):
    """Is a result infinite, where all that is infinite has numbers far from 0?"""
    pair = written(o)
    if pair is None:
        return False
    lost = np.isinf(pair[0]) & np.isfinite(pair[1])
    return bool(lost.any() and (np.abs(pair[1][lost]) > 80).all())


def far_from_maximum(o):
    """Is a result infinite that lies near 0, where numbers of the row are far below the maximum? Counted from the
    maximum, its exponentials would be in range."""
    pair = written(o)
    if pair is None:
        return False
    numbers = o.case.array("in").data
    lowest = np.where(np.isfinite(numbers), numbers, np.inf).min(axis=1, initial=np.inf)
    lost = np.isposinf(pair[0]) & (np.abs(pair[1]) < 40) & (lowest < -100)
    return bool(lost.any())


def many(case):
    return case.parameters["length"] >= 300


def steps(case):
    """Loads of a wave that loads each element once, and two more for what is loaded in vain at the end of a row."""
    return -(-case.parameters["length"] // case.parameters["wave"]) + 2


lane_loads = limited(
    "",
    "bytes loaded from global memory",
    lambda o: sum(
        access.lanes * access.bytes
        for launch in o.measured
        for access in launch.accesses
        if access.action == "load" and access.space in ("global", "flat")
    ),
    at_most=lambda case, arch: 4 * case.parameters["rows"] * case.parameters["wave"] * steps(case),
)
wave_loads = per_wave("", r"(global|flat|buffer|s)_load", at_most=lambda case, arch: 2 * steps(case) + ARGUMENTS)
"""Scalar loads too: one lane's second pass over the row need not have a vector load."""


exercise = Exercise(
    id="log-sum-exp",
    title="the logarithm of a sum of exponentials, in one pass",
    lesson="24_attention",
    section="Pairs can be merged",
    kernel="log_sum_exp",
    signature="int n, const float* in, float* out",
    minutes=25,
    make=make,
    by_wave=True,
    owner=lambda case, index: None,
    reads=no_inputs,
    kept=("kind",),
    smallest={"rows": 1, "length": 1, "kind": 0},
    shown={"rows": 3, "length": 5, "kind": 0},
    cases=(
        {"rows": 3, "length": 1000, "kind": USUAL},
        {"rows": 4, "length": 200, "kind": LARGE},
        {"rows": 6, "length": 333, "kind": MASKED},
        {"rows": 5, "length": 400, "kind": SPREAD},
        {"rows": 2, "length": 64, "kind": USUAL},
        {"rows": 2, "length": 10, "kind": USUAL},
        {"rows": 1, "length": 1, "kind": USUAL},
        {"rows": 1, "length": 0, "kind": USUAL},
    ),
    requirements=(
        loaded_by_lanes("loaded-by-the-wave", "in", when=many),
        Requirement(
            "loads-twice",
            "each element is loaded once",
            lambda o: lane_loads.complaint(o) or wave_loads.complaint(o),
            "A second pass is needed only if the maximum must be known before the sum begins. What happens "
            "to a sum when its maximum changes?",
            when=many,
        ),
        lds_bytes(
            at_most=512,
            title="at most 512 bytes of LDS: a pair for each lane, but not the row",
            next_step="Of the elements that a lane has seen, two numbers are enough.",
        ),
    ),
    causes=(
        Cause(
            "not-from-the-maximum",
            "a result near 0 comes out infinite: an exponential counts from a number far below the maximum",
            far_from_maximum,
            "exp(x) is infinite above 88.7 and zero below -104. In this row the first numbers are far below "
            "the others.",
            "Which number does your lane subtract, and when does it change?",
        ),
        Cause(
            "not-a-number",
            "minus infinity was subtracted from minus infinity",
            not_a_number,
            "A lane that has seen no element has the maximum -INFINITY, and so has one whose elements all are. The "
            "difference of two equal infinities is NaN, and a NaN stays in every sum.",
            "Which pair (maximum, sum) stands for no elements? What does your factor become if both maxima are "
            "-INFINITY?",
        ),
        Cause(
            "out-of-range",
            "an exponential has left the range of float: rows whose numbers are far from 0 come out infinite",
            out_of_range,
            "exp(x) is infinite above 88.7 and zero below -104.",
            "Which number must be subtracted before each exp, so that none is above 1 and one is 1? Where does your "
            "running maximum begin?",
        ),
        Cause(
            "for-64-lanes",
            "of every 64 elements, the last 32 are not in the result",
            lambda o: o.wave_size == 32 and (o.looks_like("out", halves(False)) or o.looks_like("out", halves(True))),
            "This wave has 32 lanes.",
            "By how much does your index grow from step to step, and how many elements does the wave load in one?",
        ),
        Cause(
            "sum-not-rescaled",
            "when a lane's maximum grows, the sum so far stays as it was",
            lambda o: o.looks_like("out", not_rescaled),
            "The sum so far counts from the old maximum: each of its terms is exp(x - old).",
            "By which factor do exp(x - old) and exp(x - new) differ?",
        ),
        Cause(
            "lanes-not-rescaled",
            "the sums of the lanes are added up although each counts from a maximum of its own",
            lambda o: o.looks_like("out", lanes_added),
            "Two sums may be added only if they count from the same maximum.",
            "When two lanes' pairs are merged: which maximum does the result have, and by which factors do the two "
            "sums change?",
        ),
        Cause(
            "one-lane-counts",
            "only the elements of one lane are in the result",
            lambda o: o.looks_like("out", one_lane),
            "Each lane has seen a part of the row.",
            "How do the pairs of the other lanes reach the one that stores?",
        ),
        Cause(
            "maximum-left-out",
            "the maximum is not in the result",
            lambda o: o.looks_like("out", without_maximum),
            "The sum counts from the maximum: log(sum of exp(x)) = maximum + log(sum of exp(x - maximum)).",
            "For a row with the single number 5: what are maximum and sum, and what is the result?",
        ),
        Cause(
            "other-logarithm",
            "the logarithm has another base than e, or there is none",
            lambda o: any(o.looks_like("out", predicted) for predicted in OTHER_LOGARITHMS),
            "exp is the power of e, so that logf belongs to it; log2f and log10f are the logarithms to the bases 2 and 10.",
            "Which function undoes exp?",
        ),
        Cause(
            "maximum-subtracted",
            "the maximum is subtracted from the logarithm, where it should be added",
            lambda o: o.looks_like("out", lambda case: 2 * without_maximum(case) - exact(case.array("in").data)),
            "The sum counts from the maximum: log(sum of exp(x)) = maximum + log(sum of exp(x - maximum)).",
            "For a row with the single number 5: what are maximum and sum, and what is the result?",
        ),
        Cause(
            "first-row-read",
            "each result is that of the first row",
            lambda o: o.looks_like("out", lambda case: np.repeat(exact(case.array("in").data)[:1], case.grid[0])),
            "The rows lie one after the other, and blockIdx.x says which one a block has.",
            "At which index of in does the row with the number blockIdx.x begin?",
        ),
        Cause(
            "behind-the-row",
            "elements behind the end of the last row are read",
            lambda o: (
                o.fault is not None
                and o.fault.kind == "out of bounds"
                and o.read_outside() is not None
                and o.read_outside()[0] == "in"
                and o.read_outside()[1] >= 0
            ),
            "The last step of a row may have fewer elements than the wave has lanes.",
            "Which lanes have no element in the last step, and which pair have they then?",
        ),
    ),
    hints=(
        "Each lane keeps a pair: the largest number that it has seen, and the sum of exp(x - largest). For a new "
        "number there are two cases: it is larger than all before, or it is not. Then the lanes' pairs become one.",
        "A new number x: with `larger = fmaxf(largest, x)` the sum becomes the old sum times `__expf(largest - "
        "larger)`, plus `__expf(x - larger)`. Two pairs are merged by the same rule. Where both maxima are "
        "`-INFINITY`, leave the pair as it is.",
        "Merge with `__shfl_xor`, steps 1, 2, 4 … below `warpSize`: `float other = __shfl_xor(largest, step), more = "
        "__shfl_xor(sum, step);` and `float larger = fmaxf(largest, other);` and `if (larger > -INFINITY) sum = sum * "
        "__expf(largest - larger) + more * __expf(other - larger);` and `largest = larger;` In the end "
        "`out[blockIdx.x] = largest + logf(sum);`",
    ),
)
