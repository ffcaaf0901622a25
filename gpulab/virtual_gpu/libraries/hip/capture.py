"""HIP's calls on capturing streams into graphs, and `around`: which other calls are refused while one is captured.

Sources: HIP documentation, "HIP graphs", and its reference of the graph calls; for the codes of calls that are not
allowed, ROCm/rocm-systems, projects/clr/hipamd/src/hip_internal.hpp.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence

from gpulab.virtual_gpu.libraries.library import Call
from gpulab.virtual_gpu.libraries.values import get32, get64, need, put32, put64, rt
from gpulab.virtual_gpu.runtime import codes
from gpulab.virtual_gpu.runtime.capture import ACTIVE, INVALIDATED, NONE
from gpulab.virtual_gpu.runtime.codes import Failure
from gpulab.virtual_gpu.runtime.device import Stream
from gpulab.virtual_gpu.runtime.graphs import Node

_streams, _graphs, _captures = rt.streams, rt.graphs, rt.captures

#: Calls that may wait for streams: refused unless the thread's mode is relaxed.
_UNSAFE = re.compile(
    "hip(Malloc|ExtMallocWithFlags|HostMalloc|HostAlloc|MallocHost|MemAllocHost|MallocManaged|MallocPitch|MemAllocPitch"
    "|Malloc3D|MallocArray|Malloc3DArray|ArrayCreate|Array3DCreate|ArrayDestroy|FreeArray|Free|HostFree|FreeHost|ModuleUnload"
    "|MemPoolExportPointer)$"
)
#: Calls that go through the default stream and are waited for.
_SYNCHRONOUS = re.compile("hip(Drv)?Mem(cpy|set)(?!.*Async)")
#: Calls that wait for a device.
_WAITING = ("hipDeviceSynchronize", "hipCtxSynchronize")


def around(name: str, call: Call) -> Call:
    """The Python function behind a C function, with a check before it if it is not allowed during a capture."""
    check: Callable[[], None]
    plain = name.removesuffix("_spt")
    if plain in _WAITING:
        check = _captures.forbid_waiting
    elif _UNSAFE.match(plain):
        check = _captures.forbid_unsafe
    elif _SYNCHRONOUS.match(plain):
        check = _captures.forbid_synchronous
    else:
        return call
    capturing = _streams.capturing

    @functools.wraps(call)
    def checked(*arguments: float) -> int:
        if capturing:
            try:
                check()
            except Failure:
                _captures.blame(name)
                raise
        return call(*arguments)

    return checked


def nodes(addresses: int, count: int) -> Sequence[Node]:
    """The nodes whose handles stand in an array.

    Raises:
        Failure: hipErrorInvalidValue: there is no array, or a handle of no node.
    """
    if count and not addresses:
        raise Failure(codes.INVALID_VALUE)
    return [_graphs.node(get64(addresses + 8 * place)) for place in range(count)]


def _captured(stream: int) -> Stream:
    """A stream that is asked whether it is captured."""
    found = _streams.find(stream)
    if _streams.capturing and found is found.device.null_stream:
        _streams.check_default_stream(found.device)
    return found


def _status(stream: Stream) -> int:
    capture = _captures.state(stream)
    return NONE if capture is None else ACTIVE if capture.valid else INVALIDATED


def hipStreamBeginCapture(stream: int, mode: int) -> int:
    _captures.begin(_streams.find(stream), mode)
    return 0


def hipStreamBeginCaptureToGraph(stream: int, graph: int, dependencies: int, edges: int, count: int, mode: int) -> int:
    into = _graphs.graph(graph)
    if edges:
        raise Failure(codes.NOT_SUPPORTED, "data of edges (dependencyData) is not supported by HIP: it has to be NULL")
    if bool(dependencies) != bool(count):
        return codes.INVALID_VALUE
    _captures.begin(_streams.find(stream), mode, into, nodes(dependencies, count))
    return 0


def hipStreamEndCapture(stream: int, graph: int) -> int:
    need(graph)
    put64(graph, 0)
    put64(graph, _captures.end(_streams.find(stream)).handle)
    return 0


def hipStreamIsCapturing(stream: int, status: int) -> int:
    need(status)
    put32(status, _status(_captured(stream)))
    return 0


def hipStreamGetCaptureInfo(stream: int, status: int, number: int) -> int:
    need(status)
    found = _captured(stream)
    put32(status, _status(found))
    capture = _captures.state(found)
    if number and capture is not None and capture.valid:
        put64(number, capture.number)
    return 0


def hipStreamGetCaptureInfo_v2(stream: int, status: int, number: int, graph: int, dependencies: int, count: int) -> int:
    code = hipStreamGetCaptureInfo(stream, status, number)
    found = _streams.find(stream)
    capture = _captures.state(found)
    if code or capture is None or not capture.valid:
        return code
    if graph:
        put64(graph, capture.graph.handle)
    if dependencies:
        put64(dependencies, capture.shown(found))
    if count:
        put64(count, len(capture.last[found]))
    return 0


def hipStreamUpdateCaptureDependencies(stream: int, dependencies: int, count: int, flags: int) -> int:
    found = _streams.find(stream)
    capture = _captures.state(found)
    if capture is None:
        return codes.ILLEGAL_STATE
    capture.check()
    if flags not in (0, 1):  # hipStreamAddCaptureDependencies, hipStreamSetCaptureDependencies
        return codes.INVALID_VALUE
    given = nodes(dependencies, count)
    if any(node.graph is not capture.graph for node in given):
        return codes.INVALID_VALUE
    capture.set_last(found, list(given), replace=flags == 1)
    return 0


def hipThreadExchangeStreamCaptureMode(mode: int) -> int:
    need(mode)
    put32(mode, _captures.exchange_mode(get32(mode)))
    return 0
