"""The assembly text that LLVM wrote for Triton's kernels, as gpulab's assembler takes it: `assembly_of`.

Triton's LLVM is newer than the assembler here, and Triton's launcher does part of what a kernel's own notes say
elsewhere. So: what only the newer one knows is left out where it decides nothing; the LDS that Triton allocates at the
launch becomes the kernel's own; Triton's two scratch buffers, which stand behind the arguments, become hidden
arguments, which are null. Lines are those of the source, where a part of Triton's own library is inlined those of the
call.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gpulab.errors import CompileError
from gpulab.toolchain import listing
from gpulab.toolchain.triton.inside import SOURCE

_TYPES = {
    "i1": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u1": "bool", "u8": "uint8",
    "u16": "uint16", "u32": "uint32", "u64": "uint64", "fp16": "float16", "fp32": "float32", "fp64": "float64",
}  # fmt: skip
_FILE = re.compile(r'\s*\.file\s+(\d+)\s+(?:"[^"]*"\s+)?"([^"]*)"')
_LOC = re.compile(r"\s*\.loc\s+(\d+)\s+(\d{1,9})")
_CALL = re.compile(rf"@\[ {re.escape(SOURCE)}:(\d{{1,9}})")
_DROPPED = (".amdgcn_target", ".amdhsa_inst_pref_size", ".amdhsa_code_object_version")
_SCRATCH_BUFFERS = 2


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter by its name, and its type as Triton spells it ("*fp32")."""

    name: str
    kind: str

    @property
    def is_pointer(self) -> bool:
        return self.kind.startswith("*")

    @property
    def dtype(self) -> str | None:
        """numpy's name of the type, or of what is pointed to; None if numpy has no such type (bf16)."""
        return _TYPES.get(self.kind.removeprefix("*").removeprefix("k"))


@dataclass(frozen=True, slots=True)
class Compiled:
    """A kernel as Triton compiled it: its LDS is allocated at the launch."""

    name: str
    symbol: str
    parameters: tuple[Parameter, ...]
    lds_bytes: int
    assembly: str


def assembly_of(kernels: Sequence[Compiled], first_line: int, count: int) -> tuple[str, list[int]]:
    """One text for all kernels, and for each of its lines the line of the source, of `count` lines (0 for none).

    Raises:
        CompileError: a text is not as LLVM writes it.
    """
    out, lines, notes = ["\t.amdhsa_code_object_version 5"], [0], []
    for number, each in enumerate(kernels):
        body, own, described = _body(each)
        # Local labels of several texts may be the same.
        out += [re.sub(r"\.L(?=\w)", f".L{number}_", line) for line in body] if len(kernels) > 1 else body
        lines += [first_line + line - 1 if 1 <= line <= count else 0 for line in own]
        notes += described
    import yaml

    listed = {"amdhsa.kernels": notes, "amdhsa.version": [1, 2]}
    added = ["\t.amdgpu_metadata", "---", *yaml.safe_dump(listed).splitlines(), "...", "\t.end_amdgpu_metadata", ""]
    return "\n".join([*out, *added]), lines + [0] * len(added)


def _body(kernel: Compiled) -> tuple[list[str], list[int], list[dict[str, Any]]]:
    """The lines of a kernel's text, the source's line of each, and the notes."""
    text = listing.clean(kernel.assembly)[0]
    head, mark, rest = text.partition("\t.amdgpu_metadata\n")
    notes, end, tail = rest.partition("\t.end_amdgpu_metadata")
    if not mark or not end:
        raise CompileError(f"the kernel {kernel.name} has no notes.")
    out: list[str] = []
    lines: list[int] = []
    files: dict[str, str] = {}
    current = 0
    for line in (head + tail).split("\n"):
        bare = line.strip()
        if file := _FILE.match(line):
            files[file[1]] = file[2]
        elif place := _LOC.match(line):
            call = _CALL.findall(line)
            if files.get(place[1]) == SOURCE:
                current = int(place[2]) or current
            elif call:
                current = int(call[-1])
        elif bare.startswith(".file") or bare.startswith(_DROPPED):
            pass
        else:
            if bare.startswith(".amdhsa_group_segment_fixed_size"):
                line = f"\t\t.amdhsa_group_segment_fixed_size {kernel.lds_bytes}"
            out.append(line)
            lines.append(current)
    return out, lines, _notes(kernel, notes)


def _notes(kernel: Compiled, text: str) -> list[dict[str, Any]]:
    """The notes on the kernel with its own LDS, and with Triton's buffers as hidden arguments."""
    import yaml

    try:
        described = yaml.safe_load(text.strip().removesuffix("..."))["amdhsa.kernels"]
        found = [dict(each) for each in described if each[".name"] == kernel.symbol]
        for each in found:
            each[".group_segment_fixed_size"] = kernel.lds_bytes
            arguments = [dict(argument) for argument in each[".args"]]
            given = [one for one in arguments if not str(one[".value_kind"]).startswith("hidden_")]
            if len(given) != len(kernel.parameters) + _SCRATCH_BUFFERS:
                raise ValueError(f"{len(given)} arguments")
            for one in given[len(kernel.parameters) :]:
                one[".value_kind"] = "hidden_none"
                one.pop(".address_space", None)
            each[".args"] = arguments
    except (yaml.YAMLError, KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise CompileError(f"the notes of the kernel {kernel.name} cannot be read: {error}.") from None
    if len(found) != 1:
        raise CompileError(f"the text of the kernel {kernel.name} describes {len(found)} kernels of that name.")
    return found
