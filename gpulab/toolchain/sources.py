"""A learner's sources as files: bytes that are not UTF-8, and the headers that a source can read.

In a text, a byte that is not UTF-8 stands as a surrogate, as Python's "surrogateescape" has it: `encoded` gives the
same bytes to the compiler, `shown` is what people see. `headers` finds the files that a source includes, so that they,
and nothing else of the disk, are in Clang's virtual file system, and their contents can be part of a cache's key.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_SPLICE = re.compile(r"\\[ \t]*\n")
_INCLUDE = re.compile(
    r"^[ \t]*(?:/\*.*?\*/[ \t]*)*(?:#|%:)[ \t]*(?:/\*.*?\*/[ \t]*)*(?:include|include_next|import|embed)\b[ \t]*"
    r"(?:/\*.*?\*/[ \t]*)*(.*)$|__has_(?:include|include_next|embed)[ \t]*\(([^()\n]*)\)",
    re.MULTILINE,
)
_NAME = re.compile(r'"([^"\n]+)"|<([^>\n]+)>')
_MOST_FILES = 20_000


def read(path: Path) -> str:
    """The text of a source file. Any bytes are accepted: compilers do so, in comments and in strings.

    Raises:
        OSError: it cannot be read.
    """
    return path.read_bytes().decode("utf-8", "surrogateescape").removeprefix("\ufeff")


def normal(text: str) -> str:
    """The text with line feeds alone, and nothing in it that no bytes stand for."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return encoded(text).decode("utf-8", "surrogateescape")


def encoded(text: str) -> bytes:
    """The bytes of a text. A surrogate that stands for no byte becomes a question mark."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return re.sub("[\ud800-\udc7f\udd00-\udfff]", "?", text).encode("utf-8", "surrogateescape")


def shown(text: str) -> str:
    """The text for people: each byte that is not UTF-8 is shown as �."""
    return encoded(text).decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Headers:
    """The files that a source may read from the learner's own folders.

    `files` are their paths; `digest` is a hash of names and contents. Not `complete`: some name is made by a macro, so
    there may be others.
    """

    files: tuple[str, ...] = ()
    digest: str = ""
    complete: bool = True


def headers(text: str, folder: str, quoted: Sequence[str], user: Sequence[str]) -> Headers:
    """What a source can include, directly and by way of other headers, whatever its conditions say.

    Args:
        text: of the source.
        folder: where it is; "" for a text without a place.
        quoted: folders for ``#include "..."``.
        user: folders for both forms, in this order.
    """
    found: dict[str, bytes] = {}
    complete = True
    work = [(text, folder)]
    while work:
        text, folder = work.pop()
        for match in _INCLUDE.finditer(_SPLICE.sub("", text)):
            name = _NAME.match((match[1] if match[1] is not None else match[2]).strip())
            if name is None:
                complete = complete and match[1] is None
                continue
            places = (*([folder] if folder else []), *quoted, *user) if name[1] else tuple(user)
            for place in places:  # every folder that has it: #include_next goes on to the next one
                path = os.path.normpath(os.path.join(place, name[1] or name[2]))
                if path in found or not os.path.isfile(path):
                    continue
                try:
                    contents = Path(path).read_bytes()
                except OSError:
                    continue
                found[path] = contents
                if len(found) >= _MOST_FILES:
                    return Headers((), "", False)
                work.append((contents.decode("utf-8", "replace"), os.path.dirname(path)))
    digest = hashlib.sha256()
    for path in sorted(found):
        digest.update(f"{path}\0{len(found[path])}\0".encode("utf-8", "surrogatepass"))
        digest.update(found[path])
    return Headers(tuple(sorted(found)), digest.hexdigest(), complete)


_NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^()\\\s]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S
)


def code_only(source: str) -> str:
    """A C++ source with each comment replaced by a space and each text by an empty one; continued lines are joined."""
    return _NOT_CODE.sub(lambda found: " " if found[0].startswith("/") else '""', source.replace("\\\n", ""))


def heads(source: str) -> list[str]:
    """What stands before each opening brace of C++ text: the heads of functions are among them."""
    parts = re.split(r"([;{}])", without_comments(source))
    return [head for head, end in zip(parts[::2], parts[1::2], strict=False) if end == "{"]


_LEXEMES = re.compile(
    r"""
    (?P<raw> \b(?:u8|[uUL])?R"(?P<mark>[^ ()\\\t\v\f\n]{0,16})\( .*? (?:\)(?P=mark)"|\Z) )
  | (?P<line> //(?:\\\n|[^\n])* )
  | (?P<block> /\* .*? (?:\*/|\Z) )
  | (?P<string> "(?:\\.|[^"\\\n])*"? )
  | (?P<char> (?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])*'? )
    """,
    re.VERBOSE | re.DOTALL,
)


def without_comments(source: str) -> str:
    """C++ text with each comment as a space, and each string or character without what it holds."""
    return _LEXEMES.sub(
        lambda match: '""' if match["raw"] or match["string"] else "0" if match["char"] else " ", source
    )
