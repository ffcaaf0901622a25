"""What a compile gives: a code object with its text, source and kernel signatures.

`CodeObject` holds the ELF and everything known about it; `KernelSignature` and `Parameter` say how a kernel is
called. All of it travels inside the ELF, in the sections `.gpulab.asm` and `.gpulab.meta`, and
`CodeObject.from_elf` reads it back.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import Any

from gpulab.errors import GpulabError
from gpulab.records import FOREIGN, NO_GUARANTEES, Diagnostic, Guarantees
from gpulab.toolchain import elf as elf_reader
from gpulab.toolchain import listing

ASSEMBLY_SECTION, META_SECTION = ".gpulab.asm", ".gpulab.meta"
META_VERSION = 4
_CELL = re.compile(r"[/\\]ipykernel_\d+[/\\][^/\\]+\.py\Z|<ipython-input-[^/\\]*>\Z")
"""How the cells of a notebook are named as files."""
SOURCE_SUFFIXES = (".py", ".hip", ".cpp", ".cu", ".cc", ".c", ".h", ".hpp", ".s", ".mlir")
"""Of files that a foreign code object may name as its source: no other file is read for it."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One kernel parameter.

    `type` is its C++ spelling ("const float *"); `kind` is "pointer" or "value"; `size` and `offset` are bytes
    in the kernel's argument block. `dtype` is the numpy name of a scalar, or of what a pointer points to (of arrays
    their elements): "float32", "int32", "bool"; "uint64" for a pointer to pointers; None for structures, vector types
    and void.
    """

    name: str
    type: str
    kind: str
    size: int
    dtype: str | None = None
    offset: int = 0


@dataclass(frozen=True, slots=True)
class KernelSignature:
    """How a kernel is called: linker `symbol`, the `name` in the source ("saxpy<float>"), its parameters."""

    symbol: str
    name: str
    parameters: tuple[Parameter, ...] = ()

    def __str__(self) -> str:
        listed = ", ".join(
            f"{p.type}{'' if p.type.endswith(('*', '&')) else ' '}{p.name}".strip() for p in self.parameters
        )
        return f"{self.name}({listed})"


AMDGPU = "amdgpu"
"""The kind of code object (`CodeObject.format`) that the languages here make: AMD's ELF files."""


