// rocBLAS. The calls are templates, so that a program has kernels only for those that it calls.
#pragma once
#include "../gpulab/blas.h"
#ifdef __GPULAB_PROGRAM__
#include <complex>
#endif

#define ROCBLAS_VERSION_MAJOR 5
#define ROCBLAS_VERSION_MINOR 0
#define ROCBLAS_VERSION_PATCH 0

typedef int32_t rocblas_int;
typedef int64_t rocblas_stride;
typedef float rocblas_float;
typedef double rocblas_double;
#ifdef ROCM_USE_FLOAT16
typedef _Float16 rocblas_half;
#else
struct rocblas_half {
  uint16_t data;
};
#endif
struct rocblas_bfloat16 {
  uint16_t data;
};

enum rocblas_status {
  rocblas_status_success = 0,
  rocblas_status_invalid_handle = 1,
  rocblas_status_not_implemented = 2,
  rocblas_status_invalid_pointer = 3,
  rocblas_status_invalid_size = 4,
  rocblas_status_memory_error = 5,
  rocblas_status_internal_error = 6,
  rocblas_status_perf_degraded = 7,
  rocblas_status_size_query_mismatch = 8,
  rocblas_status_size_increased = 9,
  rocblas_status_size_unchanged = 10,
  rocblas_status_invalid_value = 11,
  rocblas_status_continue = 12,
  rocblas_status_check_numerics_fail = 13
};
enum rocblas_operation {
  rocblas_operation_none = 111,
  rocblas_operation_transpose = 112,
  rocblas_operation_conjugate_transpose = 113
};
enum rocblas_fill { rocblas_fill_upper = 121, rocblas_fill_lower = 122, rocblas_fill_full = 123 };
enum rocblas_diagonal { rocblas_diagonal_non_unit = 131, rocblas_diagonal_unit = 132 };
enum rocblas_side { rocblas_side_left = 141, rocblas_side_right = 142, rocblas_side_both = 143 };
enum rocblas_pointer_mode { rocblas_pointer_mode_host = 0, rocblas_pointer_mode_device = 1 };
enum rocblas_atomics_mode { rocblas_atomics_not_allowed = 0, rocblas_atomics_allowed = 1 };
enum rocblas_datatype {
  rocblas_datatype_f16_r = 150,
  rocblas_datatype_f32_r = 151,
  rocblas_datatype_f64_r = 152,
  rocblas_datatype_f16_c = 153,
  rocblas_datatype_f32_c = 154,
  rocblas_datatype_f64_c = 155,
  rocblas_datatype_i8_r = 160,
  rocblas_datatype_u8_r = 161,
  rocblas_datatype_i32_r = 162,
  rocblas_datatype_u32_r = 163,
  rocblas_datatype_i8_c = 164,
  rocblas_datatype_u8_c = 165,
  rocblas_datatype_i32_c = 166,
  rocblas_datatype_u32_c = 167,
  rocblas_datatype_bf16_r = 168,
  rocblas_datatype_bf16_c = 169,
  rocblas_datatype_invalid = 255
};
enum rocblas_gemm_algo { rocblas_gemm_algo_standard = 0, rocblas_gemm_algo_solution_index = 1 };
enum rocblas_gemm_flags {
  rocblas_gemm_flags_none = 0,
  rocblas_gemm_flags_use_cu_efficiency = 2,
  rocblas_gemm_flags_fp16_alt_impl = 4,
  rocblas_gemm_flags_check_solution_index = 8
};

#ifdef __GPULAB_PROGRAM__
typedef struct _rocblas_handle* rocblas_handle;

#ifdef ROCM_MATHLIBS_API_USE_HIP_COMPLEX
typedef hipFloatComplex rocblas_float_complex;
typedef hipDoubleComplex rocblas_double_complex;
#else
#include "../gpulab/names.h"
template <class T>
class rocblas_complex_num {
  T x, y;

