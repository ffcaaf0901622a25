"""The picture of a wave's life by itself: stepper_overview.js with waves made by hand. Expected are places counted by
hand: a margin of 8 pixels at each side, lanes from 56 (none) up to 12 (all)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser.modules import asking

if TYPE_CHECKING:
    from playwright.sync_api import Page

TOOLS = """
const { overviewPart } = await import("./stepper_overview.js");
const gone = [], view = {step: 0};
const drawn = (wave, available) => {
  const part = overviewPart({size: 64, divergences: [], barriers: [], fault: null, ...wave,
    active: Uint8Array.from(wave.active), count: wave.active.length}, view, (step) => gone.push(step));
  document.body.replaceChildren(part.nodes);
  part.draw(available);
  return part;
};
const said = (node, ...names) => names.map((name) => node.getAttribute(name));
const paths = (part, kind) => [...part.nodes.querySelectorAll(`.gpulab-${kind}`)].map((one) => one.getAttribute("d"));
"""
told = asking(TOOLS)


def test_the_whole_picture(page: Page) -> None:
    found = told(
        page,
        """
        view.step = 3;
        const part = drawn({active: [64, 64, 32, 0, 64], divergences: [2, 3, 4], barriers: [1], fault: {}}, 302);
        const picture = part.nodes.querySelector("svg"), back = picture.querySelector("rect");
        const seen = {kinds: ["life", "mark-divergence", "mark-barrier", "mark-fault", "here-line"].map((kind) =>
                paths(part, kind)),
            picture: said(picture, "viewBox", "width", "height", "role", "aria-label"),
            back: said(back, "x", "y", "width", "height"),
            slide: [part.slide.value, part.slide.disabled, ...said(part.slide, "type", "min", "max", "step",
                "aria-label")],
            legend: part.nodes.querySelector("p").textContent};
        view.step = 2;
        part.mark("Step 3 of 5");
        seen.marked = [part.slide.value, ...said(part.slide, "aria-valuetext"), ...paths(part, "here-line")];
        part.slide.value = "5";
        part.slide.dispatchEvent(new Event("input"));
        seen.plain = drawn({active: [64, 64]}, 302).nodes.querySelector("p").textContent;
        return {...seen, gone};""",
    )
    assert found["kinds"] == [
        ["M8 56V12H8V12H79V12H150V34H221V56H292V12H292V56Z"], ["M150 56v7", "M221 56v7", "M292 56v7"],
        ["M79 12v44M74 2h10l-5 9z"], ["M286 1l10 10m0 -10l-10 10"], ["M221 2V65"],
    ]  # fmt: skip
    words = "Active lanes over the 5 steps: 3 divergences, 1 barriers"
    assert found["picture"] == ["0 0 300 68", "300", "68", "img", words]
    assert found["back"] == ["8", "12", "284", "44"]
    assert found["slide"] == ["1", False, "range", "1", "5", "1", "Step"]
    lanes = "Blue: active lanes, 0 to 64, from the first step to the last.   ▏below: divergence (active lanes change)"
    assert found["legend"] == f"{lanes}   ▼ barrier   ✖ fault   │ this step"
    assert found["plain"] == f"{lanes}   │ this step"
    assert found["marked"] == ["3", "Step 3 of 5", "M150 2V65"]
    assert found["gone"] == [4]


def test_widths_and_a_single_step(page: Page) -> None:
    found = told(
        page,
        """
        const wide = (available) => said(drawn({active: [64, 0]}, available).nodes.querySelector("svg"), "width")[0];
        const one = drawn({active: [32]}, 302);
        return [[0, 100, 302, 303, 1399, 1400, 5000].map(wide), paths(one, "life"), one.slide.disabled];""",
    )
    assert found == [
        ["818", "300", "300", "301", "1397", "1398", "1398"], ["M150 56V34H150V34H150V56Z"], True,
    ]  # fmt: skip


def test_more_steps_than_pixels(page: Page) -> None:
    """A column of the outline has the fewest lanes of its steps, each step in one column; marks keep three pixels."""
    found = told(
        page,
        """
        const lows = (steps) => {
          const active = new Array(1000).fill(64);
          for (const step of steps) active[step] = 0;
          const [path] = paths(drawn({active}, 302), "life");
          return [...path.matchAll(/H([0-9.]+)V56(?=H)/g)].map((one) => Math.round((one[1] - 8) / 284 * 999));
        };
        const marks = (count, available, steps) => paths(drawn({active: new Array(count).fill(64), divergences: steps},
            available), "mark-divergence").length;
        const [path] = paths(drawn({active: new Array(1000).fill(64)}, 302), "life");
        return [path.split("H").length, [501, 502, 503, 0, 999].map((step) => lows([step])),
            marks(1000, 302, [10, 15, 20, 21, 32]), marks(129, 402, [1, 2, 4]), marks(129, 402, [0])];""",
    )
    # The 300 columns begin at steps 0, 3, 6, 10, ... 500, 503, ... 996; 129 steps are 3 pixels apart in 400.
    assert found == [302, [[500], [500], [503], [0], [996]], 3, 3, 1]


def test_a_click_goes_to_the_step_below_it(page: Page) -> None:
    found = told(
        page,
        """
        const part = drawn({active: [64, 64, 32, 0, 64]}, 302), picture = part.nodes.querySelector("svg");
        const click = (right) => picture.dispatchEvent(new MouseEvent("click", {
            clientX: picture.getBoundingClientRect().left + right}));
        for (const right of [8, 43, 44, 150, 256, 257, 292]) click(right);
        picture.style.width = "600px";
        for (const right of [300, 86, 88]) click(right);
        return gone;""",
    )
    assert found == [0, 0, 1, 2, 3, 4, 4, 2, 0, 1]
