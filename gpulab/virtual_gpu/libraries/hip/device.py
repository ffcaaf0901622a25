"""HIP's calls on devices, contexts, errors and peer access."""

from __future__ import annotations

import ctypes

from gpulab.virtual_gpu.libraries.values import get32, need, put32, put64, put_text, rt, text
from gpulab.virtual_gpu.runtime import codes, properties
from gpulab.virtual_gpu.runtime.codes import Failure
from gpulab.virtual_gpu.runtime.device import LIMIT_HEAP, LIMIT_STACK, Device
from gpulab.virtual_gpu.runtime.structures import DeviceProperties

HIP_VERSION = 7 * 10_000_000 + 15 * 100_000 + 26_333  # the interface of hip-python 10.0 (ROCm 10.0)

_CONTEXT = 0x4_0000_0000  # handle of a device's (primary) context: this plus its number
_strings: dict[tuple[str, int], ctypes.Array[ctypes.c_char]] = {}


def _c_string(kind: str, number: int, value: str) -> int:
    """Address of a C string that stays."""
    found = _strings.get((kind, number))
    if found is None:
        found = _strings[kind, number] = ctypes.create_string_buffer(value.encode())
    return ctypes.addressof(found)


# Initialisation and versions


def hipInit(flags: int) -> int:
    return codes.INVALID_VALUE if flags else codes.SUCCESS


def hipDriverGetVersion(version: int) -> int:
    need(version)
    put32(version, HIP_VERSION)
    return 0


def hipRuntimeGetVersion(version: int) -> int:
    need(version)
    put32(version, HIP_VERSION)
    return 0


# Errors


def hipGetErrorName(code: int) -> int:
    return _c_string("name", code, codes.NAMES.get(code, "hipErrorUnknown"))


def hipGetErrorString(code: int) -> int:
    return _c_string("text", code, codes.TEXTS.get(code, "unknown error"))


def hipDrvGetErrorName(code: int, result: int) -> int:
    need(result)
    if code not in codes.NAMES:
        put64(result, 0)
        return codes.INVALID_VALUE
    put64(result, hipGetErrorName(code))
    return 0


def hipDrvGetErrorString(code: int, result: int) -> int:
    need(result)
    if code not in codes.NAMES:
        put64(result, 0)
        return codes.INVALID_VALUE
    put64(result, hipGetErrorString(code))
    return 0


# Devices


def hipGetDeviceCount(count: int) -> int:
    need(count)
    put32(count, len(rt.devices))
    rt.need_devices()
    return 0


def hipGetDevice(device: int) -> int:
    need(device)
    put32(device, rt.current.index)
    return 0


def hipSetDevice(device: int) -> int:
    rt.set_device(device)
    return 0


def hipSetValidDevices(devices: int, count: int) -> int:
    if count < 0 or count > len(rt.devices) or (count and not devices):
        return codes.INVALID_VALUE
    for i in range(count):
        rt.device(get32(devices + 4 * i))
    return 0


def hipDeviceGet(device: int, ordinal: int) -> int:
    need(device)
    put32(device, rt.device(ordinal).index)
    return 0


def hipDeviceComputeCapability(major: int, minor: int, device: int) -> int:
    architecture = rt.device(device).architecture
    need(major, minor)
    put32(major, architecture.major)
    put32(minor, architecture.minor)
    return 0


def hipDeviceGetName(name: int, length: int, device: int) -> int:
    put_text(name, length, properties.device_name(rt.device(device).architecture))
    return 0


def hipDeviceGetUuid(uuid: int, device: int) -> int:
    found = rt.device(device)
    need(uuid)
    ctypes.memmove(uuid, properties.uuid(found.architecture, found.place), 16)
    return 0


def _bus_id(device: Device) -> str:
    return f"0000:{properties.pci_bus(device.place):02x}:00.0"


def hipDeviceGetPCIBusId(result: int, length: int, device: int) -> int:
    found = rt.device(device)
    if length < 13:
        return codes.INVALID_VALUE
    put_text(result, length, _bus_id(found))
    return 0


def hipDeviceGetByPCIBusId(device: int, bus_id: int) -> int:
    need(device)
    wanted = text(bus_id).strip().lower()
    for each in rt.devices:
        if wanted in (_bus_id(each), _bus_id(each).partition(".")[0], _bus_id(each)[5:]):
            put32(device, each.index)
            return 0
    return codes.INVALID_DEVICE


