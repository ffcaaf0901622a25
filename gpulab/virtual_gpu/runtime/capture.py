"""Capturing streams into graphs (hipStreamBeginCapture); `Captures` begins and ends them, a `Capture` is one of them.

Work that is put into a captured stream becomes a node that depends on the stream's last nodes. An event that is
recorded in it marks those nodes (`Fork`); a stream that waits for the event joins the capture, and continues from them.
In the end all must have been joined to the stream that the capture began in.
"""

from __future__ import annotations

import ctypes
import itertools
import threading
from collections.abc import Callable, Sequence
from typing import NoReturn

from gpulab.virtual_gpu.runtime import codes
from gpulab.virtual_gpu.runtime.codes import Failure
from gpulab.virtual_gpu.runtime.context import Context
from gpulab.virtual_gpu.runtime.device import Device, Stream
from gpulab.virtual_gpu.runtime.graph_works import (
    AllocateWork,
    CopyWork,
    EventWork,
    FillWork,
    FreeWork,
    HostWork,
    KernelWork,
    WaitWork,
    Work,
)
from gpulab.virtual_gpu.runtime.graphs import ChildWork, Executable, Graph, Graphs, Node
from gpulab.virtual_gpu.runtime.modules import Function, Triple
from gpulab.virtual_gpu.runtime.streams import Event, Fork, Streams

GLOBAL, THREAD_LOCAL, RELAXED = range(3)  # hipStreamCaptureMode
NONE, ACTIVE, INVALIDATED = range(3)  # hipStreamCaptureStatus


