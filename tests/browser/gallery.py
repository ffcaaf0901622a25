"""Instruments in a real browser without JupyterLab around them: quick, for tests and for looking while building.

    with Gallery() as gallery:
        page = gallery.mount(run.coalescing(), theme="dark")
        page.get_by_role("button", name="Next").click()
        gallery.accessible(page)
        gallery.readable(page)
        gallery.compare(page, "coalescing-dark")

`mount` gives the instrument's module a stand-in for anywidget's model; its questions go to the instrument in this
process. The page's colours are those of JupyterLab's themes and its fonts the ones that matplotlib brings, so that a
picture looks the same on every machine. tests/browser/test_lab.py has the whole of JupyterLab instead.

From the command line a picture of each instrument that a file makes (a list `instruments`):

    python -m tests.browser.gallery FILE.py --out FOLDER [--theme dark] [--width 860]
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import os
import runpy
import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from gpulab.views import instrument as instruments
from tests.stored import compare_texts

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Playwright

STORED = Path(__file__).parent / "screenshots"
LAB_SECONDS = 400  # for a test in JupyterLab, with starting the server and running a lesson
CHECKS = Path(__file__).parent / "checks.js"
DRAWN = Path(__file__).parent / "drawn.js"
WALK = Path(__file__).parent / "walk.js"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--font-render-hinting=none", "--disable-lcd-text", "--force-color-profile=srgb",
]  # fmt: skip
# JupyterLab 4's own values (packages/theme-light-extension, theme-dark-extension: style/variables.css).
THEMES = {
    "light": {
        "--jp-content-font-color1": "rgba(0, 0, 0, 0.87)", "--jp-content-font-color2": "rgba(0, 0, 0, 0.54)",
        "--jp-layout-color0": "#ffffff", "--jp-layout-color1": "#ffffff", "--jp-layout-color2": "#eeeeee",
    },
    "dark": {
        "--jp-content-font-color1": "rgba(255, 255, 255, 1)", "--jp-content-font-color2": "rgba(255, 255, 255, 0.7)",
        "--jp-layout-color0": "#111111", "--jp-layout-color1": "#212121", "--jp-layout-color2": "#424242",
    },
}  # fmt: skip
# Roles of ARIA 1.2 that somebody operates, and pictures; Chromium's names for them.
OPERATED = {
    "button", "link", "checkbox", "radio", "switch", "slider", "spinbutton", "textbox", "searchbox", "combobox",
    "listbox", "option", "tab", "menuitem", "menuitemcheckbox", "menuitemradio", "treeitem", "scrollbar",
    "DisclosureTriangle", "ComboBoxSelect", "ComboBoxMenuButton", "MenuListOption", "ToggleButton", "PopUpButton",
    "ListBoxOption", "grid", "treegrid", "tree", "tablist", "radiogroup", "toolbar", "menu", "menubar", "img", "image",
    "graphics-document", "Canvas",
}  # fmt: skip
FONT_VARIABLES = """
:root {
  --jp-ui-font-family: Gallery !important; --jp-content-font-family: Gallery !important;
  --jp-code-font-family: GalleryMono !important; --jp-code-font-family-default: GalleryMono !important;
}
"""
START = """
async ([code, style, data]) => {
  document.head.append(Object.assign(document.createElement("style"), {textContent: style}));
  const heard = {};
  const model = {
    get: (name) => ({data})[name],
    set() {}, save_changes() {},
    on(name, f) { (heard[name] ??= []).push(f); },
    off(name, f) { heard[name] = (heard[name] ?? []).filter((g) => g !== f); },
    async send(content) {
      const [reply, raw] = await window.gpulabAsk(content.question);
      const buffers = raw.map((text) => new DataView(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer));
      for (const f of [...(heard["msg:custom"] ?? [])]) f({id: content.id, reply}, buffers);
    },
  };
  const address = URL.createObjectURL(new Blob([code], {type: "text/javascript"}));
  const module = await import(address);
  window.gpulabCleanup = await module.default.render({model, el: document.getElementById("host")});
}
"""


def chromium() -> str | None:
    """The path of the system's Chromium, or None. GPULAB_CHROMIUM names another one."""
    named = os.environ.get("GPULAB_CHROMIUM")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


