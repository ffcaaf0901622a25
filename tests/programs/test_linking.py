"""A program that compiles two sources at run time with -fgpu-rdc and links them with hiprtcLink*."""

from __future__ import annotations

import os
import subprocess

import pytest

from gpulab import programs
from gpulab.toolchain import hosted

pytestmark = pytest.mark.skipif(bool(hosted.unavailable()), reason=hosted.unavailable() or "programs can be built")

SOURCE = r"""
#include <hip/hip_runtime.h>
#include <hip/hiprtc.h>
#include <cstdio>
#include <vector>

const char* kernel = "extern __device__ float square(float);"
                     "extern \"C\" __global__ void squares(float* x) { x[threadIdx.x] = square(threadIdx.x); }";
const char* function = "__device__ float square(float x) { return x * x; }";

std::vector<char> unit(const char* source) {
  hiprtcProgram program;
  const char* options[] = {"-fgpu-rdc"};
  size_t size = 0;
  hiprtcCreateProgram(&program, source, "unit.hip", 0, nullptr, nullptr);
  hiprtcCompileProgram(program, 1, options);
  hiprtcGetBitcodeSize(program, &size);
  std::vector<char> bitcode(size);
  hiprtcGetBitcode(program, bitcode.data());
  hiprtcDestroyProgram(&program);
  return bitcode;
}

int main() {
  std::vector<char> a = unit(kernel), b = unit(function);
  hiprtcLinkState state;
  hiprtcLinkCreate(0, nullptr, nullptr, &state);
  hiprtcLinkAddData(state, HIPRTC_JIT_INPUT_LLVM_BITCODE, a.data(), a.size(), "a", 0, nullptr, nullptr);
  void* image;
  size_t size;
  std::printf("alone: %s\n", hiprtcGetErrorString(hiprtcLinkComplete(state, &image, &size)));
  hiprtcLinkAddData(state, HIPRTC_JIT_INPUT_LLVM_BITCODE, b.data(), b.size(), "b", 0, nullptr, nullptr);
  std::printf("both: %s\n", hiprtcGetErrorString(hiprtcLinkComplete(state, &image, &size)));
  hipModule_t module;
  hipFunction_t squares;
  hipModuleLoadData(&module, image);
  hipModuleGetFunction(&squares, module, "squares");
  hiprtcLinkDestroy(state);
  float *x, out[4];
  hipMalloc(&x, sizeof out);
  void* arguments[] = {&x};
  hipModuleLaunchKernel(squares, 1, 1, 1, 4, 1, 1, 0, nullptr, arguments, nullptr);
  hipMemcpy(out, x, sizeof out, hipMemcpyDeviceToHost);
  std::printf("%g %g %g %g\n", out[0], out[1], out[2], out[3]);
}
"""


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_a_program_links_what_it_compiled(arch: str) -> None:
    program = programs.build(SOURCE, archs=(arch,))
    environment = {**os.environ, "GPULAB_DEVICES": arch, "GPULAB_LIBRARY": "virtual"}
    done = subprocess.run([str(program.path)], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout == "alone: HIPRTC_ERROR_LINKING\nboth: HIPRTC_SUCCESS\n0 1 4 9\n"
    assert "square(float)" in done.stderr
