"""one-loop: the same loop on both sides of a branch becomes one loop over data that each lane chooses."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, combinations, sentinel
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.requirements import active_lanes, executed


def cooled(start, share, around, steps):
    return around + (start.astype("float64") - around) * (1 - share) ** steps


def both(case):
    """Temperatures of all cups, if all stood outside, and if all stood inside."""
    start, steps = case.array("start").data, case.parameters["steps"]
    return cooled(start, 0.05, 5, steps), cooled(start, 0.02, 21, steps)


def make(parameters, random):
    n, block, steps = parameters["n"], parameters["block"], parameters["steps"]
    outside = random.integers(0, 2, n).astype("int32")
    start = random.uniform(60, 90, n).astype("float32")
    outside *= random.choice(np.array([1, 2, -1], "int32"), n)  # whatever is not 0 is outside
    case = Case(
        parameters,
        grid=(blocks_for(n, block), 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Value("steps", np.int32(steps)),
            Array("outside", outside),
            Array("start", start),
        ),
    )
    end = Array("end", sentinel("float32", n), each_in_its_place(case, steps), relative=1e-4)
    return Case(parameters, case.grid, case.block, (*case.arguments, end))


def each_in_its_place(case, steps):
    """Temperatures after so many steps, of each cup where it stands."""
    start, outside = case.array("start").data, case.array("outside").data
    return np.where(outside != 0, cooled(start, 0.05, 5, steps), cooled(start, 0.02, 21, steps)).astype("float32")


def waves(case, arch):
    size = 64 if arch == "gfx942" else 32
    return case.grid[0] * -(-case.block[0] // size)


def long_and_full(case):
    """Enough steps and enough cups for what is not the loop to matter little?"""
    return case.parameters["steps"] >= 100 and case.parameters["n"] >= 500


def exchanged(case, flags=None):
    """Temperatures with inside and outside exchanged, for cups with these flags alone if some are given."""
    outside = case.array("outside").data
    other = (outside == 0) if flags is None else (outside == 0) | ~np.isin(outside, flags)
    return np.where(other, *both(case)).astype("float32")


def other_flags(o):
    """Are all wrong elements, two at least, cups whose flag is neither 0 nor 1?"""
    flags, wrong = o.case.array("outside").data, o.wrong("end")
    if o.fault is not None or o.outside("end") or o.unwritten_indices("end") or wrong.sum() < 2:
        return False
    return not np.isin(flags[wrong], (0, 1)).any()


exercise = Exercise(
    id="one-loop",
    title="one loop for two cases",
    lesson="03_wavefronts",
    section="The cost of divergence",
    kernel="cool_all",
    signature="int n, int steps, const int* outside, const float* start, float* end",
    minutes=15,
    make=make,
    cases=(
        *combinations(n=(1000, 65, 1), block=(64, 256), steps=(2, 200)),
        {"n": 0, "block": 64, "steps": 3},
    ),
    smallest={"n": 1, "block": 4, "steps": 2},
    shown={"n": 8, "block": 4, "steps": 10},
    requirements=(
        active_lanes(
            "divergence",
            at_least=0.8,
            when=long_and_full,
            shrinks=False,
            next_step="run.divergence() shows in which lines lanes are idle. What differs between the two sides of "
            "your branch: "
            "the instructions, or only the numbers in them?",
        ),
        executed(
            "twice-the-work",
            "vector instructions",
            at_most=lambda case, arch: waves(case, arch) * (3 * case.parameters["steps"] + 60),
            title="at most 3 vector instructions for each step of a wave, and 60 for the rest",
            when=long_and_full,
            shrinks=False,
            next_step="All lanes are active, but each step does the work of both cases, in one loop or in two. "
            "Choose before the loop what goes into it, not inside and not what comes out.",
        ),
    ),
    causes=(
        Cause(
            "missing-guard",
            "threads past the end of the arrays work too",
            lambda o: bool(o.outside("end")) or o.fault is not None,
            "The last block has more threads than cups are left.",
            "Let a thread without a cup return first.",
            guard=("n",),
        ),
        Cause(
            "flag-as-number",
            "only cups are wrong whose outside[i] is neither 0 nor 1",
            other_flags,
            "Each number but 0 means outside, as in the kernel that is given: if (outside[i]).",
            "What does your kernel compute for outside[i] = 2?",
        ),
        Cause(
            "swapped",
            "inside and outside are exchanged",
            lambda o: o.looks_like("end", exchanged) or o.looks_like("end", lambda case: exchanged(case, (0, 1))),
            "outside[i] is not 0 for a cup outside, where it is 5 degrees.",
            "Which of the two values is before the colon of ?:, and for which cups is it used?",
        ),
        Cause(
            "one-for-all",
            "all cups are treated as if they stood in the same place",
            lambda o: any(o.looks_like("end", lambda case, k=k: both(case)[k].astype("float32")) for k in (0, 1)),
            "The choice must be made by each lane for its own cup.",
            "Where does your kernel use outside[i]?",
        ),
        Cause(
            "nothing-cooled",
            "cups keep the temperature with which they began",
            lambda o: o.looks_like("end", lambda case: case.array("start").data),
            "A step adds share * (around - t). If share is 0, nothing changes: an int makes 0 of 0.05.",
            "Of which type are share and around, and which values have they?",
        ),
        Cause(
            "one-step-off",
            "there is one step too many, or one too few",
            lambda o: any(
                o.looks_like("end", lambda case, more=more: each_in_its_place(case, case.parameters["steps"] + more))
                for more in (1, -1)
            ),
            "A loop from 0 to steps - 1 has as many turns as there are steps.",
            "How often does your loop run for steps = 2?",
        ),
        Cause(
            "mixed-numbers",
            "the share of one place is used with the temperature of the other",
            lambda o: any(
                o.looks_like("end", lambda case, one=one, two=two: mixed(case, one, two))
                for one, two in (((0.02, 5), (0.05, 21)), ((0.05, 5), (0.05, 21)), ((0.02, 5), (0.02, 21)))
            ),
            "Outside the share is 0.05 and it is 5 degrees; inside the share is 0.02 and it is 21 degrees.",
            "Two numbers depend on the place. Write down both for each place.",
        ),
    ),
    hints=(
        "Compare the two sides of the branch word by word. Which words differ?",
        "Only two numbers differ: share and around. They can be chosen before the loop, by each lane, with ?: or with "
        "a short if.",
        "`float share = outside[i] ? 0.05f : 0.02f;` the same for around; then a single call of cool for all lanes.",
    ),
)


def mixed(case, outside, inside):
    """Temperatures with (share, around) of the two places given."""
    start, steps = case.array("start").data, case.parameters["steps"]
    where = case.array("outside").data != 0
    return np.where(where, cooled(start, *outside, steps), cooled(start, *inside, steps)).astype("float32")
