"""Bits in words, as the wave stepper shows registers: values by IEEE 754, by two's complement, by Python."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page


def each(page: Page, call: str, cases: list[Any]) -> list[Any]:
    """What an expression over `m`, the module, and `c`, a case, gives for each case."""
    body = f"const m = await import('./stepper_values.js'); return cases.map((c) => {call});"
    return page.evaluate(f"async (cases) => {{ {body} }}", cases)


def single(value: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


WORDS = (
    # IEEE 754 single
    (0x3F800000, "f32", "1.0"), (0x3F800000, "float", "1.0"), (0xBFC00000, "f32", "-1.5"),
    (0x40490FDB, "f32", "3.14159"),
    (0x80000000, "f32", "-0.0"), (0, "f32", "0.0"), (0x7F800000, "f32", "∞"), (0xFF800000, "f32", "−∞"),
    (0x7FC00000, "f32", "NaN"), (single(9999999.0), "f32", "9999999.0"), (single(-9999999.0), "f32", "-9999999.0"),
    (single(1e7), "f32", "10000000"), (single(-1e7), "f32", "-10000000"), (single(123456789.0), "f32", "123457000"),
    # IEEE 754 half, in the low 16 bits
    (0x3C00, "f16", "1.0"), (0xFFFF3C00, "f16", "1.0"), (0xC000, "f16", "-2.0"), (0x3555, "f16", "0.333252"),
    (0x7BFF, "f16", "65504.0"), (0x7C00, "f16", "∞"), (0xFC00, "f16", "−∞"), (0x7E00, "f16", "NaN"),
    (0x7C01, "f16", "NaN"),
    (0x0400, "f16", "0.0000610352"), (0x03FF, "f16", "0.0000609756"), (0x0001, "f16", "5.96046e-8"),
    (0x8000, "f16", "-0.0"),
    # bfloat16: the upper half of a single
    (0x3F80, "bf16", "1.0"), (0xFFFF3F80, "bf16", "1.0"), (0xC2C8, "bf16", "-100.0"), (0x7F80, "bf16", "∞"),
    # integers
    (0xFFFFFFFB, "int", "-5"), (0xFFFFFFFB, "i32", "-5"), (0xFFFFFFFB, "uint", "4294967291"),
    (0x80000000, "u32", "2147483648"),
    (0x12348000, "i16", "-32768"), (0x7FFF, "i16", "32767"), (0x1234FFFF, "u16", "65535"),
    (0xDEADBEEF, "hex", "0xdeadbeef"), (10, "hex", "0xa"),
    # of no known type: a float between 1e-9 and 1e12, else an integer
    (single(1.0), "bits", "1.0"), (single(-2.5), "bits", "-2.5"), (5, "bits", "5"), (0xFFFFFFFB, "bits", "-5"),
    (0, "bits", "0"),
    (single(1.1e-9), "bits", "1.1e-9"), (single(0.9e-9), "bits", str(single(0.9e-9))),
    (single(9e11), "bits", "900000000000"),
    (single(1.1e12), "bits", str(single(1.1e12))), (single(-1.1e12), "bits", str(single(-1.1e12) - (1 << 32))),
    (33554433, "bits", "33554433"),
)  # fmt: skip


def test_one_word(page: Page) -> None:
    found = each(page, "m.word(c[0], c[1])", [case[:2] for case in WORDS])
    assert list(zip([case[:2] for case in WORDS], found, strict=True)) == [(case[:2], case[2]) for case in WORDS]


def test_two_words(page: Page) -> None:
    low, high = struct.unpack("<II", struct.pack("<d", -1 / 3))
    cases = (
        (0, 0x3FF00000, "f64", "1.0"), (low, high, "f64", "-0.333333"), (0, 0xFFF00000, "f64", "−∞"),
        (0xFFFFFFFE, 0xFFFFFFFF, "i64", "-2"), (7, 1, "i64", str((1 << 32) + 7)),
        (0, 0x80000000, "int", str(-(1 << 63))),
        (0xFFFFFFFF, 0xFFFFFFFF, "uint", str((1 << 64) - 1)), (0x89ABCDEF, 0x1234567, "hex", "0x123456789abcdef"),
    )  # fmt: skip
    assert each(page, "m.wide(c[0], c[1], c[2])", [case[:3] for case in cases]) == [case[3] for case in cases]


def test_bits_are_counted(page: Page) -> None:
    words = [0, 1, 0x80000000, 0xFFFFFFFF, 0x55555555, 0xAAAAAAAA, 0x0F0F0F0F, 0xF0F0F0F0, 0xDEADBEEF, 0x7FFFFFFF]
    words += [((1 << n) - 1) << (32 - n) for n in range(1, 32)]
    assert each(page, "m.ones(c)", words) == [word.bit_count() for word in words]


@pytest.mark.parametrize(
    ("lanes", "size", "words"),
    [
        ([], 64, ""), ([0], 64, "0"), ([63], 64, "63"), (range(64), 64, "0–63"), ([0, 1, 2, 3, 8], 32, "0–3, 8"),
        ([0, 2, 4, 6, 8, 30, 31], 32, "0, 2, 4, 6, 8, 30–31"),
        ([0, 2, 4, 6, 8, 10, 12], 32, "0, 2, 4, 6, 8, 10 …"),
    ],
)  # fmt: skip
def test_lanes_in_words(page: Page, lanes: Any, size: int, words: str) -> None:
    assert each(page, f"m.ranges((lane) => c.includes(lane), {size})", [list(lanes)]) == [words]


def test_counts_in_words(page: Page) -> None:
    calls = [[1, "step"], [0, "step"], [2, "step"], [1, "lane", "one"], [1000, "step", "1,000"]]
    assert each(page, "m.counted(...c)", calls) == [
        "1 step", "0 steps", "2 steps", "one lane", "1,000 steps",
    ]  # fmt: skip
