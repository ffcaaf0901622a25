"""HIP's calls on streams, events and host functions."""

from __future__ import annotations

import ctypes

from gpulab.virtual_gpu.libraries.values import need, put32, put64, put_float, rt
from gpulab.virtual_gpu.runtime import codes

_HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)

_streams = rt.streams


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
    put64(stream, _streams.create(0).handle)  # the mask restricts real compute units only
    return 0


def hipStreamDestroy(stream: int) -> int:
    if not stream:
        return codes.INVALID_HANDLE
    _streams.destroy(stream)
    return 0


def hipStreamQuery(stream: int) -> int:
    _streams.find(stream)
    return 0  # work is done when it was submitted


def hipStreamSynchronize(stream: int) -> int:
    where = _streams.find(stream)
    _streams.wait_for(_streams.ready(where))
    return rt.surface(where.device)


def hipStreamWaitEvent(stream: int, event: int, flags: int) -> int:
    if flags & ~1:
        return codes.INVALID_VALUE
    if not event:
        return codes.INVALID_HANDLE
    _streams.wait_event(_streams.find(stream), _streams.find_event(event))
    return 0


def _write(stream: int, address: int, value: int, size: int) -> int:
    where = _streams.find(stream)
    need(address)
    if address % size:
        return codes.INVALID_VALUE
    rt.memory.fill(address, value.to_bytes(size, "little"), 1, where)
    return 0


def hipStreamWriteValue32(stream: int, address: int, value: int, flags: int) -> int:
    return _write(stream, address, value, 4)


def hipStreamWriteValue64(stream: int, address: int, value: int, flags: int) -> int:
    return _write(stream, address, value, 8)


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


def hipStreamIsCapturing(stream: int, status: int) -> int:
    need(status)
    _streams.find(stream)
    put32(status, 0)  # graphs cannot be captured here, so no stream ever is
    return 0


def hipThreadExchangeStreamCaptureMode(mode: int) -> int:
    need(mode)
    return 0


def hipLaunchHostFunc(stream: int, function: int, data: int) -> int:
    if not function:
        return codes.INVALID_VALUE
    _streams.find(stream)
    _HOST_FUNCTION(function)(data)
    return 0


def hipStreamAddCallback(stream: int, callback: int, data: int, flags: int) -> int:
    if not callback or flags:
        return codes.INVALID_VALUE
    _streams.find(stream)
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
    if flags & ~1:
        return codes.INVALID_VALUE
    return hipEventRecord(event, stream)


def hipEventSynchronize(event: int) -> int:
    found = _streams.find_event(event)
    _streams.wait_for(found.time)
    return rt.surface(found.device)


def hipEventQuery(event: int) -> int:
    _streams.find_event(event)
    return 0


def hipEventElapsedTime(milliseconds: int, start: int, stop: int) -> int:
    need(milliseconds)
    put_float(milliseconds, _streams.elapsed_ms(start, stop))
    return 0
