"""HIP's calls on managed memory: advice, prefetching, attributes of ranges, streams that it belongs to."""

from __future__ import annotations

import ctypes

from gpulab.virtual_gpu.libraries.values import get32, get64, need, put32, rt
from gpulab.virtual_gpu.runtime import codes
from gpulab.virtual_gpu.runtime.advice import ACCESSED_BY, CPU, Advice
from gpulab.virtual_gpu.runtime.codes import Failure
from gpulab.virtual_gpu.runtime.structures import MemoryLocation

_memory, _streams = rt.memory, rt.streams
_DEVICE, _HOSTS = 1, (2, 3, 4)  # hipMemLocationType


def _managed(address: int, count: int) -> tuple[Advice, int]:
    """What was said of the allocation of a managed range, and where in it the range begins."""
    if not address or not count:
        raise Failure(codes.INVALID_VALUE)
    found = _memory.find(address)
    if found is None or found.kind != "managed" or address + count > found.address + found.size:
        raise Failure(codes.INVALID_VALUE, f"{count:,} bytes from 0x{address:x} are no managed memory")
    return _memory.advice(found.address), address - found.address


def _place(device: int) -> int:
    return CPU if device == CPU else rt.device(device).index


def _located(location: int) -> int:
    need(location)
    place = MemoryLocation.from_address(location)
    if place.type == _DEVICE:
        return _place(place.id)
    if place.type in _HOSTS:
        return CPU
    raise Failure(codes.INVALID_VALUE, f"{place.type} is no place for managed memory")


def hipMallocManaged(pointer: int, size: int, flags: int) -> int:
    need(pointer)
    if flags not in (1, 2) or not size:  # hipMemAttachGlobal, hipMemAttachHost
        return codes.INVALID_VALUE
    ctypes.c_uint64.from_address(pointer).value = _memory.allocate(size, "managed", flags)
    return 0


def hipMemPrefetchAsync(address: int, count: int, device: int, stream: int) -> int:
    place = _place(device)
    _streams.find(stream)
    said, offset = _managed(address, count)
    said.prefetched(offset, count, place)
    return 0


def hipMemPrefetchAsync_v2(address: int, count: int, location: int, flags: int, stream: int) -> int:
    if flags:
        return codes.INVALID_VALUE
    return hipMemPrefetchAsync(address, count, _located(location), stream)


def hipMemAdvise(address: int, count: int, advice: int, device: int) -> int:
    place = _place(device)
    said, offset = _managed(address, count)
    said.advise(offset, count, advice, place)
    return 0


def hipMemAdvise_v2(address: int, count: int, advice: int, location: int) -> int:
    return hipMemAdvise(address, count, advice, _located(location))


def _attribute(data: int, size: int, attribute: int, address: int, count: int) -> None:
    need(data)
    if size % 4 or not size or (attribute != ACCESSED_BY and size != 4):
        raise Failure(codes.INVALID_VALUE, f"an attribute has 4 bytes (a list of devices 4 for each), not {size:,}")
    said, offset = _managed(address, count)
    for place, value in enumerate(said.attribute(offset, count, attribute, size // 4)):
        put32(data + 4 * place, value)


def hipMemRangeGetAttribute(data: int, size: int, attribute: int, address: int, count: int) -> int:
    _attribute(data, size, attribute, address, count)
    return 0


def hipMemRangeGetAttributes(data: int, sizes: int, attributes: int, number: int, address: int, count: int) -> int:
    need(data, sizes, attributes)
    if not number:
        return codes.INVALID_VALUE
    for i in range(number):
        _attribute(get64(data + 8 * i), get64(sizes + 8 * i), get32(attributes + 4 * i), address, count)
    return 0


def hipStreamAttachMemAsync(stream: int, address: int, length: int, flags: int) -> int:
    need(address)
    if flags not in (1, 2, 4):
        return codes.INVALID_VALUE
    _streams.find(stream)
    found = _memory.find(address)
    if found is None or found.kind != "managed" or (length and (address, length) != (found.address, found.size)):
        return codes.INVALID_VALUE  # a part of an allocation cannot be attached
    return 0
