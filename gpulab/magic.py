"""Cell magics and how gpulab's errors look in a notebook: the only module that knows IPython.

`register` puts them into a running shell. Each language (gpulab/languages) has its own: ``%%hip`` compiles its cell and
leaves the kernels in the notebook under their names; ``%%cuda`` translates its cell to HIP first. ``%%hipcc`` builds
and runs a whole program. gpulab's errors
are shown as their own text with the line of the cell that caused them, without Python's traceback through gpulab; the
cell still fails, so that papermill and nbval see it.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import difflib
import functools
import importlib.util
import keyword
import re
import shlex
import sysconfig
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from gpulab import languages
from gpulab.errors import CompileError, GpulabError
from gpulab.languages.language import Translates

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gpulab.languages.language import Language
    from gpulab.module import Kernel, Module
    from gpulab.records import Diagnostic

_RED, _BOLD, _PLAIN = "\x1b[31m", "\x1b[1m", "\x1b[0m"
_CELL_MAGIC = re.compile(r"get_ipython\(\)\.run_cell_magic\('(\w+)', '([^']*)'")
# Where Python and installed packages lie; their lines are not the learner's.
_OWN = str(Path(__file__).parent).replace("\\", "/") + "/"
_LIBRARIES = tuple({sysconfig.get_path(name).replace("\\", "/") for name in ("stdlib", "purelib", "platlib")})


class OptionError(GpulabError):
    """A ``%%hip`` line that cannot be understood."""


class _Options(argparse.ArgumentParser):
    """Options of a cell magic; mistakes are errors that teach instead of an exit."""

    def error(self, message: str) -> NoReturn:
        raise OptionError(
            f"{self.prog}: {message}.",
            hint=f"{self._meant(message)}{self.format_usage().strip()}. {self.prog} --help says more.",
        )

    def _meant(self, message: str) -> str:
        """The options that are spelt much like those of a message, as a sentence, or ""."""
        wrong = message.removeprefix("unrecognized arguments: ")
        return self.meant(wrong.split() if wrong != message else [])

    def meant(self, words: Iterable[str]) -> str:
        """The options that are spelt much like these words, as a sentence, or ""."""
        known = [option for option in self._option_string_actions if option.startswith("--")]
        near = [
            option
            for word in words
            if word.startswith("--") and word not in known
            for option in difflib.get_close_matches("--" + word.split("=")[0].lstrip("-"), known, 1, 0.7)
        ]
        return f"did you mean {' and '.join(dict.fromkeys(near))}? " if near else ""

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise _HelpShown


class _HelpShown(Exception):
    """``%%hip --help`` was asked for and printed."""


def _parser(language: Language) -> _Options:
    """The options of a language's cell magic."""
    translates = isinstance(language, Translates)
    does = "Compile the cell for an AMD GPU and leave its kernels in the notebook."
    if translates:
        does = f"Translate the cell's {language.title} to HIP, show both and what needs a person, then compile it."
    options = _Options(prog=f"%%{language.magic}", description=does, allow_abbrev=False)
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
    if translates:
        options.add_argument("--no-compile", action="store_true", help="translate and report only")
        options.add_argument("--run", action="store_true", help="build and run the whole program, as %%%%hipcc does")
        options.add_argument("--args", default="", metavar='"WORDS"', help="with --run: arguments for main")
        options.add_argument(
            "--hip-kernel-execution-syntax", action="store_true", help="write hipLaunchKernelGGL instead of <<<...>>>"
        )
    return options


@dataclass(frozen=True, slots=True)
class Report:
    """A text for people: plain, and as HTML with everything escaped."""

    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        from gpulab.views.table import preformatted

        return preformatted(self.text, "gpulab-report")


_MOST_MARKED = 100


