"""The extension's parts that work inside of CodeMirror, in editors of their own in a page of JupyterLab, with its own
packages: language.js markers.js explain.js. tests/browser/test_editor.py has them in notebooks.

Expected are C++'s rules, and places counted in the texts by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser import gallery as galleries
from tests.browser.lab import Lab

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.xdist_group("lab")

# JupyterLab gives its packages to the extension's container when it loads: they are kept on the way.
KEEP = """
    let own;
    const keep = (container) => ({...container, init(given) { globalThis.gpulabPackages = given;
        return container.init(given); }});
    globalThis._JUPYTERLAB ??= {};
    Object.defineProperty(globalThis._JUPYTERLAB, "gpulab-editor", {configurable: true, enumerable: true,
        get: () => own, set(container) { own = keep(container); }});
"""
PREPARE = """
async () => {
  const place = [...document.scripts].map((script) => script.src).find((src) => src.includes("gpulab-editor") &&
      src.includes("remote"));
  const load = (name) => import(new URL(name, place).href);
  const shared = async (name) => {
    const versions = Object.values(globalThis.gpulabPackages[name]);
    return (await (versions.find((one) => one.loaded) ?? versions[0]).get())();
  };
  const lab = {};
  for (const [name, full] of [["state", "@codemirror/state"], ["view", "@codemirror/view"], ["language",
      "@codemirror/language"], ["common", "@lezer/common"],
                              ["highlight", "@lezer/highlight"], ["codemirror",
                                  "@jupyterlab/codemirror"]]) lab[name] = await shared(full);
  const modules = Object.assign({}, ...await Promise.all(["words.js", "language.js", "markers.js",
      "explain.js", "plugins.js"].map(load)));
  const table = {magics: ["hip"], lessons: [], exercises: [], terms: {wave: {word: "wave", text: "Lanes together.",
      place: ["02_simt", "Waves"]}}, names: {
    __syncthreads: {kind: "function", signature: "void __syncthreads()", text: "All wait.", place: ["06_lds",
        "Barriers"]},
    threadIdx: {kind: "variable", signature: "", text: "The thread.", place: []}, float4: {kind: "type",
        signature: "", text: "Four.", place: []},
    __global__: {kind: "qualifier", signature: "", text: "A kernel.", place: []}}};
  const known = {table, ready: Promise.resolve()};
  const signal = () => { const all = new Set(); return {all, connect: (f) => all.add(f),
      disconnect: (f) => all.delete(f)}; };
  /** A cell's outputs with these messages; `put` replaces them. */
  const outputsOf = (given) => {
    const made = {given: [given], changed: signal(), get length() { return made.given.length; },
        get: (k) => k in made.given ? {metadata: made.given[k] === null ? undefined
            : {gpulab: {diagnostics: made.given[k]}}} : undefined,
                  put(...next) { made.given = next; for (const f of [...made.changed.all]) f(); }};
    return made;
  };
  const pause = (ms = 30) => new Promise((done) => setTimeout(done, ms));
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 20)));
  const said = new WeakMap(); // what was announced last: CodeMirror takes the words away again
  const editor = (doc, extensions) => {
    const host = document.body.appendChild(document.createElement("div"));
    host.style.cssText = "position: fixed; inset: 300px 0 0 300px; width: 600px; height: 200px; "
      + "z-index: 99999; background: white";
    const view = new lab.view.EditorView({doc, extensions, parent: host});
    const place = view.dom.querySelector(".cm-announced");
    new MutationObserver(() => { if (place.textContent.trim()) said.set(view, place.textContent); })
      .observe(place, {childList: true, characterData: true, subtree: true});
    return view;
  };
  const key = (view, name, more = {}) => !view.contentDOM.dispatchEvent(new KeyboardEvent("keydown", {key: name,
      bubbles: true, cancelable: true, ...more}));
  const boxes = () => [...document.querySelectorAll(".gpulab-tip-box")].map((box) => [...box.children]
      .map((line) => line.textContent));
  const heard = (view) => said.get(view) ?? "";
  globalThis.gpulabTools = {lab, shared, ...modules, known, outputsOf, pause, frame, editor, key, boxes, heard};
}
"""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    import nbformat

    folder = tmp_path_factory.mktemp("codemirror")
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("import gpulab")])
    nbformat.write(made, folder / "empty.ipynb")
    with Lab(folder / "server", [folder / "empty.ipynb"]) as lab:
        yield lab


@pytest.fixture(scope="module")
def kept() -> list[Any]:
    return []


@pytest.fixture
def page(running: Lab, browser_gallery: galleries.Gallery, kept: list[Any], request: pytest.FixtureRequest) -> Page:
    """One page for all tests of this file, as each has editors of its own."""
    if not kept:
        with galleries.limit(galleries.LAB_SECONDS, request.node.name):
            context = browser_gallery.browser.new_context(service_workers="block")
            made = context.new_page()
            made.add_init_script(KEEP)
            made.goto(f"{running.address}/lab/tree/empty.ipynb?reset", wait_until="domcontentloaded")
            made.wait_for_function("globalThis.gpulabPackages && globalThis.jupyterapp?.shell", timeout=60_000)
            made.locator(".jp-Notebook .jp-Cell").first.wait_for(timeout=60_000)
            made.evaluate(PREPARE)
            kept.append(made)
    page: Page = kept[0]
    return page


def told(page: Page, script: str) -> Any:
    """What an asynchronous function with this body returns; it knows what PREPARE makes."""
    names = (
        "lab, known, outputsOf, pause, frame, editor, key, boxes, heard, blanked, language, messages, placed, markTip, "
        "markers, wordAt, explanations, beginning, plugins, shared"
    )
    return page.evaluate(
        f"async () => {{ const {{{names}}} = globalThis.gpulabTools; "
        f"document.querySelectorAll('body > div[style*=fixed]').forEach((each) => each.remove()); {script} }}"
    )


def message(line: int, column: int, text: str = "", severity: str = "error", words: str = "bad") -> str:
    return (
        f"{{severity: '{severity}', message: '{words}', advice: 'Mend {words}.', line: {line}, column: {column}, "
        f"text: {text!r}}}"
    )


# --------------------------------------------------------------------------------------------------------- language


def test_what_cpp_need_not_read_is_blank(page: Page) -> None:
    found = told(
        page,
        """
        return ["%%hip --quiet\\nint a;", "__global__ void k()", "__launch_bounds__(64, 2) x", "my__global__",
            "a\\n%%hip", " \\n %%cuda\\nb"].map(blanked);""",
    )
    assert found == [
        " " * 13 + "\nint a;", " " * 10 + " void k()", " " * 24 + " x", "my__global__", "a\n%%hip",
            " \n" + " " * 7 + "\nb",
    ]  # fmt: skip


LANGUAGE = """
    const registry = new lab.codemirror.EditorLanguageRegistry();
    for (const one of lab.codemirror.EditorLanguageRegistry.getDefaultLanguages()) registry.addLanguage(one);
    const made = language(lab, known, registry);
    const marks = (view) => [...view.contentDOM.querySelectorAll("[class*=gpulab-]")].map((one) =>
        [/gpulab-([a-z]+)/.exec(one.className)[1], one.textContent]);
    const node = (view, at) => {
        const {name, from, to} = lab.language.syntaxTree(view.state).resolveInner(at, 1);
        return name && [name, from, to];
    };
    const settle = async () => { await registry.getLanguage("text/x-c++src"); await pause(60); };
    const until = async (test) => { for (let k = 0; k < 500 && !test(); ++k) await pause(10); };
    const parsed = async (view) => {
        // The parser gives way to the page: on a slow machine the end of a text is parsed later, in idle time.
        await settle();
        await until(() => lab.language.syntaxTreeAvailable(view.state));
        await frame();
    };
