"""two-streams-one-event: four kernels, two of which may run at the same time: dependencies by events alone."""

import re

import numpy as np

from gpulab.grading.exercise import Cause, Requirement
from gpulab.grading.program import ProgramCase, ProgramExercise

WAITS = r"\b(hipDeviceSynchronize|hipStreamSynchronize|hipEventSynchronize|hipEventQuery|hipStreamQuery)\b"
KERNELS = ("make", "left", "right", "join")


def slow(values, rounds):
    for _ in range(rounds):
        values = (values ^ (values >> np.uint32(3))) * np.uint32(5) + np.uint32(3)
    return values


def case(n):
    made = slow(np.arange(n, dtype="uint32"), 300)
    joined = slow(made, 500) ^ slow(made[::-1], 800)
    total = int((np.arange(1, n + 1, dtype="uint64") * joined.astype("uint64")).sum(dtype="uint64"))
    return ProgramCase(
        arguments=(str(n),),
        expected=f"sum {total}\n",
        parameters={"n": n},
        computed=(joined.astype("int64").tolist(),),
    )


def kernel(o, name):
    return next((each for each in o.activities if each.kind == "kernel" and each.name == name), None)


def host_waits_before(o, name):
    """Does a call that makes the host wait stand in the source before the launch of this kernel?"""
    launch = re.search(rf"\b{name}\s*<<<", o.code)
    return launch is None or re.search(WAITS, o.code[: launch.start()]) is not None


def before(o, first, second):
    """A complaint if the second kernel starts before the first has ended, or only happens to start after it."""
    one, other = kernel(o, first), kernel(o, second)
    if one is None or other is None:
        return ""
    if other.start_us < one.end_us - 0.001:
        return f"{second} starts {one.end_us - other.start_us:.1f} microseconds (modelled) before {first} has ended"
    if o.comes_after(o.activities.index(one), o.activities.index(other)) or host_waits_before(o, second):
        return ""
    return f"{second} started after {first} only because {first} happened to end early: nothing makes it wait"


def copied_too_early(o):
    """A complaint if nothing makes the copy back wait for join."""
    join = kernel(o, "join")
    copies = [index for index, each in enumerate(o.activities) if each.kind == "copy"]
    if join is None or not copies or o.uses(WAITS) or o.comes_after(o.activities.index(join), copies[-1]):
        return ""
    return "join is in a stream that is hipStreamNonBlocking, and hipMemcpy in the default stream does not wait for it"


def side_by_side(o):
    """A complaint if left and right do not overlap nearly as long as the shorter of them takes."""
    one, other = kernel(o, "left"), kernel(o, "right")
    if one is None or other is None:
        return ""
    shared = min(one.end_us, other.end_us) - max(one.start_us, other.start_us)
    if shared >= 0.9 * min(one.us, other.us):
        return ""
    return (
        f"left takes {one.us:.1f} microseconds (modelled), right {other.us:.1f}, and both together run for "
        f"{max(shared, 0):.1f}"
    )


def host_waits(o):
    """Calls in the source that make the host wait."""
    return len(re.findall(WAITS, o.code))


exercise = ProgramExercise(
    id="two-streams-one-event",
    title="no more waiting than is needed, and no less",
    lesson="09_streams",
    section="Events: order between streams",
    minutes=25,
    cases=(case(1000), case(16384)),
    drawn=lambda random: [case(int(random.integers(300, 3000))), case(int(random.integers(8000, 17000)))],
    instruction_limit=50_000_000,
    causes=(
        Cause(
            "not-begun",
            "no kernel is launched yet",
            lambda o: o.launched_nothing,
            "The result was never computed.",
            "Launch the four kernels in the default stream first: then the result is right. After that, make it "
            "faster.",
        ),
        Cause(
            "join-missing",
            "not all four kernels are launched",
            lambda o: any(kernel(o, name) is None for name in KERNELS),
            "Each of make, left, right and join has its part in the result.",
            "Which of the four is not in the timeline?",
        ),
    ),
    requirements=(
        Requirement(
            "branch-too-early",
            "left and right start when make is done",
            lambda o: before(o, "make", "left") or before(o, "make", "right"),
            "The numbers are right here, since the virtual GPU runs kernels in the order of launches; a real one "
            "need not. "
            "Is the event recorded behind make, and does the other stream wait for it before its kernel?",
        ),
        Requirement(
            "join-too-early",
            "join starts when left and right are done",
            lambda o: before(o, "left", "join") or before(o, "right", "join"),
            "join needs both. One of them is in another stream: which mark tells that it is done, and who waits "
            "for it?",
        ),
        Requirement(
            "copied-too-early",
            "the result is copied when join is done",
            copied_too_early,
            "What is in the default stream does not take part in the order of non-blocking streams. Which call "
            "waits for "
            "one stream?",
        ),
        Requirement(
            "host-waits",
            "the host waits once, at the end, if at all",
            lambda o: f"{host_waits(o)} calls make the host wait" if host_waits(o) > 1 else "",
            "The host need not know when make is done; only the other stream has to.",
        ),
        Requirement(
            "one-after-the-other",
            "left and right run at the same time",
            side_by_side,
            "Two kernels that need nothing of each other belong in two streams; and what the one waits for must not "
            "contain the other.",
        ),
    ),
    hints=(
        "Draw the four kernels as boxes, with an arrow for each array from the one that writes it to those that "
        "read it. "
        "Arrows within a stream need nothing; each arrow between streams needs an event.",
        "make, left and join in stream one; right in stream two. Two arrows then cross: from make to right, and from "
        "right to join.",
        "After make: `hipEventRecord(made, one)`. Before right: `hipStreamWaitEvent(two, made, 0)`. After right: "
        "`hipEventRecord(turned, two)`. Before join: `hipStreamWaitEvent(one, turned, 0)`.",
    ),
)
