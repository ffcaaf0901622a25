"""flash-attention: causal attention in one kernel with matrix cores, judged by what it loads and multiplies."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, no_inputs, sentinel
from gpulab.grading.exercise import Cause, Exercise, Requirement
from gpulab.grading.requirements import executed, limited

D, TILE = 64, 64


def make(parameters, random):
    n, heads = TILE * parameters["tiles"], parameters["heads"]
    # Multiples of 1/4: reports print them in few characters.
    q, k, v = ((np.rint(4 * random.normal(0, size, (heads, n, D))) / 4).astype("float16") for size in (2, 1, 2))
    given = (Value("n", np.int32(n)), Array("q", q), Array("k", k), Array("v", v))
    case = Case(parameters, (parameters["tiles"], heads, 1), (4 * parameters["wave"], 1, 1), given)
    # Weights are rounded to halves before the second product: an error of 2**-11 at most, of values around 2.
    out = Array("o", sentinel("float32", (heads, n, D)), attention(case), relative=2e-3, absolute=5e-3)
    return Case(parameters, case.grid, case.block, (*given, out))


def tensors(case):
    return tuple(case.array(name).data.astype("float64") for name in "qkv")


def scores(case, causal=0, scale=0.125):
    """The scores; query i sees the keys up to i + causal, all keys if that is None."""
    q, k, _ = tensors(case)
    s = scale * (q @ k.transpose(0, 2, 1))
    i = np.arange(s.shape[1])
    return s if causal is None else np.where(i[None, :] <= i[:, None] + causal, s, -np.inf)


def weights(s):
    top = s.max(axis=2, keepdims=True)
    return np.exp(s - np.where(np.isfinite(top), top, 0))


def attention(case, causal=0, scale=0.125):
    p, v = weights(scores(case, causal, scale)), tensors(case)[2]
    with np.errstate(invalid="ignore"):
        return (p @ v / p.sum(axis=2, keepdims=True)).astype("float32")


def not_divided(case):
    return weights(scores(case)) @ tensors(case)[2]


def tile_by_tile(case, sum_rescaled=True, out_rescaled=True):
    """What is left if the sum, or the output, is not rescaled when a later tile has a larger maximum."""
    s, v = scores(case), tensors(case)[2]
    tops = [s[:, :, start : start + TILE].max(axis=2, keepdims=True) for start in range(0, s.shape[2], TILE)]
    running = np.repeat(np.maximum.accumulate(np.concatenate(tops, axis=2), axis=2), TILE, axis=2)
    own, right = np.exp(s - running), weights(s)
    return (right if out_rescaled else own) @ v / (right if sum_rescaled else own).sum(axis=2, keepdims=True)


def groups_apart(case):
    """Each group of 16 lanes divides by the sum of its own keys."""
    p, v = weights(scores(case)), tensors(case)[2]
    i = np.arange(TILE)
    group = i % 16 // 4 if case.parameters["wave"] == 64 else i % 2
    same = np.tile(group[:, None] == group[None, :], (case.parameters["tiles"], 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return p @ v / (p @ same)


def read_and_stored(o):
    """Is there a race in LDS between one who reads and one who stores?"""
    fault = o.fault
    if fault is None or fault.kind != "race" or fault.memory != "lds" or fault.other is None:
        return False
    return {fault.access, fault.other.access} == {"read", "write"}


def groups_divide(o):
    """Is it so for most of the elements? Where a group's part is tiny, it may be zero in float."""
    if o.fault is not None or o.unwritten_indices("o"):
        return False
    with np.errstate(invalid="ignore"):
        same = np.isclose(o.found("o"), groups_apart(o.case), rtol=0.01, atol=0.01)
    return bool(o.wrong("o").mean() > 0.5 and same.mean() > 0.8)


def not_transposed(case):
    """Each tile of V as if its rows were its columns."""
    p, v = weights(scores(case)), tensors(case)[2]
    turned = v.reshape(v.shape[0], -1, TILE, D).transpose(0, 1, 3, 2).reshape(v.shape)
    return p @ turned / p.sum(axis=2, keepdims=True)


def looks(prediction, tiles=1, **options):
    return lambda o: o.case.parameters["tiles"] >= tiles and o.looks_like("o", lambda case: prediction(case, **options))


def first_head_only(o):
    """Is the first head right, and of the others nothing, or what comes from the data of the first?"""
    if o.case.parameters["heads"] < 2 or o.fault is not None:
        return False
    wrong = o.wrong("o").reshape(o.case.parameters["heads"], -1)
    return not wrong[0].any() and bool(wrong[1:].mean(axis=1).min() > 0.5)


