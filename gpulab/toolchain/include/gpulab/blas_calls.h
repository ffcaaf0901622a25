// The calls of BLAS by a library's names; read once for each library, which defines
//   __GPULAB_BLAS__(X, x, call)  its name of a call for numbers of type X (and _BATCHED__, _STRIDED__, _EXTREMUM__)
//   __GPULAB_BLAS_CALL__  what stands before a call    __GPULAB_BLAS_TYPES__  a structure with its types
// They are templates, so that a program has kernels only for those that it calls.
#include "names.h"
#define __GPULAB_BLAS_HANDLE__ __GPULAB_BLAS_TYPES__::handle handle
#define __GPULAB_BLAS_CONTEXT__ ((__gpulab_blas::context*)handle)
#define __GPULAB_BLAS_AS__(...) return __GPULAB_BLAS_TYPES__::as(__gpulab_blas::__VA_ARGS__)
#define __GPULAB_BLAS_OP__ __GPULAB_BLAS_TYPES__::operation
#define __GPULAB_BLAS_FILL__ __GPULAB_BLAS_TYPES__::fill
#define __GPULAB_BLAS_SIDE__ __GPULAB_BLAS_TYPES__::side
#define __GPULAB_BLAS_TRIANGLE__ \
  __GPULAB_BLAS_FILL__ fill, __GPULAB_BLAS_OP__ op, __GPULAB_BLAS_TYPES__::diagonal diagonal
#define __GPULAB_BLAS_ONE__(N, p) __gpulab_blas::batch<N>{(N*)(p), nullptr, 0}
#define __GPULAB_BLAS_LIST__(N, p) __gpulab_blas::batch<N>{nullptr, (N* const*)(p), 0}
#define __GPULAB_BLAS_ROW__(N, p, stride) __gpulab_blas::batch<N>{(N*)(p), nullptr, stride}

// Calls for all four types of numbers. T: the library's type, N: the type inside.
#define __GPULAB_BLAS_FOUR__(X, x_, T, N)                                                                              \
  __GPULAB_BLAS_CALL__ __GPULAB_BLAS__(X, x_, axpy)(__GPULAB_BLAS_HANDLE__, int n, const T* alpha, const T* x,         \
                                                    int incx, T* y, int incy) {                                        \
    __GPULAB_BLAS_AS__(axpy(__GPULAB_BLAS_CONTEXT__, n, (const N*)alpha, (const N*)x, incx, (N*)y, incy));             \
  }                                                                                                                    \
  __GPULAB_BLAS_CALL__ __GPULAB_BLAS__(X, x_, copy)(__GPULAB_BLAS_HANDLE__, int n, const T* x, int incx, T* y,         \
                                                    int incy) {                                                        \
    __GPULAB_BLAS_AS__(copy(__GPULAB_BLAS_CONTEXT__, n, (const N*)x, incx, (N*)y, incy));                              \
  }                                                                                                                    \
  __GPULAB_BLAS_CALL__ __GPULAB_BLAS__(X, x_, swap)(__GPULAB_BLAS_HANDLE__, int n, T* x, int incx, T* y, int incy) {   \
    __GPULAB_BLAS_AS__(swap(__GPULAB_BLAS_CONTEXT__, n, (N*)x, incx, (N*)y, incy));                                    \
  }                                                                                                                    \
  __GPULAB_BLAS_CALL__ __GPULAB_BLAS__(X, x_, scal)(__GPULAB_BLAS_HANDLE__, int n, const T* alpha, T* x, int incx) {   \
    __GPULAB_BLAS_AS__(scal(__GPULAB_BLAS_CONTEXT__, n, (const N*)alpha, (N*)x, incx));                                \
  }                                                                                                                    \
  __GPULAB_BLAS_CALL__ __GPULAB_BLAS_EXTREMUM__(x_, amax)(__GPULAB_BLAS_HANDLE__, int n, const T* x, int incx,         \
                                                          int* result) {                                               \
    __GPULAB_BLAS_AS__(extremum<N, true>(__GPULAB_BLAS_CONTEXT__, n, (const N*)x, incx, result));                      \
  }                                                                                                                    \
  __GPULAB_BLAS_CALL__ __GPULAB_BLAS_EXTREMUM__(x_, amin)(__GPULAB_BLAS_HANDLE__, int n, const T* x, int incx,         \
                                                          int* result) {                                               \
    __GPULAB_BLAS_AS__(extremum<N, false>(__GPULAB_BLAS_CONTEXT__, n, (const N*)x, incx, result));                     \
  }                                                                                                                    \
  __GPULAB_BLAS_CALL__ __GPULAB_BLAS__(X, x_, gemv)(__GPULAB_BLAS_HANDLE__, __GPULAB_BLAS_OP__ op, int m, int n,       \
                                                    const T* alpha, const T* a, int lda, const T* x, int incx,         \
                                                    const T* beta, T* y, int incy) {                                   \
    __GPULAB_BLAS_AS__(gemv<N>(__GPULAB_BLAS_CONTEXT__, op, m, n, (const N*)alpha, __GPULAB_BLAS_ONE__(const N, a),    \
                               lda, __GPULAB_BLAS_ONE__(const N, x), incx, (const N*)beta, __GPULAB_BLAS_ONE__(N, y),  \
                               incy));                                                                                 \
  }                                                                                                                    \
  __GPULAB_BLAS_CALL__ __GPULAB_BLAS_BATCHED__(X, x_, gemv)(                                                           \
      __GPULAB_BLAS_HANDLE__, __GPULAB_BLAS_OP__ op, int m, int n, const T* alpha, const T* const a[], int lda,        \
      const T* const x[], int incx, const T* beta, T* const y[], int incy, int count) {                                \
    __GPULAB_BLAS_AS__(gemv<N>(__GPULAB_BLAS_CONTEXT__, op, m, n, (const N*)alpha, __GPULAB_BLAS_LIST__(const N, a),   \
                               lda, __GPULAB_BLAS_LIST__(const N, x), incx, (const N*)beta,                            \
                               __GPULAB_BLAS_LIST__(N, y), incy, count));                                              \
  }                                                                                                                    \
  __GPULAB_BLAS_CALL__ __GPULAB_BLAS_STRIDED__(X, x_, gemv)(                                                           \
      __GPULAB_BLAS_HANDLE__, __GPULAB_BLAS_OP__ op, int m, int n, const T* alpha, const T* a, int lda,                \
      int64_t stride_a, const T* x, int incx, int64_t stride_x, const T* beta, T* y, int incy, int64_t stride_y,       \
      int count) {                                                                                                     \
    __GPULAB_BLAS_AS__(gemv<N>(__GPULAB_BLAS_CONTEXT__, op, m, n, (const N*)alpha,                                     \
                               __GPULAB_BLAS_ROW__(const N, a, stride_a), lda,                                         \
                               __GPULAB_BLAS_ROW__(const N, x, stride_x), incx, (const N*)beta,                        \
                               __GPULAB_BLAS_ROW__(N, y, stride_y), incy, count));                                     \
  }

