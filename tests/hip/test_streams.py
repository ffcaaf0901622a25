"""Streams, events, host functions: order of modelled time, and errors, as the HIP reference has them."""

import ctypes

import numpy as np
import pytest

from gpulab.virtual_gpu.runtime.moments import Moment
from tests.hip.conftest import ok


def launch_fill(hip, function, pointer, blocks=1, stream=None):
    ok(hip.hipModuleLaunchKernel(function, blocks, 1, 1, 256, 1, 1, 0, stream, None, (pointer,)))


@pytest.fixture
def memory(hip):
    pointer = ok(hip.hipMalloc(1 << 20))
    yield pointer
    ok(hip.hipFree(pointer))


@pytest.fixture
def events(hip):
    made = [ok(hip.hipEventCreate()) for _ in range(4)]
    yield made
    for event in made:
        ok(hip.hipEventDestroy(event))


def test_events_measure_launches(hip, kernels, memory, events):
    fill = kernels("fill")
    start, stop = events[:2]
    ok(hip.hipEventRecord(start, None))
    launch_fill(hip, fill, memory)
    ok(hip.hipEventRecord(stop, None))
    ok(hip.hipEventSynchronize(stop))
    one = ok(hip.hipEventElapsedTime(start, stop))
    assert one > 0
    ok(hip.hipEventRecord(start, None))
    for _ in range(10):
        launch_fill(hip, fill, memory)
    ok(hip.hipEventRecord(stop, None))
    assert ok(hip.hipEventElapsedTime(start, stop)) == pytest.approx(10 * one, rel=1e-4)


def test_events_measure_copies_at_the_speed_of_the_link(hip, memory, events):
    start, stop = events[:2]
    host = np.zeros(1 << 20, np.uint8)
    ok(hip.hipEventRecord(start, None))
    ok(hip.hipMemcpy(memory, host, host.nbytes, hip.hipMemcpyKind.hipMemcpyHostToDevice))
    ok(hip.hipEventRecord(stop, None))
    # 1 MiB at 64 GB/s are 16.4 us; 5 us to start a copy.
    assert ok(hip.hipEventElapsedTime(start, stop)) * 1000 == pytest.approx((1 << 20) / 64e3 + 5, rel=1e-3)


def test_streams_run_side_by_side(hip, kernels, memory, events):
    fill = kernels("fill")
    streams = [ok(hip.hipStreamCreateWithFlags(hip.hipStreamNonBlocking)) for _ in range(2)]
    ends = []
    for stream, (start, stop) in zip(streams, (events[:2], events[2:]), strict=True):
        ok(hip.hipEventRecord(start, stream))
        launch_fill(hip, fill, memory, 64, stream)
        ok(hip.hipEventRecord(stop, stream))
        ends.append(ok(hip.hipEventElapsedTime(start, stop)))
    # Both started at the same modelled time.
    assert ok(hip.hipEventElapsedTime(events[0], events[3])) == pytest.approx(ends[1])
    for stream in streams:
        ok(hip.hipStreamDestroy(stream))


def test_the_null_stream_waits_for_blocking_streams(hip, kernels, memory, events):
    stream = ok(hip.hipStreamCreate())
    ok(hip.hipEventRecord(events[0], stream))
    launch_fill(hip, kernels("fill"), memory, 64, stream)
    ok(hip.hipEventRecord(events[1], stream))
    ok(hip.hipEventRecord(events[2], None))
    assert ok(hip.hipEventElapsedTime(events[1], events[2])) >= 0
    ok(hip.hipStreamDestroy(stream))


def test_waiting_for_an_event(hip, kernels, memory, events):
    first, second = (ok(hip.hipStreamCreateWithFlags(hip.hipStreamNonBlocking)) for _ in range(2))
    launch_fill(hip, kernels("fill"), memory, 64, first)
    ok(hip.hipEventRecord(events[0], first))
    ok(hip.hipEventRecord(events[1], second))
    assert ok(hip.hipEventElapsedTime(events[0], events[1])) < 0  # not yet waited
    ok(hip.hipStreamWaitEvent(second, events[0], 0))
    ok(hip.hipEventRecord(events[1], second))
    assert ok(hip.hipEventElapsedTime(events[0], events[1])) == 0
    for stream in (first, second):
        ok(hip.hipStreamDestroy(stream))


