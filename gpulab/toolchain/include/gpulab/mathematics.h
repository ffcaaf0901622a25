// Mathematical functions in float and double, by HIP's names: sinf(x), and sin(x) for both types and for integers.
//
// Three kinds of bodies: what the hardware or the compiler does itself (sqrt, floor, fma, expf); calls into the
// device library (__gpulab_sin_f32: gpulab/toolchain/library, linked as bitcode where used); and the fast forms with
// two underscores (__sinf), which are the hardware's own instructions. ACCURACY.md states the errors.
#pragma once
#include "traits.h"

#define __GPULAB_LIBRARY__ extern "C" __device__ __attribute__((nothrow))
#define __GPULAB_LIBRARY_PURE__ extern "C" __device__ __attribute__((nothrow, const))

// Integer arguments take the double form, as in C++.
#define __GPULAB_INTEGER1__(R, name)                                              \
  template <typename T>                                                           \
  __GPULAB_FUNCTION__ gpulab::enable_if_t<__is_integral(T), R> name(T x) {        \
    return name((double)x);                                                       \
  }
// A whole number before an exponent or a pointer takes the double form, too.
#define __GPULAB_INTEGER2__(name, P)                                                 \
  template <typename T>                                                              \
  __GPULAB_FUNCTION__ gpulab::enable_if_t<__is_integral(T), double> name(T x, P y) { \
    return name((double)x, y);                                                       \
  }
// Mixed arguments: float only if both are, else double.
#define __GPULAB_MIXED2__(name)                                                                                     \
  template <typename A, typename B>                                                                                 \
  __GPULAB_FUNCTION__ gpulab::enable_if_t<__is_arithmetic(A) && __is_arithmetic(B), double> name(A x, B y) {        \
    return name((double)x, (double)y);                                                                              \
  }
// A whole number beside an exponent or a pointer takes the double form, too.
#define __GPULAB_INTEGER2__(name, P)                                               \
  template <typename T>                                                           \
  __GPULAB_FUNCTION__ gpulab::enable_if_t<__is_integral(T), double> name(T x, P y) { \
    return name((double)x, y);                                                    \
  }

