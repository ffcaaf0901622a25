// A sparse matrix in compressed rows times a vector, a wavefront for each row: the wave size comes from the device.
// OUT: 700 rows are right
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

__global__ void multiply(const int* rows, const int* columns, const double* values, const double* x, double* y, int n) {
  int lane = threadIdx.x % warpSize, row = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
  if (row >= n) return;
  double sum = 0;
  for (int e = rows[row] + lane; e < rows[row + 1]; e += warpSize) sum += values[e] * x[columns[e]];
  for (int step = warpSize / 2; step > 0; step /= 2) sum += __shfl_xor(sum, step);
  if (lane == 0) y[row] = sum;
}

template <typename T>
T* upload(const std::vector<T>& host) {
  T* device;
  CHECK(hipMalloc(&device, host.size() * sizeof(T)));
  CHECK(hipMemcpy(device, host.data(), host.size() * sizeof(T), hipMemcpyHostToDevice));
  return device;
}

int main() {
  const int n = 700;
  std::vector<int> rows = {0}, columns;
  std::vector<double> values, x(n), y(n);
  for (int i = 0; i < n; ++i) {
    x[i] = std::cos(i);
    for (int j = i % 7; j < n; j += 5 + i % 90) columns.push_back(j), values.push_back(1.0 / (1 + i + j));
    rows.push_back(static_cast<int>(columns.size()));
  }
  hipDeviceProp_t properties;
  CHECK(hipGetDeviceProperties(&properties, 0));
  const int block = 256, per_block = block / properties.warpSize;
  double* out;
  CHECK(hipMalloc(&out, n * sizeof(double)));
  multiply<<<(n + per_block - 1) / per_block, block>>>(upload(rows), upload(columns), upload(values), upload(x), out, n);
  CHECK(hipMemcpy(y.data(), out, n * sizeof(double), hipMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int e = rows[i]; e < rows[i + 1]; ++e) sum += values[e] * x[columns[e]];
    if (std::fabs(sum - y[i]) > 1e-12) return 1;
  }
  std::printf("%d rows are right\n", n);
}
