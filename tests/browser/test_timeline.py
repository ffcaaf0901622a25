"""The timeline in a browser: zoom, pan, selection by mouse and keys, the inside of a kernel, themes, hostile names."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

from gpulab.records import Activity, Counters, Launch, ModelledTime, Placement
from gpulab.views.table import visible
from gpulab.views.timeline import Timeline, timeline
from tests.browser.gallery import Gallery

HOSTILE = '<img src=x onerror=alert(1)></script>$x$ ${x} \u202e"'


def small(name: str = "saxpy") -> tuple[Activity, ...]:
    return (
        Activity("copy", "host to device", 0, 0, 0.0, 6.0, bytes=65536),
        Activity("fill", "memset", 0, 0, 6.0, 11.0, bytes=4),
        Activity("kernel", name, 0, 3, 11.0, 21.0, launch=0),
        Activity("event", "event 1", 0, 3, 21.0, 21.0),
        Activity("kernel", "scale", 0, 3, 21.0, 26.0, launch=1),
        Activity("wait", "event 1", 0, 4, 11.0, 21.0, waits_for=3),
        Activity("kernel", "total", 0, 4, 21.0, 30.0, launch=2),
        Activity("copy", "device to host", 0, 0, 30.0, 36.0, bytes=65536),
    )


def launch(name: str, us: float) -> Launch:
    placed = Placement(
        arch="gfx942", unit="CU", workgroups=100, waves=4, dies=8, units=38, simds=4, wave_slots=8, places=8,
        limit="wave slots", begin_us=1.5, step_us=0.001, group_us=us - 1.512, total_us=us,
    )  # fmt: skip
    time = ModelledTime(us, "latency", {}, 1.5, 2100, 4, 32)
    return Launch(name, "gfx942", 0, (100, 1, 1), (256, 1, 1), 0, 400, Counters(), timing=time, placed=placed)


def made(name: str = "saxpy") -> Timeline:
    return timeline(small(name), [launch(name, 10.0), launch("scale", 5.0), launch("total", 9.0)])


def shown(page: Page) -> str:
    return page.locator(".timeline-range").inner_text()


def thing(page: Page, label: str) -> Any:
    return page.locator(f'.timeline-thing[aria-label^="{label}"]')


def test_looks_as_stored(gallery: Gallery) -> None:
    page = gallery.mount(made())
    gallery.accessible(page)
    gallery.readable(page)
    gallery.compare(page, "timeline-light")
    page = gallery.mount(made(), theme="dark", width=600)
    thing(page, "kernel saxpy").click()
    page.get_by_text("100 of 304 CUs had work").wait_for()
    gallery.accessible(page)
    gallery.readable(page)
    gallery.compare(page, "timeline-dark")


def test_zoom_and_pan(gallery: Gallery) -> None:
    page = gallery.mount(made())
    assert shown(page) == "0.0 µs to 36.0 µs"
    page.get_by_role("button", name="Zoom in").click()
    assert shown(page) == "9.0 µs to 27.0 µs"
    page.get_by_role("button", name="Later").click()
    assert shown(page) == "18.0 µs to 36.0 µs"
    page.get_by_role("button", name="Earlier").click()
    page.get_by_role("button", name="Zoom out").click()
    assert shown(page) == "0.0 µs to 36.0 µs"
    box = page.locator(".timeline-picture").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] - 14, box["y"] + 60)
    page.mouse.wheel(0, -100)  # without Ctrl the page scrolls
    page.wait_for_timeout(50)
    assert shown(page) == "0.0 µs to 36.0 µs"
    page.keyboard.down("Control")
    page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    page.wait_for_function("document.querySelector('.timeline-range').textContent.startsWith('7.2')")
    page.get_by_role("button", name="Show the whole time").click()
    assert shown(page) == "0.0 µs to 36.0 µs"
    gallery.compare_elements(page, "timeline-zoom-and-pan")


def test_details_of_what_is_selected(gallery: Gallery) -> None:
    page = gallery.mount(made())
    thing(page, "copy host to device").click()
    facts = page.locator(".timeline-facts")
    assert "65,536 (64 KiB)" in facts.inner_text()
    assert "10.9 GB/s" in facts.inner_text()  # 65,536 bytes in 6 µs
    thing(page, "kernel saxpy").click()
    page.get_by_text("100 of 304 CUs had work").wait_for()
    assert "latency" in facts.inner_text()
    page.get_by_label("Die").select_option("3")
    page.get_by_text("XCD 3 CU 0").wait_for()
    thing(page, "stream 2 waits").click(force=True)
    page.get_by_role("heading", name="stream 2 waits for event 1: 10 µs").wait_for()
    assert page.get_by_text("had work").count() == 0
    gallery.compare_elements(page, "timeline-details-of-what-is-selected")


def test_a_device_of_one_die_offers_no_choice_of_dies(gallery: Gallery) -> None:
    placed = Placement(
        arch="gfx1100", unit="WGP", workgroups=60, waves=8, dies=1, units=48, simds=4, wave_slots=16, places=8,
        limit="wave slots", begin_us=1.5, step_us=0.001, group_us=8.0, total_us=10.0,
    )  # fmt: skip
    time = ModelledTime(10.0, "latency", {}, 1.5, 2500, 8, 64)
    one = Launch("saxpy", "gfx1100", 0, (60, 1, 1), (256, 1, 1), 0, 480, Counters(), timing=time, placed=placed)
    page = gallery.mount(timeline((Activity("kernel", "saxpy", 0, 3, 0.0, 10.0, launch=0),), [one]))
    thing(page, "kernel saxpy").click()
    page.get_by_text("WGPs had work").wait_for()
    assert page.get_by_label("Die").count() == 0
    assert page.get_by_text("null").count() == 0
    gallery.compare_elements(page, "timeline-a-device-of-one-die-offers-no-choice-of")


def test_keys_alone(gallery: Gallery) -> None:
    page = gallery.mount(made())
    page.get_by_role("button", name="Show the whole time").focus()
    page.keyboard.press("Tab")
    focused = "document.activeElement.getAttribute('aria-label')"
    assert page.evaluate(focused).startswith("copy host to device")
    page.keyboard.press("ArrowRight")
    assert page.evaluate(focused).startswith("memset")
    page.keyboard.press("ArrowDown")
    assert page.evaluate(focused).startswith("kernel saxpy")
    page.keyboard.press("Enter")
    page.get_by_text("100 of 304 CUs had work").wait_for()
    assert page.evaluate(focused).startswith("kernel saxpy")  # still there after drawing anew
    assert "kernel saxpy" in page.locator(".gpulab-live").inner_text()
    page.keyboard.press("+")
    assert shown(page) == "8.0 µs to 26.0 µs"  # what is selected stays where it is
    assert page.evaluate(focused).startswith("kernel saxpy")
    page.keyboard.press("]")
    assert shown(page) == "17.0 µs to 35.0 µs"
    page.keyboard.press("0")
    assert shown(page) == "0.0 µs to 36.0 µs"
    gallery.compare_elements(page, "timeline-keys-alone")


def test_very_many_are_shown_one_by_one_when_zoomed(gallery: Gallery) -> None:
    many = [Activity("kernel", "k", 0, 0, 2.0 * k, 2.0 * k + 1, launch=0) for k in range(5_000)]
    page = gallery.mount(timeline(many, [launch("k", 1.6)]))
    assert "neighbours are drawn as one" in shown(page)
    for _ in range(7):
        page.get_by_role("button", name="Zoom in").click()
    page.wait_for_function("!document.querySelector('.timeline-range').textContent.includes('neighbours')")
    assert page.locator(".timeline-thing").count() in range(38, 42)  # 10,000 / 2**7 µs, one every 2 µs
    gallery.compare_elements(page, "timeline-very-many-are-shown-one-by-one-when-zoom")


def test_hostile_names_stay_text(gallery: Gallery) -> None:
    page = gallery.mount(made(HOSTILE))
    label = page.locator(".timeline-thing").nth(2).get_attribute("aria-label")
    assert visible(HOSTILE) in (label or "")
    page.locator(".timeline-thing").nth(2).click()
    page.get_by_text("100 of 304 CUs had work").wait_for()
    assert page.locator("img, script").count() == 0
    assert visible(HOSTILE) in (page.locator(".timeline-facts").text_content() or "")


def test_a_walk(gallery: Gallery) -> None:
    """Each way to choose, zoom and move, one after the other."""
    rows = (
        *small(),
        Activity("copy", "device to device", 0, 3, 26.0, 26.01, bytes=3_000_000),
        Activity("copy", "x" * 40, 0, 5, 27.0, 35.0, bytes=5 << 30),
        Activity("wait", "event 1", 0, 5, 22.0, 22.0, waits_for=3),
    )
    page = gallery.mount(timeline(rows, [launch("saxpy", 10.0), launch("scale", 5.0), launch("total", 9.0)]))
    steps: list[tuple[Any, ...]] = [("click", ".timeline-thing", n) for n in range(11)]
    steps += [
        (
            "keys",
            ".timeline-thing[tabindex='0']",
            0,
            "Home ArrowLeft ArrowUp ArrowDown ArrowDown ArrowDown ArrowLeft "
            "ArrowLeft ArrowLeft ArrowRight ArrowUp ArrowUp Space Enter "
            "+ = ] [ - 0 x",
        )
    ]
    steps += [("click", ".timeline-thing", 2), ("choose", ".timeline-inside select", 0)]
    steps += [("click", ".gpulab-controls button", n) for n in (0, 0, 2, 3, 3, 1, 4)]
    steps += [
        ("wheel", ".timeline-picture", 0.9, -100),
        ("wheel", ".timeline-picture", 0.05, 100),
        ("wheel", ".timeline-picture", 0.5, -100),
    ]
    steps += [("wide", 420), ("wide", 600), ("click", ".gpulab-controls button", 4)]
    gallery.walk(page, "timeline", steps)


def test_times_of_every_size(gallery: Gallery) -> None:
    """Marks, widths and units of the shortest and the longest times."""
    for name, unit in (("nanoseconds", 0.00004), ("seconds", 40_000.0)):
        rows = (
            Activity("kernel", "saxpy", 0, 0, 0.0, 10 * unit, launch=0),
            Activity("copy", "host to device", 0, 0, 11 * unit, 11.01 * unit, bytes=1_500),
            Activity("fill", "memset", 0, 3, 40 * unit, 80 * unit, bytes=2 << 20),
        )
        page = gallery.mount(timeline(rows, [launch("saxpy", 10.0)]))
        gallery.walk(page, f"timeline-{name}", [("click", ".timeline-thing", n) for n in range(3)])
    gallery.walk(gallery.mount(timeline((), [])), "timeline-nothing", [])


def test_arrows_go_to_what_begins_nearest_in_another_stream(gallery: Gallery) -> None:
    """Of two that begin as near the earlier one; a stream without any is passed; at the edges nothing happens."""
    rows = [
        Activity("kernel", "low", 0, 0, 10.0, 11.0, launch=0), Activity("kernel", "near", 0, 1, 8.0, 9.0, launch=1),
        Activity("kernel", "as near", 0, 1, 12.0, 13.0, launch=2), Activity("kernel", "far", 0, 1, 0.0, 1.0, launch=3),
        Activity("kernel", "deep", 0, 2, 12.5, 20.0, launch=4),
    ]  # fmt: skip
    page = gallery.mount(timeline(rows, [launch(one.name, 1.0) for one in rows]))
    thing(page, "kernel low").click()
    seen = []
    for key in ("ArrowUp", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp", "ArrowLeft", "ArrowLeft", "ArrowLeft"):
        page.keyboard.press(key)
        seen.append(page.evaluate("document.activeElement.getAttribute('aria-label')").split(" in ")[0])
    assert seen == [f"kernel {name}" for name in ("low", "near", "deep", "deep", "as near", "near", "far", "far")]
