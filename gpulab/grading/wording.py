"""How numbers, counts and places are written in texts for learners."""

from __future__ import annotations

from typing import Any


def number_text(value: Any) -> str:
    """A numpy scalar as reports show it."""
    return f"{value:.7g}" if value.dtype.kind == "f" else str(value)


def counted(number: int, noun: str) -> str:
    """ "1 line", "2 lines"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def coordinates(place: tuple[int, int, int]) -> str:
    """ "5" for (5, 0, 0), "(5, 2)" for (5, 2, 0)."""
    if place[1:] == (0, 0):
        return str(place[0])
    used = place if place[2] else place[:2]
    return "(" + ", ".join(str(part) for part in used) + ")"
