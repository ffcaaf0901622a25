// A launch on a device that the file has no code for: an error, also on standard error.
// OPTIONS: --offload-arch=gfx942
// OUT: launch hipErrorNoBinaryForGpu
// ERR: gpulab: hipLaunchKernel returned hipErrorNoBinaryForGpu
// ERR: code for gfx942
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void fill(int* p) { p[threadIdx.x] = 7; }

int main() {
  int* p;
  if (hipSetDevice(1) != hipSuccess || hipMalloc(&p, 256) != hipSuccess) return 1;
  fill<<<1, 64>>>(p);
  std::printf("launch %s\n", hipGetErrorName(hipGetLastError()));
}
