// Brain floating point: __hip_bfloat16 and pairs of them, __hip_bfloat162.
//
// A bfloat16 is the upper half of a float: 1 sign, 8 exponent and 7 fraction bits, so float's range with 8 significant
// bits. It is computed with in float and rounded to nearest even; only gfx950 and later round in one instruction.
// numpy has no such type: copy the bits as uint16. gpulab/short_floats.h has the functions.
#pragma once
#include "../gpulab/names.h"
#include "../gpulab/short_floats.h"

typedef __bf16 __bf16_2 __attribute__((ext_vector_type(2)));

typedef struct __attribute__((aligned(2))) {
  unsigned short x;
} __hip_bfloat16_raw;
typedef struct __attribute__((aligned(4))) {
  unsigned short x;
  unsigned short y;
} __hip_bfloat162_raw;

struct __hip_bfloat16;
struct __hip_bfloat162;
namespace gpulab {
template <>
struct native<__hip_bfloat16> {
  using type = __bf16;
};
template <>
struct native<__hip_bfloat162> {
  using type = __bf16_2;
};
template <typename T>
inline constexpr bool is_bfloat16_source =
    __is_same(T, float) || __is_same(T, double) || __is_same(T, __bf16) || __is_integral(T);
}  // namespace gpulab

struct __attribute__((aligned(2))) __hip_bfloat16 {
 protected:
  __bf16 data;

 public:
  __hip_bfloat16() = default;
  __GPULAB_MEMBER__ constexpr __hip_bfloat16(const __hip_bfloat16_raw& x) : data(__builtin_bit_cast(__bf16, x)) {}
  template <typename T, typename = gpulab::enable_if_t<gpulab::is_bfloat16_source<T>>>
  __GPULAB_MEMBER__ constexpr __hip_bfloat16(T x) : data(static_cast<__bf16>(x)) {}
  template <typename T, typename = gpulab::enable_if_t<gpulab::is_bfloat16_source<T>>>
  __GPULAB_MEMBER__ constexpr operator T() const {
    return static_cast<T>(data);
  }
  __GPULAB_MEMBER__ constexpr operator __hip_bfloat16_raw() const {
    return __builtin_bit_cast(__hip_bfloat16_raw, data);
  }
};

struct __attribute__((aligned(4))) __hip_bfloat162 {
  union {
    struct {
      __hip_bfloat16 x;
      __hip_bfloat16 y;
    };
    __bf16_2 __xy_bf162;
  };
  __hip_bfloat162() = default;
  __GPULAB_MEMBER__ __hip_bfloat162(const __hip_bfloat162_raw& pair)
      : __xy_bf162(__builtin_bit_cast(__bf16_2, pair)) {}
  __GPULAB_MEMBER__ constexpr __hip_bfloat162(__bf16_2 pair) : __xy_bf162(pair) {}
  __GPULAB_MEMBER__ constexpr __hip_bfloat162(const __hip_bfloat16& x, const __hip_bfloat16& y) : x(x), y(y) {}
  __GPULAB_MEMBER__ operator __bf16_2() const { return __xy_bf162; }
  __GPULAB_MEMBER__ operator __hip_bfloat162_raw() const { return __builtin_bit_cast(__hip_bfloat162_raw, __xy_bf162); }
  __GPULAB_MEMBER__ operator float2() const { return float2(static_cast<float>(x), static_cast<float>(y)); }
};

#define HIPRT_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3F80U)
#define HIPRT_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000U)
#define HIPRT_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7F80U)
#define HIPRT_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7F7FU)
#define HIPRT_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001U)
#define HIPRT_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7FFFU)
#define HIPRT_NEG_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x8000U)

namespace gpulab {
__GPULAB_FUNCTION__ __hip_bfloat162 atomic_add(__hip_bfloat162* address, __hip_bfloat162 value) {
#if __has_builtin(__builtin_amdgcn_flat_atomic_fadd_v2bf16)
  typedef short pair __attribute__((ext_vector_type(2)));
  return __builtin_bit_cast(__hip_bfloat162,
                            __builtin_amdgcn_flat_atomic_fadd_v2bf16(reinterpret_cast<pair*>(address),
                                                                     __builtin_bit_cast(pair, value)));
#else
  return exchange_loop<__hip_bfloat162>(reinterpret_cast<uint32_t*>(address),
                                        [=](uint32_t word) __attribute__((always_inline, nodebug)) {
                                          return wrap<__hip_bfloat162>(__builtin_bit_cast(__bf16_2, word) + raw(value));
                                        });
#endif
}
}  // namespace gpulab

__GPULAB_SHORT_FLOAT__(__hip_bfloat16, __hip_bfloat162, bfloat16)
__GPULAB_SHORT_FUNCTION__(__hip_bfloat16, __hip_bfloat162, sin, ::sinf(x))
__GPULAB_SHORT_FUNCTION__(__hip_bfloat16, __hip_bfloat162, cos, ::cosf(x))

// Operators, on numbers and on pairs. Comparisons of pairs are true if they hold for both numbers.
#define __GPULAB_BF16_OPERATORS__(H, H2, op, name, name2)                                     \
  __GPULAB_BOTH__ H operator op(const H a, const H b) { return name(a, b); }                  \
  __GPULAB_BOTH__ H2 operator op(const H2 a, const H2 b) { return name2(a, b); }              \
  __GPULAB_BOTH__ H& operator op##=(H& a, const H b) { return a = name(a, b); }               \
  __GPULAB_BOTH__ H2& operator op##=(H2& a, const H2 b) { return a = name2(a, b); }
