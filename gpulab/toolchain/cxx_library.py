"""The C++ library that whole programs are linked with: LLVM's libc++, built from the sources in the package ziglang.

Building all of it takes a minute of two cores, and most programs use little of it. So it stands in five archives
(`PARTS`), each built when a program that is linked lacks what is in it; a program gets the same objects whether the
other archives are there or not. Definitions and options are those with which `zig c++` builds the same sources.
"""

from __future__ import annotations

import contextlib
import functools
import re
import struct
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from gpulab import cores
from gpulab.errors import CompileError
from gpulab.toolchain import cache, compiler
from gpulab.toolchain.host import put

_FORMAT = "4"
_tell: ContextVar[Callable[[str], object]] = ContextVar("_tell", default=lambda words: None)
_ABI = "libcxxabi/src"
_OWN = "libcxx/src"


@contextlib.contextmanager
def telling(tell: Callable[[str], object]) -> Iterator[None]:
    """In the block `tell` is called with a line of text before something is built that takes long."""
    token = _tell.set(tell)
    try:
        yield
    finally:
        _tell.reset(token)


def tell(what: str) -> None:
    """Say that this is built now, to whoever wants to know."""
    _tell.get()(f"gpulab: building {what} for whole programs (once; 3 to 20 seconds) ...")


@dataclass(frozen=True)
class Part:
    """One archive.

    Attributes:
        name: of its file, before ".a".
        title: what people are told.
        sources: of LLVM's libcxxabi and libcxx, below the folder with the compiler's libraries. Those of a group are
            compiled as one text, so that their common headers are read once.
        symbols: what mangled names match of which it has the definition; of the last part, all.
        headers: what the names of those match whose users need it for certain, or almost so.
    """

    name: str
    title: str
    sources: tuple[tuple[str, ...], ...]
    symbols: re.Pattern[str]
    headers: re.Pattern[str] = re.compile("(?!)")


def _in(folder: str, names: str) -> tuple[str, ...]:
    return tuple(f"{folder}/{name}.cpp" for name in names.split())


#: What takes longest stands first in each, so that no core waits for it at the end. Sources that define what a header
#: has inline for all others (error_category, condition_variable_destructor, mutex_destructor) are alone.
PARTS = (
    Part(
        "libc++base",
        "the C++ library",
        (
            _in(_ABI, "cxa_demangle"),
            _in(
                _OWN,
                "memory hash system_error stdexcept vector functional call_once new_handler optional variant new any "
                "exception expected verbose_abort new_helpers typeinfo",
            ),
            _in(_OWN, "string"),
            _in(
                _ABI,
                "cxa_guard cxa_exception stdlib_stdexcept cxa_default_handlers cxa_handlers cxa_personality "
                "private_typeinfo fallback_malloc cxa_exception_storage cxa_vector cxa_thread_atexit stdlib_new_delete "
                "stdlib_exception cxa_aux_runtime stdlib_typeinfo abort_message cxa_virtual",
            ),
            _in(_OWN, "error_category"),
        ),
        re.compile("(?!)"),  # it is always there
    ),
    Part(
        "libc++threads",
        "the C++ library's clocks and threads",
        (
            _in(_OWN, "chrono thread condition_variable random future mutex"),
            _in(_OWN, "condition_variable_destructor"),
            _in(_OWN, "mutex_destructor"),
        ),
        re.compile(
            r"\d(chrono|(this_|__)?thread|((recursive_)?timed_|recursive_)?mutex|condition_variable|notify_all_at_thread|"
            r"random_device|future|__assoc_|promise)"
        ),
        re.compile("chrono|thread|mutex|condition_variable|future"),
    ),
    Part(
        "libc++sort",
        "the C++ library's sorting functions",
        (_in(_OWN, "algorithm"),),
        re.compile("[0-9]__(sort|introsort|nth_element)"),
    ),
    Part(
        "libc++streams",
        "the C++ library's streams",
        (
            _in(_OWN, "locale"),
            _in(_OWN, "ios.instantiations iostream ostream charconv ios strstream fstream ryu/d2fixed ryu/f2s ryu/d2s"),
        ),
        re.compile(r"stream|basic_\w*buf|locale|ios_base|ctype|num_[pg][ue]t|[0-9]w?(cout|cerr|clog|cin)E|to_chars"),
        re.compile("[iof]?stream|iostream|[io]?stringstream|sstream|iomanip|locale"),
    ),
    Part(
        "libc++rest",
        "the rest of the C++ library",
        (
            _in(
                _OWN,
                "filesystem/operations filesystem/directory_iterator filesystem/directory_entry filesystem/path "
                "filesystem/filesystem_clock filesystem/filesystem_error",
            ),
            _in(_OWN, "print atomic regex barrier random_shuffle bind memory_resource shared_mutex valarray"),
        ),
        re.compile(""),
    ),
)

