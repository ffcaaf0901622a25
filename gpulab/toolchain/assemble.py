"""From assembly text to code object, the same for every language: assembled, linked, described and kept.

`assemble` is for languages that write assembly text: it gives the text line marks and keeps the result.
`code_object_of` is its last step, which Clang's output takes too (build.py); `kept` looks into the cache on disk first.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import MappingProxyType

from gpulab.errors import CompileError, GpulabError
from gpulab.records import Diagnostic, Guarantees
from gpulab.toolchain import cache, code_object, compiler, debug_info, diagnostics, listing, sources
from gpulab.toolchain.code_object import CodeObject, KernelSignature, Parameter
from gpulab.toolchain.request import Request

_FORMAT = "5"  # part of every cache key: raise it when the same source must give something else
_STORE = cache.Store("code", own=True)
#: Modules that word what the compiler said. What they say is written when it is read, so no code object depends on it.
_WORDING = ("advice.py", "diagnostics.py")


def assemble(
    request: Request,
    assembly: str,
    guarantees: Guarantees,
    lines: Sequence[int] | None = None,
    functions: Mapping[str, debug_info.Function] | None = None,
) -> CodeObject:
    """The code object of an assembly text with kernel descriptors and metadata.

    Args:
        request: the source, and how to compile it.
        assembly: what the language made of the source; the source itself, if it is assembly.
        guarantees: what the language promises of the text.
        lines: for each line of the text the number of the source's line that it comes from (0 for none), as messages
            count. By default the text is the source, line for line.
        functions: the source's functions by linker symbol, for names and types of parameters.

    Raises:
        CompileError: the assembler refused the text, or took too long; the message shows the source's own lines.
    """
    if lines is None:
        lines = range(request.first_line, request.first_line + assembly.count("\n") + 1)

    def make(folder: Path) -> CodeObject:
        listing.refuse_file_access(assembly, request.name, lines)
        marked, origin = listing.mark_lines(assembly, request.name, lines)
        return code_object_of(request, folder, marked, guarantees, origin=origin, functions=functions)

    own = [] if assembly == request.source else [assembly, list(lines)]
    named = {symbol: asdict(function) for symbol, function in (functions or {}).items()}
    return kept(request, make, json.dumps([own, asdict(guarantees), named]))


def kept(request: Request, make: Callable[[Path], CodeObject], *parts: str) -> CodeObject:
    """The code object that the cache has for a request, or the one that `make` makes in a folder of its own.

    Args:
        parts: what else the result depends on.
    """
    key = cache.key(_FORMAT, request.key(), compiler.version(), code_hash(), *parts)
    found = _STORE.get(key) if request.use_cache else None
    if found is not None:
        try:
            return CodeObject.from_elf(found)
        except GpulabError:
            pass  # built again below, and replaced
    with tempfile.TemporaryDirectory(prefix="gpulab-") as folder:
        result = make(Path(folder))
    if request.use_cache:
        _STORE.put(key, result.elf)
    return result


@functools.cache
def code_hash() -> str:
    """The hash of the modules that decide what a compile gives: a changed toolchain does not use what the old one kept.

    Modules that only word messages are left out: changing a word of advice keeps every code object.
    """
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if path.name not in _WORDING:
            digest.update(path.read_bytes())
    return digest.hexdigest()


def code_object_of(
    request: Request,
    folder: Path,
    assembly: str,
    guarantees: Guarantees,
    *,
    origin: Sequence[int] | None = None,
    functions: Mapping[str, debug_info.Function] | None = None,
    pointed: Mapping[str, str] | None = None,
    messages: str = "",
    program: bool = False,
) -> CodeObject:
    """Assemble and link a text, and put what is known about it into the ELF.

    Args:
        folder: where files go.
        assembly: with line marks.
        origin: the source's line of each line of the text, where the text is the language's own; otherwise the marks
            tell.
        functions: the source's functions by linker symbol, for names and types of parameters.
        pointed: the symbol of each name expression.
        messages: what the compiler said, as it said it.
        program: the source is a whole program, with host code.

    Raises:
        CompileError: the assembler or the linker refused it.
    """
    view, seen = view_of(request, program), sources.shown(request.source)
    machine = _machine_code(request, folder, assembly, origin, view)
    try:
        kernels = signatures(machine, functions or {})
    except GpulabError as error:  # only a text that writes notes of its own can give that
        raise CompileError(f"{request.name} gives a code object that cannot be read.", why=error.what) from error
    messages += _references(kernels, view)
    described = CodeObject(
        arch=request.arch,
        elf=machine,
        assembly=assembly,
        source=request.original or request.source,
        name=request.name,
        kernels=MappingProxyType(kernels),
        name_expressions=MappingProxyType(dict(pointed or {})),
        language=request.language,
        first_line=request.first_line,
        options=request.options.compiler,
        guarantees=guarantees,
        translation=seen if request.original and seen != request.original else "",
        messages=messages,
        headers=MappingProxyType(dict(request.headers) if messages else {}),
        program=program,
    )
    return described.with_sections()


def view_of(request: Request, program: bool = False) -> diagnostics.Source:
    """What messages about a request are about."""
    return diagnostics.Source(
        sources.shown(request.source),
        request.name,
        request.first_line,
        request.expressions,
        request.headers,
        program,
        request.original,
    )


def write(folder: Path, name: str, text: str) -> Path:
    """Put a text into a compile's folder."""
    path = folder / name
    path.write_bytes(sources.encoded(text))
    return path


