"""trust-the-times: eight statements on three series of times, judged by a kernel that stores answers, and a choice."""

from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.questions import Questions
from gpulab.grading.requirements import source

JUSTIFIED, CONTRADICTED, UNDECIDED = 1, 2, 3
ANSWERS = [
    CONTRADICTED,  # A: the mean of all runs has the warm-up in it
    JUSTIFIED,  # B: intervals of the warm runs
    CONTRADICTED,  # C: the medians are of different clocks
    UNDECIDED,  # D: plain was not measured at the low clock
    JUSTIFIED,  # E: time times clock
    CONTRADICTED,  # F: the median is between two modes
    JUSTIFIED,  # G: half of the runs are below the least of plain
    UNDECIDED,  # H: a cause that was not recorded
]
A, B, C, D, E, F, G, H = range(8)

asked = Questions(ANSWERS, "statement")
answered = asked.answered

exercise = Exercise(
    id="trust-the-times",
    title="what do these times justify?",
    lesson="27_measuring",
    section="Which number to report",
    kernel="store_answers",
    minutes=20,
    **asked.frame,
    causes=(
        asked.missing,
        Cause(
            "no-answer",
            "an answer is none of 1, 2 and 3",
            lambda o: o.fault is None and not set(o.found("answers").tolist()) <= {1, 2, 3},
            "1 stands for justified, 2 for contradicted, 3 for not decided.",
            "Which of the three is it?",
        ),
        Cause(
            "one-number",
            "all eight statements have the same answer",
            lambda o: o.fault is None and len(set(o.found("answers").tolist())) == 1,
            "There are statements of each kind.",
            "Which place does your kernel store for statement B?",
        ),
        Cause(
            "warm-up-counted",
            "the warm-up is taken for a property of the kernel",
            answered(A, JUSTIFIED),
            "The mean of all runs contains the first ones, in which only one of the two kernels was cold.",
            "Which runs would you leave out, and what are the medians of the others?",
        ),
        Cause(
            "clock-ignored",
            "runs at different clocks are compared with each other",
            answered(C, JUSTIFIED),
            "The clock was recorded for each eight runs, and it is not the same in all of them.",
            "Which runs of tiled had the clock that all runs of plain had?",
        ),
        Cause(
            "median-between-modes",
            "the median is taken for a time that runs have",
            answered(F, JUSTIFIED),
            "A median is in the middle of the sorted times. Nothing says that there are times near it.",
            "How many runs of tiled are within 5 % of the median? Sort them, or look at the picture.",
        ),
        Cause(
            "never-measured",
            "something is said to be shown that was not measured",
            lambda o: answered(D, JUSTIFIED, CONTRADICTED)(o) or answered(H, JUSTIFIED, CONTRADICTED)(o),
            "A statement on a state or a cause needs a measurement in that state, or a record of that cause.",
            "For D: which runs of plain had that clock? For H: what was written down beside the times?",
        ),
        Cause(
            "shown-but-doubted",
            "something that the times do show is said to be open, or wrong",
            lambda o: any(answered(each, CONTRADICTED, UNDECIDED)(o) for each in (B, E, G)),
            "A small difference may be certain, if it is larger than the intervals of both medians.",
            "For B: what are the intervals of the warm runs? For E: what is time times clock in both halves? For G: how "
            "many times of tiled are below the least one of plain?",
        ),
        Cause(
            "contradicted-but-open",
            "something that the times contradict is said to be open",
            lambda o: o.fault is None and bool(o.wrong("answers").any()),
            "A statement is contradicted if the times that it is about show something else.",
            "For A and C: which runs are comparable, and which kernel is faster in these, by how much? For F: how many "
            "runs are near the median?",
        ),
    ),
    requirements=(
        source(
            "named-measurement",
            r"\bnext\s*=\s*2\s*;",
            at_least=1,
            what="lines `const int next = N;` with a measurement that could decide H",
            title="a measurement that could decide H is named: `const int next = N;`",
            next_step="H is about a cause. In which of the four is the cause changed on purpose, and recorded?",
        ),
    ),
    hints=(
        "Look at each series as a picture first: where does something change, and is it written down what was changed? "
        "Compare only runs that had the same state.",
        "First series: leave out the first eight runs of plain, and compare the intervals. Second: compare tiled and "
        "plain at the same clock, and multiply times by clocks. Third: sort the times of tiled.",
        "A claim is undecided if what it is about was neither measured nor recorded: that is so for two statements, one "
        "in the second and one in the third series. Warm, the two medians of the first series are 2 % apart. Times × "
        "clock of tiled are equal. No run of tiled is within 5 % of its median. For the measurement: change the "
        "suspected cause yourself.",
    ),
)
