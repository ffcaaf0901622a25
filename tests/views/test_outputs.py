"""Instruments in files: what notebooks keep of them, and what papermill, nbconvert, nbval and broken packages leave."""

from __future__ import annotations

import base64
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

from gpulab.views import palette
from gpulab.views.instrument import WIDGET, Instrument
from gpulab.views.table import Table

ROOT = Path(__file__).resolve().parents[2]
STATE = "application/vnd.jupyter.widget-state+json"
DRAWN = """
from gpulab.views import palette
from gpulab.views.instrument import Instrument
from gpulab.views.table import Table

def figure():
    drawn = palette.figure(4, 2)
    drawn.subplots().bar([1, 2], [3, 4], color=palette.BLUE)
    return drawn

table = Table(("name", "count"), (("rows", 4711),))
shown = Instrument("common", "A title", "One sentence about it.", table, {}, figure)
"""
BROKEN = """
import sys
sys.modules["{name}"] = None
"""


def notebook(path: Path, *cells: str) -> Path:
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    made.metadata.kernelspec = {"display_name": "Python 3", "language": "python", "name": "python3"}
    nbformat.write(made, path)
    return path


@pytest.fixture(autouse=True)
def _finds_this_clone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])))


def outputs(made: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [output for cell in made.cells for output in cell.get("outputs", [])]


@pytest.fixture(scope="module")
def run_by_papermill(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import papermill

    folder = tmp_path_factory.mktemp("papermill")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])))
        papermill.execute_notebook(
            str(notebook(folder / "in.ipynb", DRAWN, "shown")), str(folder / "out.ipynb"), progress_bar=False
        )
    return folder / "out.ipynb"


def test_papermill_keeps_widget_picture_words_and_numbers(run_by_papermill: Path) -> None:
    made = nbformat.read(run_by_papermill, as_version=4)
    widget, picture, table = outputs(made)
    assert set(widget.data) == {"text/plain", WIDGET}
    assert widget.data["text/plain"] == "A title"
    assert set(picture.data) == {"image/png"}
    assert picture.metadata["image/png"]["alt"] == "One sentence about it."
    assert table.data["text/plain"].startswith("One sentence about it.\n\nname  count")
    assert table.data["text/html"].startswith('<p class="gpulab-said">One sentence about it.</p><table')
    assert "4,711" in table.data["text/html"]
    model = widget.data[WIDGET]["model_id"]
    assert model in made.metadata.widgets[STATE]["state"], "JupyterLab restores it from here"


