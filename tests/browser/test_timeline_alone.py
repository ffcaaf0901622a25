"""The timeline's module by itself, with items made by hand: its words, marks and widths, and what it shows of the time.

The picture is 838 pixels wide: 118 for names, 708 for the time, 12 at the right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser.modules import asking

if TYPE_CHECKING:
    from playwright.sync_api import Page

TOOLS = """
const timeline = (await import("./timeline.js")).default;
const shown = (end, items, more = {}) => {
  const host = document.createElement("div");
  host.style.width = "838px";
  document.body.replaceChildren(host);
  const all = items.map((item, id) => ({id, row: 0, kind: "kernel", name: "k", colour: 0, bytes: 0, ...item}));
  const data = {title: "T", sentence: "S", rows: ["stream 0", "stream 1"], end, modelled: true, grouped: false,
    events: [], items: all, ...more};
  timeline.render({model: {get: () => data}, el: host});
  return host;
};
const labels = (host) => [...host.querySelectorAll(".timeline-thing")].map((one) => one.getAttribute("aria-label"));
const range = (host) => host.querySelector(".timeline-range").textContent;
const press = (host, title) => { host.querySelector(`[aria-label="${title}"]`).click(); return range(host); };
const thing = (host, k) => host.querySelector(`[data-id="${k}"]`);
const click = (node) => node.dispatchEvent(new MouseEvent("click", {bubbles: true}));
"""
told = asking(TOOLS)


def test_times_and_sizes_in_words(page: Page) -> None:
    found = told(
        page,
        """
        const sizes = [1023, 1024, 2 ** 20 - 1, 2 ** 20, 2 ** 30 - 1, 2 ** 30, 5 * 2 ** 30].map((bytes) =>
            labels(shown(100, [{kind: "copy", start: 0, end: 1, bytes}]))[0].split(", ").slice(1).join(", "));
        const long = [0, 0.09, 0.1, 9999, 10000].map((end) => labels(shown(20000, [{start: 0, end}]))[0]);
        const from = [[20000, 1234.5], [100, 0.5], [100, 1], [100, 0.49], [99, 12.34], [9, 1.234], [0.9, 0.1234],
            [0.09, 0.01234]].map(([end, start]) => labels(shown(end, [{start, end: start}]))[0].split("from ")[1]);
        const kinds = [{kind: "event", name: "e", start: 1, end: 1}, {kind: "wait", name: "e", start: 1, end: 3},
            {kind: "wait", name: "e", start: 1, end: 1}, {kind: "group", name: "3 kernels", start: 1, end: 3},
            {kind: "fill", name: "memset", row: 1, start: 1, end: 3}];
        return {sizes, long, from, kinds: labels(shown(100, kinds))};""",
    )
    assert found["sizes"] == ["1,023 bytes", "1 KiB", "1,020 KiB", "1 MiB", "1,020 MiB", "1 GiB", "5 GiB"]
    took = ["0 µs", "90 ns", "0.1 µs", "9,999 µs", "10 ms"]
    assert found["long"] == [f"kernel k in stream 0: {each} from 0 µs" for each in took]
    assert found["from"] == ["1,235 µs", "1 µs", "1 µs", "0 µs", "12.3 µs", "1.23 µs", "0.123 µs", "0.012 µs"]
    assert found["kinds"] == [
        "e recorded in stream 0 at 1 µs", "stream 0 waits for e: 2 µs", "stream 0 waits for e: no time, it was over",
        "3 kernels in stream 0: 2 µs from 1 µs", "memset in stream 1: 2 µs from 1 µs",
    ]  # fmt: skip


def test_marks_of_the_time(page: Page) -> None:
    """About one in 110 pixels, at multiples of 1, 2 or 5; the last stands left of its line, where it has room."""
    found = told(
        page,
        """
        const marks = (host) => [...host.querySelectorAll("svg.timeline-svg > text[text-anchor]")].map((one) => [
            one.textContent, Math.round(Number(one.getAttribute("x")) * 10) / 10, one.getAttribute("text-anchor")]);
        const ten = shown(10, [{start: 0, end: 10}]), all = marks(ten);
        press(ten, "Zoom in");
        const words = (end) => marks(shown(end, [{start: 0, end}])).map(([text]) => text).join(" ");
        return [all, marks(ten), words(6), words(12), words(30), words(60.1)];""",
    )
    x = [118, 259.6, 401.2, 542.8, 684.4, 826]
    anchors = ["middle"] * 5 + ["end"]
    assert found[0] == [[f"{2 * k}.0 µs", x[k], anchors[k]] for k in range(6)]
    assert found[1] == [[f"{k}.0 µs", round(118 + (k - 2.5) / 5 * 708, 1), "middle"] for k in range(3, 8)]
    assert found[2:] == [
        " ".join(f"{k}.0 µs" for k in range(7)), " ".join(f"{k}.0 µs" for k in range(0, 13, 2)),
        " ".join(f"{k}.0 µs" for k in range(0, 31, 5)), " ".join(f"{k} µs" for k in range(0, 61, 20)),
    ]  # fmt: skip


def test_names_as_long_as_there_is_room(page: Page) -> None:
    """A letter takes 6.8 pixels, and 8 are left free; a name is cut where four letters have room."""
    found = told(
        page,
        """
        const written = (pixels, name) => thing(shown(10, [{name, start: 1, end: 1 + pixels / 70.8}]), 0)
            .querySelector("text")?.textContent ?? null;
        const row = (name) => shown(10, [{start: 0, end: 1}], {rows: [name]})
            .querySelector("svg > text:has(title)").firstChild.textContent;
        return [written(36, "abcd"), written(36, "abcde"), written(34, "abc"), written(34, "abcd"),
            written(42.6, "abcdef"), row("stream of sixteen"), row("stream of sixt16")];""",
    )
    assert found == ["abcd", "abc…", "abc", None, "abcd…", "stream of sixte…", "stream of sixt16"]


def test_the_time_that_is_shown(page: Page) -> None:
    """Zooming keeps the middle of what is selected, if that is shown, else the middle; nothing outside is shown."""
    found = told(
        page,
        """
        const whole = shown(10, [{start: 0, end: 2}, {start: 8, end: 10}, {start: 1, end: 2}]);
        const seen = [range(whole)], steps = ["Zoom in", "Later", "Later", "Earlier", "Zoom out", "Zoom out"];
        for (const title of steps) seen.push(press(whole, title));
        const chosen = [0, 1, 2].map((k) => { click(thing(whole, k)); const to = press(whole, "Zoom in");
            press(whole, "Show the whole time"); return to; });
        click(thing(whole, 1));
        press(whole, "Zoom in"); press(whole, "Earlier");
        const away = press(whole, "Zoom in");
        const keys = [];
        press(whole, "Show the whole time");
        click(thing(whole, 2));
        for (const key of ["+", "]", "[", "-", "=", "0", "x"]) {
            const event = new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true});
            whole.querySelector(".gpulab").dispatchEvent(event);
            keys.push([range(whole), event.defaultPrevented]);
        }
        return {seen, chosen, away, keys};""",
    )
    half = "2.50 µs to 7.50 µs"
    assert found["seen"] == [
        "0.0 µs to 10.0 µs", half, "5.00 µs to 10.00 µs", "5.00 µs to 10.00 µs", half, "0.0 µs to 10.0 µs",
        "0.0 µs to 10.0 µs",
    ]  # fmt: skip
    assert found["chosen"] == ["0.50 µs to 5.50 µs", "4.50 µs to 9.50 µs", "0.75 µs to 5.75 µs"]
    assert found["away"] == "3.25 µs to 5.75 µs"  # from 2 to 7, of which 4.5 is the middle
    assert found["keys"] == [
        ["0.75 µs to 5.75 µs", True], ["3.25 µs to 8.25 µs", True], ["0.75 µs to 5.75 µs", True],
        ["0.0 µs to 10.0 µs", True], ["0.75 µs to 5.75 µs", True], ["0.0 µs to 10.0 µs", True],
        ["0.0 µs to 10.0 µs", False],
    ]  # fmt: skip


def test_facts_of_what_is_selected(page: Page) -> None:
    found = told(
        page,
        """
        const of = (item) => { const host = shown(100, [item]); click(thing(host, 0));
            return [...host.querySelectorAll(".timeline-facts dt")].map((one) => [one.textContent,
                one.nextSibling.textContent].join(": ")).slice(3).concat(host.querySelector("dd").textContent); };
        return [of({kind: "copy", start: 1, end: 2, bytes: 1023}), of({kind: "copy", start: 1, end: 2, bytes: 1024}),
            of({kind: "copy", start: 1, end: 1, bytes: 4000}), of({kind: "event", start: 1, end: 1}),
            of({kind: "group", start: 1, end: 3, bytes: 4000, busy: 1.5, count: 3}),
            of({kind: "fill", start: 1, end: 3}),
            of({kind: "wait", start: 1, end: 3})];""",
    )
    one = ["from: 1.00 µs", "to: 2.00 µs", "took: 1 µs"]
    two = ["from: 1.00 µs", "to: 3.00 µs", "took: 2 µs"]
    none = ["from: 1 µs", "to: 1 µs", "took: 0 µs"]
    rate = "GB/s, with what it costs to start"
    assert found == [
        [*one, "bytes: 1,023", f"rate: 1.02 {rate}", "copy"],
        [*one, "bytes: 1,024 (1 KiB)", f"rate: 1.02 {rate}", "copy"],
        [*none, "bytes: 4,000 (3.91 KiB)", "copy"], [*none, "event recorded"],
        [*two, "bytes: 4,000 (3.91 KiB)", "busy: 1.5 µs", "count: 3", "several, drawn as one"], [*two, "memset"],
        [*two, "wait for an event"],
    ]  # fmt: skip
