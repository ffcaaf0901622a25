"""Streams that are captured into graphs, and which calls are not allowed meanwhile, with HIP's codes.

HIP documentation, "HIP graphs"; the codes are those of hip_runtime_api.h: 900 not supported during a capture,
901 invalid, 902 two captures, 903 another stream, 904 not joined, 905 from outside, 906 the default stream, 907 an
event in a capture, 908 another thread.
"""

import ctypes
import threading

import numpy as np
import pytest

from gpulab.virtual_gpu import runtime
from tests.hip.test_graphs import Builder, handles, read, saxpy_arguments

GLOBAL, THREAD_LOCAL, RELAXED = range(3)
BLOCKING, NON_BLOCKING = 0, 1


@pytest.fixture
def streams(call):
    made = [call.address("hipStreamCreateWithFlags", NON_BLOCKING) for _ in range(3)]
    yield made
    for stream in made:
        call.hipStreamDestroy(stream)


@pytest.fixture
def events(call):
    made = [call.address("hipEventCreate") for _ in range(3)]
    yield made
    for event in made:
        call.hipEventDestroy(event)


@pytest.fixture
def vectors(hip, call):
    host = np.arange(1000, dtype=np.float32)
    made = [call.address("hipMalloc", 4000) for _ in range(2)]
    for pointer, values in zip(made, (host, np.ones_like(host)), strict=True):
        assert call.hipMemcpy(pointer, values.ctypes.data, 4000, 1) == 0
    yield made
    for pointer in made:
        assert call.hipFree(pointer) == 0


@pytest.fixture
def launch(call, kernels):
    def launch(stream, a, x, y):
        arguments = saxpy_arguments(1000, a, x, y)
        addresses = (ctypes.c_void_p * 4)(*(ctypes.addressof(one) for one in arguments))
        return call.hipModuleLaunchKernel(int(kernels("saxpy")), 4, 1, 1, 256, 1, 1, 0, stream, addresses, None)

    return launch


def status(call, stream):
    return call.number("hipStreamIsCapturing", stream, first=False)


def end(call, stream):
    return call.number("hipStreamEndCapture", stream, kind=ctypes.c_uint64, first=False)


def ended(call, stream):
    """The code of the end of a capture."""
    return call.hipStreamEndCapture(stream, ctypes.byref(ctypes.c_uint64()))


def test_what_is_captured_does_not_run_before_the_launch(hip, call, launch, streams, vectors):
    x, y = vectors
    stream, seen = streams[0], []
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(seen.append)
    assert call.hipStreamBeginCapture(stream, GLOBAL) == 0
    assert status(call, stream) == 1
    assert call.hipStreamBeginCapture(stream, GLOBAL) == 401  # hipErrorIllegalState
    assert launch(stream, 2.0, x, y) == 0
    assert call.hipMemsetAsync(x, 0, 400, stream) == 0
    assert call.hipMemcpyAsync(y, x, 400, 3, stream) == 0
    assert call.hipMemcpy2DAsync(y + 2000, 40, x + 2000, 80, 20, 3, 3, stream) == 0
    assert call.hipLaunchHostFunc(stream, function, 5) == 0
    assert call.hipStreamWriteValue32(stream, y + 3996, 0, 0) == 0
    graph = end(call, stream)
    assert status(call, stream) == 0
    assert seen == []
    assert (read(hip, y) == 1).all()
    nodes = handles(call, "hipGraphGetNodes", graph)
    assert [call.number("hipGraphNodeGetType", node, first=False) for node in nodes] == [0, 2, 1, 1, 3, 14]
    assert [handles(call, "hipGraphNodeGetDependencies", node) for node in nodes] == [[]] + [[n] for n in nodes[:-1]]
    executable = call.address("hipGraphInstantiate", graph, None, None, 0)
    assert call.hipGraphDestroy(graph) == 0  # the executable does not need it
    assert call.hipGraphLaunch(executable, stream) == call.hipStreamSynchronize(stream) == 0
    index = np.arange(1000, dtype=np.float32)
    expected = 1 + 2 * index
    expected[:100] = expected[999] = 0
    for row in range(3):
        expected[500 + 10 * row :][:5] = index[500 + 20 * row :][:5]
    np.testing.assert_array_equal(read(hip, y), expected)
    assert seen == [5]
    assert call.hipGraphExecDestroy(executable) == 0


