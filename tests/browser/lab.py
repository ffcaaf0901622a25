"""JupyterLab or Notebook 7 in a headless browser: start a server, open a notebook, run it, look at it.

    with Gallery() as gallery, Lab(folder, [Path("notebooks/00_welcome.ipynb")]) as lab:
        page = lab.open(gallery, "00_welcome.ipynb", theme="dark")
        lab.run_all(page)
        assert lab.errors(page) == []

tests/browser/test_lab.py tests the lessons with it, tools/look.py takes pictures. Nothing here waits without a limit;
what takes too long ends as a `LabError` with the server's log, the browser's console and a picture of the page. The
server has a folder, settings and a port of its own; pages reach nothing but the server (`Lab.refused` has the rest).
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from gpulab.views import instrument as instruments
from tests.browser import gallery as galleries
from tests.browser.gallery import TooSlow, limit
from tests.ports import free_port

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Locator, Page, Route

ROOT = Path(__file__).resolve().parents[2]
EXTENSIONS = ROOT / "gpulab" / "editor" / "labextension"
START_SECONDS = 60
OPEN_SECONDS = 60
RUN_SECONDS = 120
STOP_SECONDS = 10
#: What JupyterLab says of a part that took five seconds to begin.
SLOW = re.compile(r"Plugin \S+ (is taking too long|\(with \d+ dependants\) took [\d.]+ms) to activate\.$")

#: What its debugger says when a kernel is ended soon after its notebook was opened.
CANCELED = re.compile(r"Could not restore the debugger state: Canceled future")

# The session context is ready when there is a kernel and it has said that it is idle; a dialogue (which kernel?) is
# an answer as well, for nobody is there to press its buttons.
READY = """
() => {
  if (document.querySelector(".jp-Dialog")) return "dialog";
  const shown = window.jupyterapp?.shell.currentWidget;
  const context = shown?.context ?? shown?.sessionContext;
  const session = context?.sessionContext ?? context;
  return session?.isReady && session.session?.kernel?.status === "idle" ? "ready" : null;
}
"""
# What was not saved is thrown away without a question, also what changes while the kernel ends.
CLOSE = """
async () => {
  const shown = window.jupyterapp.shell.currentWidget;
  await shown.context.sessionContext.shutdown();
  shown.context.model.dirty = false;
  shown.close();
}
"""
# As `CLOSE`, in a page that has one notebook alone.
RESTORE = """
async () => {
  const { context } = window.jupyterapp.shell.currentWidget;
  context.model.dirty = false;
  await context.sessionContext.shutdown();
  await context.revert();
  await context.sessionContext.startKernel();
}
"""
EXECUTE = """
([id, args]) => {
  const state = {done: false, error: null};
  window.gpulabCommand = state;
  if (!window.jupyterapp) { state.done = true; state.error = "there is no window.jupyterapp"; return; }
  window.jupyterapp.commands.execute(id, args)
    .then(() => {}, (error) => { state.error = String(error); })
    .then(() => { state.done = true; });
}
"""
DONE = """
() => {
  if (document.querySelector(".jp-Dialog")) return "dialog";
  return window.gpulabCommand?.done ? (window.gpulabCommand.error ?? "done") : null;
}
"""
OUTPUTS = """
() => window.jupyterapp.shell.currentWidget.content.model.sharedModel.toJSON().cells
  .map((cell, number) => ({number, type: cell.cell_type, source: [cell.source].flat().join(""),
                           count: cell.execution_count ?? null, outputs: cell.outputs ?? []}))
