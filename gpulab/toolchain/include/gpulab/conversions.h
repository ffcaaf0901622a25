// Conversions with a stated rounding (rn nearest, rz toward zero, ru up, rd down), and reading bits as another type.
#pragma once

__GPULAB_FUNCTION__ int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
__GPULAB_FUNCTION__ unsigned int __float_as_uint(float x) { return __builtin_bit_cast(unsigned int, x); }
__GPULAB_FUNCTION__ float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
__GPULAB_FUNCTION__ float __uint_as_float(unsigned int x) { return __builtin_bit_cast(float, x); }
__GPULAB_FUNCTION__ long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
__GPULAB_FUNCTION__ double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
__GPULAB_FUNCTION__ int __double2hiint(double x) { return (int)(__builtin_bit_cast(long long, x) >> 32); }
__GPULAB_FUNCTION__ int __double2loint(double x) { return (int)__builtin_bit_cast(long long, x); }
__GPULAB_FUNCTION__ double __hiloint2double(int hi, int lo) {
  return __builtin_bit_cast(double, (long long)((uint64_t)(uint32_t)hi << 32 | (uint32_t)lo));
}

// Floating point to integer: round to an integral value first, then convert.
#define __GPULAB_TO_INTEGER__(from, From, to, To, suffix)                                            \
  __GPULAB_FUNCTION__ To __##from##2##to##_rn(From x) { return (To)__builtin_rint##suffix(x); }      \
  __GPULAB_FUNCTION__ To __##from##2##to##_rz(From x) { return (To)__builtin_trunc##suffix(x); }     \
  __GPULAB_FUNCTION__ To __##from##2##to##_ru(From x) { return (To)__builtin_ceil##suffix(x); }      \
  __GPULAB_FUNCTION__ To __##from##2##to##_rd(From x) { return (To)__builtin_floor##suffix(x); }
__GPULAB_TO_INTEGER__(float, float, int, int, f)
__GPULAB_TO_INTEGER__(float, float, uint, unsigned int, f)
__GPULAB_TO_INTEGER__(float, float, ll, long long, f)
__GPULAB_TO_INTEGER__(float, float, ull, unsigned long long, f)
__GPULAB_TO_INTEGER__(double, double, int, int, )
__GPULAB_TO_INTEGER__(double, double, uint, unsigned int, )
__GPULAB_TO_INTEGER__(double, double, ll, long long, )
__GPULAB_TO_INTEGER__(double, double, ull, unsigned long long, )
#undef __GPULAB_TO_INTEGER__

namespace gpulab {
// The next representable number up or down of a finite x; infinities and NaN stay.
template <typename F, typename I>
__GPULAB_FUNCTION__ F step(F x, bool up) {
  I bits = __builtin_bit_cast(I, x);
  if (!(__builtin_fabs(x) < __builtin_inf()) && !(up ? x == -(F)__builtin_inf() : x == (F)__builtin_inf())) return x;
  if (x == 0) return up ? __builtin_bit_cast(F, (I)1) : -__builtin_bit_cast(F, (I)1);
  return __builtin_bit_cast(F, (I)((x > 0) == up ? bits + 1 : bits - 1));
}
// -1, 0, 1: how the rounded value compares with the exact integer or double it came from.
__GPULAB_FUNCTION__ int compare(float rounded, double exact) { return (rounded > exact) - (rounded < exact); }
template <typename F, typename I>
__GPULAB_FUNCTION__ int compare(F rounded, I exact) {
  constexpr F limit = (F)((uint64_t)1 << (8 * sizeof(I) - (((I)-1 < 0) ? 1 : 0) - 1)) * 2;
  if (rounded >= limit) return 1;
  I back = (I)rounded;
  return (back > exact) - (back < exact);
}
}  // namespace gpulab

// To a floating-point type that cannot hold every value: round to nearest, then correct by one step.
#define __GPULAB_TO_FLOAT__(from, From, to, To, Bits)                                          \
  __GPULAB_FUNCTION__ To __##from##2##to##_rn(From x) { return (To)x; }                        \
  __GPULAB_FUNCTION__ To __##from##2##to##_rd(From x) {                                        \
    To y = (To)x;                                                                              \
    return gpulab::compare(y, x) > 0 ? gpulab::step<To, Bits>(y, false) : y;                   \
  }                                                                                            \
  __GPULAB_FUNCTION__ To __##from##2##to##_ru(From x) {                                        \
    To y = (To)x;                                                                              \
    return gpulab::compare(y, x) < 0 ? gpulab::step<To, Bits>(y, true) : y;                    \
  }                                                                                            \
  __GPULAB_FUNCTION__ To __##from##2##to##_rz(From x) {                                        \
    return x < 0 ? __##from##2##to##_ru(x) : __##from##2##to##_rd(x);                          \
  }
__GPULAB_TO_FLOAT__(int, int, float, float, int)
__GPULAB_TO_FLOAT__(uint, unsigned int, float, float, int)
__GPULAB_TO_FLOAT__(ll, long long, float, float, int)
__GPULAB_TO_FLOAT__(ull, unsigned long long, float, float, int)
__GPULAB_TO_FLOAT__(ll, long long, double, double, long long)
__GPULAB_TO_FLOAT__(ull, unsigned long long, double, double, long long)
__GPULAB_TO_FLOAT__(double, double, float, float, int)
#undef __GPULAB_TO_FLOAT__
__GPULAB_FUNCTION__ double __int2double_rn(int x) { return x; }
__GPULAB_FUNCTION__ double __uint2double_rn(unsigned int x) { return x; }
