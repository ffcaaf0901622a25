"""Builds programs: `build` has Clang read the source for the host and for each device, and links one executable file.

The device passes give code objects with gpulab's own sections, as for kernels; they go, in a bundle as
clang-offload-bundler writes it, into the section that both HIP libraries look for. Built programs are kept in the
cache.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from gpulab import cores
from gpulab.errors import CompileError, GpulabError
from gpulab.programs import bundles, runtimes, units
from gpulab.programs import options as command_line
from gpulab.programs.program import HostProgram
from gpulab.providers.virtual import hosting
from gpulab.records import Diagnostic
from gpulab.toolchain import build as kernels
from gpulab.toolchain import cache, code_object, compiler, cxx_library, diagnostics, hosted, sources

_HERE = Path(__file__).parent
LAUNCHER = _HERE / "launcher.cpp"
HOME = str(_HERE.parents[1])  # where gpulab lies
_FORMAT = "2"
_LIMIT = 512 << 20  # bytes of programs kept
ENTRY = "gpulab_entry"
LIMITS = compiler.Limits(seconds=120)
_DRIVERS = ("/dev/kfd", "/dev/dxg")  # where there is one, a program asks ROCm first (launcher.cpp)
_SMALL = """#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void first(int* out) { *out = 1; }
int main() {
    int* out;
    if (hipMalloc(&out, sizeof(int)) != hipSuccess) return 1;
    first<<<1, 1>>>(out);
    printf("%d\\n", static_cast<int>(hipDeviceSynchronize()));
    return hipFree(out) != hipSuccess;
}
"""


def build(
    source: str | Path,
    *,
    name: str = "program",
    archs: Sequence[str] = command_line.DEFAULT_ARCHS,
    options: Sequence[str] = (),
    first_line: int = 1,
    file: str | None = None,
    output: str | Path | None = None,
) -> HostProgram:
    """Build a HIP C++ program with main() for this machine and its GPUs.

    Args:
        source: its text, or the path of a file.
        name: of the executable.
        archs: the devices that it has code for; --offload-arch= among the options overrules it.
        options: of hipcc: -O, -g, -std=, -D, -I, -W..., -f..., -l, --offload-arch=.
        first_line: the number of the source's first line in messages.
        file: what messages call the source; by default the file's name, or the program's with ".hip".
        output: where the executable goes; by default into gpulab's cache folder.

    Raises:
        CompileError: a compiler or the linker refused the source; the message shows the source's own lines.
        GpulabError: an option is not accepted, or programs cannot be built on this system.
    """
    hosted.require()
    asked = command_line.parse(options, archs)
    quoted: tuple[str, ...] = ()
    if isinstance(source, os.PathLike):
        path = Path(source).absolute()
        try:
            text = sources.read(path)
        except OSError as error:
            raise GpulabError(f"{source} cannot be read: {error.strerror}.") from error
        file = file or path.name
        quoted = (str(path.parent),)
    else:
        text = str(source)
    text = sources.normal(text)
    seen = sources.shown(text)
    own = sources.headers(text, "".join(quoted), (), asked.include) if quoted or asked.include else sources.Headers()
    file = file or f"{name}.hip"
    if not re.fullmatch(r"[\w.+-]{1,100}", name) or name.startswith((".", "-")):
        raise GpulabError(f"{name!r} is no name for a program.", hint="use letters, digits, - and _.")
    libraries = hosting.libraries()
    folders = tuple(str(library.headers) for library in libraries if library.headers is not None)
    if own.complete and not own.files:
        quoted = ()  # nothing is read there
    setting = replace(hosted.setting(), user=asked.include, quoted=quoted, more=folders, own=own)
    chosen = [one for one in libraries if one.always or one.name in asked.libraries]
    called = calls(setting.triple.split("-")[0], chosen)
    keeps = own.complete  # else headers that gpulab does not know of may have changed since
    key = cache.key(
        _FORMAT, text, file, name, str(first_line), json.dumps([asked.archs, asked.common, asked.host]), setting.key(),
        compiler.version(), sys.executable, HOME, cache.sources_hash(hosted.INCLUDE), bundles.code_hash(),
        called,
    )  # fmt: skip
    target = Path(output).absolute() if output is not None else cache.own_folder() / "programs" / key[:2] / key / name
    notes = target.with_name("messages.json") if output is None else None
    view = diagnostics.Source(seen, file, first_line, program=True)
    if keeps and notes is not None and target.exists() and notes.exists():
        kept = [str(said) for said in json.loads(notes.read_text(encoding="utf-8"))]
        os.utime(target.parent)
        return HostProgram(target, seen, name, asked.archs, _worded(kept, view))
    others = [one for one in libraries if one not in chosen]
    messages = _make(text, view, asked, setting, called, others, target, keeps)
    program = HostProgram(target, seen, name, asked.archs, _worded(messages, view))
    if notes is not None:
        notes.write_text(json.dumps(messages), encoding="utf-8")
        if cache.is_due(key, sum(file.stat().st_size for file in target.parent.iterdir()), _LIMIT):
            _prune(cache.own_folder() / "programs", keep=target.parent)
    return program


def prepare(only_first: bool = False) -> None:
    """Build a small program, and with it what the first program on a machine waits for: headers and libraries.

    Args:
        only_first: nothing is done where a program was built before, or where none can be built.
    """
    if not only_first or not (hosted.unavailable() or hosted.is_ready()):
        build(_SMALL, name="first")


def _make(
    text: str,
    view: diagnostics.Source,
    asked: command_line.Options,
    setting: hosted.Hosted,
    called: str,
    others: Sequence[hosted.LinkedLibrary],
    target: Path,
    keeps: bool,
) -> list[str]:
    """Compile, link, write the file; what the compiler said in each pass."""
    file, first_line = view.name, view.first_line

    def device(arch: str) -> code_object.CodeObject | CompileError:
        try:
            return kernels.compile(
                text, arch=arch, options=asked.common, name=file, first_line=first_line, limits=LIMITS,
                use_cache=keeps, program=setting,
            )  # fmt: skip
        except CompileError as error:
            return error

    with (
        tempfile.TemporaryDirectory(prefix="gpulab-") as scratch,
        linkable(text, setting),
        cores.beside(len(asked.archs) + 1) as beside,
    ):
        passes = [beside.submit(device, arch) for arch in asked.archs]
        prepared = beside.submit(own_objects, setting, called)
        code, outcome = hosted.compile_object(
            text, file, first_line, setting, asked.archs[0], (*asked.common, *asked.host), Path(scratch), LIMITS
        )  # fmt: skip
        devices = [each.result() for each in passes]
    said = diagnostics.parse(outcome.log, view)
    failed = [each for each in devices if isinstance(each, CompileError)]
    if not code or failed:
        errors = diagnostics.once([*said, *(item for error in failed for item in error.diagnostics)])
        log = "\n".join([outcome.log, *(error.log for error in failed)])
        if any(item.severity == "error" for item in errors):
            raise diagnostics.compile_error(errors, file, log)
        raise failed[0] if failed else compiler.explain_death(outcome.code, "the host compiler")
    objects = [each for each in devices if not isinstance(each, CompileError)]
    if not re.search(r"\bmain\s*\(", text):
        raise CompileError(
            f"{file} has no main().",
            why="a program starts there: int main() { ... } copies data, launches kernels and checks the result.",
            hint="for kernels alone use %%hip, and launch them from Python.",
        )
    files = {"program.o": code, **prepared.result()}
    files |= {f"{name}.o": runtimes.compiled(name, setting) for name in asked.own}
    symbol = units.FAT_BINARY.search(code)
    if symbol is not None:
        fat = bundles.bundle((each.arch, each.elf) for each in objects)
        files["fat.o"] = hosted.assemble_fat_binary([symbol[0].decode()], fat, setting)
    hosted.link(files, setting, ENTRY, target, view, LIMITS, asked.debug, others)
    return [outcome.log, *(each.messages for each in objects)]


def own_objects(setting: hosted.Hosted, called: str, shared: bool = False) -> dict[str, bytes]:
    """gpulab's own object files of a program, or of a shared library.

    Args:
        called: the functions of libraries (`calls`).
    """
    return {
        "launcher.o": _launcher(setting, shared),
        "calls.o": hosted.assemble(called, setting),
        "places.o": hosted.assemble(_places(), setting),
    }


def _launcher(setting: hosted.Hosted, shared: bool = False) -> bytes:
    loader = {"GPULAB_INTERPRETER": f'"{hosted.interpreter()}"', **({"GPULAB_SHARED": "1"} if shared else {})}
    return hosted.compile_launcher(LAUNCHER, loader, setting)


@contextlib.contextmanager
def linkable(text: str, setting: hosted.Hosted, shared: bool = False) -> Iterator[None]:
    """Beside the block, what is built once for programs and is not there yet is built: what a program with this text is
    linked with, and what it runs on, if that is the virtual GPU. On one core each is built where it is needed.

    What fails is tried again there, and told: mistakes in the source come first.
    """
    library = setting.cxx_library()
    absent = library.absent(text)
    if cores.usable() == 1 or (hosted.is_ready() and not absent):
        yield
        return
    for part in absent:  # here: a notebook shows what the cell's own thread says
        cxx_library.tell(part.title)
    if not hosted.is_ready() and not any(map(os.path.exists, _DRIVERS)):
        hosting.begin()
    with ThreadPoolExecutor(2) as pool:
        begun: list[Future[object]] = [pool.submit(library.require, absent), pool.submit(hosted.libraries)]
        begun.append(pool.submit(_launcher, setting, shared))
        yield
        for each in begun:
            with contextlib.suppress(GpulabError):
                each.result()


def _worded(messages: Iterable[str], view: diagnostics.Source) -> tuple[Diagnostic, ...]:
    """What the compiler said, worded as messages are today."""
    return diagnostics.once(item for said in messages for item in diagnostics.parse(said, view))


def calls(machine: str, libraries: Sequence[hosted.LinkedLibrary]) -> str:
    """The assembly text of the libraries' functions: each jumps to the address that the launcher has put into a table.

    Before that, and where a library lacks a function, the address is that of a function which returns the library's
    own answer to that. Layouts: gpulab_library and gpulab_call in launcher.cpp.
    """
    arm = machine == "aarch64"
    text = []
    answers: dict[int | str, str] = {}
    for library in libraries:
        for name, answer in library.functions.items():
            answers.setdefault(answer, f".Lmissing_{len(answers)}")
            text.append(f'.section .text.{name},"ax",%progbits\n.globl {name}\n.hidden {name}\n.type {name},%function')
            if arm:
                text.append(f"{name}: adrp x16, .Lcall_{name}\nldr x16, [x16, :lo12:.Lcall_{name}]\nbr x16")
            else:
                text.append(f"{name}: jmp *.Lcall_{name}(%rip)")
    text.append('.section .text.gpulab_missing,"ax",%progbits')
    for answer, label in answers.items():
        if isinstance(answer, str):
            load = "adrp x0, .Lnothing\nadd x0, x0, :lo12:.Lnothing" if arm else "leaq .Lnothing(%rip), %rax"
        else:
            load = f"ldr x0, ={answer}" if arm else f"movq ${answer}, %rax"
        text.append(f"{label}: {load}\nret")
    text.append('.section .data.rel.gpulab,"aw",%progbits\n.p2align 3')
    text.append(".globl gpulab_libraries\n.hidden gpulab_libraries\ngpulab_libraries:")
    text += [f".quad .Lfile_{one.name}, {one.major}, .Lcalls_{one.name}" for one in libraries]
    text.append(".quad 0, 0, 0")
    for library in libraries:
        text.append(f".Lcalls_{library.name}:")
        for name, answer in library.functions.items():
            text.append(f".quad .Lname_{name}\n.Lcall_{name}: .quad {answers[answer]}")
        text.append(".quad 0, 0")
    text.append('.section .rodata.gpulab,"a",%progbits\n.Lnothing: .asciz ""')
    for library in libraries:
        text.append(f'.Lfile_{library.name}: .asciz "{library.file}"')
        text += [f'.Lname_{name}: .asciz "{name}"' for name in library.functions]
    text.append('.section .note.GNU-stack,"",%progbits\n')
    return "\n".join(text)


def _places() -> str:
    """The assembly text of what a program knows of the environment that built it."""

    def text(symbol: str, value: str) -> str:
        raw = ", ".join(str(byte) for byte in (*value.encode(), 0))
        return f".globl {symbol}\n.hidden {symbol}\n{symbol}: .byte {raw}\n"

    both = text("gpulab_python", sys.executable) + text("gpulab_home", HOME)
    return f'.section .rodata.places,"a",%progbits\n{both}.section .note.GNU-stack,"",%progbits\n'


def _prune(folder: Path, keep: Path) -> None:
    """Remove the programs used longest ago until the rest fits."""
    import shutil

    entries = []
    for place in folder.glob("*/*"):
        with contextlib.suppress(OSError):
            entries.append((place.stat().st_mtime, sum(file.stat().st_size for file in place.iterdir()), place))
    total = sum(size for _, size, _ in entries)
    for _, size, place in sorted(entries):
        if total <= _LIMIT:
            break
        if place != keep:
            shutil.rmtree(place, ignore_errors=True)
            total -= size
