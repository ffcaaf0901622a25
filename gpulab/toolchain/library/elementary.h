// Elementary functions, one body for float and double.
#pragma once
#include "numbers.h"

// ---- exponentials: x = k ln2 + r, exp(x) = 2^k exp(r) ---------------------------------------------------------------

// exp(x + low) * 2^extra, for any x.
template <typename T>
INLINE T exp_scaled(T x, T low, int extra) {
  using N = Number<T>;
  T y = limited(x, N::smallest_exp, N::largest_exp);
  T k = nearest(y * N::inverse_ln2);
  T r = fused(-k, N::ln2_low, fused(-k, N::ln2, y)) + low;
  T p = fused(r * r, polynomial(r, N::exp), r) + 1;
  return is_nan(x) ? x : scaled(p, (int)k + extra);
}
template <typename T>
INLINE T exp_of(T x) {
  return exp_scaled<T>(x, 0, 0);
}
template <typename T>
INLINE T exp2_of(T x) {
  using N = Number<T>;
  T y = limited(x, (T)-0x1p12, (T)0x1p12);
  T k = nearest(y);
  T r = (y - k) * N::ln2;
  T p = fused(r * r, polynomial(r, N::exp), r) + 1;
  return is_nan(x) ? x : scaled(p, (int)k);
}
template <typename T>
INLINE T exp10_of(T x) {
  using N = Number<T>;
  T y = limited(x, N::smallest_exp, N::largest_exp);
  T k = nearest(y * N::log2_10);
  T f = fused(-k, N::log10_2_low, fused(-k, N::log10_2, y));
  T r = fused(f, N::ln10, f * N::ln10_low);
  T p = fused(r * r, polynomial(r, N::exp), r) + 1;
  return is_nan(x) ? x : scaled(p, (int)k);
}
template <typename T>
INLINE T expm1_of(T x) {
  using N = Number<T>;
  T y = limited(x, N::smallest_exp, N::largest_exp);
  T k = nearest(y * N::inverse_ln2);
  T r = fused(-k, N::ln2_low, fused(-k, N::ln2, y));
  T p = fused(r * r, polynomial(r, N::exp), r);  // exp(r) - 1
  T t = scaled((T)1, (int)k - 1);                // half of 2^k, which may overflow
  T result = (fused(t, p, t - (T)0.5)) * 2;
  return is_nan(x) || x == 0 ? x : k == 0 ? p : k > N::bias + 1 ? infinity<T>() : result;
}

// ---- logarithms: x = 2^k m, m from sqrt(1/2) to sqrt(2), log(m) as a pair -------------------------------------------

template <typename T>
INLINE Pair<T> log_of_mantissa(T x, T* exponent) {
  using N = Number<T>;
  int k;
  T m = split(x, &k);
  bool low = m < (T)0.70710678118654752440;
  m = low ? m * 2 : m;
  *exponent = (T)(low ? k - 1 : k);
  T f = m - 1, s = f / (2 + f), z = s * s;
  T half_square = (T)0.5 * f * f;
  T rest = fused((T)0.5 * f, f, -half_square);  // what rounding took from it
  // log(1+f) = f - f^2/2 + s (f^2/2 + R), R = z * polynomial
  T c = s * (half_square + z * polynomial(z, N::log));
  Pair<T> h = ordered_sum_of(f, -half_square);
  return ordered_sum_of(h.high, c + (h.low - rest));
}
template <typename T>
INLINE T log_special(T x, T result) {
  return x < 0 ? not_a_number<T>() : x == 0 ? -infinity<T>() : x < infinity<T>() ? result : x;
}
template <typename T>
INLINE T log_plus(T x, T extra) {  // log(x) + extra, for a small extra
  using N = Number<T>;
  T k;
  Pair<T> m = log_of_mantissa(x, &k);
  Pair<T> a = product_of(k, N::ln2);
  Pair<T> s = ordered_sum_of(a.high, m.high);
  return log_special(x, s.high + (s.low + (a.low + fused(k, N::ln2_low, m.low)) + extra));
}
template <typename T>
INLINE T log_of(T x) {
  return log_plus<T>(x, 0);
}
template <typename T>
INLINE T log2_of(T x) {
  using N = Number<T>;
  T k;
  Pair<T> m = log_of_mantissa(x, &k);
  Pair<T> p = product_of(m.high, N::inverse_ln2);
  p.low += fused(m.high, N::inverse_ln2_low, m.low * N::inverse_ln2);
  Pair<T> s = ordered_sum_of(k, p.high);
  return log_special(x, s.high + (s.low + p.low));
}
template <typename T>
INLINE T log10_of(T x) {
  using N = Number<T>;
  T k;
  Pair<T> m = log_of_mantissa(x, &k);
  Pair<T> p = product_of(m.high, N::inverse_ln10);
  p.low += fused(m.high, N::inverse_ln10_low, m.low * N::inverse_ln10);
  Pair<T> a = product_of(k, N::log10_2);
  a.low = fused(k, N::log10_2_low, a.low);
  Pair<T> s = ordered_sum_of(a.high, p.high);
  return log_special(x, s.high + (s.low + (a.low + p.low)));
}
template <typename T>
INLINE T log1p_of(T x) {
  Pair<T> u = sum_of((T)1, x);
  T result = log_plus(u.high, u.low / u.high);
  return x == 0 ? x : result;
}

