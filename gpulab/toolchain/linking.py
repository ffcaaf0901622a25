"""Programs of several units: `link` makes one code object of the bitcode that `build.unit` made of each source.

Clang reads the first unit and links the others and the device library to it, before it optimises: calls from one unit
to another are inlined as if all had been one source.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gpulab.errors import CompileError
from gpulab.records import ALL_GUARANTEES
from gpulab.toolchain import assemble, build, compiler, debug_info, device_library, diagnostics, request
from gpulab.toolchain.code_object import CodeObject
from gpulab.toolchain.request import Request

MAGIC = b"BC\xc0\xde"
"""How LLVM bitcode begins."""

_TARGET = re.compile(r'^\s*\.amdgcn_target "amdgcn-amd-amdhsa--([\w:+-]+)"', re.M)
_FOLDER = re.compile(r'^(\s*\.file\s+\d+ )"/gpulab" ', re.M)
_HELPERS = re.compile(r"\b_ZL\d+__gpulab_name_expression_\d+[.\w]*")


def link(units: Sequence[bytes], arch: str, name: str = "linked program", program: bool = False) -> CodeObject:
    """The code object of a program in several units.

    Args:
        units: bitcode of `build.unit`, one or more. arch: for example "gfx942". name: what messages call the program.
        program: they belong to a whole program, with host code.

    Raises:
        CompileError: no such bitcode, made for another architecture, defined twice or nowhere; the message says which.
    """
    asked = request.request("// units of bitcode", arch=arch, language="hip", name=name)
    key = hashlib.sha256(b"".join(hashlib.sha256(unit).digest() for unit in units)).hexdigest()
    library = device_library.bitcode(arch)
    return assemble.kept(asked, lambda folder: _link(asked, folder, units, library, program), "linked", key)


def bitcode(unit: bytes, arch: str, name: str) -> bytes:
    """A unit of `build.unit` with the device library and optimised, still as LLVM bitcode (-emit-llvm).

    Raises:
        CompileError: Clang refused it.
    """
    asked = request.request("// a unit of bitcode", arch=arch, language="hip", name=name)
    with tempfile.TemporaryDirectory(prefix="gpulab-") as scratch:
        folder = Path(scratch)
        given, library, out = folder / "unit.bc", folder / "library.bc", folder / "out.bc"
        given.write_bytes(unit)
        library.write_bytes(device_library.bitcode(arch))
        words = ["-Xclang", "-mlink-builtin-bitcode", "-Xclang", str(library), "-emit-llvm", "-c", "-o", str(out)]
        run = compiler.run(
            [*_options(asked.arch), str(given), *words], folder=folder, limits=asked.limits, what="the optimiser"
        )
        if run.code != 0 or not out.exists():
            raise CompileError(f"{name} did not compile:\n{diagnostics.visible(run.log.strip()[:2000])}", log=run.log)
        return out.read_bytes()


def _options(arch: str) -> list[str]:
    return [
        "clang", "--target=amdgcn-amd-amdhsa", f"-mcpu={arch}", "-nogpulib", "-fno-color-diagnostics", "-w", "-O3",
        *compiler.KEPT_ORDER, "-x", "ir",
    ]  # fmt: skip


def _link(asked: Request, folder: Path, units: Sequence[bytes], library: bytes, program: bool) -> CodeObject:
    files = [folder / f"unit{n}.bc" for n in range(len(units))]
    for file, unit in zip(files, units, strict=True):
        if not unit.startswith(MAGIC):
            raise CompileError("what is to be linked is no LLVM bitcode.", hint="compile each source with -fgpu-rdc.")
        file.write_bytes(unit)
    kept = folder / "library.bc"
    kept.write_bytes(library)
    out, ir = folder / "out.s", folder / "out.ll"
    common = [*_options(asked.arch), str(files[0])]
    for file in files[1:]:
        common += ["-Xclang", "-mlink-bitcode-file", "-Xclang", str(file)]
    run = compiler.run(
        [*common, "-emit-llvm", "-Xclang", "-disable-llvm-passes", "-S", "-o", str(ir)],
        folder=folder, limits=asked.limits, what="the linker of bitcode",
    )  # fmt: skip
    front = ir.read_text("utf-8", "replace") if run.code == 0 and ir.exists() else ""
    others = set(re.findall(r'"target-cpu"="([\w-]+)"', front)) - {asked.arch}
    if others:
        raise CompileError(f"a unit was compiled for {', '.join(sorted(others))}, and the program is for {asked.arch}.")
    if front:
        run = compiler.run(
            [*common, "-Xclang", "-mlink-builtin-bitcode", "-Xclang", str(kept), "-S", "-o", str(out)],
            folder=folder, limits=asked.limits, what="the linker of bitcode",
        )  # fmt: skip
    if run.code != 0 or not out.exists():
        raise CompileError(f"the units do not link:\n{diagnostics.visible(run.log.strip()[:2000])}", log=run.log)
    text = out.read_text("utf-8", "replace")
    target = _TARGET.search(text)  # with the features that the units were compiled for
    asked = replace(asked, arch=target[1]) if target is not None else asked
    out.write_text(
        _FOLDER.sub(r"\1", text), "utf-8", newline="\n"
    )  # names of files as each source's own messages have them
    helpers = sorted(set(_HELPERS.findall(text)))
    assembly, _ = build.read_listing(asked, out, helpers, front)
    return assemble.code_object_of(
        asked, folder, assembly, ALL_GUARANTEES, functions=debug_info.functions(front), messages=run.log,
        program=program,
    )  # fmt: skip
