"""What the editor's extension knows: words.json is up to date, and its places are there. docs/editor.md."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXTENSION = ROOT / "gpulab" / "editor" / "labextension" / "gpulab-editor"


@pytest.fixture(scope="module")
def words() -> dict[str, Any]:
    read: dict[str, Any] = json.loads((EXTENSION / "modules" / "words.json").read_text(encoding="utf-8"))
    return read


def test_words_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, "tools/editor_words.py", "--check"], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_place_is_a_heading_of_a_lesson(words: dict[str, Any]) -> None:
    """JupyterLab's fragment of a heading is its text with hyphens for spaces; the notebooks are what is opened."""
    headings: dict[str, set[str]] = {}
    for lesson in words["lessons"]:
        cells = json.loads((ROOT / "notebooks" / f"{lesson['file']}.ipynb").read_text(encoding="utf-8"))["cells"]
        text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
        found = re.findall(r"^#{1,3} (.+)$", text, re.MULTILINE)
        headings[lesson["file"]] = {re.sub(r"[`*]", "", each).strip().replace(" ", "-") for each in found}
    places = [about["place"] for part in ("names", "terms") for about in words[part].values() if about["place"]]
    assert len(places) > 150
    assert [place for place in places if place[1] not in headings[place[0]]] == []


def test_words_stand_in_the_lesson_that_explains_them(words: dict[str, Any]) -> None:
    """As a reader of the lessons would look them up."""
    assert words["names"]["__shared__"]["place"][0] == "06_lds"
    assert words["names"]["__syncthreads"]["place"] == ["06_lds", "Barriers-and-races"]
    assert words["names"]["atomicAdd"]["place"][0] == "10_atomics"
    assert words["terms"]["occupancy"]["place"][0] == "08_occupancy"


def test_the_commonest_names_are_explained(words: dict[str, Any]) -> None:
    names = words["names"]
    assert names["__shfl_down"]["kind"] == "function"
    assert names["__shfl_down"]["signature"].startswith("int __shfl_down(int, unsigned int, int)")
    assert "lane" in names["__shfl_down"]["text"]
    kinds = {name: names[name]["kind"] for name in ("__global__", "threadIdx", "float4", "dim3")}
    assert kinds == {"__global__": "qualifier", "threadIdx": "variable", "float4": "type", "dim3": "type"}
    assert [name for name, about in names.items() if not about["text"]] == []


def test_every_magic_of_cpp_cells_is_there(words: dict[str, Any]) -> None:
    """What `register` puts into a shell."""
    from gpulab import magic

    class Shell:
        def __init__(self) -> None:
            self.names: list[str] = []

        def register_magic_function(self, function: Any, magic_kind: str, magic_name: str) -> None:
            self.names.append(magic_name)

    shell = Shell()
    magic.register(shell)
    assert sorted({*shell.names} - {"needs"}) == words["magics"]  # %%needs begins cells in Python


def test_versions_agree() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    package = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
    assert package["version"] == project["version"]
    assert (EXTENSION / package["jupyterlab"]["_build"]["load"]).is_file()


def test_scripts_make_no_html_of_text_and_know_no_address() -> None:
    """The rules of docs/instruments.md: text becomes text, and nothing comes from a network."""
    for path in (EXTENSION / "modules").glob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|https?://", text) == [], (
            path
        )
