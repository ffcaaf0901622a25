"""causal-skip: attention with a causal mask, judged by the tiles of keys that are loaded and the exponentials."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, no_inputs, sentinel
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.requirements import limited, loaded_by_lanes, per_wave

D, TILE = 8, 64
USUAL, FAR = 0, 1
"""Kinds of inputs: scores around 0; around 150 and -150, query by query, so that their exponentials leave the range."""


def make(parameters, random):
    queries, keys = parameters["queries"], parameters["keys"]
    q = random.normal(0, 1.5, (queries, D)).astype("float32")
    k = random.normal(0, 1.5, (keys, D)).astype("float32")
    v = random.integers(-50, 51, (keys, D)).astype("float32")
    far = parameters["kind"] == FAR
    if far:
        k[:, -1] = 15
        q[:, -1] = np.where(np.arange(queries) % 2, -10, 10)
    given = (
        Value("queries", np.int32(queries)),
        Value("keys", np.int32(keys)),
        Array("q", q),
        Array("k", k),
        Array("v", v),
    )
    case = Case(parameters, (blocks_for(queries, TILE), 1, 1), (TILE, 1, 1), given)
    out = Array("o", sentinel("float32", (queries, D)), attention(case), relative=1e-4, absolute=5e-3 if far else 1e-3)
    return Case(parameters, case.grid, case.block, (*given, out))


def positions(case):
    """Numbers of the queries as a column, of the keys as a row, and the last key that each query sees."""
    queries, keys = case.parameters["queries"], case.parameters["keys"]
    i, j = np.arange(queries)[:, None], np.arange(keys)[None, :]
    return i, j, i + keys - queries


def attention(case, allowed=lambda i, j, last: j <= last, masked=-np.inf):
    """The result where query i sees key j if allowed(i, j, the last key that it should see)."""
    q, k, v = (case.array(name).data.astype("float64") for name in "qkv")
    i, j, last = positions(case)
    scores = np.where(allowed(i, j, last) & (j >= 0) & (i >= 0), q @ k.T, masked)
    top = scores.max(axis=1, initial=-np.inf, keepdims=True)
    p = np.exp(scores - np.where(np.isfinite(top), top, 0))
    total = p.sum(axis=1, keepdims=True)
    return (p @ v / np.where(total == 0, 1, total)).astype("float32")


def tiles(case):
    """The tiles that the last queries of all blocks see."""
    queries, keys = case.parameters["queries"], case.parameters["keys"]
    lasts = [min(first + TILE, queries) - 1 + keys - queries for first in range(0, queries, TILE)]
    return sum(last // TILE + 1 for last in lasts if last >= 0)


def needed(case):
    """Bytes of the queries, and of the keys and values of all blocks' tiles; all of them whole."""
    return 4 * D * TILE * (case.grid[0] + 2 * tiles(case))


def loaded(outcome):
    """Bytes that active lanes load from global memory."""
    return sum(
        cost.lanes * cost.bytes
        for launch in outcome.measured
        for cost in launch.accesses
        if cost.action == "load" and cost.space in ("global", "flat")
    )


def no_number(o):
    return o.fault is None and bool(np.isnan(o.found("o")).any()) and not o.unwritten_indices("o")


def out_of_range(o):
    """Are queries with scores far from 0 the only wrong ones, with NaN, infinity or zeros for results?"""
    if o.fault is not None or o.unwritten_indices("o") or o.case.parameters["kind"] != FAR:
        return False
    wrong, found = o.wrong("o").any(axis=1), o.found("o")
    return bool(wrong.any()) and bool((~np.isfinite(found[wrong]) | (found[wrong] == 0)).any(axis=1).all())


def blind_rows(o):
    """Are all rows right but those of queries that see no key?"""
    wrong = o.wrong("o").any(axis=1)
    blind = positions(o.case)[2][:, 0] < 0
    return o.fault is None and not o.unwritten_indices("o") and bool(wrong.any()) and not wrong[~blind].any()


def one_more(o):
    """Is it the result of a mask that begins one key later, for queries that see a key, and not all of a tile?"""
    if o.fault is not None or o.unwritten_indices("o"):
        return False
    last = positions(o.case)[2][:, 0]
    inside = (last >= 0) & (last % TILE != TILE - 1) & (last + 1 < o.case.parameters["keys"])
    more = attention(o.case, lambda i, j, last: j <= last + 1)
    same = np.isclose(o.found("o")[inside], more[inside], rtol=1e-4, atol=1e-3)
    return bool(o.wrong("o")[inside].any() and same.all())


def predicted(allowed, masked=-np.inf):
    return lambda o: o.looks_like("o", lambda case: attention(case, allowed, masked))


def many(case):
    return min(case.parameters["queries"], case.parameters["keys"]) >= 2 * TILE


