// cuSPARSE multiplies a sparse matrix with a vector, cuSOLVER factors a dense one.
#include <hip/hip_runtime.h>
#include <hipsolver/hipsolver.h>
#include <hipsparse/hipsparse.h>
#include <cstdio>

int main() {
  hipsparseHandle_t sparse;
  hipsparseCreate(&sparse);
  hipsparseSpMatDescr_t matrix;
  hipsparseDnVecDescr_t x, y;
  int *rows = nullptr, *columns = nullptr;
  float *values = nullptr, *vx = nullptr, *vy = nullptr, alpha = 1.0f, beta = 0.0f;
  hipsparseCreateCsr(&matrix, 4, 4, 8, rows, columns, values, HIPSPARSE_INDEX_32I, HIPSPARSE_INDEX_32I,
                    HIPSPARSE_INDEX_BASE_ZERO, HIP_R_32F);
  hipsparseCreateDnVec(&x, 4, vx, HIP_R_32F);
  hipsparseCreateDnVec(&y, 4, vy, HIP_R_32F);
  size_t size = 0;
  hipsparseSpMV_bufferSize(sparse, HIPSPARSE_OPERATION_NON_TRANSPOSE, &alpha, matrix, x, &beta, y, HIP_R_32F,
                          HIPSPARSE_SPMV_ALG_DEFAULT, &size);
  hipsparseStatus_t status = hipsparseSpMV(sparse, HIPSPARSE_OPERATION_NON_TRANSPOSE, &alpha, matrix, x, &beta, y,
                                         HIP_R_32F, HIPSPARSE_SPMV_ALG_DEFAULT, nullptr);
  if (status != HIPSPARSE_STATUS_SUCCESS) return 1;
  hipsparseDestroySpMat(matrix);
  hipsparseDestroy(sparse);
  hipsolverDnHandle_t solver;
  if (hipsolverDnCreate(&solver) != HIPSOLVER_STATUS_SUCCESS) return 1;
  int work = 0, *info = nullptr, *pivots = nullptr;
  double *a = nullptr, *buffer = nullptr;
  hipsolverDnDgetrf_bufferSize(solver, 4, 4, a, 4, &work);
  hipsolverDnDgetrf(solver, 4, 4, a, 4, buffer, pivots, info);
  hipsolverDnDgetrs(solver, HIPBLAS_OP_N, 4, 1, a, 4, pivots, buffer, 4, info);
  hipsolverDnDestroy(solver);
  printf("%zu\n", size);
  return 0;
}
