"""Builds and loads the C code that translated kernels call: `functions` gives the addresses.

It is in support.c, matrix.c, rounding.c, observe.c and checked.c, compiled as one text.
"""

from __future__ import annotations

import functools
import tempfile
from dataclasses import dataclass
from pathlib import Path

from gpulab.errors import InternalError
from gpulab.toolchain import cache, compiler
from gpulab.virtual_gpu.translate import jit, layout

_STORE = cache.Store("host", 256 << 20)


@dataclass(frozen=True, slots=True)
class Functions:
    """Addresses of the support code's functions."""

    run: int
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
    keep_store: int
    note: int
    shuffle: int
    observe_begin: int
    observe_end: int
    row: int


def source() -> str:
    """The C files with the declarations that they share with translated code in front."""
    head = (
        "typedef unsigned char u8; typedef unsigned int u32; typedef unsigned long long u64; typedef long long i64;\n"
        f"#define LANES {jit.host().lanes}\n"
        f"#define SHARED_BASE {layout.SHARED_BASE:#x}u\n#define PRIVATE_BASE {layout.PRIVATE_BASE:#x}u\n"
    )
    parts = (
        Path(__file__).with_name(name).read_text(encoding="utf-8")
        for name in ("support.c", "matrix.c", "rounding.c", "observe.c", "checked.c")
    )
    return head + layout.c_struct() + "\n".join(parts)


def _bitcode(text: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="gpulab-") as folder:
        (Path(folder) / "support.c").write_text(text, encoding="utf-8", newline="\n")
        store = str(cache.tool_folder(folder))
        arm = jit.host().triple.startswith(("aarch64", "arm64"))
        outcome = compiler.run(
            ["clang", "-mcpu=native" if arm else "-march=native", "-x", "c", "-std=c11", "-O2", "-ffreestanding",
             "-fno-stack-protector", "-fno-sanitize=all", "-fPIC", "-w", "-c", "-emit-llvm", "support.c",
             "-o", "support.bc"],
            folder=folder,
            extra_environment={"ZIG_GLOBAL_CACHE_DIR": store, "ZIG_LOCAL_CACHE_DIR": store},
            what="the host compiler",
        )  # fmt: skip
        if outcome.code:
            raise InternalError(f"the support code of the virtual GPU did not compile:\n{outcome.log}")
        return (Path(folder) / "support.bc").read_bytes()


@functools.cache
def functions() -> Functions:
    """The support code, compiled for this CPU (once; then from the cache on disk) and linked into the process."""
    text = source()
    here = jit.host()
    key = cache.key("support", here.identity, compiler.version(), text)
    code = _STORE.get(key)
    if code is None:
        code = jit.compile_object(_bitcode(text), optimise=False)
        _STORE.put(key, code)
    names = (
        "run",
        "resolve",
        "load",
        "store",
        "scalar",
        "stop",
        "clock",
        "cross",
        "matrix",
        "round",
        "observe",
        "check",
        "keep_store",
        "note",
        "shuffle",
        "observe_begin",
        "observe_end",
        "row",
    )
    return Functions(*jit.load(code, *(f"gpulab_{n}" for n in names)))
