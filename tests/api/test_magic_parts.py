"""What the cell magics hand to the compiler and to programs, and what they print, with these written here."""

from __future__ import annotations

import contextlib
import io
import sys
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import gpulab.module
import gpulab.programs
from gpulab import languages, magic, providers
from gpulab.errors import CompileError
from gpulab.magic import OptionError
from gpulab.records import Diagnostic, SourceLine
from gpulab.toolchain import cxx_library


def options(line: str, language: str = "hip") -> Any:
    return magic.read_options(line, magic._parser(languages.find(language)))


def test_options_of_a_cell() -> None:
    plain = {"arch": None, "isa": False, "time": False, "quiet": False, "module": None, "instantiate": [],
             "optimize": None, "defines": [], "option": []}  # fmt: skip
    assert vars(options("")) == plain
    assert vars(options("--isa --time -q -O2 -DN=4 -D M --option=-w --module m --instantiate 'f<int>'")) == {
        "arch": None, "isa": True, "time": True, "quiet": True, "module": "m", "instantiate": ["f<int>"],
        "optimize": "2", "defines": ["N=4", "M"], "option": ["-w"],
    }  # fmt: skip
    more = {"no_compile": False, "run": False, "args": "", "hip_kernel_execution_syntax": False}
    assert vars(options("", "cuda")) == plain | more
    words = "--no-compile --run --args '1 2' --hip-kernel-execution-syntax"
    assert vars(options(words, "cuda")) == plain | {
        "no_compile": True, "run": True, "args": "1 2", "hip_kernel_execution_syntax": True,
    }  # fmt: skip
    for line in ("--module", "--is", "-O4", "word"):
        with pytest.raises(OptionError, match="%%hip"):
            options(line)
    with pytest.raises(OptionError, match="%%hip: the line cannot be read: No closing quotation"):
        options("'")


def test_what_the_compiler_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(gpulab.module, "compile", lambda *words, **more: asked.append((words, more)) or "module")
    times = iter((5.0, 5.75, 6.0, 6.5))
    monkeypatch.setattr(time, "perf_counter", lambda: next(times))
    hip = languages.find("hip")
    assert magic.compile_cell(hip, options("-Os -DA -DB=2 --option=-w --arch gfx90a --instantiate f<1>"), "text") == (
        "module", 0.75,
    )  # fmt: skip
    assert magic.compile_cell(hip, options("-DA"), "text") == ("module", 0.5)
    assert asked == [
        (("text", "hip"), {"arch": "gfx90a", "options": ["-Os", "-DA", "-DB=2", "-w"], "first_line": 2,
                           "name_expressions": ["f<1>"]}),
        (("text", "hip"), {"arch": None, "options": ["-DA"], "first_line": 2, "name_expressions": []}),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("agprs", "lds", "scratch", "more"),
    [
        (0, 0, 0, ""),
        (8, 0, 0, ", 8 AGPRs"),
        (0, 65536, 0, ", 65,536 bytes of LDS"),
        (0, 0, 1024, ", 1,024 bytes of scratch per lane"),
        (1, 1, 1, ", 1 AGPRs, 1 bytes of LDS, 1 bytes of scratch per lane"),
    ],
)
def test_what_a_kernel_takes(agprs: int, lds: int, scratch: int, more: str) -> None:
    resources = SimpleNamespace(vgprs=12, sgprs=16, agprs=agprs, lds_bytes=lds, scratch_bytes=scratch)
    kernel: Any = SimpleNamespace(resources=resources, signature="f(int n)", arch="gfx942")
    assert magic.summary(kernel) == f"f(int n) for gfx942: 12 VGPRs, 16 SGPRs{more}"


def test_which_kernels_get_names() -> None:
    kernels = [SimpleNamespace(name=name) for name in ("f", "g<int>", "g<float>", "a::b::h<x::y>", "1k", "n::f2", "p")]
    module: Any = SimpleNamespace(kernels=kernels)
    assert magic.names_of(module) == {"f": kernels[0], "h": kernels[3], "f2": kernels[5], "p": kernels[6]}


