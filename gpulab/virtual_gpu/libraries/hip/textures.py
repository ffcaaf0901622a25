"""HIP's calls on arrays, texture and surface objects, and on texture references, which are deprecated."""

from __future__ import annotations

import ctypes

from gpulab.virtual_gpu.libraries.values import get64, need, put32, put64, rt, waited
from gpulab.virtual_gpu.runtime import codes
from gpulab.virtual_gpu.runtime.codes import Failure
from gpulab.virtual_gpu.runtime.memory import DEFAULT, DEVICE_TO_DEVICE, DEVICE_TO_HOST, HOST_TO_DEVICE
from gpulab.virtual_gpu.runtime.streams import Stream
from gpulab.virtual_gpu.runtime.structures import (
    ArrayDescription,
    ArrayDescription3D,
    ChannelFormat,
    DriverResource,
    DriverTexture,
    Extent,
    ResourceDescription,
    ResourceView,
    TextureDescription,
    TextureReference,
)
from gpulab.virtual_gpu.runtime.textures import (
    ARRAY,
    LINEAR,
    PITCH_2D,
    Array,
    channels_of,
    driver_channels,
    of_driver,
    of_driver_texture,
)

_textures, _memory, _streams = rt.textures, rt.memory, rt.streams


# Arrays


def hipMallocArray(array: int, described: int, width: int, height: int, flags: int) -> int:
    need(array, described)
    channels = channels_of(ChannelFormat.from_address(described))
    put64(array, _textures.allocate(channels, width, height, 0, flags))
    return 0


def hipMalloc3DArray(array: int, described: int, extent: int, flags: int) -> int:
    need(array, described)
    size = Extent.from_address(extent)
    channels = channels_of(ChannelFormat.from_address(described))
    put64(array, _textures.allocate(channels, size.width, size.height, size.depth, flags))
    return 0


def hipArrayCreate(array: int, described: int) -> int:
    need(array, described)
    given = ArrayDescription.from_address(described)
    channels = driver_channels(given.Format, given.NumChannels)
    put64(array, _textures.allocate(channels, given.Width, given.Height, 0, 0, True))
    return 0


def hipArray3DCreate(array: int, described: int) -> int:
    need(array, described)
    given = ArrayDescription3D.from_address(described)
    channels = driver_channels(given.Format, given.NumChannels)
    put64(array, _textures.allocate(channels, given.Width, given.Height, given.Depth, given.Flags, True))
    return 0


def hipFreeArray(array: int) -> int:
    need(array)
    found = _textures.arrays.get(array)
    if found is not None:
        _streams.wait_for_device(found.device)
        code = rt.surface(found.device)
        if code:
            return code
    _textures.free(array)
    return 0


def hipArrayDestroy(array: int) -> int:
    return hipFreeArray(array)


def hipArrayGetInfo(described: int, extent: int, flags: int, array: int) -> int:
    found = _textures.array(array)
    if described:
        ChannelFormat.from_address(described).__init__(*_values(found.channels.described()))  # type: ignore[misc]
    if extent:
        size = Extent.from_address(extent)
        size.width, size.height, size.depth = found.width, found.height, found.depth
    if flags:
        put32(flags, found.flags)
    return 0


def _values(described: ChannelFormat) -> list[int]:
    return [described.x, described.y, described.z, described.w, described.f]


def hipArrayGetDescriptor(described: int, array: int) -> int:
    need(described)
    found, result = _textures.array(array), ArrayDescription.from_address(described)
    result.Width, result.Height = found.width, found.height
    result.Format, result.NumChannels = found.channels.driver_format(), found.channels.count
    return 0


def hipArray3DGetDescriptor(described: int, array: int) -> int:
    need(described)
    found, result = _textures.array(array), ArrayDescription3D.from_address(described)
    result.Width, result.Height, result.Depth, result.Flags = found.width, found.height, found.depth, found.flags
    result.Format, result.NumChannels = found.channels.driver_format(), found.channels.count
    return 0


def hipGetChannelDesc(described: int, array: int) -> int:
    need(described, array)
    found = _textures.array(array).channels.described()
    ctypes.memmove(described, ctypes.addressof(found), ctypes.sizeof(found))
    return 0