// ---- circular functions: x = k pi/2 + r, r as a pair ----------------------------------------------------------------

template <typename T>
struct Reduced {
  Pair<T> r;
  int quadrant;
};

// 2/pi, 32 bits a word, behind one word of zeros.
static const u32 two_over_pi_words[] = {0,          0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0,
                                        0xdb629599, 0x3c439041, 0xfe5163ab};
static const u64 two_over_pi_longs[] = {
    0,
    0xa2f9836e4e441529u, 0xfc2757d1f534ddc0u, 0xdb6295993c439041u, 0xfe5163abdebbc561u, 0xb7246e3a424dd2e0u,
    0x06492eea09d1921cu, 0xfe1deb1cb129a73eu, 0xe88235f52ebb4484u, 0xe99c7026b45f7e41u, 0x3991d639835339f4u,
    0x9c845f8bbdf9283bu, 0x1ff897ffde05980fu, 0xef2f118b5a0a6d1fu, 0x6d367ecf27cb09b7u, 0x4f463f669e5fea2du,
    0x7527bac7ebe5f17bu, 0x3d0739f78a5292eau, 0x6bfb5fb11f8d5d08u, 0x56033046fc7b6babu, 0xf0cfbc209af4361du};

// Large arguments (Payne and Hanek): |x| = M 2^e; bits of 2/pi above 2^(2-e) only add multiples of four quadrants,
// so the product with the next words is enough.
INLINE Reduced<float> reduce_large(float x) {
  u32 bits = bits_of(x);
  u32 m = (bits & 0x7fffff) | 0x800000;
  int start = (int)(bits >> 23 & 255) - 127 - 23 - 2 + 32;
  int word = start >> 5, shift = start & 31;
  u64 a = (u64)two_over_pi_words[word] << 32 | two_over_pi_words[word + 1];
  u64 b = (u64)two_over_pi_words[word + 1] << 32 | two_over_pi_words[word + 2];
  u64 c = (u64)two_over_pi_words[word + 2] << 32 | two_over_pi_words[word + 3];
  u32 w0 = (u32)(a << shift >> 32), w1 = (u32)(b << shift >> 32), w2 = (u32)(c << shift >> 32);
  u64 turns = ((u64)(m * w0) << 32) + (u64)m * w1 + ((u64)m * w2 >> 32);  // 2^64 are four quadrants
  u64 quadrant = (turns + (1ull << 61)) >> 62;
  i64 f = (i64)(turns << 2);
  float high = (float)f;
  float low = (float)(i64)((u64)f - ((u64)(i64)(0.5f * high) << 1));  // i64 cannot hold 2^63, which f may round to
  constexpr float scale = 0x1p-64f;
  Pair<float> p = product_of(high * scale, Number<float>::pi_half);
  p.low += high * scale * Number<float>::pi_half_low + low * scale * Number<float>::pi_half;
  bool negative = __builtin_signbit(x);
  return {{negative ? -p.high : p.high, negative ? -p.low : p.low}, (int)(negative ? 4 - quadrant : quadrant) & 3};
}
// 64 bits of 2/pi, from a bit of a word on.
INLINE u64 digits(int word, int bit) {
  return two_over_pi_longs[word] << bit | two_over_pi_longs[word + 1] >> 1 >> (63 - bit);
}
INLINE Reduced<double> reduce_large(double x) {
  u64 bits = bits_of(x);
  u64 m = (bits & 0xfffffffffffffull) | 0x10000000000000ull;
  int start = (int)(bits >> 52 & 2047) - 1023 - 52 - 2 + 64;  // of infinity and NaN 1034: inside the table too
  int word = start >> 6, shift = start & 63;
  u64 w0 = digits(word, shift), w1 = digits(word + 1, shift), w2 = digits(word + 2, shift);
  u128 turns = ((u128)(m * w0) << 64) + (u128)m * w1 + ((u128)m * w2 >> 64);  // 2^128 are four quadrants
  u64 quadrant = ((u64)(turns >> 64) + (1ull << 61)) >> 62;
  u128 f = turns << 2;
  bool below = (i64)(u64)(f >> 64) < 0;
  f = below ? -f : f;
  u64 top = (u64)(f >> 64), bottom = (u64)f;
  int zeros = __builtin_clzll(top);  // no number of 53 bits is as near to a quarter turn as 2^-64 of one
  u64 t = top << zeros | (bottom >> 1 >> (63 - zeros));
  double high = scaled((double)(t & ~0x7ffull), -64 - zeros), low = scaled((double)(t & 0x7ff), -64 - zeros);
  Pair<double> p = product_of(high, Number<double>::pi_half);
  p.low += high * Number<double>::pi_half_low + low * Number<double>::pi_half;
  bool left = __builtin_signbit(x), negative = left != below;
  return {{negative ? -p.high : p.high, negative ? -p.low : p.low}, (int)(left ? 4 - quadrant : quadrant) & 3};
}
template <typename T>
INLINE Reduced<T> reduce(T x) {
  using N = Number<T>;
  if (magnitude(x) < N::large_angle) {
    T k = nearest(x * N::two_over_pi);
    T first = fused(-k, N::pi_half, x);  // exact
    Pair<T> second = product_of(k, N::pi_half_low);
    Pair<T> r = sum_of(first, -second.high);
    r.low = fused(-k, N::pi_half_lowest, r.low - second.low);
    return {r, (int)k & 3};
  }
  return reduce_large(x);
}
template <typename T>
INLINE T sine_of(Pair<T> r) {
  T z = r.high * r.high;
  T tail = fused(r.high * z, polynomial(z, Number<T>::sine), r.low * (1 - (T)0.5 * z));
  return r.high + tail;
}
template <typename T>
INLINE T cosine_of(Pair<T> r) {
  T z = r.high * r.high, half = (T)0.5 * z, w = 1 - half;
  return w + (((1 - w) - half) + fused(z * z, polynomial(z, Number<T>::cosine), -r.high * r.low));
}
template <typename T>
INLINE T sin_of(T x) {
  Reduced<T> a = reduce(x);
  T y = a.quadrant & 1 ? cosine_of(a.r) : sine_of(a.r);
  y = a.quadrant & 2 ? -y : y;
  return x == 0 ? x : magnitude(x) < infinity<T>() ? y : not_a_number<T>();
}
template <typename T>
INLINE T cos_of(T x) {
  Reduced<T> a = reduce(x);
  T y = a.quadrant & 1 ? sine_of(a.r) : cosine_of(a.r);
  y = (a.quadrant + 1) & 2 ? -y : y;
  return magnitude(x) < infinity<T>() ? y : not_a_number<T>();
}
template <typename T>
INLINE T tan_of(T x) {
  Reduced<T> a = reduce(x);
  T s = sine_of(a.r), c = cosine_of(a.r);
  T y = a.quadrant & 1 ? -c / s : s / c;
  return x == 0 ? x : magnitude(x) < infinity<T>() ? y : not_a_number<T>();
}
// Of pi x: the reduction is exact.
template <typename T>
INLINE Reduced<T> reduce_half_turns(T x) {
  using N = Number<T>;
  T y = x - 2 * whole((T)0.5 * x);  // between -2 and 2
  T k = nearest(2 * y);
  T f = fused((T)-0.5, k, y);
  Pair<T> p = product_of(f, N::pi);
  p.low = fused(f, N::pi_low, p.low);
  return {p, (int)k & 3};
}
template <typename T>
INLINE T sinpi_of(T x) {
  Reduced<T> a = reduce_half_turns(x);
  T y = a.quadrant & 1 ? cosine_of(a.r) : sine_of(a.r);
  y = a.quadrant & 2 ? -y : y;
  return x == whole(x) ? (magnitude(x) < infinity<T>() ? with_sign((T)0, x) : not_a_number<T>()) : y;
}
template <typename T>
INLINE T cospi_of(T x) {
  Reduced<T> a = reduce_half_turns(x);
  T y = a.quadrant & 1 ? sine_of(a.r) : cosine_of(a.r);
  y = (a.quadrant + 1) & 2 ? -y : y;
  return y + 0;
}

