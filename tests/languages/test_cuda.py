"""CUDA: the code object has the learner's own text; messages show what the compiler read where that differs."""

from __future__ import annotations

import pytest

from gpulab import languages
from gpulab.errors import CompileError
from gpulab.toolchain import CodeObject

SOURCE = """#include <cuda_runtime.h>
__global__ void k(int* error, int n) {
  cudaError_t found = cudaSuccess;
  error[n] = found;
}
int main() { cudaDeviceReset(); }
"""


def test_the_source_is_cuda_and_the_translation_is_kept() -> None:
    code = languages.compile(SOURCE, "cuda", arch="gfx942", name="mine.cu")
    assert code.source == SOURCE
    assert code.translation.split("\n")[2] == "  hipError_t found = hipSuccess;"
    assert "main" not in code.translation
    assert CodeObject.from_elf(code.elf) == code


def test_messages_show_both_texts_where_they_differ() -> None:
    with pytest.raises(CompileError) as caught:
        languages.compile(SOURCE.replace("found = cuda", "found = 1 + cuda"), "cuda", arch="gfx942", first_line=2)
    (first,) = caught.value.diagnostics
    assert first.where is not None
    assert (first.where.file, first.where.line, first.where.column) == ("cell.cu", 4, 0)
    assert first.where.text == "  cudaError_t found = 1 + cudaSuccess;"
    shown = (
        "      cudaError_t found = 1 + cudaSuccess;\n  The compiler read:\n      hipError_t found = 1 + hipSuccess;\n"
    )
    assert shown in str(caught.value)


def test_warnings_show_both_texts_where_they_differ() -> None:
    """Of a code object from the cache as well: what the compiler read is kept."""
    for _ in range(2):
        code = languages.compile(SOURCE.replace("error[n] = found", "int unused = cudaSuccess"), "cuda", arch="gfx942")
        texts = [warning.where.text for warning in code.warnings if warning.where is not None]
        assert "  int unused = cudaSuccess;" in texts
        assert "  The compiler read:\n      int unused = hipSuccess;\n" in code.log
