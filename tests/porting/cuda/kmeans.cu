// k-means in two dimensions: nearest centre, then means by atomics.
#include <cuda_runtime.h>
#include <cfloat>
#include <cstdio>

const int K = 4;

__global__ void assign(const float2* points, const float2* centres, int* owner, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float best = FLT_MAX;
  int nearest = 0;
  for (int k = 0; k < K; ++k) {
    float dx = points[i].x - centres[k].x, dy = points[i].y - centres[k].y;
    float distance = dx * dx + dy * dy;
    if (distance < best) {
      best = distance;
      nearest = k;
    }
  }
  owner[i] = nearest;
}

__global__ void accumulate(const float2* points, const int* owner, float* sums, int* counts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomicAdd(&sums[2 * owner[i]], points[i].x);
  atomicAdd(&sums[2 * owner[i] + 1], points[i].y);
  atomicAdd(&counts[owner[i]], 1);
}

int main() {
  const int n = 400;
  float2 points[n], centres[K], *dpoints, *dcentres;
  float sums[2 * K], *dsums;
  int counts[K], *dcounts, *downer;
  for (int i = 0; i < n; ++i) points[i] = make_float2((i % 4) * 10 + i % 3, (i % 4 / 2) * 20 + i % 5);
  for (int k = 0; k < K; ++k) centres[k] = points[k];
  cudaMalloc(&dpoints, sizeof(points));
  cudaMalloc(&dcentres, sizeof(centres));
  cudaMalloc(&dsums, sizeof(sums));
  cudaMalloc(&dcounts, sizeof(counts));
  cudaMalloc(&downer, n * sizeof(int));
  cudaMemcpy(dpoints, points, sizeof(points), cudaMemcpyHostToDevice);
  for (int iteration = 0; iteration < 3; ++iteration) {
    cudaMemcpy(dcentres, centres, sizeof(centres), cudaMemcpyHostToDevice);
    cudaMemset(dsums, 0, sizeof(sums));
    cudaMemset(dcounts, 0, sizeof(counts));
    assign<<<(n + 127) / 128, 128>>>(dpoints, dcentres, downer, n);
    accumulate<<<(n + 127) / 128, 128>>>(dpoints, downer, dsums, dcounts, n);
    cudaMemcpy(sums, dsums, sizeof(sums), cudaMemcpyDeviceToHost);
    cudaMemcpy(counts, dcounts, sizeof(counts), cudaMemcpyDeviceToHost);
    for (int k = 0; k < K; ++k) centres[k] = make_float2(sums[2 * k] / counts[k], sums[2 * k + 1] / counts[k]);
  }
  for (int k = 0; k < K; ++k) printf("%.3f %.3f %d\n", centres[k].x, centres[k].y, counts[k]);
  return 0;
}