 public:
  using value_type = T;
  rocblas_complex_num() = default;
  __host__ __device__ constexpr rocblas_complex_num(T real, T imaginary) : x(real), y(imaginary) {}
  __host__ __device__ constexpr rocblas_complex_num(T real) : x(real), y(0) {}
  __host__ __device__ constexpr rocblas_complex_num(const std::complex<T>& z) : x(z.real()), y(z.imag()) {}
  __host__ __device__ constexpr operator std::complex<T>() const { return {x, y}; }
  __host__ __device__ constexpr T real() const { return x; }
  __host__ __device__ constexpr T imag() const { return y; }
  __host__ __device__ constexpr void real(T value) { x = value; }
  __host__ __device__ constexpr void imag(T value) { y = value; }
  __host__ __device__ rocblas_complex_num operator-() const { return {-x, -y}; }
  friend __host__ __device__ rocblas_complex_num operator+(rocblas_complex_num a, rocblas_complex_num b) {
    return {a.x + b.x, a.y + b.y};
  }
  friend __host__ __device__ rocblas_complex_num operator-(rocblas_complex_num a, rocblas_complex_num b) {
    return {a.x - b.x, a.y - b.y};
  }
  friend __host__ __device__ rocblas_complex_num operator*(rocblas_complex_num a, rocblas_complex_num b) {
    return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
  }
  friend __host__ __device__ rocblas_complex_num operator/(rocblas_complex_num a, rocblas_complex_num b) {
    auto q = __gpulab_blas::complex<T>{a.x, a.y} / __gpulab_blas::complex<T>{b.x, b.y};
    return {q.x, q.y};
  }
  friend __host__ __device__ bool operator==(rocblas_complex_num a, rocblas_complex_num b) {
    return a.x == b.x && a.y == b.y;
  }
  friend __host__ __device__ bool operator!=(rocblas_complex_num a, rocblas_complex_num b) { return !(a == b); }
  __host__ __device__ rocblas_complex_num& operator+=(rocblas_complex_num b) { return *this = *this + b; }
  __host__ __device__ rocblas_complex_num& operator-=(rocblas_complex_num b) { return *this = *this - b; }
  __host__ __device__ rocblas_complex_num& operator*=(rocblas_complex_num b) { return *this = *this * b; }
  __host__ __device__ rocblas_complex_num& operator/=(rocblas_complex_num b) { return *this = *this / b; }
};
#include "../gpulab/names_end.h"
typedef rocblas_complex_num<float> rocblas_float_complex;
typedef rocblas_complex_num<double> rocblas_double_complex;
#endif

struct __gpulab_rocblas {
  using handle = rocblas_handle;
  using operation = rocblas_operation;
  using fill = rocblas_fill;
  using diagonal = rocblas_diagonal;
  using side = rocblas_side;
  using half = rocblas_half;
  using c = rocblas_float_complex;
  using z = rocblas_double_complex;
  static rocblas_status as(int code) {
    return code == __gpulab_blas::wrong_enum ? rocblas_status_invalid_value : (rocblas_status)code;
  }
  static hipDataType type(rocblas_datatype type) {
    switch (type) {
      case rocblas_datatype_f16_r: return HIP_R_16F;
      case rocblas_datatype_f32_r: return HIP_R_32F;
      case rocblas_datatype_f64_r: return HIP_R_64F;
      case rocblas_datatype_f32_c: return HIP_C_32F;
      case rocblas_datatype_f64_c: return HIP_C_64F;
      case rocblas_datatype_bf16_r: return HIP_R_16BF;
      default: return HIP_R_8I;  // which no product has here
    }
  }
};
#define __GPULAB_BLAS_CALL__ template <int = 0> inline rocblas_status
#define __GPULAB_BLAS_TYPES__ __gpulab_rocblas
#define __GPULAB_BLAS__(X, x, call) rocblas_##x##call
#define __GPULAB_BLAS_BATCHED__(X, x, call) rocblas_##x##call##_batched
#define __GPULAB_BLAS_STRIDED__(X, x, call) rocblas_##x##call##_strided_batched
#define __GPULAB_BLAS_EXTREMUM__(x, call) rocblas_i##x##call
#include "../gpulab/blas_calls.h"

inline void rocblas_initialize() {}
inline rocblas_status rocblas_create_handle(rocblas_handle* handle) {
  return __gpulab_rocblas::as(__gpulab_blas::create((__gpulab_blas::context**)handle));
}
inline rocblas_status rocblas_destroy_handle(rocblas_handle handle) {
  return __gpulab_rocblas::as(__gpulab_blas::destroy((__gpulab_blas::context*)handle));
}
__GPULAB_BLAS_FIELD__(rocblas_status, __gpulab_rocblas::as, rocblas_handle, rocblas_set_stream, rocblas_get_stream,
                      hipStream_t, stream)
__GPULAB_BLAS_FIELD__(rocblas_status, __gpulab_rocblas::as, rocblas_handle, rocblas_set_pointer_mode,
                      rocblas_get_pointer_mode, rocblas_pointer_mode, on_device)
__GPULAB_BLAS_FIELD__(rocblas_status, __gpulab_rocblas::as, rocblas_handle, rocblas_set_atomics_mode,
                      rocblas_get_atomics_mode, rocblas_atomics_mode, atomics)
__GPULAB_BLAS_COPIES__(rocblas_status, __gpulab_rocblas::as, rocblas_set_vector, rocblas_set_matrix,
                       hipMemcpyHostToDevice, true, , nullptr)
__GPULAB_BLAS_COPIES__(rocblas_status, __gpulab_rocblas::as, rocblas_get_vector, rocblas_get_matrix,
                       hipMemcpyDeviceToHost, true, , nullptr)
__GPULAB_BLAS_COPIES__(rocblas_status, __gpulab_rocblas::as, rocblas_set_vector_async, rocblas_set_matrix_async,
                       hipMemcpyHostToDevice, false, __GPULAB_BLAS_STREAM__, stream)
