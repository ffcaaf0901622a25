"""Exercises: checks that report like a tutor, hints in three steps, progress, and runs for a class.

Reading order: `exercise` (what an exercise is), `library` (where exercises are found), `bench` (runs one
case of a kernel), `outcome` (what a run left, and questions about it), `requirements` (what is asked beyond right
output), `judge` (all cases, the smallest failing one, its cause), `failed` (a failing case as a record to be drawn),
`verdict` (what the learner reads), `task` (the picture of an exercise), `history`, `hints`, `isolated` (one process per
submission).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpulab.grading.hints import Hint, hint
    from gpulab.grading.history import Progress, progress
    from gpulab.grading.isolated import Row, run_isolated
    from gpulab.grading.judge import check
    from gpulab.grading.library import exercise_ids, load
    from gpulab.grading.verdict import AnswerRejected, Verdict

_HOME = {
    "check": "judge",
    "hint": "hints",
    "Hint": "hints",
    "progress": "history",
    "Progress": "history",
    "run_isolated": "isolated",
    "Row": "isolated",
    "exercise_ids": "library",
    "load": "library",
    "Verdict": "verdict",
    "AnswerRejected": "verdict",
}

__all__ = [
    "AnswerRejected",
    "Hint",
    "Progress",
    "Row",
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
