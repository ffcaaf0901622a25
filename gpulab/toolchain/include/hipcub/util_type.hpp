// hipCUB's small helpers for types.
#pragma once
#include "../gpulab/primitives/keys.h"
#include "config.hpp"

namespace hipcub {
template <int value>
struct Int2Type {
  enum { VALUE = value };
};
// Rounded up.
template <int n>
struct Log2 {
  enum { VALUE = static_cast<int>(::gpulab::primitives::log2_of(n)) };
};
template <int n>
struct PowerOfTwo {
  enum { VALUE = (n & (n - 1)) == 0 };
};
enum Category { NOT_A_NUMBER, SIGNED_INTEGER, UNSIGNED_INTEGER, FLOATING_POINT };
// Of a type that radix sorts take: its bits, and how they become numbers in the same order.
template <typename T>
struct Traits {
  using UnsignedBits = typename ::gpulab::primitives::unsigned_of<sizeof(T)>::type;
  static constexpr bool PRIMITIVE = ::gpulab::primitives::is_radix_key<T>;
  static constexpr bool NULL_TYPE = __is_same(T, NullType);
  static constexpr Category CATEGORY = ::gpulab::primitives::is_float_key<T> ? FLOATING_POINT
                                       : !__is_integral(T)                   ? NOT_A_NUMBER
                                       : __is_signed(T)                      ? SIGNED_INTEGER
                                                                             : UNSIGNED_INTEGER;
  static __GPULAB_MEMBER__ T Max() { return ::gpulab::primitives::largest<T>(); }
  static __GPULAB_MEMBER__ T Lowest() { return ::gpulab::primitives::lowest<T>(); }
  static __GPULAB_MEMBER__ UnsignedBits TwiddleIn(UnsignedBits bits) {
    constexpr UnsignedBits sign = static_cast<UnsignedBits>(UnsignedBits(1) << (8 * sizeof(T) - 1));
    if constexpr (CATEGORY == FLOATING_POINT) return static_cast<UnsignedBits>(bits & sign ? ~bits : bits | sign);
    return CATEGORY == SIGNED_INTEGER ? static_cast<UnsignedBits>(bits ^ sign) : bits;
  }
  static __GPULAB_MEMBER__ UnsignedBits TwiddleOut(UnsignedBits bits) {
    constexpr UnsignedBits sign = static_cast<UnsignedBits>(UnsignedBits(1) << (8 * sizeof(T) - 1));
    if constexpr (CATEGORY == FLOATING_POINT) return static_cast<UnsignedBits>(bits & sign ? bits ^ sign : ~bits);
    return CATEGORY == SIGNED_INTEGER ? static_cast<UnsignedBits>(bits ^ sign) : bits;
  }
};
}  // namespace hipcub
