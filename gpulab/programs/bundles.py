"""Offload bundles: device code of several architectures as one piece, and bitcode of several files in one object.

`bundle` is for code objects. `units_of` finds the bitcode that -fgpu-rdc left in objects and archives.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from gpulab.errors import GpulabError
from gpulab.toolchain import cache

_ALIGNMENT = 4096
_MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
UNIT_SECTION = "__CLANG_OFFLOAD_BUNDLE__"
"""How the names of sections begin that hold a device's bitcode in an object file; the bundle's entry follows."""
_ARCHIVE, _MEMBER = b"!<arch>\n", 60
_ELF = b"\x7fELF\x02\x01"


def unit_name(arch: str) -> str:
    """A bundle's entry for one architecture."""
    return f"hip-amdgcn-amd-amdhsa--{arch}"


def bundle(objects: Iterable[tuple[str, bytes]]) -> bytes:
    """Code objects by architecture as one offload bundle, in the layout of clang-offload-bundler.

    Source: clang.llvm.org/docs/ClangOffloadBundler.html, "Bundled Code Object Layout".
    """
    entries = [("host-x86_64-unknown-linux--", b"")]
    return packed([*entries, *((f"hipv4-amdgcn-amd-amdhsa--{arch}", image) for arch, image in objects)], _ALIGNMENT)


def packed(entries: Sequence[tuple[str, bytes]], alignment: int) -> bytes:
    """A bundle of these targets and contents, each at a multiple of `alignment`."""
    head = 32 + sum(24 + len(name) for name, _ in entries)
    at = -(-head // alignment) * alignment
    table = [_MAGIC, struct.pack("<Q", len(entries))]
    body = [b""]
    for name, image in entries:
        table.append(struct.pack("<QQQ", at, len(image), len(name)) + name.encode())
        padded = image + bytes(-len(image) % alignment)
        body.append(padded)
        at += len(padded)
    first = b"".join(table)
    return first + bytes(-len(first) % alignment) + b"".join(body)


def entries(raw: bytes, name: str) -> Iterator[tuple[str, bytes]]:
    """Targets and contents of a bundle that is not compressed.

    Args:
        name: what messages call it.

    Raises:
        GpulabError: it is none, or is damaged.
    """
    if not raw.startswith(_MAGIC) or len(raw) < 32:
        raise GpulabError(f"{name} is no offload bundle.", why="it does not begin with __CLANG_OFFLOAD_BUNDLE__.")
    count, at = struct.unpack_from("<Q", raw, 24)[0], 32
    for _ in range(count):
        start, size, length = struct.unpack_from("<QQQ", raw, at) if at + 24 <= len(raw) else (0, 0, len(raw))
        if at + 24 + length > len(raw) or start + size > len(raw):
            raise GpulabError(f"{name} is damaged: its table names bytes beyond its end.")
        yield raw[at + 24 : at + 24 + length].decode("utf-8", "replace"), raw[start : start + size]
        at += 24 + length


def members(raw: bytes) -> Iterator[bytes]:
    """The object files in an archive of `ar`, or the file itself if it is none. A damaged archive ends early.

    Source: the format's description in ar(5) of FreeBSD: headers of 60 bytes, contents padded to an even size.
    """
    if not raw.startswith(_ARCHIVE):
        yield raw
        return
    at = len(_ARCHIVE)
    while at + _MEMBER <= len(raw):
        size = raw[at + 48 : at + 58].strip()
        if raw[at + 58 : at + 60] != b"`\n" or not size.isdigit():
            return
        at += _MEMBER
        body = raw[at : at + int(size)]
        if body.startswith(_ELF):
            yield body
        at += int(size) + int(size) % 2


def sections(raw: bytes) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the sections of an ELF file for any machine; none of what is damaged."""
    if not raw.startswith(_ELF) or len(raw) < 64:
        return
    table = struct.unpack_from("<Q", raw, 40)[0]
    size, count, names = struct.unpack_from("<HHH", raw, 58)
    if size != 64 or names >= count or table + 64 * count > len(raw):
        return
    headers = [struct.unpack_from("<IIQQQQIIQQ", raw, table + 64 * index) for index in range(count)]
    text = raw[headers[names][4] : headers[names][4] + headers[names][5]]
    for name, _, _, _, offset, length, *_ in headers:
        end = text.find(b"\0", name)
        if end >= 0 and offset + length <= len(raw):
            yield text[name:end].decode("utf-8", "replace"), raw[offset : offset + length]


def units_of(raw: bytes) -> dict[str, list[bytes]]:
    """By architecture, the bitcode that -fgpu-rdc left in an object file or in the members of an archive."""
    found: dict[str, list[bytes]] = {}
    start = UNIT_SECTION + unit_name("")
    for member in members(raw):
        for name, contents in sections(member):
            if name.startswith(start):
                found.setdefault(name[len(start) :], []).append(contents)
    return found


@functools.cache
def code_hash() -> str:
    """The hash of the modules that decide what an object or a program holds, for cache keys."""
    from gpulab.toolchain.assemble import code_hash as toolchain

    here = Path(__file__).parent
    names = ("building.py", "bundles.py", "launcher.cpp", "objects.py", "options.py", "units.py")
    return cache.key(toolchain(), *((here / name).read_bytes() for name in names))
