"""reverse-in-block: each block reverses its part of an array in place, through LDS."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, combinations, distinct
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.requirements import source, work_shared


def pieces(n, block):
    """First index and length of each block's part."""
    return [(first, min(block, n - first)) for first in range(0, n, block)]


def make(parameters, random):
    n, block = parameters["n"], parameters["block"]
    data = distinct(random, n)
    wanted = np.concatenate([data[first : first + size][::-1] for first, size in pieces(n, block)] or [data])
    return Case(
        parameters,
        grid=(blocks_for(n, block), 1, 1),
        block=(block, 1, 1),
        arguments=(Value("n", np.int32(n)), Array("data", data, wanted)),
    )


def last_part_alone_wrong(o):
    """Are all full parts right, and the last one, which is not full, wrong or beyond the end?"""
    n, block = o.case.parameters["n"], o.case.parameters["block"]
    full = n // block * block
    return n > block and n % block > 0 and all(index >= full for index in o.wrong_indices("data"))


def reversed_as_whole(o):
    """Did a thread of the last part use the element that would be its partner's if the part were full?"""
    n, block, fault = o.case.parameters["n"], o.case.parameters["block"], o.fault
    if not last_part_alone_wrong(o) or fault is None or fault.thread is None or fault.address is None:
        return False
    place = o.faulting_index()
    index = fault.address // 4 if fault.memory == "lds" else None if place is None else place[1] - n // block * block
    return fault.workgroup[0] == n // block and index == block - 1 - fault.thread[0] != fault.thread[0]


def own_past_end(o):
    """Did a thread past the end use the element that would be its own?"""
    fault, place = o.fault, o.faulting_index()
    if fault is None or place is None or fault.thread is None or fault.kind != "out of bounds":
        return False
    return place[1] == fault.workgroup[0] * o.case.block[0] + fault.thread[0] >= o.case.parameters["n"]


def one_too_far(o):
    """Does element t of each part hold what element `size - t` held, where there is such an element?"""
    n, block = o.case.parameters["n"], o.case.parameters["block"]
    before, found = o.case.array("data").data, o.found("data")
    return n > 1 and all(
        np.array_equal(found[first + 1 : first + size], before[first + 1 : first + size][::-1])
        for first, size in pieces(n, block)
    )


def reads(case, name, index):
    """The element at the mirrored place of the block's part."""
    first, size = next(piece for piece in pieces(case.parameters["n"], case.parameters["block"]) if sum(piece) > index)
    return [("data", 2 * first + size - 1 - index)]


exercise = Exercise(
    id="reverse-in-block",
    title="reverse in place, with one barrier",
    lesson="06_lds",
    section="Barriers and races",
    kernel="reverse_parts",
    signature="int n, float* data",
    minutes=15,
    make=make,
    cases=(*combinations(n=(1000, 512, 100, 65, 3, 1), block=(64, 256)), {"n": 0, "block": 64}),
    smallest={"n": 1, "block": 4},
    reads=reads,
    shown={"n": 11, "block": 4},
    requirements=(
        source(
            "one-barrier",
            r"__syncthreads\s*\(\s*\)",
            at_most=1,
            what="barriers",
            title="one barrier, not more",
            next_step="Which accesses does each of your barriers order? Each thread writes one element of the tile "
            "and reads one, "
            "and after that nobody uses the tile again.",
        ),
        work_shared(room=8, title="the threads share the work: each stores at most eight elements"),
    ),
    causes=(
        Cause(
            "starts-at-zero",
            "the partner's index is one too large",
            one_too_far,
            "Of a part with 4 elements the last one has index 3. Element t changes places with element 3 - t.",
            "Which element does thread 0 take, in your formula?",
            explains=("never written", "lds out of bounds"),
        ),
        Cause(
            "last-part",
            "the last part, which is shorter, is reversed as if it were whole",
            reversed_as_whole,
            "If n is no multiple of the block size, the last block has fewer elements than threads. It "
            "reverses the elements "
            "that it has.",
            "How many elements has block b, in terms of n and blockDim.x?",
            explains=("never written", "lds out of bounds"),
        ),
        Cause(
            "missing-guard",
            "threads past the end of data work too",
            own_past_end,
            "The last block has more threads than elements are left.",
            "Which accesses must only be made by threads whose number is less than n?",
            guard=("n",),
        ),
    ),
    hints=(
        "Each block stores its elements in a tile in LDS, waits, and loads them in reverse order. A part has "
        "blockDim.x elements, but the last one can be shorter: compute its length first.",
        "All threads have to reach the barrier, those without an element as well. So no return before it and "
        "no barrier "
        "inside an if: put the accesses into an if, once before the barrier and once after it.",
        "`int first = blockIdx.x * blockDim.x; int size = min((int)blockDim.x, n - first); if (t < size) tile[t] = "
        "data[first + t]; __syncthreads(); if (t < size) data[first + t] = tile[size - 1 - t];`",
    ),
)
