"""A page for each student: one HTML file that needs nothing else, reads well on a phone and with a screen reader.

Everything that came from a student is escaped; the page has no scripts, no links to other machines, no other student,
and nothing of the inputs that were drawn for the grading, which verdicts do not tell.
"""

from __future__ import annotations

import hashlib
import html
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

from gpulab.classroom.points import number
from gpulab.classroom.results import NOT_JUDGED, GradedExercise
from gpulab.classroom.store import replace_file
from gpulab.classroom.tables import total
from gpulab.toolchain.diagnostics import visible

STYLE = """
:root { color-scheme: light dark; --line: #767676; --good: #1b6e20; --bad: #8a4b00; --soft: #f2f2f2 }
@media (prefers-color-scheme: dark) { :root { --line: #9a9a9a; --good: #7fd486; --bad: #ffb95c; --soft: #2a2a2a } }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 50rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere }
h1 { font-size: 1.5rem } h2 { font-size: 1.2rem; margin-top: 2rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line) }
td.number { text-align: right; white-space: nowrap }
pre { background: var(--soft); padding: .6rem; overflow-x: auto; font-size: .9rem }
.good { color: var(--good); font-weight: bold } .bad { color: var(--bad); font-weight: bold }
dt { font-weight: bold; margin-top: .5rem } dd { margin: 0 }
"""


def _text(text: str) -> str:
    return html.escape(visible(text))


def _mark(row: GradedExercise) -> str:
    if row.status == NOT_JUDGED:
        return "not judged yet"
    return f'<span class="{"good" if row.passed else "bad"}">{"passed" if row.passed else _text(row.status)}</span>'


def _points(row: GradedExercise) -> str:
    got = "–" if row.points is None else str(number(row.points))
    return f"{got} of {number(row.full)}"


def _section(row: GradedExercise) -> str:
    mark = html.escape(row.exercise)
    parts = [
        f'<h2 id="{mark}">{_text(row.exercise)}: {_mark(row)}, {_points(row)}</h2>',
        f"<p>{_text(row.headline)}</p>",
    ]
    if row.reason and row.verdict is None:
        parts.append(f"<p>{_text(row.reason)}</p>")
    if row.criteria:
        words = {True: '<span class="good">met</span>', False: '<span class="bad">not met</span>', None: "not judged"}
        lines = "".join(
            f'<tr><th scope="row">{_text(each.title)}</th><td>{words[each.passed]}</td></tr>' for each in row.criteria
        )
        parts.append(f"<table><caption>What the answer is judged by</caption>{lines}</table>")
    if row.verdict is not None and row.verdict.rows:
        listed = "".join(
            f"<dt>{_text(each.label)}</dt><dd>"
            + (f'<pre tabindex="0">{_text(each.text)}</pre>' if each.block else _text(each.text))
            + "</dd>"
            for each in row.verdict.rows
        )
        parts.append(f"<dl>{listed}</dl>")
    return f"<section>{''.join(parts)}</section>"


def page(student: str, rows: Sequence[GradedExercise], title: str = "Feedback") -> str:
    """The page of one student, from the rows of this student."""
    mine = [row for row in rows if row.student == student]
    graded = [row for row in mine if row.exercise]
    summary = "".join(
        f'<tr><th scope="row"><a href="#{html.escape(row.exercise)}">{_text(row.exercise)}</a></th>'
        f'<td>{_mark(row)}</td><td class="number">{_points(row)}</td></tr>'
        for row in graded
    )
    whole = sum((row.full for row in graded), start=total([]))
    others = "".join(f"<li>{_text(row.reason)}</li>" for row in mine if not row.exercise)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{_text(title)}: {_text(student)}</title><style>{STYLE}</style></head><body><main>"
        f"<h1>{_text(title)}: <bdi>{_text(student)}</bdi></h1>"
        f"<p>{number(total(graded))} of {number(whole)} points.</p>"
        '<table><caption>All exercises</caption><thead><tr><th scope="col">Exercise</th><th scope="col">Result</th>'
        f'<th scope="col" class="number">Points</th></tr></thead><tbody>{summary}</tbody></table>'
        + (f"<h2>Files that were not graded</h2><ul>{others}</ul>" if others else "")
        + "".join(_section(row) for row in graded)
        + "</main></body></html>\n"
    )


def file_name(student: str) -> str:
    """A file name that every system takes, and that no two students share. Letters of all scripts are kept."""
    letters = "".join(each if unicodedata.category(each)[0] in "LMN" else "-" for each in student.lower())
    plain = re.sub("-+", "-", letters[:40]).strip("-") or "student"
    return f"{plain}-{hashlib.sha256(student.encode('utf-8', 'replace')).hexdigest()[:8]}.html"


def write(folder: Path, rows: Sequence[GradedExercise]) -> list[Path]:
    """A page for each student. Raises OSError."""
    written = []
    for student in sorted({row.student for row in rows if row.student or row.exercise}):
        mine = [row for row in rows if row.student == student]
        path = folder / file_name(student)
        replace_file(path, page(student, mine).encode("utf-8", "replace"))
        written.append(path)
    return written
