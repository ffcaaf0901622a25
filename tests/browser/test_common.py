"""What all instruments share, by itself: common.js with stand-ins for the model and for what is drawn.

Expected are the ARIA Authoring Practices' keys, WCAG's rule on names, and places counted by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.modules import asking

if TYPE_CHECKING:
    from playwright.sync_api import Page

TOOLS = """
const m = await import("./common.js");
const {el, svg} = m;
const host = document.body.appendChild(document.createElement("div"));
const key = (node, name) => !node.dispatchEvent(new KeyboardEvent("keydown", {key: name, bubbles: true,
    cancelable: true}));
const said = (node) => Object.fromEntries([...node.attributes].map((one) => [one.name, one.value]));
"""
told = asking(TOOLS)


def test_elements(page: Page) -> None:
    found = told(page, """
        let heard = 0;
        const made = el("button", {class: "a", title: null, id: undefined, hidden: false, disabled: true, text: "<b>",
            onclick: () => { heard += 1; }, style: {"--n": 3, color: "red"}, "data-n": 0}, ["x", [null, "y", 0, false]],
            undefined, el("i", {}));
        made.disabled = false;
        made.click();
        const field = el("input", {value: "7"}), item = el("li", {value: "7"}), plain = el("p", {value: "7"});
        const drawn = svg("rect", {width: 4}, svg("title", {text: "t"}));
        return {html: made.outerHTML, heard, field: [field.value, field.hasAttribute("value")],
            plain: plain.getAttribute("value"), drawn: [drawn.namespaceURI, drawn.outerHTML], none: el("br").outerHTML};
    """)  # fmt: skip
    assert found["html"] == (
        '<button class="a" data-n="0" style="--n: 3; color: red;">&lt;b&gt;xy0<i></i></button>'
    )  # fmt: skip
    assert found["heard"] == 1
    assert found["field"] == ["7", False]
    assert found["plain"] == "7"
    assert found["drawn"] == ["http://www.w3.org/2000/svg", '<rect width="4"><title>t</title></rect>']
    assert found["none"] == "<br>"


def test_ids_go_on_where_another_instrument_has_ended(page: Page) -> None:
    found = told(
        page,
        """
        const first = [m.uid("a"), m.uid("b")];
        const again = await import("./common.js#again");
        return [...first, again.uid("a"), again === m];""",
    )
    assert found == ["gpulab-a-1", "gpulab-b-2", "gpulab-a-3", False]


def test_a_frame(page: Page) -> None:
    found = told(page, """
        const cell = document.body.appendChild(el("div", {class: "jp-Cell", tabindex: 0}));
        const place = cell.appendChild(el("div", {}, "old"));
        const made = m.frame(place, {title: "T", sentence: "S.", keys: [["→", "on"]]});
        const plain = m.frame(cell.appendChild(el("div", {})), {title: "P", sentence: ""});
        const inner = made.body.appendChild(el("button", {text: "b"}));
        const label = (root, name) => document.getElementById(root.getAttribute(name)).textContent;
        let outside = [];
        document.addEventListener("keydown", (event) => outside.push(event.key));
        inner.focus();
        const marked = inner.getAttribute("data-lm-suppress-shortcuts");
        key(inner, "a");
        key(made.root, "b");
        made.say("said"); made.caption("C.");
        const tip = made.root.appendChild(el("div", {class: "gpulab-tip"}));
        key(inner, "Escape");
        const kept = document.activeElement === inner;
        tip.hidden = true;
        inner.addEventListener("keydown", (event) => event.preventDefault(), {once: true});
        key(inner, "Escape");
        const taken = document.activeElement === inner;
        key(inner, "x");
        const still = document.activeElement === inner;
        key(inner, "Escape");
        return {names: [label(made.root, "aria-labelledby"), label(made.root, "aria-describedby")], marked, outside,
            kept, taken, still, out: document.activeElement === cell, old: place.textContent.includes("old"),
            live: made.root.querySelector("[role=status]").textContent, keys: [...made.root.querySelectorAll("kbd, dd")]
            .map((one) => one.textContent), plain: plain.root.querySelectorAll("details").length,
            bar: said(made.controls)["aria-label"], order: [...made.root.children].map((one) => one.localName)};
    """)  # fmt: skip
    assert found == {
        "names": ["T", "C."], "marked": "true", "outside": ["b"], "kept": True, "taken": True, "still": True,
        "out": True, "old": False, "live": "said", "keys": ["→", "on", "Esc", "back to the cell"], "plain": 0,
        "bar": "Controls: T", "order": ["h3", "div", "div", "p", "details", "div", "div"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "label", "name"),
    [
        ("Whole", "Show the whole time", "Show the whole time"),
        ("Open all", "Open lines", "Open all: Open lines"),
        ("▶ Play", "Begin", "Play: Begin"),
        ("▶", "One step forward", "One step forward"),
        ("x", "Close", "Close"),
        ("xy", "Close", "xy: Close"),
        ("1.5", "Times one and a half", "1.5: Times one and a half"),
    ],
)
def test_the_words_on_a_button_are_in_its_name(page: Page, text: str, label: str, name: str) -> None:
    found = told(page, f"return said(m.button({text!r}, {label!r}, () => {{}}, {{id: 'i'}}));")
    assert found == {"type": "button", "class": "gpulab-button", "title": label, "aria-label": name, "id": "i"}


def test_fields(page: Page) -> None:
    found = told(page, """
        const heard = [];
        const choice = m.choice("Which", [[1, "one"], ["2", "two"]], 2, (value) => heard.push(value));
        const select = choice.querySelector("select");
        const before = [select.value, [...select.options].map((one) => one.textContent)];
        select.value = "1";
        select.dispatchEvent(new Event("change"));
        const one = m.slider("Time", {min: 2, max: 9, value: 4}, (value) => `${value} s`, (value) => heard.push(value));
        const state = () => [one.input.value, one.field.querySelector("output").textContent,
            one.input.getAttribute("aria-valuetext")];
        const states = [state(), said(one.input).step];
        one.input.value = "7";
        one.input.dispatchEvent(new Event("input"));
        states.push(state());
        one.set(3);
        states.push(state());
        states.push([said(m.slider("x", {min: 0, max: 9, step: 3, value: 6}, String, () => {}).input).step]);
        return {before, heard, states, label: choice.querySelector("span").textContent};""")  # fmt: skip
    assert found == {
        "before": ["2", ["one", "two"]], "heard": ["1", 7], "label": "Which",
        "states": [["4", "4 s", "4 s"], "1", ["7", "7 s", "7 s"], ["3", "3 s", "3 s"], ["3"]],
    }  # fmt: skip


def test_numbers(page: Page) -> None:
    cases = {
        "0": "0", "1234567": "1,234,567", "-1000": "-1,000", "1/3": "0.333", "999.94": "1000", "999.4": "999",
        "1000.5": "1,001", "-1234.5": "-1,234", "12.345": "12.3", "1e-7/3": "3.33e-8", "Infinity": "–", "NaN": "–",
        "'a'": "a", "null": "null",
    }  # fmt: skip
    assert told(page, f"return [{', '.join(cases)}].map(m.number);") == list(cases.values())


def test_tables_are_sorted(page: Page) -> None:
    found = told(page, """
        const rows = [{n: 2, t: "b"}, {n: 30, t: "a"}, {n: 1000, t: "c"}, {n: 2, t: "d"}], heard = [];
        const columns = [{title: "N", key: "n", align: "right"}, {title: "T", key: "t"},
            {title: "X", cell: (row) => `<${row.t}>`}];
        const made = m.table(columns, rows, {caption: "C", onrow: (row, line) => heard.push(row.t + line.rowIndex)});
        const shown = () => [...made.tBodies[0].rows].map((row) => row.cells[1].textContent).join("");
        const state = () => [shown(), ...[...made.tHead.rows[0].cells].map((cell) => cell.getAttribute("aria-sort"))];
        const [n, t] = made.querySelectorAll("th button");
        const states = [state()];
        for (const one of [n, n, n, t]) { one.click(); states.push(state()); }
        const line = made.tBodies[0].rows[1];
        line.click();
        const taken = [key(line, "Enter"), key(line, " "), key(line, "x")];
        const still = m.table(columns, rows, {sortable: false});
        return {states, heard, taken, name: said(line)["aria-label"], tab: line.tabIndex,
            head: [...made.tHead.rows[0].cells].map((cell) => cell.className + cell.scope),
            cells: [...line.cells].map((cell) => [cell.className, cell.textContent]), caption: made.caption.textContent,
            still: [still.querySelectorAll("button").length, still.caption, still.tBodies[0].rows[0].tabIndex,
                still.tHead.rows[0].cells[0].hasAttribute("aria-sort")]};""")  # fmt: skip
    assert found["states"] == [
        ["bacd", "none", "none", None], ["cabd", "descending", "none", "none"], ["bdac", "ascending", "none", "none"],
        ["cabd", "descending", "none", "none"], ["dcba", "none", "descending", "none"],
    ]  # fmt: skip
    assert found["heard"] == ["c2", "c2", "c2"]
    assert found["taken"] == [True, True, False]
    assert found["name"] == "N: 1,000, T: c, X: <c>"
    assert found["tab"] == 0
    assert found["head"] == ["gpulab-rightcol", "col", "col"]
    assert found["cells"] == [["gpulab-right", "1,000"], ["", "c"], ["", "<c>"]]
    assert found["caption"] == "C"
    assert found["still"] == [0, None, -1, False]


def test_who_works_with_keys_stays_in_the_same_place(page: Page) -> None:
    found = told(page, """
        const places = (count) => Array.from({length: count}, (_, k) => el("button", {text: String(k)}));
        const part = host.appendChild(el("div", {}, places(3))), other = host.appendChild(el("button", {text: "o"}));
        const at = () => document.activeElement.textContent, seen = [];
        part.children[1].focus();
        m.redraw(part, () => part.replaceChildren(...places(4)));
        seen.push([at(), part.contains(document.activeElement)]);
        part.children[0].focus();
        m.redraw(part, () => part.replaceChildren(...places(4)));
        seen.push([at(), part.contains(document.activeElement)]);
        part.children[3].focus();
        m.redraw(part, () => part.replaceChildren(...places(2)));
        seen.push(document.activeElement === document.body);
        part.children[0].focus();
        m.redraw(part, () => { part.replaceChildren(...places(3)); part.children[2].focus(); });
        seen.push(at());
        other.focus();
        m.redraw(part, () => part.replaceChildren(...places(3)));
        seen.push(at());
        return seen;""")  # fmt: skip
    assert found == [["1", True], ["0", True], True, "2", "o"]


def test_arrow_keys_in_a_group(page: Page) -> None:
    """Three rows of three and one more; keys stop at both ends."""
    found = told(page, """
        const all = Array.from({length: 10}, (_, k) => el("button", {text: String(k)})), heard = [];
        const group = host.appendChild(el("div", {}, all)), outside = [];
        host.addEventListener("keydown", (event) => outside.push(event.key));
        const one = m.roving(group, all, {columns: 3, onfocus: (k) => heard.push(k)});
        const at = () => [one.at, all.filter((each) => each.tabIndex === 0).map((each) => each.textContent).join()];
        const seen = [at()];
        all[0].focus();
        for (const name of ["ArrowRight", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp", "ArrowLeft", "Home",
            "ArrowLeft", "End", "ArrowRight", "x"]) seen.push([name, key(document.activeElement, name), ...at()]);
        all[4].click();
        seen.push(at());
        one.go(5, false);
        seen.push([...at(), document.activeElement.textContent]);
        one.go(99);
        seen.push([...at(), document.activeElement.textContent]);
        const none = m.roving(el("div", {}), []);
        none.go(3);
        const column = Array.from({length: 3}, () => el("button", {})), plain = m.roving(host.appendChild(el("div", {},
            column)), column);
        column[0].focus();
        key(column[0], "ArrowDown");
        return {seen, heard: heard.slice(0, 3), outside, none: none.at, plain: plain.at};""")  # fmt: skip
    assert found["seen"] == [
        [0, "0"],
        ["ArrowRight", True, 1, "1"], ["ArrowDown", True, 4, "4"], ["ArrowDown", True, 7, "7"],
        ["ArrowDown", True, 9, "9"], ["ArrowUp", True, 6, "6"], ["ArrowLeft", True, 5, "5"], ["Home", True, 0, "0"],
        ["ArrowLeft", True, 0, "0"], ["End", True, 9, "9"], ["ArrowRight", True, 9, "9"], ["x", False, 9, "9"],
        [4, "4"], [5, "5", "4"], [9, "9", "9"],
    ]  # fmt: skip
    assert found["heard"] == [0, 1, 4]
    assert found["outside"] == ["x"]
    assert (found["none"], found["plain"]) == (0, 1)


def test_questions_to_python(page: Page) -> None:
    """Each hears its own answer alone, and then no more; without one it fails after its seconds."""
    found = told(page, """
        const hearing = new Set(), sent = [];
        const model = {on: (event, hear) => hearing.add(hear), off: (event, hear) => hearing.delete(hear),
            send: (content) => sent.push(content)};
        const answer = (k, reply, buffers) => { for (const hear of [...hearing]) hear({id: sent[k].id, reply},
            buffers); };
        const told = (asked) => asked.then((reply) => [reply.n, reply.buffers.length], (error) => error.message);
        const first = told(m.ask(model, {q: 1})), second = told(m.ask(model, {q: 2})), third = told(m.ask(model, {}));
        answer(1, {n: 2}, [1, 2]);
        for (const hear of [...hearing]) hear(null);
        answer(0, {n: 1});
        answer(2, {error: "no"});
        const found = [await first, await second, await third, hearing.size];
        const timers = [], real = globalThis.setTimeout;
        globalThis.setTimeout = (call, ms) => { timers.push(ms); return real(call, ms / 1000); };
        const late = await told(m.ask(model, {}));
        await told(m.ask(model, {}, 3));
        globalThis.setTimeout = real;
        return [...found, sent.map((one) => one.question.q ?? 0), timers, late.split(".")[0], hearing.size,
            new Set(sent.map((one) => one.id)).size];""")  # fmt: skip
    assert found == [[1, 0], [2, 2], "no", 0, [1, 2, 0, 0, 0], [20_000, 3000], "Python does not answer", 0, 5]


def test_an_answered_question_is_never_late(page: Page) -> None:
    found = told(page, """
        const hearing = new Set();
        const model = {on: (event, hear) => hearing.add(hear),
            off: (event, hear) => { hearing.delete(hear); off += 1; },
            send: ({id}) => queueMicrotask(() => [...hearing][0]({id, reply: {}}))};
        let off = 0;
        await m.ask(model, {}, 0.02);
        await new Promise((done) => setTimeout(done, 60));
        return off;""")  # fmt: skip
    assert found == 1


def test_hatches(page: Page) -> None:
    """Seven patterns of 8 by 8; each has a ground of its own and other lines."""
    found = told(
        page,
        """
        const made = m.hatches("p");
        return [...made.children].map((one) => [said(one), [...one.children].map(said)]);""",
    )
    assert [pattern["id"] for pattern, _ in found] == [f"p-{k}" for k in range(7)]
    assert all((pattern["width"], pattern["height"], pattern["patternUnits"]) == ("8", "8", "userSpaceOnUse")
               for pattern, _ in found)  # fmt: skip
    assert [parts[0] for _, parts in found] == [
        {"width": "8", "height": "8", "class": f"gpulab-fill-{k}"} for k in range(7)
    ]
    lines = [[part["d"] for part in parts[1:]] for _, parts in found]
    assert lines == [
        [], ["M0 8 L8 0"], ["M2 2h.1", "M6 6h.1"], ["M0 0 L8 8", "M0 8 L8 0"], ["M0 0 L8 8"], ["M4 0V8", "M0 4H8"],
        ["M4 4h.1"],
    ]  # fmt: skip
    assert all(part["class"] == "gpulab-hatch" for _, parts in found for part in parts[1:])


def test_tips(page: Page) -> None:
    """Below its element, within the instrument; by mouse and focus, and gone by Escape."""
    found = told(page, """
        const root = host.appendChild(el("div", {style: {position: "relative", width: "200px", height: "100px"}}));
        const put = (left) => root.appendChild(el("button", {style: {position: "absolute", left: `${left}px`,
            top: "10px", width: "30px", height: "20px"}}));
        const one = put(20), last = put(190), before = put(-50), tips = m.tooltip(root);
        const box = root.querySelector(".gpulab-tip");
        Object.assign(box.style, {position: "absolute", width: "60px"});
        let words = "hello";
        tips.attach(one, () => words);
        tips.attach(last, () => "last");
        const state = () => [box.hidden, box.textContent, box.style.left, box.style.top];
        const fire = (node, kind) => node.dispatchEvent(new MouseEvent(kind));
        const seen = [state().slice(0, 1), one.getAttribute("aria-describedby") === box.id];
        fire(one, "mouseenter"); seen.push(state());
        fire(one, "mouseleave"); seen.push(box.hidden);
        last.focus(); seen.push(state());
        last.blur(); seen.push(box.hidden);
        tips.show(before, () => "before"); seen.push(state());
        key(root, "x"); seen.push(box.hidden);
        key(root, "Escape"); seen.push(box.hidden);
        words = "";
        fire(one, "mouseenter"); seen.push(box.hidden);
        return seen;""")  # fmt: skip
    assert found == [
        [True], True, [False, "hello", "20px", "34px"], True, [False, "last", "140px", "34px"], True,
        [False, "before", "0px", "34px"], False, True, True,
    ]  # fmt: skip
