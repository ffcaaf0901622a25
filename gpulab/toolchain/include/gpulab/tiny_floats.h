// Numbers of 4 and 6 bits (OCP Microscaling Formats 1.0): a sign, an exponent and a fraction, without infinities and NaN.
//
// Conversions round to nearest even, whatever rounding is named, as HIP's do; too large a number becomes the largest one,
// and so does NaN, with a positive sign, since there is no code for it. hip/hip_fp4.h and hip/hip_fp6.h use this.
#pragma once
#include "../hip/hip_fp8.h"
#include "rounding.h"

namespace gpulab {
struct tiny_format {
  int fraction, bias;
  uint32_t largest, sign;
};
template <typename F>
__GPULAB_BOTH__ unsigned char to_tiny(F x, tiny_format format) {
  if (x != x) return static_cast<unsigned char>(format.largest);
  const uint32_t sign = __builtin_signbit(x) ? format.sign : 0;
  const F size = sign ? -x : x;
  if (size >= static_cast<F>(1 << 20)) return static_cast<unsigned char>(sign | format.largest);
  const int least = 1 - format.bias;
  const int exponent = static_cast<int>(__builtin_bit_cast(uint32_t, static_cast<float>(size)) >> 23) - 127;
  int place = exponent > least ? exponent : least;
  uint32_t units;
  if constexpr (sizeof(F) == 8) {
    if (size < __builtin_ldexp(1.0, place) && place > least) --place;  // as a float it had become a power of two
    units = static_cast<uint32_t>(__builtin_rint(__builtin_ldexp(size, format.fraction - place)));
  } else {
    units = static_cast<uint32_t>(__builtin_rintf(__builtin_ldexpf(size, format.fraction - place)));
  }
  const uint32_t code = units + (static_cast<uint32_t>(place - least) << format.fraction);
  return static_cast<unsigned char>(sign | (code > format.largest ? format.largest : code));
}
__GPULAB_BOTH__ float from_tiny(uint32_t code, tiny_format format) {
  const uint32_t size = code & (format.sign - 1), exponent = size >> format.fraction;
  const uint32_t rest = size & ((1u << format.fraction) - 1u), units = exponent ? rest | 1u << format.fraction : rest;
  const float value = __builtin_ldexpf(static_cast<float>(units),
                                       static_cast<int>(exponent ? exponent : 1) - format.bias - format.fraction);
  return code & format.sign ? -value : value;
}
}  // namespace gpulab

// The functions of one width; `bits` is what one number takes of a pair, `format` the format that `type` names.
#define __GPULAB_TINY_FUNCTIONS__(name, bits, format)                                                                   \
  __GPULAB_BOTH__ __hip_##name##_storage_t __hip_cvt_float_to_##name(                                                   \
      const float x, const __hip_##name##_interpretation_t type, const enum hipRoundMode) {                             \
    return gpulab::to_tiny(x, format);                                                                                  \
  }                                                                                                                     \
  __GPULAB_BOTH__ __hip_##name##_storage_t __hip_cvt_double_to_##name(                                                  \
      const double x, const __hip_##name##_interpretation_t type, const enum hipRoundMode) {                            \
    return gpulab::to_tiny(x, format);                                                                                  \
  }                                                                                                                     \
  __GPULAB_BOTH__ __hip_##name##_storage_t __hip_cvt_halfraw_to_##name(                                                 \
      const __half_raw x, const __hip_##name##_interpretation_t type, const enum hipRoundMode) {                        \
    return gpulab::to_tiny(static_cast<float>(x.data), format);                                                         \
  }                                                                                                                     \
  __GPULAB_BOTH__ __hip_##name##_storage_t __hip_cvt_bfloat16raw_to_##name(                                             \
      const __hip_bfloat16_raw x, const __hip_##name##_interpretation_t type, const enum hipRoundMode) {                \
    return gpulab::to_tiny(static_cast<float>(__builtin_bit_cast(__bf16, x)), format);                                  \
  }                                                                                                                     \
  __GPULAB_TINY_PAIR__(name, bits, float2, float2, float, x.x, x.y)                                                     \
  __GPULAB_TINY_PAIR__(name, bits, double2, double2, double, x.x, x.y)                                                  \
  __GPULAB_TINY_PAIR__(name, bits, halfraw2, __half2_raw, halfraw, x.x, x.y)                                            \
  __GPULAB_TINY_PAIR__(name, bits, bfloat16raw2, __hip_bfloat162_raw, bfloat16raw, __hip_bfloat16_raw{x.x},             \
                       __hip_bfloat16_raw{x.y})                                                                         \
  __GPULAB_BOTH__ __half_raw __hip_cvt_##name##_to_halfraw(const __hip_##name##_storage_t x,                            \
                                                           const __hip_##name##_interpretation_t type) {                \
    return __float2half(gpulab::from_tiny(x, format));                                                                  \
  }                                                                                                                     \
  __GPULAB_BOTH__ __half2_raw __hip_cvt_##name##x2_to_halfraw2(const __hip_##name##x2_storage_t x,                      \
                                                               const __hip_##name##_interpretation_t type) {            \
    return __floats2half2_rn(gpulab::from_tiny(x & ((1u << bits) - 1u), format), gpulab::from_tiny(x >> bits, format)); \
  }
