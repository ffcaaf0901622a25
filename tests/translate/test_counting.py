"""Lanes of a profile (translate/counting.py): waves that nobody observes any more take the quick ways, and count what
they count in the ordinary one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import gpulab
from gpulab.records import Launch
from gpulab.virtual_gpu.machine import device as device_module
from gpulab.virtual_gpu.translate import jit
from gpulab.virtual_gpu.translate.sweeps import Sweeps
from tests.translate.kernels import ARCHITECTURES
from tests.translate.ways import Seen, compiled_twice, without_it

KERNELS = (Path(__file__).resolve().parents[2] / "bench" / "kernels.hip").read_text()
MORE = r"""
extern "C" __global__ void sorted(int n, const float* x, float* y) {  // bitonic, of each block's 256
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int size = 2; size <= 8; size *= 2)
        for (int apart = size / 2; apart > 0; apart /= 2) {
            int other = t ^ apart;
            if (other > t) {
                float a = s[t], b = s[other];
                if ((a > b) == ((t & size) == 0)) { s[t] = b; s[other] = a; }
            }
            __syncthreads();
        }
    y[i] = s[t];
}
"""
BLOCKS = 40
N = 256 * BLOCKS - 37
WIDE = jit.host().lanes == 16
"""Hosts without AVX-512 do not go from barrier to barrier."""


def _launch(name: str, module: gpulab.Module) -> Callable[[], object]:
    """A launch of 36 or more workgroups."""
    rng = np.random.default_rng(3)
    x, y = gpulab.to_device(rng.random(256 * BLOCKS, np.float32)), gpulab.zeros(256 * BLOCKS)
    kernel = module[name]
    if name.startswith("sgemm"):
        matrix = gpulab.to_device(rng.random(96 * 96, np.float32))
        return lambda: kernel[(6, 6), (16, 16)](96, matrix, x, y)
    if name == "mandelbrot":
        return lambda: kernel[(6, 6), (16, 16)](90, 90, 64, gpulab.zeros(96 * 96, dtype=np.int32))
    if name == "collatz":
        return lambda: kernel[BLOCKS, 256](N, gpulab.zeros(256 * BLOCKS, dtype=np.int32))
    if name == "scattered":
        at = gpulab.to_device(rng.integers(0, N, N).astype(np.int32))
        return lambda: kernel[BLOCKS, 256](N, at, x, y)
    given = (np.float32(2.5),) if name == "saxpy" else ()
    return lambda: kernel[BLOCKS, 256](N, *given, x, y)


def _lanes(launch: Launch) -> list[tuple[str, int, int, tuple[int, ...]]]:
    return [(cost.text, cost.executed, cost.whole, cost.lane_counts) for cost in launch.instructions]


def _profiled(launch: Callable[[], object]) -> Launch:
    with gpulab.profile() as run:
        launch()
    return run[0]


@pytest.fixture(scope="module", params=ARCHITECTURES)
def twice(request: pytest.FixtureRequest) -> Iterator[tuple[gpulab.Module, gpulab.Module]]:
    with compiled_twice(KERNELS + MORE, request.param) as modules:
        yield modules


@pytest.mark.parametrize(
    "name", ["saxpy", "sgemm_naive", "sgemm_tiled", "reduce", "sorted", "collatz", "mandelbrot", "scattered"]
)
def test_lanes_are_counted_alike_with_and_without_an_observer(
    name: str, twice: tuple[gpulab.Module, gpulab.Module], monkeypatch: pytest.MonkeyPatch
) -> None:
    module, same = twice
    monkeypatch.setattr(device_module, "PROFILED", (100, 100))
    quick = _profiled(_launch(name, module))
    monkeypatch.setattr(device_module, "PROFILED", (10**9, 10**9))
    whole = _profiled(_launch(name, module))
    without_it(monkeypatch)
    monkeypatch.setattr(Sweeps, "_loop", lambda self, block: None)
    plain = _profiled(_launch(name, same))
    assert quick.sampled is not None
    assert quick.sampled[0] < 20
    assert whole.sampled is None
    assert _lanes(quick) == _lanes(whole) == _lanes(plain)


def test_counts_of_a_saxpy_and_a_reduction_are_those_of_their_sources(
    twice: tuple[gpulab.Module, gpulab.Module], monkeypatch: pytest.MonkeyPatch
) -> None:
    """saxpy: each of N threads loads two dwords and stores one. reduce: in each block `step` threads add, for step 128,
    64 … 1, and one stores the sum."""
    monkeypatch.setattr(device_module, "PROFILED", (100, 100))
    seen, steps = Seen(monkeypatch), (128, 64, 32, 16, 8, 4, 2, 1)
    saxpy = _profiled(_launch("saxpy", twice[0]))
    assert seen.fits()
    reduction = _profiled(_launch("reduce", twice[0]))
    assert seen.fits() == WIDE
    assert not seen.given_up()
    moved = [cost.active_lanes for cost in saxpy.instructions if cost.text.startswith("global_")]
    assert moved == [N, N, N]
    adds = [cost for cost in reduction.instructions if cost.text.startswith("v_add_f32")]
    assert [cost.active_lanes for cost in adds] == [BLOCKS * step for step in steps]
    assert [cost.whole for cost in adds] == [BLOCKS * (step // len(adds[0].lane_counts)) for step in steps]
    stored = [cost.active_lanes for cost in reduction.instructions if cost.text.startswith("global_store")]
    assert stored == [BLOCKS]