def test_event_errors(hip, events):
    e = hip.hipError_t
    never, timeless = events[0], ok(hip.hipEventCreateWithFlags(hip.hipEventDisableTiming))
    ok(hip.hipEventRecord(events[1], None))
    assert hip.hipEventElapsedTime(never, events[1])[0] == e.hipErrorInvalidHandle
    ok(hip.hipEventRecord(timeless, None))
    assert hip.hipEventElapsedTime(events[1], timeless)[0] == e.hipErrorInvalidHandle
    ok(hip.hipEventQuery(never))
    address = int(timeless)
    ok(hip.hipEventDestroy(timeless))
    assert hip.hipEventDestroy(address)[0] == e.hipErrorInvalidHandle
    assert hip.hipEventRecord(None, None)[0] == e.hipErrorInvalidHandle


@pytest.mark.parametrize("bit", range(32))
def test_flags_of_events(hip, bit):
    """Flags that hipEventCreateWithFlags of HIP's reference names; it refuses all others."""
    known = {0, 1, 2, 29, 30, 31}  # blocking sync, no timing, interprocess, no system fence, release to device, system
    code, event = hip.hipEventCreateWithFlags(1 << bit)
    if bit in known:
        assert int(code) == 0
        ok(hip.hipEventDestroy(event))
    else:
        assert code == hip.hipError_t.hipErrorInvalidValue
    code, stream = hip.hipStreamCreateWithFlags(1 << bit)  # hipStreamNonBlocking is 1
    if bit == 0:
        ok(hip.hipStreamDestroy(stream))
    else:
        assert code == hip.hipError_t.hipErrorInvalidValue


def test_stream_properties_and_errors(hip):
    e = hip.hipError_t
    stream = ok(hip.hipStreamCreateWithPriority(hip.hipStreamNonBlocking, -5))
    assert ok(hip.hipStreamGetPriority(stream)) == -1
    assert ok(hip.hipStreamGetFlags(stream)) == hip.hipStreamNonBlocking
    assert ok(hip.hipStreamGetDevice(stream)) == 0
    ok(hip.hipStreamQuery(stream))
    address = int(stream)
    ok(hip.hipStreamDestroy(stream))
    assert hip.hipStreamSynchronize(address)[0] == e.hipErrorContextIsDestroyed
    assert hip.hipStreamDestroy(address)[0] == e.hipErrorInvalidHandle
    assert hip.hipStreamDestroy(None)[0] == e.hipErrorInvalidHandle
    assert hip.hipStreamCreateWithFlags(12)[0] == e.hipErrorInvalidValue


