"""A kernel's assembly beside the source it came from: `listing` reads it out of the compiler's text into a `Listing`.

Works on text alone. A row is one instruction or label; its line is what the compiler's ``.loc`` says, which after
optimisation is approximate: one source line can return, and instructions of different lines interleave.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import escape

_FILE = re.compile(r'\s*\.file\s+(\d+)\s+"([^"]*)"(?:\s+"([^"]*)")?')
_LOC = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)")
_LABEL = re.compile(r"([A-Za-z_.$][\w.$]*):")
_COMMENT = re.compile(r"\s*(?:;|//).*$")
_STYLE = (
    ".gpulab-isa abbr{text-decoration:none;cursor:help}"
    ".gpulab-isa abbr:focus::after{content:'   ' attr(title);opacity:.7;font-style:italic}"
)
"""Browsers show a title to the pointer alone; with the keyboard on a mnemonic it stands behind it."""
_WIDTH = 56  # characters of source shown in the text form


@dataclass(frozen=True, slots=True)
class Line:
    """One instruction (or label, then `label` is set and `text` empty) and where it came from.

    `line` is 0 for instructions that come from no line of the source (`file` then says from where, if known).
    """

    text: str
    label: str = ""
    line: int = 0
    source: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Listing:
    """The instructions of one kernel, in order. ``str()`` and notebooks show them beside the source.

    `explain` gives the meaning of a mnemonic, or "": notebooks show it when the pointer or the keyboard is on one.
    """

    kernel: str
    arch: str
    rows: tuple[Line, ...]
    explain: Callable[[str], str] | None = field(default=None, compare=False)

    @property
    def instructions(self) -> tuple[str, ...]:
        """The instructions' text, without labels."""
        return tuple(row.text for row in self.rows if row.text)

    def __len__(self) -> int:
        return len(self.instructions)

    def __iter__(self) -> Iterator[str]:
        return iter(self.instructions)

    def __contains__(self, part: object) -> bool:
        return isinstance(part, str) and any(part in text for text in self.instructions)

    def count(self, prefix: str) -> int:
        """How many instructions have a mnemonic that starts so, e.g. ``isa.count("global_load")``."""
        return sum(text.startswith(prefix) for text in self.instructions)

    def _places(self) -> Iterator[tuple[Line, str, str]]:
        """Each row with its line and source as shown: empty where they repeat those of the row above."""
        before: tuple[int, str] | None = None
        for row in self.rows:
            place = (row.line, row.file)
            if row.label or place == before:
                yield row, "", ""
            else:
                yield row, str(row.line or ""), row.source if row.line else row.file and f"({row.file})"
                before = place
            if row.label:
                before = None

    def _count(self) -> str:
        return f"{len(self)} instruction{'' if len(self) == 1 else 's'}"

    def __str__(self) -> str:
        places = list(self._places())
        widest = min(_WIDTH, max((len(source.strip()) for _, _, source in places), default=0))
        lines = [f"{self.kernel} for {self.arch}: {self._count()}"]
        for row, line, source in places:
            text = source.strip()
            if len(text) > widest:
                text = text[: widest - 1] + "…"
            right = row.label + ":" if row.label else "    " + row.text
            lines.append(f"{line:>4}  {text:<{widest}} | {right}".rstrip())
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)

    def _explained(self, text: str) -> str:
        """An instruction as HTML; its mnemonic carries the meaning, for pointer, keyboard and screen reader."""
        mnemonic, blank, rest = text.partition(" ")
        meaning = self.explain(mnemonic) if self.explain is not None else ""
        if not meaning:
            return escape(text)
        said = escape(meaning)
        name = f'<abbr tabindex="0" title="{said}" aria-description="{said}">{escape(mnemonic)}</abbr>'
        return name + blank + escape(rest)

    def _repr_html_(self) -> str:
        body = []
        for row, line, source in self._places():
            right = f"<b>{escape(row.label)}:</b>" if row.label else "&nbsp;&nbsp;" + self._explained(row.text)
            cells = (
                f'<td style="text-align:right;opacity:.6">{line}</td>',
                f'<td style="text-align:left;white-space:pre">{escape(source.strip())}</td>',
                f'<td style="text-align:left;white-space:pre">{right}</td>',
            )
            body.append(f"<tr>{''.join(cells)}</tr>")
        title = f"{escape(self.kernel)} for {escape(self.arch)}: {self._count()}"
        heads = (
            f'<th scope="col" style="text-align:{side}">{text}</th>'
            for side, text in (("right", "line"), ("left", "source"), ("left", "assembly"))
        )
        return (
            f"<style>{_STYLE}</style>"
            f'<table class="gpulab-isa" style="font-family:monospace"><caption>{title}</caption>'
            f"<thead><tr>{''.join(heads)}</tr></thead>"
            f"<tbody>{''.join(body)}</tbody></table>"
        )


def listing(
    assembly: str,
    symbol: str,
    *,
    source: str = "",
    name: str = "",
    arch: str = "",
    kernel: str = "",
    first_line: int = 1,
    explain: Callable[[str], str] | None = None,
) -> Listing:
    """Read one kernel out of assembly text as Clang prints it.

    Args:
        assembly: the whole text.
        symbol: the kernel's linker symbol.
        source: the learner's source, to be shown beside; "" shows assembly alone.
        name: the file name under which the source was compiled; lines of other files are shown by their file.
        arch: for the heading.
        kernel: name for the heading; `symbol` if "".
        first_line: number of the source's first line.
        explain: gives the meaning of a mnemonic, or "".
    """
    source_lines = source.splitlines()
    files: dict[str, str] = {}
    rows: list[Line] = []
    inside = False
    line, file = 0, ""
    used = _labels_used(assembly, symbol)
    for text in assembly.splitlines():
        found = _FILE.match(text)
        if found:
            files[found[1]] = (found[3] or found[2]).replace("\\", "/").rsplit("/", 1)[-1]
            continue
        if text.startswith(f"{symbol}:"):
            inside = True
            continue
        if not inside:
            continue
        found = _LOC.match(text)
        if found:
            file = files.get(found[1], "")
            # With one file in the text there is nothing to confuse it with.
            own = not name or not file or file == name.replace("\\", "/").rsplit("/", 1)[-1] or len(files) <= 1
            line = int(found[2]) if own else 0
            continue
        found = _LABEL.match(text)
        if found:
            if found[1].startswith((".Lfunc_end", ".Lend_")):
                break
            if found[1] in used:
                rows.append(Line("", label=found[1]))
            continue
        stripped = _COMMENT.sub("", text).strip()
        if stripped.startswith((".size", ".section", ".rodata", ".end_amdhsa")):
            break
        if not stripped or stripped.startswith("."):
            continue
        index = line - first_line
        shown = source_lines[index] if line and 0 <= index < len(source_lines) else ""
        rows.append(Line(" ".join(stripped.split()), line=line, source=shown, file="" if line else file))
    return Listing(kernel or symbol, arch, tuple(rows), explain)


def _labels_used(assembly: str, symbol: str) -> frozenset[str]:
    """Labels that some instruction names: the others (debug information) are left out."""
    start = assembly.find(f"\n{symbol}:")
    words: set[str] = set()
    for text in assembly[max(start, 0) :].splitlines():
        stripped = text.strip()
        if stripped and not stripped.startswith((".", ";", "//")) and not _LABEL.match(stripped):
            words.update(re.findall(r"[A-Za-z_.$][\w.$]*", _COMMENT.sub("", stripped)))
    return frozenset(words)
