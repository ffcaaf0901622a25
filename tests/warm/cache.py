"""Fills an empty cache with what most tests ask for first: run as a program before the tests, while they are collected.

Without it each worker would build the same at the same time: the device library, precompiled headers, the libraries of
the virtual GPU, the C++ library. The first program that a machine ever builds also says that the C++ library is built
before it. JupyterLab and papermill take that line away when it is done; nbval would compare it.
"""

from __future__ import annotations

ARCHITECTURES = ("gfx942", "gfx1100")
KERNEL = "__global__ void k(float* x) { x[threadIdx.x] = threadIdx.x; }"
PROGRAM = f"""
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>
{KERNEL}
int main() {{
  float* x;
  if (hipMalloc(&x, 256) != hipSuccess) return 1;
  k<<<1, 64>>>(x);
  std::vector<float> y(64);
  if (hipMemcpy(y.data(), x, 256, hipMemcpyDeviceToHost) != hipSuccess) return 1;
  std::printf("%g\\n", y[63]);
}}
"""


def fill() -> None:
    import gpulab
    from gpulab import programs
    from gpulab.toolchain import hosted

    for arch in ARCHITECTURES:
        with gpulab.using(arch):
            module = gpulab.compile(KERNEL)
            module.k[1, 64](gpulab.zeros(64))
    if hosted.unavailable():
        return
    hosted.setting().cxx_library().require()
    for arch in ARCHITECTURES:
        run = programs.build(PROGRAM, name="first.hip", archs=(arch,)).run(arch=arch)
        assert run.stdout == "63\n", run.stdout + run.stderr


if __name__ == "__main__":
    fill()
