// softmax (online), log-softmax, layer norm (Welford), RMS norm; float, half and bfloat16 rows
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
#include <hip/hip_bfloat16.h>

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#define HIP_CALL(f) { hipError_t e = (f); if (e != hipSuccess) { printf("HIP error: %s\n  at %s:%d\n", hipGetErrorString(e), __FILE__, __LINE__); abort(); } }

template <typename T> __host__ __device__ inline float to_float(T v) { return static_cast<float>(v); }
template <> __host__ __device__ inline float to_float<__half>(__half v) { return __half2float(v); }
template <typename T> __host__ __device__ inline T from_float(float v) { return T(v); }
template <> __host__ __device__ inline __half from_float<__half>(float v) { return __float2half(v); }

template <class T, class Op> __device__ T block_reduce(T v, Op op, T neutral) {
  __shared__ T partial[32];
  for (int o = warpSize / 2; o > 0; o /= 2) v = op(v, __shfl_xor(v, o));
  const int lane = threadIdx.x % warpSize, wave = threadIdx.x / warpSize, waves = (blockDim.x + warpSize - 1) / warpSize;
  __syncthreads();
  if (lane == 0) partial[wave] = v;
  __syncthreads();
  v = lane < waves ? partial[lane] : neutral;
  for (int o = warpSize / 2; o > 0; o /= 2) v = op(v, __shfl_xor(v, o));
  return v;
}

struct Sum { __device__ float operator()(float a, float b) const { return a + b; } };
struct Max { __device__ float operator()(float a, float b) const { return fmaxf(a, b); } };

template <typename T> __global__ void softmax(const T* x, T* y, int cols, bool logarithm) {
  x += size_t(blockIdx.x) * cols;
  y += size_t(blockIdx.x) * cols;
  float m = -FLT_MAX, s = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) {
    const float v = to_float(x[i]), larger = fmaxf(m, v);
    s = s * expf(m - larger) + expf(v - larger);
    m = larger;
  }
  const float top = block_reduce(m, Max(), -FLT_MAX);
  const float total = block_reduce(s * expf(m - top), Sum(), 0.f);
  for (int i = threadIdx.x; i < cols; i += blockDim.x) {
    const float v = to_float(x[i]) - top;
    y[i] = from_float<T>(logarithm ? v - logf(total) : expf(v) / total);
  }
}

template <typename T> __global__ void layer_norm(const T* x, const T* gamma, const T* beta, T* y, int cols, float eps) {
  x += size_t(blockIdx.x) * cols;
  y += size_t(blockIdx.x) * cols;
  float mean = 0, m2 = 0, n = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) {
    const float v = to_float(x[i]), d = v - mean;
    mean += d / ++n;
    m2 += d * (v - mean);
  }
  const float mu = block_reduce(mean * n, Sum(), 0.f) / cols;
  const float var = block_reduce(m2 + n * (mean - mu) * (mean - mu), Sum(), 0.f) / cols;
  const float inverse = rsqrtf(var + eps);
  for (int i = threadIdx.x; i < cols; i += blockDim.x)
    y[i] = from_float<T>((to_float(x[i]) - mu) * inverse * to_float(gamma[i]) + to_float(beta[i]));
}

template <typename T> __global__ void rms_norm(const T* x, const T* gamma, const T*, T* y, int cols, float eps) {
  x += size_t(blockIdx.x) * cols;
  y += size_t(blockIdx.x) * cols;
  float s = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) s += to_float(x[i]) * to_float(x[i]);
  const float scale = 1.0f / sqrtf(block_reduce(s, Sum(), 0.f) / cols + eps);
  for (int i = threadIdx.x; i < cols; i += blockDim.x) y[i] = from_float<T>(to_float(x[i]) * scale * to_float(gamma[i]));
}

