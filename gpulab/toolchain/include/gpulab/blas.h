// BLAS by calls of the host, over kernels. blas_calls.h has the calls, hipblas.h and rocblas.h give them their names.
//
// The kernels are as simple as their speed on a virtual GPU allows: a product has a row of C in each lane, and the
// numbers of B in scalar registers. Sums are made in the same order each time.
#pragma once
#ifndef __cplusplus
#error "gpulab has BLAS for C++ sources alone: give the file the ending .cpp"
#endif
#ifndef __GPULAB_PROGRAM__
#error "BLAS is called by the host: build this source with %%hipcc or gpulab hipcc"
#endif
#include <hip/hip_complex.h>
#include <hip/hip_runtime.h>
#include <hip/library_types.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#ifdef __GPULAB_PROGRAM__
#include "names.h"

namespace __gpulab_blas {
// rocBLAS's codes, and one more, for which hipBLAS has a code of its own.
enum status {
  success = 0, no_handle = 1, not_implemented = 2, no_pointer = 3, wrong_size = 4, no_memory = 5, failed = 6,
  wrong_value = 11, wrong_enum = 1011
};
enum { as_it_is = 111, transpose = 112, conjugate = 113, upper = 121, lower = 122, whole = 123 };
enum { with_diagonal = 131, unit_diagonal = 132, left = 141, right = 142 };

struct context {
  hipStream_t stream;
  int on_device, atomics, mathematics;
  void* memory;  // for parts of a sum, and a result on its way to the host
};
constexpr int most_parts = 256, threads = 256, most_blocks = 65535;  // of a grid in y and z
constexpr size_t part_size = 16;

// ---- numbers
template <class T>
struct complex {
  T x, y;
};
struct bfloat {
  unsigned short bits;
};
template <class T>
struct real_part {
  using type = T;
  static constexpr bool is_complex = false;
};
template <class T>
struct real_part<complex<T>> {
  using type = T;
  static constexpr bool is_complex = true;
};
template <class T>
using real = typename real_part<T>::type;

#define __GPULAB_BLAS_FUNCTION__ __host__ __device__ inline
template <class T>
__GPULAB_BLAS_FUNCTION__ complex<T> operator+(complex<T> a, complex<T> b) {
  return {a.x + b.x, a.y + b.y};
}
template <class T>
__GPULAB_BLAS_FUNCTION__ complex<T> operator-(complex<T> a, complex<T> b) {
  return {a.x - b.x, a.y - b.y};
}
template <class T>
__GPULAB_BLAS_FUNCTION__ complex<T> operator*(complex<T> a, complex<T> b) {
  return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}
template <class T>
__GPULAB_BLAS_FUNCTION__ complex<T> operator*(T a, complex<T> b) {
  return {a * b.x, a * b.y};
}
template <class T>
__GPULAB_BLAS_FUNCTION__ complex<T> operator/(complex<T> a, complex<T> b) {  // by the larger part: nothing overflows
  if (fabs(b.x) >= fabs(b.y)) {
    T ratio = b.y / b.x, scale = b.x + b.y * ratio;
    return {(a.x + a.y * ratio) / scale, (a.y - a.x * ratio) / scale};
  }
  T ratio = b.x / b.y, scale = b.x * ratio + b.y;
  return {(a.x * ratio + a.y) / scale, (a.y * ratio - a.x) / scale};
}
template <class T>
__GPULAB_BLAS_FUNCTION__ bool operator==(complex<T> a, complex<T> b) {
  return a.x == b.x && a.y == b.y;
}
template <class T>
__GPULAB_BLAS_FUNCTION__ T conj(T a) {
  return a;
}
template <class T>
__GPULAB_BLAS_FUNCTION__ complex<T> conj(complex<T> a) {
  return {a.x, -a.y};
}
template <class T>
__GPULAB_BLAS_FUNCTION__ T conj_if(bool whether, T a) {
  return whether ? conj(a) : a;
}
template <class T>
__GPULAB_BLAS_FUNCTION__ T real_only(T a) {
  return a;
}
template <class T>
__GPULAB_BLAS_FUNCTION__ complex<T> real_only(complex<T> a) {
  return {a.x, 0};
}
template <class T>
__GPULAB_BLAS_FUNCTION__ T sum_of_parts(T a) {
  return fabs(a);
}
template <class T>
__GPULAB_BLAS_FUNCTION__ T sum_of_parts(complex<T> a) {
  return fabs(a.x) + fabs(a.y);
}
template <class T>
inline bool is_zero(const T& a) {  // by bits: a half is not computed with on the host
  return a == T();
}
inline bool is_zero(const _Float16& a) { return (__builtin_bit_cast(unsigned short, a) & 0x7fff) == 0; }
template <class T>
struct computed {  // what sums of it are computed in
  using type = T;
};
template <>
struct computed<_Float16> {
  using type = float;
};
template <class T>
struct number {  // of a real one
  static __GPULAB_BLAS_FUNCTION__ T of(double a) { return (T)a; }
};
template <class T>
struct number<complex<T>> {
  static __GPULAB_BLAS_FUNCTION__ complex<T> of(double a) { return {(T)a, 0}; }
};
template <class N, class T>
__device__ inline N to(T a) {
  if constexpr (real_part<N>::is_complex && !real_part<T>::is_complex) {
    return {a, 0};
  } else {
    return (N)a;
  }
}
template <class N>
__device__ inline N to(bfloat a) {
  return __builtin_bit_cast(float, (unsigned int)a.bits << 16);
}
template <class N, class T>
struct narrowed {
  static __device__ N of(T a) { return (N)a; }
};
template <class T>
struct narrowed<bfloat, T> {  // to the nearest, of two as near the even one
  static __device__ bfloat of(T a) {
    unsigned int bits = __builtin_bit_cast(unsigned int, (float)a);
    if (a != a) return {(unsigned short)(bits >> 16 | 64)};
    return {(unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
  }
};

// ---- what calls are given
template <class T>
struct scalar {  // by value, or where it is on the device
  T value;
  const T* place;
  __device__ T operator()() const { return place != nullptr ? *place : value; }
};
template <class T>
scalar<T> given(context* c, const T* p) {
  if (c->on_device) return {T(), p};
  return {*p, nullptr};
}
template <class T>
bool known(context* c, const T* p, double value) {  // without asking the device
  return !c->on_device && *p == number<T>::of(value);
}
template <class T>
struct vec {
  T* p;
  long long step;
  __device__ T& operator[](long long i) const { return p[i * step]; }
};
template <class T>
__GPULAB_BLAS_FUNCTION__ vec<T> vector(T* p, long long n, long long step) {  // of a negative step 0 is the last one
  return {step < 0 && n > 0 ? p - (n - 1) * step : p, step};
}
template <class T>
struct batch {  // one array, some at a distance, or a list of them
  T* p;
  T* const* list;
  long long stride;
  __device__ T* operator[](int i) const { return list != nullptr ? list[i] : p + i * stride; }
};
template <class T>
batch<T> later(batch<T> a, int first) {
  if (a.list != nullptr) return {nullptr, a.list + first, 0};
  return {a.p + first * a.stride, nullptr, a.stride};
}
template <class T>
batch<T> one(T* p) {
  return {p, nullptr, 0};
}

enum kind { general, symmetric, hermitian, triangular };
template <class T, int what = general>
struct view {  // op(A) of a matrix of which all is stored, or a triangle
  batch<const T> memory;
  long long down, across;
  bool conjugated, low, unit;
  __device__ T at(const T* p, long long i, long long j) const {
    T x;
    if constexpr (what == general) {
      x = p[i * down + j * across];
    } else {
      bool stored = low ? i >= j : i <= j;
      if constexpr (what == triangular) {
        if (!stored) return T();
        if (i == j && unit) return number<T>::of(1);
        x = p[i * down + j * across];
      } else {
        x = stored ? p[i * down + j * across] : p[j * down + i * across];
        if constexpr (what == hermitian) x = i == j ? real_only(x) : conj_if(!stored, x);
      }
    }
    if constexpr (real_part<T>::is_complex) x = conj_if(conjugated, x);
    return x;
  }
};
template <int what = general, class T>
view<T, what> look(batch<const T> a, long long ld, int operation = as_it_is, int fill = upper, int diagonal = 0) {
  bool turned = operation != as_it_is;
  return {a, turned ? ld : 1, turned ? 1 : ld, operation == conjugate, (fill == lower) != turned,
          diagonal == unit_diagonal};
}
inline bool operation(int op) { return op >= as_it_is && op <= conjugate; }
inline bool triangle(int fill) { return fill == upper || fill == lower; }

inline bool known_diagonal(int diagonal) { return diagonal == with_diagonal || diagonal == unit_diagonal; }
template <class T>
scalar<T> literal(double a) {
  return {number<T>::of(a), nullptr};
}

inline int launched() { return hipPeekAtLastError() == hipSuccess ? success : failed; }

// ---- handles
inline int create(context** made) {
  if (made == nullptr) return no_handle;
  void* memory;
  if (hipMalloc(&memory, (most_parts + 1) * part_size) != hipSuccess) return no_memory;
  *made = new context{nullptr, 0, 1, 0, memory};
  return success;
}
inline int destroy(context* c) {
  if (c == nullptr) return no_handle;
  (void)hipStreamSynchronize(c->stream);
  (void)hipFree(c->memory);
  delete c;
  return success;
}
template <class T, class V>
int set(context* c, T context::*field, V value) {
  if (c == nullptr) return no_handle;
  c->*field = (T)value;
  return success;
}
template <class T, class V>
int get(context* c, T context::*field, V* value) {
  if (c == nullptr) return no_handle;
  if (value == nullptr) return no_pointer;
  *value = (V)(c->*field);
  return success;
}

// ---- copies between host and device
inline int copy_matrix(long long rows, long long columns, long long size, const void* a, long long lda, void* b,
                       long long ldb, hipMemcpyKind kind, bool waits, hipStream_t stream) {
  if (rows < 0 || columns < 0 || size <= 0 || lda <= 0 || ldb <= 0 || rows > lda || rows > ldb) return wrong_size;
  if (rows == 0 || columns == 0) return success;
  if (a == nullptr || b == nullptr) return no_pointer;
  hipError_t error = waits ? hipMemcpy2D(b, ldb * size, a, lda * size, rows * size, columns, kind)
                           : hipMemcpy2DAsync(b, ldb * size, a, lda * size, rows * size, columns, kind, stream);
  return error == hipSuccess ? success : failed;
}
inline int copy_vector(long long n, long long size, const void* x, long long incx, void* y, long long incy,
                       hipMemcpyKind kind, bool waits, hipStream_t stream) {
  if (n < 0 || size <= 0 || incx <= 0 || incy <= 0) return wrong_size;
  if (incx == 1 && incy == 1) return copy_matrix(n, 1, size, x, n > 0 ? n : 1, y, n > 0 ? n : 1, kind, waits, stream);
  return copy_matrix(1, n, size, x, incx, y, incy, kind, waits, stream);
}

// ---- level 1
template <class F>
__global__ void each(long long n, F f) {
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (long long)blockDim.x) {
    f(i);
  }
}
template <class F>
int for_each(context* c, long long n, F f) {
  if (n <= 0) return success;
  long long blocks = (n + threads - 1) / threads;
  each<<<dim3(blocks < most_blocks ? blocks : most_blocks), dim3(threads), 0, c->stream>>>(n, f);
  return launched();
}

template <class T>
struct adding {
  scalar<T> alpha;
  vec<const T> x;
  vec<T> y;
  __device__ void operator()(long long i) const {
    T a = alpha();
    if (!(a == T())) y[i] = y[i] + a * x[i];
  }
};
template <class T>
int axpy(context* c, int n, const T* alpha, const T* x, int incx, T* y, int incy) {
  if (c == nullptr) return no_handle;
  if (n <= 0) return success;
  if (alpha == nullptr) return no_pointer;
  if (known(c, alpha, 0)) return success;
  if (x == nullptr || y == nullptr) return no_pointer;
  return for_each(c, n, adding<T>{given(c, alpha), vector(x, n, incx), vector(y, n, incy)});
}
template <class T>
struct copying {
  vec<const T> x;
  vec<T> y;
  __device__ void operator()(long long i) const { y[i] = x[i]; }
};
template <class T>
int copy(context* c, int n, const T* x, int incx, T* y, int incy) {
  if (c == nullptr) return no_handle;
  if (n <= 0) return success;
  if (x == nullptr || y == nullptr) return no_pointer;
  return for_each(c, n, copying<T>{vector(x, n, incx), vector(y, n, incy)});
}
template <class T>
struct swapping {
  vec<T> x, y;
  __device__ void operator()(long long i) const {
    T was = x[i];
    x[i] = y[i];
    y[i] = was;
  }
};
template <class T>
int swap(context* c, int n, T* x, int incx, T* y, int incy) {
  if (c == nullptr) return no_handle;
  if (n <= 0) return success;
  if (x == nullptr || y == nullptr) return no_pointer;
  return for_each(c, n, swapping<T>{vector(x, n, incx), vector(y, n, incy)});
}
template <class T, class S>
struct scaling {
  scalar<S> alpha;
  vec<T> x;
  __device__ void operator()(long long i) const {
    x[i] = alpha() * x[i];
  }
};
template <class T, class S>
int scal(context* c, int n, const S* alpha, T* x, int incx) {
  if (c == nullptr) return no_handle;
  if (n <= 0 || incx <= 0) return success;
  if (alpha == nullptr) return no_pointer;
  if (known(c, alpha, 1)) return success;
  if (x == nullptr) return no_pointer;
  return for_each(c, n, scaling<T, S>{given(c, alpha), vector(x, n, incx)});
}
template <class T, class R, class S>
struct rotating {
  scalar<R> cosine;
  scalar<S> sine;
  vec<T> x, y;
  __device__ void operator()(long long i) const {
    T a = x[i], b = y[i];
    x[i] = cosine() * a + sine() * b;
    y[i] = cosine() * b - conj(sine()) * a;
  }
};
template <class T, class R, class S>
int rot(context* c, int n, T* x, int incx, T* y, int incy, const R* cosine, const S* sine) {
  if (c == nullptr) return no_handle;
  if (n <= 0) return success;
  if (x == nullptr || y == nullptr || cosine == nullptr || sine == nullptr) return no_pointer;
  return for_each(c, n, rotating<T, R, S>{given(c, cosine), given(c, sine), vector(x, n, incx), vector(y, n, incy)});
}
template <class T>
__GPULAB_BLAS_FUNCTION__ void make_rotation(T* a, T* b, T* c, T* s) {
  T x = *a, y = *b, scale = fabs(x) + fabs(y);
  if (scale == 0) {
    *c = 1;
    *s = *a = *b = 0;
    return;
  }
  T r = scale * sqrt((x / scale) * (x / scale) + (y / scale) * (y / scale));
  if ((fabs(x) > fabs(y) ? x : y) < 0) r = -r;
  *c = x / r;
  *s = y / r;
  *b = fabs(x) > fabs(y) ? *s : *c != 0 ? 1 / *c : (T)1;
  *a = r;
}
template <class T>
__GPULAB_BLAS_FUNCTION__ void make_rotation(complex<T>* a, complex<T>* b, T* c, complex<T>* s) {
  T size = hypot(a->x, a->y);
  if (size == 0) {
    *c = 0;
    *s = {1, 0};
    *a = *b;
    return;
  }
  T all = hypot(size, hypot(b->x, b->y));
  complex<T> direction = {a->x / size, a->y / size};
  *c = size / all;
  *s = (1 / all) * (direction * conj(*b));
  *a = all * direction;
}
template <class T, class R>
__global__ void make_rotation_there(T* a, T* b, R* c, T* s) {
  make_rotation(a, b, c, s);
}
template <class T, class R>
int rotg(context* c, T* a, T* b, R* cosine, T* sine) {
  if (c == nullptr) return no_handle;
  if (a == nullptr || b == nullptr || cosine == nullptr || sine == nullptr) return no_pointer;
  if (!c->on_device) {
    make_rotation(a, b, cosine, sine);
    return success;
  }
  make_rotation_there<<<dim3(1), dim3(1), 0, c->stream>>>(a, b, cosine, sine);
  return launched();
}

// Reductions: a block makes a part of its elements; with more than one block, another launch makes one of the parts.
template <class F>
__global__ void __launch_bounds__(threads)
    reduce(long long n, F f, const typename F::part* parts, typename F::part* out, typename F::result* result) {
  __shared__ typename F::part parts_of_threads[threads];
  int t = threadIdx.x;
  typename F::part sum = F::none();
  for (long long i = blockIdx.x * (long long)threads + t; i < n; i += gridDim.x * (long long)threads) {
    sum = F::join(sum, parts != nullptr ? parts[i] : f.element(i));
  }
  parts_of_threads[t] = sum;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (t < half) parts_of_threads[t] = F::join(parts_of_threads[t], parts_of_threads[t + half]);
    __syncthreads();
  }
  if (t == 0) {
    if (gridDim.x == 1) {
      *result = F::end(parts_of_threads[0]);
    } else {
      out[blockIdx.x] = parts_of_threads[0];
    }
  }
}
template <class R>
int nothing(context* c, R* result) {
  if (!c->on_device) {
    *result = R();
    return success;
  }
  return hipMemsetAsync(result, 0, sizeof(R), c->stream) == hipSuccess ? success : failed;
}
template <class F>
int reduction(context* c, long long n, F f, typename F::result* result) {
  static_assert(sizeof(typename F::part) <= part_size, "the handle's memory has room for parts of this size");
  long long blocks = (n + 4095) / 4096;
  if (blocks > most_parts) blocks = most_parts;
  auto* parts = (typename F::part*)c->memory;
  auto* there = c->on_device ? result : (typename F::result*)((char*)c->memory + most_parts * part_size);
  reduce<<<dim3(blocks), dim3(threads), 0, c->stream>>>(n, f, nullptr, parts, there);
  if (blocks > 1) reduce<<<dim3(1), dim3(threads), 0, c->stream>>>(blocks, f, parts, nullptr, there);
  if (launched() != success) return failed;
  if (c->on_device) return success;
  if (hipMemcpyAsync(result, there, sizeof(*result), hipMemcpyDeviceToHost, c->stream) != hipSuccess) return failed;
  return hipStreamSynchronize(c->stream) == hipSuccess ? success : failed;
}

template <class T, bool conjugated>
struct products {
  using part = T;
  using result = T;
  vec<const T> x, y;
  static __device__ T none() { return T(); }
  static __device__ T join(T a, T b) { return a + b; }
  static __device__ T end(T a) { return a; }
  __device__ T element(long long i) const { return conj_if(conjugated, x[i]) * y[i]; }
};
template <class T, bool conjugated>
int dot(context* c, int n, const T* x, int incx, const T* y, int incy, T* result) {
  if (c == nullptr) return no_handle;
  if (result == nullptr) return no_pointer;
  if (n <= 0) return nothing(c, result);
  if (x == nullptr || y == nullptr) return no_pointer;
  return reduction(c, n, products<T, conjugated>{vector(x, n, incx), vector(y, n, incy)}, result);
}
template <class T>
struct sizes {
  using part = real<T>;
  using result = real<T>;
  vec<const T> x;
  static __device__ part none() { return 0; }
  static __device__ part join(part a, part b) { return a + b; }
  static __device__ part end(part a) { return a; }
  __device__ part element(long long i) const { return sum_of_parts(x[i]); }
};
template <template <class> class Length, class T>
int length(context* c, int n, const T* x, int incx, real<T>* result) {
  if (c == nullptr) return no_handle;
  if (result == nullptr) return no_pointer;
  if (n <= 0 || incx <= 0) return nothing(c, result);
  if (x == nullptr) return no_pointer;
  return reduction(c, n, Length<T>{vector(x, n, incx)}, result);
}
template <class T>
int asum(context* c, int n, const T* x, int incx, real<T>* result) {
  return length<sizes>(c, n, x, incx, result);
}
struct squares {  // scale^2 * sum, so that no square is out of range
  double scale, sum;
};
template <class T>
struct norms {
  using part = squares;
  using result = real<T>;
  vec<const T> x;
  static __device__ part none() { return {0, 0}; }
  static __device__ part join(part a, part b) {
    if (a.sum == 0) return b;
    if (b.sum == 0) return a;
    if (a.scale == b.scale) return {a.scale, a.sum + b.sum};
    if (b.scale > a.scale) {
      double ratio = a.scale / b.scale;
      return {b.scale, b.sum + a.sum * (ratio * ratio)};
    }
    double ratio = b.scale / a.scale;
    return {a.scale, a.sum + b.sum * (ratio * ratio)};
  }
  static __device__ result end(part a) { return a.sum == 0 ? 0 : (result)(a.scale * sqrt(a.sum)); }
  static __device__ part of(float a) { return {1, (double)a * a}; }
  static __device__ part of(double a) { return a == 0 ? none() : part{fabs(a), a == a ? 1 : a}; }
  template <class R>
  static __device__ part of(complex<R> a) {
    return join(of(a.x), of(a.y));
  }
  __device__ part element(long long i) const { return of(x[i]); }
};
template <class T>
int nrm2(context* c, int n, const T* x, int incx, real<T>* result) {
  return length<norms>(c, n, x, incx, result);
}
template <class R>
struct position {
  R size;
  int index;  // 0: of none
};
template <class T, bool largest>
struct extremes {
  using part = position<real<T>>;
  using result = int;
  vec<const T> x;
  static __device__ part none() { return {0, 0}; }
  static __device__ part join(part a, part b) {  // of equal ones the first
    if (a.index == 0) return b;
    if (b.index == 0) return a;
    bool second = a.size == b.size ? b.index < a.index : largest ? b.size > a.size : b.size < a.size;
    return second ? b : a;
  }
  static __device__ int end(part a) { return a.index; }
  __device__ part element(long long i) const { return {sum_of_parts(x[i]), (int)i + 1}; }
};
template <class T, bool largest>
int extremum(context* c, int n, const T* x, int incx, int* result) {
  if (c == nullptr) return no_handle;
  if (result == nullptr) return no_pointer;
  if (n <= 0 || incx <= 0) return nothing(c, result);
  if (x == nullptr) return no_pointer;
  return reduction(c, n, extremes<T, largest>{vector(x, n, incx)}, result);
}

// ---- level 2
// y = alpha * op(A) * x + beta * y. A block has some rows and divides each of them among its threads.
template <class T, int what>
__global__ void __launch_bounds__(threads)
    matrix_times_vector(int m, int n, int rows, scalar<T> alpha, view<T, what> a, batch<const T> x, long long incx,
                        scalar<T> beta, batch<T> y, long long incy) {
  __shared__ T parts[threads];
  int t = threadIdx.x, own = t % rows, share = t / rows, shares = threads / rows;
  long long row = blockIdx.x * (long long)rows + own;
  T factor = alpha(), sum = T();
  if (row < m && !(factor == T())) {
    const T* p = a.memory[blockIdx.z];
    vec<const T> q = vector(x[blockIdx.z], n, incx);
    for (long long j = share; j < n; j += shares) sum = sum + a.at(p, row, j) * q[j];
  }
  parts[t] = sum;
  __syncthreads();
  for (int half = shares / 2; half > 0; half /= 2) {
    if (share < half) parts[t] = parts[t] + parts[t + half * rows];
    __syncthreads();
  }
  if (share == 0 && row < m) {
    vec<T> to = vector(y[blockIdx.z], m, incy);
    T product = factor * parts[t], other = beta();
    to[row] = other == T() ? product : product + other * to[row];
  }
}
template <class T, int what>
int times_vector(context* c, int m, int n, scalar<T> alpha, view<T, what> a, batch<const T> x, int incx, scalar<T> beta,
                 batch<T> y, int incy, int count = 1) {
  int rows = 1;
  while (rows < 64 && rows < m) rows *= 2;
  auto matrices = a.memory;
  for (int first = 0; first < count; first += most_blocks) {
    int some = count - first < most_blocks ? count - first : most_blocks;
    a.memory = later(matrices, first);
    matrix_times_vector<<<dim3((m + rows - 1) / rows, 1, some), dim3(threads), 0, c->stream>>>(
        m, n, rows, alpha, a, later(x, first), incx, beta, later(y, first), incy);
    if (launched() != success) return failed;
  }
  return success;
}
template <class T>
bool missing(batch<T> a) {
  return a.p == nullptr && a.list == nullptr;
}
template <class T>
int gemv(context* c, int op, int m, int n, const T* alpha, batch<const T> a, int lda, batch<const T> x, int incx,
         const T* beta, batch<T> y, int incy, int count = 1) {
  if (c == nullptr) return no_handle;
  if (!operation(op)) return wrong_enum;
  if (m < 0 || n < 0 || lda < 1 || lda < m || incx == 0 || incy == 0 || count < 0) return wrong_size;
  if (m == 0 || n == 0 || count == 0) return success;
  if (alpha == nullptr || beta == nullptr || missing(y)) return no_pointer;
  if ((missing(a) || missing(x)) && !known(c, alpha, 0)) return no_pointer;
  if (known(c, alpha, 0) && known(c, beta, 1)) return success;
  if (op != as_it_is) {
    int rows = m;
    m = n;
    n = rows;
  }
  return times_vector(c, m, n, given(c, alpha), look(a, lda, op), x, incx, given(c, beta), y, incy, count);
}
template <int what, class T>
int symv(context* c, int fill, int n, const T* alpha, const T* a, int lda, const T* x, int incx, const T* beta, T* y,
         int incy) {
  if (c == nullptr) return no_handle;
  if (!triangle(fill)) return wrong_enum;
  if (n < 0 || lda < 1 || lda < n || incx == 0 || incy == 0) return wrong_size;
  if (n == 0) return success;
  if (alpha == nullptr || beta == nullptr || y == nullptr) return no_pointer;
  if ((a == nullptr || x == nullptr) && !known(c, alpha, 0)) return no_pointer;
  return times_vector(c, n, n, given(c, alpha), look<what>(one(a), lda, as_it_is, fill), one(x), incx, given(c, beta),
                      one(y), incy);
}

// A = A + alpha * x * y^T (y^H), of all of A or of a triangle.
template <class T, class S>
struct outer_product {
  scalar<S> alpha;
  vec<const T> x, y;
  bool conjugated;
  int fill, m;
  T* a;
  long long lda;
  __device__ void operator()(long long place) const {
    long long i = place % m, j = place / m;
    S factor = alpha();
    if (factor == S() || (fill == upper && i > j) || (fill == lower && i < j)) return;
    T* to = a + i + j * lda;
    T sum = *to + factor * (x[i] * conj_if(conjugated, y[j]));
    *to = fill != whole && conjugated && i == j ? real_only(sum) : sum;
  }
};
template <class T, class S>
int ger(context* c, bool conjugated, int m, int n, const S* alpha, const T* x, int incx, const T* y, int incy, T* a,
        int lda, int fill = whole) {
  if (c == nullptr) return no_handle;
  if (fill != whole && !triangle(fill)) return wrong_enum;
  if (m < 0 || n < 0 || incx == 0 || incy == 0 || lda < 1 || lda < m) return wrong_size;
  if (m == 0 || n == 0) return success;
  if (alpha == nullptr) return no_pointer;
  if (known(c, alpha, 0)) return success;
  if (x == nullptr || y == nullptr || a == nullptr) return no_pointer;
  return for_each(c, (long long)m * n, outer_product<T, S>{given(c, alpha), vector(x, m, incx), vector(y, n, incy),
                                                           conjugated, fill, m, a, lda});
}
template <class T, class S>
int syr(context* c, bool conjugated, int fill, int n, const S* alpha, const T* x, int incx, T* a, int lda) {
  if (c != nullptr && !triangle(fill)) return wrong_enum;
  return ger(c, conjugated, n, n, alpha, x, incx, x, incx, a, lda, fill);
}

// ---- level 3
// D = alpha * op(A) * op(B) + beta * C, of all of D or of a triangle. A wave has rows of D and a few columns; the
// numbers of B are the same for all lanes.
template <class N>
constexpr int columns_of = sizeof(N) > 8 ? 4 : sizeof(N) > 4 ? 8 : 16;
template <class N, class I, class O, class S, class R, int left_one, int right_one>
__global__ void __launch_bounds__(64)
    matrix_product(int m, int n, int k, scalar<S> alpha, view<I, left_one> a, view<I, right_one> b, scalar<R> beta,
                   batch<const O> c, long long ldc, batch<O> d, long long ldd, int fill, bool real_diagonal) {
  constexpr int columns = columns_of<N>;
  int row = blockIdx.x * 64 + threadIdx.x, column = blockIdx.y * columns, number = blockIdx.z;
  if (row >= m || (fill == upper && blockIdx.x * 64 >= (unsigned)(column + columns)) ||
      (fill == lower && blockIdx.x * 64 + 63 < (unsigned)column)) {
    return;
  }
  N factor = to<N>(alpha()), other = to<N>(beta()), sum[columns];
  long long of[columns];
#pragma unroll
  for (int j = 0; j < columns; j++) {
    sum[j] = N();
    of[j] = column + j < n ? column + j : n - 1;
  }
  if (!(factor == N())) {
    const I *from = a.memory[number], *with = b.memory[number];
#pragma unroll 2
    for (int q = 0; q < k; q++) {
      N x = to<N>(a.at(from, row, q));
#pragma unroll
      for (int j = 0; j < columns; j++) sum[j] = sum[j] + x * to<N>(b.at(with, q, of[j]));
    }
  }
  const O* old = other == N() ? nullptr : c[number];
  O* out = d[number];
#pragma unroll
  for (int j = 0; j < columns; j++) {
    int at = column + j;
    if (at < n && (fill == whole || (fill == upper ? row <= at : row >= at))) {
      N result = factor * sum[j];
      if (old != nullptr) result = result + other * to<N>(old[row + at * ldc]);
      if (real_diagonal && row == at) result = real_only(result);
      out[row + at * ldd] = narrowed<O, N>::of(result);
    }
  }
}
template <class N, class I, class O, class S, class R, int left_one, int right_one>
int product(context* c, int m, int n, int k, scalar<S> alpha, view<I, left_one> a, view<I, right_one> b, scalar<R> beta,
            batch<const O> from, int ldc, batch<O> to, int ldd, int count = 1, int fill = whole,
            bool real_diagonal = false) {
  auto matrices = a.memory, others = b.memory;
  for (int first = 0; first < count; first += most_blocks) {
    int some = count - first < most_blocks ? count - first : most_blocks;
    a.memory = later(matrices, first);
    b.memory = later(others, first);
    matrix_product<N><<<dim3((m + 63) / 64, (n + columns_of<N> - 1) / columns_of<N>, some), dim3(64), 0, c->stream>>>(
        m, n, k, alpha, a, b, beta, later(from, first), ldc, later(to, first), ldd, fill, real_diagonal);
    if (launched() != success) return failed;
  }
  return success;
}
template <class T>
batch<const T> reading(batch<T> a) {
  return {a.p, a.list, a.stride};
}
inline int check_gemm(context* c, int op_a, int op_b, int m, int n, int k, int lda, int ldb, int ldc, int count) {
  if (c == nullptr) return no_handle;
  if (!operation(op_a) || !operation(op_b)) return wrong_enum;
  if (m < 0 || n < 0 || k < 0 || count < 0) return wrong_size;
  int rows_a = op_a == as_it_is ? m : k, rows_b = op_b == as_it_is ? k : n;
  if (lda < 1 || lda < rows_a || ldb < 1 || ldb < rows_b || ldc < 1 || ldc < m) return wrong_size;
  return success;
}
template <class N, class I, class O, class S>
int gemm(context* c, int op_a, int op_b, int m, int n, int k, const S* alpha, batch<const I> a, int lda,
         batch<const I> b, int ldb, const S* beta, batch<const O> from, int ldc, batch<O> to, int ldd, int count = 1) {
  int status = check_gemm(c, op_a, op_b, m, n, k, lda, ldb, ldc, count);
  if (status == success && (ldd < 1 || ldd < m)) status = wrong_size;
  if (status != success || m == 0 || n == 0 || count == 0) return status;
  if (alpha == nullptr || beta == nullptr || missing(to)) return no_pointer;
  if (c->on_device || k == 0) {
    if (k > 0 && (missing(a) || missing(b))) return no_pointer;
  } else if ((missing(a) || missing(b)) && !is_zero(*alpha)) {
    return no_pointer;
  }
  if (missing(from) && (c->on_device || !is_zero(*beta))) return no_pointer;
  return product<N>(c, m, n, k, given(c, alpha), look(a, lda, op_a), look(b, ldb, op_b), given(c, beta), from, ldc, to,
                    ldd, count);
}
template <class T>
int gemm(context* c, int op_a, int op_b, int m, int n, int k, const T* alpha, batch<const T> a, int lda,
         batch<const T> b, int ldb, const T* beta, batch<T> to, int ldc, int count = 1) {
  using N = typename computed<T>::type;
  return gemm<N>(c, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, reading(to), ldc, to, ldc, count);
}

// C = alpha * A * A^T (or of A and another matrix) + beta * C, of a triangle; for Hermitian ones A^H. With `both`, the
// product of the matrices in the other order comes to it.
template <class T, class S, class R>
int syrk(context* c, bool hermitian, int fill, int op, int n, int k, const S* alpha, const T* a, int lda, const T* b,
         int ldb, const R* beta, T* to, int ldc, bool both = false) {
  if (c == nullptr) return no_handle;
  int turn = hermitian ? conjugate : transpose;
  if (!triangle(fill)) return wrong_enum;
  if (!real_part<T>::is_complex && op == conjugate) op = transpose;
  if (!hermitian ? op != as_it_is && op != transpose : op != as_it_is && op != conjugate) return wrong_enum;
  int rows = op == as_it_is ? n : k;
  if (n < 0 || k < 0 || lda < 1 || lda < rows || ldb < 1 || ldb < rows || ldc < 1 || ldc < n) return wrong_size;
  if (n == 0) return success;
  if (alpha == nullptr || beta == nullptr || to == nullptr) return no_pointer;
  if ((a == nullptr || b == nullptr) && k > 0 && !known(c, alpha, 0)) return no_pointer;
  int first = op == as_it_is ? as_it_is : turn, second = op == as_it_is ? turn : as_it_is;
  auto out = one(to);
  int status = product<T>(c, n, n, k, given(c, alpha), look(one(a), lda, first), look(one(b), ldb, second),
                          given(c, beta), reading(out), ldc, out, ldc, 1, fill, hermitian);
  if (status != success || !both) return status;
  return product<T>(c, n, n, k, given(c, alpha), look(one(b), ldb, first), look(one(a), lda, second), literal<R>(1),
                    reading(out), ldc, out, ldc, 1, fill, hermitian);
}
// C = alpha * A * B + beta * C, or of B * A, with A of which a triangle is stored.
template <int what, class T>
int symm(context* c, int side, int fill, int m, int n, const T* alpha, const T* a, int lda, const T* b, int ldb,
         const T* beta, T* to, int ldc) {
  if (c == nullptr) return no_handle;
  if ((side != left && side != right) || !triangle(fill)) return wrong_enum;
  int size = side == left ? m : n;
  if (m < 0 || n < 0 || lda < 1 || lda < size || ldb < 1 || ldb < m || ldc < 1 || ldc < m) return wrong_size;
  if (m == 0 || n == 0) return success;
  if (alpha == nullptr || beta == nullptr || to == nullptr) return no_pointer;
  if ((a == nullptr || b == nullptr) && !known(c, alpha, 0)) return no_pointer;
  auto half = look<what>(one(a), lda, as_it_is, fill);
  auto all = look(one(b), ldb);
  auto out = one(to);
  if (side == left) {
    return product<T>(c, m, n, m, given(c, alpha), half, all, given(c, beta), reading(out), ldc, out, ldc);
  }
  return product<T>(c, m, n, n, given(c, alpha), all, half, given(c, beta), reading(out), ldc, out, ldc);
}

// Memory for the time of a call: given back in the order of the stream.
template <class T>
struct temporary {
  T* p = nullptr;
  hipStream_t stream;
  temporary(hipStream_t stream, size_t n) : stream(stream) {
    if (hipMallocAsync((void**)&p, n * sizeof(T), stream) != hipSuccess) p = nullptr;
  }
  ~temporary() {
    if (p != nullptr) (void)hipFreeAsync(p, stream);
  }
};
template <class T>
struct copying_matrix {
  const T* a;
  long long lda, m;
  T* to;
  __device__ void operator()(long long i) const { to[i] = a[i % m + i / m * lda]; }
};
template <class T>
int trmm(context* c, int side, int fill, int op, int diagonal, int m, int n, const T* alpha, const T* a, int lda,
         const T* b, int ldb, T* to, int ldc) {
  if (c == nullptr) return no_handle;
  if ((side != left && side != right) || !triangle(fill) || !operation(op) || !known_diagonal(diagonal)) {
    return wrong_enum;
  }
  int size = side == left ? m : n;
  if (m < 0 || n < 0 || lda < 1 || lda < size || ldb < 1 || ldb < m || ldc < 1 || ldc < m) return wrong_size;
  if (m == 0 || n == 0) return success;
  if (alpha == nullptr || to == nullptr) return no_pointer;
  if ((a == nullptr || b == nullptr) && !known(c, alpha, 0)) return no_pointer;
  bool in_place = b == to;
  temporary<T> copied(c->stream, in_place ? (size_t)m * n : 1);
  if (copied.p == nullptr) return no_memory;
  if (in_place) {
    int status = for_each(c, (long long)m * n, copying_matrix<T>{b, ldb, m, copied.p});
    if (status != success) return status;
    b = copied.p;
    ldb = m;
  }
  auto half = look<triangular>(one(a), lda, op, fill, diagonal);
  auto all = look(one(b), ldb);
  auto out = one(to);
  if (side == left) {
    return product<T>(c, m, n, m, given(c, alpha), half, all, literal<T>(0), reading(out), ldc, out, ldc);
  }
  return product<T>(c, m, n, n, given(c, alpha), all, half, literal<T>(0), reading(out), ldc, out, ldc);
}
template <class T>
int trmv(context* c, int fill, int op, int diagonal, int n, const T* a, int lda, T* x, int incx) {
  if (c == nullptr) return no_handle;
  if (!triangle(fill) || !operation(op) || !known_diagonal(diagonal)) return wrong_enum;
  if (n < 0 || lda < 1 || lda < n || incx == 0) return wrong_size;
  if (n == 0) return success;
  if (a == nullptr || x == nullptr) return no_pointer;
  temporary<T> copied(c->stream, n);
  if (copied.p == nullptr) return no_memory;
  int status = copy(c, n, (const T*)x, incx, copied.p, 1);
  if (status != success) return status;
  return times_vector(c, n, n, literal<T>(1), look<triangular>(one(a), lda, op, fill, diagonal),
                      one((const T*)copied.p), 1, literal<T>(0), one(x), incx);
}

// A block solves A * x = alpha * b for one b, by substitution, in place.
template <class T>
__global__ void __launch_bounds__(threads)
    substitute(int n, scalar<T> alpha, view<T> a, batch<T> b, long long down, long long across) {
  vec<T> x{b[blockIdx.z] + blockIdx.x * across, down};
  T factor = alpha();
  bool zero = factor == T();
  for (int i = threadIdx.x; i < n; i += threads) x[i] = zero ? T() : factor * x[i];
  if (zero) return;
  const T* p = a.memory[blockIdx.z];
  T before = T();
  int last = 0;
  for (int step = 0; step < n; step++) {
    int k = a.low ? step : n - 1 - step;
    __syncthreads();
    if (step > 0 && threadIdx.x == 0) x[last] = before;
    T found = x[k];
    if (!a.unit) found = found / a.at(p, k, k);
    if (a.low) {
      for (int i = k + 1 + threadIdx.x; i < n; i += threads) x[i] = x[i] - found * a.at(p, i, k);
    } else {
      for (int i = threadIdx.x; i < k; i += threads) x[i] = x[i] - found * a.at(p, i, k);
    }
    before = found;
    last = k;
  }
  __syncthreads();
  if (threadIdx.x == 0) x[last] = before;
}
template <class T>
int trsm(context* c, int side, int fill, int op, int diagonal, int m, int n, const T* alpha, batch<const T> a, int lda,
         batch<T> b, int ldb, int count = 1) {
  if (c == nullptr) return no_handle;
  if ((side != left && side != right) || !triangle(fill) || !operation(op) || !known_diagonal(diagonal)) {
    return wrong_enum;
  }
  int size = side == left ? m : n, others = side == left ? n : m;
  if (m < 0 || n < 0 || count < 0 || lda < 1 || lda < size || ldb < 1 || ldb < m) return wrong_size;
  if (m == 0 || n == 0 || count == 0) return success;
  if (alpha == nullptr || missing(b) || (missing(a) && !known(c, alpha, 0))) return no_pointer;
  // From the right it is A^T * X^T = B^T.
  auto half = look(a, lda, (op != as_it_is) == (side == left) ? transpose : as_it_is, fill, diagonal);
  half.conjugated = op == conjugate;
  long long down = side == left ? 1 : ldb, across = side == left ? ldb : 1;
  for (int first = 0; first < count; first += most_blocks) {
    int some = count - first < most_blocks ? count - first : most_blocks;
    half.memory = later(a, first);
    substitute<<<dim3(others, 1, some), dim3(threads), 0, c->stream>>>(size, given(c, alpha), half, later(b, first),
                                                                       down, across);
    if (launched() != success) return failed;
  }
  return success;
}
template <class T>
int trsv(context* c, int fill, int op, int diagonal, int n, const T* a, int lda, T* x, int incx) {
  if (c == nullptr) return no_handle;
  if (!triangle(fill) || !operation(op) || !known_diagonal(diagonal)) return wrong_enum;
  if (n < 0 || lda < 1 || lda < n || incx == 0) return wrong_size;
  if (n == 0) return success;
  if (a == nullptr || x == nullptr) return no_pointer;
  substitute<<<dim3(1), dim3(threads), 0, c->stream>>>(n, literal<T>(1), look(one(a), lda, op, fill, diagonal),
                                                       one(vector(x, n, incx).p), incx, 0);
  return launched();
}

template <class T>
struct adding_matrices {
  scalar<T> alpha, beta;
  view<T> a, b;
  long long m, ldc;
  T* c;
  __device__ void operator()(long long place) const {
    long long i = place % m, j = place / m;
    T first = alpha(), second = beta(), sum = T();
    if (!(first == T())) sum = sum + first * a.at(a.memory[0], i, j);
    if (!(second == T())) sum = sum + second * b.at(b.memory[0], i, j);
    c[i + j * ldc] = sum;
  }
};
template <class T>
int geam(context* c, int op_a, int op_b, int m, int n, const T* alpha, const T* a, int lda, const T* beta, const T* b,
         int ldb, T* to, int ldc) {
  if (c == nullptr) return no_handle;
  if (!operation(op_a) || !operation(op_b)) return wrong_enum;
  if (m < 0 || n < 0 || lda < 1 || lda < (op_a == as_it_is ? m : n) || ldb < 1 || ldb < (op_b == as_it_is ? m : n) ||
      ldc < 1 || ldc < m) {
    return wrong_size;
  }
  if (m == 0 || n == 0) return success;
  if (alpha == nullptr || beta == nullptr || to == nullptr) return no_pointer;
  if ((a == nullptr && !known(c, alpha, 0)) || (b == nullptr && !known(c, beta, 0))) return no_pointer;
  // In place is what each element alone allows.
  if ((to == a && (op_a != as_it_is || lda != ldc)) || (to == b && (op_b != as_it_is || ldb != ldc))) {
    return wrong_size;
  }
  return for_each(c, (long long)m * n,
                  adding_matrices<T>{given(c, alpha), given(c, beta), look(one(a), lda, op_a),
                                     look(one(b), ldb, op_b), m, ldc, to});
}
template <class T>
struct scaling_matrix {
  const T* a;
  vec<const T> x;
  bool rows;
  long long m, lda, ldc;
  T* c;
  __device__ void operator()(long long place) const {
    long long i = place % m, j = place / m;
    c[i + j * ldc] = a[i + j * lda] * x[rows ? i : j];
  }
};
template <class T>
int dgmm(context* c, int side, int m, int n, const T* a, int lda, const T* x, int incx, T* to, int ldc) {
  if (c == nullptr) return no_handle;
  if (side != left && side != right) return wrong_enum;
  if (m < 0 || n < 0 || lda < 1 || lda < m || ldc < 1 || ldc < m) return wrong_size;
  if (m == 0 || n == 0) return success;
  if (a == nullptr || x == nullptr || to == nullptr) return no_pointer;
  return for_each(c, (long long)m * n, scaling_matrix<T>{a, vector(x, side == left ? m : n, incx), side == left, m, lda,
                                                         ldc, to});
}

// Products of types that are known at run time. `compute` is what is computed in, and the type of alpha and beta.
struct array {
  const void* p;
  hipDataType type;
  int ld;
  long long stride;
};
template <class N, class I, class O, class S>
int gemm_of(context* c, int op_a, int op_b, int m, int n, int k, const void* alpha, array a, array b, const void* beta,
            array from, array to, bool lists, int count) {
  auto in = [=](array x) {
    return lists ? batch<const I>{nullptr, (const I* const*)x.p, 0} : batch<const I>{(const I*)x.p, nullptr, x.stride};
  };
  auto out = lists ? batch<O>{nullptr, (O* const*)to.p, 0} : batch<O>{(O*)to.p, nullptr, to.stride};
  auto old = lists ? batch<const O>{nullptr, (const O* const*)from.p, 0}
                   : batch<const O>{(const O*)from.p, nullptr, from.stride};
  return gemm<N>(c, op_a, op_b, m, n, k, (const S*)alpha, in(a), a.ld, in(b), b.ld, (const S*)beta, old, from.ld, out,
                 to.ld, count);
}
template <int = 0>
int gemm_ex(context* c, int op_a, int op_b, int m, int n, int k, const void* alpha, array a, array b, const void* beta,
            array from, array to, hipDataType compute, bool lists, int count) {
#define __GPULAB_BLAS_CASE__(in, out, computed, N, I, O, S)                                                        \
  if (a.type == in && b.type == in && from.type == out && to.type == out && compute == computed) {                 \
    return gemm_of<N, I, O, S>(c, op_a, op_b, m, n, k, alpha, a, b, beta, from, to, lists, count);                 \
  }
  __GPULAB_BLAS_CASE__(HIP_R_32F, HIP_R_32F, HIP_R_32F, float, float, float, float)
  __GPULAB_BLAS_CASE__(HIP_R_64F, HIP_R_64F, HIP_R_64F, double, double, double, double)
  __GPULAB_BLAS_CASE__(HIP_R_16F, HIP_R_16F, HIP_R_16F, float, _Float16, _Float16, _Float16)
  __GPULAB_BLAS_CASE__(HIP_R_16F, HIP_R_16F, HIP_R_32F, float, _Float16, _Float16, float)
  __GPULAB_BLAS_CASE__(HIP_R_16F, HIP_R_32F, HIP_R_32F, float, _Float16, float, float)
  __GPULAB_BLAS_CASE__(HIP_R_16BF, HIP_R_16BF, HIP_R_32F, float, bfloat, bfloat, float)
  __GPULAB_BLAS_CASE__(HIP_R_16BF, HIP_R_32F, HIP_R_32F, float, bfloat, float, float)
  __GPULAB_BLAS_CASE__(HIP_R_8I, HIP_R_32I, HIP_R_32I, int, signed char, int, int)
  __GPULAB_BLAS_CASE__(HIP_C_32F, HIP_C_32F, HIP_C_32F, complex<float>, complex<float>, complex<float>, complex<float>)
  __GPULAB_BLAS_CASE__(HIP_C_64F, HIP_C_64F, HIP_C_64F, complex<double>, complex<double>, complex<double>,
                       complex<double>)
#undef __GPULAB_BLAS_CASE__
  fprintf(stderr, "gpulab: there is no product of matrices of these types here (docs/primitives.md has a list).\n");
  return c == nullptr ? no_handle : not_implemented;
}
}  // namespace __gpulab_blas

