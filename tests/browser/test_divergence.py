"""Divergence in a browser: strips, branches, a wave over time, by mouse and keys, themes, hostile text."""

from __future__ import annotations

from typing import Any

import pytest

from gpulab.views.divergence import divergence
from gpulab.views.table import visible
from tests.browser.gallery import Gallery
from tests.views.test_divergence import HOSTILE, TEXT, launch, trace

ONE = divergence(launch())
TWO = divergence(launch(), launch(arch="gfx1100"))
WAVE = divergence(trace())
FOCUSED = "document.activeElement.getAttribute('aria-label')"


def test_lines_and_branches_with_the_mouse(gallery: Gallery) -> None:
    page = gallery.mount(ONE)
    rows = page.locator(".lines-table tbody tr")
    assert rows.count() == 7
    assert rows.nth(2).inner_text().split()[-3:] == ["50", "%", "640"]
    rows.nth(2).click()
    assert rows.count() == 9
    detail = page.locator(".divergence-detail")
    assert detail.inner_text() == (
        "Line 3, “a = 1;”: vector instructions executed 20 times, 20 of them with idle lanes; 32 of 64 lanes active "
        "on average; 640 lane-slots wasted (20 % of the kernel's); never active: lanes 32–63."
    )
    page.locator(".divergence-branches tbody tr").click()
    assert page.evaluate(FOCUSED).startswith("Line 2, “if (lane < 32)”:")
    page.locator("select").select_option("with vector instructions")
    assert rows.count() == 6
    page.get_by_label("Open all lines").click()
    assert rows.count() == 10
    gallery.compare_elements(page, "divergence-lines-and-branches-with-the-mouse")


def test_wave64_beside_wave32(gallery: Gallery) -> None:
    page = gallery.mount(TWO)
    text = page.locator(".lines-table tbody tr").nth(2).inner_text().split()
    assert text[-6:] == ["50", "%", "640", "100", "%", "0"]
    assert page.locator(".lines-table tbody tr").nth(2).locator("svg").count() == 2
    gallery.compare(page, "divergence-light")


def test_a_wave_with_keys_alone(gallery: Gallery) -> None:
    page = gallery.mount(WAVE, theme="dark")
    time = page.get_by_role("slider")
    for _ in range(12):
        if page.evaluate("document.activeElement.type") == "range":
            break
        page.keyboard.press("Tab")
    said = page.locator(".divergence-life .divergence-detail")
    assert said.inner_text() == "Line 2, “if (lane < 32)”: all 64 lanes active."
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    assert time.input_value() == "4"
    assert said.inner_text() == "Line 5, “b = 2;”: 32 of 64 lanes active: 32–63."
    assert page.locator(".lines-here .lines-number").inner_text() == "5"
    gallery.compare(page, "divergence-dark")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "true"
    page.keyboard.press("ArrowDown")
    assert page.evaluate(FOCUSED).startswith("Instruction “v_mov_b32 v1, 1”: executed 1 time, 1 of them")
    page.keyboard.press("Escape")
    gallery.compare_elements(page, "divergence-a-wave-with-keys-alone")


def test_pointing_at_a_time(gallery: Gallery) -> None:
    page = gallery.mount(WAVE)
    box = page.locator(".divergence-time").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] * (52 + 700 * 2.5 / 8) / 764, box["y"] + 30)
    assert page.get_by_role("slider").input_value() == "2"
    assert "lanes active: 0–31" in page.locator(".divergence-life .divergence-detail").inner_text()


@pytest.mark.parametrize(("theme", "width"), [("light", 860), ("dark", 600)])
def test_everybody_can_use_it(gallery: Gallery, theme: str, width: int) -> None:
    for shown in (TWO, WAVE):
        page = gallery.mount(shown, theme, width)
        page.get_by_label("Open all lines").click()
        gallery.accessible(page)
        gallery.readable(page)


def test_hostile_text_is_text(gallery: Gallery) -> None:
    text = TEXT.replace("a = 1;", f"a = 1; // {HOSTILE}")
    for shown in (divergence(launch(text, kernel=HOSTILE)), divergence(trace(text=text, kernel=HOSTILE))):
        page = gallery.mount(shown)
        assert page.locator(".gpulab img, .gpulab script").count() == 0
        assert visible(HOSTILE) in (page.locator(".lines-table").text_content() or "")


def test_a_walk(gallery: Gallery) -> None:
    """Each way to choose, to open and to go through the time."""
    for name, shown in (("one", ONE), ("two", TWO), ("wave", WAVE)):
        page = gallery.mount(shown)
        steps: list[tuple[Any, ...]] = [
            ("choose", "select", 0),
            ("click", "[aria-label='Open all lines into their instructions']", 0),
        ]
        steps += [
            (
                "keys",
                ".lines-table [tabindex='0']",
                0,
                "Home ArrowDown ArrowDown ArrowRight ArrowRight ArrowDown ArrowLeft "
                "ArrowLeft ArrowUp Enter Space End ArrowUp x",
            )
        ]
        steps += [("click", ".lines-table tbody tr", n) for n in (1, 2, 2)]
        if page.locator(".divergence-branches").count():
            heads = page.locator(".divergence-branches th button").count()
            steps += [("click", ".divergence-branches th button", n) for n in range(heads)]
            steps += [
                ("click", ".divergence-branches tbody tr", 0),
                ("keys", ".divergence-branches tbody tr", 0, "x Enter"),
            ]
        if page.locator(".divergence-time").count():
            last = int(page.get_by_role("slider").first.get_attribute("max") or 0)
            steps += [("set", "input", 0, str(k)) for k in range(last + 1)]
            steps += [("click", ".divergence-time", 0, share) for share in (0.01, 0.08, 0.3, 0.5, 0.7, 0.97, 0.995)]
        gallery.walk(page, f"divergence-{name}", steps, most=80)