// Products, for halves, too.
#define __GPULAB_BLAS_GEMM__(X, x_, T, N)                                                                              \
  __GPULAB_BLAS_CALL__ __GPULAB_BLAS__(X, x_, gemm)(__GPULAB_BLAS_HANDLE__, __GPULAB_BLAS_OP__ op_a,                   \
                                                    __GPULAB_BLAS_OP__ op_b, int m, int n, int k, const T* alpha,      \
                                                    const T* a, int lda, const T* b, int ldb, const T* beta, T* c,     \
                                                    int ldc) {                                                         \
    __GPULAB_BLAS_AS__(gemm<N>(__GPULAB_BLAS_CONTEXT__, op_a, op_b, m, n, k, (const N*)alpha,                          \
                               __GPULAB_BLAS_ONE__(const N, a), lda, __GPULAB_BLAS_ONE__(const N, b), ldb,             \
                               (const N*)beta, __GPULAB_BLAS_ONE__(N, c), ldc));                                       \
  }                                                                                                                    \
  __GPULAB_BLAS_CALL__ __GPULAB_BLAS_BATCHED__(X, x_, gemm)(                                                           \
      __GPULAB_BLAS_HANDLE__, __GPULAB_BLAS_OP__ op_a, __GPULAB_BLAS_OP__ op_b, int m, int n, int k, const T* alpha,   \
      const T* const a[], int lda, const T* const b[], int ldb, const T* beta, T* const c[], int ldc, int count) {     \
    __GPULAB_BLAS_AS__(gemm<N>(__GPULAB_BLAS_CONTEXT__, op_a, op_b, m, n, k, (const N*)alpha,                          \
                               __GPULAB_BLAS_LIST__(const N, a), lda, __GPULAB_BLAS_LIST__(const N, b), ldb,           \
                               (const N*)beta, __GPULAB_BLAS_LIST__(N, c), ldc, count));                               \
  }                                                                                                                    \
  __GPULAB_BLAS_CALL__ __GPULAB_BLAS_STRIDED__(X, x_, gemm)(                                                           \
      __GPULAB_BLAS_HANDLE__, __GPULAB_BLAS_OP__ op_a, __GPULAB_BLAS_OP__ op_b, int m, int n, int k, const T* alpha,   \
      const T* a, int lda, int64_t stride_a, const T* b, int ldb, int64_t stride_b, const T* beta, T* c, int ldc,      \
      int64_t stride_c, int count) {                                                                                   \
    __GPULAB_BLAS_AS__(gemm<N>(__GPULAB_BLAS_CONTEXT__, op_a, op_b, m, n, k, (const N*)alpha,                          \
                               __GPULAB_BLAS_ROW__(const N, a, stride_a), lda,                                         \
                               __GPULAB_BLAS_ROW__(const N, b, stride_b), ldb, (const N*)beta,                         \
                               __GPULAB_BLAS_ROW__(N, c, stride_c), ldc, count));                                      \
  }

