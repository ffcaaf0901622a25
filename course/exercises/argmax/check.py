"""argmax: the largest element of each row and where it first occurs, packed into one 64-bit number."""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, combinations
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.requirements import limited, loaded_by_lanes
from gpulab.grading.sources import in_loop

ROWS = 3


def pack(values, indices):
    """Keys whose order is that of the values, and for equal values the other way round that of the indices."""
    ordered = np.asarray(values).astype("int32").view("uint32") ^ np.uint32(1 << 31)
    return ordered.astype("uint64") << np.uint64(32) | (~np.asarray(indices).astype("uint32")).astype("uint64")


def best_of(keys):
    """The largest key of each row; 0 if a row has none."""
    return keys.max(axis=1) if keys.shape[1] else np.zeros(ROWS, "uint64")


def make(parameters, random):
    n, block = parameters["n"], parameters["block"]
    data = random.integers(-1000, 20, (ROWS, n)).astype("int32")
    if n >= 100:  # more bits than a float has
        data *= 2_097_153
    if n:
        data[0] = -1 - abs(data[0])  # a row without a positive element
        largest = data.max(axis=1)
        for row in range(ROWS):  # the largest element occurs again, further to the right
            again = random.integers(0, n)
            data[row, max(again, int(data[row].argmax()))] = largest[row]
        if n >= 100:  # and, in one row, in the same wave
            data[1, min(int(data[1].argmax()) + 1, n - 1)] = largest[1]
    places = np.broadcast_to(np.arange(n), (ROWS, n))
    return Case(
        parameters,
        grid=(blocks_for(n, block), ROWS, 1),
        block=(block, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Array("in", data),
            Array("best", np.zeros(ROWS, "uint64"), best_of(pack(data, places))),
        ),
    )


def race_with(o, *kinds):
    """A race in global memory in which one of the two accesses is of this kind and the other one of that."""
    fault = o.fault
    return (
        fault is not None
        and fault.kind in ("race", "lane conflict")
        and fault.memory == "global"
        and (fault.other is None or {fault.access, fault.other.access} == set(kinds))
    )


def keys_of(case):
    data = case.array("in").data
    return pack(data, np.broadcast_to(np.arange(data.shape[1]), data.shape))


def last_of_equals(case):
    data = case.array("in").data
    places = np.broadcast_to(np.arange(data.shape[1]), data.shape)
    return best_of(pack(data, ~places))


def without_sign(case):
    data = case.array("in").data
    ordered = data.view("uint32").astype("uint64") << np.uint64(32)
    keys = ordered | (~np.arange(data.shape[1], dtype="uint32")).astype("uint64")
    return best_of(keys)


def of_first_row(case):
    """What comes out if the blocks of all rows read the first one."""
    return np.repeat(best_of(keys_of(case))[:1], ROWS)


def all_ones_above(o):
    """Is each result a flipped column with ones in its whole upper half, as a negative int becomes with 64 bits?"""
    found, n = o.found("best"), o.case.parameters["n"]
    return o.fault is None and bool(o.wrong("best").any()) and bool((found >= np.uint64((1 << 64) - n)).all())


def smallest(case):
    """What comes out if the order of the values is the other way round."""
    data = case.array("in").data
    return best_of(pack(-1 - data, np.broadcast_to(np.arange(data.shape[1]), data.shape)))


def index_above(case):
    data = case.array("in").data
    low = (data.view("uint32") ^ np.uint32(1 << 31)).astype("uint64")
    return best_of((~np.arange(data.shape[1], dtype="uint32")).astype("uint64") << np.uint64(32) | low)


EXCHANGE = r"\batomic(?:CAS|Exch)|exchange|compare_and_swap"
COMPARE_AND_SWAP = r"\batomicCAS\w*|compare_exchange|compare_and_swap"


def gives_up(o):
    """Another element wins, and there is a compare and swap that is never tried again."""
    return other_element(o) and o.uses(COMPARE_AND_SWAP) and not in_loop(o.source, COMPARE_AND_SWAP)


