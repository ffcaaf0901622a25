"""An instrument: a picture of records that can be moved about in, with its words and its numbers.

`Instrument` is what each module of views makes: data for the browser, a sentence and a table that say the same, a
picture for where no widget runs. `show` displays them; nothing here knows what they are about. The browser's part
is static/NAME.js with static/NAME.css; static/common.js and common.css have what all share. docs/instruments.md is the
contract between the two sides.
"""

from __future__ import annotations

import functools
import html
import io
import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np
import numpy.typing as npt

from gpulab.views.table import Table, visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDGET = "application/vnd.jupyter.widget-view+json"
MOST_BYTES = 2_000_000
"""What an instrument may send to the browser at a time: its data as JSON, or one answer with its buffers."""

Reply = Mapping[str, object] | tuple[Mapping[str, object], list[bytes]]
STILL = '<p class="gpulab-still">'
"""How an output begins that is there only for a saved widget."""
_STILL = (
    STILL
    + """{title}: a still picture. Run the notebook's cells again for one to move about in.</p>
<style>
.gpulab-still,
.jp-OutputArea-child:has(.gpulab-still):not(:has(+ .jp-OutputArea-child > .jp-OutputArea-output.jupyter-widgets)),
.jp-OutputArea-child:has(.gpulab-still) + .jp-OutputArea-child:has(> .jp-OutputArea-output.jupyter-widgets)
{{ display: none !important; }}
.jp-OutputArea-child:has(+ .jp-OutputArea-child > .jp-OutputArea-output.jupyter-widgets) .gpulab-still
{{ display: block !important; }}
</style>"""
)
"""Stands above a widget, for a notebook that is opened again after its kernel has gone. Jupyter's manager of widgets
then shows a line of its own instead of the widget, and its output gets the class jupyter-widgets (a widget that is
there has the class one element further in): only then this is shown, and that line is not."""
_BIDI = re.compile(r"(?<!\\)((?:\\\\)*)\\(u202[a-e]|u206[6-9])")
"""The control characters of `table.visible`, as JSON writes them."""
_IMPORT = re.compile(r'^import\s*(\{[^}]*\})\s*from\s*"\./(\w+)\.js";\n', re.M)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class|let) (\w+))", re.M)


class _Widget(Protocol):
    """What is used here of an anywidget."""

    model_id: str

    def send(self, content: object, buffers: list[bytes]) -> None: ...
    def on_msg(self, callback: Callable[[object, object, object], None]) -> None: ...


class _WidgetClass(Protocol):
    def __call__(self, *, data: Mapping[str, object]) -> _Widget: ...


class TooMuchData(ValueError):
    """An instrument was about to send more to the browser than `MOST_BYTES`."""


@dataclass(frozen=True, repr=False, eq=False)
class Instrument:
    """A picture of records, in four forms of the same content.

    Attributes:
        name: of the browser's module: static/NAME.js and NAME.css; "" for a picture that does not move.
        title: what it shows, as a heading: "Lanes at work in saxpy (gfx942)".
        sentence: what is to be seen in it, in words: the text alternative of the picture.
        table: the numbers that it shows.
        data: for the browser: values that JSON knows. Text in it is shown as text, whatever it holds.
        figure: draws the static picture; None if the table is all there is to see without a widget.
        answer: replies to what the browser asks (a JSON object) with a JSON object, or with one and binary buffers.
    """

    name: str
    title: str
    sentence: str
    table: Table
    data: Mapping[str, object] = field(default_factory=dict)
    figure: Callable[[], Figure] | None = None
    answer: Callable[[Mapping[str, object]], Reply] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", visible(self.title))
        object.__setattr__(self, "sentence", visible(self.sentence))

    @property
    def text(self) -> str:
        """Heading, sentence and numbers, for a terminal and for readers who do not see pictures."""
        return f"{self.title}\n{self.sentence}\n\n{self.table}"

    def __repr__(self) -> str:
        return self.text

    def message(self) -> dict[str, object]:
        """What the browser gets at first.

        Raises:
            TooMuchData: it is larger than `MOST_BYTES`.
        """
        return _sendable(self.name, {"title": self.title, "sentence": self.sentence, **self.data}, [])

    def reply(self, question: Mapping[str, object]) -> tuple[dict[str, object], list[bytes]]:
        """The answer to a question of the browser, and its binary buffers. An unknown question gets {"error": text}."""
        try:
            if self.answer is None:
                raise ValueError(f"{self.name} answers no questions")
            given = self.answer(question)
        except (ValueError, KeyError, TypeError, IndexError, ArithmeticError) as error:
            return {"error": str(error) or type(error).__name__}, []
        content, buffers = given if isinstance(given, tuple) else (given, [])
        return _sendable(self.name, content, buffers), buffers

    def png(self) -> bytes:
        """The static picture; b"" if there is none."""
        if self.figure is None:
            return b""
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        figure = self.figure()
        figure.set_dpi(110)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()  # `savefig` would draw twice: for the layout, and for the picture
        return _small(np.asarray(canvas.buffer_rgba()))

    def show(self) -> None:
        """Display the instrument and, below it, its sentence and numbers. Outside of Jupyter, print the text.

        Where ipywidgets or anywidget are missing or broken there are still the picture and the numbers, and a line
        that says why there is no more.

        Raises:
            TooMuchData: the instrument is larger than `MOST_BYTES`.
        """
        ipython = sys.modules.get("IPython")
        shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
        if getattr(shell, "kernel", None) is None:
            print(self.text)
            return
        from IPython.display import display

        bundle: dict[str, object] = {"text/plain": self.title}
        try:
            if self.name:
                message = self.message()
                bundle[WIDGET] = {"version_major": 2, "version_minor": 0, "model_id": self._widget(message).model_id}
        except TooMuchData:
            raise
        except Exception as error:  # whatever is wrong with packages that only make it movable
            why = f"widgets do not work here, {type(error).__name__}: {error}"
            bundle["text/plain"] = f"{self.title}\n(a picture only: {why})"
        if WIDGET in bundle and "JPY_SESSION_NAME" in os.environ:
            # Jupyter's server sets it for the kernel of a notebook that its pages show and save.
            display({"text/html": _STILL.format(title=html.escape(self.title))}, raw=True)
        display(bundle, raw=True)
        # Outputs of their own, for where a notebook is opened again and its widgets have gone with their kernel.
        # Where there is the widget, its style sheet (common.css) hides the picture and the sentence.
        picture = self.png()
        if picture:
            display({"image/png": picture}, raw=True, metadata={"image/png": {"alt": self.sentence}})
        said = {
            "text/plain": f"{self.sentence}\n\n{self.table}",
            "text/html": f'<p class="gpulab-said">{html.escape(self.sentence)}</p>{self.table.html()}',
        }
        display(said, raw=True)

    _ipython_display_ = show

    def _widget(self, message: Mapping[str, object]) -> _Widget:
        widget = _widget_class(self.name)(data=message)

        def asked(_: object, content: object, buffers: object) -> None:
            if isinstance(content, dict) and "question" in content:
                reply, raw = self.reply(content["question"])
                widget.send({"id": content.get("id"), "reply": reply}, raw)

        widget.on_msg(asked)
        return widget


