// hip_bfloat16, HIP's older type of bfloat16: a number with its bits in `data`, computed with as float. New code uses
// __hip_bfloat16 of hip/hip_bf16.h.
#pragma once
#include "../gpulab/names.h"
#include "hip_runtime.h"
#ifdef __GPULAB_PROGRAM__
#include <iosfwd>
#endif

struct hip_bfloat16 {
  uint16_t data;
  enum truncate_t { truncate };

  hip_bfloat16() = default;
  // Rounds to nearest even; with `truncate` drops the lower bits (a NaN stays one).
  __GPULAB_MEMBER__ constexpr hip_bfloat16(float x)
      : data(__builtin_bit_cast(uint16_t, static_cast<__bf16>(x))) {}
  __GPULAB_MEMBER__ constexpr explicit hip_bfloat16(float x, truncate_t)
      : data(static_cast<uint16_t>(__builtin_bit_cast(uint32_t, x) >> 16 | (x != x ? 0x40u : 0u))) {}
  __GPULAB_MEMBER__ constexpr operator float() const {
    return __builtin_bit_cast(float, static_cast<uint32_t>(data) << 16);
  }
  __GPULAB_MEMBER__ constexpr explicit operator bool() const { return (data & 0x7fffu) != 0; }
  static __GPULAB_MEMBER__ hip_bfloat16 round_to_bfloat16(float x) { return hip_bfloat16(x); }
  static __GPULAB_MEMBER__ hip_bfloat16 round_to_bfloat16(float x, truncate_t t) { return hip_bfloat16(x, t); }
};

#define __GPULAB_BFLOAT16__(op)                                                                   \
  __GPULAB_BOTH__ hip_bfloat16 operator op(hip_bfloat16 a, hip_bfloat16 b) {                      \
    return hip_bfloat16(static_cast<float>(a) op static_cast<float>(b));                          \
  }                                                                                               \
  __GPULAB_BOTH__ hip_bfloat16& operator op##=(hip_bfloat16& a, hip_bfloat16 b) { return a = a op b; }
__GPULAB_BFLOAT16__(+)
__GPULAB_BFLOAT16__(-)
__GPULAB_BFLOAT16__(*)
__GPULAB_BFLOAT16__(/)
#undef __GPULAB_BFLOAT16__
#define __GPULAB_BFLOAT16__(op)                                             \
  __GPULAB_BOTH__ bool operator op(hip_bfloat16 a, hip_bfloat16 b) {        \
    return static_cast<float>(a) op static_cast<float>(b);                  \
  }
__GPULAB_BFLOAT16__(==)
__GPULAB_BFLOAT16__(!=)
__GPULAB_BFLOAT16__(<)
__GPULAB_BFLOAT16__(<=)
__GPULAB_BFLOAT16__(>)
__GPULAB_BFLOAT16__(>=)
#undef __GPULAB_BFLOAT16__
__GPULAB_BOTH__ hip_bfloat16 operator+(hip_bfloat16 a) { return a; }
__GPULAB_BOTH__ hip_bfloat16 operator-(hip_bfloat16 a) {
  a.data ^= 0x8000u;
  return a;
}
__GPULAB_BOTH__ hip_bfloat16& operator++(hip_bfloat16& a) { return a = hip_bfloat16(static_cast<float>(a) + 1.0f); }
__GPULAB_BOTH__ hip_bfloat16& operator--(hip_bfloat16& a) { return a = hip_bfloat16(static_cast<float>(a) - 1.0f); }
namespace std {
__GPULAB_BOTH__ bool isnan(hip_bfloat16 a) { return (a.data & 0x7fffu) > 0x7f80u; }
__GPULAB_BOTH__ bool isinf(hip_bfloat16 a) { return (a.data & 0x7fffu) == 0x7f80u; }
__GPULAB_BOTH__ bool iszero(hip_bfloat16 a) { return (a.data & 0x7fffu) == 0; }
}  // namespace std
#ifdef __GPULAB_PROGRAM__
template <typename Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& stream, hip_bfloat16 a) {
  return stream << static_cast<float>(a);
}
#endif
#include "../gpulab/names_end.h"
