// Keeps the positive numbers: one atomic for each warp, places by counting votes.
#include <cuda_runtime.h>
#include <cstdio>
#include <algorithm>

const int WARP = 32;  //! warp-size

__global__ void compact(const int* in, int* out, int* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int lane = threadIdx.x & (WARP - 1);
  int value = i < n ? in[i] : -1;
  unsigned int votes = __ballot_sync(0xffffffffu, value > 0);  //! lane-mask lane-mask
  int before = __popc(votes & ((1u << lane) - 1));  //! lane-mask lane-mask
  int start = 0;
  if (lane == 0) start = atomicAdd(count, __popc(votes));  //! lane-mask
  start = __shfl_sync(0xffffffff, start, 0);  //! lane-mask
  if (value > 0) out[start + before] = value;
}

int main() {
  const int n = 1000;
  int in[n], out[n], count = 0;
  for (int i = 0; i < n; ++i) in[i] = (i * 37) % 101 - 50;
  int *din, *dout, *dcount;
  cudaMalloc(&din, sizeof(in));
  cudaMalloc(&dout, sizeof(out));
  cudaMalloc(&dcount, sizeof(int));
  cudaMemcpy(din, in, sizeof(in), cudaMemcpyHostToDevice);
  cudaMemset(dcount, 0, sizeof(int));
  compact<<<(n + 127) / 128, 128>>>(din, dout, dcount, n);
  cudaMemcpy(&count, dcount, sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(out, dout, count * sizeof(int), cudaMemcpyDeviceToHost);
  std::sort(out, out + count);
  printf("%d %d %d %d\n", count, out[0], out[count / 2], out[count - 1]);
  return 0;
}
