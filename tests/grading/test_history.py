"""Progress and hints: what is kept, and what happens to a file that cannot be read."""

import csv
import json
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from gpulab.errors import CheckError
from gpulab.grading import exercise_ids, hint, history, learned, load, progress
from gpulab.grading.causes import causes_of
from gpulab.grading.learned import Done


@pytest.fixture
def file(tmp_path, monkeypatch):
    path = tmp_path / "deep" / "progress.json"
    monkeypatch.setenv("GPULAB_PROGRESS", str(path))
    monkeypatch.setattr(history, "today", lambda: DAY)
    return path


DAY = "2026-10-31"


def test_what_an_entry_says_of_hints_and_causes():
    done = Done(hints=3, steps={1: 1}, causes={"b": 2, "c": 5, "a": 2})
    assert [done.opened(step) for step in (1, 2, 3)] == [True, False, True]
    assert done.found == [("c", 5), ("a", 2), ("b", 2)]
    for entry in (None, 7, "solved", ["solved"]):
        assert learned.done_of(entry) == Done()


def test_as_many_kinds_of_causes_as_are_kept_all_stay():
    causes = {f"cause-{number}": 1 for number in range(learned.KINDS)}
    assert learned.done_of({"causes": causes}).causes == causes
    assert learned.OTHER in learned.done_of({"causes": {**causes, "more": 1}}).causes


def test_files_for_others_have_their_limits(monkeypatch):
    assert (learned.MOST, learned.KINDS, learned.EXERCISES, learned.BYTES) == (999_999, 96, 1000, 4 * 1024**2)
    assert json.loads(learned.export({}, ".json")) == {"format": 1, "exercises": {}}
    monkeypatch.setattr(learned, "EXERCISES", 2)
    two = {"a": Done(True, 1), "b": Done(True, 1)}
    for suffix in (".json", ".csv"):
        assert learned.imported(learned.export(two, suffix), suffix) == two
        with pytest.raises(ValueError, match="more than 2 exercises"):
            learned.imported(learned.export({**two, "c": Done()}, suffix), suffix)


def test_attempts_and_solved_are_kept(file):
    assert progress().solved == 0
    history.record_attempt("first-fill", False)
    history.record_attempt("first-fill", True)
    history.record_attempt("first-fill", False)
    assert json.loads(file.read_text())["exercises"]["first-fill"] == {
        "attempts": 3, "solved": True, "tries": 2, "first": DAY, "last": DAY,
    }  # fmt: skip
    shown = progress()
    assert shown.solved == 1
    assert "[x] first-fill" in shown.text
    assert "solved (3 checks)" in shown.text
    entry = next(entry for entry in shown.entries() if entry.id == "first-fill")
    assert (entry.state, entry.note, entry.minutes > 0) == ("solved", "3 checks", True)


@pytest.mark.full
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
    assert data["exercises"]["saxpy-guard"] == {
        "solved": True, "attempts": 1, "stars": 3, "tries": 1, "first": DAY, "last": DAY,
    }  # fmt: skip