"""


def test_names_are_marked_by_their_kind(page: Page) -> None:
    found = told(page, LANGUAGE + """
        const text = "%%hip -x\\n__global__ void k(float4* a) { a[threadIdx.x] = a.float4; } // float4\\n"
            + "const char* s = \\"threadIdx\\"; char c = 'x';";
        const view = editor(text, made);
        await parsed(view);
        const before = marks(view);
        const nodes = [node(view, 20)];
        view.dispatch({changes: {from: 0, to: 9, insert: ""}});
        await until(() => marks(view).length === 0);
        const without = [marks(view), node(view, 11)];
        view.dispatch({changes: {from: 0, insert: "\\n  %%hip\\n"}});
        await parsed(view);
        const again = marks(view);
        nodes.push(node(view, 20));
        view.dispatch({changes: {from: view.state.doc.length, insert: " float4"}});
        await parsed(view);
        const more = marks(view).length - again.length;
        view.destroy();
        const python = editor("int threadIdx = 1", made);
        await settle();
        return {before, nodes, without, again, more, python: [marks(python), node(python, 1)]};""")  # fmt: skip
    names = [
        ["qualifier", "__global__"], ["primitive", "void"], ["type", "float4"], ["variable", "threadIdx"],
        ["primitive", "char"], ["primitive", "char"],
    ]  # fmt: skip
    assert found["before"] == [["magic", "%%hip -x"], *names]
    assert found["without"] == [[], ""]  # no language's tree
    assert found["again"] == [["magic", "%%hip"], *names]
    assert found["more"] == 1
    assert found["python"] == [[], ""]
    assert found["nodes"] == [["PrimitiveType", 20, 24]] * 2


def test_the_first_line_with_words(page: Page) -> None:
    """However much is above it, and however long it is."""
    found = told(
        page,
        """
        const texts = ["", "a", "a\\nb", "\\n  \\n\\t%%hip -x\\nint a;", " \\n ",
            "\\n".repeat(5000) + "%%hip\\n", "x".repeat(9000)];
        return texts.map((text) => beginning(lab.state.Text.of(text.split("\\n"))).length);""",
    )
    assert found == [0, 1, 1, 1 + 3 + 9, 3, 5005, 9000]


def test_a_magic_of_any_length_is_marked(page: Page) -> None:
    """Below many empty lines, too; what stands in it is no name."""
    found = told(page, LANGUAGE + """
        const long = "%%hip " + "--include threadIdx ".repeat(110).trim(), found = [];
        for (const text of [long + "\\na;", "\\n".repeat(30) + "  " + long + "\\na;"]) {
            const view = editor(text, [...made, lab.view.EditorView.lineWrapping]);
            await parsed(view);
            found.push(marks(view).map(([kind, words]) => [kind, words.length]));
            view.destroy();
        }
        return [long.length, found];""")  # fmt: skip
    length, (first, second) = found
    assert length == 6 + 110 * 20 - 1
    assert first == second == [["magic", length]]


def test_each_kind_has_the_themes_colour(page: Page) -> None:
    """A class of the theme stands beside the extension's own; the editor itself knows the mode."""
    found = told(page, LANGUAGE + """
        const style = lab.language.syntaxHighlighting(lab.language.HighlightStyle.define([
            {tag: lab.highlight.tags.keyword, class: "themed-keyword"}, {tag: lab.highlight.tags.meta,
                class: "themed-meta"}]));
        const view = editor("%%hip\\n__global__ void k(float4 a) { threadIdx; __syncthreads(); }", [style, made]);
        await parsed(view);
        view.dispatch({selection: {anchor: 1}});
        const classes = Object.fromEntries([...view.contentDOM.querySelectorAll("[class*=gpulab-]")].map((one) =>
            [one.textContent, one.className]));
        const late = editor("%%hip\\nint threadIdx;", made);
        late.destroy();
        await settle();
        return classes;""")  # fmt: skip
    assert found == {
        "%%hip": "gpulab-magic themed-meta", "__global__": "gpulab-qualifier themed-keyword",
        "void": "gpulab-primitive themed-keyword", "float4": "gpulab-type themed-keyword",
        "threadIdx": "gpulab-variable themed-keyword", "__syncthreads": "gpulab-function themed-keyword",
    }  # fmt: skip


