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
// The largest and the lowest number of a floating-point type; a program has its own type's by a specialisation.
template <typename T>
struct FpLimits {
  static __GPULAB_MEMBER__ T Max() { return finite(false); }
  static __GPULAB_MEMBER__ T Lowest() { return finite(true); }

 private:
  static __GPULAB_MEMBER__ T finite(bool negative) {
    if constexpr (sizeof(T) == 2) {  // of halves and bfloat16, which std::numeric_limits does not know
      constexpr bool half = __is_same(__remove_cv(T), __half) || __is_same(__remove_cv(T), _Float16);
      return __builtin_bit_cast(T, static_cast<uint16_t>((half ? 0x7bff : 0x7f7f) | (negative ? 0x8000 : 0)));
    } else {
      return negative ? ::gpulab::primitives::lowest<T>() : ::gpulab::primitives::largest<T>();
    }
  }
};
// Of a type whose bits radix sorts take: what kind of number they are, and how they become numbers in the same order.
template <Category category, bool primitive, bool null_type, typename Bits, typename T>
struct BaseTraits {
  using UnsignedBits = Bits;
  static constexpr Category CATEGORY = category;
  static constexpr bool PRIMITIVE = primitive, NULL_TYPE = null_type;
  static constexpr UnsignedBits HIGH_BIT = static_cast<UnsignedBits>(UnsignedBits(1) << (8 * sizeof(Bits) - 1));
  static constexpr UnsignedBits LOWEST_KEY = category == FLOATING_POINT   ? static_cast<UnsignedBits>(-1)
                                             : category == SIGNED_INTEGER ? HIGH_BIT
                                                                          : UnsignedBits(0);
  static constexpr UnsignedBits MAX_KEY =
      static_cast<UnsignedBits>(UnsignedBits(-1) ^ (category == UNSIGNED_INTEGER ? UnsignedBits(0) : HIGH_BIT));
  static __GPULAB_MEMBER__ UnsignedBits TwiddleIn(UnsignedBits bits) {
    if constexpr (category == FLOATING_POINT) return static_cast<Bits>(bits & HIGH_BIT ? ~bits : bits | HIGH_BIT);
    return category == SIGNED_INTEGER ? static_cast<UnsignedBits>(bits ^ HIGH_BIT) : bits;
  }
  static __GPULAB_MEMBER__ UnsignedBits TwiddleOut(UnsignedBits bits) {
    if constexpr (category == FLOATING_POINT) return static_cast<Bits>(bits & HIGH_BIT ? bits ^ HIGH_BIT : ~bits);
    return category == SIGNED_INTEGER ? static_cast<UnsignedBits>(bits ^ HIGH_BIT) : bits;
  }
  static __GPULAB_MEMBER__ T Max() {
    if constexpr (category == FLOATING_POINT) return FpLimits<T>::Max();
    return __builtin_bit_cast(T, MAX_KEY);
  }
  static __GPULAB_MEMBER__ T Lowest() {
    if constexpr (category == FLOATING_POINT) return FpLimits<T>::Lowest();
    return __builtin_bit_cast(T, LOWEST_KEY);
  }
};
// Types without a number.
template <bool null_type, typename Bits, typename T>
struct BaseTraits<NOT_A_NUMBER, false, null_type, Bits, T> {
  static constexpr Category CATEGORY = NOT_A_NUMBER;
  static constexpr bool PRIMITIVE = false, NULL_TYPE = null_type;
};
namespace detail {
template <typename T, bool is_float = ::gpulab::primitives::is_known_float<T> && !__is_same(T, long double),
          bool is_integer = ::gpulab::primitives::is_known_integer<T>>
struct traits_of {
  using type = BaseTraits<NOT_A_NUMBER, false, __is_same(T, NullType), NullType, NullType>;
};
template <typename T>
struct traits_of<T, true, false> {
  using type = BaseTraits<FLOATING_POINT, true, false, typename ::gpulab::primitives::unsigned_of<sizeof(T)>::type, T>;
};
template <typename T>
struct traits_of<T, false, true> {
  using type = BaseTraits<::gpulab::primitives::is_signed_key<T>() ? SIGNED_INTEGER : UNSIGNED_INTEGER, true, false,
                          typename ::gpulab::primitives::unsigned_of<sizeof(T)>::type, T>;
};
}  // namespace detail
template <typename T>
struct NumericTraits : detail::traits_of<T>::type {};
template <typename T>
struct Traits : NumericTraits<__remove_cv(T)> {};
}  // namespace hipcub
