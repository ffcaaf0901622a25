"""recurrence-look-back: x[i] = a[i] * x[i - 1] + b[i] in one pass: look-back with values wider than an atomic."""

from dataclasses import replace

import numpy as np

from gpulab.grading.case import Array, Buffer, Case, Value, blocks_for, sentinel
from gpulab.grading.exercise import Cause, Exercise, Requirement, power_of_two
from gpulab.grading.requirements import limited

MASK = 0xFFFFFFFF
MANY = 30  # tiles from which on the work of looking back is limited
MOST_LOADS = 14  # of single lanes, for each tile
WAITS = ("deadlock", "timeout")
SLEEPS = 4  # of each late tile, in the kernel that is given


def then(first, second):
    """First one step (a, b), then another one, as pairs of Python's integers, modulo 2^32."""
    return first[0] * second[0] & MASK, (second[0] * first[1] + second[1]) & MASK


def steps(a, b):
    found, upto = [], (1, 0)
    for pair in zip(a.tolist(), b.tolist(), strict=True):
        upto = then(upto, pair)
        found.append(upto)
    return found


def per_tile(a, b, block, blocks):
    """The steps of each tile alone, and of all tiles up to its end; rows of two."""
    own = []
    for tile in range(blocks):
        part = slice(tile * block, (tile + 1) * block)
        own.append([(1, 0), *steps(a[part], b[part])][-1])
    everything, upto = [], (1, 0)
    for pair in own:
        upto = then(upto, pair)
        everything.append(upto)
    return np.array(own, "uint32"), np.array(everything, "uint32")


def make(parameters, random):
    n, block = parameters["n"], parameters["block"]
    blocks = blocks_for(n, block)
    most = 1 << 30 if n > 12 else 2  # small numbers in the picture
    a = (2 * random.integers(0, most, n) + 1).astype("uint32")  # odd: no step forgets what was before it
    b = random.integers(1, 4 * most, n).astype("uint32")
    x = np.array([pair[1] for pair in steps(a, b)], "uint32")
    own, everything = per_tile(a, b, block, blocks)
    return Case(
        parameters,
        grid=(blocks, 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Array("a", a),
            Array("b", b),
            Array("x", sentinel("uint32", n), x),
            Array("ticket", np.zeros(1, "uint32"), scratch=True),
            Array("state", np.zeros(blocks, "uint32"), np.full(blocks, 2, "uint32")),
            Array("own_steps", np.full(2 * blocks, 7, "uint32"), own.reshape(-1)),
            Array("all_steps", np.full(2 * blocks, 7, "uint32"), everything.reshape(-1)),
        ),
    )


def race(o, array):
    place = o.faulting_index()
    return (
        o.fault is not None
        and o.fault.kind in ("race", "never written")
        and o.fault.memory == "global"
        and place is not None
        and place[0] in array
    )


SUMS = ("own_steps", "all_steps")


def block_scope(o):
    return o.uses(r"SCOPE_WORKGROUP|SCOPE_WAVEFRONT|__threadfence_block|atomic\w+_block")


def tiles_apart(case):
    """x of each tile as if nothing stood before it."""
    a, b, block = case.array("a").data, case.array("b").data, case.parameters["block"]
    parts = [steps(a[k : k + block], b[k : k + block]) for k in range(0, a.size, block)]
    return np.array([pair[1] for part in parts for pair in part], "uint32")


def loads_by_one_lane(o):
    """Loads from global memory that a single lane makes: those of looking back."""
    return sum(cost.lanes for cost in by_one_lane(o) if cost.action in ("load", "atomic"))


def by_one_lane(o):
    return [
        cost
        for launch in o.measured
        for cost in launch.accesses
        if cost.space in ("global", "flat") and cost.lanes <= cost.executed
    ]


def waits_awake(o):
    """A complaint if tiles load too much and nothing but the kernel's late tiles has slept."""
    loads, most, late = loads_by_one_lane(o), MOST_LOADS * o.case.grid[0], len(range(1, o.case.grid[0], 4))
    slept = sum(
        cost.executed for launch in o.measured for cost in launch.instructions if cost.text.startswith("s_sleep")
    )
    if loads <= most or slept > SLEEPS * late:
        return ""
    return f"{loads:,} loads and atomic operations of single lanes, at most {most:,} are allowed, and no wait sleeps"


