"""Cooperative launches: the grid's barrier, its faults, and how many workgroups a device holds at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import gpulab
from gpulab import KernelTimeout, LaunchError, LaunchLimitError, MemoryFault, providers

SOURCE = """
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void turn(int* x, int rounds) {
    auto grid = cg::this_grid();
    int rank = grid.thread_rank(), size = grid.size();
    for (int i = 0; i < rounds; i++) {
        int next = x[(rank + 1) % size];
        grid.sync();
        x[rank] = next + 1;
        cg::sync(grid);
    }
}
__global__ void reduce(int n, const int* x, int* parts, int* sum) {
    auto grid = cg::this_grid();
    auto block = cg::this_thread_block();
    __shared__ int total;
    if (block.thread_rank() == 0) total = 0;
    block.sync();
    int own = 0;
    for (int i = grid.thread_rank(); i < n; i += grid.size()) own += x[i];
    atomicAdd(&total, own);
    block.sync();
    if (block.thread_rank() == 0) parts[grid.block_rank()] = total;
    grid.sync();
    if (grid.thread_rank() == 0) {
        int all = 0;
        for (int i = 0; i < grid.num_blocks(); i++) all += parts[i];
        *sum = all;
    }
}
__global__ void halves(int* x, int* y) {
    auto grid = cg::this_grid();
    x[grid.thread_rank()] = grid.thread_rank() + 1;
    auto token = grid.barrier_arrive();
    int own = grid.thread_rank() * 10;
    grid.barrier_wait(static_cast<cg::grid_group::arrival_token&&>(token));
    y[grid.thread_rank()] = own + x[grid.size() - 1 - grid.thread_rank()];
}
__global__ void wait_for_first(int rounds, int* sums, int* ready) {
    if (blockIdx.x == 0) {
        for (int i = 0; i < rounds; i++) atomicAdd(&sums[threadIdx.x * 33 + i % 32], 1);
        __threadfence();
        __hip_atomic_store(ready, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    } else if (blockIdx.x == gridDim.x - 1) {
        while (__hip_atomic_load(ready, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) == 0) __builtin_amdgcn_s_sleep(1);
    }
}
__device__ void any(const cg::thread_group& group) { group.sync(); }
__global__ void valid(unsigned* out) {
    auto grid = cg::this_grid();
    auto grids = cg::this_multi_grid();
    out[0] = grid.is_valid(); out[1] = grids.is_valid(); out[2] = grids.num_grids();
    cg::thread_group group = grid;
    out[3] = group.is_valid(); out[4] = group.size();
    if (grid.is_valid()) any(grid);
    if (group.thread_rank() == 70) out[5] = 70;
}
__global__ void early(int* x) {
    if (blockIdx.x == 2) return;
    cg::this_grid().sync();
}
__global__ void several(int* x) { cg::this_multi_grid().sync(); }
__global__ void flags(unsigned* flag, unsigned* out) {
    if (threadIdx.x != 0) return;
    unsigned last = gridDim.x - 1;  // the chain starts at the last block, so all have to be there
    if (blockIdx.x == last) atomicExch(flag, 1);
    while (__hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) != last - blockIdx.x + 1)
        __builtin_amdgcn_s_sleep(2);
    out[blockIdx.x] = atomicAdd(flag, 1);
}
"""


@pytest.fixture(scope="module", params=["gfx942", "gfx1100"])
def module(request: pytest.FixtureRequest) -> Iterator[gpulab.Module]:
    with gpulab.using(f"virtual:{request.param}"):
        yield gpulab.compile(SOURCE)


def units() -> int:
    return int(gpulab.device().properties["multiProcessorCount"])


@pytest.mark.full
@pytest.mark.parametrize("groups", [1, 2, 17, 300])
def test_every_workgroup_waits_for_all(module: gpulab.Module, groups: int) -> None:
    size = groups * 100 if groups < 300 else units() * 100
    groups = size // 100
    x = gpulab.to_device(np.arange(size, dtype="int32"))
    module["turn"].cooperative[groups, 100](x, 7)
    np.testing.assert_array_equal(x.to_host(), np.roll(np.arange(size), -7) + 7)


def test_grid_of_three_axes_and_dynamic_lds(module: gpulab.Module) -> None:
    x = gpulab.to_device(np.arange(2 * 3 * 2 * 64, dtype="int32"))
    module["turn"].cooperative[(2, 3, 2), (8, 4, 2), 1024](x, 3)
    np.testing.assert_array_equal(x.to_host(), np.roll(np.arange(768), -3) + 3)


def test_the_whole_device_waits_in_short_time(module: gpulab.Module) -> None:
    # As many workgroups as the device holds; with a slice of instructions for each that spins this would take minutes.
    kernel = module["turn"]
    block = 256
    blocks = providers.selected().occupancy(kernel._function(providers.current()), block) * units()
    x = gpulab.to_device(np.arange(blocks * block, dtype="int32"))
    kernel.cooperative[blocks, block](x, 10)
    np.testing.assert_array_equal(x.to_host(), np.roll(np.arange(blocks * block), -10) + 10)
    with pytest.raises(LaunchLimitError, match=rf"room for {blocks:,} blocks at a time.*this grid has {blocks + 1:,}"):
        kernel.cooperative[blocks + 1, block](x, 10)
    kernel.cooperative[1, block](x, 1)  # and the device goes on


def test_sum_of_a_grid_in_one_launch(module: gpulab.Module) -> None:
    values = np.random.default_rng(3).integers(-1000, 1000, 10_000).astype("int32")
    x, parts, total = gpulab.to_device(values), gpulab.zeros(24, "int32"), gpulab.zeros(1, "int32")
    with gpulab.profile() as run:
        module["reduce"].cooperative[24, 128](len(values), x, parts, total)
    assert total.to_host()[0] == values.sum()
    assert run.launches[0].grid == (24, 1, 1)


def test_arriving_and_waiting_apart(module: gpulab.Module) -> None:
    x, y = gpulab.zeros(640, "int32"), gpulab.zeros(640, "int32")
    module["halves"].cooperative[10, 64](x, y)
    np.testing.assert_array_equal(y.to_host(), np.arange(640) * 10 + 640 - np.arange(640))


def test_a_kernel_knows_its_launch(module: gpulab.Module) -> None:
    out = gpulab.zeros(6, "uint32")
    module["valid"].cooperative[4, 32](out)
    assert out.to_host().tolist() == [1, 0, 0, 1, 128, 70]
    module["valid"][4, 32](out)
    assert out.to_host().tolist() == [0, 0, 0, 0, 128, 70]


def test_hand_made_waiting_between_workgroups(module: gpulab.Module) -> None:
    # More workgroups than an ordinary launch keeps alive on one host thread.
    flag, out = gpulab.zeros(1, "uint32"), gpulab.zeros(200, "uint32")
    module["flags"].cooperative[200, 64](flag, out)
    assert out.to_host().tolist() == list(range(200, 0, -1))


def test_waiting_is_no_matter_of_the_host_threads_speed(module: gpulab.Module) -> None:
    # On a thread of its own the wave that waits would reach the limit before the first block, which stays below it.
    sums, ready = gpulab.zeros(33 * 64 + 32, "int32"), gpulab.zeros(1, "int32")
    gpulab.set_limit(40_000)
    try:
        module["wait_for_first"].cooperative[64, 64](4_000, sums, ready)
    finally:
        gpulab.set_limit(None)
    assert sums.to_host().sum() == 4_000 * 64


def test_waiting_without_a_cooperative_launch(module: gpulab.Module) -> None:
    x = gpulab.zeros(64, "int32")
    with pytest.raises(MemoryFault, match="not cooperative") as error:
        module["turn"][1, 64](x, 1)
    text = str(error.value)
    assert error.value.fault is not None
    assert error.value.fault.kind == "not cooperative"
    assert "grid.sync();" in text
    assert "kernel.cooperative[grid, block]" in text
    assert "hipLaunchCooperativeKernel" in text


def test_a_workgroup_that_ends_before_the_barrier(module: gpulab.Module) -> None:
    x = gpulab.zeros(64, "int32")
    with pytest.raises(KernelTimeout, match="for others that have ended") as error:
        module["early"].cooperative[8, 128](x)
    assert "7 of the grid's 8 blocks wait there; the rest have ended" in str(error.value)
    assert error.value.fault is not None
    assert error.value.fault.where is not None
    assert "this_grid().sync()" in error.value.fault.where.text
    module["turn"].cooperative[1, 64](x, 1)


def test_grids_of_several_devices_are_not_valid(module: gpulab.Module) -> None:
    with pytest.raises(MemoryFault, match=r"this_multi_grid\(\) is not valid here: the launch was on one device"):
        module["several"].cooperative[2, 64](gpulab.zeros(1, "int32"))


def test_sizes_are_wanted(module: gpulab.Module) -> None:
    with pytest.raises(LaunchError, match=r"turn.cooperative\[grid, block\]"):
        module["turn"].cooperative(1, 2)
    assert repr(module["turn"].cooperative) == "turn.cooperative"
    assert repr(module["turn"].cooperative[2, 64]) == (
        "turn.cooperative[(2, 1, 1), (64, 1, 1), 0], not launched: its arguments follow in parentheses"
    )
