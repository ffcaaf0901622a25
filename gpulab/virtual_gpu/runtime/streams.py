"""Streams and events by handle: `Streams`, `Event`. They order modelled device time, in microseconds.

Work runs when it is submitted, so a stream holds only the `Moment` at which everything in it is done. The null
stream waits for all blocking streams of its device, and they wait for it (HIP's legacy default stream). The host has
a moment as well: what it submits after it waited for something starts no earlier than that. All devices start at 0.

Listeners get a `Happening` for all that is put into a stream: what a profile's timeline is made of.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn, Protocol

from gpulab.virtual_gpu.runtime import codes
from gpulab.virtual_gpu.runtime.codes import Failure
from gpulab.virtual_gpu.runtime.context import Context
from gpulab.virtual_gpu.runtime.device import NON_BLOCKING, Device, Stream
from gpulab.virtual_gpu.runtime.moments import MOST_PENDING, Moment, Ran, latest

LEGACY, PER_THREAD = 1, 2  # hipStreamLegacy, hipStreamPerThread
LEAST_PRIORITY, GREATEST_PRIORITY = 1, -1
DISABLE_TIMING = 2
_NO_STREAM = "there is no such stream (was it destroyed, or the device reset?)"

Triple = tuple[int, int, int]

#: Modelled time of a copy beside its bytes: what starting one costs (an assumption).
COPY_LATENCY_US = 5.0


@dataclass(slots=True, eq=False)
class Happening:
    """What was put into a stream. `earlier` is what it waits for: the happening that recorded the event of a wait.

    `kind` is "kernel", "copy", "fill", "event" (recorded) or "wait" (for an event), as in `records.Activity`; `graph`
    is the number of the graph launch that it is a part of, or 0.
    """

    kind: str
    name: str
    device: int
    stream: int
    start: Moment
    end: Moment
    bytes: int = 0
    event: int = 0
    earlier: Happening | None = None
    graph: int = 0


class Capturing(Protocol):
    """What captures streams (`capture.Capture`), as those see it who put work into streams."""

    valid: bool

    @property
    def device(self) -> Device: ...
    def check(self) -> None: ...
    def refuse(self, reason: str, code: int = ...) -> NoReturn: ...
    def record(self, stream: Stream, event: Event, external: bool) -> None: ...
    def wait(self, stream: Stream, event: Event, external: bool) -> None: ...
    def leave(self, stream: Stream) -> None: ...
    def end(self) -> None: ...
    def launch(
        self, stream: Stream, function: object, grid: Triple, block: Triple, lds: int, kernarg: bytes,
        cooperative: bool, symbol: int,
    ) -> None: ...  # fmt: skip
    def copy(
        self, stream: Stream, target: int, target_pitch: int, target_rows: int, source: int, source_pitch: int,
        source_rows: int, extent: Triple, kind: int,
    ) -> None: ...  # fmt: skip
    def fill(
        self, stream: Stream, address: int, pattern: bytes, count: int, height: int, pitch: int, depth: int, slice_: int
    ) -> None: ...


@dataclass(frozen=True, slots=True)
class Fork:
    """A place in a capture: the graph's nodes that whoever waits for its event comes after."""

    capture: Capturing
    nodes: tuple[object, ...]


class Event:
    """One event; `time` is None until it is recorded, `happening` as well if nobody listened then.

    `fork` is the place in a capture at which it was recorded last, if the stream was being captured.
    """

    __slots__ = ("device", "flags", "fork", "handle", "happening", "time")

    def __init__(self, handle: int, device: Device, flags: int) -> None:
        self.handle, self.device, self.flags = handle, device, flags
        self.time: Moment | None = None
        self.happening: Happening | None = None
        self.fork: Fork | None = None


class _Thread(threading.local):
    """A thread's own stream of each device (hipStreamPerThread)."""

    def __init__(self) -> None:
        self.streams: dict[Device, Stream] = {}


