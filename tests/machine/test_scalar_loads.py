"""Scalar loads at the end of an array: Clang loads three dwords as four where these are aligned to 16 bytes.

LLVM, SIISelLowering.cpp, widenLoad: no page ends within such 16 bytes. Any other load beyond the end is a fault.
"""

from __future__ import annotations

import numpy as np
import pytest

import gpulab
from gpulab.errors import KernelFault

NAMES = {
    "gfx942": {8: "dwordx2", 16: "dwordx4", 32: "dwordx8"},
    "gfx1100": {8: "b64", 16: "b128", 32: "b256"},
}
SOURCE = """
typedef int Words __attribute__((ext_vector_type(SIZE / 4)));
extern "C" __global__ void load(const int* p, int first, int count, int* out) {
    Words words;
    asm volatile("s_load_NAME %0, %1, 0x0\\n s_waitcnt lgkmcnt(0)" : "=&s"(words) : "s"(p + first));
    int sum = 0;
    for (int k = 0; k < SIZE / 4; k++) sum += k < count ? words[k] : 0;
    out[threadIdx.x] = sum;
}
"""


def loaded(arch: str, size: int, room: int, first: int) -> int:
    """The sum of what a load of so many bytes reads from element `first` of an array, behind which `room` are left."""
    with gpulab.using(next(each.index for each in gpulab.devices() if each.arch == arch)):
        kernel = gpulab.compile(SOURCE.replace("NAME", NAMES[arch][size]).replace("SIZE", str(size))).load
        data, out = gpulab.to_device(np.arange(100, 100 + first + room // 4, dtype="int32")), gpulab.zeros(64, "int32")
        kernel[1, 64](data, first, room // 4, out)
        return int(out.to_host()[0])


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize(
    ("size", "room", "first"), [(16, 12, 0), (16, 12, 4), (32, 24, 0), (32, 24, 8), (16, 16, 3), (8, 8, 1)]
)
def test_what_clang_widens_is_loaded(arch: str, size: int, room: int, first: int) -> None:
    assert loaded(arch, size, room, first) == sum(range(100 + first, 100 + first + room // 4))


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize(
    ("size", "room", "first"),
    [(16, 12, 1), (16, 12, 2), (16, 8, 0), (32, 20, 0), (32, 24, 4), (8, 4, 0), (8, 4, 2)],
)
def test_other_loads_beyond_the_end_are_faults(arch: str, size: int, room: int, first: int) -> None:
    with pytest.raises(KernelFault) as found:
        loaded(arch, size, room, first)
    assert found.value.fault.kind == "out of bounds"
    assert found.value.fault.access == "read"
