// hipBLAS. The calls are templates, so that a program has kernels only for those that it calls.
#pragma once
#include "../gpulab/blas.h"

#define hipblasVersionMajor 3
#define hipblasVersionMinor 0
#define hipblasVersionPatch 0

typedef void* hipblasHandle_t;
typedef int64_t hipblasStride;
#ifdef HIPBLAS_USE_HIP_HALF
#include <hip/hip_fp16.h>
typedef __half hipblasHalf;
#else
typedef uint16_t hipblasHalf;
#endif
struct hipblasBfloat16 {
  uint16_t data;
};

enum hipblasStatus_t {
  HIPBLAS_STATUS_SUCCESS = 0,
  HIPBLAS_STATUS_NOT_INITIALIZED = 1,
  HIPBLAS_STATUS_ALLOC_FAILED = 2,
  HIPBLAS_STATUS_INVALID_VALUE = 3,
  HIPBLAS_STATUS_MAPPING_ERROR = 4,
  HIPBLAS_STATUS_EXECUTION_FAILED = 5,
  HIPBLAS_STATUS_INTERNAL_ERROR = 6,
  HIPBLAS_STATUS_NOT_SUPPORTED = 7,
  HIPBLAS_STATUS_ARCH_MISMATCH = 8,
  HIPBLAS_STATUS_HANDLE_IS_NULLPTR = 9,
  HIPBLAS_STATUS_INVALID_ENUM = 10,
  HIPBLAS_STATUS_UNKNOWN = 11
};
enum hipblasOperation_t { HIPBLAS_OP_N = 111, HIPBLAS_OP_T = 112, HIPBLAS_OP_C = 113 };
enum hipblasPointerMode_t { HIPBLAS_POINTER_MODE_HOST = 0, HIPBLAS_POINTER_MODE_DEVICE = 1 };
enum hipblasFillMode_t { HIPBLAS_FILL_MODE_UPPER = 121, HIPBLAS_FILL_MODE_LOWER = 122, HIPBLAS_FILL_MODE_FULL = 123 };
enum hipblasDiagType_t { HIPBLAS_DIAG_NON_UNIT = 131, HIPBLAS_DIAG_UNIT = 132 };
enum hipblasSideMode_t { HIPBLAS_SIDE_LEFT = 141, HIPBLAS_SIDE_RIGHT = 142, HIPBLAS_SIDE_BOTH = 143 };
enum hipblasGemmAlgo_t { HIPBLAS_GEMM_DEFAULT = 160 };
enum hipblasAtomicsMode_t { HIPBLAS_ATOMICS_NOT_ALLOWED = 0, HIPBLAS_ATOMICS_ALLOWED = 1 };
enum hipblasMath_t {
  HIPBLAS_DEFAULT_MATH = 0,
  HIPBLAS_XF32_XDL_MATH = 1,
  HIPBLAS_PEDANTIC_MATH = 2,
  HIPBLAS_TF32_TENSOR_OP_MATH = 3,
  HIPBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 4,
  HIPBLAS_TENSOR_OP_MATH = 5
};
enum hipblasComputeType_t {
  HIPBLAS_COMPUTE_16F = 0,
  HIPBLAS_COMPUTE_16F_PEDANTIC = 1,
  HIPBLAS_COMPUTE_32F = 2,
  HIPBLAS_COMPUTE_32F_PEDANTIC = 3,
  HIPBLAS_COMPUTE_32F_FAST_16F = 4,
  HIPBLAS_COMPUTE_32F_FAST_16BF = 5,
  HIPBLAS_COMPUTE_32F_FAST_TF32 = 6,
  HIPBLAS_COMPUTE_64F = 7,
  HIPBLAS_COMPUTE_64F_PEDANTIC = 8,
  HIPBLAS_COMPUTE_32I = 9,
  HIPBLAS_COMPUTE_32I_PEDANTIC = 10
};

