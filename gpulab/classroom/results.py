"""One row for each student and exercise: what tables, feedback and the gradebook are made of.

Rows come from submissions and verdicts alone: no times, no paths, so that the same seed gives the same rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from gpulab.classroom.jobs import Plain
from gpulab.classroom.points import Scheme, number
from gpulab.classroom.submissions import NOT_HANDED_IN, Submission
from gpulab.grading.criteria import Criterion
from gpulab.grading.verdict import Verdict

MISSING, UNREAD, NOT_JUDGED = "not handed in", "not read", "not judged"
"""Statuses beside a verdict's own. What is "not judged" is nobody's fault, has no points, and is graded again."""


@dataclass(frozen=True)
class GradedExercise:
    """What came of one student's answer to one exercise.

    Args:
        student, exercise: whose, and to what ("" for a file that belongs to no exercise).
        status: a verdict's, or one of MISSING, UNREAD, NOT_JUDGED.
        headline, reason: one line each, for people; the reason may be "".
        cause: the recognised mistake, or "".
        points: what it is worth; None where it was not judged, or belongs to no exercise.
        full: what it could be worth.
        criteria: what was met.
        answer: the text that was graded, or None.
        verdict: the whole verdict, or None.
    """

    student: str
    exercise: str
    status: str
    headline: str
    reason: str
    cause: str
    points: Fraction | None
    full: Fraction
    criteria: tuple[Criterion, ...] = ()
    answer: str | None = None
    verdict: Verdict | None = None

    @property
    def passed(self) -> bool:
        return self.status == "passed"

    @property
    def digest(self) -> str:
        """Of the answer: the same for the same text; "" without one."""
        return "" if self.answer is None else hashlib.sha256(self.answer.encode("utf-8")).hexdigest()[:12]

    def as_dict(self) -> dict[str, Any]:
        """Plain data for report.json: everything but the answer's text."""
        return {
            "student": self.student,
            "exercise": self.exercise,
            "status": self.status,
            "points": None if self.points is None else number(self.points),
            "full": number(self.full),
            "headline": self.headline,
            "reason": self.reason,
            "cause": self.cause,
            "answer": self.digest,
            "criteria": [[each.name, each.title, each.passed] for each in self.criteria],
            "rows": [] if self.verdict is None else [[row.label, row.text, row.block] for row in self.verdict.rows],
        }


def rows(
    submissions: Sequence[Submission], verdicts: Mapping[Submission, Plain], problems: Mapping[Submission, str],
    scheme: Scheme,
) -> list[GradedExercise]:  # fmt: skip
    """A row for each submission, in their order.

    Args:
        verdicts: as plain data, of those that were graded.
        problems: of those whose grading came to no verdict, why.
        scheme: of points.
    """
    return [_row(each, verdicts.get(each), problems.get(each, "it was not graded yet"), scheme) for each in submissions]


def _row(one: Submission, plain: Plain | None, problem: str, scheme: Scheme) -> GradedExercise:
    full = scheme.full(one.exercise) if one.exercise else Fraction(0)
    if one.answer is None:
        missing = one.problem == NOT_HANDED_IN
        points = Fraction(0) if one.exercise else None
        headline = "Nothing was handed in." if missing else "What was handed in could not be read."
        others = f"Not recognised as the answer to an exercise: {one.where}" if one.where else ""
        reason = others if missing else one.problem
        return GradedExercise(
            one.student, one.exercise, MISSING if missing else UNREAD, headline, reason, "", points, full
        )
    verdict = None if plain is None else Verdict.from_dict(plain)
    if verdict is None or verdict.status == NOT_JUDGED:
        reason = problem if verdict is None else verdict.reason or verdict.headline
        headline = "Not judged yet: the grading itself failed, not the answer."
        return GradedExercise(
            one.student, one.exercise, NOT_JUDGED, headline, reason, "", None, full, (), one.answer
        )  # fmt: skip
    points = scheme.earned(one.exercise, verdict.passed, verdict.criteria)
    return GradedExercise(
        one.student, one.exercise, verdict.status, verdict.headline, verdict.reason, verdict.cause, points, full,
        verdict.criteria, one.answer, verdict,
    )  # fmt: skip
