// Kernels whose times on hardware are published, or whose order is known: what bench/timing.py and the tests of the
// timing model run. Sizes are arguments; grids cover them exactly unless a guard says otherwise.

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

// 128 x 128 of C by `threads` threads in steps of 8 in k. A wave makes `wide` columns of 32 rows, each lane tiles of 4 x 4
// of them, 8 lanes beside and 4 above each other. `ahead`: the next tiles are loaded into registers before a step's work.
template <int threads, int wide, int pad, bool ahead>
__device__ void sgemm_tiles(int n, const float* a, const float* b, float* c) {
  __shared__ float A[8][128 + pad], B[8][128];
  constexpr int across = wide / 32, of_b = 1024 / threads, of_a = 1024 / threads;
  int t = threadIdx.x, lane = t % 32, wave = t / 32, lx = lane % 8, ly = lane / 8;
  int left = wave % (128 / wide) * wide, top = wave / (128 / wide) * 32, x = blockIdx.x * 128, y = blockIdx.y * 128;
  float s[8][4 * across] = {}, next_a[of_a], next_b[of_b];
  auto load = [&](int k0) {
    for (int i = 0; i < of_b; i++) next_b[i] = b[n * (k0 + t / 128 + i * threads / 128) + x + t % 128];
    for (int i = 0; i < of_a; i++) next_a[i] = a[n * (y + t / 8 + i * threads / 8) + k0 + t % 8];
  };
  auto store = [&]() {
    for (int i = 0; i < of_b; i++) B[t / 128 + i * threads / 128][t % 128] = next_b[i];
    for (int i = 0; i < of_a; i++) A[t % 8][t / 8 + i * threads / 8] = next_a[i];
  };
  load(0);
  store();
  __syncthreads();
  for (int k0 = 0; k0 < n; k0 += 8) {
    if (ahead && k0 + 8 < n) load(k0 + 8);
#pragma unroll 1
    for (int k = 0; k < 8; k++) {
      float u[8], v[4 * across];
      for (int i = 0; i < across; i++) *(float4*)(v + 4 * i) = *(const float4*)&B[k][left + 32 * i + 4 * lx];
      for (int i = 0; i < 2; i++) *(float4*)(u + 4 * i) = *(const float4*)&A[k][top + 16 * i + 4 * ly];
      for (int i = 0; i < 8; i++)
        for (int j = 0; j < 4 * across; j++) s[i][j] += u[i] * v[j];
    }
    __syncthreads();
    if (k0 + 8 < n) {
      if (!ahead) load(k0 + 8);
      store();
      __syncthreads();
    }
  }
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 4 * across; j++)
      c[n * (y + top + i / 4 * 16 + 4 * ly + i % 4) + x + left + j / 4 * 32 + 4 * lx + j % 4] = s[i][j];
}