def test_values_written_in_stream_order(hip, memory):
    """HIP API reference, hipStreamWriteValue32 and 64: one value, at an address that the GPU can reach."""
    ok(hip.hipMemset(memory, 0x11, 24))
    stream = ok(hip.hipStreamCreate())
    ok(hip.hipStreamWriteValue32(stream, int(memory) + 4, 0xFFFFFFFE, 0))
    ok(hip.hipStreamWriteValue64(stream, int(memory) + 8, 0x0123456789ABCDEF, 0))
    got = np.zeros(6, np.uint32)
    ok(hip.hipMemcpy(got, memory, 24, hip.hipMemcpyKind.hipMemcpyDeviceToHost))
    assert [hex(value) for value in got] == [
        "0x11111111", "0xfffffffe", "0x89abcdef", "0x1234567", "0x11111111", "0x11111111"
    ]  # fmt: skip
    invalid = hip.hipError_t.hipErrorInvalidValue
    for write, size in ((hip.hipStreamWriteValue32, 4), (hip.hipStreamWriteValue64, 8)):
        assert write(stream, None, 1, 0)[0] == invalid
        assert write(stream, int(memory) + size // 2, 1, 0)[0] == invalid
        assert write(stream, int(memory) + (1 << 20) - size // 2, 1, 0)[0] == invalid
    ok(hip.hipStreamDestroy(stream))


def test_host_functions_and_callbacks(hip):
    seen = []
    function_type = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    callback_type = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
    function = function_type(lambda data: seen.append(("function", data)))
    callback = callback_type(lambda stream, status, data: seen.append(("callback", status, data)))
    library = ctypes.PyDLL(str(_library()))
    address = ctypes.c_void_p
    assert library.hipLaunchHostFunc(None, ctypes.cast(function, address), address(5)) == 0
    assert library.hipStreamAddCallback(None, ctypes.cast(callback, address), address(6), 0) == 0
    assert library.hipLaunchHostFunc(None, None, None) == 1
    assert seen == [("function", 5), ("callback", 0, 6)]


def test_the_per_thread_default_stream(hip, kernels, memory, events):
    """hipStreamPerThread, and NULL in the calls whose names end in _spt, are the same stream."""
    library = ctypes.PyDLL(str(_library()))
    start, stop = events[:2]
    assert library.hipEventRecord_spt(ctypes.c_void_p(int(start)), None) == 0
    launch_fill(hip, kernels("fill"), memory, 64, 2)
    assert library.hipEventRecord_spt(ctypes.c_void_p(int(stop)), None) == 0
    assert ok(hip.hipEventElapsedTime(start, stop)) > 0
    assert library.hipStreamSynchronize_spt(None) == 0


def test_each_thread_has_a_stream_of_its_own(call, hip, memory):
    """What two threads put into hipStreamPerThread does not wait for each other: both begin when the host is ready."""
    import threading

    import gpulab

    numbers, said = set(), []

    def work():
        assert call.hipMemsetAsync(int(memory), 0, 1 << 20, 2) == 0
        numbers.add(call.number("hipStreamGetId", 2, kind=ctypes.c_uint64, first=False))
        for name in ("hipStreamGetFlags", "hipStreamGetPriority"):
            said.append(call.number(name, 2, kind=ctypes.c_int, first=False))

    assert call.hipDeviceSynchronize() == 0
    with gpulab.profile() as run:
        work()
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        work()
    assert len(numbers) == 2
    assert said == [0] * 6  # of all three: they wait for the null stream, and have no priority
    first, second, third = run.activities
    assert first.stream == third.stream != second.stream
    assert first.start_us == second.start_us < third.start_us == first.end_us


def _library():
    from gpulab.virtual_gpu import libraries

    return libraries.path("hip")


def test_a_moment_after_known_ones_is_known_at_once():
    """So that copies in a row keep no chain of moments to compute later; the time of a launch is put off."""
    first = Moment((Moment(),), 5.0)
    second = Moment((first, Moment((), 7.0)), 2.0)
    assert [(one.length, one.floor) for one in (first, second)] == [(0, 5.0), (0, 9.0)]
    reads = []

    class Work:
        @property
        def time_us(self):
            reads.append(1)
            return 3.0

    later = Moment((second,), Work())
    following = Moment((later,), 1.0)
    assert (later.length, following.length, reads) == (1, 2, [])
    assert (following.us, later.us, reads) == (13.0, 12.0, [1])
    assert (following.length, later.length) == (0, 0)  # both are known now


def test_calls_on_streams_from_c(call, memory):
    """hip_runtime_api.h: 1 invalid value, 400 invalid handle, 709 a stream that is not there."""
    byref, place = ctypes.byref, ctypes.c_uint64()
    numbers = set()
    for name, more, flags, priority in (
        ("hipStreamCreate", (), 0, 0), ("hipStreamCreateWithFlags", (1,), 1, 0),
        ("hipStreamCreateWithFlags", (0,), 0, 0),
        ("hipStreamCreateWithPriority", (1, -1), 1, -1), ("hipStreamCreateWithPriority", (0, 1), 0, 1),
        ("hipStreamCreateWithPriority", (0, 0), 0, 0), ("hipStreamCreateWithPriority", (0, 9), 0, 1),
    ):  # fmt: skip
        stream = call.address(name, *more)
        for getter, wanted in (("Flags", flags), ("Priority", priority), ("Device", 0)):
            assert call.number(f"hipStreamGet{getter}", stream, first=False) == wanted
        numbers.add(call.number("hipStreamGetId", stream, kind=ctypes.c_uint64, first=False))
        assert call.number("hipStreamIsCapturing", stream, first=False) == 0
        assert call.hipStreamDestroy(stream) == 0
        assert call.hipStreamQuery(stream) == call.hipStreamIsCapturing(stream, byref(ctypes.c_int())) == 709
    assert len(numbers) == 7
    assert call.number("hipStreamGetId", None, kind=ctypes.c_uint64, first=False) not in numbers
    mask = (ctypes.c_uint * 1)(1)
    stream = call.address("hipExtStreamCreateWithCUMask", 1, mask)
    assert call.number("hipStreamGetFlags", stream, first=False) == 0
    assert call.hipStreamDestroy(stream) == 0
    for arguments in ((None, 1, mask), (byref(place), 0, mask), (byref(place), 1, None)):
        assert call.hipExtStreamCreateWithCUMask(*arguments) == 1
    assert call.hipSetDevice(1) == 0
    stream = call.address("hipStreamCreate")
    assert call.hipSetDevice(0) == 0
    assert call.hipGetStreamDeviceId(stream) == call.number("hipStreamGetDevice", stream, first=False) == 1
    assert call.hipGetStreamDeviceId(None) == 0
    event = call.address("hipEventCreate")
    assert call.hipEventRecord(event, stream) == 400  # of another device
    assert call.hipStreamDestroy(stream) == 0
    for flags, code in ((0, 0), (1, 0), (2, 1)):  # hipEventRecordExternal, hipEventWaitExternal
        assert call.hipEventRecordWithFlags(event, None, flags) == code
        assert call.hipStreamWaitEvent(None, event, flags) == code
    assert call.hipStreamWaitEvent(None, None, 0) == call.hipStreamWaitEvent(None, 0x1230, 0) == 400
    assert call.hipStreamWaitEvent(0x1230, event, 0) == call.hipEventRecord(event, 0x1230) == 709
    assert call.hipEventQuery(event) == 0
    assert call.hipEventDestroy(event) == 0
    assert call.hipEventQuery(event) == call.hipEventSynchronize(event) == call.hipEventDestroy(event) == 400
    assert call.hipThreadExchangeStreamCaptureMode(byref(ctypes.c_int())) == 0
    for name, value in (("hipStreamWriteValue32", 5), ("hipStreamWriteValue64", 5)):
        assert getattr(call, name)(0x1230, int(memory), value, 0) == 709
    seen = []
    host = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: seen.append(data))
    callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)(lambda *given: seen.append(given))
    assert call.hipLaunchHostFunc(0x1230, host, None) == 709
    assert call.hipStreamAddCallback(None, callback, None, 1) == call.hipStreamAddCallback(None, None, None, 0) == 1
    assert call.hipStreamAddCallback(0x1230, callback, None, 0) == 709
    assert seen == []


