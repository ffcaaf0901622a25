"""Cases of exercises: how their elements are named."""

from dataclasses import replace

import numpy as np
import pytest

from gpulab.errors import CheckError
from gpulab.grading.case import (
    Array,
    Buffer,
    Case,
    Prototype,
    Step,
    Value,
    blocks_for,
    combinations,
    differs,
    distinct,
    guard_values,
    no_inputs,
    same_place,
    sentinel,
    thread_of,
)


@pytest.mark.parametrize(
    ("shape", "flat", "name"),
    [
        ((3, 4), 0, "out[0] (row 0, column 0)"),
        ((3, 4), 7, "out[7] (row 1, column 3)"),
        ((3, 4), 11, "out[11] (row 2, column 3)"),
        ((3, 4), 12, "out[12]"),  # one past the end has no row
        ((3, 4), -1, "out[-1]"),
        ((12,), 7, "out[7]"),
    ],
)
def test_an_element_is_named_with_its_row_and_column(shape, flat, name):
    assert Array("out", np.zeros(shape, np.float32)).index_text(flat) == name


N, OUT = Value("n", np.int32(3)), Array("out", sentinel("int32", 4), np.ones(4, "int32"))
GIVEN = Array("in", np.arange(4, dtype="int32"))
SCRATCH = Array("s", np.arange(4, dtype="int32"), scratch=True)
CASE = Case({"n": 3, "block": 4}, (2, 3, 1), (4, 5, 1), (N, GIVEN, OUT, SCRATCH), lds=64, cooperative=True)


def test_arguments_by_name():
    assert CASE.arrays == (GIVEN, OUT, SCRATCH)
    assert CASE.outputs == (OUT,)
    assert (CASE.array("out"), CASE.value("n"), CASE.argument("n"), CASE.argument("in")) == (OUT, 3, N, GIVEN)
    for name in ("absent", "in"):
        case = replace(CASE, arguments=(*CASE.arguments, GIVEN))
        with pytest.raises(CheckError, match=f"passes '{name}', which is no argument"):
            case.argument(name)


def test_launches():
    (step,) = CASE.launches("k")
    assert step == Step("k", (2, 3, 1), (4, 5, 1), ("n", "in", "out", "s"), 64, True)
    assert (step.threads, CASE.threads) == (120, 120)
    sizes = {"a": ((1, 1, 1), (8, 1, 1)), "b": ((4, 1, 1), (4, 1, 1)), "c": ((2, 1, 1), (1, 1, 1))}
    steps = tuple(Step(name, grid, block, ()) for name, (grid, block) in sizes.items())
    several = Case({"n": 3, "wave": 64}, steps=steps)
    assert several.launches("k") == steps
    assert (several.grid, several.block, several.threads) == ((4, 1, 1), (4, 1, 1), 16)
    assert several.text() == (
        "n = 3; a: 1 block, 8 threads each, then b: 4 blocks, 4 threads each, then c: 2 blocks, 1 thread each"
    )


@pytest.mark.parametrize(
    ("grid", "block", "text"),
    [
        ((1, 1, 1), (1, 1, 1), "1 block, 1 thread each"), ((2, 1, 1), (64, 1, 1), "2 blocks, 64 threads each"),
        ((2, 3, 1), (4, 5, 6), "2 x 3 blocks, 4 x 5 x 6 threads each"),
        ((1, 3, 1), (1, 1, 2), "1 x 3 blocks, 1 x 1 x 2 threads each"),
    ],
)  # fmt: skip
def test_extents_in_words(grid, block, text):
    assert Case({"n": 3, "m": 4, "block": 9, "wave": 64}, grid, block).text() == f"n = 3, m = 4; grid of {text}"
    assert Case({"block": 9}, grid, block).text() == f"grid of {text}"


def test_what_a_launch_finds():
    assert GIVEN.is_given
    assert not SCRATCH.is_given
    assert not OUT.is_given
    assert (OUT.is_output, GIVEN.is_output) == (True, False)
    partly = sentinel("int32", 4)
    partly[3] = 0
    assert Array("x", partly).is_given
    assert (OUT.wanted == 1).all()
    assert (GIVEN.wanted == GIVEN.data).all()


@pytest.mark.parametrize(
    ("dtype", "pattern"),
    [("uint8", 0xA5), ("float16", 0xDEAD), ("int16", 0xDEAD), ("float32", 0xDEADBEEF), ("float64", 0xDEADBEEFDEADBEEF)],
)  # fmt: skip
def test_marks(dtype, pattern):
    marks = sentinel(dtype, 3)
    assert marks.dtype == dtype
    size = marks.itemsize
    assert [int(each) for each in marks.view(f"uint{8 * size}")] == [pattern] * 3
    assert sentinel(dtype, (2, 3)).shape == (2, 3)
    guards = guard_values(dtype, 2, 4).view(f"uint{8 * size}")
    assert [int(each) for each in guards] == [pattern ^ 5] * 2
    buffer = Buffer(Array("a", np.zeros((2, 2), dtype)), 2, 4).contents
    assert buffer.view(f"uint{8 * size}").tolist() == [pattern ^ 5] * 2 + [0] * 4 + [pattern ^ 5] * 2
    first = Buffer(Array("a", np.zeros(1, dtype)), 1).contents
    assert first.view(f"uint{8 * size}").tolist() == [pattern ^ 1, 0, pattern ^ 1]