class Capture:
    """One capture: into which graph, and for each of its streams the nodes that its next one comes after."""

    def __init__(self, captures: Captures, number: int, stream: Stream, graph: Graph, mode: int) -> None:
        self._captures, self.number, self.origin, self.graph, self.mode = captures, number, stream, graph, mode
        self.thread = threading.get_ident()
        self.valid = True
        self.spoiled_by = "an earlier call"  # what made it invalid
        self.last: dict[Stream, list[Node]] = {}
        self._dropped: set[Node] = set()  # taken from a stream's last nodes by hipStreamUpdateCaptureDependencies
        self._events: list[Event] = []
        self._shown: ctypes.Array[ctypes.c_uint64] | None = None
        self.join(stream, ())

    @property
    def device(self) -> Device:
        return self.origin.device

    def check(self) -> None:
        """
        Raises:
            Failure: hipErrorStreamCaptureInvalidated.
        """
        if not self.valid:
            raise Failure(
                codes.STREAM_CAPTURE_INVALIDATED,
                f"{self.spoiled_by} made the capture invalid; end it, and begin again",
            )

    def refuse(self, reason: str, code: int = codes.STREAM_CAPTURE_UNSUPPORTED) -> NoReturn:
        """The capture becomes invalid.

        Raises:
            Failure: always.
        """
        self.valid = False
        raise Failure(code, f"a stream is being captured: {reason}")

    # Streams

    def join(self, stream: Stream, nodes: Sequence[Node]) -> None:
        """A stream belongs to the capture, or waits for more nodes."""
        self._captures.streams.captured[stream] = self
        last = self.last.setdefault(stream, [])
        last += [node for node in nodes if node not in last]

    def leave(self, stream: Stream) -> None:
        """A stream was destroyed."""
        self._captures.streams.captured.pop(stream, None)
        if stream is self.origin:
            self.end()
        else:
            self.last.pop(stream, None)

    def set_last(self, stream: Stream, nodes: list[Node], replace: bool) -> None:
        """hipStreamUpdateCaptureDependencies."""
        if replace:
            self._dropped.update(self.last[stream])
            self.last[stream] = nodes
        else:
            self.join(stream, nodes)

    def shown(self, stream: Stream) -> int:
        """Address of the handles of a stream's last nodes, good until somebody asks again."""
        last = self.last[stream]
        self._shown = (ctypes.c_uint64 * max(len(last), 1))(*(node.handle for node in last))
        return ctypes.addressof(self._shown)

    def unjoined(self) -> list[Node]:
        """Nodes that nothing of the stream in which the capture began comes after."""
        known = {*self.last[self.origin], *self._dropped, *self.graph.by_hand}
        return [node for node in self.graph.leaves() if node not in known]

    def end(self) -> None:
        """All streams and events are as before."""
        for stream in self.last:
            self._captures.streams.captured.pop(stream, None)
        for event in self._events:
            if event.fork is not None and event.fork.capture is self:
                event.fork = None
        self.graph.by_hand.clear()
        if self in self._captures.streams.capturing:
            self._captures.streams.capturing.remove(self)

    # Events

    def record(self, stream: Stream, event: Event, external: bool) -> None:
        if external:
            self.add(stream, EventWork(event.handle))
            return
        event.fork = Fork(self, tuple(self.last[stream]))
        self._events.append(event)

    def wait(self, stream: Stream, event: Event, external: bool) -> None:
        """A stream waits for an event; the stream or the event belongs to this capture.

        Raises:
            Failure: hipErrorStreamCaptureIsolation, hipErrorStreamCaptureMerge, hipErrorStreamCaptureImplicit.
        """
        if external and stream in self.last:
            self.add(stream, WaitWork(event.handle))
            return
        fork = event.fork
        if fork is None:
            raise Failure(
                codes.STREAM_CAPTURE_ISOLATION,
                "a captured stream waits for an event that was recorded outside of the capture",
            )
        if fork.capture is not self:
            raise Failure(codes.STREAM_CAPTURE_MERGE, "the event belongs to another capture than the stream")
        fork.capture.check()
        if stream is stream.device.null_stream:
            self.refuse("the default stream cannot be captured", codes.STREAM_CAPTURE_IMPLICIT)
        self.join(stream, [node for node in fork.nodes if isinstance(node, Node)])

    # Work

    def add(self, stream: Stream, work: Work) -> Node:
        """A node at the end of a stream."""
        self.check()
        node = self._captures.graphs.add(self.graph, work, self.last[stream])
        self.last[stream] = [node]
        return node

    def launch(
        self,
        stream: Stream,
        function: object,
        grid: Triple,
        block: Triple,
        lds: int,
        kernarg: bytes,
        cooperative: bool,
        symbol: int,
    ) -> None:
        assert isinstance(function, Function)
        self.add(
            stream,
            KernelWork(symbol or function.handle, function, grid, block, lds, kernarg, cooperative, stream.priority),
        )

    def copy(
        self,
        stream: Stream,
        target: int,
        target_pitch: int,
        target_rows: int,
        source: int,
        source_pitch: int,
        source_rows: int,
        extent: Triple,
        kind: int,
    ) -> None:
        """A copy, as `CopyWork.of_rows` has it."""
        self.add(
            stream,
            CopyWork.of_rows(target, target_pitch, target_rows, source, source_pitch, source_rows, extent, kind),
        )

    def fill(
        self, stream: Stream, address: int, pattern: bytes, count: int, height: int, pitch: int, depth: int, slice_: int
    ) -> None:
        value = int.from_bytes(pattern, "little")
        self.add(stream, FillWork(address, len(pattern), value, count, height, pitch, depth, slice_))

    def call(self, stream: Stream, function: int, data: int, callback: Callable[[], None] | None = None) -> None:
        self.add(stream, HostWork(function, data, callback))

    def allocate(self, stream: Stream, size: int, device: Device, parameters: bytes) -> int:
        """An allocation; its address."""
        memory = self._captures.graphs.allocate(size, device)
        self.add(stream, AllocateWork(memory, parameters))
        return memory.block.address

    def free(self, stream: Stream, address: int) -> None:
        """
        Raises:
            Failure: hipErrorInvalidValue: no node of a graph allocated it, or a node frees it already.
        """
        memory = self._captures.graphs.graph_memory(address)
        if memory is None or memory.has_free_node:
            raise Failure(codes.INVALID_VALUE, "a captured stream can free what a node of a graph allocates, once")
        memory.has_free_node = True
        self.add(stream, FreeWork(memory))

    def launch_graph(self, stream: Stream, executable: Executable) -> None:
        self.add(stream, ChildWork(self._captures.graphs.clone(executable.graph, is_child=True)))


class _Thread(threading.local):
    def __init__(self) -> None:
        self.mode = GLOBAL


