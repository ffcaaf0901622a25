"""What every provider does, once for each of them: gpulab's own, ROCm's and the toy.

ROCm's has the virtual library in place of AMD's, and a stand-in for rocprofv3.

A new provider is a `Case` in `CASES`. For each of `provider.CAPABILITIES` a probe must work, or fail where the provider
says that it lacks it: an entry in `lacks` that does not hold is a failure, too.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from gpulab import errors, providers, toolchain
from gpulab.providers.capabilities import instruments, lacking
from gpulab.providers.hip import library
from gpulab.providers.launches import Records, recording
from gpulab.providers.provider import CAPABILITIES, OF_INSTRUMENTS, Provider
from gpulab.providers.rocm.provider import RocmProvider
from gpulab.providers.virtual.provider import VirtualProvider
from gpulab.virtual_gpu import libraries
from tests.providers import toy
from tests.providers.given import given

SOURCE = """
__device__ float factor = 3.0f;
extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
extern "C" __global__ void unguarded(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] = factor; }
extern "C" __global__ void endless(volatile int* x) { while (*x == 0) {} }
"""

FAKE_ROCPROFV3 = Path(__file__).parent / "fake_rocprofv3.py"


@dataclass
class Case:
    """One provider: how it is made, code for it with the kernels of `SOURCE`, and a counter of its devices."""

    make: Callable[[], Provider]
    code: Callable[[str], bytes]
    counter: str
    saxpy: int = field(default=0, init=False)

    def open(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.gpu = self.make()
        given(monkeypatch, self.gpu)
        self.arch = self.gpu.devices()[self.gpu.current()].arch
        self.module = self.gpu.load(self.code(self.arch))
        self.saxpy = self.gpu.function(self.module, "saxpy")

    def launch(self, n: int, x: int, y: int, stream: int = 0) -> None:
        self.gpu.launch(self.saxpy, (-(-n // 64), 1, 1), (64, 1, 1), 0, stream, struct.pack("<ifQQ", n, 2.0, x, y))

    def fault(self) -> None:
        """Launch a kernel that goes past its memory."""
        address = self.gpu.malloc(64)
        self.gpu.launch(
            self.gpu.function(self.module, "unguarded"), (4, 1, 1), (64, 1, 1), 0, 0, struct.pack("<Q", address)
        )

    def array(self, values: np.ndarray) -> int:
        address = self.gpu.malloc(values.nbytes)
        providers.copy_to_device(self.gpu, address, values)
        return address

    def read(self, address: int, count: int) -> np.ndarray:
        got = np.zeros(count, np.float32)
        providers.copy_to_host(self.gpu, got, address)
        return got


def amdgpu(arch: str) -> bytes:
    return toolchain.compile(SOURCE, arch=arch, name="cell.hip").elf


def virtual() -> Provider:
    return VirtualProvider(library.through_ctypes(str(libraries.path("hip")), in_process=True))


CASES = {
    "virtual": lambda: Case(virtual, amdgpu, "SQ_WAVES"),
    "rocm": lambda: Case(lambda: RocmProvider(virtual().binding), amdgpu, "SQ_WAVES"),
    "toy": lambda: Case(toy.open_provider, lambda arch: toy.CODE, "toy_threads"),
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Case]:
    program = tmp_path / "rocprofv3"
    program.write_text(
        f'#!{sys.executable}\nimport runpy\nrunpy.run_path({str(FAKE_ROCPROFV3)!r}, run_name="__main__")\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("GPULAB_ROCPROFV3", str(program))
    found = CASES[request.param]()
    found.open(monkeypatch)
    yield found
    found.gpu.unload(found.module)


def test_devices_are_numbered_from_0_and_say_what_they_allow(case: Case) -> None:
    found = case.gpu.devices()
    assert [info.index for info in found] == list(range(len(found)))
    assert 0 <= case.gpu.current() < len(found)
    for info in found:
        assert info.provider == case.gpu.name
        assert info.wave_size in (32, 64)
        assert min(info.compute_units, info.memory_bytes, info.limits.lds_bytes, *info.limits.grid) > 0
        assert info.limits.block_threads >= max(info.limits.block[0], info.wave_size)
        assert info.limits.unit_threads >= info.limits.block_threads
        assert set(case.gpu.environment(info.index)) <= {"GPULAB_DEVICES", "GPULAB_LIBRARY"}
    said = case.gpu.library()
    assert all((said.path, said.version, said.binding))


def test_memory_is_copied_filled_and_freed(case: Case) -> None:
    values = np.arange(100, dtype=np.float32)
    one, two = case.array(values), case.gpu.malloc(400)
    case.gpu.copy_device(two, one, 400)
    assert (case.read(two, 100) == values).all()
    case.gpu.memset(two + 200, 0, 200)
    assert (case.read(two, 100) == [*values[:50], *[0] * 50]).all()
    free, total = case.gpu.memory_info()
    assert 0 < free <= total
    for address in (one, two):
        case.gpu.free(address)
    case.gpu.free(0)
    with pytest.raises(errors.DeviceMemoryError):
        case.gpu.free(one)
    assert case.gpu.malloc(0) == 0


def test_memory_that_is_not_there(case: Case) -> None:
    with pytest.raises(errors.DeviceMemoryError):
        case.gpu.malloc(1 << 45)
    address = case.gpu.malloc(64)
    with pytest.raises((errors.ProviderError, errors.DeviceMemoryError)):
        providers.copy_to_device(case.gpu, address, bytes(128))
    case.gpu.free(address)


def test_host_memory_for_copies_in_streams(case: Case) -> None:
    host, address, stream = case.gpu.malloc_host(64), case.gpu.malloc(64), case.gpu.stream_create()
    ctypes.memset(host, 7, 64)
    case.gpu.copy_to_device(address, host, 64, stream)
    ctypes.memset(host, 0, 64)
    case.gpu.copy_to_host(host, address, 64, stream)
    case.gpu.stream_synchronize(stream)
    assert ctypes.string_at(host, 64) == bytes([7]) * 64
    case.gpu.stream_destroy(stream)
    case.gpu.free(address)
    case.gpu.free_host(host)


def test_code_that_is_not_there(case: Case) -> None:
    with pytest.raises(errors.ProviderError):
        case.gpu.function(case.module, "nothing")
    with pytest.raises(errors.GpulabError):
        case.gpu.load(b"no code object at all, of any kind")


def test_a_kernel_runs(case: Case) -> None:
    x, y = case.array(np.arange(1000, dtype=np.float32)), case.array(np.ones(1000, np.float32))
    case.launch(1000, x, y)
    case.gpu.synchronize()
    assert (case.read(y, 1000) == 2 * np.arange(1000) + 1).all()
    assert case.gpu.occupancy(case.saxpy, 64) > 0
    with pytest.raises(errors.LaunchLimitError):
        case.gpu.launch(case.saxpy, (1, 1, 1), (1 << 20, 1, 1), 0, 0, bytes(24))


def test_a_fault_is_raised_once_by_a_call_that_waits_and_the_next_kernel_runs(case: Case) -> None:
    x = case.array(np.ones(64, np.float32))
    case.fault()
    with pytest.raises(errors.KernelFault):
        case.gpu.synchronize()
    case.gpu.synchronize()
    case.launch(64, x, x)
    assert (case.read(x, 64) == 3).all()


def test_a_fault_is_not_lost_when_memory_is_freed(case: Case) -> None:
    other = case.gpu.malloc(64)
    case.fault()
    case.gpu.free(other)
    with pytest.raises(errors.KernelFault):
        case.gpu.synchronize()


def test_streams_and_events(case: Case) -> None:
    gpu = case.gpu
    x = case.array(np.ones(6400, np.float32))
    first, second = gpu.stream_create(), gpu.stream_create()
    start, middle, end = (gpu.event_create() for _ in range(3))
    gpu.event_record(start, first)
    case.launch(6400, x, x, first)
    gpu.event_record(middle, first)
    gpu.stream_wait_event(second, middle)
    case.launch(6400, x, x, second)
    gpu.event_record(end, second)
    gpu.event_synchronize(end)
    gpu.stream_synchronize(second)
    one, both = gpu.event_elapsed_ms(start, middle), gpu.event_elapsed_ms(start, end)
    assert 0 < one < both
    assert (case.read(x, 6400) == 9).all()
    never = gpu.event_create()
    with pytest.raises(errors.ProviderError):
        gpu.event_elapsed_ms(start, never)
    for event in (start, middle, end, never):
        gpu.event_destroy(event)
    for stream in (first, second):
        gpu.stream_destroy(stream)


def record(case: Case, counters: tuple[str, ...] | None = None) -> Records:
    """Two launches of saxpy."""
    x = case.array(np.ones(640, np.float32))
    with recording(profile=True, counters=counters) as records:
        case.launch(640, x, x)
        case.launch(64, x, x)
        case.gpu.synchronize()
    return records


def test_launches_leave_records(case: Case) -> None:
    records = record(case)
    waves = 64 // case.gpu.devices()[case.gpu.current()].wave_size
    assert [(launch.kernel, launch.arch, launch.device) for launch in records] == [("saxpy", case.arch, 0)] * 2
    assert [(launch.grid, launch.block, launch.waves) for launch in records] == [
        ((10, 1, 1), (64, 1, 1), 10 * waves),
        ((1, 1, 1), (64, 1, 1), waves),
    ]
    assert all(launch.time_us > 0 for launch in records)
    kernels = [activity for activity in records.activities() if activity.kind == "kernel"]
    assert [(activity.name, activity.launch, activity.device) for activity in kernels] == [
        ("saxpy", 0, 0), ("saxpy", 1, 0),
    ]  # fmt: skip
    assert 0 <= kernels[0].start_us < kernels[0].end_us <= kernels[1].start_us < kernels[1].end_us


def test_a_counter_that_nobody_defines_is_refused(case: Case) -> None:
    case.gpu.check_counters((case.counter,), case.arch)
    with pytest.raises(errors.CounterNotFound):
        case.gpu.check_counters(("SQ_NO_SUCH_THING",), case.arch)


def _cooperative(case: Case) -> None:
    x = case.array(np.ones(64, np.float32))
    kernarg = struct.pack("<ifQQ", 64, 2.0, x, x)
    case.gpu.launch_cooperative(case.saxpy, (1, 1, 1), (64, 1, 1), 0, 0, kernarg, (0, 4, 8, 16))
    assert (case.read(x, 64) == 3).all()


def _counters(case: Case) -> None:
    assert record(case, (case.counter,))[0].counters[case.counter] > 0


def _variables(case: Case) -> None:
    address, size = case.gpu.variable(case.module, "factor")
    assert (size, case.read(address, 1).tolist()) == (4, [3.0])


def _trace(case: Case) -> None:
    x = case.array(np.ones(64, np.float32))
    kernarg = struct.pack("<ifQQ", 64, 2.0, x, x)
    launch, trace = instruments("trace").trace(case.saxpy, (1, 1, 1), (64, 1, 1), 0, kernarg, (0, 0, 0), 0)
    assert (launch.kernel, bool(trace.steps)) == ("saxpy", True)


def _checked(case: Case) -> None:
    x = case.array(np.ones(64, np.float32))
    with instruments("checked").checking():
        case.launch(64, x, x)
        case.gpu.synchronize()


def _weak(case: Case) -> None:
    x = case.array(np.ones(64, np.float32))
    with instruments("weak").weakening(1):
        case.launch(64, x, x)
        case.gpu.synchronize()
    assert (case.read(x, 64) == 3).all()


def _writers(case: Case) -> None:
    x = case.array(np.ones(64, np.float32))
    found = instruments("writers")
    with found.checking():
        case.launch(64, x, x)
        case.gpu.synchronize()
    (writer,) = found.last_writers(x + 4 * 5, 4)
    assert writer is not None
    assert writer.thread == (5, 0, 0)


def _occupancy(case: Case) -> None:
    assert instruments("occupancy").occupancy(case.saxpy, 64).blocks > 0


def _limit(case: Case) -> None:
    found = instruments("limit")
    address = case.array(np.zeros(1, np.float32))
    found.set_instruction_limit(10_000)
    try:
        endless = case.gpu.function(case.module, "endless")
        case.gpu.launch(endless, (1, 1, 1), (64, 1, 1), 0, 0, struct.pack("<Q", address))
        with pytest.raises(errors.KernelTimeout):
            case.gpu.synchronize()
    finally:
        found.set_instruction_limit(None)


def _costs(case: Case) -> None:
    launch = record(case)[0]
    assert launch.instructions
    assert instruments("costs").part(launch, launch.instructions[:1], ()).instructions == launch.instructions[:1]


PROBES: dict[str, Callable[[Case], None]] = {
    "cooperative": _cooperative, "counters": _counters, "variables": _variables, "trace": _trace, "checked": _checked,
    "weak": _weak, "writers": _writers, "occupancy": _occupancy, "limit": _limit, "costs": _costs,
}  # fmt: skip


def test_every_capability_has_a_probe() -> None:
    assert set(PROBES) == set(CAPABILITIES)


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_what_a_provider_can_do_it_does_and_what_it_lacks_it_cannot(case: Case, capability: str) -> None:
    reason = case.gpu.lacks.get(capability)
    if reason is None:
        PROBES[capability](case)
        return
    with pytest.raises((errors.GpulabError, AssertionError)):
        PROBES[capability](case)
    said = lacking(case.gpu, capability)
    assert case.gpu.devices()[case.gpu.current()].name in str(said)
    assert reason in str(said)


def test_what_is_lacking_is_known_by_name(case: Case) -> None:
    assert set(case.gpu.lacks) <= set(CAPABILITIES)
    assert all(len(reason) > 10 for reason in case.gpu.lacks.values())
    assert (case.gpu.instruments is None) == (set(OF_INSTRUMENTS) <= set(case.gpu.lacks))