def hipDeviceTotalMem(size: int, device: int) -> int:
    found = rt.device(device)
    need(size)
    put64(size, found.architecture.memory_bytes)
    return 0


def hipGetDevicePropertiesR0600(result: int, device: int) -> int:
    need(result)
    ctypes.memmove(result, ctypes.addressof(rt.device(device).properties), ctypes.sizeof(DeviceProperties))
    return 0


def hipDeviceGetAttribute(value: int, attribute: int, device: int) -> int:
    need(value)
    found = rt.device(device)
    answer = properties.attribute(found.architecture, found.properties, attribute)
    if answer is None:
        return codes.INVALID_VALUE
    put32(value, answer)
    return 0


def hipChooseDeviceR0600(device: int, wanted: int) -> int:
    """The device that meets most of the given properties; the first among equals."""
    need(device, wanted)
    rt.need_devices()
    asked = DeviceProperties.from_address(wanted)

    def score(p: DeviceProperties) -> int:
        points = 0
        if asked.major:
            points += (p.major, p.minor) >= (asked.major, asked.minor)
        for name in ("totalGlobalMem", "sharedMemPerBlock", "maxThreadsPerBlock", "multiProcessorCount", "clockRate"):
            value = getattr(asked, name)
            if value:
                points += getattr(p, name) >= value
        if asked.warpSize:
            points += p.warpSize == asked.warpSize
        if asked.name:
            points += 8 * (p.name == asked.name)
        return int(points)

    put32(device, max(rt.devices, key=lambda each: (score(each.properties), -each.index)).index)
    return 0


def hipDeviceSynchronize() -> int:
    rt.streams.wait_for_device(rt.current)
    return rt.surface(rt.current)


def hipDeviceReset() -> int:
    rt.reset(rt.current)
    return 0


def hipSetDeviceFlags(flags: int) -> int:
    # Schedule (auto, spin, yield, blocking), map host, resize local memory.
    if flags & ~0x1F or flags & 0x7 not in (0, 1, 2, 4):
        return codes.INVALID_VALUE
    rt.current.flags = flags
    return 0


def hipGetDeviceFlags(flags: int) -> int:
    need(flags)
    put32(flags, rt.current.flags)
    return 0


def hipDeviceGetLimit(value: int, limit: int) -> int:
    need(value)
    if limit not in rt.current.limits:
        return codes.UNSUPPORTED_LIMIT
    put64(value, rt.current.limits[limit])
    return 0


def hipDeviceSetLimit(limit: int, value: int) -> int:
    if limit not in rt.current.limits:
        return codes.UNSUPPORTED_LIMIT
    if limit == LIMIT_HEAP:
        rt.modules.set_heap(rt.current, value)
    elif limit == LIMIT_STACK:
        rt.modules.set_stack(rt.current, value)
    else:
        rt.current.limits[limit] = value
    return 0


def hipDeviceSetCacheConfig(configuration: int) -> int:
    if not 0 <= configuration <= 3:
        return codes.INVALID_VALUE
    return 0  # AMD GPUs have no configurable cache: the hint is ignored


def hipDeviceGetCacheConfig(configuration: int) -> int:
    need(configuration)
    put32(configuration, 0)
    return 0


def hipDeviceSetSharedMemConfig(configuration: int) -> int:
    if not 0 <= configuration <= 2:
        return codes.INVALID_VALUE
    return 0  # LDS banks have one width


def hipDeviceGetSharedMemConfig(configuration: int) -> int:
    need(configuration)
    put32(configuration, 1)
    return 0


def hipDeviceGetStreamPriorityRange(least: int, greatest: int) -> int:
    if least:
        put32(least, 1)
    if greatest:
        put32(greatest, -1)
    return 0


# Peers


def _two(first: int, second: int) -> None:
    rt.device(first)
    rt.device(second)


def hipDeviceCanAccessPeer(can: int, device: int, peer: int) -> int:
    need(can)
    _two(device, peer)
    put32(can, int(device != peer))
    return 0


def hipDeviceEnablePeerAccess(peer: int, flags: int) -> int:
    if flags:
        return codes.INVALID_VALUE
    other, here = rt.device(peer), rt.current
    if other is here:
        return codes.INVALID_DEVICE
    if other.index in here.peers:
        return codes.PEER_ALREADY_ENABLED
    here.peers.add(other.index)
    return 0


