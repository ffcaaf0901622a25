"""The wave stepper in a browser: steps, lines, divergences, barriers and faults by mouse and by keys; values as they
are shown; long traces; hostile text."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from playwright.sync_api import Page

from gpulab.records import SourceLine
from gpulab.views.stepper import stepper
from gpulab.views.table import visible
from tests.browser.gallery import Gallery
from tests.views.traces import HOSTILE, long, small


def at(page: Page, step: int) -> str:
    """Wait until this step is shown, with its registers; what it says of the step."""
    page.locator(f".gpulab[data-step='{step}'][data-ready='true']").wait_for(timeout=5000)
    return page.locator(".gpulab-now").inner_text()


def lane(page: Page, number: int) -> str:
    return page.locator(f"[data-lane='{number}']").get_attribute("aria-label") or ""


def test_looks_as_stored(gallery: Gallery) -> None:
    page = gallery.mount(stepper(small()))
    page.get_by_role("button", name="next step at which the active lanes change").click()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    at(page, 6)
    gallery.accessible(page)
    gallery.readable(page)
    gallery.compare(page, "stepper-light")
    page = gallery.mount(stepper(small(64, fault=True)), theme="dark", width=600)
    page.keyboard.press("Tab")
    page.keyboard.press("f")
    at(page, 5)
    gallery.accessible(page)
    gallery.readable(page)
    gallery.compare(page, "stepper-dark")


def test_steps_by_mouse(gallery: Gallery) -> None:
    page = gallery.mount(stepper(small()))
    said = at(page, 1)
    assert "Step 1 of 10" in said
    assert "line 2" in said
    assert "32 of 32 lanes active" in said
    assert "Lane 0 of 32: v0 = 0 → vcc gets 1 (true) for this lane." in said
    page.get_by_role("button", name="One step forward").click()
    assert "From here on 3 of 32 lanes are active: 0–2." in at(page, 2)
    page.get_by_role("button", name="One step forward").click()
    assert "It does not jump; instruction 3, line 3 is next." in at(page, 3)
    assert lane(page, 2).startswith("Lane 2, active")
    assert lane(page, 3).startswith("Lane 3, inactive")
    page.get_by_role("button", name="To the next source line").click()
    at(page, 4)
    page.get_by_role("button", name="To the last step").click()
    at(page, 10)
    # Another wave wrote LDS meanwhile.
    assert page.locator(".gpulab-word").nth(4).inner_text() == "7.0●"
    assert page.locator(".gpulab-word").nth(4).get_attribute("title").startswith("byte 16:")
    page.get_by_role("button", name="One step back").click()
    at(page, 9)
    assert page.locator(".gpulab-word").nth(4).inner_text() != "7.0●"
    page.get_by_role("button", name="To the first step").click()
    at(page, 1)
    page.get_by_role("button", name="To the next barrier").click()
    assert "waits here until all waves of its workgroup" in at(page, 9)
    assert page.get_by_role("button", name="To the next barrier").get_attribute("aria-disabled") == "true"
    # A click into the picture of the wave's life.
    box = page.locator(".gpulab-overview svg").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 8 + (box["width"] - 16) * 4 / 9, box["y"] + 30)
    at(page, 5)
    gallery.compare_elements(page, "stepper-steps-by-mouse")


def test_values_of_a_lane_in_each_form(gallery: Gallery) -> None:
    page = gallery.mount(stepper(small()))
    page.get_by_label("Step", exact=True).fill("6")
    assert "Lane 0 of 32: v4 = 1.5 → v4 becomes 3.0 (was 1.5)." in at(page, 6)
    page.locator("[data-lane='2']").click()
    assert "Lane 2 of 32: v4 = 3.5 → v4 becomes 7.0 (was 3.5)." in at(page, 6)
    assert lane(page, 2) == "Lane 2, active, v4 is 7.0, changed"
    assert lane(page, 1) == "Lane 1, active, v4 is 5.0, changed"
    row = page.locator(".gpulab-registers tbody tr").first
    assert row.inner_text().split() == ["read,", "written", "v4", "3.5", "7.0", "●", "this", "step"]
    for form, value in (("hex", "0x40e00000"), ("int", "1088421888"), ("unsigned", "1088421888"), ("float", "7.0")):
        page.get_by_label("Numbers:").select_option(label=form)
        assert value in row.inner_text()
    page.get_by_label("Numbers:").select_option(label="automatic")
    page.get_by_label("Register shown in the lanes").select_option(label="v1")
    assert lane(page, 2) == "Lane 2, active, v1 is 8"
    page.locator("[data-lane='9']").click()
    assert "Lane 9 is not active: this instruction changes nothing in it." in at(page, 6)
    page.keyboard.press("ArrowRight")  # from lane to lane
    page.keyboard.press("Enter")
    assert page.locator("[data-lane='10']").get_attribute("aria-pressed") == "true"
    assert at(page, 6)
    gallery.compare_elements(page, "stepper-values-of-a-lane-in-each-form")


def test_memory_that_a_step_touches(gallery: Gallery) -> None:
    page = gallery.mount(stepper(small()))
    page.locator("[data-lane='1']").click()
    page.get_by_label("Step", exact=True).fill("5")
    said = at(page, 5)
    assert "Lane 1 of 32 reads x[1]: 2.5." in said
    assert "v4 becomes 2.5 (was 0.0)" in said
    rows = page.locator(".gpulab-touched tbody tr").all_inner_texts()
    assert [row.split() for row in rows] == [
        ["0", "x[0]", "0x200000001000", "1.5"], ["◆1", "x[1]", "0x200000001004", "2.5"],
        ["2", "x[2]", "0x200000001008", "3.5"],
    ]  # fmt: skip
    page.get_by_label("Step", exact=True).fill("7")
    assert "Lane 1 of 32 writes x[1]: 5.0." in at(page, 7)
    gallery.compare_elements(page, "stepper-memory-that-a-step-touches")


def test_lines_are_linked_and_run_to(gallery: Gallery) -> None:
    page = gallery.mount(stepper(small()))
    at(page, 1)
    source = page.get_by_role("listbox", name="Source lines")
    code = page.get_by_role("listbox", name="Instructions of the kernel")
    source.get_by_text("x[threadIdx.x] *= 2;").hover()
    assert code.locator(".gpulab-same").count() == 4
    assert "4 steps of this wave on this line" in page.get_by_role("tooltip").inner_text()
    code.get_by_text("global_store_dword").hover()
    assert source.locator(".gpulab-same").inner_text().split()[0] == "3"
    code.get_by_text("v_add_f32").hover()
    said = page.get_by_role("tooltip").inner_text()
    assert said.startswith("Sum: v4 = v4 + v4, in each active lane.")
    assert "Now, in lane 0: v4 = 0" in said
    assert "Executed 1 time by this wave." in said
    source.get_by_text("__syncthreads").click()
    at(page, 8)
    source.get_by_text("if (threadIdx.x < 3)").click()  # not again: the first time
    at(page, 1)
    code.get_by_text("v_add_f32").click()
    at(page, 6)
    code.get_by_text("s_nop 0").click()
    assert "Instruction 10: this wave never comes here." in page.locator(".gpulab-note").inner_text()
    assert at(page, 6)
    gallery.compare_elements(page, "stepper-lines-are-linked-and-run-to")


def test_keys_alone(gallery: Gallery) -> None:
    page = gallery.mount(stepper(small(64, fault=True)))
    at(page, 1)
    page.keyboard.press("Tab")
    for key, step in (("ArrowRight", 2), ("n", 4), ("Shift+N", 1), ("d", 3), ("Shift+D", 3), ("End", 5), ("Home", 1)):
        page.keyboard.press(key)
        at(page, step)
    page.keyboard.press("f")
    said = at(page, 5)
    assert "✖ It was stopped at step 5, lane 2: out of bounds" in said
    assert page.locator("[data-lane='2']").get_attribute("aria-pressed") == "true"
    assert lane(page, 2).endswith("stopped the kernel")
    assert "Step 5, line 3, 3 lanes active" in page.locator(".gpulab-live").inner_text()
    page.get_by_role("listbox", name="Instructions of the kernel").focus()
    page.keyboard.press("ArrowUp")
    assert "by this wave." in page.get_by_role("tooltip").inner_text()  # what the instruction means, for keys too
    page.keyboard.press("Enter")
    at(page, 4)
    page.get_by_role("listbox", name="Source lines").focus()
    page.keyboard.press("ArrowUp")
    assert page.get_by_role("listbox", name="Instructions of the kernel").locator(".gpulab-same").count() == 3
    page.keyboard.press("Enter")
    at(page, 1)
    page.get_by_label("Step", exact=True).focus()
    page.keyboard.press("ArrowRight")
    at(page, 2)
    page.keyboard.press("b")  # there is none: the step stays
    assert "No barrier after this step." in page.locator(".gpulab-live").inner_text()
    gallery.compare_elements(page, "stepper-keys-alone")


def test_a_hundred_thousand_steps(gallery: Gallery) -> None:
    """Ready in a second and quick from step to step; the test's limits leave room for slow machines."""
    shown = stepper(long(noise=True))
    began = time.perf_counter()
    page = gallery.mount(shown)
    at(page, 1)
    assert time.perf_counter() - began < 5
    each = page.evaluate("""async () => {
        const root = document.querySelector(".gpulab");
        const next = [...root.querySelectorAll("button")].find((b) => b.textContent === "Step ▶");
        const began = performance.now();
        for (let k = 0; k < 300; k++) {
            next.click();
            while (root.dataset.ready !== "true") await new Promise((done) => setTimeout(done, 1));
        }
        return (performance.now() - began) / 300;
    }""")
    assert at(page, 301)
    assert each < 50, f"{each} ms a step"
    page.get_by_label("Step", exact=True).fill("70000")
    assert "Step 70,000 of 100,000" in at(page, 70_000)
    page.keyboard.press("End")
    at(page, 100_000)
    gallery.readable(page)
    print(f"{each:.2f} ms a step")
    gallery.compare_elements(page, "stepper-a-hundred-thousand-steps")


