// Kernels of public measurements, for timing.py: each has the technique and the configuration of its source, which
// timing.py names. They are run for their times; what they compute is of no use.

#include <hip/hip_runtime.h>

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
#define AT_Y (blockIdx.y * blockDim.y + threadIdx.y)
#define AT_Z (blockIdx.z * blockDim.z + threadIdx.z)
#define KERNEL(name, threads) extern "C" __global__ void __launch_bounds__(threads) name
typedef float Float4 __attribute__((ext_vector_type(4)));

// ---- Laplace's operator on a grid of doubles: `rows` points of a thread in y. Loads in the order of the sum, or of
// addresses; stores as others, or nontemporal ones.

enum Order { BY_SUM, BY_ADDRESS, STREAMED };

template <int rows, Order order>
__device__ __forceinline__ void laplace(double* f, const double* u, int nx, int ny, int nz, int i, int j, int k) {
  const double x = 1.5, y = 2.5, z = 3.5, centre = -15;
  if (i == 0 || i >= nx - 1 || k == 0 || k >= nz - 1) return;
  int plane = nx * ny;
  size_t at = i + (size_t)nx * j + (size_t)plane * k;
  const double* p = u + at;
  double s[rows] = {};
  if (order == BY_SUM) {
    for (int n = 0; n < rows; n++) {
      double here = p[n * nx];
      s[n] += here * centre + (p[n * nx - 1] + p[n * nx + 1]) * x;
      if (n == 0) s[n] += p[-nx] * y;
      if (n > 0) s[n - 1] += here * y;
      if (n < rows - 1) s[n + 1] += here * y;
      if (n == rows - 1) s[n] += p[rows * nx] * y;
      s[n] += (p[n * nx - plane] + p[n * nx + plane]) * z;
    }
  } else {
    for (int n = 0; n < rows; n++) s[n] += p[n * nx - plane] * z;
    s[0] += j > 0 ? p[-nx] * y : 0;
    for (int n = 0; n < rows; n++) {
      s[n] += p[n * nx - 1] * x;
      double here = p[n * nx];
      s[n] += here * centre + p[n * nx + 1] * x;
      if (n > 0) s[n - 1] += here * y;
      if (n < rows - 1) s[n + 1] += here * y;
    }
    s[rows - 1] += j < ny - rows ? p[rows * nx] * y : 0;
    for (int n = 0; n < rows; n++) s[n] += p[n * nx + plane] * z;
  }
  for (int n = 0; n < rows; n++)
    if (n + j > 0 && n + j < ny - 1) {
      if (order == STREAMED) __builtin_nontemporal_store(s[n], f + at + n * nx);
      else f[at + n * nx] = s[n];
    }
}

#define LAPLACE(name, threads, rows, order)                                     \
  KERNEL(name, threads)(double* f, const double* u, int nx, int ny, int nz) {   \
    laplace<rows, order>(f, u, nx, ny, nz, INDEX, rows * AT_Y, AT_Z);           \
  }
LAPLACE(laplace_sum_2, 1024, 2, BY_SUM)
LAPLACE(laplace_sum_4, 1024, 4, BY_SUM)
LAPLACE(laplace_sum_8, 1024, 8, BY_SUM)
LAPLACE(laplace_1, 1024, 1, BY_ADDRESS)
LAPLACE(laplace_2, 1024, 2, BY_ADDRESS)
LAPLACE(laplace_4, 1024, 4, BY_ADDRESS)
LAPLACE(laplace_8, 1024, 8, BY_ADDRESS)
LAPLACE(laplace_bounds_8, 256, 8, BY_ADDRESS)
LAPLACE(laplace_bounds_16, 256, 16, BY_ADDRESS)
LAPLACE(laplace_streamed_8, 256, 8, STREAMED)
LAPLACE(laplace_streamed_16, 256, 16, STREAMED)
LAPLACE(laplace_deep_8, 1024, 8, STREAMED)

// The workgroups go along y first, then z, then x.
KERNEL(laplace_turned_8, 256)(double* f, const double* u, int nx, int ny, int nz) {
  laplace<8, STREAMED>(f, u, nx, ny, nz, blockIdx.z * blockDim.x + threadIdx.x, 8 * blockIdx.x, blockIdx.y);
}

// A part of the rows.
KERNEL(laplace_part_8, 256)(double* f, const double* u, int nx, int ny, int nz, int from) {
  laplace<8, STREAMED>(f, u, nx, ny, nz, INDEX, from + 8 * AT_Y, AT_Z);
}

