// The vector addition of every introduction to HIP, with a macro that checks each call.
// OUT: PASSED: 1000000 sums
#include <hip/hip_runtime.h>

#include <cmath>
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

__global__ void vector_add(const float* a, const float* b, float* c, int n) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main() {
  const int n = 1000000;
  const size_t bytes = n * sizeof(float);
  std::vector<float> a(n), b(n), c(n);
  for (int i = 0; i < n; ++i) {
    a[i] = std::sin(0.001f * i);
    b[i] = 2.0f * i;
  }
  float *d_a, *d_b, *d_c;
  CHECK(hipMalloc(&d_a, bytes));
  CHECK(hipMalloc(&d_b, bytes));
  CHECK(hipMalloc(&d_c, bytes));
  CHECK(hipMemcpy(d_a, a.data(), bytes, hipMemcpyHostToDevice));
  CHECK(hipMemcpy(d_b, b.data(), bytes, hipMemcpyHostToDevice));
  const int threads = 256, blocks = (n + threads - 1) / threads;
  vector_add<<<blocks, threads>>>(d_a, d_b, d_c, n);
  CHECK(hipGetLastError());
  CHECK(hipMemcpy(c.data(), d_c, bytes, hipMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) {
    if (c[i] != a[i] + b[i]) {
      std::printf("element %d is %g, not %g\n", i, c[i], a[i] + b[i]);
      return EXIT_FAILURE;
    }
  }
  CHECK(hipFree(d_a));
  CHECK(hipFree(d_b));
  CHECK(hipFree(d_c));
  std::printf("PASSED: %d sums\n", n);
  return EXIT_SUCCESS;
}
