// Quicksort whose kernels launch kernels: reported, HIP has no dynamic parallelism.
#include <hip/hip_runtime.h>
#include <cstdio>

__global__ void child(int* data, int n) {
  int i = threadIdx.x;
  if (i < n) data[i] *= 2;
}

__global__ void parent(int* data, int n) {
  if (threadIdx.x == 0) {
    child<<<1, n / 2>>>(data, n / 2);  //! dynamic-parallelism
    hipStream_t stream;
    hipStreamCreateWithFlags(&stream, hipStreamNonBlocking);  //! dynamic-parallelism
    child<<<1, n / 2, 0, stream>>>(data + n / 2, n / 2);  //! dynamic-parallelism
    hipStreamDestroy(stream);  //! dynamic-parallelism
    hipDeviceSynchronize();  //! dynamic-parallelism
  }
}

int main() {
  int *data, host[64];
  for (int i = 0; i < 64; ++i) host[i] = i;
  hipMalloc(&data, sizeof(host));
  hipMemcpy(data, host, sizeof(host), hipMemcpyHostToDevice);
  parent<<<1, 1>>>(data, 64);
  hipDeviceSynchronize();
  hipMemcpy(host, data, sizeof(host), hipMemcpyDeviceToHost);
  printf("%d\n", host[63]);
  return 0;
}
