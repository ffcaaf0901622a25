"""The modules of the editor's extension by themselves, in a page without JupyterLab: what they do with texts, folders,
kernels and the application, which are stand-ins here. tests/browser/test_editor.py has the whole in JupyterLab, and
test_editor_codemirror.py what needs CodeMirror.

Modules: completion.js lessons.js panel.js plugins.js remote.js sight.js tips.js words.js
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.gallery import Gallery
from tests.browser.modules import PLACE, beside

if TYPE_CHECKING:
    from playwright.sync_api import Page

MODULES = Path(__file__).resolve().parents[2] / "gpulab" / "editor" / "labextension" / "gpulab-editor" / "modules"
TABLE = """{
  magics: ["hip", "cuda"],
  names: {
    __syncthreads: {kind: "function", signature: "void __syncthreads()", text: "All wait.", place: ["06_lds",
        "Barriers"]},
    threadIdx: {kind: "variable", signature: "", text: "The thread.", place: []},
    float4: {kind: "type", signature: "", text: "Four floats.", place: []},
    __global__: {kind: "qualifier", signature: "", text: "A kernel.", place: []},
  },
  terms: {
    wave: {word: "wave", text: "Lanes together.", place: ["02_simt", "Waves"]},
    box: {word: "box", text: "A box.", place: []},
    LDS: {word: "LDS", text: "Local data share.", place: []},
  },
  lessons: [{file: "01_first", title: "01 · First"}, {file: "02_simt", title: "02 · SIMT"}, {file: "03_none",
      title: "03 · None"}],
  exercises: [{id: "first-fill", title: "Fill", lesson: "01_first", minutes: 10}, {id: "saxpy", title: "Saxpy",
      lesson: "01_first", minutes: 15},
              {id: "mirror", title: "Mirror", lesson: "02_simt", minutes: 20}],
}"""


@pytest.fixture
def page(gallery: Gallery) -> Page:
    return beside(gallery, MODULES)


def told(page: Page, script: str) -> Any:
    """What an asynchronous function with this body returns; it knows `table`."""
    return page.evaluate(f"async () => {{ const table = {TABLE}; {script} }}")


# --------------------------------------------------------------------------------------------------- words and tips


def test_a_cell_of_cpp_is_known_by_its_first_words(page: Page) -> None:
    found = told(page, """
        const { isHip } = await import("/words.js");
        return ["%%hip", "%%hip --quiet\\nint a;", "\\n  %%cuda x", "%%hipcc", "%%hip-x", "%%time", "a\\n%%hip",
            "% %hip", "%%", ""]
            .map((text) => isHip(table, text));""")  # fmt: skip
    assert found == [True, True, True, False, False, False, False, False, False, False]


def test_words_are_explained_also_in_the_plural(page: Page) -> None:
    found = told(page, """
        const { explain } = await import("/words.js");
        return ["__syncthreads", "threadIdx", "wave", "Waves", "boxes", "LDS", "lds", "nothing", "constructor"]
            .map((word) => explain(table, word)).map((one) => one && [one.title, one.text]);""")  # fmt: skip
    assert found == [
        ["void __syncthreads()", "All wait."], ["threadIdx", "The thread."], ["wave", "Lanes together."],
        ["wave", "Lanes together."], ["box", "A box."], ["LDS", "Local data share."], None, None, None,
    ]  # fmt: skip


def test_the_table_is_there_at_once_and_full_later(page: Page) -> None:
    found = told(page, """
        const { words, isHip } = await import("/words.js");
        const known = words(), before = [isHip(known.table, "%%hipcc"), Object.keys(known.table.names).length,
            known.table.lessons];
        await known.ready;
        return [...before, Object.keys(known.table.names).includes("threadIdx"),
            known.table.lessons.length > 10];""")  # fmt: skip
    assert found == [True, 0, [], True, True]


def test_a_box_has_a_title_and_lines(page: Page) -> None:
    found = told(
        page,
        """
        const { tip } = await import("/tips.js");
        return tip({kind: "error", title: "Error <b>", text: "one\\ntwo"}, {kind: "word", title: "Word",
            text: ""}).outerHTML;""",
    )
    assert found == (
        '<div class="gpulab-tip-box" role="tooltip">'
        '<div class="gpulab-tip-title gpulab-tip-error">Error &lt;b&gt;</div>'
        '<div>one</div><div>two</div><div class="gpulab-tip-title gpulab-tip-word">Word</div></div>'
    )


# ------------------------------------------------------------------------------------------------------- completion


def test_names_of_a_cell(page: Page) -> None:
    """Comments, texts, members, numbers' suffixes, single letters, the magic and the word that is typed are none."""
    text = (
        "%%hip --quiet\\nint alpha = 0x1f; // beta\\nalpha /* gamma\\n delta */ + out.member; "
        '"text \\\\" more" + \'c\';'
        "\\nfloat tile_2, i; alpha; ti"
    )
    found = told(page, f"""
        const {{ ownNames }} = await import("/completion.js");
        const text = '{text.replace("'", chr(92) + "'")}';
        return [ownNames(text, text.length - 2, text.length), ownNames("abc abd", 4, 7), ownNames("  %%hip\\nabc", 0,
            0),
                ownNames("ab cd ef", 3, 5)];""")  # fmt: skip
    assert found == [["int", "alpha", "out", "float", "tile_2"], ["abc"], ["abc"], ["ab", "ef"]]


