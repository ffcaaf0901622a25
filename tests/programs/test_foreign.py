"""A program loads a code object that gpulab did not make: Clang's own, as a file and as bytes of memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpulab import programs
from gpulab.toolchain import compile, compiler, hosted

pytestmark = pytest.mark.skipif(bool(hosted.unavailable()), reason=hosted.unavailable() or "programs can be built")
SOURCE = r"""
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>

int main(int, char** arguments) {
  hipModule_t module;
  std::printf("%s\n", hipGetErrorName(hipModuleLoad(&module, arguments[1])));
  std::vector<char> image(1 << 20);
  std::FILE* file = std::fopen(arguments[1], "rb");
  std::fread(image.data(), 1, image.size(), file);
  std::printf("%s\n", hipGetErrorName(hipModuleLoadData(&module, image.data())));
}
"""


def test_a_code_object_of_clang_is_explained_to_a_program(tmp_path: Path) -> None:
    text, unit, out = tmp_path / "k.s", tmp_path / "k.o", tmp_path / "k.co"
    text.write_text(compile("__global__ void twice(float* x) { x[threadIdx.x] *= 2; }", arch="gfx942").assembly)
    target = ["--target=amdgcn-amd-amdhsa", "-mcpu=gfx942"]
    for command in (["clang", *target, "-x", "assembler", "-c", str(text), "-o", str(unit)],
                    ["ld.lld", "-shared", str(unit), "-o", str(out)]):  # fmt: skip
        assert compiler.run(command, folder=tmp_path).code == 0
    run = programs.build(SOURCE).run(str(out), arch="gfx942", folder=tmp_path)
    assert run.stdout.splitlines() == ["hipErrorInvalidImage"] * 2
    for call in ("hipModuleLoad", "hipModuleLoadData"):
        assert f"gpulab: {call} returned hipErrorInvalidImage: " in run.stderr
    assert "not made by gpulab" in run.stderr
    assert "_Z5twicePf" in run.stderr
