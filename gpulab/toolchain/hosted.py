"""Whole programs for this machine: the C++ library's headers, and how Clang and the linker are called for them.

`setting()` gives a `Hosted`: target, headers and definitions that both passes over a program (for the host, for a
device) share. `compile_object` is the host's pass, `compile_launcher` and `assemble` make gpulab's own parts, `link`
puts the file together, with the C++ library (`cxx_library`).
"""

from __future__ import annotations

import functools
import itertools
import json
import os
import platform
import re
import shlex
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from gpulab.errors import CompileError, GpulabError
from gpulab.records import Diagnostic
from gpulab.toolchain import c_header, cache, compiler, cxx_library, diagnostics, precompiled, sources
from gpulab.toolchain.cxx_library import CxxLibrary
from gpulab.toolchain.host import OF_RUNTIME, WITHOUT_RUNTIME, put

INCLUDE = Path(__file__).parent / "include"
GLIBC = "2.28"  # programs run with this version of the C library and later ones
#: Clang 22 takes an index like (x - i + 64) % 64 for one that only grows, and loads several elements from beyond the
#: array (LLVM's issue 191382 has such a store). AMD's targets vectorise no such loops.
_SCALAR_LOOPS = "-fno-vectorize"
_LEVEL = "-O2"

#: As with ROCm's compiler, a program has these before its first line: __device__ may stand above the #include.
_KEYWORDS = ("host", "device", "global", "shared", "constant", "managed")
#: So it has names of the C++ library: its own headers may use them above HIP's.
_STANDARD = "gpulab/host/standard.h"
_FORMAT = "6"
_STORE = cache.Store("hosted", 64 << 20)
_EXECUTION = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<execution>", re.MULTILINE)
_CXX_HEADERS = re.compile(r"[/\\]libcxx(abi)?[/\\]")
#: The machine's name for Clang, and the program that starts its programs.
_MACHINES = {
    "x86_64": ("x86_64", "/lib64/ld-linux-x86-64.so.2"),
    "AMD64": ("x86_64", "/lib64/ld-linux-x86-64.so.2"),
    "aarch64": ("aarch64", "/lib/ld-linux-aarch64.so.1"),
    "arm64": ("aarch64", "/lib/ld-linux-aarch64.so.1"),
}


@dataclass(frozen=True)
class LinkedLibrary:
    """A library whose functions programs call by way of a table of addresses, filled when a program starts.

    Attributes:
        name: what follows -l; between "lib" and ".so" in its file's name.
        major: of the version behind the file's name.
        always: every program has it, without -l.
        headers: the folder with its headers, if gpulab's own folder has them not.
        functions: what each returns where the library does not have it: a number, or a text.
    """

    name: str
    major: int
    always: bool
    headers: Path | None
    functions: Mapping[str, int | str]

    @property
    def file(self) -> str:
        return f"lib{self.name}.so"


_LIBRARY = re.compile(r"\.(a|so(\.\d+)*)\Z")
_C_LIBRARY = (*WITHOUT_RUNTIME, "-lunwind")
_RUNTIME = "libcompiler_rt.a"


