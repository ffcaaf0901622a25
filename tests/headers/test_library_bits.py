"""The bits that the device library's functions give for thousands of arguments are those of bits.tsv.

The functions promise the same bits on every machine (ACCURACY.md), so a sum of the results of each function, for each
family of arguments, is stored. That the numbers themselves are right is held by test_accuracy.py, whose figures are
measured against 400 bits. All NaNs are the same here: their bits differ from machine to machine.
"""

from __future__ import annotations

import ctypes
import hashlib
import math
import random
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from gpulab.toolchain import device_library
from tests import stored

from .measure_accuracy import functions, rounded
from .test_reductions import near_quarter_turns

RANGES = functions(MagicMock())
EXPORTS = (device_library.LIBRARY / "exports.h").read_text()
#: Names of the functions of one number, and of several: what of these takes an int has it as this argument.
OF_ONE = [*re.findall(r"^ONE(?:_ROUNDED)?\((\w+)", EXPORTS, re.M), "rcbrt", "erf", "erfc"]
OF_TWO = ["atan2", "fmod", "nextafter", "remainder", "remquo", "pow", "hypot", "rhypot"]
OF_FOUR = ["norm4d", "rnorm4d"]
WITH_INT = {"powi": 1, "jn": 0, "yn": 0}
# Where a function's way of computing changes; the numbers beside these are tried too.
BOUNDARIES = [
    0.5, 1, 2, 10, 20, 27, 1500, 2**16, 2**20, math.tan(math.pi / 8), 1 / math.tan(math.pi / 8), math.sqrt(0.5), 1e-9,
    math.sqrt(2), math.pi / 4, math.pi / 2, math.pi, 100, -110, 9.1, 2**-14, 2**13, 720, -760, 19.1, 2**-28, 2**28,
    26.7, 38.2, 2**60, 2**-50, 2.0**80, 2.0**-80, 127, -126, -149, 128, 1023, 1024, -1022, -1074, 709.78, -745.2, 88.72,
    -103.97, 308.25, -323.3, 38.53, -44.85, 3.4028234663852886e38, 1.17549435e-38, 1.401298464324817e-45, 4.55, 9.55,
    2**24, 2**53, 0.25, 0.75, 1.5, 2.5, 3, 4, 5, 7, 8, 9, 16, 25, 171.6, 35, 184, 6, 12, 14, 28,
]  # fmt: skip
# Floats that are less than 2^-27 of a quarter turn below an odd number of eighths of a turn: found by trying all.
NEAR_EIGHTHS = [0x104CCBC * 2.0**-7, 0x1628D4C * 2.0**15, 0x1B08C4A * 2.0**86]
WIDE = [2.0**500, 2.0**-450, 2.0**600, 2.0**-600, 1.7976931348623157e308, 2.2250738585072014e-308, 5e-324]


def beside(x: float, single: bool) -> list[float]:
    """The number of a type, and the next below and above it."""
    if single:
        (bits,) = struct.unpack("<I", struct.pack("<f", x))
        return [struct.unpack("<f", struct.pack("<I", bits + step))[0] for step in (-1, 0, 1) if bits + step >= 0]
    return [math.nextafter(x, -math.inf), x, math.nextafter(x, math.inf)]


def edges(single: bool) -> list[float]:
    found = {0.0: 0.0, math.inf: math.inf}
    for boundary in [*BOUNDARIES, *([] if single else WIDE)]:
        for x in beside(rounded(float(boundary), single), single):
            found[abs(x)] = abs(x)
    return [math.nan, *(sign * x for x in found for sign in (1, -1))]


def scaled(single: bool, random_: random.Random, step: int) -> Iterator[float]:
    """Numbers of all sizes, denormal ones too."""
    low, high = (-149, 127) if single else (-1074, 1023)
    for exponent in range(low, high + 1, step):
        for _ in range(2):
            yield rounded(math.ldexp(random_.uniform(1, 1.999), exponent), single) * random_.choice((1, -1))


