"""one-die: which block does which tile of a blur, judged by the traffic between eight L2 caches and memory."""

import numpy as np

from gpulab.grading import requirements
from gpulab.grading.case import Array, Case, Value, blocks_for, distinct, sentinel
from gpulab.grading.exercise import Cause, Exercise

DIES = {64: 8, 32: 1}
"""Of the two architectures of the course, by wave size: MI300X and RX 7900 XTX."""


def sums(data, count=9):
    rows = data.shape[0] - 8
    return sum(data[k : k + rows].astype("float64") for k in range(count)).astype("float32")


def make(parameters, random):
    width, height = parameters["width"], parameters["height"]
    data = distinct(random, (height, width))
    return Case(
        parameters,
        grid=(blocks_for(width, 64) * blocks_for(height - 8, 4), 1, 1),
        block=(64, 4, 1),
        arguments=(
            Value("width", np.int32(width)),
            Value("height", np.int32(height)),
            Value("dies", np.int32(DIES[parameters["wave"]])),
            Array("in", data),
            Array("out", sentinel("float32", (height - 8, width)), sums(data)),
        ),
    )


def large(case):
    """Is this an image whose traffic counts, of whole tiles? Rows that end within a cache line cost more."""
    width, height = case.parameters["width"], case.parameters["height"]
    return width % 64 == 0 and width * height >= 62_000


def drawn(random):
    """Two small images, a narrow one of many tiles, and one whose traffic counts, of three to nine tiles in a row."""
    small = [{"width": int(random.integers(1, 150)), "height": int(random.integers(9, 70))} for _ in range(2)]
    narrow = {"width": int(random.integers(1, 6)), "height": int(random.integers(1040, 1200))}
    width = 64 * int(random.choice((3, 5, 6, 7, 9)))
    return (*small, narrow, {"width": width, "height": 64_000 // width + int(random.integers(0, 12))})


def whole_tiles(o):
    """Are the elements that were not written exactly those of some tiles?"""
    missing = o.unwritten_indices("out")
    if not missing or missing != o.wrong_indices("out"):
        return False
    width = o.case.parameters["width"]
    rows, columns = o.case.array("out").data.shape
    tiles = {(index // width // 4, index % width // 64) for index in missing}
    full = sum(min(4, rows - 4 * y) * min(64, columns - 64 * x) for y, x in tiles)
    return full == len(missing)


exercise = Exercise(
    id="one-die",
    title="neighbours on one XCD",
    lesson="07_hierarchy",
    section="One L2, or eight",
    kernel="blur",
    signature="int width, int height, int dies, const float* in, float* out",
    minutes=25,
    make=make,
    by_wave=True,
    owner=lambda case, index: None,
    cases=(
        {"width": 64, "height": 40},
        {"width": 130, "height": 53},
        {"width": 65, "height": 13},
        {"width": 3, "height": 12},
        {"width": 1, "height": 9},
        {"width": 3, "height": 1100},  # more than 255 tiles
        {"width": 576, "height": 116},
        {"width": 320, "height": 200},
    ),
    drawn=drawn,
    smallest={"width": 1, "height": 9},
    shown={"width": 4, "height": 12},
    causes=(
        Cause(
            "tiles-left-out",
            "some tiles are done by no block",
            whole_tiles,
            "The number of tiles need not be a multiple of the number of XCDs, and then some XCDs have one tile "
            "more than others.",
            "Write down for 11 tiles and 4 XCDs which block does which tile. Does every tile occur once?",
        ),
        Cause(
            "missing-guard",
            "threads beside or below the image work too",
            lambda o: bool(o.outside("out")) or o.fault is not None,
            "Tiles at the edges are larger than the rest of the image, and the window of a row reaches eight rows "
            "further down.",
            "Each thread needs an x below width, and a y with y + 8 below height.",
            guard=("width", "height"),
        ),
        Cause(
            "window-too-short",
            "the sum has eight rows, not nine",
            lambda o: o.looks_like("out", lambda case: sums(case.array("in").data, 8)),
            "Rows y to y + 8 are nine rows.",
            "Count the additions for one pixel.",
        ),
    ),
    requirements=(
        requirements.memory_traffic(
            at_most=lambda case, arch: 1.4 * sum(array.data.nbytes for array in case.arrays),
            when=large,
            title="the L2s read and write at most 1.4 times the bytes of both images",
            next_step="Take an image of 9 tiles in a row and 8 XCDs. On which XCD is tile 0, and on which is the tile "
            "below it?",
        ),
        requirements.work_shared(),
    ),
    hints=(
        "Blocks b, b + dies, b + 2 * dies, ... are on one XCD. Give these blocks tiles that follow one another.",
        "`die = blockIdx.x % dies`, and `turn = blockIdx.x / dies` says how many blocks this XCD had before. Each "
        "XCD gets a part of the tiles for itself: where does it begin?",
        "`each = tiles / dies, rest = tiles % dies`: the first `rest` XCDs have one tile more. Then `tile = die * "
        "each + min(die, rest) + turn`.",
    ),
)