extern "C" {

// ---- streams

__global__ void copy(const float* x, float* y) { y[INDEX] = x[INDEX]; }
__global__ void copy4(const float4* x, float4* y) { y[INDEX] = x[INDEX]; }
__global__ void scale(const double* x, double* y) { y[INDEX] = x[INDEX] * 1.2; }
__global__ void triad(const double* x, const double* z, double* y) { y[INDEX] = x[INDEX] * 1.2 + z[INDEX]; }

// Dynamic LDS is there to limit how many workgroups a compute unit holds.
__global__ void read_only(const double* x, double* y) {
  double v = x[INDEX];
  if (v == 123.0) y[INDEX] = v;
}

__global__ void strided(const float* x, float* y, int stride) { y[INDEX] = x[(size_t)INDEX * stride]; }

__global__ void gather(const float* x, float* y, unsigned mask) { y[INDEX] = x[(INDEX * 2654435761u >> 4) & mask]; }

// The same small block again and again by one workgroup, from the vector L1.
__global__ void l1_strided(const float* x, float* y, int stride, int steps, int zero) {
  const float* at = x + threadIdx.x % 64 * stride;
  float sum = 0;
  for (int i = 0; i < steps; i++) {
    at += zero;
    for (int k = 0; k < 32; k += 4) sum += at[k];
  }
  y[threadIdx.x] = sum;
}

// ---- latency: each load gives the index of the next

__global__ void chase(const unsigned* next, unsigned* out, int steps) {
  unsigned at = threadIdx.x;
  for (int i = 0; i < steps; i++) at = next[at];
  out[threadIdx.x] = at;
}

__global__ void lds_chase(unsigned* out, int steps) {
  __shared__ unsigned next[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) next[i] = (i + 33) & 1023;
  __syncthreads();
  unsigned at = threadIdx.x;
  for (int i = 0; i < steps; i++) at = next[at];
  out[threadIdx.x] = at;
}

// A few dependent steps by each of many waves, a line or two at a time: more waves hide more latency.
__global__ void walk(const unsigned* next, unsigned* out, int steps, unsigned mask) {
  unsigned lane = threadIdx.x % warpSize, at = (INDEX / warpSize * 2654435761u >> 3 & mask) / 64 * 64;
  for (int i = 0; i < steps; i++) at = (at * 1664525u + 1013904223u + next[at + lane] & mask) / 64 * 64;
  out[INDEX] = at;
}

// ---- arithmetic: eight independent chains

__global__ void fma32(float* y, int steps, float a, float b) {
  float v[8];
  for (int k = 0; k < 8; k++) v[k] = threadIdx.x + k;
  for (int i = 0; i < steps; i++)
    for (int k = 0; k < 8; k++) v[k] = __builtin_fmaf(v[k], a, b);
  float s = 0;
  for (int k = 0; k < 8; k++) s += v[k];
  y[INDEX] = s;
}

__global__ void fma64(double* y, int steps, double a, double b) {
  double v[8];
  for (int k = 0; k < 8; k++) v[k] = threadIdx.x + k;
  for (int i = 0; i < steps; i++)
    for (int k = 0; k < 8; k++) v[k] = __builtin_fma(v[k], a, b);
  double s = 0;
  for (int k = 0; k < 8; k++) s += v[k];
  y[INDEX] = s;
}

__global__ void fma32_chain(float* y, int steps, float a, float b) {
  float v = threadIdx.x;
  for (int i = 0; i < steps; i++)
    for (int k = 0; k < 8; k++) v = __builtin_fmaf(v, a, b);
  y[INDEX] = v;
}

__global__ void exponentials(float* y, int steps) {
  float v[8];
  for (int k = 0; k < 8; k++) v[k] = threadIdx.x + k;
  for (int i = 0; i < steps; i++)
    for (int k = 0; k < 8; k++) v[k] = __builtin_amdgcn_exp2f(v[k]);
  float s = 0;
  for (int k = 0; k < 8; k++) s += v[k];
  y[INDEX] = s;
}

// ---- LDS: every lane reads at its number times `stride` dwords, eight times, and moves on

__global__ void lds_read(unsigned* y, int steps, int stride) {
  __shared__ unsigned s[4096];
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) s[i] = i;
  __syncthreads();
  unsigned at = threadIdx.x * stride & 2047, sum = 0;
  for (int i = 0; i < steps; i++) {
    for (int k = 0; k < 8; k++) sum ^= s[at + k * 256];
    at = at + 64 & 2047;
  }
  y[INDEX] = sum;
}

// ---- matrix products: n x n floats; row major

__global__ void sgemm_naive(int n, const float* a, const float* b, float* c) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float s = 0;
  for (int k = 0; k < n; k++) s += a[y * n + k] * b[k * n + x];
  c[y * n + x] = s;
}

__global__ void sgemm_tiled(int n, const float* a, const float* b, float* c) {
  __shared__ float A[32][32], B[32][32];
  int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 32 + ty;
  float s = 0;
  for (int t = 0; t < n; t += 32) {
    A[ty][tx] = a[y * n + t + tx];
    B[ty][tx] = b[(t + ty) * n + x];
    __syncthreads();
    for (int k = 0; k < 32; k++) s += A[ty][k] * B[k][tx];
    __syncthreads();
  }
  c[y * n + x] = s;
}

