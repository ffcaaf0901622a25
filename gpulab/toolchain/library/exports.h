// The names by which kernels reach the library: __gpulab_<function>_f32 and _f64.
#pragma once
#include "special.h"

#ifdef __AMDGCN__
#define EXPORT extern "C"
#else
#define EXPORT extern "C" __attribute__((visibility("default")))
#endif

#define ONE(name)                                                     \
  EXPORT float __gpulab_##name##_f32(float x) { return name##_of(x); } \
  EXPORT double __gpulab_##name##_f64(double x) { return name##_of(x); }
#define TWO(name)                                                                    \
  EXPORT float __gpulab_##name##_f32(float x, float y) { return name##_of(x, y); }   \
  EXPORT double __gpulab_##name##_f64(double x, double y) { return name##_of(x, y); }
#define ONE_ROUNDED(name, expression)                                                    \
  EXPORT double __gpulab_##name##_f64(double x) { return expression; }                   \
  EXPORT float __gpulab_##name##_f32(float from) { double x = from; return (float)(expression); }

ONE(sin)
ONE(cos)
ONE(tan)
ONE(sinpi)
ONE(cospi)
ONE(asin)
ONE(acos)
ONE(atan)
TWO(atan2)
ONE(sinh)
ONE(cosh)
ONE(tanh)
ONE(asinh)
ONE(acosh)
ONE(atanh)
ONE(exp)
ONE(exp2)
ONE(exp10)
ONE(expm1)
ONE(log)
ONE(log2)
ONE(log10)
ONE(log1p)
ONE(cbrt)
EXPORT float __gpulab_rcbrt_f32(float x) { return 1 / cbrt_of(x); }
EXPORT double __gpulab_rcbrt_f64(double x) { return 1 / cbrt_of(x); }
EXPORT float __gpulab_pow_f32(float x, float y) { return pow_of(x, y); }
EXPORT double __gpulab_pow_f64(double x, double y) { return musl_pow::pow(x, y); }
EXPORT float __gpulab_powi_f32(float x, int n) { return powi_of(x, n); }
EXPORT double __gpulab_powi_f64(double x, int n) { return powi_of(x, n); }
EXPORT float __gpulab_hypot_f32(float x, float y) { return norm_of<float>(x, y, 0, 0, false); }
EXPORT double __gpulab_hypot_f64(double x, double y) { return norm_of<double>(x, y, 0, 0, false); }
EXPORT float __gpulab_rhypot_f32(float x, float y) { return norm_of<float>(x, y, 0, 0, true); }
EXPORT double __gpulab_rhypot_f64(double x, double y) { return norm_of<double>(x, y, 0, 0, true); }
EXPORT float __gpulab_norm4d_f32(float a, float b, float c, float d) { return norm_of(a, b, c, d, false); }
EXPORT double __gpulab_norm4d_f64(double a, double b, double c, double d) { return norm_of(a, b, c, d, false); }
EXPORT float __gpulab_rnorm4d_f32(float a, float b, float c, float d) { return norm_of(a, b, c, d, true); }
EXPORT double __gpulab_rnorm4d_f64(double a, double b, double c, double d) { return norm_of(a, b, c, d, true); }
TWO(fmod)
TWO(nextafter)
EXPORT float __gpulab_remquo_f32(float x, float y, int* q) { return remquo_of(x, y, q); }
EXPORT double __gpulab_remquo_f64(double x, double y, int* q) { return remquo_of(x, y, q); }
EXPORT float __gpulab_remainder_f32(float x, float y) { int q; return remquo_of(x, y, &q); }
EXPORT double __gpulab_remainder_f64(double x, double y) { int q; return remquo_of(x, y, &q); }

EXPORT float __gpulab_erf_f32(float x) { return musl_erff::erff(x); }
EXPORT double __gpulab_erf_f64(double x) { return musl_erf::erf(x); }
EXPORT float __gpulab_erfc_f32(float x) { return musl_erff::erfcf(x); }
EXPORT double __gpulab_erfc_f64(double x) { return musl_erf::erfc(x); }
ONE_ROUNDED(erfcx, erfcx_of(x))
ONE_ROUNDED(erfinv, erfinv_of(x))
ONE_ROUNDED(erfcinv, erfcinv_of(x))
ONE_ROUNDED(normcdf, normcdf_of(x))
ONE_ROUNDED(normcdfinv, normcdfinv_of(x))
ONE_ROUNDED(tgamma, musl_tgamma::tgamma(x))
INLINE double lgamma_of(double x) { int sign; return musl_lgamma::__lgamma_r(x, &sign); }
ONE_ROUNDED(lgamma, lgamma_of(x))
ONE_ROUNDED(j0, musl_j0::j0(x))
ONE_ROUNDED(j1, musl_j1::j1(x))
ONE_ROUNDED(y0, musl_j0::y0(x))
ONE_ROUNDED(y1, musl_j1::y1(x))
ONE_ROUNDED(cyl_bessel_i0, cyl_bessel_i_of(0, x))
ONE_ROUNDED(cyl_bessel_i1, cyl_bessel_i_of(1, x))
EXPORT float __gpulab_jn_f32(int n, float x) { return (float)musl_jn::jn(n, x); }
EXPORT double __gpulab_jn_f64(int n, double x) { return musl_jn::jn(n, x); }
EXPORT float __gpulab_yn_f32(int n, float x) { return (float)musl_jn::yn(n, x); }
EXPORT double __gpulab_yn_f64(int n, double x) { return musl_jn::yn(n, x); }
