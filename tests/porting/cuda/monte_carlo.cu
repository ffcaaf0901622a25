// An option's price by random walks; each thread has a generator of its own.
#include <cuda_runtime.h>
#include <math_constants.h>
#include <cstdio>

__device__ unsigned int next(unsigned int& state) {
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

__device__ float uniform(unsigned int& state) { return (next(state) + 0.5f) * (1.0f / 16777216.0f); }

__global__ void walk(float* sums, int paths, float start, float strike) {
  unsigned int state = 12345u + 7919u * (blockIdx.x * blockDim.x + threadIdx.x);
  float sum = 0.0f;
  for (int p = 0; p < paths; ++p) {
    float u = uniform(state), v = uniform(state);
    float normal = sqrtf(-2.0f * logf(u)) * cosf(2.0f * CUDART_PI_F * v);
    sum += fmaxf(start * expf(0.2f * normal - 0.02f) - strike, 0.0f);
  }
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum / paths;
}

int main() {
  const int threads = 128, blocks = 2;
  float sums[threads * blocks], *dsums;
  cudaMalloc(&dsums, sizeof(sums));
  walk<<<blocks, threads>>>(dsums, 20, 100.0f, 100.0f);
  cudaMemcpy(sums, dsums, sizeof(sums), cudaMemcpyDeviceToHost);
  double mean = 0;
  for (float s : sums) mean += s / (threads * blocks);
  printf("%s\n", mean > 6.5 && mean < 9.5 ? "plausible" : "wrong");
  cudaFree(dsums);
  return 0;
}