exercise = Exercise(
    id="causal-skip",
    title="attention with a causal mask, and the tiles behind it left out",
    lesson="24_attention",
    section="Causal masks",
    kernel="causal",
    signature="int queries, int keys, const float* q, const float* k, const float* v, float* o",
    minutes=35,
    make=make,
    owner=lambda case, index: ((index // D // TILE, 0, 0), (index // D % TILE, 0, 0)),
    reads=no_inputs,
    kept=("kind",),
    smallest={"queries": 1, "keys": 1, "kind": USUAL},
    shown={"queries": 2, "keys": 3, "kind": USUAL},
    cases=(
        {"queries": 128, "keys": 128, "kind": USUAL},
        {"queries": 70, "keys": 100, "kind": USUAL},
        {"queries": 100, "keys": 70, "kind": USUAL},
        {"queries": 66, "keys": 80, "kind": FAR},
        {"queries": 1, "keys": 65, "kind": USUAL},
        {"queries": 5, "keys": 3, "kind": USUAL},
        {"queries": 1, "keys": 1, "kind": USUAL},
        {"queries": 3, "keys": 0, "kind": USUAL},
    ),
    instruction_limit=200_000,
    requirements=(
        limited(
            "tiles-too-many", "bytes loaded from global memory", loaded,
            at_most=lambda case, arch: needed(case), when=many, shrinks=False,
            title="no more is loaded than each query once, and for each block the tiles of keys and values that it "
            "needs",
            next_step="Which key is the last one that a query of the block may use? In which tile is it?",
        ),
        per_wave(
            "exponentials", r"v_exp_f32",
            at_most=lambda case, arch: 2.05 * TILE * tiles(case) / case.grid[0],
            when=many, title="a wave executes at most two exponentials for each key of its tiles",
            next_step="One exponential is for the new score, and one for the factor when the maximum changes.",
        ),
        loaded_by_lanes(
            "loaded-by-the-wave", "k", "v", when=many, title="lanes load tiles of keys and values together"
        ),
    ),
    causes=(
        Cause(
            "out-of-range",
            "queries whose scores are far from 0 get NaN, infinity or 0: exponentials leave the range of float",
            out_of_range,
            "exp(x) is infinite above 88.7 and zero below -104. If the maximum of a query's scores is subtracted from "
            "each of them, no exponential is above 1, and one is 1.",
            "Which number is subtracted before each exponential? With which one does it begin?",
        ),
        Cause(
            "not-a-number",
            "minus infinity was subtracted from minus infinity, or zero divided by zero",
            no_number,
            "A query that has not seen a key yet has the maximum -INFINITY and the sum 0.",
            "What do your factor, your exponential and your division become for a query that sees no key?",
        ),
        Cause(
            "all-keys",
            "each query sees all keys",
            predicted(lambda i, j, last: j >= 0),
            "The mask is not there: the result is that of attention to all keys.",
            "Which keys may query i see?",
        ),
        Cause(
            "blind-rows",
            "queries that see no key get something else than 0",
            blind_rows,
            "With more queries than keys, the first queries see none. A large negative number in place of -INFINITY "
            "counts there like any other score: exp(score - maximum) is 1 for all of them.",
            "What is the sum of a query that sees no key? And what should be stored then?",
        ),
        Cause(
            "own-key-left-out",
            "the last key that a query should see is left out",
            predicted(lambda i, j, last: j < last),
            "Query i sees the keys up to i + keys - queries, this one too.",
            "How many keys does query 0 see, if there are as many keys as queries?",
        ),
        Cause(
            "one-key-too-many",
            "each query sees one key too many",
            one_more,
            "Query i sees the keys up to i + keys - queries, and none behind it.",
            "How many keys does query 0 see, if there are as many keys as queries?",
        ),
        Cause(
            "aligned-at-the-first",
            "the mask is that of as many keys as queries: query i sees the keys up to i",
            lambda o: o.case.parameters["queries"] != o.case.parameters["keys"]
            and predicted(lambda i, j, last: j <= i)(o),
            "The last query sees all keys. If there are more keys than queries, the first query sees several.",
            "Which number has the last key that query i sees, for 3 queries and 5 keys?",
        ),
        Cause(
            "masked-is-zero",
            "keys that a query must not see count with the score 0",
            predicted(lambda i, j, last: j <= last, 0.0),
            "exp(0 - maximum) is not 0.",
            "Which score has the exponential 0, whatever the maximum is?",
        ),
        Cause(
            "last-tile-left-out",
            "the last tile that a block needs is skipped",
            lambda o: predicted(lambda i, j, last: (j <= last) & (j < last_key(o.case, i) // TILE * TILE))(o),
            "A tile that only some of the block's queries see is needed, too.",
            "Which is the last key of the last query in the block, and in which tile is it?",
        ),
    ),
    hints=(
        "Two things are to be done. Which tiles does the block need at all? That is the loop's end, and it must be the "
        "same for all threads of the block. And within a tile: which keys does my query see?",
        "With `int more = keys - queries;` query i sees the keys up to i + more. The last key of the block's last "
        "query is another number, the same for all threads: a tile whose first key lies behind it is not loaded.",
        "`int last = min((int)blockIdx.x * 64 + 63, queries - 1) + more;` and `for (int start = 0; start <= last; "
        "start += 64)`. In the tile: `int end = is_query ? min(64, i + more + 1 - start) : 0;` and `for (int j = 0; j "
        "< end; j++)`. At the end `sum > 0 ? out[d] / sum : 0`.",
    ),
)  # fmt: skip


def last_key(case, i):
    """The last key that the last query of query i's block sees."""
    queries, keys = case.parameters["queries"], case.parameters["keys"]
    return np.minimum(i // TILE * TILE + TILE - 1, queries - 1) + keys - queries
