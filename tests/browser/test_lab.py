"""The lessons and their instruments in JupyterLab and Notebook 7 themselves: everything a learner's browser does.

One server for the tests of this module, without a network: what a page asks of anyone else is refused and fails the
test. tests/browser/test_*.py test each instrument's own ways in a bare page; here it is what only Jupyter can break.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gpulab.views.instrument import WIDGET
from tests.browser import gallery as galleries
from tests.browser.lab import ROOT, Lab, LabError

playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.xdist_group("lab")  # with pytest -n 2 --dist loadgroup one worker has all of them

LESSONS = sorted((ROOT / "notebooks").glob("*.ipynb"))
TOUR = Path(__file__).with_name("tour.md")
"""All instruments in one notebook, in the form of a lesson's source."""
SHORTCUTS = ("a", "b", "x", "m", "y", "z", "d", "d", "i", "i", "Shift+M")
"""Keys that JupyterLab acts on in command mode: new cells, cut, cell types, undo, delete, interrupt, merge."""
FOCUSED = """
() => {
  const at = document.activeElement;
  const root = at.closest(".gpulab");
  return {
    instrument: root ? [...document.querySelectorAll(".gpulab")].indexOf(root) : -1,
    cell: at.classList.contains("jp-Cell"),
    name: at.tagName + "." + (at.className?.baseVal ?? at.className),
  };
}
"""
# Does the element with the focus look different without it?
SHOWS_FOCUS = """
() => {
  const at = document.activeElement;
  const look = () => [at, ...[...at.querySelectorAll("*")].slice(0, 40)].map((each) => {
    const style = getComputedStyle(each);
    const { outline, stroke, strokeWidth, strokeOpacity, fill, backgroundColor } = style;
    return [outline, stroke, strokeWidth, strokeOpacity, fill, backgroundColor].join();
  }).join();
  const focused = look();
  at.blur();
  const without = look();
  at.focus();
  return focused !== without;
}
"""
# Else lines fall between pixels, depending on what stands above.
ON_WHOLE_PIXELS = """
(root) => {
  root.style.margin = "0";
  const { left, top } = root.getBoundingClientRect();
  root.style.margin = `${Math.ceil(top) - top}px 0 0 ${Math.ceil(left) - left}px`;
}
"""
PICTURES = """
() => [...document.querySelectorAll(".jp-RenderedImage img")].filter((image) => image.naturalWidth > 0).length
"""


