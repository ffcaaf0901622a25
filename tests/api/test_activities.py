"""What streams did inside a profile, and where workgroups ran: `Run.activities` and `Launch.placement`."""

from __future__ import annotations

import collections
import itertools

import numpy as np
import pytest

import gpulab
from gpulab import architectures
from gpulab.records import Placement

SOURCE = """
__global__ void saxpy(int n, float a, const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void hold(int* y)
{
    extern __shared__ int part[];
    part[threadIdx.x] = y[threadIdx.x];
    __syncthreads();
    y[blockIdx.x * blockDim.x + threadIdx.x] = part[blockDim.x - 1 - threadIdx.x];
}
__global__ void turns(const int* amount, float* out)
{
    float v = threadIdx.x;
    for (int i = 0; i < amount[blockIdx.x]; i++) v = v * 0.5f + 1.0f;
    out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
"""


@pytest.fixture(params=["gfx942", "gfx1100"])
def module(request):
    gpulab.use(request.param)
    yield gpulab.compile(SOURCE)
    gpulab.use("gfx942")


def test_kernels_take_as_long_as_events_say(module):
    n = 40 * 256
    x, y = gpulab.to_device(np.ones(n, "float32")), gpulab.zeros(n, "float32")
    start, stop = gpulab.Event(), gpulab.Event()
    with gpulab.profile() as run, gpulab.Stream() as stream:
        start.record(stream)
        module.saxpy[40, 256, 0, stream](n, 2.0, x, y)
        stop.record(stream)
    assert [a.kind for a in run.activities] == ["event", "kernel", "event"]
    first, kernel, last = run.activities
    assert (kernel.name, kernel.launch, kernel.is_modelled) == ("saxpy", 0, True)
    assert kernel.us == pytest.approx(stop.elapsed_ms(start) * 1000, rel=1e-5)  # hipEventElapsedTime gives a float
    assert kernel.us == pytest.approx(run[0].time_us)
    assert (first.start_us, first.end_us, last.end_us) == (0.0, 0.0, kernel.end_us)


def test_copies_and_memsets_have_bytes_directions_and_times(module):
    n = 1 << 20
    with gpulab.profile() as run:
        x = gpulab.to_device(np.ones(n, "float32"))
        y = gpulab.zeros(n, "float32")
        y.copy_from(x)
        y.to_host()
    seen = [(a.kind, a.name, a.bytes, a.stream) for a in run.activities]
    size = 4 * n
    assert seen == [
        ("copy", "host to device", size, 0), ("fill", "memset", size, 0), ("copy", "device to device", size, 0),
        ("copy", "device to host", size, 0),
    ]  # fmt: skip
    a = architectures.get(gpulab.device().arch)
    assert run.activities[0].us == pytest.approx(5 + size / a.copy_bandwidth * 1e6)
    ends = [activity.end_us for activity in run.activities]
    assert [activity.start_us for activity in run.activities] == [0.0, *ends[:-1]]


def test_a_stream_waits_for_an_event_of_another(module):
    n = 40 * 256
    x, y = gpulab.to_device(np.ones(n, "float32")), gpulab.zeros(n, "float32")
    before = gpulab.Event().record()
    with gpulab.profile() as run, gpulab.Stream() as one, gpulab.Stream() as two:
        event = gpulab.Event()
        two.wait(before)
        module.saxpy[40, 256, 0, one](n, 2.0, x, y)
        event.record(one)
        two.wait(event)
        module.saxpy[40, 256, 0, two](n, 2.0, x, y)
        module.saxpy[40, 256, 0, one](n, 2.0, x, y)
    early, first, record, wait, second, third = run.activities
    assert (early.kind, early.waits_for, early.name) == ("wait", None, "event 1")
    assert (wait.kind, wait.waits_for, wait.name) == ("wait", 2, "event 2")
    assert (record.kind, record.name) == ("event", "event 2")
    assert (wait.start_us, wait.end_us) == (0.0, first.end_us)
    assert second.start_us == third.start_us == first.end_us  # side by side
    assert second.stream != third.stream == first.stream
    assert [second.launch, third.launch] == [1, 2]