def test_what_is_proposed(page: Page) -> None:
    found = told(page, """
        const { provider } = await import("/completion.js");
        const one = provider({table});
        const at = async (text, offset = text.length) => {
            const {start, end, items} = await one.fetch({text, offset});
            return [start, end, items.map((item) => [item.label, item.type, item.documentation ?? null])];
        };
        const applies = (text) => one.isApplicable({editor: {model: {sharedModel: {getSource: () => text}}}});
        return {
            names: await at("%%hip\\nint thrust, threads; th"),
            middle: await at("%%hip\\nint thrust; thr + 1", 21),
            inside: await at("%%hip\\nint thrust; thrust", 21),
            other: await at("%%hip\\n__s"), keyword: await at("%%hip\\nwhil"), whole: await at("%%hip\\nfloat4"),
            bare: await at("flo"), rest: await at("%%hip\\nint a; thruster + 1", 16),
            known: await at("%%hip\\nfloat4 flat; float f; fl"),
            own: await at("%%hip\\nint flat; fl"), member: await at("%%hip\\nint thrust; a.th"),
                nothing: await at("%%hip\\nint thrust; "),
            magic: await at("%%hip th"), global: await at("%%hip\\n__gl"),
            applies: [await applies("%%hip"), await applies("import"), await one.isApplicable({})],
            rank: one.rank,
        };""")  # fmt: skip
    name, thread = "a name of this cell", ["threadIdx", "variable", "The thread."]
    assert found["names"] == [
        27, 29, [["threads", "name", name], ["thrust", "name", name], thread, ["this", "keyword", None]],
    ]  # fmt: skip
    assert found["middle"] == [18, 21, [["thrust", "name", name], thread]]
    assert found["inside"] == [18, 21, [["thrust", "name", name], thread]]
    assert found["other"] == [6, 9, [["__syncthreads", "function", "void __syncthreads()\nAll wait."]]]
    assert found["keyword"] == [6, 10, [["while", "keyword", None]]]
    assert found["whole"] == [6, 12, []]
    floats = [["flat", "name", name], ["float4", "type", "Four floats."], ["float", "keyword", None]]
    assert found["own"] == [16, 18, floats]
    assert found["bare"] == [0, 3, floats[1:]]
    assert found["rest"] == [13, 16, [thread]]  # what stands behind the cursor belongs to the word that is typed
    assert found["known"][2] == floats  # each name once
    assert [found[each][2] for each in ("member", "nothing", "magic")] == [[], [], []]
    assert found["global"][2] == [["__global__", "keyword", "A kernel."]]
    assert found["applies"] == [True, False, False]
    assert found["rank"] == 1200  # before JupyterLab's own: 500 the words of the cell, 550 the kernel


# ---------------------------------------------------------------------------------------------------------- lessons

