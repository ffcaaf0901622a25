"""HIP's calls of virtual memory management."""

from __future__ import annotations

from gpulab.virtual_gpu.libraries.values import get32, need, put32, put64, rt
from gpulab.virtual_gpu.runtime import codes
from gpulab.virtual_gpu.runtime.codes import Failure
from gpulab.virtual_gpu.runtime.device import Device
from gpulab.virtual_gpu.runtime.mappings import GRANULE, RECOMMENDED
from gpulab.virtual_gpu.runtime.structures import AccessDescription, AllocationProperties, MemoryLocation

_mappings = rt.mappings
_PINNED, _UNCACHED, _DEVICE, _DESCRIPTOR = 1, 0x40000000, 1, 1


def _owner(properties: int) -> tuple[AllocationProperties, Device]:
    """hipMemAllocationProp, and the device that it names."""
    need(properties)
    given = AllocationProperties.from_address(properties)
    if given.type not in (_PINNED, _UNCACHED) or given.requestedHandleTypes not in (0, _DESCRIPTOR):
        raise Failure(
            codes.INVALID_VALUE, "memory is of hipMemAllocationTypePinned, shared by file descriptor or not at all"
        )
    if given.location.type != _DEVICE:
        raise Failure(
            codes.NOT_SUPPORTED, "memory lies on a device (hipMemLocationTypeDevice); for the host: hipHostMalloc"
        )
    return given, rt.device(given.location.id)


def hipMemGetAllocationGranularity(granularity: int, properties: int, option: int) -> int:
    need(granularity)
    _owner(properties)
    if option not in (0, 1):
        return codes.INVALID_VALUE
    put64(granularity, RECOMMENDED if option else GRANULE)
    return 0


def hipMemAddressReserve(pointer: int, size: int, alignment: int, wanted: int, flags: int) -> int:
    need(pointer)
    if flags:
        return codes.INVALID_VALUE
    put64(pointer, _mappings.reserve(size, alignment, wanted))
    return 0


def hipMemAddressFree(address: int, size: int) -> int:
    need(address)
    _mappings.free(address, size)
    return 0


def hipMemCreate(handle: int, size: int, properties: int, flags: int) -> int:
    need(handle)
    given, device = _owner(properties)
    if flags:
        return codes.INVALID_VALUE
    put64(handle, _mappings.create(size, device, given.requestedHandleTypes).handle)
    return 0


def hipMemRelease(handle: int) -> int:
    _mappings.release(handle)
    return 0


def hipMemMap(address: int, size: int, offset: int, handle: int, flags: int) -> int:
    need(address, handle)
    if flags:
        return codes.INVALID_VALUE
    _mappings.map(address, size, offset, handle)
    return 0


def hipMemUnmap(address: int, size: int) -> int:
    need(address)
    rt.streams.wait_for_device(rt.current)
    code = rt.surface(rt.current)
    _mappings.unmap(address, size)
    return code


def _device_of(location: MemoryLocation) -> int:
    if location.type != _DEVICE:
        raise Failure(codes.INVALID_VALUE, "access is given to devices (hipMemLocationTypeDevice)")
    return int(location.id)


def hipMemSetAccess(address: int, size: int, descriptions: int, count: int) -> int:
    need(address, descriptions)
    if not count:
        return codes.INVALID_VALUE
    listed = (AccessDescription * count).from_address(descriptions)
    _mappings.set_access(address, size, [(_device_of(one.location), one.flags) for one in listed])
    return 0


def hipMemGetAccess(flags: int, location: int, address: int) -> int:
    need(flags, location, address)
    put64(flags, _mappings.access(address, _device_of(MemoryLocation.from_address(location))))
    return 0


def hipMemRetainAllocationHandle(handle: int, address: int) -> int:
    need(handle, address)
    put64(handle, _mappings.retain(address))
    return 0


def hipMemGetAllocationPropertiesFromHandle(properties: int, handle: int) -> int:
    need(properties)
    memory = _mappings.find(handle)
    result = AllocationProperties.from_address(properties)
    result.type, result.requestedHandleTypes = _PINNED, memory.sharing
    result.location.type, result.location.id = _DEVICE, memory.device.index
    result.win32HandleMetaData = None
    result.compressionType = result.gpuDirectRDMACapable = result.usage = 0
    return 0


def hipMemExportToShareableHandle(result: int, handle: int, kind: int, flags: int) -> int:
    need(result)
    if kind != _DESCRIPTOR or flags:
        return codes.INVALID_VALUE
    put32(result, _mappings.export(handle))
    return 0


def hipMemImportFromShareableHandle(handle: int, given: int, kind: int) -> int:
    need(handle)
    if kind != _DESCRIPTOR:
        return codes.INVALID_VALUE
    # HIP's samples hand over the descriptor as the pointer's value or where the pointer leads.
    put64(handle, _mappings.import_(given if given < 1 << 16 else get32(given)))
    return 0
