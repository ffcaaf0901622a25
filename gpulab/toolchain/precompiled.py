"""The device headers, read by Clang once per architecture and kept in the cache as a precompiled header.

Reading the headers anew takes most of a small kernel's compile time. `header(arch, build)` gives the bytes that
Clang loads with -include-pch; `build` runs the compiler. It serves compiles without options of the learner's own,
since a precompiled header fits only the options that it was made with.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

from gpulab.toolchain import cache, compiler

_STORE = cache.Store("headers", 64 << 20)
_FORMAT = "1"


def header(arch: str, arguments: tuple[str, ...], headers: Path, build: Callable[[], bytes]) -> bytes:
    """The precompiled header for these arguments of Clang; empty if Clang made none.

    Args:
        arch: for example "gfx942".
        arguments: all that influences how the headers are read.
        headers: the folder of the headers.
        build: makes it.
    """
    return _header(arch, arguments, cache.folder_hash(headers), build)


@functools.lru_cache(maxsize=8)
def _kept(key: str) -> bytes | None:
    return _STORE.get(key)


def _header(arch: str, arguments: tuple[str, ...], texts: str, build: Callable[[], bytes]) -> bytes:
    key = cache.key(_FORMAT, arch, texts, compiler.version(), *arguments)
    kept = _kept(key)
    if kept is None:
        _kept.cache_clear()
        kept = build()
        if kept:
            _STORE.put(key, kept)
    return kept