@pytest.mark.parametrize(
    ("shape", "dtype", "whole", "eighths"),
    [
        (99, "float32", False, False), (100, "float32", False, True), ((10, 10), "float64", False, True),
        ((9, 11), "float32", False, False), (100, "int32", False, False), (100, "float32", True, False),
    ],
)  # fmt: skip
def test_many_floats_are_eighths_from_512_on(shape, dtype, whole, eighths):
    """Which an int would cut, and a half would round."""
    found = distinct(np.random.default_rng(1), shape, dtype, whole)
    count = int(np.prod(shape))
    first, step = (512.125, 0.125) if eighths else (1, 1)
    assert (found.shape, found.dtype) == ((shape if isinstance(shape, tuple) else (shape,)), dtype)
    assert sorted(found.reshape(-1).tolist()) == [first + step * number for number in range(count)]
    assert (found.reshape(-1)[1:] < found.reshape(-1)[:-1]).any(), "shuffled"


def test_distinct_numbers():
    found = distinct(np.random.default_rng(1), (2, 5), "int32")
    assert (found.shape, found.dtype) == ((2, 5), "int32")
    assert sorted(found.reshape(-1).tolist()) == list(range(1, 11))


@pytest.mark.parametrize(("count", "blocks"), [(0, 1), (1, 1), (63, 1), (64, 1), (65, 2), (128, 2), (129, 3)])
def test_blocks_for(count, blocks):
    assert blocks_for(count, 64) == blocks


def test_combinations():
    assert combinations(n=(1, 2), block=(3, 4)) == (
        {"n": 1, "block": 3}, {"n": 1, "block": 4}, {"n": 2, "block": 3}, {"n": 2, "block": 4}
    )  # fmt: skip


@pytest.mark.parametrize(
    ("grid", "block", "index", "place"),
    [
        ((2, 1, 1), (4, 1, 1), 0, ((0, 0, 0), (0, 0, 0))), ((2, 1, 1), (4, 1, 1), 7, ((1, 0, 0), (3, 0, 0))),
        ((2, 1, 1), (4, 1, 1), 8, None), ((2, 1, 1), (4, 1, 1), -1, None), ((2, 2, 1), (4, 1, 1), 0, None),
        ((2, 1, 2), (4, 1, 1), 0, None), ((2, 1, 1), (4, 2, 1), 0, None), ((2, 1, 1), (4, 1, 2), 0, None),
    ],
)  # fmt: skip
def test_the_thread_of_an_index(grid, block, index, place):
    assert thread_of(Case({}, grid, block), index) == place


def test_inputs_of_the_same_shape():
    other = Array("other", np.zeros(5, "int32"))
    case = replace(CASE, arguments=(*CASE.arguments, other))
    assert same_place(case, "out", 2) == [("in", 2)]
    assert same_place(case, "other", 2) == [("other", 2)]
    assert no_inputs(case, "out", 2) == ()


@pytest.mark.parametrize(
    ("found", "wanted", "limits", "wrong"),
    [
        ([1.0, 2.0], [1.0, 2.5], {}, [False, True]), ([-0.0], [0.0], {}, [False]), ([np.nan], [np.nan], {}, [False]),
        ([1.01], [1.0], {"relative": 0.0101}, [False]), ([1.01], [1.0], {"relative": 0.0099}, [True]),
        ([0.01], [0.0], {"absolute": 0.0101}, [False]), ([0.01], [0.0], {"absolute": 0.0099}, [True]),
        ([101.0], [100.0], {"relative": 0.0101, "absolute": 0.5}, [False]),
        ([100.4], [100.0], {"relative": 0.001, "absolute": 0.5}, [False]),
        ([-1.01], [-1.0], {"relative": 0.0101}, [False]), ([np.nan], [1.0], {"relative": 1.0}, [True]),
        ([1.0], [np.nan], {"relative": 1.0}, [True]), ([np.nan], [np.nan], {"relative": 0.1}, [False]),
        ([np.inf], [1.0], {"relative": 0.1}, [True]), ([np.inf], [np.inf], {"relative": 0.1}, [False]),
        ([5.0], [-np.inf], {"relative": 0.1}, [True]), ([np.inf], [-np.inf], {"absolute": 9}, [True]),
        ([7.0], [1.0], {"scratch": True}, [False]),
    ],
)  # fmt: skip
def test_what_differs(found, wanted, limits, wrong):
    array = Array("a", np.zeros(len(wanted), "float32"), np.array(wanted, "float32"), **limits)
    assert differs(np.array(found, "float32"), array).tolist() == wrong
    complex_ = Array("a", np.zeros(len(wanted), "complex64"), np.array(wanted, "complex64"), **limits)
    assert differs(np.array(found, "complex64"), complex_).tolist() == wrong


def test_whole_numbers_are_exact():
    array = Array("a", np.zeros(2, "int32"), np.array([100, 7], "int32"), relative=0.5)
    assert differs(np.array([101, 7], "int32"), array).tolist() == [True, False]


def test_how_a_kernel_starts():
    assert Prototype("k", "int n", ()).start == "__global__ void k(int n)"
