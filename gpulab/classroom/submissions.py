"""Who handed in what: a folder or a zip of submissions becomes one `Submission` for each student and exercise.

The layouts: nbgrader's (``submitted/STUDENT/EXERCISE/EXERCISE.ipynb``, also with another assignment's name in the
middle), and flat ones: ``STUDENT/EXERCISE.ipynb``, ``.hip`` or ``.cpp``, ``STUDENT.zip``, and notebooks with any name
that hold one exercise or several; also what Moodle and Canvas give as a download. Nothing that is wrong with a file
ends the reading: it becomes a `problem`.
A file that is not read is named: a student who handed in something is not told that there was nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gpulab import course, languages
from gpulab.classroom import notebook
from gpulab.classroom.notebook import Asked, Cell
from gpulab.classroom.reading import (
    EMPTY,
    Entry,
    TooLarge,
    Unreadable,
    entries,
    read_file,
    shown,
    student_name,
    text_of,
    zip_entries,
)
from gpulab.errors import CheckError, GpulabError

TEXTS = (".hip", ".cpp")
"""Suffixes of files whose whole text is the answer, whatever the exercise; beside those of its language."""

ADDED = (".txt", ".json")
"""What browsers put behind the name of a file that they do not know: "saxpy-guard.ipynb.txt"."""

BESIDE = (".png", ".svg", ".jpg", ".jpeg", ".gif", "timestamp.txt")
"""Ends of names that stand beside answers: pictures, and nbgrader's time of collecting."""

MOODLE = re.compile(r"(.+)_(\d+)_assignsubmission_[a-z]+_?")
"""A folder in Moodle's "Download all submissions": full name, number of the participant."""

CANVAS = re.compile(r"([^_]+)_(?:LATE_)?(\d+)_\d{3,}_(.+)")
"""A file in Canvas' "Download Submissions": name, ID of the user, number of the file (no day), and its own name."""

NOT_HANDED_IN = "nothing was handed in"
NESTED = "a zip inside a zip is not opened: unpack the outer one"


