// Conjugate gradients for a discrete Poisson equation: several kernels, dot products, a loop that the host steers.
// OUT: converged
// OUT: residual below 1e-8
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

constexpr int threads = 128;
__global__ void laplace(const double* x, double* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i] - (i > 0 ? x[i - 1] : 0) - (i + 1 < n ? x[i + 1] : 0);
}
__global__ void dot(const double* a, const double* b, int n, double* result) {
  __shared__ double part[threads];
  double sum = 0;
  for (int i = threadIdx.x; i < n; i += threads) sum += a[i] * b[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int s = threads / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) *result = part[0];
}
__global__ void axpy(double a, const double* x, double* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
__global__ void xpay(const double* x, double a, double* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + a * y[i];
}

int main() {
  const int n = 200, blocks = (n + threads - 1) / threads;
  double *x, *r, *p, *q, *scalar;
  for (double** each : {&x, &r, &p, &q}) CHECK(hipMalloc(each, n * sizeof(double)));
  CHECK(hipHostMalloc(&scalar, sizeof(double)));
  std::vector<double> b(n, 1.0), solution(n);
  CHECK(hipMemset(x, 0, n * sizeof(double)));
  CHECK(hipMemcpy(r, b.data(), n * sizeof(double), hipMemcpyHostToDevice));
  CHECK(hipMemcpy(p, r, n * sizeof(double), hipMemcpyDeviceToDevice));
  auto product = [&](const double* u, const double* v) {
    dot<<<1, threads>>>(u, v, n, scalar);
    CHECK(hipDeviceSynchronize());
    return *scalar;
  };
  double rr = product(r, r);
  int iterations = 0;
  for (; rr > 1e-20 && iterations < 2 * n; ++iterations) {
    laplace<<<blocks, threads>>>(p, q, n);
    double alpha = rr / product(p, q);
    axpy<<<blocks, threads>>>(alpha, p, x, n);
    axpy<<<blocks, threads>>>(-alpha, q, r, n);
    double next = product(r, r);
    xpay<<<blocks, threads>>>(r, next / rr, p, n);
    rr = next;
  }
  std::puts(iterations < 2 * n ? "converged" : "no convergence");
  CHECK(hipMemcpy(solution.data(), x, n * sizeof(double), hipMemcpyDeviceToHost));
  double worst = 0;
  for (int i = 0; i < n; ++i) {
    double left = i ? solution[i - 1] : 0, right = i + 1 < n ? solution[i + 1] : 0;
    worst = std::fmax(worst, std::fabs(2 * solution[i] - left - right - 1));
  }
  if (worst < 1e-8) std::puts("residual below 1e-8");
  CHECK(hipHostFree(scalar));
}