// Lengths: of complex numbers X and x_ have two letters.
#define __GPULAB_BLAS_LENGTHS__(X, x_, T, N, R)                                                                        \
  __GPULAB_BLAS_CALL__ __GPULAB_BLAS__(X, x_, asum)(__GPULAB_BLAS_HANDLE__, int n, const T* x, int incx, R* result) {  \
    __GPULAB_BLAS_AS__(asum(__GPULAB_BLAS_CONTEXT__, n, (const N*)x, incx, result));                                   \
  }                                                                                                                    \
  __GPULAB_BLAS_CALL__ __GPULAB_BLAS__(X, x_, nrm2)(__GPULAB_BLAS_HANDLE__, int n, const T* x, int incx, R* result) {  \
    __GPULAB_BLAS_AS__(nrm2(__GPULAB_BLAS_CONTEXT__, n, (const N*)x, incx, result));                                   \
  }
#define __GPULAB_BLAS_DOT__(X, x_, call, T, N, conjugated)                                                             \
  __GPULAB_BLAS_CALL__ __GPULAB_BLAS__(X, x_, call)(__GPULAB_BLAS_HANDLE__, int n, const T* x, int incx, const T* y,   \
                                                    int incy, T* result) {                                             \
    __GPULAB_BLAS_AS__(dot<N, conjugated>(__GPULAB_BLAS_CONTEXT__, n, (const N*)x, incx, (const N*)y, incy,            \
                                          (N*)result));                                                                \
  }
#define __GPULAB_BLAS_GER__(X, x_, call, T, N, conjugated)                                                             \
  __GPULAB_BLAS_CALL__ __GPULAB_BLAS__(X, x_, call)(__GPULAB_BLAS_HANDLE__, int m, int n, const T* alpha, const T* x,  \
                                                    int incx, const T* y, int incy, T* a, int lda) {                   \
    __GPULAB_BLAS_AS__(ger(__GPULAB_BLAS_CONTEXT__, conjugated, m, n, (const N*)alpha, (const N*)x, incx,              \
                           (const N*)y, incy, (N*)a, lda));                                                            \
  }
// Of real numbers and complex ones, with a scalar that is real (S, M) or not.
#define __GPULAB_BLAS_SCALED__(X, x_, T, N, S, M)                                                                      \
  __GPULAB_BLAS_CALL__ __GPULAB_BLAS__(X, x_, scal)(__GPULAB_BLAS_HANDLE__, int n, const S* alpha, T* x, int incx) {   \
    __GPULAB_BLAS_AS__(scal(__GPULAB_BLAS_CONTEXT__, n, (const M*)alpha, (N*)x, incx));                                \
  }
#define __GPULAB_BLAS_ROT__(X, x_, T, N, R, S, M)                                                                      \
  __GPULAB_BLAS_CALL__ __GPULAB_BLAS__(X, x_, rot)(__GPULAB_BLAS_HANDLE__, int n, T* x, int incx, T* y, int incy,      \
                                                   const R* cosine, const S* sine) {                                   \
    __GPULAB_BLAS_AS__(rot(__GPULAB_BLAS_CONTEXT__, n, (N*)x, incx, (N*)y, incy, cosine, (const M*)sine));             \
  }
#define __GPULAB_BLAS_ROTG__(X, x_, T, N, R)                                                                           \
  __GPULAB_BLAS_CALL__ __GPULAB_BLAS__(X, x_, rotg)(__GPULAB_BLAS_HANDLE__, T* a, T* b, R* cosine, T* sine) {          \
    __GPULAB_BLAS_AS__(rotg(__GPULAB_BLAS_CONTEXT__, (N*)a, (N*)b, cosine, (N*)sine));                                 \
  }
