"""HIP's calls on streams, events, host functions, and values in memory that streams write and wait for."""

from __future__ import annotations

import ctypes

from gpulab.virtual_gpu.libraries.values import need, put32, put64, put_float, rt
from gpulab.virtual_gpu.runtime import codes
from gpulab.virtual_gpu.runtime.codes import Failure
from gpulab.virtual_gpu.runtime.device import Stream
from gpulab.virtual_gpu.runtime.graph_structures import StreamMemoryOperation
from gpulab.virtual_gpu.runtime.graph_works import MemoryOperationsWork, call_host

_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
_EXTERNAL = 1  # hipEventRecordExternal, hipEventWaitExternal

_streams, _captures = rt.streams, rt.captures


def hipStreamCreate(stream: int) -> int:
    need(stream)
    put64(stream, _streams.create(0).handle)
    return 0


def hipStreamCreateWithFlags(stream: int, flags: int) -> int:
    need(stream)
    put64(stream, _streams.create(flags).handle)
    return 0


def hipStreamCreateWithPriority(stream: int, flags: int, priority: int) -> int:
    need(stream)
    put64(stream, _streams.create(flags, priority).handle)
    return 0


def hipExtStreamCreateWithCUMask(stream: int, words: int, mask: int) -> int:
    if not stream or not words or not mask:
        return codes.INVALID_VALUE
    made = _streams.create(0)
    words = min(words, _mask_words(made))
    made.mask = tuple((ctypes.c_uint32 * words).from_address(mask))  # kept; modelled time does not know it
    put64(stream, made.handle)
    return 0


