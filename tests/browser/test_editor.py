"""The editor's extension in JupyterLab and Notebook 7: docs/editor.md.

Expected are C++'s rules and HIP's names, as a reader of the cell sees them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser import gallery as galleries
from tests.browser.lab import ROOT, Lab

playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.xdist_group("lab")

KERNEL = """%%hip --quiet
// in is no keyword here, and # begins no comment
__global__ void scale(int n, const float* in, float* out)
{
    __shared__ float4 tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2.0f * in[i];
    __syncthreads();
}"""
PYTHON = "import gpulab\nfor i in range(2):  # threadIdx\n    pass"
BROKEN = """%%hip
__global__ void broken(int n, float* out)
{
    int unused = 3;
    out[0] = missing;
}"""


EXERCISES = len(list((ROOT / "course" / "exercises").glob("*/check.py")))
# Not cut off at the side of what it stands in.
SHOWN_WHOLE = """
(box) => {
  const { left, right, top, bottom } = box.getBoundingClientRect();
  return [[left + 3, top + 3], [right - 3, top + 3], [left + 3, bottom - 3], [right - 3, bottom - 3]]
    .every(([x, y]) => box.contains(document.elementFromPoint(x, y)));
}
"""


# CodeMirror takes away after 200 ms what it has told screen readers: all of it is kept here.
LISTEN = """
() => {
  window.gpulabHeard = [];
  new MutationObserver((changes) => {
    for (const { target, addedNodes } of changes) {
      if (!target.closest?.(".cm-announced")) continue;
      window.gpulabHeard.push(...[...addedNodes].map((node) => node.textContent));
    }
  }).observe(document.body, { childList: true, subtree: true });
}
"""


def heard(page: Page, text: str) -> None:
    """Wait until a screen reader has been told something with this text."""
    page.wait_for_function("(text) => window.gpulabHeard.some((one) => one.includes(text))", arg=text, timeout=10_000)


def notebook(path: Path, *cells: str) -> Path:
    import nbformat

    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    made.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    nbformat.write(made, path)
    return path


@pytest.fixture(scope="module", params=["lab", "notebook"])
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A server of each application, with one notebook."""
    folder = tmp_path_factory.mktemp("editor")
    files = [notebook(folder / "kernels.ipynb", "import gpulab", KERNEL, PYTHON, BROKEN)]
    with Lab(folder / "server", files, request.param) as lab:
        (lab.root / "notebooks").mkdir()
        lab.add(ROOT / "notebooks" / "06_lds.ipynb", "notebooks/06_lds.ipynb")
        yield lab


@pytest.fixture(scope="module")
def kept(running: Lab) -> list[Page]:
    """The page, for the next test: to load JupyterLab or Notebook 7 takes longer than most tests."""
    return []


@pytest.fixture
def page(
    running: Lab, kept: list[Page], browser_gallery: galleries.Gallery, request: pytest.FixtureRequest
) -> Iterator[Page]:
    with galleries.limit(galleries.LAB_SECONDS, request.node.name):
        page = kept.pop() if kept else None
        if page is not None and not page.is_closed():
            page.mouse.move(2, 2)
            if running.app == "lab":
                running.show(page, "kernels.ipynb")
            else:  # it has a page for each notebook
                running.restore(page)
        else:
            page = running.open(browser_gallery, "kernels.ipynb")
        page.evaluate(LISTEN)
        failed = request.session.testsfailed
        yield page
        if request.session.testsfailed == failed:
            kept.append(page)
        else:
            page.evaluate("() => window.jupyterapp.serviceManager.sessions.shutdownAll()")
            page.context.close()
    assert [text for text in running.problems if "gpulab" in text.lower()] == []
    assert running.refused == []


def cell(page: Page, number: int) -> Locator:
    return page.locator(".jp-CodeCell").nth(number)


def words(cell: Locator, kind: str) -> list[str]:
    """The words of a cell that are shown as names of HIP of one kind."""
    return [each.inner_text() for each in cell.locator(f".gpulab-{kind}").all()]


def looks(cell: Locator) -> dict[str, Any]:
    """Colour of each piece of text of a cell's editor, by its text: the last one wins."""
    found: dict[str, Any] = cell.evaluate(
        """(cell) => {
          const colours = {}, walk = document.createTreeWalker(cell.querySelector(".cm-content"), NodeFilter.SHOW_TEXT);
          while (walk.nextNode()) {
            const text = walk.currentNode.data.trim();
            if (text) colours[text] = getComputedStyle(walk.currentNode.parentElement).color;
          }
          return colours;
        }"""
    )
    return found