def test_forks_and_joins_over_events(hip, call, launch, streams, events, vectors):
    """A diamond: what waits for an event of a captured stream belongs to the capture."""
    x, y = vectors
    one, two, other = streams
    assert call.hipStreamBeginCapture(one, GLOBAL) == 0
    assert launch(one, 1.0, x, y) == 0
    assert call.hipEventRecord(events[0], one) == call.hipStreamWaitEvent(two, events[0], 0) == 0
    assert [status(call, each) for each in streams] == [1, 1, 0]
    assert launch(one, 1.0, x, y) == launch(two, 1.0, x, y) == 0
    assert call.hipEventRecord(events[1], two) == call.hipStreamWaitEvent(one, events[1], 0) == 0
    assert launch(one, 1.0, x, y) == 0
    assert ended(call, two) == 903
    assert launch(other, 10.0, x, y) == 0  # not captured: it runs
    graph = end(call, one)
    assert [status(call, each) for each in streams] == [0, 0, 0]
    a, b, c, d = handles(call, "hipGraphGetNodes", graph)
    assert [handles(call, "hipGraphNodeGetDependencies", node) for node in (a, b, c, d)] == [[], [a], [a], [b, c]]
    executable = call.address("hipGraphInstantiate", graph, None, None, 0)
    assert call.hipGraphLaunch(executable, one) == call.hipStreamSynchronize(one) == 0
    np.testing.assert_array_equal(read(hip, y), 1 + 14 * np.arange(1000, dtype=np.float32))
    assert call.hipEventQuery(events[1]) == 0  # its capture is over


def test_what_was_not_joined(call, launch, streams, events, vectors):
    one, two, _ = streams
    assert call.hipStreamBeginCapture(one, GLOBAL) == 0
    assert call.hipEventRecord(events[0], one) == call.hipStreamWaitEvent(two, events[0], 0) == 0
    assert launch(two, 1.0, *vectors) == launch(one, 1.0, *vectors) == 0
    assert ended(call, one) == 904
    assert "not joined" in str(runtime.instance().take_exception())
    assert [status(call, each) for each in streams] == [0, 0, 0]
    assert ended(call, one) == 401


def test_events_of_other_captures_and_of_none(call, launch, streams, events, vectors):
    one, two, _ = streams
    assert call.hipEventRecord(events[0], two) == 0
    assert call.hipStreamBeginCapture(one, GLOBAL) == 0
    assert call.hipStreamWaitEvent(one, events[0], 0) == 905
    assert call.hipStreamBeginCapture(two, GLOBAL) == 0
    assert call.hipEventRecord(events[1], two) == 0
    assert call.hipStreamWaitEvent(one, events[1], 0) == 902
    assert call.hipStreamWaitEvent(None, events[1], 0) == 906
    assert ended(call, two) == 901  # that made it invalid
    assert ended(call, one) == 0
    assert call.hipStreamBeginCapture(one, GLOBAL) == 0
    assert call.hipEventRecord(events[2], one) == 0
    for name in ("hipEventQuery", "hipEventSynchronize"):
        assert getattr(call, name)(events[2]) == 907
    passed = ctypes.byref(ctypes.c_float())
    assert call.hipEventElapsedTime(passed, events[0], events[2]) == 907
    assert ended(call, one) == 901
    assert call.hipEventQuery(events[2]) == 0


