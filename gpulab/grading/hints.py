"""Hints in three steps: each call of `hint(id)` shows one more; how far a learner got is kept with the progress."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

from gpulab.errors import CheckError
from gpulab.grading import history
from gpulab.grading.library import load


@dataclass(frozen=True)
class Hint:
    """One step of an exercise's three hints; code in its text stands between backticks."""

    exercise: str
    step: int
    hint: str
    message: str = ""

    @property
    def text(self) -> str:
        more = {
            1: f'If that is not enough: gpulab.hint("{self.exercise}") again.',
            2: "One more is left.",
            3: f'That was the last one. gpulab.hint("{self.exercise}", step=1) starts over.',
        }[self.step]
        return "\n".join(part for part in (self.message, f"Hint {self.step} of 3: {self.hint}", more) if part)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        lines = html.escape(self.text).replace("Hint", "<strong>Hint", 1).replace(" of 3:", " of 3:</strong>", 1)
        lines = re.sub("`([^`]*)`", r"<code>\1</code>", lines)
        return "".join(f"<p>{line}</p>" for line in lines.split("\n"))


def hint(id: str, step: int | None = None) -> Hint:
    """The next hint of exercise `id`; after the third, the third again.

    Args:
        id: the exercise.
        step: 1, 2 or 3 to see that one.

    Raises CheckError for an unknown exercise or step.
    """
    exercise = load(id)
    if step is None:
        step = min(history.hints_shown(id) + 1, 3)
    if step not in (1, 2, 3):
        raise CheckError(f"Exercise {id!r} has hints 1, 2 and 3; there is no hint {step!r}.")
    message = history.record_hint(id, step)
    return Hint(id, step, exercise.hints[step - 1], message)
