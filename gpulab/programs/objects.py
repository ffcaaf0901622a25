"""The link step of hipcc's command: object files, archives and libraries become a program or a shared library.

`link` adds gpulab's own parts, finds what -l names, links device code where objects have bitcode (-fgpu-rdc), and words
what the linker says. `archive` is --emit-static-lib.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpulab.errors import CompileError, GpulabError
from gpulab.programs import building, bundles, options, runtimes
from gpulab.programs.arguments import Command, Input
from gpulab.providers.virtual import hosting
from gpulab.records import Diagnostic
from gpulab.toolchain import compiler, diagnostics, hosted, linking

LIMITS = compiler.Limits(seconds=1800)
_SYMBOL = rb"(?<=\0)__hip_%s(?:_[0-9a-f]{1,16})?(?=\0)"
_FAT_BINARIES, _HANDLES = (re.compile(_SYMBOL % name) for name in (b"fatbin", b"gpubin_handle"))
#: The linker's options with a file or folder behind them.
_FOLDER_WORDS = ("-rpath-link", "--rpath-link")
_FILE_WORDS = ("-T", "--version-script", "--dynamic-list", "-Map", "--retain-symbols-file")
_GNU_CXX = re.compile(r"std::__cxx11::|std::__throw_\w+\(char const\*\)|std::ios_base::Init|std::cout\b|std::endl<")
#: What other libraries' functions begin with, and what brings them.
_BEGINNINGS = (
    (re.compile(r"(omp_|__kmpc_|GOMP_)"), "it is one of OpenMP's: add -fopenmp to this command, too."),
    (re.compile(r"MPI_[A-Z]"), "it is one of MPI's: add -lmpi, or use mpicc and mpicxx of `gpulab env`."),
    (re.compile(r"roctx[A-Z]"), "it is one of ROCTX's: add -lroctx64."),
    (re.compile(r"(cuda[A-Z]|cu[A-Z][a-z]\w+|__cuda)"), "it is CUDA's: `gpulab hipify` translates the source to HIP."),
)


@dataclass(frozen=True)
class Found:
    """What -l and the other words of a link mean: words for the linker, libraries that come through gpulab, files with
    objects, and gpulab's own host libraries (`runtimes`)."""

    words: tuple[str, ...]
    libraries: tuple[str, ...]
    files: tuple[str, ...]
    own: tuple[str, ...] = ()


def resolved(command: Command, made: Mapping[Input, str]) -> Found:
    """Find the files of a link.

    Args:
        made: the object file of each source.

    Raises:
        GpulabError: there is no such file or library; the message says where it was looked for.
    """
    words: list[str] = [f"-L{folder}" for folder in command.search]
    libraries: list[str] = []
    files: list[str] = []
    own = [runtimes.OPENMP] if command.openmp else []
    static = False
    queue = list(command.items)
    while queue:
        item = queue.pop(0)
        if isinstance(item, Input) and (name := _rocm_library(item.path)):
            queue.insert(0, f"-l{name}")
        elif isinstance(item, Input):
            path = made.get(item) or os.path.abspath(item.path)
            if not os.path.exists(path):
                raise GpulabError(f"{item.path} cannot be read: No such file or directory.")
            words.append(path)
            files.append(path)
        elif item in ("-Bstatic", "-Bdynamic", "-dn", "-dy"):
            static = item in ("-Bstatic", "-dn")
            words.append(item)
        elif item.startswith("-l"):
            path = _library_file(item[2:], command.search, static)
            if not path and runtimes.of_library(item[2:]):
                own.append(runtimes.of_library(item[2:]))
            elif not path:
                libraries += options.library(item, command.search)
            elif path.endswith(".a"):
                words.append(path)
                files.append(path)
            else:
                words.append(item)
        elif item in _FOLDER_WORDS and queue:
            queue.pop(0)  # lld looks for no libraries of libraries
        elif item in _FILE_WORDS and queue:
            words += [item, os.path.abspath(str(queue.pop(0)))]
        elif item.startswith(tuple(f"{one}=" for one in _FILE_WORDS)):
            name, _, path = item.partition("=")
            words.append(f"{name}={os.path.abspath(path)}")
        elif item.startswith(("--rpath-link=", "-rpath-link=")) or item in ("--no-relax", "-pie", "-no-pie", "-no_pie"):
            pass
        else:
            words.append(item)
    return Found(tuple(words), tuple(dict.fromkeys(libraries)), tuple(files), tuple(dict.fromkeys(own)))