def marks(found: Sequence[Diagnostic]) -> dict[str, Any]:
    """The metadata of an output with messages of the compiler: where an editor marks them (docs/editor.md)."""
    cells = {languages.cell_name(language) for language in languages.members().values()}
    return {
        "gpulab": {
            "diagnostics": [
                {
                    "severity": each.severity, "message": each.message, "advice": each.advice,
                    "line": each.where.line, "column": each.where.column, "text": each.where.text,
                }
                for each in found
                if each.where is not None and each.where.line > 0 and each.where.file in cells
            ][:_MOST_MARKED]
        }
    }  # fmt: skip


def show_messages(text: str, found: Sequence[Diagnostic]) -> None:
    """Display messages of the compiler, with what an editor needs to mark their lines."""
    from IPython.display import display

    display(Report(text), metadata=marks(found))


def read_options(line: str, parser: _Options) -> argparse.Namespace:
    """The options in the first line of a cell.

    Raises:
        OptionError: they cannot be understood.
    """
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise OptionError(
            f"{parser.prog}: the line cannot be read: {error}.", hint="close every quotation mark."
        ) from None
    return parser.parse_args(words)


def compile_cell(language: Language, asked: argparse.Namespace, cell: str) -> tuple[Module, float]:
    """Compile the text of a cell: the module, and the seconds taken.

    Raises:
        CompileError: the compiler refused the cell.
    """
    from gpulab import module

    options = [f"-D{define}" for define in asked.defines] + asked.option
    if asked.optimize:
        options.insert(0, f"-O{asked.optimize}")
    start = time.perf_counter()
    compiled = module.compile(
        cell,
        language.name,
        arch=asked.arch,
        options=options,
        first_line=2,  # JupyterLab counts the line of the magic as 1
        name_expressions=asked.instantiate,
    )
    return compiled, time.perf_counter() - start


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
        found.setdefault(_base(kernel), []).append(kernel)
    return {name: kernels[0] for name, kernels in found.items() if len(kernels) == 1 and name.isidentifier()}


def _base(kernel: Kernel) -> str:
    """A kernel's name without namespaces and without what stands in angle brackets."""
    return kernel.name.split("<")[0].split("::")[-1]


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


def run(language: Language, shell: Any, line: str, cell: str) -> None:
    """The cell magic of a language: compile, report, and put the kernels into the notebook's names.

    Of a language that is translated to HIP, both programs and the report are shown first.
    """
    from IPython.display import display

    from gpulab.module import Kernel
    from gpulab.toolchain import diagnostics

    prog = f"%%{language.magic}"
    try:
        asked = read_options(line, _parser(language))
    except _HelpShown:
        return
    if isinstance(language, Translates) and not _translate(language, shell, asked, cell):
        return
    try:
        module, seconds = compile_cell(language, asked, cell)
    except CompileError as error:
        show_messages(str(error), error.diagnostics)
        raise _Shown(_first_line(error), error) from None
    notes = []
    names = names_of(module)
    for name, kernel in names.items():
        notes.append(_shadowed(name, shell.user_ns))
        if not keyword.iskeyword(name):
            shell.user_ns[name] = kernel
    if asked.module:
        if not asked.module.isidentifier() or keyword.iskeyword(asked.module):
            raise OptionError(f"{prog}: --module {asked.module} is no name that Python can use.")
        shell.user_ns[asked.module] = module
    unnamed = [kernel for kernel in module.kernels if kernel not in names.values()]
    if unnamed and not asked.module:
        listed = ", ".join(f'm["{kernel.signature.symbol}"]' for kernel in unnamed)
        notes.append(f"several kernels share a name; keep the module with --module m, then: {listed}.")
    for name in sorted({_base(kernel) for kernel in unnamed}):
        if isinstance(shell.user_ns.get(name), Kernel):  # an earlier cell's would run in the place of these
            del shell.user_ns[name]
            notes.append(f"the kernel {name} of an earlier cell is no longer in the notebook.")
    if not module.kernels:
        notes.append(str(module._code.missing("any kernel")))
    if module.warnings and not asked.quiet:
        show_messages(diagnostics.render(module.warnings), module.warnings)
    lines = ["Note: " + note if module.kernels else note for note in notes if note]
    if not asked.quiet:
        lines += [summary(kernel) for kernel in module.kernels]
    if asked.time:
        lines.append(f"compiled in {seconds * 1000:.0f} ms")
    if lines:
        print("\n".join(lines))
    if asked.isa:
        for kernel in module.kernels:
            display(kernel.isa)


