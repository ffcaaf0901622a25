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
