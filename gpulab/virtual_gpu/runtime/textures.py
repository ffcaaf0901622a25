"""Arrays, texture objects and surface objects: `Textures`.

An array is memory of the device in rows that begin at multiples of 256 bytes; its handle is its address. (On hardware
its layout is opaque.) A texture object is 20 words in memory that kernels can read, as ROCm lays it out: the resource
descriptor of eight words, four that the runtime uses, and the sampler. isa/images.py says what the fields mean.

Only devices with a texture unit have any of it: HIP answers hipErrorNotSupported on the others
(hipDeviceAttributeImageSupport is 0).
"""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass

from gpulab.virtual_gpu.isa.images import TYPES, Format, formats
from gpulab.virtual_gpu.runtime import codes
from gpulab.virtual_gpu.runtime.codes import Failure
from gpulab.virtual_gpu.runtime.context import Context
from gpulab.virtual_gpu.runtime.device import Device
from gpulab.virtual_gpu.runtime.memory import PITCH_ALIGNMENT, Memory
from gpulab.virtual_gpu.runtime.structures import (
    ChannelFormat,
    DriverResource,
    DriverTexture,
    ResourceDescription,
    ResourceView,
    TextureDescription,
)

SIGNED, UNSIGNED, FLOAT = 0, 1, 2  # hipChannelFormatKind
ARRAY, MIPMAPPED, LINEAR, PITCH_2D = 0, 1, 2, 3  # hipResourceType
LAYERED, SURFACE, CUBEMAP, GATHER = 1, 2, 4, 8  # flags of arrays
WRAP, CLAMP, MIRROR, BORDER = 0, 1, 2, 3  # hipTextureAddressMode

_CLAMPS = {WRAP: 0, CLAMP: 2, MIRROR: 1, BORDER: 6}  # as a sampler has them
OBJECT_BYTES, SAMPLER_AT = 80, 48
FORMATS = {0x01: (8, UNSIGNED), 0x02: (16, UNSIGNED), 0x03: (32, UNSIGNED), 0x08: (8, SIGNED), 0x09: (16, SIGNED),
           0x0A: (32, SIGNED), 0x10: (16, FLOAT), 0x20: (32, FLOAT)}  # fmt: skip
"""hipArray_Format: bits of a channel and its kind."""
_CHANNEL_TYPES = {"snorm8": 0, "snorm16": 1, "unorm8": 2, "unorm16": 3, "sint8": 8, "sint16": 9, "sint32": 10,
                  "uint8": 11, "uint16": 12, "uint32": 13, "float16": 14, "float32": 15}  # fmt: skip
_ORDERS = {1: 1, 2: 3, 4: 8}
"""Channel types and orders as HSA numbers them: words 8 and 9 of a texture object (HSA runtime, images)."""
_NO_UNIT = (
    "{device} has no texture unit (hipDeviceAttributeImageSupport is 0), so HIP has no arrays, textures and surfaces "
    "on it. Read plain memory, and interpolate in the kernel; or use a device of RDNA, such as gfx1100"
)


@dataclass(frozen=True, slots=True)
class Channels:
    """A texel of `count` channels of `bits` each, of hipChannelFormatKind `kind`."""

    bits: int
    count: int
    kind: int

    @property
    def size(self) -> int:
        """Bytes of a texel."""
        return self.bits * self.count // 8

    def format(self, normalized: bool) -> Format:
        """What the texture unit makes of it; integers become floats of [0, 1] or [-1, 1] where `normalized`."""
        if self.kind == FLOAT:
            return Format(self.bits, self.count, "float")
        if normalized and self.bits < 32:  # HIP does not promote 32-bit integers
            return Format(self.bits, self.count, "unorm" if self.kind == UNSIGNED else "snorm")
        return Format(self.bits, self.count, "uint" if self.kind == UNSIGNED else "sint")

    def described(self) -> ChannelFormat:
        bits = [self.bits if n < self.count else 0 for n in range(4)]
        return ChannelFormat(*bits, self.kind)

    def driver_format(self) -> int:
        """The number of the hipArray_Format."""
        return next(number for number, (bits, kind) in FORMATS.items() if (bits, kind) == (self.bits, self.kind))


