"""Who was the last to change an element: `last_writers` after a checked launch, on both wave sizes."""

from __future__ import annotations

import struct

import numpy as np
import pytest

import gpulab
from gpulab import architectures, providers, toolchain
from gpulab.virtual_gpu import runtime
from gpulab.virtual_gpu.isa.assembly import parse
from gpulab.virtual_gpu.machine.arena import Arena
from gpulab.virtual_gpu.machine.device import VirtualDevice

SOURCE = """
extern "C" __global__ void shifted(int n, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 1 < n)
        out[i + 1] = i;
    if (i == 2)
        atomicAdd(&out[3], 5);
}
extern "C" __global__ void bytes(int n, unsigned char* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[n - 1 - i] = 7;
}
extern "C" __global__ void counted(int* sums)
{
    atomicAdd(&sums[threadIdx.x % 2], 1);
}
extern "C" __global__ void racing(int* out)
{
    out[threadIdx.x + 64] = 1;
    if (threadIdx.x % 64 == 5) out[0] = threadIdx.x;
}
extern "C" __global__ void solid(double* out)
{
    int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    out[thread + block * blockDim.x * blockDim.y * blockDim.z] = 1;
}
extern "C" __global__ void halves(int* out)
{
    if (threadIdx.x < 2) out[3 * threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x < 2) out[threadIdx.x ? 1 : 2] = 2;
}
"""


@pytest.fixture(params=["gfx942", "gfx1100"])
def module(request: pytest.FixtureRequest):
    before = providers.current()
    gpulab.use(f"virtual:{request.param}")
    yield gpulab.compile(SOURCE)
    providers.select(before)


