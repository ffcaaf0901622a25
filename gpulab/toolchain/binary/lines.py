"""Lines of the source by the address of machine code: the section .debug_line, in DWARF 4 and 5 (dwarfstd.org, section
6.2).

Written for what Clang and Triton make, and safe on hostile bytes: whatever is wrong gives no lines, as source lines are
a help and no part of the program. Not pyelftools: see `elf.py`.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

_MOST_ROWS = 1 << 20
_FORMS = {0x0B: 1, 0x05: 2, 0x06: 4, 0x07: 8, 0x1E: 16}  # data1, data2, data4, data8, data16
_STRING, _LINE_STRP, _STRP, _UDATA, _BLOCK = 0x08, 0x1F, 0x0E, 0x0F, 0x09
_PATH, _DIRECTORY = 1, 2  # DW_LNCT_path, DW_LNCT_directory_index


class LineStart(NamedTuple):
    """From this address on the code belongs to a line of a file."""

    address: int
    file: str
    line: int
    column: int


@dataclass(slots=True)
class _Reader:
    """Bytes, and where the next one stands. An index outside of them raises IndexError or struct.error."""

    raw: bytes
    at: int
    end: int

    def number(self, size: int) -> int:
        if self.at + size > self.end:
            raise IndexError(self.at)
        self.at += size
        return int.from_bytes(self.raw[self.at - size : self.at], "little")

    def unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self.number(1)
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128 or shift == 70:  # ten bytes, of 64 bits
                return value

    def signed(self) -> int:
        value = shift = 0
        while True:
            byte = self.number(1)
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128 or shift == 70:
                return value - (1 << shift) if byte & 64 else value

    def text(self) -> str:
        stop = self.raw.index(b"\0", self.at, self.end)
        found = self.raw[self.at : stop].decode("utf-8", "replace")
        self.at = stop + 1
        return found


def rows(sections: Mapping[str, bytes]) -> list[LineStart]:
    """The lines of all code, in order of addresses. [] where there are none, or none that can be read.

    Args:
        sections: the file's sections by name (.debug_line, .debug_line_str, .debug_str).
    """
    raw = sections.get(".debug_line", b"")
    found: list[LineStart] = []
    at = 0
    try:
        while at + 4 < len(raw):
            (length,) = struct.unpack_from("<I", raw, at)
            end = at + 4 + length
            if end > len(raw):
                break
            _program(_Reader(raw, at + 4, end), sections, found)
            at = end
    except (LookupError, ValueError, struct.error):
        return []
    return sorted(found)


def _entries(reader: _Reader, sections: Mapping[str, bytes]) -> list[tuple[str, int]]:
    """One table of DWARF 5: (path, number of the folder) of each entry."""
    formats = [(reader.unsigned(), reader.unsigned()) for _ in range(reader.number(1))]
    count, found = reader.unsigned(), []
    if not formats:  # else each entry takes a byte at least
        return []
    for _ in range(count):
        path, folder = "", 0
        for content, form in formats:
            value: str | int
            if form == _STRING:
                value = reader.text()
            elif form in (_LINE_STRP, _STRP):
                strings = sections.get(".debug_line_str" if form == _LINE_STRP else ".debug_str", b"")
                value = _Reader(strings, reader.number(4), len(strings)).text()
            elif form == _UDATA:
                value = reader.unsigned()
            elif form == _BLOCK:
                value = reader.number(reader.unsigned())
            else:
                value = reader.number(_FORMS[form])
            if content == _PATH:
                path = str(value)
            elif content == _DIRECTORY and isinstance(value, int):
                folder = value
        found.append((path, folder))
    return found


def _names(reader: _Reader, version: int, sections: Mapping[str, bytes]) -> dict[int, str]:
    """The files by number, each with its folder."""
    if version >= 5:
        folders = [path for path, _ in _entries(reader, sections)]
        files = dict(enumerate(_entries(reader, sections)))
    else:
        folders, files = [""], {}
        while name := reader.text():
            folders.append(name)
        while name := reader.text():
            files[len(files) + 1] = name, reader.unsigned()
            reader.unsigned(), reader.unsigned()

    def whole(path: str, folder: int) -> str:
        above = folders[folder] if folder < len(folders) else ""
        return f"{above}/{path}" if above and not path.startswith("/") else path

    return {number: whole(*entry) for number, entry in files.items()}


def _program(reader: _Reader, sections: Mapping[str, bytes], found: list[LineStart]) -> None:
    """One line number program (DWARF 5, 6.2.5)."""
    version = reader.number(2)
    if not 4 <= version <= 5:
        return
    if version >= 5:
        reader.number(2)  # sizes of an address and of a segment selector
    header = reader.number(4) + reader.at
    least, _, is_statement = reader.number(1), reader.number(1), reader.number(1)
    base = (reader.number(1) ^ 128) - 128
    width, first = reader.number(1), reader.number(1)
    lengths = [reader.number(1) for _ in range(first - 1)]
    files = _names(reader, version, sections)
    reader.at = header
    del is_statement
    address, file, line, column = 0, 1, 1, 0
    while reader.at < reader.end and len(found) < _MOST_ROWS:
        code = reader.number(1)
        row = False
        if code >= first:
            address += (code - first) // width * least
            line += base + (code - first) % width
            row = True
        elif code == 0:
            size = reader.unsigned()
            stop = reader.at + size
            kind = reader.number(1)
            if kind == 1:  # DW_LNE_end_sequence
                address, file, line, column = 0, 1, 1, 0
            elif kind == 2:  # DW_LNE_set_address
                address = reader.number(size - 1)
            reader.at = stop
        elif code == 1:  # DW_LNS_copy
            row = True
        elif code == 2:  # DW_LNS_advance_pc
            address += reader.unsigned() * least
        elif code == 3:  # DW_LNS_advance_line
            line += reader.signed()
        elif code == 4:  # DW_LNS_set_file
            file = reader.unsigned()
        elif code == 5:  # DW_LNS_set_column
            column = reader.unsigned()
        elif code == 8:  # DW_LNS_const_add_pc
            address += (255 - first) // width * least
        elif code == 9:  # DW_LNS_fixed_advance_pc
            address += reader.number(2)
        else:  # flags, and what a later standard adds
            for _ in range(lengths[code - 1]):
                reader.unsigned()
        if row:
            found.append(LineStart(address, files.get(file, ""), max(line, 0), column))
