"""The runtime by itself, on a machine whose kernels are Python functions: faults, time, threads, records."""

import struct
import threading

import pytest

from gpulab import architectures
from gpulab.architectures.architecture import Architecture
from gpulab.virtual_gpu.machine.arena import Arena
from gpulab.virtual_gpu.runtime import codes, properties
from gpulab.virtual_gpu.runtime.codes import Failure
from gpulab.virtual_gpu.runtime.context import NO_LIMIT
from gpulab.virtual_gpu.runtime.runtime import Runtime
from tests.hip import fake_machine
from tests.hip.conftest import code_object


@pytest.fixture
def runtime():
    return Runtime("gfx942,gfx1100", Arena(), fake_machine.FakeDevice)


def start(runtime, kernel, stream=None):
    module = runtime.modules.load(code_object("gfx942").elf)
    function = runtime.modules.function(module.handle, kernel)
    stream = stream or runtime.current.null_stream
    return runtime.modules.launch(function, (1, 1, 1), (64, 1, 1), 0, stream, bytes(24))


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("out of bounds", 700),
        ("null", 700),
        ("freed", 700),
        ("lds out of bounds", 700),
        ("timeout", 702),
        ("trap", 719),
        ("barrier", 719),
    ],
)
def test_the_code_of_a_fault(runtime, monkeypatch, kind, code):
    fault = fake_machine.fault_of("fill", kind)
    monkeypatch.setitem(fake_machine.KERNELS, "fill", lambda *_: (fault, ""))
    device = runtime.current
    start(runtime, "fill")
    assert runtime.surface(device) == code
    assert runtime.surface(device) == 0
    assert runtime.take_fault() is fault
    assert runtime.take_fault() is None


def test_the_first_of_two_faults_is_reported(runtime, monkeypatch):
    faults = [fake_machine.fault_of("fill"), fake_machine.fault_of("fill", "timeout")]
    waiting = list(faults)
    monkeypatch.setitem(fake_machine.KERNELS, "fill", lambda *_: (waiting.pop(0), ""))
    start(runtime, "fill")
    start(runtime, "fill")
    assert runtime.surface(runtime.current) == 700
    assert runtime.take_fault() is faults[0]
    assert runtime.surface(runtime.current) == 0


def test_a_fault_stays_with_its_device(runtime, monkeypatch):
    monkeypatch.setitem(fake_machine.KERNELS, "fill", lambda *_: (fake_machine.fault_of("fill"), ""))
    start(runtime, "fill")
    assert runtime.surface(runtime.devices[1]) == 0
    assert runtime.surface(runtime.devices[0]) == 700


def test_time_of_streams(runtime):
    # Every launch of this machine takes 10 microseconds.
    streams, null = runtime.streams, runtime.current.null_stream
    blocking, free = streams.create(0), streams.create(1)
    start(runtime, "fill", blocking)
    start(runtime, "fill", blocking)
    start(runtime, "fill", free)
    assert (blocking.time, free.time, null.time) == (20.0, 10.0, 0.0)
    start(runtime, "fill")  # waits for the blocking stream
    assert null.time == 30.0
    start(runtime, "fill", blocking)  # waits for the null stream
    assert blocking.time == 40.0
    start(runtime, "fill", free)
    assert free.time == 20.0
    event = streams.create_event(0)
    streams.record(event, blocking)
    streams.wait_event(free, event)
    start(runtime, "fill", free)
    assert free.time == 50.0
    streams.destroy(blocking.handle)
    assert streams.ready(null).us == 40.0  # what was in it still takes place


def test_the_host_waits_and_what_it_submits_then_starts_later(runtime):
    streams, device = runtime.streams, runtime.current
    first, second = streams.create(1), streams.create(1)
    start(runtime, "fill", first)
    start(runtime, "fill", second)
    assert (first.time, second.time) == (10.0, 10.0)  # side by side
    streams.wait_for_device(device)
    third = streams.create(1)
    start(runtime, "fill", third)
    assert third.time == 20.0
    streams.wait_for(third.last)
    start(runtime, "fill", first)
    assert (first.time, second.time) == (30.0, 10.0)


