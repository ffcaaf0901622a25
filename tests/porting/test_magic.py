"""``%%cuda``: both programs beside each other, the report, the kernels in the notebook, whole programs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell

import gpulab
from gpulab import magic, porting
from gpulab.porting.beside import Beside, rows
from gpulab.toolchain import hosted

CELL = """#include <cuda_runtime.h>
__global__ void fill(int* out) {
  out[threadIdx.x] = threadIdx.x & 31;  // cudaMalloc <b>
}
int main() {
  int* out;
  cudaMalloc(&out, 256);
  fill<<<1, 64>>>(out);
}
"""


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    InteractiveShell.clear_instance()
    made = InteractiveShell.instance(history_load_length=0)
    gpulab.load_ipython_extension(made)
    yield made
    InteractiveShell.clear_instance()


def test_kernels_come_into_the_notebook(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    shell.run_cell_magic("cuda", "--arch gfx942 --module m", CELL)
    said = capsys.readouterr().out
    assert "cudaMalloc(&out, 256);" in said
    assert "hipMalloc(&out, 256);" in said
    assert re.search(r"cell\.cu:4:\d+: warp-size", said)
    assert "%%cuda --run" in said
    out = gpulab.zeros(64, np.int32)
    shell.user_ns["fill"][1, 64](out)
    assert (out.to_host() == np.arange(64) % 32).all()


def test_quiet_and_no_compile(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    shell.run_cell_magic("cuda", "--quiet --arch gfx942", CELL)
    assert capsys.readouterr().out == ""
    shell.user_ns.pop("fill")
    shell.run_cell_magic("cuda", "--no-compile --hip-kernel-execution-syntax", CELL)
    assert "hipLaunchKernelGGL(fill, dim3(1), dim3(64), 0, 0, out);" in capsys.readouterr().out
    assert "fill" not in shell.user_ns


def test_errors_have_the_cells_lines(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(gpulab.CompileError):
        shell.run_cell_magic("cuda", "--arch gfx942", "__global__ void k(int* a) {\n  a[0] = missing;\n}\n")
    assert "cell.cu:3:10: error: use of undeclared identifier 'missing'" in capsys.readouterr().out


def test_options_are_explained(shell: InteractiveShell) -> None:
    with pytest.raises(magic.OptionError, match="%%cuda: unrecognized arguments: --foo"):
        shell.run_cell_magic("cuda", "--foo", CELL)


@pytest.mark.skipif(bool(hosted.unavailable()), reason=str(hosted.unavailable()))
def test_whole_programs_run(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    program = CELL.replace("int main() {", "#include <cstdio>\nint main(int n, char** words) {").replace(
        "  fill<<<1, 64>>>(out);\n",
        '  fill<<<1, 64>>>(out);\n  int host[64];\n  cudaMemcpy(host, out, 256, cudaMemcpyDeviceToHost);\n'
        '  printf("%d %s\\n", host[63], words[n - 1]);\n',
    )  # fmt: skip
    shell.run_cell_magic("cuda", '--run --args "one two" -q', program)
    assert "31 two\n" in capsys.readouterr().out


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_table_says_everything_without_colour() -> None:
    html = Beside(porting.hipify(CELL)).html()
    page = _Text()
    page.feed(html)
    assert "cudaMalloc <b>" in page.text  # the comment's own text, no tag
    assert "b" not in page.tags
    assert "script" not in page.tags
    assert page.text.count("●") - 1 == 2  # two changed lines, and the caption that says what ● is
    assert {"caption", "th", "del", "ins"} <= set(page.tags)
    assert re.findall(r"<del[^>]*>(.*?)</del>", html) == ["&lt;cuda_runtime.h&gt;", "cudaMalloc"]
    assert re.findall(r"<ins[^>]*>(.*?)</ins>", html) == ["&lt;hip/hip_runtime.h&gt;", "hipMalloc"]
    assert html == Beside(porting.hipify(CELL)).html()


def test_rows_are_the_lines_of_both_programs() -> None:
    """Each side, joined, is its program; an added line has no CUDA side."""
    for launches in ("cuda", "hip"):
        found = porting.hipify(CELL.replace("#include <cuda_runtime.h>\n", ""), launches=launches)
        made = rows(found)
        cuda = ["".join(text for text, _ in row.cuda) for row in made if row.number]
        hip = ["".join(text for text, _ in row.hip) for row in made]
        assert cuda == found.source.rstrip("\n").split("\n")
        assert [line for line in hip if line] == [line for line in found.text.split("\n") if line]
        assert [row.number for row in made if row.number] == list(range(1, len(cuda) + 1))
    assert str(Beside(porting.hipify("int x;\n"))) == "nothing changed: there is no CUDA name in this program"