def hipDeviceGetTexture1DLinearMaxWidth(width: int, described: int, device: int) -> int:
    need(width, described)
    channels_of(ChannelFormat.from_address(described))
    architecture = rt.device(device).architecture
    put64(width, (1 << 31) - 1 if architecture.image_support else 0)  # maxTexture1DLinear
    return 0


# Copies


def _inside(array: Array, x: int, y: int, width: int, height: int) -> int:
    """The address of the byte x of row y of an array, of which a rectangle is copied."""
    rows = max(array.height, 1) * max(array.depth, 1)
    if x + width > array.width * array.channels.size or y + height > rows:
        raise Failure(
            codes.INVALID_VALUE,
            f"{width} bytes by {height} rows from byte {x} of row {y} go past the end of an array of "
            f"{array.width * array.channels.size} bytes by {rows} rows",
        )
    if x % array.channels.size or width % array.channels.size:
        raise Failure(codes.INVALID_VALUE, f"widths and offsets are bytes: multiples of {array.channels.size} here")
    return array.address + y * array.pitch + x


def _copy(
    target: int, target_pitch: int, source: int, source_pitch: int, width: int, height: int, kind: int,
    stream: Stream | None,
) -> int:  # fmt: skip
    code, where = waited(stream)
    if code or not width or not height:
        return code
    if width > target_pitch or width > source_pitch:
        return codes.INVALID_PITCH
    _memory.copy_rows(target, target_pitch, 0, source, source_pitch, 0, width, height, 1, kind, where, stream is None)
    return 0


def _to_array(
    array: int, x: int, y: int, source: int, pitch: int, width: int, height: int, kind: int, stream: Stream | None
) -> int:
    need(array, source)
    found = _textures.array(array)
    return _copy(_inside(found, x, y, width, height), found.pitch, source, pitch, width, height, kind, stream)


def hipMemcpy2DToArray(array: int, x: int, y: int, source: int, pitch: int, width: int, height: int, kind: int) -> int:
    return _to_array(array, x, y, source, pitch, width, height, kind, None)


def hipMemcpy2DToArrayAsync(
    array: int, x: int, y: int, source: int, pitch: int, width: int, height: int, kind: int, stream: int
) -> int:
    return _to_array(array, x, y, source, pitch, width, height, kind, _streams.find(stream))


def _from_array(
    target: int, pitch: int, array: int, x: int, y: int, width: int, height: int, kind: int, stream: Stream | None
) -> int:
    need(array, target)
    found = _textures.array(array)
    return _copy(target, pitch, _inside(found, x, y, width, height), found.pitch, width, height, kind, stream)


def hipMemcpy2DFromArray(
    target: int, pitch: int, array: int, x: int, y: int, width: int, height: int, kind: int
) -> int:
    return _from_array(target, pitch, array, x, y, width, height, kind, None)


def hipMemcpy2DFromArrayAsync(
    target: int, pitch: int, array: int, x: int, y: int, width: int, height: int, kind: int, stream: int
) -> int:
    return _from_array(target, pitch, array, x, y, width, height, kind, _streams.find(stream))


def hipMemcpy2DArrayToArray(
    target: int, tx: int, ty: int, source: int, sx: int, sy: int, width: int, height: int, kind: int
) -> int:
    to, origin = _textures.array(target), _textures.array(source)
    if kind not in (DEVICE_TO_DEVICE, DEFAULT):
        return codes.INVALID_COPY_DIRECTION
    first, other = _inside(to, tx, ty, width, height), _inside(origin, sx, sy, width, height)
    return _copy(first, to.pitch, other, origin.pitch, width, height, kind, None)


def _stretch(array: Array, x: int, y: int, count: int) -> list[tuple[int, int, int]]:
    """`count` bytes from byte x of row y on, row after row: (address, offset in the stretch, bytes) of each piece."""
    row, pieces, done = array.width * array.channels.size, [], 0
    while done < count:
        size = min(row - x, count - done)
        if size <= 0:
            raise Failure(codes.INVALID_VALUE, f"byte {x} is beyond the end of a row of {row} bytes")
        pieces.append((_inside(array, x, y, size, 1), done, size))
        done, x, y = done + size, 0, y + 1
    return pieces


