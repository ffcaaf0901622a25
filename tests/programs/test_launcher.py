"""How a program starts by itself: which library it takes, which Python, and what it says where there is none.

Libraries of "ROCm" are written here: they note who loaded them.
"""

from __future__ import annotations

import math
import os
import struct
import subprocess
import sys
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from gpulab import programs
from gpulab.toolchain import hosted
from gpulab.toolchain.host import compile_host_library

pytestmark = pytest.mark.skipif(bool(hosted.unavailable()), reason=hosted.unavailable() or "programs can be built")

PROGRAM = r"""
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstring>
struct Early {
  int count = -1;
  Early() { count = 7; }
} early;
template <typename To, typename From> To bits(From from) {
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}
int main(int count, char** words) {
  if (count > 1 && !std::strcmp(words[1], "bfloat16")) {
    long double wide;
    for (unsigned long long raw; std::scanf("%llx", &raw) == 1;) {
      double x = bits<double>(raw);
      wide = x;
      std::printf("%04x %04x %04x\n", bits<unsigned short>((__bf16)x), bits<unsigned short>((__bf16)(float)x),
                  bits<unsigned short>((__bf16)wide));
    }
    return 0;
  }
  int devices = -1;
  int error = hipGetDeviceCount(&devices);
  std::printf("%d %d %d %d", early.count, error, devices, count);
  for (int i = 1; i < count; ++i) std::printf(" %s", words[i]);
  std::printf("\n%d\n", (int)hipDeviceSynchronize());
  return 5;
}
"""
LIBRARY = r"""
#include <stdlib.h>
static volatile const char kind[] = "kind:00000";
int hipGetDeviceCount(int* count) {
  if (kind[5] == '1') abort();
  *count = kind[6] - '0';
  return 100 * (kind[7] - '0');
}
"""


@pytest.fixture(scope="module")
def program() -> Path:
    return programs.build(PROGRAM, name="starts").path


