"""Instruments in general: the four forms of a picture, what goes to the browser, and what must not be in a module."""

from __future__ import annotations

import json
import re
from importlib import resources
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gpulab.views import instrument, palette
from gpulab.views.instrument import MOST_BYTES, Instrument, TooMuchData
from gpulab.views.table import Table

STATIC = Path(str(resources.files("gpulab.views") / "static"))
SCRIPTS = sorted(STATIC.glob("*.js"))
TABLE = Table(("name", "count"), (("<b>&", 3),))


def made(**more: Any) -> Instrument:
    return Instrument("common", "A title", "A sentence.", TABLE, **more)


def test_text_has_title_sentence_and_numbers() -> None:
    assert made().text.splitlines() == ["A title", "A sentence.", "", "name  count", "----  -----", "<b>&      3"]


def test_show_prints_outside_of_jupyter(capsys: pytest.CaptureFixture[str]) -> None:
    made().show()
    assert capsys.readouterr().out == made().text + "\n"


def test_message_is_json_with_title_and_sentence() -> None:
    message = made(data={"rows": [1, 2]}).message()
    assert json.loads(json.dumps(message)) == {"title": "A title", "sentence": "A sentence.", "rows": [1, 2]}


def test_too_much_data_is_refused_with_sizes() -> None:
    with pytest.raises(TooMuchData, match=r"2,000,\d\d\d bytes.*2,000,000"):
        made(data={"text": "x" * MOST_BYTES}).message()
    large = made(answer=lambda question: ({}, [bytes(MOST_BYTES)]))
    with pytest.raises(TooMuchData):
        large.reply({})


def test_text_is_shown_in_the_order_of_its_characters() -> None:
    """A right-to-left override in a name turns nothing around: it is spelled out, wherever it is shown."""
    name = "k\u202ecba\u2069 \\u202e"
    shown = Instrument("common", name, name, Table((name,), ((name,),), name), {"deep": [{name: name}]}, None, dict)
    spelled = "k\\u202ecba\\u2069 \\u202e"
    message = {"title": spelled, "sentence": spelled, "deep": [{spelled: spelled}]}
    assert shown.message() == message
    assert shown.reply({"name": name}) == ({"name": spelled}, [])
    assert not set("\u202e\u2069") & set(shown.text + shown.table.html())
    assert shown.text.count(spelled) == 5


def test_replies_and_their_errors() -> None:
    def answer(question: Any) -> Any:
        return {"twice": 2 * int(question["n"])}

    assert made(answer=answer).reply({"n": 4}) == ({"twice": 8}, [])
    assert made(answer=answer).reply({"n": "<script>"})[0]["error"].startswith("invalid literal")
    assert "'n'" in made(answer=answer).reply({})[0]["error"]
    assert made().reply({"n": 1})[0] == {"error": "common answers no questions"}


def test_static_picture_is_a_png_and_the_same_each_time() -> None:
    def figure() -> Any:
        drawn = palette.figure(3, 2)
        drawn.subplots().set_title(palette.plain("costs $1 <b>"))
        return drawn

    assert made().png() == b""
    first = made(figure=figure).png()
    assert first.startswith(b"\x89PNG")
    assert first == made(figure=figure).png()


def test_style_sheet_has_the_palette() -> None:
    text = (STATIC / "common.css").read_text(encoding="utf-8").lower()
    for number, colour in enumerate(palette.CATEGORIES):
        assert f"--gpulab-{number}: {colour.lower()};" in text
    for number, colour in enumerate(palette.HEAT):
        assert f"--gpulab-heat-{number}: {colour.lower()};" in text


def test_text_stands_out_on_every_colour() -> None:
    assert [palette.on(colour) for colour in palette.HEAT] == ["#FFFFFF"] * 3 + ["#000000"] * 3
    assert palette.on(palette.BLUE) == "#FFFFFF"
    assert palette.on(palette.YELLOW) == "#000000"


def _contrast(one: str, other: str) -> float:
    """WCAG 2.2, "contrast ratio", of two colours as #rrggbb."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(("theme", "page"), [("light", "#ffffff"), ("dark", "#111111")])
def test_colours_of_pictures_stand_out(theme: str, page: str) -> None:
    """3 to 1 for what a picture needs to be understood (1.4.11), 4.5 to 1 for text (1.4.3). `page` is JupyterLab's."""
    light, dark = (
        (resources.files("gpulab.views") / "static" / "common.css").read_text().split("[data-jp-theme-light")[:2]
    )
    found = dict(re.findall(r"--gpulab-([\w-]+): (#[0-9a-f]{6});", light + (dark if theme == "dark" else "")))
    for one, other in [("active", "idle"), ("bad", "idle")]:
        assert _contrast(found[one], found[other]) >= 3, (one, other)
    for one in ("active", "bad", "line", "focus", "2", "3"):
        assert _contrast(found[one], page) >= 3, one
    for one in ("muted", "fg" if theme == "dark" else "on-light"):
        for other in (page, found["mark"], found["idle"]):
            assert _contrast(found[one], other) >= 4.5, (one, other)