#define __GPULAB_BLAS_SYMV__(X, x_, call, what, T, N)                                                                  \
  __GPULAB_BLAS_CALL__ __GPULAB_BLAS__(X, x_, call)(__GPULAB_BLAS_HANDLE__, __GPULAB_BLAS_FILL__ fill, int n,          \
                                                    const T* alpha, const T* a, int lda, const T* x, int incx,         \
                                                    const T* beta, T* y, int incy) {                                   \
    __GPULAB_BLAS_AS__(symv<__gpulab_blas::what>(__GPULAB_BLAS_CONTEXT__, fill, n, (const N*)alpha, (const N*)a, lda,  \
                                                 (const N*)x, incx, (const N*)beta, (N*)y, incy));                     \
  }
#define __GPULAB_BLAS_SYR__(X, x_, call, conjugated, T, N, S, M)                                                       \
  __GPULAB_BLAS_CALL__ __GPULAB_BLAS__(X, x_, call)(__GPULAB_BLAS_HANDLE__, __GPULAB_BLAS_FILL__ fill, int n,          \
                                                    const S* alpha, const T* x, int incx, T* a, int lda) {             \
    __GPULAB_BLAS_AS__(syr(__GPULAB_BLAS_CONTEXT__, conjugated, fill, n, (const M*)alpha, (const N*)x, incx, (N*)a,    \
                           lda));                                                                                      \
  }


// Triangles, sums of matrices, diagonals.
#define __GPULAB_BLAS_TRIANGLES__(X, x_, T, N)                                                                         \
  __GPULAB_BLAS_CALL__ __GPULAB_BLAS__(X, x_, trsm)(__GPULAB_BLAS_HANDLE__, __GPULAB_BLAS_SIDE__ side,                 \
                                                    __GPULAB_BLAS_TRIANGLE__, int m, int n, const T* alpha, const T* a,\
                                                    int lda, T* b, int ldb) {                                          \
    __GPULAB_BLAS_AS__(trsm<N>(__GPULAB_BLAS_CONTEXT__, side, fill, op, diagonal, m, n, (const N*)alpha,               \
                               __GPULAB_BLAS_ONE__(const N, a), lda, __GPULAB_BLAS_ONE__(N, b), ldb));                 \
  }                                                                                                                    \
  __GPULAB_BLAS_CALL__ __GPULAB_BLAS_BATCHED__(X, x_, trsm)(                                                           \
      __GPULAB_BLAS_HANDLE__, __GPULAB_BLAS_SIDE__ side, __GPULAB_BLAS_TRIANGLE__, int m, int n, const T* alpha,       \
      const T* const a[], int lda, T* const b[], int ldb, int count) {                                                 \
    __GPULAB_BLAS_AS__(trsm<N>(__GPULAB_BLAS_CONTEXT__, side, fill, op, diagonal, m, n, (const N*)alpha,               \
                               __GPULAB_BLAS_LIST__(const N, a), lda, __GPULAB_BLAS_LIST__(N, b), ldb, count));        \
  }                                                                                                                    \
  __GPULAB_BLAS_CALL__ __GPULAB_BLAS_STRIDED__(X, x_, trsm)(                                                           \
      __GPULAB_BLAS_HANDLE__, __GPULAB_BLAS_SIDE__ side, __GPULAB_BLAS_TRIANGLE__, int m, int n, const T* alpha,       \
      const T* a, int lda, int64_t stride_a, T* b, int ldb, int64_t stride_b, int count) {                             \
    __GPULAB_BLAS_AS__(trsm<N>(__GPULAB_BLAS_CONTEXT__, side, fill, op, diagonal, m, n, (const N*)alpha,               \
                               __GPULAB_BLAS_ROW__(const N, a, stride_a), lda, __GPULAB_BLAS_ROW__(N, b, stride_b),    \
                               ldb, count));                                                                           \
  }                                                                                                                    \
  __GPULAB_BLAS_CALL__ __GPULAB_BLAS__(X, x_, trmm)(__GPULAB_BLAS_HANDLE__, __GPULAB_BLAS_SIDE__ side,                 \
                                                    __GPULAB_BLAS_TRIANGLE__, int m, int n, const T* alpha, const T* a,\
                                                    int lda, const T* b, int ldb, T* c, int ldc) {                     \
    __GPULAB_BLAS_AS__(trmm(__GPULAB_BLAS_CONTEXT__, side, fill, op, diagonal, m, n, (const N*)alpha, (const N*)a, lda,\
                            (const N*)b, ldb, (N*)c, ldc));                                                            \
  }                                                                                                                    \
  __GPULAB_BLAS_CALL__ __GPULAB_BLAS__(X, x_, trsv)(__GPULAB_BLAS_HANDLE__, __GPULAB_BLAS_TRIANGLE__, int n,           \
                                                    const T* a, int lda, T* x, int incx) {                             \
    __GPULAB_BLAS_AS__(trsv(__GPULAB_BLAS_CONTEXT__, fill, op, diagonal, n, (const N*)a, lda, (N*)x, incx));           \
  }                                                                                                                    \
  __GPULAB_BLAS_CALL__ __GPULAB_BLAS__(X, x_, trmv)(__GPULAB_BLAS_HANDLE__, __GPULAB_BLAS_TRIANGLE__, int n,           \
                                                    const T* a, int lda, T* x, int incx) {                             \
    __GPULAB_BLAS_AS__(trmv(__GPULAB_BLAS_CONTEXT__, fill, op, diagonal, n, (const N*)a, lda, (N*)x, incx));           \
  }                                                                                                                    \
  __GPULAB_BLAS_CALL__ __GPULAB_BLAS__(X, x_, geam)(__GPULAB_BLAS_HANDLE__, __GPULAB_BLAS_OP__ op_a,                   \
                                                    __GPULAB_BLAS_OP__ op_b, int m, int n, const T* alpha, const T* a, \
                                                    int lda, const T* beta, const T* b, int ldb, T* c, int ldc) {      \
    __GPULAB_BLAS_AS__(geam(__GPULAB_BLAS_CONTEXT__, op_a, op_b, m, n, (const N*)alpha, (const N*)a, lda,              \
                            (const N*)beta, (const N*)b, ldb, (N*)c, ldc));                                            \
  }                                                                                                                    \
  __GPULAB_BLAS_CALL__ __GPULAB_BLAS__(X, x_, dgmm)(__GPULAB_BLAS_HANDLE__, __GPULAB_BLAS_SIDE__ side, int m, int n,   \
                                                    const T* a, int lda, const T* x, int incx, T* c, int ldc) {        \
    __GPULAB_BLAS_AS__(dgmm(__GPULAB_BLAS_CONTEXT__, side, m, n, (const N*)a, lda, (const N*)x, incx, (N*)c, ldc));    \
  }