def _mask_words(stream: Stream) -> int:
    """Words of 32 bits that have a bit for each compute unit (multiprocessor) of the stream's device."""
    return -(-stream.device.architecture.multiprocessors // 32)


def hipExtStreamGetCUMask(stream: int, words: int, mask: int) -> int:
    """The stream's mask, or one bit for each compute unit; bits that nobody set are zero."""
    found = _streams.find(stream)
    if not mask or words < _mask_words(found):
        return codes.INVALID_VALUE
    whole = (1 << found.device.architecture.multiprocessors) - 1
    for place in range(_mask_words(found)):
        value = whole >> 32 * place & 0xFFFFFFFF
        if found.mask:
            value = found.mask[place] if place < len(found.mask) else 0
        put32(mask + 4 * place, value)
    return 0


def hipStreamDestroy(stream: int) -> int:
    if not stream:
        return codes.INVALID_HANDLE
    _streams.destroy(stream)
    return 0


def hipStreamQuery(stream: int) -> int:
    _captures.forbid_waiting_for(_streams.find(stream))
    return 0  # work is done when it was submitted


def hipStreamSynchronize(stream: int) -> int:
    where = _streams.find(stream)
    _captures.forbid_waiting_for(where)
    _streams.wait_for(_streams.ready(where))
    return rt.surface(where.device)


def hipStreamWaitEvent(stream: int, event: int, flags: int) -> int:
    if flags & ~1:
        return codes.INVALID_VALUE
    if not event:
        return codes.INVALID_HANDLE
    _streams.wait_event(_streams.find(stream), _streams.find_event(event), external=flags == _EXTERNAL)
    return 0


# Values in memory. A stream's work runs when it is submitted, so that nothing can come to pass while one waits.

_WAIT_32, _WRITE_32, _WAIT_64, _WRITE_64 = 1, 2, 4, 5  # hipStreamBatchMemOpType
_GREATER, _EQUAL, _AND, _NOR = range(4)  # hipStreamWaitValue*


def _wait(stream: Stream, address: int, value: int, flags: int, mask: int, size: int) -> None:
    """Wait until the value at an address is as `flags` say.

    Raises:
        Failure: hipErrorInvalidValue; hipErrorNotSupported: it is not, and would have to be written later.
    """
    need(address)
    if address % size or flags not in (_GREATER, _EQUAL, _AND, _NOR):
        raise Failure(codes.INVALID_VALUE)
    rt.memory.device_range(address, size)
    limit = (1 << 8 * size) - 1
    held = int.from_bytes(ctypes.string_at(rt.memory.home(address), size), "little") & mask
    value &= limit
    met = {
        _GREATER: held >= value,
        _EQUAL: held == value,
        _AND: held & value != 0,
        _NOR: ~(held | value) & mask & limit != 0,
    }[flags]
    if not met:
        raise Failure(
            codes.NOT_SUPPORTED,
            f"the stream would wait until the value at 0x{address:x}, now {held}, meets its condition with {value}. "
            "On a virtual GPU work runs when it is submitted: let the value be written before the wait is asked for",
        )


def _write(stream: Stream, address: int, value: int, flags: int, size: int) -> None:
    need(address)
    if address % size:
        raise Failure(codes.INVALID_VALUE)
    if flags:
        raise Failure(codes.NOT_SUPPORTED, f"flags of writing a value ({flags:#x}) are not supported")
    rt.memory.fill(address, (value & (1 << 8 * size) - 1).to_bytes(size, "little"), 1, stream)


def perform_operations(operations: bytes, stream: Stream) -> None:
    """What an array of hipStreamBatchMemOpParams asks for, one after the other."""
    size = ctypes.sizeof(StreamMemoryOperation)
    for place in range(0, len(operations), size):
        one = StreamMemoryOperation.from_buffer_copy(operations, place)
        if one.operation in (_WAIT_32, _WAIT_64):
            width = 4 if one.operation == _WAIT_32 else 8
            _wait(stream, one.address or 0, one.value, one.flags, (1 << 8 * width) - 1, width)
        elif one.operation in (_WRITE_32, _WRITE_64):
            _write(stream, one.address or 0, one.value, one.flags, 4 if one.operation == _WRITE_32 else 8)
        else:
            raise Failure(codes.NOT_SUPPORTED, f"the memory operation {one.operation} is not supported by HIP")


def _operate(stream: int, operation: int, address: int, value: int, flags: int) -> int:
    """One operation; in a capture it becomes a node."""
    where = _streams.find(stream)
    one = StreamMemoryOperation(operation, address, value, flags)
    capture = _captures.of(where)
    if capture is not None:
        need(address)
        capture.add(where, MemoryOperationsWork(0, bytes(one), 0, perform_operations))
    else:
        perform_operations(bytes(one), where)
    return 0


def hipStreamWriteValue32(stream: int, address: int, value: int, flags: int) -> int:
    return _operate(stream, _WRITE_32, address, value, flags)


def hipStreamWriteValue64(stream: int, address: int, value: int, flags: int) -> int:
    return _operate(stream, _WRITE_64, address, value, flags)


def _wait_masked(stream: int, address: int, value: int, flags: int, mask: int, size: int) -> int:
    where = _streams.find(stream)
    if (capture := _captures.of(where)) is not None:
        capture.refuse("waiting for a value with a mask cannot be captured")
    _wait(where, address, value, flags, mask, size)
    return 0


def hipStreamWaitValue32(stream: int, address: int, value: int, flags: int, mask: int) -> int:
    if mask == 0xFFFFFFFF:
        return _operate(stream, _WAIT_32, address, value, flags)
    return _wait_masked(stream, address, value, flags, mask, 4)


def hipStreamWaitValue64(stream: int, address: int, value: int, flags: int, mask: int) -> int:
    if mask == 0xFFFFFFFFFFFFFFFF:
        return _operate(stream, _WAIT_64, address, value, flags)
    return _wait_masked(stream, address, value, flags, mask, 8)


def hipStreamBatchMemOp(stream: int, count: int, operations: int, flags: int) -> int:
    where = _streams.find(stream)
    if not count or count > 256 or not operations or flags:  # at most 256: HIP's reference
        return codes.INVALID_VALUE
    given = ctypes.string_at(operations, count * ctypes.sizeof(StreamMemoryOperation))
    if (capture := _captures.of(where)) is not None:
        capture.add(where, MemoryOperationsWork(0, given, 0, perform_operations))
    else:
        perform_operations(given, where)
    return 0


# Attributes

_SYNCHRONISATION, _PRIORITY = 3, 8  # hipLaunchAttributeSynchronizationPolicy, hipLaunchAttributePriority


def hipStreamSetAttribute(stream: int, attribute: int, value: int) -> int:
    """The synchronisation policy; the priority is a stream's from the beginning, and HIP has no other attributes."""
    need(value)
    found = _streams.find(stream, codes.INVALID_HANDLE)
    if found in _streams.captured:
        raise Failure(codes.STREAM_CAPTURE_UNSUPPORTED, "attributes of a stream that is being captured stay")
    policy = ctypes.c_int32.from_address(value).value
    if attribute != _SYNCHRONISATION or not 1 <= policy <= 4:  # hipSyncPolicyAuto to hipSyncPolicyBlockingSync
        return codes.INVALID_VALUE
    found.policy = policy
    return 0


def hipStreamGetAttribute(stream: int, attribute: int, value: int) -> int:
    need(value)
    found = _streams.find(stream, codes.INVALID_HANDLE)
    if attribute not in (_SYNCHRONISATION, _PRIORITY):
        return codes.INVALID_VALUE
    put32(value, found.policy if attribute == _SYNCHRONISATION else found.priority)
    return 0


def hipStreamCopyAttributes(target: int, source: int) -> int:
    to, of = _streams.find(target, codes.INVALID_HANDLE), _streams.find(source, codes.INVALID_HANDLE)
    to.policy = of.policy
    return 0


def hipStreamGetFlags(stream: int, flags: int) -> int:
    need(flags)
    put32(flags, _streams.find(stream).flags)
    return 0


def hipStreamGetId(stream: int, number: int) -> int:
    need(number)
    put64(number, _streams.find(stream).number)
    return 0


def hipStreamGetPriority(stream: int, priority: int) -> int:
    need(priority)
    put32(priority, _streams.find(stream).priority)
    return 0


def hipStreamGetDevice(stream: int, device: int) -> int:
    need(device)
    put32(device, _streams.find(stream).device.index)
    return 0


def hipGetStreamDeviceId(stream: int) -> int:
    return int(_streams.find(stream).device.index)


def hipLaunchHostFunc(stream: int, function: int, data: int) -> int:
    if not function:
        return codes.INVALID_VALUE
    where = _streams.find(stream)
    if (capture := _captures.of(where)) is not None:
        capture.call(where, function, data)
    else:
        call_host(function, data)
    return 0


def hipStreamAddCallback(stream: int, callback: int, data: int, flags: int) -> int:
    if not callback or flags:
        return codes.INVALID_VALUE
    where = _streams.find(stream)
    if (capture := _captures.of(where)) is not None:
        capture.refuse("hipStreamAddCallback cannot be captured; hipLaunchHostFunc can")
    _CALLBACK(callback)(stream, 0, data)
    return 0


# Events


def hipEventCreate(event: int) -> int:
    need(event)
    put64(event, _streams.create_event(0).handle)
    return 0


def hipEventCreateWithFlags(event: int, flags: int) -> int:
    need(event)
    put64(event, _streams.create_event(flags).handle)
    return 0


def hipEventDestroy(event: int) -> int:
    _streams.destroy_event(event)
    return 0


def hipEventRecord(event: int, stream: int) -> int:
    _streams.record(_streams.find_event(event), _streams.find(stream))
    return 0


def hipEventRecordWithFlags(event: int, stream: int, flags: int) -> int:
    if flags & ~_EXTERNAL:
        return codes.INVALID_VALUE
    _streams.record(_streams.find_event(event), _streams.find(stream), external=flags == _EXTERNAL)
    return 0


def hipEventSynchronize(event: int) -> int:
    found = _streams.find_event(event)
    _captures.forbid_waiting_for_event(found)
    _streams.wait_for(found.time)
    return rt.surface(found.device)


def hipEventQuery(event: int) -> int:
    _captures.forbid_waiting_for_event(_streams.find_event(event))
    return 0  # work is done when it was submitted


def hipEventElapsedTime(milliseconds: int, start: int, stop: int) -> int:
    need(milliseconds)
    put_float(milliseconds, _streams.elapsed_ms(start, stop))
    return 0
