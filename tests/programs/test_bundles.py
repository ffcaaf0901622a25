"""Archives and ELF files that are written here byte by byte, as their formats' descriptions say."""

from __future__ import annotations

import struct

import pytest

from gpulab.errors import GpulabError
from gpulab.programs import bundles

ELF = b"\x7fELF\x02\x01"  # of 64 bits, the lowest byte first


def elf(*sections: tuple[str, bytes], table_last: bool = True, **changes: int) -> bytes:
    """An object file: its header (64 bytes), contents, the table of sections (64 bytes each), its names last or first.

    Source: "ELF-64 Object File Format", figures 2 and 8: e_shoff at 40; e_shentsize, e_shnum and e_shstrndx at 58; of a
    section sh_name, sh_offset and sh_size at 0, 24 and 32.
    """
    names = b"\0" + b"".join(name.encode() + b"\0" for name, _ in sections)
    contents = [names, *(text for _, text in sections)]
    starts = [1]
    for name, _ in sections:
        starts.append(starts[-1] + len(name) + 1)
    room = 64 * len(contents)
    table = 64 + sum(map(len, contents)) if table_last else 64
    at = 64 if table_last else 64 + room
    rows = b""
    for start, text in zip([0, *starts], contents, strict=False):
        rows += struct.pack("<IIQQQQIIQQ", start, 1, 0, 0, at, len(text), 0, 0, 1, 0)
        at += len(text)
    head = bytearray(ELF + bytes(58))
    struct.pack_into("<Q", head, 40, changes.get("table", table))
    struct.pack_into("<HHH", head, 58, changes.get("size", 64), changes.get("count", len(contents)),
                     changes.get("names", 0))  # fmt: skip
    return bytes(head) + (b"".join(contents) + rows if table_last else rows + b"".join(contents))


ONE = elf((".text", b"code"), (".data", b""))


@pytest.mark.parametrize("table_last", [True, False])
def test_sections_by_name(table_last: bool) -> None:
    raw = elf((".text", b"code"), ("", b"unnamed"), (".data", b""), table_last=table_last)
    names = b"\0.text\0\0.data\0"
    assert list(bundles.sections(raw)) == [("", names), (".text", b"code"), ("", b"unnamed"), (".data", b"")]


def test_sections_of_what_is_damaged() -> None:
    for raw in (b"", ELF, ELF + bytes(57), b"x" + ONE[1:], ONE[:-1], ELF + bytes(58)):
        assert list(bundles.sections(raw)) == []
    for changes in ({"size": 63}, {"size": 65}, {"names": 3}, {"names": 99}, {"count": 4}, {"table": len(ONE)}):
        assert list(bundles.sections(elf((".text", b"code"), (".data", b""), **changes))) == []
    assert [name for name, _ in bundles.sections(elf((".text", b"code"), count=1))] == [""]
    # a section that is longer than the file is left out, and one whose name has no end
    raw = elf((".a", b"1234"), (".b", b"56"), table_last=False)
    assert [name for name, _ in bundles.sections(raw[:-1])] == ["", ".a"]
    last = elf((".a", b"1234"), names=1)
    assert list(bundles.sections(last)) == []


def member(name: str, body: bytes, size: str | None = None) -> bytes:
    """Source: ar(5): name 16, date 12, owner 6, group 6, mode 8, size 10, and the two bytes at the end."""
    head = f"{name:<16}{'0':<12}{'0':<6}{'0':<6}{'644':<8}{size or len(body):<10}`\n".encode()
    assert len(head) == 60
    return head + body + b"\n" * (len(body) % 2)


ARCHIVE = b"!<arch>\n"
ODD = ONE + b"x" * (1 - len(ONE) % 2)


def test_members_of_an_archive() -> None:
    assert list(bundles.members(b"no archive")) == [b"no archive"]
    assert list(bundles.members(ARCHIVE)) == []
    parts = (member("one.o/", ONE), member("odd.o/", ODD), member("text", b"abc"), member("last.o/", ONE))
    assert len(ODD) % 2 == 1
    assert list(bundles.members(ARCHIVE + b"".join(parts))) == [ONE, ODD, ONE]
    # what is damaged ends early, with what came before it
    for bad in (member("a", ONE).replace(b"`\n", b"` "), member("a", ONE, "12x"), member("a", ONE, "-3"), b"x" * 59):
        assert list(bundles.members(ARCHIVE + parts[0] + bad + parts[3])) == [ONE]
    assert list(bundles.members(ARCHIVE + parts[0] + member("cut.o", ONE)[:70])) == [ONE, ONE[:10]]
    assert list(bundles.members(ARCHIVE + parts[0][:59])) == []


def test_units_by_architecture() -> None:
    def section(arch: str) -> str:
        return bundles.UNIT_SECTION + bundles.unit_name(arch)

    first = elf((section("gfx942"), b"a"), (".text", b"x"), (section("gfx1100"), b"b"))
    second = elf((section("gfx942"), b"c"))
    assert bundles.units_of(first) == {"gfx942": [b"a"], "gfx1100": [b"b"]}
    assert bundles.units_of(ARCHIVE + member("1.o", first) + member("2.o", second)) == {
        "gfx942": [b"a", b"c"], "gfx1100": [b"b"],
    }  # fmt: skip
    assert bundles.units_of(ONE) == {}


def test_entries_of_a_bundle() -> None:
    raw = bundles.packed([("host", b""), ("a", b"12345"), ("b", b"123")], 4)
    assert len(raw) == 32 + 3 * 24 + len("hostab") + 2 + 8 + 4
    assert list(bundles.entries(raw, "x")) == [("host", b""), ("a", b"12345"), ("b", b"123")]
    assert list(bundles.entries(bundles.packed([], 1), "x")) == []
    whole = bundles.packed([("a", b"123")], 1)
    assert list(bundles.entries(whole, "x")) == [("a", b"123")]
    assert list(bundles.entries(bundles.packed([("", b"")], 1), "x")) == [("", b"")]
    for bad in (whole[:-1], whole[:32], whole[:55], whole[:56], bundles.packed([("", b"")], 1)[:55]):
        with pytest.raises(GpulabError, match="x is damaged: its table names bytes beyond its end"):
            list(bundles.entries(bad, "x"))
    for bad in (whole[:31], b"x" + whole[1:], b""):
        with pytest.raises(GpulabError, match="x is no offload bundle"):
            list(bundles.entries(bad, "x"))