// syrk and syrkx (herk and herkx): S and M are the type of alpha, and in those with a second matrix R and P of beta.
#define __GPULAB_BLAS_SYRK__(X, x_, call, hermitian, T, N, S, M)                                                       \
  __GPULAB_BLAS_CALL__ __GPULAB_BLAS__(X, x_, call)(__GPULAB_BLAS_HANDLE__, __GPULAB_BLAS_FILL__ fill,                 \
                                                    __GPULAB_BLAS_OP__ op, int n, int k, const S* alpha, const T* a,   \
                                                    int lda, const S* beta, T* c, int ldc) {                           \
    __GPULAB_BLAS_AS__(syrk(__GPULAB_BLAS_CONTEXT__, hermitian, fill, op, n, k, (const M*)alpha, (const N*)a, lda,     \
                            (const N*)a, lda, (const M*)beta, (N*)c, ldc));                                            \
  }
#define __GPULAB_BLAS_SYRKX__(X, x_, call, hermitian, both, T, N, R, P)                                                \
  __GPULAB_BLAS_CALL__ __GPULAB_BLAS__(X, x_, call)(__GPULAB_BLAS_HANDLE__, __GPULAB_BLAS_FILL__ fill,                 \
                                                    __GPULAB_BLAS_OP__ op, int n, int k, const T* alpha, const T* a,   \
                                                    int lda, const T* b, int ldb, const R* beta, T* c, int ldc) {      \
    __GPULAB_BLAS_AS__(syrk(__GPULAB_BLAS_CONTEXT__, hermitian, fill, op, n, k, (const N*)alpha, (const N*)a, lda,     \
                            (const N*)b, ldb, (const P*)beta, (N*)c, ldc, both));                                      \
  }
#define __GPULAB_BLAS_SYMM__(X, x_, call, what, T, N)                                                                  \
  __GPULAB_BLAS_CALL__ __GPULAB_BLAS__(X, x_, call)(__GPULAB_BLAS_HANDLE__, __GPULAB_BLAS_SIDE__ side,                 \
                                                    __GPULAB_BLAS_FILL__ fill, int m, int n, const T* alpha,           \
                                                    const T* a, int lda, const T* b, int ldb, const T* beta, T* c,     \
                                                    int ldc) {                                                         \
    __GPULAB_BLAS_AS__(symm<__gpulab_blas::what>(__GPULAB_BLAS_CONTEXT__, side, fill, m, n, (const N*)alpha,           \
                                                 (const N*)a, lda, (const N*)b, ldb, (const N*)beta, (N*)c, ldc));     \
  }

