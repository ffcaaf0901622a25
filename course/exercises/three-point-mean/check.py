"""three-point-mean: every element becomes the mean of itself and its two neighbours; the ends are copied."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, combinations, distinct, sentinel
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.patterns import combination
from gpulab.grading.requirements import work_shared


def smooth(data):
    result = data.astype("float64").copy()
    if data.size > 2:
        result[1:-1] = (result[:-2] + result[1:-1] + data[2:].astype("float64")) / 3
    return result.astype("float32")


def make(parameters, random):
    n, block = parameters["n"], parameters["block"]
    data = distinct(random, n)
    return Case(
        parameters,
        grid=(blocks_for(n, block), 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Array("in", data),
            Array("out", sentinel("float32", n), smooth(data), relative=1e-6),
        ),
    )


def inner(case):
    """Indices of the elements with two neighbours."""
    return range(1, case.parameters["n"] - 1)


def inner_equal(o, prediction):
    """Do all elements with two neighbours have the value prediction(data, i)?"""
    data = o.case.array("in").data.astype("float64")
    found = o.found("out")
    return len(inner(o.case)) > 0 and all(
        abs(found[i] - prediction(data, i)) <= 1e-5 * abs(prediction(data, i)) for i in inner(o.case)
    )


def otherwise_weighted(o):
    """Are the inner elements made of the three neighbours, in the same proportion everywhere?"""
    data = o.case.array("in").data
    if o.fault is not None or data.size < 3 or o.unwritten_indices("out") or not o.wrong("out")[1:-1].any():
        return False
    return combination(o.found("out")[1:-1], (data[:-2], data[1:-1], data[2:])) is not None


def first_copied(case):
    """The mean, but the first element of each block is copied."""
    out = case.array("out").wanted.copy()
    out[:: case.block[0]] = case.array("in").data[:: case.block[0]]
    return out


def last_copied(case):
    """The mean, but the last element of each block is copied."""
    out = case.array("out").wanted.copy()
    out[case.block[0] - 1 :: case.block[0]] = case.array("in").data[case.block[0] - 1 :: case.block[0]]
    return out


def both_copied(case):
    """The mean, but the first and the last element of each block are copied."""
    out = first_copied(case)
    out[case.block[0] - 1 :: case.block[0]] = case.array("in").data[case.block[0] - 1 :: case.block[0]]
    return out


def reads(case, name, index):
    """The element and its two neighbours; at an end the element alone."""
    n = case.parameters["n"]
    return [("in", i) for i in ((index - 1, index, index + 1) if 0 < index < n - 1 else (index,))]


exercise = Exercise(
    id="three-point-mean",
    title="the mean of three neighbours",
    lesson="02_simt",
    section="Neighbours",
    kernel="smooth",
    signature="int n, const float* in, float* out",
    minutes=20,
    make=make,
    cases=(*combinations(n=(65, 1000, 64, 63, 3, 2, 1), block=(64, 256)), {"n": 0, "block": 64}),
    smallest={"n": 1, "block": 4},
    reads=reads,
    shown={"n": 7, "block": 4},
    requirements=(work_shared(room=4, title="the threads share the work: each stores at most four elements"),),
    causes=(
        Cause(
            "ends-of-blocks",
            "an end of each block is copied, not only the ends of the array",
            lambda o: any(o.looks_like("out", ends) for ends in (first_copied, last_copied, both_copied)),
            "A block is only a piece of the grid. The neighbour of its first element belongs to the block before, "
            "and is in the same array.",
            "Which threads have no left neighbour in the array: those with threadIdx.x == 0, or only one of them?",
        ),
        Cause(
            "reads-before-start",
            "the first thread reads in[-1]",
            lambda o: o.read_outside() == ("in", -1) and o.faulting_number()[0] == 0,
            "Element 0 has no left neighbour. Memory before an array does not belong to it, and is not zero.",
            "What should thread 0 do, by the exercise's text?",
        ),
        Cause(
            "reads-past-end",
            "the last thread reads beyond the end of in",
            lambda o: (
                o.read_outside() is not None
                and o.read_outside()[0] == "in"
                and o.faulting_number()[0] == o.case.parameters["n"] - 1
                and not o.outside("out")
            ),
            "Element n - 1 has no right neighbour.",
            "What should the thread with number n - 1 do, by the exercise's text?",
        ),
        Cause(
            "missing-guard",
            "threads past the end of the arrays work too",
            lambda o: bool(o.written_past("out")) or o.fault is not None,
            "The last block has more threads than elements are left.",
            "Three kinds of threads exist here: inner ones, those at the two ends, and those with no element at all.",
            guard=("n",),
        ),
        Cause(
            "ends-not-copied",
            "the two ends are never written",
            lambda o: (
                bool(o.wrong_indices("out"))
                and o.wrong_indices("out") == o.unwritten_indices("out")
                and set(o.wrong_indices("out")) == {0, o.case.parameters["n"] - 1}
            ),
            "A condition that keeps the first and the last thread from reading outside also keeps them from writing.",
            "The ends have a value too: their own, copied.",
        ),
        Cause(
            "integer-division",
            "1 / 3 is 0 in C++: both are integers",
            lambda o: inner_equal(o, lambda data, i: 0.0),
            "The quotient of two integers is an integer, rounded towards zero.",
            "Write at least one of them as a float: 3.0f.",
        ),
        Cause(
            "sum-not-mean",
            "this is the sum of the three, not their mean",
            lambda o: inner_equal(o, lambda data, i: data[i - 1] + data[i] + data[i + 1]),
            "The mean of three numbers is a third of their sum.",
            "One operation is missing.",
        ),
        Cause(
            "missing-parentheses",
            "only the last of the three is divided by 3",
            lambda o: inner_equal(o, lambda data, i: data[i - 1] + data[i] + data[i + 1] / 3),
            "In C++ division comes before addition.",
            "Which part of your line should be divided?",
        ),
        Cause(
            "other-weights",
            "the three elements are the right ones, but they do not count a third each",
            otherwise_weighted,
            "Index and guard are right. In the sum one of them is missing, is there twice, has the other sign, or the "
            "divisor is another.",
            "Put in 1, 10 and 100 for the three elements: what does your line make of them?",
        ),
        Cause(
            "ends-wrong",
            "the inner elements are right, but the ends are not copied",
            lambda o: (
                o.fault is None
                and len(o.wrong_indices("out")) > 0
                and set(o.wrong_indices("out")) <= {0, o.case.parameters["n"] - 1}
                and not o.unwritten_indices("out")
            ),
            "An element without two neighbours keeps its value.",
            "Write down what out[0] and out[n - 1] should be, for n = 1, 2 and 3.",
        ),
    ),
    hints=(
        "There are three kinds of threads: those with an element that has two neighbours, those with an element "
        "at an end, and those without an element.",
        "Let threads without an element return first. Then one condition tells ends from inner elements: `i == 0 ||"
        " i == n - 1`.",
        "`if (i >= n) return; if (i == 0 || i == n - 1) out[i] = in[i]; else out[i] =` ... with the sum in "
        "parentheses, divided by `3.0f`.",
    ),
)
