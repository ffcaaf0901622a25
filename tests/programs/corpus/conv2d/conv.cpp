// conv2d forward, NCHW: direct, shared-memory tiled, im2col + GEMM; backward by data
#include <hip/hip_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#define HIP_CHECK(e) if ((e) != hipSuccess) { printf("HIP failure %d at %d\n", (int)(e), __LINE__); std::exit(1); }

struct Shape { int n, c, h, w, k, r, s, stride, pad;
  __host__ __device__ int oh() const { return (h + 2 * pad - r) / stride + 1; }
  __host__ __device__ int ow() const { return (w + 2 * pad - s) / stride + 1; }
};

__global__ void conv_direct(const float* x, const float* f, const float* bias, float* y, Shape p) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  int total = p.n * p.k * p.oh() * p.ow();
  if (idx >= total) return;
  int ox = idx % p.ow(), oy = idx / p.ow() % p.oh(), k = idx / (p.ow() * p.oh()) % p.k, n = idx / (p.ow() * p.oh() * p.k);
  float acc = bias[k];
  for (int c = 0; c < p.c; c++)
    for (int r = 0; r < p.r; r++)
      for (int s = 0; s < p.s; s++) {
        int iy = oy * p.stride + r - p.pad, ix = ox * p.stride + s - p.pad;
        if (iy >= 0 && iy < p.h && ix >= 0 && ix < p.w)
          acc += x[((n * p.c + c) * p.h + iy) * p.w + ix] * f[((k * p.c + c) * p.r + r) * p.s + s];
      }
  y[idx] = acc;
}

__global__ void im2col(const float* x, float* cols, Shape p, int n) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x, pixels = p.oh() * p.ow(), depth = p.c * p.r * p.s;
  if (idx >= pixels * depth) return;
  int pixel = idx % pixels, d = idx / pixels, s = d % p.s, r = d / p.s % p.r, c = d / (p.s * p.r);
  int iy = pixel / p.ow() * p.stride + r - p.pad, ix = pixel % p.ow() * p.stride + s - p.pad;
  cols[idx] = iy >= 0 && iy < p.h && ix >= 0 && ix < p.w ? x[((n * p.c + c) * p.h + iy) * p.w + ix] : 0.f;
}

// C = A * B + bias of the row, register tile of 4x4
constexpr int BM = 32, BN = 32, BK = 8;
__global__ __launch_bounds__(64) void gemm(const float* A, const float* B, const float* bias, float* C, int M, int N, int K) {
  __shared__ float As[BK][BM + 1];
  __shared__ float Bs[BK][BN];
  int tx = threadIdx.x % 8, ty = threadIdx.x / 8, m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
  float acc[4][4] = {};
  for (int k0 = 0; k0 < K; k0 += BK) {
    for (int i = threadIdx.x; i < BM * BK; i += 64) {
      int m = i / BK, k = i % BK;
      As[k][m] = m0 + m < M && k0 + k < K ? A[(m0 + m) * K + k0 + k] : 0.f;
    }
    for (int i = threadIdx.x; i < BN * BK; i += 64) {
      int k = i / BN, n = i % BN;
      Bs[k][n] = k0 + k < K && n0 + n < N ? B[(k0 + k) * N + n0 + n] : 0.f;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; k++)
      for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) acc[i][j] += As[k][ty * 4 + i] * Bs[k][tx * 4 + j];
    __syncthreads();
  }
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      int m = m0 + ty * 4 + i, n = n0 + tx * 4 + j;
      if (m < M && n < N) C[m * N + n] = acc[i][j] + bias[m];
    }
}

__global__ void conv_backward_data(const float* dy, const float* f, float* dx, Shape p) {
  int ix = blockIdx.x * blockDim.x + threadIdx.x, iy = blockIdx.y * blockDim.y + threadIdx.y, n = blockIdx.z / p.c, c = blockIdx.z % p.c;
  if (ix >= p.w || iy >= p.h) return;
  float acc = 0;
  for (int k = 0; k < p.k; k++)
    for (int r = 0; r < p.r; r++)
      for (int s = 0; s < p.s; s++) {
        int ty = iy + p.pad - r, tx = ix + p.pad - s;
        if (ty < 0 || tx < 0 || ty % p.stride || tx % p.stride) continue;
        int oy = ty / p.stride, ox = tx / p.stride;
        if (oy < p.oh() && ox < p.ow()) acc += dy[((n * p.k + k) * p.oh() + oy) * p.ow() + ox] * f[((k * p.c + c) * p.r + r) * p.s + s];
      }
  dx[((n * p.c + c) * p.h + iy) * p.w + ix] = acc;
}

