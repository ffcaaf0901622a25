"""hipCUB and rocPRIM: each program of primitives/ compares them with the host, on both devices and checked.

The programs use random numbers from a fixed seed, sizes around a wave, a tile and a wave's part, types and operators of
their own; memory behind each output is looked at, and a byte less of temporary storage is refused.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gpulab
from gpulab import programs
from gpulab.errors import CompileError
from gpulab.programs.program import HostProgram
from gpulab.toolchain import hosted

FOLDER = Path(__file__).parent / "primitives"
whole = pytest.mark.skipif(bool(hosted.unavailable()), reason=hosted.unavailable() or "programs can be built")
#: The largest size that each program is run with; None stands for programs that take none. The shortest is first.
LARGEST = {
    "quick": None,
    "block": None,
    "device_reduce_scan": 300_000,
    "device_select": 70_001,
    "device_sort": 300_000,
    "own_keys": None,
    "rocprim_block": None,
    "rocprim_device": 70_001,
    "rocprim_lanes": None,
    "warp": None,
}


def passes(program: HostProgram, *arguments: str, arch: str, checked: bool = False) -> None:
    run = program.run(*arguments, arch=arch, checked=checked, seconds=300)
    assert (run.stderr, run.exit_code) == ("", 0), run.stdout
    count, _, rest = run.stdout.partition(" comparisons, ")
    assert int(count) > 1
    assert rest == "0 wrong\n"


def test_every_program_has_its_size() -> None:
    assert sorted(LARGEST) == sorted(path.stem for path in FOLDER.glob("*.hip"))


@whole
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.full) for name in LARGEST])
def test_a_program_agrees_with_the_host(name: str) -> None:
    """The larger sizes on one of the two devices, the checked launches on the other; which, the name decides."""
    program = programs.build(FOLDER / f"{name}.hip", name=name)
    first, second = ("gfx942", "gfx1100") if len(name) % 2 else ("gfx1100", "gfx942")
    largest = LARGEST[name]
    passes(program, *([] if largest is None else [str(largest)]), arch=first)
    passes(program, arch=second)
    passes(program, *([] if largest is None else ["1100"]), arch=second, checked=True)


KERNEL = """
#include <hipcub/hipcub.hpp>
#include <rocprim/rocprim.hpp>
__global__ void sums(const int* in, int* out) {
  using Scan = hipcub::BlockScan<int, 128>;
  __shared__ Scan::TempStorage storage;
  int x = in[threadIdx.x], y;
  Scan(storage).ExclusiveSum(x, y);
  out[threadIdx.x] = y;
  rocprim::block_reduce<int, 128>().reduce(x, y, rocprim::maximum<int>());
  if (threadIdx.x == 0) out[128] = y;
}
"""


@pytest.mark.parametrize("arch", ["gfx942", pytest.param("gfx1100", marks=pytest.mark.full)])
def test_kernels_have_the_parts_for_blocks(arch: str) -> None:
    with gpulab.using(arch):
        numbers = np.arange(128, dtype=np.int32)[::-1].copy() % 50
        out = gpulab.zeros(129, "int32")
        gpulab.compile(KERNEL)["sums"][1, 128](gpulab.to_device(numbers), out)
        before = np.concatenate(([0], np.cumsum(numbers)[:-1]))
        assert out.to_host().tolist() == [*before.tolist(), 49]


@pytest.mark.full
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("hipcub::TexObjInputIterator<float> x;", "hipcub::TexObjInputIterator is not supported"),
        ("hipcub::TexRefInputIterator<float, 1> x;", "hipcub::TexRefInputIterator is not supported"),
        ("rocprim::texture_cache_iterator<float> x;", "rocprim::texture_cache_iterator is not supported"),
        ("struct Key { int a, b; }; Key keys[1] = {}; hipcub::BlockRadixSort<Key, 64, 1>().Sort(keys);",
         "a radix sort takes keys of integer and floating-point types"),
    ],
)  # fmt: skip
def test_refused_by_name(text: str, told: str) -> None:
    source = f"#include <hipcub/hipcub.hpp>\n#include <rocprim/rocprim.hpp>\n__global__ void k() {{ {text} }}\n"
    with pytest.raises(CompileError, match=told):
        gpulab.compile(source, arch="gfx942")


def test_a_logical_warp_that_is_wider_than_the_wave() -> None:
    """A binary for several devices may hold it; where it runs, it stops and says why."""
    source = """
    #include <hipcub/hipcub.hpp>
    __global__ void k(int* out) {
      using Reduce = hipcub::WarpReduce<int, 64>;
      __shared__ Reduce::TempStorage storage;
      int x = Reduce(storage).Sum(1);
      if (threadIdx.x == 0) *out = x;
    }
    """
    for arch in ("gfx942", "gfx1100"):
        with gpulab.using(arch):
            out = gpulab.zeros(1, "int32")
            kernel = gpulab.compile(source)["k"]
            if arch == "gfx942":
                kernel[1, 64](out)
                assert out.to_host().tolist() == [64]
            else:
                with pytest.raises(gpulab.KernelTrap):
                    kernel[1, 64](out)


def test_storage_that_is_used_again_without_a_barrier() -> None:
    """A checked launch names the caller's lines, not the headers'."""
    source = """
    #include <hipcub/block/block_scan.hpp>
    __global__ void k(int* out) {
      using Scan = hipcub::BlockScan<int, 256>;
      __shared__ Scan::TempStorage storage;
      int x = 1, y, z;
      Scan(storage).InclusiveSum(x, y);  // first
      BARRIER
      Scan(storage).InclusiveSum(y, z);  // second
      out[threadIdx.x] = z;
    }
    """
    with gpulab.using("gfx1100"), gpulab.checked():
        out = gpulab.zeros(256, "int32")
        gpulab.compile(source.replace("BARRIER", "__syncthreads();"))["k"][1, 256](out)
        assert out.to_host().tolist() == [n * (n + 1) // 2 for n in range(1, 257)]
        with pytest.raises(gpulab.CheckedFault, match=r"(?s)data race.*// first.*// second"):
            gpulab.compile(source.replace("BARRIER", ""))["k"][1, 256](out)
