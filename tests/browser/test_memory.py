"""The memory hierarchy in a browser: choosing, enlarging, keys, notes, themes, hostile text."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from gpulab.records import AccessCost, Counters, Launch, SourceLine
from gpulab.views import memory
from gpulab.views.table import visible
from tests.browser.gallery import Gallery

HOSTILE = "<img src=x onerror=alert(1)></script>${x}$y$\u202e"
LOAD = SourceLine("cell.hip", 5, 0, f"  float a = x[32 * i]; // {HOSTILE}")
STORE = SourceLine("cell.hip", 6, 0, "  y[i] = a;")


def launch(arch: str = "gfx1100") -> Launch:
    scattered = AccessCost(
        LOAD, "global_load_b32 v1, v[2:3], off", "global", "load", 4, 64, 2048, lines=2048, line_bytes=128,
        cache_hits=512, array_hits=256, l2_requests=1536, l2_hits=768, memory_bytes=768 * 128, dram_bytes=384 * 128,
    )  # fmt: skip
    store = AccessCost(
        STORE, "global_store_b32 v[2:3], v1, off", "global", "store", 4, 64, 2048, lines=64, line_bytes=128,
        l2_requests=128, l2_hits=64, written_bytes=8192,
    )  # fmt: skip
    lds = AccessCost(STORE, "ds_store_b32 v0, v1", "lds", "store", 4, 64, 2048, lds_lanes=2048)
    return Launch(
        f"gather{HOSTILE}", arch, 0, (16, 1, 1), (128, 1, 1), 512, 64, Counters({}), accesses=(scattered, store, lds)
    )


def test_with_the_mouse(gallery: Gallery) -> None:
    page = gallery.mount(memory.memory_hierarchy(launch()))
    assert page.get_by_text("19 % found").is_visible() is False  # nothing is invented
    assert page.get_by_text("12 % found").count() == 1  # 256 of 2,048 lines in L1
    cell = page.locator('[aria-label^="L1, global loads"]')
    cell.hover()
    assert "2,048 requests, 256 hits (12 %), 128 bytes each" in page.get_by_role("tooltip").inner_text()
    page.get_by_label("Show").select_option(label="line 6: y[i] = a;")
    expect(page.get_by_text("global loads")).to_have_count(0)  # Python answers in its own time
    assert page.get_by_text("100 % found in LDS").count() == 1
    assert "Stores made the L2 write 8 KiB" in page.locator(".gpulab-memory-sentence").inner_text()
    page.get_by_role("button", name="Make thickness logarithmic").click()
    assert page.get_by_text("logarithm of bytes").first.is_visible()
    gallery.compare_elements(page, "memory-with-the-mouse")


def test_with_keys_alone(gallery: Gallery) -> None:
    page = gallery.mount(memory.memory_hierarchy(launch()))
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert page.get_by_role("button", name="Make thickness").get_attribute("aria-pressed") == "true"
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")  # another choice
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Tab")
    note = page.get_by_role("tooltip")
    assert note.inner_text().startswith("global loads: 8,192 bytes asked for by lanes")
    page.keyboard.press("ArrowRight")
    assert note.inner_text().startswith("L1, global loads: 262,144 bytes arrive")
    page.keyboard.press("End")
    assert note.inner_text().startswith("LDS, LDS: 8,192 bytes")
    page.keyboard.press("ArrowUp")
    assert note.inner_text().startswith("L1, global stores")
    page.keyboard.press("Escape")
    assert not note.is_visible()


def test_hostile_text_is_text(gallery: Gallery) -> None:
    page = gallery.mount(memory.memory_hierarchy(launch(), launch("gfx942")))
    assert page.locator("img").count() == 0
    assert visible(HOSTILE) in page.get_by_role("heading", level=3).inner_text()
    assert page.locator("option", has_text="onerror").count() > 1


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_looks_as_before(gallery: Gallery, theme: str) -> None:
    page = gallery.mount(memory.memory_hierarchy(launch()), theme)
    gallery.accessible(page)
    gallery.readable(page)
    gallery.compare(page, f"memory-{theme}")


def test_narrow(gallery: Gallery) -> None:
    page = gallery.mount(memory.memory_hierarchy(launch()), width=600)
    assert page.evaluate("document.documentElement.scrollWidth <= 600")


def test_a_walk(gallery: Gallery) -> None:
    """Each choice, thick and thin, each kind and level."""
    for name, shown in (
        ("one", memory.memory_hierarchy(launch("gfx942"))),
        ("two", memory.memory_hierarchy(launch(), launch("gfx942"))),
    ):
        page = gallery.mount(shown)
        steps: list[tuple[Any, ...]] = [("choose", "select", n) for n in range(1 if name == "one" else 2)]
        steps += [("click", ".gpulab-controls button", 0), ("choose", "select", 0)]
        steps += [
            (
                "keys",
                ".gpulab-memory-cell",
                0,
                "ArrowRight ArrowDown ArrowDown ArrowRight ArrowUp ArrowUp "
                "ArrowLeft End ArrowUp Home ArrowLeft x Escape",
            )
        ]
        steps += [("point", ".gpulab-memory-cell", n) for n in (0, 2, -1)] + [("click", ".gpulab-controls button", 0)]
        gallery.walk(page, f"memory-{name}", steps, most=80)
