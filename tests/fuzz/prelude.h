// What generated programs call, with the same meaning on the host and on the GPU and no undefined behaviour.
// HOST is defined for the host; both sides are compiled with -fwrapv -ffp-contract=off.
typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;
typedef __int128 i128;
typedef unsigned __int128 u128;
typedef float f32;
typedef double f64;
typedef _Float16 f16;
typedef i16 i16x2 __attribute__((ext_vector_type(2)));
typedef u16 u16x2 __attribute__((ext_vector_type(2)));
typedef f32 f32x2 __attribute__((ext_vector_type(2)));
typedef u8 u8x4 __attribute__((ext_vector_type(4)));
typedef i32 i32x4 __attribute__((ext_vector_type(4)));

#ifdef HOST
#define FN static inline
#define LDS(type, name, count) type name[count]
#define CONSTANT static const
#else
#define FN static __device__ __forceinline__
#define LDS(type, name, count) __shared__ type name##_of_all[96 * (count)]; type* name = name##_of_all + threadIdx.x * (count)
#define CONSTANT static __device__ const
#endif
#define NOINLINE static __attribute__((noinline)) DEVICE
#ifdef HOST
#define DEVICE
#else
#define DEVICE __device__
#endif

CONSTANT u32 table32[16] = {0x9e3779b9u, 1u, 0u, 0xffffffffu, 77u, 0x80000000u, 0x7fffffffu, 12345u,
                            0xdeadbeefu, 3u, 0xffu, 0xffff0000u, 0x01010101u, 31u, 64u, 0xcafef00du};
CONSTANT f64 table64[8] = {0.0, 1.5, -2.25, 1e300, -1e-300, 0.1, 4294967296.5, -7.0};
CONSTANT i8 table8[32] = {0, 1, -1, 127, -128, 5, 99, -77, 3, 8, 13, -21, 34, -55, 89, -100,
                          2, 4, 6, 8, 10, 12, 14, 16, -2, -4, -6, -8, -10, -12, -14, -16};

template <class T> FN T shl(T a, int n) { return (T)(a << (n & (int)(sizeof(T) * 8 - 1))); }
template <class T> FN T shr(T a, int n) { return (T)(a >> (n & (int)(sizeof(T) * 8 - 1))); }
template <class T> FN T quotient(T a, T b) {
  if (b == 0) return a;
  if ((T)-1 < (T)0 && b == (T)-1) return (T)(0 - a);
  return (T)(a / b);
}
template <class T> FN T remainder_of(T a, T b) {
  if (b == 0) return b;
  if ((T)-1 < (T)0 && b == (T)-1) return 0;
  return (T)(a % b);
}
template <class T> FN T smaller(T a, T b) { return a < b ? a : b; }
template <class T> FN T larger(T a, T b) { return a > b ? a : b; }
template <class T> FN T middle(T a, T b, T c) { return larger(smaller(a, b), smaller(larger(a, b), c)); }
template <class T> FN T select(bool c, T a, T b) { return c ? a : b; }
template <class T> FN T magnitude(T a) { return a < 0 ? (T)(0 - a) : a; }
FN u32 mulhi_u32(u32 a, u32 b) { return (u32)((u64)a * b >> 32); }
FN i32 mulhi_i32(i32 a, i32 b) { return (i32)((i64)a * b >> 32); }
FN u64 mulhi_u64(u64 a, u64 b) { return (u64)((u128)a * b >> 64); }
FN i64 mulhi_i64(i64 a, i64 b) { return (i64)((i128)a * b >> 64); }
FN i32 mul24_i32(i32 a, i32 b) { return ((i32)((u32)a << 8) >> 8) * ((i32)((u32)b << 8) >> 8); }
FN u32 mul24_u32(u32 a, u32 b) { return (a & 0xffffff) * (b & 0xffffff); }
FN u32 clz32(u32 a) { return a ? __builtin_clz(a) : 32; }
FN u32 ctz32(u32 a) { return a ? __builtin_ctz(a) : 32; }
FN u64 clz64(u64 a) { return a ? __builtin_clzll(a) : 64; }
FN u64 ctz64(u64 a) { return a ? __builtin_ctzll(a) : 64; }
// In halves: of __builtin_bswap64 Clang's -O0 for gfx1100 makes 16-bit moves that lose the upper bits.
FN u64 swapped(u64 a) { return (u64)__builtin_bswap32((u32)a) << 32 | __builtin_bswap32((u32)(a >> 32)); }
FN u32 field_u32(u32 a, u32 o, u32 w) { o &= 31; w &= 31; return (a >> o) & ((1u << w) - 1); }
FN i32 field_i32(i32 a, u32 w) { w &= 31; return (i32)((u32)a << w) >> w; }
FN u32 blend_bits(u32 m, u32 a, u32 b) { return (m & a) | (~m & b); }
FN u32 align_bits(u32 a, u32 b, u32 n) { return (u32)((((u64)a << 32) | b) >> (n & 31)); }
FN u32 sad8(u32 a, u32 b, u32 c) {
  for (int i = 0; i < 32; i += 8) { i32 d = (i32)(a >> i & 255) - (i32)(b >> i & 255); c += d < 0 ? -d : d; }
  return c;
}
template <class T> FN T sum_if_fits(T a, T b) { T r; return __builtin_add_overflow(a, b, &r) ? (T)(r ^ a) : r; }
template <class T> FN T difference_if_fits(T a, T b) { T r; return __builtin_sub_overflow(a, b, &r) ? (T)(r ^ b) : r; }
template <class T> FN T product_if_fits(T a, T b) { T r; return __builtin_mul_overflow(a, b, &r) ? (T)(a ^ b) : r; }

