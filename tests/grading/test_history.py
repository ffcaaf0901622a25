"""Progress and hints: what is kept, and what happens to a file that cannot be read."""

import json
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from gpulab.errors import CheckError
from gpulab.grading import hint, history, progress


@pytest.fixture
def file(tmp_path, monkeypatch):
    path = tmp_path / "deep" / "progress.json"
    monkeypatch.setenv("GPULAB_PROGRESS", str(path))
    return path


def test_attempts_and_solved_are_kept(file):
    assert progress().solved == 0
    history.record_attempt("first-fill", False)
    history.record_attempt("first-fill", True)
    history.record_attempt("first-fill", False)
    assert json.loads(file.read_text())["exercises"]["first-fill"] == {"attempts": 3, "solved": True}
    shown = progress()
    assert shown.solved == 1
    assert "[x] first-fill" in shown.text
    assert "solved (3 checks)" in shown.text
    entry = next(entry for entry in shown.entries() if entry.id == "first-fill")
    assert (entry.state, entry.note, entry.minutes > 0) == ("solved", "3 checks", True)


def test_the_widget_says_what_is_done_and_reads_the_file_again(file):
    history.record_attempt("first-fill", True)
    history.record_attempt("saxpy-guard", False)
    widget = progress().instrument()
    total = len(progress().titles)
    assert widget.sentence.startswith(
        f"1 of {total} exercises solved. Begun: saxpy-guard. The next one in the course is "
    )
    assert len(widget.table.rows) == total
    assert widget.png().startswith(b"\x89PNG")
    history.record_attempt("saxpy-guard", True)
    reply, _ = widget.reply({"ask": "refresh"})
    assert reply["sentence"].startswith("2 of ")
    states = {each["id"]: each["state"] for lesson in reply["lessons"] for each in lesson["exercises"]}
    assert states["saxpy-guard"] == "solved"
    assert "error" in widget.reply({"ask": "something"})[0]


def test_hints_come_one_after_the_other_and_stay_at_the_third(file):
    steps = [hint("first-fill") for _ in range(4)]
    assert [given.step for given in steps] == [1, 2, 3, 3]
    assert len({given.hint for given in steps}) == 3
    assert progress().exercises["first-fill"].hints == 3
    assert hint("first-fill", step=1).step == 1
    assert progress().exercises["first-fill"].hints == 3
    with pytest.raises(CheckError, match="hints 1, 2 and 3"):
        hint("first-fill", step=4)


def test_code_of_a_hint_is_shown_as_code(file):
    given = replace(hint("saxpy-guard", step=3), hint="`if (i < n)` and <b>")
    assert "<code>if (i &lt; n)</code> and &lt;b&gt;" in given._repr_html_()
    assert "`if (i < n)` and <b>" in str(given)


@pytest.mark.parametrize(
    "content", [b"{not json", b"\xff\xfe\x00", b"[1, 2]", b'{"exercises": 5}', b"[" * 100_000, b""]
)
def test_an_unreadable_file_is_kept_aside_and_named(file, content):
    file.parent.mkdir()
    file.write_bytes(content)
    message = history.record_attempt("first-fill", True)
    kept = file.with_name("progress.json.unreadable-1")
    assert kept.read_bytes() == content
    assert kept.name in message
    assert progress().solved == 1
    file.write_bytes(b"again {")
    assert "unreadable-2" in progress().message
    assert kept.read_bytes() == content


def test_strange_entries_do_no_harm_and_unknown_ones_stay(file):
    file.parent.mkdir()
    exercises = {
        "first-fill": 7,
        "gone": {"solved": True},
        "saxpy-guard": {"solved": "yes", "attempts": -4, "stars": 3},
    }
    file.write_text(json.dumps({"format": 9, "later": [1], "exercises": exercises}))
    assert progress().solved == 0
    history.record_attempt("saxpy-guard", True)
    history.record_attempt("first-fill", False)
    data = json.loads(file.read_text())
    assert (data["format"], data["later"], data["exercises"]["gone"]) == (9, [1], {"solved": True})
    assert data["exercises"]["saxpy-guard"] == {"solved": True, "attempts": 1, "stars": 3}


