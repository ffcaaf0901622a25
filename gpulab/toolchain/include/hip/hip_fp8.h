// 8-bit floating-point numbers: storage types whose values are converted to and from float, half and bfloat16.
//
//   __hip_fp8_e4m3, __hip_fp8_e5m2             the OCP formats: bias 7 and 15, largest 448 and 57344
//   __hip_fp8_e4m3_fnuz, __hip_fp8_e5m2_fnuz   those of gfx942: bias 8 and 16, largest 240 and 57344, one NaN (0x80),
//                                              no infinities, no negative zero
// with __hip_fp8x2_... and __hip_fp8x4_... for two and four of them. As in HIP, code for gfx942
// has the classes of the FNUZ formats alone, code for gfx950 and gfx12 those of the OCP formats alone; other GPUs and the
// host have both. The functions __hip_cvt_... take either format anywhere.
//
// Conversions round to nearest even. A finite number that is too large becomes the largest one with __HIP_SATFINITE,
// which the classes use, and infinity (NaN where the format has none) with __HIP_NOSAT; infinity always does the latter.
// They are computed step by step, not by the conversion instructions that gfx942 and later have.
#pragma once
#include "../gpulab/names.h"
#include "../gpulab/rounding.h"
#include "hip_bf16.h"
#include "hip_fp16.h"

typedef unsigned char __hip_fp8_storage_t;
typedef unsigned short __hip_fp8x2_storage_t;
typedef unsigned int __hip_fp8x4_storage_t;
enum __hip_saturation_t { __HIP_NOSAT = 0, __HIP_SATFINITE = 1 };
enum __hip_fp8_interpretation_t { __HIP_E4M3 = 0, __HIP_E5M2 = 1, __HIP_E4M3_FNUZ = 2, __HIP_E5M2_FNUZ = 3 };

#if defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__)
#define HIP_FP8_TYPE_FNUZ 1
#define HIP_FP8_TYPE_OCP 0
#elif defined(__gfx950__) || defined(__GFX12__)
#define HIP_FP8_TYPE_FNUZ 0
#define HIP_FP8_TYPE_OCP 1
#else
#define HIP_FP8_TYPE_FNUZ 1
#define HIP_FP8_TYPE_OCP 1
#endif

namespace gpulab {
// What is known of a format: bits of the fraction, bias, code of the largest number, code of infinity or NaN.
struct fp8_format {
  int fraction, bias;
  uint32_t largest, beyond;
  bool fnuz;
  __GPULAB_MEMBER__ explicit constexpr fp8_format(__hip_fp8_interpretation_t name)
      : fraction(name == __HIP_E4M3 || name == __HIP_E4M3_FNUZ ? 3 : 2),
        bias(name == __HIP_E4M3 ? 7 : name == __HIP_E5M2 ? 15 : name == __HIP_E4M3_FNUZ ? 8 : 16),
        largest(name == __HIP_E4M3 ? 0x7e : name == __HIP_E5M2 ? 0x7b : 0x7f),
        beyond(name == __HIP_E4M3 ? 0x7f : name == __HIP_E5M2 ? 0x7c : 0x80),
        fnuz(name == __HIP_E4M3_FNUZ || name == __HIP_E5M2_FNUZ) {}
};

// F is float or double. The number in units of its last place is rounded; a carry moves on into the exponent.
template <typename F>
__GPULAB_BOTH__ __hip_fp8_storage_t to_fp8(F x, __hip_saturation_t saturate, __hip_fp8_interpretation_t name) {
  const fp8_format format(name);
  const uint32_t sign = __builtin_signbit(x) ? 0x80 : 0;
  if (x != x) return static_cast<__hip_fp8_storage_t>(format.fnuz ? 0x80 : sign | 0x7f);
  const F size = sign ? -x : x;
  if (size > static_cast<F>(3.4028235e38f))  // infinity, or a double next to it
    return static_cast<__hip_fp8_storage_t>(saturate && !__builtin_isinf(x) ? sign | format.largest
                                            : format.fnuz ? 0x80 : sign | format.beyond);
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
  if (code > format.largest) {
    if (saturate) return static_cast<__hip_fp8_storage_t>(sign | format.largest);
    return static_cast<__hip_fp8_storage_t>(format.fnuz ? 0x80 : sign | format.beyond);
  }
  return static_cast<__hip_fp8_storage_t>(code == 0 && format.fnuz ? 0 : sign | code);
}
__GPULAB_BOTH__ float from_fp8(__hip_fp8_storage_t code, __hip_fp8_interpretation_t name) {
  const fp8_format format(name);
  const uint32_t size = code & 0x7fu;
  const bool negative = code >> 7;
  if (format.fnuz && code == 0x80) return __builtin_nanf("");
  if (!format.fnuz && size > format.largest) {
    if (size != format.beyond || name == __HIP_E4M3) return __builtin_nanf("");
    return negative ? -__builtin_inff() : __builtin_inff();
  }
  const uint32_t exponent = size >> format.fraction, rest = size & ((1u << format.fraction) - 1u);
  const uint32_t units = exponent == 0 ? rest : rest | 1u << format.fraction;
  const float value = __builtin_ldexpf(static_cast<float>(units), static_cast<int>(exponent == 0 ? 1 : exponent) -
                                                                      format.bias - format.fraction);
  return negative ? -value : value;
}
}  // namespace gpulab

