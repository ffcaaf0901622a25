"""broken-window: the largest of five neighbours; the given kernel reads past the end in its last block."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, distinct, sentinel
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.requirements import own_loads, source, work_shared


def window_max(data, outside=-np.inf, before=2, after=2):
    """The largest of each element, `before` ones before it and `after` ones behind it; what does not "
    "exist is `outside`."""
    padded = np.concatenate([np.full(before, outside), data, np.full(after, outside)])
    return np.max([padded[k : k + data.size] for k in range(before + after + 1)], axis=0).astype("float32")


def with_zeros(case):
    """Elements that do not exist count as 0."""
    return window_max(case.array("in").data, 0)


def zero_at_the_end(case):
    """The same behind the end alone."""
    expected = case.array("out").wanted.copy()
    expected[-2:] = np.maximum(expected[-2:], 0)
    return expected


def number_at_the_ends(o):
    """Are only elements wrong whose windows go beyond an end, and do they all hold the same number, too large a one?"""
    found, wrong = o.found("out"), o.wrong("out")
    if o.fault is not None or o.outside("out") or o.unwritten_indices("out") or not wrong.any() or wrong[2:-2].any():
        return False
    return len(set(found[wrong].tolist())) == 1 and bool((found[wrong] > o.case.array("out").wanted[wrong]).all())


def per_block(case, **sides):
    """Each block for itself, or with one of its sides."""
    data, n = case.array("in").data, case.parameters["n"]
    found = np.zeros(n, "float32")
    for first in range(0, n, 256):
        last = min(first + 256, n)
        low, high = max(first - sides.get("before", 0), 0), min(last + sides.get("after", 0), n)
        found[first:last] = window_max(data[low:high])[first - low : last - low]
    return found


def past_end(o):
    """The index of an element behind the end of `in` that was read, else None."""
    place = o.read_outside()
    return place[1] if place is not None and place[0] == "in" and place[1] >= o.case.parameters["n"] else None


def make(parameters, random):
    n = parameters["n"]
    # Below zero at the ends, so that 0 is no neutral element; and so far that -1e30 is none either.
    data = -distinct(random, n)
    data[n // 3 : n // 2] *= -1
    if n > 20:  # not where the numbers are shown
        data[:4] *= np.float32(1e33)
        data[-4:] *= np.float32(1e33)
    return Case(
        parameters,
        grid=(blocks_for(n, 256), 1, 1),
        block=(256, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Array("in", data),
            Array("out", sentinel("float32", n), window_max(data)),
        ),
    )


exercise = Exercise(
    id="broken-window",
    title="a window that breaks",
    lesson="20_debugging",
    section="A fault",
    kernel="window_max",
    signature="int n, const float* in, float* out",
    minutes=15,
    make=make,
    cases=tuple({"n": n, "block": 256} for n in (1000, 257, 256, 258, 255, 1, 0, 20_000)),
    smallest={"n": 1, "block": 256},
    reads=lambda case, name, index: [],  # five for each element: a report of 257 would be large
    shown={"n": 20, "block": 256},
    requirements=(
        source(
            "named-line",
            r"\bbroken_line\s*(?:=\s*\{?|\{)\s*(?:0[xX])?7\s*\}?\s*;",
            at_least=1,
            what="lines `const int broken_line = N;` with the right number",
            title="the line that was wrong is named: `const int broken_line = N;`",
            next_step="Start the broken kernel: the message has the line. Count from the line with `__global__`.",
        ),
        work_shared(),
        own_loads(
            "in",
            at_most=2,
            title="a thread loads at most two elements itself: the others come from the tile",
            when=lambda case: case.parameters["n"] >= 1000,
        ),
    ),
    causes=(
        Cause(
            "zero-for-nothing",
            "elements that do not exist count as 0, which is larger than a negative number",
            lambda o: o.looks_like("out", with_zeros) or o.looks_like("out", zero_at_the_end),
            "The numbers at the ends of this input are negative. The largest of them is less than 0.",
            "Which value is never the largest, whatever the others are?",
        ),
        Cause(
            "never-below-zero",
            "no result is below 0, though whole windows are",
            lambda o: o.looks_like("out", lambda case: np.maximum(case.array("out").wanted, 0)),
            "A maximum that begins with 0 is never less than 0.",
            "With which value does the largest begin, before the first element of the window is compared with it?",
        ),
        Cause(
            "number-for-nothing",
            "elements that do not exist count as a number that is larger than those at the end",
            number_at_the_ends,
            "The numbers of an input can be as far below zero as a float can be.",
            "Which value is never the largest, whatever the others are?",
        ),
        Cause(
            "other-window",
            "each result is the largest of another window: not of two elements before, its own, and two after it",
            lambda o: any(
                o.looks_like("out", lambda case, b=b, a=a: window_max(case.array("in").data, before=b, after=a))
                for b in range(4)
                for a in range(4)
                if (b, a) != (2, 2)
            ),
            "A window has five elements. One of another length, or one that lies elsewhere, gives other results.",
            "Which elements of the tile does thread 0 look at, and which elements of the array are they?",
        ),
        Cause(
            "sides-missing",
            "elements of the neighbouring block are left out",
            lambda o: any(
                o.looks_like("out", lambda case, sides=sides: per_block(case, **sides))
                for sides in ({}, {"before": 2}, {"after": 2})
            ),
            "The first elements of a block need the last ones of the block before it, and the last ones "
            "need the first of the "
            "next block.",
            "Which threads load the two elements on each side of the tile, and when do they not exist?",
        ),
        Cause(
            "reads-past-end",
            "elements behind the end of in are read",
            lambda o: past_end(o) is not None,
            "In the last block there is nothing to the right of the tile, or the tile itself is not full.",
            "Which index does the thread of the message use, and how large is n?",
        ),
        Cause(
            "reads-before-start",
            "elements before the start of in are read",
            lambda o: o.read_outside() is not None and o.read_outside()[1] < 0,
            "The first block has no elements to the left of its tile.",
            "For which threads is i - 2 negative?",
        ),
    ),
    hints=(
        "Start the kernel and read the message: line, block and thread. Compute i for this thread, and "
        "then the index in that line.",
        "Lines 5 and 6 ask whether the element exists before they load it. What must stand in the tile if it does not?",
        "`if (t < 2) tile[t + 258] = i + 256 < n ? in[i + 256] : -INFINITY;`",
    ),
)
