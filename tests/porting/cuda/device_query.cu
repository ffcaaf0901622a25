// Prints what the devices are.
#include <cuda_runtime.h>
#include <cstdio>

int main() {
  int count = 0, driver = 0, runtime = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) return 1;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp prop;
    cudaGetDeviceProperties(&prop, device);
    printf("%s: %d multiprocessors, %d lanes, %zu bytes shared\n", prop.name, prop.multiProcessorCount, prop.warpSize,
           prop.sharedMemPerBlock);
    if (prop.major < 7) printf("old\n");  //! device-property
    const cudaDeviceProp* p = &prop;
    printf("%d %d\n", p->maxThreadsPerBlock, p->sparseCudaArraySupported);  //! device-property
    int value = 0;
    cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  }
  size_t free_bytes = 0, total = 0;
  cudaMemGetInfo(&free_bytes, &total);
  cudaPointerAttributes attributes;
  cudaPointerGetAttributes(&attributes, &total);
  if (attributes.memoryType == cudaMemoryTypeDevice) return 2;  //! device-property
  return 0;
}
