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
