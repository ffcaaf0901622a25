// Half precision on both sides of a program: conversions on the host, arithmetic on the device.
// OUT: 256 halves are right
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
#include <hip/hip_fp16.h>

__global__ void axpy(__half a, const __half* x, __half* y, int n) {
  int i = threadIdx.x;
  if (i < n) y[i] = __hfma(a, x[i], y[i]);
}

int main() {
  const int n = 256;
  std::vector<__half> x(n), y(n), found(n);
  for (int i = 0; i < n; ++i) x[i] = __float2half(i * 0.25f), y[i] = __float2half(1.0f);
  __half *dx, *dy;
  CHECK(hipMalloc(&dx, n * sizeof(__half)));
  CHECK(hipMalloc(&dy, n * sizeof(__half)));
  CHECK(hipMemcpy(dx, x.data(), n * sizeof(__half), hipMemcpyHostToDevice));
  CHECK(hipMemcpy(dy, y.data(), n * sizeof(__half), hipMemcpyHostToDevice));
  axpy<<<1, n>>>(__float2half(2.0f), dx, dy, n);
  CHECK(hipMemcpy(found.data(), dy, n * sizeof(__half), hipMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i)
    if (__half2float(found[i]) != 2.0f * (i * 0.25f) + 1.0f) return 1;
  std::printf("%d halves are right\n", n);
}