def test_the_host_waits_before_it_goes_on(module):
    n = 40 * 256
    x, y = gpulab.to_device(np.ones(n, "float32")), gpulab.zeros(n, "float32")
    with gpulab.profile() as run, gpulab.Stream() as one, gpulab.Stream() as two:
        module.saxpy[40, 256, 0, one](n, 2.0, x, y)
        module.saxpy[40, 256, 0, two](n, 2.0, x, y)
        gpulab.synchronize()
        module.saxpy[40, 256, 0, two](n, 2.0, x, y)
    first, second, third = run.activities
    # A launch of gpulab looks for a fault at once, but that costs the streams no time.
    assert first.start_us == second.start_us == 0.0
    assert third.start_us == first.end_us == second.end_us


def test_nothing_is_collected_outside_of_the_profile(module):
    with gpulab.profile() as run:
        pass
    gpulab.to_device(np.ones(4, "float32"))
    assert run.activities == ()


def everything(placement: Placement):
    """Where and when all workgroups are, one by one."""
    for number in range(placement.workgroups):
        yield (*placement.where(number), *placement.when(number))


def check(placement: Placement) -> None:
    """No two workgroups are in one place at a time; none are there before or after the kernel; all fits the unit."""
    at = collections.defaultdict(list)
    for number, (die, unit, place, start, end) in enumerate(everything(placement)):
        assert die == number % placement.dies
        assert unit < placement.units
        assert place < placement.places
        assert placement.begin_us <= start < end <= placement.total_us * (1 + 1e-12)
        at[die, unit, place].append((start, end))
    for turns in at.values():
        turns.sort()
        assert all(end <= start * (1 + 1e-12) for (_, end), (start, _) in itertools.pairwise(turns))
    slots = [slot for place in range(placement.places) for slot in placement.slots(place)]
    assert len(set(slots)) == len(slots) == placement.places * placement.waves
    assert all(simd < placement.simds and slot < placement.wave_slots for simd, slot in slots)
    assert max(end for *_, end in everything(placement)) == pytest.approx(placement.total_us)


