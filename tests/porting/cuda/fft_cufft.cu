// A convolution by way of the frequency domain.
#include <cuda_runtime.h>
#include <cufft.h>
#include <cstdio>

__global__ void multiply(cufftComplex* a, const cufftComplex* b, int n, float scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = make_cuComplex(scale * (a[i].x * b[i].x - a[i].y * b[i].y), scale * (a[i].x * b[i].y + a[i].y * b[i].x));
}

int main() {
  const int n = 1024;
  cufftComplex *signal, *filter;
  cudaMalloc(&signal, n * sizeof(cufftComplex));
  cudaMalloc(&filter, n * sizeof(cufftComplex));
  cufftHandle plan;
  if (cufftPlan1d(&plan, n, CUFFT_C2C, 1) != CUFFT_SUCCESS) return 1;
  cufftExecC2C(plan, signal, signal, CUFFT_FORWARD);
  cufftExecC2C(plan, filter, filter, CUFFT_FORWARD);
  multiply<<<(n + 255) / 256, 256>>>(signal, filter, n, 1.0f / n);
  cufftExecC2C(plan, signal, signal, CUFFT_INVERSE);
  cufftDestroy(plan);
  int dimensions[2] = {32, 32};
  cufftHandle many;
  cufftPlanMany(&many, 2, dimensions, nullptr, 1, 0, nullptr, 1, 0, CUFFT_R2C, 4);
  cufftSetStream(many, cudaStreamPerThread);
  cufftDestroy(many);
  cudaFree(signal);
  cudaFree(filter);
  printf("done\n");
  return 0;
}
