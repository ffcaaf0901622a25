// The same matrix product by OpenMP threads and by the GPU; the rows are split between both
#include <hip/hip_runtime.h>
#include <omp.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define hipCheckError() { hipError_t e = hipGetLastError(); if (e != hipSuccess) { printf("HIP failure %s:%d: '%s'\n", __FILE__, __LINE__, hipGetErrorString(e)); exit(0); } }

#define TS 16
__global__ void matmul(const int *a, const int *b, int *c, int rows, int n) {
  __shared__ int as[TS][TS], bs[TS][TS];
  int col = blockIdx.x * TS + threadIdx.x, row = blockIdx.y * TS + threadIdx.y, sum = 0;
  for (int t = 0; t < n; t += TS) {
    as[threadIdx.y][threadIdx.x] = row < rows && t + threadIdx.x < n ? a[row * n + t + threadIdx.x] : 0;
    bs[threadIdx.y][threadIdx.x] = col < n && t + threadIdx.y < n ? b[(t + threadIdx.y) * n + col] : 0;
    __syncthreads();
    for (int k = 0; k < TS; k++) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  if (row < rows && col < n) c[row * n + col] = sum;
}

// Each host thread sends bands of rows through a stream of its own; the bands are dealt out as threads come for them
static int product_by_bands(const std::vector<int> &a, const std::vector<int> &b, std::vector<int> &c, int n, int band) {
  int *db, failures = 0, bands = (n + band - 1) / band;
  hipMalloc(&db, n * n * sizeof(int));
  hipMemcpy(db, b.data(), n * n * sizeof(int), hipMemcpyHostToDevice);
#pragma omp parallel reduction(+ : failures)
  {
    hipStream_t stream;
    int *da, *dc;
    failures += hipStreamCreate(&stream) != hipSuccess;
    failures += hipMalloc(&da, band * n * sizeof(int)) != hipSuccess || hipMalloc(&dc, band * n * sizeof(int)) != hipSuccess;
#pragma omp for schedule(guided)
    for (int k = 0; k < bands; k++) {
      int first = k * band, rows = first + band < n ? band : n - first;
      size_t bytes = rows * n * sizeof(int);
      failures += hipMemcpyAsync(da, &a[first * n], bytes, hipMemcpyHostToDevice, stream) != hipSuccess;
      matmul<<<dim3((n + TS - 1) / TS, (rows + TS - 1) / TS), dim3(TS, TS), 0, stream>>>(da, db, dc, rows, n);
      failures += hipMemcpyAsync(&c[first * n], dc, bytes, hipMemcpyDeviceToHost, stream) != hipSuccess;
      failures += hipStreamSynchronize(stream) != hipSuccess;
    }
    hipFree(da); hipFree(dc); hipStreamDestroy(stream);
  }
  hipFree(db);
  return failures;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 100, gpu_rows = n * 2 / 3;
  std::vector<int> a(n * n), b(n * n), c(n * n, -1), ref(n * n);
#pragma omp parallel for
  for (int i = 0; i < n * n; i++) { a[i] = i % 17 - 8; b[i] = i % 23 - 11; }
  int *da, *db, *dc;
  hipMalloc(&da, gpu_rows * n * sizeof(int));
  hipMalloc(&db, n * n * sizeof(int));
  hipMalloc(&dc, gpu_rows * n * sizeof(int));
  hipCheckError();
  double t0 = omp_get_wtime();
  int threads = 0, tid0 = -1;
#pragma omp parallel
  {
#pragma omp master
    {
      threads = omp_get_num_threads();
      tid0 = omp_get_thread_num();
      hipMemcpy(da, a.data(), gpu_rows * n * sizeof(int), hipMemcpyHostToDevice);
      hipMemcpy(db, b.data(), n * n * sizeof(int), hipMemcpyHostToDevice);
      matmul<<<dim3((n + TS - 1) / TS, (gpu_rows + TS - 1) / TS), dim3(TS, TS)>>>(da, db, dc, gpu_rows, n);
    }
#pragma omp for schedule(dynamic, 4) nowait
    for (int i = gpu_rows; i < n; i++)
      for (int j = 0; j < n; j++) {
        int s = 0;
        for (int k = 0; k < n; k++) s += a[i * n + k] * b[k * n + j];
        c[i * n + j] = s;
      }
  }
  hipMemcpy(c.data(), dc, gpu_rows * n * sizeof(int), hipMemcpyDeviceToHost);
  hipCheckError();
  double t1 = omp_get_wtime();
  long long checksum = 0;
  int wrong = 0;
#pragma omp parallel for collapse(2) reduction(+ : checksum, wrong)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      int s = 0;
      for (int k = 0; k < n; k++) s += a[i * n + k] * b[k * n + j];
      wrong += s != c[i * n + j];
      checksum += s;
    }
  std::vector<int> banded(n * n, -1);
  int failures = product_by_bands(a, b, banded, n, 12);
  wrong += banded != c;
  int counted = 0;
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) {
#pragma omp atomic
    counted++;
  }
#pragma omp critical
  printf("%d threads (master is %d), max %d, %.3f s, checksum %lld, %d wrong\n", threads, tid0, omp_get_max_threads(), t1 - t0, checksum, wrong);
  hipFree(da); hipFree(db); hipFree(dc);
  if (wrong || failures || counted != 1000 || threads < 1) { printf("FAILED\n"); return 1; }
  printf("PASSED\n");
  return 0;
}
