"""The learner's copy of the course: made, worked in, renewed with a later release; nothing of the learner's is lost."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from gpulab import cli, course
from gpulab.delivery import copy
from gpulab.errors import GpulabError
from gpulab.grading.library import from_here

LESSON, TASK, PROGRAM = "notebooks/00_welcome.ipynb", "exercises/fill/fill.ipynb", "exercises/fill/start.cu"
MAKEFILE = "projects/bodies/Makefile"


def notebook(*texts: str) -> nbformat.NotebookNode:
    """Code cells, run, and text where it begins with "#"."""
    made = new_notebook()
    for place, text in enumerate(texts):
        cell = new_markdown_cell(text) if text.startswith("#") else new_code_cell(text)
        cell.id = f"cell-{place:02d}"
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [new_output("stream", text="the answer is 42\n")], place
        made.cells.append(cell)
    return made


class Course:
    """A release, which a test changes into the next."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.put(LESSON, notebook("# Welcome", "print(6 * 7)", "# The end"))
        self.put(TASK, notebook("# Fill", "%%hip\n// YOUR CODE HERE", "check()"))
        self.put(PROGRAM, "int main() { return 0; }\n")
        self.put("exercises/fill/fill.svg", "<svg/>")
        self.put("docs/timing.md", "# Times\n")
        self.put(MAKEFILE, "bodies: bodies.hip\n")
        self.put("projects/bodies/build/bodies.hip", "what make left\n")
        self.put("solutions/fill/fill.ipynb", notebook("# Fill", "%%hip\nout[i] = 1;", "check()"))
        for name in (".ipynb_checkpoints/fill.ipynb", "__pycache__/check.py", ".draft.md", "notes.txt", "fill.hip.o"):
            self.put(f"exercises/fill/{name}", "")

    def put(self, name: str, what: nbformat.NotebookNode | str) -> None:
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(what if isinstance(what, str) else nbformat.writes(what), encoding="utf-8")


@pytest.fixture
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    made = Course(tmp_path / "release")
    monkeypatch.setattr(course, "learners", lambda: made.top)
    monkeypatch.setattr(course, "solutions", lambda: made.top / "solutions")
    monkeypatch.setattr(copy, "itertools", SimpleNamespace(count=lambda first: range(first, 9)))  # enough of them
    return made


@pytest.fixture
def mine(release: Course, tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    done = copy.update(folder)
    assert (done.new, done.copied, done.lines) == (True, 6, [])
    return folder


def texts(folder: Path, name: str = TASK) -> list[str]:
    return [cell.source for cell in nbformat.read(folder / name, as_version=4).cells]


def work(folder: Path, place: int, text: str, name: str = TASK) -> None:
    """The learner writes into a cell and runs it."""
    there = nbformat.read(folder / name, as_version=4)
    there.cells[place].source = text
    there.cells[place].outputs = [new_output("stream", text="mine\n")]
    nbformat.write(there, folder / name)


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} - {
        path.relative_to(folder).as_posix() for path in (folder / ".gpulab").rglob("*")
    }


def test_a_copy_has_what_learners_get_and_no_outputs(mine: Path) -> None:
    assert files(mine) == {LESSON, TASK, PROGRAM, "exercises/fill/fill.svg", "docs/timing.md", MAKEFILE}
    for name in (LESSON, TASK):
        text = (mine / name).read_text(encoding="utf-8")
        assert "the answer is 42" not in text
        assert '"execution_count": null' in text
    assert (mine / PROGRAM).read_text() == "int main() { return 0; }\n"


def test_solutions_are_for_those_who_ask(mine: Path, release: Course) -> None:
    assert copy.update(mine, solutions=True).copied == 1
    assert "the answer is 42" in (mine / "solutions" / "fill" / "fill.ipynb").read_text()
    release.put("solutions/fill/fill.ipynb", notebook("# Fill", "%%hip\nout[i] = 2;", "check()"))
    assert copy.update(mine).lines == ["solutions/fill/fill.ipynb: cells 1 renewed"], "asked for once, renewed since"


