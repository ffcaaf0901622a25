// A sparse matrix times a vector, one warp a row: written for 32 lanes.
#include <cuda_runtime.h>
#include <cstdio>
#include <vector>

#define WARP_SIZE 32  //! warp-size

__global__ void spmv(const int* rows, const int* columns, const float* values, const float* x, float* y, int n) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int warp = thread / WARP_SIZE;
  int lane = thread & (WARP_SIZE - 1);
  if (warp >= n) return;
  float sum = 0.0f;
  for (int k = rows[warp] + lane; k < rows[warp + 1]; k += 32) sum += values[k] * x[columns[k]];  //! warp-size
#pragma unroll
  for (int offset = WARP_SIZE / 2; offset > 0; offset >>= 1)
    sum += __shfl_xor_sync(0xffffffff, sum, offset, WARP_SIZE);  //! lane-mask
  if (lane == 0) y[warp] = sum;
}

int main() {
  const int n = 60;
  std::vector<int> rows(1, 0), columns;
  std::vector<float> values, x(n), y(n);
  for (int i = 0; i < n; ++i) {
    x[i] = 1.0f + i % 4;
    for (int j = 0; j < n; ++j)
      if ((i * j + i) % 3 == 0) {
        columns.push_back(j);
        values.push_back(1.0f + (i + j) % 5);
      }
    rows.push_back((int)columns.size());
  }
  int *drows, *dcolumns;
  float *dvalues, *dx, *dy;
  cudaMalloc(&drows, rows.size() * sizeof(int));
  cudaMalloc(&dcolumns, columns.size() * sizeof(int));
  cudaMalloc(&dvalues, values.size() * sizeof(float));
  cudaMalloc(&dx, n * sizeof(float));
  cudaMalloc(&dy, n * sizeof(float));
  cudaMemcpy(drows, rows.data(), rows.size() * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(dcolumns, columns.data(), columns.size() * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(dvalues, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  spmv<<<(n * WARP_SIZE + 127) / 128, 128>>>(drows, dcolumns, dvalues, dx, dy, n);
  cudaMemcpy(y.data(), dy, n * sizeof(float), cudaMemcpyDeviceToHost);
  double sum = 0;
  for (float v : y) sum += v;
  printf("%g %g %g\n", sum, y[1], y[n - 1]);
  return 0;
}