@dataclass(frozen=True, slots=True)
class CodeObject:
    """A compiled source: ELF for `arch`, its assembly text, the source, and its kernels by linker symbol.

    `translation` is what the compiler read, if that was another text than the source, line for line. `messages` is what
    the compiler said of it, in its own words; `headers` and `program` (whether the source is a whole program) belong to
    them.
    `files` are those that the lines of a foreign code object are of.
    `format` is the kind of code object, of which a provider says which it loads.
    """

    arch: str
    elf: bytes = field(repr=False)
    assembly: str = field(repr=False)
    source: str = field(repr=False)
    name: str
    kernels: Mapping[str, KernelSignature] = field(default_factory=dict)
    name_expressions: Mapping[str, str] = field(default_factory=dict)
    language: str = "hip"
    first_line: int = 1
    options: tuple[str, ...] = ()
    guarantees: Guarantees = NO_GUARANTEES
    translation: str = field(default="", repr=False)
    messages: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    program: bool = False
    format: str = AMDGPU
    files: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What the compiler warned of, worded now: a kept code object has today's advice."""
        if not self.messages:
            return ()
        from gpulab.toolchain import diagnostics

        text, original = (self.translation, self.source) if self.translation else (self.source, "")
        view = diagnostics.Source(
            text, self.name, self.first_line, tuple(self.name_expressions), self.headers, self.program, original
        )
        return diagnostics.parse(self.messages, view)

    @property
    def log(self) -> str:
        """The warnings as one text."""
        if not self.messages:
            return ""
        from gpulab.toolchain import diagnostics

        return diagnostics.render(self.warnings)

    @property
    def source_beside(self) -> str:
        """The source, to stand beside the assembly; "" where the assembly is the source itself, with line marks."""
        own = listing.without_marks(self.assembly) == listing.without_marks(self.source)
        return "" if own else self.source

    @classmethod
    def from_elf(cls, elf: bytes) -> CodeObject:
        """Read a code object back from its ELF: from its own sections, or, if another compiler made it, by
        disassembling.

        Raises:
            GpulabError: the bytes are no AMD GPU ELF, or hold code that cannot be read here (`binary.assembly_of`).
        """
        elf = bytes(elf)
        sections = elf_reader.sections(elf)
        if ASSEMBLY_SECTION not in sections or META_SECTION not in sections:
            return cls._foreign(elf)
        try:
            meta = json.loads(sections[META_SECTION])
            if meta["version"] != META_VERSION:
                raise GpulabError(
                    f"this code object was made by another version of gpulab (its notes have version "
                    f"{meta['version']!r}; this gpulab reads {META_VERSION}).",
                    hint="compile its source again.",
                )
            return cls(
                arch=str(meta["arch"]),
                elf=elf,
                assembly=sections[ASSEMBLY_SECTION].decode("utf-8", "replace"),
                source=str(meta["source"]),
                name=str(meta["name"]),
                kernels=MappingProxyType({str(k["symbol"]): _signature(k) for k in meta["kernels"]}),
                name_expressions=_texts(meta["name_expressions"]),
                language=str(meta["language"]),
                first_line=int(meta["first_line"]),
                options=tuple(str(option) for option in meta["options"]),
                guarantees=Guarantees(**{str(name): value is True for name, value in meta["guarantees"].items()}),
                translation=str(meta["translation"]),
                messages=str(meta["messages"]),
                headers=_texts(meta["headers"]),
                program=meta["program"] is True,
            )
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise GpulabError(
                f"the notes that gpulab keeps in this code object ({META_SECTION}) cannot be read: {error}.",
                why="the file is damaged, or something else wrote a section of this name.",
                hint="compile its source again.",
            ) from error

    @classmethod
    def _foreign(cls, elf: bytes) -> CodeObject:
        from gpulab.toolchain import assemble, binary

        found = binary.assembly_of(elf)
        kernels = assemble.signatures(elf, {})
        return cls(
            found.arch, elf, found.text, "", "code object", kernels, language="", files=found.files, guarantees=FOREIGN
        )  # fmt: skip

    def sources(self) -> dict[str, str]:
        """The texts behind the lines of the code, by file name: the source, or files of source code that are here."""
        if not self.files:
            return {self.name: "\n" * (self.first_line - 1) + self.source}
        named = (name for name in self.files if name.endswith(SOURCE_SUFFIXES) or _CELL.search(name))
        return {name: self._text_of(name) for name in named}

    def _text_of(self, name: str) -> str:
        """The text of a file or of a notebook's cell. A cell has another name in each process: what was compiled in an
        earlier one, and kept, has the name of that; then it is the last cell that defines a kernel of this object."""
        import linecache  # it also has the cells of notebooks

        lines = linecache.getlines(name)
        if not lines and _CELL.search(name):
            defined = re.compile(rf"^\s*def ({'|'.join(map(re.escape, self.kernels)) or '$'})\s*\(", re.M)
            for other in reversed([each for each in linecache.cache if _CELL.search(each)]):
                lines = linecache.getlines(other)
                if defined.search("".join(lines)):
                    break
            else:
                lines = []
        return "".join(lines)

    def with_sections(self) -> CodeObject:
        """The same with an ELF that holds all of this in sections of its own."""
        added = {ASSEMBLY_SECTION: self.assembly.encode("utf-8"), META_SECTION: _meta(self)}
        return replace(self, elf=elf_reader.add_sections(self.elf, added))

    def find(self, name: str) -> KernelSignature:
        """The kernel with this symbol, or with this name in the source.

        Raises:
            GpulabError: there is none, or several; the message says what there is.
        """
        if name in self.kernels:
            return self.kernels[name]
        if name in self.name_expressions and self.name_expressions[name] in self.kernels:
            return self.kernels[self.name_expressions[name]]
        exact = [kernel for kernel in self.kernels.values() if kernel.name == name]
        # saxpy stands for saxpy<float> when that is the only saxpy.
        found = exact or [kernel for kernel in self.kernels.values() if kernel.name.split("<")[0] == name]
        if len(found) == 1:
            return found[0]
        if found:
            raise GpulabError(
                f"{self.name} has {len(found)} kernels named {name}.",
                why="overloads and instances of a template share a name.",
                hint="choose one: " + ", ".join(f"{kernel} = {kernel.symbol}" for kernel in found) + ".",
            )
        raise self.missing(name)

    def missing(self, name: str) -> GpulabError:
        """The error that explains why this code object has no kernel of this name."""
        if not self.kernels:
            from gpulab.toolchain import advice

            return GpulabError(
                f"{self.name} compiled, but there is no kernel in it.",
                why=advice.for_source(self.source) or "a kernel is a function marked __global__.",
                hint='a kernel looks like this: extern "C" __global__ void name(float* x, int n) { ... }',
            )
        known = sorted({kernel.name for kernel in self.kernels.values()} | set(self.kernels))
        near = difflib.get_close_matches(name, known, n=1)
        return GpulabError(
            f"{self.name} has no kernel named {name}.",
            why="it has " + ", ".join(str(kernel) for kernel in self.kernels.values()) + ".",
            hint=f"did you mean {near[0]}?" if near else "kernels are the functions marked __global__.",
        )


