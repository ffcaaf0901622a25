"""What an observer is told of waves that take the quick ways (translate/telling.py): all that it sees of them, to the
digit, is what it sees in the ordinary way, where it is told of each access with the addresses of all lanes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import gpulab
from gpulab.virtual_gpu.machine import device as device_module
from gpulab.virtual_gpu.machine.device import VirtualDevice
from gpulab.virtual_gpu.machine.finished import Finished
from gpulab.virtual_gpu.translate import jit
from gpulab.virtual_gpu.translate.runs import Run
from gpulab.virtual_gpu.translate.sweeps import Sweeps
from tests.translate.kernels import ARCHITECTURES
from tests.translate.ways import Seen, compiled_twice, without_it

WIDE = jit.host().lanes == 16
KERNELS = (Path(__file__).resolve().parents[2] / "bench" / "kernels.hip").read_text()
MORE = r"""
#define KERNEL(NAME) extern "C" __global__ void NAME(int n, const float* x, float* y, const int* at)
#define I int i = blockIdx.x * blockDim.x + threadIdx.x
KERNEL(strided) { I; y[i % n] = x[i * 3 % n] + x[n - 1 - i % n]; }
KERNEL(shifted) { I; if (i < n && i > 5) y[i] = x[i - 5] + x[i / 2]; }
KERNEL(wide) { I; if (4 * i + 3 < n) { float4 v = ((const float4*)x)[i]; v.x += v.y; ((float4*)y)[i] = v; } }
KERNEL(narrow) { I; if (i < n) ((unsigned char*)y)[i] = ((const unsigned char*)x)[i] + ((const short*)x)[i]; }
KERNEL(gathered) { I; if (i < n) y[i] = x[(unsigned)at[i] % n] + x[0]; }
KERNEL(placed) { I; if (i < n) y[(unsigned)at[i] % n] = x[i]; }
KERNEL(exchanged) {
    __shared__ float part[256];
    int t = threadIdx.x; I;
    part[t] = i < n ? x[i] : 1.0f;
    __syncthreads();
    float v = part[t * 2 & 255];
    __syncthreads();
    part[t ^ 1] = v;
    __syncthreads();
    if (t < 40) part[t] += part[t + 8];
    __syncthreads();
    if (i < n) y[i] = part[t] + part[0];
}
KERNEL(jumped) {  // waves without active lanes jump over loads
    __shared__ float part[256];
    int t = threadIdx.x; I;
    part[t] = 0;
    __syncthreads();
    if (t >= 70) { float w = x[i % n]; part[t - 70] = w + x[(i + 1) % n]; }
    __syncthreads();
    if (t & 1) part[t] += 1.0f;
    __syncthreads();
    if (t == 3) y[blockIdx.x % n] = part[3] + part[4];
}
KERNEL(summed) { I; float s = 0; for (int k = 0; k < 20; ++k) s += x[(i + k) % n] * x[k]; if (i < n) y[i] = s; }
KERNEL(grown) {
    I;
    float s = 0;
    for (int k = 0; k < n / 64; ++k) s += x[k] + ((const float2*)x)[k * 16 + i % 16].y;
    y[i % n] = s;
}
KERNEL(counted) {
    __shared__ int own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (I; i < n; i += 128 * gridDim.x) atomicAdd(&own[at[i] & 31], 1);
    __syncthreads();
    atomicAdd((int*)&y[threadIdx.x], own[threadIdx.x]);
}
KERNEL(tiled) {
    __shared__ float t[258];
    for (int s = blockIdx.x * 256; s + 256 <= n; s += 768) {
        int i = s + threadIdx.x;
        t[threadIdx.x + 1] = x[i];
        if (threadIdx.x == 0) { t[0] = s ? x[i - 1] : 0; t[257] = s + 512 < n ? x[i + 256] : 0; }
        __syncthreads();
        y[i] = t[threadIdx.x] + t[threadIdx.x + 1] + t[threadIdx.x + 2];
        __syncthreads();
    }
}
"""
NAMES = tuple(line.split("(")[1].split(")")[0] for line in MORE.splitlines() if line.startswith("KERNEL("))
BLOCKS, N = 30, 256 * 30 - 37
LIMITS = ((10**9, 10**9), (300, 10**9), (10**9, 200), (2000, 300))
"""Of observed accesses, and of lines that are followed through the caches: all, and those that end on the way."""


@pytest.fixture(scope="module", params=ARCHITECTURES)
def twice(request: pytest.FixtureRequest) -> Iterator[tuple[gpulab.Module, gpulab.Module]]:
    with compiled_twice(KERNELS + MORE, request.param) as modules:
        yield modules


class Arrays(NamedTuple):
    x: gpulab.DeviceArray
    y: gpulab.DeviceArray
    at: gpulab.DeviceArray


def _arrays() -> Arrays:
    rng = np.random.default_rng(3)
    x, y = gpulab.to_device(rng.random(256 * BLOCKS, np.float32)), gpulab.zeros(256 * BLOCKS)
    at = gpulab.to_device(rng.integers(0, N, 256 * BLOCKS).astype(np.int32))
    return Arrays(x, y, at)


def _launch(module: gpulab.Module, name: str, arrays: Arrays) -> None:
    x, y, at = arrays
    if name in ("sgemm_naive", "sgemm_tiled"):
        for block in ((16, 16), (32, 8)) if name == "sgemm_naive" else ((16, 16),):
            module[name][(64 // block[0], 64 // block[1]), block](64, x, x, y)
    elif name == "saxpy":
        for _ in range(3):  # the sample of the second one is known
            module[name][BLOCKS, 256](N, np.float32(2.5), x, y)
    elif name == "reduce":
        module[name][BLOCKS, 256](N, x, y)
    elif name == "scattered":
        module[name][BLOCKS, 256](N, at, x, y)
    else:
        module[name][BLOCKS, 256](N, x, y, at)
        module[name][2 * BLOCKS, 128](N - 64, x, y, at)
        module[name][3, 96](200, x, y, at)


def _seen(patch: pytest.MonkeyPatch, module: gpulab.Module, name: str, arrays: Arrays) -> list[object]:
    """All that was observed of some launches."""
    found: list[object] = []
    run = VirtualDevice._run

    def ran(machine: VirtualDevice, *arguments: object) -> Finished:
        finished = run(machine, *arguments)  # type: ignore[arg-type]
        assert finished.kept is not None
        assert isinstance(finished.kept.raw_totals, bytes)
        samples = finished.kept.samples(machine.architecture.wave_size, ())
        logs = finished.sample[: finished.plan.seen.log]  # without lines: each module has its arguments elsewhere
        found.append((finished.kept.totals(), finished.kept.flows(), finished.kept.cut, samples, logs))
        return finished

    with patch.context() as own:
        own.setattr(VirtualDevice, "_run", ran)
        for limits in LIMITS:
            own.setattr(device_module, "PROFILED", limits)
            with gpulab.profile():
                _launch(module, name, arrays)
    return found


@pytest.mark.parametrize("name", ["saxpy", "sgemm_naive", "sgemm_tiled", "reduce", "scattered", *NAMES])
def test_all_that_is_observed_is_what_the_ordinary_way_shows(
    name: str, twice: tuple[gpulab.Module, gpulab.Module], monkeypatch: pytest.MonkeyPatch
) -> None:
    arrays = _arrays()
    quick = _seen(monkeypatch, twice[0], name, arrays)
    if name == "saxpy":  # the second launch with the same arguments does not record its sample anew
        assert quick[0] == quick[1] == quick[2]
    without_it(monkeypatch)
    monkeypatch.setattr(Sweeps, "_loop", lambda self, block: None)
    monkeypatch.setattr(Run, "_fit", lambda self, items: False)
    ordinary = _seen(monkeypatch, twice[1], name, arrays)
    for a, b in zip(quick, ordinary, strict=True):
        assert a == b


def test_counts_of_a_saxpy_are_those_that_its_addresses_have(twice: tuple[gpulab.Module, gpulab.Module]) -> None:
    """Each wave loads 4 bytes by lane from x and y and stores as many to y, one behind the other: whole lines of 128
    bytes, as its first lane's address is a multiple of that."""
    x, y = gpulab.zeros(256 * BLOCKS), gpulab.zeros(256 * BLOCKS)
    with gpulab.profile() as run:
        twice[0]["saxpy"][BLOCKS, 256](256 * BLOCKS, np.float32(2.5), x, y)
    launch = run[0]
    lanes = 64 if launch.arch == "gfx942" else 32
    moved = [access for access in launch.accesses if access.space == "global"]
    assert [access.executed for access in moved] == [256 * BLOCKS // lanes] * 3
    assert [access.lines for access in moved] == [256 * BLOCKS * 4 // 128] * 3
    assert launch.sampled is None


@pytest.mark.parametrize("name", ["saxpy", "reduce", "exchanged"])
def test_observed_workgroups_go_the_quick_ways(
    name: str, twice: tuple[gpulab.Module, gpulab.Module], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, (x, y, at) = Seen(monkeypatch), _arrays()
    given = (np.float32(2.5),) if name == "saxpy" else ()
    with gpulab.profile() as run:
        twice[0][name][BLOCKS, 256](256 * BLOCKS, *given, x, y, *((at,) if name == "exchanged" else ()))
    assert run[0].sampled is None
    assert seen.fits() == (WIDE or name == "saxpy")  # others do not go from barrier to barrier
    assert seen.plans[-1].launch.tells
    assert not seen.given_up()
