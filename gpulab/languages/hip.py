"""HIP C++: kernels by Clang, with gpulab's device headers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from gpulab.languages.language import Answers
from gpulab.records import ALL_GUARANTEES

if TYPE_CHECKING:
    from gpulab.toolchain.code_object import CodeObject
    from gpulab.toolchain.request import Request


class Hip:
    """What ``%%hip`` and ``gpulab.compile(source)`` compile."""

    name = "hip"
    title = "HIP C++"
    suffixes = (".hip", ".cpp", ".cc", ".cxx", ".c")
    magic = "hip"
    whole_programs = True
    guarantees = ALL_GUARANTEES

    def compile(self, request: Request) -> CodeObject:
        from gpulab.toolchain import build

        return build.compile_request(request)

    heading = "__global__ void {kernel}({parameters})"
    stub = "// YOUR CODE HERE"
    needs: Mapping[str, tuple[str, ...]] = MappingProxyType({})

    def code_only(self, source: str) -> str:
        from gpulab.toolchain import sources

        return sources.code_only(source)

    def defines(self, source: str, kernel: str) -> bool:
        from gpulab.toolchain import sources

        return any(re.search(rf"\b{kernel}\s*\(", head.partition("__global__")[2]) for head in sources.heads(source))

    def text_of(self, answer: object) -> str:
        return ""


LANGUAGE: Answers = Hip()
