"""CUDA C++: its kernels, translated line for line to HIP C++ by gpulab.porting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from gpulab.languages import hip
from gpulab.languages.language import Language

if TYPE_CHECKING:
    from gpulab.porting import Translation
    from gpulab.toolchain.code_object import CodeObject
    from gpulab.toolchain.request import Request


class Cuda:
    """What ``%%cuda`` compiles: the device's part of the text. Functions of the host, such as main(), are left out."""

    name = "cuda"
    title = "CUDA C++"
    suffixes = (".cu",)
    magic = "cuda"
    whole_programs = True
    guarantees = hip.LANGUAGE.guarantees

    def compile(self, request: Request) -> CodeObject:
        from gpulab.porting import device_part

        found = self.translate(request.source, request.name, request.first_line)
        return hip.LANGUAGE.compile(request.translated(device_part(found.text_without_added_lines())))

    def translate(
        self, source: str, name: str, first_line: int, launches: Literal["cuda", "hip"] = "cuda"
    ) -> Translation:
        from gpulab.porting import hipify

        return hipify(source, name=name, launches=launches, first_line=first_line)


LANGUAGE: Language = Cuda()