#define __GPULAB_FP8__(name, parameter, expression)                                                               \
  __GPULAB_BOTH__ __hip_fp8_storage_t name(const parameter x, const __hip_saturation_t saturate,                  \
                                           const __hip_fp8_interpretation_t type) {                               \
    return gpulab::to_fp8(expression, saturate, type);                                                            \
  }
#define __GPULAB_FP8X2__(name, parameter, one, first, second)                                                     \
  __GPULAB_BOTH__ __hip_fp8x2_storage_t name(const parameter x, const __hip_saturation_t saturate,                \
                                             const __hip_fp8_interpretation_t type) {                             \
    return static_cast<__hip_fp8x2_storage_t>(one(first, saturate, type) | one(second, saturate, type) << 8);     \
  }
__GPULAB_FP8__(__hip_cvt_float_to_fp8, float, x)
__GPULAB_FP8__(__hip_cvt_double_to_fp8, double, x)
__GPULAB_FP8__(__hip_cvt_halfraw_to_fp8, __half_raw, static_cast<float>(x.data))
__GPULAB_FP8__(__hip_cvt_bfloat16raw_to_fp8, __hip_bfloat16_raw, static_cast<float>(__builtin_bit_cast(__bf16, x)))
__GPULAB_FP8X2__(__hip_cvt_float2_to_fp8x2, float2, __hip_cvt_float_to_fp8, x.x, x.y)
__GPULAB_FP8X2__(__hip_cvt_double2_to_fp8x2, double2, __hip_cvt_double_to_fp8, x.x, x.y)
__GPULAB_FP8X2__(__hip_cvt_halfraw2_to_fp8x2, __half2_raw, __hip_cvt_halfraw_to_fp8, x.x, x.y)
__GPULAB_FP8X2__(__hip_cvt_bfloat16raw2_to_fp8x2, __hip_bfloat162_raw, __hip_cvt_bfloat16raw_to_fp8,
                 __hip_bfloat16_raw{x.x}, __hip_bfloat16_raw{x.y})
#undef __GPULAB_FP8__
#undef __GPULAB_FP8X2__
__GPULAB_BOTH__ __half_raw __hip_cvt_fp8_to_halfraw(const __hip_fp8_storage_t x,
                                                    const __hip_fp8_interpretation_t type) {
  return __float2half(gpulab::from_fp8(x, type));
}
__GPULAB_BOTH__ __half2_raw __hip_cvt_fp8x2_to_halfraw2(const __hip_fp8x2_storage_t x,
                                                        const __hip_fp8_interpretation_t type) {
  return __floats2half2_rn(gpulab::from_fp8(static_cast<__hip_fp8_storage_t>(x & 0xff), type),
                           gpulab::from_fp8(static_cast<__hip_fp8_storage_t>(x >> 8), type));
}