// ---- inverse circular functions -------------------------------------------------------------------------------------

template <typename T>
INLINE T atan_small(T t) {  // |t| <= tan(pi/8)
  T z = t * t;
  return fused(t * z, polynomial(z, Number<T>::atan), t);
}
template <typename T>
INLINE T atan_of(T x) {
  using N = Number<T>;
  T a = magnitude(x);
  bool middle = a > (T)0.41421356237309503, large = a > (T)2.4142135623730949;
  T numerator = large ? (T)-1 : middle ? a - 1 : a, denominator = large ? a : middle ? a + 1 : (T)1;
  T base = large ? N::pi_half : middle ? N::pi_half / 2 : (T)0;
  T base_low = large ? N::pi_half_low : middle ? N::pi_half_low / 2 : (T)0;
  T y = base + (base_low + atan_small(numerator / denominator));
  return is_nan(x) ? x : with_sign(y, x);
}
template <typename T>
INLINE T atan2_of(T y, T x) {
  using N = Number<T>;
  T ax = magnitude(x), ay = magnitude(y);
  bool steep = ay > ax;
  T large = steep ? ay : ax, small = steep ? ax : ay;
  if (small == infinity<T>()) large = small = 1;
  if (large > N::overflow_guard) large *= N::scale_down, small *= N::scale_down;
  if (large < N::underflow_guard) large *= N::scale_up, small *= N::scale_up;
  bool middle = small > (T)0.41421356237309503 * large;
  T numerator = middle ? small - large : small, denominator = middle ? small + large : large;
  T t = large == 0 ? (T)0 : atan_small(numerator / denominator);
  // The angle is base + t up to here; then mirrored at pi/4 and at pi/2, the base being a multiple of pi/4.
  int eighths = middle ? 1 : 0;
  if (steep) eighths = 2 - eighths, t = -t;
  if (__builtin_signbit(x)) eighths = 4 - eighths, t = -t;
  T base = (T)eighths * (N::pi_half / 2);
  T base_low = fused((T)eighths, N::pi_half / 2, -base) + (T)eighths * (N::pi_half_low / 2);
  T angle = base + (base_low + t);
  return is_nan(x) || is_nan(y) ? not_a_number<T>() : with_sign(angle, y);
}
// asin(s) = s + s z P(z); above 1/2 by asin(x) = pi/2 - 2 asin(sqrt((1-x)/2)), the square root as a pair.
template <typename T>
struct AsinParts {
  T s, tail;
  bool large;
};
template <typename T>
INLINE AsinParts<T> asin_parts(T x) {
  T a = magnitude(x);
  bool large = a > (T)0.5;
  T z = large ? (1 - a) * (T)0.5 : a * a;
  T s = large ? root(z) : a;
  T correction = large && s != 0 ? fused(-s, s, z) / (s + s) : (T)0;
  return {s, fused(s * z, polynomial(z, Number<T>::asin), correction), large};
}
template <typename T>
INLINE T asin_of(T x) {
  using N = Number<T>;
  AsinParts<T> p = asin_parts(x);
  Pair<T> d = ordered_sum_of(N::pi_half, -2 * p.s);
  T y = p.large ? d.high + (d.low + fused((T)-2, p.tail, N::pi_half_low)) : p.s + p.tail;
  return with_sign(y, x);
}
template <typename T>
INLINE T acos_of(T x) {
  using N = Number<T>;
  AsinParts<T> p = asin_parts(x);
  T doubled = 2 * p.s, tail = 2 * p.tail;
  if (!p.large) {
    doubled = x, tail = with_sign(p.tail, x);
    Pair<T> d = ordered_sum_of(N::pi_half, -doubled);
    return d.high + (d.low + (N::pi_half_low - tail));
  }
  Pair<T> d = ordered_sum_of(N::pi, -doubled);
  return __builtin_signbit(x) ? d.high + (d.low + (N::pi_low - tail)) : doubled + tail;
}

