// 3D heat equation, order templated finite differences, 2.5D blocking through shared memory.
#include <hip/hip_runtime.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

inline void check(hipError_t status, const char* what, int line) {
  if (status != hipSuccess) {
    throw std::runtime_error(std::string(what) + " failed in line " + std::to_string(line) + ": " + hipGetErrorName(status));
  }
}
#define CHECK(x) check((x), #x, __LINE__)

template <int Radius> struct Coefficients;
template <> struct Coefficients<1> { static constexpr float value[2] = {-2.0f, 1.0f}; };
template <> struct Coefficients<2> { static constexpr float value[3] = {-5.0f / 2, 4.0f / 3, -1.0f / 12}; };
template <> struct Coefficients<4> {
  static constexpr float value[5] = {-205.0f / 72, 8.0f / 5, -1.0f / 5, 8.0f / 315, -1.0f / 560};
};

template <typename T> class DeviceBuffer {
 public:
  explicit DeviceBuffer(std::size_t n) : size_(n) { CHECK(hipMalloc(&data_, n * sizeof(T))); }
  ~DeviceBuffer() { if (data_ != nullptr) (void)hipFree(data_); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  DeviceBuffer(DeviceBuffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  T* get() const { return data_; }
  void upload(const std::vector<T>& v) { CHECK(hipMemcpy(data_, v.data(), v.size() * sizeof(T), hipMemcpyHostToDevice)); }
  std::vector<T> download() const {
    std::vector<T> v(size_);
    CHECK(hipMemcpy(v.data(), data_, size_ * sizeof(T), hipMemcpyDeviceToHost));
    return v;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

constexpr int TX = 16, TY = 16;

template <int R>
__global__ __launch_bounds__(TX * TY) void heat(const float* __restrict__ u, float* __restrict__ v, int nx, int ny, int nz,
                                               float k) {
  __shared__ float tile[TY + 2 * R][TX + 2 * R];
  const int x = blockIdx.x * TX + threadIdx.x, y = blockIdx.y * TY + threadIdx.y;
  const int lx = threadIdx.x + R, ly = threadIdx.y + R;
  const std::size_t plane = std::size_t(nx) * ny;
  auto at = [&](int i, int j, int z) -> float {
    i = min(max(i, 0), nx - 1);
    j = min(max(j, 0), ny - 1);
    return u[z * plane + j * nx + i];
  };
  float column[2 * R + 1];
#pragma unroll
  for (int d = 0; d < 2 * R; ++d) column[d + 1] = at(x, y, d);
  for (int z = R; z < nz - R; ++z) {
#pragma unroll
    for (int d = 0; d < 2 * R; ++d) column[d] = column[d + 1];
    column[2 * R] = at(x, y, z + R);
    __syncthreads();
    tile[ly][lx] = column[R];
    if (threadIdx.x < R) {
      tile[ly][lx - R] = at(x - R, y, z);
      tile[ly][lx + TX] = at(x + TX, y, z);
    }
    if (threadIdx.y < R) {
      tile[ly - R][lx] = at(x, y - R, z);
      tile[ly + TY][lx] = at(x, y + TY, z);
    }
    __syncthreads();
    if (x >= R && x < nx - R && y >= R && y < ny - R) {
      float sum = 3 * Coefficients<R>::value[0] * column[R];
#pragma unroll
      for (int d = 1; d <= R; ++d)
        sum += Coefficients<R>::value[d] * (tile[ly][lx - d] + tile[ly][lx + d] + tile[ly - d][lx] + tile[ly + d][lx] +
                                            column[R - d] + column[R + d]);
      v[z * plane + y * nx + x] = column[R] + k * sum;
    }
  }
}

template <int R> void reference(const std::vector<float>& u, std::vector<float>& v, int nx, int ny, int nz, float k) {
  const std::ptrdiff_t sy = nx, sz = std::ptrdiff_t(nx) * ny;
  for (int z = R; z < nz - R; ++z)
    for (int y = R; y < ny - R; ++y)
      for (int x = R; x < nx - R; ++x) {
        const float* p = &u[z * sz + y * sy + x];
        float sum = 3 * Coefficients<R>::value[0] * p[0];
        for (int d = 1; d <= R; ++d)
          sum += Coefficients<R>::value[d] * (p[-d] + p[d] + p[-d * sy] + p[d * sy] + p[-d * sz] + p[d * sz]);
        v[z * sz + y * sy + x] = p[0] + k * sum;
      }
}

template <int R> bool run(int n, int steps) {
  const int nx = n, ny = n + 3, nz = n / 2 + 2 * R;
  std::vector<float> u(std::size_t(nx) * ny * nz);
  for (std::size_t i = 0; i < u.size(); ++i) u[i] = std::sin(0.01f * float(i % 977)) + ((i * 7919) % 31) * 0.03f;
  DeviceBuffer<float> a(u.size()), b(u.size());
  a.upload(u);
  b.upload(u);
  const dim3 block(TX, TY), grid((nx + TX - 1) / TX, (ny + TY - 1) / TY);
  hipEvent_t start, stop;
  CHECK(hipEventCreate(&start));
  CHECK(hipEventCreate(&stop));
  CHECK(hipEventRecord(start));
  for (int s = 0; s < steps; ++s) {
    heat<R><<<grid, block>>>(a.get(), b.get(), nx, ny, nz, 0.05f);
    CHECK(hipGetLastError());
    std::swap(a, b);
  }
  CHECK(hipEventRecord(stop));
  CHECK(hipEventSynchronize(stop));
  float ms = 0;
  CHECK(hipEventElapsedTime(&ms, start, stop));
  const auto got = a.download();
  auto v = u;
  for (int s = 0; s < steps; ++s) {
    reference<R>(u, v, nx, ny, nz, 0.05f);
    std::swap(u, v);
  }
  double worst = 0;
  for (std::size_t i = 0; i < u.size(); ++i) worst = std::max(worst, double(std::fabs(u[i] - got[i])));
  const bool good = worst < 5e-6;
  std::cout << "radius " << R << ": " << nx << 'x' << ny << 'x' << nz << ", " << steps << " steps, " << std::fixed
            << std::setprecision(3) << ms << " ms, largest difference " << std::scientific << worst
            << (good ? " ok" : " WRONG") << '\n';
  CHECK(hipEventDestroy(start));
  CHECK(hipEventDestroy(stop));
  return good && ms > 0;
}

}  // namespace

int main(int argc, char* argv[]) try {
  const int n = argc > 1 ? std::stoi(argv[1]) : 37;
  const int steps = argc > 2 ? std::stoi(argv[2]) : 4;
  const std::array<bool, 3> good{run<1>(n, steps), run<2>(n, steps), run<4>(n, steps)};
  const bool all = std::all_of(good.begin(), good.end(), [](bool g) { return g; });
  std::cout << (all ? "PASSED" : "FAILED") << std::endl;
  return all ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << "heat3d: " << error.what() << '\n';
  return 2;
}
