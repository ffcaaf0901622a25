// Matrix multiplication with tiles in LDS, for sizes that are no multiple of the tile, by a class that owns memory.
// OUT: 70 x 50 x 90: largest error below 1e-4
#include <hip/hip_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

template <typename T>
class DeviceMatrix {
 public:
  DeviceMatrix(int rows, int columns) : rows_(rows), columns_(columns) {
    if (hipMalloc(&data_, bytes()) != hipSuccess) throw std::runtime_error("hipMalloc");
  }
  DeviceMatrix(const DeviceMatrix&) = delete;
  DeviceMatrix& operator=(const DeviceMatrix&) = delete;
  ~DeviceMatrix() { (void)hipFree(data_); }
  void upload(const std::vector<T>& from) { check(hipMemcpy(data_, from.data(), bytes(), hipMemcpyHostToDevice)); }
  std::vector<T> download() const {
    std::vector<T> to(rows_ * columns_);
    check(hipMemcpy(to.data(), data_, bytes(), hipMemcpyDeviceToHost));
    return to;
  }
  T* data() const { return data_; }
  int rows() const { return rows_; }
  int columns() const { return columns_; }

 private:
  size_t bytes() const { return sizeof(T) * rows_ * columns_; }
  static void check(hipError_t error) {
    if (error != hipSuccess) throw std::runtime_error(hipGetErrorString(error));
  }
  int rows_, columns_;
  T* data_ = nullptr;
};

template <typename T, int tile>
__global__ void multiply(const T* a, const T* b, T* c, int m, int n, int k) {
  __shared__ T as[tile][tile + 1], bs[tile][tile + 1];
  int row = blockIdx.y * tile + threadIdx.y, column = blockIdx.x * tile + threadIdx.x;
  T sum = 0;
  for (int t = 0; t < k; t += tile) {
    as[threadIdx.y][threadIdx.x] = row < m && t + threadIdx.x < k ? a[row * k + t + threadIdx.x] : T(0);
    bs[threadIdx.y][threadIdx.x] = t + threadIdx.y < k && column < n ? b[(t + threadIdx.y) * n + column] : T(0);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < tile; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

int main() {
  const int m = 70, n = 50, k = 90;
  std::vector<float> a(m * k), b(k * n);
  for (int i = 0; i < m * k; ++i) a[i] = (i % 13) * 0.25f - 1;
  for (int i = 0; i < k * n; ++i) b[i] = (i % 7) * 0.5f - 1.5f;
  try {
    DeviceMatrix<float> da(m, k), db(k, n), dc(m, n);
    da.upload(a);
    db.upload(b);
    constexpr int tile = 16;
    multiply<float, tile><<<dim3((n + tile - 1) / tile, (m + tile - 1) / tile), dim3(tile, tile)>>>(
        da.data(), db.data(), dc.data(), m, n, k);
    std::vector<float> c = dc.download();
    double worst = 0;
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (int l = 0; l < k; ++l) sum += double(a[i * k + l]) * b[l * n + j];
        worst = std::max(worst, std::abs(sum - c[i * n + j]));
      }
    if (worst > 1e-4) return 1;
    std::printf("%d x %d x %d: largest error below 1e-4\n", m, n, k);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
