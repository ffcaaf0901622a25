"""read-the-fences: which of four senders and four receivers in machine code are right, and why."""

from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.questions import Questions
from gpulab.grading.requirements import source

ANSWERS = [0, 1, 1, 0, 0, 0, 1, 1, 13, 8]
"""A to J. (LLVM, User Guide for AMDGPU Backend, memory model of gfx942: release and acquire in the scope agent.)"""
A, B, C, D, E, F, G, H, I, J = range(10)  # noqa: E741

asked = Questions(ANSWERS)
answered = asked.answered

exercise = Exercise(
    id="read-the-fences",
    title="which message arrives",
    lesson="26_memory_model",
    section="What each instruction does",
    kernel="store_answers",
    minutes=20,
    **asked.frame,
    causes=(
        asked.missing,
        Cause(
            "same-for-all-senders",
            "all senders, or all receivers, have the same answer",
            lambda o: (
                o.fault is None
                and any(len(set(o.found("answers")[part].tolist())) == 1 for part in (slice(A, E), slice(E, I)))
            ),
            "There are right ones and wrong ones among the four.",
            "Which of the four has more instructions than another one, and what are they for?",
        ),
        Cause(
            "wait-taken-for-write-back",
            "a wait is taken for enough to make a store visible to another die",
            answered(A, 1),
            "vmcnt counts a store until it is in the L2 of its own die.",
            "Where does a store of block 0 stay, and from which L2 does block 1 read?",
        ),
        Cause(
            "write-back-not-waited-for",
            "sender D is taken for right",
            answered(D, 1),
            "A write-back takes time, as a store does, and is counted.",
            "What may be in flight when the last line of D is issued?",
        ),
        Cause(
            "acquire-without-drop",
            "a receiver is taken for right that keeps an old line",
            lambda o: answered(E, 1)(o) or answered(F, 1)(o),
            "The receiver had the line of the box in its L1 and in the L2 of its die before it saw the flag.",
            "Which caches does each of the receivers drop, or pass by? sc0 and sc1 stand for scopes.",
        ),
        Cause(
            "sc1-not-read",
            "an access of the box with sc1 is taken for a plain one",
            lambda o: answered(C, 0)(o) or answered(G, 0)(o),
            "The bit of the scope stands behind the address: such an access goes past the L2 of the die.",
            "Compare the line with the access of the flag: what is the same in both?",
        ),
        Cause(
            "clangs-own-refused",
            "what Clang makes of a release and an acquire is taken for wrong",
            lambda o: answered(B, 0)(o) or answered(H, 0)(o),
            "Lesson 11 and this lesson print both.",
            "Print the machine code of an __ATOMIC_RELEASE and of an __ATOMIC_ACQUIRE in the scope of the agent.",
        ),
        Cause(
            "another-line",
            "question I or J names another line",
            lambda o: o.fault is None and bool(o.wrong("answers").any()),
            "The line of I stands behind the last wait of D; that of J is a store with a scope.",
            "Go through A to D once more, and write beside each line where the box is after it.",
        ),
    ),
    requirements=(
        source(
            "named-between",
            r"\bbetween\s*=\s*3\s*;",
            at_least=1,
            what="lines `const int between = N;` with the instruction of question K",
            title="the instruction of question K is named: `const int between = N;`",
            next_step="On RDNA all compute units share one L2, and loads and stores have a counter each.",
        ),
    ),
    hints=(
        "Write beside each line where the box is after it: on its way, in the L2 of the sender's die, or in memory. "
        "The flag "
        "may be seen as soon as its store is issued.",
        "A store without a scope is counted down when it is in the L2 of its own die; buffer_wbl2 brings it from "
        "there "
        "to memory, and is counted itself. A receiver has to drop its L1 and the L2 of its die, or to pass by both.",
        "Senders: two are right, the one that waits behind its write-back and the one that stores the box with sc1. "
        "Receivers: two are right, the one with buffer_inv sc1 and the one that loads with sc1. Line 13 is not "
        "waited "
        "for. On gfx1100 a store is waited for by vscnt.",
    ),
)
