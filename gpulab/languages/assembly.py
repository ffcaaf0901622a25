"""AMDGPU assembly, written by hand: the text that LLVM's assembler reads, with kernel descriptors and metadata."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gpulab.errors import CompileError
from gpulab.languages.language import Language
from gpulab.records import Diagnostic, Guarantees, SourceLine

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

        if line := _open_text(request.source):
            where = SourceLine(request.name, line, 1, request.source.split("\n")[line - 1])
            what = "a text in double quotes has no end"
            raise CompileError(
                f"{request.name}, line {line}: {what}.",
                why="a text ends in the line in which it begins, with a double quote.",
                hint='write \\" for a double quote inside of a text.',
                diagnostics=(Diagnostic("error", what, where),),
            )
        return assemble.assemble(request, request.source, self.guarantees)


_PIECE = re.compile(r'"(?:\\.|[^"\\\n])*"|(?:;|//)[^\n]*|/\*.*?\*/|(?P<open>")', re.S)
"""Texts and comments; `open`: a double quote that none of them holds. LLVM's assembler does not end with one."""


def _open_text(source: str) -> int:
    """The line of the first text without an end; 0 if there is none."""
    for found in _PIECE.finditer(source):
        if found["open"]:
            return source.count("\n", 0, found.start()) + 1
    return 0


LANGUAGE: Language = Assembly()
