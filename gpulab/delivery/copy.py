"""The learner's own copy of the course in a folder: made once, and brought up to date with later releases.

    notebooks/, exercises/, docs/    what the learner works in; solutions/ too, for instructors
    projects/                        programs for a term, to begin with
    .gpulab/release/                 the same files as they were copied last: the base of the next merge
    .gpulab/before/                  a notebook as it was before it was last changed here
    .gpulab/course.json              which release it was

Outputs are cleared, so that nothing gives a prediction away. `update` compares three versions of each file, and of a
notebook three of each cell (`merge`): the learner's text is never overwritten. The base is written after the file. A
notebook says which edition it was merged with, so that nothing is merged twice where an update was broken off.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpulab import course
from gpulab.delivery.whole import whole
from gpulab.errors import GpulabError

KEPT = ".gpulab"
FORMAT = 1
PARTS = ("notebooks", "exercises", "docs")
SUFFIXES = (".ipynb", ".svg", ".cu", ".md", ".hip", ".py", "Makefile")


@dataclass
class Update:
    """What `update` did, as lines for the learner.

    Args:
        folder: the copy.
        new: it was made now.
        copied: files that were not there.
        lines: what else changed, and what could not be done.
    """

    folder: Path
    new: bool
    copied: int = 0
    lines: list[str] = field(default_factory=list)


def is_copy(folder: Path) -> bool:
    """Is this the top of a learner's copy?"""
    return (folder / KEPT / "course.json").is_file()


def nearest(folder: Path) -> Path | None:
    """The copy that a folder belongs to."""
    return next((each for each in (folder, *folder.parents) if is_copy(each)), None)


def release(solutions: bool) -> dict[str, Path]:
    """The files of this release: their names in a copy, and where they stand. Raises GpulabError without a course."""
    top = course.learners()
    found = {path.relative_to(top).as_posix(): path for part in PARTS for path in _files(top / part)}
    projects = course.projects()
    found |= {f"projects/{path.relative_to(projects).as_posix()}": path for path in _files(projects)}
    if solutions:
        folder = course.solutions()
        if folder is None:
            raise GpulabError(
                "There are no solutions in this installation.",
                why="learners' packages have none.",
                hint="install the package gpulab-instructor beside gpulab, or run this from a clone.",
            )
        found |= {f"solutions/{path.relative_to(folder).as_posix()}": path for path in _files(folder)}
    return found


def _files(folder: Path) -> Iterator[Path]:
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__")) and name != "build")
        yield from (Path(at, name) for name in sorted(names) if name.endswith(SUFFIXES) and not name.startswith("."))


def update(folder: Path, solutions: bool = False, version: str = "gpulab") -> Update:
    """Make the learner's copy of the course in this folder, or bring it up to date.

    `version` names the release in what the learner reads ("gpulab 0.1.0").
    A copy that a newer gpulab made is left as it is. Raises GpulabError: the folder holds other things, or cannot be
    written; there is no course.
    """
    done = Update(folder, new=not is_copy(folder))
    known = {} if done.new else _known(folder)
    later = [] < _order(version) < _order(str(known.get("version")))
    if known.get("format", FORMAT) != FORMAT or later:
        done.lines.append(f"left as it is: it was made by {known.get('version')}, which is newer than this {version}")
        return done
    # Solutions that are there are renewed only where this gpulab has some; without them they stay as they are.
    with_solutions = solutions or (bool(known.get("solutions")) and course.solutions() is not None)
    files = release(with_solutions)
    digest = _digest(files)
    if done.new:
        _begin(folder)
    elif known.get("digest") == digest and all((folder / name).exists() for name in files):
        return done
    base = folder / KEPT / "release"
    gone = sorted(
        name
        for name in (path.relative_to(base).as_posix() for path in _files(base))
        if name not in files and (with_solutions or not name.startswith("solutions/"))
    )
    whole = True
    for name in (*files, *gone):
        try:
            _one(folder, name, files.get(name), version, done)
        except (OSError, ValueError) as error:
            whole = False
            said = error.strerror if isinstance(error, OSError) and error.strerror else error
            done.lines.append(f"{name}: left as it is: {said}")
    state = {"format": FORMAT, "version": version, "solutions": solutions or bool(known.get("solutions"))}
    # Without its digest the next start looks at each file again.
    _write(folder / KEPT / "course.json", json.dumps(state | ({"digest": digest} if whole else {})).encode())
    return done