#define __GPULAB_BLAS_FLOAT__ __gpulab_blas::complex<float>
#define __GPULAB_BLAS_DOUBLE__ __gpulab_blas::complex<double>
__GPULAB_BLAS_FOUR__(S, s, float, float)
__GPULAB_BLAS_FOUR__(D, d, double, double)
__GPULAB_BLAS_FOUR__(C, c, __GPULAB_BLAS_TYPES__::c, __GPULAB_BLAS_FLOAT__)
__GPULAB_BLAS_FOUR__(Z, z, __GPULAB_BLAS_TYPES__::z, __GPULAB_BLAS_DOUBLE__)
__GPULAB_BLAS_GEMM__(H, h, __GPULAB_BLAS_TYPES__::half, _Float16)
__GPULAB_BLAS_GEMM__(S, s, float, float)
__GPULAB_BLAS_GEMM__(D, d, double, double)
__GPULAB_BLAS_GEMM__(C, c, __GPULAB_BLAS_TYPES__::c, __GPULAB_BLAS_FLOAT__)
__GPULAB_BLAS_GEMM__(Z, z, __GPULAB_BLAS_TYPES__::z, __GPULAB_BLAS_DOUBLE__)
__GPULAB_BLAS_LENGTHS__(S, s, float, float, float)
__GPULAB_BLAS_LENGTHS__(D, d, double, double, double)
__GPULAB_BLAS_LENGTHS__(Sc, sc, __GPULAB_BLAS_TYPES__::c, __GPULAB_BLAS_FLOAT__, float)
__GPULAB_BLAS_LENGTHS__(Dz, dz, __GPULAB_BLAS_TYPES__::z, __GPULAB_BLAS_DOUBLE__, double)
__GPULAB_BLAS_DOT__(S, s, dot, float, float, false)
__GPULAB_BLAS_DOT__(D, d, dot, double, double, false)
__GPULAB_BLAS_DOT__(C, c, dotu, __GPULAB_BLAS_TYPES__::c, __GPULAB_BLAS_FLOAT__, false)
__GPULAB_BLAS_DOT__(C, c, dotc, __GPULAB_BLAS_TYPES__::c, __GPULAB_BLAS_FLOAT__, true)
__GPULAB_BLAS_DOT__(Z, z, dotu, __GPULAB_BLAS_TYPES__::z, __GPULAB_BLAS_DOUBLE__, false)
__GPULAB_BLAS_DOT__(Z, z, dotc, __GPULAB_BLAS_TYPES__::z, __GPULAB_BLAS_DOUBLE__, true)
__GPULAB_BLAS_SCALED__(Cs, cs, __GPULAB_BLAS_TYPES__::c, __GPULAB_BLAS_FLOAT__, float, float)
__GPULAB_BLAS_SCALED__(Zd, zd, __GPULAB_BLAS_TYPES__::z, __GPULAB_BLAS_DOUBLE__, double, double)
__GPULAB_BLAS_ROT__(S, s, float, float, float, float, float)
__GPULAB_BLAS_ROT__(D, d, double, double, double, double, double)
__GPULAB_BLAS_ROT__(C, c, __GPULAB_BLAS_TYPES__::c, __GPULAB_BLAS_FLOAT__, float, __GPULAB_BLAS_TYPES__::c,
                    __GPULAB_BLAS_FLOAT__)
__GPULAB_BLAS_ROT__(Z, z, __GPULAB_BLAS_TYPES__::z, __GPULAB_BLAS_DOUBLE__, double, __GPULAB_BLAS_TYPES__::z,
                    __GPULAB_BLAS_DOUBLE__)