def test_events_as_nodes(call, launch, streams, events, vectors):
    """hipEventRecordExternal and hipEventWaitExternal make nodes of their own."""
    one = streams[0]
    assert call.hipStreamBeginCapture(one, GLOBAL) == 0
    assert call.hipEventRecordWithFlags(events[0], one, 1) == 0
    assert launch(one, 1.0, *vectors) == 0
    assert call.hipStreamWaitEvent(one, events[0], 1) == 0
    graph = end(call, one)
    nodes = handles(call, "hipGraphGetNodes", graph)
    assert [call.number("hipGraphNodeGetType", node, first=False) for node in nodes] == [7, 0, 6]


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("hipDeviceSynchronize", (), 900),
        ("hipMalloc", ("place", 16), 900),
        ("hipFree", (0,), 900),
        ("hipMemcpy", ("x", "y", 16, 3), 906),
        ("hipMemcpy_spt", ("x", "y", 16, 3), 906),
        ("hipMemset", ("x", 0, 16), 906),
        ("hipMemcpyWithStream", ("x", "y", 16, 3, "stream"), 906),
        ("hipMemcpy2DFromArray", ("x", 16, 0, 0, 0, 16, 1, 2), 906),
        ("hipStreamSynchronize", ("stream",), 900),
        ("hipStreamQuery", ("stream",), 900),
        ("hipStreamAddCallback", ("stream", 1, 0, 0), 900),
    ],
)
def test_calls_that_make_a_capture_invalid(call, launch, streams, vectors, name, arguments, code):
    words = {"x": vectors[0], "y": vectors[1], "stream": streams[0], "place": ctypes.byref(ctypes.c_uint64())}
    given = [words.get(one, one) for one in arguments]
    assert call.hipStreamBeginCapture(streams[0], GLOBAL) == 0
    assert getattr(call, name)(*given) == code
    assert "captured" in str(runtime.instance().take_exception())
    assert status(call, streams[0]) == 2  # hipStreamCaptureStatusInvalidated
    assert launch(streams[0], 1.0, *vectors) == 901
    by = "an earlier call" if "stream" in arguments and "Memcpy" not in name else name
    assert str(runtime.instance().take_exception()).startswith(f"{by} made the capture invalid")
    assert ended(call, streams[0]) == 901
    assert status(call, streams[0]) == 0


def test_the_default_stream_waits_for_blocking_streams_alone(call, launch, streams, vectors):
    blocking = call.address("hipStreamCreateWithFlags", BLOCKING)
    assert call.hipStreamBeginCapture(None, GLOBAL) == call.hipStreamBeginCapture(1, GLOBAL) == 900
    assert call.hipStreamBeginCapture(streams[0], 3) == 1
    assert call.hipStreamBeginCapture(streams[0], GLOBAL) == 0
    assert launch(None, 1.0, *vectors) == 0  # the captured stream does not wait for the default stream, nor it for that
    assert ended(call, streams[0]) == 0
    assert call.hipStreamBeginCapture(blocking, GLOBAL) == 0
    assert call.hipStreamIsCapturing(None, ctypes.byref(ctypes.c_int())) == 906
    assert ended(call, blocking) == 901
    assert call.hipStreamBeginCapture(blocking, RELAXED) == 0
    assert launch(None, 1.0, *vectors) == 906
    assert ended(call, blocking) == 901
    assert call.hipStreamDestroy(blocking) == 0