def test_a_folder_that_cannot_be_written_is_a_message_not_an_error(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("GPULAB_PROGRESS", str(blocked / "progress.json"))
    message = history.record_attempt("first-fill", True)
    assert "GPULAB_PROGRESS" in message


def test_no_half_written_file_is_left(file, monkeypatch):
    history.record_attempt("first-fill", True)
    before = file.read_bytes()

    def breaks(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(history.os, "replace", breaks)
    assert "No space left" in history.record_attempt("first-fill", True)
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == ["progress.json"]


def test_default_place_follows_the_system(monkeypatch, tmp_path):
    monkeypatch.delenv("GPULAB_PROGRESS", raising=False)
    monkeypatch.setattr(history.Path, "home", lambda: tmp_path)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert history.file() == tmp_path / "data" / "gpulab" / "progress.json"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert history.file() == tmp_path / "Library" / "Application Support" / "gpulab" / "progress.json"


def test_the_whole_text(file, monkeypatch):
    lessons = {"a": ("01_one", "First"), "long-one": ("01_one", "Second"), "b": ("02_two", "Third")}
    monkeypatch.setattr(history, "exercise_ids", lambda: tuple(lessons))
    monkeypatch.setattr(
        history, "load", lambda id: SimpleNamespace(minutes=7, lesson=lessons[id][0], title=lessons[id][1])
    )
    done = {"a": {"solved": True, "attempts": 2, "hints": 1}, "long-one": {"hints": 2}, "gone": {"solved": True}}
    file.parent.mkdir()
    file.write_text(json.dumps({"format": 1, "exercises": done}))
    text = (
        "1 of 3 exercises solved\n"
        "01_one\n"
        "  [x] a: First          solved (2 checks, 1 hint)\n"
        "  [-] long-one: Second  begun (2 hints)\n"
        "02_two\n"
        "  [ ] b: Third          open"
    )
    found = progress()
    assert (found.text, str(found), repr(found)) == (text, text, text)
    assert replace(found, message="Look.").text == "Look.\n" + text
    assert [(entry.id, entry.minutes) for entry in found.entries()] == [("a", 7), ("long-one", 7), ("b", 7)]
    assert history.Progress({}).text == "0 of 0 exercises solved"
    done["long-one"] = {"attempts": 1}
    file.write_text(json.dumps({"format": 1, "exercises": done}))
    assert "long-one: Second  begun (1 check)" in progress().text


def test_a_course_that_cannot_be_read_is_said(file, monkeypatch):
    def breaks():
        raise CheckError("There is no course.")

    monkeypatch.setattr(history, "exercise_ids", breaks)
    found = progress()
    assert (found.message, found.titles) == ("There is no course.", {})
    file.parent.mkdir()
    file.write_text("{")
    assert progress().message.endswith("a new one was begun.\nThere is no course.")


@pytest.mark.parametrize(
    ("value", "number"), [(0, 0), (1, 1), (7, 7), (-1, 0), (True, 0), ("3", 0), (2.0, 0), (None, 0)]
)
def test_counts_in_a_file_are_numbers_that_are_not_negative(value, number):
    assert history._done({"attempts": value, "hints": value}) == history.Done(False, number, number)


@pytest.mark.parametrize(("value", "solved"), [(True, True), (False, False), (1, False), ("yes", False), (None, False)])
def test_solved_is_true_alone(value, solved):
    assert history._done({"solved": value}).solved is solved


def test_the_file_is_text_for_people(file):
    history.record_hint("b", 2)
    assert history.record_hint("a", 1) == ""
    assert history.hints_shown("b") == 2
    assert history.hints_shown("c") == 0
    history.record_hint("b", 1)
    entries = '  "a": {\n   "hints": 1\n  },\n  "b": {\n   "hints": 2\n  }\n'
    assert file.read_text() == '{\n "exercises": {\n' + entries + ' },\n "format": 1\n}\n'


def test_what_can_be_neither_read_nor_moved(file, monkeypatch):
    file.mkdir(parents=True)

    def breaks(*arguments):
        raise OSError(13, "Permission denied")

    monkeypatch.setattr(history.os, "replace", breaks)
    message = progress().message
    assert f"{file} can be neither read (" in message
    assert "nor moved aside (Permission denied)." in message


def test_default_place_without_settings(monkeypatch, tmp_path):
    for name in ("GPULAB_PROGRESS", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(history.Path, "home", lambda: tmp_path)
    for system, place in (
        ("linux", ".local/share"), ("darwin", "Library/Application Support"), ("win32", "AppData/Local")
    ):  # fmt: skip
        monkeypatch.setattr(sys, "platform", system)
        assert history.file() == tmp_path / place / "gpulab" / "progress.json"
    monkeypatch.setenv("LOCALAPPDATA", "/local")
    assert history.file() == history.Path("/local/gpulab/progress.json")
    monkeypatch.setenv("GPULAB_PROGRESS", "~/mine.json")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert history.file() == tmp_path / "mine.json"