def other_element(o):
    """Is every wrong result the key of an element of its row, though not of the largest?"""
    keys, found = keys_of(o.case), o.found("best")
    return (
        o.fault is None
        and bool(o.wrong_indices("best"))
        and all(found[row] in keys[row] for row in o.wrong_indices("best"))
    )


def with_columns(columns):
    """The keys if columns are those that a function of the case, of rows and of columns gives."""
    return lambda case: best_of(pack(case.array("in").data, columns(case, *np.indices(case.array("in").data.shape))))


OTHER_COLUMNS = (
    with_columns(lambda case, row, column: row * case.parameters["n"] + column),
    with_columns(lambda case, row, column: column % case.block[0]),
    with_columns(lambda case, row, column: column + 1),
    with_columns(lambda case, row, column: column - 1),
)
"""Counted from the first element of all, from that of the block, from 1, and from -1, as a negated column is."""


def not_the_first(o):
    """Is every wrong result the key of an element that is as large as the largest, but not the first of these?"""
    data, found = o.case.array("in").data, o.found("best")
    keys, largest = keys_of(o.case), data.max(axis=1, initial=-(1 << 31), keepdims=True)
    return (
        o.fault is None
        and bool(o.wrong_indices("best"))
        and all(found[row] in keys[row][data[row] == largest[row]] for row in o.wrong_indices("best"))
    )


def value_as_float(case):
    data = case.array("in").data.astype("float32").astype("int64").clip(-(1 << 31), (1 << 31) - 1).astype("int32")
    return best_of(pack(data, np.broadcast_to(np.arange(data.shape[1]), data.shape)))