def test_the_last_thread_that_changed_an_element(module) -> None:
    n, size = 200, 64 if providers.devices()[providers.current()].arch == "gfx942" else 32
    out = gpulab.to_device(np.full(n, -9, "int32"))
    with gpulab.checked():
        module.shifted[4, 50](n, out)
    first, *rest = providers.instruments("writers").last_writers(int(out.address), 4, n)
    assert first is None
    for index, writer in enumerate(rest, 1):
        assert writer is not None
        thread = index - 1
        assert writer.workgroup == (thread // 50, 0, 0)
        assert writer.thread == (thread % 50, 0, 0)
        assert (writer.wave, writer.lane) == divmod(thread % 50, size)
        assert writer.access == ("atomic" if index == 3 else "write")
        assert writer.where is not None
        assert writer.where.line == (8 if index == 3 else 6)


def test_elements_smaller_than_a_cell(module) -> None:
    out = gpulab.to_device(np.zeros(100, "uint8"))
    with gpulab.checked():
        module.bytes[2, 64](100, out)
    writers = providers.instruments("writers").last_writers(int(out.address), 1, 100)
    found = [w.workgroup[0] * 64 + w.thread[0] for w in writers if w and w.thread]
    assert found == list(range(99, -1, -1))


def test_grids_and_blocks_of_three_dimensions(module) -> None:
    """2 x 3 x 2 blocks of 5 x 2 x 9 threads: two waves of 64, three of 32."""
    size = 64 if module.arch == "gfx942" else 32
    out = gpulab.to_device(np.zeros(12 * 90))
    with gpulab.checked():
        module.solid[(2, 3, 2), (5, 2, 9)](out)
    found = providers.instruments("writers").last_writers(int(out.address), 8, 12 * 90)
    for flat, writer in enumerate(found):
        block, thread = divmod(flat, 90)
        assert writer is not None
        assert writer.workgroup == (block % 2, block // 2 % 3, block // 6)
        assert writer.thread == (thread % 5, thread // 5 % 2, thread // 10)
        assert (writer.wave, writer.lane) == divmod(thread, size)


def test_of_two_who_change_parts_of_an_element_the_later_one(module) -> None:
    """The first thread stores words 0 and, later, 2, the second one 3 and, later, 1."""
    out = gpulab.to_device(np.zeros(4, "int32"))
    with gpulab.checked():
        module.halves[1, 64](out)
    found = providers.instruments("writers").last_writers(int(out.address), 4, 4)
    assert [writer.thread[0] for writer in found] == [0, 1, 0, 1]
    wide = providers.instruments("writers").last_writers(int(out.address), 8, 2)
    assert [writer.thread[0] for writer in wide] == [1, 0]
    assert [writer.where.line for writer in (*found, *wide)] == [32, 34, 34, 32, 34, 34]
    (whole,) = providers.instruments("writers").last_writers(int(out.address), 16)
    assert whole.where.line == 34
    # What does not lie in the allocation as a whole has no writer.
    assert [*providers.instruments("writers").last_writers(int(out.address) + 12, 8, 1)] == [None]


def test_atomics_count_as_changes(module) -> None:
    sums = gpulab.to_device(np.zeros(3, "int32"))
    with gpulab.checked():
        module.counted[1, 32](sums)
    writers = providers.instruments("writers").last_writers(int(sums.address), 4, 3)
    assert [w and w.access for w in writers] == ["atomic", "atomic", None]
    assert writers[0] is not None
    assert writers[0].thread is not None
    assert writers[0].thread[0] % 2 == 0


def test_of_a_stopped_launch_what_happened_until_then(module) -> None:
    out = gpulab.to_device(np.zeros(256, "int32"))
    with gpulab.checked(), pytest.raises(gpulab.CheckedFault):
        module.racing[1, 128](out)
    (writer,) = providers.instruments("writers").last_writers(int(out.address), 4)
    assert writer is not None
    assert writer.thread == (69, 0, 0)  # its store is the race: a launch stops after the access
    assert out.to_host()[0] == 69


def test_what_belongs_to_nobody(module) -> None:
    out = gpulab.to_device(np.zeros(8, "int32"))
    assert [*providers.instruments("writers").last_writers(0, 4, 2)] == [None, None]
    with gpulab.checked():
        module.counted[1, 2](out)
    assert providers.instruments("writers").last_writers(int(out.address) + 4, 4, 9)[0] is not None
    assert providers.instruments("writers").last_writers(int(out.address), 4, 9)[8] is None  # beyond the allocation
    after = gpulab.to_device(np.zeros(8, "int32"))  # not there when the launch was
    assert [*providers.instruments("writers").last_writers(int(after.address), 4, 8)] == [None] * 8


def test_what_a_launch_has_changed(module) -> None:
    """By allocation, a bool for each byte: 4-byte elements here. Another checked launch has its own answer."""
    machine = runtime.instance().current.machine
    out, beside = gpulab.to_device(np.full(202, -9, "int32")), gpulab.to_device(np.full(8, 7, "int32"))
    with gpulab.checked():
        module.shifted[4, 50](150, out)
    ((address, changed),) = machine.changed()
    assert address == int(out.address)
    assert changed.tolist() == [False] * 4 + [True] * 149 * 4 + [False] * 52 * 4
    with gpulab.checked():
        module.counted[1, 1](beside)
    ((address, changed),) = machine.changed()
    assert (address, changed.tolist()) == (int(beside.address), [True] * 4 + [False] * 28)


def test_before_any_checked_launch() -> None:
    machine = VirtualDevice(architectures.get("gfx942"), Arena(), 0)
    assert list(machine.changed()) == []
    assert [*machine.last_writers(0x1000, 4, 2)] == [None, None]


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_a_store_that_goes_to_two_allocations_by_turns(arch: str) -> None:
    """Even threads store to the third of three that there are, odd ones to the first."""
    source = """extern "C" __global__ void by_turns(int* first, int* third) {
        int i = threadIdx.x;
        (i % 2 ? first : third)[i] = 7;
    }"""
    arena = Arena()
    first, second, third = (arena.allocate(1024, "device", 0) for _ in range(3))
    for address in (first, second, third):
        arena.view(address, 1024)[:] = bytes(1024)
    machine = VirtualDevice(architectures.get(arch), arena, 0)
    code = toolchain.compile(source, arch=arch)
    kernel = machine.load(parse(code.assembly, guarantees=code.guarantees)).kernels["by_turns"]
    launch = machine.launch(kernel, (1, 1, 1), (256, 1, 1), 0, struct.pack("<QQ", first, third), checked=True)
    assert launch.fault is None
    for address, odd in ((first, 1), (third, 0), (second, None)):
        found = [writer and writer.thread for writer in machine.last_writers(address, 4, 256)]
        assert found == [(i, 0, 0) if i % 2 == odd else None for i in range(256)]
