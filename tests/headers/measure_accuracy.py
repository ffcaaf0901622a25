"""Measures the device library against mpmath and writes the reference values of the accuracy test.

    python tests/headers/measure_accuracy.py table       prints the rows of ACCURACY.md, from many arguments
    python tests/headers/measure_accuracy.py reference   writes reference.json: few arguments, exact results

Needs the package mpmath, which the tests themselves do not: they read reference.json. `FUNCTIONS` names what is
measured: per function mpmath's expression and the ranges of arguments, sampled evenly by value or by exponent.
"""

from __future__ import annotations

import ctypes
import json
import math
import random
import struct
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
Sampler = Any


def even(low: float, high: float) -> Sampler:
    return lambda r: r.uniform(low, high)


def scales(low: float, high: float, sign: bool = True) -> Sampler:
    """Magnitudes from 2^low to 2^high, evenly by exponent."""
    return lambda r: math.ldexp(r.uniform(0.5, 1), int(r.uniform(low, high)) + 1) * (r.choice((-1, 1)) if sign else 1)


def functions(mp: Any) -> dict[str, tuple[Any, list[list[Sampler]]]]:
    """Per function the exact one, and for each range one sampler per argument (float ranges fit both types)."""
    small, circle = scales(-30, -1), even(-10, 10)
    f = mp
    return {
        "sin": (f.sin, [[small], [circle], [even(-1e5, 1e5)], [scales(0, 127)]]),
        "cos": (f.cos, [[small], [circle], [even(-1e5, 1e5)], [scales(0, 127)]]),
        "tan": (f.tan, [[small], [circle], [even(-1e5, 1e5)], [scales(0, 127)]]),
        "sinpi": (f.sinpi, [[small], [circle], [even(-1000, 1000)]]),
        "cospi": (f.cospi, [[small], [circle], [even(-1000, 1000)]]),
        "asin": (f.asin, [[small], [even(-1, 1)], [even(0.99, 1)]]),
        "acos": (f.acos, [[small], [even(-1, 1)], [even(0.99, 1)]]),
        "atan": (f.atan, [[small], [even(-5, 5)], [scales(-60, 60)]]),
        "atan2": (lambda y, x: f.atan2(y, x), [[even(-3, 3), even(-3, 3)], [scales(-20, 20), scales(-20, 20)]]),
        "sinh": (f.sinh, [[small], [even(-3, 3)], [even(-88, 88)]]),
        "cosh": (f.cosh, [[small], [even(-3, 3)], [even(-88, 88)]]),
        "tanh": (f.tanh, [[small], [even(-3, 3)], [even(-20, 20)]]),
        "asinh": (f.asinh, [[small], [even(-3, 3)], [scales(0, 100)]]),
        "acosh": (f.acosh, [[even(1, 1.01)], [even(1, 5)], [scales(1, 100, False)]]),
        "atanh": (f.atanh, [[small], [even(-1, 1)]]),
        "exp": (f.exp, [[small], [even(-2, 2)], [even(-87, 88)]]),
        "exp2": (lambda x: f.mpf(2) ** x, [[small], [even(-2, 2)], [even(-125, 127)]]),
        "exp10": (lambda x: f.mpf(10) ** x, [[small], [even(-2, 2)], [even(-37, 38)]]),
        "expm1": (f.expm1, [[small], [even(-2, 2)], [even(-87, 88)]]),
        "log": (f.log, [[even(0.5, 2)], [scales(-120, 120, False)], [even(0.999, 1.001)]]),
        "log2": (lambda x: f.log(x) / f.log(2), [[even(0.5, 2)], [scales(-120, 120, False)], [even(0.999, 1.001)]]),
        "log10": (lambda x: f.log(x) / f.log(10), [[even(0.5, 2)], [scales(-120, 120, False)], [even(0.999, 1.001)]]),
        "log1p": (f.log1p, [[small], [even(-0.99, 2)], [scales(1, 100, False)]]),
        "pow": (lambda x, y: x**y, [[even(0.1, 3), even(-20, 20)], [scales(-30, 30, False), even(-3, 3)]]),
        "cbrt": (lambda x: f.sign(x) * f.cbrt(abs(x)), [[even(-10, 10)], [scales(-120, 120)]]),
        "rcbrt": (lambda x: f.sign(x) / f.cbrt(abs(x)), [[even(-10, 10)], [scales(-120, 120)]]),
        "hypot": (lambda x, y: f.sqrt(x * x + y * y), [[even(-3, 3), even(-3, 3)], [scales(-90, 90), scales(-90, 90)]]),
        "rhypot": (lambda x, y: 1 / f.sqrt(x * x + y * y), [[even(-3, 3), even(-3, 3)]]),
        "fmod": (lambda x, y: x - y * int(x / y), [[even(-100, 100), even(0.1, 3)], [scales(0, 40), scales(-10, 0)]]),
        "remainder": (lambda x, y: x - y * f.nint(x / y), [[even(-100, 100), even(0.1, 3)]]),
        "erf": (f.erf, [[small], [even(-4, 4)]]),
        "erfc": (f.erfc, [[small], [even(-4, 4)], [even(0, 9)]]),
        "erfcx": (lambda x: f.exp(x * x) * f.erfc(x), [[even(-3, 10)], [even(9, 100)]]),
        "erfinv": (f.erfinv, [[small], [even(-1, 1)], [even(0.999, 1)]]),
        "erfcinv": (lambda x: f.erfinv(1 - f.mpf(x)), [[even(0.001, 1.999)], [scales(-60, -1, False)]]),
        "normcdf": (lambda x: f.erfc(-x / f.sqrt(2)) / 2, [[even(-3, 3)], [even(-12, 0)]]),
        "normcdfinv": (
            lambda p: f.sqrt(2) * f.erfinv(2 * f.mpf(p) - 1),
            [[even(0.001, 0.999)], [scales(-60, -2, False)]],
        ),
        "tgamma": (f.gamma, [[even(0.1, 5)], [even(1, 34)], [even(-5.4, -0.1)]]),
        "lgamma": (lambda x: f.log(abs(f.gamma(x))), [[even(0.01, 0.9)], [even(2.1, 50)], [scales(3, 60, False)]]),
        "j0": (lambda x: f.besselj(0, x), [[even(0, 2)]]),
        "j1": (lambda x: f.besselj(1, x), [[even(0, 2)]]),
        "y0": (lambda x: f.bessely(0, x), [[even(0.01, 0.8)]]),
        "y1": (lambda x: f.bessely(1, x), [[even(0.01, 2)]]),
        "cyl_bessel_i0": (lambda x: f.besseli(0, x), [[even(-5, 5)], [even(5, 80)]]),
        "cyl_bessel_i1": (lambda x: f.besseli(1, x), [[even(-5, 5)], [even(5, 80)]]),
    }