def hipMemcpyToArray(array: int, x: int, y: int, source: int, count: int, kind: int) -> int:
    """Deprecated in HIP: copies run on from row to row."""
    need(array, source)
    for address, offset, size in _stretch(_textures.array(array), x, y, count):
        code = _copy(address, size, source + offset, size, size, 1, kind, None)
        if code:
            return code
    return 0


def hipMemcpyFromArray(target: int, array: int, x: int, y: int, count: int, kind: int) -> int:
    """Deprecated in HIP, as hipMemcpyToArray."""
    need(array, target)
    for address, offset, size in _stretch(_textures.array(array), x, y, count):
        code = _copy(target + offset, size, address, size, size, 1, kind, None)
        if code:
            return code
    return 0


def hipMemcpyHtoA(array: int, offset: int, source: int, count: int) -> int:
    return hipMemcpyToArray(array, offset, 0, source, count, HOST_TO_DEVICE)


def hipMemcpyAtoH(target: int, array: int, offset: int, count: int) -> int:
    return hipMemcpyFromArray(target, array, offset, 0, count, DEVICE_TO_HOST)


def whole(handle: int) -> tuple[int, int, int]:
    """(address, bytes from row to row, rows from slice to slice) of an array, for copies of any shape."""
    found = _textures.array(handle)
    return found.address, found.pitch, max(found.height, 1)


def texel_bytes(*handles: int | None) -> int:
    """What one element of a 3D copy's extent is: a texel of its arrays, which have to agree; 1 without an array.

    Raises:
        Failure: hipErrorInvalidValue.
    """
    sizes = {_textures.array(handle).channels.size for handle in handles if handle}
    if len(sizes) > 1:
        raise Failure(codes.INVALID_VALUE, "the arrays of a copy have texels of one size")
    return sizes.pop() if sizes else 1


def check_box(handle: int, x: int, y: int, z: int, width: int, height: int, depth: int) -> None:
    """Whether a box of bytes, rows and slices lies in an array. Raises Failure: hipErrorInvalidValue."""
    found = _textures.array(handle)
    size = (found.width * found.channels.size, max(found.height, 1), max(found.depth, 1))
    if x + width > size[0] or y + height > size[1] or z + depth > size[2]:
        raise Failure(
            codes.INVALID_VALUE,
            f"{width} bytes, {height} rows and {depth} slices from ({x}, {y}, {z}) go past the end of an array of "
            f"{size[0]} bytes, {size[1]} rows and {size[2]} slices",
        )


# Objects


def hipCreateTextureObject(handle: int, resource: int, texture: int, view: int) -> int:
    need(handle, resource, texture)
    put64(handle, 0)
    made = _textures.create(
        ResourceDescription.from_address(resource),
        TextureDescription.from_address(texture),
        ResourceView.from_address(view) if view else None,
    )
    put64(handle, made)
    return 0


def hipDestroyTextureObject(handle: int) -> int:
    _textures.destroy(handle)
    return 0


def _give(result: int, raw: bytes) -> int:
    need(result)
    ctypes.memmove(result, raw, len(raw))
    return 0


def hipGetTextureObjectResourceDesc(result: int, handle: int) -> int:
    return _give(result, _textures.described(handle).resource)


def hipGetTextureObjectTextureDesc(result: int, handle: int) -> int:
    return _give(result, _textures.described(handle).texture)


def hipGetTextureObjectResourceViewDesc(result: int, handle: int) -> int:
    return _give(result, _textures.described(handle).view)


def hipTexObjectCreate(handle: int, resource: int, texture: int, view: int) -> int:
    need(handle, resource, texture)
    put64(handle, 0)
    made = _textures.create(
        of_driver(DriverResource.from_address(resource)),
        of_driver_texture(DriverTexture.from_address(texture)),
        ResourceView.from_address(view) if view else None,
    )
    put64(handle, made)
    return 0


def hipTexObjectDestroy(handle: int) -> int:
    _textures.destroy(handle)
    return 0