__GPULAB_BLAS_ROT__(Cs, cs, __GPULAB_BLAS_TYPES__::c, __GPULAB_BLAS_FLOAT__, float, float, float)
__GPULAB_BLAS_ROT__(Zd, zd, __GPULAB_BLAS_TYPES__::z, __GPULAB_BLAS_DOUBLE__, double, double, double)
__GPULAB_BLAS_ROTG__(S, s, float, float, float)
__GPULAB_BLAS_ROTG__(D, d, double, double, double)
__GPULAB_BLAS_ROTG__(C, c, __GPULAB_BLAS_TYPES__::c, __GPULAB_BLAS_FLOAT__, float)
__GPULAB_BLAS_ROTG__(Z, z, __GPULAB_BLAS_TYPES__::z, __GPULAB_BLAS_DOUBLE__, double)
__GPULAB_BLAS_GER__(S, s, ger, float, float, false)
__GPULAB_BLAS_GER__(D, d, ger, double, double, false)
__GPULAB_BLAS_GER__(C, c, geru, __GPULAB_BLAS_TYPES__::c, __GPULAB_BLAS_FLOAT__, false)
__GPULAB_BLAS_GER__(C, c, gerc, __GPULAB_BLAS_TYPES__::c, __GPULAB_BLAS_FLOAT__, true)
__GPULAB_BLAS_GER__(Z, z, geru, __GPULAB_BLAS_TYPES__::z, __GPULAB_BLAS_DOUBLE__, false)
__GPULAB_BLAS_GER__(Z, z, gerc, __GPULAB_BLAS_TYPES__::z, __GPULAB_BLAS_DOUBLE__, true)
__GPULAB_BLAS_SYMV__(S, s, symv, symmetric, float, float)
__GPULAB_BLAS_SYMV__(D, d, symv, symmetric, double, double)
__GPULAB_BLAS_SYMV__(C, c, symv, symmetric, __GPULAB_BLAS_TYPES__::c, __GPULAB_BLAS_FLOAT__)
__GPULAB_BLAS_SYMV__(Z, z, symv, symmetric, __GPULAB_BLAS_TYPES__::z, __GPULAB_BLAS_DOUBLE__)
__GPULAB_BLAS_SYMV__(C, c, hemv, hermitian, __GPULAB_BLAS_TYPES__::c, __GPULAB_BLAS_FLOAT__)
__GPULAB_BLAS_SYMV__(Z, z, hemv, hermitian, __GPULAB_BLAS_TYPES__::z, __GPULAB_BLAS_DOUBLE__)
__GPULAB_BLAS_SYR__(S, s, syr, false, float, float, float, float)
__GPULAB_BLAS_SYR__(D, d, syr, false, double, double, double, double)
__GPULAB_BLAS_SYR__(C, c, syr, false, __GPULAB_BLAS_TYPES__::c, __GPULAB_BLAS_FLOAT__, __GPULAB_BLAS_TYPES__::c,
                    __GPULAB_BLAS_FLOAT__)
__GPULAB_BLAS_SYR__(Z, z, syr, false, __GPULAB_BLAS_TYPES__::z, __GPULAB_BLAS_DOUBLE__, __GPULAB_BLAS_TYPES__::z,
                    __GPULAB_BLAS_DOUBLE__)
__GPULAB_BLAS_SYR__(C, c, her, true, __GPULAB_BLAS_TYPES__::c, __GPULAB_BLAS_FLOAT__, float, float)
__GPULAB_BLAS_SYR__(Z, z, her, true, __GPULAB_BLAS_TYPES__::z, __GPULAB_BLAS_DOUBLE__, double, double)
__GPULAB_BLAS_TRIANGLES__(S, s, float, float)
__GPULAB_BLAS_TRIANGLES__(D, d, double, double)
__GPULAB_BLAS_TRIANGLES__(C, c, __GPULAB_BLAS_TYPES__::c, __GPULAB_BLAS_FLOAT__)
__GPULAB_BLAS_TRIANGLES__(Z, z, __GPULAB_BLAS_TYPES__::z, __GPULAB_BLAS_DOUBLE__)
__GPULAB_BLAS_SYRK__(S, s, syrk, false, float, float, float, float)
__GPULAB_BLAS_SYRK__(D, d, syrk, false, double, double, double, double)
__GPULAB_BLAS_SYRK__(C, c, syrk, false, __GPULAB_BLAS_TYPES__::c, __GPULAB_BLAS_FLOAT__, __GPULAB_BLAS_TYPES__::c,
                     __GPULAB_BLAS_FLOAT__)
__GPULAB_BLAS_SYRK__(Z, z, syrk, false, __GPULAB_BLAS_TYPES__::z, __GPULAB_BLAS_DOUBLE__, __GPULAB_BLAS_TYPES__::z,
                     __GPULAB_BLAS_DOUBLE__)
