"""Profile by line in a browser: measures, order, opening lines by mouse and keys, differences, themes, hostile text."""

from __future__ import annotations

from typing import Any

import pytest

from gpulab.views.source import source
from gpulab.views.table import visible
from tests.browser.gallery import Gallery
from tests.views.test_source import HOSTILE, TEXT, launch

ONE = source(launch())
TWO = source(launch(), "conflicts", launch(TEXT.replace("  // nothing", "  // padded"), conflicts=0))


def test_opening_lines_with_the_mouse(gallery: Gallery) -> None:
    page = gallery.mount(ONE)
    rows = page.locator(".lines-table tbody tr")
    assert rows.count() == 5
    rows.nth(3).click()
    assert rows.count() == 7
    assert "v_add_u32 v0" in rows.nth(4).inner_text()
    page.get_by_label("Heat").select_option("conflicts")
    assert page.locator(".lines-table th").nth(2).inner_text() == "conflicts"
    assert rows.nth(1).inner_text().split()[-3:] == ["62", "100", "%"]
    page.get_by_label("Order").select_option("hottest first")
    assert "t[i]" in rows.nth(0).inner_text()
    page.get_by_label("Open all lines").click()
    assert rows.count() == 7  # three costly lines with four instructions
    page.get_by_text("Table of all numbers").click()
    page.get_by_role("button", name="stall clocks").click()
    assert page.locator(".source-table tbody tr").nth(0).inner_text().startswith("4")
    page.locator(".source-table tbody tr").nth(2).click()
    assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith("line 7")
    gallery.compare_elements(page, "source-opening-lines-with-the-mouse")


def test_keys_alone(gallery: Gallery) -> None:
    page = gallery.mount(ONE, theme="dark")
    for _ in range(5):
        page.keyboard.press("Tab")
    focused = "document.activeElement.getAttribute('aria-label')"
    assert page.evaluate(focused) == "line 4: a = t[i];; 10 wave instructions"  # the first that costs something
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "true"
    page.keyboard.press("ArrowDown")
    assert page.evaluate(focused) == "instruction: v_add_u32 v0; 28 wave instructions"
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(focused).startswith("line 6")
    gallery.compare(page, "source-dark")
    page.keyboard.press("ArrowLeft")
    assert page.locator(".lines-table tbody tr").count() == 5
    page.keyboard.press("End")
    assert page.evaluate(focused).startswith("line 7")


def test_differences(gallery: Gallery) -> None:
    page = gallery.mount(TWO)
    text = page.locator(".lines-table tbody tr").all_inner_texts()
    assert "62" in text[1]
    assert text[1].endswith("−62")
    assert [row[0] for row in text[2:4]] == ["−", "+"]
    gallery.compare(page, "source-light")


@pytest.mark.parametrize(("theme", "width"), [("light", 860), ("dark", 600)])
def test_everybody_can_use_it(gallery: Gallery, theme: str, width: int) -> None:
    for shown in (ONE, TWO):
        page = gallery.mount(shown, theme, width)
        page.get_by_label("Open all lines").click()
        page.locator(".source-table summary").click()
        gallery.accessible(page)
        gallery.readable(page)


def test_hostile_text_is_text(gallery: Gallery) -> None:
    page = gallery.mount(source(launch(TEXT.replace("a = t[i];", f"a = t[i]; // {HOSTILE}"), kernel=HOSTILE)))
    assert page.locator(".gpulab img, .gpulab script").count() == 0
    assert visible(HOSTILE) in (page.locator(".lines-table").text_content() or "")


def test_a_walk(gallery: Gallery) -> None:
    """Each way to choose, to sort and to open, of one launch and of two."""
    for name, shown in (("one", ONE), ("two", TWO)):
        page = gallery.mount(shown)
        steps: list[tuple[Any, ...]] = [("choose", "select", n) for n in range(3)] + [
            ("set", "select", 1, "cost"),
            ("choose", "select", 0),
        ]
        steps += [
            ("click", "[aria-label='Open all lines into their instructions']", 0),
            ("click", "[aria-label='Close all lines']", 0),
        ]
        steps += [
            ("set", "select", 1, "source"),
            (
                "keys",
                ".lines-table [tabindex='0']",
                0,
                "Home ArrowDown ArrowRight ArrowDown ArrowLeft ArrowLeft ArrowUp End Enter Space ArrowDown x",
            ),
        ]
        heads = page.locator(".source-table th button").count()
        steps += [("click", ".source-table th button", n) for n in range(heads) for _ in range(2)]
        steps += [
            ("click", ".source-table tbody tr", 1),
            ("keys", ".source-table tbody tr", 0, "x Space"),
            ("keys", ".source-table tbody tr", 1, "Enter"),
        ]
        gallery.walk(page, f"source-{name}", steps, most=80)
