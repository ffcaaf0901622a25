// C = alpha * A * B + beta * C with cuBLAS, and a dot product.
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cstdio>
#include <vector>

#define CUBLAS_CHECK(call)                                          \
  if (cublasStatus_t status = (call); status != CUBLAS_STATUS_SUCCESS) \
  return fprintf(stderr, "cuBLAS error %d\n", static_cast<int>(status)), 1

int main() {
  const int n = 64;
  std::vector<float> a(n * n, 1.0f), b(n * n, 0.5f), c(n * n, 2.0f);
  float *da, *db, *dc, dot = 0.0f;
  cudaMalloc(&da, n * n * sizeof(float));
  cudaMalloc(&db, n * n * sizeof(float));
  cudaMalloc(&dc, n * n * sizeof(float));
  cublasHandle_t handle;
  CUBLAS_CHECK(cublasCreate(&handle));
  CUBLAS_CHECK(cublasSetMatrix(n, n, sizeof(float), a.data(), n, da, n));
  CUBLAS_CHECK(cublasSetMatrix(n, n, sizeof(float), b.data(), n, db, n));
  CUBLAS_CHECK(cublasSetMatrix(n, n, sizeof(float), c.data(), n, dc, n));
  const float alpha = 1.0f, beta = -1.0f;
  CUBLAS_CHECK(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH));
  CUBLAS_CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, &alpha, da, n, db, n, &beta, dc, n));
  CUBLAS_CHECK(cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &alpha, da, n, db, n, &beta, dc, n));
  CUBLAS_CHECK(cublasSdot(handle, n * n, da, 1, dc, 1, &dot));
  CUBLAS_CHECK(cublasGetMatrix(n, n, sizeof(float), dc, n, c.data(), n));
  printf("%g %g\n", c[0], dot);
  cublasDestroy(handle);
  cudaFree(da);
  cudaFree(db);
  cudaFree(dc);
}