# ---------------------------------------------------------------------------------------------------------- markers


def test_messages_of_outputs(page: Page) -> None:
    found = told(page, f"""
        const good = {message(2, 1)}, warned = {message(3, 1, severity="warning")};
        const outputs = outputsOf([good]);
        outputs.given = [[good, {{message: 3, line: 1, severity: "error"}}, null], null, "text", [warned, {{...good,
            line: 1.5}}, {{...good, severity: "constructor"}}]];
        return messages(outputs).map((one) => [one.severity, one.line]);""")  # fmt: skip
    assert found == [["error", 2], ["warning", 3]]


def test_places_of_messages(page: Page) -> None:
    """Counted by hand; columns count from 1. Lines whose text has changed, or that are not there, have none."""
    text = r"\n\n%%hip\n  int abc = d;\n\nx;"  # empty lines at the top are not IPython's
    given = [
        message(2, 7), message(2, 7, "int abc = d;", words="same"), message(2, 11, "int other;"), message(2, 1),
            message(2, 11),
        message(2, 99), message(0, 1), message(-2, 1), message(4, 1), message(5, 1), message(1, 1), message(2, 13),
    ]  # fmt: skip
    found = told(
        page,
        f"""
        const doc = lab.state.Text.of("{text}".split("\\n"));
        return placed(doc, [{", ".join(given)}]).map((one) => [one.from, one.to]);""",
    )
    # Line 3 is at 2 to 7, line 4 at 8 to 22, line 6 at 24 to 26.
    assert found == sorted(found)
    assert found == [[1, 1], [2, 3], [10, 13], [14, 17], [14, 17], [18, 19], [20, 21], [22, 22], [24, 25]]
    assert told(
        page, f"return placed(lab.state.Text.of(['', ' x']), [{message(1, 2)}]).map((one) => [one.from, one.to]);"
    ) == [[2, 3]]
    of_magic = f"[{message(1, 3)}, {message(0, 1)}, {message(2, 1)}, {message(3, 1)}]"
    assert told(
        page, f"return placed(lab.state.Text.of(['%%hip', 'x']), {of_magic}).map((one) => [one.from, one.to]);"
    ) == [[2, 5], [6, 7]]