def hipDeviceDisablePeerAccess(peer: int) -> int:
    other, here = rt.device(peer), rt.current
    if other.index not in here.peers:
        return codes.PEER_NOT_ENABLED
    here.peers.discard(other.index)
    return 0


def hipDeviceGetP2PAttribute(value: int, attribute: int, source: int, target: int) -> int:
    need(value)
    _two(source, target)
    if source == target:
        return codes.INVALID_DEVICE
    if not 0 <= attribute <= 3:
        return codes.INVALID_VALUE
    put32(value, (0, 1, 1, 0)[attribute])  # rank, access, atomics, arrays
    return 0


def hipExtGetLinkTypeAndHopCount(first: int, second: int, link: int, hops: int) -> int:
    need(link, hops)
    _two(first, second)
    if first == second:
        return codes.INVALID_VALUE
    put32(link, 2)  # HSA_AMD_LINK_INFO_TYPE_PCIE
    put32(hops, 1)
    return 0


# Contexts: one per device, its primary context


def _context_device(context: int) -> int:
    index = context - _CONTEXT
    if not 0 <= index < len(rt.devices):
        raise Failure(codes.INVALID_CONTEXT)
    return index


def hipCtxCreate(context: int, flags: int, device: int) -> int:
    need(context)
    index = rt.device(device).index
    rt.context_stack().append(rt.current.index)
    rt.set_device(index)
    put64(context, _CONTEXT + index)
    return 0


def hipCtxDestroy(context: int) -> int:
    need(context)
    _context_device(context)
    stack = rt.context_stack()
    if stack:
        rt.set_device(stack.pop())
    return 0


def hipCtxPushCurrent(context: int) -> int:
    index = _context_device(context)
    rt.context_stack().append(rt.current.index)
    rt.set_device(index)
    return 0


def hipCtxPopCurrent(context: int) -> int:
    stack = rt.context_stack()
    if not stack:
        return codes.INVALID_CONTEXT
    if context:
        put64(context, _CONTEXT + rt.current.index)
    rt.set_device(stack.pop())
    return 0


def hipCtxSetCurrent(context: int) -> int:
    if context:
        rt.set_device(_context_device(context))
    return 0


def hipCtxGetCurrent(context: int) -> int:
    need(context)
    put64(context, _CONTEXT + rt.current.index)
    return 0


def hipCtxGetDevice(device: int) -> int:
    need(device)
    put32(device, rt.current.index)
    return 0


def hipCtxGetApiVersion(context: int, version: int) -> int:
    need(version)
    put32(version, 4)
    return 0


def hipCtxGetFlags(flags: int) -> int:
    return hipGetDeviceFlags(flags)


def hipCtxGetCacheConfig(configuration: int) -> int:
    return hipDeviceGetCacheConfig(configuration)


def hipCtxSetCacheConfig(configuration: int) -> int:
    return hipDeviceSetCacheConfig(configuration)


def hipCtxGetSharedMemConfig(configuration: int) -> int:
    return hipDeviceGetSharedMemConfig(configuration)


def hipCtxSetSharedMemConfig(configuration: int) -> int:
    return hipDeviceSetSharedMemConfig(configuration)


def hipCtxEnablePeerAccess(context: int, flags: int) -> int:
    return hipDeviceEnablePeerAccess(_context_device(context), flags)


def hipCtxDisablePeerAccess(context: int) -> int:
    return hipDeviceDisablePeerAccess(_context_device(context))


def hipCtxSynchronize() -> int:
    rt.streams.wait_for_device(rt.current)
    return rt.surface(rt.current)


def hipDevicePrimaryCtxRetain(context: int, device: int) -> int:
    need(context)
    put64(context, _CONTEXT + rt.device(device).index)
    return 0


def hipDevicePrimaryCtxRelease(device: int) -> int:
    rt.device(device)
    return 0


def hipDevicePrimaryCtxReset(device: int) -> int:
    rt.reset(rt.device(device))
    return 0


def hipDevicePrimaryCtxSetFlags(device: int, flags: int) -> int:
    rt.device(device).flags = flags
    return 0


def hipDevicePrimaryCtxGetState(device: int, flags: int, active: int) -> int:
    found = rt.device(device)
    need(flags, active)
    put32(flags, found.flags)
    put32(active, int(found is rt.current))
    return 0
