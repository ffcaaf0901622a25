// Pi by random points: a generator for each thread, the same points on the host.
// OUT: 131072 points: the host counts the same
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
#include <cmath>

__host__ __device__ inline unsigned next(unsigned& state) {  // Marsaglia's xorshift
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}
__host__ __device__ inline int hits(unsigned seed, int points) {
  unsigned state = seed * 2654435761u + 1;
  int count = 0;
  for (int i = 0; i < points; ++i) {
    unsigned long long x = next(state) >> 16, y = next(state) >> 16;
    count += x * x + y * y < 65536ull * 65536ull;
  }
  return count;
}
__global__ void throw_points(unsigned long long* total, int points) {
  atomicAdd(total, static_cast<unsigned long long>(hits(blockIdx.x * blockDim.x + threadIdx.x, points)));
}

int main() {
  const int threads = 4096, points = 32;
  unsigned long long *total, found, expected = 0;
  CHECK(hipMalloc(&total, sizeof *total));
  CHECK(hipMemset(total, 0, sizeof *total));
  throw_points<<<threads / 128, 128>>>(total, points);
  CHECK(hipMemcpy(&found, total, sizeof found, hipMemcpyDeviceToHost));
  for (int t = 0; t < threads; ++t) expected += hits(t, points);
  if (found != expected || std::fabs(4.0 * found / (threads * points) - M_PI) > 0.1) return 1;
  std::printf("%d points: the host counts the same\n", threads * points);
}
