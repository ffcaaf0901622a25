"""The GPU map in a browser: play, steps, the slider, units by mouse and keys, themes, hostile names."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

from gpulab.records import Counters, Launch, Placement
from gpulab.views.gpu_map import gpu_map
from gpulab.views.instrument import Instrument
from gpulab.views.table import visible
from tests.browser.gallery import Gallery

HOSTILE = '<img src=x onerror=alert(1)></script>$x$ ${x} \u202e"'
MI300X: dict[str, Any] = {
    "arch": "gfx942", "unit": "CU", "waves": 4, "dies": 8, "units": 38, "simds": 4, "wave_slots": 8, "places": 8,
    "limit": "wave slots", "begin_us": 1.5, "step_us": 0.001, "group_us": 0.7,
}  # fmt: skip
RX7900: dict[str, Any] = {
    "arch": "gfx1100", "unit": "WGP", "waves": 8, "dies": 1, "units": 48, "simds": 4, "wave_slots": 16, "places": 8,
    "limit": "wave slots", "begin_us": 2.9, "step_us": 0.0002, "group_us": 0.4,
}  # fmt: skip


def made(workgroups: int, total: float, device: dict[str, Any] | None = None, kernel: str = "saxpy") -> Instrument:
    placed = Placement(workgroups=workgroups, total_us=total, **(device or MI300X))
    return gpu_map(Launch(kernel, placed.arch, 0, (workgroups, 1, 1), (256, 1, 1), 0, 4, Counters(), placed=placed))


def counts(page: Page) -> list[str]:
    return [text.strip() for text in page.locator(".gpu-map-count").all_inner_texts()]


def test_looks_as_stored(gallery: Gallery) -> None:
    page = gallery.mount(made(40, 2.205))
    page.locator(".gpu-map-slots").wait_for()
    gallery.accessible(page)
    gallery.readable(page)
    gallery.compare(page, "gpu-map-light")
    page = gallery.mount(made(700, 3.71, RX7900), theme="dark", width=600)
    page.locator(".gpu-map-slots").wait_for()
    gallery.accessible(page)
    gallery.readable(page)
    gallery.compare(page, "gpu-map-dark")


def test_it_fills_and_empties(gallery: Gallery) -> None:
    page = gallery.mount(made(5000, 3.617))
    assert counts(page)[1:] == ["2,432 running", "0 done", "304 of 304 CUs at work"]
    slider = page.get_by_role("slider")
    slider.fill("0")
    assert counts(page) == ["5,000 waiting for a place", "0 running", "0 done", "0 of 304 CUs at work"]
    slider.fill("1000")
    assert counts(page) == ["0 waiting for a place", "0 running", "5,000 done", "0 of 304 CUs at work"]
    page.get_by_role("button", name="One step back").click()
    assert counts(page)[2] != "5,000 done"
    page.get_by_role("button", name="Go to the moment").click()
    assert counts(page)[1] == "2,432 running"


def test_play_and_pause(gallery: Gallery) -> None:
    page = gallery.mount(made(40, 2.205))
    slider = page.get_by_role("slider")
    slider.fill("0")
    page.get_by_role("button", name="Play the launch").click()
    page.wait_for_function("document.querySelector('input[type=range]').value > 1")
    page.get_by_role("button", name="Pause").click()
    stopped = slider.input_value()
    page.wait_for_timeout(250)
    assert slider.input_value() == stopped
    # Nothing moves before somebody presses play.
    page = gallery.mount(made(40, 2.205))
    before = page.get_by_role("slider").input_value()
    page.wait_for_timeout(250)
    assert page.get_by_role("slider").input_value() == before


def test_a_unit_shows_its_wave_slots(gallery: Gallery) -> None:
    page = gallery.mount(made(5000, 3.617))
    page.get_by_role("button", name="XCD 2, CU 5:").click()
    page.get_by_role("heading", name="XCD 2, CU 5").wait_for()
    # On XCD 2 are workgroups 2, 10, 18, ...: the sixth of them is 42, and 38 further on 42 + 304.
    texts = page.locator(".gpu-map-slots tbody td").all_inner_texts()
    assert texts[0].split() == ["42", "wave", "0"]
    assert texts[1].split() == ["346", "wave", "0"]
    assert len(texts) == 32
    page.get_by_role("slider").fill("0")
    page.get_by_text("Nothing runs here now. In all it gets 17 workgroups").wait_for()
    page = gallery.mount(made(40, 2.205))
    page.get_by_role("button", name="XCD 2, CU 30:").click()
    page.get_by_text("Nothing ever runs here").wait_for()


def test_keys_alone(gallery: Gallery) -> None:
    page = gallery.mount(made(700, 3.71, RX7900))
    slider = page.get_by_role("slider")
    page.get_by_role("button", name="Play the launch").focus()
    page.keyboard.press("p")
    page.get_by_role("button", name="Pause").wait_for()
    page.keyboard.press("p")
    page.get_by_role("button", name="Play the launch").wait_for()
    slider.focus()
    page.keyboard.press("Home")
    assert slider.input_value() == "0"
    page.keyboard.press(".")
    page.keyboard.press(".")
    page.keyboard.press(",")
    assert slider.input_value() == "1"
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")  # to the map
    assert page.evaluate("document.activeElement.dataset.unit") == "0"
    page.keyboard.press("ArrowRight")  # the next one of the same shader engine
    page.get_by_role("heading", name="WGP 6 after").wait_for()
    page.keyboard.press("End")
    page.get_by_role("heading", name="WGP 47 after").wait_for()
    assert "WGP 47" in page.locator(".gpulab-live").inner_text()
    gallery.compare_elements(page, "gpu-map-keys-alone")


def test_hostile_names_stay_text(gallery: Gallery) -> None:
    page = gallery.mount(made(40, 2.205, kernel=HOSTILE))
    page.locator(".gpu-map-slots").wait_for()
    assert page.locator("img, script").count() == 0
    assert visible(HOSTILE) in (page.locator(".gpulab-title").text_content() or "")
    assert visible(HOSTILE) in (page.locator(".gpulab-words").text_content() or "")


def test_a_walk(gallery: Gallery) -> None:
    """Each way through the time and the units."""
    for name, shown in (("many", made(5000, 3.617)), ("few", made(40, 2.205)), ("one", made(1, 2.2, RX7900))):
        page = gallery.mount(shown)
        last = int(page.get_by_role("slider").get_attribute("max") or 0)
        steps: list[tuple[Any, ...]] = [("set", "input", 0, str(k)) for k in (0, last // 3, last // 2, last - 1, last)]
        steps += [("click", ".gpulab-controls button", n) for n in (2, 1, 1, 3, 2)]
        steps += [("keys", ".gpu-map-cell", 0, "ArrowRight ArrowDown ArrowUp ArrowLeft End Home . , x")]
        steps += [("click", ".gpu-map-cell", n) for n in (1, 30)] + [("wide", 500), ("wide", 410), ("wide", 858)]
        gallery.walk(page, f"gpu-map-{name}", steps, most=50)