def test_marks_in_the_text_and_the_margin(page: Page) -> None:
    found = told(page, f"""
        const given = [{message(2, 5, words="one")}, {message(2, 9, severity="warning", words="two")}, {message(3, 1,
            severity="warning", words="three")}, {message(3, 4, words="end")}];
        const outputs = outputsOf(given), made = markers(lab);
        let updates = 0;
        const counting = lab.view.EditorView.updateListener.of((update) => {{
            updates += update.transactions.length;
        }});
        const view = editor("%%hip\\nint abc = d;\\nx;y", [counting, made.extension(outputs)]);
        const seen = () => ({{
            signs: [...view.dom.querySelectorAll(".gpulab-sign")].map((one) => [one.className, one.textContent,
                one.title]),
            marks: [...view.dom.querySelectorAll(".gpulab-mark")].map((one) => [one.className, one.textContent,
                one.getAttribute("aria-description")])}});
        await pause();
        const first = seen(), said = heard(view);
        view.dispatch({{changes: {{from: 0, insert: "// new\\n"}}}});
        const moved = view.state.field(made.field).map((one) => [one.from, one.to]);
        const again = seen().signs.map((one) => one[2]);
        view.dispatch({{changes: {{from: 13, to: 25, insert: "zz"}}}});
        const cut = view.state.field(made.field).map((one) => [one.message, one.from, one.to]);
        view.dispatch({{changes: {{from: 0, to: view.state.doc.length, insert: "%%hip\\nint abc = d;\\nx;y"}}}});
        const runs = [], sign = () => view.dom.querySelector(".gpulab-sign");
        const both = [given[0], given[1]];
        for (const next of [both, both, [given[0], ...both], [given[1]], []]) {{
            const before = sign();
            updates = 0;
            outputs.put(next);
            outputs.put(next);
            await pause();
            runs.push([updates, sign() === before, seen().signs.map((one) => one.slice(1)), heard(view)]);
        }}
        updates = 0;
        outputs.put();
        await pause();
        const still = updates;
        view.destroy();
        return {{first, said, moved, again, cut, runs, still, left: outputs.changed.all.size,
            none: made.extension(null)}};""")  # fmt: skip
    error, warning = "gpulab-sign gpulab-sign-error", "gpulab-sign gpulab-sign-warning"
    assert found["first"]["signs"] == [
        [error, "✖", "Error in line 2: one\nWarning in line 2: two"], [error, "✖",
            "Warning in line 3: three\nError in line 3: end"],
    ]  # fmt: skip
    assert found["first"]["marks"] == [
        ["gpulab-mark gpulab-mark-error", "abc", "error: one"],
        ["gpulab-mark gpulab-mark-warning", "=", "warning: two"],
        ["gpulab-mark gpulab-mark-warning", "x", "warning: three"],
    ]
    assert found["said"] == ""  # nobody has run it now
    assert found["moved"][0] == [17, 20]
    assert found["again"] == [
        "Error in line 3: one\nWarning in line 3: two",
        "Warning in line 4: three\nError in line 4: end",
    ]
    assert warning not in [sign[0] for sign in found["first"]["signs"]]
    assert [name for name, *_ in found["cut"]] == ["three", "end"]
    one, two, keys = "Error in line 2: one", "Warning in line 2: two", "F8 in the cell goes to each."
    assert [run[:3] for run in found["runs"]] == [  # many changes of the outputs at once change the editor once
        [1, False, [["✖", f"{one}\n{two}"]]],
        [1, True, [["✖", f"{one}\n{two}"]]],
        [1, False, [["✖", f"{one}\n{one}\n{two}"]]],
        [1, False, [["▲", two]]],
        [1, False, []],
    ]
    said = [run[3].strip() for run in found["runs"]]
    assert said == [
        f"1 error, 1 warning. {keys}", f"1 error, 1 warning. {keys}", f"2 errors, 1 warning. {keys}",
        f"1 warning. {keys}", f"1 warning. {keys}",
    ]  # fmt: skip
    assert found["still"] == 0  # without messages before and after there is nothing to change
    assert (found["left"], found["none"]) == (0, [])


