"""soa-from-aos: an array of structures of four floats becomes four arrays."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, combinations, distinct, sentinel
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.requirements import memory_lines, work_shared

FIELDS = ("x", "y", "z", "mass")


def make(parameters, random):
    n, block = parameters["n"], parameters["block"]
    particles = distinct(random, (n, 4))
    outputs = (
        Array(name, sentinel("float32", n), np.ascontiguousarray(particles[:, column]))
        for column, name in enumerate(FIELDS)
    )
    return Case(
        parameters,
        grid=(blocks_for(n, block), 1, 1),
        block=(block, 1, 1),
        arguments=(Value("n", np.int32(n)), Array("particles", particles), *outputs),
    )


def cut_in_four(o):
    """Does each output hold a quarter of the input, as it lies there?"""
    flat = o.case.array("particles").data.reshape(-1)
    n = o.case.parameters["n"]
    return n > 1 and all(
        np.array_equal(o.found(name), flat[column * n : (column + 1) * n]) for column, name in enumerate(FIELDS)
    )


def fewer_apart(o):
    """Does each output hold the floats that lie one, two or three apart, from its field of particle 0 on?"""
    flat, at = o.case.array("particles").data.reshape(-1), np.arange(o.case.parameters["n"])
    return at.size > 1 and any(
        all(np.array_equal(o.found(name), flat[apart * at + field]) for field, name in enumerate(FIELDS))
        for apart in (1, 2, 3)
    )


exercise = Exercise(
    id="soa-from-aos",
    title="four arrays from an array of structures",
    lesson="05_global_memory",
    section="Structures and arrays",
    kernel="split",
    signature="int n, const float* particles, float* x, float* y, float* z, float* mass",
    minutes=25,
    make=make,
    cases=(*combinations(n=(100, 1024, 65, 1), block=(64, 256)), {"n": 0, "block": 64}),
    smallest={"n": 1, "block": 4},
    shown={"n": 6, "block": 4},
    requirements=(
        memory_lines(
            minimum=lambda case: 2 * case.parameters["n"] * 16 / 128,
            when=lambda case: (
                case.parameters["n"] >= 512 and case.parameters["n"] % 256 == 0 and case.parameters["block"] >= 64
            ),
            next_step="run.accesses() lists every load and store of your kernel. How many loads are there? How many lines does each of them request, and how many of these did another load request already?",
        ),
        work_shared(rounds=lambda case: 4, room=1),
    ),
    causes=(
        Cause(
            "missing-guard",
            "threads past the end of the arrays work too",
            lambda o: o.fault is not None and o.faulting_index() is not None and o.faulting_index()[1] >= 0,
            "The last block has more threads than there are particles left.",
            "Compare the number of the thread with n before you use it as an index.",
            guard=("n",),
        ),
        Cause(
            "cut-in-four",
            "the input was split into four contiguous parts",
            cut_in_four,
            "Particle i has the four floats 4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3 of the input.",
            "Write down the index of the x of particle 1 in the input.",
        ),
        Cause(
            "structures-overlap",
            "structures are taken to begin fewer than four floats apart",
            fewer_apart,
            "Particle i has the four floats 4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3 of the input.",
            "Write down the index of the x of particle 1 in the input.",
        ),
        Cause(
            "field-twice",
            "a field is stored to two arrays",
            lambda o: (
                o.fault is None
                and len({o.found(name).tobytes() for name in FIELDS}) < len(FIELDS)
                and all(any(np.array_equal(o.found(name), o.case.array(one).wanted) for one in FIELDS) for name in FIELDS)
            ),
            "Each of the four fields belongs to one array.",
            "Which field does each of your four stores take?",
        ),
        Cause(
            "fields-mixed-up",
            "the fields are in the wrong arrays",
            lambda o: (
                o.fault is None
                and sorted(tuple(o.found(name)) for name in FIELDS)
                == sorted(tuple(o.case.array(name).wanted) for name in FIELDS)
            ),
            "Each array has the numbers that another one should have.",
            "The order in a structure is x, y, z, mass.",
        ),
    ),
    hints=(
        "Give a thread a whole particle. Then the stores are good: neighbouring threads write neighbouring "
        "elements of x, of "
        "y, of z and of mass. What about the loads?",
        "Look at `run.accesses()`. If it has four loads, then each of them requests the same lines. The compiler "
        "may not join them as long as a store is between them: x could point into particles.",
        "Load first, store later: one float4 from `reinterpret_cast<const float4*>(particles)[i]`, then its four "
        "parts .x, .y, .z and .w to the four arrays.",
    ),
)
