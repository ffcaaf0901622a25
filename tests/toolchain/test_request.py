"""What is to be compiled: which texts and names are accepted, and what a request says of them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from gpulab.errors import CompileError, GpulabError
from gpulab.toolchain import compiler
from gpulab.toolchain.request import Request, bare, request


def asked(source: str = "int x;", **changes: Any) -> Request:
    return request(source, **{"arch": "gfx942", "language": "hip", "name": "a.hip", **changes})


def test_what_is_not_said() -> None:
    found = asked()
    assert (found.source, found.arch, found.language, found.name) == ("int x;", "gfx942", "hip", "a.hip")
    assert (found.first_line, found.headers, found.expressions, found.original) == (1, {}, (), "")
    assert found.use_cache
    assert found.limits == compiler.Limits()
    assert Request("", "gfx942", "hip", found.options, "a").first_line == 1
    assert Request("", "gfx942", "hip", found.options, "a").use_cache


def test_what_is_said() -> None:
    limits = compiler.Limits(seconds=1)
    found = asked("a\r\nb\rc", first_line=5, headers={"lib/t.h": "x"}, name_expressions=[" &k<1> "], limits=limits,
                  use_cache=False, options=["--offload-arch=gfx1100", "-O1"])  # fmt: skip
    assert (found.source, found.first_line, found.arch) == ("a\nb\nc", 5, "gfx1100")
    assert (found.headers, found.expressions, found.limits) == ({"lib/t.h": "x"}, ("&k<1>",), limits)
    assert not found.use_cache


def test_bytes_that_are_not_utf8_are_shown_to_people() -> None:
    found = asked("x\udcff")
    assert (found.source, found.original) == ("x\udcff", "x\ufffd")
    again = found.translated("y")
    assert (again.source, again.original) == ("y", "x\ufffd")
    assert asked("x").translated("y").original == "x"


def test_the_length_of_a_text() -> None:
    """16 MiB."""
    most = "x" * 16_777_216
    assert asked(most).source == most
    with pytest.raises(CompileError, match="the source is 16,777,217 characters long") as raised:
        asked(most + "x")
    assert "at most 16,777,216 characters" in raised.value.why
    with pytest.raises(CompileError, match="the source holds a null character"):
        asked("a\0b")
    with pytest.raises(GpulabError, match="the source to compile is a bytes, not a text"):
        asked(b"a")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "shown"),
    [("a.hip", "a.hip"), (" a b ", "a b"), ("a\nb\x7f\u2028", "a?b??"), ("", "cell.hip"), ("-", "cell.hip"),
     (" ", "cell.hip"), ("--", "--"), ("x" * 200, "x" * 200), ("x" * 201, "x" * 200), ("\ud800", "?")],
)  # fmt: skip
def test_names_of_sources(name: str, shown: str) -> None:
    assert asked(name=name).name == shown


@pytest.mark.parametrize("name", ["a.h", "lib/a.h", "a..h", "x" * 200])
def test_names_of_headers(name: str) -> None:
    assert asked(headers={name: ""}).headers == {name: ""}


@pytest.mark.parametrize("name", ["", "/a.h", "../a.h", "a/../b.h", "a\\..\\b.h", "a\nb", "c:a.h", 'a"', "x" * 201])
def test_names_of_headers_that_are_refused(name: str) -> None:
    with pytest.raises(GpulabError, match="is not accepted as the name of a header"):
        asked(headers={name: ""})


@pytest.mark.parametrize(
    ("expression", "name"),
    [("k", "k"), (" &k ", "k"), ("(k<1>)", "k<1>"), ("&(k)", "k"), ("(&k)", "k"), ("((k))", "k"), ("(a)b", "(a)b"),
     ("f(int)", "f(int)"), ("& &k", "k")],
)  # fmt: skip
def test_what_an_expression_names(expression: str, name: str) -> None:
    assert bare(expression) == name
    assert asked(name_expressions=[expression]).expressions == (expression.strip(),)


@pytest.mark.parametrize("expression", ["", "&", "()", "a;b", "a\nb", "a{}", "#a", 'a"', "a'", "a\\"])
def test_expressions_that_are_refused(expression: str) -> None:
    with pytest.raises(GpulabError, match="is not accepted as a name expression"):
        asked(name_expressions=[expression])


def test_a_key_has_all_that_a_result_depends_on() -> None:
    plain = asked().key()
    assert asked(use_cache=False, limits=compiler.Limits(seconds=1)).key() == plain
    for changes in ({"arch": "gfx1100"}, {"language": "asm"}, {"name": "b.hip"}, {"first_line": 2},
                    {"options": ["-O1"]}, {"headers": {"a.h": ""}}, {"name_expressions": ["k"]}):  # fmt: skip
        assert asked(**changes).key() != plain
    assert asked("int y;").key() != plain
    assert asked().translated("int x;").key() != plain
    assert {field.name for field in fields(Request)} >= {"source", "original", "expressions"}
    assert asked(headers={"b": "1", "a": "2"}).key() == asked(headers={"a": "2", "b": "1"}).key()