// ---- hyperbolic functions and their inverses ------------------------------------------------------------------------

template <typename T>
INLINE T sinh_of(T x) {
  T a = magnitude(x), e = expm1_of(a);
  T y = a < Number<T>::one_rounds ? (T)0.5 * (e + e / (e + 1)) : exp_scaled<T>(a, 0, -1);
  return with_sign(y, x);
}
template <typename T>
INLINE T cosh_of(T x) {
  T a = magnitude(x), h = exp_scaled<T>(a, 0, -1);
  return a < Number<T>::one_rounds ? h + (T)0.25 / h : h;
}
template <typename T>
INLINE T tanh_of(T x) {
  T a = magnitude(x), e = expm1_of(2 * a);
  T y = a > Number<T>::one_rounds ? (T)1 : e / (e + 2);
  return x == 0 ? x : with_sign(y, x);
}
template <typename T>
INLINE T asinh_of(T x) {
  using N = Number<T>;
  T a = magnitude(x), square = a * a;
  T y = a > N::huge ? log_of(a) + N::ln2 : log1p_of(a + square / (1 + root(square + 1)));
  return a < N::tiny ? x : with_sign(y, x);
}
template <typename T>
INLINE T acosh_of(T x) {
  using N = Number<T>;
  T t = x - 1;
  T y = x > N::huge ? log_of(x) + N::ln2 : log1p_of(t + root(fused(t, t, 2 * t)));
  return x < 1 ? not_a_number<T>() : y;
}
template <typename T>
INLINE T atanh_of(T x) {
  T a = magnitude(x), doubled = a + a;
  T y = (T)0.5 * log1p_of(a < (T)0.5 ? doubled + doubled * a / (1 - a) : doubled / (1 - a));
  return a < Number<T>::tiny ? x : with_sign(y, x);
}

