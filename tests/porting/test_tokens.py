"""The scanner: tokens joined are the text, and each kind of token is told from the others."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpulab.porting.tokens import COMMENT, HEADER, NAME, NUMBER, SIGN, SPACE, STRING, scan

# Pieces that C++'s lexical rules treat specially, so that random joins meet their borders.
PIECES = st.sampled_from(
    ["//", "/*", "*/", '"', "'", "\\", "\n", "\r\n", "\r", 'R"(', ')"', 'R"x(', ')x"', "u8", "L", "#include", "#", "<",
     ">", "<<<", ">>>", "cudaMalloc", "cuda", "1'000", "0x", "1e+", "\t", " ", "\ufeff", "é", "\0", "$",
     "__has_include(", "<cuda.h>", "error", "{", "}", "(", ")", "::", ".", "->", ";", "\udc80"]
)  # fmt: skip


@pytest.mark.full
@given(st.one_of(st.text(), st.lists(PIECES).map("".join)))
@settings(max_examples=400, deadline=None)
def test_tokens_joined_are_the_text(text: str) -> None:
    tokens = scan(text)
    assert "".join(tokens.texts) == text
    assert all(text.startswith(part, start) for part, start in zip(tokens.texts, tokens.starts, strict=True))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("// to the end \\\n and the spliced line", COMMENT),
        ("/* cudaMalloc \n * */", COMMENT),
        ("/* without an end", COMMENT),
        ('"a \\" quote"', STRING),
        ('"spliced \\\n line"', STRING),
        ('R"end(raw )" " cudaFree )end"', STRING),
        ('u8R"(raw)"', STRING),
        ("L'\\''", STRING),
        ("#error it's cudaMalloc", STRING),
        ("1'000'000", NUMBER),
        ("0x1.8p-3f", NUMBER),
        (".5e+10f", NUMBER),
        ("naïve_1", NAME),
        ("\\\n\t", SPACE),
        ("<<<", SIGN),
        ("::", SIGN),
    ],
)
def test_one_token(text: str, kind: str) -> None:
    tokens = scan(text)
    assert (tokens.kinds, tokens.texts) == ([kind], [text])


def test_headers_are_tokens_only_behind_include() -> None:
    tokens = scan('#  include /* x */ <cuda.h>\n#if __has_include("cuda.h") && a < b > c')
    headers = [text for kind, text in zip(tokens.kinds, tokens.texts, strict=True) if kind == HEADER]
    assert headers == ["<cuda.h>", '"cuda.h"']


def test_a_string_without_end_ends_with_its_line() -> None:
    tokens = scan('"open\ncudaMalloc')
    assert tokens.texts == ['"open', "\n", "cudaMalloc"]


def test_places_count_lines_of_all_endings() -> None:
    tokens = scan("a\nb\r\nc\rdd")
    assert [tokens.place(start) for start in tokens.starts if tokens.source[start] not in "\r\n"] == [
        (1, 1), (2, 1), (3, 1), (4, 1),
    ]  # fmt: skip
    assert [tokens.line(number) for number in (1, 2, 3, 4)] == ["a", "b", "c", "dd"]


@pytest.mark.parametrize("piece", ['"', "'", "/*", 'R"(', "#include ", "#include /*", "(", "<<<", "\\", "//\\\n"])
def test_scanning_takes_linear_time(piece: str) -> None:
    """A megabyte of openings that nothing closes: a pattern that tries again from each would take minutes."""
    text = piece * (1_000_000 // len(piece))
    start = time.process_time()
    assert "".join(scan(text).texts) == text
    assert time.process_time() - start < 10
