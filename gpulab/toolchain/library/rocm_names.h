// The same functions by the names of ROCm's device library, __ocml_<function>_<f16|f32|f64> and __ockl_<function>, which
// some kernels and the output of other compilers call. Half precision is computed in float and rounded.
#pragma once

typedef _Float16 f16;
typedef f16 f16x2 __attribute__((ext_vector_type(2)));
#define OCML(type, name) EXPORT type __ocml_##name

#define OCML_1(name, f32, f64)                                    \
  OCML(float, name##_f32)(float x) { return f32; }                \
  OCML(double, name##_f64)(double x) { return f64; }              \
  OCML(f16, name##_f16)(f16 x) { return (f16)__ocml_##name##_f32(x); }
#define OCML_2(name, f32, f64)                                                \
  OCML(float, name##_f32)(float x, float y) { return f32; }                   \
  OCML(double, name##_f64)(double x, double y) { return f64; }                \
  OCML(f16, name##_f16)(f16 x, f16 y) { return (f16)__ocml_##name##_f32(x, y); }
#define OCML_LIBRARY_1(name, ours) OCML_1(name, __gpulab_##ours##_f32(x), __gpulab_##ours##_f64(x))
#define OCML_LIBRARY_2(name, ours) OCML_2(name, __gpulab_##ours##_f32(x, y), __gpulab_##ours##_f64(x, y))
#define OCML_BUILTIN_1(name) OCML_1(name, __builtin_##name##f(x), __builtin_##name(x))
#define OCML_BUILTIN_2(name) OCML_2(name, __builtin_##name##f(x, y), __builtin_##name(x, y))
#define OCML_TEST(name, builtin)                                    \
  OCML(int, name##_f32)(float x) { return __builtin_##builtin(x); } \
  OCML(int, name##_f64)(double x) { return __builtin_##builtin(x); } \
  OCML(int, name##_f16)(f16 x) { return __builtin_##builtin((float)x); }

OCML_LIBRARY_1(sin, sin)
OCML_LIBRARY_1(cos, cos)
OCML_LIBRARY_1(tan, tan)
OCML_LIBRARY_1(sinpi, sinpi)
OCML_LIBRARY_1(cospi, cospi)
OCML_LIBRARY_1(asin, asin)
OCML_LIBRARY_1(acos, acos)
OCML_LIBRARY_1(atan, atan)
OCML_LIBRARY_2(atan2, atan2)
OCML_LIBRARY_1(sinh, sinh)
OCML_LIBRARY_1(cosh, cosh)
OCML_LIBRARY_1(tanh, tanh)
OCML_LIBRARY_1(asinh, asinh)
OCML_LIBRARY_1(acosh, acosh)
OCML_LIBRARY_1(atanh, atanh)
OCML_LIBRARY_1(exp, exp)
OCML_LIBRARY_1(exp2, exp2)
OCML_LIBRARY_1(exp10, exp10)
OCML_LIBRARY_1(expm1, expm1)
OCML_LIBRARY_1(log, log)
OCML_LIBRARY_1(log2, log2)
OCML_LIBRARY_1(log10, log10)
OCML_LIBRARY_1(log1p, log1p)
OCML_LIBRARY_1(cbrt, cbrt)
OCML_LIBRARY_1(rcbrt, rcbrt)
OCML_LIBRARY_1(erf, erf)
OCML_LIBRARY_1(erfc, erfc)
OCML_LIBRARY_1(erfcx, erfcx)
OCML_LIBRARY_1(erfinv, erfinv)
OCML_LIBRARY_1(erfcinv, erfcinv)
OCML_LIBRARY_1(ncdf, normcdf)
OCML_LIBRARY_1(ncdfinv, normcdfinv)
OCML_LIBRARY_1(tgamma, tgamma)
OCML_LIBRARY_1(lgamma, lgamma)
OCML_LIBRARY_1(j0, j0)
OCML_LIBRARY_1(j1, j1)
OCML_LIBRARY_1(y0, y0)
OCML_LIBRARY_1(y1, y1)
OCML_LIBRARY_1(i0, cyl_bessel_i0)
OCML_LIBRARY_1(i1, cyl_bessel_i1)
OCML_LIBRARY_2(pow, pow)
OCML_LIBRARY_2(powr, pow)
OCML_LIBRARY_2(hypot, hypot)
OCML_LIBRARY_2(rhypot, rhypot)
OCML_LIBRARY_2(fmod, fmod)
OCML_LIBRARY_2(remainder, remainder)
OCML(float, nextafter_f32)(float x, float y) { return __gpulab_nextafter_f32(x, y); }
OCML(double, nextafter_f64)(double x, double y) { return __gpulab_nextafter_f64(x, y); }
OCML(float, pown_f32)(float x, int n) { return __gpulab_powi_f32(x, n); }
OCML(double, pown_f64)(double x, int n) { return __gpulab_powi_f64(x, n); }
OCML(f16, pown_f16)(f16 x, int n) { return (f16)__gpulab_powi_f32(x, n); }
#define OCML_LENGTH(name, inverse)                                                                                     \
  OCML(float, name##3_f32)(float a, float b, float c) { return norm_of<float>(a, b, c, 0, inverse); }                  \
  OCML(double, name##3_f64)(double a, double b, double c) { return norm_of<double>(a, b, c, 0, inverse); }             \
  OCML(float, name##4_f32)(float a, float b, float c, float d) { return norm_of<float>(a, b, c, d, inverse); }         \
  OCML(double, name##4_f64)(double a, double b, double c, double d) { return norm_of<double>(a, b, c, d, inverse); }
OCML_LENGTH(len, false)
OCML_LENGTH(rlen, true)

OCML_BUILTIN_1(sqrt)
OCML_BUILTIN_1(fabs)
OCML_BUILTIN_1(ceil)
OCML_BUILTIN_1(floor)
OCML_BUILTIN_1(trunc)
OCML_BUILTIN_1(rint)
OCML_BUILTIN_1(nearbyint)
OCML_BUILTIN_1(round)
OCML_BUILTIN_2(copysign)
OCML_BUILTIN_2(fmax)
OCML_BUILTIN_2(fmin)
OCML_1(rsqrt, 1 / __builtin_sqrtf(x), 1 / __builtin_sqrt(x))
OCML_2(fdim, x > y ? x - y : x == x && y == y ? 0.0f : x + y, x > y ? x - y : x == x && y == y ? 0.0 : x + y)
OCML(float, fma_f32)(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
OCML(double, fma_f64)(double x, double y, double z) { return __builtin_fma(x, y, z); }
OCML(f16, fma_f16)(f16 x, f16 y, f16 z) { return __builtin_fmaf16(x, y, z); }
OCML(float, mad_f32)(float x, float y, float z) { return x * y + z; }
OCML(double, mad_f64)(double x, double y, double z) { return x * y + z; }
OCML(float, ldexp_f32)(float x, int n) { return __builtin_amdgcn_ldexpf(x, n); }
OCML(double, ldexp_f64)(double x, int n) { return __builtin_amdgcn_ldexp(x, n); }
OCML(f16, ldexp_f16)(f16 x, int n) { return (f16)__builtin_amdgcn_ldexpf(x, n); }
OCML(float, scalbn_f32)(float x, int n) { return __builtin_amdgcn_ldexpf(x, n); }
OCML(double, scalbn_f64)(double x, int n) { return __builtin_amdgcn_ldexp(x, n); }
OCML_TEST(isnan, isnan)
OCML_TEST(isinf, isinf)
OCML_TEST(isfinite, isfinite)
OCML_TEST(isnormal, isnormal)
OCML_TEST(signbit, signbit)

OCML(int, ilogb_f32)(float x) {
  return x == 0 || x != x ? -0x7fffffff - 1 : __builtin_isfinite(x) ? __builtin_amdgcn_frexp_expf(x) - 1 : 0x7fffffff;
}
OCML(int, ilogb_f64)(double x) {
  return x == 0 || x != x ? -0x7fffffff - 1 : __builtin_isfinite(x) ? __builtin_amdgcn_frexp_exp(x) - 1 : 0x7fffffff;
}
// To float with a stated rounding: downwards, upwards, towards zero. A step is one in the bits' last place.
INLINE float stepped(float x, bool up) {
  u32 bits = __builtin_bit_cast(u32, x);
  if ((bits & 0x7fffffff) == 0) return __builtin_bit_cast(float, up ? 1u : 0x80000001u);
  return __builtin_bit_cast(float, (bits >> 31 != 0) == up ? bits - 1 : bits + 1);
}
OCML(float, cvtrtn_f32_f64)(double x) {
  float nearest = (float)x;
  return nearest > x ? stepped(nearest, false) : nearest;
}
OCML(float, cvtrtp_f32_f64)(double x) {
  float nearest = (float)x;
  return nearest < x ? stepped(nearest, true) : nearest;
}
OCML(float, cvtrtz_f32_f64)(double x) {
  float nearest = (float)x;
  return __builtin_fabs((double)nearest) > __builtin_fabs(x) ? stepped(nearest, nearest < 0) : nearest;
}

// The fast forms are the hardware's own instructions.
#define OCML_NATIVE(name, value) OCML(float, native_##name##_f32)(float x) { return value; }
OCML_NATIVE(sqrt, __builtin_amdgcn_sqrtf(x))
OCML_NATIVE(rsqrt, __builtin_amdgcn_rsqf(x))
OCML_NATIVE(recip, __builtin_amdgcn_rcpf(x))
OCML_NATIVE(rcp, __builtin_amdgcn_rcpf(x))
OCML_NATIVE(sin, __builtin_amdgcn_sinf(x * 0.15915494309189535f))
OCML_NATIVE(cos, __builtin_amdgcn_cosf(x * 0.15915494309189535f))
OCML_NATIVE(exp2, __builtin_amdgcn_exp2f(x))
OCML_NATIVE(exp, __builtin_amdgcn_exp2f(x * 1.4426950408889634f))
OCML_NATIVE(exp10, __builtin_amdgcn_exp2f(x * 3.3219280948873623f))
OCML_NATIVE(log2, __builtin_amdgcn_logf(x))
OCML_NATIVE(log, __builtin_amdgcn_logf(x) * 0.6931471805599453f)
OCML_NATIVE(log10, __builtin_amdgcn_logf(x) * 0.3010299956639812f)
OCML(f16x2, fma_2f16)(f16x2 x, f16x2 y, f16x2 z) { return __builtin_elementwise_fma(x, y, z); }

// Indices: the launch's numbers stand in the dispatch packet's place behind the arguments (code object version 5).
#define AXES(x, y, z) axis == 0 ? x : axis == 1 ? y : axis == 2 ? z
INLINE u32 implicit_word(u32 byte) {
  return *(const __attribute__((address_space(4))) u32*)((const __attribute__((address_space(4))) char*)
                                                             __builtin_amdgcn_implicitarg_ptr() + byte);
}
INLINE u32 implicit_short(u32 byte) {
  return *(const __attribute__((address_space(4))) unsigned short*)((const __attribute__((address_space(4))) char*)
                                                                        __builtin_amdgcn_implicitarg_ptr() + byte);
}
EXPORT u64 __ockl_get_local_id(u32 axis) {
  return AXES(__builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(), __builtin_amdgcn_workitem_id_z()) : 0;
}
EXPORT u64 __ockl_get_group_id(u32 axis) {
  return AXES(__builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(), __builtin_amdgcn_workgroup_id_z())
      : 0;
}
EXPORT u64 __ockl_get_num_groups(u32 axis) {
  if (axis > 2) return 1;
  return implicit_word(4 * axis) + (implicit_short(18 + 2 * axis) != 0);
}
// The last group of an axis may be smaller.
EXPORT u64 __ockl_get_local_size(u32 axis) {
  if (axis > 2) return 1;
  return __ockl_get_group_id(axis) < implicit_word(4 * axis) ? implicit_short(12 + 2 * axis)
                                                             : implicit_short(18 + 2 * axis);
}
EXPORT u64 __ockl_get_enqueued_local_size(u32 axis) { return axis > 2 ? 1 : implicit_short(12 + 2 * axis); }
EXPORT u64 __ockl_get_global_id(u32 axis) {
  if (axis > 2) return 0;
  return __ockl_get_group_id(axis) * implicit_short(12 + 2 * axis) + __ockl_get_local_id(axis);
}
EXPORT u64 __ockl_get_global_size(u32 axis) {
  if (axis > 2) return 1;
  return (u64)implicit_word(4 * axis) * implicit_short(12 + 2 * axis) + implicit_short(18 + 2 * axis);
}

// Integers, lanes, the clock.
EXPORT u32 __ockl_mul24_u32(u32 x, u32 y) { return (x & 0xffffff) * (y & 0xffffff); }
EXPORT int __ockl_mul24_i32(int x, int y) { return ((x << 8) >> 8) * ((y << 8) >> 8); }
EXPORT u32 __ockl_mul_hi_u32(u32 x, u32 y) { return (u32)((u64)x * y >> 32); }
EXPORT int __ockl_mul_hi_i32(int x, int y) { return (int)((long)x * y >> 32); }
EXPORT u64 __ockl_mul_hi_u64(u64 x, u64 y) { return (u64)((unsigned __int128)x * y >> 64); }
EXPORT u32 __ockl_sadd_u32(u32 x, u32 y, u32 z) { return (x > y ? x - y : y - x) + z; }
EXPORT u32 __ockl_clz_u32(u32 x) { return x ? __builtin_clz(x) : 32; }
EXPORT u64 __ockl_clz_u64(u64 x) { return x ? __builtin_clzl(x) : 64; }
EXPORT u32 __ockl_ctz_u32(u32 x) { return x ? __builtin_ctz(x) : 32; }
EXPORT u64 __ockl_ctz_u64(u64 x) { return x ? __builtin_ctzl(x) : 64; }
EXPORT u32 __ockl_popcount_u32(u32 x) { return __builtin_popcount(x); }
EXPORT u64 __ockl_popcount_u64(u64 x) { return __builtin_popcountl(x); }
EXPORT u32 __ockl_lane_u32() {
  u32 low = __builtin_amdgcn_mbcnt_lo(~0u, 0);
  return __builtin_amdgcn_wavefrontsize() == 64 ? __builtin_amdgcn_mbcnt_hi(~0u, low) : low;
}
EXPORT u32 __ockl_activelane_u32() {
  u64 active = __builtin_amdgcn_ballot_w64(true);
  return __builtin_amdgcn_mbcnt_hi((u32)(active >> 32), __builtin_amdgcn_mbcnt_lo((u32)active, 0));
}
EXPORT __attribute__((convergent)) bool __ockl_wfany_i32(int x) { return __builtin_amdgcn_ballot_w64(x != 0) != 0; }
EXPORT __attribute__((convergent)) bool __ockl_wfall_i32(int x) { return __builtin_amdgcn_ballot_w64(x == 0) == 0; }
EXPORT u64 __ockl_steadyctr_u64() { return __builtin_readsteadycounter(); }
EXPORT void __ockl_atomic_add_noret_f32(float* address, float value) {
  __scoped_atomic_fetch_add(address, value, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}

// Dot products of packed numbers, the last argument asks for saturation.
EXPORT float __ockl_fdot2(f16x2 x, f16x2 y, float z, bool) { return (float)x[0] * y[0] + ((float)x[1] * y[1] + z); }
INLINE int clamped(long sum, bool saturate) {
  return saturate ? (int)(sum > 0x7fffffffl ? 0x7fffffffl : sum < -0x80000000l ? -0x80000000l : sum) : (int)sum;
}
INLINE u32 clamped(u64 sum, bool saturate) { return saturate && sum > 0xffffffffu ? 0xffffffffu : (u32)sum; }
#define OCKL_DOT(count, width, Signed, Unsigned)                                                             \
  EXPORT int __ockl_sdot##count(Signed x, Signed y, int z, bool saturate) {                                  \
    long sum = z;                                                                                            \
    for (int i = 0; i < count; ++i) {                                                                        \
      u32 a = __builtin_bit_cast(u32, x) >> width * i, b = __builtin_bit_cast(u32, y) >> width * i;          \
      sum += (long)((int)(a << (32 - width)) >> (32 - width)) * ((int)(b << (32 - width)) >> (32 - width)); \
    }                                                                                                        \
    return clamped(sum, saturate);                                                                           \
  }                                                                                                          \
  EXPORT u32 __ockl_udot##count(Unsigned x, Unsigned y, u32 z, bool saturate) {                              \
    u64 sum = z;                                                                                             \
    for (int i = 0; i < count; ++i) {                                                                        \
      u32 a = __builtin_bit_cast(u32, x) >> width * i, b = __builtin_bit_cast(u32, y) >> width * i;          \
      sum += (u64)(a << (32 - width) >> (32 - width)) * (b << (32 - width) >> (32 - width));                 \
    }                                                                                                        \
    return clamped(sum, saturate);                                                                           \
  }
typedef short s16x2 __attribute__((ext_vector_type(2)));
typedef unsigned short u16x2 __attribute__((ext_vector_type(2)));
typedef char s8x4 __attribute__((ext_vector_type(4)));
typedef unsigned char u8x4 __attribute__((ext_vector_type(4)));
OCKL_DOT(2, 16, s16x2, u16x2)
OCKL_DOT(4, 8, s8x4, u8x4)
OCKL_DOT(8, 4, int, u32)