template <typename T> int run(const char* type, int rows, int cols, double tolerance) {
  std::vector<T> x(size_t(rows) * cols), gamma(cols), beta(cols), y(x.size());
  uint32_t s = 12345;
  auto next = [&] { s = s * 1664525 + 1013904223; return (int(s >> 16) - 32768) / 8192.0f; };
  for (auto& v : x) v = from_float<T>(next());
  for (auto& v : gamma) v = from_float<T>(1 + next() / 8);
  for (auto& v : beta) v = from_float<T>(next() / 4);
  T *dx, *dg, *db, *dy;
  HIP_CALL(hipMalloc(&dx, x.size() * sizeof(T)));
  HIP_CALL(hipMalloc(&dy, x.size() * sizeof(T)));
  HIP_CALL(hipMalloc(&dg, cols * sizeof(T)));
  HIP_CALL(hipMalloc(&db, cols * sizeof(T)));
  HIP_CALL(hipMemcpy(dx, x.data(), x.size() * sizeof(T), hipMemcpyHostToDevice));
  HIP_CALL(hipMemcpy(dg, gamma.data(), cols * sizeof(T), hipMemcpyHostToDevice));
  HIP_CALL(hipMemcpy(db, beta.data(), cols * sizeof(T), hipMemcpyHostToDevice));
  using Row = std::function<void(const std::vector<double>&, std::vector<double>&)>;
  auto softmax_row = [&](bool log) -> Row { return [=](const std::vector<double>& in, std::vector<double>& out) {
    double top = -1e300, total = 0;
    for (double v : in) top = std::fmax(top, v);
    for (double v : in) total += std::exp(v - top);
    for (int i = 0; i < cols; ++i) out[i] = log ? in[i] - top - std::log(total) : std::exp(in[i] - top) / total;
  }; };
  auto norm_row = [&](bool centred) -> Row { return [&, centred](const std::vector<double>& in, std::vector<double>& out) {
    double mean = 0, var = 0;
    if (centred) for (double v : in) mean += v / cols;
    for (double v : in) var += (v - mean) * (v - mean) / cols;
    for (int i = 0; i < cols; ++i)
      out[i] = (in[i] - mean) / std::sqrt(var + 1e-5) * to_float(gamma[i]) + (centred ? to_float(beta[i]) : 0.0f);
  }; };
  int failures = 0;
  auto check = [&](const char* name, Row row) {
    HIP_CALL(hipGetLastError());
    HIP_CALL(hipMemcpy(y.data(), dy, y.size() * sizeof(T), hipMemcpyDeviceToHost));
    double worst = 0;
    std::vector<double> in(cols), out(cols);
    for (int r = 0; r < rows; ++r) {
      for (int i = 0; i < cols; ++i) in[i] = to_float(x[size_t(r) * cols + i]);
      row(in, out);
      for (int i = 0; i < cols; ++i) {
        const double d = std::fabs(to_float(y[size_t(r) * cols + i]) - out[i]) / std::fmax(1.0, std::fabs(out[i]));
        if (!(d <= worst)) worst = d;
      }
    }
    const bool good = worst <= tolerance;
    printf("%-9s %-12s %4d x %-5d %.2e %s\n", type, name, rows, cols, worst, good ? "ok" : "WRONG");
    failures += !good;
  };
  softmax<T><<<rows, 128>>>(dx, dy, cols, false);
  check("softmax", softmax_row(false));
  softmax<T><<<rows, 256>>>(dx, dy, cols, true);
  check("log-softmax", softmax_row(true));
  layer_norm<T><<<rows, 192>>>(dx, dg, db, dy, cols, 1e-5f);
  check("layer norm", norm_row(true));
  rms_norm<T><<<rows, 64>>>(dx, dg, db, dy, cols, 1e-5f);
  check("RMS norm", norm_row(false));
  for (auto p : {dx, dg, db, dy}) HIP_CALL(hipFree(p));
  return failures;
}

int main(int argc, char** argv) {
  const int rows = argc > 1 ? std::stoi(argv[1]) : 24, cols = argc > 2 ? std::stoi(argv[2]) : 500;
  int failures = run<float>("float", rows, cols, 3e-6);
  failures += run<__half>("half", rows, cols + 13, 1e-3);
  failures += run<hip_bfloat16>("bfloat16", rows, 100, 8e-3);
  printf("%s\n", failures ? "FAILED" : "PASSED");
  return failures ? 1 : 0;
}
