// A convolution by way of the frequency domain.
#include <hip/hip_runtime.h>
#include <hipfft/hipfft.h>
#include <cstdio>

__global__ void multiply(hipfftComplex* a, const hipfftComplex* b, int n, float scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = make_hipComplex(scale * (a[i].x * b[i].x - a[i].y * b[i].y), scale * (a[i].x * b[i].y + a[i].y * b[i].x));
}

int main() {
  const int n = 1024;
  hipfftComplex *signal, *filter;
  hipMalloc(&signal, n * sizeof(hipfftComplex));
  hipMalloc(&filter, n * sizeof(hipfftComplex));
  hipfftHandle plan;
  if (hipfftPlan1d(&plan, n, HIPFFT_C2C, 1) != HIPFFT_SUCCESS) return 1;
  hipfftExecC2C(plan, signal, signal, HIPFFT_FORWARD);
  hipfftExecC2C(plan, filter, filter, HIPFFT_FORWARD);
  multiply<<<(n + 255) / 256, 256>>>(signal, filter, n, 1.0f / n);
  hipfftExecC2C(plan, signal, signal, HIPFFT_BACKWARD);
  hipfftDestroy(plan);
  int dimensions[2] = {32, 32};
  hipfftHandle many;
  hipfftPlanMany(&many, 2, dimensions, nullptr, 1, 0, nullptr, 1, 0, HIPFFT_R2C, 4);
  hipfftSetStream(many, hipStreamPerThread);
  hipfftDestroy(many);
  hipFree(signal);
  hipFree(filter);
  printf("done\n");
  return 0;
}
