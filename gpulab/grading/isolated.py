"""Grading for a class: a `Grader` judges one submission after the other, and nothing that one does can stop it.

Only text goes in, of kernels or of a program. The answer to a kernel exercise is compiled and run in a process of its
own (remote.py), which sees neither the exercise's checks nor other submissions; the judge, the checks and the expected
values stay here. A program's exercise is judged in a process of its own too, which knows the checks, and where each run
of the program is one more process in a jail (`gpulab.programs.jail`); without a jail it is not run at all, unless it is
trusted. Whatever happens, the result is a `Graded`: a limit that is reached is "stopped", and what this system fails to
do is "not judged".
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from gpulab import cores, walls
from gpulab.errors import CheckError, CompileError
from gpulab.grading import report
from gpulab.grading.case import Asked, Prototype
from gpulab.grading.criteria import Criterion
from gpulab.grading.drawing import Seed
from gpulab.grading.exercise import Exercise
from gpulab.grading.judge import judge
from gpulab.grading.library import load
from gpulab.grading.program import ProgramExercise
from gpulab.grading.remote import NotJudged, RemoteBench, Stopped, Worker
from gpulab.grading.submission import check
from gpulab.grading.verdict import Verdict

ENDS = {"passed": "accepted", "does not compile": "does not compile", "stopped": "stopped", "not judged": "not judged"}
"""How a grading ended, by the verdict's status; each other status is "rejected"."""


@dataclass(frozen=True)
class Graded:
    """One submission of a class run: whose, the verdict."""

    who: str
    verdict: Verdict

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """What the answer is judged by, each for itself: for partial credit."""
        return self.verdict.criteria

    @property
    def passed(self) -> bool:
        return self.verdict.passed

    @property
    def status(self) -> str:
        """How it ended: "accepted", "rejected", "does not compile", "stopped" (by a limit) or "not judged".

        "not judged" is nobody's fault: a part of this system failed, and the submission is to be graded again.
        """
        return ENDS.get(self.verdict.status, "rejected")


class Grader:
    """Grades one submission after the other: ``with Grader() as grader: grader.grade("saxpy-guard", source)``.

    A process that has loaded everything is kept from one submission to the next; nothing else is.

    Args:
        seconds: wall-clock limit for each submission, compilation included.
        memory_bytes: limit on the address space, where the system has such a limit. The virtual GPU reserves 4 GiB of
            addresses for device memory (8 where it cannot choose them), and a kernel needs about 5 in all: a lower
            limit stops every kernel.
        trusted: run a program's host code also where it cannot be jailed (`gpulab.programs.jail`).
        jail: the weakest of `gpulab.walls.LEVELS` that will do.

    Raises:
        CheckError: this system has less than `jail`.
    """

    def __init__(
        self, *, seconds: float = 60.0, memory_bytes: int = 16 << 30, trusted: bool = False, jail: str = "none"
    ) -> None:
        require(jail)
        self.seconds, self.memory_bytes, self.trusted, self.jail = seconds, memory_bytes, trusted, jail
        self._worker: Worker | None = None

    def __enter__(self) -> Grader:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process that is kept."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()

    def grade(self, id: str, source: str, who: str = "", seed: Seed | None = None) -> Graded:
        """The verdict on `source` for exercise `id`; nothing that a source does raises an error.

        Args:
            id: the exercise. Raises CheckError if it is unknown.
            source: kernel text, or that of a whole program.
            who: whose it is, for the report.
            seed: the instructor's secret, from which further cases are drawn: the same ones for the same seed.
        """
        exercise = load(id)
        try:
            if isinstance(exercise, Exercise):
                verdict = self._kernel(exercise, source, seed)
            elif self.jail == "bubblewrap":
                raise NotJudged("programs run behind Landlock and seccomp alone, not in namespaces")
            else:
                verdict = _program(id, source, self.seconds, self.memory_bytes, self.trusted, seed)
            if verdict.status == "does not compile" and (broken := self._broken(exercise)):
                verdict = report.not_judged(id, broken)
        except Stopped as error:
            verdict = report.stopped(id, str(error))
        except NotJudged as error:
            verdict = report.not_judged(id, str(error))
        except Exception as error:  # of this system, or of the exercise: not the submission's fault
            verdict = report.not_judged(id, f"{type(error).__name__}: {error}")
        return Graded(who, verdict)

    def _kernel(self, exercise: Exercise, source: str, seed: Seed | None) -> Verdict:
        session = self._ready().session(self.seconds, self.memory_bytes)
        try:
            return judge(exercise, source, RemoteBench(session), seed=seed)
        except CheckError as error:
            raise (session.failure or NotJudged(str(error))) from error
        finally:
            session.close()

    def _ready(self) -> Worker:
        if self._worker is not None and not self._worker.alive:
            self.close()
        if self._worker is None:
            try:
                self._worker = Worker()
            except OSError as error:
                raise NotJudged(f"the worker cannot be started: {error}") from error
        return self._worker

    def _broken(self, exercise: Exercise | ProgramExercise) -> str:
        """Why nothing compiles here just now, or "": what cannot compile a right source says nothing of another."""
        try:
            if isinstance(exercise, Exercise):
                session = self._ready().session(60, max(self.memory_bytes, 16 << 30))
                try:
                    RemoteBench(session).prepare(_CANARY, _CANARY_ASKED, exercise.archs[0])
                finally:
                    session.close()
            else:
                from gpulab import programs

                with tempfile.TemporaryDirectory(prefix="gpulab-") as folder:
                    own = f"// {folder}\nint main() {{ return 0; }}\n"  # not one that the cache has
                    text = f"#include <hip/hip_runtime.h>\n{_CANARY}{own}"
                    programs.build(text, archs=exercise.archs[:1], output=Path(folder, "canary"))
        except (CompileError, NotJudged, Stopped, OSError) as error:
            return f"the compiler does not work: {error}"
        return ""