@pytest.fixture(scope="module")
def lab(browsers: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    import jupytext

    folder = tmp_path_factory.mktemp("lab")
    tour = folder / "tour.ipynb"
    jupytext.write(jupytext.read(TOUR, fmt="md:myst"), tour)
    with Lab(folder / "server", [*LESSONS, *sorted((ROOT / "notebooks").glob("*.svg")), tour]) as running:
        yield running


@pytest.fixture
def clean(lab: Lab, browser_gallery: galleries.Gallery, request: pytest.FixtureRequest) -> Iterator[Lab]:
    """The server; after the test no page has complained, or asked for the network."""
    lab.problems.clear()
    lab.refused.clear()
    with galleries.limit(galleries.LAB_SECONDS, request.node.name):
        yield lab
    assert lab.problems == []
    assert lab.refused == []


@pytest.fixture(scope="module")
def opened() -> dict[str, Page]:
    return {}


@pytest.fixture
def tour(clean: Lab, browser_gallery: galleries.Gallery, opened: dict[str, Page]) -> Page:
    """The notebook with all instruments, run: the same page for all tests, in the light theme."""
    page = opened.get("tour")
    if page is None or page.is_closed():
        page = opened["tour"] = clean.open(browser_gallery, "tour.ipynb")
        clean.command(page, "application:toggle-left-area")
        clean.run_all(page)
        assert clean.errors(page) == []
    clean.instruments(page)
    return page


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_lesson_in_jupyterlab(
    clean: Lab, browser_gallery: galleries.Gallery, opened: dict[str, Page], path: Path
) -> None:
    """Before it is run it shows the stored pictures; then all cells run, and its instruments appear."""
    page = opened.pop("lessons", None)  # JupyterLab as the lesson before has left it, if all was well there
    if page is None or page.is_closed():
        page = clean.open(browser_gallery, path.name)
    else:
        clean.show(page, path.name)
    stored = [output.get("data", {}) for cell in clean.cells(page) for output in cell["outputs"]]
    assert not any(WIDGET in data for data in stored)
    page.wait_for_function(f"(count) => ({PICTURES})() === count", arg=sum("image/png" in data for data in stored))
    clean.run_all(page)
    assert clean.errors(page) == []
    clean.instruments(page)
    assert page.get_by_text("Error displaying widget").count() == 0
    shown = page.locator(".jp-OutputArea-child:has(.gpulab) + .jp-OutputArea-child .jp-RenderedImage")
    assert [one.is_visible() for one in shown.all()] == [False] * shown.count(), "the picture, below its widget"
    opened["lessons"] = page


CHANGED_AT_THE_END = """
() => {
  const context = window.jupyterapp.shell.currentWidget.context;
  const session = context.sessionContext;
  const shutdown = session.shutdown.bind(session);
  session.shutdown = async () => { await shutdown(); context.model.dirty = true; };
}
"""


def test_a_notebook_that_changes_while_its_kernel_ends_is_closed_without_a_question(
    clean: Lab, browser_gallery: galleries.Gallery
) -> None:
    """As an output does that arrives late on a busy machine."""
    page = clean.open(browser_gallery, LESSONS[0].name)
    page.evaluate(CHANGED_AT_THE_END)
    clean.show(page, LESSONS[0].name)
    page.context.close()


def test_instruments_are_accessible_and_readable_in_both_themes(clean: Lab, tour: Page) -> None:
    for theme in ("dark", "light"):
        clean.theme(tour, theme)
        wanted = "rgb(17, 17, 17)" if theme == "dark" else "rgb(255, 255, 255)"
        found = tour.evaluate(
            "() => [...document.querySelectorAll('.gpulab')].map((root) => getComputedStyle(root).backgroundColor)"
        )
        assert set(found) == {wanted}
        galleries.accessible(tour)
        galleries.readable(tour)


def test_instruments_on_a_screen_of_1366_pixels_at_125_percent(clean: Lab, browser_gallery: galleries.Gallery) -> None:
    page = clean.open(browser_gallery, "tour.ipynb", width=1093, height=614, scale=1.25)
    clean.command(page, "application:toggle-left-area")
    clean.run_all(page)
    assert clean.errors(page) == []
    assert clean.instruments(page).count() > 0
    galleries.readable(page)
    galleries.accessible(page)
    page.context.close()


def test_keys_alone_reach_every_instrument_and_leave_it(clean: Lab, tour: Page) -> None:
    """From the cell Tab leads in and, in the end, out; Jupyter's shortcuts stay away; Escape leads back to the cell."""
    roots = clean.instruments(tour)
    cells = len(clean.cells(tour))
    for number in range(roots.count()):
        roots.nth(number).evaluate("(root) => root.closest('.jp-Cell').focus()")
        assert tour.evaluate(FOCUSED)["cell"]
        for _ in range(6):  # past the buttons of the cell's own toolbar
            tour.keyboard.press("Tab")
            if tour.evaluate(FOCUSED)["instrument"] == number:
                break
        title = roots.nth(number).locator(".gpulab-title").text_content()
        assert tour.evaluate(FOCUSED)["instrument"] == number, f"Tab does not lead into {title}"
        for key in SHORTCUTS:
            tour.keyboard.press(key)
        assert tour.evaluate(FOCUSED)["instrument"] == number
        assert len(clean.cells(tour)) == cells
        for _ in range(2):  # the first Escape may close what it has open, e.g. a tip
            tour.keyboard.press("Escape")
            if tour.evaluate(FOCUSED)["cell"]:
                break
        assert tour.evaluate(FOCUSED)["cell"], f"Escape does not lead from {title} back to the cell"
        entered = False
        for _ in range(200):
            tour.keyboard.press("Tab")
            at = tour.evaluate(FOCUSED)
            if at["instrument"] == number:
                entered = True
                assert tour.evaluate(SHOWS_FOCUS), f"{at['name']} of {title} has the focus and does not show it"
            elif entered:
                break
        else:
            raise AssertionError(f"Tab does not lead out of {title}")


def instrument(page: Page, title: str) -> Locator:
    """The instrument whose title starts so."""
    return page.locator(".gpulab", has=page.get_by_role("heading", name=re.compile(rf"^{title}", re.I))).first


def test_the_stepper_steps_and_goes_back(tour: Page) -> None:
    """With the mouse and with keys: the step, the source line and the number of active lanes change and come back."""
    stepper = instrument(tour, "Wave stepper")
    at = stepper.get_by_text(re.compile(r"^Step \d+ of \d+"))
    stepper.get_by_role("button", name=re.compile("active lanes change")).press("Home")
    expect(at.first).to_contain_text("Step 1 of")
    stepper.get_by_role("button", name=re.compile("^One step forward")).click()
    expect(at.first).to_contain_text("Step 2 of")
    stepper.get_by_role("button", name=re.compile("^One step back")).click()
    expect(at.first).to_contain_text("Step 1 of")
    stepper.get_by_role("button", name=re.compile("active lanes change")).click()
    expect(stepper.get_by_text(re.compile(r"^Lanes: 30 of \d+ active"))).to_be_visible()
    stepper.get_by_role("button", name=re.compile("active lanes change")).press("ArrowLeft")
    expect(stepper.get_by_text(re.compile(r"^Lanes: (64 of 64|32 of 32) active"))).to_be_visible()
    tour.keyboard.press("Home")
    expect(at.first).to_contain_text("Step 1 of")


def test_a_slider_in_jupyterlab_asks_python(clean: Lab, tour: Page) -> None:
    calculator = instrument(tour, "Occupancy")
    slider = calculator.get_by_role("slider").first
    words = calculator.locator(".gpulab-words")
    expect(words).to_contain_text("workgroups")  # it comes from Python
    before = words.text_content() or ""
    slider.focus()
    for key in ("End", "ArrowLeft"):
        tour.keyboard.press(key)
    expect(words).not_to_have_text(before)
    assert slider.evaluate("(input) => Number(input.value) === Number(input.max) - Number(input.step || 1)")
    calculator.get_by_role("button", name=re.compile("Back to")).click()
    expect(words).to_have_text(before)


def test_hovering_in_jupyterlab_tells_about_a_lane(tour: Page) -> None:
    lanes = instrument(tour, "Lanes and cache lines")
    lane = lanes.get_by_role("img", name=re.compile(r"^Lane 5 asks"))
    lane.scroll_into_view_if_needed()
    lane.hover()
    expect(lanes.get_by_text(re.compile(r"^Lane 5 asks for 4 bytes at in \+"))).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("title", ["Occupancy", "Lanes and cache lines"])
def test_instruments_look_as_they_did(clean: Lab, tour: Page, title: str, theme: str) -> None:
    """The element alone, with the gallery's fonts, on a page so high that nothing of it is scrolled away."""
    clean.theme(tour, theme)
    tour.set_viewport_size({"width": 1366, "height": 2000})
    try:
        shown = instrument(tour, title)
        shown.scroll_into_view_if_needed()
        tour.mouse.move(2, 2)
        tour.evaluate("document.activeElement.blur()")
        tour.wait_for_timeout(300)
        shown.evaluate(ON_WHOLE_PIXELS)
        galleries.compare(shown.screenshot(), f"lab-{title.split()[0].lower()}-{theme}")
    finally:
        tour.set_viewport_size({"width": 1366, "height": 900})
        clean.theme(tour, "light")


def small(path: Path) -> Path:
    """A notebook with one instrument."""
    import nbformat

    code = ["import gpulab\n\ngpulab.use('gfx942')", "gpulab.occupancy(block=256).show()"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in code])
    notebook.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    nbformat.write(notebook, path)
    return path