def test_keys_go_from_message_to_message(page: Page) -> None:
    found = told(page, f"""
        const given = [{message(2, 5, words="one")}, {message(2, 5, severity="warning", words="beside")}, {message(3,
            1, words="two")}];
        const made = markers(lab), outputs = outputsOf(given);
        const view = editor("%%hip\\nint abc = d;\\nx;", made.extension(outputs));
        await pause();
        const steps = [], head = () => view.state.selection.main.head;
        view.focus();
        const press = async (name, more) => {{ const taken = key(view, name, more); await frame(); steps.push([taken,
            head(), boxes().map((box) => box[0]), heard(view)]); }};
        await press("F8"); await press("F8"); await press("F8");
        await press("F8", {{shiftKey: true}}); await press("F8", {{shiftKey: true}});
        const two = boxes()[0];
        await press("Escape"); await press("Escape");
        await press("F8");
        view.dispatch({{selection: {{anchor: 0}}}}); await frame();
        const left = boxes().length;
        await press("F8");
        view.dispatch({{changes: {{from: view.state.doc.length, insert: " "}}}}); await frame();
        const typed = boxes().length;
        await press("F8");
        view.contentDOM.dispatchEvent(new FocusEvent("blur")); await frame();
        const blurred = boxes().length;
        await press("F8");
        const again = boxes().length;
        outputs.put([{message(3, 1, words="new")}]); await pause(); await frame();
        const replaced = boxes();
        outputs.put(); await pause(); await frame();
        const gone = boxes();
        const three = editor("%%hip\\nint abc = d;\\nx;", made.extension(outputsOf([{message(3, 1)}, {message(2, 5)},
            {message(2, 9)}])));
        await pause();
        const way = [false, false, false, false, true, true, true].map((shiftKey) => {{ key(three, "F8", {{shiftKey}});
            return three.state.selection.main.head; }});
        const none = editor("x", made.extension(outputsOf([])));
        await pause();
        return {{steps, two, left, typed, blurred, again, replaced, gone, way,
            none: [key(none, "F8"), key(none, "Escape")]}};""")  # fmt: skip
    one = ["✖ Error in line 2: one"]
    assert [step[:3] for step in found["steps"][:5]] == [
        [True, 10, one], [True, 19, ["✖ Error in line 3: two"]], [True, 10, one], [True, 19,
            ["✖ Error in line 3: two"]],
        [True, 10, one],
    ]  # fmt: skip
    assert found["two"] == ["✖ Error in line 2: one", "Mend one.", "▲ Warning in line 2: beside", "Mend beside."]
    assert found["steps"][0][3].endswith("Error in line 2: one. Mend one. Warning in line 2: beside. Mend beside.")
    assert found["steps"][5][:3] == [True, 10, []]
    assert found["steps"][6][:3] == [False, 10, []]
    assert (found["left"], found["typed"], found["blurred"]) == (0, 0, 0)
    assert (found["again"], found["replaced"], found["gone"]) == (1, [], [])  # a box goes with its messages
    assert found["way"] == [10, 14, 19, 10, 19, 14, 10]
    assert found["none"] == [False, False]