def test_modes_and_threads(call, streams):
    """hipMalloc is allowed in relaxed mode, and to other threads while none captures in global mode."""
    place = ctypes.c_uint64()

    def elsewhere(work):
        got = []
        thread = threading.Thread(target=lambda: got.append(work()))
        thread.start()
        thread.join()
        return got[0]

    def allocate():
        code = call.hipMalloc(ctypes.byref(place), 16)
        return code if code else call.hipFree(place.value)

    for mode, here, there in ((GLOBAL, 900, 900), (THREAD_LOCAL, 900, 0), (RELAXED, 0, 0)):
        for work in (allocate, lambda: elsewhere(allocate)):
            assert call.hipStreamBeginCapture(streams[0], mode) == 0
            expected = here if work is allocate else there
            assert work() == expected
            assert ended(call, streams[0]) == (901 if expected else 0)
    assert call.hipStreamBeginCapture(streams[0], GLOBAL) == 0
    mode = ctypes.c_int(RELAXED)
    assert call.hipThreadExchangeStreamCaptureMode(ctypes.byref(mode)) == 0
    assert mode.value == GLOBAL
    assert allocate() == 0
    assert call.hipThreadExchangeStreamCaptureMode(ctypes.byref(mode)) == 0
    assert mode.value == RELAXED
    assert call.hipThreadExchangeStreamCaptureMode(ctypes.byref(ctypes.c_int(3))) == 1
    assert elsewhere(lambda: ended(call, streams[0])) == 908
    assert ended(call, streams[0]) == 0


def test_what_a_capture_says_of_itself_and_how_it_is_changed(call, launch, streams, vectors, kernels):
    stream = streams[0]
    assert call.hipStreamBeginCapture(stream, GLOBAL) == 0
    assert launch(stream, 1.0, *vectors) == launch(stream, 1.0, *vectors) == 0

    def info():
        found = [ctypes.c_int(), ctypes.c_uint64(), ctypes.c_uint64(), ctypes.c_uint64(), ctypes.c_uint64()]
        assert call.hipStreamGetCaptureInfo_v2(stream, *map(ctypes.byref, found)) == 0
        state, number, graph, nodes, count = (one.value for one in found)
        return state, number, graph, list((ctypes.c_uint64 * count).from_address(nodes))

    state, number, graph, last = info()
    again = ctypes.c_uint64()
    assert call.hipStreamGetCaptureInfo(stream, ctypes.byref(ctypes.c_int()), ctypes.byref(again)) == 0
    assert (state, number) == (1, again.value)
    first, second = handles(call, "hipGraphGetNodes", graph)
    assert last == [second]
    added = call.address("hipGraphAddEmptyNode", graph, None, 0)  # by hand: it need not be joined
    both = (ctypes.c_uint64 * 2)(first, added)
    assert call.hipStreamUpdateCaptureDependencies(stream, both, 2, 1) == 0  # hipStreamSetCaptureDependencies
    assert info()[3] == [first, added]
    assert call.hipStreamUpdateCaptureDependencies(stream, both, 1, 0) == 0  # hipStreamAddCaptureDependencies
    assert info()[3] == [first, added]
    assert call.hipStreamUpdateCaptureDependencies(stream, both, 1, 2) == 1
    assert launch(stream, 1.0, *vectors) == 0
    third = info()[3][0]
    assert handles(call, "hipGraphNodeGetDependencies", third) == [first, added]
    alone = call.address("hipGraphAddEmptyNode", graph, None, 0)  # nothing depends on it, and the capture ends well
    assert handles(call, "hipGraphNodeGetDependentNodes", alone) == []
    assert ended(call, stream) == 0  # the second one was taken out of the stream's dependencies
    assert call.hipStreamUpdateCaptureDependencies(stream, both, 1, 0) == 401


def test_into_a_graph_that_is_there(call, launch, streams, vectors, kernels):
    graph = Builder(call, kernels)
    before, beside = graph.add("EmptyNode", []), graph.add("EmptyNode", [])
    after = (ctypes.c_uint64 * 1)(before)
    assert call.hipStreamBeginCaptureToGraph(streams[0], graph.graph, after, None, 0, GLOBAL) == 1
    assert call.hipStreamBeginCaptureToGraph(streams[0], graph.graph, after, 8, 1, GLOBAL) == 801
    assert call.hipStreamBeginCaptureToGraph(streams[0], graph.graph, after, None, 1, GLOBAL) == 0
    assert launch(streams[0], 1.0, *vectors) == 0
    assert end(call, streams[0]) == graph.graph
    kernel = handles(call, "hipGraphGetNodes", graph.graph)[-1]
    assert handles(call, "hipGraphNodeGetDependencies", kernel) == [before]
    assert handles(call, "hipGraphNodeGetDependentNodes", beside) == []


