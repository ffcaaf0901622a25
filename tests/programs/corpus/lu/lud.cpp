// Blocked LU decomposition without pivoting (diagonal, perimeter, internal), and with partial pivoting (one block)
#include <hip/hip_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_SIZE 16
#define CHECKED(x) if ((x) != hipSuccess) { perror(#x); exit(1); }

__global__ void lud_diagonal(float *m, int matrix_dim, int offset)
{
  __shared__ float shadow[BLOCK_SIZE][BLOCK_SIZE];
  int array_offset = offset * matrix_dim + offset;
  for (int i = 0; i < BLOCK_SIZE; i++) {
    shadow[i][threadIdx.x] = m[array_offset + threadIdx.x];
    array_offset += matrix_dim;
  }
  __syncthreads();
  for (int i = 0; i < BLOCK_SIZE - 1; i++) {
    if (threadIdx.x > i) {
      for (int j = 0; j < i; j++) shadow[threadIdx.x][i] -= shadow[threadIdx.x][j] * shadow[j][i];
      shadow[threadIdx.x][i] /= shadow[i][i];
    }
    __syncthreads();
    if (threadIdx.x > i) {
      for (int j = 0; j < i + 1; j++) shadow[i + 1][threadIdx.x] -= shadow[i + 1][j] * shadow[j][threadIdx.x];
    }
    __syncthreads();
  }
  array_offset = (offset + 1) * matrix_dim + offset;
  for (int i = 1; i < BLOCK_SIZE; i++) {
    m[array_offset + threadIdx.x] = shadow[i][threadIdx.x];
    array_offset += matrix_dim;
  }
}

__global__ void lud_perimeter(float *m, int matrix_dim, int offset)
{
  __shared__ float dia[BLOCK_SIZE][BLOCK_SIZE], peri_row[BLOCK_SIZE][BLOCK_SIZE], peri_col[BLOCK_SIZE][BLOCK_SIZE];
  int idx = threadIdx.x % BLOCK_SIZE;
  bool row = threadIdx.x < BLOCK_SIZE;
  int step = (blockIdx.x + 1) * BLOCK_SIZE;
  for (int i = 0; i < BLOCK_SIZE; i++) {
    if (row) dia[i][idx] = m[(offset + i) * matrix_dim + offset + idx];
    if (row) peri_row[i][idx] = m[(offset + i) * matrix_dim + offset + step + idx];
    else peri_col[i][idx] = m[(offset + step + i) * matrix_dim + offset + idx];
  }
  __syncthreads();
  if (row) {
    for (int i = 1; i < BLOCK_SIZE; i++)
      for (int j = 0; j < i; j++) peri_row[i][idx] -= dia[i][j] * peri_row[j][idx];
  } else {
    for (int i = 0; i < BLOCK_SIZE; i++) {
      for (int j = 0; j < i; j++) peri_col[idx][i] -= peri_col[idx][j] * dia[j][i];
      peri_col[idx][i] /= dia[i][i];
    }
  }
  __syncthreads();
  for (int i = 0; i < BLOCK_SIZE; i++)
    if (row) m[(offset + i) * matrix_dim + offset + step + idx] = peri_row[i][idx];
    else m[(offset + step + i) * matrix_dim + offset + idx] = peri_col[i][idx];
}

__global__ void lud_internal(float *m, int matrix_dim, int offset)
{
  __shared__ float peri_row[BLOCK_SIZE][BLOCK_SIZE], peri_col[BLOCK_SIZE][BLOCK_SIZE];
  int global_row_id = offset + (blockIdx.y + 1) * BLOCK_SIZE, global_col_id = offset + (blockIdx.x + 1) * BLOCK_SIZE;
  peri_row[threadIdx.y][threadIdx.x] = m[(offset + threadIdx.y) * matrix_dim + global_col_id + threadIdx.x];
  peri_col[threadIdx.y][threadIdx.x] = m[(global_row_id + threadIdx.y) * matrix_dim + offset + threadIdx.x];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < BLOCK_SIZE; i++) sum += peri_col[threadIdx.y][i] * peri_row[i][threadIdx.x];
  m[(global_row_id + threadIdx.y) * matrix_dim + global_col_id + threadIdx.x] -= sum;
}

/* partial pivoting, one block for the whole matrix */
__global__ void lu_pivot(double *a, int *pivots, int n)
{
  __shared__ double best[256];
  __shared__ int where[256];
  for (int k = 0; k < n; k++) {
    double b = -1; int w = k;
    for (int i = k + threadIdx.x; i < n; i += blockDim.x) { double v = fabs(a[i * n + k]); if (v > b) { b = v; w = i; } }
    best[threadIdx.x] = b; where[threadIdx.x] = w;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
      if (threadIdx.x < s) {
        int o = threadIdx.x + s;
        if (best[o] > best[threadIdx.x] || (best[o] == best[threadIdx.x] && where[o] < where[threadIdx.x])) { best[threadIdx.x] = best[o]; where[threadIdx.x] = where[o]; }
      }
      __syncthreads();
    }
    int p = where[0];
    if (threadIdx.x == 0) pivots[k] = p;
    for (int j = threadIdx.x; j < n; j += blockDim.x) { double t = a[k * n + j]; a[k * n + j] = a[p * n + j]; a[p * n + j] = t; }
    __syncthreads();
    for (int i = k + 1 + threadIdx.x; i < n; i += blockDim.x) a[i * n + k] /= a[k * n + k];
    __syncthreads();
    int rest = n - k - 1;
    for (int t = threadIdx.x; t < rest * rest; t += blockDim.x) {
      int i = k + 1 + t / rest, j = k + 1 + t % rest;
      a[i * n + j] -= a[i * n + k] * a[k * n + j];
    }
    __syncthreads();
  }
}

