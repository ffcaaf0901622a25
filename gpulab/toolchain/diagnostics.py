"""Compiler messages for learners: on their own lines, with a caret, the first error first, and with advice.

`parse` reads Clang's messages, `parse_assembler` and `parse_linker` those of the later steps; all give
`records.Diagnostic`s on the lines of a `Source`. `advice.py` knows the usual mistakes. `compile_error` lays out the
exception, `render` the text of several messages.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gpulab.errors import CompileError
from gpulab.records import Diagnostic, SourceLine
from gpulab.toolchain import advice, listing

EXPRESSIONS_FILE = "name expressions"
_HEADERS = ("/gpulab/include/", "/gpulab/builtin/", "/gpulab/system/")
_OWN_HEADERS = "/gpulab/headers/"
_MESSAGE = re.compile(
    r"(?P<file>[^\n]*?):(?P<line>\d+):(?P<column>\d+):(?P<ranges>(?:\{[\d:-]+\})*:?) ?"
    r"(?P<severity>fatal error|error|warning|note|remark): (?P<message>.*)\Z"
)
_PLAIN = re.compile(
    r"(?:(?P<file>[^\n:]+):)?(?:(?P<line>\d+):)? ?(?:zig: |clang\S*: |ld\.lld: )?"
    r"(?P<severity>fatal error|error|warning): (?P<message>.*)\Z"
)
_INCLUDED = re.compile(r"In file included from (?P<file>.*?):(?P<line>\d+)[:,]\Z")
_RANGE = re.compile(r"\{(\d+):(\d+)-(\d+):(\d+)\}")
_SUMMARY = re.compile(r"\d+ (errors?|warnings?)( and \d+ errors?)? generated.*\Z")
_REQUIREMENT = re.compile(r"^(static assertion failed) due to requirement '.*?': ")
_ALIAS = re.compile(r"'[^']*gpulab::[^']*' \(aka '([^']*)'\)")  # types that only the headers name
_FLAG = re.compile(r" \[-W[\w+=,-]+\]\Z")
_MOST_SHOWN = 10
_LONGEST_LINE = 200


@dataclass(frozen=True, slots=True)
class Source:
    """What the messages are about: the text that the compiler read, its name and first line, what came with it, and the
    learner's own text if another was made of it, line for line."""

    text: str
    name: str = "cell.hip"
    first_line: int = 1
    expressions: Sequence[str] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    program: bool = False  # a whole program, with host code
    original: str = ""

    def own_line(self, file: str, number: int) -> str:
        """The text of a line as the learner wrote it; "" if unknown."""
        return self.line(file, number, self.original or self.text)

    def line(self, file: str, number: int, text: str | None = None) -> str:
        """The text of a line of the source, a given header or the name expressions, as the compiler read it; "" if
        unknown."""
        if file == self.name:
            lines, index = _lines(self.text if text is None else text), number - self.first_line
        elif file.startswith(_OWN_HEADERS) and file[len(_OWN_HEADERS) :] in self.headers:
            lines, index = _lines(self.headers[file[len(_OWN_HEADERS) :]]), number - 1
        elif file == EXPRESSIONS_FILE:
            lines, index = self.expressions, number - 1
        else:
            return ""
        return lines[index] if 0 <= index < len(lines) else ""


@functools.lru_cache(maxsize=2)  # thousands of messages can be about the same text
def _lines(text: str) -> Sequence[str]:
    return text.split("\n")


def visible(text: str) -> str:
    """The text with control characters (tabs and line breaks apart) made visible: they cannot act on a terminal."""

    def one(match: re.Match[str]) -> str:
        code = ord(match[0])
        if code < 0x20:
            return chr(0x2400 + code)  # control pictures
        return "\u2421" if code == 0x7F else f"\\u{code:04x}"

    # C0 and C1 controls, and the marks that reorder or hide text.
    return re.sub("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]", one, text)


@dataclass(slots=True)
class _Raw:
    severity: str
    message: str
    file: str
    line: int
    column: int
    ranges: str
    included: list[tuple[str, int]]
    notes: list[_Raw] = field(default_factory=list)


