// A fast Fourier transform (radix 2) with a kernel for each stage, against the definition in double.
// OUT: 256 points: largest error below 1e-3
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
#include <complex>
#include <hip/hip_complex.h>

__global__ void reorder(const hipFloatComplex* in, hipFloatComplex* out, int bits) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[__brev(i) >> (32 - bits)];
}
__global__ void butterfly(hipFloatComplex* x, int half) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int k = i % half, a = i / half * 2 * half + k;
  float s, c;
  sincosf(-3.14159265f * k / half, &s, &c);
  hipFloatComplex u = x[a], v = hipCmulf(x[a + half], make_hipFloatComplex(c, s));
  x[a] = hipCaddf(u, v);
  x[a + half] = hipCsubf(u, v);
}

int main() {
  const int bits = 8, n = 1 << bits;
  std::vector<std::complex<float>> in(n), out(n);
  for (int i = 0; i < n; ++i) in[i] = {std::sin(i * 0.3f) + (i % 5), std::cos(i * 0.05f)};
  hipFloatComplex *a, *b;
  CHECK(hipMalloc(&a, n * sizeof *a));
  CHECK(hipMalloc(&b, n * sizeof *b));
  CHECK(hipMemcpy(a, in.data(), n * sizeof *a, hipMemcpyHostToDevice));
  reorder<<<n / 64, 64>>>(a, b, bits);
  for (int half = 1; half < n; half *= 2) butterfly<<<n / 2 / 64, 64>>>(b, half);
  CHECK(hipMemcpy(out.data(), b, n * sizeof *b, hipMemcpyDeviceToHost));
  double worst = 0;
  for (int k = 0; k < n; ++k) {
    std::complex<double> sum = 0;
    for (int i = 0; i < n; ++i)
      sum += std::complex<double>(in[i]) * std::polar(1.0, -2 * M_PI * (1.0 * i * k / n));
    worst = std::fmax(worst, std::abs(sum - std::complex<double>(out[k])));
  }
  if (worst > 1e-3) {
    std::printf("%g\n", worst);
    return 1;
  }
  std::printf("%d points: largest error below 1e-3\n", n);
}