def _translate(language: Translates, shell: Any, asked: argparse.Namespace, cell: str) -> bool:
    """Show the HIP beside the cell and the report, and run the whole program if that is asked for; whether the kernels
    are to be compiled.

    What is compiled is the device's part: kernels and what they call. Functions of the host, such as main(), stay in
    the translation and are left out.
    """
    from IPython.display import display

    from gpulab import porting
    from gpulab.porting.beside import Beside

    translation = language.translate(
        cell, languages.cell_name(language), 2, "hip" if asked.hip_kernel_execution_syntax else "cuda"
    )
    if not asked.quiet:
        display(Beside(translation))
        if translation.notes:
            display(Report(translation.report()))
    if asked.no_compile:
        return False
    text = translation.text_without_added_lines()
    if asked.run:
        words = [f"--args={asked.args}"] + ([f"--arch={asked.arch}"] if asked.arch else [])
        words += [f"-D{define}" for define in asked.defines] + asked.option
        words += [f"-O{asked.optimize}"] if asked.optimize else []
        hipcc(shell, shlex.join(words), f"#include <hip/hip_runtime.h>\n{text}", first_line=1)
        return False
    if porting.has_main(text) and not asked.quiet:
        print(
            "main() and the host's other functions are left out here: "
            f"%%{language.magic} --run builds and runs all of it."
        )
    return True


def _hipcc_parser() -> _Options:
    """The options of ``%%hipcc``; what they do not know goes to the compiler."""
    options = _Options(
        prog="%%hipcc",
        description="Build the cell, a whole HIP C++ program with main(), and run it. Other options (-O2, -std=c++20, "
        "-DN=4, --offload-arch=gfx90a ...) are the compiler's.",
        allow_abbrev=False,
    )
    options.add_argument("--name", metavar="NAME", help="keep the program in the notebook, under this name")
    options.add_argument("--args", default="", metavar='"WORDS"', help="arguments for main")
    options.add_argument("--stdin", default="", metavar='"TEXT"', help="what it reads from standard input")
    options.add_argument("--arch", help="the device that is number 0 for it, e.g. gfx1100; else the one in use")
    options.add_argument("--seconds", type=float, default=60.0, help="stop it after so long (60)")
    options.add_argument("--checked", action="store_true", help="run its launches checked, as in gpulab.checked()")
    options.add_argument("--no-run", action="store_true", help="build it only")
    return options