__GPULAB_BLAS_SYRK__(C, c, herk, true, __GPULAB_BLAS_TYPES__::c, __GPULAB_BLAS_FLOAT__, float, float)
__GPULAB_BLAS_SYRK__(Z, z, herk, true, __GPULAB_BLAS_TYPES__::z, __GPULAB_BLAS_DOUBLE__, double, double)
__GPULAB_BLAS_SYRKX__(S, s, syrkx, false, false, float, float, float, float)
__GPULAB_BLAS_SYRKX__(D, d, syrkx, false, false, double, double, double, double)
__GPULAB_BLAS_SYRKX__(C, c, syrkx, false, false, __GPULAB_BLAS_TYPES__::c, __GPULAB_BLAS_FLOAT__,
                      __GPULAB_BLAS_TYPES__::c, __GPULAB_BLAS_FLOAT__)
__GPULAB_BLAS_SYRKX__(Z, z, syrkx, false, false, __GPULAB_BLAS_TYPES__::z, __GPULAB_BLAS_DOUBLE__,
                      __GPULAB_BLAS_TYPES__::z, __GPULAB_BLAS_DOUBLE__)
__GPULAB_BLAS_SYRKX__(S, s, syr2k, false, true, float, float, float, float)
__GPULAB_BLAS_SYRKX__(D, d, syr2k, false, true, double, double, double, double)
__GPULAB_BLAS_SYRKX__(C, c, syr2k, false, true, __GPULAB_BLAS_TYPES__::c, __GPULAB_BLAS_FLOAT__,
                      __GPULAB_BLAS_TYPES__::c, __GPULAB_BLAS_FLOAT__)
__GPULAB_BLAS_SYRKX__(Z, z, syr2k, false, true, __GPULAB_BLAS_TYPES__::z, __GPULAB_BLAS_DOUBLE__,
                      __GPULAB_BLAS_TYPES__::z, __GPULAB_BLAS_DOUBLE__)
__GPULAB_BLAS_SYRKX__(C, c, herkx, true, false, __GPULAB_BLAS_TYPES__::c, __GPULAB_BLAS_FLOAT__, float, float)
__GPULAB_BLAS_SYRKX__(Z, z, herkx, true, false, __GPULAB_BLAS_TYPES__::z, __GPULAB_BLAS_DOUBLE__, double, double)
__GPULAB_BLAS_SYMM__(S, s, symm, symmetric, float, float)
__GPULAB_BLAS_SYMM__(D, d, symm, symmetric, double, double)
__GPULAB_BLAS_SYMM__(C, c, symm, symmetric, __GPULAB_BLAS_TYPES__::c, __GPULAB_BLAS_FLOAT__)
__GPULAB_BLAS_SYMM__(Z, z, symm, symmetric, __GPULAB_BLAS_TYPES__::z, __GPULAB_BLAS_DOUBLE__)
__GPULAB_BLAS_SYMM__(C, c, hemm, hermitian, __GPULAB_BLAS_TYPES__::c, __GPULAB_BLAS_FLOAT__)
__GPULAB_BLAS_SYMM__(Z, z, hemm, hermitian, __GPULAB_BLAS_TYPES__::z, __GPULAB_BLAS_DOUBLE__)
#undef __GPULAB_BLAS__
#undef __GPULAB_BLAS_BATCHED__
#undef __GPULAB_BLAS_STRIDED__
#undef __GPULAB_BLAS_EXTREMUM__
#undef __GPULAB_BLAS_CALL__
#undef __GPULAB_BLAS_TYPES__
#undef __GPULAB_BLAS_AS__
#undef __GPULAB_BLAS_CONTEXT__
#undef __GPULAB_BLAS_DOT__
#undef __GPULAB_BLAS_DOUBLE__
#undef __GPULAB_BLAS_FILL__
#undef __GPULAB_BLAS_FLOAT__
#undef __GPULAB_BLAS_FOUR__
#undef __GPULAB_BLAS_GEMM__
#undef __GPULAB_BLAS_GER__
#undef __GPULAB_BLAS_HANDLE__
#undef __GPULAB_BLAS_LENGTHS__
#undef __GPULAB_BLAS_LIST__
#undef __GPULAB_BLAS_ONE__
#undef __GPULAB_BLAS_OP__
#undef __GPULAB_BLAS_ROTG__
#undef __GPULAB_BLAS_ROT__
#undef __GPULAB_BLAS_ROW__
#undef __GPULAB_BLAS_SCALED__
#undef __GPULAB_BLAS_SIDE__
#undef __GPULAB_BLAS_SYMM__
#undef __GPULAB_BLAS_SYMV__
#undef __GPULAB_BLAS_SYRKX__
#undef __GPULAB_BLAS_SYRK__
#undef __GPULAB_BLAS_SYR__
#undef __GPULAB_BLAS_TRIANGLES__
#undef __GPULAB_BLAS_TRIANGLE__
#include "names_end.h"
