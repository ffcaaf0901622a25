// Several small integers in one register: dot products, and sums of four bytes. Part of hip/hip_runtime.h.
#pragma once
#include "../hip/hip_vector_types.h"

namespace gpulab {
// The sum modulo 2**32, or the number of type T that is nearest to it.
template <typename T>
__GPULAB_FUNCTION__ T dot_sum(long long sum, bool saturate) {
  const long long least = T(-1) < T(0) ? -0x80000000ll : 0, most = T(-1) < T(0) ? 0x7fffffffll : 0xffffffffll;
  if (saturate) sum = sum < least ? least : sum > most ? most : sum;
  return static_cast<T>(sum);
}
}  // namespace gpulab

// Dot products of two numbers of 16 bits, four of 8 and eight of 4, and c; clamped to c's type on demand.
#define __GPULAB_DOT2__(pair, T)                                                                    \
  __GPULAB_FUNCTION__ T amd_mixed_dot(pair a, pair b, T c, bool saturate) {                         \
    return gpulab::dot_sum<T>(1ll * a.x * b.x + 1ll * a.y * b.y + c, saturate);                     \
  }
#define __GPULAB_DOT4__(four, T)                                                                    \
  __GPULAB_FUNCTION__ T amd_mixed_dot(four a, four b, T c, bool saturate) {                         \
    return gpulab::dot_sum<T>(1ll * a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w + c, saturate);   \
  }
#define __GPULAB_DOT8__(T)                                                                          \
  __GPULAB_FUNCTION__ T amd_mixed_dot(T a, T b, T c, bool saturate) {                               \
    long long sum = c;                                                                              \
    for (int at = 0; at < 32; at += 4)                                                              \
      sum += 1ll * static_cast<T>(static_cast<T>(static_cast<unsigned int>(a) << (28 - at)) >> 28) * \
             static_cast<T>(static_cast<T>(static_cast<unsigned int>(b) << (28 - at)) >> 28);       \
    return gpulab::dot_sum<T>(sum, saturate);                                                       \
  }
__GPULAB_DOT2__(short2, int)
__GPULAB_DOT2__(ushort2, unsigned int)
__GPULAB_DOT4__(char4, int)
__GPULAB_DOT4__(uchar4, unsigned int)
__GPULAB_DOT8__(int)
__GPULAB_DOT8__(unsigned int)
#undef __GPULAB_DOT2__
#undef __GPULAB_DOT4__
#undef __GPULAB_DOT8__

// Sums, differences and products of four bytes, each modulo 2**8.
#define __GPULAB_FOUR_BYTES__(name, symbol)                                                         \
  __GPULAB_FUNCTION__ char4 name(char4 a, char4 b) {                                                \
    return char4(static_cast<signed char>(a.x symbol b.x), static_cast<signed char>(a.y symbol b.y), \
                 static_cast<signed char>(a.z symbol b.z), static_cast<signed char>(a.w symbol b.w)); \
  }
__GPULAB_FOUR_BYTES__(__hip_hc_add8pk, +)
__GPULAB_FOUR_BYTES__(__hip_hc_sub8pk, -)
__GPULAB_FOUR_BYTES__(__hip_hc_mul8pk, *)
#undef __GPULAB_FOUR_BYTES__