// A NaN has one pattern wherever bits are seen.
FN u32 bits(f32 x) { return x != x ? 0x7fc00000u : __builtin_bit_cast(u32, x); }
FN u64 bits(f64 x) { return x != x ? 0x7ff8000000000000ull : __builtin_bit_cast(u64, x); }
FN u16 bits(f16 x) { return x != x ? (u16)0x7e00 : __builtin_bit_cast(u16, x); }
FN f32 as_f32(u32 x) { return (x & 0x7fffffffu) > 0x7f800000u ? 1.0f : __builtin_bit_cast(f32, x); }
FN f64 as_f64(u64 x) { return (x & 0x7fffffffffffffffull) > 0x7ff0000000000000ull ? 1.0 : __builtin_bit_cast(f64, x); }
FN f16 as_f16(u16 x) { return (x & 0x7fff) > 0x7c00 ? (f16)1.0f : __builtin_bit_cast(f16, x); }
// Conversions where the value fits, else 0 or 1.
template <class T, class F> FN T whole(F x) {
  const F limit = (F)(1ull << (sizeof(T) * 8 - 2)) * 2;
  if ((T)-1 < (T)0) return x > -limit && x < limit ? (T)x : (T)1;
  return x > (F)-1 && x < limit * 2 ? (T)x : (T)0;
}
template <> FN i8 whole<i8, f16>(f16 x) { return x > (f16)-128.0f && x < (f16)127.0f ? (i8)x : (i8)1; }
template <class T> FN T whole16(f16 x) { return whole<T, f32>((f32)x); }
FN f16 half(f32 x) { return (f16)x; }
FN f16 add(f16 a, f16 b) { return (f16)(a + b); }
FN f16 sub(f16 a, f16 b) { return (f16)(a - b); }
FN f16 mul(f16 a, f16 b) { return (f16)(a * b); }
FN f32 min_of(f32 a, f32 b) { return __builtin_fminf(a, b) + 0.0f; }
FN f32 max_of(f32 a, f32 b) { return __builtin_fmaxf(a, b) + 0.0f; }
FN f64 min_of(f64 a, f64 b) { return __builtin_fmin(a, b) + 0.0; }
FN f64 max_of(f64 a, f64 b) { return __builtin_fmax(a, b) + 0.0; }
FN f32 root(f32 x) { return __builtin_sqrtf(x < 0 ? -x : x); }
FN f64 root(f64 x) { return __builtin_sqrt(x < 0 ? -x : x); }

FN u64 word(u64 x) { return x; }
FN u64 word(i64 x) { return (u64)x; }
FN u64 word(i32 x) { return (u64)(i64)x; }
FN u64 word(u32 x) { return x; }
FN u64 word(i16 x) { return (u64)(i64)x; }
FN u64 word(u16 x) { return x; }
FN u64 word(i8 x) { return (u64)(i64)x; }
FN u64 word(u8 x) { return x; }
FN u64 word(i128 x) { return (u64)x ^ (u64)((u128)x >> 64) * 3; }
FN u64 word(u128 x) { return (u64)x ^ (u64)(x >> 64) * 3; }
FN u64 word(f32 x) { return bits(x); }
FN u64 word(f64 x) { return bits(x); }
FN u64 word(f16 x) { return bits(x); }
FN u64 mixed(u64 h, u64 x) { h = (h ^ x) * 0x9e3779b97f4a7c15ull; return h ^ h >> 29; }
