// Kernels of further public measurements, for held_out.py, which names them: each has the technique and the
// configuration of its source. They are run for their times; what they compute is of no use.

#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
#define KERNEL(name, threads) extern "C" __global__ void __launch_bounds__(threads) name
typedef float Float4 __attribute__((ext_vector_type(4)));

// ---- streams

KERNEL(fill, 1024)(double* y) { y[INDEX] = 0.23; }
KERNEL(read, 1024)(const double* x, double* y) {
  double v = x[INDEX];
  if (v == 123.0) y[INDEX] = v;
}
KERNEL(copy, 1024)(const double* x, double* y) { y[INDEX] = x[INDEX]; }
KERNEL(scale, 1024)(const double* x, double* y) { y[INDEX] = x[INDEX] * 1.2; }
KERNEL(add, 1024)(const double* x, const double* z, double* y) { y[INDEX] = x[INDEX] + z[INDEX]; }
KERNEL(triad, 1024)(const double* x, const double* z, double* y) { y[INDEX] = x[INDEX] * 1.2 + z[INDEX]; }

template <int side>
__device__ void neighbours(const double* x, double* y, unsigned n) {
  unsigned i = INDEX;
  if (i < side || i >= n - side) return;
  double s = -x[i];
  for (int r = 1; r <= side; r++) s += 0.25 * x[i - r] + 0.5 * x[i + r];
  y[i] = s;
}
KERNEL(points_3, 1024)(const double* x, double* y, unsigned n) { neighbours<1>(x, y, n); }
KERNEL(points_5, 1024)(const double* x, double* y, unsigned n) { neighbours<2>(x, y, n); }

// BabelStream's product of two vectors: four workgroups of 1024 for each compute unit.
KERNEL(dot, 1024)(const double* x, const double* z, double* sums, int n) {
  __shared__ double s[1024];
  int t = threadIdx.x;
  s[t] = 0;
  for (int i = INDEX; i < n; i += gridDim.x * 1024) s[t] += x[i] * z[i];
  for (int h = 512; h > 0; h /= 2) {
    __syncthreads();
    if (t < h) s[t] += s[t + h];
  }
  if (t == 0) sums[blockIdx.x] = s[0];
}

// ---- transposes of n x n floats by workgroups of 32 x 32

KERNEL(square_copy, 1024)(const float* x, float* y, int n) {
  int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 32 + threadIdx.y;
  y[j * n + i] = x[j * n + i];
}
KERNEL(square_naive, 1024)(const float* x, float* y, int n) {
  int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 32 + threadIdx.y;
  y[i * n + j] = x[j * n + i];
}
KERNEL(square_lds, 1024)(const float* x, float* y, int n) {
  __shared__ float tile[32][32];
  int tx = threadIdx.x, ty = threadIdx.y;
  tile[ty][tx] = x[(blockIdx.y * 32 + ty) * n + blockIdx.x * 32 + tx];
  __syncthreads();
  y[(blockIdx.x * 32 + ty) * n + blockIdx.y * 32 + tx] = tile[tx][ty];
}

// ---- caches

// All workgroups read one block: of the first cache's size with a place that moves by one each time, of L2's as it is.
template <int bytes>
__device__ void again(const float* x, float* y, int times) {
  constexpr int n = bytes / 4;
  float s = 0;
  for (int k = 0; k < times; k++)
#pragma unroll 32
    for (int i = 0; i < n; i += 256) s += x[n <= 8192 ? (threadIdx.x + i + k) % n : threadIdx.x + i];
  y[threadIdx.x] = s;
}
KERNEL(again_16, 256)(const float* x, float* y, int times) { again<16 << 10>(x, y, times); }
KERNEL(again_32, 256)(const float* x, float* y, int times) { again<32 << 10>(x, y, times); }
KERNEL(again_4096, 256)(const float* x, float* y, int times) { again<4096 << 10>(x, y, times); }
KERNEL(again_8192, 256)(const float* x, float* y, int times) { again<8192 << 10>(x, y, times); }

// Blocks of 384 KiB, each read by every `run`-th workgroup.
KERNEL(blocks_24, 1024)(Float4* a, const Float4* b, int run) {
  Float4 s = {};
#pragma unroll
  for (int i = 0; i < 24; i++) s += b[1024 * run * i + blockIdx.x % run * 1024 + threadIdx.x];
  if (s.x == 23.12f) a[threadIdx.x] += s;
}