@pytest.mark.full
@pytest.mark.parametrize("blocks", [1, 40, 305, 2433, 20_000])
def test_workgroups_fill_the_device_and_end_with_the_launch(module, blocks):
    n = blocks * 256
    x, y = gpulab.to_device(np.ones(n, "float32")), gpulab.zeros(n, "float32")
    with gpulab.profile() as run:
        module.saxpy[blocks, 256](n, 2.0, x, y)
    placement, a = run[0].placement, architectures.get(gpulab.device().arch)
    assert placement is not None
    assert placement.total_us == run[0].time_us
    assert (placement.workgroups, placement.waves) == (blocks, 256 // a.wave_size)
    assert placement.dies * placement.units == a.multiprocessors
    assert sum(placement.on_die(die) for die in range(placement.dies)) == blocks
    check(placement)


def test_forty_workgroups_use_forty_of_304_units():
    gpulab.use("gfx942")
    module = gpulab.compile(SOURCE)
    x, y = gpulab.to_device(np.ones(10_240, "float32")), gpulab.zeros(10_240, "float32")
    with gpulab.profile() as run:
        module.saxpy[40, 256](10_240, 2.0, x, y)
    placement = run[0].placement
    assert placement is not None
    assert len({(die, unit) for die, unit, *_ in everything(placement)}) == 40
    assert [placement.on_die(die) for die in range(8)] == [5] * 8
    with pytest.raises(IndexError):
        placement.where(40)


def test_lds_decides_how_many_places_a_unit_has():
    # 20,000 bytes take 40 granules of 512: three workgroups in 64 KiB of a CU of gfx942.
    gpulab.use("gfx942")
    module = gpulab.compile(SOURCE)
    y = gpulab.zeros(1000 * 256, "int32")
    with gpulab.profile() as run:
        module.hold[1000, 256, 20_000](y)
    placement = run[0].placement
    assert placement is not None
    assert (placement.places, placement.limit) == (3, "LDS")
    # 125 workgroups a die, 114 at a time: the first 11 units get a second one in their first place.
    assert placement.where(8 * 114) == (0, 0, 0)
    start, end = placement.when(8 * 114)
    assert start == pytest.approx(placement.when(0)[1])
    assert end == pytest.approx(start + placement.group_us)
    check(placement)


def test_workgroups_that_differ_run_for_as_long_as_their_work_takes():
    """One of 608 has 40 times as many turns, and is the first to start: the others are long over."""
    gpulab.use("gfx942")
    module = gpulab.compile(SOURCE)
    turns = np.full(608, 100, "int32")
    turns[0] = 4000
    out = gpulab.empty(608 * 64)
    with gpulab.profile() as run:
        module.turns[608, 64](gpulab.to_device(turns), out)
        module.turns[608, 64](gpulab.to_device(np.full(608, 100, "int32")), out)
    placement, equal = run[0].placement, run[1].placement
    assert placement is not None
    assert equal is not None
    assert (len(placement.stays), equal.stays, placement.workgroups) == (608, (), 608)
    check(placement)
    lengths = [end - start for *_, start, end in everything(placement)]
    others = lengths[1:]
    assert 20 < lengths[0] / max(others) < 60
    assert placement.when(0)[1] == pytest.approx(placement.total_us)
    assert max(others) < 1.5 * min(others)
    assert placement.group_us == pytest.approx(sum(lengths) / 608)
    assert sum(start < placement.total_us / 2 < end for *_, start, end in everything(placement)) == 1
    picture = run.gpu_map(0)
    assert "Workgroups differ: number 0 runs the longest" in picture.sentence
    assert "Workgroups differ" not in run.gpu_map(1).sentence


def test_launches_that_are_not_profiled_have_no_placement(module):
    x, y = gpulab.to_device(np.ones(256, "float32")), gpulab.zeros(256, "float32")
    launch = module.saxpy[1, 256](256, 2.0, x, y)
    assert launch is None or launch.placement is None


def test_a_copy_in_a_stream_lets_the_host_go_on_only_from_pinned_memory(module):
    """HIP API reference, hipMemcpyAsync: "If host or dst are not pinned, the copy will be performed synchronously"."""
    n = 1 << 20
    x, y = gpulab.empty(n), gpulab.empty(n)
    for host, overlap in ((gpulab.pinned(n), True), (np.empty(n, "float32"), False)):
        host[:] = 1
        with gpulab.profile() as run, gpulab.Stream() as one, gpulab.Stream() as two:
            x.copy_from(host, stream=one)
            module.saxpy[n // 256, 256, 0, two](n, 2.0, y, y)
        copy, kernel = (a for a in run.activities if a.kind in ("copy", "kernel"))
        assert (copy.name, copy.stream != kernel.stream) == ("host to device", True)
        assert (kernel.start_us < copy.end_us) is overlap
        back = x.to_host(gpulab.pinned(n) if overlap else None)
        assert (back == 1).all()


def test_the_host_link_carries_one_copy_each_way_at_a_time(module):
    n = 1 << 18
    arrays = [gpulab.empty(n) for _ in range(3)]
    hosts = [gpulab.pinned(n) for _ in range(3)]
    with gpulab.profile() as run:
        streams = [gpulab.Stream() for _ in range(3)]
        for array, host, stream in zip(arrays[:2], hosts, streams, strict=False):
            array.copy_from(host, stream=stream)
        arrays[2].to_host(hosts[2], stream=streams[2])
        gpulab.synchronize()
    first, second, out = (a for a in run.activities if a.kind == "copy")
    assert second.start_us == first.end_us  # in different streams, but both into the device
    assert out.start_us == first.start_us


@pytest.mark.full
def test_pinned_memory_is_an_array_like_any_other_and_goes_back():
    import gc

    from gpulab import providers

    array = gpulab.pinned((3, 4), "int32")
    array[:] = np.arange(12).reshape(3, 4)
    assert (gpulab.to_device(array).to_host() == array).all()
    address = array.ctypes.data
    assert providers.instruments("costs").find_allocation(address).address == address
    view = array[1:]
    del array
    gc.collect()
    gpulab.pinned(1)
    assert (view[0] == [4, 5, 6, 7]).all()
    del view
    gc.collect()
    gpulab.empty(1)
    found = providers.instruments("costs").find_allocation(address)
    assert found is None or (found.relation, found.size) != ("inside", 48)  # what lies there now is another one
    assert gpulab.pinned(0).shape == (0,)
