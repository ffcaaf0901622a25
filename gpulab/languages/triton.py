"""Triton: kernels in Python, for whole blocks of elements. The text is compiled in a process within walls."""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from gpulab.languages.language import Answers
from gpulab.records import Guarantees

if TYPE_CHECKING:
    from gpulab.toolchain.code_object import CodeObject
    from gpulab.toolchain.request import Request


class Triton:
    """A Python text with functions marked ``@triton.jit``.

    A kernel of it has types when it is called, as a template has: they are named by an expression, such as
    "add(*fp32:16, *fp32:16, i32, BLOCK=256)" (docs/guests.md), or stand as annotations at its parameters. Triton
    promises nothing of bounds and alignment.
    """

    name = "triton"
    title = "Triton"
    suffixes = (".py",)
    magic = ""
    whole_programs = False
    guarantees = Guarantees(source_lines=True, signatures=True, compiled=True)

    def compile(self, request: Request) -> CodeObject:
        from gpulab.toolchain import triton

        return triton.compile_request(request, self.guarantees)

    heading = "@triton.jit def {kernel}({parameters}):"

    stub = "# YOUR CODE HERE\npass"

    @property
    def needs(self) -> Mapping[str, tuple[str, ...]]:
        from gpulab.toolchain import triton

        return {} if triton.missing() else {"run": (sys.executable,), "read": triton.readable()}

    def code_only(self, source: str) -> str:
        return _NOT_CODE.sub(lambda found: " " if found[0].startswith("#") else '""', source.replace("\\\n", ""))

    def defines(self, source: str, kernel: str) -> bool:
        return re.search(rf"{_JIT}def[ \t]+{kernel}[ \t]*\(", self.code_only(source), re.M) is not None

    def text_of(self, answer: object) -> str:
        """The whole cell, or file, that a kernel stands in: what it calls is there, too."""
        for _ in range(_WRAPPERS):
            code = getattr(answer, "__code__", None)
            if code is not None:
                return "".join(linecache.getlines(code.co_filename))
            answer = getattr(answer, "fn", None)
        return ""


_JIT = r"^[ \t]*@(?:\w+\.)?jit\b[^\n]*\n(?:[ \t]*(?:@[^\n]*)?\n)*[ \t]*"
"""The mark of a kernel, with what may stand between it and the function."""
_WRAPPERS = 8
"""Decorators around a function, at most: autotune, heuristics, jit."""
_NOT_CODE = re.compile(
    r'"""(?:\\.|[^\\])*?"""|' r"'''(?:\\.|[^\\])*?'''|" r'"(?:\\.|[^"\\\n])*"|' r"'(?:\\.|[^'\\\n])*'|#[^\n]*", re.S
)


LANGUAGE: Answers = Triton()