"""
DIALOG = "() => [...document.querySelectorAll('.jp-Dialog')].map((found) => found.innerText).join('\\n')"


class LabError(Exception):
    """JupyterLab did not do what it was asked in time. The text has all that is known."""


class Lab:
    """A Jupyter server; use it as a context manager.

    Attributes:
        problems: errors and warnings on the consoles of its pages.
        refused: addresses outside of the server that pages asked for, and did not get.
    """

    def __init__(self, folder: Path, notebooks: Iterable[Path], app: str = "lab", editor: bool = True) -> None:
        """
        Args:
            folder: an empty one, for copies of the notebooks, settings and the log.
            notebooks: files to copy. A notebook that names no kernel gets Python's, or JupyterLab would ask.
            app: "lab" or "notebook" (Notebook 7).
            editor: with gpulab's own extension of JupyterLab, docs/editor.md.
        """
        self.app = app
        self.editor = editor
        self.folder = folder
        self.root = folder / "files"
        self.problems: list[str] = []
        self.refused: list[str] = []
        self.port = 0
        self._server: subprocess.Popen[bytes] | None = None
        self.root.mkdir(parents=True)
        for path in notebooks:
            self.add(path)

    def add(self, path: Path, name: str = "") -> None:
        """Copy a file into the server's folder, under its own name or another."""
        target = self.root / (name or path.name)
        if path.suffix != ".ipynb":
            shutil.copy(path, target)
            return
        content = json.loads(path.read_text(encoding="utf-8"))
        content.setdefault("metadata", {}).setdefault(
            "kernelspec", {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
        )
        target.write_text(json.dumps(content), encoding="utf-8")

    def __enter__(self) -> Lab:
        for _ in range(3):  # another process may take the port first
            try:
                self._start()
                return self
            except ConnectionError:
                continue
        raise LabError(f"the Jupyter server ended at once\n{self.log()}")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def log(self, lines: int = 40) -> str:
        """The end of what the server has written."""
        path = self.folder / "server.log"
        text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
        return "\n".join(["the server's log ends with:", *text.splitlines()[-lines:]])

    def _start(self) -> None:
        settings = self.folder / "settings" / "@jupyterlab" / "apputils-extension"
        settings.mkdir(parents=True, exist_ok=True)
        (settings / "notification.jupyterlab-settings").write_text('{"fetchNews": "false", "checkForUpdates": false}')
        if not self.editor:  # as `jupyter labextension disable gpulab-editor` would, wherever a copy of it is installed
            switched = self.folder / "config" / "labconfig"
            switched.mkdir(parents=True, exist_ok=True)
            (switched / "page_config.json").write_text('{"disabledExtensions": {"gpulab-editor": true}}')
        self.port = free_port()
        named, module = ("JupyterNotebookApp", "notebook") if self.app == "notebook" else ("LabApp", "jupyterlab")
        command = [
            sys.executable, "-m", module, "--no-browser", f"--port={self.port}", "--ServerApp.port_retries=0",
            "--ServerApp.ip=127.0.0.1", "--IdentityProvider.token=", "--ServerApp.allow_root=True",
            f"--ServerApp.root_dir={self.root}", f"--{named}.expose_app_in_browser=True",
            "--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
            "--LabApp.extension_manager=readonly",
            # should this process be killed, the server ends by itself
            "--ServerApp.shutdown_no_activity_timeout=900", "--MappingKernelManager.cull_idle_timeout=600",
            # Notebook 7 lists the extensions, and JupyterLab's part of the server gives their files
            *(f"--{each}.extra_labextensions_path={EXTENSIONS}" for each in {named, "LabApp"}),
            f"--{named}.user_settings_dir={self.folder / 'settings'}",
            f"--{named}.workspaces_dir={self.folder / 'workspaces'}",
        ]  # fmt: skip
        with (self.folder / "server.log").open("ab") as log:
            self._server = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.root, env=self._environment()
            )
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            if self._server.poll() is not None:
                raise ConnectionError
            try:
                urllib.request.urlopen(f"{self.address}/api/status", timeout=5).close()
                return
            except OSError:
                time.sleep(0.2)
        self.stop()
        raise LabError(f"the Jupyter server did not answer within {START_SECONDS} s\n{self.log()}")

    def _environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "JUPYTER_CONFIG_DIR": str(self.folder / "config"),
            "JUPYTER_DATA_DIR": str(self.folder / "data"),
            "JUPYTER_RUNTIME_DIR": str(self.folder / "runtime"),
            "IPYTHONDIR": str(self.folder / "ipython"),
            "GPULAB_PROGRESS": str(self.folder / "progress.json"),
            "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
        }

    def trust(self, name: str) -> None:
        """Have the server take a notebook's outputs for the user's own, as after running and saving it."""
        command = [sys.executable, "-m", "jupyter", "trust", str(self.root / name)]
        subprocess.run(command, check=True, timeout=60, capture_output=True, env=self._environment())

    def stop(self) -> None:
        """End the server and its kernels, in at most twice STOP_SECONDS."""
        import psutil

        server, self._server = self._server, None
        if server is None or server.poll() is not None:
            return
        kernels = psutil.Process(server.pid).children(recursive=True)
        server.terminate()
        try:
            server.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait(STOP_SECONDS)
        for kernel in kernels:
            with contextlib.suppress(psutil.Error):
                kernel.kill()

    def open(
        self,
        gallery: galleries.Gallery,
        name: str,
        theme: str = "light",
        width: int = 1366,
        height: int = 900,
        scale: float = 1,
    ) -> Page:
        """A page with a notebook of the server's folder, its kernel idle. Sizes in CSS pixels.

        Raises:
            LabError: it took longer than OPEN_SECONDS, or JupyterLab asks something.
        """
        context = gallery.browser.new_context(
            viewport={"width": width, "height": height}, device_scale_factor=scale, reduced_motion="reduce",
            service_workers="block",
        )  # fmt: skip
        context.set_default_timeout(30_000)
        self._stay_here(context)
        page = context.new_page()
        page.on("console", lambda m: self._heard(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self._heard(str(error)))
        path = f"notebooks/{name}" if self.app == "notebook" else f"lab/tree/{name}?reset"
        with self._told(page, f"opening {name}", OPEN_SECONDS):
            page.goto(f"{self.address}/{path}", timeout=1000 * OPEN_SECONDS, wait_until="domcontentloaded")
            page.locator(".jp-Notebook .jp-Cell").first.wait_for(timeout=1000 * OPEN_SECONDS)
            self._until(page, READY, OPEN_SECONDS)
            # The same letters on every machine; the themes set these names on :root.
            page.add_style_tag(content=galleries.fonts() + galleries.FONT_VARIABLES)
        if theme != "light":
            self.theme(page, theme)
        return page

    def show(self, page: Page, name: str) -> None:
        """Another notebook of the server's folder in a page that has one, which is closed, and its kernel ended.

        Raises:
            LabError: as `open`.
        """
        with self._told(page, f"closing a notebook for {name}", OPEN_SECONDS):
            page.evaluate(CLOSE)
        self.command(page, "docmanager:open", {"path": name})
        with self._told(page, f"opening {name}", OPEN_SECONDS):
            page.locator(".jp-Notebook .jp-Cell").first.wait_for(timeout=1000 * OPEN_SECONDS)
            self._until(page, READY, OPEN_SECONDS)

    def restore(self, page: Page) -> None:
        """The page's notebook becomes what its file has, and gets another kernel.

        Raises:
            LabError: as `open`.
        """
        with self._told(page, "restoring the notebook", OPEN_SECONDS):
            page.evaluate(RESTORE)
            self._until(page, READY, OPEN_SECONDS)

    def _heard(self, text: str) -> None:
        # Once the server is gone pages complain about that; of a busy machine JupyterLab says which parts are late.
        if self._server is not None and not SLOW.match(text) and not CANCELED.match(text):
            self.problems.append(text)

    def _stay_here(self, context: BrowserContext) -> None:
        def asked(route: Route) -> None:
            url = route.request.url
            if url.startswith(f"{self.address}/"):
                route.continue_()
            else:
                self.refused.append(url)
                route.abort()

        context.route("**/*", asked)

    def theme(self, page: Page, theme: str) -> None:
        """Switch JupyterLab's theme: "light" or "dark"."""
        self.command(page, "apputils:change-theme", {"theme": f"JupyterLab {theme.capitalize()}"})
        value = "true" if theme == "light" else "false"
        with self._told(page, f"the {theme} theme", OPEN_SECONDS):
            found = page.locator(f"body[data-jp-theme-light='{value}'][data-jp-theme-name]")
            found.wait_for(timeout=1000 * OPEN_SECONDS, state="attached")
            page.locator("#jupyterlab-splash").wait_for(timeout=1000 * OPEN_SECONDS, state="detached")

    def command(self, page: Page, name: str, args: Any = None, seconds: float = 30) -> None:
        """Execute a JupyterLab command by its id and wait until it is done.

        Raises:
            LabError: it failed or took longer, or JupyterLab asks something.
        """
        with self._told(page, f"the command {name}", seconds):
            page.evaluate(EXECUTE, [name, args or {}])
            self._until(page, DONE, seconds)

    def run_all(self, page: Page, seconds: float = RUN_SECONDS) -> None:
        """Run all cells and wait until the last is done."""
        self.command(page, "notebook:run-all-cells", seconds=seconds)

    def cells(self, page: Page) -> list[dict[str, Any]]:
        """The notebook's cells: {number, type, source, count, outputs} with outputs as in a notebook file."""
        with self._told(page, "reading the cells", 30):
            found: list[dict[str, Any]] = page.evaluate(OUTPUTS)
        return found

    def instruments(self, page: Page, seconds: float = 20) -> Locator:
        """The instruments on a page, all that the notebook's outputs have.

        Raises:
            LabError: some are not there after so many seconds.
        """
        outputs = [output for cell in self.cells(page) for output in cell["outputs"]]
        expected = sum(instruments.WIDGET in output.get("data", {}) for output in outputs)
        with self._told(page, f"showing {expected} instruments", seconds):
            page.wait_for_function(
                "(count) => document.querySelectorAll('.gpulab').length >= count", arg=expected, timeout=1000 * seconds
            )
        return page.locator(".gpulab")

    def errors(self, page: Page) -> list[str]:
        """Errors of cells, and code cells that did not run: "cell 4: NameError: ..."."""
        found = []
        for cell in self.cells(page):
            if cell["type"] == "code" and cell["source"].strip() and cell["count"] is None:
                found.append(f"cell {cell['number']}: did not run")
            for output in cell["outputs"]:
                if output["output_type"] == "error":
                    found.append(f"cell {cell['number']}: {output['ename']}: {output['evalue']}")
        return found

    def _until(self, page: Page, condition: str, seconds: float) -> None:
        answer = page.wait_for_function(condition, timeout=1000 * seconds, polling=100).json_value()
        if answer == "dialog":
            raise LabError(f"JupyterLab asks: {page.evaluate(DIALOG)!r}")
        if answer not in ("ready", "done"):
            raise LabError(str(answer))

    @contextlib.contextmanager
    def _told(self, page: Page, what: str, seconds: float) -> Iterator[None]:
        """What goes wrong inside is told with a picture, the console and the log; it ends after `seconds` and a bit."""
        from playwright.sync_api import Error

        try:
            with limit(seconds + 30, what):
                yield
        except (Error, LabError, TooSlow) as error:
            picture = self.folder / "failed.png"
            with contextlib.suppress(Error):
                page.screenshot(path=str(picture), timeout=10_000)
            console = "\n".join(self.problems[-10:]) or "nothing"
            raise LabError(
                f"{what} failed: {error}\npicture: {picture}\nthe console says: {console}\n{self.log()}"
            ) from error