def test_a_hip_cell_is_shown_as_cpp(page: Page) -> None:
    hip = cell(page, 1)
    expect(hip.locator(".gpulab-qualifier").first).to_be_visible()
    assert words(hip, "magic") == ["%%hip --quiet"]
    assert words(hip, "qualifier") == ["__global__", "__shared__"]
    assert words(hip, "variable") == ["blockIdx", "blockDim", "threadIdx"]
    assert words(hip, "type") == ["float4"]
    assert words(hip, "function") == ["__syncthreads"]
    colours = looks(hip)
    comment = colours["// in is no keyword here, and # begins no comment"]
    assert colours["if"] == colours["__global__"] != comment
    assert comment not in (colours["in"], colours["out"])
    assert colours["in"] != colours["if"]
    assert colours["void"] == colours["float"] != colours["n"]


def test_errors_are_marked_on_their_lines(running: Lab, page: Page) -> None:
    """With a sign in the margin, a line under the place, and the message at the mouse and at F8."""
    running.run_all(page)
    broken = cell(page, 3)
    sign = broken.locator(".gpulab-sign-error")
    expect(sign).to_have_text("✖")
    expect(sign).to_have_attribute("title", "Error in line 5: use of undeclared identifier 'missing'")
    heard(page, "1 error. F8 in the cell goes to each.")
    mark = broken.locator(".gpulab-mark-error")
    expect(mark).to_have_text("missing")
    expect(mark).to_have_attribute("aria-description", "error: use of undeclared identifier 'missing'")
    expect(cell(page, 1).locator(".gpulab-sign")).to_have_count(0)
    mark.hover()
    box = page.locator(".gpulab-tip-box")
    expect(box).to_contain_text("Error in line 5: use of undeclared identifier 'missing'")
    expect(box).to_contain_text("Nothing of this name is known here.")
    assert box.evaluate(SHOWN_WHOLE)
    page.mouse.move(2, 2)
    expect(box).to_have_count(0)
    broken.locator(".cm-content").click(position={"x": 40, "y": 8})
    page.keyboard.press("Control+Home")
    page.mouse.move(2, 2)
    page.keyboard.press("F8")
    expect(box).to_contain_text("Error in line 5")
    heard(page, "Error in line 5: use of undeclared identifier 'missing'")
    page.keyboard.press("Escape")
    expect(box).to_have_count(0)
    mark.dblclick()
    page.keyboard.type("1")
    expect(broken.locator(".cm-content")).to_contain_text("out[0] = 1;")
    page.keyboard.press("Shift+Enter")
    expect(sign).to_have_count(0)
    warning = broken.locator(".gpulab-sign-warning")
    expect(warning).to_have_text("▲")
    expect(warning).to_have_attribute("title", "Warning in line 4: unused variable 'unused'")
    expect(broken.locator(".gpulab-mark-warning")).to_have_text("unused")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_boxes_can_be_read_in_both_themes(running: Lab, page: Page, theme: str) -> None:
    """Names and roles, text with a contrast of 4.5 to 1: the message, the explanation, the margin. The list of
    completions is JupyterLab's own."""
    running.theme(page, theme)
    hip = cell(page, 1)
    expect(hip.locator(".gpulab-qualifier").first).to_be_visible()
    hip.locator(".gpulab-function").first.click()
    page.mouse.move(2, 2)
    page.keyboard.press("Shift+F1")
    box = page.locator(".gpulab-tip-box")
    expect(box).to_have_attribute("role", "tooltip")
    galleries.accessible(page, ".gpulab-tip-box")
    page.keyboard.press("Escape")
    running.run_all(page)
    broken = cell(page, 3)
    expect(broken.locator(".gpulab-sign-error")).to_be_visible()
    galleries.accessible(page, ".gpulab-sign")
    broken.locator(".gpulab-mark-error").hover()
    expect(box).to_be_visible()
    galleries.accessible(page, ".gpulab-tip-box")
    running.theme(page, "light")


CUDA = """%%cuda
__global__ void broken(int n, float* out)
{
    int lane = threadIdx.x;
    out[lane] = __missing(n);
}"""


