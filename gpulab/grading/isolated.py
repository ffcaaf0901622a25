"""Runs one submission in a process of its own, with limits, so that nothing it does can stop a class run.

`run_isolated(id, source)` starts ``python -m gpulab.grading.isolated`` and always returns a `Graded`: a kernel that
loops, eats all memory or kills its process is a line of the report like any other. Only the text of kernels or
of a program goes in; a program's host code runs in a jail, or, without one, not at all unless it is trusted.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from gpulab.grading.criteria import Criterion
from gpulab.grading.drawing import Seed
from gpulab.grading.library import load
from gpulab.grading.program import ProgramExercise
from gpulab.grading.report import stopped
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

    Args:
        seconds: wall-clock limit for each submission, compilation included.
        memory_bytes: limit on the address space, where the system has such a limit. The virtual GPU reserves 8 GiB of
            addresses for device memory, so a limit below about 10 GiB stops every kernel.
        trusted: run a program's host code also where it cannot be jailed (`gpulab.programs.jail`).
    """

    def __init__(self, *, seconds: float = 60.0, memory_bytes: int = 16 << 30, trusted: bool = False) -> None:
        self.seconds, self.memory_bytes, self.trusted = seconds, memory_bytes, trusted

    def __enter__(self) -> Grader:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def grade(self, id: str, source: str, who: str = "", seed: Seed | None = None) -> Graded:
        """The verdict on `source` for exercise `id`; nothing that a source does raises an error.

        Args:
            id: the exercise. Raises CheckError if it is unknown.
            source: kernel text, or that of a whole program.
            who: whose it is, for the report.
            seed: the instructor's secret, from which further cases are drawn: the same ones for the same seed.
        """
        return run_isolated(
            id, source, who=who, seconds=self.seconds, memory_bytes=self.memory_bytes, trusted=self.trusted, seed=seed
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
    """The verdict on `source` for exercise `id`, found in another process.

    Args:
        id: the exercise. Raises CheckError here, before anything is started, if it is unknown.
        source: kernel text, or that of a whole program.
        who: whose it is, for the report.
        seconds: wall-clock limit for everything, compilation included.
        memory_bytes: limit on the process's address space, where the system has such a limit. The virtual
            GPU reserves 8 GiB of addresses for device memory, so a limit below about 10 GiB stops every kernel.
        trusted: run a program's host code also where it cannot be jailed (`gpulab.programs.jail`).
        seed: the instructor's secret, from which further cases are drawn: the same ones for the same seed.
    """
    load(id)
    with tempfile.TemporaryDirectory(prefix="gpulab-run-") as folder:
        job, answer = Path(folder, "job.json"), Path(folder, "verdict.json")
        job.write_text(
            json.dumps({"id": id, "source": source, "memory_bytes": memory_bytes, "trusted": trusted, "seed": seed}),
            encoding="utf-8",
        )
        here = str(Path(__file__).resolve().parents[2])
        environment = {
            **os.environ,
            "GPULAB_PROGRESS": str(Path(folder, "progress.json")),
            "PYTHONIOENCODING": "utf-8",
            "PYTHONPATH": os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")])),
        }
        command = [sys.executable, "-m", "gpulab.grading.isolated", str(job), str(answer)]
        try:
            finished = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env=environment,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Graded(who, stopped(id, f"it took longer than {seconds:g} seconds and was stopped"))
        try:
            verdict = Verdict.from_dict(json.loads(answer.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError):
            last = finished.stdout.decode("utf-8", "replace").strip().splitlines()[-1:] or ["it said nothing"]
            how = f"signal {-finished.returncode}" if finished.returncode < 0 else f"exit code {finished.returncode}"
            return Graded(who, stopped(id, f"its process ended without a verdict ({how}): {last[0]}"))
    return Graded(who, verdict)


def main(job: str, answer: str) -> int:
    """Reads the job, checks it, writes the verdict. The verdict's file appears whole or not at all."""
    work = json.loads(Path(job).read_text(encoding="utf-8"))
    _limit_memory(work["memory_bytes"])
    reason = "" if work["trusted"] else not_run(work["id"])
    verdict = (
        stopped(work["id"], reason) if reason else check(work["id"], work["source"], record=False, seed=work["seed"])
    )
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
