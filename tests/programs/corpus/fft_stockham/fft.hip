// Radix-2 and radix-4 Stockham FFTs, batched, in LDS; 2D by transposition; convolution by spectrum
#include <hip/hip_runtime.h>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <vector>

using cd = std::complex<double>;
using cf = std::complex<float>;

#define CHECK_HIP(call) do { hipError_t s_ = call; if (s_ != hipSuccess) { std::printf("HIP: %s (%s:%d)\n", hipGetErrorString(s_), __FILE__, __LINE__); std::exit(1); } } while (0)

__device__ inline float2 mul(float2 a, float2 b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }

// one block per row of N
template <int N, int Threads>
__global__ __launch_bounds__(Threads) void fft_rows(const float2* in, float2* out, float sign, float scale) {
  __shared__ float2 a[N], b[N];
  const float2* source = in + size_t(blockIdx.x) * N;
  float2 *from = a, *to = b;
  for (int i = threadIdx.x; i < N; i += Threads) from[i] = source[i];
  __syncthreads();
  int stride = 1, n = N;
  while (n >= 4) {
    const int m = n / 4;
    for (int t = threadIdx.x; t < N / 4; t += Threads) {
      const int p = t / stride, q = t % stride;
      float s1, c1;
      sincospif(sign * 2.0f * p / n, &s1, &c1);
      const float2 w1 = {c1, s1}, w2 = mul(w1, w1), w3 = mul(w2, w1);
      const float2 x0 = from[q + stride * p], x1 = from[q + stride * (p + m)], x2 = from[q + stride * (p + 2 * m)], x3 = from[q + stride * (p + 3 * m)];
      const float2 s02 = x0 + x2, d02 = x0 - x2, s13 = x1 + x3, d13 = x1 - x3;
      const float2 j = {-sign * d13.y, sign * d13.x};       // sign * i * (x1 - x3)
      to[q + stride * (4 * p)] = s02 + s13;
      to[q + stride * (4 * p + 1)] = mul(w1, d02 + j);
      to[q + stride * (4 * p + 2)] = mul(w2, s02 - s13);
      to[q + stride * (4 * p + 3)] = mul(w3, d02 - j);
    }
    __syncthreads();
    float2* swap = from; from = to; to = swap;
    n /= 4;
    stride *= 4;
  }
  if (n == 2) {
    for (int q = threadIdx.x; q < N / 2; q += Threads) {
      to[q] = from[q] + from[q + N / 2];
      to[q + N / 2] = from[q] - from[q + N / 2];
    }
    __syncthreads();
    from = to;
  }
  for (int i = threadIdx.x; i < N; i += Threads) out[size_t(blockIdx.x) * N + i] = from[i] * scale;
}

