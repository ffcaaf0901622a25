"""A small ELF reader: sections and AMDGPU metadata of a code object, safe on hostile input.

`sections(elf)` maps names to contents; `add_sections` puts more of them in; `metadata(elf)` decodes the MessagePack
note with the kernels' arguments (LLVM's AMDGPUUsage, "Code Object V3 and Above Metadata"); `symbols` and `relocations`
read the tables that a linked code object has. Whatever is wrong with the bytes becomes a GpulabError. Not pyelftools:
it cannot add sections, and a damaged table can keep it busy for seconds.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

from gpulab.errors import GpulabError

EM_AMDGPU = 224
NT_AMDGPU_METADATA = 32
_SHT_PROGBITS, _SHT_SYMTAB, _SHT_RELA, _SHT_NOTE, _SHT_NOBITS, _SHT_DYNSYM = 1, 2, 4, 7, 8, 11
ALLOCATED, EXECUTABLE, WRITABLE = 2, 4, 1  # flags of a section: SHF_ALLOC, SHF_EXECINSTR, SHF_WRITE
_MOST_SECTIONS = 1 << 16


def _bad(what: str) -> GpulabError:
    return GpulabError(
        f"this is not a code object that can be read: {what}.",
        why="a code object is an ELF file for an AMD GPU, as gpulab.compile(...).elf or hipcc --genco make it.",
        hint="check that the whole file was read, in binary mode, and that it is not a bundle or a host program.",
    )


@dataclass(frozen=True, slots=True)
class Section:
    """One section: its name, type, flags, address in memory, contents, size in memory, and the section it belongs
    to."""

    name: str
    type: int
    flags: int
    address: int
    contents: bytes
    size: int = 0
    link: int = 0

    @property
    def is_data(self) -> bool:
        """Whether it is loaded into memory, and holds what a program defined."""
        return bool(self.flags & ALLOCATED) and self.type in (_SHT_PROGBITS, _SHT_NOBITS)


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name for a place. `kind` is STT_OBJECT (1), STT_FUNC (2) or another; `section` 0 is one that is defined
    elsewhere."""

    name: str
    address: int
    size: int
    kind: int
    section: int


OBJECT, FUNCTION = 1, 2


@dataclass(frozen=True, slots=True)
class Relocation:
    """At this address the loader puts what `kind` says (R_AMDGPU_*), of a symbol and an addend."""

    address: int
    kind: int
    symbol: str
    addend: int


def _name(table: bytes, offset: int) -> str:
    if offset >= len(table):
        raise _bad("a section's name lies outside the table of names")
    end = table.find(b"\0", offset)
    return table[offset : end if end >= 0 else len(table)].decode("utf-8", "replace")


def read(elf: bytes, machine: int | None = EM_AMDGPU) -> tuple[Section, ...]:
    """All sections of a 64-bit little-endian ELF for an AMD GPU (or for another machine; None: for any).

    Raises:
        GpulabError: the bytes are not such a file, or are cut short or inconsistent.
    """
    elf = bytes(elf)
    if len(elf) < 64 or elf[:4] != b"\x7fELF":
        start = elf[:24]
        if start == b"__CLANG_OFFLOAD_BUNDLE__":
            raise _bad("it is a bundle of several code objects")
        raise _bad(f"it is {len(elf)} bytes long and does not begin with an ELF header")
    if elf[4] != 2 or elf[5] != 1:
        raise _bad("it is not a 64-bit little-endian ELF")
    made_for = struct.unpack_from("<H", elf, 18)[0]
    if machine is not None and made_for != machine:
        raise _bad(f"it is made for machine number {made_for}, and AMD GPUs have {EM_AMDGPU}")
    table, entry_size, count, names_index = (
        struct.unpack_from("<Q", elf, 40)[0],
        *struct.unpack_from("<HHH", elf, 58),
    )
    if table == 0:
        return ()
    if entry_size != 64:
        raise _bad(f"its section headers are {entry_size} bytes long, not 64")
    if count == 0:  # more than 65279 sections: the first header holds the count
        if table + 64 > len(elf):
            raise _bad("its table of sections lies outside the file")
        count = struct.unpack_from("<Q", elf, table + 32)[0]
    if count > _MOST_SECTIONS or table + 64 * count > len(elf):
        raise _bad("its table of sections lies outside the file")
    headers = [struct.unpack_from("<IIQQQQIIQQ", elf, table + 64 * i) for i in range(count)]

    def contents(header: tuple[int, ...]) -> bytes:
        _, kind, _, _, offset, size, *_ = header
        if kind == _SHT_NOBITS:
            return b""
        if offset + size > len(elf):
            raise _bad(f"a section of {size} bytes at {offset} lies outside the file of {len(elf)} bytes")
        return elf[offset : offset + size]

    if names_index >= len(headers):
        raise _bad("its table of section names is missing")
    names = contents(headers[names_index])
    return tuple(
        Section(_name(names, header[0]), header[1], header[2], header[3], contents(header), header[5], header[6])
        for header in headers
    )


