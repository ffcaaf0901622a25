// Unified memory: hipMallocManaged, and a __managed__ variable that host and device share.
// OUT: 4096 cubes, sum of steps 4096
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                             \
  do {                                                                                          \
    hipError_t error = (call);                                                                  \
    if (error != hipSuccess) {                                                                  \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(error));        \
      std::exit(EXIT_FAILURE);                                                                  \
    }                                                                                           \
  } while (0)

__managed__ int steps = 100;
__managed__ float factors[2] = {1.0f, 0.5f};

__global__ void cube(double* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    x[i] = x[i] * x[i] * x[i] * factors[1];
    atomicAdd(&steps, 1);
  }
}

int main() {
  int n = 4096;
  double* x;
  CHECK(hipMallocManaged(&x, n * sizeof(double)));
  for (int i = 0; i < n; ++i) x[i] = i * 0.25;
  if (steps != 100 || factors[0] != 1.0f) return 1;
  steps = 0;
  int device;
  CHECK(hipGetDevice(&device));
  CHECK(hipMemAdvise(x, n * sizeof(double), hipMemAdviseSetPreferredLocation, device));
  CHECK(hipMemPrefetchAsync(x, n * sizeof(double), device));
  cube<<<(n + 127) / 128, 128>>>(x, n);
  CHECK(hipDeviceSynchronize());
  for (int i = 0; i < n; ++i) {
    double v = i * 0.25;
    if (x[i] != v * v * v * 0.5) {
      std::printf("%d: %g\n", i, x[i]);
      return 1;
    }
  }
  std::printf("%d cubes, sum of steps %d\n", n, steps);
  CHECK(hipFree(x));
}
