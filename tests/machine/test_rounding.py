"""gpulab_round by itself: every operation in every rounding mode, on numbers at the edges of each format.

Expected values are exact fractions, rounded here by counting: the representable neighbours of a fraction are found
among all numbers of the format (IEEE 754-2019, 4.3), so nothing is taken from the code under test.
"""

from __future__ import annotations

import ctypes
import itertools
import math
from fractions import Fraction

import pytest

from gpulab.virtual_gpu import schema
from gpulab.virtual_gpu.machine.native import build

FORMS = {"f16": (10, 15, 16), "f32": (23, 127, 32), "f64": (52, 1023, 64)}  # fraction bits, bias, width
MODES = {"nearest": 0, "up": 1, "down": 2, "zero": 3}  # FP_ROUND of MODE, both ISA manuals
NAN, INFINITE = "nan", "infinite"
#: Of how many pairs one is tried: searching among the numbers of a large format takes long.
SHARE = {"f16": 1, "f32": 3, "f64": 7}


def value(bits: int, form: str) -> tuple[int, Fraction | str]:
    """(sign, magnitude) of a number's bits."""
    fraction, bias, width = FORMS[form]
    field, rest = bits >> fraction & 2 * bias + 1, bits & (1 << fraction) - 1
    sign = bits >> width - 1 & 1
    if field == 2 * bias + 1:
        return sign, NAN if rest else INFINITE
    significand, exponent = (rest | 1 << fraction, field) if field else (rest, 1)
    return sign, Fraction(significand) * Fraction(2) ** (exponent - bias - fraction)


def rounded(exact: Fraction, negative_zero: bool, form: str, mode: str, saturate: bool = False) -> int:
    """The bits of an exact number in a format."""
    fraction, bias, width = FORMS[form]
    infinity = (2 * bias + 1) << fraction
    sign = int(exact < 0 or (exact == 0 and negative_zero)) << width - 1
    size = abs(exact)
    # The bits of positive numbers are in the order of the numbers: the largest that is no larger than `size`.
    low, high = 0, infinity
    while high - low > 1:
        middle = (low + high) // 2
        number = value(middle, form)[1]
        assert isinstance(number, Fraction)
        low, high = (middle, high) if number <= size else (low, middle)
    below = value(low, form)[1]
    assert isinstance(below, Fraction)
    if below == size:
        return sign | low
    # Beyond the largest number stands what would follow if the exponent had one value more.
    above = Fraction(2) ** (bias + 1) if high == infinity else value(high, form)[1]
    assert isinstance(above, Fraction)
    if mode == "nearest":
        away = size - below > above - size or (size - below == above - size and low & 1)
    else:
        away = mode == ("down" if exact < 0 else "up")
    if high == infinity and saturate:
        return sign | low
    return sign | (high if away else low)


def run(operation: str, form: str, mode: str, a: list[int], b: list[int] = (), c: list[int] = (), source: str = "",
        saturate: bool = False) -> list[int]:  # fmt: skip
    count = len(a)
    arrays = [(ctypes.c_uint64 * count)(*(given or [0] * count)) for given in (a, b, c)]
    out = (ctypes.c_uint64 * count)()
    what = schema.ROUND_WORD.pack(
        operation=schema.ROUNDED[operation], result=schema.FORMATS[form], source=schema.FORMATS[source or form]
    )
    word = schema.ROUND_MODE.pack(rounding=MODES[mode], overflow=int(saturate))
    function = ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint32, *[ctypes.c_void_p] * 4)
    function(build.functions().round)(what, word, count, *arrays, out)
    return list(out)


def edges(form: str) -> list[int]:
    """Zero, subnormal, normal, large, infinite and no numbers, of both signs; bits that force rounding."""
    fraction, bias, width = FORMS[form]
    one, infinity = bias << fraction, (2 * bias + 1) << fraction
    positive = [0, 1, 3, (1 << fraction) - 1, 1 << fraction, one - 1, one, one + 1, one + (1 << fraction - 1),
                one + (3 << fraction - 2) + 5, (bias + fraction) << fraction, ((bias + fraction + 1) << fraction) + 1,
                (bias - fraction - 2) << fraction, infinity - 1, infinity, infinity | 1 << fraction - 1]  # fmt: skip
    return [bits | sign << width - 1 for bits in positive for sign in (0, 1)]


def is_nan(bits: int, form: str) -> bool:
    return value(bits, form)[1] == NAN


def signed(bits: int, form: str) -> Fraction | None:
    """The number; None for an infinity."""
    sign, size = value(bits, form)
    return None if isinstance(size, str) else -size if sign else size


