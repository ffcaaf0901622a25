"""The stepper's list of many lines by itself: stepper_list.js with lines made by hand, in a box of 100 pixels.

Expected are rows and places counted by hand (a row is 20 pixels high), and the ARIA Authoring Practices' keys of a
listbox.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.browser.modules import asking

if TYPE_CHECKING:
    from playwright.sync_api import Page

TOOLS = """
const { list } = await import("./stepper_list.js");
document.head.appendChild(document.createElement("style")).textContent =
  "[role=option] {position: absolute; height: 20px}"; // as stepper.css has them
const picked = [], pointed = [], tips = [], asked = [];
const tip = {
  attach: (row, words) => { row.setAttribute("aria-describedby", "tip"); tips.push(["attach", words()]); },
  show: (row, words) => tips.push([row.textContent, words()]), hide: () => tips.push("hide"),
};
const listed = (count, height = "100px") => {
  const made = list("Lines", count, {
    line: (k) => { asked.push(k); return {nodes: [document.createTextNode(`line ${k}`)], current: k === 4,
        classes: k === 4 ? "gpulab-current" : `kind-${k % 3}`, words: k % 2 ? () => `about ${k}` : null}; },
    onpick: (k) => picked.push(k), onpoint: (k) => pointed.push(k)}, tip);
  made.box.style.cssText = `position: relative; overflow: auto; height: ${height}; width: 300px`;
  made.box.firstElementChild.style.position = "relative";
  return made;
};
const rows = (made) => [...made.box.querySelectorAll("[role=option]")];
const numbers = (made) => rows(made).map((row) => Number(row.textContent.slice(5))).sort((a, b) => a - b);
const row = (made, k) => rows(made).find((one) => one.textContent === `line ${k}`);
const cursor = (made) => rows(made).filter((one) => one.classList.contains("gpulab-cursor")).map((one) => [
    one.textContent, one.id === made.box.getAttribute("aria-activedescendant")]);
const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 20)));
const scrolled = async (made, top) => { made.box.scrollTop = top; await frame(); };
const key = (made, name) => !made.box.dispatchEvent(new KeyboardEvent("keydown", {key: name, bubbles: true,
    cancelable: true}));
