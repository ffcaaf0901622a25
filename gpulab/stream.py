"""Streams and events: a `Stream` orders work on a device, an `Event` marks a point in it; two of them measure time.

On a virtual device a kernel runs when it is launched; streams and events then order and measure modelled time.
"""

from __future__ import annotations

import operator
from types import TracebackType
from typing import Any

from gpulab import dropped, providers
from gpulab.errors import ArgumentError, GpulabError


def handle_of(stream: Any) -> int:
    """A stream as its library knows it: of a `Stream`, of hip-python's (or its number), 0 of None.

    Raises:
        ArgumentError: it is something else.
        GpulabError: the stream was destroyed.
    """
    if stream is None:
        return 0
    if isinstance(stream, Stream):
        return stream.handle
    try:
        foreign = type(stream).__name__ == "ihipStream_t"
        number = int(stream) if foreign else -1 if isinstance(stream, bool) else operator.index(stream)
    except TypeError:
        number = -1
    if number < 0 or 2 < number < 4096 or number >> 64:  # 0, 1 and 2 are HIP's own streams, others addresses
        raise ArgumentError(f"{stream!r} is no stream.", hint="make one with gpulab.Stream().")
    return number


class Stream:
    """Work given to one stream runs in order; different streams may overlap.

    Give it to a launch as the last part of ``kernel[grid, block, lds_bytes, stream]``. ``with Stream() as s:``
    waits for it at the end and destroys it.
    """

    def __init__(self) -> None:
        self.device = providers.current()
        self._provider = providers.selected()
        dropped.release()
        self._handle = self._provider.stream_create()
        self._close = dropped.later(self, self._provider.stream_destroy, self._handle)

    @property
    def handle(self) -> int:
        """The stream as its library knows it (HIP: hipStream_t), as a number.

        Raises:
            GpulabError: the stream was destroyed.
        """
        if not self._close.alive:
            raise GpulabError("this stream was destroyed.", hint="make a new one: gpulab.Stream().")
        return self._handle

    def wait(self, event: Event) -> None:
        """Let work that this stream gets from now on start after the event; the host does not wait."""
        self._provider.stream_wait_event(self.handle, _event(event)._handle)

    def synchronize(self) -> None:
        """Wait until all work given to this stream has finished."""
        self._provider.stream_synchronize(self.handle)

    def destroy(self) -> None:
        """Give the stream back; a second time does nothing."""
        if self._close.detach():
            self._provider.stream_destroy(self._handle)

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self.synchronize()
        self.destroy()

    def __repr__(self) -> str:
        return f"Stream(device={self.device}{'' if self._close.alive else ', destroyed'})"


class Event:
    """A mark in a stream. ``stop.elapsed_ms(start)`` is the time between two recorded marks in milliseconds."""

    def __init__(self) -> None:
        self._provider = providers.selected()
        dropped.release()
        self._handle = self._provider.event_create()
        dropped.later(self, self._provider.event_destroy, self._handle)
        self._recorded = False

    def record(self, stream: Stream | None = None) -> Event:
        """Put the mark behind all work given to the stream so far (the default stream if None)."""
        self._provider.event_record(self._handle, handle_of(stream))
        self._recorded = True
        return self

    def synchronize(self) -> None:
        """Wait until the stream has reached the mark."""
        self._provider.event_synchronize(self._handle)

    def elapsed_ms(self, start: Event) -> float:
        """Milliseconds from `start` to this event; waits for both.

        Raises:
            GpulabError: one of the two was never recorded.
        """
        for event, which in ((_event(start), "the first"), (self, "the second")):
            if not event._recorded:
                raise GpulabError(
                    f"{which} event was never recorded.",
                    why="an event measures nothing until it stands in a stream.",
                    hint="call event.record() before and after the launch.",
                )
            event.synchronize()
        return self._provider.event_elapsed_ms(start._handle, self._handle)

    def __repr__(self) -> str:
        return f"Event({'recorded' if self._recorded else 'not recorded'})"


def _event(value: Any) -> Event:
    if isinstance(value, Event):
        return value
    hint = "event = gpulab.Event().record(stream) marks a point in a stream." if isinstance(value, Stream) else ""
    raise ArgumentError(f"{value!r} is no event.", hint=hint or "make one with gpulab.Event().")
