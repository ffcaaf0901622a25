/* Sparse lower triangular solve without analysis: each row waits (spins) until the rows that it depends on are done.
   One wavefront per row; blocks start in order of their number, so the lowest waiting row can always go on. */
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include "hip/hip_runtime.h"

#define CHECK(call)                                                                              \
  {                                                                                              \
    const hipError_t err = call;                                                                 \
    if (err != hipSuccess) {                                                                     \
      printf("Error: %s:%d, code: %d, reason: %s\n", __FILE__, __LINE__, err, hipGetErrorString(err)); \
      exit(-10 * err);                                                                           \
    }                                                                                            \
  }

__global__ void trsv_sync_free(const int *ptr, const int *col, const double *val, const double *b, volatile double *x,
                               int *ready, int n) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize, lane = threadIdx.x & (warpSize - 1);
  if (row >= n) return;
  double sum = 0.0;
  const int end = ptr[row + 1] - 1; /* the diagonal is last */
  for (int k = ptr[row] + lane; k < end; k += warpSize) {
    const int c = col[k];
    while (__hip_atomic_load(&ready[c], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) == 0) {
      __builtin_amdgcn_s_sleep(1);
    }
    sum += val[k] * x[c];
  }
  for (int offset = warpSize >> 1; offset > 0; offset >>= 1) sum += __shfl_xor(sum, offset, warpSize);
  if (lane == 0) {
    x[row] = (b[row] - sum) / val[end];
    __threadfence();
    __hip_atomic_store(&ready[row], 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
  }
}

/* by levels, for comparison */
__global__ void trsv_level(const int *rows, int first, int count, const int *ptr, const int *col, const double *val, const double *b,
                           double *x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  int row = rows[first + i], end = ptr[row + 1] - 1;
  double sum = b[row];
  for (int k = ptr[row]; k < end; k++) sum -= val[k] * x[col[k]];
  x[row] = sum / val[end];
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 300;
  int *ptr = (int *)malloc((n + 1) * sizeof(int)), *col = (int *)malloc(n * 16 * sizeof(int)), nnz = 0;
  double *val = (double *)malloc(n * 16 * sizeof(double)), *b = (double *)malloc(n * sizeof(double));
  double *x = (double *)malloc(n * sizeof(double)), *got = (double *)malloc(n * sizeof(double));
  int *level = (int *)calloc(n, sizeof(int)), levels = 0;
  srand(12);
  for (int i = 0; i < n; i++) {
    ptr[i] = nnz;
    int want = i < 1 ? 0 : rand() % (i < 12 ? i + 1 : 12), last = -1;
    for (int k = 0; k < want; k++) {
      int c = last + 1 + rand() % (2 * (i - last) / (want - k + 1) + 1);
      if (c >= i) break;
      col[nnz] = c;
      val[nnz++] = (rand() % 200 - 100) / 100.0;
      if (level[c] + 1 > level[i]) level[i] = level[c] + 1;
      last = c;
    }
    col[nnz] = i;
    val[nnz++] = 10 + rand() % 5;
    b[i] = (rand() % 2000 - 1000) / 10.0;
    if (level[i] + 1 > levels) levels = level[i] + 1;
  }
  ptr[n] = nnz;
  for (int i = 0; i < n; i++) {
    double s = b[i];
    for (int k = ptr[i]; k < ptr[i + 1] - 1; k++) s -= val[k] * x[col[k]];
    x[i] = s / val[ptr[i + 1] - 1];
  }
  int *rows = (int *)malloc(n * sizeof(int)), *start = (int *)calloc(levels + 1, sizeof(int)), at = 0;
  for (int l = 0; l < levels; l++) {
    start[l] = at;
    for (int i = 0; i < n; i++) if (level[i] == l) rows[at++] = i;
  }
  start[levels] = n;
  int *d_ptr, *d_col, *d_ready, *d_rows;
  double *d_val, *d_b, *d_x;
  CHECK(hipMalloc((void **)&d_ptr, (n + 1) * sizeof(int)));
  CHECK(hipMalloc((void **)&d_col, nnz * sizeof(int)));
  CHECK(hipMalloc((void **)&d_ready, n * sizeof(int)));
  CHECK(hipMalloc((void **)&d_rows, n * sizeof(int)));
  CHECK(hipMalloc((void **)&d_val, nnz * sizeof(double)));
  CHECK(hipMalloc((void **)&d_b, n * sizeof(double)));
  CHECK(hipMalloc((void **)&d_x, n * sizeof(double)));
  CHECK(hipMemcpy(d_ptr, ptr, (n + 1) * sizeof(int), hipMemcpyHostToDevice));
  CHECK(hipMemcpy(d_col, col, nnz * sizeof(int), hipMemcpyHostToDevice));
  CHECK(hipMemcpy(d_val, val, nnz * sizeof(double), hipMemcpyHostToDevice));
  CHECK(hipMemcpy(d_b, b, n * sizeof(double), hipMemcpyHostToDevice));
  CHECK(hipMemcpy(d_rows, rows, n * sizeof(int), hipMemcpyHostToDevice));
  CHECK(hipMemset(d_ready, 0, n * sizeof(int)));
  hipDeviceProp_t prop;
  CHECK(hipGetDeviceProperties(&prop, 0));
  int per_block = 256 / prop.warpSize;
  hipLaunchKernelGGL(trsv_sync_free, dim3((n + per_block - 1) / per_block), dim3(256), 0, 0, d_ptr, d_col, d_val, d_b, d_x, d_ready, n);
  CHECK(hipGetLastError());
  CHECK(hipDeviceSynchronize());
  CHECK(hipMemcpy(got, d_x, n * sizeof(double), hipMemcpyDeviceToHost));
  double worst[2] = {0, 0};
  for (int i = 0; i < n; i++) worst[0] = fmax(worst[0], fabs(got[i] - x[i]));
  CHECK(hipMemset(d_x, 0xff, n * sizeof(double)));
  for (int l = 0; l < levels; l++) {
    int count = start[l + 1] - start[l];
    hipLaunchKernelGGL(trsv_level, dim3((count + 63) / 64), dim3(64), 0, 0, d_rows, start[l], count, d_ptr, d_col, d_val, d_b, d_x);
  }
  CHECK(hipMemcpy(got, d_x, n * sizeof(double), hipMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) worst[1] = fmax(worst[1], isnan(got[i]) ? 1e9 : fabs(got[i] - x[i]));
  printf("%d rows, %d entries, %d levels: errors %.2e (waiting), %.2e (by levels)\n", n, nnz, levels, worst[0], worst[1]);
  CHECK(hipFree(d_ptr)); CHECK(hipFree(d_col)); CHECK(hipFree(d_ready)); CHECK(hipFree(d_rows));
  CHECK(hipFree(d_val)); CHECK(hipFree(d_b)); CHECK(hipFree(d_x));
  if (worst[0] > 1e-11 || worst[1] > 1e-11) { printf("FAILED\n"); return 1; }
  printf("PASSED\n");
  return 0;
}
