// Integer intrinsics: counting and reversing bits, wide products, bit fields, averages.
#pragma once

__GPULAB_FUNCTION__ unsigned int __popc(unsigned int x) { return __builtin_popcount(x); }
__GPULAB_FUNCTION__ unsigned int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
// Leading zeros; the width of the type for 0.
__GPULAB_FUNCTION__ int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
__GPULAB_FUNCTION__ int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
// Position of the lowest set bit, counted from 1; 0 for 0.
__GPULAB_FUNCTION__ unsigned int __ffs(unsigned int x) { return __builtin_ffs((int)x); }
__GPULAB_FUNCTION__ unsigned int __ffs(int x) { return __builtin_ffs(x); }
__GPULAB_FUNCTION__ unsigned int __ffsll(unsigned long long x) { return __builtin_ffsll((long long)x); }
__GPULAB_FUNCTION__ unsigned int __ffsll(long long x) { return __builtin_ffsll(x); }
__GPULAB_FUNCTION__ unsigned int __ffsll(unsigned long x) { return __builtin_ffsll((long long)x); }
__GPULAB_FUNCTION__ unsigned int __ffsll(long x) { return __builtin_ffsll((long long)x); }
// The same counted from 0, and all ones for 0.
__GPULAB_FUNCTION__ unsigned int __lastbit_u32_u32(unsigned int x) { return __builtin_ffs((int)x) - 1u; }
__GPULAB_FUNCTION__ unsigned int __lastbit_u32_u64(unsigned long long x) { return __builtin_ffsll((long long)x) - 1u; }
__GPULAB_FUNCTION__ unsigned int __brev(unsigned int x) { return __builtin_bitreverse32(x); }
__GPULAB_FUNCTION__ unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }

// Position of the n-th set bit of mask: counted upward from bit `base` for n > 0, downward for n < 0; n == 0 asks
// whether bit `base` itself is set. -1 if there is none.
__GPULAB_FUNCTION__ int __fns64(unsigned long long mask, unsigned int base, int n) {
  if (n == 0) return (mask >> (base & 63)) & 1 ? (int)base : -1;
  unsigned long long rest = n > 0 ? mask & (~0ull << (base & 63)) : mask & (~0ull >> (63 - (base & 63)));
  if (n < 0) rest = __brevll(rest);
  for (int left = n > 0 ? n : -n; left > 1; --left) rest &= rest - 1;
  if (rest == 0) return -1;
  int found = __builtin_ctzll(rest);
  return n > 0 ? found : 63 - found;
}
__GPULAB_FUNCTION__ int __fns32(unsigned long long mask, unsigned int base, int n) {
  return __fns64(mask & 0xffffffffull, base & 31, n);
}
__GPULAB_FUNCTION__ int __fns(unsigned int mask, unsigned int base, int n) { return __fns64(mask, base & 31, n); }

// How many bits of the mask belong to lanes below this one, in its low or high half; plus y.
__GPULAB_FUNCTION__ unsigned int __mbcnt_lo(unsigned int mask, unsigned int y) { return __builtin_amdgcn_mbcnt_lo(mask, y); }
__GPULAB_FUNCTION__ unsigned int __mbcnt_hi(unsigned int mask, unsigned int y) { return __builtin_amdgcn_mbcnt_hi(mask, y); }

