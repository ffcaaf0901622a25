// Special functions: error function, gamma, Bessel and their relatives; pow.
//
// pow, erf, gamma and the Bessel functions of the first and second kind are musl's sources (MIT licence), read from
// the compiler's package when the library is built, each file in a namespace of its own. They call the functions of
// elementary.h by the C names that `musl_names` gives. The float forms round the double ones, erff and erfcf apart.
#pragma once
#include "elementary.h"
#include "shims/libm.h"

namespace musl_names {
INLINE double sin(double x) { return sin_of(x); }
INLINE double cos(double x) { return cos_of(x); }
INLINE double exp(double x) { return exp_of(x); }
INLINE float expf(float x) { return exp_of(x); }
INLINE double log(double x) { return log_of(x); }
INLINE double fabs(double x) { return magnitude(x); }
INLINE float fabsf(float x) { return magnitude(x); }
INLINE double sqrt(double x) { return root(x); }
INLINE double floor(double x) { return __builtin_floor(x); }
INLINE double sinpi(double x) { return sinpi_of(x); }
INLINE double cospi(double x) { return cospi_of(x); }
INLINE double __sin(double x, double low, int) { return sine_of(Pair<double>{x, low}); }
INLINE double __cos(double x, double low) { return cosine_of(Pair<double>{x, low}); }
INLINE double __math_oflow(uint32_t negative) { return negative ? -infinity<double>() : infinity<double>(); }
INLINE double __math_uflow(uint32_t negative) { return negative ? -0.0 : 0.0; }
INLINE double __math_invalid(double x) { return is_nan(x) ? x : not_a_number<double>(); }
INLINE double __math_divzero(uint32_t negative) { return negative ? -infinity<double>() : infinity<double>(); }
INLINE double __math_check_oflow(double x) { return x; }
INLINE double __math_check_uflow(double x) { return x; }
}  // namespace musl_names

namespace musl_j0 {
using namespace musl_names;
#include <j0.c>
}  // namespace musl_j0
namespace musl_j1 {
using namespace musl_names;
#include <j1.c>
}  // namespace musl_j1
namespace musl_jn {
using namespace musl_names;
using musl_j0::j0;
using musl_j0::y0;
using musl_j1::j1;
using musl_j1::y1;
#include <jn.c>
}  // namespace musl_jn
namespace musl_erf {
using namespace musl_names;
#include <erf.c>
}  // namespace musl_erf
namespace musl_erff {
using namespace musl_names;
#include <erff.c>
}  // namespace musl_erff
namespace musl_lgamma {
using namespace musl_names;
#include <lgamma_r.c>
}  // namespace musl_lgamma
namespace musl_tgamma {
using namespace musl_names;
INLINE double pow(double x, double y);
#include <tgamma.c>
#undef N
}  // namespace musl_tgamma
namespace musl_pow {
using namespace musl_names;
#include <exp_data.c>
#include <pow_data.c>
#include <pow.c>
#undef T
#undef A
#undef N
}  // namespace musl_pow
INLINE double musl_tgamma::pow(double x, double y) { return musl_pow::pow(x, y); }

// x^y in float: by way of log2 and exp2 in double, rounded once.
INLINE float pow_of(float x, float y) {
  float ax = magnitude(x), ay = magnitude(y);
  if (y == 0 || x == 1) return 1;
  bool integral = y == whole(y), odd = integral && 0.5f * y != whole(0.5f * y);
  if (ax == 1 && ay == infinity<float>()) return 1;
  float r = (float)exp2_of((double)y * log2_of((double)ax));
  if (x < 0 && ax < infinity<float>() && !integral) return not_a_number<float>();
  return __builtin_signbit(x) && odd ? -r : r;
}

// Scaled complement: exp(x^2) erfc(x); from 10 on by its asymptotic series.
INLINE double erfcx_of(double x) {
  if (x < 10) {
    Pair<double> square = product_of(x, x);
    return x < -26.7 ? infinity<double>() : exp_scaled(square.high, square.low, 0) * musl_erf::erfc(x);
  }
  double t = 0.5 / x / x, sum = 1;
  for (int n = 14; n > 0; --n) sum = fused(-(2 * n - 1) * t, sum, 1.0);
  return 0.56418958354775628695 / x * sum;
}
// The argument -x sqrt(1/2) as a pair: its low part counts where erfc is steep.
INLINE double normcdf_of(double x) {
  double z = x * -0x1.6a09e667f3bcdp-1;
  double low = fused(x, -0x1.6a09e667f3bcdp-1, -z) + x * 0x1.bdd3413b26456p-55;
  double r = musl_erf::erfc(z);
  return 0.5 * (magnitude(z) < 27.0 ? r - 1.12837916709551257390 * exp_of(-z * z) * low : r);
}

// The x with erfc(x) = y, y from 0 to 1 (below 0 the logarithm makes it a NaN): a starting value good to some percent,
// then Halley's iteration, which triples the digits; the residual is taken from erf near 1, where erfc(x) is no small
// number.
INLINE double erfc_inverse(double y, double complement) {
  if (y == 0) return infinity<double>();
  double x;
  if (y > 0.5) {
    x = complement * 0.88622692545275801365;
    x = x * (1 + 0.2617993877991494 * x * x * 0.785);
  } else {
    double t = root(-2 * log_of(0.5 * y));  // Hastings' form of the normal quantile, divided by sqrt(2)
    x = (t - (2.30753 + 0.27061 * t) / (1 + t * (0.99229 + t * 0.04481))) * 0.70710678118654752440;
  }
  for (int i = 0; i < 3; ++i) {
    double slope = 1.12837916709551257390 * exp_of(-x * x);
    double e = (y > 0.5 ? complement - musl_erf::erf(x) : musl_erf::erfc(x) - y) / slope;
    x += e / (1 - x * e);
  }
  return x;
}
INLINE double erfinv_of(double x) {
  double a = magnitude(x);
  return a < 1e-9 ? x * 0.88622692545275801365 : with_sign(erfc_inverse(1 - a, a), x);
}
INLINE double erfcinv_of(double y) {
  return y <= 1 ? erfc_inverse(y, 1 - y) : -erfc_inverse(2 - y, y - 1);
}
INLINE double normcdfinv_of(double p) { return 0 - 1.41421356237309504880 * erfcinv_of(2 * p); }

// Modified Bessel functions: power series (all terms positive), from 20 on the asymptotic series.
INLINE double cyl_bessel_i_of(int order, double x) {
  double a = magnitude(x), sum, term;
  if (is_nan(x)) return x;
  if (a < 20) {
    double q = 0.25 * a * a;
    term = order ? 0.5 * a : 1.0, sum = term;
    for (int k = 1; term > sum * 0x1p-56; ++k) {
      term *= q / (double)(k * (k + order));
      sum += term;
    }
  } else {
    double mu = order ? 4 : 0;
    term = 1, sum = 1;
    for (int k = 1;; ++k) {  // before the terms grow again, at 2a, they are below the limit
      double odd = 2 * k - 1, next = term * (odd * odd - mu) / (8 * a * k);
      if (magnitude(next) < 0x1p-56) break;
      term = next, sum += term;
    }
    double half = exp_of(0.5 * a);
    sum = a > 1500.0 ? infinity<double>() : half * (sum / root(6.28318530717958647693 * a)) * half;
  }
  return order ? with_sign(sum, x) : sum;
}