#define __GPULAB_BF16_STEP__(H, op)                                                           \
  __GPULAB_BOTH__ H& operator op##op(H& a) { return a = a op gpulab::one<H>(); }              \
  __GPULAB_BOTH__ H operator op##op(H& a, const int) {                                        \
    H old = a;                                                                                \
    a = a op gpulab::one<H>();                                                                \
    return old;                                                                               \
  }
#define __GPULAB_BF16_RELATION__(H, H2, op, name)                                             \
  __GPULAB_BOTH__ bool operator op(const H a, const H b) { return __h##name(a, b); }          \
  __GPULAB_BOTH__ bool operator op(const H2 a, const H2 b) { return __hb##name##2(a, b); }
__GPULAB_BF16_OPERATORS__(__hip_bfloat16, __hip_bfloat162, +, __hadd, __hadd2)
__GPULAB_BF16_OPERATORS__(__hip_bfloat16, __hip_bfloat162, -, __hsub, __hsub2)
__GPULAB_BF16_OPERATORS__(__hip_bfloat16, __hip_bfloat162, *, __hmul, __hmul2)
__GPULAB_BF16_OPERATORS__(__hip_bfloat16, __hip_bfloat162, /, __hdiv, __h2div)
namespace gpulab {
template <typename H>
__GPULAB_BOTH__ H one() {
  return wrap<H>(static_cast<typename native<H>::type>(1.0f));
}
}  // namespace gpulab
__GPULAB_BF16_STEP__(__hip_bfloat16, +)
__GPULAB_BF16_STEP__(__hip_bfloat16, -)
__GPULAB_BF16_STEP__(__hip_bfloat162, +)
__GPULAB_BF16_STEP__(__hip_bfloat162, -)
__GPULAB_BF16_RELATION__(__hip_bfloat16, __hip_bfloat162, ==, eq)
__GPULAB_BF16_RELATION__(__hip_bfloat16, __hip_bfloat162, <, lt)
__GPULAB_BF16_RELATION__(__hip_bfloat16, __hip_bfloat162, <=, le)
__GPULAB_BF16_RELATION__(__hip_bfloat16, __hip_bfloat162, >, gt)
__GPULAB_BF16_RELATION__(__hip_bfloat16, __hip_bfloat162, >=, ge)
__GPULAB_BOTH__ bool operator!=(const __hip_bfloat16 a, const __hip_bfloat16 b) { return !(a == b); }
__GPULAB_BOTH__ bool operator!=(const __hip_bfloat162 a, const __hip_bfloat162 b) { return !(a == b); }
__GPULAB_BOTH__ __hip_bfloat16 operator+(const __hip_bfloat16 a) { return a; }
__GPULAB_BOTH__ __hip_bfloat16 operator-(const __hip_bfloat16 a) { return __hneg(a); }
__GPULAB_BOTH__ __hip_bfloat162 operator+(const __hip_bfloat162 a) { return a; }
__GPULAB_BOTH__ __hip_bfloat162 operator-(const __hip_bfloat162 a) { return __hneg2(a); }
#undef __GPULAB_BF16_OPERATORS__
#undef __GPULAB_BF16_STEP__
#undef __GPULAB_BF16_RELATION__

// Making and taking apart pairs.
#define __GPULAB_BF162__ __GPULAB_BOTH__ __hip_bfloat162
__GPULAB_BF162__ make_bfloat162(__hip_bfloat16 x, __hip_bfloat16 y) { return __hip_bfloat162(x, y); }
__GPULAB_BF162__ __halves2bfloat162(__hip_bfloat16 x, __hip_bfloat16 y) { return __hip_bfloat162(x, y); }
__GPULAB_BF162__ __bfloat162bfloat162(__hip_bfloat16 x) { return __hip_bfloat162(x, x); }
__GPULAB_BOTH__ __hip_bfloat16 __low2bfloat16(__hip_bfloat162 x) { return x.x; }
__GPULAB_BOTH__ __hip_bfloat16 __high2bfloat16(__hip_bfloat162 x) { return x.y; }
__GPULAB_BF162__ __low2bfloat162(__hip_bfloat162 x) { return __hip_bfloat162(x.x, x.x); }
__GPULAB_BF162__ __high2bfloat162(__hip_bfloat162 x) { return __hip_bfloat162(x.y, x.y); }
__GPULAB_BF162__ __lows2bfloat162(__hip_bfloat162 x, __hip_bfloat162 y) { return __hip_bfloat162(x.x, y.x); }
__GPULAB_BF162__ __highs2bfloat162(__hip_bfloat162 x, __hip_bfloat162 y) { return __hip_bfloat162(x.y, y.y); }
__GPULAB_BF162__ __float2bfloat162_rn(float x) { return __bfloat162bfloat162(__float2bfloat16(x)); }
__GPULAB_BF162__ __floats2bfloat162_rn(float x, float y) {
  return __hip_bfloat162(__float2bfloat16(x), __float2bfloat16(y));
}
__GPULAB_BF162__ __float22bfloat162_rn(float2 x) { return __floats2bfloat162_rn(x.x, x.y); }
__GPULAB_BOTH__ float2 __bfloat1622float2(__hip_bfloat162 x) { return float2(__low2float(x), __high2float(x)); }
#undef __GPULAB_BF162__
#include "../gpulab/names_end.h"
