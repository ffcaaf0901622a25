"""last-block-sum: running totals of blocks in one launch: the block that is done last adds up what all have written."""

import re

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for
from gpulab.grading.exercise import Cause, Exercise, power_of_two
from gpulab.grading.requirements import executed, limited, memory_lines, source

WEAK_SIZES = range(100, 200)
"""Elements with which three blocks of 64 threads run on weak memory, too."""


def make(parameters, random):
    n, block = parameters["n"], parameters["block"]
    blocks = max(3, blocks_for(n, block))
    data = random.integers(1, 100 if n <= 300 else 30_000, n).astype("int32")
    padded = np.concatenate([data, np.zeros(blocks * block - n, "int32")])
    totals = padded.reshape(blocks, block).sum(axis=1, dtype="int32").cumsum(dtype="int32")
    return Case(
        parameters,
        grid=(blocks, 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Array("in", data),
            Array("partial", np.full(blocks, -1, "int32"), scratch=True),
            Array("done", np.zeros(1, "uint32"), np.zeros(1, "uint32")),
            Array("out", np.full(blocks, -7, "int32"), totals),
        ),
        weak=8 if n in WEAK_SIZES and block == 64 else 0,
    )


def race(o, memory):
    return o.fault is not None and o.fault.kind in ("race", "lane conflict") and o.fault.memory == memory


def of_a_ticket(o):
    """Does one side of a finding in LDS stand in a line that draws a ticket?"""
    lines = [side.where.text for side in (o.fault, o.fault.other) if side is not None and side.where is not None]
    return any(re.search(r"atomic\w*\s*\(\s*&?\s*\*?\s*done\b", line) for line in lines)


def where(o):
    """The array of a finding in global memory; "" if there is none."""
    place = o.faulting_index()
    return place[0] if place is not None else ""


def read_by_the_last(o):
    """Did the block that ran last read a sum that another block had written before, in no order?"""
    return (
        race(o, "global")
        and where(o) == "partial"
        and (o.fault.access, o.fault.other and o.fault.other.access) == ("read", "write")
        and o.fault.workgroup[0] == o.case.grid[0] - 1
    )


def ticket_returned(o):
    """Does the machine code have an atomic operation on global memory that returns the old value?"""
    returns = re.compile(r"(global|flat)_atomic_.*\b(sc0|glc|th:TH_ATOMIC_RETURN)\b")
    return any(returns.match(text) for isa in o.isa.values() for text in isa)


PARENTHESES = r"\((?:[^(){}]|\((?:[^(){}]|\([^(){}]*\))*\))*\)"
"""What stands in a pair of parentheses, up to the one that closes it."""

