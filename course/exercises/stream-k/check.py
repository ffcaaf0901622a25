"""stream-k: all iterations of all tiles of a product in equal shares, and a fix-up of the tiles that are shared."""

import numpy as np

from gpulab.grading.case import Array, Case, Step, Value, no_inputs, sentinel
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.requirements import instructions, work_shared

SIDE = 8
EXPONENTS = np.array([0, 14, 6, 20, 11, 3])
"""Of the pieces of a tile in a case with rounded sums."""


def make(parameters, random):
    down, across, steps, workgroups = (parameters[name] for name in ("down", "across", "steps", "workgroups"))
    m, n, k = SIDE * down, SIDE * across, SIDE * steps
    # Halves of whole numbers, none of them small: exact in any order, and what is missing shows.
    a, b = ((random.integers(1, 16, shape) / 2).astype("float32") for shape in ((m, k), (k, n)))
    share = -(-down * across * steps // workgroups)
    if parameters["rounded"] and (down * across == 1 or steps % share == 0):
        # Each piece is exact in any order of its products, but the pieces have other exponents: their sum is rounded.
        # What is stored to c is 0, so that it may be the first or the last of what is added.
        piece = np.arange(k) // SIDE // share
        a *= np.where(piece > 0, np.exp2(EXPONENTS[piece % len(EXPONENTS)]), 0).astype("float32")
    c, parts = launched(a, b, workgroups)
    add_pieces(c, parts, steps, share, lambda first, last: range(first + 1, last + 1))
    sizes = (("m", m), ("n", n), ("k", k), ("workgroups", workgroups))
    return Case(
        parameters,
        arguments=(
            *(Value(name, np.int32(size)) for name, size in sizes),
            Array("a", a),
            Array("b", b),
            Array("c", sentinel("float32", (m, n)), c),
            Array("parts", np.zeros((workgroups, SIDE * SIDE), "float32"), parts),
        ),
        steps=(
            Step(
                "stream_k", (workgroups, 1, 1), (SIDE * SIDE, 1, 1),
                ("m", "n", "k", "workgroups", "a", "b", "c", "parts"),
            ),
            Step("fix_up", (down * across, 1, 1), (SIDE * SIDE, 1, 1), ("m", "n", "k", "workgroups", "parts", "c")),
        ),
    )  # fmt: skip


def pieces(tiles, steps, workgroups, share):
    """Workgroup, tile, first step and end of each piece."""
    for workgroup in range(workgroups):
        i, last = workgroup * share, min((workgroup + 1) * share, tiles * steps)
        while i < last:
            tile, first = divmod(i, steps)
            end = min(steps, first + last - i)
            yield workgroup, tile, first, end
            i += end - first


def launched(a, b, workgroups, share=None):
    """c and parts after the first launch: c has what begins with a tile's first step."""
    (m, k), n = a.shape, b.shape[1]
    steps, across = k // SIDE, n // SIDE
    tiles = m // SIDE * across
    share = -(-tiles * steps // workgroups) if share is None else share
    c, parts = np.zeros((m, n), "float32"), np.zeros((workgroups, SIDE * SIDE), "float32")
    for workgroup, tile, first, end in pieces(tiles, steps, workgroups, share):
        top, left = tile // across * SIDE, tile % across * SIDE
        inside = slice(first * SIDE, end * SIDE)
        sums = a[top : top + SIDE, inside] @ b[inside, left : left + SIDE]
        if first == 0:
            c[top : top + SIDE, left : left + SIDE] = sums
        else:
            parts[workgroup] = sums.ravel()
    return c, parts


def of(case):
    """a, b, tiles, steps, workgroups and the share."""
    p = case.parameters
    tiles, workgroups = p["down"] * p["across"], p["workgroups"]
    share = -(-tiles * p["steps"] // workgroups)
    return case.array("a").data, case.array("b").data, tiles, p["steps"], workgroups, share


def fixed(case, chosen):
    """c with those parts added that chosen(first workgroup, last workgroup) names for each tile."""
    a, b, _, steps, workgroups, share = of(case)
    c, parts = launched(a, b, workgroups)
    add_pieces(c, parts, steps, share, chosen)
    return c


def add_pieces(c, parts, steps, share, chosen):
    """Adds to c the parts that chosen(first workgroup, last workgroup) names for each tile, in that order."""
    down, across = c.shape[0] // SIDE, c.shape[1] // SIDE
    for tile in range(down * across):
        top, left = tile // across * SIDE, tile % across * SIDE
        for workgroup in chosen(tile * steps // share, ((tile + 1) * steps - 1) // share):
            if workgroup < len(parts):
                c[top : top + SIDE, left : left + SIDE] += parts[workgroup].reshape(SIDE, SIDE)


def other_order(o):
    """Are the pieces right, and c their sum but for what another order of additions rounds in another way?"""
    if o.guarded.fault is not None or o.wrong("parts").any() or not o.wrong("c").any():
        return False
    found, wanted = o.found("c"), o.case.array("c").wanted
    return bool((np.abs(found - wanted) <= 2e-6 * np.abs(wanted)).all())


def added(o, chosen):
    """Does c have the parts that chosen(first workgroup, last workgroup) names for each tile, and no others?"""
    return o.fault is None and o.looks_like("c", lambda case: fixed(case, chosen))


def rounded_down(o):
    """Are c and parts what shares leave that are rounded down?"""
    _, _, tiles, steps, workgroups, _ = of(o.case)
    share = tiles * steps // workgroups

    def parts(case):
        a, b, *_ = of(case)
        return launched(a, b, workgroups, share)[1]

    return share > 0 and o.looks_like("parts", parts)


def limit(case):
    """Instructions of a wave: those of one share, with room; where workgroups are many, all iterations are more."""
    *_, workgroups, share = of(case)
    return 1000 + 200 * share if workgroups >= 12 else 2_000_000


RACE = ("race", "lane conflict")

exercise = Exercise(
    id="stream-k",
    title="Stream-K",
    lesson="28_gemm_two",
    section="Shares and fix-up",
    kernel="stream_k",
    signatures={
        "stream_k": "int m, int n, int k, int workgroups, const float* a, const float* b, float* c, float* parts",
        "fix_up": "int m, int n, int k, int workgroups, const float* parts, float* c",
    },
    minutes=40,
    make=make,
    owner=lambda case, index: None,
    reads=no_inputs,
    fixed_sizes="m, n and k are multiples of 8, and not 0",
    cases=(
        {"down": 1, "across": 3, "steps": 4, "workgroups": 5, "rounded": 0},
        {"down": 3, "across": 3, "steps": 8, "workgroups": 4, "rounded": 0},
        {"down": 1, "across": 2, "steps": 9, "workgroups": 5, "rounded": 0},
        {"down": 1, "across": 1, "steps": 1, "workgroups": 1, "rounded": 0},
        {"down": 2, "across": 1, "steps": 2, "workgroups": 7, "rounded": 0},
        {"down": 2, "across": 2, "steps": 3, "workgroups": 2, "rounded": 0},
        {"down": 1, "across": 1, "steps": 20, "workgroups": 8, "rounded": 0},
        {"down": 3, "across": 4, "steps": 6, "workgroups": 16, "rounded": 0},
        {"down": 2, "across": 1, "steps": 12, "workgroups": 8, "rounded": 1},
        {"down": 1, "across": 1, "steps": 18, "workgroups": 6, "rounded": 1},
    ),
    kept=("rounded",),
    smallest={"down": 1, "across": 1, "steps": 1, "workgroups": 1},
    shown={"down": 1, "across": 1, "steps": 2, "workgroups": 2, "rounded": 0},
    instruction_limit=limit,
    requirements=(
        instructions(
            "atomics",
            r"(global|flat)_atomic",
            at_most=0,
            title="no atomic operations: each element of c is changed by one thread of fix_up",
            next_step="Which block of fix_up has a tile? Its threads read what is in parts and store once.",
        ),
        work_shared(title="the threads of fix_up share the work: a thread has one element of one tile"),
    ),
    causes=(
        Cause(
            "too-much-for-a-wave",
            "a wave executes far more instructions than one share needs",
            lambda o: o.timed_out(),
            "Either one workgroup does what others should do, or a loop does not end.",
            "By how much does the number of the iteration grow each time, and where does the share end?",
            explains=("timeout",),
        ),
        Cause(
            "stored-by-two",
            "two threads store to the same element, or one reads what another one stores in the same launch",
            lambda o: o.fault is not None and o.fault.kind in RACE and o.fault.memory == "global",
            "A tile in several shares is stored to c by one workgroup: the one with its first step.",
            "Where does a piece go that begins later?",
            explains=RACE,
        ),
        Cause(
            "past-the-end",
            "iterations are done that do not exist",
            lambda o: (
                (o.read_outside() or ("", 0))[0] in ("a", "b") or bool(o.outside("c")) or bool(o.outside("parts"))
            ),
            "The last share may be shorter than the others, and behind it there can be shares without any iteration.",
            "Where does the share of the last workgroup end, and how many iterations are there in all?",
        ),
        Cause(
            "rounded-down",
            "the last iterations are in no share",
            rounded_down,
            "Rounded down, the shares of all workgroups together have fewer iterations than there are.",
            "How many iterations are in five shares, if there are twelve in all?",
        ),
        Cause(
            "last-part-missing",
            "the last piece of each tile that is shared is missing in c",
            lambda o: added(o, lambda first, last: range(first + 1, last)) or added(o, lambda first, last: ()),
            "The pieces in parts are right. The workgroup that has the tile's last iteration has one of them.",
            "Which iteration is the last one of the tile, and which workgroup has it?",
        ),
        Cause(
            "one-too-many",
            "a piece of the next tile was added",
            lambda o: added(o, lambda first, last: range(first + 1, last + 2)),
            "A share that begins where the tile ends has nothing of it.",
            "Which iteration is the last one of the tile, and which workgroup has it?",
        ),
        Cause(
            "owner-twice",
            "the piece of the workgroup with the tile's first step was added, which belongs to the tile before",
            lambda o: added(o, lambda first, last: range(first, last + 1)),
            "The workgroup with the first step has stored its piece of this tile to c. What it has in parts is of the "
            "tile before.",
            "With which workgroup does the loop in fix_up begin?",
        ),
        Cause(
            "wrong-parts",
            "parts does not have the pieces that begin behind a tile's first step",
            lambda o: o.guarded.fault is None and bool(o.wrong("parts").any()),
            "A piece goes from where the share or the tile begins to where the tile or the share ends.",
            "Write down the pieces of each workgroup for two tiles of nine steps and five workgroups.",
        ),
        Cause(
            "other-order",
            "the pieces in parts are added in another order than that of the workgroups",
            other_order,
            "Floats are rounded after each addition, so that another order can give other bits.",
            "With which workgroup does your loop begin, and with which does it end?",
        ),
        Cause(
            "wrong-pieces-in-c",
            "parts is right, and c is not",
            lambda o: o.guarded.fault is None and not o.wrong("parts").any() and bool(o.wrong("c").any()),
            "What a share has of a tile from its first step on belongs to c, be it the whole tile or not.",
            "Of which tiles is c wrong, and which workgroups have them?",
        ),
    ),
    hints=(
        "Begin with the numbers: all iterations are `k / 8 * (m / 8) * (n / 8)`. Iteration i belongs to tile "
        "`i / steps`, and is its step `i % steps`. A loop goes on from piece to piece while there is something left of "
        "the share.",
        "A piece of iteration i begins at `from = i % steps` and ends at the tile's end or at the share's, whichever "
        "comes first: `to = min(steps, from + last - i)`. Then `i += to - from`. If `from == 0` it goes to c, else to "
        "parts.",
        "In `fix_up` the tile's first iteration is `first = tile * steps`, its last one `last = first + steps - 1`. "
        "The workgroup `first / share` has stored to c, so: `for (int g = first / share + 1; g <= last / share; g++) "
        "sum += parts[g * 64 + threadIdx.x];`",
    ),
)
