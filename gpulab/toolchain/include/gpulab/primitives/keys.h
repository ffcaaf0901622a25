// Keys of radix sorts as unsigned numbers in the same order.
#pragma once
#include "../../hip/hip_bf16.h"
#include "../../hip/hip_bfloat16.h"
#include "../../hip/hip_fp16.h"
#include "basics.h"

namespace hipcub {
enum Category { NOT_A_NUMBER, SIGNED_INTEGER, UNSIGNED_INTEGER, FLOATING_POINT };
// What a program says of a key type of its own, by a specialisation (hipcub/util_type.hpp).
template <typename T>
struct NumericTraits;
}  // namespace hipcub

namespace gpulab {
namespace primitives {

template <unsigned int bytes>
struct unsigned_of {};
template <>
struct unsigned_of<1> {
  using type = uint8_t;
};
template <>
struct unsigned_of<2> {
  using type = uint16_t;
};
template <>
struct unsigned_of<4> {
  using type = uint32_t;
};
template <>
struct unsigned_of<8> {
  using type = uint64_t;
};
template <>
struct unsigned_of<16> {
  using type = unsigned __int128;
};

// A program's own key type: sorted as the numbers that its bits are, by what NumericTraits says of them.
template <typename T, typename = void>
struct StatedKey {
  static constexpr bool is = false, is_float = false, is_signed = false;
};
template <typename T>
struct StatedKey<T, typename ::gpulab::enable_if<(__is_class(T) || __is_union(T)) &&
                                                 sizeof(typename ::hipcub::NumericTraits<T>::UnsignedBits) ==
                                                     sizeof(T)>::type> {
  static constexpr int category = static_cast<int>(::hipcub::NumericTraits<T>::CATEGORY);
  static constexpr bool is = ::hipcub::NumericTraits<T>::PRIMITIVE;
  static constexpr bool is_float = is && category == ::hipcub::FLOATING_POINT;
  static constexpr bool is_signed = is && category == ::hipcub::SIGNED_INTEGER;
};

// Types that are keys by themselves.
template <typename T>
inline constexpr bool is_known_float = __is_floating_point(T) || __is_same(T, __half) || __is_same(T, __hip_bfloat16) ||
                                       __is_same(T, hip_bfloat16) || __is_same(T, _Float16) || __is_same(T, __bf16);
template <typename T>
inline constexpr bool is_known_integer =
    __is_integral(T) || __is_enum(T) || __is_same(T, __int128) || __is_same(T, unsigned __int128);

template <typename T>
inline constexpr bool is_float_key = is_known_float<T> || StatedKey<T>::is_float;
template <typename T>
inline constexpr bool is_radix_key = (is_float_key<T> && !__is_same(T, long double)) || is_known_integer<T> ||
                                     StatedKey<T>::is;
template <typename T>
__GPULAB_BOTH__ constexpr bool is_signed_key() {
  if constexpr (is_known_integer<T>) {
    return static_cast<T>(-1) < static_cast<T>(0);
  } else {
    return StatedKey<T>::is_signed;
  }
}

// The key as an unsigned number. Of floating-point keys both zeros are equal; a NaN comes by its bits: with a sign
// before -infinity, else behind infinity.
template <typename T, bool descending>
struct RadixKey {
  static_assert(is_radix_key<T>,
                "gpulab: a radix sort takes keys of integer and floating-point types; sort others with "
                "DeviceMergeSort (rocprim::merge_sort) and a comparison, or with a decomposer");
  using Bits = typename unsigned_of<sizeof(T)>::type;
  static constexpr unsigned int bits = 8 * sizeof(T);
  static __GPULAB_MEMBER__ Bits encode(const T& key) {
    Bits x = __builtin_bit_cast(Bits, key);
    constexpr Bits sign = static_cast<Bits>(Bits(1) << (bits - 1));
    if constexpr (is_float_key<T>) {
      if (x == sign) x = 0;
      x = static_cast<Bits>(x & sign ? ~x : x | sign);
    } else if constexpr (is_signed_key<T>()) {
      x = static_cast<Bits>(x ^ sign);
    }
    return descending ? static_cast<Bits>(~x) : x;
  }
  // The bits from `low` on to before `high`, which is more.
  static __GPULAB_MEMBER__ Bits part(const T& key, unsigned int low, unsigned int high) {
    constexpr Bits all = static_cast<Bits>(~Bits(0));
    return static_cast<Bits>((encode(key) >> low) & static_cast<Bits>(all >> (bits - (high - low))));
  }
  // The digit of `width` bits from bit `low` on.
  static __GPULAB_MEMBER__ unsigned int digit(const T& key, unsigned int low, unsigned int width) {
    return static_cast<unsigned int>(encode(key) >> low) & ((1u << width) - 1u);
  }
};

}  // namespace primitives
}  // namespace gpulab
