// What half and bfloat16 have in common: conversions with a stated rounding, comparisons, arithmetic and mathematics
// on one number and on pairs. hip/hip_fp16.h and hip/hip_bf16.h define the types and then use
// __GPULAB_SHORT_FLOAT__(H, H2, N), where N is the compiler's type (_Float16, __bf16).
//
// Sums, differences, products, quotients, square roots and conversions are the exact result rounded once, to nearest
// even unless the name says otherwise; __hfma of half too. The other functions are float's, rounded once more.
#pragma once
#include "../hip/hip_runtime.h"

namespace gpulab {

// The compiler's types behind the classes: native<__half>::type is _Float16, native<__half2>::type a pair of them.
template <typename H>
struct native;
template <typename H>
__GPULAB_BOTH__ constexpr typename native<H>::type raw(const H& x) {
  return __builtin_bit_cast(typename native<H>::type, x);
}
template <typename H>
__GPULAB_BOTH__ constexpr H wrap(typename native<H>::type x) {
  return __builtin_bit_cast(H, x);
}

template <typename H>
__GPULAB_BOTH__ constexpr H of(float x) {
  return wrap<H>(static_cast<typename native<H>::type>(x));
}
template <typename H>
__GPULAB_BOTH__ constexpr float to_float(const H& x) {
  return static_cast<float>(raw(x));
}

// One more than the largest T, which is an integer type.
template <typename T>
inline constexpr float end_of = static_cast<float>(1ull << (8 * sizeof(T) - 1)) * (static_cast<T>(-1) < 0 ? 1.0f : 2.0f);

// From a wider type down to or up to the next N: round to nearest, then correct by one step.
template <typename N, typename T>
__GPULAB_BOTH__ N rounded(T x, bool up) {
  N nearest = static_cast<N>(x);
  float value = static_cast<float>(nearest);
  bool wrong;  // on the other side of x
  if constexpr (__is_integral(T)) {
    if (value >= end_of<T>) {
      wrong = !up;
    } else if (value < -end_of<T>) {
      wrong = up;
    } else {
      wrong = up ? static_cast<T>(value) < x : static_cast<T>(value) > x;
    }
  } else {
    wrong = up ? static_cast<T>(value) < x : static_cast<T>(value) > x;
  }
  if (!wrong) return nearest;
  unsigned short bits = __builtin_bit_cast(unsigned short, nearest);
  if ((bits & 0x7fffu) == 0) {
    bits = up ? 0x0001u : 0x8001u;
  } else {
    bits = static_cast<unsigned short>((bits < 0x8000u) == up ? bits + 1 : bits - 1);
  }
  return __builtin_bit_cast(N, bits);
}
template <typename N, typename T>
__GPULAB_BOTH__ N rounded_to_zero(T x) {
  return rounded<N>(x, x < 0);
}

// To an integer type, as the hardware converts: too large or small gives the type's limit, NaN gives 0.
template <typename T>
__GPULAB_BOTH__ T to_integer(float x) {
  constexpr T least = static_cast<T>(-1) < 0 ? static_cast<T>(1ull << (8 * sizeof(T) - 1)) : static_cast<T>(0);
  if (x != x) return 0;
  if (x >= end_of<T>) return static_cast<T>(~least);
  if (x <= static_cast<float>(least)) return least;
  return static_cast<T>(x);
}

// Sine and cosine of a half or bfloat16 in float: the angle less the nearest multiple n of pi/2, pi/2 being the sum of
// two floats; then the series of the sine or cosine, to a relative error below 1e-6 for |x| < 65536.
__GPULAB_FUNCTION__ float sine_of_short(float x, int quarter) {
  float n = __builtin_rintf(x * 0.636619772f);
  float r = __builtin_fmaf(-n, 1.57079637f, x);
  r = __builtin_fmaf(-n, -4.37113883e-8f, r);
  int k = static_cast<int>(n) + quarter;
  float s = r * r;
  float sine = __builtin_fmaf(s, __builtin_fmaf(s, __builtin_fmaf(s, 2.75573192e-6f, -1.98412698e-4f), 8.33333333e-3f),
                              -0.166666667f);
  sine = __builtin_fmaf(r * s, sine, r);
  float cosine = __builtin_fmaf(s, __builtin_fmaf(s, __builtin_fmaf(s, 2.48015873e-5f, -1.38888889e-3f),
                                                  4.16666667e-2f), -0.5f);
  cosine = __builtin_fmaf(s, cosine, 1.0f);
  float result = k & 1 ? cosine : sine;
  return k & 2 ? -result : result;
}

// Replaces the word at address by next(word) in one atomic step; gives the word that was there, as a Word.
template <typename Word, typename F>
__GPULAB_FUNCTION__ Word exchange_loop(uint32_t* address, F next) {
  uint32_t old = __hip_atomic_load(address, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  while (!__hip_atomic_compare_exchange_strong(address, &old, __builtin_bit_cast(uint32_t, next(old)),
                                               __ATOMIC_RELAXED, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)) {
  }
  return __builtin_bit_cast(Word, old);
}
}  // namespace gpulab

// Relations. All but != and the forms with u are false if one number is NaN; those with u are true.
#define __GPULAB_SHORT_RELATION__(H, H2, name, expression)                                              \
  __GPULAB_BOTH__ bool __h##name(H x, H y) {                                                            \
    auto a = gpulab::raw(x), b = gpulab::raw(y);                                                        \
    return expression;                                                                                  \
  }                                                                                                     \
  __GPULAB_BOTH__ H2 __h##name##2(H2 x, H2 y) {                                                         \
    return H2(gpulab::of<H>(__h##name(x.x, y.x)), gpulab::of<H>(__h##name(x.y, y.y)));                  \
  }                                                                                                     \
  __GPULAB_BOTH__ bool __hb##name##2(H2 x, H2 y) { return __h##name(x.x, y.x) && __h##name(x.y, y.y); } \
  template <int = 0> /* HIP has none: programs that define their own have that */                       \
  __GPULAB_BOTH__ unsigned int __h##name##2_mask(H2 x, H2 y) {                                          \
    return (__h##name(x.x, y.x) ? 0xffffu : 0u) | (__h##name(x.y, y.y) ? 0xffff0000u : 0u);             \
  }

// An operation on numbers and on pairs; _rn forbids fusing with its neighbours, _sat brings the result into 0 to 1.
#define __GPULAB_SHORT_OPERATION__(H, H2, name, name2, op)                                       \
  __GPULAB_BOTH__ H name(H x, H y) { return gpulab::wrap<H>(gpulab::raw(x) op gpulab::raw(y)); } \
  __GPULAB_BOTH__ H2 name2(H2 x, H2 y) { return gpulab::wrap<H2>(gpulab::raw(x) op gpulab::raw(y)); }
#define __GPULAB_SHORT_OPERATION_FORMS__(H, H2, name, op)                                        \
  __GPULAB_SHORT_OPERATION__(H, H2, name, name##2, op)                                           \
  __GPULAB_BOTH__ H name##_rn(H x, H y) {                                                        \
    _Pragma("clang fp contract(off)") return gpulab::wrap<H>(gpulab::raw(x) op gpulab::raw(y));  \
  }                                                                                              \
  __GPULAB_BOTH__ H2 name##2_rn(H2 x, H2 y) {                                                    \
    _Pragma("clang fp contract(off)") return gpulab::wrap<H2>(gpulab::raw(x) op gpulab::raw(y)); \
  }                                                                                              \
  __GPULAB_BOTH__ H name##_sat(H x, H y) { return __clamp_01(name(x, y)); }                      \
  __GPULAB_BOTH__ H2 name##2_sat(H2 x, H2 y) { return H2(name##_sat(x.x, y.x), name##_sat(x.y, y.y)); }