@dataclass(frozen=True)
class Submission:
    """What one student handed in for one exercise.

    Args:
        student: the name of the student's folder, as text that is safe to print; "" for a file that is nobody's.
        exercise: its id; "" for a file that belongs to no known exercise.
        answer: the text that is graded; None where there is a problem.
        problem: one clause that says why there is no answer, or "".
        where: the file, below the folder of submissions; of what was not handed in, the files that belong to no
            exercise.
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
    return _answer(_split(path.name)[1], text_of(read_file(path, _most())), asked)


def _most() -> int:
    from gpulab.classroom.reading import FILE_BYTES

    return FILE_BYTES


def _answer(suffix: str, text: str, asked: Asked) -> str:
    if suffix == ".ipynb":
        return notebook.answer(notebook.cells(text), asked)
    if not text.strip():
        raise Unreadable("it is empty")
    return notebook.short(text)


def submissions(top: Path, exercises: Sequence[str] | None = None, out: Path | None = None) -> list[Submission]:
    """One record for each student and exercise, sorted; and one for each file that belongs to no exercise.

    Args:
        top: a folder or a zip.
        exercises: the ids that are graded; by default those that anybody handed in.
        out: where the report goes, which is left out if it stands among the submissions.

    Raises CheckError if `top` cannot be read, holds nothing, or is another folder than one of submissions.
    """
    from gpulab.grading import exercise_ids

    known = frozenset(exercise_ids())
    if not os.path.lexists(top):
        raise CheckError(
            f"There is no folder {shown(str(top))}"
            + (": it is an exercise, and no file with an answer is named." if str(top) in known else "."),
            why=f"looked in {shown(os.getcwd())}.",
            hint="gpulab grade FOLDER --out graded takes the folder or zip with what a class handed in; "
            "gpulab grade EXERCISE FILE checks files.",
        )
    wanted = {id: asked_by(id) for id in exercises or sorted(known)}
    try:
        listed = [_of_system(entry) for entry in _without_submitted(_without(list(entries(top)), top, out))]
    except Unreadable as problem:
        raise CheckError(
            f"{shown(str(top))} cannot be read: {problem}.",
            hint="gpulab grade FOLDER --out graded takes the folder or zip with what a class handed in; "
            "gpulab grade EXERCISE FILE checks files.",
        ) from None
    download = _download(listed) if top.is_dir() else []
    listed = download or listed
    stray = [entry for entry in listed if _is_stray(entry)]
    # A file at the top that is named like an exercise is no student's, unless there is nothing else.
    named = [entry for entry in listed if len(entry.parts) == 1 and _is_named(*_split(entry.parts[0]), entry, known)]
    if any(entry not in named and entry not in stray for entry in listed):
        stray += [entry for entry in named if entry not in stray]
    files = list(_unzipped((entry for entry in listed if entry not in stray), top.is_dir() and not download))
    if all(entry.problem == EMPTY for _, entry in files):
        names = ", ".join([*(entry.where for entry in stray), *(student for student, _ in files)][:3])
        raise CheckError(
            f"There are no submissions in {shown(str(top))}"
            + (f", only empty folders or others' files ({names})." if names else "."),
            hint="it holds a folder for each student: docs/grading.md shows the layouts.",
        )
    found: dict[tuple[str, str], list[_Candidate]] = {}
    students: set[str] = set()
    for student, entry in files:
        students.add(student)
        for candidate in _candidates(student, entry, wanted, known):
            found.setdefault((student, candidate.exercise), []).append(candidate)
    _refuse_exercises(top, students, known)
    graded = exercises or sorted({exercise for _, exercise in found if exercise})
    answered = {student for (student, exercise), each in found.items() if exercise and _best(each)}
    others = {
        student: [each for each in listed if each.rank < UNKNOWN_KIND or student not in answered]
        for (student, exercise), listed in found.items()
        if not exercise
    }
    rows = [
        _chosen(student, exercise, found.get((student, exercise), []), others.get(student, ()))
        for student in sorted(students)
        for exercise in graded
    ]
    rows += [
        Submission(student, "", None, each.problem, each.where)
        for student, listed in sorted(others.items())
        for each in listed
    ]
    rows += [
        Submission("", "", None, f"{entry.where}: a file beside the students' folders, of no student", entry.where)
        for entry in stray
    ]
    return sorted(rows, key=lambda row: (row.student, row.exercise, row.where))


def _refuse_exercises(top: Path, students: set[str], known: frozenset[str]) -> None:
    """Raises CheckError where what should be students are exercises: the course's own folder, or one sorted by them."""
    if students and students <= known:
        some = ", ".join(sorted(students)[:3]) + (" ..." if len(students) > 3 else "")
        raise CheckError(
            f"In {shown(str(top))} there are exercises ({some}) where students are expected.",
            why="the folder at the top is the student's: STUDENT/EXERCISE.ipynb.",
            hint="name the folder above it, if it is the folder of one student; docs/grading.md shows the layouts.",
        )


UNKNOWN_KIND = 5
"""The rank of a file whose kind is not read."""


@dataclass(frozen=True)
class _Candidate:
    exercise: str
    # 0: its name is the exercise's; 1: its folder's is; 2: a notebook that holds it; 3: text of a suffix that notebooks
    # are exported to as well; 4: what is no file; UNKNOWN_KIND
    rank: int
    where: str
    answer: str | None = None
    problem: str = ""


def _without(listed: list[Entry], top: Path, out: Path | None) -> list[Entry]:
    """Without what stands in the folder `out`. Raises CheckError if that is the folder of the submissions itself."""
    if out is None or not top.is_dir():
        return listed
    above, own = Path(os.path.realpath(top)), Path(os.path.realpath(out))
    if own == above:
        raise CheckError(
            f"The report cannot go to {shown(str(out))}: it is the folder of the submissions.",
            hint="--out names another folder, graded for example.",
        )
    inside = own.relative_to(above).parts if own.is_relative_to(above) else ()
    return [entry for entry in listed if not inside or entry.parts[: len(inside)] != inside]


def _without_submitted(listed: list[Entry]) -> list[Entry]:
    """Only what is below ``submitted``, where there is such a folder at the top or one folder below it."""
    for level in (0, 1):
        inner = [entry for entry in listed if len(entry.parts) > level + 1 and entry.parts[level] == "submitted"]
        if inner:
            return [Entry(entry.parts[level + 1 :], entry.problem, entry.read) for entry in inner]
    return listed


def _of_system(entry: Entry) -> Entry:
    """An entry as it would stand in a folder for each student, if it is one of Moodle's or Canvas' downloads."""
    first, *more = entry.parts
    if more and (moodle := MOODLE.fullmatch(first)):
        return Entry((f"{moodle[1]} (Moodle {moodle[2]})", *more), entry.problem, entry.read)
    if not more and entry.problem != EMPTY and (canvas := CANVAS.fullmatch(first)):
        return Entry((f"{canvas[1]} (Canvas {canvas[2]})", canvas[3]), entry.problem, entry.read)
    return entry


