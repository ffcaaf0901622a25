// Ballot, shuffle, any and all with masks of 64 bits, on wavefronts of 32 and of 64 lanes.
// OUT[gfx942]: 64 lanes: ballot 9249249249249249
// OUT[gfx1100]: 32 lanes: ballot 49249249
// OUT: rotated, any, all, popcount and first lane are right
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

struct Result {
  unsigned long long ballot;
  int any, all, count, first;
};
__global__ void waves(int* rotated, Result* result) {
  int lane = threadIdx.x % warpSize;
  rotated[threadIdx.x] = __shfl(lane * 10, (lane + 1) % warpSize);
  unsigned long long mask = __ballot(lane % 3 == 0);
  if (threadIdx.x == 0) {
    result->ballot = mask;
    result->count = __popcll(mask);
    result->first = __ffsll(static_cast<unsigned long long>(mask & ~1ull)) - 1;
  }
  int any = __any(lane == 7), all = __all(lane < warpSize);
  if (threadIdx.x == 0) result->any = any, result->all = all;
}

int main() {
  hipDeviceProp_t properties;
  CHECK(hipGetDeviceProperties(&properties, 0));
  const int wave = properties.warpSize, n = 128;
  int* rotated;
  Result* result;
  CHECK(hipMallocManaged(&rotated, n * sizeof(int)));
  CHECK(hipMallocManaged(&result, sizeof(Result)));
  waves<<<1, n>>>(rotated, result);
  CHECK(hipDeviceSynchronize());
  unsigned long long expected = 0;
  int count = 0;
  for (int lane = 0; lane < wave; lane += 3) expected |= 1ull << lane, ++count;
  if (result->ballot != expected || result->count != count || result->first != 3) return 1;
  if (!result->any || !result->all) return 2;
  for (int i = 0; i < n; ++i)
    if (rotated[i] != (i % wave + 1) % wave * 10) return 3;
  std::printf("%d lanes: ballot %llx\nrotated, any, all, popcount and first lane are right\n", wave, result->ballot);
}
