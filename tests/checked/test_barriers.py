"""native/barriers.c: whose finding it is and what it tells: waves that end, wait in different places or for ever."""

from __future__ import annotations

import pytest

import gpulab
from gpulab.records import Fault

SOURCE = """
__device__ int read(volatile int* p) { return *p; }
__global__ void ends(int* out, int gone) {
    if (gone >> (threadIdx.x / warpSize) & 1) return;
    __syncthreads();
    out[0] = 1;
}
__global__ void lanes(int* out, int missing) {
    int lane = threadIdx.x % warpSize;
    if (!(threadIdx.x / warpSize == 1 && lane < 32 && missing >> lane & 1)) __syncthreads();
    out[threadIdx.x] = 1;
}
__global__ void lines(int* out, int from) {
    if (threadIdx.x / warpSize < from)
        __syncthreads();
    else
        __syncthreads();
    out[0] = 1;
}
__global__ void waits(int* out, int in_lds) {
    __shared__ int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    int *first = in_lds ? &flag : out, *second = in_lds ? out : &flag;
    while (read(threadIdx.x < warpSize ? first : second) == 0) {}
}
__global__ void behind(int* out, int waiting) {
    if (waiting >> (threadIdx.x / warpSize) & 1)
        while (read(out) == 0) {}
    __syncthreads();
}
__global__ void lower(int* out, int least) {
    if ((int)blockIdx.x >= least) while (read(out + blockIdx.x) == 0) {}
}
"""


@pytest.fixture(scope="module", params=["gfx942", "gfx1100"])
def module(request: pytest.FixtureRequest) -> gpulab.Module:
    with gpulab.using(f"virtual:{request.param}"):
        yield gpulab.compile(SOURCE)


def fault_of(module: gpulab.Module, name: str, number: int, waves: int, grid: int = 1) -> Fault | None:
    with gpulab.checked():
        try:
            module[name][grid, waves * gpulab.device().wave_size](gpulab.zeros(256, "int32"), number)
        except gpulab.KernelFault as error:
            return error.fault
    return None


def line_of(text: str, which: int = 0) -> int:
    return [n for n, line in enumerate(SOURCE.split("\n"), 1) if text in line][which]


@pytest.mark.parametrize(
    ("gone", "wave", "other", "more"),
    [(0b0010, 0, 1, ""), (0b1010, 0, 1, " (and 1 more)"), (0b0111, 3, 0, " (and 2 more)")],
)
def test_waves_that_ended_before_a_barrier(module: gpulab.Module, gone: int, wave: int, other: int, more: str) -> None:
    fault = fault_of(module, "ends", gone, 4)
    assert fault is not None
    assert (fault.kind, fault.wave, fault.lane) == ("barrier", wave, None)
    assert fault.detail == f"wave {other} of the block has ended{more}"
    assert fault.where.line == line_of("__syncthreads();", 0)


def test_all_or_none_may_end_before_a_barrier(module: gpulab.Module) -> None:
    assert fault_of(module, "ends", 0b1111, 4) is None
    assert fault_of(module, "ends", 0, 4) is None


@pytest.mark.parametrize(
    ("missing", "said"), [(0b10, "lane 1 of the wave is"), (1 << 31 | 1, "lanes 0, 31 of the wave are")]
)
def test_lanes_that_do_not_reach_a_barrier(module: gpulab.Module, missing: int, said: str) -> None:
    fault = fault_of(module, "lanes", missing - (1 << 32 if missing >> 31 else 0), 2)
    assert fault is not None
    assert (fault.kind, fault.wave, fault.detail) == ("barrier", 1, f"{said} not there")
    assert fault.lane == (0 if missing == 2 else 1)  # the first that is there
    assert fault_of(module, "lanes", 0, 2) is None


@pytest.mark.parametrize("start", [1, 2])
def test_waves_at_barriers_of_different_lines(module: gpulab.Module, start: int) -> None:
    fault = fault_of(module, "lines", start, 3)
    assert fault is not None
    assert (fault.kind, fault.wave) == ("barrier", start)
    assert fault.other is not None
    assert (fault.other.wave, fault.other.workgroup) == (0, (0, 0, 0))
    assert {fault.where.line, fault.other.where.line} == {
        line_of("__syncthreads();", 2),
        line_of("__syncthreads();", 3),
    }
    for all_of_them in (0, 3):
        assert fault_of(module, "lines", all_of_them, 3) is None


@pytest.mark.parametrize("in_lds", [0, 1])
def test_the_memory_that_the_first_wave_waits_for(module: gpulab.Module, in_lds: int) -> None:
    """Both waves wait for ever, each in another memory; addresses are generic."""
    fault = fault_of(module, "waits", in_lds, 2)
    assert fault is not None
    assert (fault.kind, fault.wave, fault.memory) == ("deadlock", 0, "lds" if in_lds else "global")
    if in_lds:
        assert fault.other is not None
        assert (fault.other.access, fault.other.where.line) == ("write", line_of("flag = 0"))
    else:
        assert fault.other is None


@pytest.mark.parametrize(
    ("waiting", "waves", "wave", "said"),
    [(0b01, 2, 0, "1 wave of the block waits"), (0b100, 4, 2, "3 waves wait"), (0b1010, 4, 1, "2 waves wait")],
)
def test_waves_at_a_barrier_for_one_that_waits(
    module: gpulab.Module, waiting: int, waves: int, wave: int, said: str
) -> None:
    fault = fault_of(module, "behind", waiting, waves)
    assert fault is not None
    assert (fault.kind, fault.wave, fault.memory, fault.other) == ("deadlock", wave, "global", None)
    line = line_of("__syncthreads();", -1)
    assert (
        fault.detail
        == f"{said} at the barrier in line {line} for this one, and can change nothing until it comes there, too"
    )


@pytest.mark.parametrize("least", [0, 1, 2])
def test_the_lowest_workgroup_that_waits_is_told(module: gpulab.Module, least: int) -> None:
    fault = fault_of(module, "lower", least, 1, grid=3)
    assert fault is not None
    assert (fault.kind, fault.workgroup, fault.wave, fault.detail) == ("deadlock", (least, 0, 0), 0, "")
    assert fault_of(module, "lower", 3, 1, grid=3) is None
