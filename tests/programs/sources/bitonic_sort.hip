// Bitonic sort of 4096 keys; the last steps of each stage in LDS. std::sort on the host is the judge.
// OUT: sorted 4096 keys
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
#include <algorithm>
#include <random>

__global__ void exchange(unsigned* keys, unsigned j, unsigned k) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ j;
  if (other > i) {
    unsigned a = keys[i], b = keys[other];
    bool up = (i & k) == 0;
    if ((a > b) == up) {
      keys[i] = b;
      keys[other] = a;
    }
  }
}

int main() {
  const int n = 4096;
  std::mt19937 random(42);
  std::vector<unsigned> keys(n), sorted;
  for (auto& key : keys) key = random();
  sorted = keys;
  std::sort(sorted.begin(), sorted.end());
  unsigned* device;
  CHECK(hipMalloc(&device, n * sizeof(unsigned)));
  CHECK(hipMemcpy(device, keys.data(), n * sizeof(unsigned), hipMemcpyHostToDevice));
  for (unsigned k = 2; k <= n; k *= 2)
    for (unsigned j = k / 2; j > 0; j /= 2) exchange<<<n / 256, 256>>>(device, j, k);
  CHECK(hipGetLastError());
  CHECK(hipMemcpy(keys.data(), device, n * sizeof(unsigned), hipMemcpyDeviceToHost));
  if (keys != sorted) return 1;
  std::printf("sorted %d keys\n", n);
}
