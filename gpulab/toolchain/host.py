"""Shared libraries and tools for this machine's CPU, built with the same Clang as the device code.

`compile_host_library(source, out)` is used for the C stub of the virtual HIP library, the decoder of machine code and
the host side of the benchmarks. The compiler keeps what it builds for that in gpulab's cache folder.

Clang calls functions of its own runtime library for what the CPU has no instruction for (a division of 128 bits, say).
Building that library takes some seconds, and gpulab's own sources need nothing of it: it is left out where nothing
lacks it.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from gpulab.errors import CompileError
from gpulab.toolchain import cache, compiler

#: Linux: the C library, and not the compiler's runtime library, whose functions' names begin with two underscores.
WITHOUT_RUNTIME = ("-nostdlib", "-lc")
OF_RUNTIME = re.compile(r"undefined symbol: __")


def library_suffix() -> str:
    """What the name of a shared library ends with on this system."""
    return {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")


def compile_host_library(
    source: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    language: Literal["c", "c++"] = "c",
    optimize: Literal["0", "1", "2", "3", "s"] = "2",
    options: Sequence[str] = (),
    timeout: float = 900.0,
    program: bool = False,
) -> Path:
    """Build a shared library (or a program) for this machine and put it at `out` in one step (atomically).

    Args:
        source: C or C++ text, or a `pathlib.Path` to a file of it.
        out: where the library goes; its folder is made if needed.
        language: "c" or "c++".
        optimize: the digit of -O.
        options: more compiler options, e.g. ``["-march=native", "-Wl,-soname,libamdhip64.so.7"]``.
        timeout: seconds.
        program: an executable file, not a library.

    Returns:
        `out` as a Path.

    Raises:
        CompileError: the compiler refused the source; `log` holds its output.
    """
    target = Path(out).absolute()
    target.parent.mkdir(parents=True, exist_ok=True)
    suffix = ".c" if language == "c" else ".cpp"
    with tempfile.TemporaryDirectory(prefix="gpulab-") as scratch:
        if isinstance(source, os.PathLike):
            path = Path(source).absolute()
        else:
            path = Path(scratch) / f"source{suffix}"
            path.write_text(source, encoding="utf-8", newline="\n")
        made = str(Path(scratch, f"made{library_suffix()}"))
        store = cache.tool_folder()
        arguments = ["cc" if language == "c" else "c++", f"-O{optimize}", "-x", language, str(path)]
        if not program:
            arguments += ["-shared"] if os.name == "nt" else ["-shared", "-fPIC"]
        arguments += [*options, "-o", made]

        def run(*more: str) -> compiler.Outcome:
            return compiler.run(
                [*arguments, *more],
                folder=scratch,
                limits=compiler.Limits(seconds=timeout, memory_bytes=16 << 30, file_bytes=2 << 30),
                extra_environment={"ZIG_GLOBAL_CACHE_DIR": str(store), "ZIG_LOCAL_CACHE_DIR": str(store)},
                what="the host compiler",
                read=compiler.SYSTEM,
                write=(str(store),),
            )

        if language == "c" and sys.platform.startswith("linux"):
            outcome = run(*WITHOUT_RUNTIME, "-Wl,-z,defs")
            # A module of Python's lacks Python's functions, which it finds when it is loaded.
            if outcome.code != 0 and "undefined symbol: " in outcome.log:
                outcome = run(*(() if OF_RUNTIME.search(outcome.log) else WITHOUT_RUNTIME))
        else:
            outcome = run()
        if outcome.code != 0 or not os.path.exists(made) or os.path.getsize(made) == 0:
            raise CompileError(
                f"a library for this machine could not be built ({target.name}):\n{outcome.log.strip()}",
                why=f"the compiler ended with code {outcome.code}.",
                hint=f"if the cache folder {store} is damaged, delete it and try again.",
                log=outcome.log,
            )
        put(Path(made), target)
    return target


def put(made: Path, target: Path) -> None:
    """Copy an executable file or a library to its place; others see the whole of it or nothing."""
    handle, beside = tempfile.mkstemp(prefix=".building-", suffix=target.suffix, dir=target.parent)
    os.close(handle)
    try:
        shutil.copyfile(made, beside)
        os.chmod(beside, 0o755)
        os.replace(beside, target)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(beside)
