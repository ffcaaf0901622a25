"""The LDS instrument in a browser: typing an index, remedies, phases, keys, errors, hostile text."""

from __future__ import annotations

from typing import Any

import pytest

from gpulab.records import AccessCost, AccessSample, SourceLine
from gpulab.views.instrument import Instrument
from gpulab.views.lds_banks import lds_banks, of_launch
from tests.browser.gallery import Gallery
from tests.views.test_lds_banks import HOSTILE, access, launch


def tile() -> AccessCost:
    """A wave64 of a block of 32 x 8 threads that reads a column of tile[32][32]."""
    at = tuple(4 * (lane % 32 * 32 + lane // 32) for lane in range(64))
    sample = AccessSample("worst", "lds", 0, (0, 0, 0), 0, (1 << 64) - 1, at, 4, 0, 64, 62)
    where = SourceLine("cell.hip", 9, 1, "out[i] = tile[x][y];")
    return AccessCost(
        where, "ds_read_b32 v1, v0", "lds", "load", 4, 1, 64, bank_cycles=64, conflict_cycles=62, samples=(sample,)
    )  # fmt: skip


@pytest.fixture(scope="module")
def kernel() -> Instrument:
    costs = launch([access(), tile()], "transpose")
    object.__setattr__(costs, "block", (32, 8, 1))
    return of_launch(costs)


def test_a_launch_and_its_remedies(gallery: Gallery, kernel: Instrument) -> None:
    page = gallery.mount(kernel)
    verdict = page.locator(".lds-verdict strong")
    assert verdict.inner_text() == "✕ 64 cycles instead of 2"
    assert page.get_by_label("Index of the element").input_value() == "x * 32 + y"
    gallery.accessible(page)
    gallery.readable(page)
    gallery.compare(page, "lds-banks-light")
    page.get_by_role("button", name="padded").click()
    page.wait_for_function("document.querySelector('.lds-verdict strong').textContent.startsWith('✓')")
    assert verdict.inner_text() == "✓ 2 cycles: no bank conflict"
    assert page.locator(".lds-note").inner_text().endswith("belongs to the access that it began with.")
    assert page.get_by_label("Index of the element").input_value() == "x * 33 + y"
    page.get_by_role("button", name="as in the kernel").click()
    page.wait_for_function("document.querySelector('.lds-verdict strong').textContent.startsWith('✕')")
    assert page.locator(".lds-note").is_hidden()
    page.locator(".lds-lane").nth(40).hover()
    assert page.locator(".lds-detail").inner_text() == (
        "Lane 40 (x = 8, y = 1) accesses bytes 1,028–1,031 of LDS: bank 1. 32 different dwords of one of its banks are "
        "accessed in phase 2: 32 cycles."
    )
    assert "Phase 2" in page.locator(".lds-phases [aria-pressed=true]").inner_text()
    page.get_by_label("Instruction, worst first").select_option("1")
    page.wait_for_function("document.querySelectorAll('.lds-phases button').length === 8")
    assert page.get_by_label("Index of the element").input_value() == ""


def test_typing_an_index_with_keys_alone(gallery: Gallery) -> None:
    page = gallery.mount(lds_banks("x"), theme="dark")
    page.keyboard.press("Tab")
    page.keyboard.press("End")
    page.keyboard.type(" * 8")  # taken after a pause
    page.wait_for_function("document.querySelector('.lds-verdict strong').textContent === '✕ 16 cycles instead of 2'")
    page.keyboard.type(" * ")
    page.wait_for_selector(".lds-problem:visible")
    assert "something is missing after ‘*’ (at character 7)" in page.locator(".lds-problem").inner_text()
    assert page.locator(".lds-index").get_attribute("aria-invalid") == "true"
    page.keyboard.type("2")
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('.lds-verdict strong').textContent === '✕ 32 cycles instead of 2'")
    assert not page.locator(".lds-problem").is_visible()
    assert page.locator(".lds-numbers caption").inner_text() == ""  # folded
    page.locator("details:has(.lds-numbers) summary").evaluate("(each) => each.click()")
    shown = page.locator(".lds-numbers tbody tr").first.locator("td").all_inner_texts()
    even = [", ".join(map(str, range(first, first + 32, 2))) for first in (0, 32)]  # 16 x mod 32 is 0 for an even x
    assert shown == ["0", f"16 ({even[0]})", f"16 ({even[1]})"]
    page.locator("details:has(.lds-numbers) summary").evaluate("(each) => each.click()")
    page.locator(".lds-index").focus()
    for _ in range(13):  # six buttons, four settings, the lanes, two phases
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.locator(".lds-phases button").nth(1).get_attribute("aria-pressed") == "true"
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    assert "bank" in page.locator(".lds-detail").inner_text()
    page.locator(".lds-lane").nth(0).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert page.locator(".lds-detail").inner_text().startswith("Lane 33 (x = 33, y = 0) accesses bytes 2,112–2,115")
    gallery.accessible(page)
    gallery.readable(page)
    gallery.compare(page, "lds-banks-dark")
    page.keyboard.press("Escape")
    assert page.locator(".lds-lane.on").count() == 0
    assert "Point at a lane" in page.locator(".lds-detail").inner_text()
    gallery.compare_elements(page, "lds-banks-typing-an-index-with-keys-alone")


def test_settings(gallery: Gallery) -> None:
    page = gallery.mount(lds_banks("x"))
    page.get_by_label("Bytes of a lane").select_option("16")
    page.wait_for_function("document.querySelectorAll('.lds-phases button').length === 8")
    assert "lanes 0–3, 20–23" in page.locator(".lds-phases button").first.inner_text()
    page.get_by_role("combobox", name="Access").select_option("store")
    page.wait_for_function("document.querySelector('.lds-phases button').textContent.includes('lanes 0–7')")
    page.get_by_label("GPU").select_option("gfx950")
    page.wait_for_function("document.querySelectorAll('.lds-band').length === 2")
    page.get_by_label("GPU").select_option("gfx1100")
    page.wait_for_function("document.querySelectorAll('.lds-lane').length === 32")
    page.get_by_label("Block width").fill("8")
    page.get_by_label("Block width").press("Enter")
    page.wait_for_function(
        "document.querySelector('.lds-lanes > .lds-lane:nth-child(11)').getAttribute('aria-label').includes('y = 1')"
    )
    page.get_by_label("Block width").fill("0")
    page.get_by_label("Block width").press("Enter")
    page.wait_for_selector(".lds-problem:visible")
    assert "its width is 1 to 256" in page.locator(".lds-problem").inner_text()


def test_hostile_text_is_text(gallery: Gallery) -> None:
    page = gallery.mount(of_launch(launch([access(text=HOSTILE)], HOSTILE)))
    assert "<img src=x onerror=alert(1)></script>$x$ ${x}" in page.locator(".gpulab-title").inner_text()
    page.locator(".lds-index").fill("<img src=x onerror=alert(1)>")
    page.wait_for_selector(".lds-problem:visible")
    assert "comparisons and conditions are not known here" in page.locator(".lds-problem").inner_text()
    assert page.locator("img").count() == 0


def test_a_narrow_page(gallery: Gallery, kernel: Instrument) -> None:
    page = gallery.mount(kernel, width=480)
    assert page.evaluate("document.documentElement.scrollWidth") <= 480
    assert page.locator(".lds-band").count() == 2  # 16 banks in a row
    gallery.readable(page)
    page.set_viewport_size({"width": 860, "height": 700})
    page.wait_for_function("document.querySelectorAll('.lds-band').length === 1")


def test_atomics_are_told_apart_from_dwords(gallery: Gallery) -> None:
    """Lanes that read the same dword get it together; atomics on it wait for each other."""
    page = gallery.mount(lds_banks("x % 3", arch="gfx1100"))
    assert page.locator(".lds-rule").inner_text().startswith("A bank gives one dword (4 bytes) in a cycle.")
    assert "×3: three lanes access the same dword, in one cycle" in page.locator(".lds-legend").inner_text()
    page.get_by_role("combobox", name="Access").select_option("atomic")
    page.wait_for_function("document.querySelectorAll('.lds-box').length === 32")
    assert page.locator(".lds-rule").inner_text().startswith("A bank does one atomic in a cycle, also where several")
    legend = page.locator(".lds-legend").inner_text()
    assert "one more atomic in the same bank" in legend
    assert "dword" not in legend
    assert page.locator(".lds-box").nth(3).get_attribute("aria-label") == "bank 0, atomic 2 of 11, lane 3"
    gallery.accessible(page)
    gallery.readable(page)


def test_choosing_an_instruction_keeps_the_focus(gallery: Gallery, kernel: Instrument) -> None:
    """The choices are drawn anew with what Python answers: who works with keys goes on in the same one."""
    page = gallery.mount(kernel)
    choice = page.get_by_label("Instruction, worst first")
    choice.focus()
    page.keyboard.press("ArrowDown")
    page.wait_for_function("document.querySelectorAll('.lds-phases button').length === 8")
    assert choice.evaluate("(select) => select === document.activeElement")
    assert choice.input_value() == "1"


def test_a_launch_without_lds(gallery: Gallery) -> None:
    page = gallery.mount(of_launch(launch([])))
    assert "gpulab.profile()" in page.locator(".gpulab").inner_text()


def test_a_walk(gallery: Gallery, kernel: Instrument) -> None:
    """Each way to choose, to type and to "
    "point, of a launch and of an index."""
    page = gallery.mount(kernel)
    steps: list[tuple[Any, ...]] = [("click", ".lds-tries button", n) for n in (1, 2, 0)]
    steps += [("choose", "select", 0), ("choose", "select", 1), ("set", "select", 0, "0"), ("set", "select", 1, "1")]
    steps += [
        ("click", ".lds-phases button", -1),
        ("point", ".lds-lane", 0),
        ("point", ".lds-lane", 40),
        ("point", ".lds-lane", 63),
        ("leave", ".lds-lanes", 0),
        ("point", ".lds-box", 0),
        ("point", ".lds-box", -1),
        ("leave", ".lds-piles", 0),
    ]
    gallery.walk(page, "lds-banks-launch", steps, most=60)
    page = gallery.mount(lds_banks("x"))
    steps = []
    for index in ("x * 16", "(x % 5) * 32", "x / 3", "x * y", "x +", "  nothing(x)", "x * 64", "32 * (x % 2)"):
        steps += [("set", ".lds-index", 0, index)]
    steps += [("point", ".lds-box", n) for n in (0, 1, -1)] + [("point", ".lds-lane", n) for n in (0, 33)]
    steps += [("choose", "select", n) for n in (0, 1)] + [
        ("set", "select", 2, "gfx1100"),
        ("set", ".lds-width", 0, "8"),
    ]
    steps += [
        ("set", "select", 1, "atomic"),
        ("set", ".lds-index", 0, "x * 0"),
        ("point", ".lds-box", 0),
        ("point", ".lds-box", -1),
        ("point", ".lds-lane", 5),
    ]
    steps += [
        ("keys", ".lds-lane", 0, "ArrowRight End ArrowLeft Home Escape"),
        ("keys", ".lds-box", 0, "ArrowDown ArrowRight End Escape"),
        ("keys", ".lds-phases button", 0, "ArrowRight"),
        ("keys", ".lds-index", 0, "Enter x"),
        ("wide", 600),
        ("wide", 860),
    ]
    gallery.walk(page, "lds-banks-index", steps, most=60)
