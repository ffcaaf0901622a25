"""What happens to a device's things that nothing refers to any more: nothing in the garbage collector itself."""

from __future__ import annotations

import gc
import itertools
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

import gpulab
from gpulab import dropped, providers
from tests.providers.given import given

SOURCE = "__device__ int answer = 42; __global__ void fill(int* x) { x[threadIdx.x] = answer; }"


def module() -> gpulab.Module:
    found = gpulab.compile(SOURCE)
    found["fill"][1, 64](gpulab.zeros(64, "int32"))
    return found


MAKERS: list[Callable[[], Any]] = [module, gpulab.Stream, gpulab.Event, lambda: gpulab.zeros(1 << 10)]


def in_a_circle(make: Callable[[], Any]) -> None:
    """Something that the collector alone can find."""
    circle: list[Any] = [make()]
    circle.append(circle)


@pytest.mark.full
@pytest.mark.parametrize("make", MAKERS, ids=["module", "stream", "event", "array"])
def test_the_collector_calls_no_library(make: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    gc.collect()
    dropped.release()
    in_a_circle(make)
    provider, called = providers.selected(), []
    for name in ("unload", "stream_destroy", "event_destroy", "free"):
        whole = getattr(provider, name)
        monkeypatch.setattr(type(provider), name, lambda self, handle, whole=whole: called.append(whole(handle)))
    gc.collect()
    assert (called, len(dropped.pending) >= 1) == ([], True)
    monkeypatch.undo()
    gpulab.memory_info()
    assert len(dropped.pending) == 0


@pytest.mark.full
@pytest.mark.parametrize("make", MAKERS, ids=["module", "stream", "event", "array"])
def test_a_thread_that_collects_waits_for_nobody(make: Callable[[], Any]) -> None:
    """As one that does a part of a launch, whose locks the thread has that waits for it."""
    from gpulab.virtual_gpu import runtime

    in_a_circle(make)
    thread = threading.Thread(target=gc.collect, daemon=True)
    with runtime.instance().lock:
        thread.start()
        thread.join(20)
        assert not thread.is_alive()


@pytest.mark.full
def test_what_is_dropped_is_given_back() -> None:
    gc.collect()
    dropped.release()
    in_a_circle(module)  # once, as the first one makes what is kept
    gc.collect()
    before = gpulab.memory_info().free
    for _ in range(5):
        in_a_circle(module)
    gc.collect()
    assert gpulab.memory_info().free == before


def test_a_stream_is_destroyed_once() -> None:
    stream = gpulab.Stream()
    stream.destroy()
    stream.destroy()
    assert "destroyed" in repr(stream)
    with pytest.raises(gpulab.GpulabError, match="was destroyed"):
        stream.synchronize()
    gc.collect()
    count = len(dropped.pending)
    del stream
    gc.collect()
    assert len(dropped.pending) == count


@pytest.mark.full
def test_a_collection_within_an_allocation_leaves_the_table_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory of a module that was freed there had been given out a second time."""
    from gpulab.virtual_gpu import runtime
    from gpulab.virtual_gpu.machine import arena as machine

    arena = runtime.instance().arena
    place, calls = machine._place, [0]

    def collecting(start: int, room: int, align: int) -> int:
        calls[0] -= 1
        if calls[0] == 0:  # the last piece is looked at, and the best one is known
            gc.collect()
        return place(start, room, align)

    monkeypatch.setattr(machine, "_place", collecting)
    for number in range(8):
        arrays = [gpulab.empty(1000 + 300 * k) for k in range(12)]
        in_a_circle(module)
        arrays += [gpulab.empty(700 + 200 * k) for k in range(12)]
        for array in arrays[number % 2 :: 2]:
            array.free()
        dropped.release()
        calls[0] = len(arena._free)
        arrays.append(gpulab.empty(400 + 500 * number))
        assert calls[0] <= 0
        taken = [(each.address, each.address + each.size) for each in arena.allocations()]
        free = [(start, start + length) for start, length in arena._free]
        pieces = sorted(taken + free)
        assert all(end <= start for (_, end), (start, _) in itertools.pairwise(pieces))


def test_a_finalizer_of_a_learner_is_not_run_within_a_call() -> None:
    """It may call HIP, whose tables are half changed then; the collector would run it wherever something is made."""
    from hip import hip

    class Buffer:
        def __init__(self) -> None:
            self.me = self  # nothing but the collector ends it
            self.address = hip.hipMalloc(256)[1]

        def __del__(self) -> None:
            frame, names = sys._getframe(), set()
            while frame.f_back is not None:
                frame = frame.f_back
                names.add(frame.f_globals.get("__name__", ""))
            within.append(any(name.startswith("gpulab.virtual_gpu") for name in names))
            hip.hipFree(self.address)

    within: list[bool] = []
    gc.collect()
    threshold = gc.get_threshold()
    gc.set_threshold(5, 1, 1)
    try:
        for _ in range(200):
            Buffer()
    finally:
        gc.set_threshold(*threshold)
    gc.collect()
    assert len(within) == 200
    assert not any(within)
    assert gc.isenabled()


def test_the_collector_stays_as_it_was() -> None:
    gc.disable()
    try:
        gpulab.memory_info()
        gpulab.zeros(4)
        assert not gc.isenabled()
    finally:
        gc.enable()


class Noted:
    """A provider of streams and events that notes its calls; handles count from 1."""

    name = "noted"

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.made = itertools.count(1)

    def current(self) -> int:
        return 0

    def __getattr__(self, name: str) -> Any:
        if not name.startswith(("stream_", "event_")):
            raise AttributeError(name)

        def call(*words: Any) -> Any:
            self.calls.append((name, *words))
            return next(self.made) if name.endswith("_create") else 2.5

        return call


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> Noted:
    found: Any = Noted()
    given(monkeypatch, found)
    return found


def test_calls_of_streams_and_events(noted: Noted) -> None:
    """What is dropped goes before each new one; who leaves a block in order waits first."""
    stream = gpulab.Stream()
    assert (stream.handle, stream.device, repr(stream)) == (1, 0, "Stream(device=0)")
    start, stop = gpulab.Event(), gpulab.Event()
    for event, which in ((start, "the first"), (stop, "the second")):
        with pytest.raises(gpulab.GpulabError, match=f"^{which} event was never recorded"):
            stop.elapsed_ms(start)
        event.record(stream if event is start else None)
    assert stop.elapsed_ms(start) == 2.5
    stream.wait(stop)
    stop.synchronize()
    assert noted.calls == [
        ("stream_create",), ("event_create",), ("event_create",), ("event_record", 2, 1),
        ("event_synchronize", 2), ("event_record", 3, 0), ("event_synchronize", 2), ("event_synchronize", 3),
        ("event_elapsed_ms", 2, 3), ("stream_wait_event", 1, 3), ("event_synchronize", 3),
    ]  # fmt: skip
    noted.calls.clear()
    with stream as same:
        assert same is stream
    assert noted.calls == [("stream_synchronize", 1), ("stream_destroy", 1)]
    assert repr(stream) == "Stream(device=0, destroyed)"
    noted.calls.clear()
    with pytest.raises(ZeroDivisionError), gpulab.Stream():
        raise ZeroDivisionError
    assert noted.calls == [("stream_create",), ("stream_destroy", 4)], "it does not wait for work that may not end"
    noted.calls.clear()
    left: Any = gpulab.Stream()
    del start, stop, event, left
    gc.collect()
    assert noted.calls == [("stream_create",)]
    gpulab.Event()
    assert sorted(noted.calls[1:4]) == [("event_destroy", 2), ("event_destroy", 3), ("stream_destroy", 5)]
    assert noted.calls[4] == ("event_create",)
    gc.collect()
    gpulab.Stream()
    assert noted.calls[5:] == [("event_destroy", 6), ("stream_create",)]
    gc.collect()
    dropped.release()
    assert noted.calls[7:] == [("stream_destroy", 7)]


def test_at_the_end_of_the_process_nothing_is_to_be_done() -> None:
    class Owner:
        pass

    owner = Owner()
    found = dropped.later(owner, print, "gone")
    assert (found.atexit, found.alive) == (False, True)
    assert found.detach() is not None
