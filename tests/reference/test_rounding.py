"""MODE's rounding on the reference machine: f16 against a search in the table of all its numbers, others by hand."""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

from gpulab.virtual_gpu.isa.expression import b1
from gpulab.virtual_gpu.reference.numpy_reader import dtype, evaluate
from tests.isa.rows import row_of

NEAREST, UP, DOWN, ZERO = range(4)  # CDNA3 ISA manual 4.2: FP_ROUND
OVERFLOW_TO_MAX = 1 << 23  # FP16_OVFL
MODES = pytest.mark.parametrize("rounding", [NEAREST, UP, DOWN, ZERO])
MINUS = 0x8000

SIZES = [Fraction(float(x)) for x in np.arange(0x7C00, dtype=np.uint16).view(np.float16)] + [Fraction(65536)]


def half(exact: Fraction, rounding: int, saturate: bool = False) -> int:
    """The f16 for a number that is not zero, found in the table of all f16; 65536 stands for infinity."""
    negative, size = exact < 0, abs(exact)
    low = min(bisect_right(SIZES, size) - 1, 0x7BFF)
    if SIZES[low] == size:
        found = low
    elif rounding == NEAREST:
        below, above = size - SIZES[low], SIZES[low + 1] - size
        found = low if below < above or (below == above and low % 2 == 0) else low + 1
    else:
        found = low + (rounding == (DOWN if negative else UP))
    return min(found, 0x7BFF if saturate else 0x7C00) | MINUS * negative


def results(mnemonic: str, arguments: list[np.ndarray], mode: int) -> np.ndarray:
    """Bits of a row of gfx942 for numbers of its parameters' types."""
    row = row_of("gfx942", mnemonic)
    given = iter(arguments)
    typed = [np.bool_(False) if p.type == b1 else next(given).astype(dtype(p.type)) for p in row.parameters]
    found = evaluate(row.graph()[1], typed, mode)[0]
    return found.view(f"uint{8 * found.itemsize}")


def halves(*bits: int) -> list[np.ndarray]:
    return [np.array([b], np.uint16).view(np.float16) for b in bits]


HALVES = np.array(
    [0x0001, 0x0002, 0x03FF, 0x0400, 0x0401, 0x1000, 0x2C01, 0x3555, 0x3BFF, 0x3C00, 0x3C01, 0x3C02, 0x4248, 0x5BFF,
     0x63FE, 0x7800, 0x7BFE, 0x7BFF], np.uint16,
)  # fmt: skip
FINITE = np.concatenate([HALVES, HALVES | MINUS]).view(np.float16)

EXACT = {
    "v_add_f16": lambda a, b: a + b,
    "v_sub_f16": lambda a, b: a - b,
    "v_subrev_f16": lambda a, b: b - a,
    "v_mul_f16": lambda a, b: a * b,
}


@pytest.mark.full
@MODES
@pytest.mark.parametrize("saturate", [False, True])
@pytest.mark.parametrize("mnemonic", EXACT)
def test_operations_of_two_halves(mnemonic, rounding, saturate):
    pairs = [(a, b) for a, b in product(FINITE, FINITE) if EXACT[mnemonic](Fraction(float(a)), Fraction(float(b)))]
    columns = [np.array(column, np.float16) for column in zip(*pairs, strict=True)]
    mode = rounding << 2 | (rounding ^ 3) | OVERFLOW_TO_MAX * saturate  # the field of f32 says something else
    found = results(mnemonic, columns, mode).tolist()
    wanted = [half(EXACT[mnemonic](*(Fraction(float(x)) for x in pair)), rounding, saturate) for pair in pairs]
    assert found == wanted


@MODES
def test_a_fused_operation_rounds_once(rounding):
    triples = [(a, b, c) for (a, b), c in product(pairwise(FINITE), FINITE[::5])]
    triples = [t for t in triples if Fraction(float(t[0])) * Fraction(float(t[1])) + Fraction(float(t[2]))]
    found = results("v_fma_f16", [np.array(x, np.float16) for x in zip(*triples, strict=True)], rounding << 2 | 3)
    exact = [Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c)) for a, b, c in triples]
    assert found.tolist() == [half(x, rounding) for x in exact]