__GPULAB_BLAS_COPIES__(rocblas_status, __gpulab_rocblas::as, rocblas_get_vector_async, rocblas_get_matrix_async,
                       hipMemcpyDeviceToHost, false, __GPULAB_BLAS_STREAM__, stream)
template <int = 0>
inline rocblas_status rocblas_gemm_ex(rocblas_handle handle, rocblas_operation op_a, rocblas_operation op_b,
                                      rocblas_int m, rocblas_int n, rocblas_int k, const void* alpha, const void* a,
                                      rocblas_datatype type_a, rocblas_int lda, const void* b, rocblas_datatype type_b,
                                      rocblas_int ldb, const void* beta, const void* c, rocblas_datatype type_c,
                                      rocblas_int ldc, void* d, rocblas_datatype type_d, rocblas_int ldd,
                                      rocblas_datatype compute, rocblas_gemm_algo, int32_t, uint32_t) {
  return __gpulab_rocblas::as(__gpulab_blas::gemm_ex(
      (__gpulab_blas::context*)handle, op_a, op_b, m, n, k, alpha, {a, __gpulab_rocblas::type(type_a), lda, 0},
      {b, __gpulab_rocblas::type(type_b), ldb, 0}, beta, {c, __gpulab_rocblas::type(type_c), ldc, 0},
      {d, __gpulab_rocblas::type(type_d), ldd, 0}, __gpulab_rocblas::type(compute), false, 1));
}
template <int = 0>
inline rocblas_status rocblas_gemm_batched_ex(rocblas_handle handle, rocblas_operation op_a, rocblas_operation op_b,
                                              rocblas_int m, rocblas_int n, rocblas_int k, const void* alpha,
                                              const void* a, rocblas_datatype type_a, rocblas_int lda, const void* b,
                                              rocblas_datatype type_b, rocblas_int ldb, const void* beta,
                                              const void* c, rocblas_datatype type_c, rocblas_int ldc, void* d,
                                              rocblas_datatype type_d, rocblas_int ldd, rocblas_int count,
                                              rocblas_datatype compute, rocblas_gemm_algo, int32_t, uint32_t) {
  return __gpulab_rocblas::as(__gpulab_blas::gemm_ex(
      (__gpulab_blas::context*)handle, op_a, op_b, m, n, k, alpha, {a, __gpulab_rocblas::type(type_a), lda, 0},
      {b, __gpulab_rocblas::type(type_b), ldb, 0}, beta, {c, __gpulab_rocblas::type(type_c), ldc, 0},
      {d, __gpulab_rocblas::type(type_d), ldd, 0}, __gpulab_rocblas::type(compute), true, count));
}
template <int = 0>
inline rocblas_status rocblas_gemm_strided_batched_ex(
    rocblas_handle handle, rocblas_operation op_a, rocblas_operation op_b, rocblas_int m, rocblas_int n, rocblas_int k,
    const void* alpha, const void* a, rocblas_datatype type_a, rocblas_int lda, rocblas_stride stride_a, const void* b,
    rocblas_datatype type_b, rocblas_int ldb, rocblas_stride stride_b, const void* beta, const void* c,
    rocblas_datatype type_c, rocblas_int ldc, rocblas_stride stride_c, void* d, rocblas_datatype type_d,
    rocblas_int ldd, rocblas_stride stride_d, rocblas_int count, rocblas_datatype compute, rocblas_gemm_algo, int32_t,
    uint32_t) {
  return __gpulab_rocblas::as(__gpulab_blas::gemm_ex(
      (__gpulab_blas::context*)handle, op_a, op_b, m, n, k, alpha, {a, __gpulab_rocblas::type(type_a), lda, stride_a},
      {b, __gpulab_rocblas::type(type_b), ldb, stride_b}, beta, {c, __gpulab_rocblas::type(type_c), ldc, stride_c},
      {d, __gpulab_rocblas::type(type_d), ldd, stride_d}, __gpulab_rocblas::type(compute), false, count));
}
inline rocblas_status rocblas_set_workspace(rocblas_handle handle, void*, size_t) {  // no call needs it
  return handle == nullptr ? rocblas_status_invalid_handle : rocblas_status_success;
}
inline const char* rocblas_status_to_string(rocblas_status status) {
  static const char* const names[] = {
      "rocblas_status_success",         "rocblas_status_invalid_handle",      "rocblas_status_not_implemented",
      "rocblas_status_invalid_pointer", "rocblas_status_invalid_size",        "rocblas_status_memory_error",
      "rocblas_status_internal_error",  "rocblas_status_perf_degraded",       "rocblas_status_size_query_mismatch",
      "rocblas_status_size_increased",  "rocblas_status_size_unchanged",      "rocblas_status_invalid_value",
      "rocblas_status_continue",        "rocblas_status_check_numerics_fail"};
  return status >= 0 && status <= rocblas_status_check_numerics_fail ? names[status] : "rocblas_status_invalid_value";
}
#endif