// Each byte of 64 in LDS says which to read next.
KERNEL(bytes_chase, 256)(int times, float* y) {
  __shared__ unsigned char next[64];
  if (threadIdx.x < 64) next[threadIdx.x] = (threadIdx.x + 1) % 64;
  __syncthreads();
  unsigned at = threadIdx.x % 64;
#pragma unroll 64
  for (int i = 0; i < times; i++) at = next[at];
  y[threadIdx.x] = at;
}

// ---- arithmetic

// x = 1 + p x, again and again: one dependent chain, with a value from memory.
template <typename T>
__device__ void chain(T* p, int times) {
  T x = 2, v = p[INDEX];
  for (int i = 0; i < times; i++)
#pragma unroll
    for (int k = 0; k < 64; k++) x = T(1) + v * x;
  p[INDEX] = x;
}
KERNEL(chain_float, 256)(float* p, int times) { chain(p, times); }
KERNEL(chain_double, 256)(double* p, int times) { chain(p, times); }
KERNEL(chain_int, 256)(int* p, int times) { chain(p, times); }
KERNEL(chain_long, 256)(long* p, int times) { chain(p, times); }

// clpeak: two values that are multiplied and added in turn.
template <typename T, typename Mad>
__device__ void turns(T* y, T a, int times, Mad mad) {
  T u = a, v = a;
  v += T(threadIdx.x);
  for (int i = 0; i < times; i++)
#pragma unroll
    for (int k = 0; k < 8; k++) {
      u = mad(v, u, v);
      v = mad(u, v, u);
    }
  y[INDEX] = v;
}
KERNEL(mad_float, 256)(float* y, float a, int times) {
  turns(y, a, times, [](float p, float q, float r) { return __builtin_fmaf(p, q, r); });
}
KERNEL(mad_double, 256)(double* y, double a, int times) {
  turns(y, a, times, [](double p, double q, double r) { return __builtin_fma(p, q, r); });
}
KERNEL(mad_int, 256)(int* y, int a, int times) {
  turns(y, a, times, [](int p, int q, int r) { return p * q + r; });
}
KERNEL(mad_int24, 256)(int* y, int a, int times) {
  turns(y, a, times, [](int p, int q, int r) { return __mul24(p, q) + r; });
}
KERNEL(mad_half2, 256)(__half2* y, __half2 a, int times) {
  __half2 u = a, v = __hadd2(a, __half2{__half(threadIdx.x), __half(1)});
  for (int i = 0; i < times; i++)
#pragma unroll
    for (int k = 0; k < 8; k++) {
      u = __hfma2(v, u, v);
      v = __hfma2(u, v, u);
    }
  y[INDEX] = v;
}

// ---- matrix cores: one accumulator

#if defined(__gfx908__) || defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx950__)
typedef float Tile __attribute__((ext_vector_type(16)));
typedef double Tile64 __attribute__((ext_vector_type(4)));
typedef _Float16 Half4 __attribute__((ext_vector_type(4)));
typedef short Short4 __attribute__((ext_vector_type(4)));
typedef short Short2 __attribute__((ext_vector_type(2)));
#define MATRIX(name, Out, In, call)                           \
  KERNEL(name, 256)(float* y, int times) {                    \
    In a;                                                     \
    __builtin_memset(&a, 0, sizeof(a));                       \
    *(int*)&a = threadIdx.x;                                  \
    Out c = {};                                               \
    for (int i = 0; i < times; i++) c = call(a, a, c, 0, 0, 0); \
    if (c[0] != 2 * c[0]) y[0] = c[0];                        \
  }
MATRIX(mfma_f16, Tile, Half4, __builtin_amdgcn_mfma_f32_32x32x8f16)
MATRIX(mfma_f32, Tile, float, __builtin_amdgcn_mfma_f32_32x32x2f32)
#if defined(__gfx908__) || defined(__gfx90a__)
MATRIX(mfma_bf16_4, Tile, Short2, __builtin_amdgcn_mfma_f32_32x32x4bf16)
#endif
#if !defined(__gfx908__)
MATRIX(mfma_bf16, Tile, Short4, __builtin_amdgcn_mfma_f32_32x32x8bf16_1k)
MATRIX(mfma_f64, Tile64, double, __builtin_amdgcn_mfma_f64_16x16x4f64)
#endif
#if defined(__gfx942__) || defined(__gfx950__)
MATRIX(mfma_f8, Tile, long, __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8)
#endif
#endif
