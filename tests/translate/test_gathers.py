"""Dwords that are anywhere in an array, gathered and scattered: results, faults and order are those of single lanes."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest

import gpulab
from gpulab.virtual_gpu import dispatch, isa
from gpulab.virtual_gpu.isa import assembly
from gpulab.virtual_gpu.machine import loading
from gpulab.virtual_gpu.translate import jit
from gpulab.virtual_gpu.translate.decode import Decoder
from gpulab.virtual_gpu.translate.function import translate
from gpulab.virtual_gpu.translate.places import MOST_GATHERS
from tests.translate.ways import ASSEMBLY

SOURCE = r"""
#include <hip/hip_runtime.h>
#define I int i = blockIdx.x * blockDim.x + threadIdx.x
extern "C" __global__ void one(int n, const int* at, const int* x, int* y) { I; if (i < n) y[i] = x[at[i]]; }
extern "C" __global__ void two(int n, const int* at, const double* x, double* y) { I; if (i < n) y[i] = x[at[i]]; }
extern "C" __global__ void four(int n, const int* at, const float4* x, float4* y) { I; if (i < n) y[i] = x[at[i]]; }
extern "C" __global__ void far(int n, const long long* at, const int* x, int* y) { I; if (i < n) y[i] = x[at[i]]; }
extern "C" __global__ void odd(int n, const int* at, const char* x, int* y) {
    I; if (i < n) y[i] = *(const int*)(x + at[i]);
}
extern "C" __global__ void narrow(int n, const int* at, const short* x, const signed char* z, int* y) {
    I; if (i < n) y[i] = x[at[i]] * 1000 + z[at[i] ^ 1];
}
extern "C" __global__ void unsigned_narrow(
        int n, const int* at, const unsigned short* x, const unsigned char* z, int* y) {
    I; if (i < n) y[i] = x[at[i]] * 1000 + z[at[i]];
}
extern "C" __global__ void bytes_in_lds(int n, const int* at, const unsigned char* x, int* y) {
    __shared__ unsigned char tile[1024];
    int t = threadIdx.x;
    for (int k = t; k < 1024; k += 256) tile[k] = x[k];
    __syncthreads();
    for (int k = t; k < n; k += 256) y[k] = tile[at[k]];
}
extern "C" __global__ void bytes_of_some(int n, const int* at, const signed char* x, signed char* y) {
    I; if (i < n && at[i] % 3 == 0) y[i] = x[i];
}
extern "C" __global__ void put(int n, const int* at, const int* x, int* y) { I; if (i < n) y[at[i]] = x[i]; }
extern "C" __global__ void put_pairs(int n, const int* at, const int2* x, int* y) {
    I; if (i < n) *(int2*)(y + at[i]) = x[i];
}
extern "C" __global__ void either(int n, const int* at, const int* x, const int* z, int* y) {
    I; if (i < n) { const int* from = at[i] & 1 ? x : z; y[i] = from[at[i]]; }
}
extern "C" __global__ void in_lds(int n, const int* at, const int* x, int* y) {
    __shared__ int tile[1024];
    int t = threadIdx.x;
    for (int k = t; k < 1024; k += 256) tile[at[k]] = x[k];
    __syncthreads();
    for (int k = t; k < n; k += 256) y[k] = tile[at[k] ^ 5] - tile[at[1023 - k]];
}
extern "C" __global__ void walk(int n, const int* at, const int* x, int* y) {
    I; int sum = 0, place = i;
    for (int k = 0; k < n; ++k) { sum = sum * 3 + x[place]; place = at[place]; }
    y[i] = sum;
}
"""
COUNT = 8192
GRID = (COUNT // 256, 256)  # more workgroups than are observed


@pytest.fixture(scope="module", params=["gfx942", "gfx1100"])
def module(request: pytest.FixtureRequest) -> Iterator[gpulab.Module]:
    with pytest.MonkeyPatch.context() as patch, gpulab.using(f"virtual:{request.param}"):
        patch.setattr(loading, "QUICK_SECONDS", 0.0)
        yield gpulab.compile(SOURCE)


def places(dtype: str = "int32") -> np.ndarray:
    return np.random.default_rng(3).permutation(COUNT).astype(dtype)


def values(shape: int | tuple[int, ...] = COUNT, dtype: str = "int32") -> np.ndarray:
    return np.random.default_rng(4).integers(-(1 << 20), 1 << 20, shape).astype(dtype)


@pytest.mark.parametrize("n", [1, 37, 1000, COUNT])
@pytest.mark.parametrize(
    ("name", "shape", "dtype", "index"),
    [
        ("one", (COUNT,), "int32", "int32"),
        ("far", (COUNT,), "int32", "int64"),
        ("two", (COUNT,), "float64", "int32"),
        ("four", (COUNT, 4), "float32", "int32"),
    ],
)
def test_loads(module: gpulab.Module, name: str, shape: tuple[int, ...], dtype: str, index: str, n: int) -> None:
    at, x = places(index), values(shape, dtype)
    at[n:] = 1 << 30  # of lanes that do not read
    y = gpulab.zeros(shape, dtype)
    module[name][GRID](n, gpulab.to_device(at), gpulab.to_device(x), y)
    assert (y.to_host()[:n] == x[at[:n]]).all()
    assert not y.to_host()[n:].any()


@pytest.mark.parametrize("n", [37, COUNT])
@pytest.mark.parametrize("name", ["narrow", "unsigned_narrow"])
def test_bytes_and_halves(module: gpulab.Module, name: str, n: int) -> None:
    sign = "" if name == "narrow" else "u"
    at, x, z = places(), values(COUNT, f"{sign}int16"), values(COUNT, f"{sign}int8")
    at[n:] = 1 << 30
    y = gpulab.zeros(COUNT, "int32")
    module[name][GRID](n, gpulab.to_device(at), gpulab.to_device(x), gpulab.to_device(z), y)
    second = at[:n] ^ 1 if name == "narrow" else at[:n]
    assert (y.to_host()[:n] == x[at[:n]].astype("int32") * 1000 + z[second]).all()


def test_bytes_up_to_an_odd_end(module: gpulab.Module) -> None:
    at, x, z = places() % 1021, values(1021, "uint16"), values(1021, "uint8")
    given, y = (gpulab.to_device(at), gpulab.to_device(x), gpulab.to_device(z)), gpulab.zeros(COUNT, "int32")
    module.unsigned_narrow[GRID](COUNT, *given, y)
    assert (y.to_host() == x[at].astype("int32") * 1000 + z[at]).all()
    at[777] = 1021
    with pytest.raises(gpulab.KernelFault) as caught:
        module.unsigned_narrow[GRID](COUNT, gpulab.to_device(at), *given[1:], y)
    assert (caught.value.fault.workgroup[0], caught.value.fault.thread[0]) == divmod(777, 256)


def test_bytes_of_memory_that_begins_at_an_odd_address(module: gpulab.Module) -> None:
    """Memory of the process that was registered with HIP: a byte's dword begins before it, and ends after it."""
    from hip import hip

    at, x, whole = places() % 1000, values(1000, "uint16"), values(1003, "uint8")
    z, y = whole[3:], gpulab.zeros(COUNT, "int32")
    assert z.ctypes.data % 4
    assert int(hip.hipHostRegister(z, z.nbytes, 0)[0]) == 0
    code, pointer = hip.hipHostGetDevicePointer(z, 0)
    assert int(code) == 0
    try:
        module.unsigned_narrow[GRID](COUNT, gpulab.to_device(at), gpulab.to_device(x), pointer, y)
        assert (y.to_host() == x[at].astype("int32") * 1000 + z[at]).all()
    finally:
        hip.hipHostUnregister(z)