def test_listeners_of_streams_hear_what_happens(runtime):
    heard = []
    streams, null = runtime.streams, runtime.current.null_stream
    streams.listeners.append(heard.append)
    free, event = streams.create(1), streams.create_event(0)
    start(runtime, "fill")
    streams.record(event, null)
    streams.wait_event(free, event)
    start(runtime, "fill", free)
    streams.listeners.clear()
    start(runtime, "fill")
    kinds = [(h.kind, h.stream, h.start.us, h.end.us) for h in heard]
    assert kinds == [
        ("kernel", 0, 0.0, 10.0), ("event", 0, 10.0, 10.0), ("wait", free.number, 0.0, 10.0),
        ("kernel", free.number, 10.0, 20.0),
    ]  # fmt: skip
    assert heard[2].earlier is heard[1]
    assert "fill" in heard[0].name


def test_moments_are_computed_late_and_only_once(runtime):
    class Work:
        asked = 0

        @property
        def time_us(self):
            self.asked += 1
            return 2.5

    work = Work()
    null = runtime.current.null_stream
    for _ in range(200):
        runtime.streams.submit(null, work)
    assert work.asked == 0
    assert (null.time, work.asked) == (500.0, 200)
    for _ in range(1000):
        runtime.streams.submit(null, work)
    assert work.asked >= 200 + 1000 - 256  # no more than that is kept back
    assert null.time == 3000.0


class Counted:
    """Work that says how often its time was asked for."""

    def __init__(self, us):
        self.us, self.asked = us, 0

    @property
    def time_us(self):
        self.asked += 1
        return self.us


def run_and_wait(runtime, work, times=1000):
    null = runtime.current.null_stream
    for _ in range(times):
        runtime.streams.submit(null, work)
        runtime.streams.wait_for(null.last)


def between(runtime, first, last):
    return 1000 * runtime.streams.elapsed_ms(first.handle, last.handle)


def test_times_that_nobody_can_ask_for_are_not_modelled(runtime):
    streams, null, work = runtime.streams, runtime.current.null_stream, Counted(2.5)
    run_and_wait(runtime, work)
    assert work.asked == 0
    first, last = streams.create_event(0), streams.create_event(0)
    streams.record(first, null)
    run_and_wait(runtime, work)
    streams.record(last, null)
    assert between(runtime, first, last) == 2500.0
    assert 1000 <= work.asked < 1000 + 256


def test_what_a_listener_hears_keeps_its_times(runtime):
    heard, work = [], Counted(2.5)
    runtime.streams.listeners.append(heard.append)
    run_and_wait(runtime, work, 300)
    runtime.streams.listeners.clear()
    run_and_wait(runtime, work, 300)
    begin = heard[0].start.us
    assert [one.end.us - begin for one in heard] == [2.5 * (n + 1) for n in range(300)]


def test_work_that_the_host_has_not_waited_for_keeps_its_time(runtime):
    streams, null = runtime.streams, runtime.current.null_stream
    apart = streams.create(1)
    streams.submit(apart, Counted(10_000.0))
    run_and_wait(runtime, Counted(2.5))
    here, there = streams.create_event(0), streams.create_event(0)
    streams.record(here, null)
    streams.record(there, apart)
    assert between(runtime, here, there) == 7500.0


def test_copies_take_the_time_of_the_link_and_of_the_memory(runtime):
    a = architectures.get("gfx942")
    memory, stream = runtime.memory, runtime.current.null_stream
    first, second = memory.allocate(1 << 20, "device"), memory.allocate(1 << 20, "device")
    memory.copy(second, first, 1 << 20, 3, stream)
    assert stream.time == pytest.approx(5 + 2 * (1 << 20) / a.memory_bandwidth * 1e6)


def test_listeners_and_profiling(runtime):
    records, profiled = [], []
    runtime.add_listener(records.append)
    start(runtime, "fill")
    runtime.add_listener(profiled.append, profile=True)
    start(runtime, "fill")
    runtime.remove_listener(profiled.append)
    start(runtime, "fill")
    assert (len(records), len(profiled)) == (3, 1)
    assert [launch[5] for launch in runtime.current.machine.launches] == ["default", "profile", "default"]


