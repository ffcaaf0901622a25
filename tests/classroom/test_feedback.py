"""Pages for students: nothing from outside, nothing of others, nothing that runs, and readable."""

from __future__ import annotations

from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path

import pytest

from gpulab.classroom import feedback
from gpulab.classroom.results import NOT_JUDGED, UNREAD, GradedExercise
from gpulab.grading.criteria import Criterion
from gpulab.grading.verdict import Verdict, VerdictRow

HOSTILE = '<script>alert(1)</script><img src=x onerror="alert(2)">&"\'\x1b[31m\u202e'


def row(student: str, text: str, exercise: str = "saxpy-guard") -> GradedExercise:
    verdict = Verdict(exercise, "wrong", text, (VerdictRow(text, text), VerdictRow("compiler", text, True)), text)
    criteria = (Criterion("visible", text, True), Criterion("hidden", "other inputs", None))
    return GradedExercise(
        student, exercise, "wrong", text, text, text, Fraction(1, 2), Fraction(2), criteria, text, verdict
    )


class Seen(HTMLParser):
    """The tags, attributes and text of a page; an error for tags that do not fit."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_hostile_text_is_text() -> None:
    page = feedback.page(
        HOSTILE, [row(HOSTILE, HOSTILE), GradedExercise(HOSTILE, "", UNREAD, "", HOSTILE, "", None, Fraction(0))]
    )
    seen = Seen(page)
    assert {tag for tag, _ in seen.tags} <= {
        "html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "p", "table", "caption", "thead",
        "tbody", "tr", "th", "td", "section", "span", "dl", "dt", "dd", "pre", "ul", "li", "a", "bdi",
    }  # fmt: skip
    attributes = {name for _, found in seen.tags for name in found}
    assert attributes <= {
        "lang",
        "charset",
        "name",
        "content",
        "http-equiv",
        "class",
        "scope",
        "id",
        "href",
        "tabindex",
    }
    assert all(found["href"].startswith("#") for tag, found in seen.tags if tag == "a")  # type: ignore[union-attr]
    assert "<script>alert(1)</script>" in "".join(seen.words)
    assert "\x1b" not in page
    assert "\u202e" not in page


def test_the_page_says_what_came_of_each_exercise() -> None:
    rows = [row("ann", "past the end"), row("bob", "of bob", "first-fill")]
    seen = Seen(feedback.page("ann", rows))
    text = " ".join(" ".join(seen.words).split())
    assert "0.5 of 2 points." in text
    assert "past the end met" in text
    assert "other inputs not judged" in text
    assert "bob" not in text
    assert "first-fill" not in text


def test_the_page_is_for_phones_and_screen_readers() -> None:
    seen = Seen(feedback.page("ann", [row("ann", "text")]))
    tags = [tag for tag, _ in seen.tags]
    assert ("html", {"lang": "en"}) in seen.tags
    assert any(found.get("name") == "viewport" for _, found in seen.tags)
    assert tags.count("h1") == tags.count("main") == tags.count("title") == 1
    assert tags.count("caption") == tags.count("table")
    assert all("scope" in found for tag, found in seen.tags if tag == "th")
    assert all(found.get("tabindex") == "0" for tag, found in seen.tags if tag == "pre")  # it scrolls
    policy = next(found["content"] for _, found in seen.tags if found.get("http-equiv"))
    assert policy == "default-src 'none'; style-src 'unsafe-inline'"


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(
    ("colour", "ground"),
    [("#1b6e20", "#ffffff"), ("#8a4b00", "#ffffff"), ("#7fd486", "#2a2a2a"), ("#ffb95c", "#2a2a2a")],
)
def test_colours_have_the_contrast_that_wcag_asks_for(colour: str, ground: str) -> None:
    assert colour in feedback.STYLE
    light, dark = sorted((luminance(colour), luminance(ground)), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_every_student_has_a_file_that_every_system_takes(tmp_path: Path) -> None:
    names = ["ann", "Ann", "../../x", "con", "ü" * 300, "a/b", "", "a b", "a-b", HOSTILE]
    written = feedback.write(tmp_path, [row(name, name) for name in names])
    assert len({path.name.lower() for path in written}) == len(names)
    for path in written:
        assert path.parent == tmp_path
        assert path.is_file()
        assert len(path.name) < 64
        assert len(path.name.encode()) < 255
        assert path.name.replace("-", "").replace(".html", "").isalnum()


def test_a_whole_page() -> None:
    """An answer that passed, one that was judged in part, one that was not judged, and a file of no exercise."""
    met = (Criterion("visible", "the known inputs", True), Criterion("hidden", "other inputs", False))
    verdict = Verdict("b", "wrong", "Not yet.", (VerdictRow("what", "a < b"), VerdictRow("code", "x;", True)), "why")
    rows = [
        GradedExercise("ann", "a", "passed", "Passed.", "", "", Fraction(2), Fraction(2)),
        GradedExercise(
            "ann", "b", "wrong", "Not yet.", "told in rows", "", Fraction(1, 2), Fraction(3), met, "x", verdict
        ),
        GradedExercise("ann", "c", NOT_JUDGED, "Later.", "the disk is full", "", None, Fraction(1)),
        GradedExercise("ann", "", UNREAD, "", "x.png: a picture", "", None, Fraction(0)),
        GradedExercise("bob", "a", "passed", "Of bob.", "", "", Fraction(2), Fraction(2)),
    ]
    body = feedback.page("ann", rows).partition("<body>")[2]
    assert body == (
        "<main><h1>Feedback: <bdi>ann</bdi></h1><p>2.5 of 6 points.</p>"
        '<table><caption>All exercises</caption><thead><tr><th scope="col">Exercise</th><th scope="col">Result</th>'
        '<th scope="col" class="number">Points</th></tr></thead><tbody>'
        '<tr><th scope="row"><a href="#a">a</a></th><td><span class="good">passed</span></td>'
        '<td class="number">2 of 2</td></tr>'
        '<tr><th scope="row"><a href="#b">b</a></th><td><span class="bad">wrong</span></td>'
        '<td class="number">0.5 of 3</td></tr>'
        '<tr><th scope="row"><a href="#c">c</a></th><td>not judged yet</td><td class="number">– of 1</td></tr>'
        "</tbody></table><h2>Files that were not graded</h2><ul><li>x.png: a picture</li></ul>"
        '<section><h2 id="a">a: <span class="good">passed</span>, 2 of 2</h2><p>Passed.</p></section>'
        '<section><h2 id="b">b: <span class="bad">wrong</span>, 0.5 of 3</h2><p>Not yet.</p>'
        '<table><caption>What the answer is judged by</caption><tr><th scope="row">the known inputs</th>'
        '<td><span class="good">met</span></td></tr><tr><th scope="row">other inputs</th>'
        '<td><span class="bad">not met</span></td></tr></table>'
        '<dl><dt>what</dt><dd>a &lt; b</dd><dt>code</dt><dd><pre tabindex="0">x;</pre></dd></dl></section>'
        '<section><h2 id="c">c: not judged yet, – of 1</h2><p>Later.</p><p>the disk is full</p></section>'
        "</main></body></html>\n"
    )
    assert "<title>Marks: ann</title>" in feedback.page("ann", rows, "Marks")
    assert "Files that were not graded" not in feedback.page("bob", rows)
    assert feedback.page("bob", rows).count("<h2") == 1


def test_names_of_pages() -> None:
    """Forty letters and digits of the name, and eight digits of its SHA-256."""
    import hashlib

    for student, plain in (
        ("Ann B.", "ann-b"),
        ("é", "é"),
        ("-a-", "a"),
        ("Björn Müller", "björn-müller"),
        ("שרה כהן", "שרה-כהן"),
        ("नेहा", "नेहा"),
        ("\u202e(x)\ud800", "x"),
        ("!?", "student"),
        ("x" * 50, "x" * 40),
        ("", "student"),
    ):
        digits = hashlib.sha256(student.encode("utf-8", "replace")).hexdigest()[:8]
        assert feedback.file_name(student) == f"{plain}-{digits}.html"


def test_who_gets_a_page(tmp_path: Path) -> None:
    stray = GradedExercise("", "", UNREAD, "", "names.txt", "", None, Fraction(0))
    only = GradedExercise("cy", "", UNREAD, "", "x.png", "", None, Fraction(0))
    written = feedback.write(tmp_path, [row("bob", "b"), stray, only, row("ann", "a"), row("", "no name")])
    assert [path.name.split("-")[0] for path in written] == ["student", "ann", "bob", "cy"]
    assert "of ann" not in written[2].read_text(encoding="utf-8")
    assert written[1].read_text(encoding="utf-8") == feedback.page("ann", [row("ann", "a")])