def to_json(content: object) -> str:
    """The content as JSON, with its text `table.visible`."""
    return _BIDI.sub(r"\1\\\\\2", json.dumps(content))


def _sendable(name: str, content: Mapping[str, object], buffers: list[bytes]) -> dict[str, object]:
    """The content with its text `visible`. Raises TooMuchData."""
    plain = json.dumps(content)
    text = to_json(content) if "\\u2" in plain else plain
    size = len(text) + sum(map(len, buffers))
    if size > MOST_BYTES:
        raise TooMuchData(f"{name} wants to send {size:,} bytes to the browser; {MOST_BYTES:,} are allowed")
    return dict(content) if text == plain else json.loads(text)


def _small(rgba: npt.NDArray[np.uint8]) -> bytes:
    """A picture (rows, columns, 4) as a PNG file in 256 colours.

    Nothing in it depends on when and by what it was made.

    Notebooks keep pictures; with their smooth edges in full colours they would be two to four times as large.
    """
    from PIL import Image

    into = io.BytesIO()
    image = Image.fromarray(rgba)
    image.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(into, format="png", optimize=True)
    return into.getvalue()


def _static(file: str) -> str:
    found = resources.files("gpulab.views") / "static" / file
    return found.read_text(encoding="utf-8") if found.is_file() else ""


def _parts(name: str) -> dict[str, str]:
    """The modules that a module needs, and itself, with their text: each after the ones that it imports from."""
    found: dict[str, str] = {}

    def include(part: str) -> None:
        if part in found:
            return
        source = _static(f"{part}.js")
        found[part] = ""  # its place is taken; the text follows the parts that it needs
        for _, other in _IMPORT.findall(source):
            include(other)
        del found[part]
        found[part] = _IMPORT.sub(lambda match: f"const {match[1].replace(' as ', ': ')} = {match[2]}_js;\n", source)

    include(name)
    return found


@functools.cache
def module(name: str) -> str:
    """The browser's module of an instrument as one text: the modules that it imports from beside it stand before it.

    Jupyter gives the module to the browser without a place, so that "./common.js" would lead nowhere. Each of the
    others becomes a function that gives what it exports, so that their names stay apart.
    """
    *others, (_, own) = _parts(name).items()
    before = (
        f"const {part}_js = (() => {{\n{_EXPORT.sub('', text)}\n"
        f"return {{ {', '.join(_EXPORT.findall(text))} }};\n}})();"
        for part, text in others
    )
    return "\n".join((*before, own))


@functools.cache
def style(name: str) -> str:
    """The style sheet of an instrument: what all share, those of the modules that it imports from, and its own."""
    names = dict.fromkeys(["common", *_parts(name), name])
    return "\n".join(_static(f"{part}.css") for part in names)


@functools.cache
def _widget_class(name: str) -> _WidgetClass:
    import anywidget
    import traitlets

    members = {"_esm": module(name), "_css": style(name), "data": traitlets.Dict().tag(sync=True)}
    made = type(f"{name.title().replace('_', '')}Widget", (anywidget.AnyWidget,), members)
    return cast("_WidgetClass", made)
