// What the musl sources of special.h expect from their own libm.h: access to the words of a number.
#pragma once
typedef unsigned int uint32_t;
typedef int int32_t;
typedef unsigned long long uint64_t;
typedef long long int64_t;
typedef float float_t;
typedef double double_t;
#define hidden
#define WANT_ROUNDING 0
#define WANT_SNAN 0
#define TOINT_INTRINSICS 0
#define predict_true(x) (x)
#define predict_false(x) (x)
#define issignaling_inline(x) 0
#define asuint64(f) __builtin_bit_cast(uint64_t, (double)(f))
#define asdouble(i) __builtin_bit_cast(double, (uint64_t)(i))
#define asuint(f) __builtin_bit_cast(uint32_t, (float)(f))
#define asfloat(i) __builtin_bit_cast(float, (uint32_t)(i))
#define EXTRACT_WORDS(hi, lo, d)                          \
  do {                                                    \
    uint64_t bits_of_d = asuint64(d);                     \
    (hi) = (uint32_t)(bits_of_d >> 32);                   \
    (lo) = (uint32_t)bits_of_d;                           \
  } while (0)
#define GET_HIGH_WORD(hi, d) ((hi) = (uint32_t)(asuint64(d) >> 32))
#define GET_LOW_WORD(lo, d) ((lo) = (uint32_t)asuint64(d))
#define INSERT_WORDS(d, hi, lo) ((d) = asdouble((uint64_t)(hi) << 32 | (uint32_t)(lo)))
#define SET_HIGH_WORD(d, hi) INSERT_WORDS(d, hi, (uint32_t)asuint64(d))
#define SET_LOW_WORD(d, lo) INSERT_WORDS(d, (uint32_t)(asuint64(d) >> 32), lo)
#define GET_FLOAT_WORD(w, d) ((w) = asuint(d))
#define SET_FLOAT_WORD(d, w) ((d) = asfloat(w))
#define FORCE_EVAL(x) ((void)(x))
#define eval_as_double(x) ((double)(x))
#define eval_as_float(x) ((float)(x))
#define fp_barrier(x) (x)
#define fp_force_eval(x) ((void)(x))
#define weak_alias(old, new)
#define isnan(x) __builtin_isnan(x)
#define isinf(x) __builtin_isinf(x)
#define signbit(x) __builtin_signbit(x)
#define INFINITY (__builtin_inff())
#define NAN (__builtin_nanf(""))
