"""HIP C++: kernels by Clang, with gpulab's device headers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpulab.languages.language import Language
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


LANGUAGE: Language = Hip()
