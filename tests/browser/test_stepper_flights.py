"""The wave stepper's strip of what is in flight: by mouse and by keys; what a wait waits for, in words."""

from __future__ import annotations

from dataclasses import replace

from playwright.sync_api import Page

from gpulab.views.stepper import stepper
from gpulab.views.table import visible
from tests.browser.gallery import Gallery
from tests.browser.test_stepper import at
from tests.views.traces import HOSTILE, small, waiting


def rows(page: Page) -> list[str]:
    """What the strip says in words, by counter."""
    return [" ".join(text.split()) for text in page.locator(".gpulab-flights-row").all_inner_texts()]


def test_looks_as_stored(gallery: Gallery) -> None:
    for theme, width, step in (("light", 860, 16), ("dark", 600, 9)):
        page = gallery.mount(stepper(waiting()), theme=theme, width=width)
        page.get_by_label("Step", exact=True).fill(str(step))
        at(page, step)
        gallery.accessible(page)
        gallery.readable(page)
        gallery.compare(page, f"stepper-flights-{theme}")


def test_waits_by_keys(gallery: Gallery) -> None:
    page = gallery.mount(stepper(waiting()))
    assert "lgkmcnt counts it; step 4, line 2, waits for it." in at(page, 1)
    assert rows(page) == ["lgkmcnt 1 + line 1: s_load_dwordx2 s[4:5], s[0:1], 0x0", "vmcnt 0 nothing"]
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert "lgkmcnt(1): nothing to wait for; 2 stay in flight." in at(page, 3)
    page.keyboard.press("w")
    said = at(page, 4)
    assert "lgkmcnt(0) waits for 2 accesses: steps 1 and 2, line 1; nothing stays in flight." in said
    assert "1 instruction since the newest of them." in said
    page.keyboard.press("w")
    assert "vmcnt(1) waits for 1 access: step 5, line 3; 1 stays in flight." in at(page, 7)
    assert rows(page)[1] == (
        "vmcnt 2 ✓ line 3: global_load_dword v4, v[2:3], off line 4: global_load_dword v5, v[2:3], off offset:4"
    )
    page.keyboard.press("Shift+W")
    at(page, 4)
    for step in (7, 9, 11, 16):
        page.keyboard.press("w")
        said = at(page, step)
    assert "vmcnt(1) waits for 2 accesses: steps 12 and 14, lines 3 and 7; 1 stays in flight." in said
    page.keyboard.press("End")
    page.keyboard.press("Shift+W")
    page.keyboard.press("w")
    assert "No wait after this step." in page.locator(".gpulab-live").inner_text()


def test_an_access_is_gone_to(gallery: Gallery) -> None:
    page = gallery.mount(stepper(waiting()))
    page.get_by_role("button", name="To the next step that waits for memory").click()
    at(page, 4)
    page.get_by_label("Step", exact=True).fill("21")
    assert "vmcnt counts it; no step of this trace waits for it." in at(page, 21)
    page.get_by_label("Step", exact=True).fill("16")
    at(page, 16)
    first = page.locator(".gpulab-chip").first
    first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    at(page, 14)
    picture = page.locator(".gpulab-flights-picture svg")
    box = picture.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 92 + (box["width"] - 106) * 4.5 / 23, box["y"] + 40)
    at(page, 5)
    assert "at step 5: 0 in lgkmcnt, 1 in vmcnt" in (picture.get_attribute("aria-label") or "")


def test_more_steps_at_a_time(gallery: Gallery) -> None:
    page = gallery.mount(stepper(waiting(turns=60)))
    page.get_by_label("Step", exact=True).fill("300")
    at(page, 300)
    bars = page.locator(".gpulab-flight")
    few = bars.count()
    page.get_by_label("Steps shown:").select_option(label="400")
    assert bars.count() > 5 * few
    at(page, 300)
    gallery.readable(page)


def test_no_memory_no_strip(gallery: Gallery) -> None:
    page = gallery.mount(stepper(small()))
    at(page, 1)
    assert page.locator(".gpulab-flights-picture").count() == 0
    assert page.get_by_role("button", name="To the next step that waits").get_attribute("aria-disabled") == "true"


def test_names_are_text(gallery: Gallery) -> None:
    trace = waiting(name=HOSTILE)
    first = replace(trace.instructions[0], text=HOSTILE)
    page = gallery.mount(stepper(replace(trace, instructions=(first, *trace.instructions[1:]))))
    at(page, 1)
    assert page.locator("img").count() == 0
    assert visible(HOSTILE)[:20] in rows(page)[0]