"""
told = asking(TOOLS)


def test_the_box_and_its_rows(page: Page) -> None:
    found = told(
        page,
        """
        const made = listed(50), { box } = made;
        made.draw(true);
        const outside = numbers(made);
        document.body.append(box);
        made.resized();
        const said = ["role", "tabindex", "aria-label", "class"].map((name) => box.getAttribute(name));
        return {outside, inside: numbers(made), box: said,
            high: box.scrollHeight, tops: [row(made, 0), row(made, 9)].map((one) => one.style.top),
            looks: [0, 1, 4].map((k) => [row(made, k).className, row(made, k).getAttribute("aria-selected")]),
            cursor: cursor(made), tips: tips.slice(0, 3), none: (() => { const empty = listed(0); empty.draw(true);
                return [rows(empty).length, asked.length]; })(), asked: asked.length};""",
    )
    assert found["outside"] == list(range(19))  # 280 pixels until the page says how high it is, and five rows
    assert found["inside"] == list(range(10))
    assert found["box"] == ["listbox", "0", "Lines", "gpulab-list gpulab-code"]
    assert (found["high"], found["tops"]) == (1000, ["0px", "180px"])
    assert found["looks"] == [
        ["gpulab-line kind-0 gpulab-cursor", "false"], ["gpulab-line kind-1", "false"],
        ["gpulab-line gpulab-current", "true"],
    ]  # fmt: skip
    assert found["cursor"] == [["line 0", True]]
    assert found["tips"] == [["attach", "about 1"], ["attach", "about 3"], ["attach", "about 5"]]
    assert found["none"] == [0, found["asked"]]


def test_rows_in_view_are_in_the_page(page: Page) -> None:
    """Two above and some below; and the one with the cursor. What is in view stays the same element."""
    found = told(
        page,
        """
        const made = listed(50);
        document.body.append(made.box);
        made.draw(true);
        const seen = [numbers(made)], kept = row(made, 8);
        tips.length = 0;
        await scrolled(made, 1); seen.push(tips.splice(0));
        await scrolled(made, 200); seen.push(numbers(made), row(made, 8) === kept);
        tips.length = asked.length = 0;
        await scrolled(made, 201); seen.push([...tips], asked.length);
        await scrolled(made, 0); seen.push(numbers(made));
        await scrolled(made, 900); seen.push(numbers(made));
        asked.length = 0;
        made.draw(false); seen.push(asked.length);
        made.draw(true); seen.push(asked.length);
        return seen;""",
    )
    assert found == [
        list(range(10)), ["hide"], [0, *range(8, 18)], True, ["hide"], 0, list(range(10)), [0, *range(43, 50)], 0, 8,
    ]  # fmt: skip


def test_a_line_is_brought_into_view(page: Page) -> None:
    """To the middle, if it is not in view as a whole; and no words are taken away by that."""
    found = told(
        page,
        """
        const made = listed(50), { box } = made;
        document.body.append(box);
        const seen = [], reveal = async (k) => { made.reveal(k); await frame(); seen.push(box.scrollTop); };
        await reveal(30); await reveal(31); await reveal(49); await reveal(0); await reveal(2);
        seen.push(tips.includes("hide"), numbers(made));
        for (const k of [34, 35, 30, 29]) { await scrolled(made, 600); await reveal(k); }
        return seen;""",
    )
    assert found == [570, 570, 900, 0, 0, False, list(range(10)), 600, 670, 600, 550]


def test_keys(page: Page) -> None:
    found = told(
        page,
        """
        const made = listed(12), outside = [];
        document.body.append(made.box);
        document.body.addEventListener("keydown", (event) => outside.push(event.key));
        made.draw(true);
        tips.length = 0;
        const seen = [];
        for (const name of ["ArrowUp", "ArrowDown", "ArrowDown", "PageDown", "PageDown", "PageDown", "ArrowDown",
            "ArrowUp", "PageUp", "Enter", " ", "x"])
            seen.push([name, key(made, name), cursor(made)[0], tips.splice(0), made.box.scrollTop]);
        const small = listed(12, "30px");
        document.body.append(small.box);
        small.draw(true);
        key(small, "PageDown");
        return {seen, outside, picked, pointed, small: cursor(small)};""",
    )
    words = {k: [[f"line {k}", f"about {k}"]] if k % 2 else ["hide"] for k in range(12)}

    def step(key: str, line: int, top: int) -> list[Any]:
        return [key, True, [f"line {line}", True], words[line], top]

    assert [[*row[:3], [tip for tip in row[3] if tip[0] != "attach"], row[4]] for row in found["seen"]] == [
        step("ArrowUp", 0, 0), step("ArrowDown", 1, 0), step("ArrowDown", 2, 0), step("PageDown", 6, 90),
        step("PageDown", 10, 140), step("PageDown", 11, 140), step("ArrowDown", 11, 140), step("ArrowUp", 10, 140),
        step("PageUp", 6, 90), ["Enter", True, ["line 6", True], [], 90], [" ", True, ["line 6", True], [], 90],
        ["x", False, ["line 6", True], [], 90],
    ]  # fmt: skip
    assert found["outside"] == ["x"]
    assert found["picked"] == [6, 6]
    assert found["pointed"] == [0, 1, 2, 6, 10, 11, 11, 10, 6, 1]
    assert found["small"] == [["line 1", True]]


def test_the_mouse_and_what_belongs_together(page: Page) -> None:
    found = told(
        page,
        """
        const made = listed(12), { box } = made, seen = [];
        document.body.append(box);
        made.draw(true);
        row(made, 3).click();
        row(made, 5).dispatchEvent(new MouseEvent("mouseenter"));
        row(made, 5).dispatchEvent(new MouseEvent("mouseleave"));
        key(made, "ArrowDown"); seen.push(cursor(made)[0]);
        made.follow(7); seen.push(cursor(made)[0]);
        box.focus();
        made.follow(2); seen.push(cursor(made)[0]);
        tips.length = 0;
        box.blur();
        made.mark((k) => k > 3 && k < 7);
        seen.push(rows(made).filter((one) => one.classList.contains("gpulab-same")).map((one) => one.textContent));
        return [...seen, picked, pointed, tips, row(made, 5).hasAttribute("aria-describedby")];""",
    )
    assert found == [
        ["line 4", True], ["line 7", True], ["line 7", True], ["line 5", "line 6"], [3], [5, None, 4], ["hide"], False,
    ]  # fmt: skip