def _library_file(name: str, search: Sequence[str], static: bool) -> str:
    """The file of -lNAME in the folders of -L, or ""."""
    endings = (f"lib{name}.a",) if static else (f"lib{name}.so", f"lib{name}.a")
    if name.startswith(":"):
        endings = (name[1:],)
    paths = (os.path.join(folder, ending) for folder in search if not _is_rocm(folder) for ending in endings)
    return next(filter(os.path.isfile, paths), "")


def _rocm_library(path: str) -> str:
    """NAME of a file libNAME.so in the folder of a ROCm's libraries, as CMake's find_library gives it; or ""."""
    match = re.fullmatch(r"lib(.+)\.so(\.[\d.]+)?", os.path.basename(path))
    return match[1] if match and _is_rocm(os.path.dirname(path)) else ""


def _is_rocm(folder: str) -> bool:
    """Whether it is the folder of a ROCm's libraries, whose functions come through gpulab's tables."""
    return any(os.path.exists(os.path.join(folder, name)) for name in ("libamdhip64.so", "libamdhip64.dylib"))


def link(command: Command, made: Mapping[Input, str], target: Path) -> str:
    """Link what a command names and put it at `target`; what is to be told of it, or "".

    Raises:
        CompileError: the linker refused it.
        GpulabError: a file or library is not there.
    """
    found = resolved(command, made)
    setting = hosted.setting()
    libraries = hosting.libraries()
    chosen = [one for one in libraries if one.always or one.name in found.libraries]
    others = [one for one in libraries if one not in chosen]
    shared = command.kind == "shared"
    with building.linkable("", setting, shared):
        pass
    own = building.own_objects(setting, building.calls(setting.triple.split("-")[0], chosen), shared)
    own |= {f"{name}.o": runtimes.compiled(name, setting) for name in found.own}
    own |= _device_code(found.files, command, setting)
    words = _with_name(found.words, target.name) if shared else found.words
    linkage = hosted.Linkage(words, shared, command.debug, _written(words))
    outcome = hosted.linked(own, setting, building.ENTRY, target, LIMITS, linkage)
    if outcome.code != 0:
        raise _refused(outcome, target.name, others)
    return "\n".join(line for line in outcome.log.splitlines() if "warning:" in line)


def _with_name(words: Sequence[str], name: str) -> tuple[str, ...]:
    """A library's own name, by which programs find it again wherever it is: as linked, or as -soname says."""
    named = any(word in ("-soname", "-h", "--soname") or word.startswith(("-soname=", "--soname=")) for word in words)
    return tuple(words) if named else ("-soname", name, *words)


def _written(words: Sequence[str]) -> tuple[str, ...]:
    """Folders that the linker's options have it write in."""
    maps = [word.partition("=")[2] for word in words if word.startswith(("-Map=", "--Map="))]
    maps += [words[at + 1] for at, word in enumerate(words[:-1]) if word in ("-Map", "--Map")]
    return tuple(os.path.dirname(path) for path in maps)


def _device_code(files: Sequence[str], command: Command, setting: hosted.Hosted) -> dict[str, bytes]:
    """The object file with the linked device code of all files that have bitcode; none if no file has."""
    collected: dict[str, list[bytes]] = {}
    symbols: dict[str, None] = {}
    handles: dict[str, None] = {}
    for file in dict.fromkeys(files):
        raw = Path(file).read_bytes()
        if bundles.UNIT_SECTION.encode() not in raw:
            continue
        for arch, pieces in bundles.units_of(raw).items():
            kept = collected.setdefault(arch, [])
            kept += [piece for piece in pieces if piece not in kept]
        symbols.update(dict.fromkeys(name.decode() for name in _FAT_BINARIES.findall(raw)))
        handles.update(dict.fromkeys(name.decode() for name in _HANDLES.findall(raw)))
    if not collected or not symbols:
        return {}
    missing = [arch for arch in command.archs if arch not in collected and command.archs != options.DEFAULT_ARCHS]
    if missing:
        raise GpulabError(
            f"no object has device code for {', '.join(missing)}.",
            why=f"they were compiled with -fgpu-rdc for {', '.join(collected)}.",
            hint="give the same --offload-arch= to all commands.",
        )
    linked = [(arch, linking.link(pieces, arch, "linked program", program=True)) for arch, pieces in collected.items()]
    fat = bundles.bundle((arch, code.elf) for arch, code in linked)
    return {"linked-device.o": hosted.assemble_fat_binary(list(symbols), fat, setting, list(handles))}


def archive(files: Sequence[str], target: Path) -> None:
    """Put object files into a static library (--emit-static-lib).

    Raises:
        CompileError: the packaged `ar` refused them.
    """
    with tempfile.TemporaryDirectory(prefix="gpulab-") as scratch:
        made = Path(scratch, "made.a")
        outcome = compiler.run(["ar", "rcsD", str(made), *files], folder=scratch, limits=LIMITS, what="ar")
        if outcome.code != 0 or not made.exists():
            raise CompileError(f"{target.name} could not be made:\n{diagnostics.visible(outcome.log.strip())}")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(made.read_bytes())