def test_no_source_and_nothing_at_all(gallery: Gallery) -> None:
    page = gallery.mount(stepper(small(with_source=False)))
    assert "no source line" in at(page, 1)
    assert page.get_by_role("listbox").count() == 1
    gallery.accessible(page)
    page = gallery.mount(stepper(replace(small(), steps=())))
    page.get_by_text("No instruction was executed.").wait_for()
    page = gallery.mount(stepper(replace(small(), steps=small().steps[:1], truncated=True)))
    at(page, 1)
    gallery.accessible(page)
    gallery.readable(page)
    gallery.compare_elements(page, "stepper-no-source-and-nothing-at-all")


def test_python_that_does_not_answer(gallery: Gallery) -> None:
    """A widget restored from a file: the first steps are there, of the others all but registers and memory."""
    page = gallery.mount(replace(stepper(long(2000)), answer=None))
    at(page, 1)
    page.get_by_label("Step", exact=True).fill("1500")
    page.locator(".gpulab-now").get_by_text("Registers and memory are not here").wait_for()
    assert "Step 1,500 of 2,000" in page.locator(".gpulab-now").inner_text()
    page.keyboard.press("Home")
    at(page, 1)
    gallery.compare_elements(page, "stepper-python-that-does-not-answer")


def test_names_and_source_are_text(gallery: Gallery) -> None:
    page = gallery.mount(stepper(small(name=HOSTILE, text=HOSTILE, file=HOSTILE)))
    page.get_by_label("Step", exact=True).fill("5")
    at(page, 5)
    assert page.locator("img").count() == 0
    assert page.locator(".gpulab script").count() == 0
    assert visible(HOSTILE) in page.locator(".gpulab-title").inner_text()
    assert visible(HOSTILE) in (page.locator(".gpulab-list").first.text_content() or "")
    assert f"{visible(HOSTILE)}[0]" in page.locator(".gpulab-now").inner_text()


