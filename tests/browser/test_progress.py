"""The progress widget in a browser: states with signs, links, filters by keys, reading again, hostile text, themes."""

from __future__ import annotations

from dataclasses import replace

from gpulab.views.progress import Entry, progress
from tests.browser.gallery import Gallery

HOSTILE = "<img src=x onerror=alert(1)>"


def entries(second: str = "begun") -> list[Entry]:
    return [
        Entry("first-fill", "fill an array", "01_first_kernel", 10, "solved", "3 checks", "../a.ipynb", "01.ipynb"),
        Entry("saxpy-guard", "a x + y", "01_first_kernel", 15, second, "1 check, 2 hints", "../b.ipynb", "01.ipynb"),
        Entry("image-mirror", HOSTILE, "02_simt", 15, "open", "", "../c.ipynb", "02.ipynb"),
    ]


def test_states_links_and_filters(gallery: Gallery) -> None:
    page = gallery.mount(progress(lambda: (entries(), "")))
    items = page.locator(".progress-list li")
    assert [text.split(":")[0].split() for text in items.all_inner_texts()] == [
        ["✓", "first-fill"], ["…", "saxpy-guard"], ["○", "image-mirror"],
    ]  # fmt: skip
    assert items.nth(1).locator("a").get_attribute("href") == "../b.ipynb"
    assert "begun, 15 minutes, 1 check, 2 hints" in items.nth(1).inner_text()
    assert HOSTILE in items.nth(2).inner_text()
    assert page.locator(".progress-list img").count() == 0
    page.get_by_label("Show").select_option("open")
    assert items.count() == 2
    page.get_by_label("Show").select_option("solved")
    assert items.count() == 1
    gallery.accessible(page)
    gallery.readable(page)


def test_what_checks_found_opens_by_keys_and_stays_open(gallery: Gallery) -> None:
    found = [replace(entries()[1], found=("2 times: the guard is missing (missing-guard)", f"once: {HOSTILE}"))]
    page = gallery.mount(progress(lambda: (found, "")))
    folded = page.locator("details.progress-found")
    assert not page.get_by_text("2 times: the guard is missing").is_visible()
    folded.locator("summary").focus()
    page.keyboard.press("Enter")
    assert folded.locator("li").all_inner_texts() == list(found[0].found)
    assert page.locator(".progress-list img").count() == 0
    page.get_by_label("Refresh").click()
    page.locator("[aria-live]", has_text="0 of 1").wait_for(state="attached", timeout=5000)
    assert page.get_by_text("2 times: the guard is missing").is_visible()
    gallery.accessible(page)
    gallery.readable(page)


def test_refresh_reads_again(gallery: Gallery) -> None:
    states = ["solved", "begun"]
    page = gallery.mount(progress(lambda: (entries(states.pop()), "")), theme="dark")
    assert page.locator(".gpulab-words").inner_text().startswith("1 of 3 exercises solved.")
    page.get_by_label("Refresh").focus()
    page.keyboard.press("Enter")
    page.locator(".gpulab-words", has_text="2 of 3 exercises solved.").wait_for(timeout=5000)
    assert page.locator(".progress-list li.progress-solved").count() == 2
    gallery.accessible(page)
    gallery.readable(page)
    gallery.compare(page, "progress-dark")


def test_the_bar_of_what_is_done_is_not_painted_by_others(gallery: Gallery) -> None:
    """JupyterLab loads a style for .progress-bar with nbgrader's extensions, in which all of it is blue."""
    page = gallery.mount(progress(lambda: (entries(), "")))
    page.add_style_tag(content=".progress-bar { background-color: rgb(51, 122, 183) }")
    bar = page.locator(".progress-part.progress-open").locator("..")
    assert bar.evaluate("bar => getComputedStyle(bar).backgroundColor") == "rgb(255, 255, 255)"


def test_a_walk(gallery: Gallery) -> None:
    """Each choice, and reading again."""
    page = gallery.mount(progress(lambda: (entries(), "")))
    gallery.walk(
        page,
        "progress",
        [("choose", "select", 0), ("click", ".gpulab-controls button", 0), ("set", "select", 0, "open")],
    )
    solved = [entry for entry in entries() if entry.state == "solved"]
    gallery.walk(gallery.mount(progress(lambda: (solved, ""))), "progress-solved", [("choose", "select", 0)])
