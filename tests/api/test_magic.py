"""%%hip in a real IPython shell: names it leaves, what it prints, and how errors look and fail."""

from __future__ import annotations

import contextlib
import io
import linecache
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import gpulab
from gpulab import magic
from gpulab.module import Kernel, Module

ROOT = Path(__file__).resolve().parents[2]
SAXPY = """__global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""


class Cell:
    """What one cell did: its output, what it displayed, and the error if it failed."""

    def __init__(self, shell: InteractiveShell, text: str) -> None:
        with capture_output() as captured:
            self.result = shell.run_cell(text)
        self.text = re.sub(r"\x1b\[[0-9;]*m", "", captured.stdout)
        self.errors = captured.stderr
        self.displayed = [output.data for output in captured.outputs]
        self.metadata = [output.metadata for output in captured.outputs]
        self.error = self.result.error_in_exec or self.result.error_before_exec


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    InteractiveShell.clear_instance()
    made = InteractiveShell.instance(history_load_length=0)
    gpulab.load_ipython_extension(made)
    yield made
    InteractiveShell.clear_instance()


def run(shell: InteractiveShell, text: str) -> Cell:
    return Cell(shell, text)


def test_kernels_become_names(shell: InteractiveShell) -> None:
    cell = run(shell, "%%hip\n" + SAXPY + "__global__ void other() {}\n")
    assert cell.error is None
    assert isinstance(shell.user_ns["saxpy"], Kernel)
    assert isinstance(shell.user_ns["other"], Kernel)
    first, second = cell.text.splitlines()
    assert re.fullmatch(r"saxpy\(int n, float a, const float \*x, float \*y\) for gfx942: \d+ VGPRs, \d+ SGPRs", first)
    assert second.startswith("other() for gfx942")
    run(shell, "import gpulab\nx = gpulab.to_device([1.0] * 8, 'float32')\ny = gpulab.zeros(8)")
    assert run(shell, "saxpy[1, 64](8, 1.0, x, y)\nassert (y.to_host() == 1).all()").error is None


def test_output_is_the_same_every_time(shell: InteractiveShell) -> None:
    """Nothing in it depends on the run: outputs of lessons are compared."""
    cell = "%%hip --isa\n" + SAXPY
    first, second = run(shell, cell), run(shell, cell)
    assert first.text == second.text
    assert first.displayed == second.displayed
    assert "0x7f" not in first.text
    assert " at 0x" not in str(first.displayed)


def test_quiet_and_time(shell: InteractiveShell) -> None:
    assert run(shell, "%%hip --quiet\n" + SAXPY).text == ""
    assert re.search(r"compiled in \d+ ms", run(shell, "%%hip --time\n" + SAXPY).text)
    assert re.fullmatch(r"compiled in \d+ ms\n", run(shell, "%%hip -q --time\n" + SAXPY).text)


def test_arch(shell: InteractiveShell) -> None:
    assert "for gfx1100" in run(shell, "%%hip --arch gfx1100\n" + SAXPY).text
    assert shell.user_ns["saxpy"].arch == "gfx1100"
    with gpulab.using("virtual:gfx1100"):
        run(shell, "%%hip -q\n" + SAXPY)
    assert shell.user_ns["saxpy"].arch == "gfx1100"


def test_isa_is_shown_beside_the_source(shell: InteractiveShell) -> None:
    (shown,) = run(shell, "%%hip --isa -q\n" + SAXPY).displayed
    # JupyterLab counts the %%hip line as line 1: the guard stands on the cell's line 4
    assert re.search(r"^ +4 +if \(i < n\) .* \| +v_cmp_gt_i32", shown["text/plain"], re.MULTILINE)
    assert "if (i &lt; n)" in shown["text/html"]
    assert "global_store_dword" in shown["text/html"]


@pytest.mark.full
def test_optimisation_and_macros(shell: InteractiveShell) -> None:
    source = "__global__ void k(int* x) { x[threadIdx.x] = VALUE; }"
    assert run(shell, f"%%hip -q -D VALUE=42 -O0\n{source}").error is None
    slow = len(shell.user_ns["k"].isa)
    run(shell, f"%%hip -q -DVALUE=42 -O3\n{source}")
    assert len(shell.user_ns["k"].isa) < slow
    run(shell, "import gpulab\nx = gpulab.zeros(4, 'int32')\nk[1, 4](x)\nr = x.to_host().tolist()")
    assert shell.user_ns["r"] == [42] * 4


def test_module_and_templates(shell: InteractiveShell) -> None:
    source = "template <typename T> __global__ void fill(T* x, T v) { x[threadIdx.x] = v; }"
    cell = run(shell, f'%%hip --module m --instantiate "fill<int>" --instantiate "fill<float>"\n{source}')
    assert cell.error is None
    assert isinstance(shell.user_ns["m"], Module)
    assert "fill" not in shell.user_ns, "two kernels share the name"
    assert shell.user_ns["m"]["fill<int>"].signature.parameters[0].dtype == "int32"
    run(shell, f'%%hip -q --instantiate "fill<int>"\n{source}')
    assert isinstance(shell.user_ns["fill"], Kernel)


def test_kernels_that_share_a_name_are_named_by_their_symbols(shell: InteractiveShell) -> None:
    """They get no name of their own; the note is not needed where the module is kept."""
    source = "__global__ void f(int n) {}\n__global__ void g() {}\n__global__ void f(float x) {}\n"
    note, *kernels = run(shell, "%%hip\n" + source).text.splitlines()
    assert note == (
        "Note: several kernels share a name; keep the module with --module m, then: "
        'm["_Z1fi"], m["_Z1ff"].'
    )  # fmt: skip
    assert len(kernels) == 3
    assert "f" not in shell.user_ns
    assert isinstance(shell.user_ns["g"], Kernel)
    assert "share a name" not in run(shell, "%%hip --module m\n" + source).text
    assert shell.user_ns["m"]["_Z1ff"].signature.symbol == "_Z1ff"


@pytest.mark.parametrize("options", ["", "--module m"])
def test_of_kernels_that_share_a_name_no_earlier_one_runs(shell: InteractiveShell, options: str) -> None:
    run(shell, "%%hip -q\n__global__ void f(int n) {}\n")
    cell = run(shell, f"%%hip {options}\n__global__ void f(int n) {{}}\n__global__ void f(float x) {{}}\n")
    assert "Note: the kernel f of an earlier cell is no longer in the notebook." in cell.text
    assert "f" not in shell.user_ns
    shell.user_ns["f"] = 3
    run(shell, "%%hip\n__global__ void f(int n) {}\n__global__ void f(float x) {}\n")
    assert shell.user_ns["f"] == 3


def test_a_cell_without_kernels_says_so(shell: InteractiveShell) -> None:
    cell = run(shell, "%%hip\n__device__ int twice(int x) { return 2 * x; }")
    assert cell.error is None
    assert "no kernel" in cell.text
    assert "__global__" in cell.text


def test_names_that_hide_others(shell: InteractiveShell) -> None:
    shell.user_ns["data"] = [1]
    text = run(shell, "%%hip\n__global__ void data() {}\n__global__ void sum() {}\n__global__ void fresh() {}").text
    assert "data was the name of something else in this notebook (list)" in text
    assert "sum is also a function of Python itself" in text
    assert text.count("Note:") == 2
    again = run(shell, "%%hip\n__global__ void data() {}").text
    assert "Note:" not in again, "a kernel that replaces a kernel is the usual thing"
    assert "keyword" in run(shell, "%%hip\n__global__ void lambda() {}").text


# ---- errors


def test_a_compile_error_is_a_text_for_people(shell: InteractiveShell) -> None:
    cell = run(shell, "%%hip\n__global__ void k(int* x) {\n    x[0] = y < 1;\n}\n")
    assert isinstance(cell.error, gpulab.CompileError)
    (shown,) = cell.displayed
    assert re.search(r"cell\.hip:3:12: error: use of undeclared identifier 'y'", shown["text/plain"])
    assert "    x[0] = y < 1;" in shown["text/plain"]
    assert "y &lt; 1" in shown["text/html"]
    assert "y < 1" not in shown["text/html"]
    assert cell.text.strip() == "CompileError: the cell was not compiled (1 error, shown above)"
    assert "Traceback" not in cell.text + cell.errors


def test_a_failed_cell_keeps_the_kernel_before(shell: InteractiveShell) -> None:
    run(shell, "%%hip -q\n" + SAXPY)
    before = shell.user_ns["saxpy"]
    run(shell, "%%hip -q\n" + SAXPY.replace(";", "", 1))
    assert shell.user_ns["saxpy"] is before


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--arhc gfx1100", "unrecognized arguments: --arhc gfx1100"),
        ("--arhc gfx1100", "did you mean --arch?"),
        ("--module-name=m", "did you mean --module?"),
        ("--arch gfx110", "did you mean gfx1"),
        ("--arch", "expected one argument"),
        ("-O7", "invalid choice"),
        ('--arch "gfx', "close every quotation mark"),
        ("--module 3x", "no name that Python can use"),
        ("gfx1100", "unrecognized arguments: gfx1100"),
    ],
)
def test_options_that_are_none(shell: InteractiveShell, line: str, said: str) -> None:
    cell = run(shell, f"%%hip {line}\n{SAXPY}")
    assert isinstance(cell.error, gpulab.GpulabError)
    assert said in cell.text
    assert "Traceback" not in cell.text


@pytest.mark.parametrize(
    ("first", "meant"),
    [("%%hipp", "hip"), ("%%HIP", "hip"), ("%% hip", "hip"), ("%%hipc -q", "hip"), ("%%Cuda", "cuda")],
)
def test_a_magic_that_is_spelt_otherwise(shell: InteractiveShell, first: str, meant: str) -> None:
    cell = run(shell, f"{first}\n{SAXPY}")
    assert isinstance(cell.error, SyntaxError)
    assert f"Did you mean %%{meant}" in str(cell.error)


def test_magics_of_others_are_left_alone(shell: InteractiveShell) -> None:
    assert run(shell, "%%capture\nprint(3)").error is None
    assert "Did you mean" not in str(run(shell, "%%nothing\nprint(3)").error)


@pytest.mark.parametrize(("wrong", "right"), [("--arg 3", "--args"), ("--check", "--checked"), ("--norun", "--no-run")])
def test_an_option_of_hipcc_that_is_spelt_otherwise(shell: InteractiveShell, wrong: str, right: str) -> None:
    cell = run(shell, f"%%hipcc {wrong}\nint main() {{}}")
    assert isinstance(cell.error, magic.OptionError)
    assert f"did you mean {right}?" in cell.text


def test_options_of_the_compiler_are_none_of_the_cells_own() -> None:
    line = (
        "--std=c++17 --offload-arch=gfx90a --gpu-architecture=gfx942 --save-temps --version --verbose --genco "
        "--cuda-host-only --hip-link --rocm-path=/opt/rocm --amdgpu-target=gfx90a --hipstdpar --param --sysroot=/ -lm"
    )
    words = line.split()
    parser = magic._hipcc_parser()
    assert parser.meant(word for word in words if not word.startswith("--std")) == ""


def test_a_line_with_comprehensions_is_shown_once(shell: InteractiveShell) -> None:
    run(shell, "%%hip -q\n" + SAXPY)
    cell = run(shell, "numbers = [saxpy[1, 4](n) for n in (1, 2) for _ in [0 for _ in range(2)]]")
    assert isinstance(cell.error, gpulab.ArgumentError)
    assert cell.text.count("line 1: numbers") == 1


def test_help(shell: InteractiveShell) -> None:
    cell = run(shell, "%%hip --help\n" + SAXPY)
    assert cell.error is None
    assert "--arch" in cell.text


def test_a_fault_shows_the_learners_line_and_nothing_of_gpulab(shell: InteractiveShell) -> None:
    run(shell, "%%hip -q\n__global__ void k(float* x) { x[threadIdx.x] = 1; }")
    cell = run(shell, "import gpulab\nx = gpulab.zeros(10)\ndef go():\n    k[1, 64](x)\ngo()\n")
    assert isinstance(cell.error, gpulab.MemoryFault)
    lines = cell.text.splitlines()
    assert lines[:3] == ["MemoryFault", "  line 5: go()", "  line 4: k[1, 64](x)"]
    assert "cell.hip, line 2" in cell.text
    assert "module.py" not in cell.text
    assert "Traceback" not in cell.text
    assert run(shell, "k[1, 10](x)").error is None


def test_a_clone_may_lie_in_a_folder_of_the_same_name() -> None:
    """As git makes it: IPython's own code and a learner's modules are then below gpulab/, too."""
    own = Path(gpulab.__file__).with_name("module.py")
    failed = compile("def failed():\n    raise GpulabError('no')", str(own), "exec")
    helper = compile("def go():\n    return failed()", "/home/me/gpulab/my-course/helper.py", "exec")
    cell = compile("def cell():\n    return go()", "<ipython-input-3-0>", "exec")
    shell = compile("def shell():\n    return cell()", "/home/me/gpulab/.venv/lib/IPython/core/shell.py", "exec")
    names = {"GpulabError": gpulab.GpulabError}
    lines = {"/home/me/gpulab/my-course/helper.py": "return failed()", "<ipython-input-3-0>": "return go()"}
    for code in (failed, helper, cell, shell):
        exec(code, names)
    for name, text in lines.items():
        linecache.cache[name] = len(text), None, ["\n", f"    {text}\n"], name
    with pytest.raises(gpulab.GpulabError) as raised:
        names["shell"]()
    assert magic.learners_frames(raised.value) == ["line 2: return go()", "helper.py, line 2: return failed()"]


def test_other_errors_keep_pythons_traceback(shell: InteractiveShell) -> None:
    assert "Traceback" in run(shell, "1 / 0").text


@pytest.mark.full
def test_importing_gpulab_registers_the_magic() -> None:
    """In a fresh shell, `import gpulab` alone is enough; so is %load_ext, also twice."""
    for start in ("import gpulab", "%load_ext gpulab", "import gpulab\\n%load_ext gpulab\\n%reload_ext gpulab"):
        code = (
            "from IPython.core.interactiveshell import InteractiveShell\n"
            "shell = InteractiveShell.instance(history_load_length=0)\n"
            f"shell.run_cell('{start}').raise_error()\n"
            "shell.run_cell('%%hip\\n__global__ void k() {}').raise_error()\n"
            "print(type(shell.user_ns['k']).__name__)\n"
        )
        found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
        assert found.stdout.splitlines()[-1] == "Kernel", found.stdout + found.stderr


def test_outside_ipython_nothing_is_registered() -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        gpulab._register_in_notebook()
    found: Any = subprocess.run(
        [sys.executable, "-c", "import sys, gpulab; print('IPython' in sys.modules)"],
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert found.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# my kernel\n%%hip\n" + SAXPY, "%%hip stands in line 2. It must be the first line"),
        (SAXPY, "Write %%hip (two percent signs) as its first line"),
        ("%hip\n" + SAXPY, "Write %%hip (two percent signs) as its first line"),
        ("saxpy<<<4, 256>>>(n, 2.0, x, y)", "In Python write: kernel[grid, block](arguments)"),
    ],
)
def test_cells_that_python_cannot_read(shell: InteractiveShell, text: str, said: str) -> None:
    cell = run(shell, text)
    assert isinstance(cell.error, SyntaxError)
    assert said in str(cell.error)


def test_kernels_in_strings_are_left_alone(shell: InteractiveShell) -> None:
    cell = run(shell, f'%matplotlib --list\nsource = """\n{SAXPY}"""\nlines = "%%hip <<<1, 1>>>"\n')
    assert cell.error is None
    assert shell.user_ns["source"].strip() == SAXPY.strip()


def test_errors_show_the_learners_lines_alone(shell: InteractiveShell) -> None:
    shell.run_cell("import gpulab, numpy as np\narray = gpulab.zeros(3)")
    for text, line in (
        ("np.allclose(array, 1)", "np.allclose(array, 1)"),
        ("%%hip --arch gfx9\n" + SAXPY, "%%hip --arch gfx9"),
        ("%%time\narray[0]", "<timed eval>"),
    ):
        cell = run(shell, text)
        shown = magic.render(cell.error)
        # kind, the learner's line if known, then the text
        frames = [each for each in shown if each.startswith("  ") and "line" in each.split(":")[0]]
        assert len(frames) <= 1
        assert all(line in each or "timed" in line for each in frames)
        assert not any("interactiveshell" in each or "numeric.py" in each or "run_cell_magic" in each for each in shown)


def test_warnings_come_with_their_advice(shell: InteractiveShell) -> None:
    cell = run(shell, "%%hip\n" + SAXPY.replace("if (i < n)", "if (i = n)"))
    assert cell.error is None
    assert "-> == compares, = assigns." in cell.displayed[0]["text/plain"]


def marked(cell: Cell) -> list[tuple[str, int, int, str]]:
    """Where an editor marks the cell: severity, line, column, text of the line."""
    (metadata,) = (each for each in cell.metadata if each)
    return [(one["severity"], one["line"], one["column"], one["text"]) for one in metadata["gpulab"]["diagnostics"]]


def test_messages_say_where_an_editor_marks_them(shell: InteractiveShell) -> None:
    """Lines and columns of the cell as it is seen, counted from 1 with the magic's line."""
    lines = ["%%hip", "__global__ void one(int* out)", "{", "    int unused = 3;", "    out[0] = missing;", "}"]
    broken = run(shell, "\n".join(lines))
    assert ("error", 5, lines[4].index("missing") + 1, lines[4]) in marked(broken)
    assert broken.metadata[0]["gpulab"]["diagnostics"][0]["message"] == "use of undeclared identifier 'missing'"
    right = run(shell, "\n".join(lines).replace("missing", "1"))
    assert marked(right) == [("warning", 4, lines[3].index("unused") + 1, lines[3])]
    assert run(shell, "%%hip\n" + SAXPY).metadata == []