def _font(name: str, family: str) -> str:
    import matplotlib

    data = (Path(matplotlib.get_data_path()) / "fonts" / "ttf" / name).read_bytes()
    return f'@font-face {{font-family: "{family}"; src: url(data:font/ttf;base64,{base64.b64encode(data).decode()})}}'


class TooSlow(Exception):
    """Something in a browser took longer than its limit, and the browser was ended."""


_ended = 0  # how often `limit` ended the browsers of this process


@contextlib.contextmanager
def limit(seconds: float, what: str) -> Iterator[None]:
    """End Playwright's driver, and its browser with it, if the block takes longer.

    Most of Playwright's calls have limits of their own; `page.evaluate` has none, and waits for ever where the page's
    own script does not end.

    Raises:
        TooSlow: the block was ended.
    """
    fired = threading.Event()

    def end() -> None:
        global _ended
        _ended += 1
        fired.set()
        for process in drivers():
            with contextlib.suppress(Exception):
                process.kill()

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    except Exception as error:
        if fired.is_set():
            raise TooSlow(f"{what} took longer than {seconds:.0f} s and was ended: {error}") from error
        raise
    finally:
        timer.cancel()
    if fired.is_set():
        raise TooSlow(f"{what} took longer than {seconds:.0f} s and was ended")


def drivers() -> list[Any]:
    """Playwright's driver started by this process, with the browsers that it started: psutil.Process objects."""
    import psutil

    found = []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.Error):
            if "playwright" in " ".join(child.cmdline()[:2]):
                found += [*child.children(recursive=True), child]
    return found


def fonts() -> str:
    """Style rules for the font families Gallery and GalleryMono: the ones that matplotlib brings."""
    return _font("DejaVuSans.ttf", "Gallery") + _font("DejaVuSansMono.ttf", "GalleryMono")


