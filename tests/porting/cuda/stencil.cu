// Heat in a plate: two buffers that change places, a halo in shared memory.
#include <cuda_runtime.h>
#include <cstdio>
#include <utility>

#define W 40
#define H 24
#define B 8

__global__ void heat(const float* in, float* out) {
  __shared__ float s[B + 2][B + 2];
  int x = blockIdx.x * B + threadIdx.x, y = blockIdx.y * B + threadIdx.y;
  int i = threadIdx.x + 1, j = threadIdx.y + 1;
  auto at = [&](int u, int v) { return in[min(max(v, 0), H - 1) * W + min(max(u, 0), W - 1)]; };
  s[j][i] = at(x, y);
  if (threadIdx.x == 0) s[j][0] = at(x - 1, y);
  if (threadIdx.x == B - 1) s[j][B + 1] = at(x + 1, y);
  if (threadIdx.y == 0) s[0][i] = at(x, y - 1);
  if (threadIdx.y == B - 1) s[B + 1][i] = at(x, y + 1);
  __syncthreads();
  out[y * W + x] = s[j][i] + 0.125f * (s[j][i - 1] + s[j][i + 1] + s[j - 1][i] + s[j + 1][i] - 4.0f * s[j][i]);
}

int main() {
  static float plate[W * H];
  plate[12 * W + 20] = 1000.0f;
  plate[0] = 500.0f;
  float *a, *b;
  cudaMalloc(&a, sizeof(plate));
  cudaMalloc(&b, sizeof(plate));
  cudaMemcpy(a, plate, sizeof(plate), cudaMemcpyHostToDevice);
  for (int step = 0; step < 20; ++step) {
    heat<<<dim3(W / B, H / B), dim3(B, B)>>>(a, b);
    std::swap(a, b);
  }
  cudaMemcpy(plate, a, sizeof(plate), cudaMemcpyDeviceToHost);
  double sum = 0;
  for (float t : plate) sum += t;
  printf("%.3f %.4f %.4f\n", sum, plate[12 * W + 20], plate[0]);
  cudaFree(a);
  cudaFree(b);
  return 0;
}