def test_messages_of_cuda_and_of_whole_programs_say_so_too(shell: InteractiveShell) -> None:
    lines = ["__global__ void one(int* out)", "{", "    out[0] = missing;", "}"]
    cuda = run(shell, "\n".join(["%%cuda -q", *lines]))
    assert marked(cuda) == [("error", 4, lines[2].index("missing") + 1, lines[2])]
    program = run(shell, "\n".join(["%%hipcc", "#include <hip/hip_runtime.h>", *lines, "int main() { return 0; }"]))
    assert ("error", 5, lines[2].index("missing") + 1, lines[2]) in marked(program)


def test_the_editor_is_told_progress_and_hints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it asks by its comm: what it does not know, and exercises that are not there, are answered with words."""
    from gpulab import magic

    monkeypatch.setenv("GPULAB_PROGRESS", str(tmp_path / "progress.json"))
    first = magic.answer({"ask": "progress"})
    assert first["exercises"]["wave-sum"] == {"state": "open", "note": ""}
    assert first["sentence"] == f"0 of {len(first['exercises'])} exercises solved."
    assert magic.answer({"ask": "hint", "id": "wave-sum"})["text"].startswith("Hint 1 of 3:")
    assert magic.answer({"ask": "progress"})["exercises"]["wave-sum"] == {"state": "begun", "note": "1 hint"}
    assert "There is no exercise 'wave-summ'" in magic.answer({"ask": "hint", "id": "wave-summ"})["error"]
    for question in (None, [], {"ask": {}}, {"ask": "everything"}):
        assert "does not know the question" in magic.answer(question)["error"]


def test_a_cell_may_need_a_package(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    """Without it the cell is not run, and nothing fails; with it the cell is as without the line."""
    cell = run(shell, "%%needs no_such_package\nran = 1")
    assert cell.error is None
    assert "ran" not in shell.user_ns
    said = "no_such_package is not installed here, so this cell is not run. To install it: %pip install no_such_package"
    assert said in cell.text
    assert magic.install_command("triton") == "%pip install 'gpulab[triton]'"
    assert (
        run(shell, "%%needs numpy\nimport inspect\ndef f():\n    return 7\ntext = inspect.getsource(f)").error is None
    )
    assert shell.user_ns["text"] == "def f():\n    return 7\n"
    failed = run(shell, "%%needs numpy\n1 / 0")
    assert "ZeroDivisionError: division by zero" in str(failed.error)
    assert "is no name of a package" in str(run(shell, "%%needs a-b\n1").error)