exercise = Exercise(
    id="last-block-sum",
    title="the last block adds up",
    lesson="11_synchronisation",
    section="The last block",
    kernel="totals",
    signature="int n, const int* in, int* partial, unsigned* done, int* out",
    minutes=25,
    make=make,
    cases=(
        {"n": 1000, "block": 64},
        {"n": 2000, "block": 256},
        {"n": 5000, "block": 64},  # more blocks than a block has threads
        {"n": 300, "block": 128},
        {"n": 150, "block": 64},
        {"n": 1, "block": 64},
        {"n": 0, "block": 256},
    ),
    promises=(power_of_two("block"),),
    smallest={"n": 1, "block": 64},
    owner=lambda case, index: None,
    shown={"n": 300, "block": 128},
    causes=(
        Cause(
            "missing-guard",
            "threads without an element read beyond the end of in",
            lambda o: o.fault is not None and o.fault.kind in ("out of bounds", "null"),
            "The last block has more threads than elements are left.",
            "What should a thread without an element contribute to the sum?",
            guard=("n",),
        ),
        Cause(
            "reduction-race",
            "in the sum of a block, threads read what others have not yet written",
            lambda o: (
                race(o, "lds")
                and o.fault.other is not None
                and o.fault.bytes >= 4
                and {o.fault.access, o.fault.other.access} == {"read", "write"}
                and not of_a_ticket(o)
            ),
            "Each step of the reduction uses what the step before has written to LDS.",
            "What must be at the end of each step, for all threads?",
        ),
        Cause(
            "not-announced",
            "threads test whether their block is the last before that is known",
            lambda o: (
                (race(o, "lds") or (o.fault is not None and o.fault.kind == "never written"))
                and (o.fault.bytes < 4 or of_a_ticket(o))
            ),
            "One thread takes the ticket; the other waves do not wait for it without a barrier.",
            "What must be between writing the flag in LDS and reading it?",
        ),
        Cause(
            "too-early",
            "a block adds up the sums before another block has written its own",
            lambda o: race(o, "global") and where(o) == "partial" and o.fault.access == "write",
            "So it is not the last one. Either more tickets are taken than there are blocks, or the condition on the "
            "ticket is wrong.",
            "How many tickets does a block take, and for which of them is your condition true?",
        ),
        Cause(
            "ticket-not-atomic",
            "the ticket is read and changed in two steps",
            lambda o: race(o, "global") and where(o) == "done",
            "Two blocks may read the same number. Then both blocks, or none, are the last.",
            "Which function adds and returns the old value in one step?",
        ),
        Cause(
            "missing-fence",
            "the ticket does not make the block's sum visible",
            read_by_the_last,
            "An atomicAdd is relaxed: it orders accesses to its own address, and to no other. The last block may "
            "read the ticket and still the old partial sum.",
            "Between which two lines must a fence be, and in which scope?",
        ),
        Cause(
            "ticket-not-used",
            "no block looks at the ticket that it has drawn",
            lambda o: (
                o.fault is None
                and not ticket_returned(o)
                and (o.weak is not None or (bool(o.wrong("out").any()) and not o.untouched("out").all()))
            ),
            "The totals are right only if the blocks draw their tickets in the order of their numbers. Nothing "
            "promises that order: the block with the highest number may be done first.",
            "What does the atomic operation on done return, and which block gets the highest number?",
        ),
        Cause(
            "nobody-is-last",
            "no block found that it is the last",
            lambda o: o.fault is None and bool(o.untouched("out").all()),
            "out was never written.",
            "With three blocks, which three numbers does atomicAdd return?",
        ),
        Cause(
            "totals-left-out",
            "totals from the number of threads of a block on are never stored",
            lambda o: (
                o.fault is None
                and o.case.grid[0] > o.case.block[0]
                and o.unwritten_indices("out") == tuple(range(o.case.block[0], o.case.grid[0]))
            ),
            "There can be more blocks than a block has threads.",
            "Let each thread of the last block store several totals, in a loop.",
        ),
        Cause(
            "each-block-alone",
            "each result is the sum of one block alone",
            lambda o: o.looks_like("out", lambda case: np.diff(case.array("out").wanted, prepend=0)),
            "out[b] has the elements of all blocks from 0 up to b.",
            "What is out[2], if the sums of the blocks are 5, 1 and 2?",
        ),
        Cause(
            "counter-not-reset",
            "the counter is not 0 for the next launch",
            lambda o: o.fault is None and not o.wrong_indices("out") and bool(o.wrong_indices("done")),
            "The totals are right, once. With the next launch no block would be the last.",
            "Which thread may set the counter back, and when does no block use it any more?",
        ),
    ),
    requirements=(
        source(
            "no-waiting",
            r"\b(while|for)\s*\([^;{]*\bdone\b|"
            rf"(\b(for|while)\s*{PARENTHESES}|\bdo)\s*\{{[^{{}}]*(\batomic\w*|\b__\w*atomic\w*|\bif)\s*\([^;{{}}]*\bdone\b",
            at_most=0,
            what="loops that wait for done",
            title="no block waits for another",
            next_step="In a launch that is not cooperative the other blocks may be started only when this one has ended. "
            "Let the block do the rest that finds all others done when it draws its ticket.",
        ),
        limited(
            "no-tickets",
            "atomic operations on global memory, counted by lanes",
            lambda o: sum(
                access.lanes
                for launch in o.measured
                for access in launch.accesses
                if access.action == "atomic" and access.space in ("global", "flat")
            ),
            at_least=lambda case, arch: case.grid[0],
            title="every block does its part and draws a ticket",
            next_step="If a single block does everything, all other compute units are idle. Let each block "
            "add up its own elements.",
        ),
        memory_lines(
            minimum=lambda case: case.parameters["n"] / 32,
            at_most=2.5,
            when=lambda case: case.parameters["n"] >= 2000 and case.parameters["block"] >= 256,
            title="each block reads its own elements, once",
            next_step="A block that adds up the elements of all blocks before it does their work again. What have they written "
            "in partial?",
        ),
        executed(
            "one-by-one",
            r"s_load|s_buffer_load",
            at_most=lambda case, arch: 8 * case.threads / 32,  # arguments and partial: at most four for each wave
            when=lambda case: case.parameters["n"] >= 2000 and case.parameters["block"] >= 256,
            title="elements are read by many lanes at once, and once",
            next_step="Loads of one element for the whole wave tell that one thread adds up alone. Let each thread read its "
            "element, and add up in LDS.",
        ),
    ),
    hints=(
        "Four parts: sum of the block; write it to partial; draw a ticket; and if it is the last ticket, add up all of "
        "partial.",
        "One thread of the block writes `partial[blockIdx.x]`, then `__threadfence()`, then `atomicAdd(done, 1)`. "
        "If that gives `gridDim.x - 1`, this block is the last. The other threads of the block read it from LDS "
        "after a barrier.",
        "`if (threadIdx.x == 0) { partial[blockIdx.x] = lds[0]; __threadfence(); last = atomicAdd(done, 1) == "
        "gridDim.x - 1; } __syncthreads(); if (last && threadIdx.x == 0) { __threadfence();` then the running sum "
        "over partial into out, and at the end `*done = 0; }`",
    ),
)