def test_several_files_and_a_trace_that_ends_early(gallery: Gallery) -> None:
    trace = small()
    header = SourceLine("include/twice.h", 9, 1, "inline float twice(float x);")
    instructions = tuple(replace(i, where=header) if i.text.startswith("v_add") else i for i in trace.instructions)
    page = gallery.mount(stepper(replace(trace, instructions=instructions, steps=trace.steps[:7], truncated=True)))
    page.get_by_label("Step", exact=True).fill("6")
    assert "include/twice.h, line 9" in at(page, 6)
    source = page.get_by_role("listbox", name="Source lines")
    assert source.locator(".gpulab-label").all_inner_texts() == ["cell.hip", "include/twice.h"]
    assert source.locator(".gpulab-current").inner_text().split() == ["9", "inline", "float", "twice(float", "x);"]
    assert "The trace ends before the wave does." in page.locator(".gpulab-words").inner_text()
    gallery.readable(page)
    gallery.compare_elements(page, "stepper-several-files-and-a-trace-that-ends-earl")


def test_a_walk(gallery: Gallery) -> None:
    """Each step, each way to move, each form of numbers."""
    for name, trace in (("wave32", small()), ("wave64", small(64, fault=True))):
        page = gallery.mount(stepper(trace))
        steps: list[tuple[Any, ...]] = [
            (
                "keys",
                ".gpulab-controls button",
                0,
                "ArrowRight " * 9 + "ArrowRight ArrowLeft Home d d d Shift+D Shift+D "
                "Shift+D b b Shift+B Shift+B n n n n Shift+N Shift+N f x End",
            )
        ]
        steps += [("click", ".gpulab-controls button", n) for n in (0, 2, 1, 4, 5, 6, 3)]
        steps += [("set", ".gpulab-time-slider", 0, "6")] + [("choose", "select", n) for n in (0, 1)]
        steps += [
            ("keys", "[data-lane='0']", 0, "ArrowRight ArrowDown End Home"),
            ("click", "[data-lane='1']", 0),
            ("click", "[data-lane='20']", 0),
        ]
        steps += [("click", ".gpulab-state button", n) for n in (0, 0)]
        for lists in (0, 1):
            steps += [
                ("keys", ".gpulab-list", lists, "ArrowDown ArrowDown ArrowUp PageDown PageUp Enter ArrowDown Space x")
            ]
            steps += [("point", ".gpulab-list .gpulab-line", n) for n in (0, 2)]
        steps += [("click", ".gpulab-overview svg", 0, share) for share in (0.001, 0.2, 0.5, 0.9, 0.999)]
        steps += [("wide", 330), ("wide", 860)]
        gallery.walk(page, f"stepper-{name}", steps, most=30)
