"""sliding-window: a vertical sum of nine pixels in strips of 32 rows, judged by the cache lines that are moved."""

import numpy as np

from gpulab.grading import requirements
from gpulab.grading.case import Array, Case, Value, blocks_for, distinct, sentinel
from gpulab.grading.exercise import Cause, Exercise


def window_sum(data, first=0, last=8):
    """Sums of the rows y + first ... y + last, for each y that has rows y ... y + 8."""
    rows = data.shape[0] - 8
    return sum(data[k : k + rows].astype("float64") for k in range(first, last + 1)).astype("float32")


def make(parameters, random):
    width, height = parameters["width"], parameters["height"]
    data = distinct(random, (height, width))
    return Case(
        parameters,
        grid=(blocks_for(width, 64), blocks_for(height - 8, 32), 1),
        block=(64, 1, 1),
        arguments=(
            Value("width", np.int32(width)),
            Value("height", np.int32(height)),
            Array("in", data),
            Array("out", sentinel("float32", (height - 8, width)), window_sum(data)),
        ),
    )


def owner(case, index):
    width = case.parameters["width"]
    y, x = divmod(index, width)
    if not 0 <= y < case.parameters["height"] - 8:
        return None
    return (x // 64, y // 32, 0), (x % 64, 0, 0)


def later_rows_wrong(o):
    """Only rows that are not the first of their strip are wrong, and all of these were written."""
    width = o.case.parameters["width"]
    rows = {index // width for index in o.wrong_indices("out")}
    ended = o.fault is None and not o.left_out()
    return ended and bool(rows) and not any(row % 32 == 0 for row in rows)


def reads_below(o):
    """Did a thread of the last strip, with a column of its own, read after the last row, and was all else right?"""
    place, fault = o.read_outside(), o.fault
    if place is None or fault is None or fault.thread is None or o.outside("out"):
        return False
    x = fault.workgroup[0] * 64 + fault.thread[0]
    last = fault.workgroup[1] == o.case.grid[1] - 1 and x < o.case.parameters["width"]
    return last and place[0] == "in" and place[1] >= o.case.array("in").data.size and not o.wrong("out").any()


def in_a_column(o):
    """Does the thread whose access stopped the kernel lie in a column of the image?"""
    number = o.faulting_number()
    return number is not None and number[0] < o.case.parameters["width"]


exercise = Exercise(
    id="sliding-window",
    title="a window that slides",
    lesson="07_hierarchy",
    section="Reuse",
    kernel="columns",
    signature="int width, int height, const float* in, float* out",
    minutes=30,
    make=make,
    owner=owner,
    cases=(
        {"width": 64, "height": 40},
        {"width": 65, "height": 41},
        {"width": 3, "height": 12},
        {"width": 1, "height": 9},
        {"width": 100, "height": 73},
        {"width": 256, "height": 264},
    ),
    smallest={"width": 1, "height": 9},
    shown={"width": 4, "height": 12},
    causes=(
        Cause(
            "reads-past-end",
            "the window reads below the last row of the image",
            reads_below,
            "The last strip may have fewer than 32 rows, and the window of a row reaches eight rows further down.",
            "Which row of in does the window need next when y is the last row of out, height - 9?",
        ),
        Cause(
            "row-too-far",
            "rows below the image are read",
            lambda o: (o.read_outside() or ("", -1))[1] >= o.case.array("in").data.size and in_a_column(o),
            "The thread that is named has a column. A row of out needs the nine rows of in from its own on; the last "
            "row of in has the number height - 1.",
            "Which is the last row of out, and which row of in is the last that it needs?",
        ),
        Cause(
            "missing-guard",
            "threads outside of the image work too",
            lambda o: (
                (bool(o.written_past("out")) or (o.fault is not None and o.case.parameters["width"] % 64 != 0))
                and not in_a_column(o)
            ),
            "A width that is no multiple of 64 leaves threads without a column.",
            "What should a thread do whose x is width or more?",
            guard=("width",),
        ),
        Cause(
            "window-too-short",
            "the sum has eight rows, not nine",
            lambda o: (
                o.looks_like("out", lambda case: window_sum(case.array("in").data, 0, 7))
                or o.looks_like("out", lambda case: window_sum(case.array("in").data, 1, 8))
            ),
            "Rows y to y + 8 are nine rows.",
            "Count the additions for one pixel of out.",
        ),
        Cause(
            "mean-not-sum",
            "this is the mean of the nine, not their sum",
            lambda o: o.looks_like("out", lambda case: window_sum(case.array("in").data) / 9),
            "The lesson's blur divides by nine; here it is the sum.",
            "One operation is too much.",
        ),
        Cause(
            "window-does-not-slide",
            "the first row of each strip is right, the rows below it are not",
            later_rows_wrong,
            "Going on by one row, the window must lose its top pixel and gain one below.",
            "Write down for a column 1, 2, 3, ... what the window holds for y = 0, and what for y = 1.",
        ),
    ),
    requirements=(
        requirements.memory_lines(
            minimum=lambda case: (2 * case.parameters["height"] - 8) * -(-case.parameters["width"] // 32),
            at_most=1.25,
            when=lambda case: case.parameters["width"] % 64 == 0 and case.parameters["height"] >= 264,
            next_step="How often does your loop load the same pixel? run.accesses() counts the lines of each load.",
        ),
    ),
    hints=(
        "Before the first row, load eight pixels of the column. In each row load only the ninth, then sum, store, and "
        "move the window on.",
        "Keep the window in an array of nine floats and shift it by one place in each row, in loops with #pragma "
        "unroll: then every index is constant, and the array is nine registers.",
        "`float window[9];` load the places 0 to 7 of it; for each y: `window[8] = in[(y + 8) * width + x];` sum "
        "all nine and store; then `window[k] = window[k + 1];` for k from 0 to 7.",
    ),
)
