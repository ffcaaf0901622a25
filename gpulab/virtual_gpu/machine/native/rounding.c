/* Float arithmetic in the rounding modes of MODE that the host's own instructions are not set to: one operation on a
   chunk of lanes, in integers. Numbers are sign, exponent and up to 126 bits of significand (with a sticky lowest bit),
   so that every result is rounded once, from its exact value.

   Called only where MODE asks for another rounding than to nearest even, or for FP16_OVFL; see translate/modes.py. */

#include "support.h"

typedef unsigned __int128 u128;

enum { NEAREST, UP, DOWN, ZERO }; /* as FP_ROUND */
enum { IS_ZERO, IS_FINITE, IS_INFINITE, IS_NAN };

typedef struct { int kind, negative, exponent; u128 significand; } Number; /* significand * 2**exponent */
typedef struct { int fraction, bias, width; } Form;

static const Form FORMS[3] = {{10, 15, 16}, {23, 127, 32}, {52, 1023, 64}};

static int exact_length(u128 x) { /* bits up to the highest one */
  u64 high = (u64)(x >> 64), low = (u64)x;
  return high ? 128 - __builtin_clzll(high) : low ? 64 - __builtin_clzll(low) : 0;
}

/* Shifted right; what falls off is kept as a lowest bit. */
static u128 exact_sticky_shift(u128 x, int by) {
  if (by <= 0) return x;
  if (by > 126) return x != 0;
  return (x >> by) | ((x & (((u128)1 << by) - 1)) != 0);
}

/* The highest bit at 125. */
static Number exact_normalised(Number x) {
  int by = 126 - exact_length(x.significand);
  if (x.kind != IS_FINITE) return x;
  x.significand = by >= 0 ? x.significand << by : exact_sticky_shift(x.significand, -by);
  x.exponent -= by;
  return x;
}

static Number exact_unpacked(u64 bits, Form f) {
  Number x;
  u64 fraction = bits & (((u64)1 << f.fraction) - 1);
  int field = (int)((bits >> f.fraction) & (u64)(2 * f.bias + 1));
  x.negative = (int)((bits >> (f.width - 1)) & 1);
  x.significand = fraction | (field ? (u64)1 << f.fraction : 0);
  x.exponent = (field ? field : 1) - f.bias - f.fraction;
  x.kind = field == 2 * f.bias + 1 ? (fraction ? IS_NAN : IS_INFINITE) : x.significand ? IS_FINITE : IS_ZERO;
  return x;
}

static Number exact_special(int kind, int negative) {
  Number x = {kind, negative, 0, 0};
  return x;
}

/* `saturate`: FP16_OVFL, a finite result beyond the largest f16 is the largest. */
static u64 exact_packed(Number x, Form f, int mode, int saturate) {
  u64 sign = (u64)x.negative << (f.width - 1);
  u64 infinity = (u64)(2 * f.bias + 1) << f.fraction;
  if (x.kind == IS_NAN) return infinity | ((u64)1 << (f.fraction - 1));
  if (x.kind == IS_INFINITE) return sign | infinity;
  if (x.kind == IS_ZERO) return sign;
  x = exact_normalised(x);
  int top = x.exponent + 125, lowest = 1 - f.bias; /* exponent of the highest bit; of the smallest normal number */
  int drop = 125 - f.fraction + (top < lowest ? lowest - top : 0);
  u128 kept = drop > 126 ? 0 : x.significand >> drop;
  u128 rest = drop > 126 ? 1 : x.significand & (((u128)1 << drop) - 1);
  u128 half = drop > 126 ? 2 : (u128)1 << (drop - 1);
  int up = mode == NEAREST ? rest > half || (rest == half && (kept & 1))
         : mode == UP ? rest && !x.negative : mode == DOWN ? rest && x.negative : 0;
  u64 result = (u64)kept + (u64)up;
  if (top >= lowest) result += (u64)(top + f.bias - 1) << f.fraction; /* the implicit bit adds the last 1 */
  if (top > f.bias || result >= infinity) {
    int away = mode == NEAREST || (mode == UP && !x.negative) || (mode == DOWN && x.negative);
    result = away && !saturate ? infinity : infinity - 1;
  }
  return sign | result;
}

static Number exact_sum(Number a, Number b, int mode) {
  if (a.kind == IS_NAN || b.kind == IS_NAN) return exact_special(IS_NAN, 0);
  if (a.kind == IS_INFINITE || b.kind == IS_INFINITE) {
    if (a.kind == b.kind && a.negative != b.negative) return exact_special(IS_NAN, 0);
    return a.kind == IS_INFINITE ? a : b;
  }
  int minus = mode == DOWN;
  if (a.kind == IS_ZERO && b.kind == IS_ZERO)
    return exact_special(IS_ZERO, a.negative == b.negative ? a.negative : minus);
  if (a.kind == IS_ZERO) return b;
  if (b.kind == IS_ZERO) return a;
  a = exact_normalised(a); b = exact_normalised(b);
  if (a.exponent < b.exponent) { Number c = a; a = b; b = c; }
  b.significand = exact_sticky_shift(b.significand, a.exponent - b.exponent);
  if (a.negative == b.negative) { a.significand += b.significand; return a; }
  if (a.significand == b.significand) return exact_special(IS_ZERO, minus);
  if (a.significand > b.significand) { a.significand -= b.significand; return a; }
  a.significand = b.significand - a.significand;
  a.negative = b.negative;
  return a;
}

