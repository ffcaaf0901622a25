// Host memory that the kernel reads directly, and registered memory.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

__global__ void square(const int* in, int* out, int n) {
  int i = threadIdx.x;
  if (i < n) out[i] = in[i] * in[i];
}

int main() {
  const int n = 64;
  int *mapped, *view, *out, *registered = static_cast<int*>(malloc(n * sizeof(int)));
  cudaSetDeviceFlags(cudaDeviceMapHost);
  cudaHostAlloc((void**)&mapped, n * sizeof(int), cudaHostAllocMapped | cudaHostAllocWriteCombined);
  for (int i = 0; i < n; ++i) mapped[i] = i - 10;
  cudaHostGetDevicePointer((void**)&view, mapped, 0);
  cudaMalloc((void**)&out, n * sizeof(int));
  square<<<1, n>>>(view, out, n);
  cudaHostRegister(registered, n * sizeof(int), cudaHostRegisterDefault);
  cudaMemcpy(registered, out, n * sizeof(int), cudaMemcpyDeviceToHost);
  unsigned int flags = 0;
  cudaHostGetFlags(&flags, mapped);
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += registered[i];
  printf("%d\n", sum);
  cudaHostUnregister(registered);
  cudaFreeHost(mapped);
  cudaFree(out);
  free(registered);
  return 0;
}
