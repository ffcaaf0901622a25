// A sum by shuffles within warps and shared memory between them: what every introduction prints, for 32 lanes.
#include <cuda_runtime.h>
#include <cstdio>

#define FULL_MASK 0xffffffff  //! lane-mask

__inline__ __device__ int warpReduceSum(int val) {
  for (int offset = 16; offset > 0; offset /= 2)  //! warp-size
    val += __shfl_down_sync(FULL_MASK, val, offset);
  return val;
}

__inline__ __device__ int blockReduceSum(int val) {
  static __shared__ int shared[32];
  int lane = threadIdx.x % 32;  //! warp-size
  int wid = threadIdx.x / 32;  //! warp-size
  val = warpReduceSum(val);
  if (lane == 0) shared[wid] = val;
  __syncthreads();
  val = (threadIdx.x < blockDim.x / 32) ? shared[lane] : 0;  //! warp-size
  if (wid == 0) val = warpReduceSum(val);
  return val;
}

__global__ void deviceReduce(const int* in, int* out, int n) {
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) sum += in[i];
  sum = blockReduceSum(sum);
  if (threadIdx.x == 0) atomicAdd(out, sum);
}

int main() {
  const int n = 10000;
  static int in[n];
  for (int i = 0; i < n; ++i) in[i] = i % 100 - 30;
  int *din, *dout, out = 0;
  cudaMalloc(&din, sizeof(in));
  cudaMalloc(&dout, sizeof(int));
  cudaMemcpy(din, in, sizeof(in), cudaMemcpyHostToDevice);
  cudaMemset(dout, 0, sizeof(int));
  deviceReduce<<<4, 256>>>(din, dout, n);
  cudaMemcpy(&out, dout, sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d\n", out);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
