"""The device library: bitcode of `library/library.cpp` for one architecture, built once and kept in the cache.

Clang links from it what a kernel calls (`-mlink-builtin-bitcode`). `bitcode(arch, options)` gives its bytes;
`musl_sources()` are the mathematical sources that it includes, which come with the package ziglang.
"""

from __future__ import annotations

import difflib
import functools
import re
import tempfile
from pathlib import Path

from gpulab import architectures
from gpulab.errors import CompileError, GpulabError
from gpulab.toolchain import cache, compiler

LIBRARY = Path(__file__).parent / "library"
_STORE = cache.Store("library", 64 << 20)
_FORMAT = "2"


def musl_sources() -> Path:
    """The folder of musl's mathematical sources in the compiler's package."""
    return compiler.package_folder() / "lib" / "libc" / "musl" / "src" / "math"


def bitcode(arch: str, options: tuple[str, ...] = ()) -> bytes:
    """The library's bitcode.

    Args:
        arch: for example "gfx942".
        options: -m options that change the machine code's form, e.g. ("-mwavefrontsize64",).

    Raises:
        GpulabError: Clang does not know the architecture.
        CompileError: it cannot be built.
    """
    return _bitcode(arch, options, cache.sources_hash(LIBRARY))


@functools.lru_cache(maxsize=8)
def _bitcode(arch: str, options: tuple[str, ...], sources: str) -> bytes:
    key = cache.key(_FORMAT, arch, *options, compiler.version(), sources)
    kept = _STORE.get(key)
    if kept is not None:
        return kept
    with tempfile.TemporaryDirectory(prefix="gpulab-") as folder:
        out = Path(folder) / "library.bc"
        outcome = compiler.run(
            [
                "clang", "-x", "c++", "--target=amdgcn-amd-amdhsa", f"-mcpu={arch}", *options, "-std=c++20", "-O3",
                "-nogpulib", "-nostdinc", "-fno-exceptions", "-fno-rtti", "-fvisibility=hidden",
                "-I", str(LIBRARY / "shims"), "-I", str(musl_sources()), "-isystem", str(compiler.builtin_headers()),
                "-w", "-fno-color-diagnostics", "-g0", "-emit-llvm", "-c", str(LIBRARY / "library.cpp"), "-o", str(out),
            ],
            folder=folder,
            what="the compiler of the device library",
        )  # fmt: skip
        if re.search(r"unknown target CPU|unsupported .*(architecture|CPU)|invalid target ID", outcome.log):
            near = difflib.get_close_matches(arch, architectures.names(), 1, 0.7)
            raise GpulabError(
                f"Clang knows no AMD GPU architecture {arch!r}.",
                why="architectures have names such as gfx942 (Instinct MI300X) or gfx1100 (Radeon RX 7900 XTX).",
                hint=f"did you mean {near[0]}?" if near else "gpulab.devices() lists the devices here.",
            )
        if outcome.code != 0 or not out.exists():
            raise CompileError(
                f"gpulab's own device library did not compile for {arch}:\n{outcome.log.strip()[:4000]}",
                why="Clang does not know this architecture, or gpulab's installation is damaged.",
                hint="try arch=\"gfx942\" or \"gfx1100\"; run `gpulab doctor`.",
                log=outcome.log,
            )  # fmt: skip
        made = out.read_bytes()
    _STORE.put(key, made)
    return made
