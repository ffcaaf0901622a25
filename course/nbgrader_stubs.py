"""nbgrader preprocessors for notebooks whose cells are C++ or Python: `ClearSolutions` puts a stub of the cell's own
language in the place of a solution, `DropSolutionOnly` leaves out the cells that are for instructors.

course/build.py makes exercises/ with `PREPROCESSORS`; nbgrader_config.py gives nbgrader the same ones and SaveCells,
which notes the cells in the gradebook.
"""

from __future__ import annotations

from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearHiddenTests,
    ClearMarkScheme,
    ClearOutput,
    ComputeChecksums,
    IncludeHeaderFooter,
    LockCells,
    NbGraderPreprocessor,
)
from nbgrader.preprocessors import ClearSolutions as PythonClearSolutions

CELL_LANGUAGES = {"%%hip": "c++", "%%cuda": "c++", "%%hipcc": "c++"}
STUBS = {
    "c++": "// YOUR CODE HERE",
    "python": "# YOUR CODE HERE\nraise NotImplementedError()",
}


def language(source: str) -> str:
    """ "c++" for a cell that starts with one of gpulab's compiling magics, else "python"."""
    words = source.split(None, 1)
    return CELL_LANGUAGES.get(words[0], "python") if words else "python"


class ClearSolutions(PythonClearSolutions):
    """nbgrader's own, with the stub of the language that the cell is written in."""

    def preprocess_cell(self, cell, resources, cell_index):
        self.code_stub = STUBS
        return super().preprocess_cell(cell, {**resources, "language": language(cell.source)}, cell_index)


class DropSolutionOnly(NbGraderPreprocessor):
    """Removes cells tagged solution-only: explanations that belong to the solution."""

    def preprocess(self, nb, resources):
        nb.cells = [cell for cell in nb.cells if "solution-only" not in cell.metadata.get("tags", ())]
        return nb, resources


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