def sections(elf: bytes) -> dict[str, bytes]:
    """Contents by section name (the first of a name counts).

    Raises:
        GpulabError: see `read`.
    """
    found: dict[str, bytes] = {}
    for section in read(elf):
        found.setdefault(section.name, section.contents)
    return found


def symbols(elf: bytes) -> tuple[Symbol, ...]:
    """All symbols with a name: the full table where the file has one, else that of what it exports.

    Raises:
        GpulabError: see `read`.
    """
    found = read(elf)
    tables = [s for kind in (_SHT_SYMTAB, _SHT_DYNSYM) for s in found if s.type == kind]
    return symbols_of(tables[0], found) if tables else ()


def symbols_of(table: Section, found: tuple[Section, ...]) -> tuple[Symbol, ...]:
    """The symbols of a table of symbols; `found` are all sections."""
    if table.link >= len(found):
        raise _bad("its symbols have no table of names")
    names, result = found[table.link].contents, []
    for at in range(24, len(table.contents) - 23, 24):
        name, info, _, section, address, size = struct.unpack_from("<IBBHQQ", table.contents, at)
        result.append(Symbol(_name(names, name), address, size, info & 15, section))
    return tuple(result)


def relocations(elf: bytes) -> tuple[Relocation, ...]:
    """What the loader of a linked code object has to put in.

    Raises:
        GpulabError: see `read`.
    """
    found, result = read(elf), []
    for table in found:
        if table.type != _SHT_RELA or not table.flags & ALLOCATED:
            continue
        if table.link >= len(found):
            raise _bad("its relocations have no table of symbols")
        named = [Symbol("", 0, 0, 0, 0)]
        if found[table.link].type in (_SHT_SYMTAB, _SHT_DYNSYM):
            named += symbols_of(found[table.link], found)
        for at in range(0, len(table.contents) - 23, 24):
            address, info, addend = struct.unpack_from("<QQq", table.contents, at)
            if info >> 32 >= len(named):
                raise _bad("a relocation names a symbol that is not there")
            result.append(Relocation(address, info & 0xFFFFFFFF, named[info >> 32].name, addend))
    return tuple(result)


def flags(elf: bytes) -> int:
    """e_flags of the header: of a code object, its processor and what it asks of the device."""
    return int(struct.unpack_from("<I", elf, 48)[0]) if len(elf) >= 52 else 0


def metadata(elf: bytes) -> dict[str, Any]:
    """The AMDGPU metadata ("amdhsa.kernels", "amdhsa.target", ...), or {} if the file has none.

    Raises:
        GpulabError: the file or its metadata cannot be read.
    """
    for section in read(elf):
        if section.type != _SHT_NOTE:
            continue
        raw, at = section.contents, 0
        while at + 12 <= len(raw):
            name_size, body_size, kind = struct.unpack_from("<III", raw, at)
            name_end = at + 12 + (name_size + 3) // 4 * 4
            body_end = name_end + body_size
            if body_end > len(raw):
                raise _bad("a note is cut short")
            name = raw[at + 12 : at + 12 + name_size].rstrip(b"\0")
            if name == b"AMDGPU" and kind == NT_AMDGPU_METADATA:
                return _unpacked(raw[name_end:body_end])
            at = name_end + (body_size + 3) // 4 * 4
    return {}


def _unpacked(raw: bytes) -> dict[str, Any]:
    """The map in a MessagePack text."""
    import msgpack  # costs some milliseconds, and a launch does not need it

    try:
        value = msgpack.unpackb(raw, strict_map_key=False, unicode_errors="replace")
    except (ValueError, TypeError, RecursionError, MemoryError) as error:  # what msgpack raises for damaged texts
        raise _bad(f"its metadata is no MessagePack ({type(error).__name__}: {error})") from error
    if not isinstance(value, dict):
        raise _bad("its metadata is not a map")
    return value


def add_sections(elf: bytes, added: dict[str, bytes]) -> bytes:
    """The ELF with more sections (not loaded into memory) behind everything that it holds already.

    Raises:
        GpulabError: the ELF cannot be read or has no table of sections.
    """
    old = read(elf)
    table = struct.unpack_from("<Q", elf, 40)[0]
    count, names_index = struct.unpack_from("<HH", elf, 60)
    if not old or count == 0 or count + len(added) >= 0xFF00:
        raise _bad("it has no ordinary table of sections to add to")
    headers = [list(struct.unpack_from("<IIQQQQIIQQ", elf, table + 64 * i)) for i in range(count)]
    out, names = bytearray(elf), bytearray(old[names_index].contents)

    def append(contents: bytes) -> int:
        out.extend(bytes(-len(out) % 8))
        at = len(out)
        out.extend(contents)
        return at

    for name, contents in added.items():
        headers.append([len(names), _SHT_PROGBITS, 0, 0, append(contents), len(contents), 0, 0, 1, 0])
        names.extend(name.encode() + b"\0")
    headers[names_index][4], headers[names_index][5] = append(bytes(names)), len(names)
    place = append(b"".join(struct.pack("<IIQQQQIIQQ", *header) for header in headers))
    struct.pack_into("<Q", out, 40, place)
    struct.pack_into("<H", out, 60, len(headers))
    return bytes(out)