def _read(log: str) -> list[_Raw]:
    found: list[_Raw] = []
    included: list[tuple[str, int]] = []
    for text in log.split("\n"):
        text = text.rstrip("\r")
        match = _INCLUDED.match(text)
        if match:
            included.append((match["file"], int(match["line"])))
            continue
        match = _MESSAGE.match(text) or _PLAIN.match(text)
        if match is None:
            if text.strip() and not _SUMMARY.match(text) and found and not text.startswith(("PLEASE", "Stack dump")):
                last = found[-1].notes[-1] if found[-1].notes else found[-1]
                if len(last.message) < 2000:
                    last.message += "\n" + text
            continue
        groups = match.groupdict()
        raw = _Raw(
            groups["severity"].replace("fatal error", "error"), groups["message"], groups["file"] or "",
            int(groups["line"] or 0), int(groups.get("column") or 0), groups.get("ranges") or "", included,
        )  # fmt: skip
        included = []
        if raw.severity == "note" and found:
            found[-1].notes.append(raw)
        elif raw.severity != "remark" and not raw.message.startswith("too many errors emitted"):
            found.append(raw)
    return found


def _character_column(line: str, column: int) -> int:
    """Clang counts columns in bytes of UTF-8; people count characters. Of a line that is not known it stays."""
    if not column or not line:
        return column
    return len(line.encode("utf-8")[: column - 1].decode("utf-8", "ignore")) + 1


