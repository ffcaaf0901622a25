"""From a submission and its verdict to a row, and from a row to plain data: one of each kind, worked out by hand."""

from __future__ import annotations

import hashlib
from fractions import Fraction

from gpulab.classroom.points import Scheme
from gpulab.classroom.results import MISSING, NOT_JUDGED, UNREAD, GradedExercise, rows
from gpulab.classroom.submissions import NOT_HANDED_IN, Submission
from gpulab.grading.criteria import Criterion
from gpulab.grading.verdict import Verdict, VerdictRow

SCHEME = Scheme(points={"saxpy-guard": Fraction(4)})
MET = (Criterion("visible", "known", True), Criterion("hidden", "others", False))


def handed(student: str, answer: str | None, problem: str = "", where: str = "a.hip") -> Submission:
    return Submission(student, "saxpy-guard", answer, problem, where)


def row(student: str, *words: str, points: int | None, full: int = 4, **more: object) -> GradedExercise:
    """`words`: status, headline, reason, cause."""
    status, headline, reason, cause = words
    worth = None if points is None else Fraction(points)
    return GradedExercise(
        student,
        "saxpy-guard",
        status,
        headline,
        reason,
        cause,
        worth,
        Fraction(full),
        **more,  # type: ignore[arg-type]
    )


def test_a_row_for_each_submission_in_their_order() -> None:
    right = Verdict("saxpy-guard", "passed", "Right.")
    told = (VerdictRow("what", "out[3] is\nwrong"),)
    wrong = Verdict("saxpy-guard", "wrong", "Not yet.", told, "missing-guard", criteria=MET)
    failed = Verdict("saxpy-guard", NOT_JUDGED, "The disk is full.")
    explained = Verdict("saxpy-guard", NOT_JUDGED, "No.", (VerdictRow("what", "no room"),))
    given = [handed(name, f"of {name}") for name in ("ann", "bob", "cy", "dee", "eve", "fay")]
    judged = [each.as_dict() for each in (right, wrong, failed, explained)]
    verdicts = dict(zip(given[:4], judged, strict=True))
    others = [
        handed("gus", None, "a.hip: it is empty"),
        handed("hal", None, NOT_HANDED_IN, ""),
        handed("ian", None, NOT_HANDED_IN, "x.pdf"),
        Submission("", "", None, "names.csv: of no student", "names.csv"),
    ]
    later = "Not judged yet: the grading itself failed, not the answer."
    unread = "What was handed in could not be read."
    found = rows([*given, *others], verdicts, {given[4]: "the tool is missing"}, SCHEME)
    assert [each.verdict.as_dict() for each in found if each.verdict is not None] == judged[:2]
    shares = Fraction(3, 10) / Fraction(5, 10) * 4
    assert found == [
        row("ann", "passed", "Right.", "", "", points=4, answer="of ann", verdict=found[0].verdict),
        GradedExercise("bob", "saxpy-guard", "wrong", "Not yet.", "out[3] is wrong", "missing-guard", shares,
                       Fraction(4), MET, "of bob", found[1].verdict),
        row("cy", NOT_JUDGED, later, "The disk is full.", "", points=None, answer="of cy"),
        row("dee", NOT_JUDGED, later, "no room", "", points=None, answer="of dee"),
        row("eve", NOT_JUDGED, later, "the tool is missing", "", points=None, answer="of eve"),
        row("fay", NOT_JUDGED, later, "it was not graded yet", "", points=None, answer="of fay"),
        row("gus", UNREAD, unread, "a.hip: it is empty", "", points=0),
        row("hal", MISSING, "Nothing was handed in.", "", "", points=0),
        row("ian", MISSING, "Nothing was handed in.", "Not recognised as the answer to an exercise: x.pdf", "",
            points=0),
        GradedExercise("", "", UNREAD, unread, "names.csv: of no student", "", None, Fraction(0)),
    ]  # fmt: skip
    assert [each.passed for each in found] == [True, *[False] * 9]


def test_a_row_as_plain_data() -> None:
    verdict = Verdict("saxpy-guard", "wrong", "Not yet.", (VerdictRow("what", "x", True),), criteria=MET)
    made = row("bob", "wrong", "Not yet.", "why", "cause", points=2, criteria=MET, answer="ü", verdict=verdict)
    assert made.as_dict() == {
        "student": "bob", "exercise": "saxpy-guard", "status": "wrong", "points": 2, "full": 4, "headline": "Not yet.",
        "reason": "why", "cause": "cause", "answer": hashlib.sha256("ü".encode()).hexdigest()[:12],
        "criteria": [["visible", "known", True], ["hidden", "others", False]], "rows": [["what", "x", True]],
    }  # fmt: skip
    bare = row("ann", UNREAD, "", "", "", points=None).as_dict()
    assert (bare["points"], bare["answer"], bare["criteria"], bare["rows"]) == (None, "", [], [])
