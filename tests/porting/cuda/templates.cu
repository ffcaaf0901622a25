// Functors, a template with a size, and explicit instances.
#include <cuda_runtime.h>
#include <cstdio>

struct Square {
  __host__ __device__ float operator()(float x) const { return x * x; }
};

template <int N>
struct AddN {
  __device__ float operator()(float x) const { return x + N; }
};

template <typename F, typename T = float, int PerThread = 2>
__global__ void transform(const T* in, T* out, int n, F f) {
  int first = (blockIdx.x * blockDim.x + threadIdx.x) * PerThread;
#pragma unroll
  for (int i = 0; i < PerThread; ++i)
    if (first + i < n) out[first + i] = f(in[first + i]);
}

template __global__ void transform<Square, float, 4>(const float*, float*, int, Square);

template <class F>
float apply(const float* in, float* out, int n, F f) {
  transform<F, float, 3><<<(n + 191) / 192, 64>>>(in, out, n, f);
  float last;
  cudaMemcpy(&last, out + n - 1, sizeof(float), cudaMemcpyDeviceToHost);
  return last;
}

int main() {
  const int n = 250;
  float host[n], *in, *out;
  for (int i = 0; i < n; ++i) host[i] = 0.25f * i;
  cudaMalloc(&in, sizeof(host));
  cudaMalloc(&out, sizeof(host));
  cudaMemcpy(in, host, sizeof(host), cudaMemcpyHostToDevice);
  printf("%g %g\n", apply(in, out, n, Square()), apply(in, out, n, AddN<7>()));
  transform<Square, float, 4><<<1, 64>>>(in, out, n, Square{});
  cudaFree(in);
  cudaFree(out);
  return 0;
}
