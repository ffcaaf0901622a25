// A polynomial whose coefficients are in constant memory, and a counter in a device variable.
#include <cuda_runtime.h>
#include <stdio.h>

#define DEGREE 5
__constant__ float coefficients[DEGREE];
__device__ unsigned int evaluated;

__global__ void evaluate(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float result = 0.f;
#pragma unroll
  for (int k = DEGREE - 1; k >= 0; --k) result = fmaf(result, x[i], coefficients[k]);
  y[i] = result;
  atomicInc(&evaluated, 0xffffffff);
}

int main(void) {
  const float host[DEGREE] = {1.f, -2.f, 0.5f, 0.25f, 2.f};
  const int n = 200;
  float x[n], y[n], *dx, *dy;
  for (int i = 0; i < n; i++) x[i] = (i - 100) / 64.f;
  cudaMemcpyToSymbol(coefficients, host, sizeof(host));
  unsigned int zero = 0, count;
  cudaMemcpyToSymbol(evaluated, &zero, sizeof(zero), 0, cudaMemcpyHostToDevice);
  cudaMalloc((void**)&dx, sizeof(x));
  cudaMalloc((void**)&dy, sizeof(y));
  cudaMemcpy(dx, x, sizeof(x), cudaMemcpyHostToDevice);
  evaluate<<<(n + 63) / 64, 64>>>(dx, dy, n);
  cudaMemcpy(y, dy, sizeof(y), cudaMemcpyDeviceToHost);
  cudaMemcpyFromSymbol(&count, evaluated, sizeof(count));
  void* address;
  size_t size;
  cudaGetSymbolAddress(&address, coefficients);
  cudaGetSymbolSize(&size, coefficients);
  printf("%g %g %u %d\n", y[0], y[n - 1], count, (int)size);
  cudaFree(dx);
  cudaFree(dy);
  return 0;
}