_DEFINITIONS = {
    _OWN: (
        "_LIBCPP_BUILDING_LIBRARY", "LIBCXX_BUILDING_LIBCXXABI", "_LIBCPP_HAS_NO_PRAGMA_SYSTEM_HEADER",
        "LIBC_NAMESPACE=__llvm_libc_common_utils",
    ),
    _ABI: ("_LIBCPP_BUILDING_LIBRARY", "_LIBCXXABI_BUILDING_LIBRARY", "HAVE___CXA_THREAD_ATEXIT_IMPL"),
}  # fmt: skip
_OPTIONS = (
    "-x", "c++", "-std=c++23", "-DNDEBUG", "-fPIC", "-fvisibility=hidden", "-fvisibility-inlines-hidden",
    "-Xclang", "-ftype-visibility=default",
    "-faligned-allocation", "-fno-stack-protector", "-ffunction-sections", "-fdata-sections",
    "-fasynchronous-unwind-tables", "-w", "-nostdinc", "-nostdinc++",
)  # fmt: skip
#: Optimising more takes a third more time, for code that is about as good; of sorting it is worth it. Names are made
#: readable for a message alone.
_LEVELS = {f"{_OWN}/algorithm.cpp": "-O2", f"{_ABI}/cxa_demangle.cpp": "-O0"}
_LEVEL = "-O1"
_INCLUDES = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<(\w+)>", re.MULTILINE)
_LIMITS = compiler.Limits(seconds=900, memory_bytes=16 << 30, file_bytes=2 << 30, log_bytes=8 << 20)
#: Names of the C++ library: of functions and variables in std, and of what the compiler makes of its types.
_OF_LIBRARY = re.compile(r"undefined symbol: (_Z(?:T[VTIShv][n\d_]*|GV)?N?[VrK]*S[tabsiod]\w*)")