def test_what_a_name_hides() -> None:
    assert magic._shadowed("lambda", {}) == (
        'lambda is a Python keyword, so the kernel cannot be called by it: keep the module with --module m and write '
        'm["lambda"].'
    )  # fmt: skip
    assert magic._shadowed("x", {"x": 3}) == (
        "x was the name of something else in this notebook (int); now it is the kernel."
    )
    assert magic._shadowed("sum", {}) == (
        "sum is also a function of Python itself; in this notebook it is now the kernel "
        "(`del sum` gives Python's back)."
    )
    assert magic._shadowed("x", {}) == magic._shadowed("sum", {"sum": object.__new__(gpulab.module.Kernel)}) == ""


def test_how_many_messages_are_marked_and_which() -> None:
    def said(line: int, file: str) -> Diagnostic:
        return Diagnostic("error", f"m{line}", SourceLine(file, line, 7, "text"), "advice", rendered="")

    cell = languages.cell_name(languages.find("hip"))
    assert magic.marks([said(3, cell), said(0, cell), said(4, "other.h"), Diagnostic("error", "m", None, "")]) == {
        "gpulab": {"diagnostics": [
            {"severity": "error", "message": "m3", "advice": "advice", "line": 3, "column": 7, "text": "text"}
        ]}
    }  # fmt: skip
    assert magic.marks([said(1, cell)])["gpulab"]["diagnostics"][0]["line"] == 1
    assert len(magic.marks([said(n, cell) for n in range(1, 200)])["gpulab"]["diagnostics"]) == 100


# --------------------------------------------------------------------------------------------- programs

COMMAND = """--name keep --args "a 'b c'" --stdin 'x\\ny' --seconds 3 --checked -O2 --offload-arch=gfx90a"""


class Program:
    """What a cell "built", and what is asked of it."""

    warnings: tuple[Diagnostic, ...] = ()

    def __init__(self, stdout: str, stderr: str, ending: str) -> None:
        self.said = SimpleNamespace(stdout=stdout, stderr=stderr, ending=ending)
        self.asked: list[Any] = []

    def run(self, *words: str, output: Callable[[str, str], None], **more: Any) -> Any:
        self.asked.append((words, more))
        output("stdout", self.said.stdout)
        output("stderr", self.said.stderr)
        return self.said


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The program that a test puts there, and what it was built with."""
    found: dict[str, Any] = {"program": Program("", "", "")}

    def build(cell: str, **more: Any) -> Any:
        found["asked"] = (cell, more)
        return found["program"]

    monkeypatch.setattr(gpulab.programs, "build", build)
    monkeypatch.setattr(providers, "find", lambda asked: SimpleNamespace(arch=f"arch of {asked}"))
    monkeypatch.setattr(providers, "current", lambda: 0)
    return found


def test_a_program_is_built_and_run_as_the_line_says(built: dict[str, Any]) -> None:
    shell = SimpleNamespace(user_ns={})
    magic.hipcc(shell, COMMAND, "int main() {}")
    usual = {"file": languages.cell_name(languages.find("hip"))}
    assert built["asked"] == ("int main() {}", usual | {
        "name": "keep", "archs": (*gpulab.programs.DEFAULT_ARCHS, "arch of 0"), "first_line": 2,
        "options": ["-O2", "--offload-arch=gfx90a"],
    })  # fmt: skip
    program = built["program"]
    assert shell.user_ns == {"keep": program}
    assert program.asked == [
        (("a", "b c"), {"arch": None, "stdin": "x\ny", "seconds": 3.0, "checked": True}),
    ]
    magic.hipcc(shell, "--arch gfx1100", "int main() {}", first_line=1)
    assert built["asked"][1] == usual | {
        "name": "program", "archs": (*gpulab.programs.DEFAULT_ARCHS, "arch of gfx1100"), "first_line": 1, "options": [],
    }  # fmt: skip
    assert program.asked[1] == ((), {"arch": "gfx1100", "stdin": "", "seconds": 60.0, "checked": False})
    magic.hipcc(shell, "--no-run", "int main() {}")
    assert (len(program.asked), list(shell.user_ns)) == (2, ["keep"])


@pytest.mark.parametrize(
    ("stdout", "stderr", "ending", "out", "err"),
    [
        ("a\n", "", "", "a\n", ""),
        ("a", "", "", "a", ""),
        ("a", "", "code 3", "a\n", "[code 3]\n"),
        ("a", "b\n\n", "", "a\n", "b\n"),
        ("a\n", "b\n", "code 3", "a\n", "b\n[code 3]\n"),
        ("", "b", "", "", "b\n"),
        ("", "", "code 1", "", "[code 1]\n"),
    ],
)
def test_what_a_program_said_is_shown(
    built: dict[str, Any], capsys: pytest.CaptureFixture[str], stdout: str, stderr: str, ending: str, out: str, err: str
) -> None:
    built["program"] = Program(stdout, stderr, ending)
    magic.hipcc(SimpleNamespace(user_ns={}), "", "")
    assert capsys.readouterr() == (out, err)


def test_what_a_program_says_is_shown_at_once(built: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is said, and so is what takes a while to build; of a cell that failed one line is left to say."""
    seen: list[tuple[str, str]] = []

    class Stream(io.StringIO):
        read_so_far = ""

        def flush(self) -> None:
            self.read_so_far = self.getvalue()

    @contextlib.contextmanager
    def telling(tell: Callable[[str], None]) -> Any:
        tell("it takes a while")
        seen.append((out.read_so_far, out.getvalue()))
        yield

    def run(*words: str, output: Callable[[str, str], None], **more: Any) -> Any:
        output("stdout", "half a li")
        seen.append((out.read_so_far, out.getvalue()))
        return SimpleNamespace(stdout="half a li", stderr="", ending="")

    monkeypatch.setattr(sys, "stdout", out := Stream())
    monkeypatch.setattr(cxx_library, "telling", telling)
    monkeypatch.setattr(built["program"], "run", run)
    monkeypatch.setattr("IPython.display.clear_output", lambda: None)
    magic.hipcc(SimpleNamespace(user_ns={}), "", "")
    assert seen == [("it takes a while\n",) * 2, ("it takes a while\nhalf a li",) * 2]
    assert magic._Failed(ValueError("one\ntwo"))._render_traceback_() == ["ValueError: one"]


