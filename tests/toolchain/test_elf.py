"""The ELF reader on files that are laid out here, field by field as the ELF-64 object file format has them."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest

from gpulab.errors import GpulabError
from gpulab.toolchain import elf

PROGBITS, STRTAB, NOTE, NOBITS = 1, 3, 7, 8


def laid_out(sections: list[tuple[bytes, int, int, int, bytes, int]], *, extended: bool = False) -> bytes:
    """A file with sections of (name, type, flags, address, contents, size); the table of names stands last of them."""
    rows = [*sections, (b".shstrtab", STRTAB, 0, 0, b"", 0)]
    names, body, headers = bytearray(b"\0"), bytearray(), []
    for name, kind, flags, address, contents, size in rows:
        at = len(names)
        names += name + b"\0"
        headers.append([at, kind, flags, address, 64 + len(body), size, 0, 0, 1, 0])
        body += contents
    headers[-1][4:6] = 64 + len(body), len(names)
    body += names
    if extended:  # "the value is contained in the sh_size field of the section header at index 0"
        headers[0][5] = len(headers)
    out = b"\x7fELF" + bytes([2, 1, 1, 64]) + bytes(8)
    out += struct.pack("<HHIQQQIHHHHHH", 3, 224, 1, 0, 0, 64 + len(body), 0, 64, 56, 0, 64,
                       0 if extended else len(headers), len(rows) - 1)  # fmt: skip
    return out + bytes(body) + b"".join(struct.pack("<IIQQQQIIQQ", *header) for header in headers)


NULL = (b"", 0, 0, 0, b"", 0)
PLAIN = [
    NULL,
    (b".text", PROGBITS, 6, 0x1900, b"code", 4),
    (b".bss", NOBITS, 3, 0x2000, b"", 1 << 40),
    (b".text", PROGBITS, 2, 0x3000, b"other", 5),
]


def test_every_field_of_a_section() -> None:
    found = elf.read(laid_out(PLAIN))
    assert [(one.name, one.type, one.flags, one.address, one.contents) for one in found[:-1]] == [
        ("", 0, 0, 0, b""),
        (".text", PROGBITS, 6, 0x1900, b"code"),
        (".bss", NOBITS, 3, 0x2000, b""),  # it takes no room in the file, whatever its size
        (".text", PROGBITS, 2, 0x3000, b"other"),
    ]
    assert found[-1].contents == b"\0\0.text\0.bss\0.text\0.shstrtab\0"
    assert elf.sections(laid_out(PLAIN))[".text"] == b"code"


def test_a_count_that_stands_in_the_first_header() -> None:
    assert [one.name for one in elf.read(laid_out(PLAIN, extended=True))][1:] == [".text", ".bss", ".text", ".shstrtab"]


def test_a_file_of_a_header_alone() -> None:
    bare = bytearray(laid_out([])[:64])
    struct.pack_into("<Q", bare, 40, 0)
    assert elf.read(bytes(bare)) == ()
    assert elf.metadata(bytes(bare)) == {}
    with pytest.raises(GpulabError, match="no ordinary table of sections to add to"):
        elf.add_sections(bytes(bare), {".more": b""})


def test_the_last_byte_counts() -> None:
    """A section and the table of sections may end where the file ends, and no byte behind it."""
    whole = laid_out([NULL])
    table = struct.unpack_from("<Q", whole, 40)[0]
    assert table + 64 * 2 == len(whole)
    refuse(whole[:-1], "table of sections lies outside the file")
    moved = bytearray(whole)
    struct.pack_into("<Q", moved, table + 64 + 24, len(whole) - 16)  # sh_offset of the names
    struct.pack_into("<Q", moved, table + 64 + 32, 16)  # sh_size
    assert len(elf.read(bytes(moved))[1].contents) == 16
    struct.pack_into("<Q", moved, table + 64 + 32, 17)
    refuse(bytes(moved), f"a section of 17 bytes at {len(whole) - 16} lies outside the file of {len(whole)} bytes")


def refuse(raw: bytes, said: str) -> None:
    with pytest.raises(GpulabError) as caught:
        elf.read(raw)
    assert said in str(caught.value)


def with_field(form: str, at: int, value: int) -> Callable[[bytearray], None]:
    return lambda raw: struct.pack_into(form, raw, at, value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (with_field("<B", 3, 0), "does not begin with an ELF header"),
        (with_field("<B", 4, 1), "it is not a 64-bit little-endian ELF"),
        (with_field("<B", 5, 2), "it is not a 64-bit little-endian ELF"),
        (with_field("<H", 18, 62), "machine number 62, and AMD GPUs have 224"),
        (with_field("<H", 58, 40), "its section headers are 40 bytes long, not 64"),
        (with_field("<H", 60, 9), "its table of sections lies outside the file"),
        (with_field("<Q", 40, 1 << 40), "its table of sections lies outside the file"),
        (with_field("<H", 62, 5), "its table of section names is missing"),
    ],
)
def test_a_field_of_the_header_that_is_wrong(change: Callable[[bytearray], None], said: str) -> None:
    raw = bytearray(laid_out(PLAIN))
    change(raw)
    refuse(bytes(raw), said)


def test_counts_that_are_too_large() -> None:
    raw = bytearray(laid_out([NULL], extended=True))
    table = struct.unpack_from("<Q", raw, 40)[0]
    struct.pack_into("<Q", raw, table + 32, (1 << 16) + 1)
    raw += bytes(64 << 16)
    refuse(bytes(raw), "its table of sections lies outside the file")
    struct.pack_into("<Q", raw, table + 32, 1 << 16)
    assert len(elf.read(bytes(raw))) == 1 << 16
    struct.pack_into("<Q", raw, 40, len(raw) - 63)  # where the first header would stand
    refuse(bytes(raw), "its table of sections lies outside the file")
    struct.pack_into("<Q", raw, 40, len(raw) - 64)  # a first header of zeros: no sections
    refuse(bytes(raw), "its table of section names is missing")


def test_what_is_no_elf() -> None:
    refuse(b"__CLANG_OFFLOAD_BUNDLE__" + bytes(64), "it is a bundle of several code objects")
    refuse(laid_out([])[:63], "it is 63 bytes long and does not begin with an ELF header")


def test_names_outside_their_table() -> None:
    raw = bytearray(laid_out([NULL]))
    table = struct.unpack_from("<Q", raw, 40)[0]
    names = b"\0\0.shstrtab\0"
    struct.pack_into("<I", raw, table, len(names) - 1)
    assert elf.read(bytes(raw))[0].name == ""
    struct.pack_into("<I", raw, table, len(names))
    refuse(bytes(raw), "a section's name lies outside the table of names")
    struct.pack_into("<I", raw, table, 0)
    struct.pack_into("<Q", raw, table + 64 + 32, len(names) - 1)  # without the last name's end
    assert elf.read(bytes(raw))[1].name == ".shstrtab"


def note(name: bytes, kind: int, body: bytes) -> bytes:
    """A note: both sizes without, both texts with what pads them to four bytes."""
    padded = [text + bytes(-len(text) % 4) for text in (name, body)]
    return struct.pack("<III", len(name), len(body), kind) + b"".join(padded)


MAP = b"\x81\xa1k\x07"  # {"k": 7}
META = note(b"AMDGPU\0", 32, MAP)


@pytest.mark.parametrize(
    ("notes", "found"),
    [
        ([META], {"k": 7}),
        ([note(b"GNU\0", 3, b"12345") + META], {"k": 7}),  # another note first, whose body is padded
        ([note(b"AMDGPU\0", 33, b"x" * 8) + META], {"k": 7}),
        ([note(b"AMD\0", 32, b"x" * 4), META], {"k": 7}),  # in the second section of notes
        ([note(b"AMDGPU\0", 33, MAP)], {}),
        ([note(b"AMD\0", 32, MAP)], {}),
        ([META[:11]], {}),
        ([note(b"", 1, b"")], {}),  # twelve bytes, and no metadata
        *(([note(b"N" * size, 3, b"") + META], {"k": 7}) for size in range(1, 10)),  # names of all lengths
        ([META.replace(b"AMDGPU\0\0", b"AMDGPU\0\xff")], {"k": 7}),  # whatever fills up to four bytes
        ([], {}),
    ],
)
def test_the_note_with_the_metadata(notes: list[bytes], found: dict[str, int]) -> None:
    raw = laid_out([NULL, (b".data", PROGBITS, 0, 0, META[:-1], len(META) - 1),
                    *((b".note", NOTE, 0, 0, one, len(one)) for one in notes)])  # fmt: skip
    assert elf.metadata(raw) == found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (META[:-1], "a note is cut short"),
        (note(b"GNU\0", 3, b"1234")[:-1], "a note is cut short"),
        (note(b"AMDGPU\0", 32, b"\x81\xa1k"), "its metadata is no MessagePack"),
        (note(b"AMDGPU\0", 32, b"\x91\x07"), "its metadata is not a map"),
    ],
)
def test_metadata_that_cannot_be_read(text: bytes, said: str) -> None:
    with pytest.raises(GpulabError, match=said):
        elf.metadata(laid_out([NULL, (b".note", NOTE, 0, 0, text, len(text))]))


SYMTAB, RELA, DYNSYM = 2, 4, 11
LINK, SIZE = 40, 32  # where sh_link and sh_size stand in a section's header


def linked(sections: list[tuple[bytes, int, int, bytes]], links: dict[int, int]) -> bytearray:
    """A file of sections of (name, type, flags, contents) behind an empty one; `links` are fields sh_link by number."""
    raw = bytearray(laid_out([NULL, *((name, kind, flags, 0x100, body, len(body))
                                      for name, kind, flags, body in sections)]))  # fmt: skip
    table = struct.unpack_from("<Q", raw, 40)[0]
    for number, link in links.items():
        struct.pack_into("<I", raw, table + 64 * number + LINK, link)
    return raw


def symbol(name: int, info: int, section: int, address: int, size: int) -> bytes:
    return struct.pack("<IBBHQQ", name, info, 3, section, address, size)


TEXTS = b"\0data\0kernel\0"
ALL = bytes(24) + symbol(1, 0x11, 4, 0x2000, 16) + symbol(6, 0x12, 0, 0x1000, 1 << 40)
EXPORTED = bytes(24) + symbol(6, 0x22, 5, 0x3000, 8)
OF_ALL = (elf.Symbol("data", 0x2000, 16, elf.OBJECT, 4), elf.Symbol("kernel", 0x1000, 1 << 40, elf.FUNCTION, 0))
OF_EXPORTED = (elf.Symbol("kernel", 0x3000, 8, elf.FUNCTION, 5),)


@pytest.mark.parametrize(
    ("tables", "found"),
    [
        ([], ()),
        ([(DYNSYM, EXPORTED)], OF_EXPORTED),
        ([(DYNSYM, EXPORTED), (SYMTAB, ALL)], OF_ALL),  # the full table counts, wherever it stands
        ([(SYMTAB, ALL), (DYNSYM, EXPORTED)], OF_ALL),
        ([(SYMTAB, ALL), (SYMTAB, EXPORTED)], OF_ALL),  # the first of a type
        ([(SYMTAB, ALL + bytes(23))], OF_ALL),  # no whole symbol more
        ([(SYMTAB, bytes(24))], ()),
        ([(SYMTAB, b"")], ()),
    ],
)
def test_symbols(tables: list[tuple[int, bytes]], found: tuple[elf.Symbol, ...]) -> None:
    sections = [(b".names", STRTAB, 0, TEXTS), *((b".symbols", kind, 0, body) for kind, body in tables)]
    assert elf.symbols(bytes(linked(sections, {2 + at: 1 for at in range(len(tables))}))) == found


def test_sections_have_a_size_and_a_link() -> None:
    found = elf.read(bytes(linked([(b".names", STRTAB, 0, TEXTS), (b".symbols", SYMTAB, 0, ALL)], {2: 1})))
    assert [(one.size, one.link) for one in found[:3]] == [(0, 0), (len(TEXTS), 0), (72, 1)]
    assert elf.read(laid_out(PLAIN))[2].size == 1 << 40
    plain = elf.Section("", 0, 0, 0, b"")
    assert (plain.size, plain.link) == (0, 0)


@pytest.mark.parametrize(
    ("flags", "kind", "is_data"),
    [
        (2, PROGBITS, True), (3, NOBITS, True), (6, PROGBITS, True), (1, PROGBITS, False), (4, NOBITS, False),
        (0, PROGBITS, False), (2, NOTE, False), (2, STRTAB, False), (2, SYMTAB, False),
    ],
)  # fmt: skip
def test_which_sections_hold_data(flags: int, kind: int, is_data: bool) -> None:
    assert elf.Section("", kind, flags, 0, b"").is_data is is_data
    assert (elf.WRITABLE, elf.ALLOCATED, elf.EXECUTABLE) == (1, 2, 4)


def relocation(address: int, symbol: int, kind: int, addend: int) -> bytes:
    return struct.pack("<QQq", address, symbol << 32 | kind, addend)


ONE, TWO = relocation(0x40, 2, 3, -8), relocation(1 << 40, 0, 0xFFFFFFFF, 5)
OF_ONE, OF_TWO = elf.Relocation(0x40, 3, "kernel", -8), elf.Relocation(1 << 40, 0xFFFFFFFF, "", 5)


@pytest.mark.parametrize(
    ("table", "link", "found"),
    [
        ((RELA, 2, ONE + TWO), 2, (OF_ONE, OF_TWO)),
        ((RELA, 6, ONE + bytes(23)), 2, (OF_ONE,)),
        ((RELA, 4, ONE), 2, ()),  # not loaded into memory
        ((PROGBITS, 2, ONE), 2, ()),
        ((RELA, 2, TWO), 0, (OF_TWO,)),  # without a table of symbols
        ((RELA, 2, b""), 2, ()),
    ],
)
@pytest.mark.parametrize("kind", [SYMTAB, DYNSYM])
def test_relocations(table: tuple[int, int, bytes], link: int, found: tuple[elf.Relocation, ...], kind: int) -> None:
    sections = [(b".names", STRTAB, 0, TEXTS), (b".symbols", kind, 0, ALL), (b".rela", *table)]
    assert elf.relocations(bytes(linked(sections, {2: 1, 3: link}))) == found


def test_relocations_of_two_tables() -> None:
    sections = [(b".rela", PROGBITS, 2, ONE), (b".rela", RELA, 2, TWO), (b".rela", RELA, 2, TWO + TWO)]
    assert elf.relocations(bytes(linked(sections, {}))) == (OF_TWO,) * 3


@pytest.mark.parametrize(
    ("links", "addressed", "said"),
    [
        ({2: 5, 3: 2}, 2, "its symbols have no table of names"),
        ({2: 1, 3: 5}, 2, "its relocations have no table of symbols"),
        ({2: 1, 3: 2}, 3, "a relocation names a symbol that is not there"),
        ({2: 1, 3: 1}, 1, "a relocation names a symbol that is not there"),  # no table of symbols
    ],
)
def test_links_that_lead_nowhere(links: dict[int, int], addressed: int, said: str) -> None:
    """The file has five sections with the empty one and the table of names, and two symbols behind the empty one."""
    sections = [(b".names", STRTAB, 0, TEXTS), (b".symbols", SYMTAB, 0, ALL),
                (b".rela", RELA, 2, relocation(0, addressed, 1, 0))]  # fmt: skip
    with pytest.raises(GpulabError, match=said):
        elf.relocations(bytes(linked(sections, links)))


def test_added_sections_field_by_field() -> None:
    before = laid_out(PLAIN)
    after = elf.add_sections(before, {".one": b"12345", ".two": b"678"})
    table, count, index = (*struct.unpack_from("<Q", after, 40), *struct.unpack_from("<HH", after, 60))
    rows = [struct.unpack_from("<IIQQQQIIQQ", after, table + 64 * at) for at in range(count)]
    assert (count, index, table % 8) == (len(PLAIN) + 3, len(PLAIN), 0)
    assert table + 64 * count == len(after)
    names = b"\0\0.text\0.bss\0.text\0.shstrtab\0"
    assert after[rows[index][4] : rows[index][4] + rows[index][5]] == names + b".one\0.two\0"
    for row, name, contents in zip(rows[-2:], (len(names), len(names) + 5), (b"12345", b"678"), strict=True):
        assert (row[0], row[1], row[2], row[3], row[5], *row[6:]) == (name, PROGBITS, 0, 0, len(contents), 0, 0, 1, 0)
        assert row[4] % 8 == 0
        assert after[row[4] : row[4] + row[5]] == contents
    assert after[64 : len(before)] == before[64:]
    assert [one[1:] for one in map(tuple_of, elf.read(after))][:4] == [tuple_of(o)[1:] for o in elf.read(before)][:4]


def tuple_of(section: elf.Section) -> tuple[object, ...]:
    return section.name, section.type, section.flags, section.address, section.contents


def test_no_more_sections_than_an_ordinary_table_holds() -> None:
    """From 0xff00 on the numbers of sections are reserved."""
    before = laid_out([NULL])
    most = elf.add_sections(before, {f"{n}": b"" for n in range(0xFF00 - 3)})
    assert struct.unpack_from("<H", most, 60) == (0xFF00 - 1,)
    with pytest.raises(GpulabError, match="no ordinary table of sections"):
        elf.add_sections(before, {f"s{n}": b"" for n in range(0xFF00 - 2)})
    with pytest.raises(GpulabError, match="no ordinary table of sections"):
        elf.add_sections(laid_out(PLAIN, extended=True), {".more": b""})
