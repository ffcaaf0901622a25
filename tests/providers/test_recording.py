"""Launches on a GPU of one's own are timed by events: a GPU made of Python works on after a launch has begun."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gpulab import metrics
from gpulab.errors import HipError, ProfilerError
from gpulab.providers.rocm import recording as module
from gpulab.providers.rocm import rocprof, snapshot
from gpulab.providers.rocm.recording import Recordings


class Sink(list[Any]):
    def add(self, record: Any) -> int:
        self.append(record)
        return len(self) - 1

    change = list.__setitem__


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
    assert [(each.name, each.stream, each.bytes) for each in activities()] == [("", 0, 0)] * 2
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


class Profiled(Gpu):
    """A GPU whose launches are saved: function 5 is the kernel k of module 3, function 6 of nobody knows what.

    Memory that other code allocated: 64 bytes at 0x1000, 32 at 0x2000; HIP knows 0x3000, but not what lies there.
    """

    path = "/lib/hip.so"

    def __init__(self) -> None:
        super().__init__()
        self.kernels, self.images = {5: (3, "k"), 6: (4, "other")}, {3: b"elf"}
        self.allocations = {0x9000: 16, 0x2000: 48}
        self.asked: list[Any] = []

    def call(self, name: str, *words: int) -> Any:
        self.asked.append((name, *words))
        if name == "hipEventDestroy":
            return super().call(name, *words)
        if name == "hipGetLastError":
            return (0,)
        assert name == "hipMemGetAddressRange"
        for address, size in ((0x1000, 64), (0x2000, 32), (0x3000, 0)):
            if address <= words[0] < address + max(size, 1):
                return 0, address if size else 0, size
        return 1, 0, 0

    def synchronize(self) -> None:
        self.asked.append("synchronize")

    def variable(self, module: int, name: str) -> tuple[int, int]:
        if name == "gone":
            raise HipError("hipErrorNotFound", name="hipModuleGetGlobal", code=500)
        return 0x5000 + module, 4

    def copy_to_host(self, host: int, address: int, size: int) -> None:
        ctypes.memset(host, address & 255, size)


@pytest.fixture
def profiled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Such a GPU with its recordings, what was saved of launches, and what the profiler was asked."""
    found = SimpleNamespace(gpu=Profiled(), saved=[], asked=[], folder=tmp_path / "profile")
    found.recordings = Recordings(found.gpu)

    def collect(names: Any, arch: str, library: str, launches: Any, output: Path) -> list[dict[str, float]]:
        found.asked.append((list(names), arch, library, list(launches), output))
        return [{"SQ_WAVES": float(number)} for number, _ in enumerate(launches, 1)]

    monkeypatch.setattr(snapshot, "variable_symbols", lambda elf: ("v", "gone"))
    monkeypatch.setattr(snapshot, "save", lambda *words: found.saved.append(words) or words[0].name)
    monkeypatch.setattr(rocprof, "collect", collect)
    monkeypatch.setattr(rocprof, "executable", lambda: "rocprofv3")
    monkeypatch.setattr(module.tempfile, "mkdtemp", lambda prefix: found.folder.mkdir() or str(found.folder))
    return found


def test_what_is_saved_of_a_launch(profiled: Any) -> None:
    """Before it begins and when the device is idle: what its arguments point to by HIP's word, too."""
    kernarg = struct.pack("<4Q", 0x2008, 0x1000, 0x3000, 0x7000) + b"1234567"
    with profiled.recordings.open(Sink(), ()):
        profiled.recordings.launch(profiled.gpu.begins(1.0), 5, (3, 2, 1), (64, 1, 1), 128, 7, kernarg, (0, 8))
    asked = profiled.gpu.asked
    assert asked[0] == "synchronize"
    assert {each for each in asked if each[0] == "hipMemGetAddressRange"} == {
        ("hipMemGetAddressRange", value) for value in (0x2008, 0x1000, 0x3000, 0x7000)
    }
    assert asked[asked.index(("hipMemGetAddressRange", 0x7000)) + 1] == ("hipGetLastError",)
    assert asked.count(("hipGetLastError",)) == 1
    ((folder, elf, symbol, device, grid, block, lds, words, offsets, allocations, read, variables),) = profiled.saved
    assert (folder, elf, symbol, device) == (profiled.folder / "launch0", b"elf", "k", 2)
    assert (grid, block, lds, words, offsets) == ((3, 2, 1), (64, 1, 1), 128, kernarg, (0, 8))
    assert allocations == {0x9000: 16, 0x2000: 48, 0x1000: 64}, "what gpulab allocated has the size that it knows"
    assert variables == {"v": (0x5003, 4)}
    assert (read(0x1007, 3), read(0x1007, 0)) == (b"\7\7\7", b"")
    assert profiled.gpu.allocations == {0x9000: 16, 0x2000: 48}


