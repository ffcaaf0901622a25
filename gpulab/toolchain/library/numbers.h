// What all functions of the library share: bits of numbers, operations by type, polynomials, constants.
#pragma once
#pragma clang fp contract(off)  // only what is written as fused() is fused: the same bits everywhere

typedef unsigned int u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;
typedef unsigned __int128 u128;

#define INLINE static inline __attribute__((always_inline))

template <typename T>
struct Number;

template <>
struct Number<float> {
  using Bits = u32;
  using SignedBits = i32;
  static constexpr int mantissa = 23, bias = 127;
  static constexpr float largest_exp = 100.0f, smallest_exp = -110.0f;  // beyond these exp is inf or 0
  static constexpr float one_rounds = 9.1f;                         // exp(-2x) is lost beside 1 above this
  static constexpr float tiny = 0x1p-14f, huge = 0x1p13f;           // squares vanish beside 1; 1 beside squares
  static constexpr float large_angle = 0x1p16f;                     // from here on x is reduced by long products
  static constexpr float scale_up = 0x1p+80f, scale_down = 0x1p-80f;
  static constexpr float overflow_guard = 0x1p+60f, underflow_guard = 0x1p-50f;
  // Constants as a sum of two numbers.
  static constexpr float ln2 = 0x1.62e43p-1f, ln2_low = -0x1.05c61p-29f;
  static constexpr float inverse_ln2 = 0x1.715476p+0f, inverse_ln2_low = 0x1.4ae0c0p-26f;
  static constexpr float ln10 = 0x1.26bb1cp+1f, ln10_low = -0x1.12aabap-25f;
  static constexpr float inverse_ln10 = 0x1.bcb7b2p-2f, inverse_ln10_low = -0x1.5b235ep-27f;
  static constexpr float log10_2 = 0x1.344136p-2f, log10_2_low = -0x1.ec10c0p-27f;
  static constexpr float log2_10 = 0x1.a934f0p+1f;
  static constexpr float pi = 0x1.921fb6p+1f, pi_low = -0x1.777a5cp-24f;
  static constexpr float pi_half = 0x1.921fb6p+0f, pi_half_low = -0x1.777a5cp-25f, pi_half_lowest = -0x1.ee59dap-50f;
  static constexpr float two_over_pi = 0x1.45f306p-1f;
  // Near-minimax polynomials (Chebyshev interpolation), lowest coefficient first:
  //   sine    (sin(r)/r - 1)/z           z = r*r, |r| <= pi/4
  //   cosine  (cos(r) - 1 + z/2)/z^2
  //   atan    (atan(r)/r - 1)/z          |r| <= tan(pi/8)
  //   asin    (asin(r)/r - 1)/z          |r| <= 1/2
  //   log     (log((1+s)/(1-s))/s - 2)/z z = s*s, for arguments from sqrt(1/2) to sqrt(2)
  //   exp     (exp(r) - 1 - r)/r^2       |r| <= ln(2)/2
  static constexpr float sine[] = {-0x1.555556p-3f, 0x1.11110ep-7f, -0x1.a013a6p-13f, 0x1.6dbdd2p-19f};
  static constexpr float cosine[] = {0x1.555554p-5f, -0x1.6c12d2p-10f, 0x1.9bd864p-16f};
  static constexpr float atan[] = {-0x1.555554p-2f, 0x1.999730p-3f, -0x1.241ffap-3f, 0x1.b80b48p-4f, -0x1.08351cp-4f};
  static constexpr float asin[] = {0x1.555554p-3f, 0x1.333432p-4f, 0x1.6d5b8ep-5f,
                                   0x1.fd921ap-6f, 0x1.18e1f6p-6f, 0x1.14138cp-5f};
  static constexpr float log[] = {0x1.55555cp-1f, 0x1.997c2ap-2f, 0x1.2ee73ep-2f};
  static constexpr float exp[] = {0x1.000000p-1f, 0x1.5554dcp-3f, 0x1.55551ap-5f, 0x1.120b6ep-7f, 0x1.6d110ap-10f};
};