def nbconvert(source: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "nbconvert", str(source), "--output-dir", str(source.parent), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr


def without_widgets(source: Path, target: Path) -> Path:
    """A copy as course/build.py and `gpulab run` leave it."""
    made = nbformat.read(source, as_version=4)
    made.metadata.pop("widgets", None)
    for output in outputs(made):
        output.get("data", {}).pop(WIDGET, None)
    nbformat.write(made, target)
    return target


def test_nbconvert_to_html_shows_picture_and_table_without_a_network(run_by_papermill: Path, tmp_path: Path) -> None:
    nbconvert(without_widgets(run_by_papermill, tmp_path / "plain.ipynb"), "--to", "html")
    text = (tmp_path / "plain.html").read_text(encoding="utf-8")
    assert re.search(r'<img [^>]*src="data:image/png;base64', text)
    assert "One sentence about it." in text
    assert "4,711" in text


HOSTILE = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"
NAMED = f"""
name = {HOSTILE!r}
Instrument("common", "Title " + name, "Sentence " + name, Table(("n" + name,), ((name,),), note=name), {{}}, figure)
"""


def test_nbconvert_to_html_shows_hostile_names_as_text_and_gives_pictures_their_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a notebook as a Jupyter server's kernel leaves it. nbconvert's default template, lab, takes no alternative
    text from an output; the sentence stands below the picture there."""
    from html.parser import HTMLParser

    from nbclient import NotebookClient

    monkeypatch.setenv("JPY_SESSION_NAME", "one.ipynb")
    made = nbformat.read(notebook(tmp_path / "one.ipynb", DRAWN, NAMED), as_version=4)
    NotebookClient(made, timeout=60, kernel_name="python3", store_widget_state=False).execute()
    still, widget, picture, _ = outputs(made)
    assert set(still.data) == {"text/html"}
    assert WIDGET in widget.data
    assert "image/png" in picture.data
    nbformat.write(made, tmp_path / "one.ipynb")
    found: dict[str, list[dict[str, str | None]]] = {}

    class Tags(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found[template].append({"tag": tag, **dict(attrs)})

    for template in ("lab", "classic"):
        nbconvert(tmp_path / "one.ipynb", "--to", "html", "--template", template, "--output", f"{template}.html")
        found[template] = []
        Tags().feed((tmp_path / f"{template}.html").read_text(encoding="utf-8"))
        images = [tag for tag in found[template] if tag["tag"] == "img"]
        assert len(images) == 1, "the picture alone"
        assert (images[0]["src"] or "").startswith("data:image/png")
        assert not any("onerror" in tag for tag in found[template])
    assert images[0]["alt"] == f"Sentence {HOSTILE}"


def test_of_a_notebook_with_widget_states_too(run_by_papermill: Path) -> None:
    nbconvert(run_by_papermill, "--to", "html")
    text = run_by_papermill.with_suffix(".html").read_text(encoding="utf-8")
    assert re.search(r'<img [^>]*src="data:image/png;base64', text)
    assert "4,711" in text


def test_nbconvert_to_latex_takes_the_png(run_by_papermill: Path) -> None:
    nbconvert(run_by_papermill, "--to", "latex")
    text = run_by_papermill.with_suffix(".tex").read_text(encoding="utf-8")
    picture = re.search(r"\\adjustimage\{[^}]*\}+\{?([^{}]*\.png)\}|\{([^{}]*\.png)\}", text)
    assert picture is not None
    name = next(filter(None, picture.groups()))
    assert (run_by_papermill.parent / name).read_bytes().startswith(b"\x89PNG")
    assert "4,711" in text


def test_gpulab_run_keeps_the_picture_alone(tmp_path: Path) -> None:
    from gpulab import cli

    source = notebook(tmp_path / "in.ipynb", DRAWN, "shown")
    good, said = cli.execute(source, tmp_path / "out.ipynb", 60)
    assert good, said
    made = nbformat.read(tmp_path / "out.ipynb", as_version=4)
    assert [set(output.data) for output in outputs(made)[:2]] == [{"text/plain"}, {"image/png"}]
    assert "widgets" not in made.metadata


def test_gpulab_run_from_a_notebook_keeps_no_word_of_widgets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Jupyter server's kernel hands its environment on to what `!gpulab run` starts."""
    from gpulab import cli

    monkeypatch.setenv("JPY_SESSION_NAME", "other.ipynb")
    good, said = cli.execute(notebook(tmp_path / "in.ipynb", DRAWN, "shown"), tmp_path / "out.ipynb", 60)
    assert good, said
    made = nbformat.read(tmp_path / "out.ipynb", as_version=4)
    assert [set(output.data) for output in outputs(made)[:2]] == [{"text/plain"}, {"image/png"}]
    assert "gpulab-still" not in (tmp_path / "out.ipynb").read_text(encoding="utf-8")


def test_a_built_notebook_has_no_widget_and_passes_nbval(tmp_path: Path) -> None:
    sys.path.insert(0, str(ROOT / "course"))
    try:
        import build
    finally:
        sys.path.remove(str(ROOT / "course"))
    made = build.execute(nbformat.read(notebook(tmp_path / "one.ipynb", DRAWN, "shown"), as_version=4), tmp_path)
    assert [set(output.data) for output in outputs(made)[:2]] == [{"text/plain"}, {"image/png"}]
    assert "widgets" not in made.metadata
    (tmp_path / "one.ipynb").write_text(build.text_of(made), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "--nbval", "-c", str(ROOT / "pyproject.toml"), f"--rootdir={ROOT}"]
    done = subprocess.run(
        [*command, str(tmp_path / "one.ipynb")], capture_output=True, text=True, timeout=120, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout


@pytest.mark.parametrize("name", ["ipywidgets", "anywidget", "comm"])
def test_without_widgets_there_are_picture_and_numbers(name: str, tmp_path: Path) -> None:
    from nbclient import NotebookClient

    broken = BROKEN.format(name=name)
    made = nbformat.read(notebook(tmp_path / "one.ipynb", DRAWN, broken, "shown"), as_version=4)
    NotebookClient(made, timeout=60, kernel_name="python3").execute()
    widget, picture, table = outputs(made)
    assert set(widget.data) == {"text/plain"}
    assert "widgets do not work here" in widget.data["text/plain"]
    assert set(picture.data) == {"image/png"}
    assert "4,711" in table.data["text/plain"]


@pytest.mark.full
def test_large_pictures_stay_small_in_files() -> None:
    """A figure as full as a lesson's can be: 64 lanes by 60 instructions, colour bar, labels, a legend."""

    def figure() -> Any:
        import numpy as np

        drawn = palette.figure(8, 5)
        axes = drawn.subplots()
        image = axes.imshow(np.random.default_rng(1).random((60, 64)), cmap="cividis", aspect="auto")
        drawn.colorbar(image, label="share")
        axes.set_yticks(range(60), [f"v_add_f32 v{n}, v1, v2" for n in range(60)], fontsize=5)
        return drawn

    png = Instrument("common", "t", "s", Table(("a",), ((1,),)), {}, figure).png()
    assert png.startswith(b"\x89PNG")
    assert len(png) < 60_000


def test_committed_pictures_are_small_and_widgets_are_not_kept() -> None:
    for path in [*(ROOT / "notebooks").glob("*.ipynb"), *(ROOT / "solutions").glob("*/*.ipynb")]:
        content = json.loads(path.read_text(encoding="utf-8"))
        assert "widgets" not in content["metadata"], path
        for cell in content["cells"]:
            # Instruments reduce their colours; what a lesson draws with matplotlib itself has all of them.
            limit = 100_000 if "matplotlib" in "".join(cell["source"]) else 60_000
            for output in cell.get("outputs", []):
                data = output.get("data", {})
                assert WIDGET not in data, path
                assert len(base64.b64decode(data.get("image/png", ""))) < limit, path


def test_pictures_have_256_colours_and_no_trace_of_the_program_that_made_them() -> None:
    from PIL import Image

    png = Instrument("common", "t", "s", Table(("a",), ((1,),)), {}, lambda: palette.figure(2, 1)).png()
    with Image.open(io.BytesIO(png)) as image:
        assert image.mode == "P"
        assert image.size == (220, 110)
        assert image.info == {}