#define LAPLACE_POINT(name, store)                                                                       \
  KERNEL(name, 1024)(double* f, const double* u, int nx, int ny, int nz) {                               \
    int i = INDEX, j = AT_Y, k = AT_Z, plane = nx * ny;                                                  \
    if (i == 0 || i >= nx - 1 || j == 0 || j >= ny - 1 || k == 0 || k >= nz - 1) return;                 \
    size_t at = i + (size_t)nx * j + (size_t)plane * k;                                                  \
    double s = u[at] * -15 + (u[at - 1] + u[at + 1]) * 1.5 + (u[at - nx] + u[at + nx]) * 2.5;            \
    store(s + (u[at - plane] + u[at + plane]) * 3.5, f + at);                                            \
  }
#define STORE(value, to) *(to) = value
LAPLACE_POINT(laplace_point, STORE)
LAPLACE_POINT(laplace_point_streamed, __builtin_nontemporal_store)

// ---- differences of eighth order along one direction of n x n x n floats, with four more at each side

__constant__ float weight[9] = {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f, 0.7f, 0.8f, 0.9f};

#define ALONG(name, step)                                                                                \
  KERNEL(name, 256)(float* __restrict__ q, const float* __restrict__ p, int line, int plane, int n) {    \
    int i = 4 + INDEX, j = 4 + AT_Y, k = 4 + AT_Z;                                                       \
    if (i >= n + 4 || j >= n + 4 || k >= n + 4) return;                                                  \
    size_t at = i + (size_t)line * j + (size_t)plane * k;                                                \
    p += at - 4 * (step);                                                                                \
    float s = 0;                                                                                         \
    for (int r = 0; r < 9; r++) s += p[r * (step)] * weight[r];                                          \
    q[at] = s;                                                                                           \
  }
ALONG(along_x, 1)
ALONG(along_y, line)
ALONG(along_z, plane)

template <int width>
struct Floats {
  typedef float type __attribute__((ext_vector_type(width)));
};
template <>
struct Floats<1> {
  typedef float type;
};

template <int width>
__device__ __forceinline__ void wide_x(float* q, const float* p, int line, int plane, int n) {
  typedef typename Floats<width>::type V;
  constexpr int side = 4 / width;
  int i = 4 + width * INDEX, j = 4 + AT_Y, k = 4 + AT_Z;
  if (i >= n + 4 || j >= n + 4 || k >= n + 4) return;
  size_t at = i + (size_t)line * j + (size_t)plane * k;
  float x[8 + width], s[width] = {};
  for (int r = 0; r < 2 * side + 1; r++) *(V*)(x + r * width) = ((const V*)(p + at))[r - side];
  for (int r = 0; r < 9; r++)
    for (int m = 0; m < width; m++) s[m] += x[r + m] * weight[r];
  *(V*)(q + at) = *(V*)s;
}

template <int width>
__device__ __forceinline__ void wide_y(float* q, const float* p, int line, int plane, int n) {
  typedef typename Floats<width>::type V;
  int i = 4 + width * INDEX, j = 4 + AT_Y, k = 4 + AT_Z;
  if (i >= n + 4 || j >= n + 4 || k >= n + 4) return;
  size_t at = i + (size_t)line * j + (size_t)plane * k;
  const V* v = (const V*)(p + at - 4 * line);
  V s = {};
  for (int r = 0; r < 9; r++, v += line / width) s += v[0] * weight[r];
  *(V*)(q + at) = s;
}

#define WIDE(name, function)                                                                             \
  KERNEL(name, 256)(float* __restrict__ q, const float* __restrict__ p, int line, int plane, int n) {    \
    function(q, p, line, plane, n);                                                                      \
  }
WIDE(wide_x_2, wide_x<2>)
WIDE(wide_x_4, wide_x<4>)
WIDE(wide_y_1, wide_y<1>)
WIDE(wide_y_2, wide_y<2>)
WIDE(wide_y_4, wide_y<4>)

// Twelve rows in LDS for the four that a workgroup of 64 x 4 computes.
KERNEL(lds_y_4, 256)(float* __restrict__ q, const float* __restrict__ p, int line, int plane, int n) {
  __shared__ Float4 rows[12 * 64];
  int i = 4 + 4 * INDEX, j = 4 + AT_Y, k = 4 + AT_Z, here = threadIdx.x + (4 + threadIdx.y) * 64;
  size_t at = i + (size_t)line * j + (size_t)plane * k;
  const Float4* v = (const Float4*)(p + at);
  rows[here - 4 * 64] = v[-line];
  rows[here] = v[0];
  rows[here + 4 * 64] = v[line];
  __syncthreads();
  if (i >= n + 4 || j >= n + 4 || k >= n + 4) return;
  Float4 s = {};
  for (int r = 0; r < 9; r++) s += rows[here + (r - 4) * 64] * weight[r];
  *(Float4*)(q + at) = s;
}

