"""``%%hip`` and how gpulab's errors look in a notebook: the only module that knows IPython.

`register` puts both into a running shell. ``%%hip`` compiles its cell and leaves the kernels in the notebook under
their names. gpulab's errors are shown as their own text with the line of the cell that caused them, without Python's
traceback through gpulab; the cell still fails, so that papermill and nbval see it.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import keyword
import re
import shlex
import sysconfig
import time
import traceback
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, NoReturn

from gpulab.errors import CompileError, GpulabError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpulab.module import Kernel, Module

_RED, _BOLD, _PLAIN = "\x1b[31m", "\x1b[1m", "\x1b[0m"
CELL_NAME = "cell.hip"
_CELL_MAGIC = re.compile(r"get_ipython\(\)\.run_cell_magic\('(\w+)', '([^']*)'")
# Where Python and installed packages lie; their lines are not the learner's.
_LIBRARIES = tuple({sysconfig.get_path(name).replace("\\", "/") for name in ("stdlib", "purelib", "platlib")})


class OptionError(GpulabError):
    """A ``%%hip`` line that cannot be understood."""


class _Options(argparse.ArgumentParser):
    """Options of ``%%hip``; mistakes are errors that teach instead of an exit."""

    def error(self, message: str) -> NoReturn:
        raise OptionError(f"%%hip: {message}.", hint=f"{self.format_usage().strip()}. %%hip --help says more.")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise _HelpShown


class _HelpShown(Exception):
    """``%%hip --help`` was asked for and printed."""


def _parser() -> _Options:
    options = _Options(
        prog="%%hip",
        description="Compile the cell for an AMD GPU and leave its kernels in the notebook.",
        allow_abbrev=False,
    )
    options.add_argument("--arch", help="for another architecture than the device in use, e.g. gfx1100")
    options.add_argument("--isa", action="store_true", help="show the assembly beside the source")
    options.add_argument("--time", action="store_true", help="say how long compiling took")
    options.add_argument("--quiet", "-q", action="store_true", help="print nothing when all is well")
    options.add_argument("--module", metavar="NAME", help="also keep the module, under this name")
    options.add_argument(
        "--instantiate", metavar="NAME", action="append", default=[], help='an instance of a template: "scale<float>"'
    )
    options.add_argument("-O", dest="optimize", choices=["0", "1", "2", "3", "s"], help="optimisation (3)")
    options.add_argument("-D", dest="defines", metavar="NAME=VALUE", action="append", default=[], help="define a macro")
    options.add_argument("--option", metavar="OPTION", action="append", default=[], help="an option for the compiler")
    return options


@dataclass(frozen=True, slots=True)
class Report:
    """A text for people: plain, and as HTML with everything escaped."""

    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f'<pre class="gpulab-report" style="white-space:pre-wrap">{escape(self.text)}</pre>'


def compile_cell(line: str, cell: str) -> tuple[Module, argparse.Namespace, float]:
    """Compile the text of a ``%%hip`` cell: the module, the options of its first line, seconds taken.

    Raises:
        OptionError: the first line cannot be understood.
        CompileError: the compiler refused the cell.
    """
    from gpulab import module

    try:
        words = shlex.split(line)
    except ValueError as error:
        raise OptionError(f"%%hip: the line cannot be read: {error}.", hint="close every quotation mark.") from None
    asked = _parser().parse_args(words)
    options = [f"-D{define}" for define in asked.defines] + asked.option
    if asked.optimize:
        options.insert(0, f"-O{asked.optimize}")
    start = time.perf_counter()
    compiled = module.compile(
        cell,
        arch=asked.arch,
        options=options,
        name=CELL_NAME,
        first_line=2,  # JupyterLab counts the %%hip line as 1
        name_expressions=asked.instantiate,
    )
    return compiled, asked, time.perf_counter() - start


def summary(kernel: Kernel) -> str:
    """One line: signature and what it takes."""
    r = kernel.resources
    parts = [f"{r.vgprs} VGPRs", f"{r.sgprs} SGPRs"]
    if r.agprs:
        parts.append(f"{r.agprs} AGPRs")
    if r.lds_bytes:
        parts.append(f"{r.lds_bytes:,} bytes of LDS")
    if r.scratch_bytes:
        parts.append(f"{r.scratch_bytes:,} bytes of scratch per lane")
    return f"{kernel.signature} for {kernel.arch}: {', '.join(parts)}"


def names_of(module: Module) -> dict[str, Kernel]:
    """The notebook names of a module's kernels: the part before "<", unless several share it."""
    found: dict[str, list[Kernel]] = {}
    for kernel in module.kernels:
        found.setdefault(kernel.name.split("<")[0].split("::")[-1], []).append(kernel)
    return {name: kernels[0] for name, kernels in found.items() if len(kernels) == 1 and name.isidentifier()}


