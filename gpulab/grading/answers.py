"""Right and wrong answers of an exercise: files of right ones, and edits of them that make known mistakes.

`right_answers(id)` reads the files in ``right/``. `wrong_answers(id)` reads ``wrong.toml``, where each table is one
wrong answer: a sentence on the mistake, the cause that the check must name, and either the right answer that it is an
edit of, with the edit, or a whole text. `edited` applies an edit, which is written as a diff without line numbers.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gpulab import languages
from gpulab.errors import CheckError
from gpulab.grading.library import folder_of

_TIMES = re.compile(r"@@(?:\s*(\d+) times)?\s*")


@dataclass(frozen=True)
class WrongAnswer:
    """A plausible wrong answer.

    Args:
        exercise: whose answer it is.
        name: of the answer, in lower case with hyphens.
        mistake: what is wrong with it, one sentence for those who maintain the exercise.
        cause: the name of the cause or requirement that the check must find.
        source: its whole text.
        of: the right answer that it is an edit of; "" for one that was written as a whole.
    """

    exercise: str
    name: str
    mistake: str
    cause: str
    source: str
    of: str = ""

    def __str__(self) -> str:
        return f"{self.exercise}/{self.name}"


def right_files(id: str) -> list[Path]:
    """The files of the right answers: those with a language's suffix."""
    return sorted(path for path in (folder_of(id) / "right").glob("*.*") if languages.of_file(path.name) is not None)


def right_answers(id: str) -> dict[str, str]:
    """The text of each right answer of an exercise, by its file's name without the suffix."""
    return {path.stem: _text(path) for path in right_files(id)}


def wrong_answers(id: str) -> tuple[WrongAnswer, ...]:
    """The wrong answers of an exercise in the order of its wrong.toml; none where there is no such file.

    Raises CheckError for a file that is no TOML, a field that is missing or unknown, or an edit that does not fit.
    """
    import tomllib

    path = folder_of(id) / "wrong.toml"
    if not path.is_file():
        return ()
    try:
        tables = tomllib.loads(_text(path))
    except tomllib.TOMLDecodeError as error:
        raise CheckError(
            f"{_place(path)} cannot be read: {error}.", hint="docs/exercises.md shows its form."
        ) from error
    right = right_answers(id)
    return tuple(_answer(id, path, name, table, right) for name, table in tables.items())


def wrong_answer(id: str, name: str) -> WrongAnswer:
    """One wrong answer by its name. Raises CheckError if there is none."""
    found = {answer.name: answer for answer in wrong_answers(id)}
    if name not in found:
        raise CheckError(f"Exercise {id!r} has no wrong answer {name!r}.", hint=f"there are: {', '.join(found)}.")
    return found[name]