// Names that hipBLAS had until version 2: they mean HIP's own types, and each use is a warning that says so.
#define __GPULAB_FORMER__(now) [[deprecated("hipBLAS 3 (ROCm 7) has left this name out: write " now)]]
using hipblasComplex __GPULAB_FORMER__("hipComplex") = hipComplex;
using hipblasDoubleComplex __GPULAB_FORMER__("hipDoubleComplex") = hipDoubleComplex;
using hipblasDatatype_t __GPULAB_FORMER__("hipDataType, and hipblasComputeType_t for computing") = hipDataType;
#define __GPULAB_FORMER_TYPE__(former, now)                                                                        \
  __GPULAB_FORMER__(#now ", and HIPBLAS_COMPUTE_32F or its like for computing") constexpr hipDataType former = now;
__GPULAB_FORMER_TYPE__(HIPBLAS_R_16F, HIP_R_16F)
__GPULAB_FORMER_TYPE__(HIPBLAS_R_32F, HIP_R_32F)
__GPULAB_FORMER_TYPE__(HIPBLAS_R_64F, HIP_R_64F)
__GPULAB_FORMER_TYPE__(HIPBLAS_C_16F, HIP_C_16F)
__GPULAB_FORMER_TYPE__(HIPBLAS_C_32F, HIP_C_32F)
__GPULAB_FORMER_TYPE__(HIPBLAS_C_64F, HIP_C_64F)
__GPULAB_FORMER_TYPE__(HIPBLAS_R_8I, HIP_R_8I)
__GPULAB_FORMER_TYPE__(HIPBLAS_R_8U, HIP_R_8U)
__GPULAB_FORMER_TYPE__(HIPBLAS_R_32I, HIP_R_32I)
__GPULAB_FORMER_TYPE__(HIPBLAS_R_32U, HIP_R_32U)
__GPULAB_FORMER_TYPE__(HIPBLAS_C_8I, HIP_C_8I)
__GPULAB_FORMER_TYPE__(HIPBLAS_C_8U, HIP_C_8U)
__GPULAB_FORMER_TYPE__(HIPBLAS_C_32I, HIP_C_32I)
__GPULAB_FORMER_TYPE__(HIPBLAS_C_32U, HIP_C_32U)
__GPULAB_FORMER_TYPE__(HIPBLAS_R_16B, HIP_R_16BF)
__GPULAB_FORMER_TYPE__(HIPBLAS_C_16B, HIP_C_16BF)
#undef __GPULAB_FORMER_TYPE__
#undef __GPULAB_FORMER__

#ifdef __GPULAB_PROGRAM__
struct __gpulab_hipblas {
  using handle = hipblasHandle_t;
  using operation = hipblasOperation_t;
  using fill = hipblasFillMode_t;
  using diagonal = hipblasDiagType_t;
  using side = hipblasSideMode_t;
  using half = hipblasHalf;
  using c = hipComplex;
  using z = hipDoubleComplex;
  static hipDataType compute(hipblasComputeType_t type, hipDataType in) {
    if ((int)type < 0) return (hipDataType)-1;
    switch ((int)type) {
      case HIPBLAS_COMPUTE_16F:
      case HIPBLAS_COMPUTE_16F_PEDANTIC: return HIP_R_16F;
      case HIPBLAS_COMPUTE_64F:
      case HIPBLAS_COMPUTE_64F_PEDANTIC: return in == HIP_C_64F ? HIP_C_64F : HIP_R_64F;
      case HIPBLAS_COMPUTE_32I:
      case HIPBLAS_COMPUTE_32I_PEDANTIC: return HIP_R_32I;
      default: return in == HIP_C_32F ? HIP_C_32F : HIP_R_32F;
    }
  }
  static hipblasStatus_t as(int code) {
    switch (code) {
      case __gpulab_blas::success: return HIPBLAS_STATUS_SUCCESS;
      case __gpulab_blas::no_handle: return HIPBLAS_STATUS_NOT_INITIALIZED;
      case __gpulab_blas::not_implemented: return HIPBLAS_STATUS_NOT_SUPPORTED;
      case __gpulab_blas::no_memory: return HIPBLAS_STATUS_ALLOC_FAILED;
      case __gpulab_blas::failed: return HIPBLAS_STATUS_INTERNAL_ERROR;
      case __gpulab_blas::wrong_enum: return HIPBLAS_STATUS_INVALID_ENUM;
      default: return HIPBLAS_STATUS_INVALID_VALUE;
    }
  }
};
#define __GPULAB_BLAS_CALL__ template <int = 0> inline hipblasStatus_t
#define __GPULAB_BLAS_TYPES__ __gpulab_hipblas
#define __GPULAB_BLAS__(X, x, call) hipblas##X##call
#define __GPULAB_BLAS_BATCHED__(X, x, call) hipblas##X##call##Batched
#define __GPULAB_BLAS_STRIDED__(X, x, call) hipblas##X##call##StridedBatched
#define __GPULAB_BLAS_EXTREMUM__(x, call) hipblasI##x##call
#include "../gpulab/blas_calls.h"

inline hipblasStatus_t hipblasCreate(hipblasHandle_t* handle) {
  return handle == nullptr ? HIPBLAS_STATUS_HANDLE_IS_NULLPTR
                           : __gpulab_hipblas::as(__gpulab_blas::create((__gpulab_blas::context**)handle));
}
inline hipblasStatus_t hipblasDestroy(hipblasHandle_t handle) {
  return __gpulab_hipblas::as(__gpulab_blas::destroy((__gpulab_blas::context*)handle));
}
__GPULAB_BLAS_FIELD__(hipblasStatus_t, __gpulab_hipblas::as, hipblasHandle_t, hipblasSetStream, hipblasGetStream,
                      hipStream_t, stream)
__GPULAB_BLAS_FIELD__(hipblasStatus_t, __gpulab_hipblas::as, hipblasHandle_t, hipblasSetPointerMode,
                      hipblasGetPointerMode, hipblasPointerMode_t, on_device)
__GPULAB_BLAS_FIELD__(hipblasStatus_t, __gpulab_hipblas::as, hipblasHandle_t, hipblasSetAtomicsMode,
                      hipblasGetAtomicsMode, hipblasAtomicsMode_t, atomics)
__GPULAB_BLAS_FIELD__(hipblasStatus_t, __gpulab_hipblas::as, hipblasHandle_t, hipblasSetMathMode, hipblasGetMathMode,
                      hipblasMath_t, mathematics)
__GPULAB_BLAS_COPIES__(hipblasStatus_t, __gpulab_hipblas::as, hipblasSetVector, hipblasSetMatrix,
                       hipMemcpyHostToDevice, true, , nullptr)
__GPULAB_BLAS_COPIES__(hipblasStatus_t, __gpulab_hipblas::as, hipblasGetVector, hipblasGetMatrix,
                       hipMemcpyDeviceToHost, true, , nullptr)
__GPULAB_BLAS_COPIES__(hipblasStatus_t, __gpulab_hipblas::as, hipblasSetVectorAsync, hipblasSetMatrixAsync,
                       hipMemcpyHostToDevice, false,
                       __GPULAB_BLAS_STREAM__, stream)
__GPULAB_BLAS_COPIES__(hipblasStatus_t, __gpulab_hipblas::as, hipblasGetVectorAsync, hipblasGetMatrixAsync,
                       hipMemcpyDeviceToHost, false,
                       __GPULAB_BLAS_STREAM__, stream)
template <int = 0>
inline hipblasStatus_t hipblasGemmEx(hipblasHandle_t handle, hipblasOperation_t op_a, hipblasOperation_t op_b, int m,
                                     int n, int k, const void* alpha, const void* a, hipDataType type_a, int lda,
                                     const void* b, hipDataType type_b, int ldb, const void* beta, void* c,
                                     hipDataType type_c, int ldc, hipblasComputeType_t compute, hipblasGemmAlgo_t) {
  __gpulab_blas::array out{c, type_c, ldc, 0};
  return __gpulab_hipblas::as(__gpulab_blas::gemm_ex((__gpulab_blas::context*)handle, op_a, op_b, m, n, k, alpha,
                                                     {a, type_a, lda, 0}, {b, type_b, ldb, 0}, beta, out, out,
                                                     __gpulab_hipblas::compute(compute, type_a), false, 1));
}
template <int = 0>
inline hipblasStatus_t hipblasGemmBatchedEx(hipblasHandle_t handle, hipblasOperation_t op_a, hipblasOperation_t op_b,
                                            int m, int n, int k, const void* alpha, const void* a[], hipDataType type_a,
                                            int lda, const void* b[], hipDataType type_b, int ldb, const void* beta,
                                            void* c[], hipDataType type_c, int ldc, int count,
                                            hipblasComputeType_t compute, hipblasGemmAlgo_t) {
  __gpulab_blas::array out{c, type_c, ldc, 0};
  return __gpulab_hipblas::as(__gpulab_blas::gemm_ex((__gpulab_blas::context*)handle, op_a, op_b, m, n, k, alpha,
                                                     {a, type_a, lda, 0}, {b, type_b, ldb, 0}, beta, out, out,
                                                     __gpulab_hipblas::compute(compute, type_a), true, count));
}
template <int = 0>
inline hipblasStatus_t hipblasGemmStridedBatchedEx(hipblasHandle_t handle, hipblasOperation_t op_a,
                                                   hipblasOperation_t op_b, int m, int n, int k, const void* alpha,
                                                   const void* a, hipDataType type_a, int lda, hipblasStride stride_a,
                                                   const void* b, hipDataType type_b, int ldb, hipblasStride stride_b,
                                                   const void* beta, void* c, hipDataType type_c, int ldc,
                                                   hipblasStride stride_c, int count, hipblasComputeType_t compute,
                                                   hipblasGemmAlgo_t) {
  __gpulab_blas::array out{c, type_c, ldc, stride_c};
  return __gpulab_hipblas::as(__gpulab_blas::gemm_ex((__gpulab_blas::context*)handle, op_a, op_b, m, n, k, alpha,
                                                     {a, type_a, lda, stride_a}, {b, type_b, ldb, stride_b}, beta, out,
                                                     out, __gpulab_hipblas::compute(compute, type_a), false,
                                                     count));
}
// Until version 2 the type of computing was one of numbers.
inline hipblasComputeType_t __gpulab_hipblas_computing(hipDataType type) {
  switch (type) {
    case HIP_R_16F: return HIPBLAS_COMPUTE_16F;
    case HIP_R_32F:
    case HIP_C_32F: return HIPBLAS_COMPUTE_32F;
    case HIP_R_64F:
    case HIP_C_64F: return HIPBLAS_COMPUTE_64F;
    case HIP_R_32I: return HIPBLAS_COMPUTE_32I;
    default: return (hipblasComputeType_t)-1;  // none: the call answers "not supported"
  }
}
// These are for exactly that type: what converts to several means today's.
template <class T>
struct __gpulab_former {};
template <>
struct __gpulab_former<hipDataType> {
  using status = hipblasStatus_t;
};
template <class T>
inline typename __gpulab_former<T>::status
hipblasGemmEx(hipblasHandle_t handle, hipblasOperation_t op_a, hipblasOperation_t op_b, int m,
                                     int n, int k, const void* alpha, const void* a, hipDataType type_a, int lda,
                                     const void* b, hipDataType type_b, int ldb, const void* beta, void* c,
                                     hipDataType type_c, int ldc, T computing, hipblasGemmAlgo_t algorithm) {
  return hipblasGemmEx(handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc,
                       __gpulab_hipblas_computing(computing), algorithm);
}
template <class T>
inline typename __gpulab_former<T>::status
hipblasGemmBatchedEx(hipblasHandle_t handle, hipblasOperation_t op_a, hipblasOperation_t op_b,
                                            int m, int n, int k, const void* alpha, const void* a[], hipDataType type_a,
                                            int lda, const void* b[], hipDataType type_b, int ldb, const void* beta,
                                            void* c[], hipDataType type_c, int ldc, int count, T computing,
                                            hipblasGemmAlgo_t algorithm) {
  return hipblasGemmBatchedEx(handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc,
                              count, __gpulab_hipblas_computing(computing), algorithm);
}
template <class T>
inline typename __gpulab_former<T>::status
hipblasGemmStridedBatchedEx(hipblasHandle_t handle, hipblasOperation_t op_a,
                                                   hipblasOperation_t op_b, int m, int n, int k, const void* alpha,
                                                   const void* a, hipDataType type_a, int lda, hipblasStride stride_a,
                                                   const void* b, hipDataType type_b, int ldb, hipblasStride stride_b,
                                                   const void* beta, void* c, hipDataType type_c, int ldc,
                                                   hipblasStride stride_c, int count, T computing,
                                                   hipblasGemmAlgo_t algorithm) {
  return hipblasGemmStridedBatchedEx(handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, stride_a, b, type_b, ldb,
                                     stride_b, beta, c, type_c, ldc, stride_c, count,
                                     __gpulab_hipblas_computing(computing), algorithm);
}
inline hipblasStatus_t hipblasGetVersion(hipblasHandle_t, int* version) {
  if (version == nullptr) return HIPBLAS_STATUS_INVALID_VALUE;
  *version = hipblasVersionMajor * 10000 + hipblasVersionMinor * 100 + hipblasVersionPatch;
  return HIPBLAS_STATUS_SUCCESS;
}
inline hipblasStatus_t hipblasSetWorkspace(hipblasHandle_t handle, void*, size_t) {  // no call needs it
  return handle == nullptr ? HIPBLAS_STATUS_NOT_INITIALIZED : HIPBLAS_STATUS_SUCCESS;
}
inline const char* hipblasStatusToString(hipblasStatus_t status) {
  static const char* const names[] = {
      "HIPBLAS_STATUS_SUCCESS",       "HIPBLAS_STATUS_NOT_INITIALIZED",  "HIPBLAS_STATUS_ALLOC_FAILED",
      "HIPBLAS_STATUS_INVALID_VALUE", "HIPBLAS_STATUS_MAPPING_ERROR",    "HIPBLAS_STATUS_EXECUTION_FAILED",
      "HIPBLAS_STATUS_INTERNAL_ERROR", "HIPBLAS_STATUS_NOT_SUPPORTED",   "HIPBLAS_STATUS_ARCH_MISMATCH",
      "HIPBLAS_STATUS_HANDLE_IS_NULLPTR", "HIPBLAS_STATUS_INVALID_ENUM", "HIPBLAS_STATUS_UNKNOWN"};
  return status >= 0 && status < HIPBLAS_STATUS_UNKNOWN ? names[status] : names[HIPBLAS_STATUS_UNKNOWN];
}
#endif