def _shadowed(name: str, namespace: dict[str, Any]) -> str:
    """What a kernel of this name would hide, or ""."""
    from gpulab.module import Kernel

    if keyword.iskeyword(name):
        return f"{name} is a Python keyword, so the kernel cannot be called by it: keep the module with --module m " \
            f'and write m["{name}"].'  # fmt: skip
    if name in namespace and not isinstance(namespace[name], Kernel):
        before = type(namespace[name]).__name__
        return f"{name} was the name of something else in this notebook ({before}); now it is the kernel."
    if name not in namespace and hasattr(builtins, name):
        return (
            f"{name} is also a function of Python itself; in this notebook it is now the kernel "
            f"(`del {name}` gives Python's back)."
        )
    return ""


def hip(shell: Any, line: str, cell: str) -> None:
    """The cell magic: compile, report, and put the kernels into the notebook's names."""
    from IPython.display import display

    from gpulab.toolchain import diagnostics

    try:
        module, asked, seconds = compile_cell(line, cell)
    except _HelpShown:
        return
    except CompileError as error:
        display(Report(str(error)))
        raise _Shown(_first_line(error), error) from None
    notes = []
    names = names_of(module)
    for name, kernel in names.items():
        notes.append(_shadowed(name, shell.user_ns))
        if not keyword.iskeyword(name):
            shell.user_ns[name] = kernel
    if asked.module:
        if not asked.module.isidentifier() or keyword.iskeyword(asked.module):
            raise OptionError(f"%%hip: --module {asked.module} is no name that Python can use.")
        shell.user_ns[asked.module] = module
    unnamed = [kernel for kernel in module.kernels if kernel not in names.values()]
    if unnamed and not asked.module:
        listed = ", ".join(f'm["{kernel.signature.symbol}"]' for kernel in unnamed)
        notes.append(f"several kernels share a name; keep the module with --module m, then: {listed}.")
    if not module.kernels:
        notes.append(str(module._code.missing("any kernel")))
    lines = [diagnostics.render(module.warnings)] if module.warnings and not asked.quiet else []
    lines += ["Note: " + note if module.kernels else note for note in notes if note]
    if not asked.quiet:
        lines += [summary(kernel) for kernel in module.kernels]
    if asked.time:
        lines.append(f"compiled in {seconds * 1000:.0f} ms")
    if lines:
        print("\n".join(lines))
    if asked.isa:
        for kernel in module.kernels:
            display(kernel.isa)


def _first_line(error: CompileError) -> str:
    count = sum(diagnostic.severity == "error" for diagnostic in error.diagnostics)
    return f"the cell was not compiled ({count} error{'' if count == 1 else 's'}, shown above)" if count else error.what


class _Shown(CompileError):
    """A compile error whose text has been displayed: what is left to say is one line."""

    def __init__(self, text: str, error: CompileError) -> None:
        super().__init__(text, diagnostics=error.diagnostics, log=error.log)

    def _render_traceback_(self) -> list[str]:
        return [f"{_RED}CompileError{_PLAIN}: {self.what}"]


