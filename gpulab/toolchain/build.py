"""From source text to code object: Clang, assembler and linker, each with limits and without access to files.

`compile` is the door. A source goes to Clang through a virtual file system in which only gpulab's headers, Clang's
own and the caller's `headers` exist; the assembly that comes back is cleaned (`listing`), gets the sections
`.gpulab.asm` and `.gpulab.meta`, and is assembled and linked. Results are kept in the cache on disk.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from gpulab.errors import CompileError, GpulabError
from gpulab.records import Diagnostic, Guarantees
from gpulab.toolchain import (
    cache,
    code_object,
    compiler,
    debug_info,
    device_library,
    diagnostics,
    hosted,
    listing,
    memory_order,
    precompiled,
)
from gpulab.toolchain import elf as elf_file
from gpulab.toolchain import options as option_check
from gpulab.toolchain.code_object import ASSEMBLY_SECTION, META_SECTION, CodeObject, KernelSignature, Parameter

INCLUDE = Path(__file__).parent / "include"
_FORMAT = "3"  # part of every cache key: raise it when the same source must give something else
_HELPER = "__gpulab_name_expression_"
_UNIT_MARK = "__hip_cuid_"  # Clang's mark of a compilation unit, of no use where one source is one code object
_STORE = cache.Store("code")
# What warns beginners of real mistakes, and nothing on style.
_WARNINGS = (
    "-Wall", "-Wdouble-promotion", "-Wno-unused-function", "-Wno-unused-const-variable", "-Wno-unknown-pragmas",
    "-Wno-undefined-internal", "-Wno-pass-failed", "-Wno-unused-command-line-argument",
)  # fmt: skip
# A loop without an end is kept as written, so that it can be found and named. Accesses that may be
# unaligned (packed structs, memcpy) are made of smaller ones: an unaligned address left is a mistake.
# A null pointer's use is kept too, instead of counting as code that cannot be reached.
_SEMANTICS = (
    "-O3", "-fno-finite-loops", "-fno-delete-null-pointer-checks",
    "-Xclang", "-target-feature", "-Xclang", "-unaligned-access-mode",
)  # fmt: skip
_OF_HIP = Guarantees(exact_bounds=True, alignment=True, source_lines=True, signatures=True)
_OF_ASSEMBLY = Guarantees(source_lines=True)  # its offsets and addresses are its own business
_MOST_SOURCE = 16 << 20
# For gfx10 and gfx11 Clang 22 joins a move between lanes with a comparison against a constant that follows
# (v_cmp_gt_u32_e64_dpp s4, v5, 3), which those cannot execute and its own assembler refuses.
_WRONG_DPP = re.compile(r"immediate operand invalid for instruction[^\n]*\n[^\n]*_dpp ")


def compile(
    source: str,
    *,
    arch: str,
    language: Literal["hip", "asm"] = "hip",
    options: Sequence[str] = (),
    name: str = "cell.hip",
    first_line: int = 1,
    headers: Mapping[str, str] | None = None,
    name_expressions: Sequence[str] = (),
    limits: compiler.Limits | None = None,
    use_cache: bool = True,
    program: hosted.Hosted | None = None,
) -> CodeObject:
    """Compile HIP C++ or AMDGPU assembly for one architecture.

    Args:
        source: the text. The device header `hip/hip_runtime.h` is included before it.
        arch: for example "gfx942"; `--offload-arch=` among the options overrules it.
        language: "hip", or "asm" for assembly text with kernel descriptors and metadata.
        options: compiler options; see `options.check` for which are accepted. Default is -O3.
        name: what messages and line information call the source.
        first_line: the number of the source's first line in messages and line information.
        headers: texts that the source may include, by the name in its #include.
        name_expressions: C++ expressions such as "saxpy<float>" or "&table" whose symbols are wanted; kernels
            that they name are instantiated.
        limits: what each compiler process may use; default 60 s.
        use_cache: look for the result in the cache on disk, and keep it there.
        program: the source is a whole program, with host code: the headers that its host pass sees, too.

    Returns:
        A CodeObject. It may have no kernels: `CodeObject.find` explains that when one is asked for.

    Raises:
        CompileError: the compiler refused the source, or took too long; the message shows the source's own lines.
        GpulabError: an option, the architecture or an argument is not accepted, or there is no compiler.
    """
    if not isinstance(source, str):
        raise GpulabError(
            f"the source to compile is a {type(source).__name__}, not a text.",
            why="compile takes the text of a program.",
            hint="for a file: gpulab.compile(pathlib.Path('kernel.hip').read_text()).",
        )
    if language not in ("hip", "asm"):
        raise GpulabError(f"there is no language {language!r} here.", hint='language="hip" or language="asm".')
    if len(source) > _MOST_SOURCE or "\0" in source:
        what = "holds a null character" if "\0" in source else f"is {len(source)} characters long"
        raise CompileError(f"the source {what}.", why="a kernel's source is text of moderate length.")
    accepted = option_check.check(options)
    arch = option_check.check_arch(accepted.arch or arch)
    headers = dict(headers or {})
    for header in headers:
        _check_header_name(header)
    expressions = tuple(_check_expression(expression) for expression in name_expressions)
    limits = limits or compiler.Limits()
    name = _display_name(name)
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    source = source.encode("utf-8", "replace").decode("utf-8")  # unpaired surrogates become "?"

    request = json.dumps(
        [_FORMAT, arch, language, source, accepted.compiler, name, first_line, sorted(headers.items()), expressions,
         program.key() if program else ""],
        ensure_ascii=True,
    )  # fmt: skip
    ours = cache.folder_hash(INCLUDE) + cache.folder_hash(device_library.LIBRARY) if language == "hip" else ""
    key = cache.key(request, compiler.version(), ours, _code_hash())
    if use_cache:
        kept = _STORE.get(key)
        if kept is not None:
            try:
                return CodeObject.from_elf(kept)
            except GpulabError:
                pass  # built again below, and replaced
    job = _Job(source, arch, accepted, name, first_line, headers, expressions, limits, program)
    with tempfile.TemporaryDirectory(prefix="gpulab-") as folder:
        job.folder = Path(folder)
        result = job.hip() if language == "hip" else job.asm()
    if use_cache:
        _STORE.put(key, result.elf)
    return result


class _Job:
    """One compile: what was asked for, the folder it works in, and the steps."""

    folder: Path

    def __init__(
        self,
        source: str,
        arch: str,
        accepted: option_check.Accepted,
        name: str,
        first_line: int,
        headers: dict[str, str],
        expressions: tuple[str, ...],
        limits: compiler.Limits,
        program: hosted.Hosted | None = None,
    ) -> None:
        self.program = program
        self.source, self.arch, self.accepted, self.name = source, arch, accepted, name
        self.first_line, self.headers, self.expressions, self.limits = first_line, headers, expressions, limits

    # HIP

    def hip(self) -> CodeObject:
        prefix = f'#line {self.first_line} "{_c_string(self.name)}"\n'
        text = prefix + self.source
        if self.expressions:
            text += f'\n#line 1 "{diagnostics.EXPRESSIONS_FILE}"\n' + "".join(
                f"__attribute__((used)) static __attribute__((device)) const void *const "
                f"{_HELPER}{i} = (const void *)&{_bare(expression)};\n"
                for i, expression in enumerate(self.expressions)
            )
        main = self._write("source.hip", text)
        out = self.folder / "out.s"
        library = device_library.bitcode(self.arch, self.accepted.assembler)
        (self.folder / "library.bc").write_bytes(library)
        common = self._common()
        headers = self._headers_option(common)
        arguments = (
            *common, *headers, "-gline-tables-only", "-Xclang", "-mlink-builtin-bitcode",
            "-Xclang", "/gpulab/library.bc", "-S", "-o", str(out), "-",
        )  # fmt: skip
        # Full debug information, for signatures, comes from a second run of the front end, beside the first.
        ir = self.folder / "out.ll"
        described = (
            *common, *headers, "-g", "-w", "-emit-llvm", "-Xclang", "-disable-llvm-passes", "-S", "-o", str(ir), "-",
        )  # fmt: skip
        with ThreadPoolExecutor(1) as beside:
            second = beside.submit(
                compiler.run, described, folder=self.folder, limits=self.limits, stdin=main, what="the front end"
            )
            outcome = compiler.run(arguments, folder=self.folder, limits=self.limits, stdin=main)
        found = diagnostics.parse(outcome.log, self._view())
        if outcome.code != 0 or not out.exists():
            self._fail(outcome, found)
        if second.result().code != 0 or not ir.exists():
            self._fail(second.result(), diagnostics.parse(second.result().log, self._view()))
        helpers = tuple(f"_ZL{len(_HELPER + str(i))}{_HELPER}{i}" for i in range(len(self.expressions)))
        front = ir.read_text("utf-8", "replace")
        functions = debug_info.functions(front)
        assembly, pointed = self._listing(out, helpers, front)
        try:
            machine = self._assemble(assembly, None)
        except CompileError as error:
            if not _WRONG_DPP.search(error.log):
                raise
            separate = (*arguments, "-mllvm", "-amdgpu-dpp-combine=false")
            if compiler.run(separate, folder=self.folder, limits=self.limits, stdin=main).code != 0:
                raise
            assembly, pointed = self._listing(out, helpers, front)
            machine = self._assemble(assembly, None)
        names = {e: pointed.get(helper, "") for e, helper in zip(self.expressions, helpers, strict=True)}
        kernels = _signatures(machine, functions)
        found += _references(kernels, self._view())
        return self._finish(machine, assembly, kernels, names, found, "hip", _OF_HIP)

    def _listing(self, out: Path, helpers: tuple[str, ...], front: str) -> tuple[str, dict[str, str]]:
        """The assembly that Clang wrote, cleaned, and what the helpers of name expressions point to."""
        text = out.read_text("utf-8", "replace")
        listing.refuse_file_access(text, self.name, 0)
        assembly, pointed = listing.clean(text, helpers=(*helpers, _UNIT_MARK))
        return listing.mark_orders(assembly, memory_order.places(front), memory_order.orders(front)), pointed

    def _common(self) -> tuple[str, ...]:
        """Clang's options, the same for a source and for a precompiled header."""
        overlay = self._write("overlay.json", json.dumps(self._overlay()))
        if self.program is not None:
            return (
                "clang", "--driver-mode=g++", *self.program.arguments(), "--cuda-device-only",
                f"--offload-arch={self.arch}", "-Xclang", "-ivfsoverlay", "-Xclang", str(overlay), "-Xclang",
                "-fdebug-compilation-dir=/gpulab", *_SEMANTICS, *hosted.WARNINGS, *self.accepted.compiler,
                *hosted.MESSAGES, "-mprintf-kind=buffered",
            )  # fmt: skip
        return (
            "clang", "--driver-mode=g++", "--target=x86_64-unknown-linux-gnu", "-x", "hip", "--cuda-device-only",
            f"--offload-arch={self.arch}", "-nogpulib", "-nogpuinc", "-nostdinc", "-fuse-cuid=none",
            "-Xclang", "-ivfsoverlay", "-Xclang", str(overlay), "-Xclang", "-fdebug-compilation-dir=/gpulab",
            "-isystem", "/gpulab/include", "-isystem", "/gpulab/builtin", "-I", "/gpulab/headers",
            *_SEMANTICS,
            *_WARNINGS, *self.accepted.compiler,
            *hosted.MESSAGES, "-mprintf-kind=buffered",
        )  # fmt: skip

    def _headers_option(self, common: tuple[str, ...]) -> tuple[str, ...]:
        """How Clang gets the device headers: precompiled where the options are the usual ones."""
        if self.program is not None:
            return ()  # a program includes it itself
        if self.accepted.compiler:
            return ("-include", "hip/hip_runtime.h")

        def build() -> bytes:
            main = self._write("headers.hip", "#include <hip/hip_runtime.h>\n")
            out = self.folder / "headers.pch"
            options = ("-Xclang", "-emit-pch", "-Xclang", "-fno-pch-timestamp", "-S", "-o", str(out), "-")
            outcome = compiler.run((*common, *options), folder=self.folder, limits=self.limits, stdin=main)
            return out.read_bytes() if outcome.code == 0 and out.exists() else b""

        own = str(self.folder)
        arguments = tuple(argument for argument in common if not argument.startswith(own))
        made = precompiled.header(self.arch, arguments, INCLUDE, build)
        if not made:
            return ("-include", "hip/hip_runtime.h")
        (self.folder / "headers.pch").write_bytes(made)
        return ("-Xclang", "-include-pch", "-Xclang", "/gpulab/headers.pch")

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
            {"type": "file", "name": "/gpulab/headers.pch", "external-contents": str(self.folder / "headers.pch")},
        ]  # fmt: skip
        for index, (name, text) in enumerate(self.headers.items()):
            path = self._write(f"header{index}", text)
            roots.append({"type": "file", "name": f"/gpulab/headers/{name}", "external-contents": str(path)})
        return {
            "version": 0, "case-sensitive": True, "redirecting-with": "redirect-only", "overlay-relative": False,
            "use-external-names": False, "roots": roots,
        }  # fmt: skip

    # assembly

    def asm(self) -> CodeObject:
        listing.refuse_file_access(self.source, self.name, self.first_line)
        marked, origin = listing.mark_lines(self.source, self.name, self.first_line)
        machine = self._assemble(marked, origin)
        kernels = _signatures(machine, {})
        return self._finish(machine, marked, kernels, {}, (), "asm", _OF_ASSEMBLY)

    # both

    def _view(self) -> diagnostics.Source:
        return diagnostics.Source(
            self.source, self.name, self.first_line, self.expressions, self.headers, self.program is not None
        )

    def _write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8", newline="\n")
        return path

    def _fail(self, outcome: compiler.Outcome, found: tuple[Diagnostic, ...]) -> None:
        crash = re.search(r"frontend command failed with exit code (\d+)", outcome.log)
        if crash or (outcome.code and not any(d.severity == "error" for d in found)):
            # The compiler stumbles over printf formats that it has warned of (%s with a number): that is the error.
            wrong = [replace(d, severity="error") for d in found if d.message.startswith("format specifies type")]
            if wrong:
                wrong = [replace(d, rendered=d.rendered.replace(" warning: ", " error: ", 1)) for d in wrong]
                raise diagnostics.compile_error(wrong, self.name, outcome.log)
        if crash:  # Clang's driver reports the death of its front end as 128 + signal
            raise compiler.explain_death(128 - int(crash[1]), "the compiler")
        if any(d.severity == "error" for d in found):
            raise diagnostics.compile_error(found, self.name, outcome.log)
        error = compiler.explain_death(outcome.code, "the compiler")
        if outcome.log.strip():
            error = CompileError(
                f"{self.name} did not compile:\n{diagnostics.visible(outcome.log.strip()[:2000])}", log=outcome.log
            )
        raise error

    def _assemble(self, assembly: str, origin: list[int] | None) -> bytes:
        """Assemble and link. `origin` maps lines to the learner's if they wrote the assembly."""
        text = self._write("kernel.s", assembly)
        unit, linked = self.folder / "kernel.o", self.folder / "kernel.co"
        arguments = [
            "clang", "--target=amdgcn-amd-amdhsa", f"-mcpu={self.arch}", *self.accepted.assembler, "-x", "assembler",
            "-fno-color-diagnostics", "-Wno-unused-command-line-argument", "-c", str(text), "-o", str(unit),
        ]  # fmt: skip
        outcome = compiler.run(arguments, folder=self.folder, limits=self.limits, what="the assembler")
        if outcome.code != 0 or not unit.exists():
            found = diagnostics.parse_assembler(outcome.log, assembly, origin, self._view())
            self._fail(outcome, found)
        outcome = compiler.run(
            ["ld.lld", "-shared", "--no-undefined", "--color-diagnostics=never", str(unit), "-o", str(linked)],
            folder=self.folder, limits=self.limits, what="the linker",
        )  # fmt: skip
        if outcome.code != 0 or not linked.exists():
            self._fail(outcome, diagnostics.parse_linker(outcome.log, self._view()))
        return linked.read_bytes()

    def _finish(
        self,
        machine: bytes,
        assembly: str,
        kernels: Mapping[str, KernelSignature],
        names: Mapping[str, str],
        found: tuple[Diagnostic, ...],
        language: str,
        guarantees: Guarantees,
    ) -> CodeObject:
        log = diagnostics.render(found)
        meta = code_object.meta_bytes(
            arch=self.arch, source=self.source, name=self.name, language=language, first_line=self.first_line,
            options=self.accepted.compiler, guarantees=guarantees, kernels=kernels,
            name_expressions=names, warnings=found, log=log,
        )  # fmt: skip
        elf = elf_file.add_sections(machine, {ASSEMBLY_SECTION: assembly.encode("utf-8"), META_SECTION: meta})
        return CodeObject(
            arch=self.arch, elf=elf, assembly=assembly, source=self.source, name=self.name, warnings=found,
            kernels=MappingProxyType(dict(kernels)), name_expressions=MappingProxyType(dict(names)), log=log,
            language=language, first_line=self.first_line, options=self.accepted.compiler, guarantees=guarantees,
        )  # fmt: skip


