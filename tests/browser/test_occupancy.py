"""The occupancy calculator in a browser: sliders and fields, mouse and keys, themes, hostile names."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

from gpulab.architectures.residency import Demand
from gpulab.records import KernelResources
from gpulab.views.occupancy import occupancy
from gpulab.views.table import visible
from tests.browser.gallery import Gallery

KERNEL = KernelResources("blur", "gfx942", 100, 0, 40, 20_000)
POINT = Demand(100, 0, 40, 20_000, 256)


def shows(page: Page, text: str) -> None:
    """Wait until the sentence or the facts have this text."""
    page.locator(".gpulab-words, .gpulab-occ-facts").filter(has_text=text).first.wait_for()


def test_looks_as_stored(gallery: Gallery) -> None:
    page = gallery.mount(occupancy("gfx942", POINT, KERNEL))
    gallery.accessible(page)
    gallery.readable(page)
    gallery.compare(page, "occupancy-light")
    page = gallery.mount(occupancy("gfx1100", Demand(121), None), theme="dark", width=600)
    gallery.accessible(page)
    gallery.readable(page)
    gallery.compare(page, "occupancy-dark")


def test_every_curve_can_be_read(gallery: Gallery) -> None:
    for theme, width in (("light", 600), ("dark", 860)):
        page = gallery.mount(occupancy("gfx942", POINT, KERNEL), theme=theme, width=width)
        for axis in ("vgprs", "lds_bytes", "block_threads"):
            page.get_by_label("Curve over").select_option(axis)
            page.locator(f'.gpulab-occ-curve-panel svg[data-axis="{axis}"]').wait_for()
            gallery.readable(page)
        gallery.accessible(page)


def test_sliders_fields_and_choices(gallery: Gallery) -> None:
    page = gallery.mount(occupancy("gfx942", POINT, KERNEL))
    words = page.locator(".gpulab-words")
    assert "12 of 32 waves" in words.inner_text()
    page.get_by_label("LDS per workgroup (B)", exact=True).fill("0")
    page.keyboard.press("Tab")
    shows(page, "16 of 32 waves")
    shows(page, "With 96 instead of 100 VGPRs: 5 workgroups, 20 waves.")
    page.get_by_label("VGPRs per lane, slider", exact=True).first.fill("64")
    shows(page, "32 of 32 waves")
    assert page.get_by_label("VGPRs per lane", exact=True).first.input_value() == "64"
    # The kernel's own point stays in the curve, beside the present one.
    page.get_by_label("Curve over").select_option("vgprs")
    page.get_by_text("blur: 100").wait_for()
    page.get_by_text("now: 64").wait_for()
    page.get_by_label("Device").select_option("gfx1100")
    shows(page, "RX 7900 XTX (gfx1100) holds")
    assert page.get_by_label("AccVGPRs per lane", exact=True).is_hidden()
    page.get_by_label("A workgroup may use").select_option("cu")
    shows(page, "One CU of AMD Radeon")
    page.get_by_role("button", name="Back to the numbers of blur").click()
    shows(page, "12 of 32 waves")
    # Too large a number becomes the largest that there is.
    page.get_by_label("Threads per workgroup", exact=True).fill("99999")
    page.keyboard.press("Enter")
    shows(page, "1,024 threads at a time")


def test_keys_alone(gallery: Gallery) -> None:
    page = gallery.mount(occupancy("gfx942", POINT, KERNEL))
    page.get_by_label("LDS per workgroup (B), slider").focus()
    page.keyboard.press("Home")
    shows(page, "16 of 32 waves")
    page.get_by_label("Threads per workgroup, slider").focus()
    page.keyboard.press("ArrowRight")
    shows(page, "320 threads at a time")
    assert page.get_by_label("Threads per workgroup", exact=True).input_value() == "320"
    page.get_by_label("Curve over").focus()
    page.keyboard.press("Tab")  # to the first step of the curve
    page.keyboard.press("End")
    tip = page.get_by_role("tooltip")
    assert "workgroup" in tip.inner_text()
    assert "limit:" in tip.inner_text()
    page.keyboard.press("Escape")
    assert tip.is_hidden()
    assert page.locator(".gpulab-live").inner_text().startswith("One CU of AMD Instinct MI300X")
    gallery.compare_elements(page, "occupancy-keys-alone")


def test_mouse_shows_the_numbers_of_a_step(gallery: Gallery) -> None:
    page = gallery.mount(occupancy("gfx942", Demand(100)))
    page.locator(".gpulab-occ-step").nth(1).hover()
    said = page.get_by_role("tooltip").inner_text().splitlines()
    assert said[:2] == ["VGPRs per lane: 65 to 72", "28 waves (7 workgroups)"]


def test_names_are_text(gallery: Gallery) -> None:
    name = "<img src=x onerror=alert(1)></script>${x}$x$\u202egnp"
    page = gallery.mount(occupancy("gfx942", POINT, KernelResources(name, "gfx942", 100, 0, 40, 20_000)))
    assert page.locator("img").count() == 0
    assert page.locator(".gpulab script").count() == 0
    assert visible(name) in page.locator(".gpulab-title").inner_text()


def test_a_walk(gallery: Gallery) -> None:
    """Each control, each step of a curve, narrow and wide."""
    page = gallery.mount(occupancy("gfx942", POINT, KERNEL))
    steps: list[tuple[Any, ...]] = [("choose", "select", 2)]
    for n, value in (
        (1, "64.4"),
        (1, "0"),
        (3, "17"),
        (5, "107"),
        (7, "65536"),
        (9, "1"),
        (9, ""),
        (9, "1024"),
        (0, "128"),
        (6, "4096"),
        (8, "320"),
    ):
        steps.append(("set", "input", n, value))
    steps += [
        ("click", ".gpulab-controls button", 0),
        ("set", "select", 0, "gfx1100"),
        ("choose", "select", 1),
        ("set", "select", 2, "block_threads"),
        ("set", "select", 1, "cu"),
        ("set", "select", 0, "gfx90a"),
        ("click", ".gpulab-controls button", 0),
    ]
    steps += [
        ("keys", ".gpulab-occ-step", 0, "ArrowRight End ArrowLeft Home Escape"),
        ("point", ".gpulab-occ-step", 0),
        ("point", ".gpulab-occ-step", -1),
    ]
    steps += [
        ("set", "select", 2, "vgprs"),
        ("point", ".gpulab-occ-step", -1),
        ("set", "input", 1, "101"),
        ("set", "input", 1, "120"),
        ("wide", 340),
        ("wide", 690),
        ("wide", 1300),
    ]
    gallery.walk(page, "occupancy", steps, most=90)
    page = gallery.mount(occupancy("gfx1030", Demand(24), None))
    gallery.walk(
        page,
        "occupancy-free",
        [("choose", "select", 2), ("set", "input", 1, "25"), ("click", ".gpulab-controls button", 0)],
        most=90,
    )
