"""The gallery's own promises: what `accessible` and `readable` find, and that nothing waits without a limit."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

import pytest

from gpulab.views import instrument
from tests.browser import gallery as galleries

SCRIPTS = sorted(Path(str(resources.files("gpulab.views") / "static")).glob("*.js"))
IMPORTED = """
async (code) => {
  const found = await import(URL.createObjectURL(new Blob([code], {type: "text/javascript"})));
  return [Object.keys(found), typeof found.default?.render];
}
"""

FINE = """
<div class="gpulab" style="width: 500px"><h4 id="title">Lanes</h4><button>Next</button>
<label>Stride <input type="range"></label><p style="color: #767676; background: #fff">4.54 to 1</p>
<svg role="img" aria-label="bars" width="200" height="40"><rect width="100" height="40" fill="#0072b2"></rect>
<text x="10" y="20" fill="white" font-size="12">on blue</text><text x="110" y="20" font-size="12">beside</text></svg>
</div>
"""
WRONG = [
    ("accessible", "<button></button>", r"button \(role button\): has no name"),
    ("accessible", "<div tabindex='0'></div>", "has no name"),
    ("accessible", "<input type='range'>", r"input \(role slider\): has no name"),
    ("accessible", "<p id='title'>x</p>", "the id title is there 2 times"),
    ("accessible", "<button aria-describedby='nowhere'>x</button>", "names nowhere, which is not there"),
    ("accessible", "<button aria-label='to the end'>Last</button>", "“last” stands on it"),
    ("accessible", "<button tabindex='2'>x</button>", "tabindex above 0"),
    ("accessible", "<table><tr><th scope='col'></th><th>x</th></tr></table>", "a heading of a table without a word"),
    ("accessible", "<svg width='9' height='9'><rect width='9' height='9'></rect></svg>", "needs role and aria-label"),
    ("accessible", "<p style='color: #777; background: #fff'>x</p>", r"contrast 4\.48"),  # 4.48: WebAIM's calculator
    ("accessible", "<p style='opacity: 0.5'>x</p>", "contrast 3.9"),
    ("accessible", "<p style='color: #fff; background: linear-gradient(#000, #fff)'>x</p>", r"contrast 1\.00"),
    (
        "accessible",
        "<svg role='img' aria-label='a' width='90' height='30'><rect width='90' height='30' fill='#0072b2'></rect>"
        "<text x='4' y='20'>black</text></svg>",
        r'"black" in text: contrast 4\.0',
    ),
    ("readable", "<p style='font-size: 10px'>x</p>", r"10\.0 px, at least 11"),
    (
        "readable",
        "<svg width='100' height='20' viewBox='0 0 200 40'><text y='30' font-size='16'>x</text></svg>",
        r"8\.0 px",
    ),
    (
        "readable",
        "<div style='overflow: hidden; width: 50px; white-space: pre'>too long for this</div>",
        "can be seen",
    ),
    ("readable", "<div style='width: 600px'>x</div>", "reaches out|500 can be seen"),
    (
        "readable",
        "<svg width='60' height='20'><text x='40' y='15'>beyond</text></svg>",
        "cut off",
    ),
    (
        "readable",
        "<svg width='90' height='30'><text y='20'>one</text><text x='9' y='20'>two</text></svg>",
        '"one" and "two" lie on top of each other',
    ),
]


def test_nothing_to_complain_about(gallery: galleries.Gallery) -> None:
    page = gallery.browser.new_page()
    page.set_content(f"<!doctype html><html lang='en'>{FINE}")
    gallery.accessible(page)
    gallery.readable(page)


@pytest.mark.parametrize(("check", "html", "complaint"), WRONG, ids=[wrong[2][:24] for wrong in WRONG])
def test_what_is_wrong_is_found(gallery: galleries.Gallery, check: str, html: str, complaint: str) -> None:
    page = gallery.browser.new_page()
    page.set_content(f"<!doctype html><html lang='en'>{FINE}")
    page.evaluate("(html) => { document.querySelector('.gpulab').insertAdjacentHTML('beforeend', html); }", html)
    with pytest.raises(AssertionError, match=complaint):
        getattr(gallery, check)(page)


def test_a_check_of_nothing_is_a_complaint(gallery: galleries.Gallery) -> None:
    page = gallery.browser.new_page()
    with pytest.raises(AssertionError, match=r"nothing on the page is \.gpulab"):
        gallery.accessible(page)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_scripts_are_modules_as_jupyter_gets_them(gallery: galleries.Gallery, script: Path) -> None:
    """Each parses, and gives Jupyter nothing but `default`; what only others import needs no `render`."""
    page = gallery.browser.new_page()
    names, render = page.evaluate(IMPORTED, instrument.module(script.stem))
    if "default" in names:
        assert names == ["default"]
        assert render == "function"
    else:
        others = [other.read_text(encoding="utf-8") for other in SCRIPTS if other != script]
        assert any(f'from "./{script.name}"' in other for other in others), f"nothing imports {script.name}"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_every_export_is_used(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    elsewhere = "\n".join(other.read_text(encoding="utf-8") for other in SCRIPTS if other != script)
    for name in re.findall(r"^export (?:async )?(?:function|const|class|let) (\w+)", text, re.M):
        assert len(re.findall(rf"\b{name}\b", elsewhere)) >= 2, f"{script.name} exports {name}, which nothing uses"


def test_a_script_without_end_is_ended(browser_gallery: galleries.Gallery) -> None:
    page = browser_gallery.browser.new_page()
    with pytest.raises(galleries.TooSlow, match="counting took longer than 1 s"), galleries.limit(1, "counting"):
        page.evaluate("for (;;);")
    assert not browser_gallery.alive


def test_then_there_is_a_new_browser(gallery: galleries.Gallery) -> None:
    assert gallery.alive
    assert gallery.browser.new_page().evaluate("1 + 1") == 2
