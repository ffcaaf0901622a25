"""Which branch an instruction stands in, which lanes were active, and where waves stand still."""

from __future__ import annotations

import numpy as np
import pytest

import gpulab
from gpulab.records import InstructionCost, Launch

SOURCE = """__global__ void nested(int n, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int sum = i;
        for (int k = 0; k < i % 4; ++k)
            sum = sum * 3 + out[i + k];
        if (i % 2 == 0) {
            out[i] = sum * sum;
        } else {
            out[i + 64] = sum / 5 - 1;
        }
    }
}
"""
SIZES = {"gfx942": 64, "gfx1100": 32}


def profiled(arch: str, n: int = 64, block: int = 64, source: str = SOURCE, name: str = "nested") -> Launch:
    with gpulab.using(f"virtual:{arch}"):
        out = gpulab.to_device(np.zeros(256, np.int32))
        kernel = gpulab.compile(source)[name]
        with gpulab.profile() as run:
            kernel[2, block](n, out)
    return run[0]


def at(launch: Launch, mnemonic: str, line: int) -> InstructionCost:
    found = [c for c in launch.instructions if c.text.startswith(mnemonic) and c.where and c.where.line == line]
    assert found, "\n".join(f"{c.where and c.where.line} {c.text}" for c in launch.instructions)
    return found[-1]


def branch_line(launch: Launch, cost: InstructionCost) -> int:
    assert cost.branch is not None
    where = launch.instructions[cost.branch].where
    assert where is not None
    return where.line


@pytest.mark.parametrize("arch", SIZES)
def test_lanes_are_counted_one_by_one(arch: str) -> None:
    size, launch = SIZES[arch], profiled(arch, n=100)
    waves = 128 // size
    first = launch.instructions[0]
    assert (first.executed, first.whole, first.lane_counts) == (waves, waves, (waves,) * size)
    # i % 4 turns of the loop: lane l is in as many of them in each of its waves, but for threads 100 to 127
    body = at(launch, "global_load", 7)
    turns = [sum((lane + size * wave) % 4 for wave in range(waves) if lane + size * wave < 100) for lane in range(size)]
    assert list(body.lane_counts) == turns
    assert body.active_lanes == sum(turns)
    for cost in launch.instructions:
        assert sum(cost.lane_counts) == cost.active_lanes
        assert 0 <= cost.whole <= cost.executed
        assert min(cost.lane_counts) >= cost.whole


@pytest.mark.parametrize("arch", SIZES)
def test_the_innermost_branch(arch: str) -> None:
    launch = profiled(arch)
    assert launch.instructions[0].branch is None
    assert branch_line(launch, at(launch, "global_load", 7)) == 6
    stores = [c for c in launch.instructions if c.text.startswith("global_store")]
    for cost in launch.instructions:
        if cost.text.startswith("v_mul_hi"):  # the division of the else
            assert branch_line(launch, cost) == 8
    assert {branch_line(launch, c) for c in stores} <= {4, 8}


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_a_branch_that_all_lanes_take_is_none(arch: str) -> None:
    launch = profiled(arch, source=SOURCE.replace("i < n", "n > 3"))
    assert all(c.whole == c.executed for c in launch.instructions if c.branch is None)
    assert 4 not in {branch_line(launch, c) for c in launch.instructions if c.branch is not None}


def test_many_launches_of_odd_masks() -> None:
    """The digits of the counters carry: 5,000 turns of a loop in which lane l takes part in every (l + 1)-th."""
    source = """
    __global__ void odd(int n, int* out) {
        int lane = threadIdx.x;
        for (int k = 1; k <= n; ++k)
            if (k % (lane + 1) == 0)
                out[lane] += k;
    }"""
    launch = profiled("gfx942", 5000, source=source, name="odd")
    store = at(launch, "global_store", 6)
    assert list(store.lane_counts) == [2 * (5000 // (lane + 1)) for lane in range(64)]
    assert store.whole == 0


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_stalls_by_line_are_what_the_model_has_of_waits(arch: str) -> None:
    source = """
    __global__ void chain(int n, int* out) {
        int at = threadIdx.x;
        for (int k = 0; k < n; ++k)
            at = out[at];
        out[threadIdx.x] = at;
    }"""
    launch = profiled(arch, 50, source=source, name="chain")
    by_line = {cost.where.line: cost.stall_clocks for cost in launch.lines}
    # 50 loads one after another by each wave, each no faster than the first cache (116 clocks on an MI300X by
    # caps-tum/mt4g; 73 on RDNA 2 by te42kyfo/gpu-benches)
    waves = 128 // SIZES[arch]
    assert by_line[5] > 50 * waves * 70
    assert by_line[5] == max(by_line.values())
    total = sum(cost.stall_clocks for cost in launch.instructions)
    assert total == pytest.approx(sum(by_line.values()))
    latency = next(clocks for name, clocks in launch.time.parts.items() if name.startswith("latency"))
    assert total / waves < latency  # of one workgroup alone: its start, its own work and the waits


def test_the_record_has_the_whole_source() -> None:
    launch = profiled("gfx942")
    assert launch.sources == {"cell.hip": SOURCE}
    for cost in launch.lines:
        assert SOURCE.split("\n")[cost.where.line - 1] == cost.where.text


@pytest.mark.parametrize("arch", SIZES)
def test_a_profile_and_the_traces_of_its_waves_agree(arch: str) -> None:
    """What the branches of a launch waste is what they waste in each of its waves, by two ways to find branches."""
    from gpulab.views.divergence import of_launch, of_trace

    with gpulab.using(f"virtual:{arch}"):
        kernel = gpulab.compile(SOURCE)["nested"]

        def data() -> gpulab.DeviceArray:
            return gpulab.to_device(np.zeros(256, np.int32))

        with gpulab.profile() as run:
            kernel[1, 64](50, data())
        waves = 64 // SIZES[arch]
        traces = [gpulab.trace(kernel, 1, 64, 50, data(), wave=wave) for wave in range(waves)]
    profile, sides = of_launch(run[0]), [of_trace(trace) for trace in traces]
    assert profile.total.wasted == sum(side.total.wasted for side in sides) > 0
    assert profile.total.slots == sum(side.total.slots for side in sides)
    assert profile.total.counts == [sum(each) for each in zip(*(side.total.counts for side in sides), strict=True)]
    for at, branch in profile.branches.items():
        found = sum(side.branches[at].wasted for side in sides if at in side.branches)
        assert branch.wasted == pytest.approx(found, rel=0.35), branch  # the first turn of a loop is in it or not
    assert "Lanes at work in nested, one wave" in traces[0].divergence().title
