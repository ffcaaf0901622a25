"""HIP's calls on memory pools: memory in the order of a stream."""

from __future__ import annotations

import ctypes

from gpulab.virtual_gpu.libraries.values import get32, get64, need, put32, put64, rt
from gpulab.virtual_gpu.runtime import codes
from gpulab.virtual_gpu.runtime.between import HANDLE_BYTES
from gpulab.virtual_gpu.runtime.codes import Failure
from gpulab.virtual_gpu.runtime.device import Device, Stream
from gpulab.virtual_gpu.runtime.graph_structures import MemAllocNodeParams, PoolProperties
from gpulab.virtual_gpu.runtime.pools import REUSE, Pool
from gpulab.virtual_gpu.runtime.structures import AccessDescription, MemoryLocation

_pools, _streams, _captures = rt.pools, rt.streams, rt.captures
_PINNED, _DEVICE = 1, 1
_DESCRIPTOR = 1  # hipMemHandleTypePosixFileDescriptor


def _allocate(pointer: int, size: int, pool: Pool, stream: Stream) -> int:
    if size and (capture := _captures.of(stream)) is not None:
        index = pool.device.index
        put64(pointer, capture.allocate(stream, size, pool.device, _node_parameters(size, index)))
        return 0
    put64(pointer, _pools.allocate(pool, size))
    return 0


def _node_parameters(size: int, device: int) -> bytes:
    """hipMemAllocNodeParams of an allocation that is captured."""
    parameters = MemAllocNodeParams(bytesize=size)
    parameters.poolProps.allocType = parameters.poolProps.location.type = 1  # pinned memory, of a device
    parameters.poolProps.location.id = device
    return bytes(parameters)


def hipMallocAsync(pointer: int, size: int, stream: int) -> int:
    need(pointer)
    where = _streams.find(stream)
    return _allocate(pointer, size, _pools.current(where.device), where)


def hipMallocFromPoolAsync(pointer: int, size: int, pool: int, stream: int) -> int:
    need(pointer)
    return _allocate(pointer, size, _pools.find(pool), _streams.find(stream))


def hipFreeAsync(address: int, stream: int) -> int:
    need(address)
    where = _streams.find(stream)
    if (capture := _captures.of(where)) is not None:
        capture.free(where, address)
    else:
        rt.memory.free(address, ("device", "managed"))
    return 0


def hipDeviceGetDefaultMemPool(pool: int, device: int) -> int:
    need(pool)
    put64(pool, _pools.default(rt.device(device)).handle)
    return 0


def hipDeviceGetMemPool(pool: int, device: int) -> int:
    need(pool)
    put64(pool, _pools.current(rt.device(device)).handle)
    return 0


def hipDeviceSetMemPool(device: int, pool: int) -> int:
    _pools.set_current(rt.device(device), _pools.find(pool))
    return 0


def _place(location: int, kind: int) -> Device:
    """The device of a location, for memory of this hipMemAllocationType."""
    need(location)
    given = MemoryLocation.from_address(location)
    if kind != _PINNED or given.type != _DEVICE:
        raise Failure(codes.INVALID_VALUE, "pools hold memory of a device (hipMemAllocationTypePinned)")
    return rt.device(given.id)


def hipMemGetDefaultMemPool(pool: int, location: int, kind: int) -> int:
    need(pool)
    put64(pool, _pools.default(_place(location, kind)).handle)
    return 0


def hipMemGetMemPool(pool: int, location: int, kind: int) -> int:
    need(pool)
    put64(pool, _pools.current(_place(location, kind)).handle)
    return 0


def hipMemSetMemPool(location: int, kind: int, pool: int) -> int:
    _pools.set_current(_place(location, kind), _pools.find(pool))
    return 0


def hipMemPoolCreate(pool: int, properties: int) -> int:
    need(pool, properties)
    given = PoolProperties.from_address(properties)
    if given.allocType != _PINNED or given.location.type != _DEVICE:
        raise Failure(codes.INVALID_VALUE, "a pool holds pinned memory of a device (hipMemLocationTypeDevice)")
    if given.handleTypes not in (0, _DESCRIPTOR):
        raise Failure(codes.NOT_SUPPORTED, "pools are shared by file descriptor (hipMemHandleTypePosixFileDescriptor)")
    put64(pool, _pools.create(rt.device(given.location.id), given.maxSize, bool(given.handleTypes)).handle)
    return 0


def hipMemPoolDestroy(pool: int) -> int:
    _pools.destroy(pool)
    return 0


def hipMemPoolExportToShareableHandle(handle: int, pool: int, kind: int, flags: int) -> int:
    need(handle, pool)
    if kind != _DESCRIPTOR or flags:
        return codes.INVALID_VALUE
    put32(handle, rt.between.export_pool(_pools.find(pool)))
    return 0


def hipMemPoolImportFromShareableHandle(pool: int, handle: int, kind: int, flags: int) -> int:
    need(pool, handle)
    if kind != _DESCRIPTOR or flags:
        return codes.INVALID_VALUE
    # The descriptor is the pointer's value, or stands where the pointer leads, as for hipMemImportFromShareableHandle.
    put64(pool, rt.between.import_pool(handle if handle < 1 << 16 else get32(handle)).handle)
    return 0


def hipMemPoolExportPointer(data: int, address: int) -> int:
    need(data, address)
    ctypes.memmove(data, rt.between.export_pointer(address), HANDLE_BYTES)
    return 0


def hipMemPoolImportPointer(pointer: int, pool: int, data: int) -> int:
    need(pointer, pool, data)
    put64(pointer, rt.between.import_pointer(_pools.find(pool), ctypes.string_at(data, HANDLE_BYTES)))
    return 0


def hipMemPoolTrimTo(pool: int, least: int) -> int:
    _pools.trim(_pools.find(pool), least)
    return 0


def hipMemPoolSetAttribute(pool: int, attribute: int, value: int) -> int:
    need(value)
    _pools.set(_pools.find(pool), attribute, get32(value) if attribute in REUSE else get64(value))
    return 0


def hipMemPoolGetAttribute(pool: int, attribute: int, value: int) -> int:
    need(value)
    (put32 if attribute in REUSE else put64)(value, _pools.get(_pools.find(pool), attribute))
    return 0


def hipMemPoolSetAccess(pool: int, descriptions: int, count: int) -> int:
    found = _pools.find(pool)
    need(descriptions)
    for one in (AccessDescription * count).from_address(descriptions):
        if one.location.type != _DEVICE:
            return codes.INVALID_VALUE
        _pools.set_access(found, one.location.id, one.flags)
    return 0


def hipMemPoolGetAccess(flags: int, pool: int, location: int) -> int:
    need(flags, location)
    place = MemoryLocation.from_address(location)
    if place.type != _DEVICE:
        return codes.INVALID_VALUE
    put32(flags, _pools.get_access(_pools.find(pool), place.id))
    return 0
