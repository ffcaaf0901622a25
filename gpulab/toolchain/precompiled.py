"""Headers that Clang has read once, kept in the cache as precompiled headers.

Reading headers anew takes most of a small source's compile time. For kernels these are the device headers, for a whole
program those of HIP's runtime, which bring most of the C++ library's with them, or all headers that it begins with
(`included`), if it begins with more and is built often, or without HIP's runtime. `kernels` and `program` give Clang's
options that load them, after a run of Clang that makes them if they are not there yet. A precompiled header fits only
the options that it was made with, but for those that change nothing about it (`seen`); for kernels with others it is
made when they come a second time.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from gpulab.toolchain import ast_file, cache, compiler

_STORE = cache.Store("headers", 512 << 20)  # 5 MB for kernels, 15 MB for each pass over a program
_FORMAT = "4"
INCLUDE = Path(__file__).parent / "include"
_RUNTIME = "#include <hip/hip_runtime.h>\n"
_PIECE = re.compile(r"\s+|//[^\n\\]*(?=\n)|/\*.*?\*/|#[ \t]*include[ \t]*(<[^<>\n]+>)", re.DOTALL)
#: Options that no header can see: no macro tells of them, and they change nothing about the language.
_UNSEEN = re.compile(r"-g[\w-]*\Z|-W[A-Za-z][\w+=-]*\Z|-[Ww]\Z|-pedantic\Z|-m(no-)?unsafe-fp-atomics\Z")
OFTEN = 4
"""So often a program's own headers are read before they are precompiled, which takes as long as reading them about five
times."""

MOST_OPEN = 16
Run = Callable[[Sequence[str], Path], compiler.Outcome]
_Headers = bytes | cache.Entry
"""A precompiled header: as the cache has it, or its bytes where the cache cannot be written."""
FILE = "headers.pch"
"""The precompiled header's name in the folder of a compile, and below /gpulab in its virtual file system."""


def root(folder: Path) -> dict[str, str]:
    """The entry of the virtual file system for a compile in this folder."""
    return {"type": "file", "name": f"/gpulab/{FILE}", "external-contents": str(folder / FILE)}


def included(source: str) -> str:
    """The lines `#include <...>` that a source begins with; nothing but comments may stand before and between them."""
    names, at = [], 0
    while piece := _PIECE.match(source, at):
        at = piece.end()
        if piece[1]:
            names.append(piece[1])
    return "".join(f"#include {name}\n" for name in names)


def seen(options: Sequence[str], level: str) -> tuple[str, ...]:
    """Those of the options that a precompiled header depends on: not those for warnings, debug information, and what
    atomics of floats become, which Clang decides where a source uses them.

    Args:
        level: the level of optimisation without options, such as -O3.
    """
    kept = [option for option in options if not _UNSEEN.match(option)]
    levels = [option for option in kept if re.match("-O", option)]
    if levels and set(levels) == {level}:
        kept = [option for option in kept if option != level]
    return tuple(kept)


def kernels(folder: Path, parts: Sequence[str], run: Run, sparing: bool) -> tuple[str, ...]:
    """Clang's options that load the device headers; () if they are to be read.

    Args:
        folder: of the compile; `root` is in its virtual file system.
        parts: all that influences how the headers are read.
        run: runs Clang with further options and a source as its standard input.
        sparing: make it only when it is asked for a second time: a source that is compiled once gains nothing by it.
    """
    key = _key(_RUNTIME, parts)
    made: _Headers | None = _kept(key)
    if made is None and (not sparing or _asked(key) >= 2):
        made = _made(key, _RUNTIME, folder, run)
    return _loaded(made, folder)


def program(source: str, folder: Path, parts: Sequence[str], run: Run) -> tuple[str, ...]:
    """Clang's options that load headers of a whole program; arguments as of `kernels`.

    They are made at once: the two passes for a device alone take longer without.
    """
    includes = included(source)
    if not includes:
        return ()
    own = _key(includes, parts)
    made: _Headers | None = _kept(own)
    if made is None and _with_runtime(includes):
        key = _key(_RUNTIME, parts)
        made = _kept(key) or _made(key, _RUNTIME, folder, run)
        if made is None or _has(made, includes) or _asked(own) < OFTEN:
            return _loaded(made, folder)
        made = None
    return _loaded(made or _made(own, includes, folder, run), folder)


@functools.lru_cache(maxsize=64)
def _with_runtime(includes: str) -> bool:
    """Whether HIP's runtime is among what these lines include, also by other headers of gpulab's own (Thrust)."""
    todo, met = [INCLUDE / name for name in re.findall("<(.*)>", includes)], set()
    while todo:
        path = Path(os.path.normpath(todo.pop()))
        if path == INCLUDE / "hip" / "hip_runtime.h":
            return True
        # the C++ library has its own of those that lie in the folder itself
        if path in met or INCLUDE not in path.parents[1:] or not path.is_file():
            continue
        met.add(path)
        for here, name in re.findall(r'^#include (?:"(.*)"|<(.*)>)', path.read_text(encoding="utf-8"), re.MULTILINE):
            todo.append(path.parent / here if here else INCLUDE / name)
    return False


def _has(made: _Headers, includes: str) -> bool:
    """Whether a precompiled header, which names the files that were read for it, has what these lines include."""
    return all(f"/{name}".encode() in made for name in re.findall("<(.*)>", includes))


def _key(includes: str, parts: Sequence[str]) -> str:
    return cache.key(_FORMAT, includes, compiler.version(), *parts)


def _asked(key: str) -> int:
    """How often this was asked for, with this time."""
    note = cache.key(key, "asked")
    count = int(_STORE.get(note) or b"0") + 1
    _STORE.put(note, b"%d" % count)
    return count


def _made(key: str, includes: str, folder: Path, run: Run) -> _Headers | None:
    """A new precompiled header of what these lines include; None if Clang could not read it."""
    main, out = folder / "headers.hip", folder / FILE
    main.write_text(includes, encoding="utf-8", newline="\n")
    emit = (
        "-Xclang", "-emit-pch", "-Xclang", "-fno-pch-timestamp", "-Xclang", "-fpch-instantiate-templates",
        "-S", "-o", str(out), "-",
    )  # fmt: skip
    if run(emit, main).code != 0 or not out.exists():
        return None
    made = ast_file.without_functions_to_check(out.read_bytes())
    _STORE.put(key, made)
    _STORE.prune()  # entries are few and large
    return _kept(key) or made


def _loaded(made: _Headers | None, folder: Path) -> tuple[str, ...]:
    if made is None:
        return ()
    if isinstance(made, bytes):
        (folder / FILE).write_bytes(made)
    else:
        made.copy(folder / FILE)
    return ("-Xclang", "-include-pch", "-Xclang", f"/gpulab/{FILE}")


_opened: dict[str, cache.Entry] = {}


def _kept(key: str) -> cache.Entry | None:
    """What the cache has. That it is whole is checked once in a process, which takes longer than to copy it."""
    found = _opened.get(key) or _STORE.open(key)
    if found is not None and key not in _opened:
        if len(_opened) >= MOST_OPEN:
            _opened.clear()
        _opened[key] = found
    return found
