// Assembly for NVIDIA's virtual machine: each statement is reported with what to write instead.
#include <cuda_runtime.h>
#include <cstdio>

__device__ __forceinline__ unsigned lane_id() {
  unsigned id;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(id));  //! inline-ptx
  return id;
}

__device__ __forceinline__ unsigned multiprocessor() {
  unsigned id;
  asm("mov.u32 %0, %%smid;" : "=r"(id));  //! inline-ptx
  return id;
}

__device__ unsigned long long nanoseconds() {
  unsigned long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));  //! inline-ptx
  return time;
}

__device__ float fused(float a, float b, float c) {
  float d;
  asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c));  //! inline-ptx
  return d;
}

__device__ void fence() {
  asm volatile("membar.gl;" ::: "memory");  //! inline-ptx
}

__global__ void use(float* out) {
  fence();
  out[threadIdx.x] = fused(lane_id(), multiprocessor(), (float)nanoseconds());
}

int main() {
  float* out;
  cudaMalloc(&out, 64 * sizeof(float));
  use<<<1, 64>>>(out);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
