"""Code generation choices that the checks of a run depend on: endless loops stay, packed data is not read whole."""

from __future__ import annotations

import pytest

import gpulab
from gpulab import toolchain

ARCHITECTURES = ("gfx942", "gfx1100")

PACKED = """
struct __attribute__((packed)) Record { char tag; int value; };
__global__ void unpack(const Record* in, const char* bytes, int* out) {
    int copied;
    __builtin_memcpy(&copied, bytes + threadIdx.x + 1, 4);
    out[threadIdx.x] = in[threadIdx.x].value + copied;
}
"""

ENDLESS = """
__global__ void endless(int* x) {
    while (true) {
        if (x[0] == 12345) break;
        x[1] += 1;
    }
}
"""


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_packed_data_is_correct_code_and_is_not_called_misaligned(arch: str) -> None:
    import numpy as np

    with gpulab.using(arch):
        unpack = gpulab.compile(PACKED).unpack
        records = np.zeros(64, np.dtype([("tag", "i1"), ("value", "<i4")]))
        records["value"] = np.arange(64) * 1000
        text = np.arange(80, dtype=np.uint8)
        out = gpulab.zeros(64, "int32")
        unpack[1, 64](gpulab.to_device(records.view(np.int8)), gpulab.to_device(text.view(np.int8)), out)
        copied = np.array([int.from_bytes(text[i + 1 : i + 5].tobytes(), "little") for i in range(64)])
        assert (out.to_host() == records["value"] + copied).all()


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_an_unaligned_pointer_cast_is_found(arch: str) -> None:
    with gpulab.using(arch):
        cast = gpulab.compile("__global__ void cast(char* p) { *(int*)(p + 1) = 5; }").cast
        with pytest.raises(gpulab.MemoryFault, match="misaligned"):
            cast[1, 1](gpulab.zeros(64, "int8"))
            gpulab.synchronize()


@pytest.mark.full
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_a_loop_without_an_end_is_kept(arch: str) -> None:
    text = toolchain.compile(ENDLESS, arch=arch).assembly
    assert "s_cbranch" in text or "s_branch" in text
    with gpulab.using(arch):
        endless = gpulab.compile(ENDLESS).endless
        with pytest.raises(gpulab.KernelTimeout) as caught:
            endless[1, 64](gpulab.zeros(2, "int32"))
            gpulab.synchronize()
        assert caught.value.fault is not None
        assert caught.value.fault.where is not None
        assert caught.value.fault.where.line in (3, 4, 5)


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_arguments_that_clang_reads_with_a_wider_load(arch: str) -> None:
    import numpy as np

    source = """
    __global__ void blend(const double* s, const double* t, double* a, double* b, double r, double v, double w) {
        int i = threadIdx.x;
        a[i] = s[i] * r + t[i] * v;
        b[i] = s[i] * w;
    }"""
    with gpulab.using(arch):
        s, t = np.arange(64.0), np.arange(64.0) + 0.5
        a, b = gpulab.zeros(64, "float64"), gpulab.zeros(64, "float64")
        gpulab.compile(source).blend[1, 64](gpulab.to_device(s), gpulab.to_device(t), a, b, 2.0, 4.0, 8.0)
        assert (a.to_host() == s * 2 + t * 4).all()
        assert (b.to_host() == s * 8).all()


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_the_use_of_a_null_pointer_is_kept(arch: str) -> None:
    source = "__global__ void nothing(int* x) { int* p = nullptr; p[threadIdx.x] = 1; }"
    with gpulab.using(arch):
        nothing = gpulab.compile(source).nothing
        with pytest.raises(gpulab.MemoryFault, match="null pointer"):
            nothing[1, 64](gpulab.zeros(64, "int32"))


def test_a_lane_move_that_clang_joins_with_a_comparison_is_kept_apart() -> None:
    import numpy as np

    source = """
    __global__ void mirror(const int* in, int* out) {
        unsigned x = (unsigned)__hip_move_dpp(in[threadIdx.x], 0x140, 0xf, 0xf, true);
        out[threadIdx.x] = 3u < x ? 5 : (int)threadIdx.x;
    }"""
    with gpulab.using("gfx1100"):
        given, out = np.arange(32, dtype="int32") % 7, gpulab.zeros(32, "int32")
        gpulab.compile(source).mirror[1, 32](gpulab.to_device(given), out)
        lanes = np.arange(32)
        assert (out.to_host() == np.where(given[lanes // 16 * 16 + 15 - lanes % 16] > 3, 5, lanes)).all()