_CANARY = "__global__ void canary(int* x) { x[0] = 1; }\n"
_CANARY_ASKED = Asked("canary", "canary", {"canary": Prototype("canary", "int* x", (((True, "int32"),),))})


def require(level: str) -> None:
    """Raises:
    CheckError: this system's walls are weaker than this level, or there is no such level.
    """
    if level not in walls.LEVELS:
        raise CheckError(f"There is no level {level!r} of walls.", hint=f"the levels are {', '.join(walls.LEVELS)}.")
    here, why = walls.level()
    if walls.LEVELS.index(here) < walls.LEVELS.index(level):
        raise CheckError(
            f"Submissions are not run: the walls here are {here!r}, and {level!r} is required.",
            why=why,
            hint="gpulab doctor says what is in force; --require-jail takes a weaker level.",
        )


def run_isolated(
    id: str,
    source: str,
    *,
    who: str = "",
    seconds: float = 60.0,
    memory_bytes: int = 16 << 30,
    trusted: bool = False,
    seed: Seed | None = None,
) -> Graded:
    """The verdict on one submission: what a `Grader` with these arguments says of it."""
    with Grader(seconds=seconds, memory_bytes=memory_bytes, trusted=trusted) as grader:
        return grader.grade(id, source, who, seed)


def _program(id: str, source: str, seconds: float, memory_bytes: int, trusted: bool, seed: Seed | None) -> Verdict:
    """The verdict on a program, found in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="gpulab-run-") as folder:
        job, answer = Path(folder, "job.json"), Path(folder, "verdict.json")
        asked = {"id": id, "source": source, "memory_bytes": memory_bytes, "trusted": trusted, "seed": seed}
        job.write_text(json.dumps(asked), encoding="utf-8")
        here = str(Path(__file__).resolve().parents[2])
        environment = {
            **os.environ,
            "GPULAB_PROGRESS": str(Path(folder, "progress.json")),
            "GPULAB_CACHE_OWN": str(Path(folder, "cache")),
            cores.SETTING: "1",
            "PYTHONIOENCODING": "utf-8",
            "PYTHONPATH": os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")])),
        }
        command = [sys.executable, "-m", "gpulab.grading.isolated", str(job), str(answer)]
        tie = walls.Tie()
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=folder,
            env=environment, pass_fds=tie.descriptors, start_new_session=True,
        )  # fmt: skip
        tie.fasten(process.pid)
        try:
            said, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise Stopped(f"it took longer than {seconds:g} seconds and was stopped") from None
        finally:
            walls.end_group(process)
            tie.release()
        try:
            return Verdict.from_dict(json.loads(answer.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            last = said.decode("utf-8", "replace").strip().splitlines()[-1:] or ["it said nothing"]
            if process.returncode >= 0:  # a traceback: neither the compiler nor the program ended it
                raise NotJudged(last[0]) from None
            raise Stopped(f"its process ended without a verdict (signal {-process.returncode}): {last[0]}") from None


def main(job: str, answer: str) -> int:
    """Reads the job, checks it, writes the verdict. The verdict's file appears whole or not at all."""
    work = json.loads(Path(job).read_text(encoding="utf-8"))
    _limit_memory(work["memory_bytes"])
    reason = "" if work["trusted"] else not_run(work["id"])
    if reason:
        verdict = report.stopped(work["id"], reason)
    else:
        verdict = check(work["id"], work["source"], record=False, seed=work["seed"])
    part = Path(answer + ".part")
    part.write_text(json.dumps(verdict.as_dict()), encoding="utf-8")
    os.replace(part, answer)
    return 0


def not_run(id: str) -> str:
    """Why a program for this exercise is not run here: its host code is native code of a stranger; "" if it may be."""
    if not isinstance(load(id), ProgramExercise):
        return ""
    from gpulab.programs import jail

    missing = jail.available()
    return (
        f"its host code is not run without a jail: {missing}; --trust-programs runs it all the same" if missing else ""
    )


def _limit_memory(size: int) -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limit; the wall-clock limit still holds
        return
    try:
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (size if hard == resource.RLIM_INFINITY else min(size, hard), hard))
    except (ValueError, OSError):  # macOS refuses it for some sizes; the wall-clock limit still holds
        return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
