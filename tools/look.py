"""Opens a notebook in JupyterLab in a headless browser, runs it, and takes pictures of it.

    python tools/look.py notebooks/00_welcome.ipynb --out docs/lesson.png [--run] [--scroll CELL] [--theme dark]

Needs Chromium (a system package) and the `test` extra (Playwright). The pictures in docs/ are made with it: see
docs/README.md for the commands. The notebook is opened from a copy, so nothing in the clone changes.
"""

from __future__ import annotations

import argparse
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).parent.parent
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
RUNNING = "() => ![...document.querySelectorAll('.jp-InputPrompt')].some(p => p.textContent.includes('*'))"
SHOW_CELL = "n => document.querySelectorAll('.jp-Notebook .jp-Cell')[n]?.scrollIntoView()"


def free_port() -> int:
    """A TCP port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start_lab(folder: pathlib.Path, port: int) -> subprocess.Popen[bytes]:
    """JupyterLab on `port`, serving `folder`, without a token (it listens on the loopback address alone)."""
    settings = folder / ".settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    (settings / "notification.jupyterlab-settings").write_text('{"fetchNews": "false"}')
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", f"--port={port}", "--ServerApp.ip=127.0.0.1",
        "--IdentityProvider.token=", "--ServerApp.allow_root=True", f"--ServerApp.root_dir={folder}",
        "--LabApp.expose_app_in_browser=True", "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        f"--LabApp.user_settings_dir={folder / '.settings'}", f"--LabApp.workspaces_dir={folder / '.workspaces'}",
    ]  # fmt: skip
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
    end = time.time() + 60
    while time.time() < end:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/api/status", timeout=2)
            return server
        except OSError:
            time.sleep(0.3)
    server.kill()
    raise SystemExit("JupyterLab did not answer within 60 s")


def main() -> int:
    """Parse the command line, take the pictures, report errors of the browser's console."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("notebook", type=pathlib.Path)
    ask.add_argument("--out", type=pathlib.Path, required=True)
    ask.add_argument("--run", action="store_true", help="restart the kernel and run all cells first")
    ask.add_argument("--scroll", type=int, default=0, help="bring this cell to the top")
    ask.add_argument("--pages", type=int, default=1, help="that many pictures, each a screen further down")
    ask.add_argument("--theme", choices=["light", "dark"], default="light")
    ask.add_argument("--size", default="1366x900")
    ask.add_argument("--wait", type=float, default=120, help="seconds that running may take")
    asked = ask.parse_args()
    from playwright.sync_api import sync_playwright

    chromium = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if chromium is None:
        raise SystemExit("no Chromium found: install your system's package `chromium`")
    width, height = map(int, asked.size.split("x"))
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        shutil.copy(asked.notebook, folder / asked.notebook.name)
        for extra in asked.notebook.parent.glob("*.png"):
            shutil.copy(extra, folder)
        port = free_port()
        server = start_lab(folder, port)
        try:
            with sync_playwright() as play:
                browser = play.chromium.launch(executable_path=chromium, args=FLAGS)
                page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=asked.theme)
                problems: list[str] = []
                page.on("console", lambda m: problems.append(m.text) if m.type == "error" else None)
                page.goto(f"http://127.0.0.1:{port}/lab/tree/{asked.notebook.name}?reset")
                page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)
                page.wait_for_timeout(1500)
                if asked.theme == "dark":
                    command(page, "apputils:change-theme", {"theme": "JupyterLab Dark"})
                command(page, "application:toggle-left-area")
                if asked.run:
                    page.wait_for_selector(".jp-NotebookPanel-toolbar", timeout=30_000)
                    page.wait_for_timeout(3000)
                    command(page, "notebook:run-all-cells")
                    page.wait_for_timeout(1000)
                    page.wait_for_function(RUNNING, timeout=asked.wait * 1000)
                    page.wait_for_timeout(800)
                page.evaluate(SHOW_CELL, asked.scroll)
                for number in range(asked.pages):
                    page.wait_for_timeout(500)
                    out = asked.out if number == 0 else asked.out.with_stem(f"{asked.out.stem}-{number + 1}")
                    page.screenshot(path=str(out))
                    page.evaluate(
                        "h => { const w = document.querySelector('.jp-WindowedPanel-outer')"
                        " || document.querySelector('.jp-Notebook'); w.scrollBy(0, h); }",
                        height - 150,
                    )
                browser.close()
                for problem in problems:
                    print("console:", problem)
        finally:
            server.terminate()
            server.wait()
    return 0


def command(page: object, name: str, args: dict[str, str] | None = None) -> None:
    """Execute a JupyterLab command by its id."""
    page.evaluate("([n, a]) => window.jupyterapp?.commands.execute(n, a)", [name, args or {}])  # type: ignore[attr-defined]


if __name__ == "__main__":
    sys.exit(main())
