"""image-mirror: swap left and right in an image that lies in memory row by row."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, distinct, sentinel
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.requirements import work_shared


def make(parameters, random):
    width, height, block = parameters["width"], parameters["height"], parameters["block"]
    image = distinct(random, (height, width), "int32")
    threads = (block, max(block // 2, 1), 1)
    return Case(
        parameters,
        grid=(blocks_for(width, threads[0]), blocks_for(height, threads[1]), 1),
        block=threads,
        arguments=(
            Value("width", np.int32(width)),
            Value("height", np.int32(height)),
            Array("in", image),
            Array("out", sentinel("int32", (height, width)), image[:, ::-1].copy()),
        ),
    )


def reads(case, name, index):
    """The same row, the mirrored column."""
    width = case.parameters["width"]
    return [("in", index - index % width + width - 1 - index % width)]


def owner(case, index):
    """The thread with x = column it reads, y = row: it writes the mirrored column."""
    width = case.parameters["width"]
    row, column = divmod(index, width)
    x = width - 1 - column
    return (x // case.block[0], row // case.block[1], 0), (x % case.block[0], row % case.block[1], 0)


def inside(x, y, width, height):
    return x < width and y < height


def swapped(case):
    """x taken from the y indices and y from the x indices."""
    width, height = case.parameters["width"], case.parameters["height"]
    image, out = case.array("in").data, case.array("out").data.copy()
    for i in range(case.grid[1] * case.block[1]):
        for j in range(case.grid[0] * case.block[0]):
            x, y = i, j
            if inside(x, y, width, height):
                out[y, width - 1 - x] = image[y, x]
    return out


def extents(o):
    return o.case.parameters["width"], o.case.parameters["height"]


def writes(o, place):
    """Did each thread that was seen, all inside the image, write to out[place(x, y, w, h)]?

    At least one must have written to another place than it should.
    """
    width, height = extents(o)
    elsewhere = False
    for index, (x, y, _) in o.numbers("out"):
        if not inside(x, y, width, height) or place(x, y, width, height) != index:
            return False
        elsewhere = elsewhere or index != y * width + width - 1 - x
    return elsewhere


def lets_through(o, outside):
    """Were threads of these seen at work, all threads where they belong, and is no element left out?"""
    width, height = extents(o)
    seen = o.numbers("out")
    belongs = all(index in (y * width + x, y * width + width - 1 - x) for index, (x, y, _) in seen)
    at_work = any(outside(x, y, width, height) for _, (x, y, _) in seen)
    return belongs and at_work and not o.left_out()


exercise = Exercise(
    id="image-mirror",
    title="mirror an image",
    lesson="02_simt",
    section="Two dimensions",
    kernel="mirror",
    signature="int width, int height, const int* in, int* out",
    minutes=15,
    make=make,
    cases=(
        {"width": 33, "height": 10, "block": 8},
        {"width": 8, "height": 4, "block": 8},
        {"width": 5, "height": 3, "block": 8},
        {"width": 1, "height": 1, "block": 8},
        {"width": 10, "height": 33, "block": 16},
        {"width": 100, "height": 60, "block": 16},
        {"width": 1, "height": 300, "block": 16},
        {"width": 300, "height": 1, "block": 16},
        {"width": 0, "height": 0, "block": 8},
    ),
    smallest={"width": 1, "height": 1, "block": 2},
    owner=owner,
    reads=reads,
    requirements=(work_shared(),),
    causes=(
        Cause(
            "rows-exchanged-too",
            "the rows are in the other order, too: the image is turned by half a turn",
            lambda o: o.looks_like("out", lambda case: case.array("in").data[::-1, ::-1]),
            "Every row stays where it is. Only within a row left and right are exchanged.",
            "In which row does the pixel stand that your kernel writes for column 0 of row 0?",
        ),
        Cause(
            "swapped-axes",
            "x and y are exchanged: x counts rows where it should count columns",
            lambda o: o.looks_like("out", swapped),
            "blockIdx.x, blockDim.x and threadIdx.x belong together and run along a row; those with y run down.",
            "Name for each of your two numbers which direction of the image it goes.",
        ),
        Cause(
            "wrong-pitch",
            "rows are taken to be height elements apart",
            lambda o: writes(o, lambda x, y, w, h: y * h + w - 1 - x),
            "The next row begins a whole row further on, and a row has width elements.",
            "Draw an image of 2 rows and 3 columns and number its elements.",
            explains=("race",),
        ),
        Cause(
            "column-off-by-one",
            "each element is one column too far to the right",
            lambda o: writes(o, lambda x, y, w, h: y * w + w - x),
            "The columns are 0 to width - 1, so column 0 has to go to width - 1, not to width.",
            "Put x = 0 into your formula.",
        ),
        Cause(
            "missing-row-guard",
            "threads below the last row work too: the guard lets them through",
            lambda o: lets_through(o, lambda x, y, w, h: y >= h),
            "The grid has whole blocks in both directions, so both numbers can be too large.",
            "Which threads does your condition let through when height is 1?",
        ),
        Cause(
            "missing-column-guard",
            "threads right of the last column work too: the guard lets them through",
            lambda o: lets_through(o, lambda x, y, w, h: x >= w and y < h),
            "With an x of width or more the address is mostly not outside the array: it is an element of another row, "
            "which is overwritten.",
            "Which threads does your condition let through when width is 1?",
            explains=("race",),
        ),
        Cause(
            "wrong-axis",
            "the image is turned upside down instead of left to right",
            lambda o: o.looks_like("out", lambda case: case.array("in").data[::-1, :]),
            "A mirror image keeps every row where it is.",
            "Which of the two numbers has to be changed, x or y?",
        ),
    ),
    hints=(
        "Each thread moves one element. It needs two numbers: x along a row and y down the image, each made like "
        "the number i in one dimension, with .x or .y throughout.",
        "The element in row y and column x has index y * width + x. Where must column 0 go, and where column "
        "width - 1? And mind that both x and y can be too large.",
        "`out[y * width + (width - 1 - x)] = in[y * width + x];` under the condition `x < width && y < height`.",
    ),
)
