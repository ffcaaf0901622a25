// thrust::pair: as std::pair, for host and device.
#pragma once
#include "tuple.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename First, typename Second>
struct pair {
  using first_type = First;
  using second_type = Second;
  First first;
  Second second;

  constexpr pair() : first(), second() {}
  constexpr pair(const First& a, const Second& b) : first(a), second(b) {}
  template <typename A, typename B,
            typename = std::enable_if_t<std::is_constructible_v<First, A&&> && std::is_constructible_v<Second, B&&>>>
  constexpr pair(A&& a, B&& b) : first(static_cast<A&&>(a)), second(static_cast<B&&>(b)) {}
  template <typename A, typename B>
  constexpr pair(const pair<A, B>& other) : first(other.first), second(other.second) {}
  template <typename A, typename B>
  constexpr pair(const std::pair<A, B>& other) : first(other.first), second(other.second) {}
  template <typename A, typename B>
  constexpr pair& operator=(const pair<A, B>& other) {
    first = other.first;
    second = other.second;
    return *this;
  }
  constexpr void swap(pair& other) {
    pair kept = *this;
    *this = other;
    other = kept;
  }
};
template <typename First, typename Second>
pair(First, Second) -> pair<First, Second>;

template <typename First, typename Second>
constexpr pair<std::decay_t<First>, std::decay_t<Second>> make_pair(First&& first, Second&& second) {
  return {static_cast<First&&>(first), static_cast<Second&&>(second)};
}
template <typename A, typename B>
struct tuple_size<pair<A, B>> : std::integral_constant<size_t, 2> {};
template <typename A, typename B>
struct tuple_element<0, pair<A, B>> {
  using type = A;
};
template <typename A, typename B>
struct tuple_element<1, pair<A, B>> {
  using type = B;
};
template <size_t index, typename A, typename B>
constexpr auto& get(pair<A, B>& given) {
  if constexpr (index == 0)
    return given.first;
  else
    return given.second;
}
template <size_t index, typename A, typename B>
constexpr auto& get(const pair<A, B>& given) {
  if constexpr (index == 0)
    return given.first;
  else
    return given.second;
}
template <size_t index, typename A, typename B>
constexpr tuple_element_t<index, pair<A, B>> get(pair<A, B>&& given) {
  if constexpr (index == 0)
    return static_cast<A&&>(given.first);
  else
    return static_cast<B&&>(given.second);
}
template <typename A, typename B, typename C, typename D>
constexpr bool operator==(const pair<A, B>& a, const pair<C, D>& b) {
  return a.first == b.first && a.second == b.second;
}
template <typename A, typename B, typename C, typename D>
constexpr bool operator!=(const pair<A, B>& a, const pair<C, D>& b) {
  return !(a == b);
}
template <typename A, typename B, typename C, typename D>
constexpr bool operator<(const pair<A, B>& a, const pair<C, D>& b) {
  return a.first < b.first || (!(b.first < a.first) && a.second < b.second);
}
template <typename A, typename B, typename C, typename D>
constexpr bool operator>(const pair<A, B>& a, const pair<C, D>& b) {
  return b < a;
}
template <typename A, typename B, typename C, typename D>
constexpr bool operator<=(const pair<A, B>& a, const pair<C, D>& b) {
  return !(b < a);
}
template <typename A, typename B, typename C, typename D>
constexpr bool operator>=(const pair<A, B>& a, const pair<C, D>& b) {
  return !(a < b);
}
template <typename A, typename B>
constexpr void swap(pair<A, B>& a, pair<A, B>& b) {
  a.swap(b);
}
}  // namespace thrust

template <typename A, typename B>
struct std::tuple_size<thrust::pair<A, B>> : std::integral_constant<std::size_t, 2> {};
template <std::size_t index, typename A, typename B>
struct std::tuple_element<index, thrust::pair<A, B>> : thrust::tuple_element<index, thrust::pair<A, B>> {};
#pragma clang force_cuda_host_device end