def _caret(line: str, column: int, start: int, end: int) -> str:
    """The source line and below it a caret with the marked range, cut to a readable width."""
    shift = 0
    text = line
    if len(text) > _LONGEST_LINE:
        shift = max(0, column - _LONGEST_LINE // 2)
        last = shift + _LONGEST_LINE
        text = ("..." if shift else "") + text[shift:last] + ("..." if last < len(text) else "")
        shift -= 3 if shift else 0
    text = visible(text)
    if column < 1:
        return f"    {text}"
    column, start, end = column - shift, max(1, start - shift), min(end - shift, len(text) + 1)
    marks = ["~" if start <= i < end else " " for i in range(1, max(column, end, 1) + 1)]
    marks[column - 1] = "^"
    padding = "".join("\t" if i < len(text) and text[i] == "\t" and marks[i] == " " else marks[i]
                      for i in range(len(marks)))  # fmt: skip
    return f"    {text}\n    {padding.rstrip()}"


def _show(raw: _Raw, source: Source) -> tuple[SourceLine | None, str]:
    """Place and rendered text of one message."""
    line = source.line(raw.file, raw.line)
    column = _character_column(line, raw.column)
    start = end = column
    # Ranges count the lines of the text that Clang read, where a #line directive stands before the source.
    physical = raw.line - source.first_line + 2 if raw.file == source.name else raw.line
    for l1, c1, l2, c2 in _RANGE.findall(raw.ranges):
        if int(l1) == int(l2) == physical:
            start = min(start, _character_column(line, int(c1)))
            end = max(end, _character_column(line, int(c2)))
    file = "a name expression" if raw.file == EXPRESSIONS_FILE else raw.file.removeprefix(_OWN_HEADERS)
    own = source.own_line(raw.file, raw.line)
    at = column if own == line else 0  # in a translated line columns are others
    where = SourceLine(visible(file), raw.line, at, visible(own)) if raw.file and raw.line else None
    place = f"{visible(file)}:{raw.line}:{f'{at}:' if at else ''} " if where else ""
    text = f"{place}{raw.severity}: {_message(raw)}"
    if own != line and own.strip():
        text += f"\n{_caret(own, 0, 0, 0)}\n  The compiler read:"
    if line.strip():
        text += "\n" + _caret(line, column, start, end)
    return where, text


def _message(raw: _Raw) -> str:
    """The message without the option that controls it, and an assertion with its own text alone."""
    return visible(_ALIAS.sub(r"'\1'", _REQUIREMENT.sub(r"\1: ", _FLAG.sub("", raw.message))))


def _in_library(raw: _Raw) -> bool:
    return raw.file.startswith(_HEADERS) or raw.file.startswith("<")


def _to_learner(raw: _Raw) -> _Raw:
    """A message inside a header, moved to the learner's line that caused it (the first note or include there)."""
    if not _in_library(raw):
        return raw
    own = [note for note in raw.notes if not _in_library(note) and note.line]
    callers = [note for note in own if re.search(r"instantiation|expanded from|requested|in call", note.message)]
    if own:
        cause = (callers or own)[-1]
        return replace_raw(raw, cause.file, cause.line, cause.column, cause.ranges)
    for file, line in reversed(raw.included):
        if not file.startswith((*_HEADERS, "<")):
            return replace_raw(raw, file, line, 0, "")
    return raw


def _is_noise(raw: _Raw, source: Source) -> bool:
    """Warnings on what C++ does by rule: printf takes every float as a double."""
    if "implicit conversion increases floating-point precision" not in raw.message:
        return False
    calls = _RANGE.findall(raw.ranges)
    line = source.line(raw.file, raw.line)
    return any(line[int(first) - 1 :].lstrip().startswith("printf") for _, first, _, _ in calls)


def replace_raw(raw: _Raw, file: str, line: int, column: int, ranges: str) -> _Raw:
    """The same message at another place."""
    return _Raw(raw.severity, raw.message, file, line, column, ranges, raw.included, raw.notes)


def _diagnose(raws: Sequence[_Raw], source: Source) -> tuple[Diagnostic, ...]:
    found: list[Diagnostic] = []
    said_before: set[tuple[str, str, int]] = set()
    told: set[str] = set()
    for raw in raws:
        same = (raw.message, raw.file, raw.line)
        if _is_noise(raw, source) or (raw.severity == "warning" and same in said_before):
            continue
        said_before.add(same)
        moved = _to_learner(raw)
        if _in_library(moved) and raw.message in told:  # without a place in the source the same says nothing new
            continue
        told.add(raw.message)
        where, rendered = _show(moved, source)
        notes = []
        for note in raw.notes[:6]:
            if (
                _in_library(note)
                or not note.line
                or re.match(r"(expanded from macro|in instantiation)", note.message)
                or note.message.endswith("to silence this warning")
            ):
                continue
            if (note.file, note.line, note.column) == (moved.file, moved.line, moved.column) and moved is not raw:
                continue
            notes.append(_show(note, source)[1])
        rendered = "\n".join([rendered, *notes[:3]])
        message = _message(raw)
        flag = _FLAG.search(raw.message)
        said = "\n".join([message, *(visible(note.message) for note in raw.notes)])
        line = source.line(moved.file, moved.line) if where else ""
        hint = advice.find(said, visible(line), source.text, flag[0].strip(" []") if flag else "",
                           source.program)  # fmt: skip
        found.append(Diagnostic(raw.severity, message, where, hint, rendered))
    # The first error first; warnings keep their order behind the errors.
    errors = [d for d in found if d.severity == "error"]
    return tuple(errors + [d for d in found if d.severity != "error"])


def parse(log: str, source: Source) -> tuple[Diagnostic, ...]:
    """Clang's messages (made with -fno-caret-diagnostics -fdiagnostics-print-source-range-info)."""
    return _diagnose(_read(log), source)


def parse_assembler(log: str, assembly: str, origin: Sequence[int] | None, source: Source) -> tuple[Diagnostic, ...]:
    """The assembler's messages. `origin` gives the source's line (0 for none) of each line of the assembly, where the
    assembly is the language's own; without it the lines are mapped through `.loc` (inline assembly in a kernel)."""
    moved = []
    lines = assembly.split("\n")
    for raw in _read(_without_snippets(log)):
        if not raw.file.endswith("kernel.s"):
            moved.append(raw)
            continue
        own = origin[raw.line - 1] if origin is not None and 0 < raw.line <= len(origin) else 0
        if own:
            same = source.line(source.name, own) == lines[raw.line - 1]  # only then does the column fit
            moved.append(replace_raw(raw, source.name, own, raw.column if same else 0, ""))
            continue
        text = lines[raw.line - 1].strip() if 0 < raw.line <= len(lines) else ""
        raw.message = f"{raw.message}\n    in the assembly: {text}"
        place = listing.source_line(assembly, raw.line)
        moved.append(replace_raw(raw, *place, "") if place else replace_raw(raw, "", 0, 0, ""))
    return _diagnose(moved, source)


def _without_snippets(log: str) -> str:
    """Messages alone: the assembler always prints the line and a caret below."""
    return "\n".join(line for line in log.split("\n") if _MESSAGE.match(line) or _PLAIN.match(line))


def parse_linker(log: str, source: Source) -> tuple[Diagnostic, ...]:
    """The linker's messages: undefined symbols, mostly."""
    found = []
    for raw in _read(_without_snippets(log)):
        raw.message = re.sub(r"^ld\.lld: ", "", raw.message)
        match = re.match(r"undefined (?:protected |hidden )?symbol: (.*)", raw.message)
        if match:
            operator = re.match(r"operator (new|delete)", match[1])
            name = operator[1] if operator else re.escape(re.split(r"[(<]", match[1])[0].split("::")[-1])
            for number, line in enumerate(source.text.split("\n"), source.first_line):
                use = re.search(rf"\b{name}\b", line) if name else None
                if use:
                    raw = replace_raw(raw, source.name, number, use.start() + 1, "")
                    break
            else:
                raw = replace_raw(raw, "", 0, 0, "")
        else:
            raw = replace_raw(raw, "", 0, 0, "")
        found.append(raw)
    return _diagnose(found, source)


def text_of(diagnostic: Diagnostic) -> str:
    """One message as it is shown: place, line, caret, advice."""
    parts = [diagnostic.rendered or f"{diagnostic.severity}: {diagnostic.message}"]
    if diagnostic.advice:
        parts += [f"  -> {line}" if i == 0 else f"     {line}" for i, line in enumerate(diagnostic.advice.split("\n"))]
    return "\n".join(parts)


def render(found: Sequence[Diagnostic]) -> str:
    """Several messages as one text, each advice once."""
    seen: set[str] = set()
    shown = []
    for diagnostic in found:
        if diagnostic.advice in seen:
            diagnostic = replace(diagnostic, advice="")
        seen.add(diagnostic.advice)
        shown.append(text_of(diagnostic))
    return "\n".join(shown)


def compile_error(found: Sequence[Diagnostic], name: str, log: str) -> CompileError:
    """The exception for a source that did not compile."""
    errors = [d for d in found if d.severity == "error"]
    many = "1 error" if len(errors) == 1 else f"{len(errors)} errors"
    head = f"{visible(name)} did not compile: {many}."
    if len(errors) > 1:
        head += " Begin with the first; the others often follow from it."
    shown = [render(errors[:_MOST_SHOWN])]
    if len(errors) > _MOST_SHOWN:
        shown.append(f"({len(errors) - _MOST_SHOWN} more errors)")
    return CompileError("\n".join([head, *shown]), diagnostics=tuple(found), log=visible(log))


def once(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Each message once: the passes over a program say much the same; errors first."""
    kept: dict[tuple[str, object], Diagnostic] = {}
    for item in found:
        place = (item.where.file, item.where.line, item.where.column) if item.where else None
        kept.setdefault((item.message, place), item)
    return tuple(sorted(joined(kept.values()), key=lambda item: item.severity != "error"))


def joined(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Warnings of the same words as one, with the other lines: a program may ignore the result of every call."""
    groups: dict[tuple[str, str, int], list[Diagnostic]] = {}
    for number, item in enumerate(found):
        groups.setdefault((item.severity, item.message, number if item.severity == "error" else 0), []).append(item)
    joined = []
    for first, *others in groups.values():
        lines = sorted({item.where.line for item in others if item.where is not None})
        if lines:
            listed = ", ".join(map(str, lines[:12])) + (", ..." if len(lines) > 12 else "")
            first = replace(first, rendered=f"{first.rendered}\n(the same in line{'s' * (len(lines) > 1)} {listed})")
        joined.append(first)
    return joined
