"""The device library, compiled for this machine, stays within the errors that ACCURACY.md states.

reference.json holds arguments and exact results computed with 400 bits by mpmath (measure_accuracy.py wrote it): per
row the arguments, the result as a double, and what that double lacks.
"""

from __future__ import annotations

import ctypes
import json
import math
import random
import re
import struct
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from gpulab.toolchain import host

from .measure_accuracy import functions, rounded

HERE = Path(__file__).parent
REFERENCE: dict[str, list[list[str]]] = json.loads((HERE / "reference.json").read_text())


def stated() -> dict[str, float]:
    """ulp by exported name, from the table."""
    text = (Path(host.__file__).parent / "include" / "ACCURACY.md").read_text()
    found = {}
    for name, single, double in re.findall(r"^\| (\w+) \| ([\d.]+) \| ([\d.]+) \|$", text, re.MULTILINE):
        found[f"{name}_f32"], found[f"{name}_f64"] = float(single), float(double)
    return found


STATED = stated()


def function(library: ctypes.CDLL, export: str, count: int = 1) -> Callable[..., float]:
    number = ctypes.c_float if export.endswith("f32") else ctypes.c_double
    found = getattr(library, f"__gpulab_{export}")
    found.argtypes, found.restype = [number] * count, number
    return found


def spacing(x: float, single: bool) -> Fraction:
    _, e = math.frexp(abs(x))
    return Fraction(2) ** max(e - (24 if single else 53), -149 if single else -1074)


def test_the_table_and_the_reference_name_the_same_functions() -> None:
    assert set(STATED) == set(REFERENCE)


@pytest.mark.parametrize("export", sorted(REFERENCE))
def test_error_is_within_the_stated_one(library: ctypes.CDLL, export: str) -> None:
    rows = REFERENCE[export]
    assert len(rows) >= 12
    measured = function(library, export, len(rows[0]) - 2)
    for *arguments, high, low in rows:
        numbers = [float.fromhex(a) for a in arguments]
        exact = Fraction(float.fromhex(high)) + Fraction(float.fromhex(low))
        error = abs(Fraction(measured(*numbers)) - exact) / spacing(float.fromhex(high), export.endswith("f32"))
        assert error <= STATED[export] + 0.01, f"{export}{tuple(numbers)}: {float(error):.2f} ulp"


HOST: dict[str, Callable[..., float]] = {
    name: getattr(math, name)
    for name in (
        "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp",
        "exp2", "expm1", "log", "log2", "log10", "log1p", "pow", "cbrt", "hypot", "fmod", "remainder", "erf", "erfc",
        "lgamma",
    )
} | {"tgamma": math.gamma, "exp10": lambda x: 10.0**x, "rhypot": lambda x, y: 1 / math.hypot(x, y)}  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize("name", HOST)
def test_float_functions_beside_the_hosts_in_double(library: ctypes.CDLL, name: str) -> None:
    """Thousands of arguments of the ranges that were measured; the host's error in double is nothing to a float's."""
    measured, exact, random_ = function(library, f"{name}_f32", 1), HOST[name], random.Random(name)
    ranges = functions(MagicMock())[name][1]
    measured.argtypes = [ctypes.c_float] * len(ranges[0])
    worst, where = 0.0, ()
    for samplers in ranges:
        for _ in range(3000):
            arguments = tuple(rounded(sampler(random_), True) for sampler in samplers)
            wanted = exact(*arguments)
            if wanted and abs(wanted) < 3.4e38:
                error = abs(measured(*arguments) - wanted) / math.ldexp(1.0, max(math.frexp(wanted)[1] - 24, -149))
                if error > worst:
                    worst, where = error, arguments
    assert worst <= STATED[f"{name}_f32"] + 0.01, f"{name}{where}: {worst:.3f} ulp"