TREE = """
    const tree = {"": ["course:directory", "notes.ipynb:notebook"], "course": ["notebooks:directory",
        "exercises:directory", "own:directory"],
                  "course/notebooks": ["06_lds.ipynb:notebook", "01_a.ipynb:notebook"],
                      "course/exercises": ["fill:directory", "gone:directory"],
                  "course/exercises/fill": ["fill.ipynb:notebook"], "course/exercises/gone": [],
                      "course/own": ["06_lds.ipynb:directory"]};
    const asked = [];
    const contents = {get: async (folder, {content}) => {
        asked.push(folder);
        if (!(folder in tree) || !content) throw new Error(`no folder ${folder}`);
        return {content: tree[folder].map((each) => ({name: each.split(":")[0], type: each.split(":")[1]}))};
    }};
"""


def test_a_notebook_is_looked_for_beside_and_above(page: Page) -> None:
    found = told(page, TREE + """
        const { find } = await import("/lessons.js");
        const all = [];
        for (const [from, wanted] of [
            ["course/notebooks/01_a.ipynb", "notebooks/06_lds.ipynb"], ["course/exercises/fill/fill.ipynb",
                "notebooks/06_lds.ipynb"],
            ["course/notebooks/01_a.ipynb", "exercises/fill/fill.ipynb"], ["course/own/x.ipynb",
                "notebooks/06_lds.ipynb"],
            ["notes.ipynb", "notebooks/06_lds.ipynb"], ["", "notes.ipynb"], ["course/x.ipynb",
                "exercises/gone/gone.ipynb"]]) {
            asked.length = 0;
            all.push([await find(contents, from, wanted), asked.length]);
        }
        return all;""")  # fmt: skip
    assert [path for path, _ in found] == [
        "course/notebooks/06_lds.ipynb", "course/notebooks/06_lds.ipynb", "course/exercises/fill/fill.ipynb",
        "course/notebooks/06_lds.ipynb", "", "notes.ipynb", "",
    ]  # fmt: skip
    assert found[0][1] == found[5][1] == 1  # beside: nothing else is asked for


APP = (
    TREE
    + """
    const said = [], executed = [], opened = [];
    globalThis.open = (...given) => { opened.push(given); };
    const lab = {apputils: {Notification: {info: (text, {autoClose}) => said.push([text, autoClose])}},
                 coreutils: {PageConfig: {getBaseUrl: () => "/base/"}}};
    const app = (name) => ({name, serviceManager: {contents},
        commands: {execute: async (...given) => { executed.push(given); return null; }}});
    const current = () => ({context: {path: "course/x.ipynb"}});
    const { lessons } = await import("/lessons.js");
"""
)


def test_lessons_are_opened(page: Page) -> None:
    found = told(page, APP + """
        const inLab = lessons(app("JupyterLab"), lab, current), inNotebook = lessons(app("Jupyter Notebook"), lab,
            current);
        await inLab.open("notebooks/06_lds.ipynb", "Barriers-and-races");
        await inLab.open("notebooks/99.ipynb");
        await inLab.openWord("barrier", ["06_lds", "Barriers"]);
        inLab.openWord("nothing", []);
        await inNotebook.open("notebooks/06_lds.ipynb", "a b");
        await inNotebook.open("notebooks/01_a.ipynb");
        await inNotebook.openWord("barrier", ["06_lds", "Barriers"]);
        await lessons(app("JupyterLab"), lab, () => null).open("notes.ipynb");
        return {said, executed, opened};""")  # fmt: skip
    opening = ["docmanager:open", {"path": "course/notebooks/06_lds.ipynb"}]
    assert found["executed"] == [opening, opening, ["docmanager:open", {"path": "notes.ipynb"}]]
    assert found["said"] == [
        ["notebooks/99.ipynb is not beside this notebook: open the folder of the course.", 8000],
        ["No lesson explains nothing.", 5000],
    ]
    assert found["opened"] == [
        ["/base/notebooks/course/notebooks/06_lds.ipynb#a%20b", "_blank"],
        ["/base/notebooks/course/notebooks/01_a.ipynb", "_blank"],
        ["/base/notebooks/course/notebooks/06_lds.ipynb#Barriers", "_blank"],
    ]


