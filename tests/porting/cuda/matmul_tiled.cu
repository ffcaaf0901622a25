// C = A * B with tiles in shared memory. Prints the sum of C and one element.
#include <cuda_runtime.h>
#include <cstdio>

constexpr int TILE = 16;

__global__ void matmul(const float* A, const float* B, float* C, int n) {
  __shared__ float a[TILE][TILE];
  __shared__ float b[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y;
  int column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0.0f;
  for (int t = 0; t < (n + TILE - 1) / TILE; ++t) {
    a[threadIdx.y][threadIdx.x] = row < n && t * TILE + threadIdx.x < n ? A[row * n + t * TILE + threadIdx.x] : 0.0f;
    b[threadIdx.y][threadIdx.x] = column < n && t * TILE + threadIdx.y < n ? B[(t * TILE + threadIdx.y) * n + column] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE; ++k) sum += a[threadIdx.y][k] * b[k][threadIdx.x];
    __syncthreads();
  }
  if (row < n && column < n) C[row * n + column] = sum;
}

int main() {
  const int n = 50;
  static float A[n * n], B[n * n], C[n * n];
  for (int i = 0; i < n * n; ++i) {
    A[i] = i % 9 - 4;
    B[i] = i % 5 - 2;
  }
  float *dA, *dB, *dC;
  cudaMalloc(&dA, sizeof(A));
  cudaMalloc(&dB, sizeof(B));
  cudaMalloc(&dC, sizeof(C));
  cudaMemcpy(dA, A, sizeof(A), cudaMemcpyHostToDevice);
  cudaMemcpy(dB, B, sizeof(B), cudaMemcpyHostToDevice);
  dim3 block(TILE, TILE);
  dim3 grid((n + TILE - 1) / TILE, (n + TILE - 1) / TILE);
  matmul<<<grid, block>>>(dA, dB, dC, n);
  cudaMemcpy(C, dC, sizeof(C), cudaMemcpyDeviceToHost);
  double sum = 0;
  for (float c : C) sum += c;
  printf("%g %g\n", sum, C[17 * n + 31]);
  cudaFree(dA), cudaFree(dB), cudaFree(dC);
}
