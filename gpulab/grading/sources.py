"""A source as requirements and causes look at it: `code_only` is the text without comments and strings."""

from __future__ import annotations

import re

_NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^()\\\s]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S
)


def code_only(source: str) -> str:
    """The source with each comment replaced by a space and each text by an empty one; continued lines are joined."""
    return _NOT_CODE.sub(lambda found: " " if found[0].startswith("/") else '""', source.replace("\\\n", ""))