def test_a_folder_that_cannot_be_written_is_a_message_not_an_error(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("GPULAB_PROGRESS", str(blocked / "progress.json"))
    message = history.record_attempt("first-fill", True)
    assert message.split("\n")[1:] == [
        f"Progress could not be saved to {blocked / 'progress.json'} (File exists); "
        "set GPULAB_PROGRESS to another file."
    ]


def test_folders_of_the_file_are_made(tmp_path, monkeypatch):
    path = tmp_path / "one" / "two" / "progress.json"
    monkeypatch.setenv("GPULAB_PROGRESS", str(path))
    assert [history.record_attempt("first-fill", True) for _ in range(2)] == ["", ""]
    assert progress().exercises["first-fill"].attempts == 2


def test_no_half_written_file_is_left(file, monkeypatch):
    history.record_attempt("first-fill", True)
    before = file.read_bytes()

    def breaks(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(history.os, "replace", breaks)
    assert history.record_attempt("first-fill", True) == (
        f"Progress could not be saved to {file} (No space left on device); set GPULAB_PROGRESS to another file."
    )
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
    assert learned.done_of({"attempts": value, "hints": value}) == Done(False, number, number)


@pytest.mark.parametrize(("value", "solved"), [(True, True), (False, False), (1, False), ("yes", False), (None, False)])
def test_solved_is_true_alone(value, solved):
    assert learned.done_of({"solved": value}).solved is solved


def test_the_file_is_text_for_people(file):
    history.record_hint("b", 2)
    assert history.record_hint("a", 1) == ""
    assert history.hints_shown("b") == 2
    assert history.hints_shown("c") == 0
    history.record_hint("b", 1)
    a = '"hints": 1,\n   "steps": {\n    "1": 1\n   }'
    b = '"hints": 2,\n   "steps": {\n    "1": 1,\n    "2": 1\n   }'
    entries = f'  "a": {{\n   {a}\n  }},\n  "b": {{\n   {b}\n  }}\n'
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


# ------------------------------------------------------------------------------------------- causes, steps and days


def test_causes_are_counted_and_told(file, monkeypatch):
    history.record_attempt("saxpy-guard", False, "does-not-compile")
    for _ in range(2):
        history.record_attempt("saxpy-guard", False, "missing-guard")
    monkeypatch.setattr(history, "today", lambda: "2026-11-02")
    history.record_attempt("saxpy-guard", True)
    history.record_attempt("saxpy-guard", True)
    history.record_hint("saxpy-guard", 1)
    history.record_hint("saxpy-guard", 1)
    history.record_hint("saxpy-guard", 3)
    causes = {"missing-guard": 2, "does-not-compile": 1}
    done = progress().exercises["saxpy-guard"]
    assert done == Done(True, 5, 3, 4, {1: 2, 3: 1}, causes, DAY, "2026-11-02")
    assert [done.opened(step) for step in (1, 2, 3)] == [True, False, True]
    told = (
        "2 times: threads past the end of the arrays work too: the guard is missing or never false (missing-guard)",
        "once: does-not-compile",
        "hint 1 opened 2 times",
        "hint 3 opened once",
        f"first check {DAY}, last 2026-11-02",
    )
    assert next(each.found for each in progress().entries() if each.id == "saxpy-guard") == told
    assert "".join(f"        {line}\n" for line in told) in progress().text
    table = progress().instrument().table
    assert "; ".join(told) in [row[table.columns.index("checks and hints")] for row in table.rows]


def test_a_check_notes_what_it_names(file):
    import gpulab

    assert not gpulab.check("first-fill", "__global__ void fill(")
    assert progress().exercises["first-fill"].causes == {"does-not-compile": 1}


def test_names_of_the_course_are_kept_whole():
    """Each name that a check can give is one that a file keeps, and no exercise has more than are kept."""
    for id in exercise_ids():
        exercise = load(id)
        names = {each.name for each in (*causes_of(exercise), *exercise.requirements)}
        assert [name for name in (*names, id) if not learned.is_name(name)] == []
        assert len(names) < learned.KINDS - 10


def test_a_file_of_before_loses_nothing(file):
    old = {"attempts": 5, "hints": 2, "solved": True}
    file.parent.mkdir()
    file.write_text(json.dumps({"format": 1, "exercises": {"saxpy-guard": old}}))
    done = progress().exercises["saxpy-guard"]
    assert done == Done(True, 5, 2)
    assert [done.opened(step) for step in (1, 2, 3)] == [False, True, False]
    history.record_attempt("saxpy-guard", False, "missing-guard")
    told = next(each.found for each in progress().entries() if each.id == "saxpy-guard")
    assert [line.partition(":")[0] for line in told] == ["once"], "of days nothing is said where one is not known"
    entry = json.loads(file.read_text())["exercises"]["saxpy-guard"]
    assert entry == {"attempts": 6, "hints": 2, "solved": True, "last": DAY, "causes": {"missing-guard": 1}}


def test_the_file_stays_small(file):
    """100,000 names, as of a course that always changes: the most frequent are kept, and none of the counts is lost."""
    entry = {"attempts": learned.MOST, "causes": {f"name-{number}": 1 for number in range(100_000)} | {"often": 7}}
    learned.noted(entry, False, "one-more", DAY)
    assert entry["attempts"] == learned.MOST
    assert len(entry["causes"]) == learned.KINDS
    assert entry["causes"]["often"] == 7
    assert sum(entry["causes"].values()) == 100_000 + 7 + 1
    for _ in range(3):
        learned.noted(entry, False, "y" * 61, DAY)
        learned.noted(entry, False, "\x1b[31m", DAY)
    assert len(json.dumps(entry)) < 5_000
    file.parent.mkdir()
    whole = b'{"exercises": {"first-fill": {"solved": true}}}'
    file.write_bytes(whole + b" " * (learned.BYTES - len(whole)))
    assert (progress().message, progress().solved) == ("", 1)
    file.write_bytes(whole + b" " * (learned.BYTES + 1 - len(whole)))
    assert "(it has more than 4 MB)" in progress().message


HOSTILE = {
    "attempts": 10**4000, "hints": 1e400, "tries": [], "steps": {"1": "2", "2": -1, "3": 4, "4": 9, "x": 1},
    "causes": {"<img src=x onerror=alert(1)>": 3, "\x1b[2J": 4, "=cmd": 5, "missing-guard": 2, "UP": 1,
               "\ud800": 1, "": 1},
    "first": "2026-02-30", "last": "\x1b[31m",
}  # fmt: skip


def test_a_hostile_entry_shows_nothing_of_its_own(file, tmp_path):
    file.parent.mkdir()
    file.write_text(json.dumps({"exercises": {"saxpy-guard": HOSTILE, "\x1b[31m": {"attempts": 1}}}))
    found = progress()
    assert found.exercises["saxpy-guard"] == Done(False, learned.MOST, 0, 0, {3: 4}, {"missing-guard": 2})
    for suffix in ("csv", "json"):
        found.export(tmp_path / f"out.{suffix}")
    widget = found.instrument()
    shown = [found.text, json.dumps(widget.data), str(widget.table)]
    shown += [(tmp_path / f"out.{suffix}").read_text() for suffix in ("csv", "json")]
    for text in shown:
        assert not [bad for bad in ("<img", "\x1b", "\\u001b", "=cmd", "ud800", "02-30") if bad in text]


def test_a_deep_file_is_kept_aside(file):
    """Python's json reads deeper than it writes: a file that could not be written again would end in an error."""
    file.parent.mkdir()
    file.write_text('{"exercises": {}, "later": ' + "[" * 3000 + "]" * 3000 + "}")
    assert "nested too deeply" in history.record_attempt("first-fill", True)
    assert progress().solved == 1


def test_export_and_what_it_says(file, tmp_path):
    file.parent.mkdir()
    entries = {
        "saxpy-guard": {"solved": True, "attempts": 4, "tries": 3, "hints": 2, "steps": {"1": 2, "2": 1}, "first": DAY,
                        "last": "2026-11-02", "causes": {"does-not-compile": 1, "missing-guard": 2}},
        "gone": {"attempts": 1}, "first-fill": {"hints": 1, "steps": {"1": 1}}, "image-mirror": {},
    }  # fmt: skip
    file.write_text(json.dumps({"exercises": entries}))
    said = progress().export(tmp_path / "mine.csv")
    assert said.startswith(f"{tmp_path / 'mine.csv'} has 3 exercises: ")
    assert "nothing was sent anywhere" in said
    lines = list(csv.reader((tmp_path / "mine.csv").read_text().splitlines()))
    assert lines == [
        ["exercise", "state", "attempts", "tries", "hints", "hint 1", "hint 2", "hint 3", "causes", "first", "last"],
        ["first-fill", "begun", "0", "0", "1", "1", "0", "0", "", "", ""],
        [
            "saxpy-guard",
            "solved",
            "4",
            "3",
            "2",
            "2",
            "1",
            "0",
            "missing-guard 2; does-not-compile 1",
            DAY,
            "2026-11-02",
        ],
        ["gone", "begun", "1", "0", "0", "0", "0", "0", "", "", ""],
    ]
    progress().export(str(tmp_path / "mine.JSON"))
    for name in ("mine.csv", "mine.JSON"):
        text = (tmp_path / name).read_bytes().decode()
        again = learned.imported(text, name[-5:].lower().removeprefix("e"))
        assert again == {id: progress().exercises[id] for id in ("first-fill", "saxpy-guard", "gone")}
    assert json.loads((tmp_path / "mine.JSON").read_text())["exercises"]["gone"] == {"attempts": 1}


def test_export_to_what_cannot_be(file, tmp_path):
    for name in ("progress", "progress.txt", "csv"):
        with pytest.raises(CheckError, match=r"neither \.csv nor \.json"):
            progress().export(tmp_path / name)
    (tmp_path / "full").write_text("")
    with pytest.raises(CheckError, match="cannot be written"):
        progress().export(tmp_path / "full" / "mine.csv")


HEAD = ",".join(learned.COLUMNS)


@pytest.mark.parametrize(
    ("text", "suffix", "why"),
    [
        ("", ".csv", "its first line"),
        ("a,b\n", ".csv", "its first line"),
        (HEAD + "\nx,solved\n", ".csv", "line 2 has 2 cells in place of 11"),
        (HEAD + "\n" + "x" * 200_000 + ",\n", ".csv", "no file of comma-separated values"),
        (HEAD + "\n" + "".join(f"a{each}" + "," * 10 + "\n" for each in range(1001)), ".csv", "more than 1,000"),
        ("{", ".json", "line 1 column"),
        ("[]", ".json", "not an object"),
        ("[" * 100_000, ".json", "nested too deeply"),
        (json.dumps({"exercises": dict.fromkeys(map(str, range(1001)))}), ".json", "more than 1,000"),
    ],
)
def test_files_of_strangers(text, suffix, why):
    with pytest.raises(ValueError, match=why):
        learned.imported(text, suffix)


def test_cells_of_strangers():
    row = '"a b",solved,99999999,-1,x,1,2,3,"<b> 3; ok 2; =x 1; ok-too 5; \x1b 4",2026-13-01,2026-01-01'
    assert learned.imported(f"{HEAD}\r\n{row}\r\n", ".csv") == {
        "a b": Done(True, 0, 0, 0, {1: 1, 2: 2, 3: 3}, {"ok": 2, "ok-too": 5}, "", "2026-01-01")
    }


def test_progress_is_shown_as_a_widget(file, monkeypatch):
    """By its name, and as the value of a cell."""
    shown = []
    monkeypatch.setattr(history.Progress, "instrument", lambda self: SimpleNamespace(show=lambda: shown.append(self)))
    found = history.Progress({})
    found.show()
    found._ipython_display_()
    assert shown == [found, found]
