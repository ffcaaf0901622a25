// The part of namespace std that kernels use: mathematical functions, min, max, swap, numeric_limits, type traits.
// The headers <cmath>, <algorithm>, <limits>, <type_traits>, <utility> lead here.
#pragma once

namespace std {
using ::nullptr_t; using ::ptrdiff_t; using ::size_t;
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t; using ::intptr_t; using ::intmax_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t; using ::uintptr_t; using ::uintmax_t;
using ::printf;

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
  using ::modf; using ::remquo; using ::nan; using ::sinf; using ::cosf; using ::tanf; using ::asinf; using ::acosf;
  using ::atanf; using ::sinhf; using ::coshf; using ::tanhf; using ::asinhf; using ::acoshf; using ::atanhf;
  using ::expf; using ::exp2f; using ::expm1f; using ::logf; using ::log2f; using ::log10f; using ::log1pf;
  using ::sqrtf; using ::cbrtf; using ::fabsf; using ::floorf; using ::ceilf; using ::truncf; using ::roundf;
  using ::rintf; using ::nearbyintf; using ::lroundf; using ::llroundf; using ::lrintf; using ::llrintf;
  using ::erff; using ::erfcf; using ::tgammaf; using ::lgammaf; using ::logbf; using ::ilogbf; using ::powf;
  using ::atan2f; using ::fmodf; using ::remainderf; using ::hypotf; using ::fminf; using ::fmaxf; using ::fdimf;
  using ::fmaf; using ::copysignf; using ::nextafterf; using ::ldexpf; using ::scalbnf; using ::scalblnf;
  using ::frexpf; using ::modff; using ::remquof; using ::nanf;

#define __GPULAB_STD__ __host__ __device__ inline __attribute__((always_inline, nodebug)) constexpr
template <typename T>
__GPULAB_STD__ const T& min(const T& a, const T& b) {
  return b < a ? b : a;
}
template <typename T>
__GPULAB_STD__ const T& max(const T& a, const T& b) {
  return a < b ? b : a;
}
template <typename T>
__GPULAB_STD__ const T& clamp(const T& x, const T& low, const T& high) {
  return x < low ? low : high < x ? high : x;
}

template <typename T, T v>
struct integral_constant {
  static constexpr T value = v;
  using value_type = T;
  using type = integral_constant;
  __GPULAB_STD__ operator T() const noexcept { return v; }
};
template <bool b>
using bool_constant = integral_constant<bool, b>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;
template <bool condition, typename T = void>
using enable_if = gpulab::enable_if<condition, T>;
template <bool condition, typename T = void>
using enable_if_t = typename gpulab::enable_if<condition, T>::type;
template <bool condition, typename A, typename B>
struct conditional {
  using type = A;
};
template <typename A, typename B>
struct conditional<false, A, B> {
  using type = B;
};
template <bool condition, typename A, typename B>
using conditional_t = typename conditional<condition, A, B>::type;
template <typename T>
using remove_reference_t = __remove_reference_t(T);
template <typename T>
using remove_cv_t = __remove_cv(T);
template <typename T>
using remove_const_t = __remove_const(T);
template <typename T>
using remove_pointer_t = __remove_pointer(T);
template <typename T>
using decay_t = __decay(T);
template <typename T>
using make_unsigned_t = __make_unsigned(T);
template <typename T>
using make_signed_t = __make_signed(T);
template <typename T>
using underlying_type_t = __underlying_type(T);
#define __GPULAB_TRANSFORM__(name) \
  template <typename T>            \
  struct name {                    \
    using type = name##_t<T>;      \
  };
__GPULAB_TRANSFORM__(remove_reference)
__GPULAB_TRANSFORM__(remove_cv)
__GPULAB_TRANSFORM__(remove_const)
__GPULAB_TRANSFORM__(remove_pointer)
__GPULAB_TRANSFORM__(decay)
__GPULAB_TRANSFORM__(make_unsigned)
__GPULAB_TRANSFORM__(make_signed)
#undef __GPULAB_TRANSFORM__
#define __GPULAB_TRAIT__(name)                       \
  template <typename T>                              \
  inline constexpr bool name##_v = __##name(T);      \
  template <typename T>                              \
  struct name : bool_constant<__##name(T)> {};
__GPULAB_TRAIT__(is_integral)
__GPULAB_TRAIT__(is_floating_point)
__GPULAB_TRAIT__(is_arithmetic)
__GPULAB_TRAIT__(is_signed)
__GPULAB_TRAIT__(is_unsigned)
__GPULAB_TRAIT__(is_pointer)
__GPULAB_TRAIT__(is_enum)
__GPULAB_TRAIT__(is_class)
__GPULAB_TRAIT__(is_const)
__GPULAB_TRAIT__(is_void)
__GPULAB_TRAIT__(is_trivially_copyable)
#undef __GPULAB_TRAIT__
#define __GPULAB_TRAIT2__(name)                           \
  template <typename A, typename B>                       \
  inline constexpr bool name##_v = __##name(A, B);        \
  template <typename A, typename B>                       \
  struct name : bool_constant<__##name(A, B)> {};
__GPULAB_TRAIT2__(is_same)
__GPULAB_TRAIT2__(is_convertible)
__GPULAB_TRAIT2__(is_base_of)
#undef __GPULAB_TRAIT2__

template <typename T>
__GPULAB_STD__ remove_reference_t<T>&& move(T&& x) noexcept {
  return static_cast<remove_reference_t<T>&&>(x);
}
template <typename T>
__GPULAB_STD__ T&& forward(remove_reference_t<T>& x) noexcept {
  return static_cast<T&&>(x);
}
template <typename T>
__GPULAB_STD__ T&& forward(remove_reference_t<T>&& x) noexcept {
  return static_cast<T&&>(x);
}
#if __cplusplus >= 201402L
#define __GPULAB_STD_VOID__ __GPULAB_STD__ void
#else  // void is no type of a constant expression
#define __GPULAB_STD_VOID__ __host__ __device__ inline __attribute__((always_inline, nodebug)) void
#endif
template <typename T>
__GPULAB_STD_VOID__ swap(T& a, T& b) {
  T kept = static_cast<T&&>(a);
  a = static_cast<T&&>(b);
  b = static_cast<T&&>(kept);
}

// What `for (int x : {1, 2, 3})` needs.
template <typename T>
class initializer_list {
  const T* first;
  size_t count;

