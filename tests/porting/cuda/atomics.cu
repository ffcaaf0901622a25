// A histogram in shared memory, the largest float by compare and swap, a count by fetch-and-add.
#include <cuda_runtime.h>
#include <cstdio>

#define BINS 16

__device__ float atomicMaxFloat(float* address, float value) {
  int* as_int = reinterpret_cast<int*>(address);
  int old = *as_int, assumed;
  do {
    assumed = old;
    old = atomicCAS(as_int, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed))));
  } while (assumed != old);
  return __int_as_float(old);
}

__global__ void histogram(const unsigned char* in, unsigned int* bins, float* largest, int n) {
  __shared__ unsigned int local[BINS];
  if (threadIdx.x < BINS) local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&local[in[i] % BINS], 1u);
    atomicMaxFloat(largest, in[i] * 0.5f);
  }
  __syncthreads();
  if (threadIdx.x < BINS) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

int main() {
  const int n = 2000;
  unsigned char in[n], *din;
  unsigned int bins[BINS], *dbins;
  float largest = 0, *dlargest;
  for (int i = 0; i < n; ++i) in[i] = (i * i + 3 * i) % 251;
  cudaMalloc(&din, n);
  cudaMalloc(&dbins, sizeof(bins));
  cudaMalloc(&dlargest, sizeof(float));
  cudaMemcpy(din, in, n, cudaMemcpyHostToDevice);
  cudaMemset(dbins, 0, sizeof(bins));
  cudaMemset(dlargest, 0, sizeof(float));
  histogram<<<3, 128>>>(din, dbins, dlargest, n);
  cudaMemcpy(bins, dbins, sizeof(bins), cudaMemcpyDeviceToHost);
  cudaMemcpy(&largest, dlargest, sizeof(float), cudaMemcpyDeviceToHost);
  for (unsigned int bin : bins) printf("%u ", bin);
  printf("%g\n", largest);
  return 0;
}
