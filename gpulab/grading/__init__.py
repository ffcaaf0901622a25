"""Exercises: checks that report like a tutor, hints in three steps, progress, and runs for a class.

A check goes through these pieces, each of which knows only those before it:

    definition      `exercise`, `program`, `requirements`, `causes`: what is asked, known mistakes; with functions,
                    which stay where the exercise was loaded
    prepared cases  `case` (`program.ProgramCase`): launches with their arguments and expected values; plain data
    run             `bench` is the port: prepares a source for an architecture and runs cases. `gpu_bench` does so on
                    the virtual devices; a bench may as well hand source, cases and buffers to a worker elsewhere
    observations    `case.Run` is what a run leaves, plain data; `outcome` asks it questions
    judgement       `judgement` says whether an outcome is right, or which cause or requirement it fails by; `criteria`
                    has what partial credit is given for; `drawing` makes more cases from a seed; `judge` and
                    `judge_program` drive all this: which cases run, where, and which failing input is the smallest
    report          `failed` (a failing case as a record to be drawn), `report` (all wording), `verdict` (what the
                    learner reads); `plain` and `Verdict.as_dict` make plain data of it

Around it: `library` (where exercises are found), `answers` (right and wrong ones), `submission` (`check`: from what a
learner passes to a verdict), `task` (the picture of an exercise), `history`, `hints`, `sources`, `wording`.

For a class, `isolated` has the `Grader`. The judge stays in its process; kernels are compiled and run elsewhere:
`remote` is a bench that hands source, arrays and launches to `worker`, a process that knows no exercise, as plain
data (`wire`). A grader on many machines is given an exercise's id and a source, and loads the exercise from its own
copy of the course. pyproject.toml holds the order of the modules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpulab.grading.criteria import Criterion
    from gpulab.grading.hints import Hint, hint
    from gpulab.grading.history import Progress, progress
    from gpulab.grading.isolated import Graded, Grader, run_isolated
    from gpulab.grading.library import exercise_ids, load
    from gpulab.grading.submission import check
    from gpulab.grading.verdict import AnswerRejected, Verdict

_HOME = {
    "check": "submission",
    "hint": "hints",
    "Hint": "hints",
    "progress": "history",
    "Progress": "history",
    "run_isolated": "isolated",
    "Graded": "isolated",
    "Grader": "isolated",
    "Criterion": "criteria",
    "exercise_ids": "library",
    "load": "library",
    "Verdict": "verdict",
    "AnswerRejected": "verdict",
}

__all__ = [
    "AnswerRejected",
    "Criterion",
    "Graded",
    "Grader",
    "Hint",
    "Progress",
    "Verdict",
    "check",
    "exercise_ids",
    "hint",
    "load",
    "progress",
    "run_isolated",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'gpulab.grading' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"gpulab.grading.{_HOME[name]}"), name)