def test_lines_that_hipcc_cannot_read(built: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    shell = SimpleNamespace(user_ns={})
    for line, said in (
        ("'", "%%hipcc: the line cannot be read: No closing quotation."),
        ("""--args "'" """, "%%hipcc: the line cannot be read: No closing quotation."),
        ("--name a-b", "%%hipcc: --name a-b is no name that Python can use."),
        ("--name class", "%%hipcc: --name class is no name that Python can use."),
    ):
        with pytest.raises(OptionError) as error:
            magic.hipcc(shell, line, "")
        assert error.value.what == said
    magic.hipcc(shell, "--help", "")
    assert "Build the cell, a whole HIP C++ program with main(), and run it." in capsys.readouterr().out
    assert "asked" not in built


def test_messages_of_a_program_are_shown(
    built: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown: list[Any] = []
    cleared: list[int] = []
    monkeypatch.setattr(magic, "show_messages", lambda text, found: shown.append((text, found)))
    monkeypatch.setattr("IPython.display.clear_output", lambda: cleared.append(1))
    warning = Diagnostic("warning", "w", None, "", rendered="the warning")
    built["program"].warnings = (warning,)
    magic.hipcc(SimpleNamespace(user_ns={}), "", "")
    assert shown == [("the warning", (warning,))]
    assert cleared == []

    def refused(cell: str, **more: Any) -> Any:
        raise CompileError("cell did not compile", diagnostics=(Diagnostic("error", "e", None, ""), warning))

    @contextlib.contextmanager
    def telling(tell: Callable[[str], None]) -> Any:
        tell("it takes a while")
        yield

    monkeypatch.setattr(cxx_library, "telling", telling)
    magic.hipcc(SimpleNamespace(user_ns={}), "", "")
    assert capsys.readouterr().out == "it takes a while\n"
    assert cleared == [1]
    monkeypatch.setattr(gpulab.programs, "build", refused)
    with pytest.raises(CompileError) as error:
        magic.hipcc(SimpleNamespace(user_ns={}), "", "")
    assert error.value.what == "the cell was not compiled (1 error, shown above)"
    assert shown[-1][0] == "cell did not compile"
    assert cleared == [1, 1]


@pytest.mark.parametrize(
    ("count", "said"),
    [(0, "it died"), (1, "the cell was not compiled (1 error, shown above)"),
     (2, "the cell was not compiled (2 errors, shown above)")],
)  # fmt: skip
def test_what_is_left_to_say_of_errors(count: int, said: str) -> None:
    found = (*(Diagnostic("error", "e", None, "") for _ in range(count)), Diagnostic("warning", "w", None, ""))
    assert magic._first_line(CompileError("it died", diagnostics=found)) == said


# ----------------------------------------------------------------------------------------- translations


@pytest.fixture
def translated(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A translation that a test may change; what was displayed, and what was run."""
    found: dict[str, Any] = {"displayed": [], "ran": [], "notes": ["a note"], "text": "int main() {}\n"}

    def translate(cell: str, name: str, first_line: int, syntax: str) -> Any:
        found["asked"] = (cell, name, first_line, syntax)
        return SimpleNamespace(
            notes=found["notes"], report=lambda: "the report", text_without_added_lines=lambda: found["text"]
        )

    found["language"] = SimpleNamespace(translate=translate, magic="cuda", name="cuda", title="CUDA")
    monkeypatch.setattr("gpulab.porting.beside.Beside", lambda translation: "both")
    monkeypatch.setattr("IPython.display.display", lambda what: found["displayed"].append(str(what)))
    monkeypatch.setattr(magic, "hipcc", lambda *words, **more: found["ran"].append((words, more)))
    monkeypatch.setattr(languages, "cell_name", lambda language: "cell.cu")
    return found


def translate(found: dict[str, Any], line: str) -> bool:
    return magic._translate(found["language"], "shell", options(line, "cuda"), "text")


def test_both_programs_and_the_report_are_shown(translated: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert translate(translated, "")
    assert translated["asked"] == ("text", "cell.cu", 2, "cuda")
    assert translated["displayed"] == ["both", repr(magic.Report("the report"))]
    left_out = "main() and the host's other functions are left out here: %%cuda --run builds and runs all of it.\n"
    assert capsys.readouterr().out == left_out
    assert translate(translated, "--quiet --hip-kernel-execution-syntax")
    assert translated["asked"][3] == "hip"
    assert len(translated["displayed"]) == 2
    translated |= {"notes": [], "text": "int f() {}\n"}
    assert translate(translated, "")
    assert translated["displayed"][2:] == ["both"]
    assert not translate(translated, "--no-compile --run")
    assert capsys.readouterr().out == ""
    assert translated["ran"] == []


def test_a_translated_program_is_run_as_the_line_says(translated: dict[str, Any]) -> None:
    assert not translate(translated, "--run")
    assert not translate(translated, "--run --args 'a b' --arch gfx1100 -DN=1 --option=-w -O2")
    text = "#include <hip/hip_runtime.h>\nint main() {}\n"
    assert translated["ran"] == [
        (("shell", "--args=", text), {"first_line": 1}),
        (("shell", "'--args=a b' --arch=gfx1100 -DN=1 -w -O2", text), {"first_line": 1}),
    ]


def test_the_editor_asks_where_there_is_a_kernel() -> None:
    targets: dict[str, Any] = {}
    manager = SimpleNamespace(register_target=lambda name, opened: targets.update({name: opened}))
    magic._hear_editor(SimpleNamespace(kernel=SimpleNamespace(comm_manager=manager)))
    sent: list[Any] = []
    targets["gpulab.editor"](SimpleNamespace(send=sent.append), {"content": {"data": {"ask": "what"}}})
    assert sent == [{"error": "gpulab does not know the question 'what'."}]
    for shell in (SimpleNamespace(), SimpleNamespace(kernel=None), SimpleNamespace(kernel=SimpleNamespace())):
        magic._hear_editor(shell)


def test_what_installs_a_package(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib import metadata

    assert magic.install_command("triton") == "%pip install 'gpulab[triton]'"
    assert magic.install_command("numpy") == "%pip install numpy"
    monkeypatch.setattr(metadata, "metadata", lambda name: SimpleNamespace(get_all=lambda field: None))
    assert magic.install_command("triton") == "%pip install triton"

    def absent(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "metadata", absent)
    assert magic.install_command("triton") == "%pip install triton"


def test_a_shell_is_registered_with_once() -> None:
    """A second time changes nothing; a shell without transformers of cells has the magics alone."""
    magics: list[tuple[str, str]] = []
    shell = SimpleNamespace(
        input_transformers_cleanup=["other"],
        register_magic_function=lambda function, magic_kind, magic_name: magics.append((magic_kind, magic_name)),
    )
    for _ in range(2):
        magic.register(shell)
        assert shell.input_transformers_cleanup == ["other", magic.explain_lines]
    assert magics[: len(magics) // 2] * 2 == magics
    assert {("cell", name) for name in ("hip", "cuda", "hipcc", "needs")} <= set(magics)
    magic.register(SimpleNamespace(register_magic_function=shell.register_magic_function))
