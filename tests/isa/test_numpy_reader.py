"""The operations of the expression language as the numpy reader evaluates them, against numbers worked out by hand."""

from fractions import Fraction

import numpy as np
import pytest

from gpulab.virtual_gpu.isa import expression as e
from gpulab.virtual_gpu.reference.numpy_reader import bf16_to_float, evaluate, float_to_bf16


def value(body, *typed):
    """`body` applied to (type, number) arguments; bf16 numbers are given and returned as bits."""
    graph = body(*(e.arg(i, f"a{i}", type) for i, (type, _) in enumerate(typed)))
    return evaluate([graph], [number for _, number in typed])[0]


@pytest.mark.parametrize(
    ("source", "target", "given", "expected"),
    [
        (e.f32, e.i8, -129.5, -128),
        (e.f32, e.u8, 255.9, 255),
        (e.f32, e.u8, 256.0, 255),
        (e.f64, e.i64, 1e30, 2**63 - 1),
        (e.f64, e.u64, 1e30, 2**64 - 1),
        (e.f64, e.u64, 18446744073709549568.0, 18446744073709549568),
        (e.f32, e.i64, np.nan, 0),
        (e.u64, e.f32, 2**64 - 1, 2.0**64),
        (e.i64, e.f32, 16777217, 16777216.0),
        (e.i32, e.f16, 2049, 2048.0),
        (e.i32, e.f16, 65520, np.inf),
        (e.i32, e.i8, 0x1FF, -1),
        (e.i8, e.u32, -1, 0xFFFFFFFF),
        (e.u8, e.i32, 255, 255),
        (e.f64, e.f16, 1.0 + 2.0**-11 + 2.0**-40, 1.0 + 2.0**-10),  # no detour through f32
        (e.f64, e.f32, 1.0 + 2.0**-24 + 2.0**-50, 1.0 + 2.0**-23),
        (e.f64, e.bf16, 1.0 + 2.0**-8 + 2.0**-40, 0x3F81),
        (e.f32, e.bf16, 1.0 + 2.0**-8, 0x3F80),  # tie to even
        (e.f32, e.bf16, np.inf, 0x7F80),
        (e.bf16, e.f32, 0x4049, 3.140625),
        (e.u64, e.bf16, (1 << 63) + (1 << 55) + 1, 0x5F01),
        (e.b1, e.u32, True, 1),
    ],
)
def test_conversions(source, target, given, expected):
    assert value(lambda a: a.to(target), (source, given)) == expected


@pytest.mark.parametrize(
    ("a", "b", "quotient", "remainder"),
    [(7, 2, 3, 1), (-7, 2, -3, -1), (7, -2, -3, 1), (-(2**31), -1, -(2**31), 0), (5, 0, 0, 0)],
)
def test_integer_division_truncates(a, b, quotient, remainder):
    assert value(lambda x, y: x // y, (e.i32, a), (e.i32, b)) == quotient
    assert value(lambda x, y: x % y, (e.i32, a), (e.i32, b)) == remainder


def test_bits():
    assert value(e.popcount, (e.u64, 2**64 - 1)) == 64
    assert value(e.clz, (e.u16, 1)) == 15
    assert value(e.clz, (e.i32, 0)) == 32
    assert value(e.ctz, (e.u8, 0x80)) == 7
    assert value(e.bitreverse, (e.u8, 0x01)) == 0x80
    assert value(lambda a: a >> 4, (e.i8, -128)) == -8
    assert value(lambda a: a >> 4, (e.u8, 0x80)) == 8
    assert value(lambda a: ~a, (e.b1, True)) == np.False_


def test_negation_flips_the_sign_of_nan():
    found = value(lambda a: -a, (e.f32, np.array([0x7FC00000, 0], np.uint32).view(np.float32)))
    assert found.view(np.uint32).tolist() == [0xFFC00000, 0x80000000]


def test_comparisons_with_nan():
    nan = (e.f32, np.float32(np.nan))
    assert [bool(value(f, nan, nan)) for f in (lambda a, b: a == b, lambda a, b: a != b, lambda a, b: a >= b)] == [
        False,
        True,
        False,
    ]


@pytest.mark.parametrize(("type", "dtype"), [(e.f16, np.float16), (e.f32, np.float32), (e.f64, np.float64)])
def test_fma_rounds_once(type, dtype):
    """Against exact fractions, on products that nearly cancel the addend."""
    random = np.random.default_rng(3)
    a = (random.uniform(1, 2, 300)).astype(dtype)
    b = (random.uniform(1, 2, 300)).astype(dtype)
    c = -(a * b) + (random.choice([0, 1e-3, 1.0], 300)).astype(dtype)
    found = value(e.fma, (type, a), (type, b), (type, c))
    wide = np.longdouble if dtype is np.float64 else np.float64
    for x, y, z, got in zip(a, b, c, found, strict=True):
        exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
        below, above = np.nextafter(got, dtype(-np.inf)), np.nextafter(got, dtype(np.inf))
        distance = abs(Fraction(float(got)) - exact)
        assert distance <= abs(Fraction(float(below)) - exact)
        assert distance <= abs(Fraction(float(above)) - exact)
    assert wide(found[0]) == found[0]


def test_fma_with_infinity_and_zero():
    assert value(e.fma, (e.f64, 1e308), (e.f64, 10.0), (e.f64, -np.inf)) == -np.inf
    assert np.isnan(value(e.fma, (e.f64, np.inf), (e.f64, 0.0), (e.f64, 1.0)))
    assert np.signbit(value(e.fma, (e.f64, -0.0), (e.f64, 1.0), (e.f64, -0.0)))
    assert value(e.fma, (e.f64, 1e308), (e.f64, 10.0), (e.f64, 0.0)) == np.inf


def test_bf16_arithmetic_rounds_once():
    one, small = 0x3F80, 0x3B80  # 1 and 2**-8
    assert value(lambda a, b: a + b, (e.bf16, one), (e.bf16, small)) == 0x3F80  # tie to even
    assert value(lambda a, b: a * b, (e.bf16, 0x4040), (e.bf16, 0x4000)) == 0x40C0
    assert value(lambda a: -a, (e.bf16, one)) == 0xBF80
    assert bool(value(lambda a, b: a > b, (e.bf16, one), (e.bf16, small)))
    assert value(e.fma, (e.bf16, 0x3F81), (e.bf16, 0x3F81), (e.bf16, 0xBF82)) == 0x3880  # 2**-14


def test_bf16_and_f32():
    assert bf16_to_float(np.uint16(0xC0A0)) == -5.0
    assert float_to_bf16(np.float32(-5.0)) == 0xC0A0
    assert float_to_bf16(np.nan) & 0x7FFF == 0x7FC0


def test_shared_nodes_and_shapes():
    x = e.arg(0, "x", e.u32)
    total = x + x
    doubled, constant = evaluate([total + total, e.const(7, e.u32)], [np.arange(6, dtype=np.uint32).reshape(2, 3)])
    assert doubled.tolist() == [[0, 4, 8], [12, 16, 20]]
    assert constant.shape == (2, 3)
