"""nbgrader's settings and preprocessors, each on cells that are written here."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader import preprocessors
from traitlets.config import Config

from gpulab import course
from gpulab.classroom import assignments


@pytest.mark.parametrize(
    ("source", "language"),
    [
        ("%%hip\n__global__ void k() {}", "c++"),
        ("%%cuda --arch gfx942\ntext", "c++"),
        ("\n\n  %%hipcc -o a\nint main() {}", "c++"),
        ("%%hip", "c++"),
        ("%%time\n%%hip", "python"),
        ("print(1)", "python"),
        ("# %%hip", "python"),
        ("%%hipx", "python"),
        ("", "python"),
        (" \n ", "python"),
        ("__global__ void k() {}", "python"),
        ("import triton\n\n@triton.jit\ndef blend(a, b):\n    pass", "triton"),
        ("# @triton.jit", "python"),
    ],
)
def test_the_language_of_a_cell(source: str, language: str) -> None:
    assert assignments.language(source) == language


def graded(source: str, **more: Any) -> nbformat.NotebookNode:
    mark = {"schema_version": 3, "grade_id": "answer", "solution": True, "grade": False, "locked": False, "task": False}
    cell = new_code_cell(source, metadata={"nbgrader": {**mark, **more}})
    return cell


def through(preprocessor: type, *cells: nbformat.NotebookNode, **settings: Any) -> list[nbformat.NotebookNode]:
    book = new_notebook(
        cells=list(cells), metadata={"kernelspec": {"display_name": "x", "language": "python", "name": "python3"}}
    )
    made, _ = preprocessor(config=Config({preprocessor.__name__: settings})).preprocess(book, {"unique_key": "x"})
    return list(made.cells)


def test_a_solution_gives_way_to_the_stub_of_its_own_language() -> None:
    stubs = {
        "%%hip": ["    // YOUR CODE HERE"],
        "import gpulab": ["    # YOUR CODE HERE", "    raise NotImplementedError()"],
        "%%cuda": ["    // YOUR CODE HERE"],
        "@triton.jit\ndef blend(a):": ["    # YOUR CODE HERE", "    pass"],
    }
    text = "\nbegin\n    ### BEGIN SOLUTION\n    secret\n    ### END SOLUTION\nend"
    made = through(assignments.ClearSolutions, *(graded(first + text) for first in stubs))
    assert [cell.source.splitlines() for cell in made] == [
        [*first.split("\n"), "begin", *stub, "end"] for first, stub in stubs.items()
    ]


def test_cells_for_instructors_are_left_out() -> None:
    tags: tuple[dict[str, Any], ...] = (
        {}, {"tags": []}, {"tags": ["solution-only"]}, {"tags": ["other", "solution-only"]}, {"tags": ["other"]},
    )  # fmt: skip
    cells = [new_markdown_cell(str(number), metadata=each) for number, each in enumerate(tags)]
    assert [cell.source for cell in through(assignments.DropSolutionOnly, *cells)] == ["0", "1", "4"]


@pytest.mark.parametrize(
    ("text", "at_lessons", "alone"),
    [
        ("[a lesson](../../notebooks/02_simt.ipynb)", "[a lesson](L/02_simt.ipynb)", "a lesson"),
        ("[a](../../notebooks/02_simt.ipynb#A-long-section)", "[a](L/02_simt.ipynb#A-long-section)",
         "a (“A long section”)"),
        ("[a](../notebooks/x.ipynb) and [b](../notebooks/y.ipynb#S)", "[a](L/x.ipynb) and [b](L/y.ipynb#S)",
         "a and b (“S”)"),
        # what is no lesson becomes text in both
        ("[a](../other/x.ipynb#The-part)", "a (“The part”)", "a (“The part”)"),
        ("[a](../../notebooks/deep/x.ipynb)", "a", "a"),
        ("[a](../README.md)", "a", "a"),
        # what stays
        ("![a picture](../x.png)", None, None), ("[a](https://rocm.docs.amd.com/#x)", None, None),
        ("[a](x.ipynb) [b](#section)", None, None), ("[a] (../notebooks/x.ipynb)", None, None),
    ],
)  # fmt: skip
def test_links_out_of_the_folder(text: str, at_lessons: str | None, alone: str | None) -> None:
    for lessons, wanted in (
        ("https://lessons.org/gpu", at_lessons),
        ("https://lessons.org/gpu/", at_lessons),
        ("", alone),
    ):
        made, code = through(assignments.MendLinks, new_markdown_cell(text), new_code_cell(text), lessons=lessons)
        assert made.source == (text if wanted is None else wanted.replace("(L/", "(https://lessons.org/gpu/"))
        assert code.source == text, "code has no links"


def test_a_copied_cell_loses_its_mark_alone() -> None:
    first, copy, plain = graded("x = 1"), graded("x = 2"), new_code_cell("x = 3")
    other = graded("x = 4", grade_id="other")
    made = through(assignments.DeduplicateIds, first, copy, plain, other)
    assert [cell.source for cell in made] == ["x = 1", "x = 2", "x = 3", "x = 4"]
    # nbgrader keeps the mark of the last of the copies or the first: of one, and no empty one is left
    assert sum("nbgrader" in cell.metadata for cell in made[:2]) == 1
    assert "nbgrader" not in made[2].metadata
    assert made[3].metadata["nbgrader"]["grade_id"] == "other"
    assert all(cell.metadata.get("nbgrader", {"grade_id": 1}) for cell in made)


def test_the_order_of_preprocessors() -> None:
    """As in nbgrader's own list; solutions go before checksums are computed, hidden tests after the first of these."""
    names = [each.__name__ for each in assignments.PREPROCESSORS]
    assert names == [
        "IncludeHeaderFooter", "DropSolutionOnly", "LockCells", "ClearSolutions", "ClearOutput", "CheckCellMetadata",
        "ComputeChecksums", "ClearHiddenTests", "ClearMarkScheme", "ComputeChecksums", "CheckCellMetadata",
    ]  # fmt: skip
    assert assignments.ClearSolutions in assignments.PREPROCESSORS
    assert preprocessors.ClearSolutions not in assignments.PREPROCESSORS


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("stored", [Path("/stored/solutions"), None])
def test_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: bool, stored: Path | None) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(course, "solutions", lambda: stored)
    if own:
        (tmp_path / "solutions").mkdir()
    c = Config()
    assignments.configure(c, "https://lessons")
    assert c.CourseDirectory.source_directory == ("/stored/solutions" if stored and not own else "solutions")
    assert c.CourseDirectory.release_directory == "release"
    assert c.MendLinks.lessons == "https://lessons"
    names = [each.__name__ for each in c.GenerateAssignment.preprocessors]
    assert names == [
        "IncludeHeaderFooter", "DropSolutionOnly", "LockCells", "ClearSolutions", "ClearOutput", "CheckCellMetadata",
        "ComputeChecksums", "SaveCells", "ClearHiddenTests", "ClearMarkScheme", "ComputeChecksums",
        "CheckCellMetadata", "MendLinks",
    ]  # fmt: skip
    assert c.GenerateAssignment.force is True
    assert [each.__name__ for each in c.Autograde.sanitize_preprocessors] == [
        "ClearOutput", "DeduplicateIds", "OverwriteKernelspec", "OverwriteCells", "CheckCellMetadata",
    ]  # fmt: skip
    assert c.Execute.timeout == 300
    plain = SimpleNamespace(**{name: SimpleNamespace() for name in (
        "CourseDirectory", "MendLinks", "GenerateAssignment", "Autograde", "Execute")})  # fmt: skip
    assignments.configure(plain)
    assert plain.MendLinks.lessons == ""