def _signatures(machine: bytes, functions: Mapping[str, debug_info.Function]) -> dict[str, KernelSignature]:
    """Signatures of the kernels in an ELF: sizes and offsets from its metadata, names and types from the source."""
    found = {}
    for kernel in code_object.kernel_metadata(machine):
        symbol = str(kernel.get(".name", ""))
        listed = kernel.get(".args", [])
        arguments = [a for a in listed if isinstance(a, dict) and not str(a.get(".value_kind")).startswith("hidden_")]
        function = functions.get(symbol)
        formal = function.parameters if function is not None else ()
        parameters = []
        for index, argument in enumerate(arguments):
            pointer = str(argument.get(".value_kind")) != "by_value"
            size, offset = _number(argument.get(".size")), _number(argument.get(".offset"))
            if len(formal) == len(arguments):
                p = formal[index]
                kind = "pointer" if pointer or p.pointer else "value"
                parameters.append(Parameter(p.name or f"arg{index}", p.type, kind, size, p.dtype, offset))
            else:
                own = str(argument.get(".name") or f"arg{index}")
                kind = "pointer" if pointer else "value"
                spelling = str(argument.get(".type_name") or ("void *" if pointer else ""))
                parameters.append(Parameter(own, spelling, kind, size, None, offset))
        found[symbol] = KernelSignature(symbol, function.name if function else symbol, tuple(parameters))
    return found


