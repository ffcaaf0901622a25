"""Copies between Python's buffers and a device: which address and how many bytes a provider is given, what is refused;
records of several providers as one list."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpulab.errors import DeviceMemoryError
from gpulab.providers import launches, memory
from gpulab.records import Activity
from tests.providers.given import given


class Gpu:
    """Keeps what it is given; what is read is sevens."""

    def __init__(self) -> None:
        self.given: list[tuple[int, bytes, int]] = []

    def copy_to_device(self, address: int, source: int, size: int, stream: int) -> None:
        self.given.append((address, ctypes.string_at(source, size), stream))

    def copy_to_host(self, target: int, address: int, size: int, stream: int) -> None:
        self.given.append((address, b"", stream))
        ctypes.memset(target, 7, size)


GRID = np.arange(6, dtype=np.int16).reshape(2, 3)


@pytest.mark.parametrize(
    "buffer",
    [
        b"bytes", bytearray(b"array"), memoryview(b"view"), memoryview(bytearray(b"view")), GRID, GRID[1],
        memoryview(GRID), np.frombuffer(b"read only", np.uint8), (ctypes.c_int * 3)(1, 2, 3),
        memoryview(bytearray(b"12345678")).cast("I"), memoryview(np.frombuffer(b"read only", np.uint8)),
    ],
)  # fmt: skip
def test_to_the_device(buffer: Any) -> None:
    gpu: Any = Gpu()
    memory.copy_to_device(gpu, 64, buffer, 3)
    raw = memoryview(buffer).tobytes()
    assert gpu.given == [(64, raw, 3)]
    memory.copy_to_device(gpu, 64, buffer)
    assert gpu.given[1][2] == 0


def test_to_the_host() -> None:
    gpu: Any = Gpu()
    array, raw = np.zeros((2, 3), np.int8), bytearray(4)
    memory.copy_to_host(gpu, array, 64, 3)
    memory.copy_to_host(gpu, raw, 65)
    memory.copy_to_host(gpu, memoryview(raw), 66)
    assert (array == 7).all()
    assert raw == b"\7" * 4
    assert gpu.given == [(64, b"", 3), (65, b"", 0), (66, b"", 0)]


@pytest.mark.parametrize("buffer", [np.zeros((2, 3)), np.zeros(3, "f4"), np.zeros(3, [("a", "<f4"), ("b", "u1")])])
def test_elements_and_dimensions_of_a_view_do_not_matter(buffer: np.ndarray) -> None:
    gpu: Any = Gpu()
    memory.copy_to_host(gpu, memoryview(buffer), 64)
    assert buffer.tobytes() == b"\7" * buffer.nbytes
    memory.copy_to_device(gpu, 64, memoryview(buffer))
    assert gpu.given[1] == (64, buffer.tobytes(), 0)


@pytest.mark.parametrize("buffer", [b"", bytearray(), np.zeros(0), memoryview(b"")])
def test_nothing_to_copy(buffer: Any) -> None:
    gpu: Any = Gpu()
    memory.copy_to_device(gpu, 64, buffer)
    assert gpu.given == []


@pytest.mark.parametrize("buffer", [b"bytes", memoryview(b"view"), np.frombuffer(b"read only", np.uint8)])
def test_buffers_that_cannot_be_written(buffer: Any) -> None:
    gpu: Any = Gpu()
    with pytest.raises(DeviceMemoryError, match="The host buffer is read-only"):
        memory.copy_to_host(gpu, buffer, 64)
    assert gpu.given == []


@pytest.mark.parametrize("buffer", [GRID[:, 1], GRID[:, ::2], np.asfortranarray(GRID), memoryview(b"123456")[::2]])
def test_buffers_that_are_not_contiguous(buffer: Any) -> None:
    gpu: Any = Gpu()
    for copy in (lambda: memory.copy_to_device(gpu, 64, buffer), lambda: memory.copy_to_host(gpu, buffer, 64)):
        with pytest.raises(DeviceMemoryError, match="not contiguous") as raised:
            copy()
        assert "numpy.ascontiguousarray" in raised.value.hint
    assert gpu.given == []


def activity(device: int, waits_for: int | None = None) -> Activity:
    return Activity("kernel", "k", device, 0, 0.0, 1.0, waits_for=waits_for)


def test_activities_of_several_providers() -> None:
    """Devices and places count on where the next provider begins."""
    records = launches.Records()
    records.attach(0, lambda: (activity(0), activity(1, 0)))
    records.attach(2, lambda: (activity(0), activity(1, 0), activity(1, 1)))
    assert [each.device for each in records.activities()] == [0, 1, 2, 3, 3]
    assert [each.waits_for for each in records.activities()] == [None, 0, None, 2, 3]
    assert launches.Records().activities() == ()


def test_records_as_one_provider_sees_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launches.dataclasses, "replace", lambda launch, device: SimpleNamespace(device=device))
    records = launches.Records()
    first, second = launches._Sink(records, 0), launches._Sink(records, 2)
    one: Any = SimpleNamespace(device=1)
    assert (first.add(one), second.add(one), first.add(one)) == (0, 1, 2)
    assert [each.device for each in records] == [1, 3, 1]
    assert (len(first), len(second)) == (3, 3)
    assert second[1].device == 3
    other: Any = SimpleNamespace(device=9)
    second.change(0, other)
    assert records[0] is other


def test_what_each_provider_is_asked_to_record(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them; counters of the one in use alone. Its devices count on from those of the providers before."""
    asked: list[Any] = []

    def provider(name: str, count: int) -> Any:
        @contextlib.contextmanager
        def record(sink: Any, profile: bool, counters: Any) -> Iterator[Any]:
            asked.append((name, profile, counters, sink._first))
            yield lambda: (activity(0),)
            asked.append(f"{name} ended")

        infos = tuple(SimpleNamespace(index=index) for index in range(count))
        return SimpleNamespace(name=name, record=record, devices=lambda: infos, current=lambda: 0)

    monkeypatch.setattr("gpulab.providers.registry.dataclasses.replace", lambda info, **changed: info)
    given(monkeypatch, provider("one", 2), provider("two", 1))
    with launches.recording() as records:
        assert records == []
    monkeypatch.undo()
    assert asked == [("one", True, None, 0), ("two", True, None, 2), "two ended", "one ended"]
    assert [each.device for each in records.activities()] == [0, 2]
    asked.clear()
    given(monkeypatch, provider("one", 2), provider("two", 1))
    monkeypatch.setattr("gpulab.providers.registry.dataclasses.replace", lambda info, **changed: info)
    with pytest.raises(ZeroDivisionError), launches.recording(False, ["SQ_WAVES"]):
        assert asked == [("one", False, ["SQ_WAVES"], 0), ("two", False, None, 2)]
        raise ZeroDivisionError
