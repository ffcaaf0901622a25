// Quicksort whose kernels launch kernels: reported, HIP has no dynamic parallelism.
#include <cuda_runtime.h>
#include <cstdio>

__global__ void child(int* data, int n) {
  int i = threadIdx.x;
  if (i < n) data[i] *= 2;
}

__global__ void parent(int* data, int n) {
  if (threadIdx.x == 0) {
    child<<<1, n / 2>>>(data, n / 2);  //! dynamic-parallelism
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);  //! dynamic-parallelism
    child<<<1, n / 2, 0, stream>>>(data + n / 2, n / 2);  //! dynamic-parallelism
    cudaStreamDestroy(stream);  //! dynamic-parallelism
    cudaDeviceSynchronize();  //! dynamic-parallelism
  }
}

int main() {
  int *data, host[64];
  for (int i = 0; i < 64; ++i) host[i] = i;
  cudaMalloc(&data, sizeof(host));
  cudaMemcpy(data, host, sizeof(host), cudaMemcpyHostToDevice);
  parent<<<1, 1>>>(data, 64);
  cudaDeviceSynchronize();
  cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost);
  printf("%d\n", host[63]);
  return 0;
}
