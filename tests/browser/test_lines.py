"""The tree grid of source lines by itself: lines.js with rows made by hand. Keys are those of the ARIA Authoring
Practices for tree grids."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser.modules import asking

if TYPE_CHECKING:
    from playwright.sync_api import Page

TOOLS = """
const m = await import("./lines.js");
const host = document.body.appendChild(document.createElement("div"));
const part = (text) => ({line: 0, text});
const rows = [
  {line: 1, text: "a", mark: "", parts: [], costly: false},
  {line: 2, text: "b", mark: "+", parts: [part("b1"), part("b2")], costly: true},
  {line: 3, text: "", mark: "-", parts: [], costly: false},
  {line: 4, text: "d", mark: "", parts: [part("d1")], costly: true},
];
const heard = [];
let title = "N";
const grid = m.lineGrid({label: "L", columns: [{title: () => title, right: true, cell: (row, inner) => inner ? null :
    10 * row.line}, {title: "W", cell: (row) => row.text + "!"}], words: (row, inner) =>
    `${inner ? "part " : ""}${row.text}`, onrow: (row, inner) => heard.push(row.text + (inner ? "+" : ""))});
host.append(grid.root);
const lines = () => [...grid.root.querySelectorAll("tbody tr")];
const shown = () => lines().map((line) => line.getAttribute("aria-label")).join();
const tab = () => lines().filter((line) => line.tabIndex === 0).map((line) => line.getAttribute("aria-label")).join();
const here = () => document.activeElement.getAttribute("aria-label");
const key = (name) => !(document.activeElement === document.body ? lines()[0] : document.activeElement).dispatchEvent(
    new KeyboardEvent("keydown", {key: name, bubbles: true, cancelable: true}));