// 128 x 128 of C by 256 threads, 8 x 8 each; steps of 8 in k; A is stored transposed.
__global__ void __launch_bounds__(256) sgemm_registers(int n, const float* a, const float* b, float* c) {
  __shared__ float A[8][128 + 4], B[8][128];
  int t = threadIdx.x, tx = t % 16, ty = t / 16, x = blockIdx.x * 128, y = blockIdx.y * 128;
  float s[8][8] = {};
  for (int k0 = 0; k0 < n; k0 += 8) {
    float4 va = *(const float4*)(a + (y + t / 2) * n + k0 + t % 2 * 4);
    float4 vb = *(const float4*)(b + (k0 + t / 32) * n + x + t % 32 * 4);
    int r = t / 2, q = t % 2 * 4;
    A[q][r] = va.x; A[q + 1][r] = va.y; A[q + 2][r] = va.z; A[q + 3][r] = va.w;
    *(float4*)&B[t / 32][t % 32 * 4] = vb;
    __syncthreads();
    for (int k = 0; k < 8; k++) {
      float u[8], v[8];
      *(float4*)u = *(const float4*)&A[k][ty * 4];
      *(float4*)(u + 4) = *(const float4*)&A[k][64 + ty * 4];
      *(float4*)v = *(const float4*)&B[k][tx * 4];
      *(float4*)(v + 4) = *(const float4*)&B[k][64 + tx * 4];
      for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) s[i][j] += u[i] * v[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j += 4)
      *(float4*)(c + (y + (i < 4 ? ty * 4 + i : 60 + ty * 4 + i)) * n + x + (j ? 64 : 0) + tx * 4) =
          make_float4(s[i][j], s[i][j + 1], s[i][j + 2], s[i][j + 3]);
}

__global__ void __launch_bounds__(256) sgemm_waves(int n, const float* a, const float* b, float* c) {
  sgemm_tiles<256, 64, 0, false>(n, a, b, c);
}
__global__ void __launch_bounds__(256) sgemm_ahead(int n, const float* a, const float* b, float* c) {
  sgemm_tiles<256, 64, 0, true>(n, a, b, c);
}
__global__ void __launch_bounds__(128) sgemm_wide(int n, const float* a, const float* b, float* c) {
  sgemm_tiles<128, 128, 4, true>(n, a, b, c);
}

// ---- transposes of n x n doubles, and of floats with the two kinds of LDS tile

__global__ void transpose_read(const double* x, double* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  y[(size_t)i * n + j] = x[(size_t)j * n + i];
}

__global__ void transpose_write(const double* x, double* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  y[(size_t)j * n + i] = x[(size_t)i * n + j];
}

__global__ void transpose_padded(const double* x, double* y, int n) {
  __shared__ double tile[16][17];
  int tx = threadIdx.x, ty = threadIdx.y;
  tile[ty][tx] = x[(size_t)(blockIdx.y * 16 + ty) * n + blockIdx.x * 16 + tx];
  __syncthreads();
  y[(size_t)(blockIdx.x * 16 + ty) * n + blockIdx.y * 16 + tx] = tile[tx][ty];
}

#define TRANSPOSE32(name, width)                                                                      \
  __global__ void name(const float* x, float* y, int n) {                                             \
    __shared__ float tile[32][width];                                                                 \
    int tx = threadIdx.x, ty = threadIdx.y;                                                           \
    for (int r = 0; r < 32; r += 8) tile[ty + r][tx] = x[(size_t)(blockIdx.y * 32 + ty + r) * n + blockIdx.x * 32 + tx]; \
    __syncthreads();                                                                                  \
    for (int r = 0; r < 32; r += 8) y[(size_t)(blockIdx.x * 32 + ty + r) * n + blockIdx.y * 32 + tx] = tile[tx][ty + r]; \
  }
TRANSPOSE32(transpose_tile32, 32)
TRANSPOSE32(transpose_tile33, 33)

__global__ void transpose_naive32(const float* x, float* y, int n) {
  int i = blockIdx.x * 32 + threadIdx.x;
  for (int r = 0; r < 32; r += 8) {
    int j = blockIdx.y * 32 + threadIdx.y + r;
    y[(size_t)i * n + j] = x[(size_t)j * n + i];
  }
}

// ---- sums of 256 values by a workgroup

__global__ void reduce_interleaved(const float* x, float* out) {  // lanes far apart stay active, and banks conflict
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = x[INDEX];
  __syncthreads();
  for (int h = 1; h < 256; h *= 2) {
    int i = 2 * h * t;
    if (i < 256) s[i] += s[i + h];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void reduce_modulo(const float* x, float* out) {  // every wave stays busy with a few lanes
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = x[INDEX];
  __syncthreads();
  for (int h = 1; h < 256; h *= 2) {
    if (t % (2 * h) == 0) s[t] += s[t + h];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void reduce_sequential(const float* x, float* out) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = x[INDEX];
  __syncthreads();
  for (int h = 128; h > 0; h /= 2) {
    if (t < h) s[t] += s[t + h];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void reduce_shuffle(const float* x, float* out) {  // waves by shuffles, eight values a thread
  __shared__ float s[16];
  const float4* x4 = (const float4*)x;
  int t = threadIdx.x, at = blockIdx.x * 512 + t;
  float4 a = x4[at], b = x4[at + 256];
  float v = a.x + a.y + a.z + a.w + b.x + b.y + b.z + b.w;
  for (int h = warpSize / 2; h > 0; h /= 2) v += __shfl_down(v, h);
  if (t % warpSize == 0) s[t / warpSize] = v;
  __syncthreads();
  if (t == 0) {
    v = 0;
    for (int i = 0; i < 256 / warpSize; i++) v += s[i];
    out[blockIdx.x] = v;
  }
}

// ---- histograms of bytes

__global__ void histogram_global(const unsigned char* x, unsigned* bins) { atomicAdd(&bins[x[INDEX]], 1u); }

__global__ void histogram_lds(const unsigned char* x, unsigned* bins) {
  __shared__ unsigned s[256];
  s[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&s[x[INDEX]], 1u);
  __syncthreads();
  if (s[threadIdx.x]) atomicAdd(&bins[threadIdx.x], s[threadIdx.x]);
}

__global__ void one_atomic(unsigned* count) { atomicAdd(count, 1u); }
}
