"""A stack that is full: the fault names the function that called itself and what a call keeps.

gfx90a and gfx1030 reach scratch through buffers, and their stack pointer counts bytes of a wave; the others count those
of a lane. (LLVM, "User Guide for AMDGPU Backend", calling convention)
"""

from __future__ import annotations

import re

import pytest

from gpulab import toolchain
from gpulab.virtual_gpu.isa.assembly import parse
from tests.machine.test_device import zeros
from tests.translate.kernels import device, pack

SOURCE = """__device__ __noinline__ int down(int n, volatile int* x) {
  volatile int kept[16];
  for (int i = 0; i < 16; i++) kept[i] = n + i;
  return n <= 0 ? x[0] : down(n - 1, x) + kept[n & 15];
}
extern "C" __global__ void deep(int* x, int n) { x[threadIdx.x] = down(n, x); }
"""


@pytest.mark.parametrize("arch", ["gfx942", "gfx90a", "gfx1030", "gfx1100", "gfx1201"])
def test_the_function_and_what_each_call_keeps_are_named(arch: str) -> None:
    code = toolchain.compile(SOURCE, arch=arch)
    kernel = device(arch).load(parse(code.assembly, guarantees=code.guarantees)).kernels["deep"]
    launch = lambda depth: device(arch).launch(kernel, (1, 1, 1), (64, 1, 1), 0, pack(zeros(64), depth))  # noqa: E731
    assert launch(20).fault is None
    fault = launch(1_000_000).fault
    assert fault.kind == "stack overflow"
    found = re.fullmatch(
        r"(\w+): each call keeps (\d+) bytes, so that its ([\d,]+) bytes .*about (\d+) calls", fault.detail
    )
    said = re.search(r"\.set \S*down\S*\.private_seg_size, (\d+)", code.assembly)
    assert found, fault.detail
    assert "down" in found[1]
    assert found[2] == said[1]  # by the compiler
    assert int(found[4]) == int(found[3].replace(",", "")) // int(found[2])
