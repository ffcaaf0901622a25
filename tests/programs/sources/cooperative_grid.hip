// A cooperative launch: all blocks wait for each other between the rounds of a stencil.
// OUT: 20 rounds of 4096 values are right
// OUT: too many blocks: hipErrorCooperativeLaunchTooLarge
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
#include <hip/hip_cooperative_groups.h>
#include <utility>

namespace cg = cooperative_groups;

__global__ void rounds(int* a, int* b, int n, int count) {
  cg::grid_group grid = cg::this_grid();
  for (int r = 0; r < count; ++r) {
    for (int i = grid.thread_rank(); i < n; i += grid.size()) b[i] = a[i] + a[(i + 1) % n] % 1000;
    grid.sync();
    int* other = a;
    a = b;
    b = other;
  }
}

int main() {
  int n = 4096, count = 20, supported = 0;
  CHECK(hipDeviceGetAttribute(&supported, hipDeviceAttributeCooperativeLaunch, 0));
  if (!supported) return 2;
  std::vector<int> host(n), next(n), found(n);
  for (int i = 0; i < n; ++i) host[i] = i % 91;
  int *a, *b;
  CHECK(hipMalloc(&a, n * sizeof(int)));
  CHECK(hipMalloc(&b, n * sizeof(int)));
  CHECK(hipMemcpy(a, host.data(), n * sizeof(int), hipMemcpyHostToDevice));
  void* arguments[] = {&a, &b, &n, &count};
  CHECK(hipLaunchCooperativeKernel(rounds, dim3(8), dim3(128), arguments, 0, 0));
  CHECK(hipDeviceSynchronize());
  CHECK(hipMemcpy(found.data(), a, n * sizeof(int), hipMemcpyDeviceToHost));
  for (int r = 0; r < count; ++r) {
    for (int i = 0; i < n; ++i) next[i] = host[i] + host[(i + 1) % n] % 1000;
    std::swap(host, next);
  }
  if (found != host) return 1;
  std::printf("%d rounds of %d values are right\n", count, n);
  hipError_t error = hipLaunchCooperativeKernel(rounds, dim3(1 << 20), dim3(1024), arguments, 0, 0);
  std::printf("too many blocks: %s\n", hipGetErrorName(error));
}
