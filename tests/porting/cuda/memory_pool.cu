// Allocation in a stream's order.
#include <cuda_runtime.h>
#include <cstdio>

__global__ void iota(int* data, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) data[i] = i;
}

int main() {
  const int n = 777;
  int *data, host[n];
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMallocAsync((void**)&data, n * sizeof(int), stream);
  iota<<<3, 128, 0, stream>>>(data, n);
  cudaMemcpyAsync(host, data, sizeof(host), cudaMemcpyDeviceToHost, stream);
  cudaFreeAsync(data, stream);
  cudaStreamSynchronize(stream);
  long sum = 0;
  for (int v : host) sum += v;
  printf("%ld\n", sum);
  cudaStreamDestroy(stream);
  return 0;
}