PANEL = """
    /** A panel of three cells, the second with the heading; it comes into sight with the n-th try. */
    function panelOf(visibleAt, attribute = "id") {
        const node = document.body.appendChild(document.createElement("div"));
        node.style.cssText = "position: absolute; top: 0; left: 0; width: 400px; height: 300px; overflow: hidden";
        const cells = [0, 1, 2].map(() => node.appendChild(document.createElement("div")));
        const heading = cells[1].appendChild(document.createElement("h2"));
        heading.setAttribute(attribute, "Barriers");
        heading.textContent = "Barriers";
        cells[0].style.height = "900px";
        const asked = [];
        const content = {activeCellIndex: 0, widgets: cells.map((cell) => ({node: cell})),
            setFragment: async (text) => { asked.push(text);
                if (asked.length >= visibleAt) cells[0].style.height = "100px"; }};
        return {node, content, asked, context: {ready: Promise.resolve()}, revealed: Promise.resolve()};
    }
"""


QUICK = """
    const waits = [], later = globalThis.setTimeout; // what is waited for is noted, and not waited for
    globalThis.setTimeout = (does, ms) => { waits.push(ms); return later(does, 0); };
"""


def test_the_section_is_shown_until_it_is_in_sight(page: Page) -> None:
    """It is looked twice, as a notebook that was just opened goes to its first cell by itself; for ten seconds."""
    found = told(page, APP + PANEL + QUICK + """
        const shown = [];
        const panels = [panelOf(1), panelOf(3, "data-jupyter-id"), panelOf(99), panelOf(1), panelOf(1), panelOf(1)];
        panels[3].node.querySelector("h2").remove();
        panels[4].node.firstElementChild.prepend(panels[4].node.querySelector("h2")); // in the first cell
        panels[5].node.prepend(panels[5].node.querySelector("h2")); // in none
        for (const { content } of panels) content.activeCellIndex = 2;
        for (const panel of panels) {
            const here = app("JupyterLab");
            here.commands.execute = async () => panel;
            waits.length = 0;
            await lessons(here, lab, current).open("notebooks/06_lds.ipynb", "Barriers");
            shown.push([panel.asked.length, panel.asked[0], panel.content.activeCellIndex, [...waits]]);
        }
        return shown;""")  # fmt: skip
    assert found == [
        [1, "#Barriers", 1, [250] * 2],
        [3, "#Barriers", 1, [250] * 4],
        [40, "#Barriers", 1, [250] * 40],
        [40, "#Barriers", 2, [250] * 40],
        [1, "#Barriers", 0, [250] * 2],
        [1, "#Barriers", 2, [250] * 2],
    ]


def test_a_section_that_the_notebook_takes_away_again_is_looked_for_again(page: Page) -> None:
    found = told(page, APP + PANEL + QUICK + """
        const panel = panelOf(1), here = app("JupyterLab"), [first] = panel.content.widgets;
        here.commands.execute = async () => panel;
        const seen = [], wait = globalThis.setTimeout;
        globalThis.setTimeout = (does, ms) => { // when it has been seen once, the first cell comes instead
            if (waits.length === 1) { first.node.style.height = "900px"; panel.content.activeCellIndex = 0; }
            return wait(does, ms);
        };
        Object.defineProperty(panel.content, "activeCellIndex", {set: (k) => seen.push(k)});
        await lessons(here, lab, current).open("notebooks/06_lds.ipynb", "Barriers");
        return [panel.asked.length, waits.length, seen];""")  # fmt: skip
    assert found == [2, 4, [1, 0, 1]]


def test_a_heading_at_the_edge_of_the_panel_is_in_sight(page: Page) -> None:
    """Flush with the top or the bottom it can be read; a pixel beyond it is cut. Who scrolls is not brought back."""
    found = told(page, APP + PANEL + QUICK + """
        const tries = [];
        for (const [height, margin] of [[0, 0], [276, 0], [277, 0], [0, -1]]) {
            const panel = panelOf(99), heading = panel.node.querySelector("h2");
            heading.style.cssText = "margin: 0; height: 24px; position: relative; overflow: hidden";
            panel.node.firstElementChild.style.height = `${height}px`;
            heading.style.top = `${margin}px`;
            const ask = panel.content.setFragment;
            panel.content.setFragment = async (text) => {
                await ask(text);
                if (panel.asked.length === 3) panel.node.dispatchEvent(new Event("wheel"));
            };
            const here = app("JupyterLab");
            here.commands.execute = async () => panel;
            await lessons(here, lab, current).open("notebooks/06_lds.ipynb", "Barriers");
            tries.push(panel.asked.length);
            panel.node.remove();
        }
        return tries;""")  # fmt: skip
    assert found == [1, 1, 3, 3]


