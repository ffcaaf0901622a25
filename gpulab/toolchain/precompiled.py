"""Headers that Clang has read once, kept in the cache as precompiled headers.

Reading headers anew takes most of a small source's compile time. For kernels these are the device headers, for a whole
program the headers that it begins with (`included`). `options` gives Clang's options that load them, after a run of
Clang that makes them if they are not there yet. A precompiled header fits only the options that it was made with: for a
program with options of the learner's own it is that of HIP's runtime alone (`runtime`), which its other sources share.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from gpulab.toolchain import cache, compiler

_STORE = cache.Store("headers", 512 << 20)  # 5 MB for kernels, 15 MB for each pass over a program
_FORMAT = "2"
_RUNTIME = "#include <hip/hip_runtime.h>\n"
_PIECE = re.compile(r"\s+|//[^\n\\]*(?=\n)|/\*.*?\*/|#[ \t]*include[ \t]*(<[^<>\n]+>)", re.DOTALL)
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


def runtime(source: str) -> str:
    """The line that includes HIP's runtime, if it is among those that the source begins with: what sources with the
    same options of the learner's own share."""
    return _RUNTIME if _RUNTIME in included(source) else ""


def options(
    includes: str,
    folder: Path,
    parts: Sequence[str],
    run: Callable[[Sequence[str], Path], compiler.Outcome],
    in_memory: bool = False,
    sparing: bool = False,
) -> tuple[str, ...]:
    """Clang's options that load what these lines include; () if it could not read them.

    Args:
        includes: lines `#include <...>`.
        folder: of the compile; `root` is in its virtual file system.
        parts: all that influences how the headers are read.
        run: runs Clang with further options and a source as its standard input.
        in_memory: keep it in this process, too.
        sparing: make it when it is asked for a second time: a program that is built once gains nothing by it.
    """
    if not includes:
        return ()
    key = cache.key(_FORMAT, includes, compiler.version(), *parts)
    made = _kept(key) if in_memory else _STORE.get(key)
    asked = cache.key(key, "asked before")
    if made is None and sparing and _STORE.get(asked) is None:
        _STORE.put(asked, b"yes")
        return ()
    if made is None:
        main, out = folder / "headers.hip", folder / FILE
        main.write_text(includes, encoding="utf-8", newline="\n")
        emit = ("-Xclang", "-emit-pch", "-Xclang", "-fno-pch-timestamp", "-S", "-o", str(out), "-")
        if run(emit, main).code != 0 or not out.exists():
            return ()
        made = out.read_bytes()
        _STORE.put(key, made)
        _STORE.prune()  # entries are few and large
        _kept.cache_clear()
    else:
        (folder / FILE).write_bytes(made)
    return ("-Xclang", "-include-pch", "-Xclang", f"/gpulab/{FILE}")


@functools.lru_cache(maxsize=8)
def _kept(key: str) -> bytes | None:
    return _STORE.get(key)