// ---- powers and roots -----------------------------------------------------------------------------------------------

// Cube root: a third of the exponent from the bits, then two of Halley's steps, each of which cubes the error (6 % at
// first, then 2e-12), and one of Newton's, which squares it, with an exact residual.
template <typename T>
INLINE T halley_step(T t, T m) {
  T cube = t * t * t;
  return t * (cube + 2 * m) / (2 * cube + m);
}
template <typename T>
INLINE T cbrt_of(T x) {
  T a = magnitude(x);
  if (!(a > 0 && a < infinity<T>())) return x;
  int e;
  T m = split(a, &e);  // 1/2 to 1
  int third = (e + 1536) / 3 - 512, rest = e - 3 * third;  // 0, 1, 2
  m = scaled(m, rest);                                     // 1/2 to 4
  T t = fused((T)-0.058, m * m, fused((T)0.46, m, (T)0.58));
  t = halley_step(halley_step(t, m), m);
  Pair<T> square = product_of(t, t);
  T residual = fused(square.high, t, -m) + square.low * t;
  t = t - residual / (3 * square.high);
  return with_sign(scaled(t, third), x);
}
template <typename T>
INLINE T powi_of(T x, int n) {
  u32 sign = (u32)(n >> 31), left = ((u32)n ^ sign) - sign;
  T result = 1;
  for (; left; left >>= 1) {
    if (left & 1) result *= x;
    x *= x;
  }
  return sign ? 1 / result : result;
}
// The square root of a sum of squares, scaled so that none overflows or vanishes.
template <typename T>
INLINE T norm_of(T a, T b, T c, T d, bool inverse) {
  using N = Number<T>;
  a = magnitude(a), b = magnitude(b), c = magnitude(c), d = magnitude(d);
  bool infinite = a == infinity<T>() || b == infinity<T>() || c == infinity<T>() || d == infinity<T>();
  T largest = larger(larger(a, b), larger(c, d));
  bool high = largest > N::overflow_guard, low = largest < N::underflow_guard;
  T scale = high ? N::scale_down : low ? N::scale_up : (T)1, back = high ? N::scale_up : low ? N::scale_down : (T)1;
  a *= scale, b *= scale, c *= scale, d *= scale;
  Pair<T> sum = product_of(a, a);
  T more[] = {b, c, d};
#pragma clang loop unroll(full)
  for (int i = 0; i < 3; ++i) {
    Pair<T> p = product_of(more[i], more[i]), s = sum_of(sum.high, p.high);
    sum = {s.high, s.low + (sum.low + p.low)};
  }
  T r = root(sum.high + sum.low);
  if (inverse) return infinite ? (T)0 : 1 / r * scale;
  return infinite ? infinity<T>() : r * back;
}