@dataclass(frozen=True)
class CxxLibrary:
    """The library for a machine.

    Attributes:
        triple: the machine's name for Clang.
        headers: the folders that programs' sources find headers in, the library's own among them.
        definitions: the macros that programs are compiled with.
    """

    triple: str
    headers: tuple[str, ...]
    definitions: tuple[str, ...]

    @functools.cached_property
    def folder(self) -> Path:
        """Where its archives stand: the same for every environment with this compiler, so that seeds fit."""
        key = cache.key(_FORMAT, self.triple, *self.definitions, compiler.version())
        return cache.tool_folder("cxx-library") / key[:16]

    def archives(self) -> list[str]:
        """The archives that there are, in the linker's order."""
        return [str(path) for part in PARTS if (path := self._path(part)).exists()]

    def absent(self, text: str) -> list[Part]:
        """The parts that a program with this text is likely to need, and that are not there."""
        names = _INCLUDES.findall(text)
        likely = [part for part in PARTS if part is PARTS[0] or any(map(part.headers.fullmatch, names))]
        return [part for part in likely if not self._path(part).exists()]

    def require(self, parts: Sequence[Part] = PARTS[:1]) -> None:
        """Build those of these archives that there are not.

        Raises:
            CompileError: a source did not compile.
        """
        if all(self._path(part).exists() for part in parts):
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        with cache.alone(self.folder):
            lacking = [part for part in parts if not self._path(part).exists()]
            for part in lacking:
                tell(part.title)
            if lacking:
                self._build(lacking)

    def extend(self, lacking: Sequence[str]) -> bool:
        """Build the next archive that is likely to define one of these symbols; whether there was one to build.

        Raises:
            CompileError: a source did not compile.
        """
        for part in PARTS:
            if not self._path(part).exists() and any(part.symbols.search(name) for name in lacking):
                self.require([part])
                return True
        return False

    def _path(self, part: Part) -> Path:
        return self.folder / f"{part.name}.a"

    def _build(self, parts: Sequence[Part]) -> None:
        with (
            tempfile.TemporaryDirectory(prefix="gpulab-") as scratch,
            ThreadPoolExecutor(cores.usable()) as pool,
        ):
            # The last parts have what takes longest. All end in any case: the first that failed is told then.
            compiling = {
                part: [pool.submit(self._compiled, group, scratch) for group in part.sources] for part in parts[::-1]
            }
            for part in parts:
                self._put(part, [each.result() for each in compiling[part]], scratch)

    def _put(self, part: Part, objects: Sequence[str], scratch: str) -> None:
        """Make an archive of object files, at its place."""
        made = Path(scratch, f"{part.name}.a")
        outcome = compiler.run(["ar", "rcsD", str(made), *objects], folder=scratch, limits=_LIMITS)
        if outcome.code != 0 or not made.exists():
            raise CompileError(f"{part.name} could not be put together:\n{outcome.log.strip()}", log=outcome.log)
        put(made, self._path(part))

    def _compiled(self, group: Sequence[str], scratch: str) -> str:
        """The path of the object file of some sources."""
        libraries = compiler.package_folder() / "lib"
        text = Path(scratch, group[0].replace("/", "-"))
        out = text.with_suffix(".o")
        text.write_text("".join(f'#include "{source}"\n' for source in group), "utf-8")
        own = next(folder for folder in _DEFINITIONS if group[0].startswith(folder))
        words = [f"--target={self.triple}", _LEVELS.get(group[0], _LEVEL), *_OPTIONS]
        words += [f"-D{one}" for one in (*self.definitions, *_DEFINITIONS[own])]
        for folder in ("libcxxabi/include", "libcxx/include", "libcxx/src", "libcxx/libc"):
            words += ["-I", str(libraries / folder)]
        for folder in self.headers:
            words += ["-isystem", folder]
        words += ["-idirafter", str(libraries)]
        outcome = compiler.run(
            ["clang", *words, "-c", str(text), "-o", str(out)],
            folder=scratch, limits=_LIMITS, what="the host compiler, which builds its C++ library",
        )  # fmt: skip
        if outcome.code != 0 or not out.exists():
            raise CompileError(
                f"the C++ library for this machine could not be built: {', '.join(group)} did not compile:\n"
                f"{outcome.log.strip()[-4000:]}",
                why=f"the compiler ended with code {outcome.code}.",
                log=outcome.log,
            )
        raw = bytearray(out.read_bytes())
        _show_type_names(raw)
        out.write_bytes(raw)
        return str(out)


def lacking(log: str) -> list[str]:
    """Which names of the C++ library the linker did not find; `log` is what it said, its names mangled."""
    return _OF_LIBRARY.findall(log)


def _show_type_names(raw: bytearray) -> None:
    """Let names of types (_ZTS...) alone, of what an object file defines, be visible to others.

    Two types are the same if their names have the same address: without it, a library's exceptions would not be caught
    by the program, since each has a C++ library of its own. It is compiled with names, descriptions (_ZTI) and tables
    of functions (_ZTV, _ZTT, _ZTC) visible, so that code asks where a name is; all but the names are hidden here.
    """
    table = struct.unpack_from("<Q", raw, 40)[0]
    count = struct.unpack_from("<H", raw, 60)[0]
    headers = [struct.unpack_from("<IIQQQQIIQQ", raw, table + 64 * index) for index in range(count)]
    for header in headers:
        if header[1] != 2:  # SHT_SYMTAB
            continue
        names = headers[header[6]][4]
        for at in range(header[4], header[4] + header[5], 24):
            name = names + struct.unpack_from("<I", raw, at)[0]
            defined = raw[at + 6 : at + 8] != b"\0\0"
            if defined and raw[name : name + 4] in (b"_ZTI", b"_ZTV", b"_ZTT", b"_ZTC"):
                raw[at + 5] |= 2  # STV_HIDDEN
