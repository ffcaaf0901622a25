// Copies between two devices, directly if they can.
#include <cuda_runtime.h>
#include <cstdio>

__global__ void fill(int* data, int value, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = value;
}

int main() {
  int count = 0;
  cudaGetDeviceCount(&count);
  if (count < 2) {
    printf("one device\n");
    return 0;
  }
  const int n = 256;
  int *first, *second, can = 0, host[n];
  cudaDeviceCanAccessPeer(&can, 0, 1);
  cudaSetDevice(0);
  if (can) cudaDeviceEnablePeerAccess(1, 0);
  cudaMalloc(&first, n * sizeof(int));
  fill<<<1, n>>>(first, 5, n);
  cudaDeviceSynchronize();
  cudaSetDevice(1);
  cudaMalloc(&second, n * sizeof(int));
  cudaMemcpyPeer(second, 1, first, 0, n * sizeof(int));
  cudaMemcpy(host, second, n * sizeof(int), cudaMemcpyDefault);
  cudaSetDevice(0);
  if (can) cudaDeviceDisablePeerAccess(1);
  printf("%d %d\n", host[0], host[n - 1]);
  return 0;
}