def rounded(x: float, single: bool) -> float:
    return struct.unpack("<f", struct.pack("<f", x))[0] if single else x


def spacing(x: Any, single: bool) -> float:
    """One unit in the last place of the type's number nearest to x."""
    _, e = math.frexp(abs(float(x)))
    return math.ldexp(1.0, max(e - (24 if single else 53), -149 if single else -1074))


def load() -> ctypes.CDLL:
    from gpulab.toolchain import compiler, device_library, host

    sources = compiler.package_folder() / "lib" / "libc" / "musl" / "src" / "math"
    options = ["-std=c++20", "-w", "-fno-math-errno", "-fno-exceptions", "-fno-rtti"]
    options += ["-I", str(device_library.LIBRARY / "shims"), "-I", str(sources)]
    out = Path(tempfile.mkdtemp()) / ("library" + host.library_suffix())
    host.compile_host_library(device_library.LIBRARY / "library.cpp", out, language="c++", options=options)
    return ctypes.CDLL(str(out))


def function(library: ctypes.CDLL, name: str, single: bool, count: int) -> Any:
    number = ctypes.c_float if single else ctypes.c_double
    found = getattr(library, f"__gpulab_{name}_{'f32' if single else 'f64'}")
    found.argtypes, found.restype = [number] * count, number
    return found


def main() -> None:
    import mpmath

    mp = mpmath.mp
    mp.prec = 400
    samples = 8000 if sys.argv[1] == "table" else 24
    library, reference = load(), {}
    for name, (exact, ranges) in functions(mp).items():
        worst: list[tuple[float, Any]] = []
        for single in (True, False):
            measured = function(library, name, single, len(ranges[0]))
            r = random.Random(f"{name}{single}")
            top: tuple[float, Any] = (0.0, None)
            rows = []
            heavy = name.startswith(("cyl", "j", "y", "erfinv", "erfcinv", "normcdfinv", "lgamma", "tgamma"))
            wide = [[scales(127, 1000)]] if name in ("sin", "cos", "tan") and not single else []
            for samplers in ranges + wide:
                for _ in range(max(24, samples // 4 if heavy else samples) // len(ranges)):
                    arguments = [rounded(sampler(r), single) for sampler in samplers]
                    value = mp.re(exact(*(mp.mpf(a) for a in arguments)))
                    result = measured(*arguments)
                    error = abs(mp.mpf(result) - value) / spacing(value, single)
                    if error > top[0]:
                        top = (float(error), arguments)
                    high = float(value)
                    rows.append([*(a.hex() for a in arguments), high.hex(), float(value - mp.mpf(high)).hex()])
            worst.append(top)
            reference[f"{name}_{'f32' if single else 'f64'}"] = rows
        if sys.argv[1] == "table":
            print(
                f"| {name} | {worst[0][0]:.2f} | {worst[1][0]:.2f} |  <!-- {worst[0][1]} {worst[1][1]} -->", flush=True
            )
    if sys.argv[1] == "reference":
        text = ",\n".join(f'"{name}": {json.dumps(rows, separators=(",", ":"))}' for name, rows in reference.items())
        (HERE / "reference.json").write_text("{\n" + text + "\n}\n")


if __name__ == "__main__":
    main()