# ---------------------------------------------------------------------------------------------- messages

_USED = re.compile(r"^>>> (?:(?:referenced by|defined (?:in|at)) |\s+)(?!-$)(.*)$")
_NEAR = re.compile(r"^>>> did you mean(?: to declare|:)(?: extern \"C\")? (.*?)(?: as extern \"C\"\?)?$")
_ERROR = re.compile(r"^ld\.lld: (error|warning): (.*)$")
_MOST_USES = 3


def _refused(
    outcome: compiler.Outcome, name: str, others: Sequence[hosted.LinkedLibrary]
) -> CompileError | GpulabError:
    found: list[Diagnostic] = []
    heads: list[tuple[str, str, list[str]]] = []
    nearest: dict[str, str] = {}
    for line in outcome.log.splitlines():
        if error := _ERROR.match(line):
            heads.append((error[1], error[2], []))
        elif heads and (near := _NEAR.match(line)):
            nearest[heads[-1][1]] = near[1]
        elif heads and heads[-1][1] not in nearest and (used := _USED.match(line)):
            heads[-1][2].append(_short(used[1]))
    for severity, message, uses in heads:
        if message.startswith("too many errors"):
            continue
        shown = [f"{severity}: {diagnostics.visible(_short(message))}"]
        shown += [f"    in {diagnostics.visible(use)}" for use in dict.fromkeys(uses[:_MOST_USES])]
        found.append(
            Diagnostic(severity, message, None, _advice(message, others, nearest.get(message, "")),
                       rendered="\n".join(shown))
        )  # fmt: skip
    if not any(item.severity == "error" for item in found):
        return compiler.explain_death(outcome.code, "the linker")
    explained = str(diagnostics.compile_error(found, name, outcome.log))
    return CompileError(explained.replace(" did not compile: ", " did not link: ", 1), diagnostics=tuple(found),
                        log=outcome.log)  # fmt: skip


def _short(message: str) -> str:
    """A message with the names of files in place of paths."""
    return re.sub(r"(?:/[^\s/:]+)+/([^\s/:]+)", r"\1", message)


def _advice(message: str, others: Sequence[hosted.LinkedLibrary], nearest: str) -> str:
    """What to do about one of the linker's errors. `nearest` is a symbol of almost the same name that is defined."""
    undefined = re.match(r"undefined (?:protected |hidden )?symbol: (.*)", message)
    if undefined is None:
        if message.startswith("duplicate symbol"):
            return ("two files define it: declare it in one (extern), or make it static. Functions in headers are "
                    "inline, kernels in headers static or templates.")  # fmt: skip
        if "recompile with -fPIC" in message:
            return ("this object was made by another compiler, for programs at a fixed address: compile it with "
                    "hipcc -c, or g++ in the environment of `gpulab env`, or add -fPIC.")  # fmt: skip
        if "unable to find library" in message or "cannot open" in message:
            return "name the folder that has it with -L."
        return ""
    symbol = undefined[1]
    if symbol == "main":
        return ("a program starts in main(), which none of the files has. For an object file say -c, for a library "
                "-shared or --emit-static-lib.")  # fmt: skip
    for one in others:
        if re.split(r"[(<]", symbol)[0] in one.functions:
            return f"it is a function of the library {one.name}: add -l{one.name}."
    for beginning, said in _BEGINNINGS:
        if beginning.match(symbol):
            return said
    if _GNU_CXX.search(symbol):
        return ("this object was made by g++, whose C++ library is another one: compile it with hipcc -c or "
                "amdclang++ -c (as g++ is in the environment of `gpulab env`).")  # fmt: skip
    if symbol.startswith("__device_stub__"):
        kernel = symbol.removeprefix("__device_stub__").split("(")[0]
        return (f"no file defines the kernel {kernel} with these parameters. If it is a template, the file that "
                "defines it has to name the instances that others launch.")  # fmt: skip
    if symbol.startswith("__hip_"):
        return "link this object with hipcc; objects of -fgpu-rdc cannot be joined with ld -r."
    if nearest and re.split(r"[(]", nearest)[0] == re.split(r"[(]", symbol)[0]:
        return (f"{nearest} is defined: declare it the same in both files, with the same parameters, and with "
                'extern "C" in both or in none.')  # fmt: skip
    if nearest:
        return f"no file that was named defines it. Did you mean {nearest}?"
    return "no file that was named defines it: is an object file or -l missing?"
