"""The colours of all pictures, which colour-blind people can tell apart, and how static pictures are drawn.

Okabe and Ito's palette for categories ("Color Universal Design", 2008) and cividis for amounts (Nuñez, Anderton and
Renslow, PLOS ONE 13(7), 2018). static/common.css has the same values; tests/views/test_instrument.py compares.
A colour never stands alone: a shape, a hatch, a sign or the number itself says the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, VERMILLION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PURPLE, SKY, YELLOW, BLACK = "#CC79A7", "#56B4E9", "#F0E442", "#000000"
CATEGORIES = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILLION, YELLOW)
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "++", "ooo")
"""Matplotlib's hatches, one for each of CATEGORIES; common.js draws the same kinds."""

HEAT = ("#00224E", "#35456C", "#666970", "#948E77", "#C8B866", "#FEE838")
"""Six steps of cividis, from little to much."""


def heat(share: float) -> str:
    """The colour of an amount between 0 and 1."""
    return HEAT[min(max(int(share * len(HEAT)), 0), len(HEAT) - 1)]


def on(colour: str) -> str:
    """Black or white, whichever stands out more on this colour (WCAG 2.2, relative luminance)."""

    def channel(value: int) -> float:
        share = value / 255
        return share / 12.92 if share <= 0.04045 else float(((share + 0.055) / 1.055) ** 2.4)

    red, green, blue = (channel(int(colour[i : i + 2], 16)) for i in (1, 3, 5))
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "#000000" if (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) else "#FFFFFF"


def figure(width: float, height: float, **options: Any) -> Figure:
    """An empty figure of so many inches, drawn without a window system and without the user's own settings."""
    import logging

    import matplotlib

    # That matplotlib makes its list of fonts, once on a machine, is nothing to tell a learner, or nbgrader.
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        from matplotlib.figure import Figure

        made = Figure(figsize=(width, height), layout="constrained", **options)
    made.set_facecolor("white")
    return made


def plain(text: str) -> str:
    """Text as matplotlib draws it literally: a dollar sign starts no formula."""
    return text.replace("$", r"\$")
