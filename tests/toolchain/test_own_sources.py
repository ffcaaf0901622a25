"""Files of the learner's: how sources.py reads them, and which headers a text can include."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpulab.toolchain import sources


def test_texts_and_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.hip"
    path.write_bytes(b"\xef\xbb\xbfint x;\r\n\xff")
    assert sources.read(path) == "int x;\r\n\udcff"
    assert sources.normal("a\r\nb\rc\nd") == "a\nb\nc\nd"
    assert sources.encoded("a\udcff\ud800\udd00") == b"a\xff??"
    assert sources.normal("\ud800\udcfe") == "?\udcfe"
    assert sources.shown("é\udcff") == "é\ufffd"


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Two folders, `near` and `far`, that both have a.h; each file's text is its own path's end."""
    for place in ("near", "far"):
        (tmp_path / place / "in").mkdir(parents=True)
        (tmp_path / place / "a.h").write_text(place)
        (tmp_path / place / f"{place}.h").write_text("")
    (tmp_path / "far" / "in" / "deep.h").write_text('#include "beside.h"\n#include "../far.h"\n')
    (tmp_path / "far" / "in" / "beside.h").write_text('#include "deep.h"\n')
    return tmp_path / "near", tmp_path / "far"


@pytest.mark.parametrize(
    ("text", "found", "complete"),
    [
        ("", [], True),
        ('#include "a.h"', ["far/a.h", "near/a.h"], True),  # each folder that has it
        ("#include <a.h>", ["far/a.h"], True),
        ("#include <near.h>", [], True),
        ('#include "near.h"', ["near/near.h"], True),
        ("  # /* x */ include /* y */ <far.h>", ["far/far.h"], True),
        ("%:include <far.h>", ["far/far.h"], True),
        ("#incl\\\nude <far.h>", ["far/far.h"], True),
        ("#include_next <far.h>\n#embed <a.h>", ["far/a.h", "far/far.h"], True),
        ("#import <far.h>", ["far/far.h"], True),
        ("#if __has_include(<far.h>)\n#endif", ["far/far.h"], True),
        ("#if 0\n#include <far.h>\n#endif", ["far/far.h"], True),
        ("int x; // #include <far.h>", [], True),
        ("#includes <far.h>", [], True),
        ('#include "in/deep.h"', ["far/far.h", "far/in/beside.h", "far/in/deep.h"], True),
        ("#include <missing.h>\n#include <in>", [], True),  # no file, a folder
        ("#define H <a.h>\n#include H\n#include <far.h>", ["far/far.h"], False),
        ("#include H\n#include <far.h>", ["far/far.h"], False),
        ("#if __has_include(H)\n#endif", [], True),
    ],
)
def test_what_a_text_can_include(folders: tuple[Path, Path], text: str, found: list[str], complete: bool) -> None:
    near, far = folders
    headers = sources.headers(text, str(near), (), (str(far),))
    assert [Path(file).relative_to(near.parent).as_posix() for file in headers.files] == found
    assert headers.complete == complete


def test_a_text_without_a_place(folders: tuple[Path, Path]) -> None:
    near, far = map(str, folders)
    assert len(sources.headers('#include "a.h"', "", (), (far,)).files) == 1
    assert len(sources.headers('#include "a.h"', "", (near,), (far,)).files) == 2
    assert len(sources.headers("#include <a.h>", "", (near,), (far,)).files) == 1
    assert sources.headers('#include "a.h"', "", (), ()).files == ()


def test_the_digest_is_of_names_and_contents(folders: tuple[Path, Path]) -> None:
    near, far = folders
    first = sources.headers("#include <a.h>", "", (), (str(far),)).digest
    assert sources.headers("#include <a.h>\n#include <a.h>", "", (), (str(far),)).digest == first
    assert sources.headers("#include <a.h>", "", (), (str(near),)).digest != first
    for other in ("other", "raf"):  # also of the same length
        (far / "a.h").write_text(other)
        assert sources.headers("#include <a.h>", "", (), (str(far),)).digest != first
    assert sources.Headers() == sources.Headers((), "", True)


def test_a_file_that_cannot_be_read_and_too_many(folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    _, far = folders
    text = "#include <a.h>\n#include <far.h>"
    assert len(sources.headers(text, "", (), (str(far),)).files) == 2
    monkeypatch.setattr(sources, "_MOST_FILES", 3)
    assert len(sources.headers(text, "", (), (str(far),)).files) == 2
    monkeypatch.setattr(sources, "_MOST_FILES", 2)
    assert sources.headers(text, "", (), (str(far),)) == sources.Headers((), "", False)
    monkeypatch.undo()

    def refused(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refused)
    found = sources.headers(text, "", (), (str(far),))
    assert (found.files, found.complete) == ((), True)


def test_heads_stand_before_opening_braces() -> None:
    """Comments and what texts hold are no code; a declaration, and what follows the last brace, is no head."""
    text = "int a; // f() {\nnamespace n { void g(char c = '{') { h(\"{;\"); } struct S; struct T {}; } int b"
    assert [head.split() for head in sources.heads(text)] == [
        ["namespace", "n"], ["void", "g(char", "c", "=", "0)"], ["struct", "T"],
    ]  # fmt: skip
    assert sources.heads("int a; int b") == []
    assert [head.strip() for head in sources.heads("do { x(); } while (y); if (z) {")] == ["do", "if (z)"]


@pytest.mark.parametrize(
    ("text", "code", "bare"),
    [
        ("a // b\nc", "a  \nc", "a  \nc"),
        ("a /* b\n */ c", "a   c", "a   c"),
        ('f("a // b\\"", \'"\');', 'f("", "");', 'f("", 0);'),
        ('x = R"-(a " // )" )-"; b', 'x = ""; b', 'x = ""; b'),
        ("int a\\\nb;", "int ab;", "int a\\\nb;"),
        ("x = 1'000'000;", 'x = 1""000;', "x = 1'000'000;"),
        ("a / b", "a / b", "a / b"),
        ("", "", ""),
    ],
)
def test_code_without_comments_and_texts(text: str, code: str, bare: str) -> None:
    assert sources.code_only(text) == code
    assert sources.without_comments(text) == bare
