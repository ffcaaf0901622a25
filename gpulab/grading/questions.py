"""Exercises that are read, not written: a kernel stores the answers to questions A, B, C ... (`Questions`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gpulab.grading.case import Array, Case, Parameters, no_inputs, sentinel
from gpulab.grading.exercise import Cause

if TYPE_CHECKING:
    from gpulab.grading.outcome import Outcome

_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


class Questions:
    """The answers to questions, as whole numbers, which no picture and no report tells.

    Args:
        answers: the right ones, twelve at most.
        word: what the text calls them: "question" or "statement".
    """

    def __init__(self, answers: Sequence[int], word: str = "question") -> None:
        self._answers = np.array(answers, "int32")
        count = _WORDS[len(answers)]
        last = chr(ord("A") + len(answers) - 1)
        self.frame: dict[str, Any] = {
            "signature": "int* answers",
            "make": self._make,
            "owner": lambda case, index: ((0, 0, 0), (index, 0, 0)) if 0 <= index < len(answers) else None,
            "reads": no_inputs,
            "fixed_sizes": f"there are always {count} answers, and 64 threads",
            "cases": ({"block": 64},),
            "drawn": lambda random: ({"block": 64},) * 4,
            "smallest": {"block": 64},
            "shown": {"block": 64},
        }
        """Arguments of `Exercise` that all such exercises have."""
        self.missing: Cause[Outcome] = Cause(
            "answers-missing",
            f"not all {count} answers are stored",
            lambda o: o.fault is None and bool(o.unwritten_indices("answers")),
            f"Each of the {word}s A to {last} has a place in answers.",
            "How many numbers does your array have, and how many does the kernel store?",
        )
        """The first cause of each."""

    def _make(self, parameters: Parameters, random: np.random.Generator) -> Case:
        out = Array("answers", sentinel("int32", len(self._answers)), self._answers, secret=True)
        return Case(parameters, (1, 1, 1), (parameters["block"], 1, 1), (out,))

    @staticmethod
    def answered(question: int, *numbers: int) -> Callable[[Outcome], bool]:
        """A test: is a question answered with one of these numbers?"""
        return lambda o: o.fault is None and int(o.found("answers")[question]) in numbers