def families(name: str, single: bool) -> Iterator[tuple[str, list[tuple[float, ...]]]]:
    """The arguments of a function: of several numbers all pairs of some edges, and so on."""
    random_ = random.Random(f"bits of {name}")
    if name in OF_ONE or name in WITH_INT:
        whole = [i / 4 for i in range(-160, 161)]
        one = [("edges", edges(single)), ("quarters", whole), ("sizes", list(scaled(single, random_, 1)))]
        if name in ("sin", "cos", "tan"):
            turns = near_quarter_turns(single) + NEAR_EIGHTHS
            one.append(("turns", [sign * part * x for x in turns for part in (1, 0.5) for sign in (1, -1)]))
        yield from ((family, [(x,) for x in numbers]) for family, numbers in one)
    else:
        some = [x for x in edges(single) if not math.isfinite(x)] + random_.sample(edges(single)[3:], 60)
        some += [0.0, -0.0, 1.0, -1.0, 2.0, -3.0, 0.5, 4.0]
        sizes = list(scaled(single, random_, 5))
        if name in OF_TWO:
            yield "edges", [(x, y) for x in some for y in some]
            yield "sizes", list(zip(sizes, random_.sample(sizes, len(sizes)), strict=True))
            yield "near", [(x, rounded(x * random_.uniform(0.1, 10), single)) for x in sizes[:-4]]
            yield "wholes", [(float(x), float(y)) for x in range(-12, 13) for y in range(-12, 13)]
        else:
            yield "edges", [tuple(random_.choice(some) for _ in range(4)) for _ in range(1500)]
            yield "near", [tuple(rounded(x * random_.uniform(-2, 2), single) for _ in range(4)) for x in sizes[:-4]]
    for number, samplers in enumerate(RANGES[name][1] if name in RANGES else ()):
        yield f"range {number}", [tuple(rounded(s(random_), single) for s in samplers) for _ in range(400)]


def sum_of(library: ctypes.CDLL, name: str, single: bool, rows: list[tuple[float, ...]]) -> str:
    """A hash of the results' bits."""
    number = ctypes.c_float if single else ctypes.c_double
    call = getattr(library, f"__gpulab_{name}_{'f32' if single else 'f64'}")
    call.restype, results = number, bytearray()
    form = struct.Struct("<f" if single else "<d").pack
    if name in WITH_INT:
        call.argtypes = [ctypes.c_int, number] if WITH_INT[name] == 0 else [number, ctypes.c_int]
        powers = (-7, -2, -1, 0, 1, 2, 3, 5, 30)
        rows = [(n, x) if WITH_INT[name] == 0 else (x, n) for (x,) in rows for n in powers]
    elif name == "remquo":
        quotient = ctypes.c_int()
        call.argtypes = [number, number, ctypes.POINTER(ctypes.c_int)]
    else:
        call.argtypes = [number] * len(rows[0])
    for row in rows:
        if name == "remquo":
            result = call(*row, ctypes.byref(quotient))
            results += struct.pack("<i", quotient.value)
        else:
            result = call(*row)
        results += b"nan" if result != result else form(result)
    return hashlib.sha256(results).hexdigest()[:12]


def lines(library: ctypes.CDLL, names: list[str]) -> list[str]:
    return [
        f"{name}_{'f32' if single else 'f64'}\t{family}\t{len(rows)}\t{sum_of(library, name, single, rows)}"
        for name in names
        for single in (True, False)
        for family, rows in families(name, single)
    ]


def test_each_export_is_asked() -> None:
    exported = re.findall(r"(?:ONE|TWO|ONE_ROUNDED)\((\w+)|__gpulab_(\w+)_f64\(", EXPORTS.split("(expression); }\n")[1])
    assert {one or other for one, other in exported} == {*OF_ONE, *OF_TWO, *OF_FOUR, *WITH_INT}


def test_bits(library: ctypes.CDLL) -> None:
    found = lines(library, sorted([*OF_ONE, *OF_TWO, *OF_FOUR, *WITH_INT]))
    stored.compare_texts(found, Path(__file__).parent / "bits.tsv", exact=len(found))


@pytest.mark.parametrize("single", [True, False], ids=["float", "double"])
def test_arguments_are_numbers_of_the_type(single: bool) -> None:
    for name in ("sin", "pow", "norm4d"):
        for _, rows in families(name, single):
            assert all(math.isnan(x) or rounded(x, single) == x for row in rows for x in row)
