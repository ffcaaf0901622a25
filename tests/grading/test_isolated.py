"""A grader's steps, each alone: what becomes of errors, what a program's process is given, limits, walls."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gpulab import cores, walls
from gpulab.errors import CheckError, CompileError
from gpulab.grading import isolated
from gpulab.grading.isolated import Graded, Grader
from gpulab.grading.program import ProgramExercise
from gpulab.grading.remote import NotJudged, Stopped
from gpulab.grading.verdict import Verdict
from tests.grading.test_judge import tiny

PASSED = Verdict("tiny", "passed", "Passed.", ())


@pytest.mark.parametrize(
    ("status", "ends"),
    [("passed", "accepted"), ("does not compile", "does not compile"), ("stopped", "stopped"),
     ("not judged", "not judged"), ("wrong", "rejected"), ("fault", "rejected"), ("requirement", "rejected")],
)  # fmt: skip
def test_how_a_grading_ended(status: str, ends: str) -> None:
    found = Graded("ann", Verdict("tiny", status, "x", ()))
    assert (found.status, found.passed) == (ends, status == "passed")
    assert found.criteria == found.verdict.criteria


class Session:
    def __init__(self, failure: Exception | None = None) -> None:
        self.failure, self.closed = failure, 0

    def close(self) -> None:
        self.closed += 1


class Worker:
    """A worker that gives these sessions, one after the other."""

    alive = True

    def __init__(self, *sessions: Session) -> None:
        self.sessions, self.asked, self.closed = list(sessions), [], 0

    def session(self, seconds: float, memory_bytes: int) -> Session:
        self.asked.append((seconds, memory_bytes))
        return self.sessions.pop(0)

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def grader(monkeypatch: pytest.MonkeyPatch) -> Iterator[Grader]:
    monkeypatch.setattr(isolated, "load", lambda id: tiny())
    with Grader(seconds=7, memory_bytes=5) as made:
        yield made


def judging(monkeypatch: pytest.MonkeyPatch, what: Any) -> list[tuple[Any, ...]]:
    asked: list[tuple[Any, ...]] = []

    def judge(exercise: Any, source: str, bench: Any, seed: Any) -> Any:
        asked.append((exercise.id, source, seed))
        if isinstance(what, BaseException):
            raise what
        return what

    monkeypatch.setattr(isolated, "judge", judge)
    return asked


def test_a_kernel_is_judged_in_a_session_of_its_own(grader: Grader, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, session = judging(monkeypatch, PASSED), Session()
    worker = grader._worker = Worker(session)  # type: ignore[assignment]
    assert grader.grade("tiny", "text", "ann", 5) == Graded("ann", PASSED)
    assert grader._worker is worker, "it stays for the next"
    assert (asked, worker.asked, session.closed) == ([("tiny", "text", 5)], [(7, 5)], 1)
    grader.close()
    grader.close()
    assert (worker.closed, grader._worker) == (1, None)


@pytest.mark.parametrize(
    ("error", "failure", "status", "said"),
    [
        (Stopped("too long"), None, "stopped", "too long"),
        (NotJudged("no worker"), None, "not judged", "no worker"),
        (CheckError("It failed."), None, "not judged", "It failed."),
        (CheckError("It failed."), Stopped("out of time"), "stopped", "out of time"),
        (ZeroDivisionError("of the exercise"), None, "not judged", "ZeroDivisionError: of the exercise"),
    ],
)
def test_nothing_that_fails_is_an_error(
    grader: Grader, monkeypatch: pytest.MonkeyPatch, error: Exception, failure: Exception | None, status: str, said: str
) -> None:
    judging(monkeypatch, error)
    session = Session(failure)
    grader._worker = Worker(session)  # type: ignore[assignment]
    found = grader.grade("tiny", "text")
    assert (found.status, found.who, session.closed) == (status, "", 1)
    assert said in found.verdict.text


@pytest.mark.parametrize(
    ("error", "status"),
    [(None, "does not compile"), (CompileError("no compiler"), "not judged"), (OSError("disk"), "not judged"),
     (NotJudged("x"), "not judged"), (Stopped("x"), "not judged")],
)  # fmt: skip
def test_what_does_not_compile_is_held_against_a_source_that_does(
    grader: Grader, monkeypatch: pytest.MonkeyPatch, error: Exception | None, status: str
) -> None:
    judging(monkeypatch, Verdict("tiny", "does not compile", "x", ()))
    sessions = [Session(), Session()]
    worker = grader._worker = Worker(*sessions)  # type: ignore[assignment]
    prepared = []

    class Bench:
        def __init__(self, session: Session) -> None:
            assert session is sessions[1]

        def prepare(self, source: str, asked: Any, arch: str) -> None:
            assert asked.kernels["canary"].start in source
            assert asked.kernels["canary"].passed == (((True, "int32"),),)
            prepared.append(arch)
            if error is not None:
                raise error

    # the first session is the submission's, which the judge here does not ask
    monkeypatch.setattr(isolated, "RemoteBench", lambda session: None if session is sessions[0] else Bench(session))
    found = grader.grade("tiny", "text")
    assert found.status == status
    assert prepared == ["gfx942"]
    assert worker.asked == [(7, 5), (60, 16 << 30)], "with memory and time enough"
    assert sessions[1].closed == 1
    if error is not None:
        assert f"the compiler does not work: {error}" in found.verdict.text


def test_a_worker_that_died_is_replaced(grader: Grader, monkeypatch: pytest.MonkeyPatch) -> None:
    judging(monkeypatch, PASSED)
    dead = Worker()
    dead.alive = False
    grader._worker = dead  # type: ignore[assignment]
    monkeypatch.setattr(isolated, "Worker", lambda: Worker(Session()))
    assert grader.grade("tiny", "text").passed
    assert dead.closed == 1
    grader.close()

    def none() -> None:
        raise OSError("no processes left")

    monkeypatch.setattr(isolated, "Worker", none)
    found = grader.grade("tiny", "text")
    assert found.status == "not judged"
    assert "the worker cannot be started: no processes left" in found.verdict.text


@pytest.mark.parametrize(
    ("here", "wanted", "fits"),
    [(here, wanted, walls.LEVELS.index(here) >= walls.LEVELS.index(wanted))
     for here in walls.LEVELS for wanted in walls.LEVELS],
)  # fmt: skip
def test_walls_of_a_level(monkeypatch: pytest.MonkeyPatch, here: str, wanted: str, fits: bool) -> None:
    monkeypatch.setattr(walls, "level", lambda: (here, "because"))
    if fits:
        assert Grader(jail=wanted).jail == wanted
        return
    with pytest.raises(CheckError) as found:
        Grader(jail=wanted)
    assert f"the walls here are {here!r}, and {wanted!r} is required" in str(found.value)
    assert found.value.why == "because"


def test_a_level_that_does_not_exist() -> None:
    with pytest.raises(CheckError) as found:
        isolated.require("iron")
    assert "no level 'iron'" in str(found.value)
    assert found.value.hint == f"the levels are {', '.join(walls.LEVELS)}."


# ------------------------------------------------------------------------------------------------------- programs


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolated, "load", lambda id: object.__new__(ProgramExercise))


def test_programs_need_more_than_namespaces(program: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolated, "_program", lambda *all: PASSED)
    monkeypatch.setattr(isolated, "require", lambda level: None)
    assert Grader().grade("sum", "x").passed
    assert Grader(jail="bubblewrap").grade("sum", "x").status == "not judged"
    asked: list[tuple[Any, ...]] = []

    def noted(*all: Any) -> Verdict:
        asked.append(all)
        return PASSED

    monkeypatch.setattr(isolated, "_program", noted)
    isolated.run_isolated("sum", "text", who="ann", seconds=3, memory_bytes=4, trusted=True, seed="s")
    Grader().grade("sum", "text")
    assert asked == [("sum", "text", 3, 4, True, "s"), ("sum", "text", 60.0, 16 << 30, False, None)]


SAYS = """
import json, os, sys
job, answer = sys.argv[1:]
print("first\\nlast words", flush=True)
{}
"""


def running(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str) -> list[dict[str, Any]]:
    """In place of the process that judges: this text."""
    file, started = tmp_path / "says.py", []
    file.write_text(SAYS.format(text))
    real = subprocess.Popen

    def popen(command: list[str], **more: Any) -> Any:
        assert command[1:3] == ["-m", "gpulab.grading.isolated"]
        started.append({"cwd": more["cwd"], **more["env"], "group": more["start_new_session"]})
        return real([sys.executable, "-S", str(file), *command[3:]], **more)

    monkeypatch.setattr(isolated.subprocess, "Popen", popen)
    return started


def test_a_program_is_judged_elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    plain = json.dumps(PASSED.as_dict())
    text = (
        f"kept = open(job).read()\nopen({str(tmp_path / 'job')!r}, 'w').write(kept)\nopen(answer, 'w').write({plain!r})"
    )
    started = running(monkeypatch, tmp_path, text)
    monkeypatch.setenv("PYTHONPATH", "/more")
    assert isolated._program("sum", "größer", 30, 4, True, "s") == PASSED
    assert json.loads((tmp_path / "job").read_text()) == {
        "id": "sum", "source": "größer", "memory_bytes": 4, "trusted": True, "seed": "s"
    }  # fmt: skip
    (one,) = started
    folder = one["cwd"]
    assert one["GPULAB_PROGRESS"] == f"{folder}/progress.json"
    assert one["GPULAB_CACHE_OWN"] == f"{folder}/cache"
    assert (one[cores.SETTING], one["PYTHONIOENCODING"], one["group"]) == ("1", "utf-8", True)
    home = Path(isolated.__file__).resolve().parents[2]
    assert one["PYTHONPATH"] == f"{home}{os.pathsep}/more"
    assert not Path(folder).exists()


@pytest.mark.full
@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("sys.exit(1)", NotJudged, r"^last words$"),
        ("sys.exit(0)", NotJudged, r"^last words$"),
        ("open(answer, 'w').write('{')", NotJudged, r"^last words$"),
        ("open(answer, 'w').write('[]')", NotJudged, r"^last words$"),
        ("open(answer, 'w').write('{}')", NotJudged, r"^last words$"),
        ("os.kill(os.getpid(), 9)", Stopped, r"ended without a verdict \(signal 9\): last words"),
        ("os.close(1); os.close(2); import time; time.sleep(100)", Stopped, "longer than 1.5 seconds and was stopped"),
    ],
)
def test_a_process_without_a_verdict(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, error: type, said: str
) -> None:
    running(monkeypatch, tmp_path, text)
    with pytest.raises(error, match=said):
        isolated._program("sum", "x", 1.5 if "sleep" in text else 60, 4, False, None)


def test_a_process_that_says_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys.modules[__name__], "SAYS", "{}")
    running(monkeypatch, tmp_path, "")
    with pytest.raises(NotJudged, match=r"^it said nothing$"):
        isolated._program("sum", "x", 60, 4, False, None)


def test_the_process_that_judges(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    limits: list[int] = []
    asked: list[tuple[Any, ...]] = []

    def check(id: str, source: str, record: bool, seed: Any) -> Verdict:
        asked.append((id, source, record, seed))
        return PASSED

    monkeypatch.setattr(isolated, "_limit_memory", limits.append)
    monkeypatch.setattr(isolated, "check", check)
    job, answer = tmp_path / "job", tmp_path / "answer"
    for trusted, reason, status in ((False, "", "passed"), (True, "no jail", "passed"), (False, "no jail", "stopped")):
        monkeypatch.setattr(isolated, "not_run", lambda id, reason=reason: reason if id == "sum" else "other")
        job.write_text(json.dumps({"id": "sum", "source": "x", "memory_bytes": 4, "trusted": trusted, "seed": "s"}))
        assert isolated.main(str(job), str(answer)) == 0
        verdict = Verdict.from_dict(json.loads(answer.read_text()))
        assert verdict.status == status
        assert status == "passed" or "no jail" in verdict.text
        assert sorted(path.name for path in tmp_path.iterdir()) == ["answer", "job"]
    assert asked == [("sum", "x", False, "s")] * 2
    assert limits == [4] * 3


def test_what_is_not_run(program: None, monkeypatch: pytest.MonkeyPatch) -> None:
    from gpulab.programs import jail

    monkeypatch.setattr(jail, "available", lambda: "no Landlock")
    assert "without a jail: no Landlock; --trust-programs" in isolated.not_run("sum")
    monkeypatch.setattr(jail, "available", lambda: "")
    assert isolated.not_run("sum") == ""
    monkeypatch.setattr(jail, "available", lambda: "no Landlock")
    monkeypatch.setattr(isolated, "load", lambda id: tiny())
    assert isolated.not_run("tiny") == ""


@pytest.mark.parametrize(
    ("hard", "limit"),
    [(resource.RLIM_INFINITY, (1000, resource.RLIM_INFINITY)), (600, (600, 600)), (2000, (1000, 2000))],
)
def test_the_limit_on_memory(monkeypatch: pytest.MonkeyPatch, hard: int, limit: tuple[int, int]) -> None:
    found: list[tuple[int, tuple[int, int]]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda what: (5, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda what, pair: found.append((what, pair)))
    isolated._limit_memory(1000)
    assert found == [(resource.RLIMIT_AS, limit)]

    def refuses(what: int, pair: tuple[int, int]) -> None:
        raise ValueError

    monkeypatch.setattr(resource, "setrlimit", refuses)
    isolated._limit_memory(1000)


def test_a_canary_for_programs(program: None, monkeypatch: pytest.MonkeyPatch) -> None:
    from gpulab import programs

    built: list[tuple[str, Any]] = []

    def build(text: str, archs: Any, output: Path) -> None:
        built.append((text, archs))
        assert output.parent.is_dir()
        if len(built) > 2:
            raise CompileError("no linker")

    monkeypatch.setattr(programs, "build", build)
    exercise: Any = SimpleNamespace(archs=("gfx1100", "gfx942"))
    made = Grader()
    assert [made._broken(exercise), made._broken(exercise)] == ["", ""]
    (one, archs), (other, _) = built
    assert archs == ("gfx1100",)
    assert "#include <hip/hip_runtime.h>" in one
    assert "__global__ void canary(int* x)" in one
    assert "int main()" in one
    assert one != other, "what the cache has says nothing of the compiler"
    assert made._broken(exercise) == "the compiler does not work: no linker"
