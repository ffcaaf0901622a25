"""Waves that go straight through (translate/straight.py): results, faults, counts and times as in the ordinary way;
which kernels have that way, and that their waves take it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import gpulab
from gpulab.virtual_gpu.machine import loading
from gpulab.virtual_gpu.translate import jit
from tests.translate.ways import Seen, compiled_twice, without_it

SOURCE = r"""
#define I int i = blockIdx.x * blockDim.x + threadIdx.x
extern "C" {
__global__ void saxpy(int n, const int* at, const float* x, float* y) { I; if (i < n) y[i] = fmaf(2.5f, x[i], y[i]); }
__global__ void plain(int n, const int* at, const float* x, float* y) { I; y[i] = x[i] * n; }
__global__ void unsigned_index(unsigned n, const int* at, const float* x, float* y) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] - x[n - 1 - i];
}
__global__ void taken(int n, const int* at, const float* x, float* y) {
    I; if (i < n) y[i] = x[at[i]] + x[at[n - 1 - i]];
}
__global__ void three(int n, const int* at, const float* x, float* y) {
    I; if (i > 0 && i < n - 1) y[i] = x[i - 1] + 2 * x[i] + x[i + 1];
}
__global__ void two_stores(int n, const int* at, const float* x, float* y) {
    I; if (i < n) { float a = x[i], b = y[i]; y[i] = a - b; y[i + 8192] = a * b; }
}
// The second store is to the next element, which the next lane's first one has written before.
__global__ void over(int n, const int* at, const float* x, float* y) {
    I; if (i < n) { float a = x[i]; y[i] = a; y[i + 1] = -a; }
}
__global__ void chosen(int n, const int* at, const float* x, float* y) {
    I; if (i < n) { float a = x[i], b = at[i] & 1 ? -a : 3.0f; y[i] = a > 0 ? a * a : b; }
}
__global__ void few(int n, const int* at, const float* x, float* y) { I; if (i < n) { if (x[i] > 1.5f) y[i] = x[i]; } }
__global__ void switched(int n, const int* at, const float* x, float* y) {
    I; if (n > 100) y[i] = x[i]; else y[i] = -x[i];
}
__global__ void bytes(int n, const int* at, const float* x, float* y) {
    I; if (i < n) ((signed char*)y)[i] = ((const short*)x)[i] >> 3;
}
__global__ void wide(int n, const int* at, const float* x, float* y) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + 1;
}
__global__ void group(int n, const int* at, const float* x, float* y) {
    y[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x;
}
__global__ void less(int n, const float* x, float* y) {
    int i = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * blockIdx.y);
    if (i < n) y[i] -= x[i];
}
// Ordinary: a loop, a load behind a store, an atomic.
__global__ void looped(int n, const int* at, const float* x, float* y) {
    I; float sum = 0;
    _Pragma("clang loop unroll(disable) vectorize(disable)") for (int k = 0; k < 9; ++k) sum = sum * n + x[i + k];
    y[i] = sum;
}
__global__ void behind(int n, const int* at, const float* x, volatile float* y) { I; y[i] = x[i]; y[i] = y[i ^ 1] + 1; }
__global__ void later(int n, const int* at, const float* x, float* y) { I; y[i] = x[i]; y[i + 8192] = x[i + 1]; }
// Two coordinates: a chunk of lanes at a time.
__global__ void square(int n, const int* at, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    int w = gridDim.x * blockDim.x;
    if (i < n && j < w - 1) y[j * w + i] = x[j * w + i] - x[at[i]];
}
__global__ void around(int n, const int* at, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    int w = gridDim.x * blockDim.x;
    if (i < 1 || i >= w - 1 || j < 1 || j > 1000) return;
    float sum = 0;
    for (int a = -1; a <= 1; ++a) for (int b = -1; b <= 1; ++b) sum += x[(j + a) * w + i + b];
    y[j * w + i] = sum;
}
__global__ void turned(int n, const int* at, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    int w = gridDim.x * blockDim.x, h = gridDim.y * blockDim.y;
    y[i * h + j] = x[j * w + i];
}
__global__ void cube(int n, const int* at, const float* x, float* y) {
    int i = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * (threadIdx.z + blockDim.z * blockIdx.x));
    y[i] = x[i] + 100 * threadIdx.x + 10 * threadIdx.y + threadIdx.z;
}
// Ordinary as well: other lanes' registers.
__global__ void row_shifted(int n, const int* at, const float* x, float* y) {
    I; y[i] = __int_as_float(__builtin_amdgcn_update_dpp(0, __float_as_int(x[i]), 0x111, 0xf, 0xf, false)) + x[i];
}
__global__ void shuffled(int n, const int* at, const float* x, float* y) { I; y[i] = __shfl_xor(x[i], 3); }
__global__ void voted(int n, const int* at, const float* x, float* y) { I; y[i] = __popcll(__ballot(x[i] > 0)); }
__global__ void first(int n, const int* at, const float* x, float* y) {
    I; y[i] = x[i] + x[__builtin_amdgcn_readfirstlane(i)];
}
__global__ void added(int n, const int* at, const float* x, float* y) { I; atomicAdd(y + (i & 7), 1.0f); }
}
"""
STRAIGHT = {
    "bytes", "chosen", "few", "group", "over", "plain", "saxpy", "switched", "taken", "three", "two_stores",
    "unsigned_index", "wide",
}  # fmt: skip
SQUARE = {"around", "cube", "square", "turned"}
ORDINARY = {"added", "behind", "first", "later", "looped", "row_shifted", "shuffled", "voted"}
COUNT = 8192
RANDOM = np.random.default_rng(12)
FLOATS = RANDOM.normal(size=COUNT + 64).astype(np.float32)
PLACES = RANDOM.permutation(COUNT).astype(np.int32)


@pytest.fixture(scope="module", params=["gfx942", "gfx1100"])
def arch(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def both(arch: str) -> Iterator[tuple[gpulab.Module, gpulab.Module]]:
    with compiled_twice(SOURCE, arch) as modules:
        yield modules


SHAPES = [(16, 16, 1), (32, 8, 1), (16, 4, 1), (8, 8, 1), (128, 2, 1), (16, 2, 4), (48, 2, 2), (20, 3, 1)]


def results(module: gpulab.Module, name: str, n: int, block: int = 256) -> np.ndarray:
    at, x = gpulab.to_device(PLACES), gpulab.to_device(FLOATS)
    y = gpulab.to_device(np.arange(2 * COUNT + 64, dtype=np.float32))
    for _ in range(2):
        module[name][COUNT // block, block](n, at, x, y)
    found = y.to_host()
    if name == "over":  # two workgroups store to these
        found[::block] = 0
    return found.view(np.uint32)


@pytest.mark.parametrize("name", sorted(STRAIGHT | ORDINARY))
@pytest.mark.parametrize(
    ("n", "block"), [(1, 256), (63, 256), (100, 256), (5000, 256), (COUNT, 256), (COUNT, 64), (8000, 96)]
)
def test_results_are_the_same(both: tuple[gpulab.Module, gpulab.Module], name: str, n: int, block: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        got = results(both[0], name, n, block)
        without_it(patch)
        assert (got == results(both[1], name, n, block)).all()


def test_against_numpy(both: tuple[gpulab.Module, gpulab.Module]) -> None:
    y = np.arange(2 * COUNT + 64, dtype=np.float32)
    x, start = FLOATS[:5000], y[:5000].copy()
    y[:5000] = (2.5 * x + (2.5 * x + start).astype(np.float32)).astype(np.float32)
    got = results(both[0], "saxpy", 5000).view(np.float32)
    assert np.allclose(got, y, rtol=1e-6)
    expected = np.zeros(COUNT, np.float32)
    expected[:] = FLOATS[PLACES] + FLOATS[PLACES[::-1]]
    assert (results(both[0], "taken", COUNT).view(np.float32)[:COUNT] == expected).all()


def square_results(module: gpulab.Module, name: str, block: tuple[int, int, int]) -> np.ndarray:
    """64 columns or more; fewer rows than the guards let through."""
    x, y, z = block
    count = -(-8000 // (x * y * z))
    grid = (count,) if name == "cube" else (-(-128 // x), -(-64 // y))
    given = gpulab.to_device(np.arange(1 << 16, dtype=np.int32) % 4096), gpulab.to_device(np.resize(FLOATS, 1 << 16))
    out = gpulab.zeros(1 << 16)
    for _ in range(2):
        module[name][grid, block if name == "cube" else block[:2]](120, *given, out)
    return out.to_host().view(np.uint32)


@pytest.mark.parametrize("name", sorted(SQUARE))
@pytest.mark.parametrize("block", SHAPES)
def test_blocks_of_several_dimensions(
    both: tuple[gpulab.Module, gpulab.Module], name: str, block: tuple[int, int, int]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        seen = Seen(patch)
        got = square_results(both[0], name, block)
        threads = block[0] * block[1] * (block[2] if name == "cube" else 1)
        size = 64 if both[0].arch == "gfx942" else 32
        fits = block[0] % jit.host().lanes == 0 and threads % size == 0
        assert seen.fits() == fits
        without_it(patch)
        assert (got == square_results(both[1], name, block)).all()
    assert got.any()


ORDERED = r"""
#define I int t = threadIdx.y * blockDim.x + threadIdx.x, i = blockIdx.x * 1024 + t
extern "C" {
// Each lane of a wave reads before one stores.
__global__ void moved(const float* x, float* y) { I; y[i + 1] = y[i] + x[t]; }
// Each lane of a wave stores the first time before one does the second time.
__global__ void twice(const float* x, float* y) { I; y[i] = x[t]; y[i + 3] = -x[t]; }
__global__ void bytes_twice(const float* x, unsigned char* y) {
    I; bool above = x[t] > 0; y[i + 7] = t; y[i] = 2 * t; y[i + 3] = above;
}
}
"""


@pytest.mark.parametrize("name", ["moved", "twice", "bytes_twice"])
@pytest.mark.parametrize("block", [(16, 4), (32, 8), (256, 1), (16, 16)])
def test_a_wave_does_one_instruction_after_the_other(arch: str, name: str, block: tuple[int, int]) -> None:
    """Also where a chunk of its lanes is worked on at a time: what the next chunk reads is not what this one stores."""
    with gpulab.using(f"virtual:{arch}"), pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "QUICK_SECONDS", 0.0)
        seen = Seen(patch)
        module = gpulab.compile(ORDERED)
        start = RANDOM.integers(0, 100, 64 * 1024 + 64).astype("uint8" if name == "bytes_twice" else "float32")
        y, x = gpulab.to_device(start), FLOATS[:1024]
        module[name][64, block](gpulab.to_device(x), y)
        assert seen.fits()
        expected, size = start.copy(), 64 if arch == "gfx942" else 32
        for first in range(0, block[0] * block[1], size):
            t = np.arange(first, first + size)
            for group in range(64):
                i = group * 1024 + t
                if name == "moved":
                    expected[i + 1] = expected[i] + x[t]
                elif name == "twice":
                    expected[i] = x[t]
                    expected[i + 3] = -x[t]
                else:
                    expected[i + 7] = t
                    expected[i] = 2 * t
                    expected[i + 3] = x[t] > 0
        assert (y.to_host() == expected).all()


def test_lanes_in_front_of_one_that_leaves(both: tuple[gpulab.Module, gpulab.Module]) -> None:
    """Of a wave some chunks could have gone on: y[i] -= x[i] is done once all the same, for all but a few lanes."""
    x = gpulab.to_device(FLOATS)
    for n in (8192 - 20, 8192 - 40, 5000):
        y = gpulab.to_device(np.arange(COUNT, dtype=np.float32))
        both[0].less[(1, 32), (64, 4)](n, x, y)
        expected = np.arange(COUNT, dtype=np.float32)
        expected[:n] -= FLOATS[:n]
        assert (y.to_host() == expected).all(), n


@pytest.mark.parametrize("name", sorted(STRAIGHT | ORDINARY))
def test_which_kernels_have_it_and_take_it(
    both: tuple[gpulab.Module, gpulab.Module], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a launch's first workgroup nothing is known of accesses yet: that one is given up."""
    seen = Seen(monkeypatch)
    results(both[0], name, COUNT)
    assert seen.fits() == (name in STRAIGHT)
    apart = {"taken", "unsigned_index"} if jit.host().lanes == 8 else set()  # where there is no gather
    if name in STRAIGHT - {"few", "over", "three"} - apart:  # lanes leave, or places overlap
        assert not seen.given_up()
    if name in STRAIGHT:
        assert seen.plans[-1].contexts[0].thread.executed
    results(both[0], name, COUNT, block=96)  # on waves of 64 the second one is half a wave
    assert seen.fits() == (name in STRAIGHT and both[0].arch == "gfx1100")
    results(both[0], name, COUNT, block=8)
    assert not seen.fits()


