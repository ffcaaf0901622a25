// Adds two vectors. Prints the first, the middle and the last sum.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

#define CHECK(call)                                                                      \
  do {                                                                                   \
    cudaError_t status = (call);                                                         \
    if (status != cudaSuccess) {                                                         \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));    \
      return 1;                                                                          \
    }                                                                                    \
  } while (0)

__global__ void add(const float* a, const float* b, float* sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] = a[i] + b[i];
}

int main() {
  const int n = 1000;
  std::vector<float> a(n), b(n), sum(n);
  for (int i = 0; i < n; ++i) {
    a[i] = i;
    b[i] = 2 * i + 1;
  }
  float *da, *db, *dsum;
  CHECK(cudaMalloc(&da, n * sizeof(float)));
  CHECK(cudaMalloc(&db, n * sizeof(float)));
  CHECK(cudaMalloc(&dsum, n * sizeof(float)));
  CHECK(cudaMemcpy(da, a.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  add<<<(n + 255) / 256, 256>>>(da, db, dsum, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(sum.data(), dsum, n * sizeof(float), cudaMemcpyDeviceToHost));
  printf("%g %g %g\n", sum[0], sum[n / 2], sum[n - 1]);
  cudaFree(da);
  cudaFree(db);
  cudaFree(dsum);
  return 0;
}