// Each thread goes along z with nine values in registers.
KERNEL(window_z, 256)(float* q, const float* p, int line, int plane, int n, int steps) {
  int i = 4 + INDEX, j = 4 + AT_Y, begin = 4 + blockIdx.z * steps;
  if (i >= n + 4 || j >= n + 4) return;
  int end = begin + steps < n + 4 ? begin + steps : n + 4;
  size_t at = i + (size_t)line * j + (size_t)plane * begin;
  float w[9];
  p += at - (size_t)4 * plane;
  q += at;
  for (int r = 0; r < 8; r++, p += plane) w[r] = p[0];
  for (int k = begin; k < end; k++, p += plane, q += plane) {
    w[8] = p[0];
    float s = 0;
    for (int r = 0; r < 9; r++) s += w[r] * weight[r];
    q[0] = s;
    for (int r = 0; r < 8; r++) w[r] = w[r + 1];
  }
}

// ---- a step of Jacobi's method

KERNEL(jacobi_laplace, 256)(double* au, const double* u, int nx, int ny, double x, double y) {
  int at = INDEX;
  if (at > nx - 2 + (ny - 2) * nx || at < nx + 1) return;
  double s = (-u[at - 1] + 2 * u[at] - u[at + 1]) * x + (-u[at - nx] + 2 * u[at] - u[at + nx]) * y;
  __builtin_nontemporal_store(s, au + at);
}

KERNEL(jacobi_update, 256)(const double* __restrict__ rhs, const double* __restrict__ au, double* __restrict__ rest,
                           double* __restrict__ u, int n, double factor) {
  for (int i = INDEX; i < n; i += gridDim.x * blockDim.x) {
    double r = rhs[i] - au[i];
    rest[i] = r;
    u[i] += r * factor;
  }
}

KERNEL(jacobi_norm, 512)(const double* a, double* sum, int n) {
  __shared__ double s[512];
  int t = threadIdx.x;
  s[t] = 0;
  for (int i = INDEX; i < n; i += gridDim.x * 512) s[t] += a[i] * a[i];
  for (int h = 256; h > 0; h >>= 1) {
    __syncthreads();
    if (t < h) s[t] += s[t + h];
  }
  if (t == 0) sum[blockIdx.x] = s[0];
}

// ---- caches: one workgroup on each unit reads the same block again and again

#define CACHE(kibibytes, inner, outer)                                                      \
  KERNEL(cache_##kibibytes, 256)(Float4 * a, const Float4* b, int zero) {                   \
    Float4 s = {};                                                                          \
    b += threadIdx.x;                                                                       \
    _Pragma(outer) for (int step = 0; step < 32 * (2 + 16384 / kibibytes); step++) {        \
      b += zero;                                                                            \
      _Pragma(inner) for (int i = 0; i < kibibytes * 64; i += 256) s += b[i];               \
      s *= 1.3f;                                                                            \
    }                                                                                       \
    if (s.x == 1233) a[threadIdx.x] += s;                                                   \
  }
CACHE(4, "unroll 1", "unroll 32")
CACHE(16, "unroll 4", "unroll 8")
CACHE(24, "unroll 6", "unroll 5")
CACHE(32, "unroll 8", "unroll 4")
CACHE(64, "unroll 16", "unroll 2")
CACHE(128, "unroll 32", "unroll 1")
CACHE(192, "unroll 48", "unroll 1")
CACHE(1048, "unroll 32", "unroll 1")
CACHE(2304, "unroll 32", "unroll 1")
CACHE(3152, "unroll 32", "unroll 1")

// Blocks of 512 KiB, each read by every `run`-th workgroup.
KERNEL(blocks, 1024)(Float4* a, const Float4* b, int run) {
  Float4 s = {};
#pragma unroll
  for (int i = 0; i < 32; i++) s += b[1024 * run * i + blockIdx.x % run * 1024 + threadIdx.x];
  if (s.x == 23.12f) a[threadIdx.x] += s;
}

// ---- streams

KERNEL(init, 1024)(double* x, double value) { x[INDEX] = value; }