static Number exact_product(Number a, Number b) {
  int negative = a.negative ^ b.negative;
  if (a.kind == IS_NAN || b.kind == IS_NAN) return exact_special(IS_NAN, 0);
  if (a.kind == IS_INFINITE || b.kind == IS_INFINITE)
    return exact_special(a.kind == IS_ZERO || b.kind == IS_ZERO ? IS_NAN : IS_INFINITE, negative);
  if (a.kind == IS_ZERO || b.kind == IS_ZERO) return exact_special(IS_ZERO, negative);
  Number x = {IS_FINITE, negative, a.exponent + b.exponent, (u128)(u64)a.significand * (u64)b.significand};
  return x;
}

static Number exact_quotient(Number a, Number b) {
  int negative = a.negative ^ b.negative;
  if (a.kind == IS_NAN || b.kind == IS_NAN || (a.kind == b.kind && (a.kind == IS_ZERO || a.kind == IS_INFINITE)))
    return exact_special(IS_NAN, 0);
  if (a.kind == IS_INFINITE || b.kind == IS_ZERO) return exact_special(IS_INFINITE, negative);
  if (a.kind == IS_ZERO || b.kind == IS_INFINITE) return exact_special(IS_ZERO, negative);
  u64 divisor = (u64)b.significand;
  u128 rest = a.significand, result = 0;
  while (rest >= ((u128)divisor << 1)) divisor <<= 1, b.exponent--; /* the first digit is 0 or 1 */
  for (int i = 0; i < 120; i++) {
    result <<= 1;
    if (rest >= divisor) { rest -= divisor; result |= 1; }
    rest <<= 1;
  }
  Number x = {IS_FINITE, negative, a.exponent - b.exponent - 119, (result << 1) | (rest != 0)};
  x.exponent--;
  return x;
}

static Number exact_root(Number a) {
  if (a.kind == IS_NAN || a.kind == IS_ZERO) return a;
  if (a.negative) return exact_special(IS_NAN, 0);
  if (a.kind == IS_INFINITE) return a;
  a = exact_normalised(a);
  if (a.exponent & 1) { a.significand >>= 1; a.exponent++; } /* at most 53 bits are in use */
  u128 result = 0, rest = a.significand;
  for (u128 bit = (u128)1 << 124; bit; bit >>= 2) {
    if (rest >= result + bit) { rest -= result + bit; result = (result >> 1) + bit; }
    else result >>= 1;
  }
  Number x = {IS_FINITE, 0, a.exponent / 2 - 1, (result << 1) | (rest != 0)};
  return x;
}

static Number exact_integer(u64 bits, int width, int is_signed) {
  Number x = {IS_FINITE, 0, 0, bits};
  if (is_signed && (bits >> (width - 1)) & 1) {
    x.negative = 1;
    x.significand = (0 - bits) & (~0ull >> (64 - width));
  }
  if (!x.significand) x.kind = IS_ZERO;
  return x;
}

/* what: a ROUNDING_ word; mode: a MODE_ word (FP_ROUND, FP16_OVFL). Operands and results are 64 bits per lane. */
void gpulab_round(u32 what, u32 mode, u32 lanes, const u64 *a, const u64 *b, const u64 *c, u64 *out) {
  u32 operation = ROUNDING_OPERATION(what), from = ROUNDING_SOURCE(what);
  Form f = FORMS[ROUNDING_RESULT(what)];
  int round = (int)MODE_ROUNDING(mode), saturate = MODE_OVERFLOW(mode) && f.width == 16;
  for (u32 i = 0; i < lanes; i++) {
    Number x, y;
    if (operation == ROUND_TO) {
      x = from < FORMAT_U16 ? exact_unpacked(a[i], FORMS[from])
                            : exact_integer(a[i], 16 << ((from - FORMAT_U16) >> 1), (from - FORMAT_U16) & 1);
    } else {
      x = exact_unpacked(a[i], f);
      y = exact_unpacked(b[i], f);
      if (operation == ROUND_FMA) x = exact_sum(exact_product(x, y), exact_unpacked(c[i], f), round);
      else if (operation == ROUND_ADD) x = exact_sum(x, y, round);
      else if (operation == ROUND_SUB) { y.negative ^= 1; x = exact_sum(x, y, round); }
      else if (operation == ROUND_MUL) x = exact_product(x, y);
      else if (operation == ROUND_DIV) x = exact_quotient(x, y);
      else x = exact_root(x);
    }
    out[i] = exact_packed(x, f, round, saturate);
  }
}