def test_solutions_stay_where_a_gpulab_without_them_opens_the_copy(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy.update(mine, solutions=True)
    monkeypatch.setattr(course, "solutions", lambda: None)
    assert copy.update(mine).lines == []
    assert (mine / "solutions" / "fill" / "fill.ipynb").exists()
    with pytest.raises(GpulabError, match="gpulab-instructor"):
        copy.update(mine, solutions=True)


def test_a_notebook_says_of_which_edition_it_is(mine: Path, release: Course) -> None:
    """Sixteen digits of the SHA-256 of what it is without them."""
    given = nbformat.read(release.top / TASK, as_version=4)
    for each in given.cells:
        if each.cell_type == "code":
            each.outputs, each.execution_count = [], None
    digits = hashlib.sha256((nbformat.writes(given).rstrip("\n") + "\n").encode()).hexdigest()[:16]
    made = nbformat.read(mine / TASK, as_version=4)
    assert made.metadata == {"gpulab": {"edition": digits}}
    assert (made.nbformat, made.nbformat_minor) == (4, 5)


def test_what_moves_between_files_of_the_same_size_is_seen(mine: Path, release: Course) -> None:
    """What is compared are names, sizes and contents: not all bytes one behind the other."""
    names = ["docs/a.md", "docs/b.md"]
    for first, second, said in (("12", "3", []), ("1", "23", names), ("1", "23", []), ("1", "24", names[1:])):
        release.put(names[0], first)
        release.put(names[1], second)
        assert copy.update(mine).lines == [f"{name}: renewed" for name in said]
        assert [(mine / name).read_text() for name in names] == [first, second]


def test_the_same_release_again_touches_nothing(mine: Path) -> None:
    work(mine, 1, "%%hip\nout[i] = 3;")
    before = (mine / TASK).read_bytes()
    done = copy.update(mine)
    assert (done.new, done.copied, done.lines) == (False, 0, [])
    assert (mine / TASK).read_bytes() == before


def test_a_new_release_keeps_answers(mine: Path, release: Course) -> None:
    work(mine, 1, "%%hip\nout[i] = 3;")
    before = (mine / TASK).read_bytes()
    release.put(TASK, notebook("# Fill all", "# A new remark.", "%%hip\n// YOUR CODE HERE", "check()"))
    release.put(PROGRAM, "int main() { return 1; }\n")
    release.put("notebooks/01_next.ipynb", notebook("# Next"))
    done = copy.update(mine)
    assert done.copied == 1
    assert sorted(done.lines) == [f"{TASK}: cells 1 renewed, 1 added", f"{PROGRAM}: renewed"]
    assert texts(mine) == ["# Fill all", "# A new remark.", "%%hip\nout[i] = 3;", "check()"]
    assert "mine" in (mine / TASK).read_text(), "the output of the answer"
    assert (mine / PROGRAM).read_text() == "int main() { return 1; }\n"
    assert (mine / ".gpulab" / "before" / TASK).read_bytes() == before


def test_both_changed_the_same_cell(mine: Path, release: Course) -> None:
    work(mine, 1, "%%hip\nout[i] = 3;")
    release.put(TASK, notebook("# Fill", "%%hip\n// YOUR CODE HERE, for every n", "check()"))
    assert copy.update(mine).lines == [f"{TASK}: cells 1 shown below one that you changed"]
    _, answer, note, check = texts(mine)
    assert (answer, check) == ("%%hip\nout[i] = 3;", "check()")
    assert "YOUR CODE HERE, for every n" in note


def test_other_files_that_the_learner_changed_stay(mine: Path, release: Course) -> None:
    (mine / PROGRAM).write_text("int main() { return 7; }\n")
    release.put(PROGRAM, "int main() { return 1; }\n")
    (line,) = copy.update(mine).lines
    assert (mine / PROGRAM).read_text() == "int main() { return 7; }\n"
    (beside,) = (mine / "exercises" / "fill").glob("start (gpulab).cu")
    assert beside.read_text() == "int main() { return 1; }\n"
    assert beside.name in line
    assert copy.update(mine).lines == []


def test_a_new_version_beside_a_file_in_which_the_learner_went_on_stays(mine: Path, release: Course) -> None:
    """Two changes of the course under one number of its version, as between two pulls of a clone."""
    (mine / PROGRAM).write_text("int main() { return 7; }\n")
    folder = (mine / PROGRAM).parent
    release.put(PROGRAM, "int main() { return 1; }\n")
    copy.update(mine)
    release.put(PROGRAM, "int main() { return 2; }\n")
    copy.update(mine)
    (beside,) = folder.glob("start (*).cu")
    assert beside.read_text() == "int main() { return 2; }\n", "nobody wrote in it"
    beside.write_text("int main() { return 2; } // mine\n")
    release.put(PROGRAM, "int main() { return 3; }\n")
    (line,) = copy.update(mine).lines
    assert beside.read_text() == "int main() { return 2; } // mine\n"
    assert (folder / "start (gpulab, 2).cu").read_text() == "int main() { return 3; }\n"
    assert "start (gpulab, 2).cu" in line
    assert copy.update(mine).lines == []


def test_the_courses_version_of_an_own_file_is_the_one_that_is_named(mine: Path, release: Course) -> None:
    for name in ("01_next.ipynb", "01_next (gpulab).ipynb"):
        (mine / "notebooks" / name).write_text("mine")
    release.put("notebooks/01_next.ipynb", notebook("# Next"))
    (line,) = copy.update(mine).lines
    assert line.endswith("the course's is 01_next (gpulab, 2).ipynb")
    assert texts(mine, "notebooks/01_next (gpulab, 2).ipynb") == ["# Next"]
    assert (mine / "notebooks" / "01_next (gpulab).ipynb").read_text() == "mine"


@pytest.mark.parametrize("changed", [False, True])
def test_a_file_that_the_learner_deleted_comes_back_fresh(mine: Path, release: Course, changed: bool) -> None:
    work(mine, 1, "%%hip\nout[i] = 3;")
    (mine / TASK).unlink()
    if changed:
        release.put(TASK, notebook("# Fill 2", "%%hip\n// YOUR CODE HERE"))
    assert copy.update(mine).copied == 1
    assert texts(mine)[1] == "%%hip\n// YOUR CODE HERE"


def test_a_file_that_the_release_lost(mine: Path, release: Course) -> None:
    work(mine, 1, "%%hip\nout[i] = 3;")
    there = nbformat.read(mine / LESSON, as_version=4)
    there.cells[1].outputs = [new_output("stream", text="42\n")]  # run, and nothing written
    nbformat.write(there, mine / LESSON)
    (release.top / TASK).unlink()
    (release.top / LESSON).unlink()
    assert sorted(copy.update(mine).lines) == [
        f"{TASK}: kept, with what you wrote; the course has it no more",
        f"{LESSON}: removed; the course has it no more",
    ]
    assert texts(mine)[1] == "%%hip\nout[i] = 3;"
    assert not (mine / LESSON).exists()
    assert copy.update(mine).lines == []


def test_a_file_that_the_learner_deleted_and_the_release_lost_is_no_word(mine: Path, release: Course) -> None:
    for top in (mine, release.top):
        (top / PROGRAM).unlink()
    assert copy.update(mine).lines == []
    assert not (mine / ".gpulab" / "release" / PROGRAM).exists()


@pytest.mark.parametrize(
    "broken", [b"", b"{", b"\xff\xfe\x00", b"[]", b"null", b'{"cells": 3}', b'{"nbformat": 4, "nbformat_minor": 5}',
               b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "code"}]}',
               b'{"nbformat": 99, "nbformat_minor": 0, "metadata": {}, "cells": []}', b"[" * 100_000],
)  # fmt: skip
def test_a_broken_notebook_stays_and_is_named(mine: Path, release: Course, broken: bytes) -> None:
    (mine / TASK).write_bytes(broken)
    release.put(TASK, notebook("# Fill 2", "%%hip\n// YOUR CODE HERE"))
    release.put(LESSON, notebook("# Welcome!"))
    said = "left as it is: it cannot be read as a notebook; rename it, and you get a new one"
    assert f"{TASK}: {said}" in copy.update(mine).lines
    assert (mine / TASK).read_bytes() == broken
    assert texts(mine, LESSON)[0] == "# Welcome!", "the others are renewed"
    (mine / TASK).rename(mine / "exercises" / "fill" / "old.ipynb")
    assert copy.update(mine).copied == 1
    assert copy.update(mine).lines == []


