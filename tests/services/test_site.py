"""`make site`: every page is there, no link is broken, no answer is shown, nothing is loaded from elsewhere."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import website  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
REGION = re.compile(r"(?://|#) BEGIN SOLUTION\n(.*?)(?://|#) END SOLUTION", re.S)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The finished pages."""
    built = tmp_path_factory.mktemp("site")
    website.gather(built / "source")
    assert website.render(built / "source", built / "html") == 0
    return built / "html"


def text_of(page: Path) -> str:
    """A page's text without its tags."""
    import html

    return html.unescape(re.sub(r"<[^>]+>", "", page.read_text(encoding="utf-8")))


def test_no_link_is_broken(site: Path) -> None:
    assert website.broken(site) == []


def test_every_notebook_and_page_of_docs_is_there(site: Path) -> None:
    wanted = [*ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("exercises/*/*.ipynb"), *ROOT.glob("docs/*.md")]
    assert len(wanted) > 90
    assert [path for path in wanted if not (site / path.relative_to(ROOT)).with_suffix(".html").is_file()] == []
    linked = website.Page((site / "index.html").read_text(encoding="utf-8")).links
    for path in wanted:
        assert path.relative_to(ROOT).with_suffix(".html").as_posix() in linked, path


def test_answers_are_not_shown(site: Path) -> None:
    """No line of a solution that the exercise's text does not have as well, and no explanation for instructors."""
    looked_at = 0
    for source in (ROOT / "course" / "exercises").glob("*/exercise.md"):
        text = source.read_text(encoding="utf-8")
        id = source.parent.name
        shown = text_of(site / "exercises" / id / f"{id}.html")
        assert "YOUR CODE HERE" in shown
        given = REGION.sub("", text)
        for line in "".join(REGION.findall(text)).splitlines():
            if len(line.strip()) > 12 and line.strip() not in given:
                looked_at += 1
                assert line.strip() not in shown, (id, line)
    assert looked_at > 300
    assert not list(site.rglob("*.ipynb"))


def test_lessons_show_stored_pictures_and_exercises_theirs(site: Path) -> None:
    """As many pictures as the stored outputs have, and the tables beside them."""
    seen = 0
    for path in ROOT.glob("notebooks/*.ipynb"):
        outputs = [each for cell in json.loads(path.read_text())["cells"] for each in cell.get("outputs", ())]
        pictures = sum("image/png" in each.get("data", {}) for each in outputs)
        page = (site / path.relative_to(ROOT)).with_suffix(".html").read_text(encoding="utf-8")
        assert page.count("<img") >= pictures, path
        seen += pictures
    assert seen > 30
    assert "gpulab-said" in (site / "notebooks" / "02_simt.html").read_text(encoding="utf-8")
    assert "gpulab-said" in (site / "exercises" / "saxpy-guard" / "saxpy-guard.html").read_text(encoding="utf-8")


def test_cells_of_hip_are_coloured_as_such(site: Path) -> None:
    page = (site / "notebooks" / "02_simt.html").read_text(encoding="utf-8")
    assert re.search(r'<span class="cp">%%hip\n?</span>', page)
    assert re.search(r'<span class="kt">void</span>', page)


def test_broken_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<h1 id="there">A</h1><a href="b.html#there">1</a><a href="gone.html">2</a><a href="b.html#gone">3</a>'
        '<a href="https://example.org/x">4</a><script src="https://example.org/x.js"></script><img src="no.png">'
    )
    (tmp_path / "b.html").write_text('<p id="there">B</p><a href="#gone">5</a>')
    assert website.broken(tmp_path) == [
        "a.html: gone.html leads to no file",
        "a.html: b.html#gone leads to no heading",
        "a.html: it loads https://example.org/x.js from elsewhere",
        "a.html: no.png leads to no file",
        "b.html: #gone leads to no heading",
    ]