def _download(listed: Sequence[Entry]) -> list[Entry]:
    """What is in a system's download of a class, if nothing but that zip is listed; else nothing.

    A zip beside others is a student's, who could name folders in it like those of others.
    """
    if len(listed) != 1 or len(listed[0].parts) != 1 or _split(listed[0].parts[0])[1] != ".zip" or listed[0].problem:
        return []
    try:
        found = list(zip_entries(listed[0].read(), ()))
    except Unreadable:
        return []  # and is told of as a student's
    mapped = [_of_system(entry) for entry in found]
    return mapped if any(each is not entry for each, entry in zip(mapped, found, strict=True)) else []


def _split(name: str) -> tuple[str, str]:
    """A file's name without its suffix, and the suffix in lower case; what browsers put behind it is left out."""
    stem, suffix = os.path.splitext(name)
    inner, before = os.path.splitext(stem)
    if suffix.lower() in ADDED and before.lower() in (*TEXTS, ".ipynb"):
        return inner, before.lower()
    return stem, suffix.lower()


def _is_stray(entry: Entry) -> bool:
    """Is it a file at the top that holds no answer, like a list of names? It says nothing about who handed it in."""
    return len(entry.parts) == 1 and not entry.problem and _split(entry.parts[0])[1] not in (*TEXTS, ".ipynb", ".zip")


def _is_named(stem: str, suffix: str, entry: Entry, known: Container[str]) -> bool:
    return suffix in (*TEXTS, ".ipynb") and entry.problem != EMPTY and bool(_named(stem, known))


def _unzipped(listed: Iterable[Entry], opened: bool) -> Iterator[tuple[str, Entry]]:
    """(student, entry below the student's folder); with `opened`, zips of students are looked into."""
    for entry in listed:
        name = entry.parts[-1]
        stem, suffix = _split(name)
        packed = suffix == ".zip" and entry.problem != EMPTY
        own = len(entry.parts) == 1  # the student's file, or what is in the place of a folder
        student = student_name(stem if own and (packed or suffix in (*TEXTS, ".ipynb")) else entry.parts[0])
        inner = entry.parts[1:] or (name if entry.problem != EMPTY else "",)
        if not packed or entry.problem:
            yield student, Entry(inner, entry.problem, entry.read)
            continue
        if not opened:
            yield student, _refused(inner, NESTED)
            continue
        try:
            found = list(zip_entries(entry.read(), ()))
            for each in found:
                same = len(each.parts) > 1 and each.parts[0] == stem
                parts = each.parts[1:] if same else each.parts
                # A zip in a student's folder is a folder of its name: it may say which exercise this is.
                parts = parts if own else (*inner[:-1], stem, *parts)
                if each.parts[-1].lower().endswith(".zip"):
                    yield student, _refused(parts, NESTED)
                else:
                    yield student, Entry(parts, each.problem, each.read)
            if not found:
                yield student, _refused(inner, "the zip is empty")
        except Unreadable as problem:
            yield student, _refused(inner, str(problem))


def _refused(parts: tuple[str, ...], problem: str) -> Entry:
    def read() -> bytes:
        raise Unreadable(problem)

    return Entry(parts, problem, read)


def _candidates(student: str, entry: Entry, wanted: dict[str, Asked], known: frozenset[str]) -> Iterator[_Candidate]:
    """What a file may be the answer to. Pictures, and files of exercises that are not graded, give nothing."""
    name = entry.parts[-1]
    stem, suffix = _split(name)
    named = _named(stem, known)
    folder = next(filter(None, (_named(part, wanted) for part in reversed(entry.parts[:-1]))), "")
    exercise, rank = (named, 0) if named else (folder, 1)
    if (exercise and exercise not in wanted) or (not exercise and _is_of_course(entry.parts)):
        return
    own = languages.find(wanted[exercise].language).suffixes if exercise else ()
    if suffix not in (*TEXTS, ".ipynb", *own):
        problem = entry.problem or _of_other_kind(own)
        rank = 4 if entry.problem else UNKNOWN_KIND
        # An empty folder is worth a word only where an answer belongs.
        if not name.lower().endswith(BESIDE) and (exercise or problem != EMPTY):
            yield _Candidate(exercise, rank, entry.where, None, f"{shown(entry.parts[-1])}: {problem}")
        return
    if suffix not in (*TEXTS, ".ipynb") and ".py" in own:
        rank = 3
    try:
        if entry.problem:
            raise Unreadable(entry.problem)
        text = text_of(entry.read())
        if exercise:
            yield _Candidate(exercise, rank, entry.where, _answer(suffix, text, wanted[exercise]))
            return
        cells = notebook.cells(text) if suffix == ".ipynb" else []
        inside = notebook.exercises_in(cells, sorted(known))
        if not inside:
            raise Unreadable("it holds no exercise" if suffix == ".ipynb" else "no exercise has this name")
    except Unreadable as problem:
        more = "; without its outputs it is smaller" if suffix == ".ipynb" and isinstance(problem, TooLarge) else ""
        yield _Candidate(exercise, rank, entry.where, None, f"{shown(entry.parts[-1])}: {problem}{more}")
        return
    for id in inside:
        if id in wanted:
            yield _one_of(cells, wanted[id], entry)