// ---- remainders: exact, by long division of the mantissas -----------------------------------------------------------

// The mantissa of x > 0 with its leading bit in place, denormal numbers too; their exponents go below 1.
template <typename T>
INLINE typename Number<T>::Bits normal_mantissa(T x, int* exponent) {
  using N = Number<T>;
  using Bits = typename N::Bits;
  constexpr Bits one = (Bits)1 << N::mantissa;
  Bits bits = bits_of(x), m = bits & (one - 1);
  int e = (int)(bits >> N::mantissa);
  int room = e ? 0 : __builtin_clzll((u64)m) - (63 - N::mantissa);
  *exponent = e ? e : 1 - room;
  return e ? m | one : m << room;
}
// x mod y for finite x >= y > 0; `quotient` gets the low bits of the quotient.
template <typename T>
INLINE T long_division(T x, T y, u32* quotient) {
  using N = Number<T>;
  using Bits = typename N::Bits;
  int ex, ey;
  Bits mx = normal_mantissa(x, &ex), my = normal_mantissa(y, &ey);
  u32 q = 0;
  for (;; --ex, mx <<= 1) {
    bool fits = mx >= my;
    mx -= fits ? my : 0;
    q = q << 1 | fits;
    if (ex == ey) break;
  }
  *quotient = q;
  if (mx == 0) return 0;
  int room = __builtin_clzll((u64)mx) - (63 - N::mantissa), e = ey - room;
  mx <<= room;
  return from_bits<T>(e > 0 ? mx + ((Bits)(e - 1) << N::mantissa) : mx >> (1 - e));
}
template <typename T>
INLINE T fmod_of(T x, T y) {
  T a = magnitude(x), b = magnitude(y);
  if (!(a < infinity<T>()) || !(b > 0)) return not_a_number<T>();
  if (a < b) return x;
  u32 q;
  return with_sign(long_division(a, b, &q), x);
}
template <typename T>
INLINE T remquo_of(T x, T y, int* quotient) {
  T a = magnitude(x), b = magnitude(y);
  *quotient = 0;
  if (!(a < infinity<T>()) || !(b > 0)) return not_a_number<T>();
  u32 q = 0;
  T r = a;
  if (a >= b) r = long_division(a, b, &q);
  T gap = b - r;
  if (r > gap || (r == gap && (q & 1))) r = -gap, ++q;
  q &= 0x7fffffff;
  bool below = __builtin_signbit(x), below_y = __builtin_signbit(y);
  *quotient = below != below_y ? -(int)q : (int)q;
  return below ? -r : r;
}
template <typename T>
INLINE T nextafter_of(T x, T y) {
  using Bits = typename Number<T>::Bits;
  if (is_nan(x) || is_nan(y)) return not_a_number<T>();
  if (x == y) return y;
  if (x == 0) return with_sign(from_bits<T>(1), y);
  Bits bits = bits_of(x);
  bool below = __builtin_signbit(x);
  return from_bits<T>(below != (y > x) ? bits + 1 : bits - 1);
}
