"""A class is graded once, whatever happens between: runs go on, nothing is counted twice, the report is the same."""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from gpulab.classroom import run as running
from gpulab.classroom import tables
from gpulab.classroom.points import Scheme
from gpulab.classroom.pool import OneByOne
from gpulab.classroom.run import Progress, RunSummary, attempts, duration, grade_class, jobs_of, note_attempts, seed_of
from gpulab.classroom.submissions import Submission
from gpulab.errors import CheckError
from tests.classroom import tasks
from tests.classroom.tasks import submission, summary

ROOT = Path(__file__).resolve().parents[2]


def graded(out: Path, given: list[Submission], seed: int = 1, said: list[str] | None = None) -> RunSummary:
    say = (lambda text: None) if said is None else said.append
    return grade_class(given, out, lambda: OneByOne(tasks.grade), Scheme(), seed, say=say)


def test_a_second_run_takes_everything_from_the_store(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    given = [submission(name, f"right note {tmp_path / 'notes'} {name}") for name in ("ann", "bob")]
    given += [submission("cy", given[0].answer), submission("dee", None, "it is a FIFO")]
    said: list[str] = []
    first = graded(tmp_path / "out", given, said=said)
    assert (first.graded, first.taken) == (2, 0)
    assert said[0] == "4 rows, 3 answers, 1 of them the same as another; 2 to grade."
    second = graded(tmp_path / "out", given, said=said)
    assert (second.graded, second.taken) == (0, 2)
    assert "2 results are there from before; nothing is left to grade." in said[-1]
    assert tables.report_json(first.rows) == tables.report_json(second.rows)
    assert len(list((tmp_path / "notes").iterdir())) == 2
    assert summary(first.rows) == [("ann", "passed"), ("bob", "passed"), ("cy", "passed"), ("dee", "not read")]
    assert graded(tmp_path / "out", given, seed=2).graded == 2


def test_results_depend_on_answer_exercise_edition_seed_and_limits() -> None:
    def key(answer: str = "a", exercise: str = "first-fill", seed: int = 1, seconds: float = 60.0) -> str:
        (job,) = jobs_of([Submission("x", exercise, answer, "", "")], seed, seconds).values()
        return job.key

    keys = [key(), key(answer="b"), key(exercise="saxpy-guard"), key(seed=2), key(seconds=5.0)]
    assert len(set(keys)) == 5
    assert key() == keys[0]


def test_a_changed_exercise_is_graded_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import shutil

    from gpulab.classroom import jobs

    course = tmp_path / "course" / "exercises"
    shutil.copytree(ROOT / "course" / "exercises" / "first-fill", course / "first-fill")
    monkeypatch.setenv("GPULAB_COURSE", str(tmp_path / "course"))
    before = jobs.version_of("first-fill")
    (course / "first-fill" / "__pycache__").mkdir(exist_ok=True)
    (course / "first-fill" / "__pycache__" / "check.pyc").write_bytes(b"x")
    jobs._folder.cache_clear()
    assert jobs.version_of("first-fill") == before
    with open(course / "first-fill" / "check.py", "a") as file:
        file.write("\n# changed\n")
    jobs._folder.cache_clear()
    assert jobs.version_of("first-fill") != before
    jobs._folder.cache_clear()


def test_a_version_is_of_gpulab_and_of_the_exercise(monkeypatch: pytest.MonkeyPatch) -> None:
    from gpulab.classroom import jobs

    monkeypatch.setattr(jobs, "_folder", lambda path: f"of {Path(path).relative_to(ROOT).as_posix()}")
    text = "of gpulab of course/exercises/first-fill"
    assert jobs.version_of("first-fill") == hashlib.sha256(text.encode()).hexdigest()[:32]


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ({"a.py": b"12", "b/c.py": b"3"}, True),
        ({"a.py": b"12", "b/c.py": b"3", "b/d.pyc": b"4", "b/.hidden": b"5", "__pycache__/e.py": b"6"}, True),
        ({"a.py": b"12", "b/c.py": b"3", "wrong.toml": b"7", "exercise.md": b"8", "right/f.hip": b"9"}, True),
        ({"a.py": b"1", "b/c.py": b"23"}, False),
        ({"z.py": b"12", "b/c.py": b"3"}, False),
        ({"a.py": b"12", "d/c.py": b"3"}, False),
        ({"a.py": b"12", "c.py": b"3"}, False),
        ({"a.py": b"12", "b/c.py": b"3", "b/d.py": b""}, False),
        ({"a.py": b"12"}, False),
    ],
)
def test_an_edition_is_what_its_files_are_called_and_hold(tmp_path: Path, other: dict[str, bytes], same: bool) -> None:
    from gpulab.classroom import jobs

    digests = []
    for number, files in enumerate(({"a.py": b"12", "b/c.py": b"3"}, other)):
        for name, data in files.items():
            path = tmp_path / str(number) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        digests.append(jobs._folder(str(tmp_path / str(number))))
    assert (digests[0] == digests[1]) is same