#define __GPULAB_TINY_PAIR__(name, bits, from, From, one, first, second)                                        \
  __GPULAB_BOTH__ __hip_##name##x2_storage_t __hip_cvt_##from##_to_##name##x2(                                  \
      const From x, const __hip_##name##_interpretation_t type, const enum hipRoundMode rounding) {             \
    return static_cast<__hip_##name##x2_storage_t>(__hip_cvt_##one##_to_##name(first, type, rounding) |         \
                                                   __hip_cvt_##one##_to_##name(second, type, rounding) << bits); \
  }

// The classes of one format for one number, two and four. __x holds the codes, the first in the lowest bits.
#define __GPULAB_TINY_TYPES__(name, suffix, type, bits, format)                                                       \
  struct __hip_##name##_##suffix {                                                                                    \
    __hip_##name##_storage_t __x;                                                                                     \
    __hip_##name##_##suffix() = default;                                                                              \
    template <typename T, typename = gpulab::enable_if_t<gpulab::fp8_source<T>>>                                      \
    __GPULAB_MEMBER__ explicit __hip_##name##_##suffix(T x) {                                                         \
      if constexpr (__is_same(T, double)) {                                                                           \
        __x = gpulab::to_tiny(x, format);                                                                             \
      } else {                                                                                                        \
        __x = gpulab::to_tiny(static_cast<float>(x), format);                                                         \
      }                                                                                                               \
    }                                                                                                                 \
    __GPULAB_MEMBER__ operator float() const { return gpulab::from_tiny(__x, format); }                               \
    __GPULAB_MEMBER__ operator double() const { return gpulab::from_tiny(__x, format); }                              \
    __GPULAB_MEMBER__ operator __half_raw() const { return __hip_cvt_##name##_to_halfraw(__x, type); }                \
    __GPULAB_MEMBER__ operator __hip_bfloat16_raw() const { return __float2bfloat16(*this); }                         \
  };                                                                                                                  \
  struct __hip_##name##x2_##suffix {                                                                                  \
    __hip_##name##x2_storage_t __x;                                                                                   \
    __hip_##name##x2_##suffix() = default;                                                                            \
    template <typename T, typename E = decltype(T().y)>                                                               \
    __GPULAB_MEMBER__ explicit __hip_##name##x2_##suffix(T v) {                                                       \
      __hip_##name##_##suffix x(v.x), y(v.y);                                                                         \
      __x = static_cast<__hip_##name##x2_storage_t>(x.__x | y.__x << bits);                                           \
    }                                                                                                                 \
    __GPULAB_MEMBER__ operator float2() const {                                                                       \
      return float2(gpulab::from_tiny(__x & ((1u << bits) - 1u), format), gpulab::from_tiny(__x >> bits, format));    \
    }                                                                                                                 \
    __GPULAB_MEMBER__ operator double2() const {                                                                      \
      return double2(gpulab::from_tiny(__x & ((1u << bits) - 1u), format), gpulab::from_tiny(__x >> bits, format));   \
    }                                                                                                                 \
    __GPULAB_MEMBER__ operator __half2_raw() const { return __hip_cvt_##name##x2_to_halfraw2(__x, type); }            \
    __GPULAB_MEMBER__ operator __hip_bfloat162_raw() const { return __float22bfloat162_rn(*this); }                   \
  };                                                                                                                  \
  struct __hip_##name##x4_##suffix {                                                                                  \
    __hip_##name##x4_storage_t __x;                                                                                   \
    __hip_##name##x4_##suffix() = default;                                                                            \
    template <typename T, typename E = decltype(T().w)>                                                               \
    __GPULAB_MEMBER__ explicit __hip_##name##x4_##suffix(T v) {                                                       \
      put(__hip_##name##_##suffix(v.x), __hip_##name##_##suffix(v.y), __hip_##name##_##suffix(v.z),                   \
          __hip_##name##_##suffix(v.w));                                                                              \
    }                                                                                                                 \
    template <typename T, typename E = decltype(T().y), typename = gpulab::enable_if_t<sizeof(T) == 4>>               \
    __GPULAB_MEMBER__ explicit __hip_##name##x4_##suffix(T low, T high) {                                             \
      put(__hip_##name##_##suffix(low.x), __hip_##name##_##suffix(low.y), __hip_##name##_##suffix(high.x),            \
          __hip_##name##_##suffix(high.y));                                                                           \
    }                                                                                                                 \
    __GPULAB_MEMBER__ operator float4() const { return float4(at(0), at(1), at(2), at(3)); }                          \
    __GPULAB_MEMBER__ operator double4() const { return double4(at(0), at(1), at(2), at(3)); }                        \
                                                                                                                      \
   private:                                                                                                           \
    __GPULAB_MEMBER__ float at(int i) const {                                                                         \
      return gpulab::from_tiny(static_cast<uint32_t>(__x >> bits * i) & ((1u << bits) - 1u), format);                 \
    }                                                                                                                 \
    __GPULAB_MEMBER__ void put(__hip_##name##_##suffix a, __hip_##name##_##suffix b, __hip_##name##_##suffix c,       \
                               __hip_##name##_##suffix d) {                                                           \
      uint32_t low = a.__x | static_cast<uint32_t>(b.__x) << bits, high = c.__x | static_cast<uint32_t>(d.__x) << bits; \
      __x = static_cast<__hip_##name##x4_storage_t>(low | high << 2 * bits);                                          \
    }                                                                                                                 \
  };