namespace gpulab {
template <typename T>
inline constexpr bool fp8_source = __is_arithmetic(T) || __is_same(T, __half) || __is_same(T, __hip_bfloat16);
__attribute__((host)) inline void other_8_bit_format() {}
// Refuses the formats of other GPUs in device code: as a call of the host's, which host code of the same source may make.
template <typename T, __hip_fp8_interpretation_t name>
__GPULAB_BOTH__ void check_fp8() {
  if constexpr (!(fp8_format(name).fnuz ? HIP_FP8_TYPE_FNUZ : HIP_FP8_TYPE_OCP)) other_8_bit_format();
}
}  // namespace gpulab

// The classes for one number, two and four. __x holds the codes, the first in the lowest byte.
#define __GPULAB_FP8_TYPES__(suffix, name)                                                                        \
  struct __hip_fp8_##suffix {                                                                                     \
    __hip_fp8_storage_t __x;                                                                                      \
    static constexpr __hip_saturation_t __default_saturation = __HIP_SATFINITE;                                   \
    static constexpr __hip_fp8_interpretation_t __default_interpret = name;                                       \
    __hip_fp8_##suffix() = default;                                                                               \
    template <typename T, typename = gpulab::enable_if_t<gpulab::fp8_source<T>>>                            \
    __GPULAB_MEMBER__ explicit __hip_fp8_##suffix(T x) {                                                          \
      gpulab::check_fp8<T, name>();                                                                               \
      if constexpr (__is_same(T, double)) {                                                                       \
        __x = gpulab::to_fp8(x, __HIP_SATFINITE, name);                                                           \
      } else {                                                                                                    \
        __x = gpulab::to_fp8(static_cast<float>(x), __HIP_SATFINITE, name);                                       \
      }                                                                                                           \
    }                                                                                                             \
    template <typename T = float>                                                                                 \
    __GPULAB_MEMBER__ operator float() const {                                                                    \
      gpulab::check_fp8<T, name>();                                                                               \
      return gpulab::from_fp8(__x, name);                                                                         \
    }                                                                                                             \
    template <typename T, typename = gpulab::enable_if_t<gpulab::fp8_source<T> && !__is_same(T, float)>>          \
    __GPULAB_MEMBER__ explicit operator T() const {                                                               \
      gpulab::check_fp8<T, name>();                                                                               \
      return static_cast<T>(gpulab::from_fp8(__x, name));                                                         \
    }                                                                                                             \
  };                                                                                                              \
  struct __hip_fp8x2_##suffix {                                                                                   \
    __hip_fp8x2_storage_t __x;                                                                                    \
    static constexpr __hip_saturation_t __default_saturation = __HIP_SATFINITE;                                   \
    static constexpr __hip_fp8_interpretation_t __default_interpret = name;                                       \
    __hip_fp8x2_##suffix() = default;                                                                             \
    template <typename T, typename E = decltype(T().x)>                                                           \
    __GPULAB_MEMBER__ explicit __hip_fp8x2_##suffix(T v) {                                                        \
      __hip_fp8_##suffix x(v.x), y(v.y);                                                                          \
      __x = static_cast<__hip_fp8x2_storage_t>(x.__x | y.__x << 8);                                               \
    }                                                                                                             \
    __GPULAB_MEMBER__ operator float2() const {                                                                   \
      return float2(gpulab::from_fp8(static_cast<__hip_fp8_storage_t>(__x & 0xff), name),                         \
                    gpulab::from_fp8(static_cast<__hip_fp8_storage_t>(__x >> 8), name));                          \
    }                                                                                                             \
    __GPULAB_MEMBER__ explicit operator __half2() const { return __float22half2_rn(*this); }                      \
    __GPULAB_MEMBER__ explicit operator __hip_bfloat162() const { return __float22bfloat162_rn(*this); }          \
  };                                                                                                              \
  struct __hip_fp8x4_##suffix {                                                                                   \
    __hip_fp8x4_storage_t __x;                                                                                    \
    static constexpr __hip_saturation_t __default_saturation = __HIP_SATFINITE;                                   \
    static constexpr __hip_fp8_interpretation_t __default_interpret = name;                                       \
    __hip_fp8x4_##suffix() = default;                                                                             \
    template <typename T, typename E = decltype(T().w)>                                                           \
    __GPULAB_MEMBER__ explicit __hip_fp8x4_##suffix(T v) {                                                        \
      __hip_fp8_##suffix x(v.x), y(v.y), z(v.z), w(v.w);                                                          \
      __x = x.__x | static_cast<uint32_t>(y.__x) << 8 | static_cast<uint32_t>(z.__x) << 16 |                      \
            static_cast<uint32_t>(w.__x) << 24;                                                                   \
    }                                                                                                             \
    template <typename T, typename E = decltype(T().y), typename = gpulab::enable_if_t<sizeof(T) == 4>>           \
    __GPULAB_MEMBER__ explicit __hip_fp8x4_##suffix(T low, T high) {                                              \
      __hip_fp8x2_##suffix a(low), b(high);                                                                       \
      __x = a.__x | static_cast<uint32_t>(b.__x) << 16;                                                           \
    }                                                                                                             \
    __GPULAB_MEMBER__ operator float4() const {                                                                   \
      return float4(gpulab::from_fp8(static_cast<__hip_fp8_storage_t>(__x & 0xff), name),                         \
                    gpulab::from_fp8(static_cast<__hip_fp8_storage_t>(__x >> 8 & 0xff), name),                    \
                    gpulab::from_fp8(static_cast<__hip_fp8_storage_t>(__x >> 16 & 0xff), name),                   \
                    gpulab::from_fp8(static_cast<__hip_fp8_storage_t>(__x >> 24), name));                         \
    }                                                                                                             \
  };