@pytest.mark.parametrize("name", ["saxpy", "taken", "two_stores", "wide", "unsigned_index"])
@pytest.mark.parametrize("size", [1000, 5000, 8191])
def test_the_first_lane_beyond_an_array_is_named(
    both: tuple[gpulab.Module, gpulab.Module], name: str, size: int
) -> None:
    """And what the workgroups before it did is there."""
    x = gpulab.to_device(FLOATS[:size])
    y = gpulab.to_device(np.arange(2 * COUNT, dtype=np.float32))
    at = np.arange(COUNT, dtype=np.int32) % 1000
    at[size] = size
    n = size + 1 if name == "taken" else COUNT
    for _ in range(2):
        with pytest.raises(gpulab.KernelFault) as caught:
            both[0][name][COUNT // 256, 256](n, gpulab.to_device(at), x, y)
        fault = caught.value.fault
        if name not in ("taken", "unsigned_index"):
            assert (fault.workgroup[0], fault.thread[0]) == divmod(size, 256)
    if name == "wide":
        whole = size // 256 * 256
        assert (y.to_host()[:whole] == FLOATS[:whole] + 1).all()


def test_a_second_store_beyond_an_array_leaves_the_first_as_it_was_done(
    both: tuple[gpulab.Module, gpulab.Module],
) -> None:
    """The wave of the fault has not stored twice: y[i] = x[i] - y[i] would be done again."""
    start = np.arange(COUNT + 5000, dtype=np.float32)
    y = gpulab.to_device(start)
    with pytest.raises(gpulab.KernelFault) as caught:
        both[0].two_stores[COUNT // 256, 256](COUNT, gpulab.to_device(PLACES), gpulab.to_device(FLOATS), y)
    fault = caught.value.fault
    assert (fault.workgroup[0], fault.thread[0]) == divmod(5000, 256)
    found = y.to_host()
    size = 64 if both[0].arch == "gfx942" else 32
    whole, wave = 5000 // 256 * 256, 5000 // size * size
    assert (found[:wave] == FLOATS[:wave] - start[:wave]).all()
    assert (found[COUNT : COUNT + whole] == FLOATS[:whole] * start[:whole]).all()
    again = found[wave : wave + size]
    assert (
        (again == FLOATS[wave : wave + size] - start[wave : wave + size]) | (again == start[wave : wave + size])
    ).all()


MASKS = {
    "saved EXEC": ("v_cndmask_b32_e64 v3, 0, v2, s[6:7]", True),
    "saved EXEC and another": (
        "v_cmp_lt_f32_e64 s[12:13], 0, v2\ns_and_b64 s[12:13], s[12:13], s[6:7]\nv_cndmask_b32_e64 v3, 0, v2, s[12:13]",
        True,
    ),
    "two": (
        "v_cmp_lt_f32_e64 s[12:13], 0, v2\nv_cmp_gt_f32_e32 vcc, 1.0, v2\ns_andn2_b64 vcc, s[12:13], vcc\n"
        "v_cndmask_b32_e32 v3, v3, v2, vcc",
        True,
    ),
    "a number in its place": (
        "v_cmp_lt_f32_e64 s[12:13], 0, v2\nv_cndmask_b32_e64 v3, 0, v2, s[12:13]\ns_mov_b64 s[12:13], 7\n"
        "v_add_u32_e32 v3, s12, v3",
        True,
    ),
    "half of it overwritten": (
        "v_cmp_lt_f32_e64 s[12:13], 0, v2\ns_mov_b32 s13, 0\nv_cndmask_b32_e64 v3, 0, v2, s[12:13]",
        False,
    ),
    "as a number": ("v_cmp_lt_f32_e64 s[12:13], 0, v2\nv_mov_b32_e32 v3, s12", False),
    "counted": ("v_cmp_lt_f32_e64 s[12:13], 0, v2\ns_bcnt1_i32_b64 s12, s[12:13]\nv_mov_b32_e32 v3, s12", False),
    "whether there are any": (
        "v_cmp_lt_f32_e64 s[12:13], 4.0, v2\ns_and_b64 s[12:13], s[12:13], exec\ns_cselect_b32 s12, 5, 9\n"
        "v_mov_b32_e32 v3, s12",
        False,
    ),
}
"""Lines of assembly between the loads and the store of saxpy on gfx942: x is in v2, y in v3."""


@pytest.mark.parametrize("name", sorted(MASKS))
def test_lane_masks_of_kernels_in_assembly(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "QUICK_SECONDS", 0.0)
    body, fits = MASKS[name]
    text = (Path(__file__).parents[1] / "languages" / "saxpy" / "asm.gfx942.txt").read_text(encoding="utf-8")
    assert text.count("  v_fmac_f32_e32 v3, s5, v2\n") == 1
    text = text.replace("  v_fmac_f32_e32 v3, s5, v2\n", "s_nop 4\n".join(f"{line}\n" for line in body.split("\n")))
    seen, found = Seen(monkeypatch), []
    with gpulab.using("virtual:gfx942"):
        for comment in ("with it", "without"):
            kernel = gpulab.compile(f"{text}\n; {comment}\n", language="asm", name="f.s")["saxpy"]
            y = gpulab.to_device(np.arange(COUNT, dtype=np.float32))
            kernel[COUNT // 64, 64](np.int32(8000), np.float32(2), gpulab.to_device(FLOATS[:COUNT]), y)
            assert seen.fits() == (fits and comment == "with it")
            found.append(y.to_host().view(np.uint32))
            without_it(monkeypatch)
    assert (found[0] == found[1]).all()
    assert (found[0] != np.arange(COUNT, dtype=np.float32).view(np.uint32)).any()


@pytest.mark.parametrize("name", ["saxpy", "few", "chosen", "three"])
def test_modelled_times_are_the_same(both: tuple[gpulab.Module, gpulab.Module], name: str) -> None:
    """They come of how often each block was executed, which is the same for each workgroup."""

    def time(of: gpulab.Module) -> float:
        given = 8000, gpulab.to_device(PLACES), gpulab.to_device(FLOATS), gpulab.zeros(COUNT)
        start, end = gpulab.Event(), gpulab.Event()
        of[name][COUNT // 256, 256](*given)
        start.record()
        of[name][COUNT // 256, 256](*given)
        end.record()
        end.synchronize()
        return end.elapsed_ms(start)

    got = time(both[0])
    with pytest.MonkeyPatch.context() as patch:
        without_it(patch)
        assert got == time(both[1])


def test_code_that_becomes_optimised_within_a_launch_goes_on_that_way() -> None:
    with gpulab.using("virtual:gfx942"), pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "QUICK_SECONDS", 1e-9)
        seen = Seen(patch)
        module = gpulab.compile(SOURCE + "// later\n")
        n = 1 << 20
        x, y = gpulab.to_device(np.arange(n, dtype=np.float32)), gpulab.zeros(n)
        for _ in range(3):
            module.plain[n // 256, 256](2, gpulab.to_device(PLACES), x, y)
        assert (y.to_host() == 2 * np.arange(n, dtype=np.float32)).all()
        assert seen.fits()