def test_notebook_7_shows_the_section_of_its_address(page: Page) -> None:
    found = told(page, APP + PANEL + """
        const signal = () => { const all = []; return {all, connect: (f) => all.push(f),
            disconnect: (f) => all.splice(all.indexOf(f), 1)}; };
        const arrives = async (name, hash, panel) => {
            history.replaceState(null, "", `/${hash}`);
            const tracker = {currentWidget: null, widgetAdded: signal()};
            lessons(app(name), lab, current).arrive(tracker);
            const waits = tracker.widgetAdded.all.length;
            if (waits) tracker.widgetAdded.all[0](tracker, panel);
            await new Promise((done) => setTimeout(done, 50));
            panel.node.dispatchEvent(new Event("wheel")); // or it is looked again
            return [waits, tracker.widgetAdded.all.length, [...panel.asked]];
        };
        const there = panelOf(1);
        const all = [await arrives("Jupyter Notebook", "#a%20b", panelOf(1)), await arrives("Jupyter Notebook", "",
            panelOf(1)),
                     await arrives("JupyterLab", "#x", panelOf(1))];
        history.replaceState(null, "", "/#Barriers");
        const tracker = {currentWidget: there, widgetAdded: signal()};
        lessons(app("Jupyter Notebook"), lab, current).arrive(tracker);
        await new Promise((done) => setTimeout(done, 50));
        return [...all, [tracker.widgetAdded.all.length, 0, there.asked]];""")  # fmt: skip
    assert found == [[1, 0, ["#a b"]], [0, 0, []], [0, 0, []], [0, 0, ["#Barriers"]]]


# ------------------------------------------------------------------------------------------------------------ panel

KERNEL = """
    const asked = [], opened = [], comms = [];
    let answers = {};
    const kernel = {createComm: (target) => {
        const comm = {closed: 0, open(question) {
            asked.push([target, question, comm.onMsg && comm.onClose ? "heard" : "not heard"]);
            const answer = answers[question.ask];
            if (answer) comm.onMsg({content: {data: answer}});
            comm.onClose();
        }, close() { comm.closed += 1; }};
        comms.push(comm);
        return comm;
    }};
    const { panel } = await import("/panel.js");
    let connection = kernel;
    const side = panel({table, ready: Promise.resolve()}, () => connection, (path) => opened.push(path));
    document.body.append(side.node);
    await Promise.resolve();
    const status = () => side.node.querySelector("[role=status]").textContent;
    const items = () => [...side.node.querySelectorAll("li")].map((each) => each.textContent);
    const named = (label) => side.node.querySelector(`[aria-label="${label}"]`);
"""


def test_the_panel_lists_lessons_and_opens_them(page: Page) -> None:
    found = told(page, KERNEL + """
        for (const label of ["Open the lesson: 01 · First", "Open the exercise: Saxpy"]) named(label).click();
        return {opened, items: items(),
            lists: [...side.node.querySelectorAll("details")].map((each) => each.querySelectorAll("ul").length),
                summaries: [...side.node.querySelectorAll("summary")].map((each) => each.textContent),
                    name: side.node.getAttribute("aria-label"),
                titles: [...side.node.querySelectorAll("button")].every((each) =>
                    each.title === each.getAttribute("aria-label") && each.type === "button"),
                live: side.node.querySelector("[role=log]").textContent, asked};""")  # fmt: skip
    assert found["opened"] == ["notebooks/01_first.ipynb", "exercises/saxpy/saxpy.ipynb"]
    assert found["items"] == ["Fill10 minutesHint", "Saxpy15 minutesHint", "Mirror20 minutesHint"]
    assert found["lists"] == [1, 1, 0]
    assert found["summaries"] == ["01 · First", "02 · SIMT", "03 · None"]
    assert (found["name"], found["titles"], found["live"], found["asked"]) == ("Course", True, "", [])