@pytest.mark.parametrize("n", [1, 37, 1000, COUNT])
def test_stores(module: gpulab.Module, n: int) -> None:
    at, x = places(), values()
    at[n:] = 1 << 30
    y, expected = gpulab.zeros(COUNT, "int32"), np.zeros(COUNT, "int32")
    module.put[GRID](n, gpulab.to_device(at), gpulab.to_device(x), y)
    expected[at[:n]] = x[:n]
    assert (y.to_host() == expected).all()


@pytest.mark.parametrize(("kind", "dtype"), [("byte", "uint8"), ("short", "uint16")])
def test_addresses_go_up_in_all_lanes_and_some_store(kind: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two lanes of four are active: by hand, since compilers compute an address where it is used."""
    monkeypatch.setattr(loading, "QUICK_SECONDS", 0.0)
    steps = (
        "s_lshl_b32 s13, s2, 8", "v_add_u32 v2, s13, v0", f"v_mul_u32_u24 v2, {np.dtype(dtype).itemsize}, v2",
        "v_mov_b32 v5, 7", f"global_store_{kind} v2, v5, s[6:7]",
        "s_mov_b32 exec_lo, 0x33333333", "s_mov_b32 exec_hi, 0x33333333", "v_mov_b32 v5, 9",
    )  # fmt: skip
    text = ASSEMBLY.replace("BODY", "\n  ".join(steps)).replace("store_dword v2, v4", f"store_{kind} v2, v5")
    with gpulab.using("virtual:gfx942"):
        y = gpulab.zeros(40 * 256, dtype)
        gpulab.compile(text, language="asm", name="f.s")["k"][40, 256](np.int32(0), y)
        assert (y.to_host() == np.tile(np.array([9, 9, 7, 7], dtype), 40 * 64)).all()


def test_bytes_that_some_lanes_store_in_a_row(module: gpulab.Module) -> None:
    at, x = places(), values(COUNT, "int8")
    y = gpulab.to_device(~x)
    module.bytes_of_some[GRID](COUNT - 5, gpulab.to_device(at), gpulab.to_device(x), y)
    stored = (at % 3 == 0) & (np.arange(COUNT) < COUNT - 5)
    assert (y.to_host() == np.where(stored, x, ~x)).all()


def test_of_lanes_that_store_to_one_place_the_last_one_stays(module: gpulab.Module) -> None:
    """A wave's store instruction, lane after lane: 16 places for the 64 or 32 lanes of each wave."""
    size = 64 if module.arch == "gfx942" else 32
    lane = np.arange(COUNT)
    at = (lane // size * 16 + np.random.default_rng(5).integers(0, 16, COUNT)).astype(np.int32)
    x = values()
    y, expected = gpulab.zeros(COUNT, "int32"), np.zeros(COUNT, "int32")
    module.put[GRID](COUNT, gpulab.to_device(at), gpulab.to_device(x), y)
    for i in range(COUNT):
        expected[at[i]] = x[i]
    assert (y.to_host() == expected).all()


def test_pairs_that_overlap_in_part_are_stored_lane_after_lane(module: gpulab.Module) -> None:
    size = 64 if module.arch == "gfx942" else 32
    lane = np.arange(COUNT)
    at = (lane // size * size + lane * 7 % (size - 1)).astype(np.int32)
    x = values((COUNT, 2))
    y, expected = gpulab.zeros(COUNT + 1, "int32"), np.zeros(COUNT + 1, "int32")
    module.put_pairs[GRID](COUNT, gpulab.to_device(at), gpulab.to_device(x), y)
    for wave in range(0, COUNT, size):
        for i in range(wave, wave + size):
            expected[at[i] : at[i] + 2] = x[i]
    assert (y.to_host() == expected).all()


def test_lanes_of_two_arrays(module: gpulab.Module) -> None:
    at, x, z = places(), values(), values() + 7
    y = gpulab.zeros(COUNT, "int32")
    module.either[GRID](COUNT, gpulab.to_device(at), gpulab.to_device(x), gpulab.to_device(z), y)
    assert (y.to_host() == np.where(at & 1, x[at], z[at])).all()


def test_lds(module: gpulab.Module) -> None:
    at, x = np.random.default_rng(6).permutation(1024).astype(np.int32), values(1024)
    y, tile = gpulab.zeros(1024, "int32"), np.zeros(1024, np.int32)
    module.in_lds[40, 256](1024, gpulab.to_device(at), gpulab.to_device(x), y)
    tile[at] = x
    assert (y.to_host() == tile[at ^ 5] - tile[at[::-1]]).all()


def test_bytes_in_lds(module: gpulab.Module) -> None:
    at, x = np.random.default_rng(6).permutation(1024).astype(np.int32), values(1024, "uint8")
    y = gpulab.zeros(1024, "int32")
    module.bytes_in_lds[40, 256](1024, gpulab.to_device(at), gpulab.to_device(x), y)
    assert (y.to_host() == x[at]).all()


def test_a_loop_that_follows_indices(module: gpulab.Module) -> None:
    at, x = places(), values()
    y, place, expected = gpulab.zeros(COUNT, "int32"), np.arange(COUNT), np.zeros(COUNT, np.int32)
    module.walk[GRID](20, gpulab.to_device(at), gpulab.to_device(x), y)
    for _ in range(20):
        expected = expected * np.int32(3) + x[place]
        place = at[place]
    assert (y.to_host() == expected).all()


@pytest.mark.parametrize("name", ["one", "two", "four", "far", "put"])
@pytest.mark.parametrize("index", [COUNT, -1, 1 << 29])
def test_the_first_lane_beyond_an_array_is_named(module: gpulab.Module, name: str, index: int) -> None:
    at = places("int64" if name == "far" else "int32")
    at[[5000, 5003, 6000]] = index
    shape, dtype = {"two": ((COUNT,), "float64"), "four": ((COUNT, 4), "float32")}.get(name, ((COUNT,), "int32"))
    x, y = values(shape, dtype), gpulab.zeros(shape, dtype)
    with pytest.raises(gpulab.KernelFault) as caught:
        module[name][GRID](COUNT, gpulab.to_device(at), gpulab.to_device(x), y)
    assert (caught.value.fault.workgroup[0], caught.value.fault.thread[0]) == divmod(5000, 256)


def test_the_first_lane_with_an_unaligned_address_is_named(module: gpulab.Module) -> None:
    at, x = places() * 4, values()
    at[[4000, 4100]] += 2
    given, y = gpulab.to_device(x).view("int8"), gpulab.zeros(COUNT, "int32")
    with pytest.raises(gpulab.KernelFault) as caught:
        module.odd[GRID](COUNT, gpulab.to_device(at), given, y)
    assert (caught.value.fault.workgroup[0], caught.value.fault.thread[0]) == divmod(4000, 256)
    at[[4000, 4100]] -= 2
    module.odd[GRID](COUNT, gpulab.to_device(at), given, y)
    assert (y.to_host() == x[at // 4]).all()


@pytest.mark.parametrize(
    ("name", "way"), [("one", "gather"), ("four", "gather"), ("put", "scatter"), ("in_lds", "scatter")]
)
def test_they_are_accesses_of_all_lanes_at_once(module: gpulab.Module, name: str, way: str) -> None:
    program = assembly.parse(module.assembly)
    kernel = program.kernels[name]
    mode = dispatch.mode_register(kernel, program.arch)
    decoder = Decoder(program, isa.table(program.arch))
    called = re.compile(rf" call <\d+ x i32> @llvm.masked.{way}\.| call void @llvm.masked.{way}\.")
    assert called.search(translate(program, kernel, decoder, mode, lanes=16).ir)
    assert not called.search(translate(program, kernel, decoder, mode, lanes=8).ir)


def test_of_many_accesses_some_are_gathers_and_in_quick_code_none() -> None:
    loads = " + ".join(f"x[at[i + {k}] & 63]" for k in range(150))
    source = f"""extern "C" __global__ void many(const int* at, const int* x, int* y) {{
        int i = threadIdx.x; y[i] = {loads}; }}"""
    with gpulab.using("virtual:gfx942"):
        program = assembly.parse(gpulab.compile(source).assembly)
    kernel = program.kernels["many"]
    mode = dispatch.mode_register(kernel, program.arch)
    text = translate(program, kernel, Decoder(program, isa.table(program.arch)), mode, lanes=16).ir
    assert len(re.findall(r"^each\.scattered\.", text, re.MULTILINE)) == MOST_GATHERS
    assert "label %each." not in jit.without_detours(text)
    assert jit.compile_object(text, quick=True, keep=False)
