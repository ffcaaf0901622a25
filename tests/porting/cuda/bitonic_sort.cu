// Bitonic sort of a block's numbers in shared memory.
#include <cuda_runtime.h>
#include <cstdio>

#define N 256

__global__ void __launch_bounds__(N) sort(int* data) {
  __shared__ int s[N];
  unsigned int tid = threadIdx.x;
  s[tid] = data[tid];
  __syncthreads();
  for (unsigned int k = 2; k <= N; k <<= 1) {
    for (unsigned int j = k >> 1; j > 0; j >>= 1) {
      unsigned int other = tid ^ j;
      if (other > tid) {
        bool up = (tid & k) == 0;
        if ((s[tid] > s[other]) == up) {
          int swap = s[tid];
          s[tid] = s[other];
          s[other] = swap;
        }
      }
      __syncthreads();
    }
  }
  data[tid] = s[tid];
}

int main() {
  int host[N], *device;
  for (int i = 0; i < N; ++i) host[i] = (i * 167 + 13) % 509;
  cudaMalloc(&device, sizeof(host));
  cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice);
  sort<<<1, N>>>(device);
  cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost);
  printf("%d %d %d\n", host[0], host[N / 2], host[N - 1]);
  return 0;
}
