"""v_cmp_* and v_cmpx_*: every condition for less, equal, greater and unordered operands, and the ten float classes."""

import math

import pytest

from gpulab.virtual_gpu import isa
from tests.isa.rows import run

# condition -> result for (a < b, a == b, a > b, one is NaN); RDNA3 ISA manual 16.12
FLOAT = {
    "f": (0, 0, 0, 0),
    "lt": (1, 0, 0, 0),
    "eq": (0, 1, 0, 0),
    "le": (1, 1, 0, 0),
    "gt": (0, 0, 1, 0),
    "lg": (1, 0, 1, 0),
    "ge": (0, 1, 1, 0),
    "o": (1, 1, 1, 0),
    "u": (0, 0, 0, 1),
    "nge": (1, 0, 0, 1),
    "nlg": (0, 1, 0, 1),
    "ngt": (1, 1, 0, 1),
    "nle": (0, 0, 1, 1),
    "neq": (1, 0, 1, 1),
    "nlt": (0, 1, 1, 1),
    "tru": (1, 1, 1, 1),
}
INTEGER = {"f": "000", "lt": "100", "eq": "010", "le": "110", "gt": "001", "ne": "101", "ge": "011", "t": "111"}
PAIRS = ((-1.0, 2.0), (0.0, -0.0), (math.inf, 5.0))
NANS = {"f16": 0x7E00, "f32": 0x7FC00000, "f64": 0x7FF8000000000000}


@pytest.mark.parametrize("type", ["f16", "f32", "f64"])
@pytest.mark.parametrize("condition", FLOAT)
def test_float_conditions(condition, type):
    pairs = (*PAIRS, (NANS[type], 1.0))
    for arch in ("gfx942", "gfx1100"):
        assert tuple(run(arch, f"v_cmp_{condition}_{type}", a, b)[0] for a, b in pairs) == FLOAT[condition]
        assert run(arch, f"v_cmp_{condition}_{type}", 1.0, NANS[type])[0] == FLOAT[condition][3]


@pytest.mark.parametrize("type", ["i16", "u16", "i32", "u32", "i64", "u64"])
@pytest.mark.parametrize("condition", INTEGER)
def test_integer_conditions(condition, type):
    top = 1 << (int(type[1:]) - 1)
    pairs = ((top, 1), (top, top), (1, top)) if type[0] == "i" else ((1, top), (top, top), (top, 1))
    expected = tuple(int(x) for x in INTEGER[condition])
    assert tuple(run("gfx942", f"v_cmp_{condition}_{type}", a, b)[0] for a, b in pairs) == expected


def test_cmpx_writes_exec_and_on_gfx9_a_mask_too():
    assert run("gfx942", "v_cmpx_lt_i32", -1, 2) == (1, 1)
    assert run("gfx1100", "v_cmpx_lt_i32", -1, 2) == (1,)
    old, new = isa.table("gfx942")["v_cmpx_lt_i32"], isa.table("gfx1100")["v_cmpx_lt_i32"]
    assert [r.name for r in old.graph()[0]] == ["dst", "exec"]
    assert [r.name for r in new.graph()[0]] == ["exec"]


CLASSES = {
    "f16": (0x7C01, 0x7E00, 0xFC00, 0xC000, 0x8001, 0x8000, 0x0000, 0x0001, 0x3C00, 0x7C00),
    "f32": (
        *(0x7F800001, 0x7FC00000, 0xFF800000, 0xC0000000, 0x80000001),
        *(0x80000000, 0x00000000, 0x00000001, 0x3F800000, 0x7F800000),
    ),
    "f64": (
        *(0x7FF0000000000001, 0x7FF8000000000000, 0xFFF0000000000000, 0xC000000000000000, 0x8000000000000001),
        *(0x8000000000000000, 0, 1, 0x3FF0000000000000, 0x7FF0000000000000),
    ),
}


@pytest.mark.parametrize("type", CLASSES)
def test_each_class_is_its_own_bit(type):
    for bit, number in enumerate(CLASSES[type]):
        found = [run("gfx1100", f"v_cmp_class_{type}", number, 1 << i)[0] for i in range(10)]
        assert found == [int(i == bit) for i in range(10)]


def test_class_tests_see_denormals_whatever_the_mode():
    assert not isa.table("gfx942")["v_cmp_class_f32"].float_mode
    assert isa.table("gfx942")["v_cmp_lt_f32"].float_mode
