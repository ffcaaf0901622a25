// Half-precision numbers: __half and pairs of them, __half2 (half and half2 are other names for them).
//
// A __half has 1 sign, 5 exponent and 10 fraction bits: 11 significant bits, largest 65504, smallest 2^-24. On the
// host it is numpy's float16. Operations on __half2 become packed instructions (v_pk_add_f16), two for the price of one.
// Conversions with _rd, _ru, _rz round as they say, also between integers and __half, where HIP rounds to nearest or
// toward zero whatever the name. gpulab/short_floats.h has the functions.
#pragma once
#include "../gpulab/names.h"
#include "../gpulab/short_floats.h"

typedef _Float16 _Float16_2 __attribute__((ext_vector_type(2)));

struct __half_raw {
  union {
    _Float16 data;
    unsigned short x;
  };
};
struct __half2_raw {
  union {
    struct {
      __half_raw x;
      __half_raw y;
    };
    _Float16_2 data;
  };
};

// Operators, the same for numbers and pairs. ONE is the number 1 or the pair of ones.
#define __GPULAB_HALF_OPERATORS__(H, ONE)                                                                \
  __GPULAB_MEMBER__ H& operator+=(const H& b) { data += b.data; return *this; }                          \
  __GPULAB_MEMBER__ H& operator-=(const H& b) { data -= b.data; return *this; }                          \
  __GPULAB_MEMBER__ H& operator*=(const H& b) { data *= b.data; return *this; }                          \
  __GPULAB_MEMBER__ H& operator/=(const H& b) { data /= b.data; return *this; }                          \
  __GPULAB_MEMBER__ H& operator++() { data += ONE; return *this; }                                       \
  __GPULAB_MEMBER__ H& operator--() { data -= ONE; return *this; }                                       \
  __GPULAB_MEMBER__ H operator++(int) { H old = *this; data += ONE; return old; }                        \
  __GPULAB_MEMBER__ H operator--(int) { H old = *this; data -= ONE; return old; }                        \
  __GPULAB_MEMBER__ H operator+() const { return *this; }                                                \
  __GPULAB_MEMBER__ H operator-() const { return gpulab::wrap<H>(-data); }                               \
  friend __GPULAB_MEMBER__ H operator+(const H& a, const H& b) { return gpulab::wrap<H>(a.data + b.data); } \
  friend __GPULAB_MEMBER__ H operator-(const H& a, const H& b) { return gpulab::wrap<H>(a.data - b.data); } \
  friend __GPULAB_MEMBER__ H operator*(const H& a, const H& b) { return gpulab::wrap<H>(a.data * b.data); } \
  friend __GPULAB_MEMBER__ H operator/(const H& a, const H& b) { return gpulab::wrap<H>(a.data / b.data); } \
  friend __GPULAB_MEMBER__ bool operator!=(const H& a, const H& b) { return !(a == b); }                 \
  friend __GPULAB_MEMBER__ bool operator>(const H& a, const H& b) { return b < a; }

struct __half;
struct __half2;
namespace gpulab {
template <>
struct native<__half> {
  using type = _Float16;
};
template <>
struct native<__half2> {
  using type = _Float16_2;
};
template <typename T>
inline constexpr bool is_floating = __is_same(T, float) || __is_same(T, double) || __is_same(T, _Float16);
}  // namespace gpulab

struct __half {
 protected:
  union {  // as in HIP: so a host function with `...` gets its bits, where an integer is passed
    _Float16 data;
    unsigned short __x;
  };

 public:
  __half() = default;
  __GPULAB_MEMBER__ constexpr __half(_Float16 x) : data(x) {}
  // Of the union's two members a constant has the one that it was made with.
  __GPULAB_MEMBER__ constexpr __half(const __half_raw& x)
      : data(__builtin_constant_p(x.x) ? __builtin_bit_cast(_Float16, x.x) : x.data) {}
  __GPULAB_MEMBER__ constexpr operator __half_raw() const { return __half_raw{{data}}; }
  __GPULAB_MEMBER__ __half& operator=(const volatile __half_raw& x) {
    data = x.data;
    return *this;
  }
#ifndef __HIP_NO_HALF_CONVERSIONS__
  template <typename T, typename = gpulab::enable_if_t<gpulab::is_floating<T> || __is_integral(T)>>
  __GPULAB_MEMBER__ constexpr __half(T x) : data(static_cast<_Float16>(x)) {}
  template <typename T, typename = gpulab::enable_if_t<gpulab::is_floating<T> || __is_integral(T)>>
  __GPULAB_MEMBER__ constexpr operator T() const {
    return static_cast<T>(data);
  }
#endif
#ifndef __HIP_NO_HALF_OPERATORS__
  __GPULAB_HALF_OPERATORS__(__half, static_cast<_Float16>(1))
  friend __GPULAB_MEMBER__ bool operator==(const __half& a, const __half& b) { return a.data == b.data; }
  friend __GPULAB_MEMBER__ bool operator<(const __half& a, const __half& b) { return a.data < b.data; }
  friend __GPULAB_MEMBER__ bool operator<=(const __half& a, const __half& b) { return a.data <= b.data; }
  friend __GPULAB_MEMBER__ bool operator>=(const __half& a, const __half& b) { return a.data >= b.data; }
#endif
};

