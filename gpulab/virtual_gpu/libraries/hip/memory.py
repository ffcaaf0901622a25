"""HIP's calls on memory: allocation, copies, filling, pointers."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from gpulab.virtual_gpu.libraries.hip.textures import check_box, texel_bytes, whole
from gpulab.virtual_gpu.libraries.values import get32, get64, need, put32, put64, rt, text, waited
from gpulab.virtual_gpu.runtime import codes
from gpulab.virtual_gpu.runtime.codes import Failure
from gpulab.virtual_gpu.runtime.memory import (
    DEFAULT,
    DEVICE_TO_DEVICE,
    DEVICE_TO_HOST,
    HOST_TO_DEVICE,
    INVALID_DEVICE,
    TYPE_DEVICE,
    TYPE_HOST,
    TYPE_MANAGED,
    TYPE_UNREGISTERED,
)
from gpulab.virtual_gpu.runtime.streams import Stream
from gpulab.virtual_gpu.runtime.structures import (
    BatchCopy3D,
    CopyAttributes,
    CopyOperand,
    DriverMemcpy3D,
    Extent,
    Memcpy2D,
    Memcpy3D,
    Memcpy3DPeer,
    PitchedPtr,
    PointerAttributes,
    Position,
)

_memory, _streams, _captures = rt.memory, rt.streams, rt.captures
_TYPE_ARRAY = 10  # hipMemoryTypeArray
_SIGNAL = 2
_DEVICE, _HOST = ("device", "managed"), ("host",)
_HOST_FLAGS = 0xE000003F  # hipHostMalloc: default, portable, mapped, write combined, NUMA, coherence


# Allocation


def hipMalloc(pointer: int, size: int) -> int:
    need(pointer)
    put64(pointer, 0)
    put64(pointer, _memory.allocate(size, "device"))
    return 0


def hipExtMallocWithFlags(pointer: int, size: int, flags: int) -> int:
    """Fine-grained (1), uncached (3) and contiguous (4) memory is a device's own; signal memory (2), 8 bytes, is open
    to the host."""
    if flags & ~0x7 or (flags == _SIGNAL and size != 8):
        return codes.INVALID_VALUE
    if flags != _SIGNAL:
        return hipMalloc(pointer, size)
    need(pointer)
    put64(pointer, _memory.allocate(size, "device", flags, lies="signal"))
    return 0


def hipFree(address: int) -> int:
    if not address:
        return 0
    block = _memory.blocks.get(address)
    code = 0
    # hipFree waits, since HIP 7.0 not for memory of a pool (its change log).
    if block is not None and block.kind in _DEVICE and not block.pool:
        _streams.wait_for_device(block.device)
        code = rt.surface(block.device)
    _memory.free(address, _DEVICE)
    return code


def hipHostMalloc(pointer: int, size: int, flags: int) -> int:
    need(pointer)
    if flags & ~_HOST_FLAGS:
        return codes.INVALID_VALUE
    put64(pointer, _memory.allocate(size, "host", flags))
    return 0


def hipHostAlloc(pointer: int, size: int, flags: int) -> int:
    return hipHostMalloc(pointer, size, flags)


def hipMallocHost(pointer: int, size: int) -> int:
    return hipHostMalloc(pointer, size, 0)


def hipMemAllocHost(pointer: int, size: int) -> int:
    return hipHostMalloc(pointer, size, 0)


def hipHostFree(address: int) -> int:
    _memory.free(address, _HOST)
    return 0


def hipFreeHost(address: int) -> int:
    _memory.free(address, _HOST)
    return 0


def hipMallocPitch(pointer: int, pitch: int, width: int, height: int) -> int:
    need(pointer, pitch)
    if not width or not height:
        put64(pointer, 0)
        put64(pitch, 0)
        return 0
    step = _memory.pitch(width)
    put64(pointer, _memory.allocate(step * height, "device"))
    put64(pitch, step)
    return 0


def hipMemAllocPitch(pointer: int, pitch: int, width: int, height: int, element: int) -> int:
    if element not in (4, 8, 16):
        return codes.INVALID_VALUE
    return hipMallocPitch(pointer, pitch, width, height)


def hipMalloc3D(pitched: int, extent: int) -> int:
    need(pitched)
    size = Extent.from_address(extent)
    result = PitchedPtr.from_address(pitched)
    if not size.width or not size.height or not size.depth:
        result.ptr, result.pitch, result.xsize, result.ysize = None, 0, 0, 0
        return 0
    step = _memory.pitch(size.width)
    result.ptr = _memory.allocate(step * size.height * size.depth, "device")
    result.pitch, result.xsize, result.ysize = step, size.width, size.height
    return 0


# Information


def hipMemGetInfo(free: int, total: int) -> int:
    device = rt.current
    size = device.architecture.memory_bytes
    if free:
        put64(free, _memory.available(device))
    if total:
        put64(total, size)
    return 0


def hipMemGetAddressRange(base: int, size: int, address: int) -> int:
    found = _memory.find(address)
    if found is None:
        return codes.NOT_FOUND
    if base:
        put64(base, found.address)
    if size:
        put64(size, found.size)
    return 0


def hipMemPtrGetInfo(address: int, size: int) -> int:
    need(address, size)
    found = _memory.find(address)
    if found is None:
        return codes.INVALID_VALUE
    put64(size, found.size)
    return 0


def _type_of(kind: str) -> int:
    return {"host": TYPE_HOST, "managed": TYPE_MANAGED}.get(kind, TYPE_DEVICE)


def hipPointerGetAttributes(attributes: int, address: int) -> int:
    need(attributes, address)
    result = PointerAttributes.from_address(attributes)
    found = _memory.find(address)
    if found is None:
        registered = _memory.registration(address)
        if registered is None:  # AMD's library succeeds, too: that is how programs find out about memory of malloc
            result.type, result.device = TYPE_UNREGISTERED, INVALID_DEVICE
            result.hostPointer = result.devicePointer = None
            result.isManaged = result.allocationFlags = 0
            return 0
        result.type, result.device = TYPE_HOST, registered.device.index
        result.hostPointer = address
        result.devicePointer = registered.shadow + address - registered.address
        result.isManaged, result.allocationFlags = 0, registered.flags
        return 0
    block = _memory.blocks.get(found.address)
    result.type, result.device = _type_of(found.kind), found.device
    result.devicePointer = address
    result.hostPointer = address if found.kind in ("host", "managed") else None
    result.isManaged = int(found.kind == "managed")
    result.allocationFlags = block.flags if block is not None else 0
    return 0


#: hipPointer_attribute -> bytes of its value
_ATTRIBUTE_BYTES = {1: 8, 2: 4, 3: 8, 4: 8, 5: 16, 6: 4, 7: 4, 8: 4, 9: 4, 10: 4, 11: 8, 12: 8, 13: 4, 14: 4, 15: 4}


def _pointer_attribute(attribute: int, address: int) -> int | None:
    found = _memory.find(address)
    if found is None:
        return None
    host = found.kind in ("host", "managed")
    values = {
        1: 0x4_0000_0000 + found.device,
        2: _type_of(found.kind),
        3: address,
        4: address if host else 0,
        6: 0,
        7: found.address >> 8 & 0x7FFFFFFF,
        8: int(found.kind == "managed"),
        9: found.device,
        10: 0,
        11: found.address,
        12: found.size,
        13: 1,
        14: 0,
        15: 0,
    }
    return values.get(attribute)


def hipPointerGetAttribute(data: int, attribute: int, address: int) -> int:
    need(data)
    if attribute not in _ATTRIBUTE_BYTES:
        return codes.INVALID_VALUE
    value = _pointer_attribute(attribute, address)
    if value is None:
        return codes.INVALID_VALUE
    (put64 if _ATTRIBUTE_BYTES[attribute] == 8 else put32)(data, value)
    return 0


def hipDrvPointerGetAttributes(count: int, attributes: int, data: int, address: int) -> int:
    """Attributes that do not apply are set to zero, and the call succeeds."""
    need(attributes, data)
    for i in range(count):
        attribute, target = get32(attributes + 4 * i), get64(data + 8 * i)
        need(target)
        if attribute not in _ATTRIBUTE_BYTES:
            return codes.INVALID_VALUE
        value, size = _pointer_attribute(attribute, address) or 0, _ATTRIBUTE_BYTES[attribute]
        (put32 if size == 4 else put64)(target, value)
        if size == 16:
            put64(target + 8, 0)
    return 0


def hipPointerSetAttribute(value: int, attribute: int, address: int) -> int:
    need(value)
    if attribute != 6:  # HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS is the only one that can be set
        return codes.INVALID_VALUE
    return 0 if _memory.find(address) is not None else codes.INVALID_DEVICE_POINTER


# Host memory


def hipHostGetDevicePointer(result: int, address: int, flags: int) -> int:
    need(result, address)
    if flags:
        return codes.INVALID_VALUE
    found = _memory.find(address)
    if found is not None and found.kind == "host":
        put64(result, address)
        return 0
    registered = _memory.registration(address)
    if registered is None:
        return codes.INVALID_VALUE
    put64(result, registered.shadow + address - registered.address)
    return 0


def hipHostGetFlags(flags: int, address: int) -> int:
    need(flags, address)
    found = _memory.find(address)
    block = _memory.blocks.get(found.address) if found is not None else None
    if block is not None and block.kind == "host":
        put32(flags, block.flags)
        return 0
    registered = _memory.registration(address)
    if registered is None:
        return codes.INVALID_VALUE
    put32(flags, registered.flags)
    return 0


def hipHostRegister(address: int, size: int, flags: int) -> int:
    if not address or flags & ~0xF:
        return codes.INVALID_VALUE
    _memory.register(address, size, flags)
    return 0


def hipHostUnregister(address: int) -> int:
    need(address)
    _memory.unregister(address)
    return 0


# Copies


def _synchronous(target: int, source: int, size: int, kind: int) -> int:
    device = rt.current
    if device.fault is not None or device.printed:
        code = rt.surface(device)
        if code:
            return code
    if not size or target == source:
        return 0
    if not target or not source:
        raise Failure(codes.INVALID_VALUE, f"the {'source' if target else 'target'} is a null pointer")
    _memory.copy(target, source, size, kind, device.null_stream, waits=True)
    return rt.surface(device) if device.fault is not None else 0  # of a checked copy


def hipMemcpy(target: int, source: int, size: int, kind: int) -> int:
    return _synchronous(target, source, size, kind)


def hipMemcpyHtoD(target: int, source: int, size: int) -> int:
    return _synchronous(target, source, size, HOST_TO_DEVICE)


def hipMemcpyDtoH(target: int, source: int, size: int) -> int:
    return _synchronous(target, source, size, DEVICE_TO_HOST)


def hipMemcpyDtoD(target: int, source: int, size: int) -> int:
    return _synchronous(target, source, size, DEVICE_TO_DEVICE)


def hipMemcpyPeer(target: int, to: int, source: int, origin: int, size: int) -> int:
    rt.device(to)
    rt.device(origin)
    return _synchronous(target, source, size, DEVICE_TO_DEVICE)


def hipMemcpyAsync(target: int, source: int, size: int, kind: int, stream: int) -> int:
    where = _streams.find(stream)
    if not size or target == source:
        return 0
    if not target or not source:
        raise Failure(codes.INVALID_VALUE, f"the {'source' if target else 'target'} is a null pointer")
    _memory.copy(target, source, size, kind, where)
    return 0


def hipMemcpyWithStream(target: int, source: int, size: int, kind: int, stream: int) -> int:
    """A copy in a stream that the host waits for."""
    code = hipMemcpyAsync(target, source, size, kind, stream)
    where = _streams.find(stream)
    _streams.wait_for(where.last)
    return code or rt.surface(where.device)


def hipMemcpyHtoDAsync(target: int, source: int, size: int, stream: int) -> int:
    return hipMemcpyAsync(target, source, size, HOST_TO_DEVICE, stream)


def hipMemcpyDtoHAsync(target: int, source: int, size: int, stream: int) -> int:
    return hipMemcpyAsync(target, source, size, DEVICE_TO_HOST, stream)


def hipMemcpyDtoDAsync(target: int, source: int, size: int, stream: int) -> int:
    return hipMemcpyAsync(target, source, size, DEVICE_TO_DEVICE, stream)


def hipMemcpyPeerAsync(target: int, to: int, source: int, origin: int, size: int, stream: int) -> int:
    rt.device(to)
    rt.device(origin)
    return hipMemcpyAsync(target, source, size, DEVICE_TO_DEVICE, stream)


def _copy_2d(
    target: int,
    target_pitch: int,
    source: int,
    source_pitch: int,
    width: int,
    height: int,
    kind: int,
    stream: Stream | None,
) -> int:
    code, where = waited(stream)
    if code or not width or not height:
        return code
    if not target or not source:
        return codes.INVALID_VALUE
    if width > target_pitch or width > source_pitch:
        return codes.INVALID_PITCH
    _memory.copy_rows(target, target_pitch, 0, source, source_pitch, 0, width, height, 1, kind, where, stream is None)
    return 0


def hipMemcpy2D(target: int, dp: int, source: int, sp: int, width: int, height: int, kind: int) -> int:
    return _copy_2d(target, dp, source, sp, width, height, kind, None)


def hipMemcpy2DAsync(
    target: int, dp: int, source: int, sp: int, width: int, height: int, kind: int, stream: int
) -> int:
    return _copy_2d(target, dp, source, sp, width, height, kind, _streams.find(stream))


def _side(memory_type: int, host: int | None, device: int | None) -> int:
    """The address of one side of a driver copy."""
    address = host if memory_type == TYPE_HOST else device
    if memory_type not in (TYPE_HOST, TYPE_DEVICE, TYPE_MANAGED, 11):
        raise Failure(codes.INVALID_VALUE)
    if not address:
        address = host if memory_type == 11 else None
    if not address:
        raise Failure(codes.INVALID_VALUE)
    return address


def _sides(p: Memcpy2D | DriverMemcpy3D, deep: bool) -> list[tuple[int, int, int]]:
    """(address, bytes from row to row, rows from slice to slice) of source and target of a driver copy."""
    found = []
    for end in ("src", "dst"):

        def of(name: str, end: str = end) -> int:
            return int(getattr(p, end + name) or 0)

        if of("MemoryType") == _TYPE_ARRAY:
            z, depth = (of("Z"), p.Depth) if deep else (0, 1)
            check_box(of("Array"), of("XInBytes"), of("Y"), z, p.WidthInBytes, p.Height, depth)
            found.append(whole(of("Array")))
        else:
            address = _side(of("MemoryType"), of("Host"), of("Device"))
            found.append((address, of("Pitch") or p.WidthInBytes, (of("Height") if deep else 0) or p.Height))
    return found


def _param_2d(parameters: int, stream: Stream | None) -> int:
    need(parameters)
    p = Memcpy2D.from_address(parameters)
    (source, source_pitch, _), (target, target_pitch, _) = _sides(p, False)
    return _copy_2d(
        target + p.dstY * target_pitch + p.dstXInBytes,
        target_pitch,
        source + p.srcY * source_pitch + p.srcXInBytes,
        source_pitch,
        p.WidthInBytes,
        p.Height,
        DEFAULT,
        stream,
    )


def hipMemcpyParam2D(parameters: int) -> int:
    return _param_2d(parameters, None)


def hipMemcpyParam2DAsync(parameters: int, stream: int) -> int:
    return _param_2d(parameters, _streams.find(stream))


def hipDrvMemcpy2DUnaligned(parameters: int) -> int:
    return _param_2d(parameters, None)


def _copy_3d(p: Memcpy3D | Memcpy3DPeer, kind: int, stream: Stream | None) -> int:
    if p.srcArray or p.dstArray:
        return _copy_arrays(p, kind, stream)
    code, where = waited(stream)
    width, height, depth = p.extent.width, p.extent.height, p.extent.depth
    if code or not width or not height or not depth:
        return code
    source, target = p.srcPtr, p.dstPtr
    if not source.ptr or not target.ptr:
        return codes.INVALID_VALUE
    if p.srcPos.x + width > source.pitch or p.dstPos.x + width > target.pitch:
        return codes.INVALID_PITCH
    source_slice, target_slice = source.pitch * (source.ysize or height), target.pitch * (target.ysize or height)
    _memory.copy_rows(
        target.ptr + p.dstPos.z * target_slice + p.dstPos.y * target.pitch + p.dstPos.x,
        target.pitch,
        target_slice,
        source.ptr + p.srcPos.z * source_slice + p.srcPos.y * source.pitch + p.srcPos.x,
        source.pitch,
        source_slice,
        width,
        height,
        depth,
        kind,
        where,
        stream is None,
    )
    return 0


def array_rows(p: Memcpy3D | Memcpy3DPeer) -> tuple[tuple[int, int, int], tuple[int, int, int], tuple[int, int, int]]:
    """Where a 3D copy with an array at one end or at both goes: its extent and places in an array are in texels.

    Returns:
        (address, bytes from row to row, rows from slice to slice) of source and target; (bytes of a row, rows,
        slices).

    Raises:
        Failure: hipErrorInvalidValue, hipErrorInvalidPitchValue.
    """
    texel = texel_bytes(p.srcArray, p.dstArray)
    width, height, depth = p.extent.width * texel, p.extent.height or 1, p.extent.depth or 1
    ends = []
    for array, at, pitched in ((p.srcArray, p.srcPos, p.srcPtr), (p.dstArray, p.dstPos, p.dstPtr)):
        if array:
            check_box(array, at.x * texel, at.y, at.z, width, height, depth)
            address, pitch, rows = whole(array)
            x = at.x * texel
        else:
            if not pitched.ptr:
                raise Failure(codes.INVALID_VALUE)
            address, pitch, rows, x = pitched.ptr, pitched.pitch or width, pitched.ysize or height, at.x
            if x + width > pitch:
                raise Failure(codes.INVALID_PITCH)
        ends.append((address + at.z * pitch * rows + at.y * pitch + x, pitch, rows))
    return ends[0], ends[1], (width, height, depth)


def _copy_arrays(p: Memcpy3D | Memcpy3DPeer, kind: int, stream: Stream | None) -> int:
    code, where = waited(stream)
    if code or not p.extent.width:
        return code
    (source, source_pitch, source_rows), (target, target_pitch, target_rows), (width, height, depth) = array_rows(p)
    _memory.copy_rows(
        target, target_pitch, target_pitch * target_rows, source, source_pitch, source_pitch * source_rows,
        width, height, depth, kind, where, stream is None,
    )  # fmt: skip
    return 0


def hipMemcpy3D(parameters: int) -> int:
    need(parameters)
    p = Memcpy3D.from_address(parameters)
    return _copy_3d(p, p.kind, None)


def hipMemcpy3DAsync(parameters: int, stream: int) -> int:
    need(parameters)
    p = Memcpy3D.from_address(parameters)
    return _copy_3d(p, p.kind, _streams.find(stream))


def hipMemcpy3DPeer(parameters: int) -> int:
    need(parameters)
    return _copy_3d(Memcpy3DPeer.from_address(parameters), DEVICE_TO_DEVICE, None)


def hipMemcpy3DPeerAsync(parameters: int, stream: int) -> int:
    need(parameters)
    return _copy_3d(Memcpy3DPeer.from_address(parameters), DEVICE_TO_DEVICE, _streams.find(stream))


_BATCH_FLAGS = 0x101  # hints: hipMemcpyFlagPreferOverlapWithCompute, hipMemcpyFlagExtPreferCE
_OPERAND_POINTER, _OPERAND_ARRAY = 1, 2


def _batch(count: int, failed: int, copy: Callable[[int], int]) -> int:
    """Submit `count` copies in their order; of the first that fails the code, and its index where `failed` is."""
    for index in range(count):
        try:
            code = copy(index)
        except Failure:
            if failed:
                put64(failed, index)
            raise
        if code:
            if failed:
                put64(failed, index)
            return code
    return 0


def hipMemcpyBatchAsync(
    targets: int, sources: int, sizes: int, count: int, attributes: int, indices: int, attribute_count: int,
    failed: int, stream: int,
) -> int:  # fmt: skip
    need(targets, sources, sizes, count)
    where = _streams.find(stream)
    if attribute_count:
        need(attributes, indices)
        listed = (CopyAttributes * attribute_count).from_address(attributes)
        if any(one.flags & ~_BATCH_FLAGS for one in listed):
            raise Failure(codes.NOT_SUPPORTED, "swaps and indirect copies (hipMemcpyFlagExtOp*) are not supported")

    def copy(index: int) -> int:
        target, source, size = (get64(each + 8 * index) for each in (targets, sources, sizes))
        need(target, source, size)
        if target != source:
            _memory.copy(target, source, size, DEFAULT, where)
        return 0

    return _batch(count, failed, copy)


def _operand(operand: CopyOperand, width: int, height: int, texel: int) -> tuple[int | None, Position, PitchedPtr]:
    """(array, position in it, pitched pointer) of one end of a copy.

    Rows and layers without a length are as long as the extent; lengths are in elements: bytes, if no end is an array.
    """
    if operand.type == _OPERAND_ARRAY:
        need(operand.op.array.array or 0)
        return operand.op.array.array, operand.op.array.offset, PitchedPtr()
    if operand.type != _OPERAND_POINTER:
        raise Failure(codes.INVALID_VALUE, f"{operand.type} is no hipMemcpy3DOperandType")
    end = operand.op.ptr
    need(end.ptr or 0)
    row = (end.rowLength or width) * texel
    return None, Position(), PitchedPtr(end.ptr, row, row, end.layerHeight or height)


def hipMemcpy3DBatchAsync(count: int, copies: int, failed: int, flags: int, stream: int) -> int:
    need(count, copies)
    if flags:
        return codes.INVALID_VALUE
    where = _streams.find(stream)
    listed = (BatchCopy3D * count).from_address(copies)

    def copy(index: int) -> int:
        one = listed[index]
        width, height, depth = one.extent.width, one.extent.height, one.extent.depth
        need(width, height, depth)
        if one.flags & ~_BATCH_FLAGS:
            return codes.NOT_SUPPORTED
        arrays = [end.op.array.array for end in (one.src, one.dst) if end.type == _OPERAND_ARRAY]
        texel = texel_bytes(*arrays) if arrays else 1
        p = Memcpy3D(extent=one.extent, kind=DEFAULT)
        p.srcArray, p.srcPos, p.srcPtr = _operand(one.src, width, height, texel)
        p.dstArray, p.dstPos, p.dstPtr = _operand(one.dst, width, height, texel)
        return _copy_3d(p, DEFAULT, where)

    return _batch(count, failed, copy)


def _driver_3d(parameters: int, stream: Stream | None) -> int:
    need(parameters)
    p = DriverMemcpy3D.from_address(parameters)
    (source, source_pitch, source_rows), (target, target_pitch, target_rows) = _sides(p, True)
    code, where = waited(stream)
    if code:
        return code
    if p.WidthInBytes > source_pitch or p.WidthInBytes > target_pitch:
        return codes.INVALID_PITCH
    source_slice, target_slice = source_pitch * source_rows, target_pitch * target_rows
    _memory.copy_rows(
        target + p.dstZ * target_slice + p.dstY * target_pitch + p.dstXInBytes,
        target_pitch,
        target_slice,
        source + p.srcZ * source_slice + p.srcY * source_pitch + p.srcXInBytes,
        source_pitch,
        source_slice,
        p.WidthInBytes,
        p.Height,
        p.Depth,
        DEFAULT,
        where,
        stream is None,
    )
    return 0


def hipDrvMemcpy3D(parameters: int) -> int:
    return _driver_3d(parameters, None)


def hipDrvMemcpy3DAsync(parameters: int, stream: int) -> int:
    return _driver_3d(parameters, _streams.find(stream))


# Filling


def _fill(address: int, value: int, width: int, count: int, stream: Stream) -> int:
    if not count:
        return 0
    need(address)
    _memory.fill(address, (value & (1 << 8 * width) - 1).to_bytes(width, "little"), count, stream)
    return 0


def hipMemset(address: int, value: int, size: int) -> int:
    return _fill(address, value, 1, size, rt.current.null_stream)


def hipMemsetD8(address: int, value: int, count: int) -> int:
    return _fill(address, value, 1, count, rt.current.null_stream)


def hipMemsetD16(address: int, value: int, count: int) -> int:
    return _fill(address, value, 2, count, rt.current.null_stream)


def hipMemsetD32(address: int, value: int, count: int) -> int:
    return _fill(address, value, 4, count, rt.current.null_stream)


def hipMemsetAsync(address: int, value: int, size: int, stream: int) -> int:
    return _fill(address, value, 1, size, _streams.find(stream))


def hipMemsetD8Async(address: int, value: int, count: int, stream: int) -> int:
    return _fill(address, value, 1, count, _streams.find(stream))


def hipMemsetD16Async(address: int, value: int, count: int, stream: int) -> int:
    return _fill(address, value, 2, count, _streams.find(stream))


def hipMemsetD32Async(address: int, value: int, count: int, stream: int) -> int:
    return _fill(address, value, 4, count, _streams.find(stream))


def _fill_2d(address: int, pitch: int, value: int, element: int, width: int, height: int, stream: Stream) -> int:
    if not width or not height:
        return 0
    need(address)
    if width * element > pitch:
        return codes.INVALID_VALUE
    pattern = (value & (1 << 8 * element) - 1).to_bytes(element, "little")
    _memory.fill_rows(address, pitch, 0, pattern, width, height, 1, stream)
    return 0


def hipMemset2D(address: int, pitch: int, value: int, width: int, height: int) -> int:
    return _fill_2d(address, pitch, value, 1, width, height, rt.current.null_stream)


def hipMemset2DAsync(address: int, pitch: int, value: int, width: int, height: int, stream: int) -> int:
    return _fill_2d(address, pitch, value, 1, width, height, _streams.find(stream))


def hipMemsetD2D8(address: int, pitch: int, value: int, width: int, height: int) -> int:
    return _fill_2d(address, pitch, value, 1, width, height, rt.current.null_stream)


def hipMemsetD2D16(address: int, pitch: int, value: int, width: int, height: int) -> int:
    return _fill_2d(address, pitch, value, 2, width, height, rt.current.null_stream)


def hipMemsetD2D32(address: int, pitch: int, value: int, width: int, height: int) -> int:
    return _fill_2d(address, pitch, value, 4, width, height, rt.current.null_stream)


def hipMemsetD2D8Async(address: int, pitch: int, value: int, width: int, height: int, stream: int) -> int:
    return _fill_2d(address, pitch, value, 1, width, height, _streams.find(stream))


def hipMemsetD2D16Async(address: int, pitch: int, value: int, width: int, height: int, stream: int) -> int:
    return _fill_2d(address, pitch, value, 2, width, height, _streams.find(stream))


def hipMemsetD2D32Async(address: int, pitch: int, value: int, width: int, height: int, stream: int) -> int:
    return _fill_2d(address, pitch, value, 4, width, height, _streams.find(stream))


def _fill_3d(pitched: int, value: int, extent: int, stream: Stream) -> int:
    target, size = PitchedPtr.from_address(pitched), Extent.from_address(extent)
    if not size.width or not size.height or not size.depth:
        return 0
    if not target.ptr or size.width > target.pitch:
        return codes.INVALID_VALUE
    slice_bytes = target.pitch * (target.ysize or size.height)
    _memory.fill_rows(
        target.ptr, target.pitch, slice_bytes, bytes([value & 0xFF]), size.width, size.height, size.depth, stream
    )
    return 0


def hipMemset3D(pitched: int, value: int, extent: int) -> int:
    return _fill_3d(pitched, value, extent, rt.current.null_stream)


def hipMemset3DAsync(pitched: int, value: int, extent: int, stream: int) -> int:
    return _fill_3d(pitched, value, extent, _streams.find(stream))


# Symbols and program entry


def hipGetProcAddress(symbol: int, function: int, version: int, flags: int, status: int) -> int:
    from gpulab.virtual_gpu.libraries import building

    need(function)
    name = text(symbol)
    library = ctypes.PyDLL(str(building.path("hip")))
    # Some functions have a versioned symbol behind their plain name.
    found = getattr(library, {"hipGetDeviceProperties": "hipGetDevicePropertiesR0600"}.get(name, name), None)
    if found is None:
        put64(function, 0)
        if status:
            put32(status, 1)  # HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
        return codes.INVALID_VALUE
    put64(function, ctypes.cast(found, ctypes.c_void_p).value or 0)
    if status:
        put32(status, 0)
    return 0