@MODES
def test_conversions_to_half(rounding):
    singles = np.array([1 + 2**-11, -1 - 2**-11, 1 + 3 * 2**-11, 65519.9, 65520, -65520, 1e30, 2**-25, -(2**-26),
                        2**-24, 1.5 * 2**-24, 2**-14 - 2**-26, np.pi, 2.0], np.float32)  # fmt: skip
    wanted = [half(Fraction(float(x)), rounding) for x in singles]
    assert results("v_cvt_f16_f32", [singles], rounding << 2).tolist() == wanted
    numbers = np.array([2049, -2049, 2051, 4098, 4102, 32767, -32768, 1], np.int16)
    wanted = [half(Fraction(int(x)), rounding) for x in numbers]
    assert results("v_cvt_f16_i16", [numbers], rounding << 2).tolist() == wanted
    assert results("v_cvt_f16_u16", [np.array([65535], np.uint16)], rounding << 2)[0] == half(Fraction(65535), rounding)


def test_what_is_concerned_by_fp16_ovfl_alone():
    """An overflow gives the largest number; infinities that are given stay. f32 knows no such bit."""
    large = np.array([60000.0, -60000.0], np.float16)
    assert results("v_add_f16", [large, large], OVERFLOW_TO_MAX).tolist() == [0x7BFF, 0xFBFF]
    assert results("v_add_f16", [large, large], 0).tolist() == [0x7C00, 0xFC00]
    infinite = np.array([np.inf, -np.inf], np.float16)
    assert results("v_add_f16", [infinite, large], OVERFLOW_TO_MAX).tolist() == [0x7C00, 0xFC00]
    single = np.array([3e38], np.float32)
    assert results("v_add_f32", [single, single], OVERFLOW_TO_MAX).tolist() == [0x7F800000]
    assert results("v_cvt_f16_f32", [single], OVERFLOW_TO_MAX).tolist() == [0x7BFF]


INF, NAN, P0, M0, ONE, TWO = 0x7C00, 0x7E00, 0x0000, 0x8000, 0x3C00, 0x4000


@pytest.mark.parametrize("rounding", [UP, DOWN, ZERO])
@pytest.mark.parametrize(
    ("mnemonic", "arguments", "wanted"),
    [  # IEEE 754-2019, 6.1 and 7.2: infinities and invalid operations
        ("v_add_f16", (INF, INF), INF),
        ("v_add_f16", (INF, INF | MINUS), NAN),
        ("v_add_f16", (ONE, INF | MINUS), INF | MINUS),
        ("v_add_f16", (INF | MINUS, ONE), INF | MINUS),
        ("v_add_f16", (ONE, INF), INF),
        ("v_sub_f16", (INF, INF), NAN),
        ("v_sub_f16", (INF, INF | MINUS), INF),
        ("v_sub_f16", (ONE, INF), INF | MINUS),
        ("v_mul_f16", (INF, P0), NAN),
        ("v_mul_f16", (M0, INF), NAN),
        ("v_mul_f16", (INF | MINUS, TWO), INF | MINUS),
        ("v_mul_f16", (ONE, INF | MINUS), INF | MINUS),
        ("v_mul_f16", (ONE | MINUS, INF | MINUS), INF),
        ("v_mul_f16", (NAN, ONE), NAN),
        ("v_mul_f16", (ONE, NAN), NAN),
        ("v_mul_f16", (M0, ONE), M0),
        ("v_mul_f16", (M0, ONE | MINUS), P0),
        ("v_fma_f16", (INF, ONE, ONE), INF),
        ("v_fma_f16", (INF, ONE | MINUS, ONE), INF | MINUS),
        ("v_fma_f16", (ONE, INF, INF | MINUS), NAN),
        ("v_fma_f16", (ONE, INF, INF), INF),
        ("v_fma_f16", (INF, P0, ONE), NAN),
        ("v_fma_f16", (P0, INF | MINUS, ONE), NAN),
        ("v_fma_f16", (ONE, ONE, INF | MINUS), INF | MINUS),
        ("v_fma_f16", (ONE | MINUS, ONE, INF), INF),
        ("v_fma_f16", (ONE, ONE, NAN), NAN),
    ],
)
def test_infinities_and_nans(mnemonic, arguments, wanted, rounding):
    assert results(mnemonic, halves(*arguments), rounding << 2).tolist() == [wanted]


