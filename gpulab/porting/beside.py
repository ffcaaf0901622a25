"""CUDA and HIP side by side: `Beside` shows a translation line by line, with what changed marked."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from itertools import zip_longest

from gpulab.porting.translate import Translation
from gpulab.views.table import Table, visible

_MARK = "background:#F0E442;color:#000;font-weight:bold;text-decoration:underline"
_HEAD = "text-align:right;white-space:nowrap;font-weight:normal"
_CODE = "font-family:monospace;white-space:pre-wrap;text-align:left;vertical-align:top;overflow-wrap:anywhere"


@dataclass(frozen=True, slots=True)
class LinePair:
    """One line of both programs: each side as pieces (text, whether it changed); `number` is 0 for an added line."""

    number: int
    cuda: tuple[tuple[str, bool], ...]
    hip: tuple[tuple[str, bool], ...]

    @property
    def changed(self) -> bool:
        """Whether the sides differ."""
        return not self.number or any(mark for _, mark in (*self.cuda, *self.hip))


def rows(translation: Translation) -> list[LinePair]:
    """The lines of a translation; an added #include is a row of its own without a CUDA side."""
    made: list[LinePair] = []
    cuda: list[tuple[str, bool]] = []
    hip: list[tuple[str, bool]] = []
    number = translation.first_line

    def finish() -> None:
        nonlocal number, cuda, hip
        made.append(LinePair(number, tuple(cuda), tuple(hip)))
        number, cuda, hip = number + 1, [], []

    def unchanged(text: str) -> None:
        lines = _lines(text)
        for index, line in enumerate(lines):
            if line:
                cuda.append((line, False))
                hip.append((line, False))
            if index < len(lines) - 1:
                finish()

    done = 0
    source = translation.source
    for edit in translation.edits:
        unchanged(source[done : edit.start])
        old, new = _lines(source[edit.start : edit.end]), _lines(edit.text)
        done = edit.end
        if len(old) == 1:  # lines put in before this one
            made.extend(LinePair(0, (), ((line, True),)) for line in new[:-1] if line)
            new = new[-1:]
        for index, (left, right) in enumerate(zip_longest(old, new, fillvalue="")):
            if index:
                finish()
            if left:
                cuda.append((left, True))
            if right:
                hip.append((right, True))
    unchanged(source[done:])
    if cuda or hip:
        finish()
    return made


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


@dataclass(frozen=True, slots=True)
class Beside:
    """A translation to look at: in a notebook both programs beside each other, as text the lines that changed."""

    translation: Translation

    def __str__(self) -> str:
        changed = [row for row in rows(self.translation) if row.changed]
        if not changed:
            return "nothing changed: there is no CUDA name in this program"
        plain = [
            (str(row.number or "+"), "".join(text for text, _ in row.cuda), "".join(text for text, _ in row.hip))
            for row in changed
        ]
        return str(Table(("line", "CUDA", "HIP"), tuple(plain)))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self.html()

    def html(self) -> str:
        """A table of three columns: line number, CUDA, HIP. A changed line has a ● behind its number, and what changed
        is bold, underlined and on yellow."""
        body = []
        for row in rows(self.translation):
            sign = " ●" if row.changed else ""
            number = f"{row.number or '+'}{sign}"
            label = f' aria-label="line {row.number}, changed"' if row.changed and row.number else ""
            label = ' aria-label="added line"' if not row.number else label
            body.append(
                f'<tr><th scope="row" style="{_HEAD}"{label}>{number}</th>'
                f'<td style="{_CODE}">{_pieces(row.cuda, "del")}</td>'
                f'<td style="{_CODE}">{_pieces(row.hip, "ins")}</td></tr>'
            )
        heads = "".join(f'<th scope="col" style="text-align:left">{head}</th>' for head in ("line", "CUDA", "HIP"))
        return (
            '<div class="gpulab-beside" style="max-height:30em;overflow:auto" tabindex="0" role="region" '
            'aria-label="CUDA and HIP side by side"><table class="gpulab-table" style="width:100%;table-layout:auto">'
            f"<caption>● marks a changed line; what changed in it is bold and underlined.</caption>"
            f"<thead><tr>{heads}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
        )


def _pieces(pieces: tuple[tuple[str, bool], ...], tag: str) -> str:
    made = []
    for text, changed in pieces:
        safe = escape(visible(text))
        made.append(f'<{tag} style="{_MARK}">{safe}</{tag}>' if changed else safe)
    return "".join(made)