# ----------------------------------------------------------------------------------------------------- explanations


def test_the_word_at_a_place(page: Page) -> None:
    found = told(
        page,
        """
        const doc = lab.state.Text.of(["ab + cd_1;", "x9"]);
        return [0, 1, 2, 3, 4, 5, 9, 10, 11, 13].map((at) => wordAt(doc, at)).map((one) => one && [one.word,
            one.from, one.to]);""",
    )
    ab, cd, x9 = ["ab", 0, 2], ["cd_1", 5, 9], ["x9", 11, 13]
    assert found == [ab, ab, ab, None, None, cd, cd, None, x9, x9]


def test_words_are_explained_and_lessons_opened_by_keys(page: Page) -> None:
    found = told(page, """
        const opened = [], made = markers(lab);
        const about = explanations(lab, known, made.field, (word, place) => opened.push([word, place]));
        const view = editor("%%hip\\n__syncthreads(); threadIdx; nothing; wave", about.extension);
        const at = (anchor) => view.dispatch({selection: {anchor}});
        const seen = {};
        view.focus();
        at(8);
        seen.explain = [key(view, "F1", {shiftKey: true}), (await frame(), boxes()), heard(view)];
        seen.escape = [key(view, "Escape"), (await frame(), boxes()), key(view, "Escape")];
        key(view, "F1", {shiftKey: true}); await frame();
        at(9); await frame();
        seen.left = boxes();
        key(view, "F1", {shiftKey: true}); await frame();
        view.dispatch({changes: {from: view.state.doc.length, insert: " "}}); await frame();
        seen.typed = boxes();
        key(view, "F1", {shiftKey: true}); await frame();
        view.contentDOM.dispatchEvent(new FocusEvent("blur")); await frame();
        seen.blurred = boxes();
        key(view, "F1");
        at(26);
        seen.thread = [about.explainHere(view), (await frame(), boxes())];
        key(view, "F1");
        at(35);
        seen.nothing = [about.explainHere(view), about.openHere(view), (await frame(), boxes())];
        at(view.state.doc.length - 2);
        seen.wave = [about.explainHere(view), (await frame(), boxes())];
        const python = editor("__syncthreads()", about.extension);
        python.dispatch({selection: {anchor: 3}});
        seen.python = [about.explainHere(python), about.openHere(python)];
        return {...seen, opened};""")  # fmt: skip
    box = [["void __syncthreads()", "All wait.", "F1: lesson 06"]]
    assert found["explain"][:2] == [True, box]
    assert found["explain"][2].endswith("void __syncthreads(). All wait.")
    assert found["escape"] == [True, [], False]
    assert (found["left"], found["typed"], found["blurred"]) == ([], [], [])
    assert found["thread"] == [True, [["threadIdx", "The thread."]]]
    assert found["nothing"] == [False, False, []]
    assert found["wave"] == [True, [["wave", "Lanes together.", "F1: lesson 02"]]]
    assert found["python"] == [False, False]
    assert found["opened"] == [["__syncthreads", ["06_lds", "Barriers"]], ["threadIdx", []]]


