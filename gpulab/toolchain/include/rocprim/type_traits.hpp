// rocPRIM's traits of types: the standard's, which also know half, bfloat16 and integers of 128 bits.
#pragma once
#include "types.hpp"

namespace rocprim {
namespace detail {
template <bool truth>
struct truth_constant {
  static constexpr bool value = truth;
  using value_type = bool;
  using type = truth_constant;
  __GPULAB_MEMBER__ constexpr operator bool() const { return truth; }
  __GPULAB_MEMBER__ constexpr bool operator()() const { return truth; }
};
}  // namespace detail
template <typename T>
struct is_floating_point : detail::truth_constant<::gpulab::primitives::is_known_float<__remove_cv(T)>> {};
template <typename T>
struct is_integral : detail::truth_constant<__is_integral(T) || __is_same(__remove_cv(T), int128_t) ||
                                            __is_same(__remove_cv(T), uint128_t)> {};
template <typename T>
struct is_arithmetic : detail::truth_constant<is_floating_point<T>::value || is_integral<T>::value> {};
template <typename T>
struct is_fundamental
    : detail::truth_constant<is_arithmetic<T>::value || __is_void(T) || __is_same(__remove_cv(T), decltype(nullptr))> {
};
template <typename T>
struct is_scalar : detail::truth_constant<__is_scalar(T) || is_arithmetic<T>::value> {};
template <typename T>
struct is_compound : detail::truth_constant<!is_fundamental<T>::value> {};
template <typename T>
struct is_signed : detail::truth_constant<is_floating_point<T>::value || __is_signed(T) ||
                                          __is_same(__remove_cv(T), int128_t)> {};
template <typename T>
struct is_unsigned : detail::truth_constant<is_integral<T>::value && !is_signed<T>::value> {};
template <typename T, int size = sizeof(T)>
struct get_unsigned_bits_type {
  using unsigned_type = typename ::gpulab::primitives::unsigned_of<size>::type;
};
#ifdef __GPULAB_PROGRAM__
template <typename T>
struct make_unsigned : std::make_unsigned<T> {};
template <>
struct make_unsigned<int128_t> {
  using type = uint128_t;
};
template <>
struct make_unsigned<uint128_t> {
  using type = uint128_t;
};
template <typename T>
struct numeric_limits : std::numeric_limits<T> {};
template <typename Function, typename... Arguments>
using invoke_result = std::invoke_result<Function, Arguments...>;
template <typename Function, typename... Arguments>
using invoke_result_t = typename std::invoke_result<Function, Arguments...>::type;
#endif
}  // namespace rocprim