def _of_other_kind(own: Sequence[str]) -> str:
    """Why a file is not read whose suffix is none of those that are."""
    kinds = ", ".join(dict.fromkeys((".ipynb", *TEXTS, *own, ".zip")))
    return f"files of this kind are not read, only {kinds}"


def _is_of_course(parts: Sequence[str]) -> bool:
    """Is it a lesson, a page or a project's file, which some hand in with the whole of their copy?"""
    try:
        learners = course.learners()
        tops = {"notebooks": learners / "notebooks", "docs": learners / "docs", "projects": course.projects()}
        for name, top in tops.items():
            if name in parts[:-1] and top.joinpath(*parts[parts.index(name) + 1 :]).is_file():
                return True
    except (GpulabError, OSError):
        pass
    return False


def _one_of(cells: Sequence[Cell], asked: Asked, entry: Entry) -> _Candidate:
    try:
        return _Candidate(asked.exercise, 2, entry.where, notebook.answer(cells, asked))
    except Unreadable as problem:
        return _Candidate(asked.exercise, 2, entry.where, None, f"{shown(entry.parts[-1])}: {problem}")


def _named(stem: str, known: Container[str]) -> str:
    """The exercise that a file's name says, also of a copy: "saxpy-guard (1)", "saxpy_guard-Copy1", "saxpy-guard-1"."""
    plain = re.sub(r"([ _-]*\(\d{1,3}\)|-Copy\d{1,3}|-\d{1,2})$", "", stem).strip().lower()
    for name in (stem, plain, plain.replace("_", "-")):
        if name in known:
            return name
    return ""


def _best(listed: Sequence[_Candidate]) -> list[_Candidate]:
    """Those with an answer whose rank is the lowest."""
    answered = [each for each in listed if each.answer is not None]
    return [each for each in answered if each.rank == min(other.rank for other in answered)]


def _written_in(exercise: str, listed: Sequence[_Candidate]) -> Sequence[_Candidate]:
    """Without those that are as the course gives them out, if there are others: a copy was worked in."""
    if len({each.answer for each in listed if each.answer is not None}) < 2:
        return listed
    given = _released(exercise)
    return [each for each in listed if each.answer is None or each.answer.strip() != given]


@cache
def _released(exercise: str) -> str | None:
    """What stands in the answer cell of the notebook that learners get; None where it cannot be read."""
    try:
        path = course.learners() / "exercises" / exercise / f"{exercise}.ipynb"
        return answer_of_file(path, asked_by(exercise)).strip()
    except (GpulabError, OSError, Unreadable):
        return None


def _chosen(student: str, exercise: str, listed: Sequence[_Candidate], others: Sequence[_Candidate]) -> Submission:
    """The one that counts. Several with different answers are a problem: nobody can say which one was meant."""
    if not listed:
        return Submission(student, exercise, None, NOT_HANDED_IN, ", ".join(sorted(each.where for each in others)))
    best = _best(_written_in(exercise, listed))
    exact = [each for each in best if os.path.splitext(each.where.rpartition("/")[2])[0] == exercise] or best
    if not exact:
        first = min(listed, key=lambda each: (each.rank, each.where))
        return Submission(student, exercise, None, first.problem, first.where)
    if len({each.answer for each in exact}) > 1:
        names = ", ".join(sorted(each.where for each in exact))
        return Submission(student, exercise, None, f"different answers in {names}", exact[0].where)
    return Submission(student, exercise, exact[0].answer, "", exact[0].where)