def test_progress_and_hints_come_from_the_kernel(page: Page) -> None:
    found = told(page, KERNEL + """
        const seen = {};
        connection = null;
        named("Refresh progress").click();
        seen.none = status();
        connection = kernel;
        named("Refresh progress").click();
        seen.silent = status();
        answers.progress = {error: "No course here."};
        named("Refresh progress").click();
        seen.error = status();
        answers.progress = {sentence: "1 of 3 exercises solved.", exercises: {
            "first-fill": {state: "solved", note: "2 checks"}, saxpy: {state: "begun", note: ""},
                mirror: {state: "open", note: ""}}};
        side.node.querySelectorAll("details")[1].open = true;
        await new Promise((done) => setTimeout(done, 20));
        side.refresh();
        seen.status = status();
        seen.items = items();
        seen.summaries = [...side.node.querySelectorAll("summary")].map((each) => each.textContent);
        seen.open = [...side.node.querySelectorAll("details")].map((each) => each.open);
        side.node.querySelectorAll("details")[1].open = false;
        side.node.querySelectorAll("details")[0].open = true;
        await new Promise((done) => setTimeout(done, 20));
        answers.hint = {text: "Hint 1 of 3: `if (i < n)` and `y[i]`."};
        named("Hint for Saxpy").click();
        seen.hint = items()[1];
        seen.code = [...side.node.querySelectorAll(".gpulab-panel-hint code")].map((each) => each.textContent);
        seen.live = side.node.querySelector("[role=log]").textContent;
        seen.focus = document.activeElement.getAttribute("aria-label");
        seen.after = [...side.node.querySelectorAll("details")].map((each) => each.open);
        seen.asked = asked;
        seen.closed = comms.map((each) => each.closed);
        return seen;""")  # fmt: skip
    missing = "open a notebook, run its cell with import gpulab, then press Refresh."
    assert found["none"].endswith(missing)
    assert found["silent"].endswith(missing)
    assert found["error"] == "No course here."
    assert found["status"] == "1 of 3 exercises solved."
    assert found["items"] == [
        "Fill10 minutes · ✓ solved · 2 checksHint", "Saxpy15 minutes · … begunHint", "Mirror20 minutes · ○ openHint",
    ]  # fmt: skip
    assert found["summaries"] == ["01 · First (1 of 2 solved)", "02 · SIMT (0 of 1 solved)", "03 · None"]
    assert found["open"] == [False, True, False]
    assert found["hint"].endswith("HintHint 1 of 3: if (i < n) and y[i].")
    assert found["code"] == ["if (i < n)", "y[i]"]
    assert (found["live"], found["focus"]) == ("Hint 1 of 3: `if (i < n)` and `y[i]`.", "Hint for Saxpy")
    assert found["after"] == [True, False, False]
    kinds = ["progress", "progress", "progress", "hint", "progress"]
    assert [(target, question["ask"], heard) for target, question, heard in found["asked"]] == [
        ("gpulab.editor", kind, "heard") for kind in kinds
    ]
    assert found["asked"][3][1]["id"] == "saxpy"
    assert found["closed"] == [0, 1, 1, 1, 1]  # after an answer, once


# ------------------------------------------------------------------------------------------------------------ sight


def test_a_report_is_brought_into_sight_until_somebody_acts(page: Page) -> None:
    found = told(page, """
        const { sight } = await import("/sight.js");
        let hear = null;
        const node = document.body.appendChild(document.createElement("div"));
        node.style.cssText = "height: 300px; overflow: auto";
        const above = node.appendChild(document.createElement("div")),
            output = node.appendChild(document.createElement("div"));
        above.style.height = "800px";
        const inner = output.appendChild(document.createElement("div"));
        const report = inner.appendChild(document.createElement("p"));
        report.className = "gpulab-rejected";
        report.style.height = "50px";
        const content = {node};
        sight({notebook: {NotebookActions: {executed: {connect: (f) => { hear = f; }}}}},
            {get currentWidget() { return panel; }});
        let panel = {content};
        const run = (more = {}) => ({notebook: content, cell: {model: {type: "code"}, outputArea: {node: output}},
            ...more});
        const later = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 30)));
        const seen = [];
        const look = () => { const box = report.getBoundingClientRect();
            seen.push(box.top >= 0 && box.bottom <= 310 + 8); };
        const begin = async (given) => { node.scrollTop = 0; await later(); hear(null, given); await later(); look();
            };
        await begin(run({notebook: {}}));
        await begin(run({cell: {model: {type: "markdown"}, outputArea: {node: output}}}));
        await begin(run({cell: {model: {type: "code"}}}));
        panel = null;
        await begin(run());
        panel = {content};
        await begin(run());
        inner.style.paddingTop = "600px";   // what stands above it grows: a picture has come
        await later(); look();
        node.dispatchEvent(new WheelEvent("wheel"));
        inner.style.paddingTop = "1200px";
        await later(); look();
        report.className = "";
        await begin(run());
        return seen;""")  # fmt: skip
    assert found == [False, False, False, False, True, True, False, False]