class Captures:
    """Begins and ends captures, and knows which calls are not allowed meanwhile."""

    def __init__(self, context: Context, streams: Streams, graphs: Graphs) -> None:
        self._context = context
        self.streams, self.graphs = streams, graphs
        self._numbers = itertools.count(1)
        self._thread = _Thread()

    def exchange_mode(self, mode: int) -> int:
        """Set the calling thread's mode; the one before."""
        if not GLOBAL <= mode <= RELAXED:
            raise Failure(codes.INVALID_VALUE)
        before, self._thread.mode = self._thread.mode, mode
        return before

    def begin(self, stream: Stream, mode: int, graph: Graph | None = None, after: Sequence[Node] = ()) -> None:
        """Begin to capture a stream.

        Args:
            graph: where to; None: a new one. after: nodes of it that the stream's first node comes after.

        Raises:
            Failure: hipErrorStreamCaptureUnsupported (the default stream), hipErrorIllegalState (captured already).
        """
        if stream is stream.device.null_stream:
            raise Failure(codes.STREAM_CAPTURE_UNSUPPORTED, "the default stream cannot be captured: make a stream")
        if not GLOBAL <= mode <= RELAXED:
            raise Failure(codes.INVALID_VALUE)
        if stream in self.streams.captured:
            raise Failure(codes.ILLEGAL_STATE, "the stream is being captured already")
        if any(node.graph is not graph for node in after):
            raise Failure(codes.INVALID_VALUE)
        into = graph or self.graphs.create(stream.device)
        into.by_hand.update(into.nodes)
        capture = Capture(self, next(self._numbers), stream, into, mode)
        capture.join(stream, after)
        self.streams.capturing.append(capture)

    def end(self, stream: Stream) -> Graph:
        """End a capture.

        Raises:
            Failure: hipErrorIllegalState (nothing is captured), hipErrorStreamCaptureUnmatched (it began in another
                stream), hipErrorStreamCaptureWrongThread, hipErrorStreamCaptureInvalidated,
                hipErrorStreamCaptureUnjoined.
        """
        capture = self.state(stream)
        if capture is None:
            raise Failure(codes.ILLEGAL_STATE, "the stream is not being captured")
        if capture.origin is not stream:
            raise Failure(codes.STREAM_CAPTURE_UNMATCHED, "the capture began in another stream: end it there")
        if capture.mode != RELAXED and capture.thread != threading.get_ident():
            raise Failure(codes.STREAM_CAPTURE_WRONG_THREAD)
        left = capture.unjoined() if capture.valid else []
        try:
            capture.check()
            if left:
                raise Failure(
                    codes.STREAM_CAPTURE_UNJOINED,
                    f"{len(left)} last node(s) of other streams were not joined to the stream that the capture began "
                    "in: record an event there, and let that stream wait for it",
                )
        except Failure:
            capture.end()
            self.graphs.destroy(capture.graph)
            raise
        capture.end()
        return capture.graph

    def state(self, stream: Stream) -> Capture | None:
        """The capture that a stream belongs to, valid or not."""
        found = self.streams.captured.get(stream)
        return found if isinstance(found, Capture) else None

    def is_captured_into(self, graph: Graph) -> bool:
        return any(isinstance(one, Capture) and one.graph is graph for one in self.streams.capturing)

    def of(self, stream: Stream) -> Capture | None:
        """The capture that work of a stream goes into.

        Raises:
            Failure: as `Streams.capture`.
        """
        found = self.streams.capture(stream)
        return found if isinstance(found, Capture) else None

    # What is not allowed meanwhile

    def blame(self, call: str) -> None:
        """The captures that are invalid now became so by this call, unless another one did it before."""
        for one in self.streams.capturing:
            if isinstance(one, Capture) and not one.valid and one.spoiled_by == "an earlier call":
                one.spoiled_by = call

    def forbid_unsafe(self) -> None:
        """Before a call that may wait for streams, such as hipMalloc.

        Raises:
            Failure: hipErrorStreamCaptureUnsupported, unless this thread's mode is relaxed: it captures, or another one
                does in global mode.
        """
        mode, here = self._thread.mode, threading.get_ident()
        if mode == RELAXED:
            return
        hit = [
            one
            for one in self.streams.capturing
            if isinstance(one, Capture)
            and ((one.mode != RELAXED and one.thread == here) or (one.mode == GLOBAL and mode == GLOBAL))
        ]
        if hit:
            for one in hit:
                one.valid = False
            raise Failure(
                codes.STREAM_CAPTURE_UNSUPPORTED,
                "a stream is being captured, and this call may wait for it: call it before, or capture in relaxed mode",
            )

    def forbid_synchronous(self) -> None:
        """Before a call that goes through the default stream and is waited for, such as hipMemcpy.

        Raises:
            Failure: hipErrorStreamCaptureImplicit, if anything is captured.
        """
        if self.streams.capturing:
            self.streams.invalidate_captures()
            raise Failure(
                codes.STREAM_CAPTURE_IMPLICIT,
                "a stream is being captured, and this call goes through the default stream: use the asynchronous one "
                "with the captured stream",
            )

    def forbid_waiting(self) -> None:
        """Before a call that waits for a device.

        Raises:
            Failure: hipErrorStreamCaptureUnsupported, if anything is captured.
        """
        if self.streams.capturing:
            self.streams.invalidate_captures()
            raise Failure(
                codes.STREAM_CAPTURE_UNSUPPORTED,
                "a stream is being captured: what it gets does not run before a launch",
            )

    def forbid_waiting_for(self, stream: Stream) -> None:
        """Before a call that waits for, or asks about, a stream.

        Raises:
            Failure: hipErrorStreamCaptureUnsupported, hipErrorStreamCaptureImplicit.
        """
        if stream in self.streams.captured:
            self.streams.captured[stream].refuse("what it gets does not run before the graph is launched")
        if self.streams.capturing and stream is stream.device.null_stream:
            self.streams.check_default_stream(stream.device)

    def forbid_waiting_for_event(self, event: Event) -> None:
        """
        Raises:
            Failure: hipErrorCapturedEvent: it marks a place in a capture.
        """
        if event.fork is not None:
            event.fork.capture.refuse("the event marks a place in it, which is not reached", codes.CAPTURED_EVENT)