def before_it():
    """One block alone, with the ticket 3: tile 0 has state 2, and tiles 1 and 2 have state 1 and stay so."""
    case = make({"n": 256, "block": 64}, np.random.default_rng(22))
    own, everything = (case.array(name).wanted.copy() for name in ("own_steps", "all_steps"))
    own[6:], everything[2:] = 7, 7
    given = {
        "ticket": np.array([3], "uint32"), "state": np.array([2, 1, 1, 0], "uint32"),
        "own_steps": own, "all_steps": everything,
    }  # fmt: skip
    arguments = tuple(replace(one, data=given[one.name]) if one.name in given else one for one in case.arguments)
    return replace(case, grid=(1, 1, 1), arguments=arguments)


def no_look_back(o):
    """A complaint if a block waits for ever for tiles with state 1."""
    case = before_it()
    run = o.prepared.run(case, [Buffer(array, 0, number) for number, array in enumerate(case.arrays)], 50_000)
    if run.fault is None or run.fault.kind not in WAITS:
        return ""
    return "tile 3 waits for ever where tile 0 has state 2 and tiles 1 and 2 have state 1: their steps are all known"


def one_state(o):
    """A complaint if a tile stores its state once, on average: each has two, but for the first."""
    stored = sum(
        cost.executed for cost in by_one_lane(o) if cost.action in ("store", "atomic") and cost.bytes == 4
    )  # the ticket is one of them
    tiles = o.case.grid[0]
    return "" if stored >= 3 * tiles - 1 else f"{tiles:,} tiles store {max(stored - tiles, 0):,} states"


