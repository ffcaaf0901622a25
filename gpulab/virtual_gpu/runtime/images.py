"""What a program hands over as device code: ELF files, and bundles of them that Clang makes, compressed or not.

`image_at` finds the length of what stands in memory; `from_bundle` chooses the code object for a device. The formats
are those of LLVM's documentation, "Clang Offload Bundler": bundled binaries, and compressed ones of versions 1 to 3.
"""

from __future__ import annotations

import ctypes
import functools
import os
import re
import struct
from collections.abc import Callable

from gpulab.architectures.architecture import Architecture
from gpulab.virtual_gpu.runtime import codes
from gpulab.virtual_gpu.runtime.codes import Failure

_BUNDLE = b"__CLANG_OFFLOAD_BUNDLE__"
_COMPRESSED = b"CCOB"
_BITCODE = b"BC\xc0\xde"
_LARGEST_IMAGE = 1 << 30
# By version: behind magic, version and method the bytes of the whole, bytes when unpacked, and a hash of those.
_HEADERS = {1: "<4sHHIQ", 2: "<4sHHIIQ", 3: "<4sHHQQQ"}
_ZLIB, _ZSTD = 0, 1
# Blocks of LLVM bitcode beside each other: module, identification, table of strings, table of symbols.
_BLOCKS = (8, 13, 23, 25)
_TARGET = re.compile(r"gfx[\w-]*?(?::\w+[+-])*$")  # hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-


def is_bundle(image: bytes) -> bool:
    """Whether the bytes are a bundle of code objects, compressed or not."""
    return image.startswith((_BUNDLE, _COMPRESSED))


def is_bitcode(image: bytes) -> bool:
    """Whether the bytes are LLVM bitcode, which is no machine code yet."""
    return image.startswith(_BITCODE)


def image_at(address: int) -> bytes:
    """The bytes of the code object at an address: an ELF, an offload bundle or bitcode; all tell their length.

    Raises:
        Failure: hipErrorInvalidImage.
    """
    head = _read(address, 4)
    if head == b"\x7fELF":
        size = _elf_bytes(address)
    elif head == _BUNDLE[:4] and _read(address, len(_BUNDLE)) == _BUNDLE:
        size = _bundle_bytes(address)
    elif head == _COMPRESSED:
        size = _compressed_bytes(address)
    elif head == _BITCODE:
        size = _bitcode_bytes(address)
    else:
        raise Failure(codes.INVALID_IMAGE, "the image is neither an ELF file, an offload bundle nor LLVM bitcode")
    if not 0 < size <= _LARGEST_IMAGE:
        raise Failure(codes.INVALID_IMAGE, "the image's own headers give no sensible size")
    return _read(address, size)


def _read(address: int, size: int) -> bytes:
    """Bytes of an image. Its headers may be damaged, and name bytes that nobody may read.

    Raises:
        Failure: hipErrorInvalidImage.
    """
    data = _readable(address, size) if 0 <= size <= _LARGEST_IMAGE else None
    if data is None:
        raise Failure(codes.INVALID_IMAGE, "the image's own headers name bytes beyond the memory that it is in")
    return data


_PIECE = 4096


def _readable(address: int, size: int) -> bytes | None:
    """The bytes at an address; None where there is no memory, or none that may be read.

    The system itself reads them, for a pipe: `write` then fails (POSIX: EFAULT), where a read of our own would end the
    process. On Windows they are simply read.
    """
    if os.name == "nt":
        return ctypes.string_at(address, size)
    found = bytearray()
    out, into = os.pipe()
    try:
        while len(found) < size:
            place = ctypes.c_void_p(address + len(found))
            written = int(_libc().write(into, place, ctypes.c_size_t(min(_PIECE, size - len(found)))))
            if written <= 0:
                return None
            found += os.read(out, written)
    finally:
        os.close(out)
        os.close(into)
    return bytes(found)


@functools.cache
def _libc() -> ctypes.CDLL:
    library = ctypes.CDLL(None)
    library.write.restype = ctypes.c_ssize_t
    return library


def _elf_bytes(address: int) -> int:
    header = _read(address, 64)
    if header[4] != 2 or header[5] != 1:
        raise Failure(codes.INVALID_IMAGE, "the image is not a 64-bit little-endian ELF file")
    segments_at, sections_at = struct.unpack_from("<QQ", header, 32)
    segment_bytes, segment_count, section_bytes, section_count = struct.unpack_from("<HHHH", header, 54)
    ends = [64, segments_at + segment_bytes * segment_count, sections_at + section_bytes * section_count]
    if max(ends) > _LARGEST_IMAGE or (segment_count and segment_bytes < 56) or (section_count and section_bytes < 64):
        raise Failure(codes.INVALID_IMAGE)
    for i in range(section_count):
        section = _read(address + sections_at + i * section_bytes, 64)
        kind = struct.unpack_from("<I", section, 4)[0]
        offset, size = struct.unpack_from("<QQ", section, 24)
        if kind != 8:  # SHT_NOBITS has no bytes in the file
            ends.append(offset + size)
    for i in range(segment_count):
        segment = _read(address + segments_at + i * segment_bytes, 56)
        offset, size = struct.unpack_from("<Q16xQ", segment, 8)
        ends.append(offset + size)
    return int(max(ends))


