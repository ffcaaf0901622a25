"""Thrust's headers: programs that compare host_vector, device_vector and std::, and programs as people publish them.

A source of thrust/ counts its checks (check.h) and prints "all right". Each is built once, and runs on both devices.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import gpulab
from gpulab import programs
from gpulab.errors import CompileError
from gpulab.toolchain import hosted

pytestmark = pytest.mark.skipif(bool(hosted.unavailable()), reason=hosted.unavailable() or "programs can be built")
FOLDER = Path(__file__).parent / "thrust"
SOURCES = sorted(FOLDER.rglob("*.hip"))
QUICK = {"saxpy"}


def marked(source: Path) -> object:
    return pytest.param(source, id=source.stem, marks=[] if source.stem in QUICK else [pytest.mark.full])


@pytest.mark.parametrize("source", [marked(one) for one in SOURCES])
def test_program(source: Path) -> None:
    program = programs.build(source)
    for arch in ("gfx942", "gfx1100"):
        run = program.run(arch=arch, seconds=240)
        assert (run.stdout, run.exit_code) == ("all right\n", 0), (arch, run.stderr)


@pytest.mark.full
@pytest.mark.parametrize("source", [one for one in SOURCES if one.parent.name == "published"], ids=lambda one: one.stem)
def test_checked_launches_find_nothing(source: Path) -> None:
    """Programs that are right: no race, and nothing read that was never written, in kernels of the headers either."""
    program = programs.build(source)
    for arch in ("gfx942", "gfx1100"):
        run = program.run(arch=arch, checked=True, seconds=240)
        assert (run.stdout, run.stderr, run.exit_code) == ("all right\n", "", 0), arch


def test_there_are_as_many_programs_as_the_page_says() -> None:
    assert len(SOURCES) == 16


@pytest.mark.full
@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("#include <thrust/system/cuda/execution_policy.h>", "include <thrust/system/hip/execution_policy.h>"),
        ("#include <thrust/async/reduce.h>", "Use thrust::hip::par_nosync.on(stream)"),
        ("#include <thrust/mr/allocator.h>", "thrust::hip::par(allocator)"),
        ("#include <thrust/system/omp/execution_policy.h>", "the OMP system"),
        ("#include <thrust/optional.h>", "std::optional"),
        (
            "#include <thrust/device_vector.h>\n#include <thrust/transform.h>\n#include <thrust/functional.h>\n"
            "void f() { thrust::device_vector<int> d(3); int h[3];\n"
            "thrust::transform(d.begin(), d.end(), h, thrust::negate<int>()); }",
            "an algorithm of Thrust works in one system",
        ),
        (
            "#include <thrust/sort.h>\n#include <thrust/execution_policy.h>\n"
            "__global__ void k(int* p) { thrust::sort(thrust::device, p, p + 3); }",
            "give it the policy thrust::seq",
        ),
        ("#include <thrust/no_such_thing.h>", "gpulab's Thrust has no <thrust/no_such_thing.h>"),
        ("#include <thrust/execution_policy.h>\nauto policy = thrust::cuda::par;", "In HIP it is thrust::hip"),
    ],
)
def test_what_is_refused(source: str, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        programs.build(source + "\nint main() {}\n", name="refused")
    assert message in str(caught.value)


@pytest.mark.full
def test_an_old_standard_is_refused() -> None:
    with pytest.raises(CompileError, match=r"Thrust needs C\+\+17"):
        programs.build("#include <thrust/reduce.h>\nint main() {}\n", name="old", options=["-std=c++14"])


def test_a_cell_of_kernels_is_told_what_thrust_needs() -> None:
    with pytest.raises(CompileError, match="Thrust needs host code"):
        gpulab.compile("#include <thrust/device_vector.h>\n__global__ void k() {}\n")