@dataclass(frozen=True)
class Hosted:
    """What both passes over a whole program share.

    `triple` is the host's for Clang; `folders` are the host's header folders; `definitions` the macros that fit them.
    `user` are folders of the learner's own headers, `quoted` those for
    ``#include "..."`` alone, `own` what the source can read there; `more` are folders of libraries' headers. `unit` is
    the mark of one source of several: names of what is one source's own, but known on both sides, end in its hash
    (without a mark in nothing).
    """

    triple: str
    folders: tuple[str, ...]
    definitions: tuple[str, ...]
    user: tuple[str, ...] = ()
    quoted: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    own: sources.Headers = field(default_factory=sources.Headers)
    unit: str = "gpulab"

    def arguments(self, language: str = "hip") -> tuple[str, ...]:
        """Options of Clang that all passes over a source have in common.

        Args:
            language: "hip", or what the host alone compiles: "c++", "c", "assembler-with-cpp". C++ is read as HIP in
                which nothing says so, since the headers of HIP's calls are for HIP.
        """
        hip = language in ("hip", "c++")
        found = [f"--target={self.triple}", "-x", "hip" if hip else language, "-nostdinc"]
        found += ["-D__GPULAB_PROGRAM__", "-D__HIP_PLATFORM_AMD__=1", *(f"-D{one}" for one in self.definitions)]
        if language == "c++":
            found += ["-D__GPULAB_PLAIN__", "-U__HIP__", "-U__HIPCC__"]
        if hip:
            found += ["-nogpulib", "-nogpuinc", f"-cuid={self.unit}" if self.unit else "-fuse-cuid=none"]
            found += [f"-D__{one}__=__attribute__(({one}))" for one in _KEYWORDS]
        if language == "hip":
            found += ["-include", _STANDARD]
        for folder in self.quoted:
            found += ["-iquote", folder]
        for folder in self.user:
            found += ["-I", folder]
        found += ["-isystem", "/gpulab/include" if hip else "/gpulab/c"]
        found += ["-isystem", "/gpulab/include/gpulab/host/library"]
        for index in range(len(self.more)):
            found += ["-isystem", f"/gpulab/system/library{index}"]
        for index, folder in enumerate(self.folders):
            if hip or not _CXX_HEADERS.search(folder):  # C knows nothing of the C++ library's headers
                found += ["-isystem", f"/gpulab/system/{index}"]
        return tuple(found)

    def cxx_library(self) -> CxxLibrary:
        return CxxLibrary(self.triple, self.folders, self.definitions)

    def shared(self) -> Hosted | None:
        """The setting for headers in ``<...>`` that other programs can share, precompiled: none of them is found in the
        learner's own folders. None if they could be."""
        if self.user and self._hidden():
            return None
        return replace(self, user=(), quoted=(), own=sources.Headers(), unit="gpulab")

    def _hidden(self) -> bool:
        """Whether a folder of the learner's has something of the name of a header that Clang would find elsewhere."""
        system: set[str] = set()
        for folder in (*self.folders, *self.more, str(INCLUDE), str(INCLUDE / "gpulab" / "host" / "library")):
            system |= _entries(folder)
        return any(not system.isdisjoint(_entries(folder)) for folder in self.user)

    def roots(self) -> list[dict[str, Any]]:
        """The folders of the virtual file system that Clang sees."""
        # Not INCLUDE itself: the C++ library has its own <algorithm> and the like.
        places = [(f"/gpulab/include/{one.name}", str(one)) for one in sorted(INCLUDE.iterdir()) if one.is_dir()]
        places += [(f"/gpulab/system/{index}", folder) for index, folder in enumerate(self.folders)]
        places += [(f"/gpulab/system/library{index}", folder) for index, folder in enumerate(self.more)]
        if not self.own.complete:  # a macro names a header: all of the folders, without those that hold everything
            own = dict.fromkeys((*self.user, *self.quoted))
            places += [(folder, folder) for folder in own if os.path.dirname(folder) != folder]
        folders: list[dict[str, Any]] = [
            {"type": "directory-remap", "name": name, "external-contents": real} for name, real in places
        ]
        # Clang leaves out a folder that does not exist, also for names that lead out of it again
        named = (*self.user, *self.quoted) if self.own.complete else ()
        folders += [{"type": "directory", "name": one, "contents": []} for one in named if os.path.dirname(one) != one]
        inside = tuple(f"{name}{os.sep}" for name, _ in places)
        files = [path for path in self.own.files if not path.startswith(inside)]
        return [*folders, *({"type": "file", "name": path, "external-contents": path} for path in files)]

    def reads(self) -> tuple[str, ...]:
        """Files and folders that Clang reads for it."""
        own = self.own.files if self.own.complete else (*self.user, *self.quoted)
        return (*self.folders, *self.more, *own)

    def key(self) -> str:
        """For cache keys."""
        more = [cache.folder_hash(Path(folder)) for folder in self.more]
        return json.dumps(
            [_FORMAT, self.triple, self.definitions, self.user, self.quoted, more, self.own.digest, self.unit]
        )


