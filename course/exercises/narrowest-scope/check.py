"""narrowest-scope: two notes are passed on, within a block and between blocks, each in the narrowest scope."""

import re

import numpy as np

from gpulab.grading.case import Array, Case, Value, no_inputs, sentinel
from gpulab.grading.evidence import WEAK
from gpulab.grading.exercise import Cause, Exercise, Requirement
from gpulab.grading.requirements import limited

READER = 64
"""The thread of block 0 that reads the first note: of another wave than thread 0, on both architectures."""


def make(parameters, random):
    n = parameters["n"]
    data = random.permutation(np.arange(1, n + 1)).astype("int32")
    first, second = 2 * data, 2 * data + 1
    return Case(
        parameters,
        grid=(2, 1, 1),
        block=(128, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Array("in", data),
            Array("first", sentinel("int32", n), first),
            Array("second", sentinel("int32", n), second),
            Array("flags", np.zeros(2, "int32"), np.ones(2, "int32")),
            Array("out", sentinel("int32", n), first * second),
        ),
        cooperative=True,
        weak=8 if n == 4 else 0,
    )


def race(o, *arrays):
    """Is there a race on one of these arrays?"""
    return o.fault is not None and o.fault.kind == "race" and (o.faulting_index() or ("",))[0] in arrays


def others(o):
    """Which note was not written by its thread?"""
    of = {"first": (0, 0), "second": (0, READER), "out": (1, 0)}
    for (name, index), access in o.tight.writers.items():
        if name in of and access.thread is not None and (access.workgroup[0], access.thread[0]) != of[name]:
            block, thread = of[name]
            return (
                f"{name}[{index}] was written by thread {access.thread[0]} of block {access.workgroup[0]}, and belongs "
                f"to thread {thread} of block {block}"
            )
    return ""


def accesses_of(o, name):
    """(instruction, workgroup, wave, first index) of loads and stores of this array, as far as they were looked at."""
    for launch in o.measured:
        for access in launch.accesses:
            for sample in access.samples:
                at = next((address for address in sample.addresses if address is not None), None)
                place = next((memory for memory in sample.memory if memory.name == name), None)
                if at is not None and place is not None and access.action != "atomic":
                    yield access.instruction, sample.workgroup, sample.wave, (at - place.address) // 4


def flag_too_wide(o):
    """Which flag is loaded or stored in a wider scope than its two threads need? On gfx942 sc1 is the device's scope,
    and sc0 sc1 the system's."""
    for instruction, *_, index in accesses_of(o, "flags"):
        bits = {"sc0", "sc1"} & set(instruction.split())
        if index == 0 and "sc1" in bits:
            return f"flags[0] is accessed by {instruction.split()[0]} with sc1, which reaches beyond the block"
        if bits == {"sc0", "sc1"}:
            return f"flags[{index}] is accessed by {instruction.split()[0]} with sc0 sc1, which reaches the whole system"
    return ""


def reads_in(o):
    """Which other thread than the first one takes its numbers from in?"""
    for _, workgroup, wave, _ in accesses_of(o, "in"):
        if workgroup != (0, 0, 0) or wave != 0:
            return f"a thread of block {workgroup[0]}, wave {wave}, reads in"
    return ""


def outermost(launch, cost):
    """The place of the outermost instruction that sends lanes another way around this one."""
    place = None
    while cost.branch is not None:
        place = cost.branch
        cost = launch.instructions[place]
    return place


def in_lines(name, pattern, what, **more):
    """A limit on the source lines that become such an instruction. (A loop may have two copies of one.) The line of a
    function that is called in several of the kernel's outermost ifs counts once for each of them."""
    begins = re.compile(pattern)

    def measure(outcome):
        return len(
            {
                (cost.where and (cost.where.file, cost.where.line), outermost(launch, cost))
                for launch in outcome.measured
                for cost in launch.instructions
                if begins.match(cost.text)
            }
        )

    return limited(name, f"lines that become {what}", measure, **more)


