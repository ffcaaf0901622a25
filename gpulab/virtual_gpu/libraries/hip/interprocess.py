"""HIP's calls for what processes of a machine share: handles of memory and of events."""

from __future__ import annotations

import ctypes

from gpulab.virtual_gpu.libraries.values import need, put64, rt
from gpulab.virtual_gpu.runtime import codes
from gpulab.virtual_gpu.runtime.between import HANDLE_BYTES
from gpulab.virtual_gpu.runtime.codes import Failure

_LAZY_PEER_ACCESS = 1
_INTERPROCESS, _DISABLE_TIMING = 0x4, 0x2


def hipIpcGetMemHandle(handle: int, address: int) -> int:
    need(handle, address)
    ctypes.memmove(handle, rt.between.export(address), HANDLE_BYTES)
    return 0


def hipIpcOpenMemHandle(pointer: int, handle: int, flags: int) -> int:
    need(pointer)
    if flags != _LAZY_PEER_ACCESS:
        return codes.INVALID_VALUE
    put64(pointer, rt.between.open(ctypes.string_at(handle, HANDLE_BYTES)))
    return 0


def hipIpcCloseMemHandle(address: int) -> int:
    need(address)
    rt.between.close(address)
    return 0


def hipIpcGetEventHandle(handle: int, event: int) -> int:
    need(handle)
    if not rt.streams.find_event(event).flags & _INTERPROCESS:
        raise Failure(codes.INVALID_VALUE, "the event was created without hipEventInterprocess")
    ctypes.memmove(handle, rt.between.export_event(event), HANDLE_BYTES)
    return 0


def hipIpcOpenEventHandle(event: int, handle: int) -> int:
    need(event)
    rt.between.check_event(ctypes.string_at(handle, HANDLE_BYTES))
    put64(event, rt.streams.create_event(_INTERPROCESS | _DISABLE_TIMING).handle)
    return 0
