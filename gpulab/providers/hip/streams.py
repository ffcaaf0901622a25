"""Streams and events of a HIP library."""

from __future__ import annotations

from gpulab.providers.hip.calls import Calls


class Streams(Calls):
    """The calls for streams and events."""

    def stream_create(self) -> int:
        return self._call("hipStreamCreateWithFlags", 0)[0]

    def stream_destroy(self, stream: int) -> None:
        self._call("hipStreamDestroy", stream)

    def stream_synchronize(self, stream: int) -> None:
        self._call("hipStreamSynchronize", stream)

    def stream_wait_event(self, stream: int, event: int) -> None:
        self._call("hipStreamWaitEvent", stream, event, 0)

    def event_create(self) -> int:
        return self._call("hipEventCreate")[0]

    def event_destroy(self, event: int) -> None:
        self._call("hipEventDestroy", event)

    def event_record(self, event: int, stream: int = 0) -> None:
        self._call("hipEventRecord", event, stream)

    def event_synchronize(self, event: int) -> None:
        self._call("hipEventSynchronize", event)

    def event_elapsed_ms(self, start: int, stop: int) -> float:
        code, milliseconds = self.binding.elapsed(start, stop)
        if code:
            self.fail(code, "hipEventElapsedTime")
        return milliseconds