// The handle's fields, and copies between host and device, by a library's names.
#define __GPULAB_BLAS_FIELD__(Status, as, Handle, set_, get_, T, field)                                                \
  inline Status set_(Handle handle, T value) {                                                                         \
    return as(                                                                                                         \
        __gpulab_blas::set((__gpulab_blas::context*)handle, &__gpulab_blas::context::field, value));                   \
  }                                                                                                                    \
  inline Status get_(Handle handle, T* value) {                                                                        \
    return as(                                                                                                         \
        __gpulab_blas::get((__gpulab_blas::context*)handle, &__gpulab_blas::context::field, value));                   \
  }
#define __GPULAB_BLAS_COPIES__(Status, as, vector_, matrix_, kind, waits, more, stream)                                \
  inline Status vector_(int n, int size, const void* x, int incx, void* y, int incy more) {                            \
    return as(__gpulab_blas::copy_vector(n, size, x, incx, y, incy, kind, waits, stream));                             \
  }                                                                                                                    \
  inline Status matrix_(int rows, int columns, int size, const void* a, int lda, void* b, int ldb more) {              \
    return as(                                                                                                         \
        __gpulab_blas::copy_matrix(rows, columns, size, a, lda, b, ldb, kind, waits, stream));                         \
  }
#define __GPULAB_BLAS_STREAM__ , hipStream_t stream
#include "names_end.h"
#endif