def expected_sum(a: int, b: int, form: str, mode: str) -> int | None:
    """None: NaN."""
    width = FORMS[form][2]
    infinite = [bits for bits in (a, b) if signed(bits, form) is None]
    if infinite:
        return infinite[0] if len({bits >> width - 1 for bits in infinite}) == 1 else None
    x, y = signed(a, form), signed(b, form)
    assert x is not None
    assert y is not None
    both_negative = bool(a >> width - 1 & b >> width - 1)
    minus = both_negative if x == y == 0 and a >> width - 1 == b >> width - 1 else mode == "down"
    return rounded(x + y, minus, form, mode)


@pytest.mark.full
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", FORMS)
def test_sums_and_differences(form: str, mode: str) -> None:
    pairs = list(itertools.product(edges(form)[::2], edges(form)))[:: SHARE[form]]
    a, b = [list(side) for side in zip(*pairs, strict=True)]
    flip = 1 << FORMS[form][2] - 1
    for operation in ("add", "sub"):
        for x, y, got in zip(a, b, run(operation, form, mode, a, b), strict=True):
            if is_nan(x, form) or is_nan(y, form):
                assert is_nan(got, form)
                continue
            wanted = expected_sum(x, y ^ flip if operation == "sub" else y, form, mode)
            assert is_nan(got, form) if wanted is None else got == wanted, (operation, hex(x), hex(y), hex(got))


@pytest.mark.full
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", FORMS)
def test_products_and_quotients(form: str, mode: str) -> None:
    pairs = list(itertools.product(edges(form)[::2], edges(form)))[:: SHARE[form]]
    a, b = [list(side) for side in zip(*pairs, strict=True)]
    width, bias, fraction = FORMS[form][2], FORMS[form][1], FORMS[form][0]
    infinity = (2 * bias + 1) << fraction
    for operation in ("mul", "div"):
        for x, y, got in zip(a, b, run(operation, form, mode, a, b), strict=True):
            sign = (x ^ y) >> width - 1 & 1
            p, q = signed(x, form), signed(y, form)
            where = (operation, hex(x), hex(y), hex(got))
            if is_nan(x, form) or is_nan(y, form):
                assert is_nan(got, form), where
            elif operation == "mul" and (p is None or q is None):
                zero = p == 0 or q == 0
                assert is_nan(got, form) if zero else got == infinity | sign << width - 1, where
            elif operation == "div" and ((p is None and q is None) or p == q == 0):
                assert is_nan(got, form), where
            elif operation == "div" and (p is None or q == 0):
                assert got == infinity | sign << width - 1, where
            elif operation == "div" and q is None:
                assert got == sign << width - 1, where
            else:
                assert p is not None
                assert q is not None
                exact = p * q if operation == "mul" else p / q
                assert got == rounded(exact, bool(sign), form, mode), where


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", FORMS)
def test_fused_multiply_adds_round_once(form: str, mode: str) -> None:
    finite = [bits for bits in edges(form)[:-4:3] if signed(bits, form) is not None]
    triples = list(itertools.product(finite, finite[::2], finite))[:: SHARE[form]]
    a, b, c = [list(side) for side in zip(*triples, strict=True)]
    width = FORMS[form][2]
    for x, y, z, got in zip(a, b, c, run("fma", form, mode, a, b, c), strict=True):
        p, q, r = signed(x, form), signed(y, form), signed(z, form)
        assert p is not None
        assert q is not None
        assert r is not None
        product_sign = (x ^ y) >> width - 1 & 1
        if p * q == 0 == r and product_sign == z >> width - 1:
            minus = bool(product_sign)
        else:
            minus = mode == "down"
        assert got == rounded(p * q + r, minus, form, mode), (hex(x), hex(y), hex(z), hex(got))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", FORMS)