@pytest.mark.parametrize("file", [*SCRIPTS, *sorted(STATIC.glob("*.css"))], ids=lambda file: file.name)
def test_every_variable_is_set(file: Path) -> None:
    """A colour that nobody set is none: what it fills is not there, and browsers say nothing. (CSS: "invalid at
    computed-value time")"""
    text = file.read_text(encoding="utf-8")
    known = set(re.findall(r"--[\w-]+(?=:)", (STATIC / "common.css").read_text(encoding="utf-8")))
    script = file.with_suffix(".js")
    own = re.findall(r"--[\w-]+(?=[\"':])", text + (script.read_text(encoding="utf-8") if script.exists() else ""))
    wanted = re.findall(r"var\((--[\w-]+)\)", text)  # without a value to fall back to
    assert set(wanted) <= known | {*own}


def test_style_sheets_leave_each_other_alone() -> None:
    """All instruments of a notebook share one page: a class that two style sheets name would get both styles. One that
    only follows another (.banks-lane.on) is a state of that."""
    owners: dict[str, str] = {}

    def classes(sheet: Path) -> set[str]:
        text = re.sub(r"/\*.*?\*/", "", sheet.read_text(encoding="utf-8"), flags=re.S)
        selectors = " ".join(re.findall(r"([^{}]+)\{", text))
        return set(re.findall(r"(?<![\w.\])-])\.([a-z][\w-]*)", selectors))

    common = classes(STATIC / "common.css")
    for sheet in sorted(STATIC.glob("*.css")):
        for name in classes(sheet) - common:
            assert owners.setdefault(name, sheet.stem) == sheet.stem, f".{name} is in {sheet.stem} and {owners[name]}"
    assert len(owners) > 100


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_scripts_cannot_turn_text_into_html_or_reach_a_network(script: Path) -> None:
    code = re.sub(
        r"(?s:/\*.*?\*/)|//.*", "", script.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    )
    for forbidden in (
        "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser", "createContextualFragment",
        "setHTML", "srcdoc", "eval(", "new Function", "fetch(", "XMLHttpRequest", "WebSocket", "http:", "https:",
        "import(", "localStorage",
    ):  # fmt: skip
        assert forbidden not in code, f"{script.name} has {forbidden}"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_modules_are_whole(script: Path) -> None:
    text = instrument.module(script.stem)
    assert not re.search(r"^import\b", text, re.M)
    names = re.findall(r"^const (\w+)_js = \(\(\) => \{$", text, re.M)
    assert len(set(names)) == len(names)
    for name in re.findall(r"= (\w+)_js;$", text, re.M):
        assert name in names
    if "export default" in text:  # not a part that instruments share
        assert text.count("export default") <= 1
        assert not re.search(r"^export (async )?(function|const|class|let)", text.partition("export default")[0], re.M)


