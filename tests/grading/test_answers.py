"""Right and wrong answers of an exercise: how an edit is read and made, and what is said where it does not fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpulab.errors import CheckError
from gpulab.grading import exercise_ids
from gpulab.grading.answers import Change, changes, edited, right_answers, wrong_answer, wrong_answers

TEXT = """void k()
{
    load();
    wait();

    add();
    wait();
    store();
}
"""


@pytest.mark.parametrize(
    ("edit", "made"),
    [
        ("-    load();\n+    load(2);\n", TEXT.replace("load()", "load(2)")),
        ("     load();\n-    wait();\n", TEXT.replace("    load();\n    wait();\n", "    load();\n")),
        ("-    wait();\n\n     add();\n", TEXT.replace("    wait();\n\n", "\n")),  # an empty line that stays
        ("     store();\n+    end();\n }\n", TEXT.replace("store();\n", "store();\n    end();\n")),
        ("@@ 2 times\n-    wait();\n", TEXT.replace("    wait();\n", "")),
        ("-    load();\n@@\n-    store();\n", TEXT.replace("    load();\n", "").replace("    store();\n", "")),
        (
            "-    load();\n@@\n     wait();\n-\n",
            TEXT.replace("    load();\n", "").replace("\n\n", "\n"),
        ),  # side by side
        ("-    store();\n+    one();\n@@\n-    load();\n", TEXT.replace("    load();\n", "").replace("store", "one")),
    ],
)
def test_an_edit_is_made(edit: str, made: str) -> None:
    assert edited(TEXT, edit) == made


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ("-    wait();\n", r"change 1 stand 2 times in the text, in line 4, 7, and not 1.*@@ 2 times"),
        ("@@ 3 times\n-    wait();\n", r"stand 2 times in the text, in line 4, 7, and not 3"),
        ("-    laod();\n", r"change 1 do not stand in the text.*laod.*instead of '    laod\(\);' there is, in line 3"),
        ("-        load();\n", r"do not stand in the text.*there is, in line 3, '    load\(\);'.*spaces count"),
        ("-    frobnicate_everything;\n", "nothing there is like 'frobnicate_everything;'"),
        ("-    load();\n-    add();\n", "each line stands there, but not one behind the other"),
        ("-    load();\n     wait();\n@@\n     load();\n+    more();\n", "two changes overlap in line 3"),
        ("+    more();\n", "change 1 has no line of the right answer"),
        ("     load();\n", "change 1 changes nothing"),
        ("", "changes nothing"),
        ("-    load();\n@@ 2 times\n", "change 2 has no line of the right answer"),
        ("-    load();\n@@\n     add();\n", "change 2 changes nothing"),
        ("-    load();\n@@\n-    begin();\n", "the old lines of change 2 do not stand in the text"),
        ("load();\n", "begins with 'l'"),
    ],
)
def test_an_edit_that_does_not_fit_is_explained(edit: str, said: str) -> None:
    with pytest.raises(CheckError, match=f"(?s){said}"):
        edited(TEXT, edit)


def test_the_changes_of_an_edit() -> None:
    found = changes("-a\n+b\n@@ 3 times\n c\n\n+d\n")
    assert found == (Change(("a",), ("b",)), Change(("c", ""), ("c", "", "d"), 3))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an exercise `mine` with one right answer."""
    folder = tmp_path / "exercises" / "mine"
    (folder / "right").mkdir(parents=True)
    (folder / "right" / "usual.hip").write_text(TEXT)
    monkeypatch.setenv("GPULAB_COURSE", str(tmp_path))
    return folder


def test_wrong_answers_are_read_in_their_order(folder: Path) -> None:
    (folder / "wrong.toml").write_text(
        "[zeros]\nmistake = 'It loads nothing.'\ncause = 'no-load'\nof = 'usual'\nedit = '''\n-    load();\n'''\n"
        "[empty]\nmistake = 'It is empty.'\ncause = 'nothing-written'\ntext = '''\nvoid k() {}\n'''\n"
    )
    zeros, empty = wrong_answers("mine")
    assert (zeros.exercise, zeros.name, zeros.cause, zeros.of) == ("mine", "zeros", "no-load", "usual")
    assert zeros.source == TEXT.replace("    load();\n", "")
    assert (empty.source, empty.of, empty.mistake) == ("void k() {}\n", "", "It is empty.")
    assert wrong_answer("mine", "empty") == empty
    assert str(empty) == "mine/empty"
    with pytest.raises(CheckError, match="there are: zeros, empty"):
        wrong_answer("mine", "full")


def test_without_a_file_there_are_none(folder: Path) -> None:
    assert wrong_answers("mine") == ()
    assert right_answers("mine") == {"usual": TEXT}


FIELDS = {"mistake": "m", "cause": "c", "of": "usual", "edit": "-    load();"}


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (FIELDS | {"of": "other"}, "no right answer 'other'.*usual"),
        (FIELDS | {"text": "void k() {}"}, "it has both an edit and a whole text"),
        (FIELDS | {"couse": "x"}, "unknown is couse"),
        ({name: text for name, text in FIELDS.items() if name != "cause"}, "it lacks cause"),
        ({"mistake": "m", "cause": "c", "of": "usual"}, "it lacks edit"),
        ({"mistake": "m", "cause": "c"}, "it lacks text"),
        (FIELDS | {"mistake": ""}, "not a text, or empty: mistake"),
        (
            FIELDS | {"edit": "-    lod();"},
            r"mine/wrong.toml, wrong answer 'a': the old lines of .*right/usual",
        ),
    ],
)
def test_a_table_that_is_not_whole_is_explained(folder: Path, fields: dict[str, str], said: str) -> None:
    (folder / "wrong.toml").write_text("[a]\n" + "".join(f"{name} = '{text}'\n" for name, text in fields.items()))
    with pytest.raises(CheckError, match=f"(?s){said}"):
        wrong_answers("mine")


def test_a_file_that_is_no_toml_is_explained(folder: Path) -> None:
    (folder / "wrong.toml").write_text("[a\n")
    with pytest.raises(CheckError, match=r"mine/wrong.toml cannot be read: .*line 1"):
        wrong_answers("mine")
    (folder / "wrong.toml").write_bytes("# ä".encode("latin-1"))
    with pytest.raises(CheckError, match=r"mine/wrong.toml cannot be read: .*(?s:.*)UTF-8"):
        wrong_answers("mine")
    (folder / "wrong.toml").write_text("", encoding="utf-8-sig")
    assert wrong_answers("mine") == ()
    (folder / "wrong.toml").write_text("a = 1\n")
    with pytest.raises(CheckError, match="wrong answer 'a' is no table"):
        wrong_answers("mine")


@pytest.mark.parametrize("id", exercise_ids())
def test_the_wrong_answers_of_the_course_differ_from_the_right_ones(id: str) -> None:
    right, wrong = right_answers(id), wrong_answers(id)
    sources = [answer.source for answer in wrong]
    assert wrong
    assert not set(sources) & set(right.values())
    assert len(set(sources)) == len(sources)
