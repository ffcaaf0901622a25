// The same function compiled for host and device: std:: names, C names, float and double, vectors.
// OUT: host and device agree to 1e-5
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
#include <cmath>
#include <limits>

__host__ __device__ double mix(double x) {
  float f = static_cast<float>(x);
  double sum = std::sin(x) + cos(x) + std::exp(-x) + sqrt(x) + std::pow(x, 1.5) + std::log(x + 1) + fabs(x - 3);
  sum += sinf(f) + std::floor(f) + std::fmod(f, 0.75f) + atan2f(f, 2.0f) + std::tanh(f) + hypot(x, 4.0);
  sum += std::max(x, 2.0) - std::min(f, 1.0f) + (std::numeric_limits<float>::max() > f ? 1 : 0) + std::abs(-f);
  int whole = static_cast<int>(x), e = 0, q = 0;  // with whole numbers, by their names with f, and what is no function in C
  sum += ldexp(whole, 3) + std::scalbn(whole, -1) + frexp(whole, &e) + e + std::remquo(whole, 3, &q) + q % 8;
  sum += std::log2f(f + 1) + std::sinf(f) * std::powf(f, 2) + std::isgreater(f, x) + 2 * std::isless(whole, x);
  sum += isunordered(f, x) + (std::fpclassify(x) == FP_ZERO) + std::ldexpf(f, 2) + std::nextafter(1, x);
  int2 v = make_int2(static_cast<int>(x), 2) * 3;
  return sum + v.x - v.y + (std::isnan(x) ? 100 : 0) + max(1, 2) + std::erf(x) + std::round(x);
}
__global__ void on_device(double* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = mix(i * 0.125);
}

int main() {
  const int n = 200;
  double* device;
  std::vector<double> found(n);
  CHECK(hipMalloc(&device, n * sizeof(double)));
  on_device<<<4, 64>>>(device, n);
  CHECK(hipMemcpy(found.data(), device, n * sizeof(double), hipMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) {
    if (!(std::fabs(found[i] - mix(i * 0.125)) < 1e-5 * std::max(1.0, std::fabs(found[i])))) {
      std::printf("%d: %.9g, not %.9g\n", i, found[i], mix(i * 0.125));
      return 1;
    }
  }
  std::puts("host and device agree to 1e-5");
}