def _entries(folder: str) -> set[str]:
    try:
        return set(os.listdir(folder))
    except OSError:
        return set()


def unavailable() -> str:
    """Why whole programs cannot be built or run on this system, or ""."""
    if not sys.platform.startswith("linux"):
        return f"whole programs (%%hipcc, gpulab hipcc) are made for Linux; this is {platform.system()}"
    if platform.machine() not in _MACHINES:
        return f"whole programs are made for x86-64 and arm64; this is {platform.machine()}"
    if not os.path.exists(_MACHINES[platform.machine()][1]):
        return "whole programs are made for systems with the GNU C library; this one has another"
    return ""


def require() -> None:
    """Raises:
    GpulabError: whole programs cannot be built on this system.
    """
    why = unavailable()
    if why:
        raise GpulabError(
            "whole HIP programs cannot be built here.",
            why=f"{why}.",
            hint="%%hip cells, with the host's part in Python, work on every system; on Windows, WSL is a Linux.",
        )


def interpreter() -> str:
    """The path that a program names as its loader."""
    return _MACHINES[platform.machine()][1]


def target() -> str:
    """This machine's programs, as the packaged compiler names them: x86_64-linux-gnu.2.28, for example."""
    return f"{_MACHINES.get(platform.machine(), (platform.machine(),))[0]}-linux-gnu.{GLIBC}"


def _setting_key() -> str:
    return cache.key(
        _FORMAT, "setting", target(), compiler.version(), str(compiler.package_folder()), str(cache.folder())
    )


@functools.cache
def setting() -> Hosted:
    """The headers of this machine's programs.

    Raises:
        GpulabError: not on this system.
        CompileError: the compiler did not say where they are.
    """
    require()
    key = _setting_key()
    kept = _STORE.get(key)
    if kept is not None:
        found = Hosted(**{name: _tuples(value) for name, value in json.loads(kept).items()})
        if all(os.path.exists(path) for path in found.folders):
            return found
    found = _discover(target())
    _STORE.put(key, json.dumps({name: value for name, value in asdict(found).items() if name != "own"}).encode())
    return found


