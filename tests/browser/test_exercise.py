"""The exercise view in a browser: cells by mouse and keys, who wrote them, themes, hostile text."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from gpulab.records import Access
from gpulab.views import exercise
from gpulab.views.table import visible
from tests.browser.gallery import Gallery
from tests.views.test_exercise import HOSTILE, LINE, shifted


def test_with_the_mouse(gallery: Gallery) -> None:
    page = gallery.mount(exercise.failing(shifted()))
    story = page.locator(".gpulab-exercise-story")
    assert story.inner_text().startswith("out[1] should be 2, but is 1.")  # the first with a wrong writer
    page.locator('[aria-label^="out[0], never written"]').hover()
    assert story.inner_text().startswith("out[0] should be 1, but it was not changed")
    page.locator('[aria-label^="out[5], wrong"]').hover()
    assert "Thread 0 of block 1 (wave 0, lane 0) wrote it last" in story.inner_text()
    assert "By the exercise it belongs to thread 1 of block 1." in story.inner_text()
    page.locator('[aria-label^="out[6], written outside"]').hover()
    assert story.inner_text().startswith("out[6] does not exist: out ends at out[5].")
    assert page.get_by_text("≠ 6", exact=True).is_visible()
    page.get_by_label("In the cells").select_option("writers")
    assert not page.get_by_text("≠ 6", exact=True).is_visible()
    assert page.get_by_text("≠ b1 t1", exact=True).is_visible()
    assert page.get_by_text("nobody", exact=True).is_visible()
    gallery.compare_elements(page, "exercise-with-the-mouse")


def test_with_keys_alone(gallery: Gallery) -> None:
    page = gallery.mount(exercise.failing(shifted()))
    story = page.locator(".gpulab-exercise-story")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    assert page.get_by_text("≠ b1 t1", exact=True).is_visible()
    page.keyboard.press("Tab")
    assert story.inner_text().startswith("out[1] should be 2, but is 1.")
    page.keyboard.press("ArrowLeft")
    assert story.inner_text().startswith("out[0]")
    page.keyboard.press("End")
    assert story.inner_text().startswith("out[5]")
    page.keyboard.press("Tab")
    assert story.inner_text().startswith("out[6] does not exist")


def test_the_whole_of_a_large_array(gallery: Gallery) -> None:
    (array,) = shifted().arrays
    large = dataclasses.replace(array, shape=(4000,), right=2000, wrong=1000, never=1000, part=1000,
                                overview=((1000, 0, 0), (500, 500, 0), (500, 0, 500), (0, 500, 500)))  # fmt: skip
    page = gallery.mount(exercise.failing(shifted(arrays=(large,))))
    words = page.get_by_text("The whole of out, 1,000 elements a bar")
    assert "6 of 4,000 elements are drawn" in words.inner_text()
    page.locator('[aria-label^="out[1,000] to [1,999]"]').hover()
    assert "500 right, 500 wrong, 0 never written" in page.locator(".gpulab-exercise-story").inner_text()
    gallery.accessible(page)
    gallery.compare_elements(page, "exercise-the-whole-of-a-large-array")


def test_hostile_text_is_text(gallery: Gallery) -> None:
    (array,) = shifted().arrays
    named = dataclasses.replace(array, name=HOSTILE, elements=tuple(
        dataclasses.replace(element, found=HOSTILE, expected=HOSTILE) for element in array.elements
    ))  # fmt: skip
    page = gallery.mount(exercise.failing(shifted(kernel=HOSTILE, inputs=HOSTILE, arrays=(named,))))
    assert page.locator("img").count() == 0
    assert visible(HOSTILE) in page.get_by_role("heading", level=3).inner_text()
    assert visible(HOSTILE) in page.locator(".gpulab-exercise-story").inner_text()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_looks_as_before(gallery: Gallery, theme: str) -> None:
    one = Access(LINE, "ds_write_b32 v0, v1", (0, 0, 0), 1, 0, (64, 0, 0), "write")
    other = dataclasses.replace(one, wave=0, lane=63, thread=(63, 0, 0), access="read")
    race = shifted(stopped="race", place="shared memory, byte 256", sides=(other, one))
    case = shifted() if theme == "light" else race
    page = gallery.mount(exercise.failing(case), theme, 860 if theme == "light" else 600)
    gallery.accessible(page)
    gallery.readable(page)
    gallery.compare(page, f"exercise-{theme}")


def test_a_walk(gallery: Gallery) -> None:
    """Each cell by mouse, keys through them, who wrote what."""
    page = gallery.mount(exercise.failing(shifted()))
    cells = page.locator(".gpulab-exercise-cell").count()
    steps: list[tuple[Any, ...]] = [("point", ".gpulab-exercise-cell", n) for n in range(cells)]
    steps += [
        ("choose", "select", 0),
        ("keys", ".gpulab-exercise-cell[tabindex='0']", 0, "End ArrowLeft ArrowUp Home ArrowRight ArrowDown x"),
        ("keys", ".gpulab-exercise-cell[tabindex='0']", -1, "End ArrowLeft Home"),
    ]
    gallery.walk(page, "exercise", steps)