__GPULAB_FP8_TYPES__(e4m3, __HIP_E4M3)
__GPULAB_FP8_TYPES__(e5m2, __HIP_E5M2)
__GPULAB_FP8_TYPES__(e4m3_fnuz, __HIP_E4M3_FNUZ)
__GPULAB_FP8_TYPES__(e5m2_fnuz, __HIP_E5M2_FNUZ)
#undef __GPULAB_FP8_TYPES__

// E8M0, the scale of a block of small numbers: a power of two from 2^-127 to 2^127, or NaN (0xff). The sign is dropped.
// hipRoundPosInf takes the next power above what is none, other modes the one below. As in HIP, what is smaller than
// 2^-127 becomes 2^-126 with hipRoundPosInf, but not if it is a power of two or subnormal as a double.
namespace gpulab {
__GPULAB_BOTH__ unsigned char to_e8m0(double x, __hip_saturation_t saturate, hipRoundMode round) {
  if (x != x) return 0xff;
  if (__builtin_isinf(x)) return saturate == __HIP_SATFINITE ? 0xfe : 0xff;
  const uint64_t bits = __builtin_bit_cast(uint64_t, x) & 0x7fffffffffffffffull;
  const int exponent = static_cast<int>(bits >> 52);
  const bool above = (bits & 0xfffffffffffffull) != 0 && exponent != 0;
  int code = exponent - 1023 + 127;
  if (code < 0) code = 0;
  if (round == hipRoundPosInf && above) ++code;
  if (code > 0xfe) return saturate == __HIP_SATFINITE ? 0xfe : 0xff;
  return static_cast<unsigned char>(code);
}
}  // namespace gpulab
__GPULAB_BOTH__ unsigned char __hip_cvt_double_to_e8m0(const double x, const __hip_saturation_t saturate,
                                                       const enum hipRoundMode round) {
  return gpulab::to_e8m0(x, saturate, round);
}
__GPULAB_BOTH__ unsigned char __hip_cvt_float_to_e8m0(const float x, const __hip_saturation_t saturate,
                                                      const enum hipRoundMode round) {
  return gpulab::to_e8m0(static_cast<double>(x), saturate, round);
}
__GPULAB_BOTH__ unsigned char __hip_cvt_bfloat16raw_to_e8m0(const __hip_bfloat16_raw x,
                                                            const __hip_saturation_t saturate,
                                                            const enum hipRoundMode round) {
  return gpulab::to_e8m0(static_cast<double>(static_cast<float>(__hip_bfloat16(x))), saturate, round);
}
__GPULAB_BOTH__ __hip_bfloat16_raw __hip_cvt_e8m0_to_bf16raw(const unsigned char x) {
  __hip_bfloat16_raw found;
  found.x = static_cast<unsigned short>(x == 0xff ? 0x7fff : x == 0 ? 0x0040 : x << 7);
  return found;
}
#include "../gpulab/names_end.h"