def test_a_report_is_followed_for_ten_seconds(page: Page) -> None:
    """By the page's clock, which stands still until it is moved."""
    page.clock.install(time=0)
    page.goto(PLACE)
    page.clock.pause_at(3_600_000)  # later than the page can have come to by itself
    told(page, """
        const { sight } = await import("/sight.js");
        const node = document.body.appendChild(document.createElement("div")),
            report = node.appendChild(document.createElement("p"));
        report.className = "gpulab-rejected";
        const content = {node};
        globalThis.removed = globalThis.shown = 0;
        node.removeEventListener = (...given) => { globalThis.removed += 1;
            Element.prototype.removeEventListener.apply(node, given); };
        report.scrollIntoView = () => { globalThis.shown += 1; };
        sight({notebook: {NotebookActions: {executed: {connect: (f) => { globalThis.hear = f; }}}}},
            {currentWidget: {content}});
        globalThis.run = {notebook: content, cell: {model: {type: "code"}, outputArea: {node}}};
        globalThis.hear(null, globalThis.run);""")  # fmt: skip
    assert page.evaluate("shown") == 1  # at once, also where nothing is around it that could grow
    page.clock.run_for(9_900)
    assert page.evaluate("removed") == 0
    page.clock.run_for(200)
    assert page.evaluate("removed") == 4
    told(page, """
        globalThis.hear(null, globalThis.run);
        globalThis.run.notebook.node.dispatchEvent(new WheelEvent("wheel"));""")  # fmt: skip
    assert page.evaluate("removed") == 8
    page.clock.run_for(10_100)
    assert page.evaluate("removed") == 8  # it ends once


# -------------------------------------------------------------------------------------------------- remote, plugins

LOADED = """
    const got = [];
    const token = (name) => ({ token: name });
    const pack = (name, content = {}) => async () => { got.push(name); return () => content; };
    const at = (name, content) => ({"1.0.0": {get: pack(name, content)}});
    const registry = {};
    const packages = {
        "@codemirror/state": {"6.9.0": {get: pack("state 6.9.0")}, "6.10.0": {get: pack("state 6.10.0", STATE)}},
        "@codemirror/view": {"6.1.0": {get: pack("view loaded", VIEW), loaded: 1}, "6.2.0": {get: pack("view newer")}},
        "@codemirror/language": at("language", {}), "@lezer/common": at("common", {}),
            "@lezer/highlight": at("highlight", {}),
        "@jupyterlab/codemirror": at("codemirror", {IEditorExtensionRegistry: "extensions",
            IEditorLanguageRegistry: "languages"}),
        "@jupyterlab/completer": at("completer", {ICompletionProviderManager: "completion"}),
        "@jupyterlab/notebook": at("notebook", {INotebookTracker: "tracker",
            NotebookActions: {executed: {connect: (f) => { registry.executed = f; }}}}),
        "@jupyterlab/apputils": at("apputils", {ICommandPalette: "palette", Notification: {info: () => {}}}),
        "@jupyterlab/coreutils": at("coreutils", {PageConfig: {getBaseUrl: () => "/"}}),
        "@lumino/widgets": at("widgets", {Widget: class { constructor() { this.node = document.createElement("div");
            this.title = {}; this.classes = []; } addClass(name) { this.classes.push(name); } }}),
    };
    await new Promise((done) => document.head.append(Object.assign(document.createElement("script"),
        {src: "/remote.js", onload: done})));
    const container = globalThis._JUPYTERLAB["gpulab-editor"];
"""


