// The occupancy calls by kernel name, and the kernel's attributes.
// OUT: the best block is a multiple of the wave size and fits
// OUT: more LDS, fewer blocks
// OUT: attributes: 4096 bytes of LDS, at most 512 threads
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                             \
  do {                                                                                          \
    hipError_t error = (call);                                                                  \
    if (error != hipSuccess) {                                                                  \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(error));        \
      std::exit(EXIT_FAILURE);                                                                  \
    }                                                                                           \
  } while (0)

__global__ void __launch_bounds__(512) work(float* x) {
  __shared__ float tile[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) tile[i] = x[i];
  __syncthreads();
  x[threadIdx.x] = tile[1023 - threadIdx.x];
}
template <int n>
__global__ void other(int* x) {
  x[threadIdx.x] = n;
}

int main() {
  hipDeviceProp_t properties;
  CHECK(hipGetDeviceProperties(&properties, 0));
  int grid = 0, block = 0;
  CHECK(hipOccupancyMaxPotentialBlockSize(&grid, &block, work, 0, 0));
  if (block < 1 || block > 512 || block % properties.warpSize || grid < 1) return 1;
  std::puts("the best block is a multiple of the wave size and fits");
  int few = 0, many = 0;
  CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&many, work, 256, 0));
  CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&few, work, 256, 32768));
  if (few < 1 || few >= many) return 1;
  std::puts("more LDS, fewer blocks");
  hipFuncAttributes attributes;
  CHECK(hipFuncGetAttributes(&attributes, reinterpret_cast<const void*>(work)));
  std::printf("attributes: %zu bytes of LDS, at most %d threads\n", attributes.sharedSizeBytes,
              attributes.maxThreadsPerBlock);
  if (attributes.numRegs < 1) return 1;
  CHECK(hipOccupancyMaxPotentialBlockSize(&grid, &block, other<3>));
  CHECK(hipOccupancyMaxPotentialBlockSize(&grid, &block, (void*)work, 0, 512));  // a pointer, and a limit that is an int
  CHECK(hipFuncSetAttribute(reinterpret_cast<const void*>(work), hipFuncAttributeMaxDynamicSharedMemorySize, 16384));
  CHECK(hipFuncSetCacheConfig(reinterpret_cast<const void*>(work), hipFuncCachePreferShared));
  if (hipFuncGetAttributes(&attributes, &grid) != hipErrorInvalidDeviceFunction) return 1;
  (void)hipGetLastError();
  // More threads than __launch_bounds__ allows.
  work<<<1, 1024>>>(nullptr);
  if (hipGetLastError() == hipSuccess) return 2;
}
