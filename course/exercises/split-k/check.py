"""split-k: a deep product in parts of k, which a second pass adds in a fixed order."""

from itertools import pairwise

import numpy as np

from gpulab.grading.case import Array, Case, Step, Value, blocks_for, no_inputs, sentinel
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.requirements import instructions, work_shared

EXPONENTS = np.array([0, 14, 6, 20, 11, 3])
"""Of the parts of a case with rounded sums."""
NAN = 0x7FA0DEAD
"""The bits of a signalling NaN: what is computed from it is a quiet one, which has other bits."""


def make(parameters, random):
    m, n, k, splits = (parameters[name] for name in ("m", "n", "k", "splits"))
    # Halves of whole numbers, none of them small: exact in any order, and what is missing shows.
    a, b = ((random.integers(1, 20, shape) / 2).astype("float32") for shape in ((m, k), (k, n)))
    before = sentinel("float32", (splits, m, n)), sentinel("float32", (m, n))
    if parameters["rounded"]:
        # Each part is exact in any order of its products, but the parts have other exponents: their sum is rounded.
        a *= np.exp2(EXPONENTS[np.arange(k) // max(-(-k // splits), 1) % len(EXPONENTS)]).astype("float32")
        before = tuple(np.full(array.shape, NAN, "uint32").view("float32") for array in before)
    parts = in_parts(a, b, splits)
    return Case(
        parameters,
        arguments=(
            *(Value(name, np.int32(size)) for name, size in (("m", m), ("n", n), ("k", k), ("splits", splits))),
            Value("count", np.int32(m * n)),
            Array("a", a),
            Array("b", b),
            Array("parts", before[0], parts),
            Array("c", before[1], added(parts)),
        ),
        steps=(
            Step(
                "partial", (blocks_for(n, 16), blocks_for(m, 16), splits), (16, 16, 1),
                ("m", "n", "k", "splits", "a", "b", "parts"),
            ),
            Step("add_parts", (blocks_for(m * n, 256), 1, 1), (256, 1, 1), ("count", "splits", "parts", "c")),
        ),
    )  # fmt: skip


def in_parts(a, b, splits, depth=None):
    """The parts of the product, of `depth` k each."""
    k = b.shape[0]
    depth = -(-k // splits) if depth is None else depth
    cuts = [slice(min(s * depth, k), min((s + 1) * depth, k)) for s in range(splits)]
    return np.stack([a[:, cut] @ b[cut] for cut in cuts])


def added(parts):
    """Their sum, one part after the other."""
    total = np.zeros(parts.shape[1:], "float32")
    for part in parts:
        total += part
    return total


def even(case):
    """Part s from k * s / splits to k * (s + 1) / splits."""
    a, b, splits = of(case)
    cuts = [b.shape[0] * s // splits for s in range(splits + 1)]
    return np.stack([a[:, first:last] @ b[first:last] for first, last in pairwise(cuts)])


def of(case):
    """a, b and the number of splits."""
    return case.array("a").data, case.array("b").data, case.parameters["splits"]


def rounded_down(case):
    a, b, splits = of(case)
    return in_parts(a, b, splits, b.shape[0] // splits)


def to_the_end(case):
    """Each part from its beginning up to k."""
    a, b, splits = of(case)
    starts = np.minimum(np.arange(splits) * -(-b.shape[0] // splits), b.shape[0])
    return np.stack([a[:, start:] @ b[start:] for start in starts])


def one_more(case):
    """Each part with the first k of the next one."""
    a, b, splits = of(case)
    depth = -(-b.shape[0] // splits)
    return np.stack([a[:, s * depth : (s + 1) * depth + 1] @ b[s * depth : (s + 1) * depth + 1] for s in range(splits)])


def every_split_does_all(case):
    a, b, splits = of(case)
    return np.stack([a @ b] * splits)


def every_other(case):
    """Part s with k = s, s + splits, …"""
    a, b, splits = of(case)
    return np.stack([a[:, s::splits] @ b[s::splits] for s in range(splits)])


def transposed(case):
    """What comes out if b is read as if its columns lay one after the other."""
    a, b, splits = of(case)
    return in_parts(a, b.reshape(b.shape[::-1]).T, splits)


def without_one(case, which):
    parts = case.array("parts").expected
    return parts.sum(axis=0) - parts[which]


def parts_left_out(o):
    """Is c without the first part, without the last one, or one part alone?"""
    return o.case.parameters["splits"] > 1 and (
        o.looks_like("c", lambda case: without_one(case, 0))
        or o.looks_like("c", lambda case: without_one(case, -1))
        or o.looks_like("c", lambda case: case.array("parts").expected[0])
        or o.looks_like("c", lambda case: case.array("parts").expected[-1])
    )


def empty_parts_alone(o):
    """Are the unwritten elements of `parts` all those of parts without any k, and these alone?"""
    case = o.case
    depth = -(-case.parameters["k"] // case.parameters["splits"])
    each = case.parameters["m"] * case.parameters["n"]
    first = -(-case.parameters["k"] // depth) if depth else 0
    left = o.unwritten_indices("parts")
    return bool(left) and min(left) >= first * each


def other_order(o):
    """Are the parts right, and c their sum but for what another order of additions rounds in another way?"""
    if o.guarded.fault is not None or o.wrong("parts").any() or not o.wrong("c").any():
        return False
    found, wanted = o.found("c"), o.case.array("c").wanted
    return bool((np.abs(found - wanted) <= 2e-6 * np.abs(wanted)).all())


def from_before(o):
    """Is an element not a number, though it was stored, where all of them were not numbers before?"""
    return bool(o.case.parameters["rounded"]) and any(
        (np.isnan(o.found(name)) & ~o.untouched(name)).any() for name in ("parts", "c")
    )


def limit(case):
    """Instructions of a wave: those of one part, with room; where parts are many and long, all of k are more."""
    depth = -(-case.parameters["k"] // case.parameters["splits"])
    return 2000 + 25 * depth if case.parameters["splits"] >= 6 and case.parameters["k"] >= 1000 else 2_000_000


exercise = Exercise(
    id="split-k",
    title="split-K in two passes",
    lesson="28_gemm_two",
    section="split-K",
    kernel="partial",
    signatures={
        "partial": "int m, int n, int k, int splits, const float* a, const float* b, float* parts",
        "add_parts": "int count, int splits, const float* parts, float* c",
    },
    minutes=30,
    make=make,
    owner=lambda case, index: None,
    reads=no_inputs,
    fixed_sizes="m, n and splits are at least 1",
    cases=(
        {"m": 5, "n": 7, "k": 23, "splits": 4, "rounded": 0},
        {"m": 40, "n": 18, "k": 50, "splits": 4, "rounded": 0},
        {"m": 16, "n": 16, "k": 64, "splits": 4, "rounded": 0},
        {"m": 3, "n": 2, "k": 5, "splits": 4, "rounded": 0},
        {"m": 1, "n": 1, "k": 1, "splits": 1, "rounded": 0},
        {"m": 2, "n": 3, "k": 0, "splits": 2, "rounded": 0},
        {"m": 9, "n": 14, "k": 40, "splits": 6, "rounded": 1},
        {"m": 20, "n": 60, "k": 2000, "splits": 9, "rounded": 0},
    ),
    kept=("rounded",),
    smallest={"m": 1, "n": 1, "k": 0, "splits": 1},
    shown={"m": 2, "n": 2, "k": 5, "splits": 3, "rounded": 0},
    instruction_limit=limit,
    requirements=(
        instructions(
            "atomics",
            r"(global|flat)_atomic",
            at_most=0,
            title="no atomic operations: each element of parts and c is stored by one thread",
            next_step="Atomic additions come in any order. A loop over the parts has one order.",
        ),
        work_shared(
            title="the workgroups share the work: a thread stores one element of each array",
            next_step="Which part does a block with blockIdx.z = s have? It stores that part alone.",
        ),
    ),
    causes=(
        Cause(
            "too-much-for-a-wave",
            "a wave executes far more instructions than one part needs",
            lambda o: o.timed_out(),
            "One layer of blocks does what others should do, or a loop does not end, or each k takes many instructions.",
            "Which k does the loop go over, and for which blockIdx.z?",
            explains=("timeout",),
        ),
        Cause(
            "past-the-end",
            "elements of a or b are read that do not exist",
            lambda o: (o.read_outside() or ("", 0))[0] in ("a", "b"),
            "k need not be a multiple of splits, so the last part can be shorter; and the last blocks have more "
            "threads than rows or columns are left.",
            "What is the largest i that a thread of the last part reads, and what is the largest that there is?",
        ),
        Cause(
            "missing-guard",
            "threads without an element store",
            lambda o: bool(o.outside("parts")) or bool(o.outside("c")),
            "The blocks cover more than m rows, n columns and count elements.",
            "What should a thread do whose row is m or more?",
            guard=("m", "n", "count"),
            explains=("race", "lane conflict"),
        ),
        Cause(
            "part-too-long",
            "a part has more k than its own",
            lambda o: o.looks_like("parts", to_the_end) or o.looks_like("parts", one_more),
            "A part ends where the next one begins, and the last one at k.",
            "Write down from and to of each part for k = 5 and splits = 4.",
        ),
        Cause(
            "rounded-down",
            "the last k are in no part",
            lambda o: o.looks_like("parts", rounded_down),
            "k / splits is rounded down: then splits parts are not enough for all of k.",
            "How many k are in all parts together for k = 7 and splits = 3?",
        ),
        Cause(
            "empty-part-not-stored",
            "parts without any k are not stored",
            empty_parts_alone,
            "add_parts reads all parts. One without any k is a sum of 0 and has to be stored.",
            "What does a thread do whose part begins behind k?",
        ),
        Cause(
            "some-not-stored",
            "some elements of parts are stored by no thread",
            lambda o: o.fault is None and bool(o.unwritten_indices("parts")),
            "add_parts adds what stands in parts. The blocks count columns in x, rows in y and parts in z.",
            "Which row, column and part has the first of these elements, and which block and thread should have it?",
        ),
        Cause(
            "every-split-does-all",
            "each part is the whole sum",
            lambda o: o.looks_like("parts", every_split_does_all),
            "Then c is the product times the number of parts.",
            "Where does blockIdx.z say which k the loop has?",
        ),
        Cause(
            "every-other-k",
            "part s has k = s, s + splits and so on",
            lambda o: o.looks_like("parts", every_other),
            "All k are there, but the k of a part are neighbours, which lie side by side in a row of a.",
            "Which k are part 0 for k = 7 and splits = 3?",
        ),
        Cause(
            "cut-evenly",
            "the parts are cut at k * s / splits",
            lambda o: o.looks_like("parts", even),
            "All k are there, but the parts differ from those of the text: each has ⌈k / splits⌉ of them, as long as "
            "there are so many.",
            "Where does part 1 begin for k = 7 and splits = 3?",
        ),
        Cause(
            "b-transposed",
            "b is read as if its columns lay one after the other",
            lambda o: o.looks_like("parts", transposed),
            "b is stored row by row: i says which row.",
            "How far apart are b[i][column] and b[i + 1][column] in memory?",
        ),
        Cause(
            "parts-in-another-order",
            "the parts of an element are stored as neighbours",
            lambda o: o.looks_like("parts", lambda case: np.moveaxis(case.array("parts").wanted, 0, -1).ravel()),
            "parts has all elements of part 0, then all of part 1: the index is (s * m + row) * n + column.",
            "At which index of parts does part 1 begin?",
        ),
        Cause(
            "parts-left-out",
            "c does not have all parts",
            parts_left_out,
            "The parts themselves are right. c is the sum of all of them.",
            "Which s does the loop in add_parts begin and end with?",
        ),
        Cause(
            "values-before",
            "what was in parts or c before the launch is used",
            from_before,
            "In this case all of parts and c are not a number (NaN) before the launch, and a sum or product with NaN "
            "is NaN.",
            "Which line reads an element before it is stored?",
        ),
        Cause(
            "other-order",
            "the parts are added in another order than that of s",
            other_order,
            "Floats are rounded after each addition, so that another order can give other bits.",
            "In which order does your loop add part 0, 1 and 2, and are all of them added to one sum?",
        ),
        Cause(
            "wrong-sum",
            "the parts are right, and c is not their sum",
            lambda o: o.guarded.fault is None and not o.wrong("parts").any() and bool(o.wrong("c").any()),
            "Element i of part s lies at s * count + i.",
            "How far apart are the parts of one element in memory?",
        ),
    ),
    hints=(
        "A thread of `partial` is a thread of the plain product of lesson 16, whose loop does not go from 0 to k. "
        "Where it begins and ends depends on blockIdx.z alone.",
        "`depth = (k + splits - 1) / splits` is k / splits, rounded up. A part begins at `from = s * depth` and ends "
        "at `min(from + depth, k)`. A thread whose loop does nothing stores 0.",
        "`for (int i = from; i < to; i++) sum += a[row * k + i] * b[i * n + column];` In "
        "`add_parts`: `for (int s = 0; s < splits; s++) sum += parts[s * count + i];`",
    ),
)
