"""measure-copy: a program that measures the rate of a copy, judged by what stands between its events."""

import re
import statistics

import numpy as np

from gpulab.grading.exercise import Cause, Requirement
from gpulab.grading.program import ProgramCase, ProgramExercise

WARM_UP, RUNS = 3, 20
GIB = 2**30 / 1e9
WAITS = r"\b(hip(Event|Stream|Device)Synchronize|hip(Event|Stream)Query|hipMemcpy|print_sum)\b"


def case(n):
    values = np.arange(n) % 1000 + 1
    total = int(((np.arange(n) % 7 + 1) * values).sum())

    def complaint(text):
        lines = [line.strip() for line in text.strip().splitlines()]
        if f"sum {total}" not in lines:
            return f"there is no line\n  sum {total}\nbut\n  {' / '.join(lines)[:100] or 'nothing'}"
        return "" if printed(text) is not None else "there is no line `rate X GB/s` with a number X"

    return ProgramCase(arguments=(str(n),), expected=complaint, parameters={"n": n})


def printed(text):
    """The rate that the program prints; None if it prints none."""
    found = re.search(r"^\s*rate\s+(\S+)\s*GB/s\s*$", text, re.M)
    try:
        return float(found[1]) if found else None
    except ValueError:
        return None


def intervals(o):
    """(kernels, microseconds) between each two events that follow each other, if kernels are between them."""
    found, since, count = [], None, 0
    for each in o.activities:
        count += each.kind == "kernel"
        if each.kind == "event":
            if since is not None and count and each.start_us > since:
                found.append((count, each.start_us - since))
            since, count = each.start_us, 0
    return found


def before_events(o):
    """Kernels that were launched before the first event."""
    count = 0
    for each in o.activities:
        if each.kind == "event":
            break
        count += each.kind == "kernel"
    return count


def by_events(o):
    """GB/s by the events: each run reads and writes all elements."""
    return 8 * o.case.parameters["n"] / statistics.median(us / count for count, us in intervals(o)) / 1e3


def is_rate(o, factor):
    """Is the printed rate this factor times the right one, as far as its digits go?"""
    rate = printed(o.stdout)
    if rate is None or not intervals(o):
        return False
    right = factor * by_events(o)
    return abs(rate - right) <= 0.06 + 0.005 * right


def not_waited(o):
    """A complaint if no call waits for the second event before the time between the two is read."""
    read = o.code.rfind("hipEventElapsedTime")
    recorded = o.code.rfind("hipEventRecord", 0, max(read, 0))
    section = o.code[recorded:read] if 0 <= recorded < read else o.code
    if read < 0:
        return ""
    calls = re.findall(WAITS + r"\s*\(\s*([^;,]*?)\s*\)", section)
    if not re.search(WAITS, section):
        return "no call that waits is between hipEventRecord and hipEventElapsedTime"
    times = re.match(r"hipEventElapsedTime\s*\([^,;]*,\s*([^,;]*?)\s*,\s*([^,;]*?)\s*\)", o.code[read:])
    waited = [call[-1] for call in calls if call[0].startswith("hipEvent")]
    if times is None or times[1] == times[2] or len(waited) < len(re.findall(WAITS, section)):
        return ""
    return f"the host waits for {times[1]} alone" if set(waited) == {times[1]} else ""


def work_differs(o):
    times = [each.us for each in o.activities if each.kind == "kernel"]
    if not times or max(times) <= 1.01 * min(times):
        return ""
    return f"launches take from {min(times):.2f} to {max(times):.2f} microseconds (modelled)"


def wrong_rate(o):
    if is_rate(o, 1):
        return ""
    if not intervals(o):
        return "no kernel stands between two events"
    return f"the program prints {printed(o.stdout):g} GB/s; by its own events it is {by_events(o):.1f}"


exercise = ProgramExercise(
    id="measure-copy",
    title="the rate of a copy, measured soundly",
    lesson="27_measuring",
    section="What a clock includes",
    minutes=25,
    cases=(case(1000), case(100_003)),
    drawn=lambda random: [case(int(random.integers(2000, 9000))), case(int(random.integers(50_000, 100_000)))],
    causes=(
        Cause(
            "not-begun",
            "no kernel is launched yet",
            lambda o: o.launched_nothing,
            "Nothing is copied, so there is nothing to measure.",
            "Begin with the given program, and mend one mistake after the other.",
        ),
        Cause(
            "no-rate",
            "the program does not print a rate in the form that is given",
            lambda o: o.exit_code == 0 and printed(o.stdout) is None,
            "The last line of the output is `rate X GB/s`.",
            "Leave the line that prints as it is, and give rate its value before it.",
        ),
    ),
    requirements=(
        Requirement(
            "no-events",
            "the runs are between two events",
            lambda o: "no kernel stands between two events" if not intervals(o) else "",
            "A clock of the host around a launch shows how long the call takes. Which calls put a mark into the "
            "stream before the runs, and behind them?",
        ),
        Requirement(
            "cold",
            f"at least {WARM_UP} launches warm up before the first event",
            lambda o: f"{before_events(o)} launches come before the first event" if before_events(o) < WARM_UP else "",
            "The first runs load code, and clocks rise. Which launches should not count?",
        ),
        Requirement(
            "few-runs",
            f"at least {RUNS} runs are measured",
            lambda o: (
                f"{sum(count for count, _ in intervals(o))} runs are between events"
                if sum(count for count, _ in intervals(o)) < RUNS
                else ""
            ),
            "One run of a few microseconds is near the resolution of an event, and says nothing of the spread.",
        ),
        Requirement(
            "work-differs",
            "all launches do the same work",
            work_differs,
            "Is each run a copy of all n elements?",
        ),
        Requirement(
            "not-waited",
            "the host waits for the second event before it reads the time",
            not_waited,
            "On hardware the event has not happened yet, and hipEventElapsedTime returns hipErrorNotReady. Which call "
            "waits for an event?",
        ),
        Requirement(
            "one-direction",
            "bytes that are read and bytes that are written both count",
            lambda o: wrong_rate(o) if is_rate(o, 0.5) or is_rate(o, 0.5 / GIB) else "",
            "A copy moves each byte twice. How many bytes are that for n floats?",
        ),
        Requirement(
            "binary-gigabytes",
            "a GB is 10^9 bytes",
            lambda o: wrong_rate(o) if is_rate(o, 1 / GIB) else "",
            "Which number is the rate divided by? 1 << 30 bytes are a GiB.",
        ),
        Requirement(
            "wrong-rate",
            "the rate is that of the runs between the events",
            wrong_rate,
            "Write down the units: hipEventElapsedTime gives milliseconds, for all runs together.",
        ),
    ),
    hints=(
        "List what is wrong with the given program: what does its clock see, which launch is measured, how many, and "
        "which bytes and gigabytes are counted?",
        "Create two events. Launch some times, record the first event, launch many times, record the second event, and "
        "wait for it. `hipEventElapsedTime(&ms, begin, end)` gives the milliseconds of all runs between them.",
        "With 5 launches before and 50 between the events: `CHECK(hipEventSynchronize(end));`, then "
        "`CHECK(hipEventElapsedTime(&ms, begin, end));`, then "
        "`rate = 2.0 * n * sizeof(float) * runs / (ms * 1e-3) / 1e9;`",
    ),
)