def test_what_the_mouse_rests_on(page: Page) -> None:
    """Of each place what CodeMirror is told: a message from its first letter to behind its last, or the word there."""
    found = told(page, f"""
        let rests = null;
        const view = {{...lab.view, hoverTooltip: (source) => {{ rests = source; return []; }}}};
        const made = markers(lab), about = explanations({{...lab, view}}, known, made.field, () => {{}});
        const given = [{message(2, 3, words="one")}, {message(2, 7, words="two")}, {message(3, 2, words="end")}];
        const shown = editor("%%hip\\na bcd e\\nf\\n wave", [made.extension(outputsOf(given)), about.extension]);
        await pause();
        const at = (place) => {{
            const box = rests(shown, place);
            return box && [box.pos, box.end, box.above, box.create().dom.firstElementChild.textContent];
        }};
        const all = Array.from({{length: 21}}, (_, place) => at(place));
        shown.dispatch({{changes: {{from: 9, insert: "\\n"}}}});
        return [all, at(9), at(8)];""")  # fmt: skip
    # "bcd" is at 8 to 11, "e" at 12 to 13, the end of "f" at 15, "wave" at 17 to 21.
    one, two, end = ([*place, True, f"✖ Error in line {line}: {words}"] for place, line, words in (
        ((8, 11), 2, "one"), ((12, 13), 2, "two"), ((15, 15), 3, "end")))  # fmt: skip
    wave = [17, 21, True, "wave"]
    assert found[0] == [*[None] * 8, *[one] * 4, two, two, None, end, end, *[wave] * 4]
    assert found[1:] == [[8, 9, True, "✖ Error in line 2: one"]] * 2


def test_the_mouse_shows_messages_before_words(page: Page) -> None:
    """At the word's middle a message if there is one, else the explanation."""
    places = told(page, f"""
        const made = markers(lab), about = explanations(lab, known, made.field, () => {{}});
        const view = editor("%%hip\\nfloat4 abc = threadIdx;\\n;", [made.extension(outputsOf([{message(2, 8,
            words="one")}, {message(2, 14, words="two")}, {message(3, 1, words="three")}])), about.extension]);
        await pause(80);
        globalThis.gpulabView = view;
        return [8, 14, 22, 30, 17].map((at) => {{ const box = view.coordsAtPos(at, 1); return [box.left + 3,
            (box.top + box.bottom) / 2]; }});""")  # fmt: skip
    expected = [
        ["float4"],
        ["✖ Error in line 2: one"],
        ["✖ Error in line 2: two"],
        ["✖ Error in line 3: three"],
        [],
    ]
    for (x, y), box in zip(places, expected, strict=True):
        page.mouse.move(x, y)
        page.mouse.move(x + 1, y)
        if box:
            page.wait_for_function("globalThis.gpulabTools.boxes().length > 0", timeout=10_000)
        else:
            page.wait_for_timeout(700)
        assert [shown[0] for shown in told_boxes(page)] == box
        page.mouse.move(5, 5)
        page.wait_for_function("globalThis.gpulabTools.boxes().length === 0", timeout=10_000)


