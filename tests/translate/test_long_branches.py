"""Branches that are too far for s_branch: LLVM jumps through a distance between labels that it adds to the pc.

Real ones need more than 128 KiB of code, which one test has; an option of LLVM makes them in small kernels.
"""

from __future__ import annotations

import numpy as np
import pytest

import gpulab
from gpulab.virtual_gpu.isa.assembly import parse
from gpulab.virtual_gpu.isa.instruction import Literal

SOURCE = """
__global__ void walk(unsigned* out, int n) {
  unsigned x = threadIdx.x;
  for (int j = 0; j < n; j++) {
    if (x & 1) x = x * 3u ^ 7u;
    else { x = x + j * 5u; x ^= x >> 3; }
  }
  out[threadIdx.x] = x;
}
"""
SPIN = "__global__ void spin(int* p) { while (true) { atomicAdd(p, 1); atomicXor(p, 3); atomicAdd(p, 5); } }"
NEAR = ["-mllvm", "-amdgpu-s-branch-bits=4"]


def expected(x: int, n: int) -> int:
    for j in range(n):
        if x & 1:
            x = (x * 3 & 0xFFFFFFFF) ^ 7
        else:
            x = x + j * 5 & 0xFFFFFFFF
            x ^= x >> 3
    return x


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_a_long_branch_lands(arch):
    with gpulab.using(arch):
        module = gpulab.compile(SOURCE, options=NEAR)
        assert "s_setpc_b64" in module.assembly
        out = gpulab.zeros(64, np.uint32)
        module.walk[1, 64](out, 9)
        assert out.to_host().tolist() == [expected(x, 9) for x in range(64)]


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_a_loop_over_more_than_128_KiB_of_code_lands(arch):
    lines = [(2 * k + 3, k * 7919 + 1) for k in range(7_000)]
    body = "\n".join(f"x = x * {factor}u ^ {other}u;" for factor, other in lines)
    source = f"""__global__ void walk(unsigned* out, int n) {{
      unsigned x = threadIdx.x;
      for (int j = 0; j < n; j++) {{ {body} }}
      out[threadIdx.x] = x;
    }}"""
    with gpulab.using(arch):
        module = gpulab.compile(source)
        assert "s_setpc_b64" in module.assembly
        out = gpulab.zeros(64, np.uint32)
        module.walk[1, 64](out, 2)
        wanted = np.arange(64, dtype=np.uint64)
        for factor, other in 2 * lines:
            wanted = wanted * factor & 0xFFFFFFFF ^ other
        assert out.to_host().tolist() == wanted.tolist()


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_a_loop_without_end_through_a_long_branch_is_stopped(arch):
    with gpulab.using(arch):
        module = gpulab.compile(SPIN, options=NEAR)
        assert "s_setpc_b64" in module.assembly
        gpulab.set_limit(100_000)
        try:
            with pytest.raises(gpulab.KernelTimeout):
                module.spin[1, 1](gpulab.zeros(1, np.int32))
        finally:
            gpulab.set_limit(None)


def test_a_distance_names_its_places_also_through_a_symbol():
    text = "\n".join(
        [
            '.amdgcn_target "amdgcn-amd-amdhsa--gfx942"', "s_getpc_b64 s[0:1]", "here:", ".set far, there-here",
            "s_add_u32 s0, s0, far", "s_addc_u32 s1, s1, (there-here)>>32", "s_setpc_b64 s[0:1]", "there:", "s_endpgm",
        ]
    )  # fmt: skip
    for item in parse(text).instructions[1:3]:
        value = item.operands[2].value
        assert isinstance(value, Literal)
        assert set(value.places) == {"there", "here"}