def test_the_instruction_limit_reaches_the_machine(runtime, monkeypatch):
    monkeypatch.delenv("GPULAB_INSTRUCTION_LIMIT", raising=False)
    for limit in (None, 5, 0):
        runtime.set_instruction_limit(limit)
        start(runtime, "fill")
    assert [launch[6] for launch in runtime.current.machine.launches] == [None, 5, NO_LIMIT]


def test_traces(runtime):
    module = runtime.modules.load(code_object("gfx942").elf)
    handle = runtime.modules.function(module.handle, "fill").handle
    sizes = ((2, 3, 1), (128, 1, 1), 0, bytes(8))
    assert runtime.launch_traced(handle, *sizes, (1, 2, 0), 1)[1] == "trace"
    assert runtime.launch_traced(handle, *sizes, 5, 0)[0].kernel == "fill"
    for workgroup, wave in (((2, 0, 0), 0), (6, 0), (-1, 0), (0, 2)):
        with pytest.raises(Exception, match=r"(?s)no wave .* 6 workgroups of 2 waves"):
            runtime.launch_traced(handle, *sizes, workgroup, wave)


def test_several_threads(runtime):
    """Allocations and launches from many threads at once leave no trace of each other."""
    errors = []
    before = runtime.devices[0].used_bytes
    module = runtime.modules.load(code_object("gfx942").elf)
    function = runtime.modules.function(module.handle, "saxpy")

    def work():
        try:
            for _ in range(50):
                address = runtime.memory.allocate(256, "device")
                arguments = struct.pack("<ifQQ", 4, 1.0, address, address)
                runtime.modules.launch(function, (1, 1, 1), (64, 1, 1), 0, runtime.current.null_stream, arguments)
                runtime.memory.free(address, ("device",))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert runtime.devices[0].used_bytes == before
    assert len(runtime.current.machine.launches) == 400


def test_more_than_the_device_has(runtime):
    runtime.set_device(1)
    with pytest.raises(Failure) as caught:
        runtime.memory.allocate(25_753_026_561, "device")
    assert caught.value.code == codes.OUT_OF_MEMORY


def test_the_codes_of_exceptions(runtime):
    from gpulab import errors

    for error, code in (
        (Failure(21), 21),
        (errors.UnsupportedInstruction("v_what"), 801),
        (errors.AssemblyError("line 3"), 200),
        (MemoryError(), 2),
        (ValueError("x"), 999),
    ):
        assert runtime.failed("hipX", error) == code
        kept = runtime.take_exception()
        assert kept is (None if isinstance(error, Failure) else error)


def test_every_attribute_fits_an_int():
    for name in architectures.names():
        a: Architecture = architectures.get(name)
        p = properties.device_properties(a, 0)
        for number in properties.numbers():
            value = properties.attribute(a, p, number)
            assert value is not None
            assert 0 <= value <= 2**31 - 1
        assert properties.attribute(a, p, 9999) is None


@pytest.mark.full
def test_acc_vgprs_count_once_for_occupancy(runtime):
    """With 256 architectural and 256 AccVGPRs one wave fits a SIMD: 4 waves, one block of 256 threads."""
    from gpulab import toolchain

    count = 300  # values that live across the loop: more than 256 registers hold
    loads = "".join(f"float a{i} = p[{i} * 64 + t];" for i in range(count))
    turns = "".join(f"a{i} = a{i} * a{(i * 7 + 3) % count} + a{(i * 11 + 5) % count};" for i in range(count))
    stores = "".join(f"p[{i} * 64 + t] = a{i};" for i in range(count))
    source = (
        'extern "C" __global__ void __attribute__((amdgpu_flat_work_group_size(1, 256))) k(float* p) {\n'
        f"int t = threadIdx.x; {loads} __syncthreads();\nfor (int r = 0; r < p[0]; r++) {{ {turns} }}\n{stores} }}"
    )
    module = runtime.modules.load(toolchain.compile(source, arch="gfx942").elf)
    function = runtime.modules.function(module.handle, "k")
    assert (function.descriptor.vgprs, function.descriptor.agprs) == (512, 256)
    assert runtime.modules.occupancy(function.handle, 256, 0) == 1
    found = runtime.modules.hardware_occupancy(function.handle, 256, 0)
    assert (found.blocks, found.waves, found.binding) == (1, 4, ("VGPRs",))