def test_a_cuda_cell_is_marked_and_keeps_its_marks_when_it_is_opened_again(running: Lab, page: Page) -> None:
    text = cell(page, 3).locator(".cm-content")
    text.click()
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.insert_text(CUDA)
    expect(cell(page, 3).locator(".gpulab-qualifier").first).to_be_visible()
    running.run_all(page)
    sign, mark = cell(page, 3).locator(".gpulab-sign-error"), cell(page, 3).locator(".gpulab-mark-error")
    expect(sign).to_have_attribute("title", re.compile("^Error in line 5: use of undeclared identifier '__missing'"))
    expect(mark).to_have_text("__missing")
    before = (running.root / "kernels.ipynb").read_bytes()
    try:
        with page.expect_response(lambda one: one.request.method == "PUT" and "kernels.ipynb" in one.url):
            page.keyboard.press("ControlOrMeta+S")
        page.reload()
        expect(sign).to_have_attribute("title", re.compile("Error in line 5"), timeout=30_000)
        expect(mark).to_have_text("__missing")
    finally:
        (running.root / "kernels.ipynb").write_bytes(before)


def proposed(page: Page) -> list[str]:
    """The completer's labels."""
    expect(page.locator(".jp-Completer")).to_be_visible()
    return page.locator(".jp-Completer-item .jp-Completer-match").all_inner_texts()


