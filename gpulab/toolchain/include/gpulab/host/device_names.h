// The device's functions under their std:: names, beside the host's, and what the host's assert calls in a kernel.
#pragma once

namespace std {
using ::printf; using ::malloc; using ::free; using ::memcpy; using ::memmove; using ::memset;
using ::sin; using ::cos; using ::tan; using ::asin; using ::acos; using ::atan; using ::sinh; using ::cosh;
using ::tanh; using ::asinh; using ::acosh; using ::atanh; using ::exp; using ::exp2; using ::expm1; using ::log;
using ::log2; using ::log10; using ::log1p; using ::sqrt; using ::cbrt; using ::fabs; using ::floor; using ::ceil;
using ::trunc; using ::round; using ::rint; using ::nearbyint; using ::lround; using ::llround; using ::lrint;
using ::llrint; using ::erf; using ::erfc; using ::tgamma; using ::lgamma; using ::logb; using ::ilogb;
using ::isgreater; using ::isgreaterequal; using ::isless; using ::islessequal; using ::islessgreater;
using ::isunordered; using ::fpclassify;
using ::isnan; using ::isinf; using ::isfinite; using ::isnormal; using ::signbit; using ::abs; using ::pow;
using ::atan2; using ::fmod; using ::remainder; using ::hypot; using ::fmin; using ::fmax; using ::fdim;
using ::fma; using ::copysign; using ::nextafter; using ::ldexp; using ::scalbn; using ::scalbln; using ::frexp;
using ::modf; using ::remquo; using ::nan; using ::labs; using ::llabs;
using ::sinf; using ::cosf; using ::tanf; using ::asinf; using ::acosf; using ::atanf; using ::sinhf;
using ::coshf; using ::tanhf; using ::asinhf; using ::acoshf; using ::atanhf; using ::expf; using ::exp2f;
using ::expm1f; using ::logf; using ::log2f; using ::log10f; using ::log1pf; using ::sqrtf; using ::cbrtf;
using ::fabsf; using ::floorf; using ::ceilf; using ::truncf; using ::roundf; using ::rintf; using ::nearbyintf;
using ::lroundf; using ::llroundf; using ::lrintf; using ::llrintf; using ::erff; using ::erfcf; using ::tgammaf;
using ::lgammaf; using ::logbf; using ::ilogbf; using ::powf; using ::atan2f; using ::fmodf; using ::remainderf;
using ::hypotf; using ::fminf; using ::fmaxf; using ::fdimf; using ::fmaf; using ::copysignf; using ::nextafterf;
using ::ldexpf; using ::scalbnf; using ::scalblnf; using ::frexpf; using ::modff; using ::remquof; using ::nanf;
}  // namespace std

extern "C" __device__ inline __attribute__((always_inline, nodebug)) void __assert_fail(
    const char* condition, const char* file, unsigned int line, const char* function) {
  gpulab::assertion_failed(condition, file, line, function);
}

// The C++ library has names of its own, std::__all and std::__match_any, which make HIP's ambiguous after `using namespace
// std`. A call of HIP's is therefore written with a name that the library does not have.
__GPULAB_LANES__ int __gpulab_all(int predicate) { return __all(predicate); }
template <typename T>
__GPULAB_LANES__ unsigned long long __gpulab_match_any(T value) {
  return __match_any(value);
}
#define __all(...) __gpulab_all(__VA_ARGS__)
#define __match_any(...) __gpulab_match_any(__VA_ARGS__)
