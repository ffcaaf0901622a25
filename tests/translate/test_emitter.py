"""IR values have types: what is a constant is known without a look at its text."""

import pytest

from gpulab.virtual_gpu.translate.emitter import (
    TRUE,
    ZERO,
    ZEROS,
    Constant,
    Emitter,
    Integer,
    Value,
    splat,
    splats,
)


def test_values_stand_in_texts_as_llvm_writes_them():
    e = Emitter()
    total = e.let(f"add i64 {Integer(5)}, {Integer(-1)}")
    e.do(f"store i64 {total}, ptr %place")
    assert e.lines == ["  %t1 = add i64 5, -1", "  store i64 %t1, ptr %place"]
    assert not isinstance(total, Constant)


@pytest.mark.parametrize(
    ("base", "offset", "expected"), [(Integer(8), 4, "12"), (ZERO, -4, "-4"), (Integer(-8), 8, "0")]
)
def test_numbers_are_added_at_translation(base, offset, expected):
    e = Emitter()
    found = e.added(base, offset)
    assert (found, type(found), e.lines) == (expected, Integer, [])


def test_what_is_not_known_is_added_by_an_instruction():
    e = Emitter()
    base: Value = e.let("load i64, ptr %p")
    assert not isinstance(e.added(base, 4), Constant)
    assert e.lines[-1] == "  %t2 = add i64 %t1, 4"


def test_a_splat_of_a_constant_is_a_constant():
    e = Emitter(lanes=8)
    assert splat(e, "i1", TRUE) == "splat (i1 true)"
    assert splat(e, "i64", Integer(-1)) == splats(64, -1) == "splat (i64 -1)"
    assert isinstance(splats(32, 7), Constant)
    assert not isinstance(ZEROS, Integer)
    assert e.lines == []


@pytest.mark.parametrize("lanes", [8, 16])
def test_a_splat_of_a_local_is_in_all_lanes_of_the_chunk(lanes):
    e = Emitter(lanes=lanes)
    found = splat(e, "i32", e.ahead("seen"))
    assert not isinstance(found, Constant)
    assert e.lines == [
        f"  %t1 = insertelement <{lanes} x i32> poison, i32 %seen.1, i32 0",
        f"  %t2 = shufflevector <{lanes} x i32> %t1, <{lanes} x i32> poison, <{lanes} x i32> zeroinitializer",
    ]
