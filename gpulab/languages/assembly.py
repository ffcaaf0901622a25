"""AMDGPU assembly, written by hand: the text that LLVM's assembler reads, with kernel descriptors and metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpulab.languages.language import Language
from gpulab.records import Guarantees

if TYPE_CHECKING:
    from gpulab.toolchain.code_object import CodeObject
    from gpulab.toolchain.request import Request


class Assembly:
    """Bounds and addresses are its author's business: it gets the rules that hardware has."""

    name = "asm"
    title = "AMDGPU assembly"
    suffixes = (".s", ".asm")
    magic = ""
    whole_programs = False
    guarantees = Guarantees(source_lines=True)

    def compile(self, request: Request) -> CodeObject:
        from gpulab.toolchain import assemble

        return assemble.assemble(request, request.source, self.guarantees)


LANGUAGE: Language = Assembly()