_Shown.__name__ = _Shown.__qualname__ = "CompileError"  # what papermill and nbval show


def render(error: GpulabError) -> list[str]:
    """The lines shown for an error of gpulab: where in the learner's code, then the error's own text."""
    kind = type(error).__name__
    lines = [f"{_RED}{kind}{_PLAIN}"]
    for frame in learners_frames(error):
        lines.append(f"  {frame}")
    text = str(error).split("\n")
    return [*lines, *[f"{_BOLD}{text[0]}{_PLAIN}", *text[1:]]]


def learners_frames(error: BaseException) -> Sequence[str]:
    """The lines of the learner's own code that led to an error, outermost first: "in line 3: saxpy[4, 256](...)".

    Frames before the first notebook cell (IPython's), those of installed libraries, and from gpulab on are left out.
    """
    found = []
    started = False
    for frame in traceback.extract_tb(error.__traceback__):
        name = frame.filename.replace("\\", "/")
        cell = "<ipython-input" in name or "/ipykernel_" in name or name.startswith(("<cell", "<timed"))
        started = started or cell
        if "/gpulab/" in name and not cell:
            break
        text = (frame.line or "").strip()
        magic = _CELL_MAGIC.match(text)
        if magic:  # a cell that starts with %%name: IPython's own call stands for it
            text = f"%%{magic[1]} {magic[2]}".rstrip()
            if magic[1] == "time":
                continue  # the next frame is the line in question
        if started and text and not name.startswith(_LIBRARIES):
            place = "line" if cell else f"{name.rsplit('/', 1)[-1]}, line"
            found.append(f"{place} {frame.lineno}: {text}")
    return found


def explain_lines(lines: list[str]) -> list[str]:
    """An input transformer: says what is wrong with cells that Python would only call invalid syntax.

    Raises:
        SyntaxError: ``%%hip`` does not stand first, or C++ stands in a cell without it.
    """
    first = next((line.strip() for line in lines if line.strip()), "")
    if first.startswith("%%"):
        return lines
    text = "".join(lines)
    if "%%hip" not in text and "__global__" not in text and "<<<" not in text:
        return lines
    try:
        ast.parse("".join("\n" if line.lstrip().startswith(("%", "!")) else line for line in lines))
        python = True
    except SyntaxError:
        python = False
    where = next((number for number, line in enumerate(lines, 1) if line.startswith("%%hip")), 0)
    if where and not python:
        raise SyntaxError(
            f"%%hip stands in line {where}. It must be the first line of its cell, with nothing before it: "
            "put comments below it, and Python into another cell."
        )
    if not python and any(line.lstrip().startswith(("__global__", "template", 'extern "C"')) for line in lines):
        raise SyntaxError(
            "this cell is C++, and Python cannot read it. Write %%hip (two percent signs) as its first line."
        )
    if not python and "<<<" in text and ">>>" in text:
        raise SyntaxError(
            "kernel<<<grid, block>>>(arguments) is how C++ launches a kernel. In Python write: "
            "kernel[grid, block](arguments)"
        )
    return lines


def register(shell: Any) -> None:
    """Put ``%%hip`` and the display of errors into this shell; a second time changes nothing."""

    def run_hip(line: str, cell: str) -> None:
        hip(shell, line, cell)

    run_hip.__doc__ = _parser().format_help()
    shell.register_magic_function(run_hip, magic_kind="cell", magic_name="hip")
    transformers = getattr(shell, "input_transformers_cleanup", None)
    if transformers is not None and explain_lines not in transformers:
        transformers.append(explain_lines)
    # IPython asks an exception how it wants to be shown by this method.
    setattr(GpulabError, "_render_traceback_", lambda error: render(error))  # noqa: B010 - a name for IPython only
