"""Builds and loads the C code that translated kernels call: `functions` gives the addresses, `begin` saves waiting.

The files beside this one are compiled as one text, library.c.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import subprocess
import sys
import tempfile
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from gpulab import cores
from gpulab.errors import InternalError
from gpulab.toolchain import cache, compiler
from gpulab.virtual_gpu.translate import jit

FOLDER = Path(__file__).parent
FLAGS = ("-std=c11", "-O2", "-ffreestanding", "-fno-stack-protector", "-fno-sanitize=all", "-fPIC", "-Wall", "-Wextra")

_STORE = cache.Store("support", 64 << 20)
_beginner: subprocess.Popen[bytes] | None = None


@dataclass(frozen=True, slots=True)
class Functions:
    """Addresses of the support code's functions: of each, gpulab_ and its name here."""

    launch: int
    begin: int
    run: int
    merge: int
    collect: int
    resolve: int
    load: int
    store: int
    scalar: int
    stop: int
    clock: int
    cross: int
    matrix: int
    round: int
    observe: int
    check: int
    apart: int
    keep_store: int
    note: int
    shuffle: int
    observe_begin: int
    observe_end: int
    record: int
    replay: int
    unit: int
    balance: int
    row: int
    image: int


def sources() -> dict[str, str]:
    """The C files and headers: their texts by name."""
    paths = sorted(path for path in FOLDER.iterdir() if path.suffix in (".c", ".h"))
    return {path.name: path.read_text(encoding="utf-8") for path in paths}


def _bitcode(texts: dict[str, str], lanes: int) -> bytes:
    with tempfile.TemporaryDirectory(prefix="gpulab-") as folder:
        for name, text in texts.items():
            (Path(folder) / name).write_text(text, encoding="utf-8", newline="\n")
        store = str(cache.tool_folder())
        arm = jit.host().triple.startswith(("aarch64", "arm64"))
        outcome = compiler.run(
            ["clang", "-mcpu=native" if arm else "-march=native", *FLAGS, f"-DLANES={lanes}", "-c", "-emit-llvm",
             "library.c", "-o", "library.bc"],
            folder=folder,
            read=compiler.SYSTEM,
            write=(store,),
            extra_environment={"ZIG_GLOBAL_CACHE_DIR": store, "ZIG_LOCAL_CACHE_DIR": store},
            what="the host compiler",
        )  # fmt: skip
        if outcome.code:
            raise InternalError(f"the support code of the virtual GPU did not compile:\n{outcome.log}")
        return (Path(folder) / "library.bc").read_bytes()


def begin() -> None:
    """Let a process of its own compile the support code, if it is not in the cache: whoever calls `functions` later
    finds it there, or waits less. Not a thread: Python's import lock may be held here, while hip-python is imported."""
    global _beginner
    if cores.usable() > 1 and sys.executable and _beginner is None and not _STORE.path(_key(sources())).exists():
        with contextlib.suppress(OSError):
            _beginner = subprocess.Popen(
                [sys.executable, "-P", "-c", f"from {__name__} import functions; functions()"],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip


@functools.cache
def functions() -> Functions:
    """The support code, compiled for this CPU (once; then from the cache on disk) and linked into the process."""
    texts = sources()
    key = _key(texts)
    code = _STORE.get(key)
    if code is None:
        with contextlib.suppress(OSError):
            _STORE.root.mkdir(parents=True, exist_ok=True)
        with cache.alone(_STORE.root):  # several processes that start together need it at the same time
            code = _STORE.get(key)
            if code is None:
                code = jit.compile_object(_bitcode(texts, jit.host().lanes), optimise=False, keep=False)
                _STORE.put(key, code)
    return Functions(*jit.load(code, *(f"gpulab_{field.name}" for field in fields(Functions))))


def _key(texts: dict[str, str]) -> str:
    here = jit.host()
    described = (part for name, text in texts.items() for part in (name, text))
    return cache.key("support", here.identity, compiler.version(), str(here.lanes), *FLAGS, *described)


@functools.cache
def function(name: str) -> Any:
    """A function of the support code that takes one structure, to be called with its address."""
    return ctypes.CFUNCTYPE(None, ctypes.c_uint64)(getattr(functions(), name))
