"""Who handed in what: a folder or a zip of submissions becomes one `Submission` for each student and exercise.

The layouts: nbgrader's (``submitted/STUDENT/EXERCISE/EXERCISE.ipynb``, also with another assignment's name in the
middle), and flat ones: ``STUDENT/EXERCISE.ipynb``, ``.hip`` or ``.cpp``, ``STUDENT.zip``, and notebooks with any name
that hold one exercise or several. Nothing that is wrong with a file ends the reading: it becomes a `problem`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpulab.classroom import notebook
from gpulab.classroom.notebook import Asked, Cell
from gpulab.classroom.reading import Entry, Unreadable, entries, read_file, shown, text_of, zip_entries
from gpulab.errors import CheckError

TEXTS = (".hip", ".cpp")
"""Suffixes of files whose whole text is the answer."""

NOT_HANDED_IN = "nothing was handed in"
NESTED = "a zip inside a zip is not opened: unpack the outer one"


@dataclass(frozen=True)
class Submission:
    """What one student handed in for one exercise.

    Args:
        student: the name of the student's folder, as text that is safe to print.
        exercise: its id; "" for a file that belongs to no known exercise.
        answer: the text that is graded; None where there is a problem.
        problem: one clause that says why there is no answer, or "".
        where: the file, below the folder of submissions.
    """

    student: str
    exercise: str
    answer: str | None
    problem: str
    where: str


def asked_by(id: str) -> Asked:
    """What an answer to this exercise has to define. Raises CheckError for an unknown exercise."""
    from gpulab.grading import load
    from gpulab.grading.program import ProgramExercise

    exercise = load(id)
    return Asked(id, exercise.kernel, isinstance(exercise, ProgramExercise), exercise.language)


def answer_of_file(path: Path, asked: Asked) -> str:
    """The answer in one file: of a notebook its answer cell, else the whole text.

    Raises OSError or Unreadable if it cannot be read or holds no answer.
    """
    return _answer(path.suffix.lower(), text_of(read_file(path, _most())), asked)


def _most() -> int:
    from gpulab.classroom.reading import FILE_BYTES

    return FILE_BYTES


def _answer(suffix: str, text: str, asked: Asked) -> str:
    if suffix == ".ipynb":
        return notebook.answer(notebook.cells(text), asked)
    if not text.strip():
        raise Unreadable("it is empty")
    return notebook.short(text)


def submissions(top: Path, exercises: Sequence[str] | None = None) -> list[Submission]:
    """One record for each student and exercise, sorted; and one for each file that belongs to no exercise.

    Args:
        top: a folder or a zip.
        exercises: the ids that are graded; by default those that anybody handed in.

    Raises CheckError if `top` cannot be read, or holds nothing.
    """
    from gpulab.grading import exercise_ids

    known = list(exercises) if exercises else sorted(exercise_ids())
    wanted = {id: asked_by(id) for id in known}
    try:
        files = list(_unzipped(_without_submitted(list(entries(top))), top.is_dir()))
    except Unreadable as problem:
        raise CheckError(f"{shown(str(top))} cannot be read: {problem}.") from None
    if not files:
        raise CheckError(
            f"There are no submissions in {shown(str(top))}.",
            hint="it holds a folder for each student: docs/grading.md shows the layouts.",
        )
    found: dict[tuple[str, str], list[_Candidate]] = {}
    students: set[str] = set()
    for student, entry in files:
        students.add(student)
        for candidate in _candidates(student, entry, wanted):
            found.setdefault((student, candidate.exercise), []).append(candidate)
    graded = exercises or sorted({exercise for _, exercise in found if exercise})
    rows = [
        _chosen(student, exercise, found.get((student, exercise), []))
        for student in sorted(students)
        for exercise in graded
    ]
    rows += [
        Submission(student, "", None, each.problem, each.where)
        for (student, exercise), listed in sorted(found.items())
        for each in listed
        if not exercise
    ]
    return sorted(rows, key=lambda row: (row.student, row.exercise, row.where))


@dataclass(frozen=True)
class _Candidate:
    exercise: str
    rank: int  # 0: its name is the exercise's; 1: its folder's is; 2: a notebook that holds it
    where: str
    answer: str | None = None
    problem: str = ""


def _without_submitted(listed: list[Entry]) -> list[Entry]:
    """Only what is below ``submitted``, where there is such a folder at the top or one folder below it."""
    for level in (0, 1):
        inner = [entry for entry in listed if len(entry.parts) > level + 1 and entry.parts[level] == "submitted"]
        if inner:
            return [Entry(entry.parts[level + 1 :], entry.problem, entry.read) for entry in inner]
    return listed


def _unzipped(listed: Iterable[Entry], opened: bool) -> Iterator[tuple[str, Entry]]:
    """(student, entry below the student's folder); with `opened`, zips of students are looked into."""
    for entry in listed:
        name = entry.parts[-1]
        stem, suffix = os.path.splitext(name)
        student = shown(entry.parts[0] if len(entry.parts) > 1 else stem)
        inner = entry.parts[1:] or (name,)
        if suffix.lower() != ".zip" or entry.problem:
            yield student, Entry(inner, entry.problem, entry.read)
            continue
        if not opened:
            yield student, _refused(inner, NESTED)
            continue
        try:
            packed = list(zip_entries(entry.read(), ()))
            for each in packed:
                if each.parts[-1].lower().endswith(".zip"):
                    yield student, _refused(each.parts, NESTED)
                else:
                    same = len(each.parts) > 1 and each.parts[0] == stem
                    yield student, Entry(each.parts[1:] if same else each.parts, each.problem, each.read)
            if not packed:
                yield student, _refused(inner, "the zip is empty")
        except Unreadable as problem:
            yield student, _refused(inner, str(problem))


def _refused(parts: tuple[str, ...], problem: str) -> Entry:
    def read() -> bytes:
        raise Unreadable(problem)

    return Entry(parts, problem, read)


def _candidates(student: str, entry: Entry, wanted: dict[str, Asked]) -> Iterator[_Candidate]:
    """What a file may be the answer to. Files of other kinds (pictures, data) give nothing."""
    stem, suffix = os.path.splitext(entry.parts[-1])
    suffix = suffix.lower()
    named = _named(stem, wanted)
    folder = next((part for part in reversed(entry.parts[:-1]) if part in wanted), "")
    exercise, rank = (named, 0) if named else (folder, 1)
    if suffix not in (*TEXTS, ".ipynb"):
        if entry.problem:
            yield _Candidate(exercise, 3, entry.where, None, f"{shown(entry.parts[-1])}: {entry.problem}")
        return
    try:
        if entry.problem:
            raise Unreadable(entry.problem)
        text = text_of(entry.read())
        if exercise:
            yield _Candidate(exercise, rank, entry.where, _answer(suffix, text, wanted[exercise]))
            return
        if suffix != ".ipynb":
            raise Unreadable("no exercise has this name")
        cells = notebook.cells(text)
        inside = notebook.exercises_in(cells, list(wanted))
        if not inside:
            raise Unreadable("it holds none of the exercises that are graded")
    except Unreadable as problem:
        yield _Candidate(exercise, rank, entry.where, None, f"{shown(entry.parts[-1])}: {problem}")
        return
    for id in inside:
        yield _one_of(cells, wanted[id], entry)


def _one_of(cells: Sequence[Cell], asked: Asked, entry: Entry) -> _Candidate:
    try:
        return _Candidate(asked.exercise, 2, entry.where, notebook.answer(cells, asked))
    except Unreadable as problem:
        return _Candidate(asked.exercise, 2, entry.where, None, f"{shown(entry.parts[-1])}: {problem}")


def _named(stem: str, wanted: dict[str, Asked]) -> str:
    """The exercise that a file's name says, also of a copy: "saxpy-guard (1)", "saxpy_guard-Copy1"."""
    plain = re.sub(r"([ _-]*\(\d{1,3}\)|-Copy\d{1,3})$", "", stem).strip().lower()
    for name in (stem, plain, plain.replace("_", "-")):
        if name in wanted:
            return name
    return ""


def _chosen(student: str, exercise: str, listed: list[_Candidate]) -> Submission:
    """The one that counts. Several with different answers are a problem: nobody can say which one was meant."""
    if not listed:
        return Submission(student, exercise, None, NOT_HANDED_IN, "")
    answered = [each for each in listed if each.answer is not None]
    best = [each for each in answered if each.rank == min(other.rank for other in answered)]
    exact = [each for each in best if os.path.splitext(each.where.rpartition("/")[2])[0] == exercise] or best
    if not exact:
        first = min(listed, key=lambda each: (each.rank, each.where))
        return Submission(student, exercise, None, first.problem, first.where)
    if len({each.answer for each in exact}) > 1:
        names = ", ".join(sorted(each.where for each in exact))
        return Submission(student, exercise, None, f"different answers in {names}", exact[0].where)
    return Submission(student, exercise, exact[0].answer, "", exact[0].where)