def told_boxes(page: Page) -> list[list[str]]:
    found: list[list[str]] = page.evaluate("globalThis.gpulabTools.boxes()")
    return found


# ---------------------------------------------------------------------------------------------------------- plugins


def test_what_the_application_gets(page: Page) -> None:
    """Extensions for editors, and two commands: in the palette, in the menu of code cells, for the active cell."""
    found = told(page, """
        const made = await plugins(shared), plugin = (name) => made.find((one) => one.id === `gpulab-editor:${name}`);
        const seen = {commands: {}, palette: [], menu: [], factories: {}, executed: []};
        const folders = {"": [{name: "notebooks", type: "directory"}], notebooks: [{name: "06_lds.ipynb",
            type: "notebook"}]};
        const app = {name: "JupyterLab", contextMenu: {addItem: (item) => seen.menu.push(item)},
            serviceManager: {contents: {get: async (folder) => ({content: folders[folder]})}},
            commands: {addCommand: (id, about) => { seen.commands[id] = about; },
                execute: async (...given) => { seen.executed.push(given); return null; }}};
        const extensions = {addExtension: ({name, factory}) => { seen.factories[name] = factory; }};
        const tracker = {activeCell: null, currentWidget: null, widgetAdded: {connect() {}}};
        plugin("messages").activate(app, extensions, tracker, {addItem: (item) => seen.palette.push(item)});
        const forCells = seen.factories["gpulab-editor:messages"];
        const outputs = outputsOf([{severity: "error", message: "bad", advice: "", line: 2, column: 1, text: ""}]);
        const extension = forCells({model: {outputs}});
        const view = editor("%%hip\\n__syncthreads();", extension.instance());
        const [lesson, explain] = ["lesson", "explain"].map((name) => seen.commands[`gpulab-editor:${name}`]);
        const enabled = [lesson.isEnabled(), explain.isEnabled()];
        tracker.activeCell = {editor: {editor: view}};
        enabled.push(lesson.isEnabled(), explain.isEnabled());
        view.dispatch({selection: {anchor: 8}});
        for (let k = 0; k < 500 && !boxes().length; k += 1) { explain.execute(); await frame(); }  // the table comes
        const box = boxes()[0][0];
        lesson.execute();
        for (let k = 0; k < 500 && !seen.executed.length; k += 1) await pause(10);
        const signs = view.dom.querySelectorAll(".gpulab-sign").length;
        view.destroy();
        const markdown = editor("%%hip\\n__syncthreads();", forCells({}).instance());
        await pause();
        const alone = {commands: {}, ids: []};
        plugin("messages").activate({...app, commands: {addCommand: (id, about) => alone.ids.push([id,
            about.isEnabled()])}}, extensions, null, null);
        return {ids: Object.keys(seen.commands), labels: [lesson.label, explain.label], enabled, box,
            executed: seen.executed, palette: seen.palette, menu: seen.menu, signs,
            none: markdown.dom.querySelectorAll(".gpulab-margin").length, alone: alone.ids,
            settings: extension.reconfigure()};""")  # fmt: skip
    ids = ["gpulab-editor:lesson", "gpulab-editor:explain"]
    assert found["ids"] == ids
    assert found["labels"] == ["Open the Lesson on the Word at the Cursor", "Explain the Word at the Cursor"]
    assert found["enabled"] == [False, False, True, True]
    assert found["box"].startswith("void __syncthreads()")
    assert found["executed"] == [["docmanager:open", {"path": "notebooks/06_lds.ipynb"}]]
    assert found["palette"] == [{"command": name, "category": "gpulab"} for name in ids]
    cells = ".jp-Notebook .jp-CodeCell .jp-Editor"
    assert found["menu"] == [{"command": name, "selector": cells, "rank": 20} for name in ids] * 2
    assert (found["signs"], found["none"]) == (1, 0)
    assert found["alone"] == [[name, False] for name in ids]
    assert found["settings"] is None
