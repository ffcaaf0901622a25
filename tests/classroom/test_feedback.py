"""Pages for students: nothing from outside, nothing of others, nothing that runs, and readable."""

from __future__ import annotations

from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path

import pytest

from gpulab.classroom import feedback
from gpulab.classroom.results import UNREAD, GradedExercise
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
        "tbody", "tr", "th", "td", "section", "span", "dl", "dt", "dd", "pre", "ul", "li", "a",
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
        assert path.name.replace("-", "").replace(".html", "").isalnum()
        assert path.name.isascii()
