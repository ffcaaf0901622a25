"""overlap-in-chunks: a program whose copies and kernels overlap: pinned memory, chunks, streams."""

import re

import numpy as np

from gpulab.grading.exercise import Cause, Requirement
from gpulab.grading.program import ProgramCase, ProgramExercise

LARGE = 1_000_003
ROUNDS = 600
SHARE = 0.75

ONE_PIECE_US = {"gfx942": 167.3, "gfx1100": 464.0}
"""Modelled time of the wrong answer as-given, the program as it is given, for LARGE elements."""


def results(n):
    """What `scramble` makes of 0 ... n - 1: ROUNDS steps of x -> a x + c modulo 2**32 are one such step."""
    factor, offset = 1, 0
    for _ in range(ROUNDS):
        factor, offset = factor * 1664525 % 2**32, (offset * 1664525 + 1013904223) % 2**32
    return np.arange(n, dtype="uint32") * np.uint32(factor) + np.uint32(offset)


def sum_text(values):
    weights = np.arange(1, len(values) + 1, dtype="uint64")
    return f"sum {int((weights * values.astype('uint64')).sum(dtype='uint64'))}\n"


def case(n):
    values = results(n)
    return ProgramCase(
        arguments=(str(n),), expected=sum_text(values), parameters={"n": n}, computed=(values.astype("int64").tolist(),)
    )


def rest_left(o):
    """Is the output that of a program which leaves out what is beyond `chunks` equal parts, for some number of them?"""
    n = o.case.parameters["n"]
    for chunks in range(2, 65):
        done = n // chunks * chunks
        values = results(n)
        values[done:] = np.arange(done, n, dtype="uint32")
        if done < n and o.stdout.split() == sum_text(values).split():
            return True
    return False


def work(o):
    return [each for each in o.activities if each.kind in ("copy", "kernel", "fill")]


def copied(o, direction):
    """Bytes copied in this direction."""
    return sum(each.bytes for each in o.activities if each.kind == "copy" and each.name == direction)


def span(o):
    """From the first start to the last end of copies and kernels, in modelled microseconds."""
    return max(each.end_us for each in work(o)) - min(each.start_us for each in work(o))


def too_slow(o):
    return span(o) > SHARE * ONE_PIECE_US[o.arch]


def times(o):
    return (
        f"{span(o):.0f} microseconds (modelled) from the first start to the last end; as given it takes "
        f"{ONE_PIECE_US[o.arch]:.0f}, and at most {SHARE:g} times that is allowed"
    )


def large(each):
    return each.parameters["n"] == LARGE


PINS = r"\b(hipHostMalloc|hipHostAlloc|hipMallocHost|hipHostRegister|hipMemAllocHost)\b"
WAITS = r"\b(hipDeviceSynchronize|hipStreamSynchronize|hipEventSynchronize|hipEventQuery|hipStreamQuery|hipMemcpy)\b"
FREED_FIRST = r"(?s)\bhipFree\s*\(.*\bprint_sum\s*\(\s*n\b"
"""hipFree waits for the device, so that reading after it is allowed."""


PRINTED = r"\bprint_sum\s*\(\s*n\b"
"""Where the results are read."""


def waits(o):
    """Does a call that waits stand in the source before the results are read?"""
    read = [match.start() for match in re.finditer(PRINTED, o.code)]
    return re.search(WAITS, o.code[: read[-1]] if read else o.code) is not None or o.uses(FREED_FIRST)


def not_in_order(o):
    """A complaint if nothing orders a kernel behind a copy to the device, or a copy back behind a kernel."""
    before = {"kernel": "host to device", "device to host": "kernel"}
    said = {"kernel": "a kernel runs behind no copy to the device", "device to host": "a copy back runs behind no kernel"}
    if len(re.findall(WAITS, o.code)) > 1 or any(each.graph is not None for each in o.activities):
        return ""  # the host, or a graph, may order them
    names = ["kernel" if each.kind == "kernel" else each.name for each in o.activities]
    for place, name in enumerate(names):
        if name in before and not any(
            other == before[name] and o.comes_after(earlier, place) for earlier, other in enumerate(names[:place])
        ):
            return f"{said[name]}: neither its stream nor an event makes it wait (activity {place + 1} of {len(names)})"
    return ""


def waits_for_some(o):
    """A complaint if the only calls that wait name fewer streams than there are with copies back."""
    calls = re.findall(r"\bhipStreamSynchronize\s*\(\s*([^;]*?)\s*\)", o.code)
    others = WAITS.replace("hipStreamSynchronize|", "")
    loops = set(re.findall(r"\bfor\s*\(\s*[\w ]*?(\w+)\s*=", o.code))
    fixed = [re.fullmatch(r"\w+\[\s*(?:\d+|(\w+)\s*-\s*1)\s*\]", call) for call in calls]
    if not calls or not all(fixed) or any(match[1] in loops for match in fixed):
        return ""
    if o.uses(others) or o.uses(FREED_FIRST) or o.uses("hipStreamWaitEvent"):
        return ""
    streams = {each.stream for each in o.activities if each.kind == "copy" and each.name == "device to host"}
    return f"{len(streams)} streams copy back, and the host waits for {len(calls)}" if len(calls) < len(streams) else ""


