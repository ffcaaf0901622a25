"""Opens a notebook in JupyterLab in a headless browser, runs it, and takes pictures of it.

    python tools/look.py notebooks/00_welcome.ipynb --out picture.png [--run] [--scroll CELL] [--theme dark]

Needs Chromium (a system package) and the `test` extra (Playwright). The pictures in docs/ are made with it: see
docs/README.md for the commands. The notebook is opened from a copy, so nothing in the clone changes. Where something
takes too long, the server's log and what the page shows are told.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.browser.gallery import Gallery, TooSlow, limit
from tests.browser.lab import Lab, LabError

TO_CELL = "n => document.querySelectorAll('.jp-Notebook .jp-Cell')[n]?.scrollIntoView()"
DOWN = """
(pixels) => (document.querySelector(".jp-WindowedPanel-outer") ?? document.querySelector(".jp-Notebook"))
  .scrollBy(0, pixels)
"""


def main() -> int:
    """Parse the command line, take the pictures, report errors of the browser's console."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("notebook", type=Path)
    ask.add_argument("--out", type=Path, required=True)
    ask.add_argument("--run", action="store_true", help="run all cells first")
    ask.add_argument("--scroll", type=int, default=0, help="bring this cell to the top")
    ask.add_argument("--pages", type=int, default=1, help="that many pictures, each a screen further down")
    ask.add_argument("--theme", choices=["light", "dark"], default="light")
    ask.add_argument("--size", default="1366x900")
    ask.add_argument("--scale", type=float, default=1, help="device pixels per CSS pixel")
    ask.add_argument("--app", choices=["lab", "notebook"], default="lab")
    ask.add_argument("--wait", type=float, default=120, help="seconds that running may take")
    asked = ask.parse_args()
    width, height = map(int, asked.size.split("x"))
    files = [asked.notebook, *(each for each in asked.notebook.parent.iterdir() if each.suffix in (".png", ".svg"))]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        lab = Lab(Path(temporary), files, asked.app)
        try:
            with limit(asked.wait + 240, "taking pictures"), Gallery() as gallery, lab:
                page = lab.open(gallery, asked.notebook.name, asked.theme, width, height, asked.scale)
                if asked.app == "lab":
                    lab.command(page, "application:toggle-left-area")
                if asked.run:
                    lab.run_all(page, asked.wait)
                page.wait_for_timeout(800)
                page.evaluate(TO_CELL, asked.scroll)
                for number in range(asked.pages):
                    page.wait_for_timeout(500)
                    out = asked.out if number == 0 else asked.out.with_stem(f"{asked.out.stem}-{number + 1}")
                    page.screenshot(path=str(out))
                    page.evaluate(DOWN, height - 150)
                found = lab.errors(page) if asked.run else []
        except (LabError, TooSlow) as error:
            failed = lab.folder / "failed.png"
            if failed.is_file():
                shutil.copy(failed, asked.out)
            print(f"{error}\nThe picture is now {asked.out}", file=sys.stderr)
            return 1
    for problem in [*lab.problems, *(f"refused: {url}" for url in lab.refused), *found]:
        print(problem)
    return 0


if __name__ == "__main__":
    sys.exit(main())
