"""Circular functions of arguments near quarter turns, whose digits of 2/pi all count; norms of numbers of any size.

Expected values: digits of pi by Machin's formula in integers, exact reduction in fractions, and the host's functions.
"""

from __future__ import annotations

import ctypes
import itertools
import math
import re
import struct
from fractions import Fraction

import pytest

from gpulab.toolchain import device_library

from .test_accuracy import STATED, function, spacing

BITS = 1600


def pi_digits(bits: int) -> int:
    """pi * 2^bits, with some wrong bits at the end: 16 atan(1/5) - 4 atan(1/239)."""

    def atan_of_inverse(n: int) -> int:
        term = total = (1 << bits) // n
        for k in itertools.count(1):
            term //= -n * n
            if term in (0, -1):
                return total
            total += term // (2 * k + 1)
        raise AssertionError

    return 16 * atan_of_inverse(5) - 4 * atan_of_inverse(239)


PI = pi_digits(BITS + 32) >> 32  # pi * 2^BITS
TWO_OVER_PI = Fraction(2 << BITS, PI)


@pytest.mark.parametrize(("table", "bits"), [("two_over_pi_words", 32), ("two_over_pi_longs", 64)])
def test_the_words_of_2_over_pi_are_its_digits(table: str, bits: int) -> None:
    text = (device_library.LIBRARY / "elementary.h").read_text()
    found = re.search(rf"{table}\[\] = {{([^}}]*)}}", text)
    assert found is not None
    words = [int(word.strip().rstrip("u"), 0) for word in found[1].split(",")]
    count = len(words) - 1
    digits = math.floor(TWO_OVER_PI * (1 << bits * count))
    assert words == [0, *(digits >> bits * (count - 1 - n) & ((1 << bits) - 1) for n in range(count))]


def near_quarter_turns(single: bool) -> list[float]:
    """Numbers q 2^e with q 2/pi 2^e close to a whole number: q of the continued fraction's convergents."""
    most = 1 << (24 if single else 53)
    found = []
    for exponent in range(-20, 104, 6) if single else range(-30, 971, 37):
        rest = TWO_OVER_PI * Fraction(2) ** exponent % 1
        before, now = 0, 1
        while rest:
            whole, rest = divmod(1 / rest, 1)
            before, now = now, int(whole) * now + before
            if now >= most:
                break
        found.append(math.ldexp(before, exponent))
    return [x for x in found if x > 1]


def reduced(x: float) -> tuple[int, Fraction]:
    """(quadrant, the rest in radians): x = quadrant pi/2 + rest."""
    turns = Fraction(x) * TWO_OVER_PI
    quadrant = round(turns)
    return quadrant % 4, (turns - quadrant) / TWO_OVER_PI


@pytest.mark.parametrize("single", [True, False], ids=["float", "double"])
@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_arguments_near_quarter_turns(library: ctypes.CDLL, name: str, single: bool) -> None:
    export = f"{name}_{'f32' if single else 'f64'}"
    measured = function(library, export)
    arguments = near_quarter_turns(single)
    assert len(arguments) > 15
    for x in (*arguments, *(-x for x in arguments)):
        quadrant, rest = reduced(x)
        sine, cosine = math.sin(rest), math.cos(rest)
        if name == "cos":
            quadrant += 1
        if name == "tan":
            wanted = -cosine / sine if quadrant % 2 else sine / cosine
        else:
            wanted = (sine, cosine, -sine, -cosine)[quadrant % 4]
        error = abs(Fraction(measured(x)) - Fraction(wanted)) / spacing(wanted, single)
        assert error <= STATED[export] + 1.5, f"{export}({x.hex()}): {float(error):.2f} ulp"


SIZES = {True: (1e-44, 1e-30, 1e-15, 1.0, 3e18, 1e30, 1e38), False: (5e-324, 1e-300, 1e-140, 1.0, 1e152, 1e300, 8e307)}


@pytest.mark.parametrize("single", [True, False], ids=["float", "double"])
def test_norms_of_any_size(library: ctypes.CDLL, single: bool) -> None:
    suffix = "f32" if single else "f64"
    norm, inverse = (function(library, f"{name}_{suffix}", 4) for name in ("norm4d", "rnorm4d"))
    hypot = function(library, f"hypot_{suffix}", 2)
    for size in SIZES[single]:
        for parts in itertools.permutations((0.75, -0.5, 0.25, 0.0)):
            numbers = [part * size for part in parts]
            if single:
                numbers = [struct.unpack("<f", struct.pack("<f", number))[0] for number in numbers]
            wanted = math.hypot(*numbers)
            within = 3 * float(spacing(wanted, single)) if wanted else 0.0
            assert norm(*numbers) == pytest.approx(wanted, rel=0, abs=within), numbers
            assert hypot(*numbers[:2]) == pytest.approx(math.hypot(*numbers[:2]), rel=0, abs=within), numbers
            if 1e-38 < wanted < 1e37 or (not single and 1e-307 < wanted < 1e307):
                assert inverse(*numbers) == pytest.approx(1 / wanted, rel=1e-6 if single else 1e-15), numbers


@pytest.mark.parametrize("single", [True, False], ids=["float", "double"])
def test_norms_with_infinities_and_zeros(library: ctypes.CDLL, single: bool) -> None:
    suffix = "f32" if single else "f64"
    norm, inverse = (function(library, f"{name}_{suffix}", 4) for name in ("norm4d", "rnorm4d"))
    for place in range(4):
        numbers = [math.nan, 1.0, 2.0, 3.0]
        numbers[place] = -math.inf
        assert (norm(*numbers), inverse(*numbers)) == (math.inf, 0.0)
        numbers[place] = math.nan
        assert math.isnan(norm(*numbers))
    assert (norm(0, 0, 0, 0), inverse(0, -0.0, 0, 0)) == (0.0, math.inf)


@pytest.mark.parametrize("single", [True, False], ids=["float", "double"])
def test_whole_powers(library: ctypes.CDLL, single: bool) -> None:
    found = getattr(library, f"__gpulab_powi_{'f32' if single else 'f64'}")
    number = ctypes.c_float if single else ctypes.c_double
    found.argtypes, found.restype = [number, ctypes.c_int], number
    for base in (-3.0, -1.5, 0.5, 2.0, 3.0):
        for n in range(-12, 13):
            assert found(base, n) == pytest.approx(base**n, rel=1e-6 if single else 1e-15)
    assert found(-1.0, -(2**31)) == 1.0
    assert found(-1.0, 2**31 - 1) == -1.0