class Streams:
    """All streams and events by handle."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._streams: dict[int, Stream] = {}
        self._events: dict[int, Event] = {}
        self._handles = itertools.count(0x5_0000_0010, 16)
        self._numbers = itertools.count(3)
        self.host = Moment()  # when the host goes on
        self._threads = _Thread()
        self._with_threads: set[Device] = set()
        self.capturing: list[Capturing] = []
        self.captured: dict[Stream, Capturing] = {}
        self.listeners: list[Callable[[Happening], None]] = []

    # Streams

    def create(self, flags: int, priority: int = 0) -> Stream:
        """A new stream on the current device; a priority outside the range is clamped to it."""
        if flags not in (0, NON_BLOCKING):
            raise Failure(codes.INVALID_VALUE)
        device = self._context.current
        priority = max(GREATEST_PRIORITY, min(LEAST_PRIORITY, priority))
        stream = Stream(next(self._handles), device, flags, priority, next(self._numbers))
        stream.last = device.null_stream.last if stream.blocking else Moment()
        self._streams[stream.handle] = stream
        device.streams.append(stream)
        return stream

    def find(self, handle: int, otherwise: int = codes.CONTEXT_IS_DESTROYED) -> Stream:
        """The stream of a handle; 0 is the current device's null stream.

        Raises:
            Failure: with code `otherwise` if there is no such stream.
        """
        if not handle or handle == LEGACY:
            return self._context.current.null_stream
        stream = self._streams.get(handle)
        if stream is not None:
            return stream
        if handle == PER_THREAD:
            return self._thread_stream(self._context.current)
        raise Failure(otherwise, _NO_STREAM)

    def _thread_stream(self, device: Device) -> Stream:
        """The calling thread's own stream of a device; the first thread that asks has the device's."""
        found = self._threads.streams.get(device)
        if found is None:
            with self._context.lock:
                if device in self._with_threads:
                    found = Stream(PER_THREAD, device, 0, 0, self.new_number())
                    device.streams.append(found)
                else:
                    found = device.thread_stream
                    self._with_threads.add(device)
            self._threads.streams[device] = found
        return found

    def destroy(self, handle: int) -> None:
        stream = self._streams.pop(handle, None)
        if stream is None:
            raise Failure(codes.INVALID_HANDLE, _NO_STREAM)
        stream.device.streams.remove(stream)
        if stream in self.captured:
            self.captured[stream].leave(stream)
        # What was in it still takes place: the null stream must not start before.
        if stream.blocking:
            stream.device.null_stream.last = latest(stream.device.null_stream.last, stream.last)

    def new_number(self) -> int:
        """A number that no stream has."""
        return next(self._numbers)

    def capture(self, stream: Stream) -> Capturing | None:
        """What captures a stream: work that is put into it becomes a node there, and does not run.

        Raises:
            Failure: hipErrorStreamCaptureInvalidated; hipErrorStreamCaptureImplicit: the default stream, which would
                wait for a captured one.
        """
        if not self.capturing:
            return None
        found = self.captured.get(stream)
        if found is not None:
            found.check()
        elif stream is stream.device.null_stream:
            self.check_default_stream(stream.device)
        return found

    def check_default_stream(self, device: Device) -> None:
        """Work of the default stream waits for the device's blocking streams: that cannot be if one is captured.

        Raises:
            Failure: hipErrorStreamCaptureImplicit; the captures are invalid then.
        """
        if any(stream.blocking and stream.device is device for stream in self.captured):
            self.invalidate_captures()
            raise Failure(
                codes.STREAM_CAPTURE_IMPLICIT,
                "the default stream would wait for a stream that is being captured; put the work into that stream",
            )

    def invalidate_captures(self) -> None:
        for capture in self.capturing:
            capture.valid = False

    def submit(
        self,
        stream: Stream,
        work: Ran | float,
        kind: str = "kernel",
        name: str = "",
        size: int = 0,
        engine: str = "",
    ) -> None:
        """Put work, a launch or so many microseconds, at the end of a stream.

        Args:
            kind, name, size: what listeners are told: see `Happening`; bytes of a copy or filling.
            engine: which of the device's copy engines does it ("in", "out"): one copy at a time, as submitted.

        Raises:
            Failure: hipErrorStreamCaptureUnsupported: the stream is being captured, and nobody made a node of it.
        """
        if stream in self.captured:
            self.captured[stream].refuse("this work cannot be captured")
        start = self.ready(stream)
        if engine:
            busy = stream.device.engines.get(engine)
            start = start if busy is None else latest(start, busy)
        stream.last = end = Moment((start,), work)
        if engine:
            stream.device.engines[engine] = end
        if self.listeners:
            self._tell(
                Happening(kind, name, stream.device.index, stream.number, start, end, size, graph=stream.in_graph)
            )

    def _forget(self) -> None:
        """Forget what was done, if that is much, the host has waited for all of it, and nobody can ask when any of it
        took place: no event is recorded, nobody listens, nothing is captured. Its times need not be modelled at all;
        time goes on from the last moment that is known."""
        if self.host.length < MOST_PENDING // 2 or self.listeners or self.capturing:
            return
        if any(event.time is not None for event in self._events.values()):
            return
        devices, before = self._context.devices, self.host.pending()
        for device in devices:
            for last in (device.null_stream.last, *(one.last for one in device.streams), *device.engines.values()):
                if last not in before and (last.length or last.floor > self.host.floor):
                    return
        self.host = now = Moment((), self.host.floor)
        for device in devices:
            for stream in (device.null_stream, *device.streams):
                stream.last = now
            device.engines.clear()

    def _tell(self, happening: Happening) -> Happening:
        for listener in self.listeners:
            listener(happening)
        return happening

    def ready(self, stream: Stream) -> Moment:
        """When work put into the stream now could start."""
        found, null = stream.last, stream.device.null_stream
        host = self.host
        if host is not found and (host.length or host.floor > found.floor):
            found = latest(found, host)
        if stream is not null:
            return latest(found, null.last) if stream.blocking else found
        return self._last(found, null.device, all_streams=False)

    @staticmethod
    def _last(found: Moment, device: Device, all_streams: bool) -> Moment:
        """The last of a moment and those of a device's streams (of all, or of the blocking ones)."""
        for stream in device.streams:
            last = stream.last
            if last is not found and (last.length or last.floor > found.floor) and (all_streams or stream.blocking):
                found = latest(found, last)
        return found

    # The host

    def wait_for(self, moment: Moment | None) -> None:
        """The host waits until then."""
        if moment is not None:
            self.host = latest(self.host, moment)
            self._forget()

    def wait_for_device(self, device: Device) -> None:
        """The host waits for all that a device has to do."""
        found, host = self._last(device.null_stream.last, device, all_streams=True), self.host
        if host is not found:
            self.host = latest(found, host) if host.length or host.floor > found.floor else found
            self._forget()

    # Events

    def create_event(self, flags: int) -> Event:
        # Blocking sync, disable timing, interprocess, disable system fence, release to device or system.
        if flags & ~(0x1 | 0x2 | 0x4 | 0x20000000 | 0x40000000 | 0x80000000):
            raise Failure(codes.INVALID_VALUE)
        event = Event(next(self._handles), self._context.current, flags)
        self._events[event.handle] = event
        return event

    def find_event(self, handle: int) -> Event:
        event = self._events.get(handle)
        if event is None:
            raise Failure(codes.INVALID_HANDLE, "there is no such event (was it destroyed, or the device reset?)")
        return event

    def destroy_event(self, handle: int) -> None:
        if self._events.pop(handle, None) is None:
            raise Failure(codes.INVALID_HANDLE)

    def record(self, event: Event, stream: Stream, external: bool = False) -> None:
        """Record an event.

        Args:
            external: (in a capture) a node records it when the graph runs; else it only marks a place of the capture.
        """
        if event.device is not stream.device:
            raise Failure(codes.INVALID_HANDLE, "the event and the stream belong to different devices")
        if (capture := self.capture(stream)) is not None:
            return capture.record(stream, event, external)
        event.fork = None
        event.time = stream.last = self.ready(stream)
        event.happening = None
        if self.listeners:
            event.happening = self._tell(
                Happening(
                    "event", "", stream.device.index, stream.number, event.time, event.time,
                    event=event.handle, graph=stream.in_graph,
                )
            )  # fmt: skip

    def wait_event(self, stream: Stream, event: Event, external: bool = False) -> None:
        """Later work of the stream starts after the event; one that was never recorded is done.

        An event that was recorded in a stream that is being captured takes this one into the capture.

        Args:
            external: (in a capture) a node waits for it when the graph runs.
        """
        if self.capturing:
            capture = self.capture(stream)
            if capture is None and event.fork is not None:
                capture = event.fork.capture
            if capture is not None:
                return capture.wait(stream, event, external)
        if event.time is None:
            return
        start = self.ready(stream)
        stream.last = latest(stream.last, event.time)
        if self.listeners:
            self._tell(
                Happening(
                    "wait", "", stream.device.index, stream.number, start, latest(start, event.time),
                    event=event.handle, earlier=event.happening, graph=stream.in_graph,
                )
            )  # fmt: skip

    def elapsed_ms(self, start: int, stop: int) -> float:
        """Milliseconds between two events (hipEventElapsedTime)."""
        first, last = self.find_event(start), self.find_event(stop)
        for event in (first, last):
            if event.fork is not None:
                raise Failure(codes.CAPTURED_EVENT, "the event marks a place in a capture: it has no time")
        if first.flags & DISABLE_TIMING or last.flags & DISABLE_TIMING or first.time is None or last.time is None:
            raise Failure(codes.INVALID_HANDLE)
        if first.device is not last.device:
            raise Failure(codes.INVALID_HANDLE)
        return (last.time.us - first.time.us) / 1000.0

    def reset(self, device: Device) -> None:
        """Forget the streams and events of a device."""
        for capture in [one for one in self.capturing if one.device is device]:
            capture.end()
        for handle, stream in list(self._streams.items()):
            if stream.device is device:
                del self._streams[handle]
                device.streams.remove(stream)
        for handle, event in list(self._events.items()):
            if event.device is device:
                del self._events[handle]
        for stream in (device.null_stream, *device.streams):  # those of threads are left
            stream.last = Moment()
        device.engines.clear()