def _known(folder: Path) -> dict[str, Any]:
    try:
        known = json.loads((folder / KEPT / "course.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _order(version: str) -> list[int]:
    """The numbers of "gpulab 0.10.2", for comparing."""
    return [int(number) for number in re.findall(r"\d+", version)]


def _digest(files: dict[str, Path]) -> str:
    digest = hashlib.sha256()
    for name, path in files.items():
        data = path.read_bytes()
        digest.update(f"\0{name}\0{len(data)}\0".encode())
        digest.update(data)
    return digest.hexdigest()


def _begin(folder: Path) -> None:
    """See that the folder may become a copy, and can be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        others = [entry.name for entry in folder.iterdir() if not _overlooked(entry)]
    except OSError as error:
        raise GpulabError(
            f"{folder} cannot be made or read: {error.strerror or error}.",
            hint="gpulab lab --folder FOLDER takes another.",
        ) from error
    if others:
        some = ", ".join(sorted(others)[:3]) + (" ..." if len(others) > 3 else "")
        raise GpulabError(
            f"The folder {folder} holds other files ({some}), and no copy of the course.",
            hint="gpulab lab --folder gpulab-course makes a folder for it, or start in an empty one.",
        )
    try:
        (folder / KEPT).mkdir(exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        _write(folder / KEPT / "course.json", json.dumps({"format": FORMAT}).encode())
    except OSError as error:
        raise GpulabError(
            f"The folder {folder} cannot be written ({error.strerror or error}).",
            hint="gpulab lab --folder FOLDER puts your copy of the course into a folder of your own.",
        ) from error


def _overlooked(entry: Path) -> bool:
    """What may stand in a folder that counts as empty: hidden files, and environments of Python."""
    return entry.name.startswith(".") or (entry / "pyvenv.cfg").is_file()


# ------------------------------------------------------------------------------------------------- one file


def _one(folder: Path, name: str, source: Path | None, version: str, done: Update) -> None:
    """Bring one file up to date. Raises OSError, or ValueError with a reason; then file and base are as they were."""
    path, kept = folder / name, folder / KEPT / "release" / name
    theirs = None if source is None else _released(name, source.read_bytes())
    base = kept.read_bytes() if kept.is_file() else None
    ours = path.read_bytes() if path.exists() or path.is_symlink() else None
    if theirs is None:
        if ours is not None and base is not None and not edited(name, base, ours):
            path.unlink()
            done.lines.append(f"{name}: removed; the course has it no more")
            with contextlib.suppress(OSError):
                path.parent.rmdir()  # if it was the last
        elif ours is not None:
            done.lines.append(f"{name}: kept, with what you wrote; the course has it no more")
        kept.unlink()
        return
    if ours is None:
        _write(path, theirs)
        done.copied += 1
    elif ours != theirs:
        _renew(folder, name, base, ours, theirs, version, done)
    if base != theirs:
        _write(kept, theirs)


def _renew(folder: Path, name: str, base: bytes | None, ours: bytes, theirs: bytes, version: str, done: Update) -> None:
    """A file that differs from the release's: changed by the learner, the release, or both."""
    path = folder / name
    if base is None:
        beside = _beside(path, version, theirs)
        done.lines.append(f"{name}: a file of your own has this name; the course's is {beside.name}")
        return
    if not name.endswith(".ipynb"):
        if base == theirs:
            return
        if ours == base:
            _write(path, theirs)
            done.lines.append(f"{name}: renewed")
        else:
            beside = _beside(path, version, theirs, base)
            done.lines.append(f"{name}: kept, as you changed it; the course's new version is {beside.name}")
        return
    mine = read(ours)  # also where nothing is to be done: a notebook that is broken is told of
    release = read(theirs)
    if base == theirs or _edition(mine) == _edition(release):
        return
    from gpulab.delivery.merge import merged

    made = merged(read(base), mine, release, version)
    text = written(made.notebook)
    if text == written(read(ours)):
        return
    _write(folder / KEPT / "before" / name, ours)
    _write(path, text)
    counts = (
        (made.renewed, "renewed"), (made.added, "added"), (made.removed, "removed"),
        (made.below, "shown below one that you changed"),
    )  # fmt: skip
    said = ", ".join(f"{count} {what}" for count, what in counts if count)
    if said:
        done.lines.append(f"{name}: cells {said}")


def _beside(path: Path, version: str, data: bytes, before: bytes | None = None) -> Path:
    """Write the course's version beside a learner's file, and return where. What stands there is written over only if
    it is the version `before`: the learner may have gone on in it."""
    for number in itertools.count(1):
        beside = path.with_name(f"{path.stem} ({version}{f', {number}' if number > 1 else ''}){path.suffix}")
        there = beside.read_bytes() if beside.exists() or beside.is_symlink() else None
        if there in (None, before):
            _write(beside, data)
        if there in (None, before, data):
            return beside
    raise AssertionError("numbers do not end")


def _released(name: str, data: bytes) -> bytes:
    """A file as a learner gets it: a notebook without outputs, but for solutions."""
    if not name.endswith(".ipynb"):
        return data
    notebook = read(data)
    for cell in notebook.cells:
        if cell.cell_type == "code" and not name.startswith("solutions/"):
            cell.outputs, cell.execution_count = [], None
    edition = hashlib.sha256(written(notebook)).hexdigest()[:16]
    notebook.metadata["gpulab"] = {**notebook.metadata.get("gpulab", {}), "edition": edition}
    return written(notebook)


def _edition(notebook: Any) -> Any:
    mark = notebook.metadata.get("gpulab")
    return mark.get("edition") if isinstance(mark, dict) else None


def edited(name: str, base: bytes, ours: bytes) -> bool:
    """Did the learner write into it? Outputs do not count. A notebook that cannot be read counts as edited."""
    if base == ours or not name.endswith(".ipynb"):
        return base != ours
    from gpulab.delivery.merge import content

    try:
        return [content(cell) for cell in read(base).cells] != [content(cell) for cell in read(ours).cells]
    except ValueError:
        return True


def read(data: bytes) -> Any:
    """A notebook of nbformat 4, with an id in each cell. Raises ValueError for what is none."""
    import warnings

    import nbformat

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            notebook = nbformat.reads(data.decode("utf-8-sig"), as_version=4)
            notebook.nbformat_minor = max(5, notebook.nbformat_minor)
            _, notebook = nbformat.validator.normalize(notebook)
            nbformat.validate(notebook)
    except Exception as error:  # what is in a file decides where nbformat fails
        raise ValueError("it cannot be read as a notebook; rename it, and you get a new one") from error
    return notebook


def written(notebook: Any) -> bytes:
    """The file's contents. Raises ValueError for what is no notebook."""
    import nbformat

    try:
        nbformat.validate(notebook)
    except nbformat.ValidationError as error:
        raise ValueError(f"no notebook comes of it: {str(error).splitlines()[0]}") from error
    text = nbformat.writes(notebook, version=4, ensure_ascii=False)  # in order of keys, indented by 1
    return (text.rstrip("\n") + "\n").encode("utf-8", "surrogatepass")


def _write(path: Path, data: bytes) -> None:
    """Write the whole of it or nothing."""
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
    with whole(path) as made:
        made.write_bytes(data)
        os.chmod(made, mode)


def _umask() -> int:
    now = os.umask(0o022)
    os.umask(now)
    return now
