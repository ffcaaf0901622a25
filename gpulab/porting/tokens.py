"""C++ text as tokens whose texts, joined, are the text again: `scan`.

Every text can be scanned: what is unfinished (a comment, a string) ends at the end of its line or of the file, and a
character that starts nothing is a token of its own.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

SPACE, NEWLINE, COMMENT, STRING = "space", "newline", "comment", "string"
NUMBER, NAME, HEADER, SIGN = "number", "name", "header", "sign"
BLANK = (SPACE, NEWLINE, COMMENT)
"""The kinds that mean nothing to a compiler."""

_GAP = r"(?:[ \t]|/\*[^*\n\r]*\*/)*"
_FILE = r"(?:<[^>\n\r]*>|\"[^\"\n\r]*\")"

_TOKEN = re.compile(
    rf"""
      (?P<newline>\r\n|[\n\r])
    | (?P<space>(?:[ \t\f\v\ufeff]|\\(?:\r\n|[\n\r]))+)
    | (?P<comment>//[^\\\n\r]*(?:\\(?:\r\n|[\s\S])?[^\\\n\r]*)*|/\*[\s\S]*?(?:\*/|\Z))
    | (?P<raw>(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s"]{{0,16}})\([\s\S]*?(?:\)(?P=delimiter)"|\Z))
    | (?P<string>(?:u8|[uUL])?(?:"[^"\\\n\r]*(?:\\(?:\r\n|[\s\S])?[^"\\\n\r]*)*"?
                                |'[^'\\\n\r]*(?:\\(?:\r\n|[\s\S])?[^'\\\n\r]*)*'?))
    | (?P<number>\.?[0-9](?:[eEpP][+-]|'\w|[\w.])*)
    | (?P<include>(?:\#{_GAP}(?:include_next|include|import)|__has_include(?:_next)?{_GAP}\(){_GAP}{_FILE})
    | (?P<message>\#{_GAP}(?:error|warning)\b[^\n\r]*)
    | (?P<name>(?:[^\W\d]|\$)[\w$]*)
    | (?P<sign><<<|>>>|<=>|->\*|\.\.\.|<<=|>>=|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\#\#|[\s\S])
    """,
    re.VERBOSE,
)
_INCLUDE = re.compile(
    rf"(?P<sign>[#()])|(?P<space>[ \t]+)|(?P<comment>/\*[^*\n\r]*\*/)|(?P<name>\w+)|(?P<header>{_FILE})", re.VERBOSE
)


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a text, as three lists of one length: kinds, texts, and offsets of their first characters."""

    source: str
    kinds: list[str]
    texts: list[str]
    starts: list[int]
    line_starts: list[int]

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of a character, both counted from 1; a column is a character, also where it is a tab."""
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def line(self, number: int, most: int | None = None) -> str:
        """The text of a line (counted from 1) without its end, or its first `most` characters."""
        start = self.line_starts[number - 1]
        end = self.line_starts[number] if number < len(self.line_starts) else len(self.source)
        return self.source[start : end if most is None else min(end, start + most)].rstrip("\r\n")


def words(text: str) -> frozenset[str]:
    """The words of a text: how sets of names are written in this package."""
    return frozenset(text.split())


def scan(source: str) -> Tokens:
    """The tokens of C++ text; ``"".join(scan(text).texts) == text`` for every text.

    Kinds: SPACE (blanks and spliced lines), NEWLINE, COMMENT, STRING (also characters, raw strings and the text of
    #error), NUMBER, NAME (identifiers and keywords), HEADER (what #include names, with its marks), SIGN.
    """
    kinds: list[str] = []
    texts: list[str] = []
    starts: list[int] = []
    for found in _TOKEN.finditer(source):
        kind = found.lastgroup or SIGN
        if kind == "include":
            offset = found.start()
            for part in _INCLUDE.finditer(found[0]):
                kinds.append(part.lastgroup or SIGN)
                texts.append(part[0])
                starts.append(offset + part.start())
            continue
        if kind == "raw" or kind == "message":
            kind = STRING
        kinds.append(kind)
        texts.append(found[0])
        starts.append(found.start())
    line_starts = [0, *(found.end() for found in re.finditer(r"\r\n|[\n\r]", source))]
    return Tokens(source, kinds, texts, starts, line_starts)
