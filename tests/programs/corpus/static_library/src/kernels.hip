#include "check.h"
#include <cmath>

namespace vecmath {
namespace {

template <class F> __global__ void map(double* out, std::size_t n, F f) {
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += std::size_t(blockDim.x) * gridDim.x) out[i] = f(i);
}

__global__ void dot_kernel(const double* a, const double* b, std::size_t n, double* result) {
  __shared__ double part[256];
  double sum = 0;
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += std::size_t(blockDim.x) * gridDim.x) sum += a[i] * b[i];
  part[threadIdx.x] = sum;
  for (unsigned w = 128; w; w /= 2) {
    __syncthreads();
    if (threadIdx.x < w) part[threadIdx.x] += part[threadIdx.x + w];
  }
  if (threadIdx.x == 0) atomicAdd(result, part[0]);
}

template <class F> vector mapped(std::size_t n, F f) {
  vector out(n);
  map<<<16, 256>>>(out.data(), n, f);
  VM_CHECK(hipGetLastError());
  return out;
}

}  // namespace

vector operator+(const vector& a, const vector& b) {
  if (a.size() != b.size()) throw error("vectors of different size");
  const double *x = a.data(), *y = b.data();
  return mapped(a.size(), [x, y] __device__(std::size_t i) { return x[i] + y[i]; });
}

vector operator*(double a, const vector& b) {
  const double* y = b.data();
  return mapped(b.size(), [a, y] __device__(std::size_t i) { return a * y[i]; });
}

double dot(const vector& a, const vector& b) {
  if (a.size() != b.size()) throw error("vectors of different size");
  const double zero = 0;
  vector result(&zero, 1);
  dot_kernel<<<8, 256>>>(a.data(), b.data(), a.size(), result.data());
  VM_CHECK(hipGetLastError());
  double value;
  result.download(&value);
  return value;
}

double norm(const vector& a) { return std::sqrt(dot(a, a)); }

}  // namespace vecmath