def test_a_broken_notebook_that_is_mended_is_merged_from_where_it_was(mine: Path, release: Course) -> None:
    work(mine, 1, "%%hip\nout[i] = 3;")
    whole = (mine / TASK).read_bytes()
    (mine / TASK).write_bytes(whole[:100])
    release.put(TASK, notebook("# Fill 2", "%%hip\n// YOUR CODE HERE", "check()"))
    copy.update(mine)
    (mine / TASK).write_bytes(whole)
    assert copy.update(mine).lines == [f"{TASK}: cells 1 renewed"]
    assert texts(mine) == ["# Fill 2", "%%hip\nout[i] = 3;", "check()"]


def test_own_files_stay_whatever_their_names(mine: Path, release: Course) -> None:
    (mine / "notebooks" / "notes.ipynb").write_text("my notes, no notebook")
    (mine / "notebooks" / "01_next.ipynb").write_text("mine, too")
    release.put("notebooks/01_next.ipynb", notebook("# Next"))
    (line,) = copy.update(mine).lines
    assert "a file of your own has this name" in line
    assert (mine / "notebooks" / "01_next.ipynb").read_text() == "mine, too"
    assert (mine / "notebooks" / "notes.ipynb").read_text() == "my notes, no notebook"
    (beside,) = (mine / "notebooks").glob("01_next (gpulab).ipynb")
    assert texts(beside.parent, beside.name) == ["# Next"]