@MODES
@pytest.mark.parametrize(
    ("mnemonic", "arguments", "wanted"),
    [  # IEEE 754-2019, 6.3: a sum that cancels is +0, and -0 where one rounds down; like signs stay. None: that rule
        ("v_add_f16", (ONE, ONE | MINUS), None),
        ("v_add_f16", (P0, M0), None),
        ("v_add_f16", (M0, P0), None),
        ("v_add_f16", (M0, M0), M0),
        ("v_add_f16", (P0, P0), P0),
        ("v_sub_f16", (TWO, TWO), None),
        ("v_sub_f16", (M0, P0), M0),
        ("v_sub_f16", (P0, M0), P0),
        ("v_sub_f16", (M0, M0), None),
        ("v_fma_f16", (TWO, ONE, TWO | MINUS), None),
        ("v_fma_f16", (P0, ONE, M0), None),
        ("v_fma_f16", (P0, ONE | MINUS, M0), M0),
        ("v_fma_f16", (ONE, P0, P0), P0),
        ("v_fma_f16", (M0, ONE, P0), None),
    ],
)
def test_signs_of_zero(mnemonic, arguments, wanted, rounding):
    cancelled = M0 if rounding == DOWN else P0
    found = results(mnemonic, halves(*arguments), rounding << 2)
    assert found.tolist() == [cancelled if wanted is None else wanted]


def test_zeros_and_infinities_are_converted():
    given = np.array([0.0, -0.0, np.inf, -np.inf], np.float32)
    for rounding in (UP, DOWN, ZERO):
        assert results("v_cvt_f16_f32", [given], rounding << 2).tolist() == [P0, M0, INF, INF | MINUS]
        assert results("v_cvt_f16_i16", [np.array([0], np.int16)], rounding << 2).tolist() == [P0]


@pytest.mark.parametrize(
    ("rounding", "wanted"),
    [  # 1 + 2**-25, -(1 + 2**-25), 2 * -max, half of the smallest, the smallest normal less a quarter of the smallest
        (NEAREST, [0x3F800000, 0xBF800000, 0xFF800000, 0, 0x00800000]),
        (UP, [0x3F800001, 0xBF800000, 0xFF7FFFFF, 1, 0x00800000]),
        (DOWN, [0x3F800000, 0xBF800001, 0xFF800000, 0, 0x007FFFFF]),
        (ZERO, [0x3F800000, 0xBF800000, 0xFF7FFFFF, 0, 0x007FFFFF]),
    ],
)
def test_f32(rounding, wanted):
    small, least = 2.0**-149, 2.0**-126
    a = np.array([1, -1, -3.4e38, small, small], np.float32)
    b = np.array([1, 1, 2, 0.5, -0.25], np.float32)
    c = np.array([2**-25, -(2**-25), 0, 0, least], np.float32)
    assert results("v_fma_f32", [a, b, c], rounding | (rounding ^ 3) << 2).tolist() == wanted


@pytest.mark.parametrize(
    ("rounding", "wanted"),
    [
        (NEAREST, [0x3FF0000000000000, 0xBFF0000000000000, 0x7FF0000000000000]),
        (UP, [0x3FF0000000000001, 0xBFF0000000000000, 0x7FF0000000000000]),
        (DOWN, [0x3FF0000000000000, 0xBFF0000000000001, 0x7FEFFFFFFFFFFFFF]),
        (ZERO, [0x3FF0000000000000, 0xBFF0000000000000, 0x7FEFFFFFFFFFFFFF]),
    ],
)
def test_f64_and_conversions_from_it_use_the_second_field(rounding, wanted):
    a, b = np.array([1, -1, 1.7e308]), np.array([2.0**-54, -(2.0**-54), 1.7e308])
    assert results("v_add_f64", [a, b], rounding << 2 | (rounding ^ 3)).tolist() == wanted
    above = 0x3F800001 if rounding == UP else 0x3F800000
    assert results("v_cvt_f32_f64", [np.array([1 + 2**-30])], rounding << 2 | (rounding ^ 3)).tolist() == [above]


@MODES
def test_integers_to_f32_use_the_first_field(rounding):
    """2**24 + 1 lies between two numbers, and so does -(2**24 + 1)."""
    found = results("v_cvt_f32_i32", [np.array([2**24 + 1, -(2**24) - 1], np.int32)], rounding | (rounding ^ 3) << 2)
    assert found.tolist() == [0x4B800000 + (rounding == UP), 0xCB800000 + (rounding == DOWN)]