def _text(path: Path) -> str:
    """The text of a file. Raises CheckError for what is not UTF-8; a mark at the beginning is left out."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise CheckError(f"{_place(path)} cannot be read: {error}.", hint="save the file as text in UTF-8.") from error


def _place(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def _answer(id: str, path: Path, name: str, table: object, right: Mapping[str, str]) -> WrongAnswer:
    where = f"{_place(path)}, wrong answer {name!r}"
    if not isinstance(table, dict):
        raise CheckError(f"{where} is no table.", hint=f"write [{name}] on a line of its own, and its fields below it.")
    fields = {field: text for field, text in table.items() if isinstance(text, str) and text.strip()}
    kinds: tuple[set[str], ...] = ({"mistake", "cause", "of", "edit"}, {"mistake", "cause", "text"})
    if set(table) != set(fields) or set(fields) not in kinds:
        lacks = min((sorted(kind - set(fields)) for kind in kinds), key=len)
        surplus = sorted(set(table) - kinds[0] - kinds[1])
        empty = sorted(set(table) - set(fields) - set(surplus))
        said = [
            f"{word} {', '.join(names)}"
            for word, names in (("it lacks", lacks), ("unknown is", surplus), ("not a text, or empty:", empty))
            if names
        ]
        raise CheckError(
            f"{where}: {'; '.join(said) or 'it has both an edit and a whole text'}.",
            hint="an edit has the fields mistake, cause, of and edit; a whole text has mistake, cause and text.",
        )
    if "text" in fields:
        return WrongAnswer(id, name, fields["mistake"], fields["cause"], fields["text"])
    of = fields["of"]
    if of not in right:
        raise CheckError(
            f"{where}: there is no right answer {of!r}.",
            hint=f"`of` names a file in right/ without its suffix: {', '.join(right) or 'there is none yet'}.",
        )
    file = next(path.name for path in right_files(id) if path.stem == of)
    source = edited(right[of], fields["edit"], where, f"right/{file}")
    return WrongAnswer(id, name, fields["mistake"], fields["cause"], source, of)


# ------------------------------------------------------------------------------------------------------------- edits


@dataclass(frozen=True)
class Change:
    """Whole lines that stand in a text, and the lines that take their place; `times`: in so many places."""

    old: tuple[str, ...]
    new: tuple[str, ...]
    times: int = 1


def changes(edit: str, where: str = "the edit") -> tuple[Change, ...]:
    """The changes of an edit: lines that begin with "-" go, with "+" come, with a space stay and say where.

    A line ``@@`` stands between two changes; ``@@ 3 times`` before a change that is made in three places.
    Raises CheckError for lines that begin with something else, and for a change without old lines or that changes
    nothing.
    """
    found: list[Change] = []
    times, lines = 1, list[str]()

    def finish() -> None:
        if not lines and times == 1:
            return
        old = tuple(line[1:] for line in lines if line[:1] != "+")
        new = tuple(line[1:] for line in lines if line[:1] != "-")
        if not any(line.strip() for line in old):
            raise CheckError(
                f"{where}: change {len(found) + 1} has no line of the right answer.",
                hint="begin with a line that stays, with a space before it, so that the place is known.",
            )
        if old == new:
            raise CheckError(f"{where}: change {len(found) + 1} changes nothing.", hint="put - and + before lines.")
        found.append(Change(old, new, times))

    for line in edit.splitlines():
        mark = _TIMES.fullmatch(line)
        if mark:
            finish()
            times, lines = int(mark[1] or 1), []
        elif line[:1] in ("", " ", "-", "+"):  # editors take the space of an empty line that stays
            lines.append(line or " ")
        else:
            raise CheckError(
                f"{where}: a line of an edit begins with {line[0]!r}: {line!r}.",
                hint="put - before a line that goes, + before one that comes, a space before one that stays.",
            )
    finish()
    if not found:
        raise CheckError(f"{where} changes nothing.", hint="put - and + before lines.")
    return tuple(found)


def edited(text: str, edit: str, where: str = "the edit", name: str = "the text") -> str:
    """The text with all changes of an edit made; each must fit exactly once, or as often as it says.

    Raises CheckError with what did not fit, and the lines of the text that are nearest to it.
    """
    lines = text.splitlines()
    made: list[tuple[int, Change]] = []
    for number, change in enumerate(changes(edit, where), 1):
        size = len(change.old)
        places = [at for at in range(len(lines) - size + 1) if tuple(lines[at : at + size]) == change.old]
        shown = "\n".join(f"    {line}" for line in change.old)
        if not places:
            raise CheckError(
                f"{where}: the old lines of change {number} do not stand in {name}:\n{shown}",
                why=_nearest(lines, change.old),
                hint="spaces count; copy the lines from there.",
            )
        if len(places) != change.times:
            raise CheckError(
                f"{where}: the old lines of change {number} stand {len(places)} times in {name}, "
                f"in line {', '.join(str(at + 1) for at in places)}, and not {change.times}:\n{shown}",
                hint=f"add a line before or after them that tells the places apart, or write @@ {len(places)} times.",
            )
        made += [(at, change) for at in places]
    made.sort(key=lambda each: each[0])
    for (at, change), (following, _) in itertools.pairwise(made):
        if at + len(change.old) > following:
            raise CheckError(
                f"{where}: two changes overlap in line {following + 1} of {name}.", hint="write them as one."
            )
    for at, change in reversed(made):
        lines[at : at + len(change.old)] = change.new
    return "\n".join(lines) + "\n"


def _nearest(lines: list[str], old: tuple[str, ...]) -> str:
    """The first of these lines that is missing, and the line most like it."""
    import difflib

    missing = next((line for line in old if line not in lines), None)
    if missing is None:
        return "each line stands there, but not one behind the other."
    near = difflib.get_close_matches(missing, lines, cutoff=0.5)
    if not near:
        return f"nothing there is like {missing.strip()!r}."
    return f"instead of {missing!r} there is, in line {lines.index(near[0]) + 1}, {near[0]!r}."
