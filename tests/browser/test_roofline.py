"""The roofline chart in a browser: choices, points and roofs by mouse and keys, themes, hostile names."""

from __future__ import annotations

from typing import Any

from gpulab.records import AccessCost, Counters, InstructionCost, Launch, ModelledTime
from gpulab.views.roofline import roofline
from gpulab.views.table import visible
from tests.browser.gallery import Gallery

HOSTILE = "<img src=x onerror=alert(1)></script>${x}$x$\u202egnp"


def launch(
    kernel: str, us: float, fmas: int, memory_us: float, lds: int = 0, limiter: str = "HBM3 bandwidth"
) -> Launch:
    parts = {"HBM3 bandwidth": memory_us * 2100, "Infinity Cache bandwidth": memory_us * 1500, limiter: us * 2000}
    amounts = (("fma_f32", 1), ("valu_clocks", 4))
    fma = InstructionCost(None, "v_fmac_f32_e32 v0, v1, v2", fmas, 64 * fmas, amounts, flops=("fp32 plain", 2))
    accesses = [
        AccessCost(None, "global_load_dword", "global", "load", 4, 1000, 2_000_000, line_bytes=128, l2_requests=90_000)
    ]
    if lds:
        accesses.append(AccessCost(None, "ds_read_b32", "lds", "load", 4, 1000, lds))
    return Launch(
        kernel=kernel, arch="gfx942", device=0, grid=(1, 1, 1), block=(64, 1, 1), lds_bytes=0, waves=1,
        counters=Counters({}), timing=ModelledTime(us, limiter, parts, 1.0, 2100, 32, 32),
        instructions=(fma,),
        accesses=tuple(accesses),
    )  # fmt: skip


NAIVE = launch("naive", 500, 16_000_000, 60.0, limiter="L1")
TILED = launch("tiled", 120, 16_000_000, 6.0, 1_900_000_000, limiter="LDS")
MANY = [launch("saxpy", 10, 65_000, 8.0), launch("saxpy", 12, 65_000, 8.0), launch("copy", 7, 0, 5.0), TILED]


def test_looks_as_stored(gallery: Gallery) -> None:
    page = gallery.mount(roofline([NAIVE], [TILED]))
    gallery.accessible(page)
    gallery.readable(page)
    gallery.compare(page, "roofline-light")
    page = gallery.mount(roofline(MANY), theme="dark", width=600)
    page.get_by_role("combobox", name="FLOP per byte of").select_option("all")
    gallery.accessible(page)
    gallery.readable(page)
    gallery.compare(page, "roofline-dark")


def test_every_axis_can_be_read(gallery: Gallery) -> None:
    for theme, width in (("light", 600), ("dark", 860)):
        page = gallery.mount(roofline(MANY, [TILED, NAIVE]), theme=theme, width=width)
        page.get_by_text("Roofs", exact=True).click()
        for level in ("LDS", "L1", "L2", "Infinity Cache", "memory", "all"):
            page.get_by_role("combobox", name="FLOP per byte of").select_option(level)
            gallery.readable(page)
        gallery.accessible(page)


def test_choices(gallery: Gallery) -> None:
    page = gallery.mount(roofline(MANY))
    assert page.locator(".gpulab-roof-point").count() == 2  # copy has no operations: it stands below
    assert "copy: 7 µs" in page.locator(".gpulab-roof-facts").inner_text()
    page.get_by_label("A point is").select_option("launch")
    assert page.locator(".gpulab-roof-point").count() == 3
    page.get_by_role("combobox", name="FLOP per byte of").select_option("LDS")
    assert page.locator(".gpulab-roof-point").count() == 1
    assert "saxpy #0: not on this axis, it moves no bytes of LDS." in page.locator(".gpulab-roof-facts").inner_text()
    page.get_by_text("LDS 81.7 TB/s").wait_for()
    page.get_by_role("combobox", name="FLOP per byte of").select_option("memory")
    page.get_by_text("HBM3 4.35 TB/s").wait_for()
    page.get_by_label("Rates").select_option("peak")
    page.get_by_text("HBM3 5.3 TB/s").wait_for()
    page.get_by_text("Roofs", exact=True).click()
    page.get_by_label("FP16 matrix (MFMA)").check()
    page.get_by_text("FP16 matrix (MFMA) 1.31 PFLOP/s").wait_for()