def test_memory_and_graphs_in_a_capture(hip, call, kernels, streams, vectors):
    """hipMallocAsync and hipFreeAsync become nodes; so does the launch of another graph."""
    stream, x = streams[0], vectors[0]
    inner = Builder(call, kernels)
    inner.saxpy([], 1000, 1.0, *vectors)
    executable = inner.instantiate()
    assert call.hipStreamBeginCapture(stream, GLOBAL) == 0
    pointer = call.address("hipMallocAsync", 4000, stream)
    assert call.hipMemsetAsync(pointer, 0, 4000, stream) == call.hipMemcpyAsync(x, pointer, 4000, 3, stream) == 0
    assert call.hipFreeAsync(x, stream) == 1  # no node allocated it
    assert call.hipFreeAsync(pointer, stream) == 0
    assert call.hipGraphLaunch(executable, stream) == 0
    graph = end(call, stream)
    nodes = handles(call, "hipGraphGetNodes", graph)
    assert [call.number("hipGraphNodeGetType", node, first=False) for node in nodes] == [10, 2, 1, 11, 4]
    outer = call.address("hipGraphInstantiate", graph, None, None, 0)
    for _ in range(2):
        assert call.hipGraphLaunch(outer, stream) == call.hipStreamSynchronize(stream) == 0
    assert not read(hip, x).any()
    assert (read(hip, vectors[1]) == 1).all()
    assert call.hipGraphExecDestroy(outer) == call.hipGraphDestroy(graph) == call.hipGraphDestroy(inner.graph) == 0


def test_a_stream_that_is_destroyed_ends_its_capture(call, launch, vectors):
    stream, other = (call.address("hipStreamCreateWithFlags", NON_BLOCKING) for _ in range(2))
    assert call.hipStreamBeginCapture(stream, GLOBAL) == call.hipStreamDestroy(stream) == 0
    assert call.hipDeviceSynchronize() == 0
    assert launch(other, 1.0, *vectors) == call.hipStreamDestroy(other) == 0


def test_with_amds_python_package(hip, kernels, vectors):
    from tests.hip.conftest import ok

    x, y = vectors
    stream = ok(hip.hipStreamCreateWithFlags(hip.hipStreamNonBlocking))
    ok(hip.hipStreamBeginCapture(stream, hip.hipStreamCaptureMode.hipStreamCaptureModeGlobal))
    extra = (ctypes.c_int(1000), ctypes.c_float(2.0), ctypes.c_void_p(x), ctypes.c_void_p(y))
    ok(hip.hipModuleLaunchKernel(kernels("saxpy"), 4, 1, 1, 256, 1, 1, 0, stream, None, extra))
    assert ok(hip.hipStreamIsCapturing(stream)) == hip.hipStreamCaptureStatus.hipStreamCaptureStatusActive
    graph = ok(hip.hipStreamEndCapture(stream))
    executable = ok(hip.hipGraphInstantiateWithFlags(graph, 0))
    for _ in range(2):
        ok(hip.hipGraphLaunch(executable, stream))
    ok(hip.hipStreamSynchronize(stream))
    np.testing.assert_array_equal(read(hip, y), 1 + 4 * np.arange(1000, dtype=np.float32))
    ok(hip.hipGraphExecDestroy(executable))
    ok(hip.hipGraphDestroy(graph))
    ok(hip.hipStreamDestroy(stream))