def channels_of(described: ChannelFormat) -> Channels:
    """A texel's channels.

    Raises:
        Failure: hipErrorInvalidChannelDescriptor... as hipErrorInvalidValue: no such texels.
    """
    given = [described.x, described.y, described.z, described.w]
    count = next((n for n, bits in enumerate(given) if not bits), 4)
    if count not in (1, 2, 4) or any(given[count:]) or len(set(given[:count])) != 1:
        raise Failure(codes.INVALID_VALUE, f"a texel has 1, 2 or 4 channels of equal width, not {given}")
    return _channels(given[0], count, described.f)


def driver_channels(number: int, count: int) -> Channels:
    """The same of a hipArray_Format and a number of channels."""
    if number not in FORMATS or count not in (1, 2, 4):
        raise Failure(codes.INVALID_VALUE, f"there are no texels of format {number:#x} with {count} channels")
    bits, kind = FORMATS[number]
    return Channels(bits, count, kind)


def _channels(bits: int, count: int, kind: int) -> Channels:
    good = bits in (16, 32) if kind == FLOAT else bits in (8, 16, 32) and kind in (SIGNED, UNSIGNED)
    if not good:
        raise Failure(
            codes.INVALID_VALUE, f"a channel has 8, 16 or 32 bits (floats 16 or 32), not {bits} of kind {kind}"
        )
    return Channels(bits, count, kind)


