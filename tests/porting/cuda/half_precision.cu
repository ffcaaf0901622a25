// Arithmetic in 16 bits: halves, pairs of halves and bfloat16.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cstdio>

__global__ void axpy(__half a, const __half* x, __half* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __hfma(a, x[i], y[i]);
}

__global__ void axpy2(__half2 a, const __half2* x, __half2* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __hfma2(a, x[i], y[i]);
}

__global__ void to_bfloat16(const float* in, __nv_bfloat16* out, int n) {
  int i = threadIdx.x;
  if (i < n) out[i] = __float2bfloat16(in[i]);
}

int main() {
  const int n = 64;
  float in[n];
  __half x[n], y[n], *dx, *dy;
  for (int i = 0; i < n; ++i) {
    in[i] = 1.0f + i / 1024.0f;
    x[i] = __float2half(0.5f * i);
    y[i] = __float2half(1.0f);
  }
  cudaMalloc(&dx, sizeof(x));
  cudaMalloc(&dy, sizeof(y));
  cudaMemcpy(dx, x, sizeof(x), cudaMemcpyHostToDevice);
  cudaMemcpy(dy, y, sizeof(y), cudaMemcpyHostToDevice);
  axpy<<<1, n>>>(__float2half(2.0f), dx, dy, n);
  axpy2<<<1, n / 2>>>(__float2half2_rn(2.0f), (const __half2*)dx, (__half2*)dy, n / 2);
  cudaMemcpy(y, dy, sizeof(y), cudaMemcpyDeviceToHost);
  float* din;
  __nv_bfloat16* dout;
  cudaMalloc(&din, sizeof(in));
  cudaMalloc(&dout, n * sizeof(__nv_bfloat16));
  cudaMemcpy(din, in, sizeof(in), cudaMemcpyHostToDevice);
  to_bfloat16<<<1, n>>>(din, dout, n);
  printf("%g %g\n", __half2float(y[1]), __half2float(y[n - 1]));
  return 0;
}
