"""Advice for the usual mistakes of people new to GPUs, chosen by the compiler's message and the source line.

`find(message, line, source, flag)` returns short sentences (what, why, what to try), or "" where the message
speaks for itself. `RULES` is the whole knowledge, in order of precedence.
"""

from __future__ import annotations


def find(message: str, line: str, source: str, flag: str = "") -> str:
    """Advice for one message."""
    return ""