inf, nan = math.inf, math.nan
# From the C standard (annex F) and HIP's reference: results at the edges. nan means "a NaN".
EDGES = [
    ("sin", (0.0,), 0.0),
    ("sin", (-0.0,), -0.0),
    ("sin", (inf,), nan),
    ("cos", (-inf,), nan),
    ("cos", (0.0,), 1.0),
    ("tan", (nan,), nan),
    ("sinpi", (3.0,), 0.0),
    ("sinpi", (0.5,), 1.0),
    ("cospi", (0.5,), 0.0),
    ("cospi", (7.0,), -1.0),
    ("asin", (1.0,), math.pi / 2),
    ("asin", (1.5,), nan),
    ("acos", (1.0,), 0.0),
    ("acos", (-1.0,), math.pi),
    ("acos", (0.0,), math.pi / 2),
    ("atan", (inf,), math.pi / 2),
    ("atan", (-0.0,), -0.0),
    ("atan2", (0.0, -1.0), math.pi),
    ("atan2", (-0.0, -1.0), -math.pi),
    ("atan2", (0.0, 0.0), 0.0),
    ("atan2", (0.0, -0.0), math.pi),
    ("atan2", (inf, inf), math.pi / 4),
    ("atan2", (inf, -inf), 3 * math.pi / 4),
    ("atan2", (1.0, inf), 0.0),
    ("atan2", (1.0, -inf), math.pi),
    ("atan2", (-inf, 1.0), -math.pi / 2),
    ("atan2", (nan, 1.0), nan),
    ("sinh", (-inf,), -inf),
    ("cosh", (-inf,), inf),
    ("tanh", (inf,), 1.0),
    ("tanh", (-0.0,), -0.0),
    ("asinh", (-inf,), -inf),
    ("acosh", (1.0,), 0.0),
    ("acosh", (0.5,), nan),
    ("atanh", (1.0,), inf),
    ("atanh", (-1.0,), -inf),
    ("atanh", (2.0,), nan),
    ("exp", (-inf,), 0.0),
    ("exp", (inf,), inf),
    ("exp", (1e5,), inf),
    ("exp", (-1e5,), 0.0),
    ("exp", (0.0,), 1.0),
    ("exp2", (10.0,), 1024.0),
    ("exp2", (inf,), inf),
    ("exp10", (2.0,), 100.0),
    ("expm1", (-inf,), -1.0),
    ("expm1", (-0.0,), -0.0),
    ("expm1", (inf,), inf),
    ("log", (0.0,), -inf),
    ("log", (-1.0,), nan),
    ("log", (inf,), inf),
    ("log", (1.0,), 0.0),
    ("log2", (8.0,), 3.0),
    ("log10", (1000.0,), 3.0),
    ("log1p", (-1.0,), -inf),
    ("log1p", (-0.0,), -0.0),
    ("log1p", (inf,), inf),
    ("pow", (2.0, 10.0), 1024.0),
    ("pow", (-2.0, 3.0), -8.0),
    ("pow", (-2.0, 0.5), nan),
    ("pow", (nan, 0.0), 1.0),
    ("pow", (1.0, nan), 1.0),
    ("pow", (0.0, -1.0), inf),
    ("pow", (-0.0, -1.0), -inf),
    ("pow", (-0.0, 3.0), -0.0),
    ("pow", (-1.0, inf), 1.0),
    ("pow", (0.5, inf), 0.0),
    ("pow", (-inf, 3.0), -inf),
    ("pow", (-inf, 0.5), inf),
    ("cbrt", (27.0,), 3.0),
    ("cbrt", (-8.0,), -2.0),
    ("cbrt", (-0.0,), -0.0),
    ("rcbrt", (0.0,), inf),
    ("cbrt", (inf,), inf),
    ("hypot", (3.0, 4.0), 5.0),
    ("hypot", (inf, nan), inf),
    ("hypot", (3e38, 0.0), 3e38),
    ("rhypot", (3.0, 4.0), 0.2),
    ("rhypot", (0.0, 0.0), inf),
    ("rhypot", (inf, 1.0), 0.0),
    ("hypot", (nan, 1.0), nan),
    ("fmod", (5.5, 2.0), 1.5),
    ("fmod", (-5.5, 2.0), -1.5),
    ("fmod", (1.0, 0.0), nan),
    ("fmod", (1.0, inf), 1.0),
    ("fmod", (inf, 1.0), nan),
    ("remainder", (5.0, 2.0), 1.0),
    ("remainder", (3.0, 2.0), -1.0),
    ("remainder", (1.0, nan), nan),
    ("erf", (inf,), 1.0),
    ("erfc", (-inf,), 2.0),
    ("erfinv", (1.0,), inf),
    ("erfinv", (2.0,), nan),
    ("erfcinv", (0.0,), inf),
    ("erfcinv", (2.0,), -inf),
    ("erfcinv", (1.0,), 0.0),
    ("erfcx", (0.0,), 1.0),
    ("erfcx", (inf,), 0.0),
    ("normcdf", (0.0,), 0.5),
    ("normcdfinv", (0.5,), 0.0),
    ("normcdfinv", (0.0,), -inf),
    ("normcdfinv", (1.0,), inf),
    ("tgamma", (5.0,), 24.0),
    ("tgamma", (-1.0,), nan),
    ("lgamma", (1.0,), 0.0),
    ("lgamma", (0.0,), inf),
    ("j0", (0.0,), 1.0),
    ("j1", (0.0,), 0.0),
    ("y0", (0.0,), -inf),
    ("y1", (-1.0,), nan),
    ("cyl_bessel_i0", (0.0,), 1.0),
    ("cyl_bessel_i1", (-0.0,), -0.0),
    ("nextafter", (1.0, 1.0), 1.0),
    ("nextafter", (nan, 1.0), nan),
    ("remainder", (inf, 1.0), nan),
    ("remainder", (1.0, 0.0), nan),
    ("remainder", (1.0, inf), 1.0),
    ("remainder", (-0.0, 1.0), -0.0),
    ("remainder", (-4.0, 2.0), -0.0),
    ("remainder", (2.0, 4.0), 2.0),
    ("remainder", (6.0, 4.0), -2.0),
    ("remainder", (3.0, 4.0), -1.0),
    ("fmod", (4.0, 2.0), 0.0),
    ("fmod", (-4.0, 2.0), -0.0),
    ("fmod", (0.0, 1.0), 0.0),
    ("fmod", (nan, 1.0), nan),
    ("fmod", (1.0, nan), nan),
    ("hypot", (0.0, 0.0), 0.0),
    ("hypot", (-inf, 1.0), inf),
    ("rhypot", (1.0, -inf), 0.0),
    ("atan2", (-0.0, 1.0), -0.0),
    ("atan2", (-0.0, -0.0), -math.pi),
    ("atan2", (-inf, -inf), -3 * math.pi / 4),
    ("atan2", (1.0, 0.0), math.pi / 2),
    ("atan2", (-1.0, -0.0), -math.pi / 2),
    ("atan2", (1.0, 1.0), math.pi / 4),
    ("atan2", (-2.0, -2.0), -3 * math.pi / 4),
    ("atan2", (1.0, nan), nan),
    ("atan2", (inf, 1.0), math.pi / 2),
    ("atan2", (-1.0, inf), -0.0),
    ("atan", (nan,), nan),
    ("atan", (-inf,), -math.pi / 2),
    ("atan", (1.0,), math.pi / 4),
    ("asin", (-1.0,), -math.pi / 2),
    ("asin", (0.5,), math.pi / 6),
    ("asin", (-0.0,), -0.0),
    ("asin", (nan,), nan),
    ("acos", (nan,), nan),
    ("acos", (-1.5,), nan),
    ("acos", (0.5,), math.pi / 3),
    ("acos", (-0.5,), 2 * math.pi / 3),
    ("asinh", (inf,), inf),
    ("asinh", (-0.0,), -0.0),
    ("asinh", (nan,), nan),
    ("acosh", (inf,), inf),
    ("acosh", (nan,), nan),
    ("atanh", (-0.0,), -0.0),
    ("atanh", (nan,), nan),
    ("tanh", (-inf,), -1.0),
    ("tanh", (nan,), nan),
    ("sinh", (nan,), nan),
    ("sinh", (-0.0,), -0.0),
    ("sinh", (inf,), inf),
    ("cosh", (nan,), nan),
    ("cosh", (0.0,), 1.0),
    ("exp", (nan,), nan),
    ("expm1", (1e5,), inf),
    ("expm1", (-1e5,), -1.0),
    ("expm1", (nan,), nan),
    ("exp2", (-inf,), 0.0),
    ("exp2", (1e5,), inf),
    ("exp2", (-1e5,), 0.0),
    ("exp2", (nan,), nan),
    ("exp10", (-inf,), 0.0),
    ("exp10", (inf,), inf),
    ("exp10", (nan,), nan),
    ("log", (nan,), nan),
    ("log", (-inf,), nan),
    ("log2", (0.0,), -inf),
    ("log2", (-1.0,), nan),
    ("log2", (1.0,), 0.0),
    ("log10", (0.0,), -inf),
    ("log10", (inf,), inf),
    ("log1p", (-2.0,), nan),
    ("log1p", (nan,), nan),
    ("log1p", (0.0,), 0.0),
    ("sin", (nan,), nan),
    ("sin", (-inf,), nan),
    ("cos", (nan,), nan),
    ("cos", (-0.0,), 1.0),
    ("tan", (-0.0,), -0.0),
    ("tan", (inf,), nan),
    ("sinpi", (-3.0,), -0.0),
    ("sinpi", (1.5,), -1.0),
    ("sinpi", (-0.5,), -1.0),
    ("sinpi", (inf,), nan),
    ("cospi", (inf,), nan),
    ("cospi", (0.0,), 1.0),
    ("cospi", (1.5,), 0.0),
    ("pow", (-2.0, 2.0), 4.0),
    ("pow", (-1.0, -inf), 1.0),
    ("pow", (0.0, 0.0), 1.0),
    ("pow", (2.0, inf), inf),
    ("pow", (2.0, -inf), 0.0),
    ("pow", (0.5, -inf), inf),
    ("pow", (-inf, 2.0), inf),
    ("pow", (-inf, -3.0), -0.0),
    ("pow", (-inf, -2.0), 0.0),
    ("pow", (-0.0, 2.0), 0.0),
    ("pow", (-0.0, -2.0), inf),
    ("pow", (-0.0, 0.5), 0.0),
    ("pow", (inf, -1.0), 0.0),
    ("pow", (2.0, nan), nan),
    ("pow", (nan, 1.0), nan),
    ("pow", (-2.0, -3.0), -0.125),
    ("pow", (-2.0, inf), inf),
    ("pow", (-1.0, 1e10), 1.0),
    ("cbrt", (nan,), nan),
    ("cbrt", (-inf,), -inf),
    ("rcbrt", (8.0,), 0.5),
    ("rcbrt", (-0.0,), -inf),
    ("rcbrt", (inf,), 0.0),
    ("erf", (-inf,), -1.0),
    ("erf", (-0.0,), -0.0),
    ("erf", (nan,), nan),
    ("erfc", (inf,), 0.0),
    ("erfc", (nan,), nan),
    ("erfcx", (-30.0,), inf),
    ("erfcx", (nan,), nan),
    ("erfinv", (-1.0,), -inf),
    ("erfinv", (-0.0,), -0.0),
    ("erfinv", (nan,), nan),
    ("erfcinv", (3.0,), nan),
    ("erfcinv", (-1.0,), nan),
    ("erfcinv", (nan,), nan),
    ("normcdf", (inf,), 1.0),
    ("normcdf", (-inf,), 0.0),
    ("normcdf", (nan,), nan),
    ("normcdfinv", (2.0,), nan),
    ("normcdfinv", (-1.0,), nan),
    ("tgamma", (0.0,), inf),
    ("tgamma", (-0.0,), -inf),
    ("tgamma", (inf,), inf),
    ("tgamma", (-inf,), nan),
    ("tgamma", (nan,), nan),
    ("lgamma", (-1.0,), inf),
    ("lgamma", (-inf,), inf),
    ("lgamma", (nan,), nan),
    ("cyl_bessel_i0", (nan,), nan),
    ("cyl_bessel_i0", (inf,), inf),
    ("cyl_bessel_i0", (2000.0,), inf),
    ("cyl_bessel_i1", (-inf,), -inf),
    ("nextafter", (1.0, nan), nan),
    ("nextafter", (0.0, -0.0), -0.0),
    *((name, (1.0,), getattr(math, name)(1.0)) for name in ("sin", "cos", "tan", "tanh", "sinh", "cosh", "expm1")),
    *((name, (1.0,), getattr(math, name)(1.0)) for name in ("log1p", "asinh", "exp", "erf", "erfc", "atan")),
    ("sinpi", (1.0,), 0.0),
    ("cospi", (1.0,), -1.0),
    ("cbrt", (1.0,), 1.0),
    ("atan2", (1.0, 2.0), math.atan2(1.0, 2.0)),
    ("pow", (3.0, 1.0), 3.0),
    ("pow", (-1.0, 1.0), -1.0),
]