static float* device(const std::vector<float>& v) {
  float* d;
  HIP_CHECK(hipMalloc(&d, v.size() * 4));
  HIP_CHECK(hipMemcpy(d, v.data(), v.size() * 4, hipMemcpyHostToDevice));
  return d;
}

static double compare(const char* what, const float* d, const std::vector<double>& want) {
  std::vector<float> got(want.size());
  HIP_CHECK(hipMemcpy(got.data(), d, got.size() * 4, hipMemcpyDeviceToHost));
  double worst = 0;
  for (size_t i = 0; i < got.size(); i++) worst = std::fmax(worst, std::fabs(got[i] - want[i]));
  printf("  %-20s largest difference %.2e\n", what, worst);
  return std::isnan(got[0]) ? 1e9 : worst;
}

int main(int argc, char** argv) {
  int scale = argc > 1 ? atoi(argv[1]) : 1, failed = 0;
  const Shape shapes[] = {{2, 3, 17 * scale, 19, 8, 3, 3, 1, 1}, {1, 4, 16, 16 * scale, 5, 5, 5, 2, 2}, {1, 8, 9, 9, 16, 1, 1, 1, 0}};
  std::mt19937 gen(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (const Shape& p : shapes) {
    printf("n%d c%d %dx%d k%d %dx%d stride %d pad %d -> %dx%d\n", p.n, p.c, p.h, p.w, p.k, p.r, p.s, p.stride, p.pad, p.oh(), p.ow());
    std::vector<float> x(p.n * p.c * p.h * p.w), f(p.k * p.c * p.r * p.s), bias(p.k), dy(p.n * p.k * p.oh() * p.ow());
    for (auto* v : {&x, &f, &bias, &dy}) for (float& e : *v) e = uniform(gen);
    std::vector<double> y(dy.size()), dx(x.size(), 0.0);
    for (int n = 0; n < p.n; n++) for (int k = 0; k < p.k; k++) for (int oy = 0; oy < p.oh(); oy++) for (int ox = 0; ox < p.ow(); ox++) {
      size_t o = ((n * p.k + k) * p.oh() + oy) * p.ow() + ox;
      double acc = bias[k];
      for (int c = 0; c < p.c; c++) for (int r = 0; r < p.r; r++) for (int s = 0; s < p.s; s++) {
        int iy = oy * p.stride + r - p.pad, ix = ox * p.stride + s - p.pad;
        if (iy < 0 || iy >= p.h || ix < 0 || ix >= p.w) continue;
        size_t i = ((n * p.c + c) * p.h + iy) * p.w + ix, w = ((k * p.c + c) * p.r + r) * p.s + s;
        acc += double(x[i]) * f[w];
        dx[i] += double(dy[o]) * f[w];
      }
      y[o] = acc;
    }
    float *dX = device(x), *dF = device(f), *dB = device(bias), *dDY = device(dy), *dY, *dDX, *dCols;
    int depth = p.c * p.r * p.s, pixels = p.oh() * p.ow();
    HIP_CHECK(hipMalloc(&dY, y.size() * 4));
    HIP_CHECK(hipMalloc(&dDX, x.size() * 4));
    HIP_CHECK(hipMalloc(&dCols, sizeof(float) * depth * pixels));
    conv_direct<<<(y.size() + 255) / 256, 256>>>(dX, dF, dB, dY, p);
    HIP_CHECK(hipGetLastError());
    failed += compare("direct", dY, y) > 1e-4;
    HIP_CHECK(hipMemset(dY, 0xff, y.size() * 4));
    for (int n = 0; n < p.n; n++) {
      im2col<<<(depth * pixels + 255) / 256, 256>>>(dX, dCols, p, n);
      gemm<<<dim3((pixels + BN - 1) / BN, (p.k + BM - 1) / BM), 64>>>(dF, dCols, dB, dY + n * p.k * pixels, p.k, pixels, depth);
    }
    failed += compare("im2col + gemm", dY, y) > 1e-4;
    conv_backward_data<<<dim3((p.w + 7) / 8, (p.h + 7) / 8, p.n * p.c), dim3(8, 8)>>>(dDY, dF, dDX, p);
    failed += compare("backward data", dDX, dx) > 1e-4;
    for (float* d : {dX, dF, dB, dDY, dY, dDX, dCols}) HIP_CHECK(hipFree(d));
  }
  puts(failed ? "FAILED" : "PASSED");
  return failed;
}