// A function by way of float, on numbers (hexp) and on pairs (h2exp).
#define __GPULAB_SHORT_FUNCTION__(H, H2, name, expression) \
  __GPULAB_FUNCTION__ H h##name(H h) {                     \
    float x = gpulab::to_float(h);                         \
    return gpulab::of<H>(expression);                      \
  }                                                        \
  __GPULAB_FUNCTION__ H2 h2##name(H2 x) { return H2(h##name(x.x), h##name(x.y)); }

#define __GPULAB_SHORT_INTEGER__(H, word, from, T)                                                                       \
  __GPULAB_BOTH__ T __##word##2##from##_rn(H x) { return gpulab::to_integer<T>(__builtin_rintf(gpulab::to_float(x))); } \
  __GPULAB_BOTH__ T __##word##2##from##_rz(H x) { return gpulab::to_integer<T>(gpulab::to_float(x)); }                   \
  __GPULAB_BOTH__ T __##word##2##from##_rd(H x) { return gpulab::to_integer<T>(__builtin_floorf(gpulab::to_float(x))); } \
  __GPULAB_BOTH__ T __##word##2##from##_ru(H x) { return gpulab::to_integer<T>(__builtin_ceilf(gpulab::to_float(x))); }  \
  __GPULAB_SHORT_ROUNDED__(H, from##2##word, T)
#define __GPULAB_SHORT_ROUNDED__(H, name, T)                                                                            \
  __GPULAB_BOTH__ H __##name##_rn(T x) { return gpulab::wrap<H>(static_cast<gpulab::native<H>::type>(x)); }             \
  __GPULAB_BOTH__ H __##name##_rz(T x) { return gpulab::wrap<H>(gpulab::rounded_to_zero<gpulab::native<H>::type>(x)); } \
  __GPULAB_BOTH__ H __##name##_rd(T x) { return gpulab::wrap<H>(gpulab::rounded<gpulab::native<H>::type>(x, false)); }  \
  __GPULAB_BOTH__ H __##name##_ru(T x) { return gpulab::wrap<H>(gpulab::rounded<gpulab::native<H>::type>(x, true)); }

#define __GPULAB_SHORT_LOADS__(H)                                 \
  __GPULAB_BOTH__ H __ldg(const H* address) { return *address; }  \
  __GPULAB_BOTH__ H __ldcg(const H* address) { return *address; } \
  __GPULAB_BOTH__ H __ldca(const H* address) { return *address; } \
  __GPULAB_BOTH__ H __ldcs(const H* address) { return *address; }

// `word` is the type in the names of conversions: half, bfloat16.
#define __GPULAB_SHORT_FLOAT__(H, H2, word)                                                                        \
  __GPULAB_SHORT_INTEGER__(H, word, int, int)                                                                      \
  __GPULAB_SHORT_INTEGER__(H, word, uint, unsigned int)                                                            \
  __GPULAB_SHORT_INTEGER__(H, word, short, short)                                                                  \
  __GPULAB_SHORT_INTEGER__(H, word, ushort, unsigned short)                                                        \
  __GPULAB_SHORT_INTEGER__(H, word, ll, long long)                                                                 \
  __GPULAB_SHORT_INTEGER__(H, word, ull, unsigned long long)                                                       \
  __GPULAB_SHORT_ROUNDED__(H, float2##word, float)                                                                 \
  __GPULAB_BOTH__ H __float2##word(float x) { return __float2##word##_rn(x); }                                     \
  __GPULAB_BOTH__ H __double2##word(double x) { return gpulab::wrap<H>(static_cast<gpulab::native<H>::type>(x)); } \
  __GPULAB_BOTH__ float __##word##2float(H x) { return gpulab::to_float(x); }                                      \
  __GPULAB_BOTH__ short __##word##_as_short(H x) { return __builtin_bit_cast(short, x); }                          \
  __GPULAB_BOTH__ unsigned short __##word##_as_ushort(H x) { return __builtin_bit_cast(unsigned short, x); }       \
  __GPULAB_BOTH__ H __short_as_##word(short x) { return __builtin_bit_cast(H, x); }                                \
  __GPULAB_BOTH__ H __ushort_as_##word(unsigned short x) { return __builtin_bit_cast(H, x); }                      \
  __GPULAB_BOTH__ float __low2float(H2 x) { return gpulab::to_float(x.x); }                                        \
  __GPULAB_BOTH__ float __high2float(H2 x) { return gpulab::to_float(x.y); }                                       \
  __GPULAB_BOTH__ H2 __lowhigh2highlow(H2 x) { return H2(x.y, x.x); }                                              \
  __GPULAB_SHORT_LOADS__(H)                                                                                        \
  __GPULAB_SHORT_LOADS__(H2)                                                                                       \
  __GPULAB_SHORT_RELATION__(H, H2, eq, a == b)                                                                     \
  __GPULAB_SHORT_RELATION__(H, H2, ne, a != b)                                                                     \
  __GPULAB_SHORT_RELATION__(H, H2, lt, a < b)                                                                      \
  __GPULAB_SHORT_RELATION__(H, H2, le, a <= b)                                                                     \
  __GPULAB_SHORT_RELATION__(H, H2, gt, a > b)                                                                      \
  __GPULAB_SHORT_RELATION__(H, H2, ge, a >= b)                                                                     \
  __GPULAB_SHORT_RELATION__(H, H2, equ, !(a < b) && !(a > b))                                                      \
  __GPULAB_SHORT_RELATION__(H, H2, neu, !(a == b))                                                                 \
  __GPULAB_SHORT_RELATION__(H, H2, ltu, !(a >= b))                                                                 \
  __GPULAB_SHORT_RELATION__(H, H2, leu, !(a > b))                                                                  \
  __GPULAB_SHORT_RELATION__(H, H2, gtu, !(a <= b))                                                                 \
  __GPULAB_SHORT_RELATION__(H, H2, geu, !(a < b))                                                                  \
  __GPULAB_BOTH__ bool __hisnan(H x) { return gpulab::raw(x) != gpulab::raw(x); }                                  \
  __GPULAB_BOTH__ bool __hisinf(H x) { return __builtin_isinf(gpulab::to_float(x)); }                              \
  __GPULAB_BOTH__ H2 __hisnan2(H2 x) { return __hneu2(x, x); }                                                     \
  __GPULAB_BOTH__ H2 __hisinf2(H2 x) {                                                                             \
    return H2(gpulab::of<H>(__hisinf(x.x)), gpulab::of<H>(__hisinf(x.y)));                                         \
  }                                                                                                                \
  __GPULAB_BOTH__ H __habs(H x) {                                                                                  \
    return __ushort_as_##word(static_cast<unsigned short>(__##word##_as_ushort(x) & 0x7fffu));                     \
  }                                                                                                                \
  __GPULAB_BOTH__ H __hneg(H x) {                                                                                  \
    return __ushort_as_##word(static_cast<unsigned short>(__##word##_as_ushort(x) ^ 0x8000u));                     \
  }                                                                                                                \
  __GPULAB_BOTH__ H2 __habs2(H2 x) { return H2(__habs(x.x), __habs(x.y)); }                                        \
  __GPULAB_BOTH__ H2 __hneg2(H2 x) { return H2(__hneg(x.x), __hneg(x.y)); }                                        \
  /* The other number if one is NaN; the _nan forms give NaN. */                                                   \
  __GPULAB_BOTH__ H __hmax(H x, H y) { return __hisnan(x) ? y : __hisnan(y) || __hgt(x, y) ? x : y; }              \
  __GPULAB_BOTH__ H __hmin(H x, H y) { return __hisnan(x) ? y : __hisnan(y) || !__hgt(x, y) ? x : y; }             \
  __GPULAB_BOTH__ H __hmax_nan(H x, H y) { return __hisnan(x) ? x : __hisnan(y) ? y : __hmax(x, y); }              \
  __GPULAB_BOTH__ H __hmin_nan(H x, H y) { return __hisnan(x) ? x : __hisnan(y) ? y : __hmin(x, y); }              \
  __GPULAB_BOTH__ H2 __hmax2(H2 x, H2 y) { return H2(__hmax(x.x, y.x), __hmax(x.y, y.y)); }                        \
  __GPULAB_BOTH__ H2 __hmin2(H2 x, H2 y) { return H2(__hmin(x.x, y.x), __hmin(x.y, y.y)); }                        \
  __GPULAB_BOTH__ H2 __hmax2_nan(H2 x, H2 y) { return H2(__hmax_nan(x.x, y.x), __hmax_nan(x.y, y.y)); }            \
  __GPULAB_BOTH__ H2 __hmin2_nan(H2 x, H2 y) { return H2(__hmin_nan(x.x, y.x), __hmin_nan(x.y, y.y)); }            \
  __GPULAB_BOTH__ H __clamp_01(H x) {                                                                              \
    return !(gpulab::raw(x) > 0) ? gpulab::of<H>(0) : gpulab::raw(x) > 1 ? gpulab::of<H>(1) : x;                   \
  }                                                                                                                \
  __GPULAB_SHORT_OPERATION_FORMS__(H, H2, __hadd, +)                                                               \
  __GPULAB_SHORT_OPERATION_FORMS__(H, H2, __hsub, -)                                                               \
  __GPULAB_SHORT_OPERATION_FORMS__(H, H2, __hmul, *)                                                               \
  __GPULAB_SHORT_OPERATION__(H, H2, __hdiv, __h2div, /)                                                            \
  __GPULAB_FUNCTION__ H __hfma(H x, H y, H z) {                                                                    \
    return gpulab::wrap<H>(__builtin_elementwise_fma(gpulab::raw(x), gpulab::raw(y), gpulab::raw(z)));             \
  }                                                                                                                \
  __GPULAB_FUNCTION__ H2 __hfma2(H2 x, H2 y, H2 z) {                                                               \
    return gpulab::wrap<H2>(__builtin_elementwise_fma(gpulab::raw(x), gpulab::raw(y), gpulab::raw(z)));            \
  }                                                                                                                \
  __GPULAB_FUNCTION__ H __hfma_sat(H x, H y, H z) { return __clamp_01(__hfma(x, y, z)); }                          \
  __GPULAB_FUNCTION__ H2 __hfma2_sat(H2 x, H2 y, H2 z) {                                                           \
    return H2(__hfma_sat(x.x, y.x, z.x), __hfma_sat(x.y, y.y, z.y));                                               \
  }                                                                                                                \
  /* a * b + c of complex numbers: x is the real part. */                                                          \
  __GPULAB_FUNCTION__ H2 __hcmadd(H2 a, H2 b, H2 c) {                                                              \
    return H2(__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)));           \
  }                                                                                                                \
  __GPULAB_SHORT_FUNCTION__(H, H2, floor, __builtin_floorf(x))                                                     \
  __GPULAB_SHORT_FUNCTION__(H, H2, ceil, __builtin_ceilf(x))                                                       \
  __GPULAB_SHORT_FUNCTION__(H, H2, trunc, __builtin_truncf(x))                                                     \
  __GPULAB_SHORT_FUNCTION__(H, H2, rint, __builtin_rintf(x))                                                       \
  __GPULAB_SHORT_FUNCTION__(H, H2, sqrt, __builtin_sqrtf(x))                                                       \
  __GPULAB_SHORT_FUNCTION__(H, H2, rsqrt, ::rsqrtf(x))                                                             \
  __GPULAB_SHORT_FUNCTION__(H, H2, rcp, 1.0f / x)                                                                  \
  __GPULAB_SHORT_FUNCTION__(H, H2, exp, __builtin_expf(x))                                                         \
  __GPULAB_SHORT_FUNCTION__(H, H2, exp2, __builtin_exp2f(x))                                                       \
  __GPULAB_SHORT_FUNCTION__(H, H2, exp10, __builtin_exp10f(x))                                                     \
  __GPULAB_SHORT_FUNCTION__(H, H2, log, __builtin_logf(x))                                                         \
  __GPULAB_SHORT_FUNCTION__(H, H2, log2, __builtin_log2f(x))                                                       \
  __GPULAB_SHORT_FUNCTION__(H, H2, log10, __builtin_log10f(x))                                                     \
  __GPULAB_SHUFFLES__(H)                                                                                           \
  __GPULAB_SHUFFLES__(H2)                                                                                          \
  /* Adds to a pair or to one number of it, in one atomic step on the 32-bit word. */ \
  __GPULAB_FUNCTION__ H2 unsafeAtomicAdd(H2* address, H2 value) { return gpulab::atomic_add(address, value); } \
  __GPULAB_FUNCTION__ H unsafeAtomicAdd(H* address, H value) {                                                     \
    unsigned shift = reinterpret_cast<uint64_t>(address) & 2 ? 16 : 0;                                             \
    uint32_t old = gpulab::exchange_loop<uint32_t>(                                                                \
        __builtin_align_down(reinterpret_cast<uint32_t*>(address), 4),                                             \
        [=](uint32_t pair) __attribute__((always_inline, nodebug)) {                                               \
          H sum = __hadd(__ushort_as_##word(static_cast<unsigned short>(pair >> shift)), value);                   \
          return (pair & ~(0xffffu << shift)) | static_cast<uint32_t>(__##word##_as_ushort(sum)) << shift;         \
        });                                                                                                        \
    return __ushort_as_##word(static_cast<unsigned short>(old >> shift));                                          \
  }                                                                                                                \
  __GPULAB_FUNCTION__ H2 atomicAdd(H2* address, H2 value) { return unsafeAtomicAdd(address, value); }              \
  __GPULAB_FUNCTION__ H atomicAdd(H* address, H value) { return unsafeAtomicAdd(address, value); }