@pytest.mark.parametrize("writes", range(1, 12))
def test_an_update_that_is_broken_off_anywhere_is_finished_by_the_next(
    mine: Path, release: Course, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    """The process dies at its so manyth write; the next start ends with the same files as one left alone."""
    work(mine, 1, "%%hip\nout[i] = 3;")
    release.put(TASK, notebook("# New", "# Fill", "# More", "%%hip\n// YOUR CODE HERE, better", "check()"))
    release.put(LESSON, notebook("# Welcome", "# First", "print(6 * 7)"))
    write, left = copy._write, [writes]

    def dying(path: Path, data: bytes) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt
        write(path, data)

    monkeypatch.setattr(copy, "_write", dying)
    if writes < 8:
        with pytest.raises(KeyboardInterrupt):
            copy.update(mine)
    monkeypatch.setattr(copy, "_write", write)
    copy.update(mine)
    *first, note, check = texts(mine)
    assert first == ["# New", "# Fill", "# More", "%%hip\nout[i] = 3;"]
    assert "better" in note
    assert check == "check()"
    assert texts(mine, LESSON) == ["# Welcome", "# First", "print(6 * 7)"]
    assert copy.update(mine).lines == []


def test_what_an_update_that_was_broken_off_has_merged_is_not_merged_again(
    mine: Path, release: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is written, its base not yet; meanwhile the learner removes a cell that came with it."""
    release.put(TASK, notebook("# Fill", "# More", "%%hip\n// YOUR CODE HERE", "check()"))
    write = copy._write

    def dying(path: Path, data: bytes) -> None:
        if path == mine / ".gpulab" / "release" / TASK:
            raise KeyboardInterrupt
        write(path, data)

    monkeypatch.setattr(copy, "_write", dying)
    with pytest.raises(KeyboardInterrupt):
        copy.update(mine)
    monkeypatch.setattr(copy, "_write", write)
    there = nbformat.read(mine / TASK, as_version=4)
    assert there.cells.pop(1).source == "# More"
    nbformat.write(there, mine / TASK)
    assert copy.update(mine).lines == []
    assert texts(mine) == ["# Fill", "%%hip\n// YOUR CODE HERE", "check()"]


def test_a_notebook_that_says_no_edition_is_not_written_without_need(mine: Path, release: Course) -> None:
    there = nbformat.read(mine / TASK, as_version=4)
    there.metadata = {}
    nbformat.write(there, mine / TASK)
    before = (mine / TASK).read_bytes()
    release.put("docs/timing.md", "# Other times\n")
    assert copy.update(mine).lines == ["docs/timing.md: renewed"]
    assert (mine / TASK).read_bytes() == before


def test_a_first_copy_that_is_broken_off_is_finished(
    release: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "mine"
    write = copy._write
    monkeypatch.setattr(copy, "_write", lambda path, data: write(path, data) if path.name != "fill.svg" else 1 / 0)
    with pytest.raises(ZeroDivisionError):
        copy.update(folder)
    monkeypatch.setattr(copy, "_write", write)
    copy.update(folder)
    assert len(files(folder)) == 6


def test_only_an_empty_folder_becomes_a_copy(release: Course, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.tex").write_text("")
    with pytest.raises(GpulabError, match=r"holds other files \(thesis.tex\)[\s\S]*--folder"):
        copy.update(tmp_path / "home")
    assert files(tmp_path / "home") == {"thesis.tex"}
    with_environment = tmp_path / "fresh"
    (with_environment / "env").mkdir(parents=True)
    (with_environment / "env" / "pyvenv.cfg").write_text("")
    (with_environment / ".git").mkdir()
    (with_environment / ".gpulab").mkdir()  # without a word of a release: a copy that was never made
    assert copy.update(with_environment).new
    assert copy.update(tmp_path / "deep" / "folders").new


def test_a_folder_that_cannot_be_written(release: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(GpulabError, match=r"(?i)cannot be made or read[\s\S]*--folder"):
        copy.update(tmp_path / "other")


@pytest.mark.parametrize("count", [3, 4])
def test_some_of_the_other_files_are_named(release: Course, tmp_path: Path, count: int) -> None:
    for number in range(count):
        (tmp_path / "home" / f"file{number}").mkdir(parents=True)
    with pytest.raises(GpulabError) as caught:
        copy.update(tmp_path / "home")
    more = " ..." if count == 4 else ""
    assert str(caught.value).startswith(
        f"The folder {tmp_path / 'home'} holds other files (file0, file1, file2{more}), and no copy of the course.\n"
    )


def test_a_folder_that_can_be_read_alone(release: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(copy.tempfile, "TemporaryFile", refuse)
    with pytest.raises(GpulabError) as caught:
        copy.update(tmp_path / "mine")
    assert str(caught.value).startswith(f"The folder {tmp_path / 'mine'} cannot be written (Permission denied).\n")
    assert "gpulab lab --folder FOLDER puts your copy" in str(caught.value)
    assert not copy.is_copy(tmp_path / "mine")


def test_the_copy_that_a_folder_belongs_to(mine: Path) -> None:
    assert copy.nearest(mine) == mine
    assert copy.nearest(mine / "exercises" / "fill") == mine
    assert copy.nearest(mine.parent) is None


@pytest.mark.parametrize("broken", [b"{", b"\xff", b"[]", b"3"])
def test_a_broken_note_of_the_release_is_written_again(mine: Path, broken: bytes) -> None:
    work(mine, 1, "%%hip\nout[i] = 3;")
    state = mine / ".gpulab" / "course.json"
    good = state.read_bytes()
    state.write_bytes(broken)
    done = copy.update(mine)
    assert (done.new, done.copied, done.lines) == (False, 0, [])
    assert state.read_bytes() == good
    about = json.loads(good)
    assert (about["format"], about["version"], about["solutions"]) == (1, "gpulab", False)


def test_files_that_the_learner_changed_and_the_release_did_not_stay_as_they_are(mine: Path, release: Course) -> None:
    """Where another file of the release is new, every file is looked at."""
    (mine / PROGRAM).write_text("int main() { return 7; }\n")
    work(mine, 1, "%%hip\nout[i] = 3;")
    before = {name: (mine / name).read_bytes() for name in (PROGRAM, TASK)}
    release.put("docs/timing.md", "# Other times\n")
    assert copy.update(mine).lines == ["docs/timing.md: renewed"]
    assert {name: (mine / name).read_bytes() for name in before} == before
    assert not (mine / ".gpulab" / "before").exists()


def test_an_unreadable_file_is_named_and_looked_at_again(mine: Path, release: Course) -> None:
    (mine / PROGRAM).unlink()
    (mine / PROGRAM).mkdir()
    release.put("docs/timing.md", "# Other times\n")
    for others in (["docs/timing.md: renewed"], []):
        assert copy.update(mine).lines == [f"{PROGRAM}: left as it is: Is a directory", *others]
    assert "digest" not in json.loads((mine / ".gpulab" / "course.json").read_text())
    (mine / PROGRAM).rmdir()
    assert copy.update(mine).copied == 1
    assert "digest" in json.loads((mine / ".gpulab" / "course.json").read_text())


def test_a_notebook_without_ids_gets_some_without_a_word() -> None:
    made = notebook("# A", "x = 1")
    text = nbformat.writes(made)
    for each in made.cells:
        text = text.replace(f'   "id": "{each.id}",\n', "")
    assert '"id"' not in text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = copy.read(text.encode())
    assert [each.source for each in found.cells] == ["# A", "x = 1"]
    assert len({each.id for each in found.cells}) == 2


def test_what_is_written_is_in_order_and_in_every_script() -> None:
    """So that two versions differ where their contents do."""
    made = notebook("# Wellen: \N{GREEK SMALL LETTER MU}s")
    made.metadata = {"b": 1, "a": {"d": 2, "c": 3}}
    text = copy.written(made).decode()
    assert '"# Wellen: \N{GREEK SMALL LETTER MU}s"' in text
    places = [text.index(f'"{name}":') for name in ("cells", "metadata", "a", "c", "d", "b", "nbformat")]
    assert places == sorted(places)


def test_no_notebook_is_written_that_is_none() -> None:
    made = notebook("# A", "x = 1")
    text = copy.written(made)
    assert text.endswith(b"}\n")
    assert not text.endswith(b"\n\n")
    assert text.startswith(b'{\n "cells": [\n  {\n')
    assert copy.read(text) == made
    del made.cells[1]["source"]
    with pytest.raises(ValueError, match=r"^no notebook comes of it: .*source") as caught:
        copy.written(made)
    assert "\n" not in str(caught.value)


def test_a_copy_of_a_newer_gpulab_is_left_alone(mine: Path, release: Course) -> None:
    release.put(TASK, notebook("# Fill 10"))
    assert copy.update(mine, version="gpulab 0.10.0").lines
    release.put(TASK, notebook("# Older"))
    for state in ({}, {"format": 2}):
        about = json.loads((mine / ".gpulab" / "course.json").read_text())
        (mine / ".gpulab" / "course.json").write_text(json.dumps(about | state))
        (line,) = copy.update(mine, version="gpulab 0.9.1").lines
        assert "made by gpulab 0.10.0, which is newer than this gpulab 0.9.1" in line
        assert texts(mine)[0] == "# Fill 10"
    (mine / ".gpulab" / "course.json").write_text(json.dumps(about))
    copy.update(mine, version="gpulab 0.11.0")
    assert texts(mine)[0] == "# Older", "it was of a release that came later"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_a_notebook_that_others_may_read_stays_so(mine: Path, release: Course) -> None:
    (mine / TASK).chmod(0o640)
    release.put(TASK, notebook("# Fill 2", "%%hip\n// YOUR CODE HERE", "check()"))
    copy.update(mine)
    assert (mine / TASK).stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o027, 0o640), (0o002, 0o664)])
def test_new_files_are_for_those_whom_the_umask_allows(release: Course, tmp_path: Path, mask: int, mode: int) -> None:
    before = os.umask(mask)
    try:
        copy.update(tmp_path / "mine")
    finally:
        left = os.umask(before)
    assert left == mask, "the process's mask is as it was"
    assert {(tmp_path / "mine" / name).stat().st_mode & 0o777 for name in files(tmp_path / "mine")} == {mode}


def test_folders_that_a_release_has_left_go_with_their_last_file(mine: Path, release: Course) -> None:
    for name in (TASK, PROGRAM, "exercises/fill/fill.svg", "docs/timing.md", MAKEFILE):
        (release.top / name).unlink()
    (mine / "docs" / "mine.txt").write_text("a note")
    copy.update(mine)
    assert not (mine / "exercises" / "fill").exists()
    assert [path.name for path in (mine / "docs").iterdir()] == ["mine.txt"]
    base = mine / ".gpulab" / "release"
    assert [path.relative_to(base).as_posix() for path in base.rglob("*") if path.is_file()] == [LESSON]


def test_what_a_release_lost_and_has_again_is_new(mine: Path, release: Course) -> None:
    whole = (release.top / PROGRAM).read_text()
    (release.top / PROGRAM).unlink()
    copy.update(mine)
    release.put(PROGRAM, whole)
    done = copy.update(mine)
    assert (done.copied, done.lines) == (1, [])


def test_while_the_umask_is_asked_for_files_are_closed_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system tells it only when another is set: what another thread makes meanwhile is written by nobody else."""
    set_: list[int] = []

    def umask(mask: int) -> int:
        set_.append(mask)
        return 0o027

    monkeypatch.setattr(os, "umask", umask)
    assert copy._umask() == 0o027
    assert set_ == [0o022, 0o027]


@pytest.mark.parametrize(("minor", "read"), [(4, 5), (5, 5)])
def test_older_notebooks_are_read_as_today_s(minor: int, read: int) -> None:
    made = notebook("# A")
    text = nbformat.writes(made).replace('"nbformat_minor": 5', f'"nbformat_minor": {minor}')
    if minor < 5:
        text = text.replace(f'   "id": "{made.cells[0].id}",\n', "")
    assert copy.read(text.encode()).nbformat_minor == read


@pytest.mark.parametrize(
    ("base", "ours", "expected"),
    [
        (notebook("# A", "x = 1"), notebook("# A", "x = 1"), False),
        (notebook("# A", "x = 1"), notebook("# A", "x = 2"), True),
        (notebook("# A", "x = 1"), notebook("x = 1", "# A"), True),
        (notebook("# A", "x = 1"), notebook("# A"), True),
        (notebook("# A"), None, True),
    ],
)
def test_only_what_is_written_into_cells_counts_as_edited(base: object, ours: object, expected: bool) -> None:
    before = nbformat.writes(base).encode()
    for each in getattr(ours, "cells", ()):
        each.metadata["collapsed"] = True
        if each.cell_type == "code":
            each.outputs, each.execution_count = [], 7
    after = nbformat.writes(ours).encode() if ours else b"{"
    assert copy.edited(TASK, before, after) is expected
    assert copy.edited(PROGRAM, before, after), "of other files each byte counts"
    assert not copy.edited(PROGRAM, after, after)


# ------------------------------------------------------------------------------------------------ gpulab lab


def asked(**changes: object) -> Namespace:
    return Namespace(**({"folder": None, "solutions": False, "stored": False} | changes))


def test_where_gpulab_lab_puts_the_copy(
    release: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clone, empty = tmp_path / "clone", tmp_path / "empty"
    for folder in (clone / "tests", empty):
        folder.mkdir(parents=True)
    monkeypatch.setattr(course, "clone", lambda: clone)
    monkeypatch.chdir(clone / "tests")
    assert cli.course_folder(asked()) == clone / "my-course"
    assert "your copy of the course is in" in capsys.readouterr().out
    monkeypatch.chdir(empty)
    assert cli.course_folder(asked()) == empty
    monkeypatch.chdir(empty / "exercises" / "fill")
    assert cli.course_folder(asked()) == empty, "the copy that one is in"
    assert cli.course_folder(asked(folder=str(tmp_path / "third"))) == tmp_path / "third"
    assert cli.course_folder(asked(stored=True)) == clone
    monkeypatch.setattr(course, "clone", lambda: None)
    with pytest.raises(GpulabError, match="Only a clone"):
        cli.course_folder(asked(stored=True))


def test_what_changed_is_said_once(mine: Path, release: Course, capsys: pytest.CaptureFixture[str]) -> None:
    release.put(LESSON, notebook("# Welcome!", "print(6 * 7)", "# The end"))
    cli.course_folder(asked(folder=str(mine)))
    assert f"  {LESSON}: cells 1 renewed\n" in capsys.readouterr().out
    cli.course_folder(asked(folder=str(mine)))
    assert capsys.readouterr().out == ""


def test_links_start_in_the_copy(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(mine / "exercises" / "fill")
    assert from_here(f"{LESSON}#The-end") == "../../notebooks/00_welcome.ipynb#The-end"
    monkeypatch.chdir(mine.anchor)  # tests' own folders may lie in a clone
    monkeypatch.setattr("gpulab.grading.library.clone", lambda: None)
    assert from_here(f"{LESSON}#The-end") == "", "an installed gpulab, and an exercise that stands alone"
