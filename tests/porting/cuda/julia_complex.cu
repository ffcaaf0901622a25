// A Julia set with cuComplex.
#include <cuComplex.h>
#include <cuda_runtime.h>
#include <cstdio>

__global__ void julia(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n * n) return;
  cuFloatComplex z = make_cuFloatComplex(3.0f * (i % n) / n - 1.5f, 3.0f * (i / n) / n - 1.5f);
  const cuFloatComplex c = make_cuFloatComplex(-0.8f, 0.156f);
  int steps = 0;
  while (steps < 30 && cuCabsf(z) < 2.0f) {
    z = cuCaddf(cuCmulf(z, z), c);
    ++steps;
  }
  out[i] = steps;
}

int main() {
  const int n = 32;
  int host[n * n], *device;
  cudaMalloc(&device, sizeof(host));
  julia<<<(n * n + 127) / 128, 128>>>(device, n);
  cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost);
  long sum = 0;
  for (int v : host) sum += v;
  printf("%ld\n", sum);
  return 0;
}
