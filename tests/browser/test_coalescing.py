"""The coalescing instrument in a browser: choosing, pointing, keys, themes, hostile text."""

from __future__ import annotations

from typing import Any

from gpulab.views.coalescing import coalescing
from tests.browser.gallery import Gallery
from tests.views.test_coalescing import HOSTILE, LANES, access, launch

SHOWN = coalescing(
    launch(
        [
            access([128 * n for n in LANES], 5, "store", "out", "out[32 * i] = x[i + 1];"),
            access([4 * n + 4 if n < 63 else None for n in LANES], 5, text="out[32 * i] = x[i + 1];"),
        ],
        "copy",
    )
)


def test_pointing_with_the_mouse(gallery: Gallery) -> None:
    page = gallery.mount(SHOWN)
    assert page.locator(".coalescing-lane").count() == 64
    assert page.locator(".coalescing-bar").count() == 64
    page.locator(".coalescing-lane").nth(3).hover()
    assert page.locator(".coalescing-detail").inner_text() == (
        "Lane 3 asks for 4 bytes at out + 384 (line 4, from byte 0 of it). No other lane uses this line."
    )
    assert page.locator(".coalescing-bar.on").count() == 1
    page.locator(".coalescing-bar").nth(63).hover()
    assert "Lane 63 uses 4 of its 128 bytes" in page.locator(".coalescing-detail").inner_text()
    gallery.accessible(page)
    gallery.readable(page)
    gallery.compare(page, "coalescing-light")


def test_choosing_another_instruction_with_keys_alone(gallery: Gallery) -> None:
    page = gallery.mount(SHOWN, theme="dark")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    page.wait_for_function("document.querySelectorAll('.coalescing-bar').length === 2")
    assert "Consecutive." in page.locator(".coalescing-verdict").inner_text()
    assert page.locator(".coalescing-lane.off").count() == 1
    page.keyboard.press("Tab")  # the execution
    page.keyboard.press("ArrowUp")
    page.wait_for_timeout(300)  # drawn anew, with what Python answers
    assert page.get_by_label("Execution").evaluate("(select) => select === document.activeElement")
    page.keyboard.press("Tab")  # the lanes
    for _ in range(31):
        page.keyboard.press("ArrowRight")
    assert "Lane 31 asks for 4 bytes at x + 128" in page.locator(".coalescing-detail").inner_text()
    assert page.locator(".coalescing-lane.shares").count() == 31
    gallery.accessible(page)
    gallery.readable(page)
    gallery.compare(page, "coalescing-dark")
    page.keyboard.press("End")
    assert "Lane 63 is not active" in page.locator(".coalescing-detail").inner_text()
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert "Line 2 begins at x + 128. Lanes 31–62 use 128" in page.locator(".coalescing-detail").inner_text()
    page.keyboard.press("Escape")
    assert "Point at a lane" in page.locator(".coalescing-detail").inner_text()


def test_hostile_text_is_text(gallery: Gallery) -> None:
    page = gallery.mount(coalescing(launch([access([4 * n for n in LANES], name=HOSTILE, text=HOSTILE)], HOSTILE)))
    page.locator(".coalescing-lane").nth(0).hover()
    assert page.locator("img").count() == 0
    assert "<img src=x onerror=alert(1)></script>$x$ ${x}" in page.locator(".coalescing-code").inner_text()
    assert "<img" in page.locator(".coalescing-detail").inner_text()


def test_a_narrow_page_is_drawn_to_fit(gallery: Gallery) -> None:
    page = gallery.mount(SHOWN, width=480)
    page.wait_for_timeout(100)
    assert page.evaluate("document.documentElement.scrollWidth") <= 480
    gallery.readable(page)
    page.set_viewport_size({"width": 860, "height": 700})
    page.wait_for_function("document.querySelector('.coalescing-svg').clientWidth > 700")


def test_a_launch_without_records(gallery: Gallery) -> None:
    page = gallery.mount(coalescing(launch([])))
    assert "gpulab.profile()" in page.locator(".gpulab").inner_text()


def test_a_walk(gallery: Gallery) -> None:
    """Each way to choose and to point: lanes that "
    "straddle two lines, that are not active, that share."""
    shown = coalescing(
        launch(
            [
                access([8 * n + 124 for n in LANES], 7, bytes=8, text="y = pair[i];"),
                access([4 * (n // 16) for n in LANES], 8, "store"),
                access([None] * 63 + [4096], 9),
                access([512 * (n % 20) + 4 * n for n in LANES], 10, "atomic"),
            ],
            "mixed",
        )
    )
    page = gallery.mount(shown)
    steps: list[tuple[Any, ...]] = [("choose", "select", 0)]
    for n in (1, 2, 3, 0):
        steps += [("set", "select", 0, str(n))]
        steps += [("point", ".coalescing-lane", 0), ("point", ".coalescing-lane", 63), ("leave", ".coalescing-lane", 0)]
        steps += [("point", ".coalescing-bar", 0), ("point", ".coalescing-bar", -1)]
    steps += [
        ("keys", ".coalescing-lane", 0, "ArrowRight End ArrowLeft Home ArrowLeft Escape"),
        ("keys", ".coalescing-bar", 0, "ArrowRight ArrowRight End Escape"),
        ("wide", 350),
        ("wide", 700),
    ]
    gallery.walk(page, "coalescing", steps, most=75)