@pytest.mark.parametrize("single", [True, False], ids=["float", "double"])
@pytest.mark.parametrize(("name", "arguments", "expected"), EDGES, ids=[f"{n}{a}" for n, a, _ in EDGES])
def test_edges(library: ctypes.CDLL, name: str, arguments: tuple[float, ...], expected: float, single: bool) -> None:
    result = function(library, f"{name}_{'f32' if single else 'f64'}", len(arguments))(*arguments)
    if math.isnan(expected):
        assert math.isnan(result)
        return
    wanted = struct.unpack("<f", struct.pack("<f", expected))[0] if single else expected
    assert result == pytest.approx(wanted, rel=2e-7 if single else 4e-16, abs=0)
    assert math.copysign(1, result) == math.copysign(1, wanted)


@pytest.mark.parametrize("single", [True, False], ids=["float", "double"])
def test_remainders_are_exact(library: ctypes.CDLL, single: bool) -> None:
    r = random.Random(5)
    suffix = "f32" if single else "f64"
    fmod, remainder = function(library, f"fmod_{suffix}", 2), function(library, f"remainder_{suffix}", 2)
    for _ in range(400):
        x, y = (math.ldexp(r.uniform(-1, 1), r.randint(-148, 127)) for _ in range(2))
        if r.random() < 0.5:
            y = math.ldexp(x, r.randint(-12, 3)) * r.uniform(0.5, 2)
        x, y = (struct.unpack("<f", struct.pack("<f", v))[0] for v in (x, y))
        if y == 0:
            continue
        assert fmod(x, y) == math.fmod(x, y)
        assert remainder(x, y) == math.remainder(x, y)


