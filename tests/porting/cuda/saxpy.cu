// y = a * x + y with a loop over the grid, for two types. Prints the sums of y.
#include "cuda_runtime.h"
#include "device_launch_parameters.h"
#include <stdio.h>
#include <stdlib.h>

template <typename T>
__global__ void saxpy(int n, T a, const T* __restrict__ x, T* __restrict__ y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) y[i] = a * x[i] + y[i];
}

template <typename T>
double run(int n, T a) {
  size_t bytes = n * sizeof(T);
  T *x = (T*)malloc(bytes), *y = (T*)malloc(bytes), *dx, *dy;
  for (int i = 0; i < n; ++i) {
    x[i] = (T)(i % 13);
    y[i] = (T)(i % 7);
  }
  cudaMalloc((void**)&dx, bytes);
  cudaMalloc((void**)&dy, bytes);
  cudaMemcpy(dx, x, bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(dy, y, bytes, cudaMemcpyHostToDevice);
  saxpy<T><<<4, 128>>>(n, a, dx, dy);
  cudaDeviceSynchronize();
  cudaMemcpy(y, dy, bytes, cudaMemcpyDeviceToHost);
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += y[i];
  cudaFree(dx);
  cudaFree(dy);
  free(x);
  free(y);
  return sum;
}

int main(int argc, char** argv) {
  int n = argc > 1 ? atoi(argv[1]) : 3000;
  printf("%.1f %.1f\n", run<float>(n, 2.0f), run<double>(n, 0.5));
  return 0;
}