def test_the_container_takes_the_package_in_use_else_the_newest(page: Page) -> None:
    found = told(page, "const STATE = {}, VIEW = {};" + LOADED + """
        container.init(packages);
        const made = (await container.get())();
        const links = [...document.head.querySelectorAll("link")].map((each) => [each.rel, each.href]);
        const first = got.splice(0).sort();
        for (const name of ["@codemirror/state", "@codemirror/view"])
            packages[name] = Object.fromEntries(Object.entries(packages[name]).reverse());
        await container.get();
        const second = got.splice(0).sort();
        delete packages["@lumino/widgets"];
        let failed = "";
        try { await container.get(); } catch (error) { failed = error.message; }
        return {first, second, module: made.__esModule, links: links[0], failed,
                plugins: made.default.map((one) => [one.id, one.autoStart, one.requires, one.optional ?? [],
                    one.description.length > 20])};""")  # fmt: skip
    assert found["first"] == found["second"] == [  # in whatever order the application has them
        "apputils", "codemirror", "common", "completer", "coreutils", "highlight", "language", "notebook",
        "state 6.10.0", "view loaded", "widgets",
    ]  # fmt: skip
    assert found["module"] is True
    assert found["links"] == ["stylesheet", f"{PLACE}style.css"]
    assert found["failed"] == "gpulab-editor: this application does not share @lumino/widgets"
    assert found["plugins"] == [
        ["gpulab-editor:language", True, ["extensions", "languages"], [], True],
        ["gpulab-editor:messages", True, ["extensions"], ["tracker", "palette"], True],
        ["gpulab-editor:completion", True, ["completion"], [], True],
        ["gpulab-editor:sight", True, ["tracker"], [], True],
        ["gpulab-editor:panel", True, ["tracker"], ["palette"], True],
    ]


def test_the_panel_is_put_at_the_right_and_shown_by_a_command(page: Page) -> None:
    found = told(page, "const STATE = {}, VIEW = {};" + LOADED + """
        container.init(packages);
        const plugins = (await container.get())().default,
            plugin = (name) => plugins.find((one) => one.id.endsWith(name));
        const seen = {added: [], commands: {}, palette: [], shown: [], providers: []};
        const asked = [];
        const kernel = {createComm: () => ({open: (question) => asked.push(question), close() {}})};
        const tracker = {currentWidget: {context: {path: ""}, sessionContext: {session: {kernel}}}};
        const app = {shell: {add: (...given) => { seen.added.push(given); document.body.append(given[0].node); },
                             activateById: (id) => seen.shown.push(["activate", id]),
                                 expandRight: (id) => seen.shown.push(["expand", id])},
                     commands: {addCommand: (id, about) => { seen.commands[id] = about; }, execute: async () => null},
                     serviceManager: {contents: {get: async () => ({content: [{name: "notebooks",
                         type: "directory"}]})}}};
        plugin("panel").activate(app, tracker, {addItem: (item) => seen.palette.push(item)});
        plugin("completion").activate(app, {registerProvider: (one) => seen.providers.push(one.identifier)});
        plugin("sight").activate(app, tracker);
        const [widget, area, options] = seen.added[0];
        seen.commands["gpulab-editor:panel"].execute();
        for (let n = 0; n < 100 && !widget.node.querySelector("details");
            n += 1) await new Promise((done) => setTimeout(done, 20));
        return {widget: [widget.id, widget.classes, widget.title, widget.node.children.length, area,
            options.rank],
                commands: Object.keys(seen.commands), palette: seen.palette, shown: seen.shown, asked,
                focus: document.activeElement.textContent, providers: seen.providers,
                    executed: typeof registry.executed,
                lessons: widget.node.querySelectorAll("details").length > 10};""")  # fmt: skip
    title = {"label": "Course", "caption": "gpulab: lessons, exercises, progress, hints"}
    assert found["widget"] == ["gpulab-editor-panel", ["gpulab-panel-host"], title, 1, "right", 900]
    assert found["commands"] == ["gpulab-editor:panel"]
    assert found["palette"] == [{"command": "gpulab-editor:panel", "category": "gpulab"}]
    assert found["shown"] == [["activate", "gpulab-editor-panel"], ["expand", "gpulab-editor-panel"]]
    assert found["asked"] == [{"ask": "progress"}]
    assert (found["focus"], found["providers"]) == ("Refresh", ["gpulab-editor:completion"])
    assert (found["executed"], found["lessons"]) == ("function", True)