def test_events_of_two_devices_have_no_time_between_them(call):
    first, second = call.address("hipEventCreate"), 0
    assert call.hipEventRecord(first, None) == 0
    assert call.hipSetDevice(1) == 0
    second = call.address("hipEventCreate")
    assert call.hipEventRecord(second, None) == 0
    passed = ctypes.c_float()
    assert call.hipEventElapsedTime(ctypes.byref(passed), first, second) == 400
    assert call.hipEventElapsedTime(ctypes.byref(passed), first, first) == 0
    assert passed.value == 0
    assert call.hipEventDestroy(first) == call.hipEventDestroy(second) == 0


@pytest.mark.parametrize("name", ["hipEventSynchronize", "hipStreamSynchronize"])
def test_what_the_host_waits_for(call, memory, name):
    from gpulab.virtual_gpu import runtime

    stream, event = call.address("hipStreamCreateWithFlags", 1), call.address("hipEventCreate")
    host = runtime.instance().streams
    assert call.hipDeviceSynchronize() == 0
    before = host.host.us
    assert call.hipMemsetAsync(int(memory), 0, 64, stream) == 0
    assert call.hipEventRecord(event, stream) == 0
    assert host.host.us == before
    assert getattr(call, name)(event if "Event" in name else stream) == 0
    assert host.host.us == host.find(stream).time > before
    assert call.hipStreamDestroy(stream) == call.hipEventDestroy(event) == 0


@pytest.mark.parametrize("size", [4, 8])
@pytest.mark.parametrize(
    ("flags", "value", "met"),
    [(0, 12, True), (0, 13, False), (1, 12, True), (1, 4, False), (2, 4, True), (2, 3, False), (3, 12, True)],
)
def test_waiting_for_a_value(call, memory, size, flags, value, met):
    """HIP API reference, hipStreamWaitValue32: 0 greater or equal, 1 equal, 2 and, 3 nor; else it is refused."""
    bits = f"{8 * size}"
    assert getattr(call, f"hipStreamWriteValue{bits}")(None, int(memory), 12, 0) == 0
    wait = getattr(call, f"hipStreamWaitValue{bits}")
    whole = (1 << 8 * size) - 1
    assert wait(None, int(memory), value, flags, whole) == (0 if met else 801)
    assert wait(None, int(memory), 0, 1, 3) == 0  # of the low two bits
    assert wait(None, int(memory), value, 4, whole) == wait(None, None, value, flags, whole) == 1
    assert wait(None, int(memory) + 2, value, flags, whole) == 1


