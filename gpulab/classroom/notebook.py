"""The answer in a submitted notebook: the text of its answer cell, and nothing else of it.

`cells(text)` reads a notebook of a stranger, whatever its JSON holds. `answer(cells, asked)` finds the answer cell of
an exercise: the cell that nbgrader marked for it, if it defines what is asked for, else the last one that does so
before the exercise's check. What stands in comments and strings defines nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from gpulab import languages
from gpulab.classroom.reading import Unreadable, clean
from gpulab.toolchain.sources import heads

PARTS = 1_000_000
"""Values in a notebook's JSON, at most: each takes memory when it is read."""

ANSWER_BYTES = 256 << 10
"""The longest answer."""


@dataclass(frozen=True)
class Asked:
    """What an answer has to define.

    Args:
        exercise: its id.
        kernel: the kernel's name; of a program "main".
        program: whether a whole program is asked for.
        language: what a kernel is written in.
    """

    exercise: str
    kernel: str
    program: bool = False
    language: str = "hip"

    @property
    def magic(self) -> str:
        """The first word of its cell; "" for a cell of plain Python."""
        magic = languages.find(self.language).magic
        return "%%hipcc" if self.program else f"%%{magic}" if magic else ""


@dataclass(frozen=True)
class Cell:
    """A code cell: its source and the id that nbgrader gave it ("" for none)."""

    source: str
    grade_id: str = ""

    @property
    def first_line(self) -> str:
        return self.source.lstrip().partition("\n")[0]

    @property
    def magic(self) -> str:
        """The cell magic; "" for a cell of plain Python."""
        word = self.source.split(None, 1)[:1][0] if self.source.strip() else ""
        return word if word.startswith("%%") else ""

    @property
    def body(self) -> str:
        return self.source.lstrip().partition("\n")[2] if self.magic else self.source


def cells(text: str) -> list[Cell]:
    """The code cells of a notebook; the marked answer cell also where a key press has made it one for text.

    Raises Unreadable for what is no notebook; odd cells are left out.
    """
    if text.count(",") + text.count("[") + text.count("{") > PARTS:
        raise Unreadable("it is no notebook of this course: it has too many parts")
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"it is not a notebook{_where_not(text, error)}") from None
    listed = _listed(whole) if isinstance(whole, dict) else None
    if not isinstance(listed, list):
        raise Unreadable("it is not a notebook")
    found = []
    for each in listed:
        if not isinstance(each, dict):
            continue
        text_of_code = each.get("input") if "source" not in each else None  # nbformat 3
        source, mark = _joined(each.get("source", text_of_code)), _grade_id(each.get("metadata"))
        if source is not None and (each.get("cell_type") == "code" or mark):
            found.append(Cell(source, mark))
    return found


def _listed(whole: dict[str, Any]) -> Any:
    """What stands in the place of a notebook's cells. Format 3 had them on worksheets."""
    if "cells" in whole or not isinstance(whole.get("worksheets"), list):
        return whole.get("cells")
    sheets = [sheet.get("cells") for sheet in whole["worksheets"] if isinstance(sheet, dict)]
    return [cell for cells in sheets if isinstance(cells, list) for cell in cells]


def _where_not(text: str, error: Exception) -> str:
    """Why a text is no JSON, as the end of a sentence."""
    if not text.strip():
        return ": it is empty"
    if "\n<<<<<<< " in f"\n{text}" and "\n>>>>>>> " in text:
        return ": it has the lines of a conflict that git left (<<<<<<<)"
    if isinstance(error, json.JSONDecodeError) and text.lstrip().startswith("{"):
        cut = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
        return f": it breaks off in line {error.lineno}" if cut else f": its JSON is damaged in line {error.lineno}"
    return ""


def _joined(source: Any) -> str | None:
    """A cell's source, which is a text or a list of texts; None for anything else."""
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    return clean(source).replace("\r\n", "\n") if isinstance(source, str) else None


def _grade_id(metadata: Any) -> str:
    marks = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    if not isinstance(marks, dict) or marks.get("solution") is not True:
        return ""
    found = marks.get("grade_id")
    return found if isinstance(found, str) else ""


def exercises_in(found: Sequence[Cell], known: Sequence[str]) -> list[str]:
    """The exercises that a notebook belongs to: those whose answer cells, checks or pictures stand in it."""
    named = set()
    for cell in found:
        named.add(re.sub(r"-answer-\d+$", "", cell.grade_id))
        if not cell.magic.startswith("%%"):
            named.update(re.findall(r"""\bgpulab\s*\.\s*(?:check|exercise)\s*\(\s*["']([a-z0-9-]+)["']""", cell.source))
    return [id for id in known if id in named]


def answer(found: Sequence[Cell], asked: Asked) -> str:
    """The text of the answer cell, without its magic. Raises Unreadable, with a clause, if there is none."""
    right = [cell for cell in found if cell.magic == asked.magic]
    marked = [cell for cell in right if re.fullmatch(rf"{re.escape(asked.exercise)}-answer-\d+", cell.grade_id)]
    for group in (marked, _before_check(found, asked), right):
        defining = [cell for cell in group if cell.magic == asked.magic and defines(cell.body, asked)]
        if defining:
            return short(defining[-1].body)
    if marked:
        return short(marked[-1].body)
    others = [cell for cell in right if asked.program or defines(cell.body, replace(asked, kernel=r"\w+"))]
    if others and not asked.program:
        return short(others[-1].body)
    below = asked.magic and any(re.search(rf"\n[ \t]*{asked.magic}\b", cell.source) for cell in found)
    bare = asked.magic and any(not cell.magic and defines(cell.source, asked) for cell in found)
    cell = f"{asked.magic} cell" if asked.magic else "cell"
    raise Unreadable(
        f"it has no {cell} with {'a main function' if asked.program else 'a kernel'}"
        + (f": {asked.magic} is not in the first line of its cell" if below or bare else "")
    )


def short(text: str) -> str:
    """The text, if it is not too long for an answer. Raises Unreadable."""
    if len(text.encode("utf-8")) > ANSWER_BYTES:
        raise Unreadable(f"the answer is longer than {ANSWER_BYTES >> 10} KB")
    return text


def _before_check(found: Sequence[Cell], asked: Asked) -> list[Cell]:
    """The cells before the last check of the exercise; of programs those with the name that is checked."""
    pattern = re.compile(rf"""\bgpulab\s*\.\s*check\s*\(\s*["']{re.escape(asked.exercise)}["']\s*,\s*(\w+)""")
    for place in range(len(found) - 1, -1, -1):
        match = None if found[place].magic.startswith("%%") else pattern.search(found[place].source)
        if match:
            before = list(found[:place])
            named = [cell for cell in before if re.search(rf"--name[= ]\s*{match[1]}\b", cell.first_line)]
            return named or before
    return []


def defines(source: str, asked: Asked) -> bool:
    """Does this text define the kernel (or, in C++, `main`) that is asked for?"""
    if asked.program:
        return any(re.search(r"\bmain\s*\(", head) for head in heads(source))
    return languages.answers(asked.language).defines(source, asked.kernel)