@pytest.fixture(scope="module")
def rocm(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """Installations: with 3 devices, 8, none, with an error, and one that breaks when it is asked."""
    top, found = tmp_path_factory.mktemp("rocm"), {}
    one = compile_host_library(LIBRARY, top / "one.so").read_bytes()
    assert one.count(b"kind:00000") == 1
    kinds = {"three": b"030", "eight": b"080", "none": b"000", "error": b"031", "crash": b"130"}
    for name, digits in kinds.items():
        found[name] = top / name
        (top / name / "lib").mkdir(parents=True)
        (top / name / "lib" / "libamdhip64.so").write_bytes(one.replace(b"kind:000", b"kind:" + digits))
    return found


def started(program: Path, *words: str, stdin: str = "", **environment: object) -> subprocess.CompletedProcess[str]:
    given = {name: str(value) for name, value in environment.items()}
    return subprocess.run([str(program), *words], env=given, input=stdin, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("places", [{"ROCM_PATH": "three"}, {"ROCM_HOME": "three"},
                                    {"ROCM_PATH": "three", "ROCM_HOME": "eight"}])  # fmt: skip
def test_with_rocm_main_runs_in_this_process(
    program: Path, rocm: Mapping[str, Path], places: Mapping[str, str]
) -> None:
    folders = {name: rocm[kind] for name, kind in places.items()}
    done = started(program, "one", "two words", GPULAB_LIBRARY="rocm", **folders)
    # constructors have run; what this ROCm lacks, answers hipErrorNotSupported (801)
    assert done.stdout == "7 0 3 3 one two words\n801\n"
    assert done.returncode == 5


def test_a_library_that_is_gpulabs_own_is_no_rocm(program: Path, rocm: Mapping[str, Path], tmp_path: Path) -> None:
    own = tmp_path / "virtual-rocm"
    own.symlink_to(rocm["eight"])
    done = started(program, GPULAB_LIBRARY="rocm", ROCM_PATH=own, ROCM_HOME=rocm["three"])
    assert done.stdout.startswith("7 0 3 1\n")
    assert started(program, GPULAB_LIBRARY="rocm", ROCM_PATH=own).returncode == 127


@pytest.mark.parametrize("version", ["7", "6"])
def test_a_library_by_its_version(program: Path, rocm: Mapping[str, Path], tmp_path: Path, version: str) -> None:
    """HIP's own major version, and the one before; the newer comes first."""
    (tmp_path / f"libamdhip64.so.{version}").symlink_to(rocm["three"] / "lib" / "libamdhip64.so")
    done = started(program, GPULAB_LIBRARY="rocm", LD_LIBRARY_PATH=tmp_path)
    assert done.stdout.startswith("7 0 3 1\n")
    if version == "7":
        (tmp_path / "libamdhip64.so.6").symlink_to(rocm["eight"] / "lib" / "libamdhip64.so")
        assert started(program, GPULAB_LIBRARY="rocm", LD_LIBRARY_PATH=tmp_path).stdout.startswith("7 0 3 1\n")
    else:
        (tmp_path / "libamdhip64.so").symlink_to(rocm["eight"] / "lib" / "libamdhip64.so")
        assert started(program, GPULAB_LIBRARY="rocm", LD_LIBRARY_PATH=tmp_path).stdout.startswith("7 0 3 1\n")


@pytest.mark.parametrize("kind", ["none", "error", "crash"])
def test_a_rocm_without_a_gpu_is_said(program: Path, rocm: Mapping[str, Path], kind: str) -> None:
    done = started(program, GPULAB_LIBRARY="rocm", ROCM_PATH=rocm[kind])
    assert (done.returncode, done.stdout) == (127, "")
    assert "GPULAB_LIBRARY=rocm, but no AMD GPU answers through ROCm's libamdhip64" in done.stderr
    assert ("(there is no /dev/kfd)" in done.stderr) == (not os.path.exists("/dev/kfd"))


def test_another_wish_is_refused(program: Path) -> None:
    done = started(program, GPULAB_LIBRARY="cuda")
    assert (done.returncode, done.stdout) == (127, "")
    assert done.stderr == 'GPULAB_LIBRARY is "cuda"; it is "virtual" or "rocm".\n'


SHOWS = """#!{python} -S
import sys
sys.stdout.write(repr(sys.argv[1:]))
"""


def test_python_gets_the_program_and_its_words(program: Path, rocm: Mapping[str, Path], tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(SHOWS.format(python=sys.executable))
    python.chmod(0o755)
    for settings in ({"GPULAB_LIBRARY": "virtual", "ROCM_PATH": rocm["three"]}, {}):
        done = started(program, "a b", "c", GPULAB_PYTHON=python, **settings)
        isolated, command, start, home, itself, *words = eval(done.stdout)
        assert (isolated, command) == ("-P", "-c")
        assert home == str(Path(programs.__file__).parents[2])
        assert itself == str(program)
        assert words == [str(program), "a b", "c"]
        assert start.endswith("start.main(sys.argv[2:])\n")


GPULAB_STARTS = "import sys\ndef main(words):\n    print({name!r}, words)\n"


def test_which_gpulab_starts_it(program: Path, tmp_path: Path) -> None:
    """That which Python finds; else that which built the program, also where the one that is found is too old."""
    python = tmp_path / "python"
    home = Path(programs.__file__).parents[2]
    package = tmp_path / "lib" / "gpulab" / "programs"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text("")
    (package / "__init__.py").write_text("")
    script = tmp_path / "run.py"
    # a Python whose path has nothing but the folder with this package
    script.write_text(
        "import sys\nstart = sys.argv[3]\nsys.argv = ['-c', *sys.argv[4:]]\n"
        f"sys.path.insert(0, {str(tmp_path / 'lib')!r})\nsys.argv[1] = {str(tmp_path / 'built')!r}\nexec(start)\n"
    )
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S {script} "$@"\n')
    python.chmod(0o755)
    built = tmp_path / "built" / "gpulab" / "programs"
    built.mkdir(parents=True)
    (built.parent / "__init__.py").write_text("")
    (built / "__init__.py").write_text("")

    def run() -> subprocess.CompletedProcess[str]:
        return started(program, "x", GPULAB_PYTHON=python, GPULAB_LIBRARY="virtual")

    done = run()
    assert done.returncode == 1
    assert "cannot import gpulab: " in done.stderr
    assert "Set GPULAB_PYTHON to the Python of the environment that has gpulab." in done.stderr
    (built / "start.py").write_text(GPULAB_STARTS.format(name="built"))
    assert run().stdout == f"built {[str(program), str(program), 'x']}\n"
    (package / "start.py").write_text(GPULAB_STARTS.format(name="found"))
    assert run().stdout == f"found {[str(program), str(program), 'x']}\n"
    assert home.is_dir()


def test_a_python_that_does_not_start(program: Path, tmp_path: Path) -> None:
    done = started(program, GPULAB_PYTHON=tmp_path / "none", GPULAB_LIBRARY="virtual")
    assert (done.returncode, done.stdout) == (127, "")
    assert f"it needs Python with gpulab; {tmp_path / 'none'} does not start: No such file or directory." in done.stderr


def rounded(value: float) -> int:
    """The bits of the nearest bfloat16, ties to even: worked out with whole numbers."""
    sign = 0x8000 if math.copysign(1.0, value) < 0 else 0
    if math.isnan(value):
        return sign | 0x7FC0
    if math.isinf(value):
        return sign | 0x7F80
    exact = abs(Fraction(value))
    candidates = [0x0000, 0x7F7F]
    with np.errstate(over="ignore"):
        narrow = np.float32(abs(value)).view(np.uint32) >> 16
    candidates += [int(narrow) + step for step in (-1, 0, 1) if 0 <= int(narrow) + step < 0x7F80]

    def number(bits: int) -> Fraction:
        if bits == 0x7F80:
            return Fraction(2) ** 128  # where the next one would lie
        return Fraction(float(np.uint32(bits << 16).view(np.float32)))

    nearest = min({*candidates, 0x7F80}, key=lambda bits: (abs(number(bits) - exact), bits & 1))
    return sign | nearest


@pytest.mark.full
def test_conversions_to_bfloat16_on_the_host_round_once(program: Path) -> None:
    """Halfway points, and doubles a little beside them that a float between would round onto them."""
    random = np.random.default_rng(5)
    values = [0.0, -0.0, 1.0, -1.5, math.inf, -math.inf, math.nan, 3.5e38, 3.4e38, 1e300, -1e300, 1e-300, 5e-41, 1e-45]
    for bits in (0x3F80, 0x3F81, 0x0001, 0x0080, 0x7F7F, 0x4049, *random.integers(1, 0x7F7F, 200)):
        base = float(np.uint32(int(bits) << 16).view(np.float32))
        half = base + (float(np.uint32((int(bits) << 16) + 0x10000).view(np.float32)) - base) / 2
        if not math.isfinite(half):
            half = 2.0**128 - 2.0**119
        for value in (half, math.nextafter(half, 0), math.nextafter(half, math.inf), half * (1 - 2**-30), base):
            values += [value, -value]
    lines = "".join(f"{struct.unpack('<Q', struct.pack('<d', value))[0]:x}\n" for value in values)
    done = started(program, "bfloat16", stdin=lines, GPULAB_LIBRARY="virtual", HOME=os.environ.get("HOME", "/"),
                   GPULAB_CACHE=os.environ.get("GPULAB_CACHE", ""))  # fmt: skip
    found = [tuple(int(part, 16) for part in line.split()) for line in done.stdout.splitlines()]
    assert len(found) == len(values), done.stderr
    with np.errstate(all="ignore"):
        singles = [float(np.float32(value)) for value in values]
    for value, single, (of_double, of_float, of_long) in zip(values, singles, found, strict=True):
        if math.isnan(value):
            assert all(bits & 0x7FC0 == 0x7FC0 for bits in (of_double, of_float, of_long))
        else:
            assert of_double == of_long == rounded(value), value
            assert of_float == rounded(single), value
