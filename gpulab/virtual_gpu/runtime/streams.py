"""Streams and events: `Stream`, `Event`, `Streams`. They order modelled device time, in microseconds.

Work runs when it is submitted, so a stream holds only the time at which everything in it is done. The null
stream waits for all blocking streams of its device, and they wait for it (HIP's legacy default stream).
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from gpulab.virtual_gpu.runtime import codes
from gpulab.virtual_gpu.runtime.codes import Failure

if TYPE_CHECKING:
    from gpulab.virtual_gpu.runtime.core import Device, Runtime

NON_BLOCKING = 1
LEGACY, PER_THREAD = 1, 2  # hipStreamLegacy, hipStreamPerThread
LEAST_PRIORITY, GREATEST_PRIORITY = 1, -1
DISABLE_TIMING = 2

#: Modelled time of a copy beside its bytes: what starting one costs (an assumption).
COPY_LATENCY_US = 5.0


class Stream:
    """One stream: `time` is when its last work is done."""

    __slots__ = ("blocking", "device", "flags", "handle", "number", "priority", "time")

    def __init__(self, handle: int, device: Device, flags: int, priority: int, number: int) -> None:
        self.handle, self.device, self.flags = handle, device, flags
        self.priority, self.number = priority, number
        self.blocking = not flags & NON_BLOCKING
        self.time = 0.0


class Event:
    """One event; `time` is None until it is recorded."""

    __slots__ = ("device", "flags", "handle", "time")

    def __init__(self, handle: int, device: Device, flags: int) -> None:
        self.handle, self.device, self.flags = handle, device, flags
        self.time: float | None = None


class Streams:
    """All streams and events by handle."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._streams: dict[int, Stream] = {}
        self._events: dict[int, Event] = {}
        self._handles = itertools.count(0x5_0000_0010, 16)
        self._numbers = itertools.count(3)

    # Streams

    def create(self, flags: int, priority: int = 0) -> Stream:
        """A new stream on the current device; a priority outside the range is clamped to it."""
        if flags not in (0, NON_BLOCKING):
            raise Failure(codes.INVALID_VALUE)
        device = self._runtime.current
        priority = max(GREATEST_PRIORITY, min(LEAST_PRIORITY, priority))
        stream = Stream(next(self._handles), device, flags, priority, next(self._numbers))
        stream.time = device.null_stream.time if stream.blocking else 0.0
        self._streams[stream.handle] = stream
        device.streams.append(stream)
        return stream

    def find(self, handle: int, otherwise: int = codes.CONTEXT_IS_DESTROYED) -> Stream:
        """The stream of a handle; 0 is the current device's null stream.

        Raises:
            Failure: with code `otherwise` if there is no such stream.
        """
        if not handle or handle == LEGACY:
            return self._runtime.current.null_stream
        stream = self._streams.get(handle)
        if stream is not None:
            return stream
        if handle == PER_THREAD:
            return self._runtime.current.thread_stream
        raise Failure(otherwise)

    def destroy(self, handle: int) -> None:
        stream = self._streams.pop(handle, None)
        if stream is None:
            raise Failure(codes.INVALID_HANDLE)
        stream.device.streams.remove(stream)
        # What was in it still takes place: the null stream must not start before.
        if stream.blocking:
            stream.device.null_stream.time = max(stream.device.null_stream.time, stream.time)

    def submit(self, stream: Stream, microseconds: float) -> None:
        """Put work that takes this long on the device at the end of a stream."""
        stream.time = self.ready(stream) + microseconds

    def ready(self, stream: Stream) -> float:
        """When work put into the stream now could start."""
        null = stream.device.null_stream
        if stream is null:
            return max([null.time, *(other.time for other in stream.device.streams if other.blocking)])
        return max(stream.time, null.time) if stream.blocking else stream.time

    # Events

    def create_event(self, flags: int) -> Event:
        # Blocking sync, disable timing, interprocess, disable system fence, release to device or system.
        if flags & ~(0x1 | 0x2 | 0x4 | 0x20000000 | 0x40000000 | 0x80000000):
            raise Failure(codes.INVALID_VALUE)
        event = Event(next(self._handles), self._runtime.current, flags)
        self._events[event.handle] = event
        return event

    def find_event(self, handle: int) -> Event:
        event = self._events.get(handle)
        if event is None:
            raise Failure(codes.INVALID_HANDLE)
        return event

    def destroy_event(self, handle: int) -> None:
        if self._events.pop(handle, None) is None:
            raise Failure(codes.INVALID_HANDLE)

    def record(self, event: Event, stream: Stream) -> None:
        if event.device is not stream.device:
            raise Failure(codes.INVALID_HANDLE, "the event and the stream belong to different devices")
        event.time = self.ready(stream)
        stream.time = max(stream.time, event.time)

    def wait_event(self, stream: Stream, event: Event) -> None:
        """Later work of the stream starts after the event; one that was never recorded is done."""
        if event.time is not None:
            stream.time = max(stream.time, event.time)

    def elapsed_ms(self, start: int, stop: int) -> float:
        """Milliseconds between two events (hipEventElapsedTime)."""
        first, last = self.find_event(start), self.find_event(stop)
        if first.flags & DISABLE_TIMING or last.flags & DISABLE_TIMING or first.time is None or last.time is None:
            raise Failure(codes.INVALID_HANDLE)
        if first.device is not last.device:
            raise Failure(codes.INVALID_HANDLE)
        return (last.time - first.time) / 1000.0

    def reset(self, device: Device) -> None:
        """Forget the streams and events of a device."""
        for handle, stream in list(self._streams.items()):
            if stream.device is device:
                del self._streams[handle]
                device.streams.remove(stream)
        for handle, event in list(self._events.items()):
            if event.device is device:
                del self._events[handle]
        device.null_stream.time = device.thread_stream.time = 0.0
