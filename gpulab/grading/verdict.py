"""What the learner reads after a check: `Verdict`, as text and HTML, and `AnswerRejected`, which a grade cell raises.

A verdict is a title, a status and labelled rows ("tried", "expected and found", "likely cause", ...), which `report.py`
writes. Everything that comes from the learner's source is escaped in HTML.
"""

from __future__ import annotations

import html
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gpulab.grading.criteria import Criterion
from gpulab.grading.library import from_here
from gpulab.grading.plain import from_plain, to_plain
from gpulab.records import FailedCase

if TYPE_CHECKING:
    from gpulab.views.instrument import Instrument


class AnswerRejected(AssertionError):
    """Raised by `Verdict.require` for an answer that is not right yet; `verdict` says why.

    It is an AssertionError so that test runners and nbgrader count it as a failed test.
    """

    def __init__(self, verdict: Verdict, message: str) -> None:
        self.verdict = verdict
        super().__init__(message)

    def _render_traceback_(self) -> list[str]:
        """IPython shows this instead of a stack of calls, which would tell the learner nothing."""
        return [str(self)]


@dataclass(frozen=True)
class VerdictRow:
    """A labelled part of a verdict. `block` keeps line breaks and uses a fixed-width font."""

    label: str
    text: str
    block: bool = False


REJECTED = ' class="gpulab-rejected"'
"""Of a report that has something to say: the editor's extension brings it into sight."""

REASONS = ("likely cause", "stopped", "compiler", "required", "what")
"""Labels of rows that can say why an answer was rejected, the one that says most first."""


@dataclass(frozen=True)
class Verdict:
    """The result of `gpulab.check`.

    Args:
        exercise: its id.
        status: "passed", "wrong", "fault", "does not compile", "wrong signature", "requirement", or, from class
            runs alone, "stopped" and "not judged" (this system failed; the submission is not at fault).
        headline: one line.
        rows: what was tried, what failed, why, what next.
        cause: name of the recognised mistake, or "".
        link: file and heading of the lesson's section, relative to the clone ("notebooks/02_simt.ipynb#The-guard").
        smallest: parameters of the smallest failing input, or empty.
        case: the smallest failing input, to be drawn, where one failed by what the kernel did.
        criteria: what an answer is judged by, each for itself, for partial credit. Complete where a seed was given.
    """

    exercise: str
    status: str
    headline: str
    rows: tuple[VerdictRow, ...] = ()
    cause: str = ""
    link: str = ""
    link_text: str = ""
    smallest: Mapping[str, int] = field(default_factory=dict)
    case: FailedCase | None = None
    criteria: tuple[Criterion, ...] = ()

    @property
    def passed(self) -> bool:
        return self.status == "passed"

    def __bool__(self) -> bool:
        return self.passed

    @property
    def reason(self) -> str:
        """Why the answer was rejected, in one line: the row that says most about it; "" where nothing does."""
        found = {row.label: " ".join(row.text.split()) for row in self.rows}
        return next((found[label] for label in REASONS if found.get(label)), "")

    @property
    def text(self) -> str:
        """The whole report as plain text, at most 100 columns wide where it can be broken."""
        width = max((len(row.label) for row in self.rows), default=0) + 2
        parts = [self.headline]
        for row in self.rows:
            indent = " " * (width + 2)
            if row.block:
                lines = row.text.splitlines() or [""]
            else:
                lines = textwrap.wrap(row.text, 100 - len(indent), break_long_words=False, break_on_hyphens=False) or [
                    ""
                ]
            parts.append(f"  {row.label:<{width}}{lines[0]}")
            parts.extend(indent + line for line in lines[1:])
        return "\n".join(part.rstrip() for part in parts)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        from gpulab.views.table import preformatted

        colour = "#2e7d32" if self.passed else "#b26a00"
        cell = "text-align:left;vertical-align:top;padding:2px 12px 2px 0;"
        rows = []
        for row in self.rows:
            value = preformatted(row.text) if row.block else html.escape(row.text)
            link = from_here(self.link) if self.link and not row.block and row.label == "read" else ""
            if link:
                value = f'<a href="{html.escape(link)}">{value}</a>'
            rows.append(
                f'<tr><th scope="row" style="{cell}">{html.escape(row.label)}</th><td style="{cell}">{value}</td></tr>'
            )
        return (
            f'<div{"" if self.passed else REJECTED} style="border-left:4px solid {colour};padding:4px 12px">'
            f"<strong>{html.escape(self.headline)}</strong>"
            f'<table style="border-collapse:collapse">{"".join(rows)}</table></div>'
        )

    def picture(self) -> Instrument | None:
        """The failing case, drawn; None where there is none."""
        if self.case is None:
            return None
        from gpulab.views.exercise import failing

        return failing(self.case)

    def show(self) -> None:
        """Display the report and, below it, the failing case drawn. Outside of Jupyter, print the text of both."""
        picture = self.picture()
        if not _in_notebook():
            print(self.text if picture is None else f"{self.text}\n\n{picture.text}")
            return
        from IPython.display import display

        display({"text/plain": self.text, "text/html": self._repr_html_()}, raw=True)
        if picture is not None:
            picture.show()

    def _ipython_display_(self) -> None:
        """What a notebook shows of it: the report, and below it the failing case drawn."""
        if self.case is None:
            raise NotImplementedError  # IPython then displays the report alone, as of any other value
        self.show()

    def require(self) -> Verdict:
        """This verdict if the answer passed; else shows it and raises AnswerRejected.

        For grade cells: in a notebook the report is displayed and the error stays short; elsewhere the error
        carries the report.
        """
        if self.passed:
            return self
        if _in_notebook():
            self.show()
            raise AnswerRejected(self, f"{self.exercise}: not solved yet. The report above says what happened.")
        raise AnswerRejected(self, self.text)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for files and other processes; `Verdict.from_dict` reads it back."""
        return {
            "exercise": self.exercise,
            "status": self.status,
            "headline": self.headline,
            "rows": [[row.label, row.text, row.block] for row in self.rows],
            "cause": self.cause,
            "link": self.link,
            "link_text": self.link_text,
            "smallest": dict(self.smallest),
            "case": None if self.case is None else to_plain(self.case),
            "criteria": [[each.name, each.title, each.passed] for each in self.criteria],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Verdict:
        case = data.get("case")
        read = {
            "rows": tuple(VerdictRow(*row) for row in data["rows"]),
            "case": None if case is None else from_plain(case),
            "criteria": tuple(Criterion(*each) for each in data.get("criteria", ())),
        }
        return cls(**{**data, **read})


def _in_notebook() -> bool:
    """Is this a Jupyter kernel (and not a plain interpreter, a test or IPython in a terminal)?"""
    import sys

    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    shell = get_ipython()
    return shell is not None and getattr(shell, "kernel", None) is not None