def _bundle_entries(read: Callable[[int, int], bytes]) -> list[tuple[int, int, str]]:
    """(offset, bytes, target) of each entry; `read(offset, size)` gives bytes of the bundle."""
    count = struct.unpack("<Q", read(len(_BUNDLE), 8))[0]
    if count > 64:
        raise Failure(codes.INVALID_IMAGE)
    entries, at = [], len(_BUNDLE) + 8
    for _ in range(count):
        offset, size, length = struct.unpack("<QQQ", read(at, 24))
        if length > 256:
            raise Failure(codes.INVALID_IMAGE)
        entries.append((offset, size, read(at + 24, length).decode(errors="replace")))
        at += 24 + length
    return entries


def _bundle_bytes(address: int) -> int:
    entries = _bundle_entries(lambda offset, size: _read(address + offset, size))
    return max((offset + size for offset, size, _ in entries), default=0)


def _bitcode_bytes(address: int) -> int:
    """Blocks one behind the other, each with its length: LLVM, "LLVM Bitcode File Format", ENTER_SUBBLOCK."""
    end = len(_BITCODE)
    while (block := _readable(address + end, 8)) is not None:
        head, words = struct.unpack("<II", block)
        if head & 3 != 1 or head >> 2 & 0xFF not in _BLOCKS:  # 2 bits say that a block begins, 8 which
            break
        end += 8 + 4 * words
    return end


def _compressed_bytes(address: int) -> int:
    version = struct.unpack("<H", _read(address + 4, 2))[0]
    if version not in (2, 3):
        raise Failure(
            codes.INVALID_IMAGE,
            f"the image is a compressed bundle of version {version}: in memory those of versions 2 and 3 can be read, "
            "which tell their length",
        )
    form = _HEADERS[version]
    return int(struct.unpack(form, _read(address, struct.calcsize(form)))[3])


def _unpacked(packed: bytes) -> bytes:
    """The bundle in a compressed one."""
    version, method = struct.unpack_from("<HH", packed.ljust(8, b"\0"), 4)
    form = _HEADERS.get(version)
    if form is None or len(packed) < struct.calcsize(form):
        raise Failure(codes.INVALID_IMAGE, f"a compressed bundle of version {version} cannot be read, or is cut short")
    size, body = struct.unpack_from(form, packed)[-2], packed[struct.calcsize(form) :]
    if size > _LARGEST_IMAGE:
        raise Failure(codes.INVALID_IMAGE, f"the compressed bundle says that it holds {size:,} bytes")
    if method == _ZLIB:
        found = _inflated(body, size)
    elif method == _ZSTD:
        found = _zstd(body, size)
    else:
        raise Failure(
            codes.INVALID_IMAGE, f"the bundle is compressed by method {method}; 0 (zlib) and 1 (zstd) are known"
        )
    if len(found) != size:
        raise Failure(codes.INVALID_IMAGE, f"the compressed bundle holds {len(found):,} bytes, and says {size:,}")
    return found


def _inflated(body: bytes, size: int) -> bytes:
    import zlib

    try:
        return zlib.decompressobj().decompress(body, size + 1)
    except zlib.error as error:
        raise Failure(codes.INVALID_IMAGE, f"the compressed bundle is damaged ({error})") from error


def _zstd(body: bytes, size: int) -> bytes:
    import sys

    try:
        import zstandard
    except ImportError as error:
        raise Failure(
            codes.INVALID_IMAGE,
            "the bundle is compressed by zstd, and the package zstandard is not installed: "
            f"{sys.executable} -m pip install 'gpulab[binaries]'",
        ) from error
    try:
        with zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(body) as reader:
            return bytes(reader.read(size + 1))
    except zstandard.ZstdError as error:
        raise Failure(codes.INVALID_IMAGE, f"the compressed bundle is damaged ({error})") from error


def from_bundle(bundle: bytes, device: Architecture) -> bytes:
    """The code object for a device in an offload bundle, the one that asks for most features of those that fit.

    A target such as gfx942:xnack- asks for a setting that the device must have; gfx942 runs on either (LLVM, User Guide
    for AMDGPU Backend, "Target ID").

    Raises:
        Failure: hipErrorNoBinaryForGpu, hipErrorInvalidImage.
    """
    if bundle.startswith(_COMPRESSED):
        bundle = _unpacked(bundle)
        if not bundle.startswith(_BUNDLE):
            raise Failure(codes.INVALID_IMAGE, "the compressed bundle holds something else")

    def read(offset: int, size: int) -> bytes:
        piece = bundle[offset : offset + size]
        if len(piece) != size:
            raise Failure(codes.INVALID_IMAGE)
        return piece

    settings = set(device.gcn_arch_name.split(":")[1:])
    targets, best = [], (-1, 0, 0)
    for offset, size, target in _bundle_entries(read):
        match = _TARGET.search(target)
        name, *asked = match[0].split(":") if match is not None else [""]
        targets += [":".join([name, *asked])] if name else []
        if name == device.name and size and settings.issuperset(asked):
            best = max(best, (len(asked), offset, size))
    if best[0] >= 0:
        return read(best[1], best[2])
    raise Failure(
        codes.NO_BINARY_FOR_GPU,
        f"the file has code for {', '.join(targets) or 'no device'}, not for {device.gcn_arch_name or device.name}",
    )