def test_what_could_not_be_judged_is_nobodys_fault_and_is_tried_again(tmp_path: Path) -> None:
    given = [submission("ann", "right"), submission("bob", "later"), submission("cy", "raise")]
    run = graded(tmp_path, given)
    assert summary(run.rows) == [("ann", "passed"), ("bob", "not judged"), ("cy", "not judged")]
    assert [row.points for row in run.rows] == [1, None, None]
    assert [row.reason for row in run.rows[1:]] == ["The disk is full.", "RuntimeError: the tool is missing"]
    assert tables.grades_csv(run.rows).split("\r\n")[1:4] == ["ann,1,1", "bob,,0", "cy,,0"]
    again = graded(tmp_path, given)
    assert (again.graded, again.taken) == (0, 1)


def test_a_full_disk_ends_the_run_with_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = [submission(str(number), f"right {number}") for number in range(4)]
    sync, calls = os.fsync, []

    def full(file: int) -> None:
        calls.append(file)
        if len(calls) > 2:
            raise OSError(28, "No space left on device")
        sync(file)

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(CheckError, match="no space left on device"):
            graded(tmp_path, given)
    run = graded(tmp_path, given)
    assert (run.graded, run.taken) == (2, 2)
    assert tables.report_json(run.rows) == tables.report_json(graded(tmp_path / "alone", given).rows)


KILLED = """
import sys
from pathlib import Path
from gpulab.classroom import tables
from gpulab.classroom.points import Scheme
from gpulab.classroom.pool import OneByOne
from gpulab.classroom.run import grade_class
from tests.classroom import tasks
out, notes = Path(sys.argv[1]), sys.argv[2]
given = [tasks.submission(f"s{n:03}", f"{'right' if n % 3 else 'bad'} {n} note {notes}") for n in range(120)]
say = lambda text: print(text, flush=True)
run = grade_class(given, out, lambda: OneByOne(tasks.grade), Scheme(), 1, say=say)
(out / "report.json").write_text(tables.report_json(run.rows))
"""