def test_points_and_roofs_by_mouse(gallery: Gallery) -> None:
    page = gallery.mount(roofline([NAIVE], [TILED]))
    tip = page.get_by_role("tooltip")
    page.locator(".gpulab-roof-point").nth(1).hover()
    assert tip.inner_text().splitlines()[0] == "tiled (after)"
    page.locator(".gpulab-roof-point").nth(0).click()
    assert page.locator(".gpulab-words").inner_text().startswith("naive: 500 µs (modelled)")
    page.locator(".gpulab-roof-hit").last.hover(force=True)
    assert "achievable" in tip.inner_text()
    assert "peak" in tip.inner_text()
    assert page.locator(".gpulab-roof-arrow").count() == 1
    gallery.compare_elements(page, "roofline-points-and-roofs-by-mouse")


def test_keys_alone(gallery: Gallery) -> None:
    page = gallery.mount(roofline([NAIVE], [TILED]))
    page.get_by_label("Rates").focus()
    page.keyboard.press("Tab")  # the roofs
    tip = page.get_by_role("tooltip")
    assert "bandwidth" in tip.inner_text()
    page.keyboard.press("End")
    assert "FLOP/s" in tip.inner_text()
    page.keyboard.press("Tab")  # the points
    assert tip.inner_text().startswith("naive (before)")
    page.keyboard.press("ArrowRight")
    assert tip.inner_text().startswith("tiled (after)")
    assert page.locator(".gpulab-words").inner_text().startswith("tiled: 120 µs")
    assert page.locator(".gpulab-live").inner_text().startswith("tiled: 120 µs")
    page.keyboard.press("Escape")
    assert tip.is_hidden()
    gallery.compare_elements(page, "roofline-keys-alone")


def test_a_roof_just_below_another_has_its_name_below(gallery: Gallery) -> None:
    """The lines of L2 and Infinity Cache are less apart than a name is high; those of HBM3 and Infinity Cache more."""
    page = gallery.mount(roofline([NAIVE]))
    page.get_by_text("Roofs", exact=True).click()
    for name in ("L2", "Infinity Cache"):
        page.get_by_role("checkbox", name=name, exact=True).check()
    names = page.locator(".gpulab-roofline text[transform][dy]")
    found = names.evaluate_all("(all) => all.map((one) => [one.textContent, one.getAttribute('dy')])")
    assert found == [["L2 15.5 TB/s", "-5"], ["Infinity Cache 11.9 TB/s", "14"], ["HBM3 4.35 TB/s", "-5"]]


def test_names_are_text(gallery: Gallery) -> None:
    page = gallery.mount(roofline([launch(HOSTILE, 10, 65_000, 8.0), launch(HOSTILE, 10, 0, 8.0), MANY[2]]))
    assert page.locator("img").count() == 0
    assert page.locator(".gpulab script").count() == 0
    page.locator(".gpulab-roof-point").first.hover()
    assert visible(HOSTILE) in page.get_by_role("tooltip").inner_text()
    assert visible(HOSTILE) in page.locator(".gpulab-words").inner_text()


def test_a_walk(gallery: Gallery) -> None:
    """Each way to choose and to point, one after the other."""
    for number, shown in enumerate((roofline(MANY), roofline([NAIVE, MANY[0]], [TILED, MANY[1]]))):
        page = gallery.mount(shown)
        steps: list[tuple[Any, ...]] = [("choose", "select", 0), ("choose", "select", 1)]
        steps += [("choose", "select", 2)] if number == 0 else []
        steps += [("set", "input", n, True) for n in (0, 1, 4, 6, 8)] + [("set", "input", n, False) for n in (0, 6)]
        steps += [
            ("set", "select", 0, "memory"),
            ("keys", ".gpulab-roof-point", 0, "End ArrowLeft Home Escape"),
            ("keys", ".gpulab-roof-hit", 0, "ArrowRight End Escape"),
        ]
        steps += [("click", ".gpulab-roof-point", n) for n in (0, -1)] + [
            ("point", ".gpulab-roof-point", n) for n in (0, -1)
        ]
        steps += [("wide", 330), ("wide", 1200)]
        gallery.walk(page, f"roofline-{number}", steps, most=120)