def hipcc(shell: Any, line: str, cell: str, first_line: int = 2) -> None:
    """The cell magic ``%%hipcc``: build a whole program, run it, show its output, exit code and faults.

    An exit code other than 0 is shown and fails nothing: a program may end so on purpose. Standard error follows when
    the program has ended, so that a notebook's outputs are the same in every run.
    """
    import sys

    from IPython.display import clear_output

    from gpulab import programs, providers
    from gpulab.toolchain import cxx_library, diagnostics

    parser = _hipcc_parser()
    try:
        words = shlex.split(line)
        asked, options = parser.parse_known_args(words)
        given = shlex.split(asked.args)
    except _HelpShown:
        return
    except ValueError as error:
        raise OptionError(f"%%hipcc: the line cannot be read: {error}.", hint="close every quotation mark.") from None
    meant = parser.meant(option for option in options if not option.startswith("--std"))
    if meant:
        raise OptionError(f"%%hipcc: there is no option {' '.join(options)}.", hint=f"{meant}%%hipcc --help says more.")
    name = asked.name or "program"
    if asked.name and (not name.isidentifier() or keyword.iskeyword(name)):
        raise OptionError(f"%%hipcc: --name {name} is no name that Python can use.")
    told: list[str] = []

    def tell(words: str) -> None:
        told.append(words)
        print(words, flush=True)

    arch = providers.find(asked.arch or providers.current()).arch
    archs = tuple(dict.fromkeys((*programs.DEFAULT_ARCHS, arch)))
    try:
        try:
            with cxx_library.telling(tell):
                program = programs.build(
                    cell,
                    name=name,
                    archs=archs,
                    options=options,
                    first_line=first_line,
                    file=languages.cell_name(languages.find("hip")),
                )
        finally:
            if told:
                clear_output()
    except CompileError as error:
        show_messages(str(error), error.diagnostics)
        raise _Shown(_first_line(error), error) from None
    if program.warnings:
        show_messages(diagnostics.render(program.warnings), program.warnings)
    if asked.name:
        shell.user_ns[name] = program
    if asked.no_run:
        return

    def show(stream: str, text: str) -> None:
        if stream == "stdout":
            print(text, end="", flush=True)

    run = program.run(
        *given, arch=asked.arch, stdin=asked.stdin.replace("\\n", "\n"), seconds=asked.seconds,
        checked=asked.checked, output=show,
    )  # fmt: skip
    ending = f"[{run.ending}]" if run.ending else ""
    if run.stdout and not run.stdout.endswith("\n") and (run.stderr or ending):
        print()
    if run.stderr or ending:
        print("\n".join(part for part in (run.stderr.rstrip("\n"), ending) if part), file=sys.stderr)


def _first_line(error: CompileError) -> str:
    count = sum(diagnostic.severity == "error" for diagnostic in error.diagnostics)
    return f"the cell was not compiled ({count} error{'' if count == 1 else 's'}, shown above)" if count else error.what


class _Shown(CompileError):
    """A compile error whose text has been displayed: what is left to say is one line."""

    def __init__(self, text: str, error: CompileError) -> None:
        self._whole = str(error)
        super().__init__(text, diagnostics=error.diagnostics, log=error.log)

    def __str__(self) -> str:
        return f"{self.what}\n{self._whole}"  # for what shows no outputs, as `gpulab run`

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
    found: list[str] = []
    started = False
    for frame in traceback.extract_tb(error.__traceback__):
        name = frame.filename.replace("\\", "/")
        cell = "<ipython-input" in name or "/ipykernel_" in name or name.startswith(("<cell", "<timed"))
        started = started or cell
        if name.startswith(_OWN) and not cell:
            break
        text = (frame.line or "").strip()
        magic = _CELL_MAGIC.match(text)
        if magic:  # a cell that starts with %%name: IPython's own call stands for it
            text = f"%%{magic[1]} {magic[2]}".rstrip()
            if magic[1] == "time":
                continue  # the next frame is the line in question
        if started and text and not name.startswith(_LIBRARIES):
            place = "line" if cell else f"{name.rsplit('/', 1)[-1]}, line"
            line = f"{place} {frame.lineno}: {text}"
            if found[-1:] != [line]:  # a comprehension has frames of its own
                found.append(line)
    return found


def _expect_known(first: str) -> None:
    """Refuse a cell magic that is none, if it looks like one of gpulab's; IPython names no other.

    Raises:
        SyntaxError: with the right name.
    """
    from IPython import get_ipython

    shell = get_ipython()
    word = re.match(r"%%(\s*)(\w*)", first)
    if shell is None or word is None or (not word[1] and word[2] in shell.magics_manager.magics["cell"]):
        return
    own = ["hipcc", "needs", *(language.magic for language in languages.members().values() if language.magic)]
    near = difflib.get_close_matches(word[2].lower(), own, 1, 0.7)
    if near:
        raise SyntaxError(f"there is no cell magic %%{word[1]}{word[2]}. Did you mean %%{near[0]}?")