exercise = Exercise(
    id="recurrence-look-back",
    title="look-back with fences",
    lesson="22_reduce_and_scan",
    section="What orders the two arrays?",
    kernel="recurrence",
    signature="int n, const unsigned* a, const unsigned* b, unsigned* x, unsigned* ticket, unsigned* state, "
    "uint2* own_steps, uint2* all_steps",
    minutes=40,
    make=make,
    cases=(
        {"n": 1000, "block": 64},
        {"n": 2500, "block": 64},
        {"n": 2000, "block": 256},
        {"n": 300, "block": 128},
        {"n": 100, "block": 64},
        {"n": 64, "block": 64},
        {"n": 1, "block": 64},
        {"n": 0, "block": 64},
    ),
    promises=(power_of_two("block"),),
    smallest={"n": 1, "block": 64},
    owner=lambda case, index: None,
    shown={"n": 8, "block": 64},
    requirements=(
        Requirement(
            "no-look-back",
            "a tile goes on where the steps of all tiles before it are known",
            no_look_back,
            "A tile with state 1 need not be waited for: its own step is known. Which tile tells what is before it?",
            when=lambda case: case.grid[0] >= MANY,
            shrinks=False,
        ),
        Requirement(
            "own-not-announced",
            "a tile sets state 1 before it looks at others, and state 2 afterwards",
            one_state,
            "Without state 1 the own step of a tile is of no use to others: they wait until it has looked back itself.",
            when=lambda case: case.grid[0] >= MANY,
            shrinks=False,
        ),
        Requirement(
            "no-sleep",
            "a tile sleeps between two looks at a state that is 0",
            waits_awake,
            "A loop that only loads takes time and memory traffic from those that it waits for. Which function lets a "
            "wave sleep? The kernel uses it for its late tiles.",
            when=lambda case: case.grid[0] >= MANY,
            shrinks=False,
        ),
        limited(
            "looks-too-far",
            "loads and atomic operations of single lanes",
            loads_by_one_lane,
            at_most=lambda case, arch: MOST_LOADS * case.grid[0],
            when=lambda case: case.grid[0] >= MANY,
            title="a tile looks back no further than it has to",
            next_step="If the tile before has published all steps up to its end, nothing before it needs to be "
            "looked at.",
        ),
    ),
    causes=(
        Cause(
            "scope-too-narrow",
            "the order holds among the threads of a block only",
            lambda o: (race(o, SUMS) or race(o, ("state",))) and block_scope(o),
            "The reader is another block, perhaps with another L2 cache.",
            "Which of the four scopes has all blocks of a launch in it?",
        ),
        Cause(
            "plain-state",
            "the state is read or written by plain accesses",
            lambda o: race(o, ("state",)),
            "One block writes the state while others read it. For that it must be an atomic access, or a compiler may "
            "read it once, and hardware may keep an old value in a cache.",
            "Which functions of lesson 11 load and store a flag?",
        ),
        Cause(
            "state-before-steps",
            "the state is set before the steps that it announces",
            lambda o: (
                race(o, SUMS)
                and (o.fault.access == "write" or o.uses(r"\bstate\[tile\][^;]*;\s*(own|all)_steps\[tile\]\s*="))
            ),
            "A tile that reads the new state may read the steps before they are written.",
            "Write the three lines in order: which store must come last?",
        ),
        Cause(
            "missing-fence",
            "the state is visible, but the steps that it announces may not be",
            lambda o: race(o, SUMS),
            "The accesses to the state are atomic. Nothing orders the accesses to the steps around them.",
            "Two sides need it: the store of the state must release, its load must acquire, both for the whole device.",
        ),
        Cause(
            "waits-for-ever",
            "a tile waits for a state that never comes",
            lambda o: o.fault is not None and o.fault.kind in WAITS,
            "Every tile must publish its state before it waits, and tile 0 waits for nothing.",
            "Which tile is waited for, and which line sets its state?",
        ),
        Cause(
            "other-order",
            "steps are joined in the wrong order",
            lambda o: (
                o.fault is None
                and bool(o.wrong("x").any())
                and not o.wrong("own_steps").any()
                and not o.looks_like("x", tiles_apart)
                and o.uses(r"then\s*\(\s*(before|found)\s*,\s*(own|all)_steps")
            ),
            "Steps do not commute: 2 x + 1 and then 3 x is not 3 x and then 2 x + 1. What is found later in looking "
            "back stands earlier in the array.",
            "Which of the two is first in the array: what you have found so far, or what you find now?",
        ),
        Cause(
            "tiles-apart",
            "each tile begins at 0",
            lambda o: o.looks_like("x", tiles_apart),
            "What look_back returns does not contain the tiles before.",
            "What must tile 1 get?",
        ),
        Cause(
            "first-not-published",
            "all is right, but tile 0 does not store its own step",
            lambda o: (
                o.fault is None
                and o.case.grid[0] > 1
                and o.unwritten_indices("own_steps") == (0, 1)
                and [int(o.wrong(array.name).sum()) for array in o.case.outputs if o.wrong(array.name).any()] == [2]
            ),
            "Tile 0 may leave out the state 1. Its step belongs to own_steps[0] all the same.",
            "Which of your lines does the thread of tile 0 execute, and which does it leave out?",
        ),
        Cause(
            "own-not-published",
            "x is right, but the tiles' own steps are not published",
            lambda o: (
                o.fault is None and not o.wrong("x").any() and any(k > 1 for k in o.unwritten_indices("own_steps"))
            ),
            "Then each tile waits until the one before it is done: a chain, in which one late tile delays all others.",
            "What does a tile know before it has looked at any other?",
        ),
        Cause(
            "all-not-published",
            "x is right, but not all tiles publish the steps up to their end, with state 2",
            lambda o: (
                o.fault is None
                and not o.wrong("x").any()
                and bool(o.unwritten_indices("all_steps") or o.wrong("state").any())
            ),
            "After the launch each state is 2, and all_steps holds what it announces.",
            "What does a tile know when it has looked back far enough, that those behind it can use?",
        ),
    ),
    hints=(
        "Begin with the order of stores: first the steps, then the state that announces them. A tile publishes twice: "
        "its own steps (state 1) before it looks back, all steps up to its end (state 2) afterwards.",
        "Looking back from `tile - 1`: state 0, wait (`__builtin_amdgcn_s_sleep(1)`); state 1, join own_steps in "
        "front of what you have, and go on to the next tile before; state 2, join all_steps in front, and stop. The "
        "state is stored with `__ATOMIC_RELEASE` and loaded with `__ATOMIC_ACQUIRE`, both `__HIP_MEMORY_SCOPE_AGENT`.",
        "`own_steps[tile] = own; if (tile > 0) {` store 1 with release; `for (int back = tile - 1;;) {` load with "
        "acquire; `if (seen == 2) { before = then(all_steps[back], before); break; } before = then(own_steps[back], "
        "before); back--; } } all_steps[tile] = then(before, own);` store 2 with release, and `return before;`",
    ),
)
