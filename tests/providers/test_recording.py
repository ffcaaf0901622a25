"""Launches on a GPU of one's own are timed by events: a GPU made of Python works on after a launch has begun."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from gpulab.errors import HipError
from gpulab.providers.rocm.recording import Recordings


class Sink(list[Any]):
    def add(self, record: Any) -> int:
        self.append(record)
        return len(self) - 1


class Gpu:
    """Times are ms since it began. A launch takes `takes`, from when those before it have ended."""

    def __init__(self, arch: str = "gfx942", wave_size: int = 64) -> None:
        self.kernels: dict[int, Any] = {}
        self.images: dict[int, bytes] = {}
        self.device = SimpleNamespace(index=2, arch=arch, wave_size=wave_size, compute_units=10)
        self.now = self.end = 0.0
        self.events: dict[int, float | None] = {}
        self.waited: set[int] = set()
        self.binding = self

    def devices(self) -> list[Any]:
        return [None, None, self.device]

    def current(self) -> int:
        return 2

    def call(self, name: str, event: int) -> int:
        assert name == "hipEventDestroy"
        del self.events[event]
        return 0

    def event_create(self) -> int:
        event = 100 + len(self.events) + sum(self.events)
        self.events[event] = None
        return event

    def event_record(self, event: int, stream: int) -> None:
        assert stream == 7
        self.events[event] = max(self.now, self.end)

    def event_synchronize(self, event: int) -> None:
        self.waited.add(event)

    def event_elapsed_ms(self, start: int, stop: int) -> float:
        one, other = self.events[start], self.events[stop]
        if one is None or other is None or (other > self.now and stop not in self.waited):
            raise HipError("hipErrorNotReady", name="hipEventElapsedTime", code=600)
        return other - one

    def begins(self, takes: float) -> Callable[[], None]:
        def begin() -> None:
            self.end = max(self.now, self.end) + takes

        return begin


def launched(gpu: Gpu, recordings: Recordings, takes: float, block: Any = (65, 1, 1), lds: int = 0) -> None:
    recordings.launch(gpu.begins(takes), 5, (3, 2, 1), block, lds, 7, b"", ())


def test_a_launch_is_timed_when_it_has_ended() -> None:
    gpu, sink = Gpu(), Sink()
    recordings = Recordings(gpu)  # type: ignore[arg-type]
    assert not recordings
    with recordings.open(sink, None) as activities:
        assert recordings
        launched(gpu, recordings, 0.25, lds=512)
        gpu.now = 4.0
        launched(gpu, recordings, 1.5, (8, 8, 2))
        assert gpu.events.keys(), "the event before the first launch is kept"
    assert not recordings
    assert gpu.events == {}, "no event is left"
    one, other = sink
    assert (one.measured_us, other.measured_us) == (250.0, 1500.0)
    assert (one.host_us, one.time_is_modelled, one.device, one.arch) == (250.0, False, 2, "gfx942")
    assert (one.grid, one.block, one.lds_bytes) == ((3, 2, 1), (65, 1, 1), 512)
    assert (one.waves, other.waves) == (2 * 6, 2 * 6), "waves of 64: two for 65 threads, and for 128"
    assert dict(one.constants) == {"CU_NUM": 10, "SIMD_NUM": 40, "MAX_WAVE_SIZE": 64}
    found = [(each.kind, each.device, each.start_us, each.end_us, each.launch) for each in activities()]
    assert found == [("kernel", 2, 0.0, 250.0, 0), ("kernel", 2, 4000.0, 5500.0, 1)]
    assert not any(each.is_modelled for each in activities())


@pytest.mark.parametrize(("arch", "wave_size", "simds"), [("gfx1100", 32, 2), ("gfx999", 64, 4), ("gfx9999", 32, 2)])
def test_simds_of_known_and_of_unknown_devices(arch: str, wave_size: int, simds: int) -> None:
    gpu, sink = Gpu(arch, wave_size), Sink()
    recordings = Recordings(gpu)  # type: ignore[arg-type]
    with recordings.open(sink, None):
        launched(gpu, recordings, 1.0)
    assert sink[0].constants["SIMD_NUM"] == 10 * simds
    assert sink[0].waves == -(-65 // wave_size) * 6


def test_recordings_in_one_another_have_a_first_launch_each() -> None:
    gpu, outer, inner = Gpu(), Sink(), Sink()
    recordings = Recordings(gpu)  # type: ignore[arg-type]
    with recordings.open(outer, None) as of_outer:
        launched(gpu, recordings, 1.0)
        gpu.now = 3.0
        with recordings.open(inner, None) as of_inner:
            launched(gpu, recordings, 1.0)
            gpu.now = 5.0
            launched(gpu, recordings, 1.0)
        launched(gpu, recordings, 2.0)
    assert (len(outer), len(inner)) == (4, 2)
    assert [each.start_us for each in of_outer()] == [0.0, 3000.0, 5000.0, 6000.0]
    assert [each.start_us for each in of_inner()] == [0.0, 2000.0]
    assert gpu.events == {}


def test_a_launch_that_fails_leaves_no_record_and_no_event() -> None:
    gpu, sink = Gpu(), Sink()
    recordings = Recordings(gpu)  # type: ignore[arg-type]

    def fails() -> None:
        raise HipError("hipErrorLaunchFailure", name="hipModuleLaunchKernel", code=719)

    with recordings.open(sink, None) as activities:
        with pytest.raises(HipError):
            recordings.launch(fails, 5, (1, 1, 1), (1, 1, 1), 0, 7, b"", ())
        assert gpu.events == {}
        launched(gpu, recordings, 1.0)
    assert len(sink) == len(activities()) == 1
    assert gpu.events == {}
