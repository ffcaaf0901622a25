"""read-the-waits: seven questions on the waits of a listing, whose answers a kernel stores, and a change that is named."""

from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.questions import Questions
from gpulab.grading.requirements import source

ANSWERS = [5, 8, 6, 3, 2, 12, 1]
"""A to G. In flight in vmcnt before line 13: the loads of lines 6 and 7 and the store of line 12, in this order."""
A, B, C, D, E, F, G = range(7)

asked = Questions(ANSWERS)
answered = asked.answered

exercise = Exercise(
    id="read-the-waits",
    title="which wait waits for what",
    lesson="21_waits",
    section="Counters, not registers",
    kernel="store_answers",
    minutes=20,
    **asked.frame,
    causes=(
        asked.missing,
        Cause(
            "one-number",
            "all seven answers are the same number",
            lambda o: o.fault is None and len(set(o.found("answers").tolist())) == 1,
            "The questions have different answers.",
            "Which place of your list does the kernel store for question B?",
        ),
        Cause(
            "number-of-those-waited-for",
            "the number in a wait is read as how many accesses it waits for",
            answered(A, 6),
            "vmcnt(2) does not wait for two accesses. It waits until at most two are in flight.",
            "How many vector memory accesses are in flight before line 10, and how many may be left after it?",
        ),
        Cause(
            "newest-first",
            "a wait is read as if it waited for the newest accesses",
            lambda o: answered(A, 7)(o) or answered(B, 9)(o),
            "Those that were issued first arrive first, so the newest ones are those that may be left.",
            "Write the accesses in the order of their issue. Which end of the list does a wait take from?",
        ),
        Cause(
            "wrong-counter",
            "an access of LDS is looked for in vmcnt, or one of global memory in lgkmcnt",
            lambda o: answered(A, 8, 9)(o) or answered(B, 5, 6, 7)(o) or answered(C, 8, 9)(o),
            "vmcnt counts vector memory, lgkmcnt LDS and scalar memory.",
            "Make two lists, one for each counter.",
        ),
        Cause(
            "stores-not-counted",
            "the store of line 12 is not counted on gfx942",
            lambda o: answered(D, 2)(o) or answered(E, 1)(o),
            "Before RDNA, vmcnt counts vector stores as well as loads.",
            "Which three accesses were issued since the newest one that has arrived for certain?",
        ),
        Cause(
            "stores-counted-on-rdna",
            "the store of line 12 is counted in vmcnt on gfx1100, too",
            answered(G, 2),
            "RDNA has a counter of its own for stores, vscnt.",
            "Which of the accesses in your list are loads?",
        ),
        Cause(
            "list-in-flight",
            "an answer of A to G is another number than what the listing gives",
            lambda o: o.fault is None and bool(o.wrong("answers").any()),
            "Go through the listing line by line, and keep a list for each counter: an access goes in at its end, a wait "
            "takes from its beginning until no more than its number are left.",
            "Which accesses are in your list of vmcnt before line 10, before line 13, before line 16 and before line 18?",
        ),
    ),
    requirements=(
        source(
            "named-change",
            r"\bhelps\s*=\s*1\s*;",
            at_least=1,
            what="lines `const int helps = N;` with the change that helps",
            title="the change of question H that helps is named: `const int helps = N;`",
            next_step="For each change: does the wait of line 18 have more instructions since line 15 than before? Is v7 "
            "there when line 19 adds it, and is each value there that another line uses?",
        ),
    ),
    hints=(
        "Keep two lists on paper, one for each counter. An access is written at the end of its list; a wait strikes out "
        "from the beginning until as many are left as its number says.",
        "Before line 10 the list of vmcnt has lines 5, 6, 7. On gfx942 the store of line 12 goes into the same list. "
        "For question E: which access must have arrived, and how many were issued after it?",
        "Before line 13 the list is 6, 7, 12, so its vmcnt(2) waits for line 6. Before line 16 it is 7, 12, 15: v3 "
        "comes from line 7, and two are left. Line 18 waits for the store of line 12 as well. On gfx1100 stores are in "
        "another list. For H, only one change puts instructions between the load of line 15 and line 18.",
    ),
)
