"""thin-histogram: counters of each thread in LDS, judged by the occupancy that they leave."""

import numpy as np

from gpulab.grading import requirements
from gpulab.grading.case import Array, Case, Value, blocks_for, sentinel
from gpulab.grading.exercise import Cause, Exercise

PART = 76800


def counted(data, bits=32):
    """Counts by block and kind, with counters of so many bits for each thread."""
    found = []
    for start in range(0, max(data.size, 1), PART):
        part = data[start : start + PART].astype(int)
        threads = np.arange(part.size) % 256
        each = np.zeros((16, 256), dtype=int)
        np.add.at(each, (part, threads), 1)
        found.append((each % 2**bits).sum(1))
    return np.array(found, dtype="int32")


def make(parameters, random):
    n, kinds = parameters["n"], parameters["kinds"]
    data = (random.integers(0, kinds, n) if kinds > 1 else np.full(n, 3)).astype("uint8")
    expected = counted(data)
    return Case(
        parameters,
        grid=(blocks_for(n, PART), 1, 1),
        block=(256, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Array("data", data),
            Array("counts", sentinel("int32", expected.shape), expected),
        ),
    )


def reads_past_end(o):
    """Did a thread of the last block read after the end of the data?"""
    place = o.read_outside()
    last = o.fault is not None and o.fault.workgroup[0] == o.case.grid[0] - 1
    return last and place is not None and place[0] == "data" and place[1] >= o.case.parameters["n"]


exercise = Exercise(
    id="thin-histogram",
    title="a thin histogram",
    lesson="08_occupancy",
    section="What limits occupancy",
    kernel="count",
    signature="int n, const unsigned char* data, int* counts",
    minutes=30,
    make=make,
    owner=lambda case, index: ((index // 16, 0, 0), (index % 16, 0, 0)),
    cases=(
        {"n": 1000, "kinds": 16, "block": 256},
        {"n": 255, "kinds": 1, "block": 256},
        {"n": 1, "kinds": 16, "block": 256},
        {"n": 0, "kinds": 16, "block": 256},
        {"n": PART, "kinds": 1, "block": 256},
        {"n": 2 * PART + 5, "kinds": 16, "block": 256},
    ),
    smallest={"n": 1, "kinds": 1, "block": 256},
    kept=("block", "kinds"),
    shown={"n": 40, "kinds": 16, "block": 256},
    causes=(
        Cause(
            "reads-past-end",
            "bytes after the end of the data are read",
            reads_past_end,
            "The last block's part is not full.",
            "Where does the part of the last block end if n is no multiple of 76,800?",
        ),
        Cause(
            "counters-overflow",
            "counters of 8 bits start again at 0 after 255",
            lambda o: o.looks_like("counts", lambda case: counted(case.array("data").data, 8)),
            "A thread counts up to 300 bytes, and if all are of one kind, one counter counts them all.",
            "How many bits does a number up to 300 need?",
        ),
        Cause(
            "one-part-only",
            "every block counts the first part",
            lambda o: o.looks_like(
                "counts",
                lambda case: np.tile(counted(case.array("data").data)[:1], (len(counted(case.array("data").data)), 1)),
            ),
            "Block b counts the bytes from 76800 * b.",
            "Where is blockIdx.x used in the addresses that you read?",
        ),
        Cause(
            "kind-added",
            "each count is multiplied by its kind: the byte is added, not 1",
            lambda o: o.looks_like("counts", lambda case: case.array("counts").wanted * np.arange(16)),
            "A byte of kind 3 is one byte more of this kind, not three.",
            "What do you add to a counter?",
        ),
        Cause(
            "counts-lost",
            "some bytes are not counted",
            lambda o: (
                o.fault is None
                and not o.unwritten_indices("counts")
                and bool((o.found("counts") <= o.case.array("counts").wanted).all())
            ),
            "Where two threads share a counter, mine[k]++ loses additions: it reads, adds and writes, and both read the "
            "same number. Or a part of the bytes, or of the counters, is left out.",
            "Which other thread can change the counter that a thread changes? A counter for each thread needs no "
            "atomic addition, a shared one does. Then count on paper: do all threads and all counters come into the sum?",
        ),
    ),
    requirements=(
        requirements.occupancy(
            at_least=1.0,
            title="all wave slots can be filled (occupancy 100 %)",
            next_step="gpulab.occupancy(count, 256) says what limits it, and how many bytes are allowed.",
        ),
        requirements.per_wave(
            "few-threads-count",
            "global loads",
            at_most=310,
            when=lambda case: case.parameters["n"] >= PART,
            title="each thread reads no more than its share of the data",
            shrinks=False,
            next_step="A block has 256 threads for its 76,800 bytes: 300 for each. A thread that reads more leaves others "
            "without work.",
        ),
        requirements.executed(
            "counted-in-memory",
            "global atomics",
            at_most=0,
            title="a block counts in LDS or registers: no atomic operations on global memory",
            next_step="Every atomic operation on global memory goes to the L2. The counters of a block fit into LDS.",
            when=lambda case: case.parameters["n"] >= PART,
            shrinks=False,
        ),
    ),
    hints=(
        "gpulab.occupancy of the kernel in the text says that LDS limits it. By how much must the counters of a block "
        "become smaller?",
        "How large can one thread's counter become? Choose the narrowest type that holds that number.",
        "A thread counts at most 300 bytes: unsigned short instead of int is enough, and needs half of the LDS.",
    ),
)
