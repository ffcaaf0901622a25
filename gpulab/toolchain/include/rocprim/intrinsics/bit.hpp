// rocPRIM's functions of bits.
#pragma once
#include "../config.hpp"

namespace rocprim {
__GPULAB_BOTH__ int get_bit(int x, int i) { return (x >> i) & 1; }
__GPULAB_BOTH__ unsigned int bit_count(unsigned int x) { return static_cast<unsigned int>(__builtin_popcount(x)); }
__GPULAB_BOTH__ unsigned int bit_count(unsigned long long x) {
  return static_cast<unsigned int>(__builtin_popcountll(x));
}
__GPULAB_BOTH__ unsigned int ctz(unsigned int x) { return static_cast<unsigned int>(__builtin_ctz(x)); }
__GPULAB_BOTH__ unsigned int ctz(unsigned long long x) { return static_cast<unsigned int>(__builtin_ctzll(x)); }
}  // namespace rocprim
