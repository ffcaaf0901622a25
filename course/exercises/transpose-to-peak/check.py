"""transpose-to-peak: the transpose of a matrix of any size, as fast as a copy: the capstone on memory."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, distinct, sentinel
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.requirements import bank_conflicts, memory_lines, modelled_time

TILE = 64
LARGE = 1536
COPY_US = {"gfx942": 4.27, "gfx1100": 14.20}
"""Modelled time of a copy of 1,536 x 1,536 floats with float4; tests/course/test_transpose.py computes it."""
OF_COPY = 1.3


def make(parameters, random):
    n, m = parameters["n"], parameters["m"]
    if n * m < 1 << 18:
        data = distinct(random, (n, m))
    else:  # drawing so many numbers takes longer than the launch
        data = np.arange(1, n * m + 1, dtype="float32").reshape(n, m)
    return Case(
        parameters,
        grid=(blocks_for(m, TILE), blocks_for(n, TILE), 1),
        block=(256, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Value("m", np.int32(m)),
            Array("in", data),
            Array("out", sentinel("float32", (m, n)), np.ascontiguousarray(data.T)),
        ),
    )


def whole_tiles(case):
    n, m = case.parameters["n"], case.parameters["m"]
    return n > 0 and m > 0 and n % TILE == 0 and m % TILE == 0


def unturned(case):
    """Each tile at its new place, but not transposed itself; places outside of the matrix count as 0."""
    n, m = case.parameters["n"], case.parameters["m"]
    padded = np.zeros((-(-n // TILE) * TILE, -(-m // TILE) * TILE), dtype="float32")
    padded[:n, :m] = case.array("in").data
    tiles = padded.reshape(padded.shape[0] // TILE, TILE, -1, TILE).transpose(2, 1, 0, 3)
    return tiles.reshape(padded.shape[1], padded.shape[0])[:m, :n]


def at_old_place(case):
    """What comes out if each tile is transposed, and stored where it was; beyond the input are zeros."""
    n, m = case.parameters["n"], case.parameters["m"]
    down, across = -(-n // TILE) * TILE, -(-m // TILE) * TILE
    padded = np.zeros((down, across), dtype="float32")
    padded[:n, :m] = case.array("in").data
    tiles = padded.reshape(down // TILE, TILE, -1, TILE).transpose(0, 3, 2, 1).reshape(down, across)
    out, height, width = case.array("out").data.copy(), min(down, m), min(across, n)
    out[:height, :width] = tiles[:height, :width]
    return out


def rows_of_n(case):
    """What comes out if rows of the input are taken to have n elements."""
    n, m = case.parameters["n"], case.parameters["m"]
    flat, row, column = case.array("in").data.ravel(), np.arange(n), np.arange(m)[:, None]
    return flat[np.minimum(row * n + column, flat.size - 1)]


def whole_tiles_right(o):
    n, m = o.case.parameters["n"], o.case.parameters["m"]
    return not o.wrong("out")[: m // TILE * TILE, : n // TILE * TILE].any()


def read_past_the_end(o):
    """Was an element behind the input's last one read, though all whole tiles are right?"""
    place = o.read_outside()
    return place is not None and place[0] == "in" and place[1] >= o.case.array("in").data.size and whole_tiles_right(o)


def edges_alone(o):
    """Was something not written, or something written outside, though all whole tiles are right?"""
    ended = o.fault is None or o.fault.kind == "out of bounds" and o.fault.access == "write"
    return ended and whole_tiles_right(o) and bool(o.unwritten_indices("out") or o.outside("out"))


exercise = Exercise(
    id="transpose-to-peak",
    title="a transpose as fast as a copy",
    lesson="06_lds",
    section="Transpose through a tile",
    kernel="transpose",
    signature="int n, int m, const float* in, float* out",
    minutes=60,
    make=make,
    cases=(
        {"n": 70, "m": 130},
        {"n": 64, "m": 64},
        {"n": 256, "m": 512},
        {"n": 1, "m": 1000},
        {"n": 100, "m": 36},
        {"n": 124, "m": 188},
        {"n": 3, "m": 2},
        {"n": 1, "m": 1},
        {"n": 0, "m": 5},
        {"n": LARGE, "m": LARGE},
    ),
    smallest={"n": 1, "m": 1},
    fixed_sizes="blocks always have 256 threads",
    shown={"n": 3, "m": 5},
    owner=lambda case, index: None,
    requirements=(
        memory_lines(
            minimum=lambda case: 2 * case.parameters["n"] * case.parameters["m"] / 32,
            when=whole_tiles,
            next_step="run.accesses() shows how many lines each load and store requests. Which of the two "
            "jumps? A tile in LDS "
            "lets both run along rows, 32 floats or more.",
        ),
        bank_conflicts(
            when=whole_tiles,
            next_step="run.lds_banks() shows the access that has them. How many dwords apart are neighbouring "
            "lanes there?",
        ),
        modelled_time(
            "too-slow",
            at_most=lambda case, arch: OF_COPY * COPY_US[arch],
            when=lambda case: case.parameters["n"] == case.parameters["m"] == LARGE,
            title="1,536 x 1,536 floats in at most 1.3 times the modelled time of a copy",
            next_step="Look at run[0].time.limiter and, in transpose.isa, at the waits between loads. How many "
            "loads has a "
            "wave under way at a time? Start all of them before you use the first one.",
        ),
    ),
    causes=(
        Cause(
            "outside-the-matrix",
            "the last tiles reach beyond the end of the input",
            read_past_the_end,
            "If n or m is no multiple of 64, some tiles are not whole.",
            "Which condition must hold for row and column of the input before it is read?",
        ),
        Cause(
            "rows-of-n",
            "rows of the input are taken to have n elements",
            lambda o: o.looks_like("out", rows_of_n),
            "The input has n rows of m elements each.",
            "In the input, how far apart are an element and the one below it?",
        ),
        Cause(
            "tiles-not-turned",
            "the tiles are at their new places, but each of them is not transposed itself",
            lambda o: o.looks_like("out", unturned),
            "What was a row of the tile when it was written must be a column when it is read.",
            "Which of the two indices of the tile goes with the lane when you write to LDS, and which when you read?",
        ),
        Cause(
            "blocks-not-exchanged",
            "each tile is transposed, but stands at its old place",
            lambda o: o.looks_like("out", at_old_place),
            "The tile in row 1 and column 0 of the input belongs to row 0 and column 1 of the output.",
            "From which row and which column of out on does block (1, 0) store its tile?",
        ),
        Cause(
            "guard-of-the-input",
            "whole tiles are right, but at the edges elements are missing or written outside",
            edges_alone,
            "In the output rows and columns are exchanged: out has m rows of n elements.",
            "Which condition must hold for row and column of the *output* before it is written?",
        ),
    ),
    hints=(
        "Three steps: a block reads its tile along the rows of in, waits at a barrier, and writes along the "
        "rows of out. With 256 "
        "threads and 64 x 64 floats each thread does 16. Each access needs its own guard.",
        "Reading columns of the tile, lanes are a row of the tile apart. With rows of 65 floats, or a swizzle "
        "x ^ y in tiles of 32 "
        "x 32, no two lanes use the same bank.",
        "If it is right but too slow: load all 16 floats into an array of registers (`float value[16]`, loops with "
        "`#pragma unroll`), and only then write them to LDS. A wave then has 16 loads in flight, not one.",
    ),
)