 public:
  __GPULAB_STD__ initializer_list() noexcept : first(nullptr), count(0) {}
  __GPULAB_STD__ size_t size() const noexcept { return count; }
  __GPULAB_STD__ const T* begin() const noexcept { return first; }
  __GPULAB_STD__ const T* end() const noexcept { return first + count; }
};

template <typename T>
struct numeric_limits {
  static constexpr bool is_specialized = __is_integral(T);
  static constexpr bool is_integer = __is_integral(T), is_exact = true, is_signed = __is_signed(T);
  static constexpr bool has_infinity = false, has_quiet_NaN = false;
  static constexpr int radix = 2;
  static constexpr int digits = __is_same(T, bool) ? 1 : (int)(8 * sizeof(T)) - (__is_signed(T) ? 1 : 0);
  static constexpr int digits10 = digits * 30103 / 100000;
  __GPULAB_STD__ static T max() noexcept {
    if constexpr (__is_same(T, bool)) {
      return true;
    } else if constexpr (__is_signed(T)) {
      return (T)(((((T)1 << (digits - 1)) - 1) << 1) + 1);
    } else {
      return (T)~(T)0;
    }
  }
  __GPULAB_STD__ static T min() noexcept { return __is_signed(T) ? (T)(-max() - 1) : (T)0; }
  __GPULAB_STD__ static T lowest() noexcept { return min(); }
  __GPULAB_STD__ static T epsilon() noexcept { return 0; }
};
#define __GPULAB_LIMITS__(T, mark, suffix)                                                          \
  template <>                                                                                       \
  struct numeric_limits<T> {                                                                        \
    static constexpr bool is_specialized = true, is_integer = false, is_exact = false;              \
    static constexpr bool is_signed = true, has_infinity = true, has_quiet_NaN = true;              \
    static constexpr int radix = 2, digits = __##mark##_MANT_DIG__, digits10 = __##mark##_DIG__;    \
    static constexpr int max_digits10 = __##mark##_DECIMAL_DIG__;                                   \
    static constexpr int min_exponent = __##mark##_MIN_EXP__, max_exponent = __##mark##_MAX_EXP__;  \
    __GPULAB_STD__ static T max() noexcept { return __##mark##_MAX__; }                             \
    __GPULAB_STD__ static T min() noexcept { return __##mark##_MIN__; }                             \
    __GPULAB_STD__ static T lowest() noexcept { return -__##mark##_MAX__; }                         \
    __GPULAB_STD__ static T epsilon() noexcept { return __##mark##_EPSILON__; }                     \
    __GPULAB_STD__ static T denorm_min() noexcept { return __##mark##_DENORM_MIN__; }               \
    __GPULAB_STD__ static T infinity() noexcept { return __builtin_inf##suffix(); }                 \
    __GPULAB_STD__ static T quiet_NaN() noexcept { return __builtin_nan##suffix(""); }              \
  };
__GPULAB_LIMITS__(float, FLT, f)
__GPULAB_LIMITS__(double, DBL, )
#undef __GPULAB_LIMITS__
#undef __GPULAB_STD_VOID__
#undef __GPULAB_STD__
}  // namespace std