def test_a_run_that_is_killed_ten_times_ends_with_the_same_report(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    command = [sys.executable, "-c", KILLED, str(tmp_path / "killed"), str(notes)]
    pick = random.Random(7)
    for _ in range(10):
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()  # it has begun
            time.sleep(pick.uniform(0.01, 0.3))
            process.send_signal(signal.SIGKILL)
    assert not (tmp_path / "killed" / "report.json").exists()
    last = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert last.returncode == 0, last.stderr
    assert "results are there from before" in last.stdout
    runs = len(list(notes.iterdir()))
    assert 120 <= runs <= 130  # each kill loses at most the one that was under way
    alone = [sys.executable, "-c", KILLED, str(tmp_path / "alone"), str(notes)]
    subprocess.run(alone, cwd=ROOT, check=True, capture_output=True, timeout=120)
    report = (tmp_path / "killed" / "report.json").read_bytes()
    assert report == (tmp_path / "alone" / "report.json").read_bytes()
    assert len(json.loads(report)) == 120


def test_the_seed_is_kept_for_the_next_run_and_for_the_instructor_alone(tmp_path: Path) -> None:
    first = seed_of(tmp_path, None)
    assert seed_of(tmp_path, None) == first
    assert seed_of(tmp_path, 7) == 7
    assert seed_of(tmp_path, None) == 7
    assert seed_of(tmp_path / "other", None) != first
    if os.name == "posix":
        assert (tmp_path / "run.json").stat().st_mode & 0o077 == 0
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(CheckError, match="does not say the seed"):
        seed_of(tmp_path, None)


def test_a_new_seed_has_48_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(secrets, "randbits", lambda bits: asked.append(bits) or 77)
    assert seed_of(tmp_path, None) == 77
    assert asked == [48]


def test_how_long_a_run_took(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter((100.0, 107.5))
    with monkeypatch.context() as patched:
        patched.setattr(running, "time", SimpleNamespace(monotonic=lambda: next(clock)))
        run = graded(tmp_path, [submission("ann", "right"), submission("bob", "right"), submission("cy", "bad")])
    assert (run.graded, run.taken, run.seconds) == (2, 0, 7.5)


def test_attempts_are_noted_once(tmp_path: Path) -> None:
    rows = graded(tmp_path, [submission("ann", "bad"), submission("bob", None, "unreadable")]).rows
    note_attempts(tmp_path, rows, 100.0)
    note_attempts(tmp_path, rows, 200.0)
    later = graded(tmp_path, [submission("ann", "right")]).rows
    note_attempts(tmp_path, later, 300.0)
    found = [(each.student, each.status, each.when) for each in attempts(tmp_path)]
    assert found == [("ann", "wrong", 100), ("ann", "passed", 300)]


def test_progress_says_how_long_the_rest_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    stream = io.StringIO()
    progress = Progress(stream, every=10.0)
    for _ in range(40):
        clock[0] += 3.0
        progress.step(400)
    lines = stream.getvalue().splitlines()
    assert lines[0] == "4 of 400 graded (1 %), about 20 min left"
    assert lines[-1] == "40 of 400 graded (10 %), about 18 min left"
    assert [duration(seconds) for seconds in (0.4, 89, 90, 3600, 7500)] == [
        "0 s",
        "89 s",
        "2 min",
        "60 min",
        "2 h 5 min",
    ]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_on_a_terminal_is_one_line_that_is_renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    stream = Terminal()
    progress = Progress(stream)
    progress.end()
    assert stream.getvalue() == ""  # nothing was begun
    for _ in range(3):
        clock[0] += 0.125
        progress.step(4)
    clock[0] += 0.0625
    progress.step(4)  # the last one is said at once
    lines = stream.getvalue().split("\r")[1:]
    assert lines == [
        f"{text:<70}" for text in ("2 of 4 graded (50 %), about 0 s left", "4 of 4 graded (100 %), about 0 s left")
    ]
    progress.end()
    assert stream.getvalue().endswith("\r" + " " * 70 + "\r")


def test_progress_in_a_file_is_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(sys, "stderr", stream := io.StringIO())
    progress = Progress()
    for seconds in (29.5, 0.5, 29.75, 0.25, 0.0):
        clock[0] += seconds
        progress.step(6)
    progress.end()
    assert stream.getvalue().splitlines() == [
        "2 of 6 graded (33 %), about 60 s left",
        "4 of 6 graded (66 %), about 30 s left",
    ]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 s"),
        (89.4, "89 s"),
        (89.99, "90 s"),
        (90, "2 min"),
        (5369, "89 min"),
        (5370, "1 h 30 min"),
        (7200, "2 h 0 min"),
    ],
)
def test_lengths_of_time(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def test_each_answer_is_a_step_of_the_progress(tmp_path: Path) -> None:
    steps: list[int | str] = []

    class Steps(Progress):
        def step(self, total: int) -> None:
            steps.append(total)

        def end(self) -> None:
            steps.append("end")

    given = [submission(name, f"right {name}") for name in ("ann", "bob", "cy")]
    for out in (tmp_path, tmp_path):
        grade_class(given, out, lambda: OneByOne(tasks.grade), Scheme(), 1, progress=Steps(io.StringIO()))
    assert steps == [3, 3, 3, "end", "end"]


def test_what_jobs_are_made_of() -> None:
    given = [submission("ann", "a"), submission("bob", None, "unread"), submission("cy", "a")]
    usual = list(jobs_of(given, 7).values())
    assert [(job.exercise, job.answer, job.seed, job.seconds, job.trusted, job.jail) for job in usual] == [
        ("first-fill", "a", 7, 60.0, False, "none")
    ] * 2
    (job, _) = jobs_of(given, 7, 5.0, True, "limits").values()
    assert (job.seconds, job.trusted, job.jail) == (5.0, True, "limits")
    assert list(jobs_of(given, 7)) == [given[0], given[2]]


@pytest.mark.parametrize("text", ["{}", "[]", "5", '{"seed": "1"}', '{"seed": null}', "\xff"])
def test_files_that_say_no_seed(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(CheckError) as error:
        seed_of(tmp_path, None)
    assert error.value.what == f"{tmp_path / 'run.json'} does not say the seed."
    assert seed_of(tmp_path, 3) == 3
    assert (tmp_path / "run.json").read_bytes() == b'{"seed": 3}\n'