def kernel_metadata(elf: bytes) -> list[dict[str, Any]]:
    """The entries of "amdhsa.kernels" that are maps.

    Raises:
        GpulabError: the bytes cannot be read.
    """
    kernels = elf_reader.metadata(elf).get("amdhsa.kernels", [])
    return [kernel for kernel in kernels if isinstance(kernel, dict)] if isinstance(kernels, list) else []


def _meta(code: CodeObject) -> bytes:
    """The contents of `.gpulab.meta`: JSON in UTF-8 with sorted keys, so that equal compiles give equal bytes."""
    meta = {
        "version": META_VERSION,
        "arch": code.arch,
        "language": code.language,
        "name": code.name,
        "first_line": code.first_line,
        "source": code.source,
        "options": list(code.options),
        "guarantees": asdict(code.guarantees),
        "kernels": [asdict(kernel) for kernel in code.kernels.values()],
        "name_expressions": list(code.name_expressions.items()),
        "translation": code.translation,
        "messages": code.messages,
        "headers": list(code.headers.items()),
        "program": code.program,
    }
    return json.dumps(meta, sort_keys=True, separators=(",", ":")).encode("utf-8")


def _texts(pairs: Any) -> Mapping[str, str]:
    return MappingProxyType({str(name): str(text) for name, text in pairs})


MOST_ARGUMENT_BYTES = 1 << 16
"""Of a kernel's argument block that is believed: HIP's own limit is far below."""


def laid_out(signature: KernelSignature) -> KernelSignature:
    """The signature, if its parameters lie one behind the other in an argument block of a size that can be.

    Raises:
        GpulabError: a damaged or forged code object says something else.
    """
    end = 0
    for parameter in signature.parameters:
        last = parameter.offset + parameter.size
        if not end <= parameter.offset <= last <= MOST_ARGUMENT_BYTES:
            raise GpulabError(
                f"the kernel {signature.name} has its argument {parameter.name} of {parameter.size} bytes at byte "
                f"{parameter.offset} of the argument block.",
                why=f"arguments lie one behind the other, in {MOST_ARGUMENT_BYTES:,} bytes at most.",
                hint="the code object is damaged: compile it again.",
            )
        end = last
    return signature


def _signature(item: Mapping[str, Any]) -> KernelSignature:
    signature = KernelSignature(
        str(item["symbol"]),
        str(item["name"]),
        tuple(
            Parameter(
                str(p["name"]),
                str(p["type"]),
                "pointer" if p["kind"] == "pointer" else "value",
                int(p["size"]),
                None if p["dtype"] is None else str(p["dtype"]),
                int(p["offset"]),
            )
            for p in item["parameters"]
        ),
    )
    return laid_out(signature)