@pytest.mark.parametrize(
    ("flags", "mask", "value", "unmet", "met"),
    [
        (0, 0xF, 0x1, 0x10, 0x11), (1, 0xFF, 0x11, 0x125, 0x111), (2, 0xFF, 0xF4A, 0xF35, 0x02),
        (3, 0xF, 0x7E, 0x7D, 0x76), (3, 0x7FFFFFFF, 0x7FFFF247, 0x7FFFFDBD, 0x7FFFFDB5),
    ],
)  # fmt: skip
@pytest.mark.parametrize("size", [4, 8])
def test_waiting_for_a_part_of_a_value(call, memory, size, flags, mask, value, unmet, met):
    """The mask counts in every comparison; ROCm/hip-tests, catch/unit/stream/hipStreamValue.cc has most numbers."""
    write, wait = (getattr(call, f"hipStream{kind}Value{8 * size}") for kind in ("Write", "Wait"))
    for held, code in ((unmet, 801), (met, 0)):
        assert write(None, int(memory), held, 0) == 0
        assert wait(None, int(memory), value, flags, mask) == code, hex(held)


def test_operations_in_a_batch(call, memory):
    from gpulab.virtual_gpu.runtime.graph_structures import StreamMemoryOperation as Operation

    address = int(memory)
    given = (Operation * 3)((2, address, 7, 0), (1, address, 7, 1), (5, address + 8, 1 << 40, 0))
    assert call.hipStreamBatchMemOp(None, 3, given, 0) == 0
    assert call.hipStreamWaitValue64(None, address + 8, 1 << 40, 1, (1 << 64) - 1) == 0
    assert call.hipStreamBatchMemOp(None, 0, given, 0) == call.hipStreamBatchMemOp(None, 257, given, 0) == 1
    given[0].operation = 6  # hipStreamMemOpBarrier, which HIP does not support
    assert call.hipStreamBatchMemOp(None, 3, given, 0) == 801
    assert call.hipStreamWriteValue32(None, address, 1, 0x1000) == 801


def test_attributes_of_streams(call):
    """The synchronisation policy (3) is set and read, the priority (8) read; ROCm/rocm-systems, hip_stream.cpp."""
    first, second = (call.address("hipStreamCreateWithPriority", 0, -1) for _ in range(2))
    value = (ctypes.c_int * 16)(9)
    assert call.hipStreamGetAttribute(first, 8, value) == 0  # hipStreamAttributePriority
    assert value[0] == -1
    assert call.hipStreamSetAttribute(first, 8, value) == 1
    value[0] = 2  # hipSyncPolicySpin
    assert call.hipStreamSetAttribute(first, 3, value) == call.hipStreamCopyAttributes(second, first) == 0
    value[0] = 0
    assert call.hipStreamGetAttribute(second, 3, value) == 0
    assert value[0] == 2
    value[0] = 5
    assert call.hipStreamSetAttribute(first, 3, value) == call.hipStreamGetAttribute(first, 3, None) == 1
    assert call.hipStreamSetAttribute(first, 1, value) == call.hipStreamGetAttribute(first, 1, value) == 1
    assert call.hipStreamSetAttribute(0x1230, 3, value) == call.hipStreamCopyAttributes(first, 0x1230) == 400
    value[0] = 1
    assert call.hipStreamBeginCapture(first, 0) == 0
    assert call.hipStreamSetAttribute(first, 3, value) == 900
    assert call.hipStreamDestroy(first) == call.hipStreamDestroy(second) == 0


def test_masks_of_compute_units(call):
    """A stream keeps its mask; without one all units of the device are in it (304 CUs of an MI300X)."""
    stream = call.address("hipExtStreamCreateWithCUMask", 2, (ctypes.c_uint * 2)(5, 6))
    got = (ctypes.c_uint * 10)()
    assert call.hipExtStreamGetCUMask(stream, 10, got) == 0
    assert list(got) == [5, 6] + [0] * 8
    assert call.hipExtStreamGetCUMask(None, 10, got) == 0
    assert list(got) == [0xFFFFFFFF] * 9 + [0xFFFF]
    assert call.hipExtStreamGetCUMask(stream, 9, got) == call.hipExtStreamGetCUMask(stream, 10, None) == 1
    assert call.hipStreamDestroy(stream) == 0
