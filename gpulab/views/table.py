"""A table as text and as HTML: `Table` has columns and rows of plain values, and decides nothing else.

Numbers are set right, words left. All values are escaped in HTML, and `visible` keeps text in its order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

Cell = str | int | float


_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """The text with bidirectional control characters spelled out ("\\u202e"): they would show it in another order, and
    with it what follows (Unicode Technical Report 36; "Trojan Source", CVE-2021-42574). common.js does the same."""
    return _BIDI.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def preformatted(text: str, name: str = "", colour: str = "") -> str:
    """HTML of a text that keeps its lines and spaces; long lines are wrapped, between words where there are any.

    JupyterLab's own style for ``<pre>`` would break words anywhere.
    """
    style = "margin:0;white-space:pre-wrap;word-break:normal;overflow-wrap:anywhere"
    style += f";color:{colour}" if colour else ""
    attribute = f'class="{name}" ' if name else ""
    return f'<pre {attribute}style="{style}">{escape(text)}</pre>'


def short(text: str, most: int = 120) -> str:
    """The text with at most so many characters: names of templates can have thousands."""
    return text if len(text) <= most else text[: most - 1] + "…"


ONE_LINE = 120


def one_line(text: str) -> str:
    """The text in one line, with at most ONE_LINE characters."""
    return short(" ".join(text.split()), ONE_LINE)


def number(value: int | float) -> str:
    """A count with thousands separators, a float with three significant digits or its integer part."""
    if isinstance(value, float):
        return f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.3g}"
    return f"{value:,}"


@dataclass(frozen=True, slots=True, repr=False)
class Table:
    """Rows under column headings; `note` is a line below.

    `summary`: in HTML the table is folded behind this line, which opens it by mouse or keys.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    summary: str = ""

    def _cells(self) -> list[list[str]]:
        return [[visible(cell) if isinstance(cell, str) else number(cell) for cell in row] for row in self.rows]

    def _right(self) -> list[bool]:
        """Per column: are its cells numbers, or the dash that stands for none?"""
        return [
            bool(self.rows) and all(not isinstance(row[i], str) or row[i] == "–" for row in self.rows)
            for i in range(len(self.columns))
        ]

    def __str__(self) -> str:
        cells, right = self._cells(), self._right()
        heads = [visible(column) for column in self.columns]
        widths = [max(len(line[i]) for line in [heads, *cells]) for i in range(len(self.columns))]

        def line(values: Sequence[str]) -> str:
            set_ = [
                value.rjust(width) if to_right else value.ljust(width)
                for value, width, to_right in zip(values, widths, right, strict=True)
            ]
            return "  ".join(set_).rstrip()

        lines = [line(heads), "  ".join("-" * width for width in widths), *map(line, cells)]
        return "\n".join(lines + ([visible(self.note)] if self.note else []))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self.html()

    def html(self) -> str:
        """The table as an HTML fragment without scripts or ids."""
        right = self._right()

        def row(tag: str, values: Sequence[str]) -> str:
            inner = ""
            for value, to_right in zip(values, right, strict=True):
                # Of a column whose cells speak for themselves: a head without a word would be read aloud as one.
                own = tag if value else "td"
                scope = ' scope="col"' if own == "th" else ""
                side = "right" if to_right else "left"
                inner += f'<{own}{scope} style="text-align:{side}">{escape(value)}</{own}>'
            return f"<tr>{inner}</tr>"

        body = "".join(row("td", values) for values in self._cells())
        note = f"<p>{escape(visible(self.note))}</p>" if self.note else ""
        head = row("th", [visible(column) for column in self.columns])
        table = f'<table class="gpulab-table"><thead>{head}</thead><tbody>{body}</tbody></table>{note}'
        if not self.summary:
            return table
        return f'<details class="gpulab-folded"><summary>{escape(visible(self.summary))}</summary>{table}</details>'
