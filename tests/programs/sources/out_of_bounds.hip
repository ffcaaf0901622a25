// A kernel without a guard: the fault is explained with its line, the next HIP call returns an error.
// FAULT: out of bounds
// EXIT: 1
// ERR: out_of_bounds.hip, line 15
// ERR: at the end of an allocation of 4,000 bytes
// ERR: an illegal memory access was encountered
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>

// 1000 elements, 4 blocks of 256 threads: 24 threads too many.
__global__ void fill(int* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i + 8] = i;
}

int main() {
  int* x = nullptr;
  if (hipMalloc(&x, 1000 * sizeof(int)) != hipSuccess) return 2;
  fill<<<4, 256>>>(x);
  hipError_t error = hipDeviceSynchronize();
  if (error != hipSuccess) {
    std::fprintf(stderr, "%s\n", hipGetErrorString(error));
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
