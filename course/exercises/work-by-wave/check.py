"""work-by-wave: two kinds of work are shared out so that all lanes of a wave do the same kind."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, combinations, sentinel
from gpulab.grading.exercise import Cause, Exercise, Requirement, multiple_of
from gpulab.grading.requirements import active_lanes, writers


def rise(v, steps):
    for _ in range(steps):
        v = v * v + 0.25
    return v


def fall(v, steps):
    for _ in range(steps):
        v = 0.5 * v * v
    return v


def make(parameters, random):
    n, block, steps = parameters["n"], parameters["block"], parameters["steps"]
    x = random.uniform(0.0625, 0.45, n).astype("float32")
    start = x.astype("float64")
    return Case(
        parameters,
        grid=(2 * blocks_for(n, block), 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Value("steps", np.int32(steps)),
            Array("x", x),
            Array("risen", sentinel("float32", n), rise(start, steps).astype("float32"), relative=1e-4),
            Array(
                "fallen", sentinel("float32", n), fall(start, steps).astype("float32"), relative=1e-4, absolute=1e-30
            ),
        ),
    )


def both_kinds(o):
    """Which wave writes to both arrays?"""
    waves = {}
    for (name, _), by in writers(o, "risen", "fallen").items():
        waves.setdefault((by.workgroup[0], by.wave), set()).add(name)
    mixed = sorted(wave for wave, names in waves.items() if len(names) > 1)
    if not mixed:
        return ""
    block, wave = mixed[0]
    return f"{len(mixed)} of the {len(waves)} waves that write compute elements of both arrays; wave {wave} of block {block} does"


def several_results(o):
    """Which thread writes more than one element?"""
    counts = {}
    for by in writers(o, "risen", "fallen").values():
        thread = (by.workgroup[0], by.thread[0])
        counts[thread] = counts.get(thread, 0) + 1
    (block, thread), most = max(counts.items(), key=lambda item: item[1])
    return f"thread {thread} of block {block} computes {most} results, and other threads none" if most > 1 else ""


exercise = Exercise(
    id="work-by-wave",
    title="each wave one kind of work",
    lesson="03_wavefronts",
    section="Divergent loops",
    kernel="work",
    signature="int n, int steps, const float* x, float* risen, float* fallen",
    minutes=20,
    make=make,
    owner=lambda case, index: None,
    cases=(
        *combinations(n=(65, 200, 1), block=(64, 256), steps=(1, 4)),
        {"n": 1000, "block": 256, "steps": 40},
        {"n": 4096, "block": 64, "steps": 40},
        {"n": 0, "block": 64, "steps": 3},
    ),
    promises=(multiple_of(64, "block"),),
    smallest={"n": 1, "block": 64, "steps": 1},
    shown={"n": 8, "block": 64, "steps": 3},
    requirements=(
        active_lanes(
            "divergence",
            at_least=0.9,
            when=lambda case: case.parameters["n"] >= 1000,
            shrinks=False,
            next_step="run.divergence() shows the branch that is divergent. On which of threadIdx.x, blockIdx.x and "
            "warpSize "
            "should the choice depend, so that all lanes of a wave make the same one, with 64 lanes as with 32?",
        ),
        Requirement(
            "both-kinds",
            "each wave has one kind of work",
            both_kinds,
            "Write down for each lane of this wave which element it writes. Where does the kind change: within a "
            "thread, from one lane to the next, or at n, which need not be a multiple of the wave size? It may change "
            "only from one wave to the next.",
            when=lambda case: case.parameters["n"] >= 1000,
            shrinks=False,
        ),
        Requirement(
            "several-results",
            "each result has its thread",
            several_results,
            "There are twice as many threads as numbers: one for each result. Which one is this thread's?",
            when=lambda case: case.parameters["n"] >= 1000,
            shrinks=False,
        ),
    ),
    causes=(
        Cause(
            "missing-guard",
            "threads without a number to work on work too",
            lambda o: (
                bool(o.outside("risen") or o.outside("fallen")) or (o.fault is not None and o.fault.kind != "race")
            ),
            "There are more threads than results.",
            "Compute i first, then let the thread return if i is not less than n.",
            guard=("n",),
        ),
        Cause(
            "exchanged",
            "the two kinds of work are exchanged",
            lambda o: o.looks_like("risen", lambda case: case.array("fallen").wanted),
            "rise(x[i], steps) goes to risen[i].",
            "Look at the two sides of your branch.",
        ),
        Cause(
            "same-function",
            "both arrays have the results of the same function",
            lambda o: (
                o.looks_like("fallen", lambda case: case.array("risen").wanted)
                or o.looks_like("risen", lambda case: case.array("fallen").wanted)
            ),
            "rise belongs to risen, and fall to fallen.",
            "Which function does each of your two stores call?",
        ),
        Cause(
            "parts-missing",
            "some results are not computed by any thread",
            lambda o: bool(o.unwritten_indices("risen") or o.unwritten_indices("fallen")),
            "Each of the 2n results needs a thread. If you assign the work in another way, the threads of one "
            "kind must "
            "still cover all "
            "numbers from 0 to n - 1.",
            "Take n = 128 and blocks of 64 threads, so four blocks. Write down for each block the kind of its work, "
            "and its i from "
            "first to last.",
        ),
    ),
    hints=(
        "All lanes of a wave must make the same choice. Which built-in variable is the same for all of them, whatever "
        "the wave size?",
        "Let the choice depend on the block: blockIdx.x % 2. Then blocks 0 and 1 work on the same numbers, blocks 2 "
        "and 3 on the "
        "next ones. How does i follow from blockIdx.x?",
        "`int i = blockIdx.x / 2 * blockDim.x + threadIdx.x; if (i >= n) return;` and then `if (blockIdx.x % 2 == "
        "0)` for one half, else for the other.",
    ),
)
