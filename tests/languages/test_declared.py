"""What each language declares, and the defaults of a compilation."""

from __future__ import annotations

import pytest

from gpulab import languages
from gpulab.errors import CompileError
from gpulab.languages.assembly import LANGUAGE as ASSEMBLY
from gpulab.languages.cuda import LANGUAGE as CUDA
from gpulab.languages.hip import LANGUAGE as HIP


def test_who_has_whole_programs() -> None:
    """Host code is C++: assembly has none."""
    assert (HIP.whole_programs, CUDA.whole_programs, ASSEMBLY.whole_programs) == (True, True, False)


def test_assembly_promises_its_lines_alone() -> None:
    """It gets hardware's rules: no exact bounds; but each instruction's line is one of its source."""
    assert ASSEMBLY.guarantees.source_lines
    assert not ASSEMBLY.guarantees.exact_bounds
    assert HIP.guarantees.exact_bounds
    assert CUDA.guarantees == HIP.guarantees


def test_files_and_cells_have_their_languages_suffix() -> None:
    assert languages.of_file("a.CU") is CUDA
    assert languages.of_file("a.cpp") is HIP
    assert languages.of_file("a.s") is ASSEMBLY
    assert languages.of_file("a.txt") is None
    assert [languages.cell_name(each) for each in (HIP, CUDA, ASSEMBLY)] == ["cell.hip", "cell.cu", "cell.s"]
    assert "language" not in languages.members()


@pytest.mark.parametrize(("given", "file"), [(None, "cell.s"), ("mine.s", "mine.s")])
def test_a_text_begins_on_line_1_of_its_file(given: str | None, file: str) -> None:
    with pytest.raises(CompileError) as caught:
        languages.compile("no_instruction\n", "asm", arch="gfx942", name=given)
    where = caught.value.diagnostics[0].where
    assert where is not None
    assert (where.file, where.line) == (file, 1)