__global__ void transpose(const float2* in, float2* out, int w, int h) {
  __shared__ float2 tile[16][17];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < w && y < h) tile[threadIdx.y][threadIdx.x] = in[y * w + x];
  __syncthreads();
  x = blockIdx.y * 16 + threadIdx.x;
  y = blockIdx.x * 16 + threadIdx.y;
  if (x < h && y < w) out[y * h + x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void pointwise(float2* a, const float2* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = mul(a[i], b[i]);
}

static void host_fft(std::vector<cd>& a, int sign) {
  const size_t n = a.size();
  if (n == 1) return;
  std::vector<cd> even(n / 2), odd(n / 2);
  for (size_t i = 0; i < n / 2; ++i) { even[i] = a[2 * i]; odd[i] = a[2 * i + 1]; }
  host_fft(even, sign);
  host_fft(odd, sign);
  for (size_t k = 0; k < n / 2; ++k) {
    const cd t = std::polar(1.0, sign * 2 * M_PI * k / n) * odd[k];
    a[k] = even[k] + t;
    a[k + n / 2] = even[k] - t;
  }
}

static int failures = 0;
static void report(const char* what, const std::vector<cf>& got, const std::vector<cd>& want, double tolerance) {
  double error = 0, norm = 0;
  for (size_t i = 0; i < got.size(); ++i) { error += std::norm(cd(got[i]) - want[i]); norm += std::norm(want[i]); }
  error = std::sqrt(error / norm);
  const bool good = error < tolerance;
  std::printf("%-24s relative error %.2e %s\n", what, error, good ? "" : "WRONG");
  failures += !good;
}

template <int N> void rows(int batch) {
  std::vector<cf> x(size_t(N) * batch), y(x.size());
  unsigned s = N;
  for (auto& v : x) {
    s = s * 1664525 + 1013904223; float re = float(s >> 8) / (1 << 23) - 1;
    s = s * 1664525 + 1013904223; v = {re, float(s >> 8) / (1 << 23) - 1};
  }
  float2 *d_x, *d_y;
  CHECK_HIP(hipMalloc(&d_x, x.size() * sizeof(float2)));
  CHECK_HIP(hipMalloc(&d_y, x.size() * sizeof(float2)));
  CHECK_HIP(hipMemcpy(d_x, x.data(), x.size() * sizeof(float2), hipMemcpyHostToDevice));
  constexpr int threads = N / 4 < 64 ? 64 : N / 4 > 256 ? 256 : N / 4;
  fft_rows<N, threads><<<batch, threads>>>(d_x, d_y, -1.f, 1.f);
  CHECK_HIP(hipGetLastError());
  CHECK_HIP(hipMemcpy(y.data(), d_y, y.size() * sizeof(float2), hipMemcpyDeviceToHost));
  std::vector<cd> want;
  for (int b = 0; b < batch; ++b) {
    std::vector<cd> row(x.begin() + size_t(b) * N, x.begin() + size_t(b + 1) * N);
    host_fft(row, -1);
    want.insert(want.end(), row.begin(), row.end());
  }
  report(("forward, N = " + std::to_string(N)).c_str(), y, want, 1e-6);
  fft_rows<N, threads><<<batch, threads>>>(d_y, d_x, 1.f, 1.f / N);
  CHECK_HIP(hipMemcpy(y.data(), d_x, y.size() * sizeof(float2), hipMemcpyDeviceToHost));
  report(("there and back, N = " + std::to_string(N)).c_str(), y, std::vector<cd>(x.begin(), x.end()), 1e-6);
  CHECK_HIP(hipFree(d_x));
  CHECK_HIP(hipFree(d_y));
}

int main(int argc, char** argv) {
  const int batch = argc > 1 ? std::atoi(argv[1]) : 6;
  rows<16>(batch);
  rows<128>(batch);
  rows<512>(batch);
  rows<1024>(batch);
  // circular convolution of an image of 64 x 64 with a blur, against the direct sum
  constexpr int N = 64;
  std::vector<cf> image(N * N), kernel(N * N), got(N * N);
  for (int i = 0; i < N * N; ++i) image[i] = float((i * 37 + i / N * 11) % 101) / 50;
  for (int y = -2; y <= 2; ++y)
    for (int x = -2; x <= 2; ++x) kernel[(y + N) % N * N + (x + N) % N] = 1.0f / (1 + x * x + y * y);
  std::vector<cd> want(N * N);
  for (int from = 0; from < N * N; ++from)       // each pixel is spread over its neighbours
    for (int k = 0; k < 25; ++k) {
      const int i = k % 5 - 2, j = k / 5 - 2;
      want[((from / N + j) & (N - 1)) * N + ((from + i) & (N - 1))] += cd(image[from]) * (1.0 / (1 + i * i + j * j));
    }
  float2 *a, *b, *t;
  CHECK_HIP(hipMalloc(&a, N * N * sizeof(float2)));
  CHECK_HIP(hipMalloc(&b, N * N * sizeof(float2)));
  CHECK_HIP(hipMalloc(&t, N * N * sizeof(float2)));
  CHECK_HIP(hipMemcpy(a, image.data(), N * N * sizeof(float2), hipMemcpyHostToDevice));
  CHECK_HIP(hipMemcpy(b, kernel.data(), N * N * sizeof(float2), hipMemcpyHostToDevice));
  auto transform = [&](float2* p, float sign, float scale) {
    fft_rows<N, 64><<<N, 64>>>(p, t, sign, scale);
    transpose<<<dim3(N / 16, N / 16), dim3(16, 16)>>>(t, p, N, N);
    fft_rows<N, 64><<<N, 64>>>(p, t, sign, scale);
    transpose<<<dim3(N / 16, N / 16), dim3(16, 16)>>>(t, p, N, N);
  };
  transform(a, -1, 1);
  transform(b, -1, 1);
  pointwise<<<N * N / 256, 256>>>(a, b, N * N);
  transform(a, 1, 1.f / N);
  CHECK_HIP(hipGetLastError());
  CHECK_HIP(hipMemcpy(got.data(), a, N * N * sizeof(float2), hipMemcpyDeviceToHost));
  report("2D convolution", got, want, 1e-6);
  CHECK_HIP(hipFree(a)); CHECK_HIP(hipFree(b)); CHECK_HIP(hipFree(t));
  std::printf(failures ? "FAILED\n" : "PASSED\n");
  return failures;
}