// One argument, in the library.
#define __GPULAB_MATH1__(name)                                                 \
  __GPULAB_LIBRARY_PURE__ float __gpulab_##name##_f32(float);                  \
  __GPULAB_LIBRARY_PURE__ double __gpulab_##name##_f64(double);                \
  __GPULAB_FUNCTION__ float name##f(float x) { return __gpulab_##name##_f32(x); } \
  __GPULAB_FUNCTION__ float name(float x) { return __gpulab_##name##_f32(x); }    \
  __GPULAB_FUNCTION__ double name(double x) { return __gpulab_##name##_f64(x); }  \
  __GPULAB_INTEGER1__(double, name)
// One argument: the compiler's float, the library's double.
#define __GPULAB_MATH1_HALF__(name)                                            \
  __GPULAB_LIBRARY_PURE__ double __gpulab_##name##_f64(double);                \
  __GPULAB_FUNCTION__ float name##f(float x) { return __builtin_##name##f(x); }   \
  __GPULAB_FUNCTION__ float name(float x) { return __builtin_##name##f(x); }      \
  __GPULAB_FUNCTION__ double name(double x) { return __gpulab_##name##_f64(x); }  \
  __GPULAB_INTEGER1__(double, name)
// One argument, the compiler's own.
#define __GPULAB_BUILTIN1__(R, S, name)                                     \
  __GPULAB_FUNCTION__ R name##f(float x) { return __builtin_##name##f(x); } \
  __GPULAB_FUNCTION__ R name(float x) { return __builtin_##name##f(x); }    \
  __GPULAB_FUNCTION__ S name(double x) { return __builtin_##name(x); }      \
  __GPULAB_INTEGER1__(S, name)
// Two arguments.
#define __GPULAB_MATH2__(name)                                                                     \
  __GPULAB_LIBRARY_PURE__ float __gpulab_##name##_f32(float, float);                               \
  __GPULAB_LIBRARY_PURE__ double __gpulab_##name##_f64(double, double);                            \
  __GPULAB_FUNCTION__ float name##f(float x, float y) { return __gpulab_##name##_f32(x, y); }         \
  __GPULAB_FUNCTION__ float name(float x, float y) { return __gpulab_##name##_f32(x, y); }            \
  __GPULAB_FUNCTION__ double name(double x, double y) { return __gpulab_##name##_f64(x, y); }         \
  __GPULAB_MIXED2__(name)
#define __GPULAB_BUILTIN2__(name)                                                                  \
  __GPULAB_FUNCTION__ float name##f(float x, float y) { return __builtin_##name##f(x, y); }        \
  __GPULAB_FUNCTION__ float name(float x, float y) { return __builtin_##name##f(x, y); }           \
  __GPULAB_FUNCTION__ double name(double x, double y) { return __builtin_##name(x, y); }           \
  __GPULAB_MIXED2__(name)

__GPULAB_MATH1__(sin)
__GPULAB_MATH1__(cos)
__GPULAB_MATH1__(tan)
__GPULAB_MATH1__(sinpi)
__GPULAB_MATH1__(cospi)
__GPULAB_MATH1__(asin)
__GPULAB_MATH1__(acos)
__GPULAB_MATH1__(atan)
__GPULAB_MATH2__(atan2)
__GPULAB_MATH1__(sinh)
__GPULAB_MATH1__(cosh)
__GPULAB_MATH1__(tanh)
__GPULAB_MATH1__(asinh)
__GPULAB_MATH1__(acosh)
__GPULAB_MATH1__(atanh)
__GPULAB_MATH1_HALF__(exp)
__GPULAB_MATH1_HALF__(exp2)
__GPULAB_MATH1_HALF__(exp10)
__GPULAB_MATH1__(expm1)
__GPULAB_MATH1_HALF__(log)
__GPULAB_MATH1_HALF__(log2)
__GPULAB_MATH1_HALF__(log10)
__GPULAB_MATH1__(log1p)
__GPULAB_MATH2__(pow)
__GPULAB_MATH1__(cbrt)
__GPULAB_MATH1__(rcbrt)
__GPULAB_MATH2__(hypot)
__GPULAB_MATH2__(rhypot)
__GPULAB_MATH2__(fmod)
__GPULAB_MATH2__(remainder)
__GPULAB_MATH1__(erf)
__GPULAB_MATH1__(erfc)
__GPULAB_MATH1__(erfinv)
__GPULAB_MATH1__(erfcinv)
__GPULAB_MATH1__(erfcx)
__GPULAB_MATH1__(normcdf)
__GPULAB_MATH1__(normcdfinv)
__GPULAB_MATH1__(tgamma)
__GPULAB_MATH1__(lgamma)
__GPULAB_MATH1__(j0)
__GPULAB_MATH1__(j1)
__GPULAB_MATH1__(y0)
__GPULAB_MATH1__(y1)
__GPULAB_MATH1__(cyl_bessel_i0)
__GPULAB_MATH1__(cyl_bessel_i1)

__GPULAB_BUILTIN1__(float, double, fabs)
__GPULAB_BUILTIN1__(float, double, floor)
__GPULAB_BUILTIN1__(float, double, ceil)
__GPULAB_BUILTIN1__(float, double, trunc)
__GPULAB_BUILTIN1__(float, double, round)
__GPULAB_BUILTIN1__(float, double, rint)
__GPULAB_BUILTIN1__(float, double, nearbyint)
__GPULAB_BUILTIN1__(float, double, sqrt)
__GPULAB_BUILTIN2__(fmin)
__GPULAB_BUILTIN2__(fmax)
__GPULAB_BUILTIN2__(copysign)

// Rounding to an integer type.
#define __GPULAB_ROUND__(name, R, base)                                           \
  __GPULAB_FUNCTION__ R name##f(float x) { return (R)__builtin_##base##f(x); }    \
  __GPULAB_FUNCTION__ R name(float x) { return (R)__builtin_##base##f(x); }       \
  __GPULAB_FUNCTION__ R name(double x) { return (R)__builtin_##base(x); }         \
  __GPULAB_INTEGER1__(R, name)
__GPULAB_ROUND__(lround, long int, round)
__GPULAB_ROUND__(llround, long long int, round)
__GPULAB_ROUND__(lrint, long int, rint)
__GPULAB_ROUND__(llrint, long long int, rint)

// Kinds of numbers.
#define __GPULAB_CLASSIFY__(name)                                                 \
  __GPULAB_FUNCTION__ bool name(float x) { return __builtin_##name(x); }          \
  __GPULAB_FUNCTION__ bool name(double x) { return __builtin_##name(x); }         \
  __GPULAB_INTEGER1__(bool, name)
__GPULAB_CLASSIFY__(isnan)
__GPULAB_CLASSIFY__(isinf)
__GPULAB_CLASSIFY__(isfinite)
__GPULAB_CLASSIFY__(isnormal)
__GPULAB_CLASSIFY__(signbit)
// Comparisons that raise nothing where a number is NaN; the classes have the C library's numbers.
#define __GPULAB_COMPARE2__(name)                                                                                   \
  template <typename A, typename B>                                                                                 \
  __GPULAB_FUNCTION__ gpulab::enable_if_t<__is_arithmetic(A) && __is_arithmetic(B), bool> name(A x, B y) {          \
    return __builtin_##name((double)x, (double)y);                                                                  \
  }
__GPULAB_COMPARE2__(isgreater)
__GPULAB_COMPARE2__(isgreaterequal)
__GPULAB_COMPARE2__(isless)
__GPULAB_COMPARE2__(islessequal)
__GPULAB_COMPARE2__(islessgreater)
__GPULAB_COMPARE2__(isunordered)
__GPULAB_FUNCTION__ int fpclassify(float x) { return __builtin_fpclassify(0, 1, 4, 3, 2, x); }
__GPULAB_FUNCTION__ int fpclassify(double x) { return __builtin_fpclassify(0, 1, 4, 3, 2, x); }
__GPULAB_INTEGER1__(int, fpclassify)
__GPULAB_FUNCTION__ bool __isnanf(float x) { return __builtin_isnan(x); }
__GPULAB_FUNCTION__ bool __isinff(float x) { return __builtin_isinf(x); }
__GPULAB_FUNCTION__ bool __finitef(float x) { return __builtin_isfinite(x); }
__GPULAB_FUNCTION__ bool __signbitf(float x) { return __builtin_signbit(x); }
__GPULAB_FUNCTION__ bool __isnan(double x) { return __builtin_isnan(x); }
__GPULAB_FUNCTION__ bool __isinf(double x) { return __builtin_isinf(x); }
__GPULAB_FUNCTION__ bool __finite(double x) { return __builtin_isfinite(x); }
__GPULAB_FUNCTION__ bool __signbit(double x) { return __builtin_signbit(x); }
__GPULAB_FUNCTION__ float nanf(const char* tag) { (void)tag; return __builtin_nanf(""); }
__GPULAB_FUNCTION__ double nan(const char* tag) { (void)tag; return __builtin_nan(""); }

__GPULAB_FUNCTION__ float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
__GPULAB_FUNCTION__ float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
__GPULAB_FUNCTION__ double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
template <typename A, typename B, typename C>
__GPULAB_FUNCTION__ gpulab::enable_if_t<__is_arithmetic(A) && __is_arithmetic(B) && __is_arithmetic(C), double> fma(
    A x, B y, C z) {
  return __builtin_fma((double)x, (double)y, (double)z);
}
__GPULAB_FUNCTION__ float fdimf(float x, float y) { return x > y ? x - y : x == x && y == y ? 0.0f : x + y; }
__GPULAB_FUNCTION__ float fdim(float x, float y) { return fdimf(x, y); }
__GPULAB_FUNCTION__ double fdim(double x, double y) { return x > y ? x - y : x == x && y == y ? 0.0 : x + y; }
__GPULAB_MIXED2__(fdim)
__GPULAB_FUNCTION__ float fdividef(float x, float y) { return x / y; }

// Reciprocal square root: the hardware's approximation where it is good to one ulp.
__GPULAB_FUNCTION__ float rsqrtf(float x) {
  bool tiny = x < 0x1p-100f;  // keep denormal arguments away from the instruction
  float y = __builtin_amdgcn_rsqf(tiny ? x * 0x1p+60f : x);
  return tiny ? y * 0x1p+30f : y;
}
__GPULAB_FUNCTION__ float rsqrt(float x) { return rsqrtf(x); }
__GPULAB_FUNCTION__ double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
__GPULAB_INTEGER1__(double, rsqrt)

// Exponents and mantissas.
__GPULAB_FUNCTION__ float ldexpf(float x, int e) { return __builtin_ldexpf(x, e); }
__GPULAB_FUNCTION__ float ldexp(float x, int e) { return __builtin_ldexpf(x, e); }
__GPULAB_FUNCTION__ double ldexp(double x, int e) { return __builtin_ldexp(x, e); }
__GPULAB_FUNCTION__ float scalbnf(float x, int e) { return __builtin_ldexpf(x, e); }
__GPULAB_FUNCTION__ float scalbn(float x, int e) { return __builtin_ldexpf(x, e); }
__GPULAB_FUNCTION__ double scalbn(double x, int e) { return __builtin_ldexp(x, e); }
__GPULAB_FUNCTION__ int __gpulab_clamp_exponent(long int e) { return (int)(e > 9999 ? 9999 : e < -9999 ? -9999 : e); }
__GPULAB_FUNCTION__ float scalblnf(float x, long int e) { return __builtin_ldexpf(x, __gpulab_clamp_exponent(e)); }
__GPULAB_FUNCTION__ float scalbln(float x, long int e) { return __builtin_ldexpf(x, __gpulab_clamp_exponent(e)); }
__GPULAB_FUNCTION__ double scalbln(double x, long int e) { return __builtin_ldexp(x, __gpulab_clamp_exponent(e)); }
__GPULAB_FUNCTION__ float frexpf(float x, int* e) { return __builtin_frexpf(x, e); }
__GPULAB_FUNCTION__ float frexp(float x, int* e) { return __builtin_frexpf(x, e); }
__GPULAB_FUNCTION__ double frexp(double x, int* e) { return __builtin_frexp(x, e); }
__GPULAB_INTEGER2__(ldexp, int)
__GPULAB_INTEGER2__(scalbn, int)
__GPULAB_INTEGER2__(scalbln, long int)
__GPULAB_INTEGER2__(frexp, int*)
__GPULAB_FUNCTION__ int ilogbf(float x) {
  int e;
  __builtin_frexpf(x, &e);
  return x == 0 ? -2147483647 - 1 : x != x ? -2147483647 - 1 : __builtin_isinf(x) ? 2147483647 : e - 1;
}
__GPULAB_FUNCTION__ int ilogb(float x) { return ilogbf(x); }
__GPULAB_FUNCTION__ int ilogb(double x) {
  int e;
  __builtin_frexp(x, &e);
  return x == 0 ? -2147483647 - 1 : x != x ? -2147483647 - 1 : __builtin_isinf(x) ? 2147483647 : e - 1;
}
__GPULAB_INTEGER1__(int, ilogb)
__GPULAB_FUNCTION__ float logbf(float x) {
  return x == 0 ? -__builtin_inff() : __builtin_isfinite(x) ? (float)ilogbf(x) : x * x;
}
__GPULAB_FUNCTION__ float logb(float x) { return logbf(x); }
__GPULAB_FUNCTION__ double logb(double x) {
  return x == 0 ? -__builtin_inf() : __builtin_isfinite(x) ? (double)ilogb(x) : x * x;
}
__GPULAB_INTEGER1__(double, logb)
__GPULAB_FUNCTION__ float modff(float x, float* whole) {
#pragma clang fp contract(off)  // x may be a product: what is subtracted is the rounded one
  float w = __builtin_truncf(x);
  *whole = w;
  return __builtin_copysignf(__builtin_isinf(x) ? 0.0f : x - w, x);
}
__GPULAB_FUNCTION__ float modf(float x, float* whole) { return modff(x, whole); }
__GPULAB_FUNCTION__ double modf(double x, double* whole) {
#pragma clang fp contract(off)  // x may be a product: what is subtracted is the rounded one
  double w = __builtin_trunc(x);
  *whole = w;
  return __builtin_copysign(__builtin_isinf(x) ? 0.0 : x - w, x);
}
__GPULAB_LIBRARY_PURE__ float __gpulab_nextafter_f32(float, float);
__GPULAB_LIBRARY_PURE__ double __gpulab_nextafter_f64(double, double);
__GPULAB_FUNCTION__ float nextafterf(float x, float y) { return __gpulab_nextafter_f32(x, y); }
__GPULAB_FUNCTION__ float nextafter(float x, float y) { return __gpulab_nextafter_f32(x, y); }
__GPULAB_FUNCTION__ double nextafter(double x, double y) { return __gpulab_nextafter_f64(x, y); }
__GPULAB_MIXED2__(nextafter)
__GPULAB_LIBRARY__ float __gpulab_remquo_f32(float, float, int*);
__GPULAB_LIBRARY__ double __gpulab_remquo_f64(double, double, int*);
__GPULAB_FUNCTION__ float remquof(float x, float y, int* q) { return __gpulab_remquo_f32(x, y, q); }
__GPULAB_FUNCTION__ float remquo(float x, float y, int* q) { return __gpulab_remquo_f32(x, y, q); }
__GPULAB_FUNCTION__ double remquo(double x, double y, int* q) { return __gpulab_remquo_f64(x, y, q); }
template <typename A, typename B>
__GPULAB_FUNCTION__ gpulab::enable_if_t<__is_arithmetic(A) && __is_arithmetic(B), double> remquo(A x, B y, int* q) {
  return __gpulab_remquo_f64((double)x, (double)y, q);
}

// Integer powers, by repeated squaring.
__GPULAB_LIBRARY_PURE__ float __gpulab_powi_f32(float, int);
__GPULAB_LIBRARY_PURE__ double __gpulab_powi_f64(double, int);
__GPULAB_FUNCTION__ float powif(float x, int n) { return __gpulab_powi_f32(x, n); }
__GPULAB_FUNCTION__ double powi(double x, int n) { return __gpulab_powi_f64(x, n); }
__GPULAB_FUNCTION__ float pow(float x, int n) { return __gpulab_powi_f32(x, n); }
__GPULAB_FUNCTION__ double pow(double x, int n) { return __gpulab_powi_f64(x, n); }

// Sine and cosine together.
#define __GPULAB_SINCOS__(name, sine, cosine)                                                                \
  __GPULAB_FUNCTION__ void name##f(float x, float* s, float* c) { *s = sine##f(x); *c = cosine##f(x); }      \
  __GPULAB_FUNCTION__ void name(float x, float* s, float* c) { *s = sine##f(x); *c = cosine##f(x); }         \
  __GPULAB_FUNCTION__ void name(double x, double* s, double* c) { *s = sine(x); *c = cosine(x); }
__GPULAB_SINCOS__(sincos, sin, cos)
__GPULAB_SINCOS__(sincospi, sinpi, cospi)

// Bessel functions of integer order; lengths of vectors.
#define __GPULAB_ORDER__(name)                                                               \
  __GPULAB_LIBRARY_PURE__ float __gpulab_##name##_f32(int, float);                           \
  __GPULAB_LIBRARY_PURE__ double __gpulab_##name##_f64(int, double);                         \
  __GPULAB_FUNCTION__ float name##f(int n, float x) { return __gpulab_##name##_f32(n, x); }  \
  __GPULAB_FUNCTION__ double name(int n, double x) { return __gpulab_##name##_f64(n, x); }
__GPULAB_ORDER__(jn)
__GPULAB_ORDER__(yn)
__GPULAB_LIBRARY_PURE__ float __gpulab_norm4d_f32(float, float, float, float);
__GPULAB_LIBRARY_PURE__ double __gpulab_norm4d_f64(double, double, double, double);
__GPULAB_LIBRARY_PURE__ float __gpulab_rnorm4d_f32(float, float, float, float);
__GPULAB_LIBRARY_PURE__ double __gpulab_rnorm4d_f64(double, double, double, double);
__GPULAB_FUNCTION__ float norm3df(float x, float y, float z) { return __gpulab_norm4d_f32(x, y, z, 0); }
__GPULAB_FUNCTION__ double norm3d(double x, double y, double z) { return __gpulab_norm4d_f64(x, y, z, 0); }
__GPULAB_FUNCTION__ float norm4df(float x, float y, float z, float w) { return __gpulab_norm4d_f32(x, y, z, w); }
__GPULAB_FUNCTION__ double norm4d(double x, double y, double z, double w) { return __gpulab_norm4d_f64(x, y, z, w); }
__GPULAB_FUNCTION__ float rnorm3df(float x, float y, float z) { return __gpulab_rnorm4d_f32(x, y, z, 0); }
__GPULAB_FUNCTION__ double rnorm3d(double x, double y, double z) { return __gpulab_rnorm4d_f64(x, y, z, 0); }
__GPULAB_FUNCTION__ float rnorm4df(float x, float y, float z, float w) { return __gpulab_rnorm4d_f32(x, y, z, w); }
__GPULAB_FUNCTION__ double rnorm4d(double x, double y, double z, double w) { return __gpulab_rnorm4d_f64(x, y, z, w); }
#define __GPULAB_NORM__(name, T, result)                        \
  __GPULAB_FUNCTION__ T name(int count, const T* values) {      \
    T sum = 0;                                                  \
    for (int i = 0; i < count; ++i) sum += values[i] * values[i]; \
    return result;                                              \
  }
__GPULAB_NORM__(normf, float, sqrtf(sum))
__GPULAB_NORM__(norm, double, sqrt(sum))
__GPULAB_NORM__(rnormf, float, rsqrtf(sum))
__GPULAB_NORM__(rnorm, double, rsqrt(sum))

// abs, min, max for every arithmetic type; mixed types meet as in a + b.
__GPULAB_FUNCTION__ int abs(int x) { return x < 0 ? -x : x; }
__GPULAB_FUNCTION__ long abs(long x) { return x < 0 ? -x : x; }
__GPULAB_FUNCTION__ long long abs(long long x) { return x < 0 ? -x : x; }
__GPULAB_FUNCTION__ float abs(float x) { return __builtin_fabsf(x); }
__GPULAB_FUNCTION__ double abs(double x) { return __builtin_fabs(x); }
__GPULAB_FUNCTION__ long labs(long x) { return x < 0 ? -x : x; }
__GPULAB_FUNCTION__ long long llabs(long long x) { return x < 0 ? -x : x; }
#define __GPULAB_EXTREMUM__(name, op)                                                                          \
  template <typename A, typename B>                                                                            \
  __GPULAB_BOTH__ constexpr gpulab::enable_if_t<__is_arithmetic(A) && __is_arithmetic(B), decltype(A() + B())> \
  name(A a, B b) {                                                                                             \
    using R = decltype(A() + B());                                                                             \
    R x = (R)a, y = (R)b;                                                                                      \
    if constexpr (__is_same(R, float)) {                                                                       \
      return __builtin_f##name##f(x, y);                                                                       \
    } else if constexpr (__is_same(R, double)) {                                                               \
      return __builtin_f##name(x, y);                                                                          \
    } else {                                                                                                   \
      return y op x ? y : x;                                                                                   \
    }                                                                                                          \
  }
__GPULAB_EXTREMUM__(min, <)
__GPULAB_EXTREMUM__(max, >)
__GPULAB_FUNCTION__ unsigned int umin(unsigned int x, unsigned int y) { return x < y ? x : y; }
__GPULAB_FUNCTION__ unsigned int umax(unsigned int x, unsigned int y) { return x > y ? x : y; }
__GPULAB_FUNCTION__ long long llmin(long long x, long long y) { return x < y ? x : y; }
__GPULAB_FUNCTION__ long long llmax(long long x, long long y) { return x > y ? x : y; }
__GPULAB_FUNCTION__ unsigned long long ullmin(unsigned long long x, unsigned long long y) { return x < y ? x : y; }
__GPULAB_FUNCTION__ unsigned long long ullmax(unsigned long long x, unsigned long long y) { return x > y ? x : y; }

// One IEEE operation, never fused with its neighbours.
#define __GPULAB_OPERATION__(name, T, expression)       \
  __GPULAB_FUNCTION__ T name(T x, T y) {                \
    _Pragma("clang fp contract(off)") return expression; \
  }
__GPULAB_OPERATION__(__fadd_rn, float, x + y)
__GPULAB_OPERATION__(__fsub_rn, float, x - y)
__GPULAB_OPERATION__(__fmul_rn, float, x* y)
__GPULAB_OPERATION__(__fdiv_rn, float, x / y)
__GPULAB_OPERATION__(__dadd_rn, double, x + y)
__GPULAB_OPERATION__(__dsub_rn, double, x - y)
__GPULAB_OPERATION__(__dmul_rn, double, x* y)
__GPULAB_OPERATION__(__ddiv_rn, double, x / y)
__GPULAB_FUNCTION__ float __fmaf_rn(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
__GPULAB_FUNCTION__ double __fma_rn(double x, double y, double z) { return __builtin_fma(x, y, z); }
__GPULAB_FUNCTION__ float __frcp_rn(float x) { return 1.0f / x; }
__GPULAB_FUNCTION__ double __drcp_rn(double x) { return 1.0 / x; }
__GPULAB_FUNCTION__ float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
__GPULAB_FUNCTION__ double __dsqrt_rn(double x) { return __builtin_sqrt(x); }
__GPULAB_FUNCTION__ float __frsqrt_rn(float x) { return __builtin_amdgcn_rsqf(x); }

// Fast forms: v_exp_f32 and v_log_f32 are base 2, v_sin_f32 and v_cos_f32 count in turns. Denormals are flushed.
__GPULAB_FUNCTION__ float __expf(float x) { return __builtin_amdgcn_exp2f(x * 1.44269504f); }
__GPULAB_FUNCTION__ float __exp10f(float x) { return __builtin_amdgcn_exp2f(x * 3.32192809f); }
__GPULAB_FUNCTION__ float __log2f(float x) { return __builtin_amdgcn_logf(x); }
__GPULAB_FUNCTION__ float __logf(float x) { return __builtin_amdgcn_logf(x) * 0.693147181f; }
__GPULAB_FUNCTION__ float __log10f(float x) { return __builtin_amdgcn_logf(x) * 0.301029996f; }
__GPULAB_FUNCTION__ float __powf(float x, float y) { return __builtin_amdgcn_exp2f(y * __builtin_amdgcn_logf(x)); }
__GPULAB_FUNCTION__ float __sinf(float x) {
  return __builtin_amdgcn_sinf(__builtin_amdgcn_fractf(x * 0.159154943f));
}
__GPULAB_FUNCTION__ float __cosf(float x) {
  return __builtin_amdgcn_cosf(__builtin_amdgcn_fractf(x * 0.159154943f));
}
__GPULAB_FUNCTION__ void __sincosf(float x, float* s, float* c) {
  *s = __sinf(x);
  *c = __cosf(x);
}
__GPULAB_FUNCTION__ float __tanf(float x) { return __sinf(x) * __builtin_amdgcn_rcpf(__cosf(x)); }
__GPULAB_FUNCTION__ float __fdividef(float x, float y) { return x / y; }
// To the range 0 to 1; NaN becomes 0.
__GPULAB_FUNCTION__ float __saturatef(float x) { return __builtin_fminf(__builtin_fmaxf(x, 0.0f), 1.0f); }

#undef __GPULAB_LIBRARY__
#undef __GPULAB_LIBRARY_PURE__
#undef __GPULAB_INTEGER1__
#undef __GPULAB_INTEGER2__
#undef __GPULAB_MIXED2__
#undef __GPULAB_MATH1__
#undef __GPULAB_MATH1_HALF__
#undef __GPULAB_MATH2__
#undef __GPULAB_BUILTIN1__
#undef __GPULAB_BUILTIN2__
#undef __GPULAB_ROUND__
#undef __GPULAB_CLASSIFY__
#undef __GPULAB_COMPARE2__
#undef __GPULAB_SINCOS__
#undef __GPULAB_ORDER__
#undef __GPULAB_NORM__
#undef __GPULAB_EXTREMUM__
#undef __GPULAB_OPERATION__

#ifndef M_PI
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#endif
#ifndef FP_NAN
#define FP_NAN 0
#define FP_INFINITE 1
#define FP_ZERO 2
#define FP_SUBNORMAL 3
#define FP_NORMAL 4
#endif
#define INFINITY (__builtin_inff())
#define NAN (__builtin_nanf(""))
#define HUGE_VAL (__builtin_inf())
#define HUGE_VALF (__builtin_inff())