// Four bytes chosen from the eight of x (0-3) and y (4-7) by the low three bits of the selector's four nibbles.
__GPULAB_FUNCTION__ unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector) {
  unsigned int bytes = (selector & 7) | (selector & 0x70) << 4 | (selector & 0x700) << 8 | (selector & 0x7000) << 12;
  return __builtin_amdgcn_perm(y, x, bytes);
}
// The high (left) or low (right) word of hi:lo shifted; the _c forms clamp the shift to 32 instead of wrapping it.
__GPULAB_FUNCTION__ unsigned int __funnelshift_l(unsigned int lo, unsigned int hi, unsigned int shift) {
  return (unsigned int)(((uint64_t)hi << 32 | lo) << (shift & 31) >> 32);
}
__GPULAB_FUNCTION__ unsigned int __funnelshift_r(unsigned int lo, unsigned int hi, unsigned int shift) {
  return __builtin_amdgcn_alignbit(hi, lo, shift & 31);
}
__GPULAB_FUNCTION__ unsigned int __funnelshift_lc(unsigned int lo, unsigned int hi, unsigned int shift) {
  return (unsigned int)(((uint64_t)hi << 32 | lo) << (shift < 32 ? shift : 32) >> 32);
}
__GPULAB_FUNCTION__ unsigned int __funnelshift_rc(unsigned int lo, unsigned int hi, unsigned int shift) {
  return (unsigned int)(((uint64_t)hi << 32 | lo) >> (shift < 32 ? shift : 32));
}

// Products: of the low 24 bits; high halves of the full product.
__GPULAB_FUNCTION__ int __mul24(int x, int y) { return ((int)((unsigned)x << 8) >> 8) * ((int)((unsigned)y << 8) >> 8); }
__GPULAB_FUNCTION__ unsigned int __umul24(unsigned int x, unsigned int y) { return (x & 0xffffff) * (y & 0xffffff); }
__GPULAB_FUNCTION__ int __mulhi(int x, int y) { return (int)((long long)x * y >> 32); }
__GPULAB_FUNCTION__ unsigned int __umulhi(unsigned int x, unsigned int y) {
  return (unsigned int)((unsigned long long)x * y >> 32);
}
__GPULAB_FUNCTION__ long long __mul64hi(long long x, long long y) { return (long long)((__int128)x * y >> 64); }
__GPULAB_FUNCTION__ unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return (unsigned long long)((unsigned __int128)x * y >> 64);
}

// Sum of absolute difference; averages that do not overflow, rounded down (hadd) or up (rhadd).
__GPULAB_FUNCTION__ unsigned int __sad(int x, int y, unsigned int z) {
  return (x > y ? (unsigned)x - (unsigned)y : (unsigned)y - (unsigned)x) + z;
}
__GPULAB_FUNCTION__ unsigned int __usad(unsigned int x, unsigned int y, unsigned int z) {
  return (x > y ? x - y : y - x) + z;
}
__GPULAB_FUNCTION__ int __hadd(int x, int y) { return (x & y) + ((x ^ y) >> 1); }
__GPULAB_FUNCTION__ int __rhadd(int x, int y) { return (x | y) - ((x ^ y) >> 1); }
__GPULAB_FUNCTION__ unsigned int __uhadd(unsigned int x, unsigned int y) { return (x & y) + ((x ^ y) >> 1); }
__GPULAB_FUNCTION__ unsigned int __urhadd(unsigned int x, unsigned int y) { return (x | y) - ((x ^ y) >> 1); }

// Bit fields: `width` bits from bit `offset` up.
__GPULAB_FUNCTION__ unsigned int __bitextract_u32(unsigned int x, unsigned int offset, unsigned int width) {
  return (x >> (offset & 31)) & ((1u << (width & 31)) - 1u);
}
__GPULAB_FUNCTION__ uint64_t __bitextract_u64(uint64_t x, unsigned int offset, unsigned int width) {
  return (x >> (offset & 63)) & ((1ul << (width & 63)) - 1ul);
}
__GPULAB_FUNCTION__ unsigned int __bitinsert_u32(unsigned int x, unsigned int field, unsigned int offset,
                                                 unsigned int width) {
  unsigned int mask = (1u << (width & 31)) - 1u;
  return (x & ~(mask << (offset & 31))) | (field & mask) << (offset & 31);
}
__GPULAB_FUNCTION__ uint64_t __bitinsert_u64(uint64_t x, uint64_t field, unsigned int offset, unsigned int width) {
  uint64_t mask = (1ul << (width & 63)) - 1ul;
  return (x & ~(mask << (offset & 63))) | (field & mask) << (offset & 63);
}
