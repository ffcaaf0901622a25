"""LLVM's disassembler at work: `decode` gives the instructions in pieces of machine code.

The disassembler is that of AMD's LLVM, in the package rocm-bindings-compiler (the extra ``binaries``). `decode.c`
drives it in a process of its own, within the compiler's walls and limits: a disassembler is not made for bytes that
somebody forged. The program, and two stand-ins for libraries that the package's LLVM names and only ROCm installs, are
built once.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import struct
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gpulab import architectures
from gpulab.errors import CompileError, GpulabError
from gpulab.toolchain import cache, compiler, host

_HERE = Path(__file__).parent
_STAND_INS = (("librocm_sysdeps_z.so.1", ("-DFOR_ZLIB",)), ("librocm_sysdeps_zstd.so.1", ()))
_LIMITS = compiler.Limits(seconds=60.0, memory_bytes=8 << 30, file_bytes=1 << 30)
MOST_CODE = 64 << 20
"""Bytes of machine code in one code object; the largest of ROCm's own libraries' kernels have some MiB."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """An instruction: where it stands, how many bytes it has, and its text as LLVM writes it.

    `text` is "" for four bytes that are no instruction of the device. `same` says whether assembling the text gives the
    same bytes.
    """

    address: int
    size: int
    text: str
    same: bool = True


def missing() -> str:
    """Why there is no disassembler here, in one sentence; "" if there is one."""
    try:
        _llvm()
    except GpulabError as error:
        return error.what
    return ""


@functools.cache
def _llvm() -> Path:
    """AMD's LLVM as a library.

    Raises:
        GpulabError: the package is not installed, or there is none for this system.
    """
    # Not importlib.util.find_spec("rocm.bindings.llvm"): it imports the packages above, which load HIP's library.
    above = importlib.util.find_spec("rocm")
    for folder in (above.submodule_search_locations or ()) if above is not None else ():
        path = Path(folder, "bindings", "llvm", "libLLVM.so")
        if path.is_file():
            return path
    install = f"{sys.executable} -m pip install 'gpulab[binaries]'"
    raise GpulabError(
        "this code object was not made by gpulab, and there is no disassembler to read it with.",
        why="the Python package rocm-bindings-compiler, which carries AMD's LLVM, is not installed"
        + (" (it exists for Linux on x86-64 alone)." if sys.platform != "linux" else "."),
        hint=f"{install} (some 50 MB; or install rocm-bindings-compiler in the version that pyproject.toml names), or "
        "compile the kernel's source with gpulab.compile(...).",
    )


@functools.cache
def _programs() -> tuple[Path, tuple[Path, ...]]:
    """The program of decode.c and the stand-ins, built if they are not there for this version of their sources."""
    stamp = cache.folder_hash(_HERE)[:16]
    folder = cache.folder() / "virtual-rocm" / f"decoder-{stamp}"
    program, libraries = folder / "decode", tuple(folder / name for name, _ in _STAND_INS)
    for (name, options), path in zip(_STAND_INS, libraries, strict=True):
        if not path.exists():
            versions = f"-Wl,-soname,{name},--version-script={_HERE / 'sysdeps.map'}"
            host.compile_host_library(_HERE / "sysdeps.c", path, optimize="1", options=[*options, versions])
    if not program.exists():
        host.compile_host_library(_HERE / "decode.c", program, optimize="1", options=["-ldl"], program=True)
    return program, libraries


def decode(pieces: Sequence[tuple[int, bytes]], arch: str, wave_size: int) -> list[Decoded]:
    """The instructions in pieces of code, each given by its address and its bytes, in order.

    Raises:
        GpulabError: there is no disassembler (see `missing`), or it failed on these bytes.
    """
    if sum(len(code) for _, code in pieces) > MOST_CODE:
        raise GpulabError(f"the code object has more than {MOST_CODE >> 20} MiB of machine code.")
    llvm, (program, libraries) = _llvm(), _programs()
    features = "" if architectures.get(arch).wave_size == 64 else f"+wavefrontsize{wave_size}"
    with tempfile.TemporaryDirectory(prefix="gpulab-") as folder:
        request, answer = os.path.join(folder, "request"), os.path.join(folder, "answer")
        with open(request, "wb") as file:
            for address, code in pieces:
                file.write(struct.pack("<QQ", address, len(code)) + code)
        try:
            outcome = compiler.run(
                [str(llvm), *map(str, libraries), arch, features, answer], folder=folder, limits=_LIMITS,
                stdin=request, what="the disassembler", read=compiler.SYSTEM, tool=program,
            )  # fmt: skip
        except CompileError as error:
            raise GpulabError("the machine code of this code object keeps the disassembler busy.") from error
        if outcome.code != 0:
            said = outcome.log.strip().splitlines()
            raise GpulabError(
                "the machine code of this code object cannot be disassembled.",
                why=f"LLVM's disassembler ended with code {outcome.code}" + (f": {said[-1][:200]}." if said else "."),
                hint="the file may be damaged: check that the whole of it was read.",
            )
        with open(answer, encoding="utf-8", errors="replace") as lines:
            return [_read(line) for line in lines]


def _read(line: str) -> Decoded:
    address, size, text = line.rstrip("\n").split(" ", 2)
    same = not text.startswith("!")
    return Decoded(int(address, 16), int(size, 16), "" if text == "?" else text.lstrip("!").strip(), same)
