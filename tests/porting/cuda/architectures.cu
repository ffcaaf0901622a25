// Code for several generations, launch bounds, and functions for host and device.
#include <cuda_runtime.h>
#include <cstdio>

#ifndef __CUDACC__
#error "compile this as CUDA: cudaMalloc and so on"
#endif

__host__ __device__ inline const char* where() {
#ifdef __CUDA_ARCH__
  return "device";
#else
  return "host";
#endif
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800  //! architecture
#define FAST 1
#else
#define FAST 0
#endif

__global__ void __launch_bounds__(256, 4) kernel(int* out) {  //! launch-bounds
#if __CUDA_ARCH__ >= 600  //! architecture
  atomicAdd_system(out, 1);
#else
  atomicAdd(out, 1);
#endif
}

int main() {
  int *out, host = 0;
  cudaMalloc(&out, sizeof(int));
  cudaMemset(out, 0, sizeof(int));
  cudaFuncSetCacheConfig(kernel, cudaFuncCachePreferShared);
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, kernel);
  kernel<<<2, 128>>>(out);
  cudaMemcpy(&host, out, sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d %s\n", host, where());
#if CUDART_VERSION >= 11020  //! architecture
  cudaCtxResetPersistingL2Cache();  //! unsupported
#endif
  return 0;
}