def test_values_in_memory_in_a_capture(hip, call, streams, vectors):
    """A batch of operations is one node; a wait with a mask has none, and is refused."""
    from gpulab.virtual_gpu.runtime import graph_structures as s

    stream, x = streams[0], vectors[0]
    operations = (s.StreamMemoryOperation * 2)((2, x, 5, 0), (5, x + 8, 1 << 40, 0))
    assert call.hipStreamBeginCapture(stream, GLOBAL) == 0
    assert call.hipStreamBatchMemOp(stream, 2, operations, 0) == 0
    operations[0].value = 9  # copied already
    assert call.hipStreamWaitValue32(stream, x, 5, 1, 0xFFFFFFFF) == 0
    graph = end(call, stream)
    assert read(hip, x, 1, np.uint32)[0] == 0
    nodes = handles(call, "hipGraphGetNodes", graph)
    assert [call.number("hipGraphNodeGetType", node, first=False) for node in nodes] == [14, 14]
    shown = s.BatchMemOpNodeParams(1, 2, 3, 4)
    assert call.hipGraphBatchMemOpNodeGetParams(nodes[0], ctypes.byref(shown)) == 0
    assert (shown.ctx, shown.count, shown.flags) == (None, 2, 0)
    executable = call.address("hipGraphInstantiate", graph, None, None, 0)
    assert call.hipGraphLaunch(executable, stream) == call.hipStreamSynchronize(stream) == 0
    assert read(hip, x, 2, np.uint64).tolist() == [0x3F800000_00000005, 1 << 40]
    for count, code in ((0, 1), (257, 1)):
        assert call.hipStreamBatchMemOp(stream, count, operations, 0) == code
    assert call.hipStreamBatchMemOp(stream, 2, None, 0) == call.hipStreamBatchMemOp(stream, 2, operations, 1) == 1
    assert call.hipStreamBeginCapture(stream, GLOBAL) == 0
    assert call.hipStreamWaitValue32(stream, x, 5, 1, 0xFF) == 900
    assert "with a mask" in str(runtime.instance().take_exception())
    assert ended(call, stream) == 901


def test_what_a_capture_says_when_it_is_none(call, streams, vectors, launch):
    """An invalid capture and a stream without one: the state alone is written."""
    stream = streams[0]
    found = [ctypes.c_int(7), *(ctypes.c_uint64(7) for _ in range(4))]
    places = [ctypes.byref(one) for one in found]
    assert call.hipStreamGetCaptureInfo_v2(stream, *places) == 0
    assert [one.value for one in found] == [0, 7, 7, 7, 7]
    assert call.hipStreamGetCaptureInfo_v2(stream, None, *places[1:]) == 1
    assert call.hipStreamBeginCapture(stream, GLOBAL) == 0
    assert call.hipStreamGetCaptureInfo_v2(stream, places[0], None, None, None, None) == 0
    assert found[0].value == 1
    other = call.address("hipGraphCreate", 0)
    node = (ctypes.c_uint64 * 1)(call.address("hipGraphAddEmptyNode", other, None, 0))
    assert call.hipStreamUpdateCaptureDependencies(stream, node, 1, 1) == 1  # a node of another graph
    assert call.hipDeviceSynchronize() == 900
    assert call.hipStreamGetCaptureInfo_v2(stream, *places) == 0
    assert [one.value for one in found] == [2, 7, 7, 7, 7]
    assert call.hipStreamUpdateCaptureDependencies(stream, node, 1, 1) == 901
    assert ended(call, stream) == 901
    assert call.hipGraphDestroy(other) == 0


def test_a_branch_whose_stream_is_destroyed_has_nothing_to_join(call, streams):
    stream = call.address("hipStreamCreateWithFlags", NON_BLOCKING)
    assert call.hipStreamBeginCapture(stream, GLOBAL) == 0
    fork, event = streams[0], call.address("hipEventCreate")
    assert call.hipEventRecord(event, stream) == call.hipStreamWaitEvent(fork, event, 0) == 0
    assert call.hipStreamDestroy(fork) == 0  # a branch that is gone: nothing of it is to be joined
    assert ended(call, stream) == 0
    assert call.hipStreamDestroy(stream) == call.hipEventDestroy(event) == 0