def _tuples(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def is_ready() -> bool:
    """Whether the part of the C++ library is there that every program needs, so that the first one builds quickly."""
    kept = (_setting_key(), cache.key(_setting_key(), *_C_LIBRARY)) if not unavailable() else ()
    return bool(kept) and all(_STORE.path(key).exists() for key in kept) and bool(setting().cxx_library().archives())


def _discover(target: str) -> Hosted:
    """What ``zig c++`` does for a small source, read from what it says: it knows its own headers."""
    words = _said(target, "c++", "-c")
    pairs = list(itertools.pairwise(words))
    folders = tuple(value for option, value in pairs if option == "-isystem")
    # NDEBUG is the choice of zig's own default build, not of a learner's program.
    definitions = tuple(value for option, value in pairs if option == "-D" and value != "NDEBUG")
    triple = next(value for option, value in pairs if option == "-triple")
    return Hosted(triple, folders, definitions)


def libraries(*words: str) -> tuple[str, ...]:
    """The paths of the libraries that ``zig cc`` hands to its linker with these options, built if they are not there:
    by default the C library, without which nothing is linked.

    Raises:
        CompileError: the compiler could not build them.
    """
    words = words or _C_LIBRARY
    key = cache.key(_setting_key(), *words)
    kept = _STORE.get(key)
    if kept is not None:
        found = tuple(kept.decode().split("\0"))
        if all(os.path.exists(path) for path in found):
            return found
    cxx_library.tell("the C library" if words == _C_LIBRARY else "the compiler's runtime library")
    # C: for C++ zig would build the whole C++ library.
    found = tuple(word for word in _said(target(), "cc", "-shared", *words) if _LIBRARY.search(word))
    _STORE.put(key, "\0".join(found).encode())
    return found


def _said(target: str, language: str, *words: str) -> list[str]:
    """The words with which zig calls its compiler ("c++") or its linker ("cc") for a small source; paths are absolute.

    Raises:
        CompileError: zig could not build what it needs for that.
    """
    with tempfile.TemporaryDirectory(prefix="gpulab-") as scratch:
        folder = cache.tool_folder()
        path = Path(scratch, "source.cpp" if language == "c++" else "source.c")
        path.write_text("int hello(void) { return 1; }\n", encoding="utf-8")
        with cache.alone(folder):
            outcome = compiler.run(
                [language, "-target", target, "-fPIC", "-O1", "--verbose", str(path), *words, "-o",
                 str(Path(scratch, "made"))],
                folder=scratch,
                limits=compiler.Limits(seconds=900, memory_bytes=16 << 30, file_bytes=2 << 30, log_bytes=8 << 20),
                extra_environment={"ZIG_GLOBAL_CACHE_DIR": str(folder), "ZIG_LOCAL_CACHE_DIR": str(folder)},
                what="the host compiler, which builds its C library",
                read=compiler.SYSTEM,
                write=(str(folder),),
            )  # fmt: skip
        front = r'^ *"[^"\n]*" -cc1 .*source\.cpp$' if language == "c++" else r"^ld\.lld .* -o \S*/made .*$"
        found = re.search(front, outcome.log, re.MULTILINE)
        if outcome.code != 0 or found is None:
            raise CompileError(
                f"the C library for this machine could not be built:\n{outcome.log.strip()[-4000:]}",
                why=f"the compiler ended with code {outcome.code}.",
                hint=f"if the cache folder {folder} is damaged, delete it and try again.",
                log=outcome.log,
            )
        return [
            str(Path(scratch, word)) if _LIBRARY.search(word) and not os.path.isabs(word) else word
            for word in shlex.split(found[0])
        ]


def _overlay(hosted: Hosted, folder: Path) -> str:
    path = folder / "host-overlay.json"
    system = {
        "version": 0, "case-sensitive": True, "redirecting-with": "redirect-only", "overlay-relative": False,
        "use-external-names": False, "roots": [*hosted.roots(), precompiled.root(folder), *_c_header(folder)],
    }  # fmt: skip
    path.write_text(json.dumps(system), encoding="utf-8")
    return str(path)


def _c_header(folder: Path) -> list[dict[str, str]]:
    """HIP's host interface for C sources, as files of the virtual file system."""
    path = folder / "c-header.h"
    path.write_text(c_header.text(), encoding="utf-8")
    names = (f"/gpulab/c/hip/{name}" for name in c_header.NAMES)
    return [{"type": "file", "name": name, "external-contents": str(path)} for name in names]


#: How messages are written, for `diagnostics`.
MESSAGES = (
    "-fno-color-diagnostics", "-fno-caret-diagnostics", "-fdiagnostics-print-source-range-info",
    "-fno-crash-diagnostics", "-ferror-limit=20",
)  # fmt: skip
#: What warns of mistakes in a whole program.
WARNINGS = (
    "-Wall", "-Wno-unused-function", "-Wno-unused-const-variable", "-Wno-unknown-pragmas", "-Wno-undefined-internal",
    "-Wno-pass-failed", "-Wno-unused-command-line-argument", "-Wno-unused-but-set-variable", "-Wsource-uses-openmp",
    "-Wno-overriding-complex-range",  # of what gpulab asks for, by a program's -ffast-math
)  # fmt: skip


def parallel_algorithms(source: str) -> tuple[str, ...]:
    """Clang's option for a source that includes <execution>: the C++ library has its policies as an experiment."""
    return ("-fexperimental-library",) if _EXECUTION.search(source) else ()


def compile_object(
    source: str, name: str, first_line: int, hosted: Hosted, arch: str, options: Sequence[str], folder: Path,
    limits: compiler.Limits, language: str = "hip", action: Sequence[str] = ("-c",),
) -> tuple[bytes, compiler.Outcome]:  # fmt: skip
    """The host's pass over a program: the object file (empty if it failed) and what Clang said.

    Args:
        source: its text.
        name: what messages call it.
        first_line: the number of its first line in messages.
        arch: a device that the program has code for; the pass needs to know one.
        options: the learner's, checked.
        folder: where files go.
        language: see `Hosted.arguments`.
        action: what Clang makes in place of an object file, and what it writes beside it.
    """
    main, out, overlay = folder / "host.hip", folder / "host.o", _overlay(hosted, folder)
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    main.write_bytes(sources.encoded(f'#line {first_line} "{quoted}"\n{source}'))

    def run(options: Sequence[str], more: Sequence[str], given: Path) -> compiler.Outcome:
        words = ("clang", "--driver-mode=g++", *hosted.arguments(language), *fixed(options), overlay, *more)
        return compiler.run(
            words, folder=folder, limits=limits, stdin=given, what="the host compiler", read=hosted.reads()
        )

    def fixed(options: Sequence[str]) -> tuple[str, ...]:
        return (
            *(("--cuda-host-only", f"--offload-arch={arch}") if language in ("hip", "c++") else ()),
            "-Xclang", "-fdebug-compilation-dir=/gpulab", "-fPIC", _LEVEL, _SCALAR_LOOPS, *WARNINGS,
            *(parallel_algorithms(source) if language in ("hip", "c++") else ()), *options, *MESSAGES,
            "-Xclang", "-ivfsoverlay", "-Xclang",
        )  # fmt: skip

    headers: tuple[str, ...] = ()
    shared, seen = hosted.shared(), precompiled.seen(options, _LEVEL)
    if shared is not None and language == "hip" and action == ("-c",) and "-include" not in options:
        parts = (cache.sources_hash(INCLUDE), shared.key(), *shared.arguments(), *fixed(seen))
        headers = precompiled.program(source, folder, parts, functools.partial(run, seen))
    outcome = run(options, (*headers, *action, "-o", str(out), "-"), main)
    return (out.read_bytes() if outcome.code == 0 and out.exists() else b""), outcome


def compile_launcher(source: Path, definitions: Mapping[str, str], hosted: Hosted) -> bytes:
    """One of gpulab's own C++ parts of programs; kept in the cache."""
    text = source.read_text(encoding="utf-8")
    own = INCLUDE / "gpulab" / "host" / "library"
    key = cache.key(
        _FORMAT, "launcher", text, json.dumps(dict(definitions)), hosted.triple, compiler.version(),
        cache.folder_hash(own),
    )  # fmt: skip
    kept = _STORE.get(key)
    if kept is not None:
        return kept
    arguments = [f"--target={hosted.triple}", "-nostdinc", *(f"-D{one}" for one in hosted.definitions)]
    for folder in (str(own), *hosted.folders):
        arguments += ["-isystem", folder]
    arguments += [f"-D{name}={value}" for name, value in definitions.items()]
    made = _unit(["--driver-mode=g++", *arguments, "-fPIC", "-O2", "-x", "c++"], text, source.name)
    _STORE.put(key, made)
    return made


def assemble(text: str, hosted: Hosted) -> bytes:
    """The object file of an assembly text for this machine; kept in the cache."""
    key = cache.key(_FORMAT, "assembly", text, hosted.triple, compiler.version())
    kept = _STORE.get(key)
    if kept is None:
        kept = _unit([f"--target={hosted.triple}", "-x", "assembler"], text, "text.s")
        _STORE.put(key, kept)
    return kept


def _unit(arguments: Sequence[str], text: str, name: str, read: Sequence[str] = ()) -> bytes:
    with tempfile.TemporaryDirectory(prefix="gpulab-") as scratch:
        source, out = Path(scratch, name), Path(scratch, "out.o")
        source.write_text(text, encoding="utf-8", newline="\n")
        outcome = compiler.run(["clang", *arguments, "-c", str(source), "-o", str(out)], folder=scratch, read=read)
        if outcome.code != 0 or not out.exists():
            raise CompileError(f"gpulab's own {name} did not compile:\n{outcome.log.strip()}", log=outcome.log)
        return out.read_bytes()


@dataclass(frozen=True)
class Linkage:
    """What a link step makes, beside the objects that are given to it.

    `words` are the linker's: files, libraries and options, in their order; `shared` asks for a library without an
    entry, `debug` for debug information; `write` are folders that the linker may write.
    """

    words: tuple[str, ...] = ()
    shared: bool = False
    debug: bool = False
    write: tuple[str, ...] = ()


def link(
    objects: Mapping[str, bytes], hosted: Hosted, entry: str, target: Path, source: diagnostics.Source,
    limits: compiler.Limits, debug: bool = False, elsewhere: Sequence[LinkedLibrary] = (),
) -> None:  # fmt: skip
    """Link a program of one source and put it at `target` in one step.

    Args:
        objects: object files by the name that messages give them.
        entry: the symbol where it starts.
        source: for messages about symbols that are not defined.
        debug: keep debug information.
        elsewhere: libraries that are not linked, for messages about their functions.

    Raises:
        CompileError: a symbol is missing; the message shows where the source uses it.
    """
    outcome = linked(objects, hosted, entry, target, limits, Linkage(debug=debug))
    if outcome.code != 0:
        found = _advised(diagnostics.parse_linker(outcome.log, source), elsewhere)
        if found:
            raise diagnostics.compile_error(found, source.name, outcome.log)
        raise compiler.explain_death(outcome.code, "the linker")


def linked(
    objects: Mapping[str, bytes], hosted: Hosted, entry: str, target: Path, limits: compiler.Limits, more: Linkage,
) -> compiler.Outcome:  # fmt: skip
    """Link object files to a program or a library, and put it at `target` if that succeeds; what the linker said.

    A program finds its own symbols first. In a library those of the program that loads it come first, as C++ wants it
    of what several files define (types of exceptions, static members of templates).
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    start = [] if more.shared else ["-e", entry, "-Bsymbolic"]
    # Other archives export what they define; the C++ library's are hidden already, but for the names of types.
    system = libraries()
    runtime: tuple[str, ...] | None = None
    own = ":".join((*(os.path.basename(path) for path in system), _RUNTIME))
    library = hosted.cxx_library()
    library.require()
    with tempfile.TemporaryDirectory(prefix="gpulab-") as scratch:
        files = [str(path) for path in _written(objects, Path(scratch))]
        made = Path(scratch, "made")

        def run(*options: str) -> compiler.Outcome:
            return compiler.run(
                ["ld.lld", "-shared", "-o", str(made), *start, "--no-undefined", "--gc-sections", "--eh-frame-hdr",
                 "--exclude-libs", own, "-z", "now", "--build-id=none", "--color-diagnostics=never", *options,
                 *([] if more.debug else ["--strip-debug"]), *files, *more.words, "--as-needed",
                 *library.archives(), *system, *(runtime or ())],
                folder=scratch, limits=limits, what="the linker", write=more.write,
            )  # fmt: skip

        outcome = run()
        while outcome.code != 0:
            log = run("--no-demangle").log
            if OF_RUNTIME.search(log) and runtime is None:  # few programs need it, and building it takes seconds
                runtime = tuple(path for path in libraries("-lunwind") if path.endswith(_RUNTIME))
            elif not library.extend(cxx_library.lacking(log)):
                break
            outcome = run()
        if outcome.code == 0 and not made.exists():
            return replace(outcome, code=1)
        if outcome.code == 0:
            put(made, target)
        return outcome


def join(objects: Mapping[str, bytes], hosted: Hosted, limits: compiler.Limits, words: Sequence[str] = ()) -> bytes:
    """Object files as one that can be linked further. `words` are more of the linker's, such as files."""
    with tempfile.TemporaryDirectory(prefix="gpulab-") as scratch:
        files = [str(path) for path in _written(objects, Path(scratch))]
        made = Path(scratch, "made.o")
        outcome = compiler.run(
            ["ld.lld", "-r", "-o", str(made), "--color-diagnostics=never", *files, *words],
            folder=scratch, limits=limits, what="the linker",
        )  # fmt: skip
        if outcome.code != 0 or not made.exists():
            raise CompileError(f"the object files do not join:\n{diagnostics.visible(outcome.log.strip()[:2000])}")
        return made.read_bytes()


def _written(objects: Mapping[str, bytes], folder: Path) -> list[Path]:
    for name, contents in objects.items():
        Path(folder, name).write_bytes(contents)
    return [Path(folder, name) for name in objects]


def _advised(found: Sequence[Diagnostic], elsewhere: Sequence[LinkedLibrary]) -> tuple[Diagnostic, ...]:
    """The linker's messages; of a symbol that a library has which was not linked, with what to do about it."""
    advised = []
    for item in found:
        symbol = re.search(r"undefined symbol: (\w+)", item.message)
        names = [one.name for one in elsewhere if symbol is not None and symbol[1] in one.functions]
        if names and symbol is not None:
            item = replace(item, advice=f"{symbol[1]} is a function of the library {names[0]}: add -l{names[0]}.")
        advised.append(item)
    return tuple(advised)


def assemble_fat_binary(
    symbols: Sequence[str], contents: bytes, hosted: Hosted, handles: Sequence[str] = (), weak: bool = False
) -> bytes:
    """An object file that holds an offload bundle at a page's start, in the section where HIP looks for it.

    Args:
        symbols: by which sources know it. Several, if their device code was linked; then they share the variables
            `handles`, in which the first of them notes that the bundle is registered.
        weak: another object's bundle of this name takes the place of this one.
    """
    globl = ".weak" if weak else ".globl"
    text = ['.section .hip_fatbin,"a",%progbits\n.p2align 12']
    text += [f"{globl} {one}\n.hidden {one}\n{one}:" for one in symbols]
    text.append('.incbin "contents0"')
    if handles:
        text.append('.section .bss.gpulab_handle,"aw",%nobits\n.p2align 3')
        text += [f".globl {one}\n.hidden {one}\n{one}:" for one in handles]
        text.append(".quad 0")
    return _unit_with("\n".join(text), [contents], hosted)


def assemble_files(sections: Sequence[tuple[str, bytes]], hosted: Hosted) -> bytes:
    """An object file with these sections, which a linker leaves out of programs and libraries."""
    text = [f'.section "{name}","e",%progbits\n.incbin "contents{n}"' for n, (name, _) in enumerate(sections)]
    return _unit_with("\n".join(text), [contents for _, contents in sections], hosted)


def _unit_with(text: str, files: Sequence[bytes], hosted: Hosted) -> bytes:
    with tempfile.TemporaryDirectory(prefix="gpulab-") as scratch:
        for number, contents in enumerate(files):
            Path(scratch, f"contents{number}").write_bytes(contents)
        text = text.replace('.incbin "', f'.incbin "{scratch}/') + '\n.section .note.GNU-stack,"",%progbits\n'
        return _unit([f"--target={hosted.triple}", "-x", "assembler"], text, "text.s", (scratch,))
