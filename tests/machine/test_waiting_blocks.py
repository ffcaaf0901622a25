"""Blocks of an ordinary launch that wait for one another, as home-made barriers of a grid do.

HIP makes no promise; but on hardware those that a device holds at the same time make progress, and programs rely on it.
"""

from __future__ import annotations

import time

import numpy as np
import pytest

import gpulab
from gpulab import architectures, providers
from gpulab.virtual_gpu import runtime

SOURCE = """
__device__ unsigned arrived;
__device__ int next_turn;
__device__ void meet(unsigned target) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&arrived, 1u);
        WAIT;
        __threadfence();
    }
    __syncthreads();
}
__global__ void shift(int* a, int* b, int phases) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    for (int p = 1; p <= phases; p++) {
        b[i] = a[i + 1 == n ? 0 : i + 1] + 1;
        meet(p * gridDim.x);
        int* t = a; a = b; b = t;
    }
}
// The last block goes first.
__global__ void backwards(int* order) {
    int turn = gridDim.x - 1 - blockIdx.x;
    if (threadIdx.x == 0) {
        while (((volatile int*)&next_turn)[0] != turn) {}
        order[turn] = blockIdx.x;
        __threadfence();
        next_turn = turn + 1;
    }
}
// Work for most blocks, while one waits for all of them.
__global__ void gather(int rounds, float* sums, int* done) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) while (atomicAdd(&arrived, 0u) < gridDim.x - 1) {}
        if (threadIdx.x == 0) *done = arrived;
        return;
    }
    float x = threadIdx.x;
    for (int i = 0; i < rounds; i++) x = x * 0.5f + blockIdx.x;
    sums[blockIdx.x * blockDim.x + threadIdx.x] = x;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(&arrived, 1u);
}
"""
WAYS = {
    "atomic": "while (atomicAdd(&arrived, 0u) < target) {}",
    "volatile": "while (((volatile unsigned*)&arrived)[0] < target) {}",
    "sleeping": "while (__hip_atomic_load(&arrived, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) < target) "
    "__builtin_amdgcn_s_sleep(2);",
    "counting": "unsigned long spins = 0; while (((volatile unsigned*)&arrived)[0] < target) "
    "if (++spins > 1ul << 50) __builtin_trap();",
}


def compiled(way: str) -> gpulab.Module:
    module = gpulab.compile(SOURCE.replace("WAIT", WAYS[way]))
    for name in ("arrived", "next_turn"):
        module.variable(name, "int32").copy_from(np.zeros(1, "int32"))
    return module


@pytest.fixture(params=["gfx942", "gfx1100"])
def arch(request):
    with gpulab.using(f"virtual:{request.param}"):
        yield request.param


@pytest.mark.full
@pytest.mark.parametrize("way", WAYS)
def test_a_barrier_of_the_grid_by_hand(arch: str, way: str) -> None:
    blocks, threads, phases = 90, 96, 5
    given = np.arange(blocks * threads, dtype="int32")
    a, b = gpulab.to_device(given), gpulab.zeros(len(given), "int32")
    compiled(way)["shift"][blocks, threads](a, b, phases)
    np.testing.assert_array_equal(b.to_host(), np.roll(given, -phases) + phases)


def test_blocks_in_the_opposite_order(arch: str) -> None:
    order = gpulab.zeros(200, "int32")
    compiled("atomic")["backwards"][200, 64](order)
    np.testing.assert_array_equal(order.to_host(), np.arange(200)[::-1])


def test_one_block_waits_for_all_others(arch: str) -> None:
    blocks, rounds = 300, 20_000
    sums, done = gpulab.zeros(blocks * 64, "float32"), gpulab.zeros(1, "int32")
    compiled("atomic")["gather"][blocks, 64](rounds, sums, done)
    assert done.to_host().tolist() == [blocks - 1]
    # x = x / 2 + b goes to 2 b
    np.testing.assert_allclose(sums.to_host().reshape(blocks, 64)[1:, 5], 2.0 * np.arange(1, blocks), rtol=1e-6)


@pytest.mark.full
@pytest.mark.parametrize("extra", [0, 1])
def test_more_blocks_than_the_device_holds(extra: int) -> None:
    """One block more than fit waits for ever on a device, too; here the launch is stopped, and the error says why."""
    with gpulab.using("virtual:gfx1100"):
        module = compiled("atomic")
        shift = module["shift"]
        per_unit = providers.selected().occupancy(shift._function(providers.current()), 1024)
        held = per_unit * architectures.get("gfx1100").multiprocessors
        a, b = gpulab.zeros((held + extra) * 1024, "int32"), gpulab.zeros((held + extra) * 1024, "int32")
        start = time.monotonic()
        if not extra:
            module["shift"][held, 1024](a, b, 2)
            assert (a.to_host() == 2).all()
            return
        with pytest.raises(gpulab.KernelTimeout) as error:
            module["shift"][held + 1, 1024](a, b, 2)
        assert f"the launch has {held + 1} blocks, and the device holds {held} of them at a time" in str(error.value)
        assert "hipLaunchCooperativeKernel" in str(error.value)
        assert time.monotonic() - start < 60


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_a_loop_that_waits_within_a_wave_is_named(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock that each lane takes by itself, and a flag that nobody sets; one that only takes long is another thing."""
    source = """
    __global__ void lock(int* x) { while (atomicCAS(x, 0, 1) != 0) {} x[1] += 1; __threadfence(); atomicExch(x, 0); }
    __global__ void flag(volatile int* x) { while (*x == 0) {} }
    __global__ void counts(int* x) { for (long i = 0; i < 1l << 40; i++) { x[i % 3] += 1; } }
    """
    monkeypatch.setattr(runtime.instance(), "instruction_limit", 100_000)
    with gpulab.using(f"virtual:{arch}"):
        module = gpulab.compile(source)
        for name, said in (
            ("lock", "Kernel lock was stopped: it waits without an end."),
            ("flag", "Kernel flag was stopped: it waits without an end."),
            ("counts", "Kernel counts was stopped: it ran into the instruction limit."),
        ):
            with pytest.raises(gpulab.KernelTimeout) as error:
                module[name][1, 64](gpulab.zeros(4, "int32"))
            assert str(error.value).startswith(said)
            waits = "does nothing but read the same memory, until a value ends it" in str(error.value)
            assert (waits, "A checked launch says who waits for whom" in str(error.value)) == (name != "counts",) * 2
