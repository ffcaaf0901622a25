"""A C++ source as requirements and causes look at it: `in_loop` says whether something stands in a loop."""

from __future__ import annotations

import re

from gpulab.toolchain.sources import code_only as code_only


def in_loop(source: str, pattern: str) -> bool:
    """Is the regular expression found in a loop of the source: in what it asks, or in what it repeats?"""
    code = code_only(source)
    for loop in re.finditer(r"\b(?:while|for|do)\b", code):
        end = loop.end()
        if loop[0] != "do":
            end = _closing(code, code.find("(", end))
        body = re.compile(r"[^{;]*").match(code, end)
        end = body.end() if body else end
        if code[end : end + 1] == "{":
            end = _closing(code, end)
        if loop[0] == "do":  # what follows it is the condition
            end = code.find(";", end)
        if re.search(pattern, code[loop.start() : end + 1]):
            return True
    return False


def _closing(code: str, start: int) -> int:
    """Where the bracket at `start` is closed again; the end of the text, if it is not."""
    pairs = {"(": ")", "{": "}"}
    opening = code[start : start + 1]  # nothing at -1
    if opening not in pairs:
        return len(code)
    depth = 0
    for at in range(start, len(code)):
        depth += (code[at] == opening) - (code[at] == pairs[opening])
        if depth == 0:
            return at
    return len(code)