def test_square_roots(form: str, mode: str) -> None:
    """Beside the numbers above: squares and their neighbours, whose roots are exact or as near as can be."""
    fraction, bias, width = FORMS[form]
    squares = [(bias + 2 * k) << fraction for k in range(-3, 4)]
    given = [*edges(form), *squares, *(bits + step for bits in squares for step in (-1, 1))]
    for x, got in zip(given, run("sqrt", form, mode, given), strict=True):
        size = signed(x, form)
        if is_nan(x, form) or (x >> width - 1 and x << 1 & (1 << width) - 1):
            assert is_nan(got, form), hex(x)
        elif size is None or size == 0:
            assert got == x
        else:
            # A root to 1,500 bits; what is beyond, if there is, only says "a little more".
            scaled = size * 2**3000
            root = math.isqrt(scaled.numerator // scaled.denominator)
            exact = root * root == scaled
            near = Fraction(root if exact else 2 * root + 1, 2**1500 if exact else 2**1501)
            assert got == rounded(near, False, form, mode), hex(x)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", FORMS)
def test_conversions_between_floats(form: str, mode: str) -> None:
    for source in FORMS:
        given = edges(source)
        if FORMS[source][0] > FORMS[form][0]:  # halfway between two numbers of the result, and beside it
            fraction, bias, width = FORMS[source]
            drop = fraction - FORMS[form][0]
            for at in (bias, bias + 3, bias - FORMS[form][1] + 1, bias - FORMS[form][1], bias - FORMS[form][1] - 1,
                       bias - FORMS[form][1] - FORMS[form][0], bias + FORMS[form][1]):  # fmt: skip
                for step in (1 << drop - 1, (1 << drop - 1) - 1, (1 << drop - 1) + 1, 3 << drop - 1):
                    given = [*given, (at << fraction) + step, (at << fraction) + step | 1 << width - 1]
        for x, got in zip(given, run("to", form, mode, given, source=source), strict=True):
            exact = signed(x, source)
            sign = x >> FORMS[source][2] - 1
            if is_nan(x, source):
                assert is_nan(got, form)
            elif exact is None:
                assert got == (2 * FORMS[form][1] + 1) << FORMS[form][0] | sign << FORMS[form][2] - 1
            else:
                assert got == rounded(exact, bool(sign), form, mode), (source, hex(x), hex(got))


@pytest.mark.full
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("source", ["u16", "i16", "u32", "i32", "u64", "i64"])
def test_conversions_of_integers(source: str, mode: str) -> None:
    width = int(source[1:])
    given = sorted(
        {n & (1 << width) - 1 for k in range(width) for n in (1 << k, (1 << k) - 1, (1 << k) + 1, -(1 << k))}
    )
    for form in FORMS:
        for x, got in zip(given, run("to", form, mode, given, source=source), strict=True):
            number = x - (1 << width) if source[0] == "i" and x >> width - 1 else x
            assert got == rounded(Fraction(number), False, form, mode), (x, form)


@pytest.mark.parametrize("mode", MODES)
def test_a_half_that_is_too_large_can_stay_finite(mode: str) -> None:
    """FP16_OVFL of MODE: a finite result beyond 65,504 is 65,504; infinities stay, and other formats do not care."""
    large = [0x7BFF, 0xFBFF, 0x7C00, 0xFC00]
    assert run("add", "f16", mode, large, large, saturate=True) == large
    assert run("mul", "f16", mode, [0x7BFF], [0x3C00], saturate=True) == [0x7BFF]
    assert run("to", "f16", mode, [0x47800000, 0xC7800000, 0x7F800000], source="f32", saturate=True) == [
        0x7BFF, 0xFBFF, 0x7C00,
    ]  # fmt: skip
    most = 0x7F7FFFFF
    assert run("add", "f32", mode, [most], [most], saturate=True) == [most if mode in ("down", "zero") else 0x7F800000]
    assert run("add", "f16", mode, [0x7BFF], [0x7BFF]) == [0x7BFF if mode in ("down", "zero") else 0x7C00]


@pytest.mark.parametrize("form", FORMS)
def test_results_that_are_no_numbers_are_quiet(form: str) -> None:
    """IEEE 754-2019, 6.2: the first bit of the fraction is set, whether an operand was a NaN (a signalling one, too) or
    the operation is an invalid one."""
    fraction, bias, width = FORMS[form]
    infinity, one = (2 * bias + 1) << fraction, bias << fraction
    signalling, minus = infinity | 1, 1 << width - 1
    for operation, a, b in (
        ("add", signalling, one), ("add", one, signalling), ("add", infinity, infinity | minus), ("mul", 0, infinity),
        ("mul", one, signalling), ("div", 0, 0), ("div", infinity, infinity), ("div", signalling, one),
        ("sub", infinity, infinity), ("sqrt", one | minus, 0), ("sqrt", signalling, 0), ("to", signalling, 0),
    ):  # fmt: skip
        for mode in MODES:
            (got,) = run(operation, form, mode, [a], [b])
            assert got & infinity == infinity, operation
            assert got >> fraction - 1 & 1, operation
            assert got < 1 << width
    assert [got & infinity for got in run("fma", form, "up", [0, signalling], [infinity, one], [one, one])] == [
        infinity
    ] * 2


@pytest.mark.parametrize("mode", MODES)
def test_widths_of_integers_and_their_signs(mode: str) -> None:
    """Bits beyond the width do not count where the number is negative; the least number of each type is exact."""
    for width in (16, 32, 64):
        least = 1 << width - 1
        for form in FORMS:
            bias = FORMS[form][1]
            signed, unsigned = (run("to", form, mode, [least], source=f"{kind}{width}")[0] for kind in "iu")
            if width - 1 <= bias:
                field = (width - 1 + bias) << FORMS[form][0]
                assert (signed, unsigned) == (field | 1 << FORMS[form][2] - 1, field)