@dataclass(frozen=True, slots=True)
class Array:
    """A hipArray. height, depth: 0 where it has no such direction; depth counts the layers of a layered one."""

    address: int
    channels: Channels
    width: int
    height: int
    depth: int
    flags: int
    device: Device
    driver: bool

    @property
    def pitch(self) -> int:
        return -(-self.width * self.channels.size // PITCH_ALIGNMENT) * PITCH_ALIGNMENT

    @property
    def slice(self) -> int:
        return self.pitch * max(self.height, 1)

    @property
    def shape(self) -> str:
        """As isa/images.py names it."""
        if self.flags & LAYERED:
            return "2d_array" if self.height else "1d_array"
        return "3d" if self.depth else "2d" if self.height else "1d"


@dataclass(frozen=True, slots=True)
class Described:
    """A texture or surface object: copies of what it was made of."""

    handle: int
    resource: bytes
    texture: bytes
    view: bytes
    surface: bool
    device: Device


class Textures:
    """All arrays and objects of this process, by handle."""

    def __init__(self, context: Context, memory: Memory) -> None:
        self._context, self._memory = context, memory
        self.arrays: dict[int, Array] = {}
        self.objects: dict[int, Described] = {}

    def reset(self, device: Device) -> None:
        """hipDeviceReset: arrays are freed as all memory of the device is."""
        self.arrays = {at: array for at, array in self.arrays.items() if array.device is not device}
        for handle in [handle for handle, one in self.objects.items() if one.device is device]:
            self.destroy(handle, self.objects[handle].surface)

    def _unit(self) -> Device:
        """The current device, which has to have a texture unit."""
        device = self._context.current
        if not device.architecture.image_support:
            raise Failure(codes.NOT_SUPPORTED, _NO_UNIT.format(device=device.architecture.name))
        return device

    # arrays

    def allocate(
        self, channels: Channels, width: int, height: int, depth: int, flags: int, driver: bool = False
    ) -> int:
        """hipMalloc3DArray and its like; the handle.

        Raises:
            Failure: hipErrorNotSupported (no texture unit, cube maps), hipErrorInvalidValue, hipErrorOutOfMemory.
        """
        device = self._unit()
        if flags & CUBEMAP:
            raise Failure(codes.NOT_SUPPORTED, "cube maps are not supported; use an array with six layers")
        if flags & ~(LAYERED | SURFACE | GATHER) or not width:
            raise Failure(codes.INVALID_VALUE, "an array has a width, and flags of hipArrayDefault, Layered, "
                          "SurfaceLoadStore and TextureGather")  # fmt: skip
        layered = bool(flags & LAYERED)
        if layered and not depth:
            raise Failure(codes.INVALID_VALUE, "a layered array has its layers in the depth, which is 0")
        if depth and not height and not layered:
            raise Failure(codes.INVALID_VALUE, "an array with a depth has a height")
        if flags & GATHER and (not height or depth):
            raise Failure(codes.INVALID_VALUE, "hipArrayTextureGather is for 2D arrays")
        if max(width, height) > 16384 or depth > 8192:
            raise Failure(codes.INVALID_VALUE, "an array has at most 16384 x 16384 texels and 8192 layers or slices")
        array = Array(0, channels, width, height, depth, flags, device, driver)
        address = self._memory.allocate(array.slice * max(depth, 1), "array")
        self.arrays[address] = Array(address, channels, width, height, depth, flags, device, driver)
        return address

    def array(self, handle: int) -> Array:
        """The array of a handle. Raises Failure: hipErrorInvalidHandle."""
        found = self.arrays.get(handle)
        if found is None:
            raise Failure(codes.INVALID_HANDLE if handle else codes.INVALID_VALUE, "this is no handle of an array")
        return found

    def free(self, handle: int) -> None:
        if not handle:
            return
        if handle not in self.arrays:
            raise Failure(codes.CONTEXT_IS_DESTROYED, "this array was freed, or never was one")
        self._memory.free(handle, ("array",))
        del self.arrays[handle]

    # objects

    def create(self, resource: ResourceDescription, texture: TextureDescription, view: ResourceView | None) -> int:
        """hipCreateTextureObject; the handle.

        Raises:
            Failure: hipErrorNotSupported, hipErrorInvalidValue.
        """
        device = self._unit()
        self._check_texture(resource, texture)
        channels, words = self._resource(resource, texture.readMode == 1, device)
        if view is not None:
            self._check_view(resource, view)
        filtered = texture.filterMode == 1 and resource.resType != LINEAR
        if filtered and channels.format(texture.readMode == 1).integers:
            raise Failure(
                codes.INVALID_VALUE,
                "integers are not filtered: hipFilterModeLinear goes with floats, or with hipReadModeNormalizedFloat "
                "and channels of 8 or 16 bits",
            )
        words += self._sampler(resource, texture)
        return self._place(words, resource, texture, view, device, False)

    def create_surface(self, resource: ResourceDescription) -> int:
        """hipCreateSurfaceObject; the handle. Raises Failure as `create`."""
        device = self._unit()
        if resource.resType != ARRAY:
            raise Failure(codes.INVALID_VALUE, "a surface is made of an array (hipResourceTypeArray)")
        _, words = self._resource(resource, False, device)
        return self._place([*words, *[0] * 8], resource, TextureDescription(), None, device, True)

    def _place(
        self,
        words: list[int],
        resource: ResourceDescription,
        texture: TextureDescription,
        view: ResourceView | None,
        device: Device,
        surface: bool,
    ) -> int:
        name = "surface object" if surface else "texture object"
        try:
            handle = self._context.arena.allocate(OBJECT_BYTES, "object", device.index, name, writable=False)
        except MemoryError as error:
            raise Failure(codes.OUT_OF_MEMORY, str(error)) from error
        ctypes.memmove(handle, struct.pack("<20I", *words), OBJECT_BYTES)
        self.objects[handle] = Described(
            handle, bytes(resource), bytes(texture), bytes(view or ResourceView()), surface, device
        )
        return handle

    def destroy(self, handle: int, surface: bool = False) -> None:
        if not handle:
            return
        self.described(handle, surface)
        del self.objects[handle]
        self._context.arena.free(handle)

    def described(self, handle: int, surface: bool = False) -> Described:
        """What an object was made of. Raises Failure: hipErrorInvalidValue."""
        found = self.objects.get(handle)
        if found is None or found.surface != surface:
            raise Failure(codes.INVALID_VALUE, f"this is no {'surface' if surface else 'texture'} object")
        return found

    def _check_texture(self, resource: ResourceDescription, texture: TextureDescription) -> None:
        unsupported = [
            name
            for name, given in (
                ("sRGB", texture.sRGB),
                ("maxAnisotropy", texture.maxAnisotropy),
                ("mipmapLevelBias", texture.mipmapLevelBias),
                ("minMipmapLevelClamp", texture.minMipmapLevelClamp),
                ("maxMipmapLevelClamp", texture.maxMipmapLevelClamp),
            )
            if given
        ]
        if unsupported:
            raise Failure(
                codes.NOT_SUPPORTED,
                f"{', '.join(unsupported)} of hipTextureDesc: textures have one level here; leave it 0",
            )
        modes = list(texture.addressMode)
        if any(mode not in _CLAMPS for mode in modes) or texture.filterMode not in (0, 1):
            raise Failure(codes.INVALID_VALUE, "no such hipTextureAddressMode or hipTextureFilterMode")
        if texture.readMode not in (0, 1):
            raise Failure(codes.INVALID_VALUE, "no such hipTextureReadMode")
        if BORDER in modes and resource.resType != LINEAR:
            self._border(texture)

    def _check_view(self, resource: ResourceDescription, view: ResourceView) -> None:
        if resource.resType != ARRAY:
            raise Failure(codes.INVALID_VALUE, "a resource view goes with an array")
        array = self.array(resource.res.array)
        whole = view.width in (0, array.width) and view.height in (0, array.height) and view.depth in (0, array.depth)
        levels = not (view.firstMipmapLevel or view.lastMipmapLevel or view.firstLayer)
        if view.format or not whole or not levels or view.lastLayer not in (0, max(array.depth, 1) - 1):
            raise Failure(
                codes.NOT_SUPPORTED,
                "a resource view that is not the whole array in its own format (hipResViewFormatNone) is not supported",
            )

    def _border(self, texture: TextureDescription) -> int:
        """The sampler's number of a border's colour: it has three."""
        colour = tuple(texture.borderColor)
        known = {(0.0, 0.0, 0.0, 0.0): 0, (0.0, 0.0, 0.0, 1.0): 1, (1.0, 1.0, 1.0, 1.0): 2}
        if colour not in known:
            raise Failure(
                codes.NOT_SUPPORTED,
                f"a border of colour {colour}: samplers have transparent black, opaque black and opaque white "
                "without a table of colours, which HIP does not set up",
            )
        return known[colour]

    def _resource(self, given: ResourceDescription, normalized: bool, device: Device) -> tuple[Channels, list[int]]:
        """The texel's channels, and the first twelve words of an object."""
        if given.resType == MIPMAPPED:
            raise Failure(codes.NOT_SUPPORTED, "mipmapped arrays are not supported; make an array for each level")
        set = device.architecture.generation
        if given.resType == LINEAR:
            linear = given.res.linear
            channels = channels_of(linear.desc)
            count = linear.sizeInBytes // channels.size
            if not linear.devPtr or linear.devPtr % PITCH_ALIGNMENT or not count or count >= 1 << 31:
                raise Failure(
                    codes.INVALID_VALUE,
                    f"linear memory for a texture begins at a multiple of {PITCH_ALIGNMENT} bytes (textureAlignment) "
                    f"and holds at least one texel: address 0x{linear.devPtr or 0:x}, {linear.sizeInBytes} bytes",
                )
            self._memory.device_range(linear.devPtr, count * channels.size)
            format, number = _number(channels, normalized, set)
            words = [
                linear.devPtr & 0xFFFFFFFF, linear.devPtr >> 32 | channels.size << 16, count,
                _selected(channels.count) | number << 12,
            ]  # fmt: skip
            words += [0] * 4
            width = count
        elif given.resType == PITCH_2D:
            flat = given.res.pitch2D
            channels = channels_of(flat.desc)
            aligned = flat.devPtr and not flat.devPtr % PITCH_ALIGNMENT and not flat.pitchInBytes % PITCH_ALIGNMENT
            fits = (
                0 < flat.width <= 16384 and 0 < flat.height <= 16384 and flat.width * channels.size <= flat.pitchInBytes
            )
            if not aligned or not fits or flat.pitchInBytes // channels.size > 16384:
                raise Failure(
                    codes.INVALID_VALUE,
                    f"a pitched texture begins at a multiple of {PITCH_ALIGNMENT} bytes (textureAlignment), a pitch "
                    f"that is one (texturePitchAlignment; hipMallocPitch gives it), at most 16384 x 16384 texels: at "
                    f"0x{flat.devPtr or 0:x}, {flat.width} x {flat.height} texels, pitch {flat.pitchInBytes}",
                )
            size = (flat.height - 1) * flat.pitchInBytes + flat.width * channels.size
            self._memory.device_range(flat.devPtr, size)
            format, number = _number(channels, normalized, set)
            pitch = flat.pitchInBytes // channels.size
            words = words_of("2d", set, flat.devPtr, number, channels.count, flat.width, flat.height, pitch - 1)
            width = flat.width
        elif given.resType == ARRAY:
            array = self.array(given.res.array)
            channels = array.channels
            format, number = _number(channels, normalized, set)
            flat_ = array.shape in ("1d", "2d")
            last = array.pitch // channels.size - 1 if flat_ else array.depth - 1
            words = words_of(
                array.shape, set, array.address, number, channels.count, array.width, max(array.height, 1), last
            )
            width = array.width
        else:
            raise Failure(codes.INVALID_VALUE, "no such hipResourceType")
        return channels, [*words, _CHANNEL_TYPES[f"{format.kind}{format.bits}"], _ORDERS[channels.count], width, 0]

    def _sampler(self, resource: ResourceDescription, texture: TextureDescription) -> list[int]:
        modes = list(texture.addressMode)
        if not texture.normalizedCoords:  # HIP: wrap and mirror become clamp then
            modes = [CLAMP if mode in (WRAP, MIRROR) else mode for mode in modes]
        linear = int(texture.filterMode == 1)
        border = self._border(texture) if BORDER in modes and resource.resType != LINEAR else 0
        first = sum(_CLAMPS[mode] << 3 * n for n, mode in enumerate(modes)) | (not texture.normalizedCoords) << 15
        return [first, 0xFFF << 12, linear << 20 | linear << 22, border << 30, 0, 0, 0, 0]


def _number(channels: Channels, normalized: bool, set: str) -> tuple[Format, int]:
    """A format and its number in descriptors."""
    format = channels.format(normalized)
    return format, next(number for number, known in formats(set).items() if known == format)


def _selected(count: int) -> int:
    """dst_sel: channels that a texel lacks are 0, the last one 1."""
    chosen = [4 + n if n < count else int(n == 3) for n in range(4)]
    return sum(one << 3 * n for n, one in enumerate(chosen))


def words_of(
    shape: str, set: str, address: int, number: int, count: int, width: int, height: int, last: int
) -> list[int]:
    """The eight words of a resource descriptor.

    Args:
        number: of the format; count: channels of a texel.
        last: pitch in texels less one of a 1D or 2D image; the last slice or layer of others.
    """
    newest = set == "gfx12"
    whole = address >> 8
    whole |= number << (49 if newest else 52)
    whole |= (width - 1) << 62 | (height - 1) << 78
    whole |= _selected(count) << 96 | TYPES[shape] << 124
    whole |= last << 128
    return [whole >> 32 * n & 0xFFFFFFFF for n in range(8)]


def of_driver(resource: DriverResource) -> ResourceDescription:
    """A driver's resource description in the runtime's form."""
    found = ResourceDescription()
    found.resType = resource.resType
    if resource.resType in (ARRAY, MIPMAPPED):
        found.res.array = resource.res.array
        return found
    part = resource.res.linear
    channels = driver_channels(part.format, part.numChannels)
    if resource.resType == LINEAR:
        found.res.linear.devPtr, found.res.linear.sizeInBytes = part.devPtr, part.sizeInBytes
        found.res.linear.desc = channels.described()
    else:
        flat = resource.res.pitch2D
        to = found.res.pitch2D
        to.devPtr, to.width, to.height, to.pitchInBytes = flat.devPtr, flat.width, flat.height, flat.pitchInBytes
        to.desc = channels.described()
    return found


_READ_AS_INTEGER, _NORMALIZED, _SRGB = 1, 2, 16  # HIP_TRSF_


def of_driver_texture(given: DriverTexture) -> TextureDescription:
    """A driver's texture description in the runtime's form."""
    found = TextureDescription()
    found.addressMode[:] = list(given.addressMode)
    found.filterMode = given.filterMode
    found.readMode = 0 if given.flags & _READ_AS_INTEGER else 1
    found.normalizedCoords, found.sRGB = bool(given.flags & _NORMALIZED), bool(given.flags & _SRGB)
    found.borderColor[:] = list(given.borderColor)
    found.maxAnisotropy, found.mipmapFilterMode = given.maxAnisotropy, given.mipmapFilterMode
    found.mipmapLevelBias = given.mipmapLevelBias
    found.minMipmapLevelClamp, found.maxMipmapLevelClamp = given.minMipmapLevelClamp, given.maxMipmapLevelClamp
    return found