class Shown:
    """A notebook's kernel, for `show`: what is displayed, and whether there are widgets."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        import IPython
        import IPython.display

        self.outputs: list[tuple[dict[str, Any], dict[str, Any]]] = []
        patch.setattr(IPython, "get_ipython", lambda: SimpleNamespace(kernel=object()))
        patch.setattr(IPython.display, "display", lambda data, **more: self.outputs.append((data, more)))
        patch.delenv("JPY_SESSION_NAME", raising=False)


NUMBERS = {
    "text/plain": "A sentence.\n\nname  count\n----  -----\n<b>&      3",
    "text/html": '<p class="gpulab-said">A sentence.</p>' + TABLE.html(),
}


def test_in_a_notebook_there_are_widget_picture_and_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Shown(monkeypatch)
    monkeypatch.setattr(Instrument, "_widget", lambda self, message: SimpleNamespace(model_id=message["title"]))
    picture = made(figure=lambda: palette.figure(1, 1))
    picture.show()
    widget = {"version_major": 2, "version_minor": 0, "model_id": "A title"}
    assert shown.outputs == [
        ({"text/plain": "A title", instrument.WIDGET: widget}, {"raw": True}),
        ({"image/png": picture.png()}, {"raw": True, "metadata": {"image/png": {"alt": "A sentence."}}}),
        (NUMBERS, {"raw": True}),
    ]
    shown.outputs.clear()
    made().show()
    assert [set(data) for data, _ in shown.outputs] == [{"text/plain", instrument.WIDGET}, {"text/plain", "text/html"}]


def test_where_notebooks_are_saved_a_line_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Shown(monkeypatch)
    monkeypatch.setenv("JPY_SESSION_NAME", "one.ipynb")
    monkeypatch.setattr(Instrument, "_widget", lambda self, message: SimpleNamespace(model_id="1"))
    Instrument("common", "<b>", "A sentence.", TABLE).show()
    (first, more), (second, _), _ = shown.outputs
    assert set(first) == {"text/html"}
    assert "&lt;b&gt;" in first["text/html"]
    assert more == {"raw": True}
    assert instrument.WIDGET in second
    shown.outputs.clear()
    Instrument("", "A title", "A sentence.", TABLE).show()
    assert shown.outputs == [({"text/plain": "A title"}, {"raw": True}), (NUMBERS, {"raw": True})]


def test_in_a_notebook_without_widgets_there_are_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Shown(monkeypatch)

    def broken(self: Instrument, message: dict[str, Any]) -> Any:
        raise RuntimeError("no comm")

    monkeypatch.setattr(Instrument, "_widget", broken)
    made().show()
    said = "A title\n(a picture only: widgets do not work here, RuntimeError: no comm)"
    assert shown.outputs == [({"text/plain": said}, {"raw": True}), (NUMBERS, {"raw": True})]
    with pytest.raises(TooMuchData):
        Instrument("common", "t", "s", TABLE, {"much": "x" * (MOST_BYTES + 1)}).show()


def test_a_browser_asks_and_hears(monkeypatch: pytest.MonkeyPatch) -> None:
    """The widget gets the reply under the question's number; what is no question gets none."""
    sent: list[Any] = []

    class Widget:
        def __init__(self, data: Any) -> None:
            self.data = data

        def on_msg(self, hear: Any) -> None:
            self.hear = hear

        def send(self, content: Any, buffers: Any) -> None:
            sent.append((content, buffers))

    monkeypatch.setattr(instrument, "_widget_class", lambda name: Widget)
    widget = made(answer=lambda question: ({"twice": 2 * question["n"]}, [b"raw"]))._widget({"title": "A title"})
    assert widget.data == {"title": "A title"}
    for content in ({"id": "7", "question": {"n": 21}}, {"id": "8"}, "question", None, {"question": {}}):
        widget.hear(None, content, [])
    assert sent == [
        ({"id": "7", "reply": {"twice": 42}}, [b"raw"]), ({"id": None, "reply": {"error": "'n'"}}, []),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("colour", "words"),
    [
        # Black and white are equally far from a luminance of 0.1791 (WCAG 2.2): grey 117.6, red 236.4, green 137.1,
        # and beside full blue green 107.8 of 255.
        ("#757575", "#FFFFFF"), ("#767676", "#000000"), ("#EC0000", "#FFFFFF"), ("#ED0000", "#000000"),
        ("#008900", "#FFFFFF"), ("#008A00", "#000000"), ("#006BFF", "#FFFFFF"), ("#006CFF", "#000000"),
        ("#000000", "#FFFFFF"), ("#FFFFFF", "#000000"), ("#0A0A0A", "#FFFFFF"), (palette.BLUE, "#FFFFFF"),
        (palette.YELLOW, "#000000"),
    ],
)  # fmt: skip
def test_words_on_a_colour_are_black_or_white(colour: str, words: str) -> None:
    assert palette.on(colour) == words


def test_amounts_have_six_colours() -> None:
    shares = (-1, 0, 0.166, 0.167, 0.333, 0.334, 0.499, 0.5, 0.666, 0.667, 0.833, 0.834, 1, 5)
    assert [palette.HEAT.index(palette.heat(share)) for share in shares] == [0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 5]
    assert palette.plain("$a$ b") == r"\$a\$ b"


def test_an_empty_picture_is_white_and_as_large_as_asked() -> None:
    made = palette.figure(3.0, 2.0)
    assert (tuple(made.get_size_inches()), made.get_facecolor(), made.get_layout_engine() is None) == (
        (3.0, 2.0), (1.0, 1.0, 1.0, 1.0), False,
    )  # fmt: skip