// Comparisons of pairs are true if they hold for both numbers.
struct __half2 {
  union {
    struct {
      __half x;
      __half y;
    };
    _Float16_2 data;
  };
  __half2() = default;
  __GPULAB_MEMBER__ __half2(const __half2_raw& pair) : data(pair.data) {}
  __GPULAB_MEMBER__ constexpr __half2(_Float16_2 pair) : data(pair) {}
  __GPULAB_MEMBER__ constexpr __half2(const __half& x, const __half& y) : x(x), y(y) {}
  __GPULAB_MEMBER__ operator _Float16_2() const { return data; }
  __GPULAB_MEMBER__ operator __half2_raw() const { return __builtin_bit_cast(__half2_raw, data); }
#ifndef __HIP_NO_HALF_OPERATORS__
  __GPULAB_HALF_OPERATORS__(__half2, static_cast<_Float16>(1))
  friend __GPULAB_MEMBER__ bool operator==(const __half2& a, const __half2& b) {
    return a.data.x == b.data.x && a.data.y == b.data.y;
  }
  friend __GPULAB_MEMBER__ bool operator<(const __half2& a, const __half2& b) {
    return a.data.x < b.data.x && a.data.y < b.data.y;
  }
  friend __GPULAB_MEMBER__ bool operator<=(const __half2& a, const __half2& b) {
    return a.data.x <= b.data.x && a.data.y <= b.data.y;
  }
  friend __GPULAB_MEMBER__ bool operator>=(const __half2& a, const __half2& b) { return b <= a; }
#endif
};
#undef __GPULAB_HALF_OPERATORS__
#ifndef HIP_NO_HALF
using half = __half;
using half2 = __half2;
#endif

#define HIPRT_INF_FP16 __ushort_as_half((unsigned short)0x7C00U)
#define HIPRT_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFFU)
#define HIPRT_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001U)
#define HIPRT_NAN_FP16 __ushort_as_half((unsigned short)0x7FFFU)
#define HIPRT_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000U)
#define HIPRT_ONE_FP16 __ushort_as_half((unsigned short)0x3C00U)
#define HIPRT_ZERO_FP16 __ushort_as_half((unsigned short)0x0000U)

namespace gpulab {
// Where the hardware adds pairs itself it does so on memory that the host does not share; else compare and swap.
__GPULAB_FUNCTION__ __half2 atomic_add(__half2* address, __half2 value) {
#if __has_builtin(__builtin_amdgcn_flat_atomic_fadd_v2f16)
  return __builtin_amdgcn_flat_atomic_fadd_v2f16(reinterpret_cast<_Float16_2*>(address), value.data);
#else
  return exchange_loop<__half2>(reinterpret_cast<uint32_t*>(address),
                                [=](uint32_t word) __attribute__((always_inline, nodebug)) {
                                  return wrap<__half2>(__builtin_bit_cast(_Float16_2, word) + value.data);
                                });
#endif
}
}  // namespace gpulab

__GPULAB_SHORT_FLOAT__(__half, __half2, half)
__GPULAB_SHORT_FUNCTION__(__half, __half2, sin, gpulab::sine_of_short(x, 0))
__GPULAB_SHORT_FUNCTION__(__half, __half2, cos, gpulab::sine_of_short(x, 1))

// Making and taking apart pairs.
__GPULAB_BOTH__ __half2 make_half2(__half x, __half y) { return __half2(x, y); }
__GPULAB_BOTH__ __half2 __halves2half2(__half x, __half y) { return __half2(x, y); }
__GPULAB_BOTH__ __half2 __half2half2(__half x) { return __half2(x, x); }
__GPULAB_BOTH__ __half __low2half(__half2 x) { return x.x; }
__GPULAB_BOTH__ __half __high2half(__half2 x) { return x.y; }
__GPULAB_BOTH__ __half2 __low2half2(__half2 x) { return __half2(x.x, x.x); }
__GPULAB_BOTH__ __half2 __high2half2(__half2 x) { return __half2(x.y, x.y); }
__GPULAB_BOTH__ __half2 __lows2half2(__half2 x, __half2 y) { return __half2(x.x, y.x); }
__GPULAB_BOTH__ __half2 __highs2half2(__half2 x, __half2 y) { return __half2(x.y, y.y); }
__GPULAB_BOTH__ __half2 __float2half2_rn(float x) { return __half2(__float2half(x), __float2half(x)); }
__GPULAB_BOTH__ __half2 __floats2half2_rn(float x, float y) { return __half2(__float2half(x), __float2half(y)); }
__GPULAB_BOTH__ __half2 __float22half2_rn(float2 x) { return __floats2half2_rn(x.x, x.y); }
__GPULAB_BOTH__ float2 __half22float2(__half2 x) { return float2(__low2float(x), __high2float(x)); }

// a.x * b.x + a.y * b.y + c in float; saturated to 0 to 1 on demand.
__GPULAB_FUNCTION__ float amd_mixed_dot(__half2 a, __half2 b, float c, bool saturate) {
  float sum = __builtin_fmaf(__high2float(a), __high2float(b), __builtin_fmaf(__low2float(a), __low2float(b), c));
  return saturate ? __saturatef(sum) : sum;
}
#include "../gpulab/names_end.h"