exercise = Exercise(
    id="argmax",
    title="the largest element and its place in one atomic",
    lesson="10_atomics",
    section="The value that an atomic returns",
    kernel="argmax",
    signature="int n, const int* in, unsigned long long* best",
    minutes=20,
    make=make,
    cases=combinations(n=(1000, 100, 2, 1, 0), block=(256, 64)),
    smallest={"n": 1, "block": 64},
    owner=lambda case, index: None,
    shown={"n": 8, "block": 64},
    causes=(
        Cause(
            "first-row-read",
            "each result is that of the first row",
            lambda o: o.looks_like("best", of_first_row),
            "The rows lie one after the other, and blockIdx.y says which one a block has.",
            "At which index of in does the row with the number blockIdx.y begin?",
        ),
        Cause(
            "ones-above",
            "the upper half of every key is all ones: the value is not seen any more",
            all_ones_above,
            "An int below 0 that becomes a number of 64 bits has ones in all upper bits, and ~i is below 0.",
            "Of which type are the two numbers that you put together, and of which type is ~i?",
        ),
        Cause(
            "smallest",
            "the smallest element wins, not the largest",
            lambda o: o.looks_like("best", smallest),
            "Of a value the highest bit is flipped, and no other.",
            "Which key is larger in your kernel: that of 1 or that of 2?",
        ),
        Cause(
            "missing-guard",
            "threads without an element take part",
            lambda o: o.fault is not None and o.fault.kind in ("out of bounds", "null"),
            "The last block has more threads than elements are left.",
            "Which threads of the last block have an element?",
            guard=("n",),
        ),
        Cause(
            "not-atomic",
            "comparing and storing are two steps",
            lambda o: race_with(o, "read", "write") or race_with(o, "write"),
            "Between reading best and writing it, another thread may have written a larger key, which is then lost.",
            "Which atomic operation compares and stores in one step?",
        ),
        Cause(
            "plain-read",
            "best is read without an atomic operation while other threads change it",
            lambda o: race_with(o, "read", "atomic") and o.uses(r"\batomicMax|fetch_max") and not o.uses(EXCHANGE),
            "atomicMax compares with the number that is stored, so that nothing is lost. But the other read of best is "
            "an ordinary one, and it is at the same time as the atomic operations of other threads: a data race.",
            "Is the other read of best needed? If so, it has to be atomic, too.",
        ),
        Cause(
            "check-then-store",
            "best is compared first, and changed atomically afterwards",
            lambda o: race_with(o, "read", "atomic") or race_with(o, "write", "atomic"),
            "Each of the two is right by itself, but between them another thread may have stored a larger key.",
            "Which atomic operation does both? Or: what does atomicCAS return?",
        ),
        Cause(
            "sign-bit",
            "negative values count as larger than positive ones",
            lambda o: o.fault is None and o.looks_like("best", without_sign),
            "The largest bit of a negative int is 1, so that as an unsigned number it is larger than any positive one.",
            "Flip one bit, and the order of unsigned numbers is that of the ints.",
        ),
        Cause(
            "last-of-equals",
            "of equal elements the last one wins, not the first",
            lambda o: o.fault is None and o.looks_like("best", last_of_equals),
            "For the same value the larger lower half decides. With the index itself there, that is the larger index.",
            "What must be in the lower half, so that a small index makes a large number?",
        ),
        Cause(
            "value-as-float",
            "the values are rounded, as floats are",
            lambda o: o.fault is None and o.looks_like("best", value_as_float),
            "A float has 24 bits. An int that needs more of them is rounded on the way through one.",
            "Of which type is each variable that holds an element?",
        ),
        Cause(
            "index-above-value",
            "the index is in the upper half of the key",
            lambda o: o.fault is None and o.looks_like("best", index_above),
            "The upper half decides first.",
            "Which of the two should decide first? Shift that one by 32.",
        ),
        Cause(
            "no-second-try",
            "a thread gives up when another thread has changed best meanwhile",
            gives_up,
            "A compare and swap that failed stored nothing; the element is then forgotten, even if it is the largest.",
            "What does atomicCAS return if it failed? Compare with that, and try again.",
        ),
        Cause(
            "another-column",
            "the value is right, and the column is counted from another place than the row's beginning",
            lambda o: o.fault is None and any(o.looks_like("best", predicted) for predicted in OTHER_COLUMNS),
            "The first element of each row has column 0, whatever its row and its block are.",
            "Which column has the first element of row 1 in your keys, and which one has the first element of block 1?",
        ),
        Cause(
            "not-first-of-equals",
            "the largest element is found, but not where it first occurs",
            not_the_first,
            "Several elements of the row are equal. One that stands further to the right was kept, or the first one was not "
            "compared with them.",
            "Wherever two elements are compared: which of them is kept if they are equal? And is each of them compared?",
        ),
        Cause(
            "smaller-element",
            "a smaller element of the row wins",
            other_element,
            "The keys that were found are well made. But the largest one was not compared with them, or a smaller one "
            "took its place.",
            "Which thread has the largest element? Follow its key from line to line.",
        ),
    ),
    requirements=(
        limited(
            "one-thread-alone",
            "atomic operations on global memory, counted by lanes",
            lambda o: sum(
                access.lanes
                for launch in o.measured
                for access in launch.accesses
                if access.action == "atomic" and access.space in ("global", "flat")
            ),
            at_least=ROWS,  # a compare and swap is tried only with a better key, at least once a row
            title="best is changed by an atomic operation",
            when=lambda case: case.parameters["n"] >= 1000,
            next_step="If one thread reads a whole row alone, all other lanes are idle. Let each thread make the key "
            "of one element; which atomic operation then keeps the largest?",
        ),
        loaded_by_lanes(
            "loaded-by-the-wave",
            "in",
            title="the lanes of a wave load the elements together",
            when=lambda case: case.parameters["n"] >= 1000,
        ),
    ),
    hints=(
        "Make one 64-bit number of value and index, so that the larger number is the better element. Then the "
        "task is a "
        "maximum.",
        "Upper half: the value with its sign bit flipped, `(unsigned)in[row * n + i] ^ 0x80000000u`. Lower half: "
        "`~(unsigned)i`, which is larger for smaller indices. Cast the upper half to unsigned long long before you "
        "shift it by 32.",
        "`unsigned value = (unsigned)in[row * n + i] ^ 0x80000000u;` with `row = blockIdx.y`; then `unsigned long "
        "long key = (unsigned long long)value << 32 | ~(unsigned)i; atomicMax(&best[row], key);` and all of that "
        "under `if (i < n)`.",
    ),
)
