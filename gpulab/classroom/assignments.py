"""nbgrader's settings for the course, `configure`, and its preprocessors for notebooks with cells in C++ and Python.

`ClearSolutions` puts a stub of the cell's own language in the place of a solution, `DropSolutionOnly` leaves out the
cells that are for instructors: course/build.py makes exercises/ with `PREPROCESSORS`, and `configure` gives nbgrader
the same ones, SaveCells, which notes the cells in the gradebook, and `MendLinks`: where students open an assignment
there are no lessons two folders above. `DeduplicateIds` takes the mark from a cell that a
student has copied; nbgrader's own leaves an empty one, which ends the batch.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearHiddenTests,
    ClearMarkScheme,
    ClearOutput,
    ComputeChecksums,
    IncludeHeaderFooter,
    LockCells,
    NbGraderPreprocessor,
    OverwriteCells,
    OverwriteKernelspec,
    SaveCells,
)
from nbgrader.preprocessors import ClearSolutions as PythonClearSolutions
from nbgrader.preprocessors import DeduplicateIds as LeavingEmptyMarks
from traitlets import Unicode

from gpulab import course, languages
from gpulab.languages.language import Answers

CELL_LANGUAGES = {"%%hip": "c++", "%%cuda": "c++", "%%hipcc": "c++"}
STUBS = {
    "c++": languages.answers("hip").stub,
    "python": "# YOUR CODE HERE\nraise NotImplementedError()",
}


def language(source: str) -> str:
    """ "c++" for a cell that starts with one of gpulab's compiling magics, the name of a language that has none and
    whose kernels stand in it, else "python"."""
    words = source.split()
    if words and words[0] in CELL_LANGUAGES:
        return CELL_LANGUAGES[words[0]]
    return next((each.name for each in _without_magic() if each.defines(source, r"\w+")), "python")


def _without_magic() -> list[Answers]:
    """The languages of answers that are written in plain cells."""
    return [each for each in languages.members().values() if isinstance(each, Answers) and not each.magic]


class ClearSolutions(PythonClearSolutions):
    """nbgrader's own, with the stub of the language that the cell is written in."""

    def preprocess_cell(self, cell: Any, resources: Any, cell_index: int) -> Any:
        self.code_stub = {**STUBS, **{each.name: each.stub for each in _without_magic()}}
        return super().preprocess_cell(cell, {**resources, "language": language(cell.source)}, cell_index)


class DropSolutionOnly(NbGraderPreprocessor):
    """Removes cells tagged solution-only: explanations that belong to the solution."""

    def preprocess(self, nb: Any, resources: Any) -> Any:
        nb.cells = [cell for cell in nb.cells if "solution-only" not in cell.metadata.get("tags", ())]
        return nb, resources


class MendLinks(NbGraderPreprocessor):
    """Links out of an assignment's folder lead to `lessons`, or become text that names the section."""

    lessons = Unicode("", help="address or path of the folder with the lessons' notebooks, as students see it").tag(
        config=True
    )

    def preprocess_cell(self, cell: Any, resources: Any, cell_index: int) -> Any:
        if cell.cell_type == "markdown":
            cell.source = _OUTWARD.sub(self._mended, cell.source)
        return cell, resources

    def _mended(self, link: re.Match[str]) -> str:
        lesson = re.fullmatch(r"(?:\.\./)+notebooks/([^/]+)", link["path"])
        if lesson and self.lessons:
            return f"[{link['text']}]({self.lessons.rstrip('/')}/{lesson[1]}{link['section'] or ''})"
        section = (link["section"] or "").removeprefix("#").replace("-", " ")
        return f"{link['text']} (“{section}”)" if section else link["text"]


_OUTWARD = re.compile(r"(?<!!)\[(?P<text>[^][]*)\]\((?P<path>\.\./[^)#\s]*)(?P<section>#[^)\s]*)?\)")


class DeduplicateIds(LeavingEmptyMarks):
    """nbgrader's own, without the empty mark that it leaves in the copy of a cell."""

    def preprocess_cell(self, cell: Any, resources: Any, cell_index: int) -> Any:
        cell, resources = super().preprocess_cell(cell, resources, cell_index)
        if not cell.metadata.get("nbgrader", True):
            del cell.metadata["nbgrader"]
        return cell, resources


PREPROCESSORS = [
    IncludeHeaderFooter,
    DropSolutionOnly,
    LockCells,
    ClearSolutions,
    ClearOutput,
    CheckCellMetadata,
    ComputeChecksums,
    ClearHiddenTests,
    ClearMarkScheme,
    ComputeChecksums,
    CheckCellMetadata,
]

SANITIZERS = [ClearOutput, DeduplicateIds, OverwriteKernelspec, OverwriteCells, CheckCellMetadata]
"""What nbgrader does with a submission before it runs it."""


def configure(c: Any, lessons: str = "") -> None:
    """Settings for nbgrader, in whatever folder it runs: `c` is what ``get_config()`` gives in nbgrader_config.py.

    Assignments' links lead to `lessons`, the address or path of the lessons' notebooks as students see it; without it
    they are text.

    Solutions are those of the folder; where it has none, those of the clone that gpulab is imported from, or of the
    package gpulab-instructor. What learners get is made anew each time, as if by --force.
    """
    own = Path("solutions").is_dir()
    c.CourseDirectory.source_directory = "solutions" if own else str(course.solutions() or "solutions")
    c.CourseDirectory.release_directory = "release"  # exercises/ has the notebooks that stand beside the lessons
    c.MendLinks.lessons = lessons
    # SaveCells needs checksums, and has to come before hidden tests are taken out.
    before = PREPROCESSORS.index(ClearHiddenTests)
    c.GenerateAssignment.preprocessors = [*PREPROCESSORS[:before], SaveCells, *PREPROCESSORS[before:], MendLinks]
    c.GenerateAssignment.force = True
    c.Autograde.sanitize_preprocessors = SANITIZERS
    c.Execute.timeout = 300
