"""Which lines stand beside each other: rows worked out by hand from a source and its edits."""

from __future__ import annotations

import pytest

from gpulab.porting.beside import Beside, LinePair, rows
from gpulab.porting.translate import Edit, Translation


def translation(source: str, *edits: tuple[str, str], first_line: int = 1) -> Translation:
    """A translation by edits (old text, new text); text that is put in stands before "@", which the source loses."""
    made = []
    for old, new in edits:
        if old == "@":
            start = source.index("@")
            source = source[:start] + source[start + 1 :]
            made.append(Edit(start, start, new))
        else:
            start = source.index(old)
            made.append(Edit(start, start + len(old), new))
    return Translation("", (), (), source, edits=tuple(made), first_line=first_line)


def same(number: int, text: str) -> LinePair:
    side = ((text, False),) if text else ()
    return LinePair(number, side, side)


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (translation(""), []),
        (translation("a"), [same(1, "a")]),
        (translation("a\n"), [same(1, "a")]),
        (translation("a\n\nb", first_line=7), [same(7, "a"), same(8, ""), same(9, "b")]),
        (translation("a\r\nb\rc"), [same(1, "a"), same(2, "b"), same(3, "c")]),
        (translation("a old z\nb", ("old", "new")), [
            LinePair(1, (("a ", False), ("old", True), (" z", False)), (("a ", False), ("new", True), (" z", False))),
            same(2, "b"),
        ]),
        # the whole line, at the start and at the end of the text
        (translation("old", ("old", "new")), [LinePair(1, (("old", True),), (("new", True),))]),
        (translation("old\n", ("old", "")), [LinePair(1, (("old", True),), ())]),
        (translation("a\n@", ("@", "new")), [same(1, "a"), LinePair(2, (), (("new", True),))]),
        # lines put in before a line have no number, and no side of CUDA
        (translation("@a\nb", ("@", "#include <x>\n")), [
            LinePair(0, (), (("#include <x>", True),)), same(1, "a"), same(2, "b"),
        ]),
        (translation("a\n@b", ("@", "one\n\ntwo\nnew ")), [
            same(1, "a"), LinePair(0, (), (("one", True),)), LinePair(0, (), (("two", True),)),
            LinePair(2, (("b", False),), (("new ", True), ("b", False))),
        ]),
        # several lines that become as many, fewer, more
        (translation("x<<<1,\n2>>>y", ("<<<1,\n2>>>", "(1,\n2)")), [
            LinePair(1, (("x", False), ("<<<1,", True)), (("x", False), ("(1,", True))),
            LinePair(2, (("2>>>", True), ("y", False)), (("2)", True), ("y", False))),
        ]),
        (translation("a\nb\nc", ("a\nb\nc", "A")), [
            LinePair(1, (("a", True),), (("A", True),)), LinePair(2, (("b", True),), ()),
            LinePair(3, (("c", True),), ()),
        ]),
        (translation("a\nb", ("a\nb", "A\nB\nC")), [
            LinePair(1, (("a", True),), (("A", True),)), LinePair(2, (("b", True),), (("B", True),)),
            LinePair(3, (), (("C", True),)),
        ]),
    ],
)  # fmt: skip
def test_lines_beside_each_other(found: Translation, wanted: list[LinePair]) -> None:
    assert rows(found) == wanted


def test_a_line_has_changed_if_a_piece_of_either_side_has() -> None:
    piece, other = (("a", False),), (("a", True),)
    assert not LinePair(1, piece, piece).changed
    assert LinePair(0, piece, piece).changed
    assert LinePair(1, other, piece).changed
    assert LinePair(1, piece, other).changed


def test_as_text_and_as_a_table() -> None:
    found = Beside(translation("@a\nold b\nc", ("@", "put in\n"), ("old", "<new>"), first_line=4))
    lines = [line.split() for line in str(found).splitlines()]
    assert ["+", "put", "in"] in lines
    assert ["5", "old", "b", "<new>", "b"] in lines
    assert not any("6" in line or line[:1] == ["4"] for line in lines)
    html = found.html()
    assert html.count('<tr><th scope="row"') == 4
    for part in ('aria-label="added line">+ ●</th>', ">4</th>", 'aria-label="line 5, changed">5 ●</th>', ">6</th>"):
        assert part in html
    assert html.count("●") == 3  # two rows and the caption
    assert html.count("aria-label=") == 3  # the table, and the rows that changed
    assert "&lt;new&gt;</ins> b" in html
    assert ">old</del> b" in html
    assert found._repr_html_() == html
    assert repr(found) == str(found)