exercise = ProgramExercise(
    id="overlap-in-chunks",
    title="copies and kernels at the same time",
    lesson="09_streams",
    section="A pipeline of chunks",
    minutes=30,
    cases=(case(1000), case(LARGE)),
    drawn=lambda random: [case(int(n)) for n in random.integers(300, 5000, 2)],
    seconds=60.0,
    instruction_limit=50_000_000,
    causes=(
        Cause(
            "not-begun",
            "no kernel is launched yet",
            lambda o: o.launched_nothing,
            "The elements still have the values of the host.",
            "Begin with one chunk: copy in, launch, copy out, in one stream. Then make more of it.",
        ),
        Cause(
            "whole-array-each-time",
            "a launch works on more than its own chunk",
            lambda o: (
                any(launch.grid[0] * launch.block[0] >= 2 * o.case.parameters["n"] for launch in o.launches)
                or (
                    len(o.launches) > 1
                    and all(launch.grid[0] * launch.block[0] >= o.case.parameters["n"] for launch in o.launches)
                )
            ),
            "Elements are then used before they arrived, or scrambled several times.",
            "Which size and which pointer belong to the chunk that this launch is for?",
        ),
        Cause(
            "rest-forgotten",
            "the elements after the last full chunk are left out",
            rest_left,
            "The number of elements is not a multiple of the number of chunks.",
            "What are n / chunks and n % chunks here? Which chunk has the elements that are left over?",
        ),
    ),
    requirements=(
        Requirement(
            "not-copied",
            "every element is copied to the device and back",
            lambda o: (
                f"{copied(o, 'host to device'):,} bytes are copied to the device and {copied(o, 'device to host'):,} "
                f"back, of {4 * o.case.parameters['n']:,} each"
                if min(copied(o, "host to device"), copied(o, "device to host")) < 4 * o.case.parameters["n"]
                else ""
            ),
            "A kernel can work in pinned memory of the host, over the link, which the virtual GPU's model does "
            "not know. "
            "Here the kernels are to work in device memory.",
        ),
        Requirement(
            "host-does-not-wait",
            "the host waits before it reads the results",
            lambda o: (
                waits_for_some(o) if waits(o) else "no call that waits for the device stands before the results are read"
            ),
            "The virtual GPU has done its work by then; a real one may not have. Which call waits until the copies "
            "back are done, in all streams?",
        ),
        Requirement(
            "order-by-chance",
            "a kernel waits for its copy to the device, and a copy back for its kernel",
            not_in_order,
            "The virtual GPU does all work in the order of the calls; a real one keeps to the order of each stream, "
            "and to events. In which stream is each of the three steps of a chunk?",
            shrinks=False,
        ),
        Requirement(
            "pageable",
            "the host's memory is pinned",
            lambda o: (
                f"copies are asynchronous, no memory is pinned, and it takes {times(o)}"
                if too_slow(o) and o.uses("hipMemcpyAsync") and not o.uses(PINS)
                else ""
            ),
            "Copies from and to pageable memory make the host wait. Which call gives memory that stays in its place?",
            when=large,
        ),
        Requirement(
            "default-stream",
            "nothing is in the default stream that is to overlap",
            lambda o: (
                f"a kernel is in the default stream, and it takes {times(o)}"
                if too_slow(o)
                and any(each.kind == "kernel" and each.stream == 0 for each in work(o))
                and any(each.kind == "copy" and each.stream > 2 for each in work(o))
                else ""
            ),
            "What is in the default stream waits for all others. Which is the fourth part of <<<...>>>?",
            when=large,
        ),
        Requirement(
            "no-overlap",
            f"copies and kernels overlap: at most {SHARE:g} times as long as the program that is given",
            lambda o: times(o) if too_slow(o) else "",
            "Let gpulab draw the timeline. Which copies could run while a kernel works, and what keeps them from it?",
            when=large,
        ),
    ),
    hints=(
        "Three things are needed together: the host's memory is pinned, the copies are asynchronous, and there "
        "are several "
        "streams, with a part of the elements in each.",
        "Allocate with hipHostMalloc instead of a std::vector. Make four streams. For each: hipMemcpyAsync of its "
        "part to the "
        "device, the launch with <<<grid, block, 0, stream>>>, hipMemcpyAsync of its part back. Wait once, at the end.",
        "Part c begins at `(long long)n * c / chunks` and ends where part c + 1 begins, so that nothing is left "
        "over. After the loop: `CHECK(hipDeviceSynchronize());` then `print_sum`.",
    ),
)