def test_notebook_7(browser_gallery: galleries.Gallery, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """An instrument appears, answers to keys, and Notebook's shortcuts do not; saved and opened again it stands still.

    Notebook 7 with nbgrader's extension writes to the console by itself: what an empty notebook brings is left out.
    """
    import nbformat

    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")]), tmp_path / "empty.ipynb")
    files = [tmp_path / "empty.ipynb", small(tmp_path / "small.ipynb")]
    with galleries.limit(galleries.LAB_SECONDS, request.node.name), Lab(tmp_path / "server", files, "notebook") as lab:
        page = lab.open(browser_gallery, "empty.ipynb")
        lab.run_all(page)
        page.context.close()
        own = set(lab.problems)
        page = lab.open(browser_gallery, "small.ipynb")
        lab.run_all(page)
        assert lab.errors(page) == []
        assert lab.instruments(page).count() == 1
        galleries.accessible(page)
        galleries.readable(page)
        slider = page.get_by_role("slider").first
        words = page.locator(".gpulab-words")
        expect(words).to_contain_text("workgroups")
        before = words.text_content() or ""
        slider.focus()
        for key in (*SHORTCUTS, "End"):
            page.keyboard.press(key)
        expect(words).not_to_have_text(before)
        assert page.evaluate(FOCUSED)["instrument"] == 0
        assert len(lab.cells(page)) == 2
        page.keyboard.press("Escape")
        assert page.evaluate(FOCUSED)["cell"]
        assert set(lab.problems) <= own
        page = save_end_the_kernel_and_open_again(lab, browser_gallery, page, "small.ipynb")
        shows_a_still_picture(page)
        page.context.close()
        assert lab.refused == []


def test_papermills_output_shows_the_picture_and_where_trusted_the_widget(
    clean: Lab, browser_gallery: galleries.Gallery, tmp_path: Path
) -> None:
    import papermill

    source = small(tmp_path / "in.ipynb")
    papermill.execute_notebook(str(source), str(tmp_path / "trusted.ipynb"), progress_bar=False)
    for name in ("strange", "trusted"):
        clean.add(tmp_path / "trusted.ipynb", f"{name}.ipynb")
    page = clean.open(browser_gallery, "strange.ipynb")
    page.wait_for_function(f"() => ({PICTURES})() === 1")
    assert page.get_by_text("wave slots").count() >= 1, "the table"
    page.context.close()
    clean.trust("trusted.ipynb")  # the server goes by the content: from now on strange.ipynb would be trusted as well
    page = opened_until_restored(clean, browser_gallery, "trusted.ipynb")
    clean.instruments(page)
    expect(page.locator(".gpulab-title")).to_contain_text("Occupancy")
    page.context.close()


def opened_until_restored(lab: Lab, browser_gallery: galleries.Gallery, name: str) -> Page:
    """A page with a trusted notebook whose saved instruments are there.

    ipywidgets' manager restores twice while a kernel connects: from the kernel, and from kernel and notebook. An output
    that is shown when only the first is done says "model not found" for good, the more often the slower the browser
    (3 of 8 times at a quarter of the speed; restoreWidgets in jupyterlab-manager's manager.ts). The picture below it is
    shown all the same. A learner opens the page again.
    """
    for last in (False, False, False, False, False, True):
        page = lab.open(browser_gallery, name)
        either = page.locator(".gpulab, .jp-OutputArea-output:has-text('Error displaying widget: model not found')")
        either.first.wait_for(timeout=20_000, state="attached")
        if page.locator(".gpulab").count() or last:
            break
        page.wait_for_function(f"() => ({PICTURES})() === 1")
        page.context.close()
        lab.problems[:] = [one for one in lab.problems if not one.startswith("Error: widget model not found")]
    return page


def save_end_the_kernel_and_open_again(lab: Lab, browser_gallery: galleries.Gallery, page: Page, name: str) -> Page:
    """What a learner does who comes back the next day."""
    lab.command(page, "docmanager:save")
    page.evaluate("() => window.jupyterapp.serviceManager.sessions.shutdownAll()")
    page.context.close()
    return lab.open(browser_gallery, name)


def shows_a_still_picture(page: Page) -> None:
    """Its widget is gone with the kernel. JupyterLab's words for that are not what a learner sees."""
    line = page.get_by_text("Error displaying widget: model not found")
    line.wait_for(state="attached", timeout=20_000)
    expect(line).to_be_hidden()
    expect(page.locator(".gpulab-still")).to_have_text(
        "Occupancy calculator (gfx942): a still picture. Run the notebook's cells again for one to move about in."
    )
    expect(page.locator(".gpulab-still")).to_be_visible()
    expect(page.locator(".jp-RenderedImage img")).to_be_visible()
    expect(page.locator(".gpulab-said")).to_be_visible()
    expect(page.locator(".gpulab-table")).to_be_visible()


def test_a_saved_notebook_opened_again_has_pictures_words_and_numbers(
    clean: Lab, browser_gallery: galleries.Gallery, tmp_path: Path
) -> None:
    clean.add(small(tmp_path / "again.ipynb"))
    page = clean.open(browser_gallery, "again.ipynb")
    clean.run_all(page)
    assert clean.instruments(page).count() == 1
    expect(page.locator(".gpulab-still")).to_be_hidden()
    page = save_end_the_kernel_and_open_again(clean, browser_gallery, page, "again.ipynb")
    shows_a_still_picture(page)
    assert "widget model not found" in "".join(clean.problems)
    clean.problems.clear()  # JupyterLab reports the missing model on the console, too
    clean.run_all(page)
    assert clean.instruments(page).count() == 1
    expect(page.locator(".gpulab-still")).to_be_hidden()
    expect(page.locator(".jp-RenderedImage img")).to_be_hidden()
    page.context.close()


def test_a_strangers_notebook_shows_the_still_picture(
    clean: Lab, browser_gallery: galleries.Gallery, tmp_path: Path
) -> None:
    """Not trusted: JupyterLab takes the style sheet away, and starts no widget either."""
    clean.add(small(tmp_path / "sent.ipynb"))
    page = clean.open(browser_gallery, "sent.ipynb")
    clean.run_all(page)
    clean.instruments(page)
    clean.command(page, "docmanager:save")
    page.context.close()
    text = (clean.root / "sent.ipynb").read_text(encoding="utf-8")
    (clean.root / "stranger.ipynb").write_text(text.replace("Occupancy calculator", "Occupation"), encoding="utf-8")
    page = clean.open(browser_gallery, "stranger.ipynb")
    expect(page.locator(".jp-RenderedImage img")).to_be_visible()
    expect(page.get_by_text("Occupation (gfx942): a still picture.")).to_be_visible()
    assert page.get_by_text("Error displaying widget").count() == 0
    assert page.get_by_text("display: none").count() == 0, "the style sheet as text"
    page.context.close()


def test_what_takes_too_long_is_told_with_a_picture_and_the_log(
    clean: Lab, browser_gallery: galleries.Gallery, tmp_path: Path
) -> None:
    import nbformat

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("import time\ntime.sleep(1000)")])
    nbformat.write(notebook, tmp_path / "slow.ipynb")  # it names no kernel, too: JupyterLab would ask for one
    clean.add(tmp_path / "slow.ipynb")
    page = clean.open(browser_gallery, "slow.ipynb")
    with pytest.raises(LabError, match=r"run-all-cells failed[^$]*picture: [^$]*server's log ends with") as told:
        clean.run_all(page, seconds=2)
    assert "Kernel started" in str(told.value)
    assert (clean.folder / "failed.png").read_bytes().startswith(b"\x89PNG")
    page.context.close()
