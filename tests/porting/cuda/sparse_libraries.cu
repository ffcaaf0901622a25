// cuSPARSE multiplies a sparse matrix with a vector, cuSOLVER factors a dense one.
#include <cuda_runtime.h>
#include <cusolverDn.h>
#include <cusparse.h>
#include <cstdio>

int main() {
  cusparseHandle_t sparse;
  cusparseCreate(&sparse);
  cusparseSpMatDescr_t matrix;
  cusparseDnVecDescr_t x, y;
  int *rows = nullptr, *columns = nullptr;
  float *values = nullptr, *vx = nullptr, *vy = nullptr, alpha = 1.0f, beta = 0.0f;
  cusparseCreateCsr(&matrix, 4, 4, 8, rows, columns, values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                    CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
  cusparseCreateDnVec(&x, 4, vx, CUDA_R_32F);
  cusparseCreateDnVec(&y, 4, vy, CUDA_R_32F);
  size_t size = 0;
  cusparseSpMV_bufferSize(sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, matrix, x, &beta, y, CUDA_R_32F,
                          CUSPARSE_SPMV_ALG_DEFAULT, &size);
  cusparseStatus_t status = cusparseSpMV(sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, matrix, x, &beta, y,
                                         CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, nullptr);
  if (status != CUSPARSE_STATUS_SUCCESS) return 1;
  cusparseDestroySpMat(matrix);
  cusparseDestroy(sparse);
  cusolverDnHandle_t solver;
  if (cusolverDnCreate(&solver) != CUSOLVER_STATUS_SUCCESS) return 1;
  int work = 0, *info = nullptr, *pivots = nullptr;
  double *a = nullptr, *buffer = nullptr;
  cusolverDnDgetrf_bufferSize(solver, 4, 4, a, 4, &work);
  cusolverDnDgetrf(solver, 4, 4, a, 4, buffer, pivots, info);
  cusolverDnDgetrs(solver, CUBLAS_OP_N, 4, 1, a, 4, pivots, buffer, 4, info);
  cusolverDnDestroy(solver);
  printf("%zu\n", size);
  return 0;
}