class Gallery:
    """One browser; use it as a context manager. `problems` collects what pages report on their consoles."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self._play: Playwright | None = None
        self._browser: Browser | None = None
        self._fonts = ""
        self._made = 0

    def __enter__(self) -> Gallery:
        from playwright.sync_api import sync_playwright

        found = chromium()
        if found is None:
            raise RuntimeError("no Chromium found: install your system's package `chromium`")
        self._made = _ended
        self._play = sync_playwright().start()
        self._browser = self._play.chromium.launch(executable_path=found, args=FLAGS)
        self._fonts = fonts()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        expected: tuple[type[Exception], ...] = () if self.alive else (Exception,)
        with limit(30, "closing the browser"):
            if self._browser is not None and self.alive:
                self._browser.close()
            if self._play is not None:
                with contextlib.suppress(*expected):
                    self._play.stop()

    @property
    def alive(self) -> bool:
        """False after `limit` has ended the browser: it takes a new gallery to go on."""
        return self._made == _ended

    @property
    def browser(self) -> Browser:
        assert self._browser is not None, "use the gallery as a context manager"
        return self._browser

    def mount(
        self, shown: instruments.Instrument, theme: str = "light", width: int = 860, height: int = 700, scale: float = 1
    ) -> Page:
        """A page of so many CSS pixels with the instrument, drawn and ready. The page refuses all network access.

        Args:
            width: 860 is what a notebook's output has on a 1366-pixel screen at 125 %, with the side bar closed.
            scale: device pixels per CSS pixel.
        """
        context = self.browser.new_context(
            viewport={"width": width, "height": height}, device_scale_factor=scale, reduced_motion="reduce"
        )
        page = context.new_page()
        page.on("console", lambda m: self.problems.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.route("**/*", lambda route: route.abort())

        def asked(question: dict[str, Any]) -> list[Any]:
            reply, buffers = shown.reply(question)
            return [reply, [base64.b64encode(raw).decode() for raw in buffers]]

        page.expose_function("gpulabAsk", asked)
        colours = "".join(f"{name}: {value};" for name, value in THEMES[theme].items())
        page.set_content(
            f"<!doctype html><html lang='en'><style>{self._fonts} :root {{{colours} --jp-ui-font-family: Gallery; "
            "--jp-code-font-family: GalleryMono; --jp-content-font-size1: 14px} "
            "body {margin: 8px; background: var(--jp-layout-color0); font: 14px Gallery}</style>"
            f"<body data-jp-theme-light='{'true' if theme == 'light' else 'false'}'><main id='host'></main>"
        )
        page.evaluate("document.fonts.load('14px Gallery').then(() => document.fonts.load('14px GalleryMono'))")
        page.evaluate(START, [instruments.module(shown.name), instruments.style(shown.name), shown.message()])
        page.evaluate("document.fonts.ready")
        return page

    def compare(self, page: Page, name: str, selector: str = ".gpulab", tolerance: float = 0.01) -> None:
        """Compare what the page shows of an instrument with screenshots/NAME.png, and its elements with NAME.txt.

        A pixel differs if a channel is off by more than 48 of 255 in a version of half the size; `tolerance` is the
        share of pixels that may. With GPULAB_SCREENSHOTS=write the picture is stored instead.

        Raises:
            AssertionError: it looks different; the new picture is kept beside the stored one as NAME.new.png.
        """
        compare(page.locator(selector).first.screenshot(), name, tolerance)
        self.compare_elements(page, name, selector)

    def compare_elements(self, page: Page, name: str, selector: str = ".gpulab") -> None:
        """Compare the elements of an instrument, with their words, places and states, with screenshots/NAME.txt.

        A picture's pixels say little about small things; this says what has moved, and where to. Places may differ by
        0.6 pixels. With GPULAB_SCREENSHOTS=write the text is stored instead.

        Raises:
            AssertionError: with the first lines that differ.
        """
        found = page.locator(selector).first.evaluate(DRAWN.read_text(encoding="utf-8").rstrip())
        compare_texts(found, STORED / f"{name}.txt")

    def walk(self, page: Page, name: str, steps: list[tuple[Any, ...]], most: int = 60) -> None:
        """Go through the page's instrument step by step (walk.js says which steps there are), and compare what each
        step changes among its elements with screenshots/walk-NAME.txt, as `compare_elements` does.

        Args:
            most: how many new elements of a step are stored, the first ones; the others are summed up.

        Raises:
            AssertionError: with the first lines that differ.
        """
        drawn, script = (path.read_text(encoding="utf-8").rstrip() for path in (DRAWN, WALK))
        found = page.evaluate(
            f"(given) => ({script[script.index('async (') :]})([({drawn[drawn.index('(root)') :]}), ...given])",
            [steps, most],
        )
        compare_texts(found, STORED / f"walk-{name}.txt")

    def accessible(self, page: Page, selector: str = ".gpulab") -> None:
        """See `accessible`."""
        accessible(page, selector)

    def readable(self, page: Page, selector: str = ".gpulab", smallest: float = 11) -> None:
        """See `readable`."""
        readable(page, selector, smallest)


def accessible(page: Page, selector: str = ".gpulab") -> None:
    """Check each instrument on a page, in its present state and theme, for those who use no mouse or see little.

    Whatever can be operated or has the focus needs a name (the browser's own computation: what a screen reader
    says); pictures need a role and words; text a contrast of 4.5 to 1 with all that may lie behind it; ids must be
    unique, references lead somewhere, and the tab order is the document's.

    Raises:
        AssertionError: with a line for each that does not hold.
    """
    complaints = [f"{each}: has no name" for each in _nameless(page, selector)]
    for check in ("structure", "contrast"):
        complaints += _checked(page, selector, f"checks.{check}(root)")
    assert not complaints, "\n".join(["not accessible:", *complaints])


def readable(page: Page, selector: str = ".gpulab", smallest: float = 11) -> None:
    """Check that nothing of an instrument is cut off at its sides, no labels of a picture lie on top of each other,
    and no text is smaller than so many CSS pixels as drawn (a picture that shrinks takes its text with it).

    Raises:
        AssertionError: with a line for each that does not hold.
    """
    complaints = _checked(page, selector, f"checks.layout(root, {smallest})")
    assert not complaints, "\n".join(["not readable:", *complaints])


def _checked(page: Page, selector: str, call: str) -> list[str]:
    script = CHECKS.read_text(encoding="utf-8").rstrip().rstrip(";")
    script = script[script.index("(() =>") :]
    found: list[str] = page.evaluate(
        f"(selector) => {{ const checks = {script}; const roots = [...document.querySelectorAll(selector)];"
        f" if (!roots.length) return ['nothing on the page is ' + selector];"
        f" return roots.flatMap((root) => {call}); }}",
        selector,
    )
    return found


def _nameless(page: Page, selector: str) -> list[str]:
    """Elements that can be operated or focused, by their roles or a tabindex, and have no accessible name."""
    session = page.context.new_cdp_session(page)
    try:
        document = session.send("DOM.getDocument", {"depth": -1, "pierce": True})["root"]
        elements: dict[int, dict[str, Any]] = {}
        pending = [document]
        while pending:
            node = pending.pop()
            elements[node["backendNodeId"]] = node
            pending += [*node.get("children", []), *node.get("shadowRoots", [])]
        roots = session.send("DOM.querySelectorAll", {"nodeId": document["nodeId"], "selector": selector})["nodeIds"]
        found = []
        for root in roots:
            for node in session.send("Accessibility.queryAXTree", {"nodeId": root})["nodes"]:
                element = elements.get(node.get("backendDOMNodeId", -1), {})
                pairs = element.get("attributes", [])
                attributes = dict(zip(pairs[::2], pairs[1::2], strict=True))
                role = node.get("role", {}).get("value", "")
                if node["ignored"] or not (role in OPERATED or "tabindex" in attributes):
                    continue
                if not node.get("name", {}).get("value", "").strip():
                    kind = attributes.get("class", "")
                    found.append(f"{element.get('localName', '?')}{'.' if kind else ''}{kind} (role {role})")
    finally:
        session.detach()
    return list(dict.fromkeys(found))


def compare(picture: bytes, name: str, tolerance: float = 0.01) -> None:
    """See `Gallery.compare`. `picture` is a PNG file's content."""
    import io

    from PIL import Image

    stored = STORED / f"{name}.png"
    new = STORED / f"{name}.new.png"
    found = Image.open(io.BytesIO(picture)).convert("RGB")
    if os.environ.get("GPULAB_SCREENSHOTS") == "write":
        # 64 colours are plenty for a comparison and make the file a third of the size.
        found.quantize(64).save(stored, optimize=True)
        new.unlink(missing_ok=True)
        return
    assert stored.is_file(), f"there is no {stored.name}: look at the picture, then GPULAB_SCREENSHOTS=write stores it"
    wanted = Image.open(stored).convert("RGB")
    off = max(abs(found.width - wanted.width), abs(found.height - wanted.height))
    differing = 1.0
    if off <= 8:
        size = (min(found.width, wanted.width), min(found.height, wanted.height))
        half = (max(size[0] // 2, 1), max(size[1] // 2, 1))
        pair = [
            np.asarray(image.crop((0, 0, *size)).resize(half, Image.Resampling.BOX), dtype=np.int16)
            for image in (found, wanted)
        ]
        differing = float(np.mean(np.abs(pair[0] - pair[1]).max(axis=2) > 48))
    if differing > tolerance:
        new.write_bytes(picture)
        raise AssertionError(
            f"{name} looks different: {100 * differing:.1f} % of its pixels (sizes {found.size} and {wanted.size}); "
            f"compare {new} with {stored.name}. If it is meant, store it with GPULAB_SCREENSHOTS=write."
        )
    new.unlink(missing_ok=True)


def main() -> int:
    """Take a picture of each instrument in the list `instruments` of a Python file; print what the consoles say."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("file", type=Path)
    ask.add_argument("--out", type=Path, required=True)
    ask.add_argument("--theme", choices=list(THEMES), default="light")
    ask.add_argument("--width", type=int, default=860)
    asked = ask.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    made = runpy.run_path(str(asked.file))["instruments"]
    with Gallery() as gallery:
        for number, shown in enumerate(made):
            page = gallery.mount(shown, asked.theme, asked.width)
            path = asked.out / f"{number}-{shown.name}-{asked.theme}.png"
            page.wait_for_timeout(300)
            page.screenshot(path=str(path), full_page=True)
            (asked.out / f"{number}-{shown.name}-static.png").write_bytes(shown.png())
            print(path)
            print(shown.text)
        for problem in gallery.problems:
            print("console:", problem)
    return 1 if gallery.problems else 0


if __name__ == "__main__":
    sys.exit(main())