"""
told = asking(TOOLS)


def test_rows_and_cells(page: Page) -> None:
    found = told(
        page,
        """
        grid.draw(rows);
        grid.all(true);
        const attributes = ["class", "aria-level", "aria-expanded"];
        return {rows: lines().map((line) => attributes.map((name) => line.getAttribute(name))),
            cells: lines().map((line) => [...line.cells].map((cell) => cell.textContent)),
            looks: [...lines()[2].cells].map((cell) => cell.className),
            first: [...lines()[0].cells].map((cell) => cell.className),
            head: [...grid.root.querySelectorAll("th")].map((cell) => [cell.textContent, cell.className])};""",
    )
    assert found["rows"] == [
        [" lines-free", "1", None], [" lines-added", "1", "true"], ["lines-inner", "2", None],
        ["lines-inner", "2", None], [" lines-free lines-gone", "1", None], ["", "1", "true"],
        ["lines-inner", "2", None],
    ]  # fmt: skip
    assert found["cells"] == [
        ["1", "a", "10", "a!"], ["+2", "▾b", "20", "b!"], ["", "b1", "", "b1!"], ["", "b2", "", "b2!"],
        ["-3", " ", "30", "!"], ["4", "▾d", "40", "d!"], ["", "d1", "", "d1!"],
    ]  # fmt: skip
    code = "gpulab-code lines-text"
    assert found["looks"] == ["gpulab-right lines-number", f"{code} lines-part", "gpulab-right", ""]
    assert found["first"] == ["gpulab-right lines-number", code, "gpulab-right", ""]
    assert found["head"] == [["line", "gpulab-right"], ["source", ""], ["N", "gpulab-right"], ["W", ""]]


def test_keys(page: Page) -> None:
    """From line to line, into a line and out of it; nothing happens at the ends."""
    found = told(
        page,
        """
        grid.draw(rows);
        const seen = [[shown(), tab()]], outside = [];
        host.addEventListener("keydown", (event) => outside.push(event.key));
        lines()[1].focus();
        for (const name of ["ArrowRight", "ArrowRight", "ArrowDown", "ArrowRight", "Enter", "ArrowDown", "ArrowLeft",
            "ArrowLeft", "ArrowLeft", "Enter", "Enter", " ", " ", "End", "ArrowDown", "Enter", "ArrowDown", "ArrowLeft",
            "Home", "ArrowUp", "Enter", "x"]) seen.push([name, key(name), shown(), here(), tab() === here()]);
        return {seen, outside, heard: heard.slice(0, 2)};""",
    )
    all_, two, four = "a,b,,d", "a,b,part b1,part b2,,d", "a,b,,d,part d1"
    assert found["seen"] == [
        [all_, "b"],
        ["ArrowRight", True, two, "b", True], ["ArrowRight", True, two, "b", True],
        ["ArrowDown", True, two, "part b1", True], ["ArrowRight", True, two, "part b1", True],
        ["Enter", True, two, "part b1", True], ["ArrowDown", True, two, "part b2", True],
        ["ArrowLeft", True, two, "b", True], ["ArrowLeft", True, all_, "b", True], ["ArrowLeft", True, all_, "b", True],
        ["Enter", True, two, "b", True], ["Enter", True, all_, "b", True], [" ", True, two, "b", True],
        [" ", True, all_, "b", True], ["End", True, all_, "d", True], ["ArrowDown", True, all_, "d", True],
        ["Enter", True, four, "d", True], ["ArrowDown", True, four, "part d1", True],
        ["ArrowLeft", True, four, "d", True], ["Home", True, four, "a", True], ["ArrowUp", True, four, "a", True],
        ["Enter", True, four, "a", True], ["x", False, four, "a", True],
    ]  # fmt: skip
    assert found["outside"] == ["x"]
    assert found["heard"] == ["b", "b"]


def test_clicks(page: Page) -> None:
    found = told(
        page,
        """
        grid.draw(rows);
        const seen = [];
        for (const at of [1, 2, 1, 0]) { lines()[at].click(); seen.push([shown(), here()]); }
        return [seen, heard.at(-1)];""",
    )
    two = "a,b,part b1,part b2,,d"
    assert found == [[[two, "b"], [two, "part b1"], ["a,b,,d", "b"], ["a,b,,d", "a"]], "a"]


def test_what_is_drawn_anew_stays_as_it_was(page: Page) -> None:
    found = told(
        page,
        """
        grid.draw(rows);
        lines()[3].click();
        const seen = [[shown(), tab(), here()]];
        grid.draw(rows, true); seen.push([shown(), tab(), here()]);
        grid.draw([rows[0], rows[3]]); seen.push([shown(), tab(), here()]);
        title = "M";
        grid.draw([rows[0], rows[2]]); seen.push([shown(), tab(), here()]);
        seen.push(grid.root.querySelectorAll("th")[2].textContent);
        document.activeElement.blur();
        grid.draw([]); seen.push([shown(), tab(), document.activeElement === document.body]);
        grid.draw(rows); seen.push([shown(), tab(), document.activeElement === document.body]);
        return seen;""",
    )
    assert found == [
        ["a,b,,d,part d1", "d", "d"], ["b,d,part d1", "d", "d"], ["a,d,part d1", "d", "d"], ["a,", "a", "a"], "M",
        ["", "", True], ["a,b,,d,part d1", "b", True],
    ]  # fmt: skip


def test_rows_are_gone_to_marked_and_opened(page: Page) -> None:
    found = told(
        page,
        """
        grid.draw(rows);
        const seen = [];
        grid.go(rows[3]); seen.push(here());
        grid.go(rows[0]); seen.push(here());
        grid.go({}); seen.push(here());
        grid.mark(rows[1]); seen.push(lines().map((line) => line.classList.contains("lines-here")));
        grid.mark(rows[0]); seen.push(lines().map((line) => line.classList.contains("lines-here")));
        grid.all(true); seen.push(shown());
        grid.all(false); seen.push(shown());
        const button = host.appendChild(m.openAll(grid));
        const said = () => [button.textContent, button.title, button.getAttribute("aria-label"), shown().length];
        seen.push(said());
        button.click(); seen.push(said());
        button.click(); seen.push(said());
        return seen;""",
    )
    all_, every = "a,b,,d", "a,b,part b1,part b2,,d,part d1"
    assert found == [
        "d", "a", "a", [False, True, False, False], [True, False, False, False], every, all_,
        ["Open all", *["Open all lines into their instructions"] * 2, len(all_)],
        ["Close all", *["Close all lines"] * 2, len(every)],
        ["Open all", *["Open all lines into their instructions"] * 2, len(all_)],
    ]  # fmt: skip


def test_the_first_costly_line_is_in_sight(page: Page) -> None:
    """It stands 100 pixels below the top; a revealed line in the middle."""
    found = told(
        page,
        """
        Object.assign(grid.root.style, {position: "relative", height: "200px", overflow: "auto"});
        const many = Array.from({length: 200}, (_, k) => ({line: k, text: "x", parts: [], costly: k === 90}));
        grid.draw(many);
        const before = grid.root.scrollTop;
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        const off = (k) => grid.root.scrollTop - lines()[k].offsetTop;
        const seen = [before, off(90)];
        grid.reveal(many[30]); seen.push(off(30));
        grid.reveal({}); seen.push(off(30));
        grid.draw(many);
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        return [...seen, off(30)];""",
    )
    assert found == [0, -100, -100, -100, -100]
