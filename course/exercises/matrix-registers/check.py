"""matrix-registers: the registers of D of a matrix instruction become a matrix, row by row."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, distinct, no_inputs, sentinel
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.requirements import work_shared


def place(row, column, wave):
    """(lane, register) of D[row][column]: MFMA and WMMA with f32 results (AMD's Matrix Instruction Calculator)."""
    return (column + 16 * (row // 4), row % 4) if wave == 64 else (column + 16 * (row % 2), row // 2)


def order(wave):
    """For each element of D, row by row, its index in `held`."""
    held_by = (place(row, column, wave) for row in range(16) for column in range(16))
    return np.array([lane * (256 // wave) + register for lane, register in held_by])


def make(parameters, random):
    tiles = parameters["tiles"]
    held = distinct(random, 256 * tiles, whole=tiles == 1)
    rows = held.reshape(tiles, 256)[:, order(parameters["wave"])].ravel()
    return Case(
        parameters,
        grid=(max(tiles, 1), 1, 1),
        block=(256, 1, 1),
        arguments=(
            Value("tiles", np.int32(tiles)),
            Array("held", held),
            Array("d", sentinel("float32", 256 * tiles), rows),
        ),
    )


def looks(indices):
    """A test: is d what one gets by fetching element `indices(wave)` of each tile of `held`?"""

    def test(o):
        tiles = o.case.parameters["tiles"]
        held = o.case.array("held").data.reshape(tiles, 256)
        return tiles > 0 and o.looks_like("d", lambda case: held[:, indices(o.wave_size)].ravel())

    return test


def by_register(wave):
    """`held` taken as if all lanes' first registers came first."""
    inside = order(wave)
    lane, register = inside // (256 // wave), inside % (256 // wave)
    return register * wave + lane


def of_four(wave):
    """`held` taken as if each lane had four registers."""
    registers = 256 // wave
    return order(wave) // registers * 4 + order(wave) % registers


exercise = Exercise(
    id="matrix-registers",
    title="the registers of D",
    lesson="15_matrix_cores",
    section="Which lane holds what",
    kernel="unpack",
    signature="int tiles, const float* held, float* d",
    minutes=15,
    make=make,
    by_wave=True,
    cases=({"tiles": 1}, {"tiles": 2}, {"tiles": 5}, {"tiles": 0}),
    smallest={"tiles": 1},
    reads=no_inputs,
    shown={"tiles": 1},
    causes=(
        Cause(
            "copied",
            "the registers are copied in the order of held",
            looks(lambda wave: np.arange(256)),
            "Neighbours in held are registers of one lane. In D they are one below the other, or two rows apart.",
            "Where does register 1 of lane 0 belong? The lesson's table says which row and column.",
        ),
        Cause(
            "transposed",
            "this is D with rows and columns exchanged",
            looks(lambda wave: order(wave).reshape(16, 16).T.ravel()),
            "The lane's number modulo 16 is the column; the register and the rest of the lane's number give the row.",
            "Of which of row and column does the lane's number depend on all 16 values?",
        ),
        Cause(
            "layout-of-the-other-gpu",
            "the places of MFMA are used for WMMA, or those of WMMA for MFMA",
            looks(lambda wave: order(96 - wave)),
            "The two architectures have different layouts: with MFMA one lane has four neighbouring rows, with "
            "WMMA every other row.",
            "What is warpSize on each, and where do you use it?",
        ),
        Cause(
            "registers-first",
            "held is read as if the first registers of all lanes came first",
            looks(by_register),
            "All registers of lane 0 come first, then all of lane 1: the lane's number is multiplied, the register's "
            "is not.",
            "Write the index of register 1 of lane 0, and of register 0 of lane 1, by the exercise's formula.",
        ),
        Cause(
            "first-tile-alone",
            "each tile is what the first one should be",
            lambda o: o.looks_like("d", lambda case: np.tile(case.array("d").wanted[:256], case.parameters["tiles"])),
            "The registers of tile t begin at held[t * 256].",
            "Which index of held does your kernel read for tile 1?",
        ),
        Cause(
            "other-number-of-registers",
            "lanes are taken to have as many registers as on the other device",
            lambda o: o.wave_size == 32 and looks(of_four)(o),
            "256 elements are 4 registers in each of 64 lanes, or 8 registers in each of 32.",
            "At which index of held do the registers of lane 1 begin, on waves of 32?",
        ),
        Cause(
            "missing-guard",
            "a block without a tile works too",
            lambda o: o.fault is not None or bool(o.written_past("d")),
            "At least one block is launched, even for no tiles at all.",
            "What should a block do whose number is not less than tiles?",
            guard=("tiles",),
        ),
    ),
    requirements=(work_shared(),),
    hints=(
        "Give each thread one element of d: `row = threadIdx.x / 16, column = threadIdx.x % 16`. Which lane held "
        "it, in which register? The lesson's table has a line for each architecture.",
        "Then the index in held is tile * 256 + lane * registers + register, where registers is 256 / warpSize.",
        "`if (warpSize == 64) { lane = column + 16 * (row / 4); reg = row % 4; } else { lane = column + 16 * (row %"
        " 2); reg = row / 2; }` And blocks without a tile return at once.",
    ),
)
