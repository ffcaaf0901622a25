// C = alpha * A * B + beta * C with cuBLAS, and a dot product.
#include <hipblas/hipblas.h>
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>

#define CUBLAS_CHECK(call)                                          \
  if (hipblasStatus_t status = (call); status != HIPBLAS_STATUS_SUCCESS) \
  return fprintf(stderr, "cuBLAS error %d\n", static_cast<int>(status)), 1

int main() {
  const int n = 64;
  std::vector<float> a(n * n, 1.0f), b(n * n, 0.5f), c(n * n, 2.0f);
  float *da, *db, *dc, dot = 0.0f;
  hipMalloc(&da, n * n * sizeof(float));
  hipMalloc(&db, n * n * sizeof(float));
  hipMalloc(&dc, n * n * sizeof(float));
  hipblasHandle_t handle;
  CUBLAS_CHECK(hipblasCreate(&handle));
  CUBLAS_CHECK(hipblasSetMatrix(n, n, sizeof(float), a.data(), n, da, n));
  CUBLAS_CHECK(hipblasSetMatrix(n, n, sizeof(float), b.data(), n, db, n));
  CUBLAS_CHECK(hipblasSetMatrix(n, n, sizeof(float), c.data(), n, dc, n));
  const float alpha = 1.0f, beta = -1.0f;
  CUBLAS_CHECK(hipblasSetMathMode(handle, HIPBLAS_DEFAULT_MATH));
  CUBLAS_CHECK(hipblasSgemm(handle, HIPBLAS_OP_N, HIPBLAS_OP_T, n, n, n, &alpha, da, n, db, n, &beta, dc, n));
  CUBLAS_CHECK(hipblasSgemm(handle, HIPBLAS_OP_N, HIPBLAS_OP_N, n, n, n, &alpha, da, n, db, n, &beta, dc, n));
  CUBLAS_CHECK(hipblasSdot(handle, n * n, da, 1, dc, 1, &dot));
  CUBLAS_CHECK(hipblasGetMatrix(n, n, sizeof(float), dc, n, c.data(), n));
  printf("%g %g\n", c[0], dot);
  hipblasDestroy(handle);
  hipFree(da);
  hipFree(db);
  hipFree(dc);
}