def test_counters_come_into_the_records_of_saved_launches(profiled: Any) -> None:
    """Those that are asked for, or the usual ones; launches of what was not loaded here have none."""
    for counters in (("SQ_WAVES", "NO_SUCH"), ()):
        sink = Sink()
        with profiled.recordings.open(sink, counters):
            for function in (5, 6, 7, 5):
                profiled.recordings.launch(profiled.gpu.begins(1.0), function, (1, 1, 1), (64, 1, 1), 0, 7, b"", ())
        assert [dict(one.counters) for one in sink] == [{"SQ_WAVES": 1}, {}, {}, {"SQ_WAVES": 2}]
        assert [one.kernel for one in sink] == ["k", "other", "", "k"]
        assert not profiled.folder.exists()
    usual = [name for name in metrics.usual("gfx942") if name in metrics.names("gfx942")]
    for (names, *rest), wanted in zip(profiled.asked, (["SQ_WAVES"], usual), strict=True):
        assert names == wanted
        assert rest == ["gfx942", "/lib/hip.so", ["launch0", "launch3"], profiled.folder]


def test_launches_of_several_architectures_are_counted_by_each(profiled: Any) -> None:
    sink = Sink()
    with profiled.recordings.open(sink, ("SQ_WAVES",)):
        for arch in ("gfx942", "gfx90a", "gfx942"):
            profiled.gpu.device.arch = arch
            profiled.recordings.launch(profiled.gpu.begins(1.0), 5, (1, 1, 1), (64, 1, 1), 0, 7, b"", ())
    assert [(arch, launches) for _, arch, _, launches, _ in profiled.asked] == [
        ("gfx90a", ["launch1"]), ("gfx942", ["launch0", "launch2"]),
    ]  # fmt: skip
    assert [one.counters["SQ_WAVES"] for one in sink] == [1, 1, 2]


def test_without_names_that_are_known_nothing_is_repeated(profiled: Any) -> None:
    sink = Sink()
    with profiled.recordings.open(sink, ("NO_SUCH",)):
        profiled.recordings.launch(profiled.gpu.begins(1.0), 5, (1, 1, 1), (64, 1, 1), 0, 7, b"", ())
    assert (profiled.asked, dict(sink[0].counters)) == ([], {})


def test_where_nobody_asks_or_can_count_nothing_is_saved(profiled: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def launched_once(counters: Any) -> None:
        with profiled.recordings.open(Sink(), counters):
            profiled.recordings.launch(profiled.gpu.begins(1.0), 5, (1, 1, 1), (64, 1, 1), 0, 7, b"", ())

    launched_once(None)
    monkeypatch.setattr(rocprof, "executable", lambda: None)
    launched_once(())
    assert (profiled.saved, profiled.asked) == ([], [])
    with pytest.raises(ProfilerError, match="rocprofv3, and it was not found"):
        launched_once(("SQ_WAVES",))
    assert not profiled.recordings


def test_a_saved_launch_that_fails_is_not_counted(profiled: Any) -> None:
    def fails() -> None:
        raise HipError("hipErrorLaunchFailure", name="hipModuleLaunchKernel", code=719)

    with profiled.recordings.open(Sink(), ()), pytest.raises(HipError):
        profiled.recordings.launch(fails, 5, (1, 1, 1), (1, 1, 1), 0, 7, b"", ())
    assert len(profiled.saved) == 1
    assert profiled.asked == []
    assert not profiled.folder.exists()
