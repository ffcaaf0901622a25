"""Several findings of one checked launch: the first in full, the further ones named, each mistake once."""

from __future__ import annotations

import numpy as np
import pytest

import gpulab
from gpulab.records import Fault
from tests.checked.test_assembly import assembly

ARCHITECTURES = ("gfx942", "gfx1100")

TWO_REDUCTIONS = """
__device__ float block_sum(float v, float* shared) {
  for (int d = 1; d < warpSize; d *= 2) v += __shfl_xor(v, d);
  int wave = threadIdx.x / warpSize, waves = blockDim.x / warpSize;
  if (threadIdx.x % warpSize == 0) shared[wave] = v;                 // line 5: the second reduction's write
  __syncthreads();
  if ((int)threadIdx.x < waves) {
    v = shared[threadIdx.x];
    for (int d = 1; d < waves; d *= 2) v += __shfl_down(v, d);       // line 9: lanes from `waves` on are not here
    if (threadIdx.x == 0) shared[0] = v;
  }
  __syncthreads();
  return shared[0];                                                  // line 13: read while others are in the second
}
__global__ void twice(const float* in, float* out) {
  __shared__ float shared[32];
  float v = in[threadIdx.x];
  float sum = block_sum(v, shared);
  out[threadIdx.x] = block_sum(v * v, shared) - sum;
}
"""


def found(source: str, arch: str, *, threads: int = 256, grid: int = 1, size: int = 256) -> gpulab.KernelFault:
    with gpulab.using(f"virtual:{arch}"):
        (kernel,) = gpulab.compile(source)
        given = gpulab.to_device(np.arange(1, size + 1, dtype="float32")), gpulab.zeros(size, "float32")
        with gpulab.checked(), pytest.raises(gpulab.KernelFault) as raised:
            kernel[grid, threads](*given)
    return raised.value


def places(fault: Fault | None) -> list[tuple[str, set[int]]]:
    """Kind and lines of each finding."""
    assert fault is not None
    return [
        (one.kind, {where.line for where in (one.where, one.other and one.other.where) if where})
        for one in (fault, *fault.further)
    ]


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_a_shuffle_does_not_hide_a_race(arch: str) -> None:
    error = found(TWO_REDUCTIONS, arch)
    first, *further = places(error.fault)
    assert first == ("shuffle", {9})
    assert ("race", {5, 13}) in further
    text = str(error)
    assert text.index("shuffles a value out of a lane") < text.index("Also found") < text.index("  race: ")


def test_one_mistake_is_one_finding() -> None:
    """What comes after it goes on as if it were mended, and what was read too early is part of it."""
    error = found(
        """__global__ void f(const float* in, float* out) {
          __shared__ float tile[256];
          tile[threadIdx.x] = in[threadIdx.x];
          float a = tile[255 - threadIdx.x];
          float b = tile[(threadIdx.x + 64) % 256];
          out[threadIdx.x] = a + b;
        }""",
        "gfx942",
    )
    assert places(error.fault) == [("race", {3, 5})]


MANY = """__global__ void f(const float* in, float* out) {
  float v = in[threadIdx.x];
  if (threadIdx.x % 2 == 0) {
BODY
  }
  out[threadIdx.x] = v;
}"""


@pytest.mark.parametrize(("mistakes", "words"), [(3, "Also found"), (8, "and 3 more"), (40, "and 11 more")])
def test_the_first_are_named_and_the_rest_counted(mistakes: int, words: str) -> None:
    lines = "\n".join(f"    v += __shfl(v, {2 * n % 64 + 1}) * {n + 1};" for n in range(mistakes))
    error = found(MANY.replace("BODY", lines), "gfx942", threads=64)
    assert error.fault is not None
    assert places(error.fault) == [("shuffle", {4 + n}) for n in range(min(mistakes, 16))]
    assert words in str(error)
    assert str(error).count("  shuffle: ") == min(mistakes - 1, 4)


def test_what_stops_the_kernel_is_found_after_a_race() -> None:
    error = found(
        """__global__ void f(const float* in, float* out) {
          __shared__ float tile[256];
          tile[threadIdx.x] = in[threadIdx.x];
          out[threadIdx.x] = tile[255 - threadIdx.x];
          __syncthreads();
          if (in[threadIdx.x] > 7) out[threadIdx.x + 100000000] = 1;
        }""",
        "gfx942",
    )
    kinds = [kind for kind, _ in places(error.fault)]
    assert kinds[0] == "race"
    assert kinds[-1] == "out of bounds"
    assert isinstance(error, gpulab.CheckedFault)


def test_a_kernel_that_then_waits_for_ever_ends() -> None:
    error = found(
        """__global__ void f(const float* in, float* out) {
          out[0] = in[threadIdx.x];
          unsigned n = 1;
          while (n) { n = n * 5 + 2; n |= 1; }
          out[1] = n;
        }""",
        "gfx942",
        threads=64,
    )
    assert places(error.fault)[0] == ("lane conflict", {2})


def test_findings_are_those_of_one_workgroup() -> None:
    error = found(
        """__global__ void f(const float* in, float* out) {
          if (blockIdx.x == 2) out[5] = threadIdx.x;
          if (blockIdx.x == 3) out[6] = threadIdx.x;
        }""",
        "gfx942",
        grid=4,
        threads=64,
    )
    assert places(error.fault) == [("lane conflict", {2})]
    assert error.fault is not None
    assert error.fault.workgroup == (2, 0, 0)


def test_assembly_goes_on_as_if_a_register_were_written() -> None:
    body = """
s_waitcnt lgkmcnt(0)
v_add_u32 v2, v5, v5
v_add_u32 v3, v5, v2
v_add_u32 v4, v6, v3
global_load_dword v7, v1, s[2:3]
v_add_u32 v8, v7, v4
v_add_u32 v8, v7, v8
s_waitcnt vmcnt(0)
"""
    with gpulab.using("virtual:gfx942"):
        kernel = gpulab.compile(assembly("gfx942", body), language="asm")["f"]
        with gpulab.checked(), pytest.raises(gpulab.CheckedFault) as raised:
            kernel[1, 64](gpulab.zeros(64, "float32"))
    fault = raised.value.fault
    assert fault is not None
    assert [(one.kind, one.instruction) for one in (fault, *fault.further)] == [
        ("register", "v_add_u32 v2, v5, v5"),
        ("register", "v_add_u32 v4, v6, v3"),
        ("missing wait", "v_add_u32 v8, v7, v4"),
    ]
