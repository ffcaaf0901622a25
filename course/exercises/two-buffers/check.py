"""two-buffers: a filter over tiles in LDS, judged by barriers for each tile, LDS, and loads that are issued early."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, sentinel
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.requirements import limited, loaded_by_lanes, loads_ahead, lds_bytes

TAPS = 16


def filtered(case, tiles_of=lambda tiles: range(tiles), skip=0, without=None):
    """The sum over the tiles that `tiles_of` names of each tile's filter; without the first `skip` weights, or one."""
    blocks, tiles = case.parameters["blocks"], case.parameters["tiles"]
    data = case.array("in").data.astype("float64").reshape(blocks, tiles, 256)
    weights = case.array("weights").data.astype("float64")
    found = np.zeros((blocks, 256))
    for k in tiles_of(tiles):
        for j in (each for each in range(skip, TAPS) if each != without):
            found += np.roll(data[:, k], -j, axis=1) * weights[j]
    return found.astype("float32").ravel()


def make(parameters, random):
    blocks, tiles = parameters["blocks"], parameters["tiles"]
    numbers = random.integers(1, 50, 256 * blocks * tiles).astype("float32")
    if blocks * tiles > 1:  # the picture has small numbers; here an int would lose a fraction, and a half more
        numbers = (4096 + 60 * numbers + random.integers(0, 60, numbers.size).astype("float32")) / np.float32(8)
    given = (
        Value("tiles", np.int32(tiles)),
        Array("in", numbers),
        Array("weights", random.permutation(np.arange(1, TAPS + 1)).astype("float32")),
    )
    case = Case(parameters, (blocks, 1, 1), (256, 1, 1), given)
    out = Array("out", sentinel("float32", 256 * blocks), filtered(case))
    return Case(parameters, case.grid, case.block, (*given, out))


def barriers(outcome):
    """Barriers that a wave executes for each tile, beyond one before the first."""
    found = sum(c.executed for launch in outcome.measured for c in launch.instructions if c.text.startswith("s_barrier"))
    waves = max(sum(launch.waves for launch in outcome.measured), 1)
    return max(found / waves - 1, 0) / outcome.case.parameters["tiles"]


def many(case):
    return case.parameters["tiles"] >= 8


def reads_next_tile(o):
    """Was the kernel stopped where the thread's element of a tile behind the last one would be?"""
    place, fault = o.read_outside(), o.fault
    if place is None or fault is None or fault.thread is None or place[0] != "in":
        return False
    return place[1] == o.case.array("in").data.size + fault.thread[0]


exercise = Exercise(
    id="two-buffers",
    title="two buffers in LDS",
    lesson="21_waits",
    section="Two buffers in LDS",
    kernel="weigh",
    signature="int tiles, const float* in, const float* weights, float* out",
    minutes=35,
    make=make,
    owner=lambda case, index: ((index // 256, 0, 0), (index % 256, 0, 0)),
    reads=lambda case, name, index: (),
    fixed_sizes="blocks always have 256 threads, there is at least one block, and each has at least one tile",
    kept=("block",),
    cases=(
        {"blocks": 1, "tiles": 3, "block": 256},
        {"blocks": 2, "tiles": 2, "block": 256},
        {"blocks": 3, "tiles": 1, "block": 256},
        {"blocks": 1, "tiles": 7, "block": 256},
        {"blocks": 4, "tiles": 16, "block": 256},
    ),
    smallest={"blocks": 1, "tiles": 1, "block": 256},
    shown={"blocks": 1, "tiles": 1, "block": 256},
    causes=(
        Cause(
            "reads-a-tile-too-many",
            "a tile behind the last one is read",
            reads_next_tile,
            "The last tile has no next tile. The block after this one may have some, but the last block does not.",
            "Which index does your early load have in the last iteration?",
        ),
        Cause(
            "last-tile-left-out",
            "the last tile is not in the sums",
            lambda o: o.case.parameters["tiles"] > 1
            and o.looks_like("out", lambda case: filtered(case, lambda tiles: range(tiles - 1))),
            "The loop that loads early has one iteration fewer than there are tiles; the last tile still has to be used.",
            "How many tiles are computed, and how many are loaded?",
        ),
        Cause(
            "first-tile-always",
            "the first tile is used for all tiles",
            lambda o: o.case.parameters["tiles"] > 1
            and o.looks_like("out", lambda case: filtered(case, lambda tiles: [0] * tiles)),
            "The tile that is loaded early has to be used in the next iteration.",
            "In which iteration is which of the two buffers read?",
        ),
        Cause(
            "one-tile-ahead",
            "the sums have the tiles from the second on, and the last one twice",
            lambda o: o.case.parameters["tiles"] > 1
            and o.looks_like("out", lambda case: filtered(case, lambda tiles: [min(k + 1, tiles - 1) for k in range(tiles)])),
            "Tile k + 1 is stored and read in the same iteration.",
            "Which buffer does an iteration read, and which does it write?",
        ),
        Cause(
            "weight-left-out",
            "the first or the last of the 16 weights is not used",
            lambda o: any(o.looks_like("out", lambda case, one=one: filtered(case, without=one)) for one in (0, TAPS - 1)),
            "The weights have the numbers 0 to 15.",
            "From where to where does your loop over the neighbours go?",
        ),
        Cause(
            "last-tile-alone",
            "only the last tile is in the sums",
            lambda o: (
                o.case.parameters["tiles"] > 1
                and o.looks_like("out", lambda case: filtered(case, lambda tiles: [tiles - 1]))
            ),
            "The sum goes over all tiles of the block.",
            "Where does your sum become 0?",
        ),
    ),
    requirements=(
        limited(
            "barriers-for-each-tile", "barriers for each tile", barriers, at_most=1, when=many, shrinks=False,
            title="a wave executes at most one barrier for each tile, and one more",
            next_step="With one buffer a barrier stands before and after the use of the tile. What does each of them "
            "protect, and which is not needed if the next tile goes elsewhere?",
        ),
        loaded_by_lanes("loaded-by-the-wave", "in", when=many),
        loads_ahead(
            at_least=8,
            pattern="float additions and multiplications",
            when=many,
            title="at least 8 additions and multiplications are executed between the load of a tile and the wait for it",
            next_step="gpulab.trace(...).waits() has the instructions between each load and its wait. Which load could be "
            "issued earlier, and what would hold its value until it is used? If it stands early in your source, the "
            "compiler has moved it to where its value is used. If that is in the next iteration, let the iteration that "
            "loads the value also store it.",
        ),
        lds_bytes(at_most=2048, title="at most two tiles in LDS: 2,048 bytes"),
    ),
    hints=(
        "While the block works on tile k, tile k + 1 can be in flight. It needs a register for each thread until the work "
        "on tile k is done, and then a place in LDS that no thread is reading.",
        "Before the loop: tile 0 into buffer 0, and a barrier. In an iteration: load the element of tile k + 1 into a "
        "register; compute with buffer k % 2; store the register to the other buffer; one barrier.",
        "In the loop: `float next = mine[min(k + 1, tiles - 1) * 256];` then the sum over `tile[k % 2][(t + j) % 256]`, then "
        "`tile[(k + 1) % 2][t] = next;` and `__syncthreads();`",
    ),
)  # fmt: skip