def _references(kernels: Mapping[str, KernelSignature], source: diagnostics.Source) -> tuple[Diagnostic, ...]:
    """Warnings for kernels that take references: Clang accepts them and passes an address of the host."""
    found = []
    for kernel in kernels.values():
        for parameter in kernel.parameters:
            if not parameter.type.endswith("&"):
                continue
            message = f"the kernel {kernel.name} takes {parameter.name} by reference ({parameter.type})"
            bare = kernel.name.split("<")[0].split("::")[-1]
            advice = (
                "A kernel's arguments are copied to the device, so a reference would lead back to the host's memory.\n"
                "Take a pointer to device memory if the kernel changes it, or a plain value if it only reads it."
            )
            found.append(diagnostics.at_word("warning", message, bare, source, advice))
    return tuple(found)


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _c_string(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _display_name(name: str) -> str:
    """The source's name as it can stand in messages and in line information."""
    shown = re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", "?", str(name)).strip()
    shown = shown.encode("utf-8", "replace").decode("utf-8")
    # "-" is Clang's name for the text that it reads before the learner's first line.
    return "cell.hip" if shown in ("", "-") else shown[:200]


def _check_header_name(name: str) -> str:
    parts = re.split(r"[/\\]", name)
    if not name or name.startswith("/") or ".." in parts or re.search(r"[\x00-\x1f:\\\"]", name) or len(name) > 200:
        raise GpulabError(
            f"{name!r} is not accepted as the name of a header.",
            why="headers live in a folder of their own; names are like tools.h or lib/tools.h.",
        )
    return name


def _check_expression(expression: str) -> str:
    text = str(expression).strip()
    bare = _bare(text)
    if not bare or re.search(r"[\n\r;{}#\\\"'\x00]", bare):
        raise GpulabError(
            f"{expression!r} is not accepted as a name expression.",
            why='it names one kernel or variable, like "saxpy<float>" or "&table".',
        )
    return text


def _bare(expression: str) -> str:
    """ "saxpy<float>" of "&saxpy<float>" or "(saxpy<float>)"."""
    text = expression.strip()
    while text.startswith("&") or (text.startswith("(") and text.endswith(")")):
        text = (text[1:] if text.startswith("&") else text[1:-1]).strip()
    return text


@functools.cache
def _code_hash() -> str:
    """The hash of this package's own modules: a changed toolchain does not use what the old one kept."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