def hipTexObjectGetResourceDesc(result: int, handle: int) -> int:
    need(result)
    given = ResourceDescription.from_buffer_copy(_textures.described(handle).resource)
    made = DriverResource()
    made.resType = given.resType
    if given.resType == LINEAR:
        channels, part = channels_of(given.res.linear.desc), made.res.linear
        part.devPtr, part.sizeInBytes = given.res.linear.devPtr, given.res.linear.sizeInBytes
        part.format, part.numChannels = channels.driver_format(), channels.count
    elif given.resType == PITCH_2D:
        flat = made.res.pitch2D
        channels, origin = channels_of(given.res.pitch2D.desc), given.res.pitch2D
        flat.devPtr, flat.width, flat.height, flat.pitchInBytes = (
            origin.devPtr, origin.width, origin.height, origin.pitchInBytes
        )  # fmt: skip
        flat.format, flat.numChannels = channels.driver_format(), channels.count
    else:
        made.res.array = given.res.array
    return _give(result, bytes(made))


def hipTexObjectGetTextureDesc(result: int, handle: int) -> int:
    given = TextureDescription.from_buffer_copy(_textures.described(handle).texture)
    made = DriverTexture()
    made.addressMode[:] = list(given.addressMode)
    made.filterMode, made.borderColor[:] = given.filterMode, list(given.borderColor)
    made.flags = (1 - given.readMode) | bool(given.normalizedCoords) << 1
    return _give(result, bytes(made))


def hipTexObjectGetResourceViewDesc(result: int, handle: int) -> int:
    return hipGetTextureObjectResourceViewDesc(result, handle)


def hipCreateSurfaceObject(handle: int, resource: int) -> int:
    need(handle, resource)
    put64(handle, 0)
    put64(handle, _textures.create_surface(ResourceDescription.from_address(resource)))
    return 0


def hipDestroySurfaceObject(handle: int) -> int:
    _textures.destroy(handle, True)
    return 0


# Texture references, which HIP deprecates: the object that a reference is bound to stands in the variable on the device


def _bind(reference: int, resource: ResourceDescription) -> int:
    found = TextureReference.from_address(reference)
    address, size = rt.linked.variable(reference)
    if size < ctypes.sizeof(TextureReference):
        raise Failure(codes.INVALID_SYMBOL, "this variable is no texture reference")
    if found.textureObject:
        _textures.destroy(found.textureObject)
        found.textureObject = 0
    texture = TextureDescription()
    texture.addressMode[:] = list(found.addressMode)
    texture.filterMode, texture.readMode, texture.sRGB = found.filterMode, found.readMode, found.sRGB
    texture.normalizedCoords, texture.maxAnisotropy = found.normalized, found.maxAnisotropy
    found.textureObject = _textures.create(resource, texture, None)
    ctypes.memmove(rt.memory.home(address), reference, ctypes.sizeof(TextureReference))
    return 0


def hipBindTexture(offset: int, reference: int, address: int, described: int, size: int) -> int:
    need(reference, address, described)
    resource = ResourceDescription()
    resource.resType = LINEAR
    resource.res.linear.devPtr, resource.res.linear.sizeInBytes = address, size
    resource.res.linear.desc = ChannelFormat.from_address(described)
    if offset:
        put64(offset, 0)
    return _bind(reference, resource)


def hipBindTexture2D(
    offset: int, reference: int, address: int, described: int, width: int, height: int, pitch: int
) -> int:
    need(reference, address, described)
    resource = ResourceDescription()
    resource.resType = PITCH_2D
    flat = resource.res.pitch2D
    flat.devPtr, flat.width, flat.height, flat.pitchInBytes = address, width, height, pitch
    flat.desc = ChannelFormat.from_address(described)
    if offset:
        put64(offset, 0)
    return _bind(reference, resource)


def hipBindTextureToArray(reference: int, array: int, described: int) -> int:
    need(reference, array, described)
    if channels_of(ChannelFormat.from_address(described)) != _textures.array(array).channels:
        raise Failure(codes.INVALID_VALUE, "the texels that are described are not those of the array")
    resource = ResourceDescription()
    resource.resType = ARRAY
    resource.res.array = array
    return _bind(reference, resource)


def hipUnbindTexture(reference: int) -> int:
    need(reference)
    found = TextureReference.from_address(reference)
    if found.textureObject:
        _textures.destroy(found.textureObject)
        found.textureObject = 0
    return 0


def hipGetTextureAlignmentOffset(offset: int, reference: int) -> int:
    need(offset, reference)
    put64(offset, 0)
    return 0


def hipGetTextureReference(result: int, symbol: int) -> int:
    need(result)
    put64(result, symbol)
    return 0 if get64(result) else codes.INVALID_VALUE