int main(int argc, char *argv[])
{
  int opt, n = 96, m = 50;
  while ((opt = getopt(argc, argv, "s:p:v")) != -1) {
    switch (opt) {
      case 's': n = atoi(optarg) / BLOCK_SIZE * BLOCK_SIZE; break;
      case 'p': m = atoi(optarg); break;
      case 'v': break;
      default: fprintf(stderr, "Usage: %s [-v] [-s matrix_size] [-p size for pivoting]\n", argv[0]); exit(EXIT_FAILURE);
    }
  }
  float *a = (float *)malloc(n * n * sizeof(float)), *lu = (float *)malloc(n * n * sizeof(float)), *d_m;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) a[i * n + j] = 10 * expf(-0.05f * abs(i - j)) + (i == j ? 5 : 0);
  CHECKED(hipMalloc((void **)&d_m, n * n * sizeof(float)));
  CHECKED(hipMemcpy(d_m, a, n * n * sizeof(float), hipMemcpyHostToDevice));
  int i = 0;
  for (; i < n - BLOCK_SIZE; i += BLOCK_SIZE) {
    int rest = (n - i) / BLOCK_SIZE - 1;
    hipLaunchKernelGGL(lud_diagonal, 1, BLOCK_SIZE, 0, 0, d_m, n, i);
    hipLaunchKernelGGL(lud_perimeter, rest, BLOCK_SIZE * 2, 0, 0, d_m, n, i);
    hipLaunchKernelGGL(lud_internal, dim3(rest, rest), dim3(BLOCK_SIZE, BLOCK_SIZE), 0, 0, d_m, n, i);
  }
  hipLaunchKernelGGL(lud_diagonal, dim3(1), dim3(BLOCK_SIZE), 0, 0, d_m, n, i);
  CHECKED(hipDeviceSynchronize());
  CHECKED(hipMemcpy(lu, d_m, n * n * sizeof(float), hipMemcpyDeviceToHost));
  double worst = 0;
  for (int r = 0; r < n; r++)
    for (int c = 0; c < n; c++) {
      double s = 0;
      for (int k = 0; k <= (r < c ? r : c); k++) s += (k == r ? 1.0 : lu[r * n + k]) * lu[k * n + c];
      worst = fmax(worst, fabs(s - a[r * n + c]));
    }
  printf("blocked LU of %d: |LU - A| <= %.2e\n", n, worst);

  double *b = (double *)malloc(m * m * sizeof(double)), *f = (double *)malloc(m * m * sizeof(double)), *d_b;
  int *piv = (int *)malloc(m * sizeof(int)), *d_piv;
  srand(77);
  for (int k = 0; k < m * m; k++) b[k] = rand() % 2000 / 1000.0 - 1;
  CHECKED(hipMalloc((void **)&d_b, m * m * sizeof(double)));
  CHECKED(hipMalloc((void **)&d_piv, m * sizeof(int)));
  CHECKED(hipMemcpy(d_b, b, m * m * sizeof(double), hipMemcpyHostToDevice));
  hipLaunchKernelGGL(lu_pivot, 1, 256, 0, 0, d_b, d_piv, m);
  CHECKED(hipMemcpy(f, d_b, m * m * sizeof(double), hipMemcpyDeviceToHost));
  CHECKED(hipMemcpy(piv, d_piv, m * sizeof(int), hipMemcpyDeviceToHost));
  double worst2 = 0, multiplier = 0;
  int swaps = 0;
  for (int k = 0; k < m; k++) {
    swaps += piv[k] != k;
    for (int j = 0; j < m; j++) { double t = b[k * m + j]; b[k * m + j] = b[piv[k] * m + j]; b[piv[k] * m + j] = t; }
  }
  for (int r = 0; r < m; r++)
    for (int c = 0; c < m; c++) {
      double s = 0;
      for (int k = 0; k <= (r < c ? r : c); k++) s += (k == r ? 1.0 : f[r * m + k]) * f[k * m + c];
      worst2 = fmax(worst2, fabs(s - b[r * m + c]));
      if (c < r) multiplier = fmax(multiplier, fabs(f[r * m + c]));
    }
  printf("pivoted LU of %d: |LU - PA| <= %.2e, %d swaps, largest multiplier %.3f\n", m, worst2, swaps, multiplier);
  CHECKED(hipFree(d_m)); CHECKED(hipFree(d_b)); CHECKED(hipFree(d_piv));
  int good = worst < 1e-4 && worst2 < 1e-12 && multiplier <= 1.0 && swaps > 0;
  puts(good ? "PASSED" : "FAILED");
  return !good;
}
