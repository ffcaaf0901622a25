// The reduction of CUDA's early days: the last warp goes on without barriers, which was never promised.
#include <cuda_runtime.h>
#include <cstdio>

template <unsigned int blockSize>
__device__ void warpReduce(volatile int* sdata, unsigned int tid) {
  if (blockSize >= 64) sdata[tid] += sdata[tid + 32];  //! warp-synchronous
  if (blockSize >= 32) sdata[tid] += sdata[tid + 16];
  if (blockSize >= 16) sdata[tid] += sdata[tid + 8];
  if (blockSize >= 8) sdata[tid] += sdata[tid + 4];
  if (blockSize >= 4) sdata[tid] += sdata[tid + 2];
  if (blockSize >= 2) sdata[tid] += sdata[tid + 1];
}

template <unsigned int blockSize>
__global__ void reduce(const int* in, int* out, unsigned int n) {
  extern __shared__ int sdata[];
  unsigned int tid = threadIdx.x;
  sdata[tid] = 0;
  for (unsigned int i = blockIdx.x * blockSize + tid; i < n; i += blockSize * gridDim.x) sdata[tid] += in[i];
  __syncthreads();
  if (blockSize >= 256) {
    if (tid < 128) sdata[tid] += sdata[tid + 128];
    __syncthreads();
  }
  if (blockSize >= 128) {
    if (tid < 64) sdata[tid] += sdata[tid + 64];
    __syncthreads();
  }
  if (tid < 32) warpReduce<blockSize>(sdata, tid);  //! warp-size
  if (tid == 0) out[blockIdx.x] = sdata[0];
}

int main() {
  const int n = 1000;
  int in[n], out = 0, *din, *dout;
  for (int i = 0; i < n; ++i) in[i] = i;
  cudaMalloc(&din, sizeof(in));
  cudaMalloc(&dout, sizeof(int));
  cudaMemcpy(din, in, sizeof(in), cudaMemcpyHostToDevice);
  reduce<256><<<1, 256, 256 * sizeof(int)>>>(din, dout, n);
  cudaMemcpy(&out, dout, sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d\n", out);
  return 0;
}