def explain_lines(lines: list[str]) -> list[str]:
    """An input transformer: says what is wrong with cells that Python would only call invalid syntax.

    Raises:
        SyntaxError: ``%%hip`` does not stand first or is misspelt, or C++ stands in a cell without it.
    """
    first = next((line.strip() for line in lines if line.strip()), "")
    if first.startswith("%%"):
        _expect_known(first)
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


def answer(question: Any) -> dict[str, Any]:
    """What the side panel of the editor asks for: progress, or the next hint of an exercise. docs/editor.md."""
    from gpulab.grading import hints, history

    asked = question if isinstance(question, dict) else {}
    try:
        if asked.get("ask") == "progress":
            now = history.progress()
            exercises = {each.id: {"state": each.state, "note": each.note} for each in now.entries()}
            sentence = f"{now.message} {now.solved} of {len(exercises)} exercises solved.".strip()
            return {"exercises": exercises, "sentence": sentence}
        if asked.get("ask") == "hint":
            return {"text": hints.hint(str(asked.get("id"))).text}
    except GpulabError as error:
        return {"error": str(error)}
    return {"error": f"gpulab does not know the question {asked.get('ask')!r}."}


def _hear_editor(shell: Any) -> None:
    """Let the editor's side panel ask, where this is a notebook's kernel."""
    comms = getattr(getattr(shell, "kernel", None), "comm_manager", None)
    if comms is not None:

        def opened(comm: Any, message: dict[str, Any]) -> None:
            comm.send(answer(message["content"]["data"]))

        comms.register_target("gpulab.editor", opened)


def needs(shell: Any, line: str, cell: str) -> None:
    """``%%needs PACKAGE``: run the cell where this Python package is installed; elsewhere say what installs it.

    Lessons on packages that gpulab does not install by default begin their cells so: they can be read, and run from the
    first cell to the last, without the package.
    """
    name = line.strip()
    if not name.isidentifier():
        raise OptionError(f"%%needs: {name!r} is no name of a package.", hint="%%needs triton")
    if importlib.util.find_spec(name) is None:
        print(f"{name} is not installed here, so this cell is not run. To install it: {install_command(name)}")
        return
    result = shell.run_cell(cell)
    if not result.success:
        raise _Failed(result.error_before_exec or result.error_in_exec)


def install_command(name: str) -> str:
    """What a person types to install a package: gpulab's extra of this name, if it has one."""
    from importlib import metadata

    try:
        extras = metadata.metadata("gpulab").get_all("Provides-Extra") or ()
    except metadata.PackageNotFoundError:
        extras = ()
    return f"%pip install 'gpulab[{name}]'" if name in extras else f"%pip install {name}"


class _Failed(Exception):
    """A cell failed, and its error has been displayed: nothing is left to say."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(f"{type(error).__name__}: {error}")

    def _render_traceback_(self) -> list[str]:
        return [str(self).splitlines()[0]]


def register(shell: Any) -> None:
    """Put ``%%hip``, ``%%cuda`` and the display of errors into this shell; a second time changes nothing."""

    for language in languages.members().values():
        if language.magic:
            magic = functools.partial(run, language, shell)
            magic.__doc__ = _parser(language).format_help()
            shell.register_magic_function(magic, magic_kind="cell", magic_name=language.magic)

    def run_hipcc(line: str, cell: str) -> None:
        hipcc(shell, line, cell)

    run_hipcc.__doc__ = _hipcc_parser().format_help()
    shell.register_magic_function(run_hipcc, magic_kind="cell", magic_name="hipcc")
    needed = functools.partial(needs, shell)
    needed.__doc__ = needs.__doc__
    shell.register_magic_function(needed, magic_kind="cell", magic_name="needs")

    _hear_editor(shell)
    transformers = getattr(shell, "input_transformers_cleanup", None)
    if transformers is not None and explain_lines not in transformers:
        transformers.append(explain_lines)
    # IPython asks an exception how it wants to be shown by this method.
    setattr(GpulabError, "_render_traceback_", lambda error: render(error))  # noqa: B010 - a name for IPython only