def test_names_are_completed(page: Page) -> None:
    """HIP's functions and the cell's own names come first; a Python cell has neither."""
    hip = cell(page, 1)
    expect(hip.locator(".gpulab-qualifier").first).to_be_visible()
    hip.locator(".cm-line").nth(6).click()
    page.keyboard.press("End")
    page.keyboard.type("\n__shfl_d")
    page.keyboard.press("Tab")
    assert proposed(page)[:2] == ["__shfl_down", "__shfl_down_sync"]
    page.keyboard.press("Enter")
    expect(hip.locator(".cm-content")).to_contain_text("__shfl_down")
    page.keyboard.type("; out[ti")
    page.keyboard.press("Tab")
    assert proposed(page)[0] == "tile", "a name of the cell"
    page.keyboard.press("Enter")
    expect(hip.locator(".cm-content")).to_contain_text("__shfl_down; out[tile")
    python = cell(page, 2)
    python.locator(".cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.type("\n__shfl_d")
    page.keyboard.press("Tab")
    page.wait_for_timeout(1500)
    assert "__shfl_down" not in page.locator(".jp-Completer-item .jp-Completer-match").all_inner_texts()


def test_a_word_is_explained_at_the_mouse_and_at_the_cursor(page: Page) -> None:
    hip = cell(page, 1)
    expect(hip.locator(".gpulab-qualifier").first).to_be_visible()
    hip.locator(".gpulab-type").first.hover()
    box = page.locator(".gpulab-tip-box")
    expect(box).to_contain_text("A vector of 4 × float.")
    page.mouse.move(2, 2)
    expect(box).to_have_count(0)
    hip.locator(".gpulab-function").first.click()
    page.mouse.move(2, 2)
    page.keyboard.press("Shift+F1")
    expect(box).to_contain_text("All threads of the block wait here for each other")
    heard(page, "All threads of the block wait here for each other")
    page.keyboard.press("Escape")
    expect(box).to_have_count(0)
    cell(page, 2).locator(".cm-content").click()
    page.keyboard.press("Shift+F1")
    page.wait_for_timeout(300)
    expect(box).to_have_count(0)


def test_f1_opens_the_section_that_explains_the_word(running: Lab, page: Page) -> None:
    hip = cell(page, 1)
    expect(hip.locator(".gpulab-qualifier").first).to_be_visible()
    hip.locator(".gpulab-function").first.click()
    if running.app == "notebook":
        with page.context.expect_page() as opened:
            page.keyboard.press("F1")
        lesson = opened.value
        assert lesson.url.endswith("/notebooks/notebooks/06_lds.ipynb#Barriers-and-races")
        expect(lesson.get_by_role("heading", name="Barriers and races")).to_be_in_viewport(timeout=20_000)
        lesson.close()
        return
    page.keyboard.press("F1")
    heading = page.get_by_role("heading", name="Barriers and races")
    expect(heading).to_be_in_viewport(timeout=20_000)


def test_the_panel_has_lessons_progress_and_hints(running: Lab, page: Page) -> None:
    """With the keyboard alone, once it is open. Hints and progress are the kernel's."""
    running.command(page, "gpulab-editor:panel")
    panel = page.get_by_role("region", name="Course")
    expect(panel).to_be_visible()
    expect(panel.get_by_role("status")).to_contain_text("run its cell with import gpulab")
    assert panel.locator("details").count() == len(list((ROOT / "course" / "lessons").glob("*.md")))
    running.run_all(page)
    refresh = panel.get_by_role("button", name="Refresh progress")
    refresh.press("Enter")
    expect(panel.get_by_role("status")).to_have_text(f"0 of {EXERCISES} exercises solved.")
    panel.locator("summary", has_text="04 ·").press("Enter")
    asking = panel.locator("[data-hint='wave-sum']")
    expect(asking).to_have_accessible_name(re.compile("^Hint for "))
    asking.press("Enter")
    expect(panel.locator(".gpulab-panel-hint")).to_contain_text("Hint 1 of 3:")
    expect(asking).to_be_focused()
    expect(panel.get_by_role("log")).to_contain_text("Hint 1 of 3:")
    expect(panel.locator("li", has=page.locator("[data-hint='wave-sum']"))).to_contain_text("… begun · 1 hint")
    if running.app == "lab":
        for theme in ("dark", "light"):
            running.theme(page, theme)
            galleries.accessible(page, ".gpulab-panel")
            galleries.readable(page, ".gpulab-panel")
    (running.folder / "progress.json").unlink()


CHECK = """
import gpulab
print("\\n" * 30)
gpulab.check("first-fill", "__global__ void fill(int n, float value, float* out) { if (threadIdx.x < n) out[n] = 1; }")
"""
IN_SIGHT = """
() => {
  const report = document.querySelector(".gpulab-rejected");
  if (!report) return false;
  const box = report.getBoundingClientRect();
  const around = document.querySelector(".jp-WindowedPanel-outer, .jp-Notebook").getBoundingClientRect();
  return box.top >= around.top - 1 && box.top + Math.min(box.height, around.height) <= around.bottom + 1;
}
"""


def test_a_report_comes_into_sight(running: Lab, page: Page) -> None:
    page.set_viewport_size({"width": 1200, "height": 700})
    source = cell(page, 2).locator(".cm-content")
    source.click()
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.insert_text(CHECK)
    page.keyboard.press("Shift+Enter")
    page.wait_for_selector(".gpulab-rejected", timeout=60_000)
    page.wait_for_function(IN_SIGHT, timeout=10_000)
    page.wait_for_timeout(1500)  # pictures below it come later, and must not push it away
    assert page.evaluate(IN_SIGHT)
    assert page.evaluate("() => !document.querySelector('.gpulab-rejected').contains(document.activeElement)")


def test_other_cells_are_shown_as_python(page: Page) -> None:
    expect(cell(page, 1).locator(".gpulab-qualifier").first).to_be_visible()
    python = cell(page, 2)
    assert all(words(python, kind) == [] for kind in ("qualifier", "variable", "type", "function", "magic"))
    colours = looks(python)
    assert colours["in"] == colours["for"] != colours["i"]


def test_the_mode_follows_the_first_line(page: Page) -> None:
    """Typing %%hip turns a cell to C++, taking it away turns it back."""
    python = cell(page, 2)
    python.locator(".cm-content").click()
    page.keyboard.press("Control+Home")
    page.keyboard.type("%%hip\n")
    expect(python.locator(".gpulab-magic")).to_have_text("%%hip")
    page.keyboard.press("Control+Home")
    page.keyboard.press("Delete")
    expect(python.locator(".gpulab-magic")).to_have_count(0)
    colours = looks(python)
    assert colours["in"] == colours["for"]


def test_without_the_extension_all_works_as_before(
    browser_gallery: galleries.Gallery, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The same notebook with the extension switched off: the same outputs, no marks, nothing on the console."""
    files = [notebook(tmp_path / "kernels.ipynb", "import gpulab", KERNEL, BROKEN)]
    with (
        galleries.limit(galleries.LAB_SECONDS, request.node.name),
        Lab(tmp_path / "server", files, editor=False) as lab,
    ):
        page = lab.open(browser_gallery, "kernels.ipynb")
        lab.run_all(page)
        outputs = lab.cells(page)[2]["outputs"]
        assert "use of undeclared identifier 'missing'" in outputs[0]["data"]["text/plain"]
        expect(cell(page, 2).locator(".gpulab-report")).to_contain_text("use of undeclared identifier 'missing'")
        assert page.locator(".gpulab-qualifier, .gpulab-sign").count() == 0
        assert lab.problems == []
        page.context.close()
