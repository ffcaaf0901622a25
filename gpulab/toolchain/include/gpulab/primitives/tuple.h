// A tuple for host and device: values or references, and what is assigned to all of them at once.
#pragma once
#include "basics.h"

namespace gpulab {
namespace primitives {

template <typename... Ts>
struct Tuple;

template <size_t index, typename... Ts>
struct tuple_part;
template <typename T, typename... Rest>
struct tuple_part<0, T, Rest...> {
  using type = T;
};
template <size_t index, typename T, typename... Rest>
struct tuple_part<index, T, Rest...> : tuple_part<index - 1, Rest...> {};

template <>
struct Tuple<> {
  __GPULAB_MEMBER__ constexpr bool operator==(const Tuple&) const { return true; }
  __GPULAB_MEMBER__ constexpr bool operator<(const Tuple&) const { return false; }
};
template <typename T, typename... Rest>
struct Tuple<T, Rest...> {
  T first;
  Tuple<Rest...> rest;

  Tuple() = default;
  Tuple(const Tuple&) = default;
  __GPULAB_MEMBER__ constexpr Tuple(T value, Rest... values)
      : first(static_cast<T>(value)), rest(static_cast<Rest>(values)...) {}
  // From a tuple of other types: values from references, and the other way round.
  template <typename U, typename... Others, typename = typename enable_if<sizeof...(Others) == sizeof...(Rest)>::type>
  __GPULAB_MEMBER__ constexpr Tuple(const Tuple<U, Others...>& other) : first(other.first), rest(other.rest) {}
  __GPULAB_MEMBER__ constexpr Tuple& operator=(const Tuple& other) {
    first = other.first;
    rest = other.rest;
    return *this;
  }
  template <typename U, typename... Others>
  __GPULAB_MEMBER__ constexpr Tuple& operator=(const Tuple<U, Others...>& other) {
    first = other.first;
    rest = other.rest;
    return *this;
  }
  // Of references: what they refer to is assigned, also if the tuple itself is constant.
  template <typename U, typename... Others>
  __GPULAB_MEMBER__ constexpr const Tuple& operator=(const Tuple<U, Others...>& other) const {
    first = other.first;
    rest = other.rest;
    return *this;
  }
  template <typename U, typename... Others>
  __GPULAB_MEMBER__ constexpr bool operator==(const Tuple<U, Others...>& other) const {
    return first == other.first && rest == other.rest;
  }
  template <typename U, typename... Others>
  __GPULAB_MEMBER__ constexpr bool operator!=(const Tuple<U, Others...>& other) const {
    return !(*this == other);
  }
  template <typename U, typename... Others>
  __GPULAB_MEMBER__ constexpr bool operator<(const Tuple<U, Others...>& other) const {
    return first < other.first || (!(other.first < first) && rest < other.rest);
  }
};

template <size_t index, typename... Ts>
__GPULAB_BOTH__ constexpr auto& get(Tuple<Ts...>& tuple) {
  if constexpr (index == 0) {
    return tuple.first;
  } else {
    return get<index - 1>(tuple.rest);
  }
}
template <size_t index, typename... Ts>
__GPULAB_BOTH__ constexpr const auto& get(const Tuple<Ts...>& tuple) {
  if constexpr (index == 0) {
    return tuple.first;
  } else {
    return get<index - 1>(tuple.rest);
  }
}
template <size_t index, typename... Ts>
__GPULAB_BOTH__ constexpr auto get(Tuple<Ts...>&& tuple) -> typename tuple_part<index, Ts...>::type {
  return get<index>(tuple);
}
template <typename... Ts>
__GPULAB_BOTH__ constexpr Tuple<__decay(Ts)...> make_tuple(Ts&&... values) {
  return Tuple<__decay(Ts)...>(static_cast<Ts&&>(values)...);
}
template <typename... Ts>
__GPULAB_BOTH__ constexpr Tuple<Ts&...> tie(Ts&... values) {
  return Tuple<Ts&...>(values...);
}
template <typename T>
struct tuple_size;
template <typename... Ts>
struct tuple_size<Tuple<Ts...>> {
  static constexpr size_t value = sizeof...(Ts);
};
template <size_t index, typename T>
struct tuple_element;
template <size_t index, typename... Ts>
struct tuple_element<index, Tuple<Ts...>> {
  using type = typename tuple_part<index, Ts...>::type;
};

}  // namespace primitives
}  // namespace gpulab

#ifdef __GPULAB_PROGRAM__
// Structured bindings.
template <typename... Ts>
struct std::tuple_size<gpulab::primitives::Tuple<Ts...>> : std::integral_constant<size_t, sizeof...(Ts)> {};
template <size_t index, typename... Ts>
struct std::tuple_element<index, gpulab::primitives::Tuple<Ts...>> {
  using type = typename gpulab::primitives::tuple_part<index, Ts...>::type;
};
#endif
