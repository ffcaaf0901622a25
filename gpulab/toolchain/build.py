"""From HIP C++ to code object: Clang, with limits and without access to files.

`compile` is the door. A source goes to Clang through a virtual file system in which only gpulab's headers, Clang's
own and the caller's `headers` exist; a second run of the front end gives names and types of kernels' parameters. The
assembly that comes back is cleaned (`listing`), and takes the road of all languages from there (assemble.py).
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gpulab import cores
from gpulab.errors import CompileError
from gpulab.records import ALL_GUARANTEES
from gpulab.toolchain import (
    assemble,
    cache,
    claims,
    compiler,
    debug_info,
    device_library,
    diagnostics,
    hosted,
    listing,
    memory_order,
    precompiled,
    request,
)
from gpulab.toolchain.code_object import CodeObject
from gpulab.toolchain.request import Request

INCLUDE = Path(__file__).parent / "include"
_HELPER = "__gpulab_name_expression_"
_UNIT_MARK = "__hip_cuid_"  # Clang's mark of a compilation unit, of no use where one source is one code object
# What warns beginners of real mistakes, and nothing on style.
_WARNINGS = (
    "-Wall", "-Wdouble-promotion", "-Wno-unused-function", "-Wno-unused-const-variable", "-Wno-unknown-pragmas",
    "-Wno-undefined-internal", "-Wno-pass-failed", "-Wno-unused-command-line-argument",
    "-Wno-overriding-complex-range",  # of _COMPLEX by a program's -ffast-math
)  # fmt: skip
# A loop without an end is kept as written, so that it can be found and named. Accesses that may be
# unaligned (packed structs, memcpy) are made of smaller ones: an unaligned address left is a mistake.
# A null pointer's use is kept too, instead of counting as code that cannot be reached.
_LEVEL = "-O3"
_SEMANTICS = (
    _LEVEL, "-fno-finite-loops", "-fno-delete-null-pointer-checks", *compiler.KEPT_ORDER,
    "-Xclang", "-target-feature", "-Xclang", "-unaligned-access-mode",
)  # fmt: skip
_COMPLEX = "-fcomplex-arithmetic=improved"
"""std::complex in kernels: products by the formula, quotients by Smith's; without the calls into a C library
that Annex G of the C standard takes for infinities."""
_OWN_NAME = re.compile(rb"\.(static|intern|anon)\.[0-9a-f]{4}")  # of a variable, in bitcode
# For gfx10 and gfx11 Clang 22 joins a move between lanes with a comparison against a constant that follows
# (v_cmp_gt_u32_e64_dpp s4, v5, 3), which those cannot execute and its own assembler refuses.
_WRONG_DPP = re.compile(r"immediate operand invalid for instruction[^\n]*\n[^\n]*_dpp ")


def compile(
    source: str,
    *,
    arch: str,
    options: Sequence[str] = (),
    name: str = "cell.hip",
    first_line: int = 1,
    headers: Mapping[str, str] | None = None,
    name_expressions: Sequence[str] = (),
    limits: compiler.Limits | None = None,
    use_cache: bool = True,
    program: hosted.Hosted | None = None,
) -> CodeObject:
    """Compile HIP C++ for one architecture. The device header `hip/hip_runtime.h` is included before the text.

    Args:
        program: the source is a whole program, with host code: the headers that its host pass sees, too.
        others: see `request.request`.

    Returns:
        A CodeObject. It may have no kernels: `CodeObject.find` explains that when one is asked for.

    Raises:
        CompileError: the compiler refused the source, or took too long; the message shows the source's own lines.
        GpulabError: an option, the architecture or an argument is not accepted, or there is no compiler.
    """
    return compile_request(
        request.request(
            source, arch=arch, language="hip", options=options, name=name, first_line=first_line, headers=headers,
            name_expressions=name_expressions, limits=limits, use_cache=use_cache,
        ),
        program,
    )  # fmt: skip


def compile_request(asked: Request, program: hosted.Hosted | None = None) -> CodeObject:
    """Compile the HIP C++ of a request; see `compile`."""
    return assemble.kept(
        asked,
        lambda folder: _FrontEnd(asked, folder, program).compile(),
        program.key() if program is not None else "",
        cache.sources_hash(INCLUDE),
        cache.sources_hash(device_library.LIBRARY),
    )


def unit(asked: Request, program: hosted.Hosted | None = None) -> tuple[bytes, dict[str, str]]:
    """LLVM bitcode of one of several sources of a program (-fgpu-rdc), not optimised, and the symbol of each name
    expression. `linking.link` makes a code object of such units.

    Args:
        program: see `compile`.

    Raises:
        CompileError: the compiler refused the source, or took too long.
    """
    with tempfile.TemporaryDirectory(prefix="gpulab-") as folder:
        return _FrontEnd(asked, Path(folder), program).unit()


class _FrontEnd:
    """One compile: what was asked for, the folder it works in, and the steps."""

    def __init__(self, asked: Request, folder: Path, program: hosted.Hosted | None) -> None:
        self.asked, self.folder, self.program = asked, folder, program
        self.read = program.reads() if program is not None else ()

    def _main(self) -> Path:
        """The file that Clang reads: the source, and a use of each name expression."""
        asked = self.asked
        text = f'#line {asked.first_line} "{_c_string(asked.name)}"\n' + asked.source
        if asked.expressions:
            text += f'\n#line 1 "{diagnostics.EXPRESSIONS_FILE}"\n' + "".join(
                f"__attribute__((used)) static __attribute__((device)) const void *const "
                f"{_HELPER}{i} = (const void *)&{request.bare(expression)};\n"
                for i, expression in enumerate(asked.expressions)
            )
        return assemble.write(self.folder, "source.hip", text)

    def unit(self) -> tuple[bytes, dict[str, str]]:
        asked, out, ir = self.asked, self.folder / "unit.bc", self.folder / "unit.ll"
        main = self._main()
        mark = cache.key(asked.key())[:16]  # the unit's own: names of what it shares with the host end in it
        alone = ("-include", "hip/hip_runtime.h", f"-cuid={mark}") if self.program is None else ()
        common = (
            *self._common(asked.options.compiler), *alone, "-fgpu-rdc", "-g", "-emit-llvm",
            "-Xclang", "-disable-llvm-passes",
        )  # fmt: skip
        for kind, made in (("-c", out), ("-S", ir)) if asked.expressions else (("-c", out),):
            run = compiler.run(
                (*common, kind, "-o", str(made), "-"), folder=self.folder, limits=asked.limits, stdin=main,
                read=self.read,
            )  # fmt: skip
            if run.code != 0 or not made.exists():
                view = assemble.view_of(asked, self.program is not None)
                assemble.fail(asked.name, run, diagnostics.parse(run.log, view))
        text = ir.read_text("utf-8", "replace") if asked.expressions else ""
        names = {}
        for i, expression in enumerate(asked.expressions):
            found = re.search(rf"^@_ZL\d+{_HELPER}{i} = .*?constant ptr (?:addrspacecast \(.*?)?@([\w.$]+)", text, re.M)
            names[expression] = found[1] if found else ""
        return self._with_one_name(out), names

    def _with_one_name(self, out: Path) -> bytes:
        """The bitcode in a file, in which a static variable that the host names has one name.

        Clang gives it a name of this unit alone when it sees the host's use, and leaves the one that it had before in
        the functions above it (Clang 22).
        """
        made = out.read_bytes()
        if not _OWN_NAME.search(made):
            return made
        ir = self.folder / "named.ll"
        command = (
            "clang", "--target=amdgcn-amd-amdhsa", f"-mcpu={self.asked.arch}", "-nogpulib", "-w", "-emit-llvm",
            "-Xclang", "-disable-llvm-passes", "-x", "ir",
        )  # fmt: skip

        def turn(given: Path, kind: str, to: Path) -> None:
            run = compiler.run(
                (*command, str(given), kind, "-o", str(to)), folder=self.folder, limits=self.asked.limits
            )
            if run.code != 0 or not to.exists():
                raise compiler.explain_death(run.code, "the front end")

        turn(out, "-S", ir)
        text = ir.read_text("utf-8", "surrogateescape")
        for name, unit in re.findall(r"^@([\w$]+)(\.(?:static|intern|anon)\.[0-9a-f]+) = ", text, re.M):
            text, count = re.subn(rf"^@{re.escape(name)} = external .*\n", "", text, flags=re.M)
            if count:
                text = re.sub(rf"@{re.escape(name)}(?![\w.$])", rf"\g<0>{unit}", text)
        ir.write_text(text, "utf-8", "surrogateescape")
        turn(ir, "-c", out)
        return out.read_bytes()

    def compile(self) -> CodeObject:
        asked = self.asked
        main = self._main()
        out = self.folder / "out.s"
        library = device_library.bitcode(asked.arch, asked.options.assembler)
        (self.folder / "library.bc").write_bytes(library)
        common = self._common(asked.options.compiler)
        headers = self._headers_option()
        arguments = (
            *common, *headers, "-gline-tables-only", "-Xclang", "-mlink-builtin-bitcode",
            "-Xclang", "/gpulab/library.bc", "-S", "-o", str(out), "-",
        )  # fmt: skip
        # Full debug information, for signatures, comes from a second run of the front end, beside the first.
        ir = self.folder / "out.ll"
        described = (
            *common, *headers, "-g", "-w", "-emit-llvm", "-Xclang", "-disable-llvm-passes", "-S", "-o", str(ir), "-",
        )  # fmt: skip
        with cores.beside(1) as beside:
            second = beside.submit(
                compiler.run,
                described,
                folder=self.folder,
                limits=asked.limits,
                stdin=main,
                read=self.read,
                what="the front end",
            )
            outcome = compiler.run(arguments, folder=self.folder, limits=asked.limits, stdin=main, read=self.read)
        for run, made in ((outcome, out), (second.result(), ir)):
            if run.code != 0 or not made.exists():
                view = assemble.view_of(asked, self.program is not None)
                assemble.fail(asked.name, run, diagnostics.parse(run.log, view))
        helpers = tuple(f"_ZL{len(_HELPER + str(i))}{_HELPER}{i}" for i in range(len(asked.expressions)))
        front = ir.read_text("utf-8", "replace")
        functions = debug_info.functions(front)

        def finish() -> CodeObject:
            assembly, pointed = read_listing(asked, out, helpers, front)
            names = {e: pointed.get(helper, "") for e, helper in zip(asked.expressions, helpers, strict=True)}
            made = assemble.code_object_of(
                asked, self.folder, assembly, ALL_GUARANTEES, functions=functions, pointed=names, messages=outcome.log,
                program=self.program is not None,
            )  # fmt: skip
            claims.refuse_forged(out.read_text("utf-8", "replace"), made.elf, asked.name)
            return made

        try:
            return finish()
        except CompileError as error:
            if not _WRONG_DPP.search(error.log):
                raise
            separate = (*arguments, "-mllvm", "-amdgpu-dpp-combine=false")
            if compiler.run(separate, folder=self.folder, limits=asked.limits, stdin=main, read=self.read).code != 0:
                raise
            return finish()

    def _common(self, own: Sequence[str]) -> tuple[str, ...]:
        """Clang's options, the same for a source and for a precompiled header; `own` are the learner's."""
        overlay = assemble.write(self.folder, "overlay.json", json.dumps(self._overlay()))
        if self.program is not None:
            return (
                "clang", "--driver-mode=g++", *self.program.arguments(), "--cuda-device-only",
                f"--offload-arch={self.asked.arch}", "-Xclang", "-ivfsoverlay", "-Xclang", str(overlay), "-Xclang",
                "-fdebug-compilation-dir=/gpulab", *_SEMANTICS, *hosted.WARNINGS,
                _COMPLEX, *hosted.parallel_algorithms(self.asked.source), *own,
                *hosted.MESSAGES, "-mprintf-kind=buffered",
            )  # fmt: skip
        return (
            "clang", "--driver-mode=g++", "--target=x86_64-unknown-linux-gnu", "-x", "hip", "--cuda-device-only",
            f"--offload-arch={self.asked.arch}", "-nogpulib", "-nogpuinc", "-nostdinc", "-fuse-cuid=none",
            "-Xclang", "-ivfsoverlay", "-Xclang", str(overlay), "-Xclang", "-fdebug-compilation-dir=/gpulab",
            "-isystem", "/gpulab/include", "-isystem", "/gpulab/builtin", "-I", "/gpulab/headers",
            *_SEMANTICS,
            *_WARNINGS, *own,
            *hosted.MESSAGES, "-mprintf-kind=buffered",
        )  # fmt: skip

    def _headers_option(self) -> tuple[str, ...]:
        """How Clang gets the headers: precompiled where they can be shared."""
        program, chosen = self.program, precompiled.seen(self.asked.options.compiler, _LEVEL)
        usual = () if program is not None else ("-include", "hip/hip_runtime.h")  # a program includes it itself
        shared = program.shared() if program is not None else None
        if "-include" in chosen or (program is not None and shared is None):
            return usual
        common = self._common(chosen)

        def run(options: Sequence[str], main: Path) -> compiler.Outcome:
            return compiler.run(
                (*common, *options), folder=self.folder, limits=self.asked.limits, stdin=main, read=self.read
            )

        own = program.arguments() if program is not None else ()
        arguments = (argument for argument in common[2 + len(own) :] if not argument.startswith(str(self.folder)))
        told = (shared.key(), *shared.arguments()) if shared is not None else ("",)
        parts = (cache.sources_hash(INCLUDE), *told, *arguments)
        if program is not None:
            return precompiled.program(self.asked.source, self.folder, parts, run)
        return precompiled.kernels(self.folder, parts, run, sparing=bool(chosen)) or usual

    def _overlay(self) -> dict[str, Any]:
        """The virtual file system that Clang sees: nothing but headers."""
        folders: list[dict[str, Any]] = [
            {"type": "directory-remap", "name": "/gpulab/include", "external-contents": str(INCLUDE)},
            {"type": "directory-remap", "name": "/gpulab/builtin",
             "external-contents": str(compiler.builtin_headers())},
        ]  # fmt: skip
        roots: list[dict[str, Any]] = [
            *(folders if self.program is None else self.program.roots()),
            {"type": "file", "name": "/gpulab/library.bc", "external-contents": str(self.folder / "library.bc")},
            precompiled.root(self.folder),
        ]  # fmt: skip
        for index, (name, text) in enumerate(self.asked.headers.items()):
            path = assemble.write(self.folder, f"header{index}", text)
            roots.append({"type": "file", "name": f"/gpulab/headers/{name}", "external-contents": str(path)})
        return {
            "version": 0, "case-sensitive": True, "redirecting-with": "redirect-only", "overlay-relative": False,
            "use-external-names": False, "roots": roots,
        }  # fmt: skip


def read_listing(asked: Request, out: Path, helpers: Sequence[str], front: str) -> tuple[str, dict[str, str]]:
    """The assembly that Clang wrote, cleaned, and what the helpers of name expressions point to.

    Args:
        front: the intermediate code before optimisation, as text.
    """
    text = out.read_text("utf-8", "replace")
    listing.refuse_file_access(text, asked.name)
    assembly, pointed = listing.clean(text, helpers=(*helpers, _UNIT_MARK))
    return listing.mark_orders(assembly, memory_order.places(front), memory_order.orders(front)), pointed


def _c_string(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