def pairs_of_tiles(case):
    tiles = case.parameters["tiles"]
    return case.parameters["heads"] * tiles * (tiles + 1) // 2


def multiplications(case, arch):
    """Matrix instructions: two products for each pair of tiles, of 64 x 64 x 64 in steps of 16 x 16 x 16."""
    return 2 * (TILE // 16) ** 2 * (D // 16) * pairs_of_tiles(case)


def needed(case, arch):
    """Bytes: each query once, and a tile of keys and one of values for each pair of tiles."""
    return 2 * TILE * D * (case.parameters["heads"] * case.parameters["tiles"] + 2 * pairs_of_tiles(case))


def loaded(outcome):
    """Bytes that active lanes load from global memory; on gfx1100 two lanes hold each query."""
    twice = 2 * TILE * D * outcome.case.parameters["heads"] * outcome.case.parameters["tiles"]
    return sum(
        cost.lanes * cost.bytes
        for launch in outcome.measured
        for cost in launch.accesses
        if cost.action == "load" and cost.space in ("global", "flat")
    ) - (twice if outcome.wave_size == 32 else 0)


def waiting(outcome):
    """Complains where the matrix cores are busy for a smaller share of the busiest unit's clocks than is asked for.

    With enough waves a launch takes as long as its busiest unit, so this is the share of the matrix cores' peak that
    the model allows the kernel. A small launch itself takes longer: it is mostly latency.
    """
    (launch,) = outcome.measured
    units = {name: clocks for name, clocks in launch.time.parts.items() if "latency" not in name}
    busiest = max(units, key=lambda name: units[name])
    share, least = units["matrix cores"] / units[busiest], 0.35 if outcome.wave_size == 64 else 0.55
    if share >= least:
        return ""
    return (
        f"the busiest unit is {busiest}, with {units[busiest]:,.0f} clocks; the matrix cores are busy for {share:.0%} "
        f"of that, and at least {least:.0%} are asked for"
    )


def long(case):
    return case.parameters["tiles"] >= 4


def many(case):
    return case.parameters["tiles"] >= 2


exercise = Exercise(
    id="flash-attention",
    title="causal flash attention with matrix cores",
    lesson="24_attention",
    section="One kernel",
    kernel="attention",
    signature="int n, const _Float16* q, const _Float16* k, const _Float16* v, float* o",
    minutes=60,
    make=make,
    by_wave=True,
    owner=lambda case, index: None,  # whose an element is, the answer decides
    reads=no_inputs,
    fixed_sizes="n is a multiple of 64, and a row has 64 numbers",
    cases=(
        {"tiles": 2, "heads": 2},
        {"tiles": 1, "heads": 1},
        {"tiles": 4, "heads": 1},
    ),
    drawn=lambda random: (
        {"tiles": int(tiles), "heads": int(random.integers(1, 4))} for tiles in (*random.integers(1, 4, 3), 4)
    ),
    smallest={"tiles": 1, "heads": 1},
    shown={"tiles": 1, "heads": 1},
    instruction_limit=200_000,
    requirements=(
        executed(
            "too-many-products", "matrix instructions", at_most=multiplications, when=many,
            title="no more matrix instructions than the tiles of 64 x 64 need that are not masked as a whole",
            next_step="A block with the queries 64 to 127 needs the first two tiles of keys. Where does your loop end?",
        ),
        executed(
            "too-few-products", "matrix instructions", at_least=multiplications, when=many,
            title="both products are made by matrix instructions",
            next_step="The scores are one product, and what is stored is another.",
        ),
        limited(
            "bytes", "bytes loaded from global memory", loaded, at_most=needed, when=many, shrinks=False,
            title="queries are loaded once, and each tile of keys and values once for the block that needs it",
            next_step="The four waves of a block use the same tile. Which memory do they share?",
        ),
        Requirement(
            "matrix-cores-wait",
            "the matrix cores are busy for at least 35 % (gfx942) or 55 % (gfx1100) of the time that the busiest unit is, "
            "for 256 tokens (modelled)",
            waiting, when=long, shrinks=False,
            next_step="run[0].time.parts has the clocks of each unit. For LDS: run.lds_banks() shows which store has "
            "conflicts. For the vector unit: which operations on scores, and which divisions, could be done once or "
            "not at all? For L1: do neighbouring lanes load neighbouring bytes?",
        ),
    ),
    causes=(
        Cause(
            "missing-barrier",
            "a tile in LDS is read before it is complete, or overwritten while it is read",
            read_and_stored,
            "Waves of a block run in any order.",
            "Which two things must all waves have done before a tile is read, and before the next one is stored?",
        ),
        Cause(
            "first-head-alone",
            "only the first head is right",
            first_head_only,
            "The heads stand one behind the other, n rows each; blockIdx.y is the head's number.",
            "Which of the four arrays begin at another place for the second head?",
        ),
        Cause(
            "not-masked",
            "each query sees all keys",
            looks(attention, causal=None),
            "The result is that of attention without a mask.",
            "Query i must not see the keys behind i.",
        ),
        Cause(
            "own-key-left-out",
            "a query does not see the key with its own number",
            looks(attention, causal=-1),
            "Query i sees the keys 0 to i.",
            "How many keys does query 0 see?",
        ),
        Cause(
            "one-key-too-many",
            "each query sees one key too many",
            lambda o: shown_one_more(o),
            "Query i sees the keys 0 to i, and none behind it.",
            "How many keys does query 0 see?",
        ),
        Cause(
            "scale-missing",
            "the scores are not divided by 8",
            looks(attention, scale=1.0),
            "Scores are products of 64 numbers, divided by the square root of 64.",
            "Where in your kernel does a score become the argument of an exponential?",
        ),
        Cause(
            "not-divided",
            "the result is not divided by the sum of the exponentials",
            looks(not_divided),
            "The weights of a row must add up to 1.",
            "What is done once, after the last tile?",
        ),
        Cause(
            "groups-apart",
            "each lane divides by the sum of its own keys",
            groups_divide,
            "A query's keys are spread over several lanes: 4 on gfx942, 2 on gfx1100. Each of them has a part of the "
            "sum.",
            "Which lanes have the same query? How does the maximum reach all of them?",
        ),
        Cause(
            "sum-not-rescaled",
            "when a later tile has a larger maximum, the sum so far stays as it was",
            looks(tile_by_tile, tiles=2, sum_rescaled=False),
            "The sum so far counts from the old maximum.",
            "By which factor do exp(s - old) and exp(s - new) differ?",
        ),
        Cause(
            "output-not-rescaled",
            "when a later tile has a larger maximum, the output so far stays as it was",
            looks(tile_by_tile, tiles=2, out_rescaled=False),
            "The output so far is a sum of values times exp(s - old maximum).",
            "What happens to the sum when the maximum grows? The output needs the same.",
        ),
        Cause(
            "values-not-transposed",
            "V stands in LDS as it does in memory, but is read as if it were transposed",
            looks(not_transposed),
            "A lane's operand has several keys of one column of V.",
            "For V[a][b] in LDS: which of a and b is the key where you store, and which where you read?",
        ),
    ),
    hints=(
        "Start from the lesson's kernel fused. Causal: which is the last tile of keys that the block needs, and what "
        "is masked in it? Make it right first. Then look at the clocks of each unit, and begin with the largest "
        "number.",
        "Block b needs the tiles 0 to b of keys. In the last one, `if (start == 64 * blockIdx.x)`, the scores of keys "
        "behind the query become `-INFINITY`. LDS: the store of V has the most conflicts; change the padding, or "
        "store different columns at different keys. Vector unit: fold the 1/8 and log2(e) into one `scale`, and "
        "divide once for each lane.",
        "The loop: `for (int start = 0; start < 64 * blockIdx.x + 64; start += 64)`. `const float scale = 0.125f * "
        "1.44269504f;` and `s[b][e] = __builtin_amdgcn_exp2f(scale * s[b][e] - offset);` with `offset = scale * "
        "best`. V: `V[column + e][row ^ column] = numbers[e];`, read back at `16 * b + FIRST_K(lane) + e ^ moved` "
        "with `moved = row / 8 * 8` of the row that is read.",
    ),
)  # fmt: skip


def shown_one_more(o):
    """Is it the result of a mask that begins one key later, at least where that key is in the same tile?"""
    if o.fault is not None or o.unwritten_indices("o"):
        return False
    inside = np.arange(o.case.array("o").data.shape[1]) % TILE != TILE - 1
    more = attention(o.case, causal=1)
    return bool(o.wrong("o").any()) and np.allclose(o.found("o")[:, inside], more[:, inside], rtol=2e-3, atol=5e-3)
