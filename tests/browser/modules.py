"""A page beside a folder of modules, with nothing else in it: for tests of what modules do by themselves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpulab import views
from tests.browser.gallery import Gallery

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

STATIC = Path(views.__file__).parent / "static"
PLACE = "http://gpulab.test/"
KINDS = {".js": "text/javascript", ".json": "application/json", ".css": "text/css"}


def beside(gallery: Gallery, folder: Path) -> Page:
    """An empty page at PLACE; `import("./NAME.js")` finds the folder's modules, and nothing else can be reached."""
    made = gallery.browser.new_context(viewport={"width": 800, "height": 600}).new_page()
    made.on("pageerror", lambda error: gallery.problems.append(str(error)))

    def asked(route: Route) -> None:
        name = route.request.url.removeprefix(PLACE)
        path = folder / name
        if name and path.is_file():
            route.fulfill(body=path.read_bytes(), content_type=KINDS[path.suffix])
        else:
            route.fulfill(body="<!doctype html><html lang='en'><body></body></html>", content_type="text/html")

    made.route("**/*", asked)
    made.goto(PLACE)
    return made


def asking(tools: str) -> Callable[[Page, str], Any]:
    """A function that runs the body of a script in a page, behind `tools`, and gives what it returns."""
    return lambda page, body: page.evaluate(f"async () => {{ {tools} {body} }}")