template <>
struct Number<double> {
  using Bits = u64;
  using SignedBits = i64;
  static constexpr int mantissa = 52, bias = 1023;
  static constexpr double largest_exp = 720.0, smallest_exp = -760.0;
  static constexpr double one_rounds = 19.1;
  static constexpr double tiny = 0x1p-28, huge = 0x1p28;
  static constexpr double large_angle = 0x1p20;
  static constexpr double scale_up = 0x1p+600, scale_down = 0x1p-600;
  static constexpr double overflow_guard = 0x1p+500, underflow_guard = 0x1p-450;
  static constexpr double ln2 = 0x1.62e42fefa39efp-1, ln2_low = 0x1.abc9e3b39803fp-56;
  static constexpr double inverse_ln2 = 0x1.71547652b82fep+0, inverse_ln2_low = 0x1.777d0ffda0d24p-56;
  static constexpr double ln10 = 0x1.26bb1bbb55516p+1, ln10_low = -0x1.f48ad494ea3e9p-53;
  static constexpr double inverse_ln10 = 0x1.bcb7b1526e50ep-2, inverse_ln10_low = 0x1.95355baaafad3p-57;
  static constexpr double log10_2 = 0x1.34413509f79ffp-2, log10_2_low = -0x1.9dc1da994fd21p-59;
  static constexpr double log2_10 = 0x1.a934f0979a371p+1;
  static constexpr double pi = 0x1.921fb54442d18p+1, pi_low = 0x1.1a62633145c07p-53;
  static constexpr double pi_half = 0x1.921fb54442d18p+0, pi_half_low = 0x1.1a62633145c07p-54,
                          pi_half_lowest = -0x1.f1976b7ed8fbcp-110;
  static constexpr double two_over_pi = 0x1.45f306dc9c883p-1;
  static constexpr double sine[] = {-0x1.5555555555555p-3,  0x1.1111111111110p-7,  -0x1.a01a01a019936p-13,
                                    0x1.71de3a54605eep-19,  -0x1.ae64541266378p-26, 0x1.61217ec01749dp-33,
                                    -0x1.ab17a79237a19p-41};
  static constexpr double cosine[] = {0x1.5555555555555p-5,   -0x1.6c16c16c16966p-10, 0x1.a01a019f4e867p-16,
                                      -0x1.27e4fa17a41b4p-22, 0x1.1eeb68b109173p-29,  -0x1.907d7aebd5e3dp-37};
  static constexpr double atan[] = {-0x1.5555555555555p-2, 0x1.9999999999341p-3,  -0x1.24924924358fep-3,
                                    0x1.c71c7184e2ef2p-4,  -0x1.745d0b1a496d3p-4, 0x1.3b1261b89f530p-4,
                                    -0x1.10fa65570f9fep-4, 0x1.dfe50abb518e4p-5,  -0x1.a09318ec93cebp-5,
                                    0x1.414ff0b841a9cp-5,  -0x1.3a03a36923274p-6};
  static constexpr double asin[] = {0x1.5555555555556p-3, 0x1.3333333332ec4p-4, 0x1.6db6db6e3292ep-5,
                                    0x1.f1c71c1d4aa0dp-6, 0x1.6e8bb1d89492bp-6, 0x1.1c4d343fa57f6p-6,
                                    0x1.c9cf3759fd8ffp-7, 0x1.78246f32d075cp-7, 0x1.524ea8b3aad31p-7,
                                    0x1.653a8f8cfd43cp-8, 0x1.1d661531b222ep-6, -0x1.e7a24f548c99fp-7,
                                    0x1.d78189767524ep-6};
  static constexpr double log[] = {0x1.5555555555555p-1, 0x1.9999999999a38p-2, 0x1.2492492476ba1p-2,
                                   0x1.c71c72017a15cp-3, 0x1.745cf8f6c9119p-3, 0x1.3b1c38474d3eep-3,
                                   0x1.0fbe478772696p-3, 0x1.0c06cf14c641bp-3};
  static constexpr double exp[] = {0x1.0000000000000p-1,  0x1.5555555555557p-3,  0x1.5555555555556p-5,
                                   0x1.11111111100dcp-7,  0x1.6c16c16c162d4p-10, 0x1.a01a01abe7fe1p-13,
                                   0x1.a01a01a6d889cp-16, 0x1.71de0231960ebp-19, 0x1.27e4db646b17ep-22,
                                   0x1.af4de97ca4194p-26, 0x1.1f730349868cep-29};
};

template <typename T>
INLINE typename Number<T>::Bits bits_of(T x) {
  return __builtin_bit_cast(typename Number<T>::Bits, x);
}
template <typename T>
INLINE T from_bits(typename Number<T>::Bits bits) {
  return __builtin_bit_cast(T, bits);
}
INLINE float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
INLINE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
INLINE float nearest(float x) { return __builtin_rintf(x); }
INLINE double nearest(double x) { return __builtin_rint(x); }
INLINE float whole(float x) { return __builtin_truncf(x); }
INLINE double whole(double x) { return __builtin_trunc(x); }
INLINE float magnitude(float x) { return __builtin_fabsf(x); }
INLINE double magnitude(double x) { return __builtin_fabs(x); }
INLINE float with_sign(float x, float s) { return __builtin_copysignf(x, s); }
INLINE double with_sign(double x, double s) { return __builtin_copysign(x, s); }
INLINE float root(float x) { return __builtin_sqrtf(x); }
INLINE double root(double x) { return __builtin_sqrt(x); }
INLINE float scaled(float x, int e) { return __builtin_ldexpf(x, e); }
INLINE double scaled(double x, int e) { return __builtin_ldexp(x, e); }
INLINE float split(float x, int* e) { return __builtin_frexpf(x, e); }
INLINE double split(double x, int* e) { return __builtin_frexp(x, e); }
INLINE bool is_nan(float x) { return x != x; }
INLINE bool is_nan(double x) { return x != x; }
template <typename T>
INLINE T larger(T a, T b) {
  return a > b ? a : b;
}
template <typename T>
INLINE T limited(T x, T low, T high) {  // a NaN stays
  return x > high ? high : x < low ? low : x;
}
template <typename T>
INLINE T infinity() {
  return (T)__builtin_inff();
}
template <typename T>
INLINE T not_a_number() {
  return (T)__builtin_nanf("");
}

// c[0] + c[1] z + c[2] z^2 + ... by Horner's rule.
template <typename T, unsigned n>
INLINE T polynomial(T z, const T (&c)[n]) {
  T sum = c[n - 1];
#pragma clang loop unroll(full)
  for (int i = (int)n - 2; i >= 0; --i) sum = fused(sum, z, c[i]);
  return sum;
}

// A number as the unevaluated sum of two.
template <typename T>
struct Pair {
  T high, low;
};
// The exact sum, for any two numbers (Knuth) and for |a| >= |b| or a = 0 (Dekker).
template <typename T>
INLINE Pair<T> sum_of(T a, T b) {
  T s = a + b, bb = s - a;
  return {s, (a - (s - bb)) + (b - bb)};
}
template <typename T>
INLINE Pair<T> ordered_sum_of(T a, T b) {
  T s = a + b;
  return {s, b - (s - a)};
}
template <typename T>
INLINE Pair<T> product_of(T a, T b) {
  T p = a * b;
  return {p, fused(a, b, -p)};
}
