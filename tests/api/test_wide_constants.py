"""Clang reads three constant dwords by one load of four; nothing of the fourth is used, and that is no fault."""

import numpy as np
import pytest

import gpulab
from gpulab.errors import MemoryFault

SOURCE = """
__constant__ int weights[3];
__global__ void weigh(int n, const int* in, int* out) {
    int i = threadIdx.x;
    if (i >= n) return;
    int left = i > 0 ? in[i - 1] : 0, right = i < n - 1 ? in[i + 1] : 0;
    out[i] = weights[2] * left + weights[1] * in[i] + weights[0] * right;
}
__global__ void fourth(int n, int* out) { out[threadIdx.x] = weights[n]; }
"""


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("checked", [False, True])
def test_three_dwords_are_read_as_four(arch: str, checked: bool) -> None:
    with gpulab.using(arch):
        module = gpulab.compile(SOURCE)
        assert "s_load_dwordx4" in module.assembly or "s_load_b128" in module.assembly
        module.variable("weights", np.int32).copy_from(np.array([300, 20, 1], np.int32))
        data = gpulab.to_device(np.arange(1, 9, dtype=np.int32))
        out = gpulab.zeros(8, np.int32)
        if checked:
            with gpulab.checked():
                module.weigh[1, 64](8, data, out)
        else:
            module.weigh[1, 64](8, data, out)
        values = np.arange(10) % 9  # 0 before the first and after the last
        assert out.to_host().tolist() == (values[:-2] + 20 * values[1:-1] + 300 * values[2:]).tolist()
        with pytest.raises(MemoryFault):  # one dword behind the end is a fault as before
            module.fourth[1, 1](3, out)
            gpulab.synchronize()
