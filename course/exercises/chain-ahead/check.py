"""chain-ahead: chains through an array, judged by how long each load of the loop is in flight before it is waited for."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, sentinel
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.requirements import loads_ahead, work_shared


def weight(x):
    """The polynomial of the exercise."""
    p = np.ones_like(x, dtype="float64")
    for _ in range(24):
        p = p * x + 0.5
    return p


def rows(case, which=lambda k: k):
    """`out`, where row k has the element that is reached after `which(k)` links."""
    n, steps = case.parameters["n"], case.parameters["steps"]
    link, value = case.array("link").data, case.array("value").data.astype("float64")
    wanted = [which(k) for k in range(steps)]
    at, found = np.arange(n), []
    for _ in range(max(wanted, default=0) + 1):
        found.append(weight(value[at]))
        at = link[at]
    return np.array([found[k] for k in wanted], "float32").reshape(steps, n)


def make(parameters, random):
    n, steps, block = parameters["n"], parameters["steps"], parameters["block"]
    order = random.permutation(n)  # one chain through all elements, which ends where it began
    link = np.empty(n, "int32")
    link[order] = np.roll(order, -1)
    value = (0.05 + 0.9 * (random.permutation(n) + 1) / (n + 1)).astype("float32")
    given = (
        Value("n", np.int32(n)), Value("steps", np.int32(steps)), Array("link", link), Array("value", value),
    )  # fmt: skip
    case = Case(parameters, (blocks_for(n, block), 1, 1), (block, 1, 1), given)
    out = Array("out", sentinel("float32", (steps, n)), rows(case), relative=1e-5)
    return Case(parameters, case.grid, case.block, (*given, out))


def owner(case, index):
    n, block = case.parameters["n"], case.parameters["block"]
    if not 0 <= index < n * case.parameters["steps"]:
        return None
    return (index % n // block, 0, 0), (index % n % block, 0, 0)


def without_element(o):
    """Was the kernel stopped by a thread that has no element?"""
    fault = o.fault
    if fault is None or fault.thread is None:
        return False
    return fault.workgroup[0] * o.case.parameters["block"] + fault.thread[0] >= o.case.parameters["n"]


exercise = Exercise(
    id="chain-ahead",
    title="one element ahead",
    lesson="21_waits",
    section="A load, one iteration early",
    kernel="follow",
    signature="int n, int steps, const int* link, const float* value, float* out",
    minutes=25,
    make=make,
    owner=owner,
    reads=lambda case, name, index: (),
    cases=(
        {"n": 300, "steps": 5, "block": 64},
        {"n": 64, "steps": 2, "block": 64},
        {"n": 65, "steps": 3, "block": 64},
        {"n": 7, "steps": 1, "block": 64},
        {"n": 1, "steps": 4, "block": 64},
        {"n": 9, "steps": 0, "block": 64},
        {"n": 0, "steps": 3, "block": 64},
        {"n": 2048, "steps": 20, "block": 256},
    ),
    smallest={"n": 1, "steps": 1, "block": 64},
    shown={"n": 5, "steps": 3, "block": 64},
    causes=(
        Cause(
            "missing-guard",
            "threads without an element of their own work, too",
            without_element,
            "The last block may have more threads than there are elements left, and one without an element has no chain.",
            "What does a thread do whose number is n or more?",
            guard=("n",),
        ),
        Cause(
            "element-by-element",
            "out is stored element by element, and should be stored row by row",
            lambda o: o.looks_like(
                "out", lambda case: case.array("out").wanted.T.reshape(case.array("out").wanted.shape)
            ),
            "Row k has the elements that are reached after k links, one for each thread.",
            "How far apart in out are the elements that one thread stores one after the other?",
        ),
        Cause(
            "one-too-far",
            "row k has the element that belongs to row k + 1",
            lambda o: o.looks_like("out", lambda case: rows(case, lambda k: k + 1)),
            "The next element was loaded early, and then it was used early as well.",
            "Which two values does an iteration hold, and with which of them does it compute?",
        ),
        Cause(
            "one-behind",
            "row k has the element of row k - 1, and row 0 is there twice",
            lambda o: o.looks_like("out", lambda case: rows(case, lambda k: max(k - 1, 0))),
            "What the first iteration loads early is the second element of the chain, not the first one again.",
            "Follow three iterations on paper: what do the variables hold at the beginning of each?",
        ),
        Cause(
            "every-other",
            "from row to row, the chain goes on by two elements",
            lambda o: o.looks_like("out", lambda case: rows(case, lambda k: 2 * k)),
            "Each iteration goes on by one link. Here two links were followed.",
            "How often does one iteration of your loop load from link?",
        ),
        Cause(
            "chain-stands-still",
            "from the second row on, all rows have the same element",
            lambda o: o.looks_like("out", lambda case: rows(case, lambda k: min(k, 1))),
            "The next element is loaded again and again from the same place.",
            "Which variable says where the next element is, and who changes it?",
        ),
    ),
    requirements=(
        loads_ahead(
            at_least=16,
            pattern="float additions and multiplications",
            when=lambda case: case.parameters["n"] >= 1000 and case.parameters["steps"] >= 8,
            title="at least 16 multiply-adds are executed between each load of the loop and the wait for it",
        ),
        work_shared(rounds=lambda case: max(case.parameters["steps"], 1)),
    ),
    hints=(
        "An iteration computes with one element, and the next element does not depend on the result. So the next one can "
        "be in flight meanwhile. What has to be loaded before the first iteration?",
        "Keep two values across iterations: the number of the element of this iteration, which has arrived, and the "
        "place of the next one. At the beginning of the iteration load from both arrays at that place; at its end, "
        "what was next becomes what is now.",
        "Before the loop: `float x = value[i]; int next = link[i];` At the beginning of an iteration: "
        "`float next_x = value[next]; int after = link[next];` Then compute with x and store. At the end: "
        "`x = next_x; next = after;`",
    ),
)