def fail(name: str, outcome: compiler.Outcome, found: tuple[Diagnostic, ...]) -> None:
    """Raise the error that explains why a compiler process failed."""
    crash = re.search(r"frontend command failed with exit code (\d+)", outcome.log)
    if crash or (outcome.code and not any(d.severity == "error" for d in found)):
        # The compiler stumbles over printf formats that it has warned of (%s with a number): that is the error.
        wrong = [replace(d, severity="error") for d in found if d.message.startswith("format specifies type")]
        if wrong:
            wrong = [replace(d, rendered=d.rendered.replace(" warning: ", " error: ", 1)) for d in wrong]
            raise diagnostics.compile_error(wrong, name, outcome.log)
    backend = re.search(r"fatal error: error in backend: (.+)", outcome.log)
    if backend:
        raise _no_machine_code(name, diagnostics.visible(backend[1]), outcome.log)
    if crash:  # Clang's driver reports the death of its front end as 128 + signal
        raise compiler.explain_death(128 - int(crash[1]), "the compiler")
    if any(d.severity == "error" for d in found):
        raise diagnostics.compile_error(found, name, outcome.log)
    error = compiler.explain_death(outcome.code, "the compiler")
    if outcome.log.strip():
        error = CompileError(
            f"{name} did not compile:\n{diagnostics.visible(outcome.log.strip()[:2000])}", log=outcome.log
        )
    raise error


def _no_machine_code(name: str, said: str, log: str) -> CompileError:
    """The error for a source that is C++, but of which the compiler can make no instructions for this device."""
    message = f"{name}: the compiler could not make machine code of it: {said}"
    missing = re.match(r"Cannot select: intrinsic %llvm\.(amdgcn\.(\w+)[\w.]*)", said)
    if not missing:
        return CompileError(
            message,
            why="the source is C++, but the device that it is compiled for has no instructions, or no room, for it.",
            hint="compile parts of the source alone, to find which one it is.",
            log=log,
        )
    return CompileError(
        message,
        why=f"the device that it is compiled for has no instruction for __builtin_{missing[1].replace('.', '_')}.",
        hint=f"use one that it has (`gpulab isa --grep {missing[2]}` lists them), or compile for another device.",
        log=log,
    )


def _machine_code(
    request: Request, folder: Path, assembly: str, origin: Sequence[int] | None, view: diagnostics.Source
) -> bytes:
    text = write(folder, "kernel.s", assembly)
    unit, linked = folder / "kernel.o", folder / "kernel.co"
    arguments = [
        "clang", "--target=amdgcn-amd-amdhsa", f"-mcpu={request.arch}", *request.options.assembler, "-x", "assembler",
        "-fno-color-diagnostics", "-Wno-unused-command-line-argument", "-c", str(text), "-o", str(unit),
    ]  # fmt: skip
    foreign = _beyond_ascii(assembly, view)
    if foreign:
        raise diagnostics.compile_error(diagnostics.parse(foreign, view), request.name, foreign)
    outcome = compiler.run(arguments, folder=folder, limits=request.limits, what="the assembler")
    if outcome.code != 0 or not unit.exists():
        fail(request.name, outcome, diagnostics.parse_assembler(outcome.log, assembly, origin, view))
    outcome = compiler.run(
        ["ld.lld", "-shared", "--no-undefined", "--color-diagnostics=never", str(unit), "-o", str(linked)],
        folder=folder, limits=request.limits, what="the linker",
    )  # fmt: skip
    if outcome.code != 0 or not linked.exists():
        fail(request.name, outcome, diagnostics.parse_linker(outcome.log, view))
    return linked.read_bytes()


def signatures(machine: bytes, functions: Mapping[str, debug_info.Function]) -> dict[str, KernelSignature]:
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
        signature = KernelSignature(symbol, function.name if function else symbol, tuple(parameters))
        found[symbol] = code_object.laid_out(signature)
    return found


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _references(kernels: Mapping[str, KernelSignature], view: diagnostics.Source) -> str:
    """Warnings for kernels that take references, in Clang's form: it accepts them and passes an address of the host."""
    said = []
    for kernel in kernels.values():
        for parameter in kernel.parameters:
            if parameter.type.endswith("&"):
                word = kernel.name.split("<")[0].split("::")[-1]
                message = f"the kernel {kernel.name} takes {parameter.name} by reference ({parameter.type})"
                said.append(f"{_place_of(word, view)}warning: {message}\n")
    return "".join(said)


def _beyond_ascii(assembly: str, view: diagnostics.Source) -> str:
    """Errors in Clang's form for kernels whose names the assembler cannot read: those with letters beyond ASCII."""
    if assembly.isascii():
        return ""
    said = []
    for symbol in re.findall(r"^\s*\.amdhsa_kernel ([^\s\"]*[^\x00-\x7f\s]\S*)", assembly, re.MULTILINE):
        word = next(
            (name for name in re.findall(r"\b__global__\b[^;{}()]*?(\w+)\s*\(", view.text) if name in symbol), ""
        )
        said.append(
            f"{_place_of(word, view)}error: the name {word or symbol} has letters that the assembler does not take\n"
        )
    return "".join(said)


def _place_of(word: str, view: diagnostics.Source) -> str:
    """Name, line and column (in bytes) of the first use of a word in the source, as Clang writes it, or ""."""
    for number, line in enumerate(view.text.split("\n"), view.first_line):
        use = re.search(rf"\b{re.escape(word)}\b", line) if word else None
        if use:
            return f"{view.name}:{number}:{len(line[: use.start()].encode()) + 1}: "
    return ""