FRACTIONS = [(0.75, 0.5, 2, -0.25), (-0.75, 0.5, -2, 0.25), (0.75, -0.5, -2, -0.25), (-0.75, -0.5, 2, 0.25)]


def test_remquo_gives_the_low_bits_of_the_quotient(library: ctypes.CDLL) -> None:
    remquo = library.__gpulab_remquo_f64
    remquo.argtypes, remquo.restype = [ctypes.c_double, ctypes.c_double, ctypes.POINTER(ctypes.c_int)], ctypes.c_double
    q = ctypes.c_int()
    for x, y, quotient, rest in [
        (7.0, 2.0, 4, -1.0),
        (5.0, 2.0, 2, 1.0),
        (-7.0, 2.0, -4, 1.0),
        (1.0, 4.0, 0, 1.0),
        *FRACTIONS,
    ]:
        assert remquo(x, y, ctypes.byref(q)) == rest
        assert q.value == quotient


def test_next_number_in_a_direction(library: ctypes.CDLL) -> None:
    double, single = function(library, "nextafter_f64", 2), function(library, "nextafter_f32", 2)
    for x, y in [(1.0, 2.0), (1.0, 0.0), (-1.0, 0.0), (0.0, -1.0), (5e-324, 0.0), (1.7976931348623157e308, inf),
                 (0.0, 1.0), (-1.0, -2.0), (-5e-324, 1.0), (inf, 0.0), (-inf, 0.0)]:  # fmt: skip
        assert double(x, y) == math.nextafter(x, y)
    assert single(1.0, 2.0) == 1 + 2**-23
    assert single(0.0, 1.0) == 2.0**-149


def test_denormal_and_huge_arguments(library: ctypes.CDLL) -> None:
    assert function(library, "log_f64")(5e-324) == pytest.approx(-744.4400719213812, rel=1e-15)
    assert function(library, "exp_f64")(-745.0) == 5e-324
    assert function(library, "hypot_f64", 2)(1e-310, 0.0) == 1e-310
    assert function(library, "hypot_f64", 2)(1e308, 1e308) == pytest.approx(1.4142135623730951e308, rel=1e-15)
    assert function(library, "cbrt_f64")(1e-315) == pytest.approx(1e-105, rel=1e-7)
    assert function(library, "sin_f64")(1e300) == pytest.approx(-0.8178819121159085, rel=1e-14)
    largest = struct.unpack("<f", struct.pack("<f", 3e38))[0]
    assert function(library, "sin_f32")(largest) == pytest.approx(math.sin(largest), rel=1e-6)