exercise = Exercise(
    id="narrowest-scope",
    title="no further than necessary",
    lesson="26_memory_model",
    section="Scopes",
    kernel="pass_on",
    signature="int n, const int* in, int* first, int* second, int* flags, int* out",
    minutes=20,
    make=make,
    owner=lambda case, index: None,
    reads=no_inputs,
    fixed_sizes="a note has at most 16 numbers",
    cases=({"n": 3}, {"n": 4}, {"n": 1}, {"n": 16}, {"n": 0}),
    drawn=lambda random: tuple({"n": int(n)} for n in (*random.integers(1, 16, 3), 16)),
    smallest={"n": 1},
    shown={"n": 2},
    instruction_limit=8_000_000,
    causes=(
        Cause(
            "too-narrow",
            "a scope leaves out the thread on the other side",
            lambda o: race(o, "flags") and o.fault.lack == "scope",
            "The flag that is named above is written and read in a scope that has only one of the two threads in it.",
            "In which block are the two threads that meet at this flag?",
            explains=("race", WEAK),
        ),
        Cause(
            "one-side-only",
            "a note is read in no order with its writing",
            lambda o: race(o, "first", "second") or (o.fault is None and o.weak is not None),
            "A scope alone is no order: the flag is stored with release and loaded with acquire.",
            "Which of the four accesses of flags has no order, or stands before what it should cover?",
            explains=("race", WEAK),
        ),
        Cause(
            "flag-not-atomic",
            "a flag is read or written without an atomic access",
            lambda o: race(o, "flags"),
            "Two threads use it at the same time, and one of them writes.",
            "Which accesses of flags are no __hip_atomic_load or __hip_atomic_store?",
            explains=("race", WEAK),
        ),
    ),
    requirements=(
        Requirement(
            "three-threads",
            "each note is written by its own thread",
            others,
            "The notes are passed on between three threads. Which of them does the work of another?",
            watches=True,
        ),
        Requirement(
            "notes-not-read",
            "only thread 0 of block 0 reads in: the others read the notes",
            reads_in,
            "Thread 64 reads first, and block 1 reads first and second. Nothing is passed on if they compute them anew.",
            shrinks=False,
        ),
        in_lines(
            "no-system",
            r"buffer_\w+ sc0 sc1",
            "buffer_wbl2 or buffer_inv with sc0 sc1",
            at_most=0,
            archs=("gfx942",),
            title="nothing is ordered for the whole system: no buffer_wbl2 or buffer_inv with sc0 sc1 on gfx942",
            next_step="Neither the host nor another GPU takes part. Which is the next narrower ring?",
        ),
        in_lines(
            "one-write-back",
            r"buffer_wbl2",
            "buffer_wbl2",
            at_most=1,
            archs=("gfx942",),
            title="one release reaches beyond the block: a single line becomes buffer_wbl2 on gfx942",
            next_step="Which of the two notes stays in its block? Print what its flag's store becomes in a narrower "
            "scope. "
            "(A __threadfence() is a release and an acquire, wherever it stands.)",
        ),
        in_lines(
            "one-invalidation",
            r"buffer_inv|buffer_gl1_inv",
            "buffer_inv or buffer_gl1_inv",
            at_most=1,
            title="one acquire reaches beyond the block: a single line becomes buffer_inv on gfx942, buffer_gl1_inv "
            "on gfx1100",
            next_step="Which thread reads a note that another block has written? No other one has to drop that much.",
        ),
        in_lines(
            "both-notes-acquired",
            r"buffer_gl0_inv",
            "buffer_gl0_inv",
            at_least=2,
            archs=("gfx1100",),
            title="both acquires drop the cache of the compute unit on gfx1100: two lines become buffer_gl0_inv",
            next_step="Are the two threads of block 0 in the same wave? A scope in which one of them is alone "
            "promises nothing "
            "to the other, nor does a relaxed load.",
        ),
        in_lines(
            "both-notes-released",
            r"s_waitcnt_vscnt",
            "s_waitcnt_vscnt",
            at_least=2,
            archs=("gfx1100",),
            title="both releases wait for their stores on gfx1100: two lines become s_waitcnt_vscnt",
            next_step="Are the two threads of block 0 in the same wave? A scope in which one of them is alone "
            "promises nothing "
            "to the other, nor does a relaxed store.",
        ),
        Requirement(
            "flag-too-wide",
            "the flags themselves are accessed in the narrowest scope: on gfx942 flags[0] without sc1, flags[1] without "
            "sc0 sc1",
            flag_too_wide,
            "A relaxed access has a scope, too, also beside a fence. Which threads use this flag?",
            archs=("gfx942",),
            shrinks=False,
        ),
    ),
    hints=(
        "For each flag: which two threads use it, in which blocks and waves are they? Then take the smallest ring "
        "that has "
        "both in it.",
        "Threads 0 and 64 of block 0 are in one block, but never in one wave. The reader of the second note is in "
        "another "
        "block of the same GPU.",
        "`flags[0]`: `__HIP_MEMORY_SCOPE_WORKGROUP` on both sides. `flags[1]`: `__HIP_MEMORY_SCOPE_AGENT` on both "
        "sides. "
        "The orders stay.",
    ),
)
