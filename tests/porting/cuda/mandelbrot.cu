// The set of Mandelbrot in double precision; a device function with a result in two parts.
#include <cuda_runtime.h>
#include <cstdio>

__device__ __noinline__ int escape(double cr, double ci, int limit, double* last) {
  double zr = 0, zi = 0;
  int i = 0;
  for (; i < limit && zr * zr + zi * zi < 4.0; ++i) {
    double next = zr * zr - zi * zi + cr;
    zi = 2.0 * zr * zi + ci;
    zr = next;
  }
  *last = zr * zr + zi * zi;
  return i;
}

__global__ void mandelbrot(int* out, int width, int height, int limit) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  double last;
  out[y * width + x] = escape(-2.0 + 3.0 * x / width, -1.0 + 2.0 * y / height, limit, &last);
}

int main() {
  const int width = 48, height = 32, limit = 50;
  int host[width * height], *device;
  cudaMalloc(&device, sizeof(host));
  mandelbrot<<<dim3((width + 7) / 8, (height + 7) / 8), dim3(8, 8)>>>(device, width, height, limit);
  cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost);
  long sum = 0;
  int inside = 0;
  for (int v : host) sum += v, inside += v == limit;
  printf("%ld %d\n", sum, inside);
  cudaFree(device);
  return 0;
}
